# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The recorder with triggers: one snapshot of each death, storms, options, take-over."""
import contextlib
import os
import re
import signal
import subprocess
import tempfile
import time

from frtest import (FLIGHTREC, SESSIONS, TMP, Skip, check, end, equal, exists, fr, fr_json, helper, main, new_name, options_of, path, program,
                    replay, run, status, test, wait_for)
from recorder import (ATTENDED, NOBODY, ONE, RECORDED, SMALL, TAG, Recorder, attended, by_options, configured, crash, expendable,
                      kill, next_link, own_configured, recording, refused_pin, send_reload, trigger, trigger_links, write_config,
                      writer_of)


@test("--on crash: one snapshot that says who, what and where; the next of the same only counts")
def on_crash():
    with recording("crash") as r:
        p = subprocess.Popen([program("victim")])
        p.wait()
        file = wait_for(lambda: [f for f in r.files() if "-victim-" in f], lambda: f"its snapshot: {r.said()}")[0]
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


@test("two sessions in one directory: each has its own snapshot of each death, also what it finds after a kill")
def same_directory():
    with recording(ONE) as a, by_options("--on", ONE, "-o", a.dir) as b:
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
        wait_for(lambda: b.rules()[ONE]["seen"] >= 4, "it is seen")
        b.p.kill()
        b.p.wait()
        os.kill(writer, signal.SIGKILL)
        c = Recorder(b.name, a.dir, "-o", a.dir, *ATTENDED, "--keep", "--on", ONE)
        try:
            c.wait_files(8)
        finally:
            c.end()
        equal([fr_json("info", f)["session"] for f in a.files()].count(b.name), 4, "snapshots of the second session")


@test("1,000 crashes of one program in some seconds: one file, all counted, the recorder lives")
def storm():
    text = f"crash:comm=storm{TAG},cooldown=1h"  # however long a busy machine takes for them
    with recording(text) as r:
        equal(int(crash(f"storm{TAG}", 1000, 2000)), 1000, "deaths")
        rule = r.wait_seen(text, 1000)
        equal(rule["seen"], 1000, "moments")
        equal(rule["taken"], 1, f"taken: {rule}")
        equal(len(r.files()), 1, "files")
        equal(r.p.poll(), None, "exit status of the recorder")
        crash(f"storm-2{TAG}")  # another name
        crash(f"storm{TAG}")
        equal(r.wait_seen(text, 1001)["seen"], 1001, "moments, after one of another program, and one more")
        return f"verdicts {({k: v for k, v in rule['verdicts'].items() if v})}, queue lost {rule['queue_lost']}"


@test("different deaths each have their snapshot at once; without a cooldown, what comes meanwhile is busy")
def several():
    each, again, most = f"each{TAG}", f"again{TAG}", f"max{TAG}"
    rules = [f"crash:comm={each}*", f"crash:comm={again},cooldown=0s", f"crash:comm={most},cooldown=0s,max=2/10m"]
    with recording(*rules) as r:
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
        wait_for(lambda: r.rules()[rules[1]]["verdicts"]["busy"] == 18, lambda: f"18 of 20 are busy: {r.rules()}")
        os.kill(writer, signal.SIGCONT)
        crash(again, 180)
        rule = r.wait_seen(rules[1], 200)
        equal(rule["taken"] + rule["verdicts"]["busy"], 200, f"taken or busy: {rule}")
        # of one snapshot at least: that of the one that waited while 18 came
        since = [sum(x["since"].values()) for f in r.files() for x in trigger(f)["rules"]]
        check(max(since) >= 18, f"what came meanwhile: {since}")
        crash(most, 5, 1000)
        rule = r.wait_seen(rules[2], 5)
        check(rule["taken"] <= 2, f"two at most: {rule}")
        equal(rule["taken"] + rule["verdicts"]["max"] + rule["verdicts"]["busy"], 5, f"taken, busy or too many: {rule}")
        taken = [r.rules()[rule]["taken"] for rule in rules]
        equal([sum(trigger(f)["rule"] == rule for f in r.files()) for rule in rules], taken, "files of each rule, and those that it counts")
        fr("verify", *r.files())
        return f"{len(r.files())} files"


@test("post= goes on recording, last= leaves out what is older; a cooldown of the rule; exit:STATUS; filters that do not fit")
def options():
    shell, post = program(f"sh{TAG}", "/bin/sh"), f"post{TAG}"
    rules = [f"crash:comm={post},post=200ms,last=500ms", f"exit:7:comm=sh{TAG},cooldown=1h,dedupe=no", "crash:exe=/nowhere/*"]
    with recording(*rules) as r:
        before = subprocess.Popen([program("before", "/bin/true")])
        before.wait()
        time.sleep(0.6)  # longer than what is asked for
        crash(post)
        file = r.wait_files(1)[0]
        info = fr_json("info", file)
        at = info["trigger"]["ts"]
        check(info["snapshot_ns"] - at >= 200_000_000, f"it went on for {info}")
        check(at - 500_000_000 <= info["start_ns"] <= at, f"500 ms before the moment, and it, are in the file: {info}")
        events = replay(file, "--life")
        if max(t["horizon_ns"] for c in info["cpus"] for t in c["tiers"] if t["name"] == "life") <= at:  # a busy machine has overwritten it
            equal([e["ts"] for e in events if e["event"] == "crash" and e["comm"] == post], [at], "the moment")
        equal([e for e in events if e.get("pid") == before.pid], [], "what was older")
        for _ in range(3):
            run(shell, "-c", "exit 7", status=7)
        run(shell, "-c", "exit 6", status=6)
        rule = r.wait_seen(rules[1], 3)
        equal((rule["seen"], rule["taken"], rule["verdicts"]["cooldown"]), (3, 1, 2), f"exit:7: {rule}")
        equal([(trigger(f)["reason"], trigger(f)["status"]) for f in r.files()[1:]], [("exit", 7)], "reason and status")
        equal(r.wait_seen(rules[2], 1)["taken"], 0, "a filter that does not fit")


@test("exit:STATUS:exe=: holds where the kernel tells an ending process's program; elsewhere it is refused, with what holds there")
def exit_of_program():
    shell, release = program(f"sx{TAG}", "/bin/sh"), tuple(map(int, re.findall(r"\d+", os.uname().release)[:2]))
    rule = f"exit:31:exe={shell},cooldown=0s"
    if release < (6, 16):
        name = new_name()
        said = fr("record", "-n", name, "-o", TMP, *SMALL, "--on", rule, status=1).stderr
        end(name)
        check("use comm= or cgroup=" in said, said)
        return "refused"
    with recording(rule) as r:
        run(shell, "-c", "exit 31", status=31)
        r.wait_files(1)
        equal(r.rules()[rule]["taken"], 1, f"taken: {r.rules()}")
    return "holds"


@test("every:T, SIGUSR1 and exit, with their options; a recorder without periodic triggers does not wake up")
def own_moments():
    with by_options("--on", "every:400ms,max=3/1h", "--on", "signal:last=100ms,cooldown=1h", "--on", "exit") as r:
        r.wait_files(3)
        r.wait_seen("every:400ms,max=3/1h", 4)
        r.p.send_signal(signal.SIGUSR1)
        r.wait_files(4)
        r.p.send_signal(signal.SIGUSR1)
        wait_for(lambda: "SIGUSR1 takes no snapshot: the rule's last snapshot is younger" in r.said(), lambda: f"refused: {r.said()}")
        equal(r.end(signal.SIGINT), 0, f"exit status: {r.said()}")
        equal([re.sub(r".*Z-|\.flight", "", f) for f in r.files()], ["every"] * 3 + ["signal", "exit"], "snapshots")
        check("alone may take" not in r.said(), r.said())
    with recording("every:20s", "every:21s", more="[Trigger]\nStormCount=30\n") as r:
        check("'every:20s' alone may take the 30 snapshots in 10.0 min" in r.said(), r.said())
        check("'every:21s'" not in r.said(), r.said())
    with recording("crash:comm=nobody") as r:
        def switches():
            with open(f"/proc/{r.p.pid}/status") as f:
                return int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", f.read(), re.M).group(1))

        def idle_second():  # devices that come and go elsewhere on this host do wake it up
            before = switches()
            time.sleep(1)
            return switches() == before
        wait_for(idle_second, "a second in which the idle recorder does not run")


@contextlib.contextmanager
def full_cpus():
    hogs = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(4 * os.cpu_count())]
    try:
        yield
    finally:
        for p in hogs:
            p.kill()
            p.wait()


def stalled_us(what="cpu", how="some"):
    """For how long some task has waited for a CPU since this machine was started, or all have, or for a disk."""
    try:
        with open(f"/proc/pressure/{what}") as f:
            return int(re.search(rf"^{how} .*total=(\d+)", f.read(), re.M).group(1))
    except OSError as why:
        raise Skip(f"this kernel measures no pressure: {why}") from None


@test("psi: pressure that is made pulls it, none does not; it tells the kernel's figures of that moment, and is an incident")
def psi():
    before = stalled_us()
    with recording("psi:cpu:10%", "psi:memory.full:99%") as r:
        with full_cpus():
            wait_for(lambda: [f for f in r.files() if "-psi" in f], lambda: f"a snapshot for pressure: {r.said()}")
        after = stalled_us()
        t = trigger([f for f in r.files() if "-psi" in f][0])
        words = re.fullmatch(r"some avg10=[\d.]+ avg60=[\d.]+ avg300=[\d.]+ total=(\d+)", t["text"])
        check(words and before <= int(words[1]) <= after, f"{t}: from {before} to {after} us")
        equal(t["rule"], "psi:cpu:10%", "rule")
        # the figure is of the window in force, which is longer without CAP_SYS_RESOURCE
        equal(t["value_ns"], 200_000_000 if "windows of 2 s only" in r.said() else 100_000_000, "value")
        equal(r.rules()["psi:memory.full:99%"]["seen"], 0, "moments of a pressure nobody made")
        check("taken: psi:cpu:10%\n" in fr("incidents", "-n", r.name).stdout, "it is no incident")


@test("psi: what stalled before the recorder began pulls nothing, without CAP_SYS_RESOURCE either")
def psi_before():
    before = stalled_us()
    if before < 10_000_000:
        raise Skip("nothing has waited for a CPU for 10 s since this machine was started")
    rule, beside = "psi:cpu:9900ms/10s", "psi:cpu:10ms/2s"
    with configured(beside, rule) as (name, dir, file), full_cpus():
        r = Recorder(name, dir, "--config", file, under=("setpriv", "--bounding-set", "-sys_resource")).armed()
        try:
            r.wait_seen(beside, 1)  # the kernel has looked at both
            send_reload(r)  # what it found is handled
            seen = r.rules()[rule]["seen"]
            check(not seen or stalled_us() > before + 9_900_000, f"{seen} moments: {r.said()}")
        finally:
            kill(r)


@test("psi: a rule of full shows the figures of full")
def psi_full():
    with recording("psi:io.full:1ms/2s") as r, tempfile.NamedTemporaryFile(dir=TMP) as f:
        before, begun, stalled, due = stalled_us("io", "full"), time.monotonic(), 0, False
        for _ in range(1000):
            if r.files() or due:
                break
            f.write(b"x" * 65536)
            f.flush()
            os.fsync(f.fileno())
            stalled = stalled_us("io", "full") - before
            # in one of the windows of that time it was ten times what the rule asks for
            due = stalled > 10_000 * ((time.monotonic() - begun) / 2 + 1)
        if due:
            wait_for(r.files, lambda: f"a snapshot: {stalled} us were stalled: {r.said()}")
        for file in r.files()[:1]:
            text = trigger(file)["text"]
            words = re.fullmatch(r"full avg10=[\d.]+ avg60=[\d.]+ avg300=[\d.]+ total=(\d+)", text)
            check(words and before <= int(words[1]) <= stalled_us("io", "full"), f"{text}: from {before} us on")
        return f"{stalled} us of full, {len(r.files())} snapshots"  # where somebody computes all the while, the kernel knows of none


@test("what persons asked for is no storm for the next recorder; what rules had taken is, and its dedupe",
      own="limits that count all snapshots of a session")
def storm_kept():
    one, other = f"storm-a{TAG}", f"storm-b{TAG}"
    rule = f"crash:comm={one}|{other},cooldown=1h"
    with expendable(rule, leave=True, fresh=True) as (name, dir, file):
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
                wait_for(lambda: sum(r.rules()[rule]["verdicts"][v] for v in ("taken", "dedupe", "storm")) == nr + 1,
                         f"moment {nr} is decided")
                verdicts = r.rules()[rule]["verdicts"]
                equal((verdicts["taken"], verdicts["dedupe"]), (taken, dedupe), f"moment {nr}: {verdicts}")
                wait_for(lambda: len([f for f in r.files() if "-crash-" in f]) == taken, "its snapshot")
            finally:
                kill(r)


@test("--on crash, --exec: a session that ends with its recorder, which waits for its hooks", own="one that another test has left, else its own")
def ends_with_recorder():
    told, rule = path("told"), f"crash:comm=ends{TAG}"
    with expendable() as (name, dir, _):
        r = Recorder(name, dir, "-o", dir, *options_of(name), "--on", rule, "--on", "exit", "--exec-user", "root",
                     "--exec", f"sleep 1; echo $FLIGHTREC_FILE >> {told}")
        try:
            r.armed()
            crash(f"ends{TAG}")
            r.wait_seen(rule, 1)
            equal(r.end(), 0, f"exit status: {r.said()}")
        finally:
            kill(r)
        check(not exists(name), "the session outlives its recorder")
        with open(told) as f:
            equal(sorted(f.read().split()), r.files(), f"told of: {r.said()}")
        equal(len(r.files()), 2, "snapshots: of the death and of the end")


@test("limits look back on what recorders before have granted, with a ledger and without; if they forgot some, it is said, and the known count")
def granted_forgotten():
    rule, pins = "command,max=2/1h", lambda: f"{SESSIONS}/{name}"
    with configured(rule, more="[Control]\nSocket=yes\n") as (name, dir, file):
        for forgets, spoil in ((False, lambda: None), (False, lambda: os.unlink(f"{pins()}/ledger")),
                               (True, lambda: run(helper("spoil"), f"{pins()}/triggers", "grants", 5000))):
            spoil()
            r = Recorder(name, dir, "--config", file)
            try:
                r.armed()
                while (got := fr("dump", "-n", name, status=None)).returncode == 0:
                    check(len(r.files()) <= 2, f"more than two snapshots: {r.rules()}")
                check("max=N/T" in got.stderr, got.stderr)
                equal(len(r.files()), 2, f"snapshots: {r.rules()}")
                said = re.search(r"of (\d+) snapshots for triggers only (\d+) are known", r.said())
                equal(bool(said), forgets, f"said: {r.said()}")
                check(not said or int(said[2]) < int(said[1]) and int(said[1]) >= 5000, f"said: {r.said()}")
            finally:
                kill(r)


@test("deaths while no recorder lives are seen by the next, with other triggers too; cooldowns hold over a kill")
def take_over():
    before, between = f"before{TAG}", f"between{TAG}"
    rule = f"crash:comm={between}|{before},cooldown=1h"  # longer than any machine takes for all this
    with attended() as (name, dir):
        args = ("-o", dir, *ATTENDED, "--keep", "--on", rule)
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
            seen = [e["ts"] for e in replay(r.files()[-1], "--life") if e["event"] == "crash" and e["comm"] in (before, between)]
            equal((len(seen), len(set(seen))), (3, 3), "events, each once")
            equal(r.end(), 0, f"exit status: {r.said()}")
        finally:
            kill(r)


NO_BPF = ("setpriv", "--inh-caps=-all", "--bounding-set=-bpf,-perfmon,-sys_admin")
NO_PRESSURE = ("unshare", "-m", "sh", "-c", 'mount -t tmpfs none /proc/pressure; exec "$@"', "sh")


@test("a recorder that adopts a session and cannot begin leaves it as it was: recording, with its triggers, moments and directory")
def failed_start():
    rule, plain = f"crash:comm=late{TAG},cooldown=1h", path("not-executable")
    open(plain, "w").close()
    with attended() as (name, dir):
        args = ("-o", dir, *ATTENDED, "--keep", "--on", rule)
        r = Recorder(name, dir, *args)
        try:
            r.armed()
            kill(r)
            crash(f"late{TAG}")  # waits for a recorder
            begin, links = status(name)["begin_ns"], trigger_links(name)

            def fails(want, word, *options, under=()):
                got = run(*under, FLIGHTREC, "record", "-n", name, "-o", TMP, *ATTENDED, *options, status=want, timeout=120)
                check(word in got.stderr, f"'{word}' is not in: {got.stderr}")
                check("adopted" not in got.stderr or f"session '{name}' goes on recording" in got.stderr, got.stderr)
                st = status(name)
                equal((trigger_links(name), st["begin_ns"], st["dir"], st["recorder"]), (links, begin, dir, False), f"after: {got.stderr}")

            fails(6, "boot it with psi=1", "--on", "exit:9", "--on", "psi:cpu:40%", under=NO_PRESSURE)
            fails(6, "triggers' BPF programs: Operation not permitted", "--on", "exit:9", under=NO_BPF)
            with refused_pin(name, next_link(links[0])):
                fails(1, "cannot pin", "--on", f"crash:comm=other{TAG}")
            fails(127, "cannot run", "--on", "exit:9", "--", "/nonexistent/command")
            fails(126, "cannot run", "--on", "exit:9", "--", plain)
            fails(1, "cannot write to directory", "-o", "/dev/null")
            r = Recorder(name, dir, *args).armed()
            check("adopted" in r.said(), r.said())
            equal(trigger(r.wait_files(1)[0])["comm"], f"late{TAG}", "the moment that waited")
            equal((r.end(), exists(name)), (0, True), f"exit status, and the session that is kept: {r.said()}")
        finally:
            kill(r)


@test("too few open files for a recorder that adopts a session: it goes on, wherever they run out, with what was recorded")
def failed_start_files():
    failed, begun = 0, 0
    with configured() as (name, _, _):
        begin = status(name)["begin_ns"]
        for most in range(8, 120, 3):
            args = ("prlimit", f"--nofile={most}", FLIGHTREC, "record", "-n", name, "-o", TMP, *RECORDED, "--on", "hung>1h", "--on", NOBODY)
            with open(path("few-files"), "w+") as log:
                p = subprocess.Popen(args, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
                try:
                    wait_for(lambda: p.poll() is not None or "armed" in open(log.name).read(), "it begins or ends")
                finally:
                    p.kill()
                    p.wait()
            begun += p.returncode < 0
            failed += p.returncode > 0
            equal(status(name)["begin_ns"], begin, f"begin of the session, after {most} open files: {open(path('few-files')).read()}")
            if begun > 2:
                break
    check(failed > 5 and begun, f"{failed} failed, {begun} began")
    return f"{failed} failures"


@test("little memory available: a new session is refused, one that is there is adopted, and not ended for one of another size")
def adopt_in_little_memory():
    few = path("meminfo")
    with open(few, "w") as f:
        f.write("MemTotal: 2048 kB\nMemAvailable: 1024 kB\n")
    under = "unshare", "-m", "sh", "-c", f'mount --bind {few} /proc/meminfo; exec "$@"', "sh"
    with configured() as (name, dir, file):
        args, new = ("record", "--config", file), new_name()
        write_config(file, new, dir, NOBODY)
        check("memory available" in run(*under, FLIGHTREC, *args, status=1).stderr, "it is refused")
        check(not exists(new), "it is there")
        write_config(file, name, dir, NOBODY)
        r = Recorder(name, dir, "--config", file)
        try:
            r.armed()
            kill(r)
            r = Recorder(name, dir, "--config", file, under=under).armed()
            check("adopted" in r.said(), r.said())
            equal(r.end(), 0, f"exit status: {r.said()}")
            begin = status(name)["begin_ns"]
            write_config(file, name, dir, NOBODY, more="[Session]\nMemory=16M\n")
            check("memory available" in run(*under, FLIGHTREC, *args, status=1).stderr, "a larger one is refused")
            equal((status(name)["begin_ns"], r.files()), (begin, []), "begin of the session, and last snapshots")
        finally:
            kill(r)


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
            equal([rules[text]["in_force"] for text in (before, NOBODY, after)], [False, False, True], "in force after a reload")
            text = fr("status", "-n", name).stdout
            equal([len(re.findall(rf"{re.escape(rule)}  \(not in force\)", text)) for rule in (before, NOBODY, after)], [1, 1, 0], text)
            equal((r.files(), r.end()), ([], 0), f"snapshots, and exit status: {r.said()}")
        finally:
            kill(r)


@test("at the end the last snapshot's hook runs to its end; one that takes too long is ended by another signal")
def last_hook():
    told, begun = path("last-hook"), path("last-hook-begun")
    with by_options("--on", "exit", "--exec-user", "root", "--exec", f"sleep 1; echo $FLIGHTREC_FILE > {told}") as r:
        equal(r.end(), 0, f"exit status: {r.said()}")
        check(os.path.exists(told), f"the hook was not waited for: {r.said()}")
        with open(told) as f:
            equal(f.read().splitlines(), r.files(), "the hook's file")
    with by_options("--on", "exit", "--exec-user", "root", "--exec", f"touch {begun}; exec sleep 1000") as r:
        r.p.send_signal(signal.SIGTERM)
        wait_for(lambda: os.path.exists(begun) and "waiting for hooks (1)" in r.said(), lambda: f"the hook runs: {r.said()}")
        equal(r.end(), 0, f"exit status: {r.said()}")
        check("it is ended: the recorder ends" in r.said(), r.said())


@test("--check-config: what would be recorded, or what is wrong; needs no root")
def check_config():
    with own_configured("crash", "latency:wakeup>5ms") as (name, dir, file):
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
