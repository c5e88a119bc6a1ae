/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* seal: a mutator for snapshots that puts the hashes of what it changed right, so that what is behind them is reached. */
#ifndef FR_FUZZ_SEAL_H
#define FR_FUZZ_SEAL_H

#include <string.h>
#include <xxhash.h>

#include "read/snapfile/snapfile_format.h"

#ifndef FR_SEAL_AT
#define FR_SEAL_AT 0u /* bytes of an input before the snapshot */
#endif

size_t LLVMFuzzerMutate(u8 *data, size_t sz, size_t max_sz);
size_t LLVMFuzzerCustomMutator(u8 *data, size_t sz, size_t max_sz, unsigned seed);

static void seal(u8 *part, size_t sz)
{
	fr_put64(part + sz - 8, XXH64(part, sz - 8, 0));
}

/* Walk the parts as their sizes say, and hash each as it is now. */
static void seal_all(u8 *data, size_t sz)
{
	size_t at = 0;

	while (sz - at > sizeof(struct fr_chunk_head)) {
		struct fr_chunk_head h;
		u64 part_sz, stored_sz = 0;

		memcpy(&h, data + at, sizeof(h));
		part_sz = (u64)h.part.sz + 8;
		if (part_sz < sizeof(struct fr_file_head) || part_sz > sz - at)
			return;
		if (h.part.magic == FR_CHUNK_MAGIC && h.stored_sz <= sz - at - part_sz) {
			stored_sz = h.stored_sz;
			h.stored_hash = XXH64(data + at + part_sz, stored_sz, 0);
			memcpy(data + at, &h, sizeof(h));
		}
		seal(data + at, part_sz);
		at += part_sz + stored_sz;
	}
	if (sz - at >= sizeof(struct fr_file_head))
		seal(data + at, sz - at);
}

size_t LLVMFuzzerCustomMutator(u8 *data, size_t sz, size_t max_sz, unsigned seed)
{
	size_t n = LLVMFuzzerMutate(data, sz, max_sz);

	if (n > FR_SEAL_AT + sizeof(struct fr_file_head) && data[FR_SEAL_AT] == (FR_FILE_MAGIC & 0xff) && seed % 4)
		seal_all(data + FR_SEAL_AT, n - FR_SEAL_AT);
	return n;
}

#endif
