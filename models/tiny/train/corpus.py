#!/usr/bin/env python3
"""Builds the training text, its tokenizer and the packed token file.

Everything comes from Debian packages, fetched with apt-get (SOURCES lists them
with their licences); neither packages nor text are kept in the repository.

usage: corpus.py WORK_DIR
writes: WORK_DIR/tokenizer.json, WORK_DIR/corpus.npz
needs: Debian 12, dpkg, numpy, tokenizers
"""
import argparse
import gzip
import html.parser
import pathlib
import random
import re
import subprocess

import numpy
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
from tokenizers.trainers import BpeTrainer

# name: (Debian packages, share of the training batches, licence)
SOURCES = {
    "bible": (["bible-kjv", "bible-kjv-text"], 0.18,
              "King James version of 1611, public domain"),
    "jargon": (["dict-jargon"], 0.08, "the Jargon File, public domain"),
    "devil": (["dict-devil"], 0.03,
              "Bierce, The Devil's Dictionary, public domain"),
    "fortunes": (["fortunes", "fortunes-min"], 0.12,
                 "collected quotations, BSD-style"),
    "handbook": (["debian-handbook"], 0.11, "GPL-2+ or CC-BY-SA-3.0"),
    "reference": (["debian-reference-en", "debian-faq"], 0.08, "GPL-2+"),
    "kernel": (["linux-doc-6.1"], 0.40, "GPL-2"),
}
VOCABULARY = 2048
# The last document of every HELD_OUT is never trained on.
HELD_OUT = 40
SPECIAL = ["<end_of_document>", "<beginning_of_sentence>", "<end_of_sentence>"]
# The o200k split pattern of the published vocabulary.
UPPER, LOWER = r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}", r"\p{Ll}\p{Lm}\p{Lo}\p{M}"
CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
SPLIT = "|".join([
    rf"[^\r\n\p{{L}}\p{{N}}]?[{UPPER}]*[{LOWER}]+{CONTRACTION}",
    rf"[^\r\n\p{{L}}\p{{N}}]?[{UPPER}]+[{LOWER}]*{CONTRACTION}",
    r"\p{N}{1,3}", r" ?[^\s\p{L}\p{N}]+[\r\n/]*", r"\s*[\r\n]+",
    r"\s+(?!\S)", r"\s+"])
# Fortune files whose humour has not aged well, or that are pictures.
SKIPPED_FORTUNES = {"ascii-art", "drugs", "ethnic", "men-women", "politics",
                    "translate-me", "zippy"}
SKIPPED_KERNEL = ("devicetree/bindings", "translations", "ABI", "sphinx",
                  "sphinx-static", "litmus-tests", "output")


def unpack(work):
    """Fetches and unpacks every package below work/root."""
    debs, root = work / "debs", work / "root"
    debs.mkdir(parents=True, exist_ok=True)
    for packages, _, _ in SOURCES.values():
        for package in packages:
            if not list(debs.glob(f"{package}_*.deb")):
                subprocess.run(["apt-get", "download", "-q", package],
                               cwd=debs, check=True)
    for deb in sorted(debs.glob("*.deb")):
        subprocess.run(["dpkg", "-x", deb, root], check=True)
    return root


class VisibleText(html.parser.HTMLParser):
    """The text of a page: paragraphs, headings and listings, one a line."""
    BLOCKS = {"p", "h1", "h2", "h3", "h4", "h5", "li", "pre", "tr", "dt", "dd",
              "div"}
    HIDDEN = {"script", "style", "head", "nav"}

    def __init__(self):
        super().__init__()
        self.parts, self.hidden, self.listing = [], 0, 0

    def handle_starttag(self, tag, attrs):
        self.hidden += tag in self.HIDDEN
        self.listing += tag == "pre"
        if tag in self.BLOCKS:
            self.parts.append("\n")

    def handle_endtag(self, tag):
        self.hidden -= tag in self.HIDDEN
        self.listing -= tag == "pre"
        if tag in self.BLOCKS:
            self.parts.append("\n")

    def handle_data(self, data):
        if not self.hidden:
            self.parts.append(data if self.listing
                              else re.sub(r"\s+", " ", data))


def page_text(path):
    parser = VisibleText()
    parser.feed(path.read_text("utf-8", "replace"))
    return re.sub(r" *\n[ \n]*\n", "\n\n", "".join(parser.parts))


def unwrapped(text):
    """Joins the lines of a paragraph."""
    return re.sub(r"(\S)\n +(?=\S)|(\S)\n(?=\S)", r"\1\2 ", text)


def bible(root):
    text = subprocess.run(
        [root / "usr/bin/bible", "-f", "-p", root / "usr/lib",
         "Gen1:1-Rev22:21"], check=True, capture_output=True, text=True).stdout
    chapters = {}
    for line in text.splitlines():
        reference, verse = line.split(" ", 1)
        chapters.setdefault(reference.split(":")[0], []).append(verse.strip())
    return ["\n".join(verses) for verses in chapters.values()]


def dictionary(root, name):
    text = gzip.decompress(
        (root / f"usr/share/dictd/{name}.dict.dz").read_bytes())
    entries = re.split(r"\n(?=\S)", text.decode("utf-8", "replace"))
    entries = [unwrapped(re.sub(r"\n +", "\n ", e)).strip() for e in entries]
    return ["\n\n".join(entries[i:i + 20]) for i in range(0, len(entries), 20)]


def fortunes(root):
    documents = []
    for path in sorted((root / "usr/share/games/fortunes").iterdir()):
        if path.suffix or path.name in SKIPPED_FORTUNES or path.is_symlink():
            continue
        cookies = path.read_text("utf-8", "replace").split("\n%\n")
        cookies = [c.strip().replace("\t", " ") for c in cookies if c.strip()]
        random.Random(path.name).shuffle(cookies)
        documents += ["\n\n".join(cookies[i:i + 20])
                      for i in range(0, len(cookies), 20)]
    return documents


def kernel(root):
    top = root / "usr/share/doc/linux-doc-6.1/Documentation"
    documents = []
    for path in sorted(top.rglob("*.rst.gz")) + sorted(top.rglob("*.txt.gz")):
        if str(path.relative_to(top)).startswith(SKIPPED_KERNEL):
            continue
        text = gzip.decompress(path.read_bytes()).decode("utf-8", "replace")
        documents.append(text.expandtabs(4))
    return documents


def pages(root, patterns):
    return [page_text(path) for pattern in patterns
            for path in sorted(root.glob(pattern))]


def collect(root):
    """{source: list of documents}; rare characters are dropped, runs of
    punctuation that draw tables and rules are shortened."""
    documents = {
        "bible": bible(root),
        "jargon": dictionary(root, "jargon"),
        "devil": dictionary(root, "devil"),
        "fortunes": fortunes(root),
        "handbook": pages(root, [
            "usr/share/doc/debian-handbook/html/en-US/*.html"]),
        "reference": pages(root, [
            "usr/share/debian-reference/*.en.html",
            "usr/share/doc/debian/FAQ/*.en.html"]),
        "kernel": kernel(root),
    }
    for name, texts in documents.items():
        texts = [re.sub(r"[^\n\x20-\x7e]", "", t) for t in texts]
        texts = [re.sub(r"([^\w\s])\1{3,}", r"\1\1\1", t) for t in texts]
        texts = [re.sub(r" {5,}", "    ", t) for t in texts]
        texts = [re.sub(r"\n{3,}", "\n\n", t).strip() for t in texts]
        documents[name] = [t for t in texts if len(t) > 200]
    return documents


def train_tokenizer(documents):
    """Byte-level BPE. Its training text has no digits, so that no merge joins
    digits and numbers are read digit by digit."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(SPLIT), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = BpeTrainer(vocab_size=VOCABULARY - len(SPECIAL),
                         initial_alphabet=sorted(alphabet),
                         show_progress=False)
    share = {name: int(6_000_000 * SOURCES[name][1]) for name in documents}
    texts = [re.sub(r"\d+", " ", "\n".join(texts)[:share[name]])
             for name, texts in documents.items()]
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.add_special_tokens(SPECIAL)
    return tokenizer


def pack(documents, tokenizer):
    """{array name: numpy array}: per source the training and held-out tokens,
    every document ended by <end_of_sentence>; bytes per token id."""
    end = tokenizer.token_to_id("<end_of_sentence>")
    packed = {}
    for name, texts in documents.items():
        order = list(texts)
        random.Random(name).shuffle(order)
        ids = [e.ids + [end] for e in tokenizer.encode_batch(order)]
        for part, chosen in (
                ("train", [d for i, d in enumerate(ids) if i % HELD_OUT]),
                ("held", [d for i, d in enumerate(ids) if not i % HELD_OUT])):
            packed[f"{part}.{name}"] = numpy.concatenate(
                [numpy.array(d, numpy.uint16) for d in chosen])
    size = tokenizer.get_vocab_size()
    packed["bytes"] = numpy.array(
        [0 if i >= size - len(SPECIAL) else len(tokenizer.id_to_token(i))
         for i in range(size)], numpy.uint8)
    return packed


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("work", type=pathlib.Path)
    work = parser.parse_args().work
    documents = collect(unpack(work))
    tokenizer = train_tokenizer(documents)
    tokenizer.save(str(work / "tokenizer.json"))
    packed = pack(documents, tokenizer)
    numpy.savez_compressed(work / "corpus.npz", **packed)
    print(f"{'source':12} {'documents':>9} {'bytes':>10} {'tokens':>10} "
          f"{'held out':>9}")
    for name, texts in documents.items():
        print(f"{name:12} {len(texts):9} {sum(map(len, texts)):10} "
              f"{len(packed['train.' + name]):10} "
              f"{len(packed['held.' + name]):9}")


if __name__ == "__main__":
    main()
