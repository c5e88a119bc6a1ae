/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * vmcore: the pages of a crash dump of the kernel, whichever tool wrote it. ELF (/proc/vmcore, hypervisors) is read with
 * libelf; kdump's compressed formats (makedumpfile) with libkdumpfile, which is loaded only then.
 */
#ifndef FR_VMCORE_H
#define FR_VMCORE_H

#include "sys/progress.h"

struct fr_vmcore; /* opaque */

/*
 * 0 and *out; -ENOENT, -EACCES, ... of the file; -ENOEXEC: it is no crash dump; -EBADMSG: it is one that cannot be read;
 * -ENOPKG: the library is missing. With a message.
 */
int fr_vmcore_open(const char *path, struct fr_vmcore **out);
void fr_vmcore_close(struct fr_vmcore *v); /* NULL is fine */

/* A page of FR_PAGE_SZ bytes, and where it is, for fr_vmcore_read(). What is not 0 ends the walk. */
typedef int (*fr_vmcore_page_fn)(void *arg, u64 place, const void *page);

/*
 * Walk all pages of memory that are in the dump, in its order; a page may come more than once, at several places. *bad_cnt:
 * pages that it should have and that cannot be read. 0, or what fn returned.
 */
int fr_vmcore_walk(struct fr_vmcore *v, fr_vmcore_page_fn fn, void *arg, u64 *bad_cnt, struct fr_progress *bar);

/* Read the page at a place that a walk gave. 0 or -EIO. */
int fr_vmcore_read(struct fr_vmcore *v, u64 place, void *page);

/* How often it was -EIO: the walk could read that page. */
u64 fr_vmcore_unread_cnt(const struct fr_vmcore *v);

#endif
