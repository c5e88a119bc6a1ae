/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read/elf/xz.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>

#define LIBRARY	  "liblzma.so.5"
#define MEMORY_SZ (100ull << 20) /* for the dictionary: levels up to 9 need 65 MiB */

/* lzma_stream_buffer_decode(), a stable interface: 0 is LZMA_OK. */
typedef int (*decode_fn)(u64 *memory, u32 flags, const void *allocator, const u8 *in, size_t *in_pos, size_t in_sz, u8 *out,
			 size_t *out_pos, size_t out_sz);

static int unpack(decode_fn decode, const u8 *in, size_t sz, size_t max_sz, u8 **out, size_t *out_sz)
{
	u8 *p = malloc(max_sz), *fit;
	size_t in_pos = 0, out_pos = 0;
	u64 memory = MEMORY_SZ;

	if (!p)
		return -ENOMEM;
	if (decode(&memory, 0, NULL, in, &in_pos, sz, p, &out_pos, max_sz) || !out_pos) {
		free(p);
		return -EBADMSG;
	}
	fit = realloc(p, out_pos);
	*out = fit ? fit : p;
	*out_sz = out_pos;
	return 0;
}

int fr_xz_unpack(const void *in, size_t sz, size_t max_sz, u8 **out, size_t *out_sz)
{
	void *lib = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL), *found;
	decode_fn decode;
	int err;

	if (!lib)
		return -ENOSYS;
	found = dlsym(lib, "lzma_stream_buffer_decode");
	*(void **)&decode = found;
	err = found ? unpack(decode, in, sz, max_sz, out, out_sz) : -ENOSYS;
	dlclose(lib);
	return err;
}
