/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * prof: a merged profile of bounded size: who was on a CPU, with which stacks, in the last hour. Pure.
 *
 * Time is in buckets: of ten seconds in the last minute, of a minute before that. Each has hits of keys. A key is a task, a
 * state and two stacks. Stacks are a tree: a frame called from the same frames is there once. Frames in files are build-id and
 * offset, so that what the same program does is one stack in all its processes. When room gets short, processes of one name are
 * joined, then the rarest keys lose their stacks, and the rarest tasks become one for all others: counts stay exact. What is
 * rare is said by weights, of which the newest hits have most.
 *
 * As bytes it is the profile chunk of a snapshot (docs/format.md), and what recorders leave to each other.
 */
#ifndef FR_PROF_H
#define FR_PROF_H

#include <stdbool.h>
#include <stddef.h>

#include "hits.h"

#define FR_PROF_FILE_MAX   512u
#define FR_PROF_NODE_MAX   32768u
#define FR_PROF_KEY_MAX	   4096u
#define FR_PROF_HIT_MAX	   24576u
#define FR_PROF_BUCKET_MAX 128u
#define FR_PROF_SZ_MAX	   (800u << 10) /* of one, as bytes */
#define FR_PROF_MINUTE_NS  60000000000ULL
#define FR_PROF_HOUR_NS	   3600000000000ULL

/* A frame: a kernel address (bit 63), a place in a file { 1:2 | file:14 | offset:48 }, or an address of the process. */
#define FR_PROF_IN_FILE	 (1ULL << 62)
#define FR_PROF_OFF_BITS 48
static inline bool fr_prof_is_kernel(u64 frame)
{
	return frame >> 63;
}
static inline bool fr_prof_is_file(u64 frame)
{
	return frame >> 62 == 1;
}
static inline u32 fr_prof_file(u64 frame)
{
	return frame >> FR_PROF_OFF_BITS & 0x3fff;
}
static inline u64 fr_prof_off(u64 frame)
{
	return frame & ((1ULL << FR_PROF_OFF_BITS) - 1);
}

struct fr_prof_file {
	u8 build_id[20];
	u8 sz; /* of the build-id */
	u8 pad[3];
};

/* A frame and its caller. Number n, from 1, is node[n - 1]; a stack is the number of its innermost frame. */
struct fr_prof_node {
	u64 frame;
	u32 parent; /* lower than its own number; 0: none */
	u32 depth;  /* 1 for the outermost; at most FR_STACK_DEPTH_MAX */
};

struct fr_prof_key {
	u32 kstack, ustack; /* numbers of nodes, from 1; 0: none */
	u32 pid;	    /* 0: several processes */
	u32 state;	    /* enum fr_hit_state */
	char comm[16];	    /* NUL-terminated */
};

/* Key 0: hits for which there was no room. */
#define FR_PROF_OTHER 0u

struct fr_prof_bucket {
	u64 begin_ns, end_ns; /* recording clock */
	u64 taken, lost;
	u64 expected; /* samples, by the timer's rate */
	u32 first;    /* its hits are hit[first .. first + hit_cnt) */
	u32 hit_cnt;
};

struct fr_prof_hit {
	u32 key;
	u32 hits;
};

struct fr_prof {
	u64 begin_ns, end_ns; /* counted from, and to */
	u64 due;	      /* samples expected since the recording began, until end_ns */
	u64 nested;	      /* on all CPUs, since then */
	u64 taken, lost;      /* since then */
	u64 stackless;	      /* hits whose stacks had no room, since then */
	u32 hz, cpu_cnt;      /* of the timer, when last read */
	u32 file_cnt, node_cnt, key_cnt, bucket_cnt, hit_cnt;
	struct fr_prof_bucket bucket[FR_PROF_BUCKET_MAX];
	struct fr_prof_file file[FR_PROF_FILE_MAX];
	struct fr_prof_node node[FR_PROF_NODE_MAX];
	struct fr_prof_key key[FR_PROF_KEY_MAX];
	struct fr_prof_hit hit[FR_PROF_HIT_MAX];
	/* not written */
	u32 node_slot[2 * FR_PROF_NODE_MAX]; /* numbers, from 1 */
	u32 key_slot[2 * FR_PROF_KEY_MAX];
	u32 cur[FR_PROF_KEY_MAX]; /* a key's hit in the last bucket, from 1; a number below the bucket's first means none */
};

/* Create an empty profile, counting since begin_ns. NULL: no memory. free() frees it. */
struct fr_prof *fr_prof_new(u64 begin_ns);

/* ---- finding what is there, and putting it there (prof.c) ---- */

/* Make it as new. */
void fr_prof_clear(struct fr_prof *p, u64 begin_ns);

/* The number of the node of a frame that was called by parent, added if it is not there; 0: no room. */
u32 fr_prof_put_node(struct fr_prof *p, u32 parent, u64 frame);

/* Is the key there? */
bool fr_prof_has_key(struct fr_prof *p, const struct fr_prof_key *key);

/* The number of the key, added if it is not there; FR_PROF_OTHER: no room. */
u32 fr_prof_put_key(struct fr_prof *p, const struct fr_prof_key *key);

/* Number of the file, from 0; -1: no room. */
int fr_prof_put_file(struct fr_prof *p, const struct fr_prof_file *file);

/* Begin a new bucket. */
void fr_prof_push(struct fr_prof *p, const struct fr_prof_bucket *like);

/* Add hits to a key in the last bucket. */
void fr_prof_hit(struct fr_prof *p, u32 key, u64 hits);

/* ---- adding (prof_add.c) ---- */

/* What is added from now on was counted until now_ns. due: samples expected until then. Old buckets are joined, or dropped. */
void fr_prof_open(struct fr_prof *p, u64 now_ns, u64 due);

/* Add a CPU's table, whose size was halved shift times, whatever is in it. False: its counts contradict each other. */
bool fr_prof_add_table(struct fr_prof *p, const struct fr_hits_table *t, u32 shift);

/* Add hits that were lost without a table. */
void fr_prof_add_nested(struct fr_prof *p, u64 nested);

/* ---- bytes (prof_bytes.c) ---- */

/* Write to cap bytes. Returns how many; 0: cap is too small. FR_PROF_SZ_MAX is enough. */
size_t fr_prof_write(const struct fr_prof *p, u8 *buf, size_t cap);

/* Read what anybody may have written. Returns 0; -EBADMSG: it is not valid; -ENOMEM. The caller must free() *out. */
int fr_prof_read(const u8 *buf, size_t sz, struct fr_prof **out);

#endif
