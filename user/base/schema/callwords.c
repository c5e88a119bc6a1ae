/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/schema/callwords.h"

#include <stdbool.h>
#include <string.h>

#include "base/schema/sysnames.h"
#include "base/text/digits.h"

/* A word stands for value if the bits of mask have it. Those that say more come first in a set. */
struct fr_callword {
	const char *name;
	u64 value, mask;
};

/* clang-format off */
#define WORDS(set) static const struct fr_callword words_##set[] = {
#define WORD(name, value, mask) {#name, value, mask},
#define WORDS_END {}};
#include "base/schema/call_words.def"

static const struct {
	const char *name;
	u32 value;
} requests[] = {
#define REQUEST(name, value) {#name, value},
#include "base/schema/call_words.def"
};

#define words_none NULL

#define SIGNATURE(call) static const struct fr_callarg args_##call[] = {
#define ARG(name, kind, set) {#name, words_##set, FR_ARG_##kind, sizeof(#name) - 1},
#define ARGS_END(call) }; static const struct fr_callby by_##call[] = {
#define BY(cause, value, mask, target, kind, set) {value, mask, cause, target, {NULL, words_##set, FR_ARG_##kind, 0}},
#define SIGNATURE_END(call) {}}; const struct fr_signature FR_SIGNATURE(call) = {args_##call, by_##call};
#include "base/schema/call_words.def"
/* clang-format on */

/* The kernel takes the lower half of the register only. */
static bool callwords_is_half(u8 kind)
{
	return kind != FR_ARG_LONG && kind != FR_ARG_SIZE && kind != FR_ARG_HEX && kind != FR_ARG_PTR && kind != FR_ARG_TEXT &&
	       kind != FR_ARG_SOCKADDR;
}

static char *callwords_put_name(char *p, const char *name)
{
	return mempcpy(p, name, strlen(name));
}

/* ---- several words ---- */

#define REST_SZ (1 + FR_DIGITS_HEX_SZ) /* |0x..: behind all words */

struct bits {
	char *from, *p, *end;
};

/* False: no room. */
static bool bits_put(struct bits *b, const char *name)
{
	size_t len = strlen(name);

	if ((size_t)(b->end - b->p) < len + 1)
		return false;
	if (b->p > b->from)
		*b->p++ = '|';
	b->p = mempcpy(b->p, name, len);
	return true;
}

/* What of v has words; returns the rest of it. */
static u64 bits_put_words(struct bits *b, const struct fr_callword *w, u64 v)
{
	u64 rest = v, seen = 0; /* bits that words have said, also those that are 0 */

	for (; w->name; w++) {
		if ((v & w->mask) != w->value || seen & w->mask)
			continue;
		if (bits_put(b, w->name)) {
			seen |= w->mask;
			rest &= ~w->mask;
		}
	}
	return rest;
}

static char *callwords_put_bits(const struct fr_callarg *a, u64 v, char *to)
{
	struct bits b = {to, to, to + FR_CALLWORDS_SZ - REST_SZ};
	u64 signal = a->kind == FR_ARG_CLONE ? v & 0xff : 0, rest = bits_put_words(&b, a->words, v & ~signal);
	const char *name = signal ? fr_signal_name(signal) : NULL;

	if (signal && (!name || !bits_put(&b, name)))
		rest |= signal;
	if (!rest)
		return b.p;
	if (b.p > b.from)
		*b.p++ = '|';
	return fr_digits_hex(b.p, rest);
}

/* ---- one word ---- */

static const char *callwords_request(u32 v)
{
	size_t from = 0, to = sizeof(requests) / sizeof(requests[0]);

	while (from < to) {
		size_t at = (from + to) / 2;

		if (requests[at].value < v)
			from = at + 1;
		else
			to = at;
	}
	return from < sizeof(requests) / sizeof(requests[0]) && requests[from].value == v ? requests[from].name : NULL;
}

static const char *callwords_find(const struct fr_callarg *a, u64 v)
{
	const struct fr_callword *w = a->words;

	if (a->kind == FR_ARG_SIGNAL)
		return fr_signal_name((s32)v);
	if (a->kind == FR_ARG_IOCTL)
		return callwords_request(v);
	for (; w && w->name; w++)
		if (w->value == (u32)v)
			return w->name;
	return NULL;
}

/* ---- numbers ---- */

static char *callwords_put_signed(char *p, s64 v)
{
	*p = '-';
	return fr_digits_dec(p + (v < 0), v < 0 ? 0 - (u64)v : (u64)v);
}

static char *callwords_put_octal(char *p, u32 v)
{
	char digits[12];
	u32 cnt = 0;

	for (; v; v >>= 3)
		digits[cnt++] = '0' + (v & 7);
	*p++ = '0';
	while (cnt)
		*p++ = digits[--cnt];
	return p;
}

static char *callwords_put_number(u8 kind, u64 v, char *p)
{
	switch (kind) {
	case FR_ARG_UINT:
	case FR_ARG_SIZE:
		return fr_digits_dec(p, v);
	case FR_ARG_LONG:
		return callwords_put_signed(p, v);
	case FR_ARG_MODE:
		return callwords_put_octal(p, v);
	case FR_ARG_MS:
		p = callwords_put_signed(p, (s32)v);
		return (s32)v < 0 ? p : callwords_put_name(p, "ms");
	case FR_ARG_PTR:
	case FR_ARG_TEXT:
	case FR_ARG_SOCKADDR:
		return v ? fr_digits_hex(p, v) : callwords_put_name(p, "NULL");
	case FR_ARG_HEX:
	case FR_ARG_HEX32:
	case FR_ARG_IOCTL:
	case FR_ARG_FLAGS:
	case FR_ARG_CLONE:
		return v ? fr_digits_hex(p, v) : fr_digits_dec(p, v);
	default:
		return callwords_put_signed(p, (s32)v);
	}
}

/* ---- an argument ---- */

static const struct fr_callarg *callwords_arg(const struct fr_signature *s, const u64 *args, u32 cnt, u32 i)
{
	const struct fr_callby *by = s->by;

	for (; by->mask; by++)
		if (by->target == i && by->cause < cnt && (args[by->cause] & by->mask) == by->value)
			return &by->arg;
	return &s->args[i];
}

static char *callwords_put_known(const struct fr_callarg *a, u64 v, char *to)
{
	bool several = a->kind == FR_ARG_FLAGS || a->kind == FR_ARG_CLONE;
	const char *name = several ? NULL : callwords_find(a, v);
	char *p = to;

	if (several && a->words)
		p = callwords_put_bits(a, v, to);
	if (name)
		p = callwords_put_name(to, name);
	return p;
}

char *fr_callwords_put_named(const struct fr_signature *s, const u64 *args, u32 cnt, u32 i, char *to)
{
	const struct fr_callarg *a = callwords_arg(s, args, cnt, i);
	char *p = callwords_put_known(a, callwords_is_half(a->kind) ? (u32)args[i] : args[i], to);

	return p == to || (*to >= '0' && *to <= '9') ? to : p;
}

char *fr_callwords_put(const struct fr_signature *s, const u64 *args, u32 cnt, u32 i, char *to)
{
	const struct fr_callarg *a = callwords_arg(s, args, cnt, i);
	u64 v = callwords_is_half(a->kind) ? (u32)args[i] : args[i];
	char *p = a->words || a->kind == FR_ARG_SIGNAL || a->kind == FR_ARG_IOCTL ? callwords_put_known(a, v, to) : to;

	return p > to ? p : callwords_put_number(a->kind, v, to);
}
