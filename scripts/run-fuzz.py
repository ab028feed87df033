#!/usr/bin/env python3
# Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs every fuzz target of a build, for the same time each.

usage: run-fuzz.py [--jobs N] [--table FILE] BUILD_DIR SECONDS [NAME...]

N processes run side by side (1 if not given); with more of them than targets, a
target gets several, which share what they find. SECONDS 0: only what is there is
run, nothing new is looked for. Seeds are fuzz/corpus/NAME, and for some targets
files of the tests. What a run finds interesting stays under
BUILD_DIR/corpus/NAME for the next one; an input that fails is kept as
BUILD_DIR/findings/NAME-*, and the search goes on. Ends with a table, also when it
is terminated before its time, and exits 1 if anything was found. FILE has the
table so far at any time.
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
# Allocators of LLVM are shared with libraries that are not instrumented.
ENVIRONMENT = {"ASAN_OPTIONS": "allow_user_poisoning=0:detect_leaks=1"}
# What libFuzzer exits with when it is interrupted or terminated.
INTERRUPTED = 72
# A target that fails this often is not started again.
MOST_FINDINGS = 10


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
        for path in (golden / "chat").glob("*_cases.json"):
            for number, case in enumerate(json.loads(path.read_text())):
                (folder / f"{path.stem[:-6]}-{number}").write_text(
                    json.dumps(case))
    elif name == "package":
        subprocess.run([build / "bin/fuzz-package-seed", folder], check=True)


def figures(log):
    """(runs, edges, features) that a process has come to, from what it logs."""
    last = lambda pattern: int((re.findall(pattern, log) or [0])[-1])
    runs = last(r"number_of_executed_units:\s*(\d+)") or last(r"(?m)^#(\d+)\s")
    return runs, last(r"cov: (\d+)"), last(r"ft: (\d+)")


class Target:
    """A target and what its processes have done."""

    def __init__(self, build, name):
        self.build, self.name = build, name
        self.logs = []
        self.processor_seconds = 0.0
        self.findings = []

    def prepare(self):
        corpus = self.build / "corpus" / self.name
        corpus.mkdir(parents=True, exist_ok=True)
        (self.build / "findings").mkdir(exist_ok=True)
        add_seeds(self.build, self.name, corpus)

    def command(self, seconds):
        command = [self.build / "bin" / f"fuzz-{self.name}",
                   f"-max_total_time={seconds}" if seconds else "-runs=0",
                   "-timeout=10", "-rss_limit_mb=3000", "-max_len=65536",
                   "-print_final_stats=1",
                   f"-artifact_prefix={self.build}/findings/{self.name}-",
                   self.build / "corpus" / self.name]
        seeds = SOURCE / "fuzz/corpus" / self.name
        if seeds.is_dir():
            command.append(seeds)
        dictionary = SOURCE / "fuzz/corpus" / f"{self.name}.dict"
        if dictionary.exists():
            command.append(f"-dict={dictionary}")
        return command

    def row(self):
        told = [figures(log.read_text(errors="replace")) for log in self.logs]
        runs = sum(one[0] for one in told)
        edges, features = (max((one[index] for one in told), default=0)
                           for index in (1, 2))
        found = f"{len(self.findings)}: {self.findings[0]}" \
            if self.findings else "-"
        return (f"{self.name:18} {self.processor_seconds:11.0f} {runs:12} "
                f"{edges:7} {features:9}  {found}")


class Run:
    def __init__(self, targets):
        self.targets = targets
        self.lock = threading.Lock()
        self.children = set()
        self.stopped = False

    def stop(self, *_):
        self.stopped = True
        for child in list(self.children):
            try:
                os.kill(child, signal.SIGTERM)
            except ProcessLookupError:
                pass

    def once(self, target, seconds):
        """One process of a target, until its time is over or it fails."""
        with self.lock:
            if self.stopped:
                return
            log = target.build / f"fuzz-{target.name}.{len(target.logs)}.log"
            with open(log, "w") as out:
                child = subprocess.Popen(
                    target.command(seconds), stdout=subprocess.DEVNULL,
                    stderr=out, cwd=SOURCE, env=os.environ | ENVIRONMENT)
            self.children.add(child.pid)
            target.logs.append(log)
        _, status, usage = os.wait4(child.pid, 0)
        code = child.returncode = os.waitstatus_to_exitcode(status)
        with self.lock:
            self.children.discard(child.pid)
            target.processor_seconds += usage.ru_utime + usage.ru_stime
            if code in (0, INTERRUPTED) or self.stopped and code < 0:
                return
            text = log.read_text(errors="replace")
            told = re.findall(r"(?:SUMMARY: |runtime error: |ERROR: )(.*)", text)
            target.findings.append(told[-1] if told else text[-200:])

    def search(self, target, seconds):
        """Processes of a target one after the other, for that time."""
        end = time.monotonic() + seconds
        self.once(target, seconds)
        while not self.stopped and len(target.findings) < MOST_FINDINGS:
            left = int(end - time.monotonic())
            if left < 5:
                break
            self.once(target, left)

    def table(self):
        head = (f"{'target':18} {'processor s':>11} {'runs':>12} {'edges':>7} "
                f"{'features':>9}  findings")
        return "\n".join([head, *(target.row() for target in self.targets)])

    def keep_table(self, path, done):
        while not done.wait(20):
            path.write_text(self.table() + "\n")


def main():
    parser = argparse.ArgumentParser(usage=__doc__, add_help=False)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--table", type=Path)
    parser.add_argument("build", type=lambda text: Path(text).resolve())
    parser.add_argument("seconds", type=int)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    names = options.names or sorted(
        path.name[5:] for path in (options.build / "bin").glob("fuzz-*")
        if path.name != "fuzz-package-seed")
    targets = [Target(options.build, name) for name in names]
    for target in targets:
        target.prepare()
    run, done = Run(targets), threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, run.stop)
    if options.table:
        threading.Thread(target=run.keep_table, args=(options.table, done),
                         daemon=True).start()
    count = max(options.jobs if options.seconds else 0, len(targets))
    with ThreadPoolExecutor(max_workers=options.jobs) as pool:
        work = [pool.submit(run.search, targets[index % len(targets)],
                            options.seconds) for index in range(count)]
        # In steps: a signal is handled between two of them.
        while not all(one.done() for one in work):
            time.sleep(0.1)
        for one in work:
            one.result()
    done.set()
    print(run.table(), flush=True)
    if options.table:
        options.table.write_text(run.table() + "\n")
    sys.exit(1 if not names or any(one.findings for one in targets) else 0)


if __name__ == "__main__":
    main()
