/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* symbols_int: what the parts of symbols share. symbols.c answers; symbols_object.c keeps programs and libraries. */
#ifndef FR_SYMBOLS_INT_H
#define FR_SYMBOLS_INT_H

#include "flow/symbols/symbols.h"
#include "io/symbol/symfind.h"
#include "io/symbol/symline.h"

/* A program or library. */
struct fr_symobj {
	struct fr_symwant want;
	u64 first_off; /* in the file, of the first code that was mapped; ~0 unknown */
	char *id;      /* build-id in hexadecimal, NULL none */
	char *label;   /* path, or [build-id] */
	bool looked;
	struct fr_symgot got;
	bool lines_looked;
	struct fr_symlines *lines;
	u64 frame_cnt, named_cnt;
};

/* All of a snapshot: by build-id, or without one by path, and by whether it led there. */
struct fr_symobjs {
	struct fr_symobj **obj;
	u32 cnt;
	u32 *slot; /* open hash of numbers in obj, + 1; slot_cnt is a power of two */
	u32 slot_cnt;
	bool no_memory; /* for one of them: it was asked for, and not got */
};

/*
 * The object of that key, made if it is new; path may be NULL if there is a build-id. gone: the path did not lead to it, which
 * counts where there is none. NULL: no memory.
 */
struct fr_symobj *fr_symobjs_get(struct fr_symobjs *o, const u8 *build_id, size_t build_id_sz, const char *path, bool gone);
void fr_symobjs_free(struct fr_symobjs *o);

/* Its path has become known; NULL: it is not, and it has a build-id. 0, or -ENOMEM: it is called as before. */
int fr_symobj_set_path(struct fr_symobj *o, const char *path);

/* Look for its files, once. */
void fr_symobj_look(struct fr_symobj *o, struct fr_symfind *find);

/* Where in its address space a byte of the file is. False: in none of its segments, or no file. */
bool fr_symobj_vaddr(const struct fr_symobj *o, u64 file_off, u64 *vaddr);

/* Its lines, NULL: it has none. */
struct fr_symlines *fr_symobj_lines(struct fr_symobj *o);

/* "stripped", "build-id differs", "file not found", or why it cannot be read; NULL: nothing is missing. */
const char *fr_symobj_missing(const struct fr_symobj *o);

/* A raw name without its symbol's version (clock_gettime@@GLIBC_2.17), and demangled: malloc'ed. NULL: it is shown as it is. */
char *fr_symbol_shown(const char *raw);

/* ---- symbols_guess.c: paths of what is known by its build-id only ---- */

struct fr_symguesses; /* opaque */

/* Gathers likely paths: reads a part of the file. NULL: no memory. */
struct fr_symguesses *fr_symguesses_new(const struct fr_snap *s, const struct fr_symbols_opts *opts);
void fr_symguesses_free(struct fr_symguesses *g); /* NULL is fine */

/* Find out the object's path, if that can be. 0 or -ENOMEM. */
int fr_symguesses_look(struct fr_symguesses *g, struct fr_symobj *o);

#endif
