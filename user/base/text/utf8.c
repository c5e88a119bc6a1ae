/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/text/utf8.h"

static bool is_cont(unsigned char c)
{
	return (c & 0xc0) == 0x80;
}

size_t fr_utf8_len(const char *s, size_t sz)
{
	const unsigned char *c = (const unsigned char *)s;

	if (c[0] < 0x80)
		return 1;
	if (c[0] < 0xc2 || c[0] > 0xf4 || sz < 2 || !is_cont(c[1]))
		return 0;
	if (c[0] < 0xe0)
		return 2;
	if (sz < 3 || !is_cont(c[2]))
		return 0;
	if (c[0] < 0xf0) {
		bool overlong = c[0] == 0xe0 && c[1] < 0xa0, surrogate = c[0] == 0xed && c[1] > 0x9f;

		return overlong || surrogate ? 0 : 3;
	}
	if (sz < 4 || !is_cont(c[3]) || (c[0] == 0xf0 && c[1] < 0x90) || (c[0] == 0xf4 && c[1] > 0x8f))
		return 0;
	return 4;
}

u32 fr_utf8_char(const char *s, size_t len)
{
	const u8 *c = (const u8 *)s;

	switch (len) {
	case 1:
		return c[0];
	case 2:
		return (c[0] & 0x1fu) << 6 | (c[1] & 0x3fu);
	case 3:
		return (c[0] & 0xfu) << 12 | (c[1] & 0x3fu) << 6 | (c[2] & 0x3fu);
	default:
		return (c[0] & 7u) << 18 | (c[1] & 0x3fu) << 12 | (c[2] & 0x3fu) << 6 | (c[3] & 0x3fu);
	}
}

/*
 * Unicode's Default_Ignorable_Code_Point, which are invisible, with the ends of lines and paragraphs (2028, 2029) and the
 * annotation marks (fff9 to fffb), which are invisible, too.
 */
static const struct {
	u32 first, last;
} sly[] = {
	{0x00, 0x1f},	  {0x7f, 0x9f},	      {0xad, 0xad},	  {0x34f, 0x34f},     {0x61c, 0x61c},
	{0x115f, 0x1160}, {0x17b4, 0x17b5},   {0x180b, 0x180f},	  {0x200b, 0x200f},   {0x2028, 0x202e},
	{0x2060, 0x206f}, {0x3164, 0x3164},   {0xfe00, 0xfe0f},	  {0xfeff, 0xfeff},   {0xffa0, 0xffa0},
	{0xfff0, 0xfffb}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};

bool fr_utf8_is_sly(u32 ch)
{
	size_t i;

	for (i = 0; i < sizeof(sly) / sizeof(sly[0]) && ch >= sly[i].first; i++) {
		if (ch <= sly[i].last)
			return true;
	}
	return false;
}
