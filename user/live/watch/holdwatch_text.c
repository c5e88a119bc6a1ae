/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 *	14:03:22.118934  cpu 1    23.1 ms  hog[4711] 23.0 ms, softirq TIMER 88.2 us, 2 more 3.1 us
 *				     spin_inner < spin_outer < main < __libc_start_call_main  (22 of 23 samples)
 */
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/text/escape.h"
#include "base/text/units.h"
#include "live/watch/holdwatch_int.h"
#include "read/symbols/frames.h"

#define RAN_SHOWN   4u
#define FRAME_SHOWN 12u
#define NS_SZ	    32u
#define BAR_MOST    40u

static const char *ns_text(u64 ns, char buf[NS_SZ])
{
	return fr_show_duration(ns, buf, NS_SZ);
}

static void holdwatch_text_put_text(struct fr_out *o, const char *s)
{
	fr_escape_text(o, s, strlen(s));
}

static void holdwatch_text_put_time(struct fr_holdwatch *w, u64 ts)
{
	u64 wall = fr_holdwatch_wall_ns(w, ts);
	time_t sec = wall / FR_SEC_NS;
	struct tm tm;
	char text[16];

	localtime_r(&sec, &tm);
	strftime(text, sizeof(text), "%H:%M:%S", &tm);
	fr_out_printf(w->o, "%s.%06u", text, (u32)(wall % FR_SEC_NS / 1000));
}

static const char *holdwatch_text_policy_name(int policy)
{
	return policy == SCHED_FIFO ? "FIFO" : policy == SCHED_RR ? "RR" : "OTHER";
}

static void holdwatch_text_begin(struct fr_holdwatch *w)
{
	const struct fr_sleeper_conf *c = &w->ask->sleep;
	char a[NS_SZ], b[NS_SZ];

	fprintf(stderr, "watching %u CPU%s every %s for holdoffs of %s and more", w->cpu_cnt, fr_plural(w->cpu_cnt),
		ns_text(c->interval_ns, a), ns_text(c->threshold_ns, b));
	if (w->is_rt)
		fprintf(stderr, ", at priority %s:%d", holdwatch_text_policy_name(c->policy), c->prio);
	fprintf(stderr, "; session '%s'%s, %u samples a second\n", fr_sess_name(w->sess.look),
		w->sess.is_own ? ", of its own" : "", w->sess.hz);
}

/* ---- a holdoff ---- */

static void holdwatch_text_put_ran(struct fr_holdwatch *w, const struct fr_holdoff *h)
{
	struct fr_holdwatch_ran r;
	u64 more_ns = h->other_ns;
	u32 i, more = h->other_cnt;
	char a[NS_SZ];

	for (i = 0; i < h->ran_cnt; i++) {
		if (i >= RAN_SHOWN) {
			more_ns += h->ran[i].ns;
			more++;
			continue;
		}
		fr_holdwatch_name(w, h, i, &r);
		fr_out_str(w->o, i ? ", " : "");
		fr_out_paint(w->o, i ? FR_PAINT_NONE : FR_PAINT_BOLD);
		holdwatch_text_put_text(w->o, r.text);
		fr_out_paint(w->o, FR_PAINT_NONE);
		fr_out_printf(w->o, " %s", ns_text(h->ran[i].ns, a));
	}
	if (more)
		fr_out_printf(w->o, ", %u more %s", more, ns_text(more_ns, a));
	if (!h->ran_cnt)
		fr_out_str(w->o, h->own_ns ? "the watch itself" : "what ran is not known");
}

/*
 * While the CPU is idle, or the watch itself runs, nothing that events show can hold off. Then samples are missing only where
 * interrupts are off, or a hypervisor runs something else.
 */
static void put_doubts(struct fr_holdwatch *w, const struct fr_holdoff *h)
{
	u64 due = h->known_ns / 1000 * w->sess.hz / 1000000;

	if (!h->ran_cnt || (h->ran[0].what == FR_RAN_TASK && !h->ran[0].id))
		fr_out_str(w->o, "; its timer, or the hypervisor, was late");
	else if (!h->incomplete && due >= 2 && h->samples < due / 2)
		fr_out_printf(w->o, "; %u of %llu samples came: interrupts were off, or the hypervisor ran somebody else",
			      h->samples, due);
}

static void put_notes(struct fr_holdwatch *w, const struct fr_holdoff *h)
{
	char a[NS_SZ];

	if (h->incomplete)
		fr_out_printf(w->o, "; incomplete: the ring had wrapped past the first %s",
			      ns_text(h->length_ns - h->known_ns, a));
	if (h->gaps)
		fr_out_printf(w->o, "; %u record%s lost or not fitting", h->gaps, fr_plural(h->gaps));
	put_doubts(w, h);
}

static void holdwatch_text_put_frame(struct fr_holdwatch *w, const struct fr_holdwatch_frame *f)
{
	char text[FR_FRAME_TEXT_SZ];

	if (f->sym.name) {
		holdwatch_text_put_text(w->o, f->sym.name);
		return;
	}
	fr_frame_text(&f->sym, f->ip, text);
	holdwatch_text_put_text(w->o, text);
}

static void holdwatch_text_put_stack(struct fr_holdwatch *w, const struct fr_holdoff *h)
{
	struct fr_holdwatch_frame f;
	const struct fr_ran_stack *k;
	u32 nr, cnt;

	k = fr_holdwatch_stack(w, h, &cnt);

	if (!k)
		return;
	fr_out_printf(w->o, "%36s", "");
	fr_out_paint(w->o, FR_PAINT_DIM);
	for (nr = 0; nr < FRAME_SHOWN && fr_holdwatch_frame(w, h, k, nr, &f); nr++) {
		fr_out_str(w->o, nr ? " < " : "");
		holdwatch_text_put_frame(w, &f);
	}
	if (nr == FRAME_SHOWN)
		fr_out_str(w->o, " < ...");
	if (!nr)
		fr_out_str(w->o, "its frames are not known");
	fr_out_printf(w->o, "  (%u of %u samples)\n", cnt, h->ran[0].samples);
	fr_out_paint(w->o, FR_PAINT_NONE);
}

static void holdwatch_text_put_holdoff(struct fr_holdwatch *w, const struct fr_holdoff *h)
{
	char a[NS_SZ];

	holdwatch_text_put_time(w, h->at_ns);
	fr_out_printf(w->o, "  cpu %-3u ", h->cpu);
	fr_out_paint(w->o, h->length_ns >= 10 * w->ask->sleep.threshold_ns ? FR_PAINT_RED : FR_PAINT_YELLOW);
	fr_out_printf(w->o, "%10s", ns_text(h->length_ns, a));
	fr_out_paint(w->o, FR_PAINT_NONE);
	fr_out_str(w->o, "  ");
	holdwatch_text_put_ran(w, h);
	put_notes(w, h);
	fr_out_char(w->o, '\n');
	holdwatch_text_put_stack(w, h);
}

static void holdwatch_text_put_missed(struct fr_holdwatch *w, const struct fr_holdwatch_missed *m)
{
	char a[NS_SZ];

	fr_out_paint(w->o, FR_PAINT_RED);
	fr_out_printf(w->o,
		      "cpu %u: %llu more came while nothing was read here, and were only counted; the longest ever had %s\n",
		      m->cpu, m->cnt, ns_text(m->max_ns, a));
	fr_out_paint(w->o, FR_PAINT_NONE);
}

static void holdwatch_text_put_stopped(struct fr_holdwatch *w, const struct fr_holdoff *h)
{
	char a[NS_SZ];

	holdwatch_text_put_time(w, h->at_ns);
	fr_out_printf(w->o, "  the watch itself was stopped (SIGSTOP, ^Z) for %s, and looked at nothing\n",
		      ns_text(h->length_ns, a));
}

static void holdwatch_text_put_snapshot(struct fr_holdwatch *w, const struct fr_holdwatch_snapshot *s)
{
	fr_out_printf(w->o, "%36s%s: ", "", s->rule);
	if (s->file)
		holdwatch_text_put_text(w->o, s->file);
	else
		fr_out_printf(w->o, "no snapshot: %s", s->verdict);
	fr_out_char(w->o, '\n');
}

/* ---- the end ---- */

static void put_lengths(struct fr_holdwatch *w)
{
	u64 low = w->ask->sleep.threshold_ns, most = 0, cnt[64] = {};
	struct fr_hist_bucket b;
	char a[NS_SZ];
	u32 at, i, n, last = 0;

	for (at = 0; fr_hist_next(&w->hist, &at, &b);) {
		for (i = 0; i < 63 && b.low >= low << (i + 1); i++)
			;
		cnt[i] += b.cnt;
		most = cnt[i] > most ? cnt[i] : most;
		last = i > last ? i : last;
	}
	for (i = 0; most && i <= last; i++) {
		fr_out_printf(w->o, "  from %8s %8llu%s", ns_text(low << i, a), cnt[i], cnt[i] ? "  " : "");
		for (n = 0; n < (cnt[i] * BAR_MOST + most - 1) / most; n++)
			fr_out_char(w->o, '#');
		fr_out_char(w->o, '\n');
	}
}

static void holdwatch_text_put_cpus(struct fr_holdwatch *w)
{
	struct fr_layout l;
	u32 i;

	fr_layout_init(&l, &fr_holdwatch_cpu_kind, ~0u);
	fr_out_char(w->o, '\n');
	fr_layout_head(&l, w->o);
	for (i = 0; i < w->cpu_cnt; i++)
		fr_layout_row(&l, w->o, w, &w->cpu[i]);
}

static void holdwatch_text_end(struct fr_holdwatch *w)
{
	char a[NS_SZ], b[NS_SZ], c[NS_SZ];

	fr_out_printf(w->o, "\n%s on %u CPU%s: %llu holdoff%s of %s and more", ns_text(w->ended_ns - w->begun_ns, a),
		      w->cpu_cnt, fr_plural(w->cpu_cnt), w->hist.cnt, fr_plural(w->hist.cnt),
		      ns_text(w->ask->sleep.threshold_ns, b));
	if (w->hist.cnt)
		fr_out_printf(w->o, ", %s in all", ns_text(fr_hist_sum(&w->hist), c));
	if (w->incomplete_cnt)
		fr_out_printf(w->o, "; %llu incomplete", w->incomplete_cnt);
	fr_out_char(w->o, '\n');
	put_lengths(w);
	holdwatch_text_put_cpus(w);
	fr_culprits_text(&w->who, w->o);
}

const struct fr_holdwatch_printer fr_holdwatch_text = {holdwatch_text_begin,	    holdwatch_text_put_holdoff,
						       holdwatch_text_put_missed,   holdwatch_text_put_stopped,
						       holdwatch_text_put_snapshot, holdwatch_text_end};
