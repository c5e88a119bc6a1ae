/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* pack: packs bytes into one zstd frame with checksum and declared size, and unpacks them. The only user of zstd. */
#ifndef FR_PACK_H
#define FR_PACK_H

#include <stddef.h>

struct fr_pack; /* opaque */

/*
 * A packer for up to max_sz bytes. To have all its memory from here on, it packs that many of src, whatever they are, to
 * fr_pack_bound(max_sz) at dst. 0 and *out (fr_pack_free(), takes NULL), -ENOMEM.
 */
int fr_pack_new(const void *src, size_t max_sz, void *dst, struct fr_pack **out);
void fr_pack_free(struct fr_pack *p);

/* The most room a frame of sz bytes needs; the memory of a packer, roughly. */
size_t fr_pack_bound(size_t sz);
size_t fr_pack_mem_sz(size_t max_sz);

/* Pack sz bytes into dst of fr_pack_bound(sz). 0 and *packed_sz, or -EIO. */
int fr_pack(struct fr_pack *p, const void *src, size_t sz, void *dst, size_t *packed_sz);

struct fr_unpack; /* opaque */

/* 0 and *out (free with fr_unpack_free(), takes NULL), or -ENOMEM. */
int fr_unpack_new(struct fr_unpack **out);
void fr_unpack_free(struct fr_unpack *u);

/* Is src exactly one frame that declares sz bytes of content? Asked before memory is allocated for them. 0, or -EBADMSG. */
int fr_unpack_check(const void *src, size_t packed_sz, size_t sz);

/* Unpack exactly sz bytes to dst. 0, -EBADMSG. */
int fr_unpack(struct fr_unpack *u, const void *src, size_t packed_sz, void *dst, size_t sz);

#endif
