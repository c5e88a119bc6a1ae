/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read/replay/check.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/set/vec.h"
#include "read/snapfile/snapfile_rows.h"

/* What the chunks of a ring have been found to hold so far. */
struct seen {
	u32 epoch;
	u16 cpu;
	u8 tier;
	u64 row_cnt, last_ts;
};

struct checker {
	struct fr_snap *snap;
	struct fr_check *check;
	struct fr_batch batch;
	struct seen *seen;
	size_t seen_cnt;
};

static int check_find(struct fr_check *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static int check_find(struct fr_check *c, const char *fmt, ...)
{
	char **finding = fr_vec_more(&c->finding, c->finding_cnt);
	va_list ap;
	int n;

	if (!finding)
		return -ENOMEM;
	va_start(ap, fmt);
	n = vasprintf(finding, fmt, ap);
	va_end(ap);
	if (n < 0)
		return -ENOMEM;
	c->finding_cnt++;
	return 0;
}

void fr_check_free(struct fr_check *c)
{
	size_t i;

	for (i = 0; i < c->finding_cnt; i++)
		free(c->finding[i]);
	free(c->finding);
}

static struct seen *check_seen_of(struct checker *k, const struct fr_chunk *c)
{
	struct seen *s;
	size_t i;

	for (i = 0; i < k->seen_cnt; i++) {
		s = &k->seen[i];
		if (s->epoch == c->epoch && s->cpu == c->cpu && s->tier == c->tier)
			return s;
	}
	s = fr_vec_more(&k->seen, k->seen_cnt);
	if (!s)
		return NULL;
	k->seen_cnt++;
	*s = (struct seen){.epoch = c->epoch, .cpu = c->cpu, .tier = c->tier};
	return s;
}

/* Is time ordered within the chunk, and do its rows agree with its header? */
static int check_rows(struct checker *k, const struct fr_chunk *c, u64 last_ts)
{
	const struct fr_batch *b = &k->batch;
	unsigned long long at = c->file_off;
	u32 i;

	if (b->row_cnt != c->row_cnt || b->cpu != c->cpu || b->tier != c->tier || b->epoch != c->epoch)
		return check_find(k->check, "chunk at byte %llu: its events do not match its header", at);
	for (i = 0; i < b->row_cnt; i++) {
		if (b->ts[i] < last_ts)
			return check_find(k->check, "chunk at byte %llu: time goes backwards at event %u of CPU %u", at, i,
					  c->cpu);
		last_ts = b->ts[i];
	}
	if (b->row_cnt && (b->ts[0] != c->first_ts || last_ts != c->last_ts))
		return check_find(k->check, "chunk at byte %llu: its times do not match its header", at);
	return 0;
}

/* Of the stack tier's events those that are stacks. */
static u32 count_stacks(const struct fr_batch *b)
{
	const struct fr_event *ev = fr_schema_find(b->schema, "stack");

	return ev ? b->type[ev->nr].cnt : 0;
}

static int check_chunk(struct checker *k, size_t i, const struct fr_chunk *c)
{
	struct seen *seen = check_seen_of(k, c);
	int err = fr_snap_read_chunk(k->snap, i, &k->batch);

	if (!seen)
		return -ENOMEM;
	if (err == -EBADMSG)
		return 0;
	err = err ? err : check_rows(k, c, seen->last_ts);
	seen->row_cnt += c->row_cnt;
	seen->last_ts = c->last_ts;
	if (c->tier == FR_TIER_STACK)
		k->check->stack_cnt += count_stacks(&k->batch);
	else
		k->check->event_cnt += k->batch.row_cnt;
	return err;
}

/* Rows kept only for names and stacks may have gaps: other rings, times and places may lie in between. */
static int check_context(struct checker *k, size_t i, const struct fr_chunk *c)
{
	int err = fr_snap_read_chunk(k->snap, i, &k->batch);

	if (err)
		return err == -EBADMSG ? 0 : err;
	return check_rows(k, c, 0);
}

/* A ring's own account of what it put into the file, unless that is lost. */
static int check_ring(struct checker *k, const struct fr_snap_ring *r)
{
	const char *tier = fr_tier_name(r->tier);
	u64 row_cnt = 0;
	size_t i;

	for (i = 0; i < k->seen_cnt; i++) {
		if (k->seen[i].cpu == r->cpu && k->seen[i].tier == r->tier)
			row_cnt += k->seen[i].row_cnt;
	}
	if (row_cnt == r->present || !r->slot_cnt)
		return 0;
	return check_find(k->check, "CPU %u, tier %s: the file holds %llu events where %llu were written", r->cpu,
			  tier ? tier : "?", row_cnt, r->present);
}

static int check_all(struct checker *k)
{
	size_t cnt, ring_cnt, first, context_cnt, i;
	const struct fr_chunk *c = fr_snap_chunks(k->snap, &cnt);
	const struct fr_snap_ring *r = fr_snap_rings(k->snap, &ring_cnt);
	int err = 0;

	fr_snap_context(k->snap, &first, &context_cnt);
	k->check->chunk_cnt = cnt + context_cnt;
	for (i = 0; i < cnt && !err; i++)
		err = check_chunk(k, i, &c[i]);
	for (i = first; i < first + context_cnt && !err; i++)
		err = check_context(k, i, &c[i]);
	for (i = 0; i < ring_cnt && !err; i++)
		err = check_ring(k, &r[i]);
	for (i = 0; i < fr_snap_damage(k->snap) && !err; i++)
		err = check_find(k->check, "%s", fr_snap_damage_text(k->snap, i));
	return err;
}

int fr_check_snap(struct fr_snap *s, struct fr_check *c)
{
	struct checker k = {.snap = s, .check = c};
	int err = check_all(&k);

	fr_batch_free(&k.batch);
	free(k.seen);
	return err;
}
