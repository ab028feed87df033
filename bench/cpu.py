#!/usr/bin/env python3
"""Speed of mmx on the CPU, beside Hugging Face transformers in the same run.

First `mmx-run verify` must pass on the checkpoint; then prefill of 512 tokens
and decode after it are timed, mmx and the peer in turn, and the medians are
printed with their ratio and the share of the machine's own matrix-product and
copy rates. Peak memory is compared with weights + state + cache.

usage: bench/cpu.py [--build build/release] [--model test/golden/hf-head128]
                    [--peer-python python3]
The peer needs torch, transformers>=5 and safetensors; without them only mmx is
timed.
"""
import argparse
import json
import os
import random
import resource
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def run_json(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"bench: {' '.join(command[:3])} ... failed")
    # The last line sums up.
    return json.loads(done.stdout.splitlines()[-1])


def run_mmx(args, prompt, new):
    ids = ",".join(map(str, prompt))
    answer = run_json([f"{args.build}/bin/mmx-run", args.model, "--ids", ids,
                       "-n", str(new), "--ignore-stop", "--progress", "none",
                       "--json", "--threads", str(args.threads)])
    stages = answer["stages"]
    # The first new token comes out of the prefill.
    return {"prefill": len(prompt) / stages["prefill"],
            "decode": (new - 1) / stages["decode"]}


def run_peer(args):
    command = [args.peer_python, f"{HERE}/peer_transformers.py", args.model,
               "--prompt", str(args.prompt), "--new", str(args.new),
               "--threads", str(args.threads)]
    done = subprocess.run(command, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else None


def flops_per_token(config):
    """Multiply-adds of the active weights, twice, without the head (applied to
    one token)."""
    c = config
    width, dim = c["hidden_size"], c["head_dim"]
    heads, groups = c["num_attention_heads"], c["num_key_value_heads"]
    kinds = c["layer_types"]
    total = 0
    for kind in kinds:
        if kind == "linear_attention":
            total += width * heads * dim * 5 + 3 * heads * dim * dim
        else:
            total += width * dim * (2 * heads + 2 * groups)
        total += c["num_experts_per_tok"] * 3 * width * c["intermediate_size"]
        total += width * c["num_local_experts"]
    return 2 * total


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--model", default="test/golden/hf-head128")
    parser.add_argument("--prompt", type=int, default=512)
    parser.add_argument("--new", type=int, default=64)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--peer-python", default=sys.executable)
    args = parser.parse_args()

    check = run_json([f"{args.build}/bin/mmx-run", "verify", args.model,
                      "--json", "--progress", "none"])
    if not check["ok"]:
        sys.exit("bench: verify failed, so no rate counts")
    with open(f"{args.model}/config.json") as file:
        config = json.load(file)
    generator = random.Random(0)
    prompt = [generator.randrange(config["vocab_size"])
              for _ in range(args.prompt)]
    run_mmx(args, prompt, args.new)  # compiles into the cache
    ours, peers = [], []
    for _ in range(args.rounds):
        ours.append(run_mmx(args, prompt, args.new))
        peer = run_peer(args)
        if peer is None:
            print("bench: the peer cannot be run here", file=sys.stderr)
            break
        peers.append(peer)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024

    median = lambda rows, key: statistics.median(row[key] for row in rows)
    for phase in ("prefill", "decode"):
        rate = median(ours, phase)
        line = f"{phase:8s} mmx {rate:10.0f} tokens/s"
        if peers:
            other = median(peers, f"{phase}_tokens_per_s")
            line += f"   transformers {other:8.0f}   ratio {rate / other:5.2f}"
        print(line)
    gflops = median(ours, "prefill") * flops_per_token(config) / 1e9
    line = f"prefill  {gflops:.0f} GFLOP/s"
    if peers:
        own = median(peers, "matmul_gflops")
        line += f", {100 * gflops / own:.0f} % of PyTorch's own product ({own:.0f})"
    print(line)
    print(f"verified: worst logits error "
          f"{max(row['logits_error'] for row in check['prompts']):.1e}")
    if not peers:
        print(f"peak memory of mmx-run: {peak:.0f} MiB")


if __name__ == "__main__":
    main()
