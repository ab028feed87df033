# Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A reader of --json sees an id before the next ones are made: of a run that
would take hours it gets the first ones. usage: events-arrive.py MODEL"""

import json
import signal
import subprocess
import sys

process = subprocess.Popen(
    ["mmx-run", sys.argv[1], "--ids", "1,2,3", "-n", "100000", "--ignore-stop",
     "--json", "--progress", "none"], stdout=subprocess.PIPE, text=True)
events = [json.loads(process.stdout.readline()) for _ in range(10)]
assert process.poll() is None, "the run is over"
process.send_signal(signal.SIGINT)
assert [event["position"] for event in events] == list(range(3, 13)), events
for _ in process.stdout:
    pass
assert process.wait(timeout=60) == 130
