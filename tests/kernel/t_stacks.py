# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The user stack of a crash: all true frames, and none that is invented. Rules are loaded by alerts.c."""
import os
import subprocess

from deadly import Names, die
from frtest import LIMIT_S, MINIMAL, Skip, check, dump, equal, helper, main, need_compat_calls, path, replay, run, shared, test
from matrix import alerts

FRAMES_MAX = 64  # of an alert


def frames_of(*commands):
    """The frames of each, and what it said."""
    with alerts(shared(*MINIMAL), "crash") as a:
        died = [die(*command) for command in commands]
        found = {a["pid"]: a["uframes"] for a in a.finish()[0]}
    return [(found[pid], said) for pid, said in died]


def stacks(*ways):
    """{way: names of its frames}"""
    names = Names(helper("rigged"))
    told = frames_of(*((helper("rigged"), way) for way in ways))
    return {way: [names.of(ip, int(main_at) - names.at["main"][0]) for ip in frames] for way, (frames, main_at) in zip(ways, told)}


def begins(way, *want):
    """What called main() follows, if libc has frame pointers."""
    got = stacks(way)[way]
    equal(got[:len(want)], list(want), way)
    equal(set(got[len(want):]) - {None, "_start"}, set(), f"{way}: behind main()")


@test("a program with frame pointers: the whole chain of its calls, innermost first")
def chain():
    begins("chain", "dies", "three", "two", "one", "chain", "main")


@test("a function without a frame: its caller is missing, all others are there")
def leaf():
    begins("leaf", "dies_bare", "two", "one", "leaf", "main")


@test("a handler that dies of the signal: what it interrupted follows, whichever stack it ran on")
def handlers():
    # the kernel called it: libc's code to return there stands for the function that was interrupted
    rest = ["raises", "handler", None, "three", "two", "one"]
    begins("same_stack", *rest, "handled", "same_stack", "main")
    begins("own_stack", *rest, "handled", "own_stack", "main")


@test("a stack that has overflowed: as many frames as there is room for")
def overflow():
    equal(stacks("overflow")["overflow"], ["deeper"] * FRAMES_MAX, "frames")


@test("a register that holds no frame: the stack is where the program died, nothing is invented")
def bare():
    ways = "heap_chain", "heap_loop", "above", "to_data", "to_nowhere", "thread_block", "thread"
    want = {way: ["dies_with"] for way in ways}
    want["ends_in_heap"] = ["dies_with", "calls"]
    got = stacks(*want)
    for way in want:
        equal(got[way], want[way], way)


@test("where the kernel finds more than there is: the true frames have names after the end")
def names():
    name = shared(*MINIMAL)
    with alerts(name, "crash"):
        pid, _ = die(helper("rigged"), "ends_in_heap")
        file = dump(name)
    crash, = replay(file, "--symbols", "-f", f"event == crash && pid == {pid}")
    equal([frame.split("+")[0] for frame in crash["ustack_sym"]], ["dies_with", "calls"], "frames")


SOURCE_32 = """
void *loop[2];
__attribute__((noinline)) void never(void) { __asm__ volatile(""); }
__attribute__((noinline)) void dies(void) { __asm__ volatile("%s" : : : "memory"); never(); __asm__ volatile(""); }
__attribute__((noinline)) void two(void) { dies(); __asm__ volatile(""); }
__attribute__((noinline)) void one(void) { loop[0] = loop; loop[1] = __builtin_return_address(0); two(); __asm__ volatile(""); }
void _start(void) { __asm__ volatile("xorl %%ebp, %%ebp"); one(); for (;;); }
"""


def program_32(name, asm):
    """A 32-bit program without libraries, in whose innermost function this is executed."""
    with open(path(f"{name}.c"), "w") as f:
        f.write(SOURCE_32 % asm)
    p = run("gcc", "-m32", "-O1", "-fno-omit-frame-pointer", "-fno-pie", "-fcf-protection=none", "-static",
            "-nostdlib", "-o", path(name), path(f"{name}.c"), status=None)
    if p.returncode:
        raise Skip(f"no 32-bit programs here: {p.stderr.splitlines()[0]}")
    return path(name)


@test("a 32-bit program: the whole chain of its calls; nothing of a register that holds no frame")
def compat():
    need_compat_calls()
    chain = program_32("frt-chain", "movl $1, 0x10")
    loop = program_32("frt-loop", "movl $loop, %%ebp; movl $1, 0x10")
    (of_chain, _), (of_loop, _) = frames_of((chain,), (loop,))
    equal([Names(chain).of(ip) for ip in of_chain], ["dies", "two", "one", "_start"], "frames")
    equal([Names(loop).of(ip) for ip in of_loop], ["dies"], "of a loop")


SOURCE_END = """
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
__attribute__((noinline)) void never(void) { __asm__ volatile(""); }
__attribute__((noinline)) void gives_up(void)
{
	__asm__ volatile("syscall" : : "a"(231), "D"(3) : "rcx", "r11", "memory");
	never();
	__asm__ volatile("");
}
__attribute__((noinline)) void two(void) { gives_up(); __asm__ volatile(""); }
__attribute__((noinline)) void one(void) { two(); __asm__ volatile(""); }
static void *works(void *arg) { one(); __asm__ volatile(""); return arg; }
static void *lasts(void *arg) { pause(); return arg; }
static void handler(int sig) { one(); __asm__ volatile(""); }
__attribute__((noinline)) void touches(void) { *(volatile int *)8 = 1; never(); __asm__ volatile(""); }
__attribute__((noinline)) void calls(void) { touches(); __asm__ volatile(""); }
int main(int argc, char **argv)
{
	pthread_t t;
	if (!strcmp(argv[1], "fault")) {
		signal(SIGSEGV, handler);
		calls();
	}
	pthread_create(&t, NULL, lasts, NULL);
	pthread_create(&t, NULL, works, NULL);
	pthread_join(t, NULL);
	return 0;
}
"""


def ends(way):
    """The program's events `failure`, with names of frames, and the alert of its end."""
    with open(path("frt-ends.c"), "w") as f:
        f.write(SOURCE_END)
    if os.uname().machine != "x86_64":
        raise Skip("only on x86_64")
    run("gcc", "-O1", "-fno-omit-frame-pointer", "-fno-pie", "-no-pie", "-pthread", "-o", path("frt-ends"), path("frt-ends.c"))
    names, name = Names(path("frt-ends")), shared(*MINIMAL)
    with alerts(name, "exit:3:comm=frt-ends") as a:
        p = subprocess.Popen([path("frt-ends"), way])
        equal(p.wait(LIMIT_S), 3, "exit status")
        events = replay(dump(name), "-f", f"event == failure && pid == {p.pid}")
        alert, = (x for x in a.finish()[0] if x["pid"] == p.pid)
    if not events:
        check(not has_group_dead(), "no stack of an end")
        raise Skip("this kernel reports ends when the task has no memory any more")
    for e in events:
        e["names"] = [names.of(ip) for ip in e["ustack"] or []]
    return p.pid, events, alert


def has_group_dead():
    return "group_dead" in open("/sys/kernel/tracing/events/sched/sched_process_exit/format").read()


@test("an end with a status: the thread that called for it, and the whole chain of its calls; not the thread that ended last")
def end():
    pid, (e,), alert = ends("thread")
    equal((e["status"], e["sig"], e["names"][:4]), (3, 0, ["gives_up", "two", "one", "works"]), "its event")
    check(e["tid"] != pid, "another thread than the first")
    # the last thread may end on another CPU before the caller has been looked at: then the alert has no stack, never another one
    if alert["uframes"]:
        equal((alert["tid"], alert["uframes"][:4]), (e["tid"], e["ustack"][:4]), "the alert's")


@test("a fault that its handler makes an end of: where it was, and the end, which came from there")
def fault():
    pid, (at, end), alert = ends("fault")
    equal((at["status"], at["sig"], at["code"], at["addr"], at["names"][:3]), (-1, 11, 1, 8, ["touches", "calls", "main"]), "the fault")
    # the kernel called the handler: libc's code to return there stands for what was interrupted, whose caller follows
    equal((end["status"], end["names"][:6]), (3, ["gives_up", "two", "one", "handler", None, "touches"]), "the end")
    # its only thread is the last one, too
    equal((alert["tid"], alert["uframes"][:4]), (end["tid"], end["ustack"][:4]), "the alert's")


if __name__ == "__main__":
    main()
