/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * probed: what probes of programs are tried on (t_tp.py). Calls functions, and prints a line for each call of fr_probed_call,
 * as a second observer: "call NUMBER TEXT NUMBER"; TEXT is "-" where the address is none. Then its pid.
 *
 *	probed deep CNT		CNT threads, each in DEEP calls of fr_probed_deep, one in the other, all at once
 *	probed held		prints "in"; a call of fr_probed_deep that returns when standard input ends
 *	probed texts FILE CNT	CNT threads call fr_probed_call, each with a text of FILE, APART bytes from the next
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define KEPT __attribute__((noinline, noclone, used))

static volatile int sink;

KEPT long fr_probed_call(uint64_t number, const char *text, int32_t with)
{
	asm volatile("" ::"r"(text) : "memory");
	sink += with;
	return (long)number * 2 + with;
}

/* Calls itself: returns of one thread, one in the other. */
KEPT int fr_probed_nested(int n)
{
	int inner;

	sink++;
	if (n < 2)
		return 1;
	inner = fr_probed_nested(n - 1);
	asm volatile("" : "+r"(inner)); /* so that no compiler makes a loop of it */
	return n * inner;
}

#define DEEP  60 /* the kernel has returns of 64 */
#define APART (1 << 20)

static pthread_barrier_t bottom;

KEPT int fr_probed_deep(int n)
{
	int inner = 0;

	sink++;
	if (n > 1)
		inner = fr_probed_deep(n - 1);
	else if (n)
		pthread_barrier_wait(&bottom);
	else
		while (read(STDIN_FILENO, &inner, 1) > 0)
			;
	asm volatile("" : "+r"(inner));
	return n;
}

static const char *texts;

static void *go_deep(void *nr)
{
	(void)nr;
	fr_probed_deep(DEEP);
	return NULL;
}

static void *call_with_text(void *nr)
{
	fr_probed_call((uintptr_t)nr, texts + (uintptr_t)nr * APART, 0);
	return NULL;
}

static int in_threads(int cnt, void *(*fn)(void *))
{
	pthread_t *thread = calloc(cnt, sizeof(*thread));
	pthread_attr_t small;
	int error;
	long i;

	error = thread ? pthread_attr_init(&small) ?: pthread_attr_setstacksize(&small, 1 << 18) : ENOMEM;
	for (i = 0; !error && i < cnt; i++)
		error = pthread_create(&thread[i], &small, fn, (void *)i);
	errno = error;
	if (error)
		err(1, "%ld of %d threads", i, cnt);
	for (i = 0; i < cnt; i++)
		pthread_join(thread[i], NULL);
	printf("pid %d\n", getpid());
	return 0;
}

static int other(char **argv, int cnt)
{
	int fd;

	if (!strcmp(argv[1], "held")) {
		puts("in");
		fflush(stdout);
		return fr_probed_deep(0);
	}
	if (!strcmp(argv[1], "deep")) {
		pthread_barrier_init(&bottom, NULL, cnt);
		return in_threads(cnt, go_deep);
	}
	fd = open(argv[2], O_RDONLY);
	texts = fd < 0 ? MAP_FAILED : mmap(NULL, (size_t)cnt * APART, PROT_READ, MAP_SHARED, fd, 0);
	if (texts == MAP_FAILED)
		err(1, "%s", argv[2]);
	return in_threads(cnt, call_with_text);
}

int main(int argc, char **argv)
{
	static const char text[] = "not looked at before";
	static char longer[400];
	uint64_t i;

	if (argc > 1)
		return other(argv, atoi(argv[argc - 1]));
	memset(longer, 'x', sizeof(longer) - 1);
	for (i = 0; i < 12; i++) {
		const char *what = i % 4 == 3 ? (const char *)16 : i % 4 == 2 ? longer : text;

		fr_probed_call(i << 32, what, -(int32_t)i);
		printf("call %llu %s %d\n", (unsigned long long)(i << 32), i % 4 == 3 ? "-" : what, -(int32_t)i);
	}
	printf("nested %d\n", fr_probed_nested(5));
	printf("pid %d\n", getpid());
	return 0;
}
