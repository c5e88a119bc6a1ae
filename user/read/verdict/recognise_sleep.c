/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* recognise_sleep: nobody kept the task but a time that a program had set itself. */
#include <string.h>

#include "base/text/list.h"
#include "base/text/units.h"
#include "read/verdict/verdict_int.h"

static bool is_own_sleep(const struct fr_case *k, const struct fr_waited *w)
{
	char call[FR_WAITED_CALL_SZ];

	if (w->in != FR_WAITED_call || fr_waited_was_runnable(w) || w->queued_ns > w->off_ns / 10 || w->waker != FR_WAKER_timer)
		return false;
	fr_waited_call(w, k->c->arch, call);
	return !strcmp(call, "clock_nanosleep") || !strcmp(call, "nanosleep");
}

#define AGAIN_LEAST 3u

/* Of the same task in the time that is looked at, this one included. */
static u32 own_sleeps(const struct fr_case *k, u32 tid)
{
	const struct fr_waited *w;
	size_t i;
	u32 cnt = 0;

	for (i = 0; (w = fr_clues_wait(k->c, i)); i++)
		cnt += w->tid == tid && w->ts >= k->c->begin_ns && w->ts <= k->c->at_ns && is_own_sleep(k, w);
	return cnt;
}

/*
 * A sleep is as long as the program asked for: it, or whom it waited for, meant to. Why it did is not known: who tries again
 * and again for what it does not get, as a lock of a database's file, sleeps in between.
 */
bool fr_recognise_own_sleep(struct fr_case *k)
{
	const struct fr_waited *w = k->wait;
	u32 cnt;

	if (!w || !is_own_sleep(k, w))
		return false;
	cnt = own_sleeps(k, w->tid);
	fr_case_cause(k, "wait", "%s slept for %s of its own will, %s, until the time that it had asked for%s%s",
		      fr_word_who(k, w->tid, w->ts), fr_word_ns(k, w->blocked_ns), fr_word_call(k, w), fr_word_loop(k, w),
		      cnt >= AGAIN_LEAST ? fr_word(k,
						   ": it slept so at least %u times in the %s before, as who tries again and "
						   "again for something, or does something every so often",
						   cnt, fr_word_ns(k, k->c->at_ns - k->c->begin_ns))
					 : "");
	return true;
}

/* ---- an event loop's timer ---- */

#define TIMER_LEAST_NS (5 * FR_MSEC_NS)
#define TIMER_THEN_NS  (10 * FR_MSEC_NS) /* from the timer to what the program does then */

/*
 * Who has an event loop, or a runtime that has one (Go, node), sleeps in that until a timer of its own, and then goes on with
 * what somebody waits for. Of the trigger's own task, that is how it waits for work.
 */
bool fr_recognise_own_timer(struct fr_case *k)
{
	static const char *const calls[] = {"epoll_wait", "epoll_pwait", "epoll_pwait2", "poll",
					    "ppoll",	  "select",	 "pselect6",	 NULL};
	const struct fr_waited *w = k->wait, *of = k->behind;
	char call[FR_WAITED_CALL_SZ];
	u64 woke_ns;

	if (!w || !of || w->in != FR_WAITED_call || w->state != FR_PREV_STATE_SLEEPING || w->blocked_ns < TIMER_LEAST_NS ||
	    w->queued_ns > w->off_ns / 10 || w->waker != FR_WAKER_timer ||
	    !fr_is_one_of(fr_waited_call(w, k->c->arch, call), calls))
		return false;
	woke_ns = fr_waited_woken_ns(of);
	if (w->ts > woke_ns || w->ts + TIMER_THEN_NS < woke_ns)
		return false;
	fr_case_cause(
		k, "wait",
		"%s went on only after a timer of its own, as of a sleep, of a pause before another try, or of a time limit: "
		"it waited for that for %s %s",
		fr_word_who(k, w->tid, w->ts), fr_word_ns(k, w->blocked_ns), fr_word_call(k, w));
	return true;
}
