# Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A crash while passes run leaves a reproducer and says where. usage: crash.py
MODEL, one whose lowering takes a while; in an empty folder."""

import os
import signal
import subprocess
import sys
import time

# No pass is known to crash, so a signal from outside stands for one. It has to
# arrive between two lines of progress.
for delay in (0.1, 0.2, 0.4, 0.05, 0.8, 0.02):
    process = subprocess.Popen(
        ["mmx-compile", sys.argv[1], "--target", "h200", "-o", "model.mmx",
         "--progress=json"], stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        if '"stage":"lower"' in line:
            break
    time.sleep(delay)
    process.send_signal(signal.SIGSEGV)
    told = process.stderr.read()
    assert process.wait() == -signal.SIGSEGV, (process.returncode, told)
    assert not os.path.exists("model.mmx")
    if os.path.exists("mmx-reproducer.mlir"):
        break

expected = ("the compiler crashed; please report it with mmx-reproducer.mlir, "
            "which shows it again: mmx-opt --run-reproducer mmx-reproducer.mlir")
assert expected in told, told
# The passes that were to run, on what they were to run on: here all is well.
subprocess.run(["mmx-opt", "--run-reproducer", "mmx-reproducer.mlir", "-o",
                os.devnull], check=True)
