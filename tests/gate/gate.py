# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Instruction counts against tests/gate/figures: gate.py [--update] [PART...]. Parts: bpf, kernel, replay.

A part of the figures holds for what its heading names: a compiler, a kernel. Where that is another here, the part is skipped and
says so; --update then adds a part for it. What got faster by more than the tolerance fails too, so that the gate closes behind
it."""

import re
import subprocess
import sys

import bpf
import kernel
import replay

FIGURES = "tests/gate/figures"
PROGRAM, OBJECT, RING, JITED = "build/flightrec", "build/flightrec.bpf.o", "build/tests/gate/ring", "build/tests/gate/jited"
TOLERANCE = 0.02
HEAD = """# Instructions of the hot path and of replay. tests/gate/run.sh compares with these, tests/gate/run.sh --update rewrites them;
# docs/testing.md tells what they are. They hold for what stands in brackets.
"""


def clang():
    out = subprocess.run(["clang", "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return "clang " + re.search(r"clang version (\S+)", out)[1]


PARTS = {
    "bpf": (clang, lambda: None, lambda: bpf.measure(OBJECT, RING)),
    "kernel": (lambda: kernel.key(sum(bpf.code_sizes(OBJECT).values())), kernel.obstacle, lambda: kernel.measure(PROGRAM, JITED)),
    "replay": (lambda: replay.compiler(PROGRAM), lambda: None, lambda: replay.measure(absolute(PROGRAM))),
}


def absolute(path):
    return subprocess.run(["realpath", path], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def load():
    """{(part, key): {name: figure}}"""
    sections, section = {}, None
    with open(FIGURES) as f:
        for line in f:
            if m := re.match(r"\[(\w+): (.*)\]$", line):
                section = sections.setdefault((m[1], m[2]), {})
            elif line.strip() and not line.startswith("#"):
                name, figure = line.split()
                section[name] = float(figure)
    return sections


def save(sections):
    with open(FIGURES, "w") as f:
        f.write(HEAD)
        for (part, key), figures in sorted(sections.items()):
            f.write(f"\n[{part}: {key}]\n")
            for name, figure in figures.items():
                f.write(f"{name:32} {figure:.10g}\n")


def rounded(figures):
    return {name: round(float(v), 2) for name, v in figures.items()}


def differs(was, now):
    return abs(now - was) > max(TOLERANCE * was, 0.02)


def compare(part, want, got):
    """Print what differs. Returns (passed, failed)."""
    bad = 0
    for name in sorted(want.keys() | got.keys()):
        was, now = want.get(name), got.get(name)
        if was is None or now is None:
            print(f"FAIL {part}: {name} is {'new' if was is None else 'gone'}: tests/gate/run.sh --update")
        elif differs(was, now):
            what = "more: find out why" if now > was else "fewer: tests/gate/run.sh --update keeps that"
            share = f" ({(now - was) / was:+.1%})" if was else ""
            print(f"FAIL {part}: {name} {was:g} -> {now:g}{share}, {what}")
        else:
            continue
        bad += 1
    return len(got) - bad if len(got) > bad else 0, bad


def check(part, sections):
    """One part. Returns (passed, failed, skipped)."""
    key, obstacle, measure = PARTS[part]
    why = obstacle()
    known = [k for p, k in sections if p == part]
    if not why and key() not in known:
        why = f"figures are for {' and '.join(known) or 'nothing yet'}, here is {key()}"
    if why:
        print(f"SKIP {part}: {why}")
        return 0, 0, 1
    return *compare(part, sections[part, key()], rounded(measure())), 0


def update(part, sections):
    key, obstacle, measure = PARTS[part]
    if why := obstacle():
        print(f"{part}: left as it is: {why}")
        return
    if part == "kernel":  # of this machine, with programs that are gone
        for old in [s for s in sections if s[0] == part and s[1].startswith(f"{kernel.machine()}, programs: ")]:
            del sections[old]
    sections[part, key()] = rounded(measure())
    print(f"{part}: {len(sections[part, key()])} figures for {key()}")


def main():
    args = [a for a in sys.argv[1:] if a != "--update"] or list(PARTS)
    sections = load()
    if "--update" in sys.argv:
        for part in args:
            update(part, sections)
        save(sections)
        return 0
    sums = [sum(column) for column in zip(*(check(part, sections) for part in args))]
    print("{} passed, {} failed, {} skipped".format(*sums))
    return sums[1] != 0


if __name__ == "__main__":
    sys.exit(main())
