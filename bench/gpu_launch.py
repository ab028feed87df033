#!/usr/bin/env python3
# Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of `--gpu-assemble-kernels=directory=..` on torch tensors.

Needs the driver and torch, no LLVM: a kernel is SYMBOL.cubin (or SYMBOL.ptx)
and SYMBOL.json beside it. The parameters of a kernel are its tensor maps, the
addresses of its views, its dynamic extents and its scratch area, as
schema/package.fbs says.

Also the clock of the benchmarks: single launches after a pause and a sustained
loop are timed apart, since the power limit lowers the clock in the latter.
"""

import ctypes
import json
import re
import statistics
import subprocess
import time
from pathlib import Path

import torch

# CUtensorMapDataType
MAP_TYPES = {"bf16": 9, "f32": 7, "f64": 8, "i32": 3, "i8": 0, "f16": 6}
PROMOTE_128_BYTES = 2
MAX_DYNAMIC_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
LAUNCH_CLUSTER_DIMENSION = 4
LAUNCH_PROGRAMMATIC_SERIALIZATION = 6


class LaunchAttribute(ctypes.Structure):
    _fields_ = [("id", ctypes.c_int), ("pad", ctypes.c_int),
                ("value", ctypes.c_uint * 16)]


class LaunchConfig(ctypes.Structure):
    _fields_ = [("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3),
                ("shared", ctypes.c_uint), ("stream", ctypes.c_void_p),
                ("attributes", ctypes.POINTER(LaunchAttribute)),
                ("count", ctypes.c_uint)]


class Driver:
    """libcuda by ctypes, in the context that torch made."""

    def __init__(self):
        torch.zeros(1, device="cuda")  # makes the context
        self.library = ctypes.CDLL("libcuda.so.1")

    def call(self, name, *arguments):
        result = getattr(self.library, name)(*arguments)
        if result:
            text = ctypes.c_char_p()
            self.library.cuGetErrorName(result, ctypes.byref(text))
            raise RuntimeError(f"{name}: {text.value.decode()}")


_driver = None


def driver():
    global _driver
    _driver = _driver or Driver()
    return _driver


# ---------------------------------------------------------------------------
# Affine maps
# ---------------------------------------------------------------------------

def parse_map(text):
    """`affine_map<()[s0, s1] -> (s0 ceildiv 64, 2)>` as functions of extents."""
    body = re.search(r"->\s*\((.*)\)\s*>?\s*$", text).group(1)
    parts, depth, start = [], 0, 0
    for i, char in enumerate(body):
        depth += (char == "(") - (char == ")")
        if char == "," and depth == 0:
            parts.append(body[start:i])
            start = i + 1
    parts.append(body[start:])
    return [compile_affine(part) for part in parts if part.strip()]


def compile_affine(text):
    tokens = re.findall(r"\d+|s\d+|ceildiv|floordiv|mod|[-+*()]", text)

    def primary(extents):
        token = tokens_left.pop(0)
        if token == "(":
            value = total(extents)
            tokens_left.pop(0)
            return value
        if token == "-":
            return -primary(extents)
        return extents[int(token[1:])] if token[0] == "s" else int(token)

    def product(extents):
        value = primary(extents)
        while tokens_left and tokens_left[0] in ("*", "ceildiv", "floordiv", "mod"):
            op, other = tokens_left.pop(0), primary(extents)
            value = {"*": lambda: value * other,
                     "ceildiv": lambda: -(-value // other),
                     "floordiv": lambda: value // other,
                     "mod": lambda: value % other}[op]()
        return value

    def total(extents):
        value = product(extents)
        while tokens_left and tokens_left[0] in "+-":
            op, other = tokens_left.pop(0), product(extents)
            value = value + other if op == "+" else value - other
        return value

    def evaluate(extents):
        nonlocal tokens_left
        tokens_left = list(tokens)
        return total(extents)

    tokens_left = []
    return evaluate


# ---------------------------------------------------------------------------
# Kernels
# ---------------------------------------------------------------------------

class Kernel:
    """One kernel of a folder. Keeps its scratch area and its tensor maps."""

    def __init__(self, path):
        path = Path(path)
        self.description = json.loads(path.read_text())
        self.symbol = self.description["symbol"]
        self.threads = self.description["threads"]
        self.shared = self.description.get("shared", 0)
        self.scratch = self.description.get("scratch", 0)
        self.cluster = self.description.get("cluster", [1, 1, 1])
        # May start before the launch before it has ended.
        self.programmatic = "programmatic" in self.description
        self.grid = parse_map(self.description["grid"])
        self.maps = self.description.get("tensor_maps", [])
        self.area = None
        code = path.with_suffix(".cubin")
        if not code.exists() or not code.stat().st_size:
            code = path.with_suffix(".ptx")
        self.code = code.read_bytes() + b"\0"
        module, self.function = ctypes.c_void_p(), ctypes.c_void_p()
        driver().call("cuModuleLoadData", ctypes.byref(module), self.code)
        driver().call("cuModuleGetFunction", ctypes.byref(self.function),
                      module, self.symbol.encode())
        if self.shared > 48 * 1024:
            driver().call("cuFuncSetAttribute", self.function,
                          MAX_DYNAMIC_SHARED, self.shared)

    def make_map(self, recipe, views, extents):
        dims = [f(extents) for f in parse_map(recipe["dims"])]
        strides = [f(extents) for f in parse_map(recipe["strides"])]
        box, rank = recipe["box"], len(dims)
        # 64-byte aligned.
        memory = ctypes.create_string_buffer(128 + 64)
        address = -(-ctypes.addressof(memory) // 64) * 64
        swizzle = {0: 0, 32: 1, 64: 2, 128: 3}[recipe["swizzle"]]
        driver().call(
            "cuTensorMapEncodeTiled", ctypes.c_void_p(address),
            MAP_TYPES[recipe["element"]], rank,
            ctypes.c_void_p(views[recipe["view"]].data_ptr()),
            (ctypes.c_uint64 * rank)(*dims),
            (ctypes.c_uint64 * max(rank - 1, 1))(*strides[:rank - 1]),
            (ctypes.c_uint32 * rank)(*box), (ctypes.c_uint32 * rank)(*[1] * rank),
            0, swizzle, PROMOTE_128_BYTES, int("fill_nan" in recipe))
        return memory, address

    def prepare(self, views, extents):
        """A function that launches the kernel on the current stream. `views`
        are torch tensors, `extents` all dynamic extents in order."""
        grid = [f(extents) for f in self.grid] + [1, 1]
        blocks = grid[0] * grid[1] * grid[2]
        if max(grid[1:3]) > 65535:
            raise ValueError(f"{self.symbol}: a grid of {grid[:3]} is too large")
        maps = [self.make_map(recipe, views, extents) for recipe in self.maps]
        area = 0
        if self.scratch:
            self.area = torch.empty(blocks * self.scratch, dtype=torch.uint8,
                                    device="cuda")
            area = self.area.data_ptr()
        numbers = [ctypes.c_uint64(view.data_ptr()) for view in views]
        numbers += [ctypes.c_int64(extent) for extent in extents]
        numbers += [ctypes.c_uint64(area)]
        addresses = [address for _, address in maps]
        addresses += [ctypes.addressof(number) for number in numbers]
        parameters = (ctypes.c_void_p * len(addresses))(*addresses)
        chosen = []
        if self.cluster != [1, 1, 1]:
            chosen.append((LAUNCH_CLUSTER_DIMENSION, self.cluster))
        if self.programmatic:
            chosen.append((LAUNCH_PROGRAMMATIC_SERIALIZATION, [1]))
        attributes = (LaunchAttribute * len(chosen))()
        for attribute, (number, value) in zip(attributes, chosen):
            attribute.id = number
            attribute.value[0:len(value)] = value
        config = LaunchConfig()
        config.grid[0:3] = grid[:3]
        config.block[0:3] = [self.threads, 1, 1]
        config.shared = self.shared
        config.attributes = ctypes.cast(attributes,
                                        ctypes.POINTER(LaunchAttribute))
        config.count = len(chosen)
        keep = (maps, numbers, attributes, views)

        def launch(keep=keep):
            if not blocks:
                return
            config.stream = torch.cuda.current_stream().cuda_stream
            driver().call("cuLaunchKernelEx", ctypes.byref(config),
                          self.function, parameters, None)
        return launch


def load_kernels(folder):
    """All kernels of a folder, by symbol."""
    kernels = [Kernel(path) for path in sorted(Path(folder).glob("*.json"))
               if path.name != "plan.json"]
    return {kernel.symbol: kernel for kernel in kernels}


# ---------------------------------------------------------------------------
# Time
# ---------------------------------------------------------------------------

def time_events(launch, count):
    """Milliseconds of each of `count` launches in a row."""
    events = [torch.cuda.Event(enable_timing=True) for _ in range(count + 1)]
    events[0].record()
    for event in events[1:]:
        launch()
        event.record()
    torch.cuda.synchronize()
    return [a.elapsed_time(b) for a, b in zip(events, events[1:])]


def time_single(launch, pause=0.7, repeat=3):
    """Median of launches 2 to 4 after a pause."""
    times = []
    for _ in range(repeat):
        torch.cuda.synchronize()
        time.sleep(pause)
        times += time_events(launch, 4)[1:]
    return statistics.median(times)


def read_clock():
    """SM clock in MHz and power in W, as the driver says now."""
    out = subprocess.run(
        ["nvidia-smi", "--query-gpu=clocks.sm,power.draw",
         "--format=csv,noheader,nounits", "-i", str(torch.cuda.current_device())],
        stdout=subprocess.PIPE, text=True, check=False).stdout.split(",")
    try:
        return float(out[0]), float(out[1])
    except (ValueError, IndexError):
        return float("nan"), float("nan")


def time_sustained(launch, seconds=1.2):
    """Median of the last 40 % of a loop, and clock and power within it."""
    one = statistics.median(time_events(launch, 3))
    count = max(10, min(20000, int(seconds * 1000 / max(one, 1e-3))))
    events = [torch.cuda.Event(enable_timing=True) for _ in range(count + 1)]
    events[0].record()
    for event in events[1:]:
        launch()
        event.record()
    clock = read_clock()  # the queue is still running
    torch.cuda.synchronize()
    times = [a.elapsed_time(b) for a, b in zip(events, events[1:])]
    return statistics.median(times[int(count * 0.6):]), clock


def copy_bandwidth(gib=4):
    """GB/s of a copy within the device, bytes read plus written, single and
    sustained."""
    source = torch.empty(gib << 30, dtype=torch.uint8, device="cuda").random_()
    target = torch.empty_like(source)
    launch = lambda: target.copy_(source)
    launch()
    traffic = 2 * source.numel() / 1e6
    single = traffic / time_single(launch)
    sustained, clock = time_sustained(launch)
    return single, traffic / sustained, clock
