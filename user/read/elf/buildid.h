/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* buildid: the build-id of a file or of the kernel, read from untrusted notes. */
#ifndef FR_BUILDID_H
#define FR_BUILDID_H

#include "read/snapfile/snapfile.h"

/* Find the build-id in sz bytes of ELF notes. Returns its size; 0: none, or longer than FR_BUILD_ID_MAX. */
u8 fr_build_id_in_notes(const void *notes, size_t sz, u8 *id);

/*
 * That of an ELF file of this machine's byte order, with a few bounded reads. Returns its size; 0: none, or not such a file, or
 * it cannot be read: *err (NULL is fine) is -errno then, otherwise untouched.
 */
u8 fr_build_id_of(int fd, u8 *id, int *err);

/* That of the running kernel. */
u8 fr_build_id_of_kernel(u8 *id);

#endif
