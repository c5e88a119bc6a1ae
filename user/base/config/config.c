/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Settings by the table: defaults, comparison, example. Parsing is in config_parse.c, checks of values in config_value.c. */
#include "base/config/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config/config_int.h"

static const struct fr_config_slot slots[] = {
#define R true
#define L false
#define O(letter, name, arg, words, more)      \
	{                                      \
		letter, name, arg, words, more \
	}
#define NONE \
	{    \
	}
#define K(section, key, type, member, needs, def, option, doc) \
	{{#section, #key, def, doc, #type, needs, option}, FR_CONFIG_TYPE_##type, offsetof(struct fr_config, member)},
	FR_CONFIG_KEYS(K)
#undef K
#undef NONE
#undef O
#undef R
#undef L
};

#define SLOT_CNT (sizeof(slots) / sizeof(slots[0]))

const struct fr_config_slot *fr_config_slot(u32 i)
{
	return i < SLOT_CNT ? &slots[i] : NULL;
}

const struct fr_config_key *fr_config_key(u32 i)
{
	return i < SLOT_CNT ? &slots[i].key : NULL;
}

int fr_config_init(struct fr_config *c)
{
	struct fr_config_error error;
	size_t i;
	int err = 0;

	memset(c, 0, sizeof(*c));
	for (i = 0; !err && i < SLOT_CNT; i++)
		err = fr_config_reset(c, &slots[i], &error);
	if (err)
		fr_config_free(c);
	return err;
}

void fr_config_free(struct fr_config *c)
{
	size_t i;

	for (i = 0; i < SLOT_CNT; i++)
		fr_config_clear(c, &slots[i]);
}

const char *fr_config_called(u32 i, char buf[FR_CONFIG_CALLED_SZ])
{
	const struct fr_config_option *o = &slots[i].key.option;

	if (o->letter)
		snprintf(buf, FR_CONFIG_CALLED_SZ, "-%c", o->letter);
	else
		snprintf(buf, FR_CONFIG_CALLED_SZ, "--%s", o->name);
	return buf;
}

/* ---- comparison ---- */

static bool same_list(const struct fr_config_list *a, const struct fr_config_list *b)
{
	u32 i;

	if (a->cnt != b->cnt)
		return false;
	for (i = 0; i < a->cnt; i++)
		if (strcmp(a->item[i], b->item[i]))
			return false;
	return true;
}

static bool config_same(const struct fr_config *a, const struct fr_config *b, const struct fr_config_slot *slot)
{
	const void *x = (const char *)a + slot->at, *y = (const char *)b + slot->at;

	switch (slot->type) {
	case FR_CONFIG_TYPE_text:
	case FR_CONFIG_TYPE_items:
		return !strcmp(*(char *const *)x, *(char *const *)y);
	case FR_CONFIG_TYPE_list:
		return same_list(x, y);
	case FR_CONFIG_TYPE_size:
	case FR_CONFIG_TYPE_duration:
		return *(const u64 *)x == *(const u64 *)y;
	case FR_CONFIG_TYPE_count:
	case FR_CONFIG_TYPE_percent:
		return *(const u32 *)x == *(const u32 *)y;
	case FR_CONFIG_TYPE_flag:
		return *(const bool *)x == *(const bool *)y;
	}
	return false;
}

u32 fr_config_new_ring(const struct fr_config *old, const struct fr_config *now, char *buf, size_t sz)
{
	size_t i, len = 0;
	u32 cnt = 0;

	if (sz)
		*buf = 0;
	for (i = 0; i < SLOT_CNT; i++) {
		if (!slots[i].key.new_ring || config_same(old, now, &slots[i]))
			continue;
		if (len < sz)
			len += snprintf(buf + len, sz - len, "%s%s.%s", cnt ? ", " : "", slots[i].key.section,
					slots[i].key.key);
		cnt++;
	}
	return cnt;
}
