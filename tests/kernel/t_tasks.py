# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Who was it: names of tasks that are gone, that were before, that share a pid; and filters by task."""
import contextlib
import json
import os
import platform
import signal
import subprocess
import sys
import threading
import time

from frtest import (FLIGHTREC, TMP, Skip, busy, check, dump, ended, equal, fr, fr_json, gone, helper, main, new_name, path, recorder,
                    replay, run, session, status, test, wait_for)
from recorder import NOBODY, Recorder, own_configured, kill, write_config

SYSCALLS = ("-p", "minimal", "-e", "syscall", "-m", "8M")
GETPPID = {"x86_64": 110, "aarch64": 173}.get(platform.machine())


@contextlib.contextmanager
def waiting(name):
    """A task of that name that lives until the block ends, or until its standard input is closed before."""
    p = subprocess.Popen([helper("names"), "wait", name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    p.stdout.readline()
    try:
        yield p
    finally:
        p.stdin.close()
        p.wait()
        p.stdout.close()


def copy_of(program, name):
    file = path(name)
    run("cp", program, file)
    return file


def names_in(events, tid):
    return {e["comm"] for e in events if e["tid"] == tid}


@test("a task that ended before the snapshot has its name")
def ended_before():
    program = copy_of("/bin/true", "frt-ended")
    with session(*SYSCALLS, "--comm", "frt-ended") as name:
        p = subprocess.Popen([program])
        p.wait()
        events = replay(dump(name))
    execs = [i for i, e in enumerate(events) if e["event"] == "sched_process_exec" and e["tid"] == p.pid]
    equal(len(execs), 1, "execs of it")
    after = [e for e in events[execs[0]:] if e["tid"] == p.pid]
    check(len(after) > 20, f"only {len(after)} events of it")
    equal({e["comm"] for e in after}, {"frt-ended"}, "its names after exec")
    # it has its name from where it takes it, and may be switched from there on, before the rest of its exec
    taken = [i for i, e in enumerate(events) if e["event"] == "task_rename" and e["tid"] == p.pid and e["newcomm"] == "frt-ended"]
    equal(len(taken), 1, "renamings to it")
    check(taken[0] < execs[0], "it took its name after it was executed")
    between = {e["comm"] for e in events[taken[0] + 1:execs[0]] if e["tid"] == p.pid}
    check(between <= {"frt-ended"}, f"its names since it took it: {between}")
    before = {e["comm"] for e in events[:taken[0]] if e["tid"] == p.pid}
    check("frt-ended" not in before, "it had its name before it took it")


@test("a task whose system calls are overwritten has its name where its end is told")
def ended_long_before():
    cpu = min(os.sched_getaffinity(0))  # whose ring has all of it
    with waiting("frt-long-ago") as early, session("-p", "minimal", "-e", "syscall", "-m", "4M") as name:
        os.sched_setaffinity(early.pid, {cpu})
        early.stdin.close()
        early.wait()
        run("taskset", "-c", cpu, "dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=1000000")
        events = replay(dump(name), "-f", f"tid == {early.pid}")
    equal([(e["event"], e["comm"]) for e in events], [("sched_process_exit", "frt-long-ago")], "what is left of it")


def lives(events, tid, parent):
    """
    The events of each child of this parent that had this pid, from its birth on. Others may have it in between: who wants it back
    tries until nobody else was faster, be it the kernel with a thread of its own.
    """
    born = [i for i, e in enumerate(events) if e["event"] == "sched_process_fork" and e["child_pid"] == tid]
    return [[e for e in events[i + 1:end] if e["tid"] == tid] for i, end in zip(born, born[1:] + [len(events)])
            if events[i]["parent_pid"] == parent]


@test("a pid used again: each task has its own name")
def reused():
    with session(*SYSCALLS) as name:
        p = subprocess.Popen([helper("names"), "reuse"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        said = p.communicate(timeout=120)[0]
        events = replay(dump(name))
    if p.returncode:
        raise Skip("no pid could be used again: /proc/sys/kernel/ns_last_pid")
    both = lives(events, int(said), p.pid)
    equal(len(both), 2, "its forks of that pid")
    for life, who in zip(both, ("frt-first", "frt-second")):
        calls = {e["comm"] for e in life if e["event"] == "sys_enter" and e["id"] == GETPPID}
        equal(calls, {who}, "names of who called getppid")
        equal([e["comm"] for e in life if e["event"] == "sched_process_exit"], [who], "names at exit")


@test("tasks that lived before recording began have their names")
def before_recording():
    with waiting("frt-before") as p:
        with session(*SYSCALLS) as name:
            p.stdin.close()
            p.wait()
            with open("/proc/1/task/1/comm"):
                init = {int(t) for t in os.listdir("/proc/1/task")}
            file = dump(name)
            events, begin = replay(file), fr_json("info", file)["begin_ns"]
        equal(names_in(events, p.pid), {"frt-before"}, "its names")
        check(any(e["event"] == "sched_process_exit" and e["tid"] == p.pid for e in events), "its end")
    # before all is recorded, somebody may end unseen
    unknown = {e["tid"] for e in events if e["comm"] is None and e["ts"] >= begin} - init
    check(not unknown, f"tasks without a name: {sorted(unknown)}")
    check(any(e["comm"].startswith("rcu_") for e in events if e["comm"]), "no name of a kernel thread")


@test("a task that was ending when recording began has its name to its last switch")
def ending_before():
    ending = subprocess.Popen([helper("ending"), "frt-ending"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with ending as p:
        said = p.stdout.readline()
        if not said:
            raise Skip("no pid namespace to be had here")
        tid = int(said)
        with session(*SYSCALLS) as name:
            p.stdin.close()
            equal(p.wait(), 0, "status of who reaps it")

            def left():
                """It is reaped a while before it leaves its CPU for good, and may have lost it in between."""
                events = [e for e in replay(dump(name)) if tid in (e["tid"], e.get("prev_pid"))]
                return any(e["event"] == "sched_switch" for e in events) and events
            events = wait_for(left, "its last switch")
    check(not any(e["event"] == "sched_process_exit" for e in events), "its exit was seen: it did not end before")
    equal({e["comm"] for e in events if e["tid"] == tid}, {"frt-ending"}, "its names")


@test("a name outlives the records that told it")
def overwritten():
    with session(*SYSCALLS, "--tier", "life=64K") as name, waiting("frt-long") as p:
        for cpu in os.sched_getaffinity(0):
            run("taskset", "-c", cpu, "bash", "-c", "for i in $(seq 500); do /bin/true; done")
        p.stdin.close()
        p.wait()
        events = replay(dump(name))
    told = [e for e in events if e["event"] == "task_rename" and e["tid"] == p.pid]
    equal(told, [], "records of how it got its name: the ring was to overwrite them")
    calls = [e for e in events if e["tid"] == p.pid and e["event"] == "sys_enter" and e["id"] == GETPPID]
    equal((len(calls), names_in(calls, p.pid)), (10, {"frt-long"}), "its last system calls, and its names then")


@test("names with control characters and bytes that are not UTF-8 are escaped")
def escaped():
    raw = b'a\x1b[31m\n"\\\xff\xc3b'
    with session(*SYSCALLS) as name:
        tid = int(run(helper("names"), "set", raw.hex()).stdout)
        file = dump(name)
    lines = subprocess.run([FLIGHTREC, "replay", "--json", "-f", f"tid == {tid}", file], stdout=subprocess.PIPE).stdout
    events = [json.loads(line) for line in lines.decode("utf-8", "strict").splitlines()]
    names = {e["comm"] for e in events if e["event"] == "sys_enter" and e["id"] == GETPPID}
    equal(len(names), 1, "names")
    check(names.pop().startswith('a\x1b[31m\n"\\'), f"name in JSON: {names}")
    text = subprocess.run([FLIGHTREC, "replay", "-f", f"tid == {tid}", file], stdout=subprocess.PIPE).stdout
    equal(text.count(b"\n"), len(events), "lines of text")
    bad = {b for b in text if (b < 32 and b != 10) or b == 127}
    check(not bad, f"control characters in the text: {bad}")
    text.decode("utf-8", "strict")


# ---- filters ----

def callers(file):
    """{(comm, pid)} of those whose system calls or faults are in the file."""
    wanted = ("sys_enter", "sys_exit", "page_fault_user", "page_fault_kernel")
    return {(e["comm"], e["pid"]) for e in replay(file) if e["event"] in wanted}


def record_filtered(*options, around=contextlib.nullcontext):
    """Others make system calls too: only the chosen may be in the file."""
    with session("-p", "minimal", "-e", "syscall", "-e", "fault", "-m", "2M", *options) as name:
        run(helper("exact"), "200")
        run("bash", "-c", "for i in $(seq 20); do /bin/true; done")
        run(helper("exact"), "100")
        filtered = sum(c["filtered"]["task"] for c in status(name)["cpus"])
        file = dump(name)
    check(filtered > 100, f"only {filtered} runs were filtered")
    check(any(e["event"] == "sched_switch" for e in replay(file)), "the filter is for system calls and faults only")
    return file


@test("--comm records the system calls and faults of tasks of that name, a prefix with *")
def by_comm():
    for given in ("exact", "exa*", "nobody,exact"):
        found = callers(record_filtered("--comm", given))
        equal({comm for comm, pid in found}, {"exact"}, f"--comm {given}: whose calls are there")
        equal(len(found), 2, f"--comm {given}: processes")


@test("--pid records the system calls of those processes")
def by_pid():
    with busy() as dd, waiting("frt-other"):
        found = callers(record_filtered("--pid", f"{dd.pid},999999"))
    equal(found, {("dd", dd.pid)}, "whose calls are there")


@test("--pid of a process that is not there, or of a mere thread, is said; of those that are there it is not")
def pid_of_nobody():
    me, gone = str(os.getpid()), subprocess.Popen(["true"])
    gone.wait()
    end = threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    try:
        tid = thread.native_id
        for given, word in ((me, None), (f"{me},{gone.pid}", f"no process {gone.pid},"), (str(tid), f"no process {tid},"),
                            (f"{gone.pid},{me},{tid}", f"no process {gone.pid} (nor 1 more),")):
            name = new_name()
            with ended(name):
                said = fr("record", "-n", name, "-o", TMP, "--detach", "-p", "minimal", "-m", "1M", "--pid", given).stderr
            check(word in said if word else "no process" not in said, f"--pid {given}: {said}")
    finally:
        end.set()
        thread.join()


@test("-f: what is recorded has the name it was chosen by, though its task had others before and after")
def by_expression():
    middle = copy_of("/bin/bash", "frt-middle")
    for expr, names in (('comm == "frt-middle"', {"frt-middle"}),
                        ('event == "sys_enter"', {"bash", "frt-middle", "true"})):
        with session("-p", "minimal", "-e", "syscall", "-m", "8M", "-f", expr) as name:
            p = subprocess.run(["/bin/bash", "-c", f"echo $$; exec {middle} -c 'exec /bin/true'"], stdout=subprocess.PIPE, text=True)
            found = callers(dump(name))
        equal({comm for comm, pid in found if pid == int(p.stdout)} & {"bash", "frt-middle", "true"}, names, f"-f {expr}: names")


def cgroup_root():
    root = next((d for d in ("/sys/fs/cgroup/unified", "/sys/fs/cgroup") if os.path.exists(f"{d}/cgroup.procs")
                 and os.path.exists(f"{d}/cgroup.subtree_control")), None)
    if not root:
        raise Skip("no cgroup v2")
    return root


def calls_below(chosen, below):
    """Whose calls are in a session of the cgroup of that name; and who made some in the directory below."""
    with session("-p", "minimal", "-e", "syscall", "-m", "8M", "--cgroup", chosen) as name:
        inside = subprocess.run(["bash", "-c", f"echo $$ > {below}/cgroup.procs; echo $$; exec {helper('exact')} 100"],
                                stdout=subprocess.PIPE, text=True)
        run(helper("exact"), "100")
        found = callers(dump(name))
    return {p for comm, p in found}, {int(inside.stdout.splitlines()[0])}


@test("--cgroup records the system calls of the tasks in it and below, however its path is written")
def by_cgroup():
    root = cgroup_root()
    group = f"frtest-{os.getpid()}"
    below = f"{root}/{group}/below"
    os.makedirs(below)
    try:
        for chosen in f"/{group}", f"./{group}", f"{group}/below/..", f"{root}/{group}/.":
            found, wanted = calls_below(chosen, below)
            equal(found, wanted, f"{chosen}: whose calls are there")
        for no, want in (f"{group}/none", 1), ("../..", 2), (f"../{group}", 1):  # 1: it may be there the next time
            p = fr("record", "-n", new_name(), "-o", TMP, "--cgroup", no, "--", "true", status=want)
            check(f"no cgroup {no}" in p.stderr, p.stderr)
        with own_configured() as (name, where, file):
            write_config(file, name, where, more=f"[Session]\nCgroup={group}/none\n")
            check(f"no cgroup {group}/none" in fr("record", "--config", file, status=1).stderr, "a service is to be started again")
    finally:
        wait_for(lambda: not open(f"{below}/cgroup.procs").read(), "the cgroup is empty")
        os.rmdir(below)
        os.rmdir(f"{root}/{group}")


@test("--cgroup: who begins to record again, by the same path, after the cgroup was made anew, does not adopt a session of the old one")
def cgroup_made_anew():
    dir = cgroup_root() + f"/frtest-{os.getpid()}"
    os.makedirs(dir)
    try:
        with own_configured(NOBODY) as (name, where, file):
            write_config(file, name, where, NOBODY, more=f"[Session]\nEvent=syscall\nCgroup={os.path.basename(dir)}\n")
            for made_anew in False, False, True:
                if made_anew:
                    os.rmdir(dir)
                    os.makedirs(dir)
                    p = fr("record", "-n", name, "-o", where, "-p", "minimal", "-m", "2M", "-e", "syscall", "--cgroup", os.path.basename(dir), "--detach", status=1)
                    check("made anew since" in p.stderr and f"stop -n {name}" in p.stderr, p.stderr)
                r = Recorder(name, where, "--config", file)
                try:
                    r.armed()
                    equal(len(r.files()), made_anew, f"last snapshots: {r.said()}")
                    equal(r.end(), 0, f"exit status: {r.said()}")
                finally:
                    kill(r)
            inside = subprocess.run(["bash", "-c", f"echo $$ > {dir}/cgroup.procs; echo $$; exec {helper('exact')} 100"],
                                    stdout=subprocess.PIPE, text=True)
            equal({p for comm, p in callers(dump(name))}, {int(inside.stdout.splitlines()[0])}, "whose calls are there")
    finally:
        wait_for(lambda: gone(dir), "the cgroup is empty", 60)


def pid_of(*args):
    p = subprocess.Popen([FLIGHTREC, *args], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    equal(p.wait(60), 0, "exit status")
    return p.pid


@test("flightrec's own system calls and faults are left out")
def own():
    name = new_name()
    with recorder(name, "-p", "full", "-m", "8M") as p:
        wait_for(lambda: status(name)["recorder"], "the session is owned")
        time.sleep(0.5)
        ours = {p.pid} | {pid_of("dump", "-n", name, "-o", path(f"own-{i}")) for i in range(3)} | {pid_of("status", "-n", name)}
        events = replay(dump(name))
        kinds = ("sys_enter", "sys_exit", "page_fault_user", "page_fault_kernel")
        mine = [e for e in events if e["event"] in kinds and e["comm"] == "flightrec" and e["pid"] in ours]
        check(any(e["event"] == "sched_process_exec" and e["pid"] in ours for e in events), "its processes are not seen at all")
        others = sum(e["event"] in kinds for e in events)
        check(sum(c["filtered"]["self"] for c in status(name)["cpus"]) > 100, "nothing was filtered")
    check(others > 100, "no system calls of others")
    check(not mine, f"{len(mine)} of our own, the first: {mine[:2]}")


CROWD = """
import os, sys, time
for _ in range(4000):
    if not os.fork():
        time.sleep(300)
print("there", flush=True)
time.sleep(300)
"""


@test("processes whose command lines do not fit a snapshot are counted")
def crowd():
    with session("-p", "minimal", "-m", "1M") as name:
        # a byte that is no text takes five in the file
        p = subprocess.Popen([sys.executable, "-c", CROWD, b"\xff" * 1000], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                             text=True, start_new_session=True)
        try:
            if p.stdout.readline() != "there\n":
                raise Skip("no room for 4000 processes")
            file = dump(name)
        finally:
            os.killpg(p.pid, signal.SIGKILL)
            p.wait()
            p.stdout.close()
    said = [line for line in fr("info", file).stdout.splitlines() if "without command line" in line]
    equal(len(said), 1, "info of a snapshot that lacks processes: lines about it")
    left_out = int(said[0].split()[0].replace(",", ""))
    check(100 < left_out < 2000, f"{left_out} left out")
    return f"{left_out} of 4000"


def table(name, map):
    return json.loads(run("bpftool", "-j", "map", "dump", "pinned", f"/sys/fs/bpf/flightrec/{name}/{map}").stdout)


@test("tasks that end on all CPUs at once: of the dead, the table has no more than its queue")
def many_dead():
    with session("-p", "minimal", "-m", "1M") as name:
        most = json.loads(run("bpftool", "-j", "map", "show", "pinned", f"/sys/fs/bpf/flightrec/{name}/dead").stdout)["max_entries"]
        evicted = lambda: status(name)["tasks"]["evicted"]
        load = [subprocess.Popen([helper("names"), "vforks"]) for _ in range(2 * os.cpu_count())]
        try:
            wait_for(lambda: evicted() > 4 * most, "the queue went through several times", 300)
        finally:
            for p in load:
                p.kill()
                p.wait()
        entries = [e["formatted"] for e in table(name, "tasks")]  # not of one moment, and some may be there twice
        dead = len({(e["key"]["tid"], e["key"]["start_ns"]) for e in entries if e["value"]["exit_ns"]})
        equal(status(name)["tasks"]["lost"], 0, "tasks without room")
    check(most * 0.99 < dead < most + 4 * os.cpu_count(), f"{dead} dead tasks in the table, {most} in the queue")
    return f"{dead} of {most}"


@test("of a program's path that is longer than 255 bytes these are recorded, as the list of events says")
def long_path():
    deep = os.path.join(path("long"), "d" * 200, "e" * 100)
    os.makedirs(os.path.dirname(deep))
    os.symlink("/bin/true", deep)
    with session("-p", "minimal", "-m", "1M") as name:
        p = subprocess.Popen([deep])
        p.wait()
        file = dump(name)
    names = [e["filename"] for e in replay(file, "-f", f"event == sched_process_exec && tid == {p.pid}")]
    equal(names, [deep[:255]], "path of the program")
    line = next(x for x in fr("events", "--md").stdout.splitlines() if x.startswith("| `filename` "))
    check("255 bytes" in line, line)


if __name__ == "__main__":
    main()
