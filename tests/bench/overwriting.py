# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Buffers of others that overwrite their oldest events, as large as asked for: an ftrace instance, perf record --overwrite.

What is in them is told by their own readers: each CPU's `trace` file, perf script.
"""
import glob
import os
import re
import shutil
import signal
import subprocess
import time

import common

TRACEFS = "/sys/kernel/tracing"
PAGE = os.sysconf("SC_PAGE_SIZE")

# What the profile "full" records, as tracefs names it, but for samples, which are no tracepoint.
FULL = ("raw_syscalls:sys_enter", "raw_syscalls:sys_exit", "sched:sched_switch", "sched:sched_waking", "sched:sched_wakeup_new",
        "sched:sched_migrate_task", "sched:sched_process_fork", "sched:sched_process_exec", "sched:sched_process_exit",
        "task:task_rename", "oom:mark_victim", "signal:signal_generate", "signal:signal_deliver", "irq:irq_handler_entry",
        "irq:irq_handler_exit", "irq:softirq_entry", "irq:softirq_exit", "exceptions:page_fault_user",
        "exceptions:page_fault_kernel", "block:block_rq_issue", "block:block_rq_complete", "block:block_io_start",
        "block:block_io_done")
SCHED = tuple(e for e in FULL if e.startswith("sched:"))
CALLS = FULL[:2]


def here(events):
    """Those that this kernel has."""
    return [e for e in events if os.path.isdir(f"{TRACEFS}/events/{e.replace(':', '/')}")]


def common_horizon(by_cpu):
    """Events, and the time from which on every CPU's history is there: by_cpu has (count, first ns) of each."""
    cpus = [c for c in by_cpu.values() if c[0]]
    if not cpus:
        raise OSError("nothing was recorded")
    return sum(c[0] for c in cpus), max(c[1] for c in cpus)


def write(path, text):
    with open(path, "w", encoding="ascii") as f:
        f.write(text)


class Ftrace:
    """with Ftrace(events, KiB a CPU) as f: load; f.stop(); f.kept(). An instance of its own."""

    peer = "ftrace"

    def __init__(self, events, kib, clock="mono"):
        self.events, self.kib, self.clock = here(events), kib, clock
        self.dir, self.is_on = f"{TRACEFS}/instances/{common.NAME}", False

    def __enter__(self):
        os.mkdir(self.dir)
        try:
            self.begin()
        except BaseException:
            self.remove()
            raise
        return self

    def begin(self):
        write(f"{self.dir}/tracing_on", "0")
        write(f"{self.dir}/buffer_size_kb", str(self.kib))
        write(f"{self.dir}/trace_clock", self.clock)
        for event in self.events:
            write(f"{self.dir}/events/{event.replace(':', '/')}/enable", "1")
        self.go_on()

    def __exit__(self, kind, *failed):
        try:
            if not kind:
                self.stop()
        finally:
            self.remove()

    def remove(self):
        write(f"{self.dir}/events/enable", "0")
        for _ in range(50):
            try:
                os.rmdir(self.dir)
                return
            except OSError:
                time.sleep(0.1)
        raise OSError(f"cannot remove {self.dir}")

    def stop(self):
        if not self.is_on:
            return
        write(f"{self.dir}/tracing_on", "0")
        self.is_on = False
        if not self.entries():
            raise OSError("ftrace recorded nothing")

    def go_on(self):
        write(f"{self.dir}/tracing_on", "1")
        self.is_on = True

    def entries(self):
        """Events that are in its buffers."""
        cnt = 0
        for stats in glob.glob(f"{self.dir}/per_cpu/cpu*/stats"):
            with open(stats, encoding="ascii") as f:
                cnt += int(re.search(r"^entries: (\d+)", f.read(), re.M)[1])
        return cnt

    def kept(self):
        return common_horizon({path: text_begin(["cat", path]) for path in glob.glob(f"{self.dir}/per_cpu/cpu*/trace")})

    def read_raw(self, out):
        """All pages of all CPUs, consumed, into a file. Bytes."""
        got = 0
        with open(out, "wb") as to:
            for path in sorted(glob.glob(f"{self.dir}/per_cpu/cpu*/trace_pipe_raw")):
                fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
                try:
                    while True:
                        got += to.write(os.read(fd, PAGE) or stop_here())
                except (BlockingIOError, StopIteration):
                    pass
                finally:
                    os.close(fd)
            to.flush()
            os.fsync(to.fileno())
        return got


def stop_here():
    raise StopIteration


def text_begin(command):
    """Lines with a time "1234.567890:": how many, ns of the first."""
    stamp = re.compile(rb"\s(\d+)\.(\d{6}): ")
    cnt = first = 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as p:
        for line in p.stdout:
            if line.startswith((b"#", b"CPU:")):  # "CPU:0 [LOST 12 EVENTS]"
                continue
            if not cnt:
                at = stamp.search(line)
                first = int(at[1]) * 10**9 + int(at[2]) * 1000
            cnt += 1
    return cnt, first


class Perf:
    """with Perf(events, KiB a CPU, directory) as p: load; p.stop(); p.kept(). perf record --overwrite of the whole host."""

    peer = "perf record --overwrite"

    def __init__(self, events, kib, tmp, *options):
        self.events, self.pages, self.tmp, self.options = here(events), kib * 1024 // PAGE, tmp, options
        self.data, self.stopped = os.path.join(tmp, "perf.data"), False

    def __enter__(self):
        if not shutil.which("perf"):
            raise OSError("perf is not installed (package linux-perf)")
        (asked, ask), (answer, answers) = os.pipe(), os.pipe()
        self.p = subprocess.Popen(["chrt", "-f", "1", "perf", "record", "-a", "--overwrite", "-m", str(self.pages), "-e",
                                   ",".join(self.events), "--exclude-perf", "-k", "mono", "-o", self.data, "-D", "-1",
                                   "--control", f"fd:{asked},{answers}", *self.options], text=True, pass_fds=(asked, answers),
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        os.close(asked)
        os.close(answers)
        os.write(ask, b"enable\n")
        began = os.read(answer, 16)  # once its events are open and enabled; nothing if it ended
        self.control = [ask, answer]  # open as long as it lives: perf 6.1 ends, with nothing recorded, when they close
        if not began.startswith(b"ack"):
            raise OSError(f"perf record: {self.p.communicate()[1]}")
        return self

    def __exit__(self, kind, *failed):
        try:
            self.stop()
        except OSError:
            if not kind:  # else what failed first is told
                raise

    def stop(self):
        if self.stopped:
            return
        self.stopped, ended = True, self.p.poll()
        if ended is None:
            self.end()
        self.close()
        if ended is not None:
            raise OSError(f"perf record ended by itself, exit status {ended}: {self.p.communicate()[1]}")

    def end(self):
        self.p.send_signal(signal.SIGINT)
        self.p.communicate()

    def close(self):
        while self.control:
            os.close(self.control.pop())

    def kept(self):
        by_cpu = {}
        for cpu, at in script_stamps(self.data):
            cnt, first = by_cpu.get(cpu, (0, at))
            by_cpu[cpu] = cnt + 1, first
        return common_horizon(by_cpu)


def script_stamps(data, *options):
    """CPU and ns of each event, as perf script tells."""
    with subprocess.Popen(["perf", "script", "-i", data, "--ns", "-F", "cpu,time", *options], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as p:
        for line in p.stdout:
            cpu, _, stamp = line.strip().partition(b"]")
            yield cpu, int(stamp.strip(b" :\n").replace(b".", b""))


class PerfSwitch(Perf):
    """perf record --overwrite --switch-output: each SIGUSR2 has it write what is in its buffers into a file of its own."""

    peer = "perf record --overwrite --switch-output"

    def __init__(self, events, kib, tmp, *options):
        super().__init__(events, kib, tmp, "--switch-output=signal", *options)

    def take(self):
        """A snapshot. Its path, and ns until perf says that it has written it."""
        begin = time.monotonic_ns()
        self.p.send_signal(signal.SIGUSR2)
        for line in self.p.stderr:
            found = re.search(r"Dump (\S+) \]", line)
            if found:
                return found[1], time.monotonic_ns() - begin
        raise OSError("perf record ended instead of writing a snapshot")


class PerfDropped(Perf):
    """The same, for what it costs while it records: what is in its buffers is not written in the end."""

    def end(self):
        self.p.kill()
        self.p.communicate()
