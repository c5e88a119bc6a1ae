/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/text/escape.h"

#include "base/text/digits.h"
#include "base/text/utf8.h"

/* ---- whole words at once: most texts need no escape ---- */

#define ONES  0x0101010101010101ULL
#define HIGHS (0x80 * ONES)

/* escape_has(): not 0 if a byte of w is c; has_below(): if one is below c. */
static inline u64 escape_has(u64 w, u8 c)
{
	return ((w ^ c * ONES) - ONES) & ~(w ^ c * ONES) & HIGHS;
}

static inline u64 has_below(u64 w, u8 c)
{
	return (w - c * ONES) & ~w & HIGHS;
}

/* Not 0 if a byte is not printable ASCII, or a quote or backslash; for a word, also a space or =. */
static inline u64 odd(u64 w, bool word)
{
	u64 bad = (w & HIGHS) | has_below(w, word ? ' ' + 1 : ' ') | escape_has(w, 0x7f) | escape_has(w, '"') |
		  escape_has(w, '\\');

	return word ? bad | escape_has(w, '=') : bad;
}

static inline u64 escape_load(const char *s, size_t sz)
{
	u64 w = 0;

	memcpy(&w, s, sz);
	return w;
}

/* The bytes of a text of 1 to 8 bytes, in any order, some perhaps twice. */
static inline u64 load_all(const char *s, size_t sz)
{
	if (sz >= 4)
		return escape_load(s, 4) | escape_load(s + sz - 4, 4) << 32;
	return (u8)s[0] * ONES ^ (u64)((u8)s[0] ^ (u8)s[sz / 2]) << 8 ^ (u64)((u8)s[0] ^ (u8)s[sz - 1]);
}

static inline bool is_even(const char *s, size_t sz, bool word)
{
	size_t i;
	u64 bad = 0;

	if (sz < 8)
		return !sz || !odd(load_all(s, sz), word);
	for (i = 0; i + 8 < sz; i += 8)
		bad |= odd(escape_load(s + i, 8), word);
	return !(bad | odd(escape_load(s + sz - 8, 8), word));
}

bool fr_is_plain(const char *s, size_t sz)
{
	return is_even(s, sz, false);
}

bool fr_is_word(const char *s, size_t sz)
{
	return sz && is_even(s, sz, true);
}

/* ---- one character at a time ---- */

#define HEX_COLS 4u /* \xNN */

/* \xNN into a buffer. Returns HEX_COLS. */
static size_t escape_byte(char *to, unsigned char c)
{
	static const char hex[] = "0123456789abcdef";

	memcpy(to, (char[]){'\\', 'x', hex[c >> 4], hex[c & 15]}, HEX_COLS);
	return HEX_COLS;
}

static size_t escape_put_hex(struct fr_out *o, const char *prefix, size_t prefix_len, unsigned char c)
{
	const char *hex = "0123456789abcdef";

	fr_out_mem(o, prefix, prefix_len);
	fr_out_char(o, hex[c >> 4]);
	fr_out_char(o, hex[c & 15]);
	return prefix_len + 2;
}

static bool is_backslash_x(const char *s, size_t sz)
{
	return sz > 1 && s[0] == '\\' && s[1] == 'x';
}

/* The length of the next character if it may be shown; 0: each byte must be escaped. */
static size_t plain_len(const char *s, size_t sz)
{
	size_t len = fr_utf8_len(s, sz);

	return len && !fr_utf8_is_sly(fr_utf8_char(s, len)) && !is_backslash_x(s, sz) ? len : 0;
}

size_t fr_escape_text_to(struct fr_out *o, const char *s, size_t sz, size_t most)
{
	size_t i = 0, cols = 0, len, width, j;

	if (fr_is_plain(s, sz)) {
		sz = sz < most ? sz : most;
		fr_out_mem(o, s, sz);
		return sz;
	}
	while (i < sz) {
		bool plain = (len = plain_len(s + i, sz - i));

		len = len ?: fr_utf8_len(s + i, sz - i) ?: 1;
		width = plain ? fr_utf8_cols(fr_utf8_char(s + i, len)) : HEX_COLS * len;
		if (width > most - cols)
			break;
		if (plain)
			fr_out_mem(o, s + i, len);
		for (j = 0; !plain && j < len; j++)
			escape_put_hex(o, "\\x", 2, s[i + j]);
		cols += width;
		i += len;
	}
	return cols;
}

size_t fr_escape_text(struct fr_out *o, const char *s, size_t sz)
{
	return fr_escape_text_to(o, s, sz, ~(size_t)0);
}

static void put_unit(struct fr_out *o, u32 unit)
{
	escape_put_hex(o, "\\u", 2, unit >> 8);
	escape_put_hex(o, "", 0, unit & 0xff);
}

/* As JSON's escapes: of two units of UTF-16 if need be. */
static void put_unicode(struct fr_out *o, u32 ch)
{
	if (ch > 0xffff) {
		put_unit(o, 0xd800 | (ch - 0x10000) >> 10);
		ch = 0xdc00 | ((ch - 0x10000) & 0x3ff);
	}
	put_unit(o, ch);
}

/* Write what cannot be in a JSON string as it is; of a text that is escaped already, \xNN was a byte once, and stays that. */
static void escape_json_char(struct fr_out *o, const char *s, size_t sz, size_t len, bool is_escaped)
{
	if (!len || (!is_escaped && is_backslash_x(s, sz)))
		escape_put_hex(o, "\\\\x", 3, s[0]);
	else if (s[0] == '"' || s[0] == '\\')
		fr_out_mem(o, (char[]){'\\', s[0]}, 2);
	else if (fr_utf8_is_sly(fr_utf8_char(s, len)))
		put_unicode(o, fr_utf8_char(s, len));
	else
		fr_out_mem(o, s, len);
}

static void escape_json(struct fr_out *o, const char *s, size_t sz, bool is_escaped)
{
	size_t i = 0;

	if (fr_is_plain(s, sz)) {
		fr_out_mem(o, s, sz);
		return;
	}
	while (i < sz) {
		size_t plain = i, len;

		while (plain < sz && (unsigned char)s[plain] >= 0x20 && (unsigned char)s[plain] < 0x7f && s[plain] != '"' &&
		       s[plain] != '\\')
			plain++;
		fr_out_mem(o, s + i, plain - i);
		i = plain;
		if (i == sz)
			return;
		len = fr_utf8_len(s + i, sz - i);
		escape_json_char(o, s + i, sz - i, len, is_escaped);
		i += len ? len : 1;
	}
}

void fr_escape_json(struct fr_out *o, const char *s, size_t sz)
{
	escape_json(o, s, sz, false);
}

void fr_escape_json_again(struct fr_out *o, const char *s, size_t sz)
{
	escape_json(o, s, sz, true);
}

void fr_escape_mask(char *s, size_t sz)
{
	size_t i = 0, len;

	if (fr_is_plain(s, sz))
		return;
	while (i < sz) {
		len = fr_utf8_len(s + i, sz - i);
		if (!len || fr_utf8_is_sly(fr_utf8_char(s + i, len))) {
			len = len ?: 1;
			memset(s + i, '?', len);
		}
		i += len;
	}
}

size_t fr_escape_mem(char *to, size_t room, const char *s, size_t sz)
{
	size_t i = 0, at = 0, len, j;

	while (i < sz) {
		bool plain = (len = plain_len(s + i, sz - i));

		len = len ?: fr_utf8_len(s + i, sz - i) ?: 1;
		if ((plain ? len : HEX_COLS * len) > room - at)
			break;
		for (j = 0; j < len; j++) {
			if (plain)
				to[at++] = s[i + j];
			else
				at += escape_byte(to + at, s[i + j]);
		}
		i += len;
	}
	return at;
}

const char *fr_escape_str(char *to, size_t room, const char *s)
{
	to[fr_escape_mem(to, room - 1, s, strlen(s))] = 0;
	return to;
}

size_t fr_unescape(char *s, size_t sz)
{
	size_t from, to = 0;

	for (from = 0; from < sz; from++) {
		if (sz - from >= 4 && s[from] == '\\' && s[from + 1] == 'x' && fr_hex_byte(s + from + 2) >= 0) {
			s[to++] = fr_hex_byte(s + from + 2);
			from += 3;
		} else {
			s[to++] = s[from];
		}
	}
	return to;
}

void fr_escape_inner(struct fr_out *o, const char *s, size_t sz, const char *quote)
{
	const char *at;

	while ((at = memchr(s, '"', sz))) {
		fr_escape_text(o, s, at - s);
		fr_out_str(o, quote);
		sz -= at + 1 - s;
		s = at + 1;
	}
	fr_escape_text(o, s, sz);
}

void fr_escape_quoted(struct fr_out *o, const char *s, size_t sz, const char *quote)
{
	fr_out_char(o, '"');
	fr_escape_inner(o, s, sz, quote);
	fr_out_char(o, '"');
}
