# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Arguments of system calls in words: strace has the same ones of the same calls."""
import json
import os
import platform
import re
import shutil
import subprocess

from frtest import CALLS, Skip, check, dump, equal, fr, fr_json, helper, main, path, program, shared, snapshots, test, wait_for
from recorder import attached

TABLE = "user/base/schema/call_words.def"
CALLS_OF = {"x86_64": "user/base/schema/syscalls_x86_64.def", "aarch64": "user/base/schema/syscalls_aarch64.def"}
MARK = 1001
NOBODY, NO_FD = 0x7ffffff0, 0xffffffff  # a process and a descriptor that nobody has

# What makes a call fail before it does anything, whatever the argument in question is; the others are 0.
HARMLESS = {"pid": NOBODY, "upid": NOBODY, "tgid": NOBODY, "pid1": NOBODY, "pid2": NOBODY, "pidfd": NO_FD, "fd": NO_FD, "epfd": NO_FD,
            "olddfd": NO_FD, "newdfd": NO_FD, "dfd": NO_FD, "oldfd": NO_FD, "ufd": NO_FD, "fs_fd": NO_FD, "from_dfd": NO_FD, "to_dfd": NO_FD,
            "fdin": NO_FD, "fdout": NO_FD, "fd_in": NO_FD, "fd_out": NO_FD, "fanotify_fd": NO_FD, "mountdirfd": NO_FD, "ruleset_fd": NO_FD,
            "who": NOBODY, "shmid": NO_FD, "semid": NO_FD, "msqid": NO_FD}
# Those that would do something all the same, or change this process.
LEFT_OUT = set("""arch_prctl bpf clone exit exit_group finit_module io_uring_register keyctl membarrier mlockall personality prctl ptrace
    reboot ioprio_set msgget rseq seccomp setpriority set_mempolicy setns swapon syslog unshare""".split())


def signatures():
    """{signature: ([(argument, kind, set)], {(set of a cause, its value): ...})}, {set: {word: value}}, [requests of ioctl()]"""
    words, calls, requests = {}, {}, []
    for line in open(TABLE):
        macro, _, rest = line.strip().rstrip(")").partition("(")
        what = rest.split(", ")
        if macro == "WORDS":
            words[what[0]] = current = {}
        elif macro == "WORD":
            current[what[0]] = int(what[1], 16)
        elif macro == "REQUEST":
            requests.append(int(what[1], 16))
        elif macro == "SIGNATURE":
            calls[what[0]] = args, by = [], []
        elif macro == "ARG":
            args.append(what)
        elif macro == "BY":
            by.append((int(what[0]), int(what[1], 16), int(what[3]), what[5]))
    return calls, words, requests


def load():
    """Calls, [(number, name, [arguments])]: each word of each argument, all words of it that are bits, and pairs of words that depend
    on another argument."""
    calls, words, requests = signatures()
    out = []
    for line in open(CALLS_OF[platform.machine()]):
        if not line.startswith("SYSCALL("):
            continue
        nr, name, cnt, signature = line.strip()[8:-1].split(", ")
        if signature == "unknown" or name in LEFT_OUT:
            continue
        args, by = calls[signature]
        plain = [HARMLESS.get(a, 0) for a, _, _ in args]

        def put(*values):
            out.append((int(nr), name, [dict(values).get(i, v) for i, v in enumerate(plain)]))

        for i, (arg, kind, of) in enumerate(args):
            values = list(words.get(of, {}).values())
            for v in values:
                put((i, v))
            if kind == "FLAGS":
                bits = [v for v in values if bin(v).count("1") == 1]
                put((i, sum(set(bits))))
                put((i, 0x40000000 | (values[0] if values else 0)))
            if kind == "SIGNAL":
                for v in range(1, 32):
                    put((i, v))
            if kind == "IOCTL":
                for v in requests:
                    put((i, v))
        for cause, value, target, of in by:
            for v in words.get(of, {}).values():
                put((cause, value), (target, v))
    return out


def words_in(text):
    """FLAG_WORDS, signals and requests in what either prints of arguments. The sizes of huge pages, which strace has as numbers,
    are left out."""
    text = re.sub(r"/\*.*?\*/|\"[^\"]*\"|\d+<<M.._HUGE_SHIFT|M.._HUGE_\d+[KMG]B", "", text)
    return set(re.findall(r"\b_*[A-Z][A-Z0-9]*(?:_[A-Z0-9_]+)\b|\b(?:SIG|TC|FIO|SIOC|TIOC|BLK|W)[A-Z0-9]+\b", text))


def compare(calls, ours, theirs):
    """What differs. The recording may have more words only where strace has a number; strace, only words that the table lacks."""
    words = signatures()[1]
    known, wrong, same = {w for of in words.values() for w in of}, [], 0
    for (_, call, _), a, b in zip(calls, ours, theirs):
        if b.startswith("syscall_"):  # a call that strace does not know
            continue
        text = b.rpartition(" = ")[0].partition("(")[2]
        mine, said = words_in(a), words_in(text)
        missing = said & known - mine if call != "ioctl" else said - mine if mine and not mine & said else set()
        if missing or mine - said and not re.search(r"\?\?|0x", text):
            wrong.append(f"{call}: more {sorted(mine - said)}, missing {sorted(missing)}\n    {a.strip()}\n    {b}")
        same += mine == said
    check(same > len(calls) * 3 / 4, f"only {same} of {len(calls)} calls have the same words")
    return wrong


@test("strace and the recording have the same words of the same calls")
def same_words():
    if platform.machine() not in CALLS_OF:
        raise Skip("no table of this machine's calls")
    if not shutil.which("strace"):
        raise Skip("no strace")
    calls, name = load(), shared(*CALLS)
    log, given = path("strace.log"), path("calls")
    with open(given, "w") as f:
        for nr, _, args in calls:
            print(" ".join(f"{v:x}" for v in [nr, *args, *[0] * (6 - len(args))]), file=f)
    with open(given) as f:
        p = subprocess.run(["strace", "-o", log, "-I1", program("frt-words", "words")], stdin=f, stderr=subprocess.PIPE, text=True)
    equal(p.returncode, 0, f"exit status: {p.stderr}")
    file = dump(name)
    lines = fr("replay", "-f", "event == sys_enter && comm == \"frt-words\"", file).stdout.splitlines()
    ours = [line.split("sys_enter", 1)[1] for line in lines]
    ours = ours[next(i for i, line in enumerate(ours) if f"id={MARK} " in line) + 1:][:len(calls)]
    theirs = [line for line in open(log, errors="replace").read().splitlines() if re.match(r"\w+\(", line)]
    theirs = theirs[next(i for i, line in enumerate(theirs) if line.startswith(f"syscall_{MARK:#x}(")) + 1:][:len(calls)]
    equal((len(ours), len(theirs)), (len(calls), len(calls)), "calls seen")
    wrong = compare(calls, ours, theirs)
    check(not wrong, f"{len(wrong)} of {len(calls)} calls have other words:\n" + "\n".join(wrong[:20]))


# Calls that are given paths, names and addresses: whatever becomes of them, and what this program does by itself.
PATHS = r"""
import ctypes, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
def call(nr, *args):
    libc.syscall(ctypes.c_long(nr), *[ctypes.c_char_p(a) if isinstance(a, bytes) else ctypes.c_void_p(a) for a in args])
nr = {line.split(", ")[1]: int(line[8:].split(",")[0]) for line in open(sys.argv[1]) if line.startswith("SYSCALL(")}
at = 2**64 - 100
long = b"/frt-" + b"l" * 300
call(nr["openat"], at, "/frt-\u00fc\x1b[31m\n\\x41".encode() + b"\xff", 0, 0)
call(nr["openat"], at, long, 0, 0)
call(nr["openat"], at, b"/frt-" + b"e" * 121, 0, 0)
call(nr["openat"], at, b"/frt-" + b"f" * 122, 0, 0)
call(nr["openat"], at, b"", 0, 0)
call(nr["openat"], at, 1, 0, 0)
call(nr["newfstatat"], at, 0, 0, 0)
call(nr["renameat2"], at, b"/frt-old", at, b"/frt-new", 0)
call(nr["linkat"], at, b"/frt-old", at, long, 0)
call(nr["symlinkat"], b"to", at, b"/frt/new")
call(nr["symlinkat"], b"to", at, 4)
call(nr["mkdirat"], at, b"/frt/dir", 0)
call(nr["unlinkat"], at, b"/frt/file", 0)
call(nr["statx"], at, b"/frt-statx", 0, 0, 0)
call(nr["setxattr"], b"/frt-file", b"user.frt", b"value", 5, 0)
call(nr["mount"], b"frt-what", b"/frt-where", b"none", 0, 0)
call(nr["umount2"], b"/frt-where", 0)
call(nr["execve"], b"/frt-program", 0, 0)
call(nr["chdir"], b"/frt-dir")
call(nr["memfd_create"], b"frt-memory", 0xffff)
for family, address in ((2, b"\2\0\0\1\x7f\0\0\1" + bytes(8)), (10, b"\n\0\0\1" + bytes(4) + bytes(15) + b"\1" + bytes(4)),
                        (1, b"\1\0/frt/socket\0"), (1, b"\1\0\0frt-abstract"), (1, b"\1\0" + b"p" * 108)):
    for kind in 1, 2:
        fd = socket.socket(family, kind)
        buf = ctypes.create_string_buffer(address, len(address))
        call(nr["connect"], fd.fileno(), ctypes.addressof(buf), len(address))
        call(nr["sendto"], fd.fileno(), b"x", 1, 0x4000, ctypes.addressof(buf), len(address))
        call(nr["sendto"], fd.fileno(), b"x", 1, 0x4000, 0, 0)
        if b"frt-abstract" in address:
            call(nr["bind"], fd.fileno(), ctypes.addressof(buf), len(address))
fd = socket.socket(2, 2)
call(nr["connect"], fd.fileno(), 8, 16)
for short in b"\2\0", b"\2\0\0\1", b"\2\0\0\1\x7f\0\0", b"\n\0\0\1" + bytes(19), b"\1\0\0frt-abstract" + bytes(9):
    buf = ctypes.create_string_buffer(short, len(short))
    call(nr["connect"], fd.fileno(), ctypes.addressof(buf), len(short))
for refused in 129, 2**31, 2**32 - 1:  # sizes that the kernel takes no address of
    call(nr["connect"], fd.fileno(), ctypes.addressof(buf), refused)
call(nr["sethostname"], b"frt-host", 2**31)
call(%d)
"""


def arguments(text):
    """Of a call, as strace has them."""
    out, depth, quoted = [""], 0, False
    for c in text:
        quoted ^= c == '"'
        depth += 0 if quoted else (c in "([{") - (c in ")]}")
        if depth < 0:
            break
        if c == "," and not depth and not quoted:
            out.append("")
        else:
            out[-1] += c
    return [a.strip() for a in out]


def given_by_strace(log):
    """[(call, argument's number, what was given: bytes; None: it could not be read, is its end missing)]"""
    calls = signatures()[0]
    kinds = {}
    for line in open(CALLS_OF[platform.machine()]):
        if line.startswith("SYSCALL("):
            _, name, _, signature = line.strip()[8:-1].split(", ")
            kinds[name] = [(i, kind) for i, (_, kind, _) in enumerate(calls.get(signature, ([], []))[0]) if kind in ("TEXT", "SOCKADDR")]
    quoted = lambda s: bytes(int(h, 16) for h in re.findall(r"\\x(..)", s))
    out = []
    for line in open(log, errors="replace").read().splitlines():
        name, _, rest = line.partition("(")
        args = arguments(rest)
        for i, kind in kinds.get(name, ()):
            a = args[i]
            if kind == "SOCKADDR" and not 0 <= int(args[i + 1]) <= 128:
                continue  # the kernel refuses it by its size, and reads nothing; strace does
            if a.startswith("0x"):
                out.append((name, i, None, False))
            elif a.startswith('"'):
                out.append((name, i, quoted(a)[:127], len(quoted(a)) > 127))
            elif a.startswith("{"):
                port, text = re.search(r"htons\((\d+)\)", a), re.search(r'"((?:\\x..)*)"', a)
                text = quoted(text.group(1)) if text else b""
                if "AF_INET" in a and not port:  # as bytes: it is too short
                    text = b"family %d, %d bytes" % (10 if "AF_INET6" in a else 2, 2 + len(text))
                else:
                    text = b"[%s]" % text if "AF_INET6" in a else b"@" + text.replace(b"\0", b"@") if "=@" in a else text
                out.append((name, i, text + (b":" + port.group(1).encode() if port else b""), False))
    return out


@test("strace and the recording have the same paths and addresses of the same calls")
def same_paths():
    if platform.machine() not in CALLS_OF:
        raise Skip("no table of this machine's calls")
    if not shutil.which("strace"):
        raise Skip("no strace")
    name, log, given, python = shared(*CALLS), path("paths.log"), path("paths.py"), path("frt-paths")
    os.symlink("/usr/bin/python3", python)  # calls of what is called so are recorded
    with open(given, "w") as f:
        f.write(PATHS % MARK)
    p = subprocess.run(["strace", "-o", log, "-xx", "-s", "4096", python, "-S", given, CALLS_OF[platform.machine()]], stderr=subprocess.PIPE,
                       text=True)
    equal(p.returncode, 0, f"exit status: {p.stderr}")
    file = dump(name)
    marks = fr("replay", "--json", "-f", f"event == sys_enter && id == {MARK} && comm == \"frt-paths\"", file).stdout.splitlines()
    check(marks, "the program's last call was recorded")
    tid = json.loads(marks[-1])["tid"]
    rows = [json.loads(line) for line in
            fr("replay", "--json", "--words", "-f", f"tid == {tid} && event in (sys_enter, sys_path, sys_unread)", file).stdout.splitlines()]
    ours = []
    for before, r in zip(rows, rows[1:]):
        if r["event"] != "sys_enter":
            equal(before["id"], r["id"], f"the call that {r} is behind")
            text = re.sub(rb"\\x(..)", lambda m: bytes([int(m.group(1), 16)]), r["path"].encode()) if r["event"] == "sys_path" else None
            ours.append((r["id"], r["arg"], text, bool(r.get("cut"))))
    theirs = given_by_strace(log)
    check(len(theirs) > 50 and theirs.pop(0)[0] == "execve", "strace saw the program's beginning, which is not recorded: it has its name from then on")
    equal(ours, theirs, "what calls were given")
    equal(sum(x[2] is None for x in theirs), 3, "that cannot be read")


# Nobody has touched the first address; where the others are, there is no memory, nor may any be there; the last could have a tag.
UNREAD = r"""
import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
for at in libc.mmap(None, 4096, 3, 0x22, -1, ctypes.c_long(0)), 8, 1 << 56 | 8:
    libc.openat(-100, ctypes.c_void_p(at), 0)
libc.syscall(%d)
"""


@test("what could not be read has its reason; the faults of looking for it are not the program's")
def unread_reasons():
    name, given, python = shared(*CALLS), path("unread.py"), path("frt-unread")
    os.symlink("/usr/bin/python3", python)
    with open(given, "w") as f:
        f.write(UNREAD % MARK)
    p = subprocess.Popen([python, "-S", given], stdout=subprocess.PIPE)
    equal(p.wait(), 0, "exit status")
    rows = [json.loads(line) for line in fr("replay", "--json", "--words", "-f", f"pid == {p.pid}", dump(name)).stdout.splitlines()]
    calls = [r for r in rows if r["event"] in ("sys_enter", "sys_path", "sys_unread")]
    at = next(i for i, r in enumerate(calls) if r["event"] == "sys_enter" and r["id"] == "openat" and r["args"][1] == 8)
    said = [(r["event"], r.get("arg"), r.get("why")) for r in calls[at - 2:at + 4]]
    equal(said, [x for why in ("absent", "nowhere", "unknown") for x in (("sys_enter", None, None), ("sys_unread", 1, why))], "what it was given")
    if platform.machine() == "x86_64":  # where faults in the kernel are told: it touched that memory once
        untouched = calls[at - 2]["args"][1]
        faults = [r for r in rows if r["event"] == "page_fault_kernel" and r["address"] == untouched]
        equal(len(faults), 1, f"faults at {untouched:#x} in the kernel")


# What it says, and what of that is no descriptor 2, no memory, or too long; then it dies.
SAYS = r"""
import ctypes, os
libc = ctypes.CDLL(None)
libc.write.argtypes = libc.writev.argtypes = ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t
if not os.fork():
    os.write(2, b"another process\n")
    os._exit(0)
os.wait()
os.write(2, b"one\n")
os.write(1, b"not this\n")
libc.write(2, 8, 5)
libc.writev(2, 8, 5)
os.writev(2, [b"two ", b"three\n"])
os.write(2, b"w" * 1983 + b"\n")
os.write(2, b"left-out " + b"v" * 1983 + b"\n")
os.write(2, b"nul\0 password=hunter2 .\xff\n")
os.write(2, b"x" * 400 + b"\n" + b"last\n")
os.abort()
"""


@test("what a program wrote to standard error before it died: as its reader got it, but for secrets; in the report")
def said():
    comm, given = "frt-says", path("says.py")
    os.symlink("/usr/bin/python3", path(comm))
    with open(given, "w") as f:
        f.write(SAYS)
    with attached(CALLS, f"crash:comm={comm}") as r:
        p = subprocess.Popen([path(comm), "-S", given], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        heard = p.communicate()[1]
        equal(p.returncode, -6, "died of")
        wait_for(lambda: snapshots(r.dir), "the snapshot")
        file = os.path.join(r.dir, snapshots(r.dir)[0])
    rows = [json.loads(line) for line in fr("replay", "--json", "-f", f"event == stderr_write && pid == {p.pid}", file).stdout.splitlines()]
    whole = [b"one\n", b"two three\n", b"w" * 1983 + b"\n", b"left-out " + b"v" * 1983 + b"\n", b"nul\0 password=hunter2 .\xff\n", b"x" * 400 + b"\nlast\n"]
    equal(heard, b"another process\n" + b"".join(whole), "what its reader got")
    shown = [*(text.decode() for text in whole[:3]), "\n", "nul  password=[redacted] .\\xff\n", whole[5].decode()]
    equal([(row["bytes"], row["text"]) for row in rows],
          [(4, "one\n"), (5, ""), (0, ""), *((len(text), to) for text, to in zip(whole[1:], shown[1:]))], "what was recorded")
    got = fr_json("report", file)["stderr"]
    equal((got["writes"], got["bytes"], got["text"]), (8, len(b"".join(whole)) + 5, "".join(shown)), "in the report")
    page = fr("report", file).stdout
    check(re.search(r"^Standard error  4.3 KiB in 8 writes, the last one .* before the trigger\n(.*\n)*  nul  password=.redacted. ..xff\n  x{400}\n  last\n\n", page, re.M),
          f"the page: {page[:3000]}")


if __name__ == "__main__":
    main()
