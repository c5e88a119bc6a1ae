/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* info_over: waits beyond the budget, by task and call, with the names that the file's tasks had. */
#include <stdio.h>
#include <string.h>

#include "cmd/info.h"

/* The youngest task of this number that had begun by then. */
static void over_name(const struct fr_info *s, struct fr_waitsum *w)
{
	size_t cnt = flightrec_table_rows(s->fr, s->file, FLIGHTREC_TABLE_TASKS), row, best = cnt;
	u64 start_ns, best_ns = 0;
	const char *comm;

	for (row = 0; row < cnt; row++) {
		if (fr_info_num(s, FLIGHTREC_TABLE_TASKS, row, "tid") != w->tid)
			continue;
		start_ns = fr_info_num(s, FLIGHTREC_TABLE_TASKS, row, "start_ns");
		if (start_ns <= w->last_ns && (best == cnt || start_ns > best_ns)) {
			best = row;
			best_ns = start_ns;
		}
	}
	comm = best < cnt ? flightrec_table_text(s->fr, s->file, FLIGHTREC_TABLE_TASKS, best, "comm") : NULL;
	if (comm)
		snprintf(w->comm, sizeof(w->comm), "%s", comm);
}

bool fr_info_over(const struct fr_info *s, struct fr_waitsums *w)
{
	const char *text = fr_info_fact(s, "waits_over");
	u32 i;

	*w = (struct fr_waitsums){};
	if (!text)
		return false;
	if (fr_waitsums_read(w, text, fr_info_fact(s, "arch"))) {
		fr_waitsums_free(w);
		return false;
	}
	for (i = 0; i < w->cnt; i++)
		over_name(s, &w->at[i]);
	return true;
}
