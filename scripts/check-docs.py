#!/usr/bin/env python3
# Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that everything defined in TableGen is documented and tested.

Reads the .td files under include/mmx through llvm-tblgen and the tests under
test/, and fails if

* a dialect, op, type, attribute or pass lacks a summary or a description;
* the description of an op, type, attribute or pass lacks an example that
  contains it, or gives a pass an option that it does not have;
* an op or type does not occur in any .mlir test, or an attribute in none;
* a pass or one of its options does not occur in a RUN line, or an option lacks
  a description, or no test that runs the pass looks at the result;
* a link in a page of the tree leads to no file or to no heading;
* with --pages, the folder of the generated reference, something is in no page.

Every finding is one line, FILE:LINE: what is missing and what to do. The exit
status is the number of findings, at most 100.
"""

import argparse
import json
import os
import re
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

Test = namedtuple("Test", "path runs text checked")


def find_tblgen(given):
    """An llvm-tblgen beside the MLIR that the .td files include; PATH may hold
    other versions."""
    folders = [Path(f) for f in os.environ.get("PATH", "").split(os.pathsep)]
    names = [given] if given else [
        folder / name for folder in folders
        for name in ("llvm-tblgen", "llvm-tblgen-22")]
    for name in names:
        path = Path(os.path.realpath(name))
        if (path.parent.parent / "include/mlir/IR/OpBase.td").exists():
            return path
    sys.exit("error: no llvm-tblgen with MLIR beside it in PATH; "
             "give one with --tblgen")


def find_roots(include):
    """The .td files that no other one includes, and those that one includes by
    base name: that is all that records tell of their place."""
    files = sorted(include.glob("mmx/**/*.td"))
    included = {include / "mmx" / name for path in files for name in
                re.findall(r'^include "mmx/([^"]+)"', path.read_text(), re.M)}
    by_name = {}
    for path in sorted(included):
        if path.name in by_name:
            sys.exit(f"error: two included files are named {path.name}")
        by_name[path.name] = path
    return [path for path in files if path not in included], by_name


def dump_records(tblgen, include, root):
    llvm_include = tblgen.parent.parent / "include"
    command = [tblgen, "--dump-json", "-I", include, "-I", llvm_include, root]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        sys.exit(result.stderr)
    return json.loads(result.stdout)


def read_tests(folder):
    tests = []
    for path in sorted(folder.glob("**/*")):
        if path.suffix not in (".mlir", ".test") or not path.is_file():
            continue
        text = path.read_text(errors="replace")
        # A trailing backslash continues a RUN line.
        joined = re.sub(r"\\\n\s*(?://|#)?\s*RUN:", " ", text)
        runs = [m.group(1) for m in re.finditer(r"RUN:(.*)", joined)]
        checked = bool(
            re.search(r"(//|#)\s*[A-Z0-9_-]+(-(NEXT|SAME|DAG|LABEL|NOT|COUNT-\d+))?:", text)
            and any("FileCheck" in run for run in runs)
        ) or any("--verify-diagnostics" in run or "-verify-diagnostics" in run for run in runs)
        tests.append(Test(path, runs, text, checked))
    return tests


def find_headings(text):
    """The anchors of a page, as GitHub makes them of its headings."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
            for heading in re.findall(r"^#+ (.*)", text, re.M)}


class Checker:
    def __init__(self, source, by_name, tests, pages=None):
        self.source = source
        self.by_name = by_name
        self.root = None
        self.tests = tests
        self.mlir = "\n".join(t.text for t in tests if t.path.suffix == ".mlir")
        self.runs = [run for t in tests for run in t.runs]
        self.pages = pages
        self.findings = []
        self.seen = set()
        self.counts = {}

    def location(self, record):
        """(path, line) of our definition of a record; none if it is upstream."""
        for loc in record["!locs"]:
            file, _, line = loc.rpartition(":")
            name = Path(file).name
            path = self.root if name == self.root.name else self.by_name.get(name)
            if path:
                return path, int(line)
        return None

    def report(self, where, message):
        path, line = where
        self.findings.append(
            (str(path.relative_to(self.source)), line, message))

    def check_texts(self, where, what, record):
        for field, advice in (
            ("summary", "one line, lower case"),
            ("description", "what it means and its limits"),
        ):
            if not (record.get(field) or "").strip():
                self.report(where, f"{what} has no {field}: {advice}")

    def check_example(self, where, what, description, pattern, shown):
        _, found, example = (description or "").partition("Example")
        if not found:
            self.report(where, f"{what} has no example: add 'Example:' and "
                               f"a use of {shown} to its description")
        elif not re.search(pattern, example):
            self.report(where, f"the example of {what} does not contain {shown}")

    def check_page(self, where, what, heading):
        if self.pages is not None and not re.search(
                rf"^#+ {re.escape(heading)}(?: |$)", self.pages, re.M):
            self.report(where, f"{what} is in no page of the reference: add its "
                               "file to docs/CMakeLists.txt")

    def check_dialect(self, where, record, records):
        what = f"dialect {record['name']}"
        self.check_texts(where, what, record)
        self.check_page(where, what, f"'{record['name']}' Dialect")

    def check_op(self, where, record, records):
        dialect = records[record["opDialect"]["def"]]["name"]
        name = f"{dialect}.{record['opName']}"
        what = f"op {name}"
        pattern = rf"(?<![\w.]){re.escape(name)}(?![\w.])"
        self.check_texts(where, what, record)
        self.check_example(where, what, record["description"], pattern, name)
        self.check_page(where, what, f"`{name}`")
        if not re.search(pattern, self.mlir):
            self.report(where, f"{what} occurs in no .mlir file under test/: "
                               "add it to the dialect's round-trip.mlir")

    def check_type_or_attr(self, where, record, records, kind, sigil):
        dialect = records[record["dialect"]["def"]]["name"]
        mnemonic = record["mnemonic"]
        if not mnemonic:
            return
        shown = f"{sigil}{dialect}.{mnemonic}"
        what = f"{kind} {shown}"
        pattern = rf"{re.escape(shown)}(?![\w.])"
        self.check_texts(where, what, record)
        self.check_example(where, what, record["description"], pattern, shown)
        self.check_page(where, what, record["cppClassName"])
        # Ops may print an attribute without its name, so a keyword is enough.
        short = rf"(?<![\w.])@?{re.escape(mnemonic)}(?:\s|<|=|$)"
        if not re.search(pattern, self.mlir) and not (
                sigil == "#" and re.search(short, self.mlir, re.M)):
            self.report(where, f"{what} occurs in no .mlir file under test/: "
                               "add it to the dialect's round-trip.mlir")

    def check_enum(self, where, record, records):
        if not (record.get("summary") or "").strip():
            self.report(where, f"enum {record['className']} has no summary")
        self.check_page(where, f"enum {record['className']}",
                        record["className"])

    def check_pass(self, where, record, records):
        name = record["argument"]
        what = f"pass {name}"
        self.check_texts(where, what, record)
        self.check_example(where, what, record["description"], "", name)
        self.check_page(where, what, f"`-{name}`")
        options = [records[o["def"]] for o in record.get("options") or []]
        known = {option["argument"] for option in options}
        for given in re.findall(rf"{re.escape(name)}(?:='([^']*)'|=(\S+))",
                                record["description"] or ""):
            for used in re.findall(r"(?:^|\s)([\w-]+)=", " ".join(given)):
                if used not in known:
                    self.report(where, f"the example of {what} gives option "
                                       f"{used}, which it does not have")
        # An option of its own, or in a textual pipeline.
        flag = rf"(?:\s--?|[(,'\" ]){re.escape(name)}(?![\w-])"
        users = [t for t in self.tests
                 if any(re.search(flag, run) for run in t.runs)]
        if not users:
            self.report(where, f"{what} occurs in no RUN line under test/: "
                               "add a test with its input and the result")
        elif not any(t.checked for t in users):
            self.report(where, f"no test that runs {what} checks the result: "
                               "pipe it into FileCheck with CHECK lines")
        runs = [run for t in users for run in t.runs if re.search(flag, run)]
        for option in options:
            self.check_option(where, what, option, runs)

    def check_option(self, where, what, option, runs):
        name = option["argument"]
        if not (option.get("description") or "").strip():
            self.report(where, f"option {name} of {what} has no description")
        if not any(re.search(rf"(?<![\w-]){re.escape(name)}=", r) for r in runs):
            self.report(where, f"option {name} of {what} occurs in no RUN line "
                               f"under test/: run it with {name}=..")

    def check_links(self):
        folders = [path for path in sorted(self.source.iterdir())
                   if path.is_dir() and path.name != "build"]
        pages = [*sorted(self.source.glob("*.md")),
                 *(page for f in folders for page in sorted(f.rglob("*.md")))]
        for page in pages:
            for number, line in enumerate(page.read_text().split("\n"), 1):
                for target in re.findall(r"\]\(([^)\s]+)\)", line):
                    if re.match(r"\w+:", target):
                        continue
                    name, _, anchor = target.partition("#")
                    other = page.parent / name if name else page
                    if not other.exists() or (
                            anchor and anchor not in
                            find_headings(other.read_text())):
                        self.report((page, number),
                                    f"the link {target} leads nowhere")

    def check(self, root, records):
        self.root = root
        kinds = (
            ("Dialect", self.check_dialect),
            ("Op", self.check_op),
            ("TypeDef", lambda w, r, a:
                self.check_type_or_attr(w, r, a, "type", "!")),
            ("AttrDef", lambda w, r, a:
                self.check_type_or_attr(w, r, a, "attribute", "#")),
            ("EnumInfo", self.check_enum),
            ("PassBase", self.check_pass),
        )
        for kind, check in kinds:
            for name in records["!instanceof"].get(kind, []):
                record = records[name]
                where = self.location(record)
                if not where or (kind, where) in self.seen:
                    continue
                if kind == "AttrDef" and "EnumAttr" in record["!superclasses"]:
                    continue
                self.seen.add((kind, where))
                self.counts[kind] = self.counts.get(kind, 0) + 1
                check(where, record, records)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", type=Path,
                        default=Path(__file__).resolve().parent.parent,
                        help="root of the source tree")
    parser.add_argument("paths", nargs="*", type=Path,
                        help="files or folders whose definitions are checked "
                             "(default: all)")
    parser.add_argument("--pages", type=Path,
                        help="folder of the generated reference")
    parser.add_argument("--tblgen", help="llvm-tblgen (default: from PATH)")
    arguments = parser.parse_args()
    source = arguments.source.resolve()
    tblgen = find_tblgen(arguments.tblgen)
    roots, by_name = find_roots(source / "include")
    pages = None
    if arguments.pages:
        pages = "\n".join(page.read_text()
                          for page in sorted(arguments.pages.glob("*.md")))
    checker = Checker(source, by_name, read_tests(source / "test"), pages)
    for root in roots:
        checker.check(root, dump_records(tblgen, source / "include", root))
    checker.check_links()
    findings = sorted(set(checker.findings))
    if arguments.paths:
        wanted = [str(path.resolve()) for path in arguments.paths]
        findings = [f for f in findings if any(
            str(source / f[0]).startswith(path) for path in wanted)]
    for path, line, message in findings:
        print(f"{path}:{line}: {message}")
    counts = ", ".join(f"{n} {kind}" for kind, n in sorted(checker.counts.items()))
    print(f"{len(findings)} findings in {counts}")
    return min(len(findings), 100)


if __name__ == "__main__":
    sys.exit(main())
