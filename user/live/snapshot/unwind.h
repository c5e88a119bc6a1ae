/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * unwind: the frames of a process that died, found in what was kept of its stack (bpf/ustack.h) by what the files that it had
 * mapped say of their functions (.eh_frame). They are looked for by the paths of then, in our root and in that of the process's
 * mount namespace: a file is used if it still is the one that was mapped. The process may have been rigged: see base/cfi.h.
 */
#ifndef FR_UNWIND_H
#define FR_UNWIND_H

#include <stdbool.h>

#include "read/elf/buildid.h"
#include "session.h"
#include "ustack.h"

#define FR_UNWIND_FILE_MAX 16u /* of one stack, with a build-id; as bpf/origin.bpf.h */

/* A file that was mapped. */
struct fr_unwound_file {
	bool is_asked;	   /* what it is has been looked for */
	bool is_there;	   /* and the one that was mapped */
	bool is_elsewhere; /* not in our root, where its path may be another file's */
	u8 nr;		   /* among those with a build-id that frames lie in, from 1; 0: none */
	u8 build_id_sz;
	u8 build_id[FR_BUILD_ID_MAX];
};

struct fr_unwound {
	u32 cnt;
	u32 file_cnt;		     /* numbers */
	int err;		     /* of reading a file, the first one; 0: there was none */
	u64 ip[FR_STACK_DEPTH_MAX];  /* innermost first */
	u16 map[FR_STACK_DEPTH_MAX]; /* the mapping that it lies in, from 1; 0: the first frame was in none */
	struct fr_unwound_file file[FR_USTACK_NAME_CNT]; /* of the names; nr: only where frames lie in it */
};

#define FR_UNWIND_THREAD_DEPTH 32u

/* The frames of another thread, innermost first. */
struct fr_unwound_thread {
	u32 nr;	       /* in scene.thread */
	u32 cnt;       /* frames */
	u32 exact;     /* bit i: frame i is where the code was, not where it returns to */
	bool is_whole; /* the last one is where the thread began */
	u64 ip[FR_UNWIND_THREAD_DEPTH];
};

/*
 * Find the frames of the one that died, and the build-ids of the files that they lie in: 0, even if there is only the first
 * frame; or -ENOMEM. root: the directory that is the root of the process's mount namespace, -1: there is only ours.
 */
int fr_unwind(const struct fr_ustack *u, int root, struct fr_unwound *out);

/*
 * Then those of the other threads whose stacks were kept: each is told as it is found, since the files that its frames lie in
 * may be on a disk that does not answer. 0, or the first error of reading one.
 */
int fr_unwind_threads(const struct fr_ustack *u, int root, struct fr_unwound *out,
		      void (*tell)(void *arg, const struct fr_unwound_thread *thread), void *arg);

/*
 * Then the build-ids of all the others, any of which may be on a disk that does not answer, so that who asks has the frames by
 * then. 0, or the first error of reading one.
 */
int fr_unwind_others(const struct fr_ustack *u, int root, struct fr_unwound *out);

#endif
