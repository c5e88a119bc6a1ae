# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What a snapshot has of the host beside events: command lines without what is secret in them, and the kernel's log."""
import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time

from frtest import FLIGHTREC, MINIMAL, Skip, check, dump, equal, fr, fr_json, main, path, run, shared, test, wait_for
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


def of_host():
    """The counts of the host's files, by the names that snapshots have."""
    told = {}
    for name in ("netstat", "snmp"):
        with open(f"/proc/1/net/{name}") as f:
            lines = [line.split() for line in f]
        for names, values in zip(lines[::2], lines[1::2]):
            told.update({f"{name}.{names[0][:-1]}{key}": int(v) for key, v in zip(names[1:], values[1:])})
    for name in ("vmstat", "stat"):
        with open(f"/proc/{name}") as f:
            told.update({f"{name}.{w[0]}": int(w[1]) for w in map(str.split, f) if len(w) == 2})
    with open("/proc/diskstats") as f:
        for w in map(str.split, f):
            told.update({f"disk.reads {w[2]}": int(w[3]), f"disk.writes {w[2]}": int(w[7])})
    for what in ("cpu", "memory", "io"):
        with open(f"/proc/pressure/{what}") as f:
            told.update({f"pressure.{what}.{w[0]}": int(w[-1][len("total="):]) for w in map(str.split, f)})
    return told


def counted(file):
    """{"NAME OBJECT": (kind, times, values)} of a snapshot's counters."""
    return {" ".join(filter(None, (c["name"], c["object"]))): (c["kind"], c["ts"], c["values"]) for c in fr_json("info", "--counters", file)["counters"]}


@test("counters of the host are what its files say at that moment; cut and merge keep them, each once")
def counters():
    name = shared(*MINIMAL)
    before, one = of_host(), dump(name)
    between, two = of_host(), dump(name)
    after = of_host()
    has = counted(two)
    for had, file, then in ((before, counted(one), between), (between, has, after)):
        both = [key for key, (kind, _, _) in file.items() if key in had and kind == "count" and not key.startswith(("vmstat.pgpg", "stat.softirq"))]
        check(len(both) > 50, f"only {both}")
        wrong = {key: (had[key], file[key][2][-1], then[key]) for key in both if not had[key] <= file[key][2][-1] <= then[key]}
        equal(wrong, {}, "counters that are not between what /proc said before and after")
    short, merged = path("counters-short.flight"), path("counters-both.flight")
    fr("cut", "-o", short, "-f", "event == trigger", two)
    equal(counted(short), has, "counters of the cut file")
    fr("merge", "-o", merged, one, two)
    all = counted(merged)
    for key, (kind, times, values) in counted(one).items():
        expected = {**dict(zip(times, values)), **(dict(zip(*has[key][1:])) if key in has else {})}
        equal(dict(zip(*all[key][1:])), expected, f"{key} of the merged file")
    for file in (short, merged):
        fr("verify", file)


@contextlib.contextmanager
def full_listener():
    """A listening socket whose queue is full, and a function that has a connection dropped there."""
    with socket.socket() as server, contextlib.ExitStack() as clients:
        server.bind(("127.0.0.1", 0))
        server.listen(0)

        def connect():
            c = clients.enter_context(socket.socket())
            c.setblocking(False)
            c.connect_ex(server.getsockname())

        connect()
        yield connect


@test("connections that a full queue drops move ListenOverflows by as much as the kernel says")
def overflows():
    key, name = "netstat.TcpExtListenOverflows", shared(*MINIMAL)

    def at_rest():
        """A snapshot between two readings that say the same, and what they say."""
        for _ in range(20):
            before = of_host()[key]
            file = dump(name)
            if of_host()[key] == before:
                return file, before
        raise Skip("somebody else's queue overflows all the time")

    with full_listener() as connect:
        one, had = at_rest()
        for _ in range(8):
            connect()
        wait_for(lambda: of_host()[key] > had, "a connection is dropped")
        # what is dropped is sent again, at times of its own
        two, has = at_rest()
    equal([counted(one)[key][2][-1], counted(two)[key][2][-1]], [had, has], "ListenOverflows of both snapshots")
    both = path("overflows.flight")
    fr("merge", "-o", both, one, two)
    values = counted(both)[key][2]
    equal(values[-1] - values[-2], has - had, "by how much it moved")


if __name__ == "__main__":
    main()
