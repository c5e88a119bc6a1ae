# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""trace.dat, read back by `trace-cmd report`: as many events, in the same order, with the same times, CPUs, tasks and values."""
import re
import subprocess

LINE = re.compile(r"^ *(.*)-(\d+) +\[(\d+)\] (?:\S{4,6} )? *(\d+)\.(\d{9}): (\w+): +(.*)$")
# the kernel's name of a field where ours is another
RENAMED = {"target_comm": "comm", "target_pid": "pid"}
NOT_SHOWN = {"ts", "cpu", "event", "pid", "tid", "comm", "args", "tp_cut"}  # tp_cut: the kernel's format of a tracepoint has no such field


def report(path, *args):
    r = subprocess.run(["trace-cmd", "report", "-t", *args, path], capture_output=True, stdin=subprocess.DEVNULL)
    text = r.stdout.decode(errors="surrogateescape")
    if r.returncode or not text.startswith("cpus="):
        raise RuntimeError(f"trace-cmd report: {r.returncode} {r.stderr.decode()[-300:]} {text[:100]!r}")
    return [line for line in text.splitlines()[1:] if "[EVENTS DROPPED]" not in line and " process_whose: " not in line]


def whose(path):
    """The lines that are no event of ours: whose processes are."""
    r = subprocess.run(["trace-cmd", "report", "-t", "-F", "process_whose", path], capture_output=True, stdin=subprocess.DEVNULL)
    return [line for line in r.stdout.decode(errors="surrogateescape").splitlines() if " process_whose: " in line]


def last_names(events):
    """A trace.dat knows one name of a task: the one at its last event."""
    return {e["tid"]: e["comm"] for e in events}


def numbers(text):
    """What a number printed without saying its base can be."""
    return {int(text, base) & 2**64 - 1 for base in (10, 16) if re.fullmatch("-?[0-9]+" if base == 10 else "-?(0x)?[0-9a-f]+", text)}


def is_value(text, value):
    if value is None:
        return True
    if isinstance(value, str):
        return text == value or "\\x" in value or not value.isprintable()
    if isinstance(value, list):
        if len(re.findall("[0-9a-f]{2}", text)) == 8 * len(value) or text.startswith("ARRAY"):
            return True
        # libtraceevent takes bytes for a text
        return max(value, default=0) < 256 and text.encode(errors="surrogateescape") == bytes(value).partition(b"\0")[0]
    if value >= 1 << 63 and re.fullmatch(r"[\w.]+\+0x[0-9a-f]+", text):
        return True  # an address in the kernel, of a tracepoint: in the function that has it, or in none that is known
    return value & 2**64 - 1 in (numbers(text) if text != "(nil)" else {0})


def find_field(name, text):
    rest = name == "argv"  # the last one, which may have such names in it
    return re.search(r"(?:^| )" + name + ("=(.*)$" if rest else r"=(.*?)(?= \w+=|$)"), text)


def field_error(e, text):
    """-R prints name=value for every field."""
    for key, value in e.items():
        if key in NOT_SHOWN:
            continue
        m = find_field(key, text) or find_field(RENAMED.get(key, key), text)
        if not m:
            return f"{key} is missing in {text!r}"
        if not is_value(m[1], value):
            return f"{key} is {m[1]!r}, not {value!r}"
    return None


def row_error(line, e, names):
    m = LINE.match(line)
    if not m:
        return f"trace-cmd prints {line!r}"
    comm, tid, cpu, ts, name = m[1], int(m[2]), int(m[3]), int(m[4]) * 10**9 + int(m[5]), m[6]
    if (tid, cpu, ts, name) != (e["tid"], e["cpu"], e["ts"], e["event"].rpartition(":")[2]):  # a tracepoint's system is its own column
        return f"{line!r} is not {e}"
    want = "<idle>" if not tid else names[tid] or "<...>"
    if comm != want and "\\x" not in want:
        return f"task {tid} goes by {comm!r}, not {want!r}"
    return field_error(e, m[7])


def test_rows(path, events):
    lines, names = report(path, "-R"), last_names(events)
    if len(lines) != len(events):
        return f"{len(lines)} events, {len(events)} in the snapshot"
    for line, e in zip(lines, events):
        error = row_error(line, e, names)
        if error:
            return error
    return None


def test_args(path, events):
    """Arguments of system calls, in the words of the kernel's own format."""
    lines, calls = report(path, "-F", "sys_enter"), [e for e in events if e["event"] == "sys_enter"]
    if len(lines) != len(calls):
        return f"{len(lines)} calls, {len(calls)} in the snapshot"
    for line, e in zip(lines, calls):
        args = ", ".join(f"{a:x}" for a in (e["args"] + [0] * 6)[:6])
        if f"NR {e['id']} ({args})" not in line:
            return f"{line!r} is not {e}"
    return None


def test_filters(path, events):
    by_pid = max((e["next_pid"] for e in events if e["event"] == "sched_switch"), default=0)
    for expr, want in ((f"sched_switch: next_pid == {by_pid}", lambda e: e["event"] == "sched_switch" and e["next_pid"] == by_pid),
                       ("sys_exit: ret > 1000", lambda e: e["event"] == "sys_exit" and e["ret"] & 2**64 - 1 > 1000),
                       ('sched_waking: comm == "sh"', lambda e: e["event"] == "sched_waking" and e["target_comm"] == "sh"),
                       ("softirq_entry: vec == 1", lambda e: e["event"] == "softirq_entry" and e["vec"] == 1)):
        got, cnt = len(report(path, "-F", expr)), sum(map(want, events))
        if got != cnt:
            return f"{expr}: {got}, {cnt} in the snapshot"
    return None


def test_plugins(path, events):
    """The plugin of sched_switch prints what it finds by the kernel's names."""
    lines, switches = report(path, "-F", "sched_switch"), [e for e in events if e["event"] == "sched_switch"]
    for line, e in zip(lines, switches):
        if f":{e['prev_pid']} [{e['prev_prio']}] " not in line or f":{e['next_pid']} [{e['next_prio']}]" not in line:
            return f"{line!r} is not {e}"
    return None if len(lines) == len(switches) else f"{len(lines)} switches, {len(switches)} in the snapshot"


def test_cut(path, events):
    """Half a file is an error, or has fewer events."""
    with open(path, "rb") as f, open(path + ".short", "wb") as g:
        whole = f.read()
        g.write(whole[: len(whole) // 2])
    try:
        return "half a file was taken for a whole one" if len(report(path + ".short", "-R")) >= len(events) else None
    except RuntimeError:
        return None


TESTS = (test_rows, test_args, test_filters, test_plugins, test_cut)
