/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fuzz target of the library: a snapshot, its hashes put right after a mutation, opened and gone through by the public calls
 * alone. Twice: what is counted is what comes one by one.
 *
 *	0	bits of flightrec_set_flags(); 0x10: all tiers; 0x20: two threads; 0x40: the file twice;
 *		0x80: gaps
 *	1	1 to 3: the second half of the file by --since, --until, --window
 *	2	a filter, to a NUL
 *	64	the snapshot (fuzz/made.h)
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#define FILTER_SZ  62u
#define FR_SEAL_AT 64u
#define EVENTS_MAX 64u /* that all is asked of */

#include <errno.h>

#include "fuzz/made.h"
#include "lib/flightrec.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t sz);

static char input[64];
static volatile u64 sum; /* so that looking is not optimised away */

static void look(const void *p, size_t sz)
{
	const u8 *c = p;

	while (c && sz)
		sum += c[--sz];
}

static void look_at_text(const char *s)
{
	look(s, s ? strlen(s) + 1 : 0);
}

/* A line, whatever names and texts the file has. */
static void look_at_line(const char *s, size_t sz)
{
	size_t i;

	if (!s)
		return;
	if (strlen(s) != sz)
		abort();
	for (i = 0; i < sz; i++)
		if ((u8)s[i] < ' ')
			abort();
}

static void look_at_stack(const struct flightrec_event *ev, int field)
{
	const struct flightrec_stack *s;
	unsigned i, line;

	if (flightrec_value_stack(ev, field, &s))
		return;
	for (i = 0; i < flightrec_stack_cnt(s); i++) {
		sum += flightrec_frame_ip(s, i) + flightrec_frame_offset(s, i) + flightrec_frame_module_offset(s, i);
		look_at_text(flightrec_frame_text(s, i));
		look_at_text(flightrec_frame_function(s, i));
		look_at_text(flightrec_frame_module(s, i));
		look_at_text(flightrec_frame_source(s, i, &line));
		look_at_text(flightrec_frame_missing(s, i));
		sum += flightrec_frame_is_inlined(s, i);
	}
}

/* The call for its kind gives a value, the others do not. */
static void look_at_field(const struct flightrec_event *ev, int field)
{
	enum flightrec_kind kind = flightrec_value_kind(ev, field);
	const uint64_t *nums = NULL;
	const char *text = NULL;
	size_t n = 0;
	uint64_t u;
	int64_t s;

	if (!flightrec_value_text(ev, field, &text, &n) != (kind == FLIGHTREC_TEXT))
		abort();
	look(text, n);
	if (!flightrec_value_array(ev, field, &nums, &n) != (kind == FLIGHTREC_ARRAY))
		abort();
	look(nums, nums ? n * sizeof(*nums) : 0);
	if ((!flightrec_value_u64(ev, field, &u) || !flightrec_value_s64(ev, field, &s)) !=
	    (kind == FLIGHTREC_U64 || kind == FLIGHTREC_S64))
		abort();
	look_at_text(flightrec_value_words(ev, field));
	look_at_stack(ev, field);
}

static void look_at_event(const struct flightrec_event *ev)
{
	const struct flightrec_type *type = flightrec_event_type(ev);
	unsigned epoch, off, i;
	const char *line, *column;
	uint64_t v;
	size_t sz;

	for (i = 0; i < flightrec_type_field_cnt(type); i++)
		look_at_field(ev, i);
	for (i = 0; i <= FLIGHTREC_PAIR_BEGIN_TS; i++)
		sum += flightrec_event_pair(ev, i, &v);
	flightrec_event_pos(ev, &epoch, &v, &off);
	sum += flightrec_event_wall_ns(ev) + flightrec_event_cpu(ev) + flightrec_event_tid(ev) + flightrec_event_pid(ev);
	look_at_text(flightrec_event_comm(ev));
	look_at_text(flightrec_event_cgroup(ev));
	for (i = 0; i < 9; i++) {
		column = flightrec_event_column(ev, i, &sz);
		look(column, column ? sz : 0);
	}
	look_at_text(flightrec_event_tier(ev));
	line = flightrec_event_text(ev, &sz);
	look_at_line(line, sz);
	line = flightrec_event_json(ev, &sz);
	look_at_line(line, sz);
}

static void look_at_schema(const struct flightrec *fr, unsigned file)
{
	const struct flightrec_type *t = NULL;
	unsigned i;

	while ((t = flightrec_type_next(fr, file, t)) != NULL) {
		if (flightrec_type_named(fr, file, flightrec_type_name(t)) != t)
			abort();
		look_at_text(flightrec_type_doc(t));
		look_at_text(flightrec_type_group(t));
		look_at_text(flightrec_type_tier(t));
		for (i = 0; i < flightrec_type_field_cnt(t); i++) {
			const struct flightrec_field *f = flightrec_type_field(t, i);

			if (flightrec_type_find(t, flightrec_field_name(f)) != (int)i)
				abort();
			look_at_text(flightrec_field_doc(f));
			look_at_text(flightrec_field_type(f));
			look_at_text(flightrec_field_style(f));
		}
	}
}

/* A cell is a number, a text, both, or not known. */
static void look_at_tables(struct flightrec *fr, unsigned file)
{
	const char *column, *text;
	unsigned t, i;
	uint64_t v;
	size_t row;

	for (t = 0; flightrec_table_name(t); t++)
		for (row = 0; row < flightrec_table_rows(fr, file, t); row++)
			for (i = 0; (column = flightrec_table_column(t, i)) != NULL; i++) {
				int err = flightrec_table_u64(fr, file, t, row, column, &v);

				text = flightrec_table_text(fr, file, t, row, column);
				if (err && err != -EINVAL)
					abort();
				look_at_text(text);
				sum += err ? 0 : v;
			}
	if (!flightrec_table_u64(fr, file, FLIGHTREC_TABLE_SUMMARY, 1, "events", &v))
		abort();
}

static void look_at_file(struct flightrec *fr, unsigned file)
{
	const struct flightrec_ring *r;
	unsigned i, k;

	look_at_schema(fr, file);
	look_at_tables(fr, file);
	look_at_text(flightrec_file_path(fr, file));
	look_at_text(flightrec_fact(fr, file, "version"));
	sum += flightrec_wall_ns(fr, file, 1) + flightrec_horizon_ns(fr, file, "main");
	for (i = 0; (r = flightrec_ring(fr, file, i)) != NULL; i++) {
		look_at_text(flightrec_ring_tier(r));
		for (k = 0; k <= FLIGHTREC_RING_SUBBUF_BYTES; k++)
			sum += flightrec_ring_get(r, k);
		for (k = 0; flightrec_loss_name(k); k++)
			sum += flightrec_ring_lost(r, k);
	}
	for (i = 0; flightrec_damage(fr, file, i); i++)
		look_at_text(flightrec_damage(fr, file, i));
}

static struct flightrec *open_it(const u8 *data, unsigned flags)
{
	static const char *const windows[] = {"50%", "0%..50%", "50%..100%"};
	struct flightrec *fr = flightrec_new();
	char filter[FILTER_SZ + 1];
	int err;

	memcpy(filter, data + 2, FILTER_SZ);
	filter[FILTER_SZ] = 0;
	err = !fr || flightrec_add(fr, input) || (data[0] & 0x40 && flightrec_add(fr, input));
	err = err || flightrec_set_flags(fr, flags) || flightrec_set_columns(fr, flags & 2 ? "all" : "program") ||
	      flightrec_set_symbols(fr, "/dev/shm", 0);
	err = err || (*filter && flightrec_set_filter(fr, filter)) || (data[0] & 0x10 && flightrec_set_tiers(fr, "all"));
	err = err || (data[0] & 0x20 && flightrec_set_jobs(fr, 2));
	err = err || (data[1] == 1 && flightrec_set_since(fr, windows[0])) ||
	      (data[1] == 2 && flightrec_set_until(fr, windows[0]));
	err = err || (data[1] == 3 && flightrec_set_window(fr, windows[2]));
	if (!err && !flightrec_open(fr))
		return fr;
	look_at_text(flightrec_error(fr));
	flightrec_free(fr);
	return NULL;
}

/* What was printed since is one line; none if that failed. */
static void take_line(struct flightrec_printer *p)
{
	size_t sz;
	const char *line = flightrec_printer_take(p, &sz);

	if (line && (!sz || strchr(line, '\n') != line + sz - 1))
		abort();
}

/* Those that are due now; none if they were not asked for. */
static void look_at_gaps(struct flightrec *fr, struct flightrec_printer *p)
{
	const struct flightrec_kmsg *kmsg;
	const struct flightrec_gap *gap;

	while (flightrec_next_kmsg(fr, &kmsg) > 0) {
		if (!flightrec_kmsg_level(kmsg) || flightrec_kmsg_file(kmsg) >= flightrec_file_cnt(fr))
			abort();
		look_at_text(flightrec_kmsg_text(kmsg));
		if (!flightrec_print_kmsg(p, kmsg))
			take_line(p);
	}
	while (flightrec_next_gap(fr, &gap) > 0) {
		if (flightrec_gap_file(gap) >= flightrec_file_cnt(fr) || !flightrec_gap_why(gap) ||
		    (flightrec_gap_until_ns(gap) && flightrec_gap_until_ns(gap) < flightrec_gap_since_ns(gap)))
			abort();
		if (!flightrec_print_gap(p, gap))
			take_line(p);
	}
}

/* How many events there are, -1: something failed. */
static s64 go_through(struct flightrec *fr, enum flightrec_format format)
{
	struct flightrec_filter *filter = NULL;
	const struct flightrec_event *ev;
	struct flightrec_printer *p = NULL;
	s64 cnt = 0, matches = 0;
	uint64_t gap_cnt;
	int got;

	if (flightrec_printer_new(fr, format, 0, -1, &p))
		return -1;
	sum += flightrec_filter_new(fr, "tid != 100 && event ~ \"s*\" || ret < 0", &filter);
	while ((got = flightrec_next(fr, &ev)) > 0) {
		look_at_gaps(fr, p);
		if (cnt++ < EVENTS_MAX)
			look_at_event(ev);
		matches += flightrec_event_matches(ev);
		sum += filter && flightrec_filter_match(filter, ev);
	}
	look_at_gaps(fr, p);
	sum += flightrec_gap_cnt(fr, &gap_cnt);
	flightrec_printer_free(p);
	flightrec_filter_free(filter);
	flightrec_warn_symbols(fr);
	flightrec_warn_damage(fr);
	return got ? -1 : matches;
}

static s64 count(const u8 *data)
{
	struct flightrec *fr = open_it(data, data[0] & 0xf);
	uint64_t cnt = 0;
	int err = fr ? flightrec_count(fr, &cnt) : -1;

	flightrec_free(fr);
	return err ? -1 : (s64)cnt;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t sz)
{
	struct flightrec *fr;
	unsigned i;
	s64 cnt;

	if (!*input)
		snprintf(input, sizeof(input), "/dev/shm/fr-fuzz-lib-%d.flight", getpid());
	unlink(input);
	if (sz < FR_SEAL_AT || made_write(input, data + FR_SEAL_AT, sz - FR_SEAL_AT))
		return 0;
	fr = open_it(data, (data[0] & 0xf) | (data[0] & 0x80 ? FLIGHTREC_GAPS : 0));
	if (fr) {
		for (i = 0; i < flightrec_file_cnt(fr); i++)
			look_at_file(fr, i);
		cnt = go_through(fr, data[0] & 1 ? FLIGHTREC_FORMAT_JSON : FLIGHTREC_FORMAT_TEXT);
		if (cnt >= 0 && count(data) != cnt)
			abort();
		flightrec_free(fr);
	}
	unlink(input);
	return 0;
}
