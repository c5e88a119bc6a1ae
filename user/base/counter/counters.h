/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * counters: what the host's counters were at several moments: series of points, each of a counter (counter.h) and what it is
 * of: a disk, a cgroup, nothing. Pure.
 *
 * As bytes they are the counters chunk of a snapshot (docs/format.md), and what recorders leave to each other. A series lacks
 * the moments at which its counter was not told.
 */
#ifndef FR_COUNTERS_H
#define FR_COUNTERS_H

#include <stdbool.h>

#include "base/set/vec.h"
#include "types.h"

#define FR_COUNTERS_KEPT_NS    600000000000ULL /* how far back a recorder keeps them */
#define FR_COUNTERS_LAST_NS    10000000000ULL  /* between two readings, at least */
#define FR_COUNTERS_SERIES_MAX 8192u
#define FR_COUNTERS_POINT_MAX  (1u << 20)
#define FR_COUNTERS_NAME_MAX   63u	    /* bytes of a counter's name */
#define FR_COUNTERS_OBJECT_MAX 4095u	    /* of what it is of */
#define FR_COUNTERS_STORE_SZ   (128u << 10) /* what a recorder keeps takes at most */

#define FR_COUNTER_LEFT_OUT "cgroups.left_out"

struct fr_counter_point {
	u64 ts; /* recording clock */
	u64 value;
};

struct fr_counter_series {
	char *name, *object; /* object: "" if it is of the host */
	u8 kind;	     /* enum fr_counter_kind */
	struct fr_vec point; /* struct fr_counter_point, ascending by ts */
};

struct fr_counters {
	struct fr_vec series; /* struct fr_counter_series */
	size_t hint, point_cnt;
};

void fr_counters_init(struct fr_counters *c);
void fr_counters_free(struct fr_counters *c); /* it is empty then */

/* A point; one that is there already stays. 0; -E2BIG: there are too many series or points; -ENOMEM. */
int fr_counters_add(struct fr_counters *c, const char *name, const char *object, u8 kind, u64 ts, u64 value);

/* All points of another one. 0, -E2BIG, -ENOMEM. */
int fr_counters_join(struct fr_counters *c, const struct fr_counters *from);

/* Forget what was before, and series without any point since. */
void fr_counters_drop_before(struct fr_counters *c, u64 ts);

/* The moments that there are points of, ascending: malloc'ed, for the caller; NULL: no memory. */
u64 *fr_counters_moments(const struct fr_counters *c, size_t *cnt);

/* The series, NULL: it was not recorded. */
const struct fr_counter_series *fr_counters_find(const struct fr_counters *c, const char *name, const char *object);

/*
 * Bytes, malloc'ed, at most cap: if they take more, the oldest moments are left out, and forgotten. 0 and *out, *sz (0: there
 * is nothing); -ENOMEM.
 */
int fr_counters_encode(struct fr_counters *c, size_t cap, u8 **out, size_t *sz);

/* The same of some moments, whole or not at all: *sz 0 if they take more than cap, or there is nothing. */
int fr_counters_encode_part(const struct fr_counters *c, u64 from_ns, u64 to_ns, size_t cap, u8 **out, size_t *sz);

/* Add what anybody may have written. 0; -EBADMSG: it is not valid, and c has some of it; -ENOMEM. */
int fr_counters_decode(struct fr_counters *c, const u8 *bytes, size_t sz);

/*
 * What a count did in a time: from the last point at or before from_ns (else the first one behind it) to the last at or before
 * to_ns. False: there are no two such points, or it was begun anew meanwhile (then it is not known).
 */
struct fr_counter_move {
	u64 delta;
	u64 from_ns, to_ns; /* of the points */
};
bool fr_counter_moved(const struct fr_counter_series *s, u64 from_ns, u64 to_ns, struct fr_counter_move *out);

/* By how much it stands out, in a last interval against the time before. */
struct fr_counter_notable {
	const struct fr_counter_series *series;
	struct fr_counter_move last, before; /* before.to_ns 0: not known */
	double times; /* the rate, in multiples of that before; 0: there was none before, or it is not known */
	double weight;
};

/*
 * Those that moved notably in the ten seconds up to the first reading at or after at_ns, the most notable first: at most
 * `most`, into out. Counts only: what did not move, or moved as before, is none; a count of trouble needs no time before.
 * Returns how many.
 */
u32 fr_counters_notable(const struct fr_counters *c, u64 at_ns, struct fr_counter_notable *out, u32 most);

#endif
