/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * probed: what probes of programs are tried on (t_tp.py). Calls functions, and prints a line for each call of fr_probed_call,
 * as a second observer: "call NUMBER TEXT NUMBER"; TEXT is "-" where the address is none. Then its pid.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

int main(void)
{
	static const char text[] = "not looked at before";
	static char longer[400];
	uint64_t i;

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
