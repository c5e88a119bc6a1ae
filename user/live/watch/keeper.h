/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * keeper: a process that cleans up after this one, however it ends, even if it is killed. Until then it sleeps reading a pipe.
 */
#ifndef FR_KEEPER_H
#define FR_KEEPER_H

#include <sys/types.h>

struct fr_keeper {
	pid_t pid; /* 0: none */
	int fd;
};

/* Start it, before there are threads. At the end it calls fn(arg), with the files that are open now. 0 or -errno. */
int fr_keeper_start(struct fr_keeper *k, void (*fn)(void *arg), void *arg);

/* Make it do its work now, and wait for it. */
void fr_keeper_end(struct fr_keeper *k);

#endif
