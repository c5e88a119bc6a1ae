# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Attackers as another user: who has no rights can neither hide from the recorder nor stop or blind it."""
import collections
import contextlib
import grp
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile

from frtest import (FLIGHTREC, FULL, SESSIONS, SYSCALLS, TMP, Skip, at_end, begun_with, check, check_account, dump, equal, exists, fr, fr_json, impatient,
                    last_of, leave_to_next, main, mono_ns, new_name, opened, overwritten_since, path, program, replay, run, shared, state, test, wait_for)
from recorder import NOBODY as NOBODY_RULE
from recorder import TAG, Recorder, attached, children, configured, crash, kill, recording, write_config
from stalling import AS_NOBODY, NOBODY, helpers, said_or_ended, stalling

# ---- hiding as the recorder ----

LOG = 256  # incidents that the session of a copy of flightrec has room for
ROOMY = ("-p", "minimal", "-e", "syscall", "-m", "16M", "--incidents", str(LOG))

CALL, CALLS = 1001, 50  # a system call that there is not

# Loaded into flightrec, or into what it executes, by whoever starts it: what it does is that process's doing.
INTRUDER = """
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((constructor)) static void act(void)
{
	const char *other = getenv("INTRUDER_EXEC");
	int i;

	if (strcmp(program_invocation_short_name, getenv("INTRUDER_IN") ?: ""))
		return;
	if (other) {
		setenv("INTRUDER_IN", strrchr(other, '/') + 1, 1);
		unsetenv("INTRUDER_EXEC");
		if (!fork())
			_exit(execl(other, other, (char *)NULL));
		wait(NULL);
		_exit(0);
	}
	for (i = 0; i < %d; i++)
		syscall(%d, i);
	if (getenv("INTRUDER_STOPS"))
		raise(SIGSTOP);
	_exit(0);
}
"""


def may_enter(dir):
    """Another user may reach what is in it."""
    while dir != "/tmp":
        os.chmod(dir, 0o755)
        dir = os.path.dirname(dir)


def intruder():
    """The library, where another user may read it."""
    file = path("libintruder.so")
    if not os.path.exists(file):
        with open(path("intruder.c"), "w") as f:
            f.write(INTRUDER % (CALLS, CALL))
        run("gcc", "-shared", "-fPIC", "-o", file, path("intruder.c"))
        may_enter(os.path.dirname(file))
    return file


def start(program, *under, **env):
    """A process that executes this program, with the intruder in it, started by these commands."""
    env = {**os.environ, "LD_PRELOAD": intruder(), "INTRUDER_IN": os.path.basename(program), **env}
    return subprocess.Popen([*under, program, "events"], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def intrude(program, *under, **env):
    """Its pid, once it has ended."""
    p = start(program, *under, **env)
    equal(p.wait(120), 0, f"exit status of {under} {program}")
    return p.pid


def calls(events, pid):
    return [e["args"][0] for e in events if e["pid"] == pid and e["event"] == "sys_enter" and e["id"] == CALL]


ALL = list(range(CALLS))
COPYS = "a copy of flightrec begins it, which is removed; its incident log is small, and flooded"
_copys = []  # the session that the copy has begun


def by_copy():
    """The session that a copy of flightrec has begun, and that file."""
    own = path("frt-flightrec")
    if not _copys:
        shutil.copy(FLIGHTREC, own)
        may_enter(os.path.dirname(own))
        _copys.append(new_name())
        at_end(lambda: leave_to_next(_copys.pop()))
        run(own, "record", "-n", begun_with(_copys[0], ROOMY), "-o", path("."), "--unattended", *ROOMY)
    return _copys[0], own


def standing(name, processes):
    """A snapshot that has the states of all of them, and of each whether it is the recorder's own; None: it lacks one."""
    file = dump(name)
    own = {t["pid"]: t["own"] for t in fr_json("report", file)["still_waiting"]["tasks"]}
    return (file, [own[p.pid] for p in processes]) if all(p.pid in own for p in processes) else None


@test("whoever executes flightrec without the right to load BPF is recorded; eight stopped ones take no place; who has it is left out", own=COPYS)
def without_rights():
    seen, unseen, stopped = {}, {}, []
    name, own = by_copy()
    try:
        stopped += [start(own, *AS_NOBODY, INTRUDER_STOPS="1") for _ in range(8)]
        stopped.append(start(own, INTRUDER_STOPS="1"))
        for p in stopped:
            wait_for(lambda: state(p.pid) == "T", "it has stopped itself")
        seen["nobody"] = intrude(own, *AS_NOBODY)
        seen["root without rights"] = intrude(own, "setpriv", "--bounding-set", "-bpf,-perfmon")
        unseen["root"] = intrude(own)
        bpf = ("--inh-caps", "+bpf", "--ambient-caps", "+bpf")
        unseen["nobody with CAP_BPF"] = intrude(own, *AS_NOBODY, *bpf)
        perfmon = ("--inh-caps", "+perfmon", "--ambient-caps", "+perfmon")
        unseen["nobody with CAP_PERFMON"] = intrude(own, *AS_NOBODY, *perfmon)
        file, owns = wait_for(lambda: standing(name, stopped), "they have stood for so long that a snapshot has their states")
        events = replay(file, "-f", "event == sys_enter")
    finally:
        for p in stopped:
            p.kill()
            p.wait()
    equal(owns, [False] * 8 + [True], "which of those that stand are the recorder's own")
    unseen["root, stopped"] = stopped.pop().pid
    seen.update((f"stopped {i}", p.pid) for i, p in enumerate(stopped))
    for who, pid in seen.items():
        equal(calls(events, pid), ALL, f"calls of {who}")
    for who, pid in unseen.items():
        equal(calls(events, pid), [], f"calls of {who}")


@test("rights in a user namespace of one's own are none; what a process of ours executes is not ours")
def own_namespace():
    def may_unshare(*under):
        return run(*under, "unshare", "-Ur", "true", status=None).returncode == 0

    other = path("frt-other")
    shutil.copy("/bin/true", other)
    pids, name, since = {}, shared(*SYSCALLS), mono_ns()
    for who, under in (("nobody", AS_NOBODY), ("root", ())):
        if may_unshare(*under):
            pids[who] = intrude(FLIGHTREC, *under, "unshare", "-Ur")
    ours = intrude(FLIGHTREC, INTRUDER_EXEC=other)
    events = replay(dump(name), "--since", str(since))
    for who, pid in pids.items():
        equal(calls(events, pid), ALL, f"calls of {who} in a user namespace of its own")
    children = [e["child_pid"] for e in events if e["event"] == "sched_process_fork" and e["pid"] == ours]
    equal(len(children), 1, "children of the process that executed flightrec")
    equal(calls(events, children[0]), ALL, "calls of what it executed")
    if not pids:
        raise Skip("the rest holds, but no user namespaces can be made here")


def take_inode(ino, dir):
    """A new file that got this inode's number."""
    for i in range(2000):
        file = f"{dir}/frt-heir-{i}"
        with open(file, "w"):
            pass
        if os.stat(file).st_ino == ino:
            return file
    raise Skip("this file system does not give a removed file's number to another one")


@test("another file of the same size that got the inode's number of the removed flightrec is not the recorder's program", own=COPYS)
def reused_inode():
    name, own = by_copy()
    was = os.stat(own)
    unseen = intrude(own)
    os.unlink(own)
    heir = take_inode(was.st_ino, os.path.dirname(own))
    with open("/bin/true", "rb") as f:
        content = f.read()
    with open(heir, "wb") as f:
        f.write(content.ljust(was.st_size, b"\0"))
    os.chmod(heir, 0o755)
    now = os.stat(heir)
    equal((now.st_ino, now.st_dev, now.st_size), (was.st_ino, was.st_dev, was.st_size), "the file's identity, as stat tells")
    seen = intrude(heir)
    events = replay(dump(name), "-f", "event == sys_enter")
    equal(calls(events, unseen), [], "calls of the program that began the recording")
    equal(calls(events, seen), ALL, "calls of its heir")


# ---- the control socket ----

# Connects as often as it can until its input ends: in turn with who else waits (argument "waits"), or as fast as it goes. Prints how often.
KNOCK = """
import select, socket, sys
cnt = 0
while not select.select([sys.stdin], [], [], 0)[0]:
    with socket.socket(socket.AF_UNIX) as s:
        s.setblocking(sys.argv[2] == "waits")
        try:
            s.connect(sys.argv[1])
        except BlockingIOError:
            continue
        cnt += 1
print(cnt)
"""


class Root:
    """Asks on a recorder's socket, and counts its connections."""

    def __init__(self, name):
        self.path, self.asked = f"/run/flightrec/{name}.sock", 0

    def ask(self, cmd):
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(self.path)
            self.asked += 1
            s.sendall(b'{"cmd":"%s"}\n' % cmd.encode())
            return json.loads(s.makefile().readline())

    def counts(self):
        return self.ask("status")["connections"]


def tried(counts):
    return counts["served"] + sum(counts["refused"].values())


@test("a flood of connections by another user: root is answered all the while, and each connection is served, or refused and counted")
def connect_flood():
    with recording(NOBODY_RULE, more="[Control]\nSocket=yes\n") as r:
        root, knocking = Root(r.name), []
        before = root.counts()
        asked = root.asked
        try:
            for how in ("waits", "waits", "spins"):
                argv = (*AS_NOBODY, sys.executable, "-c", KNOCK, root.path, how)
                knocking.append(subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
            # until the user is beyond what it may, and on
            wait_for(lambda: root.counts()["refused"]["rate"] > 1000, "connections are refused")
            for _ in range(20):
                check(root.ask("status")["ok"], "answer to root")
            root.asked += 1
            check(fr_json("status", "-n", r.name)["connections"]["refused"]["rate"] > 1000, "refused, says `status`")
        finally:
            cnt = sum(int(p.communicate("\n", 120)[0]) for p in knocking)
        # those that were still in the queue come first
        after = root.counts()
    equal(tried(after) - tried(before), cnt + root.asked - asked, f"connections served and refused: {after}")
    equal(after["refused"]["full"] + after["refused"]["failed"], 0, f"other reasons: {after}")
    check(after["refused"]["denied"] <= cnt and after["served"] - before["served"] == root.asked - asked, f"who was served: {after}")

# ---- whoever looks at it waits ----


def is_locked(pid):
    """Whoever reads its command line waits: tried by a process that may be left behind."""
    file = f"/proc/{pid}/cmdline"
    p = subprocess.Popen(["cat", file], stdout=subprocess.DEVNULL)
    wait_for(lambda: p.poll() is not None or (file in opened(p.pid).values() and state(p.pid) == "D"), "it has read, or waits")
    p.kill()
    return p.returncode is None


def frames_in_file(name, pid):
    """Has a sample the process in its own file's code?"""
    return any(e["pid"] == pid for e in replay(dump(name, "--last", "5s"), "-f", f"event == cpu_sample && pid == {pid}"))


def sampled(name, pid):
    """The same, while nobody looks at the process itself."""
    p = subprocess.Popen([FLIGHTREC, "tail", "-n", name, "--json", "--last", "60s", "-f", f"event == cpu_sample && pid == {pid}"],
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        return said_or_ended(p)
    finally:
        p.kill()
        p.communicate()


def unread(file):
    """What the file says was not read: by pid, {what: why}."""
    got = {}
    for item in fr_json("info", file).get("unread", {}).get("items", []):
        got.setdefault(item["pid"], {})[item["what"]] = item["why"]
    return got


def is_told(file, pid):
    """
    Does the file say that the process was not read? On a busy machine all time may be up before its turn: then it has that reason, or,
    where there are many like it, is counted, and not named.
    """
    told = fr_json("info", file)["unread"]
    whys = {item["why"] for item in told["items"] if item["pid"] == pid}
    if not whys:
        return told["count"] > len(told["items"]) and "time" in {item["why"] for item in told["items"]}
    return whys <= {"late", "waited", "time"}


def command_lines(file):
    """pid: command line, of the processes' lines in the file."""
    text = subprocess.run(["zstd", "-dcq", file], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    lines = [line for line in text.split(b"\n") if b'{"pid":' in line and line.endswith(b"}")]
    got = {}
    for line in lines:
        with contextlib.suppress(ValueError):
            item = json.loads(line[line.index(b'{"pid":'):])
            got[item["pid"]] = item.get("cmdline")
    return got


def kept_by(pid):
    """What a process has open, and has mapped that is no file of its program's."""
    fds = [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")]
    with open(f"/proc/{pid}/maps") as f:
        return [fd for fd in fds if fd != "/dev/null" and not fd.startswith(("pipe:", "/proc/"))] + \
            [line for line in f if "bpf-map" in line or "bpf_map" in line]


def whole(file):
    """The file is sound, and has the events until the snapshot was taken."""
    fr("verify", file)
    info = fr_json("info", file)
    # beside much else a ring may wrap while it is copied
    equal([h for h in info["holes"] if h["tier"] != "stack" and h["why"] != "overwritten"], [], f"holes of {file}")
    return file


@test("a process that holds its memory's lock: the snapshot is whole without it, says so, and has all others")
def holds_lock():
    name = shared(*FULL)
    with stalling("lock") as pid:
        check(is_locked(pid), "its command line cannot be read")
        dead = subprocess.Popen([path("frt-true") if os.path.exists(path("frt-true")) else shutil.copy("/bin/true", path("frt-true"))])
        dead.wait()
        file = whole(dump(name))
        lines = command_lines(file)
        events = replay(file, "-f", f"event == sched_process_exit && pid == {dead.pid}")
    check(is_told(file, pid), f"the process is named: {unread(file)}")
    check(not lines.get(pid), f"its command line is not there: {lines.get(pid)}")
    check(os.getpid() in lines and "python" in lines[os.getpid()], "this process's command line is there")
    equal(len(events), 1, "ends of a process that ended before the snapshot")


@test("a recorder takes a snapshot of each of three crashes while both kinds stall, and ends when it is told to")
def recorder_beside():
    program = f"stalled{TAG}"
    with impatient(20), stalling("lock") as locked, stalling("page") as mapped, attached(FULL, f"crash:comm={program},cooldown=0s") as r:
        wait_for(lambda: sampled(r.name, mapped), "samples of the one whose file stalls")
        for cnt in (1, 2, 3):
            crash(program, 1)
            files = r.wait_files(cnt)
        equal(len(files), 3, f"snapshots: {r.said()}")
        for file in map(whole, files):
            check(is_told(file, locked), f"the process whose lock is held, {locked}, is named: {unread(file)}")
            check(not command_lines(file).get(locked), f"its command line is there: {command_lines(file).get(locked)}")
        equal((r.end(), exists(r.name)), (0, True), f"exit status, and the session that is kept: {r.said()}")


def left_behind(name, cnt):
    """Snapshots until so many helpers are left behind; what the last one says was not read."""
    file = whole(dump(name))
    wait_for(lambda: list(helpers().values()).count("D") == cnt, lambda: f"{cnt} helpers are left behind: {helpers()} {unread(file)}")
    return unread(file)


@test("files whose server never answers: snapshots go on, two helpers are left behind, which keep nothing; a session ends without them")
def never_answered():
    before = helpers()
    with contextlib.ExitStack() as stack:
        name = stack.enter_context(last_of(*FULL))
        stack.enter_context(impatient(20))
        pids = []
        for cnt in (1, 2):
            pids.append(stack.enter_context(stalling("server", "unshare", "-m")))
            wait_for(lambda: frames_in_file(name, pids[-1]) or pids[-1] in unread(dump(name)), "samples of it are there")
            missed = left_behind(name, cnt)
            check(all(pid in missed for pid in pids), f"each is named: {missed}")
        for pid, how in helpers().items():
            equal(kept_by(pid), [], f"kept by helper {pid} ({how})")
        missed = unread(whole(dump(name)))
        check(any("left" in why.values() for why in missed.values()), f"no helper is started while two wait: {missed}")
        equal(len(set(helpers()) - set(before)), 2, f"helpers: {helpers()}, before {before}")
        fr("stop", "-n", name, timeout=120)
        check(not exists(name), "the session has ended")
        equal(len(set(helpers()) - set(before)), 2, f"helpers after the session: {helpers()}, before {before}")
    wait_for(lambda: not set(helpers()) - set(before), lambda: f"helpers end with what they waited for: {helpers()}")


# ---- stopping where others wait ----

# Takes the lock under which a session is read, if it can, and keeps it.
LOCK = """
import fcntl, os, signal, sys
try:
    fcntl.flock(os.open(sys.argv[1], os.O_RDONLY), fcntl.LOCK_EX)
except PermissionError:
    sys.exit(3)
os.kill(os.getpid(), signal.SIGSTOP)
"""

# Asks a recorder for a snapshot, and stops before it hears of it.
ASK = """
import os, signal, socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
s.sendall(b'{"cmd":"dump"}\\n')
os.kill(os.getpid(), signal.SIGSTOP)
"""


@test("another user cannot lock a session; one who may ask for snapshots, and stops while it is answered, keeps nobody from theirs")
def stops_asking():
    program, group = f"asked{TAG}", grp.getgrgid(NOBODY).gr_name
    more = f"[Storage]\nMaxFiles=0\n[Control]\nSocket=yes\nDumpGroup={group}\n"
    with recording(f"crash:comm={program},cooldown=0s", more=more) as r:
        equal(run(*AS_NOBODY, sys.executable, "-c", LOCK, f"{SESSIONS}/{r.name}", status=None).returncode, 3, "exit status of who locks")
        for dir in (SESSIONS, f"{SESSIONS}/{r.name}"):  # each alone keeps others out
            equal(f"{os.stat(dir).st_mode & 0o077:03o}", "000", f"what others may do in {dir}")
        p = subprocess.Popen([*AS_NOBODY, sys.executable, "-c", ASK, f"/run/flightrec/{r.name}.sock"], stdin=subprocess.DEVNULL)
        try:
            wait_for(lambda: state(p.pid) == "T", "it has stopped itself")
            crash(program, 1)
            files = r.wait_files(2)
        finally:
            p.kill()
            p.wait()
        reasons = sorted(fr_json("info", f)["trigger"]["reason"] for f in files)
        equal(reasons, ["command", "crash"], f"snapshots: {r.said()}")


# ---- taking all room ----

TAKER = r"""
import os, sys
try:
    if sys.argv[1] == "inodes":
        for i in range(10**6):
            os.close(os.open(f"taken{i}", os.O_CREAT | os.O_WRONLY))
    else:
        with open("taken", "wb", 0) as f:
            while True:
                f.write(bytes(4096))
except OSError as why:
    sys.exit(why.errno != 28)
sys.exit(2)
"""


@test("another user takes all inodes, and all space, of the file system: a crash has its snapshot, the oldest leaves, a marked one stays")
def takes_room():
    for what in ("inodes", "space"):
        with configured("crash:comm=" + (program := f"room{TAG}{what[0]}") + ",cooldown=0s") as (name, _, file):
            top = tempfile.mkdtemp(dir=TMP)
            may_enter(os.path.dirname(top))
            run("mount", "-t", "tmpfs", "-o", "size=64m,nr_inodes=64,mode=1777", "frtest", top)
            dir = os.path.join(top, "snapshots")
            os.mkdir(dir, 0o700)
            write_config(file, name, dir, f"crash:comm={program},cooldown=0s",
                         more="[Storage]\nKeepFree=0%\nMaxFiles=1000\n[Control]\nSocket=yes\n")
            r = Recorder(name, dir, "--config", file)
            try:
                r.armed()
                taken = [fr("dump", "-n", name).stdout.strip() for _ in range(3)]
                fr("list", "--keep", taken[0])
                run(*AS_NOBODY, sys.executable, "-c", TAKER, what, cwd=top)
                crash(program, 1)
                wait_for(lambda: any(program in f for f in r.files()), lambda: f"a snapshot of the crash, without {what}: {r.said()}")
                check(taken[0] in r.files(), f"the marked one, without {what}: {r.files()}")
                check(taken[1] not in r.files(), f"the oldest has left, without {what}: {r.files()}")
                fr("verify", [f for f in r.files() if program in f][0])
                equal(r.end(), 0, f"exit status: {r.said()}")
            finally:
                kill(r)
                run("umount", "-l", top)


# ---- flooding the incident log ----

ATTACKER, VICTIM = 64321, 64322  # whom nobody else on this machine is


def as_user(uid):
    return ("setpriv", "--reuid", str(uid), "--regid", str(uid), "--clear-groups")


@test("a flood of deaths pushes nobody's crash out of the incident log, nor does it with equal ones: each is in a record or counted by whom",
      own=COPYS)
def floods_incidents():
    file, mine = program("fra-flood"), program("fra-crash")
    may_enter(os.path.dirname(file))
    may_enter(os.path.dirname(mine))
    name, _ = by_copy()
    equal_ones = int(run(*as_user(ATTACKER), file, "400").stdout)
    others = int(run(*as_user(ATTACKER), file, "600", "0", "300").stdout)
    crashes = int(run(*as_user(VICTIM), mine, "1").stdout) + int(run(*as_user(VICTIM), file, "1").stdout) + int(run(mine, "1").stdout)
    snap = dump(name)
    account = fr_json("status", "-n", name)["incidents"]
    found = [json.loads(line) for line in fr("incidents", "-n", name, "--json").stdout.splitlines()]
    kept = [json.loads(line) for line in fr("incidents", "--json", snap).stdout.splitlines()]
    words = fr("incidents", "-n", name).stdout
    equal((equal_ones, others, crashes), (400, 600, 3), "died")
    check(account["dropped"]["signal"] == 0, f"the log was never full: {account}")
    crashed = [(i["uid"], i["comm"], i["count"]) for i in found if i["kind"] == "signal" and (i["uid"] == VICTIM or i["comm"] == "fra-crash")]
    equal(crashed, [(VICTIM, "fra-crash", 1), (VICTIM, "fra-flood", 1), (0, "fra-crash", 1)], "crashes of others")
    told = [i for i in found if i["uid"] == ATTACKER]
    records = [i for i in told if i["kind"] == "signal"]
    squeezed = [i for i in told if i["kind"] == "squeezed"]
    same = [i for i in records if i["comm"] == "fra-flood"]
    by = {q["comm"]: q["count"] for q in account["squeezed"] if q["uid"] == ATTACKER}
    equal(sum(i["count"] for i in told), equal_ones + others, f"deaths of the attacker, in {len(told)} records; {account}")
    equal(sum(i["count"] for i in squeezed), sum(by.values()), f"beyond the share, in records and by whom: {by}")
    check(len(by) <= 9, f"names of one user: {by}")
    check(len(records) <= LOG // 8, f"{len(records)} records of one user's program")
    equal(len([i for i in same if i["flags"] == 0]), 16, "equal ones that have a record each")
    sums = [i for i in same if i["flags"] == 2]
    check(sums and all(i["first_ts"] <= i["ts"] and i["start_ns"] == 0 for i in sums), f"the others: {sums}")
    equal(sum(i["count"] for i in same) + by.get("fra-flood", 0), equal_ones, "equal ones")
    equal({i["seq"] for i in kept} - {i["seq"] for i in found}, set(), "of a snapshot")
    equal(sum(i["count"] for i in kept if i["uid"] == ATTACKER), equal_ones + others, "deaths of the attacker in a snapshot")
    check(f"signal of user {ATTACKER} beyond the share" in words, words[-2000:])
    info = fr_json("info", snap)["incidents"]
    equal((info["squeezed"], info["pending"], info["kinds"]["squeezed"]), (sum(by.values()), 0, sum(by.values())), f"info: {info}")


# ---- taking all snapshots ----


def crashed_as(uid, file, pid_of):
    """A crash as this user; it is told whose."""
    p = subprocess.Popen([*as_user(uid), file], stdout=subprocess.DEVNULL)
    p.wait()
    pid_of[p.pid] = uid


@test("another user's crashes in the storm's time take half of the snapshots at most: somebody else's has one; each is decided", own=COPYS)
def storms():
    name, _ = by_copy()
    flood, mine = program(f"strm-a{TAG}"), program(f"strm-v{TAG}")
    may_enter(os.path.dirname(flood))
    dir, file = tempfile.mkdtemp(dir=TMP), path(f"{name}.conf")
    rule, count, uid_of = f"crash:comm=strm-?{TAG},cooldown=0s", 6, {}
    write_config(file, name, dir, rule)
    with open(file) as f:
        text = f.read()
    with open(file, "w") as f:
        f.write(text.replace("StormCount=0", f"StormCount={count}\nStormTime=1h"))
    r = Recorder(name, dir, "--config", file)
    try:
        r.armed()
        # one after the other: none is refused since another one is being written
        for nr in range(1, 11):
            crashed_as(ATTACKER, flood, uid_of)
            r.wait_seen(rule, nr)
            r.wait_files(min(nr, count // 2))
        crashed_as(VICTIM, mine, uid_of)
        verdicts = r.wait_seen(rule, 11)["verdicts"]
        files = r.wait_files(count // 2 + 1)
    finally:
        kill(r)
    equal((verdicts["taken"], verdicts["storm"]), (count // 2 + 1, 10 - count // 2), f"verdicts: {verdicts}")
    got = [fr_json("info", f)["trigger"]["uid"] for f in files]
    equal(sorted(got), [ATTACKER] * (count // 2) + [VICTIM], "whose snapshots")


# ---- flooding the life tier ----

# Takes as many names as it is told, then has as many children.
RENAMER = """
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int i;

	for (i = 0; i < atoi(argv[1]); i++)
		prctl(PR_SET_NAME, i % 2 ? "fra-renamed" : "fra-renamer");
	for (i = 0; i < atoi(argv[2]); i++) {
		if (!fork())
			_exit(0);
		wait(NULL);
	}
	return argc - 3;
}
"""


def life_of(file):
    return [(c["cpu"], t) for c in fr_json("info", file)["cpus"] for t in c["tiers"] if t["name"] == "life"]


@test("another user's flood of names and forks: what it overwrites is counted, whose records have the room is told, who lives has its name",
      own=COPYS)
def floods_life():
    name, _ = by_copy()
    with open(path("renamer.c"), "w") as f:
        f.write(RENAMER)
    run("gcc", "-o", path("renamer"), path("renamer.c"))
    may_enter(os.path.dirname(path("renamer")))
    names = program("fra-names", of="names")
    victim = subprocess.Popen([*as_user(VICTIM), names, "wait", "fra-victim"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    try:
        wait_for(lambda: "(fra-victim)" in open(f"/proc/{victim.pid}/stat").read(), "it has its name")
        before = {cpu: t["overwritten"] for cpu, t in life_of(dump(name))}
        # on each CPU, until its ring has gone round: a record of a name takes 32 bytes at least
        mine = sorted(os.sched_getaffinity(0))
        for cpu in mine:
            cnt = next(t["slots"] * t["subbuf_bytes"] for c, t in life_of(dump(name)) if c == cpu) // 32 + 1000
            run("taskset", "-c", str(cpu), *as_user(ATTACKER), path("renamer"), str(cnt), "100")
    finally:
        victim.stdin.close()
        victim.wait()
    file = dump(name)
    fr("verify", file)
    check_account(name, file)
    after = {cpu: t["overwritten"] for cpu, t in life_of(file)}
    for cpu in mine:
        check(after[cpu] > before[cpu], f"CPU {cpu}: what was overwritten is counted: {after[cpu]}, {before[cpu]} before")
    events = replay(file, "--life")
    ends = [e for e in events if e["event"] == "sched_process_exit" and e["pid"] == victim.pid]
    equal([e["comm"] for e in ends], ["fra-victim"], "the name of who lived through it")
    check(not any(e["event"] == "sched_process_fork" and e["child_pid"] == victim.pid for e in events), "its birth is overwritten")
    told = {r["comm"]: r["count()"] for r in fr_json("stat", "--by", "comm", "-f", "tier == life", file)["rows"]}
    seen = {who: sum(e["comm"] == who for e in events) for who in ("fra-renamer", "fra-renamed")}
    equal({who: told.get(who, 0) for who in seen}, seen, "records of the flood, by its names")
    check(all(seen.values()), f"it has records: {seen}")


# ---- having a rule for oneself ----

# Sleeps of so many ms, under a name; without a number for ever.
SLEEPER = """
import sys, time
with open("/proc/self/comm", "w") as f:
    f.write(sys.argv[1])
for i in range(int(sys.argv[3]) if len(sys.argv) > 3 else 10 ** 9):
    time.sleep(int(sys.argv[2]) / 1000)
"""
SLEEPS = 10


COOLDOWN_S = 3


def comes_in_cooldown(files):
    """Of snapshots in their order: one of a victim's is within the cooldown of the flood's before it."""
    told = sorted((fr_json("info", f)["trigger"] for f in files), key=lambda t: t["ts"])
    return any(b["comm"][-1] == "v" and a["comm"][-1] == "a" and b["ts"] - a["ts"] < COOLDOWN_S * 10**9 for a, b in zip(told, told[1:]))


@test("another user's flood of long sleeps: each one of somebody else's is told, and has its turn of a snapshot in the flood's cooldown")
def floods_a_rule():
    name = f"slp{TAG}"[:13]
    rule = f"latency:syscall:clock_nanosleep>1ms:comm={name}*,cooldown={COOLDOWN_S}s"
    with recording(rule, more="[Storage]\nMaxFiles=0\n") as r:
        flood = [subprocess.Popen([*as_user(ATTACKER), "/usr/bin/python3", "-c", SLEEPER, f"{name}a", "2"]) for _ in range(4)]
        runs = 0
        try:
            r.wait_files(2)
            # on a machine that stands still for as long as the cooldown it is over before the victim comes: that shows nothing
            while not comes_in_cooldown(files := r.wait_files(2 + runs)):
                check(runs < 6, f"no turn in {runs} cooldowns: {files}, {r.said()}")
                run(*as_user(VICTIM), "/usr/bin/python3", "-c", SLEEPER, f"{name}v", "20", str(SLEEPS))
                runs += 1
            file = dump(r.name)
        finally:
            for p in flood:
                p.kill()
                p.wait()
        told = [e for e in replay(file, "-f", f'event == latency && target_comm == "{name}v"')]
        equal(len(told), SLEEPS * runs, "sleeps that were told")
        by = {i["uid"]: i["code"] for i in incidents_of(r) if i["kind"] == "trigger" and i["text"].startswith(rule[:40]) and i["code"]}
        check({ATTACKER, VICTIM} <= set(by), f"who had none is told by user: {by}")


# N processes of a name, each in D: it waits for a child of vfork(), which sleeps.
HANGER = """
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int i;

	prctl(PR_SET_NAME, argv[1]);
	for (i = 0; i < atoi(argv[2]); i++)
		if (!fork()) {
			if (!vfork())
				for (;;)
					pause();
			_exit(0);
		}
	pause();
}
"""
HANGERS = 120


@test("another user's hundreds of hung tasks: somebody else's is told in its turn, not behind all of them")
def floods_hung():
    name = f"hng{TAG}"[:13]
    with open(path("hanger.c"), "w") as f:
        f.write(HANGER)
    run("gcc", "-o", path("hanger"), path("hanger.c"))
    may_enter(os.path.dirname(path("hanger")))
    rule = f"hung>1s:comm={name}*"  # a look each quarter of it
    both, file, seen = [], None, {}

    def hang(uid, who, cnt):
        """The next ones have higher numbers."""
        both.append(subprocess.Popen([*as_user(uid), path("hanger"), name + who, str(cnt)], start_new_session=True))
        wait_for(lambda: sum(state(p) == "D" for p in children(both[-1].pid)) == cnt, f"{cnt} processes hang")
    try:
        # the rule comes later: to its first look all hang from then on, however long it took until they did
        hang(ATTACKER, "a", HANGERS)
        hang(VICTIM, "v", 1)
        with recording(rule) as r:
            before = overwritten_since(dump(r.name), 0, "life")

            def all_seen():
                """Again and again: beside much else the ring wraps before the last one is told."""
                nonlocal file
                is_last, file = r.rules()[rule]["seen"] > HANGERS, dump(r.name)
                for e in replay(file, "--life", "-f", f'event == hung && target_comm ~ "{name}*"'):
                    seen[e["ts"], e["cpu"], e["target_pid"]] = e["target_comm"]
                return is_last
            wait_for(all_seen, "all are told")
    finally:
        for p in both:
            os.killpg(p.pid, 9)
            p.wait()
    told = [seen[at] for at in sorted(seen)]
    count = collections.Counter(told)
    lacks = HANGERS + 1 - len(told)
    check(set(count) <= {name + "a", name + "v"} and count[name + "v"] <= 1 and 0 <= lacks <= overwritten_since(file, 0, "life") - before,
          f"who is told: {count} of {HANGERS} and 1")
    if not lacks:
        check(told.index(name + "v") < HANGERS // 2, f"somebody else's comes after {told.index(name + 'v')} of them")


def incidents_of(r):
    return [json.loads(line) for line in fr("incidents", "-n", r.name, "-o", r.dir, "--json").stdout.splitlines()]


if __name__ == "__main__":
    main()
