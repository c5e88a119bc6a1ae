/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pure/stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Where a stack's frames lie in the pool; id 0 is no stack's. */
struct entry {
	u64 id;
	size_t at, cnt;
};

/* An open hash, at most half full. */
struct fr_stacks {
	struct entry *entry;
	size_t cap, cnt; /* cap is a power of two */
	u64 *pool;
	size_t pool_cnt, pool_cap;
};

struct fr_stacks *fr_stacks_new(void)
{
	return calloc(1, sizeof(struct fr_stacks));
}

void fr_stacks_free(struct fr_stacks *s)
{
	if (!s)
		return;
	free(s->entry);
	free(s->pool);
	free(s);
}

static struct entry *slot(const struct fr_stacks *s, u64 id)
{
	size_t i = (id * 0x9e3779b97f4a7c15ULL) >> 20;

	for (;; i++) {
		struct entry *e = &s->entry[i & (s->cap - 1)];

		if (!e->id || e->id == id)
			return e;
	}
}

static int grow(struct fr_stacks *s)
{
	struct fr_stacks bigger = *s;
	size_t i;

	if (s->cnt * 2 < s->cap)
		return 0;
	bigger.cap = s->cap ? s->cap * 2 : 1024;
	bigger.entry = calloc(bigger.cap, sizeof(*bigger.entry));
	if (!bigger.entry)
		return -ENOMEM;
	for (i = 0; i < s->cap; i++) {
		if (s->entry[i].id)
			*slot(&bigger, s->entry[i].id) = s->entry[i];
	}
	free(s->entry);
	*s = bigger;
	return 0;
}

static int keep_frames(struct fr_stacks *s, const u64 *frame, size_t cnt)
{
	if (s->pool_cnt + cnt > s->pool_cap) {
		size_t cap = (s->pool_cnt + cnt) * 2;
		u64 *pool = realloc(s->pool, cap * sizeof(*pool));

		if (!pool)
			return -ENOMEM;
		s->pool = pool;
		s->pool_cap = cap;
	}
	memcpy(s->pool + s->pool_cnt, frame, cnt * sizeof(*frame));
	s->pool_cnt += cnt;
	return 0;
}

/* The id is a hash of the frames: the first copy is as good as any. */
static int add(struct fr_stacks *s, u64 id, const u64 *frame, size_t cnt)
{
	struct entry *e;

	if (!id || !cnt)
		return 0;
	if (grow(s))
		return -ENOMEM;
	e = slot(s, id);
	if (e->id)
		return 0;
	if (keep_frames(s, frame, cnt))
		return -ENOMEM;
	*e = (struct entry){.id = id, .at = s->pool_cnt - cnt, .cnt = cnt};
	s->cnt++;
	return 0;
}

int fr_stacks_add_batch(struct fr_stacks *s, const struct fr_batch *b)
{
	const struct fr_event *ev = fr_schema_find(b->schema, "stack");
	const struct fr_field *id, *frames;
	u32 i;
	int err = 0;

	if (!ev)
		return 0;
	id = fr_event_field(ev, "stack_id");
	frames = fr_event_field(ev, "frames");
	if (!id || id->kind != FR_KIND_FIELD || id->type != FR_TYPE_u64 || !frames || frames->type != FR_TYPE_u64s ||
	    frames->kind != FR_KIND_FIELD)
		return 0;
	for (i = 0; i < b->row_cnt && !err; i++) {
		struct fr_row r = fr_batch_row(b, i);
		size_t cnt;
		const u64 *frame;

		if (r.ev != ev)
			continue;
		frame = fr_row_nums(&r, frames, &cnt);
		err = add(s, fr_row_num(&r, id), frame, cnt);
	}
	return err;
}

const u64 *fr_stacks_find(const struct fr_stacks *s, u64 id, size_t *cnt)
{
	const struct entry *e;

	if (!id || !s->cap)
		return NULL;
	e = slot(s, id);
	if (!e->id)
		return NULL;
	*cnt = e->cnt;
	return s->pool + e->at;
}
