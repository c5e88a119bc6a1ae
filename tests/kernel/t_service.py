# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The recorder within what dist/flightrec.service leaves it: capabilities, system calls, bpffs, without systemd itself."""
import contextlib
import ctypes
import glob
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys

from frtest import FLIGHTREC, Failed, ROOT, SESSIONS, Skip, TMP, check, equal, founded, main, path, program, run, test, wait_for
from recorder import ATTENDED, settings_of

UNIT = os.path.join(ROOT, "dist", "flightrec.service")
ALLOW, EPERM = 0x7FFF0000, 0x00050001  # SCMP_ACT_ALLOW, SCMP_ACT_ERRNO(EPERM)

MOUNTS = f"""
mkdir -p {SESSIONS} &&
mount --bind /sys/fs/bpf /sys/fs/bpf && mount -o remount,bind,ro /sys/fs/bpf &&
mount --bind {SESSIONS} {SESSIONS} && mount -o remount,bind,rw {SESSIONS} &&
exec "$@"
"""


def values(key):
    """All that the unit gives for a key, as words."""
    with open(UNIT) as f:
        return " ".join(re.findall(rf"^{key}=(.*)$", f.read(), re.M)).split()


def members(group):
    """The system calls of one of systemd's groups."""
    found = set()
    for line in run("systemd-analyze", "syscall-filter", group, env={**os.environ, "SYSTEMD_PAGER": ""}).stdout.splitlines():
        word = line.strip()
        if line.startswith(" ") and word and not word.startswith("#"):
            found |= members(word) if word.startswith("@") else {word}
    return found


def calls():
    """What SystemCallFilter= leaves."""
    left = set()
    with open(UNIT) as f:
        for line in re.findall(r"^SystemCallFilter=(.*)$", f.read(), re.M):
            named = set()
            for word in line.lstrip("~").split():
                named |= members(word) if word.startswith("@") else {word}
            left = left - named if line.startswith("~") else left | named
    return left


def confine_and_exec(names, args):
    """In the child: this filter, then the program."""
    lib = ctypes.CDLL("libseccomp.so.2")
    lib.seccomp_init.restype = ctypes.c_void_p
    ctx = ctypes.c_void_p(lib.seccomp_init(EPERM))
    for name in names:
        nr = lib.seccomp_syscall_resolve_name(name.encode())
        if nr >= 0:
            lib.seccomp_rule_add(ctx, ctypes.c_uint32(ALLOW), nr, 0)
    if lib.seccomp_load(ctx):
        sys.exit("seccomp_load() failed")
    os.execvp(args[0], args)


class Manager:
    """The other end of sd_notify()."""

    def __init__(self, file):
        self.file, self.told = file, ""
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(file)
        self.socket.setblocking(False)

    def hears(self, word):
        with contextlib.suppress(BlockingIOError):
            while True:
                self.told += self.socket.recv(4096).decode() + "\n"
        if word not in self.told:
            return False
        self.told = ""
        return True


def service(conf, log, manager):
    """The recorder, started as the unit would."""
    if not shutil.which("systemd-analyze"):
        raise Skip("systemd-analyze is not installed: its groups of system calls are not known")
    bound = ",".join("+" + c.lower().removeprefix("cap_") for c in values("CapabilityBoundingSet"))
    args = ["unshare", "-m", "sh", "-c", MOUNTS, "sh", sys.executable, __file__, "--confined", ",".join(sorted(calls())),
            "setpriv", "--bounding-set", "-all," + bound, "--no-new-privs", FLIGHTREC, "record", "--config", conf]
    return subprocess.Popen(args, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                            env={**os.environ, "NOTIFY_SOCKET": manager.file})


def reload_as_unit(conf, pid):
    """ExecReload= in order, up to the first that fails, as systemd does: its exit status."""
    with open(UNIT) as f:
        lines = re.findall(r"^ExecReload=(.*)$", f.read(), re.M)
    check(lines, "the unit has no ExecReload=")
    for line in lines:
        line = line.replace("/usr/bin/flightrec", FLIGHTREC).replace("/etc/flightrec.conf", conf)
        status = subprocess.run(shlex.split(line), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                env={**os.environ, "MAINPID": str(pid)}).returncode
        if status:
            return status
    return 0


def capabilities(pid):
    with open(f"/proc/{pid}/status") as f:
        return int(re.search(r"CapEff:\s+(\w+)", f.read())[1], 16)


@test("as the unit confines it: records, takes a crash, runs the hook as another user, reloads, is taken over",
      own="what the unit leaves it is enough to begin one")
def confined():
    name, dir, told = founded(ATTENDED, lambda name: None), path("service"), path("service-hook")
    os.mkdir(dir)
    os.chmod(TMP, 0o711)
    with open(told, "w"):
        os.chmod(told, 0o666)
    conf = path("service.conf")
    with open(conf, "w") as f:
        f.write(f"[Session]\n{settings_of(name)}[Trigger]\nOn=crash:comm=frsv-*\nOn=oom\nOn=kernel\n"
                f"[Storage]\nDirectory={dir}\nKeepFree=0%\n"
                f"[Notify]\nJournal=no\nExec=echo $(id -un) $FLIGHTREC_PID >> {told}\n")
    crasher = program("frsv-crash", "deaths")
    log, manager = path("service.log"), Manager(path("service-notify"))

    def text():
        with open(log) as f:
            return f.read()

    def start(out):
        p = service(conf, out, manager)
        try:
            wait_for(lambda: p.poll() is not None or manager.hears("READY=1"), "it is ready")
            check(p.poll() is None, f"it ended: {text()}")
        except Failed:
            p.kill()
            raise
        return p

    def crash(nr):
        died = subprocess.Popen([crasher, "null"], cwd=TMP, stdout=subprocess.DEVNULL)
        died.wait()
        wait_for(lambda: len(glob.glob(f"{dir}/*-crash-frsv-crash-{died.pid}.flight")) == 1, lambda: f"snapshot {nr}: {text()}")
        wait_for(lambda: f"nobody {died.pid}" in open(told).read(), lambda: f"hook {nr}: {text()}")

    with open(log, "w") as out:
        p = start(out)
        try:
            crash(1)
            with open(conf) as f:
                good = f.read()
            with open(conf, "a") as f:
                f.write("Oh=crash\n")
            equal(reload_as_unit(conf, p.pid), 2, "exit status of a reload of a wrong file")
            with open(conf, "w") as f:
                f.write(good)
            equal(reload_as_unit(conf, p.pid), 0, "exit status of a reload")
            wait_for(lambda: "reloaded" in text() and manager.hears("READY=1"), lambda: f"the reload: {text()}")
            caps = capabilities(p.pid)
            equal(caps & ~0xC4010800E4, 0, f"capabilities beyond the unit's: {caps:x}")
            p.kill()
            p.wait()
            with open(log, "w"):
                pass
            with open(conf, "a") as f:
                f.write("[Trigger]\nOn=\nOn=crash:comm=frsv-*,cooldown=0\n")
            p = start(out)
            check("adopted" in text(), f"no take-over: {text()}")
            crash(2)
        finally:
            p.send_signal(signal.SIGTERM)
            p.wait()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--confined"]:
        confine_and_exec(sys.argv[2].split(","), sys.argv[3:])
    main()
