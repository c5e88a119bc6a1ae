# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the guest brought home (tests/systemd/guest), looked at from outside. Argument: the directory it was unpacked to."""
import glob
import json
import os
import re
import sys

GOT = sys.argv.pop(1)
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "kernel"))
from frtest import check, equal, fr, fr_json, main, replay, test  # noqa: E402

SIGSEGV = 11
CAP_SYS_ADMIN = 21
FAILURE, STOPPED = 1, 3  # of systemctl, of `is-active` likewise


def text(name):
    with open(os.path.join(GOT, name)) as f:
        return f.read().strip()


def status(name):
    return json.loads(text(f"{name}.out"))


def unit(name):
    return dict(line.split("=", 1) for line in text(f"{name}.unit").splitlines() if "=" in line)


def snapshot(reason, comm):
    found = glob.glob(os.path.join(GOT, f"*-{reason}-{comm}-*.flight"))
    check(len(found) == 1, f"{len(found)} snapshots of {reason} of {comm}, not 1: {sorted(os.listdir(GOT))}")
    fr("verify", found[0])
    return found[0]


def journal():
    return [json.loads(line) for line in text("journal.out").splitlines()]


def same_session(name):
    """The session of the beginning, with its history, its counters and a recorder."""
    was, now = status("begun"), status(name)
    equal(now["begin_ns"], was["begin_ns"], "begin of the session")
    equal(now["recorder"], True, "a recorder runs")
    for before, after in zip(was["cpus"], now["cpus"]):
        check(after["written"] > before["written"], f"CPU {before['cpu']}: {after['written']} written, {before['written']} before")


@test("every step ends as it should")
def steps():
    got = {name: int(code) for name, code in (line.split() for line in text("statuses").splitlines())}
    want = dict.fromkeys(got, 0) | {"crash": 128 + SIGSEGV, "bad": FAILURE}
    words = "".join(text(f"{name}.err") for name in want if got[name] != want[name])
    equal(got, want, f"exit statuses ({words})")
    return text("release")


@test("the service is active after boot, without a failed unit, and within its rights")
def active():
    equal(text("active.out"), "active", "systemctl is-active")
    equal(text("failed.out"), "", "failed units")
    got = unit("begun")
    equal((got["Type"], got["SubState"], got["NRestarts"]), ("notify", "running", "0"), "the unit")
    check("recording session 'default'" in got["StatusText"], f"its status: {got['StatusText']}")
    process = dict(line.split(":\t", 1) for line in text("process").splitlines() if ":\t" in line)
    equal(int(process["CapBnd"], 16) & 1 << CAP_SYS_ADMIN, 0, "CAP_SYS_ADMIN in its bounding set")
    equal(process["Seccomp"], "2", "a filter of system calls")
    equal(process["NoNewPrivs"], "1", "no new privileges")


@test("its directories and session are root's alone; the socket decides itself whom it answers")
def modes():
    got = {name: (user, mode) for name, user, mode in (line.split() for line in text("modes").splitlines())}
    equal(got, {"/var/lib/flightrec": ("root", "700"), "/run/flightrec": ("root", "755"),
                "/run/flightrec/default.sock": ("root", "666"), "/sys/fs/bpf/flightrec": ("root", "700")}, "owners and modes")


@test("a crash: its snapshot, joined with systemd-coredump's file")
def crash():
    path = snapshot("crash", "crash-worker")
    deaths = [e for e in replay(path) if e["event"] == "signal_deliver" and e["sig"] == SIGSEGV]
    check(deaths, "no death in the snapshot")
    entry = next(e for e in status("list")["snapshots"] if os.path.basename(e["file"]) == os.path.basename(path))
    check(re.fullmatch(rf"/var/lib/systemd/coredump/core\.crash.*\.{entry['pid']}\..*", entry["core"] or ""), f"core: {entry}")
    check(f" {entry['pid']} " in text("cores.out"), f"coredumpctl knows {text('cores.out')}")


@test("systemctl restart keeps the session and its history")
def restart():
    same_session("restarted")
    check(unit("restarted")["MainPID"] != unit("begun")["MainPID"], "the process is the same")


@test("killed by SIGKILL: systemd starts it anew, the session goes on, a death meanwhile has its snapshot")
def killed():
    same_session("killed")
    check(int(unit("killed")["NRestarts"]) >= 1, f"restarts: {unit('killed')['NRestarts']}")
    snapshot("crash", "second")


@test("systemctl reload: a good file is in force, a bad one is refused and the recorder goes on")
def reload():
    path = snapshot("exit", "sh")
    equal(fr_json("info", path)["trigger"]["rule"], "exit:3", "the rule")
    check("nonsense" in " ".join(e["MESSAGE"] for e in journal()), "the journal does not say what is wrong with the file")
    same_session("after")
    equal(unit("after")["MainPID"], unit("killed")["MainPID"], "the process")


@test("the journal has an entry with fields for each snapshot")
def fields():
    got = {(e["FLIGHTREC_REASON"], e["FLIGHTREC_COMM"]) for e in journal() if "FLIGHTREC_FILE" in e}
    equal(got, {("crash", "crash-worker"), ("crash", "second"), ("exit", "sh")}, "snapshots in the journal")


@test("perf_event_paranoid=3: no samples, and why is said; with the drop-in and a restart the same session has them")
def granted():
    equal(text("paranoid"), "3", "kernel.perf_event_paranoid")
    for name in "begun", "restarted":
        check("cpu_sample" in status(name)["events_missing"].split(","), f"{name}: missing are {status(name)['events_missing']}")
        equal((status(name)["samples"]["taken"], status(name)["samples"]["expected"]), (0, 0), f"{name}: samples")
    said = " ".join(e["MESSAGE"] for e in journal())
    check("sysctl kernel.perf_event_paranoid=2" in said and "Broken pipe" not in said, "the journal does not name the cure")
    same_session("granted")
    now = status("granted")
    check("cpu_sample" not in now["events_missing"].split(","), f"missing are {now['events_missing']}")
    check(now["samples"]["taken"] > 0 and now["samples"]["expected"] > 0, f"samples: {now['samples']}")


@test("stopped, the session is left; ended and started again, a new one begins")
def stopped():
    equal(status("stopped")["recorder"], False, "a recorder runs")
    equal(status("stopped")["begin_ns"], status("begun")["begin_ns"], "begin of the session")
    equal(status("anew")["recorder"], True, "a recorder runs")
    check(status("anew")["begin_ns"] > status("begun")["begin_ns"], "the session is the old one")


@test("systemd-analyze security of the loaded unit")
def security():
    got = re.search(r"Overall exposure level for flightrec.service: (\d+\.\d)", text("security.out"))
    check(got and float(got[1]) < 3.0, text("security.out")[-200:])
    return f"{got[1]}, with the drop-in"


@test("the kernel has nothing to complain of")
def dmesg():
    bad = [line for line in text("dmesg").splitlines()
           if any(w in line for w in ("WARNING:", "BUG:", "Oops", "rcu: INFO", "possible recursive locking"))]
    check(not bad, "\n".join(bad))


if __name__ == "__main__":
    main()
