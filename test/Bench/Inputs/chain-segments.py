#!/usr/bin/env python3
# Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Interprets the two kernels of segments one after the other and compares what
they give with the kernel of whole sequences, in norm."""

import math
import subprocess
import sys

SIZES = ["--heads", "2", "--dim", "4", "--block", "4", "--width", "2",
         "--segment", "8"]
LIMIT = 4e-3  # values and states are rounded to bf16 at other places


def make_program(generator, form):
    return subprocess.run([sys.executable, generator, "--form", form, *SIZES],
                          check=True, capture_output=True, text=True).stdout


def interpret(program, extents):
    """The views that the kernel writes, by number: their elements."""
    symbol = program.split("@", 1)[1].split("(", 1)[0]
    out = subprocess.run(
        ["mmx-opt", "-o", "/dev/null", f"--tile-interpret=kernel={symbol} "
         f"extents={','.join(map(str, extents))} print-values"],
        check=True, input=program, stdout=subprocess.PIPE, text=True).stdout
    views, number = {}, None
    for line in out.splitlines():
        if line.startswith("view "):
            number = int(line.split()[1])
            views[number] = []
        elif number is not None:
            views[number] += map(float, line.split())
    return views


def difference(actual, expected):
    pairs = [(a, b) for a, b in zip(actual, expected, strict=True)]
    norm = math.sqrt(sum(b * b for _, b in pairs))
    return math.sqrt(sum((a - b) ** 2 for a, b in pairs)) / norm


def main():
    generator = sys.argv[1]
    whole = interpret(make_program(generator, "whole"), [5, 23, 23])
    states = interpret(make_program(generator, "states"), [5, 23, 6])
    # The last segment does not exist: what is read of it would show.
    elements = ", ".join("0x7FC00000" if math.isnan(x) else f"{x:e}"
                         for x in states[5])
    # Without brackets: reshaped below.
    shape = [6, 2, 4, 4]
    values = elements.split(", ")
    for size in reversed(shape[1:]):
        values = [f"[{', '.join(values[i:i + size])}]"
                  for i in range(0, len(values), size)]
    dense = f"dense<[{', '.join(values)}]> : tensor<6x2x4x4xf32>"
    program = make_program(generator, "segments").replace(
        '"random", "random", "random"', f'"random", "random", {dense}')
    segments = interpret(program, [5, 23, 23])
    for name, view, other in (("states", 3, 3), ("outputs", 6, 5)):
        error = difference(segments[view], whole[other])
        print(f"{name} {'agree' if error <= LIMIT else f'differ by {error}'}")


if __name__ == "__main__":
    main()
