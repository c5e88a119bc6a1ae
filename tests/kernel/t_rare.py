#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tracepoints that are recorded by default (user/base/tp/rare.def): what happens is told once, with who and what, and no flood pushes it out."""
import contextlib
import glob
import json
import os
import re
import socket
import subprocess

from frtest import (FULL, Skip, check, dump, equal, fr, fr_json, main, replay, run, shared, small_memory, status, test, tracefs, unrecorded_of,
                    wait_for)

SYN_SENT = 2
CGROUPS = "/sys/fs/cgroup/unified" if os.path.exists("/sys/fs/cgroup/unified/cgroup.procs") else "/sys/fs/cgroup"


def need(*points):
    for point in points:
        if not os.path.isdir(f"{tracefs()}/events/{point.replace(':', '/')}"):
            raise Skip(f"this kernel has no tracepoint {point}")


def rare(file, point, cond):
    return replay(file, "-f", f'event == "tp:{point}" && {cond}')


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def table():
    """Names of rare.def."""
    return re.findall(r"^tp:(\S+)", fr("events").stdout, re.M)


@test("doctor tells which of them this kernel has: those that tracefs has")
def doctor():
    names = table()
    there = {name for name in names if os.path.isdir(f"{tracefs()}/events/{name.replace(':', '/')}")}
    told = {c["what"]: c for c in json.loads(fr("doctor", "--json").stdout)["checks"]}["rare ones by default"]["found"]
    cnt, of, _, lacks = re.fullmatch(r"(\d+) of (\d+)(, without (.*))?", told).groups()
    lacks = {name.removeprefix("tp:") for name in (lacks or "").split(", ") if name}
    equal((int(cnt) + len(lacks), int(of)), (len(names), len(names)), told)
    equal(lacks, set(names) - there, "what is lacking")


@test("a connection that is refused: a reset is sent, the packet dropped with its reason, the reset received, each once, with both ports")
def refused_connection():
    need("tcp:tcp_receive_reset", "tcp:tcp_send_reset", "skb:kfree_skb")
    name, port = shared(*FULL), free_port()
    with socket.socket() as s:
        equal(s.connect_ex(("127.0.0.1", port)), 111, "refused")
    file = dump(name)
    got = rare(file, "tcp:tcp_receive_reset", f"dport == {port}")
    equal([(e["tier"] if "tier" in e else "rare", e["pid"]) for e in got], [("rare", os.getpid())], "resets received")
    lines = [line for line in fr("replay", "--tier", "rare", file).stdout.splitlines() if f"127.0.0.1:{port} " in line and "tcp_send_reset" in line]
    equal(len(lines), 1, f"resets sent: {lines}")
    packet = re.search(r"skbaddr=0x([0-9a-f]+)", lines[0])
    drops = [e for e in replay(file, "--words", "-f", f'event == "tp:skb:kfree_skb" && pid == {os.getpid()} && ts >= {got[0]["ts"] - 10**9}')
             if packet and int(packet[1], 16) == e["skbaddr"] and e["ts"] < got[0]["ts"]]
    check([e["reason"] for e in drops][-1:] == ["NO_SOCKET"], f"drops of that packet: {drops}")
    drop = f'event == "tp:skb:kfree_skb" && pid == {os.getpid()} && ts == {drops[-1]["ts"]}'
    for say in "reason == NO_SOCKET", 'reason == "NO_SOCKET"', 'reason ~ "NO_S*"', "reason == 3 || reason in (NO_SOCKET)":
        check([e["ts"] for e in replay(file, "-f", f"{drop} && ({say})")] == [drops[-1]["ts"]], f"-f {say} does not find the drop")


def syns(port):
    """How often the kernel sent SYNs to this port again, as /proc/net/tcp has it now."""
    rows = [line.split() for line in open("/proc/net/tcp").read().splitlines()[1:]]
    return sum(int(row[6], 16) for row in rows if int(row[2].partition(":")[2], 16) == port and int(row[3], 16) == SYN_SENT)


@test("a listen queue that is full: each SYN that TCP sends again, as often as /proc/net/tcp says")
def overflow():
    need("tcp:tcp_retransmit_skb")
    name = shared(*FULL)
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(socket.socket())
        listener.bind(("127.0.0.1", 0))
        listener.listen(1)
        port = listener.getsockname()[1]
        for _ in range(5):
            s = stack.enter_context(socket.socket())
            s.setblocking(False)
            s.connect_ex(("127.0.0.1", port))
        wait_for(lambda: syns(port) >= 3, "SYNs that are sent again")
        while True:
            before = syns(port)
            file = dump(name)
            if syns(port) == before:
                break
    got = rare(file, "tcp:tcp_retransmit_skb", f"dport == {port}")
    equal(len(got), before, "SYNs sent again")
    equal({e["state"] for e in got}, {SYN_SENT}, "state")


@test("a memory cgroup at its limit, beyond the rate of its reclaim: beginnings and ends by turns, since the end of one that is held back is, too")
def reclaim():
    begin, end = "vmscan:mm_vmscan_memcg_reclaim_begin", "vmscan:mm_vmscan_memcg_reclaim_end"
    need(begin, end)
    name, pids = shared(*FULL), []
    with small_memory(name="-rare") as dir:
        big = f"/tmp/frt-rare-{os.getpid()}"
        load = f"echo $$ > {dir}/cgroup.procs; exec dd if=/dev/zero of={big} bs=1M count=160"

        # counted is what all tasks did: another one may be between its begin and its end at either dump
        def alone():
            first = dump(name)
            with subprocess.Popen(["/bin/sh", "-c", load], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as p:
                pids.append(p.pid)
            file = dump(name)
            begins, ends = (unrecorded_of(file, why, f"tp:{point}") - unrecorded_of(first, why, f"tp:{point}")
                            for why, point in (("thinned", begin), ("unmatched", end)))
            return begins == ends > 0 and (file, begins)

        file, held = wait_for(alone, "more reclaim than the rate lets pass; as many ends are left out as beginnings were held back")
        os.unlink(big)
    found = 0
    for pid in pids:
        rows = [e["event"].rpartition("_")[2] for e in replay(file, "-f", f'tid == {pid} && event in ("tp:{begin}", "tp:{end}")')]
        equal(rows, ["begin", "end"] * (len(rows) // 2), f"of {pid}, by turns")
        found += len(rows)
    check(found, "some is recorded")
    return f"{found} events, {held} beginnings held back, {len(pids)} rounds"


def made(cgroup):
    """Make a cgroup, put a process into it, remove it. Gives its id and the process."""
    os.mkdir(cgroup)
    ino = os.stat(cgroup).st_ino
    with subprocess.Popen(["/bin/sh", "-c", f"echo $$ > {cgroup}/cgroup.procs"]) as p:
        pass
    os.rmdir(cgroup)
    return ino, p.pid


@test("a flood of the main tier, and one of resets, do not push out that a cgroup was made, used and removed; what the rate holds back is counted")
def floods():
    need("cgroup:cgroup_mkdir", "cgroup:cgroup_attach_task", "cgroup:cgroup_rmdir", "tcp:tcp_receive_reset")
    name, path, port = shared(*FULL), f"/frt-rare-{os.getpid()}", free_port()
    ino, pid = made(CGROUPS + path)

    def tiers(what):
        return {(c["cpu"], t["name"]): t[what] for c in status(name)["cpus"] for t in c["tiers"]}

    was = tiers("overwritten")
    first = dump(name)
    for _ in range(1500):
        with socket.socket() as s:
            s.connect_ex(("127.0.0.1", port))
    flood = subprocess.Popen(["/bin/sh", "-c", "while :; do read x < /dev/null; done"])
    try:
        wait_for(lambda: any(tiers("overwritten")[key] > n for key, n in was.items() if key[1] == "main"), "main tier is overwritten")
    finally:
        flood.kill()
        flood.wait()
    file = dump(name)
    for point, cond in (("cgroup:cgroup_mkdir", f"id == {ino}"), ("cgroup:cgroup_attach_task", f"dst_id == {ino} && target_pid == {pid}"),
                        ("cgroup:cgroup_rmdir", f"id == {ino}")):
        equal([e.get("path", e.get("dst_path")) for e in rare(file, point, cond)], [path], f"{point} behind the floods")
    resets = len(rare(file, "tcp:tcp_receive_reset", f"dport == {port}"))
    thinned = {f: unrecorded_of(f, "thinned", "tp:tcp:tcp_receive_reset") for f in (first, file)}
    check(0 < resets < 1500, f"{resets} resets recorded")
    check(resets + thinned[file] - thinned[first] >= 1500, f"{resets} resets recorded, {thinned} held back, of 1500")
    equal(sum(t for (_, tier), t in tiers("overwritten").items() if tier == "rare"), 0, "events of the tier rare that are overwritten")


if __name__ == "__main__":
    main()
