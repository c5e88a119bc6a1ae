/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* deaths: ways for a process of one thread to die of a signal (deaths.h). */
#ifndef __clang__
#pragma GCC optimize("no-omit-frame-pointer")
#endif

#include "deaths.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#define REALTIME 37

/* ---- faults ---- */

NOINLINE void touch_three(void)
{
	touch_null();
	asm volatile("");
}

NOINLINE void touch_two(void)
{
	touch_three();
	asm volatile("");
}

static void deep(void)
{
	DIES_IN(touch_null);
	touch_two();
	asm volatile("");
}

#ifdef __x86_64__
/* The frame pointer leads to itself. */
NOINLINE void touch_null_in_loop(void)
{
	static void *loop[2];

	loop[0] = loop;
	loop[1] = __builtin_return_address(0);
	asm volatile("mov %0, %%rbp\n\tmovl $1, 0x10" : : "r"(loop) : "memory");
}

static void frame_loop(void)
{
	DIES_IN(touch_null_in_loop);
	touch_null_in_loop();
}
#endif

static void jump(void)
{
	void (*nowhere)(void) = (void (*)(void))BAD_ADDRESS;

	DIES();
	nowhere();
}

#ifdef __x86_64__
/* The only code of a program at an address of the kernel's half. There is no call at this place. */
static void vsyscall(void)
{
	void (*beyond_calls)(void) = (void (*)(void))0xffffffffff600ff0ul;

	DIES();
	beyond_calls();
}
#endif

NOINLINE void write_text(void)
{
	*(volatile char *)(uintptr_t)touch_null = 0;
}

static void readonly(void)
{
	DIES_IN(write_text);
	write_text();
}

NOINLINE void touch_noncanonical(void)
{
	*(volatile long *)0x8000000000000000ul = 1;
}

static void noncanonical(void)
{
	DIES_IN(touch_noncanonical);
	touch_noncanonical();
}

static volatile char *beyond;

NOINLINE void touch_beyond(void)
{
	*beyond = 1;
}

static void bus(void)
{
	int fd = memfd_create("empty", 0);

	beyond = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	must(beyond != MAP_FAILED);
	DIES_IN(touch_beyond);
	touch_beyond();
}

static volatile int one = 1, zero;

NOINLINE void divide(void)
{
	one = one / zero;
}

static void fpe(void)
{
#ifdef __x86_64__
	DIES_IN(divide);
	divide();
#else
	die_of(SIGFPE); /* to divide by zero gives zero there */
#endif
}

NOINLINE void illegal(void)
{
	__builtin_trap();
}

static void ill(void)
{
#ifdef __x86_64__
	DIES_IN(illegal);
#else
	DIES();		/* brk: a SIGTRAP there */
#endif
	illegal();
}

NOINLINE void breakpoint(void)
{
#ifdef __x86_64__
	asm volatile("int3");
#else
	asm volatile("brk #0");
#endif
}

static void trap(void)
{
	DIES_IN(breakpoint);
	breakpoint();
}

NOINLINE int recurse(int n)
{
	volatile char room[4096];

	room[0] = n;
	return n < 0 ? 0 : recurse(n + 1) + room[0];
}

static void overflow(void)
{
	struct rlimit small = {256 << 10, 256 << 10};

	must(!setrlimit(RLIMIT_STACK, &small));
	DIES_IN(recurse);
	exit(recurse(1));
}

static void on_signal(int sig)
{
	(void)sig;
}

/* Its handler needs the stack that there is none of. */
static void overflow_handled(void)
{
	signal(SIGSEGV, on_signal);
	overflow();
}

static void null_with(int disposition)
{
	sigset_t set;

	if (disposition == SIG_BLOCK) {
		sigemptyset(&set);
		sigaddset(&set, SIGSEGV);
		sigprocmask(SIG_BLOCK, &set, NULL);
	} else {
		signal(SIGSEGV, SIG_IGN);
	}
	null();
}

static void blocked(void)
{
	null_with(SIG_BLOCK);
}

static void ignored(void)
{
	null_with(-1);
}

static void no_core(void)
{
	struct rlimit none = {};

	must(!setrlimit(RLIMIT_CORE, &none));
	null();
}

static void not_dumpable(void)
{
	prctl(PR_SET_DUMPABLE, 0);
	null();
}

static void other_user(void)
{
	must(!setgid(65534) && !setuid(65534));
	null();
}

/* ---- signals sent ---- */

static void raise_segv(void)
{
	die_of(SIGSEGV);
}

static void quit(void)
{
	die_of(SIGQUIT);
}

static void abort_(void)
{
	DIES();
	abort();
}

static void again(int sig)
{
	signal(sig, SIG_DFL);
	raise(sig);
}

static void handler_then_default(void)
{
	signal(SIGSEGV, again);
	DIES(); /* where it raises */
	touch_null();
}

/* The second fault comes while the first is handled, and so while it is blocked. */
static void faulty_handler(void)
{
	signal(SIGSEGV, (void (*)(int))touch_null);
	null();
}

static void killed_by_other(void)
{
	int pid = sleeping_child();

	kill(pid, SIGSEGV);
	end_like(pid);
}

static void queued(void)
{
	int pid = sleeping_child();

	sigqueue(pid, SIGABRT, (union sigval){.sival_int = 7});
	end_like(pid);
}

static void cpu_limit(void)
{
	struct rlimit one = {1, 5};

	must(!setrlimit(RLIMIT_CPU, &one));
	DIES();
	for (;;)
		;
}

static void file_limit(void)
{
	struct rlimit none = {0, 0};
	int fd = open("/tmp", O_TMPFILE | O_RDWR, 0600);

	DIES();
	must(fd >= 0 && !setrlimit(RLIMIT_FSIZE, &none));
	must(write(fd, "x", 1) == 1);
}

/* ---- deaths that dump no core ---- */

static void term(void)
{
	die_of(SIGTERM);
}

static void realtime(void)
{
	die_of(REALTIME);
}

static void broken_pipe(void)
{
	int p[2];

	must(!pipe(p) && !close(p[0]));
	DIES();
	must(write(p[1], "x", 1) == 1);
}

static void alarm_(void)
{
	DIES();
	alarm(1);
	sleep_forever();
}

static void killed(void)
{
	int pid = sleeping_child();

	kill(pid, SIGKILL);
	end_like(pid);
}

/* It was blocked when it came: the delivery shows the signal itself. */
static void unblocked(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	raise(SIGUSR1);
	DIES();
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static void parent_death(void)
{
	int pid = fork_child(), p[2];

	if (pid)
		end_like(pid);
	must(!pipe(p));
	if (fork_child()) {
		must(read(p[0], p, 1) == 1);
		_exit(0);
	}
	prctl(PR_SET_PDEATHSIG, SIGHUP);
	DIES();
	must(write(p[1], "x", 1) == 1);
	sleep_forever();
}

/* clang-format off */
static const struct way ways[] = {
	{"null", null, SIGSEGV},
	{"deep", deep, SIGSEGV},
#ifdef __x86_64__
	{"frame_loop", frame_loop, SIGSEGV},
#endif
	{"jump", jump, SIGSEGV},
	{"readonly", readonly, SIGSEGV},
	{"noncanonical", noncanonical, SIGSEGV},
	{"bus", bus, SIGBUS},
	{"fpe", fpe, SIGFPE},
#ifdef __x86_64__
	{"ill", ill, SIGILL},
	{"vsyscall", vsyscall, SIGSEGV},
#else
	{"ill", ill, SIGTRAP},
#endif
	{"trap", trap, SIGTRAP},
	{"overflow", overflow, SIGSEGV},
	{"overflow_handled", overflow_handled, SIGSEGV},
	{"blocked", blocked, SIGSEGV},
	{"ignored", ignored, SIGSEGV},
	{"no_core", no_core, SIGSEGV},
	{"not_dumpable", not_dumpable, SIGSEGV},
	{"other_user", other_user, SIGSEGV},
	{"raise", raise_segv, SIGSEGV},
	{"quit", quit, SIGQUIT},
	{"abort", abort_, SIGABRT},
	{"handler_then_default", handler_then_default, SIGSEGV},
	{"faulty_handler", faulty_handler, SIGSEGV},
	{"killed_by_other", killed_by_other, SIGSEGV},
	{"queued", queued, SIGABRT},
	{"cpu_limit", cpu_limit, SIGXCPU},
	{"file_limit", file_limit, SIGXFSZ},
	{"term", term, SIGTERM},
	{"realtime", realtime, REALTIME},
	{"broken_pipe", broken_pipe, SIGPIPE},
	{"alarm", alarm_, SIGALRM},
	{"killed", killed, SIGKILL},
	{"unblocked", unblocked, SIGUSR1},
	{"parent_death", parent_death, SIGHUP},
};
/* clang-format on */

int main(int argc, char **argv)
{
	return go(ways, sizeof(ways) / sizeof(ways[0]), argc, argv);
}
