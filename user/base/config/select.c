/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/config/select.h"

#include <errno.h>
#include <string.h>

#include "base/text/nearest.h"
#include "base/tp/tpask.h"
#include "event_fields.h"

static void enable_group(bool enable[FR_EVENT_MAX], u32 group, bool on)
{
	const struct fr_schema *schema = fr_schema_builtin();
	const struct fr_event *ev;
	u32 nr;

	for (nr = 0; nr < FR_EVENT_MAX; nr++) {
		ev = fr_schema_event(schema, nr);
		/* the samples' program writes the stacks */
		if (ev && ev->group == group)
			enable[nr] = on;
	}
}

int fr_select_profile(const char *name, bool enable[FR_EVENT_MAX], bool *rare)
{
	static const struct {
		const char *name;
		u32 groups;
	} profiles[] = {
#define P(name, doc, groups) {#name, groups},
		FR_PROFILES(P)
#undef P
	};
	size_t i;
	u32 group;

	for (i = 0; i < sizeof(profiles) / sizeof(profiles[0]); i++) {
		if (strcmp(profiles[i].name, name))
			continue;
		memset(enable, 0, FR_EVENT_MAX * sizeof(*enable));
		for (group = 0; group < FR_GROUP_CNT; group++)
			enable_group(enable, group, profiles[i].groups >> group & 1);
		enable_group(enable, FR_GROUP_MARK, true);
		if (rare)
			*rare = profiles[i].groups >> FR_GROUP_TP & 1;
		return 0;
	}
	return -EINVAL;
}

static const char *find_nearest(const char *what)
{
	const struct fr_schema *schema = fr_schema_builtin();
	struct fr_nearest near = {.to = what};
	u32 nr;

	for (nr = 0; nr < FR_GROUP_CNT; nr++)
		fr_nearest_consider(&near, fr_group_name(nr));
	for (nr = 0; nr < FR_EVENT_MAX; nr++)
		if (fr_schema_event(schema, nr))
			fr_nearest_consider(&near, fr_schema_event(schema, nr)->name);
	return fr_nearest_likely(&near);
}

/* What a call was given is told with the call that was given it; and if it could not be read, that is told, too. */
static void select_one(bool enable[FR_EVENT_MAX], u32 nr, bool on)
{
	enable[nr] = on;
	if (on && (nr == FR_EV_sys_path || nr == FR_EV_sys_unread))
		enable[FR_EV_sys_enter] = enable[FR_EV_sys_unread] = true;
	if (!on && nr == FR_EV_sys_enter)
		enable[FR_EV_sys_path] = enable[FR_EV_sys_unread] = false;
}

int fr_select_event(const char *what, bool enable[FR_EVENT_MAX], const char **nearest)
{
	const struct fr_event *ev;
	bool on = *what != '-';
	u32 group;

	if (fr_tpask_is(what))
		return 0;
	what += !on;
	for (group = 0; group < FR_GROUP_CNT; group++)
		if (!strcmp(what, fr_group_name(group))) {
			enable_group(enable, group, on);
			return 0;
		}
	ev = fr_schema_find(fr_schema_builtin(), what);
	if (!ev) {
		*nearest = find_nearest(what);
		return -EINVAL;
	}
	select_one(enable, ev->nr, on);
	return 0;
}

int fr_select_comm(const char *pattern, struct fr_comm_filter *out)
{
	size_t len = strlen(pattern), keep;
	char *text = (char *)out->text, *mask = (char *)out->mask;
	const char *star = strchr(pattern, '*');

	if (!len || (star && star[1]) || strpbrk(pattern, "?["))
		return -EINVAL;
	memset(out, 0, sizeof(*out));
	keep = star ? len - 1 : len;
	if (keep > FR_COMM_SZ - 1)
		keep = FR_COMM_SZ - 1;
	memcpy(text, pattern, keep);
	/* a whole name includes its NUL */
	memset(mask, 0xff, keep + !star);
	return 0;
}
