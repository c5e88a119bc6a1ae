# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Who was it: names of tasks that are gone, that were before, that share a pid; and filters by task."""
import contextlib
import json
import os
import platform
import signal
import subprocess
import threading

from frtest import (CALLS, FILTERED, FLIGHTREC, FULL, MINIMAL, TMP, Skip, check, dump, equal, fr, fr_json, gone, helper, main, mono_ns,
                    new_name, path, program, replay, run, shared, status, test, wait_for)
from lapped import BEFORE, begin_waiting, lapped
from recorder import NOBODY, Recorder, kill, own_configured, write_config

GETPPID = {"x86_64": 110, "aarch64": 173}.get(platform.machine())


@contextlib.contextmanager
def waiting(name):
    """The same, until the block ends at the latest."""
    p = begin_waiting(name)
    try:
        yield p
    finally:
        p.stdin.close()
        p.wait()
        p.stdout.close()


def names_in(events, tid):
    return {e["comm"] for e in events if e["tid"] == tid}


@test("a task that ended before the snapshot has its name")
def ended_before():
    name, p = shared(*CALLS), subprocess.Popen([program("frt-ended", "/bin/true")])
    p.wait()
    events = replay(dump(name), "-f", f"tid == {p.pid}")
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


@test("arguments of executed programs are those of /proc, with blanks between them, also once the program has ended; long ones are cut")
def arguments():
    name = shared(*CALLS)
    given = (["-c", "read x", "one two", "", "\x1b[31m;=1"], ["-c", "read x", "a" * 300], ["-c", "read x", "b" * 100, "c" * 200, "d"])
    seen = []
    for args in given:
        p = subprocess.Popen([program("frt-argv", "/bin/sh"), *args], stdin=subprocess.PIPE)
        wait_for(lambda: open(f"/proc/{p.pid}/comm").read() == "frt-argv\n", "its program")
        with open(f"/proc/{p.pid}/cmdline", "rb") as f:
            seen.append((p.pid, f.read()))
        p.communicate()
    file = dump(name)
    for pid, cmdline in seen:
        events = replay(file, "-f", f"event in (exec_argv, sched_process_exec) && tid == {pid}")
        equal([e["event"] for e in events], ["sched_process_exec", "exec_argv"], "events of its exec, in order")
        equal(events[1]["argv_sz"], len(cmdline), "bytes of the arguments")
        want = cmdline[:256].removesuffix(b"\0") if len(cmdline) <= 256 else cmdline[:256]
        equal(events[1]["argv"], want.replace(b"\0", b" ").decode(), "arguments")


def main_ring(name, cpu):
    return next(t for c in status(name)["cpus"] if c["cpu"] == cpu for t in c["tiers"] if t["name"] == "main")


@test("a task whose system calls are overwritten has its name where its end is told")
def ended_long_before():
    cpu = min(os.sched_getaffinity(0))  # whose ring has all of it
    name, early = lapped(), BEFORE["frt-long-ago"]
    os.sched_setaffinity(early.pid, {cpu})
    early.stdin.close()
    early.wait()
    before = main_ring(name, cpu)["written"]
    while main_ring(name, cpu)["overwritten"] < before:  # no longer: births and deaths of others push out its own
        run("taskset", "-c", cpu, program("frt-dd", "/bin/dd"), "if=/dev/zero", "of=/dev/null", "bs=1", "count=50000")
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
    name, since = shared(*CALLS), mono_ns()
    p = subprocess.Popen([helper("names"), "reuse"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    said = p.communicate(timeout=120)[0]
    events = replay(dump(name), "--since", str(since))
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
    name, p = lapped(), BEFORE["frt-before"]
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


def with_deaths(cond, what):
    """Many tasks end on all CPUs, until then."""
    load = [subprocess.Popen([helper("names"), "vforks"]) for _ in range(2 * os.cpu_count())]
    try:
        wait_for(cond, what, 300)
    finally:
        for p in load:
            p.kill()
            p.wait()


@test("a task that was ending when recording began has its name to its last switch")
def ending_before():
    name, p = lapped(), BEFORE["frt-ending"]
    tid = p.tid
    if not tid:
        raise Skip("no pid namespace to be had here")
    with_deaths(lambda: status(name)["tasks"]["evicted"], "the first of the dead, of all since recording began, left the table")
    p.stdin.close()
    equal(p.wait(), 0, "status of who reaps it")

    def left():
        """It is reaped a while before it leaves its CPU for good, and may have lost it in between."""
        events = replay(dump(name), "-f", f"tid == {tid} || prev_pid == {tid}")
        return any(e["event"] == "sched_switch" for e in events) and events
    events = wait_for(left, "its last switch")
    check(not any(e["event"] == "sched_process_exit" for e in events), "its exit was seen: it did not end before")
    equal({e["comm"] for e in events if e["tid"] == tid}, {"frt-ending"}, "its names")


@test("a name outlives the records that told it")
def overwritten():
    name = lapped()
    with waiting("frt-long") as p:
        for cpu in os.sched_getaffinity(0):
            run("taskset", "-c", cpu, "bash", "-c", "for i in $(seq 500); do /bin/true; done")
        p.stdin.close()
        p.wait()
        events = replay(dump(name), "-f", f"tid == {p.pid}")
    told = [e for e in events if e["event"] == "task_rename" and e["tid"] == p.pid]
    equal(told, [], "records of how it got its name: the ring was to overwrite them")
    calls = [e for e in events if e["tid"] == p.pid and e["event"] == "sys_enter" and e["id"] == GETPPID]
    equal((len(calls), names_in(calls, p.pid)), (10, {"frt-long"}), "its last system calls, and its names then")


@test("names with control characters and bytes that are not UTF-8 are escaped")
def escaped():
    raw, name = b'frt\x1b[31m\n"\\\xff\xc3b', shared(*CALLS)
    tid = int(run(helper("names"), "set", raw.hex()).stdout)
    file = dump(name)
    lines = subprocess.run([FLIGHTREC, "replay", "--json", "-f", f"tid == {tid}", file], stdout=subprocess.PIPE).stdout
    events = [json.loads(line) for line in lines.decode("utf-8", "strict").splitlines()]
    names = {e["comm"] for e in events if e["event"] == "sys_enter" and e["id"] == GETPPID}
    equal(len(names), 1, "names")
    check(names.pop().startswith('frt\x1b[31m\n"\\'), f"name in JSON: {names}")
    text = subprocess.run([FLIGHTREC, "replay", "-f", f"tid == {tid}", file], stdout=subprocess.PIPE).stdout
    equal(text.count(b"\n"), len(events), "lines of text")
    bad = {b for b in text if (b < 32 and b != 10) or b == 127}
    check(not bad, f"control characters in the text: {bad}")
    text.decode("utf-8", "strict")


# ---- filters ----

CALLS_AND_FAULTS = "(event == sys_enter || event == sys_exit || event == page_fault_user || event == page_fault_kernel)"


def callers(file, since=10**9):
    """{(comm, pid)} of those whose system calls or faults are in the file, since this moment."""
    return {(e["comm"], e["pid"]) for e in replay(file, "--since", str(since), "-f", CALLS_AND_FAULTS)}


def pid_that_ran(*command):
    p = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    p.wait()
    return p.pid


def unfiltered(file, pids):
    """Whether switches of others than these are in it: the filter is for system calls and faults only."""
    others = " && ".join(f"pid != {pid}" for pid in pids)
    return int(fr("replay", "--count", "-f", f"event == sched_switch && {others}", file).stdout) > 0


@test("--comm records the system calls and faults of tasks of that name, a prefix with *")
def by_comm():
    name, since = shared(*CALLS), mono_ns()
    before = sum(c["filtered"]["task"] for c in status(name)["cpus"])
    others = pid_that_ran(helper("exact"), "200")
    pids = {pid_that_ran(program("frt-exact", "exact"), "100") for _ in range(2)}
    filtered = sum(c["filtered"]["task"] for c in status(name)["cpus"]) - before
    file = dump(name)
    found = callers(file, since)
    equal({comm for comm, pid in found if not comm.startswith("frt")}, set(), "names of others whose calls are there")
    equal({pid for comm, pid in found} & (pids | {others}), pids, "processes whose calls are there")
    check(filtered >= 400, f"only {filtered} runs were filtered, and others made 400")
    check(unfiltered(file, pids), "switches are filtered, too")


@test("-f: what is recorded has the name it was chosen by, though its task had others before and after; paths without their calls")
def by_expression():
    middle = program("frt-middle", "/bin/bash")
    name = shared(*FILTERED)
    p = subprocess.run(["/bin/bash", "-c", f"echo $$; exec {middle} -c 'exec /bin/true'"], stdout=subprocess.PIPE, text=True)
    events = replay(dump(name), "-f", f"pid == {int(p.stdout)}")
    calls = {(e["event"], e["comm"]) for e in events if e["event"].startswith("sys_")}
    equal(calls, {("sys_exit", "frt-middle"), ("sys_path", "frt-middle")}, "events and names")


def cgroup_root():
    root = next((d for d in ("/sys/fs/cgroup/unified", "/sys/fs/cgroup") if os.path.exists(f"{d}/cgroup.procs")
                 and os.path.exists(f"{d}/cgroup.subtree_control")), None)
    if not root:
        raise Skip("no cgroup v2")
    return root


@test("no such cgroup, or none below the root: refused")
def no_cgroup():
    root, group = cgroup_root(), f"frtest-{os.getpid()}"
    os.mkdir(f"{root}/{group}")
    try:
        for no, want in (f"{group}/none", 1), ("../..", 2), (f"../{group}", 1):  # 1: it may be there the next time
            p = fr("record", "-n", new_name(), "-o", TMP, "--cgroup", no, "--", "true", status=want)
            check(f"no cgroup {no}" in p.stderr, p.stderr)
        with own_configured(more=f"[Session]\nCgroup={group}/none\n") as (_, _, file):
            check(f"no cgroup {group}/none" in fr("record", "--config", file, status=1).stderr, "a service is to be started again")
    finally:
        os.rmdir(f"{root}/{group}")


def make_cgroups(dir):
    for below in BELOW:
        os.makedirs(f"{dir}/{below}", exist_ok=True)


def remove_cgroups(dir):
    for below in reversed(BELOW):
        wait_for(lambda d=f"{dir}/{below}": gone(d), f"{dir}/{below} is empty")
    os.rmdir(dir)


def ran_in(dir):
    """The pid of who made some calls in a cgroup."""
    p = subprocess.run(["bash", "-c", f"echo $$ > {dir}/cgroup.procs; echo $$; exec {helper('exact')} 100"], stdout=subprocess.PIPE, text=True)
    return int(p.stdout.splitlines()[0])


BELOW = "a", "b", "c", "c/below", "d"


class Chosen:
    """Who is recorded by --pid, --comm and --cgroup, any of which selects: processes, one that has ended and a mere thread among them."""

    def __init__(self, group):
        # however a path is written
        self.cgroups, self.end = f"/{group}/a,./{group}/b,{group}/c/below/..,{cgroup_root()}/{group}/d/.", threading.Event()
        self.process, self.other = begin_waiting("by-pid"), begin_waiting("by-nothing")
        self.ended = pid_that_ran("true")
        self.thread = threading.Thread(target=self.end.wait)
        self.thread.start()
        self.pids = f"{self.process.pid},{self.ended},{self.thread.native_id}"

    def settings(self):
        return f"[Session]\nEvent=syscall\nPid={self.pids}\nComm=nobody,by-comm\nCgroup={self.cgroups}\n"

    def begin(self, name, where):
        """Begin to record by options that say the same: it is refused."""
        return fr("record", "-n", name, "-o", where, "-p", "minimal", "-m", "2M", "-e", "syscall", "--incidents", "2048", "--pid", self.pids,
                  "--comm", "nobody,by-comm", "--cgroup", self.cgroups, "--unattended", status=1).stderr

    def act(self, dir):
        """Calls of all, and of others: the pids of those that are to be recorded."""
        pid_that_ran(helper("exact"), "100")
        pids = {ran_in(f"{dir}/{below}") for below in BELOW}
        pids |= {pid_that_ran(program("by-comm", "exact"), "100"), self.process.pid}
        for p in self.process, self.other:
            p.stdin.close()
            p.wait()
        return pids

    def put_away(self):
        self.end.set()
        self.thread.join()
        for p in self.process, self.other:
            p.stdin.close()
            p.wait()
            p.stdout.close()


@contextlib.contextmanager
def recorder_of(name, where, file, last_snapshots):
    r = Recorder(name, where, "--config", file)
    try:
        r.armed()
        equal(len(r.files()), last_snapshots, f"last snapshots: {r.said()}")
        yield r
        equal(r.end(), 0, f"exit status: {r.said()}")
    finally:
        kill(r)


@test("--pid, --comm, --cgroup: whom one of them selects is recorded, and nobody else; a cgroup that was made anew is another one",
      own="filters are the session's; one of a cgroup that is no more is replaced")
def by_any():
    root, group = cgroup_root(), f"frtest-{os.getpid()}"
    dir = f"{root}/{group}"
    make_cgroups(dir)
    chosen = Chosen(group)
    try:
        with own_configured(NOBODY, more=chosen.settings()) as (name, where, file):
            with recorder_of(name, where, file, 0) as r:
                check(f"no process {chosen.ended} (nor 1 more)," in r.said(), f"who is not there, or a thread: {r.said()}")
                pids = chosen.act(dir)
                taken = dump(name)
                fr("dump", "-n", name)
            equal({pid for comm, pid in callers(taken)}, pids, "whose calls are there")
            check(unfiltered(taken, pids), "switches are filtered, too")
            remove_cgroups(dir)
            make_cgroups(dir)
            said = chosen.begin(name, where)
            check("made anew since" in said and f"stop -n {name}" in said, said)
            write_config(file, name, where, NOBODY, more=f"{chosen.settings()}[Storage]\nMaxFiles=1\n")
            with recorder_of(name, where, file, 1) as r:
                check(r.files()[0].endswith("-settings.flight"), f"the last snapshot is the one that may be: {r.files()}")
                inside = ran_in(f"{dir}/c/below")
                equal({pid for comm, pid in callers(dump(name))}, {inside}, "whose calls are there")
    finally:
        chosen.put_away()
        remove_cgroups(dir)


def pid_of(*args):
    p = subprocess.Popen([FLIGHTREC, *args], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    equal(p.wait(120), 0, "exit status")
    return p.pid


@test("flightrec's own system calls and faults are left out, however many of its processes there are")
def own():
    name, since = shared(*FULL), mono_ns()
    before = sum(c["filtered"]["self"] for c in status(name)["cpus"])
    # these live until the end: nobody reads what they write
    many = [subprocess.Popen([FLIGHTREC, "events"], stdout=subprocess.PIPE, pipesize=4096) for _ in range(16)]
    p = subprocess.Popen([FLIGHTREC, "record", "-n", name, *FULL, "-o", f"{TMP}/shared", "--keep", "--", "true"], stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL)
    equal(p.wait(), 0, "exit status of a recorder that adopts the session")
    ours = {p.pid} | {pid_of("dump", "-n", name, "-o", path(f"own-{i}")) for i in range(3)} | {pid_of("status", "-n", name)}
    equal([p.poll() for p in many], [None] * len(many), "those that nobody reads live on")
    for p in many:
        p.stdout.close()
        p.wait(120)
    ours |= {p.pid for p in many}
    filtered = sum(c["filtered"]["self"] for c in status(name)["cpus"]) - before
    file = dump(name)
    execs = {e["pid"] for e in replay(file, "--since", str(since), "-f", "event == sched_process_exec")}
    equal(execs & ours, ours, "its processes that are seen at all")
    mine = [e for e in replay(file, "--since", str(since), "-f", f'{CALLS_AND_FAULTS} && comm == "flightrec"') if e["pid"] in ours]
    check(int(fr("replay", "--count", "-f", f'{CALLS_AND_FAULTS} && comm != "flightrec"', file).stdout), "no system calls of others")
    check(filtered > 100, f"{filtered} runs were filtered")
    check(not mine, f"{len(mine)} of our own, the first: {mine[:2]}")


@test("processes whose command lines do not fit a snapshot are counted")
def crowd():
    # a byte that is no text takes five in the file
    name = shared(*MINIMAL)
    p = subprocess.Popen([helper("names"), "crowd", "4000", b"\xff" * 1000], stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        if p.stdout.readline() != "there\n":
            raise Skip("no room for 4000 processes")
        file = dump(name)
        others = sum(map(str.isdigit, os.listdir("/proc"))) - 4000
    finally:
        os.killpg(p.pid, signal.SIGKILL)
        p.wait()
        p.stdout.close()
    there = sum(b'{"pid":' in line and len(line) > 5000 for line in subprocess.run(["zstd", "-dcq", file], stdout=subprocess.PIPE).stdout.split(b"\n"))
    said = [line for line in fr("info", file).stdout.splitlines() if "without command line" in line]
    equal(len(said), 1, "info of a snapshot that lacks processes: lines about it")
    left_out = int(said[0].split()[0].replace(",", ""))
    check(0 < there < 4000, f"{there} of the 4000 are there")
    check(4000 - there <= left_out <= 4000 - there + others, f"{left_out} left out, {there} of the 4000 are there, and {others} others")
    return f"{left_out}, {4000 - there} of the 4000"


def table(name, map):
    return json.loads(run("bpftool", "-j", "map", "dump", "pinned", f"/sys/fs/bpf/flightrec/{name}/{map}").stdout)


@test("tasks that end on all CPUs at once: of the dead, the table has no more than its queue")
def many_dead():
    name = shared(*MINIMAL)
    most = json.loads(run("bpftool", "-j", "map", "show", "pinned", f"/sys/fs/bpf/flightrec/{name}/dead").stdout)["max_entries"]
    evicted = lambda: status(name)["tasks"]["evicted"]
    before = evicted()
    with_deaths(lambda: evicted() - before > 2 * most, "the queue went through twice")
    begin = evicted()
    entries = [e["formatted"] for e in table(name, "tasks")]  # not of one moment, and some may be there twice
    meanwhile = evicted() - begin
    dead = len({(e["key"]["tid"], e["key"]["start_ns"]) for e in entries if e["value"]["exit_ns"]})
    equal(status(name)["tasks"]["lost"], 0, "tasks without room")
    # each CPU may be about to queue one that is in the table, or to remove one that no longer is in the queue
    check(abs(dead - most) <= meanwhile + 4 * os.cpu_count(), f"{dead} dead tasks in the table, {most} in the queue, {meanwhile} came meanwhile")
    return f"{dead} of {most}"


@test("of a program's path that is longer than 255 bytes these are recorded, as the list of events says")
def long_path():
    deep = os.path.join(path("long"), "d" * 200, "e" * 100)
    os.makedirs(os.path.dirname(deep))
    os.symlink("/bin/true", deep)
    name, p = shared(*MINIMAL), subprocess.Popen([deep])
    p.wait()
    file = dump(name)
    names = [e["filename"] for e in replay(file, "-f", f"event == sched_process_exec && tid == {p.pid}")]
    equal(names, [deep[:255]], "path of the program")
    line = next(x for x in fr("events", "--md").stdout.splitlines() if x.startswith("| `filename` "))
    check("255 bytes" in line, line)


if __name__ == "__main__":
    main()
