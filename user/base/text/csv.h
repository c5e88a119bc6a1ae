/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* csv: cells of comma-separated values (RFC 4180). Pure. */
#ifndef FR_CSV_H
#define FR_CSV_H

#include "base/text/escape.h"

/*
 * A text in quotes. One that begins with one of these (or a tab, which is escaped) is a formula to a spreadsheet, which may run
 * programs. A quote before it says that it is a text; one before a quote, that it is not this quote.
 */
static inline void fr_csv_text(struct fr_out *o, const char *s, size_t sz)
{
	fr_out_char(o, '"');
	if (sz && memchr("=+-@'", s[0], 5))
		fr_out_char(o, '\'');
	fr_escape_inner(o, s, sz, "\"\"");
	fr_out_char(o, '"');
}

#endif
