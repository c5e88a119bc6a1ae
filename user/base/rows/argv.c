/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/rows/argv.h"

#include <stddef.h>
#include <string.h>

#include "base/text/redact.h"
#include "event_fields.h"
#include "session.h"

void fr_argv_join(struct fr_rec_exec_argv *rec, u32 sz, struct fr_secrets *s)
{
	const size_t at = offsetof(struct fr_rec_exec_argv, argv);
	char text[FR_EXEC_TEXT_MAX];
	size_t room, len, i;
	u32 cnt = 0;

	if (sz <= at || sz - at > sizeof(text))
		return;
	room = sz - at;
	for (len = room; len && !rec->argv[len - 1]; len--)
		;
	len = fr_redact_within(s ? s->words : NULL, FR_REDACT_ARGS, rec->argv, len, text, room, &cnt);
	for (i = 0; i < len; i++)
		rec->argv[i] = text[i] ?: ' ';
	memset(rec->argv + len, 0, room - len);
	if (s && cnt)
		__atomic_fetch_add(&s->cnt, cnt, __ATOMIC_RELAXED);
}
