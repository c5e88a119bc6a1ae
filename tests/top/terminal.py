# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A terminal for tests: runs a program in a pty, and keeps the screen that its output makes.

Knows what ncurses sends to xterm-256color, linux and vt100, and no more: what it does not know raises an error.
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from cases import LIMIT_S  # noqa: E402

SEQUENCE = re.compile(r"\x1b(?:\[([?>!]?)([0-9;:]*)([@-~])|([()])(.)|([=>78DMHEc])|\][^\x07\x1b]*(?:\x07|\x1b\\))")


class Screen:
    def __init__(self, width, height):
        self.modes, self.colors, self.reverse, self.pending = set(), set(), False, ""
        self.acs = False
        self.saved = (0, 0)
        self.resize(width, height)

    def resize(self, width, height):
        self.width, self.height = width, height
        self.x = self.y = 0
        self.top, self.bottom = 0, height - 1
        self.cells = [[" "] * width for _ in range(height)]
        self.marks = [[False] * width for _ in range(height)]
        self.wrap = False

    def lines(self):
        return ["".join(row).rstrip() for row in self.cells]

    def text(self):
        return "\n".join(self.lines())

    def feed(self, text):
        text, self.pending = self.pending + text, ""
        at = 0
        while at < len(text):
            c = text[at]
            if c == "\x1b":
                m = SEQUENCE.match(text, at)
                if not m:
                    if len(text) - at > 64:
                        raise AssertionError(f"unknown sequence {text[at:at + 20]!r}")
                    self.pending = text[at:]
                    return
                self.sequence(m)
                at = m.end()
                continue
            self.character(c)
            at += 1

    def scroll(self, lines, at=None):
        at = self.top if at is None else at
        for grid, blank in ((self.cells, " "), (self.marks, False)):
            for _ in range(abs(lines)):
                if lines > 0:
                    del grid[at]
                    grid.insert(self.bottom, [blank] * self.width)
                else:
                    del grid[self.bottom]
                    grid.insert(at, [blank] * self.width)

    def character(self, c):
        if c == "\r":
            self.x, self.wrap = 0, False
        elif c == "\n":
            if self.y == self.bottom:
                self.scroll(1)
            else:
                self.y = min(self.y + 1, self.height - 1)
        elif c == "\b":
            self.x, self.wrap = max(0, self.x - 1), False
        elif c == "\t":
            self.x = min(self.width - 1, self.x // 8 * 8 + 8)
        elif c in "\x0e\x0f":
            self.acs = c == "\x0e"
        elif c >= " ":
            if self.wrap:
                self.x, self.wrap = 0, False
                if self.y == self.bottom:
                    self.scroll(1)
                else:
                    self.y += 1
            self.cells[self.y][self.x] = self.last = c
            self.marks[self.y][self.x] = self.reverse
            if self.x == self.width - 1:
                self.wrap = True
            else:
                self.x += 1
        elif c not in "\x00\x07":
            raise AssertionError(f"control character {c!r} on the screen")

    def clear(self, y, x0, x1):
        for x in range(max(0, x0), min(x1, self.width)):
            self.cells[y][x], self.marks[y][x] = " ", False

    def sequence(self, m):
        private, params, final, _, _, short = m.groups()
        if final is None:
            if short == "M":
                if self.y == self.top:
                    self.scroll(-1)
                else:
                    self.y -= 1
            elif short == "D":
                self.character("\n")
            elif short == "7":
                self.saved = (self.x, self.y)
            elif short == "8":
                self.x, self.y = self.saved
            return
        p = [int(v) if v else 0 for v in params.split(";")] if ":" not in params else [0]
        n = p[0] or 1
        self.wrap = False
        if final in "hl":
            for v in p:
                (self.modes.add if final == "h" else self.modes.discard)(private + str(v))
        elif private:
            pass
        elif final in "Hf":
            self.y, self.x = min(n, self.height) - 1, min((p[1] or 1) if len(p) > 1 else 1, self.width) - 1
        elif final == "A":
            self.y = max(self.y - n, 0)
        elif final == "B":
            self.y = min(self.y + n, self.height - 1)
        elif final == "C":
            self.x = min(self.x + n, self.width - 1)
        elif final == "D":
            self.x = max(self.x - n, 0)
        elif final == "G":
            self.x = min(n, self.width) - 1
        elif final == "d":
            self.y = min(n, self.height) - 1
        elif final == "K":
            self.clear(self.y, 0 if p[0] else self.x, self.x + 1 if p[0] == 1 else self.width)
        elif final == "J":
            self.erase(p[0])
        elif final == "X":
            self.clear(self.y, self.x, self.x + n)
        elif final == "P":
            for grid, blank in ((self.cells, " "), (self.marks, False)):
                grid[self.y] = (grid[self.y][:self.x] + grid[self.y][self.x + n:] + [blank] * n)[:self.width]
        elif final == "@":
            for grid, blank in ((self.cells, " "), (self.marks, False)):
                grid[self.y] = (grid[self.y][:self.x] + [blank] * n + grid[self.y][self.x:])[:self.width]
        elif final == "L":
            self.scroll(-min(n, self.bottom - self.y + 1), self.y)
        elif final == "M":
            self.scroll(min(n, self.bottom - self.y + 1), self.y)
        elif final == "S":
            self.scroll(n)
        elif final == "T":
            self.scroll(-n)
        elif final == "b":
            for _ in range(n):
                self.character(self.last)
        elif final == "r":
            self.top, self.bottom = n - 1, (p[1] if len(p) > 1 and p[1] else self.height) - 1
            self.x = self.y = 0
        elif final == "m":
            self.attributes(p)
        elif final not in "tcn":
            raise AssertionError(f"unknown sequence {m.group()!r}")

    def erase(self, how):
        for y in range(self.height):
            if how == 2 or (how == 0 and y > self.y) or (how == 1 and y < self.y):
                self.clear(y, 0, self.width)
        if how < 2:
            self.clear(self.y, 0 if how else self.x, self.x + 1 if how else self.width)

    def attributes(self, p):
        i = 0
        while i < len(p):
            if p[i] in (38, 48):
                self.colors.add((p[i], p[i + 2]))
                i += 3
                continue
            if p[i] in (0, 27):
                self.reverse = False
            elif p[i] == 7:
                self.reverse = True
            elif 30 <= p[i] <= 37 or 40 <= p[i] <= 47:
                self.colors.add((p[i], None))
            i += 1


class Terminal:
    """A program on a terminal of its own: keys go in, the screen is what came out."""

    def __init__(self, *args, width=100, height=30, term="xterm-256color", utf8=True, env=()):
        self.screen = Screen(width, height)
        self.master, self.slave = pty.openpty()
        self.set_size(width, height)
        self.before = termios.tcgetattr(self.slave)
        keep = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLORFGBG", "COLUMNS", "LINES", "TERMINFO")}
        keep.update(TERM=term, LC_ALL="C.UTF-8" if utf8 else "C", **dict(env))
        self.errors = os.memfd_create("errors")
        self.process = subprocess.Popen(args, stdin=self.slave, stdout=self.slave, stderr=self.errors, env=keep, preexec_fn=self.own)
        self.utf8 = utf8
        self.rest = b""

    def own(self):
        """A terminal of its own, and signals as a login has them: who runs tests in the background ignores some."""
        for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def set_size(self, width, height):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))

    def resize(self, width, height):
        self.screen.resize(width, height)
        self.set_size(width, height)

    def read(self, seconds):
        if not select.select([self.master], [], [], seconds)[0]:
            return False
        try:
            data = self.rest + os.read(self.master, 65536)
        except OSError:
            return False
        text, self.rest = data, b""
        for cut in range(4):  # a character may come in two parts
            try:
                text = data[:len(data) - cut].decode("utf-8" if self.utf8 else "ascii")
                self.rest = data[len(data) - cut:]
                break
            except UnicodeDecodeError:
                if cut == 3:
                    raise
        self.screen.feed(text)
        return True

    def wait(self, what, is_so):
        """Until is_so(text of the screen), which is given back."""
        end = time.monotonic() + LIMIT_S
        while True:
            while self.read(0):
                pass
            if is_so(self.screen.text()):
                return self.screen.text()
            if self.process.poll() is not None:
                raise AssertionError(f"{what}: it ended with {self.process.returncode}: {self.said()}\n{self.screen.text()}")
            if time.monotonic() > end:
                raise AssertionError(f"not on the screen: {what}\n{self.screen.text()}")
            self.read(0.2)

    def key(self, *keys):
        for k in keys:
            os.write(self.master, k.encode())

    def said(self):
        return os.pread(self.errors, 65536, 0).decode(errors="replace")

    def end(self):
        """Wait for its end: the exit status, negative if a signal was it; all output has been read."""
        end = time.monotonic() + LIMIT_S
        while self.process.poll() is None and time.monotonic() < end:
            self.read(0.05)
        if self.process.poll() is None:
            raise AssertionError(f"it does not end\n{self.screen.text()}")
        while self.read(0):
            pass
        return self.process.returncode

    def is_restored(self):
        return termios.tcgetattr(self.slave) == self.before and "?1049" not in self.screen.modes and "?1000" not in self.screen.modes

    def close(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        for fd in (self.master, self.slave, self.errors):
            os.close(fd)

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        self.close()
