/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* dump_profile: the profile of the last hour beside the events, so that a snapshot also says what was normal. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "live/session/blockstore.h"
#include "live/snapshot/dump_int.h"

#define WAIT_MS 500 /* for the recorder, which reads for some milliseconds */

static void profile_add_stack(struct fr_addrs *a, const struct fr_prof *p, u32 nr, u32 pid)
{
	for (; nr; nr = p->node[nr - 1].parent)
		if (!fr_prof_is_file(p->node[nr - 1].frame))
			fr_addrs_add(a, p->node[nr - 1].frame, pid);
}

/* Names are looked for by address, and by process: its first thread has its number. */
void fr_dump_add_profile_addrs(struct fr_addrs *a, const struct fr_prof *p)
{
	u32 i;

	for (i = 0; i < p->key_cnt; i++) {
		profile_add_stack(a, p, p->key[i].kstack, p->key[i].pid);
		profile_add_stack(a, p, p->key[i].ustack, p->key[i].pid);
		if (p->key[i].ustack)
			fr_addrs_add_tid(a, p->key[i].pid);
	}
}

/* A recorder keeps it, who reads it every ten seconds: the file has the records of what came since. */
static void profile_find_blocked(struct fr_dump *d)
{
	struct fr_halves *store;
	u8 *bytes;
	size_t sz;

	if (fr_halves_open(d->s, &fr_blockstore, &store))
		return;
	if (!fr_halves_load(store, &bytes, &sz) && bytes && !fr_prof_read(bytes, sz, &d->blocked) && d->addrs)
		fr_dump_add_profile_addrs(d->addrs, d->blocked);
	free(bytes);
	fr_halves_close(store);
}

/* A snapshot must not fail for lack of it. */
void fr_dump_find_profile(struct fr_dump *d)
{
	int err = fr_sampler_open(d->s, &d->sampler);

	profile_find_blocked(d);
	if (err == -ENOENT)
		return;
	err = err ?: fr_sampler_read(d->sampler, WAIT_MS, &d->prof, NULL);
	if (err)
		fr_warn_errno(err, "the profile is not in the snapshot");
	else if (d->addrs)
		fr_dump_add_profile_addrs(d->addrs, d->prof);
}
