# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What recording costs whole programs, for each profile, beside ftrace and perf record --overwrite with the same events."""
import contextlib
import json
import os
import re
import shutil
import socket
import statistics
import subprocess
import tempfile
import time

import common
import overwriting
import sampling

KIB = 8192
DEFAULT = tuple(e for e in overwriting.FULL if not e.startswith(("raw_syscalls:", "exceptions:")))
UNITS, FUNCTIONS = 4, 45  # of what is compiled


class Load:
    """run() makes it once: figures by name. metrics: name, unit, whether more of it is better."""

    def __init__(self, name, what, metrics, needs, run):
        self.name, self.what, self.metrics, self.needs, self.run = name, what, metrics, needs, run


def output(*args):
    return common.run(*args, timeout=60).stdout


def total_s(times, *args):
    """What perf bench says that it took, the best of so many times."""
    return {"time": min(float(re.search(r"Total time:\s+([\d.]+)", output(*args))[1]) for _ in range(times))}


# ---- a build ----

def write_sources(tmp):
    """C files that are the same in each run."""
    for unit in range(UNITS):
        with open(os.path.join(tmp, f"unit{unit}.c"), "w", encoding="ascii") as f:
            f.write("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <sys/socket.h>\n")
            for nr in range(FUNCTIONS):
                f.write(f"int fn_{unit}_{nr}(int *to, int n)\n{{\n\tint i, sum = {nr};\n\n\tfor (i = 0; i < n; i++) {{\n"
                        f"\t\tto[i] = to[(i * {nr + 3}) % n] ^ (sum += i * {unit + 2});\n"
                        f"\t\tif (to[i] % {nr + 7} == 0)\n\t\t\tprintf(\"%d\\n\", to[i]);\n\t}}\n\treturn sum;\n}}\n")


def build(tmp):
    """All files, as many at a time as there are CPUs."""
    begin = time.monotonic()
    subprocess.run(["xargs", "-n", "1", "-P", str(os.cpu_count()), "/usr/bin/gcc", "-O1", "-c", "-o", "/dev/null"], check=True, timeout=60,
                   env={**os.environ, "CCACHE_DISABLE": "1"}, text=True,
                   input="\n".join(os.path.join(tmp, f"unit{unit}.c") for unit in range(UNITS)))
    return {"time": time.monotonic() - begin}


# ---- servers, on the first CPU; their clients are on the last ----

def on_cpu(nr, *args):
    return ["taskset", "-c", str(nr), *args]


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@contextlib.contextmanager
def serving(port, args):
    """Its server, which answers by now."""
    p = subprocess.Popen(on_cpu(0, *args), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(100):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            if p.poll() is not None:
                raise OSError(f"{args[0]} ended at once")
            time.sleep(0.05)
        yield
    finally:
        p.terminate()
        p.wait()


def redis_server(tmp, port):
    return serving(port, ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", tmp])


def redis(port, requests):
    said = output(*on_cpu(os.cpu_count() - 1, "redis-benchmark", "-p", str(port), "-t", "set", "-n", str(requests), "-c", "20",
                          "-d", "64", "--csv"))
    words = [word.strip('"') for word in said.splitlines()[-1].split(",")]
    return {"throughput": float(words[1]), "p99": float(words[6])}


def nginx_server(tmp, port):
    conf = os.path.join(tmp, "nginx.conf")
    os.chmod(tmp, 0o755)
    with open(os.path.join(tmp, "index.html"), "w", encoding="ascii") as f:
        f.write("x" * 612)
    with open(conf, "w", encoding="ascii") as f:
        f.write(f"daemon off; worker_processes 1; pid {tmp}/nginx.pid; error_log /dev/null; events {{ worker_connections 256; }}\n"
                f"http {{ access_log off; keepalive_requests 1000000000; client_body_temp_path {tmp}/1; proxy_temp_path {tmp}/2;\n"
                f"fastcgi_temp_path {tmp}/3; uwsgi_temp_path {tmp}/4; scgi_temp_path {tmp}/5;\n"
                f"server {{ listen 127.0.0.1:{port}; root {tmp}; }} }}\n")
    return serving(port, ["nginx", "-p", tmp, "-c", conf])


def nginx(port, seconds):
    said = output(*on_cpu(os.cpu_count() - 1, "wrk", "-t1", "-c16", f"-d{seconds}s", "--latency", f"http://127.0.0.1:{port}/"))
    if "Non-2xx" in said:
        raise OSError("nginx answers with errors")
    number, unit = re.search(r"99%\s+([\d.]+)(us|ms|s)\b", said).groups()
    return {"throughput": float(re.search(r"Requests/sec:\s+([\d.]+)", said)[1]),
            "p99": float(number) * {"us": 1e-3, "ms": 1, "s": 1e3}[unit]}


TIME = (("time", "s", False),)
SERVED = (("throughput", "1/s", True), ("p99", "ms", False))


def make_loads(tmp, stack, quick):
    """Those that can run here, their servers begun; those that cannot have a reason instead of run."""
    ports, times = (free_port(), free_port()), 1 if quick else 3
    loads = [
        Load("pipe", "perf bench sched pipe, on one CPU", TIME, ["perf"], lambda: total_s(
            times, *on_cpu(os.cpu_count() - 1, "perf", "bench", "sched", "pipe", "-l", "20000"))),
        Load("messaging", "perf bench sched messaging", TIME, ["perf"], lambda: total_s(
            times, "perf", "bench", "sched", "messaging", "-g", "4", "-l", "60")),
        Load("build", f"a build of {UNITS} C files", TIME, ["gcc"], lambda: build(tmp)),
        Load("redis", "redis on loopback, SET by 20 connections", SERVED, ["redis-server", "redis-benchmark"],
             lambda: redis(ports[0], 15000 if quick else 40000)),
        Load("nginx", "nginx on loopback, 16 connections", SERVED, ["nginx", "wrk"], lambda: nginx(ports[1], 1)),
    ]
    write_sources(tmp)
    servers = {"redis": lambda: redis_server(tmp, ports[0]), "nginx": lambda: nginx_server(tmp, ports[1])}
    for load in loads:
        missing = [tool for tool in load.needs if not shutil.which(tool)]
        if missing:
            load.run = f"{missing[0]} is not installed"
        elif load.name in servers:
            try:
                stack.enter_context(servers[load.name]())
            except OSError as e:
                load.run = str(e)
    return loads


# ---- recorders ----

def flightrec(*options):
    return lambda tmp: common.session("-m", f"{KIB}K", *options)


def ftrace(events):
    return lambda tmp: overwriting.Ftrace(events, KIB)


def perf(events):
    return lambda tmp: overwriting.PerfDropped(events, KIB, tmp)


OFF = "nobody"
WITH_CALLS = "flightrec, default and system calls"
# Who records, and how it begins. OFF stands among them, so that there is one near each
RECORDERS = (
    (OFF, lambda tmp: contextlib.nullcontext()),
    ("flightrec, minimal", flightrec("-p", "minimal")),
    ("flightrec, default", flightrec("-p", "default")),
    (WITH_CALLS, flightrec("-p", "default", "-e", "syscall")),
    ("flightrec, full", flightrec("-p", "full")),
    (OFF, lambda tmp: contextlib.nullcontext()),
    ("ftrace, the default's events", ftrace(DEFAULT)),
    ("ftrace, the full's events", ftrace(overwriting.FULL)),
    (OFF, lambda tmp: contextlib.nullcontext()),
    ("perf record --overwrite, the default's events", perf(DEFAULT)),
    ("perf record --overwrite, the full's events", perf(overwriting.FULL)),
)


# Whose programs are timed by the kernel, too
COUNTED = ("flightrec, default", WITH_CALLS, "flightrec, full")
# Without --quick only, and not in the last turn
LONG = ("flightrec, minimal", "flightrec, full", "ftrace, the full's events", "perf record --overwrite, the full's events")


def take_turn(loads, tmp, got, failed, without=()):
    """Each recorder once, with all loads. got: by load, metric and recorder, a list of this turn's figures."""
    for who, begin in RECORDERS:
        if who in failed or who in without:
            continue
        try:
            with begin(tmp):
                for load in loads:
                    for metric, value in load.run().items():
                        got.setdefault((load.name, metric), {}).setdefault(who, []).append(value)
        except (OSError, SystemExit) as e:
            failed[who] = str(e)


def programs_ns():
    """How long each BPF program of the machine has run, by the kernel's count: by its id."""
    return {p["id"]: p.get("run_time_ns", 0) for p in json.loads(common.run("bpftool", "-j", "prog").stdout)}


def count_time(loads, tmp):
    """By load and recorder: percent of all CPUs' time in programs while the load ran. Noise of the machine does not show in it."""
    got, was = {}, sampling.set_stats("1")
    try:
        for who, begin in RECORDERS:
            if who not in COUNTED:
                continue
            others = programs_ns()
            with begin(tmp):
                for load in loads:
                    before, began = programs_ns(), time.monotonic_ns()
                    load.run()
                    of = (time.monotonic_ns() - began) * os.cpu_count()
                    spent = sum(ns - before.get(nr, 0) for nr, ns in programs_ns().items() if nr not in others)
                    got[load.name, who] = 100 * spent / of
    finally:
        sampling.set_stats(was)
    return got


def slower(value, off, more_is_better):
    return 100 * ((off / value if more_is_better else value / off) - 1)


def promised(load, who, noise):
    """At most so many percent slower, or None."""
    if who == "flightrec, default":
        return {"messaging": 2, "redis": noise, "nginx": noise}.get(load.name)
    return 15 if who == WITH_CALLS and load.name in ("redis", "nginx") else None


def table(load, turns, failed, in_programs):
    """turns: of each turn what take_turn() got; in_programs: what count_time() got."""
    common.title(f"{load.what[0].upper()}{load.what[1:]}: with each recorder, {KIB // 1024} MiB a CPU; by turns")
    peers = list(dict.fromkeys(who for who, _ in RECORDERS))
    if isinstance(load.run, str):
        for who in peers:
            common.not_measured(load.what, who, load.run, load=load.name)
        return
    for metric, unit, more in load.metrics:
        noise = None
        for who in peers:
            if who in failed:
                common.not_measured(metric, who, failed[who], unit, load=load.name)
                continue
            of = [t[load.name, metric] for t in turns]
            common.row(metric, [v for t in of for v in t.get(who, ())], unit, peer=who, load=load.name)
            if metric == "p99":
                continue
            added = [slower(v, statistics.median(t[OFF]), more) for t in of for v in t.get(who, ())]
            if who == OFF:
                low, high = statistics.quantiles(added, n=4, method="inclusive")[::2]
                noise = max(high - low, 0.1)
                common.row("noise: turns without from their median", added, "%", peer=who, load=load.name)
            else:
                common.row("slower than without", added, "%", peer=who, at_most=promised(load, who, noise), load=load.name)
    for who in COUNTED:
        if (load.name, who) in in_programs:
            common.report("time in its programs, by the kernel's count, of all CPUs'", in_programs[load.name, who], "%", peer=who,
                          load=load.name)


@common.part("programs", order=14)
def programs(opts):
    """Whole programs: perf bench pipe and messaging, a build, redis, nginx; profiles, ftrace, perf record."""
    with tempfile.TemporaryDirectory(prefix="frbench-") as tmp, contextlib.ExitStack() as stack:
        loads = make_loads(tmp, stack, opts.quick)
        here = [load for load in loads if not isinstance(load.run, str)]
        turns, failed = [], {who: "left out because of --quick" for who in LONG if opts.quick}
        for load in here:
            load.run()  # the caches, and files that are read once
        for without in [()] if opts.quick else [(), (), LONG]:
            turns.append({})
            take_turn(here, tmp, turns[-1], failed, without)
        in_programs = {} if opts.quick else count_time(here, tmp)
    for load in loads:
        table(load, turns, failed, in_programs)
