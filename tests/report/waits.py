# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The long waits of `report --json`, made again from the rows of event wait, and who did wakings by these."""
import bisect
import collections
import re

SLEEPS = 0xff  # states in which a task is not runnable
IN = ("call", "user", "kernel")
WAKERS = ("unknown", "task", "softirq", "irq", "nmi", "timer")


def child(pid):
    pid = pid - (1 << 32) if pid & 1 << 31 else pid
    return f"child {pid}" if pid > 0 else "children"


def descriptors(cnt):
    return f"{cnt} descriptor{'s' if cnt != 1 else ''}" if cnt else "a timer"


ABOUT = {
    "futex": lambda a: f"futex 0x{a[0]:x}", "futex_wait": lambda a: f"futex 0x{a[0]:x}",
    "futex_waitv": lambda a: f"{a[1] & 0xffffffff} futex{'es' if a[1] != 1 else ''}", "wait4": lambda a: child(a[0] & 0xffffffff),
    "waitid": lambda a: child(a[1] & 0xffffffff if a[0] == 1 else 0), "poll": lambda a: descriptors(a[1] & 0xffffffff),
    "ppoll": lambda a: descriptors(a[1] & 0xffffffff), "select": lambda a: f"descriptors below {a[0] & 0xffffffff}" if a[0] else "a timer",
    "pselect6": lambda a: f"descriptors below {a[0] & 0xffffffff}" if a[0] else "a timer", "nanosleep": lambda a: "a timer",
    "clock_nanosleep": lambda a: "a timer", "pause": lambda a: "a signal", "rt_sigsuspend": lambda a: "a signal",
    "rt_sigtimedwait": lambda a: "a signal",
}


def call_of(row, text):
    """The call as replay's text has it; None: in none."""
    if IN[row["waited_in"]] != "call":
        return None
    name = re.search(r" id=(\S+)", text)[1]
    return (f"syscall {name}" if re.fullmatch(r"-?\d+", name) else name) + ("/32" if row["abi"] else "")


def about(row, call):
    if row["object"]:
        return row["object"]
    if not call or row["abi"] or not row["state"] & SLEEPS or call not in ABOUT:
        return None
    return ABOUT[call]([row[f"arg{i}"] for i in range(6)])


def kind(row, text):
    call = call_of(row, text)
    return (row["comm"], IN[row["waited_in"]], call, about(row, call), WAKERS[row["waker"]] if row["state"] & SLEEPS else None,
            row["waker_comm"] if row["waker_pid"] else None)


def kind_of(x):
    return tuple(x[key] for key in ("comm", "in", "call", "about", "waker", "waker_comm"))


def time(rows):
    return len(rows), sum(r["off"] for r in rows), sum(r["blocked"] for r in rows), sum(r["queued"] for r in rows)


def time_of(x):
    return tuple(x[key] for key in ("count", "off_ns", "blocked_ns", "queued_ns"))


def check_part(c, what, got, rows, texts):
    c.equal(what, time_of(got), time(rows))
    c.equal(what + " left out", got["left_out"], 0)
    longest = sorted(r["off"] for r in rows)[::-1][:32]
    c.equal(what + " longest", [x["off_ns"] for x in got["longest"]], longest)
    by_end = collections.defaultdict(list)
    for r, text in zip(rows, texts):
        by_end[r["ts"], r["tid"]].append((r, text))
    for x in got["longest"]:
        r, text = by_end[x["ts"], x["tid"]][0]
        c.equal(what + " one", [x[k] for k in ("cpu", "pid", "off_ns", "blocked_ns", "queued_ns", "state", "waker_tid")],
                [r["cpu"], r["pid"], r["off"], r["blocked"], r["queued"], r["state"], r["waker_pid"] or None])
        c.equal(what + " owner", (x["owner_tid"], x["owner_comm"]), (r["owner_pid"] or None, (r["owner_comm"] or None) if r["owner_pid"] else None))
        c.equal(what + " state", x["state_name"], re.search(r" state=(\S+)", text)[1] if x["state_name"] else None)
        c.equal(what + " kind", kind_of(x), kind(r, text))
        c.equal(what + " stack", x["kernel"] is None or (x["kernel"] != [] and bool(r.get("kstack_id"))), True)
        c.equal(what + " user stack", x["user"] is None or list(x["user"]) != [], True)
        c.equal(what + " user stack of its record", (r["ustack_id"], r["ustack"])[not r["ustack_id"]], r["ustack_id"] or None)
        c.equal(what + " user stack, none", x["user"] is None, not r.get("ustack"))
    sums = collections.defaultdict(list)
    for r, text in zip(rows, texts):
        sums[kind(r, text)].append(r)
    c.equal(what + " sums", sorted(map(str, map(kind_of, got["sums"]))), sorted(map(str, sums)))
    for s in got["sums"]:
        mine = sums.get(kind_of(s), [])
        c.equal(f"{what} sum {kind_of(s)}", time_of(s), time(mine))
        c.equal(what + " longest of a sum", s["longest_ns"], max((r["off"] for r in mine), default=None))
        c.equal(what + " when", s["longest_ts"] in [r["ts"] for r in mine if r["off"] == s["longest_ns"]], True)
        c.equal(what + " user stack of a sum", s["user"] is None, not any(r.get("ustack") and r["ts"] == s["longest_ts"] for r in mine))
        c.equal(what + " stack of a sum", s["kernel"] is None or (s["kernel"] != [] and any(r.get("kstack_id") for r in mine)), True)
    order = [s["off_ns"] for s in got["sums"]]
    c.equal(what + " order", order, sorted(order)[::-1])


def check_long_waits(c, rep, info, rows, focus, pid, texts):
    """rows: those that count; texts: their lines."""
    got, min_ns = rep["long_waits"], (info.get("waits") or {}).get("min_ns")
    waits = [(r, text) for r, text in zip(rows, texts) if r["event"] == "wait"]
    if got is None:
        c.equal("waits recorded", (min_ns, len(waits)), (None, 0))
        return
    c.equal("least wait", got["min_ns"], min_ns)
    keys, known = ("count", "off_ns", "blocked_ns"), info.get("waits") or {}
    c.equal("waits beyond the budget, by task and call", [tuple(o[k] for k in ("tid", "call", *keys)) for o in got["over_by"]],
            [tuple(o[k] for k in ("tid", "call", *keys)) for o in known.get("over_by", [])])
    c.equal("their tasks' names", [o["comm"] is None or bool(o["comm"]) for o in got["over_by"]], [True] * len(got["over_by"]))
    c.equal("those without a place", [got["over_rest"][k] for k in keys] if "over_rest" in got else None,
            [known["over_rest"][k] for k in keys] if "over_rest" in known else None)
    c.equal("horizon of waits", got["horizon_ns"], next((t["horizon_ns"] for t in info["tiers"] if t["name"] == "wait"), 0))
    for name, chosen in (("task", lambda r: focus and r["tid"] == focus), ("process", lambda r: pid is not None and r["pid"] == pid), ("all", lambda r: True)):
        mine = [(r, text) for r, text in waits if chosen(r)]
        check_part(c, f"long waits of {name}", got[name], [r for r, _ in mine], [text for _, text in mine])


STATES = {0: "R", 1: "S", 2: "D", 4: "T", 8: "t", 16: "X", 32: "Z", 64: "P", 128: "I"}


def check_still_one(c, t):
    """What format.md says of any state; t_states.py compares them with the kernel's own words."""
    what = f"state of task {t['tid']}"
    c.equal(what, t["state_name"], STATES.get(t["state"]))
    c.equal(what + ": call", (t["in"] == "call", t["in"] == "call"), (t["id"] is not None, t["call"] is not None))
    c.equal(what + ": since", t["since_ns"] is None, t["since_from"] is None)
    c.equal(what + ": times", [ns <= t["at_ns"] for ns in (t["since_ns"], t["woken_ns"]) if ns], [True] * len([1 for ns in (t["since_ns"], t["woken_ns"]) if ns]))
    c.equal(what + ": waker", t["woken_ns"] is None, t["waker"] is None)
    c.equal(what + ": runs", t["runs"] and (t["state"], t["in"], t["kernel"] is None), t["runs"] and (0, None, True))
    c.equal(what + ": moved", t["moved"] and (t["in"], t["kernel"] is None), t["moved"] and (None, True))
    c.equal(what + ": own", t["own"] and t["in"] == "kernel", False)  # t_attack.py knows whose each is
    c.equal(what + ": owner", t["owner_tid"] is None or t["call"] in ("futex", "flock", "fcntl") and not t["runs"], True)
    if t["in"] == "call":
        c.equal(what + ": arguments", (len(t["args"]), t["abi"] in (0, 1)), (6, True))
    c.equal(what + ": object", t["object"] is None or t["about"] == t["object"] or t["state"] == 0, True)
    c.equal(what + ": CPUs that it may run on", t["cpus_allowed"] is None or 1 <= t["cpus_allowed"] <= 65535, True)
    c.equal(what + ": numbers", [type(t[k]) for k in ("pid", "start_ns", "cpu", "prio", "policy", "cgroup_id")], [int] * 6)
    c.equal(what + ": names", [t[k] is None or bool(t[k]) for k in ("comm", "waker_comm", "waker_tid", "owner_comm", "owner_tid")], [True] * 5)


def check_still(c, rep, info):
    got, of = rep["still_waiting"], info["task_states"].get("of")
    if got is None:
        c.equal("states", (info["task_states"]["count"], of), (0, None))
        return
    for key in ("seen", "taken", "brief", "many", "late", "gone"):
        c.equal(f"tasks {key}", got[key], (of or {}).get(key, 0))
    c.equal("states", len(got["tasks"]), info["task_states"]["count"])
    for t in got["tasks"]:
        check_still_one(c, t)


class Wakers:
    """Who did wakings, by the waits that they ended."""

    def __init__(self, rows):
        self.of = collections.defaultdict(list)
        for r in rows:
            how = WAKERS[r["waker"]] if r["event"] == "wait" else "unknown"
            if how != "unknown" and r["state"] & SLEEPS and r["queued"] <= r["off"]:
                self.of[r["tid"]].append((r["ts"] - r["queued"], r["ts"] - r["off"], how))
        for spans in self.of.values():
            spans.sort()

    def find(self, tid, ts):
        spans = self.of.get(tid, [])
        i = bisect.bisect_left(spans, (ts,))
        return spans[i][2] if i < len(spans) and spans[i][1] <= ts else None
