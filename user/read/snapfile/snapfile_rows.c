/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read/snapfile/snapfile_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "read/snapfile/snapfile_int.h"

/* A chunk and what it is decoded with. */
struct both {
	struct fr_chunk chunk;
	struct fr_snap_place place;
};

int fr_snap_sort_context(struct fr_snap *s)
{
	size_t cnt = s->chunk_cnt, i, kept = 0;
	struct both *context = malloc((cnt + 1) * sizeof(*context));

	if (!context)
		return -ENOMEM;
	for (i = 0; i < cnt; i++) {
		if (s->chunk[i].context) {
			context[s->context_cnt++] = (struct both){s->chunk[i], s->place[i]};
		} else {
			s->chunk[kept] = s->chunk[i];
			s->place[kept++] = s->place[i];
		}
	}
	s->chunk_cnt = kept;
	for (i = 0; i < s->context_cnt; i++) {
		s->chunk[kept + i] = context[i].chunk;
		s->place[kept + i] = context[i].place;
	}
	free(context);
	return 0;
}

/* ---- the chunks of a ring ---- */

static int rows_by_ring(const struct fr_chunk *c, u32 epoch, u16 cpu, u8 tier)
{
	if (c->epoch != epoch)
		return c->epoch < epoch ? -1 : 1;
	if (c->cpu != cpu)
		return c->cpu < cpu ? -1 : 1;
	return (int)c->tier - (int)tier;
}

static int rows_by_place(const void *a, const void *b, void *arg)
{
	const struct fr_chunk *chunk = arg;
	size_t i = *(const size_t *)a, j = *(const size_t *)b;
	int order = rows_by_ring(&chunk[i], chunk[j].epoch, chunk[j].cpu, chunk[j].tier);

	if (order)
		return order;
	if (chunk[i].first_seq != chunk[j].first_seq)
		return chunk[i].first_seq < chunk[j].first_seq ? -1 : 1;
	return i < j ? -1 : i > j;
}

int fr_snap_sort_rings(struct fr_snap *s)
{
	size_t i;

	s->by_ring = malloc((s->chunk_cnt + 1) * sizeof(*s->by_ring));
	if (!s->by_ring)
		return -ENOMEM;
	for (i = 0; i < s->chunk_cnt; i++)
		s->by_ring[i] = i;
	qsort_r(s->by_ring, s->chunk_cnt, sizeof(*s->by_ring), rows_by_place, s->chunk);
	return 0;
}

/* The first place in by_ring whose ring is not before this one, or behind: whose ring is behind it. */
static size_t rows_find_ring(const struct fr_snap *s, u32 epoch, u16 cpu, u8 tier, bool behind)
{
	size_t from = 0, to = s->chunk_cnt;

	while (from < to) {
		size_t mid = from + (to - from) / 2;

		if (rows_by_ring(&s->chunk[s->by_ring[mid]], epoch, cpu, tier) < behind)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

const size_t *fr_snap_chunks_of(const struct fr_snap *s, u32 epoch, u16 cpu, u8 tier, size_t *cnt)
{
	size_t first = rows_find_ring(s, epoch, cpu, tier, false);

	*cnt = rows_find_ring(s, epoch, cpu, tier, true) - first;
	return s->by_ring + first;
}

/* ---- context chunks, rows ---- */

const struct fr_chunk *fr_snap_context(const struct fr_snap *s, size_t *first, size_t *cnt)
{
	*first = s->chunk_cnt;
	*cnt = s->context_cnt;
	return s->chunk ? s->chunk + s->chunk_cnt : NULL;
}
