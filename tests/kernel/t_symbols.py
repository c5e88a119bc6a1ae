# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What a snapshot tells of addresses: the kernel's names, files of processes that live, frames of those that have ended, JITs."""
import bisect
import contextlib
import json
import os
import re
import subprocess
import time

from frtest import SAMPLES, Skip, check, dump, equal, fr, fr_json, helper, main, mono_ns, program, replay, run, shared, test
from hangfs import hangfs

SPIN = helper("spin")


def told(file):
    """{what: [dict]} of the helper's lines; of a stack's frames the innermost."""
    all = {"symbol": [], "mapping": [], "frame": []}
    for line in map(json.loads, run(helper("addrs"), file, "symbols", "mappings", "innermost").stdout.splitlines()):
        all[line["what"]].append(line)
    return all


def spin(what, seconds="0.2"):
    """Started, and done with spinning, so many seconds of CPU time."""
    p = subprocess.Popen([SPIN, what, seconds], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    said = p.stdout.readline()
    if not said and p.wait() == 77:
        raise Skip("no code can be made on this machine")
    equal(said, "done\n", f"spin {what} said")
    return p


def put_away(p):
    p.kill()
    p.wait()
    p.stdout.close()


def build_id(path):
    return re.search(r"Build ID: ([0-9a-f]+)", run("readelf", "-n", path).stdout).group(1)


def functions(path):
    """[(file offset, name)] of a program whose code's addresses are its file offsets, as ld lays out a small one."""
    rows = [line.split() for line in run("nm", "--defined-only", path).stdout.splitlines()]
    return sorted((int(r[0], 16), r[2]) for r in rows if len(r) == 3 and r[1] in "tT")


def at(funcs, off):
    i = bisect.bisect_right(funcs, (off, "\xff")) - 1
    return funcs[i][1] if i >= 0 else None


def sampled(file, pid):
    """Samples of a process in user space."""
    return replay(file, "-f", f"event == cpu_sample && pid == {pid} && user == 1 && ustack_id != 0")


def check_spinner(t, samples):
    """Samples lie in spin_inner(), and the innermost frame of each is where the sample is: by build-id and offset, which tell its page."""
    funcs, id, names = functions(SPIN), build_id(SPIN), set()
    innermost = {f["stack"]: f for f in t["frame"]}
    for e in samples:
        f = innermost.get(e["ustack_id"])
        if f and f["build_id"] == id:
            names.add(at(funcs, f["off"]))
            check((e["ip"] - f["off"]) % os.sysconf("SC_PAGE_SIZE") == 0, f"sample at {e['ip']:#x}, its frame at {f['off']:#x} of the file")
    check("spin_inner" in names, f"{len(samples)} samples are in {names}")


def kallsyms():
    rows = []
    with open("/proc/kallsyms") as f:
        for line in f:
            word = line.split()
            rows.append((int(word[0], 16), word[1], word[2], word[3][1:-1] if len(word) > 3 else ""))
    return rows


@test("kernel functions are named as kallsyms does, and every kernel frame is in one")
def kernel_names():
    name, since = shared(*SAMPLES), mono_ns()
    run("dd", "if=/dev/zero", "of=/dev/null", "bs=1M", "count=1000")
    file = dump(name)
    rows = kallsyms()
    if not any(r[0] for r in rows):
        raise Skip("kallsyms hides addresses")
    names = {}
    for addr, kind, text, module in rows:
        names.setdefault(addr, set()).add((text, module))
    all_symbols = told(file)["symbol"]
    symbols, mapped = [y for y in all_symbols if not y["pid"]], sum(y["pid"] != 0 and y.get("module") == "[vdso]" for y in all_symbols)
    check(symbols, "there are kernel symbols")
    for y in symbols:
        # those of BPF programs that ran then are gone
        if y["module"] != "bpf":
            check((y["name"], y["module"]) in names.get(y["addr"], ()), f"{y} is in kallsyms")
    info = fr_json("info", file)["names"]
    equal((info["kernel"], info["vdso"], info["kernel_symbols"]), (len(symbols), mapped, "ok"), "info")
    stext = next(r[0] for r in rows if r[2] == "_stext")
    equal(int(info["kernel_stext"], 16), stext, "_stext")
    with open("/sys/kernel/notes", "rb") as f:
        check(info["kernel_build_id"] and bytes.fromhex(info["kernel_build_id"]) in f.read(), f"build-id {info['kernel_build_id']}")
    etext = next(r[0] for r in rows if r[2] == "_etext")
    starts = [y["addr"] for y in symbols]
    # beyond the kernel's text there is code of BPF programs too, and some of those have ended
    samples = replay(file, "--since", str(since), "-f", "event == cpu_sample")
    frames = {ip for e in samples for ip in e.get("kstack") or [] if stext <= ip < etext}
    check(frames, "there are kernel frames")
    lost = []
    for ip in frames:
        i = bisect.bisect_right(starts, ip) - 1
        if i < 0 or (symbols[i]["size"] and ip > symbols[i]["addr"] + symbols[i]["size"]):
            lost.append(hex(ip))
    equal(lost, [], "kernel frames without a name")
    return f"{len(symbols)} functions, {len(frames)} frames"


def looked_at(name, begin, what):
    """
    A process that begin() has made, a dump that tells of it in what, and that: on a busy machine not every dump has the time to look at
    each process, and then it says so. Of one that was left out the samples may be overwritten before the next dump: that has another one.
    """
    deadline = time.monotonic() + 120
    while True:
        p = begin()
        file = dump(name)
        t = told(file)
        if any(x["pid"] == p.pid for x in t[what]) or time.monotonic() > deadline:
            return p, file, t
        check(fr_json("info", file)["names"].get("left_out"), "a process was left out, and it is not said")
        put_away(p)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(f"/tmp/perf-{p.pid}.map")


@test("a living process: its mapping with build-id, where its frames lie")
def living():
    name = shared(*SAMPLES)
    p, file, t = looked_at(name, lambda: spin("wait"), "mapping")
    put_away(p)
    maps = [m for m in t["mapping"] if m["pid"] == p.pid and m["path"] == os.path.realpath(SPIN)]
    equal(len(maps), 1, "mappings of the program")
    equal(maps[0]["build_id"], build_id(SPIN), "its build-id")
    equal(maps[0]["deleted"], 0, "deleted")
    samples, funcs = sampled(file, p.pid), functions(SPIN)
    ips = [e["ip"] for e in samples if maps[0]["begin"] <= e["ip"] < maps[0]["end"]]
    names = {at(funcs, ip - maps[0]["begin"] + maps[0]["off"]) for ip in ips}
    check("spin_inner" in names, f"by the mapping, samples are in {names}")
    all_ips = {ip for e in replay(file, "-f", "event == cpu_sample") for ip in [e["ip"], *(e["ustack"] or [])]}
    # stacks are copied behind the events: there may be one of a sample that came meanwhile, most likely of the dump itself
    all_ips |= {ip for e in replay(file, "--tier", "stack") if e["event"] == "stack" for ip in e["frames"]}
    for m in t["mapping"]:
        check(any(m["begin"] <= ip < m["end"] for ip in all_ips), f"frames lie in {m}")
    check_spinner(t, samples)


@test("a process that has ended: its frames by build-id and offset")
def ended():
    name, p = shared(*SAMPLES), spin("end")
    p.wait()
    p.stdout.close()
    file = dump(name)
    t = told(file)
    equal([m for m in t["mapping"] if m["pid"] == p.pid], [], "mappings of the dead")
    check_spinner(t, sampled(file, p.pid))
    check(fr_json("info", file)["names"]["stacks"] > 0, "info counts stacks by build-id")


def own_build_id(file):
    """By another one its functions could have names: those of the program that it is a copy of."""
    build_id = bytes.fromhex(re.search(r"Build ID: (\w+)", run("readelf", "-n", file).stdout)[1])
    with open(file, "r+b") as f:
        f.seek(f.read().index(build_id))
        f.write(os.urandom(len(build_id)))


@test("a program's file is gone: it is looked for beside the snapshot, where of a directory on another disk nothing is asked")
def beside():
    name, file = shared(*SAMPLES), program("frt-removed", "spin")
    own_build_id(file)
    run(file, "end", "0.2")
    os.unlink(file)
    with hangfs() as disk:
        snap = dump(name)
        equal(os.path.dirname(disk.dir), os.path.dirname(snap), "where both are")
        disk.asked()
        rows = replay(snap, "--symbols", "-f", 'event == cpu_sample && comm == "frt-removed" && ustack_id != 0')
        equal(disk.asked(), {}, "who asked, and for what")
    named = [r["ustack_sym"][0] for r in rows if r["ustack_sym"]]
    check(named and not any(n.startswith("spin_") for n in named), f"its functions have no names: {named[:5]}")


def named_in(name, begin):
    """A process that begin() has made, a dump that has names of its JITed code, and these."""
    p, file, t = looked_at(name, begin, "symbol")
    return p, file, [y for y in t["symbol"] if y["pid"] == p.pid]


def by_perf_map(symbols, pid):
    """Those of a process that come from its perf map: a sample may also hit the kernel's clock_gettime(), which a spinner calls."""
    return [y for y in symbols if y["pid"] == pid and y.get("module") != "[vdso]"]


@test("JITed code: the name its perf map gives last")
def jit():
    p, file, symbols = named_in(shared(*SAMPLES), lambda: spin("jit"))
    put_away(p)
    os.unlink(f"/tmp/perf-{p.pid}.map")
    symbols = by_perf_map(symbols, p.pid)
    equal([(y["name"], y["size"]) for y in symbols], [("jit_spin [made]", 11)], "symbols")
    inside = [e for e in sampled(file, p.pid) if symbols[0]["addr"] <= e["ip"] < symbols[0]["addr"] + symbols[0]["size"]]
    check(inside, "samples are in it")


@test("functions that the kernel maps into each process")
def vdso():
    if "[vdso]" not in open("/proc/self/maps").read():
        raise Skip("the kernel maps no functions into processes")
    p, file, symbols = named_in(shared(*SAMPLES), lambda: spin("clock"))
    put_away(p)
    check(any("clock_gettime" in y["name"] for y in symbols), f"symbols: {symbols}")
    inner = [(e["ustack_sym"] or [""])[0] for e in replay(file, "--symbols", "-f", f"event == cpu_sample && pid == {p.pid}")]
    check(any("clock_gettime+0x" in text and text.endswith(" [vdso]") for text in inner), f"samples are in it: {inner}")
    row, = (o for o in map(json.loads, fr("symbols", "--json", file).stdout.splitlines()) if o["path"] == "[vdso]")
    check(row["named"] and (row["named"] < row["frames"] or (row["where"], row["missing"]) == ("snapshot", None)), f"listed: {row}")
    names = fr_json("info", file)["names"]
    mapped = [y for y in told(file)["symbol"] if y["pid"] and y.get("module") == "[vdso]"]
    equal((names["jit"], names["vdso"]), (0, len(mapped)), "info counts all of them as such, and none as JITed")


@test("JITed code of a process that has ended; but not by a map that was changed since")
def jit_ended():
    def ended_jit():
        p = spin("jit")
        put_away(p)
        return p
    name = shared(*SAMPLES)
    p, file, symbols = named_in(name, ended_jit)
    map = f"/tmp/perf-{p.pid}.map"
    # more than the times of files and of processes may differ by
    time.sleep(0.1)
    with open(map, "a") as f:
        f.write("0 1 nobody\n")
    later = dump(name)
    os.unlink(map)
    equal({y["name"] for y in by_perf_map(symbols, p.pid)}, {"jit_spin [made]"}, "symbols")
    check(any("jit_spin [made]" in (e["ustack_sym"] or [""])[0] for e in replay(file, "--symbols", "-f", f"event == cpu_sample && pid == {p.pid}")),
          "samples are in it")
    equal(by_perf_map(told(later)["symbol"], p.pid), [], "symbols of a changed map")


@test("a perf map that is a link is not followed")
def jit_link():
    name, p = shared(*SAMPLES), spin("jit")
    map = f"/tmp/perf-{p.pid}.map"
    os.rename(map, map + ".real")
    os.symlink(map + ".real", map)
    file = dump(name)
    put_away(p)
    os.unlink(map)
    os.unlink(map + ".real")
    equal(by_perf_map(told(file)["symbol"], p.pid), [], "symbols")


if __name__ == "__main__":
    main()
