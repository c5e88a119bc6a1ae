# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The figures of `report --json`, recomputed from rows, as docs/report.md defines them."""
import collections

from pairs import Pairs
from waits import WAKERS, Wakers

PREEMPTED = 256

# What is not known about pairs in files that run.sh cuts with these filters.
FILTER_LACKS = {
    "event != sys_exit": ("call",),
    "event != sched_switch || next_pid > 110": ("off", "wake"),
    "event ~ \"sched_*\" || event ~ \"irq*\" || event == softirq_entry": ("call", "softirq"),
}


class Sums:
    """The sums that tasks, processes, cgroups and the total have in common."""
    COUNTS = ("events", "oncpu_ns", "rated_oncpu_ns", "runs", "preempted", "offcpu_ns", "queued_ns", "blocked_ns", "wakes",
              "migrations", "syscalls", "syscall_ns", "errors", "faults_user", "faults_kernel", "ios", "io_bytes", "samples")

    def __init__(self):
        self.n = collections.Counter()
        self.wakeup = []

    def add(self, other):
        self.n.update(other.n)
        self.wakeup += other.wakeup


class Task:
    def __init__(self, tid):
        self.tid, self.sums = tid, Sums()
        self.comm = self.pid = self.cgroup = None
        self.call = None  # (abi, id) of the call it is in
        self.fault = False
        self.off = None  # (state, in, abi, id) with which it left its CPU
        self.wake = None  # the waking that counts: how, number, waker's tid, when, link and name of the waker
        self.link = None  # what woke it for its last run
        self.ran = self.left = (0, 0)  # when, and on which CPU
        self.state = None  # with which it left its CPU


class Cpu:
    def __init__(self, since_ns):
        self.n = collections.Counter()
        self.wakeup = []
        self.since_ns, self.tid = since_ns, None
        self.gap_ns = 0
        self.irq = self.softirq = None
        self.first, self.first_comm, self.first_ns, self.ran, self.ran_comms = None, None, None, [], []


class Call:
    def __init__(self):
        self.n, self.latency = collections.Counter(), []


class Tables:
    def __init__(self, rows, counted, window, info, focus, focus_pid, later, before):
        self.since_ns = before[-1]["ts"] + 1 if before else 0
        self.later = later  # the rows of a CPU's main tier, those behind the window, too
        self.rows, self.counted = rows, counted  # counted: places of the rows that count; None: all
        self.w, self.info, self.focus, self.focus_pid = window, info, focus, focus_pid
        self.at_ns = self.find_at()
        self.owner, self.all_tasks = {}, []
        self.cpus = {}
        self.events, self.rated_events = collections.Counter(), collections.Counter()
        self.calls = collections.defaultdict(Call)
        self.errors = collections.Counter()
        self.reasons = collections.defaultdict(list)
        self.waits = collections.defaultdict(lambda: [0, 0, 0])
        self.blocks = collections.defaultdict(Call)
        self.irqs, self.softirqs = collections.defaultdict(Call), collections.defaultdict(Call)
        self.irq_names = {}
        self.samples = collections.Counter()
        self.offcpu, self.queued, self.blocked, self.oncpu = [], [], [], []
        self.steps, self.about, self.chain, self.chained = [], [], [], False
        self.chain_state = None
        self.stack, self.registers = None, []
        self.pairs = Pairs(info["arch"], self.lacks())
        self.wakers = Wakers(later(None))
        self.task(0)
        self.begin()
        for row in rows:
            self.take(row)
        self.finish()

    def find_at(self):
        ts = self.info["trigger"]["ts"]
        return ts if ts and self.w["begin_ns"] <= ts <= self.w["end_ns"] else self.w["end_ns"]

    def cpus_kept(self):
        """The CPUs that a cut snapshot has; None: all."""
        cut = self.info.get("cut") or {}
        if not cut.get("cpu"):
            return None
        ends = [part.partition("-") for part in cut["cpu"].split(",")]
        return {n for first, _, last in ends for n in range(int(first), int(last or first) + 1)}

    def is_picked(self):
        """If a snapshot was cut by tasks or a filter, no CPU's time is covered."""
        cut = self.info.get("cut") or {}
        return bool(cut.get("pid") or cut.get("cgroup") or cut.get("filter"))

    def lacks(self):
        """What is not known about pairs because rows were cut away: those of other tasks, or of some events."""
        cut = self.info.get("cut") or {}
        lacks = set(FILTER_LACKS[cut["filter"]]) if cut.get("filter") else set()
        return lacks | ({"wake", "rq", "io"} if cut.get("pid") or cut.get("cgroup") else set())

    def begin(self):
        self.horizon, begins = {}, {}
        kept = self.cpus_kept()
        for c in self.info["cpus"]:
            for ring in c["tiers"]:
                if ring["name"] == "main" and kept is not None and c["cpu"] not in kept:
                    self.pairs.gap(c["cpu"], 1 << 64)
                elif ring["name"] == "main":
                    self.horizon[c["cpu"]] = begins[c["cpu"]] = ring["horizon_ns"]
                    if ring["holes"]:  # what precedes them is known, but not from before all programs were attached
                        begins[c["cpu"]] = min(ring["horizon_ns"], max(ring["first_ts"], self.info["begin_ns"] or 0))
        for cpu, begin in begins.items():
            self.cpu(cpu).since_ns = max(begin, self.cpu(cpu).since_ns)
            self.pairs.gap(cpu, begin)
            self.cpu(cpu).gap_ns = begin
        holes = [h for h in self.info["holes"] if h["tier"] == "main"]
        for c in self.info["cpus"]:  # nothing is known of a CPU from the copying of its ring on
            holes += [dict(cpu=c["cpu"], since_ns=max(ring["end_ns"], ring["last_ts"]), until_ns=0) for ring in c["tiers"]
                      if ring["name"] == "main" and "end_ns" in ring and (kept is None or c["cpu"] in kept)]
        self.holes = sorted(holes, key=lambda h: h["since_ns"])

    def cpu(self, nr):
        if nr not in self.cpus:
            self.cpus[nr] = Cpu(1 << 64 if self.is_picked() else self.w["begin_ns"])
        return self.cpus[nr]

    def task(self, tid):
        return self.owner.get(tid) or self.new_task(tid)

    def new_task(self, tid):
        t = self.owner[tid] = Task(tid)
        self.all_tasks.append(t)
        return t

    # ---- rows ----

    def pass_holes(self, ts):
        while self.holes and self.holes[0]["since_ns"] < ts:
            h = self.holes.pop(0)
            until = h["until_ns"] or 1 << 64
            self.pairs.gap(h["cpu"], until)
            if h["cpu"] in self.cpus:
                c = self.cpus[h["cpu"]]
                self.has_had(c, h["cpu"], h["since_ns"])
                c.tid = c.irq = c.softirq = None
                c.since_ns = max(c.since_ns, until)
                c.gap_ns = max(c.gap_ns, until)
                self.has_cpu(c, h["since_ns"], None, None)

    def take(self, row):
        ts = row["ts"]
        self.pass_holes(ts)
        pair = self.pairs.feed(row)
        if ts > self.at_ns:
            self.keep_chain()
        c, t = self.cpu(row["cpu"]), self.task(row["tid"])
        t.comm, t.pid = row["comm"], row["pid"]
        if c.tid is None and row["pos"]["tier"] == "main" and ts >= c.gap_ns:  # it has had the CPU since that is covered
            c.tid = t.tid
            if row["event"] != "sched_switch" or ts != c.since_ns:
                self.has_cpu(c, c.since_ns, t.tid, self.names_of(t.tid))
        counts = not self.is_before(ts) and (self.counted is None or place(row) in self.counted)
        rated = counts and ts >= self.w["rated_begin_ns"]
        if counts:
            self.events[row["event"]] += 1
            self.rated_events[row["event"]] += rated
            c.n["events"] += 1
            t.sums.n["events"] += 1
        if row["tid"] and row["tid"] == self.focus:
            self.note(row)
        fn = getattr(self, "on_" + row["event"], None)
        if fn:
            fn(row, c, t, pair, counts, rated)

    def names_of(self, tid):
        """A task that a later row names may have had another name then; what no row names, the table of tasks may."""
        return {row["comm"] for row in self.rows if row["tid"] == tid} | {row["next_comm"] for row in self.rows if row.get("next_pid") == tid}

    def first_names(self, nr, c):
        """What the task that has CPU nr as the moment begins may be called: the name that it took last, by an exec, too."""
        if not c.first:
            return {f"swapper/{nr}"}
        took = [row for row in self.later(None) if row["event"] == "task_rename" and row["target_pid"] == c.first and row["ts"] <= self.w["moment_begin_ns"]]
        since = [row["newcomm"] for row in took if row["ts"] > c.first_ns]
        if since:
            return {since[-1]}
        known = {row["newcomm"] for row in took} | c.first_comm if isinstance(c.first_comm, set) else {c.first_comm}
        return known | {task.comm for task in self.all_tasks if task.tid == c.first}

    def is_before(self, ts):
        """Rows before the window only tell what is so when it begins."""
        return ts < self.since_ns

    def note(self, row):
        if not self.is_before(row["ts"]) and row["ts"] <= self.w["moment_end_ns"]:
            self.about.append(row)

    def step(self, row, did, **more):
        if not self.is_before(row["ts"]) and row["ts"] <= self.w["moment_end_ns"]:
            self.steps.append(dict(ts=row["ts"], cpu=row["cpu"], did=did, **more))

    # ---- scheduling ----

    def ran(self, c, t, since_ns, until_ns):
        ns, rated = until_ns - since_ns, max(0, until_ns - max(since_ns, self.w["rated_begin_ns"]))
        kind = "busy" if t.tid else "idle"
        c.n[kind + "_ns"] += ns
        c.n["rated_" + kind + "_ns"] += rated
        t.sums.n["oncpu_ns"] += ns
        t.sums.n["rated_oncpu_ns"] += rated
        if t.tid:
            self.oncpu.append(ns)

    def what_in(self, t, state):
        if "call" in self.pairs.lacks:
            return (state, "none", None, None)
        if t.call:
            return (state, "syscall") + t.call
        return (state, "fault" if t.fault and state in (1, 2) else "none", None, None)

    def has_had(self, c, nr, until_ns):
        """Whoever has the CPU has had it until then. If no row tells, one behind the window may."""
        if until_ns <= c.since_ns:
            return
        if c.tid is None:
            c.tid = self.holder(nr, c.since_ns)
            if c.tid is not None:
                self.has_cpu(c, c.since_ns, c.tid, self.names_of(c.tid))
        if c.tid is not None and self.counted is None:
            self.ran(c, self.task(c.tid), c.since_ns, until_ns)
        c.since_ns = until_ns

    def holder(self, nr, ts):
        ring = next((r for c in self.info["cpus"] if c["cpu"] == nr for r in c["tiers"] if r["name"] == "main"), None)
        kept = self.cpus_kept()
        if not ring or kept is not None and nr not in kept or self.is_picked() or ts < self.cpu(nr).gap_ns:
            return None
        after = next((r for r in self.later(nr) if r["ts"] >= ts), None)
        end = after["ts"] if after else 1 << 64
        if any(h["cpu"] == nr and h["since_ns"] < end and (h["until_ns"] or 1 << 64) > ts for h in self.info["holes"] if h["tier"] == "main"):
            return None
        return after["tid"] if after else ring.get("holder")

    def on_sched_switch(self, row, c, t, pair, counts, rated):
        ts, state, tid = row["ts"], row["prev_state"], row["next_pid"]
        if ts > c.since_ns and counts and c.tid == t.tid:
            self.ran(c, t, c.since_ns, ts)
        if t.tid:
            t.sums.n["preempted"] += counts and state in (0, PREEMPTED)
            t.off, t.left, t.state = self.what_in(t, state), (ts, row["cpu"]), state
            if not (t.tid in self.pairs.tasks and self.pairs.tasks[t.tid].woken):
                t.wake = None
            if t.tid == self.focus:
                self.step(row, "leaves", off=t.off)
        c.n["switches"] += counts
        if tid:
            self.gets_cpu(row, c, self.task(tid), pair, counts)
        c.since_ns, c.tid = max(c.since_ns, ts), tid if ts >= c.gap_ns else None
        self.has_cpu(c, ts, tid, row["next_comm"])

    def has_cpu(self, c, ts, tid, comm):
        if self.is_picked():
            return
        if ts < self.w["moment_begin_ns"]:
            c.first, c.first_comm, c.first_ns = tid, comm, ts
        elif ts <= self.w["moment_end_ns"]:
            c.ran.append((ts, tid))
            c.ran_comms.append(comm)

    def gets_cpu(self, row, c, t, pair, counts):
        if counts:
            t.sums.n.update(runs=1, offcpu_ns=pair.offcpu, queued_ns=pair.queued, blocked_ns=pair.blocked)
            for values, v in ((t.sums.wakeup, pair.latency), (c.wakeup, pair.latency), (self.offcpu, pair.offcpu),
                              (self.queued, pair.queued), (self.blocked, pair.blocked)):
                if v:
                    values.append(v)
            if pair.offcpu and t.off:
                self.reasons[t.off].append(pair.offcpu)
            if pair.latency and t.wake:
                by, nr, tid = t.wake[:3]
                w = self.waits[by, self.task(tid) if by == "task" else nr, t]
                w[0] += 1
                w[1] += pair.offcpu
                w[2] += pair.latency
        t.comm = row["next_comm"]
        if pair.latency and t.wake:
            t.link = self.wakeup(t, row["ts"])
        elif not t.off or t.state not in (0, PREEMPTED) or not self.is_whole(t):
            t.link = None
        t.ran = row["ts"], row["cpu"]
        t.off = t.wake = None
        if t.tid == self.focus:
            self.note(row)
            self.step(row, "runs")

    def wakeup(self, t, ran_ns):
        by, nr, tid, woken, parent, waker = t.wake
        return dict(tid=t.tid, by=by, nr=nr if by != "task" else tid, woken_ns=woken, ran_ns=ran_ns, parent=parent, comm=t.comm,
                    waker_comm=waker if by == "task" and tid else None)

    def is_whole(self, t):
        """No event is missing in which the task may have slept: of its CPU while it runs, of any while it has none."""
        if t.off and t.state in (16, 32):
            return True  # it has ended
        if t.off:
            return t.left[0] >= self.pairs.blind and "off" not in self.pairs.lacks
        return t.ran[0] >= self.cpu(t.ran[1]).gap_ns

    def who_woke(self, row, c):
        """The wait's record, then a handler that has events, then the waking's own word; one that begins a task has none."""
        said = self.wakers.find(row["target_pid"], row["ts"])
        if c.irq is not None and said in (None, "irq") and "irq" not in self.pairs.lacks:
            return "irq", c.irq
        if c.softirq is not None and said in (None, "softirq") and "softirq" not in self.pairs.lacks:
            return "softirq", c.softirq
        word = row.get("waker", 0) if row["event"] == "sched_waking" else WAKERS.index("task")
        how = said or (WAKERS[word] if word < len(WAKERS) else "unknown")
        return how, row["tid"] if how == "task" else None

    def on_sched_waking(self, row, c, t, pair, counts, rated):
        target = self.task(row["target_pid"])
        by, nr = self.who_woke(row, c)
        target.comm = row["target_comm"]
        t.sums.n["wakes"] += counts and by == "task"
        if target.tid and target.tid == self.focus != row["tid"]:
            self.note(row)
        if target.tid and target.tid == self.focus:
            self.step(row, "woken", by=by, nr=nr)
        if not pair.woke:
            return
        target.wake = (by, nr, row["tid"], row["ts"], t.link if by == "task" and self.is_whole(t) else None, row["comm"])

    on_sched_wakeup_new = on_sched_waking

    def on_signal_generate(self, row, c, t, pair, counts, rated):
        whose = (self.focus, self.focus_pid) if row["group"] else (self.focus,)
        if row["target_pid"] and row["target_pid"] in whose and row["tid"] != self.focus:
            self.note(row)

    def on_sched_process_exec(self, row, c, t, pair, counts, rated):
        if row["old_pid"] != t.tid:
            was = self.task(row["old_pid"])
            c.tid = t.tid if c.tid == was.tid else c.tid
            t.call, t.link, t.ran, t.off, t.wake = was.call, was.link, was.ran, was.off, was.wake
        if t.tid == self.focus and row["old_pid"] != t.tid and row["ts"] <= self.w["moment_end_ns"]:
            self.steps.clear()  # they were those of the process's first thread
            self.step(row, "runs")

    def on_sched_migrate_task(self, row, c, t, pair, counts, rated):
        target = self.task(row["target_pid"])
        target.comm = row["target_comm"]
        target.sums.n["migrations"] += counts

    def on_sched_process_fork(self, row, c, t, pair, counts, rated):
        child = self.new_task(row["child_pid"])
        child.cgroup, child.pid, child.comm = row["child_cgroup"], row["child_tgid"], row["child_comm"]

    def keep_chain(self):
        if self.chained:
            return
        self.chained = True
        if not self.focus:
            return
        t = self.task(self.focus)
        link = t.link if self.is_whole(t) else None
        if not t.off or t.state in (0, PREEMPTED):
            self.chain_state = "runs"
        elif t.state in (16, 32):
            self.chain_state = "ended"
        else:
            self.chain_state = "waits" if t.wake else "sleeps"
        if self.chain_state == "waits":
            link = self.wakeup(t, None) if self.is_whole(t) else None
        while link and len(self.chain) < 16:
            self.chain.append(link)
            link = link["parent"]

    # ---- system calls, faults, samples ----

    def on_sys_enter(self, row, c, t, pair, counts, rated):
        t.call, t.fault = (row["abi"], row["id"]), False
        if counts:
            self.calls[t.call].n.update(enters=1, rated_enters=rated)
            c.n["syscalls"] += 1
            t.sums.n["syscalls"] += 1

    def on_sys_exit(self, row, c, t, pair, counts, rated):
        key = t.call if row["id"] == -1 and t.call else pair.call[::-1] if pair.call else (row["abi"], row["id"])
        t.call, t.fault = None, False
        if not counts:
            return
        call = self.calls[key]
        call.n["exits"] += 1
        if pair.latency:
            call.latency.append(pair.latency)
        t.sums.n["syscall_ns"] += pair.latency
        if -4095 <= row["ret"] < 0:
            call.n["errors"] += 1
            self.errors[key + (-row["ret"],)] += 1
            t.sums.n["errors"] += 1

    def fault(self, c, t, counts, kind):
        t.fault = True
        c.n["faults"] += counts
        t.sums.n[kind] += counts

    def on_page_fault_user(self, row, c, t, pair, counts, rated):
        self.fault(c, t, counts, "faults_user")

    def on_page_fault_kernel(self, row, c, t, pair, counts, rated):
        self.fault(c, t, counts, "faults_kernel")

    def on_cpu_sample(self, row, c, t, pair, counts, rated):
        self.keep_stack(row, row["tid"])
        if counts:
            t.sums.n["samples"] += 1
            self.samples[bool(row["user"]), row["ip"]] += 1

    def on_crash(self, row, c, t, pair, counts, rated):
        self.keep_stack(row, row["tid"])

    def on_failure(self, row, c, t, pair, counts, rated):
        if not row["sig"]:
            self.keep_stack(row, row["tid"])

    def on_hung(self, row, c, t, pair, counts, rated):
        self.keep_stack(row, row["target_pid"])

    on_latency = on_hung

    def keep_stack(self, row, tid):
        rank = {"cpu_sample": 0, "crash": 2, "failure": 2}
        if self.stack and rank.get(row["event"], 1) < rank.get(self.stack[0], 1):
            return
        if tid == self.focus and not self.is_before(row["ts"]) and row["ts"] <= self.w["moment_end_ns"] and (row.get("kstack_id") or row.get("ustack_id")):
            self.stack = (row["event"], row["ts"], row.get("kstack") or [], row.get("ustack") or [])
            self.registers = row.get("regs", []) if row["event"] == "crash" else []

    # ---- block, interrupts ----

    def block_begins(self, layer, row, t, counts, rated):
        if not counts:
            return
        b = self.blocks[layer, row["dev"], "F" if row["rwbs"][:1] == "F" and not row["bytes"] else direction(row["rwbs"])]
        b.n.update(begins=1, rated_begins=rated, bytes=row["bytes"])
        if layer == "io":
            t.sums.n.update(ios=1, io_bytes=row["bytes"])

    def block_ends(self, layer, row, pair, counts):
        if not counts:
            return
        b = self.blocks[layer, row["dev"], direction(row["rwbs"])]
        b.n.update(ends=1, errors=row.get("error", 0) != 0)
        if pair.latency:
            b.latency.append(pair.latency)

    def on_block_rq_issue(self, row, c, t, pair, counts, rated):
        if not pair.again:
            self.block_begins("rq", row, t, counts, rated)

    def on_block_io_start(self, row, c, t, pair, counts, rated):
        self.block_begins("io", row, t, counts, rated)

    def on_block_rq_complete(self, row, c, t, pair, counts, rated):
        self.block_ends("rq", row, pair, counts)

    def on_block_io_done(self, row, c, t, pair, counts, rated):
        self.block_ends("io", row, pair, counts)

    def handler_begins(self, h, counts, rated):
        if counts:
            h.n.update(begins=1, rated_begins=rated)

    def handler_ends(self, h, pair):
        h.n["ends"] += 1
        if pair.latency:
            h.latency.append(pair.latency)

    def on_irq_handler_entry(self, row, c, t, pair, counts, rated):
        c.irq = row["irq"]
        if counts:
            self.irq_names[row["irq"]] = row["name"]
            self.handler_begins(self.irqs[row["irq"]], counts, rated)

    def on_irq_handler_exit(self, row, c, t, pair, counts, rated):
        c.irq = None
        if counts:
            c.n["irq_ns"] += pair.latency
            self.handler_ends(self.irqs[row["irq"]], pair)

    def on_softirq_entry(self, row, c, t, pair, counts, rated):
        c.softirq = row["vec"]
        if counts:
            self.handler_begins(self.softirqs[row["vec"]], counts, rated)

    def on_softirq_exit(self, row, c, t, pair, counts, rated):
        c.softirq = None
        if counts:
            c.n["softirq_ns"] += pair.latency
            self.handler_ends(self.softirqs[row["vec"]], pair)

    # ---- the end ----

    def finish(self):
        self.keep_chain()
        self.pass_holes(self.w["end_ns"])
        for nr, c in self.cpus.items():
            self.has_had(c, nr, self.w["end_ns"])
        self.total = Sums()
        for t in self.all_tasks:
            if t.tid:
                self.total.add(t.sums)


def place(row):
    p = row["pos"]
    return p["epoch"], row["cpu"], p["tier"], p["seq"], p["offset"]


def direction(rwbs):
    for c in rwbs:
        if c in "RWD":
            return c
    return "F" if "F" in rwbs else "N"
