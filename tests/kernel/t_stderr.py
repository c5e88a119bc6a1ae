# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A recorder whose messages nobody reads: its reader has gone, the terminal is stopped, or it is in the background. It goes on."""
import contextlib
import os
import pty
import re
import select
import signal
import socket
import subprocess
import termios

from frtest import FLIGHTREC, check, equal, exists, fr, main, options_of, program, refused, snapshots, status, test, wait_for
from recorder import ATTENDED, crash_decided, expendable, lease

NAME = f"mute{os.getpid():x}"  # of the program that dies, so that others do not count
RULE = f"crash:comm={NAME},cooldown=0s,dedupe=no"


@contextlib.contextmanager
def attended():
    name, dir, _ = lease(ATTENDED)
    yield name, dir, (*ATTENDED, "--keep")


@contextlib.contextmanager
def unattended():
    """With no limit of snapshots: there may be many in ten minutes, whatever other tests had taken."""
    name, dir, file = lease(ATTENDED)
    with open(file, "w") as f:
        f.write("[Trigger]\nStormCount=0\n")
    yield name, dir, (*ATTENDED, "--config", file)


@contextlib.contextmanager
def recorder(stderr, session):
    """In the foreground, with these messages: its process, session, and where its snapshots go."""
    with session() as (name, dir, more):
        p = subprocess.Popen([FLIGHTREC, "record", "-n", name, "-o", dir, *more, "--on", RULE],
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=stderr)
        try:
            yield p, name, dir
        finally:
            if p.poll() is None:
                p.kill()
            p.wait()


def crash():
    subprocess.run([program(NAME)], stdout=subprocess.DEVNULL)


def read_until(fd, word):
    said = b""
    while word not in said:
        check(select.select([fd], [], [], 120)[0], f"it did not say '{word.decode()}': {said}")
        said += os.read(fd, 4096)
    return said


@test("the reader of its messages goes away: snapshots are taken all the same, and the recorder ends when it is told to")
def gone():
    ours, its = os.pipe()
    with recorder(its, unattended) as (p, name, dir):
        os.close(its)
        read_until(ours, b"armed")
        os.close(ours)
        for cnt in range(1, 4):
            crash()
            wait_for(lambda: len(snapshots(dir)) >= cnt or p.poll() is not None, f"{cnt} snapshots")
        equal((p.poll(), len(snapshots(dir))), (None, 3), "its end, snapshots")
        p.send_signal(signal.SIGTERM)
        equal((p.wait(120), exists(name)), (0, True), "exit status, and the session that is kept")


@test("the reader of its messages goes away: its session ends with it as always", own="one that another test has left, else its own")
def ends_unread():
    ours, its = os.pipe()
    with expendable() as (name, dir, _), recorder(its, lambda: contextlib.nullcontext((name, dir, options_of(name)))) as (p, _, _):
        os.close(its)
        read_until(ours, b"armed")
        os.close(ours)
        p.send_signal(signal.SIGTERM)
        equal((p.wait(120), exists(name)), (0, False), "exit status, and its session")


@test("the command of `record -- COMMAND` meets a closed pipe as always")
def command():
    with attended() as (name, dir, more):
        text = f"{FLIGHTREC} record -n {name} -o {dir} {' '.join(more)} -- sh -c 'yes; kill -l $? >&2' 2>{dir}/said | head -n 1"
        subprocess.run(["sh", "-c", text], stdout=subprocess.DEVNULL, timeout=300)
        with open(f"{dir}/said") as f:
            check("PIPE" in f.read().split(), "no SIGPIPE")


@test("a terminal that is stopped delays no snapshot; what could not be shown is said to be missing", own="limits that count all snapshots of a session")
def stopped():
    master, slave = pty.openpty()
    with expendable(leave=True, fresh=True) as (name, dir, _), \
            recorder(slave, lambda: contextlib.nullcontext((name, dir, (*options_of(name), "--keep")))) as (p, _, _):
        begun = read_until(master, b"armed")
        check(b"cost now: " in begun and b"history: about " in begun, f"what it costs is measured for who sits at a terminal: {begun}")
        termios.tcflow(slave, termios.TCOOFF)
        for cnt in range(1, 4):
            crash()
            wait_for(lambda: len(snapshots(dir)) >= cnt, lambda: f"{cnt} snapshots, {p.poll()}")
        termios.tcflow(slave, termios.TCOON)
        crash()
        said = read_until(master, b"the rings read after")
        check(said.find(b"messages are missing here") < said.find(b"the rings read after"), f"it does not say so: {said}")
        check(b"messages are missing here" in said, f"it does not say so: {said}")
    os.close(slave)
    os.close(master)


@test("a journal that is stopped, behind a socket, delays no snapshot, nor does it keep the recorder from its end")
def stopped_journal():
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    its.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    with recorder(its, unattended) as (p, name, dir):
        said = read_until(ours.fileno(), b"armed")
        with contextlib.suppress(BlockingIOError):
            while True:
                its.send(b"x", socket.MSG_DONTWAIT)
        for cnt in range(1, 4):
            crash()
            wait_for(lambda: len(snapshots(dir)) >= cnt, lambda: f"{cnt} snapshots, {p.poll()}: {said}")
        p.send_signal(signal.SIGTERM)
        equal((p.wait(120), exists(name)), (0, True), "exit status, and the session that is kept")
    ours.close()
    its.close()


@test("record --detach: its output ends when it is ready, a recorder with triggers stays, and the session outlives it")
def in_background():
    name, dir, _ = lease(ATTENDED)
    begin = (FLIGHTREC, "record", "-n", name, "-o", dir, *ATTENDED, "--detach", "--on", RULE)

    def stays():
        said = subprocess.run(begin, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True).stdout
        check("triggers: 1 armed" in said, f"what the recorder says while it begins: {said}")
        return int(re.search(r"stays in the background, as process (\d+)", said)[1])

    def ends(pid, how):
        os.kill(pid, how)
        wait_for(lambda: not status(name)["recorder"], "it ends")
        check(exists(name), "the session is gone")

    for how in signal.SIGKILL, signal.SIGTERM:
        pid = stays()
        equal((os.getsid(pid), os.readlink(f"/proc/{pid}/cwd"), os.readlink(f"/proc/{pid}/fd/0")), (pid, "/", "/dev/null"), "its surroundings")
        crash_decided(NAME, name)  # for a snapshot, or against one: others may have taken many
        refused(fr(*begin[1:], status=1), "has a live recorder")
        ends(pid, how)
    with open(f"{dir}/said", "w+") as log:  # a file keeps what it says
        subprocess.run(begin, stdin=subprocess.DEVNULL, stderr=log, check=True)
        ends(int(re.search(r"as process (\d+)", open(log.name).read())[1]), signal.SIGTERM)
        wait_for(lambda: f"session '{name}' goes on recording" in open(log.name).read(), "its last message")


if __name__ == "__main__":
    main()
