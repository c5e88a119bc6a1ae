# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Recorders with triggers, as tests start them: their rules, their snapshots, loads that die.

Tests share one session, and one recorder that is told its rules and its directory by a reload. Counters of a rule go on as long as its
text is known; rules() and all that is made of it show what was added since the test began. Cooldowns and dedupe go by a program's name
and file: names with TAG, and unique to the test, are nobody else's. A recorder that is killed leaves its rules armed, so what dies under
a name of theirs, in whatever test, waits for the next recorder of that session.
"""
import contextlib
import os
import re
import signal
import subprocess
import tempfile

from frtest import (FLIGHTREC, MINIMAL, SESSIONS, TMP, begun_with, check, dump, ended, fr_json, last_of, leave_to_next, new_name, options_of,
                    path, program, replay, shared, status, take_left, wait_end, wait_for)

SMALL = MINIMAL
RECORDED = (*SMALL, "--incidents", "2048")  # the session of recording() and configured(): no other test has these options
# The session of by_options(). Storms are in force there: what tests of RECORDED take would soon be too much.
ATTENDED = (*SMALL, "--incidents", "4096")
TAG = f"{os.getpid():x}"  # in the names of programs: what another run on this host makes die is not counted
NOBODY = f"crash:comm=nobody{TAG}"
ONE = f"crash:comm=one{TAG},cooldown=0s"


class Recorder:
    """A recorder in the foreground whose triggers are armed; what it says goes to a file."""

    def __init__(self, name, dir, *options, under=()):
        self.name, self.dir, self.said_before = name, dir, 0
        self.log = tempfile.NamedTemporaryFile(dir=TMP, mode="w+", delete=False)
        name_option = [] if "--config" in options else ["-n", name]  # it would override the file's
        self.p = subprocess.Popen([*under, FLIGHTREC, "record", *name_option, *options], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=self.log)

    def said(self):
        with open(self.log.name) as f:
            f.seek(self.said_before)
            return f.read()

    def alive(self):
        return self.p.poll() is None

    def armed(self):
        wait_for(lambda: "armed" in self.said() or self.p.poll() is not None, "the triggers are armed")
        check(self.p.poll() is None, f"the recorder ended: {self.said()}")
        return self

    def files(self):
        return sorted(f"{self.dir}/{f}" for f in os.listdir(self.dir) if f.endswith(".flight"))

    def wait_files(self, cnt):
        return wait_for(lambda: self.files() if len(self.files()) >= cnt else None, lambda: f"{cnt} snapshots: {self.said()}")

    def rules(self):
        before = _before.get(self.name, {})
        return {r["rule"]: added(r, before.get(r["rule"])) for r in status(self.name)["triggers"]}

    def wait_seen(self, rule, cnt):
        """All moments so far are seen and decided."""
        def decided():
            r = self.rules()[rule]
            return r["seen"] >= cnt and accounted(r)
        wait_for(decided, lambda: f"{cnt} moments of {rule}: {self.rules()}")
        return self.rules()[rule]

    def end(self, sig=signal.SIGTERM):
        self.p.send_signal(sig)
        return wait_end(self.p)


def accounted(r):
    return r["seen"] == sum(r["verdicts"].values()) + r["queue_lost"]


_before = {}  # session: its rules' counters when the test began
_common = None  # the recorder that recording() gives


def added(r, before):
    """A rule's counters, without those from before the test."""
    if not before:
        return r
    verdicts = {v: cnt - before["verdicts"].get(v, 0) for v, cnt in r["verdicts"].items()}
    return {**r, **{k: r[k] - before[k] for k in ("seen", "alerted", "taken", "queue_lost")}, "verdicts": verdicts}


def lease(of=RECORDED):
    """A session for recorders of a test: its name, a directory and a configuration file."""
    name = shared(*of)
    _before[name] = {r["rule"]: r for r in status(name)["triggers"]}
    return name, tempfile.mkdtemp(dir=TMP), f"{TMP}/{name}.conf"


@contextlib.contextmanager
def recording(*rules, more=""):
    """The recorder that tests share, with these rules, a directory of its own and these further lines of configuration."""
    global _common
    name, dir, file = lease()
    if _common and not (_common.alive() and _common.name == name):
        retire()
    write_config(file, name, dir, *rules, more="[Control]\nSocket=yes\n" + more)
    if _common:
        _common.dir, _common.said_before = dir, os.path.getsize(_common.log.name)
        send_reload(_common)
    else:
        _common = Recorder(name, dir, "--config", file)
        _common.armed()
    try:
        yield _common
    except BaseException:
        retire()  # nobody knows in what state
        raise
    if _common.alive():
        write_config(file, name, dir)
        send_reload(_common)


def retire():
    """The recorder that tests share ends. Its session does not."""
    global _common
    if _common:
        kill(_common)
    _common = None


@contextlib.contextmanager
def attached(options, *on):
    """A recorder of the test's own, with these rules, over the session that tests share with these options."""
    name, dir = shared(*options), tempfile.mkdtemp(dir=TMP)
    _before[name] = {r["rule"]: r for r in status(name)["triggers"]}
    r = Recorder(name, dir, "-o", dir, "--keep", *options, *(a for rule in on for a in ("--on", rule)))
    try:
        yield r.armed()
    finally:
        kill(r)


def crash(name, *args):
    return subprocess.run([program(name), *map(str, args)], stdout=subprocess.PIPE, text=True).stdout


def crash_decided(name, session):
    """A crash, and the recorder has decided about it: its mark is in the history."""
    p = subprocess.Popen([program(name)], stdout=subprocess.DEVNULL)
    p.wait()

    def decided():
        file = dump(session)
        marks = [e for e in replay(file, "--life") if e["event"] == "trigger"]
        os.unlink(file)
        return any(e["target_pid"] == p.pid for e in marks)
    wait_for(decided, f"the mark of {name}[{p.pid}]")


def trigger(file):
    return fr_json("info", file)["trigger"]


# Options of record as they are written in a configuration file.
KEYS = {"-p": "Profile", "-m": "Memory", "-e": "Event", "-f": "Filter", "--clock": "Clock", "--comm": "Comm", "--cpu-profile": "CpuProfile",
        "--hz": "SampleRate", "--incidents": "Incidents", "--subbuf": "SubBuffer", "--tier": "Tier", "--wait-min": "WaitMin"}


def settings_of(name):
    """What [Session] has for a session: one that is or was shared has the settings it was begun with."""
    options = options_of(name) or RECORDED
    return f"Name={name}\n" + "".join(f"{KEYS[key]}={value}\n" for key, value in zip(options[::2], options[1::2], strict=True))


def write_config(file, name, dir, *on, more=""):
    with open(file + ".new", "w") as f:
        f.write(f"[Session]\n{settings_of(name)}[Storage]\nDirectory={dir}\nMaxFiles=0\n"
                f"[Control]\nSocket=no\n[Notify]\nJournal=no\n[Trigger]\nStormCount=0\n")
        f.writelines(f"On={rule}\n" for rule in on or [""])  # an empty one: none is meant
        f.write(more)
    os.replace(file + ".new", file)


@contextlib.contextmanager
def configured(*on, more=""):
    """
    The recorders' session, without a recorder: a name, a directory and a configuration file, for Recorder(name, dir, "--config", file).
    Such a recorder leaves the session when it ends, and the next one takes it over.
    """
    retire()
    name, dir, file = lease()
    write_config(file, name, dir, *on, more=more)
    yield name, dir, file


@contextlib.contextmanager
def attended():
    """The session of recorders that have their rules by options, without one: its name and a directory."""
    yield lease(ATTENDED)[:2]


@contextlib.contextmanager
def by_options(*options, under=()):
    """Such a recorder; it takes the session over, and leaves it when it ends."""
    with attended() as (name, dir):
        r = Recorder(name, dir, "-o", dir, *ATTENDED, "--keep", *options, under=under)
        try:
            yield r.armed()
        finally:
            kill(r)


@contextlib.contextmanager
def own_configured(*on, more=""):
    """The same with a session of the test's own, which the first recorder begins."""
    with ended(new_name()) as name:
        dir, file = tempfile.mkdtemp(dir=TMP), path(f"{name}.conf")
        write_config(file, name, dir, *on, more=more)
        yield name, dir, file


@contextlib.contextmanager
def expendable(*on, more="", leave=False, fresh=False):
    """
    The same with a session that the test spoils or ends: one that no script to come needs, or that another test has left, else one with
    RECORDED, which the first recorder begins. leave: it is left to the next such test. fresh: one in which nothing has happened yet. Its
    options are options_of(name).
    """
    left = None if fresh else take_left()
    with ended(left or begun_with(new_name(), RECORDED)) as name:
        dir, file = tempfile.mkdtemp(dir=TMP), path(f"{name}.conf")
        _before[name] = {r["rule"]: r for r in status(name)["triggers"]} if left else {}
        write_config(file, name, dir, *on, more=more)
        yield name, dir, file
        if leave:
            leave_to_next(name)


@contextlib.contextmanager
def last_configured(*on, more=""):
    """The same with the recorders' session itself, for the last test that needs it."""
    retire()
    with last_of(*RECORDED) as name:
        dir, file = tempfile.mkdtemp(dir=TMP), path(f"{name}.conf")
        _before[name] = {r["rule"]: r for r in status(name)["triggers"]}
        write_config(file, name, dir, *on, more=more)
        yield name, dir, file


def start_load(name, nap_us):
    """Crashes of a program of that name until end_load(), which says how many."""
    return subprocess.Popen([program(name), "1000000", str(nap_us)], stdout=subprocess.PIPE, text=True)


def end_load(load):
    load.terminate()
    return int(load.stdout.read())


def kill_load(load):
    if load and load.poll() is None:
        load.kill()
        load.wait()


def kill(r):
    if r.p.poll() is None:
        r.p.kill()
        r.p.wait()


def send_reload(r):
    """A reload, by SIGHUP, until it is in force."""
    before = len(r.said())
    r.p.send_signal(signal.SIGHUP)
    answer = wait_for(lambda: re.search("^.*reload(?:ed| refused):.*$", r.said()[before:], re.M), lambda: f"reload: {r.said()}")[0]
    check("refused" not in answer, answer)


def trigger_links(name):
    """Pins of the programs of the rules that are in force."""
    return sorted(f.name for f in os.scandir(f"{SESSIONS}/{name}") if f.name.startswith("trig-") and not f.is_dir())


def next_link(link):
    """What a pin is called when the next rules are loaded beside those in force."""
    nr = int(link.split("-")[1])
    return link.replace(f"trig-{nr}-", f"trig-{nr + 1}-")


@contextlib.contextmanager
def refused_pin(name, link):
    """The kernel refuses a pin of that name, after it has loaded all programs, and attached those before this one."""
    os.mkdir(f"{SESSIONS}/{name}/{link}")
    try:
        yield
    finally:
        os.rmdir(f"{SESSIONS}/{name}/{link}")


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as f:
        return [int(c) for c in f.read().split()]


def writer_of(pid):
    """Pid of the process that writes snapshots for a recorder; 0: none just now."""
    for child in children(pid):
        with contextlib.suppress(OSError), open(f"/proc/{child}/comm") as f:
            if f.read() == "flightrec-write\n":
                return child
    return 0
