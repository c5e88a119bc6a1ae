# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs the benchmarks, compares with what is promised, prints tables and writes build/bench.json (rows.py tells its shape).

Ratios are of figures of one run, taken in turns. What is measured runs above all others of the machine (SCHED_FIFO, or a nice value
of -20 where the scheduler itself is measured), or, where it is not to use a CPU at all, by the time the kernel says it had.
"""
import argparse
import atexit
import contextlib
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import time

import common
import docs
import rows
from overwriting import TRACEFS

# Promised are less than 15 minutes and 2, on slow machines too. FR_BENCH_BEGAN: when that time began, with what was installed and built.
ALL_S, QUICK_S = 14 * 60, 105


def discover():
    """Each file of parts/ registers what it has. Names and functions, in their order."""
    where = os.path.join(common.HERE, "parts")
    for file in sorted(os.listdir(where)):
        if file.endswith(".py"):
            spec = importlib.util.spec_from_file_location(f"parts_{file[:-3]}", os.path.join(where, file))
            spec.loader.exec_module(importlib.util.module_from_spec(spec))
    return {name: fn for name, (_, fn) in sorted(common.PARTS.items(), key=lambda p: (p[1][0], p[0]))}


def until(seconds):
    """So long after it was begun, by time.monotonic()."""
    return time.monotonic() + seconds - (time.time() - int(os.environ.get("FR_BENCH_BEGAN", time.time())))


def in_turn(parts):
    """The order in which they run."""
    return sorted(parts, key=common.LAST.__contains__)


def arguments(parts):
    width = max(map(len, parts))
    ask = argparse.ArgumentParser(
        prog="tests/bench/run.sh", formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="parts:\n" + "\n".join(f"  {name:<{width}}  {(fn.__doc__ or '').splitlines()[0]}" for name, fn in parts.items())
        + "\n\nwhat build/bench.json has becomes docs/performance.md by --docs, a column of another machine there by --docs-other NAME")
    ask.add_argument("--quick", action="store_true", help="fewer rounds, shorter loads")

    def known(name):
        if name not in parts:
            raise argparse.ArgumentTypeError(f"no part is called {name}; there are {', '.join(parts)}")
        return name
    ask.add_argument("part", nargs="*", metavar="PART", type=known,
                     help="only these; what build/bench.json has of the others stays")
    return ask.parse_args()


def run_part(name, fn, opts):
    """A part that fails is told, and the others are run nevertheless. Whether it went well."""
    with rows.Conditions(name):
        try:
            fn(opts)
        except (Exception, SystemExit) as e:  # whatever it is: the figures of the others are not to be lost by it
            rows.not_measured("the rest of this part", "flightrec", f"{type(e).__name__}: {e}")
            print(f"bench: {name}: {e}", file=sys.stderr)
            return False
    return True


def above_others():
    """What is started inherits it. The scheduler gives each session of processes its share first, where it groups them."""
    os.setpriority(os.PRIO_PROCESS, 0, -20)
    with contextlib.suppress(OSError), open("/proc/self/autogroup", "r+", encoding="ascii") as f:
        was = f.read().rpartition(" ")[2].strip()
        atexit.register(lambda: open("/proc/self/autogroup", "w", encoding="ascii").write(was))
        f.write("-20")


def end_as_by_ctrl_c():
    """Ended by a signal it takes back what it did to the machine: sessions, instances of tracefs, settings of the kernel."""
    for nr in signal.SIGTERM, signal.SIGHUP:
        if signal.getsignal(nr) == signal.SIG_DFL:  # nohup's choice stays
            signal.signal(nr, signal.default_int_handler)


def mount_tracefs():
    """ftrace, perf and bpftrace look for events there. A host that never traced has it not mounted, and is left like that."""
    if not os.path.isdir(f"{TRACEFS}/instances") and not subprocess.run(["mount", "-t", "tracefs", "nodev", TRACEFS], check=False).returncode:
        atexit.register(subprocess.run, ["umount", TRACEFS], check=False)


def main():
    parts = discover()
    opts = arguments(parts)
    opts.until = None if opts.part else until(QUICK_S if opts.quick else ALL_S)
    end_as_by_ctrl_c()
    mount_tracefs()  # if it cannot be, a row says who needed it
    rows.adopt()
    above_others()
    chosen = opts.part or [name for name in parts if name not in (common.NOT_QUICK if opts.quick else common.IF_NAMED)]
    failed = [name for name in in_turn(parts) if name in chosen and not run_part(name, parts[name], opts)]
    out = os.path.join(common.ROOT, "build", "bench.json")
    doc = rows.write(out, rows.document(common.FLIGHTREC, opts.quick, sys.argv[1:]), keep=bool(opts.part), order=parts)
    docs.tables_into(os.path.join(common.ROOT, "build", "performance"), doc)
    promised = [r for r in rows.rows if r["kept"] is not None]
    missed = [r for r in promised if not r["kept"]]
    print(f"{len(promised) - len(missed)} of {len(promised)} promises kept; {os.path.relpath(out, common.ROOT)} has the figures, build/performance/ "
          "tables and plots; tests/bench/run.sh --docs puts the promises into docs/")
    for r in missed:
        print(f"  missed: {rows.place(r)}, {r['peer']}: {r['case']}, {rows.figure(r['median'])} {r['unit']}, {rows.promised(r['promise'])}")
    for line in sorted({f"  not measured: {r['part']}, {r['peer']}: {r['not_measured']}" for r in rows.rows if r["not_measured"]}):
        print(line)
    disturbed = [name for name, entry in rows.parts.items() if not entry["quiet"]]
    if disturbed:
        print(f"  disturbed while they were measured: {', '.join(disturbed)}; what by is said above: their figures mean little")
    if not opts.part:
        print(f"  left out: {', '.join(name for name in parts if name not in chosen)}; name them to have them")
    return 1 if failed else 0


if __name__ == "__main__":
    if not shutil.which("bpftool"):
        raise SystemExit("bench: bpftool is not installed")
    sys.exit(main())
