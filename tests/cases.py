# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests that are written in Python: functions with a name, run one after the other, a line for each."""
import os
import sys
import time
import traceback

# Seconds after which what a test waits for is taken to hang: so far that no test fails by it where the machine is merely busy. What is tested
# to come late, or not at all, has times of its own.
LIMIT_S = int(os.environ.get("FR_LIMIT", "300"))
_tests = []


class Skip(Exception):
    """The test cannot run here; the text says why."""


class Failed(AssertionError):
    """What is not as it should be."""


def test(name):
    """Decorator: a test, and its name in the output; by itself, the function's name is used."""
    if callable(name):
        return test(name.__name__.replace("_", " "))(name)

    def add(fn):
        _tests.append((name, fn))
        return fn
    return add


def check(ok, what):
    if not ok:
        raise Failed(what)


def equal(got, want, what="what is compared"):
    check(got == want, f"{what}: expected {want!r}, saw {got!r}")


def tests_of(module):
    """The tests that a module defines: (name, function)."""
    return [(name, fn) for name, fn in _tests if fn.__module__ == module]


def forget_tests():
    """Those so far are not to run: a script that defines some was imported for its functions."""
    _tests.clear()


def chosen(tests, words):
    """Those whose name or function contains one of these words; a word that is the whole name of functions means only those."""
    whole = {fn.__name__ for _, fn in tests}

    def means(word, name, fn):
        return word == fn.__name__ if word in whole else word in name or word in fn.__name__
    return [(name, fn) for name, fn in tests if not words or any(means(word, name, fn) for word in words)]


def run_test(name, fn, call=lambda fn: fn(), again=None):
    """
    Run a test and print its line. call(fn) runs it, and returns what is to be said of it, or None. again: the command that repeats it
    alone, which is printed if it fails. Returns ok, FAIL or SKIP.
    """
    begin = time.monotonic()
    try:
        note = call(fn)
        verdict, note = "ok", f"{': ' + note if note else ''} ({time.monotonic() - begin:.1f} s)"
    except Skip as why:
        verdict, note = "SKIP", f": {why}"
    except Failed as why:
        verdict, note = "FAIL", f": {why}"
    except Exception:  # whatever it is, the next test is to run
        verdict, note = "FAIL", f": {traceback.format_exc()}"
    print(f"{verdict} {name}{note}", flush=True)
    if verdict == "FAIL" and again:
        print(f"     alone: {again}", flush=True)
    return verdict


def suite_of(script):
    """The command that runs the suite of this script."""
    suite = os.path.join(os.path.dirname(script), "run.sh")
    return os.path.relpath(suite if os.path.exists(suite) else script)


def run_tests(call=lambda fn: fn(), only=()):
    """
    Run the tests, or those that these words choose, or the word FR_ONLY, which is passed through the suites' shell scripts. Returns how many
    passed, failed and were skipped.
    """
    counts = {"ok": 0, "FAIL": 0, "SKIP": 0}
    word = os.environ.get("FR_ONLY")
    for name, fn in chosen(chosen(_tests, only), [word] if word else ()):
        counts[run_test(name, fn, call, f"FR_ONLY={fn.__name__} {suite_of(sys.argv[0])}")] += 1
    if not sum(counts.values()) and word:
        print(f"SKIP all tests of {os.path.basename(sys.argv[0])}: FR_ONLY={word} is none of them", flush=True)
        counts["SKIP"] = 1
    elif not sum(counts.values()):
        print(f"FAIL no test has {' or '.join(only) or 'anything'} in its name", flush=True)
        counts["FAIL"] = 1
    return tuple(counts.values())


def main(call=lambda fn: fn(), only=()):
    """The same as the whole of a suite: it ends with the line that tests/run.sh reads."""
    passed, failed, skipped = run_tests(call, only)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(failed > 0)
