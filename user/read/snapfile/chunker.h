/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * chunker: laps of rings, or rows, become the packed contents of event chunks: listed, turned into columns, compressed. With
 * more than one job, threads do this while the caller goes on; the chunks come back in the order they were put, the same
 * bytes whatever the number of jobs (for the same raw_cap).
 *
 * A chunk ends by itself when it is large enough or what is put next belongs to another ring. The caller takes the oldest one,
 * writes it and releases it whenever there is no room for more.
 */
#ifndef FR_CHUNKER_H
#define FR_CHUNKER_H

#include "base/rows/rows.h"
#include "read/snapfile/snapfile.h"

#define FR_CHUNKER_TARGET_SZ FR_SNAP_JOBS_LAP_SZ /* of laps in a chunk, unless a single one is larger */

struct fr_chunker; /* opaque */

/* A chunk whose laps were listed. It belongs to the chunker, until fr_chunker_release(). */
struct fr_chunked {
	const struct fr_rows *rows; /* without rows there is no content */
	void *const *tag;	    /* of its laps, rows->lap_cnt; put rows have none */
	u32 tag_cnt;
	bool context;
	const void *packed;
	size_t packed_sz, content_sz;
};

/* Memory for laps of up to raw_cap bytes each and so many jobs, at least 1, the caller's included; fr_chunker_new() takes it.
 */
size_t fr_chunker_mem_sz(size_t raw_cap, u32 jobs);

/*
 * All memory is allocated and faulted in here, except that zstd may at times give back the half megabyte that it works in and
 * take it anew. Threads that cannot be created do not matter. 0 and *out, or -ENOMEM; free takes NULL, ends the threads, and
 * drops what was not taken.
 */
int fr_chunker_new(size_t raw_cap, u32 jobs, struct fr_chunker **out);
void fr_chunker_free(struct fr_chunker *c);

/* The schema that the laps and rows put from now on have been written with; call it with nothing put and not taken. */
void fr_chunker_use_schema(struct fr_chunker *c, const struct fr_schema *s);

/*
 * Add a lap, of which rows from since_ns on are listed. Its bytes are read until its chunk has been taken. 0; -EAGAIN: no slot
 * is free, take a chunk and try again; -EINVAL: not the size of a lap; -ENOBUFS: larger than raw_cap.
 */
int fr_chunker_put_lap(struct fr_chunker *c, const struct fr_rows_lap *lap, u64 since_ns, void *tag);

/* Add a row, as fr_rows_put(), or -EAGAIN as above; context as in struct fr_chunk. */
int fr_chunker_put_row(struct fr_chunker *c, const struct fr_row *row, u64 seq, u32 off, bool context);

/* No more laps or rows to the present chunk. */
void fr_chunker_end(struct fr_chunker *c);

/*
 * Wait for the oldest chunk that has ended. 1 and *out; 0: there is none; -ENOBUFS: its rows take more than those of any
 * recorder's events; or another -errno of listing or packing. Laps that it has no place for (a clock ran backwards) are in the
 * next one.
 */
int fr_chunker_take(struct fr_chunker *c, struct fr_chunked *out);
void fr_chunker_release(struct fr_chunker *c);

#endif
