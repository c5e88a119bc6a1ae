/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reading a snapshot: the host's counters before it. */
#include <errno.h>

#include "read/snapfile/snapfile_int.h"

/* A chunk that is not valid is left out as a whole. */
int fr_snap_take_counters(struct fr_snap *s, size_t sz)
{
	struct fr_counters c;
	int err;

	fr_counters_init(&c);
	err = fr_counters_decode(&c, s->own.content, sz);
	if (!err && !s->has_counters)
		fr_counters_init(&s->counters);
	if (!err) {
		s->has_counters = true;
		err = fr_counters_join(&s->counters, &c);
	}
	fr_counters_free(&c);
	return err == -E2BIG ? -EBADMSG : err;
}

void fr_snap_free_counters(struct fr_snap *s)
{
	if (s->has_counters)
		fr_counters_free(&s->counters);
}

const struct fr_counters *fr_snap_counters(const struct fr_snap *s)
{
	return s->has_counters ? &s->counters : NULL;
}
