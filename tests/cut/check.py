# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""check.py FLIGHTREC DIR TEST: compare what cut, merge and diff make with the same operations here on `replay --json --pos`."""
import json
import os
import shutil
import subprocess
import sys

flightrec, dir, test = sys.argv[1:]
golden = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../files/golden/all-2.flight")


def run(*args, want=0):
    p = subprocess.run([flightrec, *args], capture_output=True, cwd=dir)
    assert p.returncode == want, (args, p.returncode, p.stderr.decode())
    return p


def rows(*args, want=0):
    """The events of all tiers as lines of text."""
    return run("replay", "--json", "--pos", "--no-symbols", "--tier", "all", *args, want=want).stdout.split(b"\n")[:-1]


def info(path):
    return json.loads(run("info", "--json", path).stdout)


def place(e):
    return (e["pos"]["epoch"], e["cpu"], e["pos"]["tier"], e["pos"]["seq"], e["pos"]["offset"])


def fresh(name):
    if os.path.exists(os.path.join(dir, name)):
        os.unlink(os.path.join(dir, name))
    return name


def cut(source, *args, want=0):
    out = fresh("out.flight")
    p = run("cut", "-o", out, *args, source, want=want)
    return out, p.stderr.decode()


def check_cut(source, keep, *args):
    """The cut has exactly the rows for which keep() holds, unchanged. It is a sound file that says what is missing."""
    all_rows = rows(source)
    expected = [l for l in all_rows if keep(json.loads(l))]
    assert 0 < len(expected), "nothing to be compared"
    out, _ = cut(source, *args)
    got = rows(out)
    assert got == expected, f"{args}: {len(got)} rows, not {len(expected)}; first that differs: " + str(
        next(((a, b) for a, b in zip(got, expected) if a != b), None))
    run("verify", out)
    with open(os.path.join(dir, out), "rb") as f:
        subprocess.run(["zstd", "-tq"], stdin=f, check=True)
    said = info(out)["cut"]
    assert said["from"] == source and said["away"] == len(all_rows) - len(expected), said
    return out


def mid(source, part):
    times = sorted(json.loads(l)["ts"] for l in rows(source))
    return times[int(len(times) * part)]


def cut_windows():
    for source in "b.flight", "random.flight":
        a, b = mid(source, 0.3), mid(source, 0.6)
        window = lambda e: a <= e["ts"] <= b
        out = check_cut(source, window, "--since", str(a), "--until", str(b))
        said = info(out)["cut"]
        assert said["since_ns"] == a and said["until_ns"] == b, said
        check_cut(source, window, "--window", f"{a}..{b}")
        check_cut(source, lambda e: e["ts"] >= b, "--since", str(b))


def cut_horizon():
    """From the window's beginning on the history is as complete as it was. What is older was cut: it is not missing."""
    a = mid("c.flight", 0.5)
    out, _ = cut("c.flight", "--since", str(a))
    assert info(out)["horizon_ns"] == a > info("c.flight")["horizon_ns"]
    assert {c["cpu"]: c["lost"] for c in info(out)["cpus"]} == {c["cpu"]: c["lost"] for c in info("c.flight")["cpus"]}
    a = mid("b.flight", 0.95)
    out, _ = cut("b.flight", "--since", str(a))
    assert info("b.flight")["holes"] and not info(out)["holes"], "a hole before the window"


def cut_cpus():
    check_cut("b.flight", lambda e: e["cpu"] == 1, "--cpu", "1")
    out = check_cut("random.flight", lambda e: e["cpu"] in (0, 3, 4), "--cpu", "0,3-4")
    lines = [l.split() for l in run("info", out).stdout.decode().splitlines()]
    told = {int(l[0]): "cut away" in " ".join(l) for l in lines if len(l) > 5 and l[0].isdigit() and set(l[1]) <= set("#+.")}
    cpus = {c["cpu"] for c in info("random.flight")["cpus"]}
    assert told == {cpu: cpu not in (0, 3, 4) for cpu in cpus} and len(set(told.values())) == 2, told


def cut_pids():
    out = check_cut("b.flight", lambda e: e["pid"] == 103, "--pid", "103")
    assert os.path.getsize(os.path.join(dir, out)) < os.path.getsize(os.path.join(dir, "b.flight")) / 2
    check_cut("b.flight", lambda e: e["pid"] in (104, 105, 109), "--pid", "104-105,109")


def cut_cgroups():
    check_cut("b.flight", lambda e: e["pid"] in (101, 103, 105, 107), "--cgroup", "/web/*")


def cut_filters():
    check_cut("b.flight", lambda e: e["event"] == "cpu_sample", "-f", "event == cpu_sample")
    check_cut("random.flight", lambda e: e["event"] == "sys_enter", "-f", "event == sys_enter")
    # the stacks of samples are there although the filter does not match them
    out, _ = cut("b.flight", "-f", "event == cpu_sample")
    assert all(json.loads(l)["ustack"] for l in rows(out))
    # the names of new tasks are there although their births were cut away
    out, _ = cut("b.flight", "-f", "comm == \"work-110\" && event == sys_enter")
    assert {json.loads(l)["comm"] for l in rows(out)} == {"work-110"}


def cut_all():
    a = mid("b.flight", 0.2)
    check_cut("b.flight", lambda e: e["ts"] >= a and e["cpu"] == 0 and e["pid"] == 102 and e["event"] == "sys_exit",
              "--since", str(a), "--cpu", "0", "--pid", "102", "-f", "event == sys_exit")
    check_cut("b.flight", lambda e: e["pid"] in (101, 103) and e["event"] in ("sys_exit", "sched_switch"),
              "--cgroup", "/web/*", "--pid", "100-104", "-f", "event == sys_exit || event == sched_switch")
    # a cut that leaves nothing out: the same content, though not the same bytes
    check_cut("random.flight", lambda e: True, "--window", "0%..100%")


def cut_again():
    a, b = mid("b.flight", 0.2), mid("b.flight", 0.7)
    out, _ = cut("b.flight", "--since", str(a), "-f", "event == sys_exit || event == cpu_sample")
    os.rename(os.path.join(dir, out), os.path.join(dir, fresh("first.flight")))
    before = info("first.flight")["cut"]["away"]
    out, _ = cut("first.flight", "--until", str(b), "-f", "event == cpu_sample")
    keep = lambda e: a <= e["ts"] <= b and e["event"] == "cpu_sample"
    expected = [l for l in rows("b.flight") if keep(json.loads(l))]
    assert expected and rows(out) == expected
    said = info(out)["cut"]
    assert (said["since_ns"], said["until_ns"]) == (a, b) and said["away"] > before, said
    assert said["filter"] == "(event == sys_exit || event == cpu_sample) && (event == cpu_sample)", said
    assert said["away"] == len(rows("b.flight")) - len(expected)


def cut_cpus_again():
    """What a CPU did that was cut away stays unknown, however often and in whatever way the file is cut again."""
    def moved(name, *args):
        cut(*args)
        os.rename(os.path.join(dir, "out.flight"), os.path.join(dir, fresh(name)))
        return name
    once = moved("once.flight", "b.flight", "--cpu", "0")
    whole = run("replay", "--pairs", "--json", "-f", "cpu == 0", "b.flight").stdout
    pairs = run("replay", "--pairs", "--json", once).stdout
    assert pairs and pairs != whole, "the other CPU does not matter"
    report = lambda path: {k: v for k, v in json.loads(run("report", "--json", path).stdout).items() if k not in ("file", "cut")}
    for lists in ["0", "0"], ["0-1", "0"], ["0", "0-1"], ["0,7", "0-3", "0"]:
        path = "b.flight"
        for i, text in enumerate(lists):
            path = moved(f"cpus-{i}.flight", path, "--cpu", text)
        assert run("replay", "--pairs", "--json", path).stdout == pairs, lists
        assert report(path) == report(once), lists


def ends(*paths):
    """What is known about what each row ends: place -> {(event, name): value}."""
    found = {}
    for e in map(json.loads, run("replay", "--json", "--pos", "--pairs", "--no-symbols", "--tier", "all", *paths).stdout.splitlines()):
        found[place(e)] = {(e["event"], k): e[k] for k in PAIRED if k in e}
    return found


PAIRED = "latency_ns", "offcpu_ns", "queued_ns", "blocked_ns", "oncpu_ns", "waker"
CALLS, OFF, ON = ("sys_exit", "latency_ns"), ("sched_switch", "offcpu_ns"), ("sched_switch", "oncpu_ns")
QUEUED, WAITS, WAKERS = ("sched_switch", "queued_ns"), ("sched_switch", "latency_ns"), ("sched_switch", "waker")
IRQS, SOFTIRQS = ("irq_handler_exit", "latency_ns"), ("softirq_exit", "latency_ns")
REQUESTS, IOS = ("block_rq_complete", "latency_ns"), ("block_io_done", "latency_ns")
SWITCHES = {OFF, QUEUED, WAITS, WAKERS, ("sched_switch", "blocked_ns")}


def check_pairs(truth, *paths, all=(), some=(), since=0):
    """No value differs from the whole file's. After `since` all values of a kind are known, or some, or none, as given."""
    got = ends(*paths)
    wrong = [(p, got[p], truth[p]) for p in got if not got[p].items() <= truth[p].items()]
    assert got and not wrong, (paths, len(wrong), wrong[0])
    behind = {place(e) for e in map(json.loads, rows(*paths)) if e["ts"] > since}
    for key in {k for p in got for k in truth[p]}:
        known, there = sum(key in got[p] for p in behind), sum(key in truth[p] for p in behind)
        if key in all:
            assert known == there > 0, (paths, key, known, there)
        else:
            assert (known > 0) == (key in some), (paths, key, known, there)


def governor_ns(path):
    """A time when all that began before the governor's step has ended."""
    return next(e["ts"] for e in map(json.loads, rows(path)) if e["event"] == "governor") + 15000000


def cut_pairs_of_tasks():
    """From tasks' own rows calls, times off the CPU and interrupts are known; what only other tasks' rows tell is not."""
    truth, since = ends("tasks.flight"), governor_ns("tasks.flight")
    own = dict(all=(CALLS, IRQS, SOFTIRQS), some=(OFF, QUEUED, ON), since=since)
    for args in (["--pid", "103"], ["--pid", "101-104"], ["--cgroup", "/a"], ["-f", "pid == 103"], ["-f", "!(tid in (103, 104))"],
                 ["--pid", "101-104", "-f", "pid != 101"], ["-f", "cgroup ~ \"/*\" && pid < 107"]):
        check_pairs(truth, cut("tasks.flight", *args)[0], **own)
    check_pairs(truth, cut("tasks.flight", "--pid", "103", "-f", "event ~ \"sys_*\"")[0], all=[CALLS], since=since)
    check_pairs(truth, cut("tasks.flight", "-f", "pid == 103 || next_pid == 103")[0], all=(CALLS, IRQS, SOFTIRQS), since=since)
    # restart_syscall continues a call that began on another CPU
    check_pairs(truth, cut("tasks.flight", "--cpu", "0")[0], all=(IRQS, SOFTIRQS, ON), some=[CALLS], since=since)
    check_pairs(truth, cut("tasks.flight", "--cpu", "0", "--pid", "101-106")[0], all=(IRQS, SOFTIRQS), some=(CALLS, ON), since=since)


def cut_pairs_of_events():
    """A value is known if all rows it is computed from are there, and only then."""
    truth, since = ends("tasks.flight"), governor_ns("tasks.flight")
    every = SWITCHES | {CALLS, ON, IRQS, SOFTIRQS, REQUESTS, IOS}
    for expr, known, some in (
            ("event != sys_enter", every - {CALLS}, ()),
            ("ret < 0 || event != sys_exit", every - {CALLS}, ()),
            ("event ~ \"sched_*\"", SWITCHES | {ON}, ()),
            ("event == sched_switch", {OFF, ON}, [QUEUED]),
            ("event != sched_waking || target_pid != 105", every - SWITCHES | {OFF}, [QUEUED]),
            ("event != sched_switch || next_pid > 105", every - SWITCHES - {ON}, ()),
            ("event == sched_switch && oncpu > 100us", (), ()),
            ("event !~ \"irq_handler_*\" && event != softirq_entry", every - {IRQS, SOFTIRQS}, ()),
            ("event ~ \"block_rq_*\" || event ~ \"block_io_*\" && sector != 1", {REQUESTS}, ()),
            ("latency > 1us", (), ()), ("comm ~ \"task-*\"", (), ()), ("cpu == 0", (), ())):
        check_pairs(truth, cut("tasks.flight", "-f", expr)[0], all=known, some=some, since=since)


def cut_pairs_again():
    """What either of two cuts left out is not known, in whichever order they were made, nor across a step of the governor."""
    truth, since = ends("tasks.flight"), governor_ns("tasks.flight")
    asks = ["--pid", "101-104"], ["-f", "event != sys_enter"], ["-f", "event != sched_switch || next_pid > 105"]
    for first in asks:
        cut("tasks.flight", *first)
        os.rename(os.path.join(dir, "out.flight"), os.path.join(dir, fresh("once.flight")))
        for second in asks:
            got, once = ends(cut("once.flight", *second)[0]), ends("once.flight")
            wrong = [p for p in got if not got[p].items() <= once[p].items() or not got[p].items() <= truth[p].items()]
            assert got and not wrong, (first, second, len(wrong), wrong[0])
    early = {place(e) for e in map(json.loads, rows("tasks.flight")) if e["ts"] < since - 15000000}
    for args in (["--pid", "103"], ["-f", "event != governor"], ["--cpu", "1"]):
        got = ends(cut("tasks.flight", *args)[0])
        assert not any(got[p] for p in got if p in early), args
    os.rename(os.path.join(dir, "out.flight"), os.path.join(dir, fresh("once.flight")))
    assert not any(v for p, v in ends(cut("once.flight", "-f", "event ~ \"s*\"")[0]).items() if p in early)


def cut_pairs_of_several():
    """If a whole file has what was cut away from another, all is known. Cuts of other tasks add nothing, nor do both merged."""
    truth, since = ends("tasks.flight"), governor_ns("tasks.flight")
    middle = mid("tasks.flight", 0.5)
    every = SWITCHES | {CALLS, ON, IRQS, SOFTIRQS, REQUESTS, IOS}
    for name, *args in (("one.flight", "--pid", "101-104"), ("two.flight", "--pid", "105-110"),
                        ("early.flight", "--until", str(middle)), ("late.flight", "--since", str(middle))):
        cut("tasks.flight", *args)
        os.rename(os.path.join(dir, "out.flight"), os.path.join(dir, fresh(name)))
    check_pairs(truth, "one.flight", "tasks.flight", all=every, since=since)
    check_pairs(truth, "early.flight", "one.flight", some=every, since=since)
    check_pairs(truth, "one.flight", "late.flight", some=every, since=since)
    check_pairs(truth, "one.flight", "two.flight")
    for paths, said in ((["one.flight", "two.flight"], ("(101-104) || (105-110)", None)),
                        (["two.flight", "early.flight"], ("(105-110) || (all)", None)),
                        (["early.flight", "late.flight"], (None, None))):
        run("merge", "-o", fresh("m.flight"), *paths)
        run("verify", "m.flight")
        c = info("m.flight")["cut"]
        assert (c["pid"], c["since_ns"]) == said, (paths, c)
        if c["pid"]:
            check_pairs(truth, "m.flight")
            check_pairs(truth, cut("m.flight", "--pid", "101-104")[0])
    # the cut adds only what is in no whole lap of another file
    run("merge", "-o", fresh("m.flight"), "tasks.flight", "one.flight")
    check_pairs(truth, "m.flight", all=every)


def cut_refused():
    out, err = cut("b.flight", "-f", "event == mark_victim", want=1)
    assert "no event matches" in err and not os.path.exists(os.path.join(dir, out))
    with open(os.path.join(dir, "there.flight"), "w") as f:
        f.write("mine")
    assert b"is not replaced" in run("cut", "-o", "there.flight", "b.flight", want=1).stderr
    assert open(os.path.join(dir, "there.flight")).read() == "mine"
    assert b"is not replaced" in run("merge", "-o", "there.flight", "b.flight", want=1).stderr
    for bad in ["--cpu", "x"], ["--cpu", "3-1"], ["--pid", "1,"], ["-f", "event =="], ["--since", "soon"], ["--cgroup", 'a"b'], \
            ["--cgroup", "[a"], ["--host", "*[a"]:
        cut("b.flight", *bad, want=2)
    run("cut", "b.flight", want=2)
    run("cut", "-o", "x.flight", want=2)
    assert not [f for f in os.listdir(dir) if ".tmp" in f]


def damaged_is_a_hole(out):
    """What could not be read is missing, not cut away, and nothing is paired across it."""
    lines = lambda path: list(map(json.loads, rows(path, want=0 if path != "bad.flight" else 3)))
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
    pairs = lambda path: {place(e): {k: v for k, v in e.items() if k == "waker" or k.endswith("_ns")} for e in map(json.loads, run(
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
    return [(e["cpu"], e["ts"], e["until_ns"]) for e in map(json.loads, lines) if e.get("gap") == why]


def flip(path, at):
    """The file with a wrong byte."""
    data = bytearray(open(os.path.join(dir, path), "rb").read())
    data[at] ^= 0xff
    with open(os.path.join(dir, "bad.flight"), "wb") as f:
        f.write(data)
    return "bad.flight"


def chunk_heads(path):
    """Of each chunk: the place of its header, its kind, and the header's bytes."""
    data, at = open(os.path.join(dir, path), "rb").read(), -1
    while (at := data.find(b"fl-chunk", at + 1)) >= 0:
        sz = int.from_bytes(data[at - 4:at], "little") + 8
        yield at - 8, data[at + 16], data[at - 8:at - 8 + sz]


def event_chunks(path):
    """Of each: the place of its header, the CPU, the tier, the times of the first and the last event, and the header's size."""
    for at, kind, head in chunk_heads(path):
        word = lambda off, sz: int.from_bytes(head[off:off + sz], "little")
        if kind == 8:
            yield at, word(60, 2), head[62], word(88, 8), word(96, 8), len(head)


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
        (hole,) = [h for h in info(out)["holes"] if h["why"] == "damaged"]
        laps = min(k[3] for k in lost), max(k[3] for k in lost)
        assert (hole["first_seq"], hole["last_seq"]) == laps, (hole, laps)
        assert main_ring(info(out), cpu)["horizon_ns"] >= hole["until_ns"] > 0 or not told[0][2], hole
        known = pairs(bad, want=3)
        assert all(e.items() <= known[k].items() for k, e in pairs(out).items())
        found += None not in told[0]
    assert found > 10


def merge_headless():
    """A chunk whose header is damaged is a hole in the merged file, unless another file has its laps."""
    truth, found = pairs("parts.flight"), 0
    for bad, (_, cpu, tier, first, last, _) in headless("parts.flight"):
        if tier:
            continue
        run("merge", "-o", fresh("m.flight"), bad, want=3)
        known, got = pairs(bad, want=3), pairs("m.flight")
        assert got.keys() == known.keys() and all(e.items() <= known[k].items() for k, e in got.items())
        if gaps(bad, "damaged", 3)[0][1]:
            assert gaps("m.flight", "damaged") == gaps(bad, "damaged", 3), (gaps("m.flight", "damaged"), gaps(bad, "damaged", 3))
            (hole,) = info("m.flight")["holes"]
            assert hole["why"] == "damaged" and main_ring(info("m.flight"), cpu)["horizon_ns"] > hole["since_ns"], hole
            found += 1
        run("merge", "-o", fresh("m.flight"), bad, "c.flight", want=3)
        assert info("m.flight")["holes"] == [] and horizons("m.flight") == horizons("c.flight") and pairs("m.flight") == truth
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
    left = {place(json.loads(l)) for l in rows("bad.flight", want=3)}
    for parts in ("bad.flight", "c.flight"), ("c.flight", "bad.flight"), ("a.flight", "bad.flight", "b.flight"):
        whole = [place(json.loads(l)) for p in parts if p != "bad.flight" for l in rows(p)]
        got = [place(json.loads(l)) for l in rows(*parts, want=3)]
        assert len(got) == len(set(got)) and set(got) == set(whole) | left, (parts, len(got), len(set(got)))
    run("merge", "-o", fresh("m.flight"), "bad.flight", "c.flight", want=3)
    assert len(rows("m.flight")) == len(rows("c.flight"))
    # another session, whose boot is not known, stays apart
    assert {place(json.loads(l))[0] for l in rows("random.flight")}.isdisjoint({p[0] for p in left})
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
        values = lambda path, want: {place(e): {k: v for k, v in e.items() if k == "waker" or k.endswith("_ns")} for e in map(json.loads, run(
            "replay", "--json", "--pos", "--pairs", "--no-symbols", path, want=want).stdout.split(b"\n")[:-1])}
        truth, said = values(whole, 0), values("bad.flight", 3)
        assert not [p for p in said if not said[p].items() <= truth[p].items()], whole


def union(*paths):
    """Each event is there once, in the order of (time, CPU, tier, place)."""
    seen = {}
    for path in paths:
        for line in rows(path):
            seen.setdefault(place(json.loads(line)), json.loads(line))
    return seen


def merge(*paths, want=0):
    out = fresh("m.flight")
    run("merge", "-o", out, *paths, want=want)
    run("verify", out)
    with open(os.path.join(dir, out), "rb") as f:
        subprocess.run(["zstd", "-tq"], stdin=f, check=True)
    return out


def merge_union():
    parts = ["a.flight", "b.flight", "c.flight"]
    expected = union(*parts)
    assert max(len(rows(p)) for p in parts) < len(expected) < sum(len(rows(p)) for p in parts)
    got = rows(merge(*parts))
    assert got == rows(*parts)
    events = [json.loads(l) for l in got]
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


def main_ring(i, cpu):
    return next(t for c in i["cpus"] if c["cpu"] == cpu for t in c["tiers"] if t["name"] == "main")


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


def pairs(*paths, want=0):
    """Values of what each event ends, by its place."""
    lines = run("replay", "--pairs", "--json", "--pos", "--no-symbols", "--tier", "all", *paths, want=want).stdout.split(b"\n")[:-1]
    return {place(e): e for e in map(json.loads, lines)}


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


def behind(horizon, path):
    """What is known of a file from the horizon on."""
    r = json.loads(run("report", "--json", "--since", str(horizon), path).stdout)
    assert all(c["busy_ns"] > 0 for c in r["cpus"]) and r["total"]["runs"] > 1000
    r["lost"].pop("holes")
    return r, run("export", "--to", "folded", "--off-cpu", "--since", str(horizon), "-o", "-", path).stdout


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


def merge_cuts():
    """Merged cuts are what was cut. They close no hole, since it is not known what they lack."""
    cut("b.flight", "--cpu", "0")
    os.rename(os.path.join(dir, "out.flight"), os.path.join(dir, fresh("c0.flight")))
    cut("b.flight", "--cpu", "1")
    assert rows(merge("c0.flight", "out.flight")) == rows("c0.flight", "out.flight")
    assert {place(json.loads(l)) for l in rows("m.flight")} == {place(json.loads(l)) for l in rows("b.flight")}
    cut("a.flight", "-f", "event == sys_exit")
    assert [h["cpu"] for h in info(merge("out.flight", "b.flight"))["holes"]] == [0]


def named(new, *args, want=0):
    cut(*args, want=want)
    os.rename(os.path.join(dir, "out.flight"), os.path.join(dir, fresh(new)))
    return new


def horizons(path):
    return [main_ring(info(path), cpu)["horizon_ns"] for cpu in (0, 1)]


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
            times = [e for e in map(json.loads, rows("b.flight")) if e["cpu"] == cpu and e["pos"]["tier"] == "main"]
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


def merge_in_steps():
    """A later merge can close a hole: then the file is complete from the first file's beginning on, except before its first event."""
    whole = {cpu: main_ring(info(merge("a.flight", "b.flight", "c.flight")), cpu)["horizon_ns"] for cpu in (0, 1)}
    os.rename(os.path.join(dir, "m.flight"), os.path.join(dir, fresh("all.flight")))
    os.rename(os.path.join(dir, merge("a.flight", "c.flight")), os.path.join(dir, fresh("m1.flight")))
    for parts in ["m1.flight", "b.flight"], ["b.flight", "m1.flight"]:
        m = info(merge(*parts))
        assert m["holes"] == [] and rows("m.flight") == rows("all.flight"), m["holes"]
        for cpu in 0, 1:
            first = min(e["ts"] for e in map(json.loads, rows("all.flight")) if e["cpu"] == cpu and e["pos"]["tier"] == "main")
            assert whole[cpu] <= main_ring(m, cpu)["horizon_ns"] <= first, (main_ring(m, cpu), first)
        got, want = pairs("m.flight"), pairs("all.flight")
        assert all(e.items() <= want[k].items() for k, e in got.items()) and sum(got[k] != want[k] for k in got) < 5


def merge_damaged_cuts():
    """What could not be read of a cut is a hole in the merged file, unless another file has it."""
    middle = mid("b.flight", 0.7)
    one, two = named("one.flight", "b.flight", "--until", str(middle)), named("two.flight", "b.flight", "--since", str(middle))
    data = bytearray(open(os.path.join(dir, two), "rb").read())
    data[data.index(b"\x28\xb5\x2f\xfd", next(event_chunks(two))[0]) + 50] ^= 0xff
    with open(os.path.join(dir, "bad.flight"), "wb") as f:
        f.write(data)
    left = {place(json.loads(l)) for l in rows("bad.flight", want=3)}
    lost = [e for e in map(json.loads, rows(two)) if place(e) not in left]
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
        assert {place(json.loads(l)) for l in expected} == set(union(*parts))
        assert run("verify", "m.flight").stdout.count(b": OK") == 2
        exits = [e for e in map(json.loads, expected) if e["event"] == "sys_exit"]
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
    switches = lambda *paths: [l for l in rows(*paths) if json.loads(l)["event"] == "sched_switch"]
    both = "more.flight", "other.flight"
    for expr in "event == novel", "event in (sched_switch, novel)", "outcome == -2", "!(outcome == -2)", "outcome ~ \"-E*\" || event == novel":
        run("replay", "--count", "-f", expr, "a.flight", want=2)
        run("replay", "--count", "-f", expr + " && nonsense == 1", *both, want=2)
    assert rows("-f", "event in (sched_switch, novel)", *both) == switches(*both)
    failed = [l for l in rows("other.flight") if json.loads(l).get("outcome") == -2]
    assert failed and rows("-f", "outcome == -2", "random.flight", "other.flight") == rows("-f", "outcome == -2", "other.flight") == failed
    assert rows("-f", "outcome == -ENOENT || event == sched_switch", "random.flight", "other.flight") == [
        l for l in rows("random.flight", "other.flight") if json.loads(l)["event"] == "sched_switch" or json.loads(l).get("outcome") == -2]


def merge_hosts():
    parts = ["a.flight", "random.flight", "b.flight"]
    out = merge(*parts)
    assert rows(out) == rows(*parts)
    assert run("verify", out).stdout.count(b": OK") == 2
    said = [json.loads(l) for l in run("info", "--json", out).stdout.split(b"\n")[:-1]]
    assert [(s["host"], s["merge_cnt"]) for s in said] == [("boot-1", 2), ("boot-2", 1)]
    assert b"within 1234 ns" in run("merge", "-o", fresh("n.flight"), *parts).stdout
    # cut again, all hosts of it
    run("cut", "-o", fresh("out.flight"), "-f", "event == sys_enter", out)
    expected = [l for l in rows(*parts) if json.loads(l)["event"] == "sys_enter"]
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
    whens = lambda lines: {(e["ts"], place(e)) for e in map(json.loads, lines)}
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


def cut_hosts():
    """A window of several hosts is on each host's own clock, and so is the time from which on each one's history is complete."""
    out, whole = merge("a.flight", "random.flight", "b.flight"), {}
    for host in "boot-1", "boot-2":
        run("cut", "-o", fresh("whole.flight"), "--host", host, out)
        whole[host] = sorted(json.loads(l)["ts"] for l in rows("whole.flight")), info("whole.flight")["horizon_ns"]
    for window in "94%..96%", "-20ms..-14ms":
        for host, (every, horizon) in whole.items():
            run("cut", "-o", fresh("part.flight"), "--host", host, "--window", window, out)
            there, said = sorted(json.loads(l)["ts"] for l in rows("part.flight")), info("part.flight")
            since, until = said["cut"]["since_ns"], said["cut"]["until_ns"]
            assert 0 < len(there) < len(every) and there == [ts for ts in every if since <= ts <= until], (window, host, since, until)
            assert said["horizon_ns"] == max(since, horizon), (window, host, said["horizon_ns"])


def merge_several_hosts():
    """Commands for one host say so, and what they advise works. CPUs of different hosts are different."""
    out = merge("a.flight", "random.flight", "b.flight")
    for args in ("report",), ("export", "--to", "perfetto"), ("export", "--to", "ctf", "-o", "x"):
        err = run(*args, out, want=2).stderr.decode()
        assert "boot-1, boot-2" in err and "flightrec cut --host boot-1 -o ONE FILE" in err, err
    run("cut", "-o", fresh("one.flight"), "--host", "boot-1", out)
    run("report", "one.flight")
    err = run("report", "a.flight", "b.flight", want=2).stderr.decode()
    assert "flightrec merge" in err and "flightrec diff" in err, err
    d = json.loads(run("diff", "--json", out, out).stdout)
    # some task has each of the first host's two CPUs all the time
    assert sum(i["a"]["ns"] for i in d["cpu"]) >= 2 * (d["a"]["end_ns"] - d["a"]["begin_ns"]), d["cpu"]


def diff_counts():
    d = json.loads(run("diff", "--json", "a.flight", "c.flight").stdout)
    for side, path in ("a", "a.flight"), ("b", "c.flight"):
        s = d[side]
        assert s["complete"] and s["begin_ns"] == info(path)["horizon_ns"]
        events = [e for e in map(json.loads, rows(path)) if e["pos"]["tier"] != "stack" and e["ts"] >= s["begin_ns"]]
        counts, exits, errors = {}, {}, {}
        for e in events:
            counts[e["event"]] = counts.get(e["event"], 0) + 1
            if e["event"] == "sys_exit":
                name = {0: "read", 257: "openat"}[e["id"]]
                exits[name] = exits.get(name, 0) + 1
                errors[name] = errors.get(name, 0) + (e["ret"] < 0)
        assert s["events"] == len(events) and s["end_ns"] == events[-1]["ts"]
        assert {i["name"]: i[side]["count"] for i in d["events"] if i[side]["count"]} == counts
        assert {i["name"]: i[side]["count"] for i in d["syscalls"]} == exits
        assert {i["name"]: i[side]["errors"] for i in d["syscalls"]} == errors
        # some task has each CPU from the window's beginning to its end
        assert sum(i[side]["ns"] for i in d["cpu"]) == 2 * (s["end_ns"] - s["begin_ns"])
    rate = lambda i, side: i[side]["count"] / (d[side]["end_ns"] - d[side]["begin_ns"])
    changes = [abs(rate(i, "a") - rate(i, "b")) for i in d["events"]]
    assert all(x >= y - 1e-15 for x, y in zip(changes, changes[1:])), "what changed most comes first"


def diff_blocks():
    """Requests have the names and counts that report has: "FWS" is a write."""
    d = json.loads(run("diff", "--json", "tasks.flight", "tasks.flight").stdout)["block"]
    report = json.loads(run("report", "--json", "tasks.flight").stdout)["block"]
    assert {b["name"]: b["a"]["count"] for b in d} == {
        f"{b['dev'] >> 20},{b['dev'] & 0xfffff} {b['rw']} {b['layer']}": b["ends"] for b in report}
    assert {b["name"].split()[1] for b in d} == set("WRF")


def diff_latencies():
    """How long a call took that ends: the time since the same task began it."""
    d = json.loads(run("diff", "--json", "--window-a", "60%..80%", "--window-b", "80%..100%", "c.flight").stdout)
    for side in "a", "b":
        begun, took = {}, {"read": [], "openat": []}
        for e in map(json.loads, rows("c.flight")):
            if e["event"] == "sys_enter":
                begun[e["tid"]] = e
            elif e["event"] == "sys_exit" and e["tid"] in begun:
                ns = e["ts"] - begun.pop(e["tid"])["ts"]
                if d[side]["begin_ns"] <= e["ts"] <= d[side]["end_ns"]:
                    took[{0: "read", 257: "openat"}[e["id"]]].append(ns)
        for i in d["syscalls"]:
            t = sorted(took[i["name"]])
            assert t and (i[side]["timed"], i[side]["ns"], i[side]["max_ns"]) == (len(t), sum(t), t[-1]), (i, len(t), sum(t))
            p99 = t[-(-len(t) * 99 // 100) - 1]
            assert p99 <= i[side]["p99_ns"] <= p99 * 33 // 32 + 1


def diff_cuts():
    """If other tasks' events were cut away, nobody is said to have run in the time when those may have run."""
    whole = {i["name"]: i["a"]["ns"] for i in json.loads(run("diff", "--json", "a.flight", "a.flight").stdout)["cpu"]}
    cut("a.flight", "--pid", "102")
    d = json.loads(run("diff", "--json", "a.flight", "out.flight").stdout)
    assert whole and d["b"]["events"] > 0
    assert all(i["b"]["ns"] <= whole[i["name"]] for i in d["cpu"]), (d["cpu"], whole)
    assert {i["name"] for i in d["cpu"] if i["b"]["ns"]} <= {"old-2"}, d["cpu"]


def diff_empty_windows():
    """A window outside of the file has no length, so nothing happens in it, at no rate: that is said."""
    for window in "5h..", "..0ms":
        d = json.loads(run("diff", "--json", "--window-a", window, "a.flight", "c.flight").stdout)
        assert d["a"]["begin_ns"] == d["a"]["end_ns"] and not d["a"]["complete"] and d["b"]["complete"], d["a"]
        text = run("diff", "--window-a", window, "a.flight", "c.flight").stdout.decode()
        assert text.count("not complete: this window has no length") == 1, text
    d = json.loads(run("diff", "--json", "--window-a", "90%..", "a.flight", "c.flight").stdout)
    assert d["a"]["begin_ns"] < d["a"]["end_ns"] and d["a"]["complete"], d["a"]


def diff_text():
    text = run("diff", "a.flight", "c.flight").stdout.decode()
    assert "\x1b" not in text and "System calls" in text and "openat" in text and "old-1" in text
    wide = subprocess.run([flightrec, "diff", "a.flight", "c.flight"], cwd=dir, env={"COLUMNS": "72"}, capture_output=True).stdout
    assert max(map(len, wide.decode().split("failed")[0].split("\n"))) <= 80
    top = run("diff", "--top", "1", "a.flight", "c.flight").stdout.decode()
    assert len(top.split("\n")) < len(text.split("\n"))
    run("diff", want=2)
    run("diff", "--last", "1s", "a.flight", "b.flight", want=2)
    alone = run("diff", "a.flight", want=1)  # compared with its own profile, which it does not have
    assert b"no profile in a.flight" in alone.stderr, alone.stderr
    everything = run("diff", "--top", "0", "a.flight", "c.flight").stdout
    assert everything == run("diff", "--top", "1000000", "a.flight", "c.flight").stdout and len(everything) > len(top)
    run("diff", "--top", "0", "--last", "1m", golden)
    for wrong in "-1", "x", "", "1000001":
        run("diff", "--top", wrong, "a.flight", "b.flight", want=2)
    run("diff", "--window-a", "x", "a.flight", want=2)
    same = json.loads(run("diff", "--json", "-f", "event == sys_exit", "a.flight", "a.flight").stdout)
    assert all(i["a"] == i["b"] for kind in ("events", "syscalls") for i in same[kind]) and len(same["events"]) == 1


globals()[test]()
