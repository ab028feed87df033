#!/usr/bin/env python3
"""Checks of the training code that need no GPU: run it after changing it.

usage: check.py
needs: torch, numpy, tokenizers
"""
import dataclasses
import unittest

import torch

from model import (CHUNK, VARIANTS, Model, attend, chunk_tables, decay_rates,
                   lightning, lightning_by_tokens, rotate, rotation_tables)
from muon import orthogonalise

HYBRID = VARIANTS["hybrid"]


def error(got, want):
    return ((got - want).norm() / want.norm()).item()


class Attention(unittest.TestCase):
    def test_recurrence_by_hand(self):
        """Two tokens of one head and one dimension."""
        q, k, v = (torch.tensor(x, dtype=torch.float64).view(2, 1, 1)
                   for x in ([2, 3], [5, 7], [11, 13]))
        out = lightning_by_tokens(q, k, v, torch.tensor([0.5]))
        decay = torch.exp(torch.tensor(-0.5)).item()
        self.assertAlmostEqual(out[0].item(), 2 * 5 * 11, places=4)
        self.assertAlmostEqual(out[1].item(), 3 * (7 * 13 + decay * 5 * 11),
                               places=4)

    def test_chunks_equal_recurrence(self):
        torch.manual_seed(0)
        tokens, length = 6 * CHUNK, 3 * CHUNK
        q, k, v = torch.randn(3, tokens, HYBRID.heads, HYBRID.head,
                              dtype=torch.float64)
        for layer in (0, 6):
            got = lightning(q, k, v, chunk_tables(
                HYBRID, layer, length, tokens, torch.float64, "cpu"))
            rates = decay_rates(HYBRID, layer)
            want = torch.cat([lightning_by_tokens(
                *(t[i:i + length] for t in (q, k, v)), rates)
                for i in range(0, tokens, length)])
            self.assertLess(error(got, want), 1e-12)

    def test_softmax_sees_the_past_of_its_sequence(self):
        torch.manual_seed(1)
        q, k, v = torch.randn(3, 8, 2, 4, dtype=torch.float64)
        got = attend(q, k, v, 4)
        scores = torch.einsum("qhd,khd->hqk", q, k) / 2
        i = torch.arange(8)
        seen = (i[:, None] >= i) & (i[:, None] // 4 == i // 4)
        weights = scores.masked_fill(~seen, -torch.inf).softmax(-1)
        want = torch.einsum("hqk,khd->qhd", weights, v).flatten(1)
        self.assertLess(error(got, want), 1e-12)

    def test_rotation_keeps_products_of_equal_distances(self):
        torch.manual_seed(2)
        shape = dataclasses.replace(HYBRID, head=32, rotary=16)
        x, y = torch.randn(2, 1, 1, 32)

        def product(i, j):
            a, b = (rotate(t, *rotation_tables(shape, torch.tensor([p])))
                    for t, p in ((x, i), (y, j)))
            return (a * b).sum().item()
        self.assertAlmostEqual(product(3, 10), product(103, 110), places=4)
        self.assertNotAlmostEqual(product(3, 10), product(3, 11), places=2)


class Whole(unittest.TestCase):
    def test_causal_and_alike_at_every_length(self):
        """A prefix has the logits it has within a longer sequence."""
        for variant, shape in VARIANTS.items():
            model = Model(shape)
            ids = torch.randint(shape.vocabulary, (2 * CHUNK,))
            with torch.no_grad():
                whole = model(ids, 2 * CHUNK)[0]
                prefix = model(ids[:CHUNK], CHUNK)[0]
            self.assertLess(error(whole[:CHUNK], prefix), 1e-5, variant)

    def test_variants_are_of_one_size(self):
        sizes = [sum(p.numel() for p in Model(s).parameters())
                 for s in VARIANTS.values()]
        self.assertLess(max(sizes) / min(sizes), 1.02)

    def test_orthogonalise(self):
        torch.manual_seed(3)
        x = orthogonalise(torch.randn(3, 64, 192)).float()
        values = torch.linalg.svdvals(x)
        self.assertLess(values.max().item(), 1.4)
        self.assertGreater(values.min().item(), 0.5)


if __name__ == "__main__":
    unittest.main()
