/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stats: keeps the kernel counting the runs of BPF programs until its standard input ends. Unlike the sysctl, which any
 * other may write, this lasts as long as we want it.
 */
#include <stdio.h>
#include <unistd.h>

#include "live/session/sess.h"

int main(void)
{
	char c;

	if (fr_sess_stats_on() < 0)
		return 1;
	puts("on");
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	return 0;
}
