# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What a guest brought home (tests/vm/tour), looked at from outside. Argument: the directory it was unpacked to."""
import json
import os
import re
import sys

GOT = sys.argv.pop(1)
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "kernel"))
from frtest import check, equal, fr, fr_json, main, replay, test  # noqa: E402

SIGSEGV, SIGKILL, SIGTERM, EBADF = 11, 9, 15, 9
CAP_SYS_ADMIN = 21
GETPID_COMPAT = 20
CALL_CNT, BLOCK_SZ, BLOCK_AT = 1000, 65536, 48 << 20  # as guest.c has them
FRAMES = {"stack", "stack_build_ids"}  # are not printed by themselves
MARKS = {"snapshot_begin", "trigger"}  # the others are of rules and of the governor, and a snapshot's end comes after its last event


def text(name):
    with open(os.path.join(GOT, name)) as f:
        return f.read().strip()


SNAPSHOT = os.path.join(GOT, "x.flight")
RELEASE = tuple(int(n) for n in text("release").split(".")[:2])
IS_X86 = text("machine") == "x86_64"
GETPPID, PREAD64, OPENAT, CONNECT = (110, 17, 257, 42) if IS_X86 else (173, 67, 56, 203)
OPEN_COMPAT = 5, 1, 0  # its number, its ABI, its argument
ABSENT, NOWHERE = 1, 2  # FR_UNREAD_*
ADDRESS_BITS = 47 if IS_X86 else 48
LACKING = set() if RELEASE >= (6, 5) else {"block_io_start", "block_io_done"}  # 5a80bd075f3b
LACKING |= set() if IS_X86 else {"page_fault_user", "page_fault_kernel"}
EVENTS = []


def events(name, **want):
    """The snapshot's events of this name, those with these fields."""
    if not EVENTS:
        EVENTS.extend(replay(SNAPSHOT))
    return [e for e in EVENTS if e["event"] == name and all(e.get(k) == v for k, v in want.items())]


def one(name, **want):
    found = events(name, **want)
    check(len(found) == 1, f"{len(found)} events {name} with {want}, not 1: {found[:3]}")
    return found[0]


def shows(event, what, **want):
    for key, value in want.items():
        equal(event[key], value, f"{what}: {key}")


@test("every command ends as it should")
def commands():
    want = {"doctor": 0, "record": 0, "eat": 128 + SIGKILL, "busy": 0, "block": 0, "crash": 128 + SIGSEGV, "calls": 0,
            "dump": 0, "status": 0, "again": 0, "stop": 0, "gone": 4}
    got = {name: int(code) for name, code in (line.split() for line in text("statuses").splitlines()) if name in want}
    words = "".join(text(f"{name}.err") for name in want if got.get(name) != want[name])
    equal(got, want, f"exit statuses ({words})")
    return text("release")


@test("the kernel has nothing to complain of")
def dmesg():
    bad = [line for line in text("dmesg").splitlines()
           if any(w in line for w in ("WARNING:", "BUG:", "Oops", "rcu: INFO", "possible recursive locking"))]
    check(not bad, "\n".join(bad))


@test("with the rights that the unit grants, and no others: recorded, a crash taken")
def unit():
    got = dict(line.split() for line in text("statuses").splitlines())
    equal(got["unit"], "0", f"exit status: {text('unit.err')}")
    equal(int(re.search(r"CapBnd:\s+(\w+)", text("unit.out"))[1], 16) & 1 << CAP_SYS_ADMIN, 0, "CAP_SYS_ADMIN in its bounding set")
    info = fr_json("info", os.path.join(GOT, "unit.flight"))
    equal(info["session"], "unit", "session")
    crash, = (e for e in replay(os.path.join(GOT, "unit.flight")) if e["event"] == "crash" and e["comm"] == "crash-worker")
    equal(crash["sig"], SIGSEGV, "signal")
    check(len(crash["ustack"]) > 2, f"its stack, without frame pointers to where the thread began: {crash['ustack']}")
    had = fr_json("report", "--task", str(crash["tid"]), os.path.join(GOT, "unit.flight"))["scene"]
    equal(had["open"], len(had["descriptors"]), "its descriptors")
    equal([d["object"].split("/")[-1] for d in had["descriptors"] if d["fd"] in (1, 2)], ["unit.out", "unit.err"], "two of them")
    equal({n["name"] for n in had["limits"] if n["used"] is not None}, {"DATA", "STACK", "NPROC", "NOFILE", "MEMLOCK", "AS"},
          "limits whose use is known")
    maps = had["mappings"]
    equal((had["mapped"], len(maps) > 10), (len(maps), True), "its memory")
    equal([m["perms"] for m in maps if m["ip"]], ["r-xp"], "its code")
    equal([m["perms"] for m in maps if m["sp"]], ["rw-p"], "its stack")
    equal([t["comm"] for t in had["threads"] if t["died"]], ["crash-worker"], "which of its threads died")
    equal((had["threaded"], had["threaded"] > 1), (len(had["threads"]), True), "its threads")


@test("doctor: able, and missing is what this kernel lacks")
def doctor():
    got = json.loads(text("doctor.out"))
    check(got["able"], f"not able: {got}")
    equal({c["what"] for c in got["checks"] if c["grade"] != "ok"}, LACKING, "missing")


@test("status: everything recorded, nothing lost")
def status():
    got = json.loads(text("status.out"))
    equal(set(filter(None, got["events_missing"].split(","))), LACKING, "events missing")
    equal(len(got["cpus"]), 4, "CPUs")
    for cpu in got["cpus"]:
        equal(set(cpu["lost"].values()), {0}, f"lost on CPU {cpu['cpu']}: {cpu['lost']}")
    equal(got["no_ring"], 0, "events without a ring")
    equal(got["tasks"], {"evicted": 0, "lost": 0}, "task table")
    equal({p["name"]: p["missed"] for p in got["programs"] if p["missed"]}, {}, "runs that the kernel left out")


@test("the snapshot is sound and has no holes")
def sound():
    fr("verify", SNAPSHOT)
    info = fr_json("info", SNAPSHOT)
    equal(info["kernel"], text("release"), "kernel")
    equal(info["holes"], [], "holes")
    for tier in (t for cpu in info["cpus"] for t in cpu["tiers"]):
        equal(tier["overwritten"], 0, "overwritten")
    return f"{info['events']} events"


@test("every event that this kernel has was recorded")
def every():
    known = {e["name"] for e in json.loads(fr("events", "--json").stdout) if e["group"] != "mark" or e["name"] in MARKS}
    check(len(known) > 20 and MARKS < known, f"only {len(known)} events known")
    missing = {name for name in known - FRAMES if not events(name)}
    equal(missing, LACKING, "events that did not come")


@test("crash: the delivery, its address, the end, the names")
def crash():
    death = one("signal_deliver", sig=SIGSEGV)
    shows(death, "delivery", comm="crash-worker", fatal=1, code=1, addr=8, sa_handler=0)
    check(death["ip"] and death["ip"] < 1 << ADDRESS_BITS, f"instruction at {death['ip']:#x}")
    shows(one("signal_generate", sig=SIGSEGV), "signal", comm="crash-worker", target_pid=death["tid"], target_comm="crash-worker")
    shows(one("sched_process_exec", pid=death["pid"]), "exec", filename="/bin/crash", comm="crash")
    last = one("sched_process_exit", tid=death["pid"])
    equal(last["exit_code"] & 0x7f, SIGSEGV, "exit code")
    check(one("sched_process_exit", tid=death["tid"])["ts"] > death["ts"], "the thread ends before its signal")
    if IS_X86:
        fault = events("page_fault_user", tid=death["tid"], address=8)
        check(fault and fault[-1]["ip"] == death["ip"], f"the fault behind it: {fault}")
    new = one("task_rename", tid=death["tid"])
    shows(new, "name", oldcomm="crash", newcomm="crash-worker", target_pid=death["tid"])


@test("system calls: number, arguments, results, 32-bit ones")
def calls():
    pid = one("sys_enter", comm="guest", id=PREAD64, args=[0xffffffff, 0x1111111111, 0x2222222222, 0x3333333333])["pid"]
    check(events("sys_exit", pid=pid, id=PREAD64, ret=-EBADF), "no result of pread64")
    for event, more in (("sys_enter", {"args": []}), ("sys_exit", {"ret": 1})):
        equal(len(events(event, pid=pid, id=GETPPID, abi=0, **more)), CALL_CNT, f"getppid, {event}")
    for event, more in (("sys_enter", {"args": []}), ("sys_exit", {"ret": pid})) if IS_X86 else ():
        equal(len(events(event, pid=pid, id=GETPID_COMPAT, abi=1, **more)), CALL_CNT // 100, f"32-bit getpid, {event}")


@test("what calls were given: paths, a 32-bit call's too, an address; and why nothing could be read")
def given():
    pid = one("sys_enter", comm="guest", id=PREAD64, args=[0xffffffff, 0x1111111111, 0x2222222222, 0x3333333333])["pid"]
    keys, native = ("id", "abi", "arg", "cut", "path", "why"), (OPENAT, 0, 1)
    got = [tuple(e.get(k) for k in keys) for e in EVENTS if e["pid"] == pid and e["event"] in ("sys_path", "sys_unread")]
    want = [(*native, 0, "/frt/guest", None), (*native, None, None, ABSENT), (*native, None, None, NOWHERE),
            (CONNECT, 0, 1, 0, "10.0.0.7:5432", None), (*(OPEN_COMPAT if IS_X86 else native), 0, "/frt/compat", None)]
    equal(got[-len(want):], want, "what it gave")


@test("standard error: what a program complained of")
def said():
    text = "".join(e["text"] for e in events("stderr_write"))
    equal(text.count("/frt-none: No such file or directory\n"), 1, f"in {text[-500:]}")


@test("block: one write, as it was asked for")
def block():
    major, minor = (int(n) for n in text("disk").split(":"))
    want = {"dev": major << 20 | minor, "sector": BLOCK_AT // 512, "nr_sector": BLOCK_SZ // 512, "rwbs": "WS"}
    for name in {"block_rq_issue", "block_io_start"} - LACKING:
        shows(one(name), name, bytes=BLOCK_SZ, **want)
    shows(one("block_rq_complete"), "block_rq_complete", error=0, **want)
    if "block_io_done" not in LACKING:  # nothing is left of it by then, and so the kernel's own tracepoint says too
        shows(one("block_io_done"), "block_io_done", **{**want, "nr_sector": 0, "bytes": 0})


@test("a program's calls, as it counts them, and returns one in the other")
def probes():
    got = dict(line.split() for line in text("statuses").splitlines())
    for name in "probes", "probed", "probes_dump", "probes_stop":
        equal(got[name], "0", f"{name}: {text(name + '.err')}")
    told = [one.groups() for one in map(re.compile(r"call (\d+) (.+) (-?\d+)").fullmatch, text("probed.out").splitlines()) if one]
    equal(len(told), 12, "calls that it tells")
    seen = replay(os.path.join(GOT, "probed.flight"))
    calls = [e for e in seen if e["event"] == "uprobe:probed__fr_probed_call"]
    equal([(e["arg1"], e["arg3"]) for e in calls], [(int(first), int(third)) for first, _, third in told], "numbers")
    for e, (_, what, _) in zip(calls, told, strict=True):
        equal((e["arg2"], e["faulted"]), ("(fault)", 4) if what == "-" else (what[:255], 0), f"a text that is {what}")
    equal([e["ret"] for e in seen if e["event"] == "uretprobe:probed__fr_probed_nested"], [1, 2, 6, 24, 120], "returns")
    return f"{sum(e['faulted'] > 0 for e in calls)} of {len(calls)} texts could not be read"


@test("a program's static marks, as it counts them, with their arguments; one that asks who listens is passed")
def marks():
    equal(dict(line.split() for line in text("statuses").splitlines())["marked"], "0", text("marked.err"))
    told = [line.split(" ", 3) for line in text("marked.out").splitlines()]
    seen = replay(os.path.join(GOT, "probed.flight"))
    calls = [e for e in seen if e["event"] == "usdt:marked__frt_call"]
    equal([(e["arg1"], e["arg2"]) for e in calls], [(int(line[1]), int(line[2])) for line in told if line[0] == "call"], "numbers")
    for e, line in zip(calls, (line for line in told if line[0] == "call"), strict=True):
        equal((e["arg3"], e["faulted"]), (line[3], 0), "a text")
    equal([(e["arg1"], e["arg4"]) for e in seen if e["event"] == "usdt:marked__frt_odd"], [(-i, 65535) for i in range(6)], "bytes")
    equal([e["arg1"] for e in seen if e["event"] == "usdt:marked__frt_guarded"], list(range(6)), "listened to")


@test("spans that were long by the program's clock pull a rule, and no others")
def spans():
    equal(dict(line.split() for line in text("statuses").splitlines())["spans"], "0", text("spans.err") + text("spans_alerts.err"))
    told = [line.split() for line in text("spans.out").splitlines() if line.startswith("span frt-span ")]
    each = [((int(id), int(tid)), int(least), int(most)) for _, _, id, tid, least, most in told]
    limit = 40_000_000
    must, may = {who for who, least, _ in each if least > limit}, {who for who, _, most in each if most > limit}
    alerts = [json.loads(line) for line in text("spans_alerts.out").splitlines() if line.startswith("{")]
    got = {(a["what"], a["tid"]) for a in alerts if "kind" in a}
    check(len(must) >= 8 and must <= got <= may, f"{got}, by its clock {must} to {may}")
    equal((alerts[-1]["span_left"], alerts[-1]["untracked"], alerts[-1]["unwatched"]), (2, 0, 0), "left, not followed, not seen")


@test("OOM: the victim, and its memory where the kernel tells")
def oom():
    pid = int(text("eat.out"))
    victim = one("mark_victim")
    shows(victim, "victim", target_pid=pid, target_comm="guest")
    shows(one("signal_deliver", tid=pid), "death", sig=SIGKILL, fatal=1)
    if "anon-rss" not in text("mark_victim"):  # 72ba14deb40a of 6.8 is in some older kernels too
        return f"this kernel's tracepoint gives the pid only: {victim['target_pid']}"
    said = re.search(r"Killed process %d \(guest\) (.*)" % pid, text("dmesg")).group(1)
    for name in ("total_vm", "anon_rss", "file_rss", "shmem_rss", "pgtables"):  # a moment later, and counted more exactly
        want = int(re.search(name.replace("_", ".") + r":(\d+)kB", said).group(1))
        check(abs(victim[name] - want) <= 512, f"{name} {victim[name]} KiB; the kernel says {said}")
    return f"{victim['anon_rss']} KiB of {victim['total_vm']}"


@test("a task older than the recording, ended before the snapshot, has its name")
def elder():
    tid = int(text("elder"))
    shows(one("sched_process_exit", tid=tid), "end", comm="elder", exit_code=SIGTERM)
    check(not events("task_rename", tid=tid), "it was to be renamed before the recording")
    known, lived = fr_json("info", SNAPSHOT)["tasks"]["known"], int(text("lived"))
    check(known >= lived, f"{known} tasks known; {lived} lived when the recording began")
    return f"{known} tasks known, {lived} of them older"


@test("samples: user and kernel code, with stacks")
def samples():
    user, kernel = events("cpu_sample", comm="guest", user=1), events("cpu_sample", user=0)
    check(len(user) > 20 and len(kernel) > 0, f"{len(user)} of the program, {len(kernel)} of the kernel")
    whole = [e for e in user if e["ustack"] and e["ustack"][0] == e["ip"]]
    check(len(whole) > len(user) * 0.9, f"{len(whole)} of {len(user)} have the stack of their ip")
    deep = [e for e in kernel if e["kstack"] and len(e["kstack"]) > 2]
    check(deep, f"none of {len(kernel)} has a kernel stack")
    return f"{len(user)} and {len(kernel)}"


@test("no task is without a name")
def names():
    events("sched_switch")
    # a mark's target is a task, or nobody
    nameless = [e for e in EVENTS if not e["comm"] or not e.get("next_comm", "x") or (not e.get("target_comm", "x") and e["target_pid"])]
    check(not nameless, f"{len(nameless)}, the first is {nameless[:1]}")


@test("time: nobody acts before being born, and wall time is the guest's")
def clock():
    events("sched_switch")
    check(all(a["ts"] <= b["ts"] for a, b in zip(EVENTS, EVENTS[1:])), "replay is not in order of time")
    forks = events("sched_process_fork")
    check(len(forks) >= 5, f"{len(forks)} forks")
    for fork in forks:
        acts = [e for e in EVENTS if e["tid"] == fork["child_pid"]]
        check(acts and acts[0]["ts"] > fork["ts"], f"{fork}, then {acts[:1]}")
    wall = fr("replay", SNAPSHOT, "-f", 'event == "mark_victim"', env={**os.environ, "TZ": "UTC"}).stdout[:8]
    begin, end = text("times").split()
    check(begin <= wall <= end or end < begin, f"it says {wall}, and was between {begin} and {end}")


if __name__ == "__main__":
    main()
