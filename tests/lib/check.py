# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""check.py WHAT COMMAND'S_JSON LIBRARY'S_OUTPUT: are they the same? By a reader that knows neither's text."""
import collections
import json
import sys


def objects(path):
    # bytes that are no text are escaped by the command; the library hands them out as they are
    with open(path, encoding="utf-8", errors="surrogateescape") as f:
        return [json.loads(line) for line in f]


def plain(value):
    """Texts as the command escapes what is none: compared by what both have, where a text is not UTF-8."""
    if isinstance(value, str):
        return "".join(c if 0x20 <= ord(c) < 0x7F else "?" for c in value)
    return value


def fields(command, library):
    assert len(command) == len(library) > 0, (len(command), len(library))
    for c, l in zip(command, library):
        assert list(c) == list(l), (c, l)
        for key, value in c.items():
            same = value == l[key]
            if not same and isinstance(value, str) and any(ord(x) >= 0x7F for x in l[key]):
                same = plain(l[key])[:3] == plain(value)[:3]
            assert same, (key, value, l[key])


def stacks(command, library):
    by_key = collections.defaultdict(list)
    for l in library:
        by_key[l["ts"], l["field"]].append(l["frames"])
    seen = 0
    for c in command:
        for key in [k for k in c if k.endswith("_sym")]:
            if c[key] is None:
                continue
            frames = by_key[c["ts"], key[:-4]].pop(0)
            assert [f["text"] for f in frames] == c[key], (c[key], frames)
            ips = [f["ip"] for f in frames if not f["inlined"]]
            assert not ips or ips == c[key[:-4]], (ips, c)
            for f in frames:
                assert (f["function"] or f["module"] or "0x%x" % f["ip"]) in f["text"] or f["module"], f
                assert f["function"] is None or f["text"].startswith(f["function"]), f
            seen += 1
    assert not any(by_key.values()), "stacks that the command has not"
    assert seen, "no stack"
    return [f for l in library for f in l["frames"]]


def schema(command, library):
    kinds = {"text8": 3, "comm": 3, "str": 3, "u64s": 4}
    command, library = command[0], library
    assert len(command) == len(library) > 20
    for c, l in zip(command, library):
        assert all(c[k] == l[k] for k in ("nr", "name", "doc", "group", "tier", "bytes")), (c, l)
        assert len(c["fields"]) == len(l["fields"])
        for a, b in zip(c["fields"], l["fields"]):
            assert all(a[k] == b[k] for k in ("name", "type", "style", "derived", "doc")), (a, b)
            assert b["from"] == a.get("from") and (b["from"] is not None) == b["derived"], b
            assert b["kind"] == kinds.get(a["type"], 2 if a["type"][0] == "s" else 1), b


def info(command, library):
    c, l = command[0], library[0]
    assert l["files"] == 1 and l["path"].endswith("load.flight")
    for key in ("host", "kernel", "arch", "boot_id", "version", "session", "horizon_ns"):
        assert c[key] == l[key], key
    assert c["trigger"]["reason"] == l["trigger_reason"]
    assert l["begin"] < l["end"] and l["wall_ns"] > 10**18
    tiers = collections.Counter()
    lost = overwritten = holes = 0
    for r in l["rings"]:
        tiers[r["tier"]] += r["events"]
        assert r["lost"] == sum(r["by"].values()), r
        assert r["horizon_ns"] <= r["last_ns"] or not r["events"], r
        if r["tier"] != "stack":
            lost += r["lost"]
            overwritten += r["overwritten"]
            holes += r["holes"]
    assert sum(n for t, n in tiers.items() if t != "stack") == c["events"], (tiers, c["events"])
    assert lost == sum(sum(cpu["lost"].values()) for cpu in c["cpus"]), lost
    assert overwritten == sum(cpu["overwritten"] for cpu in c["cpus"])
    assert holes == len(c["holes"]) == 1


def slow(command, path, most):
    switches = collections.Counter(plain(e["next_comm"]) or "?" for e in command if e["event"] == "sched_switch")
    calls = sorted((e for e in command if e["event"] == "sys_exit" and "latency_ns" in e), key=lambda e: -e["latency_ns"])
    lines = open(path, encoding="utf-8").read().splitlines()
    at = lines.index("slowest system calls")
    assert lines[0] == "context switches to"
    got = [(int(x.split(None, 1)[0]), x[12:]) for x in lines[1:at]]
    assert got == sorted(((n, c) for c, n in switches.items()), key=lambda x: (-x[0], x[1])), (got, switches)
    assert len(got) > 3 and len(lines) - at - 1 == min(most, len(calls)) > 5
    for line, e in zip(lines[at + 1:], calls):
        words = line.split()
        assert int(words[0]) == e["latency_ns"], (line, e)
        known = [x for x in calls if x["latency_ns"] == e["latency_ns"]]
        assert any(int(words[4].rstrip(",")) == x["ts"] and int(words[6]) == x["tid"] for x in known), (line, known)


def main():
    what, command, library = sys.argv[1:4]
    if what == "slow":
        slow(objects(command), library, int(sys.argv[4]))
    elif what == "schema":
        schema(objects(command), json.load(open(library, encoding="utf-8")))
    else:
        {"fields": fields, "stacks": stacks, "info": info}[what](objects(command), objects(library))


main()
