/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * gate: may this trigger have its snapshot now? Cooldowns, deduplication, limits. Pure: time is given, nothing is done; the
 * recorder and `replay --on` use the same text.
 *
 * Asked in this order, the first that says no is the verdict: dedupe or cooldown, max, storm, busy. Keys are of all rules: a
 * crash that one rule has a snapshot of is not another rule's. A recorder's last snapshot is not asked for the storm.
 */
#ifndef FR_GATE_H
#define FR_GATE_H

#include "pure/trigger/trigger.h"

#define FR_GATE_KEY_MAX	  1024u /* keys remembered; beyond it the longest unused is forgotten */
#define FR_GATE_STORM_CNT 30u
#define FR_GATE_STORM_NS  600000000000ULL

struct fr_gate; /* opaque */

struct fr_gate_conf {
	u32 storm_cnt; /* at most so many snapshots of all rules ... 0: no limit */
	u64 storm_ns;  /* ... in so long */
};

/* 0 and *out, to be freed; -ENOMEM. */
int fr_gate_new(const struct fr_gate_conf *conf, struct fr_gate **out);
void fr_gate_free(struct fr_gate *g); /* NULL is fine */

/* Other limits of the storm, by a reload; what was taken stays counted. 0 or -ENOMEM: the old stay. */
int fr_gate_change(struct fr_gate *g, const struct fr_gate_conf *conf);

/*
 * May rule t (of number nr < FR_TRIGGER_MAX) have a snapshot at now_ns for a moment of this key (0: none)? If so it is counted
 * as taken. busy: one is waiting or being taken. FR_TRIGGER_VERDICT_taken or why not.
 */
enum fr_trigger_verdict fr_gate_ask(struct fr_gate *g, const struct fr_trigger *t, u32 nr, u64 key, u64 now_ns, bool busy);

/* How things stand when a moment is decided about. */
struct fr_gate_asked {
	u64 now_ns;
	bool granted; /* another rule has its snapshot of this very moment */
	bool busy;    /* one of the same is waiting, or there is no room to wait */
};

/*
 * What becomes of a moment that rule t held for in the kernel: the rule's filters, then the gate. Two rules for one moment: the
 * second is told that the first one's snapshot has it.
 */
enum fr_trigger_verdict fr_gate_decide(struct fr_gate *g, const struct fr_trigger *t, u32 nr, const struct fr_moment *m,
				       const struct fr_gate_asked *asked);

/* It was not taken after all (could not be written): gives back what fr_gate_ask() counted last for this rule and key. now_ns
 * is not looked at. */
void fr_gate_undo(struct fr_gate *g, u32 nr, u64 key, u64 now_ns);

/*
 * Snapshots of an earlier recorder, or under other limits, taken at then_ns: they count, whatever the limits are now. Before
 * the first ask, oldest first. Of rule nr; of a rule that is no more, for the storm only.
 */
void fr_gate_count(struct fr_gate *g, u32 nr, u64 key, u64 then_ns);
void fr_gate_seed(struct fr_gate *g, u64 then_ns);

/* Rules were changed by a reload: rule of_nr[i] before is rule i now, -1 none. What the new rules had stays counted. */
void fr_gate_renumber(struct fr_gate *g, const int of_nr[FR_TRIGGER_MAX]);

#endif
