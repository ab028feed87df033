#!/usr/bin/env python3
# Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every form of hopper.wgmma on a GPU against torch, bit for bit.

    test/Conversion/HopperToNVVM/Inputs/make-products.py \\
      | mmx-opt --gpu-assemble-kernels=directory=K -o /dev/null
    bench/hopper_products.py K

Elements are small integers, so that every order of the sum gives the same
number; a wrong descriptor, swizzle or fragment does not. Results are poisoned
first. Exit status 1 if one is wrong.
"""

import re
import sys
from pathlib import Path

import torch

import gpu_launch

NAME = re.compile(r"product_(bf16|f16)_a(\w+)_b(\w+)_m(\d+)n(\d+)k(\d+)_(\w+)")


def count_wrong(kernel):
    """Elements of a result that differ."""
    element, a_form, b_form, m, n, k, _ = NAME.fullmatch(kernel.symbol).groups()
    m, n, k = int(m), int(n), int(k)
    dtype = torch.bfloat16 if element == "bf16" else torch.float16
    a = torch.randint(-4, 5, (m, k), device="cuda").to(dtype)
    b = torch.randint(-4, 5, (k, n), device="cuda").to(dtype)
    stored_a = a.t().contiguous() if a_form.endswith("t") else a
    stored_b = b.t().contiguous() if b_form.endswith("t") else b
    c = torch.full((m, n), float("nan"), device="cuda")
    kernel.prepare([stored_a, stored_b, c], [])()
    torch.cuda.synchronize()
    expected = a.double() @ b.double()
    return int((c.double() != expected).sum())


def main():
    torch.manual_seed(torch.seed() % (1 << 31))
    wrong = total = 0
    for path in sorted(Path(sys.argv[1]).glob("product_*.json")):
        kernel = gpu_launch.Kernel(path)
        elements = max(count_wrong(kernel) for _ in range(3))
        total += 1
        if elements:
            wrong += 1
            print(f"WRONG {kernel.symbol}: {elements} elements differ")
    print(f"{total - wrong} of {total} forms of products are right")
    return int(wrong > 0 or total == 0)


if __name__ == "__main__":
    sys.exit(main())
