#!/usr/bin/env python3
# Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lightning attention in float64: the oracle of bench/lightning.py, and inputs.

    S_t = exp(-rate) S_{t-1} + k_t^T v_t,    o_t = q_t S_t

The blocked form is the same sum in another order; `check_reference` compares
it with the recurrence, token by token.
"""

import torch


def recurrence(q, k, v, rates, state):
    """q, k, v [T, H, D], rates [H], state [H, D, D]; float64. Returns o and
    the state after the last token."""
    decay = torch.exp(-rates)[:, None, None]
    outputs = []
    for t in range(q.shape[0]):
        state = state * decay + k[t, :, :, None] * v[t, :, None, :]
        outputs.append(torch.einsum("hk,hkv->hv", q[t], state))
    return torch.stack(outputs), state


def blocked(q, k, v, rates, state, block=256, visit=None):
    """The same over blocks. q, k, v may be of any type; each block is widened
    to float64. `visit(start, o)` gets the outputs of each block [m, H, D], or
    they are returned in one tensor."""
    rates = rates.double()
    state = state.double()
    outputs = []
    for start in range(0, q.shape[0], block):
        stop = min(start + block, q.shape[0])
        qb, kb, vb = (x[start:stop].double().transpose(0, 1) for x in (q, k, v))
        m = stop - start
        age = torch.arange(m, device=q.device, dtype=torch.float64)
        distance = age[:, None] - age[None, :]
        mask = torch.exp(-rates[:, None, None] * distance.clamp(min=0)) \
            * (distance >= 0)
        scores = (qb @ kb.transpose(1, 2)) * mask
        past = torch.exp(-rates[:, None] * (age + 1))[:, :, None]
        o = scores @ vb + past * (qb @ state)
        rest = torch.exp(-rates[:, None] * (m - 1 - age))[:, :, None]
        state = torch.exp(-rates * m)[:, None, None] * state \
            + (kb * rest).transpose(1, 2) @ vb
        o = o.transpose(0, 1)
        if visit:
            visit(start, o)
        else:
            outputs.append(o)
    return (torch.cat(outputs) if outputs else None), state


def decay_rates(heads, factor, device):
    """2^(-8 (h + 1) / H) times the factor of the layer (docs/spec.md)."""
    number = torch.arange(1, heads + 1, dtype=torch.float64, device=device)
    return torch.exp2(-8 * number / heads) * factor


def layer_factor(layer, layers=80):
    """Of lightning layers the first is 0, the last 78 of 80."""
    return 1 - layer / (layers - 1) + 1e-5


def random_qkv(tokens, heads, dim, device, generator):
    """Packed projections as the model has them after SiLU: bf16 [T, H, 3, D]."""
    x = torch.randn(tokens, heads, 3, dim, dtype=torch.bfloat16, device=device,
                    generator=generator)
    return torch.nn.functional.silu(x, inplace=True)


def relative_error(actual, expected):
    """Of all elements; NaN counts as infinite."""
    actual, expected = actual.double(), expected.double()
    norm = expected.norm().item()
    error = (actual - expected).norm().item() / max(norm, 1e-300)
    return error if error == error else float("inf")


def check_reference(device):
    """Largest relative difference of the two forms over small sizes."""
    generator = torch.Generator(device=device).manual_seed(7)
    worst = 0.0
    for tokens in (1, 2, 63, 64, 65, 200, 301):
        for factor in (layer_factor(0), layer_factor(78)):
            rates = decay_rates(4, factor, device)
            qkv = random_qkv(tokens, 4, 16, device, generator).double()
            q, k, v = qkv.unbind(2)
            state = torch.randn(4, 16, 16, dtype=torch.float64, device=device,
                                generator=generator)
            o, s = recurrence(q, k, v, rates, state)
            o1, s1 = blocked(q, k, v, rates, state, block=64)
            worst = max(worst, relative_error(o1, o), relative_error(s1, s))
    return worst
