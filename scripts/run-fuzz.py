#!/usr/bin/env python3
# Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs every fuzz target of a build, for the same time each.

usage: run-fuzz.py [--jobs N] BUILD_DIR SECONDS [NAME...]

N targets run side by side (1 if not given). SECONDS 0: only what is there is
run, nothing new is looked for. Seeds are fuzz/corpus/NAME, and for some targets files of the tests. What a run
finds interesting stays under BUILD_DIR/corpus/NAME for the next one; an input
that fails is kept as BUILD_DIR/findings/NAME-*. Ends with a table and exits 1
if anything was found.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
# Allocators of LLVM are shared with libraries that are not instrumented.
ENVIRONMENT = {"ASAN_OPTIONS": "allow_user_poisoning=0:detect_leaks=1"}


def split_tests(folder):
    """The modules in the tests, a seed each."""
    for path in sorted((SOURCE / "test").glob("**/*.mlir")):
        text = "\n".join(line for line in path.read_text().splitlines()
                         if not line.lstrip().startswith("//"))
        for number, part in enumerate(text.split("// -----")):
            if part.strip() and len(part) < 8000:
                (folder / f"{path.stem}-{number}").write_text(part)


def header_of(path):
    """A safetensors file with the data cut off to zeros of one row."""
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    return data[:8 + length]


def add_seeds(build, name, folder):
    golden = SOURCE / "test/golden"
    configs = [*golden.glob("*/config.json"),
               *(SOURCE / "models").glob("*/config.json")]
    if name in ("model-config", "model-shape"):
        for path in configs:
            shutil.copy(path, folder / path.parent.name)
    elif name == "dialects":
        split_tests(folder)
    elif name == "checkpoint-index":
        for path in golden.glob("*/model.safetensors"):
            (folder / path.parent.name).write_bytes(b"\0" + header_of(path))
    elif name == "tokenizer":
        for path in (golden / "tokenizer").glob("bpe1k*_tokenizer.json"):
            shutil.copy(path, folder / path.name)
    elif name == "chat":
        cases = json.loads((golden / "chat/m1_cases.json").read_text())
        for number, case in enumerate(cases):
            (folder / f"m1-{number}").write_text(json.dumps(case))
    elif name == "package":
        subprocess.run([build / "bin/fuzz-package-seed", folder], check=True)


def run(build, name, seconds):
    """Returns (runs, edges, features, finding or None)."""
    corpus, findings = build / "corpus" / name, build / "findings"
    corpus.mkdir(parents=True, exist_ok=True)
    findings.mkdir(exist_ok=True)
    add_seeds(build, name, corpus)
    seeds = SOURCE / "fuzz/corpus" / name
    limit = f"-max_total_time={seconds}" if seconds else "-runs=0"
    command = [build / "bin" / f"fuzz-{name}", limit,
               "-timeout=10", "-rss_limit_mb=3000", "-max_len=65536",
               "-print_final_stats=1", f"-artifact_prefix={findings}/{name}-",
               corpus]
    if seeds.is_dir():
        command.append(seeds)
    dictionary = SOURCE / "fuzz/corpus" / f"{name}.dict"
    if dictionary.exists():
        command.append(f"-dict={dictionary}")
    result = subprocess.run(command, capture_output=True, text=True, cwd=SOURCE,
                            errors="replace", env=os.environ | ENVIRONMENT)
    log = result.stderr
    (build / f"fuzz-{name}.log").write_text(log)
    last = lambda pattern: int((re.findall(pattern, log) or [0])[-1])
    finding = None
    if result.returncode:
        told = re.findall(r"(?:SUMMARY: |runtime error: |ERROR: )(.*)", log)
        finding = told[-1] if told else log[-200:]
    return (last(r"number_of_executed_units:\s*(\d+)"), last(r"cov: (\d+)"),
            last(r"ft: (\d+)"), finding)


def main():
    parser = argparse.ArgumentParser(usage=__doc__, add_help=False)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("build", type=lambda text: Path(text).resolve())
    parser.add_argument("seconds", type=int)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    build = options.build
    names = options.names or sorted(
        path.name[5:] for path in (build / "bin").glob("fuzz-*")
        if path.name != "fuzz-package-seed")
    found = 0
    print(f"{'target':18} {'runs':>10} {'edges':>7} {'features':>9}  finding",
          flush=True)
    with ThreadPoolExecutor(max_workers=options.jobs) as pool:
        results = pool.map(lambda name: run(build, name, options.seconds), names)
        for name, (runs, edges, features, finding) in zip(names, results):
            found += finding is not None
            print(f"{name:18} {runs:10} {edges:7} {features:9}  "
                  f"{finding or '-'}", flush=True)
    sys.exit(1 if found or not names else 0)


if __name__ == "__main__":
    main()
