#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Write user/base/schema/syscalls_ARCH.def: SYSCALL(number, name, arguments or -1).

Numbers come from the headers of linux-libc-dev, so does arm64's table (its kernel uses the generic one). How many arguments
a call takes comes from the running kernel, which describes each native call in tracefs; run it as root, on x86_64:

	vmlinux/gen_syscalls.py [TRACEFS]
"""
import re
import subprocess
import sys
from pathlib import Path

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


def write(arch, calls, args):
    rows = "".join(f"SYSCALL({nr}, {name}, {args(name)})\n" for name, nr in sorted(calls.items(), key=lambda c: c[1]))
    head = "/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */\n/* Made by vmlinux/gen_syscalls.py. */\n"
    (OUT / f"syscalls_{arch}.def").write_text(head + rows)
    print(f"{arch}: {len(calls)} calls, arguments of {sum(args(n) < 0 for n in calls)} unknown")


if not (TRACEFS / "events/syscalls").is_dir():
    sys.exit(f"no system calls in {TRACEFS}: mount it (mount -t tracefs nodev {TRACEFS}), as root")
ASM = next(Path("/usr/include").glob("x86_64-linux-gnu/asm"))
write("x86_64", numbers(ASM / "unistd_64.h") | NEW | NEW_X86_64, native_args)
write("i386", numbers(ASM / "unistd_32.h") | NEW, i386_args)
write("aarch64", numbers("/usr/include/asm-generic/unistd.h", *ARM64) | NEW, native_args)
