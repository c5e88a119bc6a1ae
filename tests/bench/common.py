# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What parts of the benchmark share: how they register, sessions, loads, snapshots; and the table, from rows.py.

A part is a file in parts/:

	@common.part("name", order=20)
	def name(opts):
	    \"\"\"What it measures: a line of --help.\"\"\"
	    common.title("A table")
	    common.row("what", samples, "ns", peer="ftrace")
"""
import contextlib
import json
import os
import re
import resource
import subprocess
import tempfile

from rows import not_measured, note, ratio_row, report, row, title  # noqa: F401: parts use these as common's

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
FLIGHTREC = os.environ.get("FLIGHTREC", os.path.join(ROOT, "build", "flightrec"))
BIN = os.environ.get("FR_BENCH_BIN", os.path.join(ROOT, "build", "tests", "bench"))
NAME = f"bench-{os.getpid()}"
PINS = f"/sys/fs/bpf/flightrec/{NAME}"
MIB = 1 << 20
DEFAULT_CLOCK = "50us"  # the grain that hot.c gives what stands for the product: that of 2 CPUs

PARTS = {}
NOT_QUICK, IF_NAMED, LAST = set(), set(), set()


def part(name, order, quick=True, unasked=True, last=False):
    """Registers a part; the tables of lower orders come first. quick: --quick makes it, too, unasked; all of it is to take two minutes.
    unasked: it is made when none is named. last: it runs behind the others, and takes the time that they leave (opts.until)."""
    def register(fn):
        PARTS[name] = (order, fn)
        if last:
            LAST.add(name)
        if not quick or not unasked:
            NOT_QUICK.add(name)
        if not unasked:
            IF_NAMED.add(name)
        return fn
    return register


def run(*args, **kw):
    """A command that has to succeed."""
    done = subprocess.run(args, text=True, capture_output=True, check=False, **kw)
    if done.returncode:
        raise SystemExit(f"bench: {' '.join(args)}: {done.stderr or done.stdout}")
    return done


# ---- sessions and loads ----

def leave_nothing(name=NAME):
    """Behind a recorder that should have taken its session along, but may have died: it would go on recording, and slow down the rest."""
    subprocess.run([FLIGHTREC, "stop", "-n", name], capture_output=True, check=False)


@contextlib.contextmanager
def session(*args):
    """A session that records with nobody attending."""
    begun = None
    try:
        begun = run(FLIGHTREC, "record", "-n", NAME, "--unattended", *args)
        yield begun.stdout + begun.stderr
    finally:
        if begun:
            run(FLIGHTREC, "stop", "-n", NAME)
        else:  # it may have been interrupted when half of it was there
            leave_nothing()


def written(name=NAME):
    """Events that the session has recorded so far."""
    return sum(cpu["written"] for cpu in json.loads(run(FLIGHTREC, "status", "-n", name, "--json").stdout)["cpus"])


def load(seconds):
    """The mixed load."""
    subprocess.run([os.path.join(HERE, "mixed.sh"), str(seconds)], check=True)


def user_seconds(*args):
    """User time of a command on the last CPU, and its output's last line."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    with tempfile.TemporaryFile() as out:
        subprocess.run(["taskset", "-c", str(os.cpu_count() - 1), "chrt", "-f", "1", *args], check=True, stdout=out)
        last = out.seek(0, os.SEEK_END) and (out.seek(max(0, out.tell() - 2000)), out.read())[1].splitlines()[-1]
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, last


def spent(*args, cpus=None):
    """Run a command, its output thrown away, above others (SCHED_FIFO) on these CPUs (default: the last): see spent.c. Its JSON."""
    with tempfile.NamedTemporaryFile("r", encoding="ascii", prefix="frbench-") as told:
        done = subprocess.run(["taskset", "-c", cpus or str(os.cpu_count() - 1), "chrt", "-f", "1", os.path.join(BIN, "spent"), told.name,
                               *args], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        if done.returncode:
            raise SystemExit(f"bench: {' '.join(args)}: exit status {done.returncode}")
        return json.load(told)


# ---- snapshots ----

def ns(text):
    """"6.4 ms" in ns."""
    number, unit = text.split()
    return float(number) * {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[unit]


ONE_CPU = ("taskset", "-c", str(os.cpu_count() - 1))
TWO_CPUS = ("taskset", "-c", f"{max(0, os.cpu_count() - 2)}-{os.cpu_count() - 1}")


def dump(path, *on):
    """Take a snapshot (on: ONE_CPU, TWO_CPUS). Returns events, ns until the rings were read, ns until the file was synced, bytes resident."""
    pid = subprocess.Popen([*on, "chrt", "-f", "1", FLIGHTREC, "dump", "-n", NAME, "-o", path], text=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    text = pid.stderr.read()
    _, status, usage = os.wait4(pid.pid, 0)
    pid.returncode = os.waitstatus_to_exitcode(status)
    found = re.search(r": (\d+) events, .*, in ([\d.]+ \w+), the rings read after ([\d.]+ \w+)", text)
    if status or not found:
        raise SystemExit(f"bench: dump: {text}")
    return int(found[1]), ns(found[3]), ns(found[2]), usage.ru_maxrss * 1024


def info(path):
    return json.loads(run(FLIGHTREC, "info", "--json", path).stdout)


# ---- memory of the session's maps, as the kernel accounts it ----

def pinned_bytes(pin):
    shown = json.loads(run("bpftool", "-j", "map", "show", "pinned", os.path.join(PINS, pin)).stdout)
    return shown["bytes_memlock"]


def ring_memory():
    """Bytes of the rings' maps, by CPU."""
    by_cpu = {}
    for pin in os.listdir(PINS):
        found = re.match(r"ring-(\d+)-", pin)
        if found:
            by_cpu[found[1]] = by_cpu.get(found[1], 0) + pinned_bytes(pin)
    return by_cpu
