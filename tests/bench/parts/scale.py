# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What scale.py's model of larger machines takes as inputs, and how well it tells what can be measured here."""
import json
import os
import re

import common
import simword


FITTED = (1000, 2000)  # grains that the model is fitted to; the others check it


def measured(rounds):
    """ns an event by (grain, CPUs), and the rest of what clockword.c tells."""
    cases, rest = {}, {}
    for line in common.run(os.path.join(common.BIN, "clockword"), str(rounds)).stdout.splitlines():
        found = json.loads(line)
        if "grain_ns" in found:
            cases[found["grain_ns"], found["cpus"]] = found["ns"]
        else:
            rest.update(found)
    return cases, rest


def on_top(*options):
    """MiB that record says it takes beside the rings."""
    with common.session(*options) as said:
        found = re.search(r"on top task table and stacks ([\d.]+) (\w+)", said)
    return float(found[1]) * {"KiB": 1 / 1024, "MiB": 1}[found[2]]


@common.part("scale", order=75)
def scale(opts):
    """Inputs of the model of larger machines (docs/scale.md), measured; and the model's answers for two CPUs."""
    common.title("The clock's shared word: measured on two CPUs, and as simulated for two")
    cases, rest = measured(15 if opts.quick else 80)
    event, clock = cases[-1, 1], rest["clock_ns"]
    common.report("an event without the word", event, "ns")
    common.report("of this to read the CPU's clock", clock, "ns")
    common.report("the line handed from CPU to CPU and back, half of it", rest["transfer_ns"], "ns")
    added = {grain: cases[grain, 2] - cases[grain, 1] for grain, cpus in cases if cpus == 2 and grain >= 0}
    handed = sum(simword.fitted(event, clock, grain, added[grain]) for grain in FITTED) / len(FITTED)
    common.report("handing over, as what 1 us and 2 us cost tells it", handed, "ns")
    for grain in sorted(added):
        name = f"{grain // 1000} us" if grain else "exact"
        common.report(f"added by a second CPU, {name}: measured", added[grain], "ns", grain_ns=grain)
        common.report(f"added by a second CPU, {name}: simulated", simword.cost(2, grain, event, clock, handed)[0], "ns", grain_ns=grain,
                      peer="model")
    common.title("Memory that does not come out of -m")
    common.report("memory on top, profile full", on_top("-p", "full"), "MiB")
    common.report("memory on top, profile full without samples", on_top("-p", "full", "-e", "-sample"), "MiB")
