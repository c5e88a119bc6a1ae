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

/* The header of the chunk at off, which was found valid when the file was opened. */
static int read_head(struct fr_snap *s, u64 off, struct fr_chunk_head *h)
{
	int err = fr_snap_bytes(s, off, h, sizeof(*h));

	if (!err && (h->part.magic != FR_CHUNK_MAGIC || h->part.sz > FR_HEAD_MAX_SZ))
		err = -EBADMSG;
	return err == -ENODATA ? -EBADMSG : err;
}

int fr_snap_copy_kind(struct fr_snap *s, u16 kind, struct fr_snap_writer *w)
{
	struct fr_chunk_head h;
	size_t i;
	int err = 0;

	for (i = 0; i < s->off_cnt && !err; i++) {
		struct fr_snap_place p;

		err = read_head(s, s->off[i], &h);
		if (!err && h.kind == kind) {
			p = (struct fr_snap_place){s->off[i] + h.part.sz + 8, h.stored_hash, h.decoded_sz};
			err = fr_snap_content(s, &s->own, &p, h.stored_sz);
			err = err ? err : fr_snap_put_content(w, kind, s->own.content, h.decoded_sz);
		}
		if (err == -EBADMSG)
			err = 0;
	}
	return err;
}
