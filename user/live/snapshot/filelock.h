/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * filelock: who has the file lock (flock, fcntl) that a process waits for, as the kernel's /proc/locks says:
 *
 *	7: FLOCK  ADVISORY  WRITE 703 fe:00:1234 0 EOF		703 took it
 *	7: -> FLOCK  ADVISORY  WRITE 704 fe:00:1234 0 EOF	704 waits for it
 *
 * The one that took a lock of flock() may have ended, and its pid may be another's: the lock belongs to the open file, which
 * others may have. So whoever is named must have it now, as /proc/PID/fdinfo says.
 */
#ifndef FR_FILELOCK_H
#define FR_FILELOCK_H

#include <stdbool.h>
#include <stdio.h>

#include "types.h"

#define FR_FILELOCK_WHERE_SZ 64

struct fr_filelock {
	s32 pid;
	bool is_given; /* of flock(): it belongs to an open file, which may be given away; fcntl()'s to the process */
	char where[FR_FILELOCK_WHERE_SZ]; /* "MAJOR:MINOR:INODE" */
};

/*
 * The lock that process tgid waits for, of the file with this inode number, in the text of /proc/locks. false: none, or more
 * than one process has locks of that kind on the file, as where several read: each would be only one of those in its way.
 */
bool fr_filelock_awaited(FILE *locks, u32 tgid, u64 ino, struct fr_filelock *held);

/* Does the text of a /proc/PID/fdinfo/N say that its file has this lock? */
bool fr_filelock_is_in(FILE *fdinfo, const struct fr_filelock *held);

#endif
