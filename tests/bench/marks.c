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

/* The same with a nop of one byte, as most static marks have: recorded by a trap. Its note is called `end`, so -e mark: takes
 * it. */
#undef FLIGHTREC_MARK_PLACE
#define FLIGHTREC_MARK_PLACE "990: nop\n"

enum { BARE, MARK, TRAP };

static double loop_ns(unsigned long cnt, int how)
{
	double begin = spent_ns();
	unsigned long i;

	for (i = 0; i < cnt; i++) {
		if (how == MARK)
			flightrec_begin("request", i);
		else if (how == TRAP)
			FLIGHTREC_MARK_SITE("end", "8" FLIGHTREC_MARK_OF "%0 8" FLIGHTREC_MARK_OF "%1",
					    FLIGHTREC_MARK_TWO("request", i));
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
	printf("a loop without marks %.2f ns, with one %.2f ns, with one that takes a trap %.2f ns\n", bare, marked,
	       loop_ns(cnt, TRAP));
	return 0;
}
