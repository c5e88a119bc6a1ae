/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * gate: may this trigger have its snapshot now? Cooldowns, deduplication, limits. Pure: it is given the time, and does nothing
 * itself; the recorder and `replay --on` use the same text.
 *
 * Asked in this order, the first that says no is the verdict: dedupe or cooldown, max, storm, busy. Keys are shared by all
 * rules: a crash of which one rule has a snapshot gives no other rule another one. The storm limit, and shares of it, do not
 * apply to a rule that has had none in its time, nor to a recorder's last snapshot.
 */
#ifndef FR_GATE_H
#define FR_GATE_H

#include "base/trigger/trigger.h"

#define FR_GATE_KEY_MAX 1024u /* keys remembered; beyond this the longest unused is forgotten */

struct fr_gate; /* opaque */

/*
 * Whose moment it is, for shares of the storm limit: no program of a user, and no user but root, gets more than half of what
 * the others have left of it. So whoever makes one program die in ever new ways leaves half of the snapshots to others, and two
 * who do so a quarter. The same program of another user is another one: anybody may let an interpreter die.
 */
struct fr_gate_from {
	u64 program; /* 0: none */
	u32 uid;     /* ~0: unknown */
};

/*
 * And for turns: of a rule whose cooldown is not by key (hung, latency, event), who has its snapshots again and again does not
 * keep others out. Whoever had none of it in this time is not refused for a cooldown that was begun by a user, or a program of
 * root, that had one before in it.
 */
#define FR_GATE_TURN_NS 600000000000ULL

#define FR_GATE_FROM_NONE ((struct fr_gate_from){.uid = ~0u})

struct fr_gate_conf {
	u32 storm_cnt; /* at most this many snapshots of all rules, and one of each that had none, ... 0: no limit */
	u64 storm_ns;  /* ... in this time */
};

/* Returns 0 and *out, to be freed; or -ENOMEM. */
int fr_gate_new(const struct fr_gate_conf *conf, struct fr_gate **out);
void fr_gate_free(struct fr_gate *g); /* NULL is fine */

/*
 * May rule t (number nr < FR_TRIGGER_MAX) have a snapshot at now_ns for a moment of this key (0: none) and program? If so, it
 * is counted as taken. busy: one is waiting or being taken. Returns FR_TRIGGER_VERDICT_taken or the reason why not.
 */
enum fr_trigger_verdict fr_gate_ask(struct fr_gate *g, const struct fr_trigger *t, u32 nr, u64 key, struct fr_gate_from from,
				    u64 now_ns, bool busy);

/* The state in which a moment is decided. */
struct fr_gate_asked {
	u64 now_ns;
	bool granted; /* another rule has its snapshot of this very moment */
	bool busy;    /* an equal one is waiting, or there is no room to wait */
};

/*
 * What becomes of a moment for which rule t held in the kernel: the rule's filters, then the gate. If two rules hold for one
 * moment, the second is told that the first one's snapshot has it.
 */
enum fr_trigger_verdict fr_gate_decide(struct fr_gate *g, const struct fr_trigger *t, u32 nr, const struct fr_moment *m,
				       const struct fr_gate_asked *asked);

/* Whose a moment is: of a task's, its program and user. */
struct fr_gate_from fr_gate_from(const struct fr_moment *m);

/*
 * What was granted to this rule and key at then_ns was not taken after all (could not be written): it does not count any more.
 * Others may have been granted since. Nothing is done if it is not known, or does not count any more.
 */
void fr_gate_undo(struct fr_gate *g, u32 nr, u64 key, u64 then_ns);

/*
 * Count snapshots of an earlier recorder, or under other limits, taken at then_ns, whatever the limits are now. Call it before
 * the first ask, oldest first. Of rule nr; of a rule that no longer exists: for the storm only.
 */
void fr_gate_count(struct fr_gate *g, u32 nr, u64 key, struct fr_gate_from from, u64 then_ns);
void fr_gate_seed(struct fr_gate *g, struct fr_gate_from from, u64 then_ns);

/* No snapshot of this key exists any more: an equal moment is no repeat. */
void fr_gate_forget(struct fr_gate *g, u64 key);

/* A reload changed the rules: rule of_nr[i] before is rule i now, -1: none. What the remaining rules had stays counted. */
void fr_gate_renumber(struct fr_gate *g, const int of_nr[FR_TRIGGER_MAX]);

#endif
