/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read/request/request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/schema/tpname.h"
#include "base/set/hash.h"
#include "base/set/idmap.h"
#include "read/replay/missing.h"
#include "read/states/states.h"
#include "sys/memory.h"
#include "task_state.h"

enum event { SWITCH, WAKING, WAKING_NEW, FORK, EXEC, EXIT, EVENT_CNT };

static const struct fr_sub_want wants[EVENT_CNT] = {
	[SWITCH] = {"sched_switch", {FR_SUB_NUM("next_pid"), FR_SUB_NUM("prev_state")}},
	[WAKING] = {"sched_waking", {FR_SUB_NUM("target_pid")}},
	[WAKING_NEW] = {"sched_wakeup_new", {FR_SUB_NUM("target_pid")}},
	[FORK] = {"sched_process_fork", {FR_SUB_NUM("child_pid")}},
	[EXEC] = {"sched_process_exec", {FR_SUB_NUM("old_pid")}},
	[EXIT] = {"sched_process_exit", {}},
};

enum mark_kind { NO_MARK, MARK_TEXT, MARK_BEGIN, MARK_END };

struct request_mark {
	u8 kind;		     /* enum mark_kind */
	const struct fr_field *id;   /* of a begin or end */
	const struct fr_field *text; /* its name, or text */
};

/* What a file's events are. */
struct bound {
	struct fr_sub sub[EVENT_CNT];
	struct fr_waited_fields wait;
	struct request_mark mark[FR_EVENT_MAX];
	u64 last_ns; /* its last row, on the first file's clock */
};

/* Where a thread waits, as far as two waits can be compared. */
struct place {
	bool known;
	u8 in, abi;
	s32 id;
	u8 at;	    /* enum fr_waited_at */
	u64 what;   /* the call's first argument, or the kernel's stack */
	u64 object; /* a hash; 0: it has none */
};

enum likeness { PLACES_UNLIKE, PLACES_ALIKE, PLACES_NOT_COMPARED };

struct thread {
	u32 leg;      /* its number + 1; 0: it is not in the request */
	u32 open_cnt; /* what it has begun of the request, and what is not ended */
	/* marked with another id */
	bool has_other;
	u64 other;
	u32 other_cnt;
	/* woken by a leg, and it has not run since; woken_leg is its number + 1 */
	u64 woken_ns;
	u32 woken_leg;
	u64 roused_ns; /* of a leg that waits: when anything woke it, which wait.wait tells */
	u64 on_ns;     /* of a leg: since when it has had the CPU; 0: it has none */
	u64 left_ns;   /* of a leg: since when it has been off it; 0: it is not */
	u64 seen_ns;   /* its last event */
	u16 state;
	bool arrives; /* if a record of its wait comes now, that is where the request found it */
	/* a wait has ended, and it is not known yet whose it was */
	bool asks, by_request, by_task;
	u64 run_ns; /* when */
	u64 by_ns;  /* by_request: when and by which leg */
	u32 by_leg;
	struct fr_request_step wait;
	struct place place; /* where the request found it */
};

/* Begun, and not ended. */
struct open_span {
	char *name; /* NULL: not known */
	u64 key;    /* the thread */
	u32 leg;
};

struct fr_request_run {
	struct bound *file;
	struct fr_idmap threads; /* by boot << 32 | tid */
	struct fr_idmap others;	 /* id -> the thread that began it last: u64 */
	struct fr_vec open;	 /* struct open_span */
	struct fr_missing *missing;
	struct fr_states states; /* of the first file */
	bool has_states;
	u32 seq;
};

/* A row, and what belongs to it. */
struct request_row {
	const struct fr_replay_run *run;
	const struct fr_row *row;
	const struct bound *b;
	u64 ts; /* on the first file's clock */
	u64 key;
};

/* ---- words ---- */

const char *fr_request_how_word(u8 how)
{
#define X(name) #name,
	static const char *const words[] = {FR_REQUEST_HOWS(X)};
#undef X

	return words[how];
}

const char *fr_request_end_word(u8 end)
{
#define X(name, words) #name,
	static const char *const names[] = {FR_REQUEST_ENDS(X)};
#undef X

	return end == FR_REQUEST_END_open ? NULL : names[end];
}

const char *fr_request_end_words(u8 end)
{
#define X(name, words) words,
	static const char *const words[] = {FR_REQUEST_ENDS(X)};
#undef X

	return words[end];
}

const char *fr_request_did_word(u8 did)
{
#define X(name) #name,
	static const char *const words[] = {FR_REQUEST_DOES(X)};
#undef X

	return words[did];
}

/* ---- legs and steps ---- */

static struct fr_request_leg *request_leg(struct fr_request *q, u32 nr)
{
	return (struct fr_request_leg *)q->legs.at + nr - 1;
}

static void request_free_step(struct fr_request_step *s)
{
	free(s->text);
	free((char *)s->wait.object);
}

/* s's texts are the path's from here on. 0 or -ENOMEM. */
static int request_add_step(struct fr_request *q, struct fr_request_step *s)
{
	int err = 0;

	s->seq = q->run->seq++;
	if (!fr_memory_has_row_room(sizeof(*s) + s->wait.object_len)) {
		q->left_out++;
		request_free_step(s);
	} else {
		err = fr_vec_add(&q->steps, s, 1);
		if (err)
			request_free_step(s);
	}
	return err;
}

static int request_step(struct fr_request *q, u64 ts, u32 leg, enum fr_request_did did, char *text)
{
	struct fr_request_step s = {.ts = ts, .leg = leg - 1, .did = did, .ended = true, .text = text};

	return request_add_step(q, &s);
}

/* The thread is in the request from ts on. 0 or -ENOMEM. */
static int request_enter(struct fr_request *q, const struct request_row *r, struct thread *t, u32 tid, u64 ts,
			 enum fr_request_how how, u32 from)
{
	u64 own_ns = ts - r->ts + r->row->ts;
	struct fr_who who = fr_names_who(r->run->view->names, tid, own_ns, r->row->cpu);
	struct fr_request_leg l = {
		.tid = tid, .file = r->run->file, .pid = who.pid, .how = how, .from = from, .begin_ns = ts, .end_ns = ts};

	fr_waited_name_of(&l.comm, &who);
	if (fr_vec_add(&q->legs, &l, 1))
		return -ENOMEM;
	t->leg = q->legs.cnt;
	t->left_ns = 0;
	t->place.known = false;
	if (how == FR_REQUEST_woken || how == FR_REQUEST_forked)
		return request_step(q, ts, t->leg, how == FR_REQUEST_woken ? FR_REQUEST_DID_woken : FR_REQUEST_DID_forked,
				    NULL);
	return 0;
}

/* It is no longer, since ts. */
static int request_leave(struct fr_request *q, struct thread *t, u64 ts, enum fr_request_end why)
{
	u32 nr = t->leg;
	struct fr_request_leg *l = request_leg(q, nr);

	if (t->on_ns && t->on_ns < ts)
		l->oncpu_ns += ts - t->on_ns;
	t->on_ns = 0;
	t->asks = false; /* a wait is of the leg that it began in */
	if (why == FR_REQUEST_END_end)
		t->woken_ns = 0; /* that was while it was in it by its own word */
	l->end_ns = ts;
	l->end = why;
	t->leg = 0;
	t->left_ns = 0;
	if (why == FR_REQUEST_END_open || why == FR_REQUEST_END_end || why == FR_REQUEST_END_mark)
		return 0;
	return request_step(q, ts, nr, FR_REQUEST_DID_leaves, NULL);
}

/* ---- waits ---- */

static struct place request_place(const struct fr_waited *w, const struct fr_view *v)
{
	struct place p = {.known = w->in != FR_WAITED_user, .in = w->in, .abi = w->abi, .id = w->id};

	p.at = fr_waited_at(w, v->arch);
	p.what = w->in == FR_WAITED_call ? w->arg[0] : w->kstack_id;
	p.object = w->object_len ? fr_hash(FR_HASH_SEED, w->object, w->object_len) ?: 1 : 0;
	return p;
}

static enum likeness request_compare(const struct place *a, const struct place *b)
{
	if (!a->known || !b->known)
		return PLACES_NOT_COMPARED;
	if (a->in != b->in || a->abi != b->abi || a->id != b->id)
		return PLACES_UNLIKE;
	if (a->at == FR_WAITED_AT_NEAR)
		return a->what - b->what + FR_FUTEX_NEAR <= 2ull * FR_FUTEX_NEAR ? PLACES_ALIKE : PLACES_UNLIKE;
	if (a->at == FR_WAITED_AT_EXACT)
		return a->what == b->what ? PLACES_ALIKE : PLACES_UNLIKE;
	if (!a->object != !b->object)
		return PLACES_NOT_COMPARED; /* for one descriptor, and for several */
	return a->object == b->object ? PLACES_ALIKE : PLACES_UNLIKE;
}

/* Is the wait the request's? *why: why not. */
static bool request_owns(const struct fr_request_leg *l, const struct thread *t, const struct place *now,
			 enum fr_request_end *why)
{
	enum likeness likeness = request_compare(&t->place, now);

	*why = FR_REQUEST_END_untold;
	if (!fr_request_is_followed(l))
		return true;
	if (likeness == PLACES_ALIKE) {
		*why = FR_REQUEST_END_wait;
		return false;
	}
	return t->by_request || t->wait.wait.state == FR_PREV_STATE_BLOCKED || likeness == PLACES_UNLIKE ||
	       (l->how == FR_REQUEST_forked && !t->by_task);
}

static int request_add_wait(struct fr_request *q, struct thread *t, struct fr_request_step *s)
{
	struct fr_request_leg *l = request_leg(q, t->leg);

	s->leg = t->leg - 1;
	l->wait_cnt++;
	l->wait_ns += s->wait.off_ns - s->wait.queued_ns;
	l->queued_ns += s->wait.queued_ns;
	return request_add_step(q, s);
}

/* The step's wait is this one, and so is a copy of its object. 0 or -ENOMEM. */
static int request_own_wait(struct fr_request_step *s, const struct fr_waited *w)
{
	s->wait = *w;
	s->wait.object = w->object_len ? strndup(w->object, w->object_len) : NULL;
	s->wait.object_len = s->wait.object ? w->object_len : 0;
	return w->object_len && !s->wait.object ? -ENOMEM : 0;
}

/* A wait has ended: with the record of it, or without. */
static int request_settle(struct fr_request *q, const struct request_row *r, struct thread *t, const struct fr_waited *record)
{
	struct place now = record ? request_place(record, r->run->view) : (struct place){0};
	u32 tid = request_leg(q, t->leg)->tid;
	enum fr_request_end why;
	int err;

	t->asks = false;
	t->wait.told = record;
	if (record && request_own_wait(&t->wait, record))
		return -ENOMEM;
	if (request_owns(request_leg(q, t->leg), t, &now, &why)) {
		t->left_ns = 0;
		return request_add_wait(q, t, &t->wait);
	}
	request_free_step(&t->wait);
	err = request_leave(q, t, t->left_ns, why);
	if (!err && t->by_request) {
		err = request_enter(q, r, t, tid, t->by_ns, FR_REQUEST_woken, t->by_leg);
		t->place = now;
		t->on_ns = t->run_ns;
		request_leg(q, q->legs.cnt)->ran = true;
		request_leg(q, q->legs.cnt)->queued_ns = t->run_ns - t->by_ns;
	}
	return err;
}

/* Who woke a thread, as the span machine says. */
static void request_put_waker(struct fr_waited *w, const struct request_row *r, const struct fr_span_waker *by)
{
	struct fr_who who;

	w->waker = FR_WAKER_unknown;
	w->waker_pid = 0;
	w->waker_comm.len = 0;
	if (!by->ns)
		return;
	w->waker = by->by == FR_SPAN_BY_TASK	  ? FR_WAKER_task
		   : by->by == FR_SPAN_BY_IRQ	  ? FR_WAKER_irq
		   : by->by == FR_SPAN_BY_SOFTIRQ ? FR_WAKER_softirq
						  : (u8)by->nr;
	if (by->by != FR_SPAN_BY_TASK)
		return;
	w->waker_pid = by->tid;
	who = fr_names_who(r->run->view->names, by->tid, by->ns, r->row->cpu);
	fr_waited_name_of(&w->waker_comm, &who);
}

/* The span machine's words for it, where no record has better ones. */
static void request_tell_wait(struct thread *t, const struct request_row *r, u32 tid)
{
	const struct fr_span_off *off = &fr_view_span(r->run->view, r->row)->off;
	const struct fr_pair *p = fr_view_pair(r->run->view, r->row);
	struct fr_waited *w = &t->wait.wait;

	t->wait = (struct fr_request_step){.ts = t->left_ns, .did = FR_REQUEST_DID_wait, .ended = true, .back = true};
	*w = (struct fr_waited){.ts = r->row->ts,
				.tid = tid,
				.pid = -1,
				.off_ns = r->ts - t->left_ns,
				.queued_ns = p->queued_ns < r->ts - t->left_ns ? p->queued_ns : r->ts - t->left_ns,
				.blocked_ns = p->blocked_ns,
				.id = off->why.in == FR_SPAN_IN_CALL ? off->why.call : -1,
				.abi = off->why.abi,
				.state = off->why.state,
				.cpu = r->row->cpu,
				.in = off->why.in == FR_SPAN_IN_CALL ? FR_WAITED_call : FR_STATE_IN_NONE};
	request_put_waker(w, r, &off->waker);
}

/* Its leg ends at ts, and it may be waiting: in this, if that is known. */
static int request_cut_wait(struct fr_request *q, struct thread *t, u64 ts, const struct fr_waited *in)
{
	struct fr_request_leg *l = request_leg(q, t->leg);
	bool is_roused = t->roused_ns > t->left_ns;
	struct fr_request_step s = {.ts = t->left_ns, .did = FR_REQUEST_DID_wait, .told = in, .ended = is_roused};
	struct fr_waited w = {.id = -1, .in = FR_STATE_IN_NONE};

	if (!t->left_ns)
		return 0;
	if (!(t->state & FR_PREV_STATE_WAITS)) {
		l->queued_ns += ts - t->left_ns;
		return 0;
	}
	if (request_own_wait(&s, in ?: &w))
		return -ENOMEM;
	s.wait.tid = l->tid;
	s.wait.pid = l->pid;
	s.wait.ts = ts;
	s.wait.off_ns = ts - t->left_ns;
	s.wait.queued_ns = is_roused ? ts - t->roused_ns : 0;
	s.wait.blocked_ns = is_roused ? t->roused_ns - t->left_ns : 0;
	s.wait.state = t->state;
	s.wait.waker = is_roused ? t->wait.wait.waker : FR_WAKER_unknown;
	s.wait.waker_pid = is_roused ? t->wait.wait.waker_pid : 0;
	s.wait.waker_comm = is_roused ? t->wait.wait.waker_comm : (struct fr_waited_name){0};
	return request_add_wait(q, t, &s);
}

/* ---- switches ---- */

static int request_leaves_cpu(struct fr_request *q, const struct request_row *r, struct thread *t)
{
	const struct fr_span_why *why = &fr_view_span(r->run->view, r->row)->left;
	struct fr_request_leg *l = t->leg ? request_leg(q, t->leg) : NULL;

	if (l && fr_request_is_followed(l) && !fr_view_pair(r->run->view, r->row)->oncpu_ns) /* it may have left it meanwhile */
		return request_leave(q, t, t->seen_ns, FR_REQUEST_END_missing);
	if (l)
		l->oncpu_ns += t->on_ns ? r->ts - t->on_ns : 0;
	t->on_ns = 0;
	if (!l)
		return 0;
	if (why->state & FR_PREV_STATE_ENDED)
		return request_leave(q, t, r->ts, FR_REQUEST_END_exit);
	t->left_ns = r->ts;
	t->state = why->state;
	return 0;
}

/* It had left in the request. */
static int request_comes_back(struct fr_request *q, const struct request_row *r, struct thread *t, u32 tid)
{
	const struct fr_span_off *off = &fr_view_span(r->run->view, r->row)->off;
	struct fr_request_leg *l = request_leg(q, t->leg);

	if (!off->is_known) {
		u64 left_ns = t->left_ns;

		t->left_ns = 0;
		return fr_request_is_followed(l) ? request_leave(q, t, left_ns, FR_REQUEST_END_missing) : 0;
	}
	if (fr_span_is_runnable(&off->why)) {
		l->queued_ns += r->ts - t->left_ns;
		t->left_ns = 0;
		return 0;
	}
	t->by_request = t->woken_ns && off->waker.ns == t->woken_ns - r->ts + r->row->ts;
	t->by_ns = t->woken_ns;
	t->by_leg = t->woken_leg;
	t->by_task = off->waker.ns && off->waker.by == FR_SPAN_BY_TASK;
	t->asks = true;
	request_tell_wait(t, r, tid);
	return 0;
}

static int request_gets_cpu(struct fr_request *q, const struct request_row *r, struct thread *t, u32 tid)
{
	const struct fr_span_off *off = &fr_view_span(r->run->view, r->row)->off;
	u64 woken_ns = t->woken_ns;
	int err = 0;

	t->run_ns = r->ts;
	if (t->leg && t->left_ns) {
		err = request_comes_back(q, r, t, tid);
	} else if (!t->leg && woken_ns && off->waker.ns == woken_ns - r->ts + r->row->ts) {
		err = request_enter(q, r, t, tid, woken_ns, FR_REQUEST_woken, t->woken_leg);
		t->arrives = true;
	}
	if (!err && t->leg && !request_leg(q, t->leg)->ran) {
		struct fr_request_leg *l = request_leg(q, t->leg);

		l->ran = true;
		if (l->how != FR_REQUEST_marked)
			l->queued_ns += r->ts - l->begin_ns;
	}
	t->on_ns = t->leg ? r->ts : 0;
	t->woken_ns = 0;
	t->seen_ns = r->ts;
	return err;
}

static struct thread *request_find(struct fr_request *q, const struct request_row *r, u32 tid)
{
	return tid ? fr_idmap_find(&q->run->threads, (r->key & ~0xffffffffULL) | tid) : NULL;
}

static struct thread *request_have(struct fr_request *q, const struct request_row *r, u32 tid)
{
	return fr_idmap_get(&q->run->threads, (r->key & ~0xffffffffULL) | tid);
}

static int request_switch(struct fr_request *q, const struct request_row *r)
{
	u32 next = fr_sub_num(&r->b->sub[SWITCH], r->row, 0);
	struct thread *t = request_find(q, r, r->row->tid);
	int err = t ? request_leaves_cpu(q, r, t) : 0;

	if (t)
		t->seen_ns = r->ts;
	t = request_find(q, r, next);
	return err ?: t ? request_gets_cpu(q, r, t, next) : 0;
}

/* ---- who hands it on ---- */

static int request_waking(struct fr_request *q, const struct request_row *r, enum event which)
{
	const struct fr_span_row *s = fr_view_span(r->run->view, r->row);
	u32 target = fr_sub_num(&r->b->sub[which], r->row, 0);
	struct thread *by = request_find(q, r, r->row->tid), *t;
	u32 leg = by ? by->leg : 0;

	t = s->woke ? request_find(q, r, target) : NULL;
	if (t && t->leg && t->left_ns && !t->asks) {
		t->roused_ns = r->ts;
		request_put_waker(&t->wait.wait, r, &s->waker);
	}
	if (!leg || !s->woke || s->waker.by != FR_SPAN_BY_TASK || s->waker_is_lost || !target || target == r->row->tid)
		return 0;
	t = request_have(q, r, target); /* by may be elsewhere now */
	if (!t)
		return -ENOMEM;
	if (t->has_other)
		return 0;
	t->woken_ns = r->ts;
	t->woken_leg = leg;
	return 0;
}

/* A tid's new task has nothing from the old one. */
static int request_fork(struct fr_request *q, const struct request_row *r)
{
	u32 child = fr_sub_num(&r->b->sub[FORK], r->row, 0);
	struct thread *t = request_find(q, r, r->row->tid);
	u32 leg = t ? t->leg : 0;

	t = request_find(q, r, child);
	if (t && t->leg && request_leave(q, t, t->seen_ns ?: r->ts, FR_REQUEST_END_missing))
		return -ENOMEM;
	fr_idmap_drop(&q->run->threads, (r->key & ~0xffffffffULL) | child);
	if (!leg || !child)
		return 0;
	t = request_have(q, r, child);
	if (!t)
		return -ENOMEM;
	t->seen_ns = r->ts;
	return request_enter(q, r, t, child, r->ts, FR_REQUEST_forked, leg);
}

/* A thread other than the first that executes a program gets the first one's tid. */
static int request_exec(struct fr_request *q, const struct request_row *r)
{
	u32 old = fr_sub_num(&r->b->sub[EXEC], r->row, 0), i;
	struct thread *t = old == r->row->tid ? NULL : request_find(q, r, old), moved;
	struct open_span *o = q->run->open.at;
	u64 old_key = (r->key & ~0xffffffffULL) | old;

	if (!t)
		return 0;
	moved = *t;
	fr_idmap_drop(&q->run->threads, old_key);
	t = request_have(q, r, r->row->tid);
	if (!t)
		return -ENOMEM;
	*t = moved;
	for (i = 0; i < q->run->open.cnt; i++)
		o[i].key = o[i].key == old_key ? r->key : o[i].key;
	return 0;
}

static int request_exit(struct fr_request *q, const struct request_row *r)
{
	struct thread *t = request_find(q, r, r->row->tid);
	int err = t && t->leg ? request_leave(q, t, r->ts, FR_REQUEST_END_exit) : 0;

	fr_idmap_drop(&q->run->threads, r->key);
	return err;
}

/* ---- marks ---- */

static char *request_text(const struct request_row *r, const struct request_mark *m)
{
	struct fr_val v = fr_view_field(r->run->view, r->row, m->text);

	return v.kind == FR_VAL_TEXT ? strndup(v.text, v.len) : NULL;
}

/* A thread that is followed, or in no request, is in it by its own word now. */
static int request_begin(struct fr_request *q, const struct request_row *r, struct thread *t, char *name)
{
	struct open_span o = {.key = r->key};
	u32 from = t->leg;
	int err = 0;

	q->begin_cnt++;
	t->has_other = false;
	if (t->leg && fr_request_is_followed(request_leg(q, t->leg)))
		err = request_leave(q, t, r->ts, FR_REQUEST_END_mark);
	if (!err && !t->leg) {
		err = request_enter(q, r, t, r->row->tid, r->ts, FR_REQUEST_marked, from);
		t->on_ns = r->ts; /* who passes a mark has a CPU */
		if (!err)
			request_leg(q, t->leg)->ran = true;
	}
	if (err) {
		free(name);
		return err;
	}
	o.leg = t->leg;
	o.name = name ? strdup(name) : NULL;
	err = name && !o.name ? -ENOMEM : fr_vec_add(&q->run->open, &o, 1);
	if (err) {
		free(o.name);
		free(name);
		return err;
	}
	t->open_cnt++;
	return request_step(q, r->ts, t->leg, FR_REQUEST_DID_begin, name);
}

/* What an end mark ends: what this thread began last under this name, or else another. Its number; open.cnt: nothing. */
static u32 request_find_open(const struct fr_request *q, const struct request_row *r, const char *name)
{
	const struct open_span *o = q->run->open.at;
	u32 i, own = q->run->open.cnt, other = own;

	for (i = 0; i < q->run->open.cnt; i++) {
		if (strcmp(o[i].name ?: "", name ?: "") != 0)
			continue;
		if (o[i].key == r->key)
			own = i;
		other = i;
	}
	return own < q->run->open.cnt ? own : other;
}

static int request_close(struct fr_request *q, const struct request_row *r, u32 at)
{
	struct open_span *o = q->run->open.at, was = o[at];
	struct thread *t = fr_idmap_find(&q->run->threads, was.key);
	int err = 0;

	free(was.name);
	memmove(&o[at], &o[at + 1], (q->run->open.cnt - at - 1) * sizeof(*o));
	q->run->open.cnt--;
	if (!t || t->leg != was.leg)
		return 0; /* it has left the request already */
	t->open_cnt -= t->open_cnt > 0;
	if (t->open_cnt)
		return 0;
	/* another thread ends it, and this one has told nothing yet since it came back: its wait is over, and was of the leg */
	if (t->asks)
		err = request_settle(q, r, t, NULL);
	return err ?: request_cut_wait(q, t, r->ts, NULL) ?: request_leave(q, t, r->ts, FR_REQUEST_END_end);
}

static int request_end(struct fr_request *q, const struct request_row *r, struct thread *t, char *name)
{
	u32 at = request_find_open(q, r, name), leg = t->leg;
	bool is_followed = leg && fr_request_is_followed(request_leg(q, leg));
	int err = 0;

	q->end_cnt++;
	q->unbegun_cnt += at == q->run->open.cnt;
	t->has_other = false;
	if (!leg && at < q->run->open.cnt && ((struct open_span *)q->run->open.at)[at].key == r->key)
		leg = ((struct open_span *)q->run->open.at)[at].leg; /* that it has left by another mark */
	if (!leg) {
		err = request_enter(q, r, t, r->row->tid, r->ts, FR_REQUEST_before, 0);
		leg = t->leg;
		is_followed = true;
	}
	if (err) {
		free(name);
		return err;
	}
	if (at < q->run->open.cnt)
		err = request_close(q, r, at);
	err = request_step(q, r->ts, leg, FR_REQUEST_DID_end, name) ?: err;
	/* by now the thread may be elsewhere */
	t = request_find(q, r, r->row->tid);
	return err ?: is_followed && t->leg == leg ? request_leave(q, t, r->ts, FR_REQUEST_END_end) : 0;
}

/* A mark of another id: that is what the thread is about now. */
static int request_other(struct fr_request *q, const struct request_row *r, struct thread *t, u64 id, bool begins)
{
	u64 *owner;
	int err = 0;

	if (t->leg && (begins || fr_request_is_followed(request_leg(q, t->leg))))
		err = request_leave(q, t, r->ts, FR_REQUEST_END_other);
	if (begins) {
		t->open_cnt = t->leg ? t->open_cnt : 0;
		t->woken_ns = 0;
		t->other_cnt = t->has_other && t->other == id ? t->other_cnt + 1 : 1;
		t->has_other = true;
		t->other = id;
		owner = fr_idmap_get(&q->run->others, id);
		if (!owner)
			return -ENOMEM;
		*owner = r->key;
		return err;
	}
	if (!t->has_other || t->other != id) {
		owner = fr_idmap_find(&q->run->others, id);
		t = owner ? fr_idmap_find(&q->run->threads, *owner) : NULL;
	}
	if (t && t->has_other && t->other == id && !--t->other_cnt) {
		t->has_other = false;
		fr_idmap_drop(&q->run->others, id);
	}
	return err;
}

static int request_mark(struct fr_request *q, const struct request_row *r, const struct request_mark *m)
{
	struct thread *t = m->kind == MARK_TEXT ? request_find(q, r, r->row->tid) : request_have(q, r, r->row->tid);
	u64 id;

	if (m->kind == MARK_TEXT)
		return t && t->leg ? request_step(q, r->ts, t->leg, FR_REQUEST_DID_mark, request_text(r, m)) : 0;
	if (!t)
		return -ENOMEM;
	id = fr_row_num(r->row, m->id);
	q->mark_cnt++;
	if (id != q->id) {
		q->near_id = id;
		return request_other(q, r, t, id, m->kind == MARK_BEGIN);
	}
	return (m->kind == MARK_BEGIN ? request_begin : request_end)(q, r, t, request_text(r, m));
}

/* ---- rows ---- */

static int request_wait(struct fr_request *q, const struct request_row *r, struct thread *t)
{
	struct fr_waited one;
	struct fr_request_step s;

	fr_waited_read(&r->b->wait, r->run->view, r->row, &one);
	if (t->asks)
		return request_settle(q, r, t, &one);
	if (t->arrives && t->leg)
		t->place = request_place(&one, r->run->view);
	if (t->arrives || !t->leg || one.off_ns > r->ts - request_leg(q, t->leg)->begin_ns)
		return 0;
	s = (struct fr_request_step){.ts = r->ts - one.off_ns,
				     .leg = t->leg - 1,
				     .did = FR_REQUEST_DID_wait,
				     .ended = true,
				     .back = true,
				     .told = true};
	if (request_own_wait(&s, &one))
		return -ENOMEM;
	/* its time as runnable is counted already */
	return fr_waited_was_runnable(&one) ? request_add_step(q, &s) : request_add_wait(q, t, &s);
}

static int request_dispatch(struct fr_request *q, const struct request_row *r)
{
	const struct fr_sub *sub = r->b->sub;
	u8 nr = r->row->ev->nr;

	if (r->b->mark[nr].kind)
		return request_mark(q, r, &r->b->mark[nr]);
	if (sub[SWITCH].ev && nr == sub[SWITCH].ev->nr)
		return request_switch(q, r);
	if (sub[WAKING].ev && nr == sub[WAKING].ev->nr)
		return request_waking(q, r, WAKING);
	if (sub[WAKING_NEW].ev && nr == sub[WAKING_NEW].ev->nr)
		return request_waking(q, r, WAKING_NEW);
	if (sub[FORK].ev && nr == sub[FORK].ev->nr)
		return request_fork(q, r);
	if (sub[EXEC].ev && nr == sub[EXEC].ev->nr)
		return request_exec(q, r);
	return sub[EXIT].ev && nr == sub[EXIT].ev->nr ? request_exit(q, r) : 0;
}

static int request_take(struct fr_request *q, const struct request_row *r)
{
	struct thread *t = request_find(q, r, r->row->tid);
	bool is_wait = r->b->wait.ev && r->row->ev->nr == r->b->wait.ev->nr;
	int err = 0;

	if (is_wait)
		err = t ? request_wait(q, r, t) : 0;
	else if (t && t->asks)
		err = request_settle(q, r, t, NULL);
	if (t)
		t->arrives = false;
	if (!err && !is_wait)
		err = request_dispatch(q, r);
	t = request_find(q, r, r->row->tid);
	if (t)
		t->seen_ns = r->ts;
	return err;
}

static int request_run(struct fr_request *q, const struct fr_replay_run *run)
{
	struct bound *b = &q->run->file[run->file];
	u64 shift_ns = run->shift_ns - fr_replay_shift(q->replay, 0);
	struct fr_row row;
	struct request_row r = {.run = run, .row = &row, .b = b};
	u32 i;
	int err = 0;

	if (q->run->has_states)
		fr_states_run(&q->run->states, run);
	for (i = run->from; i < run->to && !err; i++) {
		row = fr_batch_row(run->b, i);
		r.ts = row.ts + shift_ns;
		r.key = (u64)fr_replay_boot(q->replay, run->file) << 32 | row.tid;
		b->last_ns = r.ts > b->last_ns ? r.ts : b->last_ns;
		err = request_take(q, &r);
	}
	return err;
}

/* ---- what a file has ---- */

/* The place behind the file of a mark: by what its option said, "mark:PATH:begin", or else by its name, "mark:FILE__begin". */
static enum mark_kind request_kind_of(const struct fr_event *ev)
{
	static const struct {
		const char *place;
		enum mark_kind kind;
	} kinds[] = {{"mark", MARK_TEXT}, {"begin", MARK_BEGIN}, {"end", MARK_END}};
	const char *place = NULL, *at;
	size_t i, len;

	if (fr_up_kind_of(ev->doc) == FR_UP_mark && (at = strchr(strchr(ev->doc, ':') + 1, ':')))
		place = at + 1;
	for (at = place ? NULL : ev->name; at; at = strstr(at + 1, "__"))
		place = at == ev->name ? "" : at + 2;
	len = strspn(place, "abcdefghijklmnopqrstuvwxyz");
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strlen(kinds[i].place) == len && !memcmp(kinds[i].place, place, len))
			return kinds[i].kind;
	return NO_MARK;
}

static void request_bind_mark(struct fr_request *q, struct request_mark *m, const struct fr_event *ev)
{
	enum mark_kind kind = fr_up_kind_of(ev->name) == FR_UP_mark ? request_kind_of(ev) : NO_MARK;

	m->text = fr_event_field(ev, kind == MARK_TEXT ? "text" : "name");
	m->id = fr_event_field(ev, "id");
	if (!kind || !m->text || fr_field_kind(m->text) != FR_VAL_TEXT ||
	    (kind != MARK_TEXT && (!m->id || !fr_is_stored_num(m->id))))
		return;
	m->kind = kind;
	q->has_marks |= kind == MARK_BEGIN || kind == MARK_END;
	q->has_begins |= kind == MARK_BEGIN;
	q->has_ends |= kind == MARK_END;
}

static void request_bind(struct fr_request *q, u32 file)
{
	const struct fr_schema *s = fr_replay_schema(q->replay, file);
	const struct fr_snap *snap = fr_replay_snap(q->replay, file);
	struct bound *b = &q->run->file[file];
	const struct fr_event *ev;
	u32 i;

	for (i = 0; i < EVENT_CNT; i++)
		fr_subscribe(s, &wants[i], &b->sub[i]);
	fr_waited_bind(&b->wait, s);
	for (i = 0; i < FR_EVENT_MAX; i++) {
		ev = fr_schema_event(s, i);
		if (ev)
			request_bind_mark(q, &b->mark[i], ev);
	}
	q->has_switches &= fr_snap_records(snap, "sched_switch");
	q->has_wakings &= fr_snap_records(snap, "sched_waking");
	q->has_waits &= fr_snap_records(snap, "wait");
}

/* ---- the end ---- */

static bool request_has_gap(const struct fr_gap_list *l, u64 from_ns, u64 to_ns)
{
	size_t i;

	for (i = 0; i < l->cnt; i++)
		if (l->g[i].why != FR_GAP_after && l->g[i].until_ns > from_ns && l->g[i].since_ns < to_ns)
			return true;
	return false;
}

/* Are events missing in this time of a file's machine? */
static bool request_is_missing(const struct fr_request *q, u32 file, u64 from_ns, u64 to_ns)
{
	u64 shift_ns = fr_replay_shift(q->replay, file) - fr_replay_shift(q->replay, 0);
	u32 boot = fr_replay_boot(q->replay, file);

	return request_has_gap(fr_missing_gaps(q->run->missing, boot), from_ns - shift_ns, to_ns - shift_ns) ||
	       request_has_gap(fr_missing_damage(q->run->missing, boot), from_ns - shift_ns, to_ns - shift_ns);
}

/* When the last file of a file's boot ends: another machine's may go on. */
static u64 request_last_ns(const struct fr_request *q, u32 file)
{
	u64 last_ns = 0;
	u32 i;

	for (i = 0; i < fr_replay_file_cnt(q->replay); i++)
		if (fr_replay_boot(q->replay, i) == fr_replay_boot(q->replay, file) && q->run->file[i].last_ns > last_ns)
			last_ns = q->run->file[i].last_ns;
	return last_ns;
}

/* It has not come back: is this still where the request found it? What it is in may be known of when the snapshot was taken. */
static int request_still(struct fr_request *q, struct thread *t)
{
	struct fr_request_leg *l = request_leg(q, t->leg);
	const struct fr_snap_state *state = q->run->has_states && !l->file ? fr_states_of(q->run->states.snap, l->tid) : NULL;
	struct fr_still still;
	struct place now = {0};
	enum fr_request_end why = FR_REQUEST_END_open;
	enum likeness likeness;
	u64 last_ns;

	if (state && state->at_ns >= t->left_ns && state->state & FR_PREV_STATE_WAITS) {
		fr_states_read(&q->run->states, fr_replay_view(q->replay, 0), state, &still);
		now = request_place(&still.wait, fr_replay_view(q->replay, 0));
	} else {
		state = NULL;
	}
	likeness = request_compare(&t->place, &now);
	if (fr_request_is_followed(l) && likeness == PLACES_NOT_COMPARED)
		why = FR_REQUEST_END_still;
	else if (fr_request_is_followed(l) && likeness == PLACES_ALIKE)
		why = FR_REQUEST_END_wait;
	if (why)
		return request_leave(q, t, t->left_ns, why);
	last_ns = request_last_ns(q, l->file);
	return request_cut_wait(q, t, last_ns, state ? &still.wait : NULL) ?: request_leave(q, t, last_ns, why);
}

/*
 * It was woken, and has had no CPU since. The record of its wait would come with that: what a followed thread waited for, only
 * its state tells, or that no task ended it. Whoever the request woke is in it from the waking on, in any case.
 */
static int request_roused(struct fr_request *q, struct thread *t)
{
	const struct fr_request_leg *l = request_leg(q, t->leg);
	bool is_own = !fr_request_is_followed(l) || t->state == FR_PREV_STATE_BLOCKED ||
		      (l->how == FR_REQUEST_forked && t->wait.wait.waker != FR_WAKER_task);

	return is_own ? 0 : request_leave(q, t, t->left_ns, FR_REQUEST_END_untold);
}

/* The request has woken it, and it has had no CPU since: all of that is its time in the queue. */
static int request_enter_woken(struct fr_request *q, struct thread *t, u32 tid)
{
	u32 file = request_leg(q, t->woken_leg)->file;
	struct fr_replay_run run = {.file = file, .view = fr_replay_view(q->replay, file)};
	struct fr_row row = {.ts = t->woken_ns - fr_replay_shift(q->replay, file) + fr_replay_shift(q->replay, 0)};
	const struct request_row r = {.run = &run, .row = &row, .ts = t->woken_ns};

	if (t->seen_ns > t->woken_ns || request_is_missing(q, file, t->woken_ns, request_last_ns(q, file)))
		return 0; /* it may have run */
	return request_enter(q, &r, t, tid, t->woken_ns, FR_REQUEST_woken, t->woken_leg);
}

static int request_finish_one(struct fr_request *q, struct thread *t, u32 tid)
{
	const struct request_row none = {0};
	u64 last_ns;
	bool waits;
	int err = 0;

	if (t->asks)
		err = request_settle(q, &none, t, NULL);
	waits = t->leg && t->left_ns && t->state & FR_PREV_STATE_WAITS;
	if (!err && waits)
		err = t->roused_ns > t->left_ns ? request_roused(q, t) : request_still(q, t);
	if (!err && !t->leg && t->woken_ns)
		err = request_enter_woken(q, t, tid);
	if (err || !t->leg)
		return err;
	last_ns = request_last_ns(q, request_leg(q, t->leg)->file);
	if (!request_leg(q, t->leg)->ran)
		request_leg(q, t->leg)->queued_ns += last_ns - request_leg(q, t->leg)->begin_ns;
	return request_cut_wait(q, t, last_ns, NULL) ?: request_leave(q, t, last_ns, FR_REQUEST_END_open);
}

static int request_finish(struct fr_request *q)
{
	struct fr_idmap *threads = &q->run->threads;
	u32 i;
	int err = 0;

	for (i = 0; i < threads->cap && !err; i++)
		if (threads->used[i])
			err = request_finish_one(q, (struct thread *)(threads->record + (size_t)i * threads->record_sz),
						 threads->key[i]);
	return err;
}

static void request_find_gaps(struct fr_request *q)
{
	u32 i;

	for (i = 1; i <= q->legs.cnt; i++) {
		struct fr_request_leg *l = request_leg(q, i);

		l->gap = request_is_missing(q, l->file, l->begin_ns, l->end_ns);
		q->begin_ns = !q->begin_ns || l->begin_ns < q->begin_ns ? l->begin_ns : q->begin_ns;
		q->end_ns = l->end_ns > q->end_ns ? l->end_ns : q->end_ns;
	}
}

static int request_by_time(const void *a, const void *b)
{
	const struct fr_request_step *x = a, *y = b;

	if (x->ts != y->ts)
		return x->ts < y->ts ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

/* ---- life ---- */

static int request_lost(void *arg, const struct fr_replay_lost *lost)
{
	struct fr_request *q = arg;

	return fr_missing_add(q->run->missing, lost);
}

static int request_set_up(struct fr_request *q)
{
	u32 cnt = fr_replay_file_cnt(q->replay), i;
	int err;

	q->has_switches = q->has_wakings = q->has_waits = true;
	q->run->file = calloc(cnt, sizeof(*q->run->file));
	if (!q->run->file)
		return -ENOMEM;
	for (i = 0; i < cnt; i++)
		request_bind(q, i);
	err = fr_missing_new(q->replay, &q->run->missing) ?: fr_states_init(&q->run->states, q->replay, 0);
	q->run->has_states = true;
	if (!err)
		fr_replay_tell_lost(q->replay, request_lost, q);
	return err;
}

int fr_request_read(struct fr_request *q, struct fr_replay *r, u64 id)
{
	struct fr_replay_run run;
	int err, got;

	*q = (struct fr_request){.id = id, .replay = r, .run = calloc(1, sizeof(*q->run))};
	q->legs.item_sz = sizeof(struct fr_request_leg);
	q->steps.item_sz = sizeof(struct fr_request_step);
	if (!q->run)
		return -ENOMEM;
	fr_idmap_init(&q->run->threads, sizeof(struct thread));
	fr_idmap_init(&q->run->others, sizeof(u64));
	q->run->open.item_sz = sizeof(struct open_span);
	err = request_set_up(q);
	while (!err && (got = fr_replay_next(r, &run)) != 0)
		err = got < 0 ? got : request_run(q, &run);
	err = err ?: request_finish(q);
	if (err)
		return err;
	request_find_gaps(q);
	if (q->steps.cnt)
		qsort(q->steps.at, q->steps.cnt, sizeof(struct fr_request_step), request_by_time);
	return 0;
}

static void request_free_run(struct fr_request_run *run)
{
	struct open_span *o = run->open.at;
	u32 i;

	for (i = 0; i < run->open.cnt; i++)
		free(o[i].name);
	fr_vec_free(&run->open);
	fr_idmap_free(&run->threads);
	fr_idmap_free(&run->others);
	fr_missing_free(run->missing);
	if (run->has_states)
		fr_states_free(&run->states);
	free(run->file);
	free(run);
}

void fr_request_free(struct fr_request *q)
{
	u32 i;

	for (i = 0; i < q->steps.cnt; i++)
		request_free_step((struct fr_request_step *)q->steps.at + i);
	fr_vec_free(&q->steps);
	fr_vec_free(&q->legs);
	if (q->run)
		request_free_run(q->run);
	*q = (struct fr_request){0};
}
