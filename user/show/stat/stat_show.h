/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stat_show: what an aggregation found, as text, JSON, or comma-separated values (docs/stat.md).
 *
 *	  comm        count()  sum(blocked)
 *	  postgres        312        2.41 s
 *	  (other)          12       18.2 ms	of 4 groups
 *	  (all)           324        2.43 s
 */
#ifndef FR_STAT_SHOW_H
#define FR_STAT_SHOW_H

#include "base/text/out.h"
#include "read/stat/stat.h"

enum fr_stat_format { FR_STAT_AS_TEXT, FR_STAT_AS_JSON, FR_STAT_AS_CSV };

struct fr_stat_show {
	enum fr_stat_format format;
	int sort; /* column, fr_stat_column() */
	bool descending;
	u32 top;   /* groups; 0: all */
	u32 width; /* of the page; 0: no limit */
};

/* 0, or -ENOMEM, reported. In comma-separated values what is not known is a warning; so is it by the caller in none. */
int fr_stat_show(struct fr_out *o, const struct fr_stat *s, const struct fr_stat_show *how);

#endif
