# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Bytes that an event takes on disk, on five loads, beside what others make of them; and how fast it is written."""
import itertools
import json
import os
import re
import shutil
import struct
import subprocess
import tempfile

import common
import overwriting

BUILD = 'while gcc -O1 -I/usr/include -c -o /dev/null "$0"; do :; done'
MESSAGING = "while perf bench sched messaging -g 4 -l 100; do :; done"
SAMPLES = ("-p", "minimal", "-e", "sample", "--hz", "999")
LOADS = (  # what, command that goes on for ever (None: the mixed load), flightrec's options, perf's
    ("mixed", None, ("-p", "full"), None),
    ("files, system calls", (os.path.join(common.HERE, "mixed.sh"), "600", "files"), ("-p", "full"), None),
    ("messaging, scheduling", ("bash", "-c", MESSAGING), ("-p", "full"), None),
    ("build", ("bash", "-c", BUILD, os.path.join(common.HERE, "rules.c")), ("-p", "full"), None),
    ("build, samples with stacks", ("bash", "-c", BUILD, os.path.join(common.HERE, "rules.c")), SAMPLES,
     ("-F", "999", "-e", "cpu-clock", "-g")),
)
MIXED_MOST = 3.6  # bytes
TIMED_OUT = 124  # timeout's exit status
ROWS_MOST = 200_000  # events turned into wprof-like rows: it is done in Python


def run_for(command, seconds):
    if command is None:
        common.load(seconds)
    else:
        done = subprocess.run(["timeout", str(seconds), "setsid", "--wait", *command], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, errors="replace", check=False)
        if done.returncode != TIMED_OUT:  # it goes on for ever, or something fails in it
            raise SystemExit(f"bench: the load ends by itself: {done.stderr or done.returncode}")


def packed(read_from):
    """Bytes that zstd -1 makes of a command's output, and seconds of CPU that zstd took."""
    with subprocess.Popen(read_from, stdout=subprocess.PIPE) as source:
        out = subprocess.Popen(["zstd", "-1", "-q", "-c", "--single-thread"], stdin=source.stdout, stdout=subprocess.PIPE)
        source.stdout.close()
        size = sum(map(len, iter(lambda: out.stdout.read(1 << 20), b"")))
        _, status, usage = os.wait4(out.pid, 0)
        out.returncode = os.waitstatus_to_exitcode(status)
    if out.returncode or source.returncode:
        raise SystemExit(f"bench: {' '.join(read_from)} | zstd: exit status {source.returncode}, {out.returncode}")
    return size, usage.ru_utime + usage.ru_stime


def tree_size(path):
    return sum(os.path.getsize(os.path.join(at, name)) for at, _, names in os.walk(path) for name in names)


# ---- ours, and the same events in other formats ----

def exported(tmp, path, to):
    out = os.path.join(tmp, f"x.{to}")
    common.run(common.FLIGHTREC, "export", "--to", to, "-o", out, path)
    return out


# Formats of struct.pack for the table's types; names of tasks are in the row as a number of a task.
CODE = {"u8": "B", "s8": "b", "u16": "H", "s16": "h", "u32": "I", "s32": "i", "u64": "Q", "s64": "q", "str": "I",
        "text8": "I", "u64s": "I"}
ARGS_CNT = 6


def row_makers():
    """By event: its fields as (name, code), names of tasks left out, and what is found by a number."""
    makers = {}
    for event in json.loads(common.run(common.FLIGHTREC, "events", "--json").stdout):
        fields = [(f["name"], f["type"]) for f in event["fields"] if not f["derived"] and f["type"] != "comm"]
        makers[event["name"]] = [(name, "args" if name == "args" else CODE[kind])
                                 for name, kind in fields]
    return makers


class Rows:
    """wprof-like rows: 24 bytes of head (size, flags, kind, task, CPU, node, time), the fields as they are, texts by number."""

    def __init__(self):
        self.makers, self.kinds, self.pool = row_makers(), {}, {}

    def number(self, text):
        return self.pool.setdefault(text, len(self.pool))

    def value(self, event, name, code):
        value = event.get(name, 0)
        if code == "args":
            return struct.pack("<6Q", *itertools.islice(itertools.chain((a & (1 << 64) - 1 for a in value or ()), itertools.repeat(0)),
                                                        ARGS_CNT))
        if isinstance(value, (str, list)):
            value = self.number(str(value))
        bits = 8 * struct.calcsize("<" + code)
        value &= (1 << bits) - 1
        return struct.pack("<" + code.upper(), value)

    def row(self, event):
        body = b"".join(self.value(event, name, code) for name, code in self.makers[event["event"]])
        body += bytes(-len(body) % 8)
        return struct.pack("<HHIIHHQ", 24 + len(body), 0, self.kinds.setdefault(event["event"], len(self.kinds)), event["tid"],
                           event["cpu"], 0, event["ts"]) + body


def wprof_like(tmp, path):
    """Bytes an event of such rows with zstd -1, texts included."""
    rows, cnt, raw = Rows(), 0, os.path.join(tmp, "rows")
    with subprocess.Popen([common.FLIGHTREC, "replay", "--json", "--no-symbols", path], stdout=subprocess.PIPE) as p, \
            open(raw, "wb") as out:
        for line in itertools.islice(p.stdout, ROWS_MOST):
            out.write(rows.row(json.loads(line)))
            cnt += 1
        p.kill()
        out.write("\0".join(rows.pool).encode())
    size, _ = packed(["cat", raw])
    os.unlink(raw)
    return size / cnt


def ours(what, options, command, seconds, tmp):
    """A snapshot of the load, and the same in other formats."""
    path = os.path.join(tmp, "x.flight")
    with common.session("-m", "16M", *options):
        run_for(command, seconds)
        _, copied_ns, synced_ns, _ = common.dump(path, *common.ONE_CPU)
    facts = common.info(path)
    events, spent = facts["events"], (synced_ns - copied_ns) / 1e9
    common.report(f"{what}: events in it", events, "", load=what)
    common.report(f"{what}: bytes an event, the whole file", facts["bytes"] / events, "bytes",
                  limit=MIXED_MOST if what == "mixed" else None, load=what)
    common.report(f"{what}: bytes an event in the ring", facts["raw_bytes"] / events, "bytes", load=what)
    common.report(f"{what}: written, of the ring's bytes", facts["raw_bytes"] / spent / common.MIB, "MiB/s", load=what)
    common.report(f"{what}: written, events", events / spent / 1e6, "M/s", load=what)
    for to, peer, how in (("ctf", "CTF, the same events, zstd -1", ["tar", "-cf", "-", "-C"]),
                          ("trace-cmd", "trace.dat, the same events, zstd -1", ["cat"])):
        out = exported(tmp, path, to)
        size, cpu = packed([*how, out, "."] if to == "ctf" else [*how, out])
        common.report(f"{what}: bytes an event", size / events, "bytes", peer=peer, load=what)
        common.report(f"{what}: written, its bytes, zstd alone", tree_size(out) / cpu / common.MIB if to == "ctf" else
                      os.path.getsize(out) / cpu / common.MIB, "MiB/s", peer=peer, load=what)
        shutil.rmtree(out, ignore_errors=True)
    common.report(f"{what}: bytes an event", wprof_like(tmp, path), "bytes", peer="wprof-like rows, the same events, zstd -1", load=what)


# ---- others' own recordings ----

FTRACE = "ftrace's pages, as in trace.dat, zstd -1"

def ftrace_pages(what, command, samples, seconds, tmp):
    if samples:
        raise OSError("it takes no samples")
    raw = os.path.join(tmp, "pages")
    with overwriting.Ftrace(overwriting.FULL, 16384) as f:
        run_for(command, seconds)
        f.stop()
        events = f.entries()
        f.read_raw(raw)
    size, _ = packed(["cat", raw])
    common.report(f"{what}: bytes an event", size / events, "bytes", peer=FTRACE, load=what)


def perf_z(what, command, options, seconds, tmp):
    data = os.path.join(tmp, "perf.data")
    options = options or ("-m", "4096", "-e", ",".join(overwriting.here(overwriting.FULL)), "--exclude-perf")
    with subprocess.Popen(["perf", "record", "-z", "-q", "-a", "-o", data, *options, "sleep", str(seconds)],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as p:
        run_for(command, seconds + 1)
    if p.returncode:
        raise OSError(f"perf record -z exits with {p.returncode}")
    said = subprocess.run(["perf", "report", "--stats", "-i", data], capture_output=True, text=True, check=False).stdout
    found = re.search(r"SAMPLE events:\s+(\d+)", said)
    if not found:
        raise OSError("perf report --stats tells no number of samples")
    events = int(found[1])
    common.report(f"{what}: bytes an event", os.path.getsize(data) / events, "bytes", peer="perf record -z", load=what)


def one_load(what, command, options, perf_options, opts):
    seconds = 1 if opts.quick else 3
    with tempfile.TemporaryDirectory(prefix="frbench-") as tmp:
        ours(what, options, command, seconds, tmp)
        for peer, begin in ((FTRACE, lambda: ftrace_pages(what, command, perf_options, seconds, tmp)),
                            ("perf record -z", lambda: perf_z(what, command, perf_options, 1 if opts.quick else 2, tmp))):
            try:
                begin()
            except OSError as e:
                common.not_measured(f"{what}: bytes an event", peer, e, "bytes", load=what)


@common.part("disk", order=55)
def disk(opts):
    """Bytes an event takes on disk, on five loads, beside others; compression speed."""
    common.title("On disk: bytes an event, and how fast they are compressed and written")
    for what, command, options, perf_options in LOADS[:1] if opts.quick else LOADS:
        one_load(what, command, options, perf_options, opts)
