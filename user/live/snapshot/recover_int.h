/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* recover_int: shared by the parts of recover: finding the session, its rings, and all beside its events. */
#ifndef FR_RECOVER_INT_H
#define FR_RECOVER_INT_H

#include "live/snapshot/dump_int.h"
#include "live/snapshot/recover.h"
#include "read/vmcore/carve.h"

/* A session that the dump has the text of. */
struct fr_recover_sess {
	u32 epoch;
	char *text; /* its facts, a NUL, and its schema */
	size_t text_sz;
	char *name;
	struct fr_session shared; /* zero: not found */
	bool records;		  /* events were switched on */
};

struct fr_recover {
	const struct fr_recover_ask *ask;
	struct fr_vmcore *core;
	struct fr_carved found;
	u64 unreadable_cnt; /* pages of the dump */
	struct fr_recover_sess *sess;
	size_t sess_cnt;
	size_t nameless_cnt; /* those without a text */
	const struct fr_recover_sess *chosen;
	struct fr_ring_map *ring; /* put together */
	size_t ring_cnt;
	u64 missing_cnt;	  /* pages of its rings that the dump has not */
	u64 differ_cnt;		  /* that it has twice, with different contents */
	u32 headless_cnt;	  /* rings without their writer's page or slots, or with impossible slot words */
	u64 incident_missing_cnt; /* incidents that the log had */
	bool log_missing;	  /* the log's head, which says how many it had */
	bool profile_missing;	  /* parts of it */
	bool counters_missing;	  /* likewise */
};

/* List the sessions, and choose the one that is asked for. 0, or the exit status with a message. */
int fr_recover_choose(struct fr_recover *r);
void fr_recover_free_sess(struct fr_recover *r);

/* Put its rings together. 0 or -errno. */
int fr_recover_rings(struct fr_recover *r);
void fr_recover_free_rings(struct fr_recover *r);

/* Write the names of the kernel's functions in stacks, where they are known. 0 or -errno. */
int fr_recover_put_kernel(struct fr_recover *r, struct fr_dump *d);

/* Add what was in the incident log, and write the facts about it. 0 or -errno. */
int fr_recover_find_incidents(struct fr_recover *r, struct fr_dump *d, struct fr_meta *m);

/* Write everything beside the events. 0 or -errno. */
int fr_recover_put_meta(struct fr_recover *r, struct fr_dump *d);

#endif
