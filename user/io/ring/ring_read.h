/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ring_read: the reader's side of bpf/ring.h. Copies laps out of a mapped ring while writers go on, and puts right what a
 * killed reader left behind. No libbpf: tests run it over plain memory.
 *
 *	fr_ring_read_heal(map, fr_ring_read_grace, NULL);
 *	fr_ring_read_open(&r, map, peek, arg);
 *	fr_ring_read_range(map, &first, &last);
 *	for (seq = first; seq <= last; seq++)
 *		err = fr_ring_read_lap(&r, seq, buf, sz, &lap);
 *
 * One reader at a time: callers hold the session's reader lock from heal to the last lap. The reader moves slot words only,
 * never w. All it takes from shared memory is checked against the geometry, which the caller has from a trusted place.
 */
#ifndef FR_RING_READ_H
#define FR_RING_READ_H

#include <stdbool.h>
#include <stddef.h>

#include "layout.h"

#define FR_RING_READ_TRY_NS 100000u /* how long to look for a moment without a record in flight */

/* One ring as mapped: page 0 read-only, page 1 read-write, the sub-buffers read-only. */
struct fr_ring_map {
	const struct fr_writer *wr;
	struct fr_slots *sl;
	const u8 *data;
	u32 slot_cnt;	  /* N */
	u32 subbuf_pages; /* P */
	u32 epoch;
	u16 cpu;
	u16 tier;
	u32 layout; /* of its pages, 0: FR_LAYOUT_VERSION */
};

/* A lap that was copied. */
struct fr_lap {
	u64 seq;
	u32 idx;       /* of the sub-buffer it was in */
	u32 com_units; /* copied: all of it is committed */
	u32 cnt;       /* records in it */
	bool partial;  /* w was in it: more may follow */
};

/*
 * Load on the ring's own CPU the word of w's slot, then w: there only nested writers come between. 0 or -errno. It is asked
 * when user space finds no quiet moment by itself.
 */
typedef int (*fr_ring_peek_fn)(void *arg, u32 cpu, u16 tier, u64 *word, u64 *w);

/* Return when each writer that was in flight at the call has ended. 0 or -errno. */
typedef int (*fr_ring_grace_fn)(void *arg);

struct fr_ring_reader {
	const struct fr_ring_map *map;
	fr_ring_peek_fn peek; /* NULL: none */
	void *peek_arg;
	u32 spare; /* idx that no slot names */
};

/* The grace period of BPF writers, by membarrier(2): they run in RCU read sections. arg is not used. */
int fr_ring_read_grace(void *arg);

/*
 * Put right what a killed reader or a damaged map left: a lap that is swapped out is swapped back; the word of a passed lap
 * that is still incomplete or wrong after a grace period (asked for only then) is set to complete, with a hole. Returns
 * the count of repairs or -errno of grace.
 */
int fr_ring_read_heal(const struct fr_ring_map *m, fr_ring_grace_fn grace, void *arg);

/* Begin to read m, which must outlive r. 0, or -EBADMSG: the slots do not leave exactly one sub-buffer over. */
int fr_ring_read_open(struct fr_ring_reader *r, const struct fr_ring_map *m, fr_ring_peek_fn peek, void *peek_arg);

/* The laps that may be present now, the last one w is in. 0, -ENOENT: nothing was ever written, -EBADMSG: w is damaged. */
int fr_ring_read_range(const struct fr_ring_map *m, u64 *first_seq, u64 *last_seq);

/*
 * Copy lap seq to buf (buf_sz bytes, a sub-buffer at least). 0 and *out; -ENOENT: not written yet; -ESTALE: overwritten;
 * -EAGAIN: a record in it stayed in flight; -EBADMSG: damaged, or a hole left by healing; -EINVAL: buf is too small.
 */
int fr_ring_read_lap(struct fr_ring_reader *r, u64 seq, void *buf, size_t buf_sz, struct fr_lap *out);

/*
 * The records in the laps present, by their slot words. present + overwritten = written, exactly when no writer runs;
 * while they run, an opener may be between the two.
 */
u64 fr_ring_read_present(const struct fr_ring_map *m);

#endif
