# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Any tracepoint as an event: records, fields and words beside tracefs' of the same load; what is refused."""
import contextlib
import json
import os
import re
import subprocess

from frtest import (FLIGHTREC, LIBRARY, MINIMAL, SESSIONS, TMP, TRACEFS, check, dump, equal, fr, fr_json, helper, main, new_name, path, program, refused,
                    replay, run, shared, test, tracefs, unrecorded_of, wait_for, waits_in)
from frtest import session as session_of
from hangfs import hangfs
from matrix import alerts

# Texts by __data_loc, arrays of text, flags by name, numbers with and without sign.
POINTS = ("sched:sched_process_exec", "syscalls:sys_enter_openat", "syscalls:sys_exit_openat", "signal:signal_generate", "task:task_rename")
RARE = "syscalls:sys_enter_sched_getscheduler"  # few call it besides
# Conditions, ours and the kernel's of the same meaning: in a set, of flags, of a sign, in words, of a text, of two bytes.
CONDS = (
    ("syscalls:sys_enter_kill", "sig in (SIGUSR1, SIGUSR2) && pid != 1", "sig == 10 || sig == 12"),
    ("signal:signal_deliver", "sig == SIGUSR2 || sa_flags & 0x80000000", "sig == 12 || sa_flags & 0x80000000"),
    ("syscalls:sys_exit_kill", "ret < 0", "ret < 0"),
    ("sock:inet_sock_set_state", "newstate == TCP_LISTEN && sport != 0", "newstate == 10 && sport != 0"),
    ("task:task_newtask", 'target_comm ~ "frt-*" && target_pid > 0', 'comm ~ "frt-*" && pid > 0'),
    ("sched:sched_process_exit", 'target_comm in ("frt-cond", "other")', 'comm == "frt-cond" || comm == "other"'),
)
# Some fields alone: a text that moves, a number; of what a field that is left out decides.
FORKS = "sched:sched_process_fork"
PROBED = helper("probed")
CALL, RETURN, NESTED = "uprobe:probed__fr_probed_call", "uretprobe:probed__fr_probed_call", "uretprobe:probed__fr_probed_nested"
DEEP = "uretprobe:probed__fr_probed_deep"
UNMADE = "unmade"
PROBES = (f"uprobe:{PROBED}:fr_probed_call{{arg1:u64, arg2:str, arg3:s32}}", f"uretprobe:{PROBED}:fr_probed_call if ret > 8589934592",
          f"uretprobe:{PROBED}:fr_probed_nested{{ret:s32}}", f"uprobe:{PROBED}:fr_probed_nested@3/h", f"uretprobe:{PROBED}:fr_probed_deep{{ret:s32}}")
MARKED = helper("marked")
MARKS = (f"usdt:{MARKED}:frt:call{{arg3:str, arg1, arg2}}", f"usdt:{MARKED}:frt:odd", f"usdt:{MARKED}:frt:guarded if arg1 > 2", f"usdt:{MARKED}:frt:fixed{{arg1:str}}",
         f"-usdt:{MARKED}:frt:odd", f"usdt:{MARKED}:frt:odd", f"mark:{MARKED}", f"mark:{FLIGHTREC}", f"mark:{LIBRARY}")
TPS = ("-p", "minimal", "-e", "-sched", "-m", "8M", *(word for point in POINTS for word in ("-e", f"tp:{point}")), "-e", f"tp:{RARE}@5/h",
       "-e", f'tp:{FORKS}{{child_comm, child_pid}}@100000/s if parent_pid != 1 && parent_comm ~ "frt-*"',
       *(word for point, ours, _ in CONDS for word in ("-e", f"tp:{point} if {ours}")), *(word for probe in PROBES + MARKS for word in ("-e", probe)))

# What a process of this name does that these tracepoints tell of, each as often as it says.
ACTS = """
import os, signal, sys
open("/proc/self/comm", "w").write("frt-tp")
signal.signal(signal.SIGUSR1, signal.SIG_IGN)
for i in range(20):
    try:
        os.close(os.open(f"/none/{i}" if i % 2 else "/dev/null", os.O_RDONLY | os.O_CLOEXEC))
    except OSError:
        pass
    os.kill(os.getpid(), signal.SIGUSR1)
os.execv("/bin/true", ["true"])
"""


def session():
    tracefs()
    return shared(*TPS)


def spawn():
    """Run the load; gives its pid."""
    return int(run("/bin/sh", "-c", 'echo $$; exec /usr/bin/python3 -S -c "$0"', ACTS).stdout)


def words_of(point, words):
    """The kernel and libtraceevent write system calls in two ways: their numbers are the same."""
    if not point.startswith("sys_"):
        return words.strip()
    return [int(number, 16) & 0xffffffff for number in re.findall(r"(?::|->|^) *(?:0x)?([0-9a-f]+)\b", words.partition("(")[2] or words)]


def of_kernel(text, pid):
    """(tracepoint, words) of a process, in order, as tracefs tells them."""
    row = re.compile(r"\s*\S.*-(\d+)\s+\[\d+\].*?\s[\d.]+: (\w+)(?:: |( -> |\())(.*)")
    out = []
    for line in text.splitlines():
        m = row.match(line)
        if m and int(m[1]) == pid:
            point = {" -> ": f"sys_exit_{m[2].removeprefix('sys_')}", "(": f"sys_enter_{m[2].removeprefix('sys_')}"}.get(m[3], m[2])
            out.append((point, words_of(point, m[4])))
    return out


def of_replay(file, pid):
    row = re.compile(rf"\S+ \[\d+\] .{{15}}\s+{pid} tp:\w+:(\w+)\s+(.*)")
    mine = {point.split(":")[1] for point in POINTS}
    found = (row.match(line) for line in fr("replay", "-f", f"tid == {pid} && event ~ \"tp:*\"", file).stdout.splitlines())
    return [(m[1], words_of(m[1], m[2])) for m in found if m and m[1] in mine]


def of_tracecmd(file, pid):
    """The same of trace-cmd, which decodes trace.dat by the formats in it alone."""
    out = f"{TMP}/tp-native.dat"
    fr("export", "--to", "trace-cmd", "-f", f'tid == {pid} && event ~ "tp:*"', "-o", out, file)
    row = re.compile(rf"\s*\S.*-{pid}\s+\[\d+\] +[\d.]+: (\w+): +(.*)")
    found = (row.match(line) for line in run("trace-cmd", "report", "-N", "-t", out).stdout.splitlines())
    return [(m[1], m[2].strip()) for m in found if m]


def missed(file):
    """Runs that the kernel refused because another program ran there."""
    return fr_json("info", "--json", file).get("missed", {}).get("tp", 0)


def told_kernel(file, line):
    """One write, without a seek."""
    fd = os.open(file, os.O_WRONLY | os.O_APPEND)
    try:
        os.write(fd, line.encode())
    finally:
        os.close(fd)


@contextlib.contextmanager
def traced_place(path, offset):
    """A probe of the kernel's own, in an instance of tracefs."""
    group, points = f"frt{os.getpid()}", f"{tracefs()}/uprobe_events"
    told_kernel(points, f"p:{group}/frt_place {path}:{offset:#x}\n")
    try:
        with traced(f"{group}:frt_place") as dir:
            yield dir
    finally:
        told_kernel(points, f"-:{group}/frt_place\n")


def is_part(few, many):
    """Are the few among the many, in that order?"""
    rest = iter(many)
    return all(one in rest for one in few)


@contextlib.contextmanager
def traced(*points, filters=None):
    """These tracepoints in an instance of tracefs: whoever traces besides is not disturbed. Gives its directory."""
    dir = f"{tracefs()}/instances/frtest-{os.getpid()}"
    os.mkdir(dir)
    try:
        for file, text in (("buffer_size_kb", "4096"), 
                           *((f"events/{point.replace(':', '/')}/filter", text) for point, text in (filters or {}).items()),
                           *((f"events/{point.replace(':', '/')}/enable", "1") for point in points)):
            with open(f"{dir}/{file}", "w") as f:
                f.write(text)
        yield dir
    finally:
        os.rmdir(dir)


@test("five tracepoints tell what tracefs tells of the same process: as many, in that order, in the same words, or they are counted as missed")
def as_tracefs():
    name = session()
    before = missed(dump(name))
    with traced(*POINTS) as dir:
        pid = spawn()
        file = dump(name)
        with open(f"{dir}/trace") as f:
            theirs = of_kernel(f.read(), pid)
    ours, lost = of_replay(file, pid), missed(file) - before
    check({point for point, _ in theirs} == {point.split(":")[1] for point in POINTS}, f"tracefs saw all five: { {point for point, _ in theirs} }")
    check(sum(point == "signal_generate" for point, _ in theirs) >= 20, "each signal")
    check(is_part(ours, theirs), f"none that tracefs has not: {[one for one in ours if one not in theirs][:3]} of {theirs[:3]}")
    check(len(theirs) - len(ours) <= lost, f"{len(theirs)} of tracefs, {len(ours)} here, {lost} counted as missed")


@test("trace-cmd decodes them as the kernel's own, in the words of replay; of those that were recorded in part, the fields")
def native():
    name = session()
    pid = spawn()
    file = dump(name)
    row = re.compile(rf"\S+ \[\d+\] .{{15}}\s+{pid} tp:\w+:(\w+)\s+(.*)")
    found = (row.match(line) for line in fr("replay", "-f", f'tid == {pid} && event ~ "tp:*"', file).stdout.splitlines())
    ours = [(m[1], m[2].strip()) for m in found if m]
    check({point.split(":")[1] for point in POINTS} <= {point for point, _ in ours}, f"all five: { {point for point, _ in ours} }")
    equal(of_tracecmd(file, pid), ours, "words")


@test("fields are typed, symbols are words, filters take them; cut and merge keep all of it")
def fields():
    name = session()
    pid = spawn()
    file = dump(name)
    mine = f'pid == {pid} && event'
    execs = replay(file, "-f", f'{mine} == "tp:sched:sched_process_exec"')
    equal([e["filename"] for e in execs], ["/bin/sh", "/usr/bin/python3", "/bin/true"], "texts")
    check(all(e["target_pid"] == pid and e["tp_cut"] == 0 for e in execs), f"numbers: {execs}")
    equal(len(replay(file, "-f", f'{mine} == "tp:sched:sched_process_exec" && filename ~ "*/true"')), 1, "filtered by a text")
    signals = replay(file, "-f", f'{mine} == "tp:signal:signal_generate" && sig == SIGUSR1 && target_comm == "frt-tp"')
    equal(len(signals), 20, "filtered by a number and an array of text")
    failed = replay(file, "-f", f'{mine} == "tp:syscalls:sys_exit_openat" && ret == -ENOENT && comm == "frt-tp"')
    check(len(failed) >= 10 and all(e["ret"] == -2 for e in failed), f"a sign: {failed[:2]}")
    cut, merged = f"{TMP}/tp-cut.flight", f"{TMP}/tp-merged.flight"
    fr("cut", "-f", f'{mine} ~ "tp:*"', "-o", cut, file)
    fr("merge", "-o", merged, cut, file)
    for made in (cut, merged):
        fr("verify", made)
        equal(of_replay(made, pid), of_replay(file, pid), f"words in {made}")
        equal(replay(made, "-f", f'{mine} ~ "tp:*"'), replay(file, "-f", f'{mine} ~ "tp:*"'), f"fields in {made}")


def unrecorded(file, why, point):
    return unrecorded_of(file, why, f"tp:{point}")


@test("a rate lets its burst pass and no more; what is beyond is counted by name, as many as tracefs saw, and all outputs tell")
def rate():
    name = session()
    at_first = dump(name)
    with traced(RARE) as dir:
        run("/usr/bin/python3", "-S", "-c", "import os\nfor i in range(40): os.sched_getscheduler(0)")
        file = dump(name)
        with open(f"{dir}/trace") as f:
            theirs = sum(" sys_sched_getscheduler(" in line for line in f)
    ours = len(replay(file, "-f", f'event == "tp:{RARE}"'))
    thinned, before = unrecorded(file, "thinned", RARE), unrecorded(at_first, "thinned", RARE)
    check(theirs >= 40, f"tracefs saw {theirs}")
    equal(ours, 5, "its burst")
    new = ours - len(replay(at_first, "-f", f'event == "tp:{RARE}"'))
    check(0 <= theirs - new - (thinned - before) <= missed(file) - missed(at_first), f"{theirs} of tracefs: {new} and {thinned - before} thinned")
    words = f"{thinned} of tp:{RARE}"
    check(words in fr("report", file).stdout, "the report tells")
    check(f"{thinned} event(s) of tp:{RARE}" in fr("info", file).stdout, "info tells")
    live = next(t for t in fr_json("status", "-n", name, "--json")["tracepoints"] if t["name"] == f"tp:{RARE}")
    check(live["thinned"] >= thinned, f"status tells: {live}")


# Each of it both ways: what a condition takes, and what it leaves.
CHOICES = """
import os, signal, socket
open("/proc/self/comm", "w").write("frt-cond")
for sig in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGHUP):
    signal.signal(sig, lambda *a: 0)
for i in range(7):
    for sig in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGHUP):
        os.kill(os.getpid(), sig)
    try:
        os.kill(0x3ffffff, 0)
    except OSError:
        pass
for comm in ("frt-cond", "other"):
    s = socket.socket()
    s.bind(("127.0.0.1", 0))
    s.listen()
    c = socket.create_connection(s.getsockname())
    open("/proc/self/comm", "w").write(comm)
    pid = os.fork()
    if not pid:
        os._exit(0)
    os.waitpid(pid, 0)
"""


@test("a condition lets pass what the kernel's own filter of the same meaning lets pass; the others are counted")
def conditions():
    name = session()
    before = dump(name)
    with traced(*(point for point, _, _ in CONDS), filters={point: theirs for point, _, theirs in CONDS}) as dir:
        pid = int(run("/bin/sh", "-c", 'echo $$; exec /usr/bin/python3 -S -c "$0"', CHOICES).stdout)
        file = dump(name)
        with open(f"{dir}/trace") as f:
            rows = [point for point, _ in of_kernel(f.read(), pid)]
    for point, ours, _ in CONDS:
        theirs = rows.count(point.split(":")[1])
        got = len(replay(file, "-f", f'tid == {pid} && event == "tp:{point}"'))
        left = unrecorded(file, "unmatched", point) - unrecorded(before, "unmatched", point)
        check(theirs > 0, f"tracefs saw none of {point}: {rows}")
        check(0 <= theirs - got <= missed(file) - missed(before), f"{point} if {ours}: {theirs} of tracefs, {got} here")
        check(left > 0, f"{point} if {ours}: none was left")
        equal(len(replay(file, "-f", f'tid == {pid} && event == "tp:{point}" && ({ours})')), got, f"replay takes those that were recorded: {ours}")
    live = {t["name"]: t for t in fr_json("status", "-n", name, "--json")["tracepoints"]}
    check(live["tp:syscalls:sys_enter_kill"]["unmatched"] >= 7, live)


FORKING = """
import os
for name in ("frt-a", "frt-longer-nam", "other", "frt-b"):
    open("/proc/self/comm", "w").write(name)
    pid = os.fork()
    if not pid:
        os._exit(0)
    os.waitpid(pid, 0)
"""


@test("of chosen fields a text and a number are tracefs'; what was not chosen is in no output, and a filter says so; less room is taken")
def chosen():
    name = session()
    with traced(FORKS) as dir:
        pid = int(run("/bin/sh", "-c", 'echo $$; exec /usr/bin/python3 -S -c "$0"', FORKING).stdout)
        file = dump(name)
        with open(f"{dir}/trace") as f:
            theirs = re.findall(rf"sched_process_fork: comm=(frt-\S*) pid={pid} child_comm=(\S+) child_pid=(\d+)", f.read())
    check(len(theirs) == 3, f"tracefs saw them: {theirs}")
    ours = replay(file, "-f", f'tid == {pid} && event == "tp:{FORKS}"')
    got = [(e["child_comm"], str(e["child_pid"])) for e in ours]
    check(is_part(got, [(comm, child) for _, comm, child in theirs]), f"{got} of {theirs}")
    check(len(theirs) - len(got) <= missed(file), f"{len(got)} of {len(theirs)}")
    equal({key for e in ours for key in e if "parent" in key}, set(), "what is left out")
    text = fr("replay", "-f", f'tid == {pid} && event == "tp:{FORKS}"', file).stdout
    check("child_comm=" in text and "parent" not in text, f"as text, field by field: {text[:300]}")
    of_it = f'event == "tp:{FORKS}" && child_pid > 0 && parent_pid == 1'
    refused(fr("replay", "-f", of_it, file, status=2), f"parent_pid was not recorded: other fields of tp:{FORKS} were chosen")
    cut = f"{TMP}/tp-chosen.flight"
    fr("cut", "-f", f'tid == {pid} && event == "tp:{FORKS}"', "-o", cut, file)
    equal(replay(cut), ours, "cut")
    refused(fr("replay", "-f", of_it, cut, status=2), "was not recorded")


# Rules about tracepoints: one that fields are chosen of, which the rule is not about; one that has no condition where it is recorded.
PULLED = ((f'event:tp:{FORKS} if parent_comm == "frt-a"', 1), (f'event:tp:{FORKS} if parent_comm ~ "frt-*" && child_pid > 1', 3),
          ('event:tp:signal:signal_generate if sig == SIGUSR1 && target_comm == "frt-tp"', 20),
          (f'event:{CALL} if arg3 == -5 && arg2 == "not looked at before"', 1), (f"event:{NESTED} if ret >= 6", 3),
          ('event:usdt:marked__frt_call if arg1 == -7 && arg3 == "odd" || arg1 == -2', 4),
          ('event:tp:sched:sched_process_exec if comm == "true" && filename ~ "*/true"', 1), (f'event:tp:{FORKS} if parent_comm == "frt-none"', 0))


@test("a recorded tracepoint pulls a trigger as often as its condition holds; replay --on finds the same, or says what was not recorded")
def pulls():
    name = session()
    with alerts(name, *(rule for rule, _ in PULLED)) as a:
        before = missed(dump(name))
        run("/usr/bin/python3", "-S", "-c", FORKING)
        run(PROBED)
        run(MARKED)
        pid = spawn()
        file = dump(name)
        told, counters = a.finish()
    lost = missed(file) - before
    for i, (rule, times) in enumerate(PULLED):
        got = counters["rules"][i]
        check(0 <= times - got["matched"] <= lost, f"{rule}: {got}, not {times}")
        check(bool(got["alerted"]) == bool(got["matched"]), f"{rule}: {got}")
    signal = next(e for e in told if e["rule_set"] >> 2 & 1)
    equal((signal["kind"], signal["comm"], signal["pid"]), ("event", "frt-tp", pid), "who is told")
    equal([pin for pin in os.listdir(f"{SESSIONS}/{name}") if pin.startswith("trig-")], [], "nothing is left")
    of_signals = fr("replay", "--on", PULLED[2][0] + ",cooldown=1h", file).stdout
    check("event" in of_signals and "tp:signal:signal_generate" in of_signals, of_signals[:600])
    of_forks = fr("replay", "--on", PULLED[0][0], file, status=None)
    check("parent_comm was not recorded" in of_forks.stdout + of_forks.stderr, of_forks.stdout[:600])


LIMIT_MS = 40
SPANS = (f"latency:span:frt-span>{LIMIT_MS}ms", f'latency:span:"frt-inner">{LIMIT_MS}ms,cooldown=0', "latency:span:frt-span>1h", f"latency:span:frt-span>{LIMIT_MS}ms:comm=frt-none")


def spans_of(lines, name):
    """What a program tells of its spans of a name: those that must pull a rule, and those that may: (id, tid)."""
    told = [line.split() for line in lines if line.startswith(f"span {name} ")]
    each = [((int(id), int(tid)), int(least), int(most)) for _, _, id, tid, least, most in told]
    limit = LIMIT_MS * 1_000_000
    return [who for who, least, _ in each if least > limit], [who for who, _, most in each if most > limit]


def check_spans(got, lines, name):
    must, may = spans_of(lines, name)
    check(len(must) >= {"frt-span": 8, "frt-inner": 1}[name], f"long ones: {must}")
    check(set(must) <= set(got) <= set(may) and len(set(got)) == len(got), f"{name}: {got}, by its clock {must} to {may}")


@test("latency:span: spans that were long by the program's clock pull a rule, nested, overlapping and in other processes; replay --on finds the same")
def spans():
    name = session()
    with alerts(name, *SPANS) as a:
        out = run(MARKED, "spans").stdout.splitlines()
        file = dump(name)
        told, counters = a.finish()
    for i, of in ((0, "frt-span"), (1, "frt-inner")):
        of_rule = [e for e in told if e["rule_set"] >> i & 1]
        check_spans([(e["what"], e["tid"]) for e in of_rule], out, of)
        equal(counters["rules"][i]["matched"], len(of_rule), f"rule {i} alerts each")
    equal([r["matched"] for r in counters["rules"][2:]], [0, 0], "a longer limit, another program")
    equal(counters["span_left"], next(int(line.split()[1]) for line in out if line.startswith("left")), "spans that nobody ended")
    equal((counters["untracked"], counters["unwatched"]), (0, 0), "what was not followed")
    events = replay(file, "-f", 'event == latency && what == "span"')
    equal([(e["id"], e["target_pid"], e["value"]) for e in events][-len(told):], [(e["what"], e["tid"], e["value_ns"]) for e in told], "events")
    moments = [json.loads(line) for line in fr("replay", "--json", *(word for rule in SPANS for word in ("--on", rule)), file).stdout.splitlines()]
    pids = {e["pid"] for e in told}
    for i, of in ((0, "frt-span"), (1, "frt-inner")):
        ours = [m for m in moments if m["type"] == "moment" and m["rule"] == i and m["pid"] in pids]
        check_spans([(m["id"], m["tid"]) for m in ours], out, of)
        equal({(m["what"], m["id_name"]) for m in ours}, {("span", of)}, "what is told")


@test("latency:span: who begins without end, more than there is room for, is counted, and blinds nobody else; its end frees the room")
def flooded_spans():
    name, cnt = session(), 40000
    with alerts(name, SPANS[0]) as a:
        flood = subprocess.Popen([MARKED, "flood", str(cnt)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        equal(flood.stdout.readline(), "flooded\n", "it has begun them")
        out = run(MARKED, "spans").stdout.splitlines()
        flood.communicate(timeout=120)
        after = run(MARKED, "spans").stdout.splitlines()
        told, counters = a.finish()
    for lines in (out, after):
        pids = {int(line.split()[3]) for line in lines if line.startswith("span ")}
        check_spans([(e["what"], e["tid"]) for e in told if e["tid"] in pids], lines, "frt-span")
    kept = counters["span_left"] - 4
    check(0 < kept < cnt and counters["untracked"] >= cnt - kept, f"{kept} of {cnt} had room: {counters}")
    equal(counters["unwatched"], 0, "marks that were not seen")


@test("a trigger about a tracepoint that is not recorded, or has no such field, is refused")
def not_pulled():
    tracefs()
    for name, options, rule, why in ((shared(*MINIMAL), MINIMAL, f"event:tp:{FORKS}", f"add -e tp:{FORKS}"),
                                     (shared(*MINIMAL), MINIMAL, "event:mark:none__begin", "add -e mark:PATH:PLACE, which makes an event of that name"),
                                     (shared(*MINIMAL), MINIMAL, "latency:span:request>1s", "add -e mark:PATH"),
                                     (session(), TPS, f"event:tp:{FORKS} if parent_com == 3", "did you mean parent_comm")):
        p = fr("record", "-n", name, *options, "--keep", "-o", f"{TMP}/shared", "--on", rule, status=None)
        check(p.returncode and "adopted" in p.stderr and why in p.stderr, f"{rule}: {p.stderr}")
    for rule, why in (("event:tp:sched:*", "without * ? ["), (f"event:tp:{FORKS}@10/s", "cooldown="), (f"event:tp:{FORKS} if a ==", "is missing"),
                      ("event:mark:/opt/x", "as in mark:FILE__PLACE"), ("event:uprobe:/opt/x:f", "as in uprobe:FILE__PLACE")):
        p = fr("record", "-n", new_name(), "-p", "minimal", "-o", TMP, "--on", rule, status=None)
        check(p.returncode and why in p.stderr, f"{rule}: {p.stderr}")


@test("events lists this kernel's tracepoints with their fields; a name that is none gets the nearest")
def listing():
    tracefs()
    there = {f"{system}:{point}" for system in os.listdir(f"{TRACEFS}/events") if os.path.isdir(f"{TRACEFS}/events/{system}")
             for point in os.listdir(f"{TRACEFS}/events/{system}") if os.path.exists(f"{TRACEFS}/events/{system}/{point}/enable")}
    told = fr_json("events", "--json", "*:*")
    equal({e["name"] for e in told}, {f"tp:{one}" for one in there}, "all of them")
    check(not [e["name"] for e in told if "error" in e], f"each can be recorded: {[e for e in told if 'error' in e][:3]}")
    one = next(e for e in told if e["name"] == "tp:sched:sched_process_exec")
    equal([(f["name"], f["type"]) for f in one["fields"]], [("filename", "text"), ("target_pid", "s32"), ("old_pid", "s32")], "its fields")
    refused(fr("events", "sched:sched_swich", status=2), "did you mean sched:sched_switch")
    refused(fr("record", "-n", new_name(), "-e", "tp:sched:sched_swich", "--unattended", status=2), "did you mean tp:sched:sched_switch")


def probed():
    """Run it; gives its calls as it tells them, and its pid."""
    lines = [line.split(" ", 1) for line in run(PROBED).stdout.splitlines()]
    calls = [re.fullmatch(r"(\d+) (.+) (-?\d+)", rest).groups() for word, rest in lines if word == "call"]
    return [(int(a), text, int(b)) for a, text, b in calls], int(dict(lines)["pid"])


@test("a program's calls and returns are recorded as it counts them: numbers, texts that it never looked at, cut ones, none where none can be read")
def programs():
    name = session()
    before = dump(name)
    calls, pid = probed()
    file = dump(name)
    equal(len(calls), 12, "calls")
    ours = replay(file, "-f", f'pid == {pid} && event == "{CALL}"')
    for e, (first, text, third) in zip(ours, calls, strict=True):
        equal((e["arg1"], e["arg3"]), (first, third), "numbers")
        if text == "-":
            equal((e["arg2"], e["faulted"]), ("(fault)", 4), "no text")
        else:
            equal((e["arg2"], e["faulted"], e["tp_cut"]), (text[:255], 0, int(len(text) > 255)), "a text")
    check(len({e["ip"] for e in ours}) == 1, "one place")
    back = replay(file, "-f", f'pid == {pid} && event == "{RETURN}"')
    equal([e["ret"] for e in back], [2 * a + b for a, _, b in calls if 2 * a + b > 1 << 33], "returns, of which a condition takes some")
    left = unrecorded_of(file, "unmatched", RETURN) - unrecorded_of(before, "unmatched", RETURN)
    equal(left, 12 - len(back), "the others are counted")
    nested = replay(file, "-f", f'pid == {pid} && event == "{NESTED}"')
    equal([e["ret"] for e in nested], [1, 2, 6, 24, 120], "each return of a function that calls itself")
    lasted = [e["duration_ns"] for e in nested]
    check(lasted == sorted(lasted) and all(e["duration_ns"] > 0 for e in back), f"a call lasts as long as those in it: {lasted}")
    held = "uprobe:probed__fr_probed_nested"
    passed = len(replay(file, "-f", f'pid == {pid} && event == "{held}"'))
    equal(unrecorded_of(file, "thinned", held) - unrecorded_of(before, "thinned", held), 5 - passed, "calls beyond its rate are counted")
    check(passed <= 3, f"a rate lets three pass: {passed}")
    words = fr("replay", "-f", f'pid == {pid} && event == "{CALL}" && arg3 == -3', file).stdout
    check('arg2="(fault)"' in words and "faulted=arg2" in words, words)
    cut = f"{TMP}/tp-programs.flight"
    fr("cut", "-f", f'pid == {pid} && event == "{CALL}"', "-o", cut, file)
    equal(replay(cut), ours, "cut")
    links = [pin for pin in os.listdir(f"{SESSIONS}/{name}") if "up_begin" in pin]
    equal(len(links), 3, "only returns need a beginning")


def on_one_cpu():
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


@test("texts in a file whose file system does not answer hold no other program's probe up; when it answers, they are recorded, and pull rules")
def held_texts():
    name, cnt = session(), 6
    with hangfs() as disk, alerts(name, f"event:{CALL} if arg3 <= 0") as a:
        with open(f"{disk.dir}/texts", "wb") as f:
            f.write(b"".join((b"text %d" % i).ljust(1 << 20, b"\0") for i in range(cnt)))
        before = dump(name)
        disk.hang("read")
        with subprocess.Popen([PROBED, "texts", f"{disk.dir}/texts", str(cnt)], stdout=subprocess.PIPE, text=True, preexec_fn=on_one_cpu) as p:
            try:
                wait_for(lambda: sum(what == "read" for _, what in disk.waiting()) == cnt, "all their probes wait for the disk")
                beside = run(PROBED, preexec_fn=on_one_cpu).stdout
                file = dump(name)
            finally:
                disk.go()
            held = int(p.communicate()[0].split()[1])
        after = dump(name)
        _, counters = a.finish()
    pid = int(re.search(r"pid (\d+)", beside)[1])
    equal(len(replay(file, "-f", f'pid == {pid} && event == "{CALL}"')), 12, "calls beside")
    equal(sorted((e["arg1"], e["arg2"]) for e in replay(after, "-f", f'pid == {held} && event == "{CALL}"')), [(i, f"text {i}") for i in range(cnt)], "texts")
    equal(unrecorded_of(after, UNMADE, CALL) - unrecorded_of(before, UNMADE, CALL), 0, "calls that could not be recorded")
    equal((counters["rules"][0]["matched"], counters["unwatched"]), (12 + cnt, 0), "calls that pulled the rule, and that it missed")


@test("of more calls under way than are kept, each return has a record, or is counted as one that has none; a rule likewise counts what it missed")
def deep():
    name, cnt, each = session(), 300, 60
    before = dump(name)
    with alerts(name, f"event:{DEEP} if ret >= 0") as a:
        pid = int(run(PROBED, "deep", str(cnt)).stdout.split()[1])
        file = dump(name)
        _, counters = a.finish()
    got, left = len(replay(file, "-f", f'pid == {pid} && event == "{DEEP}"')), unrecorded_of(file, UNMADE, DEEP) - unrecorded_of(before, UNMADE, DEEP)
    equal(got + left, cnt * each, f"returns: {got} recorded, {left} not")
    check(left >= cnt * each - 16384, f"{left} not recorded: {cnt * each} were under way")
    equal(unrecorded_of(file, "unmatched", DEEP), 0, "it has no condition")
    rule = counters["rules"][0]
    equal(rule["matched"] + counters["unwatched"], cnt * each, f"returns: {rule}, {counters['unwatched']} missed")


@test("calls of tasks that are not recorded take no room from those that are", own="the filter is its own")
def unchosen_calls():
    held = program("frt-held", "probed")
    with session_of("-p", "minimal", "-e", "-sched", "-m", "2M", "-f", 'comm == "frt-held"', "-e", f"uretprobe:{held}:fr_probed_deep{{ret:s32}}") as name:
        with subprocess.Popen([held, "held"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as p:
            equal(p.stdout.readline(), "in\n", "it begins")
            wait_for(lambda: waits_in(p.pid, "pipe"), "a call is under way")
            os.link(held, path("frt-unheld"))
            run(path("frt-unheld"), "deep", "300")
            p.communicate()
        file = dump(name)
    event = "uretprobe:frt_held__fr_probed_deep"
    got = [(e["pid"], e["ret"]) for e in replay(file, "-f", f'event == "{event}"')]
    check(got == [(p.pid, 0)], f"the call alone: {got[:3]}")
    equal(unrecorded_of(file, UNMADE, event), 0, "returns without a record")


@test("a probe of tracefs at the same function sees as many calls")
def programs_by_perf():
    name = session()
    offset = next(line.split()[0] for line in run("nm", PROBED).stdout.splitlines() if line.endswith(" T fr_probed_call"))
    with traced_place(PROBED, int(offset, 16)) as dir:
        _, pid = probed()
        file = dump(name)
        with open(f"{dir}/trace") as f:
            theirs = sum(f"-{pid} " in line and "frt_place" in line for line in f)
    equal((len(replay(file, "-f", f'pid == {pid} && event == "{CALL}"')), theirs), (12, 12), "calls")


def inner_byte(symbol):
    """An offset of the function at which no instruction begins."""
    starts = [int(at, 16) for at in re.findall(r"^ *([0-9a-f]+):\t", run("objdump", "-d", f"--disassemble={symbol}", PROBED).stdout, re.M)]
    return next(at - starts[0] + 1 for at, after in zip(starts, starts[1:]) if after - at > 1)


@test("places of programs that cannot be are refused, with the nearest name; events lists functions")
def places():
    go = f"{TMP}/tp-go"
    run("objcopy", "--add-section", ".gopclntab=/dev/null", PROBED, go)
    for what, why in (("uprobe:/none:main", "/none: No such file"), ("uprobe:probed:main", "begins with /"), (f"uprobe:{PROBED}", "no place is named"),
                      (f"uprobe:{PROBED}:fr_probed_cal", "did you mean fr_probed_call?"), ("uprobe:/etc/passwd:main", "no program or library"),
                      (f"uprobe:{PROBED}:fr_probed_call{{arg9:u64}}", "arg1 to arg"), (f"uprobe:{PROBED}:fr_probed_call{{arg1:u46}}", "no type 'u46'"),
                      (f"uprobe:{PROBED}:fr_probed_call{{arg1}}", "has no type"), (f"uprobe:{PROBED}:fr_probed_call+0x7000", "is not in it"),
                      (f"uprobe:{PROBED}:fr_probed_nested+{inner_byte('fr_probed_nested')}", "crash the program"), (f"uretprobe:{PROBED}:main+4", "leave the offset out"),
                      (f"uretprobe:{PROBED}:main{{arg1:u64}}", "no 'arg1' where a function returns"), (f"uretprobe:{go}:main", "crashes a Go program"),
                      (f"uprobe:{go}:main{{arg1:u64}}", "not where those of C are"),
                      (f"uprobe:{PROBED}:fr_probed_call{{arg1:u64}} if arg2 == 3", "did you mean arg1")):
        refused(fr("record", "-n", new_name(), "-p", "minimal", "-e", what, "--unattended", status=2), why)
    listed = fr("events", f"uprobe:{PROBED}:fr_probed_*").stdout.splitlines()
    equal(listed, [f"uprobe:{PROBED}:fr_probed_{one}" for one in ("call", "deep", "nested")], "functions")
    refused(fr("events", f"uprobe:{PROBED}:none*", status=2), "has no function")


@test("a program's static marks are recorded as it tells them, at each of their places: arguments in registers, in memory, constant; listened to where it asks for that")
def static_marks():
    name = session()
    lines = [line.split(" ", 3) for line in run(MARKED).stdout.splitlines()]
    pid = int(next(line[1] for line in lines if line[0] == "pid"))
    file = dump(name)
    told = {mark: [line[1:] for line in lines if line[0] == mark] for mark in ("call", "odd", "guarded", "fixed")}
    ours = {mark: replay(file, "-f", f'pid == {pid} && event == "usdt:marked__frt_{mark}"') for mark in told}
    equal([[str(e["arg1"]), str(e["arg2"]), e["arg3"]] for e in ours["call"]], told["call"], "of two places")
    equal(len({e["ip"] for e in ours["call"]}), 2, "places")
    equal([[str(e["arg1"]), str(e["arg4"])] for e in ours["odd"]], told["odd"], "what is understood")
    equal({key for e in ours["odd"] for key in e if key.startswith("arg")}, {"arg1", "arg4"}, "and nothing else")
    equal([int(line[0]) for line in told["guarded"]], list(range(6)), "it sees that someone listens")
    equal([e["arg1"] for e in ours["guarded"]], [3, 4, 5], "of which a condition takes some")
    equal([(e["arg1"], e["faulted"]) for e in ours["fixed"]], [(" ".join(words), 0) for words in told["fixed"]], "at a constant address")
    cut = f"{TMP}/tp-marks.flight"
    fr("cut", "-f", f'pid == {pid} && event ~ "usdt:*"', "-o", cut, file)
    equal(replay(cut), replay(file, "-f", f'pid == {pid} && event ~ "usdt:*"'), "cut")


# By the library's functions, as any language calls them.
BY_LIBRARY = """
import ctypes, sys
fr = ctypes.CDLL(sys.argv[1])
fr.flightrec_begin(b"request", ctypes.c_uint64(7))
fr.flightrec_mark("caf\u00e9".encode())
fr.flightrec_counter(b"queue", ctypes.c_int64(-1 << 40))
fr.flightrec_end(b"request", ctypes.c_uint64(7))
"""


def told_marks(file, filter):
    """Each as its program tells it."""
    found = replay(file, "-f", f'event ~ "mark:*" && {filter}')
    return [" ".join([e["event"].rpartition("__")[2], *(str(e[key]) for key in ("text", "name", "id", "value") if key in e)]) for e in found]


@test("marks, spans and counters of flightrec_mark.h, of the library from Python, and of flightrec mark are recorded as they are told, in that order")
def our_marks():
    name = session()
    lines = run(MARKED).stdout.splitlines()
    run("/usr/bin/python3", "-S", "-c", BY_LIBRARY, LIBRARY)
    fr("mark", "login password=sesamesesame")
    fr("mark", "backup begins")
    file = dump(name)
    pid = int(next(line.split()[1] for line in lines if line.startswith("pid ")))
    told = [line for line in lines if line.split()[0] in ("begin", "mark", "counter", "end")]
    equal(len(told), 133, "it tells")
    child, status = next(line.split()[1:] for line in lines if line.startswith("child "))
    equal((status, told_marks(file, f"pid == {child}")), ("0", ["begin again 5"]), "a forked child lives, and is recorded, at what its parent has passed")
    equal({line for line in lines if line.startswith("kept")}, {"kept 8"}, "what a function keeps below its stack pointer")
    equal(told_marks(file, f"pid == {pid}"), told, "of the header")
    equal(told_marks(file, 'event ~ "mark:libflightrec__*"')[-4:], ["begin request 7", "mark caf\u00e9", f"counter queue {-1 << 40}", "end request 7"], "of the library")
    equal(told_marks(file, 'event == "mark:flightrec__mark"')[-2:], ["mark login password=[redacted]", "mark backup begins"], "of the command, without secrets")
    check(b"sesame" not in subprocess.run(["zstd", "-dcq", file], stdout=subprocess.PIPE, check=True).stdout, "a secret of a mark is nowhere in the file")
    equal(len(replay(file, "-f", f'pid == {pid} && event ~ "mark:*__begin" && name == "request" && id == {(1 << 63) + 3}')), 1, "a request")
    refused(fr("mark", status=2), "one text is needed")
    refused(fr("mark", "x" * 256, status=2), "longer than the 255 bytes")
    for what, why in ((f"mark:{PROBED}", "no marks of flightrec_mark.h"), (f"mark:{MARKED}:begn", f"did you mean begin? `flightrec events 'mark:{MARKED}'`"),
                      (f"mark:{MARKED}:begin{{arg1}}", "leave {} out"), ("mark:marked", "begins with /"), (f"mark:{MARKED} if id == 1", "has no field id")):
        refused(fr("record", "-n", new_name(), "-p", "minimal", "-e", what, "--unattended", status=2), why)
    equal([(e["name"].rsplit(":", 1)[1], [(f["name"], f["type"]) for f in e["fields"]]) for e in fr_json("events", "--json", f"mark:{MARKED}")],
          [("begin", [("name", "str"), ("id", "u64")]), ("counter", [("name", "str"), ("value", "s64")]), ("end", [("name", "str"), ("id", "u64")]),
           ("mark", [("text", "str")])], "events lists them")


@test("a mark that asks who listens is passed by where nobody does")
def unheard():
    alone = f"{TMP}/tp-marked"
    run("cp", MARKED, alone)
    check("guarded" not in run(alone).stdout, "nobody listens to this file")


@test("static marks that cannot be are refused, with the nearest name; events lists them with their arguments")
def marks_of_files():
    for what, why in ((f"usdt:{MARKED}:frt:cal", "did you mean frt:call?"), (f"usdt:{MARKED}:call", "usdt:PATH:PROVIDER:NAME"),
                      (f"usdt:{PROBED}:frt:call", "no static marks"), (f"usdt:{MARKED}:frt:odd{{arg2}}", "no arg2: where it is, is not understood"),
                      (f"usdt:{MARKED}:frt:odd{{arg5}}", "no arg5: it has 4 arguments"), (f"usdt:{MARKED}:frt:odd{{arg1:str}}", "no text's address"),
                      (f"usdt:{MARKED}:frt:call{{ret}}", "arg1 to arg12"), (f"usdt:{MARKED}:flightrec:begn", "did you mean flightrec:begin?"),
                      (f"usdt:{MARKED}:frt:call if arg4 == 1", "did you mean arg")):
        refused(fr("record", "-n", new_name(), "-p", "minimal", "-e", what, "--unattended", status=2), why)
    told = fr_json("events", "--json", f"usdt:{MARKED}:frt:*")
    equal([(e["name"].rsplit(":", 1)[1], e["places"], [f.get("type") for f in e["fields"]]) for e in told],
          [("call", 2, ["s32", "u64", "u64"]), ("fixed", 1, ["u64"]), ("guarded", 1, ["s32"]), ("odd", 1, ["s8", None, None, "u16"])], "marks")
    check("is not understood" in fr("events", f"usdt:{MARKED}:*odd").stdout, "what is left out is said")
    p = fr("record", "-n", new_name(), "-p", "minimal", "-e", f"usdt:{MARKED}:frt:odd", "-e", f"usdt:{MARKED}:frt:none", "--unattended", status=2)
    check("not recorded of it: arg2:" in p.stderr, p.stderr)


@test("all marks of a file are removed, though it has gone, or was given one of them alone; where none is recorded, this is said")
def marks_removed():
    for *what, why in ((f"mark:{MARKED}:begin", f"-mark:{MARKED}", "/none: No such file"), (f"mark:{MARKED}", f"-mark:{MARKED}", "/none: No such file"),
                       ("mark:/gone:begin", "-mark:/gone", "/none: No such file"), (f"mark:{MARKED}:begin", "-mark:/gone", "nothing before it records this place"),
                       (f"mark:{MARKED}:begin", f"-mark:{MARKED}:end", "nothing before it records this place")):
        options = [word for one in (*what, "uprobe:/none:main") for word in ("-e", one)]
        refused(fr("record", "-n", new_name(), "-p", "minimal", *options, "--unattended", status=2), why)


@test("a rule about a mark whose arguments are others in the file by now is refused: it would read the session's records as those",
      own="another file gets the name of the one that it records")
def another_layout():
    file = program("frt-layout", "marked")
    rule = "event:usdt:frt_layout__frt_odd if arg4 == 65535"
    with open(file, "rb") as f:
        good = f.read()
    options = ("-p", "minimal", "-e", "-sched", "-m", "2M", "-e", f"usdt:{file}:frt:odd")
    with session_of(*options) as name:
        for data in good, re.sub(rb"2@(\$?65535)", rb"4@\1", good):
            with open(f"{file}.new", "wb") as f:
                f.write(data)
            os.rename(f"{file}.new", file)
            if data == good:
                with alerts(name, rule) as a:
                    a.finish()
            else:
                p = fr("record", "-n", name, *options, "--keep", "-o", f"{TMP}/shared", "--on", rule, status=None, timeout=60)
                check(p.returncode and "other arguments there now than the session records: record anew" in p.stderr, p.stderr)


@test("notes of marks that are of another program, or damaged, are refused before anything is attached")
def marks_damaged():
    with open(MARKED, "rb") as f:
        good = f.read()
    note = good.index(b"frt\0call\0") - 24
    if os.uname().machine == "x86_64":
        for what in f"usdt:{MARKED}:five:nop", f"uprobe:{MARKED}:fr_marked_nop":
            refused(fr("record", "-n", new_name(), "-p", "minimal", "-e", what, "--unattended", status=2), "a nop of five bytes")
    for what, at, with_, why in (("moved", note, (int.from_bytes(good[note:note + 8], "little") + 1).to_bytes(8, "little"), "no nop is where"),
                                 ("outside", note, b"\xff" * 8, "is not in its code"), ("counter", note + 16, b"\x01", "is not in its data"),
                                 ("size", note - 16, b"\xff" * 4, "are damaged")):
        file = f"{TMP}/tp-marks-{what}"
        with open(file, "wb") as f:
            f.write(good[:at] + with_ + good[at + len(with_):])
        refused(fr("record", "-n", new_name(), "-p", "minimal", "-e", f"usdt:{file}:frt:call", "--unattended", status=2), why)
        if what == "size":
            refused(fr("events", f"usdt:{file}:*", status=2), why)
            continue
        listed = {e["name"].rsplit(":", 1)[1]: e.get("error", "") for e in fr_json("events", "--json", f"usdt:{file}:*")}
        check("a nop of five bytes" in listed.pop("nop", "a nop of five bytes"), "where there is one")
        check(why in listed.pop("call") and not any(listed.values()), f"{what}: events says it of this one alone: {listed}")
        check(why in fr("events", f"usdt:{file}:frt:call").stdout, "as text")
        refused(fr("record", "-n", new_name(), "-p", "minimal", "-e", f"mark:{file}", "-e", "uprobe:/none:main", "--unattended", status=2), "/none: No such file")


def place_of(data, mark):
    """Where in a file the place of the first mark of flightrec_mark.h that is called so is noted."""
    return data.index(b"flightrec\0" + mark + b"\0") - 24


@test("marks at one place, as a linker leaves them of functions that are alike, are refused, and so are marks with other arguments than theirs; events says why")
def marks_alike():
    with open(MARKED, "rb") as f:
        good = f.read()
    begin, end = place_of(good, b"begin"), place_of(good, b"end")
    for what, data, names, why in (("folded", good[:end] + good[begin:begin + 8] + good[end + 8:], {"begin", "end"}, "is where another one is, too"),
                                   ("other", good.replace(b"\0begin\x008@", b"\0begin\x004@"), {"begin"}, "")):
        file = f"{TMP}/tp-marks-{what}"
        with open(file, "wb") as f:
            f.write(data)
        listed = {e["name"].rsplit(":", 1)[1]: (e.get("error"), e["fields"]) for e in fr_json("events", "--json", f"mark:{file}")}
        equal({one for one, (bad, _) in listed.items() if bad and why in bad}, names, f"{what}: {listed}")
        equal({one for one, (_, fields) in listed.items() if not fields}, names, f"{what}: {listed}")
        refused(fr("record", "-n", new_name(), "-p", "minimal", "-e", f"mark:{file}:begin", "--unattended", status=2), listed["begin"][0])
        refused(fr("record", "-n", new_name(), "-p", "minimal", "-e", f"mark:{file}:mark", "-e", "uprobe:/none:main", "--unattended", status=2), "/none: No such file")


@test("what cannot be recorded of tracepoints is refused, with the reason")
def refusals():
    for what, why in (("tp:sched", "SYSTEM:NAME"), ("tp:skb:kfree_skb{raeson}", "did you mean reason?"), ("tp:skb:kfree_skb{}", "no field is chosen"),
                      ("tp:skb:kfree_skb{reason", "has no end"), ("tp:skb:*{reason}", "fields of skb:consume_skb: it has no field reason"),
                      ("tp:skb:kfree_skb@10", "a rate is @N/T"),
                      ("tp:skb:kfree_skb if raeson > 2", "did you mean reason?"), ("tp:skb:kfree_skb if reason == NO_SUCH", "no value called"),
                      ("tp:sched:sched_process_exec if filename ~ /x/", "no regular expressions"),
                      ("tp:nobody:*", "no such tracepoint"), ("tp:*:*", "more than 130")):
        refused(fr("record", "-n", new_name(), "-e", what, "--unattended", status=2), why)


if __name__ == "__main__":
    main()
