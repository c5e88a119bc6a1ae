# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The holdoff watch beside cyclictest, and the kernel's timerlat where it is: the same hog, whose own clock is the truth."""
import json
import os
import re
import shutil
import signal
import subprocess
import time

import common

SPINS, SPIN_MS, NAP_MS = 20, 20, 100
TRACERS = "/sys/kernel/tracing/available_tracers"


def spins(bin_dir):
    """A hog of higher priority on CPU 0: how long it kept it, each time, ms."""
    out = subprocess.run([f"{bin_dir}/hog", "0", "80", str(SPINS), str(SPIN_MS), str(NAP_MS)], check=True, capture_output=True,
                         text=True).stdout
    return [(int(b) - int(a)) / 1e6 for a, b in (line.split() for line in out.splitlines())]


def watch(flightrec, name, work):
    """Lengths of the holdoffs that were due to the hog, ms; the end's line; CPU time in percent of a CPU."""
    p = subprocess.Popen([flightrec, "watch", "-n", name, "--cpu", "0", "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                         text=True)
    p.stdout.readline()
    begun, used = time.monotonic(), cpu_s(p.pid)
    truth = work()
    used, begun = cpu_s(p.pid) - used, time.monotonic() - begun
    p.send_signal(signal.SIGINT)
    told = [json.loads(line) for line in p.communicate()[0].splitlines()]
    mine = [h["length_ns"] / 1e6 for h in told if h["watch"] == "holdoff" and h["ran"] and h["ran"][0].get("comm") == "hog"]
    return truth, mine, told[-1], 100 * used / begun


def cpu_s(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as f:
        words = f.read().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def cyclictest(work):
    """The same of cyclictest, from its histogram of us: what it does not tell apart from other latencies is what is near a spin."""
    p = subprocess.Popen(["cyclictest", "-q", "-m", "-t1", "-a0", "-p50", "-i1000", "-h60000"], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, text=True)
    time.sleep(0.5)
    begun, used = time.monotonic(), cpu_s(p.pid)
    truth = work()
    used, begun = cpu_s(p.pid) - used, time.monotonic() - begun
    p.send_signal(signal.SIGINT)
    out = p.communicate()[0]
    late = [(int(us), int(cnt)) for us, cnt in re.findall(r"^(\d+) (\d+)$", out, re.M) if int(cnt)]
    mine = [us / 1e3 for us, cnt in late if us >= SPIN_MS * 900 for _ in range(cnt)]
    return truth, mine, late, 100 * used / begun


def quantile(late, share):
    left = sum(cnt for _, cnt in late) * share
    for us, cnt in late:
        left -= cnt
        if left <= 0:
            return us
    return late[-1][0] if late else 0


def found(who, truth, mine, half_late_us, cpu):
    want = sorted(truth)[len(truth) // 2]
    common.report(f"spins of {want:.2f} ms found, of {len(truth)}", len(mine), "spins", peer=who)
    if mine:
        common.report("median length", sorted(mine)[len(mine) // 2], "ms", peer=who)
        common.report("largest difference from the hog's own", max(abs(m - want) for m in mine), "ms", peer=who)
    common.report("half of all wakeups late by no more than", half_late_us, "us", peer=who)
    common.report("CPU time, all threads", cpu, "% of one", peer=who)


def timerlat_reason():
    try:
        with open(TRACERS, encoding="ascii") as f:
            has = "timerlat" in f.read().split()
    except OSError as e:
        return e
    return "this benchmark does not use it" if has else "kernel without CONFIG_TIMERLAT_TRACER"


def run(flightrec, name, bin_dir):
    common.title("holdoff watch: 20 ms at a higher priority, 20 times, found by; all every 1 ms at FIFO 50 on CPU 0")
    truth, mine, last, cpu = watch(flightrec, name, lambda: spins(bin_dir))
    found("flightrec", truth, mine, last["cpus"][0]["late"]["p50_ns"] / 1e3, cpu)
    if shutil.which("cyclictest"):
        truth, mine, late, cpu = cyclictest(lambda: spins(bin_dir))
        found("cyclictest", truth, mine, quantile(late, 0.5), cpu)
    else:
        common.not_measured("spins found", "cyclictest", "it is not installed (package rt-tests)", "spins")
    common.not_measured("spins found", "timerlat", timerlat_reason(), "spins")
