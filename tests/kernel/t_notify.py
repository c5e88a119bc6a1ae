#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Hooks: whose they are, what they see, when they are ended. Confinement: what is refused, and that snapshots are still taken."""
import os
import pwd
import signal
import subprocess
import tempfile
import time

from frtest import MINIMAL, Skip, TMP, check, equal, fr, fr_json, helper, impatient, main, run, shared, test, wait_for

SNAPSHOT = b"the bytes of a snapshot\n"


def snapshot_file():
    fd, path = tempfile.mkstemp(suffix=".flight", dir=TMP)
    os.write(fd, SNAPSHOT)
    os.close(fd)
    return path


def hook(command, user="", timeout_ms=60000, times=1, confined=False, limit_ms=None, before=()):
    """Run hooks; gives what they printed, what was counted, and what was said."""
    with impatient(20):
        p = run(*before, helper("hook"), command, user, timeout_ms, times, snapshot_file(), *["confined"] * confined,
                *[limit_ms] * (limit_ms is not None))
    *printed, counted = p.stdout.splitlines()
    words = counted.split()
    return printed, {k: int(v) for k, v in zip(words[::2], words[1::2])}, p.stderr


def nobody():
    try:
        return pwd.getpwnam("nobody")
    except KeyError:
        raise Skip("this host has no user nobody")


def processes(cmdline):
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline") as f:
                found += [pid] * (f.read() == cmdline)
        except OSError:
            pass
    return found


@test("a hook knows of which snapshot it is told")
def environment():
    printed, counted, _ = hook("env | grep FLIGHTREC_ | sort; pwd; cat <&3; readlink /proc/self/fd/0")
    equal(counted, {"started": 1, "failed": 0, "timed_out": 0, "dropped": 0}, "counted")
    env = dict(line.split("=", 1) for line in printed if line.startswith("FLIGHTREC_"))
    check(env.pop("FLIGHTREC_FILE").endswith(".flight"), "FLIGHTREC_FILE")
    equal(env.pop("FLIGHTREC_HOST"), os.uname().nodename, "FLIGHTREC_HOST")
    equal(env, {"FLIGHTREC_REASON": "crash", "FLIGHTREC_SESSION": "s", "FLIGHTREC_COMM": "a 'b", "FLIGHTREC_EXE": "/bin/a b",
                "FLIGHTREC_PID": "4711", "FLIGHTREC_SIGNAL": "11", "FLIGHTREC_FD": "3"}, "environment")
    equal(printed[-3:], ["/", SNAPSHOT.decode().strip(), "/dev/null"], "directory, descriptor 3 and standard input")


@test("a hook has its user's rights, and nothing of the recorder's")
def rights():
    who = nobody()
    for confined in (False, True):
        printed, counted, said = hook("id -u; id -g; cat <&3; grep -E '^(Cap(Eff|Prm|Amb)|NoNewPrivs|SigBlk|SigIgn)' /proc/self/status;"
                                      " echo fds: $(ls /proc/self/fd); cat \"$FLIGHTREC_FILE\" 2> /dev/null || echo refused",
                                      "nobody", confined=confined)
        equal(counted["started"], 1, f"started ({said})")
        equal(printed[:3], [str(who.pw_uid), str(who.pw_gid), SNAPSHOT.decode().strip()], "user, group and descriptor 3")
        status = dict(line.split(":\t") for line in printed[3:9])
        check(all(int(status[k], 16) == 0 for k in status if k.startswith("Cap")), f"capabilities are left: {status}")
        equal(status["NoNewPrivs"], "1", "NoNewPrivs")
        # 32 and 33 are the C library's own: posix_spawn(), as make uses it, leaves them ignored, and no program can set them
        ours = ~(3 << 31)
        equal((int(status["SigBlk"], 16) & ours, int(status["SigIgn"], 16) & ours), (0, 0), "signals blocked and ignored")
        equal(printed[9], "fds: 0 1 2 3 4", "descriptors (4 is the directory that is listed)")
        equal(printed[10], "refused", "the file by its name")


@test("a hook of root has no capabilities either")
def root():
    printed, _, _ = hook("grep CapEff /proc/self/status")
    equal(int(printed[0].split()[1], 16), 0, "effective capabilities")


@test("a hook whose time is over is ended with all it started")
def timeout():
    # the first heeds SIGTERM; the second does not, nor does what it started
    _, counted, said = hook("sleep 1000 & wait", timeout_ms=100)
    equal((counted["timed_out"], counted["failed"]), (1, 1), "timed out, failed")
    check("takes too long" in said, said)
    mark = f"{os.getpid()}.25"
    _, counted, _ = hook(f"trap '' TERM; sleep 9{mark} & sleep 9{mark}; sleep 9{mark}", timeout_ms=100)
    equal(counted["timed_out"], 1, "timed out")
    deadline = time.monotonic() + 120
    while left := processes(f"sleep\09{mark}\0"):
        check(time.monotonic() < deadline, f"processes left: {left}")
        time.sleep(0.01)


@test("a hook of another user can be ended by a confined recorder")
def timeout_confined():
    nobody()
    _, counted, _ = hook("exec sleep 1000", "nobody", timeout_ms=100, confined=True)
    equal((counted["started"], counted["timed_out"]), (1, 1), "started, timed out")


@test("few hooks run at once, some wait, the rest are counted")
def storm():
    where = tempfile.mkdtemp(dir=TMP)
    command = f"d={where}; touch $d/$$; ls $d | wc -l; sleep 0.02; rm $d/$$"
    printed, counted, said = hook(command, times=50)
    equal((counted["started"], counted["dropped"], counted["failed"]), (36, 14, 0), "started, dropped, failed")
    check(max(map(int, printed)) <= 4, f"running at once: {printed}")
    check("wait already" in said, said)


def shared_of(pid):
    """Sizes of memory that it shares with others, in MiB."""
    with open(f"/proc/{pid}/maps") as f:
        spans = [line.split()[0].split("-") for line in f if line.split()[1].endswith("s")]
    return [(int(end, 16) - int(begin, 16)) >> 20 for begin, end in spans]


@test("a hook's process that is not its command yet, but waits, keeps none of the recorder's rings")
def gives_up():
    p = subprocess.Popen([helper("hook"), "true", "", "60000", "1", snapshot_file()], env={**os.environ, "FR_HOOK_STOPS": "1"},
                         stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        def stopped():
            with open(f"/proc/{p.pid}/task/{p.pid}/children") as f:
                pids = f.read().split()
            return [pid for pid in pids if open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0] == "T"]

        child, = wait_for(stopped, "it stops before it is its command")
        check(7 in shared_of(p.pid), f"the recorder has it: {shared_of(p.pid)}")
        check(7 not in shared_of(child), f"the hook has it, too: {shared_of(child)}")
    finally:
        if stopped():
            os.kill(int(stopped()[0]), signal.SIGKILL)
        p.kill()
        p.wait()


@test("a hook that fails or is not there is said and counted")
def failing():
    _, counted, said = hook("exit 3")
    equal(counted["failed"], 1, "failed")
    check("ended with status 3" in said, said)
    p = run("unshare", "-m", "sh", "-c", 'mount -t tmpfs none /dev && exec "$@"', "sh", helper("hook"), "true", "", 1000, 1, "/nowhere")
    check("cannot run the hook for /nowhere: No such file or directory" in p.stderr, f"without /dev/null: {p.stderr}")
    p = run(helper("hook"), "true", "no-such-user", 1000, 1, "/nowhere", status=1)
    check("there is no user 'no-such-user'" in p.stderr, p.stderr)


@test("a hook that is stopped before it is the command is ended, and the recorder goes on")
def stopped_early():
    printed, counted, said = hook("echo done", before=("env", "FR_HOOK_STOPS=1"))
    equal((printed, counted["started"], counted["failed"]), ([], 0, 1), f"started, failed: {said}")
    check("Connection timed out" in said, said)


@test("at the end hooks that run and wait come to theirs; those that take too long are ended, those that wait still are dropped")
def finish():
    printed, counted, said = hook("sleep 0.2; echo done", times=6, limit_ms=600000)
    equal((printed, counted["started"], counted["dropped"], counted["failed"]), (["done"] * 6, 6, 0, 0), f"all of them: {said}")
    _, counted, said = hook("trap '' TERM; sleep 1000 & wait; sleep 1000", timeout_ms=0, times=6, limit_ms=100)
    equal((counted["started"], counted["timed_out"], counted["dropped"]), (4, 4, 2), "started, ended, dropped")
    check(said.count("it is ended: the recorder ends") == 4 and said.count("no hook for ") == 2, said)


def confine(part, name, where=TMP):
    p = run(helper("confine"), part, name, where)
    lines = dict(line.split(" ", 1) if " " in line else (line, "") for line in p.stdout.splitlines())
    check("no_new_privs is off" not in p.stdout, "no_new_privs is off")
    if lines["seccomp"] != "ok":
        raise Skip("seccomp is refused here")
    return lines


REFUSED_TO_ALL = ("ptrace", "mount", "module", "settime")


@test("the writer takes snapshots, and can load, start and reach nothing")
def writer():
    got = confine("writer", shared(*MINIMAL))
    for what in REFUSED_TO_ALL + ("load", "map", "exec", "fork-load", "fork-namespace", "socket", "code", "signal", "setuid", "thread-load",
                                  "thread-exec", "thread-namespace", "handle"):
        equal(got[what], "EPERM", what)
    equal(got["fork"], "ok", "a process that reads for it")
    equal((got["thread"], got["clone3"]), ("ok", "ENOSYS"), "threads")
    equal(got["caps"], "cap_dac_read_search cap_sys_ptrace cap_syslog", "capabilities")
    equal(got["bound"], got["caps"], "what may be had again")
    equal(got["snapshot"], "ok", "snapshot")
    fr("verify", got["file"])
    info = fr_json("info", got["file"])
    check(info["events"] > 0, "the snapshot has events")


@test("the main process can load and run hooks, and no more")
def main_process():
    name = shared(*MINIMAL)
    plain, hooks = confine("main", name), confine("main-hook", name)
    for got in (plain, hooks):
        equal(got["bound"], got["caps"], "what may be had again")
        for what in REFUSED_TO_ALL:
            equal(got[what], "EPERM", what)
        for what in ("load", "map", "exec", "snapshot"):
            equal(got[what], "ok", what)
    equal((plain["setuid"], hooks["setuid"]), ("EPERM", "ok"), "setuid without and with hooks")
    check("cap_sys_admin" not in hooks["caps"] and "cap_dac_override" not in hooks["caps"], hooks["caps"])


@test("a directory of another user's can be written")
def foreign_directory():
    who = nobody()
    where = tempfile.mkdtemp(dir=TMP)
    os.chmod(TMP, 0o755)
    os.chown(where, who.pw_uid, who.pw_gid)
    got = confine("writer", shared(*MINIMAL), where)
    check("cap_dac_override" in got["caps"], got["caps"])
    equal(got["snapshot"], "ok", "snapshot")


if __name__ == "__main__":
    main()
