/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reading a snapshot: the profile of the hour before it. */
#include <errno.h>
#include <stdlib.h>

#include "read/snapfile/snapfile_int.h"

int fr_snap_take_profile(struct fr_snap *s, struct fr_prof **to, size_t sz)
{
	return *to ? 0 : fr_prof_read(s->own.content, sz, to);
}

const struct fr_prof *fr_snap_profile(const struct fr_snap *s)
{
	return s->profile;
}

const struct fr_prof *fr_snap_blocked(const struct fr_snap *s)
{
	return s->blocked;
}
