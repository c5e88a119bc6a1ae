# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Whose each process is, as the readers of our traces show it, compared with `replay --json --columns all` of the same events.

A process's container and pod are beside it in each format: what is not known is not there, and is no empty text.
"""
import json
import re

WEB, DB = "0123456789abcdef" * 4, "fedcba9876543210" * 4
# 100 lives from the beginning, 110 is born of it and 120 without an event; 130 is two processes, one after the other; of 140 nothing is known
MADE = f"""fact arch x86_64
fact boot_id b
fact host box
fact events sched_switch,sched_process_fork,page_fault_user
clock 1000000000 1700000000000000000
horizon 0 0
horizon 1 0
process 100 5 0 7 nginx
thread 101 100 6 worker
process 110 1000001000 0 8 sh 100
process 120 1000001500 0 9 db
process 130 5 1000002500 10 old
process 130 1000004000 0 7 new 100
process 140 5 0 0 alien
proc {{"pid":100,"start_ns":5,"cgroup":"/kubepods/pod11111111-2222-3333-4444-555555555555/{WEB}"}}
proc {{"pid":110,"start_ns":1000001000,"cgroup":"/system.slice/odd pod=forged.service"}}
proc {{"pid":120,"start_ns":1000001500,"cgroup":"/system.slice/docker-{DB}.scope"}}
proc {{"cgroup_id":10,"cgroup":"/user.slice"}}
proc {{"container_id":"{WEB}","container":"web","pod":"api-0","namespace":"prod","image":"reg/nginx:1","pod_uid":"11111111-2222-3333-4444-555555555555"}}
event 1000000000 0 page_fault_user 100 address=1
event 1000000500 1 page_fault_user 101 address=1
event 1000000600 1 page_fault_user 130 address=1
event 1000001000 0 sched_process_fork 100 child_pid=110 child_tgid=110 child_start=1000001000 child_comm=sh
event 1000001200 0 page_fault_user 110 address=1
event 1000002000 1 page_fault_user 120 address=1
event 1000002500 1 sched_switch 130 prev_state=16 next_pid=0
event 1000005000 0 page_fault_user 130 address=1
event 1000006000 0 page_fault_user 140 address=1
"""

# what the owner of a cgroup may name it so that lines are forged, or one name looks like another's
HOSTILE = MADE.replace("odd pod=forged", "odd pod=forged\\\\x20\\n  x-1 [000] 1.0: y:\\t\\u007f\\u001b[2J\\u202e\u00e9\\\\n")

SAMPLES = """event 1000007000 0 cpu_sample 101
event 1000007001 0 cpu_sample 101
event 1000007002 0 cpu_sample 110
event 1000007003 0 cpu_sample 140
"""
FOLDED = ["program=alien;alien 1", "program=nginx;pod=api-0;worker 2", "program=sh;unit=odd pod=forged.service;sh 1"]


def told(lines):
    """{(pid, program): {column: text}} of all rows; a row's own must not differ from its process's other rows."""
    out = {}
    for e in map(json.loads, lines):
        whose = {key: unescaped(text) for key, text in e["whose"].items() if text is not None}
        program = whose.pop("program", None)
        if e["pid"] and out.setdefault((e["pid"], program), whose) != whose:
            raise RuntimeError(f"process {e['pid']} {program}: {whose}, and {out[e['pid'], program]} before")
    return out


def differ(got, want):
    """Of each process what is known, and of whom nothing is known nothing."""
    want = {key: whose for key, whose in want.items() if whose}
    if got == want:
        return None if want else "nothing is known of anybody"
    return "; ".join(f"{key}: {got.get(key)}, not {want.get(key)}" for key in sorted({*got, *want}, key=str) if got.get(key) != want.get(key))[:600]


def differ_real(got, want):
    """
    The same of a recording, whose programs have other names in time: by number, where one process had it. Who has no event of its own is in
    the trace alone.
    """
    got, want = by_pid(got), by_pid(want)
    both = [pid for pid in got if pid in want]
    wrong = [pid for pid in both if got[pid] != want[pid]] + [pid for pid, whose in want.items() if whose and pid not in got]
    return f"process {wrong[0]}: {got.get(wrong[0])}, not {want[wrong[0]]}" if wrong else None if both else "nothing is known of anybody"


def by_pid(all):
    out = {}
    for (pid, _), whose in all.items():
        out.setdefault(pid, []).append(whose)
    return {pid: whose[0] for pid, whose in out.items() if all_equal(whose)}


def all_equal(all):
    return all.count(all[0]) == len(all)


def of_perfetto(ask):
    """A process's labels are arguments of it."""
    rows = ask("select p.pid, p.name, a.key, a.string_value label from process p join args a using (arg_set_id) "
               "where a.flat_key = 'chrome.process_label' order by p.upid, a.key")
    got = {}
    for r in rows:
        column, _, text = r["label"].partition("=")
        if got.setdefault((r["pid"], r["name"]), {}).setdefault(column, text) != text:
            raise RuntimeError(f"twice: {r}")
    return got


def of_ctf(lines):
    """Of babeltrace2's lines of fields: the event of each process."""
    got = {}
    for line in lines:
        fields = dict(re.findall(r'(\w+) = (?:"(.*?)"|-?\d+)(?=, |$)', line))
        tid = re.search(r"^tid = (\d+)", line)
        start = re.search(r"start_ns = (\d+)", line)
        if not tid or not start or not fields.pop("tid", "") == "" or (int(tid[1]), fields["name"]) in got:
            raise RuntimeError(f"babeltrace2 prints {line!r}")
        got[int(tid[1]), fields["name"]] = {key: text for key, text in fields.items() if key not in ("name", "start_ns")}
    return got


def unescaped(text):
    """A backslash and an x stand for a byte, in trace-cmd's texts as in JSON."""
    return re.sub(rb"\\x([0-9a-f]{2})", lambda m: bytes([int(m[1], 16)]), text.encode()).decode()


def of_tracecmd(lines):
    """Of trace-cmd's lines: the event of each process, whose texts have no blanks."""
    got = {}
    for line in lines:
        m = re.search(r"\] +\S+ process_whose: +comm=(.*) pid=(\d+) start_ns=(\d+) (\S.*)$", line)
        if not m or (int(m[2]), m[1]) in got:
            raise RuntimeError(f"trace-cmd prints {line!r}")
        got[int(m[2]), m[1]] = {key: unescaped(text) for key, _, text in (word.partition("=") for word in m[4].split(" "))}
    return got
