/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What happens in a guest while it is recorded: things of which each argument, result and count is known. Argument: which. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CALL_CNT    1000
#define BLOCK_SZ    65536
#define BLOCK_AT    (48L << 20)
#define BUSY_MS	    2000
#define BUSY_ROUNDS 100

/* From one CPU to another. */
static int move_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set);
}

/* The pid, asked for by a 32-bit system call. */
static int getpid_compat(void)
{
#ifdef __x86_64__
	int ret;

	asm volatile("int $0x80" : "=a"(ret) : "a"(20), "b"(0) : "r8", "r9", "r10", "r11", "memory");
	return ret;
#else
	return getpid(); /* it takes a program of its own */
#endif
}

/* open() of a path by a 32-bit system call, which takes addresses below 4 GiB. */
static void open_compat(const char *path)
{
#ifdef __x86_64__
	char *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	int ret;

	if (low == MAP_FAILED)
		exit(1);
	strcpy(low, path);
	asm volatile("int $0x80" : "=a"(ret) : "a"(5), "b"(low), "c"(0), "d"(0) : "r8", "r9", "r10", "r11", "memory");
#else
	syscall(SYS_openat, AT_FDCWD, path, O_RDONLY);
#endif
}

/* What calls are given: paths, one of them in memory that nobody has touched, one in none, and an address. */
static void give(void)
{
	const struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(5432), .sin_addr.s_addr = htonl(0x0a000007)};
	char path[] = "/frt/guest", compat[] = "/frt/compat"; /* not constants, which may not be in memory, either */
	char *untouched = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	syscall(SYS_openat, AT_FDCWD, path, O_RDONLY);
	syscall(SYS_openat, AT_FDCWD, untouched, O_RDONLY);
	syscall(SYS_openat, AT_FDCWD, 8, O_RDONLY);
	syscall(SYS_connect, -1, &to, sizeof(to));
	open_compat(compat);
}

/* A migration. System calls: native ones without arguments and with four, and 32-bit ones. */
static int calls(void)
{
	int i;

	if (move_to(0) || move_to(1))
		return 1;
	for (i = 0; i < CALL_CNT; i++)
		syscall(SYS_getppid);
	give();
	syscall(SYS_pread64, -1, 0x1111111111, 0x2222222222, 0x3333333333);
	for (i = 0; i < CALL_CNT / 100; i++)
		if (getpid_compat() != getpid())
			return 1;
	return 0;
}

static long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/*
 * Two seconds of nothing but this; more where the guest's host is busy: its clock goes on while its CPUs do not, and how often
 * it is sampled goes by what they do.
 */
static int busy(void)
{
	long begin = now_ms(), rounds, i;
	volatile long sum = 0;

	for (rounds = 0; rounds < BUSY_ROUNDS || now_ms() - begin < BUSY_MS; rounds++)
		for (i = 0; i < 1000000; i++)
			sum += i;
	return 0;
}

/* The same above nearly all others. */
static int keep(void)
{
	const struct sched_param param = {.sched_priority = 80};

	return sched_setscheduler(0, SCHED_FIFO, &param) || busy();
}

/* One write of known place and size, straight to the device. */
static int block(const char *path)
{
	void *buf = aligned_alloc(4096, BLOCK_SZ);
	int fd = open(path, O_WRONLY | O_DIRECT);

	if (fd < 0 || !buf)
		return 1;
	memset(buf, 'x', BLOCK_SZ);
	return pwrite(fd, buf, BLOCK_SZ, BLOCK_AT) != BLOCK_SZ;
}

/* Take memory until the kernel ends it. */
static int eat(void)
{
	size_t sz = 1 << 20;
	char *p;

	for (;;) {
		p = mmap(NULL, sz, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p == MAP_FAILED)
			return 1;
		memset(p, 1, sz);
	}
}

/* A process that is there before recording begins, and ends before the snapshot. */
static int elder(void)
{
	prctl(PR_SET_NAME, "elder");
	pause();
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "calls"))
		return calls();
	if (argc == 2 && !strcmp(argv[1], "busy"))
		return busy();
	if (argc == 2 && !strcmp(argv[1], "keep"))
		return keep();
	if (argc == 2 && !strcmp(argv[1], "eat"))
		return eat();
	if (argc == 2 && !strcmp(argv[1], "elder"))
		return elder();
	if (argc == 3 && !strcmp(argv[1], "block"))
		return block(argv[2]);
	fprintf(stderr, "usage: guest calls|busy|keep|eat|elder|block DEVICE\n");
	return 2;
}
