# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What a snapshot has of the host beside events: command lines without what is secret in them, and the kernel's log."""
import contextlib
import json
import os
import shutil
import subprocess
import sys
import time

from frtest import FLIGHTREC, MINIMAL, Skip, check, dump, equal, fr, fr_json, main, path, run, shared, test
from t_attack import command_lines

SLEEPS = "import sys, time; sys.stdout.write('x'); sys.stdout.flush(); time.sleep(600)"


@contextlib.contextmanager
def running(*args):
    """A process with these arguments that does nothing; gives its pid."""
    p = subprocess.Popen([sys.executable, "-c", SLEEPS, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    try:
        p.stdout.read(1)
        yield p.pid
    finally:
        p.kill()
        p.communicate()


def content(file):
    """All of a file, decoded."""
    return subprocess.run(["zstd", "-dcq", file], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


@test("secrets in a command line are not in the file, which counts them; the rest is")
def secrets():
    # by pieces, so that no other process has them on its command line
    hidden = [f"hunter{n}" + "frt" for n in range(4)]
    args = ["--db-password", f"{hidden[0]} with spaces", f"--api-key={hidden[1]}", "-H", f"Authorization: Bearer {hidden[2]}",
            f"postgres://bob:{hidden[3]}@db/x", "--port", "8080"]
    with running(*args) as pid:
        file = dump(shared(*MINIMAL))
    line, text = command_lines(file)[pid], content(file)
    check(line.endswith("--db-password [redacted] --api-key=[redacted] -H Authorization: [redacted] postgres://bob:[redacted]@db/x --port 8080"),
          line)
    equal([h for h in hidden if h.encode() in text], [], "secrets in the file")
    check(fr_json("info", file)["redacted"] >= 4, "four values at least were redacted")


def log(text):
    """A record of ours, as one who may write to the log writes it; when that was, by the events' clock."""
    before = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    with open("/dev/kmsg", "wb", buffering=0) as f:
        f.write(text)
    return before, time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def logged(file, *options):
    """{text: record} of the kernel's log, by replay."""
    lines = fr("replay", "--kmsg", "--json", *options, file).stdout.splitlines()
    return {r["kmsg"]: r for r in map(json.loads, lines) if "kmsg" in r}


def ours(records, tag):
    return [r for text, r in records.items() if tag in text]


@test("the kernel's log: redacted, at its time by the events' clock, in order among them; cut and merge keep it, each record once")
def kernel_log():
    tag = f"frt-log-{os.getpid()}"
    name = shared(*MINIMAL)
    first = log(f"<3>{tag} one\x1b[31m token=hunter2 end\n".encode())
    one = dump(name)
    second = log(f"<30>{tag} two\n".encode())
    two = dump(name)
    records = logged(two)
    got = ours(records, tag)
    equal([r["kmsg"] for r in got], [f"{tag} one\x1b[31m token=[redacted] end", f"{tag} two"], "records")
    equal([(r["level"], r["facility"]) for r in got], [("err", "user"), ("info", "daemon")], "who logged them, and how severe they are")
    for r, (before, after) in zip(got, (first, second)):
        check(before - r["uncertainty_ns"] - 1000 <= r["ts"] <= after + r["uncertainty_ns"], f"{r} is between {before} and {after}")
        check(r["uncertainty_ns"] < 60e9 * 500e-6, f"not more than the drift of a minute: {r}")
    check("hunter2" not in content(two).decode(errors="replace"), "a secret is in the file")
    times = [e["ts"] for e in map(json.loads, fr("replay", "--kmsg", "--json", two).stdout.splitlines())]
    equal(times, sorted(times), "times of records and events")
    text = [line for line in fr("replay", "--kmsg", two).stdout.splitlines() if tag in line]
    check("kernel log: user.err: " in text[0] and "\\x1b[31m" in text[0] and "kernel log: daemon.info: " in text[1], text)
    around = fr_json("report", two)["kernel_log"]["around"]
    equal(ours({r["kmsg"]: r for r in around}, tag), got, "records of the report")
    check(f"{tag} two" in fr("report", two).stdout, "the last record is in the report's text")
    equal(fr_json("info", two)["kernel_log"]["records"], fr_json("report", two)["kernel_log"]["records"], "records that info counts")
    short, both = path("short.flight"), path("both.flight")
    fr("cut", "-o", short, "-f", "event == trigger", two)
    fr("merge", "-o", both, one, two)
    for file in (short, both):
        fr("verify", file)
        equal([r["kmsg"] for r in ours(logged(file), tag)], [r["kmsg"] for r in got], f"records of {file}")
    equal(len(ours(logged(one, two), tag)), 2, "records of two files in one replay")


@test("whoever may not read the kernel's log takes a snapshot without it, which says so")
def log_denied():
    with open("/proc/sys/kernel/dmesg_restrict") as f:
        if f.read().strip() != "1":
            raise Skip("kernel.dmesg_restrict is 0: everybody may read the log")
    file = path("denied.flight")
    if not shutil.which("capsh"):
        raise Skip("no capsh (libcap2-bin)")
    run("capsh", "--drop=cap_syslog,cap_sys_admin", "--", "-c", f"{FLIGHTREC} dump -n {shared(*MINIMAL)} -o {file}")
    equal([i for i in fr_json("info", file)["unread"]["items"] if i["what"] == "kmsg"], [{"pid": 0, "what": "kmsg", "why": "denied"}], "unread")
    equal(fr_json("info", file)["kernel_log"], None, "info's kernel_log")
    equal(fr_json("report", file)["kernel_log"], None, "report's kernel_log")
    check("kernel log not recorded" in fr("report", file).stdout, "the report says so")
    check("was not recorded" in fr("replay", "--kmsg", file).stderr, "replay says so")


if __name__ == "__main__":
    main()
