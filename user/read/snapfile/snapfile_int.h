/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * snapfile_int: what the parts of snapfile's reader share. Whole or damaged, a file is read in one way: part by part from its
 * beginning, each checked by its own hash. Anything else is skipped up to the next place that holds a part of this file. The
 * index then tells whether everything that was written has been found.
 *
 *	snapfile_read.c	 opening and closing, findings
 *	snapfile_parts.c the way through: parts, damage between them, index and trailer
 *	snapfile_chunk.c a chunk's header and content; chunks of events
 *	snapfile_meta.c	 chunks of everything else
 *	snapfile_rings.c rings whose accounts or holes were lost
 *	snapfile_rows.c	 what else is needed to make another snapshot of it
 *	snapfile_profile.c  of these, the profile
 *	snapfile_counters.c and the host's counters
 *	snapfile_symbols.c  of these, what addresses mean
 */
#ifndef FR_SNAPFILE_INT_H
#define FR_SNAPFILE_INT_H

#include <xxhash.h>

#include "read/snapfile/pack.h"
#include "read/snapfile/snapfile.h"
#include "read/snapfile/snapfile_format.h"

/* An array that grows. */
struct fr_snap_list {
	void *items;
	size_t cnt;
};

/* How to decode a chunk, beside what the API shows of it. */
struct fr_snap_place {
	u64 stored_off, stored_hash, decoded_sz;
};

/* A chunk whose header is sound, as the index must name it. */
struct fr_snap_found {
	u64 off;
	u32 head_sz;
	u16 kind;
};

/* The buffers that a chunk passes through when it is decoded. */
struct fr_snap_decoder {
	struct fr_unpack *unpack;
	u8 *stored, *content;
	size_t stored_cap, content_cap;
};

struct fr_snap {
	int fd;
	u64 base; /* where it begins in the file; all offsets are relative to it */
	u64 size;
	u64 file_id;
	bool has_id; /* from the file's header, or from the first chunk's if that is damaged */
	u64 schema_hash;
	struct fr_schema *schema; /* the file's own, NULL: none read */
	const struct fr_schema *use;
	struct fr_snap_list tasks, rings, holes, clocks, incidents;
	struct fr_snap_list mappings, symbols, states, klog, scenes;
	struct fr_snap_texts *texts; /* their texts */
	struct fr_stacks *stacks;    /* NULL: not requested yet */
	struct fr_snap_list facts;   /* struct fact */
	struct fr_prof *profile;     /* NULL: none */
	struct fr_prof *blocked;     /* likewise */
	struct fr_counters counters; /* if has_counters */
	bool has_counters;
	char *facts_text, *procs, *formats;
	size_t facts_sz, procs_sz, formats_sz;
	size_t meta_sz, items_sz; /* taken so far: decoded; of it, lists in memory */
	struct fr_chunk *chunk;	  /* event chunks */
	struct fr_snap_place *place;
	size_t chunk_cnt;
	size_t *by_ring;	   /* numbers of chunks, ring by ring, by their places in it */
	size_t context_cnt;	   /* context chunks, stored after the others once all have been read */
	struct fr_snap_found *off; /* all chunks */
	size_t off_cnt;
	u64 index_off;
	u64 next_nr; /* the chunks found have lower numbers */
	u64 *lost;   /* event chunks whose header is damaged, according to the index */
	size_t lost_cnt;
	char **damage;
	size_t damage_cnt;
	bool has_index, has_trailer;
	bool lost_holes; /* a chunk of them */
	u16 last_kind;	 /* of the last chunk found */
	u64 vain_sz;	 /* bytes of what looked like parts, and was none */
	struct fr_snap_decoder own;
};

static inline u64 fr_snap_hash(const void *p, size_t sz)
{
	return XXH64(p, sz, 0);
}

/* ---- snapfile_read.c ---- */

/* Add a finding for fr_snap_damage(). */
void fr_snap_note(struct fr_snap *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- snapfile_parts.c ---- */

/* Open a file for reading; "-" is what standard input is. A descriptor or -errno. */
int fr_snap_open_fd(const char *path);

/* Read exactly sz bytes at off. 0, -ENODATA if the file ends first, -errno. */
int fr_snap_bytes(const struct fr_snap *s, u64 off, void *buf, size_t sz);

/* Make *buf at least sz bytes large. 0 or -ENOMEM. */
int fr_snap_grow(u8 **buf, size_t *cap, size_t sz);

/* Read the whole file and take what it contains. 0, -EPROTONOSUPPORT: another major version, -errno from the system. */
int fr_snap_read_parts(struct fr_snap *s);

/* ---- snapfile_chunk.c ---- */

/*
 * Take the chunk at off. Its header of head_sz bytes, already checked by its hash, is in s->own.stored. 0: *end is where the
 * next part begins; -errno from the system.
 */
int fr_snap_take_chunk(struct fr_snap *s, u64 off, size_t head_sz, u64 *end);

/* Read a chunk's content into d->content. 0, -EBADMSG: damaged, -errno. */
int fr_snap_content(const struct fr_snap *s, struct fr_snap_decoder *d, const struct fr_snap_place *p, u64 stored_sz);

/* Free what it holds, but not d itself. */
void fr_snap_decoder_clear(struct fr_snap_decoder *d);

/* ---- snapfile_rows.c ---- */

/* After the last chunk: move the context chunks behind the others. 0 or -ENOMEM. */
int fr_snap_sort_context(struct fr_snap *s);

/* After that: sort the others by ring. 0 or -ENOMEM. */
int fr_snap_sort_rings(struct fr_snap *s);

/* ---- snapfile_meta.c ---- */

/* Is it a kind of chunk that fr_snap_take_meta() knows? */
bool fr_snap_is_meta(u32 kind);

/* Add the content of a metadata chunk. 0, -EBADMSG: damaged, or more than a file may have; -errno. */
int fr_snap_take_meta(struct fr_snap *s, u32 kind, const struct fr_snap_place *p, u64 stored_sz);

/* Add cnt items of item_sz bytes to a list; *to: the caller fills them. 0, -EBADMSG: more than a file may have; -ENOMEM. */
int fr_snap_add_items(struct fr_snap *s, struct fr_snap_list *l, size_t cnt, size_t item_sz, void **to);

/* After the last chunk: split the facts for fr_snap_fact(). 0 or -ENOMEM. */
int fr_snap_split_facts(struct fr_snap *s);

/* Then: end the holes that merge used to write without times where their ring is complete. */
void fr_snap_end_holes(struct fr_snap *s);

/* Free everything taken from metadata chunks. */
void fr_snap_free_meta(struct fr_snap *s);

/* ---- snapfile_rings.c ---- */

/* At the end: if the file is damaged, make accounts and end holes for rings that have chunks and no account. 0 or -ENOMEM. */
int fr_snap_guess_rings(struct fr_snap *s);

/* ---- snapfile_profile.c ---- */

/* Take s->own.content, sz bytes, as a profile; only the first counts. 0, -EBADMSG, -ENOMEM. */
int fr_snap_take_profile(struct fr_snap *s, struct fr_prof **to, size_t sz); /* *to: the snapshot's profile, or blocked */

/* ---- snapfile_counters.c ---- */

/* Add s->own.content, sz bytes, to the counters. 0, -EBADMSG, -ENOMEM. */
int fr_snap_take_counters(struct fr_snap *s, size_t sz);
void fr_snap_free_counters(struct fr_snap *s);

/* ---- snapfile_symbols.c ---- */

/* Add s->own.content, sz bytes of a list with texts. 0, -EBADMSG, -ENOMEM. */
int fr_snap_take_texts(struct fr_snap *s, u32 kind, size_t sz);
void fr_snap_sort_texts(struct fr_snap *s); /* after the last chunk */
void fr_snap_free_texts(struct fr_snap *s);

#endif
