/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * marks: what a mark costs (marks.sh). Arguments: how many. Prints ns a round of a loop, by the processor time of this thread.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "lib/flightrec_mark.h"

static double spent_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

enum { BARE, MARK };

static double loop_ns(unsigned long cnt, int how)
{
	double begin = spent_ns();
	unsigned long i;

	for (i = 0; i < cnt; i++) {
		if (how == MARK)
			flightrec_begin("request", i);
		else
			__asm__ volatile("" ::"r"("request"), "r"(i) : "memory");
	}
	return (spent_ns() - begin) / cnt;
}

int main(int argc, char **argv)
{
	double bare, marked;
	unsigned long cnt = argc > 1 ? strtoul(argv[1], NULL, 0) : 1000000;

	if (!cnt)
		return 2;
	bare = loop_ns(cnt, BARE);
	marked = loop_ns(cnt, MARK);
	printf("a loop without marks %.2f ns, with one %.2f ns\n", bare, marked);
	return 0;
}
