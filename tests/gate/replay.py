# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What commands execute for an event of a snapshot, by callgrind: of the program's own code, and calls from it into libraries.

Instructions of libc and libzstd depend on the processor (they choose their code by what it can do), so they are not counted."""

import collections
import os
import re
import subprocess
import tempfile

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
}


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


def run(program, args, path, tmp):
    out = os.path.join(tmp, "callgrind")
    sink = ["-o", os.path.join(tmp, "ctf-" + os.path.basename(path))] if "ctf" in args else []
    env = {"TZ": "UTC", "LC_ALL": "C", "PATH": os.environ.get("PATH", ""), "HOME": tmp}
    subprocess.run(["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={out}", program, *args, *sink, path], env=env,
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return cost(out, program)


def count(program, path):
    return int(subprocess.run([program, "replay", "--count", path], stdout=subprocess.PIPE, check=True).stdout)


def measure(program):
    """For each command: what each event more takes, so that what is the same for every file is left out."""
    events = count(program, LOAD) - count(program, SMALL)
    figures = {}
    with tempfile.TemporaryDirectory() as tmp:
        for name, args in COMMANDS.items():
            small, load = (run(program, args, path, tmp) for path in (SMALL, LOAD))
            figures[f"{name}.instructions"] = (load["instructions"] - small["instructions"]) / events
            figures[f"{name}.calls"] = (load["calls"] - small["calls"]) / events
    return figures
