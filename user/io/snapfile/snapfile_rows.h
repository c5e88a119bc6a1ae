/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * snapfile_rows: rows of snapshots written into another: what a smaller or a joined one is made of.
 *
 * Events that were cut away may be kept as context: they are not shown, but names and stacks are read from them too.
 */
#ifndef FR_SNAPFILE_ROWS_H
#define FR_SNAPFILE_ROWS_H

#include "io/snapfile/snapfile.h"

/*
 * Add a row, which is at (seq, off) in its ring; by that schema which was put. Rows of a ring in order and without other
 * rings' between them are fastest. 0; -EBADMSG: no recorder wrote so long a record, it is left out; -errno.
 */
int fr_snap_put_row(struct fr_snap_writer *w, const struct fr_row *row, u64 seq, u32 off, bool context);

/* Add a metadata chunk as it is: what another snapshot holds of that kind. 0 or -errno. */
int fr_snap_put_content(struct fr_snap_writer *w, u16 kind, const void *content, size_t sz);

/* Copy all chunks of a kind. Damaged ones are passed over (fr_snap_damage() knows). 0 or -errno. */
int fr_snap_copy_kind(struct fr_snap *s, u16 kind, struct fr_snap_writer *w);

/* The context of a snapshot: *cnt chunks, of which fr_snap_read_chunk() knows the first by the number *first. */
const struct fr_chunk *fr_snap_context(const struct fr_snap *s, size_t *first, size_t *cnt);

/* Fact i, NULL behind the last: its value; *name lives as long as s. */
const char *fr_snap_fact_at(const struct fr_snap *s, size_t i, const char **name);

#endif
