# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Waits until a guest's kernel has panicked, and makes QEMU write its memory as crash dumps, then end. Argument: its directory."""
import json
import os
import signal
import socket
import sys
import time

DIR = sys.argv[1]
LIMIT_S = 1500
FORMATS = {"vmcore.elf": "elf", "vmcore.flat": "kdump-zlib"}


def console():
    """What the kernel has said. QEMU makes this file and its monitor's socket in no order that it promises."""
    if not os.path.exists(os.path.join(DIR, "console")):
        return ""
    with open(os.path.join(DIR, "console"), errors="replace") as f:
        return f.read()


def wait_for(what, until):
    while not what():
        if time.monotonic() > until:
            sys.exit("the guest did not panic in time")
        time.sleep(0.2)


def ask(monitor, command, **arguments):
    """Have QEMU execute a command of its machine protocol; events that come meanwhile are not looked at."""
    monitor.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
    monitor.flush()
    for line in monitor:
        answer = json.loads(line)
        if "error" in answer:
            sys.exit(f"{command}: {answer['error']['desc']}")
        if "return" in answer:
            return
    sys.exit(f"{command}: QEMU has ended")


def main():
    until = time.monotonic() + LIMIT_S
    path = os.path.join(DIR, "monitor")
    wait_for(lambda: os.path.exists(path), until)
    wait_for(lambda: "end Kernel panic" in console(), until)
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(300)
        s.connect(path)
        with s.makefile("rw", encoding="utf-8") as monitor:
            monitor.readline()
            ask(monitor, "qmp_capabilities")
            for name, kind in FORMATS.items():
                ask(monitor, "dump-guest-memory", paging=False, protocol=f"file:{os.path.join(DIR, name)}", format=kind)
            ask(monitor, "quit")


try:
    main()
except BaseException:  # nobody else ends the guest
    with open(os.path.join(DIR, "pid")) as f:
        os.kill(int(f.read()), signal.SIGTERM)
    raise
