# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
What the kernel tests share: sessions, replay as Python objects, one line of output a test.

Sessions. To begin one loads hundreds of BPF programs; that is where the time goes. A test takes the first of these that will do:
  shared(*options)    the session of all tests that need these options of `record`: it is begun by the first of them and lives to the end
                      of the run. A test finds what is its own by comm (program() gives a helper a name of its own), pid, cgroup or by
                      moments that it noted, never by position or sum, and leaves the session as it was found. What is to be seen of a
                      test must fit beside what else goes on.
  recording(*rules)   (recorder.py) the recorder that tests share, with these rules and a directory of its own; configured(*rules): its
                      session, for recorders that the test starts, kills and starts again
  last_of(*options)   the shared session, for the last test that needs it, which may spoil or end it
  expendable(*rules)  (recorder.py) a session to be spoiled or ended, whatever is recorded in it: one that no script to come needs, else a new
                      one; take_left() gives the name of such a session
  founded(options, begin)
                      for tests of how a session begins: it is the one that others share from then on, if they have none yet
  session(*options), recorder(...), new_name()
                      sessions of the test's own, for tests of how sessions begin, end and are taken over, or that spoil one. Such a test
                      says why: @test("...", own="the session is removed"). Several states of one life are one session, not several.
Options that are the same are one session: take MINIMAL, SYSCALLS, FULL, CALLS or SAMPLES before you invent others. A shared session ends
with the last script that needs it, or is left to who needs any session (suite.py): each that lives costs the whole machine a little.

Chance: chance() is a random.Random of the run's seed and the test's name. FR_SEED=N sets the seed; by itself, it is 1.

The runner (suite.py) looks after each test whether the shared sessions are there, and whether the accounts of those that it took snapshots
of with dump() are in order, by the last one: written = present + overwritten, for each ring, but for what its holes lack. What a test does
to a session behind that, or without a snapshot, shows at the next one, or when the session is left: then those that used it are named.
"""
import atexit
import contextlib
import fcntl
import json
import os
import random
import re
import select
import shutil
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FLIGHTREC = os.environ.get("FLIGHTREC", os.path.join(ROOT, "build", "flightrec"))
BIN = os.environ.get("FR_KERNEL_BIN", os.path.join(ROOT, "build", "tests", "kernel"))
SESSIONS = "/sys/fs/bpf/flightrec"
TRACEFS = "/sys/kernel/tracing"
TMP = tempfile.mkdtemp(prefix="frtest-")
atexit.register(shutil.rmtree, TMP, ignore_errors=True)

sys.path.insert(0, os.path.join(ROOT, "tests"))
import cases  # noqa: E402
from cases import LIMIT_S, Failed, Skip, check, equal, forget_tests, run_tests  # noqa: E402,F401: for those who import this

MINIMAL = ("-p", "minimal", "-m", "2M")
SYSCALLS = ("-p", "minimal", "-e", "syscall", "-m", "4M")
FULL = ("-p", "full", "-m", "8M")
WATCHED = ("-e", "softirq", "-m", "16M")  # what a watch needs
# Waits beside the scheduling that they are made of, by the exact clock; no samples, so the stack tier has the waits' stacks alone.
LIBRARY = f"{os.path.dirname(FLIGHTREC)}/libflightrec.so.1"
WAITS = ("-p", "minimal", "-e", "wait", "-e", f"mark:{LIBRARY}", "--wait-min", "4ms", "-m", "8M", "--tier", "stack=1M", "--clock", "local", "--clock", "global:0")
# Nothing but samples, births and deaths: there is room for all samples of some minutes.
SAMPLED = ("-p", "minimal", "-e", "-sched", "-e", "sample", "-m", "16M", "--hz", "499")
# The fastest samples, and system calls, of which the governor takes something away; afterwards the profile's tables fill in it.
GOVERNED_HZ = 1999  # an eighth of it costs more than the least budget
GOVERNED = ("-p", "minimal", "-e", "-sched", "-e", "syscall", "-e", "sample", "--hz", str(GOVERNED_HZ), "-m", "4M")
CHOICE = 'event in (sys_exit, sys_path, cpu_sample) && comm == "frt-middle"'
FILTERED = ("-p", "minimal", "-e", "syscall", "-e", "sample", "-e", "wait", "--wait-min", "0", "-m", "2M", "-f", CHOICE)
# System calls and faults of programs that a test calls frt-...: whatever runs besides, those are kept, each of them. CALLS has the exact
# clock, SAMPLES the usual one, and room for stacks, lapped() (lapped.py) each CPU's own, and little room.
OURS = ("-p", "minimal", "-e", "syscall", "--comm", "frt*")
CALLS = (*OURS, "-e", "stderr", "-e", "fault", "-e", "block", "-m", "8M", "--clock", "local", "--clock", "global:0")
SAMPLES = (*OURS, "-e", "sample", "--hz", "499", "-m", "12M", "--tier", "stack=4M", "--cpu-profile", "no", "--clock", "global:0", "--clock", "global")
# No scheduling, and system calls of frtail alone: little else comes, so in ROOMY it stays, and TINY is full when frtail wants it to be.
UNSCHED = ("-p", "minimal", "-e", "-sched", "-e", "syscall", "--comm", "frtail")
ROOMY = (*UNSCHED, "-m", "8M")
TINY = (*UNSCHED, "-m", "256K", "--subbuf", "8K")

PATIENT = "1000"  # what is to be in a snapshot is not missing because the machine was busy
os.environ["FLIGHTREC_PATIENCE"] = PATIENT
SEED = int(os.environ.get("FR_SEED", "1"))
_session_cnt = 0
_shared = {}  # options: name
_options = {}  # name: those of record, of sessions that are or were shared or left
_were_shared = set()  # names
_left = []  # names of those that no script to come needs, the oldest first
_at_end = []  # functions, when the script that runs has ended
_used = set()  # by the test that runs
_since = {}  # name: tests that have used it since its account was seen to be in order
_taken = {}  # by it, whole: {name: file}
_test_name = ""
_dir = TMP  # of the script that runs


def test(name, own=""):
    """Decorator: a test, and its name in the output; own: why it needs sessions of its own, where it does."""
    def add(fn):
        fn.own = own
        return cases.test(name)(fn)
    return test(name.__name__.replace("_", " "))(name) if callable(name) else add


def main():
    """As a script: its tests, or those that the arguments name."""
    script = os.path.basename(sys.argv[0])
    if script.startswith("t_"):
        import suite  # it imports this module
        counts = suite.main([script.removeprefix("t_").removesuffix(".py"), *sys.argv[1:]])
    else:
        counts = run_tests(only=sys.argv[1:])
    sys.exit(counts[1] > 0)


def chance():
    """The chances of the test that runs: the same for the same seed, whatever ran before."""
    return random.Random(f"{SEED} {_test_name}")


def tracefs():
    """Where it is mounted; it is, if it was not."""
    if not os.path.isdir(f"{TRACEFS}/events"):
        p = run("mount", "-t", "tracefs", "nodev", TRACEFS, status=None)
        if p.returncode:
            raise Skip(f"tracefs cannot be mounted: {p.stderr.strip()}")
    return TRACEFS


def helper(name):
    return os.path.join(BIN, name)


def program(name, of="crasher"):
    """A copy of a helper, or of the program at this path, under a name of its own: what is watched by it are not others' doings."""
    file = path(name)
    if not os.path.exists(file):
        shutil.copy(of if "/" in of else helper(of), file)
    return file


def need_compat_calls():
    """Skip where 64-bit programs cannot make 32-bit system calls: the kernel has none, or a hypervisor lets none through."""
    if run(helper("waits"), "compat", "frt-compat", status=None).returncode:
        raise Skip("no system calls by int 0x80 here")


def run(*args, status=0, **kw):
    """Run a program; its exit status must be this one (None: any). How long it takes is not tested: what hangs is ended."""
    kw.setdefault("timeout", LIMIT_S)
    kw.setdefault("stdin", subprocess.DEVNULL)
    kw.setdefault("stdout", subprocess.PIPE)
    kw.setdefault("stderr", subprocess.PIPE)
    p = subprocess.run([str(a) for a in args], text=True, errors="surrogateescape", **kw)
    if status is not None and p.returncode != status:
        raise Failed(f"{' '.join(map(str, args))}: exit status {p.returncode}, not {status}\n{p.stdout or ''}{p.stderr or ''}")
    return p


def fr(*args, **kw):
    return run(FLIGHTREC, *args, **kw)


def refused(got, *words):
    """One message that names the cause and the cure."""
    text = got.stderr
    for word in words:
        check(word in text, f"'{word}' is not in: {text}")
    check(text.startswith("flightrec: ") and "Traceback" not in text, text)


@contextlib.contextmanager
def impatient(percent):
    """Those that are started meanwhile wait for others that stand still for so much of the time that they have otherwise."""
    os.environ["FLIGHTREC_PATIENCE"] = str(percent)
    try:
        yield
    finally:
        os.environ["FLIGHTREC_PATIENCE"] = PATIENT


def fr_json(*args):
    return json.loads(fr(*args, "--json").stdout)


def new_name():
    global _session_cnt
    _session_cnt += 1
    return f"frtest-{os.getpid()}-{_session_cnt}"


def exists(name):
    return os.path.isdir(os.path.join(SESSIONS, name))


def end(name):
    """End a session whatever state it is in."""
    if exists(name):
        fr("stop", "-n", name, status=None)


@contextlib.contextmanager
def ended(name):
    """Whatever happens, the session does not outlive its test, unless that leaves it to the next one."""
    try:
        yield name
    finally:
        if name not in _left:
            end(name)


@contextlib.contextmanager
def session(*options):
    """A session without a recorder with these options of record; gives its name."""
    name = new_name()
    with ended(name):
        fr("record", "-n", name, "-o", TMP, "--unattended", *options)
        yield name


def shared(*options):
    """The name of a session without a recorder with these options of record, which other tests use, too."""
    name = _shared.get(options)
    if not name:
        name = share(new_name(), options)
        begin_unattended(name, options)
    _used.add(name)
    return name


def share(name, options):
    """Under this name others find the session with these options from now on."""
    _shared[options] = begun_with(name, options)
    _were_shared.add(name)
    return name


def was_shared(name):
    """Is it a session that tests share, or shared?"""
    return name in _were_shared


def begun_with(name, options):
    """Remember a session's options of record; returns its name."""
    _options[name] = options
    return name


def begin_unattended(name, options):
    os.makedirs(f"{TMP}/shared", exist_ok=True)
    fr("record", "-n", begun_with(name, options), "-o", f"{TMP}/shared", "--unattended", *options)


def founded(options, begin):
    """
    The name of a session that begin(name) begins in the test's own way, with these options and the directory TMP/shared. Others share it
    from then on; if they have one already, it ends with the script.
    """
    name = begun_with(new_name(), options)
    if options in _shared:
        at_end(lambda: end(name))
    else:
        _used.add(share(name, options))
    os.makedirs(f"{TMP}/shared", exist_ok=True)
    begin(name)
    return name


def take_left():
    """One that no script to come needs; None: there is none. Those that tests have left come first, then the oldest."""
    return _left.pop(0) if _left else None


def leave_to_next(name):
    """Who needs any session may have this one."""
    if exists(name):
        _left.insert(0, name)


def options_of(name):
    """Those of record with which a session was begun that is or was shared or left; empty: not known."""
    return _options.get(name, ())


@contextlib.contextmanager
def last_of(*options):
    """That session, shared no more: the test may leave it in any state, or end it. Whoever asks for these options later has another one."""
    with ended(take_shared(options)) as name:
        yield name


def take_shared(options):
    """The same, for who ends it in any case."""
    name = shared(*options)
    check_users(name)
    del _shared[options]
    return name


def leave_shared(options):
    """No script to come needs it: what it has kept was sound, and it is left to who needs any session."""
    name = _shared.pop(options)
    check_users(name)
    _left.append(name)


def end_left(most):
    """Of those that are left only so many, the last ones, live on."""
    while len(_left) > most:
        fr("stop", "-n", _left.pop(0))


atexit.register(end_left, 0)


def all_shared():
    """Options of those that live."""
    return list(_shared)


def check_account(name, file=None):
    """Of each ring of a session: what was written is there, or was overwritten. By a snapshot of it, else one taken now."""
    taken = file or take(name)
    for c in fr_json("info", taken)["cpus"]:
        for t in c["tiers"]:
            lacks = t["written"] - t["overwritten"] - t["present"]
            check(lacks == 0 or (lacks > 0 and t["holes"]), f"{name}, CPU {c['cpu']}: written = present + overwritten + holes: {t}")
            equal(t["events"], t["present"], f"{name}, CPU {c['cpu']}, {t['name']}: events decoded = present")
    if not file:
        os.unlink(taken)


def overwritten_since(file, ns=0, tier="main"):
    """
    How many records that a snapshot lacks may be of this moment, or later: those that were overwritten in rings of this tier, unless the ring
    has all since then. Whatever else goes on fills a ring, too, so a test that counts in one allows for so many.
    """
    tiers = [t for c in fr_json("info", file)["cpus"] for t in c["tiers"] if t["name"] == tier]
    return sum(t["overwritten"] for t in tiers if t["horizon_ns"] > ns)


def unrecorded_of(file, why, event):
    """How many events of this name a snapshot counts to have no record, for that reason: thinned, unmatched, ..."""
    return fr_json("info", file)[why].get(event, 0)


def check_users(name):
    """The account of a shared session, which others need no more, by a snapshot taken now."""
    try:
        check_account(name)
    except Failed as why:
        raise Failed(f"{why}; since it was in order it was used by: {', '.join(_since.get(name, []))}") from None


def begin_script(script):
    global _dir
    _dir = os.path.join(TMP, script)


def at_end(fn):
    """To be called when the script that runs has ended."""
    _at_end.append(fn)


def end_script():
    while _at_end:
        _at_end.pop()()


def begin_test(script, fn):
    global _test_name
    _test_name = f"{script} {fn.__name__}"
    _used.clear()
    _taken.clear()


def running():
    """The test that runs: its script and its function; empty: none does."""
    return _test_name


def end_test(failed=False):
    """The shared sessions are as the test found them. One that is not is no more shared: the next test begins another."""
    for options, name in list(_shared.items()):
        try:
            check(os.path.exists(f"{SESSIONS}/{name}/meta"), f"the shared session {name} ({' '.join(options)}) is gone")
            if name in _used:
                _since.setdefault(name, []).append(_test_name)
            if name in _taken and not failed and os.path.exists(_taken[name]):
                check_account(name, _taken[name])
                _since.pop(name, None)
        except Failed:
            del _shared[options]
            end(name)
            if not failed:
                raise


@contextlib.contextmanager
def busy():
    """Somebody makes system calls, as fast as they go. Gives the process."""
    p = subprocess.Popen(["dd", "if=/dev/zero", "of=/dev/null", "bs=1"], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield p
    finally:
        p.kill()
        p.wait()


def path(name):
    """A file of the script that runs: others may give one the same name."""
    os.makedirs(_dir, exist_ok=True)
    return os.path.join(_dir, name)


def mono_ns():
    """A moment that is before all that follows, on the recording clock; it may be ahead of a CPU's own by less than this."""
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC) - 1_000_000


def snapshots(dir):
    """Names of the snapshots in a directory."""
    return [f for f in os.listdir(dir) if f.endswith(".flight")]


def dump(name, *options):
    """Take a snapshot into a new file; gives its path. The account is checked on a test's last one that is whole."""
    file = take(name, *options)
    if not options:
        _taken[name] = file
    return file


def take(name, *options):
    fd, file = tempfile.mkstemp(suffix=".flight", dir=TMP)
    os.close(fd)
    os.unlink(file)
    fr("dump", "-n", name, "-o", file, *options)
    return file


def replay(file, *options):
    """The events of a file as dicts, in merge order."""
    out = fr("replay", "--json", *options, file).stdout
    return json.loads(f"[{','.join(out.splitlines())}]")  # at once: much faster than line by line


def status(name):
    return fr_json("status", "-n", name)


def written(name):
    """Records ever written by the session's CPUs."""
    return sum(c["written"] for c in status(name)["cpus"])


def lost(st):
    return sum(sum(c["lost"].values()) for c in st["cpus"])


@contextlib.contextmanager
def recorder(name, *options, command=None):
    """A recorder process in the foreground, recording already; killed at the end if it is still there."""
    args = [FLIGHTREC, "record", "-n", name, "-o", TMP, *options]
    if command:
        args += ["--", *command]
    with ended(name):
        p = subprocess.Popen(args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            wait_for(lambda: p.poll() is not None or os.path.exists(f"{SESSIONS}/{name}/meta"), "the recorder starts")
            yield p
        finally:
            if p.poll() is None:
                p.kill()
            p.communicate()


def wait_said(p, word):
    """Read what a recorder says on standard error, up to a line with this word."""
    limit = threading.Timer(LIMIT_S, p.kill)
    limit.start()
    try:
        said = []
        for line in iter(p.stderr.readline, ""):
            said.append(line)
            if word in line:
                return
        raise Failed(f"it ended, and did not say '{word}': {''.join(said)}")
    finally:
        limit.cancel()


def wait_for(fn, what, seconds=LIMIT_S):
    """
    Wait until fn() is true: on a busy machine, or one whose disk stands still, things take their time, so the limit is far. What is
    waited for may be a function, called when it did not come.
    """
    until, nap_s = time.monotonic() + seconds, 0.001
    while True:
        got = fn()
        if got:
            return got
        if time.monotonic() > until:
            raise Failed(f"not within {seconds} s: {what() if callable(what) else what}")
        time.sleep(nap_s)
        nap_s = min(2 * nap_s, 0.02)  # most come soon, and what asks takes time, too


def wait_end(p, seconds=LIMIT_S):
    """The exit status of a process, as soon as it has ended: Popen.wait() with a limit looks only every 50 ms."""
    if p.returncode is None:
        fd = os.pidfd_open(p.pid)
        try:
            select.select([fd], [], [], seconds)
        finally:
            os.close(fd)
    return p.wait(1)


def state(pid):
    """As ps shows it: R, S, D, T, Z; empty: there is no such process."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat") as f:
        return f.read().rsplit(")", 1)[1].split()[0]
    return ""


def is_blocked(pid, sig):
    """Does a process take this signal when it wants to, not when it comes?"""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/status") as f:
        return bool(int(re.search(r"^SigBlk:\s+(\w+)", f.read(), re.M)[1], 16) >> (sig - 1) & 1)
    return False


def waits_in(pid, function):
    """Does a process sleep in a function of the kernel of such a name?"""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/wchan") as f:
        return function in f.read()
    return False


@contextlib.contextmanager
def locked(name):
    """Its reader's lock is held, as by a snapshot that is being taken."""
    fd = os.open(f"{SESSIONS}/{name}", os.O_RDONLY)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def opened(pid):
    """What a process has open: {descriptor: what}."""
    got = {}
    with contextlib.suppress(OSError):
        for fd in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                got[int(fd)] = os.readlink(f"/proc/{pid}/fd/{fd}")
    return got


def controllers(file):
    try:
        with open(file) as f:
            return f.read().split()
    except OSError:
        return []


def gone(dir):
    """Remove a cgroup; False: it is not empty yet."""
    try:
        os.rmdir(dir)
    except FileNotFoundError:
        pass
    except OSError:
        return False
    return True


@contextlib.contextmanager
def small_memory(mib=16, name=""):
    """A memory cgroup of so much: its directory."""
    name = f"frtest-{os.getpid()}{name}"
    if os.path.exists("/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        dir, limit = f"/sys/fs/cgroup/memory/{name}", "memory.limit_in_bytes"
    elif "memory" in controllers("/sys/fs/cgroup/cgroup.subtree_control"):
        dir, limit = f"/sys/fs/cgroup/{name}", "memory.max"
    else:
        raise Skip("no memory cgroups to make here")
    os.mkdir(dir)
    try:
        with open(f"{dir}/{limit}", "w") as f:
            f.write(f"{mib}M")
        if os.path.exists(f"{dir}/memory.swap.max"):
            with open(f"{dir}/memory.swap.max", "w") as f:
                f.write("0")
        yield dir
    finally:
        wait_for(lambda: gone(dir), "the cgroup is empty")


@contextlib.contextmanager
def small_disk(size):
    """A file system of so much, in memory: its directory."""
    dir = tempfile.mkdtemp(dir=TMP)
    run("mount", "-t", "tmpfs", "-o", f"size={size}", "frtest", dir)
    try:
        yield dir
    finally:
        run("umount", "-l", dir)
