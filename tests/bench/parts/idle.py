# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""That a recorder whose session is attached does nothing."""
import re
import subprocess
import time

import common


def cpu_and_switches(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        switches = re.search(r"^voluntary_ctxt_switches:\s+(\d+)", f.read(), re.M)
    return int(fields[11]) + int(fields[12]), int(switches[1])


def wake_ups(seconds, *options):
    """Milliseconds of CPU time, and how often it woke up."""
    recorder = subprocess.Popen([common.FLIGHTREC, "record", "-n", common.NAME, "-p", "full", *options], stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 20
        while subprocess.run([common.FLIGHTREC, "status", "-n", common.NAME], capture_output=True, check=False).returncode:
            if time.monotonic() > deadline:
                raise SystemExit("bench: the recorder did not begin")
            time.sleep(0.2)
        time.sleep(2)
        before = cpu_and_switches(recorder.pid)
        common.load(seconds)
        after = cpu_and_switches(recorder.pid)
    finally:
        recorder.terminate()
        recorder.wait()
    return (after[0] - before[0]) * common.TICK_NS / 1e6, after[1] - before[1]


@common.part("idle", order=60)
def idle(opts):
    """That a recorder in the foreground does nothing under load; the profile is read every 10 s, and when a table fills."""
    seconds = 2 if opts.quick else 10
    common.title(f"The recorder's own process during {seconds} s of mixed load")
    cpu_ms, woke = wake_ups(seconds, "--cpu-profile", "no")
    common.report("CPU time, without the profile", cpu_ms, "ms", 0)
    common.report("times it woke up, without the profile", woke, "", 0)
    cpu_ms, woke = wake_ups(seconds)
    common.report("CPU time, with the profile", cpu_ms, "ms")
    common.report("times it woke up, with the profile", woke, "")
