/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/trigger/trigger_text.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text/units.h"

int fr_tp_fail(struct fr_tp *p, const char *at, const char *fmt, ...)
{
	va_list ap;

	p->error->at = at - p->text;
	va_start(ap, fmt);
	vsnprintf(p->error->text, sizeof(p->error->text), fmt, ap);
	va_end(ap);
	return -EINVAL;
}

struct fr_tp_span span_trim(struct fr_tp_span s)
{
	while (s.sz && isspace((unsigned char)*s.at))
		s.at++, s.sz--;
	while (s.sz && isspace((unsigned char)s.at[s.sz - 1]))
		s.sz--;
	return s;
}

struct fr_tp_span span_from(struct fr_tp_span s, const char *at)
{
	return span_trim((struct fr_tp_span){at, s.at + s.sz - at});
}

struct fr_tp_span span_until(struct fr_tp_span s, const char *end)
{
	return span_trim((struct fr_tp_span){s.at, end - s.at});
}

bool span_is(struct fr_tp_span s, const char *word)
{
	return s.sz == strlen(word) && !memcmp(s.at, word, s.sz);
}

bool span_copy(struct fr_tp_span s, char *buf, size_t sz)
{
	if (s.sz >= sz)
		return false;
	memcpy(buf, s.at, s.sz);
	buf[s.sz] = 0;
	return true;
}

const char *span_find(struct fr_tp_span s, char c)
{
	return memchr(s.at, c, s.sz);
}

const char *span_find_last(struct fr_tp_span s, char c)
{
	return memrchr(s.at, c, s.sz);
}

/* ---- values ---- */

static int duration(struct fr_tp *p, struct fr_tp_span s, const char *what, u64 *ns)
{
	char buf[FR_TP_WORD_MAX];
	u64 v;

	if (!s.sz)
		return fr_tp_fail(p, s.at, "%s: a duration is missing, like 5s", what);
	if (!span_copy(s, buf, sizeof(buf)) || fr_parse_duration(buf, &v))
		return fr_tp_fail(p, s.at, "%s: '%.*s' is not a duration: a number with ns, us, ms, s, m, h or d, like 10ms",
				  what, FR_TP_SHOWN(s));
	if (v > FR_DURATION_MAX_NS)
		return fr_tp_fail(p, s.at, "%s: '%.*s' is longer than %ud", what, FR_TP_SHOWN(s), FR_DURATION_MAX_DAYS);
	*ns = v;
	return 0;
}

int fr_tp_some_time(struct fr_tp *p, struct fr_tp_span s, const char *what, u64 *ns)
{
	u64 v = 0;
	int err = duration(p, s, what, &v);

	if (err)
		return err;
	if (!v)
		return fr_tp_fail(p, s.at, "%s: must be longer than 0, like 10ms", what);
	*ns = v;
	return 0;
}

/* A time that may be zero: 0 needs no unit. */
int fr_tp_any_time(struct fr_tp *p, struct fr_tp_span s, const char *what, u64 *ns)
{
	if (!span_is(s, "0"))
		return duration(p, s, what, ns);
	*ns = 0;
	return 0;
}

bool fr_tp_number(struct fr_tp_span s, u64 *out)
{
	char buf[FR_TP_WORD_MAX], *end;

	if (!s.sz || !isdigit((unsigned char)*s.at) || !span_copy(s, buf, sizeof(buf)))
		return false;
	errno = 0;
	*out = strtoull(buf, &end, 10);
	return !errno && !*end;
}

const char *fr_tp_kind_shown(u32 kind)
{
	return kind == FR_TRIGGER_status ? "exit:STATUS" : fr_trigger_kind_name(kind);
}
