/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tpname: names of events that are no built-in ones. A tracepoint of the kernel is tp:SYSTEM:NAME, a probe of a program
 * KIND:NAME. Their formats know both as SYSTEM and NAME. Pure.
 */
#ifndef FR_TPNAME_H
#define FR_TPNAME_H

#include "base/schema/schema.h"

/* A function of a program is called; it returned; a program passed a static mark, or one of flightrec_mark.h. */
#define FR_UP_KINDS(K) K(uprobe) K(uretprobe) K(usdt) K(mark)

enum fr_up_kind {
#define K(name) FR_UP_##name,
	FR_UP_KINDS(K)
#undef K
		FR_UP_KIND_CNT
};

const char *fr_up_kind_name(u32 kind);

/* Which kind of probe a text begins with, KIND:; FR_UP_KIND_CNT: none. */
u32 fr_up_kind_of(const char *text);

/* Does it name such an event, tp:... or KIND:...? */
bool fr_tp_is_name(const char *text);

/* The event of SYSTEM and NAME. As snprintf(). */
int fr_tp_name(char *to, size_t sz, const char *system, const char *name);

/* The other way round; *name is in the event's name. False: it is none of these. */
bool fr_tp_split(const char *event, char system[FR_NAME_MAX + 1], const char **name);

#endif
