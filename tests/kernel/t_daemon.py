# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The recorder with triggers: one snapshot of each death, never a disk full; options, reload, take-over, kills."""
import contextlib
import glob
import json
import os
import random
import re
import shutil
import signal
import subprocess
import tempfile
import time

from frtest import (FLIGHTREC, ROOT, SESSIONS, Skip, TMP, check, dump, end, equal, exists, fr, fr_json, helper, main, new_name, path,
                    replay, run, status, test, wait_for)

SMALL = ("-p", "minimal", "-m", "2M")
TAG = f"{os.getpid():x}"  # in the names of programs: what another run on this host makes die is not counted
MIXED = os.path.join(ROOT, "tests", "bench", "mixed.sh")
KILLS = int(os.environ.get("FR_KILLS", "12"))  # recorders and writers killed; FR_KILLS=500 is what docs/testing.md quotes
NOBODY = f"crash:comm=nobody{TAG}"
ONE = f"crash:comm=one{TAG},cooldown=0s"
SEED = int(os.environ.get("FR_SEED", random.randrange(1 << 30)))


class Recorder:
    """A recorder in the foreground whose triggers are armed; what it says goes to a file."""

    def __init__(self, name, dir, *options):
        self.name, self.dir = name, dir
        self.log = tempfile.NamedTemporaryFile(dir=TMP, mode="w+", delete=False)
        name_option = [] if "--config" in options else ["-n", name]  # it would override the file's
        self.p = subprocess.Popen([FLIGHTREC, "record", *name_option, *options], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=self.log)

    def said(self):
        with open(self.log.name) as f:
            return f.read()

    def armed(self):
        wait_for(lambda: "armed" in self.said() or self.p.poll() is not None, "the triggers are armed", 60)
        check(self.p.poll() is None, f"the recorder ended: {self.said()}")
        return self

    def files(self):
        return sorted(f"{self.dir}/{f}" for f in os.listdir(self.dir) if f.endswith(".flight"))

    def wait_files(self, cnt):
        return wait_for(lambda: self.files() if len(self.files()) >= cnt else None, f"{cnt} snapshots: {self.said()}", 60)

    def rules(self):
        return {r["rule"]: r for r in status(self.name)["triggers"]}

    def wait_seen(self, rule, cnt):
        """All moments so far are seen and decided."""
        def decided():
            r = self.rules()[rule]
            return r["seen"] >= cnt and accounted(r)
        wait_for(decided, f"{cnt} moments of {rule}: {self.rules()}", 60)
        return self.rules()[rule]

    def end(self, sig=signal.SIGTERM):
        self.p.send_signal(sig)
        return self.p.wait(60)


def accounted(r):
    return r["seen"] == sum(r["verdicts"].values()) + r["queue_lost"]


@contextlib.contextmanager
def recording(*options, profile=SMALL):
    """Recorder with -o of its own, ended with its session whatever happens."""
    dir, name = tempfile.mkdtemp(dir=TMP), new_name()
    r = Recorder(name, dir, "-o", dir, *profile, *options)
    try:
        yield r.armed()
    finally:
        if r.p.poll() is None:
            r.p.kill()
            r.p.wait()
        end(name)


def program(name):
    """A crashing program of its own: another file, another name."""
    file = path(name)
    if not os.path.exists(file):
        shutil.copy(helper("crasher"), file)
    return file


def crash(name, *args):
    return subprocess.run([program(name), *map(str, args)], stdout=subprocess.PIPE, text=True).stdout


def trigger(file):
    return fr_json("info", file)["trigger"]


@test("--on crash: one snapshot that says who, what and where; the next of the same only counts")
def on_crash():
    with recording("--on", "crash") as r:
        p = subprocess.Popen([program("victim")])
        p.wait()
        file = wait_for(lambda: [f for f in r.files() if "-victim-" in f], f"its snapshot: {r.said()}", 60)[0]
        crash("victim")
        rule = r.wait_seen("crash", 2)
        check(rule["verdicts"]["dedupe"] >= 1, f"verdicts: {rule}")
        equal([f for f in r.files() if "-victim-" in f], [file], "snapshots")
        check(re.search(rf"Z-crash-victim-{p.pid}\.flight$", file), file)
        t = trigger(file)
        equal((t["reason"], t["pid"], t["comm"], t["sig"], t["tid"], t["uid"], t["rule"]),
              ("crash", p.pid, "victim", 11, p.pid, os.getuid(), "crash"), "trigger")
        equal((t["exe"], t["addr"]), (program("victim"), "0x10"), "program and address")
        check(t["cgroup"].startswith("/"), t)
        events = [e for e in replay(file, "--life") if e["event"] in ("crash", "trigger")]
        died = [e for e in events if e["event"] == "crash" and e["pid"] == p.pid]
        marks = [e for e in events if e["event"] == "trigger" and e["target_pid"] == p.pid]
        equal((len(died), len(marks)), (1, 1), f"events of the death: {events}")
        equal((died[0]["ts"], f"0x{died[0]['ip']:x}"), (t["ts"], t["ip"]), "moment")
        equal((marks[0]["at"], marks[0]["verdict"], marks[0]["rule"]), (t["ts"], 0, 0), "mark: moment, taken, rule")
        equal(r.end(), 0, f"exit status: {r.said()}")
        check(not exists(r.name), "the session outlives its recorder")


@test("two sessions in one directory: each has its own snapshot of each death, also what it finds after a kill")
def same_directory():
    with recording("--on", ONE) as a, recording("--on", ONE, "-o", a.dir) as b:
        for cnt in range(1, 4):
            crash(f"one{TAG}")
            a.wait_files(2 * cnt)
        sessions = [fr_json("info", f)["session"] for f in a.files()]
        equal(sorted(sessions), sorted(3 * [a.name, b.name]), "sessions of the files")
        for r in a, b:
            verdicts = r.wait_seen(ONE, 3)["verdicts"]
            equal((verdicts["taken"], verdicts["failed"]), (3, 0), f"{r.name}: {verdicts}")
        writer = writer_of(b.p.pid)
        os.kill(writer, signal.SIGSTOP)
        crash(f"one{TAG}")
        a.wait_files(7)
        wait_for(lambda: b.rules()[ONE]["seen"] >= 4, "it is seen", 60)
        b.p.kill()
        b.p.wait()
        os.kill(writer, signal.SIGKILL)
        c = Recorder(b.name, a.dir, "-o", a.dir, *SMALL, "--on", ONE)
        try:
            c.wait_files(8)
        finally:
            c.end()
        equal([fr_json("info", f)["session"] for f in a.files()].count(b.name), 4, "snapshots of the second session")


@test("1,000 crashes of one program in some seconds: one file, all counted, the recorder lives")
def storm():
    text = f"crash:comm=storm{TAG},cooldown=1h"  # however long a busy machine takes for them
    with recording("--on", text) as r:
        equal(int(crash(f"storm{TAG}", 1000, 2000)), 1000, "deaths")
        rule = r.wait_seen(text, 1000)
        equal(rule["seen"], 1000, "moments")
        equal(rule["taken"], 1, f"taken: {rule}")
        equal(len(r.files()), 1, "files")
        equal(r.p.poll(), None, "exit status of the recorder")
        crash(f"storm-2{TAG}")  # another name
        time.sleep(0.2)
        equal(r.rules()[text]["seen"], 1000, "moments, after one of another program")
        return f"verdicts {({k: v for k, v in rule['verdicts'].items() if v})}, queue lost {rule['queue_lost']}"


@test("different deaths each have their snapshot at once; without a cooldown, what comes meanwhile is busy")
def several():
    each, again, most = f"each{TAG}", f"again{TAG}", f"max{TAG}"
    rules = [f"crash:comm={each}*", f"crash:comm={again},cooldown=0s", f"crash:comm={most},cooldown=0s,max=2/10m"]
    with recording(*[a for rule in rules for a in ("--on", rule)]) as r:
        procs = [subprocess.Popen([program(f"{each}-{i}")]) for i in range(5)]
        for p in procs:
            p.wait()
        r.wait_seen(rules[0], 5)
        files = r.wait_files(5)
        equal(sorted(trigger(f)["comm"] for f in files), [f"{each}-{i}" for i in range(5)], "whose")
        # one is being taken and does not end, one waits: the others are in that one
        writer = writer_of(r.p.pid)
        os.kill(writer, signal.SIGSTOP)
        crash(again, 20)
        wait_for(lambda: r.rules()[rules[1]]["verdicts"]["busy"] == 18, f"18 of 20 are busy: {r.rules()}", 60)
        os.kill(writer, signal.SIGCONT)
        crash(again, 180)
        rule = r.wait_seen(rules[1], 200)
        check(rule["verdicts"]["busy"] >= 18 and 0 < rule["taken"] <= 25, f"verdicts: {rule}")
        check(rule["taken"] + 5 <= 30, "30 in ten minutes")
        last = r.files()[-1]
        check(any(sum(x["since"].values()) > 1 for x in trigger(last)["rules"]), f"what came meanwhile: {trigger(last)}")
        crash(most, 5, 1000)
        rule = r.wait_seen(rules[2], 5)
        check(rule["taken"] <= 2 and rule["verdicts"]["max"] + rule["verdicts"]["storm"] + rule["verdicts"]["busy"] >= 3,
              f"verdicts: {rule}")
        check(len(r.files()) <= 30, f"{len(r.files())} files")
        fr("verify", *r.files())
        return f"{len(r.files())} files"


@test("post= goes on recording, last= leaves out what is older; a cooldown of the rule; exit:STATUS; filters that do not fit")
def options():
    shell, post = path(f"sh{TAG}"), f"post{TAG}"
    shutil.copy("/bin/sh", shell)
    rules = [f"crash:comm={post},post=1s,last=500ms", f"exit:7:comm=sh{TAG},cooldown=1h,dedupe=no", "crash:exe=/nowhere/*"]
    with recording(*[a for rule in rules for a in ("--on", rule)]) as r:
        time.sleep(1.2)
        crash(post)
        file = r.wait_files(1)[0]
        info = fr_json("info", file)
        at = info["trigger"]["ts"]
        check(info["snapshot_ns"] - at >= 1_000_000_000, f"it went on for {info}")
        check(at - 500_000_000 <= info["start_ns"] <= at, f"500 ms before the moment, and it, are in the file: {info}")
        equal([e["ts"] for e in replay(file, "--life") if e["event"] == "crash" and e["comm"] == post], [at], "the moment")
        for _ in range(3):
            run(shell, "-c", "exit 7", status=7)
        run(shell, "-c", "exit 6", status=6)
        rule = r.wait_seen(rules[1], 3)
        equal((rule["seen"], rule["taken"], rule["verdicts"]["cooldown"]), (3, 1, 2), f"exit:7: {rule}")
        equal([(trigger(f)["reason"], trigger(f)["status"]) for f in r.files()[1:]], [("exit", 7)], "reason and status")
        equal(r.wait_seen(rules[2], 1)["taken"], 0, "a filter that does not fit")


@test("exit:STATUS:exe=: holds where the kernel tells an ending process's program; elsewhere it is refused, with what holds there")
def exit_of_program():
    shell, release = path(f"sx{TAG}"), tuple(map(int, re.findall(r"\d+", os.uname().release)[:2]))
    shutil.copy("/bin/sh", shell)
    rule = f"exit:31:exe={shell},cooldown=0s"
    if release < (6, 16):
        name = new_name()
        said = fr("record", "-n", name, "-o", TMP, *SMALL, "--on", rule, status=1).stderr
        end(name)
        check("use comm= or cgroup=" in said, said)
        return "refused"
    with recording("--on", rule) as r:
        run(shell, "-c", "exit 31", status=31)
        r.wait_files(1)
        equal(r.rules()[rule]["taken"], 1, f"taken: {r.rules()}")
    return "holds"


@test("every:T, SIGUSR1 and exit, with their options; a recorder without periodic triggers does not wake up")
def own_moments():
    with recording("--on", "every:400ms,max=3/1h", "--on", "signal:last=100ms,cooldown=1h", "--on", "exit") as r:
        r.wait_files(3)
        r.wait_seen("every:400ms,max=3/1h", 4)
        r.p.send_signal(signal.SIGUSR1)
        r.wait_files(4)
        r.p.send_signal(signal.SIGUSR1)
        wait_for(lambda: "SIGUSR1 takes no snapshot: the rule's last snapshot is younger" in r.said(), f"refused: {r.said()}")
        equal(r.end(signal.SIGINT), 0, f"exit status: {r.said()}")
        equal([re.sub(r".*Z-|\.flight", "", f) for f in r.files()], ["every"] * 3 + ["signal", "exit"], "snapshots")
        check("alone may take" not in r.said(), r.said())
    with recording("--on", "every:20s", "--on", "every:21s") as r:
        check("'every:20s' alone may take the 30 snapshots in 10.0 min" in r.said(), r.said())
        check("'every:21s'" not in r.said(), r.said())
    with recording("--on", "crash:comm=nobody") as r:
        def switches():
            with open(f"/proc/{r.p.pid}/status") as f:
                return int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", f.read(), re.M).group(1))

        def idle_second():  # devices that come and go elsewhere on this host do wake it up
            before = switches()
            time.sleep(1)
            return switches() == before
        wait_for(idle_second, "a second in which the idle recorder does not run", 60)


@test("psi: pressure that is made pulls it, none does not")
def psi():
    try:
        with open("/proc/pressure/cpu") as f:
            f.read()
    except OSError as why:
        raise Skip(f"this kernel measures no pressure: {why}")
    with recording("--on", "psi:cpu:10%", "--on", "psi:memory.full:99%") as r:
        hogs = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(4 * os.cpu_count())]
        try:
            wait_for(lambda: [f for f in r.files() if "-psi" in f], f"a snapshot for pressure: {r.said()}", 60)
        finally:
            for p in hogs:
                p.kill()
                p.wait()
        t = trigger([f for f in r.files() if "-psi" in f][0])
        check(t["text"].startswith("some avg10="), t)
        equal(t["rule"], "psi:cpu:10%", "rule")
        equal(r.rules()["psi:memory.full:99%"]["seen"], 0, "moments of a pressure nobody made")


def write_config(file, name, dir, *on, more=""):
    with open(file + ".new", "w") as f:
        f.write(f"[Session]\nName={name}\nProfile=minimal\nMemory=2M\n[Storage]\nDirectory={dir}\nMaxFiles=0\n"
                f"[Control]\nSocket=no\n[Notify]\nJournal=no\n{more}[Trigger]\nStormCount=0\n")
        f.writelines(f"On={rule}\n" for rule in on)
    os.replace(file + ".new", file)


@contextlib.contextmanager
def configured(*on):
    """A name, a directory and a configuration file; the session is ended."""
    name, dir = new_name(), tempfile.mkdtemp(dir=TMP)
    file = path(f"{name}.conf")
    write_config(file, name, dir, *on)
    try:
        yield name, dir, file
    finally:
        end(name)


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


def initial_values(pid):
    """What loading BPF objects left mapped: bytes."""
    with open(f"/proc/{pid}/maps") as f:
        ends = [line.split()[0].split("-") for line in f if "/dev/zero (deleted)" in line]
    return sum(int(end, 16) - int(begin, 16) for begin, end in ends)


@test("--config: SIGHUP under load puts a good file in force, refuses a bad one, loses nothing; SIGTERM leaves the session")
def reload():
    with configured(ONE) as (name, dir, file):
        r = Recorder(name, dir, "--config", file)
        load = None
        try:
            r.armed()
            load = start_load(f"one{TAG}", 10000)
            begin, mapped = status(name)["begin_ns"], None
            for i in range(6):
                write_config(file, name, dir, ONE, f"exit:{i + 20}")
                r.p.send_signal(signal.SIGHUP)
                wait_for(lambda: r.said().count("reloaded:") == i + 1, f"reload {i}: {r.said()}", 60)
                run("sh", "-c", f"exit {i + 20}", status=i + 20)
                r.wait_files(1)
                wait_for(lambda: r.rules()[f"exit:{i + 20}"]["taken"] >= 1, f"the new rule {i}: {r.rules()}", 60)
                mapped = initial_values(r.p.pid) if mapped is None else mapped
            equal(initial_values(r.p.pid), mapped, "bytes that reloads left mapped")
            deep = f"{dir}/" + "/".join(["d" * 200] * 4)
            os.makedirs(deep)
            for bad, word in (("On=crash\nOn=thursday\n", "thursday"), ("Nonsense=1\n", "Nonsense"), ("[Strorage]\n", "Storage"),
                              (None, "File name too long")):
                if bad:
                    with open(file, "a") as f:
                        f.write(bad)
                else:
                    write_config(file, name, deep + "/" + "d" * 40, ONE)
                before = r.said().count("reload refused")
                r.p.send_signal(signal.SIGHUP)
                wait_for(lambda: r.said().count("reload refused") > before, f"refused: {r.said()}")
                check(word in r.said().rpartition("reload refused")[2], r.said())
                write_config(file, name, dir, ONE)
            run("sh", "-c", "exit 25", status=25)
            wait_for(lambda: r.rules()["exit:25"]["seen"] >= 2, "the old rules stay after a bad file")
            write_config(file, name, dir, ONE, more="[Session]\nMemory=3M\n")
            r.p.send_signal(signal.SIGHUP)
            wait_for(lambda: "Session.Memory" in r.said(), "what needs a new ring is named")
            died = end_load(load)
            rule = r.wait_seen(ONE, died)
            check(rule["seen"] <= died, f"{died} deaths: {rule}")
            equal(status(name)["begin_ns"], begin, "begin of the session")
            equal(r.end(), 0, f"exit status: {r.said()}")
            check(exists(name), "SIGTERM ended the session of a daemon")
            fr("stop", "-n", name)
            fr("verify", *r.files())
            return f"{died} deaths over 10 reloads, {rule['taken']} snapshots"
        finally:
            kill_load(load)
            kill(r)


def send_reload(r):
    """A reload, by SIGHUP, until it is in force."""
    before = r.said().count("reloaded:")
    r.p.send_signal(signal.SIGHUP)
    wait_for(lambda: r.said().count("reloaded:") > before, f"reload: {r.said()}", 60)


@contextlib.contextmanager
def hanging(name):
    """A task of that name in D, while it lasts."""
    with subprocess.Popen([helper("waits"), "vfork", name, "600000"], stdout=subprocess.PIPE, text=True) as p:
        tid = int(p.stdout.readline())
        try:
            yield tid
        finally:
            for child in children(tid):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)


@test("--config: reloads that change no rule's text leave its programs alone: a pause of hung is told once")
def reload_of_others():
    hung = f"hung>200ms:comm=hang{TAG},cooldown=0s"
    with configured(hung) as (name, dir, file):
        r = Recorder(name, dir, "--config", file)
        try:
            r.armed()
            with hanging(f"hang{TAG}"):
                r.wait_seen(hung, 1)
                links = sorted(glob.glob(f"{SESSIONS}/{name}/trig-*"))
                for cnt in (50, 51):
                    write_config(file, name, dir, hung, more=f"[Storage]\nMaxFiles={cnt}\n")
                    send_reload(r)
                    equal(sorted(glob.glob(f"{SESSIONS}/{name}/trig-*")), links, "links of the programs")
                time.sleep(1)  # 20 looks
                equal(r.rules()[hung]["seen"], 1, "pauses told")
                write_config(file, name, dir, hung, "exit:26")
                send_reload(r)
                run("sh", "-c", "exit 26", status=26)
                r.wait_seen("exit:26", 1)
            equal(r.end(), 0, f"exit status: {r.said()}")
        finally:
            kill(r)


@test("--config: reloads that change a rule's text under its deaths: each has one decision, counted where its rule counts")
def reload_of_texts():
    texts = [f"crash:comm=loop{TAG},last={ms}ms,cooldown=1h" for ms in (1, 2)]
    sets = [texts[:1], ["exit:27", texts[1]]]  # another number, too
    more = "[Session]\nMemory=16M\n"
    with configured() as (name, dir, file):
        write_config(file, name, dir, *sets[0], more=more)
        r = Recorder(name, dir, "--config", file)
        load = None
        try:
            r.armed()
            load = start_load(f"loop{TAG}", 20000)
            for i in range(1, 8):
                wait_for(lambda: r.rules()[texts[(i - 1) % 2]]["seen"] >= 1, f"deaths: {r.rules()}", 60)
                write_config(file, name, dir, *sets[i % 2], more=more)
                send_reload(r)
            died = end_load(load)
            rules = [None, r.wait_seen(texts[1], 1)]
            write_config(file, name, dir, *sets[0], more=more)
            send_reload(r)
            rules[0] = r.rules()[texts[0]]
            events = [e for e in replay(dump(name), "--life") if e["event"] in ("crash", "trigger")]
            check(accounted(rules[0]), f"verdicts of what came while others were loaded: {rules[0]}")
            equal(sum(x["seen"] for x in rules), died, f"deaths that were seen: {rules}")
            crashes = [e["pid"] for e in events if e["event"] == "crash"]
            marks = [e["target_pid"] for e in events if e["event"] == "trigger" and e["reason"] == "crash"]
            equal(len(crashes), died, "events of deaths")
            equal(len(marks) + sum(x["queue_lost"] for x in rules), died, "decisions in the history, and alerts lost")
            equal((len(set(marks)), set(marks) - set(crashes)), (len(marks), set()), "whom they are about: each once")
            equal(r.end(), 0, f"exit status: {r.said()}")
            return f"{died} deaths over 8 reloads"
        finally:
            kill_load(load)
            kill(r)


def deaths_in_journal(dir, who):
    """How many deaths by a signal of programs of that name a directory's journal of incidents tells."""
    if not os.path.exists(f"{dir}/incidents.journal"):
        return 0
    with open(f"{dir}/incidents.journal") as f:
        return sum('"kind":"signal"' in line and f'"comm":"{who}"' in line for line in f)


@test("--config: a reload whose hook has a user that is not there is refused, and the old one stays")
def no_such_user():
    with configured(NOBODY) as (name, dir, file):
        told = path("old-hook")
        write_config(file, name, dir, ONE, more=f"[Notify]\nExec=touch {told}\nExecUser=0\n")
        r = Recorder(name, dir, "--config", file)
        try:
            r.armed()
            write_config(file, name, dir, NOBODY, more=f"[Notify]\nExec=touch {told}.new\nExecUser=frtest-none\n")
            r.p.send_signal(signal.SIGHUP)
            wait_for(lambda: "reload refused: Notify.ExecUser: no user 'frtest-none'" in r.said(), f"it is refused: {r.said()}")
            crash(f"one{TAG}")
            wait_for(lambda: os.path.exists(told), f"the old hook runs: {r.said()}")
            equal(fr("record", "--check-config", "--config", file, status=None).returncode, 2, "--check-config")
            equal(r.end(), 0, f"exit status: {r.said()}")
        finally:
            kill(r)


@test("--config: a reload, and a restart, with another Directory=: incidents, status, dump and stop go there, too")
def other_directory():
    who = f"moved{TAG}"
    with configured(NOBODY) as (name, first, file):
        second, third = (tempfile.mkdtemp(dir=TMP) for _ in range(2))
        r = Recorder(name, first, "--config", file)
        try:
            r.armed()
            crash(who)
            wait_for(lambda: deaths_in_journal(first, who) == 1, "a death in the first journal", 60)
            write_config(file, name, second, NOBODY)
            send_reload(r)
            equal(status(name)["dir"], second, "directory of the session")
            crash(who)
            wait_for(lambda: deaths_in_journal(second, who) == 1, "a death in the second journal", 60)
            equal(os.path.dirname(fr("dump", "-n", name).stdout.strip()), second, "directory of a snapshot")
            equal(r.end(), 0, f"exit status: {r.said()}")
            write_config(file, name, third, NOBODY)
            r = Recorder(name, third, "--config", file).armed()
            check("adopted" in r.said(), r.said())
            equal(status(name)["dir"], third, "directory of the session, adopted")
            equal(r.end(), 0, f"exit status: {r.said()}")
        finally:
            kill(r)
        crash(who)
        fr("stop", "-n", name)
        equal([deaths_in_journal(dir, who) for dir in (first, second, third)], [1, 1, 1], "deaths in the journals")


@test("--config: a restart with other [Session] settings saves the history and begins anew")
def other_settings():
    with configured() as (name, dir, file):
        for nr, more in enumerate(("", "[Session]\nMemory=3M\n")):
            write_config(file, name, dir, f"exit:{nr + 20}", more=more)
            r = Recorder(name, dir, "--config", file)
            try:
                r.armed()
                equal(len(glob.glob(f"{dir}/*-settings.flight")), nr, f"last snapshots: {r.said()}")
                equal(r.end(), 0, f"exit status: {r.said()}")
            finally:
                kill(r)
        fr("verify", *r.files())


@test("--config: a reload with another Name= says that the session stays under its name, and how to end it")
def other_name():
    with configured() as (name, dir, file):
        write_config(file, name, dir, "exit:20")
        r = Recorder(name, dir, "--config", file)
        try:
            r.armed()
            write_config(file, f"{name}-b", dir, "exit:20")
            send_reload(r)
            check(f"session '{name}' stays" in r.said() and f"`flightrec stop -n {name}`" in r.said(), r.said())
            check("saves its history first" not in r.said(), r.said())
            equal(r.end(), 0, f"exit status: {r.said()}")
        finally:
            kill(r)


@test("--config: a reload does not report keys of [Session] that options override")
def overridden():
    with configured() as (name, dir, file):
        write_config(file, "other", dir, "exit:20")
        r = Recorder(name, dir, "--config", file, "-n", name, "-m", "3M", "-f", "event == sched_switch")
        try:
            r.armed()
            write_config(file, "another", dir, "exit:20", more="[Session]\nMemory=4M\nFilter=event == task_rename\n")
            send_reload(r)
            check("takes effect" not in r.said(), r.said())
            write_config(file, "another", dir, "exit:20", more="[Session]\nMemory=4M\nProfile=default\n")
            send_reload(r)
            check("its history first: Session.Profile\n" in r.said(), r.said())
            equal(r.end(), 0, f"exit status: {r.said()}")
        finally:
            kill(r)


@test("what persons asked for is no storm for the next recorder; what rules had taken is, and its dedupe")
def storm_kept():
    one, other = f"storm-a{TAG}", f"storm-b{TAG}"
    rule = f"crash:comm={one}|{other},cooldown=1h"
    with configured(rule) as (name, dir, file):
        with open(file) as f:
            text = f.read()
        with open(file, "w") as f:
            f.write(text.replace("StormCount=0", "StormCount=2\nStormTime=1h").replace("Socket=no", "Socket=yes"))
        # of the second no snapshot, as it is the same; of the third one, though three were asked for
        for nr, (asked, who, taken, dedupe) in enumerate(((3, one, 1, 0), (0, one, 1, 1), (0, other, 2, 1))):
            r = Recorder(name, dir, "--config", file)
            try:
                r.armed()
                for _ in range(asked):
                    fr("dump", "-n", name)
                crash(who)
                # others that die on this host are filtered
                wait_for(lambda: sum(r.rules()[rule]["verdicts"][v] for v in ("taken", "dedupe", "storm")) == nr + 1, f"moment {nr} is decided", 60)
                verdicts = r.rules()[rule]["verdicts"]
                equal((verdicts["taken"], verdicts["dedupe"]), (taken, dedupe), f"moment {nr}: {verdicts}")
                wait_for(lambda: len([f for f in r.files() if "-crash-" in f]) == taken, "its snapshot")
            finally:
                kill(r)


@test("limits that look back on more snapshots than an older version's session keeps: the next recorder says so, and counts those")
def granted_forgotten():
    rule = "every:100ms,max=66/1h"
    with configured(rule) as (name, dir, file):
        refused = 0
        for cnt, ledger in (66, True), (66, True), (69, False):  # without a ledger the last 63 are known
            if not ledger:
                os.unlink(f"{SESSIONS}/{name}/ledger")
            r = Recorder(name, dir, "--config", file)
            try:
                r.armed()
                wait_for(lambda: len(r.files()) >= cnt and r.rules()[rule]["verdicts"]["max"] > refused, f"{cnt} snapshots: {r.rules()}")
                equal(len(r.files()), cnt, f"snapshots: {r.rules()}")
                equal("of 66 snapshots for triggers only 63 are known" in r.said(), not ledger, f"said: {r.said()}")
                refused = r.rules()[rule]["verdicts"]["max"]
            finally:
                kill(r)


@test("deaths while no recorder lives are seen by the next, with other triggers too; cooldowns hold over a kill")
def take_over():
    dir, name = tempfile.mkdtemp(dir=TMP), new_name()
    before, between = f"before{TAG}", f"between{TAG}"
    rule = f"crash:comm={between}|{before},cooldown=1h"  # longer than any machine takes for all this
    args = ("-o", dir, *SMALL, "--on", rule)
    r = Recorder(name, dir, *args)
    try:
        r.armed()
        crash(before)
        r.wait_files(1)
        kill(r)
        crash(before)
        crash(between)
        r = Recorder(name, dir, *args, "--on", "exit:9").armed()
        check("adopted" in r.said(), r.said())
        r.wait_files(2)
        r.wait_seen(rule, 3)
        equal(sorted(trigger(f)["comm"] for f in r.files()), sorted((before, between)), "snapshots")
        seen = [e["ts"] for e in replay(r.files()[-1], "--life") if e["event"] == "crash"]
        equal(len(seen), len(set(seen)), "events, each once")
        check(len(seen) >= 3, f"deaths in the history: {seen}")
        equal(r.end(), 0, f"exit status: {r.said()}")
    finally:
        kill(r)
        end(name)


@test("status says which rules are in force; what waited for one that a take-over or a reload ended is counted")
def ended_rules():
    who = f"ended{TAG}"
    before, after = (f"crash:comm={who},cooldown={hours}h" for hours in (1, 2))
    with configured(before) as (name, dir, file):
        r = Recorder(name, dir, "--config", file)
        try:
            r.armed()
            kill(r)
            for _ in range(3):
                crash(who)
            write_config(file, name, dir, NOBODY)
            r = Recorder(name, dir, "--config", file).armed()
            rules = r.rules()
            equal((rules[before]["in_force"], rules[NOBODY]["in_force"]), (False, True), "in force after a take-over")
            equal((rules[before]["seen"], rules[before]["verdicts"]["filtered"]), (3, 3), f"moments that waited: {rules[before]}")
            check(f"moments of '{before}', no longer in force" in r.said(), r.said())
            write_config(file, name, dir, after)
            send_reload(r)
            rules = r.rules()
            equal({text: rule["in_force"] for text, rule in rules.items()}, {before: False, NOBODY: False, after: True}, "after a reload")
            text = fr("status", "-n", name).stdout
            equal(text.count("(not in force)"), 2, text)
            equal((r.files(), r.end()), ([], 0), f"snapshots, and exit status: {r.said()}")
        finally:
            kill(r)


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as f:
        return [int(c) for c in f.read().split()]


def kill_something(r, rng):
    """The recorder, or the process that writes for it, or both."""
    what = rng.choice(("recorder", "writer", "both"))
    with contextlib.suppress(OSError):
        for pid in children(r.p.pid) if what != "recorder" else []:
            os.kill(pid, signal.SIGKILL)
    if what == "writer":
        time.sleep(rng.random() * 0.1)
    kill(r)
    return what


@test("recorder and writer killed at random moments with crashes going on: no partial file, none twice, each is accounted")
def kills():
    rng = random.Random(SEED)
    rule = f"crash:comm=dying{TAG},cooldown=0s"
    with configured(rule) as (name, dir, file):
        r = Recorder(name, dir, "--config", file).armed()
        load = start_load(f"dying{TAG}", 20000)
        try:
            for _ in range(KILLS):
                time.sleep(rng.random() * 0.5)
                kill_something(r, rng)
                r = Recorder(name, dir, "--config", file)
                if rng.random() < 0.8:
                    r.armed()
            r.armed()
            died = end_load(load)
            got = r.wait_seen(rule, died)
            wait_for(lambda: accounted(r.rules()[rule]), f"each is accounted: {r.rules()}")
            equal(r.end(), 0, f"exit status: {r.said()}")
        finally:
            kill_load(load)
            kill(r)
        equal(got["seen"], died, "deaths seen")
        fr("dump", "-n", name, "-o", f"{dir}/last.flight")
        equal([f for f in os.listdir(dir) if ".tmp-" in f], [], "temporary files after a whole dump")
        os.unlink(f"{dir}/last.flight")
        files = r.files()
        for i in range(0, len(files), 50):
            fr("verify", *files[i:i + 50])
        moments = [(trigger(f)["pid"], trigger(f)["ts"]) for f in files]
        equal(len(set(moments)), len(files), "moments, each in one file")
        equal(got["taken"], len(files), f"files, as counted: {got}")
    return f"{KILLS} kills, {died} deaths, {len(files)} files, verdicts " \
        f"{({k: v for k, v in got['verdicts'].items() if v})}, seed {SEED}"


def writer_of(pid):
    """Pid of the process that writes snapshots for a recorder; 0: none just now."""
    for child in children(pid):
        with contextlib.suppress(OSError), open(f"/proc/{child}/comm") as f:
            if f.read() == "flightrec-write\n":
                return child
    return 0


def held_programs(pid):
    """The ids of the BPF programs that a process has open."""
    ids = set()
    with contextlib.suppress(OSError):
        for fd in os.listdir(f"/proc/{pid}/fdinfo"):
            with contextlib.suppress(OSError), open(f"/proc/{pid}/fdinfo/{fd}") as f:
                ids |= set(re.findall(r"^prog_id:\s+(\d+)$", f.read(), re.M))
    return ids


def confined(pid):
    with open(f"/proc/{pid}/status") as f:
        return re.search(r"^Seccomp:\s+2$", f.read(), re.M)


@test("a writer that is made anew by a confined recorder holds the programs whose misses snapshots tell")
def writer_holds():
    with recording("--on", "crash:comm=nobody") as r:
        wait_for(lambda: confined(r.p.pid), "the recorder is confined", 60)
        first = wait_for(lambda: writer_of(r.p.pid), "a writer", 60)
        wait_for(lambda: confined(first), "the writer is confined", 60)
        want = held_programs(first)
        check(len(want) > 3, f"programs held by the first writer: {want}")
        for _ in range(2):
            old = writer_of(r.p.pid)
            os.kill(old, signal.SIGKILL)
            new = wait_for(lambda: (pid := writer_of(r.p.pid)) != old and pid, f"another writer: {r.said()}", 60)
            wait_for(lambda: confined(new), "it is confined", 60)
            equal(held_programs(new), want, "programs held by the new writer")


@test("where it may use several CPUs, a confined writer encodes in several threads, which end with the snapshot")
def writer_threads():
    most = 0
    with recording("--on", "crash:comm=nobody") as r:
        wait_for(lambda: confined(r.p.pid), "the recorder is confined", 60)
        tasks = f"/proc/{wait_for(lambda: writer_of(r.p.pid), 'a writer', 60)}/task"
        for _ in range(5):
            p = subprocess.Popen([FLIGHTREC, "dump", "-n", r.name], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while p.poll() is None:
                most = max(most, len(os.listdir(tasks)))
            equal(p.returncode, 0, "dump")
        wait_for(lambda: len(os.listdir(tasks)) == 1, "its threads end")
    if len(os.sched_getaffinity(0)) < 2:
        raise Skip("there is one CPU")
    check(most > 1, f"at most {most} thread")


def most_memory(pid):
    """What a process has had at most, in MiB."""
    with open(f"/proc/{pid}/status") as f:
        return int(re.search(r"^VmHWM:\s+(\d+) kB", f.read(), re.M)[1]) / 1024


@test("a writer has the memory for snapshots before the first one")
def writer_memory():
    with recording("--on", "crash:comm=nobody") as r:
        wait_for(lambda: confined(r.p.pid), "the recorder is confined", 60)
        writer = wait_for(lambda: writer_of(r.p.pid), "a writer", 60)
        wait_for(lambda: confined(writer), "the writer is confined", 60)
        before = most_memory(writer)
        fr("dump", "-n", r.name)
        more = most_memory(writer) - before
    check(more < 8, f"{more:.1f} MiB more than the {before:.0f} that it had")  # its own code, and what /proc says of tasks
    return f"{more:.1f} MiB more"


@test("a writer that is killed is made anew: idle, and again, and the next deaths have their snapshots")
def writer_killed():
    with recording("--on", f"crash:comm=w{TAG}-*") as r:
        for i in range(5):
            for pid in children(r.p.pid):
                os.kill(pid, signal.SIGKILL)
            if i % 2:
                time.sleep(0.2)
            crash(f"w{TAG}-{i}")
            r.wait_files(i + 1)
        rule = r.wait_seen(f"crash:comm=w{TAG}-*", 5)
        equal((rule["taken"], rule["verdicts"]["failed"]), (5, 0), f"verdicts: {rule}")
        equal(r.end(), 0, f"exit status: {r.said()}")


def running(pid):
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat") as f:
        return f.read().rsplit(")", 1)[1].split()[0] != "Z"


@contextlib.contextmanager
def frozen(pid):
    """A process that not even SIGKILL ends: in a frozen cgroup of version 1."""
    dir = f"/sys/fs/cgroup/freezer/frtest-{os.getpid()}"
    if not os.path.exists("/sys/fs/cgroup/freezer/tasks"):
        raise Skip("no freezer of cgroup v1")

    def put(file, text):
        with open(f"{dir}/{file}", "w") as f:
            f.write(text)
    os.mkdir(dir)
    try:
        put("tasks", str(pid))
        put("freezer.state", "FROZEN")
        yield
    finally:
        put("freezer.state", "THAWED")
        wait_for(lambda: not running(pid), "it ends when it can")
        os.rmdir(dir)


@test("a snapshot that was complete when its recorder was killed is the next one's, which tells what it knows of it")
def complete_already():
    with configured(ONE) as (name, dir, file):
        first = Recorder(name, dir, "--config", file).armed()
        second = None
        try:
            writer = wait_for(lambda: writer_of(first.p.pid), "a writer", 60)
            wait_for(lambda: confined(writer), "the writer is confined", 60)
            os.kill(writer, signal.SIGSTOP)
            crash(f"one{TAG}")
            wait_for(lambda: first.rules()[ONE]["alerted"] == 1, "the alert", 60)
            for _ in range(3):
                first.rules()  # the recorder answers: what came before has been handled, and the writer has its order
            os.kill(first.p.pid, signal.SIGSTOP)  # it is not told that its snapshot is complete
            os.kill(writer, signal.SIGCONT)
            taken = wait_for(first.files, "the snapshot", 60)
            kill(first)
            second = Recorder(name, dir, "--config", file).armed()
            says = f"snapshot {taken[0]}: "
            wait_for(lambda: says in second.said(), "it is told", 60)
            line = next(l for l in second.said().splitlines() if says in l)
            check(re.search(r": [0-9.]+ [KM]iB, was complete before its recorder heard of it$", line), line)
            check("after its moment" not in second.said(), f"when it was complete is not known: {second.said()}")
            rule = second.wait_seen(ONE, 1)
            equal((rule["taken"], second.files()), (1, taken), "taken, once")
        finally:
            kill(first)
            if second:
                kill(second)


@test("a writer that is stopped: another one takes the snapshot, and the recorder ends when told to")
def writer_stopped():
    with configured(ONE) as (name, dir, file):
        write_config(file, name, dir, ONE, more="[Storage]\nWriteTimeout=2s\n")
        r = Recorder(name, dir, "--config", file).armed()
        try:
            first = writer_of(r.p.pid)
            os.kill(first, signal.SIGSTOP)
            crash(f"one{TAG}")
            fr("verify", *r.wait_files(1))
            check("stood still for 2 s" in r.said(), r.said())
            check(not os.path.exists(f"/proc/{first}"), "the stopped one is still there")
            check("ended its writer, which stood still" in fr("incidents", "-n", name).stdout, "it is an incident")
            rule = r.wait_seen(ONE, 1)
            equal((rule["taken"], rule["verdicts"]["failed"]), (1, 0), f"verdicts: {rule}")
            os.kill(writer_of(r.p.pid), signal.SIGSTOP)  # it has one in progress when the recorder ends
            crash(f"one{TAG}")
            time.sleep(0.2)
            equal(r.end(), 0, f"exit status: {r.said()}")
            equal(len(r.files()), 2, f"files: {r.said()}")
            r = Recorder(name, dir, "--config", file).armed()
            os.kill(writer_of(r.p.pid), signal.SIGSTOP)  # idle
            equal(r.end(), 0, f"exit status: {r.said()}")
        finally:
            kill(r)


@test("a writer that not even SIGKILL ends: the snapshot failed, each moment is counted, and when it has gone there are snapshots again")
def writer_frozen():
    with configured(ONE) as (name, dir, file):
        write_config(file, name, dir, ONE, more="[Storage]\nWriteTimeout=2s\n")
        r = Recorder(name, dir, "--config", file).armed()
        try:
            with frozen(writer_of(r.p.pid)):
                crash(f"one{TAG}")
                wait_for(lambda: r.rules()[ONE]["verdicts"]["failed"] == 1, f"it failed: {r.said()}", 30)
                check("cannot be ended" in r.said(), r.said())
                crash(f"one{TAG}")
                wait_for(lambda: r.rules()[ONE]["verdicts"]["failed"] == 2, f"this one, too: {r.said()}", 30)
                equal(r.files(), [], "files")
            crash(f"one{TAG}")
            r.wait_files(1)
            rule = r.wait_seen(ONE, 3)
            equal((rule["taken"], rule["verdicts"]["failed"]), (1, 2), f"verdicts: {rule}")
            equal(r.end(), 0, f"exit status: {r.said()}")
        finally:
            kill(r)


@test("a snapshot left by a killed recorder that the next one cannot take: no limit counts it, not for the one after that either")
def failed_takeover():
    rule = f"crash:comm=left{TAG},cooldown=1h"
    with configured(rule) as (name, dir, file):
        r = Recorder(name, dir, "--config", file).armed()
        try:
            writer = writer_of(r.p.pid)
            os.kill(writer, signal.SIGSTOP)
            crash(f"left{TAG}")
            wait_for(lambda: r.rules()[rule]["seen"] == 1, "it is seen", 60)
            time.sleep(0.5)  # and decided
            kill(r)
            os.kill(writer, signal.SIGKILL)
            os.rename(dir, dir + ".old")  # it was promised there
            other = tempfile.mkdtemp(dir=TMP)
            write_config(file, name, other, rule)
            for _ in range(2):
                r = Recorder(name, other, "--config", file).armed()
                wait_for(lambda: r.rules()[rule]["verdicts"]["failed"] == 1, f"it failed: {r.said()}", 60)
                kill(r)
            r = Recorder(name, other, "--config", file).armed()
            crash(f"left{TAG}")
            r.wait_files(1)
            got = r.wait_seen(rule, 2)
            equal((got["taken"], got["verdicts"]["failed"]), (1, 1), f"verdicts: {got}")
            equal(r.end(), 0, f"exit status: {r.said()}")
        finally:
            kill(r)


@test("--config: old snapshots leave while none is taken, marked ones stay; a reload with a smaller quota counts at once")
def quiet_host():
    with configured(NOBODY) as (name, dir, file):
        def limit(quota):
            write_config(file, name, dir, NOBODY, more=f"[Storage]\n{quota}\nKeepFree=0%\n")
        limit("MaxAge=0")
        r = Recorder(name, dir, "--config", file)
        try:
            r.armed()
            files = [fr("dump", "-n", name).stdout.strip() for _ in range(4)]
            fr("list", "--keep", files[0])
            for quota, left in (("MaxFiles=3", 3), (f"MaxBytes={os.path.getsize(files[0]) + os.path.getsize(files[3]) - 1}", 1)):
                limit(quota)
                send_reload(r)
                equal(r.files()[0], files[0], f"the marked one, with {quota}")
                check(len(r.files()) <= left, f"{quota}: {r.files()}")
            limit("MaxAge=8s")
            send_reload(r)
            newest = fr("dump", "-n", name).stdout.strip()
            wait_for(lambda: not os.path.exists(newest), f"it leaves when it is old: {r.files()}")
            equal(r.files(), files[:1], "the marked one stays")
            equal(r.end(), 0, f"exit status: {r.said()}")
        finally:
            kill(r)


def leave_free(dir, name, begin=b""):
    """A file that fills a file system but for 1.3 MB."""
    fs = os.statvfs(dir)
    with open(os.path.join(dir, name), "wb") as f:
        f.write(begin + bytes(fs.f_bavail * fs.f_frsize - 1300000 - len(begin)))


@test("a disk full of snapshots: old ones leave, though the next is larger than all before, or another recorder took them")
def growing():
    with configured(NOBODY) as (name, dir, file):
        run("mount", "-t", "tmpfs", "-o", "size=12m", "frtest", dir)
        write_config(file, name, dir, NOBODY,
                     more="[Session]\nProfile=full\nMemory=16M\n[Storage]\nKeepFree=0%\n[Control]\nSocket=yes\n")
        r = Recorder(name, dir, "--config", file)
        try:
            r.armed()
            small = fr("dump", "-n", name).stdout.strip()
            old = re.sub(r"-2\d{7}T", time.strftime("-%Y%m%dT", time.gmtime(time.time() - 86400)), small)
            with open(small, "rb") as f:
                leave_free(dir, old, f.read())
            run(MIXED, "2")
            larger = fr("dump", "-n", name).stdout.strip()
            check("No space left" in r.said(), f"it is larger than what was free: {os.path.getsize(larger)} bytes, {r.said()}")
            equal(r.files(), [small, larger], f"the old one left: {r.said()}")
            kill(r)
            leave_free(dir, "other")
            r = Recorder(name, dir, "--config", file).armed()
            last = fr("dump", "-n", name).stdout.strip()
            equal(r.files(), [last], f"the old ones left: {r.said()}")
            check("No space left" not in r.said(), f"room is made before: {r.said()}")
            equal(r.end(), 0, f"exit status: {r.said()}")
        finally:
            kill(r)
            run("umount", "-l", dir)


@test("a snapshot that cannot be removed stays, and others leave in its place")
def stuck():
    with configured(NOBODY) as (name, dir, file):
        write_config(file, name, dir, NOBODY, more="[Storage]\nMaxFiles=2\n[Control]\nSocket=yes\n")
        r = Recorder(name, dir, "--config", file)
        try:
            r.armed()
            held = fr("dump", "-n", name).stdout.strip()
            run("mount", "--bind", held, held)  # whoever removes it is told EBUSY
            try:
                for _ in range(3):
                    last = fr("dump", "-n", name).stdout.strip()
            finally:
                run("umount", held)
            equal(r.files(), [held, last], f"what stayed: {r.said()}")
            equal(r.said().count(f"cannot remove {held}"), 1, f"it is said once: {r.said()}")
            equal(r.end(), 0, f"exit status: {r.said()}")
        finally:
            kill(r)


@test("at the end the last snapshot's hook runs to its end; one that takes too long is ended by another signal")
def last_hook():
    told, begun = path("last-hook"), path("last-hook-begun")
    with recording("--on", "exit", "--exec-user", "root", "--exec", f"sleep 1; echo $FLIGHTREC_FILE > {told}") as r:
        equal(r.end(), 0, f"exit status: {r.said()}")
        check(os.path.exists(told), f"the hook was not waited for: {r.said()}")
        with open(told) as f:
            equal(f.read().splitlines(), r.files(), "the hook's file")
    with recording("--on", "exit", "--exec-user", "root", "--exec", f"touch {begun}; exec sleep 1000") as r:
        r.p.send_signal(signal.SIGTERM)
        wait_for(lambda: os.path.exists(begun) and "waiting for hooks (1)" in r.said(), f"the hook runs: {r.said()}", 60)
        equal(r.end(), 0, f"exit status: {r.said()}")
        check("it is ended: the recorder ends" in r.said(), r.said())


@test("--check-config: what would be recorded, or what is wrong; needs no root")
def check_config():
    with configured("crash", "latency:wakeup>5ms") as (name, dir, file):
        os.chmod(TMP, 0o711)
        os.chmod(file, 0o644)
        dangling = path("dangling")
        os.symlink("/nonexistent", dangling)
        got = run("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", FLIGHTREC, "record", "--config", file,
                  "--check-config").stdout
        for word in (f"session {name}", "minimal", "trigger crash", "trigger latency:wakeup>5ms", dir):
            check(word in got, f"'{word}' is not in: {got}")
        for more, word in (("[Session]\nEvent=sched_swich\n", "sched_switch"), ("[Control]\nDumpGroup=no-such-group\n", "group"),
                           ("[Storage]\nDirectory=/dev/null\n", "not a directory"), ("[Session]\nProfile=maximal\n", "minimal"),
                           ("[Session]\nMemory=1K\n", "Memory="),
                           ("[Session]\nSubBuffer=5K\n", "SubBuffer="), ("[Session]\nTier=life=4M\n", "Tier="),
                           ("[Storage]\nDirectory=/dev/null/x\n", "/dev/null"), ("[Storage]\nDirectory=/proc\n", "no snapshot can be"),
                           ("[Storage]\nDirectory=/proc/x\n", "no snapshot can be"), (f"[Storage]\nDirectory={dangling}\n", "link to"),
                           (f"[Storage]\nDirectory={TMP}/no/such\n", f"mkdir -p {TMP}/no"),
                           ("[Trigger]\nOn=crsh\n", "crash"),
                           ("[Trigger]\nOn=event:target_comm == \"x\"\n", "target_pid")):
            write_config(file, name, dir, more=more)
            got = fr("record", "--config", file, "--check-config", status=2)
            check(word in got.stderr and got.stderr.startswith("flightrec: "), f"'{word}' is not in: {got.stderr}")
        check(not exists(name), "it recorded")
        fresh = path("fresh")
        before = sorted(os.listdir(TMP))
        write_config(file, name, dir, more=f"[Storage]\nDirectory={fresh}\n")
        check(f"snapshots in {fresh}:" in fr("record", "--config", file, "--check-config").stdout, "a directory that can be made")
        equal(sorted(os.listdir(TMP)), before, "what it left")
        fr("record", "--config", path("nothing.conf"), "--check-config", status=2)


if __name__ == "__main__":
    main()
