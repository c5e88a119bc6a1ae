# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Each call that may fail is made to fail, one after the other (shim.c); without FR_LONG=1 only some of each kind. Whatever fails: no partial file under a final name,
older snapshots untouched, the session goes on recording, the message says what it was, and the next dump leaves nothing over."""
import contextlib
import errno
import hashlib
import json
import mmap
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "kernel"))
from frtest import (FLIGHTREC, LIMIT_S, check, dump, ended, equal, exists, fr, fr_json, main, new_name, path, program, run, session,  # noqa: E402
                    status, test, wait_for, written)

SHIM = os.environ["FR_FAULT_SHIM"]
MAKE_STACKS = os.path.join(os.path.dirname(FLIGHTREC), "tests", "symbols", "make_stacks")
LAYOUT = struct.Struct("16sIIiII")
SMALL = ("-p", "minimal", "-m", "512K", "--subbuf", "16K")
LONG = os.environ.get("FR_LONG")  # all calls fail, not the first ones of each kind alone
EACH = 300  # calls that are made to fail one by one, first and last: all allocations of a dump; of those between, ever fewer


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


def tried(cnt):
    """Which of cnt calls fail: all; or the first, the last, and those between at distances that double."""
    return range(1, cnt + 1) if LONG else sorted({cnt, *(1 << i for i in range(cnt.bit_length()))} - {0})


def chosen(cnt):
    """Which of very many calls: the first, the last, and ever fewer between."""
    if not LONG:
        return tried(cnt)
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
        self.boot = fr_json("info", self.old)["boot_id"]
        self.new = os.path.join(directory, "new.flight")

    def dump(self, *fault, **kw):
        """A dump in which something fails; gives its process and how many calls failed."""
        self.control.set(*fault, **kw)
        p = subprocess.run([FLIGHTREC, "dump", "-n", self.name, "-o", self.new], env=self.control.env, stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=LIMIT_S, errors="replace")
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
            equal(fr_json("info", self.new)["boot_id"], self.boot, f"{what}: the boot it is of")
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


@test("renameat2 is not there: by a link, which fails too; fsync of a directory is not there: nothing is taken back")
def no_rename():
    with place() as at:
        for call in "renameat2", "fsync":
            p, (_, hits) = at.dump(call, 1, errno.EINVAL)
            equal((p.returncode, hits), (0, 1), f"{call}: {p.stderr}")
            at.judge(p, call, errno.EINVAL)
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


GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "files", "golden", "all.flight")
CONFIG = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "dist", "flightrec.conf")
READERS = ("report", "report --json", "replay --json --symbols", "replay --symbols --tier all -f cpu==0", "replay --count --pairs",
           "replay --gaps --json", "info", "verify", "incidents", "symbols", "profile", "profile --json", "profile --diff --since 2m",
           "export --to perfetto", "export --to folded", "export --to trace-cmd", "export --to html", "diff --json @ @",
           "stat --json --jobs 1 --by comm,cgroup count(),sum(latency),p99(latency),distinct(comm),last(comm) @")


def reading(control, argv):
    p = subprocess.run([FLIGHTREC, *argv], env=control.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, timeout=LIMIT_S)
    return p, control.get()


@test("memory: each allocation of what reads a snapshot fails: it says so and fails, or all is there")
def reading_memory():
    return f"{each_allocation(READERS, GOLDEN)} failures"


def library_and_stack():
    """A program's library with functions, and a snapshot with a stack in it."""
    lib, snap, text = path("reading.so"), path("reading.flight"), path("reading.c")
    with open(text, "w") as f:
        f.writelines(f"int function_{i}(void) {{ return {i}; }}\n" for i in range(9))
    run("gcc", "-shared", "-nostdlib", "-Wl,--build-id=0x0123456789abcdef", "-o", lib, text)
    symbols = run("nm", lib).stdout.split()
    at = 0x400000 + int(symbols[symbols.index("function_7") - 2], 16)
    with open(text, "w") as f:
        f.write(f"fact arch x86_64\ntask 100 100 prog\nmap 100 400000 410000 0 {lib} 0123456789abcdef\nstack 11 {at:x}\nsample 100 0 11\n")
    with contextlib.suppress(FileNotFoundError):  # of the test before
        os.unlink(snap)
    with open(text) as f:
        run(MAKE_STACKS, snap, stdin=f)
    return snap


@test("memory: each allocation of what reads a program's symbols fails: likewise")
def symbols_memory():
    snap = library_and_stack()
    check("function_7+0x0 (reading.so)" in fr("replay", snap).stdout, "the name is not there")
    return f"{each_allocation(('replay', 'symbols', 'export --to folded'), snap)} failures"


def each_allocation(commands, snap):
    control, done = Control(), 0
    for command in commands:
        argv = [snap if a == "@" else a for a in (command if "@" in command else command + " @").split()]
        if argv[0] in ("report", "replay", "export"):
            argv += ["--jobs", "1"]
        control.set("malloc")
        whole, (cnt, _) = reading(control, argv)
        check(whole.returncode == 0 and cnt > 20, f"{command}: {whole.returncode}, {cnt} allocations: {whole.stderr}")
        for nth in tried(cnt):
            control.set("malloc", nth, errno.ENOMEM)
            p, (_, hits) = reading(control, argv)
            what = f"{command}: allocation {nth} of {cnt} fails: exit status {p.returncode}: {p.stderr.decode(errors='replace').strip()}"
            equal(hits, 1, what)
            check(p.returncode in (0, 1), what)
            check(p.returncode == 0 or p.stderr.startswith(b"flightrec: "), f"{what}: no message")
            check(p.returncode or p.stdout == whole.stdout, f"{what}: something is missing")
            check(p.returncode or b"flightrec: out of memory" not in p.stderr, f"{what}: it failed, and ends as if it had not")
        done += len(tried(cnt))
    return done


WRITERS = ("cut -o % @", "cut --redact --redact-key tests/cut/run.sh -o % @", "merge -o % @", "merge -o % @ @", "view -o % @", "export --to ctf -o % @", "export --to perfetto -o % @",
           "export --to csv -o % @")


def made(file):
    """What a command has made: its bytes; of a directory, those of its files; of a snapshot its events, as its name is in it."""
    if os.path.isdir(file):
        return {f: digest(os.path.join(file, f)) for f in os.listdir(file) if f != "metadata"}
    if not os.path.exists(file):
        return None
    with open(file, "rb") as f:
        snapshot = f.read(16)[8:] == b"flight-1"
    return fr("replay", "--json", "--pos", "--tier", "all", file).stdout if snapshot else digest(file)


def each_read(control, call, argv, out, least=11, says=lambda p: p.stderr, may_warn=False):
    """
    Each such call of a command fails: it says why and fails, or all is there; or, where it may, it only says what is missing. How
    many failed.
    """
    def tell():
        if os.path.isdir(out):
            shutil.rmtree(out)
        elif os.path.exists(out):
            os.unlink(out)
        p, got = reading(control, argv)
        return p, got, made(out)

    command, done = " ".join(argv), 0
    control.set(call)
    whole, (cnt, _), file = tell()
    check(whole.returncode == 0 and cnt >= least, f"{command}: {whole.returncode}, {cnt} calls of {call}: {whole.stderr}")
    for nth in range(1, cnt + 1) if LONG else sorted({*tried(cnt), *range(max(1, cnt - 3), cnt)}):
        control.set(call, nth, errno.EIO)
        p, (_, hits), got = tell()
        what = f"{command}: {call} {nth} of {cnt} fails: exit status {p.returncode}: {p.stderr.decode(errors='replace').strip()}"
        equal(hits, 1, what)
        check(p.returncode in (0, 1, 3), what)
        why = os.strerror(errno.EIO).encode() in says(p)
        check(p.returncode == 0 or why, f"{what}: it does not say why")
        check(p.returncode or (p.stdout, got) == (whole.stdout, file) or may_warn and why, f"{what}: something is missing, and it ends as if not")
        done += 1
    return done


@test("each read of what reads a snapshot fails: it says so, and does not end as if all were there")
def reading_fails():
    control, out, done = Control(), path("reading-fails"), 0
    for command in READERS + WRITERS + ("top --once --size 100x40 @", "incidents --json @", "replay --on crash --json @"):
        argv = [GOLDEN if a == "@" else out if a == "%" else a for a in (command if "@" in command else command + " @").split()]
        if argv[0] in ("report", "replay", "export"):
            argv += ["--jobs", "1"]
        done += each_read(control, "pread", argv, out, says=lambda p, a=argv[0]: p.stderr + (p.stdout if a in ("verify", "top") else b""))
    return f"{done} failures"


def incidents_in(directory):
    """A journal of incidents, as it is saved there of a session in which a process has died: its name."""
    with session(*SMALL) as name:
        run(program("frt-read", "/bin/sh"), "-c", "kill -SEGV $$", status=None)
        fr("incidents", "-n", name, "-o", directory)
    check("frt-read" in fr("incidents", "-n", name, "-o", directory).stdout, "the journal has no incident")
    return name


@test("each read of a directory of snapshots, the incidents' journal, a crash dump, a program's symbols fails: likewise")
def other_reads():
    control, out, directory, cores = Control(), path("other-reads-out"), path("other-reads"), path("other-cores")
    for d in directory, cores:
        os.mkdir(d)
    for nr in range(3):
        shutil.copy(GOLDEN, os.path.join(directory, f"2026010{nr + 1}T000000Z-crash-a-{nr + 1}.flight"))
    name = incidents_in(directory)
    run("make", "-s", f"O={os.path.dirname(FLIGHTREC)}", f"{os.path.dirname(FLIGHTREC)}/tests/fuzz/make_cores")
    run(f"{os.path.dirname(FLIGHTREC)}/tests/fuzz/make_cores", cores)
    done = 0
    for command in "list", "list --json":
        done += each_read(control, "readdir", [*command.split(), "-o", directory], out, 4, may_warn=True)
        done += each_read(control, "pread", [*command.split(), "-o", directory], out)
    for call in "readdir", "pread":
        done += each_read(control, call, ["list", "--keep", os.path.join(directory, os.listdir(directory)[0])], out, call == "pread")
    for command in "incidents", "incidents --json":
        done += each_read(control, "pread", [*command.split(), "-n", name, "-o", directory], out, 1)
    done += each_read(control, "pread", ["recover", "-o", out, f"{cores}/whole"], out)
    return f"{done + unread_programs(control)} failures"


def unread_programs(control):
    """A program's file that cannot be read from some place on is neither another one, nor none, nor stripped."""
    snap, done = library_and_stack(), 0
    control.set("pread")
    whole, (cnt, _) = reading(control, ["symbols", "--json", snap])
    equal(json.loads(whole.stdout)["named"], 1, "named")
    for nth in range(1, cnt + 1):
        control.set("pread", nth, errno.EIO, last=1 << 30)
        p, _ = reading(control, ["symbols", "--json", snap])
        if p.returncode == 0:  # what is read of the snapshot was
            equal(json.loads(p.stdout)["missing"], os.strerror(errno.EIO), f"reads from {nth} of {cnt} on fail")
            done += 1
    check(done, "no read is one of the program")
    return done + unread_guesses(control)


def unread_guesses(control):
    """Likewise where only its build-id is known, and what was executed may be it."""
    snap, lib = library_and_stack(), path("reading.so")
    with open(path("guess.txt"), "w") as f:
        f.write(f"fact arch x86_64\ntask 100 100 prog\nexec 100 {lib}\nstack 11 400000\nids 11 0123456789abcdef:0\nsample 100 0 11\n")
    os.unlink(snap)
    with open(path("guess.txt")) as f:
        run(MAKE_STACKS, snap, stdin=f)

    def missing(*fault):
        control.set(*fault)
        p, (cnt, _) = reading(control, ["symbols", "--json", snap])
        return (json.loads(p.stdout)["missing"] if p.returncode == 0 else None), cnt  # else the snapshot was not read
    why, cnt = missing("pread")
    equal(why, None, "it is found")
    told = [missing("pread", nth, errno.EIO, 1 << 30)[0] for nth in range(1, cnt + 1)]
    told = [t for t in told if t is not None]
    check(told, "no read is one of a program")
    equal(set(told), {os.strerror(errno.EIO)}, "programs that could not be read")
    return len(told)


@test("readdir fails while a snapshot is taken: no ring is left out without a word")
def listing_fails():
    return each("readdir", errno.EIO)


@test("recorder: a look for hung tasks that fails is told once, and by status, and so is that it works again")
def blind():
    with daemon(rules=("hung>400ms",), socket="yes") as d:
        def problems():
            return [p["text"] for p in status(d.name)["problems"] if p["what"] == "blind"]

        top = f"/sys/fs/bpf/flightrec/{d.name}"
        pin = next(os.path.join(top, f) for f in os.listdir(top) if f.endswith("fr_hung_look"))
        equal(problems(), [], "problems")
        os.rename(pin, f"{top}/away")
        wait_for(problems, "status tells it")
        check(os.strerror(errno.ENOENT) in problems()[0], problems())
        looks = 3
        wait_for(lambda: "cannot look for hung tasks" in d.said(), "it is said")
        time.sleep(looks * 0.1)
        equal(d.said().count("cannot look for hung tasks"), 1, f"how often it is said: {d.said()}")
        os.rename(f"{top}/away", pin)
        wait_for(lambda: not problems(), "status tells that it works again")
        equal(d.said().count("hung tasks are looked for again"), 1, d.said())


def exporting(control, to, directory, *fault):
    """Its exit status, and the files that are there then."""
    control.set(*fault)
    p, _ = reading(control, ("export", "--to", to, "-o", f"{directory}/out", GOLDEN))
    return p, sorted(os.listdir(directory))


@test("top: a cause whose process dies, or cannot write, is not shown in part, and the screen says so")
def causes():
    control = Control()
    args = "top", "--once", "--panel", "cause", GOLDEN
    control.set()
    whole = reading(control, args)[0].stdout
    check(b"  verdict " in whole, whole)
    for nth in VERDICT_WRITES:
        for how in -signal.SIGKILL, errno.EIO:
            control.set("write", nth, how)
            p, _ = reading(control, args)
            equal(p.returncode, 1, f"write {nth}, {how}: {p.stderr}")
            check(b"The cause was not found: its process ended too early" in p.stdout and b"verdict" not in p.stdout, p.stdout)
            check(b"the cause was not found: its process ended too early" in p.stderr, p.stderr)


@test("doctor: what it cannot find out for want of memory is called that, and not what the kernel lacks")
def doctor():
    control, told = Control(), 0

    def grades():
        p = subprocess.run([FLIGHTREC, "doctor", "--json"], env=control.env, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                           timeout=LIMIT_S, check=False)
        return p, {c["what"]: c for c in json.loads(p.stdout)["checks"]} if p.stdout else {}

    control.set("malloc")
    p, sound = grades()
    cnt = control.get()[0]
    check(sound and cnt, f"doctor: {p.stderr}")
    those = [*range(1, 21), *range(21, cnt + 1, 40)] if LONG else tried(cnt)  # later ones are each tracepoint's, again and again
    for nth in those:
        control.set("malloc", nth, errno.ENOMEM)
        p, got = grades()
        worse = [c for what, c in got.items() if c["grade"] != sound[what]["grade"]]
        for c in worse:
            equal(c["cure"], "free some memory", f"allocation {nth} of {cnt}: {c}")
        check(got or "memory" in p.stderr, f"allocation {nth} of {cnt}: exit status {p.returncode}: {p.stderr}")
        told += bool(worse) or not got
    check(told, "no failed allocation shows")
    return f"{len(those)} of {cnt} allocations, {told} show"


VERDICT_WRITES = 1, 2  # of the process that finds a verdict, before its parent writes: that there is one, and the verdict


def of_verdict(to, call, nth):
    return (to, call) == ("html", "write") and nth in VERDICT_WRITES


@test("an export that is killed leaves nothing; one that fails tells it, and leaves nothing")
def exports():
    done = 0
    for to in "perfetto", "folded", "trace-cmd", "html":
        control, directory = Control(), path(f"export-{to}")
        os.mkdir(directory)
        for call in "write", "fdatasync", "linkat", "fsync":
            p, files = exporting(control, to, directory, call)
            equal((p.returncode, files), (0, ["out"]), f"{to}: {p.stderr}")
            whole, cnt = digest(f"{directory}/out"), control.get()[0]
            check(cnt > 0, f"{to} has no {call}")
            os.unlink(f"{directory}/out")
            for nth in tried(cnt):
                what = f"{to}: {call} {nth} of {cnt}"
                if of_verdict(to, call, nth):
                    for how in -signal.SIGKILL, errno.EIO:
                        p, files = exporting(control, to, directory, call, nth, how)
                        equal((p.returncode, files), (1, []), f"{what}: {p.stderr}")
                        check(b"the verdict was not found" in p.stderr, f"{what}: {p.stderr}")
                        done += 1
                    continue
                p, files = exporting(control, to, directory, call, nth, -signal.SIGKILL)
                equal(p.returncode, -signal.SIGKILL, f"{what} dies")
                equal(files, ["out"] if call == "fsync" else [], f"{what} dies")
                if files:
                    equal(digest(f"{directory}/out"), whole, f"{what} dies")
                    os.unlink(f"{directory}/out")
                p, files = exporting(control, to, directory, call, nth, errno.EIO)
                equal((p.returncode, files), (1, []), f"{what} fails: {p.stderr}")
                check(b"Input/output error" in p.stderr, f"{what} fails: {p.stderr}")
                done += 2
        done += unopened(control, to, directory, whole)
    return f"{done} failures"


@test("a directory is exported as a whole or not at all, also where renameat2, or fsync of a directory, is not there")
def directories():
    control, directory = Control(), path("export-directory")
    os.mkdir(directory)
    faults = [("renameat2", 1, errno.EINVAL, 0), *(("fsync", nth, errno.EINVAL, 0) for nth in (1, 2)), ("renameat2", 1, errno.EIO, 1),
              ("fdatasync", 1, errno.EIO, 1), *((call, nth, errno.EIO, 1) for call in ("fsync", "readdir") for nth in (1, 2))]
    for call, nth, err, failed in faults:
        what = f"{call} {nth} gives {errno.errorcode[err]}"
        p, files = exporting(control, "ctf", directory, call, nth, err)
        equal((p.returncode, files, control.get()[1]), (failed, [] if failed else ["out"], 1), f"{what}: {p.stderr}")
        if files:
            check("metadata" in os.listdir(f"{directory}/out"), what)
            shutil.rmtree(f"{directory}/out")
    exporting(control, "ctf", directory, "openat")
    shutil.rmtree(f"{directory}/out")
    cnt = control.get()[0]
    for nth in tried(cnt):
        p, files = exporting(control, "ctf", directory, "openat", nth, errno.EIO)
        equal(files, [] if p.returncode else ["out"], f"openat {nth} of {cnt}: {p.stderr}")
        if files:
            shutil.rmtree(f"{directory}/out")
    return f"{len(faults) + len(tried(cnt))} failures"


@test("a directory that a killed export left does not stand in the way of the next one of that pid, as containers have them")
def left_directory():
    directory = path("export-again")
    os.makedirs(f"{directory}/.out.tmp-1")
    run("unshare", "--fork", "--pid", FLIGHTREC, "export", "--to", "ctf", "-o", f"{directory}/out", GOLDEN)
    equal(sorted(os.listdir(directory)), [".out.tmp-1", "out"], "files")


def unopened(control, to, directory, whole):
    """Each openat fails, that of a file without a name too, which some file systems do not have: then it has a temporary one."""
    exporting(control, to, directory, "openat")
    os.unlink(f"{directory}/out")
    cnt = control.get()[0]
    for nth in tried(cnt):
        p, files = exporting(control, to, directory, "openat", nth, errno.EOPNOTSUPP)
        equal(files, [] if p.returncode else ["out"], f"{to}: openat {nth} of {cnt}: {p.stderr}")
        if files:
            equal(digest(f"{directory}/out"), whole, f"{to}: openat {nth} of {cnt}")
            os.unlink(f"{directory}/out")
    return len(tried(cnt))


# ---- a recorder that takes snapshots by itself: its writer process meets the failures ----

class Daemon:
    """A recorder under the shim, asked for snapshots by SIGUSR1."""
    def __init__(self, name, directory, process, log, control):
        self.name, self.dir, self.p, self.log, self.control = name, directory, process, log, control

    def files(self):
        with contextlib.suppress(FileNotFoundError):
            return {f for f in os.listdir(self.dir) if f.endswith(".flight") and not f.startswith(".")}
        return set()

    def said(self):
        with open(self.log, errors="replace") as f:
            return f.read()

    def rule(self):
        return status(self.name)["triggers"][0]

    def seen(self):
        return self.rule()["seen"]

    def decided(self):
        """Of how many requests is it known what became of them?"""
        return sum(self.rule()["verdicts"].values())

    def ask(self, *fault, **kw):
        """One snapshot; gives the file, or None and what was said."""
        wait_for(lambda: self.seen() == self.decided(), "what was asked before is over")
        before, decided = self.files(), self.decided()
        self.control.set(*fault, **kw)
        self.p.send_signal(signal.SIGUSR1)

        def over():  # a file that is there may go again: its directory is not synced yet
            check(self.p.poll() is None, f"{fault}: the recorder ended: {self.said()}")
            return self.decided() > decided
        wait_for(over, f"{fault}: a snapshot, or why there is none: {self.said()}")
        hits = self.control.get()[1]
        self.control.set()
        return self.files() - before, hits

    def settled(self):
        """The files, and how many were taken, at one moment: nothing is being taken, and nothing was meanwhile."""
        def look():
            rule, files = self.rule(), self.files()
            over = rule["seen"] == sum(rule["verdicts"].values()) == self.seen()
            return over and (files, rule["verdicts"]["taken"])
        return wait_for(look, "all that was asked is over")

    def clean(self, tries=1):
        """A snapshot with nothing failing. What was asked before may be taken only now, too: a file for each that was."""
        before, taken = self.settled()
        new, _ = self.ask()
        while not new and tries > 1:
            tries -= 1
            new, _ = self.ask()
        files, now = self.settled()
        new = files - before
        check(new, f"no file: {self.said()}")
        equal(len(new), now - taken, f"files: {self.said()}")
        for file in new:
            fr("verify", os.path.join(self.dir, file))
        wait_for(lambda: not [f for f in os.listdir(self.dir) if f.startswith(".")], "nothing is left over")


@contextlib.contextmanager
def daemon(directory=None, rules=("signal:cooldown=0",), socket="no"):
    name, control = new_name(), Control()
    directory = directory or path(name)
    os.makedirs(directory, exist_ok=True)
    conf, log = path(f"{name}.conf"), path(f"{name}.log")
    with open(conf, "w") as f:
        f.write("[Trigger]\n" + "".join(f"On={rule}\n" for rule in rules))
        f.write(f"StormCount=10000\n[Storage]\nDirectory={directory}\nKeepFree=0%\n"
                f"[Control]\nSocket={socket}\n[Notify]\nJournal=no\n")
    with ended(name), open(log, "w") as out:
        p = subprocess.Popen([FLIGHTREC, "record", "-n", name, *SMALL, "--config", conf], env=control.env,
                             stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        try:
            d = Daemon(name, directory, p, log, control)
            wait_for(lambda: p.poll() is not None or "armed" in d.said(), "it records")
            check(p.poll() is None, d.said())
            yield d
        finally:
            if p.poll() is None:
                p.kill()
            p.wait()


@test("recorder: write, fdatasync, fsync, renameat2 of its writer fail")
def daemon_faults():
    done = 0
    with daemon() as d:
        d.clean()
        old = {f: digest(os.path.join(d.dir, f)) for f in d.files()}
        for call in ("write", "fdatasync", "fsync", "renameat2"):
            for err in (errno.ENOSPC, errno.EIO):
                new, hits = d.ask(call, 1, err, last=1 << 30)
                check(hits, f"{call} was not called")
                check(not new, f"{call} fails, and there is {new}")
                check(os.strerror(err) in d.said(), f"{call}: does not say {os.strerror(err)}: {d.said()}")
                done += 1
            d.clean()
        for f, sum_ in old.items():
            equal(digest(os.path.join(d.dir, f)), sum_, f"{f}, an older snapshot")
    return f"{done} failures"


@test("recorder: memory fails here and there, and it lives on")
def daemon_memory():
    with daemon() as d:
        d.clean()
        for call in ("malloc", "mmap"):
            for nth in (1, 2, 3, 5, 8, 13, 21, 34):
                d.control.set(call, nth, errno.ENOMEM)
                d.p.send_signal(signal.SIGUSR1)
                wait_for(lambda n=nth: d.control.get()[0] >= n or d.p.poll() is not None or quiet(d), "a snapshot is tried")
                d.control.set()
                check(d.p.poll() is None, f"{call} {nth} fails, and the recorder ended: {d.said()}")
        d.clean(tries=3)  # what was asked last may be over only now


def quiet(d):
    """Nothing more is called: the snapshot was over before."""
    cnt = d.control.get()[0]
    time.sleep(0.3)
    return d.control.get()[0] == cnt


@contextlib.contextmanager
def tmpfs(size):
    directory = path(new_name())
    os.mkdir(directory)
    run("mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", directory)
    try:
        yield directory
    finally:
        run("umount", "-l", directory)


@test("recorder: a disk that is full, read-only, gone, and there again")
def disk():
    with tmpfs("8m") as directory, daemon(directory) as d:
        for _ in range(2):
            d.clean()
        old = {f: digest(os.path.join(d.dir, f)) for f in d.files()}
        for f in old:  # of others, the oldest leaves: tests/kernel/t_storage.py
            fr("list", "--keep", os.path.join(d.dir, f))
        run("dd", "if=/dev/zero", f"of={directory}/full", "bs=4096", status=None)
        before = written(d.name)
        new, _ = d.ask()
        check(not new, f"no space, and there is {new}")
        equal([f for f in os.listdir(directory) if f.startswith(".")], [], "partial files")
        st = status(d.name)
        check({"space", "failed", "quota"} & {p["what"] for p in st["problems"]}, f"status says nothing of it: {st['problems']}")
        wait_for(lambda: written(d.name) > before, "recording goes on")
        equal(set(old) - d.files(), set(), "older snapshots that are gone")
        os.unlink(f"{directory}/full")
        d.clean()
        run("mount", "-o", "remount,ro", directory)
        new, _ = d.ask()
        check(not new, f"read-only, and there is {new}")
        run("mount", "-o", "remount,rw", directory)
        d.clean()
        for f, sum_ in old.items():
            equal(digest(os.path.join(d.dir, f)), sum_, f"{f}, an older snapshot")
    return None


@test("recorder: its directory vanishes, and is there again")
def vanished():
    with daemon() as d:
        d.clean()
        shutil.rmtree(d.dir)
        before = written(d.name)
        said = len(d.said())
        d.ask()
        check(os.path.isdir(d.dir) or "cannot" in d.said()[said:], f"no directory, and nothing is said: {d.said()}")
        check(d.p.poll() is None, d.said())
        wait_for(lambda: written(d.name) > before, "recording goes on")
        os.makedirs(d.dir, exist_ok=True)
        d.clean()


HZ = 4000  # a watch's
WATCHABLE = ("-e", "softirq")  # with the default profile, what a watch needs


def check_rate(name, hz, what):
    """Samples are taken, and no more of them than at twice this rate: that of a watch is forty times as much."""
    taken = lambda: status(name)["samples"]["taken"]
    begin, before = time.monotonic(), taken()
    time.sleep(0.2)
    after = wait_for(lambda: (now := taken()) > before and now, f"{what}: a sample")
    most = os.cpu_count() * (2 * hz * (time.monotonic() - begin) + 1)  # where cycles are counted, the rate is only approached
    check(after - before <= most, f"{what}: at most {most:.1f} samples, saw {after - before}")


@test("a watch that dies, or fails, while it raises the rate of samples: it is as before on all CPUs, and the next watch begins")
def rates():
    control, cpus = Control(), os.cpu_count()
    with session(*WATCHABLE) as name:
        @contextlib.contextmanager
        def watch():
            p = subprocess.Popen([FLIGHTREC, "watch", "-n", name, "--hz", str(HZ), "--json"], env=control.env, text=True,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            with p:
                try:
                    yield p
                finally:
                    p.kill()

        def marks():
            return [e for e in os.listdir(f"/sys/fs/bpf/flightrec/{name}") if e.startswith("asked-")]

        own = status(name)["cpu_profile"]["hz"]
        for err in (-signal.SIGKILL, errno.EMFILE):
            for nth in range(1, cpus + 1):
                what = f"error {err} at CPU {nth} of {cpus}"
                control.set("perf_event", nth, err)
                with watch() as p:
                    begin = p.stdout.readline()
                    equal(control.get()[1], 1, f"{what}: calls that failed")
                    if err == errno.EMFILE:
                        equal(json.loads(begin)["sample_hz"], own, f"{what}: rate that the watch has")
                        check_rate(name, own, f"{what}, beside the watch")
                        p.send_signal(signal.SIGINT)
                    _, err_text = p.communicate(timeout=LIMIT_S)  # of its keeper, too
                equal(p.returncode, err if err < 0 else 0, f"{what}: exit status; {err_text}")
                check(err < 0 or os.strerror(err) in err_text, f"{what}: {err_text}")
                wait_for(lambda: not marks(), f"{what}: the rate is put back")
                check_rate(name, own, f"{what}, afterwards")
        control.set()
        with watch() as p:
            equal(json.loads(p.stdout.readline())["sample_hz"], HZ, "rate of a watch after these")
            p.send_signal(signal.SIGINT)
            p.communicate(timeout=LIMIT_S)
        equal((p.returncode, marks(), status(name)["cpu_profile"]["hz"]), (0, [], own), "exit status, marks and rate at the end")


@test("a watch that could not be told to end does not begin: it says so")
def deaf():
    control = Control()
    with session(*WATCHABLE) as name:
        control.set("signalfd", 1, errno.EMFILE)
        p = subprocess.run([FLIGHTREC, "watch", "-n", name, "--duration", "3s"], env=control.env, stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=LIMIT_S)
        equal((p.returncode, control.get()[1]), (1, 1), f"exit status, calls that failed: {p.stderr}")
        check("signalfd: Too many open files" in p.stderr, p.stderr)


@test("a watch without memory says that, and not that the session lacks something")
def short_watch():
    control = Control()
    with session(*WATCHABLE) as name:
        def watch():
            return subprocess.run([FLIGHTREC, "watch", "-n", name, "--duration", "1ms"], env=control.env, text=True, timeout=LIMIT_S,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        control.set("malloc")
        p = watch()
        check(p.returncode == 0 and "does not record" not in p.stderr, f"as it is: {p.returncode}, {p.stderr}")
        cnt = min(control.get()[0], EACH)
        for nth in tried(cnt):
            control.set("malloc", nth, errno.ENOMEM)
            p = watch()
            check("does not record" not in p.stderr, f"allocation {nth} of {cnt} fails: {p.returncode}, {p.stderr}")
            check(p.returncode in (0, 1), f"allocation {nth} of {cnt} fails: {p.returncode}, {p.stderr}")
            check(p.returncode == 0 or p.stderr.startswith("flightrec: "), f"allocation {nth} of {cnt} fails: no message: {p.stderr}")
    return f"{len(tried(cnt))} failures"


@test("memory: each allocation of what asks a session, or is to begin one, fails: it says so and fails")
def asking_memory():
    control, done = Control(), 0
    with session(*SMALL) as name:
        commands = (("status", "-n", name), ("stop", "-n", new_name()), ("reload", "-n", name), ("record", "-n", name, "-p", "full"),
                    ("record", "--check-config", "--config", CONFIG), ("record", "--config", "/none"))
        for argv in commands:
            control.set("malloc")
            whole, (cnt, _) = reading(control, argv)
            for nth in tried(min(cnt, EACH)):
                control.set("malloc", nth, errno.ENOMEM)
                p, _ = reading(control, argv)
                what = f"{' '.join(argv)}: allocation {nth} of {cnt} fails: exit status {p.returncode}: {p.stderr}"
                check(p.returncode in (whole.returncode, 1), what)
                check(p.returncode == 0 or p.stderr.startswith(b"flightrec: "), f"{what}: no message")
            done += len(tried(min(cnt, EACH)))
    return f"{done} failures"


@test("recorder: a snapshot for which no name is free has failed, is told so, and holds back none that comes later")
def nameless():
    file = program("frt-nameless", "/bin/sh")
    with daemon(rules=("signal:cooldown=1h,max=1/1h", "crash:comm=frt-nameless,cooldown=1h,max=1/1h")) as d:
        def crash():
            run(file, "-c", "kill -SEGV $$", status=None)

        def verdicts():
            rules = status(d.name)["triggers"]
            for r in rules:
                equal(sum(r["verdicts"].values()), r["seen"], f"what became of {r}")
            return [{what: cnt for what, cnt in r["verdicts"].items() if cnt} for r in rules]

        def decided(cnt):
            return lambda: sum(sum(r["verdicts"].values()) for r in status(d.name)["triggers"]) == cnt or d.p.poll() is not None

        d.control.set("access", 1, 0, last=1 << 30)
        d.p.send_signal(signal.SIGUSR1)
        crash()
        wait_for(decided(2), f"both are decided: {d.said()}")
        d.control.set()
        equal(verdicts(), [{"failed": 1}] * 2, "verdicts")
        equal(d.files(), set(), "snapshots")
        equal(d.said().count("cannot be named"), 2, d.said())
        d.p.send_signal(signal.SIGUSR1)
        crash()
        wait_for(decided(4), f"both are taken: {d.said()}")
        equal(verdicts(), [{"failed": 1, "taken": 1}] * 2, "verdicts")
        equal(len(d.files()), 2, "snapshots")
        file = dump(d.name)
    marks = [e for e in map(json.loads, fr("replay", "--json", "--life", file).stdout.splitlines()) if e["event"] == "trigger"]
    for reason in "signal", "crash":  # taken, failed in spite of it, as the writer finds out; and taken; bpf/alert.h
        equal([e["verdict"] for e in marks if e["reason"] == reason], [0, 8, 0], f"marks of {reason}")


@test("a recorder that is killed between two rules' decisions about one moment: the next one counts each rule's once")
def killed_deciding():
    file = program("frt-between", "/bin/sh")
    first = ["crash:comm=frt-between,exe=/not/this", "crash:comm=frt-between,cooldown=0s"]  # filtered; or a snapshot is granted
    for before, verdict in zip(first, ("filtered", "taken")):
        asks = "crash:comm=frt-between,cgroup=/not/this"  # for the cgroup's path, by a helper, and is killed on the way
        with daemon(rules=(before, asks)) as d:
            d.control.set("pipe2", 1, -signal.SIGKILL)
            run(file, "-c", "kill -SEGV $$", status=None)
            equal(d.p.wait(LIMIT_S), -signal.SIGKILL, f"exit status: {d.said()}")
            equal(d.control.get()[1], 1, "deaths in pipe2")
            d.control.set()
            p = subprocess.Popen(d.p.args, env=d.control.env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                def verdicts():
                    rules = {r["rule"]: r for r in status(d.name)["triggers"]}
                    return [{v: cnt for v, cnt in rules[rule]["verdicts"].items() if cnt} for rule in (before, asks)]

                wait_for(lambda: all(verdicts()) or p.poll() is not None, f"both rules' verdicts: {status(d.name)['triggers']}")
                p.send_signal(signal.SIGTERM)
                equal(p.wait(LIMIT_S), 0, "exit status of the next")
                equal(verdicts(), [{verdict: 1}, {"filtered": 1}], "verdicts")
                equal(len(d.files()), verdict == "taken", "snapshots")
            finally:
                if p.poll() is None:
                    p.kill()
                p.wait()


def calling(name):
    """A program that calls a function of its own, fr_called, nine times, built anew under this name."""
    file, text = path(name), path(f"{name}.c")
    with open(text, "w") as f:
        f.write("#include <flightrec_mark.h>\n__attribute__((noinline)) int fr_called(volatile int *n) { return ++*n; }\n"
                "int main(void) { volatile int n = 0; while (n < 9) fr_called((int *)&n); flightrec_mark(\"done\"); return 0; }\n")
    # an endbr64 at its begin would be an instruction behind which no row begins
    plain = ("-fcf-protection=none",) if os.uname().machine == "x86_64" else ()
    run("gcc", "-O1", "-g", *plain, "-Iuser/lib", "-o", file, text)
    return file


@test("another file has the name of a probed program before the kernel is told of it: the one that was looked at is probed")
def renamed_program():
    control, file, kept, name = Control(), calling("frt-renamed"), path("frt-kept"), new_name()
    os.link(file, kept)
    with ended(name):
        control.set("perf_event", 1, -signal.SIGSTOP)
        p = subprocess.Popen([FLIGHTREC, "record", "-n", name, *SMALL, "-o", path(""), "--unattended", "-e", f"uprobe:{file}:fr_called"], env=control.env,
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        _, how = os.waitpid(p.pid, os.WUNTRACED)
        check(os.WIFSTOPPED(how), f"it stands still before its first probe: {how}")
        shutil.copy("/bin/true", f"{file}.new")
        os.rename(f"{file}.new", file)
        control.set()
        p.send_signal(signal.SIGCONT)
        said = p.communicate(timeout=LIMIT_S)[1].decode()
        equal(p.returncode, 0, f"record: {said}")
        run(file)
        run(kept)
        calls = fr("replay", "--json", "-f", 'event == "uprobe:frt_renamed__fr_called"', dump(name)).stdout.splitlines()
        equal(len(calls), 9, "calls")


@test("each read of a program's file fails: its functions and marks are not listed in part, nor said not to be there, and no place in it is recorded")
def unread_places():
    control, file, done = Control(), calling("frt-unread"), 0
    inner = re.findall(r"^ *([0-9a-f]+):\t", run("objdump", "-d", "--disassemble=main", file).stdout, re.M)
    inner = int(inner[1], 16) - int(inner[0], 16)
    for places in f"uprobe:{file}:*", f"usdt:{file}:*":
        done += each_read(control, "pread", ["events", places], path("none"), 3)
    for place in f"uprobe:{file}:fr_called", f"uprobe:{file}:main+{inner}", f"usdt:{file}:flightrec:mark", f"mark:{file}":
        argv = ["record", "-n", new_name(), *SMALL, "--unattended", "-e", place, "-e", "uprobe:/none:main"]
        control.set("pread")
        whole, (cnt, _) = reading(control, argv)
        check(b"/none: No such file" in whole.stderr, f"{place} is found: {whole.stderr}")
        for nth in range(1, cnt + 1):
            control.set("pread", nth, errno.EIO, last=1 << 30)
            p, _ = reading(control, argv)
            check(p.returncode == 1 and os.strerror(errno.EIO).encode() in p.stderr, f"{place}: from read {nth} of {cnt} on: {p.returncode} {p.stderr}")
            done += 1
    return f"{done} failures"


@test("record -- COMMAND: each pipe and pair of sockets fails: what is not recorded does not begin, what begins is recorded to its end")
def unrecorded_command():
    control, name, ran, refused = Control(), new_name(), path("ran"), []

    def record(call, nth=0):
        control.set(call, nth, errno.EMFILE)
        p = subprocess.run([FLIGHTREC, "record", "-n", name, *SMALL, "-o", path(""), "--", "touch", ran], env=control.env, text=True,
                           timeout=LIMIT_S, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        what = f"{call} {nth} fails: exit status {p.returncode}: {p.stderr}"
        equal(os.path.exists(ran), p.returncode == 0, f"it ran, {what}")
        check(not exists(name), f"the session is left, {what}")
        if p.returncode:
            check(os.strerror(errno.EMFILE) in p.stderr, what)
            refused.append(call)
        else:
            os.unlink(ran)

    with ended(name):
        for call in "pipe2", "socketpair":
            record(call)
            for nth in range(1, control.get()[0] + 1):
                record(call, nth)
    equal(set(refused), {"pipe2", "socketpair"}, "refused")
    return f"{len(refused)} refused"


if __name__ == "__main__":
    main()
