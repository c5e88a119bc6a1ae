# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Deaths through a real recorder: of the matrix each that dumps core leaves one snapshot, that says what it was; no other does."""
import concurrent.futures
import os
import signal
import subprocess

from frtest import Skip, check, equal, fr, fr_json, main, path, program, replay, run, test, wait_for
from matrix import CORE_SIGNALS, PROGRAMS, said
from recorder import TAG, Recorder, expendable, recording

RULE = f"crash:exe={path('frd-*')},cooldown=0s"


def copies():
    """{program: file}, and all ways: (program, way, signal)."""
    files, ways = {}, []
    for of in PROGRAMS:
        files[of] = program("frd-" + of, of)
        ways += [(of, *line.split()) for line in run(files[of], "--list").stdout.splitlines()]
    return files, [(of, way, int(sig)) for of, way, sig in ways]


def check_snapshot(file, death):
    """What the file says is what the dying process said."""
    fr("verify", file)
    t = fr_json("info", file)["trigger"]
    equal((t["reason"], t["pid"], t["sig"]), ("crash", death.pid, death.sig), f"{death.what}: trigger")
    check(death.tid in (0, t["tid"]), f"{death.what}: {t}")
    events = replay(file, "-f", f"pid == {death.pid}")
    crashes = [e for e in events if e["event"] == "crash"]
    equal(len(crashes), 1, f"{death.what}: events crash")
    e = crashes[0]
    equal((e["tid"], e["sig"], e["ts"], f"{e['ip']:#x}"), (t["tid"], death.sig, t["ts"], t["ip"]), f"{death.what}: its event")
    check(e["ustack"] and e["ustack"][0] == e["ip"] and e["kstack"], f"{death.what}: its stacks: {e}")
    delivered = [d for d in events if d["event"] == "signal_deliver" and d["tid"] == e["tid"] and d["fatal"]]
    check(delivered and delivered[-1]["sig"] in (death.sig, 9), f"{death.what}: its delivery: {delivered}")


def die_all(r, files, ways):
    """Each way to die, its snapshots there before the next. Returns the deaths that have one."""
    deaths = []
    # those that leave none first: the snapshots that follow come behind them in the queue
    for of, way, sig in sorted(ways, key=lambda w: w[2] in CORE_SIGNALS and w[1] not in ("exec_then_null", "memfd")):
        if way in ("exec_then_null", "memfd"):  # by another name, which the rule is not for
            continue
        p = run(files[of], way, status=None, cwd=path("."), timeout=120)
        found = said(of, way, sig, p.returncode, p.stdout)
        if sig not in CORE_SIGNALS:
            continue
        deaths += found
        got = wait_for(lambda: r.files() if len(r.files()) >= len(deaths) else None, lambda: f"a snapshot of {way}: {r.said()}")
        equal(len(got), len(deaths), f"snapshots after {way}")
    return deaths


@test("recorded: each death that dumps core leaves one snapshot with its truth; nothing else leaves one")
def recorded():
    files, ways = copies()
    with recording(RULE) as r:
        deaths = die_all(r, files, ways)
        of = {d: [f for f in r.files() if f.endswith(f"-{d.pid}.flight")] for d in deaths}
    for d, mine in of.items():
        equal(len(mine), 1, f"{d.what}: snapshots")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda d: check_snapshot(of[d][0], d), deaths))
    check(len(deaths) >= 23, f"only {len(deaths)} deaths")
    return f"{len(deaths)} snapshots of {len(ways) - 2} ways"


THREADS = r"""
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static void *waits(void *arg) { pause(); return arg; }
static void *dies(void *arg) { *(volatile int *)0x8 = 1; return arg; }
int main(int argc, char **argv)
{
	int cnt = atoi(argv[1]);
	pthread_attr_t attr;
	pthread_t t;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 16384);
	while (cnt-- && !pthread_create(&t, &attr, waits, 0))
		;
	if (pthread_create(&t, 0, dies, 0))
		return 77 + argc;
	pause();
}
"""


@test("a thread that crashes with 20,000 others: the snapshot has it by its name, whatever died behind it",
      own="20,000 deaths push out what others have recorded: of a session that others have left")
def crowd():
    file = path(f"crowd{TAG}")
    with open(f"{file}.c", "w") as f:
        f.write(THREADS)
    run("gcc", "-O1", "-pthread", "-o", file, f"{file}.c")
    with expendable(f"crash:comm=crowd{TAG},cooldown=0s", leave=True) as (name, dir, conf):
        r = Recorder(name, dir, "--config", conf).armed()
        p = subprocess.Popen([file, "20000"])
        if p.wait() != -signal.SIGSEGV:
            raise Skip(f"no 20,000 threads here: {p.returncode}")
        snapshot = r.wait_files(1)[0]
        r.end()
    about = fr_json("info", snapshot)["trigger"]
    mine = [e["comm"] for e in replay(snapshot, "-f", f"tid == {about['tid']}")]
    check(mine, "it has no event")
    equal(set(mine), {f"crowd{TAG}"}, f"its name in {len(mine)} events")
    equal({e["pid"] for e in replay(snapshot, "-f", f"tid == {about['tid']}")}, {p.pid}, "its process")
    equal([t["comm"] for t in fr_json("report", snapshot)["tasks"] if t["tid"] == about["tid"]], [f"crowd{TAG}"], "in the report")


if __name__ == "__main__":
    main()
