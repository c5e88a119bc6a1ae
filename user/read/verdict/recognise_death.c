/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* recognise_death: why a process ended. */
#include <signal.h>
#include <sys/resource.h>

#include "base/incident.h"
#include "base/schema/sysnames.h"
#include "base/text/list.h"
#include "base/text/units.h"
#include "read/verdict/verdict_int.h"

static bool is_crash(const struct fr_case *k)
{
	return k->c->tid && k->c->pid > 0 && k->c->reason && !strcmp(k->c->reason, "crash");
}

/* The out-of-memory killer's choice of it; NULL: it did not choose it. */
static const struct fr_clue_victim *victim_of(const struct fr_clues *c)
{
	const struct fr_clue_victim *v = c->victim.at;
	size_t i = c->victim.cnt;

	while (i--)
		if (v[i].ts <= c->at_ns && (v[i].tid == c->tid || fr_clues_pid(c, v[i].tid, v[i].ts) == c->pid))
			return &v[i];
	return NULL;
}

/* ---- who killed it ---- */

/* The signal that ended it: the last one, as an earlier one was not what it died of; NULL: it is not known. */
static const struct fr_clue_signal *death_signal(const struct fr_case *k, s64 sig)
{
	const struct fr_clues *c = k->c;
	const struct fr_clue_signal *s = c->signal.at;
	size_t i = c->signal.cnt;

	while (i--)
		if (s[i].ts <= c->at_ns && s[i].sig == sig && !s[i].result &&
		    (s[i].target == c->tid || fr_clues_pid(c, s[i].target, s[i].ts) == c->pid))
			return &s[i];
	return NULL;
}

const char *fr_word_end(struct fr_case *k, const struct fr_clue_end *end)
{
	const char *name = end->sig ? fr_signal_name(end->sig) : NULL;

	if (end->sig)
		return name ? fr_word(k, " by %s", name) : fr_word(k, " by signal %u", end->sig);
	return end->status ? fr_word(k, " with status %u", end->status) : "";
}

/* Did a task of another process send it, itself or as the kernel did in its name? */
static bool is_of_other(const struct fr_case *k, const struct fr_clue_signal *s)
{
	return s->sender && fr_clues_pid(k->c, s->sender, s->ts) != k->c->pid;
}

/* The end of the sender's process, which came before the signal; NULL: it had not ended, or that is not known. */
static const struct fr_clue_end *sender_end(const struct fr_clues *c, const struct fr_clue_signal *s)
{
	const struct fr_clue_end *end = c->end.at;
	size_t i = c->end.cnt;

	while (i--)
		if (end[i].tid == s->sender && end[i].ts <= s->ts)
			return end[i].ts + FR_SEC_NS >= s->ts ? &end[i] : NULL;
	return NULL;
}

/*
 * A task that ends sends nothing itself. What the kernel sends in its name then is SIGKILL of its own, to all that are left in
 * the PID namespace whose first process it was.
 */
static bool is_killed_by_namespace(struct fr_case *k, const struct fr_clue_signal *s)
{
	const struct fr_clue_end *end =
		s->sig == SIGKILL && s->code == SI_KERNEL && is_of_other(k, s) && !victim_of(k->c) ? sender_end(k->c, s) : NULL;

	if (!end)
		return false;
	fr_case_cause(
		k, "signal_generate, sched_process_exit",
		"the kernel killed it, as %s had ended%s, %s before: when the first process of a PID namespace ends, as a "
		"container's entry point, all others in it are sent SIGKILL",
		fr_word_who(k, s->sender, s->ts), fr_word_end(k, end), fr_word_ns(k, s->ts - end->ts));
	return true;
}

/* A terminal that is no more: its session is told in the name of who closed the other end, or whose end that was. */
static bool is_hung_up(struct fr_case *k, const struct fr_clue_signal *s)
{
	if (s->sig != SIGHUP || s->code != SI_KERNEL || !is_of_other(k, s))
		return false;
	fr_case_cause(k, "signal_generate",
		      "the kernel sent it SIGHUP because of what %s did, %s before: so a session is told that its terminal was "
		      "hung up, as by closing its other end, or that its leader has ended",
		      fr_word_who(k, s->sender, s->ts), fr_word_ns(k, k->c->at_ns - s->ts));
	return true;
}

/* Its hard limit of CPU time; all ones: it has none, or that is not known. */
static u64 cpu_limit_sec(const struct fr_clues *c)
{
	size_t cnt, i;
	const struct fr_snap_scene *s = fr_snap_scenes(c->snap, &cnt);

	for (i = 0; i < cnt; i++)
		if (s[i].tid == c->tid && s[i].what == FR_SCENE_limit && s[i].number == RLIMIT_CPU)
			return s[i].value[1];
	return ~0ull;
}

/* The kernel's SIGKILL in its own name, to one that has such a limit: it is sent on a tick, in whoever's name that was used up.
 */
static bool is_out_of_cpu_time(struct fr_case *k, const struct fr_clue_signal *s)
{
	u64 limit_sec = cpu_limit_sec(k->c);

	if (s->sig != SIGKILL || s->code != SI_KERNEL || !s->sender || is_of_other(k, s) || victim_of(k->c) ||
	    limit_sec == ~0ull)
		return false;
	fr_case_cause(k, "signal_generate, trigger",
		      "the kernel killed it in its own name, as it does when a process has used the CPU time that it may: its "
		      "hard limit is %s (RLIMIT_CPU)",
		      fr_word_ns(k, limit_sec * FR_SEC_NS));
	return true;
}

/* Do the rings tell of this signal to the process, whoever sent it? */
static bool has_signal(const struct fr_clues *c, s64 sig)
{
	const struct fr_clue_signal *s = c->signal.at;
	size_t i = c->signal.cnt;

	while (i--)
		if (s[i].sig == sig && (s[i].target == c->tid || fr_clues_pid(c, s[i].target, s[i].ts) == c->pid))
			return true;
	return false;
}

/* The log of incidents knows the sender where the signal itself is not in the rings any more. */
static bool is_killed_by_log(struct fr_case *k, s64 sig)
{
	size_t cnt, i;
	const struct fr_snap_incident *inc = fr_snap_incidents(k->c->snap, &cnt);

	for (i = 0; i < cnt; i++) {
		const struct fr_incident *rec = &inc[i].rec;
		const char *sender = fr_incident_sender(rec);

		if (rec->kind != FR_INCIDENT_signal || (s32)rec->pid != k->c->pid || rec->sig != sig || !sender || !*sender ||
		    !rec->value || rec->value == rec->pid || fr_incident_is_sum(rec) || rec->ts + FR_SEC_NS < k->c->at_ns ||
		    rec->ts > k->c->at_ns + FR_SEC_NS)
			continue;
		fr_case_cause(k, "incidents", "%s was sent by %s/%llu, as the log of incidents says", fr_signal_name(sig),
			      fr_word_text(k, sender, strlen(sender)), rec->value);
		return true;
	}
	return false;
}

/* Code 0 or less: a process asked for it, in its own call. The kernel's own signals have another one. */
bool fr_recognise_killer(struct fr_case *k)
{
	s64 sig = fr_case_fact(k, "trigger_sig", 0);
	const struct fr_clue_signal *s = is_crash(k) && !k->c->is_full ? death_signal(k, sig) : NULL;
	const char *name = fr_signal_name(sig);
	s32 sender;
	u32 parent;
	u64 ts;

	if (!name || !is_crash(k))
		return false;
	if (s && (is_killed_by_namespace(k, s) || is_hung_up(k, s) || is_out_of_cpu_time(k, s)))
		return true;
	if (!s || s->code > 0 || !is_of_other(k, s))
		return !has_signal(k->c, sig) && !victim_of(k->c) && is_killed_by_log(k, sig);
	sender = fr_clues_pid(k->c, s->sender, s->ts);
	parent = fr_clues_parent(k->c, sender > 0 ? (u32)sender : s->sender, s->ts, &ts);
	fr_case_cause(k, parent ? "signal_generate, sched_process_fork" : "signal_generate",
		      "%s was sent by %s, %s before it died%s%s", name, fr_word_who(k, s->sender, s->ts),
		      fr_word_ns(k, k->c->at_ns - s->ts), parent ? "; that was started by " : "",
		      parent ? fr_word_who(k, parent, ts) : "");
	return true;
}

/* ---- the heap ---- */

/* The C library's functions that find a damaged heap, and those that they are called by. */
static const char *const heap_calls[] = {"free",
					 "cfree",
					 "__libc_free",
					 "_int_free",
					 "_int_free_check",
					 "_int_free_merge_chunk",
					 "_int_free_create_chunk",
					 "tcache_double_free_verify",
					 "realloc",
					 "__libc_realloc",
					 "_int_realloc",
					 "malloc",
					 "__libc_malloc",
					 "_int_malloc",
					 "calloc",
					 "__libc_calloc",
					 "malloc_consolidate",
					 "unlink_chunk",
					 "munmap_chunk",
					 "tcache_put",
					 "operator delete(void*)",
					 "operator delete(void*, unsigned long)",
					 NULL};
static const char *const aborts[] = {"abort",	       "raise", "__libc_message", "__libc_message_impl", "malloc_printerr",
				     "__fortify_fail", NULL};

/*
 * It aborted in a function of the heap, which nothing but damage makes it do. From there to abort() all is the C library's own:
 * a program that aborts by itself has a function of its own between them.
 */
bool fr_recognise_heap(struct fr_case *k)
{
	const struct fr_an_focus *f = k->c->focus;
	const char *in = NULL, *library = NULL;
	struct fr_symbol s = {0};
	u32 i;

	if (!is_crash(k) || fr_case_fact(k, "trigger_sig", 0) != SIGABRT || !f || f->stack_of != FR_AN_STACK_CRASH)
		return false;
	for (i = 0; fr_clues_user_frame(k->c, f->tid, f->stack_ns, f->ustack_id, i, &s); i++) {
		if (!library)
			library = fr_is_one_of(s.name, aborts) ? s.module : NULL;
		else if (!s.module || strcmp(s.module, library))
			break;
		else if (fr_is_one_of(s.name, heap_calls))
			in = s.name;
	}
	if (!in)
		return false;
	fr_case_cause(k, "crash",
		      "the C library aborted it in %s: the heap was damaged before, by a double free, a write behind a block "
		      "or the like%s%s",
		      fr_word_text(k, in, strlen(in)), s.name ? "; it was called from " : "",
		      s.name ? fr_word_text(k, s.name, strlen(s.name)) : "");
	return true;
}

/* ---- a fault that it handled ---- */

/* Is this the frame in which the fault was, on the way to the end: the same address, in this frame or one around it? */
static bool leads_from(const struct fr_case *k, const struct fr_an_focus *f, const struct fr_clue_fault *fault, u32 i)
{
	u64 at, ip;

	if (!fr_clues_frame_ip(k->c, fault->ustack_id, 0, &at))
		return false;
	for (; fr_clues_frame_ip(k->c, f->ustack_id, i, &ip); i++)
		if (ip == at)
			return true;
	return false;
}

/* Did it die of a signal that it sent itself? */
static bool is_sent_by_itself(const struct fr_case *k)
{
	const struct fr_clues *c = k->c;
	const struct fr_clue_signal *s = c->signal.at;
	s64 sig = fr_case_fact(k, "trigger_sig", 0);
	size_t i = c->signal.cnt;

	while (i-- && (s[i].ts > c->at_ns || s[i].sig != sig || s[i].result ||
		       (s[i].target != c->tid && fr_clues_pid(c, s[i].target, s[i].ts) != c->pid)))
		;
	return is_crash(k) && i != (size_t)-1 && s[i].code <= 0 && s[i].sender &&
	       fr_clues_pid(c, s[i].sender, s[i].ts) == c->pid;
}

/*
 * The last fault of its own thread that it handled, and ended from. A handler that sends itself a signal gets it when it
 * returns: at the fault's instruction again. NULL: none is known.
 */
static const struct fr_clue_fault *handled_fault(const struct fr_case *k)
{
	const struct fr_an_focus *f = k->c->focus;
	const struct fr_clue_fault *fault = k->c->fault.at;
	size_t i = k->c->fault.cnt;

	if (!f || !k->c->tid || (f->stack_of != FR_AN_STACK_EXIT && f->stack_of != FR_AN_STACK_CRASH))
		return NULL;
	while (i-- && (fault[i].tid != k->c->tid || fault[i].ts > f->stack_ns))
		;
	return i != (size_t)-1 && leads_from(k, f, &fault[i], !is_sent_by_itself(k)) ? &fault[i] : NULL;
}

/*
 * A runtime, or a handler of the program's own, makes an error of a fault, and the process ends of that: its stack still has
 * the instruction that the fault was at.
 */
bool fr_recognise_handled_fault(struct fr_case *k)
{
	const struct fr_an_focus *f = k->c->focus;
	const struct fr_clue_fault *fault = handled_fault(k);
	const char *name = fault ? fr_signal_name(fault->sig) : NULL, *in;

	if (!name)
		return false;
	in = fr_word_frames(k, fault->tid, fault->ts, fault->ustack_id);
	if (!*in)
		return false;
	fr_case_cause(k, f->stack_of == FR_AN_STACK_EXIT ? "failure" : "failure, crash",
		      "%s at address 0x%llx in %s, %s before: it handled that fault itself, and ended from there", name,
		      fault->addr, in, fr_word_ns(k, f->stack_ns - fault->ts));
	return true;
}

/* ---- memory ---- */

/* Was it chosen since another process asked for memory? Not where a kernel worker did so for somebody, as for SysRq. */
static bool is_bystander(const struct fr_clues *c, const struct fr_clue_victim *v)
{
	s32 asker = v->asker ? fr_clues_pid(c, v->asker, v->ts) : -1, pid = fr_clues_pid(c, v->tid, v->ts);

	return asker > 0 && pid > 0 && asker != pid && !fr_clues_is_kworker(c, v->asker, v->ts);
}

/* The kernel says whom it chose, and how much memory that had. */
bool fr_recognise_oom(struct fr_case *k)
{
	const struct fr_clues *c = k->c;
	bool is_kill = is_crash(k) && fr_case_fact(k, "trigger_sig", 0) == SIGKILL;
	const struct fr_clue_victim *v;
	const char *cgroup, *logged, *whose;
	char rss[32];
	bool beside;

	if (!c->tid || c->pid <= 0 || (!is_kill && (!c->reason || strcmp(c->reason, "oom"))))
		return false;
	v = victim_of(c);
	if (!v)
		return false;
	beside = is_bystander(c, v);
	cgroup = fr_word_oom_cgroup(k, v);
	logged = fr_word_oom_logged(k, v, &whose);
	fr_case_cause(
		k,
		fr_word(k, "mark_victim%s%s", *cgroup && !*whose ? ", counters" : "", *logged || *whose ? ", kernel log" : ""),
		"memory ran out, of %s%s%s: the out-of-memory killer chose %s, which had %s, %s before%s",
		*whose	  ? whose /* the kernel's own word, of this kill */
		: *cgroup ? cgroup
			  : "the host or of a cgroup",
		beside ? ", when it was asked for by " : "", beside ? fr_word_who(k, v->asker, v->ts) : "",
		fr_word_who(k, v->tid, v->ts), fr_show_size(v->rss_kib << 10, rss, sizeof(rss)),
		fr_word_ns(k, c->at_ns - v->ts), logged);
	return true;
}

/* ---- the stack ---- */

#define GUARD_SZ   (1u << 20) /* a frame may be as large; the kernel's gap below a stack is as large */
#define SAME_LEAST 8u

#define CIRCLE_MOST 12u /* functions that call each other */
#define CIRCLE_TOLD 4u
#define ABOVE_MOST  8u /* frames of functions that they called last: helpers, an allocator */

/* A frame's function: by its name, or, where that is not known, by the address that is returned to. */
struct death_frame {
	const char *name; /* NULL: not known */
	u64 ip;
};

/* Functions that call themselves, one or several in a circle. */
struct recursion {
	struct death_frame of[ABOVE_MOST + CIRCLE_MOST]; /* the innermost ones */
	u32 at, cnt;					 /* the circle begins at that frame, and has so many functions */
	u32 frames;					 /* that are theirs, one on the other */
};

static bool death_frame(const struct fr_case *k, u32 i, struct death_frame *out)
{
	const struct fr_an_focus *f = k->c->focus;
	struct fr_symbol s;

	if (!fr_clues_user_frame(k->c, f->tid, f->stack_ns, f->ustack_id, i, &s))
		return false;
	out->name = s.name;
	return fr_clues_frame_ip(k->c, f->ustack_id, i, &out->ip);
}

static bool death_frame_is(const struct fr_case *k, u32 i, const struct death_frame *like)
{
	struct death_frame f;

	if (!death_frame(k, i, &f) || !f.name != !like->name)
		return false;
	return f.name ? !strcmp(f.name, like->name) : f.ip == like->ip;
}

/* Has one of the circle a name? Where none has, nothing is said of them. */
static bool recursion_has_name(const struct recursion *r)
{
	u32 i = 0;

	while (i < r->cnt && !r->of[r->at + i].name)
		i++;
	return i < r->cnt;
}

/* Each function of the circle is there three times: two that were called twice by chance are none. */
static bool find_recursion(const struct fr_case *k, struct recursion *r)
{
	u32 all = 0;

	while (all < sizeof(r->of) / sizeof(r->of[0]) && death_frame(k, all, &r->of[all]))
		all++;
	for (r->at = 0; r->at <= ABOVE_MOST; r->at++)
		for (r->cnt = 1; r->cnt <= CIRCLE_MOST && r->at + r->cnt <= all; r->cnt++) {
			for (r->frames = 0; death_frame_is(k, r->at + r->frames, &r->of[r->at + r->frames % r->cnt]);
			     r->frames++)
				;
			if (r->frames >= SAME_LEAST && r->frames >= 3 * r->cnt && recursion_has_name(r))
				return true;
		}
	return false;
}

#define NAMES_ROOM 200u

/* One of so many; of a long one its begin. */
static const char *recursion_name(struct fr_case *k, const char *name, u32 cnt)
{
	size_t most = NAMES_ROOM / cnt;

	if (!name)
		return "a function without a name";
	return strlen(name) <= most ? fr_word_text(k, name, strlen(name)) : fr_word(k, "%s...", fr_word_text(k, name, most));
}

/* Is the i-th of the circle called as one before it? It called another place of itself. */
static bool recursion_is_told(const struct recursion *r, u32 i)
{
	const char *name = r->of[r->at + i].name;
	u32 of;

	for (of = 0; of < i; of++)
		if (!name || !r->of[r->at + of].name ? name == r->of[r->at + of].name : !strcmp(name, r->of[r->at + of].name))
			return true;
	return false;
}

/* "f", "f, g and h"; *told: so many names. */
static const char *recursion_words(struct fr_case *k, const struct recursion *r, u32 *told)
{
	u32 i, left = 0, shown = r->cnt < CIRCLE_TOLD ? r->cnt : CIRCLE_TOLD;
	const char *words = recursion_name(k, r->of[r->at].name, shown);

	for (i = 1; i < r->cnt; i++)
		left += !recursion_is_told(r, i);
	*told = left + 1;
	for (i = 1; i < r->cnt && *told - left < CIRCLE_TOLD; i++)
		if (!recursion_is_told(r, i))
			words = fr_word(k, "%s%s%s", words, --left ? ", " : " and ",
					recursion_name(k, r->of[r->at + i].name, shown));
	return left ? fr_word(k, "%s and %u other%s", words, left, fr_plural(left)) : words;
}

/* ---- a stack that has all that it may ---- */

#define STACK_ROOM (64u << 10) /* below its limit by less than this, a frame does not fit */

/* "; its stack had 8.0 MiB of at most 8.0 MiB": the first thread's, where the file has what the process had; or nothing. */
static const char *stack_limit_word(struct fr_case *k)
{
	const struct fr_snap_scene *s;
	char used[32], limit[32];
	size_t cnt, i;

	s = fr_snap_scenes(k->c->snap, &cnt);
	for (i = 0; i < cnt; i++)
		if (s[i].tid == k->c->tid && s[i].what == FR_SCENE_limit && s[i].number == RLIMIT_STACK &&
		    (s32)s[i].tid == k->c->pid && s[i].value[2] != ~0ull && s[i].value[0] != ~0ull &&
		    s[i].value[2] + STACK_ROOM >= s[i].value[0])
			return fr_word(k, "its stack had %s of at most %s (RLIMIT_STACK)",
				       fr_show_size(s[i].value[2], used, sizeof(used)),
				       fr_show_size(s[i].value[0], limit, sizeof(limit)));
	return "";
}

/* It touched memory right at its stack pointer, which is not there: only the end of a stack is like this. */
/*
 * The address that it used, and what it follows from: of the fault that it died of, or of one at the same instruction, which it
 * handled by sending itself the signal again. 0: it was no fault.
 */
static u64 overflow_addr(const struct fr_case *k, const char **from)
{
	const char *addr = fr_snap_fact(k->c->snap, "trigger_addr");
	const struct fr_clue_fault *fault;

	*from = "trigger, crash";
	if (fr_case_fact(k, "trigger_code", 0) > 0)
		return addr ? strtoull(addr, NULL, 16) : 0;
	*from = "failure, crash";
	fault = is_sent_by_itself(k) ? handled_fault(k) : NULL;
	return fault && fault->sig == SIGSEGV ? fault->addr : 0;
}

bool fr_recognise_stack_overflow(struct fr_case *k)
{
	const struct fr_an_focus *f = k->c->focus;
	const char *sp = fr_snap_fact(k->c->snap, "trigger_sp");
	const char *words, *full, *side, *from;
	u64 a, p = sp ? strtoull(sp, NULL, 16) : 0;
	struct recursion r;
	u32 told;

	if (!is_crash(k) || fr_case_fact(k, "trigger_sig", 0) != SIGSEGV || !f || f->stack_of != FR_AN_STACK_CRASH)
		return false;
	a = overflow_addr(k, &from);
	if (!a || !p || (a > p ? a - p : p - a) > GUARD_SZ)
		return false;
	full = stack_limit_word(k);
	side = a < p ? "below" : a == p ? "at" : "above";
	if (!find_recursion(k, &r)) {
		if (!*full)
			return false;
		fr_case_cause(
			k, from,
			"its stack overflowed: address 0x%llx is %s the stack pointer, and %s; which functions fill it, the "
			"innermost frames do not tell",
			a, side, full);
		return true;
	}
	words = recursion_words(k, &r, &told);
	fr_case_cause(k, from,
		      "its stack overflowed: %s called %s, %u of the innermost frames are %s, and address 0x%llx is %s the "
		      "stack pointer%s%s",
		      words, told == 1 ? "itself" : "each other", r.frames, told == 1 ? "its" : "theirs", a, side,
		      *full ? "; " : "", full);
	return true;
}

/* ---- a pointer that is not set ---- */

#define FIRST_PAGE_SZ 4096u /* on all that this runs on, pages are as large or larger */

/* An address in the first page, where nothing is mapped, comes of a pointer that is NULL, by itself or with a member's offset.
 */
bool fr_recognise_null_pointer(struct fr_case *k)
{
	const struct fr_an_focus *f = k->c->focus;
	const char *addr = fr_snap_fact(k->c->snap, "trigger_addr"), *ip = fr_snap_fact(k->c->snap, "trigger_ip");
	struct fr_symbol s = {0};
	bool is_call;

	if (!is_crash(k) || fr_case_fact(k, "trigger_sig", 0) != SIGSEGV || fr_case_fact(k, "trigger_code", 0) != SEGV_MAPERR ||
	    !addr || !ip || strtoull(addr, NULL, 16) >= FIRST_PAGE_SZ)
		return false;
	is_call = strtoull(addr, NULL, 16) == strtoull(ip, NULL, 16);
	/* who called is the frame around the one that is nowhere */
	if (f && f->stack_of == FR_AN_STACK_CRASH)
		fr_clues_user_frame(k->c, f->tid, f->stack_ns, f->ustack_id, is_call ? 1 : 0, &s);
	fr_case_cause(k, s.name ? "trigger, crash" : "trigger",
		      "a pointer that is not set (NULL): %s %s address %s, in the first page, where nothing is mapped",
		      s.name ? fr_word_text(k, s.name, strlen(s.name)) : "it", is_call ? "called a function at" : "used",
		      fr_word_text(k, addr, strlen(addr)));
	return true;
}
