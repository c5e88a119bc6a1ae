/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rehearse_death: ends of processes, as bpf/trigger/{crash,exit,oom}.bpf.c see them, found in a file.
 *
 * When a signal is delivered, a program in the kernel knows more than the event says: what was decided for the whole process,
 * and whether the process is immune. The file shows the outcome: the thread's exit code is what was decided. So deliveries and
 * exits of the life tier are gathered first:
 *
 *	deliver SEGV ... exit 139	it died of it
 *	deliver KILL ... exit 143	it died of TERM, which another thread took or which dumps no core
 *	deliver KILL ... exit 0		another thread executed a program, or ended the process by exit_group()
 *	deliver TERM ... deliver TERM	it survived: the init of a PID namespace
 *	deliver ... (nothing)		the file ends: the signal is taken to be fatal
 *
 * If an event `crash` follows, which a rule wrote while the file was recorded, that event is the moment, as it was live.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/set/vec.h"
#include "read/rehearse/rehearse_int.h"

#define CRASH_BEHIND_NS \
	2000000000ULL /* the event of a crash is written at its delivery or exit; two stacks are taken between */

struct end {
	u64 ts;
	u32 tid;
	u8 what;   /* FR_RE_DELIVER, CRASH, EXIT or FORK: born */
	u8 late;   /* CRASH */
	s32 value; /* signal, exit code */
};

struct fr_re_deaths {
	struct end *end;
	size_t cnt;
	struct fr_idmap told;	/* pid: the end of this process was told */
	struct fr_idmap caller; /* pid: u32, the thread that ended it by a call; 0: none is known */
};

/* ---- what is gathered ---- */

static bool make_end(const struct fr_re_schema *s, const struct fr_row *r, struct end *e)
{
	enum fr_re_what what = s->what[r->ev->nr];

	*e = (struct end){.ts = r->ts, .tid = r->tid, .what = what};
	switch (what) {
	case FR_RE_DELIVER:
		e->value = fr_re_num(s, r, what, 0);
		return fr_re_num(s, r, what, 1);
	case FR_RE_CRASH:
		e->value = fr_re_num(s, r, what, 0);
		e->late = fr_re_num(s, r, what, 1);
		return true;
	case FR_RE_EXIT:
		e->value = fr_re_num(s, r, what, 0);
		return true;
	case FR_RE_FORK:
		e->tid = fr_re_num(s, r, what, 0);
		return true;
	default:
		return false;
	}
}

static int death_add_end(struct fr_re_deaths *d, const struct end *e)
{
	struct end *end = fr_vec_more(&d->end, d->cnt);

	if (!end)
		return -ENOMEM;
	d->cnt++;
	*end = *e;
	return 0;
}

struct gather {
	struct fr_re *re;
	struct fr_re_deaths *deaths;
	const struct fr_re_schema *schema;
};

static int death_add_row(void *arg, const struct fr_row *r)
{
	const struct gather *g = arg;
	struct end e;

	g->re->report_cnt += g->schema->what[r->ev->nr] == FR_RE_REPORT;
	return make_end(g->schema, r, &e) ? death_add_end(g->deaths, &e) : 0;
}

static int death_add_file(struct fr_re *re, struct fr_re_deaths *d, u32 file)
{
	struct gather g = {re, d, &re->h->schema[file]};

	return fr_re_each_life((struct fr_snap *)fr_replay_snap(re->h->replay, file), death_add_row, &g);
}

static int death_by_tid_and_time(const void *a, const void *b)
{
	const struct end *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->ts != y->ts)
		return x->ts < y->ts ? -1 : 1;
	return (int)x->what - (int)y->what;
}

int fr_re_deaths_new(struct fr_re *re, struct fr_re_deaths **out)
{
	struct fr_re_deaths *d = calloc(1, sizeof(*d));
	struct fr_rehearse *h = re->h;
	int err = 0;
	u32 i;

	if (!d)
		return -ENOMEM;
	fr_idmap_init(&d->told, sizeof(bool));
	fr_idmap_init(&d->caller, sizeof(u32));
	for (i = 0; i < fr_replay_file_cnt(h->replay) && !err; i++)
		if (fr_replay_boot(h->replay, i) == re->boot)
			err = death_add_file(re, d, i);
	if (!err && d->cnt)
		qsort(d->end, d->cnt, sizeof(*d->end), death_by_tid_and_time);
	if (err)
		fr_re_deaths_free(d);
	else
		*out = d;
	return err;
}

void fr_re_deaths_free(struct fr_re_deaths *d)
{
	if (!d)
		return;
	fr_idmap_free(&d->told);
	fr_idmap_free(&d->caller);
	free(d->end);
	free(d);
}

/* ---- what came of it ---- */

/* Index of the first after (tid, ts), of this thread or the next. The same event from another file is skipped. */
static size_t nr_behind(const struct fr_re_deaths *d, u32 tid, u64 ts)
{
	size_t lo = 0, hi = d->cnt, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (d->end[mid].tid < tid || (d->end[mid].tid == tid && d->end[mid].ts <= ts))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The first after (tid, ts), and in *cnt how many of this thread there are from there on. */
static const struct end *death_behind(const struct fr_re_deaths *d, u32 tid, u64 ts, size_t *cnt)
{
	size_t lo = nr_behind(d, tid, ts);

	for (*cnt = 0; lo + *cnt < d->cnt && d->end[lo + *cnt].tid == tid; (*cnt)++)
		;
	return lo ? d->end + lo : d->end; /* of none there is no list */
}

/* Does an event `crash` report the same death? */
static bool crash_follows(const struct fr_re_deaths *d, u32 tid, u64 ts, bool late)
{
	size_t cnt, i;
	const struct end *e = death_behind(d, tid, ts, &cnt);

	for (i = 0; i < cnt && e[i].what != FR_RE_FORK && e[i].ts - ts < CRASH_BEHIND_NS; i++)
		if (e[i].what == FR_RE_CRASH && e[i].late == late)
			return true;
	return false;
}

/* The signal that ended the process at this delivery, 0: it went on. */
static u32 died_of(const struct fr_re_deaths *d, u32 tid, u64 ts, u32 sig)
{
	size_t cnt, i;
	const struct end *e = death_behind(d, tid, ts, &cnt);

	for (i = 0; i < cnt && e[i].what != FR_RE_FORK; i++) {
		if (e[i].what == FR_RE_DELIVER && e[i].value != FR_SIGKILL)
			return fr_fatal_signal(sig, true, 0); /* it survived */
		if (e[i].what == FR_RE_EXIT)
			return fr_fatal_signal(sig, !fr_wait_signal(e[i].value), e[i].value);
	}
	return fr_fatal_signal(sig, false, sig);
}

/* The exit code of a thread that ended at or before ts; 0: it has not ended, or its code is not known. */
static s32 exit_code_of(const struct fr_re_deaths *d, u32 tid, u64 ts)
{
	size_t nr = nr_behind(d, tid, ts);

	for (; nr && d->end[nr - 1].tid == tid && d->end[nr - 1].what != FR_RE_FORK; nr--)
		if (d->end[nr - 1].what == FR_RE_EXIT)
			return d->end[nr - 1].value;
	return 0;
}

/*
 * The exit code as wait() returns it. The file does not say whether one end was decided for all threads. But if it was, the
 * last thread ends with it too; and a thread that ends alone, by pthread_exit(), ends with 0.
 */
static s32 code_of_process(const struct fr_re_deaths *d, u32 pid, u64 ts, s32 last_code)
{
	return fr_wait_code(last_code, last_code, exit_code_of(d, pid, ts));
}

/* ---- rules ---- */

static u32 rules_for(const struct fr_re *re, u32 kind, u32 value)
{
	u32 set = 0, i;

	for (i = 0; i < re->h->rule_cnt; i++)
		if (fr_rule_is_for_death(&re->h->bpf[i], kind, value))
			set |= 1u << i;
	return set;
}

/* As fr_death_is_first() in bpf/trigger/crash.bpf.c. */
static bool is_first(struct fr_re_deaths *d, u32 pid)
{
	bool *told = fr_idmap_get(&d->told, pid), was = told && *told;

	if (told)
		*told = true;
	return !was;
}

/* The moment's process dies: report that to the rules that match. */
static int death(struct fr_re *re, u32 value)
{
	struct fr_moment *m = &re->moment.m;
	u32 set = rules_for(re, m->kind, value);

	set = set ? fr_re_passing(re, set, re->moment.comm, m->uid) : 0;
	return set && is_first(re->deaths, m->pid ?: m->tid) ? fr_re_tell(re, set) : 0;
}

/* late: the crash was seen only when the process ended. */
static int crash(struct fr_re *re, const struct fr_row *r, u32 sig, u64 ip, u32 uid, bool late)
{
	struct fr_moment *m;

	if (!sig || !rules_for(re, FR_TRIGGER_crash, sig))
		return 0;
	m = fr_re_moment(re, FR_TRIGGER_crash, r->ts, r->tid, r->cpu);
	m->sig = sig;
	m->ip = ip;
	m->uid = m->owner = uid;
	m->core = fr_sig_in(sig, FR_SIG_CORE);
	if (late)
		fr_re_name_process(re, r->cpu);
	return death(re, sig);
}

static int on_deliver(struct fr_re *re, const struct fr_re_schema *s, const struct fr_row *r)
{
	u32 sig = fr_re_num(s, r, FR_RE_DELIVER, 0);

	if (!fr_re_num(s, r, FR_RE_DELIVER, 1) || crash_follows(re->deaths, r->tid, r->ts, false))
		return 0;
	return crash(re, r, died_of(re->deaths, r->tid, r->ts, sig), fr_re_num(s, r, FR_RE_DELIVER, 2), ~0u, false);
}

static int on_crash(struct fr_re *re, const struct fr_re_schema *s, const struct fr_row *r)
{
	return crash(re, r, fr_re_num(s, r, FR_RE_CRASH, 0), fr_re_num(s, r, FR_RE_CRASH, 2), fr_re_num(s, r, FR_RE_CRASH, 3),
		     fr_re_num(s, r, FR_RE_CRASH, 1));
}

/* A thread that ends its process tells so. */
static int on_failure(struct fr_re *re, const struct fr_re_schema *s, const struct fr_row *r)
{
	struct fr_who who = fr_names_who(re->view->names, r->tid, r->ts, r->cpu);
	u32 *caller = fr_re_num(s, r, FR_RE_FAILURE, 0)
			      ? NULL
			      : fr_idmap_get(&re->deaths->caller, who.pid > 0 ? (u32)who.pid : r->tid);

	if (caller && !*caller)
		*caller = r->tid;
	return 0;
}

/* Who ended the process: by its own word, or else its last thread. */
static u32 caller_of(const struct fr_re_deaths *d, u32 pid, u32 last)
{
	const u32 *caller = fr_idmap_find(&d->caller, pid);

	return caller && *caller ? *caller : last;
}

static int death_on_end(struct fr_re *re, const struct fr_re_schema *s, const struct fr_row *r)
{
	struct fr_who who = fr_names_who(re->view->names, r->tid, r->ts, r->cpu);
	u32 pid = who.pid > 0 ? (u32)who.pid : r->tid, status;
	struct fr_moment *m;
	s32 code;

	if (!fr_re_num(s, r, FR_RE_EXIT, 1) || fr_re_is_kthread(re->who, r->tid))
		return 0;
	code = code_of_process(re->deaths, pid, r->ts, fr_re_num(s, r, FR_RE_EXIT, 0));
	if (fr_wait_signal(code))
		return crash_follows(re->deaths, r->tid, r->ts, true) ? 0 : crash(re, r, fr_wait_signal(code), 0, ~0u, true);
	status = fr_wait_status(code);
	if (!rules_for(re, FR_TRIGGER_status, status))
		return 0;
	m = fr_re_moment(re, FR_TRIGGER_status, r->ts, r->tid, r->cpu);
	m->status = status;
	m->tid = caller_of(re->deaths, pid, r->tid);
	fr_re_name_process(re, r->cpu);
	return death(re, status);
}

/* Some kernels' tracepoint gives only a pid: all else is 0 then. */
static int on_victim(struct fr_re *re, const struct fr_re_schema *s, const struct fr_row *r)
{
	u32 tid = fr_re_num(s, r, FR_RE_VICTIM, 0), i, set = rules_for(re, FR_TRIGGER_oom, 0);
	u32 uid = fr_re_num(s, r, FR_RE_VICTIM, 2) ? fr_re_num(s, r, FR_RE_VICTIM, 1) : ~0u;
	struct fr_moment *m;

	for (i = 0; i < re->h->rule_cnt; i++)
		if (!fr_rule_user_fits(&re->h->bpf[i], uid))
			set &= ~(1u << i);
	if (!set)
		return 0;
	m = fr_re_moment(re, FR_TRIGGER_oom, r->ts, tid, r->cpu);
	m->sig = FR_SIGKILL;
	m->uid = m->owner = uid;
	return fr_re_tell(re, set);
}

int fr_re_deaths_row(struct fr_re *re, const struct fr_re_schema *s, enum fr_re_what what, const struct fr_row *r)
{
	switch (what) {
	case FR_RE_FORK:
		fr_idmap_drop(&re->deaths->told, fr_re_num(s, r, FR_RE_FORK, 0));
		fr_idmap_drop(&re->deaths->caller, fr_re_num(s, r, FR_RE_FORK, 0));
		return 0;
	case FR_RE_DELIVER:
		return on_deliver(re, s, r);
	case FR_RE_CRASH:
		return on_crash(re, s, r);
	case FR_RE_FAILURE:
		return on_failure(re, s, r);
	case FR_RE_EXIT:
		return death_on_end(re, s, r);
	case FR_RE_VICTIM:
		return on_victim(re, s, r);
	default:
		return 0;
	}
}
