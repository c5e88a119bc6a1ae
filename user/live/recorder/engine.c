/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/recorder/engine_int.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/err.h"
#include "base/text/units.h"
#include "fatal.h"
#include "live/incident/inclog.h"
#include "live/recorder/control.h"
#include "live/snapshot/name.h"
#include "live/snapshot/store.h"
#include "sys/now.h"
#include "sys/patience.h"

#define NAME_TRIES 100
#define TAKE_TRIES 2 /* one more where a writer was killed */

/* A writer that stands still is noticed so late at most; and when the recorder ends, it is not waited for longer. */
#define LOOK_NS	     FR_SEC_NS
#define END_STILL_NS (20 * FR_SEC_NS)

/* ---- helpers ---- */

/* The recording clock; 0: it cannot be read. */
static u64 engine_now(struct fr_engine *e)
{
	struct fr_call now;

	return fr_sess_clocks(e->s, &now) ? 0 : now.ns;
}

/* Its number, FR_RULE_NONE. */
static u32 engine_rule_of_slot(const struct fr_engine *e, u32 slot)
{
	u32 i;

	for (i = 0; i < e->known_cnt; i++)
		if (e->slot_of[i] == slot)
			return i;
	return FR_RULE_NONE;
}

const struct fr_trigger *fr_engine_rule(const struct fr_engine *e, u32 nr)
{
	return nr < e->known_cnt ? &e->rule[nr] : NULL;
}

static u32 engine_slot_of(const struct fr_engine *e, u32 nr)
{
	return nr < e->known_cnt ? e->slot_of[nr] : SLOT_NONE;
}

/*
 * ---- what the incident log is told ----
 *
 * Every taken one. Of the others, which may come by the thousand, the first one of a user at once, and then one now and then,
 * with the number it stands for: so it is known who had no snapshot, and who had used up what there was.
 */

#define TELL_NS 10000000000ULL /* between two of the same rule and verdict */

#define OTHERS (FR_ENGINE_TOLD_CNT - 1)

static struct fr_engine_told *all_told(struct fr_engine *e, u32 nr, u32 verdict)
{
	return e->told[nr < FR_TRIGGER_MAX ? nr : FR_TRIGGER_MAX][verdict % FR_TRIGGER_VERDICT_CNT];
}

/* A user's own, or one that nothing is held back of; those of more users are told together. */
static struct fr_engine_told *engine_told_of(struct fr_engine_told *all, u32 owner, u64 now)
{
	struct fr_engine_told *free = NULL;
	u32 i;

	for (i = 0; i < OTHERS; i++) {
		if (all[i].next_ns && all[i].owner == owner)
			return &all[i];
		if (!free && !all[i].held && now >= all[i].next_ns)
			free = &all[i];
	}
	if (free)
		*free = (struct fr_engine_told){.owner = owner};
	return free ?: &all[OTHERS];
}

static void engine_tell_log(struct fr_engine *e, const struct fr_alert *a, u32 nr, u32 verdict, u64 count)
{
	const struct fr_trigger *t = fr_engine_rule(e, nr);

	fr_tell_trigger(e->s, fr_trigger_reason(a->kind), t ? t->text : NULL, a, verdict, count);
}

/* Those of several users are nobody's. */
static void tell_now(struct fr_engine *e, struct fr_engine_told *told, const struct fr_alert *a, u32 nr, u32 verdict)
{
	const struct fr_alert others = {.kind = a->kind, .uid = ~0u, .ts = a->ts};
	bool is_others = told == &all_told(e, nr, verdict)[OTHERS] && told->held > 1;

	engine_tell_log(e, is_others ? &others : a, nr, verdict, told->held);
}

/* Equal ones of a user soon after each other are held back and counted. */
static void engine_tell(struct fr_engine *e, const struct fr_alert *a, u32 nr, u32 verdict)
{
	u64 now = engine_now(e);
	struct fr_engine_told *told = engine_told_of(all_told(e, nr, verdict), a->owner, now);

	told->held++;
	if (verdict != FR_TRIGGER_VERDICT_taken && told->next_ns && now < told->next_ns) {
		told->kind = a->kind;
		return;
	}
	tell_now(e, told, a, nr, verdict);
	told->held = 0;
	told->next_ns = now + TELL_NS;
}

/* Add what was held back of one: rules change, or the recorder ends. */
static void tell_held(struct fr_engine *e, struct fr_engine_told *told, u32 nr, u32 verdict, bool is_others)
{
	const struct fr_alert a = {.kind = told->kind, .uid = is_others ? ~0u : told->owner};

	if (!told->held)
		return;
	engine_tell_log(e, &a, nr, verdict, told->held);
	told->held = 0;
}

static void engine_tell_all_held(struct fr_engine *e)
{
	u32 nr, v, i;

	for (nr = 0; nr <= FR_TRIGGER_MAX; nr++)
		for (v = 0; v < FR_TRIGGER_VERDICT_CNT; v++)
			for (i = 0; i < FR_ENGINE_TOLD_CNT; i++)
				tell_held(e, &all_told(e, nr, v)[i], nr, v, i == OTHERS);
}

/* ---- counting and marking ---- */

static void engine_count(struct fr_engine *e, struct fr_entry *n, u32 slot, u32 verdict)
{
	if (slot < FR_TRIGGER_MAX)
		fr_entry_add(n, e->tr, &e->tr->slot[slot].verdict[verdict % FR_TRIGGER_VERDICT_CNT], 1);
	else
		e->unruled[verdict % FR_TRIGGER_VERDICT_CNT]++;
}

static void engine_mark(struct fr_engine *e, const struct fr_alert *a, u32 nr, u32 verdict, u64 *ts)
{
	const struct fr_sess_trigger mark = {
		.reason = fr_trigger_reason(a->kind),
		.tid = a->tid,
		.at_ns = a->ts,
		.rule = nr,
		.verdict = verdict,
		.sig = a->sig,
	};
	u64 now = 0;

	fr_sess_mark_trigger(e->s, &mark, &now);
	if (ts)
		*ts = now;
	engine_tell(e, a, nr, verdict);
	fr_control_decided(fr_daemon_ctl(e->d), fr_engine_rule(e, nr), a, a->ts ?: now, verdict);
}

/* Whoever gives up does so in the same function of the C library or the runtime: its callers tell one failure from another. */
static u64 engine_stack_of(const struct fr_alert *a)
{
	bool gives_up = a->kind == FR_TRIGGER_status || (a->kind == FR_TRIGGER_crash && a->sig == SIGABRT);

	return gives_up ? fr_trigger_stack(a->uframe, a->uframe_cnt) : 0;
}

/* As rules and keys see it. */
static void engine_moment(const struct fr_alert *a, const char *cgroup, struct fr_moment *m)
{
	*m = (struct fr_moment){
		.kind = a->kind,
		.ts = a->ts,
		.tid = a->tid,
		.pid = a->pid,
		.uid = a->uid,
		.owner = a->owner,
		.sig = a->sig,
		.status = fr_wait_status(a->exit_code),
		.ip = a->ip,
		.stack = engine_stack_of(a),
		.value_ns = a->value_ns,
		.what = a->what,
		.core = fr_sig_in(a->sig, FR_SIG_CORE),
		.comm = a->comm,
		.exe = a->exe,
		.cgroup = cgroup,
		.exe_id = a->exe_ino ? a->exe_ino ^ a->exe_dev << 44 : 0,
	};
}

static u64 engine_key_of(const struct fr_alert *a)
{
	struct fr_moment m;

	engine_moment(a, "", &m);
	return fr_trigger_key(&m);
}

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

static u32 engine_waiting_cnt(const struct fr_engine *e)
{
	u32 i, cnt = 0;

	for (i = 0; i < FR_PENDING_MAX; i++)
		cnt += order_of(e, i) != 0;
	return cnt;
}

/* Exactly this moment. */
static bool engine_is_waiting(const struct fr_engine *e, const struct fr_alert *a)
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

u64 fr_engine_signature(const struct fr_alert *a)
{
	return fr_trigger_has(a->kind, FR_HAS_KEY) ? engine_key_of(a) : 0;
}

/* A waiting snapshot will contain this moment. One being taken may have passed it. */
static bool engine_waits_for(const struct fr_engine *e, const struct fr_alert *a, u32 slot)
{
	u64 key = engine_key_of(a);
	u32 i;

	for (i = 0; i < FR_PENDING_MAX; i++)
		if ((int)i != e->running && order_of(e, i) && e->tr->pending[i].slot == slot &&
		    e->tr->pending[i].alert.kind == a->kind && engine_key_of(&e->tr->pending[i].alert) == key)
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

	engine_moment(&p->alert, "", &m);
	from = fr_gate_from(&m);
	g.key = fr_trigger_key(&m);
	g.program = from.program;
	g.uid = from.uid;
	if (p->slot != SLOT_NONE)
		p->grant = fr_ledger_grant(e->ledger, e->tr, n, &g);
}

/* Keep a granted moment until its snapshot is taken, once the entry is committed. Its index, or -errno. */
static int engine_keep(struct fr_engine *e, struct fr_entry *n, const struct fr_alert *a, u32 nr, u64 now_ns, u64 cookie)
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

static void engine_kick(struct fr_engine *e);

/* ---- finishing ---- */

static void give_back(struct fr_engine *e, u32 i)
{
	const struct fr_pending *p = pending(e, i);
	u32 nr = engine_rule_of_slot(e, p->slot);

	fr_ledger_give_back(e->ledger, e->tr, p->slot, e->job[i].granted_ns);
	if (nr != FR_RULE_NONE)
		fr_gate_undo(e->gate, nr, engine_key_of(&p->alert), e->job[i].granted_ns);
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
	u32 nr = engine_rule_of_slot(e, p->slot), i;
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
		fr_entry_set(&entry, e->tr, &e->tr->slot[p->slot].last_ns, engine_now(e));
	if (!err) {
		memcpy(e->base, e->asked, sizeof(e->base));
		e->last_bytes = done->bytes;
	}
	if (was)
		*was = *p;
	fr_tell_snapshot(e->s, p->path, err ? 0 : done->bytes, err);
	engine_count(e, &entry, p->slot, engine_take_verdict_of(err));
	fr_entry_set(&entry, e->tr, &p->order, 0);
	fr_ledger_commit(e->ledger, e->tr, &entry);
	if (!was)
		return;
	if (err)
		engine_mark(e, &was->alert, engine_rule_of_slot(e, was->slot), engine_take_verdict_of(err), NULL);
	engine_take_tell(e, was, cookie, err, done);
	free(was);
}

/* ---- taking ---- */

static int ask_writer(struct fr_engine *e, u32 i)
{
	const struct fr_pending *p = pending(e, i);
	const struct fr_store_conf store = fr_store_conf_of(fr_daemon_config(e->d));
	u32 nr = engine_rule_of_slot(e, p->slot);
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

	if (err != -EEXIST || engine_take_name_it(e, &p, engine_now(e), &e->job[i].nr))
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

static void engine_take_answer(struct fr_engine *e)
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
	engine_take_answer(e);
	engine_kick(e);
}

static void on_writer(void *arg, u32 events)
{
	struct fr_engine *e = arg;

	(void)events;
	engine_take_answer(e);
	engine_kick(e);
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
	engine_kick(arg);
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
	engine_kick(e);
}

/* Snapshots that cannot be requested are finished at once: go on to the next. */
static void engine_kick(struct fr_engine *e)
{
	u64 now, next_due;
	int i, err;

	while (e->writer && !engine_take_is_busy(e) && engine_waiting_cnt(e)) {
		now = engine_now(e) ?: ~0ULL; /* unknown, for lack of memory or descriptors: all are due */
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

/* Until all that are due are taken. */
static void engine_wait(struct fr_engine *e)
{
	struct pollfd p = {.events = POLLIN};

	e->tidy = FR_TIDY_NOTHING;
	engine_kick(e);
	while (engine_take_is_busy(e)) {
		p.fd = fr_writer_fd(e->writer);
		poll(&p, 1, fr_patience_ms(LOOK_NS / FR_MSEC_NS));
		engine_take_answer(e);
		engine_kick(e);
	}
}

static int engine_start_writer(struct fr_engine *e)
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

	if (!fr_ledger_find(e->ledger, e->tr, p->grant, &g) || g.slot != p->slot || g.key != engine_key_of(&p->alert))
		return 0;
	return g.ts;
}

/* What a previous recorder left. */
static void engine_recover(struct fr_engine *e)
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

/* ---- moments reported by BPF ---- */

static bool engine_is_busy(struct fr_engine *e, const struct fr_alert *a, u32 nr)
{
	return engine_waiting_cnt(e) == FR_PENDING_MAX || engine_waits_for(e, a, engine_slot_of(e, nr));
}

static enum fr_trigger_verdict ask_gate(struct fr_engine *e, const struct fr_alert *a, u32 nr, u64 now_ns)
{
	const struct fr_trigger *t = fr_engine_rule(e, nr);
	bool busy = engine_is_busy(e, a, nr);
	struct fr_moment m;

	if (!t) /* requested by a person */
		return busy ? FR_TRIGGER_VERDICT_busy : FR_TRIGGER_VERDICT_taken;
	engine_moment(a, "", &m);
	return fr_gate_ask(e->gate, t, nr, fr_trigger_key(&m), fr_gate_from(&m), now_ns, busy);
}

/* One that is gone has no path. Else a rule that asks for it would not fire for what it is meant for. */
bool fr_engine_cgroup(struct fr_engine *e, const struct fr_alert *a, char buf[FR_ENGINE_CGROUP_SZ])
{
	int err = a->cgroup ? fr_cgroup_soon_path(e->cgroups, a->cgroup, buf, FR_ENGINE_CGROUP_SZ) : -ENOENT;
	int was = e->cgroup_err;

	if (!err)
		e->cgroup_err = 0;
	else if (err == -ETIMEDOUT)
		e->cgroup_err = err;
	if (e->cgroup_err && !was)
		fr_warn("paths of cgroups are not told: who asks for one waits: until they are, triggers with cgroup= do not "
			"fire, and snapshots have the cgroup's number alone");
	else if (was && !e->cgroup_err)
		fr_say("paths of cgroups are told again");
	if (err)
		*buf = 0;
	return !err;
}

static enum fr_trigger_verdict engine_decide(struct fr_engine *e, const struct fr_alert *a, u32 nr, u64 now_ns, bool granted)
{
	const struct fr_trigger *t = &e->rule[nr];
	const struct fr_gate_asked asked = {.now_ns = now_ns, .granted = granted, .busy = engine_is_busy(e, a, nr)};
	char cgroup[FR_ENGINE_CGROUP_SZ] = "";
	struct fr_moment m;

	/* only asked for if a rule needs it */
	if (*t->cgroup)
		fr_engine_cgroup(e, a, cgroup);
	engine_moment(a, cgroup, &m);
	return fr_gate_decide(e->gate, t, nr, &m, &asked);
}

static u64 who(const struct fr_alert *a)
{
	return (u64)a->kind << 32 | a->tid;
}

/* A recorder that was killed may have decided about it already; a version without a ledger may only have noted the snapshot. */
static bool is_handled(const struct fr_engine *e, const struct fr_alert *a)
{
	return (e->tr->handled_ts == a->ts && e->tr->handled_who == who(a)) || engine_is_waiting(e, a);
}

/* Commit it with everything decided about it. */
static void commit_handled(struct fr_engine *e, struct fr_entry *n, const struct fr_alert *a)
{
	fr_entry_set(n, e->tr, &e->tr->handled_who, who(a));
	fr_entry_set(n, e->tr, &e->tr->handled_ts, a->ts);
	fr_ledger_commit(e->ledger, e->tr, n);
}

int fr_engine_failed_err(const struct fr_engine *e)
{
	return e->failed_err;
}

struct fr_blind fr_engine_blind(const struct fr_engine *e)
{
	return fr_sources_blind(e->sources);
}

u64 fr_engine_unruled(const struct fr_engine *e, enum fr_trigger_verdict verdict)
{
	return e->unruled[verdict];
}

/* Keep it until its snapshot is taken: its index. If it cannot be kept it has failed, and the gate forgets it: -errno. */
static int grant(struct fr_engine *e, struct fr_entry *n, const struct fr_alert *a, u32 nr, u64 now_ns, u64 cookie)
{
	int i = engine_keep(e, n, a, nr, now_ns, cookie);

	if (i < 0) {
		e->failed_err = i;
		engine_count(e, n, engine_slot_of(e, nr), FR_TRIGGER_VERDICT_failed);
		if (nr < e->known_cnt)
			fr_gate_undo(e->gate, nr, engine_key_of(a), now_ns);
	}
	return i;
}

/* Moments of rules in force before us that are not ours: what they asked for is unknown. Each gets its verdict. */
static void count_ended(struct fr_engine *e, struct fr_entry *n, const struct fr_alert *a)
{
	u32 ended = a->rule_set, i;

	for (i = 0; i < e->known_cnt; i++)
		ended &= ~(1u << e->slot_of[i]);
	for (i = 0; i < FR_TRIGGER_MAX; i++) {
		if (!(ended >> i & 1) || !e->tr->slot[i].text[0])
			continue;
		engine_count(e, n, i, FR_TRIGGER_VERDICT_filtered);
		if (!e->said_ended++)
			fr_warn("moments of '%.*s', no longer in force, were waiting: they are counted as filtered, like "
				"those of other such rules",
				FR_TRIGGER_TEXT_MAX, e->tr->slot[i].text);
	}
}

static void on_alert(void *arg, const struct fr_alert *a)
{
	u8 verdict[FR_TRIGGER_MAX];
	struct fr_entry entry = {};
	struct fr_engine *e = arg;
	u64 now = engine_now(e);
	bool granted = false;
	u32 nr, rules = 0;

	if (is_handled(e, a))
		return commit_handled(e, &entry, a);
	count_ended(e, &entry, a);
	for (nr = 0; nr < e->known_cnt; nr++) {
		if (!(a->rule_set >> e->slot_of[nr] & 1) || e->rule[nr].kind != a->kind)
			continue;
		rules |= 1u << nr;
		verdict[nr] = engine_decide(e, a, nr, now, granted);
		if (verdict[nr] != FR_TRIGGER_VERDICT_taken)
			engine_count(e, &entry, e->slot_of[nr], verdict[nr]);
		else if (grant(e, &entry, a, nr, now, 0) >= 0)
			granted = true;
		else
			verdict[nr] = FR_TRIGGER_VERDICT_failed;
	}
	commit_handled(e, &entry, a);
	for (nr = 0; nr < e->known_cnt; nr++)
		if (rules >> nr & 1)
			engine_mark(e, a, nr, verdict[nr], NULL);
}

static void on_alerts(void *arg, u32 events)
{
	struct fr_engine *e = arg;
	int got;

	(void)events;
	if (!e->alerts)
		return engine_kick(e);
	do
		got = fr_alerts_take(e->alerts, on_alert, e);
	while (got > 0 || got == -EBADMSG);
	engine_kick(e);
}

/* ---- moments seen by user space ---- */

/* A rule of this kind, if there is one: its options apply. */
static u32 rule_of_kind(const struct fr_engine *e, enum fr_trigger_kind kind)
{
	u32 i;

	for (i = 0; i < e->rule_cnt; i++)
		if (e->rule[i].kind == kind)
			return i;
	return FR_RULE_NONE;
}

/* The kernel does not see these moments, so only we count them. */
static void count_seen(struct fr_engine *e, struct fr_entry *n, u32 slot)
{
	if (slot >= FR_TRIGGER_MAX)
		return;
	fr_entry_add(n, e->tr, &e->tr->slot[slot].matched, 1);
	fr_entry_add(n, e->tr, &e->tr->slot[slot].alerted, 1);
}

/* The time of the mark is its moment. Returns the index of the pending snapshot, or as fr_engine_pull(). */
static int engine_pull(struct fr_engine *e, struct fr_alert *a, u32 nr, u64 cookie, u32 *told)
{
	u64 now = engine_now(e), ts = 0;
	enum fr_trigger_verdict verdict = ask_gate(e, a, nr, now);
	struct fr_entry entry = {};
	int i = verdict == FR_TRIGGER_VERDICT_busy ? -EBUSY : -EAGAIN;

	if (told)
		*told = verdict;
	engine_mark(e, a, nr, verdict, &ts);
	a->ts = ts ?: now;
	count_seen(e, &entry, engine_slot_of(e, nr));
	if (verdict == FR_TRIGGER_VERDICT_taken)
		i = grant(e, &entry, a, nr, now, cookie);
	else
		engine_count(e, &entry, engine_slot_of(e, nr), verdict);
	fr_ledger_commit(e->ledger, e->tr, &entry);
	if (i < 0 && verdict == FR_TRIGGER_VERDICT_taken) { /* the earlier mark promised a snapshot */
		engine_mark(e, a, nr, FR_TRIGGER_VERDICT_failed, NULL);
		if (told)
			*told = FR_TRIGGER_VERDICT_failed;
	}
	return i;
}

static struct fr_alert *new_alert(struct fr_engine *e, enum fr_trigger_kind kind)
{
	struct fr_alert *a = calloc(1, sizeof(*a));
	struct fr_call now = {};

	if (!a)
		return NULL;
	fr_sess_clocks(e->s, &now);
	a->kind = kind;
	a->mono_ns = now.mono_ns;
	a->uid = a->owner = ~0u;
	return a;
}

int fr_engine_pull_rule(struct fr_engine *e, u32 nr, u64 value_ns, const char *text)
{
	struct fr_alert *a = new_alert(e, e->rule[nr].kind);
	int err;

	if (!a)
		return -ENOMEM;
	a->value_ns = value_ns;
	snprintf(a->text, sizeof(a->text), "%s", text);
	err = engine_pull(e, a, nr, 0, NULL);
	free(a);
	engine_kick(e);
	return err < 0 ? err : 0;
}

int fr_engine_pull(struct fr_engine *e, const struct fr_moment_ask *ask)
{
	struct fr_alert *a = new_alert(e, ask->kind);
	int i;

	if (!a)
		return -ENOMEM;
	a->pid = a->tid = ask->pid;
	a->sig = ask->sig;
	snprintf(a->comm, sizeof(a->comm), "%s", ask->comm ?: "");
	if (ask->sync)
		on_alerts(e, 0); /* decide about earlier moments first */
	i = engine_pull(e, a, rule_of_kind(e, ask->kind), ask->cookie, ask->verdict);
	free(a);
	if (i < 0)
		return i;
	if (ask->last_ns)
		e->tr->pending[i].last_ns = ask->last_ns;
	engine_kick(e);
	if (!ask->sync)
		return 0;
	e->last_err = 0;
	fr_engine_finish(e);
	return e->last_err;
}

/* ---- rules ---- */

/* The longest period of the limits of the rules, and of all of them. */
static u64 longest_ns(const struct fr_engine *e)
{
	const struct fr_config *c = fr_daemon_config(e->d);
	u64 ns = c->storm_cnt ? c->storm_ns : 0;
	u32 i;

	for (i = 0; i < e->rule_cnt; i++) {
		if (e->rule[i].cooldown_ns > ns)
			ns = e->rule[i].cooldown_ns;
		if (e->rule[i].max_cnt && e->rule[i].max_ns > ns)
			ns = e->rule[i].max_ns;
	}
	return ns;
}

/* whole_ns: from when on all grants are known. Earlier ones may still count, but are unknown. */
static void say_forgotten(struct fr_engine *e, u64 known_cnt, u64 whole_ns)
{
	u64 now = engine_now(e);

	if (known_cnt < e->tr->granted_cnt && now > whole_ns && now - whole_ns < longest_ns(e))
		fr_warn("of %llu snapshots for triggers only %llu are known: limits that look back further count just "
			"these",
			e->tr->granted_cnt, known_cnt);
}

/* Earlier grants still count: those of a previous recorder, or those made under other limits. */
static void replay_granted(struct fr_engine *e, struct fr_gate *g)
{
	u64 i, known = 0, whole = 0;
	struct fr_gate_from from;
	struct fr_granted was;
	u32 nr;

	for (i = fr_ledger_first(e->tr); i < e->tr->granted_cnt; i++) {
		if (!fr_ledger_granted(e->ledger, e->tr, i, &was)) {
			whole = 0;
			continue;
		}
		known++;
		nr = engine_rule_of_slot(e, was.slot);
		if (!was.ts || was.slot == SLOT_NONE)
			continue;
		whole = whole ?: was.ts;
		from = (struct fr_gate_from){was.program, was.uid};
		if (nr != FR_RULE_NONE && i >= e->tr->slot[was.slot].first_grant)
			fr_gate_count(g, nr, was.key, from, was.ts);
		else
			fr_gate_seed(g, from, was.ts);
	}
	say_forgotten(e, known, whole);
}

static struct fr_gate_conf gate_conf(const struct fr_engine *e)
{
	const struct fr_config *c = fr_daemon_config(e->d);

	return (struct fr_gate_conf){.storm_cnt = c->storm_cnt, .storm_ns = c->storm_ns};
}

/* Where limits have changed, a new gate; NULL: the one there is continues, with complete knowledge. */
static int new_gate(const struct fr_engine *e, struct fr_gate **out)
{
	const struct fr_gate_conf conf = gate_conf(e);

	*out = NULL;
	if (e->gate && e->gate_conf.storm_cnt == conf.storm_cnt && e->gate_conf.storm_ns == conf.storm_ns)
		return 0;
	return fr_gate_new(&conf, out);
}

static void renumber(struct fr_engine *e, const u32 old_slot[], u32 old_cnt)
{
	int of_nr[FR_TRIGGER_MAX];
	u32 i, k;

	for (i = 0; i < FR_TRIGGER_MAX; i++) {
		of_nr[i] = -1;
		for (k = 0; i < e->known_cnt && k < old_cnt; k++)
			if (old_slot[k] == e->slot_of[i])
				of_nr[i] = k;
	}
	fr_gate_renumber(e->gate, of_nr);
}

/* What new_gate() gave. The rules may have changed their numbers. */
static void use_gate(struct fr_engine *e, struct fr_gate *g, const u32 old_slot[], u32 old_cnt)
{
	if (!g) {
		renumber(e, old_slot, old_cnt);
		return;
	}
	replay_granted(e, g);
	fr_gate_free(e->gate);
	e->gate = g;
	e->gate_conf = gate_conf(e);
}

/* A filter on what is not known does not hold: better said now than found out by a death that had no snapshot. */
static void say_no_cgroups(const struct fr_engine *e, const struct fr_trigger *rule, u32 cnt)
{
	u32 i;

	for (i = 0; i < cnt; i++) {
		int err = *rule[i].cgroup ? fr_cgroup_soon_can_name(e->cgroups) : 0;

		if (err)
			fr_warn("trigger '%s' cannot fire: paths of cgroups are not known here: %s: mount cgroup v2, or the "
				"memory controller's v1 at /sys/fs/cgroup/memory, with CAP_DAC_READ_SEARCH; a container takes "
				"the host's (--cgroupns=host, or --pid=host and CAP_SYS_PTRACE)",
				rule[i].text, strerror(-err));
	}
}

/* Nor are crashes that are refused because a timer has had what all rules may have. */
static void say_storms(const struct fr_engine *e, const struct fr_trigger *rule, u32 cnt)
{
	const struct fr_config *c = fr_daemon_config(e->d);
	char span[32];
	u64 period_ns;
	u32 i;

	for (i = 0; i < cnt; i++) {
		period_ns = rule[i].every_ns > rule[i].cooldown_ns ? rule[i].every_ns : rule[i].cooldown_ns;
		if (rule[i].kind != FR_TRIGGER_every || rule[i].max_cnt || !c->storm_cnt ||
		    c->storm_ns / period_ns < c->storm_cnt)
			continue;
		fr_warn("trigger '%s' alone may take the %u snapshots in %s that all rules together may have, and then each "
			"other one is refused all but its first: take a longer period, add max=N/T, or raise StormCount=",
			rule[i].text, c->storm_cnt, fr_show_duration(c->storm_ns, span, sizeof(span)));
	}
}

/* Are they in force already? A rule's text determines it, except for the number of a user given by name. */
static bool are_in_force(const struct fr_engine *e, const struct fr_trigger *rules, u32 cnt)
{
	u32 i;

	if (!e->gate || cnt != e->rule_cnt)
		return false;
	for (i = 0; i < cnt; i++)
		if (strcmp(rules[i].text, e->rule[i].text) || rules[i].uid != e->rule[i].uid)
			return false;
	return true;
}

/*
 * While new programs were loaded, and even now, the old programs may report moments of rules that have ended. Keep these rules
 * behind the new ones, each with its slot, until the next reload, unless their slot has been reused. Returns the total number.
 */
static u32 keep_ended(const struct fr_engine *e, struct fr_trigger all[], u32 slot[], u32 cnt)
{
	u32 used = 0, i;

	for (i = 0; i < cnt; i++)
		used |= 1u << slot[i];
	for (i = 0; i < e->rule_cnt; i++) {
		if (used >> e->slot_of[i] & 1)
			continue;
		slot[cnt] = e->slot_of[i];
		all[cnt++] = e->rule[i];
	}
	return cnt;
}

/* New programs are loaded last: until then all that fails leaves the old rules in force. */
static int change_rules(struct fr_engine *e, const struct fr_trigger *rules, u32 cnt)
{
	struct fr_trigger *all = calloc(FR_TRIGGER_MAX, sizeof(*all));
	u32 slot[FR_TRIGGER_MAX], old_slot[FR_TRIGGER_MAX], old_cnt = e->rule_cnt;
	struct fr_sources *sources = NULL;
	struct fr_gate *gate = NULL;
	int err = all ? fr_sources_new(e, rules, cnt, &sources) : -ENOMEM;

	err = err ?: fr_sources_start(sources);
	err = err ?: new_gate(e, &gate);
	if (e->gate)
		on_alerts(e, 0); /* waiting alerts are for the old rules */
	err = err ?: fr_trig_load(e->s, rules, cnt, slot);
	if (err) {
		fr_gate_free(gate);
		fr_sources_free(sources);
		free(all);
		return err;
	}
	say_no_cgroups(e, rules, cnt);
	say_storms(e, rules, cnt);
	engine_tell_all_held(e);
	memcpy(all, rules, cnt * sizeof(*all));
	e->known_cnt = keep_ended(e, all, slot, cnt);
	memcpy(old_slot, e->slot_of, sizeof(old_slot));
	memcpy(e->slot_of, slot, sizeof(e->slot_of));
	free(e->rule);
	e->rule = all;
	e->rule_cnt = cnt;
	fr_sources_free(e->sources);
	e->sources = sources;
	use_gate(e, gate, old_slot, old_cnt);
	return 0;
}

/* Programs that stay loaded keep their state: reported gaps, requests in flight, the timers' due times. */
int fr_engine_rules(struct fr_engine *e, const struct fr_trigger *rules, u32 cnt)
{
	struct fr_gate *gate;
	int err;

	if (!are_in_force(e, rules, cnt))
		return change_rules(e, rules, cnt);
	err = new_gate(e, &gate);
	if (err)
		return err;
	if (gate)
		say_storms(e, rules, cnt);
	memcpy(e->rule, rules, cnt * sizeof(*rules));
	use_gate(e, gate, e->slot_of, e->known_cnt);
	return 0;
}

/* ---- begin and end ---- */

/* The recorder also works without it: then a moment during which it is killed may be counted twice, or not at all. */
static int find_ledger(struct fr_engine *e)
{
	int err = e->own ? -ENOENT : fr_trig_ledger_open(e->s, &e->ledger);

	if (err) {
		e->ledger = e->own_ledger = calloc(1, sizeof(*e->own_ledger));
		if (!e->own)
			fr_warn("cannot keep a ledger of triggers with session '%s': %s: if this recorder is killed, counts "
				"may be off by one, and the next one knows of only %u snapshots",
				fr_sess_name(e->s), strerror(-err), FR_GRANTED_MAX - 1);
	}
	if (!e->ledger)
		return -ENOMEM;
	fr_ledger_recover(e->ledger, e->tr);
	return 0;
}

/* The session's, or a private one if it has none. */
static int find_triggers(struct fr_engine *e)
{
	int err;

	e->tr = fr_trig_shared(e->s);
	if (!e->tr)
		e->tr = e->own = calloc(1, sizeof(*e->own));
	if (!e->tr)
		return -ENOMEM;
	err = find_ledger(e);
	if (err || e->own)
		return err;
	err = fr_alerts_open(e->s, &e->alerts);
	return err ?: fr_daemon_watch(e->d, fr_alerts_fd(e->alerts), EPOLLIN, on_alerts, e);
}

int fr_engine_new(struct fr_daemon *d, struct fr_engine **out)
{
	struct fr_engine *e = calloc(1, sizeof(*e));
	int err;

	if (!e)
		return -ENOMEM;
	e->d = d;
	e->s = fr_daemon_sess(d);
	e->running = e->writer_fd = e->post_fd = e->look_fd = -1;
	e->cgroups = fr_cgroup_soon_new(fr_sess_give_up_rings, e->s);
	err = e->cgroups ? find_triggers(e) : -ENOMEM;
	if (err) {
		fr_err("cannot open the queue of triggers of session '%s': %s: end it with `flightrec stop -n %s`",
		       fr_sess_name(e->s), strerror(-err), fr_sess_name(e->s));
		fr_engine_free(e);
		return err;
	}
	memcpy(e->base, e->tr->slot, sizeof(e->base));
	*out = e;
	return 0;
}

int fr_engine_start(struct fr_engine *e)
{
	int err = engine_start_writer(e);

	if (err)
		return err;
	engine_recover(e);
	on_alerts(e, 0);
	fr_writer_wait(e->writer); /* whoever is told that we are ready finds both processes confined */
	return 0;
}

void fr_engine_finish(struct fr_engine *e)
{
	u32 i;

	if (e->gate)
		on_alerts(e, 0);
	for (i = 0; i < FR_PENDING_MAX; i++)
		e->tr->pending[i].due_ns = 0;
	e->finishing = true;
	engine_wait(e);
	e->finishing = false;
	engine_tell_all_held(e);
}

void fr_engine_free(struct fr_engine *e)
{
	if (!e)
		return;
	fr_sources_free(e->sources);
	if (e->alerts)
		fr_daemon_unwatch(e->d, fr_alerts_fd(e->alerts));
	fr_alerts_close(e->alerts);
	if (e->writer_fd >= 0)
		fr_daemon_unwatch(e->d, e->writer_fd);
	fr_writer_stop(e->writer);
	fr_daemon_drop(e->d, &e->post_fd);
	fr_daemon_drop(e->d, &e->look_fd);
	fr_gate_free(e->gate);
	fr_cgroup_soon_free(e->cgroups);
	if (!e->own_ledger)
		fr_trig_ledger_close(e->ledger);
	free(e->own_ledger);
	free(e->rule);
	free(e->own);
	free(e);
}

u64 fr_engine_removed(const struct fr_engine *e)
{
	return e->removed;
}

u64 fr_engine_still_ns(struct fr_engine *e)
{
	return e->writer ? fr_writer_still_ns(e->writer) : 0;
}

bool fr_engine_cannot_end(struct fr_engine *e)
{
	return e && e->writer && fr_writer_cannot_end(e->writer);
}

int fr_engine_listen(struct fr_engine *e, fr_taken_fn fn, void *arg)
{
	if (e->listener_cnt == LISTENER_MAX)
		return -ENOSPC;
	e->listener[e->listener_cnt].fn = fn;
	e->listener[e->listener_cnt++].arg = arg;
	return 0;
}
