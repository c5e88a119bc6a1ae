/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ledger: what recorders of a session keep for the next one, besides struct fr_triggers. Pure; memory that outlives us.
 *
 * Words that change together. A decision about a moment changes many words: a count for each rule, a pending snapshot, the note
 * that it is handled. They are written down first, as an entry:
 *
 *	each word, as it was and as it shall be		killed here: nothing is done, the next recorder decides anew
 *	cnt: the entry is valid
 *	the words					killed here: the next one finishes it, fr_ledger_recover()
 *	cnt 0: done
 *
 * So a recorder that is killed, at any time, has done all of it or nothing. A word that is neither as it was nor as it shall be
 * is the work of another version, which knows of no ledger, and stays. Only words that user space alone writes may be in it.
 *
 * Grants. struct fr_triggers has room for the last 64 of them, the ledger for more; number i has its place in both.
 */
#ifndef FR_LEDGER_H
#define FR_LEDGER_H

#include <stdbool.h>

#include "alert.h"

#define FR_ENTRY_MAX	      (FR_TRIGGER_MAX + 8)	/* a verdict for each slot, and what changes once per moment */
#define FR_LEDGER_GRANT_MAX   4096u			/* a power of two */
#define FR_LEDGER_GRANT_KNOWN (FR_LEDGER_GRANT_MAX - 1) /* one place belongs to the next one, which may have been begun */

struct fr_change {
	u32 off; /* in struct fr_triggers */
	u32 pad;
	u64 from, to;
};

struct fr_entry {
	u32 cnt; /* 0: none */
	u32 pad;
	struct fr_change change[FR_ENTRY_MAX];
};

struct fr_ledger_grant {
	u64 nr; /* its number + 1; 0: free */
	struct fr_granted granted;
};

struct fr_ledger {
	struct fr_entry entry;
	struct fr_ledger_grant grant[FR_LEDGER_GRANT_MAX];
};

/* Note the new value of a word of tr; or an increase of its value, or of the value noted before. */
void fr_entry_set(struct fr_entry *n, struct fr_triggers *tr, u64 *word, u64 to);
void fr_entry_add(struct fr_entry *n, struct fr_triggers *tr, u64 *word, u64 more);

/* Change all words of the entry. */
void fr_ledger_commit(struct fr_ledger *l, struct fr_triggers *tr, const struct fr_entry *n);

/* Finish what an earlier recorder was killed in. Nothing in the ledger is trusted. */
void fr_ledger_recover(struct fr_ledger *l, struct fr_triggers *tr);

/* A snapshot is granted: it counts once the entry is committed. Returns where it is, for fr_ledger_find(); never 0. */
u32 fr_ledger_grant(struct fr_ledger *l, struct fr_triggers *tr, struct fr_entry *n, const struct fr_granted *g);

/* The first grant that may be known; and grant nr, if known: for nr from that one on, below tr->granted_cnt. */
u64 fr_ledger_first(const struct fr_triggers *tr);
bool fr_ledger_granted(const struct fr_ledger *l, const struct fr_triggers *tr, u64 nr, struct fr_granted *out);

/* The grant that is there, if it is still known. The place is not trusted: another process may have written it. */
bool fr_ledger_find(const struct fr_ledger *l, const struct fr_triggers *tr, u32 place, struct fr_granted *out);

/* No snapshot of this key exists any more: the next recorder is not to take an equal moment for a repeat. */
void fr_ledger_forget(struct fr_ledger *l, struct fr_triggers *tr, u64 key);

/* The snapshot granted at then_ns is not taken after all. */
void fr_ledger_give_back(struct fr_ledger *l, struct fr_triggers *tr, u32 slot, u64 then_ns);

#endif
