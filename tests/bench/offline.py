# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""How fast snapshots are read on one core, beside the tools people have: events a second of processor time, user and system.

One snapshot of a mixed load. trace-cmd and babeltrace2 read its events, exported; perf reads only its own files, so it has its
own recording of the same load, of the same kinds of events, and is compared by the event. All commands take turns, above the
machine's other processes, their output thrown away or, where they write files, in the same directory.
"""
import os
import shutil
import subprocess
import tempfile

import common

# What perf records: the kinds that the profile "full" has most of.
PERF_EVENTS = ("raw_syscalls:*,sched:sched_switch,sched:sched_waking,sched:sched_process_*,task:task_rename,"
               "irq:softirq_entry,irq:softirq_exit,irq:irq_handler_*,exceptions:*")
TEXT = "replay, as text"
PEER_TEXT = "as text: %s"  # what a peer reads

FAILED = "event == sys_exit && ret < 0"

# Ours: what, arguments ({in}: the snapshot, {half}: an earlier one that overlaps, {out}: a new file), promised million events
# a second
OURS = (
    (TEXT, ("replay", "{in}"), None),
    ("replay --no-symbols", ("replay", "--no-symbols", "{in}"), None),
    ("replay --json", ("replay", "--json", "{in}"), 1),
    ("replay --pairs", ("replay", "--pairs", "{in}"), None),
    ("replay --count", ("replay", "--count", "{in}"), 20),
    (f"replay --count -f '{FAILED}'", ("replay", "--count", "-f", FAILED, "{in}"), None),
    ("report", ("report", "{in}"), 10),
    ("report --json", ("report", "--json", "{in}"), None),
    *((f"export --to {to}", ("export", "--to", to, "-o", "{out}", "{in}"), 3 if to == "perfetto" else None)
      for to in ("perfetto", "ctf", "trace-cmd", "folded", "perf-script", "json", "csv")),
    ("view", ("view", "-o", "{out}", "{in}"), None),
    ("cut --window 25%..75%", ("cut", "--window", "25%..75%", "-o", "{out}", "{in}"), None),
    ("merge of two", ("merge", "-o", "{out}", "{half}", "{in}"), None),
)


def remove(path):
    if os.path.isdir(path):
        shutil.rmtree(path)
    elif os.path.exists(path):
        os.unlink(path)


def measure_one(args, out):
    """Seconds of processor time, and bytes resident at most."""
    remove(out)
    took = common.spent(*args)
    return (took["user_ns"] + took["sys_ns"]) / 1e9, took["resident"]


def lines_of(*args):
    """How many lines a command prints: its events."""
    p = subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    cnt = sum(chunk.count(b"\n") for chunk in iter(lambda: p.stdout.read(1 << 20), b""))
    if p.wait():
        raise SystemExit(f"bench: {' '.join(args)} fails")
    return cnt


def trace_cmd(bench, tmp, path, events, seconds):
    dat = os.path.join(tmp, "x.dat")
    bench.run(bench.FLIGHTREC, "export", "--to", "trace-cmd", "-o", dat, path)
    return "the same events", ("trace-cmd", "report", dat), events


def babeltrace2(bench, tmp, path, events, seconds):
    ctf = os.path.join(tmp, "x.ctf")
    bench.run(bench.FLIGHTREC, "export", "--to", "ctf", "-o", ctf, path)
    return "the same events", ("babeltrace2", ctf), events


def perf_script(bench, tmp, path, events, seconds):
    data = os.path.join(tmp, "perf.data")
    load = subprocess.Popen([os.path.join(bench.HERE, "mixed.sh"), str(seconds + 1)])
    try:
        bench.run("perf", "record", "-q", "-a", "-m", "4096", "-e", PERF_EVENTS, "--exclude-perf", "-o", data, "sleep", str(seconds))
    finally:
        load.wait()
    script = ("perf", "script", "-i", data)
    return "its own recording of that load", script, lines_of(*script)


PEERS = (  # who, what makes it ready: what it reads, arguments, events; its program and package
    ("trace-cmd report", trace_cmd, "trace-cmd", "trace-cmd"),
    ("babeltrace2", babeltrace2, "babeltrace2", "babeltrace2"),
    ("perf script", perf_script, "perf", "linux-perf"),
)


def peers(bench, *about):
    """Those that are here: who and what, arguments, events. Who is not is told."""
    found = []
    for who, make, program, package in PEERS:
        try:
            if not shutil.which(program):
                raise OSError(f"{program} is not installed (package {package})")
            what, args, events = make(bench, *about)
            if not events:
                raise OSError("it has no events to read")
            found.append(((who, PEER_TEXT % what), args, events))
        except (OSError, SystemExit) as e:
            bench.not_measured("as text", who, e, "M/s")
    return found


def record(bench, tmp, seconds):
    """Two overlapping snapshots of a mixed load, near two million events: others take a minute for each. Paths, and events of each."""
    half, path = os.path.join(tmp, "half.flight"), os.path.join(tmp, "x.flight")
    with bench.session("-p", "full", "-m", "16M"):
        bench.load(seconds)
        bench.dump(half)
        bench.load(max(1, seconds // 5))
        bench.dump(path)
    return half, path, bench.info(half)["events"], bench.info(path)["events"]


def take_turns(commands, out, rounds):
    """By command, of each round behind a first one: million events a second; and the most bytes of all rounds."""
    rates, resident = {what: [] for what, _, _ in commands}, {}
    for nr in range(1 + rounds):
        for what, args, events in commands:
            seconds, most = measure_one(args, out)
            if nr:
                rates[what].append(events / seconds / 1e6)
            resident[what] = max(most, resident.get(what, 0))
    remove(out)
    return rates, resident


def offline(opts, bench):
    """The whole part; bench: the module with its helpers."""
    seconds, rounds = 2, 2
    bench.title("Reading a snapshot on one core, beside other tools")
    with tempfile.TemporaryDirectory(prefix="frbench-") as tmp:
        half, path, half_events, events = record(bench, tmp, seconds)
        out = os.path.join(tmp, "out")
        others = peers(bench, tmp, path, events, max(2, seconds // 3))
        place = {"in": path, "half": half, "out": out}
        ours = [(("flightrec", what), [bench.FLIGHTREC, *(a.format(**place) for a in args)],
                 events + half_events if "{half}" in args else events) for what, args, _ in OURS]
        bench.report("events in it", events, "", 1e6, at_least=True)
        rates, resident = take_turns([*others, *ours], out, rounds)
    promised = {what: limit for what, _, limit in OURS}
    for (who, what), of in rates.items():
        bench.row(what, of, "M/s", peer=who, at_least=promised.get(what))
    if others:
        fastest = [max(rates[what][i] for what, _, _ in others) for i in range(rounds)]
        bench.ratio_row("replay as text / the fastest of the others, in one turn", rates["flightrec", TEXT], fastest, at_least=10)
    else:
        bench.not_measured("replay as text / the fastest of the others, in one turn", "flightrec", "there are no others")
    bench.title("Memory of the same, resident at most")
    for (who, what), most in resident.items():
        bench.report(what, most / bench.MIB, "MiB", peer=who)
