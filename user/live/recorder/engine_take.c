/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* engine_take: takes granted snapshots, one at a time, in the order they were granted. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/err.h"
#include "base/text/units.h"
#include "live/incident/inclog.h"
#include "live/recorder/engine_int.h"
#include "live/snapshot/name.h"
#include "live/snapshot/store.h"
#include "sys/now.h"
#include "sys/patience.h"

#define NAME_TRIES 100
#define TAKE_TRIES 2 /* one more where a writer was killed */

/* A writer that stands still is noticed so late at most; and when the recorder ends, it is not waited for longer. */
#define LOOK_NS	     FR_SEC_NS
#define END_STILL_NS (20 * FR_SEC_NS)

/* ---- pending snapshots: in shared memory, so not trusted ---- */

static struct fr_pending *pending(struct fr_engine *e, u32 i)
{
	return &e->tr->pending[i % FR_PENDING_MAX];
}

/* 0: it is free. Pairs with set_order(), and with finish() of ledger.c, also of a recorder before this one. */
static u64 order_of(const struct fr_engine *e, u32 i)
{
	return __atomic_load_n(&e->tr->pending[i % FR_PENDING_MAX].order, __ATOMIC_ACQUIRE);
}

/* The rest of it is complete, or no longer needed. Pairs with order_of(). */
static void set_order(struct fr_engine *e, u32 i, u64 order)
{
	__atomic_store_n(&e->tr->pending[i % FR_PENDING_MAX].order, order, __ATOMIC_RELEASE);
}

u32 fr_engine_waiting_cnt(const struct fr_engine *e)
{
	u32 i, cnt = 0;

	for (i = 0; i < FR_PENDING_MAX; i++)
		cnt += order_of(e, i) != 0;
	return cnt;
}

bool fr_engine_is_waiting(const struct fr_engine *e, const struct fr_alert *a)
{
	const struct fr_alert *b;
	u32 i;

	for (i = 0; i < FR_PENDING_MAX; i++) {
		b = &e->tr->pending[i].alert;
		if (order_of(e, i) && b->ts == a->ts && b->kind == a->kind && b->tid == a->tid)
			return true;
	}
	return false;
}

static u64 engine_take_key_of(const struct fr_alert *a)
{
	struct fr_moment m;

	fr_engine_moment(a, "", &m);
	return fr_trigger_key(&m);
}

u64 fr_engine_signature(const struct fr_alert *a)
{
	return fr_trigger_has(a->kind, FR_HAS_KEY) ? engine_take_key_of(a) : 0;
}

/* A waiting snapshot will contain this moment. One being taken may have passed it. */
bool fr_engine_waits_for(const struct fr_engine *e, const struct fr_alert *a, u32 slot)
{
	u64 key = engine_take_key_of(a);
	u32 i;

	for (i = 0; i < FR_PENDING_MAX; i++)
		if ((int)i != e->running && order_of(e, i) && e->tr->pending[i].slot == slot &&
		    e->tr->pending[i].alert.kind == a->kind && engine_take_key_of(&e->tr->pending[i].alert) == key)
			return true;
	return false;
}

static u64 next_order(const struct fr_engine *e)
{
	u64 last = 0;
	u32 i;

	for (i = 0; i < FR_PENDING_MAX; i++)
		if (order_of(e, i) > last)
			last = order_of(e, i);
	return last + 1;
}

static int engine_take_find_free(const struct fr_engine *e)
{
	int i;

	for (i = 0; i < (int)FR_PENDING_MAX; i++)
		if (!order_of(e, i))
			return i;
	return -EBUSY;
}

static bool is_promised(struct fr_engine *e, const char *path)
{
	u32 i;

	for (i = 0; i < FR_PENDING_MAX; i++)
		if (order_of(e, i) && !strncmp(pending(e, i)->path, path, FR_PENDING_PATH_MAX))
			return true;
	return false;
}

/*
 * Choose its final name now, so that it is taken there once, whoever takes it in the end. *nr: the first number to be tried,
 * and then the next one. Whether there is a file of that name the writer finds out: name_again().
 */
static int engine_take_name_it(struct fr_engine *e, struct fr_pending *p, u64 now_ns, u32 *nr)
{
	const struct fr_alert *a = &p->alert;
	u64 ago = now_ns > a->ts ? now_ns - a->ts : 0;
	int err = -EEXIST;

	for (; err == -EEXIST && *nr < NAME_TRIES; ++*nr) {
		err = fr_name_snapshot(p->path, sizeof(p->path), fr_daemon_config(e->d)->dir, fr_now_ns(CLOCK_REALTIME) - ago,
				       fr_trigger_reason(a->kind), *a->comm || a->pid ? a->comm : NULL, a->pid, *nr);
		if (!err && is_promised(e, p->path))
			err = -EEXIST;
	}
	return err;
}

/* Note the grant for the gate of the next recorder, or for new limits. Requests by people pass no gate. */
static void note_granted(struct fr_engine *e, struct fr_entry *n, struct fr_pending *p, u64 now_ns)
{
	struct fr_granted g = {.ts = now_ns, .slot = p->slot};
	struct fr_gate_from from;
	struct fr_moment m;

	fr_engine_moment(&p->alert, "", &m);
	from = fr_gate_from(&m);
	g.key = fr_trigger_key(&m);
	g.program = from.program;
	g.uid = from.uid;
	if (p->slot != SLOT_NONE)
		p->grant = fr_ledger_grant(e->ledger, e->tr, n, &g);
}

int fr_engine_grant(struct fr_engine *e, struct fr_entry *n, const struct fr_alert *a, u32 nr, u64 now_ns, u64 cookie)
{
	const struct fr_trigger *t = fr_engine_rule(e, nr);
	u64 order = next_order(e);
	struct fr_pending *p;
	int i = engine_take_find_free(e), err;

	if (i < 0)
		return i;
	p = pending(e, i);
	memset(p, 0, sizeof(*p));
	p->alert = *a;
	p->slot = t ? e->slot_of[nr] : SLOT_NONE;
	p->due_ns = t ? a->ts + t->post_ns : 0;
	p->last_ns = t ? t->last_ns : 0;
	e->job[i] = (struct fr_engine_job){.cookie = cookie, .granted_ns = now_ns};
	err = engine_take_name_it(e, p, now_ns, &e->job[i].nr);
	if (err) {
		fr_err_errno(err, "a snapshot in %s cannot be named", fr_daemon_config(e->d)->dir);
		return err;
	}
	fr_entry_set(n, e->tr, &p->order, order);
	note_granted(e, n, p, now_ns);
	return i;
}

/* ---- finishing ---- */

static void give_back(struct fr_engine *e, u32 i)
{
	const struct fr_pending *p = pending(e, i);
	u32 nr = fr_engine_rule_of_slot(e, p->slot);

	fr_ledger_give_back(e->ledger, e->tr, p->slot, e->job[i].granted_ns);
	if (nr != FR_RULE_NONE)
		fr_gate_undo(e->gate, nr, engine_take_key_of(&p->alert), e->job[i].granted_ns);
}

static u64 mono_ns(struct fr_engine *e)
{
	struct fr_call now = {};

	fr_sess_clocks(e->s, &now);
	return now.mono_ns;
}

static void engine_take_tell(struct fr_engine *e, const struct fr_pending *p, u64 cookie, int err,
			     const struct fr_dump_done *done)
{
	u32 nr = fr_engine_rule_of_slot(e, p->slot), i;
	struct fr_taken *t = calloc(1, sizeof(*t));

	if (!t)
		return;
	t->rule = fr_engine_rule(e, nr);
	t->alert = p->alert;
	snprintf(t->reason, sizeof(t->reason), "%s", fr_trigger_reason(p->alert.kind));
	t->err = err;
	if (!err)
		t->done = *done;
	t->asked_mono_ns = p->alert.mono_ns;
	t->done_mono_ns = t->done.found ? t->asked_mono_ns : mono_ns(e);
	for (i = 0; i < e->listener_cnt; i++)
		e->listener[i].fn(e->listener[i].arg, t, cookie);
	free(t);
}

static enum fr_trigger_verdict engine_take_verdict_of(int err)
{
	if (!err)
		return FR_TRIGGER_VERDICT_taken;
	return err == -ENOSPC || err == -EDQUOT ? FR_TRIGGER_VERDICT_space : FR_TRIGGER_VERDICT_failed;
}

/* A failure is marked, too: the earlier mark promised a snapshot. */
static void over(struct fr_engine *e, u32 i, int err, const struct fr_dump_done *done)
{
	struct fr_pending *p = pending(e, i), *was = malloc(sizeof(*was));
	struct fr_entry entry = {};
	u64 cookie = e->job[i].cookie;

	e->last_err = err;
	if (engine_take_verdict_of(err) == FR_TRIGGER_VERDICT_failed)
		e->failed_err = err;
	if (err)
		give_back(e, i);
	else if (p->slot < FR_TRIGGER_MAX)
		fr_entry_set(&entry, e->tr, &e->tr->slot[p->slot].last_ns, fr_engine_now(e));
	if (!err) {
		memcpy(e->base, e->asked, sizeof(e->base));
		e->last_bytes = done->bytes;
	}
	if (was)
		*was = *p;
	fr_tell_snapshot(e->s, p->path, err ? 0 : done->bytes, err);
	fr_engine_count(e, &entry, p->slot, engine_take_verdict_of(err));
	fr_entry_set(&entry, e->tr, &p->order, 0);
	fr_ledger_commit(e->ledger, e->tr, &entry);
	if (!was)
		return;
	if (err)
		fr_engine_mark(e, &was->alert, fr_engine_rule_of_slot(e, was->slot), engine_take_verdict_of(err), NULL);
	engine_take_tell(e, was, cookie, err, done);
	free(was);
}

/* ---- taking ---- */

static int ask_writer(struct fr_engine *e, u32 i)
{
	const struct fr_pending *p = pending(e, i);
	const struct fr_store_conf store = fr_store_conf_of(fr_daemon_config(e->d));
	u32 nr = fr_engine_rule_of_slot(e, p->slot);
	struct fr_dump_ask dump = {
		.path = p->path,
		.reason = fr_trigger_reason(p->alert.kind),
		.comm = *p->alert.comm ? p->alert.comm : NULL,
		.pid = p->alert.pid,
		.sig = p->alert.sig,
		.last_ns = p->last_ns,
		.at_ns = p->alert.ts,
		.names_itself = true,
	};
	const struct fr_writer_ask ask = {
		.dump = &dump,
		.store = &store,
		.signature = fr_engine_signature(&p->alert),
		.last_sz = e->last_bytes,
		.may_exist = e->job[i].retake,
		.only_look = e->job[i].tries == TAKE_TRIES,
	};
	char *facts;
	int err;

	memcpy(e->asked, e->tr->slot, sizeof(e->asked));
	facts = fr_engine_facts(e, &p->alert, nr);
	dump.facts = facts;
	err = fr_writer_ask(e->writer, &ask);
	free(facts);
	return err;
}

/* Has the writer something to do? */
static bool engine_take_is_busy(const struct fr_engine *e)
{
	return e->running >= 0 || e->tidying;
}

static void on_writer(void *arg, u32 events);

/* A restarted writer's descriptor may have the same number, and is not watched yet: compare the pid. */
static void watch_writer(struct fr_engine *e)
{
	if (e->writer_fd >= 0)
		fr_daemon_unwatch(e->d, e->writer_fd);
	e->writer_fd = fr_writer_fd(e->writer);
	e->writer_pid = fr_writer_pid(e->writer);
	if (e->writer_fd >= 0 && fr_daemon_watch(e->d, e->writer_fd, EPOLLIN, on_writer, e))
		e->writer_fd = -1;
}

static u64 timeout_ns(const struct fr_engine *e)
{
	u64 ns = fr_daemon_config(e->d)->write_timeout_ns;

	return e->finishing && ns > END_STILL_NS ? END_STILL_NS : ns;
}

static void engine_take_on_look(void *arg, u32 events);

/* Only while it writes: a recorder with nothing to do sleeps. */
static void look_after(struct fr_engine *e, bool busy)
{
	const u64 look_ns = fr_patience_ns(LOOK_NS);

	if (busy == (e->look_fd >= 0))
		return;
	if (busy) {
		e->look_fd = fr_daemon_timer(e->d, look_ns, look_ns, engine_take_on_look, e);
		return;
	}
	fr_daemon_drop(e->d, &e->look_fd);
}

static void say_gone(struct fr_engine *e, int err)
{
	if (err == -EPIPE) {
		fr_warn("the process that writes snapshots was ended from outside: a new one has been started");
		return;
	}
	fr_tell_recorder(e->s, "ended its writer, which stood still");
	fr_warn("the process that writes snapshots stood still for %llu s, stopped or waiting for its disk: it was "
		"ended: give it more time with WriteTimeout=",
		(timeout_ns(e) / FR_SEC_NS));
}

/* Its name is taken: another one. False: that is not what is wrong, or there is none. */
static bool name_again(struct fr_engine *e, u32 i, int err)
{
	struct fr_pending p = *pending(e, i);

	if (err != -EEXIST || engine_take_name_it(e, &p, fr_engine_now(e), &e->job[i].nr))
		return false;
	memcpy(e->tr->pending[i].path, p.path, sizeof(p.path));
	return true;
}

static bool is_gone(int err)
{
	return err == -EPIPE || err == -ETIME;
}

/*
 * The snapshot that the writer had: it exists, or there is none, or it is tried once more. The last one that has gone may have
 * completed it just before, as any: so another one looks.
 */
static void take_snapshot(struct fr_engine *e, int err, const struct fr_dump_done *done)
{
	int i = e->running;
	struct fr_engine_job *job = &e->job[i];

	e->running = -1;
	if (is_gone(err)) {
		job->retake = true;
		job->gone_err = err == -ETIME ? -ETIMEDOUT : err;
		if (++job->tries > TAKE_TRIES)
			over(e, i, job->gone_err, done);
	} else if (err == -ENOENT && job->tries == TAKE_TRIES) {
		over(e, i, job->gone_err, done);
	} else if (!name_again(e, i, err)) {
		if (err == -EEXIST)
			fr_err_errno(err, "a snapshot in %s cannot be named", fr_daemon_config(e->d)->dir);
		over(e, i, err, done);
	}
}

/*
 * Snapshots that made room: what they were of has none any more, so an equal moment is no repeat. But this one is of it,
 * perhaps.
 */
static void forget_gone(struct fr_engine *e, const struct fr_writer_done *done, u64 taken)
{
	u32 i;

	for (i = 0; i < done->gone_cnt && i < FR_STORE_GONE_MAX; i++) {
		if (done->gone[i] == taken)
			continue;
		fr_gate_forget(e->gate, done->gone[i]);
		fr_ledger_forget(e->ledger, e->tr, done->gone[i]);
	}
}

static void engine_take_take_answer(struct fr_engine *e)
{
	struct fr_writer_done *done = calloc(1, sizeof(*done));
	int err;

	if (!done)
		return;
	err = fr_writer_answer(e->writer, timeout_ns(e), done);
	if (fr_writer_pid(e->writer) != e->writer_pid)
		watch_writer(e);
	if (err != -EAGAIN && engine_take_is_busy(e)) {
		e->removed += done->removed;
		forget_gone(e, done, !err && !e->tidying ? fr_engine_signature(&pending(e, e->running)->alert) : 0);
		if (is_gone(err))
			say_gone(e, err);
		if (e->tidying)
			e->tidying = false;
		else
			take_snapshot(e, err, &done->dump);
	}
	free(done);
}

static void engine_take_on_look(void *arg, u32 events)
{
	struct fr_engine *e = arg;

	(void)events;
	engine_take_take_answer(e);
	fr_engine_kick(e);
}

static void on_writer(void *arg, u32 events)
{
	struct fr_engine *e = arg;

	(void)events;
	engine_take_take_answer(e);
	fr_engine_kick(e);
}

/* ---- choosing the next ---- */

static int oldest(const struct fr_engine *e, u64 now_ns, u64 *next_due_ns)
{
	int i, first = -1;

	*next_due_ns = ~0ULL;
	for (i = 0; i < (int)FR_PENDING_MAX; i++) {
		if (!order_of(e, i))
			continue;
		if (e->tr->pending[i].due_ns > now_ns) {
			if (e->tr->pending[i].due_ns < *next_due_ns)
				*next_due_ns = e->tr->pending[i].due_ns;
		} else if (first < 0 || order_of(e, i) < order_of(e, first)) {
			first = i;
		}
	}
	return first;
}

static void on_post(void *arg, u32 events)
{
	(void)events;
	fr_engine_kick(arg);
}

static void wait_post(struct fr_engine *e, u64 delay_ns)
{
	fr_daemon_drop(e->d, &e->post_fd);
	e->post_fd = fr_daemon_timer(e->d, delay_ns, 0, on_post, e);
}

static void engine_take_tidy(struct fr_engine *e)
{
	const struct fr_store_conf store = fr_store_conf_of(fr_daemon_config(e->d));
	const struct fr_writer_ask ask = {.store = &store, .age_only = e->tidy == FR_TIDY_OLD};

	e->tidy = FR_TIDY_NOTHING;
	e->tidying = !fr_writer_ask(e->writer, &ask); /* else it is made up for with the next snapshot */
	if (fr_writer_pid(e->writer) != e->writer_pid)
		watch_writer(e);
}

void fr_engine_tidy(struct fr_engine *e, bool age_only)
{
	if (!age_only)
		e->tidy = FR_TIDY_ALL;
	else if (e->tidy == FR_TIDY_NOTHING)
		e->tidy = FR_TIDY_OLD;
	fr_engine_kick(e);
}

/* Snapshots that cannot be requested are finished at once: go on to the next. */
void fr_engine_kick(struct fr_engine *e)
{
	u64 now, next_due;
	int i, err;

	while (e->writer && !engine_take_is_busy(e) && fr_engine_waiting_cnt(e)) {
		now = fr_engine_now(e) ?: ~0ULL; /* unknown, for lack of memory or descriptors: all are due */
		i = oldest(e, now, &next_due);
		if (i < 0) {
			wait_post(e, next_due - now);
			break;
		}
		err = ask_writer(e, i);
		if (fr_writer_pid(e->writer) != e->writer_pid)
			watch_writer(e);
		if (err) {
			fr_err_errno(err, "cannot take a snapshot");
			over(e, i, err, NULL);
		} else {
			e->running = i;
		}
	}
	if (e->writer && !engine_take_is_busy(e) && e->tidy != FR_TIDY_NOTHING)
		engine_take_tidy(e);
	look_after(e, engine_take_is_busy(e));
}

void fr_engine_wait(struct fr_engine *e)
{
	struct pollfd p = {.events = POLLIN};

	e->tidy = FR_TIDY_NOTHING;
	fr_engine_kick(e);
	while (engine_take_is_busy(e)) {
		p.fd = fr_writer_fd(e->writer);
		poll(&p, 1, fr_patience_ms(LOOK_NS / FR_MSEC_NS));
		engine_take_take_answer(e);
		fr_engine_kick(e);
	}
}

int fr_engine_start_writer(struct fr_engine *e)
{
	int err = fr_writer_start(e->s, fr_daemon_config(e->d)->dir, &e->writer);

	if (!err)
		watch_writer(e);
	return err;
}

/* ---- left by a previous recorder ---- */

/* Trust none of it: any holder of the map may have written there. */
static bool engine_take_is_sound(const struct fr_pending *p)
{
	if (p->path[0] != '/' || !memchr(p->path, 0, sizeof(p->path)) || !p->alert.kind)
		return false;
	return p->alert.kind < FR_TRIGGER_KIND_CNT && memchr(p->alert.comm, 0, sizeof(p->alert.comm)) &&
	       memchr(p->alert.exe, 0, sizeof(p->alert.exe)) && memchr(p->alert.text, 0, sizeof(p->alert.text));
}

/* When it was granted, so that the grant can be given back if the snapshot fails. 0: that is not known. */
static u64 granted_at(struct fr_engine *e, const struct fr_pending *p)
{
	struct fr_granted g;

	if (!fr_ledger_find(e->ledger, e->tr, p->grant, &g) || g.slot != p->slot || g.key != engine_take_key_of(&p->alert))
		return 0;
	return g.ts;
}

void fr_engine_recover(struct fr_engine *e)
{
	u32 i;

	for (i = 0; i < FR_PENDING_MAX; i++) {
		if (!order_of(e, i) || e->job[i].granted_ns)
			continue;
		if (!engine_take_is_sound(pending(e, i))) {
			fr_warn("a snapshot request of the last recorder is damaged: dropped");
			set_order(e, i, 0);
			continue;
		}
		e->job[i] = (struct fr_engine_job){.granted_ns = granted_at(e, pending(e, i)), .retake = true};
	}
}
