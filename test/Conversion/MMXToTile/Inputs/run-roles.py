#!/usr/bin/env python3
# Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints lightning.mlir with heads of a size, or with --starts reads kernels and
gives the one of lightning attention sequences that start there.

    run-roles.py --size 32 lightning.mlir
    mmx-opt ... | run-roles.py --starts 0,3,3,70
"""

import argparse
import sys


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file", nargs="?")
    parser.add_argument("--size", type=int, help="of a head")
    parser.add_argument("--starts", help="first tokens, and the end")
    args = parser.parse_args()
    if args.size:
        text = open(args.file, encoding="utf-8").read()
        print(text.replace("SIZE", str(args.size))
              .replace("THREE", str(6 * args.size)), end="")
        return
    starts = [int(n) for n in args.starts.split(",")]
    # The last sequence has the first slot.
    slots = list(range(len(starts) - 1))[::-1]
    inputs = (f"tile.inputs = [dense<{starts}> : tensor<{len(starts)}xi32>, "
              f"dense<{slots}> : tensor<{len(slots)}xi32>, "
              'dense<[0.5, 0.0625]> : tensor<2xf32>, '
              '"random", "random", "poison"]')
    text = sys.stdin.read()
    print(text.replace("mmx.spills = 64 : i64", inputs), end="")


if __name__ == "__main__":
    main()
