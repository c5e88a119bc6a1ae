# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What recording costs whole programs, for each profile, beside ftrace and perf record --overwrite with the same events.

A run with a recorder stands between runs without, some tenths of a second away, and is compared with those two: what a virtual
machine gets of its host changes by the second.
"""
import contextlib
import itertools
import json
import os
import statistics
import subprocess
import tempfile
import time

import common
import overwriting
import sampling
import timed

KIB = 8192
DEFAULT_EVENTS = tuple(e for e in overwriting.FULL if not e.startswith(("raw_syscalls:", "exceptions:", "irq:softirq_")))
HZ = 99  # of samples, as a session that is not asked for others takes them


# ---- recorders: on() is a context in which it records ----

class Toggled:
    """A session of flightrec, begun once: its start takes a second, most of which it measures what it costs. toggle.c.
    instead: "empty" or "clock" for programs of which this is all, in place of its own."""

    begun = 0

    def __init__(self, *options, instead=None):
        self.options, self.instead, self.used = options, instead, False

    def __enter__(self):
        Toggled.begun += 1
        self.name = f"{common.NAME}-{Toggled.begun}"
        toggle = os.path.join(common.BIN, "toggle")
        if not os.path.exists(toggle):
            raise OSError("toggle.c is built with the tree's library only")
        common.run(common.FLIGHTREC, "record", "-n", self.name, "--unattended", "-m", f"{KIB}K", *self.options)
        self.p = subprocess.Popen([toggle, os.path.join(os.path.dirname(common.PINS), self.name), str(HZ),
                                   *([self.instead] if self.instead else [])], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            self.hear("on")
            self.say("off")
            self.written = common.written(self.name)
        except (OSError, SystemExit):
            self.end()
            raise
        return self

    def __exit__(self, kind, *failed):
        """written: what it had when it was taken off first."""
        try:
            if not kind and self.used and not self.instead and common.written(self.name) == self.written:
                raise OSError(f"{self.name} recorded nothing")
        finally:
            self.end()

    def end(self):
        self.p.communicate()
        common.run(common.FLIGHTREC, "stop", "-n", self.name)

    def say(self, what):
        self.p.stdin.write(f"{what}\n")
        self.p.stdin.flush()
        self.hear(what)

    def hear(self, what):
        if self.p.stdout.readline() != f"{what}\n":
            raise OSError(f"toggle does not say {what}")

    @contextlib.contextmanager
    def on(self):
        self.say("on")
        self.used = True
        try:
            yield
        finally:
            self.say("off")


class Sessions(contextlib.ExitStack):
    """So many Toggled ones alike, which record in turns: one covers other cache lines than the next, as long as they live."""

    def __init__(self, cnt, *options, instead=None):
        super().__init__()
        self.sessions = [Toggled(*options, instead=instead) for _ in range(cnt)]

    def __enter__(self):
        with contextlib.ExitStack() as begun:
            self.turn = itertools.cycle([begun.enter_context(s) for s in self.sessions])
            self.push(begun.pop_all())
        return self

    def on(self):
        return next(self.turn).on()


class Begun(contextlib.nullcontext):
    """One that is begun for each run: begin() makes its context."""

    def __init__(self, begin):
        super().__init__(self)
        self.on = begin


def ftrace(events):
    return lambda tmp, cnt: Begun(lambda: overwriting.Ftrace(events, KIB))


def perf(events):
    return lambda tmp, cnt: Begun(lambda: overwriting.PerfDropped(events, KIB, tmp))


def flightrec(*options, instead=None):
    return lambda tmp, cnt: Sessions(cnt, *options, instead=instead)


OFF, DEFAULT, WITH_CALLS = "nobody", "flightrec, default", "flightrec, default and system calls"
# What is left of them if their programs do nothing but that: the least that a recorder by BPF can cost
CLOCK, CLOCK_CALLS, EMPTY_CALLS = (f"floor: {what}" for what in (
    "the clock only, default", "the clock only, default and system calls", "empty programs, default and system calls"))
# A group less or more than a profile records: what it costs
NO_WAITS, ENDS = "flightrec, default without waits", "flightrec, default and ends of system calls"
SOFTIRQS = "flightrec, default and softirqs"
RECORDERS = {
    OFF: lambda tmp, cnt: Begun(contextlib.nullcontext),
    CLOCK: flightrec("-p", "default", instead="clock"),
    EMPTY_CALLS: flightrec("-p", "default", "-e", "syscall", instead="empty"),
    CLOCK_CALLS: flightrec("-p", "default", "-e", "syscall", instead="clock"),
    "flightrec, minimal": flightrec("-p", "minimal"),
    DEFAULT: flightrec("-p", "default"),
    WITH_CALLS: flightrec("-p", "default", "-e", "syscall"),
    NO_WAITS: flightrec("-p", "default", "-e", "-wait"),
    SOFTIRQS: flightrec("-p", "default", "-e", "softirq"),
    ENDS: flightrec("-p", "default", "-e", "sys_exit"),
    "flightrec, full": flightrec("-p", "full"),
    "ftrace, the default's events": ftrace(DEFAULT_EVENTS),
    "ftrace, the full's events": ftrace(overwriting.FULL),
    "perf record --overwrite, the default's events": perf(DEFAULT_EVENTS),
    "perf record --overwrite, the full's events": perf(overwriting.FULL),
}
# Whose programs are timed by the kernel, too
COUNTED = (CLOCK, CLOCK_CALLS, DEFAULT, WITH_CALLS, "flightrec, full")
FLOORS = (CLOCK, EMPTY_CALLS, CLOCK_CALLS)
LESS = (NO_WAITS, SOFTIRQS, ENDS)
# Without --quick only
LONG = (*FLOORS, *LESS, "flightrec, minimal", "flightrec, full", "ftrace, the full's events", "perf record --overwrite, the full's events")

# What is promised, by load, and the floor of it: of whom, and how many more runs of each a turn; by turns with as many without
MORE_RUNS = {
    "messaging": [((DEFAULT,), 20)],
    "redis": [((DEFAULT, WITH_CALLS), 10), (FLOORS, 5), (LESS, 5)],
    "nginx": [((DEFAULT, WITH_CALLS), 8), (FLOORS, 4), (LESS, 4)],
}
TURNS, QUICK_SHARE = 2, 14
COUNTING_S = 20  # what count_time() takes, about
SESSIONS = 3  # of each kind


# ---- runs ----

class Run:
    """One of a load. at: the middle of it, in seconds."""

    def __init__(self, who, load):
        begin = time.monotonic()
        self.who, self.got = who, load.run()
        self.at = (begin + time.monotonic()) / 2


def run_all(load, order, recorders, failed, until=None):
    """The load with each of these after the other, so that those next to each other saw the same machine. until: when this ends, but
    not before each had one."""
    runs = []
    for nr, who in enumerate(order):
        if nr and until and time.monotonic() > until and set(order) <= {OFF, *order[:nr]} and order[nr - 1] == OFF:
            break
        if who in failed:
            continue
        try:
            with recorders[who].on():
                runs.append(Run(who, load))
        except (OSError, SystemExit, subprocess.TimeoutExpired) as e:
            if who == OFF:
                raise
            failed[who] = str(e)
    return runs


def order_of_all(who, nr):
    """Each once; two between two runs without, in each other turn the second first."""
    order = [OFF]
    for i in range(0, len(who), 2):
        order += [*(who[i:i + 2][::-1] if nr % 2 else who[i:i + 2]), OFF]
    return order


def order_of_promised(who, times):
    return [OFF, *(next_one for _ in range(times) for w in who for next_one in (w, OFF))]


def without(runs, nr, metric):
    """What run nr would have been without a recorder, by the runs before and behind it that were; the nearer one counts more."""
    before = next((r for r in reversed(runs[:nr]) if r.who == OFF), None)
    behind = next((r for r in runs[nr + 1:] if r.who == OFF), None)
    if not before or not behind:
        return None
    share = (runs[nr].at - before.at) / (behind.at - before.at)
    return before.got[metric] * (1 - share) + behind.got[metric] * share


def slower(value, off, more_is_better):
    return 100 * ((off / value if more_is_better else value / off) - 1)


def slower_of(metric, who, stretches):
    """Percent of each of its runs."""
    found = []
    for runs in stretches:
        for nr, run in enumerate(runs):
            off = without(runs, nr, metric.name) if run.who == who else None
            if off:
                found.append(slower(run.got[metric.name], off, metric.more_is_better))
    return found


class Stretch:
    """Runs without a gap. spare: left out where time is short; shorter: ended before its end then, if each was run once."""

    def __init__(self, load, order, spare=False, shorter=False):
        self.load, self.order, self.spare, self.shorter = load, order, spare, shorter

    def least(self):
        """How many runs it has where time is short."""
        return 0 if self.spare else 2 * len(set(self.order)) - 1 if self.shorter else len(self.order)


def plan(loads, recorders, quick):
    """All stretches, in their order."""
    here = [who for who in recorders if who != OFF]
    for nr in range(1 if quick else TURNS):
        for load in loads:
            yield Stretch(load, order_of_all(here, nr), spare=nr > 0)
            for who, times in MORE_RUNS.get(load.name, ()):
                yield Stretch(load, order_of_promised(who, times // (QUICK_SHARE if quick else 1)), shorter=True)


def take_turns(loads, recorders, failed, until, quick):
    """By load: stretches of runs. until: when all should have ended, or None; each that may be shorter gets its share of what is left."""
    stretches, run_s = {load.name: [] for load in loads}, {}
    planned = list(plan(loads, recorders, quick))
    for nr, s in enumerate(planned):
        now, end, rest = time.monotonic(), None, planned[nr:]
        if until and s.spare and now + run_s[s.load.name] * len(s.order) + sum(run_s[r.load.name] * r.least() for r in rest) > until:
            continue
        if until and s.shorter:
            end = now + (until - now) * len(s.order) / sum(len(r.order) for r in rest)
        stretches[s.load.name].append(run_all(s.load, s.order, recorders, failed, end))
        run_s[s.load.name] = (time.monotonic() - now) / max(1, len(stretches[s.load.name][-1]))
    return stretches


# ---- the kernel's count ----

def programs_ns():
    """How long each BPF program of the machine has run, by the kernel's count: by its id."""
    return {p["id"]: p.get("run_time_ns", 0) for p in json.loads(common.run("bpftool", "-j", "prog").stdout)}


def count_time(loads, recorders, others):
    """By load and recorder: percent of all CPUs' time in programs while the load ran. Noise of the machine does not show in it."""
    got, was = {}, sampling.set_stats("1")
    try:
        for who in COUNTED:
            if who not in recorders:
                continue
            with recorders[who].on():
                for load in loads:
                    before, began = programs_ns(), time.monotonic_ns()
                    load.run()
                    of = (time.monotonic_ns() - began) * os.cpu_count()
                    spent = sum(ns - before.get(nr, 0) for nr, ns in programs_ns().items() if nr not in others)
                    got[load.name, who] = 100 * spent / of
    finally:
        sampling.set_stats(was)
    return got


# ---- tables ----

def promised(load, who):
    """At most so many percent slower, or None."""
    if who == DEFAULT:
        return {"messaging": 2, "redis": 2, "nginx": 3}.get(load.name)
    return 15 if who == WITH_CALLS and load.name in ("redis", "nginx") else None


def rows_of_noise(load, metric, stretches):
    """How runs without differ from the median of those of their stretch."""
    noise = []
    for runs in stretches:
        values = [r.got[metric.name] for r in runs if r.who == OFF]
        noise += [slower(value, statistics.median(values), metric.more_is_better) for value in values]
    common.row(metric.noise, noise, "%", peer=OFF, load=load.name)


def rows_of_metric(load, metric, stretches, failed):
    for who in RECORDERS:
        if who in failed:
            common.not_measured(metric.name, who, failed[who], metric.unit, load=load.name)
            continue
        common.row(metric.name, [r.got[metric.name] for runs in stretches for r in runs if r.who == who], metric.unit, peer=who,
                   load=load.name)
        if not metric.slower:
            continue
        if who == OFF:
            rows_of_noise(load, metric, stretches)
        else:
            limit = promised(load, who) if metric.slower == timed.SLOWER else None
            common.row(metric.slower, slower_of(metric, who, stretches), "%", peer=who, at_most=limit, load=load.name)


def table(load, stretches, failed, in_programs):
    """in_programs: what count_time() got."""
    common.title(f"{load.what[0].upper()}{load.what[1:]}: with each recorder, {KIB // 1024} MiB a CPU; by turns")
    if isinstance(load.run, str):
        for who in RECORDERS:
            common.not_measured(load.what, who, load.run, load=load.name)
        return
    for metric in load.metrics:
        rows_of_metric(load, metric, stretches, failed)
    for who in COUNTED:
        if (load.name, who) in in_programs:
            common.report("time in its programs, by the kernel's count, of all CPUs'", in_programs[load.name, who], "%", peer=who,
                          load=load.name)


def begin_all(stack, tmp, cnt, failed):
    """Those that can be begun, cnt sessions of each; not recording yet."""
    recorders = {}
    for who, make in RECORDERS.items():
        if who in failed:
            continue
        try:
            recorders[who] = stack.enter_context(make(tmp, cnt))
        except (OSError, SystemExit) as e:
            failed[who] = str(e)
    return recorders


@common.part("programs", order=14, last=True)
def programs(opts):
    """Whole programs: perf bench pipe and messaging, a build, redis, nginx; profiles, ftrace, perf record."""
    with tempfile.TemporaryDirectory(prefix="frbench-") as tmp, contextlib.ExitStack() as stack:
        loads = timed.make_loads(tmp, stack, opts.quick)
        here = [load for load in loads if not isinstance(load.run, str)]
        others, failed = programs_ns(), {who: "left out because of --quick" for who in LONG if opts.quick}
        recorders = begin_all(stack, tmp, 1 if opts.quick else SESSIONS, failed)
        for load in here:
            load.run()  # the caches, and files that are read once
        until = opts.until - COUNTING_S * (not opts.quick) if opts.until else None
        stretches = take_turns(here, recorders, failed, until, opts.quick)
        in_programs = {} if opts.quick else count_time(here, recorders, others)
    for load in loads:
        table(load, stretches.get(load.name), failed, in_programs)
