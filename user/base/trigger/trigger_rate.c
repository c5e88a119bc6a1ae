/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* rate:WHAT>N/T, and what its filters may be: all of them are decided in the kernel, before it counts. */
#include <errno.h>

#include "base/schema/sysnames.h"
#include "base/text/nearest.h"
#include "base/text/units.h"
#include "base/trigger/trigger_text.h"
#include "fatal.h"
#include "session.h"

#define RATE_MAX	1000000000ULL
#define RATE_MIN_NS	100000000ULL
#define RATE_MAX_NS	3600000000000ULL
#define RATE_EXE_WHOLE	14u /* of a program's name the kernel's part compares 15 bytes: a name and its end ... */
#define RATE_EXE_PREFIX 15u /* ... or its beginning */

static int rate_signal(struct fr_tp *p, struct fr_tp_span name)
{
	u64 nr;

	if (!fr_tp_number(name, &nr))
		nr = fr_tp_signal(p, name);
	if (nr < 1 || nr > 64)
		return fr_tp_fail(p, name.at, "rate: there is no signal '%.*s': rate:signal:TERM>100/s, or 1 to 64",
				  FR_TP_SHOWN(name));
	p->t.sig_set = FR_SIG(nr);
	return 0;
}

static int rate_errno(struct fr_tp *p, struct fr_tp_span name)
{
	char buf[FR_TP_WORD_MAX];
	u64 nr = 0;

	if (!fr_tp_number(name, &nr) && span_copy(name, buf, sizeof(buf)))
		nr = fr_errno_find(buf);
	if (nr < 1 || nr > FR_ERRNO_MAX)
		return fr_tp_fail(p, name.at,
				  "rate: there is no error '%.*s': a name or a number, like rate:error:openat:EMFILE>100/s",
				  FR_TP_SHOWN(name));
	p->t.rate_errno = nr;
	return 0;
}

/* CALL, CALL:ERRNO */
static int trigger_rate_error(struct fr_tp *p, struct fr_tp_span name)
{
	const char *colon = span_find(name, ':');
	int err = fr_tp_call(p, colon ? span_until(name, colon) : name,
			     "rate: a system call's name is missing or too long: rate:error:openat>100/s", "rate");

	if (!err && p->t.call_nr >= (s32)FR_SYSCALL_MAX)
		return fr_tp_fail(p, name.at, "rate: errors of calls from number %u on are not counted", FR_SYSCALL_MAX);
	return err || !colon ? err : rate_errno(p, span_from(name, colon + 1));
}

static int rate_what(struct fr_tp *p, struct fr_tp_span word)
{
	char buf[FR_TP_WORD_MAX] = "";
	struct fr_nearest near = {.to = buf};
	u32 i;

	span_copy(word, buf, sizeof(buf));
	for (i = 0; i < FR_RATE_CNT; i++) {
		if (!strcmp(buf, fr_rate_name(i))) {
			p->t.rate = i;
			return 0;
		}
		fr_nearest_consider(&near, fr_rate_name(i));
	}
	if (*buf && fr_nearest_likely(&near))
		return fr_tp_fail(p, word.at, "rate: there is no '%s': did you mean %s?", buf, near.name);
	return fr_tp_fail(
		p, word.at,
		"rate: what is one of fork, exit, signal, signal:NAME, error:CALL, error:CALL:ERRNO: rate:fork>500/s");
}

/* fork, signal:TERM, error:openat:EMFILE */
static int rate_counted(struct fr_tp *p, struct fr_tp_span what)
{
	const char *colon = span_find(what, ':');
	struct fr_tp_span name = colon ? span_from(what, colon + 1) : (struct fr_tp_span){};
	int err = rate_what(p, colon ? span_until(what, colon) : what);

	if (err)
		return err;
	if (p->t.rate == FR_RATE_error && !colon)
		return fr_tp_fail(p, what.at + what.sz, "rate: error needs a call: rate:error:openat>100/s");
	if (p->t.rate == FR_RATE_error)
		return trigger_rate_error(p, name);
	if (p->t.rate == FR_RATE_signal)
		return colon ? rate_signal(p, name) : 0;
	return colon ? fr_tp_fail(p, colon, "rate: %s takes no name: signal and error do", fr_rate_name(p->t.rate)) : 0;
}

/* N/s, N/10s */
static int rate_bound(struct fr_tp *p, struct fr_tp_span s)
{
	const char *slash = span_find(s, '/');
	struct fr_tp_span time;
	char unit[FR_TP_WORD_MAX] = "1";
	u64 cnt;
	int err;

	if (!slash)
		return fr_tp_fail(p, s.at, "rate: '%.*s' is not N/T: more than N in the time T, like 500/s or 500/10s",
				  FR_TP_SHOWN(s));
	if (!fr_tp_number(span_until(s, slash), &cnt) || !cnt || cnt > RATE_MAX)
		return fr_tp_fail(p, s.at, "rate: how many must be a number from 1 to %llu, like 500/s", RATE_MAX);
	time = span_from(s, slash + 1);
	if (time.sz && (*time.at < '0' || *time.at > '9') && span_copy(time, unit + 1, sizeof(unit) - 1))
		err = fr_parse_duration(unit, &p->t.rate_ns) ? -EINVAL : 0;
	else
		err = fr_tp_some_time(p, time, "rate", &p->t.rate_ns) ? -EINVAL : 0;
	if (err)
		return p->error->text[0]
			       ? err
			       : fr_tp_fail(p, time.at, "rate: '%.*s' is not a time: 500/s, 500/10s, 500/m", FR_TP_SHOWN(time));
	if (p->t.rate_ns < RATE_MIN_NS || p->t.rate_ns > RATE_MAX_NS)
		return fr_tp_fail(p, time.at, "rate: the time is from 100ms to 1h, like 500/s");
	p->t.rate_max = cnt;
	return 0;
}

int fr_tp_rate(struct fr_tp *p, struct fr_tp_span arg)
{
	const char *above = arg.at ? span_find(arg, '>') : NULL;
	int err;

	if (!above)
		return fr_tp_fail(p, arg.at ?: FR_TP_PLACE(p),
				  "rate needs what and how many: rate:WHAT>N/T, like rate:fork>500/s");
	err = rate_counted(p, span_until(arg, above));
	if (!err && above[1] == '=')
		return fr_tp_fail(p, above, "rate: write > without =");
	return err ?: rate_bound(p, span_from(arg, above + 1));
}

/* A text, or its beginning and a *. *whole: the text. Returns its length without the *, or -1. */
static int rate_plain(const char *pattern, bool *whole)
{
	size_t len = strcspn(pattern, "*?[|\\");

	*whole = !pattern[len];
	return *whole || !strcmp(pattern + len, "*") ? (int)len : -1;
}

int fr_tp_rate_check(struct fr_tp *p, struct fr_tp_span value, const char *key, const char *pattern)
{
	bool whole, is_exe = !strcmp(key, "exe");
	int len = rate_plain(pattern, &whole);

	if (!strcmp(key, "cgroup"))
		return fr_tp_fail(p, value.at,
				  "cgroup: a rate is counted in the kernel, which tells tasks by name, program and user only: "
				  "use comm=, exe= or uid=");
	if (len < 0)
		return fr_tp_fail(p, value.at, "%s: a rate is counted in the kernel: %s=NAME or %s=PREFIX* only", key, key,
				  key);
	if (is_exe && strchr(pattern, '/'))
		return fr_tp_fail(p, value.at, "exe: a rate is counted in the kernel, by the name without directories: exe=%s",
				  strrchr(pattern, '/') + 1);
	if (is_exe && len > (int)(whole ? RATE_EXE_WHOLE : RATE_EXE_PREFIX))
		return fr_tp_fail(p, value.at, "exe: a rate is counted in the kernel, by 15 bytes of a name: exe=%.15s*",
				  pattern);
	return 0;
}
