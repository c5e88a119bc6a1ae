/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A heap: its root is the stream whose next row comes first; the stream after that is the first of the root's two children.
 * Events that cause each other alternate between few streams, so a root that was advanced mostly sinks by one place.
 */
#include "base/rows/merge.h"

#include <errno.h>
#include <stdlib.h>

struct head {
	u64 key; /* time and shift of its next row */
	u32 stream;
};

struct fr_merge {
	u32 stream_cnt;
	u32 cnt; /* streams that have not ended: those in the heap */
	fr_stretch_fn next;
	void *arg;
	struct head *heap;
	struct fr_stretch *s; /* what is still to come of each stream */
	bool started;
};

static inline bool merge_is_before(const struct head *a, const struct head *b)
{
	return a->key < b->key || (a->key == b->key && a->stream < b->stream);
}

/* The child of a place that comes first; cnt or more: it has none. */
static inline u32 first_child(const struct fr_merge *m, u32 at)
{
	u32 left = 2 * at + 1;

	return left + (left + 1 < m->cnt && merge_is_before(&m->heap[left + 1], &m->heap[left]));
}

/* Put h where it belongs, at this place or below it. */
static void sink(struct fr_merge *m, u32 at, struct head h)
{
	u32 child;

	for (child = first_child(m, at); child < m->cnt && merge_is_before(&m->heap[child], &h); child = first_child(m, at)) {
		m->heap[at] = m->heap[child];
		at = child;
	}
	m->heap[at] = h;
}

/* Get the next stretch of a stream. Returns as fr_stretch_fn. */
static int refill(struct fr_merge *m, u32 stream)
{
	int got = m->next(m->arg, stream, &m->s[stream]);

	m->s[stream].stream = stream;
	return got;
}

static struct head merge_head_of(const struct fr_merge *m, u32 stream)
{
	const struct fr_stretch *s = &m->s[stream];

	return (struct head){.key = s->b->ts[s->from] + s->shift_ns, .stream = stream};
}

static int merge_begin(struct fr_merge *m)
{
	int got = 0;
	u32 i;

	m->started = true;
	for (i = 0; i < m->stream_cnt && got >= 0; i++) {
		got = refill(m, i);
		if (got > 0)
			m->heap[m->cnt++] = merge_head_of(m, i);
	}
	for (i = m->cnt / 2; i-- > 0;)
		sink(m, i, m->heap[i]);
	return got < 0 ? got : 0;
}

int fr_merge_new(u32 cnt, fr_stretch_fn next, void *arg, struct fr_merge **out)
{
	struct fr_merge *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	m->stream_cnt = cnt;
	m->next = next;
	m->arg = arg;
	m->heap = calloc(cnt + 1, sizeof(*m->heap));
	m->s = calloc(cnt + 1, sizeof(*m->s));
	if (!m->heap || !m->s) {
		fr_merge_free(m);
		return -ENOMEM;
	}
	*out = m;
	return 0;
}

void fr_merge_free(struct fr_merge *m)
{
	if (!m)
		return;
	free(m->heap);
	free(m->s);
	free(m);
}

/*
 * The first row after the first one that does not come before the other stream's. Alternating streams make short runs, so this
 * searches step by step.
 */
static u32 run_end(const struct fr_stretch *s, const struct head *other)
{
	const u64 *ts = s->b->ts;
	u64 shift = s->shift_ns, key = other->key;
	u32 i = s->from + 1, to = s->to;

	if (s->stream < other->stream) {
		while (i < to && ts[i] + shift <= key)
			i++;
	} else {
		while (i < to && ts[i] + shift < key)
			i++;
	}
	return i;
}

/* The root's last rows were returned: advance it. */
static int merge_advance(struct fr_merge *m)
{
	u32 stream = m->heap[0].stream;
	int got = m->s[stream].from < m->s[stream].to ? 1 : refill(m, stream);

	if (got > 0)
		sink(m, 0, merge_head_of(m, stream));
	else if (--m->cnt)
		sink(m, 0, m->heap[m->cnt]);
	return got < 0 ? got : 0;
}

int fr_merge_next(struct fr_merge *m, struct fr_stretch *run)
{
	struct fr_stretch *s;
	u32 second;
	int err = 0;

	if (!m->started)
		err = merge_begin(m);
	else if (m->cnt)
		err = merge_advance(m);
	if (err || !m->cnt)
		return err;
	s = &m->s[m->heap[0].stream];
	second = first_child(m, 0);
	*run = *s;
	if (second < m->cnt)
		run->to = run_end(s, &m->heap[second]);
	s->from = run->to;
	return 1;
}
