# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs the benchmarks, compares with what is promised, prints a table and writes build/bench.json.

Ratios are of figures of one run, taken in turns. Our own processes run above all others of the machine (SCHED_FIFO), or, where
they are not to use a CPU at all, are measured by the time the kernel says they had.
"""
import argparse
import contextlib
import glob
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import holdoff
import sampling
from offline import offline

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
FLIGHTREC = os.environ["FLIGHTREC"]
BIN = os.environ["FR_BENCH_BIN"]
NAME = f"bench-{os.getpid()}"
PINS = f"/sys/fs/bpf/flightrec/{NAME}"
TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
MIB = 1 << 20

results = []


def report(what, value, unit, limit=None, at_least=False, spread=None):
    """One line of the table. limit: what is promised, None: for information; spread: lowest and highest."""
    ok = None if limit is None else (value >= limit if at_least else value <= limit)
    results.append({"what": what, "value": round(value, 4), "unit": unit, "limit": limit,
                    "bound": None if limit is None else "min" if at_least else "max", "pass": ok,
                    "spread": spread and [round(s, 4) for s in spread]})
    bound = "" if limit is None else f"{'>=' if at_least else '<='} {limit:,g}"
    word = "" if ok is None else "PASS" if ok else "MISS"
    around = f"{spread[0]:.3g} to {spread[1]:.3g}" if spread else ""
    print(f"  {what:<66} {value:>12,.3f} {unit:<9} {bound:<14} {word:<4} {around}".rstrip(), flush=True)


def title(text):
    results.append({"title": text})
    print(text, flush=True)


def figure(value):
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}" if abs(value) < 1 else f"{value:.2f}".rstrip("0").rstrip(".")


def write_markdown(path):
    """The table as docs/results.md has it."""
    with open(path, "w", encoding="ascii") as f:
        for r in results:
            if "title" in r:
                f.write(f"\n{r['title']}\n\n| | measured | promised | |\n|---|---:|---:|---|\n")
                continue
            bound = {None: "", "min": ">= ", "max": "<= "}[r["bound"]] + ("" if r["limit"] is None else f"{r['limit']:,g}")
            word = {None: "", True: "kept", False: "**missed**"}[r["pass"]]
            around = f" ({figure(r['spread'][0])} to {figure(r['spread'][1])})" if r["spread"] else ""
            f.write(f"| {r['what']} | {figure(r['value'])} {r['unit']}{around} | {bound} | {word} |\n")


# ---- helpers ----

def run(*args, **kw):
    done = subprocess.run(args, text=True, capture_output=True, **kw)
    if done.returncode:
        raise SystemExit(f"bench: {' '.join(args)}: {done.stderr or done.stdout}")
    return done


@contextlib.contextmanager
def session(*args):
    """A session that records with nobody attending."""
    begun = run(FLIGHTREC, "record", "-n", NAME, "--detach", *args)
    try:
        yield begun.stdout + begun.stderr
    finally:
        run(FLIGHTREC, "stop", "-n", NAME)


def load(seconds):
    subprocess.run([os.path.join(HERE, "mixed.sh"), str(seconds)], check=True)


def ns(text):
    """"6.4 ms" in ns."""
    number, unit = text.split()
    return float(number) * {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[unit]


def dump(path):
    """Take a snapshot. Returns events, ns until the rings were read, ns until the file was synced, bytes resident."""
    pid = subprocess.Popen(["chrt", "-f", "1", FLIGHTREC, "dump", "-n", NAME, "-o", path], text=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    text = pid.stderr.read()
    _, status, usage = os.wait4(pid.pid, 0)
    found = re.search(r": (\d+) events, .*, in ([\d.]+ \w+), the rings read after ([\d.]+ \w+)", text)
    if status or not found:
        raise SystemExit(f"bench: dump: {text}")
    return int(found[1]), ns(found[3]), ns(found[2]), usage.ru_maxrss * 1024


def info(path):
    return json.loads(run(FLIGHTREC, "info", "--json", path).stdout)


# ---- what is measured ----

def hot(opts):
    """The path of each event: hot.c."""
    title("Recording one event, ns added (medians of the best batches; hot.bpf.c has the programs)")
    lines = run(os.path.join(BIN, "hot"), str(5 if opts.quick else 25)).stdout.splitlines()
    case = {(c["case"], c["clock"], c["cpus"]): c for c in map(json.loads, lines)}

    def added(name, clock="10us", cpus=1):
        return case[name, clock, cpus]["added_ns"]

    def full(name, clock="10us", cpus=1):
        return case[name, clock, cpus]["ns"]

    ringbuf = added("call_ringbuf", "exact")
    report("a system call, over none: an empty program", added("call_empty", "exact"), "ns")
    report("over an empty program: bare stores", added("call_stores", "exact"), "ns")
    report("over an empty program: bpf_ringbuf, 24 bytes", ringbuf, "ns")
    report("over an empty program: our ring, 24 bytes", added("call_ring"), "ns")
    report("over an empty program: the product's sys_enter", added("sys_enter"), "ns")
    report("our ring / bpf_ringbuf, the same 24 bytes, attached", added("call_ring") / ringbuf, "", 1.2)
    report("the product's sys_enter / bpf_ringbuf", added("sys_enter") / ringbuf, "", 1.2)
    report("in a loop: bare stores", added("loop_stores", "exact"), "ns")
    report("in a loop: bpf_ringbuf", added("loop_ringbuf", "exact"), "ns")
    for clock in "exact", "1us", "10us", "local":
        report(f"in a loop: our ring, found for each record, clock {clock}", added("loop_ring", clock), "ns")
    report("in a loop: our ring, found once, clock 10us", added("loop_ring_once"), "ns")
    looped = added("loop_ringbuf", "exact")
    report("in a loop: our ring, found for each record / bpf_ringbuf", added("loop_ring") / looped, "")
    report("in a loop: our ring, found once / bpf_ringbuf", added("loop_ring_once") / looped, "", 0.95)
    for clock in "exact", "1us", "10us", "local":
        report(f"two CPUs flat out / one: our ring, clock {clock}", full("loop_ring", clock, 2) / full("loop_ring", clock), "",
               1.05 if clock == "10us" else None)
    report("two CPUs flat out / one: a shared bpf_ringbuf", full("loop_ringbuf", "exact", 2) / full("loop_ringbuf", "exact"), "")


def cpu_and_switches(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        switches = re.search(r"^voluntary_ctxt_switches:\s+(\d+)", f.read(), re.M)
    return int(fields[11]) + int(fields[12]), int(switches[1])


def idle(opts):
    """A recorder in the foreground, under load."""
    seconds = 4 if opts.quick else 10
    title(f"The recorder's own process during {seconds} s of mixed load")
    recorder = subprocess.Popen([FLIGHTREC, "record", "-n", NAME, "-p", "full"], stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 20
        while subprocess.run([FLIGHTREC, "status", "-n", NAME], capture_output=True, check=False).returncode:
            if time.monotonic() > deadline:
                raise SystemExit("bench: the recorder did not begin")
            time.sleep(0.2)
        time.sleep(2)
        before = cpu_and_switches(recorder.pid)
        load(seconds)
        after = cpu_and_switches(recorder.pid)
    finally:
        recorder.terminate()
        recorder.wait()
    report("CPU time", (after[0] - before[0]) * TICK_NS / 1e6, "ms", 0)
    report("times it woke up", after[1] - before[1], "", 0)


def ring_memory():
    """Bytes of the rings' maps, by CPU, as the kernel accounts them."""
    by_cpu = {}
    for pin in os.listdir(PINS):
        found = re.match(r"ring-(\d+)-", pin)
        if found:
            shown = json.loads(run("bpftool", "-j", "map", "show", "pinned", os.path.join(PINS, pin)).stdout)
            by_cpu[found[1]] = by_cpu.get(found[1], 0) + shown["bytes_memlock"]
    return by_cpu


def other_memory():
    """Bytes of the session's other pinned maps."""
    return sum(json.loads(run("bpftool", "-j", "map", "show", "pinned", os.path.join(PINS, pin)).stdout)["bytes_memlock"]
               for pin in ("tasks", "dead", "session", "clock", "call"))


def memory(opts):
    """What -m says is what is taken."""
    title("Ring memory, as the kernel accounts it, against -m")
    for size in (4, 8, 17) if opts.quick else (4, 8, 17, 64):
        with session("-p", "minimal", "-m", f"{size}M") as said:
            taken, other = ring_memory(), other_memory()
        worst = max(taken.values(), key=lambda sz: abs(sz - size * MIB))
        report(f"-m {size}M: off by", abs(worst - size * MIB) / (size * MIB) * 100, "%", 2)
    printed = re.search(r"on top task table and stacks ([\d.]+) (\w+)", said)
    if not printed:
        raise SystemExit(f"bench: record does not print what comes on top: {said}")
    report("what comes on top, as record prints it", float(printed[1]) * {"KiB": 1 / 1024, "MiB": 1}[printed[2]], "MiB")
    report("of that, maps pinned, as the kernel accounts them", other / MIB, "MiB")


def start(opts):
    """What it takes to begin: programs verified, maps made, tasks listed."""
    del opts
    title("To start to record with the full profile")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.monotonic()
    with session("-p", "full"):
        took = time.monotonic() - begin
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    report("CPU time, the kernel's check of the programs included", used, "s", 1.0)
    report("until the command returns", took, "s")


def snapshot(opts):
    """Dumps of a full session of 8 MiB a CPU, the load over."""
    title("A snapshot of a full session of 8 MiB a CPU (medians)")
    with session("-p", "full", "-m", "8M"), tempfile.TemporaryDirectory(prefix="frbench-") as tmp:
        load(3 if opts.quick else 5)
        rings = sum(ring_memory().values())
        taken = [dump(os.path.join(tmp, f"{i}.flight")) for i in range(5)]
    report("events in it", statistics.median(t[0] for t in taken), "")
    report("all bytes copied out of the rings", statistics.median(t[1] for t in taken) / 1e6, "ms", 20)
    report("the file complete and synced", statistics.median(t[2] for t in taken) / 1e6, "ms", 150)
    report("memory of the dump, the rings it maps not counted", (max(t[3] for t in taken) - rings) / MIB, "MiB", 64)


def user_seconds(*args):
    """User time of a command on the last CPU, and its output's last line."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    with tempfile.TemporaryFile() as out:
        subprocess.run(["taskset", "-c", str(os.cpu_count() - 1), "chrt", "-f", "1", *args], check=True, stdout=out)
        last = out.seek(0, os.SEEK_END) and (out.seek(max(0, out.tell() - 2000)), out.read())[1].splitlines()[-1]
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, last


def history(opts):
    """A long mixed history: its size on disk, and how fast it is replayed."""
    title("A mixed load of system calls, faults and scheduling, on disk and replayed on one core")
    with tempfile.TemporaryDirectory(prefix="frbench-") as tmp:
        path = os.path.join(tmp, "mixed.flight")
        with session("-p", "full", "-m", "64M"):
            load(5 if opts.quick else 10)
            dump(path)
        facts = info(path)
        report("events in it", facts["events"], "", 1e6, at_least=True)
        report("bytes in the ring an event", facts["raw_bytes"] / facts["events"], "bytes")
        report("bytes on disk an event, the whole file", facts["bytes"] / facts["events"], "bytes", 4.0)
        count, said = min(user_seconds(FLIGHTREC, "replay", "--count", path) for _ in range(3))
        if int(said) != facts["events"]:
            raise SystemExit(f"bench: replay --count says {said!r}, info {facts['events']}")
        report("replay --count, million events a second", facts["events"] / count / 1e6, "M/s", 20, at_least=True)
        printed, _ = min(user_seconds(FLIGHTREC, "replay", "--json", path) for _ in range(2))
        report("replay --json, million events a second", facts["events"] / printed / 1e6, "M/s", 1, at_least=True)


RULES = (  # what it adds to; the rule, of a limit that nothing reaches
    ("calls", "latency:syscall:fsync>1h", "a system call that no rule is for"),
    ("calls", "latency:syscall>1h", "a system call that is measured"),
    ("switches", "latency:offcpu>1h", "a switch"),
    ("wakeups", "latency:wakeup>1h", "a waking and its switch"),
    ("wakeups", "hung>1h", "a waking and its switch"),
)
COUNTED = {"latency:softirq>1h": "fr_lat_softirq_", "latency:irq>1h": "fr_lat_irq_", "latency:block>1h": "fr_lat_rq_"}


@contextlib.contextmanager
def rule(*texts):
    """A recorder of nothing frequent, with these rules in force."""
    args = [FLIGHTREC, "record", "-n", NAME, "-o", tempfile.gettempdir(), "-p", "minimal", "-e", "-sched", "-e", "-signal"]
    args += [a for t in texts for a in ("--on", t)]
    p = subprocess.Popen(args, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wanted = f"{PINS}/trig-1-*" if texts else f"{PINS}/meta"
        for _ in range(1200):
            if glob.glob(wanted):
                break
            time.sleep(0.05)
        time.sleep(1)  # it attaches one program after the other
        yield
    finally:
        p.terminate()
        p.wait()
        subprocess.run([FLIGHTREC, "stop", "-n", NAME], capture_output=True, check=False)


def counted(prefix):
    """ns of a run and the runs' number, by the kernel's count, of programs whose names begin so."""
    progs = [p for p in json.loads(run("bpftool", "-j", "prog").stdout) if p.get("name", "").startswith(prefix[:15])]
    return {p["name"]: (p.get("run_time_ns", 0), p.get("run_cnt", 0)) for p in progs}


def rules(opts):
    """What latency and hung rules cost: rules.c, with the rule and without it by turns."""
    title("Rules that BPF decides, ns added to what they watch (medians of the best batches; rules.c has the loads)")
    added = {text: [] for _, text, _ in RULES}
    for _ in range(2 if opts.quick else 5):
        with rule():
            base = json.loads(run(os.path.join(BIN, "rules")).stdout)
        for what, text, _ in RULES:
            with rule(text):
                added[text].append(json.loads(run(os.path.join(BIN, "rules")).stdout)[what] - base[what])
    for _, text, label in RULES:
        report(f"{text.replace('>1h', '')}: {label}", statistics.median(added[text]), "ns")
    with open("/proc/sys/kernel/bpf_stats_enabled", "r+", encoding="ascii") as f:
        was = f.read().strip()
        f.write("1")
        f.flush()
        with rule(*COUNTED):
            load(2 if opts.quick else 5)
            for text, prefix in COUNTED.items():
                ran = [t / n for t, n in counted(prefix).values() if n]
                if ran:
                    report(f"{text.replace('>1h', '')}: all its programs once, by the kernel's count", sum(ran), "ns")
        f.write(was)


def profile_costs(opts):
    for hz, limit in (99, 0.1), (999, 1.0):
        for what, script in ("busy CPUs", sampling.BUSY), ("new processes all the time", sampling.FORKS):
            seconds = 4 if opts.quick else 12
            off = sampling.cost(run, FLIGHTREC, NAME, seconds, script, "--hz", str(hz), "--cpu-profile", "no")
            on = sampling.cost(run, FLIGHTREC, NAME, seconds, script, "--hz", str(hz))
            report(f"{hz} Hz, {what}", on[0], "%", limit if script == sampling.BUSY else None)
            report("of this the samples themselves, profile or not", off[0], "%")
            report("of this the recorder", on[2], "%")
            report("a sample, profile and all", on[1], "ns")
            report("a sample without the profile", off[1], "ns")
            report(f"lost, of {on[3][1]}", on[3][0], "samples")


def profile(opts):
    """The always-on profile: with it, and without it by turns; memory of its maps."""
    title("The always-on profile, percent of all CPUs' time: sampling, counting, and the recorder that reads")
    was = sampling.set_stats("1")
    try:
        profile_costs(opts)
    finally:
        sampling.set_stats(was)
    with session("-p", "minimal", "-e", "sample"):
        report("memory of the profile's maps", sampling.memory(run, NAME) / MIB, "MiB", 4)


PARTS = {"hot": hot, "start": start, "memory": memory, "snapshot": snapshot, "history": history, "idle": idle, "rules": rules,
         "holdoff": lambda opts: holdoff.run(FLIGHTREC, f"{NAME}-watch", BIN, report, title),
         "profile": profile,
         "offline": lambda opts: offline(opts, sys.modules[__name__])}


def main():
    ask = argparse.ArgumentParser(prog="tests/bench/run.sh")
    ask.add_argument("--quick", action="store_true", help="fewer rounds, shorter loads")
    ask.add_argument("--markdown", metavar="FILE", help="write the table there too, as docs/results.md has it")
    ask.add_argument("part", nargs="*", choices=[[], *PARTS], help="only these")
    opts = ask.parse_args()
    for name, part in PARTS.items():
        if not opts.part or name in opts.part:
            part(opts)
    figures = [r for r in results if "what" in r]
    missed = [r["what"] for r in figures if r["pass"] is False]
    un = os.uname()
    out = os.path.join(ROOT, "build", "bench.json")
    with open(out, "w", encoding="ascii") as f:
        json.dump({"kernel": un.release, "machine": un.machine, "cpus": os.cpu_count(), "quick": opts.quick,
                   "results": figures}, f, indent=1)
    if opts.markdown:
        write_markdown(opts.markdown)
    promised = [r for r in figures if r["pass"] is not None]
    print(f"{len(promised) - len(missed)} of {len(promised)} promises kept; {os.path.relpath(out, ROOT)} has the figures")
    for what in missed:
        print(f"  missed: {what}")


if __name__ == "__main__":
    if not shutil.which("bpftool"):
        raise SystemExit("bench: bpftool is not installed")
    main()
