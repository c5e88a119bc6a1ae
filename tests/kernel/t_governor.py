# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The overhead governor: a real load turns a group off, its end brings it back, and a generous budget never acts."""
import contextlib
import os
import signal
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from frtest import Failed, Skip, check, dump, equal, fr, main, new_name, path, recorder, replay, status, test, wait_for  # noqa: E402

WHAT = ("-p", "minimal", "-e", "syscall", "-m", "4M")


def settings(name, budget):
    file = path(f"{name}.conf")
    with open(file, "w") as f:
        f.write(f"[Governor]\nBudget={budget}\nInterval=1s\n[Control]\nSocket=no\n")
    return file


@contextlib.contextmanager
def load():
    """System calls, as fast as they go."""
    p = subprocess.Popen(["dd", "if=/dev/zero", "of=/dev/null", "bs=1"], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        p.kill()
        p.wait()


def governor(name):
    return status(name)["governor"]


def steps(name):
    return [(e["what"], e["action"]) for e in replay(dump(name)) if e["event"] == "governor"]


def calls(name):
    """System calls in the last moments."""
    return [e for e in replay(dump(name, "--last", "300ms")) if e["event"] == "sys_enter"]


def wait_on(name):
    """Until everything is recorded again: that takes room, which others on this machine may use."""
    try:
        wait_for(lambda: governor(name)["step"] == 0, "everything is recorded again", 90)
    except Failed:
        g = governor(name)
        if g["cost_percent"] > g["budget_percent"] / 3:
            raise Skip(f"the rest of this machine alone costs {g['cost_percent']} % of {g['budget_percent']} %") from None
        raise


@test("a load over budget turns its group off, its end brings it back; each step is an event")
def off_and_on():
    name = new_name()
    with recorder(name, *WHAT, "--config", settings(name, "2%")) as p:
        with load():
            wait_for(lambda: governor(name)["steps"], "it acts", 60)
            g = governor(name)
            check(g["step"] >= 1 and g["cost_percent"] > 0, f"status: {g}")
            equal(steps(name)[0], ("syscall", "off"), "first step")
            check(not calls(name), "system calls are still recorded")
        wait_on(name)
        check(("syscall", "on") in steps(name), f"steps {steps(name)}")
        wait_for(lambda: calls(name), "system calls are recorded again")
        p.send_signal(signal.SIGTERM)
        said = p.communicate()[1]
        check("governor: syscall off: recording costs" in said and "governor: syscall on: " in said, said)
        fr("stop", "-n", name)


@test("what a killed recorder held is recorded again by the next")
def killed():
    name = new_name()
    with recorder(name, *WHAT, "--config", settings(name, "2%")) as p:
        with load():
            wait_for(lambda: governor(name)["step"], "it acts", 60)
            p.kill()
            p.wait()
            check(governor(name)["step"], "status does not know that something is left out")
            args = [os.environ["FLIGHTREC"], "record", "-n", name, *WHAT, "-o", path(""), "--config", settings(name, "0%")]
            with subprocess.Popen(args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as q:
                try:
                    wait_for(lambda: governor(name)["step"] == 0, "the next one releases it")
                    wait_for(lambda: calls(name), "system calls are recorded again")
                finally:
                    q.send_signal(signal.SIGTERM)
                    q.communicate()
    return None


@test("a generous budget: nothing is ever left out")
def generous():
    name = new_name()
    with recorder(name, *WHAT, "--config", settings(name, "100%")), load():
        wait_for(lambda: governor(name)["cost_percent"] > 0, "it measures", 60)
        wait_for(lambda: status(name)["cpus"][0]["written"] > 100000, "the load is recorded")
        g = governor(name)
        equal((g["step"], g["steps"]), (0, 0), f"steps: {g}")
        check(calls(name), "no system calls")
        return f"{g['cost_percent']} %"


if __name__ == "__main__":
    main()
