# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""status: the screen, JSON and OpenMetrics of a session, with and without a recorder; keys of all JSON about sessions."""
import contextlib
import fcntl
import os
import pty
import re
import shutil
import stat
import struct
import subprocess
import tempfile
import termios

from frtest import (CHOICE, FILTERED, FLIGHTREC, SYSCALLS, busy, check, dump, equal, fr, fr_json, main, path, run, shared, status, test,
                    wait_for)

SAMPLE = re.compile(r'(?P<name>[a-zA-Z_][a-zA-Z0-9_]*)\{(?P<labels>(?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)*)\} (?P<value>[-+0-9.e]+)\Z')
SUFFIX = {"counter": "_total", "gauge": "", "info": "_info"}


def parse_metrics(text):
    """A strict reader of the part of OpenMetrics 1.0 that is used here: {(name, labels): value}."""
    check(text.endswith("# EOF\n"), "no # EOF at the end")
    lines = text[:-len("# EOF\n")].splitlines()
    families, samples, now = {}, {}, None
    for line in lines:
        if line.startswith("# "):
            word, name, rest = line[2:].split(" ", 2)
            check(word in ("TYPE", "UNIT", "HELP"), line)
            if word == "TYPE":
                check(name not in families, f"family twice: {line}")
                check(rest in SUFFIX, line)
                now = families[name] = {"TYPE": rest}
            else:
                check(families.get(name) is now and word not in now, f"out of place: {line}")
                now[word] = rest
            check(word != "UNIT" or name.endswith("_" + rest), f"unit is not in the name: {line}")
            check(word != "HELP" or rest.endswith("."), line)
            continue
        got = SAMPLE.match(line)
        check(got, f"not a sample: {line}")
        family = next(n for n, f in families.items() if f is now)
        equal(got["name"], family + SUFFIX[now["TYPE"]], "name of the sample")
        key = (got["name"], got["labels"])
        check(key not in samples, f"sample twice: {line}")
        labels = re.findall(r'([a-z_]+)="', got["labels"])
        equal(len(labels), len(set(labels)), f"labels in {line}")
        samples[key] = float(got["value"])
        check(now["TYPE"] != "counter" or samples[key] >= 0, line)
    for name, family in families.items():
        check("HELP" in family, f"{name} has no HELP")
    return samples


def total(samples, name, *labels):
    return sum(v for (n, have), v in samples.items() if n == name and all(x in have for x in labels))


def make_calls():
    run("dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=20000")


@test("--metrics: OpenMetrics that a strict reader takes, with the numbers of --json")
def metrics():
    name = shared(*SYSCALLS)
    make_calls()
    before = status(name)
    got = parse_metrics(fr("status", "-n", name, "--metrics").stdout)
    after = status(name)
    written = total(got, "flightrec_records_written_total")
    low, high = (sum(c["written"] for c in st["cpus"]) for st in (before, after))
    check(low <= written <= high, f"written: {low} <= {written} <= {high}")
    equal(total(got, "flightrec_memory_rings_bytes"), before["memory"]["rings"], "memory")
    equal(total(got, "flightrec_store_file_system_bytes"), before["quota"]["fs_bytes"], "the disk, to the byte")
    equal(total(got, "flightrec_recorder_up"), 0, "recorder")
    equal(len([1 for n, _ in got if n == "flightrec_records_lost_total"]), len(before["cpus"]) * 5 * 3, "losses: CPU, tier, reason")
    check(total(got, "flightrec_history_seconds", 'cpu="0"', 'tier="main"') > 0, "history")
    equal(len([1 for n, _ in got if n == "flightrec_events_per_second"]), len(before["rates"]), "rates, by group")
    check(all(f'session="{name}"' in labels for _, labels in got), "label of the session")


@test("--metrics=FILE: replaced in one step, readable by others, nothing left behind; a directory that is not there is said")
def metrics_file():
    dir = path("metrics")
    os.mkdir(dir)
    file = f"{dir}/flightrec.prom"
    name = shared(*SYSCALLS)
    for _ in range(2):
        equal(fr("status", "-n", name, f"--metrics={file}").stdout, "", "standard output")
        parse_metrics(open(file).read())
    equal(os.stat(file).st_mode & 0o777, 0o644, "mode")
    equal(os.listdir(dir), ["flightrec.prom"], "files")
    was = open(file).read()
    fr("status", "-n", "frtest-none", f"--metrics={file}", status=4)
    equal(open(file).read(), was, "the file after a failure")
    got = fr("status", "-n", name, f"--metrics={dir}/none/x.prom", status=1)
    check("cannot write" in got.stderr and "No such file" in got.stderr, got.stderr)


@test("--metrics=FILE: a device is written to, not replaced; a link leads to what is replaced")
def metrics_elsewhere():
    dir = path("metrics-elsewhere")
    os.mkdir(dir)
    device, link, file = f"{dir}/null", f"{dir}/link", f"{dir}/file"
    os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    os.symlink("file", link)
    open(file, "w").close()
    name = shared(*SYSCALLS)
    fr("status", "-n", name, f"--metrics={device}")
    check(stat.S_ISCHR(os.stat(device).st_mode), "it is a device no longer")
    fr("status", "-n", name, f"--metrics={link}")
    check(os.path.islink(link), "it is a link no longer")
    parse_metrics(open(file).read())
    parse_metrics(fr("status", "-n", name, "--metrics=/dev/stdout").stdout)
    # as /dev/stdout is, which would not be there any more for others
    out = f"{dir}/stdout"
    os.symlink("/proc/self/fd/1", out)
    with tempfile.TemporaryFile("w+") as unnamed:
        fr("status", "-n", name, f"--metrics={out}", stdout=unnamed)
        check(os.path.islink(out), "it is a link no longer, of a file without a name")
        unnamed.seek(0)
        parse_metrics(unnamed.read())
    os.symlink("nothing", f"{dir}/nowhere")
    check("No such file" in fr("status", "-n", name, f"--metrics={dir}/nowhere", status=1).stderr, "a link to nothing")
    check(os.path.islink(f"{dir}/nowhere"), "it is a link no longer, though it leads nowhere")


@test("rates by group, overhead as measured and as known from then on, history in seconds")
def rates():
    name = shared(*SYSCALLS)
    make_calls()
    measured = fr_json("status", "-n", name, "--overhead")["overhead"]
    equal(measured["measured"], True, "overhead measured")
    check(measured["window_ns"] >= 1_000_000_000 and 0 < measured["percent"], measured)
    with busy():  # which takes a moment to begin
        st = wait_for(lambda: (st := status(name))["rates"]["syscall"] > 100 and st["rates"]["sched"] > 0 and st, "rates")
    equal(st["rates"]["block"], 0, "rate of a group that is not recorded")
    equal(st["overhead"]["measured"], False, "overhead measured")
    check(st["overhead"]["event_ns"] > 0 and st["overhead"]["percent"] > 0, st["overhead"])
    check(0 < st["common_history_s"] <= st["recording_s"], "history")
    for cpu in st["cpus"]:
        check(st["common_history_s"] <= cpu["history_s"] <= st["recording_s"], f"history of CPU {cpu['cpu']}")
    history = [c["history_s"] for c in st["cpus"]]
    equal(st["common_history_s"], min(history), "common history: that of the CPU with the shortest")
    # nothing was overwritten yet, nor while the rings were looked at: all the seconds there are, but for a CPU that came later
    if not any(c["overwritten"] for c in status(name)["cpus"]):
        equal(max(history), st["recording_s"], "history of rings that are not full")


def on_terminal(columns, *args):
    """What a command prints on a terminal so wide."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    env = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "TERM": "xterm"}
    p = subprocess.Popen([FLIGHTREC, *args], stdin=slave, stdout=slave, stderr=slave, env=env)
    os.close(slave)
    out = b""
    while True:
        try:
            more = os.read(master, 65536)
        except OSError:  # the other end was closed
            break
        if not more:
            break
        out += more
    os.close(master)
    equal(p.wait(120), 0, "exit status")
    return out.decode().replace("\r\n", "\n")


@test("the screen: what is asked for is there; it fits a terminal, with colour there and nowhere else")
def screen():
    name = shared(*SYSCALLS)
    make_calls()
    before = fr("status", "-n", name).stdout
    check("overhead" in before, f"it is measured, or said not to be so far: {before}")
    fr("status", "-n", name, "--overhead")  # from now on it is known
    text = fr("status", "-n", name).stdout
    for word in (f"session {name}: records on its own", "history", "events/s", "overhead", "lost", "0 wrap", "memory", "clock",
                 "samples", "quota", "CPU  tier"):
        check(word in text, f"'{word}' is not in: {text}")
    check("\x1b" not in text, "colour where there is no terminal")
    for columns in (60, 80, 132):
        shown = on_terminal(columns, "status", "-n", name)
        check("\x1b[" in shown, "no colour on a terminal")
        lines = re.sub(r"\x1b\[[0-9;]*m", "", shown).splitlines()
        table = [x for x in lines if re.match(r"  (CPU|  *\d+) ", x)]
        check(len(table) > 3, f"no table in {lines}")
        events = lines[lines.index(next(x for x in lines if x.startswith("  events  "))):]
        for x in (*(table if columns > 60 else []), *events[:3]):
            check(len(x) <= columns, f"{len(x)} columns of {columns}: {x}")


@contextlib.contextmanager
def in_directory(name, dir):
    """A session that others use, too, has its snapshots there for a while."""
    was = status(name)["dir"]
    fr("record", "-n", name, "-o", dir, "--unattended", *SYSCALLS)
    try:
        yield
    finally:
        fr("record", "-n", name, "-o", was, "--unattended", *SYSCALLS)


@test("what is wrong is said: the directory is gone, no room is left")
def wrong():
    dir, name = path("goes-away"), shared(*SYSCALLS)
    with in_directory(name, dir):
        st = status(name)
        check("directory" not in [p["what"] for p in st["problems"]], st["problems"])
        equal((st["quota"]["files"], st["quota"]["error"]), (0, ""), "quota")
        shutil.rmtree(dir)
        st = status(name)
        check("directory" in [p["what"] for p in st["problems"]], f"{st['problems']} {st['quota']}")
        check("directory of snapshots is gone" in fr("status", "-n", name).stdout, "on the screen")
        got = parse_metrics(fr("status", "-n", name, "--metrics").stdout)
        equal((total(got, "flightrec_problem", 'what="directory"'), total(got, "flightrec_store_usable")), (1, 0), "in the metrics")
        os.mkdir(dir, 0o700)
        fr("dump", "-n", name)
        equal(status(name)["quota"]["files"], 1, "snapshots")


@test("samples that a filter rejects were taken all the same")
def filtered_samples():
    name = shared(*FILTERED)
    wait_for(lambda: status(name)["samples"]["expected"] > 100, "a hundred samples are due")
    check(status(name)["samples"]["taken"], f"no sample was taken: {status(name)}")
    check(fr_json("info", dump(name))["samples"]["taken"], "no sample was taken before the snapshot")


@test("what is not recorded by the options is told: by status, info and report")
def chosen():
    name = shared(*FILTERED)
    file, settings = dump(name), status(name)["settings"]
    check(settings.endswith(f"-f {CHOICE}"), f"settings: {settings}")
    for args in (("status", "-n", name), ("info", file)):
        check(re.search(rf"^  options +{re.escape(settings)}$", fr(*args).stdout, re.M), f"{args}: {fr(*args).stdout}")
    equal(fr_json("info", file)["settings"], settings, "settings in the snapshot")
    check(f"only what these options of record select: {settings}\n" in fr("report", file).stdout, fr("report", file).stdout)
    check("options of record select" not in fr("report", dump(shared(*SYSCALLS))).stdout, "nothing was chosen")


@test("usage: two formats at once, a file for none, names that are none")
def usage():
    for args, word in ((["status", "--json", "--metrics"], "choose one"), (["status", "x"], "-n"), (["follow", "x"], "-n"),
                       (["reload", "--json"], "json"), (["follow", "-n", "../x"], "not a session's name"),
                       (["reload", "-n", ""], "not a session's name")):
        got = fr(*args, status=2)
        check(word in got.stderr, f"{args}: {got.stderr}")
    for args in (["follow", "-n", "frtest-none"], ["reload", "-n", "frtest-none"], ["status", "-n", "frtest-none"]):
        fr(*args, status=4)


if __name__ == "__main__":
    main()
