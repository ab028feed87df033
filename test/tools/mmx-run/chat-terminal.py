# Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A chat and answers on a terminal: prompts, ctrl-C and ctrl-D. usage:
chat-terminal.py MODEL"""

import os
import pty
import select
import sys
import tempfile
import termios
import time

CTRL_C, CTRL_D = b"\x03", b"\x04"
TIMEOUT = 60


class Chat:
    """mmx-run on a terminal of its own."""

    def __init__(self, *arguments):
        self.seen = b""
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.execvp("mmx-run", ["mmx-run", *arguments])
        self.modes = termios.tcgetattr(self.terminal)

    def type(self, keys):
        os.write(self.terminal, keys)

    def read(self):
        """More of what is shown; empty at the end."""
        ready, _, _ = select.select([self.terminal], [], [], TIMEOUT)
        assert ready, f"nothing came after {self.seen!r}"
        try:
            return os.read(self.terminal, 4096)
        except OSError:  # the other side is closed
            return b""

    def expect(self, text):
        """Waits until `text` is shown, and forgets all up to it."""
        while text not in self.seen:
            more = self.read()
            assert more, f"expected {text!r}, but got {self.seen!r}"
            self.seen += more
        before, self.seen = self.seen.split(text, 1)
        return before

    def expect_answer(self):
        """Waits for 200 bytes of an answer."""
        while len(self.seen) < 200:
            self.seen += self.read()

    def ends_with(self, status):
        modes = termios.tcgetattr(self.terminal)
        assert modes == self.modes, (modes, self.modes)
        while more := self.read():
            self.seen += more
        got = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        assert got == status, f"expected {status}, but got {got}: {self.seen!r}"
        os.close(self.terminal)
        return self.seen


model = sys.argv[1]
endless = ["--ignore-stop", "--ctx", "1000000", "--temperature", "1"]

# ctrl-D leaves; an empty line is no message.
chat = Chat("chat", model, "-n", "3")
chat.expect(b"/help lists commands\r\n> ")
chat.type(b"Hello\n")
chat.expect(b" 3 new, ")
chat.expect(b"> ")
chat.type(b"\n")
chat.expect(b"> ")
chat.type(b'"""one\n')
chat.expect(b". ")
chat.type(b'two"""\n')
chat.expect(b" 3 new, ")
chat.expect(b"> ")
chat.type(CTRL_D)
chat.ends_with(0)

# ctrl-C ends an answer only; what was made of it is kept. /exit leaves. A model
# without a prompt is the same as the command.
chat = Chat(model, *endless)
chat.expect(b"> ")
for _ in range(2):
    chat.type(b"Hello\n")
    chat.expect(b"Hello\r\n")
    chat.expect_answer()
    chat.type(CTRL_C)
    chat.expect(b" tokens reused, ")
    chat.expect(b"> ")
chat.type(b"/exit\n")
chat.ends_with(0)

# ctrl-C at the prompt leaves, and within a message of several lines.
for keys in (b"", b"half a line", b'"""\nfirst\n'):
    chat = Chat("chat", model, *endless)
    chat.expect(b"> ")
    chat.type(keys)
    time.sleep(0.1)
    chat.type(CTRL_C)
    chat.ends_with(130)

# A second ctrl-C leaves in the middle of an answer, even where the first cannot
# be taken yet: a long prompt is one step.
chat = Chat("chat", model, "--system", "and so on and on\n" * 4000, "--chunk",
            "100000", *endless)
chat.expect(b"> ")
chat.type(b"Hello\n")
chat.expect(b"Hello\r\n")
time.sleep(0.3)
chat.type(CTRL_C)
time.sleep(0.05)
chat.type(CTRL_C)
assert b"> " not in chat.ends_with(130)

# Without a chat ctrl-C ends the program: while it writes, and, in an empty cache,
# while a bar shows how far the compiler is.
answer = Chat(model, "-p", "Hello", "-n", "900000", "--progress", "none",
              *endless)
answer.expect_answer()
answer.type(CTRL_C)
answer.ends_with(130)
with tempfile.TemporaryDirectory() as cache:
    os.environ["MMX_CACHE_DIR"] = cache
    answer = Chat(model, "-p", "Hello", "-n", "900000", *endless)
    answer.expect(b"kernels")
    answer.type(CTRL_C)
    answer.ends_with(130)
    assert not [name for name in os.listdir(cache) if ".mmx" in name]
