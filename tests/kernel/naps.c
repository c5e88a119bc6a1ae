/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * naps: sleeps in known functions: `naps framed|bare CNT MS`. framed: with frame pointers; bare: without, and with a number in
 * that register. The call is made in the function itself, not in the C library. Prints its tid, and where these functions are,
 * as JSON, and goes on until its input ends: a snapshot names the functions of who lives.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#define SLEEP(ts)                                                                                                       \
	do {                                                                                                            \
		long ret_;                                                                                              \
		asm volatile("syscall" : "=a"(ret_) : "0"(SYS_nanosleep), "D"(ts), "S"(NULL) : "rcx", "r11", "memory"); \
	} while (0)
#else
#define SLEEP(ts) nanosleep(ts, NULL)
#endif

#define IN(name) __attribute__((noinline, noclone, section("frt_" #name)))
#define FRAMED	 asm volatile("" : : "r"(__builtin_frame_address(0))) /* so that it has a frame pointer */

extern char __start_frt_nap[], __stop_frt_nap[], __start_frt_work[], __stop_frt_work[], __start_frt_bare[], __stop_frt_bare[];

static volatile int done;

IN(nap) static void nap(const struct timespec *ts)
{
	FRAMED;
	SLEEP(ts);
	done++;
}

IN(work) static void work(int cnt, const struct timespec *ts)
{
	int i;

	FRAMED;
	for (i = 0; i < cnt; i++)
		nap(ts);
	done++;
}

IN(bare) static void bare(int cnt, const struct timespec *ts)
{
	int i;

	for (i = 0; i < cnt; i++) {
		SLEEP(ts);
		done++;
	}
}

int main(int argc, char **argv)
{
	struct timespec ts = {0};
	int cnt;

	if (argc != 4)
		return 2;
	cnt = atoi(argv[2]);
	ts.tv_nsec = atol(argv[3]) * 1000000;
	printf("{\"tid\": %ld, \"nap\": [%lu, %lu], \"work\": [%lu, %lu], \"bare\": [%lu, %lu]}\n", syscall(SYS_gettid),
	       (unsigned long)__start_frt_nap, (unsigned long)__stop_frt_nap, (unsigned long)__start_frt_work,
	       (unsigned long)__stop_frt_work, (unsigned long)__start_frt_bare, (unsigned long)__stop_frt_bare);
	if (!strcmp(argv[1], "framed"))
		work(cnt, &ts);
	else
		bare(cnt, &ts);
	fflush(stdout);
	while (read(STDIN_FILENO, argv[0], 1) > 0)
		;
	return 0;
}
