# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Programs that die, and the functions that their frames lie in."""
import subprocess

from frtest import Skip, equal, run


class Names:
    """The functions of a program by address, as `nm` lists them with their sizes."""

    def __init__(self, file):
        rows = [line.split() for line in run("nm", "-S", "--defined-only", file).stdout.splitlines()]
        self.at = {r[3]: (int(r[0], 16), int(r[1], 16)) for r in rows if len(r) == 4 and r[2] in "tT"}

    def of(self, ip, base=0):
        """None: of another file, or of none."""
        return next((name for name, (start, size) in self.at.items() if start <= ip - base < start + size), None)


def die(*command):
    """Its pid, and what it said."""
    p = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    said = p.communicate()[0]
    if p.returncode == 77:
        raise Skip("only on x86_64")
    equal(p.returncode, -11, f"{command}: died of")
    return p.pid, said
