"""Writes a copy of a checkpoint directory with one file, model.safetensors,
after some changes.

usage: edit-checkpoint.py SOURCE TARGET CHANGE...

  drop=NAME         the tensor is left out
  shape=NAME:JSON   the header claims another shape
  dtype=NAME:TYPE   the header claims another type
  bf16=NAME         an f32 tensor is cut to bf16
  fuse              experts as the transformers library stores them since v5
  header=BYTES      the file claims another length of its header
  cut=BYTES         the file ends earlier
  nest=N            the header is N nested arrays
  index=FILE        all tensors are in FILE, says an index file
"""
import json
import os
import shutil
import struct
import sys


def read(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    header.pop("__metadata__", None)
    return {name: [entry["dtype"], entry["shape"],
                   data[entry["data_offsets"][0]:entry["data_offsets"][1]]]
            for name, entry in header.items()}


def fuse(tensors):
    """gate_up_proj: the rows of w1, then those of w3, expert by expert."""
    layer = 0
    while (prefix := f"model.layers.{layer}.") + "input_layernorm.weight" in tensors:
        moe, mlp = prefix + "block_sparse_moe.", prefix + "mlp."
        tensors[mlp + "gate.weight"] = tensors.pop(moe + "gate.weight")
        up, down = [], []
        while (expert := f"{moe}experts.{len(down)}.") + "w1.weight" in tensors:
            w1, w3, w2 = (tensors.pop(f"{expert}{w}.weight") for w in ("w1", "w3", "w2"))
            up.append(w1[2] + w3[2])
            down.append(w2[2])
        (rows, cols), dtype = w1[1], w1[0]
        tensors[mlp + "experts.gate_up_proj"] = [dtype, [len(up), 2 * rows, cols], b"".join(up)]
        tensors[mlp + "experts.down_proj"] = [dtype, [len(down), cols, rows], b"".join(down)]
        layer += 1


def main():
    source, target, changes = sys.argv[1], sys.argv[2], sys.argv[3:]
    tensors = read(os.path.join(source, "model.safetensors"))
    shutil.rmtree(target, ignore_errors=True)
    os.makedirs(target)
    shutil.copy(os.path.join(source, "config.json"), target)
    split = [change.partition("=")[::2] for change in changes]
    for kind, value in split:
        name, _, to = value.partition(":")
        if kind == "drop":
            del tensors[name]
        elif kind == "shape":
            tensors[name][1] = json.loads(to)
        elif kind == "dtype":
            tensors[name][0] = to
        elif kind == "bf16":
            words = tensors[name][2]
            halves = b"".join(words[i + 2:i + 4] for i in range(0, len(words), 4))
            tensors[name] = ["BF16", tensors[name][1], halves]
        elif kind == "fuse":
            fuse(tensors)
    header, data = {}, b""
    for name, (dtype, shape, content) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape,
                        "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    for kind, value in split:
        if kind == "nest":
            text = b"[" * int(value) + b"]" * int(value)
    length = len(text)
    for kind, value in split:
        if kind == "header":
            length = int(value)
        elif kind == "cut":
            data = data[:-int(value)]
        elif kind == "index":
            with open(os.path.join(target, "model.safetensors.index.json"), "w") as file:
                json.dump({"weight_map": {name: value for name in tensors}}, file)
    with open(os.path.join(target, "model.safetensors"), "wb") as file:
        file.write(struct.pack("<Q", length) + text + data)


main()
