# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""stat.py FILE...: every key and function of `flightrec stat`, recomputed from what `replay --json --pairs` says of the same files.

The rows are those that replay's own -f selects; keys, groups, sums, percentiles and rates are made again here."""
import collections
import csv
import functools
import io
import json
import math
import os
import re
import subprocess
import sys
import unicodedata

from waits import IN, about

FLIGHTREC = os.environ["FLIGHTREC"]
PAIRS = "latency", "offcpu", "queued", "blocked", "oncpu", "waker"
files = sys.argv[1:]


def run(*args, status=0):
    p = subprocess.run([FLIGHTREC, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    assert p.returncode == status, (args, p.returncode, p.stderr)
    return p.stdout.decode()


@functools.cache
def rows_of(*options):
    """Each event twice: with numbers, and with their names. Most queries are of the same rows: nobody changes the list."""
    plain = map(json.loads, run("replay", "--json", "--pairs", *options, *files).splitlines())
    words = map(json.loads, run("replay", "--json", "--pairs", "--words", *options, *files).splitlines())
    return list(zip(plain, words))


def own(row, name):
    """The number that a name of the filter language means in a row; None: none."""
    plain = row[0]
    return plain.get(name if name in plain or name not in PAIRS or name == "waker" else name + "_ns")


def word(row, name):
    """What a key shows: the name of a number, if it has one."""
    v = own(row, name)
    if v is None or name not in row[1]:
        return v
    w = row[1][name]
    if name == "dev":
        return f"{v >> 20},{v & 0xfffff}"
    return w


def call(row):
    plain, words = row
    if plain["event"] == "wait":
        kind = IN[plain["waited_in"]]
        if kind != "call":
            return {"user": "user code", "kernel": "kernel"}[kind]
    elif plain["event"] not in ("sys_enter", "sys_exit"):
        return None
    elif plain["event"] == "sys_exit": # it may end without a number; and what executes a program, with another one than it began with
        begun = enters.get(plain["ts"] - plain["latency_ns"], row) if "latency_ns" in plain else last.get(place(row), row)
        if plain["id"] < 0 or ("latency_ns" in plain and plain["ret"] == 0 and begun[1]["id"] in ("execve", "execveat")):
            plain, words = begun
    if plain["id"] < 0:
        return None
    name, suffix = words["id"], "/32" if plain["abi"] else ""
    return f"syscall {name}{suffix}" if isinstance(name, int) else name + suffix


def place(row):
    return row[0]["ts"], row[0]["cpu"], row[0]["tid"]


def begun_before():
    """The call that a task was in when one ended."""
    now, found = {}, {}
    for row in rows_of("-f", "event in (sys_enter, sys_exit)"):
        tid = row[0]["tid"]
        if row[0]["event"] == "sys_enter":
            now[tid] = row
        elif tid in now:
            found[place(row)] = now.pop(tid)
    return found


def target(row):
    if row[0]["event"] != "wait":
        return None
    return row[0]["object"] or about(row[0], call(row) if IN[row[0]["waited_in"]] == "call" else None)


KEYS = {"call": call, "object": target, "event": lambda r: r[0]["event"]}


def key(row, name):
    if name in KEYS:
        return KEYS[name](row)
    if name.startswith("time:"):
        ns = {"us": 1000, "ms": 10**6, "s": 10**9}[re.search("[a-z]+$", name[5:])[0]] * int(re.match(r"\d+", name[5:])[0])
        return row[0]["ts"] // ns * ns
    item = re.fullmatch(r"(\w+)\[(\d+)\]", name)
    if item: # in words, where the call's argument has some
        plain, words = (r.get(item[1]) for r in row)
        at = int(item[2])
        return None if plain is None or at >= len(plain) else words[at] if at < len(words) else plain[at]
    calculated = re.fullmatch(r"(\w+) ([%/+&]) (\d+)", name)
    if calculated:
        v, by = own(row, calculated[1]), int(calculated[3])
        return None if v is None else {"%": lambda: int(math.fmod(v, by)) if abs(v) < 2**53 else v % by, "/": lambda: v // by if v >= 0 else -(-v // by),
                                       "+": lambda: v + by, "&": lambda: v & by}[calculated[2]]()
    return word(row, name)


def value(row, expr):
    """A number or a text; of a condition, whether it holds."""
    if expr is None:
        return 1
    condition = re.fullmatch(r"(\w+) (<|>) (-?\d+)", expr)
    if condition:
        v = own(row, condition[1])
        return None if v is None or not (v < int(condition[3]) if condition[2] == "<" else v > int(condition[3])) else 1
    if " + " in expr:
        parts = [own(row, p) for p in expr.split(" + ")]
        return None if None in parts else sum(parts)
    return own(row, expr)


def function(text):
    name, expr = re.fullmatch(r"([\w.]+)\((.*)\)", text).groups()
    return name, expr or None


def shown(row, expr, v):
    """first and last show names of numbers."""
    w = word(row, expr) if expr in row[0] else v
    return w


def expect(text, rows, seconds):
    name, expr = function(text)
    have = [(r, v) for r in rows for v in [value(r, expr)] if v is not None]
    values = [v for _, v in have]
    if name == "count":
        return len(values)
    if not values:
        return None
    if name in ("avg", "mean"):
        return sum(values) / len(values)
    if name == "rate":
        return sum(values) / seconds if seconds else None
    name = "p50" if name == "median" else name
    if re.fullmatch(r"p[\d.]+", name):
        return sorted(values)[max(1, math.ceil(round(len(values) * float(name[1:]) * 10000) / 10**6)) - 1]
    if name in ("first", "last"):
        row, v = have[0 if name == "first" else -1]
        return shown(row, expr, v)
    return {"sum": sum, "min": min, "max": max, "distinct": lambda v: len(set(v))}[name](values)


def same(text, got, want):
    name = function(text)[0]
    if got is None or want is None:
        return got is want
    if name in ("avg", "mean", "rate"):
        return abs(got - want) <= 0.001 + abs(want) * 1e-12
    if re.fullmatch(r"median|p[\d.]+", name): # never too low, at most 1/32 too high
        return want <= got <= want + abs(want) / 32
    return got == want


def flags(filter_, options):
    return [*(["-f", filter_] if filter_ else []), *options]


def span(rows, since, until):
    """The seconds that rates are of: from the first to the last event of the window."""
    return (min(until, rows[-1][0]["ts"]) - max(since, rows[0][0]["ts"])) / 1e9


def check(filter_, keys, functions, options=(), window=(0, 1 << 63)):
    rows = rows_of(*flags(filter_, options))
    everything = rows_of()
    seconds = span(everything, *window)
    by = ["--by", ",".join(keys)] if keys else []
    got = json.loads(run("stat", "--json", *flags(filter_, options), *by, " ".join(functions), *files))
    groups = collections.defaultdict(list)
    for r in rows:
        groups[tuple(key(r, k) for k in keys)].append(r)
    assert got["keys"] == keys and got["functions"] == functions, got["functions"]
    assert got["matched"] == len(rows) and got["groups"] == len(groups) == len(got["rows"]), (filter_, keys, got["groups"], len(groups))
    for g in got["rows"]:
        mine = groups.pop(tuple(g[k] for k in keys))
        for f in functions:
            if function(f)[0] == "rate" and any(k.startswith("time:") for k in keys):
                step = next(k for k in keys if k.startswith("time:"))
                length = int(re.search(r"\d+", step)[0]) * {"us": 1000, "ms": 10**6, "s": 10**9}[re.search("[a-z]+$", step)[0]]
                begin, end = max(g[step], everything[0][0]["ts"]), min(g[step] + length, everything[-1][0]["ts"])
                want = expect(f, mine, (end - begin) / 1e9 if end > begin else 0)
            else:
                want = expect(f, mine, seconds)
            assert same(f, g[f], want), (filter_, keys, {k: g[k] for k in keys}, f, g[f], want)
    assert not groups, groups
    for f in functions:
        assert same(f, got["total"][f], expect(f, rows, seconds)), (filter_, f, got["total"][f], expect(f, rows, seconds))
    check_order(got, keys, functions)
    if len(keys) == 1 and len(got["rows"]) > 3:
        check_other(got, rows, filter_, options, keys, functions, seconds)
    check_csv(got, filter_, options, by, functions)
    return got


def check_order(got, keys, functions):
    """By time, if it is a key, otherwise by the first function; unknown ones last."""
    timed = [k for k in keys if k.startswith("time:")]
    values = [r[timed[0] if timed else functions[0]] for r in got["rows"]]
    known = [v for v in values if v is not None]
    assert values[:len(known)] == known
    if timed or all(isinstance(v, (int, float)) for v in known):
        assert known == sorted(known, reverse=not timed), (keys, functions, known)


def check_other(got, rows, filter_, options, keys, functions, seconds):
    """The groups that are not listed are one, with all their rows."""
    few = json.loads(run("stat", "--json", "--top", "2", *flags(filter_, options), "--by", keys[0], " ".join(functions), *files))
    assert few["rows"] == got["rows"][:2] and few["other_groups"] == len(got["rows"]) - 2 and few["total"] == got["total"]
    listed = {r[keys[0]] for r in few["rows"]}
    rest = [r for r in rows if key(r, keys[0]) not in listed]
    for f in functions:
        assert same(f, few["other"][f], expect(f, rest, seconds)), (f, few["other"][f], expect(f, rest, seconds))


def check_csv(got, filter_, options, by, functions):
    lines = list(csv.reader(io.StringIO(run("stat", "--csv", *flags(filter_, options), *by, " ".join(functions), *files), newline="")))
    columns = got["keys"] + functions
    assert lines[0] == columns, lines[0]
    for line, row in zip(lines[1:], got["rows"], strict=True):
        for text, column in zip(line, columns, strict=True):
            v = row[column]
            if isinstance(v, (int, float)):
                assert float(text) == float(f"{v:.3f}") or int(text) == v, (text, v)
            elif v is None:
                assert text == ""
            else:
                v = re.sub(r"[\x00-\x1f\x7f]", lambda m: f"\\x{ord(m[0]):02x}", v)
                assert text == ("'" + v if v[:1] in tuple("=+-@'") and v else v), (text, v)


def columns_of(text):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def check_text():
    """What people see: the figures of JSON, with units; the heading and the rows fit the page."""
    for width in 80, 100, 160:
        p = subprocess.run([FLIGHTREC, "stat", "--by", "comm,event", "count() sum(oncpu) p99(latency) distinct(tid)", *files],
                           stdout=subprocess.PIPE, env={**os.environ, "COLUMNS": str(width)}, check=True)
        table = p.stdout.decode().split("\n\n")[0].splitlines()
        assert len(table) > 3 and all(columns_of(line) <= width for line in table), table
        assert table[0].split() == ["comm", "event", "count()", "sum(oncpu)", "p99(latency)", "distinct(tid)"], table[0]
    got = json.loads(run("stat", "--json", "--by", "event", "count() sum(oncpu)", *files))
    text = run("stat", "--by", "event", "--top", "0", "count() sum(oncpu)", *files)
    for row in got["rows"]:
        line = re.search(rf"^  {row['event']} +(\S+) +(.+?)$", text, re.M)
        assert int(line[1].replace(",", "")) == row["count()"], line[0]
        ns = row["sum(oncpu)"]
        if ns is None:
            assert line[2] == "-", line[0]
        else:
            number, unit = line[2].split()
            scale = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "min": 6e10, "h": 3.6e12}[unit]
            assert abs(float(number) * scale - ns) <= 0.006 * ns, line[0]


# a thread that executes a program gets another tid: the time tells which call it was in
enters = {r[0]["ts"]: r for r in rows_of("-f", "event == sys_enter")}
last = begun_before()
FUNCTIONS = ["count()", "sum(latency)", "min(latency)", "max(latency)", "avg(latency)", "p50(latency)", "p90(latency)", "p99(latency)", "p99.9(latency)",
             "distinct(latency)", "first(latency)", "last(latency)", "rate()", "rate(latency)"]
have = {r[0]["event"] for r in rows_of()}
asked = [
    (None, [], FUNCTIONS),
    (None, ["event"], FUNCTIONS),
    (None, ["comm", "pid", "tid"], ["count()", "distinct(event)", "first(ts)", "last(ts)", "sum(oncpu)", "p0(ts)", "p100(ts)"]),
    (None, ["cpu"], ["count()", "count(latency)", "count(ret < 0)", "mean(oncpu)", "max(oncpu)", "median(oncpu)"]),
    (None, ["tid % 3"], ["count()", "min(tid)", "max(tid)", "distinct(comm)", "first(comm)", "last(comm)"]),
    (None, ["time:10ms"], ["count()", "rate()", "sum(oncpu)", "rate(oncpu)"]),
    (None, ["time:7ms", "cpu"], ["rate()", "count()"]),
    ("event == sys_exit", ["call"], ["count()", "sum(latency)", "count(ret < 0)", "min(ret)", "max(ret)", "p1(ret)", "p50(ret)", "p99(ret)", "distinct(ret)"]),
    ("event == sys_exit", ["id", "ret"], ["count()", "last(ret)"]),
    ("event == sys_enter", ["call"], ["count()"]),
    ("event == sys_enter", ["id", "args[0]", "args[2]"], ["count()"]),
    ("event == wait", ["call", "arg0", "arg1"], ["count()", "last(arg1)"]),
    ("event == sched_switch", ["prev_state"], ["count()", "sum(offcpu)", "sum(queued)", "max(blocked)", "last(prev_state)", "sum(queued + offcpu)"]),
    ("event == sched_switch", ["next_comm", "next_pid"], ["count()", "sum(offcpu)", "p99(queued)", "sum(blocked)", "distinct(waker)"]),
    ("event == block_rq_complete", ["dev"], ["count()", "sum(bytes)", "max(latency)", "rate(bytes)"]),
    ("event == wait", ["comm", "call", "object"], ["count()", "sum(blocked)", "sum(queued)", "max(off)", "p99(blocked)", "distinct(tid)"]),
    ("event == wait", ["state"], ["count()", "sum(blocked)", "sum(blocked + queued)"]),
    ("event == wait", ["waker", "waker_comm"], ["count()", "sum(off)"]),
    ("event == softirq_exit", ["vec"], ["count()", "sum(latency)", "max(latency)"]),
    ("cpu == 77777", ["comm"], ["count()", "sum(latency)"]),
]
for filter_, keys, functions in asked:
    check(filter_, keys, functions)
begin, end = (rows_of()[i][0]["ts"] for i in (0, -1))
since, until = begin + (end - begin) * 3 // 10, begin + (end - begin) * 8 // 10
got = check(None, ["event"], FUNCTIONS, ["--since", str(since), "--until", str(until)], (since, until))
check_text()
for k in "host", "boot", "file", "program", "cgroup", "container": # of these rows do not tell: the groups are those that -f selects
    groups = json.loads(run("stat", "--json", "--by", k, "count() sum(latency)", *files))
    assert sum(r["count()"] for r in groups["rows"]) == groups["matched"] == len(rows_of())
    for r in groups["rows"]:
        if k == "cgroup" and r[k] is not None:
            assert int(run("replay", "--count", "-f", f'cgroup == {json.dumps(r[k])}', *files)) == r["count()"], r
# a process's name is that of its first thread
assert run("stat", "--csv", "-f", "tid == pid", "--by", "program", *files)[9:] == run("stat", "--csv", "-f", "tid == pid", "--by", "comm", *files)[6:]
first = collections.defaultdict(set)
for r in rows_of("--tier", "all"):
    first[r[0]["pid"]] |= {r[0]["comm"]} if r[0]["tid"] == r[0]["pid"] else set()
for r in json.loads(run("stat", "--json", "--by", "pid,program", *files))["rows"]:
    assert not first[r["pid"]] or r["program"] in first[r["pid"]], (r, first[r["pid"]])
print(f"{len(asked)} queries, {sum(e in have for e in ('wait', 'sys_exit', 'sched_switch', 'block_rq_complete', 'softirq_exit'))} of 5 events there")
