/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read/replay/wakers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/rows/view.h"
#include "sys/memory.h"
#include "task_state.h"

/* What woke this task from then to then. */
struct waking {
	u32 tid;
	u8 how; /* enum fr_waker */
	u64 from_ns, to_ns;
};

struct fr_wakers {
	struct waking *v; /* by tid, then time */
	size_t cnt, cap;
	bool full; /* no more are added, for lack of memory */
};

/* Numbers of event wait. */
enum { OFF, QUEUED, STATE, WAKER, NUMBER_CNT };

struct fields {
	const struct fr_event *ev;
	const struct fr_field *f[NUMBER_CNT];
};

static bool wakers_bind(struct fields *f, const struct fr_schema *s)
{
	static const char *const name[NUMBER_CNT] = {"off", "queued", "state", "waker"};
	u32 i;

	f->ev = fr_schema_find(s, "wait");
	for (i = 0; f->ev && i < NUMBER_CNT; i++) {
		f->f[i] = fr_event_field(f->ev, name[i]);
		if (!f->f[i] || !fr_is_stored_num(f->f[i]))
			return false;
	}
	return f->ev;
}

static int wakers_add(struct fr_wakers *w, struct waking v)
{
	size_t cap = w->cap ? w->cap * 2 : 256;
	struct waking *more;

	if (w->full)
		return 0;
	if (w->cnt == w->cap) {
		w->full = w->cnt && !fr_memory_has_row_room((cap - w->cap) * sizeof(v));
		if (w->full)
			return 0;
		more = realloc(w->v, cap * sizeof(v));
		if (!more)
			return -ENOMEM;
		w->v = more;
		w->cap = cap;
	}
	w->v[w->cnt++] = v;
	return 0;
}

static int wakers_take(struct fr_wakers *w, const struct fields *f, const struct fr_row *r)
{
	u64 off = fr_row_num(r, f->f[OFF]), queued = fr_row_num(r, f->f[QUEUED]), how = fr_row_num(r, f->f[WAKER]);

	if (how == FR_WAKER_unknown || how >= FR_WAKER_CNT || !(fr_row_num(r, f->f[STATE]) & FR_PREV_STATE_WAITS) ||
	    queued > off || off > r->ts)
		return 0;
	return wakers_add(w, (struct waking){.tid = r->tid, .how = how, .from_ns = r->ts - off, .to_ns = r->ts - queued});
}

static int read_chunks(struct fr_wakers *w, const struct fields *f, struct fr_snap *s)
{
	struct fr_wants wants = {0};
	struct fr_batch b = {.wants = &wants};
	size_t cnt, i;
	const struct fr_chunk *c = fr_snap_chunks(s, &cnt);
	int err = 0;
	u32 k;

	for (k = 0; k < NUMBER_CNT; k++)
		wants.cols[f->ev->nr] |= 1u << f->f[k]->col;
	for (i = 0; i < cnt && !err; i++) {
		if (c[i].tier != f->ev->tier || c[i].damaged)
			continue;
		err = fr_snap_read_chunk(s, i, &b);
		for (k = 0; !err && b.type[f->ev->nr].cnt && k < b.row_cnt; k++) {
			struct fr_row r = fr_batch_row(&b, k);

			err = b.ev[k] == f->ev->nr ? wakers_take(w, f, &r) : 0;
		}
		err = err == -EBADMSG ? 0 : err;
	}
	fr_batch_free(&b);
	return err;
}

static int wakers_by_task(const void *a, const void *b)
{
	const struct waking *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->to_ns < y->to_ns ? -1 : x->to_ns > y->to_ns;
}

/* In order, and each once: snapshots of one boot have waits in common. */
static void wakers_sort(struct fr_wakers *w)
{
	size_t i, kept = 0;

	if (w->cnt)
		qsort(w->v, w->cnt, sizeof(*w->v), wakers_by_task);
	for (i = 0; i < w->cnt; i++)
		if (!kept || wakers_by_task(&w->v[kept - 1], &w->v[i]))
			w->v[kept++] = w->v[i];
	w->cnt = kept;
}

/* A command may look twice, for pairs and for what it makes of them. */
static void wakers_say_full(void)
{
	static bool said;

	if (!said)
		fr_warn("not all wakings by timers, and by senders on loopback, could be told from others, for lack of memory: "
			"%s",
			fr_err_cure(-ENOMEM, NULL));
	said = true;
}

int fr_wakers_add(struct fr_wakers **wakers, struct fr_snap *s)
{
	struct fr_wakers *w = *wakers;
	struct fields f;
	int err;

	if (!fr_snap_records(s, "wait") || !wakers_bind(&f, fr_snap_schema(s)))
		return 0;
	w = w ? w : calloc(1, sizeof(*w));
	*wakers = w;
	if (!w)
		return -ENOMEM;
	err = read_chunks(w, &f, s);
	if (err)
		return err;
	wakers_sort(w);
	if (w->full)
		wakers_say_full();
	return 0;
}

void fr_wakers_free(struct fr_wakers *w)
{
	if (!w)
		return;
	free(w->v);
	free(w);
}

enum fr_waker fr_wakers_find(const void *wakers, u32 tid, u64 ts)
{
	const struct fr_wakers *w = wakers;
	const struct waking key = {.tid = tid, .to_ns = ts};
	size_t lo = 0, hi = w ? w->cnt : 0;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (wakers_by_task(&w->v[mid], &key) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!w || lo == w->cnt || w->v[lo].tid != tid || ts < w->v[lo].from_ns)
		return FR_WAKER_unknown;
	return w->v[lo].how;
}
