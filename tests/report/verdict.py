# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The verdict of `report --json`, as far as it can be checked on any snapshot: its times, and that whatever it names is in the rows. What
recognisers say, and of what they must say nothing, is the suite verdict's."""
import re

UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "min": 6e10, "h": 3.6e12}
TIME = r"(\d+(?:\.\d+)?) (ns|us|ms|s|min|h)\b"
NAME = r"(?<![\w/.:-])([\w.-]+)/(\d+)(?![\w/.:-])"
OTHER = {"mark_victim", "trigger", "processes", "states"}  # that no victim was chosen is a finding, too; what pulled the trigger is told by the file's facts


def lines_of(verdict):
    cause = verdict["cause"]
    return [verdict["headline"], *([cause] if cause else []), *verdict["chain"], *verdict["ruled_out"]]


def since(trigger):
    ts, value = trigger["ts"], trigger["value_ns"]
    if value and ts and value <= ts:
        return ts - value
    return ts if trigger["reason"] and ts and ts > 0 else None


def check_wait(c, text, waits):
    """A link of the chain: a task that waited, for so long."""
    m = re.match(NAME + r" waited " + TIME + r"(?! for a CPU)", text)
    if not m:
        return
    ns = float(m[3]) * UNITS[m[4]]
    c.equal(f"a wait of {m[0]}", any(abs(r["off"] - ns) <= ns * 0.006 for r in waits if r["tid"] == int(m[2])), True)


def check_hog(c, text, rows):
    """Who had a CPU for how long of how long: by the switches of that CPU."""
    m = re.search(NAME + r" had CPU (\d+) for " + TIME + r" of these " + TIME, text)
    if not m:
        return
    tid, cpu, ran, of = int(m[2]), int(m[3]), float(m[4]) * UNITS[m[5]], float(m[6]) * UNITS[m[7]]
    got, last = [], None
    for r in rows:
        if r["event"] != "sched_switch" or r["cpu"] != cpu:
            continue
        if last and last["next_pid"] == tid == r["tid"]:
            got.append((last["ts"], r["ts"]))
        last = r
    c.equal(f"time of {m[0]}", any(sum(max(0, min(b, w["ts"]) - max(a, w["ts"] - w["queued"])) for a, b in got) >= ran * 0.99
                                   for w in rows if w["event"] == "wait" and abs(w["queued"] - of) <= of * 0.006), True)


def check_verdict(c, rep, rows):
    """rows: all of the file."""
    verdict = rep["verdict"]
    c.equal("since when", verdict["since_ns"], since(rep["trigger"]))
    events, names = {r["event"] for r in rows} | OTHER, {(r["comm"], r["tid"]) for r in rows}
    tids = {tid for _, tid in names}
    waits = [r for r in rows if r["event"] == "wait"]
    for line in lines_of(verdict):
        text = line["text"]
        c.equal(f"events that `{text}` follows from", [e for e in filter(None, line["from"].split(", ")) if e not in events], [])
        c.equal(f"tasks in `{text}`", [x[0] for x in re.finditer(NAME, text) if int(x[2]) in tids and (x[1], int(x[2])) not in names], [])
        if "wait" in line["from"].split(", "):
            check_wait(c, text, waits)
            check_hog(c, text, rows)
    if verdict["cause"]:
        c.equal("a name of the cause", bool(re.fullmatch(r"[a-z_]+", verdict["cause"]["id"])), True)
    c.equal("nothing is ruled out of nothing", not verdict["ruled_out"] or bool(rep["trigger"]["reason"]), True)
