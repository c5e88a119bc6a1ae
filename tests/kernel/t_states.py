# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""States of tasks: a snapshot says of a task that is blocked what the kernel's own /proc says of it at the same moment."""
import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile

from frtest import MINIMAL, TMP, WAITS, Skip, check, dump, equal, fr, fr_json, main, path, replay, run, shared, state, test, wait_for
from hangfs import hangfs

LETTERS = {0: "R", 1: "S", 2: "D", 4: "T", 8: "t", 16: "X", 32: "Z", 64: "P", 128: "I"}


def read(*parts):
    """A file of /proc; empty: there is none."""
    with contextlib.suppress(OSError), open("/".join(("/proc", *map(str, parts)))) as f:
        return f.read()
    return ""


def switches(tid):
    return re.findall(r"ctxt_switches:\s+(\d+)", read(tid, "status"))


def seen(tid):
    """What /proc says of a task: letter, call, its arguments, kernel functions, in which it waits; and how often it was switched from."""
    call = read(tid, "syscall").split()
    stack = [re.sub(r"\+.*", "", line.split()[1]) for line in read(tid, "stack").splitlines() if " " in line]
    return {"letter": state(tid), "call": int(call[0]) if call[0] != "running" else None, "args": [int(a, 16) for a in call[1:7]],
            "stack": stack, "wchan": read(tid, "wchan"), "switches": switches(tid)}


def still(file):
    """{tid: its state}"""
    return {t["tid"]: t for t in fr_json("report", file)["still_waiting"]["tasks"]}


def looked_at(name, tids):
    """
    A snapshot, and what /proc said of these tasks before: if they have not run since, that is of the snapshot's moment. Who has just begun
    to wait is not in it yet.
    """
    def once():
        before = {tid: seen(tid) for tid in tids}
        file = dump(name)
        if {tid: seen(tid) for tid in tids} == before and set(tids) <= set(still(file)):
            return file, before
        os.unlink(file)
        return None
    return wait_for(once, "the tasks stay where they are while a snapshot is taken")


def same(got, want):
    """The state of a task in a file is what /proc said."""
    equal(got["state_name"], want["letter"], f"state of {got}")
    equal(LETTERS[got["state"]], want["letter"], f"its number: {got}")
    if want["call"] is not None and want["call"] >= 0:
        equal((got["in"], got["id"], got["args"]), ("call", want["call"], want["args"]), f"call of {got}")
    # /proc leaves out what the kernel marks as the scheduler's, and report what it knows of it, and the entry
    check(want["wchan"] in got["kernel"], f"{want['wchan']} is not among {got['kernel']}")
    both = [f for f in want["stack"] if f in got["kernel"]]
    check(both and both == [f for f in got["kernel"] if f in want["stack"]], f"frames {got['kernel']}, /proc has {want['stack']}")
    equal(got["runs"] or got["moved"], False, f"it did not run: {got}")


@contextlib.contextmanager
def child(*argv):
    """A process that is ended, whatever it waits for, once what is around lets it."""
    p = subprocess.Popen([str(a) for a in argv], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    try:
        yield p
    finally:
        p.kill()
        p.stdout.close()
        p.wait()


def name_of(tid):
    return read(tid, "comm").rstrip("\n")


def waited_since(file, tid):
    """The last switch from a task in the file."""
    return max(e["ts"] for e in replay(file, "-f", f"event == sched_switch && tid == {tid}"))


@test("a FUSE server stands still: who reads a file of it waits in read, on that file, in fuse")
def fuse():
    name = shared(*WAITS)
    reader = "import os,sys; fd=os.open(sys.argv[1],os.O_RDONLY); print(fd,flush=True); os.kill(os.getpid(),19); os.read(fd,100)"
    with hangfs() as disk:
        with open(f"{disk.dir}/wal", "w") as f:
            f.write("x" * 50)
        with child(sys.executable, "-c", reader, f"{disk.dir}/wal") as p:
            fd = int(p.stdout.readline())
            wait_for(lambda: state(p.pid) == "T", "it has opened the file")
            disk.hang()
            try:
                os.kill(p.pid, signal.SIGCONT)
                wait_for(lambda: p.pid in dict(disk.waiting()), "it asks the server")
                wait_for(lambda: state(p.pid) in "SD", "it waits")
                file, want = looked_at(name, [p.pid])
            finally:
                disk.go()
        got = still(file)[p.pid]
        same(got, want[p.pid])
        equal((got["call"], got["args"][0]), ("read", fd), "its call")
        equal(got["object"], f"fuse:{disk.dir}/wal", "its object")
        check(any("fuse" in f for f in got["kernel"]), f"functions: {got['kernel']}")
        equal((got["comm"], got["since_from"]), (name_of(os.getpid()), "table"), "its name, and from where it is known since when")
        equal(got["since_ns"], waited_since(file, p.pid), "since when: the switch from it")


@contextlib.contextmanager
def loop_ext4():
    """A file system of its own on a loop device; frozen is thawed at the end."""
    image, dir = path("ext4.img"), tempfile.mkdtemp(dir=TMP)
    with open(image, "wb") as f:
        f.truncate(32 << 20)
    run("mkfs.ext4", "-q", "-F", image)
    if run("mount", "-o", "loop", image, dir, status=None).returncode:
        raise Skip("no loop device here")
    try:
        yield dir
    finally:
        run("fsfreeze", "-u", dir, status=None)
        run("umount", dir)
        os.unlink(image)


@test("a frozen file system: who writes to it, and who stores into a page of it, wait in D, and report says so first")
def frozen():
    name = shared(*WAITS)
    writer = "import os,sys; fd=os.open(sys.argv[1],os.O_RDWR); print(fd,flush=True); os.kill(os.getpid(),19); os.write(fd,b'x')"
    storer = ("import mmap,os,sys; fd=os.open(sys.argv[1],os.O_RDWR); m=mmap.mmap(fd,4096); m[0]; print(fd,flush=True);"
              "os.kill(os.getpid(),19); m[0]=7")
    with loop_ext4() as dir:
        for file in ("log", "page"):
            with open(f"{dir}/{file}", "wb") as f:
                f.write(bytes(4096))
        os.sync()
        with child(sys.executable, "-c", writer, f"{dir}/log") as w, child(sys.executable, "-c", storer, f"{dir}/page") as s:
            for p in (w, s):
                p.stdout.readline()
                wait_for(lambda p=p: state(p.pid) == "T", "it has opened its file")
            run("fsfreeze", "-f", dir)
            try:
                for p in (w, s):
                    os.kill(p.pid, signal.SIGCONT)
                    wait_for(lambda p=p: state(p.pid) == "D", "it is in D")
                file, want = looked_at(name, [w.pid, s.pid])
            finally:
                run("fsfreeze", "-u", dir)
        got = still(file)
        for p in (w, s):
            same(got[p.pid], want[p.pid])
            equal(got[p.pid]["state_name"], "D", "state")
            equal(got[p.pid]["since_ns"], waited_since(file, p.pid), "since when: the switch from it")
        equal((got[w.pid]["call"], got[w.pid]["object"]), ("write", f"ext4:{dir}/log"), "call and object of who writes")
        equal((got[s.pid]["in"], got[s.pid]["call"]), ("user", None), "who stores is in no call")
        check(any("page_mkwrite" in f for f in got[s.pid]["kernel"]), f"functions of who stores: {got[s.pid]['kernel']}")
        head = fr("report", file).stdout.splitlines()[:45]
        for p, word in (w, f"ext4:{dir}/log"), (s, "page_mkwrite"):
            at = next((i for i, line in enumerate(head) if f"/{p.pid} " in line), None)
            check(at is not None and word in head[at + 1], f"{p.pid}, then {word}: {head}")


DEADLOCK = """
import ctypes, os, sys, threading
libc = ctypes.CDLL(None)
lock = [ctypes.create_string_buffer(64) for _ in range(2)]  # PTHREAD_MUTEX_INITIALIZER is all zero
both = threading.Barrier(2)
def take(first):
    libc.pthread_mutex_lock(lock[first])
    os.write(1, b"%d %d\\n" % (threading.get_native_id(), ctypes.addressof(lock[1 - first])))
    both.wait()
    libc.pthread_mutex_lock(lock[1 - first])
for i in range(2):
    threading.Thread(target=take, args=(i,)).start()
"""


@test("two threads wait for each other's mutex: both in futex, each on the word of the other's; a session without waits, too")
def deadlock():
    with child(sys.executable, "-c", DEADLOCK) as p:
        words = dict(map(int, p.stdout.readline().split()) for _ in range(2))
        begun = shared(*WAITS), shared(*MINIMAL)
        for tid, word in words.items():
            wait_for(lambda tid=tid, word=word: read(tid, "syscall").split()[1:2] == [hex(word)], "it waits for the other's")
        for name in begun:
            file, want = looked_at(name, words)
            got = still(file)
            for tid, word in words.items():
                same(got[tid], want[tid])
                equal((got[tid]["call"], got[tid]["about"], got[tid]["pid"]), ("futex", f"futex {hex(word)}", p.pid), "what it waits for")
                check(got[tid]["kernel"][0].startswith("futex"), f"function: {got[tid]['kernel']}")
                check(got[tid]["since_ns"] or got[tid]["since_from"] is None, "since when: known, or not; never 0")
                holder, = words.keys() - {tid}
                equal((got[tid]["owner_tid"], got[tid]["owner_comm"]), (holder, name_of(holder)), "who holds the lock")
            page = fr("report", "--task", str(tid), file).stdout
            check(f"on futex {hex(word)} held by {name_of(holder)}/{holder}" in page, f"the page says who holds it: {page}")


LOCKS_FILE = """
import fcntl, os, struct, subprocess, sys
how, path = sys.argv[1:]
f = open(path, "r+")
if how == "flock":
    fcntl.flock(f, fcntl.LOCK_EX)
elif how == "range":
    fcntl.lockf(f, fcntl.LOCK_EX, 5, 10)
elif how == "given":  # by a child that has ended, as flock(1) does
    subprocess.run(["flock", str(f.fileno())], pass_fds=[f.fileno()], check=True)
print(flush=True)
os.read(0, 1)
"""


@test("who waits for a file's lock, of flock() and of fcntl(): who has it is named, also if who took it has ended")
def file_locks():
    wants = {"flock": "fcntl.flock(f, fcntl.LOCK_EX)", "range": "fcntl.lockf(f, fcntl.LOCK_SH)", "given": "fcntl.flock(f, fcntl.LOCK_SH)"}
    with contextlib.ExitStack() as stack:
        files = {how: stack.enter_context(tempfile.NamedTemporaryFile(dir=TMP)) for how in wants}
        has = {how: stack.enter_context(subprocess.Popen([sys.executable, "-c", LOCKS_FILE, how, f.name], stdin=subprocess.PIPE,
                                                         stdout=subprocess.PIPE)) for how, f in files.items()}
        for p in has.values():
            stack.callback(p.kill)
            equal(p.stdout.read(1), b"\n", "it has the lock")
        waits = {how: stack.enter_context(child(sys.executable, "-c", f"import fcntl; f = open({files[how].name!r}, 'r+'); {want}"))
                 for how, want in wants.items()}
        for p in waits.values():
            wait_for(lambda p=p: re.search(r"_lock|setlk", read(p.pid, "wchan")), "it waits for the lock")
        name = shared(*MINIMAL)
        for how, p in waits.items():
            file, _ = looked_at(name, [p.pid])
            got = still(file)[p.pid]
            equal((got["owner_tid"], got["owner_comm"]), (has[how].pid, name_of(has[how].pid)), f"{how}: who has the lock")
            check(f" held by {name_of(has[how].pid)}/{has[how].pid}" in fr("report", "--task", str(p.pid), file).stdout, "the page says it")


@test("every task is accounted for: seen = taken + left out for a reason; who runs has neither call nor stack")
def accounts():
    name = shared(*WAITS)
    with child("sleep", "1000") as p, child(sys.executable, "-c", "print(1, flush=True)\nwhile True: pass") as spins:
        spins.stdout.readline()
        wait_for(lambda: "nanosleep" in read(p.pid, "wchan"), "it sleeps")
        file, _ = looked_at(name, [p.pid])
        of = fr_json("info", file)["task_states"]["of"]
        rep = fr_json("report", file)["still_waiting"]
        equal(of["seen"], sum(of[k] for k in ("taken", "brief", "many", "late", "gone")), f"tasks: {of}")
        equal(len(rep["tasks"]), of["taken"], "states in the file")
        equal({k: rep[k] for k in of}, of, "report's counts")
        check(of["seen"] > 2, f"there are tasks: {of}")
        got = {t["tid"]: t for t in rep["tasks"]}
        equal(got[spins.pid]["state_name"], "R", "a task that spins")
        for t in got.values():
            if t["runs"]:
                equal((t["state"], t["in"], t["id"], t["kernel"]), (0, None, None, None), f"who has a CPU: {t}")
        known = {t["tid"]: t for t in rep["tasks"] if t["pid"] is not None and t["comm"]}
        equal(set(known), set(got), "tasks with a name and a process")
        ours = got[p.pid]
        equal((ours["comm"], ours["start_ns"] > 0, ours["cpu"] < os.cpu_count(), ours["cpus_allowed"]),
              (name_of(p.pid), True, True, allowed_cnt(p.pid)), "who sleeps")
        fr("verify", file)


def allowed_cnt(pid):
    """On how many CPUs it may run, those among them that are not there."""
    mask = re.search(r"^Cpus_allowed:\s+(\S+)$", read(pid, "status"), re.M)[1]
    return int(mask.replace(",", ""), 16).bit_count()


@test("priority, policy, CPU, affinity and last waker: those that the test gave it")
def scheduling():
    name = shared(*WAITS)
    cpu = max(os.sched_getaffinity(0))
    reader, out = os.pipe()
    p = subprocess.Popen(["cat"], stdin=reader, stdout=subprocess.DEVNULL)
    os.close(reader)
    try:
        os.sched_setaffinity(p.pid, {cpu})
        os.sched_setscheduler(p.pid, os.SCHED_BATCH, os.sched_param(0))
        os.setpriority(os.PRIO_PROCESS, p.pid, 5)
        wait_for(lambda: "pipe" in read(p.pid, "wchan"), "it reads")
        before = switches(p.pid)
        os.write(out, b"x")
        wait_for(lambda: switches(p.pid) != before and "pipe" in read(p.pid, "wchan"), "it has read, and reads")
        file, want = looked_at(name, [p.pid])
        got = still(file)[p.pid]
        same(got, want[p.pid])
        equal((got["prio"], got["policy"], got["cpu"], got["cpus_allowed"]), (125, os.SCHED_BATCH, cpu, 1),
              "priority, policy, CPU, on how many it may run")
        equal((got["waker"], got["waker_tid"]), ("task", os.getpid()), "who woke it last")
        equal(got["object"], os.readlink(f"/proc/{p.pid}/fd/0"), "object")
        check(got["woken_ns"] < got["since_ns"] < got["at_ns"], f"it was woken, then left, then was looked at: {got}")
    finally:
        os.close(out)
        p.wait()


@test("cut keeps the states of its window and its processes, merge those of all, recover has none and says so")
def members():
    name = shared(*WAITS)
    with child("sleep", "1000") as p:
        wait_for(lambda: "nanosleep" in read(p.pid, "wchan"), "it sleeps")
        one, _ = looked_at(name, [p.pid])
        two = dump(name)
        whole, last = still(one), fr_json("info", one)["end_ns"]
        out = path("cut.flight")

        def cut(*options):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(out)
            fr("cut", *options, one, "-o", out)
            fr("verify", out)
            return still(out) if fr_json("report", out)["still_waiting"] else {}
        equal(cut("--since", "-500ms"), whole, "a window up to the end: all of them, also of tasks without an event in it")
        equal(set(cut("--until", str(last - 1))), set(), "a window that ends before")
        check(set(cut("--pid", str(os.getpid()))) <= {int(t) for t in os.listdir("/proc/self/task")} | {os.getpid()}, "a process's")
        both = path("both.flight")
        fr("merge", one, two, "-o", both)
        fr("verify", both)
        tasks = fr_json("report", both)["still_waiting"]["tasks"]
        mine = [t for t in tasks if t["tid"] == p.pid]
        equal([t["at_ns"] for t in mine], [still(f)[p.pid]["at_ns"] for f in (one, two)], "both moments of a task")
        equal([t["kernel"] for t in mine], [whole[p.pid]["kernel"]] * 2, "with its stack")


if __name__ == "__main__":
    main()
