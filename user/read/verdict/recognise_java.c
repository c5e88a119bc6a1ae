/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * recognise_java: a monitor of Java (synchronized), by how its virtual machine waits for one: the first thread that does looks
 * again by itself, at first after 1 ms, then each time after eight times as long, at most a second (HotSpot's
 * ObjectMonitor::enter): after 1, 8, 64 and 512 ms, and then each second. No lock of the C library does so.
 */
#include <linux/futex.h>
#include <string.h>

#include "base/text/units.h"
#include "read/verdict/verdict_int.h"

#define LOOKS_LEAST 3u
#define LONGEST	    4		     /* the step that follows itself */
#define LATE_NS	    (5 * FR_MSEC_NS) /* a timer on a busy machine, or under a hypervisor; or an eighth of its time */
#define BETWEEN_NS  (5 * FR_MSEC_NS) /* from one look to the next sleep */

/* Its time-outs, one after the other. */
static const u64 step_ns[LONGEST + 1] = {FR_MSEC_NS, 8 * FR_MSEC_NS, 64 * FR_MSEC_NS, 512 * FR_MSEC_NS, FR_SEC_NS};

/* The longest sleep of a step. */
static u64 java_most_ns(int step)
{
	return step_ns[step] + (step_ns[step] / 8 > LATE_NS ? step_ns[step] / 8 : LATE_NS);
}

/* Whose time-out ended a sleep of this length; -1: none of them. The first sleep of a lock may be any of them: others came
 * before. */
static int java_step(u64 blocked_ns)
{
	int i;

	for (i = 0; i <= LONGEST; i++)
		if (blocked_ns >= step_ns[i] / 16 * 15 && blocked_ns <= java_most_ns(i))
			return i;
	return -1;
}

static int java_next(int step)
{
	return step < LONGEST ? step + 1 : LONGEST;
}

/* A sleep in a futex of its process, with a time-out. */
static bool java_is_timed(const struct fr_case *k, const struct fr_waited *w)
{
	char call[FR_WAITED_CALL_SZ];
	u32 op = (u32)w->arg[1] & FUTEX_CMD_MASK;

	return w->in == FR_WAITED_call && !w->abi && w->arg[1] & FUTEX_PRIVATE_FLAG && w->arg[3] &&
	       (op == FUTEX_WAIT || op == FUTEX_WAIT_BITSET) && !strcmp(fr_waited_call(w, k->c->arch, call), "futex");
}

/* One that its own time-out ended. */
static bool java_is_look(const struct fr_case *k, const struct fr_waited *w)
{
	return w->waker == FR_WAKER_timer && java_is_timed(k, w);
}

/* Does the sleep that follows this one, of such a length, belong to the same? */
static bool java_is_before(const struct fr_case *k, const struct fr_waited *of, const struct fr_waited *next)
{
	int step = java_step(of->blocked_ns);

	if (of->tid != next->tid || of->arg[0] != next->arg[0] || !java_is_look(k, of) || of->ts > fr_waited_began_ns(next) ||
	    of->ts + BETWEEN_NS < fr_waited_began_ns(next))
		return false;
	return step >= 0 && java_step(next->blocked_ns) == java_next(step);
}

/* The first of these sleeps; *cnt: how many there are, w included, *growing: of them, longer by a step than the one before. */
static const struct fr_waited *java_first(const struct fr_case *k, const struct fr_waited *w, u32 *cnt, u32 *growing)
{
	const struct fr_waited *of, *first = w;
	size_t i = k->c->wait.cnt;

	*cnt = 1;
	*growing = 0;
	while (i--) {
		of = fr_clues_wait(k->c, i);
		if (of == first || !java_is_before(k, of, first))
			continue;
		*growing += java_step(of->blocked_ns) < java_step(first->blocked_ns);
		first = of;
		++*cnt;
	}
	return first;
}

/* "; the last of the other threads to fall asleep before that, 5 ms before, was x/1, which has been in ... since"; or nothing.
 */
static const char *java_last_asleep(struct fr_case *k, const struct fr_waited *w, u64 began_ns, const char **from)
{
	const struct fr_snap_state *t;
	struct fr_still one, last = {0};
	size_t cnt, i;

	t = fr_snap_states(k->c->snap, &cnt);
	for (i = 0; i < cnt; i++)
		if (t[i].tid != w->tid && fr_states_is_last(t, cnt, i) && fr_clues_pid(k->c, t[i].tid, t[i].at_ns) == w->pid &&
		    fr_clues_still(k->c, t[i].tid, &one) && one.since_ns <= began_ns && one.since_ns > last.since_ns)
			last = one;
	if (!last.since_ns)
		return "";
	*from = ", states";
	return fr_word(
		k,
		"; of the threads of its process that have slept since before that, the last to fall asleep, %s before it, "
		"was %s, which has been %s",
		fr_word_ns(k, began_ns - last.since_ns), fr_word_who(k, last.wait.tid, last.wait.ts), fr_word_still(k, &last));
}

/* The last look before a sleep for the same that goes on, and is not longer than the next one may be; NULL: there is none. */
static const struct fr_waited *java_look_before(const struct fr_case *k, const struct fr_waited *w)
{
	const struct fr_waited *of;
	size_t i = k->c->wait.cnt;
	int step;

	if (!k->is_going || !java_is_timed(k, w))
		return NULL;
	while (i--) {
		of = fr_clues_wait(k->c, i);
		if (of->tid != w->tid || of->arg[0] != w->arg[0] || !java_is_look(k, of) || of->ts > fr_waited_began_ns(w) ||
		    of->ts + BETWEEN_NS < fr_waited_began_ns(w))
			continue;
		step = java_step(of->blocked_ns);
		return step >= 0 && w->blocked_ns <= java_most_ns(java_next(step)) ? of : NULL;
	}
	return NULL;
}

/* Could it, after this look, still sleep at a time until the next one? Not where it has waited since. */
static bool java_may_look(const struct fr_case *k, const struct fr_waited *look, u64 at_ns)
{
	int step = java_step(look->blocked_ns);
	const struct fr_waited *of;
	size_t i = k->c->wait.cnt;

	if (step < 0 || look->ts + java_most_ns(java_next(step)) + BETWEEN_NS < at_ns)
		return false;
	while (i-- && (of = fr_clues_wait(k->c, i))->ts > look->ts)
		if (of->tid == look->tid && of->ts <= at_ns)
			return false;
	return true;
}

/* "; b/2 of its process looks for another one likewise, ...": who still did at the trigger, for longest; or nothing. */
static const char *java_mate(struct fr_case *k, const struct fr_waited *w)
{
	const struct fr_waited *of, *first, *best = NULL;
	u64 at_ns = k->c->at_ns, since_ns = at_ns;
	u32 cnt, growing;
	size_t i;

	for (i = 0; (of = fr_clues_wait(k->c, i)); i++) {
		if (of->tid == w->tid || of->pid != w->pid || of->arg[0] == w->arg[0] || of->ts > at_ns ||
		    !java_is_look(k, of) || !java_may_look(k, of, at_ns))
			continue;
		first = java_first(k, of, &cnt, &growing);
		if (cnt < LOOKS_LEAST || growing + 1 < LOOKS_LEAST || fr_waited_began_ns(first) > since_ns)
			continue;
		since_ns = fr_waited_began_ns(first);
		best = of;
	}
	return best ? fr_word(k,
			      "; %s of its process has looked for another one likewise, the last time %s before: each may have "
			      "what the other waits for",
			      fr_word_who(k, best->tid, best->ts), fr_word_ns(k, at_ns - best->ts))
		    : "";
}

bool fr_recognise_java_monitor(struct fr_case *k)
{
	const struct fr_waited *w = k->wait, *first, *last;
	const char *asleep, *from = "", *now = "";
	u32 cnt, growing;

	if (!w)
		return false;
	last = w == &k->by_steps ? java_look_before(k, w) : java_is_look(k, w) ? w : NULL;
	if (!last)
		return false;
	first = java_first(k, last, &cnt, &growing);
	if (cnt < LOOKS_LEAST || growing + 1 < LOOKS_LEAST)
		return false;
	if (last != w)
		now = fr_word(k, " (and sleeps again, %s so far)", fr_word_ns(k, w->blocked_ns));
	asleep = java_mate(k, w);
	if (!*asleep)
		asleep = java_last_asleep(k, w, fr_waited_began_ns(first), &from);
	fr_case_cause(
		k, fr_word(k, "wait%s", last != w && !*from ? ", states" : from),
		"%s waits for a lock that another thread has, as Java's synchronized does (a monitor): it looked for it again "
		"by itself %u times, after %s at first, then each time after eight times as long, up to a second, the last "
		"time after %s%s, and nobody has let it in for %s; who has it is not recorded%s",
		fr_word_who(k, w->tid, w->ts), cnt, fr_word_ns(k, first->blocked_ns), fr_word_ns(k, last->blocked_ns), now,
		fr_word_ns(k, w->ts - fr_waited_began_ns(first)), asleep);
	return true;
}
