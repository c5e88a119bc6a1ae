/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "io/snapfile/snapfile_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/snapfile/snapfile_int.h"

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

const struct fr_chunk *fr_snap_context(const struct fr_snap *s, size_t *first, size_t *cnt)
{
	*first = s->chunk_cnt;
	*cnt = s->context_cnt;
	return s->chunk ? s->chunk + s->chunk_cnt : NULL;
}
