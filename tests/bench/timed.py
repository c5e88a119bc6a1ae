# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Programs whose work is timed with recorders and without: perf bench pipe and messaging, a build, redis, nginx."""
import contextlib
import os
import re
import resource
import shutil
import socket
import subprocess
import time

import common
import sampling

UNITS, FUNCTIONS = 4, 20  # of what is compiled
MESSAGES, QUICK_MESSAGES = 120, 60  # of each sender to each receiver
QUICK_LOADS = "messaging", "redis", "nginx"
REQUESTS, NGINX_S = 10000, 0.4  # short, so that what is compared is close
CPU, CPU_EACH = "processor time", "processor time a request"


class Load:
    """run() makes it once: figures by name, those of metrics."""

    def __init__(self, name, what, metrics, needs, run):
        self.name, self.what, self.metrics, self.needs, self.run = name, what, metrics, needs, run


class Metric:
    """noise, slower: what its rows are called; None: it is not compared."""

    def __init__(self, name, unit, more_is_better=False, noise=None, slower=None):
        self.name, self.unit, self.more_is_better, self.noise, self.slower = name, unit, more_is_better, noise, slower


def output(*args):
    return common.run(*args, timeout=60).stdout


def children_s():
    """Processor time of all that has ended, user and system."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def perf_bench(*args):
    """What it says that it took; forks are not in this, but in the processor time."""
    before = children_s()
    return {"time": float(re.search(r"Total time:\s+([\d.]+)", output(*args))[1]), CPU: children_s() - before}


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
    before, begin = children_s(), time.monotonic()
    subprocess.run(["xargs", "-n", "1", "-P", str(os.cpu_count()), "/usr/bin/gcc", "-O1", "-c", "-o", "/dev/null"], check=True, timeout=60,
                   env={**os.environ, "CCACHE_DISABLE": "1"}, text=True,
                   input="\n".join(os.path.join(tmp, f"unit{unit}.c") for unit in range(UNITS)))
    return {"time": time.monotonic() - begin, CPU: children_s() - before}


# ---- servers, on the first CPU; their clients are on the last ----

def on_cpu(nr, *args):
    return ["taskset", "-c", str(nr), *args]


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@contextlib.contextmanager
def serving(port, args):
    """Its server's process, which answers by now."""
    p = subprocess.Popen(on_cpu(0, *args), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(100):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            if p.poll() is not None:
                raise OSError(f"{args[0]} ended at once")
            time.sleep(0.05)
        yield p
    finally:
        p.terminate()
        p.wait()


def redis_server(tmp, port):
    return serving(port, ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", tmp])


def served(server, client):
    """What the client says, which tells its requests first, and the processor time of both for a request."""
    before = sampling.cpu_ns(server.pid) + children_s() * 1e9
    requests, throughput, p99 = client()
    spent = sampling.cpu_ns(server.pid) + children_s() * 1e9 - before
    return {"throughput": throughput, "p99": p99, CPU_EACH: spent / requests / 1e3}


def redis_client(port):
    said = output(*on_cpu(os.cpu_count() - 1, "redis-benchmark", "-p", str(port), "-t", "set", "-n", str(REQUESTS), "-c", "20",
                          "-d", "64", "--csv"))
    words = [word.strip('"') for word in said.splitlines()[-1].split(",")]
    return REQUESTS, float(words[1]), float(words[6])


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


def nginx_client(port):
    """wrk is asked for whole seconds only, but tells what it has when it is interrupted."""
    said = output("timeout", "--preserve-status", "-s", "INT", str(NGINX_S), *on_cpu(
        os.cpu_count() - 1, "wrk", "-t1", "-c16", "-d9s", "--latency", f"http://127.0.0.1:{port}/"))
    if "Non-2xx" in said:
        raise OSError("nginx answers with errors")
    number, unit = re.search(r"99%\s+([\d.]+)(us|ms|s)\b", said).groups()
    return (int(re.search(r"(\d+) requests in", said)[1]), float(re.search(r"Requests/sec:\s+([\d.]+)", said)[1]),
            float(number) * {"us": 1e-3, "ms": 1, "s": 1e3}[unit])


NOISE, SLOWER = "noise: runs without, from their median", "slower than without"
NOISE_CPU, MORE_CPU = "noise of processor time: runs without, from their median", "more processor time than without"
TIME = (Metric("time", "s", noise=NOISE, slower=SLOWER), Metric(CPU, "s", noise=NOISE_CPU, slower=MORE_CPU))
SERVED = (Metric("throughput", "1/s", True, NOISE, SLOWER), Metric(CPU_EACH, "us", noise=NOISE_CPU, slower=MORE_CPU),
          Metric("p99", "ms"))


def make_loads(tmp, stack, quick):
    """Those that can run here, their servers begun; those that cannot have a reason instead of run. quick: those with a promise."""
    ports, servers = {"redis": free_port(), "nginx": free_port()}, {}
    loads = [
        Load("pipe", "perf bench sched pipe, on one CPU", TIME, ["perf"], lambda: perf_bench(
            *on_cpu(os.cpu_count() - 1, "perf", "bench", "sched", "pipe", "-l", "20000"))),
        Load("messaging", "perf bench sched messaging", TIME, ["perf"], lambda: perf_bench(
            "perf", "bench", "sched", "messaging", "-g", "4", "-l", str(QUICK_MESSAGES if quick else MESSAGES))),
        Load("build", f"a build of {UNITS} C files", TIME, ["gcc"], lambda: build(tmp)),
        Load("redis", "redis on loopback, SET by 20 connections", SERVED, ["redis-server", "redis-benchmark"],
             lambda: served(servers["redis"], lambda: redis_client(ports["redis"]))),
        Load("nginx", "nginx on loopback, 16 connections", SERVED, ["nginx", "wrk"],
             lambda: served(servers["nginx"], lambda: nginx_client(ports["nginx"]))),
    ]
    if quick:
        loads = [load for load in loads if load.name in QUICK_LOADS]
    write_sources(tmp)
    begin = {"redis": redis_server, "nginx": nginx_server}
    for load in loads:
        missing = [tool for tool in load.needs if not shutil.which(tool)]
        if missing:
            load.run = f"{missing[0]} is not installed"
        elif load.name in begin:
            try:
                servers[load.name] = stack.enter_context(begin[load.name](tmp, ports[load.name]))
            except OSError as e:
                load.run = str(e)
    return loads
