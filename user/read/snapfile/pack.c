/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read/snapfile/pack.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <zstd.h>

#define LEVEL 1 /* level 3 is 5 % smaller but takes twice the time, and a snapshot is urgent */

struct fr_pack {
	ZSTD_CCtx *ctx;
};

static bool pack_set_up(ZSTD_CCtx *ctx)
{
	return !ZSTD_isError(ZSTD_CCtx_setParameter(ctx, ZSTD_c_compressionLevel, LEVEL)) &&
	       !ZSTD_isError(ZSTD_CCtx_setParameter(ctx, ZSTD_c_checksumFlag, 1)) &&
	       !ZSTD_isError(ZSTD_CCtx_setParameter(ctx, ZSTD_c_contentSizeFlag, 1));
}

int fr_pack_new(const void *src, size_t max_sz, void *dst, struct fr_pack **out)
{
	struct fr_pack *p = calloc(1, sizeof(*p));
	size_t sz;

	if (!p)
		return -ENOMEM;
	p->ctx = ZSTD_createCCtx();
	/* zstd allocates a context's memory on first use, by what it packs */
	if (!p->ctx || !pack_set_up(p->ctx) || fr_pack(p, src, max_sz, dst, &sz)) {
		fr_pack_free(p);
		return -ENOMEM;
	}
	*out = p;
	return 0;
}

void fr_pack_free(struct fr_pack *p)
{
	if (!p)
		return;
	ZSTD_freeCCtx(p->ctx);
	free(p);
}

size_t fr_pack_bound(size_t sz)
{
	return ZSTD_compressBound(sz);
}

size_t fr_pack_mem_sz(size_t max_sz)
{
	(void)max_sz; /* level 1's tables; the window is the source itself */
	return 1u << 20;
}

int fr_pack(struct fr_pack *p, const void *src, size_t sz, void *dst, size_t *packed_sz)
{
	size_t ret = ZSTD_compress2(p->ctx, dst, ZSTD_compressBound(sz), src, sz);

	if (ZSTD_isError(ret))
		return -EIO;
	*packed_sz = ret;
	return 0;
}
