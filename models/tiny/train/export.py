#!/usr/bin/env python3
"""Writes trained weights in the published format, with recorded answers.

The answers are those of model.py in float32 on the weights as stored; prompts
are held-out text. `mmx-run verify` compares with them.

usage: export.py WORK_DIR WEIGHTS.safetensors MODEL_DIR [--variant V]
       export.py WORK_DIR WEIGHTS.safetensors FILE --answers-only [--texts 20]
needs: torch, tokenizers, safetensors, numpy
"""
import argparse
import json
import pathlib
import shutil

import numpy
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer

from corpus import SOURCES
from model import CHUNK, VARIANTS, Model

NEW_IDS = 24


def config(shape, end):
    alpha = shape.alpha
    return {
        "architectures": ["MiniMaxText01ForCausalLM"],
        "model_type": "minimax_text_01",
        "attention_dropout": 0.0,
        "attn_type_list": list(shape.kinds),
        "bos_token_id": None,
        "eos_token_id": end,
        "head_dim": shape.head,
        "hidden_act": "silu",
        "hidden_size": shape.width,
        "intermediate_size": shape.expert_width,
        "layernorm_full_attention_alpha": alpha,
        "layernorm_full_attention_beta": 1.0,
        "layernorm_linear_attention_alpha": alpha,
        "layernorm_linear_attention_beta": 1.0,
        "layernorm_mlp_alpha": alpha,
        "layernorm_mlp_beta": 1.0,
        "max_position_embeddings": 10240000,
        "num_attention_heads": shape.heads,
        "num_experts_per_tok": shape.active,
        "num_hidden_layers": len(shape.kinds),
        "num_key_value_heads": shape.kv_heads,
        "num_local_experts": shape.experts,
        "postnorm": True,
        "rms_norm_eps": shape.eps,
        "rope_theta": shape.theta,
        "rotary_dim": shape.rotary,
        "router_jitter_noise": 0.0,
        "shared_intermediate_size": 0,
        "shared_moe_mode": "sigmoid",
        "sliding_window": None,
        "tie_word_embeddings": False,
        "torch_dtype": "bfloat16",
        "vocab_size": shape.vocabulary,
    }


def published(weights):
    """Tensor names of the published checkpoints, one tensor per expert."""
    out = {"model.embed_tokens.weight": weights["embed_tokens"],
           "model.norm.weight": weights["norm"],
           "lm_head.weight": weights["lm_head"]}
    for name, tensor in weights.items():
        if not name.startswith("layers."):
            continue
        _, layer, part = name.split(".")
        prefix = f"model.layers.{layer}"
        if part == "gate":
            out[f"{prefix}.block_sparse_moe.gate.weight"] = tensor
        elif part in ("w1", "w2", "w3"):
            for e, expert in enumerate(tensor):
                out[f"{prefix}.block_sparse_moe.experts.{e}.{part}.weight"] = \
                    expert
        elif part.endswith("layernorm"):
            out[f"{prefix}.{part}.weight"] = tensor
        else:
            out[f"{prefix}.self_attn.{part}.weight"] = tensor
    return {name: tensor.contiguous() for name, tensor in out.items()}


def logits(model, ids):
    """[T, vocabulary] of one sequence of any length, in float32."""
    padded = -(-len(ids) // CHUNK) * CHUNK
    whole = torch.zeros(padded, dtype=torch.long)
    whole[:len(ids)] = torch.tensor(ids)
    model.tables.clear()
    return model.logits(model(whole, padded)[0][:len(ids)])


def answers(model, packed, lengths):
    """Golden tensors (test/golden/README.md) for held-out texts."""
    golden, names = {}, list(SOURCES)
    for n, length in enumerate(lengths):
        stream = packed[f"held.{names[n % len(names)]}"]
        ids = [int(i) for i in stream[97 * n:97 * n + length]]
        rows = logits(model, ids)
        golden[f"prompt.{n}.input_ids"] = torch.tensor(ids, dtype=torch.int32)
        golden[f"prompt.{n}.logits"] = rows.clone()
        last, new, margins = rows[-1], [], []
        for _ in range(NEW_IDS):
            best = last.topk(2)
            new.append(best.indices[0].item())
            margins.append((best.values[0] - best.values[1]).item())
            last = logits(model, ids + new)[-1]
        golden[f"prompt.{n}.greedy_ids"] = torch.tensor(new, dtype=torch.int32)
        golden[f"prompt.{n}.greedy_margin"] = torch.tensor(margins)
    return golden


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("weights")
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--variant", default="hybrid", choices=VARIANTS)
    parser.add_argument("--answers-only", action="store_true")
    parser.add_argument("--texts", type=int, default=20)
    args = parser.parse_args()
    torch.set_num_threads(2)
    shape = VARIANTS[args.variant]
    weights = load_file(args.weights)
    model = Model(shape)
    model.load_state_dict({k: v.float() for k, v in weights.items()})
    packed = numpy.load(args.work / "corpus.npz")
    with torch.no_grad():
        if args.answers_only:
            save_file(answers(model, packed,
                              [40 + 13 * i for i in range(args.texts)]),
                      args.out)
            return
        golden = answers(model, packed, [1, 33])
    args.out.mkdir(parents=True, exist_ok=True)
    tokenizer = Tokenizer.from_file(str(args.work / "tokenizer.json"))
    end = tokenizer.token_to_id("<end_of_sentence>")
    (args.out / "config.json").write_text(
        json.dumps(config(shape, end), indent=2) + "\n")
    (args.out / "generation_config.json").write_text(
        json.dumps({"eos_token_id": end}, indent=2) + "\n")
    shutil.copy(args.work / "tokenizer.json", args.out / "tokenizer.json")
    save_file(published(weights), args.out / "model.safetensors",
              {"format": "pt"})
    save_file(golden, args.out / "golden.safetensors")


if __name__ == "__main__":
    main()
