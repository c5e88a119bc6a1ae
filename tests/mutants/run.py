#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Break the product on purpose, and see the tests notice: each mutant is a small fault that happened here, or one like it. It is put
into a copy of the tree, which is built, and only the suites that claim that code are run. At least one of them has to fail.

    tests/mutants/run.py                      all
    tests/mutants/run.py 10                   a sample of 10, other ones each time: the seed is printed
    tests/mutants/run.py --seed 7 10          the sample of that seed
    tests/mutants/run.py gate ring-wrap       those whose area or name is given
    tests/mutants/run.py --list               what there is
    tests/mutants/run.py --check              only whether each still applies; nothing is built
    tests/mutants/run.py --patch FILE [--suites "unit:test_gate cli"]
                                              a fault from elsewhere: a unified diff, or a file of mutants

A file of mutants is named after its area and has paragraphs like this one:

    name: gate-max-one-more
    breaks: a rule takes one snapshot more than its max= allows
    past: gate: a burst of one rule leaves the other rules their first snapshot
    claims: unit:test_gate
    - return cnt && t->cnt >= cnt && within(
    + return cnt && t->cnt > cnt && within(

past: the commit that mended such a fault, or a word on why it may happen. claims: suites of `make check`, fastest first; what is
behind a colon is one program of `unit`, or what other suites take as arguments (a script of `kernel`, words of tests' names).
The lines with - are the text to be replaced, wherever it is below bpf/ or user/: it must be there exactly once. Blanks and line
ends of any kind and number are alike, so neither moved nor reformatted code needs a new text. The lines with + replace it.

A mutant that no longer applies has failed: the text is to be found again, and the mutant rewritten to the same fault. One that
does not compile has failed, too: compilers need no tests. The copy and its build are kept in build/mutants/, so that only what a
mutant changes is built. A suite that fails without a mutant, or cannot run here, catches nothing.
"""
import argparse
import fcntl
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
WORK = os.path.join(TOP, "build", "mutants")
COPY = os.path.join(WORK, "tree")
PARTS = ("bpf/", "user/")
KEYS = ("name", "breaks", "past", "claims")
UNIT_S, SUITE_S = 300, 1200  # what takes longer hangs
JOBS = f"-j{os.cpu_count()}"
LIMITS = {"FR_LIMIT": "120", **os.environ}  # (tests/cases.py) what hangs is a mutant that is caught, and hangs once for each test

# Which suites claim the code below a folder, for a patch that does not say.
CLAIMS = (
    ("bpf/", "unit step gate kernel"),
    ("user/base/", "unit cli report cut rehearse export"),
    ("user/lib/", "lib cli"),
    ("user/show/view/", "view"),
    ("user/sys/", "unit files symbols kernel"),
    ("user/cmd/", "cli kernel:commands kernel:control kernel:status export"),
    ("user/read/analyze/", "report top"),
    ("user/read/diff/", "cut cli"),
    ("user/show/export/", "export view"),
    ("user/live/watch/", "unit kernel:watch"),
    ("user/live/incident/", "unit kernel:incidents"),
    ("user/show/profile/", "cli export kernel:profile"),
    ("user/live/recorder/", "unit fault kernel"),
    ("user/read/rehearse/", "rehearse kernel:rehearse"),
    ("user/read/replay/", "unit cli cut files"),
    ("user/show/report/", "report kernel:report"),
    ("user/live/snapshot/", "unit cut files kernel fault"),
    ("user/read/symbols/", "symbols kernel:symbols"),
    ("user/live/tail/", "unit kernel:tail"),
    ("user/show/top/", "unit top"),
    ("user/live/", "unit files kernel"),
    ("user/read/cut/", "unit cut files fault"),
    ("user/read/", "unit files symbols"),
    ("user/show/", "unit report export"),
    ("", "unit cli"),
)


class Broken(Exception):
    """A mutant cannot be used; the text says why, and what to do."""


class Mutant:
    def __init__(self, area, said, old, new):
        missing = [key for key in KEYS if not said.get(key)]
        if missing or not old:
            raise Broken(f"mutant {said.get('name', '?')} of {area} lacks {' and '.join(missing) or 'lines with -'}")
        self.area, self.name, self.breaks, self.past = area, said["name"], said["breaks"], said["past"]
        self.claims = said["claims"].split()
        self.old, self.new = "\n".join(old).strip(), "\n".join(new).strip()

    def place(self, texts):
        """The one file that has the text, and its text with the replacement."""
        pattern = re.compile(r"\s+".join(re.escape(word) for word in self.old.split()))
        found = [(path, m) for path, text in texts.items() for m in pattern.finditer(text)]
        if len(found) != 1:
            raise Broken(f"does not apply: its text is there {len(found) or 'no'} time{'s' * (len(found) > 1)}"
                         f"{': ' + ', '.join(sorted({path for path, _ in found})) if found else ''}. Find the code that does this "
                         f"now, and rewrite the mutant to the same fault: {self.breaks}")
        path, m = found[0]
        text = texts[path]
        return path, text[:m.start()] + self.new + text[m.end():]

    def apply(self, texts):
        path, text = self.place(texts)
        if text == texts[path]:
            raise Broken("changes nothing")
        return {path: text}


class Patch:
    """A unified diff from elsewhere."""
    area = "patch"
    past = "-"

    def __init__(self, file, claims):
        self.file, self.name, self.breaks = os.path.abspath(file), os.path.basename(file), f"what {file} breaks"
        with open(file, encoding="utf-8", errors="surrogateescape") as f:
            self.paths = re.findall(r"^\+\+\+ (?:b/)?(\S+)", f.read(), re.M)
        self.claims = claims or claims_of(self.paths)

    def apply(self, texts):
        before = {path: read(os.path.join(COPY, path)) for path in self.paths if os.path.exists(os.path.join(COPY, path))}
        p = subprocess.run(["patch", "-p1", "--no-backup-if-mismatch", "-i", self.file], cwd=COPY, capture_output=True, text=True)
        after = {path: read(os.path.join(COPY, path)) for path in before}
        for path, text in before.items():
            write(os.path.join(COPY, path), text)
        if p.returncode or not before:
            raise Broken(f"does not apply: {(p.stdout + p.stderr).strip()}")
        return {path: text for path, text in after.items() if text != before[path]}


def claims_of(paths):
    claims = []
    for path in paths:
        claims += next(suites for begin, suites in CLAIMS if path.startswith(begin)).split()
    return list(dict.fromkeys(claims))


def read(path):
    with open(path, encoding="utf-8", errors="surrogateescape", newline="") as f:
        return f.read()


def write(path, text):
    with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="") as f:
        f.write(text)


def paragraphs(path):
    """The mutants of a file."""
    area = os.path.splitext(os.path.basename(path))[0]
    for text in re.split(r"\n(?:[ \t]*\n)+", read(path).strip()):
        said, old, new = {}, [], []
        for line in text.split("\n"):
            if line.startswith("#"):
                continue
            if line.startswith(("-", "+")):
                (old if line[0] == "-" else new).append(line[1:])
                continue
            key, _, value = line.partition(":")
            if key not in KEYS or key in said:
                raise Broken(f"{path}: '{line}' is neither {', '.join(KEYS)} and a colon, nor a line of text with - or +")
            said[key] = value.strip()
        if said or old or new:
            yield Mutant(area, said, old, new)


def all_mutants():
    files = sorted(name for name in os.listdir(HERE) if name.endswith(".mutants"))
    mutants = [m for name in files for m in paragraphs(os.path.join(HERE, name))]
    names = [m.name for m in mutants]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise Broken(f"two mutants have the same name: {', '.join(sorted(twice))}")
    return mutants


def tracked(*under):
    """Files of the tree as they are now, whether committed or not."""
    out = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *under], cwd=TOP, check=True,
                         capture_output=True).stdout
    return [path for path in os.fsdecode(out).split("\0") if path and os.path.isfile(os.path.join(TOP, path))]


def source_texts():
    return {path: read(os.path.join(TOP, path)) for path in tracked(*PARTS)}


# ---- the copy ----

def same(a, b):
    try:
        with open(a, "rb") as x, open(b, "rb") as y:
            return x.read() == y.read() and os.stat(a).st_mode == os.stat(b).st_mode
    except OSError:
        return False


def make_copy():
    """Bring the copy up to date. Files that are the same keep their times, so that make does little."""
    want = tracked()
    known = os.path.join(WORK, "files")
    if os.path.exists(known):
        for path in set(read(known).split("\0")) - set(want):
            if path and os.path.lexists(os.path.join(COPY, path)):
                os.unlink(os.path.join(COPY, path))
    for path in want:
        to = os.path.join(COPY, path)
        if not same(os.path.join(TOP, path), to):
            os.makedirs(os.path.dirname(to), exist_ok=True)
            shutil.copy(os.path.join(TOP, path), to)
    write(known, "\0".join(want))


# ---- building and running ----

def run(command, log, limit_s=SUITE_S):
    """Its exit status; None: it hangs. What it prints goes to the log. All that it began ends with it."""
    with open(log, "a", encoding="utf-8") as out:
        print("$", " ".join(command), file=out, flush=True)
        p = subprocess.Popen(command, cwd=COPY, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, start_new_session=True,
                             env=dict(LIMITS, FLIGHTREC=os.path.join(COPY, "build", "flightrec")))
        try:
            return p.wait(limit_s)
        except subprocess.TimeoutExpired:
            return None
        finally:
            if p.poll() is None:
                os.killpg(p.pid, signal.SIGKILL)
                p.wait()


def built_for(claim):
    """What make is to build before the claim is run."""
    suite, _, rest = claim.partition(":")
    if suite == "unit":
        return [f"build/tests/unit/{rest}"] if rest else ["unit"]
    return [] if suite in ("step", "model") else ["all"]  # those compile what they need


def build(claims, log, keep_going=False):
    targets = list(dict.fromkeys(target for claim in claims for target in built_for(claim)))
    status = run(["make", "-s", JOBS, *(["-k"] if keep_going else []), *targets], log) if targets else 0
    return status == 0


def units():
    return sorted(os.path.splitext(name)[0] for name in os.listdir(os.path.join(COPY, "tests", "unit"))
                  if name.startswith("test_") and name.endswith(".c"))


def last_line(log):
    with open(log, "rb") as f:
        lines = f.read().decode(errors="replace").strip().split("\n")
    return lines[-1]


def passes(claim, log):
    """Run what claims some code. True, False; None: nothing in it could run here."""
    suite, _, rest = claim.partition(":")
    if suite == "unit":
        status = [run([f"build/tests/unit/{name}"], log, UNIT_S) for name in ([rest] if rest else units())]
        return all(s == 0 for s in status)  # None, too, is a failure: it hangs
    status = run([f"tests/{suite}/run.sh", *rest.split(",")] if rest else [f"tests/{suite}/run.sh"], log)
    m = re.fullmatch(r"(\d+) passed, (\d+) failed, (\d+) skipped", last_line(log))
    if status == 0 and m and not int(m[1]):
        return None
    return status == 0


class Bench:
    """The copy, and what is known of the suites without a mutant."""

    def __init__(self):
        self.logs = os.path.join(WORK, "logs")
        shutil.rmtree(self.logs, ignore_errors=True)
        os.makedirs(self.logs)
        self.lock = open(os.path.join(WORK, "lock"), "w", encoding="ascii")
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        make_copy()
        self.sound = {}

    def log(self, name):
        return os.path.join(self.logs, re.sub(r"[^\w.,-]+", "_", name) + ".log")

    def try_sound(self, claims):
        """Run each claim without a mutant, once."""
        claims = [claim for claim in claims if claim not in self.sound]
        build(claims, self.log("build"), keep_going=True)
        for claim in claims:
            begin = time.monotonic()
            self.sound[claim] = passes(claim, self.log(f"sound-{claim}"))
            if self.sound[claim] is not True:
                print(f"     without a mutant, {claim} {'fails' if self.sound[claim] is False else 'cannot run here'}: "
                      f"{self.log(f'sound-{claim}')}", flush=True)
            elif time.monotonic() - begin > 60:
                print(f"     without a mutant, {claim} takes {time.monotonic() - begin:.0f} s", flush=True)

    def judge(self, mutant, log):
        """(verdict, why)"""
        claims = [claim for claim in mutant.claims if self.sound[claim]]
        if not claims:
            unable = all(self.sound[claim] is None for claim in mutant.claims)
            return ("SKIP" if unable else "FAIL", f"{' and '.join(mutant.claims)}: {'cannot run here' if unable else 'fails without it, too'}")
        if not build(claims, log):
            return "FAIL", "does not compile: write a mutant that only a test can notice"
        for claim in claims:
            if not passes(claim, self.log(f"{mutant.name}-{claim}")):
                return "ok", f"caught by {claim}"
        return "FAIL", f"survived {' and '.join(claims)}: {mutant.breaks}"

    def try_mutant(self, mutant, texts):
        log = self.log(mutant.name)
        begin = time.monotonic()
        try:
            changed = mutant.apply(texts)
        except Broken as why:
            return "FAIL", str(why)
        before = {path: read(os.path.join(COPY, path)) for path in changed}
        try:
            for path, text in changed.items():
                write(os.path.join(COPY, path), text)
            verdict, why = self.judge(mutant, log)
        finally:
            for path, text in before.items():
                write(os.path.join(COPY, path), text)
        return verdict, f"{why} ({time.monotonic() - begin:.0f} s{'; ' + log if verdict == 'FAIL' else ''})"


# ---- what to run ----

def options():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--seed", type=int, default=int(os.environ["FR_SEED"]) if os.environ.get("FR_SEED") else None,
                   help="of the sample; FR_SEED, and without that another each time")
    p.add_argument("--patch", action="append", default=[], metavar="FILE", help="a unified diff or a file of mutants, instead of ours")
    p.add_argument("--suites", default="", help="what claims the code of --patch")
    p.add_argument("--list", action="store_true", help="print the mutants")
    p.add_argument("--check", action="store_true", help="only look whether each applies")
    p.add_argument("what", nargs="*", metavar="N|NAME", help="how many, or which")
    return p.parse_args()


def from_outside(files, suites):
    for file in files:
        if re.search(r"^(--- |\+\+\+ |diff )", read(file), re.M):
            yield Patch(file, suites)
            continue
        for m in paragraphs(file):
            m.claims = suites or m.claims
            yield m


def choose(mutants, what, seed):
    numbers = [int(word) for word in what if word.isdigit()]
    words = [word for word in what if not word.isdigit()]
    for word in words:
        if not any(word in (m.name, m.area) for m in mutants):
            raise Broken(f"no mutant and no area is called {word}: --list tells which there are")
    mutants = [m for m in mutants if not words or m.name in words or m.area in words]
    if not numbers or numbers[-1] >= len(mutants):
        return mutants
    seed = random.randrange(1 << 32) if seed is None else seed
    print(f"{numbers[-1]} of {len(mutants)} mutants, seed {seed}: again by --seed {seed} {' '.join(what)}", flush=True)
    return random.Random(seed).sample(mutants, numbers[-1])


def check(mutants, texts):
    """Whether each applies: how many do, and how many do not."""
    bad = 0
    for m in mutants:
        try:
            m.apply(texts)
        except Broken as why:
            print(f"FAIL {m.name}: {why}")
            bad += 1
    return len(mutants) - bad, bad


def main():
    o = options()
    mutants = list(from_outside(o.patch, o.suites.split())) if o.patch else all_mutants()
    texts = source_texts()
    if o.list:
        for m in mutants:
            print(f"{m.area:<11} {m.name:<28} {' '.join(m.claims):<30} {m.breaks}")
        return 0
    if o.check:
        good, bad = check(mutants, texts)
        print(f"{good} passed, {bad} failed, 0 skipped")
        return int(bad > 0)
    chosen = choose(mutants, o.what, o.seed)
    # those that need the whole program come one after the other: then make does not go to and fro
    chosen.sort(key=lambda m: built_for(m.claims[0]) == ["all"])
    os.makedirs(COPY, exist_ok=True)
    bench = Bench()
    bench.try_sound(list(dict.fromkeys(claim for m in chosen for claim in m.claims)))
    counts = {"ok": 0, "FAIL": 0, "SKIP": 0}
    failed = []
    for m in chosen:
        verdict, why = bench.try_mutant(m, texts)
        counts[verdict] += 1
        if verdict == "FAIL":
            failed.append(m.name)
        print(f"{verdict:<4} {m.name}: {why}", flush=True)
    if failed:
        again = "" if o.patch else f". To repeat: tests/mutants/run.py {' '.join(failed)}"
        print(f"not caught, or of no use: {' '.join(failed)}{again}")
    print(f"{counts['ok']} passed, {counts['FAIL']} failed, {counts['SKIP']} skipped")
    return int(counts["FAIL"] > 0 or not counts["ok"])


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Broken as why:
        print(f"FAIL {why}")
        print("0 passed, 1 failed, 0 skipped")
        sys.exit(1)
