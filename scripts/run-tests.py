#!/usr/bin/env python3
"""Runs the unit tests (ctest) and the lit tests of a build, and ends with

    N passed, N failed, N skipped

over both. The unit tests of the runtime and the seeds of its fuzz targets run a
second time under address and undefined-behaviour sanitizers, in a build of
their own under BUILD_DIR, unless BUILD_DIR is such a build. Exits 1 when a test
failed or none was run.

usage: run-tests.py BUILD_DIR
"""
import json
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree


SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def run_ctest(build, jobs, scratch):
    """Returns (passed, failed, skipped) of the unit tests."""
    report = os.path.join(scratch, build.replace(os.sep, "-") + ".xml")
    subprocess.run(
        ["ctest", "--test-dir", build, "-j", str(jobs), "--output-on-failure",
         "--no-tests=error", "--timeout", "900", "--output-junit", report])
    if not os.path.exists(report):
        return 0, 1, 0
    suite = ElementTree.parse(report).getroot()
    count = lambda name: int(suite.get(name, 0))
    skipped = count("skipped") + count("disabled")
    return count("tests") - count("failures") - skipped, count("failures"), skipped


def run_sanitized(build, jobs, scratch):
    """The same, for the runtime and the seeds of its fuzz targets."""
    with open(os.path.join(build, "CMakeCache.txt")) as cache:
        if any(line.startswith("MMX_SANITIZE:") and line.strip()[-1] != "="
               for line in cache):
            return []
    folder = os.path.join(build, "sanitized")
    log = folder + ".log"
    for command in (
            ["cmake", "--preset", "sanitized", "-S", SOURCE, "-B", folder],
            ["cmake", "--build", folder, "-j", str(jobs),
             "--target", "mmx-runtime-tests", "fuzz-all"]):
        with open(log, "w") as output:
            status = subprocess.run(command, cwd=SOURCE, stdout=output,
                                    stderr=subprocess.STDOUT).returncode
        if status:
            with open(log) as output:
                print(*output.readlines()[-30:], sep="")
            return [(0, 1, 0)]
    return [run_ctest(os.path.join(folder, part), jobs, scratch)
            for part in ("unittests/runtime", "fuzz")]


def run_lit(build, jobs, scratch):
    """Returns (passed, failed, skipped) of the lit tests."""
    report = os.path.join(scratch, "lit.json")
    lit = "/usr/lib/llvm-22/bin/lit"
    subprocess.run(
        [lit if os.path.exists(lit) else "lit", "-sv", "-j", str(jobs),
         "-o", report, os.path.join(build, "test")])
    if not os.path.exists(report):
        return 0, 1, 0
    with open(report) as file:
        codes = [test["code"] for test in json.load(file)["tests"]]
    passed = sum(code in ("PASS", "XFAIL", "FLAKYPASS") for code in codes)
    skipped = sum(code in ("UNSUPPORTED", "SKIPPED", "EXCLUDED") for code in codes)
    return passed, len(codes) - passed - skipped, skipped


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__.strip())
    # Poisoned allocators of LLVM are shared with uninstrumented libraries.
    os.environ.setdefault("ASAN_OPTIONS", "allow_user_poisoning=0")
    build, jobs = os.path.abspath(sys.argv[1]), os.cpu_count() or 1
    with tempfile.TemporaryDirectory() as scratch:
        results = [run_ctest(build, jobs, scratch),
                   *run_sanitized(build, jobs, scratch),
                   run_lit(build, jobs, scratch)]
    passed, failed, skipped = (sum(column) for column in zip(*results))
    print(f"{passed} passed, {failed} failed, {skipped} skipped", flush=True)
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
