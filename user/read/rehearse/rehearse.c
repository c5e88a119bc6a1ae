/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read/rehearse/rehearse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/config/default.h"
#include "base/config/trig_rule.h"
#include "base/tp/tps.h"
#include "base/trigger/watch_set.h"
#include "read/rehearse/rehearse_int.h"
#include "report.h"

#define NEVER	  (~0ULL)
#define TICKS_MAX 1000000ULL /* between two events: a day of tenths of a second. A longer gap is no recording: skip it */

/* ---- time ---- */

static u64 rehearse_later(u64 t, u64 ns)
{
	return t + ns < t ? NEVER : t + ns;
}

/* A recorder's timers begin with its rules. */
static void start_timers(struct fr_re *re, u64 now_ns)
{
	const struct fr_rehearse *h = re->h;
	u32 i;

	re->begin_ns = now_ns;
	for (i = 0; i < h->rule_cnt; i++) {
		u64 each_ns = fr_trigger_has(h->rule[i].kind, FR_HAS_LOOK) ? fr_trigger_look_ns(h->rule[i].limit_ns) : 0;

		re->every_ns[i] = h->rule[i].kind == FR_TRIGGER_every ? rehearse_later(now_ns, h->rule[i].every_ns) : NEVER;
		if (each_ns && (!re->look_each_ns || each_ns < re->look_each_ns))
			re->look_each_ns = each_ns;
	}
	re->look_ns = re->look_each_ns ? rehearse_later(now_ns, re->look_each_ns) : NEVER;
}

/* A timer's next time, unless now is absurdly far behind it. */
static u64 rehearse_skip(u64 next_ns, u64 each_ns, u64 now_ns)
{
	if (next_ns == NEVER || now_ns <= next_ns || (now_ns - next_ns) / each_ns <= TICKS_MAX)
		return next_ns;
	return now_ns - TICKS_MAX * each_ns;
}

static u32 first_every(const struct fr_re *re)
{
	u32 i, first = 0;

	for (i = 1; i < re->h->rule_cnt; i++)
		if (re->every_ns[i] < re->every_ns[first])
			first = i;
	return first;
}

static int ring(struct fr_re *re, u32 rule)
{
	u64 now_ns = re->every_ns[rule];

	re->every_ns[rule] = rehearse_later(now_ns, re->h->rule[rule].every_ns);
	fr_re_moment(re, FR_TRIGGER_every, now_ns, 0, 0);
	return fr_re_tell_each(re, 1u << rule);
}

/* What has to happen up to now, in order. */
static int pass_time(struct fr_re *re, u64 now_ns)
{
	int err = 0;
	u32 i;

	re->look_ns = rehearse_skip(re->look_ns, re->look_each_ns, now_ns);
	for (i = 0; i < re->h->rule_cnt; i++)
		re->every_ns[i] = rehearse_skip(re->every_ns[i], re->h->rule[i].every_ns, now_ns);
	while (!err) {
		u32 rule = first_every(re);

		if (re->every_ns[rule] != NEVER && re->every_ns[rule] <= re->look_ns && re->every_ns[rule] <= now_ns) {
			err = ring(re, rule);
		} else if (re->look_ns != NEVER && re->look_ns <= now_ns) {
			err = fr_re_lat_look(re, re->look_ns) ?: fr_re_look_all(re, re->look_ns);
			re->look_ns = rehearse_later(re->look_ns, re->look_each_ns);
		} else {
			break;
		}
	}
	return err;
}

/* ---- rows ---- */

/* Its kind, as in bpf/trigger/kernel.bpf.c. */
static u32 report_kind(const char *text)
{
	u32 i;

	for (i = 0; i < sizeof(fr_detectors) / sizeof(fr_detectors[0]); i++)
		if (!strcmp(text, fr_detectors[i]))
			return FR_REPORT_DETECTOR + i;
	return fr_report_begins((const u8 *)text);
}

static int on_report(struct fr_re *re, const struct fr_re_schema *s, const struct fr_row *r)
{
	u32 set = 0, i;

	for (i = 0; i < re->h->rule_cnt; i++)
		set |= (u32)(re->h->rule[i].kind == FR_TRIGGER_kernel) << i;
	if (!set)
		return 0;
	fr_re_moment(re, FR_TRIGGER_kernel, r->ts, r->tid, r->cpu);
	fr_re_text(s, r, FR_RE_REPORT, 0, re->moment.text_buf, sizeof(re->moment.text_buf));
	re->moment.text = re->moment.text_buf;
	re->moment.m.what = report_kind(re->moment.text);
	return fr_re_tell(re, set);
}

/* Like rules_due() of bpf/trigger/watch.bpf.c, using the filter that its bytecode was made from. */
static int on_event(struct fr_re *re, u32 file, const struct fr_row *r)
{
	const struct fr_rehearse *h = re->h;
	struct fr_filter *const *filter = &h->filter[file * FR_TRIGGER_MAX];
	const struct fr_view *view = fr_replay_view(h->replay, file);
	u32 set = 0, i;

	for (i = 0; i < h->rule_cnt; i++) {
		enum fr_verdict v = filter[i] ? fr_filter_verdict(filter[i], r->ev->nr) : FR_VERDICT_NO;

		if (v == FR_VERDICT_NO || h->unwatched[i][r->ev->nr])
			continue;
		if (v == FR_VERDICT_YES || fr_filter_match(filter[i], view, r))
			set |= 1u << i;
	}
	if (!set)
		return 0;
	fr_re_moment(re, FR_TRIGGER_event, r->ts, r->tid, r->cpu);
	re->moment.m.what = r->ev->nr;
	re->moment.text = r->ev->name;
	return fr_re_tell(re, set);
}

static int on_row(void *arg, const struct fr_replay_run *run, const struct fr_row *r)
{
	struct fr_rehearse *h = arg;
	struct fr_re *re = &h->boot[fr_replay_boot(h->replay, run->file)];
	const struct fr_re_schema *s = &h->schema[run->file];
	enum fr_re_what what = s->what[r->ev->nr];
	int err;

	re->view = run->view;
	re->shift_ns = run->shift_ns;
	if (!re->begin_ns)
		start_timers(re, r->ts);
	re->end_ns = r->ts;
	err = re->look_ns <= r->ts || h->kinds >> FR_TRIGGER_every & 1 ? pass_time(re, r->ts) : 0;
	if (!err && what) {
		err = fr_re_deaths_row(re, s, what, r);
		err = err ?: fr_re_lat_row(re, s, what, r);
		err = err ?: fr_re_look_row(re, s, what, r);
		err = err ?: fr_re_rate_row(re, s, what, r);
	}
	if (!err && what == FR_RE_REPORT)
		err = on_report(re, s, r);
	return err || !(h->kinds >> FR_TRIGGER_event & 1) ? err : on_event(re, run->file, r);
}

int fr_rehearse_run(struct fr_rehearse *h, fr_rehearsed_fn fn, void *arg)
{
	h->fn = fn;
	h->arg = arg;
	return fr_replay_each(h->replay, on_row, h);
}

/* ---- life ---- */

static void free_boot(struct fr_re *re)
{
	fr_gate_free(re->gate);
	fr_re_who_free(re->who);
	fr_re_deaths_free(re->deaths);
	fr_re_lat_free(re->lat);
	fr_re_look_free(re->look);
}

static int rehearse_new_boot(struct fr_rehearse *h, u32 boot)
{
	const struct fr_gate_conf conf = FR_DEF_GATE;
	struct fr_re *re = &h->boot[boot];
	u32 file = 0;
	int err;

	while (fr_replay_boot(h->replay, file) != boot)
		file++;
	re->h = h;
	re->boot = boot;
	re->view = fr_replay_view(h->replay, file);
	re->look_ns = NEVER;
	err = fr_gate_new(&conf, &re->gate);
	err = err ?: fr_re_who_new(re, &re->who);
	err = err ?: fr_re_deaths_new(re, &re->deaths);
	err = err ?: fr_re_lat_new(re, &re->lat);
	return err ?: fr_re_look_new(re, &re->look);
}

int fr_re_filter(const struct fr_trigger *t, const struct fr_view *v, struct fr_filter **out, struct fr_filter_error *why)
{
	const struct fr_filter_file file = {.schema = v->schema,
					    .arch = v->arch,
					    .value = fr_tps_value,
					    .values = fr_tps_values,
					    .lacks = fr_tps_lacks,
					    .of = v->tps};

	return fr_filter_new_beside(t->expr, &file, 1, 0, out, why);
}

static int rehearse_new_filter(struct fr_rehearse *h, u32 file, u32 rule)
{
	const struct fr_view *v = fr_replay_view(h->replay, file);
	struct fr_filter_error why;
	int err;

	if (h->rule[rule].kind != FR_TRIGGER_event)
		return 0;
	err = fr_re_filter(&h->rule[rule], v, &h->filter[file * FR_TRIGGER_MAX + rule], &why);
	return err == -EINVAL ? 0 : err; /* an older file lacks some events: rehearse_can.c reports that */
}

static int new_files(struct fr_rehearse *h)
{
	u32 cnt = fr_replay_file_cnt(h->replay), file, rule;
	int err = 0;

	h->schema = calloc(cnt, sizeof(*h->schema));
	h->filter = calloc(cnt * FR_TRIGGER_MAX, sizeof(*h->filter));
	if (!h->schema || !h->filter)
		return -ENOMEM;
	for (file = 0; file < cnt && !err; file++) {
		fr_re_schema_init(&h->schema[file], fr_replay_schema(h->replay, file));
		for (rule = 0; rule < h->rule_cnt && !err; rule++)
			err = rehearse_new_filter(h, file, rule);
	}
	return err;
}

static int rehearse_set_up(struct fr_rehearse *h)
{
	int err = new_files(h);
	u32 i;

	h->boot_cnt = fr_replay_boot_cnt(h->replay);
	h->boot = calloc(h->boot_cnt, sizeof(*h->boot));
	if (!h->boot)
		return -ENOMEM;
	for (i = 0; i < h->boot_cnt && !err; i++)
		err = rehearse_new_boot(h, i);
	return err ?: fr_re_can(h);
}

int fr_rehearse_new(struct fr_replay *r, const struct fr_trigger *rules, u32 cnt, struct fr_rehearse **out)
{
	struct fr_rehearse *h = calloc(1, sizeof(*h));
	u32 i;
	int err;

	if (!h)
		return -ENOMEM;
	h->replay = r;
	h->rule = rules;
	h->rule_cnt = cnt < FR_TRIGGER_MAX ? cnt : FR_TRIGGER_MAX;
	for (i = 0; i < h->rule_cnt; i++) {
		fr_trig_rule(&rules[i], &h->bpf[i]);
		h->kinds |= 1u << rules[i].kind;
	}
	err = rehearse_set_up(h);
	if (err)
		fr_rehearse_free(h);
	else
		*out = h;
	return err;
}

void fr_rehearse_free(struct fr_rehearse *h)
{
	u32 i;

	if (!h)
		return;
	for (i = 0; h->boot && i < h->boot_cnt; i++)
		free_boot(&h->boot[i]);
	for (i = 0; h->filter && i < fr_replay_file_cnt(h->replay) * FR_TRIGGER_MAX; i++)
		fr_filter_free(h->filter[i]);
	free(h->boot);
	free(h->schema);
	free(h->filter);
	free(h);
}

/* ---- results ---- */

void fr_rehearse_total(const struct fr_rehearse *h, u32 rule, struct fr_rehearse_total *out)
{
	u32 i, v;

	memset(out, 0, sizeof(*out));
	for (i = 0; i < h->boot_cnt; i++) {
		out->matched += h->boot[i].total[rule].matched;
		out->alerted += h->boot[i].total[rule].alerted;
		for (v = 0; v < FR_TRIGGER_VERDICT_CNT; v++)
			out->verdict[v] += h->boot[i].total[rule].verdict[v];
	}
}

const struct fr_rehearse_notes *fr_rehearse_notes(const struct fr_rehearse *h, u32 rule)
{
	return &h->notes[rule];
}

u64 fr_rehearse_known_ns(const struct fr_rehearse *h)
{
	return h->boot_cnt ? fr_re_lat_known_ns(h->boot[0].lat) : 0;
}
