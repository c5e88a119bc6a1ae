# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Memory taken, and what it takes to begin."""
import re
import resource
import time

import common


def other_memory():
    """Bytes of the session's other pinned maps."""
    return sum(common.pinned_bytes(pin) for pin in ("tasks", "dead", "session", "clock", "call"))


@common.part("memory", order=30)
def memory(opts):
    """What -m says is what is taken."""
    common.title("Ring memory, as the kernel accounts it, against -m")
    for size in (4, 8, 17) if opts.quick else (4, 8, 17, 64):
        with common.session("-p", "minimal", "-m", f"{size}M") as said:
            taken, other = common.ring_memory(), other_memory()
        worst = max(taken.values(), key=lambda sz: abs(sz - size * common.MIB))
        common.report(f"-m {size}M: off by", abs(worst - size * common.MIB) / (size * common.MIB) * 100, "%", 2)
    printed = re.search(r"on top task table and stacks ([\d.]+) (\w+)", said)
    if not printed:
        raise SystemExit(f"bench: record does not print what comes on top: {said}")
    common.report("what comes on top, as record prints it", float(printed[1]) * {"KiB": 1 / 1024, "MiB": 1}[printed[2]], "MiB")
    common.report("of that, maps pinned, as the kernel accounts them", other / common.MIB, "MiB")


@common.part("start", order=20)
def start(opts):
    """What it takes to begin: programs verified, maps made, tasks listed."""
    del opts
    common.title("To start to record with the full profile")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.monotonic()
    with common.session("-p", "full"):
        took = time.monotonic() - begin
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    common.report("CPU time, the kernel's check of the programs included", used, "s", 1.0)
    common.report("until the command returns", took, "s")
