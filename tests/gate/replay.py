# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What commands execute for an event of a snapshot, by callgrind: of the program's own code, and calls from it into libraries.

Instructions of libc and libzstd depend on the processor (they choose their code by what it can do), so they are not counted."""

import collections
import os
import re
import subprocess
import tempfile

MAKE = "build/tests/cut/make"
SMALL, LOAD = "tests/files/golden/small.flight", "tests/gate/load.flight"
COMMANDS = {
    "count": ["replay", "--count"],
    "filter": ["replay", "--count", "-f", 'event == sys_exit && ret < 0 && comm ~ "task*"'],
    "text": ["replay"],
    "json": ["replay", "--json"],
    "report": ["report"],
    "export_perfetto": ["export", "--to", "perfetto", "-o", "-"],
    "export_ctf": ["export", "--to", "ctf"],
    "view": ["view", "-o", "-"],
    "cut": ["cut", "--window", "0%..100%"],
}
MERGED = (("last", "mid"), ("a", "b"))  # of tests/cut/make.c: few events, and two files that overlap
WRITE_FILES = {"ctf", "cut", "merge"}


def compiler(program):
    """What it was compiled by, as it says itself."""
    out = subprocess.run(["readelf", "-p", ".comment", program], stdout=subprocess.PIPE, text=True, check=True).stdout
    return ", ".join(sorted(set(re.findall(r"\] +(.+)", out))))


def cost(path, program):
    """Of a callgrind file: instructions of the program's own code, and its calls into other objects."""
    names, own, instructions, calls = {}, False, 0, 0
    target, called = None, None

    def name(text):
        m = re.match(r"(\(\d+\))(?: (.*))?", text)
        if m[2] is not None:
            names[m[1]] = m[2]
        return names[m[1]]

    with open(path) as f:
        for line in f:
            if line.startswith("ob="):
                own = name(line[3:].strip()) == program
            elif line.startswith("cob="):
                target = name(line[4:].strip())
            elif line.startswith("calls="):
                if own and target not in (None, program):
                    calls += int(line[6:].split()[0])
                called, target = True, None
            elif line[0] in "+-*0123456789":
                if own and not called:
                    instructions += int(line.split()[1])
                called = False
    return collections.Counter(instructions=instructions, calls=calls)


def run(program, args, files, tmp):
    out = os.path.join(tmp, "callgrind")
    sink = ["-o", os.path.join(tmp, args[0] + "-" + os.path.basename(files[0]))] if WRITE_FILES & set(args) else []
    one_cpu = ["taskset", "-c", str(min(os.sched_getaffinity(0)))]  # and so one thread: how often threads wait differs
    env = {"TZ": "UTC", "LC_ALL": "C", "PATH": os.environ.get("PATH", ""), "HOME": tmp}
    subprocess.run([*one_cpu, "valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={out}", program, *args, *sink, *files],
                   env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return cost(out, program)


def count(program, path):
    return int(subprocess.run([program, "replay", "--count", path], stdout=subprocess.PIPE, check=True).stdout)


def per_event(program, args, few, many, tmp):
    """What each event more takes, so that what is the same for every file is left out."""
    events = sum(count(program, path) for path in many) - sum(count(program, path) for path in few)
    less, more = (run(program, args, files, tmp) for files in (few, many))
    return {what: (more[what] - less[what]) / events for what in ("instructions", "calls")}


def measure(program):
    """For each command, per event."""
    figures = {}
    with tempfile.TemporaryDirectory() as tmp:
        subprocess.run([MAKE, tmp], check=True)
        cases = {name: (args, [SMALL], [LOAD]) for name, args in COMMANDS.items()}
        cases["merge"] = (["merge"], *([os.path.join(tmp, f"{name}.flight") for name in names] for names in MERGED))
        for name, case in cases.items():
            figures |= {f"{name}.{what}": figure for what, figure in per_event(program, *case, tmp).items()}
    return figures
