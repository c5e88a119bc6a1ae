# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Other designs of the hot path, and other compilers: tried.bpf.h; docs/notes/hotpath.md tells what was made of it."""
import json
import os
import re
import shutil
import statistics
import subprocess

import common

# Program of hot, and what it is
DESIGNS = (
    ("loop_clock", "floor", "the clock only"),
    ("loop_stores", "floor", "bare stores into an array"),
    ("loop_tried_arena", "floor", "bare stores into an arena"),
    ("loop_ring_once", "flightrec", "as built: two locked instructions"),
    ("loop_tried_counted", "flightrec", "the same, records counted by a word of their own"),
    ("loop_tried_trylock", "flightrec", "a try-lock by one exchange, the rest plain"),
    ("loop_tried_any", "flightrec", "event and size from memory: one program for all events"),
    ("loop_tried_head", "flightrec", "commit without an add: the head stored last"),
    ("loop_tried_zeroed", "flightrec", "the same, pages zeroed when they are begun"),
    ("loop_tried_packed", "flightrec", "packed words: one compare-and-exchange reserves, another commits"),
    ("loop_tried_packed_add", "flightrec", "the same, an add commits"),
)
CLANGS = ("clang", "clang-16", "clang-19", "clang-22")
COMPILED = ("loop_ring_once", "loop_ring", "sys_enter")


def hot(program, rounds, *names):
    """ns added by each round, by case and CPUs; of several clocks the default's."""
    out = common.run(program, str(rounds), *names).stdout.splitlines()
    return {(c["case"], c["cpus"]): c["each_added_ns"] for c in map(json.loads, out) if c["clock"] == common.DEFAULT_CLOCK or c["case"][:9] != "loop_ring"}


def designs(rounds):
    got = hot(os.path.join(common.BIN, "hot"), rounds, *(name for name, _, _ in DESIGNS))
    for cpus in 1, 2:
        common.title(f"Designs of the hot path: 24 bytes in a tight loop, the ring found once, ns added, {cpus} CPU{'s' * (cpus > 1)}")
        for name, peer, what in DESIGNS:
            if (name, cpus) in got:
                common.row(what, got[name, cpus], "ns", peer=peer)
            elif name == "loop_tried_arena":
                common.not_measured(what, peer, "this kernel has no arenas (asked by creating one)", "ns")


def version(clang):
    return re.search(r"version (\S+)", common.run(clang, "--version").stdout)[1]


def insns(place, program):
    """How long a program is, in instructions of BPF; functions that it calls are not counted."""
    symbols = common.run("readelf", "-sW", os.path.join(place, "hot.bpf.o")).stdout.splitlines()
    return next(int(line.split()[2]) for line in symbols if line.endswith(f" {program}")) // 8


def compilers(rounds):
    """By turns: each compiler's programs once in each."""
    common.title("Compilers of the hot path, ns added")
    places, got = {}, {}
    for clang in CLANGS:
        if not shutil.which(clang):
            common.not_measured("in a loop, the ring found once", clang, "it is not installed", "ns")
            continue
        place = os.path.join(common.BIN, clang)
        subprocess.run([os.path.join(common.HERE, "hot.sh"), clang, place], check=True)
        places[f"clang {version(clang)}"] = place
    for _ in range(rounds):
        for who, place in places.items():
            for (name, cpus), ns in hot(os.path.join(place, "hot"), 1, *COMPILED).items():
                if cpus == 1:
                    got.setdefault((who, name), []).append(statistics.median(ns))
    for who, place in places.items():
        common.row("in a loop, the ring found once", got[who, "loop_ring_once"], "ns", peer=who)
        common.row("in a loop, the ring found for each record", got[who, "loop_ring"], "ns", peer=who)
        common.row("attached: the product's sys_enter", got[who, "sys_enter"], "ns", peer=who)
        common.report("instructions of sys_enter", insns(place, "sys_enter"), "", peer=who)


@common.part("tried", order=97, unasked=False)
def tried(opts):
    """Designs of the hot path that were tried, and compilers, where clang-16, 19 and 22 are installed; only if named."""
    rounds = 5 if opts.quick else 15
    designs(rounds)
    compilers(rounds)
