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
ATTACHED = "__BPFTRACE_NOTIFY_PROBES_ATTACHED"  # set, bpftrace says so on stderr
# The load of rules.c; the tracepoint; flightrec's event; what bpftrace prints of it
WATCHED = (
    ("calls", "a system call", "raw_syscalls:sys_enter", "sys_enter", 'printf("%llu %d %ld\\n", nsecs, tid, args->id)'),
    ("switches", "a switch", "sched:sched_switch", "sched_switch", 'printf("%llu %d %d\\n", nsecs, tid, args->next_pid)'),
)


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


def recorders(tracepoint, event, action, tmp):
    """Who is measured: name, how it is begun."""
    events = [tracepoint]
    yield "flightrec", lambda: flightrec(event)
    yield "flightrec, clock local", lambda: flightrec(event, "--clock", "local")
    for clock in "local", "mono", "global":
        yield f"ftrace, clock {clock}", lambda clock=clock: overwriting.Ftrace(events, KIB, clock)
    yield "perf record --overwrite", lambda: overwriting.PerfDropped(events, KIB, tmp)
    yield "bpftrace, a line for each event", lambda: bpftrace(tracepoint, action, tmp)
    yield "bpftrace, counting only", lambda: bpftrace(tracepoint, "@ = count()", tmp)


def load_ns(load):
    return json.loads(common.run(os.path.join(common.BIN, "rules"), load).stdout)[load]


def take_turns(load, who, rounds):
    """ns added by each recorder in each round, without it just before; or the reason why there is no figure."""
    added, off = {name: [] for name, _ in who}, []
    for _ in range(rounds):
        for name, begin in who:
            if isinstance(added[name], str):
                continue
            off.append(load_ns(load))
            try:
                with begin():
                    added[name].append(load_ns(load) - off[-1])
            except (OSError, SystemExit) as e:
                added[name] = str(e)
    return added, off


def table(load, what, tracepoint, event, action, rounds):
    common.title(f"As added to {what}, ns, {tracepoint} recorded; {KIB // 1024} MiB a CPU; with and without by turns")
    load_ns(load)
    with tempfile.TemporaryDirectory(prefix="frbench-") as tmp:
        added, off = take_turns(load, list(recorders(tracepoint, event, action, tmp)), rounds)
    common.row(f"{what} without", off, "ns", peer="nobody")
    for name, of in added.items():
        if isinstance(of, str):
            common.not_measured(f"added to {what}", name, of, "ns", load=load)
        else:
            common.row(f"added to {what}", of, "ns", peer=name, load=load)
    return added


def promise(added, peer, at_most):
    what, reasons = f"flightrec / {peer}", [of for of in (added["flightrec"], added[peer]) if isinstance(of, str)]
    if reasons:
        common.not_measured(what, "flightrec", reasons[0])
    else:
        common.row(what, [a / b for a, b in zip(added["flightrec"], added[peer])], "", at_most=at_most)


@common.part("calls", order=12)
def calls(opts):
    """What is added to a system call and to a switch: ftrace's clocks, perf record, bpftrace, beside ours."""
    for watched in WATCHED:
        added = table(*watched, 1 if opts.quick else 3)
        if watched[0] == "calls":
            for clock in "local", "mono", "global":
                promise(added, f"ftrace, clock {clock}", 0.7 if clock == "local" else None)
            promise(added, "perf record --overwrite", 0.3)
