/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pure/filter/near.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define LEN_MAX 63u

static u32 min3(u32 a, u32 b, u32 c)
{
	return a < b ? (a < c ? a : c) : (b < c ? b : c);
}

static bool same(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static u32 distance(const char *a, const char *b)
{
	u32 row[LEN_MAX + 1], a_len = strnlen(a, LEN_MAX), b_len = strnlen(b, LEN_MAX), i, j, diag, up;

	for (j = 0; j <= b_len; j++)
		row[j] = j;
	for (i = 0; i < a_len; i++) {
		diag = row[0]++;
		for (j = 1; j <= b_len; j++) {
			up = row[j];
			row[j] = min3(row[j] + 1, row[j - 1] + 1, diag + !same(a[i], b[j - 1]));
			diag = up;
		}
	}
	return row[b_len];
}

void fr_near_consider(struct fr_near *n, const char *name)
{
	u32 to_len = strnlen(n->to, LEN_MAX), len = strnlen(name, LEN_MAX), d;

	/* no nearer than the lengths are: most names need no more */
	if (n->name && (to_len > len ? to_len - len : len - to_len) >= n->distance)
		return;
	d = distance(n->to, name);
	if (n->name && d >= n->distance)
		return;
	n->name = name;
	n->distance = d;
}

const char *fr_near_likely(const struct fr_near *n)
{
	return n->name && n->distance <= strnlen(n->to, LEN_MAX) / 2 + 1 ? n->name : NULL;
}
