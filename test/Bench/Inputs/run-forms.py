#!/usr/bin/env python3
# Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs small instances of all forms that bench/lightning_kernels.py prints on
the machine of schedules."""

import subprocess
import sys

# Extents after those of the lengths, of 23 tokens in segments of 8 or 4.
FORMS = {"whole": "5,23,23", "states": "5,23,{}", "segments": "5,23,{},23",
         "decode": "5,4,4"}
# Views of the gate, of weights and of sums follow.
GATED = {form: extents + ",23,23" for form, extents in FORMS.items()
         if form in ("whole", "segments")}
SMALL = ["--heads", "2", "--block", "4", "--dim", "4", "--width", "2"]
SIZES = {
    "two parts": [],
    "one part": ["--width", "4"],
    "padded": ["--dim", "3"],
    "short rings": ["--depth", "2"],
    "long rings": ["--depth", "6"],
    "small blocks": ["--block", "2"],
    "segments of a block": ["--segment", "4"],
}


def run(form, name, options, extents):
    program = subprocess.run(
        [sys.executable, sys.argv[1], "--form", form, *SMALL, "--segment", "8",
         *options], check=True, capture_output=True, text=True).stdout
    print(f"{form}, {name}:", flush=True)
    subprocess.run(
        ["mmx-opt", "-o", "/dev/null",
         f"--tile-run-roles=seeds=100 extents={extents}"],
        check=True, input=program, text=True)


def main():
    for name, options in SIZES.items():
        segment = 4 if "--segment" in options else 8
        count = (23 - 4) // segment + 4
        for form, extents in FORMS.items():
            run(form, name, options, extents.format(count))
        for form, extents in GATED.items():
            run(form, f"gated, {name}", ["--gated", *options],
                extents.format(count))


if __name__ == "__main__":
    main()
