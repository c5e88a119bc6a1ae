/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/schema/facts.h"
#include "base/text/memfile.h"
#include "live/snapshot/dump.h"
#include "live/watch/holdwatch_int.h"

/* What the rules are asked about, and what the snapshot says. */
struct about {
	struct fr_holdwatch *w;
	const struct fr_holdoff *h;
	struct fr_holdwatch_ran who; /* the culprit */
	struct fr_moment moment;
	u64 asked_ns; /* the time passed to the gate */
};

static struct about about(struct fr_holdwatch *w, const struct fr_holdoff *h)
{
	struct about a = {.w = w, .h = h, .who = {.pid = -1}};

	if (h->ran_cnt)
		fr_holdwatch_name(w, h, 0, &a.who);
	a.moment = (struct fr_moment){
		.kind = FR_TRIGGER_holdoff,
		.ts = h->at_ns,
		.tid = a.who.tid,
		.pid = a.who.pid > 0 ? a.who.pid : 0,
		.uid = ~0u,
		.value_ns = h->length_ns,
	};
	return a;
}

static char *facts(const struct about *a, u32 nr)
{
	const struct fr_holdwatch_ask *ask = a->w->ask;
	const struct fr_trigger *t = &ask->rule[nr];
	struct fr_memfile m;
	FILE *f = fr_memfile_open(&m);
	char name[32];
	u32 i;

	if (!f)
		return NULL;
	fr_facts_put_text(f, "trigger_rule", t->text);
	fr_facts_put(f, "trigger_rule_nr", "%u", nr);
	if (a->moment.tid)
		fr_facts_put(f, "trigger_tid", "%u", a->moment.tid);
	fr_facts_put(f, "trigger_value_ns", "%llu", a->h->length_ns);
	fr_facts_put(f, "trigger_limit_ns", "%llu", t->limit_ns);
	fr_facts_put(f, "trigger_text", "cpu %u was not available for %llu ns: %s", a->h->cpu, a->h->length_ns,
		     a->h->ran_cnt ? a->who.text : "what ran is not known");
	fr_facts_put(f, "rule_cnt", "%u", ask->rule_cnt);
	for (i = 0; i < ask->rule_cnt; i++) {
		snprintf(name, sizeof(name), "rule_%u", i);
		fr_facts_put_text(f, name, ask->rule[i].text);
	}
	return fr_memfile_end(&m, NULL);
}

/* 0 and the path in *done, or -errno, reported. */
static int holdwatch_take_take(const struct about *a, u32 nr, struct fr_dump_done *done)
{
	const struct fr_dump_ask ask = {
		.dir = a->w->ask->sess.dir,
		.reason = fr_trigger_reason(FR_TRIGGER_holdoff),
		.comm = *a->who.comm ? a->who.comm : NULL,
		.pid = a->moment.pid,
		.last_ns = a->w->ask->rule[nr].last_ns,
		.at_ns = a->h->at_ns,
		.facts = facts(a, nr),
	};
	int err = fr_dump(a->w->sess.take, &ask, done);

	free((char *)ask.facts);
	return err;
}

static void holdwatch_take_mark(const struct about *a, u32 nr, u32 verdict)
{
	const struct fr_sess_trigger t = {
		.reason = fr_trigger_reason(FR_TRIGGER_holdoff),
		.tid = a->moment.tid,
		.at_ns = a->h->at_ns,
		.rule = nr,
		.verdict = verdict,
	};
	u64 ts;

	fr_sess_mark_trigger(a->w->sess.take, &t, &ts);
}

/* Does this moment have a snapshot now? */
static bool act(struct about *a, u32 nr, u32 verdict, u64 key, const struct fr_holdwatch_printer *p)
{
	struct fr_holdwatch_snapshot told = {.rule = a->w->ask->rule[nr].text, .verdict = fr_trigger_verdict_name(verdict)};
	struct fr_dump_done *done;
	int err;

	holdwatch_take_mark(a, nr, verdict);
	if (verdict != FR_TRIGGER_VERDICT_taken) {
		p->snapshot(a->w, &told);
		return false;
	}
	done = malloc(sizeof(*done));
	err = done ? holdwatch_take_take(a, nr, done) : -ENOMEM;
	if (err) {
		a->w->failed_cnt++;
		fr_gate_undo(a->w->gate, nr, key, a->asked_ns);
		told.verdict = fr_trigger_verdict_name(FR_TRIGGER_VERDICT_failed);
	} else {
		a->w->snapshot_cnt++;
		told.file = done->path;
	}
	p->snapshot(a->w, &told);
	free(done);
	return !err;
}

void fr_holdwatch_take(struct fr_holdwatch *w, const struct fr_holdoff *h, const struct fr_holdwatch_printer *p)
{
	struct about a = about(w, h);
	bool granted = false;
	u32 i;

	a.moment.comm = *a.who.comm ? a.who.comm : a.who.what ?: "";
	for (i = 0; i < w->ask->rule_cnt; i++) {
		const struct fr_trigger *t = &w->ask->rule[i];
		const struct fr_gate_asked asked = {.now_ns = fr_holdsess_now(&w->sess), .granted = granted};
		u32 verdict;

		if (!fr_trigger_match(t, &a.moment))
			continue;
		a.asked_ns = asked.now_ns;
		verdict = fr_gate_decide(w->gate, t, i, &a.moment, &asked);
		granted |= act(&a, i, verdict, fr_trigger_key(&a.moment), p);
	}
}
