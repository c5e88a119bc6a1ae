# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""LTTng-UST, flight recorder mode: a session of its own, without kernel modules, and the daemon if none runs."""
import os
import shutil
import subprocess
import time

import common

BUF_KIB, BUFS = 512, 8
PATIENT = {**os.environ, "LTTNG_UST_REGISTER_TIMEOUT": "5000"}  # for programs: to be recorded from the begin, or to say so


def lttng(*args, check=True):
    try:
        done = subprocess.run(["lttng", "-n", *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False, timeout=20)
    except subprocess.TimeoutExpired:
        raise OSError(f"lttng {args[0]} says nothing for 20 s") from None
    if check and done.returncode:
        raise OSError(f"lttng {args[0]}: {done.stdout.strip()}")
    return done.returncode == 0


class Snapshot:
    """with Snapshot("provider:*", directory): programs that begin now are recorded into 4 MiB a CPU (buf_kib) that overwrite."""

    peer = "LTTng-UST, snapshot mode"

    def __init__(self, events, tmp, buf_kib=BUF_KIB):
        self.events, self.tmp, self.daemon, self.buf_kib = events, tmp, None, buf_kib

    def __enter__(self):
        if not shutil.which("lttng"):
            raise OSError("lttng is not installed (packages lttng-tools, liblttng-ust-dev)")
        try:
            self.begin()
        except BaseException:
            self.__exit__()
            raise
        return self

    def begin(self):
        if not lttng("list", check=False):
            with open(os.path.join(self.tmp, "lttng-sessiond.log"), "w", encoding="ascii") as log:
                self.daemon = subprocess.Popen(["lttng-sessiond", "--no-kernel"], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
            for _ in range(100):
                if lttng("list", check=False):
                    break
                time.sleep(0.1)
        lttng("create", common.NAME, "--snapshot", f"--output={self.tmp}/lttng")
        lttng("enable-channel", "-u", "-s", common.NAME, "--overwrite", f"--subbuf-size={self.buf_kib}K", f"--num-subbuf={BUFS}", "all")
        lttng("enable-event", "-u", "-s", common.NAME, "-c", "all", self.events)
        lttng("add-context", "-u", "-s", common.NAME, "-c", "all", "-t", "vtid")
        lttng("start", common.NAME)

    def take(self):
        """A snapshot, below the directory. ns until the command says that it is there."""
        begin = time.monotonic_ns()
        lttng("snapshot", "record", "-s", common.NAME)
        return time.monotonic_ns() - begin

    def __exit__(self, *failed):
        lttng("destroy", common.NAME, check=False)
        if self.daemon:
            self.daemon.terminate()
            self.daemon.wait()
