#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Write user/base/schema/syscalls_ARCH.def: SYSCALL(number, name, arguments or -1, signature), and call_words.def beside them:
signatures, and the words of their arguments.

Numbers come from the headers of linux-libc-dev, so does arm64's table (its kernel uses the generic one). How many arguments
a call takes, and their names, come from the running kernel, which describes each native call in tracefs; what they mean is in
call_words.py, values of words again in headers (libc6-dev has those that the kernel's lack). Run it as root, on x86_64:

	vmlinux/gen_syscalls.py [TRACEFS]
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import call_words

OUT = Path(__file__).resolve().parent.parent / "user/base/schema"
TRACEFS = Path(sys.argv[1] if len(sys.argv) > 1 else "/sys/kernel/tracing")

# What makes asm-generic/unistd.h arm64's: the definitions of arch/arm64/include/uapi/asm/unistd.h.
ARM64 = ["__BITS_PER_LONG=64", "__ARCH_WANT_RENAMEAT", "__ARCH_WANT_NEW_STAT", "__ARCH_WANT_SET_GET_RLIMIT",
         "__ARCH_WANT_TIME32_SYSCALLS", "__ARCH_WANT_SYS_CLONE3", "__ARCH_WANT_MEMFD_SECRET"]

# Newer than the headers; the same number everywhere since 424.
NEW = {name: 451 + i for i, name in enumerate("""cachestat fchmodat2 map_shadow_stack futex_wake futex_wait futex_requeue
    statmount listmount lsm_get_self_attr lsm_set_self_attr lsm_list_modules mseal setxattrat getxattrat listxattrat
    removexattrat open_tree_attr file_getattr file_setattr""".split())}
NEW_X86_64 = {"uretprobe": 335, "uprobe": 336}

# Tracefs names the kernel's function where the table has another name.
FUNCTION = {"stat": "newstat", "fstat": "newfstat", "lstat": "newlstat", "uname": "newuname", "umount2": "umount",
            "sendfile": "sendfile64"}

# include/linux/syscalls.h, for what the kernel that was asked may have been built without.
NOT_CONFIGURED = {"init_module": 3, "delete_module": 2, "finit_module": 3, "kexec_load": 4, "kexec_file_load": 5,
                  "lookup_dcookie": 3, "get_thread_area": 1, "set_thread_area": 1, "map_shadow_stack": 3}

# i386 calls that are not a native call of that name: 64-bit values take two registers, old calls one pointer or less.
I386 = {
    "mmap": 1, "select": 1, "mmap2": 6, "_newselect": 5, "_llseek": 5, "waitpid": 3, "umount": 1, "stime": 1, "nice": 1,
    "oldstat": 2, "oldfstat": 2, "oldlstat": 2, "stat64": 2, "lstat64": 2, "fstat64": 2, "fstatat64": 4, "statfs64": 3,
    "fstatfs64": 3, "olduname": 1, "oldolduname": 1, "readdir": 3, "ugetrlimit": 2, "fcntl64": 3, "uselib": 1,
    "signal": 2, "sigaction": 3, "sigsuspend": 3, "sigpending": 1, "sigprocmask": 3, "sigreturn": 0, "sgetmask": 0,
    "ssetmask": 1, "socketcall": 2, "ipc": 6, "pread64": 5, "pwrite64": 5, "preadv": 5, "pwritev": 5, "preadv2": 6,
    "pwritev2": 6, "truncate64": 3, "ftruncate64": 3, "readahead": 4, "fadvise64": 5, "fadvise64_64": 6,
    "sync_file_range": 6, "fallocate": 6, "lookup_dcookie": 4, "fanotify_mark": 6,
}


def numbers(header, *defines):
    """{name: number} of the __NR_* a header defines, after preprocessing."""
    command = ["gcc", "-E", "-dM", *("-D" + d for d in defines), "-include", header, "-x", "c", "/dev/null"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    macros = dict(re.findall(r"^#define (__NR\w+) (\w+)$", text, re.M))
    calls = {}
    for macro, value in macros.items():
        value = macros.get(value, value)  # "#define __NR_fcntl __NR3264_fcntl"
        name = macro.removeprefix("__NR_")
        if name != macro and value.isdigit() and name not in ("arch_specific_syscall", "syscalls"):
            calls[name] = int(value)
    return calls


def native_args(name):
    format_file = TRACEFS / f"events/syscalls/sys_enter_{FUNCTION.get(name, name)}/format"
    if format_file.exists():
        return format_file.read_text().count("\tfield:") - 5  # four common fields, and the number
    return NOT_CONFIGURED.get(name, -1)


def i386_args(name):
    if name in I386:
        return I386[name]
    args = native_args(name)
    if args < 0:  # getuid32, clock_gettime64, futex_time64, ...: as the call without the suffix
        args = native_args(re.sub(r"(32|_time64|64)$", "", name))
    return args


# ---- words ----

ALL = 0xffffffff


def gcc(args, text):
    return subprocess.run(["gcc", "-w", "-D_GNU_SOURCE", *args, "-x", "c", "-"], input=text, capture_output=True, text=True)


def evaluate(headers, defines, wanted):
    """{name: value} of those names that are constants in these headers."""
    includes = "".join(f"#include <{h}>\n" for h in headers)
    options = ["-D" + d for d in defines]
    source = gcc(["-E", "-dD", *options], includes)
    if source.returncode:
        sys.exit(source.stderr)
    names = sorted(n for n in set(re.findall(r"\b[A-Z_][A-Z0-9_a-z]*\b", source.stdout)) if wanted(n))
    like_functions = set(re.findall(r"^#define (\w+)\(", source.stdout, re.M))
    names = [n for n in names if n not in like_functions]
    while names:
        lines = [f"long long v_{n} = (long long)({n});" for n in names]
        text = includes + "\n".join(lines) + '\n#include <stdio.h>\nint main(void) {\n' + "\n".join(
            f'printf("{n} %lld\\n", v_{n});' for n in names) + "\n}\n"
        with tempfile.TemporaryDirectory() as room:
            built = gcc([*options, "-o", room + "/a"], text)
            if not built.returncode:
                out = subprocess.run([room + "/a"], check=True, capture_output=True, text=True).stdout
                return {n: int(v) & ALL if int(v) < 0 else int(v) for n, v in (line.split() for line in out.splitlines())}
        first = len(headers) + 1
        bad = {int(at) - first for at in re.findall(r"<stdin>:(\d+):\d+: error", built.stderr)}
        bad = {i for i in bad if 0 <= i < len(names)}
        if not bad:
            sys.exit(built.stderr)
        names = [n for i, n in enumerate(names) if i not in bad]
    return {}


def matches(patterns, name):
    return any(re.fullmatch(p, name) for p in patterns)


def mask_of(value, low):
    """Which bits of an argument a word says."""
    if value < 0 or -1 in low:
        return ALL
    for part in low:
        if not value & ~part:
            return part
    return value or ALL


def words_of(name, s):
    """(word, value, mask): words that say more bits before others, numbers before bits."""
    values = evaluate(s.headers, s.defines, lambda n: matches(s.words, n) and not matches(s.but, n))
    for word, value in s.new.items():
        values.setdefault(word, value & ALL)
    taken = {}
    for word, value in sorted(values.items(), key=lambda w: (len(w[0]), w[0])):
        key = value if name != "filter" else word, s.zero.get(word) or mask_of(value, s.low)
        if key in taken:
            print(f"{name}: {word} is {taken[key][0]}")
        else:
            taken[key] = word, value, key[1]
    rows = list(taken.values())
    if not rows:
        sys.exit(f"{name}: no words")
    return sorted(rows, key=lambda r: (r[2] == r[1], -bin(r[2]).count("1") if r[2] == r[1] else 0, r[1], r[2]))


def coded_requests(headers):
    text = gcc(["-E", "-dD"], "".join(f"#include <{h}>\n" for h in headers)).stdout
    return set(re.findall(r"^#define (\w+)\s+_IO[A-Z]*\(", text, re.M))


def requests():
    """{number: name} of ioctl()."""
    out = {}
    for headers, pattern in call_words.IOCTL:
        coded = None if call_words.PLAIN & set(headers.split()) else coded_requests(headers.split())
        found = evaluate(headers.split(), (), lambda n: re.fullmatch(pattern, n) and (coded is None or n in coded))
        for name, value in sorted(found.items(), key=lambda r: (len(r[0]), r[0])):
            if value >= 0x1000:  # smaller ones are no requests, or mean something else to each driver
                out.setdefault(value, name)
    return out


# ---- signatures ----

def kinds_of(call):
    kinds = {}
    for calls, args in call_words.KINDS.items():
        if call in calls.split():
            kinds |= args
    return kinds


def kind_of(call, c_type, name, arch):
    """KIND, set or "none"."""
    plain = re.sub(r"\bconst\b", "", c_type).strip()
    said = kinds_of(call).get(name)
    if said:
        kind, _, words = said.partition(" ")
        words = words or "none"
        if f"{words}_{arch}" in call_words.SETS:
            words += "_" + arch
        if kind == "word":
            return ("FD" if name in call_words.FDS else "INT"), words
        return kind.upper(), words
    if plain.replace(" ", "") == "char*" and name in call_words.TEXTS:
        return "TEXT", "none"
    if "*" in plain:
        return "PTR", "none"
    if name in call_words.FDS:
        return "FD", "dirfd" if name in call_words.DIRECTORIES else "none"
    if plain == "umode_t":
        return "MODE", "none"
    if plain == "clockid_t":
        return "INT", "clock"
    if plain == "key_serial_t":
        return "INT", "keyring"
    if name in ("flags", "flag") or re.search("flags?$", name) or plain in ("aio_context_t", "cap_user_header_t", "cap_user_data_t"):
        return ("HEX" if "long" in plain or plain.endswith("_t") else "HEX32"), "none"
    if name in call_words.ADDRESSES and "long" in plain:
        return "PTR", "none"
    wide = arch != "i386"
    if plain == "size_t" or plain == "unsigned long" and name in call_words.SIZES:
        return ("SIZE" if wide else "UINT"), "none"
    if plain in ("off_t", "loff_t", "long"):
        return ("LONG" if wide else "INT"), "none"
    if plain == "unsigned long":
        return "HEX", "none"
    if plain in ("unsigned int", "unsigned", "u32", "__u32", "qid_t") or plain.startswith("enum "):
        return "UINT", "none"
    if plain == "__u64":
        return "HEX", "none"
    return "INT", "none"


def prototype(call, arch):
    """[(type, name)], None: not known."""
    text = None
    if arch == "i386":
        text = call_words.I386_PROTOTYPES.get(call)
        if text is None and call in I386 and I386[call] != native_args(call):
            return None
    elif arch == "aarch64":
        text = call_words.AARCH64_PROTOTYPES.get(call)
    if text is None:
        for name in [call] + ([re.sub(r"(32|_time64|64)$", "", call)] if arch == "i386" else []):
            file = TRACEFS / f"events/syscalls/sys_enter_{FUNCTION.get(name, name)}/format"
            if file.exists():
                fields = re.findall(r"field:([^;]*);", file.read_text())[5:]
                return [tuple(f.rsplit(" ", 1)) for f in fields]
            if name in call_words.PROTOTYPES:
                text = call_words.PROTOTYPES[name]
    return text if text is None else [tuple(f.rsplit(" ", 1)) for f in text.split(", ")]


class Signatures:
    """Each once, whatever calls have it."""

    def __init__(self):
        self.name_of, self.words = {}, {}
        for name, s in call_words.SETS.items():
            self.words[name] = words_of(name, s)

    def value(self, words, word):
        for w, value, mask in self.words[words]:
            if w == word:
                return value, mask
        sys.exit(f"{words}: no {word}")

    def by(self, call, args, arch):
        rows = []
        names = [n for n, _, _ in args]
        for calls, which, cases in call_words.BY:
            if call not in calls.split() or which not in names:
                continue
            words = args[names.index(which)][2]
            for cause, (target, said) in cases.items():
                kind, _, of = said.partition(" ")
                of = of or "none"
                of += "_" + arch if f"{of}_{arch}" in call_words.SETS else ""
                rows += [(names.index(which), *self.value(words, word), names.index(target), "INT" if kind == "word" else kind.upper(), of)
                         for word in cause.split()]
        return tuple(rows)

    def of(self, call, arch, cnt):
        proto = prototype(call, arch)
        if proto is None or len(proto) != cnt or not cnt:
            return "unknown"
        args = tuple((name.lstrip("_"), *kind_of(call, c_type, name, arch)) for c_type, name in proto)
        key = args, self.by(call, args, arch)
        if key not in self.name_of:
            name = call if call not in self.name_of.values() else f"{arch}_{call}"
            self.name_of[key] = name
        return self.name_of[key]

    def write(self):
        used = {a[2] for args, _ in self.name_of for a in args} | {b[5] for _, by in self.name_of for b in by} - {"none"}
        for name in call_words.SETS:
            if name not in used and name != "filter":
                print(f"{name}: no call has it")
        rows = []
        for name, words in self.words.items():
            rows.append(f"WORDS({name})\n" + "".join(f"WORD({w}, {v:#x}, {m:#x})\n" for w, v, m in words) + "WORDS_END\n")
        for value, name in sorted(requests().items()):
            rows.append(f"REQUEST({name}, {value:#x})\n")
        for (args, by), name in sorted(self.name_of.items(), key=lambda s: s[1]):
            rows.append(f"SIGNATURE({name})\n" + "".join(f"ARG({n}, {k}, {s})\n" for n, k, s in args) + f"ARGS_END({name})\n" +
                        "".join(f"BY({i}, {v:#x}, {m:#x}, {t}, {k}, {s})\n" for i, v, m, t, k, s in by) + f"SIGNATURE_END({name})\n")
        (OUT / "call_words.def").write_text(HEAD + DEFAULTS + "".join(rows) + UNDEFINE)
        print(f"{sum(map(len, self.words.values()))} words in {len(self.words)} sets, {len(self.name_of)} signatures")


HEAD = "/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */\n/* Made by vmlinux/gen_syscalls.py. */\n"


MACROS = {"WORDS": "set", "WORD": "name, value, mask", "WORDS_END": None, "REQUEST": "name, value", "SIGNATURE": "call",
          "ARG": "name, kind, set", "ARGS_END": "call", "BY": "cause, value, mask, target, kind, set", "SIGNATURE_END": "call"}
DEFAULTS = """/*
 * Words of arguments of system calls, requests of ioctl() by number, signatures of calls. A file that includes this defines what it
 * wants of these beforehand; at the end none is defined.
 */
""" + "".join(f"#ifndef {m}\n#define {m}{'' if a is None else f'({a})'}\n#endif\n" for m, a in MACROS.items())
UNDEFINE = "".join(f"#undef {m}\n" for m in MACROS)


def write(arch, calls, args, signatures):
    rows = "".join(f"SYSCALL({nr}, {name}, {args(name)}, {signatures.of(name, arch, args(name))})\n"
                   for name, nr in sorted(calls.items(), key=lambda c: c[1]))
    (OUT / f"syscalls_{arch}.def").write_text(HEAD + rows)
    print(f"{arch}: {len(calls)} calls, arguments of {sum(args(n) < 0 for n in calls)} unknown")


if not (TRACEFS / "events/syscalls").is_dir():
    sys.exit(f"no system calls in {TRACEFS}: mount it (mount -t tracefs nodev {TRACEFS}), as root")
ASM = next(Path("/usr/include").glob("x86_64-linux-gnu/asm"))
signatures = Signatures()
write("x86_64", numbers(ASM / "unistd_64.h") | NEW | NEW_X86_64, native_args, signatures)
write("i386", numbers(ASM / "unistd_32.h") | NEW, i386_args, signatures)
write("aarch64", numbers("/usr/include/asm-generic/unistd.h", *ARM64) | NEW, native_args, signatures)
signatures.write()
