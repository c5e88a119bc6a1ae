/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* confine_int: the two system call filters. */
#ifndef FR_CONFINE_INT_H
#define FR_CONFINE_INT_H

/* In force from now on, for this thread and all that it starts; forbidden calls return EPERM. 0 or -errno. */
int fr_confine_calls_main(void);
int fr_confine_calls_writer(void);

#endif
