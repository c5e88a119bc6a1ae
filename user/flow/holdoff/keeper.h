/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * keeper: a process that puts something right when this one ends, however it ends: killed, too. It sleeps in a read of a pipe
 * until then.
 */
#ifndef FR_KEEPER_H
#define FR_KEEPER_H

#include <sys/types.h>

struct fr_keeper {
	pid_t pid; /* 0: none */
	int fd;
};

/* Start it, before there are threads: fn(arg), with what is open now, is called there at the end. 0 or -errno. */
int fr_keeper_start(struct fr_keeper *k, void (*fn)(void *arg), void *arg);

/* Let it do its work now, and wait for it. */
void fr_keeper_end(struct fr_keeper *k);

#endif
