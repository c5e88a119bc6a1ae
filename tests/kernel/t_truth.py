# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Truth from outside: what a program did, or another tracer saw, is what the recording says."""
import collections
import json
import os
import platform
import re
import subprocess
import time

from frtest import (CALLS, SESSIONS, TRACEFS, Failed, Skip, check, dump, equal, fr, lost, main, mono_ns, need_compat_calls, path, program,
                    replay, run, shared, status, test, tracefs, wait_for)
from lapped import lapped

MARK, MAGIC = 1001, 0x666c69676874
READ_WRITE = {"x86_64": (0, 1), "aarch64": (63, 64)}.get(platform.machine(), ())
PAGE_SZ, RECORD_MAX = 4096, 1024  # bytes: of a page of a sub-buffer; more than any record of a call takes


def between_marks(events, tid):
    """The task's system calls between its two markers, the markers' own left out."""
    calls = [e for e in events if e["tid"] == tid and e["event"] in ("sys_enter", "sys_exit")]
    marks = [i for i, e in enumerate(calls) if e["event"] == "sys_enter" and e["id"] == MARK and e["args"][0] == MAGIC]
    equal(len(marks), 2, "markers found")
    return calls[marks[0] + 2:marks[1]]


def record_exact(cnt, *args):
    name = shared(*CALLS)
    before = lost(status(name))
    p = subprocess.Popen([program("frt-exact", "exact"), str(cnt), *args], stdout=subprocess.PIPE, text=True)
    want = [json.loads(line) for line in p.communicate()[0].splitlines()]
    after, file = lost(status(name)), dump(name)
    equal(p.returncode, 0, "exit status of the program")
    equal(after - before, 0, "records lost")
    got = between_marks(replay(file, "-f", f"tid == {p.pid}"), p.pid)
    return want, got


def record_on(cpu):
    """The tid of a program that ran on this CPU only, and its calls."""
    p = subprocess.Popen([program("frt-exact", "exact"), "100"], stdout=subprocess.PIPE, text=True,
                         preexec_fn=lambda: os.sched_setaffinity(0, {cpu}))
    want = [json.loads(line) for line in p.communicate()[0].splitlines()]
    equal(p.returncode, 0, "exit status of the program")
    return p.pid, want


def compare_calls(want, got):
    equal(len(got), 2 * len(want), "events of the calls")
    for i, w in enumerate(want):
        enter, leave = got[2 * i], got[2 * i + 1]
        seen = {"abi": enter["abi"], "id": enter["id"], "ret": leave.get("ret"), "args": enter["args"]}
        equal((enter["event"], leave["event"]), ("sys_enter", "sys_exit"), f"pair {i}")
        equal(seen, w, f"call {i}")
        equal((leave["id"], leave["abi"]), (w["id"], w["abi"]), f"result of call {i}")


@test("exactly N system calls are N pairs: numbers, arguments, results")
def exact_native():
    for cnt in (1, 100, 20000):
        compare_calls(*record_exact(cnt))


@test("exactly N system calls, on each CPU: whose they are")
def exact_on_each_cpu():
    ran = [(cpu, record_on(cpu)) for cpu in sorted(os.sched_getaffinity(0))]
    file = dump(shared(*CALLS))
    for cpu, (tid, want) in ran:
        got = between_marks(replay(file, "-f", f"tid == {tid}"), tid)
        compare_calls(want, got)
        equal({e["cpu"] for e in got}, {cpu}, "on CPUs")


def current_cpus(name):
    """On how many CPUs the session's programs know where the current task is."""
    pin = os.path.join(SESSIONS, name, "prog-fr_find_current")
    ids = json.loads(run("bpftool", "-j", "prog", "show", "pinned", pin).stdout)["map_ids"]
    for id in ids:
        if json.loads(run("bpftool", "-j", "map", "show", "id", id).stdout).get("name") == ".data.current":
            table = json.loads(run("bpftool", "-j", "map", "dump", "id", id).stdout)
            return sum(1 for at in table[0]["formatted"]["value"][".data.current"][0]["fr_current_at"] if at)
    raise Failed("no map of where the current tasks are")


@test("the current task is found without a call, on each CPU, by kernels that can")
def current_found():
    release = tuple(int(n) for n in re.match(r"(\d+)\.(\d+)", platform.release()).groups())
    if platform.machine() != "x86_64" or not (6, 10) <= release <= (6, 18):
        raise Skip("not such a kernel")
    equal(current_cpus(shared(*CALLS)), os.cpu_count(), "CPUs found")


def full_pages(file, cpu):
    """Of each page of the main ring that is neither the first nor the last: [(tid, call)]. Between pages, offsets leap."""
    lines = fr("replay", "--json", "--pos", "-f", f"cpu == {cpu}", file).stdout.splitlines()
    rows = sorted((e["pos"]["seq"], e["pos"]["offset"], e["tid"], e.get("id", -1)) for e in map(json.loads, lines) if e["pos"]["tier"] == "main")
    ends = [i for i, (a, b) in enumerate(zip(rows, rows[1:]), 1) if a[0] != b[0] or b[1] - a[1] > RECORD_MAX]
    return [[row[2:] for row in rows[begin:end]] for begin, end in zip(ends, ends[1:])]


@test("calls of a few small arguments take their short form")
def exact_short():
    cpu, dd = min(os.sched_getaffinity(0)), program("frt-dd", "/bin/dd")
    p = subprocess.Popen(["taskset", "-c", str(cpu), dd, "if=/dev/zero", "of=/dev/null", "bs=1", "count=20000"], stderr=subprocess.DEVNULL)
    p.wait()
    pages = [page for page in full_pages(dump(shared(*CALLS)), cpu) if set(page) <= {(p.pid, call) for call in READ_WRITE}]
    # a read or a write takes 16 bytes (24 where none of this task is near), its return 8 (16 likewise); in the table's form 40 and 24.
    # Where the machine itself stood still between two, one may take 8 more.
    least = (PAGE_SZ - 256) // (16 + 8) * 2
    check(pages and min(map(len, pages)) >= least, f"records on pages of reads and writes alone: {sorted(map(len, pages))}, not {least}")
    return f"{len(pages)} pages of {min(map(len, pages))} records and more"


@test("calls by int 0x80 carry their ABI")
def exact_compat():
    need_compat_calls()
    want, got = record_exact(900, "compat")
    compare_calls(want, got)


# ---- tasks and signals ----

def record_tree():
    name, since = shared(*CALLS), mono_ns()
    out = run(program("frtree", "tree")).stdout
    events = replay(dump(name), "--since", str(since))
    tasks = {what: (int(tid), int(status)) for what, tid, status in (line.split() for line in out.splitlines())}
    return tasks, events


def one(events, what, **fields):
    """The only event of this kind with these fields, and its place in the merge order."""
    found = [i for i, e in enumerate(events) if e["event"] == what and all(e[k] == v for k, v in fields.items())]
    equal(len(found), 1, f"{what} {fields}: events found")
    return found[0], events[found[0]]


def check_life(events, parent, what, tid, status):
    """Fork, what came between, and exit of a task; in this order, under the names it had."""
    born, fork = one(events, "sched_process_fork", child_pid=tid)
    dead, leave = one(events, "sched_process_exit", tid=tid)
    new, _ = one(events, "sched_wakeup_new", target_pid=tid)
    thread = what == "thread"
    equal((fork["parent_pid"], fork["comm"], fork["child_comm"]), (parent, "frtree", "frtree"), f"{what}: parent")
    equal(fork["child_tgid"], parent if thread else tid, f"{what}: process")
    equal(leave["exit_code"], status, f"{what}: exit code")
    equal(leave["group_dead"], 0 if thread else 1, f"{what}: last thread")
    names = {"renamed": "frtree-a", "execs": "true", "thread": "frtree-t"}
    equal(leave["comm"], names.get(what, "frtree"), f"{what}: its last name")
    # the switch to it is not always seen: some kernels do not trace what runs in init, which may be who leaves the CPU
    acts = [i for i, e in enumerate(events) if e["tid"] == tid or (e["event"] == "sched_switch" and e["next_pid"] == tid)]
    check(born < new < acts[0] < dead, f"{what}: fork {born}, wakeup {new}, first act {acts[0]}, exit {dead}")
    return born, dead


def check_order(what, *places):
    check(list(places) == sorted(places), f"{what}: not in causal order: {places}")


@test("fork, exec, rename, exit and signals of a known tree: complete, in causal order, with right names")
def tree():
    tasks, events = record_tree()
    parent = tasks.pop("parent")[0]
    life = {what: check_life(events, parent, what, tid, status) for what, (tid, status) in tasks.items()}
    order = [life[what][0] for what in ("renamed", "execs", "killed", "faults", "handles", "thread")]
    check_order("forks", *order)

    place, rename = one(events, "task_rename", tid=tasks["renamed"][0])
    equal((rename["oldcomm"], rename["newcomm"]), ("frtree", "frtree-a"), "rename")
    check_order("rename", life["renamed"][0], place, life["renamed"][1])

    place, call = one(events, "sched_process_exec", tid=tasks["execs"][0])
    equal((call["filename"], call["old_pid"]), ("/bin/true", tasks["execs"][0]), "exec")
    check_order("exec", life["execs"][0], place, life["execs"][1])
    check_signals(events, parent, tasks, life)


def check_signals(events, parent, tasks, life):
    # a death without core is delivered as 9, to every thread; the exit code tells of what
    for what, sig, seen, fatal, handler in (("killed", 15, 9, 1, False), ("handles", 10, 10, 0, True)):
        tid = tasks[what][0]
        sent, gen = one(events, "signal_generate", target_pid=tid, sig=sig)
        got, deliver = one(events, "signal_deliver", tid=tid, sig=seen)
        equal((gen["pid"], gen["comm"], gen["group"], gen["result"]), (parent, "frtree", 1, 0), f"{what}: sender")
        equal(deliver["fatal"], fatal, f"{what}: fatal")
        equal((gen["code"], deliver["code"]), (0, 0), f"{what}: SI_USER, as the kernel's own tracepoints say")
        equal(deliver["sa_handler"] != 0, handler, f"{what}: handler")
        check_order(what, life[what][0], sent, got, life[what][1])
    got, deliver = one(events, "signal_deliver", tid=tasks["faults"][0], sig=11)
    equal((deliver["fatal"], deliver["addr"], deliver["code"]), (1, 0x1230, 1), "SIGSEGV")
    check_order("SIGSEGV", life["faults"][0], got, life["faults"][1])
    children = [e for e in events if e["event"] == "signal_generate" and e["sig"] == 17 and e["target_pid"] == parent]
    equal(len(children), 5, "SIGCHLD to the parent")


# ---- another tracer ----

INSTANCE = f"{TRACEFS}/instances/frtest-{os.getpid()}"
SWITCH = re.compile(r"\[(\d+)\] .* (\d+)\.(\d{6}): sched_switch: .*prev_pid=(\d+) .*prev_state=(\S+) .*next_pid=(\d+)")
STATES = {0: "R", 1: "S", 2: "D", 4: "T", 8: "t", 16: "X", 32: "Z", 64: "P", 128: "I", 256: "R+"}


def state_of_dead(state):
    """A task's parent may reap it, Z to X, on another CPU while it is switched out: two tracers may see it before and after."""
    return "Z" if state == "X" else state


def put(file, text):
    with open(f"{INSTANCE}/{file}", "w") as f:
        f.write(text)


def trace_and_record():
    """The same seconds by tracefs and by flightrec: (tracefs' lines, our switches, from, to: ns when both were on)."""
    put("trace_clock", "mono")
    put("buffer_size_kb", "16384")
    name = lapped()
    before = lost(status(name))
    put("events/sched/sched_switch/enable", "1")
    begin = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    # on each CPU: a quiet machine keeps it all on one
    run("bash", "-c", "for cpu in $(seq 0 $(($(nproc) - 1))); do"
        " taskset -c $cpu bash -c 'for i in $(seq 100); do /bin/true | cat; done' & done; wait; sleep 0.2")
    end = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    put("events/sched/sched_switch/enable", "0")
    after = lost(status(name))
    ours = replay(dump(name), "--since", str(begin), "-f", "event == sched_switch")
    equal(after - before, 0, "records lost")
    return open(f"{INSTANCE}/trace").read().splitlines(), ours, begin, end


def chained(switches, i):
    """Does switch i follow the one before: who got the CPU leaves it?"""
    return i == 0 or switches[i - 1][2] == switches[i][0]


def begin_together(cpu, theirs, ours):
    """
    Places of the first that both have: of those that look alike, the ones whose times are nearest. tracefs may leave switches out
    here, too; ours are one chain up to there, but for one at the edge.
    """
    near = [(abs(theirs[i][3] - ours[j][3]), i, j) for i in (0, 1) for j in range(min(100, len(ours))) if theirs[i][:3] == ours[j][:3]]
    check(near, f"CPU {cpu}: tracefs begins with {theirs[:2]}, we with {ours[:3]}")
    _, i, j = min(near)
    check(all(chained(ours, k) for k in range(2, j + 1)), f"CPU {cpu}: we begin with {ours[:j + 1]}")
    return i, j


def compare_switches(cpu, theirs, ours):
    """
    Both saw the same, but for an event at each edge. tracefs itself leaves switches out, mostly those of the idle task, on some
    kernels a few, on others many: where its own chain is broken, and ours is not, we may know more. Returns how often.
    """
    i, j = begin_together(cpu, theirs, ours)
    more = 0
    while i < len(theirs) and j < len(ours):
        if theirs[i][:3] == ours[j][:3]:
            i += 1
            j += 1
        elif not chained(theirs, i) and (ours[j][0] == 0 or chained(ours, j)):
            j += 1
            more += 1
        else:
            raise Failed(f"CPU {cpu}: tracefs saw {theirs[i - 1:i + 2]}, we {ours[j - 1:j + 2]}")
    # one at the edge, and what tracefs may have left out before it
    rest = [e for e in ours[j:] if e[0]]
    check(len(theirs) - i <= 1 and len(rest) <= 1 and len(ours) - j <= 2, f"CPU {cpu}: tracefs goes on with {theirs[i:][:3]}, we with {ours[j:][:3]}")
    return more


@test("per-CPU sched_switch agree with a tracefs instance, states included")
def instance_agrees():
    tracefs()
    try:
        os.mkdir(INSTANCE)
    except OSError as e:
        raise Skip(f"no tracefs instance: {e}")
    try:
        lines, ours, begin, end = trace_and_record()
        for cpu in range(os.cpu_count()):
            stats = open(f"{INSTANCE}/per_cpu/cpu{cpu}/stats").read()
            check(re.search(r"overrun: 0$", stats, re.M), f"tracefs lost events on CPU {cpu}")
    finally:
        os.rmdir(INSTANCE)
    got = collections.defaultdict(lambda: ([], []))
    for m in filter(None, map(SWITCH.search, lines)):
        if begin <= int(m[2]) * 10**9 + int(m[3]) * 1000 <= end:
            got[int(m[1])][0].append((int(m[4]), state_of_dead(m[5]), int(m[6]), int(m[2]) * 10**9 + int(m[3]) * 1000))
    for e in ours:
        if begin <= e["ts"] <= end:
            got[e["cpu"]][1].append((e["prev_pid"], state_of_dead(STATES[e["prev_state"]]), e["next_pid"], e["ts"]))
    check(len(got) == os.cpu_count(), f"CPUs seen: {sorted(got)}")
    check(all(len(a) > 50 for a, b in got.values()), "too few switches seen")
    more = sum(compare_switches(cpu, a, b) for cpu, (a, b) in got.items())
    return ", ".join(f"CPU {cpu}: {len(b)}" for cpu, (a, b) in sorted(got.items())) + f"; {more} that tracefs left out"


# ---- faults and disks ----

@test("a program that touches N fresh pages has N page faults, at their addresses")
def faults():
    name = shared(*CALLS)
    before = lost(status(name))
    p = subprocess.Popen([program("frt-touch", "touch"), "3000"], stdout=subprocess.PIPE, text=True)
    base, page = map(int, p.communicate()[0].split())
    equal(lost(status(name)) - before, 0, "records lost")
    events = replay(dump(name), "-f", f"tid == {p.pid} && event == \"page_fault_user\"")
    mine = [e["address"] - base for e in events if base <= e["address"] < base + 3000 * page]
    check(len(mine) >= 3000, f"{len(mine)} faults in the area")
    want = {i * page + i % page for i in range(3000)}
    check(want <= set(mine), f"{len(want - set(mine))} addresses are missing")


def check_io(events, missing, start, done):
    """
    1 MiB was written from sector 0 on: each request once at its start, once when it is done, at its place. Who looks what is on
    disks that are new, or were written to, may read meanwhile.
    """
    if start in missing or done in missing:
        return
    first = [e for e in events if e["event"] == start and e["nr_sector"] and not e["rwbs"].startswith("R")]
    equal(sum(e["nr_sector"] for e in first), 2048, f"{start}: sectors")
    equal(sum(e["bytes"] for e in first), 1 << 20, f"{start}: bytes")
    check(all(e["rwbs"].startswith("W") for e in first), f"{start}: not all are writes")
    equal(min(e["sector"] for e in first), 0, f"{start}: first sector")
    want = sorted(e["sector"] for e in first)
    got = [e["sector"] for e in events if e["event"] == done and e["rwbs"].startswith("W")]
    check(set(want) <= set(got) and len(got) - len(want) <= 1, f"{done}: sectors {sorted(got)}, not {want}, and a flush")


@test("writes to a block device: issued and completed, as much as was written")
def block():
    image = path("disk")
    with open(image, "w") as f:
        f.truncate(8 << 20)
    got = run("losetup", "-f", "--show", image, status=None)
    if got.returncode:
        raise Skip(f"no loop device: {got.stderr.strip()}")
    disk = got.stdout.strip()
    try:
        rdev = os.stat(disk).st_rdev
        name, since = shared(*CALLS), mono_ns()
        missing = status(name)["events_missing"].split(",")
        run("dd", "if=/dev/zero", f"of={disk}", "bs=64k", "count=16", "oflag=direct", "conv=fsync")
        # who waits for a request goes on before all is said of its end
        with open(f"/sys/block/{os.path.basename(disk)}/inflight") as f:
            wait_for(lambda: f.seek(0) or f.read().split() == ["0", "0"], "its requests are over")
        events = [e for e in replay(dump(name), "--since", str(since)) if e.get("dev") == os.major(rdev) << 20 | os.minor(rdev)]
    finally:
        run("losetup", "-d", disk)
    check_io(events, missing, "block_rq_issue", "block_rq_complete")
    check_io(events, missing, "block_io_start", "block_io_done")
    check(all(e["error"] == 0 for e in events if e["event"] == "block_rq_complete"), "errors")
    check("block_rq_issue" in {e["event"] for e in events} or "block_rq_issue" in missing, "nothing was issued")


if __name__ == "__main__":
    main()
