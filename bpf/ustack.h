/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ustack: what the stack of a process that dies was made of: registers, mappings of code, and bytes of the stack. Most programs
 * have no frame pointers; but what leads from frame to frame is in their files (.eh_frame), so whoever takes a snapshot finds
 * the callers (live/snapshot/dump_unwind.c). Pure.
 *
 * What else the process had is kept beside it (scene.h).
 *
 * The bytes stay in the memory of this map: no file ever has them, only the addresses of code that they lead to.
 *
 *	BPF	takes the slot that was filled first, if that is long enough ago; sets stack_id to 0, fills it, sets stack_id
 *	reader	reads stack_id, copies, reads stack_id again: no two stacks have the same
 *
 * Of many processes that die at once the first are kept: the snapshot that is taken is of the first one.
 */
#ifndef FR_USTACK_H
#define FR_USTACK_H

#include "alert.h"
#include "scene.h"

#define FR_USTACK_CNT	    4u		 /* the last deaths */
#define FR_USTACK_CRASH_CNT 2u		 /* of these, so many only of signals: ends with a status can be many */
#define FR_USTACK_KEPT_NS   100000000ULL /* at least, while a snapshot is taken */
#define FR_USTACK_PAGE_CNT  8u
#define FR_USTACK_OWN_CNT   4u /* at most, of the stack that a signal's handler has to itself */
#define FR_USTACK_MAP_CNT   96u
#define FR_USTACK_REG_CNT   17u /* as DWARF numbers them on x86-64: 0 to 15, and rip */
#define FR_USTACK_PAGE_SZ   4096u
#define FR_USTACK_LOOK_CNT  2048u /* mappings and gaps between them that are looked at */
#define FR_USTACK_TRY_CNT   256u  /* pages that are looked for */

/* A mapping that may hold code. */
struct fr_ustack_map {
	u64 start, end; /* from start to below end */
	u64 off;	/* of start, in the file */
	u64 ino;	/* the file's, 0: none */
	char path[FR_ALERT_PATH_MAX];
};

struct fr_ustack {
	u64 busy;
	u64 stack_id; /* of the crash's user stack, as it was walked; 0: none */
	u64 mono_ns;
	u32 tid, pid;
	u64 reg[FR_USTACK_REG_CNT];
	u64 page[FR_USTACK_PAGE_CNT]; /* where the pages lay that are kept */
	u32 page_cnt;
	u32 frame_cnt; /* that were found by frame pointers */
	u32 map_cnt;
	u32 mnt_ns; /* the mount namespace that paths are of */
	struct fr_ustack_map map[FR_USTACK_MAP_CNT];
	struct fr_scene scene;
	u8 bytes[FR_USTACK_PAGE_CNT * FR_USTACK_PAGE_SZ]; /* first which descriptors are open, then the stack */
};

_Static_assert(sizeof(struct fr_ustack) % 8 == 0, "elements of an array map are aligned so");
_Static_assert(FR_SCENE_FD_MOST / 8 <= FR_USTACK_PAGE_CNT * FR_USTACK_PAGE_SZ, "the stack's room has a bit of each before");

#endif
