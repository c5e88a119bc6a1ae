/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* recognise_signal: signals that stopped a task, and signals by the thousand. */
#include <signal.h>
#include <string.h>

#include "base/schema/sysnames.h"
#include "base/set/hash.h"
#include "base/text/units.h"
#include "read/verdict/verdict_int.h"

/* ---- stopped ---- */

#define STOPS_NS FR_SEC_NS /* from a signal to the stop of its receiver, at most */

/* The signal that stopped a task which was stopped from then on; NULL: not known. */
static const struct fr_clue_signal *stop_of(const struct fr_clues *c, const struct fr_waited *w)
{
	const struct fr_clue_signal *s = c->signal.at;
	size_t i = c->signal.cnt;

	while (i--)
		if ((s[i].sig == SIGSTOP || s[i].sig == SIGTSTP || s[i].sig == SIGTTIN || s[i].sig == SIGTTOU) &&
		    s[i].ts <= fr_waited_began_ns(w) && s[i].ts + STOPS_NS >= fr_waited_began_ns(w) && !s[i].result &&
		    (s[i].target == w->tid || fr_clues_pid(c, s[i].target, s[i].ts) == w->pid))
			return &s[i];
	return NULL;
}

/* Who sent it. The kernel does in the name of whoever runs: of the task itself, or of who typed at its terminal. */
static const char *stop_sender(struct fr_case *k, const struct fr_clue_signal *s)
{
	if (s->code != SI_KERNEL)
		return fr_word_who(k, s->sender, s->ts);
	switch (s->sig) {
	case SIGTTIN:
		return "the kernel (who reads its terminal in the background is sent that)";
	case SIGTTOU:
		return "the kernel (who writes to its terminal in the background, or sets it, is sent that)";
	case SIGTSTP:
		return "its terminal (as by ^Z)";
	case SIGSTOP: /* in the name of the tracer */
		return s->sender ? fr_word(k, "%s, as PTRACE_ATTACH sends it", fr_word_who(k, s->sender, s->ts)) : "the kernel";
	default:
		return "the kernel";
	}
}

/* ---- stopped processes beside it ---- */

/* The one process that is stopped when the file is made: a task of it; NULL: none, or several are. */
static const struct fr_snap_state *stopped_one(const struct fr_clues *c)
{
	const struct fr_snap_state *one = NULL;
	size_t cnt, i;
	const struct fr_snap_state *t = fr_snap_states(c->snap, &cnt);

	for (i = 0; i < cnt; i++) {
		if (!(t[i].state & FR_PREV_STATE_STOPPED) || t[i].at_ns < c->at_ns)
			continue;
		if (one && fr_clues_pid(c, t[i].tid, t[i].at_ns) != fr_clues_pid(c, one->tid, one->at_ns))
			return NULL;
		one = one ?: &t[i];
	}
	return one;
}

/* Has a process ended a wait of this task, the last one or an earlier one? */
static bool has_woken(const struct fr_clues *c, u32 tid, s32 pid)
{
	const struct fr_snap_state *t = fr_states_of(c->snap, tid);
	const struct fr_waited *w;
	size_t i;

	if (t && t->waker == FR_WAKER_task && t->waker_tid && fr_clues_pid(c, t->waker_tid, t->woken_ns ?: t->at_ns) == pid)
		return pid > 0;
	for (i = 0; (w = fr_clues_wait(c, i)); i++)
		if (w->tid == tid && w->waker == FR_WAKER_task && w->waker_pid &&
		    fr_clues_pid(c, w->waker_pid, fr_waited_woken_ns(w)) == pid)
			return pid > 0;
	return false;
}

/* A shell's job may be stopped (^Z) beside any wait: it is told of what somebody stopped by SIGSTOP, or what has served w. */
const char *fr_word_stopped(struct fr_case *k, const struct fr_waited *w, const char **from)
{
	const struct fr_snap_state *one = stopped_one(k->c);
	const struct fr_clue_signal *s;
	struct fr_still still;
	bool knows_states = strstr(k->wait_from, "states");

	if (!one)
		return "";
	s = fr_clues_still(k->c, one->tid, &still) ? stop_of(k->c, &still.wait) : NULL;
	if (!(s && s->sig == SIGSTOP) && !has_woken(k->c, w->tid, fr_clues_pid(k->c, one->tid, one->at_ns)))
		return "";
	*from = s && knows_states ? ", signal_generate" : s ? ", states, signal_generate" : knows_states ? "" : ", states";
	if (!s)
		return fr_word(k, "; %s is stopped (T)", fr_word_who(k, one->tid, one->at_ns));
	return fr_word(k, "; %s is stopped (T), by %s of %s", fr_word_who(k, one->tid, one->at_ns), fr_signal_name(s->sig),
		       stop_sender(k, s));
}

/* PTRACE_ATTACH stops by SIGSTOP, in the tracer's name; PTRACE_SEIZE by none. */
const char *fr_word_tracer(struct fr_case *k, const struct fr_waited *w, const char **from)
{
	const struct fr_clue_signal *s = w->state & FR_PREV_STATE_TRACED ? stop_of(k->c, w) : NULL;

	if (!s || s->sig != SIGSTOP || !s->sender)
		return "";
	*from = ", signal_generate";
	return fr_word(k, "; SIGSTOP of %s came right before that", fr_word_who(k, s->sender, s->ts));
}

/*
 * Nobody has ended the wait yet, and one process stands still, as somebody stopped it: it ended waits of this one before; or it
 * is the only one of the host, and for whom this one waits is not recorded.
 */
static bool tell_stopped_peer(struct fr_case *k)
{
	const struct fr_snap_state *one = k->is_going ? stopped_one(k->c) : NULL;
	const struct fr_waited *w = k->wait;
	const struct fr_clue_signal *s;
	const char *from, *who, *how;
	struct fr_still still;
	s32 pid;

	if (!one || w != &k->by_steps || !fr_clues_still(k->c, one->tid, &still))
		return false;
	pid = fr_clues_pid(k->c, one->tid, one->at_ns);
	s = stop_of(k->c, &still.wait);
	if (!s || s->sig != SIGSTOP || !s->sender || pid == w->pid)
		return false;
	from = fr_word(k, "%s%s, signal_generate", k->wait_from, strstr(k->wait_from, "states") ? "" : ", states");
	who = fr_word_who(k, one->tid, one->at_ns);
	how = fr_word(k, "stopped %s before the trigger, by SIGSTOP of %s, and still is",
		      fr_word_ns(k, k->c->at_ns - fr_waited_began_ns(&still.wait)), fr_word_who(k, s->sender, s->ts));
	if (has_woken(k->c, w->tid, pid)) {
		fr_case_cause(k, from, "%s was %s: before that it had woken %s, which waits %s%s for %s so far", who, how,
			      fr_word_comm(k, w->tid, w->ts), fr_word_call(k, w), fr_word_object(k, w),
			      fr_word_ns(k, w->off_ns));
		return true;
	}
	if (w->object_len || !fr_case_is_for_untold(k, w) || !fr_states_are_all(k->c->snap) ||
	    fr_waited_began_ns(&still.wait) > fr_waited_began_ns(w) + w->off_ns / 4 || fr_case_has_stuck_loop(k, w))
		return false; /* that loop is nearer to it: blocked_loop tells both */
	fr_case_cause(k, from,
		      "while %s waits %s%s, for %s so far (for whom is not recorded), one process of the host stands still: %s "
		      "was %s",
		      fr_word_who(k, w->tid, w->ts), fr_word_call(k, w), fr_word_object(k, w), fr_word_ns(k, w->off_ns), who,
		      how);
	return true;
}

/* It was stopped, or who should have woken it was, and so on. */
bool fr_recognise_stopped(struct fr_case *k)
{
	const struct fr_waited *w = k->wait;
	const struct fr_clue_signal *s;
	u32 i;

	for (i = 0; w && !(w->state & FR_PREV_STATE_STOPPED) && i < FR_VERDICT_LINK_MAX; i++)
		w = w->waker == FR_WAKER_task && w->waker_pid && w->waker_pid != w->tid ? fr_case_wait_of_waker(k, w) : NULL;
	s = w && w->state & FR_PREV_STATE_STOPPED ? stop_of(k->c, w) : NULL;
	if (!s || !s->sender)
		return !w && tell_stopped_peer(k);
	fr_case_cause(k, fr_word(k, "%s, signal_generate", w == &k->by_steps ? k->wait_from : "wait"),
		      "%s was stopped for %s, %s: %s came from %s%s%s", fr_word_who(k, w->tid, w->ts), fr_word_ns(k, w->off_ns),
		      fr_word_ender(k, w), fr_signal_name(s->sig), stop_sender(k, s),
		      w == k->wait ? "" : "; so long it did not answer ",
		      w == k->wait ? "" : fr_word_comm(k, k->wait->tid, w->ts));
	return true;
}

/* ---- a storm ---- */

#define IS_PENDING    2u /* TRACE_SIGNAL_ALREADY_PENDING */
#define SIGNALS_NS    FR_SEC_NS
#define SIGNALS_LEAST 1000u /* in that time: more than any timer or profiler that is meant so */

/* Signals of one kind to one process. */
struct volley {
	u64 key, first_ns;
	u32 cnt, same_cnt; /* delivered; of them by the first one's sender */
	u32 sender, target;
	s32 pid;
	s32 code;
	u8 sig;
};

/* Is a sender named by its code? The kernel's, and a timer's, come on top of whatever task had the CPU. */
static bool is_sent_by_task(const struct volley *v)
{
	return v->code <= 0 && v->code != SI_TIMER && v->sender;
}

/*
 * The processes of the task whose being late is asked for; if it was queued, of the one that had its CPU; of the one that it
 * waited for, if that was busy.
 */
struct concerned {
	s32 pid, hog_pid, server_pid;
};

/* A rule on how many signals there are. */
static bool is_of_signals(const struct fr_case *k)
{
	const char *rate = fr_snap_fact(k->c->snap, "trigger_rate");

	return k->c->reason && !strcmp(k->c->reason, "rate") && rate && !strcmp(rate, "signal");
}

/* That, or one on a task that does not sleep: it is about no wait. */
static bool is_of_no_wait(const struct fr_case *k)
{
	return is_of_signals(k) || (!k->wait && k->c->reason && !strcmp(k->c->reason, "busy"));
}

/*
 * One of these that no task sent is of a timer of CPU time, or of an event of perf, as a profiler has them on each thread: they
 * come while it runs, at the rate that it was told, and are no trouble. A rule on signals asks for just these.
 */
static bool is_of_profiler(const struct fr_case *k, const struct volley *v)
{
	return (v->sig == SIGPROF || v->sig == SIGVTALRM) && !is_sent_by_task(v) && !is_of_signals(k);
}

static struct concerned who_is_concerned(struct fr_case *k)
{
	bool of_no_wait = is_of_no_wait(k);
	struct concerned is = {
		.pid = (k->wait || of_no_wait) && k->c->pid > 0 ? k->c->pid : -1, .hog_pid = -1, .server_pid = -1};
	u64 from_ns, to_ns;
	u32 server;
	struct fr_clue_use hog;

	if (of_no_wait) /* it may be the one that sends them */
		is.hog_pid = is.pid;
	else if (fr_case_is_queued(k, &from_ns, &to_ns) && fr_case_top_user(k, k->wait->cpu, from_ns, to_ns, &hog))
		is.hog_pid = fr_clues_pid(k->c, hog.key, to_ns);
	server = of_no_wait || fr_case_asks_for_queue(k) ? 0 : fr_case_busy_waker(k);
	if (server)
		is.server_pid = fr_clues_pid(k->c, server, k->c->at_ns);
	return is;
}

static bool volley_concerns(const struct fr_case *k, const struct concerned *is, const struct volley *v)
{
	s32 sender = is_sent_by_task(v) ? fr_clues_pid(k->c, v->sender, v->first_ns) : -1;

	return v->pid > 0 && (v->pid == is->pid || v->pid == is->hog_pid || v->pid == is->server_pid ||
			      (sender > 0 && sender == is->hog_pid));
}

/* The largest volley of the last second that concerns the trigger's task. */
static bool find_volley(struct fr_case *k, struct volley *top)
{
	const struct concerned is = who_is_concerned(k);
	const struct fr_clue_signal *s = k->c->signal.at;
	struct fr_tally t = {.rec_sz = sizeof(*top)};
	bool of_all = is_of_signals(k); /* such a rule counts those that found one like it that waits, too */
	size_t i;
	u32 n;

	*top = (struct volley){0};
	for (i = 0; i < k->c->signal.cnt && !k->failed; i++) {
		s32 pid = fr_clues_pid(k->c, s[i].target, s[i].ts);
		struct volley *v;

		if ((s[i].result && !(of_all && s[i].result == IS_PENDING)) || s[i].ts > k->c->at_ns ||
		    s[i].ts + SIGNALS_NS < k->c->at_ns)
			continue;
		v = fr_tally_get(&t, (u64)(u32)pid << 8 | s[i].sig);
		if (!v) {
			k->failed = true;
			break;
		}
		if (!v->cnt++)
			*v = (struct volley){.key = v->key,
					     .first_ns = s[i].ts,
					     .cnt = 1,
					     .sender = s[i].sender,
					     .target = s[i].target,
					     .pid = pid,
					     .code = s[i].code,
					     .sig = s[i].sig};
		v->same_cnt += s[i].sender == v->sender;
	}
	for (n = 0; n < t.cnt; n++) {
		const struct volley *v = fr_tally_at(&t, n);

		if (v->cnt > top->cnt && volley_concerns(k, &is, v) && !is_of_profiler(k, v))
			*top = *v;
	}
	fr_tally_free(&t);
	return top->cnt >= SIGNALS_LEAST;
}

/* A process that is sent signals without end does little else than to handle them, or its sender to send them. */
bool fr_recognise_signal_storm(struct fr_case *k)
{
	struct volley v;
	const char *name;
	bool is_sender;

	if ((!k->wait && !is_of_no_wait(k)) || !find_volley(k, &v))
		return false;
	name = fr_signal_name(v.sig);
	is_sender = is_sent_by_task(&v) && v.same_cnt >= v.cnt / 10 * 9;
	if (!name || (is_sender && fr_clues_pid(k->c, v.sender, v.first_ns) == v.pid)) /* a runtime's own */
		return false;
	fr_case_cause(k, "signal_generate", "a storm of signals: %s was sent to %s %s times in the %s before%s%s%s", name,
		      fr_word_who(k, v.target, v.first_ns), fr_word_cnt(k, v.cnt), fr_word_ns(k, k->c->at_ns - v.first_ns),
		      is_sender ? ", by " : "", is_sender ? fr_word_who(k, v.sender, v.first_ns) : "",
		      is_sender		    ? ""
		      : is_sent_by_task(&v) ? ", by several tasks"
					    : ", by the kernel or a timer");
	return true;
}

/* ---- a wait that a signal ended ---- */

#define IN_VAIN_NS (100 * FR_MSEC_NS)

/* What it waited for did not come; somebody else put an end to that. */
bool fr_recognise_in_vain(struct fr_case *k)
{
	const struct fr_waited *w = k->wait;
	const struct fr_clue_signal *s;
	const char *name;

	if (!w || fr_waited_was_runnable(w) || w->blocked_ns < IN_VAIN_NS || w->waker != FR_WAKER_task)
		return false;
	s = fr_case_ended_by_signal(k, w);
	name = s ? fr_signal_name(s->sig) : NULL;
	if (!name || s->code > 0 || fr_clues_pid(k->c, s->sender, s->ts) == w->pid || fr_case_is_for_signal(k, w))
		return false; /* code: the kernel's own, in the name of whoever runs */
	fr_case_cause(k, "wait, signal_generate",
		      "it waited in vain: what %s waited for %s%s did not come for %s, until %s of %s ended that",
		      fr_word_who(k, w->tid, w->ts), fr_word_call(k, w), fr_word_object(k, w), fr_word_ns(k, w->blocked_ns),
		      name, fr_word_who(k, s->sender, s->ts));
	return true;
}
