# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Pairs, found independently in the rows of `replay --json`: how long calls, waits, requests and handlers took."""

EARLY = "early"
RUNS, SLEEPS, BLOCKED, QUEUED, NEW = range(5)
SLACK_NS = 1000  # a waking that comes at most this long after its task began to run led to this run
RESTART_BLOCK = -516
RESTART_CALLS = {"x86_64": (219, 0), "aarch64": (128, 0)}  # restart_syscall: native, 32-bit
EXEC_CALLS = {"x86_64": ((59, 322), (11, 358)), "aarch64": ((221, 281), (11, 387))}  # execve, execveat


class Task:
    def __init__(self):
        self.left_ns, self.how = 0, RUNS
        self.wake = 0  # 0, EARLY, or when
        self.early_ns = self.ran_ns = 0
        self.ran_on = None  # the CPU on which it ran last
        self.waker, self.woken = 0, False  # by the waking that counts; is there one?
        self.call = None  # (since, number, interrupted)
        self.call_abi = 0
        self.called = 0  # its last known begin or end of a call


class Pair:
    """How long what the row ends took; 0: it ends nothing."""
    def __init__(self):
        self.latency = self.offcpu = self.queued = self.blocked = 0
        self.again = self.woke = False  # woke: it is a waking that counts
        self.call = None  # (number, ABI) of the call that ends, if the row has another one


class Pairs:
    def __init__(self, arch, lacks=()):
        # what is not known because rows were cut away: call, off, wake, rq, io; wakers: whether a task or an interrupt woke
        self.lacks = lacks
        self.tasks = {}
        self.cpus = {}  # cpu -> (task on it, since when)
        self.blind = 0  # before this, events may be missing somewhere
        self.cpu_blind = {}
        self.softirqs, self.irqs = {}, {}
        self.requests, self.ios = {}, {}
        self.restart = RESTART_CALLS.get(arch, (None, None))
        self.exec = EXEC_CALLS.get(arch, ((), ()))

    def gap(self, cpu, until_ns):
        self.blind = max(self.blind, until_ns)
        self.cpu_blind[cpu] = max(self.cpu_blind.get(cpu, 0), until_ns)

    def task(self, tid):
        return self.tasks.setdefault(tid, Task())

    def feed(self, row):
        p = Pair()
        fn = getattr(self, "on_" + row["event"], None)
        if fn:
            fn(row, p)
        return p

    # ---- scheduling ----

    def leaves(self, t, ts, state):
        if t.how != RUNS or t.early_ns < self.blind or t.early_ns < t.ran_ns:
            t.wake = 0
        if t.wake != EARLY:
            t.waker, t.woken = 0, False
        t.ran_ns = 0
        t.left_ns = ts
        t.how = QUEUED if state in (0, 256) else BLOCKED if state & 2 else SLEEPS

    def runs(self, t, ts, p):
        if t.left_ns < self.blind:
            t.left_ns, t.how, t.wake = 0, RUNS, 0
        if "off" in self.lacks:
            t.left_ns, t.how, t.wake, t.ran_ns = 0, RUNS, 0, ts
        if "wake" in self.lacks:
            t.wake = 0
            t.how = SLEEPS if t.how == BLOCKED else t.how
        if t.wake not in (0, EARLY):
            queued = t.wake
        else:
            queued = t.left_ns if t.wake == EARLY or t.how == QUEUED else 0
        off = t.left_ns != 0 or t.how != RUNS
        p.offcpu = ts - t.left_ns if off and t.how != NEW else 0
        p.queued = ts - queued if off and queued else 0
        p.latency = 0 if t.how == QUEUED else p.queued
        p.blocked = (queued or ts) - t.left_ns if t.how == BLOCKED else 0
        t.woken = False
        t.left_ns, t.how, t.wake, t.ran_ns = 0, RUNS, 0, ts

    def is_lost(self, t):
        if t.how != RUNS:
            return t.left_ns < self.blind or "off" in self.lacks
        return t.ran_on is not None and t.ran_ns < self.cpu_blind.get(t.ran_on, 0)

    def on_sched_switch(self, row, p):
        ts, prev, nxt = row["ts"], row["tid"], row["next_pid"]
        if prev and row["prev_state"] in (16, 32):
            self.tasks.pop(prev, None)
        elif prev:
            self.leaves(self.task(prev), ts, row["prev_state"])
        self.cpus[row["cpu"]] = (nxt, ts)
        if nxt:
            self.runs(self.task(nxt), ts, p)
            self.task(nxt).ran_on = row["cpu"]

    def born(self, t, row, p):
        t.woken = p.woke = True
        t.left_ns, t.how, t.wake, t.waker = row["ts"], NEW, row["ts"], row["tid"]

    def just_runs(self, t, ts):
        return t.how == RUNS and t.ran_ns and ts < t.ran_ns + SLACK_NS

    def on_sched_waking(self, row, p):
        tid, ts = row["target_pid"], row["ts"]
        if not tid:
            return
        new = tid not in self.tasks
        t = self.task(tid)
        if new or self.is_lost(t):
            self.born(t, row, p)
        elif not self.just_runs(t, ts):
            was = t.wake
            if t.how == RUNS:
                t.wake = EARLY
            elif t.how != QUEUED and t.wake in (0, EARLY):
                t.wake = ts
            if t.wake == EARLY:
                t.early_ns = ts
            if t.wake != was or was == EARLY:
                t.waker = row["tid"]
                t.woken = p.woke = True

    def on_sched_wakeup_new(self, row, p):
        t = self.task(row["target_pid"])
        if self.just_runs(t, row["ts"]):
            return
        t = self.tasks[row["target_pid"]] = Task()
        self.born(t, row, p)

    def on_sched_process_fork(self, row, p):
        self.tasks.pop(row["child_pid"], None)

    def on_sched_process_exec(self, row, p):
        old = row["old_pid"]
        if old == row["tid"] or old not in self.tasks:
            return
        self.tasks[row["tid"]] = self.tasks.pop(old)
        if self.cpus.get(row["cpu"], (None,))[0] == old:
            self.cpus[row["cpu"]] = (row["tid"], self.cpus[row["cpu"]][1])

    # ---- system calls ----

    def restarts(self, row):
        return row["id"] >= 0 and row["id"] == self.restart[row["abi"] & 1]

    def on_sys_enter(self, row, p):
        t = self.task(row["tid"])
        if not (self.restarts(row) and t.call and t.call[2]):
            t.call, t.call_abi = (row["ts"], row["id"], False), row["abi"]
            if self.restarts(row) and t.called < (1 << 64 if "call" in self.lacks else self.blind):
                t.call = None
        t.called = row["ts"]

    def ran_through(self, row, since_ns):
        tid, ran_ns = (None, 0) if "off" in self.lacks else self.cpus.get(row["cpu"], (None, 0))
        return tid == row["tid"] and ran_ns and self.cpu_blind.get(row["cpu"], 0) <= ran_ns <= since_ns

    def on_sys_exit(self, row, p):
        t = self.tasks.get(row["tid"])
        if not t:
            return
        since, nr, again = t.call or (0, None, False)
        if not t.call or since < self.blind and not self.ran_through(row, since):
            t.called = 0 if row["ret"] == RESTART_BLOCK else row["ts"]
            t.call = None
            return
        executed = row["ret"] == 0 and nr in self.exec[t.call_abi & 1] and "call" not in self.lacks
        if executed and (row["id"], row["abi"]) != (nr, t.call_abi):
            p.call = nr, t.call_abi
        is_it = self.restarts(row) if again else executed or row["id"] in (nr, -1)
        t.call = (since, nr, True) if is_it and row["ret"] == RESTART_BLOCK else None
        t.called = row["ts"]
        p.latency = row["ts"] - since if is_it and "call" not in self.lacks else 0

    # ---- interrupts ----

    def end(self, row, since_ns, p):
        if since_ns and since_ns >= self.cpu_blind.get(row["cpu"], 0):
            p.latency = row["ts"] - since_ns

    def on_softirq_entry(self, row, p):
        self.softirqs[row["cpu"], row["vec"] % 16] = row["ts"]

    def on_softirq_exit(self, row, p):
        self.end(row, self.softirqs.pop((row["cpu"], row["vec"] % 16), 0), p)

    def on_irq_handler_entry(self, row, p):
        self.irqs[row["cpu"]] = (row["irq"], row["ts"])

    def on_irq_handler_exit(self, row, p):
        irq, since_ns = self.irqs.pop(row["cpu"], (None, 0))
        if irq == row["irq"]:
            self.end(row, since_ns, p)

    # ---- block requests: [since, sectors left, how many at this place] ----

    def begins(self, where, row):
        key = row["dev"], row["sector"]
        q = where.get(key)
        if q and q[0] and q[0] >= self.blind:
            q[2] += q[1] != row["nr_sector"]
            return q[1] == row["nr_sector"]
        where[key] = [row["ts"], row["nr_sector"], 1]
        return False

    def ends(self, where, key, ts, p):
        q = where[key]
        if q[2] > 1:  # it could belong to any of them, so none of them is known from here on
            q[0] = 0
        if q[0] and q[0] >= self.blind:
            p.latency = ts - q[0]
        q[2] -= 1
        if not q[2]:
            del where[key]

    def shorten(self, where, key, cnt):
        q = where.get(key)
        if q and q[2] == 1:
            del where[key]
            where[key[0], key[1] + cnt] = [q[0], q[1] - cnt, 1]

    def on_block_rq_issue(self, row, p):
        if "rq" not in self.lacks:
            p.again = self.begins(self.requests, row)

    def on_block_io_start(self, row, p):
        if "io" not in self.lacks:
            self.begins(self.ios, row)

    def on_block_rq_complete(self, row, p):
        key = row["dev"], row["sector"]
        q = self.requests.get(key)
        if not q:
            return
        if row["nr_sector"] >= q[1]:
            self.ends(self.requests, key, row["ts"], p)
        else:
            self.shorten(self.requests, key, row["nr_sector"])
            self.shorten(self.ios, key, row["nr_sector"])

    def on_block_io_done(self, row, p):
        key = row["dev"], row["sector"]
        if key in self.ios:
            self.ends(self.ios, key, row["ts"], p)

    def on_governor(self, row, p):
        for cpu in range(max(self.cpus, default=-1) + 1):
            self.gap(cpu, row["ts"])
