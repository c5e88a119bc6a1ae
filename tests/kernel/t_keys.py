# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The keys of all live JSON against docs/json.md: of a session of the default profile, with a governor, rules, and watches."""
import contextlib
import os
import signal
import socket
import subprocess
import sys

from frtest import (FLIGHTREC, ROOT, WATCHED, Skip, check, equal, fr, helper, last_of, main, path, recorder, run, snapshots, test,
                    wait_for)

KEYS = os.path.join(ROOT, "tests", "cli", "keys.py")
RULES = ("crash:comm=frtkeys", "latency:offcpu>1ms:comm=frtkeys", 'event:event == sched_process_exec && filename ~ "*sleep"', "hung>30s",
         "kernel", "psi:cpu:90%")


def named(section, text):
    """Each key of this output is in this section of docs/json.md."""
    file = path("keys")
    with open(file, "w") as f:
        f.write(text)
    with open(file) as f:
        got = run(sys.executable, KEYS, section, stdin=f, status=None)
    check(not got.returncode, got.stdout + got.stderr)


def ask(name, request):
    """What the recorder answers, a line."""
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(120)
        s.connect(f"/run/flightrec/{name}.sock")
        s.sendall(request.encode() + b"\n")
        return s.makefile().readline()


def is_served(name):
    try:
        return ask(name, '{"cmd":"store"}')
    except OSError:
        return None


@contextlib.contextmanager
def printing(command, name, *options, status=0, stderr=subprocess.DEVNULL):
    """A command that prints as things happen, into a file; interrupted at the end, if it has not ended. Gives the file."""
    file = path(command)
    with open(file, "w") as f:
        p = subprocess.Popen([FLIGHTREC, command, "-n", name, "--json", *options], stdin=subprocess.DEVNULL, stdout=f, stderr=stderr)
    try:
        yield file
        if not status:
            p.send_signal(signal.SIGINT)
        equal(p.wait(120), status, f"exit status of {command}")
    finally:
        p.kill()
        p.wait()


def told(file, what):
    """Does a line say so?"""
    with open(file) as f:
        return what in f.read()


def make_moments(name, followed, dir):
    """Something for each kind of line: snapshots, one after the other, of which the last is a crash's; a CPU that is not to be had."""
    name_it = "open('/proc/self/comm', 'w').write('frtkeys')"
    for reason, command, status in (("event", ("sleep", "0"), 0),
                                    ("latency", (sys.executable, "-c", f"import time; {name_it}; time.sleep(0.1)"), 0),
                                    ("crash", (sys.executable, "-c", f"import os; {name_it}; os.kill(os.getpid(), 11)"), -signal.SIGSEGV)):
        run(*command, status=status)
        wait_for(lambda reason=reason: any(f"-{reason}" in f for f in snapshots(dir)), f"a snapshot of {reason}")
    if run(helper("hog"), min(os.sched_getaffinity(0)), 80, 3, 20, 60, status=None).returncode == 77:
        raise Skip("no right to real-time priority here")
    fr("dump", "-n", name)
    for what in ('"watch":"trigger","reason":"crash","verdict":"taken"', '"watch":"snapshot","ok":true'):
        wait_for(lambda: told(followed, what), f"follow tells {what}")


@test("docs/json.md names each key: of a session, its recorder, who watches it, what it leaves; a watch ends with its session")
def keys():
    dir, file = path("keys.d"), path("keys.conf")
    with open(file, "w") as f:
        rules = "".join(f"On={r}\n" for r in RULES)
        f.write(f"[Session]\nEvent=softirq\nMemory=16M\n[Trigger]\n{rules}[Storage]\nKeepFree=0%\n[Governor]\nBudget=50%\n")
    with last_of(*WATCHED) as name, recorder(name, "--config", file, "-o", dir):
        wait_for(lambda: is_served(name), "the recorder listens")
        with (printing("follow", name) as followed, printing("tail", name) as tailed,
              printing("watch", name, "--threshold", "10ms", "--on", "holdoff>10ms", "-o", dir) as watched):
            for printed in (tailed, watched):
                wait_for(lambda: os.path.getsize(printed), f"{printed} begins")
            wait_for(lambda: ask(name, '{"cmd":"dump"}') and os.path.getsize(followed), "follow begins")
            make_moments(name, followed, dir)
            wait_for(lambda: told(watched, '"watch":"holdoff"'), "a holdoff is told")
        for section, printed, last in (("follow", followed, "verdict"), ("watch", watched, "due_to"), ("tail, replay", tailed, "rings")):
            check(told(printed, f'"{last}"'), f"{section}: no {last}")
            with open(printed) as f:
                named(section, f.read())
        named("status, stop", fr("status", "-n", name, "--json", "--overhead").stdout)
        for request in ("store", "dump", "nothing", "reload"):
            named("The control socket", ask(name, f'{{"cmd":"{request}"}}'))
        named("The control socket", ask(name, '{"cmd":"status","format":"text"}'))
        named("incidents", fr("incidents", "-n", name, "--json").stdout)
        named("profile", fr("profile", "-n", name, "--json", "--diff").stdout)
        named("list", fr("list", "-o", dir, "--json").stdout)
        for reason in ("crash", "latency", "event", "command"):
            shot = next(f for f in snapshots(dir) if f"-{reason}" in f)
            named("info", fr("info", f"{dir}/{shot}", "--json").stdout)
        named("incidents", open(f"{dir}/incidents.journal").read())
        with open(path("watch.err"), "w+") as err, printing("watch", name, "--hz", "0", status=4, stderr=err) as watched:
            wait_for(lambda: os.path.getsize(watched), "the watch begins")
            named("status, stop", fr("stop", "-n", name, "--json").stdout)
            wait_for(lambda: "has ended" in open(err.name).read(), "the watch says that its session has ended")


if __name__ == "__main__":
    main()
