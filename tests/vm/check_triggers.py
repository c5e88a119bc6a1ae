# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What triggers told in a guest: the matrix of deaths, an exit status, an OOM kill. Argument: the directory it was unpacked to."""
import os
import sys

GOT = sys.argv.pop(1)
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "kernel"))
from frtest import check, equal, main, replay, test  # noqa: E402
from matrix import Matrix, parse_alerts, said  # noqa: E402

SIGKILL = 9
seen = {}


def text(name):
    with open(os.path.join(GOT, name)) as f:
        return f.read().strip()


RELEASE = tuple(int(n) for n in text("release").split(".")[:2])


def ways():
    """The deaths that the guest's programs announced."""
    deaths, words, lines = [], None, []
    for line in text("die.out").splitlines():
        if line.startswith("way "):
            words, lines = line.split(), []
        elif line.startswith("status "):
            deaths += said(words[1], words[2], int(words[3]), int(line.split()[1]), "\n".join(lines))
        else:
            lines.append(line)
    return deaths


def everything():
    """All alerts, those of the guest's own victim of the OOM killer included, and the counters."""
    if "alerts" not in seen:
        seen["alerts"] = parse_alerts(text("alerts.out"))
    return seen["alerts"]


def matrix():
    if "matrix" not in seen:
        told, counters = everything()
        seen["matrix"] = Matrix(ways(), [a for a in told if a["exe"] != "/bin/guest"], counters, "/bin", "")
    return seen["matrix"]


def events():
    if "events" not in seen:
        seen["events"] = replay(os.path.join(GOT, "triggers.flight"))
    return seen["events"]


@test("triggers: every kind loads")
def loads():
    equal(text("watch.out"), "ready", f"loaded: {text('alerts.err')}")
    got = dict(line.split() for line in text("statuses").splitlines())
    equal({name: got[name] for name in ("watch", "watched", "triggers")}, {"watch": "0", "watched": "0", "triggers": "0"}, "statuses")
    return text("release")


@test("deaths: each is told once, nothing else is, all with the truth")
def deaths():
    matrix().check_nothing_else()
    matrix().check_truth()
    matrix().check_codes()
    return matrix().check_once()


@test("deaths: stacks and events")
def stacks():
    matrix().check_stacks()
    matrix().check_events(events())


def of_kind(kind):
    return [a for a in everything()[0] if a["kind"] == kind]


@test("exit: one process with this status")
def status():
    got = of_kind("status")
    equal([(a["exit_code"], a["sig"]) for a in got], [(3 << 8, 0)], "alerts")
    if RELEASE >= (6, 16):
        equal(got[0]["exe"], "/bin/busybox", "program")


@test("oom: the victim's name, program, cgroup; its death is a kill")
def oom():
    got = of_kind("oom")
    pid = int(text("eat2.out"))
    equal([(a["pid"], a["tid"], a["comm"], a["exe"], a["sig"]) for a in got], [(pid, pid, "guest", "/bin/guest", SIGKILL)], "alerts")
    check(got[0]["cgroup"] > 1 and got[0]["start_ns"], f"cgroup: {got[0]}")
    equal([(a["sig"], a["rule_set"]) for a in everything()[0] if a["pid"] == pid and a["kind"] == "crash"], [(SIGKILL, 2)], "its death")


@test("what has a limit that nothing reaches, or did not happen, is not told")
def not_told():
    equal({a["kind"] for a in everything()[0]} - {"crash", "status", "oom"}, set(), "kinds")
    for rule in matrix().counters["rules"][4:]:
        equal((rule["matched"], rule["full"]), (0, 0), rule["text"])


if __name__ == "__main__":
    main()
