# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The overhead governor: a real load turns a group off, its end brings it back, and a generous budget never acts."""
import contextlib
import os
import select
import signal
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from frtest import (FLIGHTREC, Failed, Skip, busy, check, dump, ended, equal, fr, fr_json, helper, main, new_name, path, recorder, replay, status, test, wait_for,  # noqa: E402
                    written)

HELD = "sys_enter,sys_exit"
WHAT = ("-p", "minimal", "-e", "syscall", "-m", "4M")


def settings(name, budget, interval="1s"):
    file = path(f"{name}.conf")
    with open(file, "w") as f:
        f.write(f"[Governor]\nBudget={budget}\nInterval={interval}\n[Control]\nSocket=no\n")
    return file


def governor(name):
    return status(name)["governor"]


def steps(name):
    return [(e["what"], e["action"]) for e in replay(dump(name), "--life") if e["event"] == "governor"]


def calls(name):
    """System calls in the last moments."""
    return [e for e in replay(dump(name, "--last", "300ms")) if e["event"] == "sys_enter"]


def wait_on(name):
    """Until everything is recorded again: that takes room, which others on this machine may use."""
    try:
        wait_for(lambda: governor(name)["step"] == 0 and calls(name), "everything is recorded again", 90)
    except Failed:
        g = governor(name)
        if g["cost_percent"] > g["budget_percent"] / 3:
            raise Skip(f"the rest of this machine alone costs {g['cost_percent']} % of {g['budget_percent']} %") from None
        raise


@test("a load over budget turns its group off, its end brings it back; each step is an event")
def off_and_on():
    name = new_name()
    with recorder(name, *WHAT, "--config", settings(name, "2%")) as p:
        with busy():
            wait_for(lambda: governor(name)["steps"], "it acts", 60)
            g = governor(name)
            check(g["step"] >= 1 and g["cost_percent"] > 0, f"status: {g}")
            equal(steps(name)[0], ("syscall", "off"), "first step")
            wait_for(lambda: not calls(name), "system calls are recorded no more")
            equal(governor(name)["held"], HELD, "events that status tells of")
            check(f"not recorded now: {HELD}\n" in fr("status", "-n", name).stdout, "status does not say what is left out")
            file = dump(name)
            equal(fr_json("info", file)["events_held"], HELD, "events that a snapshot tells of")
            check(f"governor had turned off when it was taken: {HELD}\n" in fr("info", file).stdout, "info does not say what it lacks")
        wait_on(name)
        check(("syscall", "on") in steps(name), f"steps {steps(name)}")
        check("events_held" not in fr_json("info", dump(name)), "nothing is turned off any more")
        p.send_signal(signal.SIGTERM)
        said = p.communicate()[1]
        check("governor: syscall off: recording costs" in said and "governor: syscall on: " in said, said)
        fr("stop", "-n", name)


@test("what a killed recorder held is recorded again by the next")
def killed():
    name = new_name()
    with recorder(name, *WHAT, "--config", settings(name, "2%")) as p:
        with busy():
            wait_for(lambda: governor(name)["step"], "it acts", 60)
            p.kill()
            p.wait()
            check(governor(name)["step"], "status does not know that something is left out")
            args = [os.environ["FLIGHTREC"], "record", "-n", name, *WHAT, "-o", path(""), "--config", settings(name, "0%")]
            with subprocess.Popen(args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as q:
                try:
                    wait_for(lambda: governor(name)["step"] == 0, "the next one releases it", 60)
                    wait_for(lambda: calls(name), "system calls are recorded again")
                    equal((steps(name)[-1], governor(name)["held"]), (("syscall", "on"), ""), "what the history and status say of it")
                finally:
                    q.send_signal(signal.SIGTERM)
                    q.communicate()
    return None


@test("the helper opens sampling timers and switches statistics on, within its system calls")
def admin():
    p = subprocess.run([helper("admin")], capture_output=True, text=True, timeout=60, check=False)
    equal(p.returncode, 0, f"exit status: {p.stdout}{p.stderr}")


def gap(events, begin, end):
    """The median time between two samples of a CPU."""
    last, gaps = {}, []
    for e in events:
        if e["event"] == "cpu_sample" and begin < e["ts"] < end:
            if e["cpu"] in last:
                gaps.append(e["ts"] - last[e["cpu"]])
            last[e["cpu"]] = e["ts"]
    check(len(gaps) > 100, f"{len(gaps)} samples")
    return statistics.median(gaps)


@test("samples are thinned, half by half, then off, by a recorder that gave its privileges up; no more are expected than due")
def thinned():
    name = new_name()
    with recorder(name, "-p", "minimal", "-e", "-sched", "-e", "sample", "--hz", "4000", "-m", "8M", "--config",
                  settings(name, "0.01%")) as p:
        wait_for(lambda: governor(name)["action"] == "off" or p.poll() is not None, "samples are off", 90)
        before, events = status(name)["samples"]["expected"], replay(dump(name))
        equal(steps(name)[:4], [("sample", "thin")] * 3 + [("sample", "off")], "steps")
        at = [e["ts"] for e in events if e["event"] == "governor"]
        full, half = gap(events, 0, at[0]), gap(events, at[0], at[1])
        check(1.5 * full < half < 2.5 * full, f"{full} ns between two samples, then {half}")
        equal(status(name)["samples"]["expected"], before, "samples expected while they are off")
        p.send_signal(signal.SIGTERM)
        said = p.communicate()[1]
        check("cannot change the rate" not in said, said)
        fr("stop", "-n", name)
        return f"{full:.0f} ns between two samples, then {half:.0f}"


def rules(name, text):
    with open(settings(name, "50%"), "a") as f:
        f.write(text)


@test("what triggers cost is part of the sum, shown apart, also of those that a reload loads")
def triggers():
    name = new_name()
    with recorder(name, "-p", "minimal", "-e", "-sched", "-m", "1M", "--config", settings(name, "50%")) as p, busy():
        wait_for(lambda: governor(name)["cost_percent"] > 0, "it measures", 60)
        equal(governor(name)["trigger_cost_percent"], 0, "cost of no triggers")
        rules(name, "[Trigger]\nOn=latency:syscall>1h\n")
        p.send_signal(signal.SIGHUP)
        g = wait_for(lambda: governor(name)["trigger_cost_percent"] > 0 and governor(name), "the new programs are measured", 60)
        check(g["cost_percent"] >= g["trigger_cost_percent"], f"parts of a whole: {g}")
        check("of it triggers" in fr("status", "-n", name).stdout, "status does not say so")
        settings(name, "50%")
        p.send_signal(signal.SIGHUP)
        wait_for(lambda: governor(name)["trigger_cost_percent"] == 0, "they are gone again", 60)
        return f"{g['trigger_cost_percent']} %"


@contextlib.contextmanager
def signals():
    """Handled signals on all CPUs, as fast as they go."""
    procs = [subprocess.Popen(["nice", "-n", "-10", helper("signals")], stdin=subprocess.DEVNULL) for _ in range(os.cpu_count())]
    try:
        yield
    finally:
        for p in procs:
            p.kill()
            p.wait()


def costs(name, seconds=5):
    """What it measured, one second after the other."""
    got = []
    for _ in range(seconds):
        time.sleep(1)
        got.append(governor(name)["cost_percent"])
    return got


@test("what the incident log costs is part of the sum: it looks at each signal")
def incidents():
    name = new_name()
    # of events only births and ends of tasks have programs; the log's are there in each session
    with recorder(name, "-p", "minimal", "-e", "-sched", "-e", "-task", "-e", "-signal", "-e", "mark", "-m", "1M", "--config",
                  settings(name, "50%")):
        wait_for(lambda: governor(name)["cost_percent"] > 0, "it measures", 60)
        before = max(costs(name))
        with signals():
            # each time: what others on this machine do comes and goes
            now = wait_for(lambda: min(costs(name)) > before + 0.03 and min(costs(name)), f"more than {before} % with signals", 90)
        equal(governor(name)["trigger_cost_percent"], 0, "cost of no triggers")
        return f"at most {before} %, then at least {now} %"


@test("a budget that a reload brings is kept to, and one that it takes away no more")
def by_reload():
    name = new_name()
    with recorder(name, *WHAT, "-e", "sample", "--hz", "10", "--config", settings(name, "0%")) as p:
        with busy():
            wait_for(lambda: written(name) > 100000, "the load is recorded", 120)
            g = governor(name)
            equal((g["budget_percent"], g["steps"]), (0, 0), f"without a budget: {g}")
            settings(name, "2%")
            p.send_signal(signal.SIGHUP)
            g = wait_for(lambda: governor(name)["steps"] and governor(name), "it acts", 60)
            equal((g["budget_percent"], steps(name)[0]), (2, ("syscall", "off")), "budget and first step")
            settings(name, "0%")
            p.send_signal(signal.SIGHUP)
            wait_for(lambda: governor(name)["step"] == 0 and calls(name), "system calls are recorded again, under the load", 60)
            equal(steps(name)[-1], ("syscall", "on"), "what the history says of it")
        p.send_signal(signal.SIGTERM)
        said = p.communicate()[1]
        check("no overhead governor" not in said and "any more" not in said, said)


def says(p, words):
    """Wait until a process has written these words to its standard error."""
    said = b""

    def there():
        nonlocal said
        if select.select([p.stderr], [], [], 0.1)[0]:
            said += os.read(p.stderr.fileno(), 65536)
        return words.encode() in said
    wait_for(there, f"'{words}' is said", 60)


@test("a budget that a reload brings, and cannot be measured: it says why, and recording goes on")
def no_helper():
    # one that began without a use for the helper; one whose helper has not the capability, and ended
    for prefix, more, why in (((), (), "Operation not permitted"),
                              (("setpriv", "--bounding-set", "-sys_admin"), ("-e", "sample", "--hz", "10"), "the helper process has ended")):
        name = new_name()
        args = [*prefix, FLIGHTREC, "record", "-n", name, "-o", path(""), *WHAT, *more, "--config", settings(name, "0%")]
        with ended(name), subprocess.Popen(args, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as p:
            try:
                says(p, "recording")
                settings(name, "2%")
                p.send_signal(signal.SIGHUP)
                says(p, f"no overhead governor: BPF run-time statistics are unavailable: {why}")
                begin = written(name)
                wait_for(lambda: written(name) > begin, "it records")
                equal(p.poll(), None, "the recorder")
            finally:
                p.kill()


def find_helper(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as f:
        for child in f.read().split():
            with contextlib.suppress(OSError), open(f"/proc/{child}/comm") as comm:
                if comm.read() == "flightrec-admin\n":
                    return int(child)
    return None


def helper_of(pid):
    """It gives itself its name when it first runs, which may be after the recorder says that it records."""
    return wait_for(lambda: find_helper(pid), "the helper is there")


@test("a governor whose helper is killed while something is left out: everything is recorded again, and it says so")
def helper_killed():
    name = new_name()
    with recorder(name, *WHAT, "--config", settings(name, "2%")) as p, busy():
        wait_for(lambda: governor(name)["held"] == HELD, "it acts", 60)
        os.kill(helper_of(p.pid), signal.SIGKILL)
        says(p, "cannot measure any more: the helper process has ended: everything is recorded")
        wait_for(lambda: calls(name), "system calls are recorded again", 60)
        g = governor(name)
        equal((steps(name)[-1], g["budget_percent"], g["step"], g["held"]), (("syscall", "on"), 0, 0, ""), "history and status")
        equal(p.poll(), None, "the recorder")


@test("a helper that is killed while nobody asks it is no zombie until the recorder ends")
def helper_reaped():
    name = new_name()
    with recorder(name, *WHAT, "--config", settings(name, "100%", "1h")) as p:
        says(p, "recording")
        helper = helper_of(p.pid)
        os.kill(helper, signal.SIGKILL)
        wait_for(lambda: not os.path.exists(f"/proc/{helper}"), "it is reaped")
        equal(p.poll(), None, "the recorder")


@test("a helper that is stopped: the recorder does not wait for it, says so, records everything, and ends when told to")
def helper_stopped():
    name = new_name()
    with recorder(name, *WHAT, "--config", settings(name, "2%")) as p, busy():
        wait_for(lambda: governor(name)["held"] == HELD, "it acts", 60)
        helper = helper_of(p.pid)
        os.kill(helper, signal.SIGSTOP)
        says(p, "cannot measure any more: the helper process did not answer, and was ended: everything is recorded")
        check(not os.path.exists(f"/proc/{helper}"), "the helper is still there")
        wait_for(lambda: calls(name), "system calls are recorded again", 60)
        g = governor(name)
        equal((g["budget_percent"], g["held"]), (0, ""), "status")
    # one that is stopped and never asked again
    name = new_name()
    with recorder(name, *WHAT, "--config", settings(name, "100%", "1h")) as p:
        os.kill(helper_of(p.pid), signal.SIGSTOP)
        says(p, "recording")
        p.terminate()
        equal(p.wait(20), 0, "exit status")


@test("a generous budget: nothing is ever left out")
def generous():
    name = new_name()
    with recorder(name, *WHAT, "--config", settings(name, "100%")), busy():
        wait_for(lambda: governor(name)["cost_percent"] > 0, "it measures", 60)
        wait_for(lambda: written(name) > 100000, "the load is recorded", 120)
        g = governor(name)
        equal((g["step"], g["steps"]), (0, 0), f"steps: {g}")
        check(calls(name), "no system calls")
        return f"{g['cost_percent']} %"


if __name__ == "__main__":
    main()
