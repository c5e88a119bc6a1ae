#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Recordings that are refused while they begin: for want of open files, of rights, of what a container lacks, or for a wrong configuration.
Nothing is loaded into the kernel, and no session is left.

refused.py FLIGHTREC files|statuses|container: of which it is to be. 77: not as this user, or on this machine.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from cases import LIMIT_S  # noqa: E402

FLIGHTREC, SESSIONS = sys.argv[1], "/sys/fs/bpf/flightrec"
NAME = f"frcli-{os.getpid()}"
MINIMAL = ("-p", "minimal", "-m", "2M")
NO_BPF = ("setpriv", "--inh-caps=-all", "--bounding-set=-bpf,-perfmon,-sys_admin")
NO_CAPS = ("setpriv", "--bounding-set", "-all", "--inh-caps", "-all")
CONTAINER_CAPS = ("setpriv", "--bounding-set", "-all,+bpf,+perfmon", "--inh-caps", "-all")


def check(ok, text):
    if not ok:
        sys.exit(text)


def run(*args, status=None):
    p = subprocess.run(args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=LIMIT_S, check=False)
    check(status in (None, p.returncode), f"{args}: exit status {p.returncode}, not {status}: {p.stdout}{p.stderr}")
    return p


def nothing_is_left(of):
    check(not os.path.exists(f"{SESSIONS}/{NAME}"), f"{of}: a directory is left")
    run(FLIGHTREC, "status", "-n", NAME, status=4)


def files(_dir):
    """One line, with the cure."""
    for most in (4, 6, *range(5, 45, 3)):
        for argv in (("record", "--unattended", *MINIMAL), ("watch", "--duration", "1ms")):
            of = f"{argv[0]} with {most} open files"
            got = run("prlimit", f"--nofile={most}", FLIGHTREC, *argv, "-n", NAME)
            check(got.returncode, f"{of}: it began")
            check(re.fullmatch(r"flightrec: [^\n]*(Too many open files|open files, more than)[^\n]*ulimit -n[^\n]*\n", got.stderr),
                  f"{of}: exit status {got.returncode}: {got.stderr}")
            nothing_is_left(of)


def statuses(dir):
    """What will be no different the next time has a status of its own: a kernel that refuses, a wrong file; not what may pass."""
    conf = f"{dir}/conf"
    for text, under, want in (("", NO_BPF, 6), ("[Session]\nMemory=none\n", (), 2), ("[Notify]\nExec=true\nExecUser=nobody-here\n", (), 2),
                              ("", ("prlimit", "--nofile=20"), 1)):
        with open(conf, "w", encoding="ascii") as f:
            f.write(f"[Storage]\nDirectory={dir}/snapshots\n{text}")
        got = run(*under, FLIGHTREC, "record", "-n", NAME, "--config", conf, status=want)
        check(got.stderr.startswith("flightrec: "), got.stderr)
        nothing_is_left(under)


def in_mounts(*commands):
    """Runs what follows with mounts of its own, changed so."""
    return "unshare", "-m", "sh", "-c", " && ".join([*commands, 'exec "$@"']), "sh"


def container(dir):
    """doctor and record name it, and its cure."""
    for before, what, found, word in (
            (NO_CAPS, "permission", "root without capabilities", "CAP_BPF and CAP_PERFMON"),
            (NO_CAPS, None, None, "seccomp in a container"),
            (in_mounts("mount -t tmpfs none /sys/kernel/btf"), "type information (BTF)", "No such file or directory",
             "-v /sys/kernel/btf:/sys/kernel/btf"),
            (("unshare", "-Ur"), "permission", "of a user namespace", "outside of user namespaces"),
            ((*in_mounts("mount -t tmpfs none /sys/fs/bpf"), *CONTAINER_CAPS), "bpffs at /sys/fs/bpf", "no", "-v /sys/fs/bpf:/sys/fs/bpf"),
            (in_mounts("mount -t bpf none /sys/fs/bpf", "mount -o remount,bind,ro /sys/fs/bpf"), "bpffs at /sys/fs/bpf", "Read-only file system",
             "-v /sys/fs/bpf:/sys/fs/bpf"),
            (("sh", "-c", 'ulimit -n 40; exec "$@"', "sh"), None, None, "ulimit -n")):
        if before[:2] == ("unshare", "-Ur") and run(*before, "true").returncode:
            continue  # user namespaces may be forbidden, or not be there
        if what:
            got = json.loads(run(*before, FLIGHTREC, "doctor", "--json", status=1).stdout)
            fatal = {c["what"]: c["found"] for c in got["checks"] if c["grade"] == "fatal"}
            check((got["able"], fatal.get(what)) == (False, found), f"{before}: doctor: {got['able']}, {fatal}")
        got = run(*before, FLIGHTREC, "record", "-n", NAME, "-o", dir, "--unattended", *MINIMAL)
        check(got.returncode and got.stderr.startswith("flightrec: ") and word in got.stderr, f"{before}: '{word}' is not in: {got.stderr}")
        nothing_is_left(before)
    check(json.loads(run(*CONTAINER_CAPS, FLIGHTREC, "doctor", "--json", status=0).stdout)["able"], "able with what dist/kubernetes.yaml gives")


def cannot(why):
    print(why)
    sys.exit(77)


if os.geteuid():
    cannot("a recording begins as root")
if not os.path.exists("/sys/kernel/btf/vmlinux"):
    cannot("nothing can be recorded here: there is no type information")
with tempfile.TemporaryDirectory() as tmp:
    try:
        {"files": files, "statuses": statuses, "container": container}[sys.argv[2]](tmp)
    finally:
        if os.path.exists(f"{SESSIONS}/{NAME}"):
            run(FLIGHTREC, "stop", "-n", NAME)
