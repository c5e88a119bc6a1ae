/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * waitsum: waits beyond the budget, which have no record: sums by task and call (struct fr_wait_over), of all CPUs, the longest
 * first, and one of the rest. All of them and the rest are exactly all that there were. As text they are fact waits_over of a
 * snapshot (docs/format.md). Pure.
 */
#ifndef FR_WAITSUM_H
#define FR_WAITSUM_H

#include "base/schema/sysnames.h"
#include "base/show/table.h"
#include "base/text/out.h"
#include "wait.h"

#define FR_WAITSUM_MAX 256u /* that are shown, and in a file; others go to the rest */

struct fr_waitsum {
	u32 tid;
	s32 id;
	u8 abi, in;   /* in: enum fr_waited_in */
	u64 start_ns; /* of the task; 0: not known, as in a file */
	u64 last_ns;  /* its last wait ended then */
	struct fr_wait_sum sum;
	char comm[FR_COMM_SZ + 1]; /* the caller fills it in; empty: not known */
	char call[FR_SYSNAME_CALL_SZ];
};

/* Begin with all 0. */
struct fr_waitsums {
	struct fr_waitsum *at;
	u32 cnt;
	struct fr_wait_sum rest, all;
};

void fr_waitsums_free(struct fr_waitsums *s);

/* Add those of a CPU. 0 or -ENOMEM. */
int fr_waitsums_add(struct fr_waitsums *s, const struct fr_wait_over *o);

/* All CPUs' are there: join those of one task and call, sort, name the calls. arch: `uname -m` of where they were; NULL: not
 * known. */
void fr_waitsums_end(struct fr_waitsums *s, const char *arch);

/* As text, malloc'ed; NULL: no memory. */
char *fr_waitsums_text(const struct fr_waitsums *s);

/* The opposite, of a text that anybody may have written. 0; -EBADMSG; -ENOMEM; s has to be freed in any case. */
int fr_waitsums_read(struct fr_waitsums *s, const char *text, const char *arch);

/* "worker/71 in futex 1,200 (2.30 s), 17 in read 3 (4 ms), others 40 (1.10 s)": names, as programs chose them, are escaped. */
void fr_waitsums_put(struct fr_out *o, const struct fr_waitsums *s, u32 most);

/* What a task was in: "futex", "user code", "kernel". */
const char *fr_waitsum_call(const char *arch, u32 in, u32 abi, s32 id, char text[FR_SYSNAME_CALL_SZ]);

extern const struct fr_table fr_waitsum_kind;	   /* struct fr_waitsum */
extern const struct fr_table fr_waitsum_rest_kind; /* struct fr_wait_sum */

#endif
