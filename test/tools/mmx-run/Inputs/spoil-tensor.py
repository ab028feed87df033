# Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a number into a tensor. usage: spoil-tensor.py FILE TENSOR INDEX VALUE
The tensor is of type F32 or BF16."""

import json
import struct
import sys

path, tensor, index, value = sys.argv[1:]
with open(path, "r+b") as file:
    length = int.from_bytes(file.read(8), "little")
    entry = json.loads(file.read(length))[tensor]
    number = struct.pack("<f", float(value))
    if entry["dtype"] == "BF16":
        number = number[2:]
    file.seek(8 + length + entry["data_offsets"][0] + int(index) * len(number))
    file.write(number)
