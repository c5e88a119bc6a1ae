/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * snapfile_int: what the parts of snapfile's reader share. There is one way through a file, whole or damaged: part by part
 * from its beginning, each checked by its own hash; where something else stands, on to the next place that is a part of this
 * file. The index then tells whether all that was written has been found.
 *
 *	snapfile_read.c	 opening and closing, findings
 *	snapfile_parts.c the way through: parts, damage between them, index and trailer
 *	snapfile_chunk.c a chunk's header and content; chunks of events
 *	snapfile_meta.c	 chunks of everything else
 *	snapfile_rows.c	 what else is needed to make another snapshot of it
 *	snapfile_profile.c  of these, the profile
 *	snapfile_symbols.c  of these, what addresses mean
 */
#ifndef FR_SNAPFILE_INT_H
#define FR_SNAPFILE_INT_H

#include <xxhash.h>

#include "io/snapfile/pack.h"
#include "io/snapfile/snapfile.h"
#include "io/snapfile/snapfile_format.h"

/* An array that grows. */
struct fr_snap_list {
	void *items;
	size_t cnt;
};

/* What a chunk is decoded by, beside what the API shows of it. */
struct fr_snap_place {
	u64 stored_off, stored_hash, decoded_sz;
};

/* A chunk on its way from the file to what is made of it. */
struct fr_snap_decoder {
	struct fr_unpack *unpack;
	u8 *stored, *content;
	size_t stored_cap, content_cap;
};

struct fr_snap {
	int fd;
	u64 base; /* where it begins in the file: all offsets are from there */
	u64 size;
	u64 file_id;
	bool has_id; /* from the file's header, or where that is damaged from the first chunk's */
	u64 schema_hash;
	struct fr_schema *schema; /* the file's own, NULL: none read */
	const struct fr_schema *use;
	struct fr_snap_list tasks, rings, holes, clocks, incidents;
	struct fr_snap_list mappings, symbols;
	struct fr_snap_texts *texts; /* theirs */
	struct fr_stacks *stacks;    /* NULL: not asked for yet */
	struct fr_snap_list facts;   /* struct fact */
	struct fr_prof *profile;     /* NULL: none */
	char *facts_text, *procs;
	size_t facts_sz, procs_sz;
	size_t meta_sz;
	struct fr_chunk *chunk; /* event chunks */
	struct fr_snap_place *place;
	size_t chunk_cnt;
	size_t context_cnt; /* behind them, when all have been read: those of context */
	u64 *off;	    /* of all chunks */
	size_t off_cnt;
	u64 *lost; /* of chunks of events whose header is damaged, as the index has them */
	size_t lost_cnt;
	char **damage;
	size_t damage_cnt;
	bool has_index, has_trailer;
	struct fr_snap_decoder own;
};

static inline u64 fr_snap_hash(const void *p, size_t sz)
{
	return XXH64(p, sz, 0);
}

/* ---- snapfile_read.c ---- */

/* Add a finding to those of fr_snap_damage(). */
void fr_snap_note(struct fr_snap *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- snapfile_parts.c ---- */

/* Read sz bytes at off, all of them. 0, -ENODATA where the file ends before, -errno. */
int fr_snap_bytes(const struct fr_snap *s, u64 off, void *buf, size_t sz);

/* Let *buf have sz bytes at least. 0 or -ENOMEM. */
int fr_snap_grow(u8 **buf, size_t *cap, size_t sz);

/* Go through the whole file and take what is in it. 0, -EPROTONOSUPPORT: of another major version, -errno of the system. */
int fr_snap_read_parts(struct fr_snap *s);

/* ---- snapfile_chunk.c ---- */

/*
 * Take the chunk at off, whose header of head_sz bytes, checked by its hash, is in s->own.stored. 0: *end is where the next
 * part begins; -errno of the system.
 */
int fr_snap_take_chunk(struct fr_snap *s, u64 off, size_t head_sz, u64 *end);

/* Read a chunk's content to d->content. 0, -EBADMSG: damaged, -errno. */
int fr_snap_content(const struct fr_snap *s, struct fr_snap_decoder *d, const struct fr_snap_place *p, u64 stored_sz);

/* Free what it holds, not d itself. */
void fr_snap_decoder_clear(struct fr_snap_decoder *d);

/* ---- snapfile_rows.c ---- */

/* After the last chunk: put those of context behind the others. 0 or -ENOMEM. */
int fr_snap_sort_context(struct fr_snap *s);

/* ---- snapfile_meta.c ---- */

bool fr_snap_is_meta(u32 kind);

/* Add the content of such a chunk to what there is. 0, -EBADMSG: damaged, or more than a file may have; -errno. */
int fr_snap_take_meta(struct fr_snap *s, u32 kind, const struct fr_snap_place *p, u64 stored_sz);

/* After the last chunk: let fr_snap_fact() find facts. 0 or -ENOMEM. */
int fr_snap_split_facts(struct fr_snap *s);

/* Then: holes that merge once wrote without times end where their ring is complete. */
void fr_snap_end_holes(struct fr_snap *s);

/* Free all that was taken of such chunks. */
void fr_snap_free_meta(struct fr_snap *s);

/* ---- snapfile_profile.c ---- */

/* s->own.content, sz bytes, are a profile; the first counts. 0, -EBADMSG, -ENOMEM. */
int fr_snap_take_profile(struct fr_snap *s, size_t sz);

/* ---- snapfile_symbols.c ---- */

/* Add s->own.content, sz bytes of a list with texts. 0, -EBADMSG, -ENOMEM. */
int fr_snap_take_texts(struct fr_snap *s, u32 kind, size_t sz);
void fr_snap_sort_texts(struct fr_snap *s); /* after the last chunk */
void fr_snap_free_texts(struct fr_snap *s);

#endif
