/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* symbols_int: shared by the parts of symbols. symbols.c answers queries; symbols_object.c keeps programs and libraries. */
#ifndef FR_SYMBOLS_INT_H
#define FR_SYMBOLS_INT_H

#include "base/set/hashed.h"
#include "read/elf/symfind.h"
#include "read/elf/symline.h"
#include "read/symbols/symbols.h"

/* A program or library. */
struct fr_symobj {
	struct fr_symwant want;
	u64 first_off;	 /* file offset of the first code that was mapped; ~0 unknown */
	char *id;	 /* build-id in hexadecimal, NULL none */
	char *label;	 /* path, or [build-id] */
	char *no_path;	 /* [build-id], once it has been asked for; NULL */
	bool has_copies; /* it was mapped from several paths */
	bool looked;
	int guess_err; /* -errno why a file that may be this one was not read; 0: none */
	struct fr_symgot got;
	bool lines_looked;
	struct fr_symlines *lines;
	u64 frame_cnt, named_cnt;
};

/* All of a snapshot: by build-id, or without one by path, and by whether it led there. */
struct fr_symobjs {
	struct fr_symobj **obj;
	u32 cnt;
	struct fr_hashed slots; /* indices in obj, + 1 */
	bool no_memory;		/* for some object */
};

/*
 * The object of that key, made if it is new; path may be NULL if there is a build-id. gone: the path did not lead to it, which
 * counts where there is none. NULL: no memory.
 */
struct fr_symobj *fr_symobjs_get(struct fr_symobjs *o, const u8 *build_id, size_t build_id_sz, const char *path, bool gone);
void fr_symobjs_free(struct fr_symobjs *o);

/* Set its path, now that it is known; NULL: it is unknown, and the object has a build-id. 0, or -ENOMEM: it keeps its label. */
int fr_symobj_set_path(struct fr_symobj *o, const char *path);

/* What it is called where nobody knows which of its copies it was: "[build-id]", or its label. */
const char *fr_symobj_id_label(struct fr_symobj *o);

/* Search for its files, once. */
void fr_symobj_look(struct fr_symobj *o, struct fr_symfind *find);

/* The virtual address of a byte of the file. False: it is in none of its segments, or there is no file. */
bool fr_symobj_vaddr(const struct fr_symobj *o, u64 file_off, u64 *vaddr);

/* Its source lines, NULL: none. */
struct fr_symlines *fr_symobj_lines(struct fr_symobj *o);

/* "stripped", "build-id differs", "file not found", or why it cannot be read; NULL: nothing is missing. */
const char *fr_symobj_missing(const struct fr_symobj *o);

/* A raw name, demangled and without its symbol version (clock_gettime@@GLIBC_2.17): malloc'ed. NULL: show it unchanged. */
char *fr_symbol_shown(const char *raw);

/* ---- symbols_guess.c: paths of objects known only by build-id ---- */

struct fr_symguesses; /* opaque */

/* Collect likely paths: reads a part of the file. NULL: no memory. */
struct fr_symguesses *fr_symguesses_new(const struct fr_snap *s, const struct fr_symbols_opts *opts);
void fr_symguesses_free(struct fr_symguesses *g); /* NULL is fine */

/* Find the object's path, if possible; otherwise set its guess_err. 0 or -ENOMEM. */
int fr_symguesses_look(struct fr_symguesses *g, struct fr_symobj *o);

#endif
