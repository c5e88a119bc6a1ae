/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rehearse_look: tasks that are off the CPU, or do not sleep, for too long, as bpf/trigger/look.bpf.c finds them, by the same
 * bpf/look.h: what a look sees is made of the switches before it. The kernel's counts of switches are counted here, and since
 * when is known from the switch and the waking themselves, as from the table of waits. Nothing is found where events are
 * missing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/trigger/trig_lat.h"
#include "look.h"
#include "read/rehearse/rehearse_int.h"
#include "task_state.h"

#define LOOK_TOLD_MAX 16u /* of each kind in one look, as live */
#define ABI_NATIVE    0u

/* A task, from its first event to its last. */
struct looked {
	struct fr_look_task look;
	u64 vol, switches;  /* seen so far */
	u64 ran_ns;	    /* in runs that have ended */
	u64 ran_since_ns;   /* it is on a CPU since then, 0: it is not */
	u64 left_ns, up_ns; /* when it left its CPU, and was woken last; 0: not known */
	u32 state;	    /* as it left */
	s32 call;	    /* it is in this native call, -1: none known */
	u16 cpu;
	bool begun;
};

struct fr_re_look {
	u32 kinds; /* bit set: rules of this kind */
	struct fr_re_known *known;
	struct fr_idmap task;
};

int fr_re_look_new(struct fr_re *re, struct fr_re_look **out)
{
	struct fr_re_look *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->kinds = re->h->kinds & (1u << FR_TRIGGER_asleep | 1u << FR_TRIGGER_busy);
	fr_idmap_init(&l->task, sizeof(struct looked));
	if (fr_re_known_new(re, &l->known)) {
		fr_re_look_free(l);
		return -ENOMEM;
	}
	*out = l;
	return 0;
}

void fr_re_look_free(struct fr_re_look *l)
{
	if (!l)
		return;
	fr_idmap_free(&l->task);
	fr_re_known_free(l->known);
	free(l);
}

static bool look_is_known(struct fr_re_look *l, u64 ts)
{
	bool anew = false, known = fr_re_is_known(l->known, ts, &anew);

	if (anew)
		fr_idmap_clear(&l->task);
	return known;
}

/* ---- events ---- */

static struct looked *look_get(struct fr_re_look *l, u32 tid)
{
	struct looked *t = fr_idmap_get(&l->task, tid);

	if (t && !t->begun) {
		t->begun = true;
		t->call = -1;
	}
	return t;
}

static void look_leaves(struct looked *t, const struct fr_row *r, u32 prev_state)
{
	bool sleeps = prev_state & FR_PREV_STATE_WAITS;

	if (t->ran_since_ns)
		t->ran_ns += fr_lat_since(t->ran_since_ns, r->ts);
	t->ran_since_ns = 0;
	t->left_ns = r->ts;
	t->state = sleeps ? prev_state : 0;
	t->vol += sleeps;
	t->switches++;
	if (sleeps)
		t->up_ns = 0;
}

static int look_switch(struct fr_re_look *l, const struct fr_re_schema *s, const struct fr_row *r)
{
	u32 next = fr_re_num(s, r, FR_RE_SWITCH, 0), prev_state = fr_re_num(s, r, FR_RE_SWITCH, 1);
	struct looked *t;

	if (r->tid && prev_state & FR_PREV_STATE_ENDED) {
		fr_idmap_drop(&l->task, r->tid);
	} else if (r->tid) {
		t = look_get(l, r->tid);
		if (!t)
			return -ENOMEM;
		look_leaves(t, r, prev_state);
	}
	t = next ? look_get(l, next) : NULL;
	if (next && !t)
		return -ENOMEM;
	if (!t)
		return 0;
	t->ran_since_ns = r->ts;
	t->cpu = r->cpu;
	t->left_ns = 0;
	t->state = 0;
	return 0;
}

static void look_woken(struct fr_re_look *l, u32 tid, u64 ts)
{
	struct looked *t = fr_idmap_find(&l->task, tid);

	if (t && t->state) {
		t->state = 0;
		t->up_ns = ts;
	}
}

static void look_call(struct fr_re_look *l, u32 tid, s32 call)
{
	struct looked *t = fr_idmap_find(&l->task, tid);

	if (t)
		t->call = call;
}

int fr_re_look_row(struct fr_re *re, const struct fr_re_schema *s, enum fr_re_what what, const struct fr_row *r)
{
	struct fr_re_look *l = re->look;

	if (!l->kinds || !look_is_known(l, r->ts))
		return 0;
	switch (what) {
	case FR_RE_GOVERNOR: /* before or after this something was not recorded */
		fr_idmap_clear(&l->task);
		return 0;
	case FR_RE_SWITCH:
		return look_switch(l, s, r);
	case FR_RE_WAKING:
	case FR_RE_WAKEUP_NEW:
		look_woken(l, fr_re_num(s, r, what, 0), r->ts);
		return 0;
	case FR_RE_FORK:
		fr_idmap_drop(&l->task, fr_re_num(s, r, what, 0));
		return 0;
	case FR_RE_EXIT:
		fr_idmap_drop(&l->task, r->tid);
		return 0;
	case FR_RE_SYS_ENTER:
		look_call(l, r->tid, fr_re_num(s, r, what, 1) == ABI_NATIVE ? (s32)fr_re_num(s, r, what, 0) : -1);
		return 0;
	case FR_RE_SYS_EXIT:
		look_call(l, r->tid, -1);
		return 0;
	default:
		return 0;
	}
}

/* ---- a look ---- */

struct looks {
	u32 *tid;
	u32 cnt;
};

static bool look_note(void *arg, u64 tid, void *record)
{
	struct looks *k = arg;

	(void)record;
	k->tid[k->cnt++] = tid;
	return false;
}

static int look_by_number(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return x < y ? -1 : x > y;
}

static struct fr_look_seen look_sees(const struct looked *t, u64 now_ns)
{
	return (struct fr_look_seen){
		.start_ns = now_ns,
		.end_ns = now_ns,
		.vol = t->vol,
		.switches = t->switches,
		.ran_ns = t->ran_ns + (t->ran_since_ns ? fr_lat_since(t->ran_since_ns, now_ns) : 0),
		.away_ns = t->left_ns ? fr_lat_since(t->left_ns, now_ns) : 0,
		.up_ns = t->up_ns ? fr_lat_since(t->up_ns, now_ns) : 0,
		.on_cpu = t->ran_since_ns != 0,
		.sleeps = t->state != 0,
	};
}

static u32 look_rules(const struct fr_re *re, u32 kind, u64 value_ns, s32 call, u32 said)
{
	u32 set = 0, i;

	for (i = 0; i < re->h->rule_cnt; i++)
		set |= (u32) !!fr_rule_is_for_look(&re->h->bpf[i], kind, value_ns, call) << i;
	return set & ~said;
}

/* As tell_asleep() and tell_busy() of bpf/trigger/look.bpf.c. */
static int look_tell(struct fr_re *re, u32 kind, u64 now_ns, u32 tid, struct looked *t, u64 value_ns, u64 what, u32 *left)
{
	u32 *said = kind == FR_TRIGGER_asleep ? &t->look.off_said : &t->look.awake_said;
	u32 set = value_ns ? look_rules(re, kind, value_ns, kind == FR_TRIGGER_asleep ? t->call : -1, *said) : 0;
	struct fr_moment *m;

	if (!set || !*left)
		return 0;
	m = fr_re_moment(re, kind, now_ns, tid, t->cpu);
	m->value_ns = value_ns;
	m->what = what;
	set = fr_re_exe_passing(re, fr_re_passing(re, set, re->moment.comm, m->uid));
	if (!set || fr_re_is_self(re->who, m->pid, now_ns))
		return 0;
	--*left;
	*said |= set;
	return fr_re_tell_each(re, set);
}

static int look_at_one(struct fr_re *re, u64 now_ns, u32 tid, u32 left[2])
{
	struct looked *t = fr_idmap_find(&re->look->task, tid);
	struct fr_look_seen seen = look_sees(t, now_ns);
	bool idle = t->state & (FR_PREV_STATE_SLEEPING | FR_PREV_STATE_IDLE | FR_PREV_STATE_PARKED) &&
		    fr_re_is_kthread(re->who, tid);
	u64 asleep_ns = idle ? 0 : fr_look_asleep(&t->look, &seen), ran_ns, busy_ns = fr_look_busy(&t->look, &seen, &ran_ns);
	int err = look_tell(re, FR_TRIGGER_asleep, now_ns, tid, t, asleep_ns, t->state | (u64)(u32)t->call << 32, &left[0]);

	return err ?: look_tell(re, FR_TRIGGER_busy, now_ns, tid, t, busy_ns, ran_ns, &left[1]);
}

/* In order of tid, like the kernel's walk. */
int fr_re_look_all(struct fr_re *re, u64 now_ns)
{
	struct fr_re_look *l = re->look;
	u32 left[2] = {LOOK_TOLD_MAX, LOOK_TOLD_MAX}, i;
	struct looks k = {};
	int err = 0;

	if (!l->kinds || !look_is_known(l, now_ns))
		return 0;
	k.tid = calloc(l->task.cnt + 1, sizeof(*k.tid));
	if (!k.tid)
		return -ENOMEM;
	fr_idmap_sweep(&l->task, look_note, &k);
	qsort(k.tid, k.cnt, sizeof(*k.tid), look_by_number);
	for (i = 0; i < k.cnt && !err; i++)
		err = look_at_one(re, now_ns, k.tid[i], left);
	free(k.tid);
	return err;
}
