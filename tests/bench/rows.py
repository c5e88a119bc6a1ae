# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The table that is printed while it is measured, and bench.json, which has the same for programs.

bench.json, version 1, is an object:
  version       1; another one is another shape
  machine       {"cpu", "cpus", "arch", "hypervisor", "memory_bytes", "mitigations": texts, of what slows down the kernel's
                entry, or its calls and returns; absent: not asked then}
  kernel, distribution, flightrec, command: texts
  quick         whether fewer rounds were made
  parts         by name: {"date", "seconds", "load_before" (1 minute), "steal_percent", "others_percent", "quiet", "notes"}
                others_percent: of all CPUs' time, what neither the benchmark nor what it started used; quiet: that and what the
                hypervisor took is little, and no recorder of others was attached; notes: texts
  rows          objects:
    part, group         what it belongs to: a part of run.sh, a table of it
    peer                who was measured: "flightrec", "ftrace", ...
    case, unit          what, in what
    median, min         of n samples; null where it was not measured
    spread              [first quartile, third quartile], null of a single sample
    n                   samples
    promise             null, or {"at_most": x} or {"at_least": x}, of the median
    kept                null without a promise
    not_measured        null, or the reason
    at                  what the case varies, for plots: {"bytes": 64, "cpus": 2, ...}
"""
import contextlib
import ctypes
import datetime
import json
import os
import platform
import resource
import shutil
import statistics
import subprocess
import time

VERSION = 1
PR_SET_CHILD_SUBREAPER = 36
QUIET_STEAL, QUIET_OTHERS = 2.0, 5.0

_now = {"part": None, "group": None, "peer": None}
rows = []
parts = {}


# ---- rows ----

def title(text):
    """A table of its own begins."""
    _now["group"], _now["peer"] = text, None
    print(f"{text}\n  {'':<66} {'median':>12} {'':<9} {'of':>3} {'smallest':>10} {'quartiles':<19} {'promised':<12}".rstrip(), flush=True)


def figure(value):
    """A number as people read it."""
    size = abs(value)
    if value == int(value) and size < 1e15:
        return f"{int(value):,}"
    return f"{value:,.0f}" if size >= 1000 else f"{value:.4g}" if size >= 100 else f"{value:.3g}"


def promised(promise):
    """"<= 1.2", or nothing."""
    if not promise:
        return ""
    (kind, limit), = promise.items()
    return f"{'>=' if kind == 'at_least' else '<='} {figure(limit)}"


def place(r):
    """The part, and the load if neither it nor the case names it."""
    load = r["at"].get("load", "")
    return r["part"] if load in r["part"] or load in r["case"] else f"{r['part']}, {load}"


def _print(r):
    what = r["case"] if r["peer"] == "flightrec" else f"{r['case']}: {r['peer']}"
    if r["not_measured"]:
        print(f"  {what:<66} not measured: {r['not_measured']}", flush=True)
        return
    spread = f"{figure(r['spread'][0])} to {figure(r['spread'][1])}" if r["spread"] else ""
    word = {None: "", True: "PASS", False: "MISS"}[r["kept"]]
    least = figure(r["min"]) if r["n"] > 1 else ""
    print(f"  {what:<66} {figure(r['median']):>12} {r['unit']:<9} {r['n']:>3} {least:>10} {spread:<19} {promised(r['promise']):<12} {word}".rstrip(),
          flush=True)


def _add(**r):
    rows.append({"part": _now["part"], "group": _now["group"], **r})
    _print(rows[-1])
    return r["median"]


def row(case, samples, unit, peer="flightrec", at_most=None, at_least=None, **at):
    """One line of the table, of several samples, and what is promised of their median. at: what the case varies. The median."""
    median = statistics.median(samples)
    promise = {"at_most": at_most} if at_most is not None else {"at_least": at_least} if at_least is not None else None
    kept = None
    if promise:
        kept = bool(median <= at_most if at_most is not None else median >= at_least)
    spread = statistics.quantiles(samples, n=4, method="inclusive")[::2] if len(samples) > 1 else None
    return _add(peer=peer, case=case, unit=unit, median=rounded(median), min=rounded(min(samples)),
                spread=spread and [rounded(s) for s in spread], n=len(samples), promise=promise, kept=kept, not_measured=None, at=at)


def ratio_row(case, of, to, peer="flightrec", at_most=None, at_least=None, **at):
    """
    row() of the ratios of each round. Where by noise one of two differences is not above zero they have no ratio; and where half of
    the rounds have none, there is nothing to hold a promise against.
    """
    found = [a / b for a, b in zip(of, to) if a > 0 and b > 0]
    if 2 * len(found) > len(of):
        row(case, found, "", peer, at_most, at_least, **at)
    else:
        not_measured(case, peer, f"noise: in {len(of) - len(found)} of {len(of)} rounds one of both added nothing", **at)


def report(what, value, unit, limit=None, at_least=False, spread=None, peer="flightrec", **at):
    """One line of a single value. limit: what is promised, None: for information; spread: lowest and highest, if they are known."""
    promise = None if limit is None else {"at_least" if at_least else "at_most": limit}
    kept = None if limit is None else bool(value >= limit if at_least else value <= limit)
    return _add(peer=peer, case=what, unit=unit, median=rounded(value), min=rounded(spread[0] if spread else value),
                spread=spread and [rounded(s) for s in spread], n=1, promise=promise, kept=kept, not_measured=None, at=at)


def not_measured(case, peer, reason, unit="", **at):
    """A line that says why there is no figure."""
    _add(peer=peer, case=case, unit=unit, median=None, min=None, spread=None, n=0, promise=None, kept=None,
         not_measured=" ".join(str(reason).split()) or "no reason was given", at=at)


def note(text):
    """What a reader of the part's figures has to know."""
    parts[_now["part"]]["notes"].append(text)
    print(f"  {text}", flush=True)


def rounded(value):
    """Six digits, of at most twelve behind the point: more are noise, of the machine's or of the computation's."""
    return round(float(f"{value:.6g}"), 12)


# ---- what else the machine did ----

def _ticks():
    """user, nice, system, idle, iowait, irq, softirq, steal of all CPUs."""
    with open("/proc/stat", encoding="ascii") as f:
        return [int(word) for word in f.readline().split()[1:9]]


def _own_seconds():
    used = 0
    for who in resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN:
        usage = resource.getrusage(who)
        used += usage.ru_utime + usage.ru_stime
    return used


def adopt():
    """Orphans of what is started become children, so that their time is counted as the benchmark's."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def reap():
    """All children that ended; nothing of a part is alive or waited for by now."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def recording():
    """Sessions and tracefs instances that were there before."""
    found = []
    for where in "/sys/fs/bpf/flightrec", "/sys/kernel/tracing/instances":
        with contextlib.suppress(OSError):
            found += sorted(os.listdir(where))
    return found


class Conditions:
    """with Conditions(part): what the machine did besides, into the part's entry."""

    def __init__(self, part):
        self.part = part

    def __enter__(self):
        _now.update(part=self.part, group=self.part)
        parts[self.part] = {"date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
                            "load_before": os.getloadavg()[0], "notes": []}
        self.recorders = recording()
        if self.recorders:
            note(f"recorders of others were attached all the time and slow down what is measured: {', '.join(self.recorders)}")
        self.begun, self.ticks, self.own = time.monotonic(), _ticks(), _own_seconds()

    def __exit__(self, *failed):
        reap()
        ticks = [b - a for a, b in zip(self.ticks, _ticks())]
        total = max(1, sum(ticks))
        busy = sum(ticks[:3]) / os.sysconf("SC_CLK_TCK")
        others = max(0.0, busy - (_own_seconds() - self.own)) * os.sysconf("SC_CLK_TCK") / total * 100
        steal = ticks[7] / total * 100
        entry = parts[self.part]
        entry.update(seconds=round(time.monotonic() - self.begun, 1), steal_percent=round(steal, 2), others_percent=round(others, 1),
                     quiet=steal < QUIET_STEAL and others < QUIET_OTHERS and not self.recorders)
        if steal >= QUIET_STEAL or others >= QUIET_OTHERS:
            print(f"  the machine was not quiet: others used {others:.0f} % of the CPUs, the hypervisor took {steal:.1f} %", flush=True)


# ---- bench.json ----

def _first(path, key, sep=":"):
    with open(path, encoding="utf-8") as f:
        for line in f:
            name, _, value = line.partition(sep)
            if name.strip() == key:
                return value.strip().strip('"')
    return ""


def mitigations():
    """What the kernel does about processors' vulnerabilities each time it is entered, calls or returns: half of a recorder's cost here."""
    found = []
    for name in "meltdown", "spectre_v2", "retbleed", "spec_rstack_overflow", "mds":
        with contextlib.suppress(OSError), open(f"/sys/devices/system/cpu/vulnerabilities/{name}", encoding="ascii") as f:
            said, _, what = f.read().strip().partition(": ")
            if said == "Mitigation":
                found.append(what.partition(";")[0].partition(",")[0])
    return found


def machine():
    virt = subprocess.run(["systemd-detect-virt", "--vm"], capture_output=True, text=True, check=False).stdout.strip() if shutil.which("systemd-detect-virt") else ""
    return {"cpu": _first("/proc/cpuinfo", "model name") or platform.machine(), "cpus": os.cpu_count(), "arch": platform.machine(),
            "hypervisor": virt, "memory_bytes": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"), "mitigations": mitigations()}



def document(flightrec, quick, argv):
    version = subprocess.run([flightrec, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    return {"version": VERSION, "machine": machine(), "kernel": os.uname().release.split("-")[0],
            "distribution": _first("/etc/os-release", "PRETTY_NAME", "="), "flightrec": version,
            "command": " ".join(["tests/bench/run.sh", *argv]), "quick": quick, "parts": parts, "rows": rows}


def same_machine(doc, other):
    return all(doc.get(key) == other.get(key) for key in ("version", "machine", "kernel", "quick"))


def write(path, doc, keep, order):
    """keep: what the file has of other parts stays, if it is of this machine and kernel. order: of the parts, by name."""
    try:
        with open(path, encoding="utf-8") as f:
            old = json.load(f)
    except (OSError, ValueError):
        old = {}
    if keep and same_machine(doc, old):
        doc = {**doc, "parts": {**old["parts"], **doc["parts"]},
               "rows": [r for r in old["rows"] if r["part"] not in doc["parts"]] + doc["rows"]}
    place = {name: nr for nr, name in enumerate(order)}
    doc["rows"].sort(key=lambda r: place.get(r["part"], len(place)))
    with open(path, "w", encoding="utf-8") as f:
        json.dump(doc, f, indent=1)
        f.write("\n")
    return doc
