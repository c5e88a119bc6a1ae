/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ustack: what the stack of a process that dies was made of: registers, mappings, and bytes of the stack. Most programs
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

#define FR_USTACK_CNT	     4u		  /* the last deaths */
#define FR_USTACK_CRASH_CNT  2u		  /* of these, so many only of signals: ends with a status can be many */
#define FR_USTACK_KEPT_NS    100000000ULL /* at least, while a snapshot is taken */
#define FR_USTACK_PAGE_CNT   8u
#define FR_USTACK_OWN_CNT    4u	  /* at most, of the stack that a signal's handler has to itself */
#define FR_USTACK_MAP_CNT    512u /* mappings: all that most processes have */
#define FR_USTACK_NAME_CNT   128u /* of mappings: files, and what the kernel calls its own */
#define FR_USTACK_CODE_MAPS  96u  /* of the mappings so many, and */
#define FR_USTACK_CODE_NAMES 32u  /* of the names, are only for code, without which no stack is unwound */
#define FR_USTACK_ANON_NAMES 64u  /* names that a program gave to memory of no file have one of so many */
#define FR_USTACK_REG_CNT    17u  /* as DWARF numbers them on x86-64: 0 to 15, and rip */
#define FR_USTACK_PAGE_SZ    4096u
#define FR_USTACK_LOOK_CNT   2048u /* mappings and gaps between them that are looked at */
#define FR_USTACK_NEAR_BELOW 4u	   /* mappings and gaps that are looked at on each side of what matters */
#define FR_USTACK_NEAR_ABOVE 12u
#define FR_USTACK_NEAR_CNT   (4u * (FR_USTACK_NEAR_BELOW + FR_USTACK_NEAR_ABOVE)) /* at most, that may come twice */
#define FR_USTACK_TRY_CNT    256u						  /* pages that are looked for */

/* What mappings are of: a file, or what /proc/PID/maps has in brackets. */
struct fr_ustack_name {
	u64 ino; /* the file's, 0: it is none */
	char path[FR_ALERT_PATH_MAX];
};

#define FR_MAP_READ   1u
#define FR_MAP_WRITE  2u
#define FR_MAP_EXEC   4u
#define FR_MAP_SHARED 8u
#define FR_MAP_FILE   16u /* of a file, whose name may not be known */
#define FR_MAP_GONE   32u /* that had no name in any directory */

struct fr_ustack_map {
	u64 start, end; /* from start to below end */
	u64 off;	/* of start, in the file */
	u32 flags;	/* FR_MAP_ */
	u32 name;	/* number of its name, from 1; 0: none, or it is not known */
};

/* The memory of the process. Of more mappings than have room there are those around its instruction, stack pointer and fault,
 * perhaps twice, and the lowest. */
struct fr_ustack_memory {
	u64 ip, sp;
	u64 addr;      /* of the fault, which may be 0; FR_SCENE_NO_VALUE: there was none */
	u64 last_file; /* while it is looked at: of the last name, the kernel's address */
	u32 had_cnt;   /* mappings there were; 0: not known */
	u32 name_cnt;
	struct fr_ustack_name name[FR_USTACK_NAME_CNT];
};

/* The stack of another thread: from its stack pointer up, as much as there is room for, and is there. By its number in
 * scene.thread. */
struct fr_ustack_thread {
	u64 reg[FR_USTACK_REG_CNT];
	u32 at, sz; /* of its bytes, in thread_bytes; 0: they could not be read, or are of no use */
};

#define FR_USTACK_THREADS_FEW 32u   /* of so many threads, those that die included, each has a page; */
#define FR_USTACK_THREAD_SZ   2048u /* of more, this */
#define FR_USTACK_THREAD_ROOM (FR_SCENE_THREAD_CNT * FR_USTACK_THREAD_SZ)
#define FR_USTACK_RAW_CNT     21u /* words of the kernel's struct pt_regs */

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
	struct fr_ustack_memory memory;
	struct fr_scene scene;
	u8 bytes[FR_USTACK_PAGE_CNT * FR_USTACK_PAGE_SZ]; /* first which descriptors are open, then the stack */
	struct fr_ustack_thread thread[FR_SCENE_THREAD_CNT];
	u64 raw[FR_USTACK_RAW_CNT + 1];				    /* while it is filled */
	u8 thread_bytes[FR_USTACK_THREAD_ROOM + FR_USTACK_PAGE_SZ]; /* a page more than is used: a bound for the verifier */
};

_Static_assert(sizeof(struct fr_ustack) % 8 == 0, "elements of an array map are aligned so");
_Static_assert(FR_USTACK_THREADS_FEW *FR_USTACK_PAGE_SZ <= FR_USTACK_THREAD_ROOM, "few have a page each");
_Static_assert(FR_SCENE_FD_MOST / 8 <= FR_USTACK_PAGE_CNT * FR_USTACK_PAGE_SZ, "the stack's room has a bit of each before");

#endif
