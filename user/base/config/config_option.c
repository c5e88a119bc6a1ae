/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Settings as the options that would make them: by their type, and a few by what their text means. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/config/config_int.h"
#include "base/config/setting.h"
#include "base/schema/schema.h"

/* In the largest unit that shows all of it. */
static void option_put_size(FILE *f, u64 bytes)
{
	static const char unit[] = "KMGT";
	u32 i = 0;

	for (; unit[i] && bytes && bytes % 1024 == 0; i++)
		bytes /= 1024;
	fprintf(f, "%llu%.*s", bytes, !!i, &unit[i - !!i]);
}

/* ---- texts that mean the same in several forms. What is in the settings has been checked. ---- */

static int option_put_clock(FILE *f, const char *called, const struct fr_config *c)
{
	struct fr_setting_error why;
	u64 grain_ns = 0;
	bool given = false;

	fr_setting_clock(c->clock, &given, &grain_ns, &why);
	if (!given || grain_ns == FR_CLOCK_LOCAL)
		fprintf(f, " %s %s", called, given ? "local" : "global");
	else if (grain_ns % 1000)
		fprintf(f, " %s global:%lluns", called, grain_ns);
	else
		fprintf(f, " %s global:%lluus", called, grain_ns / 1000);
	return 0;
}

/* Of one tier's sizes the last counts. */
static int put_tier(FILE *f, const char *called, const struct fr_config *c)
{
	struct fr_setting_error why;
	u64 tier_sz[FR_TIER_CNT] = {}, sz;
	u32 i, tier;

	for (i = 0; i < c->tier.cnt; i++)
		if (!fr_setting_tier(c->tier.item[i], &tier, &sz, &why))
			tier_sz[tier] = sz;
	for (tier = 0; tier < FR_TIER_CNT; tier++)
		if (tier_sz[tier]) {
			fprintf(f, " %s %s=", called, fr_tier_name(tier));
			option_put_size(f, tier_sz[tier]);
		}
	return 0;
}

static int put_pid(FILE *f, const char *called, const struct fr_config *c)
{
	u32 *pid = malloc(FR_PID_FILTER_MAX * sizeof(*pid)), cnt = 0, i;
	struct fr_setting_error why;
	int err = pid && *c->pid ? fr_setting_pids(c->pid, pid, &cnt, &why) : pid ? 0 : -ENOMEM;

	for (i = 0; i < cnt && !err; i++)
		fprintf(f, "%s%s%s%u", i ? "," : " ", i ? "" : called, i ? "" : " ", pid[i]);
	free(pid);
	return err;
}

static int option_put_incidents(FILE *f, const char *called, const struct fr_config *c)
{
	fprintf(f, " %s %u", called, fr_setting_incident_cnt(c->incident_cnt));
	return 0;
}

static const struct {
	size_t at;
	int (*put)(FILE *f, const char *called, const struct fr_config *c);
} puts_own[] = {
	{offsetof(struct fr_config, clock), option_put_clock},
	{offsetof(struct fr_config, tier), put_tier},
	{offsetof(struct fr_config, pid), put_pid},
	{offsetof(struct fr_config, incident_cnt), option_put_incidents},
};

/* ---- by type ---- */

static void option_put_list(FILE *f, const char *called, const struct fr_config_list *list)
{
	u32 i;

	for (i = 0; i < list->cnt; i++)
		fprintf(f, " %s %s", called, list->item[i]);
}

static void option_put_value(FILE *f, const void *from, enum fr_config_type type)
{
	switch (type) {
	case FR_CONFIG_TYPE_text:
	case FR_CONFIG_TYPE_items:
		fputs(*(char *const *)from, f);
		break;
	case FR_CONFIG_TYPE_size:
		option_put_size(f, *(const u64 *)from);
		break;
	case FR_CONFIG_TYPE_duration:
		fprintf(f, "%lluns", *(const u64 *)from);
		break;
	case FR_CONFIG_TYPE_count:
		fprintf(f, "%u", *(const u32 *)from);
		break;
	case FR_CONFIG_TYPE_percent:
		fprintf(f, "%u.%03u%%", *(const u32 *)from / 1000, *(const u32 *)from % 1000);
		break;
	case FR_CONFIG_TYPE_flag:
		fputs(*(const bool *)from ? "yes" : "no", f);
		break;
	case FR_CONFIG_TYPE_list:
		break;
	}
}

int fr_config_put_option(FILE *f, const struct fr_config *c, u32 i)
{
	const struct fr_config_slot *slot = fr_config_slot(i);
	const void *from = (const char *)c + slot->at;
	char called[FR_CONFIG_CALLED_SZ];
	size_t k;

	fr_config_called(i, called);
	for (k = 0; k < sizeof(puts_own) / sizeof(puts_own[0]); k++)
		if (puts_own[k].at == slot->at)
			return puts_own[k].put(f, called, c);
	if (slot->type == FR_CONFIG_TYPE_list) {
		option_put_list(f, called, from);
	} else {
		fprintf(f, " %s ", called);
		option_put_value(f, from, slot->type);
	}
	return 0;
}
