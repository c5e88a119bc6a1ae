# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Arguments of system calls in words: strace has the same ones of the same calls."""
import platform
import re
import shutil
import subprocess

from frtest import CALLS, Skip, check, dump, equal, fr, helper, main, path, program, shared, test

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


if __name__ == "__main__":
    main()
