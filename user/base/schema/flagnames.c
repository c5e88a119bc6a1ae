/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/schema/flagnames.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* clang-format off */
struct flag {
	const char *name;
	u64 v;
};

#define WORDS(set) static const struct flag flags_##set[] = {
#define WORD(name, value, mask) {#name, value},
#define WORDS_END {}};
#include "base/schema/call_words.def"

/* Words that a machine has otherwise are in a set of its own, which begins alike. */
static const struct {
	const char *name;
	const struct flag *flag;
	u32 cnt;
} sets[] = {
#define WORDS(set) {#set, flags_##set, sizeof(flags_##set) / sizeof(flags_##set[0]) - 1},
#include "base/schema/call_words.def"
};
/* clang-format on */

#define SET_CNT	  (sizeof(sets) / sizeof(sets[0]))
#define ARM64	  "_aarch64"
#define SMALL_NEG 0xffffff00u /* AT_FDCWD and others: ints below 0 */

static bool flagnames_is_arm64(const char *set)
{
	size_t len = strlen(set);

	return len > sizeof(ARM64) && !strcmp(set + len + 1 - sizeof(ARM64), ARM64);
}

static int flagnames_find(bool arm64, const char *name, s64 *v)
{
	size_t i, n;

	for (i = 0; i < SET_CNT; i++) {
		if (flagnames_is_arm64(sets[i].name) != arm64)
			continue;
		for (n = 0; n < sets[i].cnt; n++) {
			u64 value = sets[i].flag[n].v;

			if (strcmp(sets[i].flag[n].name, name))
				continue;
			*v = value >= SMALL_NEG && value <= 0xffffffff ? (s32)value : (s64)value;
			return 0;
		}
	}
	return -ENOENT;
}

int fr_flag_find(const char *arch, const char *name, s64 *v)
{
	if (arch && !strcmp(arch, "aarch64") && !flagnames_find(true, name, v))
		return 0;
	return flagnames_find(false, name, v);
}

const char *fr_flag_name(u32 nr)
{
	size_t i;

	for (i = 0; i < SET_CNT; i++) {
		if (nr < sets[i].cnt)
			return sets[i].flag[nr].name;
		nr -= sets[i].cnt;
	}
	return NULL;
}
