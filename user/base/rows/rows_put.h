/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rows_put: rows of decoded batches, to become an event chunk again: how a smaller or a joined snapshot is made. Rows keep
 * their place in the ring; the bytes of their records are written anew. Pure.
 */
#ifndef FR_ROWS_PUT_H
#define FR_ROWS_PUT_H

#include "base/rows/rows.h"

/* May this row, at (seq, off), be added: same ring, later in it and in time than those there, and there is room? */
bool fr_rows_takes_row(const struct fr_rows *r, const struct fr_row *row, u64 seq, u32 off);

/* Add it. Returns 0; -EBADMSG: no recorder wrote such a record; -ENOBUFS if fr_rows_takes_row() says no. */
int fr_rows_put(struct fr_rows *r, const struct fr_row *row, u64 seq, u32 off);

#endif
