#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""From a crash in the kernel to user space awake with its alert: p50 and p99 over 200 crashes. Needs what tests/kernel builds."""
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "kernel"))
from frtest import TMP, helper, path, session  # noqa: E402
from matrix import alerts  # noqa: E402

CRASHES = 200

with session("-p", "default") as name, alerts(name, "crash:comm=frb-crash") as a:
    file = path("frb-crash")
    shutil.copy(helper("deaths"), file)
    for _ in range(CRASHES):
        subprocess.run([file, "null"], cwd=TMP, stdout=subprocess.DEVNULL, check=False)
    told = sorted(e["latency_ns"] / 1000 for e in a.finish()[0] if e["comm"] == "frb-crash")
print(f"crash to alert read, {len(told)} crashes: p50 {told[len(told) // 2]:.0f} us, p99 {told[len(told) * 99 // 100]:.0f} us, "
      f"worst {told[-1]:.0f} us")
