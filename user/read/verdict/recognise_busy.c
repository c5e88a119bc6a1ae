/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * recognise_busy: a task waited for another one, which was not asleep but busy: with what.
 *
 *	A waited for B	while B waited for C	while C had a CPU for most of A's wait, and slept for none of it
 */
#include <linux/futex.h>
#include <linux/sched.h>
#include <string.h>

#include "base/set/hash.h"
#include "base/text/list.h"
#include "base/text/units.h"
#include "read/verdict/verdict_int.h"

#define BUSY_LEAST_NS (5 * FR_MSEC_NS)

/* Who kept the trigger's task waiting, and when. */
struct busy {
	u32 tid, woke;	       /* whom it woke: A, or one that A waited for */
	u64 from_ns, to_ns;    /* that one waited */
	u64 ran_ns, queued_ns; /* so long it had a CPU, and wanted one */
};

/* How long it was asleep in this time, as far as its long waits tell. */
static u64 asleep_ns(const struct fr_clues *c, u32 tid, u64 from_ns, u64 to_ns)
{
	const struct fr_waited *w;
	u64 ns = 0;
	size_t i;

	for (i = 0; (w = fr_clues_wait(c, i)); i++)
		ns += w->tid == tid ? fr_overlap_ns(fr_waited_began_ns(w), fr_waited_woken_ns(w), from_ns, to_ns) : 0;
	return ns;
}

/* From waker to waker, each of which waited itself, to one that did not. */
static bool find_busy(struct fr_case *k, struct busy *b)
{
	const struct fr_waited *w = k->wait;
	u32 i;

	for (i = 0; w && i < FR_VERDICT_LINK_MAX; i++) {
		if (w->blocked_ns < w->off_ns / 2 || w->blocked_ns < BUSY_LEAST_NS || w->waker != FR_WAKER_task ||
		    !w->waker_pid || w->waker_pid == k->wait->tid)
			return false;
		*b = (struct busy){
			.tid = w->waker_pid, .woke = w->tid, .from_ns = fr_waited_began_ns(w), .to_ns = fr_waited_woken_ns(w)};
		w = fr_case_wait_of_waker(k, w);
		if (w && w->queued_ns < w->off_ns / 2) /* without a CPU, it waited for nobody */
			continue;
		b->ran_ns = fr_clues_ran(k->c, b->tid, b->from_ns, b->to_ns);
		b->queued_ns = fr_clues_queued(k->c, b->tid, b->from_ns, b->to_ns, &w);
		return b->ran_ns >= (b->to_ns - b->from_ns) / 20 &&
		       b->ran_ns + b->queued_ns >= (b->to_ns - b->from_ns) / 4 * 3 &&
		       asleep_ns(k->c, b->tid, b->from_ns, b->to_ns) <= (b->to_ns - b->from_ns) / 10;
	}
	return false;
}

u32 fr_case_busy_waker(struct fr_case *k)
{
	struct busy b;

	return find_busy(k, &b) ? b.tid : 0;
}

/* It, where the rule is about a task that does not sleep; else whom the trigger's task waited for. */
static bool find_spinner(struct fr_case *k, struct busy *b)
{
	const struct fr_clues *c = k->c;
	const struct fr_waited *w;

	if (!c->reason || strcmp(c->reason, "busy"))
		return find_busy(k, b);
	if (!c->tid || !c->value_ns || c->value_ns > c->at_ns)
		return false;
	*b = (struct busy){.tid = c->tid, .woke = c->tid, .from_ns = c->at_ns - c->value_ns, .to_ns = c->at_ns};
	if (b->from_ns < c->begin_ns)
		b->from_ns = c->begin_ns;
	b->ran_ns = fr_clues_ran(c, b->tid, b->from_ns, b->to_ns);
	b->queued_ns = fr_clues_queued(c, b->tid, b->from_ns, b->to_ns, &w);
	return fr_clues_covers_most(c, FR_CLUES_ALL_CPUS, b->from_ns, b->to_ns);
}

/* "had a CPU for X of these Y", and how long it wanted one */
static const char *busy_words(struct fr_case *k, const struct busy *b)
{
	return fr_word(k, "had a CPU for %s%s%s of these %s", fr_word_ns(k, b->ran_ns),
		       b->queued_ns >= FR_MSEC_NS ? " and wanted one for " : "",
		       b->queued_ns >= FR_MSEC_NS ? fr_word_ns(k, b->queued_ns) : "", fr_word_ns(k, b->to_ns - b->from_ns));
}

/* ---- a fork ---- */

/* The process that it began in this time, or right after; NULL: none. */
static const struct fr_clue_fork *fork_by(const struct fr_clues *c, u32 tid, u64 from_ns, u64 to_ns)
{
	const struct fr_clue_fork *fork = c->fork.at;
	size_t i;

	for (i = 0; i < c->fork.cnt; i++)
		if (fork[i].parent == tid && fork[i].child == fork[i].pid && fork[i].ts > from_ns && fork[i].ts <= to_ns)
			return &fork[i];
	return NULL;
}

/* The call to which copying an address space belongs, for one that lasts. */
static const char *sample_of_fork(const struct fr_clues *c, const struct fr_clue_sample *s)
{
	return !s->user && fr_clues_kernel_at(c, s->kstack_id, "dup_mmap") >= 0 ? "dup_mmap" : NULL;
}

#define COPY_LEAST 2u /* samples */

/*
 * Since when it was in the call that copies its memory, as a wait in it tells: it had to leave its CPU there. 0: not known.
 * vfork() copies none, nor does clone3(), of which its flags are not known: the C library asks by that for threads and for
 * posix_spawn().
 */
static u64 in_fork_since(struct fr_case *k, const struct busy *b, const struct fr_clue_fork *fork)
{
	const struct fr_waited *w;
	char call[FR_WAITED_CALL_SZ];
	size_t i;

	for (i = 0; (w = fr_clues_wait(k->c, i)); i++) {
		if (w->tid != b->tid || w->in != FR_WAITED_call || !fr_waited_was_runnable(w) || w->ts > fork->ts ||
		    fr_waited_began_ns(w) < b->from_ns)
			continue;
		fr_waited_call(w, k->c->arch, call);
		if (!strcmp(call, "fork") || (!strcmp(call, "clone") && !(w->arg[0] & CLONE_VM)))
			return fr_waited_began_ns(w);
	}
	return 0;
}

/* It was in that call for half of the time, and had a CPU for half of that: who has none does not copy. */
static bool tell_long_fork(struct fr_case *k, const struct busy *b, const struct fr_clue_fork *fork)
{
	u64 since_ns = in_fork_since(k, b, fork);

	if (!since_ns || fork->ts - since_ns < (b->to_ns - b->from_ns) / 2 ||
	    fr_clues_ran(k->c, b->tid, since_ns, fork->ts) < (fork->ts - since_ns) / 2)
		return false;
	fr_case_cause(k, "wait, sched_switch, sched_process_fork",
		      "a fork took long: %s was in it, where page tables are copied, the longer the more memory a process has, "
		      "for %s or more of these %s, %s of that with a CPU, until its child %s was there%s%s",
		      fr_word_who(k, b->tid, fork->ts), fr_word_ns(k, fork->ts - since_ns),
		      fr_word_ns(k, b->to_ns - b->from_ns), fr_word_ns(k, fr_clues_ran(k->c, b->tid, since_ns, fork->ts)),
		      fr_word_who(k, fork->child, fork->ts), b->tid != k->c->tid ? "; meanwhile it did not answer " : "",
		      b->tid != k->c->tid ? fr_word_comm(k, k->c->tid, b->to_ns) : "");
	return true;
}

/* It copied what a process maps, page table by page table: so long, that is a process with much memory. */
bool fr_recognise_large_fork(struct fr_case *k)
{
	struct busy b = {.tid = k->c->tid, .from_ns = k->c->at_ns - k->c->value_ns, .to_ns = k->c->at_ns};
	const struct fr_clue_fork *fork;
	u32 cnt, all;

	if (k->wait && !fr_waited_was_runnable(k->wait) && !find_busy(k, &b))
		return false;
	if (!b.tid || !k->c->value_ns || k->c->value_ns > k->c->at_ns || fr_case_is_shared_span(k))
		return false;
	fork = fork_by(k->c, b.tid, b.from_ns, b.to_ns);
	if (fork && tell_long_fork(k, &b, fork))
		return true;
	if (!fork ||
	    !fr_case_hot(k, &(struct fr_whose){.tid = b.tid, .from_ns = b.from_ns, .to_ns = fork->ts}, sample_of_fork, &cnt,
			 &all) ||
	    cnt < COPY_LEAST || cnt < all / 2)
		return false;
	fr_case_cause(
		k, k->wait && b.tid != k->c->tid ? "wait, cpu_sample, sched_process_fork" : "cpu_sample, sched_process_fork",
		"the fork of a process with much memory: %s copied its page tables for the child %s (dup_mmap in %u of its "
		"%u samples in these %s)%s%s",
		fr_word_who(k, b.tid, fork->ts), fr_word_who(k, fork->child, fork->ts), cnt, all,
		fr_word_ns(k, fork->ts - b.from_ns), b.tid != k->c->tid ? "; meanwhile it did not answer " : "",
		b.tid != k->c->tid ? fr_word_comm(k, k->c->tid, b.to_ns) : "");
	return true;
}

/* ---- accept() in vain ---- */

#define ACCEPT_LEAST 5u /* samples in it: if it accepted, some would be where that is done */

/* Is the sample in accept(), in the library's function or the kernel's? */
static bool is_in_accept(const struct fr_clues *c, const struct fr_clue_sample *s)
{
	struct fr_symbol y;

	return (!s->user && (fr_clues_kernel_at(c, s->kstack_id, "__sys_accept4") >= 0 ||
			     fr_clues_kernel_at(c, s->kstack_id, "__x64_sys_accept4") >= 0 ||
			     fr_clues_kernel_at(c, s->kstack_id, "__x64_sys_accept") >= 0)) ||
	       (fr_clues_user_frame(c, s->tid, s->ts, s->ustack_id, 0, &y) && y.name &&
		(!strcmp(y.name, "accept") || !strcmp(y.name, "accept4")));
}

/* The kernel takes a descriptor before it comes here. */
static bool is_accepting(const struct fr_clues *c, const struct fr_clue_sample *s)
{
	static const char *const names[] = {"do_accept", "sock_alloc", "inet_accept", "inet_csk_accept", "unix_accept"};
	u32 i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (fr_clues_kernel_at(c, s->kstack_id, names[i]) >= 0)
			return true;
	return false;
}

/* Samples of one task in a time: in accept(), and whether it took a connection there. */
struct accepts {
	u64 key; /* tid */
	u32 all, in, accepting;
};

static bool is_accept_in_vain(const struct accepts *a)
{
	return a->in >= ACCEPT_LEAST && a->in >= a->all / 20 && !a->accepting;
}

/* tid 0: whoever is there most often, and in vain. */
static bool count_accepts(struct fr_case *k, u32 tid, u64 from_ns, u64 to_ns, struct accepts *out)
{
	const struct fr_clue_sample *s = k->c->sample.at;
	struct fr_tally t = {.rec_sz = sizeof(*out)};
	size_t i;
	u32 n;

	*out = (struct accepts){0};
	for (i = 0; i < k->c->sample.cnt; i++) {
		struct accepts *a;

		if ((tid && s[i].tid != tid) || !s[i].tid || s[i].ts < from_ns || s[i].ts > to_ns)
			continue;
		a = fr_tally_get(&t, s[i].tid);
		if (!a) {
			k->failed = true;
			break;
		}
		a->all++;
		a->in += is_in_accept(k->c, &s[i]);
		a->accepting += is_accepting(k->c, &s[i]);
	}
	for (n = 0; n < t.cnt; n++) {
		const struct accepts *a = fr_tally_at(&t, n);

		if (is_accept_in_vain(a) && a->in > out->in)
			*out = *a;
	}
	fr_tally_free(&t);
	return out->in;
}

#define AS_AT_LIMIT "as at the limit of open files (EMFILE), with a listener that stays ready"

/*
 * Did nobody answer it for sure? A softirq, too, may bring what a task has sent; of a waker that is not known nothing is known.
 */
static bool is_unanswered(const struct fr_case *k, const struct fr_waited *w)
{
	if (w == &k->by_steps)
		return k->is_going;
	return w->waker == FR_WAKER_timer || (w->waker == FR_WAKER_task && fr_case_ended_by_signal(k, w));
}

/* Nothing came on its connection, while somebody accepted none; who serves it, if that is known, is the same. */
static bool is_not_accepted(struct fr_case *k)
{
	const struct fr_waited *w = k->wait;
	const struct fr_waited *of;
	struct accepts a;

	if (!w || !fr_case_is_local_tcp(w) || fr_waited_was_runnable(w) || !is_unanswered(k, w) ||
	    !count_accepts(k, 0, fr_waited_began_ns(w), fr_waited_woken_ns(w), &a) || a.key == w->tid)
		return false;
	of = fr_case_served_by(k, w);
	if (of && of->pid != fr_clues_pid(k->c, a.key, w->ts))
		return false;
	fr_case_cause(k, fr_word(k, "%s, cpu_sample", k->wait_from),
		      "nothing came on its connection: while %s waited %s%s, %s called accept() over and over, and accepted "
		      "nothing: %u of its %u samples are in that call, and none where a connection is taken: " AS_AT_LIMIT,
		      fr_word_who(k, w->tid, w->ts), fr_word_ns(k, w->blocked_ns), fr_word_object(k, w),
		      fr_word_who(k, a.key, w->ts), a.in, a.all);
	return true;
}

/* How long the tasks of a process had a CPU, and how long all had; 0: nobody did, or it is not known. */
u64 fr_case_process_ran_ns(struct fr_case *k, s32 pid, u64 from_ns, u64 to_ns, u64 *all_ns)
{
	struct fr_tally use;
	u64 ns = 0;
	u32 i;

	*all_ns = 0;
	if (fr_clues_use(k->c, FR_CLUES_ALL_CPUS, from_ns, to_ns, &use)) {
		k->failed = true;
		return 0;
	}
	for (i = 0; i < use.cnt; i++) {
		const struct fr_clue_use *u = fr_tally_at(&use, i);

		*all_ns += u->key ? u->ns : 0;
		ns += u->key && fr_clues_pid(k->c, u->key, to_ns) == pid ? u->ns : 0;
	}
	fr_tally_free(&use);
	return ns;
}

/*
 * A rule on pressure for CPUs, and a process that accepted none had them for half of the time that all had: who has less, as
 * beside a build, may accept nothing for ever, and it is the others who keep the CPUs.
 */
static bool is_pressing_accept(struct fr_case *k)
{
	const char *rule = fr_snap_fact(k->c->snap, "trigger_rule");
	u64 from_ns = k->c->begin_ns, to_ns = k->c->at_ns, ran_ns, all_ns = 0;
	struct accepts a;
	s32 pid;

	if (!k->c->reason || strcmp(k->c->reason, "psi") || !rule || strncmp(rule, "psi:cpu:", 8) ||
	    !fr_clues_covers_most(k->c, FR_CLUES_ALL_CPUS, from_ns, to_ns) || !count_accepts(k, 0, from_ns, to_ns, &a))
		return false;
	pid = fr_clues_pid(k->c, a.key, to_ns);
	ran_ns = pid > 0 ? fr_case_process_ran_ns(k, pid, from_ns, to_ns, &all_ns) : 0;
	if (ran_ns < (to_ns - from_ns) / 4 || ran_ns < all_ns / 2)
		return false;
	fr_case_cause(k, "sched_switch, cpu_sample",
		      "%s called accept() over and over, and accepted nothing: of the %s for which tasks had the CPUs in the "
		      "%s before, its process had %s; %u of its %u samples are in that call, and none where a connection is "
		      "taken: " AS_AT_LIMIT,
		      fr_word_who(k, a.key, to_ns), fr_word_ns(k, all_ns), fr_word_ns(k, to_ns - from_ns),
		      fr_word_ns(k, ran_ns), a.in, a.all);
	return true;
}

/* Who never slept, called accept() over and over, and accepted nothing. */
bool fr_recognise_accept_spin(struct fr_case *k)
{
	struct accepts a;
	struct busy b;

	if (!find_spinner(k, &b))
		return is_not_accepted(k) || is_pressing_accept(k);
	if (!count_accepts(k, b.tid, b.from_ns, b.to_ns, &a))
		return false;
	fr_case_cause(k, k->wait ? "wait, sched_switch, cpu_sample" : "sched_switch, cpu_sample",
		      "%s called accept() over and over, and accepted nothing: it %s, %u of its %u samples "
		      "are in that call, and none where a connection is taken: " AS_AT_LIMIT,
		      fr_word_who(k, b.tid, b.to_ns), busy_words(k, &b), a.in, a.all);
	return true;
}

/* ---- a server that computes ---- */

#define ASKED_LEAST 10u /* samples: of fewer, that none is there says nothing */

enum asked { ASKED_NOT, ASKED, ASKED_UNKNOWN };

/* Did it ask for events in this time, without waiting? Then its loop went round. Its samples tell, if there are enough. */
static enum asked asked_for_events(const struct fr_clues *c, const struct busy *b)
{
	static const char *const names[] = {"do_epoll_wait", "do_sys_poll", "do_select"};
	const struct fr_clue_sample *s = c->sample.at;
	struct fr_symbol y;
	u32 cnt = 0;
	size_t i, n;

	for (i = 0; i < c->sample.cnt; i++) {
		if (s[i].tid != b->tid || s[i].ts < b->from_ns || s[i].ts > b->to_ns)
			continue;
		cnt++;
		if (s[i].user)
			continue;
		if (!fr_clues_kernel_frame(c, s[i].kstack_id, 0, &y) || !y.name)
			return ASKED_UNKNOWN;
		for (n = 0; n < sizeof(names) / sizeof(names[0]); n++)
			if (fr_clues_kernel_at(c, s[i].kstack_id, names[n]) >= 0)
				return ASKED;
	}
	return cnt < ASKED_LEAST ? ASKED_UNKNOWN : ASKED_NOT;
}

/* Of these calls, the one that this is; NULL: it is another one. */
static const char *loop_call(const struct fr_case *k, const struct fr_waited *w)
{
	static const char *const calls[] = {"epoll_wait", "epoll_pwait", "epoll_pwait2", "poll", "ppoll", "select", "pselect6"};
	char call[FR_WAITED_CALL_SZ];
	size_t n;

	fr_waited_call(w, k->c->arch, call);
	for (n = 0; n < sizeof(calls) / sizeof(calls[0]); n++)
		if (!strcmp(call, calls[n]))
			return calls[n];
	return NULL;
}

static const char *loop_slept(const struct fr_case *k, const struct fr_clue_slept *s)
{
	return s->in_call ? loop_call(k, &(struct fr_waited){.in = FR_WAITED_call, .id = s->id, .abi = s->abi}) : NULL;
}

/* Does another thread of its process wait so, too, as where a runtime's take turns (Go)? Then of none it is known that it
 * stands still. */
static bool loop_is_shared(const struct fr_case *k, u32 tid, s32 pid)
{
	const struct fr_waited *w;
	size_t i;
	u32 n;

	for (i = 0; (w = fr_clues_wait(k->c, i)); i++)
		if (w->tid != tid && w->pid == pid && w->in == FR_WAITED_call && !fr_waited_was_runnable(w) && loop_call(k, w))
			return true;
	for (n = 0; n < k->c->slept.cnt; n++) {
		const struct fr_clue_slept *s = fr_tally_at(&k->c->slept, n);

		if (s->key != tid && s->pid == pid && loop_slept(k, s))
			return true;
	}
	return false;
}

/* The call in which it waits for events otherwise; NULL: it is not known to have such a loop of its own. */
static const char *loop_of(struct fr_case *k, u32 tid, u64 ts)
{
	s32 pid = fr_clues_pid(k->c, tid, ts);
	const struct fr_clue_slept *slept = fr_clues_slept_before(k->c, tid, pid);
	const struct fr_waited *w;
	const char *call;
	size_t i;

	if (pid > 0 && loop_is_shared(k, tid, pid))
		return NULL;
	for (i = 0; (w = fr_clues_wait(k->c, i)); i++) {
		if (w->tid != tid || w->in != FR_WAITED_call || fr_waited_was_runnable(w))
			continue;
		call = loop_call(k, w);
		if (call)
			return call;
	}
	return slept ? loop_slept(k, slept) : NULL;
}

/* poll() may be how it receives with a time-out; who waits in epoll has a loop. */
const char *fr_word_loop(struct fr_case *k, const struct fr_waited *w)
{
	const char *now = w->in == FR_WAITED_call ? loop_call(k, w) : NULL, *loop;

	if (now || fr_waited_was_runnable(w))
		return "";
	loop = loop_of(k, w->tid, w->ts);
	return loop && !strncmp(loop, "epoll", 5)
		       ? fr_word(k, " (otherwise it waits in %s, as an event loop: that stood still meanwhile)", loop)
		       : "";
}

#define BUSY_PART 4u /* of fewer samples, the largest part is no word of what it did */

/* "; 30 of its 32 samples are in ...": its own function that most of them are in, and its callers. "": not known. */
static const char *busy_functions(struct fr_case *k, const struct busy *b)
{
	const struct fr_whose who = {.tid = b->tid, .from_ns = b->from_ns, .to_ns = b->to_ns};
	const struct fr_clue_sample *s = k->c->sample.at;
	struct fr_symbol y;
	const char *name, *in;
	u32 cnt, all;
	size_t i;

	name = fr_case_hot(k, &who, fr_sample_function, &cnt, &all);
	for (i = 0; name && cnt * BUSY_PART >= all && i < k->c->sample.cnt; i++)
		if (s[i].tid == b->tid && s[i].user && s[i].ts >= b->from_ns && s[i].ts <= b->to_ns &&
		    fr_clues_user_frame(k->c, s[i].tid, s[i].ts, s[i].ustack_id, 0, &y) && y.name && !strcmp(y.name, name)) {
			in = fr_word_frames(k, s[i].tid, s[i].ts, s[i].ustack_id);
			return *in ? fr_word(k, "; %u of its %u samples are in %s", cnt, all, in) : "";
		}
	return "";
}

/* Whom it waited for did nothing but compute, and woke it only then. */
bool fr_recognise_busy_server(struct fr_case *k)
{
	struct busy b;
	const char *loop, *in, *turned = "";

	if (!find_busy(k, &b))
		return false;
	loop = asked_for_events(k->c, &b) != ASKED_NOT ? NULL : loop_of(k, b.tid, b.to_ns);
	in = busy_functions(k, &b);
	if (loop)
		turned = fr_word(k, ": its event loop was blocked (otherwise it waits in %s)", loop);
	fr_case_cause(k, *in ? "wait, sched_switch, cpu_sample" : "wait, sched_switch", "%s %s, and woke %s only then%s%s%s",
		      fr_word_who(k, b.tid, b.to_ns), busy_words(k, &b), fr_word_comm(k, b.woke, b.to_ns), turned, in,
		      fr_word_throttled(k, fr_clues_pid(k->c, b.tid, b.to_ns), b.from_ns, b.to_ns));
	return true;
}

/* ---- a loop that does not turn, while somebody waits, who knows for what ---- */

#define UNTOLD_LEAST_NS (50 * FR_MSEC_NS)

/*
 * May it have waited for another process of the host? In poll() and its like for something that is not recorded, or for the
 * other end of a connection within the host, of which no process is known.
 */
bool fr_case_is_for_untold(const struct fr_case *k, const struct fr_waited *w)
{
	static const char *const receives[] = {"recvfrom", "recvmsg", "read", NULL};
	char call[FR_WAITED_CALL_SZ];
	const char *polls = loop_call(k, w);

	if (w->in != FR_WAITED_call || w->state != FR_PREV_STATE_SLEEPING || w->blocked_ns < UNTOLD_LEAST_NS)
		return false;
	if (polls && !strncmp(polls, "epoll", 5)) /* who serves others waits so for work */
		return false;
	if (!w->object_len)
		return polls;
	return fr_case_is_local_tcp(w) && !fr_case_peer(k, w) &&
	       (polls || fr_is_one_of(fr_waited_call(w, k->c->arch, call), receives));
}

/* A recorder serves nobody who is not of flightrec, however long a host that is busy keeps it. By its name, which anybody may
 * have. */
static bool loop_is_recorders(const struct fr_clues *c, u32 tid, u64 ts)
{
	char who[FR_CLUE_WHO_SZ];

	return !strncmp(fr_clues_comm(c, tid, ts, who), "flightrec", 9);
}

/* The only task of another process whose event loop did not turn in this time; false: there is none, or there are several. */
static bool find_blocked_loop(struct fr_case *k, s32 pid, u64 from_ns, u64 to_ns, struct busy *out)
{
	const struct fr_waited *of;
	struct fr_tally use;
	bool is_sure = true;
	u32 i, cnt = 0;

	if (fr_clues_use(k->c, FR_CLUES_ALL_CPUS, from_ns, to_ns, &use)) {
		k->failed = true;
		return false;
	}
	for (i = 0; i < use.cnt; i++) {
		const struct fr_clue_use *u = fr_tally_at(&use, i);
		enum asked asked;
		struct busy b = {.tid = u->key, .from_ns = from_ns, .to_ns = to_ns, .ran_ns = u->ns};

		if (!b.tid || b.ran_ns < (to_ns - from_ns) / 20 || fr_clues_pid(k->c, b.tid, to_ns) == pid)
			continue;
		b.queued_ns = fr_clues_queued(k->c, b.tid, from_ns, to_ns, &of);
		if (b.ran_ns + b.queued_ns < (to_ns - from_ns) / 10 * 9 ||
		    asleep_ns(k->c, b.tid, from_ns, to_ns) > (to_ns - from_ns) / 10)
			continue;
		asked = asked_for_events(k->c, &b);
		if (asked == ASKED || loop_is_recorders(k->c, b.tid, to_ns) || !loop_of(k, b.tid, to_ns))
			continue;
		*out = b;
		is_sure &= asked == ASKED_NOT;
		cnt++;
	}
	fr_tally_free(&use);
	return cnt == 1 && is_sure;
}

/*
 * Does it stand still in a call of another kind? In D that is the kernel's; asleep, it is no stop where a program waits for
 * work of another kind meanwhile, as for a lock or a connection.
 */
static bool loop_stands(const struct fr_case *k, const struct fr_waited *w)
{
	return w->in == FR_WAITED_call && !loop_call(k, w) &&
	       (w->state == FR_PREV_STATE_BLOCKED || (w->state == FR_PREV_STATE_SLEEPING && !fr_case_is_for_work(k, w)));
}

/*
 * The only task of another process that otherwise waits in epoll, and at the trigger has been in another call for most of
 * the time since a moment; false: there is none, or several are, or tasks were left out.
 */
static bool find_stuck_loop(struct fr_case *k, s32 pid, u64 since_ns, struct fr_still *out)
{
	size_t cnt, i;
	const struct fr_snap_state *t = fr_snap_states(k->c->snap, &cnt);
	const char *loop;
	struct fr_still s;
	u32 found = 0;

	for (i = 0; i < cnt; i++) {
		if (!fr_states_is_last(t, cnt, i) || !fr_clues_still(k->c, t[i].tid, &s) || s.wait.pid <= 0 ||
		    s.wait.pid == pid || !loop_stands(k, &s.wait) || s.since_ns > since_ns + (k->c->at_ns - since_ns) / 4)
			continue;
		loop = loop_is_recorders(k->c, t[i].tid, k->c->at_ns) ? NULL : loop_of(k, t[i].tid, k->c->at_ns);
		if (!loop || strncmp(loop, "epoll", 5))
			continue;
		*out = s;
		found++;
	}
	return found == 1 && fr_states_are_all(k->c->snap);
}

bool fr_case_has_stuck_loop(struct fr_case *k, const struct fr_waited *w)
{
	struct fr_still s;

	return find_stuck_loop(k, w->pid, fr_waited_began_ns(w), &s);
}

/* Nobody has answered it yet, and the one event loop that is stuck in the kernel answers nobody. */
static bool tell_stuck_loop(struct fr_case *k, const struct fr_waited *w)
{
	const char *place, *frozen, *stopped, *from = "";
	struct fr_still s;

	if (!find_stuck_loop(k, w->pid, fr_waited_began_ns(w), &s))
		return false;
	place = fr_word_place(k, &s.wait);
	frozen = fr_case_is_frozen(k, &s.wait) ? ": the file system is frozen" : "";
	stopped = fr_word_stopped(k, w, &from);
	fr_case_cause(k, fr_word(k, "%s, wait%s", k->wait_from, from),
		      "while %s waits %s%s, for %s so far (for whom is not recorded), one event loop of the host is blocked, "
		      "that of %s (otherwise it waits in %s): it has been %s, %s%s%s%s%s",
		      fr_word_who(k, w->tid, w->ts), fr_word_call(k, w), fr_word_object(k, w), fr_word_ns(k, w->blocked_ns),
		      fr_word_who(k, s.wait.tid, s.wait.ts), loop_of(k, s.wait.tid, k->c->at_ns), fr_word_still(k, &s),
		      s.wait.state == FR_PREV_STATE_BLOCKED ? "in D" : "asleep (S)", *place ? ", in " : "", place, frozen,
		      stopped);
	return true;
}

/* Nobody answered it, and meanwhile one event loop of the host stood still: that it waited for that one is not known. */
bool fr_recognise_blocked_loop(struct fr_case *k)
{
	const struct fr_waited *w = k->wait;
	bool goes_on = w && w == &k->by_steps && k->is_going;
	const char *in, *from = "";
	struct fr_still s;
	u64 from_ns, to_ns;
	struct busy b;

	if (!w || fr_waited_was_runnable(w) || !fr_case_is_for_untold(k, w) || !is_unanswered(k, w) ||
	    (goes_on && fr_case_goes_on_for(k, w, &s)))
		return false;
	if (goes_on && tell_stuck_loop(k, w))
		return true;
	if (goes_on && *fr_word_stopped(k, w, &from))
		return false;
	from_ns = fr_waited_began_ns(w);
	to_ns = fr_waited_woken_ns(w);
	if (!fr_clues_covers_most(k->c, FR_CLUES_ALL_CPUS, from_ns, to_ns) || !find_blocked_loop(k, w->pid, from_ns, to_ns, &b))
		return false;
	in = busy_functions(k, &b);
	fr_case_cause(
		k, fr_word(k, "%s%s, sched_switch%s", k->wait_from, goes_on ? ", wait" : "", *in ? ", cpu_sample" : ""),
		"while %s waited %s%s for %s in vain (for whom is not recorded), one event loop of the host was blocked, that "
		"of %s: it %s (otherwise it waits in %s)%s",
		fr_word_who(k, w->tid, w->ts), fr_word_call(k, w), fr_word_object(k, w), fr_word_ns(k, w->blocked_ns),
		fr_word_who(k, b.tid, to_ns), busy_words(k, &b), loop_of(k, b.tid, to_ns), in);
	return true;
}

/* ---- a server that waits again and again ---- */

#define TURNS_LEAST 3u

/* Waits of one task in one call, within a time. */
struct turn {
	u64 key; /* of the call */
	u64 ns, longest_ns;
	u32 cnt;
	const struct fr_waited *longest;
};

bool fr_case_turns(struct fr_case *k, const struct fr_waited *w, struct fr_turns *out)
{
	u64 from_ns = fr_waited_began_ns(w), to_ns = fr_waited_woken_ns(w), ns;
	struct fr_tally t = {.rec_sz = sizeof(struct turn)};
	const struct fr_waited *of;
	struct turn most = {0};
	size_t i;

	for (i = 0; (of = fr_clues_wait(k->c, i)); i++) {
		struct turn *turn;

		ns = of->tid == w->waker_pid ? fr_overlap_ns(fr_waited_began_ns(of), fr_waited_woken_ns(of), from_ns, to_ns)
					     : 0;
		if (!ns || fr_waited_was_runnable(of))
			continue;
		turn = fr_tally_get(&t, ((u64)of->in << 40 | (u64)of->abi << 32 | (u32)of->id) + 1);
		if (!turn) {
			k->failed = true;
			break;
		}
		turn->ns += ns;
		turn->cnt++;
		if (ns > turn->longest_ns)
			turn->longest_ns = ns, turn->longest = of;
		if (turn->ns > most.ns)
			most = *turn;
	}
	fr_tally_free(&t);
	*out = (struct fr_turns){.tid = w->waker_pid,
				 .cnt = most.cnt,
				 .ns = most.ns,
				 .all_ns = to_ns - from_ns,
				 .longest_ns = most.longest_ns,
				 .longest = most.longest};
	return !k->failed && most.cnt >= TURNS_LEAST && most.ns >= (to_ns - from_ns) / 2;
}

bool fr_case_is_for_work(const struct fr_case *k, const struct fr_waited *w)
{
	static const char *const calls[] = {"epoll_wait", "epoll_pwait", "epoll_pwait2", "poll",    "ppoll",	       "select",
					    "pselect6",	  "futex",	 "accept",	 "accept4", "rt_sigtimedwait", "pause"};
	char call[FR_WAITED_CALL_SZ];
	size_t i;

	if (w->in != FR_WAITED_call)
		return true;
	fr_waited_call(w, k->c->arch, call);
	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (!strcmp(call, calls[i]))
			return true;
	return false;
}

/* Who wants Python's lock tries again after 5 ms (sys.getswitchinterval()). */
#define GIL_TRY_LEAST_NS (4 * FR_MSEC_NS)
#define GIL_TRY_MOST_NS	 (6 * FR_MSEC_NS)

/*
 * Did it wait each time for a futex of its process's own, by the words of one lock, which a timer ended, or one other task?
 * *mate: that task, *cnt: how often; 0: a timer ended all. Timers end waits for any condition: those of an interpreter's lock
 * are told by their time, of which one in ten may be another, as on a busy machine.
 */
static bool turns_are_of_one_lock(const struct fr_case *k, const struct fr_waited *w, const struct fr_turns *t, u32 *mate,
				  u32 *cnt)
{
	const struct fr_waited *l = t->longest, *of;
	u32 op, timers = 0, others = 0;
	size_t i;

	for (i = *mate = *cnt = 0; (of = fr_clues_wait(k->c, i)); i++) {
		if (of->tid != t->tid || of->in != l->in || of->abi != l->abi || of->id != l->id ||
		    fr_waited_was_runnable(of) ||
		    !fr_overlap_ns(fr_waited_began_ns(of), fr_waited_woken_ns(of), fr_waited_began_ns(w),
				   fr_waited_woken_ns(w)))
			continue;
		op = (u32)of->arg[1] & FUTEX_CMD_MASK;
		if (!(of->arg[1] & FUTEX_PRIVATE_FLAG) || (op != FUTEX_WAIT && op != FUTEX_WAIT_BITSET) ||
		    of->arg[0] - l->arg[0] + FR_FUTEX_NEAR > 2ull * FR_FUTEX_NEAR)
			return false;
		if (of->waker == FR_WAKER_timer || of->waker == FR_WAKER_irq) {
			timers++;
			others += of->blocked_ns < GIL_TRY_LEAST_NS || of->blocked_ns > GIL_TRY_MOST_NS;
			continue;
		}
		if (of->waker != FR_WAKER_task || !of->waker_pid || (*mate && of->waker_pid != *mate))
			return false;
		*mate = of->waker_pid;
		(*cnt)++;
	}
	return others * 10 <= timers;
}

/* The only other thread of its process that hardly slept meanwhile; false: there is none, or there are several. */
static bool turns_busy_mate(struct fr_case *k, const struct fr_waited *w, const struct fr_turns *t, struct busy *out)
{
	u64 from_ns = fr_waited_began_ns(w), to_ns = fr_waited_woken_ns(w);
	const struct fr_waited *of;
	struct fr_tally use;
	u32 i, cnt = 0;

	if (fr_clues_use(k->c, FR_CLUES_ALL_CPUS, from_ns, to_ns, &use)) {
		k->failed = true;
		return false;
	}
	for (i = 0; i < use.cnt; i++) {
		const struct fr_clue_use *u = fr_tally_at(&use, i);
		struct busy b = {.tid = u->key, .from_ns = from_ns, .to_ns = to_ns, .ran_ns = u->ns};

		if (!b.tid || b.tid == t->tid || b.ran_ns < (to_ns - from_ns) / 20 ||
		    fr_clues_pid(k->c, b.tid, to_ns) != t->longest->pid)
			continue;
		b.queued_ns = fr_clues_queued(k->c, b.tid, from_ns, to_ns, &of);
		if (b.ran_ns + b.queued_ns < (to_ns - from_ns) / 4 * 3 ||
		    asleep_ns(k->c, b.tid, from_ns, to_ns) > (to_ns - from_ns) / 10)
			continue;
		*out = b;
		cnt++;
	}
	fr_tally_free(&use);
	return cnt == 1;
}

#define AS_THE_GIL "(in Python it may have had the GIL)"

/* It came to work only where another thread let it, which computes, as of an interpreter that runs one thread at a time. */
static bool tell_short_locks(struct fr_case *k, const struct fr_waited *w, const struct fr_turns *t)
{
	u64 from_ns = fr_waited_began_ns(w), to_ns = fr_waited_woken_ns(w), ran_ns;
	char call[FR_WAITED_CALL_SZ];
	const char *did, *in;
	struct busy b;
	u32 mate, cnt;

	if (t->longest->in != FR_WAITED_call || t->longest->abi || t->longest->pid <= 0 ||
	    strcmp(fr_waited_call(t->longest, k->c->arch, call), "futex") ||
	    !fr_clues_covers_most(k->c, FR_CLUES_ALL_CPUS, from_ns, to_ns) || !turns_are_of_one_lock(k, w, t, &mate, &cnt))
		return false;
	if (!mate) {
		if (!turns_busy_mate(k, w, t, &b))
			return false;
		did = fr_word(k, "a timer ended each of these, and meanwhile %s of its process %s " AS_THE_GIL,
			      fr_word_who(k, b.tid, to_ns), busy_words(k, &b));
	} else {
		ran_ns = fr_clues_ran(k->c, mate, from_ns, to_ns);
		if (mate == t->tid || fr_clues_pid(k->c, mate, w->ts) != t->longest->pid || ran_ns < (to_ns - from_ns) / 4)
			return false;
		did = fr_word(k, "%s of its process ended %u of them, and had a CPU for %s meanwhile " AS_THE_GIL,
			      fr_word_who(k, mate, to_ns), cnt, fr_word_ns(k, ran_ns));
		b = (struct busy){.tid = mate, .from_ns = from_ns, .to_ns = to_ns};
	}
	in = busy_functions(k, &b);
	fr_case_cause(k, *in ? "wait, sched_switch, cpu_sample" : "wait, sched_switch",
		      "%s woke %s only after at least %u waits of its own in futex, %s of these %s in all; %s%s",
		      fr_word_who(k, t->tid, to_ns), fr_word_comm(k, w->tid, w->ts), t->cnt, fr_word_ns(k, t->ns),
		      fr_word_ns(k, t->all_ns), did, in);
	return true;
}

/* Whom it waited for had many short waits in one call, one after the other, and woke it only then. */
bool fr_recognise_many_waits(struct fr_case *k)
{
	const struct fr_waited *w = k->wait, *next;
	const char *place;
	struct fr_turns t;
	u32 i;

	for (i = 0; w && i < FR_VERDICT_LINK_MAX; i++, w = next) {
		if (w->blocked_ns < w->off_ns / 2 || w->blocked_ns < BUSY_LEAST_NS || w->waker != FR_WAKER_task ||
		    !w->waker_pid || w->waker_pid == k->wait->tid ||
		    (!fr_case_is_for_signal(k, w) && fr_case_ended_by_signal(k, w)))
			return false;
		next = fr_case_wait_of_waker(k, w);
		if (!next)
			break;
	}
	if (!w || i == FR_VERDICT_LINK_MAX || !fr_case_turns(k, w, &t))
		return false;
	if (fr_case_is_for_work(k, t.longest))
		return tell_short_locks(k, w, &t);
	place = fr_word_place(k, t.longest);
	fr_case_cause(k, "wait",
		      "%s woke %s only after at least %u waits of its own %s, %s of these %s in all; the longest took %s of "
		      "that%s, %s%s%s",
		      fr_word_who(k, t.tid, fr_waited_woken_ns(w)), fr_word_comm(k, w->tid, w->ts), t.cnt,
		      fr_word_call(k, t.longest), fr_word_ns(k, t.ns), fr_word_ns(k, t.all_ns), fr_word_ns(k, t.longest_ns),
		      fr_word_object(k, t.longest), fr_word_ender(k, t.longest), *place ? ", in " : "", place);
	return true;
}

/* ---- a task that does not sleep ---- */

#define SPIN_LEAST 5u /* samples */

/* How many of a task's samples in a time are in user code. */
static u32 spin_user_samples(const struct fr_clues *c, const struct busy *b)
{
	const struct fr_clue_sample *s = c->sample.at;
	u32 cnt = 0;
	size_t i;

	for (i = 0; i < c->sample.cnt; i++)
		cnt += s[i].tid == b->tid && s[i].user && s[i].ts >= b->from_ns && s[i].ts <= b->to_ns;
	return cnt;
}

/* Of a sample in the kernel, the function of user code that called it, as the C library has one for each system call. */
static const char *spin_caller(const struct fr_clues *c, const struct fr_clue_sample *s)
{
	struct fr_symbol y;

	return !s->user && fr_clues_user_frame(c, s->tid, s->ts, s->ustack_id, 0, &y) ? y.name : NULL;
}

#define SPIN_CALLERS 3u

/* Samples in the kernel by who called it: a function's name. */
struct spin_by {
	u64 key;
	u32 cnt;
	const char *name;
};

static int spin_by_cnt(const void *a, const void *b)
{
	const struct spin_by *x = a, *y = b;

	return x->cnt != y->cnt ? (x->cnt < y->cnt ? 1 : -1) : strcmp(x->name, y->name);
}

/* ", called from open64 (12), write (10) and read (8)": who called most often; or nothing. */
static const char *spin_callers(struct fr_case *k, const struct busy *b)
{
	const struct fr_clue_sample *s = k->c->sample.at;
	struct fr_tally t = {.rec_sz = sizeof(struct spin_by)};
	const char *words = "";
	size_t i;
	u32 n;

	for (i = 0; i < k->c->sample.cnt && !k->failed; i++) {
		const char *name =
			s[i].tid == b->tid && s[i].ts >= b->from_ns && s[i].ts <= b->to_ns ? spin_caller(k->c, &s[i]) : NULL;
		struct spin_by *by = name ? fr_tally_get(&t, fr_hash(FR_HASH_SEED, name, strlen(name))) : NULL;

		k->failed |= name && !by;
		if (by)
			by->name = name, by->cnt++;
	}
	fr_tally_sort(&t, spin_by_cnt);
	for (n = 0; n < t.cnt && n < SPIN_CALLERS; n++) {
		const struct spin_by *by = fr_tally_at(&t, n);

		words = fr_word(k, "%s%s%s (%u)", words, n ? ", " : ", called from ",
				fr_word_text(k, by->name, strlen(by->name)), by->cnt);
	}
	if (t.cnt > SPIN_CALLERS)
		words = fr_word(k, "%s and others", words);
	fr_tally_free(&t);
	return words;
}

/* Neither a function of its own nor a call has a quarter of its samples: where they are. NULL: no name is known. */
static const char *spin_spread(struct fr_case *k, const struct fr_whose *who, const struct busy *b)
{
	u32 cnt, all, user = spin_user_samples(k->c, b);
	const char *callers = spin_callers(k, b);

	if (!fr_case_hot(k, who, fr_sample_function, &cnt, &all) && !*callers)
		return NULL;
	if (cnt * BUSY_PART >= all)
		return "";
	return user * 4 >= all * 3 ? "; no function of the program's own that is known has a quarter of them"
				   : fr_word(k, "; %u of its %u samples are in the kernel%s", all - user, all, callers);
}

/* A rule said so, and samples say what it does. */
bool fr_recognise_spin(struct fr_case *k)
{
	struct fr_whose who;
	struct busy b;
	const char *in, *call, *calls = "", *loop;
	u32 cnt, all;

	if (!k->c->reason || strcmp(k->c->reason, "busy") || !find_spinner(k, &b))
		return false;
	who = (struct fr_whose){.tid = b.tid, .from_ns = b.from_ns, .to_ns = b.to_ns};
	call = fr_case_hot(k, &who, fr_sample_call, &cnt, &all);
	if (all < SPIN_LEAST)
		return false;
	if (call && cnt * BUSY_PART >= all)
		calls = fr_word(k, "; %u of them are in system call %s", cnt, fr_word_text(k, call, strlen(call)));
	in = busy_functions(k, &b);
	if (!*in && !*calls) {
		in = spin_spread(k, &who, &b);
		if (!in)
			return false;
	}
	loop = asked_for_events(k->c, &b) != ASKED_NOT ? NULL : loop_of(k, b.tid, b.to_ns);
	if (loop)
		loop = fr_word(k, ": its event loop was blocked (otherwise it waits in %s)", loop);
	fr_case_cause(k, loop ? "sched_switch, cpu_sample, wait" : "sched_switch, cpu_sample",
		      "%s %s, and never slept%s%s it has %u samples%s%s", fr_word_who(k, b.tid, b.to_ns), busy_words(k, &b),
		      loop ?: "", loop ? ";" : ":", all, calls, in);
	return true;
}

/* ---- a call that does not wait ---- */

static const struct {
	const char *frame, *what;
} works[] = {
	{"try_to_free_mem_cgroup_pages", "it frees memory of a cgroup, as at its limit"},
	{"try_to_free_pages", "it frees memory of the host, which is short of it"},
	{"try_to_compact_pages", "it moves memory about, so that a large page finds room"},
	{"dup_mmap", "it copies page tables, as a fork does"},
	{"exit_mmap", "it gives back the memory of a process that ended"},
	{"do_coredump", "it writes a core dump"},
	{"zap_pte_range", "it gives back memory that was unmapped"},
	{"unmap_page_range", "it gives back memory that was unmapped"}, /* as it is called where that is a part of it */
	{"clear_huge_page", "it clears huge pages"},
	{"iterate_dir", "it reads a directory"},
};

static const char *sample_of_work(const struct fr_clues *c, const struct fr_clue_sample *s)
{
	size_t i;

	for (i = 0; !s->user && i < sizeof(works) / sizeof(works[0]); i++)
		if (fr_clues_kernel_at(c, s->kstack_id, works[i].frame) >= 0)
			return works[i].frame;
	return NULL;
}

static const char *sample_kernel_function(const struct fr_clues *c, const struct fr_clue_sample *s)
{
	struct fr_symbol y;

	return !s->user && fr_clues_kernel_frame(c, s->kstack_id, 0, &y) ? y.name : NULL;
}

#define WORK_LEAST 3u /* samples */

/* It had a CPU for most of the call, so the kernel worked for it: at what. */
bool fr_recognise_call_ran(struct fr_case *k)
{
	const struct fr_clues *c = k->c;
	const char *kind = fr_snap_fact(c->snap, "trigger_latency"), *name, *what = "";
	u64 from_ns = c->at_ns - c->value_ns, ran_ns, queued_ns;
	struct fr_whose who = {.tid = c->tid, .from_ns = from_ns, .to_ns = c->at_ns};
	const struct fr_waited *longest;
	u32 cnt, all;
	size_t i;

	if (!c->tid || !kind || strcmp(kind, "syscall") || !c->value_ns || c->value_ns > c->at_ns ||
	    !fr_clues_covers_most(c, FR_CLUES_ALL_CPUS, from_ns, c->at_ns))
		return false;
	ran_ns = fr_clues_ran(c, c->tid, from_ns, c->at_ns);
	queued_ns = fr_clues_queued(c, c->tid, from_ns, c->at_ns, &longest);
	if (ran_ns < c->value_ns / 20 || ran_ns + queued_ns < c->value_ns / 2)
		return false;
	name = fr_case_hot(k, &who, sample_of_work, &cnt, &all);
	if (!name || cnt < all / 2)
		name = fr_case_hot(k, &who, sample_kernel_function, &cnt, &all);
	if (!name || cnt < WORK_LEAST)
		return false;
	for (i = 0; i < sizeof(works) / sizeof(works[0]); i++)
		if (!strcmp(name, works[i].frame))
			what = works[i].what;
	fr_case_cause(k, "sched_switch, cpu_sample",
		      "the call did not wait but work: %s had a CPU for %s%s%s of these %s; %u of its %u samples are in %s%s%s",
		      fr_word_who(k, c->tid, c->at_ns), fr_word_ns(k, ran_ns),
		      ran_ns < c->value_ns / 2 ? ", and wanted one for " : "",
		      ran_ns < c->value_ns / 2 ? fr_word_ns(k, queued_ns) : "", fr_word_ns(k, c->value_ns), cnt, all,
		      fr_word_text(k, name, strlen(name)), *what ? ": " : "", what);
	return true;
}
