/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* trig_watch: event rules: their expressions as bytecode, the event programs they need, and the maps that these read. */
#ifndef FR_TRIG_WATCH_H
#define FR_TRIG_WATCH_H

#include "base/trigger/trigger.h"
#include "base/trigger/watch_set.h"
#include "live/session/upchoice.h"

struct bpf_object;
struct btf;
struct fr_sess;

/* The tracepoints that rules are about: each once, by its number in the session. */
struct fr_trig_tps {
	u32 cnt;
	struct {
		char system[FR_NAME_MAX + 1], name[FR_NAME_MAX + 1];
		u32 nr;
		struct fr_tp conf;
		struct fr_upfound up; /* of a program's probe; path NULL: of the kernel */
		u32 span;	      /* enum fr_markspan_mark */
	} tp[FR_TP_MAX];
};

void fr_trig_tps_free(struct fr_trig_tps *tps);

/*
 * Compile an event rule into set and have the programs of its events loaded. Returns how many events it watches; or -ENOTSUP
 * and why (why_sz bytes): it cannot be watched, or the kernel lacks all its tracepoints.
 */
int fr_trig_watch_want(struct bpf_object *obj, const struct btf *btf, struct fr_watch_set *set, const struct fr_trigger *rule,
		       u32 nr, char *why, size_t why_sz);

/* The same of a rule about a tracepoint (rule->tp), which the session has to record: its event's number and format are there.
 */
int fr_trig_watch_want_tp(const struct fr_sess *s, struct fr_trig_tps *tps, struct fr_watch_set *set,
			  const struct fr_trigger *rule, u32 nr, char *why, size_t why_sz);

/* The same of a rule about spans (rule->span): the marks that begin and end them in the files that the session records. */
int fr_trig_watch_want_spans(const struct fr_sess *s, struct fr_trig_tps *tps, char *why, size_t why_sz);

/* Before load: set the maps' sizes and sort the set. After it: fill the maps. 0 or -errno. */
int fr_trig_watch_size(struct bpf_object *obj, struct fr_watch_set *set);
int fr_trig_watch_fill(struct bpf_object *obj, const struct fr_watch_set *set);

#endif
