/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* report_said: what the trigger's process wrote to standard error before: evidence, which the verdict does not read. */
#include <stdio.h>
#include <string.h>

#include "base/text/escape.h"
#include "base/text/units.h"
#include "show/report/report_kinds.h"
#include "show/report/report_text.h"

#define SHOWN 12u /* lines of a page */

/* Where the last lines begin; 0 lines: all. */
static size_t said_from(const struct fr_clue_said *said, u32 lines)
{
	size_t at = said->len;

	if (!lines)
		return 0;
	if (at && said->text[at - 1] == '\n')
		at--;
	while (at && lines) {
		const char *newline = memrchr(said->text, '\n', at);

		if (!newline)
			return 0;
		at = newline - said->text;
		lines--;
	}
	return lines ? 0 : at + 1;
}

void fr_report_put_said(struct fr_report_page *p)
{
	const struct fr_clues *c = p->r->clues;
	const struct fr_clue_said *said = &c->said;
	const char *end = said->text + said->len, *line;
	char note[160], ago[32], all[32];

	if (!said->write_cnt)
		return;
	snprintf(note, sizeof(note), "%s%s in %llu write%s, the last one %s before %s",
		 said->len == FR_CLUE_SAID_SZ ? "the end of " : "", fr_show_size(said->bytes, all, sizeof(all)),
		 said->write_cnt, fr_plural(said->write_cnt), fr_show_duration(c->at_ns - said->last_ns, ago, sizeof(ago)),
		 fr_report_moment_name(p));
	fr_report_title(p, "Standard error", note);
	for (line = said->text + said_from(said, p->r->ask->top ? SHOWN : 0); line < end;) {
		const char *newline = memchr(line, '\n', end - line) ?: end;

		fr_out_str(p->o, "  ");
		fr_escape_text(p->o, line, newline - line);
		fr_out_char(p->o, '\n');
		line = newline + 1;
	}
}

static struct fr_value said_text(const struct fr_at *at)
{
	const struct fr_clue_said *said = at->rec;

	return fr_value_mem(said->text, said->len);
}

static const struct fr_column said_columns[] = {
	FR_COLUMN(struct fr_clue_said, write_cnt, "writes", COUNT, "by all its threads, up to the moment"),
	FR_COLUMN(struct fr_clue_said, bytes, "bytes", SIZE, "of them"),
	FR_COLUMN_MADE(said_text, "text", TEXT, "their end, 4 KiB at most"),
	{},
};
const struct fr_table fr_report_kind_said = {"stderr",
					     "What the process that the file is about wrote to its standard error before, "
					     "recorded with `-e stderr`. It is evidence: the verdict "
					     "does not read it. Text shows the last 12 lines of it, `--top 0` all.",
					     said_columns};
