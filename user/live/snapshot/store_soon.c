/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* store_soon: what is known of a directory whose disk may not answer. */
#include "live/snapshot/askdir.h"
#include "live/snapshot/store.h"

#define LOOK_NS 500000000ULL /* somebody waits for it */

static void soon_look(void *arg, void *out)
{
	fr_store_usage(arg, out);
}

int fr_store_usage_soon(struct fr_sess *s, struct fr_store *st, struct fr_store_usage *out)
{
	int err = fr_askdir(s, fr_store_dir(st), LOOK_NS, soon_look, st, out, sizeof(*out));

	if (err)
		*out = (struct fr_store_usage){.removed = fr_store_removed(st), .err = err};
	return out->err;
}
