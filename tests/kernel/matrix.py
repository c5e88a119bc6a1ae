# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
The matrix of deaths, here and in a guest: who said to be about to die (deaths.h), what triggers told (alerts.c), and what must
hold of both.
"""
import contextlib
import json
import os
import subprocess

from frtest import check, equal, helper, run

PROGRAMS = ("deaths", "deaths_group", "survivals")
CORE_SIGNALS = {3, 4, 5, 6, 7, 8, 11, 24, 25, 31}
RULES = ("crash", "crash:all")
ONE, ALL = 1, 2  # bits of rule_set: a new session's slots are taken in this order
OTHER_COMM = {"exec_then_null", "memfd"}  # their programs are executed by another name
SI_USER, SI_QUEUE, SI_TKILL, SI_KERNEL, MAPERR, ACCERR, ADRERR = 0, -1, -6, 128, 1, 2, 2


class Alerts:
    """Rules in force over a session, and what they told."""

    def __init__(self, name, *rules):
        self.p = subprocess.Popen([helper("alerts"), name, *rules], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        equal(self.first_line(), "ready", "rules loaded")

    def first_line(self):
        """Byte by byte: what a buffered reader takes beyond the line, communicate() would not see. Alerts may follow at once."""
        line = b""
        while not line.endswith(b"\n"):
            byte = os.read(self.p.stdout.fileno(), 1)
            check(byte, f"alerts ended after {line}")
            line += byte
        return line.decode().rstrip("\n")

    def finish(self):
        """Alerts, and the counters."""
        out = self.p.communicate()[0]
        equal(self.p.returncode, 0, "exit status of alerts")
        return parse_alerts(out)


def parse_alerts(text):
    lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    return lines[:-1], lines[-1]


@contextlib.contextmanager
def alerts(name, *rules):
    a = Alerts(name, *rules)
    try:
        yield a
    finally:
        if a.p.poll() is None:
            try:
                a.p.communicate(timeout=120)  # its input ends: it takes the rules out of the session, which others use
            finally:
                a.p.kill()


class Death:
    """One that is to be told: what its program said of it."""

    def __init__(self, program, way, sig, line):
        _, pid, tid, function, address = line.split()
        self.program, self.way, self.sig = program, way, sig
        self.pid, self.tid, self.function, self.address = int(pid), int(tid), function, int(address)
        self.what = f"{program} {way}"

    def rule_set(self):
        return ONE | ALL if self.sig in CORE_SIGNALS else ALL


def said(program, way, sig, status, text):
    """The death that a way announced, if it is one; its exit status tells of ways that could not be gone."""
    lines = [line for line in text.splitlines() if line.startswith("dies ")]
    equal(len(lines), 1 if sig else 0, f"{program} {way}: who is about to die")
    check(status not in (2, 98, 99) and (sig or status == 0), f"{program} {way}: exit status {status}")
    return [Death(program, way, sig, line) for line in lines]


def functions(program):
    """{name: size} of a program's functions."""
    lines = (line.split() for line in run("nm", "-S", helper(program)).stdout.splitlines())
    return {w[3]: int(w[1], 16) for w in lines if len(w) == 4 and w[2] in "tT"}


class Matrix:
    """All ways gone: deaths, alerts; dir: where the programs were, prefix: what they were called there."""

    def __init__(self, deaths, told, counters, dir, prefix):
        self.deaths, self.alerts, self.counters, self.dir, self.prefix = deaths, told, counters, dir, prefix

    def told(self, death):
        return [a for a in self.alerts if a["pid"] == death.pid]

    def of(self, way):
        return next(d for d in self.deaths if d.way == way)

    def alert_of(self, way):
        return self.told(self.of(way))[0]

    def check_once(self):
        for d in self.deaths:
            found = self.told(d)
            check(len(found) == 1, f"{d.what}: {len(found)} alerts: {found}")
            equal((found[0]["kind"], found[0]["rule_set"], found[0]["sig"]), ("crash", d.rule_set(), d.sig), d.what)
        core = sum(d.sig in CORE_SIGNALS for d in self.deaths)
        check(core >= 23, f"only {core} ways to dump core")
        return f"{core} that dump core, {len(self.deaths) - core} that do not"

    def check_nothing_else(self):
        pids = {d.pid for d in self.deaths}
        ours = [a for a in self.alerts if a["exe"].startswith(f"{self.dir}/{self.prefix}") and a["kind"] == "crash"]
        equal([a for a in ours if a["pid"] not in pids], [], "alerts")
        check(len(ours) >= len(self.deaths) - 1, f"{len(ours)} alerts are of the programs in {self.dir}")  # memfd is not
        equal(self.counters["rules"][1]["full"], 0, "alerts lost")

    def check_truth(self):
        sizes = {p: functions(p) for p in PROGRAMS}
        for d in self.deaths:
            a = self.told(d)[0]
            check(d.tid in (0, a["tid"]), f"{d.what}: tid {a['tid']}, not {d.tid}")
            check(a["comm"] == (self.prefix + d.program)[:15] or d.way in OTHER_COMM, f"{d.what}: comm {a['comm']}")
            program = "/memfd:nowhere" if d.way == "memfd" else f"{self.dir}/{self.prefix}{d.program}"
            equal(a["exe"], program, f"{d.what}: program")
            equal(a["uid"], 65534 if d.way == "other_user" else 0, f"{d.what}: user")
            inside = d.address <= a["ip"] < d.address + sizes[d.program].get(d.function, 0)
            check(inside or d.function == "?", f"{d.what}: ip {a['ip']:#x} is not in {d.function} at {d.address:#x}")
            check(a["start_ns"] and a["cgroup"] and a["exe_ino"] and a["mono_ns"], f"{d.what}: {a}")
            equal(a["exit_code"] & 0x7f, d.sig, f"{d.what}: exit code")

    def check_codes(self):
        for way, code, addr in (("null", MAPERR, 0x10), ("jump", MAPERR, 0x10), ("bus", ADRERR, None), ("readonly", ACCERR, None),
                                ("thread", MAPERR, 0x10), ("raise", SI_TKILL, 0), ("killed_by_other", SI_USER, 0),
                                ("queued", SI_QUEUE, 0), ("cpu_limit", SI_KERNEL, 0), ("ignored", MAPERR, 0x10)):
            a = self.alert_of(way)
            equal(a["code"], code, f"{way}: code")
            check(addr in (None, a["addr"]), f"{way}: address {a['addr']:#x}")
        equal(self.alert_of("jump")["ip"], 0x10, "jump: ip")
        check(self.alert_of("bus")["addr"] % 4096 == 0, "bus: address")

    def check_stacks(self):
        for d in self.deaths:
            a = self.told(d)[0]
            check(a["uframes"] and a["uframes"][0] == a["ip"], f"{d.what}: {a['uframes']}, ip {a['ip']:#x}")
            check(a["kframes"], f"{d.what}: no kernel stack")
        if any(d.way == "frame_loop" for d in self.deaths):
            a = self.alert_of("frame_loop")
            equal(a["uframes"], [a["ip"]], "frame_loop: user stack")
        a, d = self.alert_of("deep"), self.of("deep")
        lines = (line.split() for line in run("nm", helper("deaths")).stdout.splitlines())
        symbols = sorted((int(w[0], 16), w[2]) for w in lines if len(w) == 3)
        base = d.address - next(at for at, name in symbols if name == "touch_null")
        names = [max(s for s in symbols if s[0] <= ip - base)[1] for ip in a["uframes"] if ip >= base + symbols[0][0]]
        # touch_null keeps no frame of its own, which hides its caller
        equal([n for n in names if n != "touch_three"][:3], ["touch_null", "touch_two", "deep"], "deep: callers")

    def check_events(self, events):
        """The snapshot's events crash: one for each, equal to the alert, with its stacks."""
        crashes = [e for e in events if e["event"] == "crash"]
        for d in self.deaths:
            a = self.told(d)[0]
            found = [e for e in crashes if e["pid"] == d.pid]
            equal(len(found), 1, f"{d.what}: events crash")
            e = found[0]
            for key in ("ts", "tid", "ip", "sp", "code", "addr", "uid", "sig", "cgroup"):
                equal(e[key], a[key], f"{d.what}: {key}")
            equal((e["start"], e["late"]), (a["start_ns"], 0), f"{d.what}: start, late")
            # unwound by whoever took the snapshot, or as it was walked
            check(e["ustack"][0] == a["ip"] and len(e["ustack"]) > len(a["uframes"]) or e["ustack"][:64] == a["uframes"],
                  f"{d.what}: user stack: {e['ustack']}, walked: {a['uframes']}")
            equal(e["kstack"][:64], a["kframes"], f"{d.what}: kernel stack")
            equal(e["regs"][:2], [e["ip"], e["sp"]], f"{d.what}: registers")

    def check_ends(self, events):
        """The last events of the dying thread are its death."""
        for d in self.deaths:
            a = self.told(d)[0]
            own = [e for e in events if e["tid"] == a["tid"] and e["pid"] == d.pid]
            at = next(i for i, e in enumerate(own) if e["event"] == "crash")
            delivered = [e for e in own[:at + 2] if e["event"] == "signal_deliver"]
            check(delivered and delivered[-1]["sig"] in (d.sig, 9) and delivered[-1]["fatal"], f"{d.what}: delivery: {delivered}")
            ends = [e for e in own[at:] if e["event"] == "sched_process_exit"]
            equal([e["exit_code"] & 0x7f for e in ends], [d.sig], f"{d.what}: its exit")
            more = [e for e in own[at + 2:] if e["event"] in ("sys_enter", "signal_deliver")]
            check(not more, f"{d.what}: it went on after its death: {more}")
