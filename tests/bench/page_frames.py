# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""page_frames.py FILE.html...: what a frame of a page costs while it is panned and zoomed, in headless Chromium. No test.

Each place is panned to and fro, one step a frame, as fast as the browser asks for frames. Of each step: ms of script until it is drawn
(and the panel filled, where one is open), ms from frame to frame. Several pages (of one snapshot, by two builds) take turns, and the second
is told as a ratio to the first, so that what else the machine does meets both.
"""
import os
import statistics
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "view"))
from browser import Browser, missing  # noqa: E402
from measure import page_costs  # noqa: E402

ROUNDS = int(os.environ.get("ROUNDS", "3"))
STEPS = int(os.environ.get("STEPS", "40"))
SECOND, MS = 1e9, 1e6

# What is set up before a place is panned, and undone behind it.
MODES = {
    "": ("", ""),
    "threads": ("tl.foldAll()", "tl.foldAll()"),
    "a task": ("app.selectTask(app.model.order[0].tid)", "app.select(null)"),
    "flame": ("app.panel.open('flame')", "app.panel.open('detail')"),
    "tasks": ("app.panel.open('tasks')", "app.panel.open('detail')"),
}

# The densest and the sparsest stretch of a length: [from, to] each.
PLACES = """const d = flightrec.data, len = arguments[0], at = [0, 0], far = d.span - len;
    if (far <= 0) return [[0, d.span]];
    let most = -1, least = Infinity;
    for (let k = 0; k <= 200; k++) {
        const t = far * k / 200, n = lower(d.ts, t + len) - lower(d.ts, t);
        if (n > most) [most, at[0]] = [n, t];
        if (n && n < least) [least, at[1]] = [n, t];
    }
    return at.map(t => [t, t + len]);"""

FRAMES = """const done = arguments[arguments.length - 1], [from, to, steps, zooms] = arguments, app = flightrec, tl = app.timeline, span = to - from;
    const took = [], gaps = [];
    let last, spent = 0;
    const draw = tl.draw;
    tl.draw = () => { const t = performance.now(); draw.call(tl); spent += performance.now() - t; };
    (function frame(k) {
        requestAnimationFrame(at => {
            if (last !== undefined) { gaps.push(at - last); took.push(spent); }
            last = at;
            spent = 0;
            if (k === steps) { delete tl.draw; done([took.slice(1), gaps.slice(1)]); return; }
            const t = performance.now(), by = span * (k % 20 - 10) / 200, f = zooms ? 1.1 ** (k % 20 - 10) : 1, mid = (from + to) / 2;
            tl.view(mid + by - span * f / 2, mid + by + span * f / 2);
            spent += performance.now() - t;
            frame(k + 1);
        });
    })(0);"""


def measure(browser, places):
    """{place and mode: (median ms of script, p95, median frame, p95)}."""
    got = {}
    js = browser.run
    for place, (from_, to) in places.items():
        for mode, (before, after) in MODES.items():
            js(f"const app = flightrec, tl = app.timeline; tl.view({from_}, {to}); {before}")
            browser.frame()
            for zooms in (False, True) if not mode else (False,):
                took, gaps = browser.run(FRAMES, from_, to, STEPS, zooms, wait=True)
                name = f"{place}{', ' + mode if mode else ''}{', zoom' if zooms else ''}"
                got[name] = [sorted(x)[int(len(x) * q)] for x in (took, gaps) for q in (0.5, 0.95)]
            js(f"const app = flightrec, tl = app.timeline; {after}")
    return got


def main():
    if missing():
        sys.exit(f"{missing()} is not installed")
    files, all_of = sys.argv[1:], []
    browsers = [Browser(width=int(os.environ.get("WIDTH", "1400"))) for _ in files]
    try:
        for b, f in zip(browsers, files):
            if said := b.open(f):
                sys.exit(said)
            print(f"{f}: {b.run('return flightrec.data.n'):,} events, {page_costs(b.driver.pid)[0]} MiB", flush=True)
        places = {"whole": [0, browsers[0].run("return flightrec.data.span")]}
        for name, ns in ("1 s", SECOND), ("50 ms", 50 * MS), ("1 ms", MS):
            for kind, place in zip(("dense", "sparse"), browsers[0].run(PLACES, ns)):
                places[f"{name} {kind}"] = place
        for _ in range(ROUNDS):
            all_of.append([measure(b, places) for b in browsers])
    finally:
        for b in browsers:
            b.close()
    print(f"{'':34}" + "".join(f"{'script ms':>10}{'p95':>7}{'frame':>7}{'p95':>7}" for _ in files) + ("   ratio" if len(files) > 1 else ""))
    for name in all_of[0][0]:
        rows = [[statistics.median(one[f][name][k] for one in all_of) for k in range(4)] for f in range(len(files))]
        ratio = f"{rows[1][0] / max(rows[0][0], 1e-3):8.2f}" if len(files) > 1 else ""
        print(f"{name:34}" + "".join(f"{r[0]:10.1f}{r[1]:7.1f}{r[2]:7.1f}{r[3]:7.1f}" for r in rows) + ratio)


if __name__ == "__main__":
    main()
