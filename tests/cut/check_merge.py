# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""merge: files of one session, of several and of several hosts; what they share is there once, what none has is a hole."""
import json
import os
import shutil
import subprocess
import sys

from commands import (behind, cut, dir, event_chunks, flightrec, fresh, golden, horizons, info, main_ring, merge, mid, named, pairs,
                      parsed, place, rows, run)


def union(*paths):
    """Each event is there once, in the order of (time, CPU, tier, place)."""
    seen = {}
    for path in paths:
        for line in rows(path):
            seen.setdefault(place(parsed(line)), parsed(line))
    return seen


def merge_union():
    parts = ["a.flight", "b.flight", "c.flight"]
    expected = union(*parts)
    assert max(len(rows(p)) for p in parts) < len(expected) < sum(len(rows(p)) for p in parts)
    got = rows(merge(*parts))
    assert got == rows(*parts)
    events = [parsed(l) for l in got]
    assert len(events) == len(expected) and {place(e): e for e in events} == expected
    assert all(a["ts"] <= b["ts"] for a, b in zip(events, events[1:]))
    # a renaming does not get earlier because several files have it
    renamed = [e for e in events if e["event"] == "task_rename"]
    assert renamed and all(e["comm"] == e["oldcomm"] for e in renamed), renamed
    assert rows(merge(*reversed(parts))) == got, "the order they are named in"
    os.rename(os.path.join(dir, "m.flight"), os.path.join(dir, fresh("m1.flight")))
    assert rows(merge("m1.flight", "b.flight")) == got, "merged again"
    assert rows(merge("b.flight")) == rows("b.flight")
    assert info("m1.flight")["merge_cnt"] == 3


def merge_holes():
    assert [h["cpu"] for h in info("b.flight")["holes"]] == [0]
    m = info(merge("a.flight", "b.flight"))
    assert m["holes"] == [], "a has the lap that b lacks"
    for cpu in 0, 1:
        a, b, ring = main_ring(info("a.flight"), cpu), main_ring(info("b.flight"), cpu), main_ring(m, cpu)
        assert ring["horizon_ns"] == a["horizon_ns"] < b["horizon_ns"]
        assert ring["overwritten"] == a["overwritten"] < b["overwritten"]
        assert ring["written"] == ring["overwritten"] + ring["present"]
        assert ring["written"] == b["written"] and ring["last_seq"] == b["last_seq"] and ring["first_seq"] == a["first_seq"]
    # between a and c laps are missing: that is a hole, and the file is complete only after it
    a, c = info("a.flight"), info("c.flight")
    m = info(merge("a.flight", "c.flight"))
    for cpu in 0, 1:
        holes = [h for h in m["holes"] if h["cpu"] == cpu and h["tier"] == "main"]
        assert [(h["first_seq"], h["last_seq"]) for h in holes] == [
            (main_ring(a, cpu)["last_seq"], main_ring(c, cpu)["first_seq"] - 1)], holes
        assert main_ring(m, cpu)["horizon_ns"] == main_ring(c, cpu)["horizon_ns"]
        assert [(h["since_ns"], h["until_ns"]) for h in holes] == [(a["end_ns"], main_ring(c, cpu)["horizon_ns"])], holes
    assert info(merge("a.flight", "b.flight", "c.flight"))["holes"] == [], "b has them"
    assert info(merge("b.flight"))["holes"] == info("b.flight")["holes"]


def merge_end():
    """A hole at the very end of a ring stays one, and what is before it is complete. A file that has the lap closes it."""
    hole, = info("end.flight")["holes"]
    a = info("a.flight")
    assert hole["until_ns"] == 0 and hole["first_seq"] == main_ring(info("b.flight"), 0)["last_seq"], hole
    for parts, horizon in (["end.flight"], main_ring(info("end.flight"), 0)), (["a.flight", "end.flight"], main_ring(a, 0)):
        m = info(merge(*parts))
        assert m["holes"] == [hole], (parts, m["holes"])
        assert main_ring(m, 0)["horizon_ns"] == horizon["horizon_ns"], parts
        assert pairs("m.flight") == pairs(*parts), parts
    for other in "b.flight", "c.flight":
        assert info(merge("end.flight", other))["holes"] == [], f"{other} has the lap"


def merge_pairs():
    """Nothing is measured across a hole; what lies before it is measured as in the files."""
    for parts in ["a.flight", "c.flight"], ["a.flight", "b.flight"], ["a.flight", "b.flight", "c.flight"], ["b.flight"]:
        expected = pairs(*parts)
        assert pairs(merge(*parts)) == expected
        assert [e for e in expected.values() if e["pos"]["seq"] < 7 and "latency_ns" in e]
    a, c = info("a.flight"), info("c.flight")
    across = [e for e in pairs(merge("a.flight", "c.flight")).values()
              if e["ts"] >= c["horizon_ns"] and e["ts"] - e.get("latency_ns", 0) <= a["end_ns"]]
    assert not across, across
    # the values that a file without holes has for its last event
    assert pairs("a.flight").items() <= pairs("a.flight", "c.flight").items()


def merge_report():
    """After the holes everything is as in the file that begins there, even if the holes have no times. If they have times, what
    precedes them is known, too: of the merged file report knows what replay does of both files."""
    horizon, (a, c) = info("c.flight")["horizon_ns"], [json.loads(run("report", "--json", p).stdout) for p in ("a.flight", "c.flight")]
    keys = {"wakeup": "latency_ns", "offcpu": "offcpu_ns", "queued": "queued_ns", "blocked": "blocked_ns"}
    expected = behind(horizon, "c.flight")
    assert expected[1].count(b"\n") > 50
    for path in merge("a.flight", "c.flight"), "old.flight":
        assert info(path)["holes"] and info(path)["horizon_ns"] == horizon
        assert behind(horizon, path) == expected, path
        whole = json.loads(run("report", "--json", path).stdout)
        parts, files = ([c], ["c.flight"]) if path == "old.flight" else ([a, c], ["a.flight", "c.flight"])
        runs = [e for e in pairs(*files).values() if e["event"] == "sched_switch" and e["next_pid"]]
        for key, name in keys.items():
            there, got = [e[name] for e in runs if e.get(name)], whole["total"][key]
            assert (got["count"], got["sum_ns"]) == (len(there), sum(there)), (path, key, got["count"], len(there))
            assert path == "old.flight" or got["count"] > 1.5 * c["total"][key]["count"]
        for cpu in 0, 1:
            busy = [r["cpus"][cpu]["busy_ns"] for r in parts]
            assert sum(busy) * 0.99 < whole["cpus"][cpu]["busy_ns"] <= sum(busy), (path, busy, whole["cpus"][cpu])
        assert run("export", "--to", "folded", "--off-cpu", "-o", "-", path).stdout.count(b"\n") > 50


def merge_leaks():
    """Memory is freed, whether laps are missing or not."""
    if not shutil.which("valgrind"):
        print("valgrind is not installed")
        sys.exit(77)
    for paths in ("a.flight", "b.flight"), ("a.flight", "c.flight"):
        p = subprocess.run(["valgrind", "-q", "--leak-check=full", "--error-exitcode=9", flightrec, "merge", "-o", fresh("leak.flight"), *paths],
                           capture_output=True, text=True, cwd=dir)
        assert p.returncode == 0, p.stderr[-2000:]


def gaps(*paths):
    """What is said to be missing, by CPU and time."""
    out = run("replay", "--json", "--gaps", "--no-symbols", *paths).stdout.split(b"\n")[:-1]
    return [e for e in map(parsed, out) if "gap" in e]


def merge_cuts():
    """Merged cuts are what was cut. They close no hole, since it is not known what they lack."""
    cut("b.flight", "--cpu", "0")
    os.rename(os.path.join(dir, "out.flight"), os.path.join(dir, fresh("c0.flight")))
    cut("b.flight", "--cpu", "1")
    assert rows(merge("c0.flight", "out.flight")) == rows("c0.flight", "out.flight")
    assert {place(parsed(l)) for l in rows("m.flight")} == {place(parsed(l)) for l in rows("b.flight")}
    # each CPU is in one of them: what the other lacks of it is not missing
    assert gaps("m.flight") == gaps("c0.flight", "out.flight"), (gaps("m.flight"), gaps("c0.flight", "out.flight"))
    busy = lambda path: [c["busy_ns"] for c in json.loads(run("report", "--json", path).stdout)["cpus"]]
    assert all(0 < m <= b for m, b in zip(busy("m.flight"), busy("b.flight"))), (busy("m.flight"), busy("b.flight"))
    cut("a.flight", "-f", "event == sys_exit")
    assert [h["cpu"] for h in info(merge("out.flight", "b.flight"))["holes"]] == [0]


def merge_horizons():
    """The history is complete where some whole file has it up to its end; a cut that reaches further does not change that."""
    b, end = horizons("b.flight"), info("c.flight")["end_ns"]
    late = named("late.flight", "c.flight", "-f", "event == sys_exit")
    m = info(merge("b.flight", late))
    assert min(horizons("m.flight")) > end, horizons("m.flight")
    holes = [h for h in m["holes"] if h["first_seq"] > 7]
    assert [h["cpu"] for h in holes] == [0, 1] and all(h["until_ns"] == 0 for h in holes), holes
    assert all(h["since_ns"] == info("b.flight")["end_ns"] for h in holes), holes
    run("report", "m.flight")
    run("info", "m.flight")
    # an earlier cut neither adds nor removes anything
    assert horizons(merge(named("early.flight", "a.flight", "-f", "event == sys_exit"), "b.flight")) == b
    os.rename(os.path.join(dir, "m.flight"), os.path.join(dir, fresh("m1.flight")))
    assert horizons(merge("m1.flight")) == b and info("m.flight")["holes"] == info("m1.flight")["holes"]
    timed = [(k, e["latency_ns"]) for k, e in pairs("m1.flight").items() if "latency_ns" in e]
    of_b = pairs("b.flight")
    assert len(timed) > 1000 and all(k in of_b and of_b[k].get("latency_ns") == ns for k, ns in timed)
    assert horizons(merge("early.flight", "a.flight")) == horizons("a.flight")
    # what only a cut has stays unknown, whether it is merged once or twice
    os.rename(os.path.join(dir, merge("early.flight", "c.flight")), os.path.join(dir, fresh("m1.flight")))
    assert horizons(merge("a.flight", "m1.flight")) == horizons("c.flight") and len(info("m.flight")["holes"]) == 2
    same = named("same.flight", "b.flight", "-f", "event == sys_exit")
    for parts in ("b.flight", same), (same, "b.flight"):
        assert horizons(merge(*parts)) == b and info("m.flight")["holes"] == info("b.flight")["holes"], parts
    # cuts alone: windows that meet become one; nothing is claimed about the time between those that do not
    x, y, z = mid("b.flight", 0.8), mid("b.flight", 0.9), mid("b.flight", 0.95)
    cuts = [named("x.flight", "b.flight", "--until", str(x)), named("y.flight", "b.flight", "--window", f"{x}..{y}"),
            named("z.flight", "b.flight", "--since", str(z))]
    assert horizons(merge(*cuts[:2])) == b and horizons(merge(*reversed(cuts[:2]))) == b
    assert horizons(merge(*cuts)) == [z, z]


def missing(*paths):
    """In how many places events are missing, as exports report it."""
    words = run("export", "--to", "perfetto", "-o", fresh("x.pftrace"), *paths).stderr.decode().split()
    return int(words[words.index("missing") + 2]) if "missing" in words else 0


def merge_windows():
    """Events are missing between windows that were cut out of a file: the merged file knows as much as its parts."""
    at = [mid("b.flight", x) for x in (0.7, 0.8, 0.9, 0.95)]
    early, middle, late = (named("early.flight", "b.flight", "--until", str(at[0])), named("middle.flight", "b.flight", "--window", f"{at[1]}..{at[2]}"),
                           named("late.flight", "b.flight", "--since", str(at[3])))
    of_b = [h for h in info("b.flight")["holes"]]
    assert len(of_b) == 1 and of_b[0]["until_ns"] < at[0], "in the first window"
    for parts, between in ([early, middle, late], [(at[0], at[1]), (at[2], at[3])]), ([late, early], [(at[0], at[3])]), ([middle, late], [(at[2], at[3])]):
        m = info(merge(*parts))
        holes = [h for h in m["holes"] if h["tier"] == "main"]
        assert [h for h in holes if h["why"] != "cut"] == (of_b if early in parts else []), m["holes"]
        for cpu in 0, 1:
            cut_out = [h for h in holes if h["cpu"] == cpu and h["why"] == "cut"]
            assert [(h["since_ns"], h["until_ns"]) for h in cut_out] == between, (parts, cut_out)
            times = [e for e in map(parsed, rows("b.flight")) if e["cpu"] == cpu and e["pos"]["tier"] == "main"]
            for h in cut_out:
                lost = [e["pos"]["seq"] for e in times if h["since_ns"] < e["ts"] < h["until_ns"]]
                assert h["first_seq"] <= min(lost) and max(lost) <= h["last_seq"], (h, min(lost), max(lost))
        assert horizons("m.flight") == [at[3]] * 2
        got, of_parts = pairs("m.flight"), pairs(*parts)
        # nothing happened from the window's beginning to a CPU's first event, but only the part itself knows that
        assert got == of_parts if early in parts else (got.keys() == of_parts.keys() and all(e.items() <= of_parts[k].items() for k, e in got.items()))
        assert sum(got[k] != of_parts[k] for k in got) < 5
        assert missing("m.flight") == missing(*parts) >= 2 * len(between), (missing("m.flight"), missing(*parts))
        text = run("info", "m.flight").stdout.decode()
        assert f"{len([h for h in m['holes'] if h['tier'] != 'stack' and h['why'] == 'cut'])} hole(s): between the parts" in text, text
        os.rename(os.path.join(dir, "m.flight"), os.path.join(dir, fresh("m1.flight")))
        for again in ["m1.flight"], ["m1.flight", parts[0]]:
            assert info(merge(*again))["holes"] == m["holes"], again
            assert pairs("m.flight") == got and horizons("m.flight") == [at[3]] * 2
        # a whole file closes the gaps for which it has the events
        assert info(merge("m1.flight", "b.flight"))["holes"] == of_b
    # another window may have what one window lacks
    both = named("both.flight", "b.flight", "--window", f"{at[0]}..{at[3]}")
    assert info(merge(early, both, late))["holes"] == of_b and pairs("m.flight").items() <= pairs("b.flight").items()
    # a window without an end of its own knows nothing of what came after the end of its file
    old, new = named("old.part", "a.flight", "--since", str(mid("a.flight", 0.5))), named("new.part", "c.flight", "--until", str(mid("c.flight", 0.9)))
    m = info(merge(old, new))
    assert m["cut"]["until_ns"] == mid("c.flight", 0.9), m["cut"]
    assert [h["since_ns"] for h in m["holes"] if h["tier"] == "main"] == [info("a.flight")["end_ns"]] * 2, m["holes"]


def merge_parts_without_history():
    """Of a CPU whose window lies before its history nothing is complete, whatever the other windows are of."""
    begin = max(horizons("b.flight")), max(horizons("c.flight"))
    until, since = str(begin[0] - 1), str(begin[1] + 1000000)
    of = lambda cpu, path: [(e["gap"], e["until_ns"]) for e in gaps(path) if e["cpu"] == cpu]
    # only what the rare events' ring remembers of CPU 0, and another time of CPU 1
    early = named("early.flight", "c.flight", "--cpu", "0", "--until", until)
    assert of(0, early) == [("before", None)], gaps(early)
    merge(early, named("late.flight", "c.flight", "--cpu", "1", "--since", since))
    assert of(0, "m.flight") == [("before", None)], gaps("m.flight")
    # the horizon of a later snapshot does not count where its window has nothing
    window = named("late.flight", "b.flight", "--window", f"{begin[0] + 1000}..{begin[1] - 1000}")
    merge(early, window)
    assert horizons("m.flight")[0] == horizons(window)[0] == begin[0] + 1000, horizons("m.flight")
    # a CPU that several files lack is missing once
    cuts = [named(f"{t}.flight", "b.flight", "--cpu", "0", f"--{t}", str(begin[0] + 500000)) for t in ("since", "until")]
    assert gaps(*cuts) == gaps(merge(*cuts)) and len(of(1, "m.flight")) == 1, (gaps(*cuts), gaps("m.flight"))


def merge_in_steps():
    """A later merge can close a hole: then the file is complete from the first file's beginning on, except before its first event."""
    whole = {cpu: main_ring(info(merge("a.flight", "b.flight", "c.flight")), cpu)["horizon_ns"] for cpu in (0, 1)}
    os.rename(os.path.join(dir, "m.flight"), os.path.join(dir, fresh("all.flight")))
    os.rename(os.path.join(dir, merge("a.flight", "c.flight")), os.path.join(dir, fresh("m1.flight")))
    for parts in ["m1.flight", "b.flight"], ["b.flight", "m1.flight"]:
        m = info(merge(*parts))
        assert m["holes"] == [] and rows("m.flight") == rows("all.flight"), m["holes"]
        for cpu in 0, 1:
            first = min(e["ts"] for e in map(parsed, rows("all.flight")) if e["cpu"] == cpu and e["pos"]["tier"] == "main")
            assert whole[cpu] <= main_ring(m, cpu)["horizon_ns"] <= first, (main_ring(m, cpu), first)
        got, want = pairs("m.flight"), pairs("all.flight")
        assert all(e.items() <= want[k].items() for k, e in got.items()) and sum(got[k] != want[k] for k in got) < 5


def merge_last():
    """Dumps of the last moments hold parts of laps. The merged file is complete where they say they are."""
    c, end = horizons("c.flight"), info("c.flight")["end_ns"]
    b = info("b.flight")["end_ns"]
    assert horizons("last.flight") == [info("last.flight")["horizon_ns"]] * 2 and c[0] < info("last.flight")["horizon_ns"] < end
    m = info(merge("b.flight", "last.flight"))
    for cpu in 0, 1:
        assert main_ring(info("last.flight"), cpu)["first_seq"] == main_ring(info("last.flight"), cpu)["last_seq"]
        assert main_ring(m, cpu)["horizon_ns"] == main_ring(info("last.flight"), cpu)["horizon_ns"], m
        hole = [h for h in m["holes"] if h["cpu"] == cpu][-1]
        assert (hole["since_ns"], hole["until_ns"]) == (b, main_ring(m, cpu)["horizon_ns"]), hole
    assert pairs("m.flight") == pairs("b.flight", "last.flight")
    # none of its laps is whole, and another file begins after them: complete only from the other one on
    assert all(main_ring(info("mid.flight"), cpu)["last_seq"] < main_ring(info("c.flight"), cpu)["first_seq"] for cpu in (0, 1))
    assert horizons(merge("mid.flight", "c.flight")) == c


def merge_versions():
    """One session, read by several versions: files that one schema can hold become one snapshot; the others stay on their own."""
    assert rows(merge("a.flight", "more.flight")) == rows("a.flight", "more.flight")
    assert run("verify", "m.flight").stdout.count(b": OK") == 1 and info("m.flight")["merge_cnt"] == 2
    schema = subprocess.run(["zstd", "-dcq", os.path.join(dir, "m.flight")], capture_output=True).stdout
    assert b"event 250 novel" in schema
    # a field of another name: each event is there once, as in the file that is named first
    for parts in (["a.flight", "other.flight"], ["a.flight", "apart.flight"], ["c.flight", "other.flight", "a.flight"]):
        expected = rows(*parts)
        said = run("merge", "-o", fresh("m.flight"), *parts).stdout.decode()
        assert "holds 2 snapshots" in said and "versions of flightrec" in said, said
        assert rows("m.flight") == expected, parts
        assert {place(parsed(l)) for l in expected} == set(union(*parts))
        assert run("verify", "m.flight").stdout.count(b": OK") == 2
        exits = [e for e in map(parsed, expected) if e["event"] == "sys_exit"]
        assert {"ret" in e for e in exits} == {"outcome" in e for e in exits} == {True, False}
        merged = [e for e in exits if e.get("ret", e.get("outcome")) < 0]
        count = run("replay", "--count", "-f", "event == sys_exit && ret < 0", "m.flight").stdout
        assert int(count) == len([e for e in merged if "ret" in e]) > 0
    # commands that can take only one schema and one set of rings say so
    for args in ("report",), ("view", "-o", "x.html"), ("export", "--to", "trace-cmd", "-o", "x.dat"):
        err = run(*args, "m.flight", want=2).stderr.decode()
        assert "shows one session, and there are 2 snapshots here" in err and "flightrec merge" in err, err
    assert "several sessions" in run("top", "--once", "--panel", "tasks", "m.flight").stdout.decode()
    assert len(rows("m.flight")) == int(run("replay", "--count", "--tier", "all", "m.flight").stdout)
    assert "versions" not in run("merge", "-o", fresh("m.flight"), "a.flight", "random.flight").stdout.decode()


def merge_filters():
    """A name that one of the files knows is no mistake: the other files' events lack it."""
    switches = lambda *paths: [l for l in rows(*paths) if parsed(l)["event"] == "sched_switch"]
    both = "more.flight", "other.flight"
    for expr in "event == novel", "event in (sched_switch, novel)", "outcome == -2", "!(outcome == -2)", "outcome ~ \"-E*\" || event == novel":
        run("replay", "--count", "-f", expr, "a.flight", want=2)
        run("replay", "--count", "-f", expr + " && nonsense == 1", *both, want=2)
    assert rows("-f", "event in (sched_switch, novel)", *both) == switches(*both)
    failed = [l for l in rows("other.flight") if parsed(l).get("outcome") == -2]
    assert failed and rows("-f", "outcome == -2", "random.flight", "other.flight") == rows("-f", "outcome == -2", "other.flight") == failed
    assert rows("-f", "outcome == -ENOENT || event == sched_switch", "random.flight", "other.flight") == [
        l for l in rows("random.flight", "other.flight") if parsed(l)["event"] == "sched_switch" or parsed(l).get("outcome") == -2]
    # each name is known to one of the files, and no file knows all of them
    assert failed == rows("-f", "outcome == -2 || event == novel", *both[::-1]) == rows("-f", "outcome == -ENOENT && event != novel", *both[::-1])
    for expr in "outcome == -2 || event == novle", "outcome == -ENONE || event == novel", "outcom == -2 || event == novel":
        run("replay", "--count", "-f", expr, *both, want=2)


def merge_hosts():
    parts = ["a.flight", "random.flight", "b.flight"]
    out = merge(*parts)
    assert rows(out) == rows(*parts)
    assert run("verify", out).stdout.count(b": OK") == 2
    said = [parsed(l) for l in run("info", "--json", out).stdout.split(b"\n")[:-1]]
    assert [(s["host"], s["merge_cnt"]) for s in said] == [("boot-1", 2), ("boot-2", 1)]
    assert b"within 1234 ns" in run("merge", "-o", fresh("n.flight"), *parts).stdout
    # cut again, all hosts of it
    run("cut", "-o", fresh("out.flight"), "-f", "event == sys_enter", out)
    expected = [l for l in rows(*parts) if parsed(l)["event"] == "sys_enter"]
    assert rows("out.flight") == expected and run("verify", "out.flight").stdout.count(b": OK") == 2
    run("cut", "-o", fresh("out.flight"), "--host", "*-2", out)
    assert rows("out.flight") == rows("random.flight") and run("verify", "out.flight").stdout.count(b": OK") == 1
    # the end is lost: the first snapshot is whole, and of the second what is left is read
    data = open(os.path.join(dir, out), "rb").read()
    with open(os.path.join(dir, "short.flight"), "wb") as f:
        f.write(data[:-30])
    assert rows("short.flight", want=3) == rows(out)
    # damage in the first snapshot does not affect the second
    at = list(event_chunks(out))[1][0] + 8
    with open(os.path.join(dir, "bad.flight"), "wb") as f:
        f.write(data[:at - 4] + b"\xff\xff\xff" + data[at - 1:])
    whens = lambda lines: {(e["ts"], place(e)) for e in map(parsed, lines)}
    assert whens(rows("random.flight")) <= whens(rows("bad.flight", want=3)) < whens(rows(out))
    said = run("verify", "bad.flight", want=3).stdout
    assert said.count(b": OK") == 1 and said.count(b": DAMAGED") == 1, said


def merge_lost():
    """One of several snapshots in a file is lost except for its head: those behind it are still read, also by merge and incidents."""
    data, second = (open(p, "rb").read() for p in (os.path.join(dir, "a.flight"), golden))
    head = int.from_bytes(data[4:8], "little") + 8
    with open(os.path.join(dir, "lost.flight"), "wb") as f:
        f.write(data + data[:head] + second[:-1])  # without the end that leads to them
    with open(os.path.join(dir, "head.flight"), "wb") as f:
        f.write(data[:head])
    expected = rows("lost.flight", want=3)
    assert len(expected) == len(rows("a.flight")) + len(rows(golden)) > len(rows("a.flight"))
    p = run("merge", "-o", fresh("m.flight"), "lost.flight", want=3)
    assert p.stderr.count(b"lost.flight: not a snapshot") == 1 and rows("m.flight") == expected, p.stderr
    p = run("incidents", "--json", "lost.flight", want=3)
    assert p.stdout == run("incidents", "--json", golden).stdout != b"" and b"lost.flight is damaged" in p.stderr, p
    # only a head
    run("merge", "-o", fresh("m.flight"), "head.flight", want=3)
    assert not os.path.exists(os.path.join(dir, "m.flight")) and not run("incidents", "head.flight", want=3).stdout


def merge_behind_cut_off_ones():
    """The ends of the first of several snapshots are lost, each within a chunk whose head says that it goes on, or of one only the
    beginning of its header is left: the last one is whole, and those before it are read up to where they end."""
    halves = []
    for path in "a.flight", "random.flight":
        data = open(os.path.join(dir, path), "rb").read()
        at, *_, head_sz = list(event_chunks(path))[-1]
        halves.append(data[:at + head_sz + 20])
    for i, half in enumerate(halves):
        with open(os.path.join(dir, f"half{i}.flight"), "wb") as f:
            f.write(half)
    alone = [rows(f"half{i}.flight", want=3) for i in (0, 1)]
    for first in halves[:1], halves, [halves[0][:20], halves[1]]:
        with open(os.path.join(dir, "behind.flight"), "wb") as f:
            f.write(b"".join(first) + open(golden, "rb").read())
        said = run("verify", "behind.flight", want=3)
        assert said.stdout.count(b": OK") == 1 and said.stdout.count(b": DAMAGED") == len([h for h in first if h in halves]), said
        assert said.stdout.count(b"the file ends within it") == said.stdout.count(b": DAMAGED"), said
        want = [l for half, lines in zip(halves, alone) if half in first for l in lines] + rows(golden)
        assert sorted(rows("behind.flight", want=3)) == sorted(want), (len(want), len(rows("behind.flight", want=3)))


def merge_cuts_of_the_beginning():
    """Events from before all programs were attached are not overwritten ones: Perfetto's reader would drop their switches."""
    parts = [fresh("first.flight"), fresh("second.flight")]
    for part, window in zip(parts, ("0%..30%", "30%..100%")):
        run("cut", "-o", part, "--window", window, "attaching.flight")
    for file in "attaching.flight", *parts[:1], merge(*parts):
        trace = run("export", "--to", "perfetto", "-o", "-", file).stdout
        assert b"not all programs were attached yet" in trace and b"overwritten earlier" not in trace, file


def merge_several_hosts():
    """Commands for one host say so, and what they advise works. CPUs of different hosts are different."""
    out = merge("a.flight", "random.flight", "b.flight")
    for args in ("report",), ("export", "--to", "perfetto"), ("export", "--to", "ctf", "-o", "x"):
        err = run(*args, out, want=2).stderr.decode()
        assert "boot-1, boot-2" in err and "flightrec cut --host boot-1 -o ONE FILE" in err, err
    run("cut", "-o", fresh("one.flight"), "--host", "boot-1", out)
    run("report", "one.flight")
    both = json.loads(run("report", "--json", "a.flight", "one.flight").stdout)["reports"]  # and of several files
    assert [r["file"] for r in both] == ["a.flight", "one.flight"] and both[1]["report"] == json.loads(run("report", "--json", "one.flight").stdout), both
    d = json.loads(run("diff", "--json", out, out).stdout)
    # some task has each of the first host's two CPUs as long as that host's events go, and nobody beyond
    one, alone = info("one.flight"), json.loads(run("diff", "--json", "one.flight", "one.flight").stdout)
    assert sum(i["a"]["ns"] for i in alone["cpu"]) == 2 * (one["end_ns"] - one["begin_ns"]), alone["cpu"]
    both = {i["name"]: i["a"]["ns"] for i in d["cpu"]}
    olds = {i["name"]: i["a"]["ns"] for i in alone["cpu"] if i["name"].startswith("old-")}
    assert olds and {name: both[name] for name in olds} == olds, (both, olds)


globals()[sys.argv[3]]()
