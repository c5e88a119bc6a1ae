/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * jsonr: reads one flat JSON object: strings, integers, true, false, null. The control socket's requests and answers need no
 * more, and so the parser has no depth to attack: nested values are refused. Strict (RFC 8259: valid UTF-8, no trailing
 * commas, no comments), no name twice, no NUL in a text. Pure.
 */
#ifndef FR_JSONR_H
#define FR_JSONR_H

#include <stdbool.h>
#include <stddef.h>

#include "types.h"

#define FR_JSONR_MAX 32u /* members of the object */

enum fr_jsonr_type { FR_JSONR_NULL, FR_JSONR_BOOL, FR_JSONR_INT, FR_JSONR_TEXT };

struct fr_jsonr_member {
	const char *key;  /* NUL-terminated, unescaped */
	const char *text; /* of a text, the same; otherwise NULL */
	enum fr_jsonr_type type;
	bool negative; /* of an integer */
	u64 number;    /* an integer's magnitude; a bool's 0 or 1 */
};

struct fr_jsonr {
	struct fr_jsonr_member member[FR_JSONR_MAX];
	u32 cnt;
	char *mem; /* what keys and texts point into */
};

/* Returns 0 and *out (fr_jsonr_free); -EINVAL and *why, a constant; -ENOMEM. */
int fr_jsonr_parse(const char *s, size_t sz, struct fr_jsonr *out, const char **why);
void fr_jsonr_free(struct fr_jsonr *j);

/* The member of that name, NULL: none. */
const struct fr_jsonr_member *fr_jsonr_find(const struct fr_jsonr *j, const char *key);

/* Its text or number if it exists and has that type, otherwise the given one. */
const char *fr_jsonr_text(const struct fr_jsonr *j, const char *key, const char *otherwise);
u64 fr_jsonr_u64(const struct fr_jsonr *j, const char *key, u64 otherwise);
bool fr_jsonr_bool(const struct fr_jsonr *j, const char *key, bool otherwise);

/*
 * Documents of other programs, of any form: each text in them, with what leads to it: names of members, from the outermost;
 * NULL of an element of an array. As strict, but for numbers, whose form is not looked at, names that come twice, and at most
 * FR_JSONR_DEPTH objects and arrays in each other. take() returns 0, or anything else to end the walk. text has no NUL in it.
 */
#define FR_JSONR_DEPTH 32u

struct fr_jsonr_at {
	const char *key[FR_JSONR_DEPTH];
	u32 depth;
};

/* 0; what take() returned; -EINVAL: it is no such document, and what was told so far is not to be trusted; -ENOMEM. */
int fr_jsonr_walk(const char *s, size_t sz, int (*take)(void *arg, const struct fr_jsonr_at *at, const char *text), void *arg);

#endif
