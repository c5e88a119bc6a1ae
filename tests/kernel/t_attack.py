# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Attackers as another user: who has no rights can neither hide from the recorder nor stop or blind it."""
import json
import os
import shutil
import socket
import subprocess
import sys

from frtest import (FLIGHTREC, SYSCALLS, Skip, check, dump, end, equal, fr_json, main, new_name, path, replay, run, session, shared, test,
                    wait_for)
from recorder import NOBODY as NOBODY_RULE
from recorder import recording

NOBODY = 65534
AS_NOBODY = ("setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups")

# ---- hiding as the recorder ----

ROOMY = ("-p", "minimal", "-e", "syscall", "-m", "16M")

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
    equal(p.wait(60), 0, f"exit status of {under} {program}")
    return p.pid


def calls(events, pid):
    return [e["args"][0] for e in events if e["pid"] == pid and e["event"] == "sys_enter" and e["id"] == CALL]


def is_stopped(pid):
    with open(f"/proc/{pid}/stat") as f:
        return f.read().rsplit(")", 1)[1].split()[0] == "T"


ALL = list(range(CALLS))


@test("whoever executes flightrec without the right to load BPF is recorded; eight stopped ones take no place; who has it is left out",
      own="the places of the recorder's processes are the session's")
def without_rights():
    seen, unseen, stopped = {}, {}, []
    with session(*ROOMY) as name:
        try:
            stopped += [start(FLIGHTREC, *AS_NOBODY, INTRUDER_STOPS="1") for _ in range(8)]
            for p in stopped:
                wait_for(lambda: is_stopped(p.pid), "it has stopped itself")
            seen["nobody"] = intrude(FLIGHTREC, *AS_NOBODY)
            seen["root without rights"] = intrude(FLIGHTREC, "setpriv", "--bounding-set", "-bpf,-perfmon")
            unseen["root"] = intrude(FLIGHTREC)
            bpf = ("--inh-caps", "+bpf", "--ambient-caps", "+bpf")
            unseen["nobody with CAP_BPF"] = intrude(FLIGHTREC, *AS_NOBODY, *bpf)
            perfmon = ("--inh-caps", "+perfmon", "--ambient-caps", "+perfmon")
            unseen["nobody with CAP_PERFMON"] = intrude(FLIGHTREC, *AS_NOBODY, *perfmon)
            events = replay(dump(name), "-f", "event == sys_enter")
        finally:
            for p in stopped:
                p.kill()
                p.wait()
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
    pids, name = {}, shared(*SYSCALLS)
    for who, under in (("nobody", AS_NOBODY), ("root", ())):
        if may_unshare(*under):
            pids[who] = intrude(FLIGHTREC, *under, "unshare", "-Ur")
    ours = intrude(FLIGHTREC, INTRUDER_EXEC=other)
    events = replay(dump(name))
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


@test("another file of the same size that got the inode's number of the removed flightrec is not the recorder's program",
      own="it is begun from a file that is removed")
def reused_inode():
    own, name = path("frt-flightrec"), new_name()
    shutil.copy(FLIGHTREC, own)
    was = os.stat(own)
    try:
        run(own, "record", "-n", name, "-o", path("."), "--detach", *ROOMY)
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
    finally:
        end(name)
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
            cnt = sum(int(p.communicate("\n", 60)[0]) for p in knocking)
        # those that were still in the queue come first
        after = root.counts()
    equal(tried(after) - tried(before), cnt + root.asked - asked, f"connections served and refused: {after}")
    equal(after["refused"]["full"] + after["refused"]["failed"], 0, f"other reasons: {after}")
    check(after["refused"]["denied"] <= cnt and after["served"] - before["served"] == root.asked - asked, f"who was served: {after}")


if __name__ == "__main__":
    main()
