/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * vdso: names of the functions that the kernel maps into each process (vdso(7)). They are in no file. But all processes of an
 * ABI have the same ones, so our own tell their names.
 */
#ifndef FR_VDSO_H
#define FR_VDSO_H

#include "read/elf/procmaps.h"
#include "read/elf/symfile.h"

#define FR_VDSO_PATH "[vdso]" /* of the mapping, in /proc/PID/maps */

struct fr_vdso; /* opaque */

/* Read our own. 0 and *out; -ENOENT: the kernel gave us none; other -errno. */
int fr_vdso_open(struct fr_vdso **out);
void fr_vdso_close(struct fr_vdso *v); /* NULL is fine */

/* Is a process's mapping the same as ours? It is not, if it is of another ABI, or the process put something else there. */
bool fr_vdso_is(const struct fr_vdso *v, const struct fr_procmap *m);

/* The function at off bytes from the mapping's begin; false: none. */
bool fr_vdso_find(const struct fr_vdso *v, u64 off, struct fr_symfile_func *func);

#endif
