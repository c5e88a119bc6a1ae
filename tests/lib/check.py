# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""check.py WHAT COMMAND'S_JSON LIBRARY'S_OUTPUT: compare the values of both. How they are printed does not matter."""
import collections
import ctypes
import json
import sys


def objects(path):
    # the command escapes bytes that are no text; the library returns them as they are
    with open(path, encoding="utf-8", errors="surrogateescape") as f:
        return [json.loads(line) for line in f]


def plain(value):
    """If a text is not UTF-8, the command escapes it: compare only the part that both have."""
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


def rings(cpus, library):
    """In the command's output they stand below their CPU."""
    got = iter(library)
    for cpu in cpus:
        for c in cpu["tiers"]:
            l = next(got)
            assert l["cpu"] == cpu["cpu"] and l["tier"] == c["name"] and l["by"] == c["lost"], (c, l)
            assert l["lost"] == sum(c["lost"].values()), l
            assert ["main", "life", "stack", "wait", "rare"][l["tier_nr"]] == l["tier"], l
            for ours, its in (("first_ns", "first_ts"), ("last_ns", "last_ts")):
                assert l[ours] == c[its], (c, l)
            for key in ("events", "horizon_ns", "written", "overwritten", "present", "holes", "first_seq", "last_seq", "slots", "subbuf_bytes"):
                assert l[key] == c[key], (key, c, l)
    assert next(got, None) is None, "rings that the command has not"


def chunks(rows, library):
    """Their sums are the sums of all rings."""
    held = collections.Counter()
    at = 0
    for r in rows:
        held[r["cpu"], r["tier"]] += r["events"]
        assert r["first_ts"] <= r["last_ts"] and r["first_seq"] <= r["last_seq"] and r["stored_bytes"] and r["epoch"], r
        assert r["file_off"] > at, (at, r)
        at = r["file_off"] + r["stored_bytes"]
    assert +held == +collections.Counter({(r["cpu"], r["tier"]): r["events"] for r in library}), held


def tables(command, library):
    assert len(command) == len(library) > 0
    for c, l in zip(command, library):
        only = l["summary"][0]
        assert len(l["summary"]) == len(l["names"]) == 1
        for key, want in list(c.items()) + list(c["clock"].items()):
            assert key not in only or key == "holes" or only[key] == want, (key, want, only)
        assert only["holes"] == sum(h["tier"] != "stack" for h in c["holes"]) and c["holes"] == l["holes"]
        assert only["lost"] == sum(sum(cpu["lost"].values()) for cpu in c["cpus"])
        assert c["tiers"] == l["tiers"] and c["clock"]["samples"] == l["clocks"]
        known = {f["name"]: f["value"] for f in l["facts"]}
        assert len(known) == len(l["facts"]) and known.get("host") == c["host"] and known.get("boot_id") == c["boot_id"], known
        for cpu, row in zip(c["cpus"], l["cpus"], strict=True):
            lost = {key[5:]: row.pop(key) for key in list(row) if key.startswith("lost_")}
            assert dict(row, lost=lost) == {key: cpu[key] for key in list(row) + ["lost"]}, (cpu, row, lost)
        assert len(l["tasks"]) == c["tasks"]["known"]
        assert all(t["tid"] and t["pid"] and t["comm"] and (not t["exit_ns"] or t["exit_ns"] >= t["start_ns"]) for t in l["tasks"]), l["tasks"]
        assert l["names"][0].items() <= c["names"].items()
        if l["profile"]:
            taken = l["profile"][0].pop("taken")
            assert l["profile"] == [c["cpu_profile"]] and taken <= c["cpu_profile"]["taken_ever"]
        else:
            assert "cpu_profile" not in c
        kinds = {i["kind"]: i["count"] for i in l["incidents"]}
        assert not kinds.pop("unknown")
        assert kinds == c["incidents"]["kinds"] if "incidents" in c else not any(kinds.values()), kinds
        assert sum(r["raw_bytes"] for r in l["chunks"]) == c["raw_bytes"]
        rings(c["cpus"], l["rings"])
        chunks(l["chunks"], l["rings"])


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


def lose(path, to):
    """Put the head of a snapshot, whose rest is lost, between two others in a file; the very last byte is lost, too."""
    with open(path, "rb") as f:
        data = f.read()
    second = data.index(data[:16], 16)
    head = int.from_bytes(data[4:8], "little") + 8
    with open(to, "wb") as f:
        f.write(data[:second] + data[:head] + data[second:-1])


def flip(path, to, tables):
    """Damage a byte in the first chunk of events."""
    with open(path, "rb") as f:
        data = bytearray(f.read())
    chunk = objects(tables)[0]["chunks"][0]
    data[chunk["file_off"] + chunk["stored_bytes"] - 1] ^= 1
    with open(to, "wb") as f:
        f.write(data)


def later(path, to):
    """The same file in a format of another major version. Only the head is as in this version."""
    xxhash = ctypes.CDLL("libxxhash.so.0")
    xxhash.XXH64.restype = ctypes.c_uint64
    with open(path, "rb") as f:
        data = f.read()
    size = int.from_bytes(data[4:8], "little")
    assert data[8:16] == b"flight-1"
    head = data[:15] + b"2" + data[16:size]
    with open(to, "wb") as f:
        f.write(head + xxhash.XXH64(head, ctypes.c_size_t(len(head)), ctypes.c_uint64(0)).to_bytes(8, "little") + data[size + 8 :])


def main():
    what, command, library = sys.argv[1:4]
    if what == "lose":
        lose(command, library)
    elif what == "later":
        later(command, library)
    elif what == "flip":
        flip(command, library, sys.argv[4])
    elif what == "slow":
        slow(objects(command), library, int(sys.argv[4]))
    elif what == "schema":
        schema(objects(command), json.load(open(library, encoding="utf-8")))
    else:
        {"fields": fields, "stacks": stacks, "info": info, "tables": tables}[what](objects(command), objects(library))


main()
