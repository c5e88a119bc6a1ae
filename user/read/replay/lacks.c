/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read/replay/lacks.h"

#include <errno.h>

#include "base/filter/filter.h"
#include "base/rows/pair.h"
#include "read/replay/summary.h"

#define EVENT_MAX 4

/* What rows of any task can change. */
#define OF_OTHER_TASKS (1u << FR_PAIR_WAKE | 1u << FR_PAIR_OTHERS | 1u << FR_PAIR_RQ | 1u << FR_PAIR_IO)

/* What rows of any CPU can change. */
#define OF_OTHER_CPUS (1u << FR_PAIR_CALL | 1u << FR_PAIR_OFF | 1u << FR_PAIR_WAKE | 1u << FR_PAIR_RQ | 1u << FR_PAIR_IO)

/* The events that a value is computed from. What the file's schema does not have cannot have been cut away. */
static u32 find_events(const struct fr_schema *schema, u32 what, u8 *nr)
{
	const struct fr_pair_event *e;
	u32 cnt = 0, i;

	for (i = 0; (e = fr_pairs_event(i)) && cnt < EVENT_MAX; i++) {
		const struct fr_event *ev = e->tells & 1u << what ? fr_schema_find(schema, e->want.event) : NULL;

		if (ev)
			nr[cnt++] = ev->nr;
	}
	return cnt;
}

/* f NULL: there was no filter. */
static u32 lacks(const struct fr_snap *s, const struct fr_filter *f, bool by_task)
{
	u32 mask = 0, what;

	for (what = 0; what < FR_PAIR_WHAT_CNT; what++) {
		u8 nr[EVENT_MAX];
		u32 cnt = find_events(fr_snap_schema(s), what, nr);
		enum fr_takes takes = f ? fr_filter_takes(f, nr, cnt) : FR_TAKES_ALL;
		bool of_all = takes == FR_TAKES_ALL && !by_task;

		if (takes == FR_TAKES_SOME || (OF_OTHER_TASKS & 1u << what && !of_all))
			mask |= 1u << what;
	}
	return mask;
}

int fr_cut_lacks(const struct fr_snap *s, u32 *what)
{
	const char *expr = fr_snap_fact(s, "cut_filter");
	bool by_task = fr_snap_fact(s, "cut_pid") || fr_snap_fact(s, "cut_cgroup");
	struct fr_filter_error error;
	struct fr_filter *f = NULL;
	s64 cut_cnt = 0;
	int err = 0;

	*what = fr_snap_lost_end(s) ? OF_OTHER_CPUS : 0;
	if (!fr_cut_is_picked(s))
		return 0;
	/* of several cuts in one file nobody knows which tasks' rows are there from when to when */
	if (fr_snap_fact_num(s, "merge_cuts", &cut_cnt) && cut_cnt > 1)
		*what = FR_PAIR_WHAT_ALL;
	else if (expr)
		err = fr_filter_new(expr, fr_snap_schema(s), fr_snap_fact(s, "arch"), &f, &error);
	*what |= err ? FR_PAIR_WHAT_ALL : lacks(s, f, by_task);
	fr_filter_free(f);
	return err == -ENOMEM ? err : 0;
}

u64 fr_cut_governor_ns(const struct fr_snap *s)
{
	s64 ns;

	return fr_snap_fact_num(s, "cut_governor", &ns) && ns > 0 ? (u64)ns : 0;
}
