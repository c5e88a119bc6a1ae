/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is shown of a kind of record: JSON, text, lines, OpenMetrics and the reference, made from one table. */
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

#include "base/show/table.h"

struct disk {
	const char *name; /* NULL: not known */
	char model[4];
	u16 nr;
	s32 delta;
	bool on;
	u64 read_cnt, read_sz, busy_ns, since_ns;
	u64 lost[2];
	double load[2];
};

struct host {
	u32 nr;
	struct disk disk[2];
	u32 disk_cnt;
	struct fr_hist wait;
};

static const char *reason(u32 i)
{
	static const char *const names[] = {"late", "full"};

	return i < 2 ? names[i] : NULL;
}

static struct fr_value share(const struct fr_at *at)
{
	const struct disk *d = at->rec;

	return d->busy_ns ? fr_value_real(d->busy_ns / 1e7) : fr_value_null();
}

static struct fr_value name_of_known(const struct fr_at *at)
{
	const struct disk *d = at->rec;

	return d->name ? fr_value_text(d->name) : fr_value_absent();
}

static struct fr_value model_of_others(const struct fr_at *at)
{
	const struct disk *d = at->rec;

	return d->name ? fr_value_absent() : fr_value_text("(some disk)");
}

/* clang-format off */
#define DISK(member, ...) FR_COLUMN(struct disk, member, __VA_ARGS__)
static const struct fr_column disk_columns[] = {
	DISK(nr, "nr", NUMBER, "its number", FR_TEXT(2, "nr", 4), FR_LABEL("disk")),
	DISK(name, "name", TEXT, "its name", FR_LABEL("name")),
	FR_COLUMN_MADE(name_of_known, NULL, TEXT, NULL, FR_TEXT(1, "disk", -6)),
	FR_COLUMN_MADE(model_of_others, NULL, TEXT, NULL, FR_TEXT(1, NULL, -6)),
	DISK(model, "model", TEXT, "its model"),
	DISK(delta, "delta", NUMBER, "of its clock"),
	DISK(on, "on", BOOL, "it turns"),
	DISK(read_cnt, "reads", COUNT, "reads", FR_TEXT(3, "reads", 10), FR_COUNTER("reads", "Reads")),
	DISK(read_sz, "read_bytes", SIZE, "of these", FR_TEXT(5, "bytes", 10, .least = 80)),
	DISK(busy_ns, "busy_ns", NS, "at work", FR_TEXT(4, "busy", 10, .lead = " |")),
	DISK(since_ns, "since_ns", CLOCK, "since then", .null = true),
	FR_COLUMN_MADE(share, NULL, SHARE, NULL, FR_TEXT(6, "share", 7, .none = "?")),
	FR_MAP(struct disk, lost, "lost", reason, "by reason", FR_COUNTER("lost", "Lost", .label = "reason")),
	FR_MAP(struct disk, load, "load", reason, "by reason", .from = FR_FROM_REAL, .digits = 2),
	{},
};
static const struct fr_table disk_table = {"disks", "A disk.", disk_columns};
/* clang-format on */

static const void *disk_at(const struct fr_at *at, u32 i)
{
	const struct host *h = at->rec;

	return i < h->disk_cnt ? &h->disk[i] : NULL;
}

static const void *first_disk(const struct fr_at *at, u32 i)
{
	return i ? NULL : disk_at(at, 0);
}

/* clang-format off */
static const struct fr_column host_columns[] = {
	FR_COLUMN(struct host, nr, "nr", COUNT, "of hosts", FR_LINE(2, "hosts", "there are ", " host*"), FR_GAUGE("hosts", NULL, "Hosts")),
	FR_PART_MADE(first_disk, "first", &disk_table, NULL, .null = true),
	FR_LIST(disk_at, "disks", &disk_table, "all of them"),
	FR_COLUMN(struct host, wait, "wait", HIST, "waits"),
	FR_COLUMN_OF(P99, struct host, wait, NULL, NS, NULL, FR_LINE(1, "waits", NULL, " at most")),
	FR_COLUMN_OF(CNT, struct host, wait, NULL, COUNT, NULL, FR_LINE(3, NULL, ", ", " wait*")),
	{},
};
static const struct fr_table host_table = {"hosts", "A host.", host_columns};
/* clang-format on */

static struct host host = {
	.nr = 1,
	.disk = {{.name = "sda\n",
		  .model = "WD40",
		  .nr = 8,
		  .delta = -3,
		  .on = true,
		  .read_cnt = 1234,
		  .read_sz = 4096,
		  .busy_ns = 2000000,
		  .since_ns = 7,
		  .lost = {1, 2},
		  .load = {0.5, 0.25}},
		 {.model = "X", .nr = 9}},
	.disk_cnt = 2,
};

/* What was written; for free(). */
static struct fr_out out;

static void is(const char *want)
{
	char *got = fr_out_take_mem(&out, NULL);

	assert_non_null(got);
	assert_string_equal(got, want);
	free(got);
}

static void as_json(void **state)
{
	struct fr_jsonw w = {.o = &out};

	(void)state;
	fr_out_init_mem(&out);
	fr_json_record(&w, &disk_table, NULL, &host.disk[0]);
	is("\"nr\":8,\"name\":\"sda\\u000a\",\"model\":\"WD40\",\"delta\":-3,\"on\":true,\"reads\":1234,\"read_bytes\":4096,"
	   "\"busy_ns\":2000000,\"since_ns\":7,\"lost\":{\"late\":1,\"full\":2},\"load\":{\"late\":0.50,\"full\":0.25}");
	fr_out_init_mem(&out);
	w = (struct fr_jsonw){.o = &out};
	fr_json_record(&w, &disk_table, NULL, &host.disk[1]);
	is("\"nr\":9,\"name\":null,\"model\":\"X\",\"delta\":0,\"on\":false,\"reads\":0,\"read_bytes\":0,\"busy_ns\":0,"
	   "\"since_ns\":null,\"lost\":{\"late\":0,\"full\":0},\"load\":{\"late\":0.00,\"full\":0.00}");
}

static const void *tags_of(const struct fr_at *at, u32 i)
{
	const char *const *text = at->rec;

	return i ? NULL : *text;
}

static bool next_tag(const struct fr_at *at, const char **pos, const char **name, int *len, u64 *nr)
{
	(void)at;
	*name = *pos;
	*len = strcspn(*pos, "=");
	if (!**pos)
		return false;
	*nr = strtoull(*pos + *len + 1, (char **)pos, 10);
	return true;
}

static const void *word_at(const struct fr_at *at, u32 i)
{
	const char *const *word = at->rec;

	return i < 2 && word[i] ? word[i] : NULL;
}

/* Texts without a kind of their own; none, which one column calls not known; and a member of another record. */
static void lists_of_texts(void **state)
{
	static const struct fr_column columns[] = {
		FR_LIST(word_at, "words", NULL, "said", .from = FR_FROM_TEXT),
		FR_LIST(word_at, "known", NULL, "of these", .from = FR_FROM_TEXT, .null = true),
		{},
	};
	static const struct fr_table kind = {"speech", "It was said.", columns};
	static const char *const said[][2] = {{"a", "b\""}, {NULL}};
	const struct fr_at at = {.column = &disk_columns[0], .rec = &host.disk[0]};
	struct fr_jsonw w = {.o = &out};
	char *got;

	(void)state;
	fr_out_init_mem(&out);
	fr_json_record(&w, &kind, NULL, said[0]);
	is("\"words\":[\"a\",\"b\\\"\"],\"known\":[\"a\",\"b\\\"\"]");
	fr_out_init_mem(&out);
	w = (struct fr_jsonw){.o = &out};
	fr_json_record(&w, &kind, NULL, said[1]);
	is("\"words\":[],\"known\":null");
	fr_out_init_mem(&out);
	fr_table_paths(&out, &kind);
	fr_table_reference(&out, &kind);
	got = fr_out_take_mem(&out, NULL);
	assert_non_null(strstr(got, "| `words[]` | texts | said |\n"));
	assert_non_null(strstr(got, "| `known` | list of texts | of these |\n"));
	free(got);
	assert_int_equal(fr_column_member(&at, &host.disk[1]).nr, 9);
}

/* Names that only the record knows; none at all, and no map. */
static void json_of_names(void **state)
{
	static const struct fr_column columns[] = {FR_MAP_MADE(tags_of, "tags", NULL, "by tag", .next = next_tag), {}};
	static const struct fr_table kind = {"tagged", "It has tags.", columns};
	static const char *const text[] = {"red=7blue=0", "", NULL};
	struct fr_jsonw w = {.o = &out};
	u32 i;

	(void)state;
	fr_out_init_mem(&out);
	for (i = 0; i < 3; i++)
		fr_json_record(&w, &kind, NULL, &text[i]);
	is("\"tags\":{\"red\":7,\"blue\":0},\"tags\":{}");
}

static void json_of_parts(void **state)
{
	static struct host none = {.nr = 2};
	struct fr_jsonw w = {.o = &out};

	(void)state;
	fr_out_init_mem(&out);
	fr_json_record(&w, &host_table, NULL, &none);
	is("\"nr\":2,\"first\":null,\"disks\":[],\"wait\":{\"count\":0,\"sum_ns\":0,\"min_ns\":0,\"max_ns\":0,\"mean_ns\":0,"
	   "\"p50_ns\":0,\"p90_ns\":0,\"p99_ns\":0,\"p999_ns\":0,\"buckets\":[]}");
}

/* A narrow page has less columns; one that is absent is replaced by the other; names are escaped and cut off. */
static void as_table(void **state)
{
	struct fr_layout l;

	(void)state;
	fr_out_init_mem(&out);
	fr_layout_init(&l, &disk_table, 100);
	fr_layout_head(&l, &out);
	fr_layout_row(&l, &out, NULL, &host.disk[0]);
	fr_layout_row(&l, &out, NULL, &host.disk[1]);
	is("  disk    nr     reads |      busy     bytes  share\n"
	   "  sda      8     1,234 |      2 ms   4.0 KiB   0.2%\n"
	   "  (some    9         0 |         -         -      ?\n");
	fr_out_init_mem(&out);
	fr_layout_init(&l, &disk_table, 79);
	fr_layout_head(&l, &out);
	is("  disk    nr     reads |      busy  share\n");
}

/* A column is as wide as its widest cell, one of no width aside, and never cut off then. */
static void as_wide_as_cells(void **state)
{
	struct disk big = {.nr = 12345, .name = "a long name", .read_cnt = 1, .busy_ns = 1};
	struct fr_layout l;

	(void)state;
	fr_out_init_mem(&out);
	fr_layout_init(&l, &disk_table, 79);
	l.indent = "";
	fr_layout_widen(&l, NULL, &host.disk[0]);
	assert_int_equal(fr_layout_width(&l), 7 + 4 + 10 + 2 + 10 + 7);
	fr_layout_widen(&l, NULL, &big);
	fr_layout_head(&l, &out);
	fr_layout_row(&l, &out, NULL, &host.disk[0]);
	fr_layout_row(&l, &out, NULL, &big);
	is("disk          nr     reads |      busy  share\n"
	   "sda\\x0a        8     1,234 |      2 ms   0.2%\n"
	   "a long name12345         1 |      1 ns   0.0%\n");
	assert_int_equal(fr_layout_width(&l), 11 + 5 + 10 + 2 + 10 + 7);
}

static void as_lines(void **state)
{
	(void)state;
	assert_int_equal(fr_hist_add_many(&host.wait, 1000, 2), 0);
	fr_out_init_mem(&out);
	fr_lines_text(&out, &host_table, NULL, &host, 0);
	is("  waits      1 us at most\n"
	   "  hosts      there are 1 host, 2 waits\n");
	fr_hist_free(&host.wait);
}

/* A family once, with the labels of all that a record is part of. */
static void as_metrics(void **state)
{
	(void)state;
	fr_out_init_mem(&out);
	host.disk_cnt = 1;
	fr_metrics_record(&out, &disk_table, NULL, &host.disk[0], "a");
	host.disk_cnt = 2;
	is("# TYPE flightrec_reads counter\n# HELP flightrec_reads "
	   "Reads.\nflightrec_reads_total{session=\"a\",disk=\"8\",name=\"sda\\n\"} "
	   "1234\n"
	   "# TYPE flightrec_lost counter\n# HELP flightrec_lost Lost.\n"
	   "flightrec_lost_total{session=\"a\",disk=\"8\",name=\"sda\\n\",reason=\"late\"} 1\n"
	   "flightrec_lost_total{session=\"a\",disk=\"8\",name=\"sda\\n\",reason=\"full\"} 2\n# EOF\n");
}

static void unknown_is_no_label(void **state)
{
	(void)state;
	fr_out_init_mem(&out);
	fr_metrics_record(&out, &disk_table, NULL, &host.disk[1], "a");
	is("# TYPE flightrec_reads counter\n# HELP flightrec_reads Reads.\nflightrec_reads_total{session=\"a\",disk=\"9\"} 0\n"
	   "# TYPE flightrec_lost counter\n# HELP flightrec_lost Lost.\n"
	   "flightrec_lost_total{session=\"a\",disk=\"9\",reason=\"late\"} 0\n"
	   "flightrec_lost_total{session=\"a\",disk=\"9\",reason=\"full\"} 0\n# EOF\n");
}

static void as_reference(void **state)
{
	char *got;

	(void)state;
	fr_out_init_mem(&out);
	fr_table_paths(&out, &host_table);
	got = fr_out_take_mem(&out, NULL);
	assert_non_null(
		strstr(got, "| `nr` | count | of hosts |\n| `first` | | A disk. |\n| `first.nr` | number | its number |\n"));
	assert_non_null(strstr(got, "| `disks[]` | | all of them |\n"));
	assert_non_null(strstr(got, "| `disks[].lost.NAME` | count | by reason |\n"));
	free(got);
	fr_out_init_mem(&out);
	fr_table_reference(&out, &host_table);
	got = fr_out_take_mem(&out, NULL);
	assert_non_null(strstr(got, "### hosts\n\nA host.\n\n| key | form | meaning |\n"));
	assert_non_null(strstr(got, "| `disks` | list of [disks](#disks) | all of them |\n"));
	assert_non_null(strstr(got, "### disks\n"));
	assert_null(strstr(strstr(got, "### disks\n") + 1, "### disks\n"));
	free(got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_json),	 cmocka_unit_test(json_of_parts),
		cmocka_unit_test(json_of_names), cmocka_unit_test(lists_of_texts),
		cmocka_unit_test(as_table),	 cmocka_unit_test(as_wide_as_cells),
		cmocka_unit_test(as_lines),	 cmocka_unit_test(as_metrics),
		cmocka_unit_test(as_reference),	 cmocka_unit_test(unknown_is_no_label),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
