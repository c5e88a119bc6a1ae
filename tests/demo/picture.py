#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Pictures of three incidents, each made from a real snapshot: the README's page and its lines of `report`, and what docs/tour.md
shows. As root, after `make`:

	python3 tests/demo/picture.py	build/demo/picture/NAME/*.flight, docs/view.png, docs/pictures/*.png; prints the report of the crash

It runs in a UTS namespace of its own, in which the machine's name is "demo". Chromium and chromedriver draw the pages and, from what
a terminal was sent, the screens; the pictures show the kernel's version without its local part.
"""
import glob
import html
import os
import pty
import re
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
PROGRAMS = {"crash": "flightrec-demo-crash", "trouble": "flightrec-demo-trouble"}
PICTURE = "docs/view.png"
PICTURES = "docs/pictures"
WAIT_S = 30
# name: program, its argument, rule, options of record, the page's window
INCIDENTS = {
    "crash": ("crash", None, "crash", ["-e", "syscall"], "trigger-16ms..trigger+1ms"),
    "lock": ("trouble", "lock", "latency:syscall:futex>300ms:comm=order-worker", [], "trigger-600ms..trigger+50ms"),
    "hog": ("trouble", "hog", "latency:wakeup>50ms:comm=web-answer", [], "trigger-200ms..trigger+50ms"),
}
WITHOUT_LOCAL_VERSION = """
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) texts.currentNode.data = texts.currentNode.data.replace(/\\b(\\d+\\.\\d+\\.\\d+)-[\\w.-]+/, "$1");
"""
SCREEN_COLUMNS = 110
COLORS = {"1": "font-weight:bold", "2": "color:#8d969d", "31": "color:#ff6b63", "32": "color:#3fb877", "33": "color:#e0a52f",
          "34": "color:#5f97d3", "35": "color:#bd6cb6", "36": "color:#4fb3bf"}


def wait_for(what, ready):
    end = time.monotonic() + WAIT_S
    while not ready():
        if time.monotonic() > end:
            raise SystemExit(f"picture: {what} did not come within {WAIT_S} s")
        time.sleep(0.1)


def recorded(name):
    """A snapshot of the incident, while a compiler works on another CPU."""
    program, argument, rule, options, _ = INCIDENTS[name]
    place, path = f"{PLACE}/{name}", f"/tmp/{PROGRAMS[program]}"
    shutil.rmtree(place, ignore_errors=True)
    os.makedirs(place)
    subprocess.run(["gcc", "-O1", "-g", "-Wall", "-Wextra", "-pthread", f"tests/demo/{program}.c", "-o", path], check=True)
    recorder = subprocess.Popen([FLIGHTREC, "record", "-n", "picture", "-m", "8M", *options, "--on", rule, "-o", place], stderr=subprocess.DEVNULL)
    try:
        wait_for("the session", lambda: subprocess.run([FLIGHTREC, "status", "-n", "picture"], capture_output=True, check=False).returncode == 0)
        work = subprocess.Popen(["gcc", "-O2", "-Ibpf", "-Iuser", "-c", "user/base/rows/merge.c", "-o", f"{place}/work.o"])
        time.sleep(0.1)
        subprocess.run([path, *([argument] if argument else [])], check=False, stderr=subprocess.DEVNULL)
        work.wait()
        wait_for("the snapshot", lambda: glob.glob(f"{place}/*.flight"))
    finally:
        recorder.send_signal(signal.SIGINT)
        recorder.wait()
    return sorted(glob.glob(f"{place}/*.flight"))[0]


def shown(page, picture, width, height, keys=""):
    b = browser.Browser(width=width, height=height)
    try:
        said = b.open(page)
        if said:
            raise SystemExit(f"picture: the page says: {said}")
        b.keys(keys)
        b.run(WITHOUT_LOCAL_VERSION)
        b.frame()
        b.screenshot(picture)
    finally:
        b.close()


def draw(name, snapshot, picture):
    page = f"{PLACE}/{name}/view.html"
    subprocess.run([FLIGHTREC, "view", "--window", INCIDENTS[name][4], "-o", page, snapshot], check=True)
    shown(page, picture, 1240, 640, "f")


def on_terminal(*command):
    """What it writes to a terminal of that width."""
    out = []

    def read(fd):
        data = os.read(fd, 4096)
        out.append(data)
        return b""

    os.environ.update(COLUMNS=str(SCREEN_COLUMNS), TERM="xterm-256color", PAGER="cat")
    pty.spawn(command, read)
    return b"".join(out).decode().replace("\r", "")


def as_html(text):
    made = ""
    for part in re.split(r"(\x1b\[[0-9;]*m)", text):
        codes = re.fullmatch(r"\x1b\[([0-9;]*)m", part)
        if codes and codes[1] in COLORS:
            made += f"<span style='{COLORS[codes[1]]}'>"
        elif codes:
            made += "</span>"
        else:
            made += html.escape(part)
    return made


def screen(name, snapshot):
    """The first lines of a report, down to the trigger, as a terminal shows them."""
    lines = on_terminal(FLIGHTREC, "report", snapshot).splitlines()[1:]
    lines = lines[:next(i for i, line in enumerate(lines) if "program" in line[:30])]
    page = f"{PLACE}/{name}/screen.html"
    with open(page, "w", encoding="utf-8") as f:
        f.write("<!DOCTYPE html><meta charset=utf-8><body style='margin:0;background:#14171a;color:#dfe3e6'><i id=loading-text class=bad hidden></i>"
                f"<pre style='font:13px/1.4 DejaVu Sans Mono,monospace;margin:12px;width:{SCREEN_COLUMNS}ch;white-space:pre-wrap;overflow-wrap:anywhere'>$ flightrec report {os.path.basename(snapshot)}\n"
                f"{as_html(chr(10).join(lines))}</pre>")
    shown(page, f"{PICTURES}/{name}-report.png", 920, 160 + 19 * (len(lines) + 3))


def main():
    if browser.missing():
        raise SystemExit(f"picture: {browser.missing()} is not installed")
    if sys.argv[1:] != ["--apart"]:
        os.execvp("unshare", ["unshare", "--uts", sys.executable, __file__, "--apart"])
    socket.sethostname("demo")
    os.chdir(ROOT)
    os.makedirs(PICTURES, exist_ok=True)
    for name in INCIDENTS:
        snapshot = recorded(name)
        draw(name, snapshot, PICTURE if name == "crash" else f"{PICTURES}/{name}-view.png")
        screen(name, snapshot)
    subprocess.run([FLIGHTREC, "report", *glob.glob(f"{PLACE}/crash/*.flight")[:1]], check=True)
    for program in PROGRAMS.values():
        os.unlink(f"/tmp/{program}")  # names of its functions come from it


main()
