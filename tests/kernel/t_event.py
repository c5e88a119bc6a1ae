# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""event:EXPR: real events pull it, near misses do not; it agrees with replay; what cannot be watched is refused."""
import os

from frtest import CALLS, MINIMAL, SESSIONS, TMP, check, dump, ended, equal, exists, fr, main, new_name, program, run, shared, test, wait_for
from matrix import alerts
from recorder import recording

COMM = f"frtw-{os.getpid()}"
O_CREAT = 0x40

# A process with a name of its own does what the rules are about, and what they nearly are about. Its output: pids.
ACTS = """
import ctypes, os, signal, sys
comm, dir, program = sys.argv[1:]
libc = ctypes.CDLL(None)
open("/proc/self/comm", "w").write(comm)
signal.signal(signal.SIGUSR2, signal.SIG_IGN)
signal.signal(signal.SIGUSR1, signal.SIG_IGN)
def unlink(name):
    try:
        os.unlink(f"{dir}/{name}")
    except OSError:
        pass
for i in range(3):
    unlink("none")                                          # ENOENT
open(f"{dir}/some", "w").close()                            # O_CREAT
unlink("some")
open("/dev/null").close()                                   # not O_CREAT
for sig in (signal.SIGUSR2, signal.SIGUSR1, signal.SIGUSR2):
    os.kill(os.getpid(), sig)
for i in range(2):
    os.waitpid(os.posix_spawn(program, [program, "a x", "b"], {}), 0)   # in D until the child has another program
os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)
"""

RULES = (
    # text, how often it holds; None: at least once
    (f'event == sys_exit && id in (unlink, unlinkat) && ret == -ENOENT && comm == "{COMM}"', 3),
    (f'comm == "{COMM}" && event == sys_exit && id ~ "unlink*" && ret == 0', 1),
    (f'event == sys_enter && id == openat && args[2] & {O_CREAT} && comm == "{COMM}"', 1),
    (f'event == sys_exit && id ~ "unlink*" && ret ~ "-ENO*" && comm == "{COMM}"', 3),
    (f'event == sched_process_exit && exit_code ~ "exit([0-3])" && comm == "{COMM}"', 1),
    (f'event == sched_process_exit && exit_code ~ "SIG*" && comm == "{COMM}"', 0),
    (f'event == signal_generate && sig == SIGUSR2 && comm ~ "frtw-[0-9]*{COMM[-1]}"', 2),
    (f'event == sched_process_exec && filename ~ "*/frtw-e?ec-{os.getpid()}"', 2),
    (f'event == exec_argv && argv ~ "*frtw-e?ec-{os.getpid()} a x b" && comm ~ "frtw-exec*"', 2),
    (f'event == sched_switch && prev_state == D && prev_comm == "{COMM}"', None),
    (f'event == sys_exit && ret == -ENOENT && comm == "{COMM}x"', 0),
    (f'event == sys_enter && args[5] / 0 == 1 && comm == "{COMM}"', 0),
    (f'event in (sys_exit, sched_process_exit) && (ret == -ENOENT || exit_code == 0) && id != 5000000 && comm == "{COMM}"', None),
)


def act():
    run("/usr/bin/python3", "-S", "-c", ACTS, COMM, TMP, program(f"frtw-exec-{os.getpid()}", "/bin/true"))


def watched(name):
    """Event programs of triggers that are attached to a session."""
    return {pin.split("-", 2)[2] for pin in os.listdir(f"{SESSIONS}/{name}") if pin.startswith("trig-")}


@test("real events are counted as often as they happen, near misses not; replay of the same expression counts the same")
def agree():
    name = shared(*CALLS)
    with alerts(name, *(f"event:{expr}" for expr, _ in RULES)) as a:
        act()
        file = dump(name)
        told, counters = a.finish()
    for i, (expr, times) in enumerate(RULES):
        got = counters["rules"][i]
        count = int(fr("replay", "--count", "-f", expr, file).stdout)
        equal(got["matched"], count, f"{expr}: matched, against replay")
        check(count > 0 if times is None else count == times, f"{expr}: {count} times, not {times}")
        check(bool(got["alerted"]) == bool(count) and got["full"] == 0, f"{expr}: {got}")
        equal(sum(e["rule_set"] >> i & 1 for e in told), got["alerted"], f"{expr}: alerts")
    one = next(e for e in told if e["rule_set"] & 1)
    equal((one["kind"], one["comm"]), ("event", COMM), "alert")
    check(one["tid"] == one["pid"] and one["ts"] and one["start_ns"] and "python3" in one["exe"], f"{one}")


@test("only the events that rules name are watched, also those that are not recorded; without rules none is")
def attached():
    name = shared(*MINIMAL)
    equal(watched(name), set(), "before")
    with alerts(name, "crash") as a:
        check("sys_exit" not in watched(name) and watched(name), f"{watched(name)}")
        a.finish()
    with alerts(name, f'event:event == sys_exit && ret == -ENOENT && comm == "{COMM}"', "event:sig == 64") as a:
        equal(watched(name), {"sys_exit", "signal_generate", "signal_deliver"}, "with rules")
        act()
        told, counters = a.finish()
    equal(watched(name), set(), "after")
    equal(fr("replay", "--count", "-f", "event == sys_exit", dump(name)).stdout, "0\n", "recorded")
    check(counters["rules"][0]["matched"] >= 3, f"{counters}")
    equal(counters["rules"][1]["matched"], 0, "signal 64")


REFUSED = (
    ("event:event == cpu_sample", "timer"),
    ("event:event == crash && sig == SIGSEGV", "--on crash"),
    ('event:event == sched_switch && next_comm == "x"', "next_pid"),
    ("event:tid == 5", "name one"),
    ("event:event == sys_enterr", "sys_enter"),
    ("event:event == sys_exit && tier == main", "tier"),
)


@test("what cannot be watched is refused with its place and the reason, and nothing is begun")
def refused():
    for rule, word in REFUSED:
        name = new_name()
        with ended(name):
            p = fr("record", "-n", name, "-o", TMP, "--on", rule, status=2)
            check(word in p.stderr and "^" in p.stderr, f"{rule}: {p.stderr}")
            check(not exists(name), f"{rule}: a session was begun")


@test("a recorder that is given such a rule says what it does not record, takes a snapshot, and names the trigger")
def snapshot():
    with recording(f'event:event == sys_exit && ret == -ENOENT && comm == "{COMM}"') as r:
        wait_for(lambda: "sys_exit" in watched(r.name), "the rule is loaded")
        act()
        file = r.wait_files(1)[0]
        said = r.said()
    check("sys_exit pulls a trigger, but is not recorded: add -e sys_exit" in said, said)
    check("-event-" in file, file)
    count = fr("replay", "--count", "-f", f'event == trigger && reason == "event" && verdict == taken && target_comm == "{COMM}"', file)
    equal(count.stdout, "1\n", "events trigger that were taken")


if __name__ == "__main__":
    main()
