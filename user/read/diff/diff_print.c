/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read/diff/diff_print.h"

#include <stdio.h>
#include <string.h>

#include "base/text/escape.h"
#include "base/text/jsonw.h"
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

static const struct {
	const char *key, *title, *rate; /* rate: what is counted per second */
} kinds[FR_DIFF_KIND_CNT] = {
	[FR_DIFF_EVENT] = {"events", "Events", "a second"},
	[FR_DIFF_CPU] = {"cpu", "CPU time by task name", "% of a CPU"},
	[FR_DIFF_RUNQ] = {"runqueue", "Waiting for a CPU by task name", "% of time"},
	[FR_DIFF_OFFCPU] = {"offcpu", "Off the CPU by task name", "% of time"},
	[FR_DIFF_WAIT] = {"long_waits", "Long waits by task name, call and object", "% of time"},
	[FR_DIFF_CALL] = {"syscalls", "System calls", "a second"},
	[FR_DIFF_BLOCK] = {"block", "Block requests", "a second"},
	[FR_DIFF_IRQ] = {"irq", "Interrupts", "a second"},
	[FR_DIFF_SOFTIRQ] = {"softirq", "Softirqs", "a second"},
};

/* Are lines of this kind times, shown in percent? Otherwise counts. */
static bool is_share(u8 kind)
{
	return kind == FR_DIFF_CPU || kind == FR_DIFF_RUNQ || kind == FR_DIFF_OFFCPU || kind == FR_DIFF_WAIT;
}

static double shown(const struct fr_diff *d, const struct fr_diff_item *it, u32 side)
{
	return is_share(it->kind) ? fr_diff_per_s(d, it->kind, it->side[side].ns, side) / 1e7
				  : fr_diff_per_s(d, it->kind, it->side[side].cnt, side);
}

/* ---- text ---- */

static void put_rate(struct fr_out *o, double v)
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

static void put_ns(struct fr_out *o, const struct fr_hist *h, u32 ppm)
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

static void put_name(struct fr_out *o, const struct fr_diff_item *it, u32 width)
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

/* used: columns of the line so far. On a terminal that has no room left for it, a line of its own. */
static void put_failed(struct fr_out *o, const struct fr_diff_count *side, u32 used)
{
	u32 cols = fr_out_columns(o);

	if (cols && used + FAILED_W > cols)
		fr_out_str(o, "\n  ");
	fr_out_printf(o, "  failed %.1f%% -> %.1f%%", side[0].cnt ? 100.0 * (double)side[0].error_cnt / (double)side[0].cnt : 0,
		      side[1].cnt ? 100.0 * (double)side[1].error_cnt / (double)side[1].cnt : 0);
}

/* Is a value, as of nothing, not known to be that? */
static bool is_unknown(const struct fr_diff *d, const struct fr_diff_item *it, u32 side, double v)
{
	bool late = it->kind == FR_DIFF_WAIT ? d->side[side].waits_late : d->side[side].late;

	return (late && v <= 0) || fr_diff_is_unrecorded(d, it, side);
}

static void put_item(struct fr_out *o, const struct fr_diff *d, const struct fr_diff_item *it, u32 name_w, bool latencies)
{
	double a = shown(d, it, 0), b = shown(d, it, 1);

	put_name(o, it, name_w);
	put_rate(o, a);
	put_rate(o, b);
	if (is_unknown(d, it, 0, a) || is_unknown(d, it, 1, b))
		fr_out_printf(o, "%10s", "-"); /* an unknown value has not changed */
	else
		put_change(o, a, b, it->kind == FR_DIFF_RUNQ);
	if (latencies) {
		put_ns(o, &it->side[0].lat, P50);
		put_ns(o, &it->side[1].lat, P50);
		put_ns(o, &it->side[0].lat, P99);
		put_ns(o, &it->side[1].lat, P99);
		if (it->side[0].lat.cnt && it->side[1].lat.cnt)
			put_change(o, fr_hist_quantile(&it->side[0].lat, P99), fr_hist_quantile(&it->side[1].lat, P99), true);
		else
			fr_out_printf(o, "%10s", "-");
	}
	if (it->side[0].error_cnt || it->side[1].error_cnt)
		put_failed(o, it->side, name_w + (latencies ? NUMBERS_W + LATENCY_W : NUMBERS_W));
	fr_out_char(o, '\n');
}

static void put_title(struct fr_out *o, u8 kind, u32 name_w, bool latencies)
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
static void put_waits(struct fr_out *o, const struct fr_diff *d, u32 side)
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

static void put_side(struct fr_out *o, const struct fr_diff *d, u32 i)
{
	const struct fr_diff_side *s = &d->side[i];
	char text[32];

	fr_out_printf(o, "%c  ", 'A' + (int)i);
	fr_escape_text(o, s->path, strlen(s->path));
	fr_out_printf(o, ": %llu event%s in %s\n", (unsigned long long)s->cnt, fr_plural(s->cnt),
		      fr_show_duration(s->end_ns > s->begin_ns ? s->end_ns - s->begin_ns : 0, text, sizeof(text)));
	if (s->late)
		fr_out_str(o, "   not complete: some CPU's history begins after this window\n");
	else if (s->empty)
		fr_out_str(o, "   not complete: this window has no length, so nothing has a rate\n");
	put_waits(o, d, i);
	put_unrecorded(o, d, i);
}

/* The sum of what has no line, if there is any. */
static bool has_rest(const struct fr_diff *d, u8 kind)
{
	return d->rest[kind].side[0].cnt || d->rest[kind].side[1].cnt;
}

static void put_rest(struct fr_out *o, const struct fr_diff *d, u8 kind, u32 name_w)
{
	const struct fr_diff_item *it = &d->rest[kind];
	double a = shown(d, it, 0), b = shown(d, it, 1);

	fr_out_str(o, "  (left out)");
	fr_out_pad(o, strlen("(left out)"), name_w);
	put_rate(o, a);
	put_rate(o, b);
	put_change(o, a, b, false);
	fr_out_char(o, '\n');
}

static void put_left_out(struct fr_out *o, const struct fr_diff *d)
{
	char text[32];

	if (fr_diff_left_any(d))
		fr_out_printf(o,
			      "left out, for lack of memory: --memory is %s. Each table has what came first, and the sum of "
			      "the rest; a - for a percentile may be that it had no room\n",
			      fr_show_size(fr_memory_bound(), text, sizeof(text)));
}

/* From the item at i on. Returns where the next kind begins. */
static u32 put_kind(struct fr_out *o, const struct fr_diff *d, u8 kind, u32 i, u32 top, u32 width)
{
	bool latencies = has_latencies(kind) && width >= NUMBERS_W + LATENCY_W + 24;
	u32 name_w = name_width(kind, latencies ? NUMBERS_W + LATENCY_W : NUMBERS_W, width), lines = 0;
	const struct fr_diff_item *it = i < d->items.cnt ? fr_tally_at(&d->items, i) : NULL;

	if ((it && it->kind == kind) || has_rest(d, kind))
		put_title(o, kind, name_w, latencies);
	for (; i < d->items.cnt; i++) {
		it = fr_tally_at(&d->items, i);
		if (it->kind != kind)
			break;
		if (lines++ < top)
			put_item(o, d, it, name_w, latencies);
	}
	if (has_rest(d, kind))
		put_rest(o, d, kind, name_w);
	return i;
}

void fr_diff_text(struct fr_out *o, const struct fr_diff *d, u32 top, u32 width)
{
	u32 i = 0;
	u8 kind;

	put_side(o, d, 0);
	put_side(o, d, 1);
	put_left_out(o, d);
	if (!d->items.cnt && !d->full)
		fr_out_str(o, "\nNeither has an event: there is nothing to compare.\n");
	for (kind = 0; kind < FR_DIFF_KIND_CNT; kind++)
		i = put_kind(o, d, kind, i, top, width);
}

/* ---- JSON ---- */

static void json_count(struct fr_jsonw *w, const char *key, const struct fr_diff_item *it, u32 side)
{
	const struct fr_diff_count *c = &it->side[side];

	fr_jsonw_open(w, key, '{');
	fr_jsonw_u64(w, "count", c->cnt);
	if (it->kind == FR_DIFF_CALL)
		fr_jsonw_u64(w, "errors", c->error_cnt);
	if (fr_diff_is_timed(it->kind)) {
		fr_jsonw_u64(w, "ns", c->ns);
	}
	if (fr_diff_is_timed(it->kind) && !c->lat_left_out) {
		fr_jsonw_u64(w, "timed", c->lat.cnt);
		fr_jsonw_u64(w, "p50_ns", fr_hist_quantile(&c->lat, P50));
		fr_jsonw_u64(w, "p99_ns", fr_hist_quantile(&c->lat, P99));
		fr_jsonw_u64(w, "max_ns", c->lat.max);
	}
	fr_jsonw_close(w, '}');
}

static void json_side(struct fr_jsonw *w, const char *key, const struct fr_diff_side *s)
{
	fr_jsonw_open(w, key, '{');
	fr_jsonw_text(w, "file", s->path);
	fr_jsonw_u64(w, "begin_ns", s->begin_ns);
	fr_jsonw_u64(w, "end_ns", s->end_ns);
	fr_jsonw_u64(w, "events", s->cnt);
	fr_jsonw_bool(w, "complete", !s->late && !s->empty);
	if (s->wait_min_ns >= 0)
		fr_jsonw_s64(w, "wait_min_ns", s->wait_min_ns);
	else
		fr_jsonw_text(w, "wait_min_ns", NULL);
	fr_jsonw_u64(w, "wait_begin_ns", s->wait_begin_ns);
	fr_jsonw_bool(w, "waits_complete", !s->waits_late && !s->empty);
	fr_jsonw_text(w, "unrecorded", s->unrecorded);
	fr_jsonw_close(w, '}');
}

/* What has no line, by kind; and what there was no room for beyond. */
static void json_left_out(struct fr_jsonw *w, const struct fr_diff *d)
{
	u32 kind;

	if (!fr_diff_left_any(d))
		return;
	fr_jsonw_open(w, "left_out", '{');
	fr_jsonw_u64(w, "memory", fr_memory_bound());
	for (kind = 0; kind < FR_DIFF_KIND_CNT; kind++) {
		if (!has_rest(d, kind))
			continue;
		fr_jsonw_open(w, kinds[kind].key, '{');
		json_count(w, "a", &d->rest[kind], 0);
		json_count(w, "b", &d->rest[kind], 1);
		fr_jsonw_close(w, '}');
	}
	fr_jsonw_close(w, '}');
}

void fr_diff_json(struct fr_out *o, const struct fr_diff *d)
{
	struct fr_jsonw w = {.o = o};
	u32 i = 0, kind;

	fr_jsonw_open(&w, NULL, '{');
	json_side(&w, "a", &d->side[0]);
	json_side(&w, "b", &d->side[1]);
	for (kind = 0; kind < FR_DIFF_KIND_CNT; kind++) {
		fr_jsonw_open(&w, kinds[kind].key, '[');
		for (; i < d->items.cnt; i++) {
			const struct fr_diff_item *it = fr_tally_at(&d->items, i);

			if (it->kind != kind)
				break;
			fr_jsonw_open(&w, NULL, '{');
			fr_jsonw_mem(&w, "name", it->name, it->len);
			json_count(&w, "a", it, 0);
			json_count(&w, "b", it, 1);
			fr_jsonw_close(&w, '}');
		}
		fr_jsonw_close(&w, ']');
	}
	json_left_out(&w, d);
	fr_jsonw_close(&w, '}');
	fr_out_char(o, '\n');
}
