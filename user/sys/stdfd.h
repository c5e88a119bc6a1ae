/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* stdfd: standard input, output and error that the rest of the process need not think about. */
#ifndef FR_STDFD_H
#define FR_STDFD_H

/*
 * Descriptors 0 to 2 that are closed are opened, so that no file that is opened later becomes one of them, and gets what is
 * printed. Reading and writing them still fails (EBADF). Call it first.
 */
void fr_stdfd_reserve(void);

/*
 * From now on nothing that is printed to stderr waits for a terminal that is stopped, or a pipe or socket (a journal's) that
 * nobody reads: it is lost then. Descriptor 2, which children inherit, stays as it is.
 */
void fr_stdfd_no_wait(void);

#endif
