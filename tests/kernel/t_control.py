# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The control socket: who may what, follow, reload and stop, and clients that are rude."""
import contextlib
import grp
import json
import os
import select
import signal
import socket
import subprocess
import time

from frtest import FLIGHTREC, SESSIONS, Skip, check, equal, exists, fr, fr_json, impatient, main, path, run, status, test, wait_for
from recorder import RECORDED, by_options, configured, expendable, settings_of

RUN = "/run/flightrec"
NOBODY = 65534
COMM = f"frc{os.getpid()}"


def sock_path(name):
    return f"{RUN}/{name}.sock"


def two_groups():
    """Two groups that exist here, for the rights: those with the highest numbers, which are not the first of a process's groups."""
    found = sorted((g for g in grp.getgrall() if 9 < g.gr_gid < NOBODY), key=lambda g: g.gr_gid)
    if len(found) < 2:
        raise Skip("there are no two groups in /etc/group")
    return found[-2], found[-1]


_where = {}  # session: the directory of its snapshots


def where(name):
    return _where[name]


def config(name, control="", on=(f"crash:comm={COMM}",)):
    file = f"{where(name)}.conf"
    rules = "".join(f"On={r}\n" for r in on)
    with open(file, "w") as f:
        f.write(f"[Session]\n{settings_of(name)}[Trigger]\n{rules}[Storage]\n"
                f"Directory={where(name)}\nKeepFree=0%\n[Control]\n{control}")
    return file


@contextlib.contextmanager
def daemon(control="", name=None, of=configured, **kw):
    """A recorder that listens; gives its session's name, process and configuration file. name: the next one of that session."""
    with contextlib.ExitStack() as stack:
        if not name:
            name, dir, _ = stack.enter_context(of())
            _where[name] = dir
        file = config(name, control, **kw)
        log = stack.enter_context(open(f"{where(name)}.log", "a"))
        p = subprocess.Popen([FLIGHTREC, "record", "--config", file], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            wait_for(lambda: p.poll() is not None or is_served(name), "the recorder listens")
            check(p.poll() is None, "the recorder ended: " + open(log.name).read())
            yield name, p, file
        finally:
            if p.poll() is None:
                p.kill()
            p.wait()
            with contextlib.suppress(FileNotFoundError):
                os.unlink(sock_path(name))


def rules(name):
    """Those in force."""
    return [t["rule"] for t in status(name)["triggers"] if t["in_force"]]


def connect(name):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    s.connect(sock_path(name))  # waits while the queue is full
    s.settimeout(120)
    return s


def line(s):
    """The next line, as an object; None at the end."""
    got = b""
    while not got.endswith(b"\n"):
        try:
            more = s.recv(1)
        except (ConnectionResetError, BrokenPipeError):
            return None
        if not more:
            return None
        got += more
    return json.loads(got)


def ask(name, request):
    with connect(name) as s:
        s.sendall((request if isinstance(request, bytes) else json.dumps(request).encode()) + b"\n")
        return line(s)


def is_served(name):
    try:
        return ask(name, {"cmd": "store"})["ok"]
    except (OSError, TypeError):
        return False


def as_user(groups, *args, status=0):
    keep = ["--groups", ",".join(map(str, groups))] if groups else ["--clear-groups"]
    return run("setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), *keep, FLIGHTREC, *args, status=status)


@test("rights: root, status group, dump group, nobody; dump's interval; files in the recorder's own directory")
def rights():
    look, take = two_groups()
    with daemon(f"StatusGroup={look.gr_name}\nDumpGroup={take.gr_name}\nDumpInterval=1h\n") as (name, p, _):
        if as_user([], "--version", status=None).returncode:
            raise Skip("another user cannot run the program here")
        equal(os.stat(sock_path(name)).st_mode & 0o777, 0o666, "mode of the socket")
        got = as_user([], "status", "-n", name, status=1)
        check("not permitted" in got.stderr and "StatusGroup" in got.stderr, got.stderr)
        got = as_user([], "incidents", "-n", name, status=1)
        check("only root sees" in got.stderr and "no session" not in got.stderr, got.stderr)
        for groups in ([look.gr_gid], [take.gr_gid], [7, look.gr_gid, 9]):
            text = as_user(groups, "status", "-n", name).stdout
            check(f"session {name}: a recorder process runs" in text, text)
        st = json.loads(as_user([look.gr_gid], "status", "-n", name, "--json").stdout)
        equal(st["session"], name, "session")
        equal([t["rule"] for t in st["triggers"] if t["in_force"]], [f"crash:comm={COMM}"], "rule")
        check(as_user([look.gr_gid], "status", "-n", name, "--metrics").stdout.endswith("# EOF\n"), "metrics")
        for cmd in (["dump", "-n", name], ["reload", "-n", name]):
            check("not permitted" in as_user([look.gr_gid], *cmd, status=1).stderr, f"{cmd} by the status group")
        check("own directory" in as_user([take.gr_gid], "dump", "-n", name, "-o", "/tmp/x", status=1).stderr, "-o is refused")
        file = as_user([take.gr_gid], "dump", "-n", name).stdout.strip()
        equal(os.path.dirname(file), where(name), "directory of the snapshot")
        equal(fr_json("info", file)["trigger"]["reason"], "command", "reason")
        check("every" in as_user([take.gr_gid], "dump", "-n", name, status=1).stderr, "interval")
        check("root" in as_user([take.gr_gid], "reload", "-n", name, status=1).stderr, "reload by the dump group")
        equal(ask(name, {"cmd": "dump"})["ok"], True, "dump by root within the interval")
        equal(p.poll(), None, "the recorder")
        equal(len([f for f in os.listdir(where(name)) if f.endswith(".flight")]), 2, "snapshots")


def crash(comm=COMM):
    """A process of that name dies of SIGSEGV; its pid."""
    p = subprocess.Popen(["/usr/bin/python3", "-c", f"import os; open('/proc/self/comm','w').write('{comm}'); "
                          "import resource; resource.setrlimit(resource.RLIMIT_CORE, (0, 0)); os.kill(os.getpid(), 11)"])
    equal(p.wait(120), -11, "its end")
    return p.pid


@test("snapshots that could not be written or had no room: status says how many, and why; of rules, dumps and SIGUSR1",
      own="what failed is counted for a session's whole life")
def why_failed():
    with daemon(of=lambda: expendable(leave=True)) as (name, p, _):
        told = lambda: {x["what"]: x["text"] for x in status(name)["problems"] if x["what"] in ("failed", "quota")}
        equal(told(), {}, "problems before")
        os.rename(where(name), where(name) + ".away")  # the directory alone would be made again
        open(where(name), "x").close()
        crash()
        # a recorder that is too busy to answer at once is asked again
        want = {"failed": "1 snapshot could not be written, the last one: Not a directory"}
        wait_for(lambda: told() == want, lambda: f"the failure is told, not {told()}")
        fr("dump", "-n", name, status=1)
        p.send_signal(signal.SIGUSR1)
        want["failed"] = "3 snapshots could not be written, the last one: Not a directory"
        wait_for(lambda: told() == want, lambda: f"those that no rule asked for are told, too, not {told()}")
        os.unlink(where(name))
        os.mkdir(where(name), 0o700)
        run("mount", "-t", "tmpfs", "-o", "size=16k,mode=0700", "nodev", where(name))
        try:
            fr("dump", "-n", name, status=1)
            want["quota"] = ("1 snapshot not taken for lack of room: allow more (MaxFiles=, MaxBytes=, KeepFree=), unmark some "
                             "(`flightrec list --no-keep`), or free some space")
            wait_for(lambda: told() == want, lambda: f"lack of room is told, not {told()}")
        finally:
            run("umount", where(name))


@test("a directory that the recorder may not write into is a problem before a snapshot fails")
def forbidden():
    with daemon() as (name, _, _):
        problems = lambda: [p["text"] for p in status(name)["problems"] if p["what"] == "directory"]
        equal(problems(), [], "problems before")
        os.chown(where(name), NOBODY, NOBODY)  # for good if the test fails: it is this test's own
        wait_for(lambda: "may not be written to" in str(problems()), "it is told")
        text = fr("status", "-n", name).stdout
        check("quota " in text and "free on the disk" in text, f"what is known of it is shown: {text}")
        os.chown(where(name), 0, 0)
        equal(problems(), [], "problems of one that is root's again")


@test("nohup: SIGHUP reloads the file as ever, and does not end a recorder without one")
def nohup():
    def begun(name, *args):
        p = subprocess.Popen(["nohup", FLIGHTREC, "record", *args], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
        wait_for(lambda: p.poll() is not None or os.path.exists(f"{SESSIONS}/{name}/meta") and status(name)["recorder"],
                 "the recorder")
        return p
    with configured() as (name, dir, _):
        _where[name] = dir
        p = begun(name, "--config", config(name))
        config(name, on=("exit:3",))
        p.send_signal(signal.SIGHUP)
        wait_for(lambda: "exit:3" in rules(name), "the rule of the file")
        p.send_signal(signal.SIGTERM)
        equal(p.wait(120), 0, "exit status")
        p = begun(name, "-n", name, "-o", dir, *RECORDED, "--keep")
        p.send_signal(signal.SIGHUP)
        for _ in range(2):  # the second one is answered after whatever the signal does
            check(ask(name, {"cmd": "status"})["ok"], "the recorder answers")
        check(p.poll() is None and status(name)["recorder"], "it was ended")
        p.send_signal(signal.SIGTERM)
        equal(p.wait(120), 0, "exit status")


def lines(p, seconds=120):
    """The lines of a process's standard output, one after the other, each within so many seconds."""
    got = b""
    while True:
        while b"\n" not in got:
            check(select.select([p.stdout], [], [], seconds)[0], f"no line within {seconds} s, after {got!r}")
            more = os.read(p.stdout.fileno(), 65536)
            check(more, f"it has ended, after {got!r}")
            got += more
        line, _, got = got.partition(b"\n")
        yield line.decode()


@test("follow: a line for each decision and each snapshot, missing nobody; ends with 0 when interrupted")
def follow():
    who = f"{COMM}f"  # deaths of the other tests' program may be known to the session already
    with daemon("[Trigger]\nStormCount=0\n", on=(f"crash:comm={who}",)) as (name, _, _):
        watchers = [subprocess.Popen([FLIGHTREC, "follow", "-n", name, *opt], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                    for opt in (["--json"], [])]
        # until both have seen something, it is not known that both follow
        wait_for(lambda: ask(name, {"cmd": "dump"})["ok"] and
                 len(select.select([w.stdout for w in watchers], [], [], 0.2)[0]) == 2, "both follow")
        pids = [crash(who), crash(who)]
        as_json, as_text = (lines(w) for w in watchers)
        seen = []
        while len(seen) < 3:
            got = json.loads(next(as_json))
            check(got["ts"] > 0, f"when that was: {got}")
            seen += [got] if got["reason"] != "command" else []
        by = {(e["watch"], e.get("verdict"), e["pid"]) for e in seen}
        equal(by, {("trigger", "taken", pids[0]), ("trigger", "dedupe", pids[1]), ("snapshot", None, pids[0])}, "what was told")
        snap = next(e for e in seen if e["watch"] == "snapshot")
        equal((snap["ok"], snap["reason"], snap["comm"], snap["sig"]), (True, "crash", who, 11), "the snapshot")
        check(os.path.exists(snap["file"]) and snap["elapsed_ns"] > 0, snap)
        text = ""
        while text.count(f"{who}[") < 3:
            text += next(as_text) + "\n"
        for word in (f"{who}[{pids[0]}] SIGSEGV: taken (crash:comm={who})", f"{who}[{pids[1]}] SIGSEGV: dedupe", snap["file"]):
            check(word in text, f"'{word}' is not in: {text}")
        for w in watchers:
            w.send_signal(signal.SIGINT)
            equal(w.wait(120), 0, "exit status of follow")
            equal(w.stderr.read(), b"", "standard error of follow")


def take_seen(name, got):
    """Take a snapshot as root; whoever watches is told of it."""
    file = fr("dump", "-n", name).stdout.strip()
    while True:
        told = json.loads(next(got))
        if told["watch"] == "snapshot" and told["file"] == file:
            equal((told["ok"], told["reason"]), (True, "command"), "the snapshot that was told")
            return file


@contextlib.contextmanager
def following(name):
    """A `follow --json` that follows already: its process, its lines, and the file of its standard error."""
    err = f"{where(name)}.follow"
    with open(err, "w") as f:
        w = subprocess.Popen([FLIGHTREC, "follow", "-n", name, "--json"], stdout=subprocess.PIPE, stderr=f)
    try:
        wait_for(lambda: ask(name, {"cmd": "dump"})["ok"] and select.select([w.stdout], [], [], 0.2)[0], "it follows")
        yield w, lines(w), err
    finally:
        w.kill()
        w.wait()


@test("follow goes on with the next recorder, ended or killed, and ends with the session, stopped from another PID namespace",
      own="the session is stopped")
def follow_restart():
    with contextlib.ExitStack() as all_of_it:
        name, p, _ = all_of_it.enter_context(daemon("[Trigger]\nStormCount=0\n", of=expendable))
        with impatient(20):  # follow alone, of which is asked how it ends, not when
            w, got, err = all_of_it.enter_context(following(name))
        for times, sig in ((1, signal.SIGTERM), (2, signal.SIGKILL)):
            p.send_signal(sig)
            p.wait(120)
            wait_for(lambda: open(err).read().count("waiting for the next") == times, "it says that it waits")
            _, p, _ = all_of_it.enter_context(daemon("[Trigger]\nStormCount=0\n", name=name))
            wait_for(lambda: open(err).read().count("following the next") == times, "it says that it follows again")
            take_seen(name, got)
        equal(w.poll(), None, "follow")
        namespace = ("unshare", "-pf", "--mount-proc")
        elsewhere = not run(*namespace, "true", status=None).returncode
        run(*(namespace if elsewhere else ()), FLIGHTREC, "stop", "-n", name)  # by way of the socket: pids mean nothing there
        equal(p.wait(120), 0, "exit status of the recorder")
        check(not exists(name), "the session is still there")
        equal(w.wait(120), 4, "exit status of follow when the session is gone")
        check(f"session {name} has ended" in open(err).read(), open(err).read())
        says_what_becomes(name, terms=1)
    return "" if elsewhere else "no PID namespace can be made here"


def says_what_becomes(name, terms):
    """Its recorders: after a service manager's SIGTERM the session goes on, by `stop` it ends with the last of them."""
    with open(f"{where(name)}.log") as f:
        said = f.read()
    equal((said.count(f"session '{name}' goes on recording"), said.count(f"`flightrec stop` ends session '{name}'")), (terms, 1), said)


@test("stop: a recorder with a configuration says that its session ends, told by a signal", own="the session is stopped")
def stopped_by_signal():
    with daemon(of=expendable) as (name, p, _):
        fr("stop", "-n", name)
        equal(p.wait(120), 0, "exit status of the recorder")
        check(not exists(name), "the session is still there")
        says_what_becomes(name, terms=0)


@test("a dump by root is the recorder's, with its quota, and told to who watches; without it if it is stuck; -o never is")
def dump_by_root():
    with daemon("[Storage]\nMaxFiles=2\n[Trigger]\nStormCount=0\n") as (name, p, _):
        with following(name) as (w, got, _):
            files = [take_seen(name, got) for _ in range(3)]
            equal([os.path.exists(f) for f in files], [False, True, True], "three snapshots where two are kept")
            told = fr("dump", "-n", name, "-o", path(f"{name}-own.flight"), "--last", "1s")
            equal(told.stdout.strip(), path(f"{name}-own.flight"), "path with -o")
            equal(fr_json("info", files[2])["trigger"]["reason"], "command", "reason")
            p.send_signal(signal.SIGSTOP)
            try:
                with impatient(10):
                    alone = fr("dump", "-n", name).stdout.strip()
            finally:
                p.send_signal(signal.SIGCONT)
            fr("verify", alone)
            check(alone not in files and os.path.dirname(alone) == where(name), alone)
            # without a recorder
            p.send_signal(signal.SIGTERM)
            p.wait(120)
            fr("verify", fr("dump", "-n", name).stdout.strip())


@test("a dump that the rule refuses is told why, at once")
def dump_refused():
    with daemon() as (name, _, _):
        # a storm refuses no rule its first snapshot: the last one's text is nobody else's
        calm = "[Trigger]\nStormCount=0\n"  # whatever other tests had taken
        for rule, control, word in (("command,last=58m", f"[Storage]\nMaxBytes=2K\n{calm}", "No space left"),  # which the first one fills
                                    ("command,cooldown=1h", calm, "younger than its cooldown"), ("command,max=1/1h", calm, "max=N/T"),
                                    ("command,last=59m", "[Trigger]\nStormCount=1\n", "StormCount=")):
            config(name, control, on=(rule,))
            fr("reload", "-n", name)
            fr("dump", "-n", name)
            got = fr("dump", "-n", name, status=1)
            check(word in got.stderr and not got.stdout, f"{rule}: {got.stdout}{got.stderr}")
            if "No space" not in word:
                verdict = {"cooldown": 0, "max": 0, "storm": 0} | next(t for t in status(name)["triggers"] if t["in_force"])["verdicts"]
                equal(verdict["cooldown"] + verdict["max"] + verdict["storm"], 1, "refusals counted: it was asked once")


@test("reload: a recorder without a configuration file says so, and sends nobody to correct one")
def reload_without_a_file():
    with by_options("--on", f"crash:comm={COMM}") as r:
        wait_for(lambda: is_served(r.name), "the recorder listens")
        got = fr("reload", "-n", r.name, status=1)
        check("there is no configuration file" in got.stderr and "--config FILE" in got.stderr, got.stderr)
        check("correct" not in got.stderr, got.stderr)


@test("reload: a good file counts, a bad one is refused and the old stays; stop: the recorder ends, and the socket goes")
def reload_and_stop():
    with daemon() as (name, p, file):
        fr("reload", "-n", name)
        config(name, "DumpInterval=nonsense\n")
        got = fr("reload", "-n", name, status=1)
        check("old configuration stays" in got.stderr and "DumpInterval" in got.stderr, got.stderr)
        with open(f"{where(name)}.log") as f:
            said = f.read()
        check("reloaded: " in said and "reload refused: " in said, f"the recorder says it, too: {said}")
        check("correct the file" in got.stderr, got.stderr)
        for key in ("StatusGroup", "DumpGroup"):
            config(name, f"{key}=frtest-none\n")
            got = fr("reload", "-n", name, status=1)
            check(f"Control.{key}: no group 'frtest-none'" in got.stderr, got.stderr)
        config(name, on=(f"crash:comm={COMM}", "exit:3:comm=frexit"))
        fr("reload", "-n", name)
        equal(sorted(rules(name)), [f"crash:comm={COMM}", "exit:3:comm=frexit"], "rules")
        config(name, "Socket=no\n")
        fr("reload", "-n", name)
        wait_for(lambda: not os.path.exists(sock_path(name)), "the socket is gone")
        equal(fr("follow", "-n", name, status=4).stdout, "", "follow without a socket")
        config(name)
        p.send_signal(signal.SIGHUP)
        wait_for(lambda: is_served(name), "the socket is back")
        equal(ask(name, {"cmd": "stop"}), {"ok": True}, "answer to stop")
        equal(p.wait(120), 0, "exit status of the recorder")
        check(not os.path.exists(sock_path(name)), "the socket is still there")
        check(exists(name), "the session of a daemon has ended with it")


@test("a socket that somebody removed is made again by SIGHUP; one that is there stays")
def socket_removed():
    with daemon() as (name, p, _):
        os.unlink(sock_path(name))
        for command in "reload", "follow":
            got = fr(command, "-n", name, status=4)
            check("records, but its recorder" in got.stderr and f"`kill -HUP {p.pid}`" in got.stderr, got.stderr)
            check("start one" not in got.stderr, got.stderr)
        p.send_signal(signal.SIGHUP)
        wait_for(lambda: is_served(name), "the socket is back")
        was = os.stat(sock_path(name)).st_ino
        fr("reload", "-n", name)
        p.send_signal(signal.SIGHUP)
        fr("reload", "-n", name)
        equal(os.stat(sock_path(name)).st_ino, was, "one that is there stays")


@test("nobody listens: the session has no recorder, there is no session, or the caller may not know")
def nobody_listens():
    none = fr("reload", "-n", "frtest-none", status=4).stderr
    check("no session 'frtest-none' is recording" in none, none)
    with configured() as (name, _, _):
        got = fr("reload", "-n", name, status=4).stderr
        check("no recorder runs" in got and f"flightrec record -n {name}" in got and "kill" not in got, got)
        got = fr("follow", "-n", name, status=4, user=NOBODY).stderr
        check("ask root" in got, got)


@test("a recorder that was killed leaves a socket: status works, and the next recorder takes its place")
def stale():
    with daemon() as (name, p, file):
        p.kill()
        p.wait()
        check(os.path.exists(sock_path(name)), "no socket was left")
        got = fr("follow", "-n", name, status=4)
        check("no recorder" in got.stderr, got.stderr)
        equal(fr_json("status", "-n", name)["recorder"], False, "recorder in status")
        with daemon(name=name) as (_, again, _):
            check(is_served(name), "not served")
            equal(status(name)["recorder"], True, "recorder in status")
            # two cannot be
            got = fr("record", "--config", file, status=1)
            check(is_served(name) and again.poll() is None, "the first one is gone")


@test("requests that are none are refused with a reason, and the connection goes on")
def refused():
    bad = [b"", b"\0\1\2\xff\xfe", b"status", b"[]", b"{}", b'{"cmd":5}', b'{"cmd":"nonsense"}', b'{"cmd":"status","format":"xml"}',
           b'{"cmd":"status","cmd":"stop"}', b'{"cmd":{"cmd":"stop"}}', b'{"a":' * 700, b"[" * 4000, b'{"cmd":"dump","last_ns":1.5}',
           b'{"cmd":"dump","last_ns":99999999999999999999999}', b'{"cmd":"\\ud800"}', b"\xc3\x28" * 100,
           b'{"cmd":"dump","last_ns":-1}', b'{"cmd":"dump","last_ns":0}', b'{"cmd":"dump","last_ns":"5s"}', b'{"cmd":"dump","last":5}', b'{"cmd":"store","last_ns":5}']
    with daemon() as (name, p, _):
        with connect(name) as s:
            for request in bad:
                s.sendall(request + b"\n")
                got = line(s)
                check(got["ok"] is False and got["error"] and got["cure"], f"{request[:40]}: {got}")
            s.sendall(b'{"cmd":"store"}\n')
            equal(line(s)["ok"], True, "after all of them")
        check("nanoseconds" in ask(name, {"cmd": "dump", "last_ns": "5s"})["cure"], "the right form")
        check("takes last_ns" in ask(name, {"cmd": "dump", "last": 5})["cure"], "the right key")
        equal(p.poll(), None, "the recorder")


@test("rude clients: too long, byte by byte, half open, many, deaf; others are served, the recorder lives")
def rude():
    with impatient(20), daemon() as (name, p, _):
        with connect(name) as s:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                s.sendall(b"x" * 100000)
            got = line(s)
            check(got is None or "too long" in got["error"], got)
        check(is_served(name), "after a request that is too long")
        # half a request, then nothing more can come: no answer, no wait
        with connect(name) as s:
            s.sendall(b'{"cmd":"sta')
            s.shutdown(socket.SHUT_WR)
            equal(line(s), None, "answer to half a request")
        # a whole one, and hung up for writing: answered
        with connect(name) as s:
            s.sendall(b'{"cmd":"store"}\n')
            s.shutdown(socket.SHUT_WR)
            equal(line(s)["ok"], True, "answer to who has said all")
        # asks, and is gone
        for _ in range(50):
            with connect(name) as s:
                s.sendall(b'{"cmd":"status"}\n')
        check(is_served(name), "after those who did not wait")
        # asks and does not read
        deaf = connect(name)
        deaf.settimeout(0.2)
        with contextlib.suppress(OSError):
            for _ in range(2000):
                deaf.sendall(b'{"cmd":"status"}\n')
        check(is_served(name), "beside one who does not read")
        many = [connect(name) for _ in range(200)]
        check(is_served(name), "beside 200 who are silent")
        equal(len([f for f in os.listdir(f"/proc/{p.pid}/fd") if "socket" in readlink(f"/proc/{p.pid}/fd/{f}")]) <= 60, True,
              "sockets of the recorder are bounded")
        # byte by byte: cut off before there are too many for one request; nobody waits for it
        slow, sent = connect(name), 0
        with contextlib.suppress(OSError):
            while sent < 4096:
                slow.sendall(b"x")
                sent += 1
                time.sleep(0.05)
        check(sent < 4096, "one who is slow is not cut off")
        check(is_served(name), "after one who was slow")
        for s in (*many, deaf, slow):
            s.close()
        equal(p.poll(), None, "the recorder")
        equal(fr_json("status", "-n", name)["recorder"], True, "recorder")


def readlink(link):
    try:
        return os.readlink(link)
    except OSError:
        return ""


if __name__ == "__main__":
    main()
