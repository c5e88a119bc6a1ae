# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A host with 10,000 cgroups: snapshots are none the larger for them, and a task's is known."""
import contextlib
import os
import re
import subprocess

from frtest import MINIMAL, Skip, check, dump, equal, fr, fr_json, gone, main, new_name, path, run, shared, test, wait_for
from recorder import NOBODY, TAG, recording

OUTER = INNER = 100


@contextlib.contextmanager
def many():
    """10,000 cgroups; gives the path of one of the last."""
    roots = [d for d in ("/sys/fs/cgroup/unified", "/sys/fs/cgroup") if os.path.exists(f"{d}/cgroup.procs")]
    if not roots:
        raise Skip("no cgroup v2 hierarchy is mounted")
    top = f"{roots[0]}/{new_name()}"
    made = []
    try:
        try:
            for outer in [top] + [f"{top}/{i}" for i in range(OUTER)]:
                os.mkdir(outer)
                made.append(outer)
                for j in range(INNER if outer != top else 0):
                    os.mkdir(f"{outer}/{j}")
                    made.append(f"{outer}/{j}")
        except OSError as why:
            raise Skip(f"cgroups cannot be made here: {why}") from why
        yield made[-1], made[-1][len(roots[0]):]
    finally:
        for directory in reversed(made):
            wait_for(lambda d=directory: gone(d), f"{directory} is empty", 60)


@test("10,000 cgroups: a snapshot tells of those in which somebody was, and of no other; a crash in one is told with its path")
def snapshot():
    name, comm = shared(*MINIMAL), f"frcg{TAG}"
    with many() as (directory, want):
        top = want.split("/")[1]
        subprocess.run(["/bin/sh", "-c", f"echo $$ > {directory}/cgroup.procs; /bin/true; exec /bin/true"], check=True)
        file = dump(name)
        fr("verify", file)
        told = set(re.findall(rf"/{top}[/0-9]*", run("zstd", "-dcf", file).stdout))
        check(want in told and told <= {want, want.rpartition("/")[0], f"/{top}"}, f"told of {len(told)} cgroups: {sorted(told)[:5]}, not {want}")
        with recording(f"crash:comm={comm},cooldown=0s") as r:
            subprocess.run(["/bin/sh", "-c", f"echo $$ > {directory}/cgroup.procs; printf {comm} > /proc/$$/comm; ulimit -c 0; kill -SEGV $$"],
                           check=False)
            trigger = fr_json("info", r.wait_files(1)[0])["trigger"]
    equal((trigger["reason"], trigger.get("cgroup")), ("crash", want), f"reason and cgroup ({trigger})")


@contextlib.contextmanager
def one():
    """A cgroup; gives its directory and its path."""
    roots = [d for d in ("/sys/fs/cgroup/unified", "/sys/fs/cgroup") if os.path.exists(f"{d}/cgroup.procs")]
    if not roots:
        raise Skip("no cgroup v2 hierarchy is mounted")
    name = new_name()
    directory = f"{roots[0]}/{name}"
    try:
        os.mkdir(directory)
    except OSError as why:
        raise Skip(f"cgroups cannot be made here: {why}") from why
    try:
        yield directory, f"/{name}"
    finally:
        wait_for(lambda: gone(directory), f"{directory} is empty", 60)


def check_dead(file, want):
    """Of three processes that were born in a cgroup in which nobody lives any more."""
    events = int(fr("replay", "--count", "-f", f'event == sched_process_exit && cgroup == "{want}"', file).stdout)
    equal(events, 3, f"exits in {want} of {file}")


@test("a cgroup in which nobody lives any more: its dead are found by its path, by who takes the snapshot, and in what is made of it")
def dead():
    cut, merged = path("dead-cut.flight"), path("dead-merged.flight")
    with one() as (directory, want), recording(NOBODY) as r:
        subprocess.run(["/bin/sh", "-c", f"echo $$ > {directory}/cgroup.procs; /bin/true; /bin/true; /bin/true; exec sleep 0.1"],
                       check=True)
        file = dump(r.name)
        # the recorder's writer is confined
        asked = fr("dump", "-n", r.name).stdout.split()[-1]
        check(r.alive(), "the recorder has ended")
    check_dead(file, want)
    check_dead(asked, want)
    fr("cut", "--cgroup", want, "-o", cut, file)
    check_dead(cut, want)
    fr("merge", "-o", merged, cut, asked)
    check_dead(merged, want)
    paths = [c["path"] for c in fr_json("report", file)["cgroups"]]
    check(want in paths, f"report: {paths}")


if __name__ == "__main__":
    main()
