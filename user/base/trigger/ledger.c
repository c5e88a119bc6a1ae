/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/trigger/ledger.h"

#include <stddef.h>

/* ---- words that change together ---- */

static u64 *word_at(struct fr_triggers *tr, u32 off)
{
	return (u64 *)((char *)tr + off);
}

static struct fr_change *ledger_find(struct fr_entry *n, u32 off)
{
	u32 i;

	for (i = 0; i < n->cnt; i++)
		if (n->change[i].off == off)
			return &n->change[i];
	return NULL;
}

/* The change of a word, created if there is none. There is room for everything that one moment can change. */
static struct fr_change *ledger_change_of(struct fr_entry *n, struct fr_triggers *tr, u64 *word)
{
	u32 off = (char *)word - (char *)tr;
	struct fr_change *c = ledger_find(n, off);

	if (c)
		return c;
	c = &n->change[n->cnt++ % FR_ENTRY_MAX];
	*c = (struct fr_change){.off = off, .from = *word, .to = *word};
	return c;
}

void fr_entry_set(struct fr_entry *n, struct fr_triggers *tr, u64 *word, u64 to)
{
	ledger_change_of(n, tr, word)->to = to;
}

void fr_entry_add(struct fr_entry *n, struct fr_triggers *tr, u64 *word, u64 more)
{
	ledger_change_of(n, tr, word)->to += more;
}

static bool change_ok(const struct fr_change *c)
{
	return c->off % sizeof(u64) == 0 && c->off <= sizeof(struct fr_triggers) - sizeof(u64);
}

/* A change that was already finished is not done twice: its word is as it shall be. */
static void ledger_finish(struct fr_ledger *l, struct fr_triggers *tr)
{
	u32 cnt = l->entry.cnt, i;
	struct fr_change c;

	for (i = 0; i < cnt && cnt <= FR_ENTRY_MAX; i++) {
		c = l->entry.change[i];
		if (change_ok(&c) && *word_at(tr, c.off) == c.from)
			__atomic_store_n(word_at(tr, c.off), c.to, __ATOMIC_RELAXED);
	}
	/* pairs with fr_ledger_recover() of the next recorder, which does the same again while it is not 0 */
	__atomic_store_n(&l->entry.cnt, 0, __ATOMIC_RELEASE);
}

/*
 * Compiler fences: a recorder killed between two instructions has done everything before them, so only the compiler's order
 * counts.
 */
void fr_ledger_commit(struct fr_ledger *l, struct fr_triggers *tr, const struct fr_entry *n)
{
	u32 i;

	for (i = 0; i < n->cnt && i < FR_ENTRY_MAX; i++)
		l->entry.change[i] = n->change[i];
	__atomic_store_n(&l->entry.cnt, i, __ATOMIC_RELEASE); /* pairs likewise: its changes are complete */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	ledger_finish(l, tr);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void fr_ledger_recover(struct fr_ledger *l, struct fr_triggers *tr)
{
	ledger_finish(l, tr);
}

/* ---- grants ---- */

static struct fr_ledger_grant *ledger_place_of(struct fr_ledger *l, u64 nr)
{
	return &l->grant[nr % FR_LEDGER_GRANT_MAX];
}

u32 fr_ledger_grant(struct fr_ledger *l, struct fr_triggers *tr, struct fr_entry *n, const struct fr_granted *g)
{
	u64 nr = tr->granted_cnt;

	*ledger_place_of(l, nr) = (struct fr_ledger_grant){.nr = nr + 1, .granted = *g};
	tr->granted[nr % FR_GRANTED_MAX] = *g;
	fr_entry_set(n, tr, &tr->granted_cnt, nr + 1);
	return nr % FR_LEDGER_GRANT_MAX + 1;
}

u64 fr_ledger_first(const struct fr_triggers *tr)
{
	return tr->granted_cnt > FR_LEDGER_GRANT_KNOWN ? tr->granted_cnt - FR_LEDGER_GRANT_KNOWN : 0;
}

/* Of the youngest, what all versions write is believed. One of its places belongs to the next grant, as here. */
bool fr_ledger_granted(const struct fr_ledger *l, const struct fr_triggers *tr, u64 nr, struct fr_granted *out)
{
	const struct fr_ledger_grant *there = &l->grant[nr % FR_LEDGER_GRANT_MAX];

	if (tr->granted_cnt - nr < FR_GRANTED_MAX) {
		*out = tr->granted[nr % FR_GRANTED_MAX];
		return true;
	}
	*out = there->granted;
	return there->nr == nr + 1;
}

/* Of all numbers with that place, only the youngest can be known. */
bool fr_ledger_find(const struct fr_ledger *l, const struct fr_triggers *tr, u32 place, struct fr_granted *out)
{
	u64 cnt = tr->granted_cnt, back = (cnt - place) % FR_LEDGER_GRANT_MAX + 1;

	if (!place || place > FR_LEDGER_GRANT_MAX || back > cnt || cnt - back < fr_ledger_first(tr))
		return false;
	return fr_ledger_granted(l, tr, cnt - back, out);
}

static void ledger_forget(struct fr_granted *g, u32 slot, u64 then_ns)
{
	if (g->ts == then_ns && g->slot == slot)
		g->ts = 0;
}

void fr_ledger_give_back(struct fr_ledger *l, struct fr_triggers *tr, u32 slot, u64 then_ns)
{
	u32 i;

	for (i = 0; i < FR_GRANTED_MAX; i++)
		ledger_forget(&tr->granted[i], slot, then_ns);
	for (i = 0; i < FR_LEDGER_GRANT_MAX; i++)
		ledger_forget(&l->grant[i].granted, slot, then_ns);
}

static void forget_key(struct fr_granted *g, u64 key)
{
	if (g->key == key)
		g->key = 0;
}

void fr_ledger_forget(struct fr_ledger *l, struct fr_triggers *tr, u64 key)
{
	u32 i;

	for (i = 0; i < FR_GRANTED_MAX; i++)
		forget_key(&tr->granted[i], key);
	for (i = 0; i < FR_LEDGER_GRANT_MAX; i++)
		forget_key(&l->grant[i].granted, key);
}
