/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* fd: file descriptors. */
#ifndef FR_FD_H
#define FR_FD_H

#include <stdbool.h>
#include <stddef.h>

/* Write all sz bytes of p, however many calls and signals it takes. 0, or -errno after an unknown part was written. */
int fr_write_all(int fd, const void *p, size_t sz);

/*
 * Raise the limit of open files to what may be had: the usual one is low for the sake of programs that use select(), as this
 * one does not. The first thing of a process; a command that it becomes gets its own limit back, also between fork() and exec.
 */
void fr_fd_raise_limit(void);
void fr_fd_restore_limit(void);

/* Can so many more be opened? 0 or -EMFILE. */
int fr_fd_room(unsigned cnt);

/* Close all from 3 on but these cnt, which it puts in order: a child keeps nobody's files open, and nobody's locks. */
void fr_fd_close_but(int *keep, size_t cnt);

/* Is this (-errno) for want of descriptors? */
bool fr_fd_is_want(int err);

#endif
