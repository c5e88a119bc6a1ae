/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * crasher [CNT [NAP_US [NAMES]]]: CNT children die of SIGSEGV, each at the same place, NAP_US between two, in turn under so
 * many names, NAME-0 and so on; without arguments it dies itself. No core is written. Prints how many died so.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t over;

static void on_term(int sig)
{
	(void)sig;
	over = 1;
}

static volatile unsigned long nowhere = 0x10;

__attribute__((noinline)) static void die(void)
{
	signal(SIGTERM, SIG_DFL);
#ifdef __x86_64__
	/* each register has a value of its own as it dies */
	asm volatile("mov $0x5a00, %%eax; mov $0x5a01, %%ebx; mov $0x5a02, %%ecx; mov $0x5a03, %%edx; mov $0x5a04, %%esi;"
		     "mov $0x5a05, %%edi; mov $0x5a08, %%r8d; mov $0x5a09, %%r9d; mov $0x5a10, %%r10d; mov $0x5a11, %%r11d;"
		     "mov $0x5a12, %%r12d; mov $0x5a13, %%r13d; mov $0x5a14, %%r14d; mov $0x5a15, %%r15d; movl $1, 0x10"
		     :
		     :
		     : "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
		       "memory");
#endif
	*(volatile int *)nowhere = 1;
}

static void take_name(int nr)
{
	char name[32];

	snprintf(name, sizeof(name), "%.10s-%d", program_invocation_short_name, nr);
	prctl(PR_SET_NAME, name);
}

int main(int argc, char **argv)
{
	const struct rlimit none = {0, 0};
	int cnt = argc > 1 ? atoi(argv[1]) : 0, nap_us = argc > 2 ? atoi(argv[2]) : 0;
	int names = argc > 3 ? atoi(argv[3]) : 0, died = 0, i, status;
	pid_t pid;

	setrlimit(RLIMIT_CORE, &none);
	if (!cnt)
		die();
	signal(SIGTERM, on_term);
	for (i = 0; i < cnt && !over; i++) {
		pid = fork();
		if (!pid && names)
			take_name(i % names);
		if (!pid)
			die();
		while (pid > 0 && waitpid(pid, &status, 0) < 0)
			;
		died += pid > 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
		if (nap_us)
			usleep(nap_us);
	}
	printf("%d\n", died);
	return 0;
}
