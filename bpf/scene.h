/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * scene: what a process had as it died: its descriptors, limits and threads. The task that dies writes it itself, before it
 * gives them up: whoever takes a snapshot comes too late. Pure.
 *
 * Of many descriptors the lowest are there, which a program begins with, and the highest, which it had last; the others are
 * counted. Of many threads, that which died, and the first that there were.
 */
#ifndef FR_SCENE_H
#define FR_SCENE_H

#include "types.h"

#define FR_SCENE_FD_CNT	   64u
#define FR_SCENE_OBJECT_SZ 256u /* with its NUL; FR_PATH_MAX */
#define FR_SCENE_LIMIT_CNT 16u	/* by the kernel's RLIMIT_ numbers, which x86-64 and arm64 share */
#define FR_SCENE_NO_VALUE  (~0ULL)

/* Of these it is told how much was used. */
enum fr_scene_rlimit {
	FR_RLIMIT_DATA = 2,
	FR_RLIMIT_STACK = 3,
	FR_RLIMIT_NPROC = 6,
	FR_RLIMIT_NOFILE = 7,
	FR_RLIMIT_MEMLOCK = 8,
	FR_RLIMIT_AS = 9,
};

struct fr_scene_limit {
	u64 soft, hard; /* as the kernel has it: ~0 is no limit */
};

struct fr_scene_fd {
	u32 fd;
	u32 flags; /* O_*, O_CLOEXEC among them */
	u64 pos;
	char object[FR_SCENE_OBJECT_SZ]; /* empty: not known */
};

#define FR_SCENE_THREAD_CNT 64u

#define FR_SCENE_THREAD_RUNS  1u /* it had a CPU: neither its call nor its place is known */
#define FR_SCENE_THREAD_MOVED 2u /* it ran while it was looked at: likewise */
#define FR_SCENE_THREAD_DIED  4u /* whose death it is */
#define FR_SCENE_THREAD_KEPT  8u /* its stack was kept, perhaps in part */

struct fr_scene_thread {
	u64 ip, sp; /* where it left its user code; 0: not known */
	u32 tid;
	s32 id;	   /* of its system call; -1: in none, or not known */
	u16 state; /* FR_PREV_STATE_* */
	u8 flags;  /* FR_SCENE_THREAD_* */
	u8 abi;
	u32 pad;
	char comm[16];
};

struct fr_scene {
	u64 at_ns;		      /* recording clock; 0: nothing was looked at */
	u64 start_ns;		      /* when the thread began that dies */
	u64 used[FR_SCENE_LIMIT_CNT]; /* FR_SCENE_NO_VALUE: not known. NOFILE's follows from what is below */
	struct fr_scene_limit limit[FR_SCENE_LIMIT_CNT];
	u32 open_cnt; /* open descriptors, of those below fd_end */
	u32 fd_cnt;   /* that are in fd */
	u32 fd_end;   /* those below it were looked at; 0: none could be */
	u32 fd_more;  /* 1: the table goes on there */
	struct fr_scene_fd fd[FR_SCENE_FD_CNT];
	u32 thread_had_cnt; /* threads there were; 0: not known */
	u32 thread_cnt;	    /* that are in thread */
	struct fr_scene_thread thread[FR_SCENE_THREAD_CNT];
};

#define FR_SCENE_FD_MOST (1u << 18) /* numbers beyond are not looked at */

#endif
