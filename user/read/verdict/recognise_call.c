/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* recognise_call: a process ended with an error right after a system call of it had failed. */
#include <errno.h>
#include <string.h>

#include "base/schema/sysnames.h"
#include "base/text/list.h"
#include "base/text/units.h"
#include "read/verdict/verdict_int.h"

#define RIGHT_AFTER_NS (100 * FR_MSEC_NS) /* from the error to the end: a message is written in between */
#define FAILED_MOST    3u		  /* different errors that are told */

/* The same call with the same error. */
struct failed {
	const char *call, *error;
	u32 cnt;
	u64 ts; /* the last one */
};

/* After an error, a program says so and tidies up: that these succeed is no sign that it got over the error. */
static bool is_tidying_up(const char *call)
{
	static const char *const names[] = {"write",   "writev", "close",     "fstat",	      "newfstatat",
					    "lseek",   "ioctl",	 "fcntl",     "dup",	      "mmap",
					    "munmap",  "brk",	 "getrandom", "rt_sigaction", "rt_sigprocmask",
					    "futex",   "getpid", "gettid",    "getrusage",    "sigaltstack",
					    "madvise", NULL};

	return fr_is_one_of(call, names);
}

/* Errors that are answers, and no trouble: there is nothing yet, it is no terminal, no file, no child. */
static bool is_everyday(const char *call, s64 ret)
{
	return ret == -EAGAIN || ret == -EINTR || ret == -EINPROGRESS || (ret == -ENOTTY && !strcmp(call, "ioctl")) ||
	       (ret == -ESPIPE && !strcmp(call, "lseek")) || (ret == -ECHILD && !strncmp(call, "wait", 4));
}

/* One more, before those that are there already. False: there is no room for another kind. */
static bool call_add(struct failed *f, u32 *cnt, const char *call, const char *error, u64 ts)
{
	u32 i;

	for (i = 0; i < *cnt; i++)
		if (!strcmp(f[i].call, call) && !strcmp(f[i].error, error)) {
			f[i].cnt++;
			return true;
		}
	if (*cnt == FAILED_MOST)
		return false;
	f[(*cnt)++] = (struct failed){.call = call, .error = error, .cnt = 1, .ts = ts};
	return true;
}

/*
 * The errors before the end, the last one first, back to a call that succeeded; *from_ns: the first of them. 0: there are none,
 * or too many different ones: which of them it ended for is anybody's guess.
 */
static u32 failed_before_end(const struct fr_clues *c, struct failed f[FAILED_MOST], u64 *from_ns)
{
	u64 i = c->call_cnt, last = i > FR_CLUE_CALLS ? i - FR_CLUE_CALLS : 0;
	u32 cnt = 0;

	while (i-- > last) {
		const struct fr_clue_call *one = &c->call[i % FR_CLUE_CALLS];
		const struct fr_sys sys = {.arch = c->arch, .abi = one->abi};
		const char *call = fr_sysname(&sys, FR_STYLE_SYSCALL, one->id), *error = fr_ret_error(one->ret);

		if (one->ts + RIGHT_AFTER_NS < c->at_ns)
			return cnt;
		if (!call || (!error && !fr_ret_is_error(one->ret) && !is_tidying_up(call)))
			return cnt;
		if (!error || is_everyday(call, one->ret))
			continue;
		if (!call_add(f, &cnt, call, error, one->ts))
			return 0;
		*from_ns = one->ts;
	}
	return last ? 0 : cnt;
}

/* "connect with ECONNREFUSED, then openat with ENOENT (4 times)" */
static const char *failed_words(struct fr_case *k, const struct failed *f, u32 cnt)
{
	const char *words = "";

	while (cnt--)
		words = fr_word(k, "%s%s%s with %s%s", words, *words ? ", then " : "", f[cnt].call, f[cnt].error,
				f[cnt].cnt > 1 ? fr_word(k, " (%u times)", f[cnt].cnt) : "");
	return words;
}

/* Nothing but messages and tidying up came between the error and the end. */
bool fr_recognise_failed_call(struct fr_case *k)
{
	const struct fr_clues *c = k->c;
	s64 status = fr_case_fact(k, "trigger_status", 0);
	struct failed f[FAILED_MOST];
	u64 from_ns = 0;
	u32 cnt;

	if (!c->tid || !c->reason || strcmp(c->reason, "exit") || status <= 0 || !c->has[FR_CLUE_CALL] || c->is_picked)
		return false;
	cnt = failed_before_end(c, f, &from_ns);
	if (!cnt || !fr_clues_covers_most(c, FR_CLUES_ALL_CPUS, from_ns, c->at_ns))
		return false;
	fr_case_cause(k, "trigger, sys_exit", "%s ended with status %lld right after %s of it failed: %s, %s before the end",
		      fr_word_who(k, c->tid, c->at_ns), status, cnt > 1 || f[0].cnt > 1 ? "calls" : "a call",
		      failed_words(k, f, cnt), fr_word_ns(k, c->at_ns - f[0].ts));
	return true;
}

/* ---- as the end tells it, where calls are not recorded ---- */

#define BEFORE_END_NS FR_SEC_NS /* a message and an interpreter's traceback come in between */

const char *fr_word_failed(struct fr_case *k, const struct fr_clue_failed *f)
{
	const struct fr_sys sys = {.arch = k->c->arch, .abi = f->abi};
	const char *call = f->ts ? fr_sysname(&sys, FR_STYLE_SYSCALL, f->id) : NULL, *error = fr_ret_error(f->error);

	return call && error ? fr_word(k, "%s with %s", call, error) : NULL;
}

/* What an error means, of this call if it means something else of others. */
static const struct {
	s32 error;
	const char *call, *words;
} meanings[] = {
	{ENOSPC, "inotify_add_watch", "its user has as many watches as the limit allows"},
	{ENOSPC, "epoll_ctl", "its user has as many watches as the limit allows"},
	{ENOSPC, NULL, "no room is left, as on a full file system"},
	{EDQUOT, NULL, "a quota is used up"},
	{EMFILE, "inotify_init1", "its user, or it, has as many as the limit allows"},
	{EMFILE, "inotify_init", "its user, or it, has as many as the limit allows"},
	{EMFILE, NULL, "it has as many descriptors as its limit allows"},
	{ENFILE, NULL, "the host has as many open files as its limit allows"},
	{EAGAIN, NULL, "a limit of tasks is reached: its user's (RLIMIT_NPROC), a cgroup's (pids.max) or the host's"},
	{EADDRINUSE, NULL, "the address, or the port, is in use"},
	{EADDRNOTAVAIL, NULL, "the address is none of this host's, or no port is left"},
	{ECONNREFUSED, NULL, "nobody listens there"},
	{EROFS, NULL, "the file system is mounted for reading only"},
	{EIO, NULL, "the device or the file system failed"},
	{ENOMEM, NULL, "no memory, or a limit of it"},
	{EFBIG, NULL, "the file is as large as a limit allows"},
	{ETXTBSY, NULL, "the program's file is being written or run"},
};

static const char *call_meaning(const char *words, s64 error)
{
	size_t i, len;

	for (i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++) {
		len = meanings[i].call ? strlen(meanings[i].call) : 0;
		if (meanings[i].error == -error && (!len || (!strncmp(words, meanings[i].call, len) && words[len] == ' ')))
			return meanings[i].words;
	}
	return NULL;
}

/* No call like it of the same thread succeeded since; what else it did meanwhile is not known. */
bool fr_recognise_last_error(struct fr_case *k)
{
	const struct fr_clues *c = k->c;
	s64 status = fr_case_fact(k, "trigger_status", 0);
	const char *words, *means;

	if (!c->tid || !c->reason || strcmp(c->reason, "exit") || status <= 0 || c->lack.ts + BEFORE_END_NS < c->at_ns)
		return false;
	words = fr_word_failed(k, &c->lack);
	if (!words)
		return false;
	means = call_meaning(words, c->lack.error);
	fr_case_cause(k, "trigger, call_failed",
		      "%s ended with status %lld right after a call of it failed: %s, %s before the end%s%s",
		      fr_word_who(k, c->lack.tid, c->at_ns), status, words, fr_word_ns(k, c->at_ns - c->lack.ts),
		      means ? ": " : "", means ?: "");
	return true;
}

/* ---- no more tasks ---- */

#define STARTED_NS (10 * FR_SEC_NS) /* as counters are read */

/* How many tasks a process started in a time, processes and threads; *last_ns: when it did last. */
static u32 call_forks_of(const struct fr_clues *c, s32 pid, u64 from_ns, u64 to_ns, u64 *last_ns)
{
	const struct fr_clue_fork *f = c->fork.at;
	size_t i;
	u32 cnt = 0;

	for (i = 0; i < c->fork.cnt; i++)
		if (f[i].ts >= from_ns && f[i].ts <= to_ns && fr_clues_pid(c, f[i].parent, f[i].ts) == pid) {
			cnt++;
			*last_ns = f[i].ts;
		}
	return cnt;
}

/*
 * It starts tasks, and in its cgroup some were refused around that time: few programs go on without. That these were its own is
 * not known: the counter is of all tasks there.
 */
bool fr_recognise_forks_refused(struct fr_case *k)
{
	const struct fr_clues *c = k->c;
	s64 status = fr_case_fact(k, "trigger_status", 0);
	u64 from_ns = c->at_ns > STARTED_NS ? c->at_ns - STARTED_NS : 0, last_ns = 0;
	const char *refused;
	u32 cnt;

	if (!c->tid || c->pid <= 0 || !c->reason || strcmp(c->reason, "exit") || status <= 0)
		return false;
	from_ns = c->life_ns > from_ns ? c->life_ns : from_ns;
	cnt = call_forks_of(c, c->pid, from_ns, c->at_ns, &last_ns);
	refused = cnt ? fr_word_cgroup_pids(k, c->tid, c->at_ns) : "";
	if (!*refused)
		return false;
	fr_case_cause(
		k, "trigger, counters, sched_process_fork",
		"%s ended with status %lld; in the time around that, %s; it itself had started %s%u task%s in the %s before, "
		"the last one %s before its end",
		fr_word_who(k, c->tid, c->at_ns), status, refused, c->is_full ? "at least " : "", cnt, fr_plural(cnt),
		fr_word_ns(k, c->at_ns - from_ns), fr_word_ns(k, c->at_ns - last_ns));
	return true;
}
