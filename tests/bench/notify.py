#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""From a crash in the kernel to user space awake with its alert: p50 and p99 over 200 crashes. Needs what tests/kernel builds."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "kernel"))
from frtest import TMP, program, session  # noqa: E402
from matrix import alerts  # noqa: E402

CRASHES, AT_A_TIME = 200, 50  # the alerts of so many fit the pipe that is read when they are over: a full one stops the reader


def crash_all(name, file):
    """Microseconds from each crash to its alert."""
    with alerts(name, "crash:comm=frb-crash") as a:
        for _ in range(AT_A_TIME):
            subprocess.run([file, "null"], cwd=TMP, stdout=subprocess.DEVNULL, check=False)
        return [e["latency_ns"] / 1000 for e in a.finish()[0] if e["comm"] == "frb-crash"]


with session("-p", "default") as session_name:
    file = program("frb-crash", "deaths")
    told = sorted(us for _ in range(CRASHES // AT_A_TIME) for us in crash_all(session_name, file))
print(f"crash to alert read, {len(told)} crashes: p50 {told[len(told) // 2]:.0f} us, p99 {told[len(told) * 99 // 100]:.0f} us, "
      f"worst {told[-1]:.0f} us")
