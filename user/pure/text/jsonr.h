/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * jsonr: reads one flat JSON object: strings, integers, true, false, null. That is all the control socket's requests and its
 * answers need, and so the parser has no depth to bomb: what is nested is refused. Strict (RFC 8259: valid UTF-8, no trailing
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
	const char *key;  /* NUL-terminated, escapes undone */
	const char *text; /* likewise, of a text; NULL else */
	enum fr_jsonr_type type;
	bool negative; /* of an integer */
	u64 number;    /* of an integer its magnitude, of a bool 0 or 1 */
};

struct fr_jsonr {
	struct fr_jsonr_member member[FR_JSONR_MAX];
	u32 cnt;
	char *mem; /* what keys and texts point into */
};

/* 0 and *out (fr_jsonr_free); -EINVAL and *why, a constant; -ENOMEM. */
int fr_jsonr_parse(const char *s, size_t sz, struct fr_jsonr *out, const char **why);
void fr_jsonr_free(struct fr_jsonr *j);

/* The member of that name, NULL if there is none. */
const struct fr_jsonr_member *fr_jsonr_find(const struct fr_jsonr *j, const char *key);

/* Its text or number if it is there and of that type, else what is given. */
const char *fr_jsonr_text(const struct fr_jsonr *j, const char *key, const char *otherwise);
u64 fr_jsonr_u64(const struct fr_jsonr *j, const char *key, u64 otherwise);
bool fr_jsonr_bool(const struct fr_jsonr *j, const char *key, bool otherwise);

#endif
