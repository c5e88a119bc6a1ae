/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* incident_layout: the bytes of the incident log. incident.h moves them. */
#ifndef FR_INCIDENT_LAYOUT_H
#define FR_INCIDENT_LAYOUT_H

#include "event.h"

#define FR_INCIDENT_MAGIC    0x44434e49u /* "INCD" */
#define FR_INCIDENT_SZ	     256u	 /* of a record, and of the head before the records */
#define FR_INCIDENT_WORDS    (FR_INCIDENT_SZ / 8)
#define FR_INCIDENT_TEXT_MAX 144u
#define FR_INCIDENT_KIND_MAX 16u /* kinds that can be counted */
#define FR_INCIDENT_CNT_MIN  8	 /* smallest N */
#define FR_INCIDENT_CNT_MAX  65536

/* Number, name, meaning. Numbers are in files: fixed for ever. */
/* clang-format off */
#define FR_INCIDENTS(K) \
	K(1, signal,   "a process died of a signal") \
	K(2, oom,      "the out-of-memory killer chose a victim") \
	K(3, kernel,   "the kernel reported an oops, a warning, a lockup or an error of its own") \
	K(4, mce,      "the machine reported a hardware error") \
	K(5, hung,     "a task has not run for too long") \
	K(6, trigger,  "a trigger was pulled: what became of it") \
	K(7, governor, "the overhead governor took a step") \
	K(8, loss,     "events were lost") \
	K(9, snapshot, "a snapshot was written, or could not be") \
	K(10, recorder, "a recorder began or ended") \
	K(11, squeezed, "incidents of a user beyond its share of the log, which are only counted")
/* clang-format on */

enum fr_incident_kind {
#define K(nr, name, doc) FR_INCIDENT_##name = nr,
	FR_INCIDENTS(K)
#undef K
		FR_INCIDENT_KIND_END
};

/*
 * flags. In the log their upper bits are those of the session's epoch: in a crash dump a record says whose it is, as the pages
 * of rings do (layout.h). Nobody but recover sees them.
 */
#define FR_INCIDENT_FLAGS 0xffu
#define FR_INCIDENT_LATE  1u /* signal: seen when the process ended, not when the signal came */
#define FR_INCIDENT_SUM \
	2u /* signal, oom, squeezed: of `count` that have no record of their own; ts and pid are the last one's */
FR_INLINE u32 fr_incident_mark(u32 epoch)
{
	return epoch & ~FR_INCIDENT_FLAGS;
}

/*
 * A signal that another process sent has its pid as value, and its name in text from here on: the path before, of two names, is
 * shorter (incident.bpf.h). Value 0: by itself, by the kernel, or not known.
 */
#define FR_INCIDENT_SENDER_AT (FR_INCIDENT_TEXT_MAX - FR_COMM_SZ)

#define FR_SQUEEZED_MAX 256u
#define FR_SQUEEZED_ANY (~0u) /* uid: of users for whom there was no room */

/* A record. Fields that a kind does not use are 0. */
struct fr_incident {
	u64 done;
	u64 ts;	      /* recording clock */
	u64 addr;     /* signal: faulting address; kernel: what the detector names; mce: address */
	u64 ip;	      /* signal: user instruction pointer */
	u64 value;    /* signal: sender; oom: anonymous KiB; mce: status; hung: ns; snapshot: bytes; governor: cost, 1/1000 %;
			 of many (FR_INCIDENT_SUM): ns from the first to the last */
	u64 count;    /* how many it stands for: itself, and unrecorded ones before it; loss: all losses so far */
	u64 cgroup;   /* id */
	u64 start_ns; /* the process's, monotonic */
	u32 kind;     /* enum fr_incident_kind */
	u32 cpu;      /* where it was seen; loss: whose ring */
	u32 pid, tid;
	u32 uid; /* ~0: nobody's */
	s32 sig;
	s32 code; /* signal: SI_*; mce: bank; hung: task state; trigger: verdict; governor: step; loss: tier << 8 | reason;
		     snapshot: 0 or -errno; squeezed: their kind */
	u32 flags;
	char comm[FR_COMM_SZ];
	char text[FR_INCIDENT_TEXT_MAX]; /* signal, oom, hung: end of the program's path; kernel: the line; others: in words */
};

/* What is before the records. */
struct fr_incident_head {
	u32 magic; /* FR_INCIDENT_MAGIC */
	u32 cnt;   /* N */
	u32 epoch; /* the session's, random */
	u32 pad;
	u64 next;
	u64 saved;
	u64 skipped;			/* user space: records before saved that were never finished */
	u64 merged;			/* kernel: lines that belong to a report already recorded */
	u64 drop[FR_INCIDENT_KIND_MAX]; /* by kind: records that found no room */
	u64 reserved[10];
};

_Static_assert(sizeof(struct fr_incident) == FR_INCIDENT_SZ, "in a map");
_Static_assert(sizeof(struct fr_incident_head) == FR_INCIDENT_SZ, "in a map");
_Static_assert(FR_INCIDENT_KIND_END <= FR_INCIDENT_KIND_MAX, "each kind has its count");

/* What a reader found. */
enum fr_incident_read {
	FR_INCIDENT_GOT,
	FR_INCIDENT_OPEN, /* claimed, not finished */
	FR_INCIDENT_GONE, /* its slot has been reused */
};

#endif
