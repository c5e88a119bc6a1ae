/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pair_block: requests to block devices, by device and first sector.
 *
 * A part of a request completes at its first sector; the rest begins after it. If the same request is issued again, it was
 * requeued, which begins nothing. If there is another one at the same place at the same time, it is unknown whose completion
 * comes first, and so how long they took.
 */
#include <errno.h>

#include "base/rows/pair_int.h"

#define REQUEST_MAX 65536u /* in flight at once; more means a file in which they never complete */

struct request {
	u64 sector;
	u64 issued_ns; /* 0: unknown */
	u32 dev;
	u32 nr_sector; /* left */
	u32 cnt;       /* requests at this place */
};

void fr_pair_block_init(struct fr_pairs *p)
{
	fr_idmap_init(&p->requests, sizeof(struct request));
	fr_idmap_init(&p->ios, sizeof(struct request));
}

/* Different places may have one key: compare after finding one. */
static u64 pair_block_key_of(u64 dev, u64 sector)
{
	return sector ^ dev << 40 ^ dev << 8;
}

static struct request *pair_block_find(const struct fr_idmap *m, u64 dev, u64 sector)
{
	struct request *q = fr_idmap_find(m, pair_block_key_of(dev, sector));

	return q && q->dev == dev && q->sector == sector ? q : NULL;
}

static u64 blind_ns(const struct fr_pairs *p, const struct fr_idmap *m)
{
	return fr_pair_blind_ns(p, m == &p->ios ? FR_PAIR_IO : FR_PAIR_RQ);
}

static bool pair_block_is_known(const struct fr_pairs *p, const struct fr_idmap *m, const struct request *q)
{
	return q->issued_ns && q->issued_ns >= blind_ns(p, m);
}

/* What is unknown may have ended unseen, and must not make all later ones at its place unknown, too. *again: it is requeued. */
static int pair_block_begins(struct fr_pairs *p, struct fr_idmap *m, const struct fr_pair_row *r, bool *again)
{
	u32 dev = r->v[0], nr_sector = r->v[2];
	struct request *q = pair_block_find(m, dev, r->v[1]);

	*again = q && pair_block_is_known(p, m, q) && q->nr_sector == nr_sector;
	if (q && pair_block_is_known(p, m, q)) {
		q->cnt += !*again;
		return 0;
	}
	if (m->cnt >= REQUEST_MAX)
		fr_idmap_clear(m);
	q = fr_idmap_get(m, pair_block_key_of(dev, r->v[1]));
	if (!q)
		return -ENOMEM;
	*q = (struct request){.sector = r->v[1], .issued_ns = r->ts, .dev = dev, .nr_sector = nr_sector, .cnt = 1};
	return 0;
}

/* If there are several at one place, none is known. */
static void pair_block_ends(const struct fr_pairs *p, struct fr_idmap *m, struct request *q, u64 now_ns, struct fr_pair *out)
{
	if (q->cnt > 1)
		q->issued_ns = 0;
	if (pair_block_is_known(p, m, q))
		out->latency_ns = fr_lat_since(q->issued_ns, now_ns);
	if (!--q->cnt)
		fr_idmap_drop(m, pair_block_key_of(q->dev, q->sector));
}

/* The first nr_sector of it are complete: it continues after them. */
static int shorten(struct fr_idmap *m, struct request *q, u32 nr_sector)
{
	struct request left = *q;

	if (q->cnt > 1)
		return 0;
	fr_idmap_drop(m, pair_block_key_of(q->dev, q->sector));
	left.sector += nr_sector;
	left.nr_sector -= nr_sector;
	q = fr_idmap_get(m, pair_block_key_of(left.dev, left.sector));
	if (!q)
		return -ENOMEM;
	*q = left;
	return 0;
}

/* ---- rows; fields: dev, sector, nr_sector ---- */

int fr_pair_rq_issue(struct fr_pairs *p, const struct fr_pair_row *r, struct fr_pair *out)
{
	return pair_block_begins(p, &p->requests, r, &out->again);
}

int fr_pair_rq_complete(struct fr_pairs *p, const struct fr_pair_row *r, struct fr_pair *out)
{
	struct request *q = pair_block_find(&p->requests, r->v[0], r->v[1]), *io;
	u32 nr_sector = r->v[2];
	int err;

	if (!q)
		return 0;
	if (fr_lat_request_done(nr_sector, q->nr_sector)) {
		pair_block_ends(p, &p->requests, q, r->ts, out);
		return 0;
	}
	err = shorten(&p->requests, q, nr_sector);
	io = pair_block_find(&p->ios, r->v[0], r->v[1]);
	return err || !io ? err : shorten(&p->ios, io, nr_sector);
}

int fr_pair_io_start(struct fr_pairs *p, const struct fr_pair_row *r, struct fr_pair *out)
{
	bool again; /* none is */

	(void)out;
	return pair_block_begins(p, &p->ios, r, &again);
}

/* It says that nothing is left, and where its last part began. */
int fr_pair_io_done(struct fr_pairs *p, const struct fr_pair_row *r, struct fr_pair *out)
{
	struct request *q = pair_block_find(&p->ios, r->v[0], r->v[1]);

	if (q)
		pair_block_ends(p, &p->ios, q, r->ts, out);
	return 0;
}
