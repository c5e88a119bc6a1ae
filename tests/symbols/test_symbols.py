# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Where names of frames come from. A program is built, a snapshot is made that has frames in it, and both are taken apart."""
import ctypes.util
import http.server
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from cases import LIMIT_S, Skip, equal, main, test  # noqa: E402

FLIGHTREC = os.environ.get("FLIGHTREC", "build/flightrec")
MAKE_STACKS = os.environ.get("MAKE_STACKS", "build/tests/symbols/make_stacks")

CXX = r"""
namespace net { struct Socket { __attribute__((noinline)) int send(const char *p, unsigned n); }; }
volatile int sink;
static inline __attribute__((always_inline)) int inner(int x) { sink += x; return sink; }
int net::Socket::send(const char *p, unsigned n) { return inner(*p + n) + sink; }
extern "C" __attribute__((noinline)) int legacy(int x) __asm__("_ZN4core3fmt5write17h01d2c9a1b2c3d4e5E");
extern "C" __attribute__((noinline)) int v0(int x) __asm__("_RNvNtCs1234_7mycrate3bar3foo");
static __attribute__((noinline)) int inside(int x) { sink ^= x; return sink; }
int legacy(int x) { sink += x; return sink; }
int v0(int x) { sink -= x; return sink; }
int main(int c, char **v) { net::Socket s; return s.send(v[0], c) + legacy(c) + v0(c) + inside(c); }
"""
SEND = "net::Socket::send(char const*, unsigned int)"


def sh(*args):
    subprocess.run(args, check=True, stdin=subprocess.DEVNULL)


class Env:
    """A directory, a program in it, and the environment commands run with: nothing of the user's is looked at."""

    def __init__(self, tmp):
        self.tmp = tmp
        self.dir = f"{tmp}/snap"
        os.mkdir(self.dir)
        os.makedirs(f"{tmp}/opt")
        self.prog = f"{tmp}/opt/prog"
        self.vars = {"PATH": os.environ["PATH"], "HOME": f"{tmp}/home", "LC_ALL": "C", "TZ": "UTC"}
        with open(f"{tmp}/prog.cc", "w") as f:
            f.write(CXX)

    def build(self, *flags):
        sh("g++", "-g", "-O1", "-Wl,--build-id=sha1", *flags, f"{self.tmp}/prog.cc", "-o", self.prog)
        self.id = build_id(self.prog)
        self.load = load_bias(self.prog)
        return self

    def strip(self, keep_debug=True):
        """Returns the debug file."""
        if keep_debug:
            sh("objcopy", "--only-keep-debug", self.prog, f"{self.tmp}/prog.debug")
        sh("strip", "--strip-all", self.prog)
        return f"{self.tmp}/prog.debug"

    def off(self, symbol, plus=0):
        """Offset in the file of an address in the program, before it is stripped."""
        return address_of(self.prog, symbol) - self.load + plus

    def snapshot(self, frames, lines=(), ids=None, name="a.flight"):
        """frames: file offsets, innermost first."""
        path = f"{self.dir}/{name}"
        ips = [0x55550000 + f for f in frames]
        ids = [f"{self.id}:{f:x}" for f in frames] if ids is None else ids
        text = ["fact boot_id b", "fact arch x86_64", "task 100 100 prog", *lines,
                "stack 77 " + " ".join(f"{ip:x}" for ip in ips)]
        if ids:
            text.append("ids 77 " + " ".join(ids))
        text.append("sample 100 0 77")
        return make(path, text)

    def mapping(self, path=None, build_id=None):
        return f"map 100 55550000 55560000 0 {path or self.prog} {build_id or self.id}"

    def run(self, *args, status=0, cwd=None, **env):
        r = subprocess.run([os.path.abspath(FLIGHTREC), *args], capture_output=True, stdin=subprocess.DEVNULL, text=True, cwd=cwd,
                           env={**self.vars, **env}, timeout=LIMIT_S)
        assert r.returncode == status, f"{args}: status {r.returncode}: {r.stderr}"
        self.err = r.stderr
        return r.stdout

    def frames(self, snap, *options, **env):
        """The user frames of the one sample, in words."""
        out = self.run("replay", "--json", "--symbols", *options, snap, **env)
        return json.loads(out.splitlines()[-1])["ustack_sym"]


def make(path, lines):
    subprocess.run([MAKE_STACKS, path], input=os.fsencode("\n".join(lines) + "\n"), check=True)
    return path


def output(*args):
    return subprocess.run(args, capture_output=True, text=True, check=True).stdout


def build_id(path):
    return re.search(r"Build ID: ([0-9a-f]+)", output("readelf", "-nW", path)).group(1)


def load_bias(path):
    """Virtual address less file offset, of the code."""
    for line in output("readelf", "-lW", path).splitlines():
        m = re.match(r" *LOAD +(0x[0-9a-f]+) +(0x[0-9a-f]+) .* R.E ", line)
        if m:
            return int(m.group(2), 16) - int(m.group(1), 16)
    raise AssertionError("no code")


def address_of(path, symbol):
    for line in output("nm", path).splitlines():
        word = line.split()
        if word[-1] == symbol:
            return int(word[0], 16)
    raise AssertionError(symbol)


def has(text, *parts):
    for part in parts:
        assert part in text, f"lacks {part!r}: {text}"


MANGLED = "_ZN3net6Socket4sendEPKcj"
LEGACY = "_ZN4core3fmt5write17h01d2c9a1b2c3d4e5E"
V0 = "_RNvNtCs1234_7mycrate3bar3foo"

# ---- names ----


@test
def names_are_demangled(e):
    e.build()
    s = e.snapshot([e.off(MANGLED, 4), e.off(LEGACY, 5), e.off(V0, 6), e.off("main", 7)], [e.mapping()])
    equal(e.frames(s), [f"{SEND}+0x4 (prog)", "core::fmt::write+0x5 (prog)", "mycrate::bar::foo+0x6 (prog)", "main+0x7 (prog)"])
    equal(e.frames(s, "--raw-symbols")[:3], [f"{MANGLED}+0x4 (prog)", f"{LEGACY}+0x5 (prog)", f"{V0}+0x6 (prog)"])
    equal(e.err, "")


@test
def versions_are_left_out(e):
    s = make(f"{e.dir}/v.flight", [
        "fact boot_id b", "task 100 100 x", "sym 0 ffffffff81000000 100 clock_gettime@@GLIBC_2.17 -",
        f"sym 0 ffffffff81000100 100 {MANGLED}@X_1 -", "sym 0 ffffffff81000200 100 @odd -",
        "stack 78 ffffffff81000010 ffffffff81000110 ffffffff81000210", "sample 100 78 0"])
    want = ["clock_gettime+0x10", f"{SEND}+0x10", "@odd+0x10"]
    equal(json.loads(e.run("replay", "--json", "--symbols", s))["kstack_sym"], want)
    equal(json.loads(e.run("replay", "--json", "--raw-symbols", s))["kstack_sym"][0], "clock_gettime@@GLIBC_2.17+0x10")


@test
def text_has_names_by_default(e):
    e.build()
    s = e.snapshot([e.off(MANGLED, 4), e.off("main", 7)], [e.mapping()])
    has(e.run("replay", s), f"ustack=[{SEND}+0x4 (prog); main+0x7 (prog)]\n")
    has(e.run("replay", "--no-symbols", s), f"ustack=[{0x55550000 + e.off(MANGLED, 4):#x} ")
    row = json.loads(e.run("replay", "--json", s))
    assert "ustack_sym" not in row and row["ustack"] == [0x55550000 + e.off(MANGLED, 4), 0x55550000 + e.off("main", 7)], row


@test
def a_flame_graph_is_of_functions(e):
    """Two places in a function are one line of top's flame graph, whichever file it is in."""
    e.build()
    at = [0x55550000 + e.off("main", plus) for plus in (4, 7)]
    s = make(f"{e.dir}/f.flight", [
        "fact boot_id b", "fact arch x86_64", "task 100 100 prog", e.mapping(), "sym 0 ffffffff81000000 100 in_kernel -",
        "sym 0 ffffffffc0000000 100 in_module ext4",
        f"stack 77 {at[0]:x}", f"ids 77 {e.id}:{at[0] - 0x55550000:x}", f"stack 78 {at[1]:x}", f"ids 78 {e.id}:{at[1] - 0x55550000:x}",
        "stack 79 ffffffff81000010 ffffffffc0000010", "stack 80 ffffffff81000020 ffffffffc0000020",
        "sample 100 79 77", "sample 100 80 78"])
    lines = e.run("top", "--once", "--panel", "flame", "--keys", "f", "--size", "60x40", s).splitlines()
    graph = [re.sub("=.*", "", line).strip() for line in lines[next(i for i, line in enumerate(lines) if " all=" in line):]]
    equal(graph[:5], ["all", "prog", "main (prog)", "in_module [ext4]", "in_kernel"])


@test
def a_return_address_is_looked_up_before(e):
    """The last byte of one function's call is the byte before the next function."""
    e.build()
    after = e.off(MANGLED)
    s = e.snapshot([after, after], [e.mapping()])
    first, second = e.frames(s)
    equal(first, f"{SEND}+0x0 (prog)")
    assert SEND not in second, second


@test
def kernel_names_are_in_the_file(e):
    s = make(f"{e.dir}/k.flight", [
        "fact boot_id b", "task 100 100 prog", "sym 0 ffffffff81000000 100 do_thing -", "sym 0 ffffffffc0000000 80 _RNvCs1234_7mycrate3foo rusty",
        "sym 0 ffffffff81000200 0 asm_thing -",
        "stack 78 ffffffff81000010 ffffffffc0000004 ffffffff81000100 ffffffff81000203", "sample 100 78 0"])
    row = json.loads(e.run("replay", "--json", "--symbols", s))
    equal(row["kstack_sym"], ["do_thing+0x10", "mycrate::foo+0x4 [rusty]", "0xffffffff81000100", "asm_thing+0x3"])
    equal(row["ustack_sym"], [])


@test
def frames_of_the_recorder_are_left_out(e):
    """Of a crash, which is a program's at a tracepoint; of a sample they say where time went."""
    stack = ["bpf_prog_0123456789abcdef_fr_crash_deliver", "bpf_trace_run3", "__traceiter_signal_deliver", "get_signal", "bpf_trace_run3"]
    at = [f"ffffffff8100{i}000" for i in range(len(stack))]
    s = make(f"{e.dir}/o.flight", [
        "fact boot_id b", "task 100 100 prog", *(f"sym 0 {a} 100 {name} {'bpf' if i == 0 else '-'}" for i, (a, name) in enumerate(zip(at, stack))),
        "stack 78 " + " ".join(at), "sample 100 78 0", "crash 100 78 0"])

    def names(*options):
        return [[f.split("+")[0] for f in json.loads(line)["kstack_sym"]] for line in e.run("replay", "--json", *options, s).splitlines()]

    equal(names("--symbols"), [stack, stack[3:]])
    equal(names("--raw-symbols"), [stack, stack])
    has(e.run("replay", "-f", "event == crash", s), "kstack=[get_signal+0x0; bpf_trace_run3+0x0]")
    equal(len(json.loads(e.run("replay", "--json", "-f", "event == crash", s))["kstack"]), len(stack))


@test
def code_made_at_run_time(e):
    s = make(f"{e.dir}/j.flight", [
        "fact boot_id b", "task 100 100 java", "sym 100 7f0000001000 100 Interpreter -", "sym 200 7f0000002000 100 Other -",
        "stack 77 7f0000001010 7f0000001100 7f0000001101 7f0000002010 41", "sample 100 0 77"])
    equal(e.frames(s), ["Interpreter+0x10 [jit]", "Interpreter+0x100 [jit]", "0x7f0000001101", "0x7f0000002010", "0x41"])


@test
def names_cannot_move_the_cursor(e):
    s = make(f"{e.dir}/e.flight", [
        "fact boot_id b", "task 100 100 x", "sym 0 ffffffff81000000 100 a\x1b[2Jb -", "stack 78 ffffffff81000010", "sample 100 78 0"])
    has(e.run("replay", s), r"kstack=[a\x1b[2Jb+0x10]")


# What turns the line, is not seen, ends it, and is obeyed
SLY = "\u202e\u2066\u200b\u2028\x9b\x1b"


@test
def whatever_is_named_disguises_no_line(e):
    """Names, paths, facts and the file's own name are anybody's: no command prints what a line must not show, or no UTF-8."""
    e.build()
    named = lambda name: name + SLY + "\udcff"
    s = make(f"{e.dir}/{named('s')}.flight", [
        "fact arch x86_64", "fact trigger_reason crash", "fact trigger_ts 9000", "fact trigger_pid 100", "fact trigger_tid 100",
        *(f"fact {name} {named(name)}" for name in ("boot_id", "host", "kernel", "version", "session", "kernel_symbols", "kernel_build_id",
                                                    "trigger_comm", "trigger_rule", "trigger_exe", "cut_filter", "cut_cgroup", "cut_pid")),
        f"task 100 100 {named('p')}", f"task 101 100 {named('q')}", f"sym 0 ffffffff81000000 100 {named('kf')} {named('mod')}",
        f"sym 100 7000000 100 {named('jit')} -", e.mapping(f"/bin/{named('prog')}"), f"exec 100 /bin/{named('x')}",
        f"proc 100 /bin/{named('exe')} /{named('cwd')}", "stack 78 ffffffff81000010", "stack 77 55550100 7000010 41",
        "sample 100 78 77", "sample 101 78 77", "crash 100 78 77"])
    for args in (["replay"], ["report"], ["info"], ["symbols"], ["verify"], ["diff", s], ["top", "--once"], ["replay", "--on", "crash"],
                 ["list", "-o", e.dir], ["incidents"], ["info", "--json"], ["replay", "--json"], ["report", "--json"], ["symbols", "--json"]):
        files = [s] * (args[0] != "list")
        r = subprocess.run([FLIGHTREC, *args, *files], capture_output=True, stdin=subprocess.DEVNULL, env={**e.vars, "COLUMNS": "400"}, timeout=LIMIT_S)
        assert r.returncode in (0, 3), (args, r.stderr)
        is_json = "--json" in args
        for text in (r.stdout.decode(), r.stderr.decode()):
            assert is_json or not set(text) & set(SLY), (args, text)
        if is_json:
            lines = [r.stdout] if args[0] in ("info", "report") else r.stdout.splitlines()
            assert any(SLY in json.dumps(json.loads(line), ensure_ascii=False).replace(r"\u001b", "\x1b") for line in lines), (args, r.stdout)
    has(e.run("replay", s), r"\xe2\x80\xae\xe2\x81\xa6\xe2\x80\x8b", r"[mod\xe2\x80\xae\xe2\x81\xa6\xe2\x80\x8b\xe2\x80\xa8\xc2\x9b\x1b\xff]")
    has(e.err, r"/bin/prog\xe2\x80\xae\xe2\x81\xa6\xe2\x80\x8b\xe2\x80\xa8\xc2\x9b\x1b\xff")


# ---- where files are ----


@test
def a_process_that_has_ended(e):
    """Nothing but build-ids: found by what was executed, and by build-id."""
    e.build()
    want = [f"{SEND}+0x4 (prog)"]
    off = e.off(MANGLED, 4)
    for i, line in enumerate((f"exec 100 {e.prog}", f"fact trigger_exe {e.prog}")):
        equal(e.frames(e.snapshot([off], [line], name=f"b{i}.flight")), want)
    put(e.prog, f"{e.dir}/any")
    s = e.snapshot([off])
    equal(e.frames(s), [f"{SEND}+0x4 [{e.id}]"])
    os.unlink(f"{e.dir}/any")
    equal(e.frames(s), [f"[{e.id}]+{off:#x} (file not found)"])
    has(e.err, e.id, "file not found", "--debuginfod", "beside the snapshot", "--symfs")
    put(e.prog, f"{e.tmp}/home/.cache/flightrec/{e.id}/executable")
    equal(e.frames(s), [f"{SEND}+0x4 [{e.id}]"])


@test
def executed_by_a_relative_name(e):
    """Found where a process that lives is, where other programs are, where the reader is: by its build-id."""
    e.build()
    want, off, other = [f"{SEND}+0x4 (prog)"], e.off(MANGLED, 4), f"{e.tmp}/other"
    put(e.prog, f"{e.tmp}/sub/deep/prog")
    os.unlink(e.prog)
    put("/bin/true", f"{other}/prog")
    missing = e.snapshot([off], ["exec 100 ./prog", f"exec 100 {other}/x"])
    equal(e.frames(missing), [f"[{e.id}]+{off:#x} (file not found)"])
    equal(e.frames(missing, cwd=f"{e.tmp}/sub/deep"), want)
    for i, lines in enumerate((["exec 100 ./prog", f"proc 1 /bin/sh {other}", f"proc 2 /bin/sh {e.tmp}/sub/deep"],
                               ["exec 100 .././deep//prog", f"proc 1 /bin/sh {e.tmp}/sub/other"],
                               ["exec 100 prog", f"exec 100 {e.tmp}/sub/deep/another"],
                               ["exec 100 deep/prog", f"fact trigger_exe {e.tmp}/sub/another"])):
        equal(e.frames(e.snapshot([off], lines, name=f"r{i}.flight")), want)


def put(source, to):
    os.makedirs(os.path.dirname(to), exist_ok=True)
    shutil.copy(source, to)


@test
def beside_the_snapshot(e):
    e.build()
    s = e.snapshot([e.off(MANGLED, 4)], [e.mapping("/nonexistent/prog")])
    for name in ("prog", "prog.debug", f".build-id/{e.id[:2]}/{e.id[2:]}.debug", f".build-id/{e.id[:2]}/{e.id[2:]}"):
        has(e.frames(s)[0], "file not found")
        put(e.prog, f"{e.dir}/{name}")
        equal(e.frames(s), [f"{SEND}+0x4 (prog)"])
        os.unlink(f"{e.dir}/{name}")


@test
def below_symfs(e):
    e.build()
    s = e.snapshot([e.off(MANGLED, 4)], [e.mapping("/nonexistent/dir/prog")])
    root = f"{e.tmp}/root"
    for name in ("nonexistent/dir/prog", f"usr/lib/debug/.build-id/{e.id[:2]}/{e.id[2:]}.debug", "usr/lib/debug/nonexistent/dir/prog.debug", "prog"):
        put(e.prog, f"{root}/{name}")
        equal(e.frames(s, "--symfs", root), [f"{SEND}+0x4 (prog)"])
        shutil.rmtree(root)
    # / in links is the other machine's
    os.makedirs(f"{root}/nonexistent/dir")
    put(e.prog, f"{root}/real/prog")
    os.symlink("/real/prog", f"{root}/nonexistent/dir/prog")
    equal(e.frames(s, "--symfs", root), [f"{SEND}+0x4 (prog)"])
    e.run("replay", "--symfs", f"{e.tmp}/none", s, status=2)
    has(e.err, "--symfs", f"{e.tmp}/none")


@test
def among_the_libraries(e):
    """Of an ended process only the build-id is known: each directory of libraries is looked through, 32-bit ones too."""
    e.build()
    s = e.snapshot([e.off(MANGLED, 4)])
    root = f"{e.tmp}/root"
    for dir in ("usr/lib", "lib", "usr/lib64", "lib64", "usr/lib32", "lib32", "usr/local/lib", "usr/lib/i386-linux-gnu", "lib/arm-linux-gnueabihf"):
        put(e.prog, f"{root}/{dir}/libprog.so.1")
        equal(e.frames(s, "--symfs", root), [f"{SEND}+0x4 (libprog.so.1)"])
        shutil.rmtree(root)


@test
def beside_its_program(e):
    """A library that a program brings lies beside it, or in lib of the directory where its bin is."""
    e.build()
    for exe, places in (("bin/server", ("bin", "lib", "lib64")), ("sbin/server", ("sbin", "lib")), ("server", (".",))):
        s = e.snapshot([e.off(MANGLED, 4)], [f"exec 100 {e.tmp}/opt/x/{exe}"], name=exe.replace("/", "-") + ".flight")
        for dir in places:
            has(e.frames(s)[0], "file not found")
            put(e.prog, f"{e.tmp}/opt/x/{dir}/libprog.so.1")
            equal(e.frames(s), [f"{SEND}+0x4 (libprog.so.1)"])
            os.unlink(f"{e.tmp}/opt/x/{dir}/libprog.so.1")
    put(e.prog, f"{e.tmp}/opt/lib/libprog.so.1")
    has(e.frames(s)[0], "file not found")  # its program was in no bin


@test
def below_its_program(e):
    """A runtime keeps libraries in folders of lib, and is started by a link far away: /usr/bin/java, and lib/server/libjvm.so."""
    e.build()
    put(e.prog, f"{e.tmp}/opt/jvm/lib/server/libprog.so.1")
    put("/bin/true", f"{e.tmp}/opt/jvm/bin/java")
    os.makedirs(f"{e.tmp}/bin")
    os.symlink(f"{e.tmp}/opt/jvm/bin/java", f"{e.tmp}/bin/java")
    want = [f"{SEND}+0x4 (libprog.so.1)"]
    for i, exe in enumerate((f"{e.tmp}/opt/jvm/bin/java", f"{e.tmp}/bin/java")):
        s = e.snapshot([e.off(MANGLED, 4)], [f"exec 100 {exe}"], name=f"j{i}.flight")
        equal(e.frames(s), want)
    # the same below another root, where an absolute link is that root's
    root = f"{e.tmp}/root"
    put(f"{e.tmp}/opt/jvm/lib/server/libprog.so.1", f"{root}/opt/jvm/lib/server/libprog.so.1")
    put("/bin/true", f"{root}/opt/jvm/bin/java")
    os.makedirs(f"{root}/usr/bin")
    os.symlink("/opt/jvm/bin/java", f"{root}/usr/bin/java")
    s = e.snapshot([e.off(MANGLED, 4)], ["exec 100 /usr/bin/java"], name="root.flight")
    equal(e.frames(s, "--symfs", root), want)


@test
def copies_of_a_program(e):
    """They have one build-id: each process's frames are in the file that it had mapped; of one that has ended nobody knows which."""
    e.build()
    ips = 0x55550000 + e.off(MANGLED, 4)
    for name in ("one", "two"):
        put(e.prog, f"{e.tmp}/{name}")
    lines = ["fact boot_id b", "fact arch x86_64"]
    for pid, name in ((100, "one"), (200, "two")):
        lines += [f"task {pid} {pid} {name}", f"map {pid} 55550000 55560000 0 {e.tmp}/{name} {e.id}"]
    lines += ["task 300 300 gone"]
    for pid in (100, 200, 300):
        lines += [f"stack {pid} {ips:x}", f"ids {pid} {e.id}:{e.off(MANGLED, 4):x}", f"sample {pid} 0 {pid}"]
    s = make(f"{e.dir}/copies.flight", lines)
    frames = {}
    for line in e.run("replay", "--json", "--symbols", s).splitlines():
        event = json.loads(line)
        frames[event["tid"]] = event["ustack_sym"]
    equal(frames, {100: [f"{SEND}+0x4 (one)"], 200: [f"{SEND}+0x4 (two)"], 300: [f"{SEND}+0x4 [{e.id}]"]})


@test
def what_is_missing_takes_a_line(e):
    """However many files lack names, and however many snapshots."""
    e.build()
    lines = ["fact boot_id b", "fact arch x86_64", "task 100 100 x"]
    ids, ips = [], []
    for i in range(9):
        build_id = f"{i:02x}" * 20
        lines.append(f"map 100 {0x55550000 + i * 0x1000:x} {0x55551000 + i * 0x1000:x} 0 /nonexistent/lib{i}.so {build_id}")
        ids.append(f"{build_id}:10")
        ips.append(f"{0x55550010 + i * 0x1000:x}")
    lines += ["stack 77 " + " ".join(ips), "ids 77 " + " ".join(ids), "sample 100 0 77"]
    s = make(f"{e.dir}/many.flight", lines)
    e.frames(s)
    equal(len(e.err.splitlines()), 1)
    has(e.err, "9 of 9 frames have no name", "and of 8 more files", "`flightrec symbols` lists all", "--debuginfod")
    other = make(f"{e.dir}/other.flight", [line.replace("boot_id b", "boot_id c") for line in lines])
    e.frames(s, other)
    equal(len([line for line in e.err.splitlines() if "have no name" in line]), 1)
    has(e.err, "likewise of 1 more snapshot")


@test
def caches(e):
    e.build()
    s = e.snapshot([e.off(MANGLED, 4)], [e.mapping("/nonexistent/prog")])
    for place, env in ((f"home/.cache/flightrec/{e.id}/debuginfo", {}), (f"home/.cache/debuginfod_client/{e.id}/debuginfo", {}),
                       (f"c/{e.id}/executable", {"DEBUGINFOD_CACHE_PATH": f"{e.tmp}/c"}),
                       (f"x/flightrec/{e.id}/debuginfo", {"XDG_CACHE_HOME": f"{e.tmp}/x"})):
        put(e.prog, f"{e.tmp}/{place}")
        equal(e.frames(s, **env), [f"{SEND}+0x4 (prog)"])
        os.unlink(f"{e.tmp}/{place}")
        has(e.frames(s, **env)[0], "file not found")


@test
def another_version_is_not_believed(e):
    e.build()
    off, old = e.off(MANGLED, 4), e.id
    s = e.snapshot([off], [e.mapping()])
    e.build("-DOTHER", "-O0")
    assert e.id != old
    equal(e.frames(s), [f"{e.prog}+{off:#x} (build-id differs)"])
    has(e.err, e.prog, old, "build-id differs")


@test
def stripped(e):
    """What is missing is said; a debug file makes it good, wherever it is."""
    e.build()
    off = e.off(MANGLED, 4)
    s = e.snapshot([off], [e.mapping()])
    debug = e.strip()
    equal(e.frames(s), [f"{e.prog}+{off:#x} (stripped)"])
    has(e.err, f"{e.prog} build-id {e.id}: stripped", "--debuginfod", "debug symbols")
    for place in (f"{e.dir}/prog.debug", f"{e.dir}/.build-id/{e.id[:2]}/{e.id[2:]}.debug", f"{e.tmp}/home/.cache/debuginfod_client/{e.id}/debuginfo"):
        put(debug, place)
        equal(e.frames(s), [f"{SEND}+0x4 (prog)"])
        has(e.frames(s, "--lines")[-1], f"{SEND}+0x4 (prog) ", "prog.cc:5")
        equal(e.err, "")
        os.unlink(place)


@test
def symbols_packed_in_the_program(e):
    """.gnu_debugdata, as Fedora's programs have it: a small ELF file, packed by xz, with what is not exported."""
    if not ctypes.util.find_library("lzma") or not shutil.which("xz"):
        raise Skip("liblzma or xz is not installed")
    e.build("-rdynamic")
    offs = [e.off(MANGLED, 4), e.off("main", 7), e.off("_ZL6insidei", 3)]
    want = [f"{SEND}+0x4 (prog)", "main+0x7 (prog)", "inside(int)+0x3 (prog)"]
    mini, loose = f"{e.tmp}/mini", f"{e.tmp}/loose"
    sh("objcopy", "--only-keep-debug", e.prog, mini)
    sh("objcopy", "--strip-debug", mini)
    e.strip(keep_debug=False)
    s = e.snapshot(offs, [e.mapping()])
    equal(e.frames(s), want[:2] + [f"{e.prog}+{offs[2]:#x} (stripped)"])
    plain = e.prog + ".plain"
    shutil.copy(e.prog, plain)

    def pack(data, cut=None):
        with open(loose, "wb") as f:
            f.write(data)
        packed = subprocess.run(["xz", "-c", loose], capture_output=True, check=True).stdout
        with open(loose + ".xz", "wb") as f:
            f.write(packed[:cut])
        sh("objcopy", "--add-section", f".gnu_debugdata={loose}.xz", plain, e.prog)

    with open(mini, "rb") as f:
        data = f.read()
    pack(data)
    equal(e.frames(s), want)
    equal(e.err, "")
    # what is damaged, or would not end, is as good as none
    for bad, cut in ((data, 200), (b"no ELF", None), (data[:len(data) // 2], None), (bytes(80 << 20), None)):
        pack(bad, cut)
        equal(e.frames(s), want[:2] + [f"{e.prog}+{offs[2]:#x} (stripped)"])


@test
def a_debug_link(e):
    e.build()
    s = e.snapshot([e.off(MANGLED, 4)], [e.mapping()])
    debug = e.strip()
    sh("objcopy", f"--add-gnu-debuglink={debug}", e.prog)
    has(e.frames(s)[0], "stripped")
    put(debug, f"{e.tmp}/opt/.debug/prog.debug")
    equal(e.frames(s), [f"{SEND}+0x4 (prog)"])


@test
def only_a_debug_file(e):
    """Its headers do not tell what was where in the program's file: the mapping does, or the usual layout."""
    for flags in ((), ("-static", "-no-pie"), ("-fuse-ld=lld",)):
        try:
            e.build(*flags)
        except subprocess.CalledProcessError:
            print(f"    not built with {flags}")
            continue
        off = e.off(MANGLED, 4)
        code = min(e.off(MANGLED), e.off("main")) & ~0xfff
        begin = 0x55550000 + code
        s = e.snapshot([off], [f"map 100 {begin:x} 55560000 {code:x} /nonexistent/prog {e.id}"], name=f"o{len(flags)}{flags[:1]}.flight")
        put(e.strip(), f"{e.dir}/prog.debug")
        equal(e.frames(s), [f"{SEND}+0x4 (prog)"])


@test
def a_program_without_build_id(e):
    e.build()
    off = e.off(MANGLED, 4)
    sh("objcopy", "--remove-section=.note.gnu.build-id", e.prog)
    s = e.snapshot([off], [e.mapping(build_id="-")], ids=[])
    equal(e.frames(s), [f"{SEND}+0x4 (prog)"])
    s = e.snapshot([off], [e.mapping("/nonexistent/prog", "-")], ids=[], name="b.flight")
    equal(e.frames(s), [f"/nonexistent/prog+{off:#x} (file not found)"])
    has(e.err, "no build-id")


@test
def another_file_at_its_path(e):
    """It was replaced, or lived in a container: without a build-id the file at its path is not believed, with one it need not be."""
    e.build()
    off, name = e.off(MANGLED, 4), f"{SEND}+0x4 (prog)"
    mapping = e.mapping().replace("map", "gone", 1)
    equal(e.frames(e.snapshot([off], [mapping], ids=[])), [name])
    sh("objcopy", "--remove-section=.note.gnu.build-id", e.prog)
    mapping = e.mapping(build_id="-").replace("map", "gone", 1)
    s = e.snapshot([off], [mapping], ids=[], name="b.flight")
    equal(e.frames(s), [f"{e.prog}+{off:#x} (file not found)"])
    # the same path was another process's, which it led to
    both = e.snapshot([off], [mapping, e.mapping(build_id="-").replace("map 100", "map 101")], ids=[], name="c.flight")
    equal(e.frames(both), [f"{e.prog}+{off:#x} (file not found)"])
    # whoever reads knows where it is
    put(e.prog, f"{e.tmp}/root{e.prog}")
    equal(e.frames(s, "--symfs", f"{e.tmp}/root"), [name])
    put(e.prog, f"{e.dir}/prog")
    equal(e.frames(s), [name])


@test
def garbage_offsets(e):
    """The kernel calls frames good that are none: no name is given to what is not code."""
    e.build()
    s = e.snapshot([0x10, 0xffffffffff, e.off("sink")], [e.mapping()])
    for frame in e.frames(s):
        has(frame, "no function there")


@test
def files_that_cannot_be_opened(e):
    """The reason told is the system's, with its cure: it is not that there is no file."""
    e.build()
    s = e.snapshot([e.off(MANGLED, 4)], [e.mapping()])
    missing = set()
    for most in range(4, 16):
        r = subprocess.run(["prlimit", f"--nofile={most}", FLIGHTREC, "replay", "--json", "--symbols", s], capture_output=True, text=True, env=e.vars)
        if r.returncode:
            has(r.stderr, "Too many open files")
            continue
        frame = json.loads(r.stdout.splitlines()[-1])["ustack_sym"][0]
        missing.add(frame)
        if frame != f"{SEND}+0x4 (prog)":
            has(frame, "(Too many open files)")
            has(r.stderr, f"{e.prog} build-id {e.id}: Too many open files", "raise the limit of open files (ulimit -n, a service's LimitNOFILE=)")
    equal(len(missing), 2)
    if os.geteuid():
        raise Skip("root reads everything; others are tried as root")
    flightrec = f"{e.tmp}/flightrec"
    shutil.copy(FLIGHTREC, flightrec)
    for path, mode in ((e.tmp, 0o755), (e.dir, 0o755), (s, 0o644), (flightrec, 0o755)):
        os.chmod(path, mode)
    for path, mode in ((e.prog, 0o600), (f"{e.tmp}/opt", 0o700)):
        os.chmod(path, mode)
        r = subprocess.run([flightrec, "symbols", "--json", s], capture_output=True, text=True, env=e.vars, user=65534, group=65534, extra_groups=[])
        row = next(r for r in map(json.loads, r.stdout.splitlines()) if r["path"] == e.prog)
        equal((r.returncode, row["missing"], row["found"]), (0, "Permission denied", None))
        equal(r.stderr, f"flightrec: warning: {e.prog}: Permission denied: be root, or put copies beside the snapshot or below --symfs, and run it again\n")


SLOW_CLIENT = r"""
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static int (*progress)(void *, long, long);
static void *data;
static long calls;
int clock_gettime(clockid_t id, struct timespec *t)
{
	long r = syscall(SYS_clock_gettime, id, t);
	t->tv_sec += 200 * calls;
	return r;
}
void *debuginfod_begin(void) { return &data; }
void debuginfod_end(void *c) { (void)c; }
void debuginfod_set_user_data(void *c, void *d) { (void)c; data = d; }
void *debuginfod_get_user_data(void *c) { (void)c; return data; }
void debuginfod_set_progressfn(void *c, int (*fn)(void *, long, long)) { (void)c; progress = fn; }
static int find(void *c, const unsigned char *id, int sz, char **path)
{
	(void)id, (void)sz, (void)path;
	while (!progress(c, 0, 0))
		calls++;
	return -62;
}
int debuginfod_find_debuginfo(void *c, const unsigned char *id, int sz, char **path) { return find(c, id, sz, path); }
int debuginfod_find_executable(void *c, const unsigned char *id, int sz, char **path) { return find(c, id, sz, path); }
"""


@test
def a_server_that_takes_too_long(e):
    """A client whose minutes pass at once: it is said that it was too long, once, and that nothing else is asked for."""
    e.build()
    with open(f"{e.tmp}/slow.c", "w") as f:
        f.write(SLOW_CLIENT)
    sh("gcc", "-shared", "-fPIC", "-Wl,-soname,libdebuginfod.so.1", f"{e.tmp}/slow.c", "-o", f"{e.tmp}/libdebuginfod.so.1")
    s = e.snapshot([e.off(MANGLED, 4), 0x99], ids=[f"{e.id}:10", f"{'cd' * 20}:10"])
    has(e.frames(s, "--debuginfod", DEBUGINFOD_URLS="http://127.0.0.1:1", LD_PRELOAD=f"{e.tmp}/libdebuginfod.so.1")[0], "file not found")
    equal([line for line in e.err.splitlines() if "debuginfod: " in line],
          ["flightrec: warning: debuginfod: no file within 5 minutes; no more files are asked for: try again later, what was fetched is kept"])


@test
def special_paths_are_not_opened(e):
    """A path in a snapshot is anyone's: a pipe would hang, a device could do something."""
    e.build()
    os.mkfifo(f"{e.tmp}/pipe")
    for i, path in enumerate((f"{e.tmp}/pipe", "/dev/zero", e.tmp, "[vdso]", "relative/prog", f"/usr/..{e.prog}")):
        s = e.snapshot([e.off(MANGLED, 4)], [e.mapping(path)], name=f"s{i}.flight")
        has(e.frames(s)[0], "file not found")


@test
def damaged_files(e):
    """Cut and overwritten anywhere, a file gives names or none, and no more."""
    e.build()
    s = e.snapshot([e.off(MANGLED, 4), e.off("main", 7)], [e.mapping()])
    with open(e.prog, "rb") as f:
        whole = f.read()
    step = len(whole) // 40
    for at in range(1, len(whole), step):
        for bad in (whole[:at], whole[:at] + b"\xff" * 64 + whole[at + 64:], whole[:at] + bytes(64) + whole[at + 64:]):
            with open(e.prog, "wb") as f:
                f.write(bad)
            equal(len(e.frames(s)), 2)
            assert len(e.frames(s, "--lines")) >= 2


@test
def files_of_terabytes(e):
    """A sparse file whose sections are said to fill it: that there is no memory for them is its own fault, and no failure of ours."""
    e.build()
    s = e.snapshot([e.off(MANGLED, 4)], [e.mapping()])
    with open(e.prog, "r+b") as f:
        head = f.read(64)
        begin, cnt = struct.unpack_from("<Q", head, 40)[0], struct.unpack_from("<H", head, 60)[0]
        for nr in range(1, cnt):
            f.seek(begin + 64 * nr + 32)
            f.write(struct.pack("<Q", (1 << 40) // 24 * 24))
        try:
            f.truncate(2 << 40)
        except OSError as err:
            raise Skip(f"no file so large is possible: {err}") from err
    has(e.frames(s)[0], "stripped")


# ---- lines ----


@test
def lines_and_inlined_functions(e):
    e.build()
    lines = output("objdump", "-dl", "--no-show-raw-insn", f"--disassemble={MANGLED}", e.prog).splitlines()
    at = max(i for i, line in enumerate(lines) if line.endswith("prog.cc:4"))
    off = int(next(line for line in lines[at + 1:] if re.match(r" +[0-9a-f]+:\t", line)).split(":")[0], 16) - e.load
    got = e.frames(e.snapshot([off], [e.mapping()]), "--lines")
    plus = off - e.off(MANGLED)
    equal(got, [f"inner(int) (prog) {e.tmp}/prog.cc:4 (inlined)".replace("inner(int)", got[0].split(" (")[0]),
                f"{SEND}+{plus:#x} (prog) {e.tmp}/prog.cc:5"])
    assert got[0].startswith("inner"), got
    # the same in the report on a crash, whose frames keep their numbers
    main = e.off("main", 7)
    s = make(f"{e.dir}/crash.flight", [
        "fact boot_id b", "fact arch x86_64", "fact trigger_reason crash", "fact trigger_pid 100", "fact trigger_tid 100",
        "fact trigger_ts 1000009000", "task 100 100 prog", e.mapping(), f"stack 77 {0x55550000 + off:x} {0x55550000 + main:x}",
        f"ids 77 {e.id}:{off:x} {e.id}:{main:x}", "crash 100 0 77"])
    page = [re.sub(r"^ +(#[0-9]+) +0x[0-9a-f]+ ", r"\1 ", line) for line in e.run("report", "--lines", s).splitlines() if re.match(" +#[0-9]", line)]
    equal(page[:2], [f"#0 {got[0].split(' (')[0]} ({e.prog}) {e.tmp}/prog.cc:4 (inlined)", f"#0 {SEND}+{plus:#x} ({e.prog}) {e.tmp}/prog.cc:5"])
    assert re.fullmatch(rf"#1 main\+0x7 \({e.prog}\) {e.tmp}/prog.cc:11", page[2]), page
    user = json.loads(e.run("report", "--json", "--lines", s))["focus"]["stack"]["user"]
    equal([(f["line"], f["inlined"]) for f in user], [(4, True), (5, False), (11, False)])
    plain = json.loads(e.run("report", "--json", s))["focus"]["stack"]["user"]
    equal([(f["name"], f["file"], f["line"]) for f in plain], [(SEND, None, None), ("main", None, None)])


# ---- debuginfod ----


class Server(http.server.BaseHTTPRequestHandler):
    files = {}
    asked = []

    def do_GET(self):
        self.asked.append(self.path)
        body = self.files.get(self.path)
        self.send_response(200 if body else 404)
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, *args):
        pass


@test
def debuginfod(e):
    if not ctypes.util.find_library("debuginfod") and not os.path.exists("/usr/lib/x86_64-linux-gnu/libdebuginfod.so.1"):
        raise Skip("libdebuginfod1 is not installed")
    e.build()
    off = e.off(MANGLED, 4)
    s = e.snapshot([off], [e.mapping()])
    with open(e.strip(), "rb") as f:
        Server.files = {f"/buildid/{e.id}/debuginfo": f.read()}
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}/"
    cache = {"DEBUGINFOD_CACHE_PATH": f"{e.tmp}/cache"}
    has(e.frames(s, DEBUGINFOD_URLS=url, **cache)[0], "stripped")
    equal(Server.asked, [])
    has(e.frames(s, "--debuginfod", **cache)[0], "stripped")
    has(e.err, "set DEBUGINFOD_URLS")
    equal(e.frames(s, "--debuginfod", DEBUGINFOD_URLS=url, **cache), [f"{SEND}+0x4 (prog)"])
    # from then on it is in the cache
    server.shutdown()
    server.server_close()
    equal(e.frames(s, **cache), [f"{SEND}+0x4 (prog)"])
    os.rename(f"{e.tmp}/cache", f"{e.tmp}/away")
    has(e.frames(s, "--debuginfod", DEBUGINFOD_URLS=url, **cache)[0], "stripped")
    has(e.err, "debuginfod: ")


# ---- the command ----


@test
def symbols_command(e):
    e.build()
    s = e.snapshot([e.off(MANGLED, 4), 0x99], [e.mapping(), f"map 200 66660000 66670000 0 /nonexistent/lib.so {'ab' * 20}"])
    out = e.run("symbols", s)
    has(out, e.prog, e.id, "original path")
    rows = [json.loads(line) for line in e.run("symbols", "--json", s).splitlines()]
    mine = next(r for r in rows if r["build_id"] == e.id)
    equal((mine["path"], mine["frames"], mine["named"], mine["found"], mine["where"], mine["missing"]),
          (e.prog, 2, 1, e.prog, "original path", None))
    other = next(r for r in rows if r["build_id"] == "ab" * 20)
    equal((other["path"], other["frames"], other["missing"]), ("/nonexistent/lib.so", 0, "file not found"))


def call(fn):
    with tempfile.TemporaryDirectory(prefix="fr-symbols-") as tmp:
        fn(Env(tmp))


main(call, only=sys.argv[1:])
