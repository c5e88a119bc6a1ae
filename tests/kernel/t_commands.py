# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The commands as they are used: snapshots at once and in a row, triggers, exit statuses, refusals."""
import contextlib
import fcntl
import glob
import json
import os
import re
import signal
import socket
import stat
import subprocess
import tempfile
import time

from frtest import (CALLS, FLIGHTREC, FULL, MINIMAL, SAMPLES, SESSIONS, SYSCALLS, TINY, TMP, Skip, check, dump, ended,
                    equal, exists, founded, fr, fr_json, gone, helper, main, mono_ns, new_name, path, program, recorder, refused,
                    replay, run, shared, small_disk, snapshots, status, test, tracefs, wait_for, written)
from recorder import RECORDED

LONG = bool(os.environ.get("FR_LONG"))  # try each limit, not only some
TIMER = 5  # who woke (bpf/wait.h)


@test("two dumps at once: the second waits, both files are sound")
def two_dumps():
    """A dump that says that it went on without another, which the machine let stand still, may be within that one; no other is."""
    name, since = shared(*SYSCALLS), mono_ns()
    files = [path(f"both-{i}.flight") for i in range(8)]
    procs = [subprocess.Popen([FLIGHTREC, "dump", "-n", name, "-o", f], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True) for f in files]
    beside = sum("going on without the snapshot" in p.communicate()[1] for p in procs)
    equal([p.returncode for p in procs], [0] * len(files), "exit statuses")
    fr("verify", *files)
    marks = [e for e in replay(dump(name), "--life", "--since", str(since)) if e["event"].startswith("snapshot_")][:16]
    nrs = [e["nr"] for e in marks if e["event"] == "snapshot_begin"]
    equal(nrs, list(range(nrs[0], nrs[0] + 8)), "numbers")
    equal(sorted(e["nr"] for e in marks if e["event"] == "snapshot_end"), nrs, "each ends")
    is_open, within = set(), 0
    for e in marks:
        within += e["event"] == "snapshot_begin" and bool(is_open)
        is_open ^= {e["nr"]}
    check(within <= beside, f"snapshots one after the other: {within} began within another, {beside} said so: {marks}")


def by_pos(file, since):
    """The lines of replay by their place in the rings."""
    lines = fr("replay", "--json", "--pos", "--tier", "all", "--since", str(since), file).stdout.splitlines()
    events = json.loads(f"[{','.join(lines)}]")  # at once: much faster than line by line
    found = {(e["cpu"], e["pos"]["tier"], e["pos"]["seq"], e["pos"]["offset"]): line for e, line in zip(events, lines)}
    equal(len(found), len(lines), "places in the rings, each once")
    return found


def make_history():
    """Some thousand events, also on a machine that has nothing else to do."""
    run("bash", "-c", "for i in $(seq 100); do /bin/true | cat; done")


def without_names(events):
    """
    Of a task that ended long before, the later of two dumps may not know the name, nor of one that was renamed the name it had
    when the window begins; as the event's own task or as another. What an event itself holds (oldcomm, newcomm) stays.
    """
    return [{k: v for k, v in e.items() if k not in ("comm", "pid") and not k.endswith("_comm")} for e in events]


def renames_known_since(*files):
    """From when on each of these has all renames: what was overwritten with them may leave a task another name."""
    return max(t["horizon_ns"] for f in files for c in fr_json("info", f)["cpus"] for t in c["tiers"] if t["name"] == "life")


def differs(a, b, since):
    """Whether two lines of replay are not the same event: before this moment, but for names."""
    if a == b:
        return False
    events = [json.loads(line) for line in (a, b)]
    return events[0]["ts"] >= since or without_names(events[:1]) != without_names(events[1:])


@test("two dumps in a row agree byte for byte in their common window")
def common_window():
    name, since = shared(*FULL), mono_ns()
    make_history()
    files = dump(name), dump(name)
    one, two = (by_pos(file, since) for file in files)
    common = one.keys() & two.keys()
    check(len(common) > 1000, f"only {len(common)} events in common")
    # the second ends later, and may have overwritten the oldest laps: between, nothing is missing in either
    for cpu, tier in {k[:2] for k in common}:
        places = sorted(k for k in common if k[:2] == (cpu, tier))
        for got in (one, two):
            window = sorted(k for k in got if k[:2] == (cpu, tier) and places[0] <= k <= places[-1])
            equal(len(window), len(places), f"events of CPU {cpu}, tier {tier} in the window")
    named_since = renames_known_since(*files)
    differ = [k for k in common if differs(one[k], two[k], named_since)]
    check(not differ, f"{len(differ)} of {len(common)} differ: {differ and (one[differ[0]], two[differ[0]])}")
    return f"{len(common)} events, {sum(int(one[k][6:one[k].index(',')]) >= named_since for k in common)} of them with all names"


@test("a snapshot knows who had each CPU as its ring was copied, and the CPU's switches agree")
def holders():
    name, known, last = shared(*FULL), 0, os.cpu_count() - 1
    spinner = subprocess.Popen(["chrt", "-f", "1", "taskset", "-c", str(last), helper("spin"), "wait", "3600"], stdout=subprocess.DEVNULL)

    def spinner_is_known():
        """Where something is recorded meanwhile, nobody is known: the spinner leaves its CPU now and then only."""
        nonlocal known
        file = path("holders.flight")
        if os.path.exists(file):
            os.unlink(file)
        run(FLIGHTREC, "dump", "-n", name, "-o", file)
        held = {cpu: ring["holder"] for (cpu, tier), ring in rings(json.loads(fr("info", "--json", file).stdout)).items()
                if tier == "main" and "holder" in ring}
        for cpu, tid in held.items():
            switches = replay(file, "--tier", "main", "-f", f"event == sched_switch && cpu == {cpu}")
            # some kernels hide tasks from tracing: no event tells their names, nor that they leave
            if switches and switches[-1]["next_comm"]:
                equal(tid, switches[-1]["next_pid"], f"who has CPU {cpu}, of {switches[-1]}")
        known += len(held)
        return held.get(last) == spinner.pid

    try:
        wait_for(spinner_is_known, "the spinner is known to have its CPU")
    finally:
        spinner.kill()
        spinner.wait()
    return f"{known} rings"


def rings(info):
    """Those of events."""
    return {(cpu["cpu"], tier["name"]): tier for cpu in info["cpus"] for tier in cpu["tiers"] if tier["name"] != "stack"}


@test("dump --last gives just that much history, and all of it")
def last():
    name = shared(*CALLS)
    begun = time.monotonic()
    with subprocess.Popen(["bash", "-c", "sleep 0.7; exec true"]):  # has a name before, another one from some moment within
        while time.monotonic() < begun + 1.2:
            make_history()
    file, all_of_it = dump(name, "--last", "1s"), dump(name)  # the other way round a busy machine may leave no time that is in both
    whole, info = fr_json("info", all_of_it), fr_json("info", file)
    since, until = info["snapshot_ns"] - 1_000_000_000, info["snapshot_ns"]
    check(whole["snapshot_ns"] - whole["start_ns"] > 1e9, "the whole history is shorter than it should be")
    check(info["start_ns"] >= since, "older events are in the file")
    ours, theirs = rings(info), rings(whole)
    for ring, tier in ours.items():
        kept = tier["overwritten"] == theirs[ring]["overwritten"] and theirs[ring]["horizon_ns"] <= since
        check(tier["horizon_ns"] == since if kept else tier["horizon_ns"] >= since, f"{ring}: {tier['horizon_ns']}, asked for {since}")
    check(0 < info["events"] < whole["events"], f"{info['events']} events, {whole['events']} in all")
    since = max(r["horizon_ns"] for r in (*ours.values(), *theirs.values()))  # a busy machine has overwritten more
    want, got = (without_names(e for e in replay(f) if since <= e["ts"] < until) for f in (all_of_it, file))
    check(len(want) > 100, f"only {len(want)} events")
    differ = [both for both in zip(want, got) if both[0] != both[1]]
    check(want == got, f"{len(got)} events of the window, {len(want)} in the whole history: {differ[:1]}")


@test("dump --last: samples have their stacks, however long before these were first seen")
def last_stacks():
    name = shared(*SAMPLES)
    with subprocess.Popen([helper("spin"), "wait", "60"], stdout=subprocess.DEVNULL) as spinner:
        try:
            def seen():
                file = dump(name, "--last", "300ms")
                events = replay(file, "-f", f"event == cpu_sample && pid == {spinner.pid} && user == 1")
                return events if fr_json("info", file)["start_ns"] > first and events else None
            first = wait_for(lambda: replay(dump(name), "-f", f"event == cpu_sample && pid == {spinner.pid} && ustack_id != 0"), "a sample")[0]["ts"]
            samples = wait_for(seen, "samples whose like were first seen before")
        finally:
            spinner.kill()
    bare = [e for e in samples if e["ustack_id"] and e["ustack"] is None]
    check(not bare, f"{len(bare)} of {len(samples)} without frames: {bare[:1]}")
    check(any(e["ustack_id"] for e in samples), "no sample has a user stack")


@test("no memory to take a snapshot: no file, the cure, and the session goes on recording")
def no_memory():
    name = shared(*SYSCALLS)
    make_history()
    told = []
    for kib in range(8000, 200000, 2000):
        file = path(f"{name}-{kib}.flight")
        got = run("prlimit", f"--as={kib * 1024}", FLIGHTREC, "dump", "-n", name, "-o", file, status=None)
        if not got.returncode:
            break
        check(not os.path.exists(file) and not glob.glob(f"{os.path.dirname(file)}/.{name}*"), f"{kib} KiB: a file")
        told.append(got.stderr)
    fr("verify", file)
    told = [t for t in told if "Cannot allocate memory: free some memory; nothing is lost" in t]
    check(told, "encoding never lacked memory")
    return f"in {len(told)} of the sizes tried the rings were copied before"


@contextlib.contextmanager
def put_back(name, options):
    """A shared session is told other directories by who adopts it: afterwards its own one again."""
    try:
        yield
    finally:
        fr("record", "-n", name, "-o", f"{TMP}/shared", "--unattended", *options)


@contextlib.contextmanager
def adopted(options, *more, command=None):
    """A recorder in the foreground that takes over the shared session with these options, and leaves it; and the session's name."""
    name = shared(*options)
    with put_back(name, options):
        p = subprocess.Popen([FLIGHTREC, "record", "-n", name, "-o", TMP, *options, "--keep", *more, *(["--", *command] if command else ())],
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            if not command:
                wait_for(lambda: p.poll() is not None or status(name)["recorder"], "the session is owned")
            yield p, name
        finally:
            if p.poll() is None:
                p.kill()
            if not p.stderr.closed:
                p.communicate()


@contextlib.contextmanager
def sleeper(seconds):
    p = subprocess.Popen(["sleep", seconds])
    try:
        yield p
    finally:
        p.kill()
        p.wait()


def limited(most, *argv):
    """A command that may have so many open files, and no more by raising a soft limit."""
    return run("prlimit", f"--nofile={most}", FLIGHTREC, *argv, status=None)


def lacks_files(got, most):
    """What failed for want of descriptors says so in one line, with the cure."""
    check(re.fullmatch(r"flightrec: [^\n]*(Too many open files|open files, more than)[^\n]*ulimit -n[^\n]*\n", got.stderr),
          f"{most} open files: exit status {got.returncode}: {got.stderr}")


@test("too few open files for a dump: the cure and no file, or a snapshot that says which processes it knows too little of")
def dump_files():
    seen = {"failed": 0, "lacking": 0, "whole": 0}
    name = shared(*MINIMAL)
    with sleeper("4711"):
        for most in range(4, 100, 1 if LONG else 4):
            file = path(f"{name}-{most}.flight")
            got = limited(most, "dump", "-n", name, "-o", file)
            if got.returncode:
                seen["failed"] += 1
                lacks_files(got, most)
                check(not os.path.exists(file), f"{most} open files: a file")
                continue
            knows = "sleep 4711" in run("zstd", "-dcf", file).stdout
            told = got.stderr.count("Too many open files: raise the limit")
            late = got.stderr.count("could not be read in time")  # on a busy machine
            equal(got.stderr.count("\n"), 1 + told + late, f"{most} open files: lines of {got.stderr}")
            if not knows and not late:
                check("live tasks is not in" in got.stderr or "command line or cgroup" in got.stderr, f"{most} open files: {got.stderr}")
            equal("without command line or cgroup" in fr("info", file).stdout, "line or cgroup is not" in got.stderr,
                  f"{most} open files: does info say what dump said: {got.stderr}")
            seen["lacking" if told else "whole"] += 1
    check(min(seen.values()), f"what became of the dumps: {seen}")
    return f"{seen}"


@test("too few open files to read counters: one line with the cure, or all of them")
def status_files():
    name = shared(*MINIMAL)
    want, failed = [p["name"] for p in status(name)["programs"]], 0
    for most in (4, 6, *range(5, 76, 3)) if LONG else (4, 14, 24, 34, 44):
        got = limited(most, "status", "-n", name, "--json")
        if got.returncode:
            failed += 1
            lacks_files(got, most)
        else:
            equal([p["name"] for p in json.loads(got.stdout)["programs"]], want, f"{most} open files: programs")
    check(failed, "none failed")
    return f"{failed} failures"


NO_BPF = ("setpriv", "--inh-caps=-all", "--bounding-set=-bpf,-perfmon,-sys_admin")
NO_PRESSURE = ("unshare", "-m", "sh", "-c", 'mount -t tmpfs none /proc/pressure; exec "$@"', "sh")


@test("a kernel that refuses nothing but triggers: the same status, with the cure; the session and its history stay")
def refused_triggers():
    name = shared(*MINIMAL)
    conf = path(f"{name}.conf")
    for rule, argv, words in (("crash", NO_BPF, ("libbpf: ", "triggers' BPF programs: Operation not permitted", "run as root")),
                              ("psi:cpu:40%", NO_PRESSURE, ("'psi:cpu:40%'", "boot it with psi=1"))):
        with open(conf, "w") as f:
            f.write(f"[Session]\nName={name}\nProfile=minimal\nMemory=2M\n[Storage]\nDirectory={path(name)}\n[Trigger]\nOn={rule}\n")
        got = run(*argv, FLIGHTREC, "record", "-v", "--config", conf, status=None, timeout=120)
        equal(got.returncode, 6, f"{rule}: {got.stderr}")
        check(f"adopted session '{name}'" in got.stderr and "goes on recording" in got.stderr, f"{rule}: {got.stderr}")
        for word in words:
            check(word in got.stderr, f"'{word}' is not in: {got.stderr}")
        before = written(name)
        wait_for(lambda: written(name) > before, "recording goes on")


@test("too few open files for triggers alone may pass: not the status of a kernel that refuses them")
def trigger_files():
    why, armed, most = {}, 0, 12 if LONG else 4
    name = shared(*MINIMAL)
    with put_back(name, MINIMAL):
        while armed < 2 and most < 1000:  # however many files its programs take
            most += 4 if LONG else 12
            got = limited(most, "record", "-n", name, *MINIMAL, "-o", path(name), "--on", "hung>1h", "--on", "crash", "--keep", "--", "true")
            armed += "triggers: 2 armed" in got.stderr
            if got.returncode:
                equal(got.returncode, 1, f"{most} open files: {got.stderr}")
                why[most] = [line for line in got.stderr.splitlines() if line.startswith("flightrec: ")][-1]
                check("ulimit -n" in why[most], f"{most} open files: {got.stderr}")
    check(armed and any("triggers' BPF programs take" in line for line in why.values()), f"{armed} armed, others: {why}")
    return f"{len(why)} failures, {armed} armed"


@test("a low soft limit of open files is raised, but not for what is recorded or run")
def soft_files():
    conf = ("prlimit", "--nofile=20:4000")
    name = shared(*SYSCALLS)
    got = run(*conf, FLIGHTREC, "dump", "-n", name, "-o", path(f"{name}-soft.flight"))
    check("open files" not in got.stderr, got.stderr)
    with put_back(name, SYSCALLS):
        got = run(*conf, FLIGHTREC, "record", "-n", name, *SYSCALLS, "-o", path(name), "--on", "exit", "--exec", "echo hook $(ulimit -n) >&2",
                  "--keep", "--", "sh", "-c", "ulimit -n")
    equal(got.stdout, "20\n", f"the command's limit: {got.stderr}")
    check("\nhook 20\n" in got.stderr, f"the hook's limit: {got.stderr}")


@test("sub-buffers damaged in the ring: each run of them is a hole with its laps and times, and none where dump --last does not reach; "
      "once it is written anew there is none")
def damaged_laps():
    def calls(cnt):
        run("taskset", "-c", cpu, program("frtail", "/bin/dd"), "if=/dev/zero", "of=/dev/null", "bs=1", f"count={cnt}")

    cpu, name = min(os.sched_getaffinity(0)), shared(*TINY)
    calls(20000)
    sound = dump(name)
    begins, ends = {}, {}  # of laps: the first event's time, and the last one's
    for line in fr("replay", "--json", "--pos", "--tier", "main", "-f", f"cpu == {cpu}", sound).stdout.splitlines():
        e = json.loads(line)
        begins.setdefault(e["pos"]["seq"], e["ts"])
        ends[e["pos"]["seq"]] = e["ts"]
    n = max(begins)
    check(n - 16 in begins, f"laps {min(begins)} to {n} only")
    pin = f"{SESSIONS}/{name}/ring-{cpu}-main"
    run(helper("spoil"), pin, 1, n - 15, n - 8, n - 7, n - 4)
    run(helper("spoil"), pin, 0, n - 11)  # this one is found while the ring is copied, the others later
    runs = [(n - 15, n - 15), (n - 11, n - 11), (n - 8, n - 7), (n - 4, n - 4)]
    got, late = fr("dump", "-n", name, "-o", path("spoilt.flight")), path("spoilt-late.flight")
    info = fr_json("info", path("spoilt.flight"))
    time.sleep(0.02)
    last = fr("dump", "-n", name, "-o", late, "--last", "10ms")
    calls(20000)
    equal(fr_json("info", dump(name))["holes"], [], "holes of a ring that was written anew")
    holes = sorted(info["holes"], key=lambda h: h["first_seq"])
    equal([(h["cpu"], h["tier"], h["why"], h["first_seq"], h["last_seq"]) for h in holes],
          [(cpu, "main", "damaged", *r) for r in runs], "holes")
    for h in holes:
        check(ends[h["first_seq"] - 1] <= h["since_ns"] <= begins[h["first_seq"]], f"begin of {h}: {begins}, {ends}")
        check(ends[h["last_seq"]] <= h["until_ns"] <= begins[h["last_seq"] + 1], f"end of {h}: {begins}, {ends}")
    equal(next(t["horizon_ns"] for c in info["cpus"] if c["cpu"] == cpu for t in c["tiers"] if t["name"] == "main"),
          holes[-1]["until_ns"], "horizon")
    check("5 sub-buffers could not be read" in got.stderr, got.stderr)
    equal(fr_json("info", late)["holes"], [], "holes of --last")
    check("could not be read" not in last.stderr, last.stderr)


@test("a recorder: what it says at its start; a snapshot by SIGUSR1, its name, mode and directory; a last one when it is told to end")
def signals_to_recorder():
    dir = path("usr1")
    with adopted(MINIMAL, "-o", dir, "--on", "exit") as (p, name):
        p.send_signal(signal.SIGUSR1)
        files = wait_for(lambda: snapshots(dir), "a snapshot")
        rings = status(name)["memory"]["rings"] / os.sysconf("SC_NPROCESSORS_ONLN")
        p.send_signal(signal.SIGTERM)
        said = p.communicate(timeout=120)[1]
        equal(p.returncode, 0, f"exit status: {said}")
    equal(len(files), 1, "snapshots by SIGUSR1")
    check(re.fullmatch(r"[A-Za-z0-9._-]+-\d{8}T\d{6}\.\d{3}Z-signal\.flight", files[0]), files[0])
    equal(stat.S_IMODE(os.stat(f"{dir}/{files[0]}").st_mode), 0o600, "mode of the file")
    equal(stat.S_IMODE(os.stat(dir).st_mode), 0o700, "mode of the directory")
    equal(fr_json("info", f"{dir}/{files[0]}")["trigger"]["reason"], "signal", "reason")
    equal(sorted(re.sub(r".*Z-", "", f) for f in snapshots(dir)), ["exit.flight", "signal.flight"], "snapshots")
    for word in ("profile minimal", "snapshots go to", "memory: rings", "on top"):
        check(word in said, f"'{word}' is not in: {said}")
    size = 2 << 20
    check(size - (64 << 10) < rings <= size, f"rings take {rings} a CPU of 2 MiB: more than a sub-buffer is left over")


@test("--on exit: a last snapshot also when its terminal is gone")
def on_hangup():
    dir = path("exit-hangup")
    with adopted(MINIMAL, "-o", dir, "--on", "exit") as (p, _):
        p.send_signal(signal.SIGHUP)
        equal(p.wait(120), 0, "exit status")
    equal([re.sub(r".*Z-", "", f) for f in snapshots(dir)], ["exit.flight"], "snapshots")


@test("record -- CMD: exits as the command does, with a snapshot of its run; a session that is to be kept goes on")
def command():
    for cmd, want in ((["sh", "-c", "exit 3"], 3), (["true"], 0), (["sh", "-c", "kill -SEGV $$"], 128 + 11), (["sh", "-c", "kill -TERM $$"], 128 + 15)):
        dir, since, name = tempfile.mkdtemp(dir=TMP), mono_ns(), shared(*MINIMAL)
        with put_back(name, MINIMAL):
            said = fr("record", "-n", name, "-o", dir, *MINIMAL, "--keep", "--", *cmd, status=want).stderr
            equal(status(name)["recorder"], False, "is there a recorder behind it?")
        equal(len(snapshots(dir)), 1, f"{cmd}: snapshots: {said}")
        file = os.path.join(dir, snapshots(dir)[0])
        execs = [e for e in replay(file, "--life", "--since", str(since)) if e["event"] == "sched_process_exec"]
        mine = {e["tid"] for e in execs if e["filename"].endswith("/" + cmd[0])}
        exits = [e for e in replay(file, "--life", "--since", str(since)) if e["event"] == "sched_process_exit" and e["tid"] in mine]
        code = want - 128 if want > 128 else want << 8
        check(any(e["exit_code"] & 0xff7f == code for e in exits), f"{cmd}: from its exec to its end: {execs}, {exits}")
        info = fr_json("info", file)
        equal(info["trigger"]["reason"], "end", "reason")
        equal(info["command"], None, "the command that the session was begun for")
        if want > 128:
            equal(info["trigger"]["sig"], want - 128, "signal")


@test("a memory limit: doctor tells it, a session that would not fit is refused before anything is loaded, one that fits records",
      own="it is begun where memory is limited")
def memory_limit():
    dir = next((d for d in ("/sys/fs/cgroup/memory", "/sys/fs/cgroup") if os.path.exists(f"{d}/memory.stat")), None)
    if not dir:
        raise Skip("no memory cgroups here")
    limit = "memory.limit_in_bytes" if os.path.exists(f"{dir}/memory.limit_in_bytes") else "memory.max"
    dir, cpus = f"{dir}/frtest-{os.getpid()}", os.cpu_count()
    os.makedirs(f"{dir}/below")
    try:
        if not os.path.exists(f"{dir}/{limit}"):
            raise Skip("no memory controller below the root")
        with open(f"{dir}/{limit}", "w") as f:  # the limit is that of the one above
            f.write(str((112 + 4 * cpus) << 20))
        inside = "sh", "-c", f'echo $$ > {dir}/below/cgroup.procs; exec "$@"', "sh"
        found = {c["what"]: c for c in json.loads(run(*inside, FLIGHTREC, "doctor", "--json").stdout)["checks"]}["memory limit"]
        check(found["grade"] == "ok" and f"{dir}/{limit}" in found["found"], f"doctor: {found}")
        few = "record", "-n", new_name(), "-o", TMP, *RECORDED
        with open(f"{dir}/{limit}", "w") as f:
            f.write(str(32 << 20))
        got = run(*inside, FLIGHTREC, *few, "--", "true", status=1)
        needs = re.findall(r"([\d.]+) MiB", got.stderr)[:-1]  # the last is what is left
        equal(len(needs), 4, f"what a recorder takes: {got.stderr}")
        with open(f"{dir}/{limit}", "w") as f:
            f.write(str((int(sum(map(float, needs))) + 2) << 20))
        name = founded(RECORDED, lambda name: run(*inside, FLIGHTREC, "record", "-n", name, "-o", f"{TMP}/shared", *RECORDED, "--unattended"))
        got = run(*inside, FLIGHTREC, "record", "-n", name, "-o", f"{TMP}/shared", *RECORDED, "--keep", "--", "true")  # with as much as it takes
        check("\nsnapshot " in got.stderr and "from outside" not in got.stderr, f"with as much as it takes: {got.stderr}")
        with open(f"{dir}/{limit}", "w") as f:
            f.write(str((112 + 4 * cpus) << 20))
        got = run(*inside, FLIGHTREC, "record", "-n", new_name(), "-o", TMP, "-p", "minimal", "-m", "128M", "--unattended", status=1)
        check(f"but of the limit in {dir}/{limit} only" in got.stderr and "(-m)" in got.stderr, got.stderr)
        with open(f"{dir}/{limit}", "w") as f:
            f.write(str((40 + 4 * cpus) << 20))
        found = json.loads(run(*inside, FLIGHTREC, "doctor", "--json").stdout)["checks"]
        equal({c["what"]: c["grade"] for c in found}["memory limit"], "missing", "doctor, with little room")
    finally:
        wait_for(lambda: gone(f"{dir}/below") and gone(dir), "the cgroups are empty")


@test("record -- CMD: told to end while the command cannot begin, it ends, and its session with it, unless it is to be kept",
      own="its own: it ends")
def command_waits():
    file = program("leased", "/bin/true")
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGIO])
    fd = os.open(file, os.O_WRONLY)
    try:
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK)  # execve() waits until it is given up
    except OSError as e:
        raise Skip(f"no leases in {TMP}: {e.strerror}")
    try:
        for sig in (signal.SIGTERM, signal.SIGINT):
            with contextlib.ExitStack() as stack:
                if sig == signal.SIGTERM:
                    p, name = stack.enter_context(adopted(MINIMAL, command=[file]))
                else:
                    name = new_name()
                    p = stack.enter_context(recorder(name, *MINIMAL, command=[file]))
                check(signal.sigtimedwait([signal.SIGIO], 120), "the command is not executed")
                p.send_signal(sig)
                said = p.communicate(timeout=120)[1]
                equal(p.returncode, 128 + sig, f"exit status: {said}")
                check("told to end before" in said, said)
                equal(exists(name), sig == signal.SIGTERM, f"whether the session goes on: {said}")
            fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)
            fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK)
    finally:
        os.close(fd)


@test("record -- CMD: 126 when it cannot be run, 127 when it is not there")
def command_missing():
    plain = path("not-executable")
    open(plain, "w").close()
    for cmd, want in ((plain, 126), ("/nonexistent/command", 127), ("no-such-command", 127)):
        with put_back(shared(*MINIMAL), MINIMAL):
            got = fr("record", "-n", shared(*MINIMAL), "-o", TMP, *MINIMAL, "--keep", "--", cmd, status=want)
            check(f"cannot run {cmd}" in got.stderr, got.stderr)


@test("a command's SIGINT is its own: the recorder ends when it does")
def command_interrupt():
    pid = path("interrupted.pid")
    script = f"trap 'exit 5' INT; echo $$ > {pid}.new; mv {pid}.new {pid}; while :; do sleep 0.05; done"
    dir = path("interrupted")
    with adopted(MINIMAL, "-o", dir, "--on", "signal", command=["sh", "-c", script]) as (p, _):
        wait_for(lambda: os.path.exists(pid), "the command has its trap")
        with open(pid) as f:
            shell = int(f.read())
        p.send_signal(signal.SIGINT)
        p.send_signal(signal.SIGUSR1)  # taken after the other one
        try:
            wait_for(lambda: p.poll() is not None or any("-signal" in f for f in snapshots(dir)), "a snapshot")
            check(p.poll() is None, "the recorder ended while the command runs")
        finally:
            os.kill(shell, signal.SIGINT)  # in any case: its output is the recorder's
        equal(p.wait(120), 5, "exit status")


@test("no such session: exit status 4, and what to do")
def no_session():
    for cmd in (["dump", "-n", "frtest-none"], ["status", "-n", "frtest-none"], ["status", "--json", "-n", "frtest-none"],
                ["stop", "-n", "frtest-none"]):
        refused(fr(*cmd, status=4), "no session 'frtest-none'")


@test("no such session, but others: they are named")
def other_sessions():
    name = shared(*MINIMAL)
    for cmd in ("dump", "status", "stop"):
        words = fr(cmd, "-n", "frtest-none", status=4).stderr
        check("no session 'frtest-none' is recording, only '" in words and "name one with -n" in words, words)
        check(f"'{name}'" in words or re.search(r"'(, '[^']+'){4} and \d+ more: ", words), words)


@test("not root: every command that needs it says so")
def not_root():
    name = shared(*MINIMAL)
    open_dir = path("for-all")
    os.mkdir(open_dir)
    os.chmod(open_dir, 0o777)
    os.chmod(TMP, 0o711)
    for cmd in (["record", "-n", new_name(), "-o", TMP], ["record", "-n", new_name(), "-o", open_dir], ["dump", "-n", name],
                ["status", "-n", name], ["stop", "-n", name]):
        got = run("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", FLIGHTREC, *cmd, status=None)
        check(got.returncode in (1, 4), f"{cmd}: exit status {got.returncode}")
        check("run as root" in got.stderr, f"{cmd}: {got.stderr}")
    check(exists(name), "the session was ended by somebody else")


@test("usage errors: exit status 2, and the nearest name")
def usage():
    for args, word in ((["-e", "sched_swich"], "sched_switch"), (["-e", "nonsense"], "'nonsense': `flightrec events` lists all"),
                       (["-e", "-syscal"], "syscall"), (["-p", "defualt"], "minimal, default or full"), (["-m", "lots"], "not a size"),
                       (["-n", "a/b"], "not a session's name"), (["--clock", "sundial"], "local, global"),
                       (["--on", "thursday"], "no trigger"), (["--pid", "x"], "not a process id"), (["--hz", "0"], "not a rate"),
                       (["-m", "1K"], "-m")):
        refused(fr("record", *args, status=2), word)
    fr("record", "--nonsense", status=2)
    refused(fr("record", "--", status=2), "command to record is missing")
    fr("nonsense", status=2)


@test("memory too large: refused before anything is made")
def too_large():
    name = new_name()
    with ended(name):
        refused(fr("record", "-n", name, "-o", TMP, "-m", "400M", "--tier", "main=399M", status=None), "-m")
        refused(fr("record", "-n", name, "-o", TMP, "-m", "100G", status=None), "-m")
        check(not exists(name), "a session is left")


@test("dump ended by ctrl-c or a signal: the file is whole or there is none, and nothing is to be repaired")
def interrupted():
    name = shared(*FULL)
    with tempfile.TemporaryDirectory(dir=TMP) as dir:
        run("dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=200000")
        ended_by = []
        for nr in range(12):
            p = subprocess.Popen([FLIGHTREC, "dump", "-n", name, "-o", f"{dir}/{nr}.flight"], stdout=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE, text=True)
            time.sleep(0.01 * nr)
            p.send_signal((signal.SIGINT, signal.SIGTERM, signal.SIGHUP)[nr % 3])
            said = p.communicate()[1]
            check("repaired" not in said, said)
            ended_by.append(p.returncode)
            for file in os.listdir(dir):
                fr("verify", f"{dir}/{file}")
                os.unlink(f"{dir}/{file}")
        check(min(ended_by) < 0, f"none was ended: {ended_by}")
        check("repaired" not in fr("dump", "-n", name, "-o", f"{dir}/last.flight").stderr, "the last one repairs")
        refused(fr("dump", "-n", name, "-o", "-", status=2), "a snapshot is written to a file")


def softirqs_of_kernel():
    """By the kernel's own count, of all CPUs: by vector."""
    with open("/proc/softirqs", encoding="ascii") as f:
        return {line.split(":")[0].strip(): sum(map(int, line.split(":")[1].split())) for line in f.readlines()[1:]}


def records_default(name, before):
    """
    A session that has just begun, with the default profile, records waits, and no softirqs, of which the kernel's own count is told, from
    its beginning on: from `before` at the earliest. Full records them. Returns a snapshot.
    """
    begun = softirqs_of_kernel()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind(("127.0.0.1", 0))
        for _ in range(100):
            s.sendto(b"x", s.getsockname())
            s.recv(1)
    run("sleep", "0.05")
    ended = softirqs_of_kernel()
    file = dump(name)
    after = softirqs_of_kernel()
    info = fr_json("info", file)
    recorded = set(info["events_recorded"].split(","))
    equal(recorded & {"wait", "softirq_entry", "softirq_exit"}, {"wait"}, "recorded by default")
    check(replay(file, "-f", f"event == wait && comm == \"sleep\" && id == clock_nanosleep && waker == {TIMER}"), "the sleep is a wait that a timer ended")
    check(set(info["softirqs"]) == set(begun), f"vectors: {info['softirqs']}")
    for vec, cnt in info["softirqs"].items():
        check(ended[vec] - begun[vec] <= cnt <= after[vec] - before[vec],
              f"{vec}: {cnt}, and the kernel counted {ended[vec] - begun[vec]} to {after[vec] - before[vec]}")
    check(info["softirqs"]["NET_RX"] >= 100, "datagrams came in softirqs")
    equal(set(info["softirq_ms"]), {str(c["cpu"]) for c in info["cpus"]}, "CPUs with a time in softirqs")
    recorded = set(fr_json("status", "-n", shared(*FULL))["events"].split(","))
    equal({"wait", "softirq_entry", "softirq_exit"} - recorded, set(), "not recorded by full")
    return file


@test("record -- COMMAND on a full disk, with the default profile: the session goes on, it records what it should, and a snapshot taken "
      "elsewhere names the command; the next one ends it", own="begun and ended by `record -- COMMAND`")
def unsaved():
    name, options = new_name(), ("-m", "2M")
    with ended(name), small_disk("16m") as dir:
        fill = f"head -c 20000000 /dev/zero > {dir}/fill; kill -TERM $$ # it's"
        before = softirqs_of_kernel()
        got = fr("record", "-n", name, "-o", dir, *options, "--", "sh", "-c", fill, "", status=128 + 15)
        check(f"`flightrec dump -n {name} -o FILE` takes it elsewhere" in got.stderr, got.stderr)
        check(exists(name), "the session is gone")
        file = records_default(name, before)
        check("sched_process_exit" in fr("replay", "-f", 'comm == "sh"', file).stdout, "what was recorded")
        quoted = fill.replace("'", r"'\''")
        equal(fr_json("info", file)["command"], f"sh -c '{quoted}' ''", "the command that the session was begun for")
        os.unlink(f"{dir}/fill")
        fr("record", "-n", name, "-o", dir, *options, "--", "sh", "-c", "exit 3", status=3)  # takes it over
        equal(len(snapshots(dir)), 1, "snapshots of the next command")
        check(not exists(name), "the session is still there")
        for option, value, word in (("--max-files", "3", "--max-files"), ("--on", "crash", "'crash'"), ("--on", "exit", "'exit'"),
                                    ("--on", "command:last=1s", "'command:last=1s'")):
            refused(fr("record", "-n", name, "-o", dir, "-p", "minimal", "-m", "2M", "--unattended", option, value, status=2), word)
        check(not exists(name), "a session is left")


@test("status: a directory of snapshots on a read-only file system is a problem")
def read_only():
    name = shared(*MINIMAL)
    with put_back(name, MINIMAL), small_disk("1m") as dir:
        said = fr("record", "-n", name, "-o", dir, *MINIMAL, "--unattended").stderr
        check("no crash takes a snapshot" in said and "lose samples" in said, f"what --unattended does not do is said: {said}")
        check("read-only" not in str(status(name)["problems"]), str(status(name)["problems"]))
        run("mount", "-o", "remount,ro", dir)
        check("read-only" in str(status(name)["problems"]), str(status(name)["problems"]))


@test("disk full: no file, and the session goes on recording")
def disk_full():
    name = shared(*FULL)
    with small_disk("64k") as dir:
        run("dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=200000")
        refused(fr("dump", "-n", name, "-o", f"{dir}/x.flight", status=1), "No space left", "session goes on recording")
        equal(os.listdir(dir), [], "files left")
        before = written(name)
        wait_for(lambda: written(name) > before, "recording goes on")
        fr("verify", dump(name))


@test("a limit of file sizes: no file, and the cure; the recorded command meets it as ever")
def file_limit():
    limited = ["sh", "-c", 'ulimit -f 4; exec "$@"', "sh", FLIGHTREC]
    dir = tempfile.mkdtemp(dir=TMP)
    name = shared(*FULL)
    refused(run(*limited, "dump", "-n", name, "-o", f"{dir}/x.flight", status=1), "ulimit -f", "session goes on recording")
    equal(os.listdir(dir), [], "files left")
    name = shared(*MINIMAL)
    with put_back(name, MINIMAL):
        got = run(*limited, "record", "-n", name, "-o", dir, *MINIMAL, "--keep", "--", "dd", "if=/dev/zero", f"of={dir}/zeros", "bs=64k",
                  "count=1", "conv=fsync", "oflag=append", status=128 + signal.SIGXFSZ)
        check("ulimit -f" in got.stderr and "ended from outside" not in got.stderr, got.stderr)
        equal(snapshots(dir), [], "snapshots")


@test("a directory that cannot be written: refused, with the cure")
def read_only():
    name = shared(*MINIMAL)
    with small_disk("1m") as dir:
        run("mount", "-o", "remount,ro", dir)
        refused(fr("dump", "-n", name, "-o", f"{dir}/x.flight", status=1), "Read-only")
        got = fr("record", "-n", new_name(), "-o", dir, "--unattended", status=1)
        refused(got, "cannot write to directory", "(Directory= or -o)")
        refused(fr("record", "-n", new_name(), "-o", "/dev/null", "--unattended", status=1), "/dev/null: Not a directory")
        refused(fr("dump", "-n", name, "-o", "/nonexistent/dir/x.flight", status=1), "No such file")
        check(exists(name), "the session is gone")


def nested(sz):
    """A new directory whose path has so many bytes."""
    dir = tempfile.mkdtemp(dir=TMP)
    while (left := sz - len(dir)) > 0:
        dir += "/" + "d" * (left - 1 if left <= 202 else 200)
    os.makedirs(dir)
    return dir


@test("a directory whose path is too long for names of snapshots: refused; in the longest one there are some")
def long_dir():
    got = fr("record", "-n", new_name(), "-o", nested(833), "--unattended", status=1)
    refused(got, "cannot write to directory", "File name too long", "-o")
    dir = nested(832)
    with adopted(MINIMAL, "-o", dir, "--on", "signal") as (p, _):
        p.send_signal(signal.SIGUSR1)
        wait_for(lambda: snapshots(dir), "a snapshot")


@test("a relative directory is meant as seen by who began to record")
def relative_dir():
    os.mkdir(path("near"))
    name = shared(*MINIMAL)
    with put_back(name, MINIMAL):
        run("env", "-C", os.path.dirname(path("near")), FLIGHTREC, "record", "-n", name, "-o", "near", "--unattended", *MINIMAL)
        equal(run("env", "-C", "/", FLIGHTREC, "dump", "-n", name).stdout.strip().rpartition("/")[0], path("near"), "directory")


@test("dump -o does not replace a file")
def no_replace():
    name = shared(*MINIMAL)
    file = path("precious")
    with open(file, "w") as f:
        f.write("precious")
    refused(fr("dump", "-n", name, "-o", file, status=1), "exists")
    equal(open(file).read(), "precious", "content")


@test("output to a closed pipe ends quietly")
def closed_pipe():
    name = shared(*SYSCALLS)
    run("dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=20000")
    file = dump(name)
    for cmd in (f"{FLIGHTREC} replay --json {file}", f"{FLIGHTREC} replay {file}", f"{FLIGHTREC} status -n {name} --json"):
        got = run("bash", "-c", f"set -o pipefail; {cmd} | head -c 1 > /dev/null")
        equal(got.stderr, "", cmd)


@test("doctor: able as root, not without; every event is asked for")
def doctor():
    got = fr_json("doctor")
    equal(got["able"], True, "able as root")
    names = {c["what"] for c in got["checks"]}
    for event in ("sched_switch", "sys_enter", "block_rq_issue", "signal_deliver", "mark_victim"):
        check(event in names, f"{event} is not in {names}")
    check("wait" not in names, "waits, which have no tracepoint, are said to lack one")
    for event in names & set(os.listdir(f"{tracefs()}/events/sched")):
        check(next(c["grade"] for c in got["checks"] if c["what"] == event) == "ok", f"{event} is there")
    got = run("setpriv", "--reuid", "65534", "--clear-groups", FLIGHTREC, "doctor", "--json", status=None)
    check(got.returncode == 1, f"exit status without root: {got.returncode}")
    equal(json.loads(got.stdout)["able"], False, "able without root")
    for c in json.loads(got.stdout)["checks"]:
        check("use a kernel" not in c["cure"], f"what is only forbidden is blamed on the kernel: {c}")


@test("doctor without type information: says so, and does not guess about the rest")
def doctor_no_btf():
    got = run("unshare", "-m", "sh", "-c", f"mount -t tmpfs none /sys/kernel/btf && {FLIGHTREC} doctor --json", status=1)
    equal(got.stderr, "", "standard error")
    found = {c["what"]: c["found"] for c in json.loads(got.stdout)["checks"]}
    equal((found["sched_switch"], found["tp_btf programs"]), ("unknown", "unknown"), "what is not known")


if __name__ == "__main__":
    main()
