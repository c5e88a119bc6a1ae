# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What recorders that attach to the kernel add to a system call and to a switch: rules.c has the loads."""
import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import time

import common
import overwriting

KIB = 4096
ONE, ALL = "one", "all"  # CPUs: how rules takes it
ATTACHED = "__BPFTRACE_NOTIFY_PROBES_ATTACHED"  # set, bpftrace says so on stderr
# The load of rules.c; the tracepoint; flightrec's event; what bpftrace prints of it; hot's programs on it
WATCHED = (
    ("calls", "a system call", "raw_syscalls:sys_enter", "sys_enter", 'printf("%llu %d %ld\\n", nsecs, tid, args->id)', "call"),
    ("switches", "a switch", "sched:sched_switch", "sched_switch", 'printf("%llu %d %d\\n", nsecs, tid, args->next_pid)', "switch"),
)
CLOCKS = ("local", "global:0", "global:1us", "global:2us")
OF_QUICK = ("flightrec", "flightrec, clock local", "bpf_ringbuf, emptied every ms", "bpf_perf_event_output, overwriting",
            "ftrace, clock local", "perf record --overwrite")


@contextlib.contextmanager
def flightrec(event, *options):
    with common.session("-p", "minimal", "-m", f"{KIB}K", "-e", "-sched", "-e", "-signal", "-e", event, *options):
        yield


@contextlib.contextmanager
def bpftrace(tracepoint, action, tmp):
    """Its output is thrown away."""
    if not shutil.which("bpftrace"):
        raise OSError("bpftrace is not installed")
    said = os.path.join(tmp, "bpftrace.said")
    with open(said, "w", encoding="utf-8") as err:
        p = subprocess.Popen(["bpftrace", "-e", f"tracepoint:{tracepoint} {{ {action}; }}"], stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=err, env={**os.environ, ATTACHED: "1"})
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
        p.kill()
        p.wait()


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


def recorders(tracepoint, event, action, program, tmp):
    """Who is measured: name, how it is begun."""
    events = [tracepoint]
    yield "flightrec", lambda: flightrec(event)
    for clock in CLOCKS:
        yield f"flightrec, clock {clock}", lambda clock=clock: flightrec(event, "--clock", clock)
    yield "bpf_ringbuf, emptied every ms", lambda: one_program(f"{program}_ringbuf")
    yield "bpf_perf_event_output, overwriting", lambda: one_program(f"{program}_perfbuf")
    for clock in "local", "mono", "global":
        yield f"ftrace, clock {clock}", lambda clock=clock: overwriting.Ftrace(events, KIB, clock)
    yield "perf record --overwrite", lambda: overwriting.PerfDropped(events, KIB, tmp)
    yield "bpftrace, a line for each event", lambda: bpftrace(tracepoint, action, tmp)
    yield "bpftrace, counting only", lambda: bpftrace(tracepoint, "@ = count()", tmp)


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
        who = list(recorders(tracepoint, event, action, program, tmp))
        added, off = take_turns(load, [(name, begin) for name, begin in who if not quick or name in OF_QUICK], 1 if quick else 2)
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


def promises(added):
    for clock in "local", "mono", "global":
        promise(added, f"ftrace, clock {clock}", 0.7 if clock == "local" else None)
    promise(added, "perf record --overwrite", 0.3)


def promise(added, peer, at_most):
    what, reasons = f"flightrec / {peer}", [of for of in (added["flightrec"], added[peer]) if isinstance(of, str)]
    if reasons:
        common.not_measured(what, "flightrec", reasons[0])
    else:
        common.row(what, [a / b for a, b in zip(added["flightrec"], added[peer])], "", at_most=at_most)


@common.part("calls", order=12)
def calls(opts):
    """What is added to a system call and to a switch: ftrace's clocks, perf record, bpftrace, beside ours."""
    for watched in WATCHED[:1] if opts.quick else WATCHED:
        table(*watched, opts.quick)
