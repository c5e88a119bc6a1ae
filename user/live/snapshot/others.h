/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* others: how other processes and files are read for a session: by an errand (sys/errand.h), within limits. */
#ifndef FR_OTHERS_H
#define FR_OTHERS_H

#include "live/session/sess.h"
#include "sys/errand.h"

#define FR_OTHERS_ITEM_NS 1000000000ULL /* for a process, or a dead one's stack */
#define FR_OTHERS_ALL_NS  5000000000ULL

/* leave: in the runner, which closes the session itself: give up other memory that it shares; NULL: there is none. */
void fr_others_run(struct fr_sess *s, const struct fr_errand_job *job, u32 cnt, void (*leave)(void *arg), void *arg);

#endif
