# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Ends of processes as triggers: statuses, OOM kills, filters; rules that change; queues that nobody reads; what stop leaves."""
import errno
import json
import os
import shutil
import signal
import struct
import subprocess

from frtest import (FLIGHTREC, MINIMAL, SESSIONS, Skip, TMP, check, dump, ended, equal, exists, fr, helper, main, new_name, path, program, replay, run,
                    session, shared, small_memory, test, wait_for)
from matrix import Alerts, alerts

QUEUE_SZ = 512 << 10


def die(file, way="null"):
    """Its pid."""
    p = subprocess.Popen([file, way], cwd=TMP, stdout=subprocess.DEVNULL)
    p.wait()
    return p.pid


def shell(*words, **kw):
    """The pid of a shell that has run these words."""
    p = subprocess.Popen(["/bin/sh", "-c", *words], **kw)
    p.wait()
    return p.pid


def of(told, kind, pids):
    return [a for a in told if a["kind"] == kind and a["pid"] in pids]


@test("exit:STATUS: a process that ends so, once; not one with another status, a thread, or a signal of that number")
def exit_status():
    code = "import threading, os; t = threading.Thread(target=lambda: None); t.start(); t.join(); os._exit(%d)"
    with alerts(shared(*MINIMAL), "exit:7", "exit:11") as a:
        seven = [shell("exit 7"), shell("sh -c 'exit 0'; exit 7")]
        thread = subprocess.Popen(["/usr/bin/python3", "-S", "-c", code % 7])
        thread.wait()
        none = [shell("exit 8"), shell("exit 0"), shell("kill -SEGV $$"), shell("kill -BUS $$")]
        pids = seven + none + [thread.pid]
        events = replay(dump(shared(*MINIMAL)), "-f", "event == failure || event == call_failed")
        where = [e["pid"] for e in events if e["event"] == "failure" and e["pid"] in pids]
        told, counters = a.finish()
    check(sorted(where) in ([], sorted(seven + [thread.pid])), f"where they ended themselves, if the kernel still knows: {where}")
    equal(sorted(e["pid"] for e in of(told, "status", seven + none + [thread.pid])), sorted(seven + [thread.pid]), "told")
    one = of(told, "status", seven)[0]
    equal((one["exit_code"], one["sig"], one["rule_set"], one["comm"]), (7 << 8, 0, 1, "sh"), "alert")
    check(one["cgroup"] and one["start_ns"] and one["ts"], f"{one}")
    equal(counters["marks"], len([e for e in events if e["pid"] in pids]), "records beside the events' own")


FAILS = """
import ctypes, errno, os, socket, sys
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen()
def bind(to):
    with socket.socket() as one: one.bind(to)
def taken():
    try: bind(s.getsockname())
    except OSError: pass
def looked():
    try: os.stat("/nonexistent")
    except OSError: pass
def got():
    bind(("127.0.0.1", 0))
def refused():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        to = one.getsockname()
        try:
            with socket.socket() as two: two.connect(to)
        except OSError: pass
def begun():
    with socket.socket() as one:
        one.setblocking(False)
        if one.connect_ex(s.getsockname()) != errno.EINPROGRESS: os._exit(99)
def waited():
    word, past = ctypes.c_uint32(0), (ctypes.c_int64 * 2)(0, 1)
    one = (ctypes.c_uint64 * 3)(0, ctypes.addressof(word), 2) # FUTEX_32
    libc.syscall(449, one, 1, 0, past, 1) # futex_waitv
def replaced():
    os.execv("/bin/sh", ["sh", "-c", "exit " + sys.argv[2]])
libc = ctypes.CDLL(None)
for word in sys.argv[1].split(","): globals()[word]()
os._exit(int(sys.argv[2]))
"""


@test("exit:STATUS: the last calls that failed, of a thread that ends its process so; not of one that got over it, nor with another status")
def exit_calls():
    bind = {"x86_64": 49, "aarch64": 200}.get(os.uname().machine)
    if not bind:
        raise Skip("number of bind unknown here")
    ends = ["taken,looked", "looked,taken", "taken,got", "looked", "taken,replaced", "refused,begun", "looked,waited"]

    def run(what, status):
        p = subprocess.Popen(["/usr/bin/python3", "-S", "-c", FAILS, what, str(status)])
        equal(p.wait(), status, "exit status")
        return p.pid

    with alerts(shared(*MINIMAL), "exit:7") as a:
        pids = [run(what, 7) for what in ends]
        none = [run("taken", 8)]
        a.finish()
    with alerts(shared(*MINIMAL), "exit:7,calls=no") as a:
        none.append(run("taken", 7))
        a.finish()
    failed = [e for e in replay(dump(shared(*MINIMAL)), "-f", "event == call_failed") if e["pid"] in pids + none]
    found = [[(e["id"], e["error"], e["lack"]) for e in failed if e["pid"] == pid] for pid in pids]
    taken, stat = (bind, -errno.EADDRINUSE), -errno.ENOENT
    equal([[f for f in one if f[2]] for one in found], [[(*taken, 1)], [(*taken, 1)], [], [], [], [], []], "of a lack")
    equal([[f[:2] for f in one if not f[2]] for one in found][1:3], [[], [taken]], "the last ones, where they are others")
    equal([[f[1] for f in one if not f[2]] for one in (found[0], found[3], found[6])], [[stat]] * 3, "the last ones, of looking")
    equal([e for e in failed if e["pid"] in none], [], "with another status, or where no rule asks for it")
    check(all(e["ago"] > 0 for e in failed), f"each was before the end: {failed}")


@test("exit:STATUS: the last calls that failed: no 32-bit lock's timeout, nothing of a handler's return; of several threads that end it, one tells")
def exit_calls_of_others():
    what = ["handler", "threads"]
    compat = run(helper("failing"), "compat", status=None).returncode == 7
    with alerts(shared(*MINIMAL), "exit:7") as a:
        pids = []
        for one in what + ["compat"] * compat:
            p = subprocess.Popen([helper("failing"), one])
            equal(p.wait(), 7, "exit status")
            pids.append(p.pid)
        a.finish()
    failed = [e for e in replay(dump(shared(*MINIMAL)), "-f", "event == call_failed") if e["pid"] in pids]
    found = {(one, *((e["error"], e["abi"]) for e in failed if e["pid"] == pid)) for one, pid in zip(what + ["compat"], pids)}
    equal(sorted(found), [(one, (-errno.EADDRINUSE, 0)) for one in sorted({*what, *["compat"] * compat})], "what each told")


EXITS = """
import os, threading
def end():
    barrier.wait()
    os._exit(7) if {group} else ctypes.CDLL(None).syscall({nr}, 7)
import ctypes
barrier = threading.Barrier(4)
for _ in range(4): threading.Thread(target=end, daemon=True).start()
ctypes.CDLL(None).syscall({nr}, 7)
"""


@test("exit:STATUS: threads that end all at once are one process, whose status is its first thread's")
def exit_race():
    exit_nr = {"x86_64": 60, "aarch64": 93}.get(os.uname().machine)
    if not exit_nr:
        raise Skip("number of exit unknown here")
    with alerts(shared(*MINIMAL), "exit:7") as a:
        pids = []
        for group in (True, False) * 5:
            p = subprocess.Popen(["/usr/bin/python3", "-S", "-c", EXITS.format(group=group, nr=exit_nr)])
            equal(p.wait(), 7, "exit status")
            pids.append(p.pid)
        told = a.finish()[0]
    equal([e["pid"] for e in of(told, "status", pids)], pids, "told")


NAMED = """
import os, threading, time
def rename(name):
    with open(f"/proc/self/task/{threading.get_native_id()}/comm", "w") as f: f.write(name)
def work():
    rename("frt-worker")
    barrier.wait()
    time.sleep(1000)
rename("frt-main")
barrier = threading.Barrier(5)
for _ in range(4): threading.Thread(target=work, daemon=True).start()
barrier.wait()
os._exit(7)
"""


@test("exit:STATUS: a process has its first thread's name, whichever thread ends last")
def exit_name():
    rules = ("exit:7:comm=frt-main", "exit:7:comm=frt-w*", "exit:7:comm=*-main")
    with alerts(shared(*MINIMAL), *rules) as a:
        pids = []
        for _ in range(10):
            p = subprocess.Popen(["/usr/bin/python3", "-S", "-c", NAMED])
            equal(p.wait(), 7, "exit status")
            pids.append(p.pid)
        told = a.finish()[0]
    equal([(e["pid"], e["comm"], e["rule_set"]) for e in of(told, "status", pids)], [(pid, "frt-main", 0b101) for pid in pids],
          "told")


@test("oom: a memory cgroup's victim, with its name, program and user; not a crash, but one for crash:all")
def oom():
    file = program("frd-eater", "touch")
    name = shared(*MINIMAL)
    with alerts(name, "oom", "crash", "crash:all") as a, small_memory() as dir:
        pid = shell(f"echo $$ > {dir}/cgroup.procs; exec {file} 100000")
        told, counters = a.finish()
        events = [e for e in replay(dump(name)) if e["event"] == "mark_victim" and e["target_pid"] == pid]
    equal(len(events), 1, "events mark_victim")
    equal([(e["tid"], e["comm"], e["exe"], e["uid"], e["sig"]) for e in of(told, "oom", [pid])],
          [(pid, "frd-eater", file, 0, signal.SIGKILL)], "alerts of oom")
    equal([(e["sig"], e["rule_set"]) for e in of(told, "crash", [pid])], [(signal.SIGKILL, 4)], "alerts of crash")


@test("filters that BPF decides: signal, user, name; others' moments are not counted")
def filters():
    rules = ("crash:sig=ABRT", "crash:uid=65534", "crash:comm=frd-one", "crash:comm=frd-*", "crash:all,sig=TERM,comm=frd-two")
    one, two = program("frd-one", "deaths"), program("frd-two", "deaths")
    with alerts(shared(*MINIMAL), *rules) as a:
        want = {die(one): 0b1100, die(two): 0b1000, die(two, "abort"): 0b1001, die(one, "other_user"): 0b1110,
                die(two, "term"): 0b10000, die(one, "term"): 0}
        told, counters = a.finish()
    for pid, rule_set in want.items():
        equal([e["rule_set"] for e in of(told, "crash", [pid])], [rule_set] if rule_set else [], f"rules of pid {pid}")
    ours = [r for r in counters["rules"] if "frd-" in r["text"]]
    equal([(r["matched"], r["alerted"]) for r in ours], [(2, 2), (4, 4), (1, 1)], "counted")


@test("crash:all: the last signal is one, too")
def last_signal():
    with alerts(shared(*MINIMAL), "crash:all,sig=64", "crash:all", "crash:all,sig=63") as a:
        p = subprocess.Popen(["/bin/sleep", "1000"])
        p.send_signal(64)
        equal(p.wait(), -64, "status")
        told = a.finish()[0]
    equal([(e["sig"], e["rule_set"]) for e in of(told, "crash", [p.pid])], [(64, 0b11)], "told")


@test("a path that is too long is cut from the left")
def long_path():
    dir = TMP
    for letter in "abc":
        dir = os.path.join(dir, letter * 100)
        os.mkdir(dir)
    file = os.path.join(dir, "frd-deep")
    shutil.copy(helper("deaths"), file)
    with alerts(shared(*MINIMAL), "crash") as a:
        pid = die(file)
        exe = of(a.finish()[0], "crash", [pid])[0]["exe"]
    check(len(exe) <= 255 and exe.startswith(".../"), f"{exe}")
    check(file.endswith(exe[3:]) and len(exe) > 120, f"{exe}")


@test("rules loaded anew, again and again under deaths: each is told once, counts go on, no program is left")
def reload():
    file = program("frd-again", "deaths")
    name = shared(*MINIMAL)
    with alerts(name, "crash:comm=frd-again", "exit:77") as a:
        pids = []
        for i in range(20):
            a.p.stdin.write("again\n")
            a.p.stdin.flush()
            pids += [die(file) for _ in range(5)]
        wait_for(lambda: any(p.startswith("trig-") for p in os.listdir(f"{SESSIONS}/{name}")), "rules are loaded")
        told, counters = a.finish()
        equal([p for p in os.listdir(f"{SESSIONS}/{name}") if p.startswith("trig-")], [], "pins after unloading")
    equal(sorted(e["pid"] for e in of(told, "crash", pids)), sorted(pids), "told")
    equal((counters["rules"][0]["matched"], counters["rules"][0]["alerted"]), (100, 100), "counted")


def queue_fills(name):
    """Nobody reads: alerts wait for the next reader; when the queue is full, they are counted, and events still written."""
    file = program("frd-queue", "deaths")
    first = Alerts("--keep", name, "crash:comm=frd-queue")
    first.p.kill()
    first.p.communicate()
    pids = [die(file) for _ in range(400)]
    with alerts("--all", name, "crash:comm=frd-queue") as a:
        told, counters = a.finish()
    crashes = [e["pid"] for e in replay(dump(name), "-f", 'event == "crash"')]
    waited = [e["pid"] for e in of(told, "crash", pids)]
    rule = counters["rules"][0]
    equal(waited, pids[:len(waited)], "told, in order")
    check(200 < len(waited) < 400, f"{len(waited)} alerts waited in {QUEUE_SZ} bytes")
    equal((rule["matched"], rule["alerted"], rule["full"]), (400, len(waited), 400 - len(waited)), "counted")
    equal(sorted(p for p in crashes if p in pids), sorted(pids), "events crash")
    equal(counters["marks"], 400, "records")


def links_of(name):
    pins = [f"{SESSIONS}/{name}/{p}" for p in os.listdir(f"{SESSIONS}/{name}") if p.startswith("trig-")]
    return [json.loads(run("bpftool", "-j", "link", "show", "pinned", pin).stdout)["id"] for pin in pins]


@test("one life: a full queue counts what it cannot take; the programs' runs are what was written, lost or filtered; a killed loader's go "
      "with the session", own="its programs' runs are counted from its beginning to its end")
def life():
    file = program("frd-count", "deaths")
    stats = subprocess.Popen([helper("stats")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        equal(stats.stdout.readline(), "on\n", "BPF statistics")
        with session("-p", "minimal", "-m", "8M") as name:
            queue_fills(name)
            with alerts("--all", name, "crash:all", "exit:3") as a:
                for _ in range(50):
                    die(file)
                    shell("exit 3")
                told, counters = a.finish()
            loader = Alerts("--keep", name, "crash:comm=nobody", "exit:3:comm=nobody", "oom:comm=nobody")
            links = links_of(name)
            loader.p.kill()
            loader.p.communicate()
            live = json.loads(run(helper("final"), name, path("account.flight")).stdout)
            check(not exists(name), "the session is still there")
    finally:
        stats.stdin.close()
        stats.wait()
        stats.stdout.close()
    kept = [t for c in live["cpus"] for t in c["tiers"] if t["name"] != "stack"]
    marks = 3 * live["snapshots"] + counters["marks"] + counters["mark_lost"]
    want = sum(t["written"] + sum(t["lost"].values()) for t in kept) - marks + live["no_ring"]
    want += sum(sum(c["filtered"].values()) for c in live["cpus"])
    equal(sum(p["run_cnt"] for p in live["programs"]), want, "runs of the event programs")
    check(counters["marks"] >= 450, f"{counters}")
    check(len(links) >= 3, f"links of triggers: {links}")
    for link in links:
        wait_for(lambda: run("bpftool", "link", "show", "id", link, status=None).returncode, f"link {link} is gone")


# ---- a kernel before 6.16 ----

BTF = "/sys/kernel/btf/vmlinux"
KIND_TYPEDEF = 8
# bytes behind a type's 12, for one and for each of its members; by kind
BEHIND = {1: (4, 0), 3: (12, 0), 4: (0, 12), 5: (0, 12), 6: (0, 8), 13: (0, 8), 14: (4, 0), 15: (0, 12), 17: (4, 0), 19: (0, 12)}


def tracepoints_in(btf):
    """{name: where the type of btf_trace_NAME stands} in the kernel's description of its types."""
    head_sz, types_at, types_sz, names_at, _ = struct.unpack_from("<5I", btf, 4)
    at, end_at, names, found = head_sz + types_at, head_sz + types_at + types_sz, head_sz + names_at, {}
    while at < end_at:
        name, info, _ = struct.unpack_from("<3I", btf, at)
        kind, once, each = info >> 24 & 31, *BEHIND.get(info >> 24 & 31, (0, 0))
        if kind == KIND_TYPEDEF and btf.startswith(b"btf_trace_", names + name):
            found[btf[names + name + 10:btf.index(b"\0", names + name)].decode()] = at + 8
        at += 12 + once + each * (info & 0xffff)
    return found


def without_mm(file):
    """What a kernel before 6.16 says: the end of a process has no more than the task, as the freeing of one."""
    with open(BTF, "rb") as f:
        btf = bytearray(f.read())
    at = tracepoints_in(btf)
    exits, frees = at["sched_process_exit"], at["sched_process_free"]
    btf[exits:exits + 4] = btf[frees:frees + 4]
    with open(file, "wb") as f:
        f.write(btf)


@test("exit:STATUS with exe= where the kernel tells of an end too late: refused, with what can be asked instead; others are not",
      own="it is refused while it begins")
def exit_exe_refused():
    older, name = path("older.btf"), new_name()
    without_mm(older)
    hidden = ["unshare", "-m", "sh", "-c", f"mount --bind {older} {BTF} && exec \"$@\"", "sh"]
    if subprocess.run([*hidden, "true"], stderr=subprocess.DEVNULL).returncode:
        raise Skip("nothing can be mounted over the kernel's types")
    with ended(name):
        got = run(*hidden, FLIGHTREC, "record", "-n", name, "-o", path(name), *MINIMAL, "--on", "exit:7:exe=/bin/*", "--", "true", status=6)
        check("before 6.16 a kernel does not say which program an ending process was: use comm= or cgroup=" in got.stderr, got.stderr)
        equal(got.stderr.count("exit:7:exe=/bin/*"), 1, f"lines that name the trigger: {got.stderr}")
        check(not exists(name), "a session is left")
    args = [FLIGHTREC, "record", "-n", shared(*MINIMAL), "--keep", "-o", f"{TMP}/shared", *MINIMAL]
    run(*hidden, *args, "--on", "exit:7:comm=nobody", "--", "true")


if __name__ == "__main__":
    main()
