# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What is missing, of all files and of what is found damaged on reading, is told by each export as its format can."""
import base64
import collections
import json
import os
import re
import shutil
import subprocess
import zlib

import stacks

FLIGHTREC = os.environ.get("FLIGHTREC", "build/flightrec")
ZSTD = b"\x28\xb5\x2f\xfd"
CPUS = 4


def run(*args):
    r = subprocess.run(args, capture_output=True, stdin=subprocess.DEVNULL)
    if r.returncode not in (0, 3):
        raise RuntimeError(f"{args}: {r.returncode} {r.stderr.decode()[-300:]}")
    return r


def export(to, *files, **kw):
    return run(FLIGHTREC, "export", "--to", to, *kw.get("args", ()), *files)


def rows(*files):
    return [json.loads(line) for line in run(FLIGHTREC, "replay", "--json", "--pos", "--no-symbols", *files).stdout.splitlines()]


def info(path):
    return json.loads(run(FLIGHTREC, "info", "--json", path).stdout)


def main_rings(path):
    return {c["cpu"]: t for c in info(path)["cpus"] for t in c["tiers"] if t["name"] == "main"}


def begins(path):
    """Before the first event of each CPU's ring; one without a hole begins at its horizon."""
    return [(0, t["first_ts"] if t["holes"] else t["horizon_ns"]) for t in main_rings(path).values()]


def holes(path):
    return [(h["since_ns"], h["until_ns"] or 2**64) for h in info(path)["holes"] if h["tier"] == "main"]


def check_folded(files, gaps):
    """Time off the CPU that no gap is in, and no other, of any CPU: sums for each state, in calls and out of them."""
    want, got = collections.Counter(), collections.Counter()
    for (_, state, call, _), ns in stacks.off_cpu(rows(*files), 0, gaps).items():
        want[f"[{state}]", call is not None] += ns
    for line in export("folded", *files, args=("--off-cpu",)).stdout.decode().splitlines():
        stack, ns = line.rsplit(" ", 1)
        frames = stack.removesuffix(";[runnable]").split(";")
        got[frames[1], len(frames) > 2] += int(ns)
    for key in set(want) | set(got):
        if want[key] != got[key]:
            return f"{files}: {key}: {got[key]} ns off the CPU, {want[key]} without gaps"
    return None if sum(got.values()) else f"{files}: nobody was off a CPU"


def slices(*files):
    return export("perfetto", *files).stdout


def ctf_packets(folder, *files):
    """Per CPU, how many packets the reader misses."""
    out = f"{folder}/gaps.ctf"
    shutil.rmtree(out, ignore_errors=True)
    export("ctf", *files, args=("-o", out))
    told = run("babeltrace2", out).stderr.decode()
    return collections.Counter(int(m[1]) for m in re.finditer(r"discarded 1 packet .*/cpu_(\d+)\"", told))


def dropped(folder, path):
    """Per CPU, how often the reader says that events are missing."""
    out = f"{folder}/gaps.dat"
    with open(out, "wb") as f:
        f.write(export("trace-cmd", path).stdout)
    text = run("trace-cmd", "report", "-t", out).stdout.decode(errors="replace")
    return collections.Counter(int(m[1]) for m in re.finditer(r"CPU:(\d+) \[[^\n]*EVENTS DROPPED\]", text))


def page_holes(path):
    """(CPU, length) of what a page has hatched."""
    rest = re.search(rb'<script type="text/x-rest">([^<]*)<', export("html", path).stdout)[1]
    return {(h["cpu"], h["until"] - h["since"]) for h in json.loads(zlib.decompress(base64.b64decode(rest)))["holes"]}


def test_several(folder, whole):
    """Two parts with nothing in between, in either order: the hole of the second, and the gap of each CPU."""
    parts = [f"{folder}/part{i}.flight" for i in range(2)]
    for part, window in zip(parts, ("0%..40%", "60%..100%")):
        run(FLIGHTREC, "cut", "--window", window, "-o", part, whole)
    between = max(e["ts"] for e in rows(parts[0])), max(t["horizon_ns"] for t in main_rings(parts[1]).values())
    gaps = begins(parts[0]) + [between] + holes(parts[1])
    for files in (parts, parts[::-1]):
        error = check_folded(files, gaps)
        if error:
            return error
        trace = slices(*files)
        told = trace.count(b"in none of the snapshots"), trace.count(b"overwritten while it was read")
        if told != (CPUS, len(holes(whole))):
            return f"perfetto: {told} slices of gaps and holes, not {CPUS} and {len(holes(whole))}"
        if shutil.which("babeltrace2"):
            packets = ctf_packets(folder, *files)
            if packets != collections.Counter({0: 1, 1: 1, 2: 2, 3: 1}):
                return f"ctf: packets are missing of CPUs {packets}"
        said = export("perfetto", *files).stderr.decode()
        if f"missing in {CPUS + 1} places" not in said:
            return f"nothing is said: {said}"
    return None


def test_touching(folder, whole):
    """Two parts that touch, which miss nothing between them."""
    parts = [f"{folder}/touch{i}.flight" for i in range(2)]
    for part, window in zip(parts, ("0%..50%", "50%..100%")):
        run(FLIGHTREC, "cut", "--window", window, "-o", part, whole)
    trace = slices(*parts)
    return "something is missing between them" if b"in none of the snapshots" in trace or b"flightrec" not in trace else None


def damage(whole, bad, cpu):
    """Make a file of which one chunk of a CPU's main ring cannot be read, and that has more behind it: what is lost."""
    data, all_rows, at = open(whole, "rb").read(), rows(whole), -1
    while (at := data.find(ZSTD, at + 1)) >= 0:
        with open(bad, "wb") as f:
            f.write(data[:at + 50] + bytes([data[at + 50] ^ 0xff]) + data[at + 51:])
        left = rows(bad)
        there = {json.dumps(e["pos"] | {"cpu": e["cpu"]}) for e in left}
        lost = [e for e in all_rows if json.dumps(e["pos"] | {"cpu": e["cpu"]}) not in there]
        if {(e["cpu"], e["pos"]["tier"]) for e in lost} == {(cpu, "main")} and \
                any(e["cpu"] == cpu and e["ts"] > lost[-1]["ts"] and e["pos"]["tier"] == "main" for e in left):
            return lost[0]["ts"], lost[-1]["ts"]
    raise RuntimeError("no chunk could be damaged")


def test_damaged(folder, whole):
    """What is found damaged on reading is a gap, too; a hole of another CPU stays one."""
    whole, bad, cpu = f"{whole}.parts", f"{folder}/bad.flight", 1
    lost = damage(whole, bad, cpu)
    error = check_folded([bad], begins(bad) + holes(bad) + [lost])
    if error:
        return error
    trace = slices(bad)
    told = trace.count(b"damaged"), trace.count(b"overwritten while it was read")
    if told != (1, 1):
        return f"perfetto: {told} slices of damage and holes"
    if shutil.which("babeltrace2") and ctf_packets(folder, bad) != collections.Counter({cpu: 1, 2: 1}):
        return f"ctf: packets are missing of CPUs {ctf_packets(folder, bad)}"
    if shutil.which("trace-cmd") and dropped(folder, bad) != collections.Counter({cpu: 1, 2: 1}):
        return f"trace-cmd: events are missing of CPUs {dropped(folder, bad)}"
    want = {(cpu, lost[1] - lost[0])} | {(2, until - since) for since, until in holes(bad)}
    return None if page_holes(bad) == want else f"html: holes are {page_holes(bad)}, not {want}"


def test_cut(folder, whole):
    """What a CPU that was cut away did is not known: nor who was off all CPUs."""
    part = f"{folder}/cpus.flight"
    run(FLIGHTREC, "cut", "--cpu", "0-1,3", "-o", part, whole)
    off = export("folded", part, args=("--off-cpu",))
    if off.stdout or b"missing in 1 places" not in off.stderr:
        return f"time off the CPU is told: {off.stdout[:100]} {off.stderr}"
    cnt = slices(part).count(b"cut away")
    return None if cnt == 1 else f"perfetto: {cnt} CPUs are cut away"


TESTS = (test_several, test_damaged, test_cut)
