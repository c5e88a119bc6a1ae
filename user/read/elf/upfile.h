/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * upfile: where in a program or library a probe may be. A probe overwrites an instruction, so each place is proven to be the
 * start of one: a function's own start, or where the file's line table or its call frame data say that one begins; a static
 * mark is where a nop is, which a note names.
 */
#ifndef FR_UPFILE_H
#define FR_UPFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "types.h"

#define FR_UPFILE_WHY_SZ 320

struct fr_upfile; /* opaque */

/* Open a regular ELF file of this machine's kind. 0 and *out; -errno and why. */
int fr_upfile_open(const char *path, struct fr_upfile **out, char why[FR_UPFILE_WHY_SZ]);
void fr_upfile_close(struct fr_upfile *f); /* NULL is fine */

/* A descriptor of this very file, whatever has its name by then; the caller closes it. Or -errno. */
int fr_upfile_fd(const struct fr_upfile *f);

/* Is it a Go program? Its stacks move, which a probe of a return does not survive, and its arguments are not where C has them.
 */
bool fr_upfile_is_go(const struct fr_upfile *f);

/*
 * The offset in the file of what is off bytes behind the start of the function of this name. 0 and *file_off; -EINVAL and why:
 * it has no such function, several have this name, or no probe may be there; -EIO, -ENOMEM and why: it cannot be read.
 */
int fr_upfile_func(struct fr_upfile *f, const char *symbol, u64 off, u64 *file_off, char why[FR_UPFILE_WHY_SZ]);

/* A static mark's site. */
struct fr_upmark {
	const char *provider, *name; /* printable, without a colon, until the file is closed, as args */
	const char *args;
	u64 off;	 /* in the file */
	u32 counter;	 /* of those who listen: likewise; 0: it has none */
	const char *bad; /* why no probe may be there, until fn returns; NULL: one may */
};

/*
 * Each site of the file's static marks, in the order of its notes; those whose names cannot be written in a -e are passed over.
 * fn returns 0 to continue; -EINVAL of a site that is bad, why says it then. 0, or what it returned; -EINVAL and why: the notes
 * are damaged; -EIO, -ENOMEM and why: they cannot be read.
 */
int fr_upfile_marks(struct fr_upfile *f, int (*fn)(void *arg, const struct fr_upmark *m), void *arg,
		    char why[FR_UPFILE_WHY_SZ]);

/*
 * Each function, in the order of the file's tables; a name may come twice. Returns what fn does, which is 0 to continue; -EIO,
 * -ENOMEM: not all of it can be read.
 */
int fr_upfile_each(struct fr_upfile *f, int (*fn)(void *arg, const char *symbol), void *arg);

#endif
