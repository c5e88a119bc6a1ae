/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * snapfile_rows: writes rows of snapshots into another one, a smaller or a joined one.
 *
 * Events that were cut away may be kept as context: they are not shown, but names and stacks are read from them too.
 */
#ifndef FR_SNAPFILE_ROWS_H
#define FR_SNAPFILE_ROWS_H

#include "read/snapfile/snapfile.h"

/* fr_snap_create() with the memory that rows need; a second thread encodes them if there is a CPU for it. */
int fr_snap_create_for_rows(const char *path, struct fr_snap_writer **out);

/*
 * Add a row, which is at (seq, off) in its ring, encoded by the schema that was put. Fastest if the rows of a ring come in
 * order and not mixed with other rings'. 0; -EBADMSG: the record is longer than any recorder writes, it is left out; -errno.
 */
int fr_snap_put_row(struct fr_snap_writer *w, const struct fr_row *row, u64 seq, u32 off, bool context);

/* Add a metadata chunk unchanged: another snapshot's content of that kind. 0 or -errno. */
int fr_snap_put_content(struct fr_snap_writer *w, u16 kind, const void *content, size_t sz);

/* The context of a snapshot: *cnt chunks; the first has number *first for fr_snap_read_chunk(). */
const struct fr_chunk *fr_snap_context(const struct fr_snap *s, size_t *first, size_t *cnt);

/* The value of fact i, NULL after the last; *name lives as long as s. */
const char *fr_snap_fact_at(const struct fr_snap *s, size_t i, const char **name);

#endif
