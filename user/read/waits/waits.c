/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read/waits/waits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/set/hash.h"
#include "read/replay/summary.h"
#include "sys/memory.h"

/* ---- objects ---- */

struct text {
	u64 key;
	char *text; /* len bytes; it stays where it is */
	u32 len;
};

static bool waits_has_room(struct fr_waits *w, const struct fr_tally *t, u64 beside)
{
	u64 more = fr_tally_growth_sz(t) + beside;

	w->full = w->full || (more && !fr_memory_has_row_room(more));
	return !w->full;
}

/* Have the wait point to a text that lives as long as w. NULL: no memory, or none to spare (w->full). */
static const char *waits_keep_object(struct fr_waits *w, const struct fr_waited *one)
{
	u64 key = fr_hash(FR_HASH_SEED, one->object, one->object_len);
	struct text *t;

	if (!one->object_len)
		return "";
	/* if two texts have the same key, the later one takes the next */
	for (; (t = fr_tally_find(&w->text, key)); key++)
		if (t->len == one->object_len && !memcmp(t->text, one->object, t->len))
			return t->text;
	t = waits_has_room(w, &w->text, one->object_len) ? fr_tally_get(&w->text, key) : NULL;
	if (!t)
		return NULL;
	t->text = malloc(one->object_len);
	if (!t->text)
		return NULL;
	t->len = one->object_len;
	return memcpy(t->text, one->object, t->len);
}

/* ---- sums ---- */

static void waits_count(struct fr_waits_time *t, const struct fr_waited *one)
{
	t->cnt++;
	t->off_ns += one->off_ns;
	t->blocked_ns += one->blocked_ns;
	t->queued_ns += one->queued_ns;
}

static bool is_same_name(const struct fr_waited_name *a, const struct fr_waited_name *b)
{
	return a->len == b->len && !memcmp(a->text, b->text, a->len);
}

/* What a call's registers tell is its object only where they tell: addresses of buffers do not. */
static bool waits_is_same(const struct fr_waits *w, const struct fr_waited *a, const struct fr_waited *b)
{
	char x[FR_WAITED_OBJECT_SZ], y[FR_WAITED_OBJECT_SZ];

	return a->in == b->in && a->id == b->id && a->abi == b->abi && a->waker == b->waker &&
	       fr_waited_was_runnable(a) == fr_waited_was_runnable(b) && is_same_name(&a->comm, &b->comm) &&
	       is_same_name(&a->waker_comm, &b->waker_comm) &&
	       !strcmp(fr_waited_about(a, w->arch, x), fr_waited_about(b, w->arch, y));
}

static u64 waits_key_of(const struct fr_waits *w, const struct fr_waited *one)
{
	u8 how[] = {one->in, one->abi, one->waker, fr_waited_was_runnable(one)};
	char about[FR_WAITED_OBJECT_SZ];
	u64 key = fr_hash(FR_HASH_SEED, how, sizeof(how));

	fr_waited_about(one, w->arch, about);
	key = fr_hash(key, &one->id, sizeof(one->id));
	key = fr_hash(key, one->comm.text, one->comm.len);
	key = fr_hash(key, "/", 1);
	key = fr_hash(key, one->waker_comm.text, one->waker_comm.len);
	return fr_hash(key, about, strlen(about));
}

/* NULL: no memory, or none to spare (w->full). */
static struct fr_waits_sum *waits_sum_of(struct fr_waits *w, struct fr_tally *t, const struct fr_waited *one)
{
	struct fr_waits_sum *s;
	u64 key = waits_key_of(w, one);

	for (;; key++) {
		s = fr_tally_find(t, key);
		if (s && waits_is_same(w, &s->longest, one))
			return s;
		if (!s)
			break;
	}
	s = waits_has_room(w, t, 0) ? fr_tally_get(t, key) : NULL;
	if (s)
		s->longest = *one;
	return s;
}

/* Without its object it would be in the sum of another one. */
static int add_sum(struct fr_waits *w, struct fr_waits_part *p, const struct fr_waited *one)
{
	struct fr_waits_sum *s = one->object ? waits_sum_of(w, &p->sums, one) : NULL;

	if (!s && !w->full)
		return -ENOMEM;
	if (!s) {
		p->left_out++;
		return 0;
	}
	waits_count(&s->time, one);
	if (one->off_ns > s->longest.off_ns)
		s->longest = *one;
	return 0;
}

/* The list of the longest is in order; of equal ones the earlier comes first. */
static void add_longest(struct fr_waits_part *p, const struct fr_waited *one)
{
	u32 at = p->longest_cnt;

	while (at && p->longest[at - 1].off_ns < one->off_ns)
		at--;
	if (at == FR_WAITS_LONGEST)
		return;
	p->longest_cnt += p->longest_cnt < FR_WAITS_LONGEST;
	memmove(&p->longest[at + 1], &p->longest[at], (p->longest_cnt - 1 - at) * sizeof(*one));
	p->longest[at] = *one;
}

static int waits_add(struct fr_waits *w, enum fr_waits_of of, const struct fr_waited *one)
{
	struct fr_waits_part *p = &w->part[of];

	waits_count(&p->time, one);
	add_longest(p, one);
	return add_sum(w, p, one);
}

/* ---- rows ---- */

static int waits_take(struct fr_waits *w, const struct fr_replay_run *run, const struct fr_row *r)
{
	struct fr_waited one;
	int err;

	fr_waited_read(&w->fields, run->view, r, &one);
	one.object = waits_keep_object(w, &one);
	if (!one.object)
		one.object_len = 0;
	err = one.object || w->full ? 0 : -ENOMEM;
	if (!err && one.tid == w->tid)
		err = waits_add(w, FR_WAITS_OF_TASK, &one);
	if (!err && w->pid >= 0 && one.pid == w->pid)
		err = waits_add(w, FR_WAITS_OF_PROCESS, &one);
	return err ?: waits_add(w, FR_WAITS_OF_ALL, &one);
}

int fr_waits_run(struct fr_waits *w, const struct fr_replay_run *run, u64 since_ns)
{
	const struct fr_batch *b = run->b;
	const struct fr_event *ev = w->fields.ev;
	struct fr_row r;
	u32 i;
	int err = 0;

	if (!ev || !b->type[ev->nr].cnt)
		return 0;
	for (i = run->from; i < run->to && !err; i++)
		if (b->ev[i] == ev->nr && b->ts[i] >= since_ns && fr_replay_match(run, i, &r))
			err = waits_take(w, run, &r);
	return err;
}

/* ---- waits without a record ---- */

static void waits_name_over(struct fr_waits *w, const struct fr_view *v)
{
	struct fr_waited_name name;
	struct fr_who who;
	u32 i;

	for (i = 0; v->names && i < w->over.cnt; i++) {
		who = fr_names_who(v->names, w->over.at[i].tid, w->over.at[i].last_ns, 0);
		fr_waited_name_of(&name, &who);
		memcpy(w->over.at[i].comm, name.text, name.len);
	}
}

/* What cannot be read is as if the file did not have it. */
static void waits_read_over(struct fr_waits *w, const struct fr_replay *r)
{
	const char *text = fr_snap_fact(fr_replay_snap(r, 0), "waits_over");

	w->has_over = text && !fr_waitsums_read(&w->over, text, w->arch);
	if (!w->has_over)
		fr_waitsums_free(&w->over);
	waits_name_over(w, fr_replay_view(r, 0));
}

/* ---- life ---- */

void fr_waits_init(struct fr_waits *w, const struct fr_replay *r, u32 tid, s32 pid)
{
	const struct fr_snap *s = fr_replay_snap(r, 0);
	u32 i;

	*w = (struct fr_waits){.tid = tid, .pid = pid, .min_ns = -1, .arch = fr_snap_fact(s, "arch")};
	w->recorded = fr_snap_fact_num(s, "wait_min_ns", &w->min_ns);
	waits_read_over(w, r);
	fr_waited_bind(&w->fields, fr_replay_schema(r, 0));
	w->text.rec_sz = sizeof(struct text);
	for (i = 0; i < FR_WAITS_OF_CNT; i++)
		w->part[i].sums.rec_sz = sizeof(struct fr_waits_sum);
}

void fr_waits_free(struct fr_waits *w)
{
	u32 i;

	for (i = 0; i < w->text.cnt; i++)
		free(((struct text *)fr_tally_at(&w->text, i))->text);
	fr_tally_free(&w->text);
	fr_waitsums_free(&w->over);
	for (i = 0; i < FR_WAITS_OF_CNT; i++)
		fr_tally_free(&w->part[i].sums);
}

static int waits_by_time(const void *a, const void *b)
{
	const struct fr_waits_sum *x = a, *y = b;

	if (x->time.off_ns != y->time.off_ns)
		return x->time.off_ns > y->time.off_ns ? -1 : 1;
	return x->longest.ts < y->longest.ts ? -1 : x->longest.ts > y->longest.ts;
}

void fr_waits_end(struct fr_waits *w)
{
	u32 i;

	w->recorded |= w->part[FR_WAITS_OF_ALL].time.cnt != 0;
	for (i = 0; i < FR_WAITS_OF_CNT; i++)
		fr_tally_sort(&w->part[i].sums, waits_by_time);
}
