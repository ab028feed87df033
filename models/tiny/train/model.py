"""The MiniMax-01 architecture in plain PyTorch, for training.

Token-wise work sees one flat list of T tokens and is the same whatever the
sequence length, so that it is compiled once; only attention knows sequences.
Lightning attention runs in chunks of CHUNK tokens: products within a chunk,
and one product with a table of decays that carries states between chunks.
Every expert is computed for every token and weighted by 0 if not chosen: at
this size that is faster than sorting tokens. Equations: docs/spec.md.
"""
import dataclasses
import math

import torch
import torch.nn.functional as F

CHUNK = 128


@dataclasses.dataclass(frozen=True)
class Shape:
    kinds: tuple            # per layer: 0 lightning, 1 softmax
    width: int = 192
    heads: int = 8
    kv_heads: int = 2
    head: int = 64
    rotary: int = 16
    theta: float = 1000.0
    experts: int = 4
    active: int = 2
    expert_width: int = 64
    vocabulary: int = 2048
    eps: float = 1e-5
    output_eps: float = 1e-6    # of the norm on lightning attention's output

    @property
    def alpha(self):
        return (2 * len(self.kinds)) ** 0.25


# Equal in size: what a softmax layer saves goes to its experts.
VARIANTS = {
    "hybrid": Shape((0,) * 7 + (1,), expert_width=64),
    "softmax": Shape((1,) * 8, expert_width=160),
    "lightning": Shape((0,) * 8, expert_width=56),
}


def decay_rates(shape, layer):
    """g of each head: the ALiBi slope times the layer's factor, float64."""
    slopes = torch.tensor([2.0 ** (-8 * (h + 1) / shape.heads)
                           for h in range(shape.heads)], dtype=torch.float64)
    return slopes * (1 - layer / (len(shape.kinds) - 1) + 1e-5)


def chunk_tables(shape, layer, length, tokens, dtype, device):
    """Decay tables of one layer for sequences of `length` tokens, `tokens` in
    all: within [H, C, C], query [H, C], key [H, C] and the product of states
    carry [H, N, N] with N = tokens / C: zero across sequences."""
    g = decay_rates(shape, layer)[:, None].to(device)
    i = torch.arange(CHUNK, dtype=torch.float64, device=device)
    distance = i[:, None] - i
    within = torch.where(distance >= 0, torch.exp(-g[..., None] * distance),
                         0.0)
    chunk = torch.arange(tokens // CHUNK, device=device)
    sequence = chunk // (length // CHUNK)
    apart = chunk[:, None] - chunk
    carried = (apart > 0) & (sequence[:, None] == sequence)
    carry = torch.where(carried, torch.exp(
        -g[..., None] * CHUNK * (apart - 1).clamp(min=0)), 0.0)
    return tuple(t.to(dtype) for t in (
        within, torch.exp(-g * (i + 1)), torch.exp(-g * (CHUNK - 1 - i)),
        carry))


def lightning(q, k, v, tables):
    """q, k, v [T, H, d] -> [T, H * d]. Equals
    S <- exp(-g) S + k^T v, o = q S token by token."""
    within, query, key, carry = tables
    tokens, heads, d = q.shape
    q, k, v = (t.view(-1, CHUNK, heads, d).transpose(1, 2) for t in (q, k, v))
    update = (k * key[..., None]).transpose(2, 3) @ v          # [N, H, d, d]
    state = carry @ update.transpose(0, 1).reshape(heads, -1, d * d)
    state = state.view(heads, -1, d, d).transpose(0, 1)
    out = (q @ k.transpose(2, 3) * within) @ v
    out = out + (q * query[..., None]) @ state
    return out.transpose(1, 2).reshape(tokens, heads * d)


def lightning_by_tokens(q, k, v, rates):
    """The definition, one sequence: q, k, v [T, H, d], rates [H]."""
    state = torch.zeros(q.shape[1], q.shape[2], q.shape[2], dtype=q.dtype)
    decay = torch.exp(-rates).to(q.dtype)[:, None, None]
    out = []
    for t in range(q.shape[0]):
        state = decay * state + k[t, :, :, None] * v[t, :, None, :]
        out.append((q[t, :, None] @ state)[:, 0])
    return torch.stack(out).flatten(1)


def rms_norm(x, weight, eps):
    x = x.float()
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps) * weight


def linear(x, weight, dtype):
    return F.linear(x.to(dtype), weight.to(dtype))


def experts(y, p, shape, dtype):
    """(mixture [T, E], load-balance loss)."""
    scores = F.linear(y, p["gate"]).softmax(-1)                # float32
    order = torch.arange(shape.experts, device=y.device)
    above = (scores[:, None] > scores[..., None]) | (
        (scores[:, None] == scores[..., None]) &
        (order[None, :] < order[:, None]))
    chosen = above.sum(-1) < shape.active
    kept = torch.where(chosen, scores, 0.0)
    weight = kept / kept.sum(-1, keepdim=True)
    balance = shape.experts * (chosen.float().mean(0) / shape.active *
                               scores.mean(0)).sum()
    gate = linear(y, p["w1"].flatten(0, 1), dtype)
    up = linear(y, p["w3"].flatten(0, 1), dtype)
    hidden = F.silu(gate) * up * weight.to(dtype).repeat_interleave(
        shape.expert_width, 1)
    down = p["w2"].transpose(0, 1).reshape(shape.width, -1)
    return linear(hidden, down, dtype).float(), balance


def mixture(x, attended, p, shape, dtype):
    h = shape.alpha * x + attended.float()
    y = rms_norm(h, p["post_attention_layernorm"], shape.eps)
    mixed, balance = experts(y, p, shape, dtype)
    return shape.alpha * y + mixed, balance


def lightning_layer(h, p, tables, shape, dtype):
    x = rms_norm(h, p["input_layernorm"], shape.eps)
    qkv = F.silu(linear(x, p["qkv_proj"], dtype))
    q, k, v = qkv.view(-1, shape.heads, 3, shape.head).unbind(2)
    out = rms_norm(lightning(q, k, v, tables), p["norm"], shape.output_eps)
    out = out * torch.sigmoid(linear(x, p["output_gate"], dtype).float())
    return mixture(x, linear(out, p["out_proj"], dtype), p, shape, dtype)


def rotate(x, cos, sin):
    """Rotates the leading dims of x [T, heads, d]; pairs (j, j + half)."""
    half = cos.shape[-1]
    a, b, rest = x.split([half, half, x.shape[-1] - 2 * half], -1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin, rest], -1)


def rotation_tables(shape, positions):
    j = torch.arange(shape.rotary // 2, dtype=torch.float64)
    angle = positions[:, None].double() * shape.theta ** (
        -2 * j / shape.rotary).to(positions.device)
    return angle.cos().float()[:, None], angle.sin().float()[:, None]


def softmax_before(h, p, rotation, shape, dtype):
    x = rms_norm(h, p["input_layernorm"], shape.eps)
    q, k, v = (linear(x, p[name], dtype).view(-1, heads, shape.head)
               for name, heads in (("q_proj", shape.heads),
                                   ("k_proj", shape.kv_heads),
                                   ("v_proj", shape.kv_heads)))
    q, k = (rotate(t.float(), *rotation).to(dtype) for t in (q, k))
    group = shape.heads // shape.kv_heads
    return x, q, *(t.repeat_interleave(group, 1) for t in (k, v))


def attend(q, k, v, length):
    """Causal attention of sequences of `length` tokens, [T, H, d] each."""
    q, k, v = (t.unflatten(0, (-1, length)).transpose(1, 2)
               for t in (q, k, v))
    out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return out.transpose(1, 2).flatten(2).flatten(0, 1)


def softmax_after(x, out, p, shape, dtype):
    return mixture(x, linear(out, p["o_proj"], dtype), p, shape, dtype)


class Model(torch.nn.Module):
    """Parameters in float32; products in `dtype`."""

    def __init__(self, shape, seed=0):
        super().__init__()
        self.shape = shape
        generator = torch.Generator().manual_seed(seed)
        gain = (8 * len(shape.kinds)) ** -0.25       # DeepNorm's beta

        def matrix(*size, gain=1.0):
            std = gain * math.sqrt(2 / (size[-1] + size[-2]))
            return torch.nn.Parameter(
                torch.randn(size, generator=generator) * std)

        def ones(n):
            return torch.nn.Parameter(torch.ones(n))
        e, p = shape.width, shape.heads * shape.head
        kv = shape.kv_heads * shape.head
        self.embed_tokens = torch.nn.Parameter(torch.randn(
            (shape.vocabulary, e), generator=generator) * 0.1)
        self.layers = torch.nn.ModuleList()
        for kind in shape.kinds:
            layer = dict(input_layernorm=ones(e),
                         post_attention_layernorm=ones(e))
            if kind == 0:
                layer |= dict(qkv_proj=matrix(3 * p, e),
                              output_gate=matrix(p, e), norm=ones(p),
                              out_proj=matrix(e, p, gain=gain))
            else:
                layer |= dict(q_proj=matrix(p, e), k_proj=matrix(kv, e),
                              v_proj=matrix(kv, e, gain=gain),
                              o_proj=matrix(e, p, gain=gain))
            x, f = shape.experts, shape.expert_width
            layer |= dict(gate=matrix(x, e),
                          w1=matrix(x, f, e, gain=gain),
                          w3=matrix(x, f, e, gain=gain),
                          w2=matrix(x, e, f, gain=gain))
            self.layers.append(torch.nn.ParameterDict(layer))
        self.norm = ones(e)
        self.lm_head = matrix(shape.vocabulary, e)
        self.tables = {}
        self.functions = {f.__name__: f for f in (
            lightning_layer, softmax_before, softmax_after)}

    def compile(self):
        self.functions = {name: torch.compile(f, fullgraph=True, dynamic=False)
                          for name, f in self.functions.items()}

    def prepare(self, length, tokens, dtype, device):
        """Tables for sequences of `length` tokens, `tokens` in all."""
        key = (length, tokens, dtype)
        if key not in self.tables:
            positions = torch.arange(tokens, device=device) % length
            self.tables[key] = (rotation_tables(self.shape, positions), [
                None if kind else chunk_tables(self.shape, layer, length,
                                               tokens, dtype, device)
                for layer, kind in enumerate(self.shape.kinds)])
        return self.tables[key]

    def forward(self, ids, length, dtype=torch.float32):
        """ids [T], whole sequences of `length` tokens (a multiple of CHUNK)
        -> (final norm's output [T, E], load-balance loss)."""
        rotation, tables = self.prepare(length, ids.numel(), dtype, ids.device)
        run = self.functions
        h, balance = F.embedding(ids, self.embed_tokens), 0.0
        for layer, kind in enumerate(self.shape.kinds):
            p = dict(self.layers[layer].items())
            if kind == 0:
                h, b = run["lightning_layer"](h, p, tables[layer], self.shape,
                                              dtype)
            else:
                x, q, k, v = run["softmax_before"](h, p, rotation, self.shape,
                                                   dtype)
                h, b = run["softmax_after"](x, attend(q, k, v, length), p,
                                            self.shape, dtype)
            balance = balance + b
        return rms_norm(h, self.norm, self.shape.eps), balance / len(tables)

    def logits(self, hidden, dtype=torch.float32):
        return linear(hidden, self.lm_head, dtype).float()
