# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""cut, merge and diff run on made up snapshots, and what the same operations here give: on `replay --json --pos`."""
import functools
import json
import os
import subprocess
import sys

flightrec, dir = sys.argv[1:3]
golden = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../files/golden/all.flight")


# What a line of JSON says. Files that are compared have most lines in common, and so are parsed but once: nobody changes what they say.
parsed = functools.lru_cache(maxsize=1 << 18)(json.loads)


def run(*args, want=0):
    p = subprocess.run([flightrec, *args], capture_output=True, cwd=dir)
    assert p.returncode == want, (args, p.returncode, p.stderr.decode())
    return p


def rows(*args, want=0):
    """The events of all tiers as lines of text."""
    return run("replay", "--json", "--pos", "--no-symbols", "--tier", "all", *args, want=want).stdout.split(b"\n")[:-1]


def info(path):
    return json.loads(run("info", "--json", path).stdout)


def place(e):
    return (e["pos"]["epoch"], e["cpu"], e["pos"]["tier"], e["pos"]["seq"], e["pos"]["offset"])


def fresh(name):
    if os.path.exists(os.path.join(dir, name)):
        os.unlink(os.path.join(dir, name))
    return name


def cut(source, *args, want=0):
    out = fresh("out.flight")
    p = run("cut", "-o", out, *args, source, want=want)
    return out, p.stderr.decode()


def mid(source, part):
    times = sorted(parsed(l)["ts"] for l in rows(source))
    return times[int(len(times) * part)]


def ends(*paths):
    """What is known about what each row ends: place -> {(event, name): value}."""
    found = {}
    for e in map(parsed, run("replay", "--json", "--pos", "--pairs", "--no-symbols", "--tier", "all", *paths).stdout.splitlines()):
        found[place(e)] = {(e["event"], k): e[k] for k in PAIRED if k in e and k not in own_fields()[e["event"]]}
    return found


@functools.cache
def own_fields():
    """Of each event those that it has by itself."""
    return {e["name"]: {f["name"] for f in e["fields"]} for e in json.loads(run("events", "--json").stdout)}


PAIRED = "latency_ns", "offcpu_ns", "queued_ns", "blocked_ns", "oncpu_ns", "waker"
CALLS, OFF, ON = ("sys_exit", "latency_ns"), ("sched_switch", "offcpu_ns"), ("sched_switch", "oncpu_ns")
QUEUED, WAITS, WAKERS = ("sched_switch", "queued_ns"), ("sched_switch", "latency_ns"), ("sched_switch", "waker")
IRQS, SOFTIRQS = ("irq_handler_exit", "latency_ns"), ("softirq_exit", "latency_ns")
REQUESTS, IOS = ("block_rq_complete", "latency_ns"), ("block_io_done", "latency_ns")


def chunk_heads(path):
    """Of each chunk: the place of its header, its kind, and the header's bytes."""
    data, at = open(os.path.join(dir, path), "rb").read(), -1
    while (at := data.find(b"fl-chunk", at + 1)) >= 0:
        sz = int.from_bytes(data[at - 4:at], "little") + 8
        yield at - 8, data[at + 16], data[at - 8:at - 8 + sz]


SCHEMA = 1  # a kind of chunk, docs/format.md


def chunk_sizes(path):
    """kind -> the bytes that its chunks have in the file, with their headers."""
    sizes, chunks = {}, list(chunk_heads(path))
    for (at, kind, _), end in zip(chunks, [at for at, _, _ in chunks[1:]] + [os.path.getsize(os.path.join(dir, path))]):
        sizes[kind] = sizes.get(kind, 0) + end - at
    return sizes


def event_chunks(path):
    """Of each: the place of its header, the CPU, the tier, the times of the first and the last event, and the header's size."""
    for at, kind, head in chunk_heads(path):
        word = lambda off, sz: int.from_bytes(head[off:off + sz], "little")
        if kind == 8:
            yield at, word(60, 2), head[62], word(88, 8), word(96, 8), len(head)


def merge(*paths, want=0):
    out = fresh("m.flight")
    run("merge", "-o", out, *paths, want=want)
    run("verify", out)
    with open(os.path.join(dir, out), "rb") as f:
        subprocess.run(["zstd", "-tq"], stdin=f, check=True)
    return out


def main_ring(i, cpu):
    return next(t for c in i["cpus"] if c["cpu"] == cpu for t in c["tiers"] if t["name"] == "main")


def pairs(*paths, want=0):
    """Values of what each event ends, by its place."""
    lines = run("replay", "--pairs", "--json", "--pos", "--no-symbols", "--tier", "all", *paths, want=want).stdout.split(b"\n")[:-1]
    return {place(e): e for e in map(parsed, lines)}


def behind(horizon, path):
    """What is known of a file from the horizon on."""
    r = json.loads(run("report", "--json", "--since", str(horizon), path).stdout)
    assert all(c["busy_ns"] > 0 for c in r["cpus"]) and r["total"]["runs"] > 1000
    r["lost"].pop("holes")
    for entry in r["tasks"] + r["waits"]:  # tasks are numbered as they come, before the window, too
        for key in "nr", "task", "waker_task":
            entry.pop(key, None)
    return r, run("export", "--to", "folded", "--off-cpu", "--since", str(horizon), "-o", "-", path).stdout


def named(new, *args, want=0):
    cut(*args, want=want)
    os.rename(os.path.join(dir, "out.flight"), os.path.join(dir, fresh(new)))
    return new


def horizons_of(i):
    return [main_ring(i, cpu)["horizon_ns"] for cpu in (0, 1)]


def horizons(path):
    return horizons_of(info(path))
