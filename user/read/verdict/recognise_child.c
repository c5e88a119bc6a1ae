/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* recognise_child: a process ended with an error because one that it had started did. */
#include <signal.h>

#include "base/schema/sysnames.h"
#include "base/text/units.h"
#include "read/verdict/verdict_int.h"

#define CHILD_THEN_NS (100 * FR_MSEC_NS) /* from a child's end to its parent's: a message is written in between */
#define CHILD_DEPTH   4u
#define CHILD_SENT_NS FR_SEC_NS

/* A process that had started another one, whose end is told. */
struct child_end {
	const struct fr_clue_end *end;
	s32 pid;
};

/* The last process to end of those that this one had started; false: none did shortly before, or it is not known. */
static bool child_last(const struct fr_clues *c, s32 parent, u64 before_ns, struct child_end *out)
{
	const struct fr_clue_end *end = c->end.at;
	size_t i = c->end.cnt;

	while (i--) {
		u64 born_ns;
		u32 by;

		if (end[i].ts > before_ns)
			continue;
		if (end[i].ts + CHILD_THEN_NS < before_ns)
			return false;
		out->end = &end[i];
		out->pid = fr_clues_pid(c, end[i].tid, end[i].ts);
		by = out->pid > 0 && out->pid != parent ? fr_clues_parent(c, out->pid, end[i].ts, &born_ns) : 0;
		if (by && fr_clues_pid(c, by, born_ns) == parent)
			return true;
	}
	return false;
}

/* The last signal to a process that came shortly before its end, of this number, or of any (0); from: of that process alone. */
static const struct fr_clue_signal *child_signal(const struct fr_clues *c, const struct child_end *of, u8 sig, s32 from)
{
	const struct fr_clue_signal *s = c->signal.at;
	size_t i = c->signal.cnt;

	while (i--)
		if ((!sig || s[i].sig == sig) && !s[i].result && s[i].ts <= of->end->ts &&
		    s[i].ts + CHILD_SENT_NS >= of->end->ts && fr_clues_pid(c, s[i].target, s[i].ts) == of->pid &&
		    (!from || fr_clues_pid(c, s[i].sender, s[i].ts) == from))
			return &s[i];
	return NULL;
}

/* Did it fail, and not because its parent, about to end, ended it or does not read what it writes? */
static bool child_failed(const struct fr_clues *c, s32 parent, const struct child_end *of)
{
	return (of->end->status || of->end->sig) && of->end->sig != SIGPIPE && !child_signal(c, of, 0, parent);
}

static bool child_is_victim(const struct fr_clues *c, const struct child_end *of)
{
	const struct fr_clue_victim *v = c->victim.at;
	size_t i = c->victim.cnt;

	while (i--)
		if (v[i].ts <= of->end->ts && fr_clues_pid(c, v[i].tid, v[i].ts) == of->pid)
			return true;
	return false;
}

/* Who sent the signal that ended it; or nothing. *from: of which events, behind others. */
static const char *child_killer(struct fr_case *k, const struct child_end *of, const char **from)
{
	const struct fr_clue_signal *s = of->end->sig ? child_signal(k->c, of, of->end->sig, 0) : NULL;

	if (of->end->sig == SIGKILL && child_is_victim(k->c, of)) {
		*from = ", mark_victim";
		return ": the out-of-memory killer had chosen it";
	}
	if (!s || s->code > 0 || !s->sender || fr_clues_pid(k->c, s->sender, s->ts) == of->pid)
		return "";
	*from = ", signal_generate";
	return fr_word(k, ", sent by %s", fr_word_who(k, s->sender, s->ts));
}

/*
 * It waits for what it had started, and ends with an error of its own right after an error of the last one of these: that one's
 * end tells more. So on downwards, as from make to the shell of a rule to the program in that.
 */
bool fr_recognise_failed_child(struct fr_case *k)
{
	const struct fr_clues *c = k->c;
	s64 status = fr_case_fact(k, "trigger_status", 0);
	struct child_end of, next;
	const char *words, *killer, *from = "";
	s32 parent = c->pid;
	u64 ts = c->at_ns;
	u32 i;

	if (!c->tid || c->pid <= 0 || !c->reason || strcmp(c->reason, "exit") || status <= 0 || c->is_full ||
	    !child_last(c, parent, ts, &of) || !child_failed(c, parent, &of))
		return false;
	words = fr_word(k, "%s ended with status %lld, %s after a process that it had started, %s, had ended%s",
			fr_word_who(k, c->tid, ts), status, fr_word_ns(k, ts - of.end->ts), fr_word_who(k, of.pid, of.end->ts),
			fr_word_end(k, of.end));
	for (i = 1; i < CHILD_DEPTH && child_last(c, of.pid, of.end->ts, &next) && child_failed(c, of.pid, &next); i++) {
		words = fr_word(k, "%s, %s after one of its own, %s, had ended%s", words,
				fr_word_ns(k, of.end->ts - next.end->ts), fr_word_who(k, next.pid, next.end->ts),
				fr_word_end(k, next.end));
		of = next;
	}
	killer = child_killer(k, &of, &from);
	fr_case_cause(k, fr_word(k, "trigger, sched_process_fork, sched_process_exit%s", from), "%s%s", words, killer);
	return true;
}
