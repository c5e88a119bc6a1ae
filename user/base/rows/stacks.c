/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/rows/stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/rows/subscribe.h"
#include "base/set/idmap.h"
#include "base/set/vec.h"
#include "event_fields.h"

_Static_assert(sizeof(struct fr_rec_stack) == sizeof(struct fr_rec_stack_build_ids), "numbers begin at the same place");

#define BUILD_ID_WORDS 3u
#define OFF_BITS       56u
#define OFF_MASK       ((1ULL << OFF_BITS) - 1)

/* Where numbers of a stack are in the pool. */
struct entry {
	size_t at, cnt;
	u32 frame_cnt; /* in a table of origins: words before the build-ids */
};

/* Numbers by stack id. */
struct table {
	struct fr_idmap entry;
	struct fr_vec pool; /* u64 */
};

struct fr_stacks {
	struct table frames, origins;
};

static void stacks_init(struct table *t)
{
	fr_idmap_init(&t->entry, sizeof(struct entry));
	t->pool.item_sz = sizeof(u64);
}

static void stacks_drop(struct table *t)
{
	fr_idmap_free(&t->entry);
	fr_vec_free(&t->pool);
}

struct fr_stacks *fr_stacks_new(void)
{
	struct fr_stacks *s = calloc(1, sizeof(*s));

	if (s) {
		stacks_init(&s->frames);
		stacks_init(&s->origins);
	}
	return s;
}

void fr_stacks_free(struct fr_stacks *s)
{
	if (!s)
		return;
	stacks_drop(&s->frames);
	stacks_drop(&s->origins);
	free(s);
}

/*
 * The id is a hash of the frames, so the first copy is as good as any; but of a process that died, more may have been found
 * than the hash is of. Returns 0 or -ENOMEM.
 */
static int stacks_add(struct table *t, u64 id, const u64 *frame, size_t cnt, u32 frame_cnt)
{
	struct entry *e = fr_idmap_find(&t->entry, id);

	if (!id || !cnt || (e && (frame_cnt ? frame_cnt <= e->frame_cnt : cnt <= e->cnt)))
		return 0;
	e = fr_vec_add(&t->pool, frame, cnt) ? NULL : fr_idmap_get(&t->entry, id);
	if (!e)
		return -ENOMEM;
	*e = (struct entry){.at = t->pool.cnt - cnt, .cnt = cnt, .frame_cnt = frame_cnt};
	return 0;
}

/* The events that hold numbers of a stack. */
enum { CARRIER_ID, CARRIER_NUMS, CARRIER_FRAME_CNT };
static const struct fr_sub_want stacks_frames = {"stack", {FR_SUB_NUM("stack_id"), FR_SUB_NUMS("frames")}};
static const struct fr_sub_want stacks_origins = {
	"stack_build_ids",
	{FR_SUB_NUM("stack_id"), FR_SUB_NUMS("words"), FR_SUB_NUM("frame_cnt")},
};

static int stacks_add_row(struct table *t, const struct fr_sub *sub, const struct fr_row *r)
{
	size_t cnt;
	const u64 *nums = fr_row_nums(r, sub->field[CARRIER_NUMS], &cnt);
	u64 frames = sub->cnt > CARRIER_FRAME_CNT ? fr_sub_num(sub, r, CARRIER_FRAME_CNT) : 0;

	return frames > cnt ? 0 : stacks_add(t, fr_sub_num(sub, r, CARRIER_ID), nums, cnt, frames);
}

int fr_stacks_add_batch(struct fr_stacks *s, const struct fr_batch *b)
{
	struct fr_sub stack, origin;
	u32 i;
	int err = 0;

	fr_subscribe(b->schema, &stacks_frames, &stack);
	fr_subscribe(b->schema, &stacks_origins, &origin);
	for (i = 0; i < b->row_cnt && !err; i++) {
		struct fr_row r = fr_batch_row(b, i);

		if (r.ev == stack.ev)
			err = stacks_add_row(&s->frames, &stack, &r);
		else if (r.ev == origin.ev)
			err = stacks_add_row(&s->origins, &origin, &r);
	}
	return err;
}

int fr_stacks_add_record(struct fr_stacks *s, const struct fr_rec *rec, size_t sz)
{
	const struct fr_rec_stack *stack = (const void *)rec;
	const struct fr_rec_stack_build_ids *origin = (const void *)rec;
	size_t nums;

	if (sz < sizeof(*stack) || sz < sizeof(*origin))
		return 0;
	nums = (sz - sizeof(*stack)) / sizeof(u64);
	if (fr_head_event(rec->head) == FR_EV_stack)
		return stacks_add(&s->frames, stack->stack_id, stack->frames, nums, 0);
	if (fr_head_event(rec->head) == FR_EV_stack_build_ids && rec->task >> 24 <= nums)
		return stacks_add(&s->origins, origin->stack_id, origin->words, nums, rec->task >> 24);
	return 0;
}

const u64 *fr_stacks_find(const struct fr_stacks *s, u64 id, size_t *cnt)
{
	const struct entry *e = fr_idmap_find(&s->frames.entry, id);

	if (!e)
		return NULL;
	*cnt = e->cnt;
	return (const u64 *)s->frames.pool.at + e->at;
}

/* The kernel pads shorter ones with zeros: linkers make 8 and 16 bytes besides 20. */
static u8 build_id_size(const u8 *id)
{
	static const u8 zero[20];

	if (!memcmp(id + 8, zero, 12))
		return memcmp(id, zero, 8) ? 8 : 0;
	return memcmp(id + 16, zero, 4) ? 20 : 16;
}

bool fr_stacks_origin(const struct fr_stacks *s, u64 id, u32 nr, struct fr_origin *out)
{
	const struct entry *e = fr_idmap_find(&s->origins.entry, id);
	const u64 *pool = s->origins.pool.at;
	u64 word = e && nr < e->frame_cnt ? pool[e->at + nr] : 0;
	size_t at = word >> OFF_BITS; /* of the build-id's words after the frames'; 0: none */

	if (!at)
		return false;
	at = e->frame_cnt + (at - 1) * BUILD_ID_WORDS;
	if (at + BUILD_ID_WORDS > e->cnt)
		return false;
	memcpy(out->build_id, pool + e->at + at, sizeof(out->build_id));
	out->build_id_sz = build_id_size(out->build_id);
	out->file_off = word & OFF_MASK;
	return out->build_id_sz != 0;
}

size_t fr_stacks_origin_cnt(const struct fr_stacks *s)
{
	return s->origins.entry.cnt;
}
