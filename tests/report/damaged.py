# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""damaged.py FILE BAD: `report` of FILE with a part of a CPU's events damaged finds what `replay --pairs` does, and no time that
the CPU's events that are left do not tell. Where the part's header is damaged, too, nothing more is found."""
import json
import os
import subprocess
import sys

CPU = 1
PAIRED = dict(wakeup="latency_ns", offcpu="offcpu_ns", queued="queued_ns", blocked="blocked_ns")
FLIGHTREC = os.environ["FLIGHTREC"]
whole, bad = sys.argv[1:]


def run(*args):
    p = subprocess.run([FLIGHTREC, *args], capture_output=True)
    assert p.returncode in (0, 3), (args, p.returncode, p.stderr.decode())
    return p.stdout


def rows(path):
    return [json.loads(line) for line in run("replay", "--json", "--pos", "--pairs", "--no-symbols", path).splitlines()]


def report(path):
    return json.loads(run("report", "--json", "--no-symbols", "--top", "0", path))


def place(row):
    return row["cpu"], row["pos"]["tier"], row["pos"]["seq"], row["pos"]["offset"]


def check_pairs(rep, left):
    for name, key in PAIRED.items():
        there = [row[key] for row in left if row["event"] == "sched_switch" and row["next_pid"] and row.get(key)]
        got = rep["total"][name]
        assert (got["count"], got["sum_ns"]) == (len(there), sum(there)), (name, got["count"], len(there))
    there = [row["latency_ns"] for row in left if row["event"] == "sys_exit" and row.get("latency_ns")]
    assert sum(call["latency"]["count"] for call in rep["syscalls"]) == len(there), len(there)


def covered(rep):
    cpu = next(x for x in rep["cpus"] if x["cpu"] == CPU)
    return cpu["busy_ns"] + cpu["idle_ns"]


def check_header(data, at, left, rep):
    """The same rows are left. Their values are at most those that are known when the header tells which rows are lost."""
    head = data.rfind(b"fl-chunk", 0, at) + 20
    with open(bad, "wb") as f:
        f.write(data[:head] + bytes([data[head] ^ 0xff]) + data[head + 1:])
    headless, bad_rep = rows(bad), report(bad)
    assert list(map(place, headless)) == list(map(place, left))
    for row, known in zip(headless, left):
        assert all(not row.get(key) or row[key] == known.get(key) for key in PAIRED.values()), (row, known)
    check_pairs(bad_rep, headless)
    assert covered(bad_rep) <= covered(rep), (covered(bad_rep), covered(rep))


def main():
    data, all_rows, rep = open(whole, "rb").read(), rows(whole), report(whole)
    check_pairs(rep, all_rows)
    at, found = -1, 0
    while (at := data.find(b"\x28\xb5\x2f\xfd", at + 1)) >= 0:
        if 0 <= data.find(b"fl-chunk", at) - 8 <= at + 50:
            continue  # it ends before that: names, counts
        with open(bad, "wb") as f:
            f.write(data[:at + 50] + bytes([data[at + 50] ^ 0xff]) + data[at + 51:])
        left = rows(bad)
        there = set(map(place, left))
        lost = [row for row in all_rows if place(row) not in there]
        if not lost or {(row["cpu"], row["pos"]["tier"]) for row in lost} != {(CPU, "main")}:
            continue
        found += 1
        bad_rep = report(bad)
        check_pairs(bad_rep, left)
        # until the damage the task before it had the CPU, if a row tells which; what is known continues at the end of the damage
        known = any(row["cpu"] == CPU and row["pos"]["tier"] == "main" and row["ts"] < lost[0]["ts"] for row in left)
        begin = lost[0]["ts"] if known else rep["window"]["end_ns"] - covered(rep)
        goes_on = any(row["cpu"] == CPU and row["ts"] > lost[-1]["ts"] for row in left)
        end = lost[-1]["ts"] if goes_on else rep["window"]["end_ns"]
        assert covered(rep) - covered(bad_rep) == end - begin, (covered(rep), covered(bad_rep), end - begin)
        check_header(data, at, left, bad_rep)
    assert found == 2, found


main()
