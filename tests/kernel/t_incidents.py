# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The incident log: what is recorded, exactly, whoever else dies on this machine; what is saved, once, whoever is killed."""
import datetime
import json
import os
import re
import signal
import shutil
import subprocess
import tempfile
import time

from frtest import (MINIMAL, TINY, TMP, chance, check, dump, ended, equal, fr, fr_json, main, new_name, path, program, run, shared,
                    small_memory, status, test, wait_for)
from recorder import Recorder, configured, kill

QUIET = ("-p", "minimal", "-e", "-sched", "-m", "1M")


SUM = 2  # flags: one record of many
BURST = 16  # equal deaths that have a record each


def new_dir():
    return tempfile.mkdtemp(dir=TMP)


def lines(out):
    return [json.loads(line) for line in out.splitlines()]


def incidents(*args, **kw):
    return lines(fr("incidents", "--json", *args, **kw).stdout)


def of(found, kind, comm):
    return [i for i in found if i["kind"] == kind and i["comm"] == comm]


def cnt_of(found):
    """How many incidents these records stand for."""
    return sum(i["count"] for i in found)


def account(name):
    return status(name)["incidents"]


def check_account(name, found, before):
    """
    What the log says of itself since this account of it, when all was saved: recorders of other tests save to their own directories.
    Nobody records, so showing what was found has saved it; who died since, as others do on this machine, is in the log, and shown the
    next time.
    """
    a, first = account(name), before["recorded"]
    equal((a["saved"] - before["saved"], a["skipped"]), (len(found), before["skipped"]), f"saved, and never finished: {a}, {before}")
    now = [i for i in incidents("-n", name) if i["session"] == name and first <= i["seq"] < a["recorded"]]
    equal(len(now), a["recorded"] - first, f"recorded = saved + in the log: {a}, {before}")


def check_whole(found, first):
    """Each number of a session's life from this one on once, none missing between."""
    lives = {}
    for i in found:
        lives.setdefault((i["boot_id"], i["epoch"]), []).append(i["seq"])
    for life, seqs in lives.items():
        equal(sorted(seqs), list(range(first, max(seqs) + 1)), f"numbers of {life}")


@test("signals: programs that die in parallel on all CPUs, each counted once, with where and why; threads, statuses and handled ones do not count")
def parallel():
    file, cnt = program("fri-par"), 4 * os.cpu_count()
    name = shared(*MINIMAL)
    incidents("-n", name)  # what is in the log is saved: there is room
    before = account(name)
    procs = [subprocess.Popen([file, "25"], stdout=subprocess.PIPE, text=True) for _ in range(cnt)]
    died = sum(int(p.communicate()[0]) for p in procs)
    term = subprocess.Popen(["/bin/sleep", "1000"])
    term.terminate()
    term.wait()
    subprocess.run(["/bin/sh", "-c", "trap 'exit 3' TERM; kill $$; exit 4"])
    found = [i for i in incidents("-n", name) if i["session"] == name and i["seq"] >= before["recorded"]]
    check_account(name, found, before)
    equal(died, 25 * cnt, "died")
    mine = of(found, "signal", "fri-par")
    equal(cnt_of(mine), died, "incidents")
    alone = [i for i in mine if not i["flags"]]
    check(len(alone) >= BURST, f"{len(alone)} of {died} have a record of their own")
    equal(len({(i["pid"], i["start_ns"]) for i in alone}), len(alone), "processes")
    equal({(i["sig"], i["code"], i["address"], i["uid"], i["flags"] & ~SUM, i["sender"]) for i in mine}, {(11, 1, "0x10", 0, 0, None)}, "what they say")
    check(all(i["text"].endswith("/fri-par") and i["ip"] != "0x0" and i["wall_ns"] for i in mine), mine[0])
    equal([(i["sig"], i["pid"]) for i in of(found, "signal", "sleep") if i["pid"] == term.pid], [(15, term.pid)], "terminated")
    check_whole(found, before["recorded"])
    return f"{died} of {len(found)}"


@test("who sent the signal: another process, not the kernel nor itself, unless its handler did; of the one that it died of")
def senders():
    own = "import os, signal; signal.signal(15, lambda *a: None); print(flush=True); os.kill(os.getpid(), {}); signal.pause(); signal.pause()"
    again = "import os, signal; signal.signal(15, lambda *a: (signal.signal(15, 0), os.kill(os.getpid(), 15))); print(flush=True); signal.pause()"
    many = "import signal, threading; t = threading.Thread(target=signal.pause, daemon=True); t.start(); print(flush=True); t.join()"

    def victim(code):
        p = subprocess.Popen(["/usr/bin/python3", "-S", "-c", code], stdout=subprocess.PIPE)
        p.stdout.readline()
        return p

    def send(sig, *victims):
        """By a shell: its pid."""
        sh = subprocess.Popen(["/bin/sh", "-c", f"kill -{sig} {' '.join(str(v.pid) for v in victims)}; :"])
        sh.wait()
        return sh.pid

    name = shared(*MINIMAL)
    alone, handles, raises, threads = victim(own.format(9)), victim(own.format(15)), victim(again), victim(many)
    sleeps = [subprocess.Popen(["/bin/sleep", "1000"]) for _ in range(2)]
    send(15, handles)
    by = {}
    by[handles.pid] = send(9, handles)
    by[threads.pid] = by[sleeps[0].pid] = send(9, threads, sleeps[0])
    by[sleeps[1].pid] = by[raises.pid] = send(15, sleeps[1], raises)
    sent = {alone.pid: 9, handles.pid: 9, threads.pid: 9, sleeps[0].pid: 9, sleeps[1].pid: 15, raises.pid: 15}
    for p in (alone, handles, raises, threads, *sleeps):
        p.wait()
    snap = dump(name)
    found = [i for i in incidents("-n", name) if i["kind"] == "signal" and i["pid"] in sent]
    kept = [i for i in incidents(snap) if i["kind"] == "signal" and i["pid"] in sent]
    words = [line for line in fr("incidents", "-n", name).stdout.splitlines() if re.search(rf" {sleeps[1].pid}  SIGTERM", line)]
    equal({i["pid"]: (i["sig"], i["value"], i["sender"]) for i in found},
          {pid: (sig, by.get(pid, 0), "sh" if pid in by else None) for pid, sig in sent.items()}, "who sent it")
    equal([(i["pid"], i["value"], i["sender"], i["text"]) for i in kept], [(i["pid"], i["value"], i["sender"], i["text"]) for i in found], "in a snapshot")
    check(len(words) == 1 and words[0].endswith(f"bin/sleep, sent by sh ({by[sleeps[1].pid]})"), words)


@test("oom: a memory cgroup's victim, and its death")
def oom():
    file = program("fri-eater", "touch")
    name = shared(*MINIMAL)
    with small_memory() as dir:
        p = subprocess.Popen(["/bin/sh", "-c", f"echo $$ > {dir}/cgroup.procs; exec {file} 100000"])
        p.wait()
        found = [i for i in incidents("-n", name) if i["pid"] == p.pid]
    equal([(i["kind"], i["sig"], i["comm"]) for i in found], [("oom", 9, "fri-eater"), ("signal", 9, "fri-eater")], "incidents")
    check(found[0]["text"].endswith("/fri-eater"), found)
    equal([i["sender"] for i in found], [None, None], "the kernel is nobody")


@test("kernel: a line that begins a report is an incident, or one more line of the one that its task began; others are not")
def kernel():
    mark = f"frtest/{os.getpid()}.c"
    begins = [f"WARNING: CPU: 0 PID: 1 at {mark}:7 f+0x1/0x2", f"Oops: 0002 [#1] {mark}"]
    code = f"import os; fd = os.open('/dev/kmsg', os.O_WRONLY); [os.write(fd, t.encode() + b'\\n') for t in {[*begins, mark + ' nothing']}]"
    name = shared(*MINIMAL)
    before = account(name)["merged"]
    for _ in range(2):
        run("/usr/bin/python3", "-S", "-c", code)
    texts = [i["text"] for i in incidents("-n", name) if i["kind"] == "kernel" and mark in i["text"]]
    merged = account(name)["merged"] - before
    # which of the second lines come within a second depends on this machine: tests/unit/test_latency.c has that on a clock of its own
    equal(texts.count(begins[0]), 2, f"reports, each by another task: {texts}")
    check(set(texts) <= set(begins), f"lines told: {texts}")
    check(len(texts) + merged >= 4, f"of 4 lines that begin a report {len(texts)} are told, {merged} merged")


LOG, ROUND = 2048, 180  # records of room, and deaths for which a program has a share in any case, however long a recorder takes to come


def make_room(name):
    """So much room that two rounds of deaths fit. Nobody records: showing saves."""
    def is_roomy():
        a = account(name)
        return a["recorded"] - a["saved"] < LOG - 2 * ROUND or fr("incidents", "-n", name, status=None) is None
    wait_for(is_roomy, "there is room in the log")


def killed_round(name, dir, conf, nr, so_long):
    """A recorder that is killed while programs die and it saves; how many died, each under a name of its own: none equals another."""
    file = f"{dir}/incidents.journal"
    crashes = subprocess.Popen([program(f"fri-kill{nr}"), str(ROUND), "2000", str(ROUND)], stdout=subprocess.PIPE, text=True)
    try:
        size = os.path.getsize(file) if os.path.exists(file) else 0
        r = Recorder(name, dir, "--config", conf)
        wait_for(lambda: not r.alive() or os.path.exists(file) and os.path.getsize(file) > size, "the recorder saves")
        time.sleep(so_long)
        check(r.alive(), r.said())
        kill(r)
    finally:
        died = int(crashes.communicate()[0])
    return died


@test("a recorder killed at random moments: the journal has each incident once, also what was being written")
def killed():
    rng, died = chance(), 0
    with configured() as (name, dir, conf):
        before = account(name)["dropped"]
        for nr in range(4):
            died += killed_round(name, dir, conf, nr, rng.random() * 0.1)
            make_room(name)
            if nr % 2:  # as a machine that lost its power leaves it
                with open(f"{dir}/incidents.journal", "a") as f:
                    f.write('{"boot_id":"' if nr == 1 else '{"boot_id":"x"}\0\0\0')
        a = account(name)
        fr("incidents", "-n", name)  # nobody records: showing saves
        found = incidents("-o", dir)
        with open(f"{dir}/incidents.journal") as f:
            raw = f.read()
    seqs = sorted(i["seq"] for i in found)
    equal(seqs, list(range(seqs[0], seqs[0] + len(seqs))), "numbers in the journal")
    equal(len([i for i in found if i["kind"] == "signal" and i["comm"].startswith("fri-kill")]), died, f"deaths, {a}")
    equal(a["dropped"], before, "dropped")
    equal(raw.count("\n"), len(found), "lines")
    return f"{died} deaths, {len(found)} lines"


@test("a flood of events pushes none out; snapshots have them, and so have what is cut and merged of those")
def flood():
    file, name = program("fri-old"), shared(*TINY)
    incidents("-n", name)  # saved, so that there is room: others may have filled the log
    before = sum(c["overwritten"] for c in status(name)["cpus"])
    run(program("fri-sum"), str(BURST + 4))  # the last ones' record is made when the snapshot is, behind records of later deaths
    run(file, "3")
    run(program("frtail", "flood"), "1")
    first = dump(name)
    run(file, "2")
    second = dump(name)
    over = sum(c["overwritten"] for c in status(name)["cpus"]) - before
    live = [i for i in incidents("-n", name) if i["session"] == name]
    check(over > 1000, f"only {over} records were overwritten")
    equal([len(of(incidents(f), "signal", "fri-old")) for f in (first, second)], [3, 5], "in the snapshots")
    key = lambda i: (i["epoch"], i["seq"], i["kind"], i["ts"], i["pid"], i["comm"], i["sig"], i["text"], i["ip"], i["boot_id"])
    there = incidents(second)
    seqs = [i["seq"] for i in there]
    equal([key(i) for i in there], [key(i) for i in live if min(seqs) <= i["seq"] <= max(seqs)], "log and snapshot")
    equal(cnt_of(of(there, "signal", "fri-sum")), BURST + 4, "with those that one record stands for")
    fr("cut", "-o", path("fri-cut.flight"), "--window", "-1ms..", second)
    fr("merge", "-o", path("fri-merged.flight"), first, second)
    equal([key(i) for i in incidents(path("fri-cut.flight"))], [key(i) for i in there], "in what is cut of the second")
    # the first has some that have left the log meanwhile, if others had filled it
    both = {i["seq"]: key(i) for i in incidents(first) + there}
    merged = incidents(path("fri-merged.flight"))
    equal([key(i) for i in sorted(merged, key=lambda i: i["seq"])], [both[seq] for seq in sorted(both)], "in what is merged of both")
    equal([key(i) for i in merged], [key(i) for i in sorted(merged, key=lambda i: (i["ts"], i["seq"]))], "in order of time, not of numbers")
    equal(fr_json("info", second)["incidents"]["count"], sum(i["count"] if i["flags"] & SUM else 1 for i in there), "info")
    return f"{over} events overwritten"


@test("losses, triggers and snapshots are told; what is not taken only now and then, with its number")
def told():
    file, rule = program("fri-trig"), "crash:comm=fri-trig"
    with configured(rule) as (name, dir, conf):
        begin = time.clock_gettime_ns(time.CLOCK_REALTIME)
        r = Recorder(name, dir, "--config", conf)
        try:
            r.armed()
            run(file, "5")
            wait_for(lambda: of(incidents("-o", dir), "trigger", "fri-trig"), "the trigger is told")
            wait_for(lambda: [i for i in incidents("-o", dir) if i["kind"] == "snapshot"], "the snapshot is told")
            r.wait_seen(rule, 5)
        finally:
            status_ = r.end()
        equal(status_, 0, r.said())
    found = [i for i in incidents("-o", dir) if i["wall_ns"] >= begin]
    triggers = [i for i in found if i["kind"] == "trigger"]
    equal(triggers[0]["code"], 0, "the first is taken")
    equal(sum(i["count"] for i in triggers), 5, f"moments: {triggers}")
    check(len(triggers) <= 4, triggers)
    equal([i["code"] for i in found if i["kind"] == "snapshot"], [0], "snapshots written")
    equal([i["text"] for i in found if i["kind"] == "recorder"], ["begins", "ends"], "recorder")


@test("incidents: damage is passed over and said; no session and no journal; since; text")
def command():
    file, dir = program("fri-text"), new_dir()
    fr("incidents", "-n", new_name(), "-o", dir, status=4)
    name = shared(*MINIMAL)
    # apart, as wall time is asked anew each time, and a busy machine may be told it late
    run(file, "3", "500000")
    text = fr("incidents", "-n", name).stdout.splitlines()
    equal(len([t for t in text if " fri-text " in t and "SIGSEGV at 0x10" in t]), 3, "lines")
    equal(len(of(incidents("-n", name, "--since", "1h"), "signal", "fri-text")), 3, "since an hour")
    equal(incidents("-n", name, "--since", "2100-01-01"), [], "since a time to come")
    when = sorted(i["wall_ns"] for i in of(incidents("-n", name), "signal", "fri-text"))
    behind = (when[0] + when[1]) // 2
    at = datetime.datetime.fromtimestamp(behind // 1_000_000_000)
    fraction = f".{behind % 1_000_000_000:09}"
    for since in f"{at.isoformat()}{fraction}", at.strftime("%H:%M:%S") + fraction:
        equal(len(of(incidents("-n", name, "--since", str(since)), "signal", "fri-text")), 2, f"since the second one, {since}, of {when}")
    for since, cnt in ("-1h", 3), (at.strftime("%Y-%m-%d"), 3), ("0s", 0):
        equal(len(of(incidents("-n", name, "--since", str(since)), "signal", "fri-text")), cnt, f"since {since}")
    for since in "nonsense", "", "1x", "50%", "trigger-1s":
        fr("incidents", "-n", name, "--since", since, status=2)
    journal = f"{TMP}/shared/incidents.journal"  # of all sessions that tests share
    equal(os.stat(journal).st_mode & 0o777, 0o600, "mode")
    shutil.copy(journal, dir)
    raw = open(f"{dir}/incidents.journal").read().splitlines()
    bad = [n for n, line in enumerate(raw) if '"fri-text"' in line][1]
    raw[bad] = raw[bad].replace('"sig":11', '"sig":12')
    open(f"{dir}/incidents.journal", "w").write("\n".join(raw) + "\n" + raw[0][:100])
    got = fr("incidents", "-o", dir, "--json", status=3)
    equal(len(of(lines(got.stdout), "signal", "fri-text")), 2, "sound ones")
    check("1 line" in got.stderr, got.stderr)


def log_is_full(name, dir):
    """
    A log of 8 keeps the oldest and counts the rest. No program has more than 3, and one for many; once saved there is room again, but
    not for those who had their share.
    """
    incidents("-n", name)
    before = account(name)
    first = before["recorded"]
    died = [int(run(program(f"fri-full{nr}"), "30", "0", "30").stdout) for nr in range(3)]
    a = account(name)
    problems = {e["what"]: e["text"] for e in fr_json("status", "-n", name)["problems"]}
    found = [i for i in incidents("-n", name) if i["seq"] >= first]
    again = [int(run(program(file), "2", "0", "2").stdout) for file in ("fri-full0", "fri-full3")]
    more = incidents("-n", name)
    equal((died, again, a["recorded"] - first, a["capacity"]), ([30] * 3, [2, 2], 8, 8), "died, recorded, capacity")
    equal([i["seq"] for i in found if i["seq"] < first + 8], list(range(first, first + 8)), "numbers kept")
    check("found the log full" in problems.get("incidents", "") and "flightrec incidents" in problems["incidents"], f"status: {problems}")
    mine = [i["comm"] for i in found if i["seq"] < first + 8 and i["kind"] == "signal" and i["comm"].startswith("fri-full")]
    order = [f"fri-full{nr}-{i}" for nr in range(3) for i in range(3)]
    equal(mine, order[:len(mine)], "the oldest; others die on this machine, too")
    dropped, squeezed = (sum(a[key].values()) if key == "dropped" else sum(q["count"] for q in a[key]) for key in ("dropped", "squeezed"))
    check(dropped >= sum(died[:3]) - 3 * 27 - len(mine), f"found no room: {a}")
    equal(sum(q["count"] for q in a["squeezed"] if q["comm"].startswith("fri-full") or not q["comm"]), squeezed, f"by whom: {a}")
    check(squeezed >= 3 * 27, f"beyond their share: {a}")
    told = sum(i["count"] for i in found if i["kind"] == "squeezed")
    check(told >= squeezed, f"all of them are told once there is room, {told} of {squeezed}; {account(name)}")
    now = [i["comm"] for i in more if i["seq"] >= first + 8 and i["kind"] == "signal"]
    check("fri-full3-0" in now and "fri-full3-1" in now and "fri-full0-0" not in now, f"after it was saved: {now}")


def begin_recorder(name, dir):
    r = Recorder(name, dir, *LIFE, "-o", dir, "--keep", "--on", "crash:comm=nobody")
    return r.armed()


def is_planted(name, dir, file):
    """The journal is a link which somebody put into a directory that all may write to: left alone, said, saved once it is gone."""
    journal = f"{dir}/incidents.journal"
    os.chmod(dir, 0o777)
    if os.path.exists(journal):
        os.unlink(journal)
    with open(file, "rb") as f:
        content = f.read()
    os.link(file, journal)
    r = begin_recorder(name, dir)
    try:
        before = account(name)
        run(file, "2")
        a = wait_for(lambda: (a := account(name))["recorded"] >= before["recorded"] + 2 and a, "they are in the log")
        # it is tried again from time to time
        with open(file, "rb") as f:
            equal((a["saved"], f.read() == content), (before["saved"], True), "saved, and the other file as it was")
        os.unlink(journal)
        wait_for(lambda: account(name)["saved"] >= a["recorded"], "they are saved")
        equal(r.end(), 0, "exit status of the recorder")
    finally:
        kill(r)
    check(f"to the journal in {dir}: Operation not permitted: if the file there is somebody else's, remove it" in r.said(), r.said())
    equal(len(of(lines(fr("incidents", "-o", dir, "--json").stdout), "signal", "fri-plant")), 2, "those of the journal")


def has_no_directory(name, dir):
    """The directory is gone: the log's incidents are shown, and told to stay, with the directory's name."""
    shutil.rmtree(dir)
    run(program("fri-gone"), "2")
    got = fr("incidents", "-n", name, "--json")
    equal(len(of(lines(got.stdout), "signal", "fri-gone")), 2, "those of the log")
    check(f"to the journal in {dir}: No such file or directory: they stay in its log" in got.stderr, got.stderr)
    check("a version without" not in got.stderr, got.stderr)
    os.mkdir(dir, 0o700)


def ends_unsaved(name, dir):
    """The journal cannot be written: the log's incidents are shown, told to stay, and said to be lost when the session ends."""
    fr("incidents", "-n", name)
    os.unlink(f"{dir}/incidents.journal")
    os.mkdir(f"{dir}/incidents.journal")
    r = Recorder(name, dir, *LIFE, "-o", dir, "--on", "crash:comm=nobody")
    try:
        r.armed()
        before = account(name)
        run(program("fri-kept"), "2")
        kept = wait_for(lambda: (a := account(name))["recorded"] >= before["recorded"] + 2 and a, "they are in the log")
        equal(kept["saved"], before["saved"], "saved")
        got = fr("incidents", "-n", name, "--json", status=1)
        equal(len(of(lines(got.stdout), "signal", "fri-kept")), 2, "those of the log")
        check("cannot read the journal" in got.stderr, got.stderr)
        equal(r.end(signal.SIGINT), 0, "exit status of the recorder")
    finally:
        kill(r)
    check(f"to the journal in {dir}: Is a directory: they stay in the log" in r.said(), r.said())
    check(re.search(r"\d unsaved incidents? lost with the session: Is a directory", r.said()), r.said())
    check("No such file" not in r.said(), r.said())


LIFE = (*QUIET, "--incidents", "8")


@test("one life: a full log; a journal that somebody planted; no directory; a journal that cannot be written: nothing is lost unsaid",
      own="a log of 8 records, and an end that loses some")
def life():
    name, dir = new_name(), new_dir()
    with ended(name):
        fr("record", "-n", name, "-o", dir, "--unattended", *LIFE)
        log_is_full(name, dir)
        is_planted(name, dir, program("fri-plant"))
        has_no_directory(name, dir)
        ends_unsaved(name, dir)


if __name__ == "__main__":
    main()
