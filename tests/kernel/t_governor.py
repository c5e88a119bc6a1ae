# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
The overhead governor over a real session: what it leaves out is not recorded, is said, and comes back, whatever happens to it and to its
helper. Budgets are far below or far above what recording costs; how costs, steps and rates follow from each other is in
tests/unit/test_govern.c and test_due.c, on a clock of theirs.
"""
import contextlib
import os
import signal
import subprocess
import time

from frtest import (GOVERNED, GOVERNED_HZ, MINIMAL, TMP, busy, check, dump, equal, fr, fr_json, helper, impatient, main, path, replay, run,
                    shared, status, test, wait_for, written)
from recorder import Recorder, kill, send_reload

NONE, LEAST, ALL = "0%", "0.001%", "100%"
HELD = {"sys_enter", "sys_exit", "sys_path", "sys_unread", "cpu_sample", "stack", "stack_build_ids"}


def settings(name, budget, interval="1s", on=""):
    file = path(f"{name}.conf")
    with open(file, "w") as f:
        f.write(f"[Governor]\nBudget={budget}\nInterval={interval}\n[Control]\nSocket=no\n[Trigger]\nOn={on}\n")
    return file


class Governed(Recorder):
    def __init__(self, budget, interval="1s", what=GOVERNED, under=()):
        self.begin_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        name, dir = shared(*what), f"{TMP}/shared"  # which stays the session's, with its journal
        super().__init__(name, dir, "-n", name, *what, "-o", dir, "--keep", "--config", settings(name, budget, interval), under=under)
        self.says("recording session")

    def says(self, words):
        """Wait until it has."""
        wait_for(lambda: words in self.said() or not self.alive(), lambda: f"'{words}': {self.said()}")
        check(words in self.said(), f"it ended, and did not say '{words}': {self.said()}")

    def change(self, budget, on=""):
        settings(self.name, budget, on=on)
        send_reload(self)

    def state(self):
        return status(self.name)["governor"]

    def held(self):
        return {e for e in self.state()["held"].split(",") if e}

    def steps(self):
        """Those of this test, as the history has them: of system calls, of samples."""
        found = [e for e in replay(dump(self.name), "-f", "event == governor") if e["ts"] >= self.begin_ns]
        return [[e["action"] for e in found if e["what"] == what] for what in ("syscall", "sample")]

    def calls(self):
        """How many system calls that begin from now on are recorded."""
        now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        run("true")
        return int(fr("replay", "--count", "--since", str(now), "-f", "event == sys_enter", dump(self.name, "--last", "1s")).stdout)

    def wait_whole(self):
        """Everything is recorded again."""
        wait_for(lambda: not self.state()["step"], lambda: f"everything is recorded again: {self.state()}")
        equal(self.held(), set(), "what is left out")
        check(self.calls(), "no system calls are recorded")
        equal([steps[-1:] for steps in self.steps()], [["on"], ["on"]], "the last steps")


@contextlib.contextmanager
def governed(*args, **kw):
    r = Governed(*args, **kw)
    try:
        yield r
    finally:
        if r.alive():
            r.end()
        kill(r)


@test("the least budget: each group goes off, samples by halves before, and nothing is recorded; none: all comes back; each step is an event")
def off_and_on():
    with governed(NONE) as r, busy():
        before = r.state()["steps"]
        equal((r.state()["budget_percent"], r.steps()), (0, [[], []]), "without a budget")
        r.change(LEAST)
        wait_for(lambda: r.held() == HELD, "all is left out")
        equal(r.steps(), [["off"], ["thin", "thin", "thin", "off"]], "steps of system calls, and of samples")
        s = status(r.name)
        equal((s["governor"]["budget_percent"], s["governor"]["step"], s["governor"]["steps"] - before), (0.001, 5, 5), f"{s['governor']}")
        check(s["governor"]["cost_percent"] > 0, f"{s['governor']}")
        held = s["governor"]["held"]
        check(f"not recorded now: {held}\n" in fr("status", "-n", r.name).stdout, "status does not say what is left out")
        equal(r.calls(), 0, "system calls that are recorded")
        file = dump(r.name)
        equal(fr_json("info", file)["events_held"], held, "events that a snapshot tells of")
        check(f"governor had turned off when it was taken: {held}\n" in fr("info", file).stdout, "info does not say what it lacks")
        equal(status(r.name)["samples"]["expected"], s["samples"]["expected"], "samples expected while they are off")
        equal(status(r.name)["cpu_profile"]["hz"], 0, "their rate")
        r.change(NONE)
        r.wait_whole()
        equal(status(r.name)["cpu_profile"]["hz"], GOVERNED_HZ, "their rate")
        check("events_held" not in fr_json("info", dump(r.name)), "nothing is turned off any more")
        for words in ("governor: syscall off: recording costs", "governor: sample thin: ", "governor: syscall on: "):
            check(words in r.said(), r.said())
        # it gave its privileges up, and samples were thinned
        check("cannot change the rate" not in r.said(), r.said())


@test("what a killed recorder held is recorded again by the next")
def killed():
    with governed(LEAST) as r, busy():
        wait_for(lambda: "sys_enter" in r.held(), "it acts")
        kill(r)
        check("sys_enter" in r.held() and r.state()["step"], f"status does not know that something is left out: {r.state()}")
        with governed(NONE) as next_one:
            wait_for(lambda: not next_one.state()["step"], "it is released")
            equal((next_one.held(), next_one.steps()[0][-1:]), (set(), ["on"]), "what is left out, and the last step")
            check(next_one.calls(), "no system calls are recorded")


@test("the helper opens sampling timers and switches statistics on, within its system calls")
def admin():
    p = subprocess.run([helper("admin")], capture_output=True, text=True, timeout=120, check=False)
    equal(p.returncode, 0, f"exit status: {p.stdout}{p.stderr}")


@test("a budget of everything: nothing is ever left out; what triggers cost is part of the sum, shown apart, also after a reload")
def triggers():
    with governed(ALL) as r, busy():
        wait_for(lambda: r.state()["cost_percent"] > 0, "it measures")
        equal(r.state()["trigger_cost_percent"], 0, "cost of no triggers")
        r.change(ALL, on="latency:syscall>1h")
        g = wait_for(lambda: r.state()["trigger_cost_percent"] > 0 and r.state(), "the new programs are measured")
        check(g["cost_percent"] >= g["trigger_cost_percent"], f"parts of a whole: {g}")
        check("of it triggers" in fr("status", "-n", r.name).stdout, "status does not say so")
        r.change(ALL)
        wait_for(lambda: r.state()["trigger_cost_percent"] == 0, "they are gone again")
        equal((r.state()["step"], r.steps()), (0, [[], []]), "steps")
        check(r.calls(), "no system calls")


def runs(name):
    """{(kind, program): how often it ran}, of those whose cost is summed up."""
    rows = [line.split() for line in run(helper("progs"), name).stdout.splitlines()]
    return {(kind, prog): int(cnt) for kind, prog, cnt in rows}


@test("of the incident log's programs, which are part of the sum, one runs for each signal")
def incidents():
    code = "import os, signal; signal.signal(10, lambda *a: None); [os.kill(os.getpid(), 10) for _ in range(1000)]"
    name = shared(*MINIMAL)
    with subprocess.Popen([helper("stats")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as stats:
        equal(stats.stdout.readline(), "on\n", "BPF statistics")
        before = runs(name)
        run("/usr/bin/python3", "-S", "-c", code)
        now = runs(name)
        stats.stdin.close()
    ran = {prog: now[prog] - before[prog] for prog in now if prog[0] == "incident"}
    check(max(ran.values(), default=0) >= 1000, f"runs for 1000 signals: {ran}")
    check({kind for kind, _ in now} >= {"event", "incident"}, f"{now}")


@test("a budget that a reload brings, and cannot be measured: it says why, and recording goes on")
def no_helper():
    # one that has no use for the helper; one whose helper has not the capability, and ended
    for under, what, why in (((), MINIMAL, "Operation not permitted"),
                             (("setpriv", "--bounding-set", "-sys_admin"), GOVERNED, "the helper process has ended")):
        with governed(NONE, what=what, under=under) as r:
            r.change("2%")
            r.says(f"no overhead governor: BPF run-time statistics are unavailable: {why}")
            begin = written(r.name)
            wait_for(lambda: written(r.name) > begin, "it records")
            check(r.alive(), "the recorder has ended")


def find_helper(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as f:
        for child in f.read().split():
            with contextlib.suppress(OSError), open(f"/proc/{child}/comm") as comm:
                if comm.read() == "flightrec-admin\n":
                    return int(child)
    return None


def helper_of(r):
    """It gives itself its name when it first runs, which may be after the recorder says that it records."""
    return wait_for(lambda: find_helper(r.p.pid), "the helper is there")


@test("a governor whose helper is killed, or stopped, while something is left out: it does not wait, says so, and records everything")
def helper_lost():
    for sig, why in ((signal.SIGKILL, "the helper process has ended"), (signal.SIGSTOP, "the helper process did not answer, and was ended")):
        with impatient(20), governed(LEAST) as r, busy():
            wait_for(lambda: "sys_enter" in r.held(), "it acts")
            lost = helper_of(r)
            os.kill(lost, sig)
            r.says(f"cannot measure any more: {why}: everything is recorded")
            check(find_helper(r.p.pid) != lost, "the helper is still there")
            equal((r.state()["budget_percent"], r.state()["step"], r.held()), (0, 0, set()), "status")
            check(r.calls(), "no system calls are recorded")
            check(r.alive(), "the recorder has ended")


@test("a helper that nobody asks: killed it is no zombie until the recorder ends; stopped it does not keep the recorder from ending")
def helper_unasked():
    with governed(ALL, "1h") as r:
        lost = helper_of(r)
        os.kill(lost, signal.SIGKILL)
        wait_for(lambda: not os.path.exists(f"/proc/{lost}"), "it is reaped")
        check(r.alive(), "the recorder has ended")
    with impatient(20), governed(ALL, "1h") as r:
        os.kill(helper_of(r), signal.SIGSTOP)
        equal(r.end(), 0, "exit status")


if __name__ == "__main__":
    main()
