# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the memory of a guest whose kernel panicked (tests/vm/panic) has of its sessions. Argument: the directory of what it wrote before."""
import json
import os
import shutil
import sys

GOT = sys.argv.pop(1)
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "kernel"))
from frtest import check, equal, fr, fr_json, main, replay, run, test, FLIGHTREC  # noqa: E402

ELF, KDUMP = (os.path.join(os.path.dirname(GOT), name) for name in ("vmcore.elf", "vmcore.kdump"))
FLAT = os.path.join(os.path.dirname(GOT), "vmcore.flat")
BEFORE = os.path.join(GOT, "before.flight")
SHIFT = 0x1000000
MISSING, NO_SESSION = 3, 4


def text(name):
    with open(os.path.join(GOT, name)) as f:
        return f.read().strip()


def recover(out, *options, core=ELF, status=0):
    path = os.path.join(GOT, out)
    if os.path.exists(path):
        os.remove(path)
    return path, run(FLIGHTREC, "recover", "-o", path, *options, core, status=status)


CPUS = range(int(text("cpus")))
PANIC, SAID = recover("panic.flight", "-n", "default", "--kallsyms", os.path.join(GOT, "kallsyms"))
EVENTS = replay(PANIC, "--no-symbols")


@test("panic: the dump of a dead kernel gives a sound snapshot, of which nothing is missing")
def sound():
    fr("verify", PANIC)
    check("warning" not in SAID.stderr, SAID.stderr)
    info = fr_json("info", PANIC)
    equal((info["holes"], info["damage"], info["trigger"]["reason"]), ([], 0, "panic"), "holes, damage, reason")
    equal([c["cpu"] for c in info["cpus"]], list(CPUS), "CPUs")
    equal((info["kernel"], info["session"]), (text("release"), "default"), "kernel, session")
    check(all(c["overwritten"] for c in info["cpus"]), f"the rings were not lapped: {info['cpus']}")
    for tier in (t for c in info["cpus"] for t in c["tiers"]):
        equal(tier["written"], tier["overwritten"] + tier["present"], f"written = overwritten + present: {tier}")


@test("panic: it has all that a snapshot shortly before had, and what happened then")
def all_there():
    before = replay(BEFORE, "--no-symbols")
    since = {c["cpu"]: max(t["horizon_ns"] for t in c["tiers"] if t["name"] != "stack") for c in fr_json("info", PANIC)["cpus"]}
    kept = [e for e in before if e["ts"] >= since[e["cpu"]]]
    check(len(kept) > 1000, f"{len(kept)} events are in both")
    # who had ended, and whose name lay across two pages, has none
    nameless = {e["tid"] for e in EVENTS if e.get("comm") is None}
    check(len(nameless) < 10, f"no names of {nameless}")
    have = iter(EVENTS)
    for want in kept:
        e = next((h for h in have if h["ts"] == want["ts"] and h["cpu"] == want["cpu"] and h["event"] == want["event"]), None)
        check(e, f"{want} is not there")
        if not nameless & {want.get("tid"), want.get("prev_pid"), want.get("next_pid")}:
            differ = {k: (v, e.get(k)) for k, v in want.items() if e.get(k) != v and not k.endswith("comm")}
            equal(differ, {}, f"{want}: fields")
    check(EVENTS[-1]["ts"] > before[-1]["ts"], "nothing happened after the snapshot")


@test("panic: each CPU's last deeds are there, which no snapshot has")
def late():
    named = [(e["newcomm"], e["cpu"]) for e in EVENTS if e["event"] == "task_rename" and e["newcomm"].startswith("late-")]
    equal(named, [(f"late-{cpu}", cpu) for cpu in CPUS], "who was named on which CPU, in order of time")


def incidents(file):
    """Each as its number and what else is the same in a snapshot and in the dump, by number."""
    return {i["seq"]: {k: v for k, v in i.items() if k != "wall_ns"} for i in map(json.loads, fr("incidents", "--json", file).stdout.splitlines())}


@test("panic: the incident log is as it was, with a death after the last snapshot, and the panic itself")
def log():
    before, now = incidents(BEFORE), incidents(PANIC)
    check(any(i["kind"] == "signal" and i["sig"] == 11 for i in before.values()), f"the first death is not in {before}")
    equal({seq: now.get(seq) for seq in before}, before, "what the snapshot had")
    equal(sorted(now), list(range(len(now))), "numbers")
    late = [i for seq, i in now.items() if seq not in before]
    check(any(i["kind"] == "signal" and i["sig"] == 6 and i["comm"] == "dies-late" for i in late), f"the last death is not in {late}")
    check(any(i["kind"] == "kernel" and "anic" in i["text"] or "rash" in i["text"] for i in late), f"the panic is not in {late}")
    told = fr_json("info", PANIC)["incidents"]
    equal((told["count"], told["recorded"], told["dropped"]), (len(now), len(now), 0), "counts")


@test("panic: each session has its own incident log")
def logs():
    second, _ = recover("second-log.flight", "-n", "second")
    first, other = incidents(PANIC), incidents(second)
    equal(sorted(other), list(range(len(other))), "numbers")
    check(other and not {i["epoch"] for i in first.values()} & {i["epoch"] for i in other.values()}, "epochs")
    check(any(i["comm"] == "dies-late" for i in other.values()), f"the last death is not in {other}")


@test("panic: the profile is there as it was when the last snapshot was taken")
def profile():
    was, now = (fr_json("profile", "--to", "json", "--no-symbols", file) for file in (BEFORE, PANIC))
    check(was["taken_ever"] > 100 and was["stacks"], f"{was['taken_ever']} samples")
    equal(now, was, "profile")


@test("panic: kdump's hook makes the same snapshot of the dump")
def hook():
    to = os.path.join(GOT, "hook")
    shutil.rmtree(to, ignore_errors=True)
    hook = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "dist", "kdump-hook")
    run("sh", hook, to, env=dict(os.environ, FLIGHTREC=FLIGHTREC, FLIGHTREC_VMCORE=ELF))
    made = os.listdir(to)
    check(len(made) == 1 and made[0].endswith(".flight"), f"{made}")
    file = os.path.join(to, made[0])
    equal(replay(file, "--no-symbols"), EVENTS, "events")
    equal(incidents(file), incidents(PANIC), "incidents")


@test("panic: names of tasks that were there before are known, and when it was by the wall clock")
def names():
    tasks = fr_json("info", PANIC)["tasks"]
    check(tasks["known"] > 50, f"{tasks}")
    lines = fr("replay", "--no-symbols", PANIC).stdout
    check("rcu_preempt" in lines, "rcu_preempt is not named")
    wall = fr_json("info", PANIC)["trigger"]["ts"]
    clock = fr_json("info", PANIC)["clock"]["samples"][0]
    ended_s = (clock["real_ns"] - clock["ts"] + wall) / 1e9
    check(-1 < ended_s - int(text("wall")) < 60, f"it ended at {ended_s}, and wrote its last file at {text('wall')}")


@test("panic: the kernel's functions have names, by a table of other addresses, too")
def symbols():
    names = fr_json("info", PANIC)["names"]
    equal(names["kernel_symbols"], "ok", "kernel_symbols")
    check(names["kernel"] > 20, f"{names}")
    moved = os.path.join(GOT, "kallsyms.moved")
    with open(os.path.join(GOT, "kallsyms")) as f, open(moved, "w") as to:
        for line in f:
            addr, rest = line.split(" ", 1)
            to.write(f"{int(addr, 16) - SHIFT:016x} {rest}")
    other, _ = recover("moved.flight", "-n", "default", "--kallsyms", moved)
    equal(stacks(other), stacks(PANIC), "stacks in words")
    none, _ = recover("none.flight", "-n", "default")
    equal(fr_json("info", none)["names"]["kernel"], 0, "names under another kernel")


def stacks(file):
    return [e["kstack_sym"] for e in replay(file, "--symbols") if e.get("kstack_sym")]


@test("panic: kdump's compressed format gives the same; its flattened form names the cure")
def compressed():
    other, _ = recover("kdump.flight", "-n", "default", "--kallsyms", os.path.join(GOT, "kallsyms"), core=KDUMP)
    equal(replay(other, "--no-symbols"), EVENTS, "events")
    _, said = recover("flat.flight", "-n", "default", core=FLAT, status=MISSING)
    check("makedumpfile -R" in said.stderr, said.stderr)


@test("panic: a compressed dump that is damaged or cut off is told, and crashes nothing")
def damaged():
    with open(KDUMP, "rb") as f:
        whole = f.read()
    bad = os.path.join(GOT, "bad.kdump")
    for what in (whole[:100], whole[:5000], whole[:len(whole) // 2], whole[:8] + b"\xff" * 500, b"KDUMP   " + bytes(100000)):
        with open(bad, "wb") as f:
            f.write(what)
        path, said = recover("bad.flight", "-n", "default", core=bad, status=None)
        check(said.returncode in (MISSING, NO_SESSION), f"{len(what)} bytes: status {said.returncode}: {said.stderr}")
        check(not os.path.exists(path) or said.returncode == MISSING, f"{len(what)} bytes: a snapshot is there")
    os.remove(bad)


@test("panic: of several sessions one is chosen; one that had ended is named")
def sessions():
    _, said = recover("several.flight", status=NO_SESSION)
    check("default" in said.stderr and "second" in said.stderr and "ended" not in said.stderr, said.stderr)
    second, _ = recover("second.flight", "-n", "second")
    fr("verify", second)
    equal(fr_json("info", second)["session"], "second", "session")
    _, said = recover("nobody.flight", "-n", "nobody", status=NO_SESSION)
    check("default" in said.stderr and not os.path.exists(os.path.join(GOT, "nobody.flight")), said.stderr)


@test("panic: of a dump that is cut off, what is there is recovered, and told")
def truncated():
    whole = os.path.getsize(ELF)
    short = os.path.join(GOT, "short.elf")
    for part in (0.9, 0.5):
        with open(ELF, "rb") as f, open(short, "wb") as to:
            left = int(whole * part)
            while left:
                piece = f.read(min(left, 1 << 20))
                to.write(piece)
                left -= len(piece)
        path, said = recover("short.flight", "-n", "default", core=short, status=None)
        check(said.returncode in (MISSING, NO_SESSION), f"status {said.returncode}: {said.stderr}")
        equal(os.path.exists(path), said.returncode == MISSING, f"{part}: a snapshot is there")
        if said.returncode == MISSING:
            check("cannot be read" in said.stderr, said.stderr)
            fr("verify", path)
    os.remove(short)


main()
