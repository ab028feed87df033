# Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The stages of a run add up to the time that its process took, within 2 % and
the 20 ms that a process takes to start and end. The cache is cold, so that the
run is long enough to tell. The best of three, as others use the machine too."""

import json
import os
import subprocess
import sys
import tempfile
import time

gaps = []
for _ in range(3):
    with tempfile.TemporaryDirectory() as cache:
        begin = time.monotonic()
        result = subprocess.run(
            ["mmx-run", sys.argv[1], "--ids", "1,2,3", "-n", "64", "--json",
             "--ignore-stop", "--progress", "none"],
            check=True, stdout=subprocess.PIPE,
            env=os.environ | {"MMX_CACHE_DIR": cache})
        wall = time.monotonic() - begin
    total = sum(json.loads(result.stdout.splitlines()[-1])["stages"].values())
    assert total <= wall, (total, wall)
    gaps.append((wall - total - 0.02) / wall)
    if gaps[-1] <= 0.02:
        break
assert min(gaps) <= 0.02, gaps
