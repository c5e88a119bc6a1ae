/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dump_states: how each task is at the moment of the snapshot, right after the rings were copied: a wait that has not ended has
 * no record in them.
 *
 *	list	all tasks, in brief			states_order.h chooses
 *	take	those chosen, some at a time, the most important first, until there are no more or the time is up
 *
 * The time is this thread's own, on the processor: what others do meanwhile takes none of it, and it does not depend on them.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/err.h"
#include "base/schema/syscalls.h"
#include "base/set/idmap.h"
#include "base/set/vec.h"
#include "live/session/sess_states.h"
#include "live/snapshot/dump_int.h"
#include "live/snapshot/states_order.h"
#include "owner.h"
#include "stackbuf.h"
#include "sys/now.h"
#include "wait.h"

#define BRIEF_MAX (1u << 18) /* tasks that are listed: 8 MiB */

struct fr_dump_states {
	struct fr_vec brief; /* struct fr_state_brief: all, then those chosen first */
	struct fr_vec state; /* struct fr_snap_state; object: where its text is in texts, until all is read */
	struct fr_vec
		lock; /* struct fr_dump_lock: of those that wait for one of which memory or kernel may tell who holds it */
	struct fr_vec task;		  /* struct fr_snap_task: who they are, one for each */
	struct fr_vec texts;		  /* char */
	s32 futex_nr, flock_nr, fcntl_nr; /* -1: not known */
	struct fr_vec frames;		  /* u64 */
	struct fr_idmap stacks;
	struct fr_states_counts cnt;
	u64 begin_ns;	     /* recording clock, */
	u64 begin_cpu_ns;    /* and this thread's */
	u64 cpu_ns;	     /* that it took */
	const char *missing; /* why there are none, NULL: there are */
	struct fr_idmap due; /* of a slice: by tid, the task's place in brief + 1 */
};

struct stack {
	size_t at; /* in frames */
	u32 cnt;
};

static u64 used_ns(const struct fr_dump_states *t)
{
	return fr_now_ns(CLOCK_THREAD_CPUTIME_ID) - t->begin_cpu_ns;
}

/* ---- list ---- */

static long take_briefs(void *arg, const u8 *buf, size_t sz)
{
	struct fr_dump_states *t = arg;
	size_t cnt = sz / sizeof(struct fr_state_brief);

	if (used_ns(t) > FR_STATES_LIST_NS || t->brief.cnt + cnt > BRIEF_MAX) {
		t->cnt.late = 1; /* how many is counted then */
		return -ECANCELED;
	}
	return fr_vec_add(&t->brief, buf, cnt) ?: (long)(cnt * sizeof(struct fr_state_brief));
}

static long take_count(void *arg, const u8 *buf, size_t sz)
{
	struct fr_dump_states *t = arg;
	struct fr_states_cnt cnt;

	if (sz < sizeof(cnt))
		return 0;
	memcpy(&cnt, buf, sizeof(cnt));
	t->cnt.seen = cnt.task_cnt;
	return sizeof(cnt);
}

/* Where listing has ended for lack of time, all are counted, so that the file says how many it lacks. */
static int states_list(const struct fr_sess *s, struct fr_dump_states *t)
{
	int err = fr_sess_states_read(s, FR_STATES_LIST, take_briefs, t);

	if (!err && t->cnt.late)
		err = fr_sess_states_read(s, FR_STATES_COUNT, take_count, t);
	if (t->cnt.seen < t->brief.cnt)
		t->cnt.seen = t->brief.cnt;
	t->cnt.late = t->cnt.seen - t->brief.cnt;
	return err;
}

/* ---- take ---- */

static int states_keep_stack(struct fr_dump_states *t, const u64 *pc, u32 cnt, u64 *id)
{
	struct stack *s;

	*id = fr_stack_id(pc, cnt, 0);
	s = fr_idmap_get(&t->stacks, *id);
	if (!s)
		return -ENOMEM;
	if (s->cnt)
		return 0;
	*s = (struct stack){t->frames.cnt, cnt};
	return fr_vec_add(&t->frames, pc, cnt);
}

/* What a table of waits says of a time behind the look's is of a later moment, or of another CPU's clock. */
static u64 not_behind(u64 ts, u64 at_ns)
{
	return ts < at_ns ? ts : at_ns;
}

static void fill_state(const struct fr_state_rec *r, struct fr_snap_state *s)
{
	*s = (struct fr_snap_state){
		.tid = r->tid,
		.start_ns = r->start_ns,
		.at_ns = r->at_ns,
		.since_ns = not_behind(r->since_ns, r->at_ns),
		.woken_ns = not_behind(r->woken_ns, r->at_ns),
		.cgroup = r->cgroup,
		.id = r->in == FR_WAITED_call ? r->id : -1,
		.waker_tid = r->waker_tid,
		.prio = r->prio,
		.state = r->state,
		.cpu = r->cpu,
		.abi = r->abi,
		.in = r->in,
		.waker = r->waker,
		.policy = r->policy,
		.flags = r->flags,
		.allowed_cnt = r->allowed_cnt,
	};
	memcpy(s->arg, r->arg, sizeof(s->arg));
}

static void fill_task(const struct fr_state_rec *r, struct fr_snap_task *task)
{
	*task = (struct fr_snap_task){
		.tid = r->tid,
		.task = {.tgid = r->tgid,
			 .ppid = r->ppid,
			 .flags = FR_TASK_SEEDED | (r->kthread ? FR_TASK_KTHREAD : 0),
			 .cgroup = r->cgroup},
		.start_ns = r->start_ns,
	};
	memcpy(task->task.comm, r->comm, FR_COMM_SZ - 1);
	memcpy(task->task.first_comm, r->comm, FR_COMM_SZ - 1);
}

static bool states_in_file_lock(const struct fr_dump_states *t, const struct fr_state_rec *r)
{
	return r->id == t->flock_nr || (r->id == t->fcntl_nr && r->arg[1] == F_SETLKW);
}

/* It waits in futex(), and the lock's memory may say who holds it; or for a lock of a file. */
static int states_keep_lock(struct fr_dump_states *t, const struct fr_state_rec *r)
{
	const struct fr_dump_lock l = {
		.addr = r->arg[0],
		.switch_cnt = r->switch_cnt,
		.tid = r->tid,
		.tgid = r->tgid,
		.op = r->arg[1],
		.val = r->arg[2],
		.fd = r->arg[0],
		.is_file = states_in_file_lock(t, r),
		.state = t->state.cnt,
	};
	bool in_call = r->in == FR_WAITED_call && !r->abi && r->id >= 0 && r->state,
	     may_tell = l.is_file || (r->id == t->futex_nr && fr_owner_sz(l.op, l.val));

	return in_call && may_tell ? fr_vec_add(&t->lock, &l, 1) : 0;
}

/* Texts begin at 1: 0 is none. */
static int states_keep(struct fr_dump_states *t, const struct fr_state_rec *r, const char *object, const u64 *pc)
{
	struct fr_snap_state s;
	struct fr_snap_task task;
	int err = 0;

	fill_state(r, &s);
	fill_task(r, &task);
	if (r->object_sz)
		s.object = (const char *)(t->texts.cnt + 1);
	if (r->object_sz)
		err = fr_vec_add(&t->texts, object, strnlen(object, r->object_sz - 1)) ?: fr_vec_add(&t->texts, "", 1);
	if (r->frame_cnt)
		err = err ?: states_keep_stack(t, pc, r->frame_cnt, &s.kstack_id);
	err = err ?: states_keep_lock(t, r) ?: fr_vec_add(&t->state, &s, 1);
	return err ?: fr_vec_add(&t->task, &task, 1);
}

/* Was this task chosen, and not taken yet? Others of the same bit come, too. */
static bool states_is_due(struct fr_dump_states *t, const struct fr_state_rec *r)
{
	const struct fr_state_brief *b = t->brief.at;
	const u32 *place = fr_idmap_find(&t->due, r->tid);

	if (!place || b[*place - 1].start_ns != r->start_ns)
		return false;
	fr_idmap_drop(&t->due, r->tid);
	return true;
}

/* One record with what follows it, of the size returned; 0: it is not whole; -errno. */
static long states_take_one(struct fr_dump_states *t, const u8 *buf, size_t sz)
{
	u64 pc[FR_STACK_DEPTH_MAX];
	size_t object_sz, frames_sz;
	struct fr_state_rec r;
	int err;

	if (sz < sizeof(r))
		return 0;
	memcpy(&r, buf, sizeof(r));
	object_sz = (r.object_sz + 7u) & ~7u;
	frames_sz = r.frame_cnt * sizeof(u64);
	if (r.object_sz > FR_STATES_OBJECT_MAX || r.frame_cnt > FR_STACK_DEPTH_MAX)
		return -EPROTO;
	if (sz < sizeof(r) + object_sz + frames_sz)
		return 0;
	memcpy(pc, buf + sizeof(r) + object_sz, frames_sz);
	err = states_is_due(t, &r) ? states_keep(t, &r, (const char *)buf + sizeof(r), pc) : 0;
	return err ?: (long)(sizeof(r) + object_sz + frames_sz);
}

static long states_take_states(void *arg, const u8 *buf, size_t sz)
{
	struct fr_dump_states *t = arg;
	size_t took = 0;
	long one;

	while ((one = states_take_one(t, buf + took, sz - took)) > 0)
		took += one;
	if (one < 0)
		return one;
	return used_ns(t) > FR_STATES_CPU_NS ? -ECANCELED : (long)took;
}

static int states_ask_for(struct fr_dump_states *t, struct fr_states_wanted *w, size_t from, size_t to)
{
	const struct fr_state_brief *b = t->brief.at;
	u32 *place;

	fr_states_wanted_clear(w);
	fr_idmap_clear(&t->due);
	for (; from < to; from++) {
		place = fr_idmap_get(&t->due, b[from].tid);
		if (!place)
			return -ENOMEM;
		*place = from + 1;
		fr_states_wanted_add(w, b[from].tid);
	}
	return 0;
}

static int states_take(const struct fr_sess *s, struct fr_dump_states *t, size_t cnt)
{
	struct fr_states_wanted *w = NULL;
	int err = fr_sess_states_wanted(s, &w);
	size_t done = 0, had, n;

	while (!err && done < cnt && used_ns(t) <= FR_STATES_CPU_NS) {
		n = fr_states_slice(done, cnt);
		had = t->state.cnt;
		err = states_ask_for(t, w, done, done + n) ?: fr_sess_states_read(s, FR_STATES_TAKE, states_take_states, t);
		done += n;
		if (used_ns(t) <= FR_STATES_CPU_NS)
			t->cnt.gone += n - (t->state.cnt - had);
	}
	fr_states_wanted_close(w);
	t->cnt.taken = t->state.cnt;
	t->cnt.late += cnt - t->cnt.taken - t->cnt.gone;
	return err;
}

/* ---- all ---- */

static struct fr_dump_states *states_new(void)
{
	struct fr_dump_states *t = calloc(1, sizeof(*t));
	struct utsname un;

	if (!t)
		return NULL;
	if (uname(&un))
		*un.machine = 0;
	t->futex_nr = fr_syscall_nr(un.machine, 0, "futex");
	t->flock_nr = fr_syscall_nr(un.machine, 0, "flock");
	t->fcntl_nr = fr_syscall_nr(un.machine, 0, "fcntl");
	t->brief.item_sz = sizeof(struct fr_state_brief);
	t->state.item_sz = sizeof(struct fr_snap_state);
	t->lock.item_sz = sizeof(struct fr_dump_lock);
	t->task.item_sz = sizeof(struct fr_snap_task);
	t->texts.item_sz = 1;
	t->frames.item_sz = sizeof(u64);
	fr_idmap_init(&t->stacks, sizeof(struct stack));
	fr_idmap_init(&t->due, sizeof(u32));
	return t;
}

void fr_dump_states_free(struct fr_dump_states *t)
{
	if (!t)
		return;
	fr_vec_free(&t->brief);
	fr_vec_free(&t->state);
	fr_vec_free(&t->lock);
	fr_vec_free(&t->task);
	fr_vec_free(&t->texts);
	fr_vec_free(&t->frames);
	fr_idmap_free(&t->stacks);
	fr_idmap_free(&t->due);
	free(t);
}

/* Objects were places among texts, which moved while they grew. */
static void find_objects(struct fr_dump_states *t)
{
	struct fr_snap_state *s = t->state.at;
	size_t i;

	for (i = 0; i < t->state.cnt; i++)
		s[i].object = s[i].object ? (const char *)t->texts.at + (size_t)s[i].object - 1 : NULL;
}

static int states_look(struct fr_dump *d, struct fr_dump_states *t)
{
	struct fr_call now;
	size_t cnt;
	int err = fr_sess_clocks(d->s, &now);

	if (err)
		return err;
	t->begin_ns = now.ns;
	t->begin_cpu_ns = fr_now_ns(CLOCK_THREAD_CPUTIME_ID);
	err = states_list(d->s, t);
	if (err)
		return err;
	cnt = fr_states_order(t->brief.at, t->brief.cnt, d->ask->pid, now.ns, &t->cnt);
	err = states_take(d->s, t, cnt);
	t->cpu_ns = used_ns(t);
	find_objects(t);
	return err;
}

/* A session whose kernel has none says so in its facts. */
void fr_dump_find_states(struct fr_dump *d)
{
	int err;

	if (!d->s || d->ask->only_tiers)
		return;
	d->states = states_new();
	err = d->states ? states_look(d, d->states) : -ENOMEM;
	if (d->states && err)
		d->states->missing = err == -ENOENT ? "the session has no programs for it" : strerror(-err);
	if (err && err != -ENOENT)
		fr_warn_errno(err, "what tasks are waiting for is not in the snapshot");
}

static int states_put_facts(struct fr_dump *d, const struct fr_dump_states *t)
{
	const struct fr_states_counts *c = &t->cnt;
	int err;

#define FORM(name, doc)	 ";" #name "=%llu"
#define VALUE(name, doc) , c->name
	err = fr_snap_put_fact(d->w, "states", &(FR_STATES_COUNTS(FORM))[1] FR_STATES_COUNTS(VALUE));
#undef FORM
#undef VALUE
	err = err ?: fr_snap_put_fact(d->w, "states_ns", "%llu", t->begin_ns);
	return err ?: fr_snap_put_fact(d->w, "states_cpu_ns", "%llu", t->cpu_ns);
}

int fr_dump_put_state_facts(struct fr_dump *d)
{
	char *known = d->states ? fr_sess_fact(d->s, "states_missing") : NULL;
	int err = 0;

	if (d->states && !d->states->missing)
		err = states_put_facts(d, d->states);
	else if (d->states && !known)
		err = fr_snap_put_fact(d->w, "states_missing", "%s", d->states->missing);
	free(known);
	return err;
}

static int states_by_task(const void *a, const void *b)
{
	const struct fr_snap_task *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

/* Those that the table of tasks lacks, which may have been full. It is sorted for that; in a file, the order means nothing. */
static int states_add_tasks(const struct fr_dump_states *t, struct fr_vec *task)
{
	const struct fr_snap_task *mine = t->task.at;
	size_t cnt = task->cnt, i;
	int err = 0;

	if (cnt)
		qsort(task->at, cnt, sizeof(*mine), states_by_task);
	for (i = 0; i < t->task.cnt && !err; i++)
		if (!cnt || !bsearch(&mine[i], task->at, cnt, sizeof(*mine), states_by_task))
			err = fr_vec_add(task, &mine[i], 1);
	return err;
}

int fr_dump_add_states(struct fr_dump *d, struct fr_meta *m)
{
	const struct fr_dump_states *t = d->states;

	return t && !t->missing ? states_add_tasks(t, &m->task) : 0;
}

int fr_dump_find_locks(const struct fr_dump *d, struct fr_vec *lock)
{
	const struct fr_dump_states *t = d->states;

	return t && !t->missing && t->lock.cnt ? fr_vec_add(lock, t->lock.at, t->lock.cnt) : 0;
}

void fr_dump_state_is_owned(struct fr_dump *d, size_t state, u32 owner)
{
	((struct fr_snap_state *)d->states->state.at)[state].owner_tid = owner;
}

int fr_dump_put_states(struct fr_dump *d)
{
	const struct fr_dump_states *t = d->states;

	return t && !t->missing ? fr_snap_put_states(d->w, t->state.at, t->state.cnt) : 0;
}

static int states_put_stack(struct fr_dump *d, u64 ts, u64 id, u64 *pc, u32 cnt)
{
	const struct fr_dump_stack_row row = {.ts = ts, .id = id, .event = "stack", .field = "frames", .num = pc, .cnt = cnt};
	u32 i;

	for (i = 0; d->addrs && i < cnt; i++)
		fr_addrs_add(d->addrs, pc[i], 0);
	return fr_dump_put_stack_row(d, &row);
}

int fr_dump_put_state_stacks(struct fr_dump *d)
{
	struct fr_dump_states *t = d->states;
	struct fr_snap_state *s;
	struct stack *stack;
	size_t i;
	int err = 0;

	if (!t || t->missing || !d->src_cnt)
		return 0;
	s = t->state.at;
	for (i = 0; i < t->state.cnt && !err; i++) {
		stack = s[i].kstack_id ? fr_idmap_find(&t->stacks, s[i].kstack_id) : NULL;
		if (!stack || !stack->cnt)
			continue;
		err = states_put_stack(d, s[i].at_ns, s[i].kstack_id, (u64 *)t->frames.at + stack->at, stack->cnt);
		stack->cnt = 0; /* once */
	}
	return err;
}
