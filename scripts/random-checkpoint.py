#!/usr/bin/env python3
# Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a checkpoint with random weights beside a config.json.

usage: random-checkpoint.py DIR [SEED]

Reads DIR/config.json and writes DIR/model.safetensors. The names, types and shapes
of the tensors are those that the compiler asks for (mmx-compile --emit mmx; it
is looked for in PATH). Weights of norms are 1, others normal with a deviation of
0.02, as before training.
"""

import array
import json
import random
import re
import subprocess
import sys
from pathlib import Path

GLOBAL = re.compile(
    r"mmx\.global @\S+ : tensor<([\dx]+)x(f32|bf16)> from \[(.*)\]")


def tensors(folder):
    """(name, type, shape) of every tensor of the model."""
    text = subprocess.run(["mmx-compile", folder, "--emit", "mmx"], check=True,
                          capture_output=True, text=True).stdout
    for sizes, element, sources in GLOBAL.findall(text):
        shape = [int(size) for size in sizes.split("x")]
        names = re.findall(r'mmx\.source<"([^"]+)"', sources)
        for name in names:
            # Experts are stacked.
            yield name, element, shape[1:] if len(names) > 1 else shape


def values(name, element, count):
    """`count` numbers as the bytes of the file."""
    if "norm" in name:
        numbers = array.array("f", [1.0]) * count
    else:
        numbers = array.array("f", (random.gauss(0, 0.02)
                                    for _ in range(count)))
    data = numbers.tobytes()
    if element == "f32":
        return data
    halves = bytearray(2 * count)  # the upper half of each, little-endian
    halves[0::2], halves[1::2] = data[2::4], data[3::4]
    return bytes(halves)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    random.seed(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    header, data = {}, []
    begin = 0
    for name, element, shape in tensors(folder):
        count = 1
        for size in shape:
            count *= size
        data.append(values(name, element, count))
        end = begin + len(data[-1])
        header[name] = {"dtype": element.upper(), "shape": shape,
                        "data_offsets": [begin, end]}
        begin = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(folder / "model.safetensors", "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text + b"".join(data))


if __name__ == "__main__":
    main()
