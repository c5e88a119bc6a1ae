/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/text/jsonr.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/digits.h"
#include "base/text/utf8.h"

/* A text being read: what is left of it, where decoded bytes go, and the first error. */
struct reader {
	const char *p, *end;
	char *to; /* large enough: a decoded text and its NUL are no longer than the text in its quotes */
	const char *why;
};

static int bad(struct reader *r, const char *why)
{
	r->why = why;
	return -EINVAL;
}

static void skip_space(struct reader *r)
{
	while (r->p < r->end && (*r->p == ' ' || *r->p == '\t' || *r->p == '\r' || *r->p == '\n'))
		r->p++;
}

/* Is c next, after white space? Then step over it. */
static bool jsonr_take(struct reader *r, char c)
{
	skip_space(r);
	if (r->p == r->end || *r->p != c)
		return false;
	r->p++;
	return true;
}

static bool jsonr_take_word(struct reader *r, const char *word)
{
	size_t len = strlen(word);

	if ((size_t)(r->end - r->p) < len || memcmp(r->p, word, len))
		return false;
	r->p += len;
	return true;
}

/* Returns four digits, -1: they are not there. */
static int take_hex4(struct reader *r)
{
	int v = 0, i, d;

	if (r->end - r->p < 4)
		return -1;
	for (i = 0; i < 4; i++) {
		d = fr_hex_digit(*r->p++);
		if (d < 0)
			return -1;
		v = v << 4 | d;
	}
	return v;
}

static void jsonr_put_utf8(struct reader *r, u32 c)
{
	if (c < 0x80) {
		*r->to++ = c;
		return;
	}
	if (c < 0x800) {
		*r->to++ = 0xc0 | c >> 6;
	} else {
		if (c < 0x10000) {
			*r->to++ = 0xe0 | c >> 12;
		} else {
			*r->to++ = 0xf0 | c >> 18;
			*r->to++ = 0x80 | (c >> 12 & 0x3f);
		}
		*r->to++ = 0x80 | (c >> 6 & 0x3f);
	}
	*r->to++ = 0x80 | (c & 0x3f);
}

/* After \u: six bytes of text become at most three, a pair of surrogates four of twelve. */
static int take_unicode(struct reader *r)
{
	int c = take_hex4(r), low;

	if (c <= 0)
		return bad(r, c ? "\\u needs four digits" : "a string has no NUL");
	if (c >= 0xdc00 && c <= 0xdfff)
		return bad(r, "half of a surrogate pair");
	if (c >= 0xd800 && c <= 0xdbff) {
		if (!jsonr_take_word(r, "\\u"))
			return bad(r, "half of a surrogate pair");
		low = take_hex4(r);
		if (low < 0xdc00 || low > 0xdfff)
			return bad(r, "half of a surrogate pair");
		c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
	}
	jsonr_put_utf8(r, c);
	return 0;
}

static int take_escape(struct reader *r)
{
	static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
	const char *at;

	if (r->p == r->end)
		return bad(r, "a string does not end");
	if (*r->p == 'u') {
		r->p++;
		return take_unicode(r);
	}
	at = *r->p ? strchr(from, *r->p) : NULL;
	if (!at)
		return bad(r, "there is no such escape");
	*r->to++ = into[at - from];
	r->p++;
	return 0;
}

/* After the opening quote. */
static int jsonr_take_text(struct reader *r, const char **out)
{
	char *begin = r->to;
	size_t len;
	int err;

	while (r->p < r->end && *r->p != '"') {
		if (*r->p == '\\') {
			r->p++;
			err = take_escape(r);
			if (err)
				return err;
			continue;
		}
		if ((unsigned char)*r->p < 0x20)
			return bad(r, "a control character in a string");
		len = fr_utf8_len(r->p, r->end - r->p);
		if (!len)
			return bad(r, "a string that is not UTF-8");
		memcpy(r->to, r->p, len);
		r->to += len;
		r->p += len;
	}
	if (r->p == r->end)
		return bad(r, "a string does not end");
	r->p++;
	*r->to++ = 0;
	*out = begin;
	return 0;
}

static int jsonr_take_number(struct reader *r, struct fr_jsonr_member *m)
{
	const char *digits;
	u64 v = 0;

	m->type = FR_JSONR_INT;
	m->negative = *r->p == '-';
	r->p += m->negative;
	digits = r->p;
	for (; r->p < r->end && *r->p >= '0' && *r->p <= '9'; r->p++)
		if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, (u64)(*r->p - '0'), &v))
			return bad(r, "a number that is too large");
	if (r->p == digits || (*digits == '0' && r->p - digits > 1))
		return bad(r, "neither a string, an integer, true, false nor null");
	if (r->p < r->end && (*r->p == '.' || *r->p == 'e' || *r->p == 'E'))
		return bad(r, "a number that is not an integer");
	m->number = v;
	return 0;
}

static int take_value(struct reader *r, struct fr_jsonr_member *m)
{
	skip_space(r);
	if (r->p == r->end)
		return bad(r, "the object does not end");
	if (*r->p == '{' || *r->p == '[')
		return bad(r, "an object or array within the object");
	if (*r->p == '"') {
		r->p++;
		m->type = FR_JSONR_TEXT;
		return jsonr_take_text(r, &m->text);
	}
	if (jsonr_take_word(r, "null")) {
		m->type = FR_JSONR_NULL;
		return 0;
	}
	m->type = FR_JSONR_BOOL;
	if (jsonr_take_word(r, "true")) {
		m->number = 1;
		return 0;
	}
	return jsonr_take_word(r, "false") ? 0 : jsonr_take_number(r, m);
}

static int take_member(struct reader *r, struct fr_jsonr *j)
{
	struct fr_jsonr_member m = {};
	int err;

	if (j->cnt == FR_JSONR_MAX)
		return bad(r, "too many members");
	if (!jsonr_take(r, '"'))
		return bad(r, "a member's name was expected");
	err = jsonr_take_text(r, &m.key);
	if (err)
		return err;
	if (fr_jsonr_find(j, m.key))
		return bad(r, "a name that comes twice");
	if (!jsonr_take(r, ':'))
		return bad(r, "a colon was expected");
	err = take_value(r, &m);
	if (!err)
		j->member[j->cnt++] = m;
	return err;
}

static int take_object(struct reader *r, struct fr_jsonr *j)
{
	int err;

	if (!jsonr_take(r, '{'))
		return bad(r, "not a JSON object");
	if (!jsonr_take(r, '}')) {
		do {
			err = take_member(r, j);
			if (err)
				return err;
		} while (jsonr_take(r, ','));
		if (!jsonr_take(r, '}'))
			return bad(r, "a comma or } was expected");
	}
	skip_space(r);
	return r->p == r->end ? 0 : bad(r, "something after the object");
}

int fr_jsonr_parse(const char *s, size_t sz, struct fr_jsonr *out, const char **why)
{
	struct reader r = {.p = s, .end = s + sz};
	struct fr_jsonr j = {.mem = malloc(sz + 1)};
	int err;

	if (!j.mem)
		return -ENOMEM;
	r.to = j.mem;
	err = take_object(&r, &j);
	if (err) {
		free(j.mem);
		*why = r.why;
		return err;
	}
	*out = j;
	return 0;
}

void fr_jsonr_free(struct fr_jsonr *j)
{
	free(j->mem);
	*j = (struct fr_jsonr){};
}

const struct fr_jsonr_member *fr_jsonr_find(const struct fr_jsonr *j, const char *key)
{
	u32 i;

	for (i = 0; i < j->cnt; i++)
		if (!strcmp(j->member[i].key, key))
			return &j->member[i];
	return NULL;
}

const char *fr_jsonr_text(const struct fr_jsonr *j, const char *key, const char *otherwise)
{
	const struct fr_jsonr_member *m = fr_jsonr_find(j, key);

	return m && m->type == FR_JSONR_TEXT ? m->text : otherwise;
}

u64 fr_jsonr_u64(const struct fr_jsonr *j, const char *key, u64 otherwise)
{
	const struct fr_jsonr_member *m = fr_jsonr_find(j, key);

	return m && m->type == FR_JSONR_INT && !m->negative ? m->number : otherwise;
}

bool fr_jsonr_bool(const struct fr_jsonr *j, const char *key, bool otherwise)
{
	const struct fr_jsonr_member *m = fr_jsonr_find(j, key);

	return m && m->type == FR_JSONR_BOOL ? m->number != 0 : otherwise;
}

/* ---- documents of any form ---- */

struct walk {
	struct reader r;
	struct fr_jsonr_at at;
	char close[FR_JSONR_DEPTH]; /* of each object and array that is open */
	int (*take)(void *arg, const struct fr_jsonr_at *at, const char *text);
	void *arg;
};

static bool walk_is_plain(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '+' || c == '-' || c == '.' || c == 'E';
}

/* A word or a number: nobody asks for its value. */
static int walk_pass(struct walk *w)
{
	const char *begin = w->r.p;

	while (w->r.p < w->r.end && walk_is_plain(*w->r.p))
		w->r.p++;
	return w->r.p > begin ? 0 : bad(&w->r, "a value was expected");
}

/* The name of a member, of an object; of an array there is none. */
static int jsonr_walk_key(struct walk *w)
{
	u32 i = w->at.depth - 1;
	int err;

	w->at.key[i] = NULL;
	if (w->close[i] == ']')
		return 0;
	if (!jsonr_take(&w->r, '"'))
		return bad(&w->r, "a member's name was expected");
	err = jsonr_take_text(&w->r, &w->at.key[i]);
	return err ?: jsonr_take(&w->r, ':') ? 0 : bad(&w->r, "a colon was expected");
}

/* Behind a value: what ends here, ends; then the next one's name. */
static int jsonr_walk_behind(struct walk *w)
{
	while (w->at.depth && jsonr_take(&w->r, w->close[w->at.depth - 1]))
		w->at.depth--;
	if (!w->at.depth)
		return 0;
	return jsonr_take(&w->r, ',') ? jsonr_walk_key(w) : bad(&w->r, "a comma, } or ] was expected");
}

static int jsonr_walk_open(struct walk *w, char close)
{
	if (w->at.depth == FR_JSONR_DEPTH)
		return bad(&w->r, "too many objects and arrays in each other");
	w->close[w->at.depth++] = close;
	if (!jsonr_take(&w->r, close))
		return jsonr_walk_key(w);
	w->at.depth--;
	return jsonr_walk_behind(w);
}

static int jsonr_walk_value(struct walk *w)
{
	const char *text;
	int err;

	if (jsonr_take(&w->r, '{'))
		return jsonr_walk_open(w, '}');
	if (jsonr_take(&w->r, '['))
		return jsonr_walk_open(w, ']');
	if (jsonr_take(&w->r, '"'))
		err = jsonr_take_text(&w->r, &text) ?: w->take(w->arg, &w->at, text);
	else
		err = walk_pass(w);
	return err ?: jsonr_walk_behind(w);
}

int fr_jsonr_walk(const char *s, size_t sz, int (*take)(void *arg, const struct fr_jsonr_at *at, const char *text), void *arg)
{
	struct walk w = {.r = {.p = s, .end = s + sz}, .take = take, .arg = arg};
	char *mem = malloc(sz + 1);
	int err;

	if (!mem)
		return -ENOMEM;
	w.r.to = mem;
	do {
		err = jsonr_walk_value(&w);
	} while (!err && w.at.depth);
	skip_space(&w.r);
	if (!err && w.r.p < w.r.end)
		err = bad(&w.r, "something after the document");
	free(mem);
	return err;
}
