/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/config/setting.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config/select.h"
#include "base/schema/schema.h"
#include "base/text/literal.h"
#include "base/text/units.h"
#include "incident_layout.h"

#define GRAIN_END_MS 1 /* a grain is shorter */

__attribute__((format(printf, 2, 3))) static int fail(struct fr_setting_error *why, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why->text, sizeof(why->text), fmt, ap);
	va_end(ap);
	return -EINVAL;
}

/* ---- single values ---- */

bool fr_setting_name_ok(const char *name)
{
	size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_");

	return len && !name[len] && len <= FR_SESS_NAME_MAX;
}

/* Digits only; false if it is another text, or not within the limits. */
static bool setting_read_number(const char *text, u32 min, u32 max, u32 *out)
{
	unsigned long v;
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	v = strtoul(text, &end, 10);
	*out = v;
	return !*end && !errno && v >= min && v <= max;
}

int fr_setting_size(const char *text, u64 *bytes, struct fr_setting_error *why)
{
	return fr_parse_size(text, bytes) ? fail(why, "'%.40s' is not a size: a number with K, M, G or T", text) : 0;
}

int fr_setting_flag(const char *text, bool *flag, struct fr_setting_error *why)
{
	static const char *const word[][2] = {{"no", "yes"}, {"false", "true"}, {"off", "on"}, {"0", "1"}};
	size_t i;

	for (i = 0; i < sizeof(word) / sizeof(word[0]); i++) {
		*flag = !strcasecmp(text, word[i][true]);
		if (*flag || !strcasecmp(text, word[i][false]))
			return 0;
	}
	return fail(why, "'%.40s' is neither yes nor no", text);
}

int fr_setting_hz(const char *text, u32 *hz, struct fr_setting_error *why)
{
	if (setting_read_number(text, 1, FR_SAMPLE_HZ_MAX, hz))
		return 0;
	return fail(why, "'%.40s' is not a rate from 1 to %u", text, FR_SAMPLE_HZ_MAX);
}

int fr_setting_incidents(const char *text, u32 *cnt, struct fr_setting_error *why)
{
	if (setting_read_number(text, FR_INCIDENT_CNT_MIN, FR_INCIDENT_CNT_MAX, cnt))
		return 0;
	return fail(why, "'%.40s' is not a number of records from %u to %u", text, FR_INCIDENT_CNT_MIN, FR_INCIDENT_CNT_MAX);
}

u32 fr_setting_incident_cnt(u32 wanted)
{
	u32 cnt = FR_INCIDENT_CNT_MIN;

	while (cnt < wanted && cnt < FR_INCIDENT_CNT_MAX)
		cnt *= 2;
	return cnt;
}

int fr_setting_tier(const char *text, u32 *tier, u64 *sz, struct fr_setting_error *why)
{
	size_t len;

	for (*tier = 0; *tier < FR_TIER_CNT; ++*tier) {
		len = strlen(fr_tier_name(*tier));
		if (!strncmp(text, fr_tier_name(*tier), len) && text[len] == '=' && !fr_parse_size(text + len + 1, sz) && *sz)
			return 0;
	}
	return fail(why, "'%.40s' is not NAME=SIZE, like life=2M: the tiers are main, life, stack, wait and rare", text);
}

int fr_setting_clock(const char *text, bool *given, u64 *grain_ns, struct fr_setting_error *why)
{
	*given = strcmp(text, "global");
	*grain_ns = !strcmp(text, "local") ? FR_CLOCK_LOCAL : 0;
	if (!*given || *grain_ns || !strcmp(text, "global:0"))
		return 0;
	if (!strncmp(text, "global:", 7) && !fr_parse_duration(text + 7, grain_ns) && *grain_ns < GRAIN_END_MS * FR_MSEC_NS)
		return 0;
	return fail(
		why,
		"no mode '%.40s': local, global or global:GRAIN, like global:10us, less than " FR_LITERAL(GRAIN_END_MS) "ms",
		text);
}

/* ---- lists ---- */

typedef int (*item_fn)(void *arg, const char *item, struct fr_setting_error *why);

/* Calls fn, unless it is NULL, with each item, and counts it; at most max in all. what: their name, for the message. */
static int each(const char *list, u32 *cnt, u32 max, const char *what, item_fn fn, void *arg, struct fr_setting_error *why)
{
	char *copy = strdup(list), *rest = copy, *item;
	int err = copy ? 0 : -ENOMEM;

	while (!err && (item = strsep(&rest, ","))) {
		if (!*item)
			err = fail(why, "an item of the list is empty: give them with a comma between each two");
		else if (*cnt == max)
			err = fail(why, "more than %u %s: leave some out", max, what);
		else if (fn)
			err = fn(arg, item, why);
		*cnt += !err;
	}
	free(copy);
	return err;
}

struct pids {
	u32 *pid, *cnt;
};

static int setting_add_pid(void *arg, const char *item, struct fr_setting_error *why)
{
	struct pids *p = arg;

	if (setting_read_number(item, 1, FR_TID_MASK, &p->pid[*p->cnt]))
		return 0;
	return fail(why, "'%.40s' is not a process id: give numbers separated by commas", item);
}

int fr_setting_pids(const char *list, u32 pid[FR_PID_FILTER_MAX], u32 *cnt, struct fr_setting_error *why)
{
	struct pids p = {pid, cnt};

	return each(list, cnt, FR_PID_FILTER_MAX, "process ids", setting_add_pid, &p, why);
}

struct comms {
	struct fr_comm_filter *comm;
	u32 *cnt;
};

static int setting_add_comm(void *arg, const char *item, struct fr_setting_error *why)
{
	struct comms *c = arg;

	if (!fr_select_comm(item, &c->comm[*c->cnt]))
		return 0;
	return fail(why, "'%.40s' cannot be matched in the kernel: give NAME or PREFIX*", item);
}

int fr_setting_comms(const char *list, struct fr_comm_filter comm[FR_COMM_FILTER_MAX], u32 *cnt, struct fr_setting_error *why)
{
	struct comms c = {comm, cnt};

	return each(list, cnt, FR_COMM_FILTER_MAX, "names", setting_add_comm, &c, why);
}

int fr_setting_cgroups(const char *list, u32 *cnt, int (*fn)(void *arg, const char *path, struct fr_setting_error *why),
		       void *arg, struct fr_setting_error *why)
{
	return each(list, cnt, FR_CGROUP_FILTER_MAX, "cgroups", fn, arg, why);
}
