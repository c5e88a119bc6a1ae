# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Another user, without rights; processes of such a user that whoever looks at them waits for; and who is left behind by that."""
import contextlib
import os
import shutil
import signal
import stat
import subprocess
import tempfile
import threading

from frtest import FLIGHTREC, TMP, Skip, helper, path

NOBODY = 65534
AS_NOBODY = ("setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups")
STRANGER = (*AS_NOBODY, "unshare", "-Urm")


def fuse_device():
    """/dev/fuse as most systems have it, for everybody."""
    device = path("fuse")
    if not os.path.exists(device):
        os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(10, 229))
        os.chmod(device, 0o666)
        for dir in (TMP, os.path.dirname(device)):
            os.chmod(dir, 0o755)
    return device


def said_or_ended(p):
    """The first line of a process, "" if it ended instead. One that says nothing is ended."""
    limit = threading.Timer(120, p.kill)
    limit.start()
    try:
        return p.stdout.readline()
    finally:
        limit.cancel()


@contextlib.contextmanager
def stalling(mode, *under):
    """A process, of another user in a user namespace of its own, that whoever looks at it waits for (stall.c): its pid."""
    place = tempfile.mkdtemp(dir=os.path.dirname(fuse_device()))
    os.chmod(place, 0o777)
    program = path("frt-stall")
    if not os.path.exists(program):
        shutil.copy(helper("stall"), program)
        os.chmod(program, 0o755)
    p = subprocess.Popen([*(under or STRANGER), program, mode, fuse_device(), place], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        if not said_or_ended(p):
            raise Skip(f"no FUSE file system in a user namespace here: status {p.wait(120)}")
        yield p.pid
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(p.pid, signal.SIGKILL)
        p.stdin.close()
        p.stdout.close()
        p.wait(120)


def helpers():
    """Processes of this program that read for snapshots: pid: state. Other recorders on this host may be stalled as well."""
    got = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/stat") as f:
            text = f.read()
            if "(flightrec-look)" in text and os.path.realpath(f"/proc/{pid}/exe") == os.path.realpath(FLIGHTREC):
                got[int(pid)] = text.rsplit(")", 1)[1].split()[0]
    return got
