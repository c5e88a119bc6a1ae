/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rehearse: evaluates rules of --on on a replay: when each would have triggered, and what the live recorder would have decided.
 *
 * It shares its code with the live side: base/trigger/trigger.h and base/config/trig_rule.h parse and match rules; bpf/rule.h,
 * bpf/fatal.h and bpf/latency.h are the kernel's part of the decision; event rules use the filter that BPF's bytecode is
 * compiled from; verdicts come from base/trigger/gate.h. A rehearsal is a recorder that loads its rules when the window begins,
 * with no snapshot taken before; writing its snapshots takes no time. Each boot has a recorder of its own.
 *
 * What a file cannot answer is reported rule by rule: see fr_rehearse_notes().
 */
#ifndef FR_REHEARSE_H
#define FR_REHEARSE_H

#include "base/trigger/trigger.h"
#include "read/replay/replay.h"

struct fr_rehearse; /* opaque */

/* A moment at which a rule held and was due to be reported. Texts are valid until the call returns. */
struct fr_rehearsed {
	u32 rule;
	enum fr_trigger_verdict verdict;
	const struct fr_moment *m;
	const char *text;	    /* kernel: the line; event: the event's name; latency: of a span its name; else NULL */
	u64 shift_ns;		    /* to the replay's common time */
	const struct fr_view *view; /* of the file it came from */
};

/* Returns 0 to continue; anything else ends the rehearsal and is its result. */
typedef int (*fr_rehearsed_fn)(void *arg, const struct fr_rehearsed *r);

struct fr_rehearse_total {
	u64 matched; /* the kernel's part of the condition held */
	u64 alerted; /* of these, reported: not within the rule's gap */
	u64 verdict[FR_TRIGGER_VERDICT_CNT];
};

/* Can a rule be evaluated from these files? */
enum fr_rehearse_can {
	FR_REHEARSE_CAN,
	FR_REHEARSE_PART,     /* in part: what is missing is noted */
	FR_REHEARSE_REFUSED,  /* it was evaluated, but the live recorder would refuse the rule */
	FR_REHEARSE_CANNOT,   /* what it needs was not recorded */
	FR_REHEARSE_NO_EVENT, /* it does not depend on recorded events: psi, signal, exit, command */
};

/* The findings for a rule: `can`, and its reasons, the worst first. Texts live as long as the rehearsal. */
struct fr_rehearse_notes {
	enum fr_rehearse_can can;
	u32 cnt;
	char text[6][240];
};

/*
 * Rehearse cnt (at most FR_TRIGGER_MAX) rules against r, which was opened with names and without a filter, and has returned no
 * event yet; all must live as long as the rehearsal. 0 and *out; -ENOMEM; -errno of reading, which is reported.
 */
int fr_rehearse_new(struct fr_replay *r, const struct fr_trigger *rules, u32 cnt, struct fr_rehearse **out);
void fr_rehearse_free(struct fr_rehearse *h); /* NULL is fine */

/* Run it: call fn for each moment, in order of time. 0, what fn returned, or -errno. */
int fr_rehearse_run(struct fr_rehearse *h, fr_rehearsed_fn fn, void *arg);

/* Totals over all boots. */
void fr_rehearse_total(const struct fr_rehearse *h, u32 rule, struct fr_rehearse_total *out);

/* What could not be decided for a rule, over all boots. Lives as long as the rehearsal. */
const struct fr_rehearse_notes *fr_rehearse_notes(const struct fr_rehearse *h, u32 rule);

/*
 * The time, on the first boot's recording clock, from which the beginnings of what rules measure are known; 0: from the first
 * event on.
 */
u64 fr_rehearse_known_ns(const struct fr_rehearse *h);

#endif
