/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <zstd.h>

#include "read/snapfile/pack.h"
#include "types.h"

struct fr_unpack {
	ZSTD_DCtx *ctx;
};

int fr_unpack_new(struct fr_unpack **out)
{
	struct fr_unpack *u = calloc(1, sizeof(*u));

	if (!u)
		return -ENOMEM;
	u->ctx = ZSTD_createDCtx();
	if (!u->ctx) {
		free(u);
		return -ENOMEM;
	}
	*out = u;
	return 0;
}

void fr_unpack_free(struct fr_unpack *u)
{
	if (!u)
		return;
	ZSTD_freeDCtx(u->ctx);
	free(u);
}

#define DESCRIPTOR_OFF 4u /* of a frame, RFC 8878, 3.1.1.1.1 */
#define HAS_CHECKSUM   4u

int fr_unpack_check(const void *src, size_t packed_sz, size_t sz)
{
	if (packed_sz <= DESCRIPTOR_OFF || !(((const u8 *)src)[DESCRIPTOR_OFF] & HAS_CHECKSUM))
		return -EBADMSG;
	/* Both return large unsigned values on errors. */
	if (ZSTD_getFrameContentSize(src, packed_sz) != sz || ZSTD_findFrameCompressedSize(src, packed_sz) != packed_sz)
		return -EBADMSG;
	return 0;
}

int fr_unpack(struct fr_unpack *u, const void *src, size_t packed_sz, void *dst, size_t sz)
{
	return ZSTD_decompressDCtx(u->ctx, dst, sz, src, packed_sz) == sz ? 0 : -EBADMSG;
}
