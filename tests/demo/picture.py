#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The README's picture and its lines of `report`, from one real snapshot of the demo's crash. As root, after `make`:

	python3 tests/demo/picture.py	build/demo/picture/*.flight, docs/view.png; prints the report

It runs in a UTS namespace of its own, in which the machine's name is "demo". Chromium and chromedriver draw the page;
the picture shows the kernel's version without its local part.
"""
import glob
import os
import shutil
import signal
import socket
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "view"))
sys.dont_write_bytecode = True
import browser  # noqa: E402

FLIGHTREC = "build/flightrec"
PLACE = "build/demo/picture"
PROGRAM = "/tmp/flightrec-demo-crash"
PICTURE = "docs/view.png"
WINDOW = "trigger-16ms..trigger+1ms"
WAIT_S = 30
WITHOUT_LOCAL_VERSION = """
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) texts.currentNode.data = texts.currentNode.data.replace(/\\b(\\d+\\.\\d+\\.\\d+)-[\\w.-]+/, "$1");
"""


def snapshots():
    return sorted(glob.glob(f"{PLACE}/*-crash-crash*.flight"))


def wait_for(what, ready):
    end = time.monotonic() + WAIT_S
    while not ready():
        if time.monotonic() > end:
            raise SystemExit(f"picture: {what} did not come within {WAIT_S} s")
        time.sleep(0.1)


def recorded():
    """A snapshot of the crash, while a compiler works on the other CPU."""
    shutil.rmtree(PLACE, ignore_errors=True)
    os.makedirs(PLACE)
    subprocess.run(["gcc", "-O1", "-g", "-Wall", "-Wextra", "-pthread", "tests/demo/crash.c", "-o", PROGRAM], check=True)
    recorder = subprocess.Popen([FLIGHTREC, "record", "-n", "picture", "-m", "8M", "-e", "syscall", "--on", "crash", "-o", PLACE],
                                stderr=subprocess.DEVNULL)
    try:
        wait_for("the session", lambda: subprocess.run([FLIGHTREC, "status", "-n", "picture"], capture_output=True, check=False).returncode == 0)
        work = subprocess.Popen(["gcc", "-O2", "-Ibpf", "-Iuser", "-c", "user/base/rows/merge.c", "-o", f"{PLACE}/work.o"])
        time.sleep(0.1)
        subprocess.run([PROGRAM], check=False, stderr=subprocess.DEVNULL)
        work.wait()
        wait_for("the snapshot", snapshots)
    finally:
        recorder.send_signal(signal.SIGINT)
        recorder.wait()
        if os.path.exists(PROGRAM):
            os.unlink(PROGRAM)
    return snapshots()[0]


def draw(snapshot):
    page = f"{PLACE}/view.html"
    subprocess.run([FLIGHTREC, "view", "--window", WINDOW, "-o", page, snapshot], check=True)
    b = browser.Browser(width=1240, height=640)
    try:
        said = b.open(page)
        if said:
            raise SystemExit(f"picture: the page says: {said}")
        b.keys("tz3")
        b.run(WITHOUT_LOCAL_VERSION)
        b.frame()
        b.screenshot(PICTURE)
    finally:
        b.close()


def main():
    if browser.missing():
        raise SystemExit(f"picture: {browser.missing()} is not installed")
    if sys.argv[1:] != ["--apart"]:
        os.execvp("unshare", ["unshare", "--uts", sys.executable, __file__, "--apart"])
    socket.sethostname("demo")
    os.chdir(ROOT)
    snapshot = recorded()
    draw(snapshot)
    subprocess.run([FLIGHTREC, "report", snapshot], check=True)


main()
