# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Which cgroup a task is in, of v1 or v2; a host with 10,000 of them: snapshots are none the larger, and a task's is known."""
import contextlib
import json
import os
import re
import subprocess

from frtest import (MINIMAL, Skip, check, dump, equal, fr, fr_json, gone, main, new_name, path, program, replay, run, shared, small_memory,
                    test, wait_for)
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
            wait_for(lambda d=directory: gone(d), f"{directory} is empty")


@test("10,000 cgroups: a snapshot tells of those in which somebody was, and of no other; a crash in one is told with its path")
def snapshot():
    name, comm = shared(*MINIMAL), f"frcg{TAG}"
    with many() as (directory, want):
        top = want.split("/")[1]
        subprocess.run(["/bin/sh", "-c", f"echo $$ > {directory}/cgroup.procs; /bin/true; exec /bin/true"], check=True)
        file = dump(name)
        fr("verify", file)
        told = set(re.findall(rf"/{top}(?:/[0-9]+)*", run("zstd", "-dcf", file).stdout))
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
        wait_for(lambda: gone(directory), f"{directory} is empty")


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


def eat(file, *dirs):
    """A process that takes memory in these cgroups, and is killed for it."""
    enter = " && ".join(f"echo $$ > {d}/cgroup.procs" for d in dirs)
    p = subprocess.Popen(["/bin/sh", "-c", f"{enter} && exec {file} 100000"])
    equal(p.wait(), -9, "killed by")
    return p.pid


def id_of(dir):
    """As events have it: of v1 with 2^52 added."""
    return os.stat(dir).st_ino + ((1 << 52) if os.path.exists("/sys/fs/cgroup/memory/memory.stat") else 0)


@test("oom:cgroup= goes by the memory controller's cgroup, of v1 or v2: a victim in it fires the rule, one in another does not")
def oom():
    file, name = program(f"fro{TAG}", "touch"), shared(*MINIMAL)
    fr("incidents", "-n", name)  # showing saves, so that the deaths of others leave room in its log
    with small_memory(name="-in") as dir, small_memory(name="-out") as other:
        want = f"/{os.path.basename(dir)}"
        rules = f"oom:cgroup={want},comm=fro{TAG},cooldown=0s", f"oom:cgroup=/nowhere,comm=fro{TAG}"
        with recording(*rules) as r:
            beside, pid = eat(file, other), eat(file, dir)
            seen = [r.wait_seen(rule, 2)["verdicts"] for rule in rules]
            trigger = fr_json("info", r.wait_files(1)[0])["trigger"]
            equal(len(r.files()), 1, "snapshots")
        told = [json.loads(line) for line in fr("incidents", "-n", name, "--json").stdout.splitlines()]
        told = {i["pid"]: i["cgroup"] for i in told if i.get("kind") == "oom"}
        equal([told.get(pid), told.get(beside)], [id_of(dir), id_of(other)], f"cgroups of {pid} and {beside} in the incident log, which has {told}: cgroups")
    equal((trigger["reason"], trigger["pid"], trigger.get("cgroup")), ("oom", pid, want), f"{trigger}")
    equal([(v.get("taken", 0), v.get("filtered", 0)) for v in seen], [(1, 1), (0, 2)], "taken and filtered")


@test("controllers of v1: a task is where v2 says, and if that is the root, where the memory controller says; a victim the other way round")
def both():
    if not os.path.exists("/sys/fs/cgroup/memory/memory.stat"):
        raise Skip("the memory controller is not one of v1")
    file, crasher, name = program(f"frb{TAG}", "touch"), program(f"frc{TAG}"), shared(*MINIMAL)
    with one() as (directory, v2), small_memory() as dir:
        memory = f"/{os.path.basename(dir)}"
        rules = f"crash:cgroup={memory},comm=frc{TAG},cooldown=0s", f"oom:cgroup={memory},comm=frb{TAG},cooldown=0s", \
            f"oom:cgroup={v2},comm=frb{TAG}"
        with recording(*rules) as r:
            for groups in (dir,), (dir, directory):
                enter = " && ".join(f"echo $$ > {d}/cgroup.procs" for d in groups)
                subprocess.run(["/bin/sh", "-c", f"{enter} && ulimit -c 0 && exec {crasher}"], check=False)
            pid = eat(file, dir, directory)
            seen = [r.wait_seen(rule, cnt)["verdicts"] for rule, cnt in zip(rules, (2, 1, 1))]
            told = sorted((t["reason"], t.get("cgroup")) for t in (fr_json("info", f)["trigger"] for f in r.wait_files(2)))
        # who lives, and who has lived there
        sleeper = subprocess.Popen(["/bin/sh", "-c", f"echo $$ > {dir}/cgroup.procs; /bin/true; exec sleep 1000"])
        try:
            wait_for(lambda: os.path.basename(os.readlink(f"/proc/{sleeper.pid}/exe")) == "sleep", "it sleeps")
            snapshot = dump(name)
        finally:
            sleeper.kill()
            sleeper.wait()
        events = {e["pid"] for e in replay(snapshot, "-f", f'cgroup == "{memory}" && event != sched_switch')}
        forks = {e["child_cgroup"] for e in replay(snapshot, "-f", f"event == sched_process_fork && pid == {sleeper.pid}")}
        report = [c["cgroup"] for c in fr_json("report", snapshot)["cgroups"] if c["path"] == memory]
        equal(forks, {id_of(dir)}, "the child's cgroup")
        equal(report, [id_of(dir)], "the report's cgroup of that path")
    check(sleeper.pid in events and len(events) > 1 and pid not in events, f"processes with events in {memory}: {events}, the victim {pid}")
    equal([(v.get("taken", 0), v.get("filtered", 0)) for v in seen], [(1, 1), (1, 0), (0, 1)], "taken and filtered")
    equal(told, [("crash", memory), ("oom", memory)], "what snapshots tell")


@test("doctor says which hierarchy a cgroup is of")
def which():
    said = next(line for line in fr("doctor", status=None).stdout.splitlines() if "paths of cgroups" in line)
    equal("memory controller's v1, /sys/fs/cgroup/memory" in said, os.path.exists("/sys/fs/cgroup/memory/memory.stat"), said)
    equal("of v2, /sys/fs/cgroup" in said, any(os.path.exists(f"{d}/cgroup.procs") for d in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified")), said)


if __name__ == "__main__":
    main()
