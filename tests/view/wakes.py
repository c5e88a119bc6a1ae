#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""wakes.py FILE MODEL: the arrows of a page (MODEL: what model.mjs says of it) are the wakings of `replay --json` that a task did."""
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "report"))
from waits import WAKERS, Wakers  # noqa: E402

FLIGHTREC = os.environ.get("FLIGHTREC", "build/flightrec")
BEGINS = {"irq_handler_entry": ("irq_handler_exit", "irq"), "softirq_entry": ("softirq_exit", "vec")}
ENDS = {end: begin for begin, (end, _) in BEGINS.items()}


def handlers(rows, holes):
    """Of each CPU: the times in handlers, (from, to), whose begin and end are there, and no hole in between."""
    found, begun = {}, {}
    for r in rows:
        kind = r["event"] if r["event"] in BEGINS else ENDS.get(r["event"])
        if not kind:
            continue
        key = r["cpu"], kind, r[BEGINS[kind][1]]
        if r["event"] == kind:
            begun[key] = r["ts"]
        elif key in begun:
            since = begun.pop(key)
            if not any(cpu == r["cpu"] and since <= at < r["ts"] for cpu, at in holes):
                found.setdefault(r["cpu"], []).append((since, r["ts"]))
    return found


def main(file, model):
    with open(model) as f:
        page = json.load(f)
    rows = [json.loads(line) for line in subprocess.run([FLIGHTREC, "replay", "--json", file], stdout=subprocess.PIPE, check=True).stdout.splitlines()]
    said = Wakers(rows)
    origin = int(page["origin"])
    spans = handlers(rows, [(h["cpu"], h["since"] + origin) for h in page["holes"]])
    want = []
    for r in rows:
        if r["event"] not in ("sched_waking", "sched_wakeup_new"):
            continue
        how = said.find(r["target_pid"], r["ts"])
        word = WAKERS.index("task") if r["event"] == "sched_wakeup_new" else r["waker"]
        beside = any(a <= r["ts"] < b for a, b in spans.get(r["cpu"], ()))
        if how == "task" if how else word == WAKERS.index("task") and not beside:
            want.append([r["ts"] - origin, r["tid"], r["target_pid"]])
    if sorted(want) != sorted(page["wakes"]):
        wrong = [w for w in want if w not in page["wakes"]][:3], [w for w in page["wakes"] if w not in want][:3]
        sys.exit(f"{len(page['wakes'])} arrows, {len(want)} wakings by tasks; not there, and wrong: {wrong}")
    print(f"{len(want)} wakings of {sum(r['event'] == 'sched_waking' for r in rows)} by tasks")


main(*sys.argv[1:])
