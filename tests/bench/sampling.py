# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the always-on profile costs: the sampling program by the kernel's count, and the CPU time of the recorder that reads."""
import contextlib
import json
import os
import subprocess
import time

import common

BUSY = "while :; do :; done"	# the same stacks again and again
FORKS = "while :; do /bin/true; done"	# each process has stacks of its own


@contextlib.contextmanager
def load(script):
    """On each CPU, above all others of the machine, so that theirs is not measured."""
    procs = [subprocess.Popen(["chrt", "-f", "1", "sh", "-c", script], stdout=subprocess.DEVNULL) for _ in range(os.cpu_count())]
    try:
        yield
    finally:
        for p in procs:
            p.kill()
            p.wait()


@contextlib.contextmanager
def recorder(flightrec, name, *options):
    p = subprocess.Popen(["chrt", "-f", "2", flightrec, "record", "-n", name, "-o", "/tmp", "-p", "minimal", "-e", "sample", *options],
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        for line in p.stderr:
            if line.startswith("history"):
                break
        yield p.pid
    finally:
        p.terminate()
        p.communicate()
        common.leave_nothing(name)


def set_stats(value):
    """The kernel's statistics of BPF programs on or off; what they were."""
    path = "/proc/sys/kernel/bpf_stats_enabled"
    with open(path, encoding="ascii") as f:
        was = f.read().strip()
    with open(path, "w", encoding="ascii") as f:
        f.write(value)
    return was


def threads(pid):
    """Where /proc tells of all threads of a process and of those it forked."""
    return [f"/proc/{task}/task/{thread}" for task in [pid, *children(pid)] for thread in os.listdir(f"/proc/{task}/task")]


def cpu_ns_of(some):
    total = 0
    for thread in some:
        with open(f"{thread}/schedstat", encoding="ascii") as f:
            total += int(f.read().split()[0])
    return total


def cpu_ns(pid):
    """Processor time of a process and of those it forked."""
    return cpu_ns_of(threads(pid))


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        return [int(word) for word in f.read().split()]


def sampler(run, name):
    """ns and runs of the session's sampling program."""
    link = json.loads(run("bpftool", "-j", "link", "show", "pinned", f"/sys/fs/bpf/flightrec/{name}/link-cpu_sample-0").stdout)
    prog = json.loads(run("bpftool", "-j", "prog", "show", "id", str(link["prog_id"])).stdout)
    return prog.get("run_time_ns", 0), prog.get("run_cnt", 0)


def memory(run, name):
    """Bytes of the profile's maps."""
    pins = (f"/sys/fs/bpf/flightrec/{name}/{pin}" for pin in ("hits", "profile-pages", "hits-calls"))
    return sum(json.loads(run("bpftool", "-j", "map", "show", "pinned", pin).stdout)["bytes_memlock"] for pin in pins)


def cost(run, flightrec, name, seconds, script, *options):
    """Percent of all CPUs' time, ns of a sample, samples lost and taken."""
    with load(script), recorder(flightrec, name, *options) as pid:
        time.sleep(1)
        begin, cpu, (ns, runs) = time.monotonic(), cpu_ns(pid), sampler(run, name)
        time.sleep(seconds)
        ns2, runs2 = sampler(run, name)
        spent, cpu2 = (time.monotonic() - begin) * 1e9 * os.cpu_count(), cpu_ns(pid)
        lost = (0, 0)
        if "no" not in options:
            got = json.loads(run(flightrec, "profile", "-n", name, "--json", "--no-symbols", "--since", "1h").stdout)
            lost = got["lost_ever"], got["taken_ever"]
    return 100 * (ns2 - ns + cpu2 - cpu) / spent, (ns2 - ns) / max(1, runs2 - runs), 100 * (cpu2 - cpu) / spent, lost
