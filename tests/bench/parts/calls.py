# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What recorders that attach to the kernel add to a system call and to a switch: rules.c has the loads."""
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

import common
import overwriting

KIB = 4096
LEAST = 10_000  # events that the loads make by far
ONE, ALL = "one", "all"  # CPUs: how rules takes it
ATTACHED = "__BPFTRACE_NOTIFY_PROBES_ATTACHED"  # set, bpftrace says so on stderr
# The load of rules.c; the tracepoint; flightrec's event; what bpftrace prints of it; hot's programs on it
WATCHED = (
    ("calls", "a system call", "raw_syscalls:sys_enter", "sys_enter", 'printf("%llu %d %ld\\n", nsecs, tid, args->id)', "call"),
    ("switches", "a switch", "sched:sched_switch", "sched_switch", 'printf("%llu %d %d\\n", nsecs, tid, args->next_pid)', "switch"),
)
BY_LINE = "bpftrace, a line for each event"
CLOCKS = ("local", "global:0", "global:1us", "global:2us", "global:10us")
OF_QUICK = ("flightrec", "flightrec, clock local", "bpf_ringbuf, emptied every ms", "bpf_perf_event_output, overwriting",
            "ftrace, clock local", "perf record --overwrite")


@contextlib.contextmanager
def flightrec(event, *options):
    with common.session("-p", "minimal", "-m", f"{KIB}K", "-e", "-sched", "-e", "-signal", "-e", event, *options):
        yield
        if common.written() < LEAST:
            raise OSError("the load was not recorded")


@contextlib.contextmanager
def bpftrace(tracepoint, action, tmp, lost):
    """Appends to lost how many events it lost and how many lines it printed."""
    if not shutil.which("bpftrace"):
        raise OSError("bpftrace is not installed")
    said, lines = os.path.join(tmp, "bpftrace.said"), os.path.join(tmp, "bpftrace.lines")
    with open(said, "w", encoding="utf-8") as err, open(lines, "wb") as out:
        p = subprocess.Popen(["bpftrace", "-e", f"tracepoint:{tracepoint} {{ {action}; }}"], stdin=subprocess.DEVNULL,
                             stdout=out, stderr=err, env={**os.environ, ATTACHED: "1"})
    try:
        for _ in range(600):
            with open(said, encoding="utf-8") as f:
                text = f.read()
            if ATTACHED in text:
                break
            if p.poll() is not None:
                raise OSError(f"bpftrace: {text}")
            time.sleep(0.05)
        else:
            raise OSError("bpftrace does not begin")
        yield
    finally:
        p.send_signal(signal.SIGINT)  # it reads what is left, and what was lost, when the loads let it
        try:
            p.wait(10)
        except subprocess.TimeoutExpired:
            p.kill()
            p.wait()
    lost.append(count_lost(lines))


def count_lost(path):
    """Of bpftrace's output, which has "Lost 12 events" between its lines."""
    with open(path, "rb") as f:
        text = f.read()
    told = [int(cnt) for cnt in re.findall(rb"^Lost (\d+) events$", text, re.M)]
    return sum(told), text.count(b"\n") - len(told)


@contextlib.contextmanager
def one_program(name):
    """A program of hot.bpf.c alone."""
    with subprocess.Popen([os.path.join(common.BIN, "hot"), "attach", name], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as p:
        if "attached" not in p.stdout.readline():
            raise OSError(p.stderr.read())
        yield
        said = p.communicate()[1]
        if p.returncode:
            raise OSError(said)


def recorders(tracepoint, event, action, program, tmp, lost):
    """Who is measured: name, how it is begun. lost: what BY_LINE loses, and prints, each time."""
    events = [tracepoint]
    yield "flightrec", lambda: flightrec(event)
    for clock in CLOCKS:
        yield f"flightrec, clock {clock}", lambda clock=clock: flightrec(event, "--clock", clock)
    yield "bpf_ringbuf, emptied every ms", lambda: one_program(f"{program}_ringbuf")
    yield "bpf_perf_event_output, overwriting", lambda: one_program(f"{program}_perfbuf")
    for clock in "local", "mono", "global":
        yield f"ftrace, clock {clock}", lambda clock=clock: overwriting.Ftrace(events, KIB, clock)
    yield "perf record --overwrite", lambda: overwriting.PerfDropped(events, KIB, tmp)
    yield BY_LINE, lambda: bpftrace(tracepoint, action, tmp, lost)
    yield "bpftrace, counting only", lambda: bpftrace(tracepoint, "@ = count()", tmp, [])


def load_ns(load, where):
    return json.loads(common.run(os.path.join(common.BIN, "rules"), load, where).stdout)[load]


def take_turns(load, who, rounds):
    """By ONE and ALL: ns added by each recorder in each round, without it just before, or the reason why there is no figure; and
    what it is without."""
    added, off = {where: {name: [] for name, _ in who} for where in (ONE, ALL)}, {ONE: [], ALL: []}
    for _ in range(rounds):
        for name, begin in who:
            if isinstance(added[ONE][name], str):
                continue
            for where, of in off.items():
                of.append(load_ns(load, where))
            try:
                with begin():
                    for where in off:
                        added[where][name].append(load_ns(load, where) - off[where][-1])
            except (OSError, SystemExit) as e:
                added[ONE][name] = added[ALL][name] = str(e)
    return added, off


def table(load, what, tracepoint, event, action, program, quick):
    """One CPU, and all; what is promised is of one."""
    load_ns(load, ONE)
    with tempfile.TemporaryDirectory(prefix="frbench-") as tmp:
        lost = []
        who = list(recorders(tracepoint, event, action, program, tmp, lost))
        added, off = take_turns(load, [(name, begin) for name, begin in who if not quick or name in OF_QUICK], 1 if quick else 3)
    for name, _ in who:
        for of in added.values():
            of.setdefault(name, "left out because of --quick")
    for where, cpus in (ONE, ""), (ALL, f" on each of {os.cpu_count()} CPUs at the same time"):
        common.title(f"As added to {what}{cpus}, ns, {tracepoint} recorded; {KIB // 1024} MiB a CPU; with and without by turns")
        common.row(f"{what} without", off[where], "ns", peer="nobody")
        for name, of in added[where].items():
            at = {"load": load, "cpus": where}
            if isinstance(of, str):
                common.not_measured(f"added to {what}", name, of, "ns", **at)
            else:
                common.row(f"added to {what}", of, "ns", peer=name, **at)
        if load == "calls" and where == ONE:
            promises(added[where])
    if lost:
        common.row("of the events of both tables lost", [100 * cnt / max(1, cnt + lines) for cnt, lines in lost], "%", peer=BY_LINE, load=load)


def promises(added):
    for clock in "local", "mono", "global":
        promise(added, f"ftrace, clock {clock}", 0.7 if clock == "local" else None)
    promise(added, "perf record --overwrite", 0.3)


def promise(added, peer, at_most):
    what, reasons = f"flightrec / {peer}", [of for of in (added["flightrec"], added[peer]) if isinstance(of, str)]
    if reasons:
        common.not_measured(what, "flightrec", reasons[0])
    else:
        common.ratio_row(what, added["flightrec"], added[peer], at_most=at_most)


@common.part("calls", order=12)
def calls(opts):
    """What is added to a system call and to a switch: ftrace's clocks, perf record, bpftrace, beside ours."""
    for watched in WATCHED[:1] if opts.quick else WATCHED:
        table(*watched, opts.quick)
