#!/usr/bin/env python3
# Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs small instances of all forms that bench/lightning_kernels.py prints on
the machine of schedules."""

import subprocess
import sys

# Extents after those of the lengths, of 23 tokens in segments of 8 or 4.
FORMS = {"whole": "5,23,23", "states": "5,23,{}", "segments": "5,23,{},23"}
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


def main():
    for name, options in SIZES.items():
        segment = 4 if "--segment" in options else 8
        for form, extents in FORMS.items():
            program = subprocess.run(
                [sys.executable, sys.argv[1], "--form", form, *SMALL,
                 "--segment", "8", *options],
                check=True, capture_output=True, text=True).stdout
            count = (23 - 4) // segment + 4
            print(f"{form}, {name}:", flush=True)
            subprocess.run(
                ["mmx-opt", "-o", "/dev/null", "--tile-run-roles=seeds=100 "
                 f"extents={extents.format(count)}"],
                check=True, input=program, text=True)


if __name__ == "__main__":
    main()
