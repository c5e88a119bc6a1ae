/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One object per line: {"watch":"begin"}, "holdoff", "missed", "stopped", "snapshot", "end". Durations in ns. */
#include <sched.h>

#include "base/text/jsonw.h"
#include "live/watch/holdwatch_int.h"

static struct fr_jsonw holdwatch_open_line(struct fr_holdwatch *w, const char *what)
{
	struct fr_jsonw j = {.o = w->o};

	fr_jsonw_open(&j, NULL, '{');
	fr_jsonw_text(&j, "watch", what);
	return j;
}

static void close_line(struct fr_jsonw *j)
{
	fr_jsonw_close(j, '}');
	fr_out_char(j->o, '\n');
}

static void holdwatch_begin(struct fr_holdwatch *w)
{
	const struct fr_sleeper_conf *c = &w->ask->sleep;
	struct fr_jsonw j = holdwatch_open_line(w, "begin");
	u32 i;

	fr_jsonw_text(&j, "session", fr_sess_name(w->sess.look));
	fr_jsonw_bool(&j, "own_session", w->sess.is_own);
	fr_jsonw_open(&j, "cpus", '[');
	for (i = 0; i < w->cpu_cnt; i++)
		fr_jsonw_u64(&j, NULL, fr_sleeper_cpu(w->cpu[i].sleeper));
	fr_jsonw_close(&j, ']');
	fr_jsonw_u64(&j, "threshold_ns", c->threshold_ns);
	fr_jsonw_u64(&j, "interval_ns", c->interval_ns);
	fr_jsonw_text(&j, "policy", !w->is_rt ? "other" : c->policy == SCHED_FIFO ? "fifo" : "rr");
	fr_jsonw_u64(&j, "prio", w->is_rt ? c->prio : 0);
	fr_jsonw_u64(&j, "sample_hz", w->sess.hz);
	fr_jsonw_u64(&j, "queue", c->queue_cnt);
	close_line(&j);
}

/* ---- a holdoff ---- */

static void holdwatch_put_ran(struct fr_jsonw *j, struct fr_holdwatch *w, const struct fr_holdoff *h, u32 i)
{
	const struct fr_ran *r = &h->ran[i];
	struct fr_holdwatch_ran n;

	fr_holdwatch_name(w, h, i, &n);
	fr_jsonw_open(j, NULL, '{');
	fr_jsonw_text(j, "what", n.what);
	if (r->what == FR_RAN_TASK) {
		fr_jsonw_u64(j, "tid", n.tid);
		if (n.pid >= 0)
			fr_jsonw_s64(j, "pid", n.pid);
		fr_jsonw_s64(j, "prio", r->prio);
	} else {
		fr_jsonw_u64(j, r->what == FR_RAN_IRQ ? "irq" : "vec", r->id);
	}
	fr_jsonw_text(j, r->what == FR_RAN_TASK ? "comm" : "name", n.comm);
	fr_jsonw_u64(j, "ns", r->ns);
	fr_jsonw_u64(j, "cnt", r->cnt);
	fr_jsonw_u64(j, "samples", r->samples);
	fr_jsonw_close(j, '}');
}

static void holdwatch_put_frame(struct fr_jsonw *j, const struct fr_holdwatch_frame *f)
{
	fr_jsonw_open(j, NULL, '{');
	fr_jsonw_u64(j, "ip", f->ip);
	if (f->sym.name) {
		fr_jsonw_text(j, "name", f->sym.name);
		fr_jsonw_u64(j, "off", f->sym.off);
	}
	if (f->sym.module) {
		fr_jsonw_text(j, "module", f->sym.module);
		fr_jsonw_u64(j, "module_off", f->sym.module_off);
	}
	if (f->sym.missing)
		fr_jsonw_text(j, "missing", f->sym.missing);
	fr_jsonw_close(j, '}');
}

static void holdwatch_put_frames(struct fr_jsonw *j, const char *key, struct fr_holdwatch *w, const struct fr_holdoff *h,
				 const struct fr_ran_stack *k, bool user)
{
	struct fr_holdwatch_frame f;
	u32 nr;

	fr_jsonw_open(j, key, '[');
	for (nr = 0; fr_holdwatch_frame(w, h, k, nr, &f); nr++)
		if (f.user == user)
			holdwatch_put_frame(j, &f);
	fr_jsonw_close(j, ']');
}

static void holdwatch_put_stack(struct fr_jsonw *j, struct fr_holdwatch *w, const struct fr_holdoff *h,
				const struct fr_ran_stack *k)
{
	fr_jsonw_open(j, NULL, '{');
	fr_jsonw_u64(j, "ran", k->ran);
	fr_jsonw_u64(j, "samples", k->cnt);
	holdwatch_put_frames(j, "kernel", w, h, k, false);
	holdwatch_put_frames(j, "user", w, h, k, true);
	fr_jsonw_close(j, '}');
}

static void holdwatch_put_holdoff(struct fr_holdwatch *w, const struct fr_holdoff *h)
{
	struct fr_jsonw j = holdwatch_open_line(w, "holdoff");
	u32 i;

	fr_jsonw_u64(&j, "ts", h->at_ns);
	fr_jsonw_u64(&j, "real_ns", fr_holdwatch_wall_ns(w, h->at_ns));
	fr_jsonw_u64(&j, "cpu", h->cpu);
	fr_jsonw_u64(&j, "length_ns", h->length_ns);
	fr_jsonw_u64(&j, "late_ns", h->late_ns);
	fr_jsonw_u64(&j, "known_ns", h->known_ns);
	fr_jsonw_bool(&j, "incomplete", h->incomplete);
	fr_jsonw_u64(&j, "gaps", h->gaps);
	fr_jsonw_u64(&j, "missed_before", h->missed);
	fr_jsonw_open(&j, "ran", '[');
	for (i = 0; i < h->ran_cnt; i++)
		holdwatch_put_ran(&j, w, h, i);
	fr_jsonw_close(&j, ']');
	fr_jsonw_u64(&j, "other_ns", h->other_ns);
	fr_jsonw_u64(&j, "other_cnt", h->other_cnt);
	fr_jsonw_u64(&j, "own_ns", h->own_ns);
	fr_jsonw_u64(&j, "samples", h->samples);
	fr_jsonw_open(&j, "stacks", '[');
	for (i = 0; i < h->stack_cnt; i++)
		holdwatch_put_stack(&j, w, h, &h->stack[i]);
	fr_jsonw_close(&j, ']');
	close_line(&j);
}

static void holdwatch_put_missed(struct fr_holdwatch *w, u32 cpu, u64 cnt, u64 max_ns)
{
	struct fr_jsonw j = holdwatch_open_line(w, "missed");

	fr_jsonw_u64(&j, "cpu", cpu);
	fr_jsonw_u64(&j, "holdoffs", cnt);
	fr_jsonw_u64(&j, "max_ns", max_ns);
	close_line(&j);
}

static void holdwatch_put_stopped(struct fr_holdwatch *w, u64 ts, u64 ns)
{
	struct fr_jsonw j = holdwatch_open_line(w, "stopped");

	fr_jsonw_u64(&j, "ts", ts);
	fr_jsonw_u64(&j, "real_ns", fr_holdwatch_wall_ns(w, ts));
	fr_jsonw_u64(&j, "length_ns", ns);
	close_line(&j);
}

static void holdwatch_put_snapshot(struct fr_holdwatch *w, const char *rule, const char *verdict, const char *file)
{
	struct fr_jsonw j = holdwatch_open_line(w, "snapshot");

	fr_jsonw_text(&j, "rule", rule);
	fr_jsonw_text(&j, "verdict", verdict);
	fr_jsonw_text(&j, "file", file);
	close_line(&j);
}

/* ---- the end ---- */

static void holdwatch_put_hist(struct fr_jsonw *j, const struct fr_hist *h)
{
	struct fr_hist_bucket b;
	u32 at;

	fr_jsonw_open(j, "histogram", '[');
	for (at = 0; fr_hist_next(h, &at, &b);) {
		fr_jsonw_open(j, NULL, '{');
		fr_jsonw_u64(j, "from_ns", b.low);
		fr_jsonw_u64(j, "to_ns", b.high);
		fr_jsonw_u64(j, "cnt", b.cnt);
		fr_jsonw_close(j, '}');
	}
	fr_jsonw_close(j, ']');
}

static void holdwatch_put_cpu(struct fr_jsonw *j, const struct fr_holdwatch_cpu *x)
{
	const struct fr_sleeper_stats *st = &x->stats;

	fr_jsonw_open(j, NULL, '{');
	fr_jsonw_u64(j, "cpu", fr_sleeper_cpu(x->sleeper));
	fr_jsonw_u64(j, "woke", st->woke);
	fr_jsonw_u64(j, "expected", st->expected);
	fr_jsonw_u64(j, "looked", st->looked);
	fr_jsonw_u64(j, "holdoffs", st->found - x->stop_cnt);
	fr_jsonw_u64(j, "told", x->cnt);
	fr_jsonw_u64(j, "missed", st->missed);
	fr_jsonw_u64(j, "missed_max_ns", st->missed_max_ns);
	fr_jsonw_u64(j, "sum_ns", x->sum_ns);
	fr_jsonw_u64(j, "max_ns", x->max_ns);
	fr_jsonw_open(j, "late", '{');
	fr_jsonw_u64(j, "mean_ns", st->woke ? st->late_sum_ns / st->woke : 0);
	fr_jsonw_u64(j, "p50_ns", fr_holdwatch_late(st, 500000));
	fr_jsonw_u64(j, "p99_ns", fr_holdwatch_late(st, 990000));
	fr_jsonw_u64(j, "p999_ns", fr_holdwatch_late(st, 999000));
	fr_jsonw_u64(j, "max_ns", st->late_max_ns);
	fr_jsonw_close(j, '}');
	fr_jsonw_bool(j, "offline", fr_sleeper_is_gone(x->sleeper));
	fr_jsonw_close(j, '}');
}

static void holdwatch_end(struct fr_holdwatch *w)
{
	struct fr_jsonw j = holdwatch_open_line(w, "end");
	u32 i;

	fr_jsonw_u64(&j, "watched_ns", w->ended_ns - w->begun_ns);
	fr_jsonw_u64(&j, "holdoffs", w->hist.cnt);
	fr_jsonw_u64(&j, "incomplete", w->incomplete_cnt);
	fr_jsonw_u64(&j, "sum_ns", fr_hist_sum(&w->hist));
	fr_jsonw_u64(&j, "max_ns", w->hist.max);
	fr_jsonw_u64(&j, "snapshots", w->snapshot_cnt);
	holdwatch_put_hist(&j, &w->hist);
	fr_jsonw_open(&j, "cpus", '[');
	for (i = 0; i < w->cpu_cnt; i++)
		holdwatch_put_cpu(&j, &w->cpu[i]);
	fr_jsonw_close(&j, ']');
	fr_culprits_json(&w->who, &j);
	close_line(&j);
}

const struct fr_holdwatch_printer fr_holdwatch_json = {holdwatch_begin,	      holdwatch_put_holdoff,  holdwatch_put_missed,
						       holdwatch_put_stopped, holdwatch_put_snapshot, holdwatch_end};
