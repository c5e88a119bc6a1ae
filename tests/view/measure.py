# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""measure.py FILE.html: how long a page takes to load, to draw and to search in headless Chromium, and its memory. No test."""
import glob
import os
import sys
import time

sys.dont_write_bytecode = True
from browser import Browser, missing  # noqa: E402

# What is done, and what is waited for: the frame behind it.
DO = """const done = arguments[arguments.length - 1], t = performance.now();
%s;
const did = performance.now() - t;
requestAnimationFrame(() => requestAnimationFrame(() => done([did, performance.now() - t])));"""
STEPS = {
    "whole window": "flightrec.timeline.view(0, flightrec.data.span)",
    "a fifth": "flightrec.timeline.view(flightrec.data.span * 0.4, flightrec.data.span * 0.6)",
    "a thousandth": "flightrec.timeline.view(flightrec.data.span * 0.5, flightrec.data.span * 0.501)",
    "events": "flightrec.panel.open('events')",
    "back to the whole": "flightrec.timeline.view(0, flightrec.data.span)",
    "tasks": "flightrec.panel.open('tasks')",
    "latencies": "flightrec.panel.open('hist')",
    "flame graph": "flightrec.panel.open('flame')",
    "details": "flightrec.panel.open('detail')",
    "search openat": "flightrec.find('openat')",
    "search dd": "flightrec.find('dd')",
}

# Fifty steps to and fro, each drawn: ms each, and the longest.
PAN = """const t = flightrec.timeline, at = [], span = t.to - t.from, from = t.from;
for (let k = 0; k < 50; k++) {
    t.view(from + span * (k % 10 - 5) / 50, from + span * (k % 10 - 5) / 50 + span);
    const begun = performance.now();
    t.draw();
    at.push(performance.now() - begun);
}
t.view(from, from + span);
return [at.reduce((a, b) => a + b) / at.length, Math.max(...at)]"""


def pan(browser, what):
    mean, most = browser.run(PAN)
    print(f"panning {what}: {mean:.1f} ms a frame, {most:.1f} ms at most")


def page_costs(root):
    """Of the largest of a process's descendants, the page's: MiB at most, seconds of CPUs, which a busy machine does not change much."""
    kids, costs = {}, {}
    for path in glob.glob("/proc/[0-9]*/status"):
        try:
            with open(path) as f:
                said = dict(line.split(":", 1) for line in f)
            with open(path.replace("status", "stat")) as f:
                stat = f.read().rpartition(")")[2].split()
        except OSError:
            continue
        kids.setdefault(int(said["PPid"]), []).append(int(said["Pid"]))
        costs[int(said["Pid"])] = int(said.get("VmHWM", "0").split()[0]) // 1024, (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")
    todo, most = [root], (0, 0)
    while todo:
        pid = todo.pop()
        todo += kids.get(pid, [])
        most = max(most, costs.get(pid, (0, 0)))
    return most


def main():
    if missing():
        sys.exit(f"{missing()} is not installed")
    browser = Browser()
    try:
        begun = time.monotonic()
        said = browser.open(sys.argv[1], part=True)
        if said:
            sys.exit(said)
        shown, after = browser.run("return [flightrec.data.n, performance.now()]")
        mib, spent = page_costs(browser.driver.pid)
        print(f"shown after {after / 1000:.1f} s with {shown:,} events, {spent:.1f} s of CPUs, {mib} MiB")
        pan(browser, "while all is being read")
        if said := browser.whole():
            sys.exit(said)
        mib, spent = page_costs(browser.driver.pid)
        print(f"{browser.run('return flightrec.data.n'):,} events, loaded in {time.monotonic() - begun:.1f} s, {spent:.1f} s of CPUs, {mib} MiB")
        pan(browser, "around the trigger")
        browser.run("flightrec.fit()")
        pan(browser, "in the whole window")
        for name, script in STEPS.items():
            did, drawn = browser.run(DO % script, wait=True)
            print(f"{name:20} {did:8.0f} ms, drawn after {drawn:8.0f} ms")
        print(f"{page_costs(browser.driver.pid)[0]} MiB at most")
    finally:
        browser.close()


if __name__ == "__main__":
    main()
