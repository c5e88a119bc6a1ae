/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/text/nearest.h"

#include <ctype.h>
#include <string.h>

#define LEN_MAX 63u

static u32 min2(u32 a, u32 b)
{
	return a < b ? a : b;
}

static u32 nearest_lower(const char *s, char to[LEN_MAX])
{
	u32 len = strnlen(s, LEN_MAX), i;

	for (i = 0; i < len; i++)
		to[i] = (char)tolower((unsigned char)s[i]);
	return len;
}

/*
 * Wrong, extra, missing, or two swapped letters: optimal string alignment. Rows: this letter's, and the two before. From limit
 * on it does not matter how far: no row has less than the least of the two before it.
 */
static u32 nearest_distance(const char *to, const char *name, u32 limit)
{
	u32 rows[3][LEN_MAX + 1], *row = rows[0], *up = rows[1], *upper = rows[2], *last;
	char a[LEN_MAX], b[LEN_MAX];
	u32 a_len = nearest_lower(to, a), b_len = nearest_lower(name, b), least = 0, before, i, j;

	for (j = 0; j <= b_len; j++)
		row[j] = j;
	for (i = 0; i < a_len; i++) {
		last = upper;
		upper = up;
		up = row;
		row = last;
		row[0] = i + 1;
		before = least;
		least = row[0];
		for (j = 1; j <= b_len; j++) {
			row[j] = min2(min2(up[j], row[j - 1]) + 1, up[j - 1] + (a[i] != b[j - 1]));
			if (i && j > 1 && a[i] == b[j - 2] && a[i - 1] == b[j - 1])
				row[j] = min2(row[j], upper[j - 2] + 1);
			least = min2(least, row[j]);
		}
		if (min2(least, before) >= limit)
			return limit;
	}
	return row[b_len];
}

void fr_nearest_consider(struct fr_nearest *n, const char *name)
{
	u32 to_len = strnlen(n->to, LEN_MAX), len = strnlen(name, LEN_MAX), d;

	/* at least the difference of the lengths: enough for most names */
	if (n->name && (to_len > len ? to_len - len : len - to_len) >= n->distance)
		return;
	d = nearest_distance(n->to, name, n->name ? n->distance : ~0u);
	if (n->name && d >= n->distance)
		return;
	n->name = name;
	n->distance = d;
}

const char *fr_nearest_likely(const struct fr_nearest *n)
{
	return n->name && n->distance <= (strnlen(n->to, LEN_MAX) + 2) / 3 ? n->name : NULL;
}

const char *fr_nearest_close(const struct fr_nearest *n)
{
	return n->name && n->distance <= strnlen(n->to, LEN_MAX) / 3 ? n->name : NULL;
}
