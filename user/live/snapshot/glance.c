/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* glance: see glance.h. The child has nothing that others could wait for, so it may be killed at any time. */
#include "live/snapshot/glance.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "live/snapshot/dump.h"

struct glance {
	struct fr_sess *s;
	u64 last_ns;
};

/* In the child. */
static int glance_work(void *arg, int file)
{
	const struct glance *g = arg;
	const struct fr_dump_ask ask = {.glance = true, .to_fd = file, .last_ns = g->last_ns, .reason = ""};
	struct fr_dump_done *done = malloc(sizeof(*done));
	int err = done ? fr_dump_glance(g->s, &ask, done) : -ENOMEM;

	free(done);
	return err;
}

int fr_glance_begin(struct fr_sess *s, u64 last_ns, struct fr_aside **out)
{
	struct glance g = {s, last_ns};

	return fr_aside_begin(glance_work, &g, out);
}

int fr_glance_take(struct fr_aside *a, int *fd, char *why, size_t sz)
{
	int err = fr_aside_take(a, fd, why, sz);

	if (err == -ECANCELED || (err && !*why))
		snprintf(why, sz, "the process that looks at the session was ended");
	return err;
}
