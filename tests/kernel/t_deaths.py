# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
The matrix: every way to die of a signal pulls the crash trigger exactly once, with the truth about it; no way to survive does.
Ways are programs' (deaths.c, deaths_group.c, survivals.c); rules are loaded by alerts.c, so that this is about BPF alone.
"""
import contextlib
import json
import os
import shutil
import subprocess

from frtest import BIN, TMP, check, dump, equal, fr, helper, main, path, replay, run, session, test, wait_for

CORE_SIGNALS = {3, 4, 5, 6, 7, 8, 11, 24, 25, 31}
RULES = ("crash", "crash:all")
ONE, ALL = 1, 2  # bits of rule_set: slots are taken in this order
OTHER_COMM = {"exec_then_null", "memfd"}  # their programs are executed by another name
seen = {}


class Alerts:
    """Rules in force over a session, and what they told."""

    def __init__(self, name, *rules):
        self.p = subprocess.Popen([helper("alerts"), name, *rules], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        equal(self.p.stdout.readline(), "ready\n", "rules loaded")

    def finish(self):
        """Alerts, and the counters."""
        out = self.p.communicate()[0]
        equal(self.p.returncode, 0, "exit status of alerts")
        lines = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
        return lines[:-1], lines[-1]


@contextlib.contextmanager
def alerts(name, *rules):
    a = Alerts(name, *rules)
    try:
        yield a
    finally:
        if a.p.poll() is None:
            a.p.kill()
            a.p.communicate()


class Death:
    """One that is to be told: what its program said of it."""

    def __init__(self, program, way, sig, line):
        _, pid, tid, function, address = line.split()
        self.program, self.way, self.sig = program, way, sig
        self.pid, self.tid, self.function, self.address = int(pid), int(tid), function, int(address)
        self.what = f"{program} {way}"

    def rule_set(self):
        return ONE | ALL if self.sig in CORE_SIGNALS else ALL


def copy(program):
    file = path("frd-" + program)
    shutil.copy(helper(program), file)
    return file


def go(program):
    """Go all ways of a program, one after the other; gives the deaths."""
    file, deaths = copy(program), []
    for line in run(file, "--list").stdout.splitlines():
        way, sig = line.split()
        p = run(file, way, status=None, cwd=TMP, timeout=60)
        check(p.returncode not in (2, 98, 99), f"{program} {way}: exit status {p.returncode}: {p.stderr}")
        said = [line for line in p.stdout.splitlines() if line.startswith("dies ")]
        equal(len(said), int(sig) != "0" and 1 if int(sig) else 0, f"{program} {way}: who is about to die")
        check(int(sig) or p.returncode == 0, f"{program} {way}: exit status {p.returncode}: {p.stderr}")
        deaths += [Death(program, way, int(sig), line) for line in said]
    return deaths


def functions(program):
    """{name: size} of a program's functions."""
    lines = (line.split() for line in run("nm", "-S", helper(program)).stdout.splitlines())
    return {w[3]: int(w[1], 16) for w in lines if len(w) == 4 and w[2] in "tT"}


@test("deaths: all ways are gone")
def matrix():
    with session("-p", "default", "-e", "syscall", "-e", "fault", "--comm", "frd-*") as name, alerts(name, *RULES) as a:
        seen["deaths"] = go("deaths") + go("deaths_group")
        seen["survivals"] = len(run(helper("survivals"), "--list").stdout.splitlines())
        equal(go("survivals"), [], "deaths of survivors")
        seen["file"] = dump(name)
        seen["alerts"], seen["counters"] = a.finish()
    return f"{len(seen['deaths'])} to die, {seen['survivals']} to survive"


def told(death):
    return [a for a in seen["alerts"] if a["pid"] == death.pid]


@test("deaths: each is told once, by the rules that it is for")
def once():
    for d in seen["deaths"]:
        found = told(d)
        check(len(found) == 1, f"{d.what}: {len(found)} alerts: {found}")
        equal((found[0]["kind"], found[0]["rule_set"], found[0]["sig"]), ("crash", d.rule_set(), d.sig), d.what)
    core = sum(d.sig in CORE_SIGNALS for d in seen["deaths"])
    check(core >= 23, f"only {core} ways to dump core")
    return f"{core} that dump core, {len(seen['deaths']) - core} that do not"


@test("deaths: nothing else is told: of a process that survived, of a thread that was killed")
def nothing_else():
    pids = {d.pid for d in seen["deaths"]}
    others = [a for a in seen["alerts"] if a["pid"] not in pids and (a["exe"].startswith(TMP) or a["comm"].startswith("frd-"))]
    equal(others, [], "alerts")
    equal(seen["counters"]["rules"][1]["full"], 0, "alerts lost")


@test("deaths: each alert has the truth: thread, name, program, user, instruction")
def truth():
    sizes = {p: functions(p) for p in ("deaths", "deaths_group")}
    for d in seen["deaths"]:
        a = told(d)[0]
        check(d.tid in (0, a["tid"]), f"{d.what}: tid {a['tid']}, not {d.tid}")
        check(a["comm"] == ("frd-" + d.program)[:15] or d.way in OTHER_COMM, f"{d.what}: comm {a['comm']}")
        equal(a["exe"], "/memfd:nowhere" if d.way == "memfd" else path("frd-" + d.program), f"{d.what}: program")
        equal(a["uid"], 65534 if d.way == "other_user" else 0, f"{d.what}: user")
        inside = d.address <= a["ip"] < d.address + sizes[d.program].get(d.function, 0)
        check(inside or d.function == "?", f"{d.what}: ip {a['ip']:#x} is not in {d.function} at {d.address:#x}")
        check(a["start_ns"] and a["cgroup"] and a["exe_ino"] and a["mono_ns"], f"{d.what}: {a}")
        equal(a["exit_code"] & 0x7f, d.sig, f"{d.what}: exit code")


def alert_of(way):
    return next(told(d)[0] for d in seen["deaths"] if d.way == way)


@test("deaths: codes and addresses are the kernel's")
def codes():
    si_user, si_queue, si_tkill, si_kernel, maperr, accerr, adrerr = 0, -1, -6, 128, 1, 2, 2
    for way, code, addr in (("null", maperr, 0x10), ("jump", maperr, 0x10), ("bus", adrerr, None), ("readonly", accerr, None),
                            ("thread", maperr, 0x10), ("raise", si_tkill, 0), ("killed_by_other", si_user, 0),
                            ("queued", si_queue, 0), ("cpu_limit", si_kernel, 0), ("ignored", maperr, 0x10)):
        a = alert_of(way)
        equal(a["code"], code, f"{way}: code")
        check(addr in (None, a["addr"]), f"{way}: address {a['addr']:#x}")
    equal(alert_of("jump")["ip"], 0x10, "jump: ip")
    check(alert_of("bus")["addr"] % 4096 == 0, "bus: address")


@test("deaths: the user stack begins where the process died; callers follow")
def stacks():
    for d in seen["deaths"]:
        a = told(d)[0]
        check(a["uframes"] and a["uframes"][0] == a["ip"], f"{d.what}: {a['uframes']}, ip {a['ip']:#x}")
        check(a["kframes"], f"{d.what}: no kernel stack")
    a, d = alert_of("deep"), next(d for d in seen["deaths"] if d.way == "deep")
    lines = (line.split() for line in run("nm", helper("deaths")).stdout.splitlines())
    symbols = sorted((int(w[0], 16), w[2]) for w in lines if len(w) == 3)
    base = d.address - next(at for at, name in symbols if name == "touch_null")
    names = [max(s for s in symbols if s[0] <= ip - base)[1] for ip in a["uframes"] if ip >= base + symbols[0][0]]
    # touch_null keeps no frame of its own, which hides its caller
    equal([n for n in names if n != "touch_three"][:3], ["touch_null", "touch_two", "deep"], "deep: callers")


def events():
    if "events" not in seen:
        seen["events"] = replay(seen["file"])
    return seen["events"]


@test("deaths: the snapshot has event crash once for each, equal to the alert, with its stacks")
def in_snapshot():
    crashes = [e for e in events() if e["event"] == "crash"]
    for d in seen["deaths"]:
        a = told(d)[0]
        found = [e for e in crashes if e["pid"] == d.pid]
        equal(len(found), 1, f"{d.what}: events crash")
        e = found[0]
        for key in ("ts", "tid", "ip", "sp", "code", "addr", "uid", "sig", "cgroup"):
            equal(e[key], a[key], f"{d.what}: {key}")
        equal((e["start"], e["late"]), (a["start_ns"], 0), f"{d.what}: start, late")
        equal(e["ustack"][:64], a["uframes"], f"{d.what}: user stack")
        equal(e["kstack"][:64], a["kframes"], f"{d.what}: kernel stack")
        equal(e["regs"][:2], [e["ip"], e["sp"]], f"{d.what}: registers")


@test("deaths: the last events of the dying thread are its death")
def last_events():
    for d in seen["deaths"]:
        a = told(d)[0]
        own = [e for e in events() if e["tid"] == a["tid"] and e["pid"] == d.pid]
        at = next(i for i, e in enumerate(own) if e["event"] == "crash")
        delivered = [e for e in own[:at + 2] if e["event"] == "signal_deliver"]
        check(delivered and delivered[-1]["sig"] in (d.sig, 9) and delivered[-1]["fatal"], f"{d.what}: delivery: {delivered[-1:]}")
        ends = [e for e in own[at:] if e["event"] == "sched_process_exit"]
        equal([e["exit_code"] & 0x7f for e in ends], [d.sig], f"{d.what}: its exit")
        check(not [e for e in own[at + 2:] if e["event"] in ("sys_enter", "signal_deliver")], f"{d.what}: it went on after its death")
    null = next(d for d in seen["deaths"] if d.way == "null")
    own = [e for e in events() if e["tid"] == null.pid]
    fault = next(i for i, e in enumerate(own) if e["event"] == "page_fault_user" and e["address"] == 0x10)
    names = [e["event"] for e in own[fault:] if e["event"] in ("signal_generate", "signal_deliver", "crash", "sched_process_exit")]
    equal(sorted(names[:3]) + names[3:4], ["crash", "signal_deliver", "signal_generate", "sched_process_exit"], "null: the end")


if __name__ == "__main__":
    main()
