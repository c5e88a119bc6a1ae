# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""top: that its screen shows what `replay --json` and `report --json` say, and does what keys ask for, on three terminals."""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from cases import LIMIT_S, check, equal, main, test  # noqa: E402
from terminal import Terminal  # noqa: E402

FLIGHTREC = os.environ.get("FLIGHTREC", "build/flightrec")
CPUS = 4  # of the snapshot
WIDE = {"width": 200, "height": 50}


# ---- the program ----

def run(*args, status=0, env=None):
    full = dict({k: v for k, v in os.environ.items() if k != "TERM"}, **{"LC_ALL": "C", **(env or {})})
    r = subprocess.run([FLIGHTREC, *args], capture_output=True, stdin=subprocess.DEVNULL, env=full)
    equal(r.returncode, status, f"exit status of {args}: {r.stderr.decode(errors='replace')}")
    return r.stdout.decode(), r.stderr.decode(errors="replace")


def report(snap, *args):
    return json.loads(run("report", "--json", *args, snap)[0])


def events(snap, *args):
    return [json.loads(line) for line in run("replay", "--json", *args, snap)[0].splitlines()]


def top(snap, *args, **kw):
    return Terminal(FLIGHTREC, "top", *args, snap, **kw)


def once(snap, *args, env=None, status=0):
    return run("top", "--once", *args, snap, env=env, status=status)[0].splitlines()


def last(text):
    return text.split("\n")[-1]


def ready(text):
    return "search" in last(text) and "reading" not in text


def sync(t):
    """
    All keys before are done, and drawn, when the line for a search has been seen: it is the screen's last one. Then the line is
    left; until there is no more work.
    """
    idle = 0
    while idle < 2:  # the first may have been seen while the next was being drawn
        t.key("/")
        text = t.wait("the search's line", lambda s: last(s).startswith(" search:"))
        t.key("\x1b")
        t.wait("its end", lambda s: not last(s).startswith(" search:"))
        idle = 0 if "reading" in text else idle + 1
    return text


def press(t, *keys):
    t.key(*keys)
    return sync(t)


def go_to(t, what):
    t.key("g")
    t.wait("the line for a place", lambda s: last(s).startswith(" go to:"))
    t.key(what + "\r")
    return sync(t)


# ---- what is on the screen ----

def duration(ns):
    if ns < 1000:
        return f"{ns} ns"
    if ns < 1e6:
        return "%.3g us" % (ns / 1e3)
    if ns < 1e9:
        return "%.3g ms" % (ns / 1e6)
    return "%.*f s" % (2 if ns < 9.995e9 else 1 if ns < 9.995e10 else 0, ns / 1e9)


def time_or_dash(ns):
    return duration(ns) if ns else "-"


def count(v):
    return f"{v:,}"


def tabs_line(lines):
    return next(i for i, l in enumerate(lines) if "details" in l or "1detail" in l)


def panel(text):
    lines = text.split("\n")
    return lines[tabs_line(lines) + 1:-1]


def table(text, widths):
    """Head and lines of the table in the panel, as lists of texts."""
    rows = []
    for line in panel(text):
        x, row = 1, []
        for w in widths:
            row.append(line[x:x + w].strip())
            x += w + 1
        if any(row):
            rows.append(row)
    return rows[0], rows[1:]


def detail(text, label):
    for line in panel(text):
        if line[1:17].strip() == label:
            return line[17:].strip()
    return None


def clock(text):
    return int(re.search(r"clock (\d+)", detail(text, "time")).group(1))


def shown(text):
    m = re.search(r"shown: clock (\d+) to (\d+)", text)
    return int(m.group(1)), int(m.group(2))


TASKS = (15, 8, 7, 10, 10, 10, 10, 10, 9, 8, 8, 10, 8, 10)


def task_row(t, window_ns):
    share = t["oncpu_ns"] * 1000 // window_ns
    return [t["comm"].encode().decode("latin1").replace("\x1b", "\\x1b"), str(t["tid"]), f"{share // 10}.{share % 10}%", time_or_dash(t["oncpu_ns"]),
            time_or_dash(t["queued_ns"]), time_or_dash(t["wakeup"]["p99_ns"]), time_or_dash(t["offcpu_ns"]), time_or_dash(t["blocked_ns"]),
            count(t["syscalls"]), count(t["errors"]), count(t["faults_user"] + t["faults_kernel"]), count(t["events"]), str(t["pid"]),
            time_or_dash(t["wakeup"]["max_ns"])]


def compare_tasks(text, r):
    """A tid may be several tasks', one after the other."""
    window = r["window"]["end_ns"] - r["window"]["begin_ns"]
    want = [[v[:w] for v, w in zip(task_row(t, window), TASKS)] for t in r["tasks"]]
    _, rows = table(text, TASKS)
    check(len(rows) >= min(10, len(want)), f"only {len(rows)} tasks")
    for row in rows:
        check(row in want, f"task {row}: {[w for w in want if w[1] == row[1]]}")
        want.remove(row)
    return rows


def lone_tids(snap):
    """Tids that one task has had."""
    tids = [t["tid"] for t in report(snap)["tasks"]]
    return {tid for tid in tids if tids.count(tid) == 1}


# ---- tests ----

@test("opens on xterm-256color, linux and vt100, with and without UTF-8")
def opens(snap):
    window = report(snap)["window"]
    head = f"load.flight  {len(events(snap))} events in {duration(window['end_ns'] - window['begin_ns'])}  trigger: crash t\\x1b[31m\"3"
    for term, utf8 in (("xterm-256color", True), ("xterm-256color", False), ("linux", True), ("linux", False), ("vt100", False), ("vt100", True)):
        with top(snap, term=term, utf8=utf8) as t:
            text = t.wait(f"a screen on {term}", ready)
            check(head in text.split("\n")[0], text.split("\n")[0])
            check(re.search(r"^ CPU 0 ", text, re.M) and re.search(r"^. ?t?ask-3 103", text, re.M), text)
            equal(all(ord(c) < 128 for c in text), not utf8, f"ASCII only on {term} {utf8}")
            equal(bool(t.screen.colors), term != "vt100", f"colours on {term}")
            equal(any(c == 38 and v is not None for c, v in t.screen.colors), term == "xterm-256color", f"256 colours on {term}")
            t.key("q")
            equal(t.end(), 0, "exit status")
            check(t.is_restored(), f"the terminal {term} is as it was")


def length_shown(lines):
    """How long the window on the screen is."""
    return re.match(r" (\d\S* [num]?s) ", lines[2])[1]


@test("opens at the trigger, 50 ms around it; f and a part that was asked for show all; without a trigger in the window, all is shown")
def opens_at_trigger(snap):
    r, clock = report(snap), lambda *args: int(re.search(r"clock (\d+)", "\n".join(once(snap, "--panel", "details", *args)))[1])
    span, origin = r["window"]["end_ns"] - r["window"]["begin_ns"], r["window"]["begin_ns"]
    at = clock() - origin
    check(100e6 < at < span, f"the trigger is {at} behind the begin of {span}")
    equal(length_shown(once(snap)), duration(50e6 + min(50e6, span - at)), "from 50 ms before it to 50 ms behind it, or the end")
    check(abs(clock("--keys", "[" * 3) - clock()) < 50e6, "events before it are near")
    equal(length_shown(once(snap, "--keys", "f")), duration(span), "f: all")
    asked = {length_shown(once(snap, *args)) for args in (("--window", "0%..100%"), ("--since", "0%"), ("--until", "100%"))}
    check(len(asked) == 1 and 100 < float(asked.pop().removesuffix(" ms")) < span / 1e6, f"a part that was asked for, from where all CPUs' histories have begun: {asked}")
    equal(length_shown(once(snap, "--keys", "ft")), duration(span), "t goes to the trigger, and zooms not")
    with tempfile.TemporaryDirectory() as d:
        subprocess.run([f"{sys.argv[1]}/tests/top/make", "none", f"{d}/none.flight"], check=True)
        equal(length_shown(once(f"{d}/none.flight")), length_shown(once(f"{d}/none.flight", "--keys", "f")), "a file without a trigger")


@test("the terminal is put back: q, Ctrl-C, SIGINT, SIGTERM, SIGHUP; it ends with its terminal")
def restored(snap):
    for how, want in (("q", 0), ("\x03", 0), (signal.SIGINT, 0), (signal.SIGTERM, -signal.SIGTERM), (signal.SIGHUP, -signal.SIGHUP), (signal.SIGQUIT, -signal.SIGQUIT)):
        with top(snap) as t:
            t.wait("a screen", ready)
            check("?1049" in t.screen.modes, "the other screen")
            if isinstance(how, str):
                t.key(how)
            else:
                t.process.send_signal(how)
            equal(t.end(), want, f"exit status of {how!r}")
            check(t.is_restored(), f"the terminal after {how!r}")
            check("?25" in t.screen.modes, f"the cursor after {how!r}")
            equal(t.said(), "", "words")
    t = top(snap)
    t.wait("a screen", ready)
    os.close(t.master)
    t.process.wait(timeout=LIMIT_S)
    os.close(t.slave)
    os.close(t.errors)


@test("without a terminal, on an unknown or a dumb one: what to do instead")
def no_terminal(snap):
    _, said = run("top", snap, status=1, env={"TERM": "xterm"})
    check("flightrec report" in said and "--once" in said, said)
    for term in ("no-such-terminal", "", "dumb"):
        with top(snap, term=term) as t:
            equal(t.end(), 1, f"exit status on {term!r}")
            check("flightrec report" in t.said() and t.is_restored(), t.said())


@test("usage, and files that are none")
def usage(snap):
    for args, status in (((snap, snap), 2), (("-n", "s", snap), 2), (("--interval", "1s", snap), 2), (("--last", "1s", snap), 2),
                         (("-n", "s", "--since", "1s"), 2), (("-n", "s/"), 2), (("--interval", "1ms", snap), 2), (("--panel", "x", snap), 2), (("--once", "--size", "80", snap), 2), (("--once", "--size", "0x5", snap), 2),
                         (("--since", "never", snap), 2), (("--once", "-f", "nonsense ==", snap), 2), (("--once", "/none.flight"), 1),
                         (("--once", sys.argv[0]), 3), (("--nothing", snap), 2)):
        check(run("top", *args, status=status)[1], f"words for {args}")
    out, _ = run("top", "--help")
    check(out.startswith("Usage:") and len(out.splitlines()) < 32 and max(map(len, out.splitlines())) <= 80, out)


def damage_part(load, bad):
    """A part of CPU 1's main ring that has more behind it."""
    with open(load, "rb") as f:
        data = f.read()
    whole = [e for e in events(load, "--pos") if (e["cpu"], e["pos"]["tier"]) == (1, "main")]
    at = -1
    while (at := data.find(b"\x28\xb5\x2f\xfd", at + 1)) >= 0:
        with open(bad, "wb") as f:
            f.write(data[:at + 50] + bytes([data[at + 50] ^ 0xff]) + data[at + 51:])
        left = [json.loads(line) for line in run("replay", "--json", "--pos", "--no-symbols", bad, status=3)[0].splitlines()]
        there = [e for e in left if (e["cpu"], e["pos"]["tier"]) == (1, "main")]
        if there and len(there) < len(whole) and there[-1] == whole[-1]:
            return bad
    raise AssertionError("no part could be damaged")


@test("damage is said, and what can be read is shown")
def damaged(snap):
    with tempfile.TemporaryDirectory() as d:
        cut = f"{d}/cut.flight"
        with open(snap, "rb") as f, open(cut, "wb") as to:
            to.write(f.read()[:-3000])
        out, said = run("top", "--once", "--panel", "tasks", cut, status=3)
        check("on-CPU" in out and said, out)
        with open(snap, "rb") as f, open(cut, "wb") as to:
            text = bytearray(f.read())
            for at in range(len(text) // 3, len(text) // 3 + 400):
                text[at] ^= 0x55
            to.write(text)
        for name in ("cause", "details", "events", "tasks", "flame", "info"):
            run("top", "--once", "--panel", name, cut, status=3)


@test("tasks of the window are the report's")
def tasks(snap):
    with top(snap, "--window", "40%..90%", "--panel", "tasks", **WIDE) as t:
        t.wait("a screen", ready)
        rows = compare_tasks(press(t, "f"), report(snap, "--window", "40%..90%"))
        check(len(rows) > 15, "lines")


@test("zoom and move: the tables are those of what is shown")
def zoomed(snap):
    with top(snap, "--panel", "info", **WIDE) as t:
        t.wait("a screen", ready)
        whole = shown(press(t, "f"))
        seen = {whole}
        for keys in ("t", "w", "ww", "a", "+", "d", "s", "\x1b[1;2D"):
            since, until = shown(press(t, "i", *keys))
            check(whole[0] <= since < until <= whole[1], f"{since}..{until}")
            seen.add((since, until))
            text = press(t, "3")
            compare_tasks(text, report(snap, "--since", str(since), "--until", str(until)))
        check(len(seen) >= 6, f"windows that were shown: {seen}")
        equal(shown(press(t, "if")), whole, "all of it")
        for _ in range(60):
            t.key("w")
        since, until = shown(sync(t))
        check(until - since < 300, f"zoomed in: {until - since} ns")
        for _ in range(60):
            t.key("s")
        equal(shown(sync(t)), whole, "zoomed out")


@test("mark and zoom: what lies between is shown")
def marked(snap):
    with top(snap, "--panel", "info", **WIDE) as t:
        t.wait("a screen", ready)
        begin, _ = shown(press(t, "f"))
        go_to(t, str(begin + 100_000_000))
        press(t, "m")
        go_to(t, str(begin + 150_000_000))
        check("from the mark 50 ms" in press(t, "1"), "how far it is from the mark")
        equal(shown(press(t, "z", "i")), (begin + 100_000_000, begin + 150_000_000), "the marked window")
        press(t, "b")
        check(shown(sync(t)) != (begin + 100_000_000, begin + 150_000_000), "back")
        t.key("z")
        t.wait("no mark", lambda s: "mark a moment first" in s)


@test("all other tables are the report's")
def tables(snap):
    r = report(snap, "--since", "30%")
    with top(snap, "--since", "30%", **WIDE) as t:
        t.wait("a screen", ready)
        press(t, "f")
        hist = lambda h: [time_or_dash(h["p50_ns"]), time_or_dash(h["p99_ns"]), time_or_dash(h["max_ns"])]
        full = lambda h: [time_or_dash(h["sum_ns"]), count(h["count"])] + hist(h)

        _, rows = table(press(t, "4"), (5, 7, 10, 10, 10, 10, 10, 10, 10, 10))
        want = {str(c["cpu"]): [f"{(lambda p: f'{p // 10}.{p % 10}%')(c['busy_ns'] * 1000 // (c['busy_ns'] + c['idle_ns']))}", time_or_dash(c["busy_ns"]),
                                time_or_dash(c["irq_ns"]), time_or_dash(c["softirq_ns"]), count(c["switches"]), time_or_dash(c["wakeup"]["p99_ns"]),
                                count(c["events"]), count(c["syscalls"]), count(c["faults"])] for c in r["cpus"]}
        equal({row[0]: row[1:] for row in rows}, want, "CPUs")

        _, rows = table(press(t, "5"), (20, 10, 8, 10, 10, 10, 10, 10))
        want = {(c["name"] or f"syscall {c['id']}") + ("/32" if c["abi"] else ""): [count(c["enters"]), count(c["errors"])] + full(c["latency"]) for c in r["syscalls"]}
        equal({row[0]: row[1:] for row in rows}, want, "system calls")

        _, rows = table(press(t, "6"), (8, 20, 10, 10, 10, 10, 10))
        word = lambda o: {"syscall": (o["name"] or f"syscall {o['id']}") + ("/32" if o["abi"] else "") if o["in"] == "syscall" else "", "fault": "(page fault)", "none": "-"}[o["in"]]
        want = {(o["state_name"] or str(o["state"]), word(o)): full(o["offcpu"]) for o in r["offcpu"]}
        for row in rows:
            equal(row[2:], want[tuple(row[:2])], f"off the CPU, {row[:2]}")
        check(len(rows) > 15, "lines")

        _, rows = table(press(t, "7"), (22, 22, 8, 10, 10))
        plain = lambda name: (name or "?").replace("\x1b", "\\x1b")
        device = {i["irq"]: i["name"] for i in r["irqs"]}
        words = {"irq": "an interrupt or timer", "softirq": "a softirq", "timer": "a timer", "nmi": "an NMI", "unknown": "an unknown cause"}
        by = lambda w: (f"{plain(w['waker_comm'])} {w['waker_tid']}"[:22] if w["waker_tid"] else "the idle task") if w["by"] == "task" \
            else f"irq {device.get(w['irq']) or w['irq']}" if "irq" in w else f"softirq {w['softirq_name']}" if "softirq" in w else words[w["by"]]
        want = [(f"{plain(w['comm'])} {w['tid']}"[:22], by(w), count(w["count"]), time_or_dash(w["offcpu_ns"]), time_or_dash(w["wakeup_ns"])) for w in r["waits"]]
        for row in rows:
            check(tuple(row) in want, f"waking {row}")
        check(len(rows) > 15, "lines")

        _, rows = table(press(t, "8"), (18, 16, 10, 10, 10, 10, 10, 10))
        want = {f"irq {i['irq']}": [i["name"], count(i["begins"])] + full(i["time"]) for i in r["irqs"]}
        want.update({f"softirq {i['name']}": ["-", count(i["begins"])] + full(i["time"]) for i in r["softirqs"]})
        equal({row[0]: row[1:] for row in rows}, want, "interrupts")

        _, rows = table(press(t, "9"), (12, 8, 9, 10, 7, 10, 9, 10, 10, 10))
        equal(sorted((row[2], row[4], row[6]) for row in rows),
              sorted((count(b["begins"]), count(b["errors"]), count(b["latency"]["count"])) for b in r["block"]), "block requests")

        text = press(t, "h")
        for name, title in (("wakeup", "woken until it runs"), ("offcpu", "off the CPU"), ("oncpu", "on the CPU at a time")):
            h = r["total"][name]
            check(title in text and f"{h['count']}: p50 {duration(h['p50_ns'])}, p99 {duration(h['p99_ns'])}, max {duration(h['max_ns'])}" in text, f"{name} {h}\n{text}")


@test("tables are sorted by what was chosen, and lead to a task's line")
def sorting(snap):
    r = report(snap)
    with top(snap, "--panel", "tasks", **WIDE) as t:
        t.wait("a screen", ready)
        head, rows = table(press(t, "f"), TASKS)
        check("on-CPUv" in head, str(head))
        window = r["window"]["end_ns"] - r["window"]["begin_ns"]

        def same(rows, column, key, least=False):
            want = [task_row(x, window)[column] for x in sorted(r["tasks"], key=key, reverse=not least)]
            equal([row[column] for row in rows], want[:len(rows)], f"column {column}")
        same(rows, 3, lambda x: x["oncpu_ns"])
        t.key("\t")
        head, rows = table(press(t, ">"), TASKS)
        check("queuedv" in head, str(head))
        same(rows, 4, lambda x: x["queued_ns"])
        head, rows = table(press(t, "r"), TASKS)
        check("queued^" in head, str(head))
        same(rows, 4, lambda x: x["queued_ns"], True)
        head, rows = table(press(t, "r>>"), TASKS)
        check("off-CPUv" in head, str(head))
        same(rows, 6, lambda x: x["offcpu_ns"])
        head, rows = table(press(t, "<<<<<<"), TASKS)
        check("task^" in head, str(head))
        equal([row[0] for row in rows], sorted(row[0] for row in rows), "by name")
        row = table(press(t, "\x1bOB\x1bOB"), TASKS)[1][2]
        said = detail(press(t, "\r", "1"), "task")
        check(re.match(rf".* {row[1]}  process", said) and f" {row[11]} events" in said, f"{row}: {said}")


@test("events: each field is as in replay --json; lines are as in replay")
def fields(snap):
    all_events = events(snap)
    lines = run("replay", snap)[0].splitlines()
    with top(snap, width=400, height=60) as t:
        t.wait("a screen", ready)
        press(t, "f")
        for i in (0, 1, 500, 2000, 2001, 2002, 4000, 6000, 7000, len(all_events) - 1):
            e = all_events[i]
            text = go_to(t, f"cpu {e['cpu']}")
            go_to(t, str(e["ts"]))
            text = sync(t)
            for _ in range(12):  # several at one moment
                if lines[i][:300].strip() in re.sub(r"^ ", "", "\n".join(l[1:] for l in panel(text))):
                    break
                text = press(t, ".")
            equal(clock(text), e["ts"], f"the time of event {i}")
            equal(detail(text, "event").split()[0], e["event"], f"event {i}")
            for name, value in e.items():
                if name in ("ts", "cpu", "event", "pid", "tid", "comm", "kstack", "ustack", "args", "tier"):
                    continue
                got = detail(text, name)
                check(got is not None, f"{name} of event {i}\n{text}")
                if isinstance(value, int):
                    first = got.split()[0]
                    equal(int(first, 0) & (2**64 - 1), value & (2**64 - 1), f"{name} of event {i}")
                elif value is not None:
                    check(got.startswith(str(value).replace("\x1b", "\\x1b")), f"{name}: {got!r}, not {value!r}")


@test("events before and behind, of a line and of all, are those of replay")
def walk(snap):
    all_events = events(snap)
    mine = [e for e in all_events if e["tid"] == 103]
    with top(snap, **WIDE) as t:
        t.wait("a screen", ready)
        go_to(t, "103")
        press(t, "f")
        go_to(t, str(mine[50]["ts"]))
        equal(clock(press(t, "]")), mine[51]["ts"], "the next of the line")
        for i in range(52, 60):
            text = press(t, "]")
            equal((clock(text), detail(text, "event").split()[0]), (mine[i]["ts"], mine[i]["event"]), "the next of the line")
        for i in range(58, 50, -1):
            text = press(t, "[")
            equal((clock(text), detail(text, "event").split()[0]), (mine[i]["ts"], mine[i]["event"]), "the one before of the line")
        at = next(i for i, e in enumerate(all_events) if e["ts"] == mine[51]["ts"])
        text = press(t, ".")
        equal(clock(text), all_events[at + 1]["ts"], "the next of all")
        head = press(t, "2")
        check(f"events of this line: {len(mine)}" in head, panel(head)[0])
        text = press(t, "\t", "e")
        check(f"all events: {len(all_events)}" in text, panel(text)[0])
        lines = [line.strip() for line in run("replay", snap)[0].splitlines()]
        got = [line.strip() for line in panel(text)[1:] if line.strip()]
        for g in got:
            check(any(l[:190] == g[:190] for l in lines), f"a line that replay does not have: {g!r}")
        places = [next(i for i, l in enumerate(lines) if l[:190] == g[:190]) for g in got]
        equal(places, list(range(places[0], places[0] + len(places))), "lines of the list")
        check(at + 1 in places, "the selected one is among them")


@test("who runs, and in which state a task is, at any moment")
def states(snap):
    all_events = events(snap)
    switches = {c: [e for e in all_events if e["event"] == "sched_switch" and e["cpu"] == c] for c in (0, 1, 3)}
    word = {0: "runnable", 1: "sleeping", 2: "blocked", 4: "stopped", 128: "stopped", 256: "runnable"}
    with top(snap, **WIDE) as t:
        t.wait("a screen", ready)
        known = 0
        for cpu, s in switches.items():
            go_to(t, f"cpu {cpu}")
            for i in range(20, len(s) - 1, len(s) // 6):
                if s[i + 1]["ts"] - s[i]["ts"] < 2:
                    continue
                said = detail(go_to(t, str((s[i]["ts"] + s[i + 1]["ts"]) // 2)), "CPU")
                if s[i + 1]["tid"] != s[i]["next_pid"]:
                    check("not known" in said, f"CPU {cpu}: a switch is missing, but {said}")
                    continue
                known += 1
                who = "idle" if not s[i]["next_pid"] else f" {s[i]['next_pid']} for"
                check(who in said, f"CPU {cpu} runs {s[i]['next_pid']}: {said}")
                if s[i]["next_pid"] != s[i + 1]["next_pid"] and s[i]["next_pid"] != s[i]["tid"]:
                    check(f"for {duration(s[i + 1]['ts'] - s[i]['ts'])} from" in said, f"{said}: {s[i + 1]['ts'] - s[i]['ts']}")
        check(known > 8, f"{known} moments")
        lone = lone_tids(snap)
        seen = []
        for e in switches[0] + switches[1] + switches[3]:
            about = [x["ts"] for x in all_events if x["ts"] > e["ts"] and e["tid"] in (x["tid"], x.get("next_pid"), x.get("target_pid"))]
            if e["tid"] not in lone or e["prev_state"] not in word or seen.count(word[e["prev_state"]]) == 2 or not about or about[0] - e["ts"] < 4:
                continue
            go_to(t, str(e["tid"]))
            said = detail(go_to(t, str(e["ts"] + 1)), "state")
            check(said and said.startswith(word[e["prev_state"]]), f"{e['tid']} left with {e['prev_state']}: {said}")
            seen.append(word[e["prev_state"]])
        equal(set(seen), set(word.values()), "states that were seen")


@test("who woke it: o goes there, b comes back")
def wakers(snap):
    all_events = events(snap)
    with top(snap, **WIDE) as t:
        t.wait("a screen", ready)
        press(t, "f")
        found, lone = 0, lone_tids(snap)
        for i, e in enumerate(all_events):
            if e["event"] != "sched_waking" or e["tid"] not in lone or e["target_pid"] not in lone or found == 3 or i < 2000 + found * 500:
                continue
            go_to(t, str(e["target_pid"]))
            text = go_to(t, str(e["ts"] + 1))
            why = detail(text, "why")
            if not why or f" {e['tid']} (o goes there)" not in why or not detail(text, "state").startswith("runnable"):
                continue
            found += 1
            text = press(t, "o")
            equal(clock(text), e["ts"], "the moment of the waking")
            check(f" {e['tid']}  process" in detail(text, "task"), detail(text, "task"))
            equal(detail(text, "event").split()[0], "sched_waking", "the event")
            equal(detail(text, "target_pid").split()[0], str(e["target_pid"]), "whom it woke")
            text = press(t, "b")
            equal(clock(text), e["ts"] + 1, "back")
        equal(found, 3, "wakings by tasks")


@test("search: the filter language, words, numbers; next and before")
def search(snap):
    with top(snap, **WIDE) as t:
        t.wait("a screen", ready)
        press(t, "f")
        first = clock(go_to(t, "0%"))
        for what, expr in (("ret < 0", "ret < 0"), ("latency > 1ms && event == sys_exit", "latency > 1ms && event == sys_exit"), ("103", "tid == 103 || pid == 103"),
                           ("page_fault", 'event ~ "*page_fault*" || comm ~ "*page_fault*"'), ("prev_state == D", "prev_state == D")):
            want = [e["ts"] for e in events(snap, "-f", expr)]
            check(len(want) > 5, f"{expr} finds {len(want)}")
            go_to(t, "0%")
            t.key("/")
            t.wait("its line", lambda s: last(s).startswith(" search:"))
            t.key(what + "\r")
            text = t.wait(f"{what}: all found", lambda s: f" {len(want)} found  " in last(s))
            if want[0] > first:
                equal(clock(text), want[0], f"{what}: the first")
            got = [clock(press(t, "n")) for _ in range(6)]
            equal(got, [ts for ts in want if ts >= first][1:7] if want[0] > first else got, f"{what}: the next ones")
            equal(clock(press(t, "N")), got[-2], f"{what}: the one before")
            t.key("\x1b")
            t.wait("its end", lambda s: "found" not in last(s))
        t.key("/")
        t.key("latncy > 1ms\r")
        t.wait("what is wrong", lambda s: "no field is called latncy: did you mean latency?" in last(s))
        t.key("\x1b", "/", "event == governor\r")
        t.wait("nothing found", lambda s: "nothing found" in last(s))


@test("-f: what it does not take is in no list, no count and not found")
def filtered(snap):
    expr = "cpu == 1 && ret < 0"
    want = events(snap, "-f", expr)
    with top(snap, "-f", expr, "--panel", "events", **WIDE) as t:
        text = t.wait("a screen", ready)
        check(f"{len(want)} events in" in text and f"-f {expr}" in text, text.split("\n")[0])
        check(f"all events: {len(want)}" in press(t, "f\te"), "the list")
        t.key("/", "sys_exit\r")
        t.wait("the search", lambda s: f" {len([e for e in want if e['event'] == 'sys_exit'])} found  " in last(s))
        r = report(snap, "-f", expr)
        compare_tasks(press(t, "\x1b", "3"), r) if len(r["tasks"]) >= 10 else None


@test("sizes: from too small to 250x70, while it runs")
def sizes(snap):
    with top(snap, "--panel", "tasks") as t:
        t.wait("a screen", ready)
        for width, height in ((60, 15), (80, 24), (250, 70), (20, 5), (200, 50), (33, 9), (100, 8), (31, 60)):
            t.resize(width, height)
            small = width < 30 or height < 8
            text = t.wait(f"{width}x{height}", lambda s: "too small" in s if small else ("3task" in s or "3 tasks" in s) and "flight  " in s.split("\n")[0])
            check(len(text.split("\n")) == height, "height")
            for name in "c1234567890hi" if not small else "":
                t.key(name)
            if not small:
                press(t, "v", "v", "v", "x", "x", "3")
        t.resize(100, 30)
        t.wait("as before", ready)


@test("help, panels, mouse, sizes of the panel, light and dark")
def looks(snap):
    with top(snap, width=120, height=40) as t:
        t.wait("a screen", ready)
        t.key("?")
        t.wait("help", lambda s: "keys. Any key goes back" in s and "who woke this task" in s)
        t.key("x")
        t.wait("back", lambda s: "keys. Any key" not in s)
        for key, words in (("c", "verdict  "), ("1", "task  "), ("2", "events of this line"), ("3", "on-CPUv"), ("4", "switches"), ("5", "begun"), ("6", "state"), ("7", "woken by"),
                           ("8", "handler"), ("9", "device"), ("0", "samples"), ("h", "woken until it runs"), ("i", "overwritten")):
            check(words in "\n".join(panel(press(t, key))), f"panel {key} says {words}")
        dark = set(t.screen.colors)
        press(t, "l")
        check(t.screen.colors - dark, "other colours on a light ground")
        lines = press(t, "v").split("\n")
        check(tabs_line(lines) < 6, "the panel is all")
        check(tabs_line(press(t, "v").split("\n")) > 35, "no panel")
        press(t, "v", "1")
        check("?1006" in t.screen.modes or "?1000" in t.screen.modes, "mouse is asked for")
        t.key("\x1b[<0;60;6M", "\x1b[<0;60;6m")
        check("CPU 1" in (detail(sync(t), "CPU") or ""), "a click chooses a line")
        text = press(t, "i")
        before = shown(text)
        t.key("\x1b[<64;60;5M")
        since, until = shown(sync(t))
        check(until - since < before[1] - before[0], "the wheel zooms")
    with top(snap, "--no-mouse") as t:
        t.wait("a screen", ready)
        check("?1006" not in t.screen.modes and "?1000" not in t.screen.modes, "no mouse")
    with top(snap, env={"NO_COLOR": "1"}.items()) as t:
        t.wait("a screen", ready)
        check(not t.screen.colors, "NO_COLOR")
    with top(snap, env={"NO_COLOR": ""}.items()) as t:
        t.wait("a screen", ready)
        check(t.screen.colors, "NO_COLOR that is empty, which is none: as all other commands take it")


@test("flame graph: samples of a CPU, of a task, of the window")
def flame(snap):
    samples = events(snap, "-f", "event == cpu_sample")
    with top(snap, "--panel", "flame", width=160, height=50) as t:
        t.wait("a screen", ready)
        press(t, "f")
        go_to(t, "cpu 0")
        n = len([e for e in samples if e["cpu"] == 0])
        check(f"{n} of {n} samples, 100.0%" in sync(t), "samples of CPU 0")
        tid = max(lone_tids(snap) & {e["tid"] for e in samples}, key=lambda tid: len([e for e in samples if e["tid"] == tid]))
        go_to(t, str(tid))
        mine = [e for e in samples if e["tid"] == tid]
        text = sync(t)
        check(f"{len(mine)} of {len(mine)} samples" in text, f"{len(mine)} samples of {tid}")
        inner = {}
        for e in mine:
            frames = [*e["kstack"], *e["ustack"]]
            if frames:
                inner[frames[-1]] = inner.get(frames[-1], 0) + 1
        text = press(t, "\t", "\x1bOB", "\x1bOB")
        check(re.search(rf" {max(inner.values())} of {len(mine)} samples", text), f"{inner}\n{text}")
        press(t, "\r", "u", "\x1bOA", "\x1bOA", "\x1bOC", "\x1bOD")


def words(lines):
    return " ".join("\n".join(lines).split())


@test("the cause: report's verdict of the file, whatever part is shown; where the cursor moves, the details")
def cause(snap):
    said = words(run("report", snap)[0].splitlines())
    size = "--size", "160x120"
    for args in ((), ("--window", "40%..60%"), ("-f", "cpu == 0"), ("--keys", "ws"), ("--panel", "tasks", "--keys", "c"), ("--keys", "]c")):
        text = words(panel("\n".join(once(snap, *size, *args))))
        check(text.startswith("verdict ") and text in said, f"{args}: {text}")
        equal(said[said.index(text) + len(text):].split()[0], "host", f"{args}: what report says behind it")
    for keys in ("]", ".", "/sched_waking\nn", "g0%\n"):
        lines = "\n".join(once(snap, *size, "--keys", keys))
        check(detail(lines, "time") is not None, f"details behind {keys}: {lines}")
    with top(snap, width=120, height=40) as t:
        t.wait("a screen", ready)
        check("verdict" in panel(press(t, "\t", "\x1bOA"))[0], "the first line")
        check("verdict" not in panel(press(t, "\x1bOB"))[0], "it is scrolled")
        press(t, *["\x1b[6~"] * 20)
        check(any(line.strip() for line in panel(press(t, "\x1b[5~"))), "beyond the end it is not scrolled")
    with open(snap, "rb") as f:
        for name in "-", "/dev/stdin":
            r = subprocess.run([FLIGHTREC, "top", "--once", *size, name], stdin=f, capture_output=True, text=True, check=True)
            equal([words(panel("\n".join(r.stdout.splitlines()))), r.stderr], [words(panel("\n".join(once(snap, *size)))), ""], f"{name}: the cause of a file that is standard input")
    with tempfile.TemporaryDirectory() as d:
        for kind in ("none", "first", "other"):
            subprocess.run([f"{sys.argv[1]}/tests/top/make", kind, f"{d}/{kind}.flight"], check=True)
        run("merge", "-o", f"{d}/both.flight", f"{d}/first.flight", f"{d}/other.flight")
        check("this file is of several" in "\n".join(once(f"{d}/both.flight", "--panel", "cause")), "two hosts")
        check(detail("\n".join(once(f"{d}/none.flight")), "time") is not None, "a file without a trigger opens with details")


@test("losses: horizon, holes, rings")
def losses(snap):
    r, info = report(snap), json.loads(run("info", "--json", snap)[0])
    text = "\n".join(once(snap, "--panel", "info", "--size", "140x50"))
    check(f"holes {r['lost']['holes']}" in text, text)
    horizon = r["trigger"]["at_ns"] - r["window"]["horizon_ns"]
    check(f"all CPUs complete from -{duration(horizon)}" in text, f"{horizon}\n{text}")
    check("!!!" in text and re.search(r"^ +3  main ", text, re.M), text)
    check(info, "info")


@test("a history begins before its holes, also where its horizon lies behind them")
def begins(snap):
    with tempfile.TemporaryDirectory() as d:
        late = f"{d}/{os.path.basename(snap)}"
        subprocess.run([f"{sys.argv[1]}/tests/report/make_load", late, "late"], check=True)
        for keys in [], ["--keys", "f"]:
            lines = [[line for line in once(f, "--size", "140x40", "--panel", "info", *keys) if re.match(r" CPU +\d| shown", line)]
                     for f in (snap, late)]
            check(len(lines[0]) == CPUS + 1 and "!!!" in lines[0][2] and ("//" in lines[0][2]) == bool(keys), lines[0])
            equal(lines[1], lines[0], "CPUs, the time that is shown")


def hatched(*files, status=0):
    """How many holes are told, and on the lines of how many CPUs they are seen."""
    text = run("top", "--once", "--panel", "info", "--size", "140x40", "--keys", "f", *files, status=status)[0]
    lines = [line for line in text.split("\n") if re.match(r" *CPU +\d+ ", line) and "!" in line]
    return int(re.search(r"holes (\d+)", text)[1]), len(lines)


@test("holes: between files, of CPUs that were cut away, of what is damaged")
def gaps(snap):
    with tempfile.TemporaryDirectory() as d:
        parts = [f"{d}/{i}.flight" for i in range(2)]
        for part, window in zip(parts, ("0%..40%", "60%..100%")):
            run("cut", "--window", window, "-o", part, snap)
        one = report(snap)["lost"]["holes"]
        equal(hatched(snap), (one, 1), "whole")
        run("merge", "-o", f"{d}/merged.flight", *parts)
        equal(hatched(f"{d}/merged.flight"), (one + CPUS, CPUS), "parts that were merged")
        run("cut", "--cpu", "0-1,3", "-o", f"{d}/cut.flight", snap)
        equal(hatched(f"{d}/cut.flight"), (1, 1), "three CPUs of four")
        load = f"{d}/parts.flight"
        subprocess.run([f"{sys.argv[1]}/tests/report/make_load", load, "parts"], check=True)
        bad = damage_part(load, f"{d}/bad.flight")
        equal(hatched(bad, status=3), (one + 1, 2), "damaged")


@test("--once: plain, as wide and high as it was told")
def plain(snap):
    for size in ("80x24", "200x50", "31x8", "1x1", "5x100"):
        for utf8 in (True, False):
            lines = once(snap, "--size", size, "--panel", "tasks", "--keys", "f++]]o3", env={"LC_ALL": "C.UTF-8" if utf8 else "C"})
            width, height = map(int, size.split("x"))
            equal(len(lines), height, f"lines of {size}")
            check(all(len(line) <= width for line in lines), f"wider than {width}")
            check(all(line.isprintable() for line in lines) and (utf8 or "\n".join(lines).isascii()), "what is no text")
    rows = compare_tasks("\n".join(once(snap, "--size", "200x50", "--panel", "tasks", "--keys", "f")), report(snap))
    check(len(rows) > 10, "lines")
    out, _ = run("top", "--once", snap, env={"TERM": "nonsense", "COLUMNS": "7"})
    equal(len(out.splitlines()), 40, "lines without a size")
    for columns, width in ("80", 80), ("132", 132), ("", 100):
        equal(max(map(len, once(snap, env={"COLUMNS": columns}))), width, f"width if COLUMNS is {columns!r}")


@test("several hosts in a window within one long run: rows before it tell who has each CPU, as of one host")
def hosts_in_a_window(snap):
    at = 100_000_000_000_000
    with tempfile.TemporaryDirectory() as d:
        files = []
        for host in "ab":
            lines = ["fact arch x86_64", f"fact boot_id {host}", f"fact host {host}", "fact begin_ns 1", f"horizon 0 {at}", f"horizon 1 {at}",
                     f"thread 7 7 1 spin-{host}", f"thread 8 8 1 work-{host}"]
            lines += [f"event {at + ns} {cpu} {what}" for ns, cpu, what in (
                (1000, 0, "sched_switch 0 next_pid=7 prev_state=0"), (1000, 1, "sched_switch 0 next_pid=8 prev_state=0"), (5000, 1, "sched_waking 8 target_pid=8"),
                (9000, 1, "sched_switch 8 next_pid=0 prev_state=1"), (9500, 0, "sched_switch 7 next_pid=0 prev_state=1"))]
            files.append(f"{d}/{host}.flight")
            subprocess.run([f"{sys.argv[1]}/tests/rehearse/make", files[-1]], input="\n".join(lines) + "\n", text=True, check=True)
        run("merge", "-o", f"{d}/both.flight", *files)
        for window in f"{at + 3000}..{at + 6000}", "25%..60%":
            one = [l for l in once(files[0], "--window", window) if "CPU" in l and "#" in l]
            both = [l for l in once(f"{d}/both.flight", "--window", window) if ":CPU" in l[:8]]
            equal(len(one), 2, f"lanes with a task of one host: {one}")
            equal(len(both), 4, f"lanes of two hosts: {both}")
            for line in both:
                lane = re.search("(spin|work)-[ab] [78]#+$", line.strip())
                check(lane, f"{window}: not all of the window is known: {line!r}")


@test("what was not recorded is not 0")
def not_recorded(snap):
    lines = ["fact arch x86_64", "fact boot_id b", "fact begin_ns 1", "horizon 0 1", "thread 7 7 1 work"]
    lines += [f"event {ns} 0 sched_switch {prev} next_pid={to} prev_state=1" for ns, prev, to in ((1000, 0, 7), (5000, 7, 0), (9000, 0, 7))]
    switches = "sched_switch,sched_waking"
    with tempfile.TemporaryDirectory() as d:
        calls = ("calls", "errors", "faults"), ("calls", "faults")
        runs = ("cpu", "on-CPU", "queued", "faults"), ("busy", "on-CPU", "switches", "faults")
        samples = lines[:-3] + ["event 1000 0 cpu_sample 7 ip=1"]
        for of, events, want, (of_task, of_cpu) in ((lines, switches, "-", calls), (lines, switches + ",sys_enter,sys_exit,page_fault_user,page_fault_kernel", "0", calls),
                                                    (samples, "cpu_sample,page_fault_user", "-", runs)):
            file = f"{d}/{len(events)}.flight"
            subprocess.run([f"{sys.argv[1]}/tests/rehearse/make", file], input="\n".join([*of, f"fact events {events}"]) + "\n", text=True, check=True)
            for panel, row, heads in ("tasks", "work", of_task), ("cpus", "0", of_cpu):
                page = once(file, "--size", "200x40", "--panel", panel, "--keys", "f")
                head = next(line for line in page if "faults" in line and "on-CPU" in line)
                line = next(line for line in page[page.index(head) + 1:] if line.split()[:1] == [row])
                # a number ends where its head ends, or the mark of the column that is sorted by
                equal([line[:re.search(f" {re.escape(name)}[v^]?", head).end()].split()[-1] for name in heads], [want] * len(heads), f"{panel}: {head}\n{line}")


@test("no event, one event, 192 CPUs, odd names, several hosts")
def awkward(snap):
    with tempfile.TemporaryDirectory() as d:
        for kind in ("none", "one", "many", "first", "other"):
            subprocess.run([f"{sys.argv[1]}/tests/top/make", kind, f"{d}/{kind}.flight"], check=True)
        run("merge", "-o", f"{d}/both.flight", f"{d}/first.flight", f"{d}/other.flight")
        keys = "f+-wsadtmz[],.ogb" + "nN1234567890hicx" + "\t<>r\tvvvl??"
        for kind in ("none", "one", "many", "both"):
            for name in ("cause", "details", "events", "tasks", "flame", "hist", "info"):
                lines = once(f"{d}/{kind}.flight", "--panel", name, "--keys", keys.replace("g", ""), env={"LC_ALL": "C.UTF-8"})
                check(all(line.isprintable() for line in lines), f"{kind} {name}: what is no text")
        check(any("No events in this window" in line for line in once(f"{d}/none.flight")), "no event is said")
        for window in ("--since", "50h"), ("--until", "2020-01-01T00:00:00"):
            check(any("No events in this window" in line for line in once(f"{d}/both.flight", *window)), f"no event of two hosts: {window}")
        check(any("1 event in" in line for line in once(f"{d}/one.flight")), "one event")
        none = f"{d}/none.flight"
        for args, words in (("symbols",), "nothing needs names"), (("diff", none), "nothing to compare"):
            text = run(*args, none)[0]
            check(words in text, f"{args} says of no event: {text}")
        text = "\n".join(once(f"{d}/both.flight", "--panel", "tasks", "--size", "120x50"))
        check("2 hosts or boots" in text and "first:CPU 0" in text and "other:CPU 1" in text and "flightrec cut --host" in text, text)
        text = "\n".join(once(f"{d}/many.flight", "--panel", "tasks", "--size", "120x250", "--keys", "fv"))
        for name in ("e\\x1b[31mred", "new\\x0aline", "\\xff\\xfe", "rtl\\xe2\\x80\\xae"):
            check(name in text, f"{name} is shown escaped")
        with top(f"{d}/many.flight") as t:
            t.wait("a screen", ready)
            go_to(t, "cpu 191")
            check("CPU 191" in detail(sync(t), "CPU"), "the last CPU")
            go_to(t, "3999")
            check("3999" in detail(sync(t), "task"), "the last task")
            press(t, "\x1b[6~", "\x1b[5~")


def history(at_ms, ran_ms, starts=()):
    """Lines of `rehearse/make`: from at_ms on, each of these tasks of one CPU in turn, for so long; when those began that are not 1 ns old."""
    lines = ["fact arch x86_64", "fact boot_id b", "fact events sched_switch,sched_waking,sched_process_exit", "fact begin_ns 1", f"horizon 0 {at_ms * 1000000}"]
    lines += [f"thread {tid} {tid} {dict(starts).get(tid, 1)} task-{tid}" for tid, _ in ran_ms]
    ns, tids = at_ms * 1000000, [tid for tid, _ in ran_ms]
    lines.append(f"event {ns} 0 sched_switch 0 next_pid={tids[0]} prev_state=0")
    for (tid, ms), to in zip(ran_ms, [*tids[1:], 0]):
        ns += ms * 1000000
        lines.append(f"event {ns} 0 sched_switch {tid} next_pid={to} prev_state=1")
    return lines


def followed(d, panel, keys, *histories, size="120x40"):
    """The screens of snapshots of a session, one after the other; keys are pressed in the first."""
    files = [f"{d}/{len(os.listdir(d)) + i}.flight" for i in range(len(histories))]
    for file, lines in zip(files, histories):
        subprocess.run([f"{sys.argv[1]}/tests/rehearse/make", file], input="\n".join(lines) + "\n", text=True, check=True)
    out = subprocess.run([f"{sys.argv[1]}/tests/top/follow", size, panel, keys, *files], capture_output=True, text=True, check=True).stdout
    return [screen.split("\n") for screen in out.split("=\n")[:-1]]


def marked_line(lines):
    return next((line[1:].split() for line in lines if line.startswith(">")), [None, None])


BEFORE, AFTER = history(100, ((7, 30), (8, 20), (9, 10))), history(200, ((9, 5), (8, 50), (6, 1), (7, 2)))
WITHOUT, BACK = history(300, ((7, 9), (9, 8))), history(400, ((9, 1), (7, 2), (8, 3)))


@test("a session's next snapshot: its table keeps order and selected line, wherever that is now")
def followed_table(snap):
    with tempfile.TemporaryDirectory() as d:
        screens = followed(d, "tasks", "\t_", BEFORE, AFTER, WITHOUT, BACK)
        equal([s[tabs_line(s) + 1].split()[3] for s in screens], ["on-CPUv"] * 4, "order")
        equal([marked_line(s[tabs_line(s):])[1] for s in screens], ["8", "8", "7", "8"], "selected: the second, the first; while it has none, the line that it had")
        screens = followed(d, "tasks", "\t>r_", BEFORE, AFTER)
        equal([s[tabs_line(s) + 1].split()[4] for s in screens], ["queued^"] * 2, "order, turned")
        other = history(400, ((9, 1), (7, 2), (8, 3)), starts=((8, 350000000),))
        equal([marked_line(s[tabs_line(s):])[1] for s in followed(d, "tasks", "\t_", BEFORE, other)], ["8", "8"], "a table's line is of a name and a number")


@test("a session's next snapshot: the same task's line is selected, not another one's of its number; the same window before the end")
def followed_line(snap):
    with tempfile.TemporaryDirectory() as d:
        def chosen(*histories):
            return [marked_line(s) for s in followed(d, "info", "___", *histories)]
        equal([c[:2] for c in chosen(BEFORE, AFTER, WITHOUT, BACK)], [["task-8", "8"], ["task-8", "8"], ["task-7", "7"], ["task-8", "8"]], "lines")
        reused = history(400, ((9, 3), (7, 2), (8, 1)), starts=((8, 350000000),))
        check(chosen(BEFORE, reused)[1][:2] != ["task-8", "8"], "another task of this tid")
        equal([c[:2] for c in (marked_line(s) for s in followed(d, "info", "", BEFORE, AFTER))], [["CPU", "0"]] * 2, "a CPU")
        for keys, same in (("++a", True), ("", False)):
            (from_a, to_a), (from_b, to_b) = (shown("\n".join(s)) for s in followed(d, "info", keys, BEFORE, AFTER))
            if same:
                equal(to_b - from_b, to_a - from_a, "the window's length")
                equal(258000000 - to_b, 160000000 - to_a, "and how long before the end it ends")
            else:
                check(to_b - from_b < to_a - from_a, "the whole one stays the whole one")


@test("a session's next snapshot: what is pressed while it is read counts, not what was before")
def followed_twice(snap):
    with tempfile.TemporaryDirectory() as d:
        zoomed, whole, undone = (shown("\n".join(followed(d, "info", keys, BEFORE, AFTER)[1])) for keys in ("m[z", "", "m[z;b"))
        check(zoomed != whole, f"zoomed: {zoomed}")
        equal(undone, whole, "zoomed out between")
        lines = [marked_line(s)[:2] for s in followed(d, "info", "___;_", BEFORE, WITHOUT, BACK)]
        equal(lines[1:], [["task-9", "9"]] * 2, "another line is selected between, which now is where the one before was not found")
        late = [*AFTER, "event 400000000 0 sched_process_exit 7 exit_code=0 group_dead=0"]
        equal(*(followed(d, "details", "", *files)[-1] for files in ((BEFORE, late, BACK), (BEFORE, BACK))), "the cursor at the end, behind one with a late event of another tier")


@test("a session's title says the moment that is shown, and that it stays, and why")
def followed_title(snap):
    with tempfile.TemporaryDirectory() as d:
        clock = ["clock 160000000 1700000000123000000"]
        titles = [followed(d, "tasks", keys, clock + BEFORE)[0] for keys in ("", "p", "m", "?", "pp")]
        equal([s[0].split("  ")[:3] for s in titles if "keys." not in s[0]], [[" session", "22:13:20.123Z", word] for word in ("live", "paused: p goes on", "held", "live")], "titles")
        check("p pause" in titles[0][-2] and "p go on" in titles[1][-2] and "p             a session: pause" in "\n".join(titles[3]), "keys")
    note = once(snap, "--keys", "p")[-1]
    check("does not change" in note, f"a file: {note}")


def on_a_load():
    with tempfile.TemporaryDirectory() as d:
        snap = f"{d}/load.flight"
        subprocess.run([f"{sys.argv[1]}/tests/report/make_load", snap], check=True)
        main(lambda fn: fn(snap), only=sys.argv[2:])


if __name__ == "__main__":
    on_a_load()
