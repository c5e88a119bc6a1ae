/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rehearse: rules of --on against a replay: when each would have pulled, and what the live recorder would have decided.
 *
 * One text with the live side: rules are parsed and matched by pure/trigger/trigger.h and io/trig/trig_rule.h, the kernel's
 * part of the decision is bpf/rule.h, bpf/fatal.h and bpf/latency.h, event rules are the filter that BPF's bytecode is compiled
 * from, and verdicts come from pure/trigger/gate.h. A rehearsal is a recorder whose rules were loaded, with nothing taken
 * before, when the window begins; its snapshots take no time to write. Each boot has a recorder of its own.
 *
 * What a file cannot say is said, rule by rule: see fr_rehearse_notes().
 */
#ifndef FR_REHEARSE_H
#define FR_REHEARSE_H

#include "flow/replay/replay.h"
#include "pure/trigger/trigger.h"

struct fr_rehearse; /* opaque */

/* A moment for which a rule held, and was due to be told. Texts live until the call returns. */
struct fr_rehearsed {
	u32 rule;
	enum fr_trigger_verdict verdict;
	const struct fr_moment *m;
	const char *text;	    /* kernel: the line; event: the event's name; else NULL */
	u64 shift_ns;		    /* to the replay's common time */
	const struct fr_view *view; /* of the file it came from */
};

/* 0 to go on; anything else ends the rehearsal and is its result. */
typedef int (*fr_rehearsed_fn)(void *arg, const struct fr_rehearsed *r);

struct fr_rehearse_total {
	u64 matched; /* the kernel's part of the condition held */
	u64 alerted; /* of these, told: not within the rule's gap */
	u64 verdict[FR_TRIGGER_VERDICT_CNT];
};

/* Can a rule be evaluated from these files? */
enum fr_rehearse_can {
	FR_REHEARSE_CAN,
	FR_REHEARSE_PART,     /* in part: what is missing is noted */
	FR_REHEARSE_REFUSED,  /* it was evaluated, but the live recorder would refuse the rule */
	FR_REHEARSE_CANNOT,   /* what it needs was not recorded */
	FR_REHEARSE_NO_EVENT, /* it is about nothing that is recorded at all: psi, signal, exit, command */
};

/* A rule's findings: `can`, and the worst of its reasons first. Texts live as long as the rehearsal. */
struct fr_rehearse_notes {
	enum fr_rehearse_can can;
	u32 cnt;
	char text[6][240];
};

/*
 * cnt (FR_TRIGGER_MAX at most) rules against r, of which no event was taken yet, opened with names and without a filter; all
 * must live as long as the rehearsal. 0 and *out; -ENOMEM; -errno of reading, said.
 */
int fr_rehearse_new(struct fr_replay *r, const struct fr_trigger *rules, u32 cnt, struct fr_rehearse **out);
void fr_rehearse_free(struct fr_rehearse *h); /* NULL is fine */

/* All of it: fn for each moment, in order of time. 0, what fn returned, or -errno. */
int fr_rehearse_run(struct fr_rehearse *h, fr_rehearsed_fn fn, void *arg);

/* Sums of all boots. */
void fr_rehearse_total(const struct fr_rehearse *h, u32 rule, struct fr_rehearse_total *out);

const struct fr_rehearse_notes *fr_rehearse_notes(const struct fr_rehearse *h, u32 rule);

/* From when on, recording clock of the first boot, beginnings of what rules measure are known; 0: from the first event on. */
u64 fr_rehearse_known_ns(const struct fr_rehearse *h);

#endif
