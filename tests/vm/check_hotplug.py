# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""CPUs that came and went in a guest, and its wall clock that was set (tests/vm/hotplug), looked at from outside."""
import json
import os
import re
import sys

GOT = sys.argv.pop(1)
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "kernel"))
from frtest import check, equal, fr, fr_json, main, replay, test  # noqa: E402

EVENTS = {}


def events(file):
    if file not in EVENTS:
        EVENTS[file] = replay(os.path.join(GOT, file))
    return EVENTS[file]


def said(name):
    with open(os.path.join(GOT, name)) as f:
        return f.read()


def work(name):
    """How many samples were taken of a worker, and the CPUs it ran on."""
    of = [e for e in events("hot.flight") if e["comm"] == name and e["event"] == "cpu_sample"]
    return len(of), {e["cpu"] for e in of}


@test("a CPU that was offline when recording began is recorded once it comes")
def came():
    samples, cpus = work("work-3")
    equal(cpus, {3}, f"CPUs ({said('hot.err')})")
    check(samples > 20, f"{samples} samples in two seconds at 100 Hz")
    check("CPU 3 came online" in said("hot.err"), said("hot.err"))
    check([e for e in events("hot.flight") if e["event"] == "sched_switch" and e["cpu"] == 3], "no switches")
    return f"{samples} samples"


@test("a CPU that went and came back is sampled again, and kept its history")
def back():
    before, after = work("work-1a"), work("work-1b")
    equal((before[1], after[1]), ({1}, {1}), "CPUs")
    check(before[0] > 20, f"{before[0]} samples before")
    check(after[0] > 20, f"{after[0]} samples after it came back")
    check("cannot sample" not in said("hot.err"), said("hot.err"))
    return f"{before[0]} samples before, {after[0]} after; kernel.perf_event_paranoid is {said('hot.paranoid').strip()}"


@test("status knows all CPUs, and how many samples to expect")
def status():
    got = json.loads(said("hot.status"))
    equal(sorted(c["cpu"] for c in got["cpus"]), [0, 1, 2, 3], "CPUs")
    s = got["samples"]
    # three CPUs all the time, and a fourth: at most from when the third is told to come, at least while both had surely been noticed
    at = {name: float(up) for name, up in (line.split() for line in said("hot.times").splitlines())}
    begin, now = got["begin_ns"] / 1e9, got["now_ns"] / 1e9
    least = 3 * (now - begin) + at["one-goes"] - at["three-worked"] + now - at["one-worked"]
    most = 3 * (now - begin) + now - at["three-comes"]
    check(0.99 * least < s["expected"] / 100 < 1.01 * most, f"samples {s}, of {least:.2f} to {most:.2f} s of CPUs at 100 Hz")
    # how many a guest takes depends on its host: those that have an event, and no more than the time has room for
    told = len([e for e in events("hot.flight") if e["event"] == "cpu_sample" and e["ts"] < got["now_ns"]])
    check(100 < told <= s["taken"] < s["expected"] * 1.2, f"samples {s}, {told} events of them")
    return f"{s['taken']} samples of {s['expected']}, {told} of them not idle; {got['no_ring']} events without a ring"


@test("a CPU that came while no recorder lived is added by the one that adopts")
def adopted():
    fr("verify", os.path.join(GOT, "hot2.flight"))
    got = [e for e in events("hot2.flight") if e["comm"] == "adopted-2"]
    equal({e["cpu"] for e in got}, {2}, f"CPUs ({said('hot2.err')})")


@test("a tail beside CPUs that come and go: what it told is what the snapshot has, and each record is accounted for")
def tailed():
    told = [json.loads(line) for line in said("hot.tail").splitlines()]
    end = told.pop()
    equal((end["end"], said("hot-tail.err").splitlines()[-1]), ("session", "0"), f"end and exit status: {said('hot-tail.err')}")
    written = {(c["cpu"], t["name"]): t["written"] for c in json.loads(said("hot.stop"))["cpus"] for t in c["tiers"]}
    for r in end["rings"]:
        equal(r["begun"] + r["printed"] + r["filtered"] + r["skipped"], written[r["cpu"], r["tier"]], f"{r}: in all")
    equal(sorted({r["cpu"] for r in end["rings"]}), [0, 1, 2, 3], "CPUs that it followed")
    want = [e for e in events("hot.flight") if e["comm"].startswith("work-") and e["event"] == "cpu_sample"]
    # beside the tasks that only tell when it has begun
    got = [e for e in told if e.get("event") == "cpu_sample" and e["comm"].startswith("work-")]
    if not end["skipped"]:
        equal([(e["ts"], e["cpu"], e["comm"]) for e in got], [(e["ts"], e["cpu"], e["comm"]) for e in want], "samples")
    equal({e["cpu"] for e in got if e["comm"] == "work-3"}, {3}, "CPUs of who ran on the one that came")
    return f"{len(got)} samples, {end['skipped']} events skipped"


@test("watch goes on when a CPU goes, says so, and watches it again when it comes back")
def watched():
    told = [json.loads(line) for line in said("hot3.watch").splitlines()]
    err = said("hot3.err")
    equal((told[0]["cpus"], err.splitlines()[-1]), ([1, 2], "0"), f"CPUs and exit status: {err}")
    equal((err.count("CPU 2 went offline"), err.count("CPU 2 came online")), (1, 1), err)
    for cpu in (1, 2):
        mine = [h for h in told if h["watch"] == "holdoff" and h["cpu"] == cpu and h["ran"] and h["ran"][0].get("comm") == f"keeps-{cpu}"]
        check(mine, f"no holdoff of keeps-{cpu} among {[h for h in told if h['watch'] == 'holdoff']}")
        check(any(h["ran"][0]["samples"] for h in mine), f"no samples of CPU {cpu}: {mine}")
    end = told[-1]
    equal(([c["cpu"] for c in end["cpus"]], sum(c["told"] for c in end["cpus"])),
          ([1, 2], len([h for h in told if h["watch"] == "holdoff"])), "in the end")


def seconds_of_day(name):
    """When replay says that a worker got its name."""
    out = fr("replay", "-f", f'event == "task_rename" && newcomm == "{name}"', os.path.join(GOT, "hot.flight"),
             env={**os.environ, "TZ": "UTC"}).stdout
    # with the day, if it was set past midnight
    h, m, s = re.search(r"^(?:\d{4}-\d\d-\d\d )?(\d\d):(\d\d):(\d\d)\.\d+ .*task_rename", out, re.M).groups()
    return int(h) * 3600 + int(m) * 60 + int(s)


@test("the wall clock was set: times are right on both sides")
def wall():
    fr("verify", os.path.join(GOT, "hot.flight"))
    clocks = fr_json("info", os.path.join(GOT, "hot.flight"))["clock"]["samples"]
    for name in ("early", "late"):
        off = (seconds_of_day(name) - int(said(f"hot.{name}"))) % 86400
        check(off < 60 or off > 86340, f"{name} is {off} s off; {clocks}")
    step = int(said("hot.late")) - int(said("hot.early"))
    check(step >= 10800, f"it was set by {step} s only")
    check(len(clocks) >= 4, f"{len(clocks)} clock samples")


if __name__ == "__main__":
    main()
