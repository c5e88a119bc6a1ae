# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What a guest of many CPUs brought home (tests/vm/many), looked at from outside. Argument: the directory it was unpacked to."""
import json
import os
import re
import sys

GOT = sys.argv.pop(1)
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "kernel"))
from frtest import check, equal, fr, fr_json, main, replay, test  # noqa: E402

SIGSEGV = 11


def text(name):
    with open(os.path.join(GOT, name)) as f:
        return f.read().strip()


def got(name):
    return os.path.join(GOT, name)


CPUS = list(range(int(text("cpus"))))


def cpus_of(file):
    return [c["cpu"] for c in fr_json("info", got(file))["cpus"]]


@test("many CPUs: every command ends as it should")
def commands():
    check(len(CPUS) > 64, f"{len(CPUS)} CPUs")
    want = dict.fromkeys(("record", "each", "dump", "status", "screen", "status2", "flood", "final", "watch"), "0")
    ended = dict(line.split() for line in text("statuses").splitlines())
    equal(ended, want, f"exit statuses ({''.join(text(f'{n}.err') for n in want if ended.get(n) != want[n])})")
    return f"{len(CPUS)} CPUs"


@test("many CPUs: each has its rings, and what each did is told of it")
def each():
    fr("verify", got("x.flight"))
    equal(cpus_of("x.flight"), CPUS, "CPUs in the snapshot")
    named = [(e["newcomm"], e["cpu"]) for e in replay(got("x.flight")) if e["event"] == "task_rename" and e["newcomm"].startswith("many-")]
    equal(named, [(f"many-{cpu}", cpu) for cpu in CPUS], "who was named on which CPU, in order of time")


@test("many CPUs: status knows all, nothing is lost")
def status():
    live = json.loads(text("status.out"))
    equal([c["cpu"] for c in live["cpus"]], CPUS, "CPUs")
    equal({n for c in live["cpus"] for n in c["lost"].values()}, {0}, "lost")
    equal((live["no_ring"], live["tasks"]["lost"]), (0, 0), "events without a ring, tasks not kept")


@test("many CPUs: the screen of status has rows for tiers, not for CPUs, and their sums")
def screen():
    sums = {tier: int(n) for tier, n in re.findall(r"^  all  (\w+) +[#.]{10} .* (\d+) +\d+ +\d+$", text("screen.out"), re.M)}
    equal(set(sums), {"main", "life", "stack", "wait", "rare"}, "tiers")
    for tier, shown in sums.items():
        before, after = (sum(t["written"] for c in json.loads(text(f))["cpus"] for t in c["tiers"] if t["name"] == tier)
                         for f in ("status.out", "status2.out"))
        check(before <= shown <= after, f"{tier}: {shown} written, {before} before, {after} after it")
    check(len(text("screen.out").splitlines()) < len(CPUS), text("screen.out"))


@test("many CPUs: a crash on the last one is in its snapshot, and in the report of it")
def crash():
    fr("verify", got("crash.flight"))
    equal(cpus_of("crash.flight"), CPUS, "CPUs in the snapshot")
    deaths = [e["comm"] for e in replay(got("crash.flight")) if e["event"] == "signal_deliver" and e["sig"] == SIGSEGV]
    equal(deaths, ["crash-worker"], "deaths")
    equal([c["cpu"] for c in fr_json("report", got("crash.flight"))["cpus"]], CPUS, "CPUs in the report")


def ranges(words):
    for word in words.split():
        first, last = (word.split("-") * 2)[:2]
        yield from range(int(first), int(last) + 1)


@test("many CPUs: the report draws those that did something around the crash, and lists the others")
def lanes():
    page = re.search(r"^What each CPU ran .*?\n\n", fr("report", got("crash.flight")).stdout, re.M | re.S)[0]
    drawn = [int(n) for n in re.findall(r"^ +(\d+) \S+ \d+ switch", page, re.M)]
    listed = [n for words in re.findall(r"(?:idle|not known) all the time:([-\d\s]+)", page) for n in ranges(words)]
    equal(sorted(drawn + listed), CPUS, page)
    check(CPUS[-1] in drawn and len(listed) > 4, page)
    return f"{len(drawn)} drawn, {len(listed)} listed"


if __name__ == "__main__":
    main()
