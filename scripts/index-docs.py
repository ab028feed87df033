#!/usr/bin/env python3
# Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the index of the reference: every op, type, attribute and pass of the
pages that mlir-tblgen made, with its summary and a link.

usage: index-docs.py INDEX.md PAGE.md...
"""

import re
import sys
from pathlib import Path


def make_anchor(heading):
    """As GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def read_entries(text):
    """(name, anchor, summary) of what a page describes."""
    entries = []
    for heading, summary in re.findall(r"^### (.*)\n(?:\n_(.*)_$)?", text, re.M):
        name = re.search(r"`?([^\s`]+)`?", heading).group(1)
        if summary:
            entries.append((name, make_anchor(heading), summary))
    return entries


def main():
    index, pages = Path(sys.argv[1]), [Path(page) for page in sys.argv[2:]]
    lines = ["# Reference", ""]
    for page in sorted(pages, key=lambda p: ("dialect" not in p.name, p.name)):
        text = page.read_text()
        title = re.search(r"^# (.*)", text, re.M).group(1)
        about = re.search(r"^# .*\n\n_(.*)_$", text, re.M)
        lines += [f"## [{title}]({page.name})", ""]
        if about:
            lines += [about.group(1), ""]
        lines += [f"- [`{name}`]({page.name}#{anchor}): {summary}"
                  for name, anchor, summary in read_entries(text)]
        lines.append("")
    index.write_text("\n".join(lines))


if __name__ == "__main__":
    main()
