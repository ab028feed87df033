#!/usr/bin/env python3
# Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Speed of tokenizers, beside the Hugging Face tokenizers library.

Text becomes ids and text again, by one thread; that it is the same text, and
that the ids are those of the peer, is checked in the same run. Times are
processor time of the thread, medians of ROUNDS after a first encoding, which
is shown apart.

usage: bench/tokenizer.py [--build build/release] [--rounds 7] [--megabytes 6]
                          [--tokenizer FILE]... [--peer-python python3] [TEXT...]

Without TEXT: licences and copyright notices, and C headers, from /usr. Without
--tokenizer: those of test/golden. The peer needs the package tokenizers;
without it only mmx is timed.
"""
import argparse
import glob
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GOLDEN = os.path.join(ROOT, "test/golden/tokenizer")
TEXTS = {"English": ["/usr/share/common-licenses/*",
                     "/usr/share/doc/*/copyright"],
         "source code": ["/usr/include/*.h", "/usr/include/**/*.h"]}
PEER = r"""
import array, hashlib, json, os, sys, time
os.environ["TOKENIZERS_PARALLELISM"] = "false"
from tokenizers import Tokenizer
tokenizer = Tokenizer.from_file(sys.argv[1])
text = open(sys.argv[2], encoding="utf-8", newline="").read()
seconds = []
for _ in range(int(sys.argv[3])):
    begin = time.thread_time()
    ids = tokenizer.encode(text).ids
    seconds.append(time.thread_time() - begin)
digest = hashlib.sha256(array.array("i", ids).tobytes()).hexdigest()
print(json.dumps({"encode": sorted(seconds)[len(seconds) // 2],
                  "digest": digest}))
"""


def gather(patterns, limit):
    """UTF-8 text of the files; the same file under two names counts once."""
    parts, seen, size = [], set(), 0
    for pattern in patterns:
        for path in sorted(glob.glob(pattern, recursive=True)):
            real = os.path.realpath(path)
            if real in seen or not os.path.isfile(real):
                continue
            seen.add(real)
            with open(real, encoding="utf-8", errors="replace", newline="") as file:
                parts.append(file.read())
            size += len(parts[-1].encode())
            if size >= limit:
                break
    return "".join(parts).encode()[:int(limit)].decode(errors="ignore")


def tokenizers(args, scratch):
    if args.tokenizer:
        return {os.path.basename(path): path for path in args.tokenizer}
    unpacked = os.path.join(scratch, "bpe200k_tokenizer.json")
    with gzip.open(f"{GOLDEN}/bpe200k_tokenizer.json.gz") as packed, \
            open(unpacked, "wb") as file:
        shutil.copyfileobj(packed, file)
    return {"1k, GPT-2 pattern": f"{GOLDEN}/bpe1k_tokenizer.json",
            "1k, split pattern": f"{GOLDEN}/bpe1k_split_tokenizer.json",
            "200k, o200k pattern": unpacked}


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"bench: {' '.join(command[:2])} ... failed")
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--build", default=os.path.join(ROOT, "build/release"))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--megabytes", type=float, default=6)
    parser.add_argument("--tokenizer", action="append")
    parser.add_argument("--peer-python", default=sys.executable)
    parser.add_argument("texts", nargs="*")
    args = parser.parse_args()
    limit = args.megabytes * 1e6
    peer = subprocess.run([args.peer_python, "-c", "import tokenizers"],
                          stderr=subprocess.DEVNULL).returncode == 0
    texts = {path: [path] for path in args.texts} or TEXTS
    print(f"{'tokenizer':20} {'text':12} {'MB':>5} {'bytes/id':>8} {'open ms':>8} "
          f"{'first':>7} {'encode':>7} {'decode':>7} {'peer':>7}  MB/s")
    with tempfile.TemporaryDirectory() as scratch:
        for name, file in tokenizers(args, scratch).items():
            for kind, patterns in texts.items():
                text = os.path.join(scratch, "text")
                with open(text, "w", encoding="utf-8", newline="") as out:
                    out.write(gather(patterns, limit))
                mmx = run([f"{args.build}/bin/mmx-tokenizer-speed", file,
                           str(args.rounds), text])
                size, rate = mmx["bytes"] / 1e6, "-"
                if peer:
                    other = run([args.peer_python, "-c", PEER, file, text, "3"])
                    if other["digest"] != mmx["digest"]:
                        sys.exit(f"bench: {name}, {kind}: the peer's ids differ")
                    rate = f"{size / other['encode']:.1f}"
                print(f"{name:20} {os.path.basename(kind):12} {size:5.1f} "
                      f"{mmx['bytes'] / mmx['ids']:8.2f} "
                      f"{mmx['open'] * 1e3:8.1f} {size / mmx['first']:7.1f} "
                      f"{size / mmx['encode']:7.1f} {size / mmx['decode']:7.1f} "
                      f"{rate:>7}", flush=True)


if __name__ == "__main__":
    main()
