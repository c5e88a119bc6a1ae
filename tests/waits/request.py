#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""request.py [CASE]: `report --request` on a history made by hand, and on others that differ from it in one thing. Without CASE: their names.

A request of client goes through a pipe to server, which sleeps for it, and answers. Later client writes again, with another thing to do.
Each case: edits of the history's lines ("s/A/B/", "d/A/", or a line more), its legs as "COMM how FROM begin end ended_by" in us, and its
waits as "COMM begin off call about waker told"."""
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "verdict"))
from case import edited  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FLIGHTREC = os.environ.get("FLIGHTREC", os.path.join(ROOT, "build", "flightrec"))
MAKE = os.path.join(ROOT, "build", "tests", "rehearse", "make")
HISTORY = """\
fact arch x86_64
fact boot_id b
fact begin_ns 1
fact wait_min_ns 1000000
horizon 0 0
horizon 1 0
complete 1 1
complete 4 1
process 100 1 0 1 client
process 200 1 0 1 server
process 300 1 0 1 logger
process 900 1 0 1 other
tp mark:shop__begin u64:id text:name
tp mark:shop__end u64:id text:name
tp mark:shop__mark text:text
event 1000000 0 sched_switch 0 next_pid=100 prev_state=0
event 1000100 1 sched_switch 900 next_pid=200 prev_state=0
event 1001000 1 sched_switch 200 next_pid=0 prev_state=1
event 2000000 0 mark:shop__begin 100 id=7 name=request
event 5000000 0 sched_waking 100 target_pid=200 target_cpu=1
event 5010000 1 sched_switch 0 next_pid=200 prev_state=0
event 5010100 1 wait 200 id=0 arg0=5 off=4009000 blocked=3999000 queued=10000 state=1 waker=1 waker_pid=100 object=pipe:[1]
event 5020000 0 sched_switch 100 next_pid=0 prev_state=1
event 6000000 1 mark:shop__mark 200 text=cache~is~cold
event 6500000 1 sched_switch 200 next_pid=0 prev_state=1
event 9500000 1 sched_waking 0 target_pid=200 target_cpu=1 waker=3
event 9520000 1 sched_switch 0 next_pid=200 prev_state=0
event 9520100 1 wait 200 id=230 off=3020000 blocked=3000000 queued=20000 state=1 waker=5
event 10000000 1 sched_waking 200 target_pid=100 target_cpu=0
event 10030000 0 sched_switch 0 next_pid=100 prev_state=0
event 10030100 0 wait 100 id=0 arg0=6 off=5010000 blocked=4980000 queued=30000 state=1 waker=1 waker_pid=200 object=pipe:[2]
event 10040000 1 sched_switch 200 next_pid=0 prev_state=1
event 11000000 0 mark:shop__end 100 id=7 name=request
event 15000000 0 sched_waking 100 target_pid=200 target_cpu=1
event 15010000 1 sched_switch 0 next_pid=200 prev_state=0
event 15010100 1 wait 200 id=0 arg0=5 off=4970000 blocked=4960000 queued=10000 state=1 waker=1 waker_pid=100 object=pipe:[1]
event 16000000 1 sched_switch 200 next_pid=0 prev_state=1
event 17000000 0 sched_switch 100 next_pid=0 prev_state=1
"""
CLIENT = "client marked - 2000 11000 end"
SERVER = "server woken 1 5000 10040 wait"
ASKS = "client 5020 5010 read pipe:[2] server True"
SLEEPS = "server 6500 3020 clock_nanosleep a timer timer True"
FOLLOWED = "followed is a conclusion"

# name: edits, legs, waits, beginnings of the notes
CASES = {
    "server is followed until it waits where it was found": ([], [CLIENT, SERVER], [ASKS, SLEEPS], [FOLLOWED]),
    "a mark of another id ends what is followed": (
        ["event 6200000 1 mark:shop__begin 200 id=8 name=job"], [CLIENT, "server woken 1 5000 6200 other"], [ASKS], [FOLLOWED]),
    "so does the end of another id": (["event 6200000 1 mark:shop__end 200 id=8 name=job"], [CLIENT, "server woken 1 5000 6200 other"], [ASKS], [FOLLOWED]),
    "a thread marked with another id is not followed": (["event 1000500 1 mark:shop__begin 200 id=8 name=job"], [CLIENT], [ASKS], []),
    "until that has ended, by whomever": (
        ["event 1000500 1 mark:shop__begin 200 id=8 name=job", "event 3000000 0 mark:shop__end 100 id=8 name=job"], [CLIENT, SERVER], [ASKS, SLEEPS], [FOLLOWED]),
    "a mark of another id ends what is marked": (["event 3000000 0 mark:shop__begin 100 id=8 name=job"], ["client marked - 2000 3000 other"], [], []),
    "a followed thread that marks it itself": (
        ["event 6200000 1 mark:shop__begin 200 id=7 name=serve", "event 9600000 1 mark:shop__end 200 id=7 name=serve"],
        [CLIENT, "server woken 1 5000 6200 mark", "server marked 2 6200 9600 end"], [ASKS, SLEEPS], [FOLLOWED]),
    "spans in each other": (
        ["event 3000000 0 mark:shop__begin 100 id=7 name=query", "event 10500000 0 mark:shop__end 100 id=7 name=query"], [CLIENT, SERVER], [ASKS, SLEEPS], [FOLLOWED]),
    "the other process ends it": (
        ["d/mark:shop__end 100/", "event 9900000 1 mark:shop__end 200 id=7 name=request"],
        ["client marked - 2000 9900 end", "server woken 1 5000 9900 end"], [SLEEPS, "client 5020 4880 None None None False"], [FOLLOWED]),
    "the other process ends it before client has told that it is back": (
        ["d/mark:shop__end 100/", "d/10030100 0 wait/", "event 10030050 1 mark:shop__end 200 id=7 name=request"],
        ["client marked - 2000 10030 end", "server woken 1 5000 10030 end"], [SLEEPS, "client 5020 5010 None None server False"], [FOLLOWED]),
    "the other process ends it, which is not followed": (
        ["s/(5000000 0 sched_waking .*)/\\1 waker=3/", "s/waker=1 waker_pid=100 object=pipe:.1./waker=3/", "d/mark:shop__end 100/",
         "event 9900000 1 mark:shop__end 200 id=7 name=request"],
        ["client marked - 2000 9900 end", "server before - 9900 9900 end"], ["client 5020 4880 None None None False"], []),
    "the other process ends it, which is followed no longer": (
        ["s/9520100 1 wait 200 id=230/9520100 1 wait 200 id=0 arg0=5/", "d/mark:shop__end 100/", "event 9600000 1 mark:shop__end 200 id=7 name=request"],
        ["client marked - 2000 9600 end", "server woken 1 5000 6500 wait", "server before - 9600 9600 end"],
        ["client 5020 4580 None None None False"], [FOLLOWED]),
    "it was begun before": (["d/mark:shop__begin 100/"], ["client before - 11000 11000 end"], [], ["an end of it has no begin"]),
    "it ends by another name": (
        ["s/(mark:shop__end .*name=)request/\\1reply/"], ["client marked - 2000 17000 open", SERVER, "server woken 1 15000 16000 still"],
        [ASKS, SLEEPS, "client 17000 0 None None None False"], [FOLLOWED, "where it is not known", "an end of it has no begin", "it has not ended"]),
    "begins were not recorded": (["d/shop__begin/"], ["client before - 11000 11000 end"], [], ["begins were not"]),
    "it does not end": (["d/mark:shop__end 100/"], ["client marked - 2000 17000 open", SERVER, "server woken 1 15000 16000 still"],
                        [ASKS, SLEEPS, "client 17000 0 None None None False"], [FOLLOWED, "where it is not known", "it has not ended"]),
    "ends were not recorded": (["d/shop__end/"], ["client marked - 2000 17000 open", SERVER, "server woken 1 15000 16000 still"],
                               [ASKS, SLEEPS, "client 17000 0 None None None False"], [FOLLOWED, "where it is not known", "ends were not"]),
    "an interrupt on top of client wakes server": (["s/(5000000 0 sched_waking .*)/\\1 waker=3/", "s/waker=1 waker_pid=100 object=pipe:.1./waker=3/"], [CLIENT], [ASKS], []),
    "another task wakes server": (["s/5000000 0 sched_waking 100/5000000 1 sched_waking 900/"], [CLIENT], [ASKS], []),
    "a wait without a record that a timer ends": (
        ["d/9520100 1 wait/"], [CLIENT, "server woken 1 5000 6500 untold"], [ASKS], [FOLLOWED, "where it is not known"]),
    "without a record, blocked": (
        ["d/9520100 1 wait/", "s/(6500000 .*prev_state=)1/\\g<1>2/"], [CLIENT, "server woken 1 5000 10040 wait"],
        [ASKS, "server 6500 3020 None None irq False"], [FOLLOWED]),
    "without a record, ended by the request": (
        ["d/9520100 1 wait/", "s/9500000 1 sched_waking 0 (.*) waker=3/9500000 0 sched_waking 100 \\1/", "d/5020000/", "d/10030[01]00 /"],
        [CLIENT, SERVER], ["server 6500 3020 None None client False"], [FOLLOWED]),
    "it is not known where the request found it": (
        ["d/5010100 1 wait/"], [CLIENT, "server woken 1 5000 6500 untold"], [ASKS], [FOLLOWED, "where it is not known"]),
    "of another descriptor": (
        ["s/9520100 1 wait 200 id=230/9520100 1 wait 200 id=0 arg0=4 object=pipe:[3]/"], [CLIENT, SERVER],
        [ASKS, "server 6500 3020 read pipe:[3] timer True"], [FOLLOWED]),
    "it waits for the next one at once": (
        ["s/9520100 1 wait 200 id=230/9520100 1 wait 200 id=0 arg0=5/"], [CLIENT, "server woken 1 5000 6500 wait"], [ASKS], [FOLLOWED]),
    "it waits for the next one, which the request sends": (
        ["s/9520100 1 wait 200 id=230 (.*)waker=5/9520100 1 wait 200 id=0 arg0=5 \\1waker=1 waker_pid=100/", "d/5020000/", "d/10030[01]00 /",
         "s/9500000 1 sched_waking 0 (.*) waker=3/9500000 0 sched_waking 100 \\1/"],
        [CLIENT, "server woken 1 5000 6500 wait", "server woken 1 9500 10040 wait"], [], [FOLLOWED]),
    "a process that it forks": (
        ["event 2500000 0 sched_process_fork 100 child_pid=400 child_tgid=400 child_comm=child child_start=2500000",
         "event 2500100 0 sched_wakeup_new 100 target_pid=400 target_cpu=0", "event 16500000 0 sched_switch 100 next_pid=400 prev_state=0",
         "event 16600000 0 sched_switch 400 next_pid=100 prev_state=16", "d/mark:shop__end 100/"],
        ["client marked - 2000 17000 open", "child forked 1 2500 16600 exit", SERVER, "server woken 1 15000 16000 still"],
        [ASKS, SLEEPS, "client 17000 0 None None None False"], [FOLLOWED, "where it is not known", "it has not ended"]),
    "whom server wakes is followed, too": (
        ["event 1000050 0 sched_switch 100 next_pid=300 prev_state=256", "event 1000060 0 sched_switch 300 next_pid=100 prev_state=1",
         "event 9600000 1 sched_waking 200 target_pid=300 target_cpu=0", "event 9610000 0 sched_switch 0 next_pid=300 prev_state=0",
         "event 9700000 0 sched_switch 300 next_pid=0 prev_state=16"],
        [CLIENT, SERVER, "logger woken 2 9600 9700 exit"], [ASKS, SLEEPS], [FOLLOWED]),
    "preempted, it is still followed": (
        ["event 6100000 1 sched_switch 200 next_pid=900 prev_state=256", "event 6150000 1 sched_switch 900 next_pid=200 prev_state=1"],
        [CLIENT, SERVER], [ASKS, SLEEPS], [FOLLOWED]),
    "events are missing while it waits": (
        ["hole 0 7000000 8000000"], [CLIENT, "server woken 1 5000 6500 missing"], [ASKS], [FOLLOWED, "events are missing"]),
    "events of its CPU are missing while it runs": (
        ["hole 1 6100000 6200000"], [CLIENT, "server woken 1 5000 6000 missing"], [ASKS], [FOLLOWED, "events are missing"]),
    "events of its CPU are missing between two runs": (
        ["d/9520100 1 wait/", "hole 1 9525000 9900000", "event 9950000 1 sched_switch 0 next_pid=200 prev_state=0"],
        [CLIENT, "server woken 1 5000 6500 missing"], [ASKS], [FOLLOWED, "events are missing"]),
    "another word of the same condition": (
        ["s/wait 200 id=0 arg0=5 (.*) object=.*/wait 200 id=202 arg0=0x7000 \\1/", "s/9520100 1 wait 200 id=230/9520100 1 wait 200 id=202 arg0=0x7004/"],
        [CLIENT, "server woken 1 5000 6500 wait"], [ASKS], [FOLLOWED]),
    "another futex": (
        ["s/wait 200 id=0 arg0=5 (.*) object=.*/wait 200 id=202 arg0=0x7000 \\1/", "s/9520100 1 wait 200 id=230/9520100 1 wait 200 id=202 arg0=0x9000/"],
        [CLIENT, SERVER], [ASKS, "server 6500 3020 futex futex 0x9000 timer True"], [FOLLOWED]),
    "descriptors that are told elsewhere": (
        ["s/wait 200 id=0 arg0=5 (.*) object=.*/wait 200 id=7 arg0=0x7f00 arg1=3 \\1/", "s/9520100 1 wait 200 id=230/9520100 1 wait 200 id=7 arg0=0x6f00 arg1=3/"],
        [CLIENT, "server woken 1 5000 6500 wait"], [ASKS], [FOLLOWED]),
    "another descriptor, told at the same place": (
        ["s/wait 200 id=0 arg0=5/wait 200 id=7 arg0=0x7f00 arg1=1/", "s/9520100 1 wait 200 id=230/9520100 1 wait 200 id=7 arg0=0x7f00 arg1=1 object=pipe:[3]/"],
        [CLIENT, SERVER], [ASKS, "server 6500 3020 poll pipe:[3] timer True"], [FOLLOWED]),
    "one descriptor, and then several": (
        ["s/wait 200 id=0 arg0=5/wait 200 id=7 arg0=0x7f00 arg1=1/", "s/9520100 1 wait 200 id=230/9520100 1 wait 200 id=7 arg0=0x7f00 arg1=3/"],
        [CLIENT, "server woken 1 5000 6500 untold"], [ASKS], [FOLLOWED, "where it is not known"]),
    "the other process ends it while client is runnable": (
        ["d/mark:shop__end 100/", "event 10010000 1 mark:shop__end 200 id=7 name=request"],
        ["client marked - 2000 10010 end", "server woken 1 5000 10010 end"], [SLEEPS, "client 5020 4990 None None server False"], [FOLLOWED]),
    "client is woken, and has not run": (
        ["d/event (1003.*|1[1-7]\\d{6}) 0/", "d/event 1[56]\\d{6} 1/"], ["client marked - 2000 10040 open", "server woken 1 5000 10040 still"],
        [SLEEPS, "client 5020 5020 None None server False"], [FOLLOWED, "where it is not known", "it has not ended"]),
    "server is woken, and has not run": (
        ["d/event (501.*|[69]\\d{6}|1[0-7]\\d{6}) [01] /"], ["client marked - 2000 5020 open", "server woken 1 5000 5020 open"],
        ["client 5020 0 None None None False"], [FOLLOWED, "it has not ended"]),
    "it may have run where events are missing": (
        ["d/event (501.*|[69]\\d{6}|1[0-7]\\d{6}) [01] /", "hole 1 5005000 5015000"], ["client marked - 2000 5020 open"],
        ["client 5020 0 None None None False"], ["it has not ended", "events are missing"]),
    "a process that it forks has not run": (
        ["event 2500000 0 sched_process_fork 100 child_pid=400 child_tgid=400 child_comm=child child_start=2500000",
         "event 2500100 0 sched_wakeup_new 100 target_pid=400 target_cpu=0"],
        [CLIENT, "child forked 1 2500 17000 open", SERVER], [ASKS, SLEEPS], [FOLLOWED]),
    "a timer wakes server, which has not run": (
        ["d/event (952.*|1[0-7]\\d{6}) [01] /"], ["client marked - 2000 9500 open", "server woken 1 5000 6500 untold"],
        ["client 5020 4480 None None None False"], [FOLLOWED, "where it is not known", "it has not ended"]),
    "from a blocked wait, and it has not run": (
        ["d/event (952.*|1[0-7]\\d{6}) [01] /", "s/(6500000 .*prev_state=)1/\\g<1>2/", "event 9515000 0 sched_switch 0 next_pid=900 prev_state=0"],
        ["client marked - 2000 9515 open", "server woken 1 5000 9515 open"],
        ["client 5020 4495 None None None False", "server 6500 3015 None None irq False"], [FOLLOWED, "it has not ended"]),
    "the request wakes server again, which has not run": (
        ["d/event (952.*|1[0-7]\\d{6}) [01] /", "d/5020000/", "s/9500000 1 sched_waking 0 (.*) waker=3/9500000 0 sched_waking 100 \\1/",
         "event 9515000 1 sched_switch 0 next_pid=900 prev_state=0"],
        ["client marked - 2000 9515 open", "server woken 1 5000 6500 untold", "server woken 1 9500 9515 open"], [],
        [FOLLOWED, "where it is not known", "it has not ended"]),
    "what it still waits in is known": (
        ["d/mark:shop__end 100/", "state 100 17000000 120 0 1 0 6 0 0 17000000 0 object=pipe:[2]",
         "state 200 17000000 120 0 1 0 5 0 0 16000000 0 object=pipe:[1]"],
        ["client marked - 2000 17000 open", SERVER, "server woken 1 15000 16000 wait"], [ASKS, SLEEPS, "client 17000 0 read pipe:[2] None True"],
        [FOLLOWED, "it has not ended"]),
}


def in_order(lines):
    events = [line for line in lines if line.startswith("event ")]
    return [line for line in lines if not line.startswith("event ")] + sorted(events, key=lambda line: int(line.split()[1]))


def us(ns):
    return str(ns // 1000)


def leg(x):
    return " ".join((x["comm"], x["how"], str(x["from"] or "-"), us(x["begin_ns"]), us(x["end_ns"]), x["ended_by"] or "open"))


def wait(x):
    w = x["wait"]
    return " ".join(map(str, (x["comm"], us(x["ts"]), us(w["off_ns"]), w["call"], w["about"], w["waker_comm"] or w["waker"], w["told"])))


def equal(what, got, want):
    if got != want:
        sys.exit(f"{what}:\n  " + "\n  ".join(map(str, got)) + "\nnot:\n  " + "\n  ".join(map(str, want)))


def check(name, directory):
    edits, legs, waits, notes = CASES[name]
    file = os.path.join(directory, "request.flight")
    subprocess.run([MAKE, file], input="\n".join(in_order(edited(HISTORY.splitlines(), edits))) + "\n", text=True, check=True)
    r = json.loads(subprocess.run([FLIGHTREC, "report", "--json", "--request", "7", file], stdout=subprocess.PIPE, text=True, check=True).stdout)
    equal("legs", [leg(x) for x in r["legs"]], legs)
    equal("waits", sorted(wait(x) for x in r["path"] if x["did"] == "wait"), sorted(waits))
    equal("notes", [any(n.startswith(note) for note in notes) for n in r["notes"]], [True] * len(notes))
    equal("order", [x["ts"] for x in r["path"]], sorted(x["ts"] for x in r["path"]))
    equal("followed", [x["followed"] for x in r["legs"]], [x["how"] in ("woken", "forked") for x in r["legs"]])
    for x in r["legs"]:
        spent = x["oncpu_ns"] + x["queued_ns"] + x["wait_ns"]
        if spent > x["end_ns"] - x["begin_ns"] or (spent < x["end_ns"] - x["begin_ns"] and not x["events_missing"]):
            sys.exit(f"not all of its time, or more: {spent}: {x}")
    not_run = sum(x["followed"] and not x["ended_by"] and not x["oncpu_ns"] for x in r["legs"])
    for x in r["path"]:
        w = x["wait"]
        not_run += bool(w and w["ended"] and w["queued_ns"] and x["ts"] + w["off_ns"] == r["legs"][x["leg"] - 1]["end_ns"])
    untold = sum(x["ended_by"] in ("untold", "still") for x in r["legs"])
    page = subprocess.run([FLIGHTREC, "report", "--request", "7", file], stdout=subprocess.PIPE, text=True, check=True).stdout
    equal("has not run", [page.count("has not run since")], [not_run])
    equal("untold", [page.count("whether for the request is not known")], [2 * untold])
    equal("page", [len(re.findall(r"\+[0-9].*", page))], [len(r["legs"]) + len(r["path"])])


def main():
    if len(sys.argv) == 1:
        print("\n".join(CASES))
        return
    with tempfile.TemporaryDirectory() as directory:
        check(sys.argv[1], directory)


if __name__ == "__main__":
    main()
