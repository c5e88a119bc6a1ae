# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Damaged and incomplete files: what cut and merge make of them claims no more than is known."""
import json
import os
import subprocess
import sys

from commands import (chunk_heads, cut, dir, ends, event_chunks, fresh, golden, horizons, horizons_of, info, main_ring, merge, mid, named, pairs,
                      parsed, place, rows, run)


def damaged_is_a_hole(out):
    """What could not be read is missing, not cut away, and nothing is paired across it."""
    lines = lambda path: list(map(parsed, rows(path, want=0 if path != "bad.flight" else 3)))
    left = {place(e) for e in lines("bad.flight")}
    lost = [e for e in lines("b.flight") if place(e) not in left]
    i = info(out)
    assert lost and i["cut"]["away"] == 0, i["cut"]
    holes = [h for h in i["holes"] if h["why"] == "damaged"]
    assert len(holes) == 1, i["holes"]
    h = holes[0]
    assert {(e["cpu"], e["pos"]["tier"]) for e in lost} == {(h["cpu"], h["tier"])}, holes
    seqs, times = [e["pos"]["seq"] for e in lost], [e["ts"] for e in lost]
    assert (h["first_seq"], h["last_seq"]) == (min(seqs), max(seqs)), holes
    assert next(t for c in i["cpus"] if c["cpu"] == h["cpu"] for t in c["tiers"] if t["name"] == h["tier"])["horizon_ns"] >= max(times)
    assert b"1 hole(s): laps damaged" in run("info", out).stdout and (len(i["holes"]) > 1) == (b"hole(s): laps overw" in run("info", out).stdout)
    pairs = lambda path: {place(e): {k: v for k, v in e.items() if k == "waker" or k.endswith("_ns")} for e in map(parsed, run(
        "replay", "--json", "--pos", "--pairs", "--no-symbols", "--tier", "all", path).stdout.split(b"\n")[:-1])}
    truth, said = pairs("b.flight"), pairs(out)
    assert any(said.values()) and not [p for p in said if not said[p].items() <= truth[p].items()]
    run("verify", out)
    out, _ = cut("bad.flight", "--cpu", str(1 - h["cpu"]), want=3)
    i = info(out)
    assert h not in i["holes"] and i["cut"]["away"] == len(rows("b.flight")) - len(rows(out)), i["cut"]


def damaged():
    """The part that can be read is cut. That the rest could not be read is reported, also by the exit status."""
    data = bytearray(open(os.path.join(dir, "b.flight"), "rb").read())
    data[data.rindex(b"\x28\xb5\x2f\xfd", 0, len(data) // 2) + 50] ^= 0xff
    with open(os.path.join(dir, "bad.flight"), "wb") as f:
        f.write(data)
    left = rows("bad.flight", want=3)
    assert 0 < len(left) < len(rows("b.flight"))
    out, err = cut("bad.flight", "--window", "0%..100%", want=3)
    assert "damaged" in err and rows(out) == left and info(out)["cut"]["damage"] > 0
    damaged_is_a_hole(out)
    run("merge", "-o", fresh("m.flight"), "bad.flight", "a.flight", want=3)
    whole = set(rows("a.flight")) | set(left)
    assert len(set(rows("m.flight"))) == len(whole) and run("verify", "m.flight")


def gaps(path, why, want=0):
    lines = run("replay", "--json", "--gaps", "--no-symbols", path, want=want).stdout.split(b"\n")[:-1]
    return [(e["cpu"], e["ts"], e["until_ns"]) for e in map(parsed, lines) if e.get("gap") == why]


def flip(path, at):
    """The file with a wrong byte."""
    data = bytearray(open(os.path.join(dir, path), "rb").read())
    data[at] ^= 0xff
    with open(os.path.join(dir, "bad.flight"), "wb") as f:
        f.write(data)
    return "bad.flight"


def merge_broken_processes():
    """What a file says of processes is copied line by line, whatever it is: a line may end where a number should be."""
    out = merge("procs.flight")
    text = run("info", "--json", out) and subprocess.run(["zstd", "-dcq", os.path.join(dir, out)], capture_output=True, check=True).stdout
    assert b'{"pid":\n' in text and b'{"start_ns":7,"pid":8}\n' in text, text[-300:]


def cut_before_a_hole():
    """A ring is complete behind its holes, for a recorder: a cut that ends before one has all that was before it, and says so."""
    hole, = info("b.flight")["holes"]
    early, late = named("early.flight", "b.flight", "--window", "10%..40%"), named("late.flight", "b.flight", "--window", "60%..90%")
    since, until = info(early)["cut"]["since_ns"], info(early)["cut"]["until_ns"]
    assert horizons("b.flight")[0] == hole["until_ns"] > hole["since_ns"] > until > since
    assert info(early)["holes"] == [] and horizons(early) == [since] * 2, info(early)
    assert b'"gap"' not in run("replay", "--json", "--gaps", early).stdout
    assert pairs(early) == pairs(named("whole.flight", "a.flight", "--since", str(since), "--until", str(until))), "a has no hole"
    assert gaps(merge(early, late), "overwritten") == [(0, until, hole["until_ns"])], gaps("m.flight", "overwritten")
    assert not [g for g in gaps("m.flight", "before") if g[0] == 0] and horizons("m.flight")[0] == hole["until_ns"]
    # one that ends in the hole, or begins behind its begin, is complete behind it only
    for window in f"{since}..{(hole['since_ns'] + hole['until_ns']) // 2}", f"{hole['since_ns'] + 1}..{hole['until_ns'] - 1}":
        out, _ = cut("b.flight", "--window", window)
        assert info(out)["holes"] == [hole] and horizons(out)[0] == hole["until_ns"], (window, info(out)["holes"])


def lost_end_in_the_bar():
    """A ring that ends in a hole is complete up to there: its bar says so, its time, and the line about all CPUs."""
    i = info("end.flight")
    hole, = i["holes"]
    ring = main_ring(i, 0)
    text = run("info", "end.flight").stdout.decode()
    bars = {int(l[2:6]): l[7:].split()[:3] for l in text[text.index("Tier main"):text.index("Tier life")].splitlines()[2:] if l.strip()}
    first = min(c["first_ts"] for cpu in i["cpus"] for c in cpu["tiers"] if c["name"] == "main")
    whole = int((hole["since_ns"] - first) / (i["end_ns"] - first) * 40)
    assert 0 < whole < 40 and bars[0][0] == "#" * whole + "." * (40 - whole) and bars[1][0] == "#" * 40, bars
    assert bars[0][1:] == [f"{(hole['since_ns'] - ring['horizon_ns']) / 1e6:.1f}", "ms"], (bars, ring)
    assert " ms but for a hole at the end; life: " in text and text.count("but for") == 1, text
    assert "but for" not in run("info", "b.flight").stdout.decode(), "its hole has an end"


def cut_ends_of_holes():
    """A hole that ends after the last event there is, is one to the end, whether the cut ends in it or it was damaged."""
    hole, = info("b.flight")["holes"]
    early = named("early.flight", "b.flight", "--until", str((hole["since_ns"] + hole["until_ns"]) // 2))
    assert gaps(early, "overwritten") == [(0, hole["since_ns"], None)], gaps(early, "overwritten")
    cuts = early, named("late.flight", "b.flight", "--since", str(hole["until_ns"]))
    assert gaps(merge(*cuts), "overwritten") == [(0, hole["since_ns"], hole["until_ns"])], gaps("m.flight", "overwritten")
    found = 0
    for at, cpu, tier, first, last, sz in event_chunks("b.flight"):
        out, _ = cut(flip("b.flight", at + sz + 40), want=3)
        if tier == 0:
            until = last if last < info(out)["end_ns"] else None
            (got,) = gaps(out, "damaged")
            assert got in ((cpu, first, until), (cpu, None, until)), (got, cpu, first, until)
            found += until is None
    assert found


def headless(path):
    """The file without the header of each of its event chunks, and which chunk it is."""
    for chunk in event_chunks(path):
        yield flip(path, chunk[0] + 40), chunk


def cut_headless():
    """A chunk whose header is damaged is a hole between those around it, and the history is complete only behind it."""
    truth, found = pairs("parts.flight"), 0
    for bad, (_, cpu, tier, first, last, _) in headless("parts.flight"):
        out, _ = cut(bad, want=3)
        if tier:
            continue
        told = gaps(bad, "damaged", 3)
        assert gaps(out, "damaged") == told and [g[0] for g in told] == [cpu], (told, gaps(out, "damaged"))
        assert (told[0][1] or 0) < first and last < (told[0][2] or 2**64), told
        lost = {k: e for k, e in truth.items() if k[1] == cpu and first <= e["ts"] <= last and k[2] == "main"}
        there = info(out)
        (hole,) = [h for h in there["holes"] if h["why"] == "damaged"]
        laps = min(k[3] for k in lost), max(k[3] for k in lost)
        assert (hole["first_seq"], hole["last_seq"]) == laps, (hole, laps)
        assert main_ring(there, cpu)["horizon_ns"] >= hole["until_ns"] > 0 or not told[0][2], hole
        known = pairs(bad, want=3)
        assert all(e.items() <= known[k].items() for k, e in pairs(out).items())
        found += None not in told[0]
    assert found > 10


def merge_headless():
    """A chunk whose header is damaged is a hole in the merged file, unless another file has its laps."""
    truth, horizon, found = pairs("parts.flight"), horizons("c.flight"), 0
    for bad, (_, cpu, tier, first, last, _) in headless("parts.flight"):
        if tier:
            continue
        run("merge", "-o", fresh("m.flight"), bad, want=3)
        known, got = pairs(bad, want=3), pairs("m.flight")
        assert got.keys() == known.keys() and all(e.items() <= known[k].items() for k, e in got.items())
        told = gaps(bad, "damaged", 3)
        if told[0][1]:
            left, merged = gaps("m.flight", "damaged"), info("m.flight")
            assert left == told, (left, told)
            (hole,) = merged["holes"]
            assert hole["why"] == "damaged" and main_ring(merged, cpu)["horizon_ns"] > hole["since_ns"], hole
            found += 1
        run("merge", "-o", fresh("m.flight"), bad, "c.flight", want=3)
        merged = info("m.flight")
        assert merged["holes"] == [] and horizons_of(merged) == horizon and pairs("m.flight") == truth
    assert found > 10
    # nothing is left of a ring
    for at, cpu, tier, _, _, sz in event_chunks("c.flight"):
        for off in 40, sz + 40:
            run("merge", "-o", fresh("m.flight"), flip("c.flight", at + off), want=3)
            left = [g for why in ("before", "damaged") for g in gaps("m.flight", why) if g[0] == cpu]
            assert tier or left == [(cpu, None, None)] and main_ring(info("m.flight"), cpu)["horizon_ns"] > info("m.flight")["end_ns"], left


def check_ends_unknown(bad, ends, horizon):
    """Of a file without accounts nothing is known of a CPU before its first event and after its last one; nor of a cut of it."""
    left = rows(bad, want=3)
    for path in bad, named("part.flight", bad, want=3):
        want = 3 if path == bad else 0
        assert rows(path, want=want) == left
        last = max(ends.values())
        assert gaps(path, "damaged", want) == [(cpu, end, None) for cpu, end in ends.items() if end < last], (path, gaps(path, "damaged", want))
        holes = [(h["cpu"], h["since_ns"], h["until_ns"]) for h in json.loads(run("info", "--json", path, want=want).stdout)["holes"]
                 if h["tier"] == "main" and h["why"] == "damaged"]
        assert holes == [(cpu, end, 0) for cpu, end in ends.items()], (path, holes)
        assert b"Nothing was lost" not in run("info", path, want=want).stdout
        r = json.loads(run("report", "--json", path, want=want).stdout)
        for c in r["cpus"]:
            assert c["horizon_ns"] == horizon[c["cpu"]] and 0 < c["busy_ns"] + c["idle_ns"] <= ends[c["cpu"]] - horizon[c["cpu"]], (path, c)


def lost_accounts():
    """A file that ends too early, and one whose accounts are damaged. One without accounts that is whole is complete."""
    whole = "parts.flight"  # with all accounts at its end, as the recorder writes them
    data = open(os.path.join(dir, whole), "rb").read()
    chunks = [c for c in event_chunks(whole) if c[2] == 0]
    ends, begins = {c[1]: c[4] for c in chunks}, {c[1]: c[3] for c in reversed(chunks)}
    assert sorted(ends) == [0, 1]
    with open(os.path.join(dir, "bad.flight"), "wb") as f:
        f.write(data[:data.rindex(b"fl-chunk", 0, data.index(b"fl-chunk", max(c[0] for c in chunks) + 100) + 8) + 8])
    check_ends_unknown("bad.flight", ends, begins)
    whole = named("whole.flight", "c.flight")  # with one account of all rings
    chunks = [c for c in event_chunks(whole) if c[2] == 0]
    ends, begins = {c[1]: c[4] for c in chunks}, {c[1]: c[3] for c in chunks}
    at = next(at + len(head) for at, kind, head in chunk_heads(whole) if kind == 4)
    check_ends_unknown(flip(whole, at + 20), ends, begins)
    # what another file knows of the rings stays
    run("merge", "-o", fresh("m.flight"), "bad.flight", "a.flight", want=3)
    for cpu in 0, 1:
        assert main_ring(info("m.flight"), cpu)["written"] == main_ring(info("a.flight"), cpu)["written"] > 0
        assert [(h["first_seq"], h["until_ns"]) for h in info("m.flight")["holes"] if h["tier"] == "main" and h["cpu"] == cpu][-1][1] == 0
    tiny = os.path.join(os.path.dirname(golden), "tiny.flight")
    assert run("replay", "--gaps", "--json", tiny).stdout.count(b"\n") == int(run("replay", "--count", tiny).stdout) > 0


def lost_laps():
    """A lap that is missing is a hole, also if no account tells of it."""
    hole, = info("torn.flight")["holes"]
    last = list(event_chunks("torn.flight"))[-1]
    with open(os.path.join(dir, "bad.flight"), "wb") as f:
        f.write(open(os.path.join(dir, "torn.flight"), "rb").read()[:last[0] + last[5]])
    got = json.loads(run("info", "--json", "bad.flight", want=3).stdout)
    found, = [h for h in got["holes"] if h["until_ns"] and h["tier"] == "main"]
    assert (found["cpu"], found["first_seq"], found["last_seq"]) == (hole["cpu"], hole["first_seq"], hole["last_seq"]), (found, hole)
    assert main_ring(got, 0)["horizon_ns"] == found["until_ns"] >= hole["until_ns"] > found["since_ns"] >= hole["since_ns"], (found, hole)
    assert (0, found["since_ns"], found["until_ns"]) in gaps("bad.flight", "damaged", want=3)


def lost_waits():
    """CPUs may be lost altogether with a file's end: what their events could change is not known. What a CPU tells alone is."""
    values = lambda paired: {p: {k: v for k, v in e.items() if k == "waker" or k.endswith("_ns")} for p, e in paired.items()}
    whole = named("whole.flight", "a.flight")
    (cpu, *_), (at, *_) = [c[1:] for c in event_chunks(whole)][0], list(event_chunks(whole))[1]
    with open(os.path.join(dir, "bad.flight"), "wb") as f:
        f.write(open(os.path.join(dir, whole), "rb").read()[:at])
    truth, said = values(pairs(whole)), values(pairs("bad.flight", want=3))
    assert said and {p[1] for p in said} == {cpu} < {p[1] for p in truth}
    assert all(e.items() <= truth[p].items() for p, e in said.items()) and any("oncpu_ns" in e for e in said.values())


def lost_ends():
    """A file whose end is lost, with the name of its boot, is of the boot of a file of the same session. Each event is there once."""
    data = open(os.path.join(dir, "parts.flight"), "rb").read()  # the facts are at its end
    with open(os.path.join(dir, "bad.flight"), "wb") as f:
        f.write(data[:len(data) * 3 // 4])
    left = {place(parsed(l)) for l in rows("bad.flight", want=3)}
    for parts in ("bad.flight", "c.flight"), ("c.flight", "bad.flight"), ("a.flight", "bad.flight", "b.flight"):
        whole = [place(parsed(l)) for p in parts if p != "bad.flight" for l in rows(p)]
        got = [place(parsed(l)) for l in rows(*parts, want=3)]
        assert len(got) == len(set(got)) and set(got) == set(whole) | left, (parts, len(got), len(set(got)))
    run("merge", "-o", fresh("m.flight"), "bad.flight", "c.flight", want=3)
    assert len(rows("m.flight")) == len(rows("c.flight"))
    # another session, whose boot is not known, stays apart
    assert {place(parsed(l))[0] for l in rows("random.flight")}.isdisjoint({p[0] for p in left})
    assert len(rows("bad.flight", "random.flight", want=3)) == len(left) + len(rows("random.flight"))


def lost_holes():
    """If holes are lost, and the accounts are not, a ring is known from its horizon to its last event."""
    for whole in "end.flight", "b.flight":
        heads = [(at, kind, len(head)) for at, kind, head in chunk_heads(whole)]
        at, _, sz = next(h for h in heads if h[1] == 5)
        data = open(os.path.join(dir, whole), "rb").read()
        for bad in data[:at + sz] + bytes([data[at + sz] ^ 0xff]) + data[at + sz + 1:], data[:at + 30] + b"\xff" + data[at + 31:], data[:at], data[:at + sz + 1]:
            with open(os.path.join(dir, "bad.flight"), "wb") as f:
                f.write(bad)
            for cpu in {c["cpu"] for c in info(whole)["cpus"]} if len(bad) == len(data) else {0}:
                ring, last = main_ring(info(whole), cpu), max(c[4] for c in event_chunks(whole) if (c[1], c[2]) == (cpu, 0))
                got = json.loads(run("info", "--json", "bad.flight", want=3).stdout)
                want = [(0, ring["horizon_ns"])] * (ring["first_ts"] < ring["horizon_ns"]) + [(last, 0)]
                assert main_ring(got, cpu)["written"] and main_ring(got, cpu)["horizon_ns"] == ring["horizon_ns"]
                assert [(h["since_ns"], h["until_ns"]) for h in got["holes"] if (h["cpu"], h["tier"]) == (cpu, "main")] == want, (whole, got["holes"], want)
                assert last == got["end_ns"] or (cpu, last, None) in gaps("bad.flight", "damaged", want=3)
    # a copy that lost them closes none
    hole, = info("torn.flight")["holes"]
    at = next(at + len(head) for at, kind, head in chunk_heads("torn.flight") if kind == 5)
    run("merge", "-o", fresh("m.flight"), flip("torn.flight", at), "torn.flight", want=3)
    assert [h for h in info("m.flight")["holes"] if h["cpu"] == 0 and h["first_seq"] <= hole["first_seq"] <= h["last_seq"]], info("m.flight")["holes"]


def lost_cuts():
    """A cut that lost its end is known as one, also when it was merged: what was cut away is not taken for what never happened."""
    cpu = cut("b.flight", "--cpu", "0", "--until", "90%")[0]
    os.rename(os.path.join(dir, cpu), os.path.join(dir, "cpu.flight"))
    event = cut("b.flight", "-f", "event != sched_waking")[0]
    os.rename(os.path.join(dir, event), os.path.join(dir, "event.flight"))
    run("merge", "-o", fresh("m.flight"), "cpu.flight", cut("b.flight", "--cpu", "1", "--since", "10%")[0])
    for whole in "cpu.flight", "event.flight", "m.flight":
        data = open(os.path.join(dir, whole), "rb").read()
        with open(os.path.join(dir, "bad.flight"), "wb") as f:
            f.write(data[:list(event_chunks(whole))[1][0]])
        got, want = json.loads(run("info", "--json", "bad.flight", want=3).stdout), info(whole)
        assert got["events"] and {**got["cut"], "away": 0, "damage": 0} == {**want["cut"], "away": 0, "damage": 0}, (got["cut"], want["cut"])
        values = lambda path, want: {place(e): {k: v for k, v in e.items() if k == "waker" or k.endswith("_ns")} for e in map(parsed, run(
            "replay", "--json", "--pos", "--pairs", "--no-symbols", path, want=want).stdout.split(b"\n")[:-1])}
        truth, said = values(whole, 0), values("bad.flight", 3)
        assert not [p for p in said if not said[p].items() <= truth[p].items()], whole


def merge_damaged_cuts():
    """What could not be read of a cut is a hole in the merged file, unless another file has it."""
    middle = mid("b.flight", 0.7)
    one, two = named("one.flight", "b.flight", "--until", str(middle)), named("two.flight", "b.flight", "--since", str(middle))
    data = bytearray(open(os.path.join(dir, two), "rb").read())
    data[data.index(b"\x28\xb5\x2f\xfd", next(event_chunks(two))[0]) + 50] ^= 0xff
    with open(os.path.join(dir, "bad.flight"), "wb") as f:
        f.write(data)
    left = {place(parsed(l)) for l in rows("bad.flight", want=3)}
    lost = [e for e in map(parsed, rows(two)) if place(e) not in left]
    assert lost and left
    for parts in (["bad.flight"], [one, "bad.flight"]):
        run("merge", "-o", fresh("m.flight"), *parts, want=3)
        hole, = [h for h in info("m.flight")["holes"] if h["why"] == "damaged"]
        ring = next(t for c in info("m.flight")["cpus"] if c["cpu"] == hole["cpu"] for t in c["tiers"] if t["name"] == hole["tier"])
        assert ring["horizon_ns"] == hole["until_ns"] == max(e["ts"] for e in lost), (ring, hole)
        assert {(e["cpu"], e["pos"]["tier"]) for e in lost} == {(hole["cpu"], hole["tier"])}, hole
        assert hole["since_ns"] <= min(e["ts"] for e in lost) and max(e["ts"] for e in lost) <= hole["until_ns"], hole
        assert hole["first_seq"] <= min(e["pos"]["seq"] for e in lost) and max(e["pos"]["seq"] for e in lost) <= hole["last_seq"], hole
    run("merge", "-o", fresh("m.flight"), one, "bad.flight", two, want=3)
    assert info("m.flight")["holes"] == info("b.flight")["holes"] and rows("m.flight") == rows("b.flight")


def lost_nothing_twice():
    """Bytes that were written twice, as by a download that went on too early: the events in them are shown once."""
    data = open(os.path.join(dir, "b.flight"), "rb").read()
    heads = [at for at, _, _ in chunk_heads("b.flight")]
    whole = rows("b.flight")
    for first, last in (1, 3), (2, len(heads) - 1), (0, len(heads) - 2):
        with open(os.path.join(dir, "bad.flight"), "wb") as f:
            f.write(data[:heads[last]] + data[heads[first]:])
        assert rows("bad.flight", want=3) == whole, (first, last, len(rows("bad.flight", want=3)), len(whole))
        assert b"a copy of chunk" in run("verify", "bad.flight", want=3).stdout
        assert rows(merge("bad.flight", want=3)) == whole


globals()[sys.argv[3]]()
