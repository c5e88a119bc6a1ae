# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What changed before the trigger, of `report --json`: made again from the rows. Which part a tier is complete in is taken from the report and
only checked against the horizon; all sums, and which of them are told, are found here."""
import collections
import re

EVENTS = {"cpu": "sched_switch", "waits": "wait", "processes": "sched_process_fork", "signals": "signal_generate", "errors": "sys_exit"}
TIMES = {"cpu", "waits"}
SEC, SIGCHLD, TOLD_MOST = 10**9, 17, 4


def overlap(a, b, c, d):
    return max(0, min(b, d) - max(a, c))


def shown(name):
    return "".join(ch if " " <= ch <= "~" and ch != "\\" else "".join(f"\\x{b:02x}" for b in ch.encode(errors="surrogateescape")) for ch in name or "") or "?"


class Sums:
    def __init__(self, changes):
        self.split, self.until = changes["since_ns"], changes["until_ns"]
        self.since = {x["what"]: x["from_ns"] for x in changes["compared"]}
        self.sum = collections.defaultdict(lambda: [0, 0])

    def stretch(self, what, name, a, b):
        both = self.sum[what, shown(name)]
        both[0] += overlap(a, b, self.since[what], self.split)
        both[1] += overlap(a, b, self.split, self.until)

    def event(self, what, row):
        if self.since[what] is not None and self.since[what] <= row["ts"] < self.until:
            self.sum[what, shown(row["comm"])][row["ts"] >= self.split] += 1

    def on_cpus(self, rows, cpus):
        """Whoever has a CPU, by its switches; behind the first row it is known."""
        for cpu in cpus:
            holder, since, named = None, self.since["cpu"], None
            for r in (r for r in rows if r["cpu"] == cpu and r["pos"]["tier"] == "main" and r["ts"] >= since):
                holder = (r["tid"],) if holder is None else holder
                if r["event"] != "sched_switch":
                    continue
                if holder == (r["tid"],) and r["tid"]:
                    self.stretch("cpu", r["comm"], since, r["ts"])
                holder, since, named = (r["next_pid"],), r["ts"], r["next_comm"]
            if holder and holder[0]:
                last = [r["comm"] for r in rows if r["tid"] == holder[0] and since <= r["ts"] <= self.until]
                self.stretch("cpu", last[-1] if last else named, since, self.until)

    def add(self, rows):
        for r in rows:
            if r["event"] == "wait" and self.since["waits"] is not None:
                self.stretch("waits", r["comm"], r["ts"] - r["off"], r["ts"])
            elif r["event"] == "sched_process_fork" and r["child_pid"] == r["child_tgid"]:
                self.event("processes", r)
            elif r["event"] == "signal_generate" and r["sig"] != SIGCHLD:
                self.event("signals", r)
            elif r["event"] == "sys_exit" and -4095 <= r["ret"] < 0:
                self.event("errors", r)

    def moved(self):
        out = []
        for (what, program), (before, last) in self.sum.items():
            a, b = (round(x * SEC / ns) for x, ns in ((before, self.split - self.since[what]), (last, self.until - self.split)))
            more, less = max(a, b), min(a, b)
            told = more - less >= 20 * 10**6 and more >= less + less // 2 if what in TIMES else \
                more - less >= 5 and max(before, last) >= 5 and more >= 2 * less
            if told:
                out.append((list(EVENTS).index(what), less - more, program, dict(what=what, program=program, before=before, last=last, before_rate=a, last_rate=b)))
        out.sort(key=lambda x: x[:3])
        return [x[3] for i, x in enumerate(out) if sum(y[0] == x[0] for y in out[:i]) < TOLD_MOST]


def check_changes(c, rep, rows):
    """rows: all of the file."""
    changes, trigger = rep["changes"], rep["trigger"]
    until = trigger["ts"] if trigger["ts"] and trigger["ts"] > 0 else rep["window"]["end_ns"]
    c.equal("changes until", changes["until_ns"], until)
    c.equal("changes since", changes["since_ns"], max(until - min(max(SEC, trigger["value_ns"] or 0), 60 * SEC), rep["window"]["begin_ns"]))
    c.equal("what was compared", [(x["what"], x["event"]) for x in changes["compared"]], list(EVENTS.items()))
    sums = Sums(changes)
    for what, since in sums.since.items():
        if since is not None:
            c.equal(f"{what}: half a second before", since + SEC // 2 <= sums.split, True)
            c.equal(f"{what}: not before the window", since >= rep["window"]["begin_ns"], True)
    if sums.since["cpu"] is not None:
        c.equal("complete CPUs", sums.since["cpu"] >= rep["window"]["horizon_ns"], True)
        sums.on_cpus(rows, sorted({r["cpu"] for r in rows}))
    sums.add(rows)
    keys = ("what", "program", "before", "last", "before_rate", "last_rate")
    c.equal("what moved", [{key: x[key] for key in keys} for x in changes["moved"]], sums.moved())
    for x in changes["moved"]:
        all_cnt = sum(r["event"] == "cpu_sample" and r["comm"] == x["program"] and changes["since_ns"] <= r["ts"] <= until for r in rows)
        said = re.findall(r"in (\d+) of (\d+) samples", x["doing"] or "")
        c.equal(f"what {x['program']} did", x["doing"] is None or x["what"] == "cpu" and bool(said), True)
        c.equal(f"samples of {x['program']}", [(5 <= int(cnt) <= int(of), int(of)) for cnt, of in said], [(True, all_cnt)] * len(said))
