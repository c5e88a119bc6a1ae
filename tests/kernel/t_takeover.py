# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A program built otherwise from this tree. If its ring layout differs, a version takes a last snapshot of the old session, then
begins anew, in both directions. By whichever way it finds tasks, it finds the same. One session goes from one program to the other."""
import collections
import contextlib
import functools
import glob
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile

from frtest import (FLIGHTREC, ROOT, TMP, at_end, check, end, equal, exists, fr, fr_json, helper, main, new_name, path, replay, run, test,
                    wait_for)

OPTIONS = ("-p", "minimal", "-e", "softirq", "-m", "4M")
BY_TURNS = "the script's own session goes from one program to the other"
NET_RX = 3  # a softirq, in the kernel's interrupt.h
OTHER = 77  # the other program's layout


# In a source file: what it is compiled to depends on how the other program is built. The last two are headers with such code.
BUILT_OTHERWISE = re.compile(r"FR_LAYOUT_VERSION|FR_RETURNS_OTHERWISE|fr_layout_readable|ring_check\.h|\.skel\.h")


def copy_objects(build, out):
    """Those of the program that are the same in the other one, as good as new; the rest of what was there is removed."""
    shutil.rmtree(f"{out}/obj", ignore_errors=True)
    if os.path.isdir(f"{build}/obj/user"):
        run("cp", "-a", f"{build}/obj", out)
    for source in glob.glob(f"{ROOT}/user/**/*.c", recursive=True):
        with open(source, encoding="utf-8") as f:
            if BUILT_OTHERWISE.search(f.read()):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(os.path.join(out, "obj", os.path.relpath(source, ROOT)[:-1] + "o"))


@functools.cache
def other_program():
    """
    flightrec with another layout, and finding tasks by calls where the usual one does by loads; only
    what differs is compiled again, and for user space without optimising, which takes half as long again. The time is for
    a compiler that hangs: how long a busy machine takes for all of it is not what is tested.
    """
    build = os.path.dirname(FLIGHTREC)
    out = os.path.join(build, "layout")
    os.makedirs(out, exist_ok=True)
    copy_objects(build, out)
    define = f"-DFR_LAYOUT_VERSION={OTHER}u -DFR_RETURNS_OTHERWISE"
    run("make", "-s", "-j2", "-C", ROOT, f"O={out}", "CFLAGS=-O0", f"CC=gcc {define}", f"CLANG=clang {define}",
        f"{out}/flightrec", timeout=3600, env={k: v for k, v in os.environ.items() if not k.startswith("MAKE")})
    return os.path.join(out, "flightrec")


def layout(name):
    facts = run("bpftool", "map", "dump", "pinned", f"/sys/fs/bpf/flightrec/{name}/meta", "-j").stdout
    text = bytes(int(b, 16) for b in re.findall(r"0x([0-9a-f]{2})", facts)).decode("latin-1")
    return int(re.search(r"layout=(\d+)", text).group(1))


def mark(comm):
    """A process of a name that is to be found again."""
    run("/bin/sh", "-c", f"echo {comm} > /proc/self/comm; exec /bin/true")
    subprocess.run(["/bin/sh", "-c", f"printf {comm} > /proc/$$/comm; :"], check=True)


class Standing:
    """The session, as the test before left it; it is begun, or taken over, where a test needs it of another program's layout."""
    name, dir = None, None

    def of(self, program):
        """Let it be of this program's layout: what the program said if it begins or takes over, or None."""
        if not self.name:
            self.name, self.dir = new_name(), tempfile.mkdtemp(dir=TMP)
            at_end(self.end)
        if exists(self.name) and (layout(self.name) == OTHER) == (program != FLIGHTREC):
            return None
        return run(program, "record", "-n", self.name, "-o", self.dir, "--detach", *OPTIONS).stderr

    def files(self):
        return sorted(f for f in glob.glob(f"{self.dir}/*.flight"))

    def end(self):
        end(self.name)
        self.name = None


standing = Standing()


def taken_over(old, new, take_over=standing.of):
    """new takes over what old recorded; take_over(new) gives what it said."""
    standing.of(old)
    name, before, had = standing.name, layout(standing.name), standing.files()
    mark("beforehand")
    said = take_over(new)
    after = layout(name)
    check(before != after, f"layout {before} and {after}")
    check("its last snapshot is taken" in said, said)
    mark("afterwards")
    files = [f for f in standing.files() if f not in had]
    equal([f.split("-")[-1] for f in files], ["upgrade.flight"], "files")
    fr("verify", files[0])
    check(replay(files[0], "-f", 'comm == "beforehand"'), "what the old session recorded is not there")
    equal(fr_json("info", files[0])["trigger"]["reason"], "upgrade", "reason")
    last = path(f"last-{after}.flight")
    run(new, "dump", "-n", name, "-o", last)
    comms = {e["comm"] for e in replay(last, "-f", 'comm == "beforehand" || comm == "afterwards"')}
    check("afterwards" in comms and "beforehand" not in comms, "the new session does not begin anew")
    run(old, "status", "-n", name)  # it can be read by the other
    return f"layout {before}, then {after}"


def send_to_self(cnt):
    """Datagrams that arrive in a softirq of the task that sends them."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind(("127.0.0.1", 0))
        for _ in range(cnt):
            s.sendto(b"x", s.getsockname())
            s.recv(1)


def whose(program):
    """What a program records of softirqs and wakeups: of whom?"""
    standing.of(program)
    file = path(f"whose-{layout(standing.name)}.flight")
    send_to_self(500)
    pair = json.loads(run(helper("pingpong"), "500").stdout)
    run(program, "dump", "-n", standing.name, "-o", file)
    events = replay(file, "-f", "event in (softirq_entry, softirq_exit, sched_waking)")
    mine = collections.Counter(e["event"] for e in events if e["tid"] == os.getpid() and e.get("vec") == NET_RX)
    # not of all: some kernels leave one to ksoftirqd now and then
    check(mine["softirq_entry"] >= 400 and mine["softirq_exit"] >= 400, f"softirqs of who sends: {mine}")
    for a, b in ((pair["a"], pair["b"]), (pair["b"], pair["a"])):
        wakers = collections.Counter(e["tid"] for e in events if e["event"] == "sched_waking" and e["target_pid"] == b)
        check(wakers[a] >= 400, f"{a} wakes {b}: {wakers}")
        check(wakers[a] >= 0.9 * sum(wakers.values()), f"{a} wakes {b}: {wakers}")


@test("a session of another layout: last snapshot, then anew; softirqs and wakeups are of who made them, found by calls and by loads",
      own=BY_TURNS)
def to_other():
    other = other_program()
    whose(FLIGHTREC)
    said = taken_over(FLIGHTREC, other)
    whose(other)
    return said


@test("a live recorder of another layout is left alone", own=BY_TURNS)
def live():
    other = other_program()
    standing.of(other)
    name = standing.name
    p = subprocess.Popen([other, "record", "-n", name, "-o", standing.dir, *OPTIONS, "--keep"], stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        wait_for(lambda: p.poll() is not None or fr_json("status", "-n", name)["recorder"], "it records")
        got = fr("record", "-n", name, "-o", TMP, "--detach", *OPTIONS, status=1)
        check("live recorder" in got.stderr, got.stderr)
        equal(layout(name), OTHER, "layout")
    finally:
        p.send_signal(signal.SIGTERM)
        p.communicate()


@test("no last snapshot, no end: the old session goes on recording", own=BY_TURNS)
def no_room():
    standing.of(other_program())
    name, dir = standing.name, standing.dir
    run("mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", dir)
    try:
        run("dd", "if=/dev/zero", f"of={dir}/full", "bs=4096", status=None)
        got = fr("record", "-n", name, "-o", dir, "--detach", *OPTIONS, status=None)
    finally:
        run("umount", "-l", dir)
    equal(got.returncode, 1, f"exit status: {got.stderr}")
    equal(layout(name), OTHER, "layout")
    check(exists(name), "the session is gone")


@test("the same in the other direction, by a recorder that cannot begin after it: the new session goes on recording", own=BY_TURNS)
def cannot_begin():
    def take_over(new):
        p = run("unshare", "-m", "sh", "-c", 'mount -t tmpfs none /proc/pressure; exec "$@"', "sh", new, "record", "-n", standing.name,
                "-o", standing.dir, *OPTIONS, "--on", "psi:cpu:40%", status=6)
        check(f"session '{standing.name}' goes on recording" in p.stderr, p.stderr)
        equal(fr_json("status", "-n", standing.name)["recorder"], False, "recorder")
        return p.stderr
    return taken_over(other_program(), FLIGHTREC, take_over)


def make_newer(name):
    """Let the session say that it is of the next layout, which only versions from then on can read."""
    pin = ("pinned", f"/sys/fs/bpf/flightrec/{name}/meta", "key", "hex", "00", "00", "00", "00")
    value = json.loads(run("bpftool", "map", "lookup", *pin, "-j").stdout)["value"]
    text = bytes(int(b, 16) for b in value)
    for fact in b"layout", b"layout_oldest":
        text = re.sub(rb"(?m)^%s=\d+$" % fact, b"%s=%d" % (fact, layout(name) + 1), text)
    check(not text[len(value) - 1:].strip(b"\0"), "the facts end by a zero, also if a number has become longer")
    text = text[:len(value)]
    run("bpftool", "map", "update", *pin, "value", "hex", *(f"{b:02x}" for b in text))


@test("a session whose rings it cannot read: a status of its own, and the session goes on", own=BY_TURNS)
def unreadable():
    standing.of(FLIGHTREC)
    name, conf = standing.name, path("newer.conf")
    with open(f"{ROOT}/dist/flightrec.service", encoding="utf-8") as f:
        prevents = re.search(r"^RestartPreventExitStatus=(.*)$", f.read(), re.M).group(1).split()
    before = layout(name)
    make_newer(name)
    equal(layout(name), before + 1, "layout")
    with open(conf, "w", encoding="utf-8") as f:
        f.write(f"[Session]\nName={name}\nProfile=minimal\nEvent=softirq\nMemory=4M\n[Storage]\nDirectory={TMP}\n")
    for how in (("-n", name, "-o", TMP, *OPTIONS), ("--config", conf)):
        got = fr("record", *how, status=5)
        check("cannot read" in got.stderr and f"flightrec stop -n {name}" in got.stderr, got.stderr)
        check(str(got.returncode) in prevents, f"systemd starts it again: {prevents}")
    equal(layout(name), before + 1, "layout")
    fr("stop", "-n", name)
    check(not exists(name), "the session is there")


if __name__ == "__main__":
    main()
