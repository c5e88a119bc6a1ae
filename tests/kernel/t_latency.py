# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Triggers that BPF decides: latencies, hung, asleep and busy tasks, the kernel's own reports. Real ones, by programs that wait as they are told.

Limits are far from what happens: a wait of 100 ms is more than 50 ms on any machine, and less than a minute. Rules are for the
names of the test's own tasks, so that what else the machine does is not counted.
"""
import contextlib
import glob
import json
import os
import platform
import signal
import subprocess
import sys
import time

from frtest import (CALLS, MINIMAL, SESSIONS, WAITS, Failed, Skip, check, dump, equal, fr, fr_json, helper, main, mono_ns, need_compat_calls,
                    overwritten_since, path, replay, shared, test, wait_for)
from recorder import recording

CANNOT = 77
MS = 1_000_000
D, RUNNABLE = 2, 0


class Alerts:
    """Rules loaded into a session, and what they tell (tests/kernel/alerts.c)."""

    def __init__(self, name, *rules):
        self.log = path(f"alerts-{time.monotonic_ns()}")
        self.out = open(self.log, "w")
        self.p = subprocess.Popen([helper("alerts"), name, *rules], stdin=subprocess.PIPE, stdout=self.out, text=True)
        self.counters = None
        wait_for(lambda: self.p.poll() is not None or self.lines()[:1] == ["ready"], "rules are loaded")
        check(self.p.poll() is None, f"rules are refused: {rules}")

    def lines(self):
        with open(self.log, encoding="utf-8") as f:
            return [line[:-1] for line in f if line.endswith("\n")]

    def alerts(self):
        return [a for a in map(json.loads, (x for x in self.lines() if x.startswith("{"))) if "kind" in a]

    def look(self):
        self.p.stdin.write("look\n")
        self.p.stdin.flush()

    def end(self):
        """No more: alerts are complete, and the rules have their counters."""
        self.p.stdin.close()
        self.p.wait(120)
        self.out.close()
        if self.p.returncode == 0:
            self.counters = json.loads(self.lines()[-1])
        return self.alerts()

    def matched(self):
        return [r["matched"] for r in self.counters["rules"]]

    def of(self, rule):
        """Alerts of the rule of that number."""
        return [a for a in self.alerts() if a["rule_set"] >> rule & 1]


@contextlib.contextmanager
def rules(*texts, of=MINIMAL):
    """The session with these rules. After the block their alerts and counters are complete; gives them and the session's name."""
    name = shared(*of)
    a = Alerts(name, *texts)
    try:
        yield a, name
    finally:
        a.end()
        check(a.counters, "no counters")
        equal(a.counters["untracked"], 0, "tasks or requests that were not followed")


def waits(*args):
    """Run waits.c to its end; gives the tid that waited."""
    p = subprocess.run([helper("waits"), *map(str, args)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, text=True, timeout=120)
    if p.returncode == CANNOT:
        raise Skip(p.stderr.strip())
    equal(p.returncode, 0, f"waits {args}: {p.stderr}")
    return int(p.stdout)


def took(alerts, tid, least_ms, what=0):
    """Each alert is of this task, and of at least so long."""
    for a in alerts:
        equal((a["tid"], a["what"]), (tid, what), f"task and number in {a}")
        check(a["value_ns"] >= least_ms * MS, f"{a['value_ns']} ns, not {least_ms} ms")


def where(events, tid):
    """The functions of the kernel where a task was, of each of these moments of it."""
    return [[name.split("+")[0] for name in e["kstack_sym"] or []] for e in events if e["target_pid"] == tid]


def check_where(events, tid, word):
    """Each of its moments has a stack, with a function of such a name in it."""
    stacks = where(events, tid)
    check(stacks and all(any(word in name for name in stack) for stack in stacks), f"no {word} in the stacks of {tid}: {stacks}")


def was_away(events, tid, comm, least_ms):
    """How often a task of that name had left its CPU for longer. On a busy machine one sleeps late, thus for less."""
    cnt, left = 0, None
    for e in events:
        if e["prev_pid"] == tid:
            left = e["ts"]
        elif e["next_pid"] == tid and left is not None:
            cnt += e["next_comm"] == comm and e["ts"] - left > least_ms * MS
            left = None
    return cnt


# ---- a task and its CPU ----

@test("latency:wakeup: a task that is woken, and does not get the CPU")
def wakeup():
    with rules("latency:wakeup>100ms:comm=frt-woken", "latency:wakeup>1h", "latency:wakeup>100ms:comm=frt-other") as (a, name):
        tid = waits("wakeup", "frt-woken", 200)
        file = dump(name)
    equal(a.matched(), [1, 0, 0], "times that the rules held")
    took(a.of(0), tid, 200)
    equal(a.of(0)[0]["comm"], "frt-woken", "its name")
    check(a.of(0)[0]["exe"].endswith("/waits"), f"its program: {a.of(0)[0]['exe']}")
    event = [e for e in replay(file, "-f", f"event == latency && target_pid == {tid}")]
    equal(len(event), 1, "events")
    want = {"target_pid": tid, "target_comm": "frt-woken", "what": "wakeup", "limit": 100 * MS, "value": a.of(0)[0]["value_ns"],
            "ts": a.of(0)[0]["ts"]}
    equal({k: event[0][k] for k in want}, want, "the event")


@test("latency: a preempted task was not woken, but it was off its CPU")
def preempted():
    with rules("latency:wakeup>100ms:comm=frt-preempted", "latency:offcpu>100ms:comm=frt-preempted") as (a, _):
        tid = waits("preempt", "frt-preempted", 300)  # away for 150 ms at least
    equal(a.matched()[0], 0, "times that it was woken and waited")
    check(a.matched()[1] > 0, "it was never off its CPU for long")
    took(a.of(1), tid, 100)


@test("latency:offcpu: a task that sleeps, each time; two limits at once")
def offcpu():
    with rules("latency:offcpu>50ms:comm=frt-sleep*", "latency:offcpu>150ms:comm=frt-sleeps", "latency:offcpu>1h", of=CALLS) as (a, name):
        short = waits("sleep", "frt-sleeps", 100, 4)
        long = waits("sleep", "frt-sleeps", 200, 2)
        file = dump(name)
        events = replay(file, "-f", "event == sched_switch")
    moments = replay(file, "--symbols", "-f", "event == latency")
    for tid in (short, long):
        check_where(moments, tid, "nanosleep")
    for tid, rule, limit_ms in ((short, 0, 50), (long, 0, 50), (long, 1, 150)):
        told = sum(x["tid"] == tid for x in a.of(rule))
        check(told > 0, f"no alert of rule {rule} about {tid}")
        equal(told, was_away(events, tid, "frt-sleeps", limit_ms), f"alerts of rule {rule} about {tid}, by its recorded switches")
    equal(a.matched()[2], 0, "times that the third held")


# ---- system calls ----

@test("latency:syscall:NAME: that call of that task, and no other")
def syscall():
    with rules("latency:syscall:clock_nanosleep>50ms:comm=frt-call", "latency:syscall:nanosleep>1ns:comm=frt-call",
               "latency:syscall:clock_nanosleep>1h", "latency:syscall>50ms:comm=frt-call",
               "latency:syscall:exit_group>1ns:comm=frt-call") as (a, _):
        tid = waits("sleep", "frt-call", 100, 3)
    equal(a.matched()[:3], [3, 0, 0], "times that the rules held")
    check(a.matched()[3] >= 3, f"any call held {a.matched()[3]} times")
    equal(a.matched()[4], 0, "times that exit_group returned")
    equal(len(a.of(0)), 3, "alerts")
    took(a.of(0), tid, 100, 230 if platform.machine() == "x86_64" else 115)


@test("latency:syscall: a 32-bit call of the same number is another; execve and execveat end")
def compat():
    mkdir = "mkdir" if platform.machine() == "x86_64" else "mkdirat"
    if mkdir == "mkdir":
        need_compat_calls()
    with rules(f"latency:syscall:{mkdir}>1ns:comm=frt-compat", "latency:syscall:execve>1ns:comm=waits",
               "latency:syscall:execveat>1ns") as (a, _):
        waits("calls", "frt-compat")
        p = subprocess.Popen([sys.executable, "-c", "import os, time\nfor path in '/nowhere', '/bin/true':\n"
                              "    time.sleep(0.05)\n"  # more than the rule's gap
                              "    try: os.execve(os.open('/', 0) if path == '/nowhere' else os.open(path, 0), ['true'], {})\n"
                              "    except OSError: pass"])
        equal(p.wait(120), 0, "what executes by a descriptor")
    equal(a.matched()[:2], [1, 1], "times that the rules held")
    # of a directory, which fails as execveat, and of a file, which the kernel ends as execve
    execveat = {"x86_64": 322, "aarch64": 281}[platform.machine()]
    equal([x["what"] for x in a.of(2) if x["pid"] == p.pid], [execveat] * 2, "calls of execveat that ended")


@test("latency:syscall: a call that is interrupted and goes on is one")
def restarted():
    with rules("latency:syscall:clock_nanosleep>280ms:comm=frt-stopped", "latency:syscall>280ms:comm=frt-stopped") as (a, _):
        pid = waits("stopped", "frt-stopped", 300)
    for rule in range(2):
        mine = [x for x in a.of(rule) if x["pid"] == pid]
        equal(len(mine), 1, f"alerts of the sleeper, rule {rule}")
        took(mine, pid, 280, 230 if platform.machine() == "x86_64" else 115)


# ---- block requests ----

@contextlib.contextmanager
def slow_disk(ms):
    """A loop device of which reads of the last quarter take so long (slowfs.c). Gives its name and number."""
    where = path(f"slow-{ms}")
    os.mkdir(where)
    p = subprocess.Popen([helper("slowfs"), where, str(ms)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True)
    try:
        line = p.stdout.readline().split()
        if len(line) != 2:
            p.wait(120)
            text = p.stderr.read().strip()
            if p.returncode != CANNOT:
                raise Failed(f"slowfs: {text}")
            raise Skip(text)
        major, minor = map(int, line[1].split(":"))
        yield line[0], major << 20 | minor
    finally:
        p.stdin.close()
        p.wait(120)


# it has its name only while it reads: its own program and libraries may come from a disk that is slow, too
READ = """
import mmap, os, sys
disk, memory, name = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECT), mmap.mmap(-1, 4096), os.open("/proc/self/comm", os.O_WRONLY)
os.write(name, b"frt-reader")
os.preadv(disk, [memory], int(sys.argv[2]))
os.write(name, b"python3")
"""
FAST_AT, SLOW_AT = 0, 900 << 10


def read_at(disk, at):
    return subprocess.Popen(["/usr/bin/python3", "-c", READ, disk, str(at)], stdin=subprocess.DEVNULL)


@test("latency:block: a request that takes long, its device and sector")
def block():
    with slow_disk(300) as (disk, dev), rules("latency:block>200ms", "latency:block>1h") as (a, _):
        equal(read_at(disk, FAST_AT).wait(120), 0, "a read that is not slow")
        equal(read_at(disk, SLOW_AT).wait(120), 0, "a slow read")
    of = [x for x in a.of(0) if x["what"] == dev and x["addr"] == SLOW_AT // 512]
    equal(len(of), 1, f"alerts of the slow request: {a.alerts()}")
    check(of[0]["value_ns"] >= 300 * MS, f"{of[0]['value_ns']} ns")
    equal(a.matched()[1], 0, "requests of a minute")


# ---- interrupts ----

def handled():
    """Interrupts that had a handler so far, as the kernel counts them for /proc/interrupts."""
    with open("/proc/interrupts", encoding="ascii") as f:
        cpus = len(f.readline().split())
        return sum(sum(map(int, words[1:cpus + 1])) for words in map(str.split, f) if words[0][:-1].isdigit() and len(words) > cpus + 3)


@test("latency:softirq, irq: longer than a nanosecond, and not than a minute")
def interrupts():
    with rules("latency:softirq>1ns", "latency:softirq>1h", "latency:irq>1ns", "latency:irq>1h") as (a, _):
        def some(what):
            with open(path("sync"), "w") as f:
                f.write("x" * 4096)
                os.fsync(f.fileno())
            return [x for x in a.alerts() if x["rule_set"] == 1 << what]
        before = handled()
        wait_for(lambda: some(0), "a softirq")
        came = handled() - before
    equal([a.matched()[i] for i in (1, 3)], [0, 0], "times that the rules held that must not")
    check(all(x["what"] < 10 and x["tid"] == 0 for x in a.of(0)), "vectors of softirqs")
    check(a.matched()[2] or not came, f"{came} interrupts were handled, and none is told")
    return f"{a.matched()[0]} softirqs, {a.matched()[2]} interrupts"


# ---- hung ----

def end_child(tid):
    """A vfork's, so that its parent goes on."""
    with open(f"/proc/{tid}/task/{tid}/children", encoding="ascii") as f:
        for child in f.read().split():
            os.kill(int(child), 9)


def look_until(a, fn, what):
    def once():
        a.look()
        time.sleep(0.1)
        return fn()
    return wait_for(once, what)


@test("hung: a task in D, of a slow disk and of vfork, once each; a sleeping one is not")
def hung():
    with slow_disk(2000) as (disk, _), contextlib.ExitStack() as stack:
        with rules("hung>300ms:comm=frt-reader", "hung>300ms:comm=frt-vfork", "hung>1s:comm=frt-asleep", "hung>1h") as (a, _):
            vforked = stack.enter_context(subprocess.Popen([helper("waits"), "vfork", "frt-vfork", "60000"],
                                                           stdout=subprocess.PIPE, text=True))
            stack.enter_context(subprocess.Popen([helper("waits"), "sleep", "frt-asleep", "2500"], stdout=subprocess.DEVNULL))
            readers = [stack.enter_context(read_at(disk, SLOW_AT))]
            tid = int(vforked.stdout.readline())

            def both():
                told = {x["tid"] for x in a.alerts()}
                if readers[-1].pid not in told and readers[-1].poll() is not None:  # the machine stood still for as long as it read
                    readers.append(stack.enter_context(read_at(disk, SLOW_AT)))
                return {tid, readers[-1].pid} <= told
            look_until(a, both, "both are found")
            a.look()
            end_child(tid)
            reader = readers[-1]
            equal(reader.wait(120), 0, "the slow read")
            vforked.wait(120)
            a.look()
    equal([x["tid"] for x in a.of(0) if x["tid"] == reader.pid], [reader.pid], "alerts of the reader")
    took([x for x in a.of(0) if x["tid"] == reader.pid], reader.pid, 300, D)
    equal(len(a.of(1)), 1, "alerts of the vfork")
    took(a.of(1), tid, 300, D)
    equal(a.matched()[2:], [0, 0], "times that the rules held that must not")


@test("hung: a task in D since before the rule was loaded")
def hung_before():
    with subprocess.Popen([helper("waits"), "vfork", "frt-before", "60000"], stdout=subprocess.PIPE, text=True) as p:
        tid = int(p.stdout.readline())
        try:
            wait_for(lambda: " D " in open(f"/proc/{tid}/stat", encoding="ascii").read(), "it is in D")
            with rules("hung>300ms:comm=frt-before") as (a, name):
                look_until(a, a.alerts, "it is found")
                for _ in range(3):
                    a.look()
                    time.sleep(0.1)
                file = dump(name)
        finally:
            end_child(tid)
    equal(a.matched(), [1], "times that the rule held")
    took(a.of(0), tid, 300, D)
    event = replay(file, "-f", f"event == hung && target_pid == {tid}")
    equal([(e["target_pid"], e["limit"], e["state"], e["ts"]) for e in event],
          [(tid, 300 * MS, D, a.of(0)[0]["ts"])], "events")


@test("hung: a runnable task that does not run, also if nobody looked meanwhile")
def starved():
    with rules("hung>200ms:comm=frt-starved", "hung>1h:comm=frt-starved") as (a, name):
        tid = waits("starve", "frt-starved", 500)  # away for 250 ms at least
        event = replay(dump(name), "--symbols", "-f", f"event == hung && target_pid == {tid}")
    check(event and all(where(event, tid)), f"no stacks: {event}")
    equal(a.matched()[1], 0, "times that an hour was over")
    check(max([x["value_ns"] for x in a.of(0)], default=0) >= 240 * MS, f"alerts of a long pause: {a.of(0)} {a.counters}")
    took(a.of(0), tid, 200, RUNNABLE)


@test("hung: the recorder looks by itself, and takes a snapshot while the task hangs")
def recorded():
    with recording("hung>400ms:comm=frt-looked") as r:
        wait_for(lambda: glob.glob(f"{SESSIONS}/{r.name}/trig-*-fr_hung_look"), "the rule is loaded")
        with subprocess.Popen([helper("waits"), "vfork", "frt-looked", "600000"], stdout=subprocess.PIPE, text=True) as p:
            tid = int(p.stdout.readline())
            try:
                file = wait_for(lambda: glob.glob(f"{r.dir}/*-hung-frt-looked-{tid}.flight"), lambda: f"a snapshot: {r.rules()}")[0]
            finally:
                end_child(tid)
    event = replay(file, "--symbols", "-f", f"event == hung && target_pid == {tid}")
    equal([(e["target_pid"], e["target_comm"], e["state"]) for e in event], [(tid, "frt-looked", D)], "events")
    check_where(event, tid, "clone")  # which waits for the child of a vfork
    stack = fr_json("report", file)["focus"]["stack"]
    equal((stack["from"], stack["ts"], [f["ip"] for f in stack["kernel"]]), ("hung", event[0]["ts"], event[0]["kstack"]), "the report's")
    check(400 * MS < event[0]["value"], f"hung for {event[0]['value']} ns")


# ---- the kernel's own reports ----

def kmsg(text):
    with open("/dev/kmsg", "w", encoding="ascii") as f:
        f.write(text)


def alerts_of(a, mark):
    return [x["text"] for x in a.alerts() if mark in x["text"]]


@test("kernel: lines that begin a report are told, others are not; each is one that matched")
def kernel():
    mark = f"frt-{os.getpid()}"
    begins = [f"WARNING: CPU: 0 PID: 1 at {mark}", f"Kernel panic - not syncing {mark}: the same report"]
    with rules("kernel") as (a, name):
        kmsg(f"<6>{mark} an ordinary line: BUG, WARNING and Oops in its middle")
        kmsg(f"<4>------------[ cut here ]------------ {mark}")
        for line in begins:
            kmsg(f"<4>{line}")
        wait_for(lambda: alerts_of(a, mark), "an alert")
        file = dump(name)
    told = alerts_of(a, mark)
    # the second one is not told within a second of the first (tests/unit/test_rule.c): whether it is depends on this machine
    check(told in (begins[:1], begins), f"lines told: {told}")
    check(a.matched()[0] >= len(begins), f"{a.matched()[0]} lines matched, of {len(begins)}")
    equal([e["text"] for e in replay(file, "-f", "event == kernel_report") if mark in e["text"]], told, "events")


@test("kernel: a report of another kind is not the same, one of the same kind is")
def kernel_kinds():
    with recording("kernel,cooldown=1h") as r:
        verdicts = {}
        for text, want in (("WARNING: CPU: 0 PID: 1 at", "taken"), ("BUG: kernel NULL pointer dereference", "taken"),
                           ("WARNING: CPU: 1 PID: 2 at", "dedupe")):
            if verdicts:
                time.sleep(1.1)  # more than the rule's gap
            kmsg(f"<4>{text} frt-{os.getpid()}")
            verdicts[want] = verdicts.get(want, 0) + 1
            rule = r.wait_seen("kernel,cooldown=1h", sum(verdicts.values()))
            equal({k: v for k, v in rule["verdicts"].items() if v}, verdicts, f"verdicts after {text}")



# ---- asleep, busy: looks at all tasks. What must not fire may have had reason to on a busy machine: its recorded switches tell ----

LOOKED_MS = 300

WAYS = """
import ctypes, os, select, signal, sys, threading, time
with open("/proc/self/comm", "w") as f:
    f.write(sys.argv[1])
def futex():
    word = ctypes.c_int(0)
    ctypes.CDLL(None).syscall(%d, ctypes.byref(word), 0, 0, None)
def spin():
    while True:
        pass
def touch():
    # it runs, and sleeps for a microsecond in between
    while True:
        for _ in range(10000):
            pass
        time.sleep(1e-6)
def naps():
    while True:
        time.sleep(0.005)
ways = {
    "pipe": lambda: os.read(os.pipe()[0], 1), "futex": futex, "poll": lambda: select.poll().poll(),
    "stop": lambda: os.kill(os.getpid(), signal.SIGSTOP), "spin": spin, "touch": touch, "naps": naps,
}
print(os.getpid(), flush=True)
ways[sys.argv[2]]()
""" % {"x86_64": 202, "aarch64": 98}[os.uname().machine]


@contextlib.contextmanager
def tasks(*ways):
    """A process of the name frt-WAY for each. Gives their pids by way."""
    with contextlib.ExitStack() as stack:
        pids = {}
        for way in ways:
            p = stack.enter_context(subprocess.Popen([sys.executable, "-c", WAYS, f"frt-{way}", way], stdout=subprocess.PIPE, text=True))
            stack.callback(os.kill, p.pid, signal.SIGKILL)
            pids[way] = int(p.stdout.readline())
        yield pids


def awake_ms(events, tid):
    """How long it went at most without sleeping, by its switches, in ms."""
    since, longest = None, 0
    for e in events:
        if e["next_pid"] == tid and since is None:
            since = e["ts"]
        if e["prev_pid"] == tid and since is not None:
            longest = max(longest, e["ts"] - since)
            if e["prev_state"] & 0xff:
                since = None
    return longest / MS


def away_ms(events, tid):
    """How long it was off the CPU at most, in ms."""
    left, longest = None, 0
    for e in events:
        if e["prev_pid"] == tid:
            left = e["ts"]
        elif e["next_pid"] == tid and left is not None:
            longest = max(longest, e["ts"] - left)
            left = None
    if left is not None:  # it is away still
        longest = max(longest, events[-1]["ts"] - left)
    return longest / MS


@test("asleep: a task that waits in a pipe, a futex, a poll, or is stopped, once each; by name, call and program")
def asleep():
    texts = [f"asleep>{LOOKED_MS}ms:comm=frt-{way}" for way in ("pipe", "futex", "poll", "stop")]
    texts += [f"asleep>{LOOKED_MS}ms:comm=frt-*,syscall=futex", f"asleep>{LOOKED_MS}ms:comm=frt-*,syscall=openat",
              f"asleep>{LOOKED_MS}ms:comm=frt-*,exe=python3*", f"asleep>{LOOKED_MS}ms:comm=frt-*,exe=pythonx*", "asleep>1h"]
    with tasks("pipe", "futex", "poll", "stop") as pids, rules(*texts, of=CALLS) as (a, name):
        look_until(a, lambda: all(a.of(i) for i in (0, 1, 2, 3, 4)), "each is found")
        for _ in range(3):
            a.look()
        file = dump(name)
    calls = {"pipe": 0, "futex": 202, "poll": 7} if platform.machine() == "x86_64" else {}
    for i, (way, pid) in enumerate(pids.items()):
        equal([x["tid"] for x in a.of(i)], [pid], f"alerts of {way}")
        check(a.of(i)[0]["value_ns"] > LOOKED_MS * MS, f"it waited {a.of(i)[0]['value_ns']} ns")
        event = list(replay(file, "--symbols", "-f", f"event == asleep && target_pid == {pid}"))
        check(event, f"no event of {way}")
        if way in calls:
            equal(event[0]["id"], calls[way], f"its call: {event[0]}")
        equal({e["value"] for e in event} <= {x["value_ns"] for x in a.alerts() if x["tid"] == pid}, True, "values")
    check_where(replay(file, "--symbols", "-f", "event == asleep"), pids["futex"], "futex")
    equal({x["tid"] for x in a.of(4)}, {pids["futex"]}, "who waits in a futex")
    equal([a.matched()[i] for i in (5, 7, 8)], [0, 0, 0], "times that the rules held that must not")
    equal({x["tid"] for x in a.of(6)} >= set(pids.values()), True, "those of the program")


@test("asleep: many short waits are not a long one")
def many_naps():
    since = mono_ns()
    with tasks("naps", "pipe") as pids, rules(f"asleep>{LOOKED_MS}ms:comm=frt-naps", f"asleep>{LOOKED_MS}ms:comm=frt-pipe", of=CALLS) as (a, name):
        look_until(a, lambda: a.of(1), "the other is found")
        for _ in range(10):
            a.look()
            time.sleep(0.05)
        file = dump(name)
    away, unseen = away_ms(list(replay(file, "-f", "event == sched_switch")), pids["naps"]), overwritten_since(file, since)
    equal(bool(a.of(0)) and away <= LOOKED_MS and not unseen, False, f"it was told, and was away for {away} ms; overwritten: {unseen}")


@test("asleep: a task that waits since before the rule is known with its whole wait, where waits are recorded")
def before():
    name = shared(*WAITS)
    with tasks("pipe") as pids:
        def left():
            return [e for e in replay(dump(name), "-f", f"event == sched_switch && prev_pid == {pids['pipe']}")][-1:]
        wait_for(lambda: " S " in open(f"/proc/{pids['pipe']}/stat", encoding="ascii").read(), "it sleeps")
        time.sleep(LOOKED_MS / 1000)
        switch = left()
        check(switch, "its switch is recorded")
        with rules(f"asleep>{LOOKED_MS}ms:comm=frt-pipe", of=WAITS) as (a, _):
            a.look()
            wait_for(a.alerts, "one look finds it")
            file = dump(name)
        event = list(replay(file, "-f", f"event == asleep && target_pid == {pids['pipe']}"))
    equal(len(event), 1, "events")
    check(LOOKED_MS * MS < event[0]["value"] <= event[0]["ts"] - switch[0]["ts"], f"{event[0]}, since {switch[0]['ts']}")


@test("busy: a task that never sleeps, once; one that sleeps a microsecond in between, or waits, is not")
def busy():
    texts = [f"busy>{LOOKED_MS}ms:comm=frt-{way}" for way in ("spin", "touch", "pipe")] + ["busy>1h"]
    with tasks("spin", "touch", "pipe") as pids, rules(*texts, of=CALLS) as (a, name):
        look_until(a, lambda: a.of(0), "it is found")
        for _ in range(3):
            a.look()
            time.sleep(0.05)
        file = dump(name)
    equal([x["tid"] for x in a.of(0)], [pids["spin"]], "alerts of the one that spins")
    event = list(replay(file, "-f", f"event == busy && target_pid == {pids['spin']}"))
    equal(len(event), 1, "events")
    check(LOOKED_MS * MS < event[0]["value"] and 0 < event[0]["ran"], f"{event[0]}")
    equal([a.matched()[i] for i in (2, 3)], [0, 0], "times that the rules held that must not")
    events = list(replay(file, "-f", "event == sched_switch"))
    equal(bool(a.of(1)) and awake_ms(events, pids["touch"]) <= LOOKED_MS, False,
          f"it was told, and was awake for {awake_ms(events, pids['touch'])} ms")


RATES = """
import os, signal, sys
MANY, missing = 12, f"/no/such/{os.getpid()}"
signal.signal(signal.SIGUSR1, signal.SIG_IGN)
print(os.getpid(), flush=True)
sys.stdin.readline()
with open("/proc/self/comm", "w") as f:
    f.write(sys.argv[1])
for _ in range(MANY):
    pid = os.fork()
    if not pid:
        os._exit(0)
    os.waitpid(pid, 0)
for _ in range(MANY):
    os.kill(os.getpid(), signal.SIGUSR1)
    try:
        os.open(missing, os.O_RDONLY)
    except FileNotFoundError:
        pass
for _ in range(3):
    try:
        os.open("/", os.O_WRONLY)
    except IsADirectoryError:
        pass
"""
OPENAT = {"x86_64": 257, "aarch64": 56}


@test("rate: the fork, end, signal or error that is one too many, once, of the rule's own tasks; replay --on finds the same")
def rate():
    name = f"frt-r{os.getpid() % 100000}"
    ours = [f"rate:{what}>10/1h:comm={name}" for what in ("fork", "exit", "signal", "signal:USR1", "error:openat:ENOENT", "error:openat")]
    ours.append(f"rate:fork>10/1h:comm={name},exe=python3*")
    others = [f"rate:{what}>10/1h:comm={name}" for what in ("signal:USR2", "error:openat:EISDIR", "error:close")]
    others += [f"rate:fork>12/1h:comm={name}", f"rate:fork>10/1h:comm={name}x", f"rate:fork>10/1h:comm={name},exe=pythonx*"]
    texts = ours + others
    shared(*CALLS)  # before the process, so that its program is in the file
    with subprocess.Popen([sys.executable, "-c", RATES, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as p:
        pid = int(p.stdout.readline())
        with rules(*texts, f"rate:fork>10/1h:comm={name},uid=1", of=CALLS) as (a, session):
            p.communicate("go\n", timeout=120)
            file = dump(session)
    equal(p.returncode, 0, "exit status")
    none = len(others) + 1
    equal([[x["what"] for x in a.of(i)] for i in range(len(texts) + 1)], [[11]] * len(ours) + [[]] * none, "how many, by rule")
    equal(a.matched(), [1] * len(ours) + [0] * none, "times that the rules held")
    for i, text in enumerate(ours):
        equal(a.of(i)[0]["tid"] == pid, "exit" not in text, f"whose the one too many is, of {text}: an end's is a child")
    events = list(replay(file, "-f", f'event == rate && target_comm == "{name}"'))
    call = OPENAT[platform.machine()]
    equal(sorted((e["value"], e["limit"], e["what"], e["id"], e["errno"]) for e in events),
          sorted([(11, 10, "fork", 0, 0)] * 2 + [(11, 10, "exit", 0, 0), (11, 10, "signal", int(signal.SIGUSR1), 0), (11, 10, "signal", int(signal.SIGCHLD), 0)] + [(11, 10, "error", call, 2)] * 2), "events")
    args = [arg for text in texts for arg in ("--on", text)]
    lines = [json.loads(x) for x in fr("replay", "--json", *args, file).stdout.splitlines()]
    moments = [(x["rule"], x["tid"], x["cnt"]) for x in lines if x["type"] == "moment"]
    equal(sorted(moments), [(i, a.of(i)[0]["tid"], 11) for i in range(len(ours))], "what replay --on finds")


if __name__ == "__main__":
    main()
