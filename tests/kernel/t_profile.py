# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
The always-on profile on this kernel: each sample taken is counted once, or as lost, whatever readers and recorders do, and what it counts
are the samples of the ring. Two sessions: one that is spoiled (its tables are full, its readers killed), in which the governor has turned
samples off and on before, and one of which a snapshot is taken when its sampling has ended, so that its ring, its profile and the snapshot
tell of the same samples. What shares and ages, and what goes where room ends, is in tests/unit/test_prof.c, test_due.c, test_sampling.c
and tests/cli.
"""
import contextlib
import functools
import json
import os
import re
import subprocess
import tempfile
import time

import frtest
from frtest import (FLIGHTREC, GOVERNED, MINIMAL, SAMPLED, TMP, at_end, chance, check, dump, end, equal, fr, fr_json, last_of, main, mono_ns,
                    overwritten_since, program, replay, run, shared, test, wait_for)
from recorder import Recorder, kill

PROGRAM = "frshare"
SHARES = ("share_much", "share_little")


def profile(*args):
    """The profile as a dict; its own sums must agree."""
    p = fr_json("profile", *args)
    for w in [p["window"]] + ([p["before"]] if "before" in p else []):
        equal(w["taken"], w["counted"] + w["lost"], "taken = counted + lost")
    stacks = sum(s["hits"] for s in p["stacks"])
    equal(stacks + p["window"]["idle"] + p["window"]["other"], p["window"]["counted"], "hits of stacks, idle and others")
    equal(sum(f["self"] for f in p["functions"]) <= stacks, True, "self hits")
    return p


def of_live(name, *args):
    return profile("-n", name, *args)


def sampled_by():
    """Cycles where perf counts them, else the timer: as doctor says."""
    return next(c["found"] for c in fr_json("doctor")["checks"] if c["what"] == "samples are taken by")


def taken(name):
    return frtest.status(name)["samples"]["taken"]


def problems(name):
    return {e["what"]: e["text"] for e in frtest.status(name)["problems"]}


def stop_sampling(name):
    """Without a link no sample is taken any more: what is counted is final. A link goes a while after its pin."""
    pins = [f"{frtest.SESSIONS}/{name}/{p}" for p in os.listdir(f"{frtest.SESSIONS}/{name}") if p.startswith("link-cpu_sample-")]
    links = [json.loads(run("bpftool", "-j", "link", "show", "pinned", pin).stdout)["id"] for pin in pins]
    for pin in pins:
        os.unlink(pin)
    for link in links:
        wait_for(lambda: run("bpftool", "link", "show", "id", link, status=None).returncode, f"link {link} is gone")
    last = None

    def still():
        nonlocal last
        was, last = last, taken(name)
        return was == last

    wait_for(still, "the samplers end")


@contextlib.contextmanager
def new_stacks():
    """One process after the other: each has addresses of its own, so each of its stacks is new."""
    load = subprocess.Popen(["sh", "-c", "while :; do /bin/true; done"], stdout=subprocess.DEVNULL)
    try:
        yield
    finally:
        load.kill()
        load.wait()


@contextlib.contextmanager
def burning(cnt=1):
    """Processes of the program, which use CPU time in share_much() and in share_little(), until they are put away: their pids."""
    tasks = [subprocess.Popen([program(PROGRAM, "share"), "100000", "70"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
             for _ in range(cnt)]
    try:
        yield [p.pid for p in tasks]
    finally:
        for p in tasks:
            p.kill()
            p.wait()


def busy_stacks(p, comm=PROGRAM):
    return [s for s in p["stacks"] if s["comm"] == comm]


def hits_in(p, name, comm=PROGRAM):
    """Samples of a task in a function that is innermost in user space or called from there."""
    nr = {i for i, f in enumerate(p["functions"]) if f["name"] == name}
    return sum(s["hits"] for s in busy_stacks(p, comm) if nr & set(s["frames"]))


def wait_seen(name, least):
    """Until so many samples of the program are counted."""
    wait_for(lambda: sum(s["hits"] for s in busy_stacks(of_live(name, "--since", "1h", "--no-symbols"))) >= least,
             f"{least} samples of the program", 180)


@contextlib.contextmanager
def keeping(name, *options):
    """A recorder over a session, which it leaves when it ends; it is here when it has said all that it says of itself."""
    dir = tempfile.mkdtemp(dir=TMP)
    r = Recorder(name, dir, "-o", dir, "--keep", *options)
    try:
        wait_for(lambda: "history" in r.said() or not r.alive(), "the recorder has begun")
        check(r.alive(), f"the recorder ended: {r.said()}")
        yield r
    finally:
        kill(r)


def between(name, read):
    """
    What read() tells is of a moment within the call, by a second observer, the session's count of samples taken: it goes ahead of the
    tables, by one sample a CPU at most.
    """
    before = taken(name)
    p = read()
    check(before - os.cpu_count() <= p["taken_ever"] <= taken(name), f"{p['taken_ever']} counted or lost, after {before} were taken")
    return p


GONE = """
#include <time.h>
__attribute__((noinline)) void gone_spins(volatile long n) { while (n--) ; }
int main(void) { while (clock() < CLOCKS_PER_SEC / 2) gone_spins(1000000); }
"""


def gone_program():
    """One that spends half a second in gone_spins(), and ends: a file that no other process executes."""
    file = frtest.path("frgone")
    with open(f"{file}.c", "w") as f:
        f.write(GONE)
    run("gcc", "-O1", "-fno-omit-frame-pointer", "-Wl,--build-id=sha1", "-o", file, f"{file}.c")
    return file


@functools.cache
def ended_one():
    """
    A snapshot of a session whose sampling had ended, its profile, what the session itself showed, its count of idle samples, and a moment
    before the program ran.
    """
    with last_of(*SAMPLED) as name:
        since = mono_ns()
        with keeping(name, *SAMPLED), burning():
            run(gone_program())
            wait_seen(name, 200)
            stop_sampling(name)
            file, live = dump(name), of_live(name, "--since", "1h")
            idle = sum(c["filtered"]["idle"] for c in fr_json("status", "-n", name)["cpus"])
    return file, profile(file, "--since", "1h"), live, idle, since


def as_many(p, hits, rows, gone, what):
    """
    As many hits as the ring had samples, but for those that the profile lost, or had no room for: it says how many. gone: so many records
    are overwritten, which may have been samples of these, or something else.
    """
    lacks = p["lost_ever"] + p["window"]["other"] + p["window"]["stackless"]
    check(rows - lacks <= hits <= rows + gone, f"{what}: {hits} hits, {rows} samples in the ring; without room, or lost: {lacks}; overwritten: {gone}")


@test("the profile counts the samples of the ring: of a program, and of each of its functions as many as replay names")
def same_samples():
    file, p, _, idle, since = ended_one()
    rows = replay(file, "--symbols", "-f", "event == cpu_sample")
    gone, told = overwritten_since(file), p["taken_ever"] - lost_in_ring(file)
    check(len(rows) + idle <= told <= len(rows) + gone + idle, f"{told} taken; {len(rows)} in the ring, {idle} idle, {gone} overwritten")
    as_many(p, p["window"]["idle"], idle, 0, "idle")
    gone = overwritten_since(file, since)  # of the program: none, unless others filled the ring while it ran
    mine = [r for r in rows if r["comm"] == PROGRAM]
    as_many(p, sum(s["hits"] for s in busy_stacks(p)), len(mine), gone, PROGRAM)
    for name in SHARES:
        found = sum(any(f.startswith(name) for f in r["ustack_sym"] or []) for r in mine)
        check(found > 0, f"no sample in {name}")
        as_many(p, hits_in(p, name), found, gone, name)
    check(all(s["frames"] for s in busy_stacks(p)) or p["window"]["stackless"], "each has a stack")
    return f"{len(mine)} samples, {len(busy_stacks(p))} stacks, {gone} overwritten since"


def lost_in_ring(file):
    return sum(sum(t["lost"].values()) for c in fr_json("info", file)["cpus"] for t in c["tiers"] if t["name"] == "main")


@test("a snapshot has the profile of the time before it, the same that the session shows, also when it was cut")
def in_snapshot():
    file, p, live, _, _ = ended_one()
    equal(p["window"]["counted"], live["window"]["counted"], "samples counted")
    check(hits_in(p, "share_much") > 0, "the program is in it, with its functions' names")
    equal(hits_in(p, "share_much"), hits_in(live, "share_much"), "samples of a function")
    info = fr_json("info", file)
    equal(info["cpu_profile"]["taken_ever"], p["taken_ever"], "samples that info tells of")
    equal({p["event"], live["event"], info["samples"]["event"]}, {sampled_by()}, "what took the samples")
    equal(fr_json("diff", "--last", "10s", file), fr_json("profile", "--diff", "--since", "10s", file), "diff of one file")
    check("before" in fr("diff", file).stdout, "diff tells of what was before")
    check("--last is for one file" in fr("diff", "--last", "10s", file, file, status=2).stderr, "diff --last of two files")
    fr("verify", file)
    small = frtest.path("cut.flight")
    fr("cut", "--since", "50%", "-o", small, file)
    equal(profile(small, "--since", "1h")["window"], p["window"], "the profile of a snapshot that was cut")


@test("functions of a program that has ended have names, of a session as of a snapshot")
def of_ended():
    _, p, live, _, _ = ended_one()
    named = [[f["self"] for f in which["functions"] if f["name"] == "gone_spins" and f["module"] == frtest.path("frgone")] for which in (p, live)]
    check(named[0] and named[0][0] > 0, f"the snapshot names none: {[f['name'] for f in p['functions']][:40]}")
    equal(named[1], named[0], "samples of its function, of the session")


@test("folded and perfetto: as many samples as were counted, and json says the same")
def formats():
    file, p, _, _, _ = ended_one()
    busy = sum(s["hits"] for s in p["stacks"])
    lines = fr("profile", file, "--since", "1h", "--to", "folded").stdout.splitlines()
    equal(sum(int(line.rsplit(" ", 1)[1]) for line in lines), busy + p["window"]["other"], "hits of folded lines")
    check(any(line.startswith(f"{PROGRAM};") and "share_much" in line for line in lines), "the program is in it")
    out = frtest.path("profile.pftrace")
    fr("profile", file, "--since", "1h", "--to", "perfetto", "-o", out)
    with open(out, "rb") as f:
        data = f.read()
    equal(packets(data)[66], busy, "PerfSample packets")
    return f"{busy} samples"


def varint(data, at):
    v = shift = 0
    while True:
        b = data[at]
        v |= (b & 0x7f) << shift
        at, shift = at + 1, shift + 7
        if b < 0x80:
            return v, at


def packets(data):
    """How many packets have each field, of a trace that is nothing but packets."""
    cnt, at = {}, 0
    while at < len(data):
        tag, at = varint(data, at)
        equal(tag, 1 << 3 | 2, f"tag of a packet at {at}")
        sz, at = varint(data, at)
        end = at + sz
        while at < end:
            tag, at = varint(data, at)
            cnt[tag >> 3] = cnt.get(tag >> 3, 0) + 1
            v, at = varint(data, at)
            at += v if tag & 7 == 2 else 0
        equal(at, end, "end of a packet")
    return cnt


_spoiled = []


def spoiled():
    """
    The session that is spoiled, while it samples, by one test after the other: its tables fill, readers and recorders of it are killed,
    and it is left without samplers. It is that of the governor's tests, which need it no more.
    """
    if not _spoiled:
        _spoiled.append(frtest.take_shared(GOVERNED))
        at_end(lambda: _spoiled and end(_spoiled.pop()))
    return _spoiled[0]


@test("without a reader tables fill: what finds no room is counted as lost, status says so, and a reader gets the rest")
def full():
    name = spoiled()
    with new_stacks():
        wait_for(lambda: "profile" in problems(name), "a table is full, and status says so")
    said = problems(name)["profile"]
    lost, ever = map(int, re.search(r"(\d+) of (\d+) samples", said).groups())
    check(0 < lost <= ever, said)
    check("flightrec record" in said, said)
    p = between(name, lambda: of_live(name, "--since", "1h"))
    check(p["lost_ever"] >= lost and p["taken_ever"] >= ever, f"{p['lost_ever']} of {p['taken_ever']}, but status said {said}")
    check("profile" in problems(name), "nothing is said when somebody has read them")
    page = fr("profile", "-n", name, "--since", "1h").stdout
    told = int(re.search(r"(\d+) samples? found a full table: shares are of the others", page)[1])
    check(told >= p["lost_ever"], f"{told}, after {p['lost_ever']}")
    text = fr("status", "-n", name).stdout
    check("nobody reads without a recorder" in text and "every 10 s" not in text, text)
    return f"{p['taken_ever']} taken, {p['lost_ever']} lost"


@test("flips without pause, with all CPUs busy: each reading is of its moment, and so is what a snapshot says was taken")
def flips():
    name = spoiled()
    with burning(os.cpu_count()):
        ever = [between(name, lambda: of_live(name, "--no-symbols"))["taken_ever"] for _ in range(8)]
        file = dump(name)
        # Later: it has all that were idle before the snapshot, and hardly more, as the CPUs are busy.
        idle = sum(c["filtered"]["idle"] for c in fr_json("status", "-n", name)["cpus"])
    equal(ever, sorted(ever), "samples counted or lost, of one reading after the other")
    told = fr_json("info", file)["samples"]["taken"]
    check(ever[-1] <= told <= rows_of(file) + idle, f"{told} taken, {rows_of(file)} in the file, {idle} idle")
    return f"{ever[-1] - ever[0]} between readings"


def rows_of(file):
    """Samples that were written: those in the file, those that were overwritten, among other events, and those that found no room."""
    return overwritten_since(file) + lost_in_ring(file) + int(fr("replay", "--count", file, "-f", "event == cpu_sample").stdout)


@test("a reader is killed at any moment: the next one puts it right")
def killed():
    name, rng = spoiled(), chance()
    ever = 0
    for _ in range(25):
        p = subprocess.Popen([FLIGHTREC, "profile", "-n", name, "--json"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(rng.random() / 20)  # some moment: none is wrong
        p.kill()
        p.wait()
        for left in os.listdir("/dev/shm"):
            if left.startswith(f"flightrec-{p.pid}-"):
                frtest.shutil.rmtree(f"/dev/shm/{left}", ignore_errors=True)
        got = between(name, lambda: of_live(name, "--since", "1h", "--no-symbols"))["taken_ever"]
        check(got >= ever, f"{got} counted or lost, after {ever}")
        ever = got
    return f"{ever} samples"


@test("the recorder keeps the profile, says who reads it, and the one after it goes on where it was")
def restart():
    name, ever = spoiled(), 0
    for _ in range(2):
        with keeping(name, *GOVERNED):
            check("read when one fills and every 10 s" in fr("status", "-n", name).stdout, "status does not say who reads")
            wait_for(lambda: of_live(name, "--no-symbols")["taken_ever"] > ever, "it counts on")
        ever = between(name, lambda: of_live(name, "--since", "1h", "--no-symbols"))["taken_ever"]
    return f"{ever} samples"


@test("after all that, when sampling has ended: each sample taken is counted once, or as lost, and is in the ring, or was idle")
def accounts():
    name = spoiled()
    wait_for(lambda: taken(name), "a sample")
    stop_sampling(name)
    _spoiled.clear()  # whoever needs one that samples begins it
    with frtest.ended(name):
        p, file = of_live(name, "--since", "1h"), dump(name)
        idle = sum(c["filtered"]["idle"] for c in fr_json("status", "-n", name)["cpus"])
        equal(p["taken_ever"], taken(name), "samples counted or lost, of those taken")
    equal(p["window"]["taken"], p["taken_ever"], "those in the window of all: none is older than an hour")
    told = fr_json("info", file)["samples"]["taken"]
    equal(told, p["taken_ever"], "samples taken, of which the snapshot tells")
    rows, present = rows_of(file), int(fr("replay", "--count", file, "-f", "event == cpu_sample").stdout)
    # what is overwritten may have been something else
    check(present + idle <= told <= rows + idle, f"{told} taken; {present} in the file, {rows} with what is overwritten, {idle} idle")
    return f"{told} taken, {p['lost_ever']} lost, {present} in the file, {idle} idle"


@test("--cpu-profile no, and a session without samples: no profile, and that is said")
def none():
    for options in (frtest.SAMPLES, MINIMAL):
        name = shared(*options)
        p = fr("profile", "-n", name, status=1)
        check("no profile in" in p.stderr, p.stderr)
        pins = [pin for pin in os.listdir(f"{frtest.SESSIONS}/{name}") if pin.startswith(("profile", "hits"))]
        equal(pins, [], "what takes memory for it")
        p = fr("profile", dump(name), status=1)
        check("no profile in" in p.stderr, p.stderr)


if __name__ == "__main__":
    main()
