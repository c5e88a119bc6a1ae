/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tables FILE [check]: all tables of all its snapshots, and their rings, a JSON object a line; with check, its events are
 * compared with their checksums first; without a file: the names of tables and columns. The program knows no names: it asks the
 * library for them.
 */
#include <errno.h>

#include "use.h"

static void put_cell(struct flightrec *fr, unsigned file, enum flightrec_table t, size_t row, const char *column)
{
	const char *text = flightrec_table_text(fr, file, t, row, column);
	uint64_t v;
	int err;

	if (text) {
		put_text(column, text);
		return;
	}
	err = flightrec_table_u64(fr, file, t, row, column, &v);
	if (err && err != -EINVAL)
		FAIL("%s.%s: %d", flightrec_table_name(t), column, err);
	if (err)
		put_text(column, NULL);
	else
		put_u64(column, v);
}

static void put_row(struct flightrec *fr, unsigned file, enum flightrec_table t, size_t row)
{
	const char *column;
	unsigned i;

	printf("%s{", row ? "," : "");
	for (i = 0; (column = flightrec_table_column(t, i)); i++) {
		printf("%s", i ? "," : "");
		put_cell(fr, file, t, row, column);
	}
	printf("}");
}

/* Tables, columns and rows that do not exist. */
static void check(struct flightrec *fr, unsigned file, enum flightrec_table t)
{
	size_t rows = flightrec_table_rows(fr, file, t);
	const char *column = flightrec_table_column(t, 0);
	uint64_t v;

	if (flightrec_table_u64(fr, file, t, rows, column, &v) != -ENOENT || flightrec_table_text(fr, file, t, rows, column) ||
	    flightrec_table_u64(fr, file, t, 0, "nonsense", &v) != -ENOENT || flightrec_table_text(fr, file, t, 0, NULL) ||
	    flightrec_table_u64(fr, 77, t, 0, column, &v) != -ENOENT || flightrec_table_rows(fr, 77, t) ||
	    flightrec_table_u64(NULL, 0, t, 0, column, &v) != -ENOENT || flightrec_table_rows(NULL, 0, t))
		FAIL("%s: what is not there", flightrec_table_name(t));
}

static void put_tables(struct flightrec *fr, unsigned file)
{
	const char *name;
	unsigned t;
	size_t row;

	for (t = 0; (name = flightrec_table_name((enum flightrec_table)t)); t++) {
		printf("\"%s\":[", name);
		for (row = 0; row < flightrec_table_rows(fr, file, (enum flightrec_table)t); row++)
			put_row(fr, file, (enum flightrec_table)t, row);
		printf("],");
		check(fr, file, (enum flightrec_table)t);
	}
	if (flightrec_table_rows(fr, file, (enum flightrec_table)t) || flightrec_table_column((enum flightrec_table)t, 0))
		FAIL("a table that is not there");
}

static void put_rings(struct flightrec *fr, unsigned file)
{
	static const char *const names[] = {"cpu",     "events",      "first_ns", "last_ns", "horizon_ns",
					    "written", "overwritten", "lost",	  "holes",   "tier_nr",
					    "present", "first_seq",   "last_seq", "slots",   "subbuf_bytes"};
	const struct flightrec_ring *r;
	unsigned nr, i;

	printf("\"rings\":[");
	for (nr = 0; (r = flightrec_ring(fr, file, nr)); nr++) {
		printf("%s{", nr ? "," : "");
		put_text("tier", flightrec_ring_tier(r));
		for (i = FLIGHTREC_RING_CPU; i <= FLIGHTREC_RING_SUBBUF_BYTES; i++) {
			putchar(',');
			put_u64(names[i], flightrec_ring_get(r, (enum flightrec_ring_value)i));
		}
		printf(",\"by\":{");
		for (i = 0; flightrec_loss_name(i); i++) {
			printf("%s", i ? "," : "");
			put_u64(flightrec_loss_name(i), flightrec_ring_lost(r, i));
		}
		printf("}}");
	}
	printf("]");
	if (flightrec_ring(fr, file, 1000000) ||
	    (nr && flightrec_ring_get(flightrec_ring(fr, file, 0), (enum flightrec_ring_value)99)))
		FAIL("a ring that is not there");
}

static void put_file(struct flightrec *fr, unsigned file)
{
	int64_t ts;

	printf("{");
	put_tables(fr, file);
	put_rings(fr, file);
	if (flightrec_fact_s64(fr, file, "trigger_ts", &ts) != (flightrec_fact(fr, file, "trigger_ts") ? 0 : -ENODATA) ||
	    (flightrec_fact(fr, file, "host") && flightrec_fact_s64(fr, file, "host", &ts) != -EINVAL) ||
	    flightrec_fact_s64(NULL, 0, "host", &ts) != -ENODATA)
		FAIL("facts as numbers");
	puts("}");
}

static void put_names(void)
{
	const char *name, *column;
	unsigned t, i;

	for (t = 0; (name = flightrec_table_name((enum flightrec_table)t)); t++)
		for (i = 0; (column = flightrec_table_column((enum flightrec_table)t, i)); i++)
			printf("%s.%s\n", name, column);
}

int main(int argc, char **argv)
{
	struct flightrec *fr;
	unsigned file;

	if (argc < 2) {
		put_names();
		return 0;
	}
	fr = open_file(argv[1], FLIGHTREC_NO_NAMES | (argc > 2 ? FLIGHTREC_CHECK : 0), NULL);
	for (file = 0; file < flightrec_file_cnt(fr); file++)
		put_file(fr, file);
	flightrec_free(fr);
	return 0;
}
