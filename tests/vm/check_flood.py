# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What a flooded guest recorded, by the rules of the kernel tests (t_stress.py). Argument: the directory it was unpacked to."""
import glob
import json
import os
import sys

GOT = sys.argv.pop(1)
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "kernel"))
import frtest  # noqa: E402
import t_stress  # noqa: E402
from frtest import check, equal, forget_tests, test  # noqa: E402

forget_tests()  # those of t_stress would record this host


def text(name):
    with open(os.path.join(GOT, name)) as f:
        return f.read()


@test("flood: recorded, dumped and detached")
def commands():
    got = dict(line.split() for line in text("statuses").splitlines())
    for name in ("flood", "final"):
        equal(got.get(name), "0", f"exit status of {name} ({text(name + '.err')})")
    files = sorted(glob.glob(os.path.join(GOT, "flood-*.flight")))
    snapshots, least = map(int, text("flooded").split())
    equal(len(files), snapshots, "snapshots")
    t_stress.seen.update(files=files, final=os.path.join(GOT, "final.flight"), live=json.loads(text("final.out")))
    laps = max(t["last_seq"] for t in t_stress.tiers(frtest.fr_json("info", t_stress.seen["final"])))
    check(laps > least, f"the rings were lapped only up to lap {laps}")
    return f"{len(files)} snapshots, {laps} laps"


@test("flood: 0 torn, 0 out of order, 0 duplicated; each lap once, or missed with its reason")
def nothing_torn():
    return t_stress.nothing_torn()


@test("flood: the programs' runs = written + lost + filtered, misses apart")
def runs_accounted():
    return t_stress.runs_accounted()


@test("flood: per CPU and tier, written = present + overwritten, and what is present is in the file")
def written_accounted():
    return t_stress.written_accounted()


if __name__ == "__main__":
    frtest.main()
