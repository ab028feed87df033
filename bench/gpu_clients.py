#!/usr/bin/env python3
# Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The other kernels of the tile level on a GPU: right, and the time for the record.

    mmx-opt bench/kernels/gemm.mlir --convert-tile-to-hopper \\
      --gpu-assemble-kernels=directory=K -o /dev/null
    bench/gpu_clients.py K..

Folders hold the kernels of bench/kernels: a product with an epilogue, causal
attention, products of tokens grouped by expert. Each is compared with torch in
float64 within 4e-3 in norm at several sizes, outputs poisoned and guarded
before and after; then timed beside what torch has. Exit status 1 on a failure.
"""

import argparse
import sys
import traceback

import torch
import torch.nn.functional as F

import gpu_launch
from lightning_reference import relative_error

LIMIT = 4e-3
GUARD = 192


def guarded(rows, *shape):
    """A poisoned output and the whole buffer around it."""
    whole = torch.full((rows + 2 * GUARD, *shape), float("nan"),
                       dtype=torch.bfloat16, device="cuda")
    return whole[GUARD:GUARD + rows], whole


def untouched(whole):
    return bool(whole[:GUARD].isnan().all() and whole[-GUARD:].isnan().all())


def random(*shape):
    return torch.randn(*shape, device="cuda").bfloat16()


class Gemm:
    """c = silu(a w^T), w [4096, 4096]."""
    prefix, sizes, timed = "gemm", (1, 63, 64, 128, 129, 1000), 8192

    def make(self, rows):
        a, w = random(rows, 4096), random(4096, 4096) / 64
        out, whole = guarded(rows, 4096)
        expected = lambda: F.silu(a.double() @ w.double().t())
        peer = lambda: F.silu(a @ w.t())
        return [a, w, out], [rows, rows], whole, expected, peer, \
            2 * rows * 4096 * 4096


class Attention:
    """Causal, one sequence, 8 heads of 128."""
    prefix, sizes, timed = "attention", (1, 63, 64, 65, 128, 1000), 16384

    def make(self, rows):
        q, k, v = (random(rows, 8, 128) for _ in range(3))
        out, whole = guarded(rows, 8, 128)

        def run(cast):
            x = (cast(t).transpose(0, 1)[None] for t in (q, k, v))
            return F.scaled_dot_product_attention(*x, is_causal=True)[0] \
                .transpose(0, 1)
        return [q, k, v, out], [rows] * 4, whole, \
            lambda: run(torch.Tensor.double), lambda: run(lambda t: t), \
            2 * rows * rows * 8 * 128


class Grouped:
    """h of the tokens of each of 8 experts, w [8, 2048, 1024]."""
    prefix, sizes, timed = "grouped", (1, 64, 100, 1000), 8192

    def make(self, rows):
        x, w = random(rows, 1024), random(8, 2048, 1024) / 32
        # Uneven: expert 1 has most of the tokens, some have none.
        experts = torch.randint(0, 8, (rows,)).clamp(min=1)
        experts[rows // 2:] = experts[rows // 2:] % 2 * 6 + 1
        counts = torch.bincount(experts, minlength=8).tolist()
        tiles, start = [], 0
        for expert, count in enumerate(counts):
            for first in range(0, count, 64):
                tiles.append([expert, start + first, min(64, count - first)])
            start += count
        table = torch.tensor(tiles, dtype=torch.int32, device="cuda")
        out, whole = guarded(rows, 2048)

        def run(cast):
            parts = cast(x).split(counts)
            return torch.cat([part @ cast(w[e]).t()
                              for e, part in enumerate(parts)])
        return [x, w, table, out], [rows, len(tiles), rows], whole, \
            lambda: run(torch.Tensor.double), lambda: run(lambda t: t), \
            2 * rows * 2048 * 1024


def check(client, kernel):
    right = True
    for rows in client.sizes:
        views, extents, whole, expected, _, _ = client.make(rows)
        kernel.prepare(views, extents)()
        torch.cuda.synchronize()
        error = relative_error(views[-1], expected())
        good = error <= LIMIT and untouched(whole)
        right &= good
        print(f"{'right' if good else 'WRONG'} {kernel.symbol} {rows} rows: "
              f"error {error:.2e}, outside "
              f"{'untouched' if untouched(whole) else 'TOUCHED'}", flush=True)
    return right


def measure(client, kernel):
    views, extents, _, _, peer, work = client.make(client.timed)
    launch = kernel.prepare(views, extents)
    launch()
    peer()
    for name, run in ((kernel.symbol, launch), ("torch", peer)):
        single = gpu_launch.time_single(run)
        print(f"{name:32} {client.timed:8} rows {single:8.4f} ms "
              f"{work / single / 1e9:7.1f} TFLOP/s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+")
    args = parser.parse_args()
    clients = [Gemm(), Attention(), Grouped()]
    failures = total = 0
    for folder in args.folders:
        for kernel in gpu_launch.load_kernels(folder).values():
            for client in clients:
                if not kernel.symbol.startswith(client.prefix):
                    continue
                total += 1
                try:
                    if check(client, kernel):
                        measure(client, kernel)
                    else:
                        failures += 1
                except Exception:
                    traceback.print_exc()
                    failures += 1
    print(f"{total - failures} of {total} kernels are right")
    return int(failures > 0 or total == 0)


if __name__ == "__main__":
    sys.exit(main())
