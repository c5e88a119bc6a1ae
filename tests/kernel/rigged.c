/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rigged WAY: says where main() is, and dies of SIGSEGV with a stack that is as WAY says (ways[] below). x86-64 only: elsewhere
 * its exit status is 77.
 */
#pragma GCC optimize("no-omit-frame-pointer", "no-optimize-sibling-calls")
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __x86_64__

#define NOINLINE __attribute__((noinline, noclone, used))
#define PAGE	 4096

static volatile uint64_t sum;

/* ---- true frames ---- */

/* A function with a frame, and one that leaves the register to its caller. */
NOINLINE void dies(void)
{
	__asm__ volatile("movl $1, 0x10");
	getppid(); /* a function that calls none has no frame */
}

void dies_bare(void);
__asm__(".text\n.type dies_bare, @function\ndies_bare:\n\tmovl $1, 0x10\n\tret\n.size dies_bare, . - dies_bare\n");

#define LINK(name, next)                       \
	NOINLINE void name(void (*leaf)(void)) \
	{                                      \
		next;                          \
		sum++;                         \
	}

LINK(three, leaf())
LINK(two, three(leaf))
LINK(one, two(leaf))

static void chain(void)
{
	one(dies);
}

static void leaf(void)
{
	one(dies_bare);
}

NOINLINE void deeper(uint64_t n)
{
	volatile char room[64];

	room[0] = n;
	if (n != ~0ULL)
		deeper(n + 1);
	sum += room[0];
}

static void overflow(void)
{
	deeper(0);
}

/* ---- a handler ---- */

NOINLINE void raises(void)
{
	long nr = SYS_tgkill, pid = getpid(), tid = gettid();

	__asm__ volatile("syscall" : "+a"(nr) : "D"(pid), "S"(tid), "d"((long)SIGSEGV) : "rcx", "r11", "memory");
	sum += nr;
}

NOINLINE void handler(int sig)
{
	signal(sig, SIG_DFL);
	raises();
	_exit(1);
}

NOINLINE void handled(void *stack, size_t sz)
{
	const struct sigaction sa = {.sa_handler = handler, .sa_flags = SA_ONSTACK | SA_NODEFER};
	const stack_t alt = {.ss_sp = stack, .ss_size = sz};

	if ((stack && sigaltstack(&alt, NULL)) || sigaction(SIGSEGV, &sa, NULL))
		exit(1);
	one(dies);
}

static void same_stack(void)
{
	handled(NULL, 0);
}

/* Far below the stack. */
static void own_stack(void)
{
	static char room[64 * PAGE];

	handled(room, sizeof(room));
}

/* ---- registers that hold no frame ---- */

/* What a frame is: the caller's frame pointer, and where it goes on. */
struct frame {
	uint64_t fp, ret;
};

static uint64_t after_a_call; /* a return address as any other */

NOINLINE void called(void)
{
	after_a_call = (uint64_t)__builtin_return_address(0);
}

NOINLINE void calls(void)
{
	called();
	sum++;
}

NOINLINE void dies_with(const void *sp, const void *fp)
{
	__asm__ volatile("mov %0, %%rsp\n\tmov %1, %%rbp\n\tmovl $1, 0x10" : : "r"(sp), "r"(fp) : "memory");
}

/* Pages, the first of which cannot be used: what is mapped below is not one with them. */
static char *pages(char *at, int cnt)
{
	char *p = mmap(at, (cnt + 1) * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);

	if (p == MAP_FAILED || mprotect(p, PAGE, PROT_NONE))
		exit(1);
	return p + PAGE;
}

/* Each leads to the next, and the last one to the first. */
static void link_frames(struct frame *f, int cnt)
{
	int i;

	calls();
	for (i = 0; i < cnt; i++)
		f[i] = (struct frame){(uint64_t)&f[(i + 1) % cnt], after_a_call};
}

/* In the heap, and in the heap of one address. */
static void heap_chain(void)
{
	struct frame *f = calloc(200, sizeof(*f));

	link_frames(f, 200);
	dies_with(__builtin_frame_address(0), f);
}

static void heap_loop(void)
{
	struct frame *f = calloc(1, sizeof(*f));

	link_frames(f, 1);
	dies_with(__builtin_frame_address(0), f);
}

/* A little above a stack, in another mapping. */
static void above(void)
{
	char *room = pages(NULL, 128);
	struct frame *f = (void *)pages(room + 64 * PAGE, 8);

	link_frames(f, 200);
	dies_with(room + 60 * PAGE, f);
}

/* Glibc's thread block, of which the first word is its own address: of the main thread; and of another, on its very stack. */
static void thread_block(void)
{
	dies_with(__builtin_frame_address(0), (void *)pthread_self());
}

static void *of_thread(void *arg)
{
	thread_block();
	return arg;
}

static void thread(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, of_thread, NULL))
		exit(1);
	pthread_join(t, NULL);
}

/* On a stack of its own: what is no frame because of where it returns to; and a frame whose caller's is none. */
static void dies_at_frame(uint64_t fp, uint64_t ret)
{
	static char room[64 * PAGE];
	struct frame *f = (void *)(((uint64_t)room & ~15ULL) + 32 * PAGE);

	*f = (struct frame){fp, ret};
	dies_with(f - 4, f);
}

static void to_data(void)
{
	dies_at_frame(0, (uint64_t)&sum);
}

static void to_nowhere(void)
{
	dies_at_frame(0, 5);
}

static void ends_in_heap(void)
{
	struct frame *f = calloc(2, sizeof(*f));

	link_frames(f, 2);
	dies_at_frame((uint64_t)f, after_a_call);
}

static const struct way {
	const char *name;
	void (*die)(void);
} ways[] = {
	{"chain", chain},
	{"leaf", leaf},
	{"same_stack", same_stack},
	{"own_stack", own_stack},
	{"overflow", overflow},
	{"heap_chain", heap_chain},
	{"heap_loop", heap_loop},
	{"above", above},
	{"thread", thread},
	{"to_data", to_data},
	{"to_nowhere", to_nowhere},
	{"ends_in_heap", ends_in_heap},
	{"thread_block", thread_block},
};

int main(int argc, char **argv)
{
	const struct rlimit none = {0, 0};
	size_t i;

	setrlimit(RLIMIT_CORE, &none);
	printf("%lu\n", (unsigned long)main);
	fflush(stdout);
	for (i = 0; argc > 1 && i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strcmp(argv[1], ways[i].name))
			ways[i].die();
	return 1;
}

#else

int main(void)
{
	return 77;
}

#endif
