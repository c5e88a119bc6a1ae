/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * markspan_room: who may have how many places in the table of spans (markspan.h). Pure: the triggers' programs and the unit
 * test have this text, each with tables of its own.
 *
 * A process has an account, from its first begin to its end. The account takes a place itself. Its owner, who it was then, is
 * charged with it and with what the process has begun, whoever the process is later: what is given back is what was charged.
 *
 * Entries of the table may be another key's as soon as somebody has dropped them. So what is given back is read from the key
 * where that tells it, else before the entry is dropped.
 */
#ifndef FR_MARKSPAN_ROOM_H
#define FR_MARKSPAN_ROOM_H

#include "markspan.h"

struct fr_markspan_process {
	u64 start_ns;
	u32 pid;
	u32 pad;
};

struct fr_markspan_account {
	u64 cnt; /* without its own place */
	u32 owner;
	u32 pad;
};

/* Places of all, and of users: root's, and those of others by fr_gap_of(). */
struct fr_markspan_places {
	u64 total;
	u64 by[FR_GAP_CNT];
};

/* Whoever includes this has these functions. Those that add and drop return 1; 0: there is no room, or it is not there. */
static struct fr_markspan_places *fr_markspan_places_of(void *table); /* may be NULL */
static struct fr_markspan_account *fr_markspan_account_find(void *table, const struct fr_markspan_process *process);
static u32 fr_markspan_account_add(void *table, const struct fr_markspan_process *process, const struct fr_markspan_account *a);
static u32 fr_markspan_account_drop(void *table, const struct fr_markspan_process *process);
static u32 fr_markspan_entry_add(void *table, const struct fr_markspan_key *key, const struct fr_markspan *span);
static u32 fr_markspan_entry_drop(void *table, const struct fr_markspan_key *key);
static void fr_markspan_untracked(void *table);

/* Root's processes are many owners' often, so root has more than another user; this part is never root's. */
#define FR_MARKSPAN_NOT_ROOTS (FR_MARKSPAN_MAX / 4)

/* May one who has so many places have another, of max of which all have total? */
FR_INLINE u32 fr_markspan_may(u64 mine, u64 total, u64 max)
{
	return mine + total < max;
}

/* May a process that has so many have one more, with which this owner is charged? */
FR_INLINE u32 fr_markspan_has_room(const struct fr_markspan_places *p, u32 owner, u64 mine)
{
	u32 user = fr_gap_of(owner);

	if (!fr_markspan_may(mine, p->total, FR_MARKSPAN_MAX))
		return 0;
	if (!user)
		return fr_markspan_may(mine, p->by[0], FR_MARKSPAN_MAX - FR_MARKSPAN_NOT_ROOTS);
	return fr_markspan_may(p->by[user], p->total, FR_MARKSPAN_MAX);
}

FR_INLINE void fr_markspan_charge(struct fr_markspan_places *p, u32 owner, u64 cnt)
{
	fr_count(&p->total, cnt);
	fr_count(&p->by[fr_gap_of(owner)], cnt);
}

/* Whose account has this entry. */
FR_INLINE void fr_markspan_process_of(struct fr_markspan_process *out, const struct fr_markspan_key *key,
				      const struct fr_markspan *span)
{
	u32 tells = key->kind == FR_MARKSPAN_OWN && key->id;

	out->start_ns = tells ? key->start_ns : span->start_ns;
	out->pid = tells ? key->nr : span->pid;
	out->pad = 0;
}

/* Which user is charged with this entry of an owner's account. */
FR_INLINE u32 fr_markspan_charged(const struct fr_markspan_key *key, u32 owner)
{
	return key->kind == FR_MARKSPAN_LAST ? key->nr : owner;
}

/* NULL: there is no room for one. */
FR_INLINE struct fr_markspan_account *fr_markspan_account_get(void *table, struct fr_markspan_places *p,
							      const struct fr_markspan_process *process, u32 owner)
{
	struct fr_markspan_account *mine = fr_markspan_account_find(table, process), none = {.owner = owner};

	if (mine || !fr_markspan_has_room(p, owner, 0))
		return mine;
	if (fr_markspan_account_add(table, process, &none))
		fr_markspan_charge(p, owner, 1);
	return fr_markspan_account_find(table, process);
}

static u32 fr_markspan_put(void *table, const struct fr_markspan_key *key, const struct fr_markspan *span)
{
	struct fr_markspan_places *p = fr_markspan_places_of(table);
	struct fr_markspan_process process;
	struct fr_markspan_account *mine;
	u32 owner;

	fr_markspan_process_of(&process, key, span);
	mine = p ? fr_markspan_account_get(table, p, &process, span->owner) : NULL;
	if (mine) {
		owner = fr_markspan_charged(key, mine->owner);
		if (fr_markspan_has_room(p, owner, fr_load(&mine->cnt)) && fr_markspan_entry_add(table, key, span)) {
			fr_count(&mine->cnt, 1);
			fr_markspan_charge(p, owner, 1);
			return 1;
		}
	}
	fr_markspan_untracked(table);
	return 0;
}

static u32 fr_markspan_drop(void *table, const struct fr_markspan_key *key, const struct fr_markspan *span)
{
	struct fr_markspan_places *p = fr_markspan_places_of(table);
	struct fr_markspan_process process;
	struct fr_markspan_account *mine;
	u32 owner = span->owner;

	fr_markspan_process_of(&process, key, span);
	if (!p || !fr_markspan_entry_drop(table, key))
		return 0;
	mine = fr_markspan_account_find(table, &process);
	if (mine && fr_load(&mine->cnt))
		fr_count(&mine->cnt, -1ULL);
	if (mine)
		owner = mine->owner;
	fr_markspan_charge(p, fr_markspan_charged(key, owner), -1ULL);
	return 1;
}

static u32 fr_markspan_has_begun(void *table, const struct fr_markspan_who *who)
{
	struct fr_markspan_process process = {.start_ns = who->start_ns, .pid = who->pid};

	return fr_markspan_account_find(table, &process) != NULL;
}

/* The process has ended, and what it had begun is dropped. */
FR_INLINE void fr_markspan_account_close(void *table, const struct fr_markspan_process *process)
{
	const struct fr_markspan_account *mine = fr_markspan_account_find(table, process);
	struct fr_markspan_places *p = fr_markspan_places_of(table);
	u32 owner;

	if (!mine || !p)
		return;
	owner = mine->owner;
	if (fr_markspan_account_drop(table, process))
		fr_markspan_charge(p, owner, -1ULL);
}

#endif
