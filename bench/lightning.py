#!/usr/bin/env python3
# Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lightning attention on a GPU: first right, then how fast.

    mmx-opt kernels.mlir ... --gpu-assemble-kernels=directory=K/NAME
    bench/lightning.py K/NAME.. [--fla DIR] [--seconds S]

Every folder is one variant: kernels as `--gpu-assemble-kernels` writes them.
One kernel for_blocks_HxDxD.. is the prefill form, lightning_step_HxDxD.. the
decode form; the views are those of the model's kernels. For other forms a file
plan.json in the folder says what to launch:

    {"form": "prefill", "heads": 8, "dim": 128,
     "buffers": {"w": ["tokens // 4096 + sequences", "heads * dim * dim"]},
     "launches": [{"kernel": "SYMBOL", "views": ["starts", "qkv", "w"],
                   "extents": ["sequences + 1", "tokens", "..."]}]}

Buffers are f32; expressions know tokens, sequences, slots, heads, dim. Without
`extents` the first extent of every view but `rates` and `weight` is dynamic.
"segment" is after how many tokens a form starts anew: its boundaries are checked,
too. A "gated" form makes o weight sigmoid(gate), and the sums of o^2 of the parts
of a head.

Checked against the float64 recurrence: outputs within 4e-3, states within 2e-3
in norm, with outputs, other states and rows outside the tokens poisoned; a
variant that fails is not timed. Then times over bytes of q, k, v, o moved once,
as a share of the copy bandwidth of the same run. Exit status 1 on a failure.
"""

import argparse
import json
import re
import sys
import traceback
from pathlib import Path

import torch

import gpu_launch
import lightning_reference as reference

OUTPUT_LIMIT, STATE_LIMIT = 4e-3, 2e-3
# The square of a number has twice its relative error.
SQUARES_LIMIT = 2 * OUTPUT_LIMIT
GUARD = 192  # rows before and after the tokens that nothing may touch
DEVICE = "cuda"

VIEWS = {"prefill": ["starts", "slots", "rates", "state", "qkv", "out"],
         "decode": ["slots", "rates", "state", "qkv", "out"]}
GATED_VIEWS = ["gate", "weight", "squares"]
PART = 64  # columns of a head that one sum of squares is of

# Packs of sequence lengths.
CHECK_PACKS = [[n] for n in (1, 2, 63, 64, 65, 127, 128, 129, 255, 256, 257,
                             1000, 8191)]
CHECK_PACKS += [[1, 64, 65, 2, 127], [300, 1, 1, 511, 128], [257, 3, 1000, 64]]


# ---------------------------------------------------------------------------
# Variants
# ---------------------------------------------------------------------------

class Variant:
    """The kernels of a folder and how they are launched."""

    def __init__(self, folder):
        self.name = Path(folder).name
        self.kernels = gpu_launch.load_kernels(folder)
        plan = Path(folder) / "plan.json"
        self.plan = json.loads(plan.read_text()) if plan.exists() \
            else self.infer_plan()
        self.form = self.plan["form"]
        self.heads, self.dim = self.plan["heads"], self.plan["dim"]
        self.segment = self.plan.get("segment")
        self.gated = self.plan.get("gated", False)

    def infer_plan(self):
        for symbol in self.kernels:
            match = re.match(r"(for_blocks|lightning_step)\w*?_(\d+)x(\d+)x\d+",
                             symbol)
            if match:
                form = "prefill" if match[1] == "for_blocks" else "decode"
                gated = "_gated_" in symbol
                views = VIEWS[form] + (GATED_VIEWS if gated else [])
                return {"form": form, "heads": int(match[2]),
                        "dim": int(match[3]), "gated": gated,
                        "launches": [{"kernel": symbol, "views": views}]}
        raise ValueError(f"{self.name}: no plan.json, and no kernel for_blocks_* "
                         f"or lightning_step_* among {sorted(self.kernels)}")

    def prepare(self, case):
        """A function that runs the variant on the buffers of a case."""
        names = {"tokens": case.tokens, "sequences": len(case.lengths),
                 "slots": case.buffers["state"].shape[0], "heads": self.heads,
                 "dim": self.dim}

        def evaluate(text):
            return eval(str(text), {"__builtins__": {}}, names)
        buffers = dict(case.buffers)
        for name, shape in self.plan.get("buffers", {}).items():
            buffers[name] = torch.full([evaluate(n) for n in shape],
                                       float("nan"), device=DEVICE)
        launches = []
        for step in self.plan["launches"]:
            views = [buffers[name] for name in step["views"]]
            extents = [evaluate(n) for n in step["extents"]] \
                if "extents" in step else \
                [view.shape[0] for name, view in zip(step["views"], views)
                 if name not in ("rates", "weight")]
            launches.append(self.kernels[step["kernel"]].prepare(views, extents))

        def run():
            for launch in launches:
                launch()
        return run

    def make_packs(self):
        """Packs of lengths to check."""
        if self.form == "decode":
            return [[1] * n for n in (1, 2, 5, 64)]
        n = self.segment
        packs = CHECK_PACKS
        if n:
            packs = packs + [[n - 1], [n], [n + 1], [2 * n + 1], [8 * n],
                             [n + 1, 3, 2 * n, 1, 3 * n + 77, n]]
        return packs


class Case:
    """Inputs and poisoned outputs of one pack of sequences."""

    def __init__(self, variant, lengths, factor, initial, seed, scale_from=None):
        heads, dim = variant.heads, variant.dim
        self.lengths, self.tokens = lengths, sum(lengths)
        self.segment = variant.segment
        generator = torch.Generator(device=DEVICE).manual_seed(seed)
        self.rates = reference.decay_rates(heads, factor, DEVICE)
        # Rows outside are NaN: a tail that reads them shows.
        rows = self.tokens + 2 * GUARD
        self.all_qkv = torch.full((rows, heads, 3, dim), float("nan"),
                                  dtype=torch.bfloat16, device=DEVICE)
        qkv = self.all_qkv[GUARD:GUARD + self.tokens]
        qkv.copy_(reference.random_qkv(self.tokens, heads, dim, DEVICE, generator))
        if scale_from is not None:
            qkv[scale_from:, :, 2] *= 1e-7
        self.all_out = torch.full((rows, heads, dim), float("nan"),
                                  dtype=torch.bfloat16, device=DEVICE)
        order = torch.randperm(len(lengths) + 2, generator=generator,
                               device=DEVICE)
        self.slots = order[:len(lengths)].int()
        self.unused = order[len(lengths):]
        shape = (len(lengths), heads, dim, dim)
        self.initial = torch.randn(shape, device=DEVICE, generator=generator) \
            if initial else torch.zeros(shape, device=DEVICE)
        self.state = torch.full((len(lengths) + 2, heads, dim, dim),
                                float("nan"), device=DEVICE)
        starts = torch.tensor([0] + lengths, device=DEVICE).cumsum(0).int()
        self.starts = starts
        self.buffers = {
            "starts": starts, "slots": self.slots, "rates": self.rates.float(),
            "state": self.state, "qkv": qkv,
            "out": self.all_out[GUARD:GUARD + self.tokens]}
        self.gated = variant.gated
        if self.gated:
            self.add_gate(generator)
        self.reset()

    def add_gate(self, generator):
        """The inputs of a gated form, and its poisoned sums of squares."""
        heads, dim = self.all_out.shape[1:]
        gate = torch.randn(self.tokens, heads, dim, device=DEVICE,
                           generator=generator)
        weight = 1 + torch.randn(heads, dim, device=DEVICE,
                                 generator=generator) / 4
        self.all_squares = torch.full(
            (self.all_out.shape[0], heads, -(-dim // PART)), float("nan"),
            device=DEVICE)
        self.buffers |= {
            "gate": (3 * gate).bfloat16(), "weight": weight.bfloat16(),
            "squares": self.all_squares[GUARD:GUARD + self.tokens]}

    def reset(self):
        """Poison again, and the states before the first token."""
        self.all_out.fill_(float("nan"))
        if self.gated:
            self.all_squares.fill_(float("nan"))
        self.state.fill_(float("nan"))
        self.state[self.slots.long()] = self.initial

    def snapshot(self):
        outputs = [self.all_out.view(torch.int16).clone(),
                   self.state.view(torch.int32).clone()]
        if self.gated:
            outputs.append(self.all_squares.view(torch.int32).clone())
        return outputs

    def finish(self, o, rows):
        """What a gated form makes of outputs `o` of the tokens `rows`."""
        if not self.gated:
            return o
        gate = self.buffers["gate"][rows].double()
        return o * self.buffers["weight"].double() * gate.sigmoid()

    def compare_squares(self, o, rows):
        """Error of the sums of squares of outputs `o`."""
        padding = -o.shape[2] % PART
        parts = torch.nn.functional.pad(o, (0, padding)) \
            .unflatten(2, (-1, PART)).square().sum(3)
        return reference.relative_error(self.buffers["squares"][rows], parts)

    def compare(self, first_rows=64):
        """Errors by name. `boundary` is of the first tokens of blocks alone,
        `segment` of those of segments."""
        errors = {"out": 0.0, "state": 0.0, "boundary": 0.0, "segment": 0.0,
                  "head": 0.0, "squares": 0.0}
        # The kernel has its rates in f32.
        rates = self.buffers["rates"].double()
        start = 0
        for number, length in enumerate(self.lengths):
            qkv = self.buffers["qkv"][start:start + length]
            o, s = reference.blocked(*qkv.unbind(2), rates,
                                     self.initial[number])
            tokens = slice(start, start + length)
            if self.gated:
                errors["squares"] = max(errors["squares"],
                                        self.compare_squares(o, tokens))
            o = self.finish(o, tokens)
            out = self.buffers["out"][tokens].double()
            state = self.state[int(self.slots[number])].double()
            error = reference.relative_error
            errors["out"] = max(errors["out"], error(out, o))
            errors["state"] = max(errors["state"], error(state, s))
            for name, step in (("boundary", first_rows),
                               ("segment", self.segment or length)):
                rows = slice(step, None, step)
                if length > step:
                    errors[name] = max(errors[name], error(out[rows], o[rows]))
            heads = (out - o).norm(dim=(0, 2)) / o.norm(dim=(0, 2))
            errors["head"] = max(errors["head"], heads.max().item())
            start += length
        errors["outside"] = float(self.touched_outside())
        return errors

    def touched_outside(self):
        """Elements outside the tokens, or of other states, that changed."""
        states = self.state[self.unused]
        touched = (~states.isnan()).sum()
        for rows in [self.all_out] + ([self.all_squares] if self.gated else []):
            touched += (~rows[:GUARD].isnan()).sum()
            touched += (~rows[-GUARD:].isnan()).sum()
        return int(touched)


# ---------------------------------------------------------------------------
# Checks
# ---------------------------------------------------------------------------

def is_right(errors):
    return max(errors["out"], errors["boundary"],
               errors["segment"]) <= OUTPUT_LIMIT \
        and errors["squares"] <= SQUARES_LIMIT \
        and errors["state"] <= STATE_LIMIT and errors["outside"] == 0


def run_case(variant, case):
    case.reset()
    variant.prepare(case)()
    torch.cuda.synchronize()
    return case.compare()


def check_tail(variant, seed):
    """v is tiny from `before` tokens before a boundary on: the rows after the
    boundary live on older tokens alone. Error of those rows."""
    worst = 0.0
    places = [(512, 64), (512, 448), (4096, 1024), (8192, 4480)]
    if n := variant.segment:
        places += [(m, before) for m in (n, 3 * n)
                   for before in (64, 448, 4480) if before < m]
    for boundary, before in places:
        for factor in (reference.layer_factor(0), reference.layer_factor(78)):
            case = Case(variant, [boundary + 256], factor, True, seed,
                        scale_from=boundary - before)
            case.reset()
            variant.prepare(case)()
            qkv = case.buffers["qkv"]
            o, _ = reference.blocked(*qkv.unbind(2),
                                     case.buffers["rates"].double(),
                                     case.initial[0])
            out = case.buffers["out"][boundary:]
            # Heads with a fast decay have nothing left to be compared.
            alive = o[boundary:].norm(dim=(0, 2)) > 1e-20
            o = case.finish(o, slice(None))
            worst = max(worst, reference.relative_error(
                out[:, alive], o[boundary:][:, alive]))
    return worst


def check_repeats(variant, seed, count=20):
    """Runs that differ in a bit from the first."""
    lengths = [300, 1, 1000, 8191] if variant.form == "prefill" else [1] * 5
    if n := variant.segment:
        lengths = lengths + [3 * n + 5]
    case = Case(variant, lengths, reference.layer_factor(0), True, seed)
    run = variant.prepare(case)
    run()
    first = case.snapshot()
    different = 0
    for _ in range(count):
        case.reset()
        run()
        again = case.snapshot()
        different += not all(torch.equal(a, b) for a, b in zip(first, again))
    return different


def check_delayed(delayed, variants, seed):
    """Builds whose warps are delayed at random (convert-tile-to-hopper=delays=N)
    give the bits of the variant with the same heads and dim."""
    wrong = 0
    for variant in delayed:
        same = [v for v in variants if (v.form, v.heads, v.dim) ==
                (variant.form, variant.heads, variant.dim)]
        different = 0
        for lengths in ([1, 64, 65, 2, 127], [300, 1, 1000], [2048]):
            case = Case(variant, lengths if variant.form == "prefill" else
                        [1] * len(lengths), reference.layer_factor(0), True, seed)
            results = []
            for build in [variant] + same[:1]:
                case.reset()
                build.prepare(case)()
                torch.cuda.synchronize()
                results.append(case.snapshot())
            different += not all(torch.equal(a, b) for a, b
                                 in zip(results[0], results[-1]))
        right = same and not different
        wrong += not right
        print(f"{'right' if right else 'WRONG':6} {variant.name}: delayed at "
              f"random, {different} of 3 cases differ from "
              f"{same[0].name if same else 'no variant'}", flush=True)
    return wrong


def check(variant, args):
    """True if all is right; prints one line for the worst of each check."""
    worst, failed, cases = {}, [], 0
    for seed, lengths in enumerate(variant.make_packs()):
        longest = max(args.longest_check, 8 * (variant.segment or 0))
        if max(lengths) > longest:
            continue
        for factor in (reference.layer_factor(0), reference.layer_factor(78)):
            for initial in (False, True):
                case = Case(variant, lengths, factor, initial, args.seed + seed)
                errors = run_case(variant, case)
                cases += 1
                if not is_right(errors):
                    failed.append((lengths, factor, initial, errors))
                for name, value in errors.items():
                    worst[name] = max(worst.get(name, 0), value)
    tail = check_tail(variant, args.seed) if variant.form == "prefill" else 0.0
    different = check_repeats(variant, args.seed)
    right = not failed and tail <= OUTPUT_LIMIT and not different
    numbers = " ".join(f"{name} {value:.2e}" for name, value in worst.items())
    print(f"{'right' if right else 'WRONG':6} {variant.name}: {cases} cases: "
          f"{numbers}; tail {tail:.2e}; {different} of 20 runs differ", flush=True)
    for lengths, factor, initial, errors in failed[:6]:
        print(f"       lengths {lengths} factor {factor:.4f} initial {initial}: "
              + " ".join(f"{n} {e:.2e}" for n, e in errors.items()))
    return right


# ---------------------------------------------------------------------------
# Times
# ---------------------------------------------------------------------------

def timed_case(variant, tokens):
    """A case without guards that fits the memory at 1M tokens."""
    lengths = [tokens] if variant.form == "prefill" else [1] * tokens
    case = Case.__new__(Case)
    case.lengths, case.tokens = lengths, tokens
    generator = torch.Generator(device=DEVICE).manual_seed(1)
    heads, dim = variant.heads, variant.dim
    qkv = reference.random_qkv(tokens, heads, dim, DEVICE, generator)
    state = torch.randn(len(lengths), heads, dim, dim, device=DEVICE)
    case.buffers = {
        "starts": torch.tensor([0] + lengths, device=DEVICE).cumsum(0).int(),
        "slots": torch.randperm(len(lengths), device=DEVICE).int(),
        "rates": reference.decay_rates(
            heads, reference.layer_factor(0), DEVICE).float(),
        "state": state, "qkv": qkv,
        "out": torch.empty(tokens, heads, dim, dtype=torch.bfloat16,
                           device=DEVICE)}
    if variant.gated:
        case.buffers |= {
            "gate": torch.randn(tokens, heads, dim, dtype=torch.bfloat16,
                                device=DEVICE, generator=generator),
            "weight": torch.ones(heads, dim, dtype=torch.bfloat16,
                                 device=DEVICE),
            "squares": torch.empty(tokens, heads, -(-dim // PART),
                                   device=DEVICE)}
    return case


def moved_bytes(variant, tokens):
    if variant.form == "decode":
        return 2 * 4 * tokens * variant.heads * variant.dim ** 2
    return (5 if variant.gated else 4) * 2 * tokens * variant.heads * variant.dim


def report(name, tokens, launch, moved, copies, args):
    launch()
    torch.cuda.synchronize()
    single = gpu_launch.time_single(launch)
    sustained, (clock, power) = gpu_launch.time_sustained(launch, args.seconds)
    rates = [moved / 1e6 / single, moved / 1e6 / sustained]
    print(f"{name:32} {tokens:8} {single:9.4f} {rates[0]:7.0f} "
          f"{rates[0] / copies[0]:6.1%} {sustained:9.4f} {rates[1]:7.0f} "
          f"{rates[1] / copies[1]:6.1%} {clock:6.0f} {power:5.0f}", flush=True)


def time_graph(launch, count=20):
    """Milliseconds of one launch of a graph of `count`."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        launch()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            for _ in range(count):
                launch()
    return gpu_launch.time_single(graph.replay) / count


def time_variant(variant, copies, args):
    sizes = args.decode if variant.form == "decode" else args.lengths
    for tokens in sizes:
        try:
            case = timed_case(variant, tokens)
            launch = variant.prepare(case)
            moved = moved_bytes(variant, tokens)
            report(variant.name, tokens, launch, moved, copies, args)
            if variant.form == "decode":
                each = time_graph(launch)
                print(f"{'  in a graph of 20':32} {tokens:8} {each:9.4f} "
                      f"{moved / 1e6 / each:7.0f} "
                      f"{moved / 1e6 / each / copies[0]:6.1%}", flush=True)
        except torch.cuda.OutOfMemoryError:
            print(f"{variant.name:32} {tokens:8} does not fit the memory")
        case = launch = None
        torch.cuda.empty_cache()


# ---------------------------------------------------------------------------
# Peers
# ---------------------------------------------------------------------------

def load_fla(folder):
    """chunk_simple_gla of flash-linear-attention, or why not."""
    sys.path.insert(0, folder)
    try:
        from fla.ops.simple_gla import chunk_simple_gla
        return chunk_simple_gla
    except Exception as error:  # any: it is a peer, not ours
        print(f"flash-linear-attention cannot be loaded: {error!r}")
        return None


def torch_blocks(q, k, v, rates, block=256):
    """Plain torch in bf16, block by block, the state in f32."""
    age = torch.arange(block, device=q.device, dtype=torch.float32)
    distance = age[:, None] - age[None, :]
    mask = torch.exp(-rates[:, None, None] * distance.clamp(min=0)) \
        * (distance >= 0)
    past = torch.exp(-rates[:, None] * (age + 1))[:, :, None]
    rest = torch.exp(-rates[:, None] * (block - 1 - age))[:, :, None]
    total = torch.exp(-rates * block)[:, None, None]
    state = torch.zeros(q.shape[1], q.shape[2], v.shape[2], device=q.device)
    out = torch.empty_like(v)
    for start in range(0, q.shape[0], block):
        qb, kb, vb = (x[start:start + block].transpose(0, 1) for x in (q, k, v))
        scores = ((qb @ kb.transpose(1, 2)) * mask).bfloat16()
        o = scores @ vb + (qb @ state.bfloat16()) * past
        out[start:start + block] = o.transpose(0, 1)
        state = total * state + (kb * rest).bfloat16().transpose(1, 2) @ vb
    return out


def time_peers(copies, args, heads, dim):
    generator = torch.Generator(device=DEVICE).manual_seed(1)
    rates = reference.decay_rates(heads, reference.layer_factor(0),
                                  DEVICE).float()
    chunk = load_fla(args.fla) if args.fla else None
    for tokens in args.peer_lengths:
        qkv = reference.random_qkv(tokens, heads, dim, DEVICE, generator)
        q, k, v = (x.contiguous() for x in qkv.unbind(2))
        moved = 4 * 2 * tokens * heads * dim
        expected, _ = reference.blocked(q[:2048], k[:2048], v[:2048], rates,
                                        torch.zeros(heads, dim, dim,
                                                    device=DEVICE))
        peers = {"torch, blocks of 256": lambda: torch_blocks(q, k, v, rates)}
        if chunk:
            peers["flash-linear-attention"] = lambda: chunk(
                q[None], k[None], v[None], g_gamma=-rates, scale=1.0)[0][0]
        for name, launch in peers.items():
            try:
                with torch.no_grad():
                    error = reference.relative_error(launch()[:2048], expected)
                    report(f"{name} ({error:.1e})", tokens, launch, moved,
                           copies, args)
            except Exception as error:
                print(f"{name}: {tokens} tokens: {error!r}"[:300])


def main():
    numbers = lambda text: [int(n) for n in text.split(",") if n]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("variants", nargs="*", help="folders of kernels")
    parser.add_argument("--fla", help="folder that holds the package fla")
    parser.add_argument("--lengths", type=numbers,
                        default=[8192, 65536, 262144, 1048576])
    parser.add_argument("--peer-lengths", type=numbers,
                        default=[8192, 65536, 262144])
    parser.add_argument("--decode", type=numbers, default=[1, 64])
    parser.add_argument("--heads", type=int, default=64, help="of the peers")
    parser.add_argument("--seconds", type=float, default=1.2,
                        help="of a sustained loop")
    parser.add_argument("--longest-check", type=int, default=8191)
    parser.add_argument("--seed", type=int,
                        default=torch.seed() % (1 << 31))
    parser.add_argument("--delayed", nargs="*", default=[],
                        help="folders of builds with random delays")
    parser.add_argument("--no-times", action="store_true")
    args = parser.parse_args()
    difference = reference.check_reference(DEVICE)
    print(f"float64 blocks against the recurrence: {difference:.1e}; seed "
          f"{args.seed}; {torch.cuda.get_device_name()}")
    right, failures = [], int(difference > 1e-12)
    for folder in args.variants:
        try:
            variant = Variant(folder)
            if check(variant, args):
                right.append(variant)
            else:
                failures += 1
        except Exception:
            traceback.print_exc()
            failures += 1
    failures += check_delayed(map(Variant, args.delayed), right, args.seed)
    if not args.no_times:
        single, sustained, (clock, power) = gpu_launch.copy_bandwidth()
        print(f"\n{'':41} single launches        sustained loop\n"
              f"{'':32} {'tokens':>8} {'ms':>9} {'GB/s':>7} {'copy':>6} "
              f"{'ms':>9} {'GB/s':>7} {'copy':>6} {'MHz':>6} {'W':>5}")
        print(f"{'copy of 4 GiB':32} {'':8} {'':9} {single:7.0f} {'':6} {'':9} "
              f"{sustained:7.0f} {'':6} {clock:6.0f} {power:5.0f}")
        for variant in right:
            time_variant(variant, (single, sustained), args)
        time_peers((single, sustained), args, args.heads, 128)
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
