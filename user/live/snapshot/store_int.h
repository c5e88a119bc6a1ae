/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* store_int: shared by the parts of store. */
#ifndef FR_STORE_INT_H
#define FR_STORE_INT_H

#include "live/snapshot/store.h"

/* Where core files are. */
struct fr_core_places {
	const char *pattern;	 /* kernel.core_pattern */
	bool uses_pid;		 /* kernel.core_uses_pid */
	const char *systemd_dir; /* of systemd-coredump */
};

/* Find the core file of each snapshot: sets core. 0 or -ENOMEM; unreadable directories count as empty. */
int fr_store_join(struct fr_stored *list, size_t cnt, const struct fr_core_places *places);

/* The same with this host's settings. */
int fr_store_join_host(struct fr_stored *list, size_t cnt);

#endif
