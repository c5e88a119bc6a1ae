/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pbuf: protocol buffer messages, written to memory field by field. Pure.
 *
 * A nested message is opened and closed; its length is filled in afterwards, as a varint of fixed width, which the encoding
 * permits, so that nothing is moved. Room is reserved once per message, by the caller, who knows how large it can get:
 *
 *	if (fr_pbuf_room(b, 512))
 *		return -ENOMEM;
 *	at = fr_pbuf_open(b, 4);
 *	fr_pbuf_num(b, 2, prev_pid);
 *	fr_pbuf_close(b, at);
 */
#ifndef FR_PBUF_H
#define FR_PBUF_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/escape.h"
#include "types.h"

#define FR_PBUF_LEN_SZ 4u  /* bytes of a nested message's length: up to 256 MiB */
#define FR_PBUF_NUM_SZ 15u /* the largest field that is a number, its tag included */

struct fr_pbuf {
	u8 *p; /* the owner's to free() */
	size_t len, cap;
};

/* Make room for sz more bytes. Returns 0 or -ENOMEM. */
static inline int fr_pbuf_room(struct fr_pbuf *b, size_t sz)
{
	size_t cap = b->cap;
	u8 *p;

	if (cap - b->len >= sz)
		return 0;
	while (cap - b->len < sz)
		cap = cap ? cap * 2 : 4096;
	p = realloc(b->p, cap);
	if (!p)
		return -ENOMEM;
	b->p = p;
	b->cap = cap;
	return 0;
}

static inline void fr_pbuf_varint(struct fr_pbuf *b, u64 v)
{
	u8 *p = b->p + b->len;

	while (v >= 0x80) {
		*p++ = v | 0x80;
		v >>= 7;
	}
	*p++ = v;
	b->len = p - b->p;
}

/* A number; negative ones sign-extended to 64 bits, as int32, int64 and enums require. */
static inline void fr_pbuf_num(struct fr_pbuf *b, u32 field, u64 v)
{
	fr_pbuf_varint(b, field << 3);
	fr_pbuf_varint(b, v);
}

/* A text, bytes, or a finished message: FR_PBUF_NUM_SZ + sz bytes. */
static inline void fr_pbuf_mem(struct fr_pbuf *b, u32 field, const void *p, size_t sz)
{
	fr_pbuf_varint(b, field << 3 | 2);
	fr_pbuf_varint(b, sz);
	if (sz)
		memcpy(b->p + b->len, p, sz);
	b->len += sz;
}

/* A text that anybody can choose: valid UTF-8 without what escape.h hides, whatever it was. */
static inline void fr_pbuf_text(struct fr_pbuf *b, u32 field, const char *s, size_t sz)
{
	fr_pbuf_mem(b, field, s, sz);
	fr_escape_mask((char *)b->p + b->len - sz, sz);
}

static inline void fr_pbuf_str(struct fr_pbuf *b, u32 field, const char *s)
{
	fr_pbuf_mem(b, field, s, strlen(s));
}

/* Begin a nested message. Pass the result to fr_pbuf_close(). */
static inline size_t fr_pbuf_open(struct fr_pbuf *b, u32 field)
{
	fr_pbuf_varint(b, field << 3 | 2);
	b->len += FR_PBUF_LEN_SZ;
	return b->len;
}

static inline void fr_pbuf_close(struct fr_pbuf *b, size_t at)
{
	size_t sz = b->len - at;
	u8 *p = b->p + at - FR_PBUF_LEN_SZ;

	p[0] = sz | 0x80;
	p[1] = sz >> 7 | 0x80;
	p[2] = sz >> 14 | 0x80;
	p[3] = sz >> 21 & 0x7f;
}

#endif
