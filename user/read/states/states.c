/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read/states/states.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/counts.h"

enum { SWITCH, WAKING, WAKING_NEW };

static const struct fr_sub_want wants[] = {
	[SWITCH] = {"sched_switch", {FR_SUB_NUM("next_pid")}},
	[WAKING] = {"sched_waking", {FR_SUB_NUM("target_pid")}},
	[WAKING_NEW] = {"sched_wakeup_new", {FR_SUB_NUM("target_pid")}},
};

/* What events tell of a task; 0: nothing. */
struct seen {
	u64 at_ns; /* behind that they tell nothing of its state */
	u64 left_ns, ran_ns, woken_ns;
};

/* ---- one task ---- */

/* The first state behind a tid's. */
static size_t states_behind(const struct fr_snap_state *t, size_t cnt, u32 tid)
{
	size_t from = 0, to = cnt, mid;

	while (from < to) {
		mid = from + (to - from) / 2;
		if (t[mid].tid <= tid)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

const struct fr_snap_state *fr_states_of(const struct fr_snap *s, u32 tid)
{
	size_t cnt, i;
	const struct fr_snap_state *t = fr_snap_states(s, &cnt);

	i = states_behind(t, cnt, tid);
	return i && t[i - 1].tid == tid ? &t[i - 1] : NULL;
}

u64 fr_states_count(const struct fr_snap *s, const char *name)
{
	u64 v;

	return fr_counts_get(fr_snap_fact(s, "states"), name, strlen(name), &v) ? v : 0;
}

bool fr_states_are_all(const struct fr_snap *s)
{
	static const char *const left_out[] = {"many", "late", "gone"};
	size_t i;

	for (i = 0; i < sizeof(left_out) / sizeof(left_out[0]); i++)
		if (fr_states_count(s, left_out[i]))
			return false;
	return fr_states_count(s, "taken");
}

/* ---- what events tell ---- */

/* Of a task that is there several times, the last moment counts. */
static int states_ask(struct fr_states *st, const struct fr_snap_state *t)
{
	struct seen *s;

	if (t->since_ns || t->flags & FR_STATE_MOVED)
		return 0;
	s = fr_idmap_get(&st->asked, t->tid);
	if (s)
		s->at_ns = t->at_ns;
	return s ? 0 : -ENOMEM;
}

int fr_states_init(struct fr_states *st, const struct fr_replay *r, u32 file)
{
	size_t i;
	int err = 0;

	*st = (struct fr_states){.snap = fr_replay_snap(r, file), .file = file};
	st->at = fr_snap_states(st->snap, &st->cnt);
	fr_idmap_init(&st->asked, sizeof(struct seen));
	for (i = 0; i < sizeof(wants) / sizeof(wants[0]); i++)
		fr_subscribe(fr_replay_schema(r, file), &wants[i], &st->sub[i]);
	for (i = 0; i < st->cnt && !err; i++)
		err = states_ask(st, &st->at[i]);
	return err;
}

void fr_states_free(struct fr_states *st)
{
	fr_idmap_free(&st->asked);
}

void fr_states_want(const struct fr_states *st, struct fr_wants *w)
{
	size_t i;

	for (i = 0; i < sizeof(wants) / sizeof(wants[0]); i++)
		if (st->sub[i].ev)
			w->cols[st->sub[i].ev->nr] |= 1u << st->sub[i].col[0];
}

static struct seen *states_seen_of(const struct fr_states *st, u32 tid, u64 ts)
{
	struct seen *s = fr_idmap_find(&st->asked, tid);

	return s && ts <= s->at_ns ? s : NULL;
}

/* In any order: chunks of several CPUs are read one after the other. */
static void states_take_last(u64 *last_ns, u64 ns)
{
	if (ns > *last_ns)
		*last_ns = ns;
}

static void states_take_row(struct fr_states *st, const struct fr_row *r, u32 which)
{
	u32 other = fr_sub_num(&st->sub[which], r, 0);
	struct seen *s = states_seen_of(st, other, r->ts);

	if (s)
		states_take_last(which == SWITCH ? &s->ran_ns : &s->woken_ns, r->ts);
	s = which == SWITCH ? states_seen_of(st, r->tid, r->ts) : NULL;
	if (s)
		states_take_last(&s->left_ns, r->ts);
}

void fr_states_run(struct fr_states *st, const struct fr_replay_run *run)
{
	const struct fr_batch *b = run->b;
	struct fr_row r;
	u32 i, which;

	if (!st->asked.cnt || run->file != st->file)
		return;
	for (i = run->from; i < run->to; i++)
		for (which = 0; which < sizeof(wants) / sizeof(wants[0]); which++)
			if (st->sub[which].ev && b->ev[i] == st->sub[which].ev->nr) {
				r = fr_batch_row(b, i);
				states_take_row(st, &r, which);
			}
}

int fr_states_run_all(struct fr_states *st)
{
	struct fr_wants wants = {};
	struct fr_batch b = {.wants = &wants};
	struct fr_snap_decoder *decoder;
	struct fr_snap_decoded got = {};
	size_t cnt, i;

	if (!st->asked.cnt)
		return 0;
	if (fr_snap_decoder_new(&decoder))
		return -ENOMEM;
	fr_states_want(st, &wants);
	fr_snap_chunks(st->snap, &cnt);
	for (i = 0; i < cnt && got.err != -ENOMEM; i++) {
		got = fr_snap_decode_chunk(st->snap, decoder, i, &b);
		if (!got.err)
			fr_states_run(st, &(struct fr_replay_run){.b = &b, .to = b.row_cnt, .file = st->file});
	}
	fr_batch_free(&b);
	fr_snap_decoder_free(decoder);
	return got.err == -ENOMEM ? -ENOMEM : 0;
}

/* Since when by events: it runs since it got the CPU, it waits since it left, it is queued since it was woken or left. */
static u64 since_by_events(const struct fr_snap_state *t, const struct seen *s)
{
	if (t->at_ns != s->at_ns)
		return 0;
	if (t->flags & FR_STATE_RUNS)
		return s->ran_ns > s->left_ns ? s->ran_ns : 0;
	if (!s->left_ns || s->ran_ns > s->left_ns)
		return 0;
	return !t->state && s->woken_ns > s->left_ns ? s->woken_ns : s->left_ns;
}

u64 fr_states_since(const struct fr_states *st, const struct fr_snap_state *t)
{
	const struct seen *s = fr_idmap_find(&st->asked, t->tid);

	return t->since_ns || !s ? t->since_ns : since_by_events(t, s);
}

static void find_since(const struct fr_states *st, const struct fr_snap_state *t, struct fr_still *out)
{
	out->since_ns = fr_states_since(st, t);
	if (!out->since_ns)
		out->from = FR_SINCE_UNKNOWN;
	else
		out->from = t->since_ns && !(t->flags & FR_STATE_BY_SWITCHES) ? FR_SINCE_TABLE : FR_SINCE_SWITCHES;
}

/* ---- as a wait ---- */

void fr_states_read(const struct fr_states *st, const struct fr_view *v, const struct fr_snap_state *t, struct fr_still *out)
{
	struct fr_who who = fr_names_who(v->names, t->tid, t->at_ns, t->cpu), waker, owner;
	struct fr_waited *w = &out->wait;

	*out = (struct fr_still){.state = t};
	find_since(st, t, out);
	*w = (struct fr_waited){
		.ts = t->at_ns,
		.tid = t->tid,
		.pid = who.pid,
		.cpu = t->cpu,
		.off_ns = out->since_ns ? t->at_ns - out->since_ns : 0,
		.kstack_id = t->kstack_id,
		.waker_pid = t->waker_tid,
		.owner_pid = t->owner_tid,
		.id = t->id,
		.abi = t->abi,
		.state = t->state,
		.in = t->in,
		.waker = t->waker,
		.object = t->object,
		.object_len = strlen(t->object),
	};
	memcpy(w->arg, t->arg, sizeof(w->arg));
	fr_waited_name_of(&w->comm, &who);
	if (t->owner_tid) {
		owner = fr_names_who(v->names, t->owner_tid, t->at_ns, t->cpu);
		fr_waited_name_of(&w->owner_comm, &owner);
	}
	if (!t->waker_tid)
		return;
	waker = fr_names_who(v->names, t->waker_tid, t->woken_ns ?: t->at_ns, t->cpu);
	fr_waited_name_of(&w->waker_comm, &waker);
}
