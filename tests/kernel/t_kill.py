# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Recorder and dump killed at moments of chance: the recording goes on, and nothing is left behind. A session, standing(), is adopted,
ended, removed and begun anew by the tests one after the other, each of which takes it as the one before left it. Where that one has ended
it, it is one that no other script needs.
"""
import contextlib
import json
import os
import signal
import subprocess
import threading
import time

from frtest import (FLIGHTREC, SESSIONS, Failed, at_end, begin_unattended, begun_with, busy, chance, check, end, ended, equal, exists, fr,
                    fr_json, is_blocked, locked, main, new_name, opened, options_of, path, run, snapshots, state, status, take_left, take_shared, test,
                    wait_for, wait_said, waits_in, written, SYSCALLS as OPTIONS)

KILLS = int(os.environ.get("FR_KILLS", "20"))  # of processes that are alive
STARTS = ADOPTIONS = KILLS * 3 // 20
DUMPS = KILLS - STARTS - ADOPTIONS
TRIES = 3 * KILLS
TURNS = KILLS * 3 // 20  # of each that begins and ends sessions beside others
BY_TURNS = "a session that nobody else needs is ended or removed, and begun again"
rng = None  # the chances of the test that runs
_standing = []  # names of those that stood, the last one now


def bpf_ids(kind):
    """{id: entry} of all maps, progs or links in the kernel."""
    for _ in range(50):  # one that is just being made, or has just gone, ends the listing with an error
        got = run("bpftool", "-j", kind, "show", status=None)
        if not got.returncode:
            return {e["id"]: e for e in json.loads(got.stdout)}
        time.sleep(0.05)
    raise Failed(f"bpftool {kind} show: {got.stdout}{got.stderr}")


def objects_of(name):
    """What the kernel holds for a session: (kind, id) of links, their programs, and the maps of both."""
    pins = os.listdir(f"{SESSIONS}/{name}")
    progs, found = bpf_ids("prog"), set()
    for pin in pins:
        file = f"{SESSIONS}/{name}/{pin}"
        if pin in ("owner", "incident-lock"):
            continue
        kind = "link" if pin.startswith("inc-") or pin in ("states-list", "states-take", "states-count") else pin.split("-")[0] if pin.startswith(("link-", "prog-")) else "map"
        e = json.loads(run("bpftool", "-j", kind, "show", "pinned", file).stdout)
        e = e[0] if isinstance(e, list) else e
        found.add((kind, e["id"]))
        prog = e.get("prog_id", e["id"]) if kind != "map" else None
        found.update({("prog", prog)} | {("map", m) for m in progs[prog].get("map_ids", [])} if prog else ())
    return found


def still_there(objects):
    now = {kind: bpf_ids(kind) for kind in ("link", "prog", "map")}
    return {(kind, i) for kind, i in objects if i in now[kind]}


def others():
    """Sessions that are not ours, or processes of flightrec: counts of the whole kernel would tell of them too."""
    there = os.listdir(SESSIONS) if os.path.isdir(SESSIONS) else []
    mine = f"frtest-{os.getpid()}-"
    return [n for n in there if not n.startswith(mine)]


def all_objects():
    return {(kind, i) for kind in ("link", "prog", "map") for i in bpf_ids(kind)}


def stands(name):
    """From now on this is the script's session."""
    at_end(lambda: end(name))
    _standing.append(name)
    return name


def standing():
    """The name of a session without a recorder without a recorder, whatever is recorded in it."""
    if _standing and exists(_standing[-1]):
        return _standing[-1]
    name = stands(take_left() or new_name())
    if not exists(name):
        begin_unattended(name, OPTIONS)
    return name


@contextlib.contextmanager
def owned(name, *options):
    """A recorder that takes the session over, or begins it; killed at the end, so that it stands."""
    p = start("record", "-n", name, "-o", path("."), *options_of(name), *options)
    try:
        wait_for(lambda: p.poll() is not None or os.path.exists(f"{SESSIONS}/{name}/meta") and status(name)["recorder"],
                 "the session is owned")
        yield p
    finally:
        if p.poll() is None:
            p.kill()
        p.communicate()
        wait_for(lambda: not os.path.exists(f"{SESSIONS}/{name}/meta") or not status(name)["recorder"],
                 "a dead recorder is no more said to live")


def kill_after(args, longest):
    """Start flightrec, kill it at a random moment; True if it was still alive."""
    p = subprocess.Popen([FLIGHTREC, *args], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(rng.random() * longest)
    alive = p.poll() is None
    p.kill()
    p.wait()
    return alive


class Victim:
    """A session whose processes are killed; what must hold after each."""

    def __init__(self, name, dir):
        self.name, self.dir, self.last = name, dir, 0
        self.killed = {"dump": 0, "recorder": 0, "start": 0}  # while they were alive
        self.epoch = self.snapshot()["epoch"]

    def snapshot(self):
        file = f"{self.dir}/check.flight"
        if os.path.exists(file):
            os.unlink(file)
        fr("dump", "-n", self.name, "-o", file)
        fr("verify", file)
        return fr_json("info", file)

    def goes_on(self):
        now = written(self.name)
        check(now > self.last, f"nothing was recorded since the last kill: {self.last}, then {now}")
        self.last = now
        if rng.random() < 0.15:
            equal(self.snapshot()["epoch"], self.epoch, "epoch")


def kill_dumps(v):
    for i in range(TRIES):
        file = f"{v.dir}/killed-{i}.flight"
        v.killed["dump"] += kill_after(["dump", "-n", v.name, "-o", file], 0.03)
        v.goes_on()
        if v.killed["dump"] == DUMPS:
            return


def kill_recorders(v):
    """The recorder adopts, is asked for a snapshot by SIGUSR1, and is killed."""
    args = [FLIGHTREC, "record", "-n", v.name, "-o", v.dir, *OPTIONS]
    while v.killed["recorder"] < ADOPTIONS:
        p = subprocess.Popen(args, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if rng.random() < 0.7:
            wait_for(lambda: status(v.name)["recorder"] or p.poll() is not None, "the recorder adopts the session")
            wait_for(lambda: is_blocked(p.pid, signal.SIGUSR1) or p.poll() is not None, "it has blocked the signal, of which it would die")
            p.send_signal(signal.SIGUSR1)
        time.sleep(rng.random() * 0.04)
        v.killed["recorder"] += p.poll() is None
        p.kill()
        p.wait()
        # a writer that it has just forked has what was its own until it closes it
        wait_for(lambda: not status(v.name)["recorder"], "a dead recorder is no more said to live")
        v.goes_on()


def leftovers(dir):
    return [f for f in os.listdir(dir) if ".tmp-" in f]


def pins_of(name):
    with contextlib.suppress(FileNotFoundError):
        return os.listdir(f"{SESSIONS}/{name}")
    return []


def kill_start(name, dir, pin_cnt=0):
    """
    Killed while it loads, or once it has pinned some of so many: the next command finds either a whole session or none. True if it was
    still alive.
    """
    p = start("record", "-n", name, "-o", dir, "--unattended", *OPTIONS)
    if pin_cnt and rng.random() < 0.5:
        some = rng.randrange(pin_cnt // 2)
        while p.poll() is None and len(pins_of(name)) <= some:  # all of them are made within milliseconds
            pass
    else:
        time.sleep(rng.random() * 0.1)
    alive = p.poll() is None
    p.kill()
    p.communicate()
    fr("status", "-n", name, status=None)  # whatever it says, it has looked
    if exists(name):
        check(os.path.exists(f"{SESSIONS}/{name}/meta"), "an unfinished session is left")
    return alive


def begin(name, dir):
    """After a start that was killed."""
    fr("record", "-n", name, "-o", dir, "--unattended", *OPTIONS)
    fr("dump", "-n", name, "-o", f"{dir}/begun-{name}.flight")


def kill_starts(v):
    """Beside a session that goes on."""
    for i in range(1, TRIES):
        if v.killed["start"] == STARTS:
            return
        with ended(new_name()) as name:
            v.killed["start"] += kill_start(name, v.dir, len(pins_of(v.name)))
            fr("status", "-n", v.name)
            if i % 10 == 0:
                begin(name, v.dir)
        v.goes_on()


@test("an orphan is adopted with the same settings, refused with others, refused while its owner lives", own=BY_TURNS)
def adoption():
    name = stands(take_shared(OPTIONS))
    with owned(name):
        got = fr("record", "-n", name, "-o", path("."), *OPTIONS, status=1)
        check("live recorder" in got.stderr, got.stderr)
    before = status(name)
    got = fr("record", "-n", name, "-o", path("."), "-m", "4M", status=1)
    check(f"other settings ({' '.join(OPTIONS)})" in got.stderr, got.stderr)
    others = ("--cpu-profile", "on", "-m", "4096K", "--hz", "99", "-e", "syscall", "-p", "minimal")
    got = fr("record", "-n", name, "-o", path("."), "--unattended", *others)
    check("adopted" in got.stderr, f"the same settings, given otherwise: {got.stderr}")
    after = status(name)
    equal(after["begin_ns"], before["begin_ns"], "begin of the session")
    check(sum(c["written"] for c in after["cpus"]) > sum(c["written"] for c in before["cpus"]), "history was lost")


@test("--keep: the process ends, the session goes on", own=BY_TURNS)
def keep():
    name = standing()
    with owned(name, "--keep") as p:
        p.send_signal(signal.SIGTERM)
        equal(p.wait(120), 0, "exit status")
        st = status(name)
        equal(st["recorder"], False, "owned")
        wait_for(lambda: written(name) > sum(c["written"] for c in st["cpus"]), "recording goes on")


def start(*args):
    return subprocess.Popen([FLIGHTREC, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@test("a stop and a dump that waited for their session, which another stop ended: the dump says that there is none, with status 4, the stop "
      "leaves the next one of that name alone", own=BY_TURNS)
def late():
    name, file = standing(), path("late.flight")
    with locked(name):
        waiting = [start("stop", "-n", name), start("dump", "-n", name, "-o", file)]
        for p in waiting:
            wait_said(p, "waiting")
            p.send_signal(signal.SIGSTOP)
    stop, dump = waiting
    try:
        fr("stop", "-n", name)
        dump.send_signal(signal.SIGCONT)
        said = dump.communicate(timeout=120)[1]
        equal(dump.returncode, 4, "exit status of dump")
        check(f"no session '{name}' is recording" in said and "goes on" not in said, said)
        check(not os.path.exists(file), "there is a file")
        with owned(name) as p:
            before = set(os.listdir(f"{SESSIONS}/{name}"))
            stop.send_signal(signal.SIGCONT)
            equal(stop.wait(120), 0, "exit status of the stop that came late")
            equal(p.poll(), None, "the recorder of the next session")
            equal(before - set(os.listdir(f"{SESSIONS}/{name}")), set(), "pins of the next session that are missing")
    finally:
        for p in waiting:
            p.kill()
            p.communicate()


@test("a session that a recorder adopts while stop waits for it: stop ends that recorder first, and tells the counters", own=BY_TURNS)
def stop_and_adopt():
    name = standing()
    with locked(name):
        late = start("stop", "-n", name, "--json")
        wait_said(late, "waiting")
        p = start("record", "-n", name, "-o", path("."), *options_of(name))
        wait_said(p, "memory:")
        before = status(name)
    after = json.loads(late.communicate(timeout=120)[0])
    equal((late.returncode, p.wait(120)), (0, 0), "exit status of stop, and of the recorder")
    check(not exists(name), "the session is still there")
    equal((before["recorder"], after["recorder"]), (True, False), "is there a recorder?")
    check(all(b["written"] <= a["written"] for b, a in zip(before["cpus"], after["cpus"])), "counters went back")
    check(sum(c["written"] for c in after["cpus"]), "nothing was counted in the end")
    p.communicate()


def remove_pins(name):
    """As by hand, without telling its recorder."""
    while exists(name):
        for pin in os.scandir(f"{SESSIONS}/{name}"):
            (os.rmdir if pin.is_dir() else os.unlink)(pin.path)
        with contextlib.suppress(OSError):  # the recorder has just made a lock there
            os.rmdir(f"{SESSIONS}/{name}")
            return  # what is there from now on is the next one's


@test("a recorder whose session was removed behind its back says so and ends with 1, and so does a dump by way of it, with 4", own=BY_TURNS)
def removed():
    name = standing()
    with owned(name, "--on", "exit") as p:
        wait_said(p, "1 armed")
        p.send_signal(signal.SIGSTOP)
        remove_pins(name)
        ask = start("dump", "-n", name)
        wait_for(lambda: any("socket:" in what for what in opened(ask.pid).values()) and state(ask.pid) == "S", "it has asked")
        p.send_signal(signal.SIGCONT)
        said = ask.communicate(timeout=120)[1]
        check("No such file" not in said and "session" in said, said)
        equal(ask.returncode, 4, "exit status of a dump by way of that recorder")
        equal(p.wait(120), 1, "exit status")
        said = p.stderr.read()
        check("was ended by another process" in said and "goes on" not in said, said)


def pins(name):
    """Without the lock that is there from when incidents are first saved."""
    return sorted(set(os.listdir(f"{SESSIONS}/{name}")) - {"incident-lock"})


@test("record where a session of that name is just being removed: it waits, and begins a new one, which the old one's recorder leaves alone",
      own=BY_TURNS)
def begun_behind_end():
    name = standing()
    with owned(name, "--on", "exit") as old:
        wait_said(old, "1 armed")
        old.send_signal(signal.SIGSTOP)
        with locked(name):
            os.unlink(f"{SESSIONS}/{name}/meta")
            p = start("record", "-n", begun_with(name, OPTIONS), "-o", path("."), "--unattended", *OPTIONS)
            wait_for(lambda: waits_in(p.pid, "nanosleep") or p.poll() is not None, "it waits for the other one")
            remove_pins(name)
        said = p.communicate(timeout=120)[1]
        equal(p.returncode, 0, f"exit status of record: {said}")
        check("recording session" in said and "adopted" not in said, said)
        before = pins(name)
        old.send_signal(signal.SIGTERM)
        old.send_signal(signal.SIGCONT)
        equal(old.wait(120), 1, "exit status of one that was told to end, too")
        equal(pins(name), before, "pins of the next session")


@test("a command whose session was removed behind its recorder's back runs to its end", own=BY_TURNS)
def removed_below_command():
    name, go = standing(), path("go")
    with owned(name, "--", "sh", "-c", f"until test -e {go}; do sleep 0.1; done; exit 7") as p:
        # in its loop: where the pins go away while it begins, it does not begin
        wait_for(lambda: "epoll" in open(f"/proc/{p.pid}/wchan", encoding="ascii").read(), "it watches")
        remove_pins(name)
        wait_said(p, "was ended by another process")
        equal(p.poll(), None, "the recorder while its command runs")
        open(go, "w").close()
        equal(p.wait(120), 7, "exit status")


@test("records and stops of one name at once: each begins it, adopts it, or says who has it; none spoils another one's", own=BY_TURNS)
def begin_and_end():
    name = stands(begun_with(new_name(), OPTIONS))
    fine = ("has a live recorder", "is just being started by another process", "no session", "waiting", "is ended, its history discarded", "signal")
    wrong = []

    def repeat(*args, status):
        for _ in range(TURNS):
            p = fr(*args, "-n", name, status=None)
            said = [line for line in p.stderr.splitlines() if line.startswith("flightrec:") and not any(f in line for f in fine)]
            if said or p.returncode not in status:
                wrong.append(f"{args[0]}: {p.returncode}: {p.stderr}")

    to_record = ("record", "-o", path("."), *OPTIONS)
    # one that only begins it may be told to end before it has ended by itself
    threads = [threading.Thread(target=repeat, args=(*to_record, "--unattended"), kwargs={"status": (0, 1, -15)}) for _ in range(2)]
    threads += [threading.Thread(target=repeat, args=("stop",), kwargs={"status": (0, 4)}) for _ in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    equal(wrong, [], "what was said")


@test("kills of dump, recorder and start: recording goes on, nothing is left", own="starts that are killed")
def kills():
    global rng
    rng = chance()
    before, quiet = all_objects(), not others()
    dir = path("kill")
    os.mkdir(dir)
    name = _standing[-1] if _standing and options_of(_standing[-1]) == OPTIONS else new_name()
    with ended(name):
        alive = not exists(name) and kill_start(name, dir)
        fr("record", "-n", name, "-o", dir, "--unattended", *OPTIONS)
        v = Victim(name, dir)
        v.killed["start"] += alive
        with busy():
            kill_dumps(v)
        kill_recorders(v)
        kill_starts(v)
        v.snapshot()
        equal(leftovers(dir), [], "temporary files after a whole dump")
        files = [f"{dir}/{f}" for f in snapshots(dir)]
        fr("verify", *files)
        objects = objects_of(name)
        check(len(still_there(objects)) == len(objects) > 20, "the session's objects cannot be seen")
        fr("stop", "-n", name)
        check(not exists(name), "the session is still in bpffs")
        wait_for(lambda: not still_there(objects), "the session's maps, programs and links are gone")
    if quiet and not others():
        wait_for(lambda: not all_objects() - before or others(), "no map, program or link is left of the killed")
    equal(v.killed, {"dump": DUMPS, "recorder": ADOPTIONS, "start": STARTS}, "killed alive")
    return f"killed {v.killed}, {len(files)} snapshots all sound"


if __name__ == "__main__":
    main()
