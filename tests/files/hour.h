/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* hour: a small profile of three minutes, of a task and an idle CPU. */
#ifndef FR_HOUR_H
#define FR_HOUR_H

#include <stdlib.h>
#include <string.h>

#include "base/profile/prof.h"

#define HOUR_STACK_ID 0x1122334455667788ull

/* What a CPU counted from `at` on: a stack of two frames in a file and one in none, an idle CPU, a hit that was lost. */
static void hour_count(struct fr_prof *p, struct fr_hits_table *t, u64 at, u64 due, u32 cnt)
{
	static const u64 words[] = {1ull << 56 | 0x1020, 1ull << 56 | 0x1100, 0x7f0000001234,
				    0x0807060504030201,	 0x100f0e0d0c0b0a09,  0x14131211};
	struct fr_hit user = {.ustack = HOUR_STACK_ID, .task = 100ull << 32 | 100, .state = FR_HIT_user};
	struct fr_hit idle = {.state = FR_HIT_idle};

	memset(t, 0, fr_hits_table_sz(0));
	memcpy(user.comm, "one", 4);
	memcpy(idle.comm, "swapper/0", 10);
	user.u_nr = fr_hits_add_stack(t, 0, HOUR_STACK_ID, 3, 1, 3);
	memcpy(fr_hits_word(t, 0, fr_hits_stack(t, 0, user.u_nr - 1)->off), words, sizeof(words));
	while (cnt--)
		fr_hits_count(t, 0, &user, at);
	fr_hits_count(t, 0, &idle, at);
	fr_hits_lose(t, at);
	fr_prof_open(p, at + 1000, due);
	fr_prof_add_table(p, t, 0);
}

/* To be freed; NULL: no memory. */
static struct fr_prof *hour_new(void)
{
	struct fr_hits_table *t = malloc(fr_hits_table_sz(0));
	struct fr_prof *p = fr_prof_new(1);

	if (t && p) {
		p->hz = 19;
		p->cpu_cnt = 2;
		hour_count(p, t, FR_PROF_MINUTE_NS, 8, 5);
		hour_count(p, t, 3 * FR_PROF_MINUTE_NS, 20, 7);
	}
	free(t);
	return p;
}

#endif
