/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What values a key may have. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/config/config_int.h"
#include "base/config/record_filter.h"
#include "base/config/select.h"
#include "base/config/setting.h"
#include "base/text/units.h"
#include "base/tp/tpask.h"
#include "base/trigger/trigger.h"
#include "base/trigger/watch_set.h"

#define GOVERNOR_MIN_S	  1
#define TIMEOUT_MAX_H	  1
#define STORM_CNT_MAX	  10000u
#define KEEP_FREE_PERCENT 90	  /* at most */
#define EXEC_MAX	  131071u /* execve() takes no longer argument where pages are of 4 KiB */

int fr_config_fail(struct fr_config_error *error, u32 line, const char *fmt, ...)
{
	va_list ap;

	error->line = line;
	va_start(ap, fmt);
	vsnprintf(error->text, sizeof(error->text), fmt, ap);
	va_end(ap);
	return -EINVAL;
}

/* A value on its way into the settings. */
struct value {
	const struct fr_config_slot *slot;
	const char *called; /* in messages: the key, or its option */
	const char *text;
	u32 line;
	bool is_option;
	struct fr_config_error *error;
	u64 num; /* for size, duration, count, percent, flag */
};

__attribute__((format(printf, 2, 3))) static int fail(const struct value *v, const char *fmt, ...)
{
	char text[sizeof(v->error->text)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return fr_config_fail(v->error, v->line, "%s: %s", v->called, text);
}

/* What base/config/setting.h says of it. */
static int config_value_taken(const struct value *v, int err, const struct fr_setting_error *why)
{
	return err == -EINVAL ? fail(v, "%s", why->text) : err;
}

/* ---- checks of single keys ---- */

static int config_value_check_name(const struct value *v)
{
	if (fr_setting_name_ok(v->text))
		return 0;
	return fail(v, "'%.40s' is not a session's name: up to %u letters, digits, '-' and '_'", v->text, FR_SESS_NAME_MAX);
}

static int check_profile(const struct value *v)
{
	bool enable[FR_EVENT_MAX];

	return fr_select_profile(v->text, enable, NULL) ? fail(v, "no profile '%.40s': minimal, default or full", v->text) : 0;
}

static int config_value_check_event(const struct value *v)
{
	bool enable[FR_EVENT_MAX];
	char why[FR_TPASK_WHY_SZ];
	struct fr_tpask ask;
	const char *nearest;

	if (fr_tpask_is(v->text) && fr_tpask_parse(v->text, &ask, why))
		return fail(v, "'%.40s': %s", v->text, why);
	if (!fr_select_event(v->text, enable, &nearest))
		return 0;
	if (nearest)
		return fail(v, "no event or group '%.40s': did you mean %s? `flightrec events` lists all", v->text, nearest);
	return fail(v, "no event or group '%.40s': `flightrec events` lists all", v->text);
}

static int check_tier(const struct value *v)
{
	struct fr_setting_error why;
	u32 tier;
	u64 sz;

	return config_value_taken(v, fr_setting_tier(v->text, &tier, &sz, &why), &why);
}

static int config_value_check_clock(const struct value *v)
{
	struct fr_setting_error why;
	bool given;
	u64 grain_ns;

	return config_value_taken(v, fr_setting_clock(v->text, &given, &grain_ns, &why), &why);
}

static int check_pid(const struct value *v)
{
	struct fr_setting_error why;
	u32 pid[FR_PID_FILTER_MAX], cnt = 0;

	return config_value_taken(v, fr_setting_pids(v->text, pid, &cnt, &why), &why);
}

static int config_value_check_comm(const struct value *v)
{
	struct fr_comm_filter comm[FR_COMM_FILTER_MAX];
	struct fr_setting_error why;
	u32 cnt = 0;

	return config_value_taken(v, fr_setting_comms(v->text, comm, &cnt, &why), &why);
}

/* Whether they are there is seen when recording begins. */
static int config_value_check_cgroup(const struct value *v)
{
	struct fr_setting_error why;
	u32 cnt = 0;

	return config_value_taken(v, fr_setting_cgroups(v->text, &cnt, NULL, NULL, &why), &why);
}

static int check_filter(const struct value *v)
{
	struct fr_record_filter *filter;
	struct fr_filter_error error;
	int err;

	if (v->is_option)
		return 0;
	filter = calloc(1, sizeof(*filter));
	err = filter ? fr_record_filter(v->text, filter, &error) : -ENOMEM;
	free(filter);
	return err == -EINVAL ? fail(v, "%s (at character %zu)", error.text, error.at + 1) : err;
}

static int check_redact(const struct value *v)
{
	size_t at = 0;

	return fr_redact_is_good(v->text, &at)
		       ? 0
		       : fail(v, "'%.40s': give words of letters, digits, - and _, separated by commas, -WORD, or no",
			      v->text + at);
}

/* Replay can look for more than BPF can. */
static int config_value_check_watch(const struct value *v, const char *expr, const char *arch)
{
	struct fr_filter_error error;
	int err = fr_watch_check(expr, arch, &error);

	return err == -EINVAL ? fail(v, "%s (at character %zu of the expression)", error.text, error.at + 1) : err;
}

static int check_on(const struct value *v)
{
	struct fr_trigger_error error;
	struct fr_trigger trigger;
	struct utsname host;

	if (v->is_option)
		return 0;
	if (uname(&host))
		*host.machine = 0;
	if (fr_trigger_parse(v->text, host.machine, &trigger, &error))
		return fail(v, "%s (at character %zu)", error.text, error.at + 1);
	return trigger.kind == FR_TRIGGER_event && !*trigger.tp ? config_value_check_watch(v, trigger.expr, host.machine) : 0;
}

static int check_path(const struct value *v)
{
	return *v->text == '/' || v->is_option ? 0 : fail(v, "'%.80s' is not an absolute path", v->text);
}

static int check_some(const struct value *v)
{
	return v->num ? 0 : fail(v, "0 is no size for rings: give a number with K, M, G or T");
}

static int check_hz(const struct value *v)
{
	struct fr_setting_error why;
	u32 hz;

	return config_value_taken(v, fr_setting_hz(v->text, &hz, &why), &why);
}

static int check_thin(const struct value *v)
{
	return !v->num || (v->num >= FR_SEC_NS / 10 && v->num <= 86400 * FR_SEC_NS)
		       ? 0
		       : fail(v, "'%.40s' is neither 0 nor a time from 100ms to 1d", v->text);
}

static int check_incidents(const struct value *v)
{
	struct fr_setting_error why;
	u32 cnt;

	return config_value_taken(v, fr_setting_incidents(v->text, &cnt, &why), &why);
}

static int check_storm(const struct value *v)
{
	return v->num <= STORM_CNT_MAX ? 0 : fail(v, "at most %u, and 0 for no limit", STORM_CNT_MAX);
}

static int check_keep_free(const struct value *v)
{
	return v->num <= KEEP_FREE_PERCENT * 1000
		       ? 0
		       : fail(v, "more than %u%% free would leave no room for snapshots", KEEP_FREE_PERCENT);
}

static int check_timeout(const struct value *v)
{
	return v->num && v->num <= TIMEOUT_MAX_H * 3600 * FR_SEC_NS
		       ? 0
		       : fail(v, "'%.40s' is not a time up to %uh, like 30s", v->text, TIMEOUT_MAX_H);
}

static int check_exec(const struct value *v)
{
	return strlen(v->text) <= EXEC_MAX ? 0 : fail(v, "at most %u characters, put more into a script", EXEC_MAX);
}

static int check_interval(const struct value *v)
{
	return v->num >= GOVERNOR_MIN_S * FR_SEC_NS ? 0 : fail(v, "at least %us", GOVERNOR_MIN_S);
}

static const struct {
	size_t at;
	int (*check)(const struct value *v);
} checks[] = {
	{offsetof(struct fr_config, name), config_value_check_name},
	{offsetof(struct fr_config, profile), check_profile},
	{offsetof(struct fr_config, event), config_value_check_event},
	{offsetof(struct fr_config, memory_sz), check_some},
	{offsetof(struct fr_config, subbuf_sz), check_some},
	{offsetof(struct fr_config, tier), check_tier},
	{offsetof(struct fr_config, clock), config_value_check_clock},
	{offsetof(struct fr_config, pid), check_pid},
	{offsetof(struct fr_config, comm), config_value_check_comm},
	{offsetof(struct fr_config, cgroup), config_value_check_cgroup},
	{offsetof(struct fr_config, thin_ns), check_thin},
	{offsetof(struct fr_config, filter), check_filter},
	{offsetof(struct fr_config, redact), check_redact},
	{offsetof(struct fr_config, on), check_on},
	{offsetof(struct fr_config, storm_cnt), check_storm},
	{offsetof(struct fr_config, dir), check_path},
	{offsetof(struct fr_config, keep_free), check_keep_free},
	{offsetof(struct fr_config, write_timeout_ns), check_timeout},
	{offsetof(struct fr_config, exec), check_exec},
	{offsetof(struct fr_config, exec_timeout_ns), check_timeout},
	{offsetof(struct fr_config, governor_ns), check_interval},
};

/* What a number may be, where that says more than its type does: asked first. */
static int config_value_check_number(const struct value *v)
{
	if (v->slot->at == offsetof(struct fr_config, sample_hz))
		return check_hz(v);
	return v->slot->at == offsetof(struct fr_config, incident_cnt) ? check_incidents(v) : 0;
}

static int config_value_check(const struct value *v)
{
	size_t i;

	for (i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
		if (checks[i].at == v->slot->at)
			return checks[i].check(v);
	return 0;
}

/* ---- types ---- */

static int parse_size(struct value *v)
{
	struct fr_setting_error why;

	return config_value_taken(v, fr_setting_size(v->text, &v->num, &why), &why);
}

static int parse_duration(struct value *v)
{
	if (!strcmp(v->text, "0"))
		return 0;
	if (fr_parse_duration(v->text, &v->num))
		return fail(v, "'%.40s' is not a duration: a number with ns, us, ms, s, m, h or d", v->text);
	return v->num > FR_DURATION_MAX_NS ? fail(v, "'%.40s' is longer than %ud", v->text, FR_DURATION_MAX_DAYS) : 0;
}

static int parse_count(struct value *v)
{
	char *end;

	errno = 0;
	v->num = isdigit((unsigned char)*v->text) ? strtoull(v->text, &end, 10) : 1;
	if (!isdigit((unsigned char)*v->text) || *end || errno || v->num > ~0u)
		return fail(v, "'%.40s' is not a number from 0 to %u", v->text, ~0u);
	return 0;
}

static int parse_percent(struct value *v)
{
	u32 share = 0;

	if (strcmp(v->text, "0") && fr_parse_percent(v->text, &share))
		return fail(v, "'%.40s' is not a share: 0%% to 100%%, like 5%%", v->text);
	v->num = share;
	return 0;
}

static int parse_flag(struct value *v)
{
	struct fr_setting_error why;
	bool flag = false;
	int err = config_value_taken(v, fr_setting_flag(v->text, &flag, &why), &why);

	v->num = flag;
	return err;
}

static int config_value_parse(struct value *v)
{
	switch (v->slot->type) {
	case FR_CONFIG_TYPE_size:
		return parse_size(v);
	case FR_CONFIG_TYPE_duration:
		return parse_duration(v);
	case FR_CONFIG_TYPE_count:
		return parse_count(v);
	case FR_CONFIG_TYPE_percent:
		return parse_percent(v);
	case FR_CONFIG_TYPE_flag:
		return parse_flag(v);
	default:
		return 0;
	}
}

/* ---- storing ---- */

static void *member(struct fr_config *c, const struct fr_config_slot *slot)
{
	return (char *)c + slot->at;
}

static int store_text(char **to, const char *text)
{
	char *copy = strdup(text);

	if (!copy)
		return -ENOMEM;
	free(*to);
	*to = copy;
	return 0;
}

static int store_item(struct fr_config_list *list, const struct value *v)
{
	u32 max = v->slot->at == offsetof(struct fr_config, on) ? FR_TRIGGER_MAX : FR_CONFIG_ITEM_MAX;

	if (list->cnt == max)
		return fail(v, "given more than %u times", max);
	list->item[list->cnt] = strdup(v->text);
	if (!list->item[list->cnt])
		return -ENOMEM;
	list->line[list->cnt++] = v->line;
	list->is_emptied = false;
	return 0;
}

static int config_value_store(struct fr_config *c, const struct value *v)
{
	void *to = member(c, v->slot);

	switch (v->slot->type) {
	case FR_CONFIG_TYPE_text:
	case FR_CONFIG_TYPE_items:
		return store_text(to, v->text);
	case FR_CONFIG_TYPE_list:
		return store_item(to, v);
	case FR_CONFIG_TYPE_size:
	case FR_CONFIG_TYPE_duration:
		*(u64 *)to = v->num;
		return 0;
	case FR_CONFIG_TYPE_count:
	case FR_CONFIG_TYPE_percent:
		*(u32 *)to = v->num;
		return 0;
	case FR_CONFIG_TYPE_flag:
		*(bool *)to = v->num;
		return 0;
	}
	return -EINVAL;
}

int fr_config_set(struct fr_config *c, const struct fr_config_slot *slot, const char *value, u32 line,
		  struct fr_config_error *error)
{
	struct value v = {.slot = slot, .called = slot->key.key, .text = value, .line = line, .error = error};

	return config_value_check_number(&v) ?: config_value_parse(&v) ?: config_value_check(&v) ?: config_value_store(c, &v);
}

/* The session's settings are words, numbers and expressions, which say themselves what is wrong in them. */
static int check_control(const struct value *v)
{
	const char *at;

	for (at = v->text; *at && !v->slot->key.new_ring; at++) {
		if (*at == '\n')
			return fail(v, "it cannot have a line break");
		if (iscntrl((unsigned char)*at) && *at != '\t')
			return fail(v, "a control character, 0x%02x", (unsigned char)*at);
	}
	return 0;
}

int fr_config_set_option(struct fr_config *c, u32 i, const char *value, struct fr_config_error *error)
{
	const struct fr_config_slot *slot = fr_config_slot(i);
	char called[FR_CONFIG_CALLED_SZ], *all = NULL;
	struct value v = {
		.slot = slot, .called = fr_config_called(i, called), .text = value, .error = error, .is_option = true};
	const char *old = slot->type == FR_CONFIG_TYPE_items ? *(char **)member(c, slot) : "";
	int err;

	if (!*value && !slot->key.new_ring && slot->type != FR_CONFIG_TYPE_list)
		return fr_config_reset(c, slot, error);
	if (*old) {
		if (asprintf(&all, "%s,%s", old, value) < 0)
			return -ENOMEM;
		v.text = all;
	}
	err = config_value_check_number(&v) ?: config_value_parse(&v) ?: check_control(&v) ?: config_value_check(&v) ?: config_value_store(c, &v);
	free(all);
	return err;
}

void fr_config_clear(struct fr_config *c, const struct fr_config_slot *slot)
{
	struct fr_config_list *list = member(c, slot);
	char **text = member(c, slot);

	if (slot->type == FR_CONFIG_TYPE_text || slot->type == FR_CONFIG_TYPE_items) {
		free(*text);
		*text = NULL;
	} else if (slot->type == FR_CONFIG_TYPE_list) {
		while (list->cnt)
			free(list->item[--list->cnt]);
	}
}

int fr_config_reset(struct fr_config *c, const struct fr_config_slot *slot, struct fr_config_error *error)
{
	struct value v = {.slot = slot, .called = slot->key.key, .text = slot->key.def, .error = error};
	int err;

	if (slot->type == FR_CONFIG_TYPE_list) {
		fr_config_clear(c, slot);
		return *slot->key.def ? config_value_store(c, &v) : 0;
	}
	err = config_value_parse(&v);
	return err ?: config_value_store(c, &v);
}

int fr_config_empty(struct fr_config *c, const struct fr_config_slot *slot, struct fr_config_error *error)
{
	int err = fr_config_reset(c, slot, error);

	if (!err && slot->type == FR_CONFIG_TYPE_list)
		((struct fr_config_list *)member(c, slot))->is_emptied = true;
	return err;
}

int fr_config_check(const struct fr_config *c, struct fr_config_error *error)
{
	if (*c->filter && (*c->pid || *c->comm || *c->cgroup))
		return fr_config_fail(error, 0, "Filter cannot be used with Pid, Comm or Cgroup: put them into the expression");
	return 0;
}
