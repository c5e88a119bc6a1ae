# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""That the benchmarks do not take what failed for a figure. Measures nothing, needs no root."""
import contextlib
import io
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

import bench
import common
import docs
import offline
import overwriting
import rows

sys.path.append(os.path.join(common.HERE, "parts"))  # behind this directory's own, some of which have the same names
import disk  # noqa: E402
import programs  # noqa: E402
import snapshot  # noqa: E402
import timed  # noqa: E402


class Quiet(unittest.TestCase):
    """What is measured goes into rows of its own, and nothing to the terminal."""

    def setUp(self):
        rows.rows.clear()
        stack = contextlib.ExitStack()
        stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
        stack.enter_context(contextlib.redirect_stderr(io.StringIO()))
        self.addCleanup(stack.close)

    def told(self):
        """Why there is no figure."""
        return [r["not_measured"] for r in rows.rows if r["not_measured"]]


class Parts(Quiet):
    def test_a_part_that_fails_in_any_way_is_told(self):
        def fails(opts):
            raise opts
        for error in TypeError("no match"), ZeroDivisionError(), subprocess.TimeoutExpired("redis-benchmark", 60), SystemExit("bench: x"):
            self.assertFalse(bench.run_part("fails", fails, error))
            self.assertIn(type(error).__name__, self.told()[-1])

    def test_what_a_part_fails_with_stands_below_no_table_of_another(self):
        bench.run_part("first", lambda opts: rows.title("A table of the first"), None)
        bench.run_part("second", lambda opts: 1 / 0, None)
        self.assertEqual([r["group"] for r in rows.rows], ["second"])

    def test_ended_by_a_signal_it_cleans_up(self):
        was = signal.getsignal(signal.SIGTERM)
        try:
            bench.end_as_by_ctrl_c()
            with self.assertRaises(KeyboardInterrupt):
                bench.run_part("ended", lambda opts: os.kill(os.getpid(), signal.SIGTERM), None)
        finally:
            signal.signal(signal.SIGTERM, was)
            signal.signal(signal.SIGHUP, signal.SIG_DFL)


class Peers(Quiet):
    def test_nothing_recorded_is_no_figure(self):
        with self.assertRaises(OSError):
            overwriting.common_horizon({"cpu0": (0, 0), "cpu1": (0, 0)})

    def perf(self, script):
        """A perf that is begun, and does this instead."""
        p = overwriting.PerfDropped((), 4096, tempfile.gettempdir())
        p.p = subprocess.Popen(["sh", "-c", script], text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        p.control = []
        return p

    def test_a_perf_that_ended_by_itself_has_failed(self):
        p = self.perf("exit 3")
        p.p.wait()
        with self.assertRaisesRegex(OSError, "exit status 3"):
            p.stop()

    def test_one_that_was_stopped_has_not(self):
        p = self.perf("exec sleep 60")
        p.stop()
        p.stop()


    def test_who_is_not_installed_is_told_in_rows(self):
        with mock.patch("shutil.which", return_value=None):
            self.assertEqual(offline.peers(common, "", "", 1, 1), [])
        self.assertEqual([r["peer"] for r in rows.rows if "is not installed" in r["not_measured"]],
                         ["trace-cmd report", "babeltrace2", "perf script"])


class Loads(Quiet):
    def test_a_load_that_ends_by_itself_has_failed(self):
        with self.assertRaisesRegex(SystemExit, "no such program"):
            disk.run_for(("sh", "-c", "echo no such program >&2; exit 1"), 60)
        disk.run_for(("sleep", "60"), 0.1)

    @unittest.skipUnless(shutil.which("zstd"), "there is no zstd")
    def test_what_was_not_read_is_not_packed(self):
        with self.assertRaisesRegex(SystemExit, "exit status 3, 0"):
            disk.packed(["sh", "-c", "exit 3"])


class Promises(Quiet):
    def test_of_two_loads_it_is_told_which_missed(self):
        rows.row("slower than without", [20], "%", at_most=2, load="redis")
        rows.row("mixed load: events", [20], "", at_most=2, load="mixed load")
        self.assertEqual([rows.place({**r, "part": "programs"}) for r in rows.rows], ["programs, redis", "programs"])

    def test_a_ratio_to_what_added_nothing_keeps_no_promise(self):
        rows.ratio_row("ours / another's", [20, 20], [-1, 40], at_most=0.7)
        rows.ratio_row("ours / another's", [-20, 20], [1, 40], at_most=0.7)
        self.assertEqual([r["kept"] for r in rows.rows], [None, None])
        self.assertEqual(len(self.told()), 2)
        rows.ratio_row("ours / another's", [20, 20, 20], [-1, 40, 50], at_most=0.7)
        self.assertEqual((rows.rows[-1]["n"], rows.rows[-1]["kept"]), (2, True))

    def test_events_are_lost_if_one_snapshot_has_lost_some(self):
        snapshot.no_losses([(0, 0), (0, 2), (3, 0), (0, 0), (0, 0)])
        self.assertEqual([(r["median"], r["kept"]) for r in rows.rows], [(3, False), (2, False)])

    def test_who_was_not_recorded_was_not_silent_for_no_time(self):
        for stamps in [], [5], list(range(0, snapshot.BEGUN_NS, 1000)):
            with self.assertRaises(OSError):
                snapshot.silence_ms(stamps)
        self.assertEqual(snapshot.silence_ms([0, snapshot.BEGUN_NS + 1, snapshot.BEGUN_NS + 2_000_001]), 2)

    def test_the_worst_pause_is_told(self):
        snapshot.held_up("x", [1, 1, 4], [1, 1, 9], [0], False)
        self.assertEqual([r["median"] for r in rows.rows if r["case"].startswith("the longest of all rounds")], [4, 9])

    def test_a_promise_is_the_same_however_runs_without_differ(self):
        load = timed.Load("redis", "", (), (), None)
        runs = []
        for who, took in (programs.OFF, 50), (programs.DEFAULT, 103), (programs.OFF, 150):
            runs.append(programs.Run.__new__(programs.Run))
            runs[-1].who, runs[-1].got, runs[-1].at = who, {"time": took}, len(runs)
        programs.rows_of_metric(load, timed.TIME[0], [runs], {who: "not begun" for who in programs.RECORDERS if who not in {r.who for r in runs}})
        told = next(r for r in rows.rows if r["case"] == timed.SLOWER and r["peer"] == programs.DEFAULT)
        self.assertEqual((round(told["median"], 6), told["promise"], told["kept"]), (3, {"at_most": 2}, False))


class ShortOfTime(Quiet):
    """On a slow machine runs are left out, so that all parts end in the time that is promised, but of nobody all of them."""

    def runs_of(self, until):
        load = timed.Load("redis", "", (), (), lambda: {"throughput": 1})
        recorders = {who: programs.Begun(contextlib.nullcontext) for who in programs.RECORDERS}
        return [[r.who for r in runs] for runs in programs.take_turns([load], recorders, {}, until, False)["redis"]]

    def test_all_runs_are_made_where_there_is_time(self):
        self.assertEqual([len(runs) for runs in self.runs_of(None)], [len(runs) for runs in self.runs_of(time.monotonic() + 1000)])

    def test_each_is_run_where_there_is_none(self):
        runs, whole = self.runs_of(time.monotonic()), self.runs_of(None)
        self.assertEqual(runs[0], whole[0])
        self.assertEqual(runs[1], [programs.OFF, programs.DEFAULT, programs.OFF, programs.WITH_CALLS, programs.OFF])
        self.assertEqual(len(runs), len(whole) - 1)
        self.assertTrue(all(r[0] == r[-1] == programs.OFF for r in runs))

    def test_who_takes_what_is_left_runs_last_and_is_told_in_its_place(self):
        parts = bench.discover()
        self.assertEqual(bench.in_turn(parts)[-1], "programs")
        self.assertLess(list(parts).index("programs"), list(parts).index("start"))


class Surroundings(Quiet):
    """What else the machine did belongs to what was measured."""

    def measured(self, recorders):
        with mock.patch.object(rows, "recording", lambda: recorders), mock.patch.object(rows, "_ticks", lambda: [0] * 10), \
                mock.patch.dict(rows.parts, clear=True):
            with rows.Conditions("hot"):
                pass
            return rows.parts["hot"]

    def test_a_recorder_of_others_is_no_quiet(self):
        self.assertTrue(self.measured([])["quiet"])
        entry = self.measured(["left"])
        self.assertFalse(entry["quiet"])
        self.assertIn("left", entry["notes"][0])


class Machines(Quiet):
    """Promises of several machines' runs side by side."""

    def run_on(self, cpu, median, case="ours / theirs"):
        rows.rows.clear()
        with mock.patch.dict(rows._now, part="hot"):
            for group in "In a loop, 1 CPU", "In a loop, 2 CPUs":
                rows.title(group)
                rows.row(case, [median], "", at_most=0.5)
            rows.row("not promised", [1], "ns")
        part = {"date": "2026-11-23T15:50:14+00:00", "quiet": True}
        return {"version": rows.VERSION, "kernel": "6.1", "distribution": "Debian", "flightrec": "0.1", "quick": False,
                "machine": {"cpu": cpu, "cpus": 2, "hypervisor": "", "memory_bytes": 2**30},
                "parts": {"hot": part}, "rows": list(rows.rows)}

    def test_only_promises_are_kept_of_others(self):
        kept = docs.promises_of(self.run_on("A", 0.4))
        self.assertEqual([r["case"] for r in kept["rows"]], ["ours / theirs"] * 2)

    def test_each_promise_is_a_line_with_what_was_missed(self):
        text = docs.elsewhere([self.run_on("A", 0.4), self.run_on("B", 0.6)])
        self.assertIn("ours / theirs, 1 CPU | <= 0.5 | 0.4 | **0.6** |", text)
        self.assertIn("ours / theirs, 2 CPUs | <= 0.5 | 0.4 | **0.6** |", text)

    def test_a_promise_that_one_machine_did_not_measure_is_empty(self):
        text = docs.elsewhere([self.run_on("A", 0.4), self.run_on("B", 0.6, case="another")])
        self.assertIn("ours / theirs, 1 CPU | <= 0.5 | 0.4 |  |", text)
        self.assertIn("another, 2 CPUs | <= 0.5 |  | **0.6** |", text)


if __name__ == "__main__":
    unittest.main()
