# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Small files that take much memory to read (make_hungry.c): what commands take stays below --memory, and what they leave out for it
is told, and accounted for. memory.py FLIGHTREC MAKE_HUNGRY DIR
report|stat|top|diff|view|cut|rings|pairs|waits|limits
"""
import base64
import itertools
import json
import os
import re
import subprocess
import sys
import zlib

MIB = 1 << 20
FLIGHTREC, MAKE, DIR = sys.argv[1:4]
BOUND = 80 * MIB


def hungry(kind, cpus, laps):
    path = f"{DIR}/{kind}-{cpus}-{laps}.flight"
    if not os.path.exists(path):
        subprocess.run([MAKE, path, kind, str(cpus), str(laps)], check=True)
    return path


class Ran:
    """
    A command that has ended: its status, output, messages, and the most memory it had. That begins with what this process has when
    it starts the command, as wait4(2) has it: so read no output before all have run.
    """
    cnt = 0

    def __init__(self, *args, before=()):
        Ran.cnt += 1
        self.args, self.path = args, f"{DIR}/hungry{Ran.cnt}"
        with open(self.path + ".out", "wb") as out, open(self.path + ".err", "wb") as err:
            child = subprocess.Popen([*before, FLIGHTREC, *args], stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = self.status = os.waitstatus_to_exitcode(status)
        self.peak = usage.ru_maxrss * 1024

    @property
    def out(self):
        with open(self.path + ".out", encoding="utf-8") as f:
            return f.read()

    @property
    def err(self):
        with open(self.path + ".err", encoding="utf-8") as f:
            return f.read()

    def must(self, status, *says):
        assert self.status == status, f"{self.args}: status {self.status}\n{self.err}"
        for text in says:
            assert text in self.err, f"{self.args}: standard error lacks {text!r}:\n{self.err}"
        return self


OTHERS = Ran("--version").peak  # what a command has that does nothing: program and libraries; or this process


def below(ran, bound):
    """The bound is one of private memory; the rest is what it has anyway."""
    assert OTHERS < 32 * MIB, f"this process has {OTHERS >> 20} MiB: nothing can be measured"
    assert ran.peak <= bound + OTHERS, f"{ran.args}: {ran.peak >> 20} MiB at the peak, bound to {bound >> 20}"
    return ran


def amount(table, *keys):
    return sum(row[key] for row in table for key in keys)


def samples(report):
    return amount(report["functions"], "samples")


def compare(some, every):
    """A report with tables that ended early, and one of all: each event is in both, or counted as left out."""
    left = some["left_out"]
    assert left["memory"] == BOUND, left
    for key in ("window", "events", "trigger"):
        assert some[key] == every[key], f"{key}: {some[key]} is not {every[key]}"
    for key in ("events", "oncpu_ns", "runs", "wakes", "syscalls", "errors", "samples", "ios"):
        assert some["total"][key] == every["total"][key], f"total {key}: {some['total'][key]} is not {every['total'][key]}"
    accounts = [
        ("tasks", len(some["tasks"]), len(every["tasks"])),
        ("events_of_tasks", amount(some["tasks"], "events"), amount(every["tasks"], "events")),
        ("calls", amount(some["syscalls"], "enters", "exits"), amount(every["syscalls"], "enters", "exits")),
        ("errors", amount(some["errors"], "count"), amount(every["errors"], "count")),
        ("blocks", amount(some["block"], "begins", "ends"), amount(every["block"], "begins", "ends")),
        ("irqs", amount(some["irqs"], "begins", "ends"), amount(every["irqs"], "begins", "ends")),
        ("samples", samples(some), samples(every)),
    ]
    for key, here, there in accounts:
        assert left[key], f"{key}: nothing is left out, so this shows nothing"
        assert here, f"{key}: there is nothing in the table"
        assert here + left[key] == there, f"{key}: {here} and {left[key]} left out are not {there}"
    all_calls = {(c["abi"], c["id"]): c for c in every["syscalls"]}
    for c in some["syscalls"]:
        it = all_calls[c["abi"], c["id"]]
        assert c["enters"] <= it["enters"] and c["exits"] <= it["exits"], f"{c} has more than {it}"
    # what is in a table is as it is without a bound: the tasks that came first
    all_tasks = {(t["tid"], t["nr"]): t for t in every["tasks"]}
    for t in some["tasks"]:
        it = all_tasks[t["tid"], t["nr"]]
        for key in ("events", "oncpu_ns", "runs", "syscalls", "errors", "samples"):
            assert t[key] == it[key], f"task {t['tid']}: {key} is {t[key]}, not {it[key]}"


def report():
    path = hungry("all", 8, 64)
    free = Ran("report", "--json", path)
    bound = [below(Ran("report", "--json", "--memory", "80M", path), BOUND),
             below(Ran("report", "--json", path, before=["prlimit", f"--data={BOUND}"]), BOUND)]
    text = below(Ran("report", "--memory", "80M", path), BOUND).must(0, "for lack of memory", "--memory")
    assert free.peak > 2 * BOUND, f"the file takes {free.peak >> 20} MiB only, so a bound of {BOUND >> 20} shows nothing"
    every = json.loads(free.must(0).out)
    assert "left_out" not in every and not free.err, free.err
    for ran in bound:
        compare(json.loads(ran.must(0, "for lack of memory", "--memory").out), every)
    shown = re.search(r"left out +for lack of memory: --memory is 80 MiB.*\n +([0-9,]+) tasks, which have ([0-9,]+) events", text.out)
    assert shown and shown[1] != "0" and shown[2] != "0", text.out[:2000]


def events_of(out):
    shown = re.search(r"  (\d+) events? in ", out)
    left = re.search(r"  (\d+) later ones left out", out)
    return int(shown[1]), int(left[1]) if left else 0


def top():
    path = hungry("all", 8, 64)
    asked = ["top", "--once", "--panel", "tasks", "--keys", "f", path]
    free = Ran(*asked).must(0)
    ran = below(Ran(*asked, "--memory", "80M"), BOUND).must(0, "for lack of memory", "--memory")
    assert "cannot read" not in ran.out and re.search("\n task +tid .*\n.* 3 ", ran.out), "there is no table"
    every, none = events_of(free.out)
    assert free.peak > 2 * BOUND and not none and not free.err, free.err
    here, left = events_of(ran.out)
    assert here and left and here + left == every, f"{here} events and {left} left out are not {every}"
    assert f"the last {left} of {every} events are left out" in ran.err, ran.err
    # it is what a window would be that ends there
    asked = ["top", "--once", "--panel", "cpus", "--keys", "f", path]
    ran = Ran(*asked, "--memory", "80M")
    here, _ = events_of(ran.out)
    with open(Ran("replay", "--json", path).path + ".out", encoding="utf-8") as f:
        until = json.loads(next(itertools.islice(f, here - 1, None)))["ts"]
    window = Ran(*asked, "--until", str(until))
    assert events_of(window.out) == (here, 0), (until, here, window.out[:200])
    assert window.out.splitlines()[1:] == ran.out.splitlines()[1:], "it is not what the window until then shows"


KINDS = "events", "cpu", "runqueue", "offcpu", "syscalls", "block", "irq", "softirq"


PAIRED = {"ns", "timed", "p50_ns", "p99_ns", "max_ns"}  # of what was paired, which is forgotten where there is no room


def same_item(kind, got, want):
    """What a thing has on a side, where not all of it has room."""
    if kind in ("events", "cpu"):
        return got == {k: v for k, v in want.items() if k in got and k in ("count", "errors", "ns") or "timed" in got}
    if kind in ("runqueue", "offcpu"):  # there is none without its time
        return got["count"] <= want["count"]
    return all(got[k] == want[k] for k in want.keys() - PAIRED) and got["ns"] <= want["ns"]


def diff():
    """What has a line has all its counts; the rest is told by its sum, of each side and kind."""
    path = hungry("all", 8, 64)
    asked = ["diff", "--window-a", "0%..40%", "--window-b", "30%..100%", path]
    free = Ran(*asked, "--json")
    ran = below(Ran(*asked, "--json", "--memory", "64M"), 64 * MIB).must(0, "one by one, for lack of memory", "--memory", "have no times")
    text = below(Ran(*asked, "--memory", "64M"), 64 * MIB).must(0)
    assert free.peak > 64 * MIB + OTHERS, f"the file takes {free.peak >> 20} MiB only, so a bound of 64 shows nothing"
    every, some = json.loads(free.must(0).out), json.loads(ran.out)
    left = some.pop("left_out")
    assert left["memory"] == 64 * MIB and "left_out" not in every and not free.err, (left, free.err)
    assert (some["a"], some["b"]) == (every["a"], every["b"])
    for kind in KINDS:
        here, there = ({i["name"]: i for i in d[kind]} for d in (some, every))
        for name, side in itertools.product(here, "ab"):
            assert same_item(kind, here[name][side], there[name][side]), f"{kind} {name}: {here[name]} is not {there[name]}"
        for side, key in itertools.product("ab", ("count", "errors")):
            have, rest, all_ = (sum(i.get(side, {}).get(key, 0) for i in d) for d in (here.values(), [left.get(kind, {})], there.values()))
            assert have + rest == all_ or kind in ("runqueue", "offcpu") and have + rest < all_, f"{kind}: {key} of {side}: {have} and {rest} left out are not {all_}"
    assert {"syscalls", "irq"} <= left.keys() and some["events"], left
    assert len(re.findall(r"\n  \(left out\) ", text.out)) == len(left) - 1 and "--memory is 64 MiB" in text.out, text.out[:2000]


def stat():
    """A group that is listed has all its rows; those of the others are in the rest, counted."""
    path = hungry("all", 8, 12)  # 64 laps would take 1.8 GiB
    asked = ["stat", "--json", "--top", "0", "--by", "ts", "count() sum(tid) distinct(tid) p50(tid)", path]
    free = Ran(*asked)
    ran = below(Ran(*asked, "--memory", "64M"), 64 * MIB).must(0)
    assert free.peak > 64 * MIB + OTHERS, f"the file takes {free.peak >> 20} MiB only, so a bound of 64 shows nothing"
    every, some = json.loads(free.must(0).out), json.loads(ran.out)
    assert every["ungrouped"] == 0 and every["other"] is None and some["ungrouped"] and some["rows"], some["ungrouped"]
    assert some["matched"] == every["matched"] == some["total"]["count()"] and some["total"]["sum(tid)"] == every["total"]["sum(tid)"]
    here, there = ({r["ts"]: r for r in d["rows"]} for d in (some, every))
    assert all(here[ts]["count()"] == there[ts]["count()"] and here[ts]["sum(tid)"] == there[ts]["sum(tid)"] for ts in here)
    for key in "count()", "sum(tid)":
        assert amount(some["rows"], key) + some["other"][key] == amount(every["rows"], key), key
    assert some["other"]["count()"] == some["ungrouped"] and [n for n in some["notes"] if n["kind"] == "groups" and "--memory" in n["text"]], some["notes"]
    assert not [n for n in every["notes"] if n["kind"] in ("groups", "no_room")], every["notes"]


def page_of(path):
    """What a page holds beside the events: as its scripts read it."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    rest = re.search(r'<script type="text/x-rest">([^<]*)<', text)[1]
    rows = sum(int.from_bytes(zlib.decompress(base64.b64decode(s))[:4], "little")
               for s in re.findall(r'<script type="text/x-events">([^<]*)<', text))
    return json.loads(zlib.decompress(base64.b64decode(rest))), rows


def view():
    """A page that ends early is what a window until then would be, and says how many are missing."""
    path, made = hungry("all", 8, 64), [f"{DIR}/page{i}" for i in range(3)]
    free = Ran("view", "-o", made[0], path).must(0)
    ran = below(Ran("view", "--memory", "80M", "-o", made[1], path), BOUND).must(0, "for lack of memory", "--memory")
    assert free.peak > BOUND + OTHERS, f"the page takes {free.peak >> 20} MiB only, so a bound of {BOUND >> 20} shows nothing"
    (every, all_rows), (some, rows) = page_of(made[0]), page_of(made[1])
    assert every["left_out"] == 0 and every["events"] == all_rows and "left out" not in free.err, (every["left_out"], free.err)
    assert rows == some["events"] and some["left_out"] and rows + some["left_out"] == all_rows, (rows, some["left_out"], all_rows)
    assert f"the last {some['left_out']} of {all_rows} events are left out" in ran.err, ran.err
    with open(Ran("replay", "--json", "--tier", "all", path).path + ".out", encoding="utf-8") as f:
        lines = list(itertools.islice(f, rows - 1, rows + 1))
    first, until = (json.loads(line)["ts"] for line in lines)
    assert first < until
    Ran("view", "--until", str(first), "-o", made[2], path).must(0)
    window, _ = page_of(made[2])
    for key in ("events", "texts", "names", "stacks", "tasks", "origin"):
        assert window[key] == some[key], f"{key} is not what the window until then has"


def cut():
    """Who writes a snapshot keeps all, or says what to do and leaves nothing."""
    path = hungry("all", 8, 64)
    for command in "cut", "merge":
        out = f"{DIR}/{command}-hungry"
        ran = below(Ran(command, "--memory", "16M", "-o", out, path), 16 * MIB).must(1, "--memory (it is 16 MiB)")
        assert not os.path.exists(out), f"{command} left a file: {ran.err}"


def rings():
    """A chunk of each ring is needed at once: what the file says of them is compared with the bound before any is read."""
    path = hungry("few", 64, 60)
    assert Ran("replay", "--count", path).must(0).peak > BOUND // 2, "the file takes too little for this test"
    for command in ["replay", "--count"], ["report"], ["top", "--once"], ["export", "--to", "json"], ["symbols"]:
        ran = Ran(*command, "--memory", "80M", path).must(1, "the events of 64 rings are needed at the same time", "--memory", "80 MiB")
        assert ran.peak < OTHERS + 16 * MIB, f"{command}: it took {ran.peak >> 20} MiB before it looked"
    Ran("verify", "--memory", "64M", path).must(0)  # a chunk at a time
    Ran("info", "--memory", "64M", path).must(0)


def pairs():
    """Calls and waits in progress are forgotten when there is no room for more: times are unknown then, and never wrong."""
    path = hungry("all", 4, 250)
    bound = 22 * MIB  # a seventh of all waits is forgotten: with 64, only 15 of 245,000 are
    asked = ["replay", "--pairs", "--json", "-f", "event == sched_switch", path]
    free = Ran(*asked).must(0)
    ran = below(Ran(*asked, "--memory", "22M"), bound).must(0, "have no times, for lack of memory")
    assert free.peak > bound + OTHERS and not free.err, (free.peak >> 20, free.err)
    unknown = 0
    for line, whole in zip(ran.out.splitlines(), free.out.splitlines(), strict=True):
        if line != whole:
            unknown += 1
            assert json.loads(line).items() <= json.loads(whole).items(), (line, whole)
    assert unknown, "nothing was forgotten"


def waits():
    """Waits whose object has no room are counted, without a sum. Where there is none for who did not wake, that is said."""
    path, bound = hungry("waits", 2, 150), 32 * MIB
    free = Ran("report", "--json", path).must(0)
    ran = below(Ran("report", "--json", "--memory", "32M", path), bound).must(0, "for lack of memory", "--memory")
    assert free.peak > bound + OTHERS, f"the file takes {free.peak >> 20} MiB only, so a bound of {bound >> 20} shows nothing"
    every, some = (json.loads(r.out)["long_waits"]["all"] for r in (free, ran))
    assert every["left_out"] == 0 and every["count"] == amount(every["sums"], "count"), every["left_out"]
    assert some["left_out"] and some["sums"] and some["count"] == every["count"] == some["left_out"] + amount(some["sums"], "count"), some["left_out"]
    for key in ("off_ns", "blocked_ns", "queued_ns"):
        assert some[key] == every[key], key
    assert len(some["longest"]) == len(every["longest"]) and every["longest"][0]["about"] == "ext4:/hungry/0"
    ran = Ran("replay", "--pairs", "--count", "--memory", "20M", hungry("waits", 4, 200)).must(0, "wakings by timers", "--memory (it is 20 MiB)")
    assert ran.err.count("warning") == 1, ran.err


def limits():
    """Each command that reads files has the option, which changes nothing where there is enough, and refuses what is no amount."""
    golden = "tests/gate/load.flight"
    for command in (["replay"], ["report"], ["report", "--json"], ["top", "--once"], ["info"], ["verify"], ["symbols"], ["list", "-o", "tests/files/golden"],
                    ["diff", "--window-a", "0%..50%", "--window-b", "50%..100%"], ["profile"], ["incidents"], ["stat", "--by", "comm,event", "count() p99(latency)"],
                    ["export", "--to", "csv"], ["view", "-o", f"{DIR}/page"], ["cut", "-o", f"{DIR}/part"], ["merge", "-o", f"{DIR}/all"]):
        args = [] if command[0] == "list" else [golden]
        seen = []
        for bound in [], ["--memory", "200M"], ["--memory=50%"]:
            for name in "page", "part", "all":
                if os.path.exists(f"{DIR}/{name}"):
                    os.remove(f"{DIR}/{name}")
            ran = Ran(*command, *bound, *args)
            made = [open(f"{DIR}/{name}", "rb").read() for name in ("page",) if os.path.exists(f"{DIR}/{name}")]
            seen.append((ran.status, ran.out, ran.err, made))
        assert seen[0] == seen[1] == seen[2], f"{command}: {seen[0][:3]}\nis not\n{seen[1][:3]}"
    for wrong in "", "0", "1M", "15M", "half", "-1", "101%", "0%", "99999999999999999999", "16777216T":
        Ran("report", "--memory", wrong, golden).must(2, "is not an amount of memory: give a size from 16M on")
    for command in "recover", "tail":
        assert "--memory SIZE" in Ran(command, "--help").must(0).out


{"report": report, "stat": stat, "top": top, "diff": diff, "view": view, "cut": cut, "rings": rings, "pairs": pairs, "waits": waits, "limits": limits}[sys.argv[4]]()
