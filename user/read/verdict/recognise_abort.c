/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* recognise_abort: ends whose reason the signal and its code tell, or the C library's function on the way to abort(). */
#include <limits.h>
#include <signal.h>
#include <stdio.h>

#include "base/schema/sysnames.h"
#include "base/text/regnames.h"
#include "base/text/units.h"
#include "read/verdict/verdict_int.h"

static bool abort_is_crash(const struct fr_case *k)
{
	return k->c->tid && k->c->pid > 0 && k->c->reason && !strcmp(k->c->reason, "crash");
}

static const struct fr_an_focus *abort_stack(const struct fr_case *k)
{
	const struct fr_an_focus *f = k->c->focus;

	return f && f->stack_of == FR_AN_STACK_CRASH ? f : NULL;
}

/* Of an end that a program or its runtime chose: an abort, or an exit with an error. */
static const struct fr_an_focus *chosen_stack(const struct fr_case *k)
{
	const struct fr_an_focus *f = k->c->focus;

	if (abort_is_crash(k))
		return fr_case_fact(k, "trigger_sig", 0) == SIGABRT ? abort_stack(k) : NULL;
	return k->c->tid && k->c->reason && !strcmp(k->c->reason, "exit") && fr_case_fact(k, "trigger_status", 0) && f &&
			       f->stack_of == FR_AN_STACK_EXIT
		       ? f
		       : NULL;
}

static u64 hex_fact(const struct fr_case *k, const char *name)
{
	const char *text = fr_snap_fact(k->c->snap, name);

	return text ? strtoull(text, NULL, 16) : 0;
}

/* ---- the way to abort() ---- */

#define V8_NO_ROOM "V8 found no room in memory, as in JavaScript's heap, and ends the process then"

#define UNCAUGHT "an exception was not caught, or thrown where none may be"

/* Who calls it has an exception that nobody may catch, which the stack tells as a rule, or none at all. */
#define TERMINATED "std::terminate() was called, as for a std::thread that was not joined, or an exception where none may be"

static const struct {
	const char *frame, *what;
} reasons[] = {
	{"__assert_fail", "an assertion of its own failed"},
	{"__assert_fail_base", "an assertion of its own failed"},
	{"__assert_perror_fail", "an assertion of its own failed"},
	{"__stack_chk_fail", "its stack was overwritten: a write went behind the end of a local buffer (stack smashing)"},
	{"__chk_fail", "the C library refused a write behind the end of a buffer (fortify)"},
	{"std::terminate()", TERMINATED},
	{"__cxa_pure_virtual", "a virtual function was called that the class does not have (pure virtual)"},
	{"rust_panic", "it panicked"},
	{"runtime.fatal", "Go's runtime found an error that ends a program at once, as concurrent writes to a map"},
	{"runtime.checkdead", "Go's runtime found that all goroutines wait, so that none can go on: a deadlock"},
	{"node::errors::TriggerUncaughtException", "an exception of its JavaScript was not caught, or a promise's rejection"},
	{"node::OOMErrorHandler", V8_NO_ROOM}, /* of each of V8's own, as that of the host's memory */
	{"v8::internal::V8::FatalProcessOutOfMemory", V8_NO_ROOM},
	{"MemAllocator::Allocation::check_out_of_memory",
	 "Java's heap was full (OutOfMemoryError), upon which the virtual machine was told to end"},
	{"report_java_out_of_memory",
	 "Java ran out of memory of a kind (OutOfMemoryError), upon which the virtual machine was told to end"},
	{"_Py_FatalErrorFunc", "Python's interpreter found an error that ends it at once"},
	{"runtime.throw", "Go's runtime found an error that ends a program at once"},
	{"runtime.gopanic", "it panicked, and nothing recovered from that"},
};

/* A name may have its parameters behind it. */
static bool is_function(const char *name, const char *function)
{
	size_t len = strlen(function);

	return !strncmp(name, function, len) && (!name[len] || name[len] == '(');
}

/* Functions that look for who catches an exception: those of C++'s library, and of the unwinder, a library of its own. */
static bool is_throwing(const char *name)
{
	static const char *const names[] = {"__cxa_throw",	    "__cxa_rethrow",	      "std::rethrow_exception",
					    "__gxx_personality_v0", "_Unwind_RaiseException", "_Unwind_Resume_or_Rethrow",
					    "_Unwind_Resume"};
	size_t i;

	for (i = 0; name && i < sizeof(names) / sizeof(names[0]); i++)
		if (is_function(name, names[i]))
			return true;
	return false;
}

/* *frame: the function without its parameters */
static const char *reason_of(const char *name, const char **frame)
{
	size_t i;

	for (i = 0; name && i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (is_function(name, reasons[i].frame)) {
			*frame = reasons[i].frame;
			return reasons[i].what;
		}
	return NULL;
}

/* Go's runtime is linked into the program, so that names tell it from that; libraries are files of their own. */
#define GO_RUNTIME "runtime."

static bool is_outside(const struct fr_symbol *s, const char *frame, const char *module)
{
	if (!strncmp(frame, GO_RUNTIME, strlen(GO_RUNTIME)))
		return !s->name || strncmp(s->name, GO_RUNTIME, strlen(GO_RUNTIME));
	return !s->module || strcmp(s->module, module);
}

/* The library that aborts has a function for each reason; who called that is named. */
bool fr_recognise_abort(struct fr_case *k)
{
	const struct fr_an_focus *f = chosen_stack(k);
	const char *what = NULL, *frame = NULL, *module = NULL, *in = "";
	struct fr_symbol s;
	u32 i;

	if (!f)
		return false;
	for (i = 0; fr_clues_user_frame(k->c, f->tid, f->stack_ns, f->ustack_id, i, &s); i++) {
		const char *now_in, *now = reason_of(s.name, &now_in);

		if (what && !strcmp(frame, "std::terminate()") && is_throwing(s.name)) {
			what = UNCAUGHT;
			continue;
		}
		if (what && !now && is_outside(&s, frame, module)) {
			in = s.name ?: "";
			break;
		}
		if (now)
			what = now, frame = now_in, module = s.module ?: "";
	}
	if (!what)
		return false;
	fr_case_cause(k, f->stack_of == FR_AN_STACK_EXIT ? "failure" : "crash", "%s: %s was in %s%s", what,
		      fr_word_comm(k, k->c->tid, k->c->at_ns), frame,
		      *in ? fr_word(k, ", called from %s", fr_word_text(k, in, strlen(in))) : "");
	return true;
}

/* ---- a call of what is no function ---- */

/* The instruction that could not be fetched is the address itself: a function was called there, or returned to. */
bool fr_recognise_wild_call(struct fr_case *k)
{
	const struct fr_an_focus *f = abort_is_crash(k) ? abort_stack(k) : NULL;
	u64 addr = hex_fact(k, "trigger_addr"), ip = hex_fact(k, "trigger_ip");
	s64 code = fr_case_fact(k, "trigger_code", 0);
	struct fr_symbol s = {0};

	if (!abort_is_crash(k) || fr_case_fact(k, "trigger_sig", 0) != SIGSEGV || !addr || addr != ip ||
	    (code != SEGV_MAPERR && code != SEGV_ACCERR))
		return false;
	if (f)
		fr_clues_user_frame(k->c, f->tid, f->stack_ns, f->ustack_id, 1, &s);
	fr_case_cause(
		k, s.name ? "trigger, crash" : "trigger",
		"it went on at address 0x%llx, where there is no code%s: a wrong function pointer, as of an object that was "
		"freed, or an overwritten return address%s%s",
		addr, code == SEGV_ACCERR ? " that may be executed" : "", s.name ? "; the frame around it is " : "",
		s.name ? fr_word_text(k, s.name, strlen(s.name)) : "");
	return true;
}

/* ---- what a signal's code says ---- */

#define ANY_CODE 0x7fff

static const struct {
	u8 sig;
	s16 code;
	const char *what;
} codes[] = {
	{SIGBUS, BUS_ADRERR,
	 "it used a page of a mapped file that is not there: the file is shorter than its mapping (truncated), or its disk or "
	 "tmpfs is full"},
	{SIGBUS, BUS_ADRALN, "it used an address that is not aligned as the machine wants it"},
	{SIGBUS, 4, "memory is broken there: the kernel found an error of the hardware"},
	{SIGBUS, 5, "memory is broken there: the kernel found an error of the hardware"},
	{SIGFPE, FPE_INTDIV, "an integer was divided by zero"},
	{SIGFPE, FPE_INTOVF, "an integer overflowed"},
	{SIGSYS, 1, "its seccomp filter forbids a system call that it made"},
	{SIGILL, ILL_ILLOPN,
	 "an instruction that this CPU does not have, or that a compiler put where nothing may come (trap)"},
	{SIGILL, ILL_ILLOPC,
	 "an instruction that this CPU does not have, or that a compiler put where nothing may come (trap)"},
	{SIGSEGV, SEGV_ACCERR,
	 "it used memory in a way that its mapping forbids, as a write to what is read-only, or behind a guard page"},
	{SIGSEGV, 0x80,
	 "the processor refused an access and told no address: a pointer that was overwritten, as in an object that was freed, "
	 "data that is not aligned as its instruction wants it, or an instruction that is not for programs"},
	{SIGXCPU, ANY_CODE, "it used up the CPU time that it may (RLIMIT_CPU)"},
	{SIGXFSZ, ANY_CODE, "a file would have become larger than it may write (RLIMIT_FSIZE)"},
};

/* The first function of the program or its libraries at the end, and its callers. */
static const char *abort_in(struct fr_case *k)
{
	const struct fr_an_focus *f = abort_stack(k);

	return f ? fr_word_frames(k, f->tid, f->stack_ns, f->ustack_id) : "";
}

/* Was it sent by another task, or by nobody that is known? Then it says nothing of the receiver. */
static bool is_sent(const struct fr_case *k, s64 sig)
{
	const struct fr_clue_signal *s = k->c->signal.at;
	size_t i = k->c->signal.cnt;

	while (i--)
		if (s[i].sig == sig && s[i].ts <= k->c->at_ns &&
		    (s[i].target == k->c->tid || fr_clues_pid(k->c, s[i].target, s[i].ts) == k->c->pid))
			return s[i].code <= 0 && s[i].sender != k->c->tid;
	return true;
}

#define NATIVE_IP (1ULL << 32) /* code below may be of a 32-bit program, whose calls have other numbers */

/* ": uname", the call that its registers had as a seccomp filter refused it; "" of other signals, and where it is not known. */
static const char *refused_call(struct fr_case *k, s64 sig)
{
	const struct fr_an_focus *f = abort_stack(k);
	const struct fr_sys sys = {.arch = k->c->arch};
	const char *name, *call;
	u32 i;

	for (i = 0; sig == SIGSYS && f && i < f->reg_cnt && (name = fr_reg_name(k->c->arch, i)); i++) {
		if (strcmp(name, "orig_rax") && strcmp(name, "x8"))
			continue;
		call = f->reg[0] >= NATIVE_IP && f->reg[i] < INT_MAX ? fr_sysname(&sys, FR_STYLE_SYSCALL, f->reg[i]) : NULL;
		return call ? fr_word(k, ": %s", call) : "";
	}
	return "";
}

bool fr_recognise_signal_code(struct fr_case *k)
{
	s64 sig = fr_case_fact(k, "trigger_sig", 0), code = fr_case_fact(k, "trigger_code", 0);
	const char *in, *call;
	size_t i;

	if (!abort_is_crash(k))
		return false;
	for (i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		if (codes[i].sig != sig || (codes[i].code != ANY_CODE && codes[i].code != code) ||
		    (codes[i].code == ANY_CODE && is_sent(k, sig)))
			continue;
		in = abort_in(k);
		call = refused_call(k, sig);
		fr_case_cause(k, *in || *call ? "trigger, crash" : "trigger", "%s%s (%s, code %lld)%s%s", codes[i].what, call,
			      fr_signal_name(sig), code, *in ? "; it was in " : "", in);
		return true;
	}
	return false;
}

/* ---- a pipe that nobody reads ---- */

#define READER_NS FR_SEC_NS

/*
 * "; gzip/2, which sh/1 had started, too, had ended 90 ms before (whether it read there is not known)": the only process with
 * the same parent that ended up to a second before, as the other one of a pipeline; "": there is none, or there are several, as
 * of a parent that starts many, or it is not known.
 */
static const char *ended_beside(struct fr_case *k)
{
	const struct fr_clues *c = k->c;
	const struct fr_clue_end *end = c->end.at, *only = NULL;
	u32 parent = c->pid > 0 ? fr_clues_parent(c, c->pid, c->at_ns, NULL) : 0;
	size_t i = c->end.cnt;
	s32 pid, only_pid = 0;

	while (parent && i--) {
		if (end[i].ts > c->at_ns)
			continue;
		if (end[i].ts + READER_NS < c->at_ns)
			break;
		pid = fr_clues_pid(c, end[i].tid, end[i].ts);
		if (pid <= 0 || pid == c->pid || fr_clues_parent(c, pid, end[i].ts, NULL) != parent)
			continue;
		if (only && pid != only_pid)
			return "";
		only = &end[i];
		only_pid = pid;
	}
	return only ? fr_word(k, "; %s, which %s had started, too, had ended %s before (whether it read there is not known)",
			      fr_word_who(k, only_pid, only->ts), fr_word_who(k, parent, only->ts),
			      fr_word_ns(k, c->at_ns - only->ts))
		    : "";
}

/* The kernel sends it on behalf of the writer itself, in its write. */
bool fr_recognise_broken_pipe(struct fr_case *k)
{
	const struct fr_clue_signal *s = k->c->signal.at;
	size_t i = k->c->signal.cnt;
	const char *in, *beside;

	if (!abort_is_crash(k) || fr_case_fact(k, "trigger_sig", 0) != SIGPIPE)
		return false;
	while (i-- && (s[i].sig != SIGPIPE || s[i].ts > k->c->at_ns || s[i].target != k->c->tid))
		;
	if (i == (size_t)-1 || s[i].sender != k->c->tid)
		return false;
	in = abort_in(k);
	beside = ended_beside(k);
	fr_case_cause(k,
		      *beside ? "trigger, signal_generate, sched_process_fork, sched_process_exit" : "trigger, signal_generate",
		      "it wrote to a pipe or a socket whose other end was closed (SIGPIPE, in its own call)%s%s%s", beside,
		      *in ? "; it was in " : "", in);
	return true;
}

/* ---- its own timer ---- */

/* alarm() and setitimer(): the kernel sends the signal when time is up, on top of whatever task runs. */
bool fr_recognise_own_alarm(struct fr_case *k)
{
	s64 sig = fr_case_fact(k, "trigger_sig", 0);
	const struct fr_clue_signal *s = k->c->signal.at;
	size_t i = k->c->signal.cnt;

	if (!abort_is_crash(k) || (sig != SIGALRM && sig != SIGVTALRM && sig != SIGPROF))
		return false;
	while (i-- && (s[i].sig != sig || s[i].ts > k->c->at_ns ||
		       (s[i].target != k->c->tid && fr_clues_pid(k->c, s[i].target, s[i].ts) != k->c->pid)))
		;
	if (i == (size_t)-1 || s[i].code != 0x80) /* SI_KERNEL */
		return false;
	fr_case_cause(k, "signal_generate",
		      "a timer that it had set itself, as by alarm(), was up: the kernel sent %s, which it does not handle",
		      fr_signal_name(sig));
	return true;
}

/* ---- what an exit status means by convention ---- */

#define NOT_EXECUTABLE 126
#define NOT_FOUND      127
#define BY_SIGNAL      128 /* and the signal's number */
#define CHILD_NS       FR_SEC_NS

/* The signal that a process was sent which it had started; NULL: none is known. */
static const struct fr_clue_signal *sent_to_child(const struct fr_case *k, u32 sig)
{
	const struct fr_clue_signal *s = k->c->signal.at;
	size_t i = k->c->signal.cnt;

	while (i--)
		if (s[i].sig == sig && !s[i].result && s[i].ts <= k->c->at_ns && s[i].ts + CHILD_NS >= k->c->at_ns &&
		    fr_clues_parent(k->c, s[i].target, s[i].ts, NULL) == k->c->tid)
			return &s[i];
	return NULL;
}

#define LOADER_FRAMES 3u

/* Is this the file of a dynamic loader, which ends with a status of its own? That of musl is its C library, too. */
static bool abort_is_loader(const char *module)
{
	static const char *const begins[] = {"ld-linux", "ld64.so", "ld.so", NULL};
	const char *base = module ? strrchr(module, '/') : NULL;
	size_t i;

	base = base ? base + 1 : module;
	for (i = 0; base && begins[i]; i++)
		if (!strncmp(base, begins[i], strlen(begins[i])))
			return true;
	return false;
}

/* Was it the dynamic loader that ended it? A program ends by a function of the C library. */
static bool ended_by_loader(const struct fr_case *k)
{
	const struct fr_an_focus *f = chosen_stack(k);
	struct fr_symbol s;
	u32 i;

	for (i = 0; f && i < LOADER_FRAMES; i++)
		if (!fr_clues_user_frame(k->c, f->tid, f->stack_ns, f->ustack_id, i, &s) || !abort_is_loader(s.module))
			return false;
	return f;
}

bool fr_recognise_exit_status(struct fr_case *k)
{
	s64 status = fr_case_fact(k, "trigger_status", 0);
	const struct fr_clue_signal *s;
	const char *name;

	if (!k->c->tid || !k->c->reason || strcmp(k->c->reason, "exit"))
		return false;
	if (status == NOT_FOUND && ended_by_loader(k)) {
		fr_case_cause(
			k, *k->c->argv ? "failure, exec_argv" : "failure",
			"the dynamic loader ended it with status %lld: a shared library that it needs, or a symbol or version "
			"of one, was not found, or could not be used%s%s",
			status, *k->c->argv ? "; it was called as: " : "", k->c->argv);
		return true;
	}
	if (status == NOT_FOUND || status == NOT_EXECUTABLE) {
		fr_case_cause(
			k, *k->c->argv ? "trigger, exec_argv" : "trigger",
			"exit status %lld: so a shell or another launcher ends that %s the program it was to execute%s (by "
			"convention)%s%s",
			status, status == NOT_FOUND ? "does not find" : "may not execute",
			status == NOT_FOUND ? ", and a program of which a library is not found" : "",
			*k->c->argv ? "; it was called as: " : "", k->c->argv);
		return true;
	}
	name = status > BY_SIGNAL ? fr_signal_name(status - BY_SIGNAL) : NULL;
	s = name ? sent_to_child(k, status - BY_SIGNAL) : NULL;
	if (!s)
		return false;
	fr_case_cause(k, "trigger, signal_generate, sched_process_fork",
		      "its child %s was sent %s by %s, %s before: exit status %lld is 128 and that signal's number, as a shell "
		      "ends whose command died of it",
		      fr_word_who(k, s->target, s->ts), name, fr_word_who(k, s->sender, s->ts),
		      fr_word_ns(k, k->c->at_ns - s->ts), status);
	return true;
}
