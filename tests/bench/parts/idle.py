# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""That a recorder whose session is attached does nothing."""
import re
import subprocess
import time

import common
import sampling


def cpu_and_switches(threads):
    """ns, and how often they slept."""
    switches = 0
    for thread in threads:
        with open(f"{thread}/status", encoding="ascii") as f:
            switches += int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", f.read(), re.M)[1])
    return sampling.cpu_ns_of(threads), switches


def of_recorder(pid):
    """What the recorder and those it forked used so far, and what its other thread did, which writes the log of incidents."""
    threads = sampling.threads(pid)
    log = [t for t in threads if t.startswith(f"/proc/{pid}/") and t != f"/proc/{pid}/task/{pid}"]
    return *cpu_and_switches([t for t in threads if t not in log]), *cpu_and_switches(log)


def wake_ups(seconds, *options):
    """Milliseconds of CPU time, and how often it woke up; the same of its log of incidents."""
    recorder = subprocess.Popen([common.FLIGHTREC, "record", "-n", common.NAME, "-p", "full", *options], stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 20
        while subprocess.run([common.FLIGHTREC, "status", "-n", common.NAME], capture_output=True, check=False).returncode:
            if time.monotonic() > deadline:
                raise SystemExit("bench: the recorder did not begin")
            time.sleep(0.2)
        had = common.written()  # asking wakes it, too
        time.sleep(2)
        before = of_recorder(recorder.pid)
        common.load(seconds)
        after = of_recorder(recorder.pid)
        if recorder.poll() is not None or common.written() == had:
            raise SystemExit("bench: the recorder ended by itself, or recorded nothing")
    finally:
        recorder.terminate()
        recorder.wait()
        common.leave_nothing()
    cpu_ns, woke, log_ns, log_woke = (b - a for a, b in zip(before, after))
    return cpu_ns / 1e6, woke, log_ns / 1e6, log_woke


@common.part("idle", order=60)
def idle(opts):
    """That a recorder in the foreground does nothing under load; the profile is read every 10 s, and when a table fills."""
    seconds = 2 if opts.quick else 10
    common.title(f"The recorder's own process during {seconds} s of mixed load")
    cpu_ms, woke, log_ms, log_woke = wake_ups(seconds, "--cpu-profile", "no")
    common.report("CPU time, without the profile", cpu_ms, "ms", 0)
    common.report("times it woke up, without the profile", woke, "", 0)
    common.report("CPU time of its log of incidents: some of the load die by a signal", log_ms, "ms")
    common.report("times its log of incidents woke up", log_woke, "")
    with_profile = "CPU time, with the profile", "times it woke up, with the profile"
    if opts.quick:
        for what in with_profile:
            common.not_measured(what, "flightrec", "left out because of --quick")
        return
    for what, value, unit in zip(with_profile, wake_ups(seconds), ("ms", "")):
        common.report(what, value, unit)
