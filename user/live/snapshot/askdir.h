/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * askdir: what is in a directory whose disk may not answer, for whoever must not wait for it: by an errand (sys/errand.h).
 */
#ifndef FR_ASKDIR_H
#define FR_ASKDIR_H

#include "live/session/sess.h"

/*
 * run() is called in a process of its own, and fills in sz bytes at out, for at most ns. s: the session with which is
 * remembered who was left behind, NULL: none. 0 and *out; -ETIMEDOUT: the disk does not answer; -EIO: the process died;
 * or -errno: why there is no process, memory or descriptor for it.
 */
int fr_askdir(struct fr_sess *s, const char *dir, u64 ns, void (*run)(void *arg, void *out), void *arg, void *out, u32 sz);

/*
 * The same of a file elsewhere: those that wait for the disk of snapshots do not keep others from reading it, nor the other way
 * round. Of the process's own are at most FR_LEFT_MAX left behind. s: whose rings the process gives up, NULL: none.
 */
int fr_askfile(struct fr_sess *s, const char *path, u64 ns, void (*run)(void *arg, void *out), void *arg, void *out, u32 sz);

#endif
