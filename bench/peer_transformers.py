#!/usr/bin/env python3
"""Speed of Hugging Face transformers on a checkpoint, on the CPU in float32.

Checks the logits of the checkpoint's golden prompts first and prints one line
of JSON: prefill and decode rates, and what this machine does in a plain
matrix product and a plain copy (from PyTorch, same threads, same process).

usage: peer_transformers.py MODEL_DIR [--prompt 512] [--new 64] [--threads 2]
needs: torch, transformers>=5, safetensors
"""
import argparse
import json
import statistics
import time

import torch
from safetensors.torch import load_file
from transformers import MiniMaxForCausalLM


def median_seconds(function, repeats):
    function()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def machine_rates():
    """GFLOP/s of a float32 product, GB/s of a copy (read plus written)."""
    a, b = torch.randn(2048, 2048), torch.randn(2048, 2048)
    product = median_seconds(lambda: a @ b, 7)
    x = torch.randn(64 << 20)
    y = torch.empty_like(x)
    copy = median_seconds(lambda: y.copy_(x), 7)
    return 2 * 2048**3 / product / 1e9, 2 * x.numel() * 4 / copy / 1e9


def load(path):
    """The model in float32. Its decay buffers are made anew: those stored in
    a bf16 checkpoint are rounded."""
    stored = MiniMaxForCausalLM.from_pretrained(path, dtype=torch.float32)
    torch.set_default_dtype(torch.float32)
    model = MiniMaxForCausalLM(stored.config)
    with torch.no_grad():
        for ours, theirs in zip(model.parameters(), stored.parameters()):
            ours.copy_(theirs)
    return model.float().eval()


def forward(model, ids, cache, position, keep=1):
    # Positions are passed: this cache reports length 0 when layer 0 is a
    # lightning layer.
    positions = torch.arange(position, position + ids.shape[1])[None]
    out = model(ids, use_cache=True, past_key_values=cache,
                position_ids=positions, logits_to_keep=keep)
    return out.logits, out.past_key_values


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("model")
    parser.add_argument("--prompt", type=int, default=512)
    parser.add_argument("--new", type=int, default=64)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=7)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(0)
    model = load(args.model)
    golden = load_file(f"{args.model}/golden.safetensors")
    with torch.no_grad():
        worst = 0.0
        for key, ids in golden.items():
            if not key.endswith("input_ids"):
                continue
            want = golden[key.replace("input_ids", "logits")]
            got, _ = forward(model, ids[None].long(), None, 0, keep=0)
            worst = max(worst, ((got[0] - want).norm() / want.norm()).item())
        if not worst <= 1e-4:
            raise SystemExit(f"expected golden logits within 1e-4, but got {worst}")

        ids = torch.randint(0, model.config.vocab_size, (1, args.prompt))
        prefill = median_seconds(lambda: forward(model, ids, None, 0),
                                 args.repeats)
        rates = []
        for _ in range(3):
            logits, cache = forward(model, ids, None, 0)
            token = logits[:, -1:].argmax(-1)
            start = time.perf_counter()
            for step in range(args.new):
                logits, cache = forward(model, token, cache, args.prompt + step)
                token = logits[:, -1:].argmax(-1)
            rates.append(args.new / (time.perf_counter() - start))
    product, copy = machine_rates()
    print(json.dumps({
        "prefill_tokens_per_s": args.prompt / prefill,
        "decode_tokens_per_s": statistics.median(rates),
        "logits_error": worst, "matmul_gflops": product, "copy_gb_per_s": copy,
        "threads": args.threads, "torch": torch.__version__,
    }))


if __name__ == "__main__":
    main()
