/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * verdict_chain: from the trigger's task backwards through waits, and what was ruled out.
 *
 *	A waited for B	while B waited for C	while C ran		a link each; the last says what ran, or what
 *			(most of A's wait)				nobody's doing ended the wait: a timer, an interrupt
 *
 * A waker is what a wait was for only as long as it was busy with something itself: what it did before that is another story.
 */
#include <signal.h>
#include <stdio.h>

#include "base/schema/sysnames.h"
#include "base/set/hash.h"
#include "base/text/units.h"
#include "read/verdict/changes.h"
#include "read/verdict/verdict_int.h"

/* ---- the chain ---- */

static void link_wait(struct fr_case *k, const struct fr_waited *w)
{
	const char *queued = w->queued_ns >= FR_MSEC_NS && !fr_waited_was_runnable(w) ? fr_word_ns(k, w->queued_ns) : NULL;

	const char *place = w == &k->by_steps || w == &k->by_rounds ? fr_word_place(k, w) : "";
	const struct fr_clue_signal *sig = w->waker == FR_WAKER_task ? fr_case_ended_by_signal(k, w) : NULL;
	const char *signal = sig ? fr_signal_name(sig->sig) : NULL;

	fr_case_link(k, w == k->wait ? k->wait_from : "wait", "%s %s %s %s%s%s%s%s%s, %s%s%s%s%s%s",
		     fr_word_who(k, w->tid, w->ts), w->state & FR_PREV_STATE_STOPPED ? "was stopped (T) for" : "waited",
		     fr_word_ns(k, w->off_ns), fr_word_call(k, w), fr_word_object(k, w), fr_word_owner(k, w),
		     fr_word_rounds(k, w), *place ? ", in " : "", place, fr_word_ender(k, w),
		     signal ? fr_word(k, " (%s)", signal) : "", queued ? ", of it " : "", queued ?: "",
		     queued ? " for a CPU" : "", w == k->wait ? "" : fr_word_loop(k, w));
}

/* What a program did on the CPU, if most of its samples tell: a kernel worker's work, a softirq; NULL: not known. */
static const char *doing(struct fr_case *k, const struct fr_clue_program *p, u64 to_ns)
{
	struct fr_whose who = {.program = p->key, .from_ns = k->c->begin_ns, .to_ns = to_ns};
	u32 cnt, all;
	const char *name = fr_case_hot(k, &who, fr_sample_work, &cnt, &all);

	if (name && cnt * 2 > all)
		return name;
	name = fr_case_hot(k, &who, fr_sample_softirq, &cnt, &all);
	return name && cnt * 2 > all ? name : NULL;
}

#define DOING_LEAST 5u /* samples */

/* What the kernel did for a program: a name, and how many of its samples say so; one in `part` of them at least. */
struct part {
	fr_sample_fn name_of;
	const char *before;
	u32 part;
};

/* Each that many of its samples are in: a kernel worker's work, a system call, a softirq. */
static void tell_parts(struct fr_case *k, struct fr_change *ch)
{
	static const struct part parts[] = {
		{fr_sample_work, "", 3}, {fr_sample_call, "", 2}, {fr_sample_softirq, "softirq ", 5}};
	struct fr_whose who = {.program = fr_hash(FR_HASH_SEED, ch->program, strlen(ch->program)) ?: 1,
			       .from_ns = k->c->begin_ns,
			       .to_ns = k->c->at_ns};
	size_t i, len = 0;
	u32 cnt, all;

	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		const char *name = fr_case_hot(k, &who, parts[i].name_of, &cnt, &all);

		if (name && cnt >= DOING_LEAST && cnt * parts[i].part >= all && len < sizeof(ch->doing))
			len += snprintf(ch->doing + len, sizeof(ch->doing) - len, "%s%s%.28s in %u of %u samples",
					len ? ", " : "", parts[i].before, name, cnt, all);
	}
}

int fr_verdict_tell_doing(const struct fr_clues *c, struct fr_changes *g)
{
	struct fr_case *k = calloc(1, sizeof(*k));
	bool failed;
	u32 i;

	if (!k)
		return -ENOMEM;
	k->c = c;
	for (i = 0; i < g->sum.cnt; i++) {
		struct fr_change *ch = fr_tally_at(&g->sum, i);

		if (ch->of == FR_CHANGE_CPU && ch->last)
			tell_parts(k, ch);
	}
	failed = k->failed;
	free(k);
	return failed ? -ENOMEM : 0;
}

#define PROGRAMS_SHOWN 3u

/* It was queued: which programs had the CPU meanwhile. */
static void link_cpu(struct fr_case *k, u32 cpu, u64 from_ns, u64 to_ns)
{
	char text[FR_VERDICT_TEXT_SZ] = "";
	struct fr_tally t;
	bool sampled = false;
	size_t len = 0;
	u64 known_ns = 0;
	u32 i, shown = 0;

	if (!fr_clues_covers_most(k->c, cpu, from_ns, to_ns))
		return;
	if (fr_clues_programs(k->c, cpu, from_ns, to_ns, &t)) {
		k->failed = true;
		return;
	}
	for (i = 0; i < t.cnt && shown < PROGRAMS_SHOWN && len < sizeof(text); i++) {
		const struct fr_clue_program *p = fr_tally_at(&t, i);
		const char *name = p->key ? doing(k, p, to_ns) : NULL;

		if (shown && p->ns < (to_ns - from_ns) / 100) /* there are always some */
			break;
		len += snprintf(text + len, sizeof(text) - len, "%s%s %s%s%s", shown++ ? ", " : "",
				p->key ? fr_word_comm(k, p->tid, p->ts) : "idle", fr_word_ns(k, p->ns), name ? " in " : "",
				name ? fr_word_text(k, name, strlen(name)) : "");
		sampled |= name != NULL;
	}
	for (i = 0; i < t.cnt; i++)
		known_ns += ((const struct fr_clue_program *)fr_tally_at(&t, i))->ns;
	fr_case_link(k, sampled ? "sched_switch, cpu_sample" : "sched_switch", "CPU %u had, of these %s: %s%s%s%s", cpu,
		     fr_word_ns(k, to_ns - from_ns), text, shown < t.cnt && shown == PROGRAMS_SHOWN ? ", others" : "",
		     known_ns < to_ns - from_ns ? "; whom is not known for " : "",
		     known_ns < to_ns - from_ns ? fr_word_ns(k, to_ns - from_ns - known_ns) : "");
	fr_tally_free(&t);
}

/* What woke it had no long wait: did it run? */
static void link_run(struct fr_case *k, u32 tid, u64 from_ns, u64 to_ns)
{
	u64 ran_ns;

	if (!fr_clues_covers_most(k->c, FR_CLUES_ALL_CPUS, from_ns, to_ns))
		return;
	ran_ns = fr_clues_ran(k->c, tid, from_ns, to_ns);
	if (ran_ns >= (to_ns - from_ns) / 10)
		fr_case_link(k, "sched_switch", "%s ran meanwhile, for %s of these %s", fr_word_who(k, tid, to_ns),
			     fr_word_ns(k, ran_ns), fr_word_ns(k, to_ns - from_ns));
}

/* What woke it had many waits meanwhile, none of which took most of that time. */
static void link_turns(struct fr_case *k, const struct fr_waited *w)
{
	struct fr_turns t;

	if (fr_case_turns(k, w, &t))
		fr_case_link(k, "wait", "%s had at least %u waits %s meanwhile, %s of these %s", fr_word_who(k, t.tid, w->ts),
			     t.cnt, fr_word_call(k, t.longest), fr_word_ns(k, t.ns), fr_word_ns(k, t.all_ns));
}

/* It goes on: for whom, who waits, too, and so on. */
static void link_going(struct fr_case *k)
{
	struct fr_waited w = *k->wait;
	struct fr_seen seen = {0};
	struct fr_still s;
	const char *place;

	while (k->v->chain_cnt < FR_VERDICT_LINK_MAX && fr_case_goes_on_for(k, &w, &s) && fr_seen_add(&seen, s.wait.tid)) {
		w = s.wait;
		place = fr_word_place(k, &w);
		fr_case_link(k, "states", "%s has %s for %s %s%s%s%s%s, and goes on", fr_word_who(k, w.tid, w.ts),
			     w.state & FR_PREV_STATE_STOPPED ? "been stopped (T)" : "waited", fr_word_ns(k, w.off_ns),
			     fr_word_call(k, &w), fr_word_object(k, &w), fr_word_owner(k, &w), *place ? ", in " : "", place);
	}
}

#define CHILD_BEFORE_NS FR_SEC_NS /* from a child's death to a wait that goes on, and from the signal to that */

/* When a process ended by a signal, within a time after ts; 0: it did not, or it is not known. */
static u64 chain_end_ns(const struct fr_clues *c, s32 pid, u8 sig, u64 ts)
{
	const struct fr_clue_end *end = c->end.at;
	size_t i;

	for (i = 0; i < c->end.cnt; i++)
		if (end[i].ts >= ts && end[i].ts <= ts + CHILD_BEFORE_NS && end[i].sig == sig &&
		    fr_clues_pid(c, end[i].tid, end[i].ts) == pid)
			return end[i].ts;
	return 0;
}

/*
 * It waits, and goes on: a child of its process was killed about when that began, or since. What it did for its parent it does
 * no more, as one of a pool of workers.
 */
static void link_killed_child(struct fr_case *k)
{
	const struct fr_clues *c = k->c;
	const struct fr_clue_signal *s = c->signal.at;
	size_t i = c->signal.cnt;

	while (i--) {
		s32 pid = fr_clues_pid(c, s[i].target, s[i].ts);
		u32 parent = pid > 0 ? fr_clues_parent(c, pid, s[i].ts, NULL) : 0;
		bool is_killing = s[i].sig == SIGKILL || s[i].sig == SIGSEGV || s[i].sig == SIGABRT || s[i].sig == SIGBUS;
		u64 end_ns;

		if (!is_killing || s[i].result || s[i].ts > c->at_ns ||
		    s[i].ts + CHILD_BEFORE_NS < fr_waited_began_ns(k->wait) || !parent || pid == k->wait->pid ||
		    fr_clues_pid(c, parent, s[i].ts) != k->wait->pid)
			continue;
		end_ns = chain_end_ns(c, pid, s[i].sig, s[i].ts);
		if (!end_ns || end_ns > c->at_ns)
			continue;
		fr_case_link(k, "signal_generate, sched_process_exit",
			     "%s, which the process of %s had started, ended %s before the trigger, %s after %s of %s",
			     fr_word_who(k, pid, s[i].ts), fr_word_comm(k, k->wait->tid, k->wait->ts),
			     fr_word_ns(k, c->at_ns - end_ns), fr_word_ns(k, end_ns - s[i].ts), fr_signal_name(s[i].sig),
			     s[i].code <= 0 && s[i].sender ? fr_word_who(k, s[i].sender, s[i].ts) : "the kernel");
		return;
	}
}

/* It ended itself: which of its calls had failed. */
static void link_failed(struct fr_case *k)
{
	const struct fr_clues *c = k->c;
	const char *lack = fr_word_failed(k, &c->lack);
	bool is_other = c->failed.ts > c->lack.ts && (c->failed.id != c->lack.id || c->failed.error != c->lack.error);
	const char *last = is_other ? fr_word_failed(k, &c->failed) : NULL;

	if (lack)
		fr_case_link(k, "call_failed", "%s of %s failed %s before the end", lack, fr_word_who(k, c->lack.tid, c->at_ns),
			     fr_word_ns(k, c->at_ns - c->lack.ts));
	if (last)
		fr_case_link(k, "call_failed", "%s of %s %s %s before the end%s", last, fr_word_who(k, c->failed.tid, c->at_ns),
			     lack ? "came" : "failed", fr_word_ns(k, c->at_ns - c->failed.ts),
			     fr_case_is_telling(k, &c->failed) ? "" : ", which may have been an everyday answer");
}

void fr_case_chain(struct fr_case *k)
{
	const struct fr_waited *w = k->wait;

	link_failed(k);
	while (w && k->v->chain_cnt < FR_VERDICT_LINK_MAX) {
		const struct fr_waited *next = NULL;

		link_wait(k, w);
		if (w->queued_ns >= w->off_ns / 2 || (w == k->wait && fr_case_asks_for_queue(k))) {
			link_cpu(k, w->cpu, fr_waited_woken_ns(w), w->ts);
		} else if (w->waker == FR_WAKER_task && w->waker_pid && w->waker_pid != w->tid) {
			/* who sends a signal ends the wait: it was for something else, unless it was for signals */
			if (!fr_case_is_for_signal(k, w) && fr_case_ended_by_signal(k, w))
				break;
			next = fr_case_wait_of_waker(k, w);
			if (!next) {
				link_run(k, w->waker_pid, fr_waited_began_ns(w), fr_waited_woken_ns(w));
				link_turns(k, w);
			}
		}
		w = next;
	}
	if (k->wait && k->wait == &k->by_steps && k->is_going) {
		link_going(k);
		link_killed_child(k);
	}
}

/* ---- what it was not ---- */

static void rule_out_for_wait(struct fr_case *k)
{
	const struct fr_waited *w = k->wait;

	if (fr_case_asks_for_queue(k)) /* of the rest of the wait nothing was asked */
		return;
	if (fr_waited_was_runnable(w))
		fr_case_not(k, k->wait_from, "a lock, a disk or a peer (it was runnable)");
	else if (w->queued_ns < w->off_ns / 20)
		fr_case_not(k, k->wait_from, "a want of a CPU of %s's own (queued for %s of %s)",
			    fr_word_comm(k, w->tid, w->ts), fr_word_ns(k, w->queued_ns), fr_word_ns(k, w->off_ns));
	else if (w->queued_ns > w->off_ns / 20 * 19)
		fr_case_not(k, k->wait_from, "a lock, a disk or a peer (asleep for %s of %s)", fr_word_ns(k, w->blocked_ns),
			    fr_word_ns(k, w->off_ns));
	if (w->state == FR_PREV_STATE_SLEEPING && w->queued_ns < w->off_ns / 2)
		fr_case_not(k, k->wait_from, "a wait that no signal can end (its state was S, not D)");
}

static bool chain_is_reason(const struct fr_case *k, const char *reason)
{
	return k->c->reason && !strcmp(k->c->reason, reason);
}

static void rule_out_for_death(struct fr_case *k)
{
	const struct fr_clues *c = k->c;
	s64 code = fr_case_fact(k, "trigger_code", 0);

	if (c->has[FR_CLUE_VICTIM] && !c->victim.cnt && !c->is_full && c->life_ns && c->life_ns < c->at_ns)
		fr_case_not(k, "mark_victim", "the out-of-memory killer (it chose nobody in the %s before)",
			    fr_word_ns(k, c->at_ns - c->life_ns));
	if (chain_is_reason(k, "crash") && code > 0 && code != 0x80)
		fr_case_not(k, "trigger", "a signal from another process (its code is of the task's own fault)");
}

void fr_case_rule_out(struct fr_case *k)
{
	if (k->wait && !chain_is_reason(k, "crash") && !chain_is_reason(k, "oom"))
		rule_out_for_wait(k);
	if (chain_is_reason(k, "crash") || chain_is_reason(k, "exit"))
		rule_out_for_death(k);
	if (k->c->tid && k->c->switch_cnt && fr_clues_covers(k->c, FR_CLUES_ALL_CPUS, k->c->begin_ns, k->c->at_ns))
		fr_case_not(k, "sched_switch", "missing events (each CPU's switches of the %s before are there)",
			    fr_word_ns(k, k->c->at_ns - k->c->begin_ns));
}
