# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
A flood of calls in one cgroup, ten quiet ones on the same CPU: what the rings hold of each, by bytes and by numbers of calls. Only these
cgroups are recorded, so nothing else fills the ring.
"""
import contextlib
import json
import os
import struct
import subprocess

from frtest import check, dump, equal, fr, fr_json, helper, main, new_name, path, replay, run, session, test, wait_for
from t_cgroups import gone, one
from t_stress import run_counts

CPU = min(os.sched_getaffinity(0))
QUIET = 10
NR = 1003      # of calls.c
CALL_SZ = 80  # of such a call in a ring: its beginning, which has no short form, 64, its end 16
TIMES = 3     # the flood tries to write the ring so often between two quiet ones
seen = {}


class Caller:
    """Who makes calls in a cgroup of its own, on one CPU, when it is told to."""

    def __init__(self, directory):
        os.mkdir(directory)
        self.directory, self.made = directory, 0
        self.p = subprocess.Popen(["bash", "-c", f"echo $$ > {directory}/cgroup.procs; exec taskset -c {CPU} {helper('calls')}"],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def make(self, cnt):
        self.p.stdin.write(struct.pack("<Q", cnt))
        self.p.stdin.flush()
        equal(self.p.stdout.read(1), b"\0", "its answer")
        self.made += cnt
        wait_for(lambda: open(f"/proc/{self.p.pid}/stat").read().rpartition(")")[2].split()[0] == "S", "it reads")

    def end(self):
        self.p.stdin.close()
        self.p.wait()
        self.p.stdout.close()
        wait_for(lambda: gone(self.directory), f"{self.directory} is empty")


def main_ring(name):
    return next(t for c in fr_json("status", "-n", name)["cpus"] if c["cpu"] == CPU for t in c["tiers"] if t["name"] == "main")


def calls_of(file, who):
    """Its calls in a file: beginnings, ends."""
    return tuple(int(fr("replay", "--count", "-f", f"pid == {who.p.pid} && event == {event} && id == {NR}", file).stdout)
                 for event in ("sys_enter", "sys_exit"))


@test("thin: beside a flood, ten quiet cgroups keep all of their calls, eight tenths of the ring's bytes",
      own="only the cgroups of this test are recorded, and they are thinned")
def quiet_ones_stay():
    with contextlib.ExitStack() as stack:
        directory, name = stack.enter_context(one())
        stack.enter_context(run_counts())
        session_name = stack.enter_context(session("-p", "minimal", "-e", "-sched", "-e", "syscall", "-m", "8M", "--subbuf", "32K",
                                                   "--cgroup", name, "--thin", "1h"))
        ring = main_ring(session_name)
        ring_sz = ring["slots"] * ring["subbuf_bytes"]
        flood, quiet = Caller(f"{directory}/flood"), [Caller(f"{directory}/quiet{i}") for i in range(QUIET)]
        for who in (flood, *quiet):
            stack.callback(who.end)
            who.make(1)  # it has begun
        flood.make(TIMES * ring_sz // CALL_SZ)
        first = dump(session_name)
        each = ring_sz * 8 // 10 // QUIET // CALL_SZ
        for who in quiet:
            who.make(each)
            flood.make(TIMES * ring_sz // CALL_SZ)
        seen["last"], seen["flood"] = dump(session_name), flood
        for who in quiet:
            begun, ended = calls_of(seen["last"], who)
            check(begun >= each and begun == ended, f"{who.directory}: {begun} calls begun and {ended} ended of {each}")
        seen["final"] = path("thin-final.flight")
        seen["live"] = json.loads(run(helper("final"), session_name, seen["final"]).stdout)
        begun, ended = calls_of(first, flood)
        equal(begun, ended, "calls of the flood, from begin to end")
        check(begun * CALL_SZ <= ring_sz, f"{begun} calls of the flood")
        told = [e for e in replay(seen["last"], "--tier", "all", "-f", 'event == "thinned"')]
        seen["told"] = told
        equal({e["cgroup"] for e in told}, {os.stat(f"{directory}/flood").st_ino}, "cgroups that were thinned")
        left = sum(e["calls"] for e in told if e["ts"] < fr_json("info", first)["snapshot_ns"])
        equal(begun + left, 1 + TIMES * ring_sz // CALL_SZ + 2,
              "calls of the flood until the first snapshot, those in the file and those that were left out, with its answer, and the read that it waits in")
    return f"{QUIET} times {each} calls in {ring_sz} bytes, {flood.made} of the flood"


@test("thin: what was left out is told: from when to when, in order, and by all who tell")
def left_out_is_told():
    told, flood = sorted(seen["told"], key=lambda e: e["ts"]), seen["flood"]
    check(all(e["since"] <= e["until"] <= e["ts"] and e["of_cpu"] == CPU for e in told), f"{told}")
    check(all(a["until"] <= b["since"] for a, b in zip(told, told[1:])), f"one begins before the last one ends: {told}")
    calls = sum(e["calls"] for e in told)
    check(calls < flood.made, f"{calls} calls left out of {flood.made}")
    equal([sum(e[k] for e in told) for k in ("faults", "signals", "tracepoints")], [0, 0, 0], "others")
    runs = sum(c["filtered"]["thinned"] for c in seen["live"]["cpus"])
    equal(runs, 2 * calls - 1, "runs of programs: of each call two, but for the read that the flood waits in")
    equal(sum(c["told"] for c in seen["live"]["cpus"]), len(told), "events that tell it")


@test("thin: the programs' runs = written + lost + filtered, but for texts and what was told")
def runs_accounted():
    live = seen["live"]
    marks = 3 * live["snapshots"]
    kept = [t for c in live["cpus"] for t in c["tiers"] if t["name"] != "stack"]
    want = sum(t["written"] + sum(t["lost"].values()) for t in kept) - marks + live["no_ring"]
    want += sum(sum(c["filtered"].values()) for c in live["cpus"])
    want -= sum(c["texts"] + c["told"] for c in live["cpus"])
    want += sum(t["unmatched"] + t["thinned"] for t in live["tracepoints"] or ())
    equal(sum(p["run_cnt"] for p in live["programs"]), want, "runs")


if __name__ == "__main__":
    main()
