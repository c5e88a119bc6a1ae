/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * upchoice: from `-e uprobe:PATH:SYMBOL`, or usdt:PATH:PROVIDER:NAME, to where in the file the probe is, and what it records.
 * The text is kept as what the schema says of the event, so a trigger about it finds the same place by the same function.
 */
#ifndef FR_UPCHOICE_H
#define FR_UPCHOICE_H

#include "base/tp/tpask.h"
#include "base/tp/upformat.h"

#define FR_UPCHOICE_WHY_SZ 512

/* A place in a file. */
struct fr_upsite {
	u64 off;
	u32 counter; /* where the file counts who listens (ref_ctr_offset); 0: nowhere */
	struct fr_up conf;
};

/* One event, at one place or several. */
struct fr_upfound {
	char *path;		    /* NULL: it is none */
	int fd;			    /* the file in which the place was proven: what has the path later may be another one */
	char *doc;		    /* KIND:PATH:PLACE{FIELD,...} */
	char name[FR_NAME_MAX + 1]; /* of the event, behind KIND: */
	char *format;
	size_t format_sz;
	struct fr_upsite *site;
	u32 site_cnt;
	char *lacks; /* arguments that are left out, and why, as a sentence; NULL: none */
};

/* Find what a -e asks for (its kind is that of a program's probe). id: of its format. 0 and *out, to be freed; -EINVAL and why:
 * it cannot be; -errno and why. */
int fr_upchoice_find(const struct fr_tpask *ask, u32 id, struct fr_upfound *out, char why[FR_UPCHOICE_WHY_SZ]);
void fr_upfound_free(struct fr_upfound *u);

/* Which of the marks of flightrec_mark.h does a file have? Bits by fr_mark_name(), at least one. 0; -errno, and why. */
int fr_upchoice_marks(const struct fr_tpask *ask, u32 *set, char why[FR_UPCHOICE_WHY_SZ]);

/* Of what could not be found: is the file so, and will be no different the next time? Else it could not be read now. */
bool fr_upchoice_is_final(int err);

/* The event's name. */
void fr_upchoice_name(const struct fr_tpask *ask, char to[FR_NAME_MAX + 1]);

/* The same of what the schema says of an event. */
int fr_upchoice_again(const char *doc, struct fr_upfound *out, char why[FR_UPCHOICE_WHY_SZ]);

#endif
