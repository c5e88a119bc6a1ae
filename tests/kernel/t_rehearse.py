# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
`replay --on` against what the kernel and the recorder decided live. Rules are for the test's own tasks, their cooldowns longer than
any machine is slow, and moments follow each other one by one, so both must tell the same of each.
"""
import json
import os
import signal
import subprocess

from frtest import (Skip, TMP, check, dump, equal, fr, helper, main, new_name, path, program, recorder, replay, run, session, test,
                    wait_said)
from matrix import CORE_SIGNALS, PROGRAMS, said

CANNOT = 77
VERDICTS = ("taken", "filtered", "dedupe", "cooldown", "max", "storm", "busy", "space", "failed")
MS, S = 1_000_000, 1_000_000_000
PREFIX = f"frh{os.getpid() % 10000}"
COMM = {w: f"{PREFIX}-{w}" for w in ("die", "sh", "call", "woken", "event")}

RULES = (
    f"crash:comm={COMM['die']},cooldown=1h",
    f"exit:7:comm={COMM['sh']},cooldown=1h",
    f"latency:syscall:clock_nanosleep>50ms:comm={COMM['call']},cooldown=1h",
    f"latency:wakeup>100ms:comm={COMM['woken']},cooldown=1h",
    f"event:event == sys_exit && ret == -ENOENT && id in (unlink, unlinkat) && comm == \"{COMM['event']}\",cooldown=1h",
    f"crash:all,comm={PREFIX}*,sig=SEGV|TERM,max=1/1d,cooldown=0",
    f"exit:7:comm={PREFIX}*,exe=/no/such/*,cooldown=1h",  # decided in user space: filtered
)

UNLINKS = """
import os, sys, time
open("/proc/self/comm", "w").write(sys.argv[1])
for i in range(4):
    time.sleep(0.05)    # longer than the rule's gap
    for k in range(3):  # within it, mostly: counted, and not told
        try:
            os.unlink("/no/such/file")
        except OSError:
            pass
"""


def act():
    """Deaths, ends, slow calls, late wakings, errors; each is over when the next begins."""
    die, sh = program(COMM["die"], "deaths"), program(COMM["sh"], "/bin/sh")
    for way in ("null", "null", "abort", "term"):
        run(die, way, status=None, cwd=TMP)
    for status in (7, 7, 8):
        run(sh, "-c", f"exit {status}", status=status)
    run(helper("waits"), "sleep", COMM["call"], 100, 3)
    late = run(helper("waits"), "wakeup", COMM["woken"], 200, status=None)
    run("/usr/bin/python3", "-S", "-c", UNLINKS, COMM["event"])
    return late.returncode != CANNOT


def rehearse(file, *rules, status=0):
    """Moments, and sums by rule, of `replay --on`."""
    args = [a for rule in rules for a in ("--on", rule)]
    lines = [json.loads(x) for x in fr("replay", "--json", *args, file, status=status).stdout.splitlines()]
    window = [x for x in lines if x["type"] == "window"][0]
    return [x for x in lines if x["type"] == "moment"], [x for x in lines if x["type"] == "rule"], window


@test("moments, tasks, values and verdicts are those that the recorder wrote, one by one, and so are the sums")
def one_by_one():
    name, file = new_name(), path("rehearsed.flight")
    options = ["-p", "default", "-e", "syscall", "--comm", f"{PREFIX}*", "-m", "64M"]
    for rule in RULES:
        options += ["--on", rule]
    with recorder(name, *options) as p:
        wait_said(p, "armed")
        could_wait = act()
        fr("dump", "-n", name, "-o", file)
        live_sums = fr("status", "-n", name, "--json").stdout
    events = replay(file, "-f", "event in (trigger, crash, latency)")
    live = [e for e in events if e["event"] == "trigger" and e["rule"] < len(RULES)]
    moments, sums, window = rehearse(file, *RULES)
    first = min(e["at"] for e in live)
    if window["known_ns"] > first:
        raise Skip("the machine did so much that the ring does not hold it all")
    live.sort(key=lambda e: (e["at"], e["rule"]))
    moments.sort(key=lambda m: (m["ts"], m["rule"]))
    want = [(e["rule"], e["reason"], e["target_pid"], e["verdict"]) for e in live]
    equal([(m["rule"], m["reason"], m["tid"], VERDICTS.index(m["verdict"])) for m in moments], want, "moments")
    for m, e in zip(moments, live):
        if m["reason"] == "crash":
            equal(m["ts"], e["at"], f"time of {m}")
        check(0 <= e["at"] - m["ts"] < S, f"{m} at {e['at']}")
    values = [(e["target_pid"], e["what"], e["value"]) for e in events if e["event"] == "latency"]
    ours = [m for m in moments if m["reason"] == "latency"]
    equal([(m["tid"], m["what"]) for m in ours], [v[:2] for v in values], "latencies")
    check(all(abs(m["value_ns"] - v[2]) < 50 * MS for m, v in zip(ours, values)), f"values: {ours} {values}")
    rules = {r["rule"]: r for r in json.loads(live_sums)["triggers"]}
    for s in sums:
        was = rules[RULES[s["rule"]]]
        equal((s["matched"], s["alerted"]), (was["seen"], was["alerted"]), f"sums of {s['trigger']}")
    taken = {m["rule"] for m in moments if m["verdict"] == "taken"}
    check(taken >= {0, 1, 2, 4} and (3 in taken or not could_wait), f"rules that took one: {taken}")
    check({"taken", "dedupe", "cooldown", "filtered", "busy", "max"} <= {m["verdict"] for m in moments},
          f"verdicts: {[m['verdict'] for m in moments]}")
    return f"{len(moments)} moments"


@test("deaths are found from deliveries and exits alone, where no rule was in force: each way to die once, none to survive")
def deaths():
    died, pids = [], set()
    with session("-p", "minimal", "-e", "-sched", "-m", "4M") as name:
        for prog in PROGRAMS:
            file = program("frh-" + prog, prog)
            for line in run(file, "--list").stdout.splitlines():
                way, sig = line.split()
                p = subprocess.Popen([file, way], cwd=TMP, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                     stderr=subprocess.DEVNULL, text=True)
                out = p.communicate(timeout=60)[0]
                pids.add(p.pid)
                died += said(prog, way, int(sig), p.returncode, out)
        file = dump(name)
    equal([e for e in replay(file, "--life") if e["event"] == "crash"], [], "events of rules")
    moments, sums, _ = rehearse(file, "crash:all,cooldown=0", "crash,cooldown=0")
    for d in died:
        told = [(m["rule"], m["sig"]) for m in moments if m["pid"] == d.pid]
        equal(told, [(0, d.sig), (1, d.sig)] if d.sig in CORE_SIGNALS else [(0, d.sig)], d.what)
    dead = {d.pid for d in died}
    equal([m for m in moments if m["pid"] in pids - dead], [], "of those that survived")
    return f"{len(died)} deaths"


@test("what was not recorded is said, and psi and the like, and the status is 1; the others are evaluated")
def silence():
    with session("-p", "minimal", "-m", "2M") as name:
        p = subprocess.Popen(["/bin/sh", "-c", "kill -SEGV $$"])
        equal(p.wait(), -signal.SIGSEGV, "exit status")
        file = dump(name)
    rules = ("latency:syscall>1s", "psi:memory:20%", "kernel", "crash", "event:event == sys_enter && id == openat")
    moments, sums, _ = rehearse(file, *rules, status=1)
    equal([s["evaluated"] for s in sums], ["no", "no", "no", "yes", "no"], "evaluated")
    for i, text in ((0, "sys_enter was not recorded"), (1, "pressure"), (2, "`kernel`"), (4, "sys_enter was not recorded")):
        check(any(text in n for n in sums[i]["notes"]), f"{sums[i]}")
    check([m["rule"] for m in moments if m["pid"] == p.pid] == [3], f"{moments}")


if __name__ == "__main__":
    main()
