/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* upattach: attaches the programs of bpf/up.h to places in files, for a session and for its triggers. */
#ifndef FR_UPATTACH_H
#define FR_UPATTACH_H

#include "live/session/upchoice.h"

struct bpf_map;
struct bpf_program;

struct fr_up_attach {
	const struct bpf_program *up, *begin; /* loaded */
	const struct bpf_map *sites;	      /* what they read at a site */
	u32 event;			      /* its number */
	u32 first;			      /* the number of its first site */
	u32 cpu;			      /* any that is online */
	const char *dir, *prefix;	      /* pins are PREFIX PROGRAM - EVENT - SITE, in that directory */
};

/* The programs and their maps in an object that is not loaded yet. */
struct fr_up_parts {
	struct bpf_program *up, *begin;
	struct bpf_map *works, *sites, *calls;
};

/* Have what so many events take, of which some are returns of functions, at so many sites. Returns what fr_up_may_sleep is: may
 * the program sleep, so that it reads memory that is not there yet? */
bool fr_up_prepare(const struct fr_up_parts *of, u32 cnt, u32 returns, u32 sites);

/* Tell the programs of all sites of an event, attach them, the beginnings of functions before their returns, and pin the links.
 * 0 or -errno, with a message. */
int fr_up_attach(const struct fr_up_attach *to, const struct fr_upfound *at);

#endif
