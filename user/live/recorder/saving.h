/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* saving: the process that saves incidents, and another one if it dies. */
#ifndef FR_SAVING_H
#define FR_SAVING_H

#include <stdbool.h>

struct fr_daemon;
struct fr_saving; /* opaque */

/* 0 or -errno, -ENOENT: the session has no incident log; else with a message. It begins with fr_saving_start(). */
int fr_saving_new(struct fr_daemon *d, struct fr_saving **out);
void fr_saving_start(struct fr_saving *v);
void fr_saving_change(struct fr_saving *v); /* the configuration has changed */
bool fr_saving_free(struct fr_saving *v);   /* as fr_incwatch_free(); NULL is fine */

#endif
