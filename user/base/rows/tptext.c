/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/rows/tptext.h"

#include <string.h>

#include "base/rows/rows.h"
#include "base/text/redact.h"
#include "session.h"
#include "tp.h"

/* Where the word says that its text is in the record, and how much of that there is. False: not behind the fields. */
static bool tptext_find(const struct fr_event *ev, const u8 *rec, u32 sz, const struct fr_field *word, u32 *at, u32 *len)
{
	u32 loc;

	if (word->off + sizeof(loc) > sz)
		return false;
	memcpy(&loc, rec + word->off, sizeof(loc));
	*at = (loc & 0xffff) + (word->style == FR_STYLE_RELLOC ? word->off + (u32)sizeof(loc) : FR_TP_AHEAD_SZ);
	*len = loc >> 16;
	if (*at < fr_event_tail(ev)->off || *at >= sz)
		return false;
	*len = strnlen((const char *)rec + *at, *len < sz - *at ? *len : sz - *at);
	return true;
}

static u32 tptext_redact(char *from, u32 len, const struct fr_secrets *s)
{
	char text[FR_REC_MAX_SZ];
	u32 cnt = 0;
	size_t n;

	if (len > sizeof(text) || !fr_redact_may_have(from, len))
		return 0;
	n = fr_redact_within(s ? s->words : NULL, FR_REDACT_LINE, from, len, text, len, &cnt);
	memcpy(from, text, n);
	memset(from + n, 0, len - n);
	return cnt;
}

void fr_tptext_make(const struct fr_event *ev, u8 *rec, u32 sz, struct fr_secrets *s)
{
	u32 cnt = 0, at, len, i;

	if (!ev->tail || fr_event_tail(ev)->type != FR_TYPE_data)
		return;
	for (i = 0; i < ev->field_cnt; i++) {
		const struct fr_field *f = &ev->fields[i];

		if (f->kind == FR_KIND_DERIVED && f->rule == FR_RULE_LOC && f->elem == FR_TYPE_str &&
		    tptext_find(ev, rec, sz, &ev->fields[f->from_idx], &at, &len))
			cnt += tptext_redact((char *)rec + at, len, s);
	}
	if (s && cnt)
		__atomic_fetch_add(&s->cnt, cnt, __ATOMIC_RELAXED);
}
