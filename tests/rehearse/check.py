# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""check.py MAKE: rules on snapshots of which each event is known; keys at a terminal; paces."""
import atexit
import json
import os
import pty
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from cases import LIMIT_S, equal, main, test  # noqa: E402

FLIGHTREC, MAKE = os.environ["FLIGHTREC"], sys.argv[1]
TMP = tempfile.mkdtemp(prefix="rehearse-")
atexit.register(shutil.rmtree, TMP, ignore_errors=True)
MS, S = 1_000_000, 1_000_000_000
FACTS = {"arch": "x86_64", "boot_id": "b", "begin_ns": 1 * S, "clock_mode": "global"}
EVENTS = ("sched_switch,sched_waking,sched_wakeup_new,sched_process_fork,sched_process_exec,sched_process_exit,mark_victim,"
          "signal_generate,signal_deliver,irq_handler_entry,irq_handler_exit,softirq_entry,softirq_exit,sys_enter,sys_exit,"
          "block_rq_issue,block_rq_complete,kernel_report,trigger,crash")


class Made:
    """Events of a snapshot; times in seconds."""

    def __init__(self, events=EVENTS, horizon=1.0, **facts):
        self.rows, self.lines = [], [f"fact {k} {v}" for k, v in {**FACTS, "events": events, **facts}.items() if v]
        self.lines += [f"horizon {cpu} {int(horizon * S)}" for cpu in (0, 1)]

    def at(self, t, event, tid, cpu=0, **fields):
        self.rows.append((round(t * S), cpu, event, tid, fields))
        return self

    def born(self, t, tid, comm, tgid=None, parent=1):
        return self.at(t, "sched_process_fork", parent, child_pid=tid, child_tgid=tgid or tid, child_comm=comm,
                       child_start=round(t * S))

    def switch(self, t, prev, next, state=1, cpu=0):
        return self.at(t, "sched_switch", prev, cpu, next_pid=next, prev_state=state)

    def write(self, name):
        file = os.path.join(TMP, name + ".flight")
        if os.path.exists(file):
            os.unlink(file)
        lines = self.lines + [f"event {t} {cpu} {ev} {tid} " + " ".join(f"{k}={v}" for k, v in f.items())
                              for t, cpu, ev, tid, f in sorted(self.rows, key=lambda r: r[0])]
        subprocess.run([MAKE, file], input="\n".join(lines) + "\n", text=True, check=True)
        return file


def fr(*args, status=0):
    p = subprocess.run([FLIGHTREC, "replay", *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       text=True, timeout=LIMIT_S)
    equal(p.returncode, status, f"exit status of {args}: {p.stderr}")
    return p


def on(file, *rules, status=0, more=()):
    args = [a for r in rules for a in ("--on", r)]
    lines = [json.loads(x) for x in fr("--json", *args, *more, *([file] if isinstance(file, str) else file),
                                       status=status).stdout.splitlines()]
    return [x for x in lines if x["type"] == "moment"], [x for x in lines if x["type"] == "rule"]


def short(moments, *keys):
    return [(m["rule"], m["ts"] / S, m["verdict"], *(m[k] for k in keys)) for m in moments]


# ---- ends of processes ----

def deaths():
    m = Made()
    for tid in (200, 201, 202, 203, 204, 205, 206, 210, 212, 213, 220):
        m.born(5 + tid / 1000, tid, "web" if tid != 206 else "job")
    m.born(6, 211, "web", tgid=210).born(6, 230, "kworker/0:9", parent=2)
    m.at(10.0, "signal_deliver", 200, sig=11, fatal=1, ip=0x1000abc).at(10.2, "sched_process_exit", 200, exit_code=139, group_dead=1)
    m.at(20.0, "signal_deliver", 201, sig=11, fatal=1, ip=0x2000abc).at(20.2, "sched_process_exit", 201, exit_code=139, group_dead=1)
    m.at(21.0, "signal_deliver", 202, sig=6, fatal=1, ip=0x1000abc).at(21.2, "sched_process_exit", 202, exit_code=6, group_dead=1)
    m.at(22.0, "signal_deliver", 203, sig=11, fatal=1).at(22.2, "sched_process_exit", 203, exit_code=0, group_dead=1)
    m.at(23.0, "signal_deliver", 204, sig=9, fatal=1, ip=0x5).at(23.2, "sched_process_exit", 204, exit_code=15, group_dead=1)
    m.at(24.0, "sched_process_exit", 205, exit_code=134, group_dead=1)  # no delivery was seen
    m.at(25.0, "sched_process_exit", 206, exit_code=7 << 8, group_dead=1)
    m.at(26.0, "sched_process_exit", 210, exit_code=0).at(26.5, "sched_process_exit", 211, exit_code=3 << 8, group_dead=1)
    m.at(27.0, "sched_process_exit", 230, exit_code=7 << 8, group_dead=1)  # a kernel thread
    m.at(28.0, "mark_victim", 1, target_pid=213, uid=33, total_vm=9)
    m.at(29.0, "signal_deliver", 220, sig=15, fatal=1).at(30.0, "signal_deliver", 220, sig=15, fatal=1)  # a namespace's init
    m.at(31.0, "sched_process_exit", 220, exit_code=0, group_dead=1)
    m.at(75.0, "signal_deliver", 212, sig=11, fatal=1, ip=0x3000abc)  # the file ends before it does
    return m.write("deaths")


@test
def crashes_of_core_signals():
    moments, sums = on(deaths(), "crash")
    equal(short(moments, "pid", "sig"), [(0, 10.0, "taken", 200, 11), (0, 20.0, "dedupe", 201, 11), (0, 21.0, "taken", 202, 6),
                                         (0, 24.0, "taken", 205, 6), (0, 75.0, "taken", 212, 11)], "moments")
    equal((sums[0]["matched"], sums[0]["verdicts"]), (5, {"taken": 4, "dedupe": 1}), "sums")
    equal(moments[0]["ip"], 0x1000abc, "instruction")


@test
def crashes_of_all_signals_once_each():
    last = Made().born(5, 300, "web").at(10, "signal_deliver", 300, sig=64, fatal=1).write("last")
    equal(short(on(last, "crash:all", "crash:all,sig=64", "crash:all,sig=63")[0], "sig"),
          [(0, 10, "taken", 64), (1, 10, "busy", 64)], "the last signal")
    moments, _ = on(deaths(), "crash:all,cooldown=0,sig=TERM|ABRT", "crash:comm=nobody", "crash:comm=w?b,cooldown=0")
    equal(short(moments, "pid", "sig"), [(2, 10.0, "taken", 200, 11), (2, 20.0, "taken", 201, 11), (0, 21.0, "taken", 202, 6),
                                         (2, 21.0, "busy", 202, 6), (0, 23.0, "taken", 204, 15), (0, 24.0, "taken", 205, 6),
                                         (2, 24.0, "busy", 205, 6), (2, 75.0, "taken", 212, 11)], "moments")


@test
def a_crash_that_a_rule_had_seen_is_that_one():
    m = Made().born(5, 300, "web")
    m.at(10.0, "signal_deliver", 300, sig=11, fatal=1, ip=0x10).at(10.001, "crash", 300, sig=11, ip=0x10, uid=33)
    m.at(10.2, "sched_process_exit", 300, exit_code=139, group_dead=1)
    m.born(11, 301, "web").at(12.0, "sched_process_exit", 301, exit_code=139, group_dead=1)
    m.at(12.001, "crash", 301, sig=11, late=1, ip=0x99, uid=34)
    moments, sums = on(m.write("seen"), "crash:uid=33", "crash:uid=34", "crash:uid=0")
    equal(short(moments, "pid", "ip"), [(0, 10.001, "taken", 300, 0x10), (1, 12.001, "taken", 301, 0x99)], "moments")
    equal(sums[0]["evaluated"], "part", "users are known of such crashes only")


@test
def statuses_and_victims():
    moments, sums = on(deaths(), "exit:7", "exit:3", "exit:0:comm=web", "oom:uid=33", "oom:comm=x", "oom:uid=1", "exit:7:uid=0",
                       status=1)
    equal(short(moments, "pid"), [(2, 22.2, "taken", 203), (0, 25.0, "taken", 206), (1, 26.5, "taken", 210),
                                  (3, 28.0, "taken", 213), (4, 28.0, "filtered", 213), (2, 31.0, "dedupe", 220)], "moments")
    equal(sums[6]["evaluated"], "no", "users of ended processes are not recorded")


@test
def a_process_has_its_first_threads_name():
    m = Made().born(5, 300, "main").born(6, 301, "worker", tgid=300).born(5, 310, "main").born(6, 311, "worker", tgid=310)
    m.born(5, 320, "main").born(6, 321, "worker", tgid=320)
    m.at(10, "sched_process_exit", 300, exit_code=3 << 8).at(10.5, "sched_process_exit", 301, exit_code=3 << 8, group_dead=1)
    m.at(20, "sched_process_exit", 310, exit_code=11).at(20.5, "sched_process_exit", 311, exit_code=11, group_dead=1)
    m.at(30, "signal_deliver", 321, sig=11, fatal=1).at(30.5, "sched_process_exit", 321, exit_code=11, group_dead=1)
    file = m.write("threads")
    moments, _ = on(file, "exit:3:comm=main", "crash:comm=main,cooldown=0")
    equal(short(moments, "pid", "comm"), [(0, 10.5, "taken", 300, "main"), (1, 20.5, "taken", 310, "main"),
                                          (1, 30.5, "taken", 320, "main")], "of processes")
    moments, _ = on(file, "exit:3:comm=worker", "crash:comm=worker")
    equal(short(moments, "pid", "comm"), [(1, 30, "taken", 320, "worker")], "of the thread that a signal was delivered to")


# ---- latencies ----

def waits():
    m = Made().born(5, 300, "slow").born(5, 301, "waker").born(5, 302, "hangs").born(5, 303, "starves")
    m.switch(99.0, 0, 300).switch(100.0, 300, 0).at(100.5, "sched_waking", 301, 1, target_pid=300).switch(100.6, 0, 300)
    m.at(101.0, "sys_enter", 300, id=230).at(101.2, "sys_exit", 300, id=230)
    m.at(102.0, "sys_enter", 300, id=230).at(102.1, "sys_exit", 300, id=230, ret=-516 % 2**64)
    m.at(102.1, "sys_enter", 300, id=219).at(102.4, "sys_exit", 300, id=219)
    m.at(103.0, "block_rq_issue", 300, dev=8 << 20, sector=64, bytes=8192, nr_sector=16)
    m.at(103.05, "block_rq_complete", 0, 1, dev=8 << 20, sector=64, nr_sector=8)
    m.at(103.1, "block_rq_complete", 0, 1, dev=8 << 20, sector=72, nr_sector=8)
    m.at(104.0, "softirq_entry", 0, 1, vec=3).at(104.03, "softirq_exit", 0, 1, vec=3)
    m.at(105.0, "irq_handler_entry", 0, 1, irq=9).at(105.04, "irq_handler_exit", 0, 1, irq=9)
    m.switch(110.0, 302, 301, 2, 1)  # in D until 140 s
    m.switch(111.0, 303, 0, 256, 0)  # preempted until 118 s
    m.switch(118.0, 0, 303, 0, 0).switch(119.0, 303, 0, 1, 0)
    m.at(140.0, "sched_waking", 301, 1, target_pid=302).switch(140.1, 301, 302, 1, 1)
    for i in range(5):  # awake after 3 ms each, 5 ms one after the other: two within a gap
        t = 150 + i * 0.005
        m.switch(t, 302, 0, 1, 1).at(t + 0.001, "sched_waking", 301, 0, target_pid=302).switch(t + 0.004, 0, 302, 0, 1)
    return m


@test
def latencies_of_each_kind():
    rules = ("latency:wakeup>50ms", "latency:offcpu>550ms:comm=slow", "latency:syscall:clock_nanosleep>150ms",
             "latency:block>99ms", "latency:softirq>29ms", "latency:irq>39ms", "latency:syscall>1ms:comm=none",
             "latency:wakeup>100ms:comm=slow")
    moments, sums = on(waits().write("waits"), *(f"{r},cooldown=0" for r in rules))
    got = [(m["rule"], m["ts"] // MS, m["tid"], m["value_ns"] // MS, m["id_name"]) for m in moments if m["ts"] < 110 * S]
    equal(got, [(0, 100600, 300, 100, None), (1, 100600, 300, 600, None), (2, 101200, 300, 200, "clock_nanosleep"),
                (2, 102400, 300, 400, "clock_nanosleep"), (3, 103100, 300, 100, None), (4, 104030, 0, 30, "NET_RX"),
                (5, 105040, 0, 40, None)], "moments")
    equal([s["matched"] for s in sums], [2, 1, 2, 1, 1, 1, 0, 0], "times that they held")


@test
def a_gap_is_kept_and_all_are_counted():
    moments, sums = on(waits().write("gap"), "latency:wakeup>2ms:comm=hangs,cooldown=12ms", more=("--since", "149s"))
    equal(short(moments), [], "nothing behind the end")
    moments, sums = on(waits().write("gap"), "latency:wakeup>2ms:comm=hangs,cooldown=12ms", more=("--since", "-25ms"))
    equal(short(moments), [(0, 150.004, "taken"), (0, 150.014, "cooldown"), (0, 150.024, "taken")], "moments")
    equal((sums[0]["matched"], sums[0]["alerted"]), (5, 3), "counted")


def long_waits():
    """Of the tasks 400 to 403, one waits in a call, one is awake, one naps, and a thread of the kernel has nothing to do."""
    m = Made().born(5, 400, "waits").born(5, 401, "spins").born(5, 402, "naps").born(5, 403, "kworker/0:1", parent=2)
    m.switch(20.0, 0, 403).switch(20.1, 403, 0, 128)
    m.switch(30.0, 0, 400).at(30.05, "sys_enter", 400, id=202).switch(30.1, 400, 0)
    m.at(33.0, "sched_waking", 402, 1, target_pid=400)  # queued from then on: off the CPU all the same
    m.switch(50.0, 0, 400).switch(50.1, 400, 401)
    m.switch(55.0, 401, 0, 256).switch(58.0, 0, 401)  # preempted: it does not sleep
    m.switch(70.0, 401, 0).at(70.5, "sched_waking", 402, 1, target_pid=401).switch(71.0, 0, 401).switch(72.0, 401, 0)
    for t in range(40, 60):
        m.switch(t - 0.5, 0, 402, 0, 1).switch(t + 0.4, 402, 0, 1, 1)  # it runs at each look, and sleeps in between
    return m.switch(100.0, 0, 401)


@test
def tasks_that_wait_or_do_not_sleep_are_found_by_looks():
    # looks are at odd seconds: every 2 s from the first event on
    rules = ("asleep>8s:comm=waits", "asleep>8s,syscall=futex", "asleep>8s,syscall=openat", "asleep>30s:comm=waits", "busy>8s:comm=spins",
             "busy>8s:comm=n*", "busy>30s", "asleep>8s:comm=naps", "asleep>8s:comm=kworker*")
    moments, sums = on(long_waits().write("looks"), *(f"{r},cooldown=0" for r in rules))
    got = sorted((m["rule"], m["tid"], m["ts"] // S, m["value_ns"] // S) for m in moments)
    equal(got, [(0, 400, 39, 8), (0, 400, 59, 8), (1, 400, 39, 8), (1, 400, 59, 8), (3, 400, 81, 30), (4, 401, 61, 10), (7, 402, 69, 9)], "moments")
    equal([s["evaluated"] for s in sums], ["yes"] * len(rules), "evaluated")
    _, sums = on(Made(events="sched_switch,sched_waking").write("no calls"), "asleep>8s,syscall=futex", "busy>1s", status=1)
    equal([s["evaluated"] for s in sums], ["no", "yes"], "calls were not recorded")


def many():
    m = Made().born(5, 500, "forks").at(5.5, "sched_process_exec", 500, filename="/usr/bin/forks-much", old_pid=500)
    for i in range(30):
        m.born(10 + i * 0.01, 600 + i, "child", parent=500)
        m.at(20 + i * 0.01, "sched_process_exit", 600 + i, exit_code=0, group_dead=1)
        m.at(30 + i * 0.01, "signal_generate", 501, target_pid=500, sig=10 if i % 3 else 15)
        m.at(40 + i * 0.01, "sys_exit", 500, id=257, ret=(-2 if i % 2 else 3) % 2**64)
        m.at(9 + i * 0.01, "sys_exit", 500, id=257, ret=-512 % 2**64)  # begun again: no error of the caller's
    return m


@test
def rates_are_counted_in_their_time():
    rules = ("rate:fork>20/s", "rate:fork>30/s", "rate:exit>20/s:comm=child", "rate:exit>5/s:comm=other", "rate:signal>20/s", "rate:signal:TERM>9/s",
             "rate:error:openat>10/s", "rate:error:openat:EACCES>1/s", "rate:error:openat>14/1h", "rate:fork>20/s,exe=forks*", "rate:fork>20/s,exe=forks")
    moments, sums = on(many().write("rates"), *(f"{r},cooldown=0" for r in rules))
    got = sorted((m["rule"], m["tid"], m["ts"] // MS, m["what"], m["cnt"]) for m in moments)
    equal(got, [(0, 500, 10200, "fork", 21), (2, 620, 20200, "exit", 21), (4, 500, 30200, "signal", 21), (5, 500, 30270, "signal", 10),
                (6, 500, 40210, "error", 11), (8, 500, 40290, "error", 15), (9, 500, 10200, "fork", 21)], "moments")
    equal([s["matched"] for s in sums], [1, 0, 1, 0, 1, 1, 1, 0, 1, 1, 0], "times that they held")
    text = fr("--on", rules[0], many().write("rates")).stdout
    assert "rate: 21 tasks were made within " in text and " of forks 500" in text, text


@test
def hung_tasks_are_found_by_looks_and_when_they_run():
    moments, _ = on(waits().write("hung"), "hung>10s,cooldown=0", "hung>5s:comm=starves,cooldown=0", "hung>1h")
    got = [(m["rule"], m["ts"] // MS, m["tid"], m["value_ns"] // MS, m["state"]) for m in moments]
    # the first look is 1.25 s behind the first event (5 s): the shortest limit's quarter
    equal(got, [(1, 116250, 303, 5250, 0), (0, 121250, 302, 11250, 2)], "moments")


@test
def what_began_before_the_horizon_is_not_known():
    moments, _ = on(Made(horizon=100.2).born(5, 300, "slow").switch(100.0, 300, 0)
                    .at(100.5, "sched_waking", 301, 1, target_pid=300).switch(100.6, 0, 300)
                    .switch(100.7, 300, 0).switch(100.9, 0, 300).write("horizon"), "latency:offcpu>100ms,cooldown=0")
    equal(short(moments, "value_ns"), [(0, 100.9, "taken", 200 * MS)], "moments")
    out = fr("--on", "latency:offcpu>100ms", os.path.join(TMP, "horizon.flight")).stdout
    assert "what began before 100.200000000 is not known" in out, out
    # what was read after the snapshot had begun is not all there is
    moments, _ = on(Made(snapshot_ns=int(100.7 * S)).switch(100.0, 300, 0).switch(100.6, 0, 300).switch(100.65, 300, 0)
                    .switch(100.9, 0, 300).write("taken"), "latency:offcpu>100ms,cooldown=0")
    equal(short(moments), [(0, 100.6, "taken")], "moments before it was taken")


# ---- others, limits ----

@test
def events_limits_and_what_waits():
    m = Made()
    for t in (10.0, 10.005, 10.5, 11.2, 20, 30, 40, 50):
        m.at(t, "irq_handler_entry", 0, irq=7, name="eth0")
    rule = "event:event == irq_handler_entry && name ~ \"eth*\""
    moments, sums = on(m.write("irqs"), f"{rule},post=1s,cooldown=0", f"{rule},max=2/15s,cooldown=0", f"{rule},cooldown=25s")
    of = [[(t, v) for r, t, v in short(moments) if r == i] for i in range(3)]
    equal(of[0], [(10.0, "taken"), (10.5, "busy"), (11.2, "taken"), (20, "taken"), (30, "taken"), (40, "taken"), (50, "taken")],
          "with post=")
    equal(of[1], [(10.0, "busy"), (10.5, "taken"), (11.2, "busy"), (20, "busy"), (30, "busy"), (40, "busy"), (50, "busy")],
          "behind another rule")
    equal([s["matched"] for s in sums], [8, 8, 8], "matched")
    moments, sums = on(m.write("irqs"), f"{rule},max=2/15s,cooldown=0")
    equal([v for _, _, v in short(moments)], ["taken", "taken", "max", "max", "taken", "taken", "taken"], "max=2/15s")
    moments, sums = on(m.write("irqs"), f"{rule},cooldown=25s", "every:1s")
    equal([v for r, _, v in short(moments) if r == 0], ["taken"] + ["cooldown"] * 4 + ["storm"] * 2, "cooldown=25s")
    equal((sums[1]["verdicts"], sums[1]["matched"]), ({"taken": 29, "storm": 11}, 40), "every:1s")


@test
def absurd_times_end():
    m = Made().switch(10, 300, 0, 2)
    m.rows.append((2**62, 0, "irq_handler_entry", 0, {"irq": 7}))
    _, sums = on(m.write("absurd"), "every:100ms", "hung>1s,cooldown=0", more=("--count",))
    assert sums[0]["matched"] >= 1000000 and sums[1]["matched"] == 1, sums


@test
def kernel_reports():
    m = Made(rule_cnt=1, rule_0="kernel,post=1s")
    for t in (10, 10.2, 10.9, 11.05, 80):
        m.at(t, "kernel_report", 5, text="WARN")
    m.at(83, "kernel_report", 5, text="KASAN").at(86, "kernel_report", 5, text="WARN")
    m.at(89, "kernel_report", 5, text="BUG:~KASAN:~x").at(92, "kernel_report", 5, text="WARNING:~CPU:~1")
    moments, _ = on(m.write("kernel"), "kernel")
    equal(short(moments, "text"), [(0, 10, "taken", "WARN"), (0, 11.05, "dedupe", "WARN"), (0, 80, "taken", "WARN"),
                                   (0, 83, "taken", "KASAN"), (0, 86, "dedupe", "WARN"), (0, 89, "taken", "BUG: KASAN: x"),
                                   (0, 92, "taken", "WARNING: CPU: 1")], "moments")


@test
def what_cannot_be_said_is_said():
    file = Made(events="sched_switch,sched_process_exit,trigger").at(10, "sched_process_exit", 9, exit_code=11, group_dead=1).write("few")
    rules = ("latency:syscall>1s", "psi:memory:20%", "kernel", "signal", "exit", "command", "hung>1s", "oom", "latency:offcpu>1s",
             "crash", "event:id == openat", "event:event == cpu_sample")
    _, sums = on(file, *rules, status=1)
    equal([s["evaluated"] for s in sums], ["no"] * 8 + ["yes", "part", "no", "no"], "evaluated")
    for i, text in ((0, "sys_enter was not recorded"), (1, "cannot be evaluated from a file"), (2, "none was"), (4, "exit:STATUS"),
                    (6, "sched_waking was not recorded"), (7, "mark_victim"), (9, "signal_deliver was not recorded"),
                    (10, "sys_enter, sys_exit were not recorded"), (11, "cpu_sample was not recorded")):
        assert any(text in n for n in sums[i]["notes"]), sums[i]
    on(file, "latency:offcpu>1s", status=0)
    _, sums = on(Made(events=EVENTS + ",cpu_sample").at(10, "cpu_sample", 9, ip=5).write("sample"), "event:event == cpu_sample",
                 status=1)
    equal((sums[0]["evaluated"], sums[0]["matched"]), ("refused", 1), "refused, and evaluated")
    assert sums[0]["notes"][0].startswith("live would refuse: column 13: "), sums
    _, sums = on(Made(settings="-p full --comm nginx").at(10, "sys_enter", 9, id=1).write("chosen"), "latency:syscall>1s")
    assert "--comm nginx" in sums[0]["notes"][0] and sums[0]["evaluated"] == "part", sums


@test
def two_boots_have_a_recorder_each():
    files = [Made(boot_id=b).born(5, 200, "web").at(10.0, "signal_deliver", 200, sig=11, fatal=1).write(f"boot-{b}") for b in "xy"]
    moments, sums = on(files, "crash")
    equal((short(moments), sums[0]["verdicts"]), ([(0, 10.0, "taken")] * 2, {"taken": 2}), "two boots")
    files = [Made().born(5, 200, "web").at(10.0, "signal_deliver", 200, sig=11, fatal=1).write(f"again-{i}") for i in (1, 2)]
    moments, _ = on(files, "crash")
    equal(short(moments), [(0, 10.0, "taken")], "two files of one boot")


def lent(name, taken, *processes):
    """What a snapshot at a time has of pid 200: one process after the other, crashing; (cgroup id, start, end), one that lives last."""
    m = Made(horizon=0.5, epoch=0xabcd1234, snapshot_ns=taken * S)
    for cgroup, start, end in processes:
        m.lines.append(f"process 200 {start * S} {end * S} {cgroup} web")
        m.at(start + 3, "signal_deliver", 200, sig=11, fatal=1, ip=cgroup)
    for _, start, _ in processes[1:]:
        m.born(start, 200, "web")
    m.lines.append('proc ' + json.dumps({"pid": 200, "exe": f"/bin/{len(processes)}", "cgroup": f"/{len(processes)}"}).replace(" ", ""))
    return m.write(name)


@test
def a_pid_is_lent():
    first, second, third = (7, 2, 0), (8, 12, 0), (9, 22, 0)
    files = [lent("lent-1", 10, first), lent("lent-2", 20, (7, 2, 11), second), lent("lent-3", 30, (7, 2, 11), (8, 12, 21), third)]
    merged, again, ours = (os.path.join(TMP, f"lent-{n}.flight") for n in ("merged", "again", "ours"))
    merge = lambda out, *paths: subprocess.run([FLIGHTREC, "merge", "-o", out, *paths], check=True, stdout=subprocess.PIPE)
    merge(merged, *files[:2])
    merge(again, files[2], merged)
    merge(ours, *files[1:])
    whens = lambda path, cgroup: [json.loads(l)["ts"] // S for l in fr("--json", "-f", f'event == signal_deliver && cgroup == "{cgroup}"',
                                                                     *([path] if isinstance(path, str) else path)).stdout.splitlines()]
    for paths, known in (files, "123"), (files[::-1], "123"), (again, "123"), (merged, "12"), (ours, "23"), ([files[0], files[2]], "13"), (files[2], "3"):
        exes = [m["exe"] for m in on(paths, "crash,cooldown=0")[0]]
        equal(exes, [f"/bin/{n}" if n in known else None for n in "123"][:len(exes)], f"programs in {paths}")
        assert len(exes) == (2 if paths == merged else 3), exes
        equal([whens(paths, f"/{n}") for n in "123"], [[t] if n in known else [] for n, t in zip("123", (5, 15, 25))], f"cgroups in {paths}")
    report = json.loads(subprocess.run([FLIGHTREC, "report", "--json", again], check=True, stdout=subprocess.PIPE).stdout)
    assert "cgroups" in report, report


@test
def text_and_sums_alone():
    out = fr("--on", "crash", "--on", "psi:cpu:10%", deaths(), status=1).stdout.splitlines()
    equal(out[0], "10.000000000  rule 0  taken     crash SIGSEGV ip 0x1000abc of web 200", "first line")
    equal(out[5:], ["rule 0  crash  matched 5, alerted 5: taken 4, dedupe 1", "rule 1  psi:cpu:10%",
                    "        cannot be evaluated from a file: pressure is measured by the kernel, and not recorded"], "sums")
    equal(fr("--on", "crash", "--count", deaths()).stdout, "rule 0  crash  matched 5, alerted 5: taken 4, dedupe 1\n", "--count")


@test
def damage_costs_no_more_than_itself():
    """Wherever a byte is wrong, rules are rehearsed if the file is replayed: a damaged chunk of the life tier is left out."""
    whole = deaths()
    wrong, seen = os.path.join(TMP, "wrong.flight"), set()
    with open(whole, "rb") as f:
        data = f.read()
    for at in range(0, len(data), 17):
        with open(wrong, "wb") as f:
            f.write(data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1:])
        status = [subprocess.run([FLIGHTREC, "replay", "--count", *rule, wrong], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL, timeout=LIMIT_S).returncode for rule in ([], ["--on", "crash"])]
        equal(status[1], status[0], f"exit status with --on, byte {at} of {len(data)}")
        seen.add(status[0])
    assert 3 in seen, seen


@test
def wrong_rules():
    file = deaths()
    err = fr("--on", "crsh", file, status=2).stderr
    assert "did you mean crash?" in err and "\n  crsh\n  ^" in err, err
    assert "-f" in fr("--on", "crash", "-f", "tid == 1", file, status=2).stderr
    assert "more than 32" in fr(*["--on", "crash"] * 33, file, status=2).stderr
    fr("--on", "crash", "/nowhere", status=1)
    fr("--on", "crash", "/dev/null", status=3)


# ---- --speed ----

@test
def speeds():
    file = deaths()
    whole = fr(file).stdout
    for speed in ("max", "100000x", "1000000", "99999.5"):
        equal(fr("--speed", speed, file).stdout, whole, f"--speed {speed}")
    begin = time.monotonic()
    equal(fr("--speed", "700x", "--json", "-f", "event == sched_process_exit", file, file).stdout,
          fr("--json", "-f", "event == sched_process_exit", file).stdout, "with a filter, two files")
    took = time.monotonic() - begin
    assert took >= (31 - 10.2) / 700, f"as fast as nothing: {took} s"
    begin = time.monotonic()
    fr("--speed", "2000x", "--on", "crash", file)
    assert time.monotonic() - begin >= (75 - 10) / 2000, "rehearsed at once"
    for speed in ("", "x", "0", "-1", "+1x", "nan", "inf", "1xx", "0x5", "1e3", "fast", "2 x", "0.0000001", "10000000"):
        err = fr("--speed", speed, file, status=2).stderr
        assert "--speed" in err and "0.1x" in err, err


@test
def nobody_reads():
    file = Made().at(10, "irq_handler_entry", 0, irq=1).at(10000, "irq_handler_entry", 0, irq=2).write("pause")
    p = subprocess.Popen([FLIGHTREC, "replay", "--speed", "1x", file], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert "irq=1" in p.stdout.readline()
    p.stdout.close()  # and the next event is hours away
    equal((p.wait(LIMIT_S), p.stderr.read()), (0, ""), "it ends")


# ---- --step ----

class Terminal:
    """replay --step with keys from a terminal; its output line by line."""

    def __init__(self, *args):
        self.master, self.slave = pty.openpty()
        self.was = termios.tcgetattr(self.slave)
        self.p = subprocess.Popen([FLIGHTREC, "replay", "--step", *args], stdin=self.slave, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL)
        self.text = b""

    def key(self, keys):
        os.write(self.master, keys.encode())

    def lines(self, cnt):
        """So many more lines."""
        until = time.monotonic() + LIMIT_S
        while self.text.count(b"\n") < cnt:
            assert select.select([self.p.stdout], [], [], max(0, until - time.monotonic()))[0], f"no more than {self.text}"
            more = os.read(self.p.stdout.fileno(), 65536)
            assert more, f"it ended behind {self.text}"
            self.text += more
        *lines, self.text = self.text.split(b"\n", cnt)
        return [x.decode() for x in lines]

    def is_raw(self):
        return not termios.tcgetattr(self.slave)[3] & termios.ICANON

    def end(self, status=0):
        rest = self.text + self.p.communicate(timeout=LIMIT_S)[0]
        equal(self.p.returncode, status, "exit status")
        equal(termios.tcgetattr(self.slave), self.was, "the terminal")
        os.close(self.master)
        os.close(self.slave)
        return rest.decode().splitlines()


def all_lines(*args):
    return fr(*args).stdout.splitlines()


@test
def steps():
    file = deaths()
    want = all_lines(file)
    t = Terminal(file)
    equal(t.lines(1), want[:1], "the first")
    assert t.is_raw(), "keys need Enter"
    t.key("\r")
    equal(t.lines(1), want[1:2], "Enter")
    t.key("x 3 ")  # x is no key; then one; then three
    equal(t.lines(4), want[2:6], "space, and three")
    t.key("q")
    equal(t.end(), [], "behind q")
    t = Terminal(file)
    t.lines(1)
    t.key("c")
    equal(t.lines(len(want) - 1), want[1:], "all the rest")
    equal(t.end(), [], "behind the end")


@test
def steps_by_several_and_to_what_matches():
    file, choice = deaths(), "event == sched_process_exit"
    want, chosen = all_lines("--json", file), all_lines("--json", "-f", choice, file)
    t = Terminal("--json", "-f", choice, file)
    equal(t.lines(1), want[:1], "the first, chosen or not")
    t.key("nn")
    equal(t.lines(2), chosen[:2], "the next two that match")
    t.key("\n")
    at = want.index(chosen[1])
    equal(t.lines(1), want[at + 1:at + 2], "the one behind")
    t.key("c")
    equal(t.end(), chosen[2:], "the rest that matches")
    p = subprocess.run([FLIGHTREC, "replay", "--step=0", file], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert p.returncode == 2 and "--step=10" in p.stderr, p
    t = Terminal(file)
    t.lines(1)
    t.key("\x04")
    equal(t.end(), [], "behind ^D")


@test
def steps_end_with_the_terminal_as_it_was():
    for sig, status in ((signal.SIGTERM, -signal.SIGTERM), (signal.SIGHUP, -signal.SIGHUP), (signal.SIGINT, 0)):
        t = Terminal(deaths())
        t.lines(1)
        t.p.send_signal(sig)
        t.end(status)


@test
def steps_need_a_terminal():
    err = fr("--step", deaths(), status=2).stderr
    assert "no terminal" in err and "--speed" in err, err
    for more in ("--count", "--speed=1x", "--on=crash"):
        fr("--step", more, deaths(), status=2)


main(only=sys.argv[2:])
