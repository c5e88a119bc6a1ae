# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""`flightrec report` of real histories: all its figures made again by an independent program, tests/report/check.py."""
import concurrent.futures
import glob
import json
import os
import subprocess
import sys

from frtest import FLIGHTREC, FULL, ROOT, check, dump, equal, fr, helper, main, path, program, shared, test, wait_for
from recorder import attached, recording

CHECK = os.path.join(ROOT, "tests", "report", "check.py")


def figures(file, *options):
    p = subprocess.run([sys.executable, CHECK, file, *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                       env={**os.environ, "FLIGHTREC": FLIGHTREC})
    check(p.returncode == 0, f"{' '.join(options)}: {p.stdout[-2000:]}")
    return p.stdout.strip().splitlines()[-1]


@test("a crash: what triggered it, the last events, calls and stack of its task, on the page and as figures")
def crash():
    comm = f"frt-crash-{os.getpid() % 1000}"
    with attached(FULL, f"crash:comm={comm},last=500ms") as r:
        p = subprocess.Popen([program(comm)])
        p.wait()
        file = r.wait_files(1)[0]
    rep = json.loads(fr("report", "--json", file).stdout)
    trigger, focus = rep["trigger"], rep["focus"]
    equal((trigger["reason"], trigger["pid"], trigger["sig_name"]), ("crash", p.pid, "SIGSEGV"), "trigger")
    equal((focus["tid"], focus["comm"], focus["stack"]["from"]), (p.pid, comm, "crash"), "its task")
    regs = {r["name"]: r["value"] for r in focus["stack"]["registers"]}
    event = next(json.loads(l) for l in fr("replay", "--json", "--no-symbols", "-f", f"event == crash && pid == {p.pid}", file).stdout.splitlines())
    equal(list(regs.values()), event["regs"], "registers")
    if os.uname().machine == "x86_64":  # crasher.c
        names = {"rax": 0, "rbx": 1, "rcx": 2, "rdx": 3, "rsi": 4, "rdi": 5, **{f"r{n}": int(str(n), 16) for n in range(8, 16)}}
        equal({n: regs[n] for n in names}, {n: 0x5a00 + v for n, v in names.items()}, "registers of the crash")
        equal((regs["rip"], regs["rsp"], regs["orig_rax"]), (event["ip"], event["sp"], 2**64 - 1), "where it was, in no call")
        check(f"r15      0x{0x5a15:016x}" in fr("report", file).stdout, "registers on the page")
    check(any(e["event"] == "signal_deliver" for e in focus["events"]), f"its last events: {focus['events']}")
    check(any(c["name"] == "prlimit64" and c["ret"] == 0 for c in focus["syscalls"]), f"its calls: {focus['syscalls']}")
    page = fr("report", file).stdout
    for word in ("crash: SIGSEGV", "Its last events", "Its system calls", "Its states", "Its stack", "What each CPU ran"):
        check(word in page, f"the page lacks: {word}")
    own = [f"{t['comm']}/{t['tid']} " for t in rep["still_waiting"]["tasks"] if t["own"]]
    still = fr("report", "--top", "0", file).stdout.split("\nStill waiting")[1].split("\n\n")[0]
    equal([name for name in own if name in still], [], "recorder's tasks on the page")
    return figures(file, "--window", "trigger-50ms..trigger+50ms")


@test("the address of a fault, NULL too, is on the pages, and none of a signal that has none")
def addresses():
    comm = f"frt-addr-{os.getpid() % 1000}"
    os.symlink(sys.executable, path(comm))
    files = {}
    with recording(f"crash:comm={comm},cooldown=0s") as r:
        for way in ("ctypes.string_at(0)", "os.abort()", "os.kill(os.getpid(), 11)"):
            p = subprocess.Popen([path(comm), "-c", f"import ctypes, os; {way}"], stderr=subprocess.DEVNULL)
            p.wait()
            files[way] = wait_for(lambda: glob.glob(f"{r.dir}/*-{p.pid}.flight"), "the snapshot")[0]
    for way, file in files.items():
        for page in (fr("report", file).stdout, fr("info", file).stdout):
            check((", address 0x0," in page) == ("string_at" in way), f"{way}: {page[:1000]}")


# A thread ends the process while seven others sleep, so that one of those is the last.
EXITS = """
import os, threading, time
for _ in range(7):
    threading.Thread(target=time.sleep, args=(60,)).start()
def end():
    time.sleep(0.2)
    print(threading.get_native_id(), flush=True)
    os._exit(7)
threading.Thread(target=end).start()
"""


@test("a process that exits: the report is about the thread that made it exit")
def exits():
    comm = f"frt-exit-{os.getpid() % 1000}"
    program = path(comm)
    os.symlink(sys.executable, program)
    with attached(FULL, f"exit:7:comm={comm},last=500ms") as r:
        p = subprocess.run([program, "-c", EXITS], stdout=subprocess.PIPE, text=True)
        file = r.wait_files(1)[0]
    rep = json.loads(fr("report", "--json", file).stdout)
    equal((p.returncode, rep["trigger"]["reason"], rep["trigger"]["status"]), (7, "exit", 7), "trigger")
    equal(rep["focus"]["tid"], int(p.stdout), "the thread that exits")
    equal(rep["focus"]["syscalls"][-1]["name"], "exit_group", "its last call")
    return figures(file, "--window", "trigger-50ms..trigger+50ms")


# Last, since it leaves the rings full, and whoever makes all figures of a snapshot again takes seconds for that.
@test("all figures of busy moments, of windows, with a filter")
def busy():
    name = shared(*FULL)
    load = subprocess.Popen([os.path.join(ROOT, "tests", "bench", "mixed.sh"), "1"], stdin=subprocess.DEVNULL)
    pings = subprocess.Popen([helper("pingpong"), "5000"], stdout=subprocess.DEVNULL)
    pings.wait()
    file = dump(name, "--last", "50ms")
    load.wait()
    asked = [("--since", "50%"), ("--since", "90%", "-f", 'event == sched_switch || ret < 0 || comm ~ "s*"'), ("--window", "60%..65%")]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        return list(pool.map(lambda options: figures(file, *options), asked))[0]


if __name__ == "__main__":
    main()
