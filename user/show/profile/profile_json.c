/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* profile_json: everything, for programs. With diff each number comes with its previous value. */
#include "base/profile/sample_event.h"
#include "base/text/jsonw.h"
#include "read/snapfile/snapfile.h"
#include "show/profile/profile.h"

static void put_sum(struct fr_jsonw *w, const char *key, const struct fr_profile_sum *s)
{
	fr_jsonw_open(w, key, '{');
	fr_jsonw_u64(w, "begin_ns", s->begin_ns);
	fr_jsonw_u64(w, "end_ns", s->end_ns);
	fr_jsonw_u64(w, "expected", s->expected);
	fr_jsonw_u64(w, "taken", s->taken);
	fr_jsonw_u64(w, "counted", s->cnt);
	fr_jsonw_u64(w, "lost", s->lost);
	fr_jsonw_u64(w, "idle", s->idle);
	fr_jsonw_u64(w, "stackless", s->stackless);
	fr_jsonw_u64(w, "other", s->other);
	fr_jsonw_close(w, '}');
}

static void put_hits(struct fr_jsonw *w, const struct fr_profile *p, const char *key, const char *before,
		     const u64 hits[FR_PROFILE_WINDOWS])
{
	fr_jsonw_u64(w, key, hits[FR_PROFILE_NOW]);
	if (p->ask->diff)
		fr_jsonw_u64(w, before, hits[FR_PROFILE_BEFORE]);
}

static void put_funcs(struct fr_jsonw *w, const struct fr_profile *p)
{
	u32 i;

	fr_jsonw_open(w, "functions", '[');
	for (i = 0; i < p->func_cnt; i++) {
		fr_jsonw_open(w, NULL, '{');
		fr_jsonw_text(w, "name", p->func[i].name);
		fr_jsonw_text(w, "module", p->func[i].module);
		put_hits(w, p, "self", "self_before", p->func[i].self);
		put_hits(w, p, "total", "total_before", p->func[i].total);
		fr_jsonw_close(w, '}');
	}
	fr_jsonw_close(w, ']');
}

/* Frames outermost first, as indices of functions. */
static void put_stacks(struct fr_jsonw *w, const struct fr_profile *p)
{
	u32 i, k;

	fr_jsonw_open(w, "stacks", '[');
	for (i = 0; i < p->stack_cnt; i++) {
		const struct fr_profile_stack *s = &p->stack[i];

		fr_jsonw_open(w, NULL, '{');
		fr_jsonw_text(w, "comm", s->key->comm);
		fr_jsonw_u64(w, "pid", s->key->pid);
		fr_jsonw_text(w, "state", fr_profile_state(s->key->state));
		put_hits(w, p, "hits", "hits_before", s->hits);
		fr_jsonw_open(w, "frames", '[');
		for (k = 0; k < s->cnt; k++)
			fr_jsonw_u64(w, NULL, s->func[k]);
		fr_jsonw_close(w, ']');
		fr_jsonw_close(w, '}');
	}
	fr_jsonw_close(w, ']');
}

void fr_profile_json(struct fr_profile *p)
{
	struct fr_jsonw w = {.o = p->out};

	fr_jsonw_open(&w, NULL, '{');
	fr_jsonw_u64(&w, "hz", p->prof->hz);
	fr_jsonw_text(&w, "event", fr_sample_event_name(fr_sample_event_find(fr_snap_fact(p->snap, "sample_event"))));
	fr_jsonw_u64(&w, "cpus", p->prof->cpu_cnt);
	fr_jsonw_u64(&w, "covers_since_ns", p->prof->bucket[0].begin_ns);
	fr_jsonw_u64(&w, "stackless", p->prof->stackless);
	fr_jsonw_u64(&w, "taken_ever", p->prof->taken);
	fr_jsonw_u64(&w, "lost_ever", p->prof->lost);
	put_sum(&w, "window", &p->sum[FR_PROFILE_NOW]);
	if (p->ask->diff)
		put_sum(&w, "before", &p->sum[FR_PROFILE_BEFORE]);
	put_funcs(&w, p);
	put_stacks(&w, p);
	fr_jsonw_close(&w, '}');
	fr_out_char(p->out, '\n');
}
