# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
The session with little room for calls, and less for lives: what told a name is overwritten in it. Whoever asks for it first begins some
tasks before it, so that there are some of which it saw no beginning.
"""
import subprocess

from frtest import OURS, helper, shared

LAPPED = (*OURS, "-m", "4M", "--tier", "life=64K", "--clock", "global", "--clock", "local")
BEFORE = {}  # tasks that are there before it begins: name: process


def begin_waiting(name):
    """A task of that name that lives until its standard input is closed, and then makes a few system calls."""
    p = subprocess.Popen([helper("names"), "wait", name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    p.stdout.readline()
    return p


def lapped():
    """The session's name."""
    if not BEFORE:
        for name in "frt-long-ago", "frt-before":
            BEFORE[name] = begin_waiting(name)
        BEFORE["frt-ending"] = subprocess.Popen([helper("ending"), "frt-ending"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        BEFORE["frt-ending"].tid = int(BEFORE["frt-ending"].stdout.readline() or 0)
    return shared(*LAPPED)
