# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
The recording clock: order across CPUs, wall time, and processes in a time namespace. Each of the sessions is given --clock twice, of which
the last one counts.
"""
import bisect
import json
import os
import subprocess
import time

from frtest import (CALLS, FLIGHTREC, SAMPLES, SYSCALLS, TMP, Skip, check, dump, equal, founded, fr, fr_json, main, path, program,
                    replay, run, shared, status, test, wait_said)
from lapped import lapped

ROUNDS = 2000


def wall_ahead():
    """ns by which the wall clock is ahead of the monotonic one, which changes only where somebody sets it, as a hypervisor's agent may."""
    def read():
        before, real, after = (time.clock_gettime_ns(c) for c in (time.CLOCK_MONOTONIC, time.CLOCK_REALTIME, time.CLOCK_MONOTONIC))
        return after - before, real - before - (after - before) // 2
    return min(read() for _ in range(50))[1]


AHEAD = wall_ahead()  # before any session


def play(name):
    """Two processes on two CPUs; their events in merge order, and who they were."""
    if os.cpu_count() < 2:
        raise Skip("one CPU")
    who = json.loads(run(program("frt-pingpong", "pingpong"), ROUNDS).stdout)
    file = dump(name)
    ours = " || ".join(f"{field} in ({who['a']}, {who['b']})" for field in ("tid", "target_pid", "next_pid"))
    return who, replay(file, "-f", ours), fr_json("info", file)


def handovers(who, events):
    """(place of one's write, place of the other's return from read) of each byte, in both directions."""
    found = []
    for one, other, fds in ((who["a"], who["b"], who["there"]), (who["b"], who["a"], who["back"])):
        writes = [i for i, e in enumerate(events)
                  if e["tid"] == one and e["event"] == "sys_enter" and e["id"] == who["write"] and e["args"][0] == fds[1]]
        reads, reading = [], False
        for i, e in enumerate(events):
            if e["tid"] != other or e.get("id") != who["read"]:
                continue
            if e["event"] == "sys_enter":
                reading = e["args"][0] == fds[0]
            elif reading and e["event"] == "sys_exit" and e["ret"] == 1:
                reads.append(i)
        equal((len(writes), len(reads)), (ROUNDS, ROUNDS), "bytes written and read")
        found += list(zip(writes, reads))
    return found


def both_cpus(who, events):
    cpus = {e["cpu"] for e in events if e["tid"] in (who["a"], who["b"])}
    check(len(cpus) > 1, "all of it happened on one CPU")


@test("--clock global:0: across CPUs nothing is read before it is written, nobody runs before he is woken")
def exact():
    who, events, info = play(shared(*CALLS))
    equal((info["clock"]["mode"], info["clock"]["grain_ns"], info["clock"]["ahead"]), ("global", 0, 0), "clock")
    both_cpus(who, events)
    wrong = [(events[w], events[r]) for w, r in handovers(who, events) if w > r]
    check(not wrong, f"{len(wrong)} bytes were read before they were written, the first: {wrong[:1]}")
    wakeups = count_wakeups(who, events)
    check(wakeups, "nobody slept")
    return f"{2 * ROUNDS} bytes; {wakeups} wakeups"


def count_wakeups(who, events):
    """A player that slept is woken by the other one before it gets a CPU."""
    asleep, woken, cnt = set(), set(), 0
    for e in events:
        if e["event"] == "sched_waking":
            woken.add(e["target_pid"])
        elif e["event"] == "sched_switch":
            tid = e["next_pid"]
            check(tid not in asleep - woken, f"{e} before it was woken")
            cnt += tid in asleep
            asleep.discard(tid)
            woken.discard(tid)
            if e["prev_state"] == 1 and e["prev_pid"] in (who["a"], who["b"]):
                asleep.add(e["prev_pid"])
    return cnt


@test("the default clock runs backwards across CPUs by no more than its grain")
def grain():
    who, events, info = play(shared(*SAMPLES))
    both_cpus(who, events)
    equal(info["clock"]["mode"], "global", "mode")
    grain_ns = info["clock"]["grain_ns"]
    equal(grain_ns, min(max(25000 * os.cpu_count(), 50000), 500000), "the grain: 25 us per CPU, 50 to 500")
    worst = max(events[w]["ts"] - events[r]["ts"] for w, r in handovers(who, events))
    check(worst <= grain_ns, f"{worst} ns backwards, the grain is {grain_ns} ns")
    return f"at most {worst} ns, grain {grain_ns} ns"


@test("--clock local: each CPU's own clock, in order on each CPU")
def local():
    who, events, info = play(lapped())
    equal((info["clock"]["mode"], info["clock"]["ties"]), ("local", 0), "clock")
    last = {}
    for e in events:
        check(e["ts"] >= last.get(e["cpu"], 0), f"{e} is out of order")
        last[e["cpu"]] = e["ts"]


def mono():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def exec_times(file, filename):
    return [e["ts"] for e in replay(file, "--life", "-f", f'event == "sched_process_exec" && filename == "{filename}"')]


def marked_copy(name):
    """A program of our own name, so that its exec is found among others'."""
    file = path(name)
    run("cp", "/bin/true", file)
    return file


def all_but_one():
    """A file as /sys/devices/system/cpu/online, of all CPUs but one, and that one."""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        raise Skip("there is one CPU")
    with open("/sys/devices/system/cpu/online") as f:
        online = {cpu for part in f.read().split(",") for cpu in range(int(part.split("-")[0]), int(part.split("-")[-1]) + 1)}
    file = path("online")
    with open(file, "w") as f:
        f.write(",".join(str(cpu) for cpu in sorted(online) if cpu != cpus[-1]) + "\n")
    return file, cpus[-1]


INSIDE = "begun in a time namespace, with one CPU offline: by one test after the other"
SHIFTED = ["unshare", "-T", "--monotonic", "100000", "--boottime", "100000"]


class Inside:
    """The session that is begun inside: its name, the CPU without rings, and a moment before it."""
    name = None

    def begin(self):
        if self.name:
            return
        shifted = SHIFTED if has_time_namespaces() else []
        online, self.cpu = all_but_one()
        self.begin_ns, self.name = mono(), founded(SYSCALLS, lambda name: run(
            *shifted, "unshare", "-m", "sh", "-c", 'mount --bind "$1" /sys/devices/system/cpu/online && shift && exec "$@"', "sh", online,
            FLIGHTREC, "record", "-n", name, "-o", f"{TMP}/shared", "--unattended", *SYSCALLS))


inside = Inside()


def has_time_namespaces():
    return run(*SHIFTED, "true", status=None).returncode == 0


@test("a CPU that gets its rings late has no history from before: not on the screen, not in a snapshot", own=INSIDE)
def late_cpu():
    inside.begin()
    name, cpu = inside.name, inside.cpu
    run("taskset", "-c", str(cpu), "sh", "-c", "sleep 0.3; :")
    began = status(name)
    check(cpu not in {c["cpu"] for c in began["cpus"]} and began["no_ring"], f"CPU {cpu} was recorded from the start: {began}")
    p = subprocess.Popen([FLIGHTREC, "record", "-n", name, "-o", f"{TMP}/shared", *SYSCALLS, "--keep"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                         stderr=subprocess.PIPE, text=True)
    try:
        wait_said(p, f"CPU {cpu} came online")
        now = status(name)
        info = fr_json("info", dump(name))
    finally:
        p.terminate()
        p.communicate()
    for what in now, info:
        since = {(c["cpu"], t["name"]): t["horizon_ns"] for c in what["cpus"] for t in c["tiers"]}
        late = {t: ns for (c, t), ns in since.items() if c == cpu}
        check(min(late.values()) > began["now_ns"], f"CPU {cpu} since {late}, without rings until {began['now_ns']}")
        check(what["horizon_ns"] >= late["main"], f"all CPUs since {what['horizon_ns']}, CPU {cpu} since {late['main']}")
        check(all(ns == now["begin_ns"] for (c, t), ns in since.items() if c != cpu and t == "life"), f"other CPUs: {since}")
    return f"from {(late['main'] - now['begin_ns']) / 1e9:.2f} s on; {now['no_ring']} events before"


@test("in a time namespace: stamps are the host's monotonic time and go on without a jump", own=INSIDE)
def namespace():
    if not has_time_namespaces():
        raise Skip("no time namespaces")
    mark, ran = marked_copy("in-timens"), []

    def run_marked():
        begin = mono()
        run(mark)
        ran.append((begin, mono()))
    inside.begin()
    begin, name = inside.begin_ns, inside.name
    for i in range(3):
        run_marked()
        run(*SHIFTED, FLIGHTREC, "dump", "-n", name, "-o", path(f"timens-{i}.flight"))
        fr("status", "-n", name)
        run(*SHIFTED, FLIGHTREC, "status", "-n", name)
        run_marked()
    file = dump(name)
    info = fr_json("info", file)
    last = mono()
    stamps = [e["ts"] for e in replay(file)]
    check(begin <= stamps[0] and stamps[-1] <= last, f"stamps {stamps[0]} to {stamps[-1]}, not within {begin} to {last}")
    equal(info["clock"]["ahead"], 0, "times the word was not believed")
    check(begin <= info["begin_ns"] <= last, f"begin of the session {info['begin_ns']}")
    execs, grain_ns = exec_times(file, mark), info["clock"]["grain_ns"]
    equal(len(execs), len(ran), "runs of the marked program")
    for ts, (begin, end) in zip(execs, ran):  # a clock that stands still would give the stamp of an earlier one
        check(begin - grain_ns <= ts <= end + grain_ns, f"exec at {ts}, not within {begin} to {end}, by the grain {grain_ns}: {execs}, {ran}")


def wall(samples, ts):
    """Wall time of a stamp by the sample next to it, and the uncertainty."""
    i = min(bisect.bisect_left([c["ts"] for c in samples], ts), len(samples) - 1)
    return samples[i]["real_ns"] + ts - samples[i]["ts"], samples[i]["uncertainty_ns"]


@test("wall time is right within the uncertainty that is stated")
def wall_time():
    """An exec lies between two readings of the host's wall clock, and the clock samples say so too."""
    mark, name = marked_copy("at-wall-time"), shared(*SAMPLES)
    begin = time.clock_gettime_ns(time.CLOCK_REALTIME)
    run(mark)
    end = time.clock_gettime_ns(time.CLOCK_REALTIME)
    clock = fr_json("info", (file := dump(name)))["clock"]
    samples, grain_ns = clock["samples"], clock["grain_ns"]
    equal(len(samples), 2, "clock samples: at the session's begin and at the snapshot")
    for c in samples:
        check(0 < c["uncertainty_ns"] < 10**9 and c["mono_ns"] <= c["boot_ns"], f"sample {c}")
        check(abs(c["ts"] - c["mono_ns"]) <= 2 * c["uncertainty_ns"] + grain_ns, f"sample {c}, grain {grain_ns}")
    ts, = exec_times(file, mark)
    at, uncertainty = wall(samples, ts)
    set_ns = abs(wall_ahead() - AHEAD)  # what slews the clock slews the recording clock as well
    slack = uncertainty + grain_ns + set_ns
    check(begin - slack <= at <= end + slack, f"exec at {at} +- {slack}, not within {begin} to {end}")
    drift = (samples[1]["real_ns"] - samples[0]["real_ns"]) - (samples[1]["ts"] - samples[0]["ts"])
    check(abs(drift) <= sum(c["uncertainty_ns"] + grain_ns for c in samples) + set_ns, f"wall time drifted by {drift} ns: {samples}")
    return f"+- {uncertainty} ns, and the clock was set by {set_ns} ns"


if __name__ == "__main__":
    main()
