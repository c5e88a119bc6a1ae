# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Each call that may fail is made to fail, one after the other (shim.c). Whatever fails: no partial file under a final name,
older snapshots untouched, the session goes on recording, the message says what it was, and the next dump leaves nothing over."""
import contextlib
import errno
import hashlib
import mmap
import os
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "kernel"))
from frtest import (FLIGHTREC, TMP, Skip, check, equal, exists, fr, main, new_name, ended, path, run, session,  # noqa: E402
                    test, wait_for, written)

SHIM = os.environ["FR_FAULT_SHIM"]
LAYOUT = struct.Struct("16sIIiII")
SMALL = ("-p", "minimal", "-m", "512K", "--subbuf", "16K")
EACH = 20  # calls that are made to fail one by one, first and last; of those between, ever fewer


class Control:
    """What is to fail, in a file that the shim maps."""
    def __init__(self):
        self.path = path(f"control-{os.urandom(4).hex()}")
        with open(self.path, "wb") as f:
            f.write(bytes(4096))
        with open(self.path, "r+b") as f:
            self.map = mmap.mmap(f.fileno(), 4096)
        self.env = {**os.environ, "LD_PRELOAD": SHIM, "FAULT_CONTROL": self.path}

    def set(self, call="", nth=0, err=0, last=None):
        self.map[:LAYOUT.size] = LAYOUT.pack(call.encode(), nth, last or nth, err, 0, 0)

    def get(self):
        """Calls, and failed ones of them."""
        return LAYOUT.unpack(self.map[:LAYOUT.size])[4:]


def digest(file):
    with open(file, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def chosen(cnt):
    """Which of cnt calls: the first, the last, and ever fewer between."""
    nr, step, got = 1, 1.0, set(range(max(1, cnt - EACH // 2), cnt + 1))
    while nr <= cnt:
        got.add(int(nr))
        if nr > EACH:
            step *= 1.3
        nr += step
    return sorted(got)


class Place:
    """A directory with a snapshot in it, and a session."""
    def __init__(self, name, directory):
        self.name, self.dir, self.control = name, directory, Control()
        self.old = os.path.join(directory, "old.flight")
        fr("dump", "-n", name, "-o", self.old)
        self.digest = digest(self.old)
        self.new = os.path.join(directory, "new.flight")

    def dump(self, *fault, **kw):
        """A dump in which something fails; gives its process and how many calls failed."""
        self.control.set(*fault, **kw)
        p = subprocess.run([FLIGHTREC, "dump", "-n", self.name, "-o", self.new], env=self.control.env, stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120, errors="replace")
        return p, self.control.get()

    def judge(self, p, what, err, may_leave=False, says=True):
        """Is all as it must be after a dump in which something failed?"""
        what = f"{what}: exit status {p.returncode}: {p.stderr.strip()}"
        files = set(os.listdir(self.dir)) - {"old.flight"}
        check(p.returncode in (0, 1, 4), what)
        equal(digest(self.old), self.digest, f"{what}: the older snapshot")
        if p.returncode == 0:
            check("new.flight" in files, f"{what}: no file")
            fr("verify", self.new)
            os.unlink(self.new)
            files -= {"new.flight"}
        else:
            check(p.stderr.startswith("flightrec: "), f"{what}: no message")
            check(not says or os.strerror(err) in p.stderr, f"{what}: does not say {os.strerror(err)}")
        if not may_leave:
            equal(files, set(), f"{what}: left over")
        check("new.flight" not in files, f"{what}: a file that was not to be")

    def clean(self):
        """With nothing failing: a sound snapshot, nothing over, the session records."""
        p, _ = self.dump()
        equal(p.returncode, 0, f"dump: {p.stderr}")
        check("could not be read" not in p.stderr, p.stderr)
        fr("verify", self.new)
        os.unlink(self.new)
        equal(os.listdir(self.dir), ["old.flight"], "files")
        before = written(self.name)
        wait_for(lambda: written(self.name) > before, "recording goes on")


@contextlib.contextmanager
def place():
    with session(*SMALL) as name:
        directory = path(name)
        os.mkdir(directory)
        yield Place(name, directory)


def each(call, *errs, **kw):
    """Make each call of a dump fail, one by one."""
    with place() as at:
        _, (cnt, _) = at.dump(call)
        check(cnt or call in ("linkat", "ftruncate"), f"a dump does not call {call}")
        os.unlink(at.new)
        hit = failed = 0
        for err in errs:
            for nth in chosen(cnt):
                p, (_, hits) = at.dump(call, nth, err)
                hit += hits
                failed += p.returncode != 0
                at.judge(p, f"{call} {nth} of {cnt} gives {errno.errorcode[err]}", err, **kw)
        at.clean()
    return f"{cnt} calls, {hit} failed, {failed} of the dumps did"


@test("write fails: no space, I/O error")
def writes():
    return each("write", errno.ENOSPC, errno.EIO)


@test("write is short, or interrupted, each time: the file is whole")
def short():
    with place() as at:
        for err in (0, errno.EINTR):
            first = 1
            if err:  # every second call: interrupted for ever it could not end
                for nth in range(1, 12, 2):
                    p, (_, hits) = at.dump("write", nth, err)
                    equal(p.returncode, 0, f"interrupted: {p.stderr}")
                    at.judge(p, "interrupted", err)
            else:
                p, (_, hits) = at.dump("write", first, err, last=1 << 30)
                check(hits > 4, f"{hits} short writes")
                equal(p.returncode, 0, f"short writes: {p.stderr}")
                at.judge(p, "short writes", err)
        at.clean()


@test("fdatasync, fsync, renameat2 fail")
def sync():
    return "; ".join(each(call, errno.EIO, errno.ENOSPC) for call in ("fdatasync", "fsync", "renameat2"))


@test("renameat2 is not there: by a link, which fails too")
def no_rename():
    with place() as at:
        p, _ = at.dump("renameat2", 1, errno.EINVAL)
        equal(p.returncode, 0, f"by a link: {p.stderr}")
        at.judge(p, "by a link", errno.EINVAL)
        at.clean()


@test("open and openat fail: no descriptors, read-only")
def opens():
    return "; ".join(each(call, errno.EMFILE, errno.EROFS) for call in ("open", "openat"))


@test("unlinkat fails: what is left over goes with the next dump")
def unlinks():
    with place() as at:
        for call in ("fdatasync", "write"):
            at.dump(call)
            os.unlink(at.new)
            p, _ = at.dump(call, 1, errno.EIO)
            at.judge(p, call, errno.EIO)
        leftover = os.path.join(at.dir, ".new.flight.tmp-4000000")
        with open(leftover, "wb"):
            pass
        p, _ = at.dump("unlinkat", 1, errno.EROFS, last=9)
        at.judge(p, "unlinkat", errno.EROFS, may_leave=True)
        at.clean()


@test("memory: malloc and mmap fail")
def memory():
    return "; ".join(each(call, errno.ENOMEM) for call in ("malloc", "mmap"))


@test("locks and bpf() fail")
def kernel():
    return "; ".join((each("flock", errno.ENOLCK), each("bpf", errno.EPERM, says=False)))


if __name__ == "__main__":
    main()
