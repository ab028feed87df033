"""Deletes every instruction of the code of roles in turn and counts how many
of these codes tile-check-roles accepts.

usage: tile-check-roles-deletions.py KERNEL.mlir...
"""
import os
import re
import subprocess
import sys


def check(text):
    return subprocess.run(["mmx-opt", "--tile-check-roles", "-o", os.devnull],
                          input=text, text=True, capture_output=True).returncode


def main():
    total, accepted = 0, []
    for path in sys.argv[1:]:
        lines = subprocess.run(
            ["mmx-opt", path, "--tile-specialize-warps", "--tile-pipeline"],
            text=True, capture_output=True, check=True).stdout.split("\n")
        start = next(i for i, line in enumerate(lines) if "tile.roles" in line)
        for i in range(start, len(lines)):
            if not re.match(r'\s*tile\.(wait|expect|fence|arrive|turn|run ")',
                            lines[i]):
                continue
            total += 1
            if check("\n".join(lines[:i] + lines[i + 1:])) == 0:
                accepted.append(f"{os.path.basename(path)}: {lines[i].strip()}")
    print("\n".join(accepted))
    print(f"{total} deletions, {len(accepted)} accepted")


main()
