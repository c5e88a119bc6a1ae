/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* buildid: the build-id of a file or of the kernel, from notes that anybody may have written. */
#ifndef FR_BUILDID_H
#define FR_BUILDID_H

#include "io/snapfile/snapfile.h"

/* Find the build-id in sz bytes of ELF notes. Its size, 0: there is none, or it is longer than FR_BUILD_ID_MAX. */
u8 fr_build_id_in_notes(const void *notes, size_t sz, u8 *id);

/* That of an ELF file of this machine's byte order: a few reads at bounded places. Its size, 0: none, or no such file. */
u8 fr_build_id_of(int fd, u8 *id);

/* That of the kernel that runs. */
u8 fr_build_id_of_kernel(u8 *id);

#endif
