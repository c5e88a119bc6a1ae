/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read/diff/diff_print.h"

#include <stdio.h>
#include <string.h>

#include "base/text/escape.h"
#include "base/text/list.h"
#include "base/text/units.h"
#include "sys/memory.h"

#define P50 500000u
#define P99 990000u

/* Columns of a line */
#define NUMBERS_W 36u /* beside the name */
#define LATENCY_W 50u /* percentiles */
#define FAILED_W  25u /* shares of errors */
#define NAME_W	  30u
#define NAME_MIN  19u /* a name is not made shorter so that shares of errors are on its line */

/* Each kind: its key, heading, unit of its rates, and what it is, for the reference. */
/* clang-format off */
#define DIFF_KINDS(K) \
	K(EVENT, "events", "Events", "a second", "by event") \
	K(CPU, "cpu", "CPU time by task name", "% of a CPU", "time on a CPU, by task name") \
	K(RUNQ, "runqueue", "Waiting for a CPU by task name", "% of time", "runnable without a CPU, by task name") \
	K(OFFCPU, "offcpu", "Off the CPU by task name", "% of time", "off the CPU, by task name") \
	K(WAIT, "long_waits", "Long waits by task name, call and object", "% of time", \
	  "long waits that would have a record on both sides, by task name, call and object, as far as a name of 96 bytes has it") \
	K(CALL, "syscalls", "System calls", "a second", "by system call") \
	K(BLOCK, "block", "Block requests", "a second", "block requests by device, direction and layer") \
	K(IRQ, "irq", "Interrupts", "a second", "by interrupt") \
	K(SOFTIRQ, "softirq", "Softirqs", "a second", "by softirq")
/* clang-format on */

static const struct {
	const char *key, *title, *rate; /* rate: what is counted per second */
} kinds[FR_DIFF_KIND_CNT] = {
#define K(nr, key, title, rate, doc) [FR_DIFF_##nr] = {key, title, rate},
	DIFF_KINDS(K)
#undef K
};

/* Are lines of this kind times, shown in percent? Otherwise counts. */
static bool is_share(u8 kind)
{
	return kind == FR_DIFF_CPU || kind == FR_DIFF_RUNQ || kind == FR_DIFF_OFFCPU || kind == FR_DIFF_WAIT;
}

static double diff_shown(const struct fr_diff *d, const struct fr_diff_item *it, u32 side)
{
	return is_share(it->kind) ? fr_diff_per_s(d, it->kind, it->side[side].ns, side) / 1e7
				  : fr_diff_per_s(d, it->kind, it->side[side].cnt, side);
}

/* ---- text ---- */

static void diff_put_rate(struct fr_out *o, double v)
{
	fr_out_printf(o, v >= 1000 ? "%12.0f" : v >= 10 ? "%12.1f" : "%12.3f", v);
}

/* More is worse: time and errors cost. Less than a tenth is not worth a mark. */
static void put_change(struct fr_out *o, double a, double b, bool costs)
{
	char text[32];

	if (a <= 0)
		snprintf(text, sizeof(text), b > 0 ? "new" : "");
	else if (b <= 0)
		snprintf(text, sizeof(text), "gone");
	else if (b / a >= 10)
		snprintf(text, sizeof(text), "x%.1f", b / a);
	else
		snprintf(text, sizeof(text), "%+.1f%%", (b / a - 1) * 100);
	if (costs && (b > a * 1.1 || b < a * 0.9))
		fr_out_paint(o, b > a ? FR_PAINT_RED : FR_PAINT_GREEN);
	fr_out_printf(o, "%10s", text);
	if (costs)
		fr_out_paint(o, FR_PAINT_NONE);
}

static void diff_put_ns(struct fr_out *o, const struct fr_hist *h, u32 ppm)
{
	char text[32] = "-";

	if (h->cnt)
		fr_show_duration(fr_hist_quantile(h, ppm), text, sizeof(text));
	fr_out_printf(o, " %9s", text);
}

static bool has_latencies(u8 kind)
{
	return kind != FR_DIFF_EVENT && kind != FR_DIFF_CPU;
}

static void diff_put_name(struct fr_out *o, const struct fr_diff_item *it, u32 width)
{
	/* names end where the numbers begin */
	fr_out_str(o, "  ");
	fr_out_pad(o, fr_escape_text_to(o, it->name, it->len, width - 1), width);
}

/* What a page has left for names of this kind, at most NAME_W. */
static u32 name_width(u8 kind, u32 numbers_w, u32 width)
{
	u32 room = width - numbers_w;

	if (kind == FR_DIFF_CALL && room >= NAME_MIN + FAILED_W)
		room -= FAILED_W;
	return room < NAME_W ? room : NAME_W;
}

static void put_failed_of(struct fr_out *o, const struct fr_diff_count *c, bool known)
{
	if (known)
		fr_out_printf(o, "%.1f%%", c->cnt ? 100.0 * (double)c->error_cnt / (double)c->cnt : 0);
	else
		fr_out_char(o, '-');
}

/* used: columns of the line so far. On a terminal that has no room left for it, a line of its own. */
static void put_failed(struct fr_out *o, const struct fr_diff_item *it, const bool *known, u32 used)
{
	u32 cols = fr_out_columns(o);

	if (cols && used + FAILED_W > cols)
		fr_out_str(o, "\n  ");
	fr_out_str(o, "  failed ");
	put_failed_of(o, &it->side[0], known[0]);
	fr_out_str(o, " -> ");
	put_failed_of(o, &it->side[1], known[1]);
}

/* Is a value, as of nothing, not known to be that? */
static bool is_unknown(const struct fr_diff *d, const struct fr_diff_item *it, u32 side, double v)
{
	bool late = it->kind == FR_DIFF_WAIT ? d->side[side].waits_late : d->side[side].late;

	return (late && v <= 0) || fr_diff_is_unrecorded(d, it, side);
}

static void diff_put_known(struct fr_out *o, double v, bool known)
{
	if (known)
		diff_put_rate(o, v);
	else
		fr_out_printf(o, "%12s", "-");
}

static void put_item(struct fr_out *o, const struct fr_diff *d, const struct fr_diff_item *it, u32 name_w, bool latencies)
{
	double a = diff_shown(d, it, 0), b = diff_shown(d, it, 1);
	const bool known[2] = {!is_unknown(d, it, 0, a), !is_unknown(d, it, 1, b)};

	diff_put_name(o, it, name_w);
	diff_put_known(o, a, known[0]);
	diff_put_known(o, b, known[1]);
	if (!known[0] || !known[1])
		fr_out_printf(o, "%10s", "-"); /* an unknown value has not changed */
	else
		put_change(o, a, b, it->kind == FR_DIFF_RUNQ);
	if (latencies) {
		diff_put_ns(o, &it->side[0].lat, P50);
		diff_put_ns(o, &it->side[1].lat, P50);
		diff_put_ns(o, &it->side[0].lat, P99);
		diff_put_ns(o, &it->side[1].lat, P99);
		if (it->side[0].lat.cnt && it->side[1].lat.cnt)
			put_change(o, fr_hist_quantile(&it->side[0].lat, P99), fr_hist_quantile(&it->side[1].lat, P99), true);
		else
			fr_out_printf(o, "%10s", "-");
	}
	if (it->side[0].error_cnt || it->side[1].error_cnt)
		put_failed(o, it, known, name_w + (latencies ? NUMBERS_W + LATENCY_W : NUMBERS_W));
	fr_out_char(o, '\n');
}

static void diff_put_title(struct fr_out *o, u8 kind, u32 name_w, bool latencies)
{
	char title[96];
	int len;

	fr_out_char(o, '\n');
	fr_out_paint(o, FR_PAINT_BOLD);
	len = snprintf(title, sizeof(title), "%s, %s", kinds[kind].title, kinds[kind].rate);
	fr_out_str(o, title);
	fr_out_paint(o, FR_PAINT_NONE);
	fr_out_pad(o, len, name_w + 2);
	if (len > (int)name_w + 2) {
		fr_out_char(o, '\n');
		fr_out_pad(o, 0, name_w + 2);
	}
	fr_out_printf(o, "%12s%12s%10s", "A", "B", "change");
	if (latencies)
		fr_out_printf(o, " %9s %9s %9s %9s%10s", "p50 A", "p50 B", "p99 A", "p99 B", "change");
	fr_out_char(o, '\n');
}

/* Of what the other side has. */
static void put_unrecorded(struct fr_out *o, const struct fr_diff *d, u32 side)
{
	bool any = false;
	u32 i;

	for (i = 0; i < d->items.cnt; i++) {
		const struct fr_diff_item *it = fr_tally_at(&d->items, i);

		if (it->kind != FR_DIFF_EVENT || !fr_diff_is_unrecorded(d, it, side))
			continue;
		fr_out_str(o, any ? ", " : "   not recorded: ");
		fr_escape_text(o, it->name, it->len);
		any = true;
	}
	if (any)
		fr_out_char(o, '\n');
}

/* Which waits count, where it is not all of the part above. */
static void diff_put_waits(struct fr_out *o, const struct fr_diff *d, u32 side)
{
	const struct fr_diff_side *s = &d->side[side];
	char text[32];

	if (fr_list_has(s->unrecorded, "wait"))
		return;
	if (s->waits_late && !s->late)
		fr_out_str(o, "   long waits are not complete: some CPU's history of these begins after this window\n");
	else if (s->wait_begin_ns > s->begin_ns)
		fr_out_printf(o, "   long waits: of the last %s\n",
			      fr_show_duration(s->end_ns - s->wait_begin_ns, text, sizeof(text)));
	if (s->wait_min_ns >= 0 && s->wait_min_ns < d->wait_min_ns)
		fr_out_printf(o, "   long waits: of at least %s; shorter ones have no record on the other side\n",
			      fr_show_duration(d->wait_min_ns, text, sizeof(text)));
}

static void put_thinned(struct fr_out *o, const struct fr_diff_side *s)
{
	char what[FR_THINS_TEXT_SZ];

	if (s->thinned.since_ns)
		fr_out_printf(o,
			      "   thinned: %s left out, so these are at least so many here; fewer than on the other side may "
			      "be as many\n",
			      fr_thins_text(s->thinned.left, what, sizeof(what)));
}

static void put_side(struct fr_out *o, const struct fr_diff *d, u32 i)
{
	const struct fr_diff_side *s = &d->side[i];
	char text[32];

	fr_out_printf(o, "%c  ", 'A' + (int)i);
	fr_escape_text(o, s->path, strlen(s->path));
	fr_out_printf(o, ": %llu event%s in %s\n", s->cnt, fr_plural(s->cnt),
		      fr_show_duration(s->end_ns > s->begin_ns ? s->end_ns - s->begin_ns : 0, text, sizeof(text)));
	if (s->late)
		fr_out_str(o, "   not complete: some CPU's history begins after this window\n");
	else if (s->empty)
		fr_out_str(o, "   not complete: this window has no length, so nothing has a rate\n");
	diff_put_waits(o, d, i);
	put_unrecorded(o, d, i);
	put_thinned(o, s);
}

/* The sum of what has no line, if there is any. */
static bool has_rest(const struct fr_diff *d, u8 kind)
{
	return d->rest[kind].side[0].cnt || d->rest[kind].side[1].cnt;
}

static void diff_put_rest(struct fr_out *o, const struct fr_diff *d, u8 kind, u32 name_w)
{
	const struct fr_diff_item *it = &d->rest[kind];
	double a = diff_shown(d, it, 0), b = diff_shown(d, it, 1);

	fr_out_str(o, "  (left out)");
	fr_out_pad(o, strlen("(left out)"), name_w);
	diff_put_rate(o, a);
	diff_put_rate(o, b);
	put_change(o, a, b, false);
	fr_out_char(o, '\n');
}

static void diff_put_left_out(struct fr_out *o, const struct fr_diff *d)
{
	char text[32];

	if (fr_diff_left_any(d))
		fr_out_printf(o,
			      "left out, for lack of memory: --memory is %s. Each table has what came first, and the sum of "
			      "the rest; a - for a percentile may be that it had no room\n",
			      fr_show_size(fr_memory_bound(), text, sizeof(text)));
}

static void diff_put_kind(struct fr_out *o, const struct fr_diff *d, u8 kind, u32 top, u32 width)
{
	bool latencies = has_latencies(kind) && width >= NUMBERS_W + LATENCY_W + 24;
	u32 name_w = name_width(kind, latencies ? NUMBERS_W + LATENCY_W : NUMBERS_W, width), i;
	const struct fr_diff_item *it;

	if (fr_diff_item(d, kind, 0) || has_rest(d, kind))
		diff_put_title(o, kind, name_w, latencies);
	for (i = 0; i < top && (it = fr_diff_item(d, kind, i)); i++)
		put_item(o, d, it, name_w, latencies);
	if (has_rest(d, kind))
		diff_put_rest(o, d, kind, name_w);
}

void fr_diff_text(struct fr_out *o, const struct fr_diff *d, u32 top, u32 width)
{
	u8 kind;

	put_side(o, d, 0);
	put_side(o, d, 1);
	diff_put_left_out(o, d);
	if (!d->items.cnt && !d->full)
		fr_out_str(o, "\nNeither has an event: there is nothing to compare.\n");
	for (kind = 0; kind < FR_DIFF_KIND_CNT; kind++)
		diff_put_kind(o, d, kind, top, width);
}

/* ---- JSON: kinds of base/show/table.h, all of a struct fr_diff ---- */

/* What a thing has on one side. */
struct diff_on {
	const struct fr_diff_item *item;
	u32 side;
};

static const void *diff_on(const struct fr_at *at, u32 side)
{
	struct diff_on on = {at->rec, side};

	return memcpy(at->room, &on, sizeof(on));
}

static const void *diff_on_a(const struct fr_at *at, u32 i)
{
	return i || fr_diff_is_unrecorded(at->of, at->rec, 0) ? NULL : diff_on(at, 0);
}

static const void *diff_on_b(const struct fr_at *at, u32 i)
{
	return i || fr_diff_is_unrecorded(at->of, at->rec, 1) ? NULL : diff_on(at, 1);
}

static const struct fr_diff_count *diff_count(const struct fr_at *at)
{
	const struct diff_on *on = at->rec;

	return &on->item->side[on->side];
}

static u8 diff_kind(const struct fr_at *at)
{
	return ((const struct diff_on *)at->rec)->item->kind;
}

static struct fr_value count_cnt(const struct fr_at *at)
{
	return fr_value_nr(diff_count(at)->cnt);
}

static struct fr_value count_errors(const struct fr_at *at)
{
	return diff_kind(at) == FR_DIFF_CALL ? fr_value_nr(diff_count(at)->error_cnt) : fr_value_absent();
}

static struct fr_value count_ns(const struct fr_at *at)
{
	return fr_diff_is_timed(diff_kind(at)) ? fr_value_nr(diff_count(at)->ns) : fr_value_absent();
}

/* A figure of its latencies, if it has any. */
static struct fr_value count_lat(const struct fr_at *at, u64 v)
{
	return fr_diff_is_timed(diff_kind(at)) && !diff_count(at)->lat_left_out ? fr_value_nr(v) : fr_value_absent();
}

static struct fr_value count_timed(const struct fr_at *at)
{
	return count_lat(at, diff_count(at)->lat.cnt);
}

static struct fr_value count_p50(const struct fr_at *at)
{
	return count_lat(at, fr_hist_quantile(&diff_count(at)->lat, P50));
}

static struct fr_value count_p99(const struct fr_at *at)
{
	return count_lat(at, fr_hist_quantile(&diff_count(at)->lat, P99));
}

static struct fr_value count_max(const struct fr_at *at)
{
	return count_lat(at, diff_count(at)->lat.max);
}

static const struct fr_column count_columns[] = {
	FR_COLUMN_MADE(count_cnt, "count", COUNT, "how often"),
	FR_COLUMN_MADE(count_errors, "errors", COUNT, "of these, failed; only of calls"),
	FR_COLUMN_MADE(count_ns, "ns", NS, "time in all, as far as known; this and what follows: not of events"),
	FR_COLUMN_MADE(count_timed, "timed", COUNT,
		       "of how many the time is known; absent, with what follows, for lack of memory"),
	FR_COLUMN_MADE(count_p50, "p50_ns", NS, "of half of them: never too low, at most 1/32 too high"),
	FR_COLUMN_MADE(count_p99, "p99_ns", NS, "of 99 of 100: likewise"),
	FR_COLUMN_MADE(count_max, "max_ns", NS, "the longest"),
	{},
};

static const struct fr_table count_kind = {"figures", "What a thing has on one side.", count_columns};

static struct fr_value item_name(const struct fr_at *at)
{
	const struct fr_diff_item *it = at->rec;

	return it->key ? fr_value_mem(it->name, it->len) : fr_value_absent();
}

static const struct fr_column item_columns[] = {
	FR_COLUMN_MADE(item_name, "name", TEXT, "the event, task, call, ...; not of what was left out"),
	FR_PART_MADE(diff_on_a, "a", &count_kind, "its figures on the first side; `null`: it does not record what they need",
		     .null = true),
	FR_PART_MADE(diff_on_b, "b", &count_kind, "and on the second, likewise", .null = true),
	{},
};

static const struct fr_table item_kind = {"thing", "A thing that is compared.", item_columns};

static u8 diff_kind_of(const struct fr_at *at)
{
	u8 kind = 0;

	while (strcmp(kinds[kind].key, at->column->name) != 0)
		kind++;
	return kind;
}

static const void *diff_item(const struct fr_at *at, u32 i)
{
	return fr_diff_item(at->of, diff_kind_of(at), i);
}

static const void *diff_rest(const struct fr_at *at, u32 i)
{
	const struct fr_diff *d = at->of;
	u8 kind = diff_kind_of(at);

	return !i && has_rest(d, kind) ? &d->rest[kind] : NULL;
}

static struct fr_value diff_left_memory(const struct fr_at *at)
{
	(void)at;
	return fr_value_nr(fr_memory_bound());
}

static const struct fr_column left_columns[] = {
	FR_COLUMN_MADE(diff_left_memory, "memory", SIZE, "the limit"),
#define K(nr, key, title, rate, doc) FR_PART_MADE(diff_rest, key, &item_kind, "the sum of those without a place, if any"),
	DIFF_KINDS(K)
#undef K
		{},
};

static const struct fr_table left_kind = {"rest", "What has no place of its own.", left_columns};

static struct fr_value side_complete(const struct fr_at *at)
{
	const struct fr_diff_side *s = at->rec;

	return fr_value_bool(!s->late && !s->empty);
}

static struct fr_value side_wait_min(const struct fr_at *at)
{
	const struct fr_diff_side *s = at->rec;

	return s->wait_min_ns >= 0 ? fr_value_snr(s->wait_min_ns) : fr_value_null();
}

static struct fr_value side_waits_complete(const struct fr_at *at)
{
	const struct fr_diff_side *s = at->rec;

	return fr_value_bool(!s->waits_late && !s->empty);
}

/* clang-format off */
#define SIDE(member, name, unit, meaning) FR_COLUMN(struct fr_diff_side, member, name, unit, meaning)
/* clang-format on */

static const struct fr_column side_columns[] = {
	SIDE(path, "file", TEXT, "the file, as given"),
	SIDE(begin_ns, "begin_ns", CLOCK, "the part that counts begins here"),
	SIDE(end_ns, "end_ns", CLOCK, "and ends here"),
	SIDE(cnt, "events", COUNT, "its events"),
	FR_COLUMN_MADE(
		side_complete, "complete", BOOL,
		"`false`: the window lies before the common horizon, so something is missing; or it has no length, as it lies "
		"outside of the file"),
	FR_COLUMN_MADE(
		side_wait_min, "wait_min_ns", NS,
		"its WaitMin; `null`: not known, or no waits are recorded. Only waits count that are as long as the larger of "
		"both"),
	SIDE(wait_begin_ns, "wait_begin_ns", CLOCK,
	     "the part that counts for long waits begins here: they have a history of their own"),
	FR_COLUMN_MADE(side_waits_complete, "waits_complete", BOOL, "as `complete`, of them"),
	SIDE(unrecorded, "unrecorded", TEXT, "events that were not recorded, separated by commas"),
	SIDE(thinned.left[FR_THIN_calls], "thinned_calls", COUNT,
	     "left out of cgroups [beyond their share](thinning.md): system calls, whole ones: beginning, texts and end"),
	SIDE(thinned.left[FR_THIN_faults], "thinned_faults", COUNT,
	     "left out of cgroups [beyond their share](thinning.md): page faults"),
	SIDE(thinned.left[FR_THIN_signals], "thinned_signals", COUNT,
	     "left out of cgroups [beyond their share](thinning.md): signals, but those that tell why a process died"),
	SIDE(thinned.left[FR_THIN_tracepoints], "thinned_tracepoints", COUNT,
	     "left out of cgroups [beyond their share](thinning.md): events of tracepoints"),
	{},
};

static const struct fr_table side_kind = {"side", "A file or window that is compared.", side_columns};

static const void *diff_left(const struct fr_at *at, u32 i)
{
	return !i && fr_diff_left_any(at->of) ? at->of : NULL;
}

static const struct fr_column diff_columns[] = {
	FR_PART(struct fr_diff, side[0], "a", &side_kind, "the first file or window"),
	FR_PART(struct fr_diff, side[1], "b", &side_kind, "the second"),
#define K(nr, key, title, rate, doc) FR_LIST(diff_item, key, &item_kind, doc),
	DIFF_KINDS(K)
#undef K
		FR_PART_MADE(diff_left, "left_out", &left_kind,
			     "what had no place for lack of [memory](replay.md#memory); absent if all had"),
	{},
};

const struct fr_table fr_diff_table = {"comparison", "What `diff` prints.", diff_columns};

void fr_diff_json(struct fr_out *o, const struct fr_diff *d)
{
	fr_json_line(o, &fr_diff_table, d, d);
}
