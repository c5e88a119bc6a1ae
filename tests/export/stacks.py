# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Folded stacks and perf's text, made again from `replay --json` and compared line by line."""
import collections
import re

HEAD = re.compile(r"^(.+) (-?\d+)/(\d+) \[(\d+)\] (\d+)\.(\d{6}): +(?:1 (cpu-clock): |([a-z_]+):(\w+): (.*))$")
FRAME = re.compile(r"^\t *([0-9a-f]+) (\S.*) \((.+)\)$")


def clean(comm):
    return "[unknown]" if not comm else comm.replace(";", ":")


def is_plain(comm):
    """JSON escapes what is no text: such names are left out of comparisons."""
    return comm is None or (comm.isprintable() and "\\x" not in comm)


def frames(e):
    """Innermost first, as replay has them."""
    ips = (e["kstack"] or []) + (e["ustack"] or [])
    return ips or [e["ip"]]


def folded_samples(events):
    got = collections.Counter()
    for e in events:
        if e["event"] == "cpu_sample" and is_plain(e["comm"]):
            got[";".join([clean(e["comm"])] + [f"0x{ip:x}" for ip in reversed(frames(e))])] += 1
    return got


def read_folded(path):
    got = collections.Counter()
    with open(path, encoding="utf-8", errors="surrogateescape") as f:
        for line in f:
            stack, weight = line.rstrip("\n").rsplit(" ", 1)
            got[stack] += int(weight)
    return got


def differ(got, want):
    for key in sorted(set(got) | set(want)):
        if got[key] != want[key] and is_plain(key):
            return f"{key!r}: {got[key]}, not {want[key]}"
    return None if want else "there is nothing to compare"


class Task:
    def __init__(self):
        self.left, self.woken, self.state, self.call, self.call_at = None, None, "R", None, 0


def state_name(bits):
    return {0: "R", 1: "S", 2: "D", 4: "T", 8: "t", 16: "X", 32: "Z", 64: "P", 128: "I"}.get(bits & 0xff, "?")


def off_cpu(events, known_from, gaps=()):
    """ns off the CPU by task name, state and number of the system call; what began before known_from may be wrong, and what has a
    part of a gap (since, until) is not known, nor is a call behind it that began before."""
    tasks, got = collections.defaultdict(Task), collections.Counter()
    for e in events:
        name, tid = e["event"], e["tid"]
        if name == "sys_enter" or name == "sys_exit":
            tasks[tid].call = (e["id"], e["abi"]) if name == "sys_enter" else None
            tasks[tid].call_at = e["ts"]
        elif name == "sched_waking":
            t = tasks[e["target_pid"]]
            t.woken = t.woken or e["ts"]
        elif name == "sched_process_fork":
            tasks.pop(e["child_pid"], None)
        elif name == "sched_switch":
            t = tasks[e["next_pid"]]
            if e["next_pid"] and t.left and t.left >= known_from and not any(u > t.left and s < e["ts"] for s, u in gaps):
                woken = t.woken or e["ts"]
                is_known = not any(u > t.call_at and s < t.left for s, u in gaps)
                key = (e["next_comm"], t.state, t.call if is_known else None)
                got[key + (False,)] += woken - t.left
                got[key + (True,)] += e["ts"] - woken
            t.left = None
            if e["prev_state"] & 48:
                tasks.pop(tid, None)
                continue
            t = tasks[tid]
            runnable = not e["prev_state"] & 0xff
            t.left, t.state, t.woken = e["ts"], state_name(e["prev_state"]), e["ts"] if runnable else None
    return got


def read_off_cpu(path):
    """Of each line: name, state, call or None, is it runnable, ns."""
    for stack, ns in read_folded(path).items():
        parts = stack.split(";")
        runnable = parts[-1] == "[runnable]"
        call = parts[2 : len(parts) - runnable]
        if is_plain(parts[0]):
            yield parts[0], parts[1], call[0] if call else None, runnable, ns


def test_off_cpu(path, events, known_from, gaps):
    """Sums for each name and state, split into waiting for something and for a CPU."""
    want, got = collections.Counter(), collections.Counter()
    for (comm, state, _, runnable), ns in off_cpu(events, known_from, gaps).items():
        if is_plain(comm):
            want[(clean(comm), f"[{state}]", runnable)] += ns
    for comm, state, _, runnable, ns in read_off_cpu(path):
        got[(comm, state, runnable)] += ns
    for key in sorted(set(got) | set(want)):
        if got[key] != want[key]:
            return f"{key}: {got[key]} ns, not {want[key]}"
    return None


def test_off_cpu_calls(path, events, known_from, gaps):
    """As many calls for each name and state as events tell of."""
    want = {(clean(comm), f"[{state}]", call) for (comm, state, call, _), ns in off_cpu(events, known_from, gaps).items() if ns and is_plain(comm)}
    got = {(comm, state, call) for comm, state, call, _, _ in read_off_cpu(path)}
    if len(got) != len(want):
        return f"{len(got)} different calls, {len(want)} in the snapshot"
    return None if any(call for _, _, call in got) else "no system call has a name"


def test_folded(path, events):
    return differ(read_folded(path), folded_samples(events))


def head_error(line, e):
    m = HEAD.match(line)
    if not m:
        return f"no head of an event: {line!r}"
    us = int(m[5]) * 10**6 + int(m[6])
    if (int(m[3]), int(m[4]), us) != (e["tid"], e["cpu"], e["ts"] // 1000) or (m[9] or "cpu_sample") != e["event"].removeprefix("tp:"):
        return f"{line!r} is not {e}"
    if is_plain(e["comm"]) and m[1] != (e["comm"] or ":-1"):
        return f"{line!r} has another name than {e['comm']}"
    if e["event"] == "sched_switch" and f"prev_pid={e['prev_pid']} " not in m[10] + " ":
        return f"{line!r} is not {e}"
    if e["event"] == "sys_exit" and m[10] != f"NR {e['id']} = {e['ret']}":
        return f"{line!r} is not {e}"
    return None


def test_perf(path, events):
    """Event by event, with the frames of those that have stacks; each ends with an empty line."""
    with open(path, encoding="utf-8", errors="surrogateescape") as f:
        blocks = f.read().split("\n\n")
    if blocks.pop() or len(blocks) != len(events):
        return f"{len(blocks)} events, {len(events)} in the snapshot"
    for block, e in zip(blocks, events):
        head, *rest = block.split("\n")
        error = head_error(head, e)
        got = [FRAME.match(line) for line in rest]
        if error or not all(got):
            return error or f"no frames: {rest}"
        want = frames(e) if e["event"] == "cpu_sample" else (e.get("kstack") or []) + (e.get("ustack") or []) if e["event"] != "wait" else []
        if e["event"] != "crash" and [int(m[1], 16) for m in got] != want:
            return f"{rest} are not {want}"
    return None


def test_collapsed(perf_path, folded_path, events):
    """What a collapser makes of perf's text is what folded has: with names."""
    got = collections.Counter()
    with open(perf_path, encoding="utf-8", errors="surrogateescape") as f:
        for block in f.read().split("\n\n"):
            head, *rest = block.split("\n")
            m = HEAD.match(head)
            if not m or not m[7]:
                continue
            part = [FRAME.match(line) for line in rest]
            got[m[1].replace(";", ":")] += 1
            if not part:
                return f"a sample without frames: {head}"
    want = collections.Counter()
    for stack, cnt in read_folded(folded_path).items():
        want[stack.split(";")[0]] += cnt
    want[":-1"] = want.pop("[unknown]", 0)
    return differ(got, want)
