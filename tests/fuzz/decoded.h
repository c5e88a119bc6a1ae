/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * decoded: a snapshot taken apart into the contents of its chunks, and put together again, each content compressed and each
 * part hashed anew. So a content can be changed, and what is wrong then is the content alone, not a checksum.
 */
#ifndef FR_FUZZ_DECODED_H
#define FR_FUZZ_DECODED_H

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#include "read/snapfile/snapfile_format.h"

#define DECODED_CHUNK_MAX 64u

struct decoded_chunk {
	struct fr_chunk_head head;
	u8 extra[FR_HEAD_MAX_SZ]; /* of the header, behind head */
	size_t extra_sz;
	u8 *content;
	size_t sz;
	bool unsummed; /* its frame is to have no checksum */
};

struct decoded {
	struct fr_file_head head;
	u8 gap[16]; /* bytes between header and first chunk */
	size_t gap_sz;
	struct decoded_chunk *chunk;
	u32 cnt;
	/* what index and trailer are to say, beside what is right */
	s32 index_kind_add, index_head_add, index_off_add;
	bool two_indexes, late_chunk;
};

static void decoded_free(struct decoded *d)
{
	u32 i;

	for (i = 0; i < d->cnt; i++)
		free(d->chunk[i].content);
	free(d->chunk);
	*d = (struct decoded){};
}

/* The chunk at data; its bytes, 0: it is none. */
static size_t decoded_read_chunk(struct decoded_chunk *c, const u8 *data, size_t sz)
{
	size_t head_sz;

	if (sz < sizeof(c->head) + 8)
		return 0;
	memcpy(&c->head, data, sizeof(c->head));
	head_sz = (size_t)c->head.part.sz + 8;
	if (c->head.part.magic != FR_CHUNK_MAGIC || head_sz < sizeof(c->head) + 8 || head_sz > FR_HEAD_MAX_SZ || head_sz > sz ||
	    c->head.stored_sz > sz - head_sz || c->head.decoded_sz > FR_DECODED_MAX_SZ)
		return 0;
	c->extra_sz = head_sz - sizeof(c->head) - 8;
	memcpy(c->extra, data + sizeof(c->head), c->extra_sz);
	c->content = malloc(c->head.decoded_sz + 1);
	c->sz = ZSTD_decompress(c->content, c->head.decoded_sz, data + head_sz, c->head.stored_sz);
	return ZSTD_isError(c->sz) ? 0 : head_sz + c->head.stored_sz;
}

/* Take a sound file of one snapshot apart. Whether it is one. decoded_free() in either case. */
static bool decoded_read(struct decoded *d, const u8 *data, size_t sz)
{
	size_t at, n;

	*d = (struct decoded){.chunk = calloc(DECODED_CHUNK_MAX, sizeof(*d->chunk))};
	if (sz < sizeof(d->head))
		return false;
	memcpy(&d->head, data, sizeof(d->head));
	if (d->head.part.magic != FR_FILE_MAGIC || d->head.part.sz + 8 != sizeof(d->head))
		return false;
	for (at = sizeof(d->head); d->cnt < DECODED_CHUNK_MAX; at += n, d->cnt++) {
		n = decoded_read_chunk(&d->chunk[d->cnt], data + at, sz - at);
		if (!n) {
			free(d->chunk[d->cnt].content);
			return d->cnt;
		}
	}
	return true;
}

/* ---- putting together ---- */

struct decoded_out {
	u8 *to;
	size_t sz, cap;
	bool full;
};

static void decoded_put(struct decoded_out *o, const void *p, size_t sz)
{
	o->full |= sz > o->cap - o->sz;
	if (o->full)
		return;
	memcpy(o->to + o->sz, p, sz);
	o->sz += sz;
}

/* The hash of what was put since then. */
static void decoded_seal(struct decoded_out *o, size_t since)
{
	u64 hash = XXH64(o->to + since, o->sz - since, 0);

	decoded_put(o, &hash, sizeof(hash));
}

static void decoded_put_chunk(struct decoded_out *o, const struct decoded_chunk *c)
{
	size_t since = o->sz, cap = ZSTD_compressBound(c->sz);
	ZSTD_CCtx *z = ZSTD_createCCtx();
	struct fr_chunk_head h = c->head;
	u8 *packed = malloc(cap);

	ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, !c->unsummed);
	h.stored_sz = ZSTD_compress2(z, packed, cap, c->content, c->sz);
	h.decoded_sz = c->sz;
	h.stored_hash = XXH64(packed, h.stored_sz, 0);
	h.part.sz = sizeof(h) + c->extra_sz;
	decoded_put(o, &h, sizeof(h));
	decoded_put(o, c->extra, c->extra_sz);
	decoded_seal(o, since);
	decoded_put(o, packed, h.stored_sz);
	ZSTD_freeCCtx(z);
	free(packed);
}

static void decoded_put_index(struct decoded_out *o, const struct decoded *d, const u64 *off)
{
	struct fr_index_head h = {.part = {.magic = FR_INDEX_MAGIC, .file_id = d->head.part.file_id}, .cnt = d->cnt};
	size_t since = o->sz;
	u32 i;

	memcpy(h.part.tag, FR_INDEX_TAG, FR_TAG_SZ);
	h.part.sz = sizeof(h) + d->cnt * sizeof(struct fr_index_entry);
	decoded_put(o, &h, sizeof(h));
	for (i = 0; i < d->cnt; i++) {
		struct fr_index_entry e = {
			.file_off = off[i],
			.kind = d->chunk[i].head.kind + d->index_kind_add,
			.head_sz = sizeof(struct fr_chunk_head) + d->chunk[i].extra_sz + 8 + d->index_head_add,
		};

		decoded_put(o, &e, sizeof(e));
	}
	decoded_seal(o, since);
}

/* Write it to `to`; its bytes, 0: they are more than cap. */
static size_t decoded_write(const struct decoded *d, u8 *to, size_t cap)
{
	struct decoded_out o = {.to = to, .cap = cap};
	struct fr_trailer t = {.part = {FR_TRAILER_MAGIC, sizeof(t) - 8, FR_TRAILER_TAG, d->head.part.file_id}};
	u64 off[DECODED_CHUNK_MAX];
	size_t since;
	u32 i;

	decoded_put(&o, &d->head, sizeof(d->head) - 8);
	decoded_seal(&o, 0);
	decoded_put(&o, d->gap, d->gap_sz);
	for (i = 0; i < d->cnt - d->late_chunk; i++) {
		off[i] = o.sz;
		decoded_put_chunk(&o, &d->chunk[i]);
	}
	off[d->cnt - 1] = d->late_chunk ? 0 : off[d->cnt - 1];
	t.index_off = o.sz + d->index_off_add;
	decoded_put_index(&o, d, off);
	if (d->two_indexes)
		decoded_put_index(&o, d, off);
	if (d->late_chunk)
		decoded_put_chunk(&o, &d->chunk[d->cnt - 1]);
	since = o.sz;
	t.chunk_cnt = d->cnt;
	t.file_sz = o.sz + sizeof(t);
	decoded_put(&o, &t, sizeof(t) - 8);
	decoded_seal(&o, since);
	return o.full ? 0 : o.sz;
}

#endif
