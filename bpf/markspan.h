/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * markspan: how long it took from flightrec_begin(NAME, id) to flightrec_end(NAME, id). Pure: the triggers' programs, a
 * rehearsal and the unit test with a virtual clock have this text, each with a table of its own.
 *
 *	begin("request", 7)			end("request", 7)
 *	-------|-------------------------------------|------		value: begin to end
 *
 * Whose it is
 *  - id 0: the thread's. Spans of a name in several threads are several.
 *  - Any other id: the process's. Several processes may count from 1 on, so each has its own.
 *  - A request may go on in another process. So the table also has, for each user, which process began last under a name and
 *    id: an end in a process that has begun nothing, under any name that a rule has, ends that one. One that begins some
 *    itself is no heir: it may use the same ids for its own, and what it ends may have begun before the rules were in force.
 *
 * Rules
 *  - Names count whole, and only those that a rule has: nothing is kept of others.
 *  - A begin of what is begun begins it anew. An end of what is not begun is nothing.
 *  - What a thread (id 0) or a process has begun and not ended when it ends is dropped: its number is soon another's.
 *  - Where there is no room, the span is not known, and neither is it taken for another process's of this name and id.
 *
 * Room: places, one for each of these entries, and one for each process that has some (markspan_room.h). Neither a process,
 * nor a user but root, gets more than half of what all others have left, and root leaves a part. So who begins without end
 * blinds nobody else.
 */
#ifndef FR_MARKSPAN_H
#define FR_MARKSPAN_H

#include "atomic.h"
#include "latency.h"
#include "rule.h"

enum fr_markspan_kind {
	FR_MARKSPAN_OWN,  /* of a thread or process: when it began */
	FR_MARKSPAN_LAST, /* of a user: which process was the last to begin it */
};

struct fr_markspan_key {
	u64 name; /* hashed */
	u64 id;
	u64 start_ns; /* of the thread or process, whose number may be used again */
	u32 nr;	      /* OWN: tid or pid; LAST: the user */
	u32 kind;     /* enum fr_markspan_kind */
};

struct fr_markspan {
	u64 begin_ns;
	u64 start_ns; /* of the process that began it */
	u32 pid;
	u32 owner; /* who answers for it */
};

/* Who passes a mark. Times of starts: 0 if they are not known, then numbers alone tell. */
struct fr_markspan_who {
	u64 start_ns;	     /* the process's */
	u64 thread_start_ns; /* the thread's */
	u32 pid, tid;
	u32 owner;
};

/* Whoever includes this has a table, and these functions. */

/* NULL: it is not there. */
static struct fr_markspan *fr_markspan_find(void *table, const struct fr_markspan_key *key);
/* Replace what is there. Returns 1; 0: it is not there. */
static u32 fr_markspan_again(void *table, const struct fr_markspan_key *key, const struct fr_markspan *span);
/* Add what is not there. Returns 1; 0, counted: there is no room. */
static u32 fr_markspan_put(void *table, const struct fr_markspan_key *key, const struct fr_markspan *span);
/* Returns 1; 0: it was not there, or somebody else has dropped it meanwhile. span: what was found. */
static u32 fr_markspan_drop(void *table, const struct fr_markspan_key *key, const struct fr_markspan *span);
/* Has this process begun anything that was put here, ended or not? */
static u32 fr_markspan_has_begun(void *table, const struct fr_markspan_who *who);

FR_INLINE void fr_markspan_own_key(struct fr_markspan_key *key, const struct fr_markspan_who *who, u64 name, u64 id)
{
	key->name = name;
	key->id = id;
	key->start_ns = id ? who->start_ns : who->thread_start_ns;
	key->nr = id ? who->pid : who->tid;
	key->kind = FR_MARKSPAN_OWN;
}

FR_INLINE void fr_markspan_last_key(struct fr_markspan_key *key, const struct fr_markspan_who *who, u64 name, u64 id)
{
	key->name = name;
	key->id = id;
	key->start_ns = 0;
	key->nr = who->owner;
	key->kind = FR_MARKSPAN_LAST;
}

FR_INLINE u32 fr_markspan_is_of(const struct fr_markspan *s, u32 pid, u64 start_ns)
{
	return s->pid == pid && s->start_ns == start_ns;
}

/* Note which process has begun it last; has_room: what it has begun is in the table. */
FR_INLINE void fr_markspan_note_last(void *table, const struct fr_markspan_who *who, u64 name, u64 id,
				     const struct fr_markspan *own, u32 has_room)
{
	struct fr_markspan *last;
	struct fr_markspan_key key;

	fr_markspan_last_key(&key, who, name, id);
	last = fr_markspan_find(table, &key);
	if (last && has_room && fr_markspan_is_of(last, own->pid, own->start_ns))
		return;
	if (last) /* its place is another process's */
		fr_markspan_drop(table, &key, last);
	if (has_room)
		fr_markspan_put(table, &key, own);
}

/* It begins. Returns 1; 0: there is no room for it. */
FR_INLINE u32 fr_markspan_begins(void *table, const struct fr_markspan_who *who, u64 name, u64 id, u64 now_ns)
{
	struct fr_markspan own = {.begin_ns = now_ns, .start_ns = who->start_ns, .pid = who->pid, .owner = who->owner};
	struct fr_markspan_key key;
	u32 kept;

	fr_markspan_own_key(&key, who, name, id);
	/* by its key: what was found may be another span already */
	kept = fr_markspan_again(table, &key, &own) || fr_markspan_put(table, &key, &own);
	if (id)
		fr_markspan_note_last(table, who, name, id, &own, kept);
	return kept;
}

/* Which process has begun it that this one ends. Returns 1 and *of; 0: none. */
FR_INLINE u32 fr_markspan_elsewhere(void *table, const struct fr_markspan_who *who, u64 name, u64 id,
				    struct fr_markspan_who *of)
{
	const struct fr_markspan *last;
	struct fr_markspan_key key;

	fr_markspan_last_key(&key, who, name, id);
	last = fr_markspan_find(table, &key);
	if (!last)
		return 0;
	of->start_ns = last->start_ns;
	of->pid = last->pid;
	of->owner = who->owner;
	return 1;
}

/* It ends. Returns how long it took; 0: it was not begun. */
FR_INLINE u64 fr_markspan_ends(void *table, const struct fr_markspan_who *who, u64 name, u64 id, u64 now_ns)
{
	struct fr_markspan_who of = *who;
	struct fr_markspan *own, *last;
	struct fr_markspan_key key;
	u64 begin_ns;

	fr_markspan_own_key(&key, who, name, id);
	own = fr_markspan_find(table, &key);
	if (!own && id && !fr_markspan_has_begun(table, who) && fr_markspan_elsewhere(table, who, name, id, &of)) {
		fr_markspan_own_key(&key, &of, name, id);
		own = fr_markspan_find(table, &key);
	}
	if (!own)
		return 0;
	begin_ns = fr_load(&own->begin_ns);
	if (!fr_markspan_drop(table, &key, own))
		return 0;
	if (id) {
		fr_markspan_last_key(&key, who, name, id);
		last = fr_markspan_find(table, &key);
		if (last && fr_markspan_is_of(last, of.pid, of.start_ns))
			fr_markspan_drop(table, &key, last);
	}
	return fr_lat_since(begin_ns, now_ns);
}

/* A thread ends: what it has begun under this name without an id is over. Returns how many that are. */
FR_INLINE u32 fr_markspan_thread_ends(void *table, const struct fr_markspan_who *who, u64 name)
{
	struct fr_markspan_key key;
	struct fr_markspan *own;

	fr_markspan_own_key(&key, who, name, 0);
	own = fr_markspan_find(table, &key);
	return own && fr_markspan_drop(table, &key, own);
}

#endif
