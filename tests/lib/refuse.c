/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * refuse others SNAPSHOT: what is not there, or belongs to another handle, is refused.
 * refuse errors GOOD DAMAGED LATER: everything else that can be refused, and the messages, which run.sh compares with
 * errors.txt.
 */
#include <errno.h>
#include <flightrec.h>
#include <stdio.h>
#include <string.h>

#include "use.h"

/* ---- messages ---- */

static void no_handle(const char *good)
{
	struct flightrec_filter *f;
	struct flightrec_printer *p;
	const struct flightrec_event *ev;
	uint64_t v;

	if (flightrec_add(NULL, good) != -EINVAL || flightrec_set_since(NULL, "1s") != -EINVAL ||
	    flightrec_set_filter(NULL, "cpu") != -EINVAL || flightrec_set_tiers(NULL, "all") != -EINVAL ||
	    flightrec_set_flags(NULL, 0) != -EINVAL || flightrec_open(NULL) != -EINVAL ||
	    flightrec_next(NULL, &ev) != -EINVAL || flightrec_count(NULL, &v) != -EINVAL ||
	    flightrec_filter_new(NULL, "cpu", &f) != -EINVAL ||
	    flightrec_printer_new(NULL, FLIGHTREC_FORMAT_TEXT, 0, -1, &p) != -EINVAL || flightrec_file_cnt(NULL) ||
	    flightrec_fact(NULL, 0, "host") || !*flightrec_error(NULL))
		FAIL("a handle that is none");
	flightrec_set_log(NULL, say, NULL);
	flightrec_free(NULL);
	flightrec_filter_free(NULL);
	flightrec_printer_free(NULL);
}

static void settings(void)
{
	struct flightrec *fr = flightrec_new();
	struct flightrec_filter *f;
	struct flightrec_printer *p;
	const struct flightrec_event *ev;

	flightrec_set_log(fr, say, (void *)"log");
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
}

static void wrong_filter(const char *good)
{
	struct flightrec *fr = flightrec_new();

	flightrec_add(fr, good);
	flightrec_set_filter(fr, "tid == 5 && nxt_pid == 6");
	printf("%d open with a wrong filter\n", flightrec_open(fr));
	printf("%s\n", flightrec_error(fr));
	flightrec_free(fr);
}

/* What was not asked for before it was opened. */
static void once_open(const char *good)
{
	struct flightrec *fr = open_file(good, 0, NULL);
	struct flightrec_filter *f;
	struct flightrec_printer *p;
	const struct flightrec_event *ev;
	uint64_t v;

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
}

static void later_format(const char *good, const char *later)
{
	struct flightrec *fr = flightrec_new();

	flightrec_add(fr, good);
	flightrec_add(fr, later);
	printf("%d open one of a later format\n", flightrec_open(fr));
	printf("%s\n", flightrec_error(fr));
	flightrec_free(fr);
}

static void one_of_two(const char *good)
{
	struct flightrec *fr = flightrec_new();

	flightrec_set_log(fr, say, (void *)"one of two");
	flightrec_add(fr, "/dev/null");
	flightrec_add(fr, good);
	printf("%d open, ", flightrec_open(fr));
	printf("%u files\n", flightrec_file_cnt(fr));
	printf("'%s'\n", flightrec_error(fr));
	printf("%d is damaged\n", flightrec_is_damaged(fr));
	flightrec_free(fr);
}

static void damage(const char *damaged)
{
	struct flightrec *fr = flightrec_new();
	const struct flightrec_event *ev;
	uint64_t v;
	unsigned i;

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
}

static void errors(const char *good, const char *damaged, const char *later)
{
	no_handle(good);
	settings();
	wrong_filter(good);
	once_open(good);
	later_format(good, later);
	one_of_two(good);
	damage(damaged);
}

/* ---- what is not there, or another's ---- */

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

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	use_locale();
	if (!strcmp(what, "others") && argc == 3)
		others(argv[2]);
	else if (!strcmp(what, "errors") && argc == 5)
		errors(argv[2], argv[3], argv[4]);
	else
		FAIL("refuse WHAT SNAPSHOT...\n");
	return 0;
}
