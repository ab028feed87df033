#!/usr/bin/env python3
"""Random small models through every pass, meanings compared by interpreters.

For each seed a random config.json is made (kinds of layers, head counts that
are no power of two, widths that are no multiple of a tile, both formats, both
residual placements, shared experts, dense and sparse routing), imported, and
random steps (odd lengths, empty sequences, states that are not zero) are run

* by the double-precision interpreter before and after each mmx-level pass;
* by the tile interpreter after the lowering to kernels.

usage: random-models.py [--seeds N] [--first N] [--keep]
mmx-compile and mmx-opt are found on PATH. Exits 1 at the first difference and
prints what repeats it.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile


def random_config(rng):
    layers = rng.randint(1, 3)
    kv_heads = rng.choice([1, 2, 3])
    heads = kv_heads * rng.choice([1, 2, 4])
    dim = rng.choice([4, 6, 8, 12, 20])
    experts = rng.choice([2, 3, 5])
    kinds = [rng.randint(0, 1) for _ in range(layers)]
    config = {
        "hidden_size": rng.choice([8, 20, 33, 64]),
        "head_dim": dim,
        "intermediate_size": rng.choice([12, 40, 72]),
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "num_local_experts": experts,
        "num_experts_per_tok": rng.randint(1, min(2, experts)),
        "vocab_size": rng.choice([17, 70, 130]),
        "max_position_embeddings": 4096,
        "rms_norm_eps": 1e-5,
        "rope_theta": rng.choice([10000, 10000000]),
        "hidden_act": "silu",
        "tie_word_embeddings": False,
    }
    factor = lambda: rng.choice([1.0, 0.7, 2.5])
    if rng.random() < 0.5:
        config |= {
            "model_type": "minimax",
            "layer_types": [["linear_attention", "full_attention"][kind]
                            for kind in kinds],
            "full_attn_alpha_factor": factor(),
            "full_attn_beta_factor": factor(),
            "linear_attn_alpha_factor": factor(),
            "linear_attn_beta_factor": factor(),
            "mlp_alpha_factor": factor(), "mlp_beta_factor": factor(),
        }
    else:
        config |= {
            "model_type": "minimax_m1", "attn_type_list": kinds,
            "rotary_dim": rng.choice([dim, dim // 2 // 2 * 2 or 2]),
            "postnorm": rng.random() < 0.5,
            "shared_intermediate_size": rng.choice([0, config["intermediate_size"]]),
            "shared_moe_mode": "sigmoid",
            "layernorm_full_attention_alpha": factor(),
            "layernorm_full_attention_beta": factor(),
            "layernorm_linear_attention_alpha": factor(),
            "layernorm_linear_attention_beta": factor(),
            "layernorm_mlp_alpha": factor(), "layernorm_mlp_beta": factor(),
        }
    return config


def checks(rng):
    """(option, what repeats) for mmx-opt: passes at the mmx level, then all
    the way to kernels, in the three forms of lightning attention."""
    block = rng.choice([1, 2, 7, 16, 64])
    length = block * rng.choice([1, 2, 3])
    sequences = rng.choice([1, 2, 5])
    tokens = rng.choice([0, 1, 3, 17, 70]) + sequences
    # A step of decoding has one token a sequence; this one suits both phases.
    sizes = f"sizes=tokens:{tokens},sequences:{sequences}"
    blocked = f"mmx-decompose,mmx-block-lightning{{block={block}}}"
    forms = [blocked, f"{blocked},mmx-fuse-lightning",
             f"{blocked},mmx-fuse-lightning,mmx-split-sequence{{length={length}}}"]
    seed = rng.randrange(1, 1 << 30)
    for passes in ["mmx-decompose", *forms, f"{rng.choice(forms)},mmx-fuse"]:
        yield (f"--mmx-check-meaning=passes=func.func({passes}) "
               f"seed={seed} {sizes} tolerance=1e-9")
    tail = "mmx-fuse,mmx-choose-tiles"
    yield (f"--mmx-compare-lowering=pipeline=func.func({rng.choice(forms)},{tail}),"
           f"convert-mmx-to-tile seed={seed} {sizes} runs=1 tolerance=1e-5")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--keep", action="store_true",
                        help="keep the configs in the current folder")
    args = parser.parse_args()
    folder = "." if args.keep else tempfile.mkdtemp()
    count = 0
    for seed in range(args.first, args.first + args.seeds):
        rng = random.Random(seed)
        path = os.path.join(folder, f"random-{seed}.json")
        with open(path, "w") as file:
            json.dump(random_config(rng), file, indent=1)
        flags = ["--routing"] if seed % 3 == 0 else []
        module = subprocess.run(["mmx-compile", path, *flags, "--emit", "mmx"],
                                capture_output=True, text=True)
        if module.returncode:
            sys.exit(f"seed {seed}: cannot import {path}\n{module.stderr}")
        for option in checks(rng):
            done = subprocess.run(["mmx-opt", option, "-o", os.devnull],
                                  input=module.stdout, capture_output=True,
                                  text=True)
            if done.returncode:
                sys.exit(f"seed {seed}: mmx-compile {path} {' '.join(flags)} --emit "
                         f"mmx | "
                         f"mmx-opt '{option}'\n{done.stderr[:2000]}")
            count += 1
    print(f"{args.seeds} models, {count} comparisons, all equal")


if __name__ == "__main__":
    main()
