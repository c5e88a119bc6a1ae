# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""cut: it leaves what it is told to leave, and says what it took away; what is paired across its edges stays paired."""
import json
import os
import shutil
import subprocess
import sys

from commands import (CALLS, IOS, IRQS, OFF, ON, QUEUED, REQUESTS, SCHEMA, SOFTIRQS, WAITS, WAKERS, behind, chunk_sizes, cut,
                      dir, ends, fresh, info, merge, mid, pairs, parsed, place, rows, run)


def check_cut(source, keep, *args):
    """The cut has exactly the rows for which keep() holds, unchanged. It is a sound file that says what is missing."""
    all_rows = rows(source)
    expected = [l for l in all_rows if keep(parsed(l))]
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


def cut_windows():
    for source in "b.flight", "random.flight":
        a, b = mid(source, 0.3), mid(source, 0.6)
        window = lambda e: a <= e["ts"] <= b
        out = check_cut(source, window, "--since", str(a), "--until", str(b))
        said = info(out)["cut"]
        assert said["since_ns"] == a and said["until_ns"] == b, said
        check_cut(source, window, "--window", f"{a}..{b}")
        check_cut(source, lambda e: e["ts"] >= b, "--since", str(b))


def cut_windows_alike():
    """A relative window has the same events in each command, whatever tiers it shows: from the first event to the last, stacks are none."""
    path, shown = "tiers.flight", ("--json", "--no-symbols")
    lines = run("replay", *shown, path).stdout.splitlines()
    first, last = (json.loads(lines[nr])["ts"] for nr in (0, -1))
    for window, since, until in (("10%..30%", 1, 3), ("0%..100%", 0, 10), ("25%..", 2.5, 10), ("..50%", 0, 5), ("2ms..-4ms", 2, 6), ("-1ms..", 9, 10)):
        at = lambda e: (e["ts"] - first) / (last - first) * 10
        assert last - first == 10_000_000
        want = [l for l in lines if since <= at(parsed(l)) <= until]
        assert 0 < len(want) and run("replay", *shown, "--window", window, path).stdout.splitlines() == want, window
        of_tiers = [run("replay", *shown, "--tier", t, "--window", window, path).stdout.splitlines() for t in ("main", "life")]
        assert sorted(of_tiers[0] + of_tiers[1]) == sorted(want), (window, "tiers")
        cut(path, "--window", window)
        assert run("replay", *shown, "out.flight").stdout.splitlines() == want, (window, "cut")
        r = json.loads(run("report", "--json", "--window", window, path).stdout)
        assert r["window"]["events"] == len(want), (window, "report")
        d = json.loads(run("diff", "--json", "--window-a", window, "--window-b", window, path).stdout)
        assert d["a"]["events"] == d["b"]["events"] == len(want), (window, "diff")
        assert f" {len(want)} event" in run("top", "--once", "--window", window, path).stdout.decode().splitlines()[0], (window, "top")
        assert run("export", "--to", "json", "--no-symbols", "--window", window, path).stdout.splitlines() == want, (window, "json")
        assert len(run("export", "--to", "csv", "--window", window, path).stdout.splitlines()) == len(want) + 1, (window, "csv")
        for to in "perfetto", "ctf", "trace-cmd", "perf-script", "html":
            shutil.rmtree(os.path.join(dir, "all"), ignore_errors=True)
            said = run("export", "--to", to, "--window", window, "-o", fresh("all") if to != "ctf" else "all", path).stderr.decode()
            assert f": {len(want)} event" in said, (window, to, said)
            if to != "ctf":
                os.unlink(os.path.join(dir, "all"))
        said = run("view", "--window", window, "-o", fresh("all.html"), path).stderr.decode()
        assert f": {len(want)} event" in said, (window, "view", said)
    # top goes to a time as --since takes it, also in a window
    asked = run("top", "--once", "--window", "50%..90%", "--keys", "g60%\n", path).stdout.decode()
    assert f"clock {first + 6_000_000}" in asked, [l for l in asked.splitlines() if "clock" in l]


def cut_states_since():
    """Since when a task was as it was is known behind a cut, too, by switches that it leaves out, and by no others."""
    still = lambda path: {t["tid"]: t for t in json.loads(run("report", "--json", path).stdout)["still_waiting"]["tasks"]}
    whole = still("still.flight")
    assert {tid: (t["since_ns"], t["since_from"]) for tid, t in whole.items()} == {
        7: (1000000000, "switches"), 8: (1400000000, "switches"), 9: (1500000000, "switches"), 10: (1150000000, "table"), 11: (None, None),
        12: (1400000000, "switches")}, whole
    for options in ("--since", "1900000000"), ("--since", "1350000000"), ("--cpu", "0"), ("-f", "event == sys_enter || tid == 9 || tid == 12"):
        out, _ = cut("still.flight", *options)
        assert not rows(out) == rows("still.flight")
        kept = still(out)
        assert kept == {tid: whole[tid] for tid in kept} and len(kept) >= 3, (options, kept)
    os.rename(os.path.join(dir, cut("still.flight", "--since", "1350000000")[0]), os.path.join(dir, "once.flight"))
    cut("once.flight", "--since", "1900000000")
    assert still("out.flight") == whole, "cut twice"


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
    sizes = [chunk_sizes(path) for path in (out, "b.flight")]
    assert sizes[0][SCHEMA] == sizes[1][SCHEMA], sizes  # of the same events, so it does not become less
    cut_sz, whole_sz = (sum(sz.values()) - sz[SCHEMA] for sz in sizes)
    assert cut_sz < whole_sz / 2, sizes
    check_cut("b.flight", lambda e: e["pid"] in (104, 105, 109), "--pid", "104-105,109")


def cut_cgroups():
    check_cut("b.flight", lambda e: e["pid"] in (101, 103, 105, 107), "--cgroup", "/web/*")


def cut_filters():
    check_cut("b.flight", lambda e: e["event"] == "cpu_sample", "-f", "event == cpu_sample")
    check_cut("random.flight", lambda e: e["event"] == "sys_enter", "-f", "event == sys_enter")
    # the stacks of samples are there although the filter does not match them
    out, _ = cut("b.flight", "-f", "event == cpu_sample")
    assert all(parsed(l)["ustack"] for l in rows(out))
    # the names of new tasks are there although their births were cut away
    out, _ = cut("b.flight", "-f", "comm == \"work-110\" && event == sys_enter")
    assert {parsed(l)["comm"] for l in rows(out)} == {"work-110"}


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
    expected = [l for l in rows("b.flight") if keep(parsed(l))]
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


SWITCHES = {OFF, QUEUED, WAITS, WAKERS, ("sched_switch", "blocked_ns")}


def check_pairs(truth, *paths, all=(), some=(), since=0):
    """No value differs from the whole file's. After `since` all values of a kind are known, or some, or none, as given."""
    got = ends(*paths)
    wrong = [(p, got[p], truth[p]) for p in got if not got[p].items() <= truth[p].items()]
    assert got and not wrong, (paths, len(wrong), wrong[0])
    behind = {place(e) for e in map(parsed, rows(*paths)) if e["ts"] > since}
    for key in {k for p in got for k in truth[p]}:
        known, there = sum(key in got[p] for p in behind), sum(key in truth[p] for p in behind)
        if key in all:
            assert known == there > 0, (paths, key, known, there)
        else:
            assert (known > 0) == (key in some), (paths, key, known, there)


def governor_ns(path):
    """A time when all that began before the governor's step has ended."""
    return next(e["ts"] for e in map(parsed, rows(path)) if e["event"] == "governor") + 15000000


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
    early = {place(e) for e in map(parsed, rows("tasks.flight")) if e["ts"] < since - 15000000}
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


def cut_hosts():
    """A window of several hosts is on each host's own clock, and so is the time from which on each one's history is complete."""
    out, whole, triggers, shift = merge("a.flight", "random.flight", "b.flight"), {}, [], {}
    for host in "boot-1", "boot-2":
        run("cut", "-o", fresh("whole.flight"), "--host", host, out)
        said = info("whole.flight")
        whole[host] = sorted(parsed(l)["ts"] for l in rows("whole.flight")), said["horizon_ns"]
        triggers.append((said["trigger"]["ts"], host))
        sample = said["clock"]["samples"][0]
        shift[host] = sample["ts"] - sample["real_ns"]
    ahead = {host: ns - shift["boot-1"] for host, ns in shift.items()}
    assert ahead["boot-2"], "one clock shows nothing"
    # A window of both is of the whole file: from the first host's first event to the last host's last
    edges = [[every[nr] - ahead[host] for host, (every, _) in whole.items()] for nr in (0, -1)]
    begin, end, both = min(edges[0]), max(edges[1]), (max(edges[0]), min(edges[1]))  # within the latter there are rows of each
    last = triggers[0][0] - ahead[triggers[0][1]]  # -10ms is before the first host's trigger, on both clocks
    assert begin < last < end, (begin, triggers, end)
    common = both[1] - both[0]
    rare = [ts - ahead["boot-2"] for ts in whole["boot-2"][0] if both[0] < ts - ahead["boot-2"] < both[1]]
    assert begin < both[0] and rare, edges
    at = rare[len(rare) // 2]
    part = lambda ts: f"{(ts - begin) * 100 / (end - begin):.6f}%"
    back = lambda ts: f"-{last - ts}ns"
    for window, asked in ((f"{form(a)}..{form(b)}", (a, b)) for form in (part, back)
                          for a, b in ((at - common // 8, at + common // 8), (both[0] - common // 4, at + common // 8))):
        for host, (every, horizon) in whole.items():
            run("cut", "-o", fresh("part.flight"), "--host", host, "--window", window, out)
            there, said = sorted(parsed(l)["ts"] for l in rows("part.flight")), info("part.flight")
            since, until = said["cut"]["since_ns"], said["cut"]["until_ns"]
            for ts, want in zip((since, until), asked):  # a millionth of a percent, and what a double has of digits
                assert abs(ts - ahead[host] - want) <= (end - begin) // 10**8 + 1, (window, host, ts, want)
            assert 0 < len(there) < len(every) and there == [ts for ts in every if since <= ts <= until], (window, host, since, until)
            assert said["horizon_ns"] == max(since, horizon), (window, host, said["horizon_ns"])


globals()[sys.argv[3]]()
