/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * recover: makes a snapshot of what a crash dump of the kernel has of a session. The rings are put together from the pages that
 * are found, each at the place that the slot words give it; then they are read as living ones are. What is not in the dump, or
 * was in flight when the kernel stopped, is a hole.
 */
#ifndef FR_RECOVER_H
#define FR_RECOVER_H

#include "types.h"

struct fr_recover_ask {
	const char *vmcore;   /* path of the crash dump */
	const char *session;  /* NULL: the one that recorded */
	const char *kallsyms; /* names of that kernel's functions; NULL: this kernel's, if it is the same one */
	const char *path;     /* of the snapshot */
};

/* Returns the exit status; messages are printed. Nothing is left of a file that could not be completed. */
int fr_recover(const struct fr_recover_ask *ask);

#endif
