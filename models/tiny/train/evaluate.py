#!/usr/bin/env python3
"""Held-out loss per byte, and needles found by length and depth.

The answer counts as found if the model's best next token is right at every
digit given the digits before it: what greedy generation would print.

usage: evaluate.py WORK_DIR WEIGHTS.safetensors --variant V [--lengths 512,...]
prints: tables; with --json FILE writes the figures
needs: torch, tokenizers, safetensors, numpy
"""
import argparse
import json
import math
import pathlib
import time

import numpy
import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from tokenizers import Tokenizer

from corpus import SOURCES
from model import VARIANTS, Model
from tasks import Tasks

DIGITS = 5
WINDOW = 2048


def held_out_loss(model, packed, dtype, device, most=64):
    """{source: (bits per byte, bytes)} over windows of WINDOW tokens."""
    size = torch.tensor(packed["bytes"].astype("int64"), device=device)
    losses = {}
    for name in SOURCES:
        ids = torch.tensor(packed[f"held.{name}"].astype("int64"),
                           device=device)
        count = min(most, (len(ids) - 1) // WINDOW)
        bits, total = 0.0, 0
        for i in range(count):
            part = ids[i * WINDOW:(i + 1) * WINDOW + 1]
            hidden, _ = model(part[:-1], WINDOW, dtype)
            nats = F.cross_entropy(model.logits(hidden, dtype), part[1:],
                                   reduction="sum").item()
            bits += nats / math.log(2)
            total += size[part[1:]].sum().item()
        if total:
            losses[name] = (bits / total, total)
    return losses


def retrieval(model, tasks, length, depths, trials, most, dtype):
    """Needles found at each depth, of `trials`."""
    found = []
    for i in range(depths):
        depth, hits, left = i / max(1, depths - 1), 0, trials
        while left:
            rows = min(left, max(1, most // length))
            ids, _, answers = tasks.needles(rows, length, 1, 1, DIGITS, depth)
            hidden, _ = model(ids[:, :-1].flatten(), length, dtype)
            best = model.logits(hidden[answers.flatten()], dtype).argmax(-1)
            right = best == ids[:, 1:][answers]
            hits += right.view(rows, DIGITS).all(1).sum().item()
            left -= rows
        found.append(hits)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("weights")
    parser.add_argument("--variant", default="hybrid", choices=VARIANTS)
    parser.add_argument("--lengths", default="512,1024,2048,4096")
    parser.add_argument("--depths", type=int, default=10)
    parser.add_argument("--trials", type=int, default=20,
                        help="at a depth; fewer above 16k tokens")
    parser.add_argument("--most", type=int, default=262144,
                        help="tokens in one pass")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--float32", action="store_true")
    parser.add_argument("--json")
    args = parser.parse_args()
    dtype = torch.float32 if args.float32 or args.device == "cpu" \
        else torch.bfloat16
    model = Model(VARIANTS[args.variant]).to(args.device)
    model.load_state_dict({k: v.float() for k, v in
                           load_file(args.weights).items()})
    packed = numpy.load(args.work / "corpus.npz")
    tokenizer = Tokenizer.from_file(str(args.work / "tokenizer.json"))
    tasks = Tasks(packed, tokenizer, args.device, args.seed, "held")
    result = {"variant": args.variant, "weights": args.weights, "needles": {}}
    with torch.no_grad():
        losses = held_out_loss(model, packed, dtype, args.device)
        shares = sum(SOURCES[n][1] for n in losses)
        mean = sum(SOURCES[n][1] * b for n, (b, _) in losses.items()) / shares
        print(f"{args.variant}: held-out bits per byte {mean:.4f} (",
              ", ".join(f"{n} {b:.3f}" for n, (b, _) in losses.items()), ")",
              flush=True)
        result["bits_per_byte"] = {n: b for n, (b, _) in losses.items()}
        result["bits_per_byte"]["mean"] = mean
        for length in map(int, args.lengths.split(",")):
            trials = max(1, min(args.trials, args.trials * 16384 // length))
            start = time.time()
            model.tables.clear()
            found = retrieval(model, tasks, length, args.depths, trials,
                              max(args.most, length), dtype)
            result["needles"][length] = {"trials": trials, "found": found}
            print(f"{args.variant} {length:8} tokens: {sum(found):4} of "
                  f"{trials * args.depths:4}  by depth {found}  "
                  f"{time.time() - start:.1f} s", flush=True)
            if args.json:
                pathlib.Path(args.json).write_text(json.dumps(result))


if __name__ == "__main__":
    main()
