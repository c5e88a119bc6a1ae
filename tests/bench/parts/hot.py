# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What recording one event costs in a tight loop, beside what else takes events there: hot.c, ust/ust.c."""
import json
import os
import subprocess
import tempfile

import common
import lttng

SIZES = (16, 32, 64, 128, 256)
DEFAULT = common.DEFAULT_CLOCK
CLOCKS = ("exact", "1us", "10us", DEFAULT, "local")
OVERWRITE = "bpf_ringbuf, overwriting"
PERFBUF = "bpf_perf_event_output, overwriting"
LOOPED = (("ring", DEFAULT, "flightrec"), ("ringbuf", "exact", "bpf_ringbuf"), ("ringbuf_over", "exact", OVERWRITE),
          ("perfbuf", "exact", PERFBUF))


class Cases:
    """What hot measured, by name, clock and CPUs: ns of each round."""

    def __init__(self, lines):
        self.of = {(c["case"], c["clock"], c["cpus"]): c for c in map(json.loads, lines)}

    def has(self, name, clock="exact", cpus=1):
        return (name, clock, cpus) in self.of

    def added(self, name, clock="exact", cpus=1):
        return self.of[name, clock, cpus]["each_added_ns"]

    def full(self, name, clock="exact", cpus=1):
        return self.of[name, clock, cpus]["each_ns"]


def attached(got):
    common.title("Recording one event, attached to a system call, ns added over an empty program (hot.bpf.c has the programs)")
    ringbuf = got.added("call_ringbuf")
    common.row("an empty program, over none", got.added("call_empty"), "ns", peer="floor")
    if got.has("call_clock"):
        common.row("the clock only", got.added("call_clock"), "ns", peer="floor")
    common.row("bare stores of 24 bytes", got.added("call_stores"), "ns", peer="floor")
    common.row("24 bytes", ringbuf, "ns", peer="bpf_ringbuf")
    common.row("24 bytes", got.added("call_ring", DEFAULT), "ns")
    common.row("the product's sys_enter", got.added("sys_enter", DEFAULT), "ns")
    common.ratio_row("24 bytes: flightrec / bpf_ringbuf", got.added("call_ring", DEFAULT), ringbuf, at_most=1.2)
    common.ratio_row("the product's sys_enter / bpf_ringbuf's 24 bytes", got.added("sys_enter", DEFAULT), ringbuf, at_most=1.2)


def cold(got):
    common.title("The same beside other work: before each system call, caches are filled with other data and code (cold.h)")
    if not got.has("cold_call_empty"):
        common.not_measured("24 bytes", "flightrec", "hot has no such case", "ns")
        return
    ringbuf = got.added("cold_call_ringbuf")
    common.row("an empty program, over none", got.added("cold_call_empty"), "ns", peer="floor")
    common.row("the clock only", got.added("cold_call_clock"), "ns", peer="floor")
    common.row("bare stores of 24 bytes", got.added("cold_call_stores"), "ns", peer="floor")
    common.row("24 bytes", ringbuf, "ns", peer="bpf_ringbuf")
    common.row("24 bytes", got.added("cold_call_ring", DEFAULT), "ns")
    common.row("the product's sys_enter", got.added("cold_sys_enter", DEFAULT), "ns")


def floor(got):
    """In the loop: the clock only, where hot has it, and its name."""
    if got.has("loop_clock"):
        common.row("the clock only", got.added("loop_clock"), "ns", peer="floor")
        return got.added("loop_clock")
    common.not_measured("the clock only", "floor", "hot has no such case", "ns")
    return None


def looped(got):
    common.title("Recording one event of 24 bytes in a tight loop, ns added over an empty loop")
    clock = floor(got)
    once, ringbuf = got.added("loop_ring_once", DEFAULT), got.added("loop_ringbuf")
    common.row("bare stores", got.added("loop_stores"), "ns", peer="floor")
    common.row("24 bytes", ringbuf, "ns", peer="bpf_ringbuf")
    for name in CLOCKS:
        common.row(f"the ring found for each record, clock {name}", got.added("loop_ring", name), "ns", clock=name, cpus=1)
    common.row(f"the ring found once, clock {DEFAULT}", once, "ns")
    if clock:
        common.row("the ring found once - the clock only", [a - b for a, b in zip(once, clock)], "ns", at_most=10)
    common.ratio_row("the ring found once / bpf_ringbuf", once, ringbuf, at_most=0.75)
    common.ratio_row("the ring found for each record / bpf_ringbuf", got.added("loop_ring", DEFAULT), ringbuf)


def both_cpus(got):
    common.title("Two CPUs in that loop at the same time")
    ours, ringbuf = got.added("loop_ring", DEFAULT, 2), got.added("loop_ringbuf", "exact", 2)
    for name in CLOCKS:
        common.row(f"the ring found for each record, clock {name}", got.added("loop_ring", name, 2), "ns", clock=name, cpus=2)
    common.row("24 bytes", ringbuf, "ns", peer="bpf_ringbuf")
    common.ratio_row("flightrec / one bpf_ringbuf for both", ours, ringbuf, at_most=0.1)
    for name in CLOCKS:
        common.ratio_row(f"two CPUs / one, clock {name}", got.full("loop_ring", name, 2), got.full("loop_ring", name),
                         at_most=1.03 if name == DEFAULT else None)
    if got.has("loop_clock", cpus=2):  # what two CPUs that share a core, or a host, take from each other whatever they do
        common.ratio_row("two CPUs / one, the clock only", got.full("loop_clock", cpus=2), got.full("loop_clock"), peer="floor")
    common.ratio_row("two CPUs / one", got.full("loop_ringbuf", "exact", 2), got.full("loop_ringbuf"), peer="bpf_ringbuf")


def ust(rounds):
    """By bytes and CPUs: ns added of each round; or the reason why not."""
    program = os.path.join(common.BIN, "ust")
    if not os.path.exists(program):
        return "liblttng-ust-dev is not installed"
    with tempfile.TemporaryDirectory(prefix="frbench-") as tmp:
        try:
            with lttng.Snapshot("fr_bench:*", tmp):
                lines = common.run(program, str(rounds), env=lttng.PATIENT, timeout=100).stdout.splitlines()
        except (OSError, SystemExit, subprocess.TimeoutExpired) as e:
            return str(e)
    return {(c["bytes"], c["cpus"]): c["each_added_ns"] for c in map(json.loads, lines)}


def payloads(got, ust_ns):
    """A table for one CPU, one for both."""
    for cpus in 1, 2:
        common.title(f"Events of 16 to 256 bytes of payload and 16 of time and task in a tight loop, ns added, {cpus} CPU{'s' * (cpus > 1)}")
        for size in SIZES:
            what, at = f"{size} bytes", {"bytes": size, "cpus": cpus}
            for name, clock, peer in LOOPED:
                if got.has(f"loop_{name}_{size}", clock, cpus):
                    common.row(what, got.added(f"loop_{name}_{size}", clock, cpus), "ns", peer=peer, **at)
                else:
                    common.not_measured(what, peer, "this kernel has no BPF_F_RB_OVERWRITE (asked by creating such a map)", "ns", **at)
            if isinstance(ust_ns, str):
                common.not_measured(what, lttng.Snapshot.peer, ust_ns, "ns", **at)
            else:
                common.row(what, ust_ns[size, cpus], "ns", peer=lttng.Snapshot.peer, **at)
        if isinstance(ust_ns, str):
            common.not_measured("16 bytes: flightrec / LTTng-UST", "flightrec", ust_ns)
        else:
            common.ratio_row("16 bytes: flightrec / LTTng-UST", got.added("loop_ring_16", DEFAULT, cpus), ust_ns[16, cpus], at_most=0.4)


@common.part("hot", order=10)
def hot(opts):
    """Recording one event in a tight loop: the floor, bpf_ringbuf, perf buffers, LTTng-UST; 16 to 256 bytes."""
    rounds = 3 if opts.quick else 16
    ust_ns = ust(rounds)
    got = Cases(common.run(os.path.join(common.BIN, "hot"), str(rounds)).stdout.splitlines())
    attached(got)
    cold(got)
    looped(got)
    both_cpus(got)
    payloads(got, ust_ns)
