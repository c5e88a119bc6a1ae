/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ring_read: the reader's side of bpf/ring.h. Copies laps out of a mapped ring while writers go on, and repairs what a killed
 * reader left behind. Does not use libbpf: tests run it on plain memory.
 *
 *	fr_ring_read_heal(map, fr_ring_read_grace, NULL);
 *	fr_ring_read_open(&r, map, peek, arg);
 *	fr_ring_read_range(map, &first, &last);
 *	for (seq = first; seq <= last; seq++)
 *		err = fr_ring_read_lap(&r, seq, buf, sz, &lap);
 *
 * One reader at a time: callers hold the session's reader lock from heal to the last lap. The reader changes only slot words,
 * never w. Any number may read beside it (fr_ring_read_beside()), without the lock, since they change nothing. Everything read
 * from shared memory is checked against the geometry, which the caller gets from a trusted place.
 */
#ifndef FR_RING_READ_H
#define FR_RING_READ_H

#include <stdbool.h>
#include <stddef.h>

#include "layout.h"

#define FR_RING_READ_TRY_NS 100000u /* how long to look for a moment without a record in flight */

/* One mapped ring: page 0 read-only, page 1 read-write, the sub-buffers read-only. */
struct fr_ring_map {
	const struct fr_writer *wr;
	struct fr_slots *sl;
	const u8 *data;
	u32 slot_cnt;	  /* N */
	u32 subbuf_pages; /* P */
	u32 epoch;
	u16 cpu;
	u16 tier;
};

/*
 * The ring whose map begins at base, as its slot page says it is: each word read once, as another process may change it between
 * a check and its use. The caller checks it.
 */
struct fr_ring_map fr_ring_map_at(void *base);

/* A copied lap. */
struct fr_lap {
	u64 seq;
	u32 com_units; /* copied, all of them committed */
	u32 cnt;       /* records in it */
	bool partial;  /* w was in it: there may be more later */
};

/*
 * Load the word of w's slot, then w, on the ring's own CPU: only nested writers can come between the two loads. 0 or -errno.
 * Used when user space finds no quiet moment by itself.
 */
typedef int (*fr_ring_peek_fn)(void *arg, u32 cpu, u16 tier, u64 *word, u64 *w);

/* Return when every writer that was in flight at the call has ended. 0 or -errno. */
typedef int (*fr_ring_grace_fn)(void *arg);

struct fr_ring_reader {
	const struct fr_ring_map *map;
	fr_ring_peek_fn peek; /* NULL: none */
	void *peek_arg;
	u32 spare; /* idx of the sub-buffer that no slot names */
	bool beside;
};

/* A grace period for BPF writers, by membarrier(2): they run in RCU read-side critical sections. arg is not used. */
int fr_ring_read_grace(void *arg);

/*
 * Repair what a killed reader or a damaged map left behind. A lap that is swapped out is swapped back. If the word of a passed
 * lap is still incomplete or wrong after a grace period (requested only if needed), it is set to complete, with a hole. Returns
 * the number of repairs, or -errno of grace.
 */
int fr_ring_read_heal(const struct fr_ring_map *m, fr_ring_grace_fn grace, void *arg);

/* Begin to read m, which must outlive r. 0, or -EBADMSG: the slots do not leave exactly one sub-buffer spare. */
int fr_ring_read_open(struct fr_ring_reader *r, const struct fr_ring_map *m, fr_ring_peek_fn peek, void *peek_arg);

/*
 * Begin to read m beside a reader that swaps, stopped or not, and any number like us: nothing is swapped, and nothing healed. A
 * lap that is overwritten while it is copied is -ESTALE. 0 or -EBADMSG.
 */
int fr_ring_read_beside(struct fr_ring_reader *r, const struct fr_ring_map *m, fr_ring_peek_fn peek, void *peek_arg);

/*
 * The laps that may be present now; the last is the one w is in. 0, -ENOENT: nothing was ever written, -EBADMSG: w is damaged.
 */
int fr_ring_read_range(const struct fr_ring_map *m, u64 *first_seq, u64 *last_seq);

/*
 * When lap seq of the range began; UINT64_MAX: it is overwritten by now, or damaged. Of a lap that is just being opened it may
 * be the time of an older one.
 */
u64 fr_ring_read_began(const struct fr_ring_map *m, u64 seq);

/*
 * The lap of first to last that holds the moment since_ns, or the next record after it: none before it has any of that time. Of
 * those passed over, *before_ns is when the last one began; unchanged if there is none.
 */
u64 fr_ring_read_since(const struct fr_ring_map *m, u64 first, u64 last, u64 since_ns, u64 *before_ns);

/*
 * Copy lap seq to buf (buf_sz bytes, a sub-buffer at least). 0 and *out; -ENOENT: not written yet; -ESTALE: overwritten;
 * -EAGAIN: a record in it stayed in flight; -EBADMSG: damaged, or a hole left by healing; -EINVAL: buf is too small.
 */
int fr_ring_read_lap(struct fr_ring_reader *r, u64 seq, void *buf, size_t buf_sz, struct fr_lap *out);

/* Records of lap seq by now; 0: it is overwritten, or not open yet. */
u32 fr_ring_read_cnt(const struct fr_ring_map *m, u64 seq);

/*
 * Count the records of the laps present, by their slot words. present + overwritten = written holds exactly when no writer
 * runs; otherwise an opener may be between the two.
 */
u64 fr_ring_read_present(const struct fr_ring_map *m);

#endif
