#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
The holdoff watch: which holdoffs are found, who it was, and what becomes of them when nobody reads. Lengths are compared with the
session's events, and with the moments that the hog tells. Stops of the watch, its ticks, sums of culprits and samples that are due are in
tests/unit/test_holdstop.c, test_culprits.c and test_due.c, on a clock of theirs; what is made of a ring is in test_holdoff.c.
"""
import contextlib
import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import tty

from frtest import *
from recorder import NOBODY, attached, kill
from t_governor import LEAST, NONE, governed

SPIN_NS = 20_000_000
CPUS = sorted(os.sched_getaffinity(0))


class Watch:
    """A watch that runs: what it tells, as it comes; lines() once it has ended."""

    def __init__(self, name, *options, before=(), stdout=None, env=None):
        self.name, self.lines, self.text = name, [], ""
        self.p = subprocess.Popen([*before, FLIGHTREC, "watch", "-n", name, "--json", *map(str, options)], stdin=subprocess.DEVNULL,
                                  stdout=stdout or subprocess.PIPE, stderr=subprocess.PIPE, env=env)
        self.err, self.out = "", b""
        self.readers = [threading.Thread(target=self.read_err, daemon=True)]
        if not stdout:
            self.readers.append(threading.Thread(target=self.read_out, args=(self.p.stdout.fileno(),), daemon=True))
        for r in self.readers:
            r.start()

    def read_err(self):
        for line in self.p.stderr:
            self.err += line.decode()

    def read_out(self, fd):
        with contextlib.suppress(OSError):
            while more := os.read(fd, 65536):
                self.out += more

    def told(self, what=None):
        """Whole lines so far, of this kind."""
        got = [json.loads(line) for line in self.out.decode().splitlines(keepends=True) if line.endswith("\n")]
        return [e for e in got if what in (None, e["watch"])]

    def wait_begin(self):
        wait_for(lambda: self.p.poll() is not None or b"\n" in self.out, "the watch begins")
        check(self.p.poll() is None, f"the watch has ended: {self.err}")
        return self.told("begin")[0]

    def end(self, status=0):
        if self.p.poll() is None:
            self.p.send_signal(signal.SIGINT)
        equal(self.p.wait(120), status, f"exit status of watch: {self.err}")
        for r in self.readers:
            r.join(120)
        return self.told()


@contextlib.contextmanager
def watching(*options, name=None, **kw):
    """A watch that has begun, of the session that tests share unless one is named; nothing is left of it."""
    name = name or shared(*WATCHED)
    w = Watch(name, *options, **kw)
    try:
        if not kw.get("stdout"):
            w.wait_begin()
        yield w
    finally:
        w.p.kill()
        w.p.wait()
        wait_for(lambda: not asked(name), "the keeper has put the rate back")


def asked(name):
    """Watches that ask a session for their rate of samples."""
    with contextlib.suppress(FileNotFoundError):
        return [e for e in os.listdir(f"{SESSIONS}/{name}") if e.startswith("asked-")]


def hog(cpu, cnt=3, ms=SPIN_NS / 1e6, nap_ms=60, prio=80, *more):
    """Keep a CPU for so long, so often: [(begin, end)], ns."""
    p = run(helper("hog"), cpu, prio, cnt, ms, nap_ms, *more, status=None)
    if p.returncode == 77:
        raise Skip("no right to real-time priority here")
    equal(p.returncode, 0, "exit status of hog")
    return [tuple(map(int, line.split())) for line in p.stdout.splitlines()]


def overlap(h, begin, end):
    return min(h["ts"] + h["length_ns"], end) - max(h["ts"], begin)


def match(told, cpu, spins):
    """For each spin the holdoff that has most of it, None: there is none."""
    mine = [h for h in told if h["cpu"] == cpu]
    got = []
    for begin, end in spins:
        best = max(mine, key=lambda h: overlap(h, begin, end), default=None)
        got.append(best if best and overlap(best, begin, end) > (end - begin) / 2 else None)
    return got


def until_told(w, spins):
    """What is still to be told when a watch ends is told no more. Spins: (cpu, begin, end). Who checks them says which one is missing."""
    with contextlib.suppress(Failed):
        wait_for(lambda: all(match(w.told("holdoff"), cpu, [(begin, end)])[0] for cpu, begin, end in spins), "all are told")


INTERVAL_NS = 1_000_000  # --interval, where none is given
GRAIN_NS = 500_000  # GRAIN_MAX_NS of a recording: so far apart may the times of two CPUs be


def hog_nr(h):
    """Which of what ran was the hog; None: it did not."""
    return next((i for i, r in enumerate(h["ran"]) if r.get("comm") == "hog"), None)


def frames(h, ran):
    return {f.get("name") for k in h["stacks"] if k["ran"] == ran for f in k["user"]}


def check_whole(h, spin):
    """
    The watch had the lower priority, so all the time from the hog's first look at the clock to its last one is in the holdoff. Where the
    ring does not say what was before, a holdoff begins when the watch meant to run: up to an interval later.
    """
    begin, end = h["ts"], h["ts"] + h["length_ns"]
    asleep_ns = INTERVAL_NS if h["incomplete"] else 0
    check(begin <= spin[0] + asleep_ns + GRAIN_NS and spin[1] <= end + GRAIN_NS, f"{spin} is not in {begin} to {end}: {h}")


def check_hog(h, spin):
    """Of one holdoff: what does not depend on how busy the machine is."""
    check(h, f"no holdoff was told of {spin}")
    # a hypervisor may take the CPU away while another has it, just before: then that one has the longest time
    check(hog_nr(h) is not None and h["ran"][hog_nr(h)]["prio"] == 19, f"the hog is not named: {h}")
    check_whole(h, spin)
    check(not h["incomplete"], f"incomplete: {h}")
    equal(sum(r["ns"] for r in h["ran"]) + h["other_ns"] + h["own_ns"], h["length_ns"], f"all of it was told: {h}")


@test("functions that the kernel maps into each process have names")
def vdso():
    with watching() as w:
        if w.told("begin")[0]["policy"] != "fifo":
            raise Skip("no right to real-time priority here")
        with subprocess.Popen([helper("hog"), str(CPUS[0]), "80", "3", str(SPIN_NS // 1000000), "60", "clock"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True) as p:  # it must live while names are looked up
            spins = [tuple(map(int, p.stdout.readline().split())) for _ in range(3)]
            until_told(w, [(CPUS[0], *spin) for spin in spins])
            told = w.end()
            p.stdin.close()
    of_hog = [h for h in match([h for h in told if h["watch"] == "holdoff"], CPUS[0], spins) if h and hog_nr(h) is not None]
    user = [f for h in of_hog for k in h["stacks"] if k["ran"] == hog_nr(h) for f in k["user"]]
    check(any("clock_gettime" in (f.get("name") or "") and f.get("module") == "[vdso]" for f in user), f"frames: {user}")


@test("a hog of higher priority on each CPU: all found, from begin to end, named, its stack")
def lengths():
    with watching() as w:
        begin = w.told("begin")[0]
        if begin["policy"] != "fifo":
            raise Skip("no right to real-time priority here")
        equal((begin["own_session"], begin["sample_hz"], begin["prio"]), (False, 1000, 50), "begin")
        spins = {cpu: hog(cpu, 6) for cpu in CPUS[:2]} | {}
        short = hog(CPUS[0], 4, 3.0)
        told = w.end()
    found = [h for h in told if h["watch"] == "holdoff"]
    total = named = 0
    for cpu, list_ in list(spins.items()) + [(CPUS[0], short)]:
        for h, spin in zip(match(found, cpu, list_), list_):
            check_hog(h, spin)
            total += 1
            named += {"hog_inner", "main"} <= frames(h, hog_nr(h))
    # frames may be overwritten before a busy machine comes to look them up
    check(named, f"{named} of {total} stacks have the function")
    last = told[-1]
    equal(last["watch"], "end", "the last line")
    equal(last["holdoffs"], len(found), "holdoffs in all")
    equal(sum(b["cnt"] for b in last["histogram"]), len(found), "holdoffs in the histogram")
    equal(sum(c["told"] for c in last["cpus"]), len(found), "holdoffs by CPU")
    equal(sum(d["holdoffs"] for d in last["due_to"]) + last["due_to_others"], len(found), "holdoffs by culprit")
    check(all(0 < c["woke"] <= c["expected"] and c["missed"] == 0 for c in last["cpus"]), last)


def context(events, cpu, from_ns, to_ns):
    """Who ran on a CPU in [from, to), by the events: {what: ns}. Another way than the watch's: forwards."""
    spent, task, soft, irq, since = {}, None, None, [], from_ns

    def spend(until):
        nonlocal since
        lo, hi = max(since, from_ns), min(until, to_ns)
        running = ("task", task) if task else ("idle", 0)
        who = ("irq", irq[-1]) if irq else ("softirq", soft) if soft is not None else running
        if hi > lo:
            spent[who] = spent.get(who, 0) + hi - lo
        since = max(since, until)

    first = next((e for e in events if e["event"] == "sched_switch" and e["ts"] >= from_ns), None)
    task = first["prev_pid"] if first else None
    for e in events:
        if e["ts"] >= to_ns:
            break
        if e["event"] == "sched_switch":
            spend(e["ts"])
            task = e["next_pid"]
        elif e["event"] == "softirq_entry":
            spend(e["ts"])
            soft = e["vec"]
        elif e["event"] == "softirq_exit":
            spend(e["ts"])
            soft = None
        elif e["event"] == "irq_handler_entry":
            spend(e["ts"])
            irq.append(e["irq"])
        elif e["event"] == "irq_handler_exit":
            spend(e["ts"])
            irq = irq[:-1]
    spend(to_ns)
    return spent


@test("who ran for how long: to the nanosecond what the snapshot's events say, softirqs and handlers apart")
def exact():
    cpu = CPUS[-1]
    with watching("--cpu", cpu) as w:
        spins = hog(cpu, 8, 20, 30, 80, "net")
        wait_for(lambda: len([h for h in match(w.told("holdoff"), cpu, spins) if h]) == 8, "all are told")
        file = dump(w.name)
        told = w.end()
        equal([e["cpu"] for e in told if e["watch"] == "holdoff" and e["cpu"] != cpu], [], "other CPUs")
        events = [e for e in replay(file, "-f", f"cpu == {cpu} && (event == sched_switch || event ~ \"irq_*\" || event ~ \"softirq_*\")")]
    checked = 0
    for h, spin in zip(match(told[1:-1], cpu, spins), spins):
        check_hog(h, spin)
        kinds = {(r["what"], r.get("name", r.get("comm"))) for r in h["ran"]}
        check(("softirq", "NET_RX") in kinds and ("task", "hog") in kinds, f"no packets among {kinds}")
        # switches away from some tasks are not told, neither by BPF nor by ftrace, where a kernel hides them
        if h["gaps"]:
            continue
        want = context(events, cpu, h["ts"], h["ts"] + h["length_ns"])
        got = {(r["what"], r.get("vec", r.get("irq", r.get("tid")))): r["ns"] for r in h["ran"]}
        own = [ns for who, ns in want.items() if who not in got]
        equal({who: ns for who, ns in want.items() if who in got}, got, "time of each")
        equal(sum(own), h["own_ns"] + h["other_ns"], f"time of the watch itself: {want}, {h}")
        checked += 1
    if not checked:
        raise Skip("this kernel does not tell all switches")
    return f"{checked} holdoffs, {len(events)} events"


def keep_in(what, cnt, ms):
    """Handlers that take so long, of softirqs or interrupts: [(cpu, begin, end)], ns."""
    file = path("handler.data")
    with open(file, "wb") as f:
        f.write(bytes(1 << 16))
        f.flush()
        os.fsync(f.fileno())
    p = run(helper("handler"), what, cnt, ms, 60, file, status=None)
    if p.returncode == 77:
        raise Skip(f"no {what} comes when it is called for, or none can be kept")
    equal(p.returncode, 0, f"exit status of handler: {p.stderr}")
    return [tuple(map(int, line.split())) for line in p.stdout.splitlines()]


def check_handlers(what, found, spins, name):
    """
    Each is found, as long as it was, and it is the handler's time, not that of the task it interrupted. What others added before
    and after, as softirqs do that had to wait, is one holdoff with it, and is told as theirs: there is no more to its length.
    """
    for cpu, begin, end in spins:
        h = match(found, cpu, [(begin, end)])[0]
        check(h, f"no holdoff was told of CPU {cpu}, {begin} to {end}: {[x for x in found if x['cpu'] == cpu]}")
        check(not h["incomplete"], f"incomplete: {h}")
        mine = [r for r in h["ran"] if r["what"] == what and (name is None or r["name"] == name)]
        check(mine and mine[0]["ns"] + GRAIN_NS >= end - begin, f"not the time of {what}: {h}, {end - begin}")
        check_whole(h, (begin, end))
        equal(sum(r["ns"] for r in h["ran"]) + h["other_ns"] + h["own_ns"], h["length_ns"], f"all of it is told: {h}")
        equal([r["ns"] for r in h["ran"]], sorted((r["ns"] for r in h["ran"]), reverse=True), f"the longest first: {h}")
        check(mine[0]["ns"] <= h["length_ns"], f"longer than its holdoff: {h}")


@test("softirqs alone: each that keeps a CPU is found, with its length and name")
def softirqs():
    with watching() as w:
        spins = keep_in("soft", 8, 12)
        until_told(w, spins)
        told = w.end()
    check_handlers("softirq", [h for h in told if h["watch"] == "holdoff"], spins, "NET_RX")


@test("handlers of interrupts alone: likewise")
def interrupts():
    with watching() as w:
        spins = keep_in("irq", 6, 6)
        until_told(w, spins)
        told = w.end()
    check_handlers("irq", [h for h in told if h["watch"] == "holdoff"], spins, None)


@test("a CPU that is kept without end: the watch ends when it is told to, and says so")
def kept():
    if len(CPUS) < 2:
        raise Skip("only one CPU")
    cpu = CPUS[-1]
    with watching("--cpu", cpu) as w:
        keeper = subprocess.Popen([helper("hog"), str(cpu), "80", "1", "60000", "1"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        try:
            def keeps():
                if keeper.poll() == 77:
                    raise Skip("no right to real-time priority here")
                with open(f"/proc/{keeper.pid}/schedstat") as f:
                    return int(f.read().split()[0]) > 100_000_000
            wait_for(keeps, "the CPU is kept")
            told = w.end()
            equal(keeper.poll(), None, "exit status of who still keeps it")
        finally:
            keeper.kill()
            keeper.wait()
    check(f"CPU {cpu} is still held off" in w.err, w.err)
    equal([told[-1]["watch"], told[-1]["cpus"][0]["offline"]], ["end", False], "its end")


class Stopped:
    """A terminal that nobody reads until it is told to."""

    def __init__(self):
        self.master, self.slave = pty.openpty()
        tty.setraw(self.slave)

    def close(self):
        for fd in (self.master, self.slave):
            with contextlib.suppress(OSError):
                os.close(fd)


def on_stopped(*options, cnt):
    """A watch whose terminal stands still for cnt spins: what it told then, the spins, and its end."""
    t = Stopped()
    cpu = CPUS[0]
    try:
        with watching("--cpu", cpu, *options, stdout=t.slave) as w:
            wait_for(lambda: select.select([t.master], [], [], 0)[0], "the watch begins")
            spins = hog(cpu, cnt, 5, 10)
            reader = threading.Thread(target=w.read_out, args=(t.master,), daemon=True)
            reader.start()
            wait_for(lambda: len([h for h in match(w.told("holdoff"), cpu, spins) if h])
                     + sum(m["holdoffs"] for m in w.told("missed")) >= cnt, "it goes on")
            w.p.send_signal(signal.SIGINT)
            wait_for(lambda: w.told("end"), "it ends")
            equal(w.p.wait(120), 0, "exit status")
            return w.told(), spins, w.told("end")[0]["cpus"][0]
    finally:
        t.close()


@test("a stopped terminal loses no holdoff while the queue has room")
def stopped():
    told, spins, last = on_stopped("--queue", "1000", cnt=60)
    got = match([h for h in told if h["watch"] == "holdoff"], CPUS[0], spins)
    equal([spin for h, spin in zip(got, spins) if not h], [], "spins that were not told")
    equal((last["missed"], last["told"]), (0, last["holdoffs"]), "missed")


@test("a stopped terminal and a small queue: what has no room is counted, all is told or counted")
def stopped_small():
    told, spins, last = on_stopped("--queue", "5", cnt=60)
    holdoffs = [h for h in told if h["watch"] == "holdoff"]
    missed = sum(m["holdoffs"] for m in told if m["watch"] == "missed")
    check(missed > 0 and missed == last["missed"], f"missed: {missed}, {last}")
    equal(len(holdoffs) + missed, last["holdoffs"], "told and counted")
    got = [h for h in match(holdoffs, CPUS[0], spins) if h]
    # a hypervisor's have room in the queue before and between them
    kept = [h for h in holdoffs if h["ts"] < spins[-1][1]]
    check(len(kept) >= 5 and len(got) + missed >= len(spins), f"{len(got)} told, {missed} counted of {len(spins)}")
    check(last["missed_max_ns"] >= told[0]["threshold_ns"], last)


@test("without the right to real-time priority: said once, with a baseline; holdoffs are found")
def normal_priority():
    if not shutil.which("setpriv"):
        raise Skip("setpriv is not installed")
    cpu = CPUS[0]
    before = ["setpriv", "--bounding-set", "-sys_nice", "--inh-caps", "-sys_nice"]
    with watching("--cpu", cpu, before=before) as w:
        equal(w.told("begin")[0]["policy"], "other", "policy")
        wait_for(lambda: "baseline" in w.err, "the baseline")
        spins = hog(cpu)
        until_told(w, [(cpu, *spin) for spin in spins])
        told = w.end()
    equal(w.err.count("no right to real-time priority"), 1, w.err)
    equal(w.err.count("baseline"), 1, w.err)
    for h, spin in zip(match([h for h in told if h["watch"] == "holdoff"], cpu, spins), spins):
        check(h, f"no holdoff was told of {spin}")
        check("hog" in [r.get("comm") for r in h["ran"]], h)


def links(name):
    """The sampling links' ids: another rate is another link."""
    pin = f"{SESSIONS}/{name}/link-cpu_sample-{CPUS[0]}"
    # while it is replaced it is not there
    got = wait_for(lambda: (p := run("bpftool", "-j", "link", "show", "pinned", pin, status=None)).returncode == 0 and p, "the link")
    return json.loads(got.stdout)["id"]


@test("a session that records is read beside its recorder, sampled faster meanwhile and as before afterwards, killed or not")
def beside():
    name = shared(*WATCHED)
    before = links(name)
    for sig in (signal.SIGINT, signal.SIGKILL):
        with watching(name=name) as w:
            begin = w.told("begin")[0]
            equal((begin["session"], begin["own_session"], begin["sample_hz"]), (name, False, 1000), "begin")
            meanwhile = links(name)
            check(meanwhile != before, "samples are taken as before")
            spins = hog(CPUS[0], 1)
            wait_for(lambda: match(w.told("holdoff"), CPUS[0], spins)[0], "it is told")
            fr("verify", dump(name))
            w.p.send_signal(sig)
            equal(w.p.wait(120), 0 if sig == signal.SIGINT else -sig, "exit status")
        wait_for(lambda: links(name) != meanwhile, "the rate is as before")
        before = links(name)
        check(exists(name), "the session is gone")
    with watching("--hz", "0", name=name) as w:
        equal(w.told("begin")[0]["sample_hz"], 99, "rate that was left alone")
        equal(links(name), before, "link that was left alone")
        w.end()


def rate(name):
    return status(name)["cpu_profile"]["hz"]


@test("watches of one session: the greatest rate that one of them asks for, and what it was after the last, in whatever order they end")
def rates():
    name = shared(*WATCHED)
    own = rate(name)
    for first, second, then in ((1000, 2000, 2000), (2000, 1000, 1000), (1000, 1000, 1000)):
        with watching("--hz", first, name=name) as a, watching("--hz", second, name=name) as b:
            equal([b.told("begin")[0]["sample_hz"], rate(name)], [max(first, second)] * 2, "rate of both")
            a.end()
            equal(rate(name), then, f"rate of {second} alone, after {first}")
            b.p.kill()
            b.p.wait()
            wait_for(lambda: rate(name) == own, "the rate is as before")
    equal(asked(name), [], "what is left of them")


@test("a recorder that adopts a session beside a watch leaves the rate to it")
def adopted():
    name = shared(*WATCHED)
    own = rate(name)
    with attached(WATCHED, NOBODY) as first, watching(name=name) as w:
        kill(first)
        with attached(WATCHED, NOBODY):
            equal(rate(name), 1000, "rate")
            w.end()
            equal(rate(name), own, "rate afterwards")


@test("a rate that somebody else lowers meanwhile is told")
def lowered():
    with governed(NONE, what=WATCHED) as r, watching(name=r.name) as w, busy():
        r.change(LEAST)
        wait_for(lambda: "somebody else has changed the rate" in w.err, "it is told")
        said = re.search(r"samples are taken (\d+) times a second now, not 1000", w.err)
        check(said and int(said[1]) < 1000, w.err)
        w.end()


def counted(name):
    """Samples expected and taken until some time, and that time."""
    p = fr_json("profile", "-n", name, "--since", "1h")
    w = p["window"]
    equal(w["taken"], w["counted"] + w["lost"], "taken = counted + lost")
    equal(w["taken"], p["taken_ever"], "all is in the last hour")
    return w["expected"], w["end_ns"]


def check_due(a, b, hz):
    """What is expected of the time between, at that rate, by the tool's own clock; a part of a sample of each CPU may be cut off."""
    due = (b[1] - a[1]) / 1e9 * hz * os.cpu_count()
    check(abs(b[0] - a[0] - due) <= 2 * os.cpu_count(), f"{b[0] - a[0]} samples are expected of {b[1] - a[1]} ns at {hz}, not {due:.1f}")


@test("a profile beside a watch expects the samples of the raised rate, and of its own afterwards; each is counted or lost")
def beside_profile():
    name = shared(*WATCHED)
    with watching("--hz", "1999", name=name) as w:
        equal(rate(name), 1999, "rate")
        begin = counted(name)
        time.sleep(0.5)
        check_due(begin, counted(name), 1999)
        w.end()
    wait_for(lambda: rate(name) == 99, "the rate is as before")
    rest = counted(name)
    time.sleep(0.5)
    check_due(rest, counted(name), 99)


@test("beside a session that lacks what is needed the watch has its own, which a kill ends; a ring that wraps within the holdoff is said",
      own="the watch begins and ends one")
def own():
    cpu, name = CPUS[0], shared(*MINIMAL)
    with watching("--cpu", cpu, "-m", "256K", "--hz", "99", name=name) as w:
        begin = w.told("begin")[0]
        check(begin["own_session"] and begin["session"] != name, begin)
        check("does not record" in w.err, w.err)
        spins = hog(cpu, 3, 150, 100, 80, "net")
        until_told(w, [(cpu, *spin) for spin in spins])
        found = match(w.told("holdoff"), cpu, spins)
        w.p.kill()
        w.p.wait()
        wait_for(lambda: not exists(begin["session"]), "its session is gone")
        check(exists(name), "the session is gone")
    for h, spin in zip(found, spins):
        check(h, f"no holdoff was told of {spin}")
        check(h["incomplete"] and 0 < h["known_ns"] < h["length_ns"], f"complete: {h}")
        check_whole(h, spin)
        equal(sum(r["ns"] for r in h["ran"]) + h["other_ns"] + h["own_ns"], h["known_ns"], "what is known")


@test("--on: a snapshot of the session, its trigger in the ring; the same again has its cooldown")
def snapshot():
    begin = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    with watching("--on", "holdoff>10ms:comm=hog,last=5s") as w:
        wait_for(lambda: hog(CPUS[0], 1) and len(w.told("snapshot")) >= 2, "two are told")
        told = w.end()
    snaps = [e for e in told if e["watch"] == "snapshot"]
    equal([(e["verdict"], e["file"] is not None) for e in snaps],
          [("taken", True)] + [("dedupe", False)] * (len(snaps) - 1), "verdicts")
    equal(told[-1]["snapshots"], 1, "snapshots in the end")
    file = snaps[0]["file"]
    fr("verify", file)
    info = fr_json("info", file)
    equal((info["trigger"]["reason"], info["trigger"]["comm"]), ("holdoff", "hog"), "trigger")
    # it is told just before its snapshot
    h = told[told.index(snaps[0]) - 1]
    check(h["watch"] == "holdoff" and h["length_ns"] > 10_000_000 and hog_nr(h) == 0, h)
    marks = [e for e in replay(file, "-f", "event == trigger") if e["reason"] == "holdoff" and e["ts"] >= begin]
    equal([(e["at"], e["verdict"], e["target_pid"]) for e in marks], [(h["ts"], 0, h["ran"][0]["tid"])], "mark in the ring")


@test("--on: a snapshot that cannot be written is told, and in the end the exit status says so, too")
def unwritten():
    dir = tempfile.mkdtemp(dir=TMP)
    with watching("--on", "holdoff>10ms:comm=hog", "-o", dir) as w:
        os.rmdir(dir)
        wait_for(lambda: hog(CPUS[0], 1) and w.told("snapshot"), "it is told")
        told = w.end(status=1)
    snaps = [(e["verdict"], e["file"]) for e in told if e["watch"] == "snapshot"]
    equal((snaps[0], told[-1]["snapshots"]), (("failed", None), 0), "verdict and file of the first, snapshots in the end")
    check("directory" in w.err, w.err)


@test("text: a line for each with who and how long, a line with its stack, and a histogram")
def text():
    name = shared(*WATCHED)
    p = subprocess.Popen([FLIGHTREC, "watch", "-n", name, "--cpu", str(CPUS[0])], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         text=True)
    try:
        said = p.stderr.readline()
        while "watching" not in said:
            check(said, "it has ended")
            said = p.stderr.readline()
        hog(CPUS[0], 6)
        p.send_signal(signal.SIGINT)
        out, err = p.communicate(timeout=120)
    finally:
        p.kill()
    equal(p.returncode, 0, err)
    lines = out.splitlines()
    mine = [i for i, line in enumerate(lines) if re.search(r" cpu \d+ +[0-9.]+ ms  hog\[\d+\] ", line)]
    check(len(mine) >= 2, out)
    check(any("hog_inner < " in lines[i + 1] and "samples)" in lines[i + 1] for i in mine), out)
    check("holdoffs of 2 ms and more" in out and "####" in out and "due to" in out, out)
    check("\x1b" not in out, "colour in a pipe")
    check(" on 1 CPU: " in out and all(line == line.rstrip() for line in lines), f"words and blanks: {lines}")


@test("a terminal is told that programs are being loaded, before the watch begins; a pipe is not; its session ends with it",
      own="a watch begins it")
def loading():
    t, name = Stopped(), new_name()
    with ended(name), contextlib.closing(t):
        p = subprocess.Popen([FLIGHTREC, "watch", "-n", name, "--cpu", str(CPUS[0])], stdout=subprocess.DEVNULL, stderr=t.slave)
        try:
            said = b""
            while b"watching" not in said:
                check(select.select([t.master], [], [], 120)[0], f"nothing more is said: {said}")
                said += os.read(t.master, 4096)
            p.send_signal(signal.SIGINT)
            equal(p.wait(120), 0, "exit status")
        finally:
            p.kill()
            p.wait()
    equal(said.count(b"loading programs"), 1, said)
    check(said.index(b"loading") < said.index(b"watching"), said)
    check(not exists(name), "its session is still there")


@test("a watch that is itself stopped, and goes on, says so; it is no holdoff of a CPU, and takes no snapshot")
def paused():
    dir, real = tempfile.mkdtemp(dir=TMP), []
    for after in (None, signal.SIGINT):
        with watching("--threshold", "100us", "--interval", "200us", "--on", "holdoff>1s", "-o", dir) as w:
            interval_ns = w.told("begin")[0]["interval_ns"]
            w.p.send_signal(signal.SIGSTOP)
            wait_for(lambda: " T " in open(f"/proc/{w.p.pid}/stat").read(), "it is stopped")
            stopped = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
            time.sleep(1.2)  # longer than the rule's limit
            went_on = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
            if after:
                w.p.send_signal(after)  # taken when it goes on, together with that
            w.p.send_signal(signal.SIGCONT)
            if not after:
                wait_for(lambda: w.told("stopped"), "it is told")
            told = w.end()
        stops = [e["length_ns"] for e in told if e["watch"] == "stopped"]
        # it was due once in an interval
        check(len(stops) == 1 and stops[0] >= went_on - stopped - interval_ns, f"stopped for {went_on - stopped} ns, told: {stops}")
        equal([e for e in told if e["watch"] == "holdoff" and overlap(e, stopped, went_on) > (went_on - stopped) / 2], [], "holdoffs of it")
        equal(sum(c["holdoffs"] for c in told[-1]["cpus"]), told[-1]["holdoffs"], "holdoffs by CPU")
        real += [e for e in told if e["watch"] == "holdoff" and e["length_ns"] > 1_000_000_000]  # a hypervisor's
    check(real or not [e for e in os.listdir(dir) if "holdoff" in e], "a snapshot, and no holdoff")


@test("a watch whose thread is moved off its CPU says so, and watches that CPU again")
def moved():
    if len(CPUS) < 2:
        raise Skip("only one CPU")
    with watching("--cpu", CPUS[0]) as w:
        mine = [int(tid) for tid in os.listdir(f"/proc/{w.p.pid}/task") if os.sched_getaffinity(int(tid)) == {CPUS[0]}]
        equal(len(mine), 1, "threads of its CPU")
        os.sched_setaffinity(mine[0], {CPUS[1]})
        wait_for(lambda: f"CPU {CPUS[0]} came online" in w.err, f"it is watched again: {w.err}")
        equal(w.err.count(f"CPU {CPUS[0]} went offline"), 1, w.err)
        spins = hog(CPUS[0])
        until_told(w, [(CPUS[0], *spin) for spin in spins])
        told = w.end()
    for h, spin in zip(match([h for h in told if h["watch"] == "holdoff"], CPUS[0], spins), spins):
        check_hog(h, spin)


@test("stop while the watch loads a session of its own: it waits until there is one, and both end well",
      own="a watch begins it")
def stopped_early():
    name = new_name()
    w = Watch(name)
    try:
        wait_for(lambda: os.path.isdir(f"{SESSIONS}/{name}"), "it is being made")
        p = fr("stop", "-n", name)
        equal(w.p.wait(120), 0, f"exit status of watch: {w.err}")
        check("cannot be reached" not in p.stderr, p.stderr)
        check("loading" not in w.err, w.err)
        check(not os.path.exists(f"{SESSIONS}/{name}"), "the session is still there")
    finally:
        w.p.kill()
        w.p.wait()


@test("usage: values that are none, CPUs that are not there, triggers of others; record names the watch")
def usage():
    for args, word in ((["--cpu", "x"], "list of CPUs"), (["--cpu", "65000"], "no CPU 65000"), (["--threshold", "5"], "duration"),
                       (["--interval", "1ns"], "not from"), (["--prio", "FIFO:100"], "1 to 99"), (["--prio", "high"], "FIFO:1"),
                       (["--queue", "0"], "not a number"), (["--on", "crash"], "holdoff>T only"), (["--on", "holdof>5ms"], "holdoff"),
                       (["--on", "holdoff"], "needs a time"), (["--on", "holdoff>5ms,post=1s"], "makes no sense"),
                       (["--on", "holdoff>5ms", "--threshold", "6ms"], "is below the 6 ms"),
                       (["--on", "holdoff>500ns"], "is below the 1 us"),
                       (["-m", "1"], "too little memory"), (["-n", "../x"], "not a session's name"), (["nonsense"], "follow")):
        got = fr("watch", *args, status=2)
        check(word in got.stderr, f"{args}: {got.stderr}")
    with watching("--on", "holdoff>7ms", "--on", "holdoff>900us") as w:
        equal(w.told("begin")[0]["threshold_ns"], 900_000, "the threshold that the rules need")
    got = fr("record", "--on", "holdoff>5ms", "-n", new_name(), "-o", TMP, status=2)
    check("flightrec watch" in got.stderr, got.stderr)


if __name__ == "__main__":
    main()
