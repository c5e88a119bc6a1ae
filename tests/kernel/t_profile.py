# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The always-on profile: exact under flips without pause, true in its shares, in each snapshot, safe from killed readers."""
import contextlib
import json
import math
import os
import signal
import subprocess
import time

import frtest
from frtest import (FLIGHTREC, check, dump, equal, fr, fr_json, helper, main, new_name, recorder, run, session, test, wait_for,
                    wait_said)

SAMPLES = ("-p", "minimal", "-e", "sample")
SHARE = helper("share")


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


@contextlib.contextmanager
def recording(*options):
    """A session with a recorder, which reads tables before other tasks of a busy machine have filled them; gives its name."""
    name = new_name()
    with recorder(name, *SAMPLES, *options):
        yield name


def spend(percent):
    """A process that uses CPU time, so much of it in share_much() and the rest in share_little(), until it is put away."""
    return subprocess.Popen([SHARE, "100000", str(percent)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)


def seen(name, least):
    """Wait until so many samples of it are counted: however long that takes on a busy machine."""
    def hits():
        p = of_live(name, "--since", "1h")
        return hits_of(p, "share", "share_much") + hits_of(p, "share", "share_little") >= least and p

    return wait_for(hits, f"{least} samples of the program", 180)


def put_away(p):
    p.kill()
    p.wait()
    p.stdout.close()


def hits_of(p, comm, name):
    """Samples of a task in a function that is innermost in user space or called from there."""
    nr = {i for i, f in enumerate(p["functions"]) if f["name"] == name}
    return sum(s["hits"] for s in p["stacks"] if s["comm"] == comm and nr & set(s["frames"]))


def stop_sampling(name):
    """Without a link no sample is taken any more: what is counted is final. A link goes a while after its pin."""
    pins = [f"{frtest.SESSIONS}/{name}/{p}" for p in os.listdir(f"{frtest.SESSIONS}/{name}") if p.startswith("link-cpu_sample-")]
    links = [json.loads(run("bpftool", "-j", "link", "show", "pinned", pin).stdout)["id"] for pin in pins]
    for pin in pins:
        os.unlink(pin)
    for link in links:
        wait_for(lambda: run("bpftool", "link", "show", "id", link, status=None).returncode, f"link {link} is gone", 120)
    last = None

    def still():
        nonlocal last
        was, last = last, taken(name)
        return was == last

    wait_for(still, "the samplers end")


@test("70 to 30: functions of a program have the shares of CPU time they used")
def shares():
    with recording("--hz", "199") as name:
        task = spend(70)
        p = seen(name, 500)
        put_away(task)
    a, b = hits_of(p, "share", "share_much"), hits_of(p, "share", "share_little")
    check(abs(a / (a + b) - 0.7) < 0.12, f"share_much: {a} of {a + b} samples, not about 70 %")
    return f"{a / (a + b):.3f} of {a + b} samples"


@test("flips without pause on all CPUs, at 1999 samples a second: each sample is counted once, or as lost")
def flips():
    with session(*SAMPLES, "--hz", "1999") as name:
        load = [subprocess.Popen([SHARE, "60", "50"], stdout=subprocess.DEVNULL) for _ in range(os.cpu_count())]
        for _ in range(8):
            of_live(name)
        stop_sampling(name)
        p = of_live(name, "--since", "1h")
        for task in load:
            task.kill()
            task.wait()
        equal(p["taken_ever"], taken(name), "samples counted or lost, of those taken")
        equal(p["window"]["taken"], taken(name), "the same, in the window of all")
    check(p["taken_ever"] > 100, f"{p['taken_ever']} samples")
    return f"{p['taken_ever']} taken, {p['lost_ever']} lost"


@contextlib.contextmanager
def new_stacks():
    """One process after the other: each has addresses of its own, so each of its stacks is new."""
    load = subprocess.Popen(["sh", "-c", "while :; do /bin/true; done"], stdout=subprocess.DEVNULL)
    try:
        yield
    finally:
        load.kill()
        load.wait()


@test("without a reader tables fill: what finds no room is counted as lost, and a reader gets the rest")
def full():
    with session(*SAMPLES, "--hz", "4999") as name:
        with new_stacks():
            wait_for(lambda: taken(name) > 10000 and "profile" in problems(name), "a table is full, and status says so", 120)
        stop_sampling(name)
        full = problems(name)["profile"]
        text = fr("status", "-n", name).stdout
        p = of_live(name, "--since", "1h")
        equal(p["taken_ever"], taken(name), "samples counted or lost, of those taken")
        check(p["lost_ever"] > 0, "nothing was lost")
        check(f"{p['lost_ever']} of {p['taken_ever']} samples" in full, f"of {p['lost_ever']} status says: {full}")
        check("flightrec record" in full and full in text, text)
        equal(problems(name).get("profile"), full, "what is said when somebody has read them")
        page = fr("profile", "-n", name, "--since", "1h").stdout
        check(f"{p['lost_ever']} samples found a full table: shares are of the others" in page, page[:500])
        check("nobody reads without a recorder" in text and "every 10 s" not in text, text)
    return f"{p['taken_ever']} taken, {p['lost_ever']} lost"


@test("a snapshot has the profile of the time before it, the same that the session shows")
def in_snapshot():
    with recording("--hz", "199") as name:
        task = spend(70)
        seen(name, 50)
        stop_sampling(name)
        file = dump(name)
        live = of_live(name, "--since", "1h")
        put_away(task)
    p = profile(file, "--since", "1h")
    equal(p["window"]["counted"], live["window"]["counted"], "samples counted")
    check(hits_of(p, "share", "share_much") > 0, "the program is in it, with its functions' names")
    equal(hits_of(p, "share", "share_much"), hits_of(live, "share", "share_much"), "samples of a function")
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


@test("a snapshot tells samples taken and expected of one moment: none that came while it was written")
def moment():
    busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(os.cpu_count())]
    try:
        with session("-p", "minimal", "-e", "sample", "--hz", "9999", "-m", "16M") as name:
            file = dump(name)
            # a little later: all CPUs are busy, so hardly any were taken meanwhile
            idle = sum(c["filtered"]["idle"] for c in fr_json("status", "-n", name)["cpus"])
    finally:
        for p in busy:
            p.kill()
            p.wait()
    taken, rows = fr_json("info", file)["samples"]["taken"], int(fr("replay", "--count", file, "-f", "event == cpu_sample").stdout)
    check(0 < taken <= rows + idle, f"{taken} taken, {rows} in the file, {idle} idle")
    return f"{taken} taken, {rows} in the file, {idle} idle"


@test("--diff: what began to burn is hotter than before")
def diff():
    with recording("--hz", "199") as name:
        of_live(name)
        # the pieces of time are ten seconds each: a new one begins with what is read next
        time.sleep(11)
        of_live(name)
        begin = time.monotonic()
        task = spend(5)
        seen(name, 50)
        since = f"{math.ceil(time.monotonic() - begin)}s"
        p = of_live(name, "--diff", "--since", since)
        text = fr("profile", "-n", name, "--diff", "--since", since, "--top", "10000").stdout
        put_away(task)
        of_live(name)
        time.sleep(11)
        of_live(name)
        few = fr("profile", "-n", name, "--diff", "--since", "5s", "--top", "1").stdout.split("Cooler functions\n")[1].splitlines()
    now, before = p["window"]["counted"], p["before"]["counted"]
    check(now > 0 and before > 0, f"{now} samples now, {before} before")
    f = next(f for f in p["functions"] if f["name"] == "share_little")
    check(f["self"] / now > f["self_before"] / before, f"share_little: {f} of {now} and {before}")
    check("share_little" in text.split("Cooler functions")[0], text)
    if "has no stacks" in few[0]:
        few.pop(0)
    check(few[0].lstrip().startswith("-"), f"one is cooler at least, now that it is over: {few}")


@test("folded and perfetto: as many samples as were counted, and json says the same")
def formats():
    with recording("--hz", "199") as name:
        task = spend(70)
        seen(name, 50)
        stop_sampling(name)
        file = dump(name)
        put_away(task)
    p = profile(file, "--since", "1h")
    busy = sum(s["hits"] for s in p["stacks"])
    lines = fr("profile", file, "--since", "1h", "--to", "folded").stdout.splitlines()
    equal(sum(int(line.rsplit(" ", 1)[1]) for line in lines), busy + p["window"]["other"], "hits of folded lines")
    check(any(line.startswith("share;") and "share_much" in line for line in lines), "the program is in it")
    out = frtest.path("profile.pftrace")
    fr("profile", file, "--since", "1h", "--to", "perfetto", "-o", out)
    with open(out, "rb") as f:
        data = f.read()
    equal(packets(data)[66], busy, "PerfSample packets")
    return f"{busy} samples"


@test("a profile larger than its buffer that cannot be written is told once; where nobody reads on there is nothing to tell")
def unwritten():
    with recording("--hz", "1999") as name:
        task = spend(70)
        seen(name, 4000)
        file = dump(name)
        put_away(task)
    command = [FLIGHTREC, "profile", file, "--since", "1h", "--no-symbols", "--to", "perfetto"]
    check(len(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout) > 65536, "it is small")
    with open("/dev/full", "wb") as full:
        p = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    equal((p.returncode, p.stderr), (1, "flightrec: cannot write the output: No space left on device: free some space, or write elsewhere\n"), "on a full disk")
    read, write = os.pipe()
    os.close(read)
    p = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True)
    os.close(write)
    equal((p.returncode, p.stderr), (0, ""), "in a closed pipe")


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


@test("a reader is killed at any moment: the next one puts it right, and nothing is counted twice or missed")
def killed():
    with session(*SAMPLES, "--hz", "1999") as name:
        for i in range(25):
            p = subprocess.Popen([frtest.FLIGHTREC, "profile", "-n", name, "--json"], stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
            time.sleep(0.002 * i)
            p.kill()
            p.wait()
            for left in os.listdir("/dev/shm"):
                if left.startswith(f"flightrec-{p.pid}-"):
                    frtest.shutil.rmtree(f"/dev/shm/{left}", ignore_errors=True)
        stop_sampling(name)
        got = of_live(name, "--since", "1h")
        equal(got["taken_ever"], taken(name), "samples counted or lost, of those taken")
    return f"{got['taken_ever']} samples"


@test("the recorder keeps the profile, and the one after it goes on where it was")
def restart():
    name = new_name()
    with recorder(name, *SAMPLES, "--hz", "499", "--keep") as p:
        wait_for(lambda: of_live(name)["taken_ever"] > 500, "samples are counted")
        p.send_signal(signal.SIGKILL)
        p.wait()
        first = of_live(name, "--since", "1h")["taken_ever"]
        with recorder(name, *SAMPLES, "--hz", "499", "--keep") as q:
            # the last line of what it says of itself: before, it may still be about to make the samplers
            wait_said(q, "history")
            wait_for(lambda: of_live(name, "--since", "1h")["taken_ever"] > first + 200, "the next one counts on")
            stop_sampling(name)
            equal(of_live(name, "--since", "1h")["taken_ever"], taken(name), "samples counted or lost, of those taken")
            q.send_signal(signal.SIGINT)
            q.wait()


@test("--cpu-profile no, and a session without samples: no profile, and that is said")
def none():
    for options in ((*SAMPLES, "--cpu-profile", "no"), ("-p", "minimal")):
        with session(*options) as name:
            p = fr("profile", "-n", name, status=1)
            check("no profile in" in p.stderr, p.stderr)
            pins = [pin for pin in os.listdir(f"{frtest.SESSIONS}/{name}") if pin.startswith(("profile", "hits"))]
            equal(pins, [], "what takes memory for it")
            p = fr("profile", dump(name), status=1)
            check("no profile in" in p.stderr, p.stderr)


@test("the recorder is told when a table fills, and reads it then: most of what would not fit is not lost")
def told():
    name = new_name()
    with recorder(name, *SAMPLES, "--hz", "499") as p:
        with new_stacks():
            wait_for(lambda: taken(name) > 5000, "samples are taken", 120)
        got = of_live(name, "--since", "1h")
        check(got["taken_ever"] > 5000, f"{got['taken_ever']} taken")
        check(got["lost_ever"] < got["taken_ever"] / 4, f"{got['lost_ever']} of {got['taken_ever']} lost")
        check("read when one fills and every 10 s" in fr("status", "-n", name).stdout, "status does not say who reads")
        p.send_signal(signal.SIGINT)
        p.wait()
    return f"{got['taken_ever']} taken, {got['lost_ever']} lost"


if __name__ == "__main__":
    main()
