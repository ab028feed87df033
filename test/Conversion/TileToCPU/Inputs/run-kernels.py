"""Compiles every kernel of a tile module and compares it with the interpreter.

Tables of row numbers must make sense, so they are made up here by the name of
the kernel: ragged sequences with an empty one, pages in any order, unique rows.
"""

import random
import re
import subprocess
import sys

TOKENS = 70
STARTS = [0, 33, 33, 34, TOKENS]
SLOTS = [2, 0, 3, 1]
PAST = [0, 5, 40, 63]


def dense(values):
    shape = f"{len(values)}"
    if isinstance(values[0], list):
        shape += f"x{len(values[0])}"
    return f"dense<{values}> : tensor<{shape}xi32>"


def make_tables(name, shapes):
    """The contents of the i32 views that a kernel reads, in order."""
    rows = list(range(TOKENS))
    random.shuffle(rows)
    pages = [[random.randrange(2) for _ in range(3)] for _ in range(4)]
    if "experts" in name:
        experts = int(shapes[0]) - 1
        cuts = sorted(random.randrange(TOKENS) for _ in range(experts - 1))
        return [[0, *cuts, TOKENS], rows]
    if "attend" in name:
        tables = [STARTS, PAST, pages]
        return tables if len(shapes) == 3 else tables[1:]
    if "for_blocks" in name:
        return [STARTS, SLOTS]
    if "lightning_step" in name:
        return [SLOTS]
    if "group_tokens" in name and "stage" not in name:
        return [[random.randrange(3) for _ in range(TOKENS)]]
    return [rows]


def run(text, kernel, options):
    name, parameters = kernel.group(1), kernel.group(2)
    views = re.findall(r"%\w+: (?:!tile\.view<([^>]*)>|\w+)", parameters)
    shapes = [re.sub("xi32.*", "", v) for v in views if re.search("xi32, read", v)]
    tables = make_tables(name, shapes)
    # One token a sequence, or one of each table.
    steps = len(SLOTS) if "step" in name or tables[:1] == [PAST] else TOKENS
    inputs, extents = [], []
    for view in views:
        if "xi32, read" in view:
            inputs.append(dense(tables.pop(0)))
            continue
        inputs.append("unit")
        for _ in range(view.count("?")):
            pool = steps != TOKENS and "attend" in name and len(extents) in (1, 2)
            extents.append(str(128 if pool else steps))
    head = text[kernel.start() : kernel.end() - 1]
    module = (
        text[: kernel.start()]
        + f"{head} attributes {{tile.inputs = [{', '.join(inputs)}]}} {{"
        + text[kernel.end() :]
    )
    result = subprocess.run(
        [
            "mmx-opt",
            "-",
            f"--tile-run-cpu=kernel={name} extents={','.join(extents)} "
            f"tolerance=3e-6 {options}",
            "-o",
            "/dev/null",
        ],
        input=module,
        capture_output=True,
        text=True,
    )
    if result.returncode:
        errors = [l for l in result.stderr.splitlines() if "error" in l]
        print(f"{name} extents={','.join(extents)}:", errors[:1])
    return result.returncode == 0


def main():
    random.seed(1)
    text = open(sys.argv[1]).read()
    options = " ".join(sys.argv[2:])
    kernels = list(
        re.finditer(r"tile\.kernel @(\w+)\((.*?)\) grid\(.*?\) = \S+ \{", text)
    )
    good = sum(run(text, kernel, options) for kernel in kernels)
    print(f"{good} of {len(kernels)} kernels agree")
    sys.exit(0 if kernels and good == len(kernels) else 1)


main()
