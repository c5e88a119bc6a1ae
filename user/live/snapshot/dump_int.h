/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* dump_int: shared by the parts of dump: the sequence of steps, copying rings, everything beside the events. */
#ifndef FR_DUMP_INT_H
#define FR_DUMP_INT_H

#include <pthread.h>

#include "base/rows/argv.h"
#include "live/ring/ring_read.h"
#include "live/session/sampler.h"
#include "live/snapshot/dump.h"
#include "live/snapshot/dump_addrs.h"
#include "live/snapshot/dump_room.h"
#include "live/snapshot/others.h"
#include "live/snapshot/unread.h"
#include "read/cut/meta.h"
#include "sys/progress.h"

#define FR_DUMP_NAMES_SZ  (4ULL << 20)	/* for addresses and their names */
#define FR_DUMP_COPY_SZ	  (34ULL << 20) /* for copies of sub-buffers, at most, whether memory is short or not */
#define FR_DUMP_JOBS_MOST 16u

/* A ring being read. */
struct fr_dump_ring {
	const struct fr_ring_map *map;
	struct fr_ring_reader reader;
	u64 next_seq, last_seq;	  /* laps yet to be read */
	u64 last_began_ns;	  /* when the last of them began, 0: not known */
	u64 oldest_ns;		  /* since when it has history, 0: its beginning, or not known */
	double full_ns;		  /* of how long a time it holds the events, or will once it is full */
	struct fr_dump_lap *wave; /* its laps that are read in this wave */
	size_t wave_cnt;
	struct fr_snap_ring acct;
	u64 asked_w;		      /* where the next record was to go when it was asked who has the CPU */
	u64 first_seq;		      /* the oldest lap when it was looked for */
	u32 lap_cnt[FR_SLOT_MAX];     /* records of that lap and the later ones, as copied, or as they were then */
	u64 before_cnt, gone_cnt;     /* records overwritten until then, and while nothing of the ring was copied yet */
	u64 last_ns;		      /* the last known before a hole: the lap read last begins or, once encoded, ends */
	struct fr_snap_hole *hole;    /* while copying: extends to the next readable lap */
	struct fr_snap_hole *damaged; /* while encoding, which comes later: extends to the next sound lap */
	bool any;		      /* a lap was read: from now on missing laps are holes */
};

/* A lap in the copy buffer, or on its way there. */
struct fr_dump_lap {
	struct fr_dump_ring *src;
	u64 seq;
	u8 *at;
	int err; /* of fr_ring_read_lap() */
	struct fr_lap lap;
};

struct fr_dump_states;

struct fr_dump {
	struct fr_sess *s; /* NULL: the rings are from a crash dump (recover.h) */
	const struct fr_dump_ask *ask;
	struct fr_dump_done *done;
	struct fr_snap_writer *w;
	struct fr_schema *schema;
	struct fr_dump_ring *src;
	struct fr_dump_ring **turn; /* src, in the order in which they are copied */
	size_t src_cnt;
	size_t stacks;		  /* turn[stacks] and those behind it are of stacks */
	bool any_stacks;	  /* their copying has begun */
	struct fr_dump_room room; /* ours, or what was there before, and what is lent for this dump */
	struct fr_dump_lap *copied;
	size_t copied_cnt, copied_room;
	struct fr_snap_hole *hole;
	size_t hole_cnt;
	struct fr_addrs *addrs;	      /* addresses in stacks */
	struct fr_snap_mapping *dead; /* of processes that died, with frames of their last stacks */
	size_t dead_cnt;
	struct fr_unread unread;
	struct fr_secrets secrets;     /* words of secret keys, which are ours, and values that were not written */
	struct fr_dump_states *states; /* NULL: not looked at */
	struct fr_sampler *sampler;
	const struct fr_prof *prof; /* the sampler's, NULL none */
	struct fr_prof *blocked;    /* what a recorder has kept, NULL none */
	u64 begun_ns;		    /* CLOCK_MONOTONIC, for durations only */
	u64 begin_ts, trigger_ts;
	u64 nr;		  /* of its marks */
	bool beside;	  /* somebody else has the reader's lock */
	u64 grain_ns;	  /* of the session's clock */
	u64 sample_taken; /* until begin_ts, as those expected are */
	u64 since_ns;
	u64 total_sz, done_sz; /* ring memory, for the progress bar */
	u32 jobs;	       /* threads that encode */
	pthread_mutex_t peeking;
	struct fr_progress bar;
};

/* From when on rows are wanted, 0: all. All stacks: written once, they are named by much later samples (bpf/stack.bpf.h). */
static inline u64 fr_dump_since_ns(const struct fr_dump *d, u16 tier)
{
	return tier == FR_TIER_STACK ? 0 : d->since_ns;
}

/* Open each ring, after repairing what a killed reader left. 0, or -errno with a message. */
int fr_dump_open(struct fr_dump *d);

static inline size_t fr_dump_subbuf_sz(const struct fr_ring_map *m)
{
	return (size_t)m->subbuf_pages * FR_PAGE_SZ;
}

/* Copy all rings, and write their events. 0 or -errno. */
int fr_dump_put_events(struct fr_dump *d);

/* 0, or -EINTR where one of the signals that end it has come. */
int fr_dump_look_for_stop(const struct fr_dump *d);

/* Complete the file, and note how large it is and how long all took. 0 or -errno, and no file. */
int fr_dump_finish(struct fr_dump *d);

/* Free what a dump has taken but its session. */
void fr_dump_free(struct fr_dump *d);

/* All memory for copying that is certain, and what is lent; a recorder has had the first for long. 0 or -ENOMEM. */
int fr_dump_take_memory(struct fr_dump *d);

/* Decide which laps to read, those present now, and in which order the rings. */
void fr_dump_find_ranges(struct fr_dump *d);

/* Copy what fits in the buffer, the oldest laps of each ring, from ring turn[*first] on. True: all rings are done. */
bool fr_dump_copy_wave(struct fr_dump *d, size_t *first);

/*
 * Once a ring is copied, acct.written and .overwritten: as of the moment in which its last lap was. written = overwritten +
 * present + what is in holes or was left out by since_ns.
 */
void fr_dump_count_written(struct fr_dump_ring *src);

/* Lap seq of a ring is missing from the snapshot, and lies behind since_ns: begin a hole. NULL: no room for it. */
struct fr_snap_hole *fr_dump_add_hole(struct fr_dump *d, const struct fr_dump_ring *src, u64 seq, enum fr_hole_why why,
				      u64 since_ns);

/*
 * The task that the snapshot is about, as the alert tells it: the table of tasks lacks it if it was full, or if more ended
 * since than it has room for, as when a process of 20,000 threads dies. False: the table has it, or too little is known; *out
 * is undefined.
 */
bool fr_dump_lacks_task(const struct fr_dump_ask *ask, u64 trigger_ts, const struct fr_snap_task *task, size_t cnt,
			struct fr_snap_task *out);

/* Read the profile, prof, and where tasks were blocked, if there is any; their addresses are looked up, too. */
void fr_dump_find_profile(struct fr_dump *d);

/* Addresses in its stacks, to be looked up. */
void fr_dump_add_profile_addrs(struct fr_addrs *a, const struct fr_prof *p);

/*
 * Write a stack that no ring has, as a row that is no event of one (context): cnt numbers in a field of an event. 0 or -errno.
 */
struct fr_dump_stack_row {
	u64 ts, id;
	u32 tid;
	const char *event, *field; /* which hold them */
	u64 frame_cnt;		   /* its field of that name, if the event has one */
	u64 *num;
	u32 cnt;
};
int fr_dump_put_stack_row(struct fr_dump *d, const struct fr_dump_stack_row *s);

/*
 * How tasks are now (dump_states.c): looked at right after the rings were copied; added to what is written, with those tasks
 * that the table of tasks lacks; and their kernel stacks and facts, written. All but the first: 0 or -errno.
 */
void fr_dump_find_states(struct fr_dump *d);
int fr_dump_add_states(struct fr_dump *d, struct fr_meta *m);
int fr_dump_put_state_stacks(struct fr_dump *d);
int fr_dump_put_state_facts(struct fr_dump *d);
int fr_dump_put_states(struct fr_dump *d);	    /* once their owners are known */
void fr_dump_states_free(struct fr_dump_states *t); /* NULL is fine */

/*
 * The stacks of the last deaths that are longer than the kernel found (bpf/ustack.h): a job for an errand; then they are
 * written, and what was mapped where their frames are is kept in dead. NULL: there are none, or no memory. _put(): 0 or -errno
 * of the writer.
 */
/* A lock that a task still waited for when it was looked at. */
struct fr_dump_lock {
	u64 addr;
	u64 switch_cnt; /* the task has left a CPU so often */
	u32 tid, tgid;
	u32 op, val; /* the call's, of futex() */
	u32 fd;	     /* of a file lock's */
	bool is_file;
	size_t state; /* which one it is */
};

/* Those whose memory, or the kernel, may say who holds them. 0 or -ENOMEM. */
int fr_dump_find_locks(const struct fr_dump *d, struct fr_vec *lock);

/* This task holds the lock that a state's task waits for. */
void fr_dump_state_is_owned(struct fr_dump *d, size_t state, u32 owner);

/* dump_owners.c: who holds them. NULL: no memory. */
#define FR_DUMP_OWNERS_JOB_CNT 1
struct fr_dump_owners *fr_dump_owners_new(struct fr_dump *d, struct fr_errand_job job[FR_DUMP_OWNERS_JOB_CNT]);
void fr_dump_owners_free(struct fr_dump_owners *o); /* NULL is fine */

#define FR_DUMP_UNWOUND_JOB_CNT 1
struct fr_dump_unwound *fr_dump_unwound_new(struct fr_dump *d, struct fr_errand_job job[FR_DUMP_UNWOUND_JOB_CNT]);
int fr_dump_put_unwound(struct fr_dump *d, struct fr_dump_unwound *n); /* NULL is fine */
void fr_dump_unwound_free(struct fr_dump_unwound *n);		       /* likewise */

/* Who names the kernel's addresses: like fr_kallsyms_find(). */
struct fr_dump_kernel {
	int (*find)(void *arg, struct fr_ksym *k, size_t cnt, struct fr_kallsyms_info *info);
	void *arg;
	const char *why_not; /* instead: why they have no names */
	u8 build_id[FR_BUILD_ID_MAX];
	u8 build_id_sz;
};

/* Write the names of the kernel's addresses in stacks, which are sorted; that they have none is a fact. 0 or -errno. */
int fr_dump_put_kernel(struct fr_dump *d, const struct fr_dump_kernel *kernel);

/*
 * What addresses mean: kernel symbols, and the mapped files and generated code of living processes among these cnt tasks: jobs
 * for an errand, then written. What cannot be found is missing; facts say so. NULL: no address was kept, or no memory. _put():
 * 0 or -errno of the writer.
 */
struct fr_dump_symbols;
#define FR_DUMP_SYMBOLS_JOB_CNT 2
struct fr_dump_symbols *fr_dump_symbols_new(struct fr_dump *d, const struct fr_snap_task *task, size_t cnt,
					    struct fr_errand_job job[FR_DUMP_SYMBOLS_JOB_CNT]);
int fr_dump_put_symbols(struct fr_dump *d, struct fr_dump_symbols *y); /* NULL is fine */
int fr_dump_put_own_symbols(
	struct fr_dump *d); /* the kernel's alone, without an errand: those that the session's program names */
void fr_dump_symbols_free(struct fr_dump_symbols *y); /* likewise */

/* Mappings with paths of their own. */
void fr_dump_free_mappings(struct fr_snap_mapping *m, size_t cnt);

/* Write everything beside the events: counters, holes, tasks, processes, clocks, facts. 0 or -errno. */
int fr_dump_put_meta(struct fr_dump *d);

/* Of that, the parts that a crash dump has as well. 0 or -errno. */
int fr_dump_find_accounts(struct fr_dump *d, struct fr_meta *m); /* counters and holes */
int fr_dump_put_facts(struct fr_dump *d, const char *text);	 /* name=value lines; command lines are redacted */
int fr_dump_put_counts(struct fr_dump *d, const struct fr_session *sh);

/* How much was left out of cgroups beyond their share, if any are thinned by these facts of the session. 0 or -errno. */
int fr_dump_put_thinned(struct fr_dump *d, const char *facts);
int fr_dump_put_redacted(struct fr_dump *d); /* once all that is redacted is known */

/* Room for the clocks of a session. */
#define FR_DUMP_CLOCKS_MOST (2 + 2 * FR_WALL_STEP_MAX)

/* What the clocks said when it began, by its facts, and at each step of the wall clock until end_ts. Returns how many. */
size_t fr_dump_clocks(const char *facts, const struct fr_session *sh, u64 end_ts, struct fr_snap_clock *c);

#endif
