# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Every way to die of a signal pulls the crash trigger exactly once, with the truth about it; no way to survive does. Rules are
loaded by alerts.c, so that this is about BPF alone.
"""
import os
import signal

from frtest import CALLS, TMP, dump, equal, helper, main, path, program, replay, run, shared, test
from matrix import PROGRAMS, RULES, Matrix, alerts, said

seen = {}




def go_way(of, way, sig):
    """The deaths that come of it."""
    p = run(path("frtd-" + of), way, status=None, cwd=TMP, timeout=120)
    return said(of, way, int(sig), p.returncode, p.stdout)


def go(of):
    """Go all ways of a program, one after the other; gives the deaths."""
    file = program("frtd-" + of, of)
    return sum((go_way(of, *line.split()) for line in run(file, "--list").stdout.splitlines()), [])


def go_all():
    name = shared(*CALLS)
    with alerts(name, *RULES) as a:
        deaths = sum((go(of) for of in PROGRAMS), [])
        # once more at the end, of which all is in the rings, however long a busy machine took for the others
        seen["last"] = go_way("deaths", "null", signal.SIGSEGV)[0]
        deaths.append(seen["last"])
        file = dump(name)
        seen["matrix"] = Matrix(deaths, *a.finish(), os.path.dirname(path("frtd-deaths")), "frtd-")
    seen["events"] = replay(file, "-f", " || ".join(f"pid == {d.pid}" for d in deaths))


def matrix():
    """All ways gone, once in a run: whichever of the tests is the first."""
    if not seen:
        go_all()
    return seen["matrix"]


@test("deaths: all ways are gone")
def all_ways():
    return f"{len(matrix().deaths)} to die, {len(run(helper('survivals'), '--list').stdout.splitlines())} to survive"


@test("deaths: each is told once, by the rules that it is for")
def once():
    return matrix().check_once()


@test("deaths: nothing else is told: of a process that survived, of a thread that was killed")
def nothing_else():
    matrix().check_nothing_else()


@test("deaths: each alert has the truth: thread, name, program, user, instruction")
def truth():
    matrix().check_truth()


@test("deaths: codes and addresses are the kernel's")
def codes():
    matrix().check_codes()


@test("deaths: the user stack begins where the process died; callers follow")
def stacks():
    matrix().check_stacks()


@test("deaths: the snapshot has event crash once for each, equal to the alert, with its stacks")
def in_snapshot():
    matrix().check_events(seen["events"])


@test("deaths: the last events of the dying thread are its death")
def last_events():
    matrix().check_ends(seen["events"])
    pid = seen["last"].pid
    own = [e for e in seen["events"] if e["tid"] == pid]
    fault = next(i for i, e in enumerate(own) if e["event"] == "page_fault_user" and e["address"] == 0x10)
    names = [e["event"] for e in own[fault:] if e["event"] in ("signal_generate", "signal_deliver", "crash", "sched_process_exit")]
    equal(sorted(names[:3]) + names[3:4], ["crash", "signal_deliver", "signal_generate", "sched_process_exit"], "null: the end")


if __name__ == "__main__":
    main()
