# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Languages that have signals of their own: what they handle is no crash, what ends them is one, once. Runtimes that are there."""
import os
import resource
import shutil
import signal
import subprocess

from frtest import CALLS, TMP, Skip, check, dump, equal, main, path, replay, run, shared, test
from matrix import alerts

HANDLED_CNT = 201


def need(*programs):
    for p in programs:
        if not shutil.which(p):
            raise Skip(f"{p} is not installed")


def source(name, text):
    file = path(name)
    with open(file, "w") as f:
        f.write(text)
    return file


def go(*args, env=None):
    """Run to the end: pid, status as Popen gives it."""
    p = subprocess.Popen(args, cwd=TMP, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, **(env or {})})
    return p.pid, p.wait(120)


def expect(told, pid, *signals):
    equal([a["sig"] for a in told if a["pid"] == pid and a["kind"] == "crash"], list(signals), "signals of the crashes told")


@test("C++: an exception that nobody catches is a crash by SIGABRT; caught ones are not")
def cxx():
    need("g++")
    text = "#include <stdexcept>\nint main(int n, char **) { for (int i = 0; i < 100; i++) try { throw 1; } catch (int) {}" \
           " if (n > 1) throw std::runtime_error(\"x\"); }\n"
    run("g++", "-O1", source("frd.cc", text), "-o", path("frd-cxx"))
    with alerts(shared(*CALLS), "crash") as a:
        caught, thrown = go(path("frd-cxx")), go(path("frd-cxx"), "x")
        told = a.finish()[0]
    equal((caught[1], thrown[1]), (0, -signal.SIGABRT), "statuses")
    expect(told, caught[0])
    expect(told, thrown[0], signal.SIGABRT)


@test("AddressSanitizer: what it reports ends by exit, and is no crash; asked to abort, it is one")
def asan():
    text = "#include <stdlib.h>\nint main(void) { char *volatile p = malloc(8); p[8] = 1; *(volatile int *)16 = 1; return 0; }\n"
    built = run("gcc", "-w", "-g", "-O0", "-fsanitize=address", source("frd.c", text), "-o", path("frd-asan"), status=None)
    if built.returncode:
        raise Skip("this compiler has no AddressSanitizer")
    with alerts(shared(*CALLS), "crash") as a:
        ended = go(path("frd-asan"), env={"ASAN_OPTIONS": "abort_on_error=0"})
        aborted = go(path("frd-asan"), env={"ASAN_OPTIONS": "abort_on_error=1"})
        told = a.finish()[0]
    equal((ended[1], aborted[1]), (1, -signal.SIGABRT), "statuses")
    expect(told, ended[0])
    expect(told, aborted[0], signal.SIGABRT)


@test("Python's faulthandler: its handler, then the default: one crash")
def python():
    code = "import ctypes, faulthandler; faulthandler.enable(); ctypes.string_at(16)"
    with alerts(shared(*CALLS), "crash") as a:
        pid, status = go("/usr/bin/python3", "-S", "-c", code)
        told = a.finish()[0]
    equal(status, -signal.SIGSEGV, "status")
    expect(told, pid, signal.SIGSEGV)


JAVA = """
public class Frd {
	int x;
	static int get(Frd f) { return f.x; }
	public static void main(String[] args) throws Exception {
		int caught = 0;
		for (int i = 0; i < %d; i++)
			try { get(null); } catch (NullPointerException e) { caught++; }
		if (args.length > 0) {
			System.out.println("ready");
			Thread.sleep(60000);
		}
		System.exit(caught == %d ? 0 : 3);
	}
}
""" % (HANDLED_CNT, HANDLED_CNT)


def no_core():
    """A JVM's would be large."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def kill_when_ready(*args):
    """As go(), of one that says when SIGSEGV may come."""
    p = subprocess.Popen(args, cwd=TMP, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, preexec_fn=no_core)
    equal(p.stdout.readline(), "ready\n", "what it says")
    p.send_signal(signal.SIGSEGV)
    p.communicate(timeout=120)
    return p.pid, p.returncode


@test(f"Java: {HANDLED_CNT} null pointers that the JVM turns into exceptions are no crash; SIGSEGV from outside is one")
def java():
    need("java", "javac")
    run("javac", "-d", TMP, source("Frd.java", JAVA))
    # compiled code checks for null by the fault; only the first compiler does so each time
    options = ("-XX:TieredStopAtLevel=1", "-Xcomp", "-XX:CompileCommand=quiet", "-XX:CompileCommand=compileonly,Frd::get", "-cp", TMP)
    name = shared(*CALLS)
    with alerts(name, "crash") as a:
        lives = go("java", *options, "Frd")
        dies = kill_when_ready("java", *options, "Frd", "x")
        told = a.finish()[0]
        handled = replay(dump(name), "-f", f"event == signal_deliver && sig == 11 && pid == {lives[0]}")
    equal((lives[1], dies[1]), (0, -signal.SIGABRT), "statuses")
    check(len(handled) >= HANDLED_CNT and all(e["sa_handler"] for e in handled), f"{len(handled)} handled SIGSEGVs")
    expect(told, lives[0])
    expect(told, dies[0], signal.SIGABRT)
    return f"{len(handled)} handled SIGSEGVs"


GO = """
package main

import "os"
import "syscall"

func survive() { defer func() { recover() }(); var p *int; *p = 1 }

func main() {
	for i := 0; i < 100; i++ { survive() }
	if len(os.Args) < 2 { return }
	if os.Args[1] == "panic" { var p *int; *p = 1 }
	syscall.Kill(os.Getpid(), syscall.SIGABRT)
	select {}
}
"""


@test("Go: recovered faults are nothing, a panic is exit 2, SIGABRT is what its runtime makes of it")
def golang():
    need("go")
    env = {"HOME": TMP, "GOCACHE": path("gocache"), "GO111MODULE": "off", "GOFLAGS": ""}
    run("go", "build", "-o", path("frd-go"), source("frd.go", GO), env={**os.environ, **env}, timeout=300)
    with alerts(shared(*CALLS), "crash", "exit:2") as a:
        lives, panics = go(path("frd-go")), go(path("frd-go"), "panic")
        aborts = go(path("frd-go"), "abort", env={"GOTRACEBACK": "crash"})
        file = dump(shared(*CALLS))
        told = a.finish()[0]
    equal((lives[1], panics[1], aborts[1]), (0, 2, -signal.SIGABRT), "statuses")
    equal([e["kind"] for e in told if e["pid"] == lives[0]], [], "told of recovered faults")
    equal([e["kind"] for e in told if e["pid"] == panics[0]], ["status"], "told of the panic")
    *faults, at_end = replay(file, "--symbols", "-f", f"event == failure && pid == {panics[0]}")
    equal({(e["sig"], e["status"]) for e in faults}, {(signal.SIGSEGV, -1)}, "faults told: at least the first")
    equal((at_end["sig"], at_end["status"]), (0, 2), "its end")
    names = [x.split("+")[0] for x in at_end["ustack_sym"]]
    equal(names[-2:], ["runtime.main", "runtime.goexit.abi0"], f"it goes on from the runtime's stack to the program's: {names}")
    check("main.main" in names and "runtime.gopanic" in names, f"whose panic it was: {names}")
    end, = (a for a in told if a["pid"] == panics[0])
    equal((end["tid"], end["uframes"]), (at_end["tid"], at_end["ustack"]), "the alert's thread and frames")
    expect(told, aborts[0], signal.SIGABRT)


if __name__ == "__main__":
    main()
