# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A program built otherwise from this tree. If its ring layout differs, neither version touches the other's session, but each can end
it. By whichever way a program finds tasks, it finds the same. One session is the other program's, ours is one that tests share."""
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

from frtest import (FLIGHTREC, FULL, ROOT, TMP, at_end, check, end, equal, exists, fr, helper, main, mono_ns, new_name, path, replay, run,
                    shared, test, wait_for)
from recorder import trigger_links

OPTIONS = ("-p", "minimal", "-e", "softirq", "-m", "4M")
OTHERS = "a program of another layout begins it"
NET_RX = 3  # a softirq, in the kernel's interrupt.h
TASK = 1  # the context of a waking
OTHER = 77  # the other program's layout
SENT = 100  # datagrams


# In a source file: what it is compiled to depends on how the other program is built. The last two are headers with such code.
BUILT_OTHERWISE = re.compile(r"FR_LAYOUT_VERSION|FR_RETURNS_OTHERWISE|ring_check\.h|\.skel\.h")


# Made for the triggers alone, which the other program never loads, as live() shows: a quarter of what there is to compile.
OF_TRIGGERS = ("bpf/*/trigger", "bpf/*/watch", "triggers.bpf.o", "triggers.skel.h")


def copy_objects(build, out):
    """
    Those of the program that are the same in the other one, or never loaded there, as good as new; the rest of what was there is removed.
    """
    shutil.rmtree(f"{out}/obj", ignore_errors=True)
    if os.path.isdir(f"{build}/obj/user"):
        run("cp", "-a", f"{build}/obj", out)
    for file in (f for part in OF_TRIGGERS for f in glob.glob(f"{build}/{part}")):
        to = os.path.join(out, os.path.relpath(file, build))
        os.makedirs(os.path.dirname(to), exist_ok=True)
        run("cp", "-a", "-T", file, to)
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


@functools.cache
def others_session():
    """The name of the session that the other program has begun."""
    name = new_name()
    at_end(lambda: (end(name), others_session.cache_clear()))
    run(other_program(), "record", "-n", name, "-o", path("."), "--unattended", *OPTIONS)
    return name


def session_of(program):
    return shared(*FULL) if program == FLIGHTREC else others_session()


def refused(old, new):
    """new does not touch what old records: a recorder has a status of its own for that, and the session goes on."""
    name = session_of(old)
    before = layout(name)
    for status, *how in ((5, "record", "-n", name, "-o", TMP, "--unattended", *OPTIONS), (1, "status", "-n", name),
                         (1, "dump", "-n", name, "-o", path("no.flight"))):
        got = run(new, *how, status=status)
        check("cannot read" in got.stderr and f"flightrec stop -n {name}" in got.stderr, got.stderr)
    equal(layout(name), before, "layout")
    run(old, "dump", "-n", name, "-o", path(f"goes-on-{before}.flight"))
    return f"layout {before}"


def send_to_self(cnt):
    """Datagrams that arrive in a softirq of the task that sends them."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind(("127.0.0.1", 0))
        for _ in range(cnt):
            s.sendto(b"x", s.getsockname())
            s.recv(1)


def recorded(program, act):
    """
    What act() returns, and its softirqs and wakings in a snapshot of the program's session. That is one in which nothing of them was overwritten, by
    the rings' own account: beside much else they wrap before the snapshot is taken, now and then.
    """
    name, file = session_of(program), path("whose.flight")

    def whole():
        with contextlib.suppress(FileNotFoundError):
            os.unlink(file)
        since, got = mono_ns(), act()
        run(program, "dump", "-n", name, "-o", file)
        tiers = [t for c in json.loads(run(program, "info", "--json", file).stdout)["cpus"] for t in c["tiers"] if t["name"] == "main"]
        check(tiers, "the snapshot has no ring of these events")
        return all(t["horizon_ns"] <= since for t in tiers) and (since, got)
    since, got = wait_for(whole, "rings that have all of it")
    return got, replay(file, "--since", str(since), "-f", "event in (softirq_entry, softirq_exit, sched_waking)")


def is_kernel_thread(tid):
    return os.path.isdir(f"/proc/{tid}") and not os.path.exists(f"/proc/{tid}/exe")


def whose(program):
    """What a program records of softirqs and wakeups: of whom?"""
    _, events = recorded(program, lambda: send_to_self(SENT))
    mine = collections.Counter(e["event"] for e in events if e["tid"] == os.getpid() and e.get("vec") == NET_RX)
    late = sum(e["event"] == "softirq_entry" and e.get("vec") == NET_RX and (e["comm"] or "").startswith("ksoftirqd/") for e in events)
    # each is there before the next is sent: by a softirq of who sends, or, now and then, of ksoftirqd
    check(mine["softirq_entry"] and mine["softirq_entry"] + late >= SENT, f"softirqs of who sends: {mine}, of ksoftirqd: {late}")
    equal(mine["softirq_exit"], mine["softirq_entry"], "ends of its softirqs")
    pair, events = recorded(program, lambda: json.loads(run(helper("pingpong"), "30").stdout))
    for a, b in ((pair["a"], pair["b"]), (pair["b"], pair["a"])):
        wakers = [e["tid"] for e in events if e["event"] == "sched_waking" and e["target_pid"] == b and e["waker"] == TASK]
        check(a in wakers, f"{a} wakes {b}, at least once: {wakers}")
        # before it waits for the other one, it is moved to its CPU; a kernel thread may hold its memory map's lock
        equal({tid for tid in wakers[wakers.index(a):] if not is_kernel_thread(tid)}, {a}, f"tasks that wake {b}: {collections.Counter(wakers)}")


@test("softirqs and wakeups are of who made them, found by calls and by loads", own=OTHERS)
def both_ways():
    whose(FLIGHTREC)
    whose(other_program())


@test("a session of another layout is left alone, in both directions: a status of its own, and the session goes on", own=OTHERS)
def left_alone():
    other = other_program()
    return f"{refused(other, FLIGHTREC)}, {refused(FLIGHTREC, other)}"


@test("a live recorder of another layout is left alone", own=OTHERS)
def live():
    other, name = other_program(), others_session()
    p = subprocess.Popen([other, "record", "-n", name, "-o", path("."), *OPTIONS, "--keep"], stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        wait_for(lambda: p.poll() is not None or json.loads(run(other, "status", "--json", "-n", name).stdout)["recorder"], "it records")
        got = fr("record", "-n", name, "-o", TMP, "--unattended", *OPTIONS, status=5)
        check("cannot read" in got.stderr, got.stderr)
        equal(layout(name), OTHER, "layout")
        equal(json.loads(run(other, "status", "--json", "-n", name).stdout)["recorder"], True, "it still records")
        equal(trigger_links(name), [], "programs of triggers, which are those of ours in the other program")
    finally:
        p.send_signal(signal.SIGTERM)
        p.communicate()


@test("a service does not try again where it cannot read the rings; who ends the session needs not read them", own=OTHERS)
def service():
    name, conf = others_session(), path("other.conf")
    with open(f"{ROOT}/dist/flightrec.service", encoding="utf-8") as f:
        prevents = re.search(r"^RestartPreventExitStatus=(.*)$", f.read(), re.M).group(1).split()
    with open(conf, "w", encoding="utf-8") as f:
        f.write(f"[Session]\nName={name}\nProfile=minimal\nEvent=softirq\nMemory=4M\n[Storage]\nDirectory={TMP}\n")
    got = fr("record", "--config", conf, status=5)
    check("cannot read" in got.stderr, got.stderr)
    check(str(got.returncode) in prevents, f"systemd starts it again: {prevents}")
    equal(layout(name), OTHER, "layout")
    fr("stop", "-n", name)
    check(not exists(name), "the session is there")


if __name__ == "__main__":
    main()
