# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The process that writes snapshots: killed, stopped, confined; and the recorder killed with it."""
import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

from frtest import (FLIGHTREC, ROOT, SESSIONS, TMP, Skip, chance, check, equal, fr, fr_json, helper, impatient, locked, main, path, replay, run,
                    test, wait_for, waits_in)
from recorder import (NOBODY, ONE, TAG, Recorder, accounted, by_options, children, configured, crash, crash_decided, end_load, kill,
                      kill_load, recording, start_load, trigger, write_config, writer_of)

sys.path.insert(0, os.path.join(ROOT, "tests", "top"))
from terminal import Terminal  # noqa: E402

KILLS = int(os.environ.get("FR_KILLS", "20"))  # recorders and writers killed; FR_KILLS=500 is what docs/testing.md quotes


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
    rng = chance()
    rule = f"crash:comm=dying{TAG},cooldown=0s"
    with configured(rule) as (name, dir, file):
        r = Recorder(name, dir, "--config", file).armed()
        load = start_load(f"dying{TAG}", 20000)
        try:
            for _ in range(KILLS):
                time.sleep(rng.random() * 0.25)
                kill_something(r, rng)
                r = Recorder(name, dir, "--config", file)
                if rng.random() < 0.8:
                    r.armed()
            r.armed()
            died = end_load(load)
            got = r.wait_seen(rule, died)
            wait_for(lambda: accounted(r.rules()[rule]), lambda: f"each is accounted: {r.rules()}")
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
        moments = [(t["pid"], t["ts"]) for t in map(trigger, files)]
        equal(len(set(moments)), len(files), "moments, each in one file")
        equal(got["taken"], len(files), f"files, as counted: {got}")
    return f"{KILLS} kills, {died} deaths, {len(files)} files, verdicts " \
        f"{({k: v for k, v in got['verdicts'].items() if v})}"


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
    with recording(NOBODY) as r:
        wait_for(lambda: confined(r.p.pid), "the recorder is confined")
        first = wait_for(lambda: writer_of(r.p.pid), "a writer")
        wait_for(lambda: confined(first), "the writer is confined")
        want = held_programs(first)
        check(len(want) > 3, f"programs held by the first writer: {want}")
        for _ in range(2):
            old = writer_of(r.p.pid)
            os.kill(old, signal.SIGKILL)
            new = wait_for(lambda: (pid := writer_of(r.p.pid)) != old and pid, lambda: f"another writer: {r.said()}")
            wait_for(lambda: confined(new), "it is confined")
            equal(held_programs(new), want, "programs held by the new writer")


@test("where it may use several CPUs, a confined writer encodes in several threads, which end with the snapshot")
def writer_threads():
    most = 0
    with recording(NOBODY) as r:
        wait_for(lambda: confined(r.p.pid), "the recorder is confined")
        tasks = f"/proc/{wait_for(lambda: writer_of(r.p.pid), 'a writer')}/task"
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
    with by_options("--on", NOBODY) as r:  # whose writer is a new one
        wait_for(lambda: confined(r.p.pid), "the recorder is confined")
        writer = wait_for(lambda: writer_of(r.p.pid), "a writer")
        wait_for(lambda: confined(writer), "the writer is confined")
        before = most_memory(writer)
        file = fr("dump", "-n", r.name).stdout.strip()
        more = most_memory(writer) - before
        check(f"snapshot {file}: " in r.said(), f"it was the recorder's writer: {r.said()}")
    check(more < 8, f"{more:.1f} MiB more than the {before:.0f} that it had")  # its own code, and what /proc says of tasks
    return f"{more:.1f} MiB more"


@test("a writer that is killed is made anew: idle, and again, and the next deaths have their snapshots")
def writer_killed():
    with recording(f"crash:comm=w{TAG}-*") as r:
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


@test("a ring that says another size than its map has is not read, nor by a writer made anew; when it tells the truth again, it is")
def other_geometry():
    with by_options("--on", ONE) as r:
        pin = f"{SESSIONS}/{r.name}/ring-{min(os.sched_getaffinity(0))}-main"
        run(helper("spoil"), pin, "slots", 1)
        try:
            got = fr("status", "-n", r.name, status=1)
            check("cannot be read: a ring is not as it was made" in got.stderr, got.stderr)
            os.kill(wait_for(lambda: writer_of(r.p.pid), "a writer"), signal.SIGKILL)
            crash(f"one{TAG}")
            wait_for(lambda: r.said().count("a new one has been started") == 3, lambda: f"the snapshot failed, and was looked for: {r.said()}")
            equal(r.files(), [], "files")
        finally:
            run(helper("spoil"), pin, "slots", -1)
        crash(f"one{TAG}")
        fr("verify", *r.wait_files(1))
        rule = r.wait_seen(ONE, 2)
        equal((rule["taken"], rule["verdicts"]["failed"]), (1, 1), f"verdicts: {rule}")
        equal(r.end(), 1, f"exit status, as one failed: {r.said()}")


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
    with configured(ONE, more="[Control]\nSocket=yes\n") as (name, dir, file):
        first = Recorder(name, dir, "--config", file).armed()
        second = None
        try:
            writer = wait_for(lambda: writer_of(first.p.pid), "a writer")
            wait_for(lambda: confined(writer), "the writer is confined")
            os.kill(writer, signal.SIGSTOP)
            crash_decided(f"one{TAG}", name)
            fr("status", "-n", name)  # the recorder answers: what came before has been handled, and the writer has its order
            os.kill(first.p.pid, signal.SIGSTOP)  # it is not told that its snapshot is complete
            os.kill(writer, signal.SIGCONT)
            taken = wait_for(first.files, "the snapshot")
            kill(first)
            second = Recorder(name, dir, "--config", file).armed()
            says = f"snapshot {taken[0]}: "
            wait_for(lambda: says in second.said(), "it is told")
            line = next(l for l in second.said().splitlines() if says in l)
            check(re.search(r": [0-9.]+ [KM]iB, was complete before its recorder heard of it$", line), line)
            check("after its moment" not in second.said(), f"when it was complete is not known: {second.said()}")
            rule = second.wait_seen(ONE, 1)
            equal((rule["taken"], second.files()), (1, taken), "taken, once")
        finally:
            kill(first)
            if second:
                kill(second)


@test("a snapshot that is completed while the next recorder's writer waits to take it: it is that one, and there is no second")
def completed_meanwhile():
    with configured(ONE) as (name, dir, file):
        first = Recorder(name, dir, "--config", file).armed()
        second = None
        try:
            with locked(name):
                old = wait_for(lambda: writer_of(first.p.pid), "a writer")
                crash(f"one{TAG}")
                wait_for(lambda: waits_in(old, "nanosleep"), "it waits for its turn to read")
                os.kill(old, signal.SIGSTOP)
                kill(first)
                second = Recorder(name, dir, "--config", file).armed()
                new = wait_for(lambda: writer_of(second.p.pid), "a writer of the next one")
                wait_for(lambda: waits_in(new, "nanosleep"), "it has found no snapshot, and waits for its turn")
                os.kill(new, signal.SIGSTOP)
                os.kill(old, signal.SIGCONT)
            taken = wait_for(second.files, "the first one's snapshot")
            os.kill(new, signal.SIGCONT)
            wait_for(lambda: "was complete before" in second.said(), second.said)
            rule = second.wait_seen(ONE, 1)
            equal((rule["taken"], second.files()), (1, taken), "taken, once")
        finally:
            kill(first)
            if second:
                kill(second)


@test("a writer that is stopped: another one takes the snapshot, and the recorder ends when told to")
def writer_stopped():
    with impatient(20), configured(ONE) as (name, dir, file):
        write_config(file, name, dir, ONE, more="[Storage]\nWriteTimeout=1s\n")
        r = Recorder(name, dir, "--config", file).armed()
        try:
            first = writer_of(r.p.pid)
            os.kill(first, signal.SIGSTOP)
            crash(f"one{TAG}")
            fr("verify", *r.wait_files(1))
            check("stood still for 1 s" in r.said(), r.said())
            check(not os.path.exists(f"/proc/{first}"), "the stopped one is still there")
            check("ended its writer, which stood still" in fr("incidents", "-n", name).stdout, "it is an incident")
            rule = r.wait_seen(ONE, 1)
            equal((rule["taken"], rule["verdicts"]["failed"]), (1, 0), f"verdicts: {rule}")
            os.kill(writer_of(r.p.pid), signal.SIGSTOP)  # it has one in progress when the recorder ends
            crash_decided(f"one{TAG}", name)
            equal(r.end(), 0, f"exit status: {r.said()}")
            equal(len(r.files()), 2, f"files: {r.said()}")
            r = Recorder(name, dir, "--config", file).armed()
            os.kill(writer_of(r.p.pid), signal.SIGSTOP)  # idle
            equal(r.end(), 0, f"exit status: {r.said()}")
        finally:
            kill(r)


@test("a writer that not even SIGKILL ends: the snapshot failed, each moment is counted, and when it has gone there are snapshots again")
def writer_frozen():
    with impatient(20), configured(ONE) as (name, dir, file):
        write_config(file, name, dir, ONE, more="[Storage]\nWriteTimeout=1s\n")
        r = Recorder(name, dir, "--config", file).armed()
        try:
            with frozen(writer_of(r.p.pid)):
                crash(f"one{TAG}")
                wait_for(lambda: r.rules()[ONE]["verdicts"]["failed"] == 1, lambda: f"it failed: {r.said()}")
                check("cannot be ended" in r.said(), r.said())
                crash(f"one{TAG}")
                wait_for(lambda: r.rules()[ONE]["verdicts"]["failed"] == 2, lambda: f"this one, too: {r.said()}")
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
            crash_decided(f"left{TAG}", name)
            kill(r)
            os.kill(writer, signal.SIGKILL)
            os.rename(dir, dir + ".old")  # it was promised there
            other = tempfile.mkdtemp(dir=TMP)
            write_config(file, name, other, rule)
            for _ in range(2):
                r = Recorder(name, other, "--config", file).armed()
                wait_for(lambda: r.rules()[rule]["verdicts"]["failed"] == 1, lambda: f"it failed: {r.said()}")
                kill(r)
            r = Recorder(name, other, "--config", file).armed()
            crash(f"left{TAG}")
            r.wait_files(1)
            got = r.wait_seen(rule, 2)
            equal((got["taken"], got["verdicts"]["failed"]), (1, 1), f"verdicts: {got}")
            equal(r.end(), 0, f"exit status: {r.said()}")
        finally:
            kill(r)


STOPS = r"""
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

/* Stopped once it has its nth lock, or before its first fsync() (0). */
int flock(int fd, int how)
{
	static int left = -1;
	int (*next)(int, int) = (int (*)(int, int))dlsym(RTLD_NEXT, "flock");
	int err = next(fd, how);

	if (left < 0)
		left = atoi(getenv("STOPS_AT"));
	if (!err && how & LOCK_EX && left && !--left)
		raise(SIGSTOP);
	return err;
}

int fsync(int fd)
{
	int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");

	if (!atoi(getenv("STOPS_AT")))
		raise(SIGSTOP);
	return next(fd);
}
"""
HAS_SESSION, HAS_RESULT, HAS_RINGS = 1, 2, 0  # its lock; that of a program's result, too; all but the end of the file


def dump_that_stops(name, at, file):
    """A dump, stopped with what it has then."""
    lib = path("libstops.so")
    if not os.path.exists(lib):
        with open(path("stops.c"), "w") as f:
            f.write(STOPS)
        run("gcc", "-D_GNU_SOURCE", "-shared", "-fPIC", "-o", lib, path("stops.c"))
    p = subprocess.Popen([FLIGHTREC, "dump", "-n", name, "-o", file], env={**os.environ, "LD_PRELOAD": lib, "STOPS_AT": str(at)},
                         stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    wait_for(lambda: " T " in open(f"/proc/{p.pid}/stat").read() or p.poll() is not None, "it is stopped")
    equal(p.poll(), None, "exit status of a dump that is stopped")
    return p


def state_of(pid):
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rpartition(")")[2].split()[0]
    except OSError:
        return "gone"


def looking(t):
    """A process of top that looks at the session, stopped before it is done."""
    t.wait("a screen", lambda s: "live" in s.split("\n")[0])
    stopped = []

    def stop_one():
        t.read(0)
        for pid in children(t.process.pid):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGSTOP)
                wait_for(lambda: state_of(pid) in "TZgone", "it has stopped, or ended")
                stopped.extend([pid] if state_of(pid) == "T" else [])
        return stopped
    wait_for(stop_one, "a look that can be stopped")
    return stopped[0]


@test("a dump that is stopped, with the lock, or that of a program's result, or all but written, delays nobody, and says so when it goes on")
def stopped_dump():
    rule = f"crash:comm=beside{TAG},cooldown=0s"
    with impatient(10), by_options("--on", rule) as r:
        for cnt, at in enumerate((HAS_SESSION, HAS_RESULT, HAS_RINGS), 1):
            file, other = path(f"stopped-{at}.flight"), path(f"other-{at}.flight")
            p = dump_that_stops(r.name, at, file)
            try:
                crash(f"beside{TAG}")
                r.wait_files(cnt)
                said = fr("dump", "-n", r.name, "-o", other).stderr
            finally:
                p.send_signal(signal.SIGCONT)
            check("going on without the snapshot" in said, f"the other dump: {said}")
            said = p.communicate(timeout=120)[1]
            equal(p.returncode, 0, f"exit status of the dump that was stopped at {at}: {said}")
            check("this process stood still" in said and "was taken meanwhile" in said, f"the stopped dump: {said}")
            for f in (file, other, r.files()[-1]):
                fr("verify", f)
                check(not fr_json("info", f).get("holes"), f"{f}: holes")
        said = fr("dump", "-n", r.name, "-o", path("after.flight")).stderr
        check("going on" not in said and "repaired" not in said, f"a dump afterwards: {said}")
        marks = [(e["event"], e["nr"]) for e in replay(path("after.flight"), "--life") if e["event"] in ("snapshot_begin", "snapshot_end")]
        check(len(marks) == len(set(marks)) and len(marks) > 2, f"each snapshot begins and ends once: {marks}")


@test("a live top that is stopped as it looks delays nobody: a crash gets its snapshot, nobody goes on without it, nothing is marked")
def stopped_top():
    rule = f"crash:comm=looked{TAG},cooldown=0s"
    with by_options("--on", rule) as r, Terminal(FLIGHTREC, "top", r.name, "--interval", "100ms") as t:
        had, looker = fr_json("status", "-n", r.name)["snapshots"], looking(t)
        try:
            crash(f"looked{TAG}")
            r.wait_files(1)
            said = fr("dump", "-n", r.name, "-o", path("looked.flight")).stderr
            check("waiting" not in said and "going on" not in said, f"a dump beside it: {said}")
            check("going on without" not in r.said(), f"the recorder: {r.said()}")
            equal(state_of(looker), "T", "what looks still stands")
        finally:
            os.kill(looker, signal.SIGCONT)
        shown = lambda s: s.split("\n")[0].split()[2]  # noqa: E731
        last = shown(t.wait("a screen", lambda s: "live" in s.split("\n")[0]))
        for _ in range(2):
            last = shown(t.wait("another look", lambda s: "live" in s.split("\n")[0] and shown(s) != last))
        equal(fr_json("status", "-n", r.name)["snapshots"], had + 2, "snapshots that the session knows of: the crash's, and a dump")
        t.key("q")
        equal(t.end(), 0, f"exit status of top: {t.said()}")


if __name__ == "__main__":
    main()
