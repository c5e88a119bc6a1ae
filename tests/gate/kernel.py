# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the running kernel made of the programs: instructions after the verifier, and the processor's after the JIT."""

import os
import platform
import re
import subprocess
import tempfile

PROGRAMS = ("sys_enter", "sys_exit", "page_fault_user", "sched_switch", "sched_waking", "sched_wakeup_new", "sched_migrate_task",
            "irq_handler_entry", "irq_handler_exit", "softirq_entry", "softirq_exit")


def read(path):
    try:
        with open(path) as f:
            return f.read().strip()
    except OSError:
        return ""


def key(programs_cnt):
    """
    What the code depends on: the kernel's version, not its build, what its JIT and our loader look at of the processor, and the programs
    themselves: instructions of all, as compiled. Where those have changed, figures of other machines are of programs that are gone.
    """
    return f"{machine()}, programs: {programs_cnt}"


def machine():
    retbleed = read("/sys/devices/system/cpu/vulnerabilities/retbleed").split(";")[0] or "unknown"
    bmi2 = "bmi2" if re.search(r"\bbmi2\b", read("/proc/cpuinfo")) else "no bmi2"
    returns = "slow" if "Safe RET" in read("/sys/devices/system/cpu/vulnerabilities/spec_rstack_overflow") else "quick"
    return f"{platform.release().split('-')[0]} {platform.machine()}, {bmi2}, retbleed: {retbleed}, returns: {returns}"


def obstacle():
    """Why it cannot be looked at here, or None."""
    if os.geteuid():
        return "this needs root"
    if platform.machine() != "x86_64":
        return "objdump is told of x86-64 only"
    if not os.path.exists("/sys/kernel/btf/vmlinux"):
        return "the kernel has no BTF"
    if read("/proc/sys/net/core/bpf_jit_enable") == "0":
        return "the JIT is off"
    if read("/proc/sys/net/core/bpf_jit_harden") == "2":
        return "bpf_jit_harden=2 has constants blinded"
    return None


def sizes(program, link, tmp):
    """Instructions (BPF, x86) of a pinned link's program; no x86 where the kernel hides it."""
    image = os.path.join(tmp, "image")
    xlated = int(subprocess.run([program, link, image], stdout=subprocess.PIPE, check=True).stdout)
    if not os.path.getsize(image):
        return xlated, None
    text = subprocess.run(["objdump", "-D", "-w", "-b", "binary", "-m", "i386:x86-64", image], stdout=subprocess.PIPE, text=True,
                          check=True).stdout
    return xlated, len(re.findall(r"^ *[0-9a-f]+:\t", text, re.M))


def measure(flightrec, program):
    """program: tests/gate/jited, built."""
    figures = {}
    name = f"gate-{os.getpid()}"
    with tempfile.TemporaryDirectory() as tmp:
        subprocess.run([flightrec, "record", "-n", name, "-p", "full", "-m", "512K", "-o", tmp, "--unattended"],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        try:
            for prog in PROGRAMS:
                xlated, x86 = sizes(program, f"/sys/fs/bpf/flightrec/{name}/link-{prog}", tmp)
                figures[f"{prog}.xlated"] = xlated
                if x86:
                    figures[f"{prog}.jited"] = x86
        finally:
            subprocess.run([flightrec, "stop", "-n", name], stdout=subprocess.DEVNULL, check=True)
    return figures
