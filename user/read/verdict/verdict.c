/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read/verdict/verdict_int.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "base/text/escape.h"
#include "base/text/list.h"
#include "base/text/units.h"
#include "read/waits/waitstack.h"

/* ---- sentences ---- */

static void verdict_put(struct fr_verdict_line *line, const char *from, const char *fmt, va_list ap)
{
	vsnprintf(line->text, sizeof(line->text), fmt, ap);
	snprintf(line->from, sizeof(line->from), "%s", from);
}

void fr_case_cause(struct fr_case *k, const char *from, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	verdict_put(&k->v->cause, from, fmt, ap);
	va_end(ap);
}

void fr_case_link(struct fr_case *k, const char *from, const char *fmt, ...)
{
	va_list ap;

	if (k->v->chain_cnt == FR_VERDICT_LINK_MAX)
		return;
	va_start(ap, fmt);
	verdict_put(&k->v->chain[k->v->chain_cnt++], from, fmt, ap);
	va_end(ap);
}

void fr_case_not(struct fr_case *k, const char *from, const char *fmt, ...)
{
	va_list ap;

	if (k->v->not_cnt == FR_VERDICT_NOT_MAX)
		return;
	va_start(ap, fmt);
	verdict_put(&k->v->not_it[k->v->not_cnt++], from, fmt, ap);
	va_end(ap);
}

/* ---- words ---- */

static char *new_word(struct fr_case *k)
{
	return k->word[k->word_at++ % FR_WORD_CNT];
}

const char *fr_word(struct fr_case *k, const char *fmt, ...)
{
	char *word = new_word(k);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(word, FR_WORD_SZ, fmt, ap);
	va_end(ap);
	return word;
}

const char *fr_word_who(struct fr_case *k, u32 tid, u64 ts)
{
	return fr_clues_who(k->c, tid, ts, new_word(k));
}

const char *fr_word_comm(struct fr_case *k, u32 tid, u64 ts)
{
	return fr_clues_comm(k->c, tid, ts, new_word(k));
}

const char *fr_word_ns(struct fr_case *k, u64 ns)
{
	return ns ? fr_show_duration(ns, new_word(k), FR_WORD_SZ) : "0 ns";
}

const char *fr_word_cnt(struct fr_case *k, u64 cnt)
{
	return fr_show_count(cnt, new_word(k), FR_WORD_SZ);
}

const char *fr_word_text(struct fr_case *k, const char *text, size_t len)
{
	char *word = new_word(k);

	word[fr_escape_mem(word, FR_WORD_SZ - 1, text, len)] = 0;
	return word;
}

const char *fr_word_or_more(const struct fr_case *k, const char *tracepoint, u64 from_ns)
{
	return fr_rares_has_all(&k->c->rares, tracepoint, from_ns) ? "" : " or more";
}

const char *fr_word_when(struct fr_case *k, u64 ts)
{
	u64 real_ns = fr_wall_real(k->c->view->wall, ts), at_ns = k->c->at_ns;
	time_t sec = real_ns / FR_SEC_NS;
	char *word = new_word(k), clock[32];
	struct tm tm;

	if (real_ns && localtime_r(&sec, &tm) && strftime(clock, sizeof(clock), "%H:%M:%S", &tm))
		snprintf(word, FR_WORD_SZ, "%s.%06llu", clock, (real_ns % FR_SEC_NS / 1000));
	else if (ts == at_ns)
		return "the trigger";
	else
		snprintf(word, FR_WORD_SZ, "%s %s the trigger", fr_word_ns(k, ts < at_ns ? at_ns - ts : ts - at_ns),
			 ts < at_ns ? "before" : "after");
	return word;
}

const char *fr_word_call(struct fr_case *k, const struct fr_waited *w)
{
	char call[FR_WAITED_CALL_SZ], *word = new_word(k);

	if (w == &k->by_steps && !k->knows_call)
		return w->kstack_id ? "in the kernel" : "(in what is not known)";
	snprintf(word, FR_WORD_SZ, "in %s%s", w->in == FR_WAITED_kernel ? "the " : "", fr_waited_call(w, k->c->arch, call));
	return word;
}

const char *fr_word_rounds(struct fr_case *k, const struct fr_waited *w)
{
	return w == &k->by_rounds ? fr_word(k, ", %u times or more", k->round_cnt) : "";
}

const char *fr_word_object(struct fr_case *k, const struct fr_waited *w)
{
	char about[FR_WAITED_OBJECT_SZ], *word = new_word(k);
	size_t len = strlen(fr_waited_about(w, k->c->arch, about));

	strcpy(word, len ? " on " : "");
	if (len)
		word[4 + fr_escape_mem(word + 4, FR_WORD_SZ - 5, about, len)] = 0;
	return word;
}

const char *fr_word_owner(struct fr_case *k, const struct fr_waited *w)
{
	char *word;

	if (!w->owner_pid)
		return "";
	word = new_word(k);
	snprintf(word, FR_WORD_SZ, " held by %s", fr_word_who(k, w->owner_pid, fr_waited_began_ns(w)));
	return word;
}

#define FRAMES_SHOWN 4u

const char *fr_word_place(struct fr_case *k, const struct fr_waited *w)
{
	struct fr_waitstack s = fr_waitstack_find(k->c->symbols, k->c->view->stacks, w->kstack_id);
	char *word, frame[20];
	size_t len = 0;
	u32 i;

	if (!k->c->symbols || s.from == s.to)
		return "";
	word = new_word(k);
	word[0] = 0;
	for (i = s.from; i < s.to && i < s.from + FRAMES_SHOWN; i++) {
		const char *name = fr_waitstack_name(k->c->symbols, s.ip[i], frame);

		if (len)
			len += snprintf(word + len, FR_WORD_SZ - len, " < ");
		if (len + 1 >= FR_WORD_SZ)
			break;
		len += fr_escape_mem(word + len, FR_WORD_SZ - 1 - len, name, strlen(name));
		word[len] = 0;
	}
	return word;
}

/* Every end goes through these: they say nothing of this one. */
static bool is_of_every_end(const char *name)
{
	static const char *const names[] = {"_exit",
					    "_Exit",
					    "exit",
					    "__run_exit_handlers",
					    "abort",
					    "raise",
					    "gsignal",
					    "__pthread_kill_implementation",
					    "__pthread_kill_internal",
					    "pthread_kill",
					    "runtime.exit.abi0",
					    "runtime.raise.abi0",
					    "runtime.dieFromSignal",
					    "runtime.systemstack.abi0"};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

#define NAME_LONG 60u

/* Behind the parenthesis that ends what begins here; NULL: none does. */
static const char *frame_closed(const char *at)
{
	u32 depth = 0;

	do
		depth += *at == '(' ? 1 : *at == ')' ? -1 : 0;
	while (depth && *++at);
	return *at ? at + 1 : NULL;
}

/*
 * A long C++ name without its result, template's arguments and parameters; all others as they are, but for what does not fit.
 * So are those of what is within a function, whose own names come behind its parameters.
 */
static void frame_short(const char *name, char *out, size_t sz)
{
	static const char anonymous[] = "(anonymous namespace)::";
	u32 templates = 0, parens = 0;
	const char *at, *behind;
	size_t len = 0;

	snprintf(out, sz, "%s", name);
	if (strlen(name) <= NAME_LONG || !strstr(name, "::") || strstr(name, "operator") || *name == '<')
		return;
	for (at = name; *at && len + 1 < sz; at++) {
		if (templates) {
			parens += *at == '(' ? 1 : *at == ')' && parens ? -1 : 0;
			templates += parens ? 0 : *at == '<' ? 1 : *at == '>' ? -1 : 0;
		} else if (!strncmp(at, anonymous, sizeof(anonymous) - 1)) {
			at += sizeof(anonymous) - 2;
		} else if (*at == '(') {
			behind = len && at[1] != '*' /* Go's */ ? frame_closed(at) : NULL;
			if (!behind || strstr(behind, "::") || strchr(behind, '('))
				break;
			out[len] = 0;
			return;
		} else if (*at == '<') {
			templates++;
		} else if (*at == ' ') {
			len = 0;
		} else {
			out[len++] = *at;
		}
	}
	snprintf(out, sz, "%s", name);
}

const char *fr_word_frames(struct fr_case *k, u32 tid, u64 ts, u64 ustack_id)
{
	char *word = new_word(k), last[128] = "", text[128];
	struct fr_symbol s;
	size_t len = 0;
	u32 i, shown = 0;

	word[0] = 0;
	for (i = 0; shown < FRAMES_SHOWN && fr_clues_user_frame(k->c, tid, ts, ustack_id, i, &s) && s.name; i++) {
		if ((!shown && is_of_every_end(s.name)) || !strncmp(last, s.name, sizeof(last) - 1)) /* a recursion */
			continue;
		snprintf(last, sizeof(last), "%s", s.name);
		frame_short(s.name, text, sizeof(text));
		if (shown && len + strlen(" < ") + 4 * strlen(text) >= FR_WORD_SZ)
			break;
		len += snprintf(word + len, FR_WORD_SZ - len, "%s", shown++ ? " < " : "");
		len += fr_escape_mem(word + len, FR_WORD_SZ - 1 - len, text, strlen(text));
		word[len] = 0;
	}
	return word;
}

const char *fr_word_ender(struct fr_case *k, const struct fr_waited *w)
{
	char *word = new_word(k);

	if (fr_waited_was_runnable(w))
		return "runnable all the time";
	if (w == &k->by_steps && k->is_going)
		return "and goes on";
	if (w == &k->by_steps)
		return "and was woken, by what is not recorded";
	if (w->waker == FR_WAKER_task && w->waker_pid)
		snprintf(word, FR_WORD_SZ, "woken by %s", fr_word_who(k, w->waker_pid, fr_waited_woken_ns(w)));
	else
		snprintf(word, FR_WORD_SZ, "ended by %s", fr_waker_words(w->waker));
	return word;
}

/* ---- what several ask ---- */

s64 fr_case_fact(const struct fr_case *k, const char *name, s64 otherwise)
{
	s64 v;

	return fr_snap_fact_num(k->c->snap, name, &v) ? v : otherwise;
}

bool fr_case_asks_for_queue(const struct fr_case *k)
{
	const char *what = fr_snap_fact(k->c->snap, "trigger_latency");

	return k->wait && k->wait->tid == k->c->tid && what && !strcmp(what, "wakeup") && k->c->value_ns &&
	       k->wait->queued_ns >= k->c->value_ns / 2;
}

bool fr_case_is_queued(const struct fr_case *k, u64 *from_ns, u64 *to_ns)
{
	const struct fr_waited *w = k->wait;

	if (!w || (w->queued_ns < w->off_ns / 2 && !fr_case_asks_for_queue(k)))
		return false;
	*from_ns = fr_waited_woken_ns(w);
	*to_ns = w->ts;
	return true;
}

bool fr_case_top_user(struct fr_case *k, u32 cpu, u64 from_ns, u64 to_ns, struct fr_clue_use *out)
{
	struct fr_tally use;
	bool found = false;
	u32 i;

	if (!fr_clues_covers_most(k->c, cpu, from_ns, to_ns))
		return false;
	if (fr_clues_use(k->c, cpu, from_ns, to_ns, &use)) {
		k->failed = true;
		return false;
	}
	for (i = 0; i < use.cnt && !found; i++) {
		*out = *(struct fr_clue_use *)fr_tally_at(&use, i);
		found = out->key != 0;
	}
	fr_tally_free(&use);
	return found;
}

const struct fr_waited *fr_case_wait_of_waker(const struct fr_case *k, const struct fr_waited *w)
{
	u64 began_ns = fr_waited_began_ns(w), woken_ns = fr_waited_woken_ns(w);
	const struct fr_waited *of = fr_clues_wait_in(k->c, w->waker_pid, began_ns, woken_ns, w->blocked_ns / 2);

	return of && of->ts <= woken_ns ? of : NULL;
}

/* The fork that made this process, the last one before ts; NULL: it is not known. */
static const struct fr_clue_fork *verdict_birth(const struct fr_clues *c, u32 pid, u64 ts)
{
	const struct fr_clue_fork *fork = c->fork.at;
	size_t i = c->fork.cnt;

	while (i--)
		if (fork[i].child == pid && fork[i].pid == pid && fork[i].ts <= ts)
			return &fork[i];
	return NULL;
}

struct child {
	u64 key; /* pid */
	bool lives;
};

/* Of the processes that this one forked, the only one that has not ended; 0: there are several, or none. */
static u32 verdict_only_child(const struct fr_clues *c, s32 pid, u64 born_ns)
{
	const struct fr_clue_fork *fork = c->fork.at;
	const struct fr_clue_end *end = c->end.at;
	struct fr_tally t = {.rec_sz = sizeof(struct child)};
	struct child *one;
	u32 n, cnt = 0, child = 0;
	size_t i, e;

	for (i = e = 0; i < c->fork.cnt || e < c->end.cnt;) {
		if (i == c->fork.cnt || (e < c->end.cnt && end[e].ts <= fork[i].ts)) {
			one = fr_tally_find(&t, (u32)fr_clues_pid(c, end[e].tid, end[e].ts));
			if (one)
				one->lives = false;
			e++;
			continue;
		}
		if (fork[i].child == fork[i].pid && fork[i].ts >= born_ns &&
		    fr_clues_pid(c, fork[i].parent, fork[i].ts) == pid) {
			one = fr_tally_get(&t, fork[i].child);
			if (!one) {
				fr_tally_free(&t);
				return 0;
			}
			one->lives = true;
		}
		i++;
	}
	for (n = 0; n < t.cnt; n++) {
		one = fr_tally_at(&t, n);
		cnt += one->lives;
		child = one->lives ? one->key : child;
	}
	fr_tally_free(&t);
	return cnt == 1 ? child : 0;
}

/* Of the tasks that live, the only child of this process; pid: if not 0, that one. 0: there are several, or none. */
static u32 verdict_child_of(const struct fr_case *k, s32 parent, u32 pid)
{
	size_t cnt, i;
	const struct fr_snap_task *t = fr_snap_tasks(k->c->snap, &cnt);
	u32 child = 0;

	for (i = 0; i < cnt; i++) {
		if (t[i].task.exit_ns || t[i].task.ppid != (u32)parent || t[i].task.tgid != t[i].tid ||
		    t[i].tid == (u32)parent || t[i].tid == child || (pid && t[i].tid != pid))
			continue;
		if (child)
			return 0;
		child = t[i].tid;
	}
	return child;
}

/* The only child that its process has; 0: it has several, or none, or that is not known. */
static u32 verdict_lone_child(const struct fr_case *k, const struct fr_waited *w)
{
	const struct fr_clues *c = k->c;
	const struct fr_clue_fork *birth = c->is_full ? NULL : verdict_birth(c, w->pid, w->ts);

	if (birth && birth->ts >= c->life_ns)
		return verdict_only_child(c, w->pid, birth->ts);
	return fr_states_are_all(c->snap) ? verdict_child_of(k, w->pid, 0) : 0;
}

/*
 * The child that it waits for: that of the call, or the only one, where all that it ever forked is known. 0: it is not known.
 * In a container the call counts processes from 1: another one of the host may have that number, but is not its child. Of a
 * process that is older than the events, the table of tasks tells, which has all that live.
 */
static u32 verdict_child(const struct fr_case *k, const struct fr_waited *w)
{
	const struct fr_clues *c = k->c;
	char call[FR_WAITED_CALL_SZ];
	const struct fr_clue_fork *birth;
	s32 pid = w->arg[0];

	if (w->in != FR_WAITED_call || w->pid <= 0 || strcmp(fr_waited_call(w, c->arch, call), "wait4"))
		return 0;
	if (pid > 0) {
		birth = verdict_birth(c, pid, w->ts);
		if (!birth)
			return verdict_child_of(k, w->pid, pid);
		return fr_clues_pid(c, birth->parent, birth->ts) == w->pid ? pid : 0;
	}
	return pid == -1 ? verdict_lone_child(k, w) : 0;
}

/* The only other thread of its process that lives, which alone can wake it; 0: it may be another one, or does not wait for
 * that. */
static u32 verdict_mate(const struct fr_case *k, const struct fr_waited *w)
{
	size_t cnt, i;
	const struct fr_snap_task *t = fr_snap_tasks(k->c->snap, &cnt);
	u32 mate = 0;

	if (w->pid <= 0 || !fr_case_is_own_futex(k, w) || !fr_states_are_all(k->c->snap))
		return 0;
	for (i = 0; i < cnt; i++) {
		if (t[i].task.exit_ns || t[i].task.tgid != (u32)w->pid || t[i].tid == w->tid || t[i].tid == mate)
			continue;
		if (mate)
			return 0;
		mate = t[i].tid;
	}
	return mate;
}

bool fr_case_goes_on_for(const struct fr_case *k, const struct fr_waited *w, struct fr_still *out)
{
	u32 tid = w->owner_pid ?: verdict_child(k, w) ?: verdict_mate(k, w), peer = tid ? 0 : fr_case_asked(k, w);

	peer = tid || peer ? peer : fr_case_still_at_peer(k, w);
	tid = tid ?: peer;
	if (!tid || tid == w->tid || tid == k->c->tid || !fr_clues_still(k->c, tid, out))
		return false;
	if (fr_case_stands_still(k, &out->wait))
		return !fr_case_stood_briefly(&out->wait, w);
	/* a server's thread may have left the answer to another one, and wait for its next work */
	return !peer || !(fr_case_is_for_work(k, &out->wait) || fr_case_is_at_peer(&out->wait, w));
}

/* Does it wait for what comes by a pipe, or a pair of sockets, that it did not get from who started it, as by 0? */
static bool verdict_reads_pipe(const struct fr_case *k, const struct fr_waited *w)
{
	static const char *const calls[] = {"read", "poll", "ppoll", "select", "pselect6", "recvfrom", "recvmsg", NULL};
	static const char pipe[] = "pipe:", pair[] = "unix:";
	char call[FR_WAITED_CALL_SZ];

	if (w->in != FR_WAITED_call || !w->arg[0] || !fr_is_one_of(fr_waited_call(w, k->c->arch, call), calls))
		return false;
	return (w->object_len > sizeof(pipe) && !memcmp(w->object, pipe, sizeof(pipe) - 1)) ||
	       (w->object_len == sizeof(pair) - 1 && !memcmp(w->object, pair, sizeof(pair) - 1));
}

bool fr_case_only_child(const struct fr_case *k, const struct fr_waited *w, struct fr_still *out)
{
	u32 child = w->pid > 0 && (verdict_reads_pipe(k, w) || fr_case_is_for_untold(k, w)) ? verdict_lone_child(k, w) : 0;

	return child && child != k->c->tid && fr_clues_still(k->c, child, out);
}

bool fr_seen_add(struct fr_seen *s, u32 tid)
{
	u32 i;

	for (i = 0; i < s->cnt; i++)
		if (s->tid[i] == tid)
			return false;
	if (s->cnt == FR_VERDICT_LINK_MAX)
		return false;
	s->tid[s->cnt++] = tid;
	return true;
}

/* ---- the wait that it is about ---- */

#define ENDED_BY_NS (10 * FR_MSEC_NS) /* a signal's receiver runs so soon after it was sent, or the wait was another one's */

static bool verdict_is_reason(const struct fr_clues *c, const char *reason)
{
	return c->reason && !strcmp(c->reason, reason);
}

/* Its last time off a CPU, as its switches tell it; it may go on. Without a record, nobody is said to have ended it. */
static bool wait_by_steps(struct fr_case *k)
{
	const struct fr_an_focus *f = k->c->focus;
	struct fr_waited *w = &k->by_steps;
	const struct fr_an_step *left = NULL, *woken = NULL, *ran = NULL;
	u64 i = f && f->step_cnt > FR_AN_STEP_MAX ? f->step_cnt - FR_AN_STEP_MAX : 0;

	for (; f && i < f->step_cnt; i++) {
		const struct fr_an_step *s = &f->step[i % FR_AN_STEP_MAX];

		if (s->ts > k->c->at_ns)
			break;
		if (s->did == FR_AN_LEAVES)
			left = s, woken = ran = NULL;
		else if (s->did == FR_AN_WOKEN)
			woken = left && !woken ? s : woken;
		else
			ran = left ? s : NULL;
	}
	if (!left || left->state & FR_PREV_STATE_ENDED)
		return false;
	*w = (struct fr_waited){.ts = ran ? ran->ts : k->c->at_ns,
				.tid = f->tid,
				.pid = k->c->pid,
				.cpu = ran ? ran->cpu : left->cpu,
				.state = left->state,
				.in = left->in == FR_SPAN_IN_CALL ? FR_WAITED_call : FR_WAITED_user,
				.id = left->id,
				.abi = left->abi,
				.object = ""};
	w->off_ns = w->ts - left->ts;
	w->queued_ns = fr_waited_was_runnable(w) ? w->off_ns : woken ? w->ts - woken->ts : 0;
	w->blocked_ns = w->off_ns - w->queued_ns;
	if (f->stack_of == FR_AN_STACK_HUNG && f->stack_ns >= left->ts) /* of this wait */
		w->kstack_id = f->kstack_id;
	k->knows_call = left->in == FR_SPAN_IN_CALL;
	k->is_going = !ran && !woken && !fr_waited_was_runnable(w);
	return ran ? woken || fr_waited_was_runnable(w) : true;
}

/* What it still waits for, as its state when the file was made tells: the call, what that is about, and where. */
static bool wait_by_state(struct fr_case *k)
{
	struct fr_still still;

	if (!fr_clues_still(k->c, k->c->tid, &still))
		return false;
	k->by_steps = still.wait;
	k->knows_call = k->is_going = true;
	k->wait_from = still.from == FR_SINCE_TABLE	 ? "states"
		       : still.from == FR_SINCE_SWITCHES ? "sched_switch, states"
							 : "asleep, states";
	return true;
}

/* The waking is a part of the sending: its event is right behind that. */
#define SENT_BEFORE_NS FR_MSEC_NS
#define SENT_AFTER_NS  (FR_MSEC_NS / 5)

static bool verdict_is_sent_at(const struct fr_clue_signal *s, u64 woken_ns)
{
	return s->ts + SENT_BEFORE_NS >= woken_ns && s->ts <= woken_ns + SENT_AFTER_NS;
}

static bool verdict_is_for_child(const struct fr_case *k, const struct fr_waited *w)
{
	char call[FR_WAITED_CALL_SZ];

	return w->in == FR_WAITED_call && !strncmp(fr_waited_call(w, k->c->arch, call), "wait", 4);
}

const struct fr_clue_signal *fr_case_ended_by_signal(const struct fr_case *k, const struct fr_waited *w)
{
	const struct fr_clues *c = k->c;
	const struct fr_clue_signal *s = c->signal.at;
	size_t i;

	for (i = 0; w->waker_pid && i < c->signal.cnt; i++) {
		if (s[i].sender != w->waker_pid || s[i].result || s[i].ts < fr_waited_began_ns(w) ||
		    !verdict_is_sent_at(&s[i], fr_waited_woken_ns(w)))
			continue;
		/* a child's end ends that, whatever SIGCHLD does */
		if (s[i].sig == SIGCHLD && verdict_is_for_child(k, w))
			continue;
		if (s[i].target == w->tid || (s[i].group && fr_clues_pid(c, s[i].target, s[i].ts) == w->pid))
			return &s[i];
	}
	return NULL;
}

bool fr_case_is_for_signal(const struct fr_case *k, const struct fr_waited *w)
{
	static const char *const calls[] = {"pause", "rt_sigsuspend", "rt_sigtimedwait", "sigsuspend", NULL};
	char call[FR_WAITED_CALL_SZ];

	return w->in == FR_WAITED_call && fr_is_one_of(fr_waited_call(w, k->c->arch, call), calls);
}

#define BESIDE_NS  50000u     /* a program takes its time a bit before or after the event's */
#define GOES_ON_NS FR_MSEC_NS /* from the switch that ended it to the trigger, where interrupts come in between */

/*
 * The task is said to have waited in this time. Does something tell that it ran meanwhile, although no switch to it does? A
 * kernel may hide switches of a task from all tracers; whoever measures from one it saw to the next one then measures too much.
 * Who leaves a CPU has had it, and who is woken again has slept. may_wake: it was asleep first, and may be woken once.
 */
static bool verdict_lacks_switch(const struct fr_case *k, u64 from_ns, u64 to_ns, bool may_wake)
{
	const struct fr_an_focus *f = k->c->focus;
	u64 i = f && f->step_cnt > FR_AN_STEP_MAX ? f->step_cnt - FR_AN_STEP_MAX : 0;
	u32 woken = 0;

	for (; f && i < f->step_cnt; i++) {
		const struct fr_an_step *s = &f->step[i % FR_AN_STEP_MAX];

		if (s->ts <= from_ns + BESIDE_NS || s->ts + (s->did == FR_AN_RUNS ? GOES_ON_NS : BESIDE_NS) >= to_ns)
			continue;
		if (s->did != FR_AN_WOKEN)
			return true;
		woken++;
	}
	return woken > may_wake;
}

/* Is it about a time without a CPU? */
static bool verdict_is_off_cpu(const struct fr_clues *c)
{
	const char *kind = fr_snap_fact(c->snap, "trigger_latency");

	return !verdict_is_reason(c, "latency") || (kind && (!strcmp(kind, "wakeup") || !strcmp(kind, "offcpu")));
}

/* From its waking on? */
static bool verdict_is_wakeup(const struct fr_clues *c)
{
	const char *kind = fr_snap_fact(c->snap, "trigger_latency");

	return verdict_is_reason(c, "latency") && kind && !strcmp(kind, "wakeup");
}

bool fr_case_is_shared_span(const struct fr_case *k)
{
	const char *id = fr_snap_fact(k->c->snap, "trigger_what");

	return fr_snap_fact(k->c->snap, "trigger_span") && (!id || strcmp(id, "0"));
}

/* Waits of one call at one place of the kernel. */
struct verdict_round {
	u64 key; /* the kernel stack's id */
	struct fr_waited all;
	u32 cnt;
};

/*
 * A call may wait again and again, none of which is most of it: for room or for pages, a bit at a time. Those at one place are
 * taken as one wait, if they are most of the call: its times are their sums. What ended it is told only where it was the same
 * for each.
 */
static bool wait_by_rounds(struct fr_case *k, u64 from_ns, u64 to_ns)
{
	const char *kind = fr_snap_fact(k->c->snap, "trigger_latency");
	struct fr_tally t = {.rec_sz = sizeof(struct verdict_round)};
	const struct verdict_round *most = NULL;
	const struct fr_waited *w;
	struct verdict_round *r;
	size_t i;
	u32 n;

	if (!kind || strcmp(kind, "syscall"))
		return false;
	for (i = 0; (w = fr_clues_wait(k->c, i)); i++) {
		if (w->tid != k->c->tid || w->in != FR_WAITED_call || w->id != fr_case_fact(k, "trigger_what", -1) ||
		    !w->kstack_id || fr_waited_was_runnable(w) || fr_waited_began_ns(w) + BESIDE_NS < from_ns || w->ts > to_ns)
			continue;
		r = fr_tally_get(&t, w->kstack_id);
		if (!r) {
			k->failed = true;
			break;
		}
		if (!r->cnt++) {
			r->all = *w;
			continue;
		}
		r->all.ts = w->ts;
		r->all.off_ns += w->off_ns;
		r->all.blocked_ns += w->blocked_ns;
		r->all.queued_ns += w->queued_ns;
		if (w->waker != r->all.waker || w->waker_pid != r->all.waker_pid)
			r->all.waker = FR_WAKER_unknown, r->all.waker_pid = 0;
	}
	for (n = 0; n < t.cnt; n++) {
		r = fr_tally_at(&t, n);
		most = !most || r->all.off_ns > most->all.off_ns ? r : most;
	}
	if (most && most->cnt > 1 && most->all.off_ns >= (to_ns - from_ns) / 2) {
		k->by_rounds = most->all;
		k->round_cnt = most->cnt;
	}
	fr_tally_free(&t);
	return k->round_cnt && !k->failed;
}

static void verdict_find_wait(struct fr_case *k)
{
	const struct fr_clues *c = k->c;
	bool took = verdict_is_reason(c, "latency") || verdict_is_reason(c, "hung") || verdict_is_reason(c, "asleep");
	u64 from_ns = c->at_ns - (took ? c->value_ns : ENDED_BY_NS), to_ns = c->at_ns;

	/* what a task waited for when it was sent one signal of many is not what a rule on how many there are asks for */
	if (!c->tid || c->value_ns > c->at_ns || (took && !c->value_ns) || fr_case_is_shared_span(k) ||
	    verdict_is_reason(c, "rate"))
		return;
	k->wait_from = "wait";
	k->lacks_switch = took && verdict_is_off_cpu(c) && verdict_lacks_switch(k, from_ns, to_ns, !verdict_is_wakeup(c));
	if (k->lacks_switch)
		return;
	if (took)
		k->wait = fr_clues_wait_in(c, c->tid, from_ns, to_ns, c->value_ns / 2);
	else
		k->wait = fr_clues_wait_in(c, c->tid, from_ns, to_ns, 1);
	if (!took && k->wait && !fr_case_ended_by_signal(k, k->wait))
		k->wait = NULL;
	if (took && !k->wait && wait_by_rounds(k, from_ns, to_ns))
		k->wait = &k->by_rounds;
	if (k->wait || !took)
		return;
	if (!wait_by_state(k)) {
		if (!wait_by_steps(k))
			return;
		k->wait_from = k->by_steps.kstack_id ? "sched_switch, hung"
			       : k->is_going	     ? "sched_switch"
						     : "sched_switch, sched_waking";
	}
	if (fr_overlap_ns(fr_waited_began_ns(&k->by_steps), k->by_steps.ts, from_ns, to_ns) >= c->value_ns / 2)
		k->wait = &k->by_steps;
}

int fr_verdict_make(const struct fr_clues *c, struct fr_finding *v)
{
	struct fr_case *k = calloc(1, sizeof(*k));
	bool failed;

	*v = (struct fr_finding){0};
	if (!k)
		return -ENOMEM;
	k->c = c;
	k->v = v;
	verdict_find_wait(k);
	fr_case_what(k);
	fr_case_chain(k);
	fr_case_recognise(k);
	fr_case_rule_out(k);
	failed = k->failed;
	free(k);
	return failed ? -ENOMEM : 0;
}
