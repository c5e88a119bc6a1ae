#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""check.py FILE [OPTION...]: every figure of `flightrec report --json OPTION... FILE` made again from `replay --json` and
`info --json`, by another program. Says what differs; exit status 1 then. OPTIONs: --since T, --until T, --window A..B, -f EXPR,
--task TID, --moment TIME."""
import collections
import gc
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from changes import check_changes  # noqa: E402
from pairs import EXEC_CALLS  # noqa: E402
from tables import Sums, Tables, place  # noqa: E402
from verdict import check_verdict  # noqa: E402
from waits import check_long_waits, check_still  # noqa: E402
from words import Words, is_error, paths, signal_name, watch  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FLIGHTREC = os.environ.get("FLIGHTREC", os.path.join(ROOT, "build", "flightrec"))
WINDOW = ("--since", "--until", "--window")


def run(*args):
    p = subprocess.run([FLIGHTREC, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="surrogateescape")
    if p.returncode not in (0, 3):
        sys.exit(f"flightrec {' '.join(args)}: exit status {p.returncode}\n{p.stderr}")
    return p.stdout


def lines(text):
    return [line for line in text.split("\n") if line]


def events(text, known):
    """
    The rows of JSON's lines, parsed at once, which is much faster than line by line. known: rows by their lines, which are not parsed
    again; those that are new are added.
    """
    all_lines = lines(text)
    new = [line for line in all_lines if line not in known]
    known.update(zip(new, json.loads(f"[{','.join(new)}]")))
    return [known[line] for line in all_lines]


class Check:
    def __init__(self, info):
        self.info, self.wrong, self.compared = info, [], 0

    def equal(self, what, got, want):
        self.compared += 1
        if got != want:
            self.wrong.append(f"{what}: {got!r} reported, {want!r} found")

    def hist(self, what, got, values):
        """Count, sum, minimum, maximum and mean are exact; a percentile is at most 1/32 too high."""
        values = sorted(values)
        n = len(values)
        self.equal(what + " count", got["count"], n)
        if n != got["count"]:
            return
        total = sum(values)
        exact = {"sum_ns": total, "min_ns": values[0] if n else 0, "max_ns": values[-1] if n else 0, "mean_ns": total // n if n else 0}
        for key, v in exact.items():
            self.equal(f"{what} {key}", got[key], v)
        for key, ppm in (("p50_ns", 500000), ("p90_ns", 900000), ("p99_ns", 990000), ("p999_ns", 999000)):
            v = values[max(-(-n * ppm // 1000000), 1) - 1] if n else 0
            self.compared += 1
            if not v <= got[key] <= min(v + v // 32, exact["max_ns"]):
                self.wrong.append(f"{what} {key}: {got[key]} reported, {v} found")
        if "buckets" in got:
            self.buckets(what, got["buckets"], values)

    def parts(self, what, got, values):
        """Histograms that have these values between them; None: not recorded."""
        if values is None:
            self.equal(what, got, [None] * len(got))
            return
        self.equal(what + " count", sum(h["count"] for h in got), len(values))
        self.equal(what + " sum_ns", sum(h["sum_ns"] for h in got), sum(values))
        some = [h for h in got if h["count"]]
        self.equal(what + " min_ns, max_ns", [f(h[key] for h in some) for f, key in ((min, "min_ns"), (max, "max_ns")) if some],
                   [f(values) for f in (min, max) if values])
        for h in some:
            ordered = [h[key] for key in ("min_ns", "p50_ns", "p90_ns", "p99_ns", "p999_ns", "max_ns")]
            self.equal(what + " in order", ordered, sorted(ordered))
            self.equal(what + " mean_ns", h["mean_ns"], h["sum_ns"] // h["count"])

    def buckets(self, what, buckets, values):
        """Buckets are in order and narrow, and each value is in one of them."""
        at, end = 0, -1
        for low, high, cnt in buckets:
            if not (end < low <= high and high - low <= low // 32):
                self.wrong.append(f"{what}: bucket {low} to {high} behind {end}")
            end = high
            here = values[at:at + cnt]
            if len(here) != cnt or (cnt and not (low <= here[0] and here[-1] <= high)):
                self.wrong.append(f"{what}: {cnt} values in bucket {low} to {high}")
            at += cnt
        self.equal(what + " values in buckets", at, len(values))

    def sums(self, what, got, sums, more=()):
        for key in sums.COUNTS:
            self.equal(f"{what} {key}", got[key], sums.n[key] if is_known(self.info, key) else None)
        self.wakeup(what, got["wakeup"], sums.wakeup)

    def wakeup(self, what, got, values):
        if is_known(self.info, "wakeup"):
            self.hist(what + " wakeup", got, values)
        else:
            self.equal(what + " wakeup", got, None)

    def table(self, what, got, want, compare):
        """got and want are dicts with the same keys."""
        self.equal(what, sorted(map(str, got)), sorted(map(str, want)))
        for key in got:
            if key in want:
                compare(f"{what} {key}", got[key], want[key])


# ---- the report's parts ----

def check_tasks(c, rep, t):
    got, want = collections.defaultdict(list), collections.defaultdict(list)
    for task in sorted(rep["tasks"], key=lambda task: task["nr"]):
        got[task["tid"]].append(task)
    for task in t.all_tasks:
        if task.tid and any(task.sums.n[key] for key in ("events", "oncpu_ns", "runs", "migrations")):
            want[task.tid].append(task)
    c.equal("tasks", {k: len(v) for k, v in got.items()}, {k: len(v) for k, v in want.items()})
    pairs = [(g, w) for tid in got for g, w in zip(got[tid], want.get(tid, []))]
    for g, w in pairs:
        what = f"task {g['tid']}"
        c.sums(what, g, w.sums)
        c.equal(what + " comm", g["comm"], w.comm)
        if w.pid is not None:
            c.equal(what + " pid", g["pid"], w.pid)
        if w.cgroup is not None and not g["cgroup"]:
            c.equal(what + " cgroup", g["cgroup"], w.cgroup)
    return pairs


def check_groups(c, rep, t, pairs):
    """The list of tasks says which process and cgroup a task is in. A task that is not listed has nothing to add."""
    for name, key in (("processes", "pid"), ("cgroups", "cgroup")):
        want, members = {}, collections.defaultdict(list)
        for g, w in pairs:
            want.setdefault(g[key], Sums()).add(w.sums)
            members[g[key]].append(g)
        for group in rep[name]:
            sums = want.pop(group[key], None) or Sums()
            # a task that has no event of its own is not listed, but counts as one of them
            c.equal(f"{key} {group[key]} tasks", group["tasks"] >= max(1, len(members[group[key]])), True)
            c.sums(f"{key} {group[key]}", group, sums)
        c.equal(name + " that are not there", want, {})


def check_process_groups(c, rep, pairs, file):
    """Programs are the processes of one name, that of their first threads; containers those of one id, or name if it has none."""
    told = collections.defaultdict(set)
    for row in json.loads(run("stat", "--json", "--top", "0", "--by", "pid,program", file))["rows"]:
        told[row["pid"]].add(row["program"])
    for process in rep["processes"]:
        names = told[process["pid"]] - {None}
        c.equal(f"process {process['pid']}: its first thread's name", process["comm"] in names or not names or process["pid"] is None, True)
    whose = {process["pid"]: process for process in rep["processes"]}
    keys = {"programs": lambda process: process["comm"] if process["pid"] is not None else None,
            "containers": lambda process: process["container_id"] or process["container"]}
    for name, key in keys.items():
        want, processes, rows = {}, collections.Counter(), collections.defaultdict(list)
        for g, w in pairs:
            of = whose[g["pid"]]
            want.setdefault(key(of), Sums()).add(w.sums)
        for process in rep["processes"]:
            processes[key(process)] += process["pid"] is not None
        for row in rep[name]:
            rows[row["program"] if name == "programs" else key({"pid": 0, **row})].append(row)
        c.equal(f"{name}: keys", sorted(map(str, rows)), sorted(map(str, {*want, *processes})))
        for of, found in rows.items():
            c.equal(f"{name} {of}: processes", sum(row["processes"] or 0 for row in found), processes[of])
            c.equal(f"{name} {of}: rows", len(found) <= (1 if of or name == "programs" else 2), True)
            sums = want.get(of) or Sums()
            if len(found) == 1:
                c.sums(f"{name} {of}", found[0], sums)
            else:  # in none, and where that is not known
                for count in sums.COUNTS:
                    got = [row[count] for row in found]
                    c.equal(f"{name} {of} {count}", None if None in got else sum(got), sums.n[count] if is_known(c.info, count) else None)
                c.parts(f"{name} {of} wakeup", [row["wakeup"] for row in found], sums.wakeup if is_known(c.info, "wakeup") else None)
        for row in rep[name] if name == "containers" else ():
            of = key({"pid": 0, **row})
            c.equal(f"container {of} known", row["known"], bool(of) or row["known"])
            members = [process for process in rep["processes"] if key(process) == of]
            for what in ("container", "container_id", "pod", "namespace", "image", "unit"):
                told = {process[what] for process in members}
                c.equal(f"container {of} {what}", row[what] in told or not row["known"] and row[what] is None, True)
        c.equal(f"{name}: tasks", sum(row["tasks"] for row in rep[name]), sum(process["tasks"] for process in rep["processes"]))


def check_cgroup_paths(c, rep, file, window, filt):
    """The tasks whose counted events `cgroup == "PATH"` selects are those that the report has in the cgroup of that path."""
    counted = f"({filt[1]}) && " if filt else ""
    for group in rep["cgroups"]:
        if group["path"] and '"' not in group["path"]:
            rows = map(json.loads, lines(run("replay", "--json", *window, "-f", f'{counted}cgroup == "{group["path"]}"', file)))
            tids = {t["tid"] for t in rep["tasks"] if t["cgroup"] == group["cgroup"]}
            c.equal(f"tasks of cgroup {group['path']}", {row["tid"] for row in rows} <= tids, True)


UNITS = (".service", ".scope", ".socket", ".mount", ".swap")
NAMED = {"lxc": r"lxc\.payload\.(.+)", "machine": r"machine-(.+)\.scope", "nspawn": r"systemd-nspawn@(.+)\.service"}


def whose(path):
    """What a cgroup's path tells: its innermost container's id, that one's innermost unit, and its container's name if it has no id."""
    id, unit, name, above = None, None, None, ""
    for part in (path or "").split("/"):
        has_id = re.fullmatch(r"(?:(.*)[-:])?([0-9a-f]{64})", part.removesuffix(".scope"), re.S)
        names = [f"{engine}-{m[1]}" for engine, form in NAMED.items() if (m := re.fullmatch(form, part, re.S))]
        if has_id and not (has_id[1] or "").endswith("-conmon"):
            id, unit, name = has_id[2], None, None
        elif part and (above == "lxc" or names):
            id, unit, name = None, None, f"lxc-{part}" if above == "lxc" else names[0]
        elif part.endswith(UNITS) and part not in UNITS:
            unit = part
        above = part or above
    return id, unit, name


def told_by(key, file):
    """Of each task, or process, what the paths of the cgroups tell that its events were in."""
    told = collections.defaultdict(set)
    for row in json.loads(run("stat", "--json", "--top", "0", "--by", f"{key},cgroup", file))["rows"]:
        told[row[key]].add(whose(row["cgroup"]))
    return told


def check_whose(c, rep, info, file):
    """Whose a cgroup is follows from its path, of which id and unit are parts: t_containers has what names follow."""
    known = info.get("containers", {}).get("count", 0)
    keys = ("container_id", "unit") if known else ("container_id", "unit", "container")
    told = {what: told_by(key, file) for what, key in (("tasks", "tid"), ("processes", "pid"))}
    every = {whose(one["path"]) for one in rep["cgroups"]}.union(*(all for of in told.values() for all in of.values()))
    for what in "cgroups", "tasks", "processes":
        for one in rep[what]:
            for key in ("pod", "namespace", "image") if not known else ():
                c.equal(f"{what} {key}", one[key], None)
            # who has no event of its own, but is switched to, is in any
            nr, want = (one["cgroup"], {whose(one["path"])}) if what == "cgroups" else (
                nr := one["tid" if what == "tasks" else "pid"], told[what].get(nr) or every)
            want = sorted({of[:len(keys)] for of in want}, key=str)
            got = tuple(one[key] for key in keys)
            c.equal(f"{what} {nr}: {', '.join(keys)}", got, got if got in want else want)


# What is not known where this event was not recorded
OF_EVENT = {"irq_ns": "irq_handler_exit", "softirq_ns": "softirq_exit", "syscalls": "sys_enter", "wakeup": "sched_waking",
            "syscall_ns": "sys_exit", "errors": "sys_exit", "faults_user": "page_fault_user", "faults_kernel": "page_fault_kernel",
            "ios": "block_io_start", "io_bytes": "block_io_start", "samples": "cpu_sample", "wakes": "sched_waking",
            "migrations": "sched_migrate_task",
            **dict.fromkeys(("oncpu_ns", "rated_oncpu_ns", "runs", "preempted", "offcpu_ns", "queued_ns", "blocked_ns", "switches",
                            "busy_ns", "idle_ns", "rated_busy_ns", "rated_idle_ns"), "sched_switch")}


def is_known(info, key):
    if key == "faults":
        return is_known(info, "faults_user") and is_known(info, "faults_kernel")
    return info["events_recorded"] is None or OF_EVENT.get(key, "") in ["", *info["events_recorded"].split(",")]


def check_cpus(c, rep, t):
    c.equal("CPUs", sorted(x["cpu"] for x in rep["cpus"]), sorted(set(t.horizon) | {n for n, x in t.cpus.items() if x.n}))
    for got in rep["cpus"]:
        nr = got["cpu"]
        want, what = t.cpu(nr), f"CPU {nr}"
        for key in ("events", "switches", "busy_ns", "idle_ns", "rated_busy_ns", "rated_idle_ns", "irq_ns", "softirq_ns", "syscalls",
                    "faults"):
            c.equal(f"{what} {key}", got[key], want.n[key] if is_known(t.info, key) else None)
        c.equal(what + " horizon", got["horizon_ns"], t.horizon.get(nr, 0))
        c.wakeup(what, got["wakeup"], want.wakeup)
        ran = ([(t.w["moment_begin_ns"], want.first)] if want.first is not None else []) + want.ran
        c.equal(what + " ran", [(s["ts"], s["tid"]) for s in got["ran"]], ran)
        comms = [s["comm"] for s in got["ran"]]
        if want.first is not None:
            name, names = comms.pop(0), t.first_names(nr, want)
            c.equal(what + " ran first, name", name, name if name in names else sorted(names, key=str))
        c.equal(what + " ran, names", len(comms), len(want.ran_comms))
        c.equal(what + " ran, names", [(g, w) for g, w in zip(comms, want.ran_comms) if g != w and not (isinstance(w, set) and (g in w or not w))], [])


def check_syscalls(c, rep, t, words):
    def one(what, got, want):
        words.check_call(c, what, got)
        for key in ("enters", "rated_enters", "exits", "errors"):
            c.equal(f"{what} {key}", got[key], want.n[key])
        c.hist(what, got["latency"], want.latency)
    c.table("syscalls", {(x["abi"], x["id"]): x for x in rep["syscalls"]}, t.calls, one)
    c.equal("errors", {(x["abi"], x["id"], x["errno"]): x["count"] for x in rep["errors"]}, dict(t.errors))
    for x in rep["errors"]:
        words.check_call(c, f"error {x['errno']}", x)
        c.equal(f"error {x['errno']} name", is_error(x["errno_name"], x["errno"]), True)


def check_waits(c, rep, t, pairs, words):
    task_of = {g["nr"]: (g["tid"], g["comm"]) for g, _ in pairs}
    task_of[0] = (0, "idle")
    nr_of = {id(w): g["nr"] for g, w in pairs}
    nr_of[id(t.all_tasks[0])] = 0
    # who woke before the window, and did nothing in it, is not listed, but has its number, tid and name here
    want = {(by, nr_of.get(id(who), ("tid", who.tid)) if by == "task" else who, nr_of.get(id(task))): v
            for (by, who, task), v in t.waits.items()}
    unlisted = {x["waker_task"]: (x["waker_tid"], x["waker_comm"] or None) for x in rep["waits"]
                if x["by"] == "task" and x["waker_task"] not in task_of}
    c.equal("wakers that are not listed", set(unlisted.values()) - {(w.tid, w.comm) for w in t.all_tasks}, set())
    task_of.update(unlisted)

    def by_of(x):
        if x["by"] != "task":
            return x.get("irq", x.get("softirq"))
        return ("tid", x["waker_tid"]) if x["waker_task"] in unlisted else x["waker_task"]
    got = {(x["by"], by_of(x), x["task"]): [x["count"], x["offcpu_ns"], x["wakeup_ns"]] for x in rep["waits"]}
    c.equal("waits", got, want)
    for x in rep["waits"]:
        what = f"wait of {x['tid']}"
        c.equal(what, (x["tid"], x["comm"]), task_of[x["task"]])
        words.check_by(c, what, x)
        if x["by"] == "task":
            c.equal(what + " waker", (x["waker_tid"], x["waker_comm"] or None), task_of[x["waker_task"]])
    for x in rep["offcpu"]:
        words.check_in(c, "off the CPU", x)

    def key(x):
        return (x["state"], x["in"], x.get("abi"), x.get("id"))
    c.table("off the CPU", {key(x): x for x in rep["offcpu"]}, t.reasons, lambda what, g, w: c.hist(what, g["offcpu"], w))


def check_handlers(c, rep, t, words):
    def one(hist, keys):
        def compare(what, got, want):
            for key in keys:
                c.equal(f"{what} {key}", got[key], want.n[key])
            c.hist(what, got[hist], want.latency)
        return compare
    handler = ("begins", "rated_begins", "ends")
    c.table("irq", {x["irq"]: x for x in rep["irqs"]}, t.irqs, one("time", handler))
    c.table("softirq", {x["vec"]: x for x in rep["softirqs"]}, t.softirqs, one("time", handler))
    c.table("block", {(x["layer"], x["dev"], x["rw"]): x for x in rep["block"]}, t.blocks,
            one("latency", handler + ("errors", "bytes")))
    for x in rep["irqs"]:
        c.equal(f"irq {x['irq']} name", x["name"], t.irq_names.get(x["irq"], ""))
    for x in rep["softirqs"]:
        c.equal(f"softirq {x['vec']} name", x["name"], words.softirqs[x["vec"]])


def check_total(c, rep, t):
    got = rep["total"]
    c.sums("total", got, t.total)
    for key in ("offcpu", "queued", "blocked", "oncpu"):
        c.hist("total " + key, got[key], getattr(t, key))
    c.equal("events", {x["event"]: x["count"] for x in rep["events"]}, dict(t.events))
    c.equal("rated events", {x["event"]: x["rated_count"] for x in rep["events"]}, {k: t.rated_events[k] for k in t.events})
    c.equal("window's events", rep["window"]["events"], sum(t.events.values()))
    c.equal("window's rated events", rep["window"]["rated_events"], sum(t.rated_events.values()))
    samples = collections.Counter()
    for f in rep["functions"]:
        samples[f["user"], f["ip"]] += f["samples"]
    c.equal("functions", samples, t.samples)
    c.equal("functions without symbols", {(f["name"], f["module"]) for f in rep["functions"]} - {(None, None)}, set())


# ---- the task in focus ----

def calls_of(rows, tid, arch):
    calls, execs = [], EXEC_CALLS.get(arch, ((), ()))
    for row in rows:
        if row["tid"] != tid:
            continue
        if row["event"] == "sys_enter":
            calls.append(dict(id=row["id"], abi=row["abi"], enter_ns=row["ts"], exit_ns=None, args=row["args"][:6], ret=None))
        elif row["event"] == "sys_exit":
            executed = calls and row["ret"] == 0 and calls[-1]["id"] in execs[calls[-1]["abi"] & 1]
            if not calls or calls[-1]["exit_ns"] or row["id"] not in (calls[-1]["id"], -1) and not executed:
                calls.append(dict(id=row["id"], abi=row["abi"], enter_ns=None, args=[]))
            calls[-1].update(exit_ns=row["ts"], ret=row["ret"])
    return calls


def by_of(x):
    nr = x["waker_tid"] if x["by"] == "task" else x.get(x["by"])
    return x["by"], nr


def step_of(s):
    step = {k: s[k] for k in ("ts", "cpu", "did")}
    if s["did"] == "leaves":
        step["off"] = (s["state"], s["in"], s.get("abi"), s.get("id"))
    if s["did"] == "woken":
        step["by"], step["nr"] = by_of(s)
    return step


def check_focus_words(c, got, about, words):
    own = [row["comm"] for row in about if row["tid"] == got["tid"]]
    c.equal("focus comm", got["comm"], own[-1] if own else got["comm"])
    for x in got["syscalls"]:
        words.check_call(c, "its call", x)
        failed = x["ret"] is not None and -4095 <= x["ret"] < 0
        c.equal("its call's error", is_error(x["errno_name"], -x["ret"]) if failed else x["errno_name"], failed or None)
    for x in got["states"]:
        if x["did"] == "leaves":
            words.check_in(c, "its state", x)
        elif x["did"] == "woken":
            words.check_by(c, "its state", x)
    for x in got["woken_by"]:
        words.check_by(c, "wake chain", x)


REGISTERS = {"x86_64": "rip rsp rbp rdi rsi rdx rcx r8 r9 rax rbx r10 r11 r12 r13 r14 r15 rflags orig_rax".split(),
             "aarch64": "pc sp x29 x0 x1 x2 x3 x4 x5".split() + [f"x{n}" for n in range(6, 29)] + ["x30", "pstate"]}


def check_focus(c, rep, t, texts, words):
    got = rep["focus"]
    c.equal("focus", got and got["tid"], t.focus or None)
    if not got:
        return
    about = t.about[-64:]
    c.equal("last events", [(e["ts"], e["cpu"], e["event"]) for e in got["events"]], [(r["ts"], r["cpu"], r["event"]) for r in about])
    for e, row in zip(got["events"], about):
        line = re.sub(r" [ku]stack(_id=\S+|=\[[^]]*\])", "", texts[place(row)])
        c.equal("text of an event", e["text"].split("] ", 1)[-1], line.split("] ", 1)[-1])
    keys = ("id", "abi", "enter_ns", "exit_ns", "args", "ret")
    c.equal("its calls", [{k: x[k] for k in keys} for x in got["syscalls"]], calls_of(about, t.focus, t.info["arch"]))
    c.equal("its states", [step_of(s) for s in got["states"]], t.steps[-64:])
    check_focus_words(c, got, about, words)
    chain = [dict(tid=x["tid"], by=by_of(x)[0], nr=by_of(x)[1], woken_ns=x["woken_ns"], ran_ns=x["ran_ns"], comm=x["comm"],
                  waker_comm=x.get("waker_comm")) for x in got["woken_by"]]
    c.equal("its state in the wake chain", got["woken_by_state"], t.chain_state if t.chain else None)
    c.equal("wake chain", chain, [{k: v for k, v in x.items() if k != "parent"} for x in t.chain])
    s = got["stack"]
    for f in s["kernel"] + s["user"]:
        c.equal("frame without symbols", [f[k] for k in ("name", "off", "module", "missing", "file", "line", "inlined", "recorder")],
                [None, 0, None, None, None, None, False, False])
    c.equal("registers", [(r["name"], r["value"]) for r in s["registers"]], list(zip(REGISTERS.get(t.info["arch"], ()), t.registers)))
    c.equal("stack", (s["from"], s["ts"], [f["ip"] for f in s["kernel"]], [f["ip"] for f in s["user"]]), t.stack or (None, None, [], []))


def check_file(c, rep, info):
    c.equal("layout", rep["report"], 1)
    for key in ("reason", "pid", "comm", "sig", "ts"):
        c.equal("trigger " + key, rep["trigger"][key], info["trigger"][key])
    for key in ("tid", "rule", "exe", "cgroup", "addr", "ip", "code", "status", "latency", "span", "what", "rate", "cnt", "limit_cnt", "value_ns",
                "limit_ns", "text"):
        c.equal("trigger " + key, rep["trigger"][key], info["trigger"].get(key))
    c.equal("trigger sig_name", rep["trigger"]["sig_name"], signal_name(info["trigger"]["sig"]))
    for why in ("wrap", "retry", "broken"):
        c.equal("lost, " + why, rep["lost"][why], sum(x["lost"][why] for x in info["cpus"]))
    c.equal("holes", rep["lost"]["holes"], sum(x["holes"] for x in info["cpus"]))
    c.equal("damage", rep["lost"]["damage"], info["damage"])
    cut = info.get("cut")
    c.equal("cut", rep["cut"] and {k: rep["cut"][k] for k in rep["cut"]}, cut and {k: cut[k] for k in rep["cut"]})
    for key in ("mode", "grain_ns", "ties", "ahead", "losers"):
        c.equal("clock " + key, rep["clock"][key], info["clock"][key])


def check_window(c, rep, info, rows):
    w = rep["window"]
    c.equal("horizon", w["horizon_ns"], info["horizon_ns"])
    c.equal("rated begin", w["rated_begin_ns"], max(w["begin_ns"], info["horizon_ns"]))
    c.equal("rated", w["rated_ns"], max(0, w["end_ns"] - w["rated_begin_ns"]))
    if rows:
        c.equal("window holds the rows", w["begin_ns"] <= rows[0]["ts"] and rows[-1]["ts"] <= w["end_ns"], True)
        c.equal("no window was asked for", (w["begin_ns"], w["end_ns"]), (rows[0]["ts"], rows[-1]["ts"])) if not any(
            a in WINDOW for a in sys.argv) else None
    at, ts = rep["trigger"]["at_ns"], info["trigger"]["ts"]
    c.equal("trigger's place", at, ts if ts and w["begin_ns"] <= ts <= w["end_ns"] else w["end_ns"])
    c.equal("before the end", rep["trigger"]["before_end_ns"], w["end_ns"] - ts if ts else None)
    c.equal("the moment holds the trigger", w["begin_ns"] <= w["moment_begin_ns"] <= at <= w["moment_end_ns"] <= w["end_ns"], True)


def check_wall(c, rep, info):
    """The time is computed from the clock sample before it, or the first one. If two samples disagree, it lies between both results."""
    samples, at = sorted((x["ts"], x["real_ns"]) for x in info["clock"]["samples"]), info["trigger"]["ts"]
    near = [real + at - ts for ts, real in samples] if at else []
    real = rep["trigger"]["real_ns"]
    c.equal("wall time", min(near) <= real <= max(near) if near else real == 0, True)


def options_of(args):
    """Options of replay for the window, those for the filter, the task."""
    window, filt, task = [], [], None
    for name, value in zip(args[::2], args[1::2]):
        if name in WINDOW:
            window += [name, value]
        elif name == "-f":
            filt = [name, value]
        elif name == "--task":
            task = int(value)
    return window, filt, task


def ender(file, trigger):
    """The thread that made its process exit: the last one to end that was not killed. None: another trigger, or not known."""
    if trigger["reason"] != "exit" or trigger.get("status") is None:
        return None
    ends, killed = [], set()
    for line in lines(run("replay", "--json", "--life", "-f", f"pid == {trigger['pid']} && ts <= {trigger['ts']}", file)):
        row = json.loads(line)
        if row["event"] == "signal_deliver" and row["fatal"]:
            killed.add(row["tid"])
        elif row["event"] == "sched_process_exit" and row["exit_code"] == trigger["status"] << 8:
            ends.append(row["tid"])
    return next((tid for tid in reversed(ends) if tid not in killed), None)


def pid_of(tid, rows):
    """The process of a task, by a row that has it; None: none does."""
    return next((row["pid"] for row in rows if tid and row["tid"] == tid and row["pid"] is not None), None)


def check_klog(c, rep, info, file):
    """Records around the moment, found in what replay prints."""
    got, at = rep["kernel_log"], rep["trigger"]["at_ns"]
    if got is None:
        c.equal("the kernel's log", info["kernel_log"], None)
        return
    c.equal("records of the kernel's log", got["records"], info["kernel_log"]["records"])
    keys = ("ts", "kmsg", "level", "facility", "seq", "uncertainty_ns")
    every = [row for row in map(json.loads, lines(run("replay", "--json", "--kmsg", file))) if "kmsg" in row]
    near = [row for row in every if at - 10**10 <= row["ts"] + (row["uncertainty_ns"] or 0) and row["ts"] - (row["uncertainty_ns"] or 0) <= at + 10**9]
    c.equal("records around the moment", [{key: row[key] for key in keys} for row in got["around"]], near)


LIMITS = "CPU FSIZE DATA STACK CORE RSS NPROC NOFILE MEMLOCK AS LOCKS SIGPENDING MSGQUEUE NICE RTPRIO RTTIME".split()  # by the kernel's number


def check_scene(c, rep, info):
    """What the process had as it died agrees with itself: no other output tells it."""
    got = rep["scene"]
    if got is None:
        return
    fds = [d["fd"] for d in got["descriptors"]]
    c.equal("what a process had: deaths in the file", (bool(info["deaths"]), type(got["ts"])), (True, int))
    c.equal("descriptors", (fds, max(fds, default=-1) < (got["open_below"] or 1 << 31)), (sorted(set(fds)), True))
    c.equal("how many are open", got["open"] >= len(fds) if got["open"] is not None else not fds, True)
    for d in got["descriptors"]:
        what, words = f"descriptor {d['fd']}", (d["flags_words"] or "").split("|")
        c.equal(what, (d["object"] is None or bool(d["object"]), type(d["pos"])), (True, int))
        if words != [""]:
            c.equal(what + ": flags", (words[0], "O_CLOEXEC" in words), (("O_RDONLY", "O_WRONLY", "O_RDWR")[d["flags"] & 3], bool(d["flags"] & 0o2000000)))
    maps = got["mappings"]
    c.equal("mappings: sorted, apart", all(a["end"] <= b["start"] for a, b in zip(maps, maps[1:])), True)
    c.equal("mappings: as many as there were, or fewer", got["mapped"] >= len(maps) if got["mapped"] is not None else not maps, True)
    for m in maps:
        what = f"mapping {m['start']:#x}"
        c.equal(what, (m["start"] < m["end"], len(m["perms"]), type(m["offset"]), m["path"] == ""), (True, 4, int, False))
        c.equal(what + ": only a file may be deleted", m["deleted"] and not m["file"], False)
        if m["build_id"]:
            c.equal(what + ": a build-id", (m["file"], set(m["build_id"]) - set("0123456789abcdef")), (True, set()))
    for point in "ip", "sp", "addr":
        c.equal(f"mappings: {point} lies in one at most", sum(m[point] for m in maps) <= 1, True)
    tids = [t["tid"] for t in got["threads"]]
    c.equal("threads", (tids, len(tids) <= (got["threaded"] or 0)), (sorted(set(tids)), True))
    c.equal("threads: one at most died", sum(t["died"] for t in got["threads"]) <= 1, True)
    for t in got["threads"]:
        c.equal(f"thread {t['tid']}: its name, state", (t["comm"] != "", t["state_name"] is None or t["state_name"][0] in "RSDTtXZPI"), (True, True))
        c.equal(f"thread {t['tid']}: its place is that of its instruction", t["place"] is None or t["ip"] is not None, True)
        c.equal(f"thread {t['tid']}: of its stack something is known, or nothing", (len(t["stack"]) > 32, t["stack_whole"] is None), (False, not t["stack"]))
        c.equal(f"thread {t['tid']}: only of others, which did not run", bool(t["stack"]) and (t["died"] or t["ran"]), False)
        c.equal(f"thread {t['tid']}: it begins where the thread was", [f["ip"] for f in t["stack"][:1]] in ([], [t["ip"]]), True)
        c.equal(f"thread {t['tid']}: stack pointer, call", (type(t["sp"]) in (int, type(None)), t["call"] != ""), (True, True))
        if t["ran"] and not t["died"]:
            c.equal(f"thread {t['tid']}: it ran", (t["state_name"], t["call"], t["ip"]), (None, None, None))
    for limit in got["limits"]:
        what, bounds = f"limit {limit['number']}", (limit["soft"], limit["hard"])
        c.equal(what, limit["name"], LIMITS[limit["number"]])
        c.equal(what + ": soft, hard", bounds[1] is None or bounds[0] is not None and bounds[0] <= bounds[1], True)
        if limit["name"] == "NOFILE":
            c.equal(what + ": used", limit["used"], None if got["open_below"] else got["open"])
        elif limit["used"] is not None:
            c.equal(what + ": may be known", limit["name"] in ("DATA", "STACK", "NPROC", "MEMLOCK", "AS"), True)


def check_counters(c, rep, file):
    """What is said to have moved, from the readings that info prints."""
    got, every = rep["counters"], json.loads(run("info", "--counters", "--json", file))["counters"]
    if got is None:
        c.equal("counters", every, None)
        return
    c.equal("readings", got["readings"], max(len(s["ts"]) for s in every))
    series = {(s["name"], s["object"]): s for s in every}
    for moved in got["moved"]:
        s = series[moved["name"], moved["object"]]
        value = dict(zip(s["ts"], s["values"]))
        c.equal(f"{moved['name']}: unit", moved["unit"], s["unit"])
        for move in (moved["last"], moved["before"]):
            if move:
                c.equal(f"{moved['name']} {moved['object']}: how much", move["delta"], value[move["to_ns"]] - value[move["from_ns"]])


def check_said(c, rep, info, rows):
    """What the process wrote to standard error, from the rows of replay."""
    got, pid, at = rep["stderr"], info["trigger"]["pid"], rep["trigger"]["at_ns"]
    if got is None:
        return
    said = [row for row in rows if row["event"] == "stderr_write" and row["pid"] == pid and row["ts"] <= at]
    text = "".join(row["text"] for row in said)
    c.equal("standard error", (got["writes"], got["bytes"]), (len(said), sum(row["bytes"] for row in said)))
    c.equal("its end", got["text"], text[-min(len(text), 4096):])


def check_rare(c, rep, info, file, args):
    """What begins and what ends is one event; counts, the last one, and how long, from the rows of replay."""
    got = rep["rare"]
    if got is None:
        return
    c.equal("rare events: complete from", got["horizon_ns"],
            max(t["horizon_ns"] for cpu in info["cpus"] for t in cpu["tiers"] if t["name"] == "rare"))
    rows = [row for row in map(json.loads, lines(run("replay", "--json", "--tier", "rare", *args, file)))]
    names = {g["event"] for g in got["groups"]}
    count, took, last, since, long = {}, {}, {}, {}, {}
    by_place = {(row["event"], row["ts"], row["tid"]): row for row in rows}
    for row in rows:
        begin = row["event"].removesuffix("_end").removesuffix("_exit")
        begin = next((name for name in (begin + "_begin", begin + "_enter") if begin != row["event"] and name in names), None)
        if begin:
            key, at = (begin, row["tid"]), since.pop((begin, row["tid"]), None)
            if at is not None and at >= got["horizon_ns"]:
                took[begin] = took.get(begin, 0) + row["ts"] - at
                long.setdefault(begin, []).append(row["ts"] - at)
            continue
        since[row["event"], row["tid"]] = row["ts"]
        count[row["event"]] = count.get(row["event"], 0) + 1
        last[row["event"]] = row["ts"]
    c.equal("rare events", got["events"], sum(count[name] for name in names))
    for name in names:
        mine = [g for g in got["groups"] if g["event"] == name]
        c.equal(f"{name}: count", sum(g["count"] for g in mine), count[name])
        c.equal(f"{name}: the last", max(g["last_ts"] for g in mine), last[name])
        c.equal(f"{name}: how long", sum(g["took_ns"] for g in mine), took.get(name, 0))
        c.equal(f"{name}: ended", sum(g["ended"] for g in mine), len(long.get(name, ())))
        c.equal(f"{name}: the longest", max(g["longest_ns"] for g in mine), max(long.get(name, (0,))))
        c.equal(f"{name}: whose", [by_place[name, g["last_ts"], g["last_tid"]]["comm"] for g in mine], [g["last_comm"] for g in mine])
        c.equal(f"{name}: apart", len({g["about"] or g["last_comm"] for g in mine}), len(mine))


def main(file, args):
    window, filt, task = options_of(args)
    looked = set()
    plain = json.loads(run("report", "--json", "--no-symbols", *args, file))
    rep = watch(plain, "", looked)
    info = json.loads(run("info", "--json", file))
    known = {}
    everything = events(run("replay", "--json", "--pos", file), known)
    rows = events(run("replay", "--json", "--pos", *window, file), known) if window else everything
    in_window = {place(row) for row in rows}
    before = [row for row in everything if row["ts"] <= rep["window"]["begin_ns"] and place(row) not in in_window]  # they tell what is so when the window begins

    def later(cpu):
        """The rows of a CPU's main tier, also those behind the window; None: all rows, in it or not."""
        return (row for row in everything if cpu is None or row["cpu"] == cpu and row["pos"]["tier"] == "main")
    counted = {place(row) for row in events(run("replay", "--json", "--pos", *window, *filt, file), known)} if filt else None
    focus = task or ender(file, info["trigger"]) or info["trigger"].get("tid") or info["trigger"]["pid"] or 0
    t = Tables(before + rows, counted, rep["window"], info, focus, None if task else info["trigger"]["pid"], later, before)
    texts = dict(zip(map(place, everything), lines(run("replay", "--no-symbols", file))))
    words = Words(everything, texts)
    c = Check(info)
    check_file(c, rep, info)
    check_window(c, rep, info, rows)
    check_wall(c, rep, info)
    pairs = check_tasks(c, rep, t)
    check_groups(c, rep, t, pairs)
    check_process_groups(c, rep, pairs, file)
    check_cgroup_paths(c, rep, file, window, filt)
    check_whose(c, rep, info, file)
    check_cpus(c, rep, t)
    check_total(c, rep, t)
    check_syscalls(c, rep, t, words)
    check_waits(c, rep, t, pairs, words)
    check_handlers(c, rep, t, words)
    check_focus(c, rep, t, texts, words)
    counts = [row for row in rows if counted is None or place(row) in counted]
    check_long_waits(c, rep, info, counts, focus, pid_of(focus, everything), [texts[place(row)] for row in counts])
    check_still(c, rep, info)
    check_klog(c, rep, info, file)
    check_said(c, rep, info, everything)
    check_counters(c, rep, file)
    check_scene(c, rep, info)
    check_rare(c, rep, info, file, window)
    check_verdict(c, rep, everything)
    check_changes(c, rep, everything)
    if not c.wrong:
        c.equal("figures that nothing was compared with", sorted(set(paths(plain)) - looked), [])
    for line in c.wrong[:20]:
        print(line)
    if len(c.wrong) > 20:
        print(f"and {len(c.wrong) - 20} more")
    print(f"{c.compared} figures of {len(rows)} events compared, {len(c.wrong)} differ")
    return 1 if c.wrong else 0


if __name__ == "__main__":
    gc.disable()  # rows are many, live to the end, and make no circles
    sys.exit(main(sys.argv[1], sys.argv[2:]))
