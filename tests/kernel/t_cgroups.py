# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A host with 10,000 cgroups: snapshots are none the larger for them, and a task's is known."""
import contextlib
import glob
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from frtest import Skip, check, dump, equal, fr, fr_json, gone, main, new_name, path, recorder, session, test, wait_for  # noqa: E402

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


@test("a snapshot with 10,000 cgroups is no larger for them")
def snapshot():
    with session("-p", "minimal", "-m", "1M") as name:
        before = os.path.getsize(dump(name, "--last", "10ms"))
        with many() as (directory, _):
            subprocess.run(["/bin/sh", "-c", f"echo $$ > {directory}/cgroup.procs; exec sleep 0.1"], check=True)
            file = dump(name, "--last", "10ms")
            fr("verify", file)
            after = os.path.getsize(file)
        check(after < before + (256 << 10), f"{after} bytes, {before} before")
    return f"{after} bytes, {before} before"


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
    name = new_name()
    cut, merged = path("dead-cut.flight"), path("dead-merged.flight")
    with one() as (directory, want), recorder(name, "-p", "minimal", "-m", "1M") as p:
        wait_for(lambda: fr("status", "-n", name, "--json", status=None).returncode == 0, "it records")
        subprocess.run(["/bin/sh", "-c", f"echo $$ > {directory}/cgroup.procs; /bin/true; /bin/true; /bin/true; exec sleep 0.1"],
                       check=True)
        file = dump(name)
        # the recorder's writer is confined
        asked = fr("dump", "-n", name).stdout.split()[-1]
        check(p.poll() is None, "the recorder has ended")
    check_dead(file, want)
    check_dead(asked, want)
    fr("cut", "--cgroup", want, "-o", cut, file)
    check_dead(cut, want)
    fr("merge", "-o", merged, cut, asked)
    check_dead(merged, want)
    paths = [c["path"] for c in fr_json("report", file)["cgroups"]]
    check(want in paths, f"report: {paths}")


@test("a crash in one of 10,000 cgroups: its path is known")
def crash():
    name, comm = new_name(), f"frcg-{os.getpid()}"
    out = path(name)
    os.mkdir(out)
    with many() as (directory, want), \
            recorder(name, "-p", "minimal", "-m", "1M", "--on", f"crash:comm={comm}", "-o", out) as p:
        wait_for(lambda: fr("status", "-n", name, "--json", status=None).returncode == 0, "it records")
        command = f"echo $$ > {directory}/cgroup.procs; printf {comm} > /proc/$$/comm; ulimit -c 0; kill -SEGV $$"

        def snapshot_taken():
            if not glob.glob(f"{out}/*.flight"):
                subprocess.run(["/bin/sh", "-c", command], check=False)
            return glob.glob(f"{out}/*.flight")
        wait_for(snapshot_taken, f"a snapshot; recorder: {p.poll()}", 60)
        trigger = fr_json("info", glob.glob(f"{out}/*.flight")[0])["trigger"]
        equal(trigger["reason"], "crash", "reason")
        equal(trigger.get("cgroup"), want, f"cgroup ({trigger})")


if __name__ == "__main__":
    main()
