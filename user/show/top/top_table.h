/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * top_table: tables of the visible window, computed by read/analyze/analyze.h a piece at a time whenever the window has moved
 * (top_job.c), drawn (top_table.c); top_columns.c defines their columns.
 */
#ifndef FR_TOP_TABLE_H
#define FR_TOP_TABLE_H

#include "read/analyze/analyze.h"
#include "show/report/report.h"

struct fr_top;
struct fr_top_job; /* opaque: an analysis, finished or in progress */

#define FR_TOP_WHO_SZ 128u

/* How a table is shown. */
struct fr_top_view {
	u32 sort; /* column */
	bool up;  /* least first */
	bool sorted_once;
	u32 selected, first;
	char who[FR_TOP_WHO_SZ]; /* live: what the selected line is of, where another snapshot's was; "": the line's number
				    counts */
};

enum fr_top_kind { FR_TOP_TEXT, FR_TOP_COUNT, FR_TOP_NS, FR_TOP_SIZE, FR_TOP_SHARE };

struct fr_top_val {
	u64 num;	  /* SHARE: thousandths */
	const char *text; /* TEXT: len bytes, untrusted; NULL: they are in buf */
	size_t len;	  /* TEXT: 0: not known; of numbers: it stands in the number's place */
	char buf[40];
};

struct fr_top_cell {
	const struct fr_an_result *res;
	const struct fr_top *top;
	const void *rec;
};

struct fr_top_column {
	const char *head;
	u8 width;  /* 0: the last one, using all remaining width */
	u8 kind;   /* enum fr_top_kind */
	bool weak; /* left out if there is no room */
	void (*get)(const struct fr_top_cell *c, struct fr_top_val *v);
};

struct fr_top_table {
	const char *title;
	const struct fr_top_column *column;
	u32 column_cnt;
	u32 sort; /* initially sort by this column, largest first */
	/* Its records, freed by the caller; *cnt of them. NULL: no memory. */
	const void **(*list)(const struct fr_an_result *res, u32 *cnt);
	/* The task of a record; NULL: records have none. */
	const struct fr_an_task *(*task)(const struct fr_an_result *res, const void *rec);
};

/* In the order of enum fr_top_panel, from FR_TOP_TASKS on. */
extern const struct fr_top_table fr_top_tables[];

/* Compute the tables of the visible window, if they are wanted. 1: there is more to do; 0. */
int fr_top_job_work(struct fr_top *t);
void fr_top_job_free(struct fr_top *t);

/* Live: the order of all tables, and whose line is selected in the one that is shown, from an earlier snapshot. */
void fr_top_table_follow(struct fr_top *t, const struct fr_top *was);

/* Do the tables belong to the visible window? If not: *error if one occurred, or 0, and the progress. */
bool fr_top_job_is_current(const struct fr_top *t, int *error, u32 *percent);

#endif
