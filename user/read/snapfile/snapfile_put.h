/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * snapfile_put: lists, texts and the profile as contents of metadata chunks; snapfile_write.c makes chunks of them. What this
 * needs of it beside fr_snap_put_content().
 */
#ifndef FR_SNAPFILE_PUT_H
#define FR_SNAPFILE_PUT_H

#include "read/snapfile/snapfile.h"

#define FR_CONTENT_MAX_SZ (1u << 20) /* of a metadata chunk's content; longer content is split */
#define FR_CONTENT_BUF_SZ (FR_CONTENT_MAX_SZ + 4096)

/* Room for a content, FR_CONTENT_BUF_SZ bytes, until the next one is put. NULL: no memory. */
void *fr_snap_content_buf(struct fr_snap_writer *w);

#endif
