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
	s64 ret;
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

static const char *const fork_calls[] = {"clone", "clone3", "fork", "vfork", NULL};

/* Errors that are answers, and no trouble: there is nothing yet, it is no terminal, no file, no child. */
static bool is_everyday(const char *call, s64 ret)
{
	if (ret == -EAGAIN) /* of a fork it is a limit */
		return !fr_is_one_of(call, fork_calls);
	return ret == -EINTR || ret == -EINPROGRESS || (ret == -ENOTTY && !strcmp(call, "ioctl")) ||
	       (ret == -ESPIPE && !strcmp(call, "lseek")) || (ret == -ECHILD && !strncmp(call, "wait", 4));
}

/* One more, before those that are there already. False: there is no room for another kind. */
static bool call_add(struct failed *f, u32 *cnt, const char *call, const char *error, const struct fr_clue_call *one)
{
	u32 i;

	for (i = 0; i < *cnt; i++)
		if (!strcmp(f[i].call, call) && !strcmp(f[i].error, error)) {
			f[i].cnt++;
			return true;
		}
	if (*cnt == FAILED_MOST)
		return false;
	f[(*cnt)++] = (struct failed){.call = call, .error = error, .ret = one->ret, .cnt = 1, .ts = one->ts};
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
		if (!call_add(f, &cnt, call, error, one))
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

/* ---- what an error means ---- */

static const char *const open_calls[] = {"open", "openat", "openat2", "creat", NULL};
static const char *const write_calls[] = {"write", "writev", "pwrite64", "pwritev", "pwritev2", "fallocate", NULL};
static const char *const size_calls[] = {"truncate", "ftruncate", NULL};
static const char *const name_calls[] = {"mkdir",   "mkdirat",	 "mknod",  "mknodat",  "link",	    "linkat",
					 "symlink", "symlinkat", "rename", "renameat", "renameat2", NULL};
static const char *const remove_calls[] = {"unlink", "unlinkat", "rmdir", NULL};
static const char *const sync_calls[] = {"fsync", "fdatasync", NULL};
static const char *const watch_calls[] = {"inotify_add_watch", "epoll_ctl", NULL};
static const char *const instance_calls[] = {"inotify_init", "inotify_init1", "fanotify_init", NULL};
static const char *const socket_calls[] = {"socket", "socketpair", "accept", "accept4", NULL};
static const char *const descriptor_calls[] = {
	"dup",		"dup2",		 "dup3",     "fcntl",	  "pipe",	    "pipe2",	    "eventfd",	  "eventfd2",
	"epoll_create", "epoll_create1", "signalfd", "signalfd4", "timerfd_create", "memfd_create", "pidfd_open", NULL};
static const char *const bind_calls[] = {"bind", NULL};
static const char *const listen_calls[] = {"listen", NULL};
static const char *const connect_calls[] = {"connect", NULL};
static const char *const exec_calls[] = {"execve", "execveat", NULL};
static const char *const map_calls[] = {"mmap", NULL};

#define NO_ROOM	      "no room is left, as on a full file system"
#define USED_UP	      "a quota is used up"
#define IN_USE	      "the address, or the port, is in use"
#define DESCRIPTORS   "it has as many descriptors as its limit allows"
#define OPEN_FILES    "the host has as many open files as its limit allows"
#define READ_ONLY     "the file system, or the device, is for reading only"
#define NO_PERMISSION "it has no permission"
#define TOO_LARGE     "the file would be larger than a limit allows"

/*
 * What an error means of calls of which that is known. Of others it may mean something else, as ENOMEM of mincore() of memory
 * that is not mapped, or EIO of a terminal whose other end was closed: its name stands alone then.
 */
static const struct {
	s32 error;
	const char *const *calls;
	const char *words;
} meanings[] = {
	{ENOSPC, open_calls, NO_ROOM},
	{ENOSPC, write_calls, NO_ROOM},
	{ENOSPC, size_calls, NO_ROOM},
	{ENOSPC, name_calls, NO_ROOM},
	{ENOSPC, sync_calls, NO_ROOM},
	{ENOSPC, watch_calls, "its user has as many watches as the limit allows"},
	{EDQUOT, open_calls, USED_UP},
	{EDQUOT, write_calls, USED_UP},
	{EDQUOT, size_calls, USED_UP},
	{EDQUOT, name_calls, USED_UP},
	{EDQUOT, sync_calls, USED_UP},
	{EMFILE, instance_calls, "its user, or it, has as many as the limit allows"},
	{EMFILE, open_calls, DESCRIPTORS},
	{EMFILE, socket_calls, DESCRIPTORS},
	{EMFILE, descriptor_calls, DESCRIPTORS},
	{ENFILE, open_calls, OPEN_FILES},
	{ENFILE, socket_calls, OPEN_FILES},
	{EAGAIN, fork_calls, "a limit of tasks is reached: its user's (RLIMIT_NPROC), a cgroup's (pids.max) or the host's"},
	{EADDRINUSE, bind_calls, IN_USE},
	{EADDRINUSE, listen_calls, IN_USE},
	{EADDRNOTAVAIL, bind_calls, "the address is none of this host's, or not yet"},
	{EADDRNOTAVAIL, connect_calls, "no port, or no address of this host, is left to connect from"},
	{ECONNREFUSED, connect_calls, "nobody listens there, or a filter refuses"},
	{EROFS, open_calls, READ_ONLY},
	{EROFS, name_calls, READ_ONLY},
	{EROFS, remove_calls, READ_ONLY},
	{ENOMEM, map_calls, "no memory, or a limit of it, of its address space or of its mappings"},
	{EFBIG, write_calls, TOO_LARGE},
	{EFBIG, size_calls, TOO_LARGE},
	{ENOEXEC, exec_calls, "that is no program for this machine, or is damaged, or a script without #!"},
	{EACCES, open_calls, NO_PERMISSION},
	{EACCES, name_calls, NO_PERMISSION},
	{EACCES, remove_calls, NO_PERMISSION},
	{EACCES, exec_calls, NO_PERMISSION},
	{EACCES, bind_calls, NO_PERMISSION ", as to a port below 1024 without being root"},
	{EACCES, connect_calls, NO_PERMISSION},
	{EEXIST, open_calls, "a file is there that it was to make anew (O_EXCL), as a lock file that was left"},
	{ETXTBSY, exec_calls, "the program's file is open for writing"},
	{ETXTBSY, open_calls, "a program runs from that file"},
};

static const char *call_meaning(const char *call, s64 error)
{
	size_t i;

	for (i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++)
		if (meanings[i].error == -error && fr_is_one_of(call, meanings[i].calls))
			return meanings[i].words;
	return NULL;
}

/* Was it a task that it could not start? */
static bool is_lack_of_tasks(const char *call, s64 error)
{
	return error == -EAGAIN && fr_is_one_of(call, fork_calls);
}

/* What cgroups count of that, beside it. */
static void link_refused(struct fr_case *k, u32 tid)
{
	const char *refused = fr_word_cgroup_pids(k, tid, k->c->at_ns);

	if (*refused)
		fr_case_link(k, "counters", "in the time around the end, %s", refused);
}

/* ---- by its calls ---- */

/* Nothing but messages and tidying up came between the error and the end. */
bool fr_recognise_failed_call(struct fr_case *k)
{
	const struct fr_clues *c = k->c;
	s64 status = fr_case_fact(k, "trigger_status", 0);
	struct failed f[FAILED_MOST];
	const char *means;
	u64 from_ns = 0;
	u32 cnt, i;

	if (!c->tid || !c->reason || strcmp(c->reason, "exit") || status <= 0 || !c->has[FR_CLUE_CALL] || c->is_picked ||
	    c->is_thinned)
		return false;
	cnt = failed_before_end(c, f, &from_ns);
	if (!cnt || !fr_clues_covers_most(c, FR_CLUES_ALL_CPUS, from_ns, c->at_ns))
		return false;
	means = cnt == 1 ? call_meaning(f[0].call, f[0].ret) : NULL;
	fr_case_cause(k, "trigger, sys_exit",
		      "%s ended with status %lld right after %s of it failed: %s, %s before the end%s%s",
		      fr_word_who(k, c->tid, c->at_ns), status, cnt > 1 || f[0].cnt > 1 ? "calls" : "a call",
		      failed_words(k, f, cnt), fr_word_ns(k, c->at_ns - f[0].ts), means ? ": " : "", means ?: "");
	for (i = 0; i < cnt; i++)
		if (is_lack_of_tasks(f[i].call, f[i].ret)) {
			link_refused(k, c->tid);
			break;
		}
	return true;
}

/* ---- as the end tells it, where calls are not recorded ---- */

#define BEFORE_END_NS FR_SEC_NS /* a message and an interpreter's traceback come in between */

static const char *lack_call(const struct fr_case *k, const struct fr_clue_failed *f)
{
	const struct fr_sys sys = {.arch = k->c->arch, .abi = f->abi};

	return f->ts ? fr_sysname(&sys, FR_STYLE_SYSCALL, f->id) : NULL;
}

const char *fr_word_failed(struct fr_case *k, const struct fr_clue_failed *f)
{
	const char *call = lack_call(k, f), *error = fr_ret_error(f->error);

	return call && error ? fr_word(k, "%s with %s", call, error) : NULL;
}

/*
 * The error that may be why it ended: the last one of a lack; or the last one of all, right before the end, if it is no
 * everyday answer. NULL: there is none. Where the file has calls of it, these tell what came between the error and the end, and
 * failed_call has looked at them: what that one does not say is not said without them.
 */
static const struct fr_clue_failed *last_error(const struct fr_case *k)
{
	const struct fr_clues *c = k->c;

	if (!c->tid || !c->reason || strcmp(c->reason, "exit") || fr_case_fact(k, "trigger_status", 0) <= 0 || c->call_cnt)
		return NULL;
	if (c->lack.ts && c->lack.ts + BEFORE_END_NS >= c->at_ns)
		return &c->lack;
	return c->failed.ts + RIGHT_AFTER_NS >= c->at_ns && fr_case_is_telling(k, &c->failed) ? &c->failed : NULL;
}

/* Likewise, as its end tells it. */
static bool has_lacked_tasks(const struct fr_case *k, const struct fr_clue_failed *f)
{
	return is_lack_of_tasks(lack_call(k, f), f->error);
}

bool fr_case_is_telling(const struct fr_case *k, const struct fr_clue_failed *f)
{
	const char *call = lack_call(k, f);

	return call && call_meaning(call, f->error);
}

/*
 * No call like it of the same thread succeeded since; what else it did meanwhile is not known: soon after the error, the end is
 * likely to be its consequence; later, who knows.
 */
bool fr_recognise_last_error(struct fr_case *k)
{
	const struct fr_clues *c = k->c;
	const struct fr_clue_failed *f = last_error(k);
	const char *words, *means;
	bool is_soon;

	words = f ? fr_word_failed(k, f) : NULL;
	if (!words)
		return false;
	is_soon = f->ts + RIGHT_AFTER_NS >= c->at_ns;
	means = call_meaning(lack_call(k, f), f->error);
	fr_case_cause(k, "trigger, call_failed",
		      is_soon ? "%s ended with status %lld right after a call of it failed: %s, %s before the end%s%s%s"
			      : "%s ended with status %lld; the last call of it that failed for a lack was %s, %s before the "
				"end%s%s%s",
		      fr_word_who(k, f->tid, c->at_ns), fr_case_fact(k, "trigger_status", 0), words,
		      fr_word_ns(k, c->at_ns - f->ts), means ? ": " : "", means ?: "",
		      is_soon ? "" : "; what it did since is not known");
	if (has_lacked_tasks(k, f))
		link_refused(k, f->tid);
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
 * not known: the counter is of all tasks there. Where its own call's error is known, last_error tells that.
 */
bool fr_recognise_forks_refused(struct fr_case *k)
{
	const struct fr_clues *c = k->c;
	s64 status = fr_case_fact(k, "trigger_status", 0);
	u64 from_ns = c->at_ns > STARTED_NS ? c->at_ns - STARTED_NS : 0, last_ns = 0;
	const struct fr_clue_failed *f;
	const char *refused;
	u32 cnt;

	if (!c->tid || c->pid <= 0 || !c->reason || strcmp(c->reason, "exit") || status <= 0)
		return false;
	f = last_error(k);
	if (f && has_lacked_tasks(k, f)) /* it is known that one of its own was */
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
