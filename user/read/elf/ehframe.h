/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ehframe: finds what an ELF file of x86-64 says of the frames of its functions (.eh_frame), by its sorted table
 * (.eh_frame_hdr). All that unwinding needs is in segments, so a stripped file has it, too.
 *
 * The file is anybody's: it is read where and as far as it says, by pread(), so one that is cut off while it is read is no
 * error; each look-up takes a bounded number of reads.
 */
#ifndef FR_EHFRAME_H
#define FR_EHFRAME_H

#include "base/cfi.h"

struct fr_ehframe; /* opaque */

/* fd is ours from now on, closed also on error. 0 and *out; -ENOEXEC or -ENOENT: no such file, or it has no table; or -errno:
 * it cannot be read. */
int fr_ehframe_open(int fd, struct fr_ehframe **out);
void fr_ehframe_close(struct fr_ehframe *e); /* NULL is fine */

/* The file's address of code at an offset in it. False: there is none. */
bool fr_ehframe_addr(const struct fr_ehframe *e, u64 file_off, u64 *addr);

/* The first error of reading it since it was opened, 0: there was none. */
int fr_ehframe_err(const struct fr_ehframe *e);

/* What it says of this address. *out lives until the next call. False: nothing that can be used. */
bool fr_ehframe_find(struct fr_ehframe *e, u64 addr, struct fr_cfi *out);

#endif
