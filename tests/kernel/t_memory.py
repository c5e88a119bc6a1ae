# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Large rings where memory, or the disk, is short: their copies, what encodes them, and who reads the files."""
import os
import subprocess

from frtest import (FLIGHTREC, Skip, check, dump, equal, fr, fr_json, main, path, program, refused, run, shared, small_disk, small_memory,
                    test)

LONG = bool(os.environ.get("FR_LONG"))  # try each size, not only some


def peak_of_dump(name, mib):
    """The most memory that a dump took in a cgroup of so much, and the events it has."""
    file = path(f"lent-{mib}.flight")
    with small_memory(mib) as dir:
        peak = next((f for f in ("memory.max_usage_in_bytes", "memory.peak") if os.path.exists(f"{dir}/{f}")), None)
        if not peak:
            raise Skip("this kernel does not tell how much memory a cgroup took at most")
        run("sh", "-c", f'echo $$ > {dir}/cgroup.procs; exec "$@"', "sh", FLIGHTREC, "dump", "-n", name, "-o", file)
        with open(f"{dir}/{peak}", encoding="ascii") as f:
            took = int(f.read())
    info = fr_json("info", "--json", file)
    equal((info["missed"], info["damage"]), ({}, 0), "what is missing in it")
    os.unlink(file)
    return took >> 20, sum(t["events"] for c in info["cpus"] for t in c["tiers"] if t["name"] == "main")


LARGE = ("-p", "minimal", "-e", "-sched", "-e", "-signal", "-e", "syscall", "--comm", "frt*", "-m", "96M")  # nothing in it is others'


def fill(cnt, cpus):
    """So many reads and writes by dd on each CPU."""
    loads = [subprocess.Popen(["taskset", "-c", str(cpu), program("frt-dd", "/bin/dd"), "if=/dev/zero", "of=/dev/null", "bs=1", f"count={cnt}"],
                              stderr=subprocess.DEVNULL) for cpu in range(min(cpus, os.cpu_count()))]
    for p in loads:
        p.wait()


@test("files are read where memory is short, if more slowly: no huge pages, of which parts would not be used")
def read_in_little_memory():
    file, name = path("little.flight"), shared(*LARGE)
    # what else runs meanwhile, and how many tasks that are, is no part of it: a report needs memory for each
    fill(250000, 2)
    fr("dump", "-n", name, "-o", file)
    with small_memory(16) as dir:
        inside = "sh", "-c", f'echo $$ > {dir}/cgroup.procs; exec "$@"', "sh"
        for command in (("replay", "--count"), ("report", "--json"), ("verify",)):
            run(*inside, FLIGHTREC, *command, file)
        lines = run(*inside, "sh", "-c", '"$0" replay "$1" | wc -l', FLIGHTREC, file).stdout
    equal(int(lines), fr_json("info", "--json", file)["events"], "lines")


@test("copies of large rings: all at once where memory is plentiful, in waves where it is not")
def lent_memory():
    name = shared(*LARGE)
    fill(1800000, 1)
    little, events = peak_of_dump(name, 96)
    plenty, more_events = peak_of_dump(name, 4096)
    check(events > 3_600_000, f"{events} events")
    equal(more_events, events, "events of the main rings, to which nobody wrote between")
    check(little < 96 < plenty, f"{plenty} MiB taken where there was enough, {little} where that has no room: 96 is the limit")
    return f"{little} and {plenty} MiB"


@test("disk full while memory that was lent is encoded: refused like any other")
def disk_full_of_large_rings():
    name = shared(*LARGE)
    size = os.path.getsize(dump(name))
    for percent in (30, 45, 60, 90) * (3 if LONG else 1):  # threads are somewhere else each time
        with small_disk(size * percent // 100) as dir:
            refused(fr("dump", "-n", name, "-o", f"{dir}/x.flight", status=1), "No space left", "session goes on recording")
            equal(os.listdir(dir), [], "files left")


if __name__ == "__main__":
    main()
