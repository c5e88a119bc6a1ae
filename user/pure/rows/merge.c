/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A loser tree: leaves are streams, each inner node remembers who lost there, so that a new head is compared only with the
 * losers on its way up. tree[0] is the winner. The runner-up is the best of the losers on the winner's way.
 */
#include "pure/rows/merge.h"

#include <errno.h>
#include <stdlib.h>

struct head {
	u64 key; /* time and shift of row `from`; at the end: the greatest */
	bool ended;
	struct fr_stretch s;
};

struct fr_merge {
	u32 cnt, leaf_cnt; /* leaf_cnt: a power of two */
	fr_stretch_fn next;
	void *arg;
	struct head *head; /* [leaf_cnt], those from cnt on have ended */
	u32 *tree;	   /* [leaf_cnt] */
	bool started;
};

static int refill(struct fr_merge *m, u32 i)
{
	struct head *h = &m->head[i];
	int got = m->next(m->arg, i, &h->s);

	h->s.stream = i;
	h->ended = got <= 0;
	h->key = got > 0 ? h->s.b->ts[h->s.from] + h->s.shift_ns : ~0ULL;
	return got < 0 ? got : 0;
}

/* Does stream a come before b? An ended stream comes after all others. */
static inline bool is_before(const struct fr_merge *m, u32 a, u32 b)
{
	const struct head *x = &m->head[a], *y = &m->head[b];

	if (x->key != y->key)
		return x->key < y->key;
	if (x->ended != y->ended)
		return y->ended;
	return a < b;
}

static u32 play(struct fr_merge *m, u32 node)
{
	u32 left, right;

	if (node >= m->leaf_cnt)
		return node - m->leaf_cnt;
	left = play(m, node * 2);
	right = play(m, node * 2 + 1);
	m->tree[node] = is_before(m, left, right) ? right : left;
	return is_before(m, left, right) ? left : right;
}

static void replay(struct fr_merge *m, u32 stream)
{
	u32 node, winner = stream;

	for (node = (stream + m->leaf_cnt) / 2; node; node /= 2) {
		if (is_before(m, m->tree[node], winner)) {
			u32 loser = winner;

			winner = m->tree[node];
			m->tree[node] = loser;
		}
	}
	m->tree[0] = winner;
}

static u32 runner_up(const struct fr_merge *m, u32 winner)
{
	u32 node, best = winner;

	for (node = (winner + m->leaf_cnt) / 2; node; node /= 2) {
		if (best == winner || is_before(m, m->tree[node], best))
			best = m->tree[node];
	}
	return best;
}

int fr_merge_new(u32 cnt, fr_stretch_fn next, void *arg, struct fr_merge **out)
{
	struct fr_merge *m = calloc(1, sizeof(*m));
	int err = 0;
	u32 i;

	if (!m)
		return -ENOMEM;
	m->cnt = cnt;
	m->next = next;
	m->arg = arg;
	for (m->leaf_cnt = 1; m->leaf_cnt < cnt;)
		m->leaf_cnt *= 2;
	m->head = calloc(m->leaf_cnt, sizeof(*m->head));
	m->tree = calloc(m->leaf_cnt, sizeof(*m->tree));
	if (!m->head || !m->tree)
		err = -ENOMEM;
	for (i = 0; !err && i < m->leaf_cnt; i++) {
		m->head[i] = (struct head){.key = ~0ULL, .ended = true};
		if (i < cnt)
			err = refill(m, i);
	}
	if (err) {
		fr_merge_free(m);
		return err;
	}
	m->tree[0] = play(m, 1);
	*out = m;
	return 0;
}

void fr_merge_free(struct fr_merge *m)
{
	if (!m)
		return;
	free(m->head);
	free(m->tree);
	free(m);
}

/* The first row from `from` on that does not come before (key, stream): alternating streams make short runs, so look near. */
static u32 run_end(const struct head *h, u64 key, bool wins_ties)
{
	const u64 *ts = h->s.b->ts;
	u64 shift = h->s.shift_ns;
	u32 i = h->s.from + 1, to = h->s.to;

	if (wins_ties) {
		while (i < to && ts[i] + shift <= key)
			i++;
	} else {
		while (i < to && ts[i] + shift < key)
			i++;
	}
	return i;
}

/* The winner's rows handed out last are done with: move its head on. */
static int advance(struct fr_merge *m)
{
	u32 winner = m->tree[0];
	struct head *h = &m->head[winner];
	int err = 0;

	if (h->s.from < h->s.to)
		h->key = h->s.b->ts[h->s.from] + h->s.shift_ns;
	else
		err = refill(m, winner);
	replay(m, winner);
	return err;
}

int fr_merge_next(struct fr_merge *m, struct fr_stretch *run)
{
	struct head *h;
	u32 second;
	int err;

	if (m->started && !m->head[m->tree[0]].ended) {
		err = advance(m);
		if (err)
			return err;
	}
	m->started = true;
	h = &m->head[m->tree[0]];
	if (h->ended)
		return 0;
	second = runner_up(m, m->tree[0]);
	*run = h->s;
	if (second != m->tree[0] && !m->head[second].ended)
		run->to = run_end(h, m->head[second].key, m->tree[0] < second);
	h->s.from = run->to;
	return 1;
}
