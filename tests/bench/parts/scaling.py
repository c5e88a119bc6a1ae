# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Replay by size of the file and by CPUs: events a second, memory, start-up. grow.c makes the files."""
import os
import shutil
import tempfile

import common

SIZES = (100_000, 1_000_000, 10_000_000, 100_000_000)
QUICK_SIZES = SIZES[:2]
START_SIZE = 10_000
FILTER = "event == sys_exit && ret < 0"
FREE_BYTES = 2 << 30  # what 10^8 events may take

COMMANDS = (  # what, arguments, for files of at most so many events
    ("count", ("replay", "--count", "{in}"), SIZES[-1]),
    ("count with a filter", ("replay", "--count", "-f", FILTER, "{in}"), SIZES[-1]),
    ("text", ("replay", "--no-symbols", "{in}"), 10_000_000),
    ("json", ("replay", "--json", "--no-symbols", "{in}"), 10_000_000),
    ("report", ("report", "--no-symbols", "{in}"), 10_000_000),
    ("perfetto", ("export", "--to", "perfetto", "--no-symbols", "-o", "{out}", "{in}"), 10_000_000),
)
BY_CPUS = ("count", "count with a filter", "json", "perfetto")


def measure(args, cpus):
    """Seconds that pass, and bytes resident at most."""
    took = common.spent(*args, cpus=cpus)
    return took["wall_ns"] / 1e9, took["resident"]


def command(args, path, out):
    if os.path.exists(out):
        os.unlink(out)
    return [common.FLIGHTREC, *(a.format(**{"in": path, "out": out}) for a in args)]


def grow(tmp, events):
    """A file of about so many events. Its path and their number."""
    path = os.path.join(tmp, f"{events}.flight")
    done = common.run(os.path.join(common.BIN, "grow"), common.NAME, path, str(events))
    return path, int(done.stdout)


def start_up(tmp, rounds):
    path, events = grow(tmp, START_SIZE)
    common.report("events in the small file", events, "")
    for what, args in (("info", ("info", path)), ("replay --count", ("replay", "--count", path)), ("replay --json", ("replay", "--json", path))):
        spent = [measure([common.FLIGHTREC, *args], "0")[0] * 1e3 for _ in range(1 + rounds)][1:]
        common.row(f"start-up: {what} of a small file", spent, "ms", op=what)


def one_size(tmp, events, rounds):
    path, events = grow(tmp, events)
    last, every = str(os.cpu_count() - 1), f"0-{os.cpu_count() - 1}"
    common.report(f"{events:.0e} events: the file", os.path.getsize(path) / common.MIB, "MiB", events=events)
    for what, args, most in COMMANDS:
        if events > most * 1.2:
            continue
        out = os.path.join(tmp, "out")
        one, all_cpus, resident = [], [], 0
        for _ in range(rounds if events < 50_000_000 else 1):
            spent, resident = measure(command(args, path, out), last)
            one.append(events / spent / 1e6)
            if what in BY_CPUS:
                all_cpus.append(events / measure(command(args, path, out), every)[0] / 1e6)
        common.row(f"{events:.0e} events: {what}, one CPU", one, "M/s", op=what, events=events, cpus=1)
        if all_cpus:
            common.row(f"{events:.0e} events: {what}, all CPUs", all_cpus, "M/s", op=what, events=events, cpus=os.cpu_count())
        common.report(f"{events:.0e} events: {what}, memory", resident / common.MIB, "MiB", op=what, events=events)
        if os.path.exists(out):
            os.unlink(out)
    os.unlink(path)


@common.part("scaling", order=70, quick=False)
def scaling(opts):
    """Replay by size of the file, 10^5 to 10^8 events, and by CPUs; start-up, memory."""
    common.title("Replay by size of the file and by CPUs, start of the process included")
    with tempfile.TemporaryDirectory(prefix="frbench-") as tmp:
        sizes = QUICK_SIZES if opts.quick else SIZES
        if shutil.disk_usage(tmp).free < FREE_BYTES:
            common.not_measured("10^8 events", "flightrec", f"less than {FREE_BYTES >> 30} GiB are free in {tmp}")
            sizes = sizes[:-1]
        with common.session("-p", "full", "-m", "16M"):
            common.load(1 if opts.quick else 3)
            start_up(tmp, 9 if opts.quick else 25)
            for events in sizes:
                one_size(tmp, events, 1 if opts.quick else 3 if events < 10_000_000 else 1)
