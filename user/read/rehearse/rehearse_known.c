/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rehearse_known: when all CPUs' events are known. A file has beginnings and ends of its own:
 *
 *	CPU 0	--------------|=====events=====|	the CPUs' histories begin when they do, and end when they were read:
 *	CPU 1	------|==========events===========|	in between all is known. Only there is anything measured.
 *	                      |    known   |
 *
 * Of several files each has such a time; where they do not meet, what was under way is forgotten.
 */
#include <errno.h>
#include <stdlib.h>

#include "read/rehearse/rehearse_int.h"

struct known {
	u64 begin_ns, end_ns;
};

struct fr_re_known {
	struct known *known;
	u32 cnt, at;
};

static u64 known_max64(u64 a, u64 b)
{
	return a > b ? a : b;
}

static struct known known_of(const struct fr_snap *snap)
{
	const char *begin = fr_snap_fact(snap, "begin_ns"), *taken = fr_snap_fact(snap, "snapshot_ns");
	struct known k = {.end_ns = taken ? strtoull(taken, NULL, 10) : ~0ULL};
	size_t cnt, i;
	const struct fr_snap_ring *r = fr_snap_rings(snap, &cnt);

	for (i = 0; i < cnt; i++)
		if (r[i].tier == FR_TIER_MAIN)
			k.begin_ns = known_max64(k.begin_ns, r[i].horizon_ns);
	if (!k.begin_ns && begin)
		k.begin_ns = strtoull(begin, NULL, 10);
	return k;
}

static int known_by_begin(const void *a, const void *b)
{
	const struct known *x = a, *y = b;

	return x->begin_ns < y->begin_ns ? -1 : x->begin_ns > y->begin_ns;
}

/* Merge those that meet. */
static void known_join(struct fr_re_known *k)
{
	u32 i, to = 0;

	if (!k->cnt)
		return;
	qsort(k->known, k->cnt, sizeof(*k->known), known_by_begin);
	for (i = 1; i < k->cnt; i++) {
		if (k->known[i].begin_ns <= k->known[to].end_ns)
			k->known[to].end_ns = known_max64(k->known[to].end_ns, k->known[i].end_ns);
		else
			k->known[++to] = k->known[i];
	}
	k->cnt = to + 1;
}

int fr_re_known_new(const struct fr_re *re, struct fr_re_known **out)
{
	struct fr_re_known *k = calloc(1, sizeof(*k));
	struct fr_replay *r = re->h->replay;
	u32 i, cnt = fr_replay_file_cnt(r);

	if (k)
		k->known = calloc(cnt + 1, sizeof(*k->known));
	if (!k || !k->known) {
		free(k);
		return -ENOMEM;
	}
	for (i = 0; i < cnt; i++)
		if (fr_replay_boot(r, i) == re->boot)
			k->known[k->cnt++] = known_of(fr_replay_snap(r, i));
	known_join(k);
	*out = k;
	return 0;
}

void fr_re_known_free(struct fr_re_known *k)
{
	if (!k)
		return;
	free(k->known);
	free(k);
}

bool fr_re_is_known(struct fr_re_known *k, u64 ts, bool *anew)
{
	while (k->at < k->cnt && ts > k->known[k->at].end_ns) {
		k->at++;
		*anew = true;
	}
	return k->at < k->cnt && ts >= k->known[k->at].begin_ns;
}

u64 fr_re_known_begin(const struct fr_re_known *k)
{
	return k->cnt ? k->known[0].begin_ns : 0;
}
