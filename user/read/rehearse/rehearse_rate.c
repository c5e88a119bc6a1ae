/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rehearse_rate: more of something in a time than a rule allows, as bpf/trigger/rate.bpf.c counts, by the same bpf/window.h.
 * Where events are missing, fewer are counted: what is told is so, and something may be missing.
 */
#include "read/rehearse/rehearse_int.h"

#define ABI_NATIVE 0u

/* One that is counted. */
struct counted {
	u32 what;
	u32 tid; /* whose it is */
	u32 id;
	u32 error;
};

static bool rate_sees(const struct fr_re_schema *s, enum fr_re_what what, const struct fr_row *r, struct counted *c)
{
	*c = (struct counted){.tid = r->tid};
	switch (what) {
	case FR_RE_FORK:
		c->what = FR_RATE_fork;
		return true;
	case FR_RE_EXIT:
		c->what = FR_RATE_exit;
		return true;
	case FR_RE_SIGNAL:
		c->what = FR_RATE_signal;
		c->tid = fr_re_num(s, r, what, 0);
		c->id = fr_re_num(s, r, what, 1);
		return true;
	case FR_RE_SYS_EXIT:
		c->what = FR_RATE_error;
		c->id = fr_re_num(s, r, what, 0);
		c->error = fr_rule_error_of(fr_re_num(s, r, what, 2));
		return c->error && fr_re_num(s, r, what, 1) == ABI_NATIVE;
	default:
		return false;
	}
}

static u32 rate_rules(const struct fr_rehearse *h, const struct counted *c)
{
	u32 set = 0, i;

	for (i = 0; i < h->rule_cnt; i++)
		set |= (u32) !!fr_rule_is_for_rate(&h->bpf[i], c->what, c->id, c->error) << i;
	return set;
}

int fr_re_rate_row(struct fr_re *re, const struct fr_re_schema *s, enum fr_re_what what, const struct fr_row *r)
{
	struct fr_moment *m;
	struct counted c;
	int err = 0;
	u32 set, i;

	if (!(re->h->kinds >> FR_TRIGGER_rate & 1) || !rate_sees(s, what, r, &c))
		return 0;
	set = rate_rules(re->h, &c);
	if (!set)
		return 0;
	m = fr_re_moment(re, FR_TRIGGER_rate, r->ts, c.tid, r->cpu);
	set = fr_re_exe_passing(re, fr_re_passing(re, set, re->moment.comm, m->uid));
	if (!set || fr_re_is_self(re->who, m->pid, r->ts))
		return 0;
	for (i = 0; i < re->h->rule_cnt && !err; i++) {
		u64 cnt = set >> i & 1
				  ? fr_window_take(&re->window[i], r->ts, re->h->bpf[i].rate_part_ns, re->h->bpf[i].rate_max)
				  : 0;

		if (!cnt)
			continue;
		m->what = cnt;
		m->value_ns = fr_window_ns(r->ts, re->h->bpf[i].rate_part_ns);
		m->rate = c.what;
		err = fr_re_tell_each(re, 1u << i);
	}
	return err;
}
