# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""diff: counts, latencies and blocked time of two recordings."""
import json
import subprocess
import sys

from commands import cut, dir, flightrec, golden, info, parsed, rows, run


def diff_counts():
    d = json.loads(run("diff", "--json", "a.flight", "c.flight").stdout)
    for side, path in ("a", "a.flight"), ("b", "c.flight"):
        s = d[side]
        assert s["complete"] and s["begin_ns"] == info(path)["horizon_ns"]
        events = [e for e in map(parsed, rows(path)) if e["pos"]["tier"] != "stack" and e["ts"] >= s["begin_ns"]]
        counts, exits, errors = {}, {}, {}
        for e in events:
            counts[e["event"]] = counts.get(e["event"], 0) + 1
            if e["event"] == "sys_exit":
                name = {0: "read", 257: "openat"}[e["id"]]
                exits[name] = exits.get(name, 0) + 1
                errors[name] = errors.get(name, 0) + (e["ret"] < 0)
        assert s["events"] == len(events) and s["end_ns"] == events[-1]["ts"]
        assert {i["name"]: i[side]["count"] for i in d["events"] if i[side]["count"]} == counts
        assert {i["name"]: i[side]["count"] for i in d["syscalls"]} == exits
        assert {i["name"]: i[side]["errors"] for i in d["syscalls"]} == errors
        # some task has each CPU from the window's beginning to its end
        assert sum(i[side]["ns"] for i in d["cpu"]) == 2 * (s["end_ns"] - s["begin_ns"])
    rate = lambda i, side: i[side]["count"] / (d[side]["end_ns"] - d[side]["begin_ns"])
    changes = [abs(rate(i, "a") - rate(i, "b")) for i in d["events"]]
    assert all(x >= y - 1e-15 for x, y in zip(changes, changes[1:])), "what changed most comes first"


def diff_blocks():
    """Requests have the names and counts that report has: "FWS" is a write."""
    d = json.loads(run("diff", "--json", "tasks.flight", "tasks.flight").stdout)["block"]
    report = json.loads(run("report", "--json", "tasks.flight").stdout)["block"]
    assert {b["name"]: b["a"]["count"] for b in d} == {
        f"{b['dev'] >> 20},{b['dev'] & 0xfffff} {b['rw']} {b['layer']}": b["ends"] for b in report}
    assert {b["name"].split()[1] for b in d} == set("WRF")


def diff_latencies():
    """How long a call took that ends: the time since the same task began it."""
    d = json.loads(run("diff", "--json", "--window-a", "60%..80%", "--window-b", "80%..100%", "c.flight").stdout)
    for side in "a", "b":
        begun, took = {}, {"read": [], "openat": []}
        for e in map(parsed, rows("c.flight")):
            if e["event"] == "sys_enter":
                begun[e["tid"]] = e
            elif e["event"] == "sys_exit" and e["tid"] in begun:
                ns = e["ts"] - begun.pop(e["tid"])["ts"]
                if d[side]["begin_ns"] <= e["ts"] <= d[side]["end_ns"]:
                    took[{0: "read", 257: "openat"}[e["id"]]].append(ns)
        for i in d["syscalls"]:
            t = sorted(took[i["name"]])
            assert t and (i[side]["timed"], i[side]["ns"], i[side]["max_ns"]) == (len(t), sum(t), t[-1]), (i, len(t), sum(t))
            p99 = t[-(-len(t) * 99 // 100) - 1]
            assert p99 <= i[side]["p99_ns"] <= p99 * 33 // 32 + 1


def diff_cuts():
    """If other tasks' events were cut away, nobody is said to have run in the time when those may have run."""
    whole = {i["name"]: i["a"]["ns"] for i in json.loads(run("diff", "--json", "a.flight", "a.flight").stdout)["cpu"]}
    cut("a.flight", "--pid", "102")
    d = json.loads(run("diff", "--json", "a.flight", "out.flight").stdout)
    assert whole and d["b"]["events"] > 0
    assert all(i["b"]["ns"] <= whole[i["name"]] for i in d["cpu"]), (d["cpu"], whole)
    assert {i["name"] for i in d["cpu"] if i["b"]["ns"]} <= {"old-2"}, d["cpu"]


def diff_empty_windows():
    """A window outside of the file has no length, so nothing happens in it, at no rate: that is said."""
    for window in "5h..", "..0ms":
        d = json.loads(run("diff", "--json", "--window-a", window, "a.flight", "c.flight").stdout)
        assert d["a"]["begin_ns"] == d["a"]["end_ns"] and not d["a"]["complete"] and d["b"]["complete"], d["a"]
        text = run("diff", "--window-a", window, "a.flight", "c.flight").stdout.decode()
        assert text.count("not complete: this window has no length") == 1, text
    d = json.loads(run("diff", "--json", "--window-a", "90%..", "a.flight", "c.flight").stdout)
    assert d["a"]["begin_ns"] < d["a"]["end_ns"] and d["a"]["complete"], d["a"]


def diff_text():
    text = run("diff", "a.flight", "c.flight").stdout.decode()
    assert "\x1b" not in text and "System calls" in text and "openat" in text and "old-1" in text
    wide = subprocess.run([flightrec, "diff", "a.flight", "c.flight"], cwd=dir, env={"COLUMNS": "72"}, capture_output=True).stdout
    assert max(map(len, wide.decode().split("failed")[0].split("\n"))) <= 80
    top = run("diff", "--top", "1", "a.flight", "c.flight").stdout.decode()
    assert len(top.split("\n")) < len(text.split("\n"))
    run("diff", want=2)
    run("diff", "--last", "1s", "a.flight", "b.flight", want=2)
    alone = run("diff", "a.flight", want=1)  # compared with its own profile, which it does not have
    assert b"no profile in a.flight" in alone.stderr, alone.stderr
    everything = run("diff", "--top", "0", "a.flight", "c.flight").stdout
    assert everything == run("diff", "--top", "1000000", "a.flight", "c.flight").stdout and len(everything) > len(top)
    run("diff", "--top", "0", "--last", "1m", golden)
    for wrong in "-1", "x", "", "1000001":
        run("diff", "--top", wrong, "a.flight", "b.flight", want=2)
    run("diff", "--window-a", "x", "a.flight", want=2)
    same = json.loads(run("diff", "--json", "-f", "event == sys_exit", "a.flight", "a.flight").stdout)
    assert all(i["a"] == i["b"] for kind in ("events", "syscalls") for i in same[kind]) and len(same["events"]) == 1


def diff_unrecorded():
    """What a side does not record is neither new nor gone: that is said, and nothing else of it."""
    d = json.loads(run("diff", "--json", "tasks.flight", "a.flight").stdout)
    unrecorded = d["a"]["unrecorded"].split(",")
    assert {"cpu_sample", "task_rename", "page_fault_user"} <= set(unrecorded) and not d["b"]["unrecorded"], d["a"]
    here = {i["name"]: i["a"] for i in d["events"]}
    assert here["cpu_sample"] is None and here["sched_switch"]["count"] > 0, here
    assert {name for name in here if here[name] is None} == set(here) & set(unrecorded), here
    text = run("diff", "--top", "0", "tasks.flight", "a.flight").stdout.decode()
    missing = [line.split(": ")[1].split(", ") for line in text.splitlines() if line.startswith("   not recorded: ")]
    assert len(missing) == 1 and set(missing[0]) == {"cpu_sample", "task_rename"}, missing
    change = {line.split()[0]: line.split()[3] for line in text.split("\n\n")[1].splitlines()[1:]}
    assert change["cpu_sample"] == "-" and change["block_io_done"] == "gone", change
    rates = {line.split()[0]: line.split()[1:3] for line in text.split("\n\n")[1].splitlines()[1:]}
    assert rates["cpu_sample"][0] == "-" and float(rates["cpu_sample"][1]) > 0 and float(rates["block_io_done"][1]) == 0, rates
    text = run("diff", "--top", "0", "a.flight", "tasks.flight").stdout.decode()
    change = {line.split()[0]: line.split()[3] for line in text.split("\n\n")[1].splitlines()[1:]}
    assert change["cpu_sample"] == "-" and change["block_io_done"] == "new", change


globals()[sys.argv[3]]()
