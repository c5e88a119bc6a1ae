# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
`replay --on` against what the kernel and the recorder decided live. Rules are for the test's own tasks, their cooldowns longer than
any machine is slow, and moments follow each other one by one, so both must tell the same of each.
"""
import json
import os
import signal
import subprocess
import time

from frtest import CALLS, MINIMAL, ROOMY, TMP, check, dump, equal, fr, helper, main, mono_ns, path, program, replay, run, shared, test
from matrix import CORE_SIGNALS, PROGRAMS, said
from recorder import attached

CANNOT = 77
VERDICTS = ("taken", "filtered", "dedupe", "cooldown", "max", "storm", "busy", "space", "failed")
PREFIX = f"frth{os.getpid() % 10000}"
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
    with attached(CALLS, *RULES) as recorder:
        begin = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        could_wait = act()
        file = dump(recorder.name)
        rules = recorder.rules()
    events = [e for e in replay(file, "-f", "event in (trigger, crash, latency)") if e["ts"] >= begin]
    live = [e for e in events if e["event"] == "trigger" and e["rule"] < len(RULES)]
    moments, sums, window = rehearse(file, *RULES)
    first = min(e["at"] for e in live)
    check(window["known_ns"] <= first, f"the rings hold what came since {window['known_ns']}, the first moment was {first}")
    live.sort(key=lambda e: (e["at"], e["rule"]))
    moments.sort(key=lambda m: (m["ts"], m["rule"]))
    want = [(e["rule"], e["reason"], e["target_pid"], e["verdict"]) for e in live]
    equal([(m["rule"], m["reason"], m["tid"], VERDICTS.index(m["verdict"])) for m in moments], want, "moments")
    for m, e in zip(moments, live):
        if m["reason"] == "crash":
            equal(m["ts"], e["at"], f"time of {m}")
        check(m["ts"] <= e["at"] <= e["ts"], f"{m}, told by {e}")
    values = [(e["target_pid"], e["what"], e["limit"], e["value"]) for e in events if e["event"] == "latency" and e["target_pid"] in {x["target_pid"] for x in live}]
    ours = [m for m in moments if m["reason"] == "latency"]
    equal([(m["tid"], m["what"]) for m in ours], [v[:2] for v in values], "latencies")
    # each of both reads the clock for itself, and a hypervisor may come between
    check(all(min(m["value_ns"], value) > limit for m, (_, _, limit, value) in zip(ours, values)), f"values: {ours} {values}")
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
    name = shared(*ROOMY)
    for prog in PROGRAMS:
        file = program("frh-" + prog, prog)
        for line in run(file, "--list").stdout.splitlines():
            way, sig = line.split()
            p = subprocess.Popen([file, way], cwd=TMP, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            out = p.communicate(timeout=120)[0]
            pids.add(p.pid)
            died += said(prog, way, int(sig), p.returncode, out)
    file = dump(name)
    equal([e for e in replay(file, "--life") if e["event"] == "crash" and e["pid"] in pids], [], "events of rules")
    moments, sums, _ = rehearse(file, "crash:all,cooldown=0", "crash,cooldown=0")
    for d in died:
        told = [(m["rule"], m["sig"]) for m in moments if m["pid"] == d.pid]
        equal(told, [(0, d.sig), (1, d.sig)] if d.sig in CORE_SIGNALS else [(0, d.sig)], d.what)
    dead = {d.pid for d in died}
    equal([m for m in moments if m["pid"] in pids - dead], [], "of those that survived")
    return f"{len(died)} deaths"


@test("what was not recorded is said, and psi and the like, and the status is 1; the others are evaluated")
def silence():
    name, since, file = shared(*MINIMAL), mono_ns(), path("silence.flight")
    p = subprocess.Popen(["/bin/sh", "-c", "kill -SEGV $$"])
    equal(p.wait(), -signal.SIGSEGV, "exit status")
    fr("cut", "--since", str(since), "-o", file, dump(name))  # before, others may have had a rule `kernel`
    rules = ("latency:syscall>1s", "psi:memory:20%", "kernel", "crash", "event:event == sys_enter && id == openat")
    moments, sums, _ = rehearse(file, *rules, status=1)
    equal([s["evaluated"] for s in sums], ["no", "no", "no", "yes", "no"], "evaluated")
    for i, text in ((0, "sys_enter was not recorded"), (1, "pressure"), (2, "`kernel`"), (4, "sys_enter was not recorded")):
        check(any(text in n for n in sums[i]["notes"]), f"{sums[i]}")
    check([m["rule"] for m in moments if m["pid"] == p.pid] == [3], f"{moments}")


if __name__ == "__main__":
    main()
