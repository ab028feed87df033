# Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A chat that computes only what is new answers like one that computes the
whole conversation for every answer, drawing included. usage: chat-reuse.py
MODEL"""

import json
import subprocess
import sys
import tempfile

MESSAGES = ["In the beginning", "And what came then?", "Go on.", "Stop!"]
SAMPLING = ["-n", "12", "--temperature", "0.8", "--seed", "5", "--ignore-stop",
            "--json", "--progress", "none"]


def run(arguments, text=""):
    result = subprocess.run(["mmx-run", *arguments, *SAMPLING], input=text,
                            check=True, stdout=subprocess.PIPE, text=True)
    return [json.loads(line) for line in result.stdout.splitlines()]


events = run(["chat", sys.argv[1]], "\n".join(MESSAGES))
answers = [event for event in events if event["event"] == "answer"]
assert len(answers) == len(MESSAGES)
history = []
computed = 0
for message, answer in zip(MESSAGES, answers):
    history.append({"role": "user", "content": message})
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(history, file)
        file.flush()
        whole = run([sys.argv[1], "--chat", file.name])[-1]
    assert whole["ids"] == [answer["ids"]], (message, whole, answer)
    tokens = answer["reused_tokens"] + answer["prefilled_tokens"]
    assert whole["prompt_tokens"] == tokens, (whole, answer)
    # All that was there before: the prompt, and the answer but for its last id.
    assert answer["reused_tokens"] == computed, (answer, computed)
    computed = tokens + len(answer["ids"]) - 1
    history.append({"role": "assistant", "content": answer["text"]})
