"""Training batches, made on the device: text, and synthetic retrieval.

Each maker returns (ids [R, L + 1], mask of graded targets [R, L]); text under
needles is graded as text. Everything is drawn from the generator given.
"""
import re

import torch

from corpus import SOURCES


class Tasks:
    def __init__(self, packed, tokenizer, device, seed, part="train"):
        self.device = device
        self.generator = torch.Generator(device).manual_seed(seed)
        self.sources = [torch.tensor(packed[f"{part}.{name}"].astype("int32"),
                                     device=device) for name in SOURCES]
        self.shares = torch.tensor([s for _, s, _ in SOURCES.values()],
                                   device=device)

        def ids(text):
            return torch.tensor(tokenizer.encode(text).ids, device=device)
        words = sorted(i for word, i in tokenizer.get_vocab().items()
                       if re.fullmatch("\u0120[a-z]{3,}", word))
        self.words = torch.tensor(words, device=device)
        self.digits = torch.cat([ids(d) for d in "0123456789"])
        self.vocabulary = tokenizer.get_vocab_size() - 3
        self.opening, self.asking = (ids(" The secret number of"),
                                     ids("\n\nThe secret number of"))
        self.naming, self.stop = ids(" is "), ids(".")
        self.colon, self.space, self.line = ids(":"), ids(" "), ids("\n")
        # Numbers and words stand alone, whatever is beside them.
        assert len(self.digits) == 10 and len(self.stop) == 1
        assert len(self.colon) + len(self.space) + len(self.line) == 3

    def integers(self, high, *size):
        return torch.randint(high, size, generator=self.generator,
                             device=self.device)

    def distinct(self, rows, count, of):
        noise = torch.rand(rows, of, generator=self.generator,
                           device=self.device)
        return noise.topk(count, 1).indices

    def text(self, rows, length):
        source = torch.multinomial(self.shares, rows, True,
                                   generator=self.generator)
        place = torch.rand(rows, generator=self.generator, device=self.device,
                           dtype=torch.float64)
        out = torch.empty(rows, length + 1, dtype=torch.long,
                          device=self.device)
        offsets = torch.arange(length + 1, device=self.device)
        for i, tokens in enumerate(self.sources):
            last = tokens.numel() - length - 1
            start = (place * max(last, 1)).long()[:, None]
            part = tokens[(start + offsets) % tokens.numel()].long()
            out = torch.where((source == i)[:, None], part, out)
        return out, torch.ones(rows, length, dtype=torch.bool,
                               device=self.device)

    def sentence(self, start, words, numbers):
        """[..., n] ids of '<start><word> is <number>.'"""
        lead = words.shape

        def fixed(t):
            return t.expand(*lead, t.numel())
        return torch.cat([fixed(start), words[..., None], fixed(self.naming),
                          self.digits[numbers], fixed(self.stop)], -1)

    def needles(self, rows, length, count, asked, digits, depth=None):
        """Needles at random depths (or one at `depth` in 0..1) of running
        text, questions at the end: (ids, graded text, graded answers)."""
        ids, graded = self.text(rows, length)
        words = self.words[self.distinct(rows, count, len(self.words))]
        numbers = self.integers(10, rows, count, digits)
        needle = self.sentence(self.opening, words, numbers)
        question = self.sentence(self.asking, words[:, :asked],
                                 numbers[:, :asked])
        n, tail = needle.shape[-1], question.shape[-1]
        hay = length + 1 - asked * tail
        room = hay - count * n
        if depth is None:
            place = torch.rand(rows, count, generator=self.generator,
                               device=self.device)
            place = (place * (room + 1)).long().sort(1).values
            # The order of depths says nothing about which are asked for.
            order = self.distinct(rows, count, count)
            place = place + torch.arange(count, device=self.device) * n
            place = place.gather(1, order)
        else:
            place = torch.full((rows, count), int(depth * room),
                               device=self.device)
        span = torch.arange(n, device=self.device)
        where = (place[..., None] + span).flatten(1)
        ids.scatter_(1, where, needle.flatten(1))
        ids[:, hay:] = question.flatten(1)
        # A target's mask is one place to the left of the target.
        number = torch.zeros(n, dtype=torch.bool, device=self.device)
        number[-digits - 1:-1] = True
        hidden = torch.zeros_like(ids, dtype=torch.bool).scatter_(
            1, where, number.repeat(rows, count))
        answers = torch.zeros_like(ids, dtype=torch.bool)
        at = hay + (torch.arange(asked, device=self.device)[:, None] + 1
                    ) * tail - 1 - torch.arange(1, digits + 1,
                                                device=self.device)
        answers[:, at.flatten()] = True
        graded &= ~hidden[:, 1:]
        graded[:, hay - 1:] = False
        return ids, graded, answers[:, 1:]

    def lookups(self, rows, length, numbered, digits):
        """A list '<key>: <value>' a line, keys words or three-digit numbers in
        order, values words or `digits` digits; then lines of it asked for."""
        limit = len(self.words) if not numbered else 999
        value_width = digits + 1 if digits else 1
        width = (3 if numbered else 1) + 1 + value_width + 1
        lines = (length + 1) // width
        pairs = max(2, min(limit, lines * (5 + int(
            self.integers(5, 1))) // 12))
        if numbered:
            n = torch.arange(1, pairs + 1, device=self.device)
            key = torch.stack([n // 100, n // 10 % 10, n % 10], 1)
            key = self.digits[key].expand(rows, pairs, 3)
        else:
            key = self.words[self.distinct(rows, pairs, len(self.words))]
            key = key[..., None]
        if digits:
            value = torch.cat([
                self.space.expand(rows, pairs, 1),
                self.digits[self.integers(10, rows, pairs, digits)]], -1)
        else:
            value = self.words[self.integers(len(self.words), rows, pairs, 1)]
        table = torch.cat([key, self.colon.expand(rows, pairs, 1), value,
                           self.line.expand(rows, pairs, 1)], -1)
        asked = self.integers(pairs, rows, lines + 1 - pairs)
        repeated = table.gather(1, asked[..., None].expand(-1, -1, width))
        ids = torch.cat([table, repeated], 1).flatten(1)[:, :length + 1]
        column = torch.arange(length + 1, device=self.device)
        answer = (column >= pairs * width) & (column % width >= width - (
            digits or 1) - 1) & (column % width < width - 1)
        return ids, answer[1:].expand(rows, length)

    def copies(self, rows, length):
        """Random tokens that repeat after 16 .. length / 2."""
        period = 16 + self.integers(max(1, length // 2 - 16), rows, 1)
        random = self.integers(self.vocabulary, rows, length // 2)
        column = torch.arange(length + 1, device=self.device)
        ids = random.gather(1, column % period)
        return ids, (column >= period)[:, 1:]

    def batch(self, tokens, length, random):
        """(ids [T], targets [T], {kind: mask [T]}) of one step; `random`
        (host) draws the shapes."""
        rows = tokens // length
        shares = {"copies": 0.08, "lookups": 0.14, "needles": 0.30}
        counts = {k: max(1, round(rows * s)) for k, s in shares.items()}
        parts = []
        text = self.text(rows - sum(counts.values()), length)
        parts.append((text[0], {"text": text[1]}))
        most = max(1, min(8, length // 64))
        count = random.randint(1, most)
        asked = random.randint(1, min(count, 4))
        ids, graded, answers = self.needles(
            counts["needles"], length, count, asked, random.randint(3, 7))
        parts.append((ids, {"text": graded, "needles": answers}))
        ids, answers = self.lookups(counts["lookups"], length,
                                    random.random() < 0.3,
                                    random.choice([0, 0, 2, 3, 4]))
        parts.append((ids, {"lookups": answers}))
        ids, answers = self.copies(counts["copies"], length)
        parts.append((ids, {"copies": answers}))
        whole = torch.cat([ids for ids, _ in parts])
        masks = {}
        for kind in ("text", *shares):
            masks[kind] = torch.cat([
                part.get(kind, torch.zeros(ids.shape[0], length,
                                           dtype=torch.bool,
                                           device=self.device))
                for ids, part in parts]).flatten()
        return whole[:, :-1].flatten(), whole[:, 1:].flatten(), masks
