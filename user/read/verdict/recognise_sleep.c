/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* recognise_sleep: nobody kept the task but a time that a program had set itself. */
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

/* A sleep is as long as the program asked for: it, or whom it waited for, meant to. */
bool fr_recognise_own_sleep(struct fr_case *k)
{
	const struct fr_waited *w = k->wait;

	if (!w || !is_own_sleep(k, w))
		return false;
	fr_case_cause(k, "wait", "%s slept for %s of its own will, %s, until the time that it had asked for: nothing kept it",
		      fr_word_who(k, w->tid, w->ts), fr_word_ns(k, w->blocked_ns), fr_word_call(k, w));
	return true;
}
