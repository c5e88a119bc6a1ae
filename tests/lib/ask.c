/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ask WHAT ARG...: what a program asks of a snapshot beside its events: its schema, what it says of itself, how many events
 * match. It is given the public header alone. check.py and run.sh compare what it prints.
 */
#include <errno.h>
#include <flightrec.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "use.h"

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

/* ---- how many events ---- */

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

/* Which columns were chosen, and what they are for each event; none behind the last. */
static void columns(const char *path, const char *which)
{
	struct flightrec *fr = flightrec_new();
	const struct flightrec_event *ev;
	const char *name, *text;
	unsigned i, cnt;
	size_t sz;

	if (flightrec_column_name(fr, 0))
		FAIL("a column that nobody chose");
	if (flightrec_add(fr, path) || flightrec_set_columns(fr, which) || flightrec_open(fr))
		FAIL("%s", flightrec_error(fr));
	for (cnt = 0; (name = flightrec_column_name(fr, cnt)); cnt++)
		printf("%s%s", cnt ? " " : "", name);
	puts("");
	if (flightrec_column_name(fr, cnt + 1) || flightrec_column_name(fr, ~0u))
		FAIL("columns behind the last");
	while (flightrec_next(fr, &ev) > 0) {
		for (i = 0; i < cnt; i++) {
			text = flightrec_event_column(ev, i, &sz);
			printf("%s%.*s", i ? " " : "", text ? (int)sz : 1, text ? text : "-");
		}
		puts("");
		if (flightrec_event_column(ev, cnt, &sz) || flightrec_event_column(ev, ~0u, &sz))
			FAIL("an event's columns behind the last");
	}
	flightrec_free(fr);
}

/* ---- */

static void version(void)
{
	printf("%s %s %d\n", flightrec_version(), FLIGHTREC_VERSION, FLIGHTREC_VERSION_NUMBER);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "", *path = argc > 2 ? argv[2] : NULL, *arg = argc > 3 ? argv[3] : NULL;

	use_locale();
	if (!strcmp(what, "version"))
		version();
	else if (!strcmp(what, "schema"))
		schema(path);
	else if (!strcmp(what, "info") && path)
		info(path);
	else if (!strcmp(what, "filter") && arg)
		filtered(path, arg);
	else if (!strcmp(what, "window") && arg)
		window(path, arg);
	else if (!strcmp(what, "tiers") && arg)
		tiers(path, arg);
	else if (!strcmp(what, "columns") && arg)
		columns(path, arg);
	else
		FAIL("ask WHAT ARG...\n");
	return 0;
}
