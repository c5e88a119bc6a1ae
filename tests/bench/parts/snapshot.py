# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Snapshots: how long they take, what they hold up, what they lose; beside ftrace, perf and LTTng-UST."""
import glob
import json
import os
import re
import signal
import subprocess
import tempfile
import time

import common
import lttng
import overwriting

# A real-time task may have 950 ms of each second, then the kernel stops it: so 350 ms, and a rest.
WRITER_MS, EVERY_US, TAKEN_AFTER_S, REST_S = 350, 20, 0.06, 0.05
BEGUN_NS = 30_000_000
TAKEN = re.compile(r", in ([\d.]+ \w+), the rings read after ([\d.]+ \w+)")
FEW = 64 * common.MIB  # rings for which a dump has two threads, and takes no more than that
LARGE_MIB = 64  # a CPU: more than what a dump has for copies in any case (user/live/snapshot/dump_int.h)
STALL_MS = 0.1  # what a snapshot may add to a writer's longest pause: less than that is what the machine does by itself


def fill():
    """System calls on each CPU, until 16 MiB have been overwritten."""
    loads = [subprocess.Popen(["taskset", "-c", str(cpu), "dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=400000"],
                              stderr=subprocess.DEVNULL) for cpu in range(os.cpu_count())]
    for p in loads:
        p.wait()


def writer():
    """A task on the first CPU that makes system calls, and tells its longest pauses."""
    return subprocess.Popen([os.path.join(common.BIN, "stall"), "0", str(WRITER_MS), str(EVERY_US)], stdout=subprocess.PIPE,
                            text=True)


def pause_ms(p):
    return json.loads(p.communicate()[0])["longest_ns"][0] / 1e6


def silence_ms(stamps):
    """The longest time without an event of the writer, once it has begun."""
    stamps = sorted(stamps)
    stamps = [s for s in stamps if s > stamps[0] + BEGUN_NS]
    if len(stamps) < 2:
        raise OSError("the writer was not recorded")
    return max(b - a for a, b in zip(stamps, stamps[1:])) / 1e6


def turns(take, after, rounds):
    """
    By turns a writer alone and one beside a snapshot. Longest pauses without and with, ns of snapshots, and the longest
    silences in what is recorded, but for as long as the writer did pause: of none where after() has no stamps to tell.
    """
    alone, beside, took, silence = [], [], [], []
    for _ in range(rounds):
        alone.append(pause_ms(writer()))
        time.sleep(REST_S)
        p = writer()
        time.sleep(TAKEN_AFTER_S)
        taken, ns = take()
        beside.append(pause_ms(p))
        took.append(ns)
        stamps = after(p.pid, taken)
        if stamps is not None:
            silence.append(max(0.0, silence_ms(stamps) - beside[-1]))
        time.sleep(REST_S)
    return alone, beside, took, silence


def by_recorder(tmp, rounds):
    """Snapshots that a recorder takes, whose memory is there before: ns until the rings were read, and until the file was synced."""
    taken = []
    args = [common.FLIGHTREC, "record", "-n", common.NAME, "-p", "full", "-m", "16M", "-o", tmp]
    with subprocess.Popen(["chrt", "-f", "1", *args], text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as p:
        try:
            wait_for_line(p.stderr, "history")
            fill()
            for _ in range(rounds):
                p.send_signal(signal.SIGUSR1)
                found = TAKEN.search(wait_for_line(p.stderr, "the rings read after"))
                taken.append((common.ns(found[2]), common.ns(found[1])))
        finally:
            p.terminate()
            p.communicate()
            common.leave_nothing()
    return taken


def wait_for_line(stream, word):
    for line in stream:
        if word in line:
            return line
    raise OSError("the recorder ended")


def held_up(peer, alone, beside, silence, promised):
    common.row("longest pause of a writer, no snapshot", alone, "ms", peer=peer)
    common.row("longest pause of a writer while one is taken", beside, "ms", peer=peer)
    common.report("the longest of all rounds, no snapshot", max(alone), "ms", peer=peer)
    common.report("the longest of all rounds while one is taken", max(beside), "ms", peer=peer)
    # What a snapshot held up it would hold up each time; what the machine does by itself comes and goes.
    common.report("of this the snapshot's: difference of the smallest", max(0, min(beside) - min(alone)), "ms",
                  limit=STALL_MS if promised else None, peer=peer)
    common.row("longest time that is missing in what was recorded of it", silence, "ms", peer=peer)


# ---- flightrec ----

def last_cpu(*args):
    return subprocess.run(["taskset", "-c", str(os.cpu_count() - 1), *args], capture_output=True, text=True, check=True)


def our_stamps(pid, path):
    out = common.run(common.FLIGHTREC, "replay", "--json", "-f", f'event == "sys_enter" && tid == {pid}', path).stdout
    return [json.loads(line)["ts"] for line in out.splitlines()]


def our_turns(tmp, rounds):
    count = iter(range(1000))

    def take():
        path = os.path.join(tmp, f"turn{next(count)}.flight")
        begin = time.monotonic_ns()
        last_cpu(common.FLIGHTREC, "dump", "-n", common.NAME, "-o", path)
        return path, time.monotonic_ns() - begin

    def after(pid, first):
        second = take()[0]
        return our_stamps(pid, first) + our_stamps(pid, second)
    return turns(take, after, rounds)


def lost(path):
    """Events that were lost while it was recorded, and laps that could not be read."""
    cpus = common.info(path)["cpus"]
    return sum(sum(c["lost"].values()) for c in cpus), sum(c["holes"] for c in cpus)


def no_losses(losses):
    """Promised of each snapshot, not of most of them."""
    common.report("under a mixed load: events lost, the most of a snapshot", max(n[0] for n in losses), "", limit=0)
    common.report("under a mixed load: holes, sub-buffers that could not be read, the most", max(n[1] for n in losses), "", limit=0)


def under_load(tmp, rounds):
    """Snapshots while both CPUs record a mixed load: times, losses."""
    load = subprocess.Popen([os.path.join(common.HERE, "mixed.sh"), str(rounds)])
    taken, losses = [], []
    for i in range(rounds):
        path = os.path.join(tmp, f"load{i}.flight")
        taken.append(common.dump(path))
        losses.append(lost(path))
        time.sleep(0.3)
    load.wait()
    return taken, losses


def read_ms(path):
    """How long each earlier snapshot copied and encoded the rings, in ms, as its marks in this one tell."""
    out = common.run(common.FLIGHTREC, "replay", "--json", "-f", 'event == "snapshot_begin" || event == "snapshot_end"', path).stdout
    begun, took = {}, []
    for mark in map(json.loads, out.splitlines()):
        if mark["event"] == "snapshot_begin":
            begun[mark["nr"]] = mark["ts"]
        elif mark["nr"] in begun:
            took.append((mark["ts"] - begun[mark["nr"]]) / 1e6)
    return took


def in_turns(tmp, rounds):
    """Snapshots by two CPUs and by one, which has one thread encode, in turns: what each took, and how long of this the rings."""
    by_two, by_one = [], []
    for i in range(rounds):
        by_two.append(common.dump(os.path.join(tmp, f"{i}.flight"), *common.TWO_CPUS))
        by_one.append(common.dump(os.path.join(tmp, f"one{i}.flight"), *common.ONE_CPU))
    last = os.path.join(tmp, "last.flight")
    common.dump(last)
    took = read_ms(last)[-2 * rounds:]
    return by_two, by_one, took[::2], took[1::2]


def large():
    """Rings that only fit in memory that is lent for the snapshot: one after the other copies them, or each CPU does."""
    with common.session("-p", "full", "-m", f"{LARGE_MIB}M"), tempfile.TemporaryDirectory(prefix="frbench-") as tmp:
        for _ in range(LARGE_MIB // 16):
            fill()
        common.dump(os.path.join(tmp, "warm.flight"))
        by_two, by_one, _, _ = in_turns(tmp, 3)
    case = f"rings of {LARGE_MIB} MiB a CPU, by the command dump"
    common.row(f"{case}, on two CPUs: all bytes copied", [t[1] / 1e6 for t in by_two], "ms")
    common.row(f"{case}, on one CPU: all bytes copied", [t[1] / 1e6 for t in by_one], "ms")
    common.row(f"{case}, on two CPUs: the file complete and synced", [t[2] / 1e6 for t in by_two], "ms")


def ours(opts):
    rounds = 2 if opts.quick else 9
    with common.session("-p", "full", "-m", "16M"), tempfile.TemporaryDirectory(prefix="frbench-") as tmp:
        fill()
        rings = sum(common.ring_memory().values())
        for i in range(3):  # a virtual machine's memory may have to be backed by its host before it is fast
            common.dump(os.path.join(tmp, f"warm{i}.flight"))
        taken, alone, read, read_alone = in_turns(tmp, rounds)
        common.row("events in it", [t[0] for t in taken], "")
        common.row("by the command dump, which takes memory for copies first: all bytes copied", [t[1] / 1e6 for t in taken], "ms", at_most=20)
        common.row("by the command dump: the file complete and synced", [t[2] / 1e6 for t in taken], "ms")
        common.row("by the command dump, on one CPU: the file complete and synced", [t[2] / 1e6 for t in alone], "ms")
        common.row("of this, rings copied and encoded, on two CPUs", read, "ms")
        common.row("of this, rings copied and encoded, on one CPU", read_alone, "ms")
        common.report("memory of the dump, the rings it maps not counted", (max(t[3] for t in taken) - rings) / common.MIB, "MiB",
                      64 if rings < FEW else None)
        taken, losses = under_load(tmp, 1 if opts.quick else 5)
        common.row("under a mixed load: all bytes copied", [t[1] / 1e6 for t in taken], "ms")
        common.row("under a mixed load: the file complete and synced", [t[2] / 1e6 for t in taken], "ms")
        no_losses(losses)
        alone, beside, took, silence = our_turns(tmp, 2 if opts.quick else 12)
    common.row("beside the writer: until the command has ended", [ns / 1e6 for ns in took], "ms")
    held_up("flightrec", alone, beside, silence, True)
    with tempfile.TemporaryDirectory(prefix="frbench-") as tmp:
        taken = by_recorder(tmp, rounds)
    common.row("by a recorder, its memory taken before: all bytes copied", [t[0] / 1e6 for t in taken], "ms", at_most=20)
    common.row("by a recorder: the file complete and synced", [t[1] / 1e6 for t in taken], "ms")
    if not opts.quick:
        large()


# ---- ftrace ----

def ftrace(opts, kib):
    """Its pages are read while it is stopped: this is what is left of its snapshots where the kernel has none."""
    with overwriting.Ftrace(overwriting.FULL, kib) as f, tempfile.TemporaryDirectory(prefix="frbench-") as tmp:
        why = "this benchmark does not use it" if os.path.exists(f"{f.dir}/snapshot") else "kernel without CONFIG_TRACER_SNAPSHOT"
        common.not_measured("the file complete and synced", "ftrace, its snapshot file", why, "ms")

        def take():
            begin = time.monotonic_ns()
            f.stop()
            f.read_raw(os.path.join(tmp, "raw"))
            f.go_on()
            return None, time.monotonic_ns() - begin
        fill()
        took = []
        for _ in range(1 if opts.quick else 4):
            fill()
            took.append(take()[1])
        # Silence is the time it was stopped: what is read is gone, and no event can show it.
        alone, beside, _, _ = turns(take, lambda pid, _: None, 1 if opts.quick else 6)
        common.row("the file complete and synced", [ns / 1e6 for ns in took], "ms", peer="ftrace, stopped and read")
        held_up("ftrace, stopped and read", alone, beside, [ns / 1e6 for ns in took], False)


# ---- perf ----

def perf_stamps(pid, path):
    return [at for _, at in overwriting.script_stamps(path, "--tid", str(pid))]


def perf(opts, kib):
    with tempfile.TemporaryDirectory(prefix="frbench-") as tmp, overwriting.PerfSwitch(overwriting.FULL, kib, tmp) as p:
        took, sizes = [], []
        for _ in range(1 if opts.quick else 4):
            fill()
            path, ns = p.take()
            took.append(ns)
            sizes.append(os.path.getsize(path))
            os.unlink(path)

        def after(pid, first):
            second = p.take()[0]
            found = perf_stamps(pid, first) + perf_stamps(pid, second)
            for path in glob.glob(f"{p.data}.*"):
                os.unlink(path)
            return found
        alone, beside, _, silence = turns(p.take, after, 1 if opts.quick else 4)
    common.row("the file complete (not synced)", [ns / 1e6 for ns in took], "ms", peer=p.peer)
    common.row("bytes of the file", [s / common.MIB for s in sizes], "MiB", peer=p.peer)
    held_up(p.peer, alone, beside, silence, False)


# ---- LTTng-UST ----

def lttng_ust(opts, kib):
    """Snapshots of what a program of its own filled; its writers are that program, so there is no pause of ours to measure."""
    program = os.path.join(common.BIN, "ust")
    if not os.path.exists(program):
        raise OSError("liblttng-ust-dev was not there when the benchmark was built")
    with tempfile.TemporaryDirectory(prefix="frbench-") as tmp, lttng.Snapshot("fr_bench:*", tmp, kib // lttng.BUFS) as s:
        took = []
        for _ in range(1 if opts.quick else 4):
            common.run(program, "1", env=lttng.PATIENT, timeout=60)
            took.append(s.take())
        size = sum(os.path.getsize(f) for f in glob.glob(f"{tmp}/lttng/**/*", recursive=True) if os.path.isfile(f)) / len(took)
    common.row("the file complete (not synced)", [ns / 1e6 for ns in took], "ms", peer=s.peer)
    common.report("bytes of the file", size / common.MIB, "MiB", peer=s.peer)


@common.part("snapshot", order=40)
def snapshot(opts):
    """Dumps of a full session of 16 MiB a CPU, and what they hold up."""
    common.title("A snapshot of a full session of 16 MiB a CPU")
    ours(opts)
    common.title("The same buffers of others: time to a file, what it holds up and what is not recorded meanwhile")
    for peer, part in (("ftrace", ftrace), ("perf record --overwrite --switch-output", perf),
                       (lttng.Snapshot.peer, lttng_ust)):
        try:
            part(opts, 16384)
        except (OSError, SystemExit, subprocess.TimeoutExpired) as e:
            common.not_measured("the file complete and synced", peer, e, "ms")
