# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""wide.py MAKE_WIDE: what commands execute for a file of twice as many CPUs is at most about twice as much. Anybody can write such a file."""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../gate"))
import replay  # noqa: E402: it counts instructions of our own code, which do not depend on the machine's load

CPUS = 500
TIMES = 2.5  # 4 if each ring looks at all others


def main():
    program = os.environ["FLIGHTREC"]
    bad = []
    with tempfile.TemporaryDirectory() as tmp:
        few, many = (os.path.join(tmp, name) for name in ("few.flight", "many.flight"))
        for path, cpus in (few, CPUS), (many, 2 * CPUS):
            subprocess.run([sys.argv[1], path, str(cpus)], check=True)
        for command in ["replay", "--count"], ["info"]:
            less, more = (replay.run(program, command, [path], tmp)["instructions"] for path in (few, many))
            print(f"{command[0]}: {less} instructions for {CPUS} CPUs, {more} for twice as many: {more / less:.2f}")
            bad += [command[0]] if more > TIMES * less else []
    return f"more than linear: {', '.join(bad)}" if bad else None


sys.exit(main())
