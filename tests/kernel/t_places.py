# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Where sampled code lies: the user's stack by frame pointers, and which file an address is of while mappings change."""
import bisect
import contextlib
import functools
import json
import os
import re
import shutil
import subprocess

from frtest import SAMPLED, SAMPLES, Skip, check, dump, equal, fr_json, helper, main, mono_ns, path, replay, run, shared, test, wait_for
from recorder import NOBODY, attached

CHAIN = helper("chain")


def last_words(*args):
    """Lines of a helper up to "done"; and the helper, which waits."""
    p = subprocess.Popen([str(a) for a in args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    said = []
    for line in p.stdout:
        if line == "done\n":
            return p, said
        said.append(line)
    if p.wait() == 77:
        raise Skip("only on x86_64")
    check(False, f"{args}: ended with {p.returncode}")


def put_away(p):
    p.kill()
    p.wait()
    p.stdout.close()


@functools.lru_cache(1)
def files_of_frames(file):
    """{stack: {nr of the frame: (build-id, offset)}}"""
    got = {}
    for line in map(json.loads, run(helper("addrs"), file, "frames").stdout.splitlines()):
        got.setdefault(line["stack"], {})[line["nr"]] = line["build_id"], line["off"]
    return got


def build_id(file):
    return re.search(r"Build ID: ([0-9a-f]+)", run("readelf", "-n", file).stdout).group(1)


def functions(file):
    """[(offset, name)] of a small program: its code's addresses are its file offsets."""
    rows = [line.split() for line in run("nm", "--defined-only", file).stdout.splitlines()]
    return sorted((int(r[0], 16), r[2]) for r in rows if len(r) == 3 and r[1] in "tT")


def at(funcs, off):
    i = bisect.bisect_right(funcs, (off, "\xff")) - 1
    return funcs[i][1] if i >= 0 else None


def samples(file, pid):
    return replay(file, "-f", f"event == cpu_sample && pid == {pid} && user == 1 && ustack_id != 0")


def code(function):
    """[(offset, instruction)] of a function of the chain."""
    text = run("objdump", "-d", "--no-show-raw-insn", f"--disassemble={function}", CHAIN).stdout
    rows = re.findall(r"^ *([0-9a-f]+):\t(.*)$", text, re.M)
    check(rows, f"objdump knows no {function}")
    return [(int(at, 16), text) for at, text in rows]


def without_frame(function):
    """Offsets at which the caller's frame is not there: before it is made, and when it is left again."""
    rows, bare, made = code(function), set(), False
    for off, text in rows:
        if not made:
            bare.add(off)
        if re.match(r"mov +%rsp,%rbp|mov\tx29, sp", text):
            made = True
        elif re.match(r"pop +%rbp|leave|ldp\tx29", text):
            made = False
    return bare


def named(file, pid, function):
    """Of each sample in this function of the chain: its offset, and the names of its frames, None: of another file or none."""
    funcs, id, frames = functions(CHAIN), build_id(CHAIN), files_of_frames(file)
    got = []
    for e in samples(file, pid):
        by_nr = frames.get(e["ustack_id"], {})
        names = [at(funcs, by_nr[i][1]) if by_nr.get(i, "?")[0] == id else None for i in range(len(e["ustack"]))]
        if names[:1] == [function]:
            got.append((by_nr[0][1], names))
    return got


@test("a program with frame pointers: the whole chain of its calls, innermost first")
def chain():
    name, (p, _) = shared(*SAMPLES), last_words(CHAIN, 0.5)
    file = dump(name)
    put_away(p)
    want, bare = ["chain_leaf", *(f"chain_{i}" for i in range(6, 0, -1)), "main"], without_frame("chain_leaf")
    got = [names for off, names in named(file, p.pid, "chain_leaf") if off not in bare]
    check(got, "no sample in chain_leaf()")
    others = [names for names in got if names[:len(want)] != want]
    check(not others, f"{len(others)} of {len(got)} have other frames: {others[:3]}")
    return f"{len(got)} samples"


@test("a register that holds no frame: the stack is where the program is, nothing is invented")
def bare():
    told, name = [], shared(*SAMPLES)
    for what in "frame", "odd", "below", "far", "nowhere", "data":
        p, _ = last_words(CHAIN, 0.1, what)
        told.append((what, p.pid))
        put_away(p)
    file, rows = dump(name), code("chain_bare")
    loop = {off for i, (off, text) in enumerate(rows) if text.startswith("dec") or (text.startswith("j") and rows[i - 1][1].startswith("dec"))}
    for what, pid in told:
        got = [names for off, names in named(file, pid, "chain_bare") if off in loop]
        check(got, f"{what}: no sample in the loop of chain_bare()")
        # what is looked at is found if it is a frame
        want = ["chain_bare", "chain_1"] if what == "frame" else ["chain_bare"]
        equal([names for names in got if names != want][:3], [], f"{what}: frames that are not {want}, of {len(got)} samples")


SOURCE = "void %s(long rounds) { for (volatile long i = 0; i < rounds; i++); }\n"


def object_of(name):
    """A shared object whose code is the other's to the byte, but not its build-id."""
    file = path(f"{name}.so")
    with open(path(f"{name}.c"), "w") as f:
        f.write(SOURCE % name)
    run("gcc", "-O1", "-fno-omit-frame-pointer", "-shared", "-fPIC", "-nostdlib", f"-Wl,-e,{name},--build-id=sha1", "-o", file, path(f"{name}.c"))
    return file


@test("io_uring's threads, which have never been in user code: their samples have no user stack")
def never_in_user():
    name, since = shared(*SAMPLES), mono_ns()
    if run(helper("uring"), 100, status=None).returncode == 77:
        raise Skip("no io_uring here")
    worker = replay(dump(name), "--since", str(since), "-f", 'event == cpu_sample && comm ~ "iou-wrk*"')
    check(worker, "no sample of them")
    equal({e["ustack_id"] for e in worker}, {0}, "user stacks of them")
    check(all(e["kstack"] for e in worker), "a sample of them has no stack at all")
    return f"{len(worker)} samples"


@test("another file at the same address: each sample is of the file that was mapped then, in the ring and in the profile")
def remapped():
    libs = [object_of("one"), object_of("two")]
    ids = [build_id(lib) for lib in libs]
    since = mono_ns()
    # a recorder reads the profile's tables before other tasks of a busy machine have filled them
    with attached(SAMPLED, NOBODY) as r:
        name = r.name
        lost = fr_json("profile", "-n", name, "--no-symbols")["lost_ever"]
        p, said = last_words(helper("remap"), 40, 25, *libs)
        file = dump(name)
        put_away(p)
    phases = [tuple(map(int, line.split())) for line in said]
    equal(len(phases), 40, "phases")
    begins, frames, known = [b for b, _, _ in phases], files_of_frames(file), {id: 0 for id in ids}
    for e in samples(file, p.pid):
        i = bisect.bisect_right(begins, e["ts"]) - 1
        id = frames.get(e["ustack_id"], {}).get(0, (None,))[0]
        if e["ip"] >> 32 == 0x1234 and id in known:
            known[id] += 1
            check(i >= 0 and (e["ts"] > phases[i][1] or id == ids[phases[i][2]]), f"phase {i}: a sample has the build-id {id} of the other file")
    check(min(known.values()), f"samples of each file: {known}")
    got = fr_json("profile", file, "--since", "1h")
    # they are not mapped any more: their functions have no names
    hits = {id: sum(f["self"] for f in got["functions"] if f["name"].startswith(f"[{id}]")) for id in ids}
    whole = max(t["horizon_ns"] for c in fr_json("info", file)["cpus"] for t in c["tiers"] if t["name"] != "life") < since
    lacks = got["lost_ever"] - lost + got["window"]["other"] + got["window"]["stackless"]  # it says how many found no room
    check(all(known[id] - lacks <= hits[id] and (hits[id] <= known[id] or not whole) for id in ids),
          f"hits of the profile: {hits}, without room, or lost: {lacks}, samples in the rings: {known}")
    return f"{known} samples, {'as many' if whole else hits} hits of the profile"


def looper(function, file):
    """A program without a build-id and without libraries that is in this function for ever."""
    with open(path(f"{function}.c"), "w") as f:
        f.write("__attribute__((noinline)) void %s(void) { for (;;) __asm__ volatile(\"\"); }\nvoid _start(void) { %s(); }\n" % (function, function))
    run("gcc", "-O1", "-fno-omit-frame-pointer", "-static", "-nostdlib", "-Wl,--build-id=none", "-o", file, path(f"{function}.c"))


@test("without a build-id: the file at the path is not taken for one that was replaced, or that is in a container")
def not_there():
    # not beside the snapshot, where a file of that name is believed
    root, prog, other = path("root"), path("bin/looper"), path("bin/other")
    os.mkdir(os.path.dirname(prog))
    os.makedirs(root + os.path.dirname(prog))
    looper("the_right_one", prog)
    looper("another_one", other)
    shutil.copy(prog, root + prog)
    # the container's own root is a mount, so that its program has the path that another one has here
    inside = f"mount --rbind {root} {root} && cd {root} && mkdir -p old && pivot_root . old && exec {prog}"
    name, started = shared(*SAMPLES), []
    try:
        started.append(subprocess.Popen(["unshare", "-m", "sh", "-c", inside]))
        wait_for(lambda: exe_is(started[0].pid, prog), "the container's program runs")
        started.append(subprocess.Popen([prog]))
        wait_for(lambda: exe_is(started[1].pid, prog), "it runs")
        os.rename(other, prog)
        started.append(subprocess.Popen([prog]))
        pids = [p.pid for p in started]
        file = wait_for(lambda: sampled_in(name, pids), "all are sampled")
    finally:
        for p in started:
            p.kill()
            p.wait()
    for pid, want in zip(pids, (None, None, "another_one+0x")):
        found = {e["ustack_sym"][0] for e in replay(file, "--symbols", "-f", f"event == cpu_sample && pid == {pid} && user == 1 && comm == \"looper\"")}
        # a first sample may be where the program begins, which is of the same name in each
        good = {f for f in found if (f.startswith((want, "_start+0x")) if want else f.endswith("(file not found)"))}
        check(found and found == good and (not want or any(f.startswith(want) for f in found)), f"frames of program {pids.index(pid)}: {found}, not {want or 'unnamed'}")


def exe_is(pid, prog):
    """Has it executed that, wherever it is?"""
    with contextlib.suppress(OSError):
        return os.readlink(f"/proc/{pid}/exe").endswith(prog)


def sampled_in(name, pids):
    """A snapshot with samples of all of them, and what they have mapped."""
    file = dump(name)
    mapped = {json.loads(line)["pid"] for line in run(helper("addrs"), file, "mappings").stdout.splitlines()}
    return file if all(samples(file, pid) for pid in pids) and mapped >= set(pids) else None


if __name__ == "__main__":
    main()
