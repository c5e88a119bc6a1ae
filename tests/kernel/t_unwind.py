# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The stack of a crash in programs without frame pointers: found in their files, by whoever takes the snapshot."""
import json
import os
import platform
import re
import resource
import subprocess
import time

from deadly import Names, die
from frtest import MINIMAL, Skip, check, dump, equal, fr, helper, main, path, replay, run, shared, test
from recorder import recording
from matrix import alerts

KEPT = 4  # FR_USTACK_CNT: of so many deaths
KEPT_S = 0.1  # FR_USTACK_KEPT_NS: at least
OURS = "crash:comm=frt-bare"  # whatever else dies on this machine takes no room
SECRET = "on-the-stack-only"

LIBRARY = r"""
#define NOINLINE __attribute__((noinline, noclone))
volatile long sum;
NOINLINE void lib_inner(void (*call)(void)) { call(); sum++; }
NOINLINE void lib_outer(void (*call)(void)) { lib_inner(call); sum++; }
"""

PROGRAM = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#define NOINLINE __attribute__((noinline, noclone))
extern volatile long sum;
extern void lib_outer(void (*call)(void));
static void (*volatile nowhere)(void);

NOINLINE void dies(void) { sum++; *(volatile int *)0x10 = 1; sum++; }
NOINLINE void null(void) { *(volatile int *)nowhere = 1; sum++; }
NOINLINE void aborts(void) { abort(); }
NOINLINE void two(void) { dies(); sum++; }
NOINLINE void one(void) { lib_outer(two); sum++; }
NOINLINE void jumps(void) { nowhere(); sum++; }

NOINLINE void handler(int sig) { signal(sig, SIG_DFL); abort(); }
NOINLINE void handled(void) { signal(SIGSEGV, handler); one(); sum++; }

/* On a stack of its own. */
NOINLINE void handled_there(void)
{
	stack_t there = {.ss_sp = malloc(65536), .ss_size = 65536};
	struct sigaction act = {.sa_handler = handler, .sa_flags = SA_ONSTACK};

	sigaltstack(&there, 0);
	sigaction(SIGSEGV, &act, 0);
	one();
	sum++;
}

/* Most of its room is never written to. */
NOINLINE void roomy(void) { volatile char room[20 * 4096]; room[0] = 1; one(); sum += room[0]; }

/* No frame of its fits any more: the pointer of the stack is far below it. */
NOINLINE void endless(int n) { volatile char room[20 * 4096]; room[0] = n; endless(n + 1); sum += room[0]; }
NOINLINE void overflow(void) { endless(0); sum++; }

/* Two processes that die at the same time, on different CPUs. */
NOINLINE void both(void)
{
	volatile int *ready = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int i;

	for (i = 0; i < 2; i++) {
		cpu_set_t set;
		pid_t pid = fork();

		if (pid) {
			printf("%d\n", pid);
			continue;
		}
		CPU_ZERO(&set);
		CPU_SET(i, &set);
		sched_setaffinity(0, sizeof(set), &set);
		__sync_fetch_and_add(ready, 1);
		while (*ready < 2)
			;
		one();
		sum++;
	}
	while (wait(0) > 0)
		;
	exit(0);
}

NOINLINE void *of_thread(void *arg) { one(); sum++; return arg; }
NOINLINE void threaded(void) { pthread_t t; pthread_create(&t, 0, of_thread, 0); pthread_join(t, 0); sum++; }

/* All that lies above its frame, up to its caller's and beyond. */
NOINLINE void smashes(void)
{
	unsigned long words[8];
	volatile unsigned long *at = words;
	int i;

	for (i = 0; i < 64; i++)
		at[i] = 0x4141414141414141;
	*(volatile int *)0x10 = 1;
	sum += words[3];
}
NOINLINE void smashed(void) { smashes(); sum++; }

NOINLINE void deeper(int n)
{
	volatile char room[1000];

	room[n] = n;
	if (n)
		deeper(n - 1);
	else
		dies();
	sum += room[n];
}
NOINLINE void deep(void) { deeper(100); sum++; }

NOINLINE void secret(void)
{
	volatile char text[64];
	unsigned i;

	for (i = 0; i < sizeof(text); i++)
		text[i] = i < 17 ? "on-the-" "stack-" "only"[i] : 0;
	one();
	sum += text[5];
}

/* Code that is in no file, and keeps a frame pointer. */
static void *made(const char *bytes, unsigned sz)
{
	return memcpy(mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), bytes, sz);
}
NOINLINE void made_calls(void) { ((void (*)(void (*)(void)))made("\x55\x48\x89\xe5\xff\xd7\x5d\xc3", 8))(one); sum++; }
NOINLINE void made_dies(void) { ((void (*)(void))made("\x55\x48\x89\xe5\x31\xc0\x89\x00\x5d\xc3", 10))(); sum++; }

static char *given; /* by who asks */
static char status[8192], locked[3 * 4096] __attribute__((aligned(4096)));

/* What the kernel counts of the process; nothing is mapped from here on. */
static void tells(void)
{
	int fd = open("/proc/self/status", O_RDONLY);

	write(1, status, read(fd, status, sizeof(status)));
	close(fd);
}

static void *waits(void *arg) { pause(); return arg; }
static void *opens(void *arg) { *(volatile int *)arg = syscall(SYS_gettid); return (void *)(long)open(given, O_RDONLY); }

/* Threads: two that wait, and one that has a descriptor reserved for as long as nobody writes to what it opens. */
static void starts(void)
{
	static volatile int tid;
	char state[64] = "", stat[256] = "";
	pthread_t t;
	int fd;

	pthread_create(&t, 0, waits, 0);
	pthread_create(&t, 0, waits, 0);
	pthread_create(&t, 0, opens, (void *)&tid);
	while (!tid)
		;
	sprintf(state, "/proc/self/task/%d/stat", tid);
	while (!strstr(stat, ") S ")) {
		fd = open(state, O_RDONLY);
		read(fd, stat, sizeof(stat) - 1);
		close(fd);
	}
}

/* Descriptors of all kinds, and more than are kept; then a low limit, and a user that nobody else is. */
NOINLINE void holds(void)
{
	const struct rlimit few = {300, 400};
	char text[4096];
	int i, end[2];

	close_range(3, ~0u, 0);
	open("/dev/null", O_RDWR | O_CLOEXEC);
	open("/proc/self/exe", O_RDONLY);
	lseek(4, 17, SEEK_SET);
	pipe(end);
	snprintf(text, sizeof(text), "%s?token=hunter2hunter2", given);
	open(text, O_RDONLY | O_CREAT, 0600);
	dup2(1, 250);
	for (i = 100; i < 200; i++)
		dup2(3, i);
	setrlimit(RLIMIT_NOFILE, &few);
	mlock(locked, sizeof(locked));
	setresuid(0x40000000 + getpid(), 0, 0); /* the real one, by which the kernel counts; the others may do what they could */
	starts();
	tells();
	one();
	sum++;
}

/* As many as it may have, and more than one function looks at. */
NOINLINE void many(void)
{
	int i, cnt = atoi(given);
	const struct rlimit limit = {cnt, cnt};

	close_range(3, ~0u, 0);
	setrlimit(RLIMIT_NOFILE, &limit);
	for (i = 3; i < cnt; i++)
		dup2(1, i);
	one();
	sum++;
}

/* Few, far apart; and some whose numbers are too high to be looked at. */
NOINLINE void sparse(void)
{
	static const int far[] = {20000, 100000, 200000, 262143, 262144, 300000};
	const struct rlimit limit = {400000, 400000};
	unsigned i;

	close_range(3, ~0u, 0);
	setrlimit(RLIMIT_NOFILE, &limit);
	for (i = 3; i < 64; i++)
		dup2(1, i);
	for (i = 0; i < sizeof(far) / sizeof(far[0]); i++)
		dup2(1, far[i]);
	one();
	sum++;
}

static char maps[1 << 16];

/* What is mapped; nothing else is from here on. */
static void lists(void)
{
	int fd = open("/proc/self/maps", O_RDONLY), sz = 0, n;

	while ((n = read(fd, maps + sz, sizeof(maps) - sz)) > 0)
		sz += n;
	close(fd);
	write(1, maps, sz);
}

/* Memory of several kinds; it dies at some that nobody may touch. */
NOINLINE void lies(void)
{
	char text[4096], *guard;
	int fd;

	snprintf(text, sizeof(text), "%s?token=hunter2hunter2", given);
	fd = open(text, O_RDWR | O_CREAT, 0600);
	ftruncate(fd, 3 * 4096);
	mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 4096);
	mmap(0, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unlink(text);
	prctl(0x53564d41, 0, mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096, "of ours"); /* where a kernel can */
	guard = mmap(0, 3 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	given = strdup(text);
	lists();
	guard[4097] = 1;
	sum++;
}

/* Threads: one waits for a lock, one sleeps, one runs; names of their own. More if given. */
static pthread_mutex_t held_lock = PTHREAD_MUTEX_INITIALIZER;
static void *locks(void *arg) { pthread_setname_np(pthread_self(), "locks"); pthread_mutex_lock(&held_lock); return arg; }
NOINLINE void naps(void) { sleep(1000); sum++; }
NOINLINE void rests(void) { lib_outer(naps); sum++; }
static void *sleeps(void *arg) { pthread_setname_np(pthread_self(), "sleeps"); rests(); return arg; }
static volatile int running;
static void *runs(void *arg) { pthread_setname_np(pthread_self(), "runs"); for (running = 1;; sum++) ; return arg; }

/* Wait until a thread of this name is off its CPU in this call; then say its line. */
static void await(int tid, const char *name, int call)
{
	char file[64], text[256], comm[32] = "";
	int fd, n, nr = -1;

	sprintf(file, "/proc/self/task/%d/syscall", tid);
	while (nr != call || strcmp(comm, name)) {
		fd = open(file, O_RDONLY);
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
		text[n > 0 ? n : 0] = 0;
		nr = n > 0 && *text != 'r' ? atoi(text) : -1;
		sprintf(file, "/proc/self/task/%d/comm", tid);
		fd = open(file, O_RDONLY);
		n = read(fd, comm, sizeof(comm) - 1);
		close(fd);
		comm[n > 0 ? n - 1 : 0] = 0;
		sprintf(file, "/proc/self/task/%d/syscall", tid);
	}
	printf("%d %s %s", tid, name, text);
}

static volatile int tids[4], alike[8], alike_nr, alike_cnt;
static void *pauses(void *arg)
{
	alike[__sync_fetch_and_add(&alike_nr, 1) % 8] = syscall(SYS_gettid);
	__sync_fetch_and_add(&alike_cnt, 1); /* when it is there */
	pause();
	return arg;
}
static void *begins(void *arg)
{
	void *(*const begin[])(void *) = {locks, sleeps, runs};
	tids[(long)arg] = syscall(SYS_gettid);
	return begin[(long)arg](arg);
}

NOINLINE void fellows(void)
{
	pthread_attr_t small;
	pthread_t t;
	long i, more = atoi(given);

	pthread_mutex_lock(&held_lock);
	for (i = 0; i < 3; i++)
		pthread_create(&t, 0, begins, (void *)i);
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 16384);
	for (i = 0; i < more; i++)
		if (pthread_create(&t, &small, pauses, 0))
			break;
	while (alike_cnt < i)
		;
	while (!running || !tids[0] || !tids[1])
		;
	await(tids[0], "locks", SYS_futex);
	await(tids[1], "sleeps", SYS_clock_nanosleep);
	printf("%d runs\n%ld\n", tids[2], 4 + i);
	for (i = 0; i < 8 && alike[i]; i++)
		await(alike[i], "frt-bare", SYS_pause);
	fflush(stdout);
	one();
	sum++;
}

/* As many mappings as it may have, but for a few. */
NOINLINE void scattered(void)
{
	int i, fd, n, cnt = 0, pairs = atoi(given);
	char *at = mmap(0, 2 * pairs * 4096l, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), text[12];

	for (i = 0; i < pairs; i++)
		mprotect(at + 2 * i * 4096l, 4096, PROT_READ | PROT_WRITE);
	fd = open("/proc/self/maps", O_RDONLY);
	while ((n = read(fd, maps, sizeof(maps))) > 0)
		while (n)
			cnt += maps[--n] == '\n';
	close(fd);
	write(1, text, sprintf(text, "%d", cnt));
	one();
	sum++;
}

int main(int argc, char **argv)
{
	static const struct { const char *name; void (*call)(void); } ways[] = {
		{"chain", one}, {"jumps", jumps}, {"handled", handled}, {"threaded", threaded}, {"smashed", smashed},
		{"deep", deep}, {"secret", secret}, {"handled_there", handled_there}, {"roomy", roomy}, {"overflow", overflow},
		{"both", both}, {"made_calls", made_calls}, {"made_dies", made_dies}, {"holds", holds},
		{"many", many}, {"sparse", sparse}, {"lies", lies}, {"scattered", scattered},
		{"fellows", fellows}, {"null", null}, {"aborts", aborts},
	};
	unsigned i;

	given = argv[1];
	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strcmp(argv[argc - 1], ways[i].name))
			ways[i].call();
	return 1;
}
"""

FLAGS = ("-O2", "-fomit-frame-pointer", "-fno-optimize-sibling-calls", "-fno-stack-protector", "-fno-stack-clash-protection",
         "-fcf-protection=none", "-w")


def program(name="frt-bare"):
    """A program and its library, both without frame pointers."""
    if platform.machine() != "x86_64":
        raise Skip("only on x86_64")
    if not os.path.exists(path(name)):
        for file, text in ("lib.c", LIBRARY), (f"{name}.c", PROGRAM):
            with open(path(file), "w") as f:
                f.write(text)
        run("gcc", *FLAGS, "-shared", "-fPIC", "-o", path("libfrtbare.so"), path("lib.c"))
        run("gcc", *FLAGS, "-o", path(name), path(f"{name}.c"), path("libfrtbare.so"), "-lpthread")
    return path(name)


def crash_in(file, pid):
    """The only event of its crash."""
    crash, = replay(file, "--symbols", "-f", f"event == crash && pid == {pid}")
    return crash


def died(file, pid):
    """The names of its frames, as far as main()."""
    crash = crash_in(file, pid)
    equal(len(crash["ustack"]), len(crash["ustack_sym"]), "numbers and names")
    check(all("+" in frame for frame in crash["ustack_sym"][1:]), f"all that something returns to is in a file: {crash['ustack_sym']}")
    names = [frame.split("+")[0] for frame in crash["ustack_sym"]]
    return names[:names.index("main") + 1] if "main" in names else names


def stacks(*ways, of=program):
    """{way: names of its frames}, and the file."""
    file, name = of(), shared(*MINIMAL)
    with alerts(name, OURS):
        pids = {way: subprocess.Popen([file, way], stdin=subprocess.DEVNULL) for way in ways}
        for p in pids.values():
            check(p.wait() < 0, "died of a signal")
        taken = dump(name)
    fr("verify", taken)
    return {way: died(taken, p.pid) for way, p in pids.items()}, taken


def content(file):
    return subprocess.run(["zstd", "-dcf", file], stdout=subprocess.PIPE, check=True).stdout


CHAIN = ["dies", "two", "lib_inner", "lib_outer", "one"]


@test("a program without frame pointers: the whole chain of its calls, through its library")
def chain():
    equal(stacks("chain")[0]["chain"], [*CHAIN, "main"], "frames")


@test("a call that went to a bad pointer: who called follows")
def jumps():
    equal(stacks("jumps")[0]["jumps"], ["0x0", "jumps", "main"], "frames")


@test("a handler that dies: what the signal interrupted follows, to the last")
def handled():
    frames = stacks("handled")[0]["handled"]
    check("handler" in frames, frames)
    equal(frames[frames.index("handler") + 2:], [*CHAIN, "handled", "main"], "what was interrupted")


@test("a handler that dies on a stack of its own: the same")
def handled_there():
    frames = stacks("handled_there")[0]["handled_there"]
    check("handler" in frames, frames)
    equal(frames[frames.index("handler") + 2:], [*CHAIN, "handled_there", "main"], "what was interrupted")


@test("room on the stack that was never written to; a stack that has overflowed by more than a page")
def holes():
    got, _ = stacks("roomy", "overflow")
    equal(got["roomy"], [*CHAIN, "roomy", "main"], "frames")
    frames = got["overflow"]
    equal(set(frames), {"endless"}, "all")
    check(len(frames) > 5, f"{len(frames)} frames")


@test("two that die at the same time: the frames of both, each time")
def both():
    if len(os.sched_getaffinity(0)) < 2:
        raise Skip("needs two CPUs")
    file, name = program(), shared(*MINIMAL)
    with alerts(name, OURS):
        for i in range(3):
            time.sleep(KEPT_S + 0.05)
            pids = run(file, "both").stdout.split()
            taken = dump(name)
            for pid in pids:
                equal(died(taken, int(pid)), [*CHAIN, "both", "main"], f"frames, round {i}")


@test("a program that only its mount namespace has: by another process that lives there")
def container():
    file, place, name = program(), path("inside"), shared(*MINIMAL)
    os.makedirs(place)
    with alerts(name, OURS):
        p = subprocess.Popen(["unshare", "-m", "sh", "-c",
                              f"mount -t tmpfs none {place} && cp {file} {place} && {{ {place}/frt-bare chain & wait $!; echo $!; read end; }}"],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        pid = int(p.stdout.readline())
        taken = dump(name)
        p.communicate()
    crash = crash_in(taken, pid)
    check(not os.listdir(place), "not here")
    check(len(crash["ustack"]) >= 6, f"frames: {crash['ustack_sym']}")
    equal([f.split("+")[0] for f in crash["ustack_sym"][2:4]], ["lib_inner", "lib_outer"], "those of the library, which both have")


@test("a program on an overlay below the root, and its library: the whole chain, also if the overlay has files of its own by now")
def overlay():
    file, place, name, died = program(), path("overlay"), shared(*MINIMAL), []
    there = f"{place}/all"
    os.makedirs(place)
    run("mount", "-t", "tmpfs", "none", place)
    try:
        for dir in ("lower", "far", "upper", "work", "all"):
            os.mkdir(f"{place}/{dir}")
        run("mount", "-t", "tmpfs", "none", f"{place}/far")
        for below in ("lower", "far"):  # of the same file system as what is written, and of another one
            for f in (file, path("libfrtbare.so")):
                run("cp", f, f"{place}/{below}")
            for dir in ("upper", "work"):
                run("rm", "-rf", f"{place}/{dir}")
                os.mkdir(f"{place}/{dir}")
            p = run("mount", "-t", "overlay", "none", "-o", f"lowerdir={place}/{below},upperdir={place}/upper,workdir={place}/work", there,
                    status=None)
            if p.returncode:
                raise Skip(f"no overlay can be mounted here: {p.stderr.strip()}")
            try:
                with alerts(name, OURS):
                    for i in range(2):
                        p = subprocess.Popen([f"{there}/frt-bare", "chain"], env={"LD_PRELOAD": f"{there}/libfrtbare.so"})
                        check(p.wait() < 0, "died of a signal")
                        died.append((p.pid, dump(name)))
                        if not i:  # behind the snapshot: a file that was written to since a death is another one to it
                            run("touch", f"{there}/frt-bare", f"{there}/libfrtbare.so")
            finally:
                run("umount", there)
            for pid, taken in died[-2:]:
                sym = crash_in(taken, pid)["ustack_sym"]
                names = [frame.split("+")[0] for frame in sym]
                check(len(names) >= 6, f"{below}: frames of {pid}, of {[pid for pid, _ in died]}: {sym}")
                equal(files_in(taken, pid) & {f"{there}/frt-bare", f"{there}/libfrtbare.so"}, {f"{there}/frt-bare", f"{there}/libfrtbare.so"},
                      "files told")
    finally:
        run("umount", "-R", place)


def files_in(file, pid):
    """Which files a snapshot says that a process had mapped."""
    rows = map(json.loads, run(helper("addrs"), file, "mappings").stdout.splitlines())
    return {r["path"] for r in rows if r["pid"] == pid}


@test("code that is in no file: what called it, and what it called, is named; also where the program has no build-id")
def made():
    without = path("without/frt-bare")

    def of():
        program()
        os.makedirs(os.path.dirname(without), exist_ok=True)
        run("gcc", *FLAGS, "-Wl,--build-id=none", "-o", without, path("frt-bare.c"), path("libfrtbare.so"), "-lpthread")
        return without
    for of_which in program, of:
        file, name = of_which(), shared(*MINIMAL)
        with alerts(name, OURS):
            pids = {way: subprocess.Popen([file, way], stdin=subprocess.DEVNULL) for way in ("made_calls", "made_dies")}
            for p in pids.values():
                check(p.wait() < 0, "died of a signal")
            taken = dump(name)
        names = {way: [f.split("+")[0] for f in crash_in(taken, p.pid)["ustack_sym"]] for way, p in pids.items()}
        equal(names["made_calls"][:5] + names["made_calls"][6:8], [*CHAIN, "made_calls", "main"], f"frames: {names['made_calls']}")
        equal(names["made_dies"][1:3], ["made_dies", "main"], f"frames: {names['made_dies']}")


@test("a thread: to where it began")
def threaded():
    frames = stacks("threaded")[0]["threaded"]
    equal(frames[:6], [*CHAIN, "of_thread"], "frames")
    check("main" not in frames, frames)


@test("a stack that was overwritten ends there; one that is deeper than what is kept ends where that does")
def ends():
    got, _ = stacks("smashed", "deep")
    equal(got["smashed"], ["smashes"], "frames")
    frames = got["deep"]
    equal(frames[0], "dies", "innermost")
    equal(set(frames[1:]), {"deeper"}, "the others")
    check(20 < len(frames) < 40, f"{len(frames)} frames of 1 KiB in 32 KiB")


@test("a stripped program: the same frames")
def stripped():
    file, name = program(), shared(*MINIMAL)

    def of():
        run("strip", "-o", path("frt-stripped"), file)
        return path("frt-stripped")

    names = Names(file)
    with alerts(name, "crash:comm=frt-stripped"):
        pid = subprocess.Popen([of(), "chain"], stdin=subprocess.DEVNULL)
        pid.wait()
        taken = dump(name)
    crash = crash_in(taken, pid.pid)
    frames = [names.of(int(f.split("+")[1].split()[0], 16)) if "(stripped)" in f else f.split("+")[0] for f in crash["ustack_sym"]]
    equal(frames[:6], [*CHAIN, "main"], "frames")


@test("of the last deaths all frames are known, of an earlier one those with frame pointers; each snapshot has them")
def several():
    file, name = program(), shared(*MINIMAL)
    with alerts(name, OURS):
        pids = []
        for _ in range(KEPT + 1):
            pids.append(die(file, "chain")[0])
            time.sleep(KEPT_S)
        taken = [dump(name), dump(name)]
        time.sleep(1.5)  # `--last 1ms` has what is a second older, too
        check(b"libfrtbare.so" in content(taken[0]), "where its frames were")
        check(b"libfrtbare.so" not in content(dump(name, "--last", "1ms")), "nothing of deaths that the snapshot lacks")
    for snapshot in taken:
        equal(len(died(snapshot, pids[0])), 1, "frames of the first")
        for pid in pids[1:]:
            equal(died(snapshot, pid), [*CHAIN, "main"], "a later one")
    cut, merged = path("cut.flight"), path("merged.flight")
    fr("cut", "--pid", str(pids[2]), "-o", cut, taken[0])
    fr("merge", "-o", merged, *taken)
    fr("verify", cut, merged)
    equal(died(cut, pids[2]), [*CHAIN, "main"], "cut")
    equal(died(merged, pids[3]), [*CHAIN, "main"], "merged")


@test("a program that is not in the recorder's root, as a container's: the last frame that was found tells its file")
def elsewhere():
    file, hidden, name = program(), path("hidden"), shared(*MINIMAL)
    os.makedirs(hidden)
    script = f"mount -t tmpfs none {hidden} && cp {file} {hidden}/frt-bare && exec {hidden}/frt-bare handled"
    with alerts(name, OURS):
        p = subprocess.Popen(["unshare", "-m", "sh", "-c", script], stdin=subprocess.DEVNULL)
        check(p.wait() < 0, "died of a signal")
        taken = dump(name)
    fr("verify", taken)
    frames = crash_in(taken, p.pid)["ustack_sym"]
    check(len(frames) > 1 and "abort+" in frames[-2], f"what abort() returns to is the last: {frames}")
    check(f"{hidden}/frt-bare" in frames[-1], frames)


def had(file, pid):
    """What report says that a process had."""
    scene = json.loads(fr("report", "--json", "--task", str(pid), file).stdout)["scene"]
    return {d["fd"]: d for d in scene["descriptors"]}, {n["name"]: n for n in scene["limits"]}, scene


def held(*args):
    """A death: what the program said before, its pid, and a snapshot."""
    name = shared(*MINIMAL)
    with alerts(name, OURS):
        p = subprocess.Popen([program(), *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        said = p.communicate()[0]
        check(p.returncode < 0, "died of a signal")
        return said, p.pid, dump(name)


@test("descriptors and limits, as the process had them when it died: the lowest, the highest, and how many; a reserved one is none")
def holds():
    fifo = path("never-written")
    os.mkfifo(fifo)
    said, pid, taken = held(fifo, "holds")
    fds, limits, scene = had(taken, pid)
    opened = [*range(8), *range(100, 200), 250]
    equal((scene["open"], scene["open_below"]), (len(opened), None), "open")
    equal(list(fds), [*opened[:32], *opened[-32:]], "descriptors in the file")
    check(fds[3]["object"].endswith(":/dev/null"), fds[3])
    equal(fds[3]["flags_words"], "O_RDWR|O_CLOEXEC", "flags, with that of the descriptor")
    equal(fds[100]["flags_words"], "O_RDWR", "flags of a copy")
    check(fds[4]["object"].endswith("/frt-bare"), fds[4])
    equal(fds[4]["pos"], 17, "place")
    check(fds[5]["object"].startswith("pipe:["), fds[5])
    equal((fds[5]["object"], fds[250]["object"]), (fds[6]["object"], fds[1]["object"]), "both ends of a pipe; a copy")
    equal([fds[n]["flags_words"] for n in (5, 6)], ["O_RDONLY", "O_WRONLY"], "ends")
    equal(limits["NOFILE"], {"number": 7, "name": "NOFILE", "soft": 300, "hard": 400, "used": len(opened)}, "limit")
    check(fds[7]["object"].endswith("?token=[redacted]"), fds[7])
    check(b"hunter2" not in content(taken), "a secret of a path is nowhere in the file")
    status = dict(line.split(":", 1) for line in said.splitlines())
    for limit, field in ("DATA", "VmData"), ("STACK", "VmStk"), ("MEMLOCK", "VmLck"), ("AS", "VmSize"):
        equal(limits[limit]["used"], 1024 * int(status[field].split()[0]), f"{limit}, as the process read it")
    equal(status["VmLck"].split(), ["12", "kB"], "what it locked")
    if limits["NPROC"]["used"] is not None:  # kernels that count elsewhere
        equal(limits["NPROC"]["used"], 4, "threads of the user, which nobody else is")
    text = fr("report", "--task", str(pid), taken).stdout
    check("descriptors: 109 open; new ones have numbers below 300 (RLIMIT_NOFILE, hard 400)" in text, text)
    check("... 93 more ..." in text, text)
    check("nothing was mapped at 0x10, the address of the fault" in text, text)
    cut = path("had.flight")
    fr("cut", "--redact", "-o", cut, taken)
    clean, _, scene = had(cut, pid)
    check("frt-bare" not in clean[4]["object"] and list(clean) == list(fds), clean[4])


def may_have(cnt):
    """Descriptors, a process on this machine?"""
    return subprocess.run(["prlimit", f"--nofile={cnt}:{cnt}", "true"], stderr=subprocess.DEVNULL).returncode == 0


@test("as many descriptors as it may have, each counted")
def many():
    cnt = 70000 if may_have(70000) else resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    _, pid, taken = held(str(cnt), "many")
    fds, limits, scene = had(taken, pid)
    equal((scene["open"], scene["open_below"], limits["NOFILE"]["used"]), (cnt, None, cnt), "open")
    equal(list(fds), [*range(32), *range(cnt - 32, cnt)], "descriptors in the file")


@test("descriptors whose numbers are too high to be looked at: only those below, and nothing is said of the limit's use")
def sparse():
    if not may_have(400000):
        raise Skip("no process may have a descriptor with such a number here")
    _, pid, taken = held("sparse")
    fds, limits, scene = had(taken, pid)
    equal((scene["open"], scene["open_below"], limits["NOFILE"]["used"]), (68, 1 << 18, None), "open")
    equal(list(fds), [*range(32), *range(36, 64), 20000, 100000, 200000, 262143], "descriptors in the file")
    text = fr("report", "--task", str(pid), taken).stdout
    check("descriptors: 68 open with numbers below 262,144, others not known; new ones" in text, text)


def perms_of(m):
    return m["start"], m["end"], m["perms"], m["offset"]


def build_id(file):
    text = subprocess.run(["readelf", "-n", file], stdout=subprocess.PIPE, text=True, check=True).stdout
    return re.search(r"Build ID: (\w+)", text).group(1)


@test("its memory, as it reads it itself before it dies: mappings, files, build-ids, and in which the fault was; of a path no secret")
def lies():
    said, pid, taken = held(path("mapped"), "lies")
    scene = had(taken, pid)[2]
    read = [line.split(None, 5) for line in said.splitlines() if "[vsyscall]" not in line]  # that is no mapping of the process's
    expected = [(*(int(n, 16) for n in at.split("-")), perms, int(off, 16)) for at, perms, off, *_ in read]
    equal(list(map(perms_of, scene["mappings"])), expected, "mappings")
    equal(scene["mapped"], len(expected), "how many")
    paths = [line[5].strip().removesuffix(" (deleted)") if line[5:] else None for line in read]
    equal([m["path"] for m in scene["mappings"]], [p and p.replace("hunter2hunter2", "[redacted]") for p in paths], "what they are of")
    equal([m["file"] for m in scene["mappings"]], [line[3] != "00:00" for line in read], "files")
    gone = [bool(line[5:]) and line[5].strip().endswith(" (deleted)") for line in read]
    equal([m["deleted"] for m in scene["mappings"]], gone, "files without a name")
    equal(gone.count(True), 2, "one was removed, one never had any")
    ids = {m["path"]: m["build_id"] for m in scene["mappings"]}
    for file in path("frt-bare"), path("libfrtbare.so"), next(p for p in ids if p and "/libc.so" in p):
        equal(ids[file], build_id(file), f"build-id of {file}")
    equal([ids[None], ids["[heap]"]], [None, None], "what has none")
    equal([(m["perms"], m["end"] - m["start"]) for m in scene["mappings"] if m["addr"]], [("---p", 3 * 4096)], "where the fault was")
    equal([(m["perms"], m["path"]) for m in scene["mappings"] if m["ip"]], [("r-xp", path("frt-bare"))], "its code")
    equal([m["path"] for m in scene["mappings"] if m["sp"]], ["[stack]"], "its stack")
    check(b"hunter2" not in content(taken), "a secret of a path is nowhere in the file")
    text = fr("report", "--task", str(pid), taken).stdout
    check(f"    mappings: {len(expected)}\n" in text and "---p  memory of no file  <- address of the fault\n" in text, text)
    whole = fr("report", "--top", "0", "--task", str(pid), taken).stdout
    check("?token=[redacted] (deleted)\n" in whole, re.findall(".*redacted.*", whole))
    cut = path("lay.flight")
    fr("cut", "--redact", "-o", cut, taken)
    clean = had(cut, pid)[2]["mappings"]
    equal(list(map(perms_of, clean)), expected, "mappings of a file without names")
    check(all(not m["path"] or "frt-bare" not in m["path"] for m in clean), clean)
    equal([m["build_id"] for m in clean], [m["build_id"] for m in scene["mappings"]], "build-ids stay")


@test("a fault at address 0 is one; a signal that a process sent itself has no address")
def null():
    for way, is_said in ("null", True), ("aborts", False):
        pid, taken = held(way)[1:]
        check(not any(m["addr"] for m in had(taken, pid)[2]["mappings"]), "nothing is mapped at 0")
        said = re.findall("nothing was mapped at .*", fr("report", "--task", str(pid), taken).stdout)
        equal(said, ["nothing was mapped at 0x0, the address of the fault"] * is_said, f"said of {way}")


@test("as many mappings as it may have: each counted; where it was, and where its stack was, are among those that are kept")
def scattered():
    with open("/proc/sys/vm/max_map_count") as f:
        pairs = (min(int(f.read()), 65530) - 100) // 2  # on some hosts it is 2^31
    said, pid, taken = held(str(pairs), "scattered")
    scene = had(taken, pid)[2]
    equal(scene["mapped"], int(said) - ("[vsyscall]" in open("/proc/self/maps").read()), "how many there were")
    check(100 < len(scene["mappings"]) <= 512, "some are kept")
    equal([(m["perms"], m["path"]) for m in scene["mappings"] if m["ip"]], [("r-xp", path("frt-bare"))], "its code")
    equal([m["path"] for m in scene["mappings"] if m["sp"]], ["[stack]"], "its stack")
    text = fr("report", "--task", str(pid), taken).stdout
    check(f"    mappings: {scene['mapped']:,}, of which {len(scene['mappings'])} are known\n" in text, text)
    check("nothing was mapped" not in text, "not all are known")


def fellows_of(more):
    """Of a death with three fellows and so many more: what it said of them; its scene; its pid, and the snapshot."""
    said, pid, taken = held(str(more), "fellows")
    lines = [line.split() for line in said.splitlines()]
    return {line[1]: (int(line[0]), line[2:]) for line in lines[:3]}, int(lines[3][0]), had(taken, pid)[2], pid, taken


@test("its threads, as they are when one dies: names, states, calls and places as the kernel has them, and which one died")
def fellows():
    said, cnt, scene, pid, taken = fellows_of(0)
    threads = {t["comm"]: t for t in scene["threads"]}
    equal((scene["threaded"], cnt, len(scene["threads"])), (4, 4, 4), "how many")
    equal({name: t["tid"] for name, t in threads.items()}, {**{name: tid for name, (tid, _) in said.items()}, "frt-bare": pid}, "tids")
    equal([t["comm"] for t in scene["threads"] if t["died"]], ["frt-bare"], "which one died")
    for name, call in ("locks", "futex"), ("sleeps", "clock_nanosleep"):
        sp, ip = (int(n, 16) for n in said[name][1][-2:])  # of /proc/PID/task/TID/syscall
        t = threads[name]
        equal((t["ran"], t["state_name"], t["call"], t["sp"], t["ip"]), (False, "S", call, sp, ip), name)
        check("libc.so" in t["place"], t)
    runs = threads["runs"]
    check(runs["ran"] or runs["state_name"] == "R", runs)
    equal(runs["call"], None, "it is in none")
    text = fr("report", "--task", str(pid), taken).stdout
    check("    threads: 4\n" in text and "  S     in futex, at " in text, text)
    clean = path("fellows.flight")
    fr("cut", "--redact", "-o", clean, taken)
    redacted = had(clean, pid)[2]["threads"]
    equal([t["tid"] for t in redacted], [t["tid"] for t in scene["threads"]], "tids stay")
    check(not {"locks", "sleeps"} & {t["comm"] for t in redacted}, redacted)


def names_of(thread):
    """The functions of a thread's frames."""
    return [(f["place"] or "?").split("+")[0] for f in thread["stack"]]


@test("stacks of the other threads, without frame pointers: the whole chain of calls; in the report each once, the most frequent first")
def stacks_of_fellows():
    _, cnt, scene, pid, taken = fellows_of(8)
    threads = {t["comm"]: t for t in scene["threads"]}
    sleeps = names_of(threads["sleeps"])
    at = sleeps.index("naps") if "naps" in sleeps else 0
    equal(sleeps[at:at + 5], ["naps", "lib_inner", "lib_outer", "rests", "sleeps"], f"frames of one that sleeps: {sleeps}")
    check(threads["sleeps"]["stack_whole"], "to where it began")
    check("locks" in names_of(threads["locks"]), f"one that waits for a lock: {names_of(threads['locks'])}")
    for t in threads["sleeps"], threads["locks"]:
        equal(t["stack"][0], {"ip": t["ip"], "exact": True, "place": t["place"]}, "the first frame")
    died, = (t for t in scene["threads"] if t["died"])
    equal((died["stack"], died["stack_whole"]), ([], None), "the one that died has the crash's")
    if threads["runs"]["ran"]:
        equal((threads["runs"]["stack"], threads["runs"]["stack_whole"]), ([], None), "one that ran")
    paused = [t for t in scene["threads"] if t["comm"] == "frt-bare" and not t["died"]]
    equal(len(paused), 8, "those that wait alike")
    equal([names_of(t).count("pauses") for t in paused], [1] * 8, "each in the same function")
    text = fr("report", "--task", str(pid), taken).stdout
    said = text[text.index("stacks of other threads: "):]
    check(said.split("\n")[1].startswith(f"      8 threads, the first {min(t['tid'] for t in paused)} frt-bare"), said[:300])
    check(" rests+" in said and said.count(" pauses+") == 1, said[:2000])
    fr("verify", taken)
    check(SECRET.encode() not in content(taken), "no bytes")
    cut = path("fellows-cut.flight")
    fr("cut", "--pid", str(pid), "-o", cut, taken)
    equal([t["stack"] for t in had(cut, pid)[2]["threads"]], [t["stack"] for t in scene["threads"]], "cut")


@test("a process with thousands of threads: each counted, 64 of them named, the one that died among them")
def thronged():
    said, cnt, scene, pid, _ = fellows_of(3000)
    check(cnt > 1000, f"{cnt} threads could be made")
    equal((scene["threaded"], len(scene["threads"])), (cnt, 64), "how many")
    waits = [t for t in scene["threads"] if t["comm"] == "frt-bare" and not t["died"] and not t["ran"]]
    known = [t for t in waits if t["stack"]]
    check(known and all(t["stack_whole"] == ("pauses" in names_of(t)) for t in known), [(names_of(t), t["stack_whole"]) for t in known])
    equal([t["tid"] for t in scene["threads"] if t["died"]], [pid], "which one died")


@test("bytes of the stack are in no file")
def private():
    got, taken = stacks("secret")
    equal(got["secret"], [*CHAIN, "secret", "main"], "frames")
    text = content(taken)
    check(b"frt-bare" in text and SECRET.encode() not in text, "the file has the program's name, and not what was on its stack")


@test("the recorder's snapshot of the crash has them, by a writer that is confined")
def recorded():
    file = program("frt-recorded")
    with recording("crash:comm=frt-recorded,cooldown=0s") as r:
        pid, _ = die(file, "chain")
        taken = r.wait_files(1)[0]
    equal(died(taken, pid), [*CHAIN, "main"], "frames")


if __name__ == "__main__":
    main()
