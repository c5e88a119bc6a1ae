# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Waits: each says how long, in what call, on what, and who ended it; a wait and the switches around it agree."""
import collections
import contextlib
import functools
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from frtest import (FILTERED, LIBRARY, ROOT, WAITS, Failed, Skip, check, dump, equal, fr, fr_json, helper, main, mono_ns, new_name, path, program, replay, run,
                    session, shared, test, wait_for)
from recorder import Recorder, kill

WAIT_MIN_NS = 4_000_000
CALL, USER, KERNEL = 0, 1, 2
UNKNOWN, TASK, SOFTIRQ, IRQ, TIMER = 0, 1, 2, 3, 5
SLEEPING, PREEMPTED = 1, 256
NANOSLEEP = (230, 115)  # x86-64, arm64
TRIES = 20  # so that one delivery, at least, is none of another softirq's, and one look within the budget
ENTRIES, BUDGET, GRAIN_NS = 1 << 16, 1000, 1_000_000  # BUDGET: both parts of it


def waits_of_file(file):
    """What became of the session's waits, up to this snapshot; overwritten: of their records."""
    info = fr_json("info", file)
    return {**info["waits"]["since_begin"],
            "overwritten": sum(t["overwritten"] for c in info["cpus"] for t in c["tiers"] if t["name"] == "wait")}


def unrecorded(before, file):
    """How many long waits since those counts may have no record in a snapshot, of all tasks that the session records."""
    now = waits_of_file(file)
    return sum(now[why] - before[why] for why in ("over", "taken", "lost", "overwritten"))


def waits_since_begin(name):
    file = dump(name)
    try:
        return waits_of_file(file)
    finally:
        os.unlink(file)


def asleep(pid):
    with open(f"/proc/{pid}/stat") as f:
        return ") S" in f.read()


def try_ways():
    """What program ways says of each, the events of its threads and of who woke them, a snapshot, and how many waits have no record."""
    name, dir = shared(*WAITS), tempfile.mkdtemp(dir=os.path.dirname(path("ways")))
    before = waits_since_begin(name)
    p = subprocess.run([program("frt-ways", "ways"), "frt-waiter", dir], stdout=subprocess.PIPE, text=True, check=True)
    said = [json.loads(line) for line in p.stdout.splitlines()]
    file = dump(name)
    return said, replay(file, "--since", str(said[0]["from"] - WAIT_MIN_NS)), file, unrecorded(before, file)


def waits_of(events, w):
    """Its waits in the call, not those in which it only waited for a CPU."""
    return [e for e in events if e["event"] == "wait" and e["tid"] == w["tid"] and e["blocked"] and w["from"] <= e["ts"]]


def fs_object(text):
    """A path as an object: with its file system."""
    if not text.startswith("/"):
        return text
    return run("findmnt", "-n", "-o", "FSTYPE", "-T", text).stdout.split()[0] + ":" + text


def check_around(events, w, e):
    """The switch from it, its waking and the switch to it have the times that the wait was made of."""
    i = events.index(e)
    to = next(x for x in reversed(events[:i]) if x["event"] == "sched_switch" and x["next_pid"] == w["tid"])
    out = next(x for x in reversed(events[:events.index(to)]) if x["event"] == "sched_switch" and x["tid"] == w["tid"])
    woken = [x for x in events if x["event"] == "sched_waking" and x["target_pid"] == w["tid"] and out["ts"] < x["ts"] <= to["ts"]]
    equal(e["off"], to["ts"] - out["ts"], f"{w['way']}: off the CPU, by its switches")
    equal(e["blocked"], woken[-1]["ts"] - out["ts"], f"{w['way']}: blocked, by its waking")
    equal(e["state"], out["prev_state"], f"{w['way']}: state")
    if e["waker"] == TASK:
        equal(e["waker_pid"], woken[-1]["tid"], f"{w['way']}: waker, by its waking")
    # the waking knows the context alone; the stack tells timers, and softirqs in the sender's own call
    check(e["waker"] == woken[-1]["waker"] or (e["waker"], woken[-1]["waker"]) in ((TIMER, IRQ), (TIMER, SOFTIRQ), (TASK, SOFTIRQ)),
          f"{w['way']}: woken by {e['waker']}, by its waking by {woken[-1]['waker']}")


def has_switch(events, w):
    """Has the recording the switch back to it, behind its waking? Without that there is no wait, either."""
    woken = [e["ts"] for e in events if e["event"] == "sched_waking" and e["target_pid"] == w["tid"]]
    return bool(woken) and any(e["event"] == "sched_switch" and e["next_pid"] == w["tid"] and woken[0] <= e["ts"] <= w["until"] for e in events)


def check_way(events, w):
    got = waits_of(events, w)
    equal(len(got), 1, f"{w['way']}: waits of {w['tid']}")
    e = got[0]
    equal(e["off"], e["blocked"] + e["queued"], f"{w['way']}: sum")
    check(e["off"] <= w["until"] - w["from"], f"{w['way']}: waited for {e['off']} ns within {w['until'] - w['from']}")
    equal((e["waited_in"], e["state"], e["abi"]), (CALL, SLEEPING, 0), f"{w['way']}: in a call, asleep")
    check(e["kstack"], f"{w['way']}: kernel stack")
    # a descriptor that the call's memory has is known only if that was looked at, and so was the stack
    known = e["object"] or not w["way"].endswith("poll-fd") or e["ustack_id"]
    equal(e["object"], fs_object(w["object"]) if known else "", f"{w['way']}: object")
    check_around(events, w, e)
    if w["wake"]:
        check(w["seen"] >= w["wake"] or e["blocked"] >= w["wake"] - w["seen"], f"{w['way']}: it slept from {w['seen']} to {w['wake']}")
        nr, *args = w["call"].split()
        equal((e["id"], *(e[f"arg{i}"] for i in range(6))), (int(nr), *(int(a, 16) for a in args[:6])), f"{w['way']}: call")
    return e


def switches_of_all(file):
    """From when to when all CPUs have all their switches: a ring begins and ends at a time of its own, and waits lie in another one."""
    info = fr_json("info", file)
    rings = [t for c in info["cpus"] for t in c["tiers"] if t["name"] == "main"]
    holes = [h["until_ns"] for h in info["holes"] if h["tier"] == "main"]
    return max([*(t["first_ts"] for t in rings), *holes]), min(t["last_ts"] for t in rings)


def check_ways():
    """Returns the ways, those that have no record, and how many waits a softirq in the sender's own call ended."""
    said, events, file, lacks = try_ways()
    begin = switches_of_all(file)[0]
    check(said[-1]["from"] > begin, "the switches of the last way are overwritten")
    said, lent = [w for w in said if w["from"] > begin], 0
    unseen = [w for w in said if not waits_of(events, w)]
    check(len(unseen) <= lacks + sum(not has_switch(events, w) for w in unseen), f"without a wait: {unseen}; that have no record: {lacks}")
    for w in said:
        if w in unseen:
            continue
        e = check_way(events, w)
        if w["waker"] and e["waker"] == SOFTIRQ:
            # on loopback a softirq delivers: in the sender's own call, as a rule, but another may have begun before it
            check(w["way"] in ("tcp-recv", "udp-recv"), f"{w['way']}: woken by a softirq")
            equal(e["waker_pid"], 0, f"{w['way']}: no task is blamed")
        elif w["waker"]:
            equal((e["waker"], e["waker_pid"]), (TASK, w["waker"]), f"{w['way']}: waker")
            lent += w["way"] in ("tcp-recv", "udp-recv")
        else:
            equal((e["waker"], e["waker_pid"]), (TIMER, 0), f"{w['way']}: ended by time")
    check(len(unseen) < len(said), "one was seen, at least")
    return said, unseen, lent


@test("each way to wait: length, call, object, state, kernel stack, and who ended it")
def ways():
    for _ in range(TRIES):
        said, unseen, lent = check_ways()
        if lent:
            return f"{len(said)} ways, {lent} ended by a softirq in the sender's own call" + "".join(f", {w['way']} not recorded" for w in unseen)
    raise Failed(f"of {2 * TRIES} waits for the loopback none was ended by its sender, in whose own call a softirq delivers")


def waits_by_switches(events):
    """Every long wait of a task: (tid, when it ended): (off, blocked), as the switches and wakings have it."""
    left, woken, waits = {}, {}, {}
    for e in events:
        if e["event"] == "sched_waking":
            woken[e["target_pid"]] = e["ts"]
        elif e["event"] == "sched_switch":
            out = left.pop(e["next_pid"], None)
            if out and e["ts"] - out["ts"] >= WAIT_MIN_NS:
                sleeps = out["prev_state"] not in (0, PREEMPTED)
                until = max(woken.get(e["next_pid"], 0), out["ts"]) if sleeps else out["ts"]
                waits[e["next_pid"], e["ts"]] = e["ts"] - out["ts"], until - out["ts"]
            left[e["tid"]] = e
    return waits


@test("every long wait that the switches tell of has its record, and each record its switches")
def agrees_with_switches():
    said, events, file, lacks = try_ways()
    begin, end = switches_of_all(file)
    begin = max(begin, said[0]["from"])
    events = [e for e in events if begin <= e["ts"]]
    # the recorder's own are left out, from the moment on that they are known to be
    own = {e["tid"] for e in events if (e.get("comm") or "").startswith("flightrec")}
    users = {e["tid"] for e in events if e["event"] == "wait" and e["waited_in"] != KERNEL} - own
    want = {k: v for k, v in waits_by_switches(events).items() if k[0] in users and k[1] < end}
    got, to = {}, {}
    for e in events:
        if e["event"] == "sched_switch":
            to[e["cpu"]] = e
        elif e["event"] == "wait" and e["tid"] in users and e["cpu"] in to:  # else its switch was before what all CPUs have
            equal(to[e["cpu"]]["next_pid"], e["tid"], f"the switch before it is to it: {e}")
            check(e["off"] >= WAIT_MIN_NS and e["off"] == e["blocked"] + e["queued"], f"its lengths: {e}")
            if to[e["cpu"]]["ts"] - e["off"] >= begin and to[e["cpu"]]["ts"] < end:
                got[e["tid"], to[e["cpu"]]["ts"]] = e["off"], e["blocked"]
    equal({k: v for k, v in got.items() if want.get(k) != v}, {}, "records that the switches do not tell of")
    missing = [k for k in want if k not in got]
    check(len(missing) <= lacks, f"without a record: {missing}, that have none: {lacks}")
    check(got, "there are some")
    return f"{len(want)} waits, {len(missing)} of them without a record"


# ---- who woke whom, by all outputs ----

def dump_since(name, begun_ns):
    """A snapshot of what is since this moment of the recording's clock: what was earlier would be told by all outputs, too."""
    file = path(f"since-{begun_ns}.flight")
    fr("cut", "--since", str(begun_ns), "-o", file, dump(name))
    return file


@functools.cache
def wakers_of_trace(file):
    """By Perfetto's reader: (who woke, who was woken), of tasks that did."""
    trace = f"{file}.pftrace"
    fr("export", "--to", "perfetto", "--no-symbols", "-o", trace, file)
    return [(by, to) for by, to in json.loads(run("/usr/bin/python3", f"{ROOT}/tests/waits/perfetto.py", trace).stdout)["by_task"]]


@functools.cache
def wakers_of_page(file):
    page = f"{file}.html"
    fr("view", "-o", page, file)
    return [(by, to) for _, by, to in json.loads(run("node", f"{ROOT}/tests/view/model.mjs", page).stdout)["wakes"]]


def wakers_by_outputs(file, woken):
    """By each output: the tids that it names as who woke this task."""
    rep = json.loads(fr("report", "--json", "--no-symbols", "--top", "0", "--task", str(woken), file).stdout)
    text = fr("report", "--no-symbols", "--top", "0", "--task", str(woken), file).stdout
    rows = replay(file, "--pairs", "-f", f"event == sched_switch && next_pid == {woken}")
    chosen = fr("replay", "--json", "-f", f"event == sched_switch && next_pid == {woken} && waker > 0", "--pairs", file).stdout
    top = fr("top", "--once", "--size", "200x400", "--panel", "waits", "-f", f"event == sched_switch && next_pid == {woken}", file).stdout
    said = {
        "report, waits": {w["waker_tid"] for w in rep["waits"] if w["tid"] == woken and w["by"] == "task"},
        "report, states": {s["waker_tid"] for s in rep["focus"]["states"] if s["did"] == "woken" and s["by"] == "task"},
        "report, chain": {link["waker_tid"] for link in rep["focus"]["woken_by"] if link["tid"] == woken and link["by"] == "task"},
        "report, page": {int(n) for n in re.findall(r"is woken by \S+ (\d+)", text)},
        "replay": {row["waker"] for row in rows if "waker" in row},
        "filter": {json.loads(line)["waker"] for line in chosen.splitlines()},
        "top": {int(n) for n in re.findall(rf"^.*? {woken} +\S+ (\d+)  ", top, re.M)},
        "perfetto": {by for by, to in wakers_of_trace(file) if to == woken},
    }
    if shutil.which("node"):
        said["page"] = {by for by, to in wakers_of_page(file) if to == woken}
    return said


@contextlib.contextmanager
def hog_on(cpu):
    """A program that has this CPU for most of the time, and makes no system call."""
    def become():
        os.sched_setaffinity(0, {cpu})
        os.setpriority(os.PRIO_PROCESS, 0, -20)
    p = subprocess.Popen([program("frt-hog", "spin"), "end", "100000"], preexec_fn=become)

    def spins():
        with open(f"/proc/{p.pid}/stat") as f:
            return f.read().rpartition(")")[2].split()[11] != "0"
    try:
        wait_for(spins, "it has used the CPU")
        yield p.pid
    finally:
        p.kill()
        p.wait()


@test("timers that wake tasks beside a hog: no output names the hog, nor goes on through it")
def beside_a_hog():
    cpu, name = min(os.sched_getaffinity(0)), shared(*WAITS)
    by_hog = lambda events, tid: [e for e in events if e["event"] == "sched_waking" and e["target_pid"] == tid and e["tid"] == hog]
    with hog_on(cpu) as hog:
        def slept():
            begun_ns = mono_ns()
            naps = [int(subprocess.run([helper("waits"), "sleep", f"frt-nap{ms}", str(ms), "20"], stdout=subprocess.PIPE, text=True, check=True,
                                       preexec_fn=lambda: os.sched_setaffinity(0, {cpu})).stdout) for ms in (8, 1)]
            file = dump_since(name, begun_ns)
            events = replay(file, "-f", f"event == wait || (event == sched_waking && tid == {hog})")
            return all(by_hog(events, tid) for tid in naps) and (naps, file, events)
        naps, file, events = wait_for(slept, "timers of both come on top of the hog")  # others may have that CPU, now and then
    told = []
    for tid, recorded in zip(naps, (True, False)):
        on_hog = by_hog(events, tid)
        equal({e["waker"] for e in on_hog} - {IRQ, SOFTIRQ}, set(), "by their own word")
        records = [e for e in events if e["event"] == "wait" and e["tid"] == tid and e["blocked"]]
        check(records or not recorded, f"{tid} has no record")
        said = wakers_by_outputs(file, tid)
        equal({k: v for k, v in said.items() if hog in v}, {}, "outputs that name the hog as the waker")
        rep = json.loads(fr("report", "--json", "--no-symbols", "--task", str(tid), file).stdout)
        by = {w["by"] for w in rep["waits"] if w["tid"] == tid}
        check("timer" in by if recorded else by & {"irq", "softirq"}, f"what woke {tid}: {by}")
        equal([link["tid"] for link in rep["focus"]["woken_by"] if link["tid"] == hog], [], "the chain goes on through the hog")
        text = fr("report", "--no-symbols", "--top", "0", "--task", str(tid), file).stdout
        equal([line for line in text.splitlines() if re.search("(woken by|<-).* frt-hog", line) and "frt-nap" in line], [], "lines of the page")
        told.append(len(on_hog))
    lines = [line for line in fr("replay", "-f", f"event == wait && tid == {naps[0]} && waker == timer", file).stdout.splitlines()]
    check(lines, "waits that a timer ended")
    equal([line for line in lines if "waker_pid" in line or "waker_comm" in line], [], "a timer has no task")
    return f"{told[0]} long and {told[1]} short sleeps ended on top of the hog"


@contextlib.contextmanager
def redis():
    """A server of its own, and a connection to it."""
    if not shutil.which("redis-server"):
        raise Skip("redis-server is not installed")
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    p = subprocess.Popen(["redis-server", "--port", str(port), "--save", "", "--bind", "127.0.0.1", "--dir", tempfile.mkdtemp(dir=os.path.dirname(path("r")))],
                         stdout=subprocess.DEVNULL)

    def connection():
        with contextlib.suppress(OSError):
            return socket.create_connection(("127.0.0.1", port))
    try:
        wait_for(lambda: not connection() is None, "the server listens")
        with connection() as c:
            yield p.pid, c
    finally:
        p.kill()
        p.wait()


@test("redis on loopback: its client is the waker, though a softirq delivers")
def loopback():
    name, me = shared(*WAITS), os.getpid()
    with redis() as (server, c):
        begun_ns = mono_ns()
        for _ in range(20):
            time.sleep(2 * WAIT_MIN_NS / 1e9)  # so that the server's wait is a long one
            c.sendall(b"PING\r\n")
            equal(c.recv(100), b"+PONG\r\n", "its answer")
        file = dump_since(name, begun_ns)
    events = replay(file, "-f", f"(event == wait && tid == {server}) || (event == sched_waking && target_pid == {server})")
    waits = [e for e in events if e["event"] == "wait" and e["blocked"]]
    mine = [e for e in waits if (e["waker"], e["waker_pid"]) == (TASK, me)]
    check(mine, f"waits that the client ended: {[(e['waker'], e['waker_pid']) for e in waits]}")
    softirqs = [e for e in events if e["event"] == "sched_waking" and e["tid"] == me and e["waker"] == SOFTIRQ]
    check(softirqs, "the waking itself says: a softirq")
    said = wakers_by_outputs(file, server)
    equal({k: v for k, v in said.items() if me not in v and k not in ("report, states", "report, chain", "report, page")}, {}, "outputs that do not name the client")
    return f"{len(mine)} of {len(waits)} waits of the server"


NAPS = 40
LOOKS = 2  # FR_WAIT_LOOKS_NEW: a task is looked at so often, at least, from one long wait on


def check_told(file, tid, lacks):
    """Each long sleep of the task that the switches tell of has a record, but for as many as are counted to have none."""
    events = replay(file, "-f", f"(event == sched_switch && (tid == {tid} || next_pid == {tid})) || (event == sched_waking && target_pid == {tid}) || "
                    f"(event == wait && tid == {tid})")
    begin = switches_of_all(file)[0]
    slept = [off for (_, at), (off, blocked) in waits_by_switches(events).items() if blocked and at - off >= begin]
    told = [e["off"] for e in events if e["event"] == "wait" and e["blocked"] and e["ts"] - e["off"] >= begin]
    check(len(slept) - lacks <= len(told) <= len(slept), f"records: {told}; sleeps: {slept}; waits without a record: {lacks}")


def naps(kind):
    """What the program says of itself, its naps' records, how often no stack was taken for lack of budget, and a snapshot."""
    name = shared(*WAITS)
    before = waits_since_begin(name)
    with subprocess.Popen([program(f"frt-{kind}", "naps"), kind, str(NAPS), str(2 * WAIT_MIN_NS // 1_000_000)], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as p:
        said, file = json.loads(p.stdout.readline()), dump(name)
    equal(p.returncode, 0, "its exit status")
    # once it is woken, it may have to wait for a CPU in that call again; and who had to wait for one before it slept may sleep too briefly
    rows = replay(file, "--symbols", "-f", f"event == wait && tid == {said['tid']} && id == nanosleep && blocked > 0")
    check_told(file, said["tid"], unrecorded(before, file))
    check(0 < len(rows) <= NAPS, f"records: {len(rows)} of {NAPS} naps")
    return said, rows, waits_of_file(file)["unlooked"] - before["unlooked"], file


def often_away(file, tid, rows):
    """Of these records of waits those before which the task had left its CPU more often, since it was last told of, than it is looked at."""
    events = replay(file, "-f", f"(event == wait || event == sched_switch) && (tid == {tid} || next_pid == {tid})")
    begin, often, left = switches_of_all(file)[0], set(), 0
    for e in events:
        if e["event"] == "sched_switch":
            left += e["tid"] == tid
        else:
            if left > LOOKS or e["ts"] - e["off"] < begin:
                often.add(e["ts"])
            left = 0
    return [e for e in rows if e["ts"] in often]


def check_user_stacks(kind, functions):
    """All naps but the first have these functions, innermost first, or it is counted why not."""
    for _ in range(TRIES):  # others may use up the looks
        said, rows, unlooked, file = naps(kind)
        if any(e["ustack_id"] for e in rows):
            break
    bare, often = [e for e in rows if not e["ustack_id"]], often_away(file, said["tid"], rows)
    check(len(bare) <= 1 + unlooked + len([e for e in bare if e in often]),
          f"{len(bare)} of {len(rows)} have no user stack, {unlooked} were beyond the budget, before {len(often)} it was away more often")
    for e in rows:
        for nr, function in enumerate(functions if e["ustack_id"] else ()):
            begin, end = said[function]
            check(begin <= e["ustack"][nr] - (nr > 0) < end, f"frame {nr} is in {function}: {e['ustack_sym']}, {said}")
            check(e["ustack_sym"][nr].startswith(f"{function}+"), f"named: {e['ustack_sym']}")
    return said, rows, file


@test("user stacks of waits: with frame pointers all functions of a program that waits again and again, without them the innermost one")
def user_stacks():
    said, rows, file = check_user_stacks("framed", ["nap", "work"])
    bare_said, bare_rows, _ = check_user_stacks("bare", ["bare"])
    equal(max(len(e["ustack"] or []) for e in bare_rows), 1, "a register that holds no frame gives none")
    rep = json.loads(fr("report", "--json", "--task", str(said["tid"]), file).stdout)
    sums = [s for s in rep["long_waits"]["task"]["sums"] if s["call"] == "nanosleep"]
    # a sum shows where its longest one was; that may be one in which it only had to wait for a CPU
    with_stack = {e["ts"] for e in replay(file, "-f", f"event == wait && tid == {said['tid']}") if e["ustack_id"]}
    equal([s["user"] and s["user"][:2] for s in sums], [["nap", "work"] if s["longest_ts"] in with_stack else None for s in sums], f"report: {sums}")
    page = fr("report", "--task", str(said["tid"]), file).stdout
    # it shows the three longest, and the longest of each sum
    shown = [w["ts"] for w in rep["long_waits"]["task"]["longest"][:3]] + [s["longest_ts"] for s in sums]
    equal(bool(re.search(r", by nap < work", page)), any(ts in with_stack for ts in shown), "the report's page")
    folded = [line for line in fr("export", "--to", "folded", "--off-cpu", file).stdout.splitlines() if line.startswith("frt-framed;")]
    check(any(re.search(r";nanosleep;.*main;work;nap;.*nanosleep", line) for line in folded), f"folded: the program above the kernel: {folded}")
    # a kernel thread has none
    equal([e for e in replay(file, "-f", "event == wait && waited_in == kernel") if e["ustack_id"]], [], "user stacks of kernel threads")
    return f"{len(rows)} and {len(bare_rows)} naps"


POLLS = 200  # of one CPU in a moment: many more than it has looks


@test("beyond the budget of looks at user stacks it is still known which descriptor poll() waits for")
def polls():
    name = shared(*WAITS)
    before = waits_since_begin(name)
    with subprocess.Popen([program("frt-polls", "polls"), str(POLLS), str(20 * WAIT_MIN_NS // 1_000_000)], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as p:
        said, file = json.loads(p.stdout.readline()), dump(name)
    equal(p.returncode, 0, "its exit status")
    rows = replay(file, "-f", f"event == wait && pid == {p.pid} && id == poll && blocked > 0")
    lacks = unrecorded(before, file)
    check(POLLS - lacks <= len(rows) <= POLLS, f"records: {len(rows)} of {POLLS}, waits without a record: {lacks}")
    lost = [e for e in rows if e["polled_fd"] != said["fd"]]
    lost = [e for e in lost if e not in often_away(file, e["tid"], [e])]
    equal([(e["tid"], e["polled_fd"]) for e in lost], [], f"of {len(rows)} waits, those whose descriptor is not {said['fd']}")
    bare = [e for e in rows if not e["ustack_id"]]
    return f"{len(rows)} waits, {len(bare)} of them without a user stack"


ROUNDS = 4


def locks(name, *inside):
    """What the program says of its locks, records of its threads' waits in futex(), and a snapshot with them."""
    exe = program("frt-locks", "locks")
    p = subprocess.run([*inside, exe, str(ROUNDS), str(2 * WAIT_MIN_NS // 1_000_000)], stdout=subprocess.PIPE, text=True, check=True)
    said, file = [json.loads(line) for line in p.stdout.splitlines()], dump(name)
    rows = replay(file, "-f", 'event == wait && id == futex && blocked > 0 && (comm ~ "wants *" || comm ~ "holds *")')
    return said, rows, file


def of_lock(rows, w):
    return [e for e in rows if e["comm"] == f"wants {w['lock']}" and w["from"] <= e["arg0"] < w["until"]]


def check_owners(said, rows):
    """Where the memory says so, the holder is named in each wait of which the program was looked at; nobody is anywhere else."""
    named = 0
    for w in said:
        for e in of_lock(rows, w):
            # beyond the budget of looks there is no stack, but the memory was read; who was away too often was not looked at
            looked = e["ustack_id"] or e["owner_pid"]
            holder = f"holds {w['lock']}" if w["says"] and looked else None
            equal(e["owner_comm"] if e["owner_pid"] else None, holder, f"who holds {w['lock']}: {e}")
            named += bool(e["owner_pid"])
    others = [e for e in rows if not any(e in of_lock(rows, w) for w in said)]
    # a condition's mutex is its signaller's until that goes on, which takes a while where others have the CPUs
    equal([e for e in others if e["owner_pid"] and (e["comm"], e["owner_comm"]) != ("wants cond", "holds cond")], [], "who holds a barrier")
    return named


@test("who holds the lock that is waited for: pthread mutexes of all kinds, a writer of a rwlock; of one of readers, conditions and memory that lies, nobody")
def owners():
    name = shared(*WAITS)
    missing = None
    for _ in range(TRIES):  # who had to leave its CPU before, too often, was not looked at
        said, rows, file = locks(name)
        rows = [e for e in rows if e["ts"] >= 0 and any(e["tid"] in (w["waiter"], w["holder"]) for w in said)]
        check_owners(said, rows)
        for w in said:
            equal({e["owner_pid"] for e in of_lock(rows, w)} - {0}, {w["holder"]} if any(e["owner_pid"] for e in of_lock(rows, w)) else set(),
                  f"its tid: {w}")
        nameless = {w["lock"] for w in said if w["says"] and not any(e["owner_pid"] for e in of_lock(rows, w))}
        missing = nameless if missing is None else missing & nameless
        if not missing:
            break
    equal(missing, set(), "locks of which no wait has a holder")
    w = said[0]
    rep = json.loads(fr("report", "--json", "--task", str(w["waiter"]), file).stdout)["long_waits"]["task"]["longest"]
    told = {x["ts"]: (x["owner_tid"], x["owner_comm"]) for x in rep}
    for e in of_lock(rows, w):
        if e["ts"] in told:
            equal(told[e["ts"]], (e["owner_pid"], e["owner_comm"]) if e["owner_pid"] else (None, None), "report: who held it")
    page = fr("report", "--task", str(w["waiter"]), file).stdout
    # it shows the three longest, and the longest of each sum
    check("held by holds normal/" in page or not any(x["owner_tid"] for x in rep[:3]), "the report's page")
    check(set(re.findall(r"held by holds normal/(\d+)", page)) <= {str(w["holder"])}, "and nobody else")
    return f"{sum(bool(e['owner_pid']) for e in rows)} of {len(rows)} waits"


@test("who holds a lock in another pid namespace: the thread that the process means, by its tid here")
def owners_inside():
    name = shared(*WAITS)
    if run("unshare", "--pid", "--fork", "--mount-proc", "true", status=None).returncode:
        raise Skip("no pid namespace to be had")
    for _ in range(TRIES):
        said, rows, _ = locks(name, "unshare", "--pid", "--fork", "--mount-proc")
        rows = [e for e in rows if e["ts"] >= 0]
        check(said[0]["holder"] < 100, f"tids of a namespace of its own: {said[0]}")
        mine = rows[-1]["pid"]
        # 1 is a thread of this process
        rows, said = [e for e in rows if e["pid"] == mine and e["comm"] != "wants init"], [w for w in said if w["lock"] != "init"]
        if check_owners(said, rows):
            break
    by = {(e["owner_comm"], e["owner_pid"]) for e in rows if e["owner_pid"]}
    check(by, "some holder is named")
    check(all(pid >= 100 for _, pid in by), f"holders by their tids here: {by}")
    return f"{len(by)} holders"


def fork_at(pid, *args):
    """A program with this pid; None: another one got it."""
    with open("/proc/sys/kernel/ns_last_pid", "w") as f:
        f.write(str(pid - 1))
    p = subprocess.Popen(args)
    if p.pid == pid:
        return p
    p.kill()
    p.wait()
    return None


@contextlib.contextmanager
def many_pids():
    """Pids that do not end before two can share an entry."""
    with open("/proc/sys/kernel/pid_max") as f:
        was = f.read()
    try:
        if int(was) < 4 * ENTRIES:
            with open("/proc/sys/kernel/pid_max", "w") as f:
                f.write(str(4 * ENTRIES))
        yield
    finally:
        with open("/proc/sys/kernel/pid_max", "w") as f:
            f.write(was)


@test("two tasks that share an entry of the table: one wait is lost, and counted, the other is right")
def shares_an_entry():
    with many_pids():
        share_an_entry(shared(*WAITS))


def share_an_entry(name):
    before = waits_since_begin(name)
    for _ in range(50):
        first = subprocess.Popen(["sleep", "1000"])
        wait_for(lambda: asleep(first.pid), "it sleeps")
        at = first.pid + ENTRIES if first.pid < 3 * ENTRIES else first.pid - ENTRIES
        other = fork_at(at, "sleep", "0.05")
        if other:
            break
        first.kill()
        first.wait()
    else:
        raise Skip("others took the pid each time")
    other.wait()
    first.kill()
    first.wait()
    file = dump(name)
    events = replay(file, "-f", f"(event == wait || event == sched_switch) && (tid == {first.pid} || tid == {other.pid})")
    sleeps = [e for e in events if e["event"] == "wait" and e["tid"] == other.pid and e["state"] == SLEEPING and e["off"] >= 50_000_000]
    equal(len(sleeps), 1, "the other one's sleep")
    equal(sleeps[0]["waker_pid"], 0, "it was time that ended it")
    equal([e for e in events if e["event"] == "wait" and e["tid"] == first.pid and e["state"] == SLEEPING and e["off"] >= 50_000_000], [],
          "the first one's sleep is not known")
    check(fr_json("info", file)["waits"]["since_begin"]["taken"] > before["taken"], "entries taken are counted")


def all_stopped(pgid):
    """The threads of a process group once all are stopped, else None."""
    tids = [int(tid) for pid in os.listdir("/proc") if pid.isdigit() and os.getpgid(int(pid)) == pgid for tid in os.listdir(f"/proc/{pid}/task")]
    states = [open(f"/proc/{tid}/stat").read().rpartition(")")[2].split()[0] for tid in tids]
    return tids if tids and set(states) == {"T"} else None


def sums_of(waits):
    """Without names: a report has that of the time, info the last one."""
    return [*([s[k] for k in ("tid", "call", "count", "off_ns", "blocked_ns")] for s in waits["over_by"]), *waits["over_rest"].values()]


def switches_from(tid):
    with open(f"/proc/{tid}/status") as f:
        return sum(int(n) for n in re.findall(r"voluntary_ctxt_switches:\s*(\d+)", f.read()))


@test("beyond the budget waits are not recorded, but counted and summed by task and call, each once; -e wait alone records waits",
      own="each wait is one, however short, so that there are more than the budget has")
def budget():
    with session("-p", "minimal", "-e", "-sched", "-e", "wait", "--wait-min", "1ns", "-m", "8M") as name:
        p = subprocess.Popen([helper("pingpong"), "100000000"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            wait_for(lambda: waits_since_begin(name)["over"] > 100, "more waits than the budget has")
            os.killpg(p.pid, signal.SIGSTOP)
            tids = wait_for(lambda: all_stopped(p.pid), "it stands still")
            file = dump(name)
            away = {tid: switches_from(tid) for tid in tids}
            live = fr_json("status", "-n", name)["waits"]
        finally:
            os.killpg(p.pid, signal.SIGKILL)
            p.wait()
    events = replay(file)
    equal({e["event"] for e in events} & {"sched_switch", "sched_waking"}, set(), "events of sched")
    by_cpu = collections.defaultdict(list)
    for e in events:
        if e["event"] == "wait":
            by_cpu[e["cpu"]].append(e["ts"])
    check(by_cpu, "there are waits")
    for cpu, ts in by_cpu.items():
        for i in range(len(ts) - 2 * BUDGET):
            check(ts[i + 2 * BUDGET] - ts[i] >= 1_000_000_000 - GRAIN_NS, f"CPU {cpu}: {2 * BUDGET + 1} records within a second")
    check("beyond the budget" in fr("info", file).stdout, "info says so")
    small, joined = path("over-small"), path("over-joined")
    fr("cut", "--since", "99%", "-o", small, file)
    fr("merge", "-o", joined, file, small)
    waits = fr_json("info", file)["waits"]
    for of in (waits, live):
        counts = of.get("since_begin", of)
        sums = [*of["over_by"], of["over_rest"]]
        equal((sum(s["count"] for s in sums), sum(s["off_ns"] for s in sums)), (counts["over"], counts["over_ns"]), "the sums by task and call, and the rest")
        check(all(0 <= s["blocked_ns"] <= s["off_ns"] for s in sums), f"blocked for less than they were away: {sums}")
    rest = waits["over_rest"]["count"]  # of tasks without a place, where others wait much: they may be those that follow
    recorded, over = collections.Counter(e["tid"] for e in events if e["event"] == "wait"), collections.Counter()
    for s in waits["over_by"]:
        over[s["tid"]] += s["count"]
    for tid, cnt in away.items():  # the last one goes on; of a few the program did not see how they ended: it was not run, or no time passed on this clock
        check(0.9 * (cnt - 1) - rest < recorded[tid] + over[tid] < cnt,
              f"{tid} left {cnt} times, as the kernel counts: {recorded[tid]} records, {over[tid]} beyond, {rest} without a place")
    check({(s["comm"], s["call"]) for s in waits["over_by"] if s["tid"] in away} >= {("pingpong", "read")}, f"by name and call: {waits['over_by'][:9]}")
    others = [fr_json("info", other)["waits"] for other in (small, joined)] + [fr_json("report", file)["long_waits"]]
    equal([sums_of(other) for other in others], 3 * [sums_of(waits)], "the same when it was cut or merged, and in the report")
    check("beyond the budget, by task and call: " in fr("report", file).stdout, "as text")


# Server sleeps for a byte, works at it (a sleep), answers; twice. Client, who says when server sleeps, asks within a request, and then without one.
REQUEST = """
import ctypes, os, sys, time
fr, request = ctypes.CDLL(sys.argv[1]), ctypes.c_uint64(int(sys.argv[2]))
(ask, asked), (answer, answered) = os.pipe(), os.pipe()
server = os.fork()
if not server:
    open("/proc/self/comm", "w").write("frt-server")
    for i in range(2):
        os.read(ask, 1)
        time.sleep(0.02)
        os.write(answered, b"x")
    os.read(ask, 1)
    os._exit(0)
open("/proc/self/comm", "w").write("frt-client")

def sleeps():
    while ") S" not in open(f"/proc/{server}/stat").read() or open(f"/proc/{server}/syscall").read().split()[:2] != ["0" if os.uname().machine == "x86_64" else "63", hex(ask)]:
        time.sleep(0.001)
    time.sleep(0.02)

for i in range(2):
    sleeps()
    if not i:
        fr.flightrec_begin(b"request", request)
    os.write(asked, b"x")
    os.read(answer, 1)
    if not i:
        fr.flightrec_end(b"request", request)
sleeps()
os.kill(server, 9)
os.waitpid(server, 0)
print(os.getpid(), server)
"""


def request_of(i):
    """The legs and waits of a request of two processes, and how many long waits had no record."""
    name, id = shared(*WAITS), os.getpid() << 32 | i
    before = waits_since_begin(name)
    client, server = map(int, run("/usr/bin/python3", "-S", "-c", REQUEST, LIBRARY, str(id)).stdout.split())
    file = dump(name)
    said = fr_json("report", "--request", str(id), file)
    ours = [x for x in said["legs"] if x["tid"] in (client, server)]
    waits = [(x["tid"], x["wait"]) for x in said["path"] if x["did"] == "wait" and x["tid"] in (client, server)]
    return file, client, server, said, ours, waits, unrecorded(before, file)


@test("a request that one process marks is followed into another, which it wakes by a pipe, through what that one waits for, to where it sleeps for the next")
def request():
    for i in range(TRIES):
        file, client, server, said, legs, waits, missing = request_of(i)
        if not missing and not any(x["events_missing"] for x in legs):
            break
    else:
        raise Skip("in each try long waits had no record, beyond their budget, or events are missing")
    equal([(x["tid"], x["how"], x["followed"], x["ended_by"]) for x in legs], [(client, "marked", False, "end"), (server, "woken", True, "wait")], f"legs: {said}")
    equal(said["legs"][legs[1]["from"] - 1]["tid"], client, "who woke it")
    long = {(tid, w["call"], w["about"] and w["about"].partition(":")[0], w["waker"], w["waker_tid"]) for tid, w in waits if w["told"]}
    check({(client, "read", "pipe", "task", server), (server, "clock_nanosleep", "a timer", "timer", None)} <= long, f"waits: {said}")
    events = replay(file, "-f", f"event ~ \"mark:*\" && pid == {client} || event == sched_waking && pid == {client} && target_pid == {server}")
    begin, end = (e["ts"] for e in events if e["event"].startswith("mark:"))
    wakes = [e["ts"] for e in events if e["event"] == "sched_waking" and begin < e["ts"] < end]
    equal([x["begin_ns"] for x in legs], [begin, wakes[0]], "as another reader has them")
    equal(legs[0]["end_ns"], end, "and its end")


@test("profile --off-cpu of a session and of a snapshot of it: the same blocked time by program, call and stacks")
def profiled():
    name, nap = shared(*WAITS), program("frt-blocked", "waits")
    run(nap, "sleep", "frt-blocked", 8, 5)
    of_session = fr("profile", "--off-cpu", "-n", name, "--since", "1h", "--to", "folded").stdout
    file = dump(name)
    of_file = fr("profile", "--off-cpu", "--since", "1h", "--to", "folded", file).stdout
    naps = [sorted(line for line in said.splitlines() if line.startswith("frt-blocked;clock_nanosleep;")) for said in (of_session, of_file)]
    equal(naps[0], naps[1], "of the session and of its snapshot")
    waits = [e for e in replay(file, "-f", 'event == wait && comm == "frt-blocked"') if e["blocked"]]
    equal(sum(int(line.rpartition(" ")[2]) for line in naps[0]), sum(e["blocked"] for e in waits if e["id"] in NANOSLEEP), "as its records say")
    check(any("hrtimer_nanosleep" in line for line in naps[0]), f"with names of the kernel's functions: {naps[0]}")
    check(re.search(r"(?m)^Blocked: session '.*$", fr("profile", "--off-cpu", "-n", name).stdout), "as text")


HOUR = ("-p", "minimal", "-e", "wait", "-e", "sample", "--wait-min", "1us", "-m", "2M", "--subbuf", "8K", "--tier", "wait=64K", "-f", 'comm == "pingpong"')
HELD = 600  # records that a CPU's ring of so many bytes has at most


def written(name):
    return fr_json("status", "-n", name)["waits"]["written"]


def of_hour(name):
    """The hour as the recorder added it up: as text, and how many waits that are, those that were overwritten too; "", 0: not yet."""
    text = fr("profile", "--off-cpu", "-n", name, "--since", "1h", "--top", "10000").stdout
    numbers = [int(n.replace(",", "")) for n in re.findall(r"(?m)^([\d,]+) waits? (?:of at least|since the session began)", text)]
    return (text, sum(numbers)) if "as the recorder added it up" in text else ("", 0)


@test("a recorder adds up where tasks were blocked: each wait once, or counted as overwritten, whichever recorder, also of the time that the ring has lost",
      own="few records that are overwritten all the time, which a recorder reads, and one after it")
def hour():
    dir = tempfile.mkdtemp(dir=os.path.dirname(path("hour")))
    with session(*HOUR) as name:
        p = subprocess.Popen([helper("pingpong"), "100000000"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            for _ in range(2):  # without a recorder first, for longer than the ring goes back
                first = written(name)
                os.killpg(p.pid, signal.SIGCONT)
                wait_for(lambda: written(name) > first + 2 * HELD * os.cpu_count(), "more than the ring holds")
                r = Recorder(name, dir, "-o", dir, "--keep", *HOUR)
                try:
                    wait_for(lambda: of_hour(name)[1] > first, lambda: f"it adds up as it begins: {r.said()}")
                    begun = written(name)
                    wait_for(lambda: written(name) > begun, "more that only its end can add")
                    os.killpg(p.pid, signal.SIGSTOP)
                    wait_for(lambda: all_stopped(p.pid), "it stands still")
                    equal(r.end(), 0, f"it ends: {r.said()}")
                    text, cnt = of_hour(name)
                    equal(cnt, written(name), "read or overwritten, of those that were written")
                finally:
                    kill(r)
            check(re.search(r"(?m)^ +\S+ \S+  pingpong\n +in .*pipe_read", text), f"where it was blocked: {text}")
            file = dump(name)
            text = of_hour(name)[0]
            equal(fr("profile", "--off-cpu", "--since", "1h", "--top", "10000", file).stdout.splitlines()[1:], text.splitlines()[1:], "its snapshot says the same")
        finally:
            os.killpg(p.pid, signal.SIGKILL)
            p.wait()


@test("--wait-min: needs waits; 0 records none, and costs nothing")
def none():
    p = fr("record", "-n", new_name(), "-o", path("none"), "-p", "minimal", "--wait-min", "5ms", "--unattended", status=None)
    equal((p.returncode, "add -e wait" in p.stderr), (2, True), f"refused: {p.stderr}")
    file = dump(shared(*FILTERED))
    check("waits" not in fr_json("info", file), "no waits")
    equal(replay(file, "-f", "event == wait"), [], "no records")


if __name__ == "__main__":
    main()
