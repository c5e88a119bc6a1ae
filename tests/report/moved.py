#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""moved.py DIRECTORY: what changed before the trigger, on a history made by hand: two seconds, and a last one. Then a history that differs in
what is known of it. All of them are recomputed by check.py, too."""
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
FLIGHTREC = os.environ.get("FLIGHTREC", os.path.join(ROOT, "build", "flightrec"))

TASKS = ["fact arch x86_64", "fact events sched_switch,wait,sched_process_fork,signal_generate,sched_process_exit", "fact boot_id b", "fact begin_ns 1", "fact wait_min_ns 1000000", "fact trigger_reason exit", "fact trigger_status 1",
         "fact trigger_pid 100", "fact trigger_tid 100", "fact trigger_ts 3000000000", "horizon 0 0", "horizon 1 0", "complete 1 1", "complete 3 1"]
TASKS += [f"process {tid} 1 0 0 {comm}" for tid, comm in ((100, "web"), (200, "hog"), (300, "cron"), (400, "calm"), (500, "left"))]


def history():
    """CPU 0: left for 600 ms of the first two seconds, hog for 500 ms of the last one; CPU 1: calm for a tenth of each."""
    rows = [(0, 0, "sched_switch", 0, "next_pid=500"), (600, 0, "sched_switch", 500, "next_pid=0"),
            (2400, 0, "sched_switch", 0, "next_pid=200"), (2900, 0, "sched_switch", 200, "next_pid=0"), (3000, 0, "sched_switch", 0, "next_pid=100"),
            (0, 1, "sched_switch", 0, "next_pid=0")]
    for at in range(0, 3000, 100):
        rows += [(at + 1, 1, "sched_switch", 0, "next_pid=400"), (at + 11, 1, "sched_switch", 400, "next_pid=0")]
    rows += [(2500, 0, "wait", 100, "id=202 off=1000000000 blocked=1000000000 state=1 waker=3")]  # half of it before
    rows += [(at, 0, "sched_process_fork", 300, f"child_pid={1000 + at} child_tgid={1000 + at} child_comm=job") for at in (500, *range(2010, 2990, 50))]
    rows += [(at, 0, "sched_process_fork", 400, f"child_pid={4000 + at} child_tgid=400 child_comm=calm") for at in range(2010, 2990, 50)]  # threads
    rows += [(at, 1, "signal_generate", 400, f"target_pid=100 sig={17 if at % 20 else 10}") for at in range(20, 1000, 10)]  # one in two is a SIGCHLD
    rows += [(2990, 0, "sched_process_exit", 100, "exit_code=256 group_dead=1")]
    return [f"event {round(at * 1e6) + 1} {cpu} {name} {tid} {fields}" for at, cpu, name, tid, fields in sorted(rows, key=lambda x: x[0])]


def report(directory, name, lines):
    file = os.path.join(directory, f"moved-{name}.flight")
    subprocess.run([os.path.join(ROOT, "build/tests/rehearse/make"), file], input="\n".join(lines) + "\n", text=True, check=True)
    subprocess.run(["/usr/bin/python3", os.path.join(HERE, "check.py"), file], check=True, stdout=subprocess.DEVNULL)
    told = {form: subprocess.run([FLIGHTREC, "report", *form, file], stdout=subprocess.PIPE, text=True, check=True).stdout for form in ((), ("--json",))}
    return json.loads(told[("--json",)])["changes"], told[()]


def main(directory):
    changes, page = report(directory, "all", TASKS + history())
    got = {(x["what"], x["program"]): (x["before"], x["last"], x["before_rate"], x["last_rate"]) for x in changes["moved"]}
    ms = 10**6
    want = {("cpu", "left"): (600 * ms, 0, 300 * ms, 0), ("cpu", "hog"): (0, 500 * ms, 0, 500 * ms),
            ("waits", "web"): (500 * ms, 500 * ms, 250 * ms, 500 * ms), ("processes", "cron"): (1, 20, 1, 20), ("signals", "calm"): (49, 0, 25, 0)}
    near = {key: tuple(round(x / ms) if key[0] in ("cpu", "waits") else x for x in v) for key, v in got.items()}
    assert near == {key: tuple(round(x / ms) if key[0] in ("cpu", "waits") else x for x in v) for key, v in want.items()}, near
    assert changes["compared"][4] == {"what": "errors", "event": "sys_exit", "from_ns": None}, changes["compared"]
    for words in ("CPU time a second: hog 0 -> 500 ms, left 300 ms -> 0 [sched_switch]", "processes started a second: cron 1 -> 20 [sched_process_fork]"):
        assert words in page, page
    for name, line in (("hole", "hole 1 2500000000 2600000000"), ("short", "horizon 1 1600000000")):  # in the last part; too little before it
        changes, page = report(directory, name, TASKS + [line] + history())
        known = {x["what"] for x in changes["compared"] if x["from_ns"] is not None}
        assert known == {"waits", "processes"}, (name, known)
        assert not [x for x in changes["moved"] if x["what"] in ("cpu", "signals")] and "CPU time" not in page, (name, changes)
    changes, page = report(directory, "none", [x for x in TASKS if not x.startswith("fact events")] + ["fact events sched_switch", "hole 1 2500000000 2600000000"] + history())
    assert not changes["moved"] and not any(x["from_ns"] for x in changes["compared"]), changes
    assert "\n  changed    not known: " in page, page


if __name__ == "__main__":
    main(sys.argv[1])
