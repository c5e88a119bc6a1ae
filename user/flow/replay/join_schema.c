/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* join_schema: snapshots of one session may be taken by several versions of the program, with more events or other fields. */
#include <string.h>

#include "flow/replay/join_int.h"

static bool same_field(const struct fr_field *a, const struct fr_field *b)
{
	return a->kind == b->kind && a->type == b->type && a->rule == b->rule && a->from_idx == b->from_idx &&
	       a->col == b->col && a->off == b->off && a->bit == b->bit && a->bit_cnt == b->bit_cnt && a->code == b->code &&
	       !strcmp(a->name, b->name);
}

static bool same_event(const struct fr_event *a, const struct fr_event *b)
{
	u32 i;

	if (strcmp(a->name, b->name) || a->field_cnt != b->field_cnt || a->tier != b->tier || a->fixed_sz != b->fixed_sz)
		return false;
	for (i = 0; i < a->field_cnt; i++)
		if (!same_field(&a->fields[i], &b->fields[i]))
			return false;
	return true;
}

/* Does `all` have each event of s, with the same fields? */
static bool contains(const struct fr_schema *all, const struct fr_schema *s)
{
	u32 nr;

	for (nr = 0; nr < FR_EVENT_MAX; nr++) {
		const struct fr_event *ev = fr_schema_event(s, nr), *other = fr_schema_event(all, nr);

		if (ev && (!other || !same_event(ev, other)))
			return false;
	}
	return true;
}

/* How many files of the group can be read with the schema `all`. */
static u32 count_read_by(const struct fr_join_group *g, const struct fr_schema *all)
{
	u32 i, cnt = 0;

	for (i = 0; i < g->file_cnt; i++)
		cnt += contains(all, fr_snap_schema(g->file[i]->snap));
	return cnt;
}

void fr_join_schema(struct fr_join_group *g)
{
	u32 i, cnt, most = 0, kept = 0;

	for (i = g->file_cnt; i-- > 0;) { /* the latest first: it wins a tie */
		cnt = count_read_by(g, fr_snap_schema(g->file[i]->snap));
		if (cnt > most) {
			most = cnt;
			g->schema = fr_snap_schema(g->file[i]->snap);
		}
	}
	for (i = 0; i < g->file_cnt; i++)
		if (contains(g->schema, fr_snap_schema(g->file[i]->snap)))
			g->file[kept++] = g->file[i];
	g->file_cnt = kept;
}
