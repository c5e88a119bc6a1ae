# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Runs the kernel tests in one process, so that scripts share their sessions: suite.py [SCRIPT...] [WORD...]. Without a script it runs
all, without a word all tests of those.

After each test the shared sessions must be there, and the account of each that the test used must be in order. So the test that harms
one is the test that fails. build/check/sessions has a line for each test that began sessions: how many, its script, its name, and why
it cannot share one.
"""
import glob
import importlib
import os
import re
import signal
import sys
import traceback

import frtest
import recorder
from begun import Begun
from cases import chosen, run_test, tests_of
from lapped import LAPPED

SESSIONS_FILE = os.path.join(os.path.dirname(frtest.FLIGHTREC), "check", "sessions")


# Those that share a session stand side by side, so that it lives for a short time, and those that need any session behind: the rest comes
# behind, by name. clock and service begin in their own way what others share.
BESIDE = ("clock", "status", "waits", "states", "commands", "report", "tasks", "takeover", "rare", "storage", "attack", "kill", "truth", "deaths", "event",
          "runtimes", "latency", "rehearse", "places", "symbols", "governor", "profile", "incidents", "tail", "watch", "keys", "service",
          "daemon", "control", "stderr", "deaths_recorded", "reload", "writer")

LAST = ("disk",)  # which ends the recorders' session

LEFT_MOST = 4  # sessions that live on for scripts to come that need any: their texts have TAKES_LEFT
TAKES_LEFT = r"\b(take_left|expendable)\("

# What a script's text has where it needs the session with these options. Any other shared session is needed by the script that began it.
NEEDS = {
    frtest.MINIMAL: r"MINIMAL|SMALL",
    frtest.SYSCALLS: r"SYSCALLS",
    frtest.FULL: r"FULL",
    frtest.WATCHED: r"WATCHED",
    frtest.WAITS: r"WAITS",
    frtest.FILTERED: r"FILTERED",
    frtest.CALLS: r"CALLS",
    frtest.SAMPLES: r"SAMPLES",
    frtest.ROOMY: r"ROOMY",
    frtest.TINY: r"TINY",
    LAPPED: r"lapped",
    frtest.SAMPLED: r"SAMPLED",
    frtest.GOVERNED: r"GOVERNED",
    recorder.RECORDED: r"RECORDED|recording|configured|expendable",
    recorder.ATTENDED: r"ATTENDED|attended|by_options",
}


def scripts():
    """Their names, in order."""
    found = sorted(re.search(r"t_(\w+)\.py$", f)[1] for f in glob.glob(os.path.join(os.path.dirname(__file__), "t_*.py")))
    return [s for s in BESIDE if s in found] + [s for s in found if s not in (*BESIDE, *LAST)] + [s for s in LAST if s in found]


def text_of(script):
    with open(os.path.join(os.path.dirname(__file__), f"t_{script}.py"), encoding="utf-8") as f:
        return f.read()


def needs(script, options):
    """Does it need the shared session with these options?"""
    return options in NEEDS and re.search(rf"\b({NEEDS[options]})\b", text_of(script))


class Account:
    """Who began which sessions."""

    def __init__(self):
        self.begun, self.rows, self.shared = Begun(frtest.SESSIONS, f"frtest-{os.getpid()}-"), [], set()

    def close(self, script, name, why):
        """A test has ended: to it belong the sessions that were begun since the last one ended."""
        names = self.begun.names()
        # one that was shared, and is begun again, is a test's own
        shared = {n for n in names if frtest.was_shared(n)} - self.shared
        self.shared |= shared
        if len(names) > len(shared):
            self.rows.append((len(names) - len(shared), script, name, why or "no reason is given"))
        self.rows += [(1, script, name, f"shared from here on: {' '.join(frtest.options_of(n))}") for n in sorted(shared)]

    def write(self):
        """The file; returns the line for the output."""
        os.makedirs(os.path.dirname(SESSIONS_FILE), exist_ok=True)
        with open(SESSIONS_FILE, "w") as f:
            f.writelines("\t".join(map(str, row)) + "\n" for row in self.rows)
        shared = sum(row[0] for row in self.rows if row[3].startswith("shared "))
        return f"sessions begun: {sum(row[0] for row in self.rows)}, {shared} of them shared; {SESSIONS_FILE} tells by whom, and why"


def repeat(script, fn):
    return f"FR_SEED={frtest.SEED} tests/kernel/run.sh {script} {fn.__name__}"


def call(script, fn):
    """The test itself, then what it left behind."""
    frtest.begin_test(script, fn)
    try:
        note = fn()
    except BaseException:
        frtest.end_test(failed=True)
        raise
    frtest.end_test()
    return note


def run_script(script, words, account, counts):
    print(f"# {script}", flush=True)
    module = f"t_{script}"
    frtest.begin_script(script)
    try:
        importlib.import_module(module)
    except Exception:
        print(f"FAIL {script}: {traceback.format_exc()}", flush=True)
        counts["FAIL"] += 1
        return
    tests = chosen(tests_of(module), words)
    if not tests:
        print(f"FAIL {script}: no test has {' or '.join(words) or 'anything'} in its name", flush=True)
        counts["FAIL"] += 1
    for name, fn in tests:
        counts[run_test(name, fn, lambda fn: call(script, fn), repeat(script, fn))] += 1
        account.close(script, name, getattr(fn, "own", ""))
    frtest.end_script()


def end_unneeded(to_come, counts):
    """Shared sessions that no script to come needs: they were sound up to here, and some are left to scripts that end them."""
    def attempt(fn, arg, what):
        try:
            fn(arg)
        except Exception as why:
            print(f"FAIL {what}: {why}", flush=True)
            counts["FAIL"] += 1

    for options in frtest.all_shared():
        if not any(needs(script, options) for script in to_come):
            attempt(frtest.leave_shared, options, f"shared session {' '.join(options)}")
    attempt(frtest.end_left, LEFT_MOST if any(re.search(TAKES_LEFT, text_of(script)) for script in to_come) else 0, "sessions that are left")


def told_to_end(_, frame):
    """By a time limit, most likely: a test that hangs is not to be found by what is missing behind the last line."""
    print(f"FAIL {frtest.running() or 'suite'}: told to end while it ran:\n{''.join(traceback.format_stack(frame))}", flush=True)
    sys.exit(143)


def main(args):
    """Returns how many passed, failed and were skipped."""
    signal.signal(signal.SIGTERM, told_to_end)
    # a shell's job in the background ignores the first two, what nohup starts the third, and so would all we start
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    known = scripts()
    names, words = [a for a in args if a in known], [a for a in args if a not in known]
    counts = {"ok": 0, "FAIL": 0, "SKIP": 0}
    account = Account()
    to_come = [s for s in known if not names or s in names]
    try:
        while to_come:
            script, *to_come = to_come
            run_script(script, words, account, counts)
            end_unneeded(to_come, counts)
    finally:
        end_unneeded([], counts)
    print(account.write(), flush=True)
    print(f"seed: {frtest.SEED}", flush=True)
    return tuple(counts.values())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:])[1] > 0)
