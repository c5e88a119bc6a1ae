/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* holdwatch_kinds: what programs are told: an object a line, of a kind each, as the tables say; and people's table of CPUs. */
#include <sched.h>

#include "live/watch/holdwatch_int.h"

static struct fr_holdwatch *kinds_watch(const struct fr_at *at)
{
	return ((const struct fr_holdwatch_line *)at->of)->w;
}

static const struct fr_holdoff *kinds_holdoff(const struct fr_at *at)
{
	return ((const struct fr_holdwatch_line *)at->of)->one.rec;
}

/* ---- the begin ---- */

static struct fr_value begin_session(const struct fr_at *at)
{
	return fr_value_text(fr_sess_name(kinds_watch(at)->sess.look));
}

static const void *begin_cpu(const struct fr_at *at, u32 i)
{
	const struct fr_holdwatch *w = at->rec;

	if (i >= w->cpu_cnt)
		return NULL;
	at->room->align = fr_sleeper_cpu(w->cpu[i].sleeper);
	return at->room;
}

/* A member of what was asked for. */
static struct fr_value begin_asked(const struct fr_at *at)
{
	return fr_column_member(at, kinds_watch(at)->ask);
}

static struct fr_value begin_policy(const struct fr_at *at)
{
	const struct fr_holdwatch *w = at->rec;

	return fr_value_text(!w->is_rt ? "other" : w->ask->sleep.policy == SCHED_FIFO ? "fifo" : "rr");
}

static struct fr_value begin_prio(const struct fr_at *at)
{
	const struct fr_holdwatch *w = at->rec;

	return fr_value_nr(w->is_rt ? w->ask->sleep.prio : 0);
}

/* clang-format off */
#define WATCH(member, name, unit, meaning, ...) FR_COLUMN(struct fr_holdwatch, member, name, unit, meaning, __VA_ARGS__)
#define ASKED(member, name, unit, meaning) \
	FR_COLUMN(struct fr_holdwatch_ask, member, name, unit, meaning, .get = begin_asked)
/* clang-format on */

static const struct fr_column begin_columns[] = {
	FR_COLUMN_MADE(begin_session, "session", TEXT, "session whose rings are read"),
	WATCH(sess.is_own, "own_session", BOOL, "it was started by this watch"),
	FR_LIST(begin_cpu, "cpus", NULL, "CPUs that are watched"),
	ASKED(sleep.threshold_ns, "threshold_ns", NS, "holdoffs at least so long are reported"),
	ASKED(sleep.interval_ns, "interval_ns", NS, "each CPU is tried this often"),
	FR_COLUMN_MADE(begin_policy, "policy", TEXT, "of the threads: `fifo`, `rr`, or `other`: without real-time priority"),
	FR_COLUMN_MADE(begin_prio, "prio", NUMBER, "their priority, 0 with `other`"),
	WATCH(sess.hz, "sample_hz", RATE, "samples of a CPU while watching"),
	ASKED(sleep.queue_cnt, "queue", COUNT, "holdoffs of a CPU that can wait to be printed"),
	{},
};

static const struct fr_table begin_kind = {"begin", "The first line.", begin_columns};

/* ---- a holdoff ---- */

/* Something that ran, and its name. */
struct ran_shown {
	const struct fr_ran *r;
	struct fr_holdwatch_ran n;
};

_Static_assert(sizeof(struct ran_shown) <= sizeof(union fr_room), "");

static const struct ran_shown *ran_shown(const struct fr_at *at)
{
	return at->rec;
}

static const void *holdoff_ran(const struct fr_at *at, u32 i)
{
	const struct fr_holdoff *h = at->rec;
	struct ran_shown *to = (struct ran_shown *)at->room;

	if (i >= h->ran_cnt)
		return NULL;
	to->r = &h->ran[i];
	fr_holdwatch_name(kinds_watch(at), h, i, &to->n);
	return to;
}

static struct fr_value holdoff_ran_what(const struct fr_at *at)
{
	return fr_value_text(ran_shown(at)->n.what);
}

static bool holdoff_ran_is(const struct fr_at *at, enum fr_ran_what what)
{
	return ran_shown(at)->r->what == what;
}

static struct fr_value holdoff_ran_tid(const struct fr_at *at)
{
	return holdoff_ran_is(at, FR_RAN_TASK) ? fr_value_nr(ran_shown(at)->n.tid) : fr_value_absent();
}

static struct fr_value holdoff_ran_pid(const struct fr_at *at)
{
	return holdoff_ran_is(at, FR_RAN_TASK) && ran_shown(at)->n.pid >= 0 ? fr_value_snr(ran_shown(at)->n.pid)
									    : fr_value_absent();
}

static struct fr_value holdoff_ran_prio(const struct fr_at *at)
{
	return holdoff_ran_is(at, FR_RAN_TASK) ? fr_value_snr(ran_shown(at)->r->prio) : fr_value_absent();
}

static struct fr_value holdoff_ran_irq(const struct fr_at *at)
{
	return holdoff_ran_is(at, FR_RAN_IRQ) ? fr_value_nr(ran_shown(at)->r->id) : fr_value_absent();
}

static struct fr_value holdoff_ran_vec(const struct fr_at *at)
{
	return holdoff_ran_is(at, FR_RAN_SOFTIRQ) ? fr_value_nr(ran_shown(at)->r->id) : fr_value_absent();
}

static struct fr_value holdoff_ran_comm(const struct fr_at *at)
{
	return holdoff_ran_is(at, FR_RAN_TASK) ? fr_value_text(ran_shown(at)->n.comm) : fr_value_absent();
}

static struct fr_value holdoff_ran_name(const struct fr_at *at)
{
	return holdoff_ran_is(at, FR_RAN_TASK) ? fr_value_absent() : fr_value_text(ran_shown(at)->n.comm);
}

/* A number of it, as the ring has it. */
static struct fr_value holdoff_ran_number(const struct fr_at *at)
{
	return fr_column_member(at, ran_shown(at)->r);
}

#define RAN(member, name, unit, meaning) FR_COLUMN(struct fr_ran, member, name, unit, meaning, .get = holdoff_ran_number)

static const struct fr_column ran_columns[] = {
	FR_COLUMN_MADE(holdoff_ran_what, "what", TEXT, "`task`, `idle`, `softirq`, `irq`"),
	FR_COLUMN_MADE(holdoff_ran_tid, "tid", NUMBER, "of a task; this and the next three are absent for others"),
	FR_COLUMN_MADE(holdoff_ran_pid, "pid", NUMBER, "its process; absent if not known"),
	FR_COLUMN_MADE(holdoff_ran_prio, "prio", NUMBER, "as in `sched_switch`"),
	FR_COLUMN_MADE(holdoff_ran_comm, "comm", TEXT, "its name"),
	FR_COLUMN_MADE(holdoff_ran_irq, "irq", NUMBER, "an interrupt's number; absent for others"),
	FR_COLUMN_MADE(holdoff_ran_vec, "vec", NUMBER, "a softirq's number; absent for others"),
	FR_COLUMN_MADE(holdoff_ran_name, "name", TEXT, "of the softirq, or of the interrupt's handler; absent for a task"),
	RAN(ns, "ns", NS, "how long it ran, without what interrupted it"),
	RAN(cnt, "cnt", COUNT, "how often it began or went on"),
	RAN(samples, "samples", COUNT, "CPU samples taken in it"),
	{},
};

static const struct fr_table ran_kind = {"ran", "What a CPU ran during a holdoff.", ran_columns};

/* A frame of one of the two stacks, and where the next one is. */
struct frame_shown {
	struct fr_holdwatch_frame f;
	u32 next;
};

_Static_assert(sizeof(struct frame_shown) <= sizeof(union fr_room), "");

static const void *stack_frame(const struct fr_at *at, u32 i, bool user)
{
	struct frame_shown *to = (struct frame_shown *)at->room;

	if (!i)
		to->next = 0;
	while (fr_holdwatch_frame(kinds_watch(at), kinds_holdoff(at), at->rec, to->next++, &to->f))
		if (to->f.user == user)
			return to;
	return NULL;
}

static const void *holdoff_stack_kernel(const struct fr_at *at, u32 i)
{
	return stack_frame(at, i, false);
}

static const void *holdoff_stack_user(const struct fr_at *at, u32 i)
{
	return stack_frame(at, i, true);
}

static const struct fr_symbol *frame_symbol(const struct fr_at *at)
{
	return &((const struct fr_holdwatch_frame *)at->rec)->sym;
}

/* A text that may be missing. */
static struct fr_value frame_text(const struct fr_at *at)
{
	const char *text = *(const char *const *)((const char *)at->rec + at->column->off);

	return text ? fr_value_text(text) : fr_value_absent();
}

static struct fr_value frame_off(const struct fr_at *at)
{
	return frame_symbol(at)->name ? fr_value_nr(frame_symbol(at)->off) : fr_value_absent();
}

static struct fr_value frame_module_off(const struct fr_at *at)
{
	return frame_symbol(at)->module ? fr_value_nr(frame_symbol(at)->module_off) : fr_value_absent();
}

/* clang-format off */
#define FRAME(member, name, unit, meaning, ...) FR_COLUMN(struct fr_holdwatch_frame, member, name, unit, meaning, __VA_ARGS__)
/* clang-format on */

static const struct fr_column frame_columns[] = {
	FRAME(ip, "ip", NUMBER, "its address"),
	FRAME(sym.name, "name", TEXT, "the function; absent, as the next one, if not known", .get = frame_text),
	FR_COLUMN_MADE(frame_off, "off", SIZE, "place in it"),
	FRAME(sym.module, "module", TEXT, "the file; absent, as the next one, if not known", .get = frame_text),
	FR_COLUMN_MADE(frame_module_off, "module_off", SIZE, "place in it"),
	FRAME(sym.missing, "missing", TEXT, "why there is no name; absent if nothing is missing", .get = frame_text),
	{},
};

static const struct fr_table frame_kind = {"frame", "A frame of a stack.", frame_columns};

static const struct fr_column stack_columns[] = {
	FR_COLUMN(struct fr_ran_stack, ran, "ran", NUMBER, "what it was taken in: place in `ran`, from 0"),
	FR_COLUMN(struct fr_ran_stack, cnt, "samples", COUNT, "samples with this stack"),
	FR_LIST(holdoff_stack_kernel, "kernel", &frame_kind, "frames of the kernel, innermost first"),
	FR_LIST(holdoff_stack_user, "user", &frame_kind, "frames of the program, innermost first"),
	{},
};

static const struct fr_table stack_kind = {"stack", "A stack that samples found.", stack_columns};

static const void *holdoff_stack(const struct fr_at *at, u32 i)
{
	const struct fr_holdoff *h = at->rec;

	return i < h->stack_cnt ? &h->stack[i] : NULL;
}

/* Wall time of a moment that is a member. */
static struct fr_value kinds_wall(const struct fr_at *at)
{
	u64 ts = *(const u64 *)((const char *)at->rec + at->column->off);

	return fr_value_nr(fr_holdwatch_wall_ns(kinds_watch(at), ts));
}

/* clang-format off */
#define HOLDOFF(member, name, unit, meaning, ...) FR_COLUMN(struct fr_holdoff, member, name, unit, meaning, __VA_ARGS__)
/* clang-format on */

static const struct fr_column holdoff_columns[] = {
	HOLDOFF(at_ns, "ts", CLOCK, "from here on the CPU was not available"),
	HOLDOFF(at_ns, "real_ns", WALL, "the same moment", .get = kinds_wall),
	HOLDOFF(cpu, "cpu", NUMBER, "the CPU"),
	HOLDOFF(length_ns, "length_ns", NS, "until the thread ran"),
	HOLDOFF(late_ns, "late_ns", NS, "how much later than meant it ran; never more than `length_ns`"),
	HOLDOFF(known_ns, "known_ns", NS, "the last part of `length_ns`, of which the ring could tell what ran"),
	HOLDOFF(incomplete, "incomplete", BOOL, "`known_ns` is less than `length_ns`: the ring had been overwritten"),
	HOLDOFF(gaps, "gaps", COUNT, "records that did not fit together, because some were lost"),
	HOLDOFF(missed, "missed_before", COUNT, "earlier holdoffs of this CPU that found no room in the queue"),
	FR_LIST(holdoff_ran, "ran", &ran_kind, "what ran longest comes first"),
	HOLDOFF(other_ns, "other_ns", NS, "time of what else ran, that is not in `ran`"),
	HOLDOFF(other_cnt, "other_cnt", COUNT, "and how many"),
	HOLDOFF(own_ns, "own_ns", NS, "the watching thread itself"),
	HOLDOFF(samples, "samples", COUNT, "CPU samples taken meanwhile"),
	FR_LIST(holdoff_stack, "stacks", &stack_kind, "the most frequent ones"),
	{},
};

static const struct fr_table holdoff_kind = {"holdoff", "A time when a CPU was not available.", holdoff_columns};

/* ---- what else happens ---- */

static const struct fr_column missed_columns[] = {
	FR_COLUMN(struct fr_holdwatch_missed, cpu, "cpu", NUMBER, "the CPU"),
	FR_COLUMN(struct fr_holdwatch_missed, cnt, "holdoffs", COUNT, "since the last such line"),
	FR_COLUMN(struct fr_holdwatch_missed, max_ns, "max_ns", NS, "the longest of all that were missed"),
	{},
};

static const struct fr_table missed_kind = {"missed", "Holdoffs that were not printed.", missed_columns};

static const struct fr_column stopped_columns[] = {
	HOLDOFF(at_ns, "ts", CLOCK, "from here on the watch did not run"),
	HOLDOFF(at_ns, "real_ns", WALL, "the same moment", .get = kinds_wall),
	HOLDOFF(length_ns, "length_ns", NS, "for so long"),
	{},
};

static const struct fr_table stopped_kind = {"stopped", "The watch itself did not run.", stopped_columns};

static const struct fr_column snapshot_columns[] = {
	FR_COLUMN(struct fr_holdwatch_snapshot, rule, "rule", TEXT, "the rule"),
	FR_COLUMN(struct fr_holdwatch_snapshot, verdict, "verdict", TEXT, "[what was decided](triggers.md#verdicts)"),
	FR_COLUMN(struct fr_holdwatch_snapshot, file, "file", TEXT, "its path; `null`: there is none"),
	{},
};

static const struct fr_table snapshot_kind = {"snapshot", "Of a rule of `--on`.", snapshot_columns};

/* ---- the end ---- */

struct bucket_shown {
	struct fr_hist_bucket b;
	u32 next;
};

static const void *end_bucket(const struct fr_at *at, u32 i)
{
	const struct fr_holdwatch *w = at->rec;
	struct bucket_shown *to = (struct bucket_shown *)at->room;

	if (!i)
		to->next = 0;
	return fr_hist_next(&w->hist, &to->next, &to->b) ? to : NULL;
}

static const struct fr_column bucket_columns[] = {
	FR_COLUMN(struct fr_hist_bucket, low, "from_ns", NS, "lengths from"),
	FR_COLUMN(struct fr_hist_bucket, high, "to_ns", NS, "and up to"),
	FR_COLUMN(struct fr_hist_bucket, cnt, "cnt", COUNT, "holdoffs of such a length"),
	{},
};

static const struct fr_table bucket_kind = {"bucket", "Holdoffs of about one length.", bucket_columns};

static const struct fr_holdwatch_cpu *cpu_shown(const struct fr_at *at)
{
	return at->rec;
}

static struct fr_value cpu_nr(const struct fr_at *at)
{
	return fr_value_nr(fr_sleeper_cpu(cpu_shown(at)->sleeper));
}

static struct fr_value cpu_found(const struct fr_at *at)
{
	return fr_value_nr(cpu_shown(at)->stats.found - cpu_shown(at)->stop_cnt);
}

static struct fr_value cpu_offline(const struct fr_at *at)
{
	return fr_value_bool(fr_sleeper_is_gone(cpu_shown(at)->sleeper));
}

static struct fr_value late_mean(const struct fr_at *at)
{
	const struct fr_sleeper_stats *st = at->rec;

	return fr_value_nr(st->woke ? st->late_sum_ns / st->woke : 0);
}

static struct fr_value late_p50(const struct fr_at *at)
{
	return fr_value_nr(fr_holdwatch_late(at->rec, 500000));
}

static struct fr_value late_p99(const struct fr_at *at)
{
	return fr_value_nr(fr_holdwatch_late(at->rec, 990000));
}

static struct fr_value late_p999(const struct fr_at *at)
{
	return fr_value_nr(fr_holdwatch_late(at->rec, 999000));
}

/* clang-format off */
#define STATS(member, name, unit, meaning, ...) FR_COLUMN(struct fr_sleeper_stats, member, name, unit, meaning, __VA_ARGS__)
#define CPU(member, name, unit, meaning, ...)	FR_COLUMN(struct fr_holdwatch_cpu, member, name, unit, meaning, __VA_ARGS__)
#define PLAIN(place, head, width, ...)		FR_TEXT(place, head, width, .lead = "  ", .plain = true, .none = "0 ns", __VA_ARGS__)
/* clang-format on */

static const struct fr_column late_columns[] = {
	FR_COLUMN_MADE(late_mean, "mean_ns", NS, "of all times; exact, as `max_ns`"),
	FR_COLUMN_MADE(late_p50, "p50_ns", NS, "of half of them: the upper end of a bucket, of which a power of two has four",
		       FR_TEXT(4, "late: p50", 9, .lead = "  ", .none = "0 ns")),
	FR_COLUMN_MADE(late_p99, "p99_ns", NS, "of 99 of 100: likewise", FR_TEXT(5, "p99", 7, .lead = "  ", .none = "0 ns")),
	FR_COLUMN_MADE(late_p999, "p999_ns", NS, "of 999 of 1000: likewise",
		       FR_TEXT(6, "p99.9", 7, .lead = "  ", .none = "0 ns")),
	STATS(late_max_ns, "max_ns", NS, "of the latest", FR_TEXT(7, "max", 8, .lead = "  ", .none = "0 ns")),
	{},
};

static const struct fr_table late_kind = {"late", "How late a thread woke.", late_columns};

static const struct fr_column cpu_columns[] = {
	FR_COLUMN_MADE(cpu_nr, "cpu", NUMBER, "the CPU", FR_TEXT(1, "cpu", -4)),
	CPU(stats.woke, "woke", COUNT, "times that its thread woke", FR_TEXT(2, "woke", 7, .plain = true)),
	CPU(stats.expected, "expected", COUNT, "and should have", FR_TEXT(3, "of", 7, .lead = "  ", .plain = true)),
	CPU(stats.looked, "looked", COUNT, "times that it read the ring"),
	FR_COLUMN_MADE(cpu_found, "holdoffs", COUNT, "all that it found",
		       FR_TEXT(8, "holdoffs", 9, .lead = "  ", .plain = true)),
	CPU(cnt, "told", COUNT, "of these, printed"),
	CPU(stats.missed, "missed", COUNT, "of these, without room in the queue",
	    FR_TEXT(10, "missed", 7, .lead = "  ", .plain = true)),
	CPU(stats.missed_max_ns, "missed_max_ns", NS, "the longest of the latter"),
	CPU(sum_ns, "sum_ns", NS, "length of those that were printed"),
	CPU(max_ns, "max_ns", NS, "of the longest of them", FR_TEXT(9, "longest", 8, .lead = "  ")),
	FR_PART(struct fr_holdwatch_cpu, stats, "late", &late_kind, "how late its thread woke"),
	FR_COLUMN_MADE(cpu_offline, "offline", BOOL, "the CPU went offline, and did not come back"),
	{},
};

const struct fr_table fr_holdwatch_cpu_kind = {"cpu", "A CPU that was watched.", cpu_columns};

static struct fr_value end_watched(const struct fr_at *at)
{
	const struct fr_holdwatch *w = at->rec;

	return fr_value_nr(w->ended_ns - w->begun_ns);
}

static const void *end_cpu(const struct fr_at *at, u32 i)
{
	const struct fr_holdwatch *w = at->rec;

	return i < w->cpu_cnt ? &w->cpu[i] : NULL;
}

static const struct fr_column end_columns[] = {
	FR_COLUMN_MADE(end_watched, "watched_ns", NS, "how long the watch ran"),
	WATCH(hist.cnt, "holdoffs", COUNT, "those that were printed, as are all in the next five"),
	WATCH(incomplete_cnt, "incomplete", COUNT, "of which the ring could tell only a part"),
	FR_COLUMN_OF(SUM, struct fr_holdwatch, hist, "sum_ns", NS, "their length in all"),
	FR_COLUMN_OF(MAX, struct fr_holdwatch, hist, "max_ns", NS, "and the longest one's"),
	WATCH(snapshot_cnt, "snapshots", COUNT, "snapshots taken"),
	FR_LIST(end_bucket, "histogram", &bucket_kind, "by length; empty ones are left out"),
	FR_LIST(end_cpu, "cpus", &fr_holdwatch_cpu_kind, "each CPU that was watched"),
	FR_PART(struct fr_holdwatch, who, NULL, &fr_culprits_kind, NULL),
	{},
};

static const struct fr_table end_kind = {"end", "The last line.", end_columns};

/* ---- a line ---- */

static const struct fr_column line_columns[] = {
	FR_COLUMN_MADE(fr_one_name, "watch", TEXT, "the kind of the line, whose columns follow"),
	FR_ONE_OF(&begin_kind, NULL),
	FR_ONE_OF(&holdoff_kind, NULL),
	FR_ONE_OF(&missed_kind, NULL),
	FR_ONE_OF(&stopped_kind, NULL),
	FR_ONE_OF(&snapshot_kind, NULL),
	FR_ONE_OF(&end_kind, NULL),
	{},
};

const struct fr_table fr_holdwatch_kind = {"line", "What `watch` prints, a line each.", line_columns};

static void kinds_put(struct fr_holdwatch *w, const struct fr_table *kind, const void *rec)
{
	const struct fr_holdwatch_line line = {{kind, rec}, w};

	fr_json_line(w->o, &fr_holdwatch_kind, &line, &line.one);
}

static void kinds_put_begin(struct fr_holdwatch *w)
{
	kinds_put(w, &begin_kind, w);
}

static void kinds_put_holdoff(struct fr_holdwatch *w, const struct fr_holdoff *h)
{
	kinds_put(w, &holdoff_kind, h);
}

static void kinds_put_missed(struct fr_holdwatch *w, const struct fr_holdwatch_missed *m)
{
	kinds_put(w, &missed_kind, m);
}

static void kinds_put_stopped(struct fr_holdwatch *w, const struct fr_holdoff *h)
{
	kinds_put(w, &stopped_kind, h);
}

static void kinds_put_snapshot(struct fr_holdwatch *w, const struct fr_holdwatch_snapshot *s)
{
	kinds_put(w, &snapshot_kind, s);
}

static void kinds_put_end(struct fr_holdwatch *w)
{
	kinds_put(w, &end_kind, w);
}

const struct fr_holdwatch_printer fr_holdwatch_json = {kinds_put_begin,	  kinds_put_holdoff,  kinds_put_missed,
						       kinds_put_stopped, kinds_put_snapshot, kinds_put_end};
