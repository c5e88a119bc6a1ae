/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/rows/saidtext.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include "base/text/redact.h"
#include "event_fields.h"
#include "session.h"

/* How much of it is the rest of a line whose beginning is missing, or, if there is no other line, of a word: a secret's end,
 * perhaps. */
static size_t saidtext_rest(const char *text, size_t len)
{
	const char *line = memchr(text, '\n', len);
	size_t i;

	if (line && line + 1 < text + len)
		return line - text;
	for (i = 0; i < len && !isspace((unsigned char)text[i]); i++)
		;
	return i;
}

void fr_saidtext_make(struct fr_rec_stderr_write *rec, u32 sz, struct fr_secrets *s)
{
	const size_t at = offsetof(struct fr_rec_stderr_write, text);
	char text[FR_SAID_MAX];
	size_t room, len, from = 0, i;
	u32 cnt = 0;

	if (sz <= at)
		return;
	room = sz - at;
	if (room > sizeof(text)) { /* no recorder writes that */
		memset(rec->text + sizeof(text), 0, room - sizeof(text));
		room = sizeof(text);
	}
	for (len = room; len && !rec->text[len - 1]; len--)
		;
	for (i = 0; i < len; i++)
		rec->text[i] = rec->text[i] ?: ' ';
	if (rec->bytes > room)
		from = saidtext_rest(rec->text, len);
	len = fr_redact_within(s ? s->words : NULL, FR_REDACT_LINE, rec->text + from, len - from, text, room, &cnt);
	memcpy(rec->text, text, len);
	memset(rec->text + len, 0, room - len);
	if (s && cnt)
		__atomic_fetch_add(&s->cnt, cnt, __ATOMIC_RELAXED);
}
