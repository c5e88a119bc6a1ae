/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * use WHAT ARG...: calls each function of the library, with its public header alone. check.py compares what it prints.
 */
#include <errno.h>
#include <flightrec.h>
#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "use.h"

static void say(void *arg, int level, const char *text)
{
	printf("%s %s: %s\n", (const char *)arg, level == FLIGHTREC_LOG_ERROR ? "error" : "warning", text);
}

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

/* ---- schema and info ---- */

static void schema(const char *path)
{
	struct flightrec *fr = path ? open_file(path, 0, NULL) : NULL;
	const struct flightrec_type *t = NULL;
	const char *comma = "";
	unsigned i;

	putchar('[');
	while ((t = flightrec_type_next(fr, 0, t))) {
		if (flightrec_type_named(fr, 0, flightrec_type_name(t)) != t)
			FAIL("type");
		printf("%s{\"nr\":%u,", comma, flightrec_type_nr(t));
		put_text("name", flightrec_type_name(t));
		putchar(',');
		put_text("doc", flightrec_type_doc(t));
		putchar(',');
		put_text("group", flightrec_type_group(t));
		putchar(',');
		put_text("tier", flightrec_type_tier(t));
		printf(",\"bytes\":%u,\"fields\":[", flightrec_type_bytes(t));
		for (i = 0; i < flightrec_type_field_cnt(t); i++) {
			const struct flightrec_field *f = flightrec_type_field(t, (int)i);

			printf("%s{", i ? "," : "");
			put_text("name", flightrec_field_name(f));
			putchar(',');
			put_text("type", flightrec_field_type(f));
			putchar(',');
			put_text("style", flightrec_field_style(f));
			printf(",\"derived\":%s,", flightrec_field_is_derived(f) ? "true" : "false");
			put_text("from", flightrec_field_from(f));
			putchar(',');
			put_text("doc", flightrec_field_doc(f));
			printf(",\"kind\":%d}", flightrec_field_kind(f));
		}
		printf("]}");
		comma = ",\n";
	}
	puts("]");
	if (flightrec_type_named(fr, 0, "nonsense") || flightrec_type_next(fr, 7, NULL) != flightrec_type_next(NULL, 0, NULL))
		if (fr && flightrec_type_next(fr, 7, NULL))
			FAIL("types that are not there");
	flightrec_free(fr);
}

static void info(const char *path)
{
	static const char *const facts[] = {"host",    "kernel",  "arch",	    "boot_id",
					    "version", "session", "trigger_reason", "trigger_pid"};
	struct flightrec *fr = open_file(path, 0, NULL);
	uint64_t begin, end;
	int64_t pid = 0;
	unsigned i;

	printf("{\"files\":%u,", flightrec_file_cnt(fr));
	put_text("path", flightrec_file_path(fr, 0));
	for (i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		putchar(',');
		put_text(facts[i], flightrec_fact(fr, 0, facts[i]));
	}
	flightrec_window(fr, &begin, &end);
	printf(",\"begin\":%llu,\"end\":%llu,", (unsigned long long)begin, (unsigned long long)end);
	put_u64("wall_ns", flightrec_wall_ns(fr, 0, end));
	putchar(',');
	put_u64("horizon_ns", flightrec_horizon_ns(fr, 0, "main"));
	puts("}");
	if (flightrec_fact_s64(fr, 0, "arch", &pid) != -EINVAL || flightrec_fact_s64(fr, 0, "nonsense", &pid) != -ENODATA ||
	    flightrec_fact_s64(fr, 1, "trigger_pid", &pid) != -ENODATA || pid ||
	    flightrec_fact_s64(fr, 0, "trigger_pid", &pid) || pid != strtoll(flightrec_fact(fr, 0, "trigger_pid"), NULL, 10))
		FAIL("a fact that is a number, or none");
	if (flightrec_fact(fr, 1, "host") || flightrec_file_path(fr, 1) || flightrec_ring(fr, 1, 0) ||
	    flightrec_damage(fr, 0, 0) || flightrec_is_damaged(fr) || flightrec_warn_damage(fr))
		FAIL("what is not there");
	flightrec_free(fr);
}

/* ---- what goes wrong ---- */

/* Everything that can be refused, and the messages. They go to standard output, since standard error has to stay empty. */
static void errors(const char *good, const char *damaged, const char *later)
{
	struct flightrec *fr = flightrec_new();
	struct flightrec_filter *f;
	struct flightrec_printer *p;
	const struct flightrec_event *ev;
	uint64_t v;
	unsigned i;

	flightrec_set_log(fr, say, (void *)"log");
	if (flightrec_add(NULL, good) != -EINVAL || flightrec_set_since(NULL, "1s") != -EINVAL ||
	    flightrec_set_filter(NULL, "cpu") != -EINVAL || flightrec_set_tiers(NULL, "all") != -EINVAL ||
	    flightrec_set_flags(NULL, 0) != -EINVAL || flightrec_open(NULL) != -EINVAL ||
	    flightrec_next(NULL, &ev) != -EINVAL || flightrec_count(NULL, &v) != -EINVAL ||
	    flightrec_filter_new(NULL, "cpu", &f) != -EINVAL ||
	    flightrec_printer_new(NULL, FLIGHTREC_FORMAT_TEXT, 0, -1, &p) != -EINVAL || flightrec_file_cnt(NULL) ||
	    flightrec_fact(NULL, 0, "host") || !*flightrec_error(NULL))
		FAIL("a handle that is none");
	flightrec_set_log(NULL, say, NULL);
	printf("%d add nothing\n", flightrec_add(fr, NULL));
	printf("%d until nothing\n", flightrec_set_until(fr, NULL));
	printf("%d window nothing\n", flightrec_set_window(fr, NULL));
	printf("%d tiers nothing\n", flightrec_set_tiers(fr, NULL));
	printf("%d since\n", flightrec_set_since(fr, "yesterday"));
	printf("%d window\n", flightrec_set_window(fr, "1..2..3"));
	printf("%d tiers\n", flightrec_set_tiers(fr, "mian"));
	printf("%d flags\n", flightrec_set_flags(fr, 0x8000));
	printf("%d symbols\n", flightrec_set_symbols(fr, "/nonexistent", 0));
	printf("%d next before open\n", flightrec_next(fr, &ev));
	printf("%d filter before open\n", flightrec_filter_new(fr, "cpu == 1", &f));
	printf("%d printer before open\n", flightrec_printer_new(fr, FLIGHTREC_FORMAT_TEXT, 0, -1, &p));
	printf("%d open nothing\n", flightrec_open(fr));
	printf("%d files, %s\n", flightrec_file_cnt(fr), flightrec_error(fr));
	flightrec_add(fr, "/nonexistent\033[31m.flight");
	printf("%d open missing\n", flightrec_open(fr));
	printf("%d open again\n", flightrec_open(fr));
	printf("%d next\n", flightrec_next(fr, &ev));
	flightrec_free(fr);

	fr = flightrec_new();
	flightrec_add(fr, good);
	flightrec_set_filter(fr, "tid == 5 && nxt_pid == 6");
	printf("%d open with a wrong filter\n", flightrec_open(fr));
	printf("%s\n", flightrec_error(fr));
	flightrec_free(fr);

	fr = open_file(good, 0, NULL);
	printf("%d filter\n", flightrec_filter_new(fr, "cpu == ", &f));
	printf("%s\n", flightrec_error(fr));
	printf("%d filter of nothing\n", flightrec_filter_new(fr, NULL, &f));
	printf("%d filter for pairs\n", flightrec_filter_new(fr, "latency > 1ms", &f));
	printf("%d filter for cgroups\n", flightrec_filter_new(fr, "cgroup ~ \"/a*\"", &f));
	printf("%d printer\n", flightrec_printer_new(fr, FLIGHTREC_FORMAT_TEXT, 0x100, -1, &p));
	printf("%d next\n", flightrec_next(fr, &ev));
	printf("%d pair\n", flightrec_event_pair(ev, FLIGHTREC_PAIR_LATENCY, &v));
	printf("%d add\n", flightrec_add(fr, good));
	flightrec_free(fr);

	fr = flightrec_new();
	flightrec_add(fr, good);
	flightrec_add(fr, later);
	printf("%d open one of a later format\n", flightrec_open(fr));
	printf("%s\n", flightrec_error(fr));
	flightrec_free(fr);

	fr = flightrec_new();
	flightrec_set_log(fr, say, (void *)"one of two");
	flightrec_add(fr, "/dev/null");
	flightrec_add(fr, good);
	printf("%d open, ", flightrec_open(fr));
	printf("%u files\n", flightrec_file_cnt(fr));
	printf("'%s'\n", flightrec_error(fr));
	printf("%d is damaged\n", flightrec_is_damaged(fr));
	flightrec_free(fr);

	fr = flightrec_new();
	flightrec_set_log(fr, say, (void *)"damaged");
	flightrec_add(fr, damaged);
	printf("%d open damaged\n", flightrec_open(fr));
	printf("%d count\n", flightrec_count(fr, &v));
	printf("%d %d next behind the end\n", flightrec_next(fr, &ev), flightrec_next(fr, &ev));
	for (i = 0; flightrec_damage(fr, 0, i); i++)
		printf("damage: %s\n", flightrec_damage(fr, 0, i));
	printf("%d is damaged\n", flightrec_is_damaged(fr));
	printf("%d warned\n", flightrec_warn_damage(fr));
	flightrec_free(fr);
	flightrec_free(NULL);
	flightrec_filter_free(NULL);
	flightrec_printer_free(NULL);
}

/* ---- filters ---- */

static bool is_same(const struct flightrec_event *a, const struct flightrec_event *b)
{
	unsigned off_a, off_b;
	uint64_t seq_a, seq_b;

	flightrec_event_pos(a, NULL, &seq_a, &off_a);
	flightrec_event_pos(b, NULL, &seq_b, &off_b);
	return flightrec_event_ts(a) == flightrec_event_ts(b) && flightrec_event_cpu(a) == flightrec_event_cpu(b) &&
	       flightrec_event_tid(a) == flightrec_event_tid(b) && seq_a == seq_b && off_a == off_b &&
	       flightrec_type_nr(flightrec_event_type(a)) == flightrec_type_nr(flightrec_event_type(b));
}

/* How many events match: by the handle's filter, by a filter beside it, by one that all events match, and counted. */
static void filtered(const char *path, const char *expr)
{
	struct flightrec *fr = open_file(path, FLIGHTREC_PAIRS | FLIGHTREC_CGROUPS, NULL);
	const struct flightrec_event *ev, *other;
	struct flightrec *plain;
	struct flightrec_filter *f;
	uint64_t counted, own = 0, beside = 0, marked = 0, all = 0;

	if (flightrec_filter_new(fr, expr, &f))
		FAIL("%s", flightrec_error(fr));
	for (; flightrec_next(fr, &ev) > 0; all++)
		beside += flightrec_filter_match(f, ev);
	flightrec_filter_free(f);
	flightrec_free(fr);
	fr = open_file(path, FLIGHTREC_UNMATCHED, expr);
	plain = open_file(path, 0, NULL);
	for (; flightrec_next(fr, &ev) > 0; all--) {
		marked += flightrec_event_matches(ev);
		if (flightrec_next(plain, &other) <= 0 || !is_same(ev, other))
			FAIL("an event that does not match is another one");
	}
	flightrec_free(plain);
	flightrec_free(fr);
	fr = open_file(path, 0, expr);
	while (flightrec_next(fr, &ev) > 0)
		own++;
	flightrec_free(fr);
	fr = open_file(path, 0, expr);
	if (flightrec_next(fr, &ev) < 0 || flightrec_count(fr, &counted))
		FAIL("count");
	flightrec_free(fr);
	if (beside != own || marked != own || all || counted + (own > 0) != own)
		FAIL("%llu by the handle, %llu beside, %llu marked, 1 + %llu counted", (unsigned long long)own,
		     (unsigned long long)beside, (unsigned long long)marked, (unsigned long long)counted);
	printf("%llu\n", (unsigned long long)own);
}

/* How many events are in a window. */
static void window(const char *path, const char *when)
{
	struct flightrec *fr = flightrec_new();
	uint64_t begin, end, cnt;

	if (flightrec_add(fr, path) || flightrec_set_window(fr, when) || flightrec_open(fr))
		FAIL("%s", flightrec_error(fr));
	flightrec_window(fr, &begin, NULL);
	flightrec_window(fr, NULL, &end);
	if (begin >= end || flightrec_count(fr, &cnt))
		FAIL("a window");
	flightrec_free(fr);
	printf("%llu\n", (unsigned long long)cnt);
}

/* How many events are in these tiers. */
static void tiers(const char *path, const char *which)
{
	struct flightrec *fr = flightrec_new();
	uint64_t cnt = 0;

	if (flightrec_add(fr, path) || flightrec_set_tiers(fr, which) || flightrec_open(fr) || flightrec_count(fr, &cnt))
		FAIL("%s", flightrec_error(fr));
	flightrec_free(fr);
	printf("%llu\n", (unsigned long long)cnt);
}

/* ---- what does not exist, or belongs to another handle ---- */

/* NULL in place of handles and names; handles that are not open. */
static void nothing(const struct flightrec_event *ev, struct flightrec *fr)
{
	struct flightrec *closed = flightrec_new();
	uint64_t begin = 1, end = 1, v;

	flightrec_window(NULL, &begin, &end);
	if (begin || end || flightrec_is_damaged(NULL) || flightrec_warn_damage(NULL) || flightrec_warn_symbols(NULL) ||
	    flightrec_horizon_ns(NULL, 0, "main") || flightrec_ring(NULL, 0, 0) || flightrec_damage(NULL, 0, 0) ||
	    flightrec_wall_ns(NULL, 0, 1) || flightrec_file_path(NULL, 0))
		FAIL("something of a handle that is none");
	if (flightrec_is_damaged(closed) || flightrec_warn_damage(closed) || flightrec_warn_symbols(closed) ||
	    flightrec_horizon_ns(closed, 0, "main") || flightrec_ring(closed, 0, 0) || flightrec_type_next(closed, 0, NULL) ||
	    flightrec_type_named(closed, 0, "sched_switch") || flightrec_fact(closed, 0, "host") || flightrec_file_cnt(closed))
		FAIL("something of a handle that is not open");
	if (flightrec_fact(fr, 0, NULL) || flightrec_horizon_ns(fr, 0, NULL) || flightrec_type_named(NULL, 0, NULL) ||
	    flightrec_get_u64(ev, NULL, &v) != -ENOENT || flightrec_get_words(ev, NULL))
		FAIL("something that has no name");
	flightrec_free(closed);
}

/* Filters and printers are for events of their own handle: another handle has another schema. */
static void others(const char *path)
{
	struct flightrec *fr = open_file(path, 0, NULL), *other = open_file(path, 0, NULL);
	const struct flightrec_event *ev, *theirs;
	struct flightrec_printer *p;
	struct flightrec_filter *f;

	if (flightrec_next(fr, &ev) != 1 || flightrec_next(other, &theirs) != 1 || flightrec_filter_new(fr, "ts > 0", &f) ||
	    flightrec_printer_new(fr, FLIGHTREC_FORMAT_JSON, 0, -1, &p))
		FAIL("%s", flightrec_error(fr));
	if (!flightrec_filter_match(f, ev) || flightrec_filter_match(f, theirs))
		FAIL("a filter of another handle");
	if (flightrec_print(p, ev) || flightrec_print(p, theirs) != -EINVAL || strchr(flightrec_printer_take(p, NULL), '\n')[1])
		FAIL("a printer of another handle");
	nothing(ev, fr);
	flightrec_printer_free(p);
	flightrec_filter_free(f);
	flightrec_free(other);
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

/* ---- two handles in two threads ---- */

struct worker {
	const char *path, *filter;
	uint64_t sum, cnt;
};

static void *work(void *arg)
{
	struct worker *w = arg;
	struct flightrec *fr = open_file(w->path, FLIGHTREC_PAIRS, w->filter), *bad = flightrec_new();
	const struct flightrec_event *ev;
	const char *line;
	size_t sz, i;

	flightrec_type_next(NULL, 0, NULL);
	flightrec_add(bad, w->filter ? "/nonexistent/1" : "/nonexistent/2");
	if (flightrec_open(bad) != -ENOENT || !strstr(flightrec_error(bad), w->filter ? "nonexistent/1" : "nonexistent/2"))
		FAIL("another's error: %s", flightrec_error(bad));
	flightrec_free(bad);
	for (; flightrec_next(fr, &ev) > 0; w->cnt++) {
		line = w->cnt % 2 ? flightrec_event_json(ev, &sz) : flightrec_event_text(ev, &sz);
		for (i = 0; line && i < sz; i++)
			w->sum = w->sum * 31 + (unsigned char)line[i];
	}
	flightrec_free(fr);
	return NULL;
}

static void threads(const char *path)
{
	struct worker w[4] = {
		{.path = path}, {.path = path, .filter = "cpu == 0"}, {.path = path}, {.path = path, .filter = "cpu == 0"}};
	pthread_t t[4];
	int i;

	for (i = 0; i < 4; i++)
		if (pthread_create(&t[i], NULL, work, &w[i]))
			FAIL("pthread_create");
	for (i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	if (!w[0].cnt || w[0].sum != w[2].sum || w[1].sum != w[3].sum || w[0].cnt != w[2].cnt || w[1].cnt >= w[0].cnt)
		FAIL("threads saw different events");
	printf("%llu %llu\n", (unsigned long long)w[0].cnt, (unsigned long long)w[1].cnt);
}

/* ---- */

static void version(void)
{
	printf("%s %s %d\n", flightrec_version(), FLIGHTREC_VERSION, FLIGHTREC_VERSION_NUMBER);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "", *path = argc > 2 ? argv[2] : NULL, *arg = argc > 3 ? argv[3] : NULL;

	if (!setlocale(LC_ALL, "")) /* as graphical programs do */
		FAIL("there is no such locale");
	if (!strcmp(what, "version"))
		version();
	else if (!strcmp(what, "schema"))
		schema(path);
	else if (!path)
		FAIL("use WHAT ARG...\n");
	else if (!strcmp(what, "fields"))
		fields(path);
	else if (!strcmp(what, "json"))
		lines(path, arg, flightrec_event_json);
	else if (!strcmp(what, "text"))
		lines(path, arg, flightrec_event_text);
	else if (!strcmp(what, "printed-json"))
		printed(path, FLIGHTREC_FORMAT_JSON);
	else if (!strcmp(what, "printed-text"))
		printed(path, FLIGHTREC_FORMAT_TEXT);
	else if (!strcmp(what, "stacks"))
		stacks(path);
	else if (!strcmp(what, "info"))
		info(path);
	else if (!strcmp(what, "filter") && arg)
		filtered(path, arg);
	else if (!strcmp(what, "window") && arg)
		window(path, arg);
	else if (!strcmp(what, "tiers") && arg)
		tiers(path, arg);
	else if (!strcmp(what, "missing"))
		missing(path);
	else if (!strcmp(what, "others"))
		others(path);
	else if (!strcmp(what, "gaps"))
		gaps(path);
	else if (!strcmp(what, "threads"))
		threads(path);
	else if (!strcmp(what, "errors") && argc == 5)
		errors(path, arg, argv[4]);
	else
		FAIL("use WHAT ARG...\n");
	return 0;
}
