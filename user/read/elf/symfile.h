/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * symfile: what symbolization needs of an ELF file: build-id, program headers, functions sorted by address. The file is
 * untrusted: invalid parts are refused or left out.
 */
#ifndef FR_SYMFILE_H
#define FR_SYMFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "types.h"

#define FR_BUILD_ID_MAX_SZ 64u /* the longest that is read; GNU ld writes 20, Go and lld 8 or 16, too */

struct fr_symfile; /* opaque */

/* A function around an address. */
struct fr_symfile_func {
	const char *name; /* raw; lives as long as the file */
	u64 vaddr;	  /* its first byte */
	u64 sz;		  /* in bytes, 0: unknown */
	u32 nr;		  /* its index among the file's */
};

/*
 * Open path: only a regular file (no device, no pipe) that is an ELF executable, library or debug file. root: where / is for
 * the path and for all symbolic links, or NULL. 0 and *out; -ENOENT and other -errno from the system; -EBADMSG: not such a
 * file; -ENOMEM.
 */
int fr_symfile_open(const char *root, const char *path, struct fr_symfile **out);
/* The same for sz bytes at image, which need not stay there. 0 and *out; -EBADMSG, -ENOMEM. */
int fr_symfile_open_memory(const void *image, size_t sz, struct fr_symfile **out);
void fr_symfile_close(struct fr_symfile *f); /* NULL is fine */

/* The same file as a descriptor for reading, or -errno. */
int fr_symfile_fd(const char *root, const char *path);

/* Where a path leads, links followed, as seen below root. 0, or -errno. */
int fr_symfile_real(const char *root, const char *path, char *to, size_t sz);

/* A directory below root, likewise. */
int fr_symfile_dir(const char *root, const char *path);

/*
 * Read only the build-id of a file, which is quicker. Returns its size; 0: none, or the file cannot be opened or read: *err
 * (NULL is fine) is -errno then, otherwise untouched.
 */
size_t fr_symfile_read_id(const char *root, const char *path, u8 to[FR_BUILD_ID_MAX_SZ], int *err);

/* *sz bytes; NULL and 0 if there is none. */
const u8 *fr_symfile_build_id(const struct fr_symfile *f, size_t *sz);

/* Name of the file its symbols were moved to (.gnu_debuglink), without a directory; NULL: none. */
const char *fr_symfile_link(const struct fr_symfile *f);

/* Does it have all functions (.symtab), or, being stripped, only exported ones (.dynsym)? */
bool fr_symfile_is_full(const struct fr_symfile *f);

/* Does it have source lines (.debug_info)? */
bool fr_symfile_has_lines(const struct fr_symfile *f);

/* Is it a debug file without the program's bytes? Then its program headers do not give their offsets in the program's file. */
bool fr_symfile_is_debug_only(const struct fr_symfile *f);

/*
 * The virtual address of a byte of the file, by its program headers. False: it is in no segment. first_off: for a debug file,
 * where the code begins in the program's file, as known from a mapping; ~0 unknown: assumes a usual layout.
 */
bool fr_symfile_vaddr(const struct fr_symfile *f, u64 file_off, u64 first_off, u64 *vaddr);

/* The function at vaddr; false: none. */
bool fr_symfile_find(const struct fr_symfile *f, u64 vaddr, struct fr_symfile_func *func);

#endif
