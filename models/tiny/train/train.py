#!/usr/bin/env python3
"""Trains one variant of the model on one GPU.

Products are bf16, parameters and sums float32. The learning rate rises for
WARM steps, holds, and falls linearly over the last FALL of the run. The
sequences grow: STAGES. A run is --steps long; with --finish-in it is cut short
so that it ends, with the rate at zero, within that time.

usage: train.py WORK_DIR OUT_DIR [--variant hybrid|softmax|lightning]
writes: OUT_DIR/VARIANT.bf16.safetensors (weights as they are shipped),
OUT_DIR/VARIANT.csv (losses) and WORK_DIR/VARIANT.checkpoint (to go on from).
needs: torch, tokenizers, safetensors, numpy
"""
import argparse
import csv
import pathlib
import random
import time

import numpy
import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer

from model import VARIANTS, Model, linear
from muon import Muon
from tasks import Tasks

WARM, FALL = 60, 0.4
# (from this part of the run on, longest sequence)
STAGES = [(0.0, 256), (0.18, 512), (0.36, 1024), (0.54, 2048), (0.72, 4096)]
WEIGHTS = {"text": 1.0, "needles": 0.6, "lookups": 0.4, "copies": 0.2}
BALANCE = 0.01


def learning_rate(step, part):
    return min(1.0, (step + 1) / WARM, (1 - part) / FALL)


def length_at(part, draw):
    longest = [n for start, n in STAGES if part >= start][-1]
    if draw.random() < 0.7:
        return longest
    return draw.choice([n for _, n in STAGES if n <= longest])


def grade(hidden, head, targets, dtype):
    logits = linear(hidden, head, dtype).float()
    loss = F.cross_entropy(logits, targets, reduction="none")
    return loss, logits.argmax(-1) == targets


def optimizers(model, args):
    matrices, rest = [], []
    for name, p in model.named_parameters():
        small = p.ndim < 2 or "embed" in name or "head" in name or \
            name.endswith(".gate")
        (rest if small or args.adamw else matrices).append(p)
    fused = args.device == "cuda"
    out = [torch.optim.AdamW(rest, lr=args.lr, betas=(0.9, 0.95), eps=1e-10,
                             weight_decay=0.01, fused=fused)]
    if matrices:
        out.append(Muon(matrices, lr=args.lr, weight_decay=0.1))
    return out


class Trainer:
    def __init__(self, args):
        self.args = args
        torch.manual_seed(args.seed)
        torch.set_float32_matmul_precision("high")
        self.model = Model(VARIANTS[args.variant], args.seed).to(args.device)
        self.optimizers = optimizers(self.model, args)
        tokenizer = Tokenizer.from_file(str(args.work / "tokenizer.json"))
        self.tasks = Tasks(numpy.load(args.work / "corpus.npz"), tokenizer,
                           args.device, args.seed)
        self.step, self.part, self.rows = 0, 0.0, []
        self.grade = grade
        if args.compile:
            self.model.compile()
            self.grade = torch.compile(grade, fullgraph=True, dynamic=False)
        self.dtype = torch.bfloat16 if args.device == "cuda" else torch.float32
        self.resume()
        self.begun = (time.time(), self.part)

    def advance(self):
        """Moves on `part`: how much of the run is done."""
        start, part = self.begun
        spent = part + (1 - part) * (time.time() - start) / self.args.finish_in
        self.part = max(self.step / self.args.steps, spent)

    def resume(self):
        path = self.args.work / f"{self.args.variant}.checkpoint"
        if self.args.start_from:
            self.model.load_state_dict(
                {k: v.float() for k, v in load_file(
                    self.args.start_from).items()})
            self.step = self.args.start_step
            self.part = self.step / self.args.steps
            self.tasks.generator.manual_seed(self.args.seed + self.step)
        elif path.exists():
            saved = torch.load(path, map_location=self.args.device)
            self.model.load_state_dict(saved["model"])
            for optimizer, state in zip(self.optimizers, saved["optimizers"]):
                optimizer.load_state_dict(state)
            self.tasks.generator.set_state(saved["generator"].cpu())
            self.step, self.part, self.rows = (
                saved["step"], saved["part"], saved["rows"])

    def save(self, whole=True):
        args = self.args
        args.out.mkdir(parents=True, exist_ok=True)
        # Router weights stay float32, as published.
        save_file({k: v if k.endswith(".gate") else v.bfloat16()
                   for k, v in self.model.state_dict().items()},
                  args.out / f"{args.variant}.bf16.safetensors",
                  {"step": str(self.step)})
        with open(args.out / f"{args.variant}.csv", "w") as file:
            table = csv.DictWriter(file, ["step", "seconds", "tokens",
                                          "length", *WEIGHTS, *(
                                              f"{k}_right" for k in WEIGHTS)])
            table.writeheader()
            table.writerows(self.rows)
        if whole:
            torch.save({"model": self.model.state_dict(),
                        "optimizers": [o.state_dict() for o in
                                       self.optimizers],
                        "generator": self.tasks.generator.get_state(),
                        "step": self.step, "part": self.part,
                        "rows": self.rows},
                       args.work / f"{args.variant}.checkpoint")

    def update(self):
        """One step; returns {kind: (loss, part right)} as device scalars."""
        args = self.args
        draw = random.Random(args.seed * 1000003 + self.step)
        length = length_at(self.part, draw)
        ids, targets, masks = self.tasks.batch(args.tokens, length, draw)
        hidden, balance = self.model(ids, length, self.dtype)
        loss, right = self.grade(hidden, self.model.lm_head, targets,
                                 self.dtype)
        total, report = BALANCE * balance, {}
        for kind, mask in masks.items():
            count = mask.sum().clamp(min=1)
            mean = (loss * mask).sum() / count
            total = total + WEIGHTS[kind] * mean
            report[kind] = mean.detach()
            report[f"{kind}_right"] = (right & mask).sum() / count
        total.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        rate = args.lr * learning_rate(self.step, self.part)
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                group["lr"] = rate
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        self.step += 1
        self.advance()
        return length, report

    def run(self):
        args, start, warm = self.args, time.time(), None
        saved = start
        while self.part < 1:
            length, report = self.update()
            if self.step % args.every == 0 or self.part >= 1:
                row = {k: round(v.item(), 4) for k, v in report.items()}
                now = time.time()
                warm = warm or (now, self.step)
                rate = (self.step - warm[1]) * args.tokens / max(
                    now - warm[0], 1e-9)
                self.rows.append(dict(step=self.step, seconds=round(
                    now - start, 1), tokens=self.step * args.tokens,
                    length=length, **row))
                print(args.variant, self.step, f"{now - start:.0f}s",
                      f"{rate / 1e3:.0f}k/s", length, " ".join(
                          f"{k} {row[k]:.3f}/{row[k + '_right']:.3f}"
                          for k in WEIGHTS), flush=True)
                if now - saved > args.save_every:
                    self.save(whole=args.whole)
                    saved = now
                if now - start > args.seconds:
                    break
        self.save(whole=args.whole)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--variant", default="hybrid", choices=VARIANTS)
    parser.add_argument("--steps", type=int, default=4800)
    parser.add_argument("--tokens", type=int, default=65536,
                        help="in one step")
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--adamw", action="store_true",
                        help="for matrices too, instead of Muon")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1e9,
                        help="stop after this time, to be resumed")
    parser.add_argument("--finish-in", type=float, default=1e9,
                        help="seconds")
    parser.add_argument("--every", type=int, default=20, help="steps a report")
    parser.add_argument("--save-every", type=float, default=120,
                        help="seconds")
    parser.add_argument("--no-checkpoint", dest="whole", action="store_false",
                        help="write weights only")
    parser.add_argument("--start-from", help="weights, with a fresh optimizer")
    parser.add_argument("--start-step", type=int, default=0)
    parser.add_argument("--no-compile", dest="compile", action="store_false")
    parser.add_argument("--device", default="cuda")
    Trainer(parser.parse_args()).run()


if __name__ == "__main__":
    main()
