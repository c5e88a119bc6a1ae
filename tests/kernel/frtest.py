# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the kernel tests share: sessions that end with their test, replay as Python objects, one line of output a test."""
import atexit
import contextlib
import json
import os
import shutil
import signal
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
from cases import Failed, Skip, check, equal, forget_tests, run_tests, test  # noqa: E402,F401: for those who import this

_session_cnt = 0


def main():
    """Run the tests of a script; those whose name contains an argument, if there are any."""
    signal.signal(signal.SIGTERM, lambda sig, frame: sys.exit(143))
    # a shell's job in the background ignores the first two, what nohup starts the third, and so would all we start
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    _, failed, _ = run_tests(only=sys.argv[1:])
    sys.exit(failed > 0)


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
    kw.setdefault("timeout", 600)
    kw.setdefault("stdin", subprocess.DEVNULL)
    kw.setdefault("stdout", subprocess.PIPE)
    kw.setdefault("stderr", subprocess.PIPE)
    p = subprocess.run([str(a) for a in args], text=True, errors="surrogateescape", **kw)
    if status is not None and p.returncode != status:
        raise Failed(f"{' '.join(map(str, args))}: exit status {p.returncode}, not {status}\n{p.stdout or ''}{p.stderr or ''}")
    return p


def fr(*args, **kw):
    return run(FLIGHTREC, *args, **kw)


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
    """Whatever happens, the session does not outlive its test."""
    try:
        yield name
    finally:
        end(name)


@contextlib.contextmanager
def session(*options):
    """A detached session with these options of record; gives its name."""
    name = new_name()
    with ended(name):
        fr("record", "-n", name, "-o", TMP, "--detach", *options)
        yield name


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
    return os.path.join(TMP, name)


def snapshots(dir):
    """Names of the snapshots in a directory."""
    return [f for f in os.listdir(dir) if f.endswith(".flight")]


def dump(name, *options):
    """Take a snapshot into a new file; gives its path."""
    fd, file = tempfile.mkstemp(suffix=".flight", dir=TMP)
    os.close(fd)
    os.unlink(file)
    fr("dump", "-n", name, "-o", file, *options)
    return file


def replay(file, *options):
    """The events of a file as dicts, in merge order."""
    out = fr("replay", "--json", *options, file).stdout
    return [json.loads(line) for line in out.splitlines()]


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
            wait_for(lambda: p.poll() is not None or os.path.exists(f"{SESSIONS}/{name}/meta"), "the recorder starts", 120)
            yield p
        finally:
            if p.poll() is None:
                p.kill()
            p.communicate()


def wait_said(p, word):
    """Read what a recorder says on standard error, up to a line with this word."""
    limit = threading.Timer(120, p.kill)
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


def wait_for(fn, what, seconds=120):
    """Wait until fn() is true: on a busy machine, or one whose disk stands still, things take their time, so the limit is far."""
    until = time.monotonic() + seconds
    while True:
        got = fn()
        if got:
            return got
        if time.monotonic() > until:
            raise Failed(f"not within {seconds} s: {what}")
        time.sleep(0.02)


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
def small_memory(mib=16):
    """A memory cgroup of so much: its directory."""
    if os.path.exists("/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        dir, limit = f"/sys/fs/cgroup/memory/frtest-{os.getpid()}", "memory.limit_in_bytes"
    elif "memory" in controllers("/sys/fs/cgroup/cgroup.subtree_control"):
        dir, limit = f"/sys/fs/cgroup/frtest-{os.getpid()}", "memory.max"
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
        wait_for(lambda: gone(dir), "the cgroup is empty", 60)
