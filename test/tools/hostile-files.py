# Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""No file makes a tool wait, crash or lose what it wrote: pipes and folders in
the place of files, files that may not be read, a full disk, and an interrupt.
usage: hostile-files.py GOLDEN MODELS; prints a line for every case that went
wrong and exits 1."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

golden = os.path.join(sys.argv[1], "hf-tiny")
bad = []


def expect(what, command, status, message, stdout=subprocess.PIPE):
    try:
        result = subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE,
                                text=True, timeout=60)
    except subprocess.TimeoutExpired:
        bad.append(f"{what}: did not end")
        return
    if result.returncode not in status or message not in result.stderr:
        bad.append(f"{what}: status {result.returncode}, {result.stderr!r}")


def special(folder, name, kind):
    """A copy of the checkpoint in which `name` is a pipe or a folder."""
    copy = os.path.join(folder, f"{kind}-{name}")
    shutil.copytree(golden, copy)
    path = os.path.join(copy, name)
    if os.path.exists(path):
        os.remove(path)
    os.mkfifo(path) if kind == "pipe" else os.mkdir(path)
    return copy


def check_special_files(folder):
    ids = ["--ids", "1", "-n", "1", "--progress", "none"]
    for kind in ("pipe", "folder"):
        for name in ("config.json", "model.safetensors", "generation_config.json",
                     "model.safetensors.index.json"):
            model = special(folder, name, kind)
            what = f"{kind} for {name}"
            expect(what + ", compile", ["mmx-compile", model, "-o",
                                        os.path.join(folder, "a.mmx")],
                   (1,), "expected a regular file")
            expect(what + ", run", ["mmx-run", model, *ids], (2,),
                   "expected a regular file")
        model = special(folder, "tokenizer.json", kind)
        expect(f"{kind} for a tokenizer",
               ["mmx-run", model, "--prompt", "a", "--progress", "none"], (2,),
               "expected a regular file")
        model = special(folder, "golden.safetensors", kind)
        expect(f"{kind} for golden answers", ["mmx-run", "verify", model], (2,),
               "expected a regular file")
        model = os.path.join(folder, f"{kind}-config.json")
        expect(f"{kind} for a config in a plan",
               ["mmx-run", "plan", model, "--target", "h20", "--ctx", "64"],
               (2,), "expected a regular file")
    pipe = os.path.join(folder, "p.mmx")
    os.mkfifo(pipe)
    expect("pipe for a package", ["mmx-run", pipe, *ids], (2,),
           "expected a regular file")
    tiny = os.path.join(sys.argv[2], "tiny")
    for command in (["mmx-run", tiny, "--prompt-file", pipe],
                    ["mmx-run", tiny, "--chat", pipe],
                    ["mmx-run", "niah", tiny, "--haystack", pipe],
                    ["mmx-run", "verify", golden, "--golden", pipe]):
        expect(f"pipe for {command[-2]}", [*command, "--progress", "none"], (2,),
               "expected a regular file")
    expect("pipe inspected", ["mmx-run", "inspect", pipe], (2,),
           "expected a regular file")


def check_unreadable(folder):
    # Root may read everything, unless it gives up that right.
    drop = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] \
        if os.geteuid() == 0 else []
    ids = ["--ids", "1", "-n", "1", "--progress", "none"]
    package = os.path.join(folder, "unreadable.mmx")
    subprocess.run(["mmx-compile", golden, "-o", package], check=True)
    copy = os.path.join(folder, "unreadable")
    shutil.copytree(golden, copy)
    for name, run in (("model.safetensors", [package, "--weights", copy]),
                      ("config.json", [copy]),
                      ("unreadable.mmx", [package, "--weights", golden])):
        path = os.path.join(folder if name.endswith("mmx") else copy, name)
        mode = os.stat(path).st_mode
        os.chmod(path, 0)
        expect(f"unreadable {name}", [*drop, "mmx-run", *run, *ids], (2,),
               f"{name}: cannot open: Permission denied")
        if not name.endswith("mmx"):
            expect(f"unreadable {name}, compile",
                   [*drop, "mmx-compile", copy, "-o", "/dev/null"], (1,),
                   f"{name}: cannot be read: Permission denied")
        os.chmod(path, mode)


def check_full_disk():
    ids = ["--ids", "1", "-n", "1", "--progress", "none"]
    expect("package on a full disk",
           ["mmx-compile", golden, "-o", "/dev/full"], (1,),
           "No space left on device")
    for command in (["mmx-run", golden, *ids],
                    ["mmx-run", golden, *ids, "--json"],
                    ["mmx-run", "verify", golden, "--progress", "none"],
                    ["mmx-run", "plan", golden, "--target", "h20", "--ctx",
                     "64"]):
        with open("/dev/full", "w") as full:
            expect("answer on a full disk", command, (2,),
                   "cannot write the answer", stdout=full)
    with open("/dev/full", "w") as full:
        expect("program on a full disk", ["mmx-compile", golden, "--emit", "mmx"],
               (1,), "No space left on device", stdout=full)
    expect("timeline on a full disk", ["mmx-run", golden, *ids, "--trace",
                                       "/dev/full"], (2,), "/dev/full: cannot")
    expect("routing on a full disk",
           ["mmx-run", "verify", golden, "--dtype", "bf16", "--progress", "none",
            "--save-routing", "/dev/full"], (2,), "/dev/full: cannot")


def check_interrupt():
    process = subprocess.Popen(
        ["mmx-run", golden, "--ids", "1", "-n", "100000", "--ignore-stop",
         "--ctx", "100001", "--progress", "none"], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE)
    process.stdout.read(1)
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    try:
        status = process.wait(timeout=20)
    except subprocess.TimeoutExpired:
        process.kill()
        status = "none"
    if status != 130:
        bad.append(f"interrupt: expected status 130, but got {status}: "
                   f"{process.stderr.read()!r}")


with tempfile.TemporaryDirectory() as scratch:
    check_special_files(scratch)
    check_unreadable(scratch)
check_full_disk()
check_interrupt()
print("\n".join(bad) or "all cases are refused")
sys.exit(1 if bad else 0)
