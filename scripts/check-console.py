#!/usr/bin/env python3
# Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the commands of a page and compares what they print with the page.

Blocks marked ```console hold commands, lines that begin with "$ ", each
followed by all it prints. In what is printed "..." stands for anything within a
line, and a line of its own for any lines. A block ends with the status that its
marker names, ```console status=1, or 0. All commands of a page run one after
another in one shell, in a folder that looks like the root of the source tree:
files that they write under build/ do not touch the real one.

A block marked ```diff is a change of the sources. It is applied to a copy, and
`ninja -C build/dev mmx-opt` then compiles and links just that; `git checkout`
takes it back.

Every difference is one finding, PAGE:LINE: what the page shows and what was
printed. The exit status is the number of findings, at most 100.
"""

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


class Page:
    """The blocks of a page that matter, with the lines they begin in."""

    def __init__(self, path):
        self.blocks = []
        lines = path.read_text().split("\n")
        start = None
        for number, line in enumerate(lines, 1):
            if start is None and re.match(r"```(console|diff)\b", line):
                start = number
            elif start is not None and line == "```":
                self.blocks.append((lines[start - 1], start + 1,
                                    lines[start:number - 1]))
                start = None

    @staticmethod
    def split_commands(first, lines):
        """(line, command, first line of what it prints, expected lines) of each
        command of a block."""
        commands = []
        number = 0
        while number < len(lines):
            line = lines[number]
            if not line.startswith("$ "):
                if not commands:
                    raise ValueError(f"{first}: expected a command, but got "
                                     f"'{line}'")
                commands[-1][3].append(line)
                number += 1
                continue
            at, command = first + number, line[2:]
            while command.endswith("\\"):
                number += 1
                command = command[:-1] + lines[number].strip()
            number += 1
            commands.append((at, command, first + number, []))
        return commands


def compile_line(line):
    return re.compile(".*".join(map(re.escape, line.rstrip().split("..."))))


def compare(expected, printed):
    """The first expected line that does not fit and the number of the printed
    line it stands against, or none. Lines between two "..." are the earliest that
    fit, so what follows has the most room."""
    printed = [line.rstrip() for line in printed]
    parts = [[]]
    for line in expected:
        if line.strip() == "...":
            parts.append([])
        else:
            parts[-1].append(line)
    position = 0
    for index, part in enumerate(parts):
        patterns = [compile_line(line) for line in part]
        last = index == len(parts) - 1
        starts = range(position, len(printed) + 1)
        if index == 0:
            starts = [0]
        elif last and part:
            starts = [max(position, len(printed) - len(part))]
        best = (-1, position)
        for start in starts:
            fits = 0
            while (fits < len(part) and start + fits < len(printed)
                   and patterns[fits].fullmatch(printed[start + fits])):
                fits += 1
            if fits > best[0]:
                best = (fits, start)
            if fits == len(part):
                break
        fits, start = best
        if fits < len(part):
            return part[fits], start + fits
        position = start + len(part)
        if index == 0 and last and position < len(printed):
            return None, position
    return None


class Tree:
    """A folder that looks like the source tree and its build, made of links."""

    def __init__(self, source, build, root):
        self.source, self.build, self.root = source, build, root
        self.link_all(source, root, leave={"build", ".git"})
        dev = root / "build/dev"
        dev.mkdir(parents=True)
        self.link_all(build, dev, leave={"bin", "test"})
        for name in ("bin", "test"):
            (dev / name).mkdir()
        self.link_all(build / "bin", dev / "bin")
        site = (build / "test/lit.site.cfg.py").read_text()
        (dev / "test/lit.site.cfg.py").write_text(
            site.replace(f'"{build}"', f'"{dev}"'))
        self.dev = dev
        self.changed = []

    @staticmethod
    def link_all(source, target, leave=()):
        for entry in source.iterdir():
            if entry.name not in leave:
                (target / entry.name).symlink_to(entry)

    def own(self, path):
        """Makes the file at `path` a copy, and the folders above it real."""
        for parent in reversed(path.parents[:-1]):
            here = self.root / parent
            if here.is_symlink():
                here.unlink()
                here.mkdir()
                self.link_all(self.source / parent, here)
        here = self.root / path
        here.unlink()
        shutil.copy(self.source / path, here)

    def apply(self, lines):
        paths = [Path(line[6:].strip()) for line in lines
                 if line.startswith("+++ b/")]
        for path in paths:
            self.own(path)
        subprocess.run(["git", "apply"], cwd=self.root,
                       check=True, input="\n".join(lines) + "\n", text=True)
        self.changed += paths

    def rebuild(self, tool):
        """Compiles the changed files and links `tool` with them. If there are
        none, the tool is that of the real build."""
        target = self.dev / "bin" / tool
        target.unlink()
        if not self.changed:
            target.symlink_to(self.build / "bin" / tool)
            return
        commands = json.loads((self.build / "compile_commands.json").read_text())
        link = subprocess.run(
            ["ninja", "-t", "commands", "-s", f"bin/{tool}"], cwd=self.build,
            check=True, capture_output=True, text=True).stdout.strip()
        for path in self.changed:
            entry = next(c for c in commands
                         if c["file"] == str(self.source / path))
            output = entry.get("output") or re.search(
                r" -o (\S+)", entry["command"]).group(1)
            copy = self.root / "build" / Path(output).name
            command = shlex.split(entry["command"])
            command[command.index("-o") + 1] = str(copy)
            command[-1] = str(self.root / path)
            subprocess.run(command, cwd=entry["directory"], check=True)
            # lib/Transforms/CMakeFiles/MMXTransforms.dir/Fuse.cpp.o
            library = re.search(r"CMakeFiles/(\w+)\.dir/", output).group(1)
            archive = f"lib/lib{library}.a"
            mine = self.root / "build" / Path(archive).name
            if not mine.exists():
                shutil.copy(self.build / archive, mine)
            archiver = re.search(r"CMAKE_AR:\w+=(.*)", (
                self.build / "CMakeCache.txt").read_text()).group(1)
            subprocess.run([archiver, "r", mine, copy], check=True,
                           stderr=subprocess.DEVNULL)
            link = link.replace(archive, str(mine))
        subprocess.run(link.replace(f"-o bin/{tool}", f"-o {target}"),
                       cwd=self.build, check=True, shell=True)

    def restore(self):
        for path in self.changed:
            (self.root / path).unlink()
            (self.root / path).symlink_to(self.source / path)
        self.changed.clear()


class Shell:
    """One bash for all commands of a page."""

    MARK = "-- end of command, status "

    def __init__(self, root):
        # The page says what PATH has to be, so that of the tests is not used.
        environment = dict(os.environ, LC_ALL="C.UTF-8", TERM="dumb")
        for name in [n for n in environment if n.startswith(("LIT_", "MMX_"))]:
            if name != "MMX_CACHE_DIR":
                del environment[name]
        self.process = subprocess.Popen(
            ["bash", "--norc", "--noprofile"], cwd=root, env=environment,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True)

    def run(self, command):
        """(status, printed lines)"""
        print(f"{{ {command}\n}} </dev/null 2>&1; printf '\\n{self.MARK}%d\\n' $?",
              file=self.process.stdin, flush=True)
        printed = []
        for line in self.process.stdout:
            if line.startswith(self.MARK):
                text = "".join(printed)[:-1]
                return (int(line[len(self.MARK):]),
                        text.rstrip("\n").split("\n") if text else [])
            printed.append(line)
        return self.process.wait(), ["the shell has ended"]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Checker:
    def __init__(self, page, source, build, root, verbose):
        self.page, self.verbose = page, verbose
        self.tree = Tree(source, build, root)
        self.shell = Shell(root)
        self.findings = 0
        self.commands = 0

    def report(self, line, message):
        print(f"{self.page}:{line}: {message}")
        self.findings += 1

    def run(self, command):
        words = command.split()
        if words[:3] == ["ninja", "-C", "build/dev"]:
            self.tree.rebuild(words[3])
            return 0, ["[1/1] Linking CXX executable bin/" + words[3]]
        if words[:2] == ["git", "checkout"]:
            self.tree.restore()
            return 0, ["Updated 1 path from the index"]
        return self.shell.run(command)

    def check_command(self, line, command, first, expected, status):
        self.commands += 1
        got, printed = self.run(command)
        if self.verbose:
            print(f"$ {command}", *printed, sep="\n")
        if got != status:
            tail = "".join("\n    " + text for text in printed[-10:])
            self.report(line, f"expected status {status} of `{command}`, but "
                              f"got {got}{tail}")
            return
        difference = compare(expected, printed)
        if not difference:
            return
        text, position = difference
        at = first + (len(expected) if text is None else expected.index(text))
        shown = f"'{text}'" if text is not None else "no more lines"
        got = f"'{printed[position]}'" if position < len(printed) else "nothing"
        self.report(at, f"expected {shown} of `{command}`, but got {got}")

    def check(self, page):
        for marker, first, lines in page.blocks:
            if marker.startswith("```diff"):
                self.tree.apply(lines)
                continue
            status = re.search(r"status=(\d+)", marker)
            status = int(status.group(1)) if status else 0
            commands = Page.split_commands(first, lines)
            for command in commands[:-1]:
                self.check_command(*command, status=0)
            for command in commands[-1:]:
                self.check_command(*command, status=status)
        self.shell.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="+", type=Path)
    parser.add_argument("--source", type=Path,
                        default=Path(__file__).resolve().parent.parent,
                        help="root of the source tree")
    parser.add_argument("--build", type=Path, help="default: SOURCE/build/dev")
    parser.add_argument("--verbose", action="store_true",
                        help="show all that is printed")
    arguments = parser.parse_args()
    source = arguments.source.resolve()
    build = (arguments.build or source / "build/dev").resolve()
    findings = commands = 0
    for path in arguments.pages:
        with tempfile.TemporaryDirectory(prefix="mmx-page-") as root:
            checker = Checker(path, source, build, Path(root),
                              arguments.verbose)
            checker.check(Page(path))
            findings += checker.findings
            commands += checker.commands
    print(f"{findings} findings in {commands} commands")
    return min(findings, 100)


if __name__ == "__main__":
    sys.exit(main())
