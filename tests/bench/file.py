#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""From a death to its complete file, over 200 crashes with 8 MiB a CPU full of events: p50, p99. As root; prints, judges nothing."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FLIGHTREC = os.environ.get("FLIGHTREC", os.path.join(ROOT, "build", "flightrec"))
CRASHES = int(sys.argv[1]) if len(sys.argv) > 1 else 200
NAME = f"bench-{os.getpid()}"
UNIT = {"ns": 1e-6, "us": 1e-3, "ms": 1, "s": 1e3}
CONF = """[Session]
Name={name}
Profile=full
Memory=8M
[Storage]
Directory={dir}
MaxFiles=20
[Notify]
Journal=no
[Control]
Socket=no
[Trigger]
StormCount=0
On=crash:comm=bench-crash,cooldown=0s
"""


def wait_for(fn):
    while not fn():
        time.sleep(0.005)


def main():
    dir = tempfile.mkdtemp(prefix="frbench-")
    victim, conf, log = f"{dir}/bench-crash", f"{dir}/conf", open(f"{dir}/log", "w+")
    with open(f"{dir}/c.c", "w") as f:
        f.write("int *volatile nowhere;\nint main(void) { return *nowhere; }\n")
    subprocess.run(["gcc", "-o", victim, f"{dir}/c.c"], check=True)
    with open(conf, "w") as f:
        f.write(CONF.format(name=NAME, dir=dir))
    said = lambda: open(log.name).read()
    p = subprocess.Popen([FLIGHTREC, "record", "--config", conf], stdin=subprocess.DEVNULL, stderr=log)
    try:
        wait_for(lambda: "armed" in said() or p.poll() is not None)
        # rings that are full, as they are in a recorder that has run for a while
        subprocess.run(["dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=600000"], stderr=subprocess.DEVNULL, check=True)
        for i in range(CRASHES):
            subprocess.run([victim], preexec_fn=lambda: __import__("resource").setrlimit(4, (0, 0)), check=False)
            wait_for(lambda: len(re.findall("after its moment", said())) > i or p.poll() is not None)
            if p.poll() is not None:
                raise SystemExit(f"the recorder ended, exit status {p.returncode}: {said()[-2000:]}")
    finally:
        p.terminate()
        p.wait()
        subprocess.run([FLIGHTREC, "stop", "-n", NAME], stderr=subprocess.DEVNULL, check=False)
        took = sorted(float(n) * UNIT[u] for n, u in re.findall(r"complete ([0-9.]+) (\w+) after its moment", said()))
        sizes = re.findall(r"events, ([0-9.]+ \w+), in", said())
        shutil.rmtree(dir)
    print(f"death to complete file, {len(took)} crashes, files of {sizes[-1]}: p50 {took[len(took) // 2]:.1f} ms, "
          f"p99 {took[(len(took) * 99 + 99) // 100 - 1]:.1f} ms, longest {took[-1]:.1f} ms")


main()
