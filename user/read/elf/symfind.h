/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * symfind: finds the symbols of a program or library. Looks in this order, and checks the build-id of each file:
 *
 *	beside the snapshot	.build-id/xx/yyyy.debug, NAME.debug, NAME
 *	--symfs			the path itself below it, and what below it is like /usr/lib/debug
 *	caches by build-id	of flightrec and of debuginfod's client
 *	/usr/lib/debug		.build-id/xx/yyyy.debug, PATH.debug
 *	the original path	and its debug file by its own account (.gnu_debuglink)
 *	debuginfod		if requested
 *
 * The program's own file, which defines its addresses, and one with all its functions may be two different files.
 */
#ifndef FR_SYMFIND_H
#define FR_SYMFIND_H

#include "read/elf/symfile.h"

struct fr_symfind_opts {
	const char *beside; /* directory of the snapshot, NULL: none */
	const char *symfs;  /* root of another machine's files, NULL: none */
	bool debuginfod;
	bool lines; /* continue until a file with source lines is found */
};

struct fr_symfind; /* opaque */

/* 0 and *out, or -ENOMEM. opts' texts must live as long. */
int fr_symfind_new(const struct fr_symfind_opts *opts, struct fr_symfind **out);
void fr_symfind_free(struct fr_symfind *s); /* NULL is fine */

struct fr_symwant {
	const char *path; /* where it was mapped from, NULL unknown */
	const char *name; /* of a file beside the snapshot, if the path is unknown; or NULL */
	u8 build_id[FR_BUILD_ID_MAX_SZ];
	size_t build_id_sz; /* 0: it has none; then a file without one is taken to be it */
	bool gone;	    /* it has none, and the path did not lead to it: where it was is not looked at */
};

enum fr_symwhy { FR_SYM_FOUND, FR_SYM_STRIPPED, FR_SYM_DIFFERS, FR_SYM_NO_FILE, FR_SYM_UNREAD };

struct fr_symplace {
	struct fr_symfile *file; /* NULL: none */
	char *path;		 /* including root */
	const char *root;	 /* of fr_symfile_open() */
	const char *where;	 /* which of the above places */
};

/* The result; freed by fr_symgot_drop(). */
struct fr_symgot {
	struct fr_symplace code;  /* the program's own file */
	struct fr_symplace debug; /* a debug file, or the unstripped program; with functions, perhaps with lines */
	enum fr_symwhy why;
	int err;       /* -errno why a file that may be the one was not read (FR_SYM_UNREAD, if no other is as good); 0: none */
	char *differs; /* path of the file that is another version, NULL: none was met */
	bool no_memory; /* for one of the files that were looked at: it is as if it were not there */
};

/* Search. why says what was not found; stripped files may be there all the same. */
void fr_symfind(struct fr_symfind *s, const struct fr_symwant *want, struct fr_symgot *got);
void fr_symgot_drop(struct fr_symgot *got);

/* The file that has the functions: debug, or code, or NULL. */
const struct fr_symplace *fr_symgot_funcs(const struct fr_symgot *got);

/* Two hexadecimal digits per byte. */
void fr_build_id_text(const u8 *id, size_t sz, char to[2 * FR_BUILD_ID_MAX_SZ + 1]);

#endif
