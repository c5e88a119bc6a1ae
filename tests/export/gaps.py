# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What is missing, of all files and of what is found damaged on reading, is told by each export as its format can."""
import base64
import collections
import csv
import io
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
    if off.stdout or b"missing in 1 place:" not in off.stderr:
        return f"time off the CPU is told: {off.stdout[:100]} {off.stderr}"
    cnt = slices(part).count(b"cut away")
    return None if cnt == 1 else f"perfetto: {cnt} CPUs are cut away"


# ---- json, csv and replay: lines of their own, with --gaps ----


def csv_rows(*files, args=()):
    return list(csv.DictReader(io.StringIO(export("csv", *files, args=args).stdout.decode(), newline="")))


def gap_lines(*files, args=()):
    """All lines, and of these the gaps, as (cpu, why, since, until); the same from replay, json and csv, and said if not shown."""
    r = run(FLIGHTREC, "replay", "--json", "--gaps", *args, *files)
    assert b"missing" not in r.stderr, r.stderr
    assert export("json", *files, args=("--gaps", *args)).stdout == r.stdout, "json is not what replay prints"
    lines = [json.loads(line) for line in r.stdout.splitlines()]
    told = [(e["cpu"], e["gap"], e["ts"], e["until_ns"]) for e in lines if "gap" in e]
    plain = run(FLIGHTREC, "replay", "--json", *args, *files)
    assert [json.loads(line) for line in plain.stdout.splitlines()] == [e for e in lines if "event" in e], "events are others"
    assert all(("gap" in e) + ("event" in e) == 1 for e in lines), "a line is neither event nor gap, or both"
    table = csv_rows(*files, args=("--gaps", *args))
    at_csv = [(int(row["cpu"]), row["gap"], int(row["ts"]) if row["ts"] else None, int(row["until_ns"]) if row["until_ns"] else None)
              for row in table if not row["event"]]
    assert [{key: cell for key, cell in row.items() if key not in ("gap", "until_ns")} for row in table if row["event"]] == \
        csv_rows(*files, args=args), "with --gaps csv has other events"
    assert at_csv == told, f"csv has {at_csv}, not {told}"
    text = run(FLIGHTREC, "replay", "--gaps", *args, *files).stdout.decode()
    assert text.count("--- events are missing") == len(told), "text has another number"
    inside = sum(why not in ("before", "damaged") for _, why, _, _ in told)
    for said in (plain, export("json", *files, args=args), export("csv", *files, args=args)):
        assert (b"%d place" % inside in said.stderr) if inside else b"missing in" not in said.stderr, f"{inside} gaps: {said.stderr}"
    return lines, told


def out_of_place(lines):
    """A gap comes behind what was before it, and before what was not."""
    last, at = 0, 0
    for e in lines:
        if "event" in e:
            if at and e["ts"] <= at:
                return f"the gap at {at} comes before the event at {e['ts']}"
            last = e["ts"]
        else:
            at = e["ts"] or 0
            if at and last > at:
                return f"the gap at {at} comes after the event at {last}"
    return None


def horizons(path, begin):
    return [(cpu, "before", None, ns) for cpu, t in main_rings(path).items()
            if (ns := t["first_ts"] if t["holes"] else t["horizon_ns"]) > begin]


def hole_lines(path):
    return [(h["cpu"], h["why"], h["since_ns"] or None, h["until_ns"] or None) for h in info(path)["holes"] if h["tier"] == "main"]


def differ(lines, told, want):
    if sorted(told, key=str) != sorted(want, key=str):
        return f"gaps are {told}, not {want}"
    return out_of_place(lines)


def test_lines(folder, whole):
    """What no file has, between lines: of one file, and in a part of it, whatever the filter; of two with nothing in between."""
    lines, told = gap_lines(whole)
    first = min(e["ts"] for e in lines if "event" in e)
    error = differ(lines, told, horizons(whole, first) + hole_lines(whole))
    if error or not hole_lines(whole):
        return error or "there is no hole"
    cpu, why, since, until = hole_lines(whole)[0]
    lines, told = gap_lines(whole, args=("--since", str(since - 10), "--until", str(until + 10), "-f", "event == sched_switch"))
    error = differ(lines, told, [(cpu, why, since, until)])
    if error:
        return error
    if gap_lines(whole, args=("--since", str(until + 1)))[1]:
        return "a gap outside the window is shown"
    parts = [f"{folder}/line{i}.flight" for i in range(2)]
    for part, window in zip(parts, ("0%..40%", "60%..100%")):
        run(FLIGHTREC, "cut", "--window", window, "-o", part, whole)
    end = max(e["ts"] for e in rows(parts[0]))
    begin = min(t["horizon_ns"] for t in main_rings(parts[1]).values())
    between = [(c, "between", end, begin) for c in range(CPUS)]
    lines, told = gap_lines(*parts)
    return differ(lines, told, horizons(parts[0], first) + between + hole_lines(parts[1]))


def test_damaged_lines(folder, whole):
    """What is found damaged on reading has its line where it is found, whatever the number of threads."""
    whole, bad, cpu = f"{whole}.parts", f"{folder}/bad-lines.flight", 1
    since, until = damage(whole, bad, cpu)
    lines, told = gap_lines(bad)
    first = min(e["ts"] for e in lines if "event" in e)
    if gap_lines(bad, args=("--jobs", "2"))[0] != lines:
        return "two threads have other lines"
    return differ(lines, told, horizons(bad, first) + hole_lines(bad) + [(cpu, "damaged", since, until)])


def test_cut_lines(folder, whole):
    """A CPU that was cut away has no events from beginning to end."""
    part = f"{folder}/cpu-lines.flight"
    run(FLIGHTREC, "cut", "--cpu", "0-1,3", "-o", part, whole)
    _, told = gap_lines(part)
    return None if (2, "cut", None, None) in told else f"CPU 2 was cut away, and the gaps are {told}"


TESTS = (test_several, test_damaged, test_cut, test_lines, test_damaged_lines, test_cut_lines)
