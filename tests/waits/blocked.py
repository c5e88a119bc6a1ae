# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""blocked.py ROWS SINCE < FOLDED: is `profile --off-cpu --to folded` what the records say? ROWS: all of them, as replay --json prints them."""
import collections
import json
import re
import sys

NAMES = {230: "clock_nanosleep", 74: "fsync", 45: "recvfrom", 61: "wait4", 202: "futex", 7: "poll"}
UNITS = {"ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}


def main():
    with open(sys.argv[1]) as f:
        rows = [json.loads(line) for line in f]
    number, unit = re.fullmatch(r"(\d+)(\w+)", sys.argv[2]).groups()
    since = max(r["ts"] for r in rows) - int(number) * UNITS[unit]
    want, got = collections.Counter(), collections.Counter()
    for r in rows:
        if r["event"] == "wait" and r["ts"] >= since and r["blocked"]:
            frames = [hex(ip) for ip in [*(r["ustack"] or [])[::-1], *(r["kstack"] or [])[::-1]]]
            want[";".join([r["comm"], NAMES[r["id"]], *frames])] += r["blocked"]
    for line in sys.stdin:
        stack, ns = line.rsplit(" ", 1)
        got[stack] += int(ns)
    if not want or got != want:
        sys.exit(f"recorded: {dict(want)}\nprofile: {dict(got)}")


main()
