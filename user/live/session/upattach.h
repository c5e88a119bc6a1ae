/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* upattach: attaches the programs of bpf/up.h to places in files, for a session and for its triggers. */
#ifndef FR_UPATTACH_H
#define FR_UPATTACH_H

#include "live/session/upchoice.h"

struct bpf_program;

struct fr_up_attach {
	const struct bpf_program *up, *begin; /* loaded */
	const struct bpf_map *sites;	      /* what they read at a site */
	u32 event;			      /* its number */
	u32 first;			      /* the number of its first site */
	u32 cpu;			      /* any that is online */
	const char *dir, *prefix;	      /* pins are PREFIX PROGRAM - EVENT - SITE, in that directory */
};

/* May such a program sleep, so that it reads memory that is not there yet? Linux 6.0 on. Before load: has up do so. */
bool fr_up_may_sleep(void);
void fr_up_let_sleep(struct bpf_program *up);

/* Tell the programs of all sites of an event, attach them, the beginnings of functions before their returns, and pin the links.
 * 0 or -errno, with a message. */
int fr_up_attach(const struct fr_up_attach *to, const struct fr_upfound *at);

#endif
