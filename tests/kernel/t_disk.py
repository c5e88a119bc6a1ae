# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A disk that does not answer, with the directory of snapshots on it: the recorder goes on, says so, and writes again when it answers."""
import grp
import json
import os
import re
import shutil
import signal
import subprocess
import time

from frtest import FLIGHTREC, LIMIT_S, Skip, check, dump, equal, exists, fr, impatient, main, path, run, status, test, wait_for
from hangfs import hangfs
from recorder import TAG, Recorder, configured, crash, kill, last_configured, send_reload, trigger, write_config, writer_of

ONE, TWO = f"disk-a{TAG}", f"disk-b{TAG}"
RULES = [f"crash:comm={who},cooldown=0s" for who in (ONE, TWO)]
STORAGE = "[Storage]\nKeepFree=0%\n"
SOCKET = "[Control]\nSocket=yes\n"


def tasks(pid):
    return {int(tid) for tid in os.listdir(f"/proc/{pid}/task")}


def problems(name):
    return {p["what"]: p["text"] for p in status(name).get("problems", [])}


def waiting(name):
    return [(w["comm"], w["rule"]) for w in status(name)["waiting"]]


def incidents(name, dir):
    """Of the session, oldest first, in this journal or on their way to it."""
    return [json.loads(line) for line in fr("incidents", "-n", name, "-o", dir, "--json").stdout.splitlines()]


def written(name):
    return sum(c["written"] for c in status(name)["cpus"])


@test("whatever a recorder does, its own process asks nothing of the disk of its snapshots: others may be left behind")
def asks_nothing():
    told = path("told")
    with hangfs() as disk, configured(*RULES) as (name, _, file):
        def limit(files):
            write_config(file, name, disk.dir, *RULES, more=f"{STORAGE}MaxFiles={files}\nMaxAge=1h\n{SOCKET}"
                                                            f"[Notify]\nExecUser=root\nExec=wc -c <&3 >> {told}\n")
        limit(3)
        r = Recorder(name, disk.dir, "--config", file)
        try:
            r.armed()
            disk.asked()
            crash(ONE)
            r.wait_files(1)
            fr("dump", "-n", name)
            equal(status(name)["quota"]["files"], 2, "snapshots, says status")
            wait_for(lambda: os.path.exists(told) and len(open(told).read().split()) == 2, f"the hooks have read them: {r.said()}")
            limit(1)
            send_reload(r)
            wait_for(lambda: len(r.files()) == 1, f"the quota is kept: {r.files()}")
            os.unlink(r.files()[0])
            crash(TWO)
            r.wait_files(1)
            asked = disk.asked()
            ours = {tid: asked[tid] for tid in tasks(r.p.pid) & set(asked)}
            equal(ours, {}, "threads of the recorder's process that asked, and for what")
            check(any("write" in what for what in asked.values()), f"who asked is seen here: {asked}")
            equal(r.end(), 0, f"exit status: {r.said()}")
        finally:
            disk.go()
            kill(r)


@test("its disk hangs: recording goes on, status says so and who waits; other disks take snapshots; all is written when it answers")
def hangs():
    link = path("link")
    with impatient(20), hangfs() as disk, configured(*RULES) as (name, _, conf):
        os.symlink(disk.dir, link)
        write_config(conf, name, f"{link}//", *RULES, more=STORAGE + SOCKET)
        r = Recorder(name, disk.dir, "--config", conf)
        try:
            r.armed()
            crash(ONE)
            r.wait_files(1)
            wait_for(lambda: not waiting(name), "the recorder knows that it is there")
            disk.hang()
            crash(ONE)
            writer = writer_of(r.p.pid)
            wait_for(lambda: tasks(writer) & {tid for tid, _ in disk.waiting()}, f"the writer waits: {disk.waiting()}")
            crash(TWO)
            wait_for(lambda: waiting(name) == [(ONE, RULES[0]), (TWO, RULES[1])], f"both wait, by name: {waiting(name)}")
            check("does not answer" in problems(name)["directory"], f"said of the directory: {problems(name)}")
            equal(status(name)["quota"].get("files"), None, "snapshots, of which nothing is known")
            wait_for(lambda: "2 snapshots wait" in problems(name).get("writer", ""), f"said of the writer: {problems(name)}")
            check("waiting" in fr("status", "-n", name).stdout, "for people, too")
            before = written(name)
            wait_for(lambda: written(name) > before, "recording goes on")
            checked = fr("record", "--config", conf, "--check-config")
            check("does not answer" in checked.stderr and name in checked.stdout, f"--check-config: {checked}")
            for same in f"{link}//", disk.dir:
                write_config(conf, name, same, *RULES, more=STORAGE + SOCKET + "[Notify]\nJournal=no\n")
                send_reload(r)
                equal(status(name)["dir"], disk.dir, "directory of the session")
            file = dump(name)
            fr("verify", file)
            equal(trigger(file)["reason"], "command", "a snapshot on another disk")
            equal(tasks(r.p.pid) & {tid for tid, _ in disk.waiting()}, set(), f"threads of the recorder that wait: {disk.waiting()}")
            disk.go()
            files = r.wait_files(3)
            equal(sorted(trigger(f)["comm"] for f in files), [ONE, ONE, TWO], f"whose: {r.said()}")
            fr("verify", *files)
            rules = {rule: r.wait_seen(rule, cnt)["verdicts"]["taken"] for rule, cnt in zip(RULES, (2, 1))}
            equal(list(rules.values()), [2, 1], f"taken: {r.rules()}")
            wait_for(lambda: not waiting(name) and "directory" not in problems(name), f"all is well: {problems(name)}")
            equal(status(name)["quota"]["files"], 3, "snapshots, says status")
            equal(r.end(), 0, f"exit status: {r.said()}")
        finally:
            disk.go()
            kill(r)


ASKS = """
import json, socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
told = s.makefile()
for _ in range(int(sys.argv[2])):
    s.send(b'{"cmd":"store"}\\n')
    print(json.loads(told.readline())["files"])
"""


@test("whoever asks for the state all the time has four processes a second look at the disk, and is told what they saw")
def asks_often():
    group, cnt = max((g for g in grp.getgrall() if g.gr_gid < 65534), key=lambda g: g.gr_gid), 60
    with hangfs() as disk, configured(*RULES) as (name, _, file):
        write_config(file, name, disk.dir, *RULES, more=f"{STORAGE}{SOCKET}StatusGroup={group.gr_name}\n")
        r = Recorder(name, disk.dir, "--config", file)
        try:
            r.armed()
            crash(ONE)
            r.wait_files(1)
            status(name)
            disk.asked()
            began = time.monotonic()
            told = run("setpriv", "--reuid", "65534", "--regid", "65534", "--groups", str(group.gr_gid), "/usr/bin/python3", "-c", ASKS,
                       f"/run/flightrec/{name}.sock", str(cnt)).stdout.split()
            seconds = int(time.monotonic() - began) + 2  # begun, of both clocks
            equal(told, ["1"] * cnt, "snapshots, as it was told")
            looks = set(disk.asked()) - {0}  # the kernel itself, for one that is closed
            check(0 < len(looks) <= 4 * seconds, f"{len(looks)} processes looked, in {seconds} s: {looks}")
            equal(r.end(), 0, f"exit status: {r.said()}")
        finally:
            kill(r)


UNIFIED = "/sys/fs/cgroup/unified"
IN_CGROUP = f"crash:comm={ONE},cgroup=/*,cooldown=0s"
OF_USER = f"crash:comm={ONE},uid=nobody,last=1s"


def over(*places):
    """A command whose execution sees what is on disks in the place of files and directories: (disk, place), ..."""
    binds = [f"mount --bind {disk.dir}/{os.path.basename(place)} {place} || exit 99" for disk, place in places]
    return ("unshare", "--mount", "--propagation", "private", "sh", "-c", "\n".join((*binds, 'exec "$@"')), "sh")


def refused(r, why):
    before = len(r.said())
    r.p.send_signal(signal.SIGHUP)
    wait_for(lambda: "reload" in r.said()[before:], lambda: f"a reload is answered: {r.said()}")
    check("reload refused" in r.said()[before:] and why in r.said()[before:], f"why: {r.said()[before:]}")


@test("its configuration, the host's users and the paths of cgroups are on a disk that hangs: a reload is refused, rules that do not ask fire")
def hangs_elsewhere():
    if not os.path.isdir(UNIFIED):
        raise Skip(f"there is no {UNIFIED}")
    with impatient(50), hangfs() as disk, hangfs() as users, configured(IN_CGROUP, RULES[1]) as (name, dir, file):
        conf = f"{disk.dir}/conf"

        def put(*rules):
            write_config(file, name, dir, *rules, more=SOCKET)
            shutil.copy(file, conf)
        put(IN_CGROUP, RULES[1])
        os.mkdir(f"{disk.dir}/{os.path.basename(UNIFIED)}")
        shutil.copy("/etc/passwd", f"{users.dir}/passwd")
        r = Recorder(name, dir, "--config", conf, under=over((users, "/etc/passwd"), (disk, UNIFIED)))
        try:
            r.armed()
            disk.hang()
            refused(r, "its disk does not answer")
            crash(ONE)
            equal(r.wait_seen(IN_CGROUP, 1)["verdicts"]["filtered"], 1, "what is not known to be of that cgroup")
            check("paths of cgroups are not told" in r.said(), r.said())
            crash(TWO)
            equal(trigger(r.wait_files(1)[0])["comm"], TWO, f"whose: {r.said()}")
            equal(tasks(r.p.pid) & {tid for tid, _ in disk.waiting()}, set(), f"threads of the recorder that wait: {disk.waiting()}")
            disk.go()
            put(IN_CGROUP, RULES[1], OF_USER)
            users.hang()
            refused(r, "cannot look up user 'nobody'")
            equal(tasks(r.p.pid) & {tid for tid, _ in users.waiting()}, set(), f"threads of the recorder that wait: {users.waiting()}")
            users.go()
            send_reload(r)
            check(OF_USER in r.rules(), f"the rules: {r.rules()}")
            wait_for(lambda: crash(ONE) is not None and "told again" in r.said(), lambda: f"the path is known again: {r.said()}")
            equal(trigger(r.wait_files(2)[-1])["comm"], ONE, f"whose: {r.said()}")
            equal(r.end(), 0, f"exit status: {r.said()}")
        finally:
            disk.go()
            users.go()
            kill(r)


@test("its disk hangs when the last snapshot before other settings is to be written: the session is adopted as it is")
def hangs_before_other_settings():
    with impatient(20), hangfs() as disk, configured(*RULES) as (name, _, file):
        write_config(file, name, disk.dir, *RULES, more=f"[Session]\nMemory=3M\n{STORAGE}WriteTimeout=1s\n{SOCKET}")
        disk.hang("write")
        r = Recorder(name, disk.dir, "--config", file)
        try:
            r.armed()
            check("keeps its old settings" in r.said() and "stood still" in r.said(), r.said())
            equal(tasks(r.p.pid) & {tid for tid, _ in disk.waiting()}, set(), f"threads of the recorder that wait: {disk.waiting()}")
            disk.go()
            crash(ONE)
            equal(trigger(r.wait_files(1)[0])["comm"], ONE, "whose")
            equal(r.end(), 0, f"exit status: {r.said()}")
        finally:
            disk.go()
            kill(r)


def ends(r, disk):
    """It is told to end while its disk hangs, and ends: its exit status."""
    check(disk.waiting(), "the disk hangs")
    status = r.end()
    check(disk.waiting(), f"the disk hangs still, and somebody was left behind: {r.said()}")
    return status


@test("its disk hangs for longer than WriteTimeout=: what is lost is said by name, a recorder ends, the next one writes when it answers")
def ends_without_disk():
    with impatient(20), hangfs() as disk, configured(*RULES) as (name, _, file):
        write_config(file, name, disk.dir, *RULES, more=f"{STORAGE}WriteTimeout=1s\n{SOCKET}")
        r = Recorder(name, disk.dir, "--config", file)
        try:
            r.armed()
            disk.hang()
            for rule, who in zip(RULES, (ONE, TWO)):
                crash(who)
                wait_for(lambda: r.rules()[rule]["verdicts"]["failed"] == 1, f"{who} has no snapshot: {r.rules()[rule]}", 60)
            check("cannot be ended" in r.said(), r.said())
            equal(ends(r, disk), 0, f"exit status: {r.said()}")
            check(exists(name), "the session goes on")
            disk.go()
            r = Recorder(name, disk.dir, "--config", file).armed()
            equal(r.files(), [], "files of what was lost")
            lost = [i["text"] for i in incidents(name, disk.dir) if i["kind"] == "snapshot" and i["code"]]
            equal([f.split("-crash-")[1].rsplit("-", 1)[0] for f in lost if disk.dir in f], [ONE, TWO], f"lost, says the incident log: {lost}")
            crash(ONE)
            files = r.wait_files(1)
            equal(trigger(files[0])["comm"], ONE, "whose")
            fr("verify", *files)
            equal(r.end(), 0, f"exit status: {r.said()}")
        finally:
            disk.go()
            kill(r)


@test("a session whose recorder's disk hangs ends with `stop`, which says what is lost; a dump that waits for that disk ends with 4")
def stops_without_disk():
    with impatient(20), hangfs() as disk, last_configured(*RULES, more=f"{STORAGE}WriteTimeout=1s\n{SOCKET}") as (name, _, file):
        write_config(file, name, disk.dir, *RULES, more=f"{STORAGE}WriteTimeout=1s\n{SOCKET}")
        r, late = Recorder(name, disk.dir, "--config", file), None
        try:
            r.armed()
            late = subprocess.Popen([FLIGHTREC, "dump", "-n", name, "-o", f"{disk.dir}/late.flight"], stdin=subprocess.DEVNULL,
                                    stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            disk.hang()
            wait_for(lambda: late.pid in {tid for tid, _ in disk.waiting()} or late.poll() is not None, f"it waits: {disk.waiting()}")
            equal(late.poll(), None, "the dump while its disk hangs")
            crash(TWO)
            r.wait_seen(RULES[1], 1)
            said = fr("stop", "-n", name, "--wait", "1ms").stderr
            check(re.search(r"going on without the snapshot .* over 1(\.0+)? ms ago", said), f"stop does not wait for the dump for longer than it is told: {said}")
            check(disk.waiting(), "the disk hangs still")
            check(not exists(name), "the session has ended")
            equal(r.p.wait(LIMIT_S), 0, f"exit status of the recorder: {r.said()}")
            disk.go()
            said = late.communicate(timeout=LIMIT_S)[1]
            equal(late.returncode, 4, f"exit status of the dump: {said}")
            equal([f for f in os.listdir(disk.dir) if f.endswith(".flight")], [], "files")
        finally:
            disk.go()
            kill(r)
            if late:
                late.kill()
                late.communicate()


if __name__ == "__main__":
    main()
