/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * spin WHAT SECONDS: use so much CPU time in functions whose names are known, then say "done" and
 *
 *	end	end
 *	wait	wait to be killed
 *	crash	die of SIGSEGV in spin_crash()
 *	clock	spin in what reads the clock, which the kernel maps into each process, and wait to be killed
 *	jit	spin in code made here, which a perf map calls "jit_spin [made]", and wait to be killed
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static volatile uint64_t sum;

NOINLINE void spin_inner(void)
{
	int i;

	for (i = 0; i < 1000000; i++)
		sum += i;
}

NOINLINE void spin_outer(void)
{
	spin_inner();
	sum++;
}

NOINLINE void spin_crash(volatile int *p)
{
	*p = 1;
	sum++;
}

static double used(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* The kernel is not called for this clock. */
static void read_clock(void)
{
	struct timespec ts;
	int i;

	for (i = 0; i < 100000; i++)
		clock_gettime(CLOCK_MONOTONIC, &ts);
}

/* A loop of so many rounds, behind a frame pointer. NULL: not known for this machine, or memory cannot be made code. */
static void (*make_code(void))(uint64_t)
{
#ifdef __x86_64__
	static const unsigned char code[] = {
		0x55,		  /* push %rbp */
		0x48, 0x89, 0xe5, /* mov %rsp,%rbp */
		0x48, 0xff, 0xcf, /* 1: dec %rdi */
		0x75, 0xfb,	  /* jnz 1b */
		0x5d, 0xc3,	  /* pop %rbp; ret */
	};
	unsigned char *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*fn)(uint64_t);
	char path[64];
	FILE *f;

	if (p == MAP_FAILED)
		return NULL;
	memcpy(p + 64, code, sizeof(code));
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	f = fopen(path, "wx");
	if (!f)
		return NULL;
	fprintf(f, "%lx %zx an_older_name\n%lx %zx jit_spin [made]\nnonsense\n%lx 0 nothing\n", (unsigned long)p + 64,
		sizeof(code), (unsigned long)p + 64, sizeof(code), (unsigned long)p + 64);
	fclose(f);
	p += 64;
	memcpy(&fn, &p, sizeof(fn));
	return fn;
#else
	return NULL;
#endif
}

static void spin(const char *what, double until)
{
	void (*code)(uint64_t) = NULL;

	if (!strcmp(what, "jit")) {
		code = make_code();
		if (!code)
			exit(77);
	}
	while (used() < until) {
		if (code)
			code(1000000);
		else if (strcmp(what, "clock"))
			spin_outer();
		else
			read_clock();
	}
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	spin(argv[1], used() + atof(argv[2]));
	puts("done");
	fflush(stdout);
	if (!strcmp(argv[1], "crash"))
		spin_crash(NULL);
	if (strcmp(argv[1], "end"))
		pause();
	return 0;
}
