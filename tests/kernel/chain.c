/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * chain SECONDS [frame|odd|below|far|nowhere|data]: use CPU time in chain_leaf(), which is called through chain_1() to
 * chain_6(), each with a frame pointer; or in chain_bare(), where the register holds what is no frame, but for "frame". Says
 * "done" and waits to be killed.
 */
#pragma GCC optimize("no-omit-frame-pointer", "no-optimize-sibling-calls")
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static volatile uint64_t sum;

static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

NOINLINE void chain_leaf(int depth)
{
	int i;

	for (i = 0; i < 5000000; i++)
		sum += i ^ depth;
	cpu_ns(); /* a function that calls none has no frame */
}

#define LINK(name, next)              \
	NOINLINE void name(int depth) \
	{                             \
		next(depth + 1);      \
		sum++;                \
	}

LINK(chain_6, chain_leaf)
LINK(chain_5, chain_6)
LINK(chain_4, chain_5)
LINK(chain_3, chain_4)
LINK(chain_2, chain_3)
LINK(chain_1, chain_2)

/* What the register points at: so far from the stack's end, a frame that returns there. */
struct fake {
	const char *name;
	int64_t off;
	uint64_t ret;
};

static const struct fake fakes[] = {
	{"frame", 16, (uint64_t)chain_1},
	{"odd", 20, (uint64_t)chain_1},
	{"below", -4096, (uint64_t)chain_1},
	{"far", 16 << 20, (uint64_t)chain_1},
	{"nowhere", 16, 5},
	{"data", 16, (uint64_t)&sum},
};

static const struct fake *fake_of(const char *name)
{
	uint32_t i;

	for (i = 0; i < sizeof(fakes) / sizeof(fakes[0]); i++)
		if (!strcmp(fakes[i].name, name))
			return &fakes[i];
	exit(2);
}

/* On a stack of its own, where there is room. */
NOINLINE void chain_bare(const struct fake *fake)
{
#ifdef __x86_64__
	static char *room;
	uint64_t rounds = 5000000;
	char *sp;

	if (!room)
		room = calloc(1, 32 << 20);
	sp = (char *)(((uint64_t)room + 65536) & ~15ULL);
	memset(sp + fake->off, 0, 8);
	memcpy(sp + fake->off + 8, &fake->ret, 8);
	__asm__ volatile("mov %%rbp, %%r12\n\t"
			 "mov %%rsp, %%r13\n\t"
			 "mov %1, %%rsp\n\t"
			 "mov %2, %%rbp\n"
			 "1:\tdec %0\n\t"
			 "jnz 1b\n\t"
			 "mov %%r13, %%rsp\n\t"
			 "mov %%r12, %%rbp\n"
			 : "+r"(rounds)
			 : "r"(sp), "r"(sp + fake->off)
			 : "r12", "r13", "cc", "memory");
#else
	(void)fake;
	exit(77);
#endif
}

int main(int argc, char **argv)
{
	uint64_t end;

	if (argc < 2)
		return 2;
	end = cpu_ns() + (uint64_t)(atof(argv[1]) * 1e9);
	while (cpu_ns() < end) {
		if (argc > 2)
			chain_bare(fake_of(argv[2]));
		else
			chain_1(0);
	}
	puts("done");
	fflush(stdout);
	pause();
	return 0;
}
