# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""How much history the same memory holds."""
import glob
import os
import subprocess
import tempfile
import time

import common
import overwriting

LOADS = (  # what, events, what flightrec is asked for, command
    ("mixed load, all events", overwriting.FULL, ("-p", "full", "-e", "-sample"), None),
    ("pipe, scheduling", overwriting.SCHED, ("-p", "minimal", "-e", "-task", "-e", "-signal", "-e", "task"),
     ("perf", "bench", "sched", "pipe", "-l", "20000")),
    ("calls of dd, system calls", overwriting.CALLS, ("-p", "minimal", "-e", "-sched", "-e", "-signal", "-e", "syscall"),
     ("dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=300000")),
)

# Of records as ours are, short forms included; bytes more an event than ours, whose time, event, length and task are 12
COMPUTED = (
    ("bpf_ringbuf with the same records, 8 bytes before each", 8),
    ("bpf_perf_event_output: head, task and time 24 bytes, size 4", 16),
    ("LTTng-UST: its compact head 4 bytes, vtid 4", -4),
)


def run_load(command, seconds):
    """On all CPUs, again and again. ns of CLOCK_MONOTONIC when it ended."""
    if command is None:
        common.load(seconds)
    else:
        script = f'end=$((SECONDS + {seconds})); while ((SECONDS < end)); do "$@" || exit; done'
        loads = [subprocess.Popen(["taskset", "-c", str(cpu), "bash", "-c", script, "load", *command],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for cpu in range(os.cpu_count())]
        if any([p.wait() for p in loads]):
            raise SystemExit(f"bench: {' '.join(command)} fails")
    return time.monotonic_ns()


def ours(options, kib, tmp, work):
    """Events, seconds, and bytes of a record in the ring that flightrec has."""
    path = os.path.join(tmp, "x.flight")
    with common.session("-m", f"{kib}K", *options):
        end = work()
        common.dump(path)
    facts = common.info(path)
    os.unlink(path)
    main = next(t for t in facts["tiers"] if t["name"] == "main")
    return facts["events"], (end - main["horizon_ns"]) / 1e9, facts["raw_bytes"] / facts["events"]


def wrapped(peer, events, kib, tmp, work):
    with (overwriting.Ftrace(events, kib) if peer is overwriting.Ftrace else overwriting.Perf(events, kib, tmp)) as buffer:
        end = work()
        buffer.stop()
        cnt, horizon = buffer.kept()
        return cnt, (end - horizon) / 1e9


def one_load(what, events, options, command, kib, seconds, rounds):
    """All sides by turns."""
    mib = kib * os.cpu_count() / 1024
    got = {}
    record = 0
    work = lambda: run_load(command, seconds)
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(prefix="frbench-") as tmp:
            cnt, span, record = ours(options, kib, tmp, work)
            got.setdefault("flightrec", []).append((cnt / mib, span))
            for peer in overwriting.Ftrace, overwriting.Perf:
                try:
                    cnt, span = wrapped(peer, events, kib, tmp, work)
                    got.setdefault(peer.peer, []).append((cnt / mib, span))
                except OSError as e:
                    got[peer.peer] = str(e)
    for peer, turns in got.items():
        if isinstance(turns, str):
            common.not_measured(f"{what}: events a MiB", peer, turns, "1/MiB", load=what)
            continue
        common.row(f"{what}: events a MiB", [t[0] for t in turns], "1/MiB", peer=peer, load=what)
        common.row(f"{what}: seconds", [t[1] for t in turns], "s", peer=peer, load=what)
    for peer, head in COMPUTED:
        common.report(f"{what}: events a MiB, computed", common.MIB / (record + head), "1/MiB", peer=peer, load=what)
    common.not_measured(f"{what}: events a MiB", "LTTng, kernel events", lttng_reason(), "1/MiB", load=what)
    if not isinstance(got[overwriting.Ftrace.peer], str):
        ours_mib, ftrace_mib = ([t[0] for t in got[who]] for who in ("flightrec", overwriting.Ftrace.peer))
        common.ratio_row(f"{what}: flightrec's events a MiB / ftrace's", ours_mib, ftrace_mib, at_least=2.5, load=what)


def lttng_reason():
    release = os.uname().release
    if not glob.glob(f"/lib/modules/{release}/**/lttng-tracer.ko*", recursive=True):
        return f"no lttng-modules for kernel {release.split('-')[0]} are installed"
    return "lttng-modules are installed, but this benchmark has never seen them"


@common.part("kept", order=45)
def kept(opts):
    """How much history the same memory holds, beside ftrace and perf."""
    kib, seconds, rounds = (4096, 2, 1) if opts.quick else (8192, 3, 2)
    common.title(f"History kept in {kib // 1024} MiB a CPU of the same load")
    for what, events, options, command in LOADS[:1] if opts.quick else LOADS:
        one_load(what, events, options, command, kib, seconds, rounds)
