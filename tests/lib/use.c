/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * use WHAT SNAPSHOT [FILTER]: prints events by each of the library's calls for them. It is given the public header alone.
 * check.py and run.sh compare what it prints.
 */
#include <errno.h>
#include <flightrec.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "use.h"

/* A field, by the call for its kind. The calls for other kinds have to refuse it. */
static void put_value(const struct flightrec_event *ev, int i)
{
	const uint64_t *nums;
	const char *text;
	size_t sz, k;
	uint64_t u;
	int64_t s;

	switch (flightrec_value_kind(ev, i)) {
	case FLIGHTREC_NONE:
		printf("null");
		break;
	case FLIGHTREC_U64:
		if (flightrec_value_u64(ev, i, &u) || flightrec_value_text(ev, i, &text, &sz) != -EINVAL)
			FAIL("u64");
		if (flightrec_value_s64(ev, i, &s) != (u >> 63 ? -ERANGE : 0))
			FAIL("u64 as s64");
		printf("%llu", (unsigned long long)u);
		break;
	case FLIGHTREC_S64:
		if (flightrec_value_s64(ev, i, &s) || flightrec_value_array(ev, i, &nums, &sz) != -EINVAL)
			FAIL("s64");
		if (flightrec_value_u64(ev, i, &u) != (s < 0 ? -ERANGE : 0))
			FAIL("s64 as u64");
		printf("%lld", (long long)s);
		break;
	case FLIGHTREC_TEXT:
		if (flightrec_value_text(ev, i, &text, &sz) || flightrec_value_u64(ev, i, &u) != -EINVAL)
			FAIL("text");
		put_json(text, sz);
		break;
	case FLIGHTREC_ARRAY:
		if (flightrec_value_array(ev, i, &nums, &sz) || flightrec_value_s64(ev, i, &s) != -EINVAL)
			FAIL("array");
		putchar('[');
		for (k = 0; k < sz; k++)
			printf("%s%llu", k ? "," : "", (unsigned long long)nums[k]);
		putchar(']');
	}
}

static void put_pairs(const struct flightrec_event *ev)
{
	static const char *const names[] = {"latency_ns", "offcpu_ns", "queued_ns", "blocked_ns", "oncpu_ns", "waker"};
	uint64_t v;
	int i, err;

	for (i = FLIGHTREC_PAIR_LATENCY; i <= FLIGHTREC_PAIR_WAKER; i++) {
		err = flightrec_event_pair(ev, (enum flightrec_pair)i, &v);
		if (err && err != -ENODATA)
			FAIL("pair: %d", err);
		if (!err)
			printf(",\"%s\":%llu", names[i], (unsigned long long)v);
	}
}

static void put_pos(const struct flightrec_event *ev)
{
	unsigned epoch, offset;
	uint64_t seq;

	flightrec_event_pos(ev, &epoch, &seq, &offset);
	flightrec_event_pos(ev, NULL, NULL, NULL);
	printf(",\"pos\":{\"epoch\":%u,", epoch);
	put_text("tier", flightrec_event_tier(ev));
	printf(",\"seq\":%llu,\"offset\":%u}", (unsigned long long)seq, offset);
}

/* The same object as flightrec_event_json() makes, built from single values. */
static void put_event(const struct flightrec_event *ev)
{
	const struct flightrec_type *t = flightrec_event_type(ev);
	unsigned i;

	printf("{\"ts\":%llu,\"cpu\":%u,", (unsigned long long)flightrec_event_ts(ev), flightrec_event_cpu(ev));
	put_text("event", flightrec_type_name(t));
	if (flightrec_event_pid(ev) < 0)
		printf(",\"pid\":null");
	else
		printf(",\"pid\":%lld", (long long)flightrec_event_pid(ev));
	printf(",\"tid\":%u,", flightrec_event_tid(ev));
	put_text("comm", flightrec_event_comm(ev));
	for (i = 0; i < flightrec_type_field_cnt(t); i++) {
		const char *name = flightrec_field_name(flightrec_type_field(t, (int)i));

		if (flightrec_type_find(t, name) != (int)i)
			FAIL("field %s is not found", name);
		printf(",\"%s\":", name);
		put_value(ev, (int)i);
	}
	put_pairs(ev);
	put_pos(ev);
	puts("}");
}

/*
 * A field is by its name what it is by its number, in words what it is in the line of text, where it is in that. Returns how
 * many were. Stacks are in the line with names of functions.
 */
static unsigned check_names(const struct flightrec_event *ev)
{
	const struct flightrec_type *t = flightrec_event_type(ev);
	const char *text, *text_named, *words;
	const uint64_t *nums, *nums_named;
	size_t sz, sz_named;
	uint64_t u, u_named;
	int64_t v, v_named;
	char cell[8192];
	unsigned i, cnt = 0;

	for (i = 0; i < flightrec_type_field_cnt(t); i++) {
		const struct flightrec_field *f = flightrec_type_field(t, (int)i);
		const char *name = flightrec_field_name(f);

		if (flightrec_get_u64(ev, name, &u_named) != flightrec_value_u64(ev, (int)i, &u) ||
		    flightrec_get_s64(ev, name, &v_named) != flightrec_value_s64(ev, (int)i, &v) ||
		    flightrec_get_text(ev, name, &text_named, &sz_named) != flightrec_value_text(ev, (int)i, &text, &sz) ||
		    flightrec_get_array(ev, name, &nums_named, &sz_named) != flightrec_value_array(ev, (int)i, &nums, &sz))
			FAIL("%s: not the same by name", name);
		if ((!flightrec_value_u64(ev, (int)i, &u) && u != u_named) ||
		    (!flightrec_value_s64(ev, (int)i, &v) && v != v_named) ||
		    (!flightrec_value_text(ev, (int)i, &text, &sz) && (text != text_named || sz != sz_named)) ||
		    (!flightrec_value_array(ev, (int)i, &nums, &sz) && (nums != nums_named || sz != sz_named)))
			FAIL("%s: another value by name", name);
		snprintf(cell, sizeof(cell), " %s=", name);
		if (flightrec_field_is_stack(f) || !strstr(flightrec_event_text(ev, NULL), cell))
			continue;
		words = flightrec_get_words(ev, name);
		snprintf(cell, sizeof(cell), " %s=%s", name, words ? words : "(none)");
		if (!strstr(flightrec_event_text(ev, NULL), cell))
			FAIL("not in the line of text:%s", cell);
		cnt++;
	}
	return cnt;
}

static void fields(const char *path)
{
	struct flightrec *fr = open_file(path, FLIGHTREC_PAIRS, NULL);
	const struct flightrec_event *ev;
	uint64_t last = 0, v, worded = 0;
	int got;

	while ((got = flightrec_next(fr, &ev)) > 0) {
		if (flightrec_event_order_ns(ev) < last || flightrec_value_u64(ev, 99, &v) != -ENOENT ||
		    flightrec_value_u64(ev, -1, &v) != -ENOENT || flightrec_get_u64(ev, "nonsense", &v) != -ENOENT ||
		    flightrec_value_words(ev, 99) || !flightrec_event_matches(ev) || flightrec_event_file(ev))
			FAIL("an event is not as it must be");
		last = flightrec_event_order_ns(ev);
		worded += check_names(ev);
		put_event(ev);
	}
	if (got)
		FAIL("%s", flightrec_error(fr));
	if (!worded)
		FAIL("no field was in a line of text");
	flightrec_free(fr);
}

/* ---- lines, as the command prints them ---- */

static void lines(const char *path, const char *filter, const char *(*of)(const struct flightrec_event *, size_t *))
{
	struct flightrec *fr = open_file(path, 0, filter);
	const struct flightrec_event *ev;
	const char *line;
	size_t sz;

	while (flightrec_next(fr, &ev) > 0) {
		line = of(ev, &sz);
		if (!line || strlen(line) != sz)
			FAIL("a line's length");
		puts(line);
	}
	flightrec_free(fr);
}

/* By a printer, into memory, with stacks in words. The text is taken from time to time. */
static void printed(const char *path, enum flightrec_format format)
{
	struct flightrec *fr = open_file(path, FLIGHTREC_PAIRS, NULL);
	struct flightrec_printer *p;
	const struct flightrec_event *ev;
	const char *text;
	size_t sz, i = 0;

	if (flightrec_printer_new(fr, format, FLIGHTREC_PRINT_SYMBOLS | FLIGHTREC_PRINT_POS, -1, &p))
		FAIL("%s", flightrec_error(fr));
	while (flightrec_next(fr, &ev) > 0) {
		if (flightrec_print(p, ev))
			FAIL("print");
		if (i++ % 1000 == 7) {
			text = flightrec_printer_take(p, &sz);
			if (!text || strlen(text) != sz)
				FAIL("take");
			fputs(text, stdout);
		}
	}
	fputs(flightrec_printer_take(p, NULL), stdout);
	if (*flightrec_printer_take(p, &sz) || sz)
		FAIL("taken twice");
	flightrec_printer_free(p);
	flightrec_free(fr);
}

/* Each stack: the field's name, and its frames. */
static void stacks(const char *path)
{
	struct flightrec *fr = open_file(path, 0, NULL);
	const struct flightrec_event *ev;
	const struct flightrec_stack *s;
	unsigned i, k;

	while (flightrec_next(fr, &ev) > 0) {
		const struct flightrec_type *t = flightrec_event_type(ev);

		for (i = 0; i < flightrec_type_field_cnt(t); i++) {
			const struct flightrec_field *f = flightrec_type_field(t, (int)i);

			if (!flightrec_field_is_stack(f) || flightrec_value_stack(ev, (int)i, &s))
				continue;
			printf("{\"ts\":%llu,", (unsigned long long)flightrec_event_ts(ev));
			printf("\"field\":\"%s\",\"frames\":[", flightrec_field_name(f));
			for (k = 0; k < flightrec_stack_cnt(s); k++) {
				printf("%s{\"ip\":%llu,", k ? "," : "", (unsigned long long)flightrec_frame_ip(s, k));
				put_text("text", flightrec_frame_text(s, k));
				putchar(',');
				put_text("function", flightrec_frame_function(s, k));
				printf(",\"offset\":%llu,", (unsigned long long)flightrec_frame_offset(s, k));
				put_text("module", flightrec_frame_module(s, k));
				printf(",\"module_offset\":%llu,", (unsigned long long)flightrec_frame_module_offset(s, k));
				put_text("missing", flightrec_frame_missing(s, k));
				printf(",\"inlined\":%d,", flightrec_frame_is_inlined(s, k));
				put_text("source", flightrec_frame_source(s, k, NULL));
				putchar('}');
			}
			puts("]}");
			if (flightrec_frame_function(s, 1000000) || flightrec_frame_ip(s, 1000000))
				FAIL("a frame that is not there");
		}
	}
	flightrec_free(fr);
}

/* Which programs had no symbols, once frames were asked for. */
static void missing(const char *path)
{
	struct flightrec *fr = open_file(path, 0, NULL);
	const struct flightrec_event *ev;
	const struct flightrec_stack *s;
	unsigned i;

	flightrec_set_log(fr, say, (void *)"log");
	if (flightrec_warn_symbols(fr))
		FAIL("warned of frames that nobody asked for");
	while (flightrec_next(fr, &ev) > 0)
		for (i = 0; i < flightrec_type_field_cnt(flightrec_event_type(ev)); i++)
			flightrec_value_stack(ev, (int)i, &s);
	printf("%u warned\n", flightrec_warn_symbols(fr));
	flightrec_free(fr);
}

/* ---- gaps ---- */

/* The same object as a printer makes, built from single values. */
static void put_gap(const struct flightrec_gap *gap)
{
	uint64_t since = flightrec_gap_since_ns(gap), until = flightrec_gap_until_ns(gap);

	if (flightrec_gap_file(gap))
		FAIL("a gap of another file");
	since ? printf("{\"ts\":%llu", (unsigned long long)since) : printf("{\"ts\":null");
	printf(",\"cpu\":%u,", flightrec_gap_cpu(gap));
	put_text("gap", flightrec_gap_why(gap));
	until ? printf(",\"until_ns\":%llu}\n", (unsigned long long)until) : printf(",\"until_ns\":null}\n");
}

/* Events by a printer, gaps by their values. */
static void gaps(const char *path)
{
	struct flightrec *fr = open_file(path, FLIGHTREC_GAPS, NULL), *other = open_file(path, 0, NULL);
	struct flightrec_printer *p, *theirs;
	const struct flightrec_event *ev;
	const struct flightrec_gap *gap;
	uint64_t cnt, again;

	if (flightrec_printer_new(fr, FLIGHTREC_FORMAT_JSON, 0, -1, &p) ||
	    flightrec_printer_new(other, FLIGHTREC_FORMAT_JSON, 0, -1, &theirs))
		FAIL("a printer");
	if (flightrec_next_gap(fr, &gap) || flightrec_next_gap(other, &gap) != -EINVAL ||
	    flightrec_next_gap(NULL, &gap) != -EINVAL)
		FAIL("a gap before the first event, or without asking");
	if (flightrec_gap_cnt(NULL, &cnt) != -EINVAL || flightrec_gap_cnt(other, &cnt) || flightrec_gap_cnt(fr, &again) ||
	    cnt != again)
		FAIL("the number of gaps");
	while (flightrec_next(fr, &ev) > 0) {
		while (flightrec_next_gap(fr, &gap) > 0) {
			if (flightrec_print_gap(theirs, gap) != -EINVAL || flightrec_print_gap(p, gap))
				FAIL("a gap is not printed");
			put_gap(gap);
			flightrec_printer_take(p, NULL);
		}
		if (flightrec_print(p, ev))
			FAIL("printing");
		fputs(flightrec_printer_take(p, NULL), stdout);
	}
	while (flightrec_next_gap(fr, &gap) > 0)
		put_gap(gap);
	flightrec_printer_free(p);
	flightrec_printer_free(theirs);
	flightrec_free(other);
	flightrec_free(fr);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "", *path = argc > 2 ? argv[2] : NULL, *filter = argc > 3 ? argv[3] : NULL;

	use_locale();
	if (!path)
		FAIL("use WHAT SNAPSHOT [FILTER]\n");
	else if (!strcmp(what, "fields"))
		fields(path);
	else if (!strcmp(what, "json"))
		lines(path, filter, flightrec_event_json);
	else if (!strcmp(what, "text"))
		lines(path, filter, flightrec_event_text);
	else if (!strcmp(what, "printed-json"))
		printed(path, FLIGHTREC_FORMAT_JSON);
	else if (!strcmp(what, "printed-text"))
		printed(path, FLIGHTREC_FORMAT_TEXT);
	else if (!strcmp(what, "stacks"))
		stacks(path);
	else if (!strcmp(what, "missing"))
		missing(path);
	else if (!strcmp(what, "gaps"))
		gaps(path);
	else
		FAIL("use WHAT SNAPSHOT [FILTER]\n");
	return 0;
}
