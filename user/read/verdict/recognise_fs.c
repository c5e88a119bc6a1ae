/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* recognise_fs: a task waited in a place of the kernel that tells what for: a file system, memory. */
#include <linux/futex.h>
#include <string.h>

#include "base/text/dev.h"
#include "base/text/list.h"
#include "base/text/units.h"
#include "read/verdict/verdict_int.h"
#include "read/waits/waitstack.h"

/* Functions that begin a write to a file system, and wait in percpu_rwsem_wait() only while that is frozen. */
static bool begins_write(const char *name)
{
	static const char *const names[] = {"vfs_write",	   "vfs_iter_write",   "mnt_want_write",
					    "mnt_want_write_file", "vfs_fallocate",    "do_sys_ftruncate",
					    "vfs_copy_file_range", "do_splice_direct", "io_write"};
	static const char suffix[] = "_page_mkwrite";
	size_t len = strlen(name), i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return len >= sizeof(suffix) - 1 && !strcmp(name + len - (sizeof(suffix) - 1), suffix);
}

#define NEAR 3 /* frames: the lock's own, and helpers that were not inlined */

/* The function that begins the write; NULL: it does not wait for that. */
static const char *frozen_in(struct fr_case *k, const struct fr_waited *w)
{
	s32 at = fr_clues_kernel_at(k->c, w->kstack_id, "percpu_rwsem_wait"), i;
	struct fr_symbol s;

	if (at < 0 || w->state != FR_PREV_STATE_BLOCKED || w->queued_ns > w->off_ns / 2)
		return NULL;
	for (i = at + 1; i <= at + NEAR && fr_clues_kernel_frame(k->c, w->kstack_id, i, &s) && s.name; i++)
		if (begins_write(s.name))
			return fr_word_text(k, s.name, strlen(s.name));
	return NULL;
}

bool fr_case_is_frozen(struct fr_case *k, const struct fr_waited *w)
{
	return frozen_in(k, w);
}

/* The lock that each write to a file system takes is held by nobody but fsfreeze and its like. */
bool fr_recognise_frozen(struct fr_case *k)
{
	const struct fr_waited *w = k->wait;
	const char *in = w ? frozen_in(k, w) : NULL;
	bool goes_on = w == &k->by_steps && k->is_going;

	if (!in)
		return false;
	fr_case_cause(k, k->wait_from,
		      "the file system is frozen: %s writes to it%s in %s, and waits until somebody thaws it (%s%s%s)",
		      fr_word_who(k, w->tid, w->ts), fr_word_object(k, w), in, fr_word_ns(k, w->blocked_ns),
		      goes_on ? " so far" : ", then ", goes_on ? "" : fr_word_ender(k, w));
	return true;
}

/* ---- who filled a disk's queue ---- */

#define WRITER_LEAST_SZ (1u << 20)
#define WRITER_LEAST_PER_SEC \
	(2u << 20) /* of less, no disk has its queue full, and it may be another disk than the one waited for */

/* Somebody else than who waited, who asked one disk to write half of what it was asked to, or more. */
const char *fr_word_writer(struct fr_case *k, u64 to_ns)
{
	u64 from_ns = k->c->begin_ns, all;
	struct fr_clue_writer w;
	char some[32], sum[32], disk[FR_DEV_NAME_SZ];
	const char *who;

	if (k->c->is_picked || !fr_clues_covers_most(k->c, FR_CLUES_ALL_CPUS, from_ns, to_ns) ||
	    !fr_clues_writer(k->c, from_ns, to_ns, &w, &all) || w.bytes < WRITER_LEAST_SZ || w.bytes < all / 2 ||
	    w.bytes < (to_ns - from_ns) / FR_MSEC_NS * WRITER_LEAST_PER_SEC / 1000 ||
	    (!w.are_several && k->wait && w.tid == k->wait->tid))
		return "";
	if (fr_clues_is_kworker(k->c, w.tid, w.ts))
		who = fr_word(k,
			      "%s, a kernel worker, which writes for others (writeback of what they wrote to files, or of a "
			      "loop device),",
			      fr_word_who(k, w.tid, w.ts));
	else if (w.are_several)
		who = fr_word(k, "tasks called %s", fr_word_comm(k, w.tid, w.ts));
	else
		who = fr_word_who(k, w.tid, w.ts);
	return fr_word(k, "; of %s that %s was asked to write in the %s before, %s asked for %s",
		       fr_show_size(all, sum, sizeof(sum)), fr_dev_name(k->c->view->disks, w.dev, disk),
		       fr_word_ns(k, to_ns - from_ns), who, fr_show_size(w.bytes, some, sizeof(some)));
}

/* ---- places that tell ---- */

/* What else is told of a place. */
enum place_of { OF_ITSELF, OF_DISK, OF_CGROUP, OF_WAKER, OF_DAEMON, OF_TRACER, OF_READER };

#define MEMORY_MAP "for its process's memory map (mmap_lock), which another task had locked"

static const struct {
	const char *frame, *what;
	enum place_of of;
} places[] = {
	{"request_wait_answer", "for an answer of a FUSE file system's daemon", OF_DAEMON},
	{"jbd2_log_wait_commit", "for a commit of its file system's journal (jbd2)", OF_DISK},
	{"wait_transaction_locked", "for a transaction of its file system's journal (jbd2)", OF_DISK},
	{"add_transaction_credits", "for room in its file system's journal (jbd2)", OF_DISK},
	{"xlog_wait_on_iclog", "for its file system's log (xfs) to be written", OF_DISK},
	{"xlog_grant_head_wait", "for room in its file system's log (xfs)", OF_DISK},
	{"btrfs_commit_transaction", "for a commit of its file system (btrfs)", OF_DISK},
	{"mem_cgroup_handle_over_high", "because its memory cgroup is over its high limit", OF_CGROUP},
	{"try_to_free_mem_cgroup_pages", "for memory that a cgroup, as at its limit, has to give back", OF_CGROUP},
	{"mem_cgroup_oom_synchronize", "because its memory cgroup is out of memory", OF_CGROUP},
	{"reclaim_throttle", "for memory: reclaim was held back, since too little could be freed", OF_ITSELF},
	{"try_to_free_pages", "for memory that the host, short of it, has to give back", OF_ITSELF},
	{"balance_dirty_pages", "until enough of what was written has left memory, as to disk (dirty pages)", OF_DISK},
	{"rpc_wait_bit_killable", "for an answer of an NFS server", OF_ITSELF},
	{"nfs_wait_bit_killable", "for an answer of an NFS server", OF_ITSELF},
	{"rq_qos_wait", "for its turn at a disk whose queue is full", OF_DISK},
	{"blk_mq_get_tag", "for a free place in a disk's queue", OF_DISK},
	{"blk_mq_freeze_queue_wait", "for a disk's queue to become empty", OF_DISK},
	{"do_coredump", "for its core dump to be written", OF_ITSELF},
	{"locks_lock_inode_wait", "for a file lock (flock) that somebody else has", OF_WAKER},
	{"fcntl_setlk", "for a file lock (fcntl) that somebody else has", OF_WAKER},
	{"do_semtimedop", "for a semaphore of System V (semop)", OF_WAKER},
	{"unix_wait_for_peer", "for room in the queue of a unix socket, whose process does not take what is there", OF_WAKER},
	{"sock_alloc_send_pskb", "for room in its socket's send buffer: the receiver does not take what was sent", OF_WAKER},
	{"sk_stream_wait_memory", "for room in its socket's send buffer: the peer does not take what was sent", OF_WAKER},
	{"anon_pipe_write", "for room in a pipe: its reader does not take what was written", OF_READER},
	{"pipe_write", "for room in a pipe: its reader does not take what was written", OF_READER},
	{"wait_for_partner", "for somebody to open the other end of a FIFO, which it opens", OF_ITSELF},
	{"n_tty_read", "for input from its terminal, from a person or a program at its other end", OF_ITSELF},
	{"n_tty_write", "for room in its terminal, whose other end does not take what was written, or has stopped it",
	 OF_WAKER},
	{"folio_wait_writeback", "for a page that is being written, as to disk", OF_DISK},
	{"do_swap_page", "for a page that is read back from swap", OF_ITSELF},
	{"__refrigerator", "to be thawed: its cgroup, or the host, was frozen", OF_ITSELF},
	{"do_freezer_trap", "to be thawed: its cgroup was frozen", OF_ITSELF},
	{"handle_userfault", "for the handler of a page fault in another program (userfaultfd)", OF_ITSELF},
	{"seccomp_do_user_notification", "for the program that decides on its system calls (seccomp)", OF_ITSELF},
	{"ptrace_stop", "for its tracer: it is stopped by ptrace, as by a debugger", OF_TRACER},
	{"autofs_wait", "for the automounter", OF_ITSELF},
	{"wait_for_random_bytes", "for the kernel's generator of random numbers, which has too little entropy yet", OF_ITSELF},
	{"wait_for_vfork_done", "for its child of vfork() to execute a program", OF_ITSELF},
	{"call_usermodehelper_exec", "for a helper program that the kernel started, as modprobe", OF_ITSELF},
	{"idempotent_wait_for_completion", "for another task that loads the same kernel module", OF_ITSELF},
	{"wait_rcu_gp", "for all CPUs to pass a grace period (RCU)", OF_ITSELF},
	{"__wait_rcu_gp", "for all CPUs to pass a grace period (RCU)", OF_ITSELF},
	{"synchronize_rcu_expedited", "for all CPUs to pass a grace period (RCU)", OF_ITSELF},
	{"lru_add_drain_all", "for all CPUs to take part in moving pages", OF_ITSELF},
	{"cgroup_kn_lock_live", "for the kernel's lock of all cgroups", OF_WAKER},
	{"rtnl_lock", "for the kernel's lock of the network's configuration (rtnl)", OF_WAKER},
	{"lock_mm_and_find_vma", MEMORY_MAP, OF_WAKER},
	{"vm_mmap_pgoff", MEMORY_MAP, OF_WAKER},
	{"__vm_munmap", MEMORY_MAP, OF_WAKER},
	{"do_mprotect_pkey", MEMORY_MAP, OF_WAKER},
	{"__do_sys_brk", MEMORY_MAP, OF_WAKER},
	{"__x64_sys_brk", MEMORY_MAP, OF_WAKER},
	{"do_mlock", MEMORY_MAP, OF_WAKER},
	{"__iomap_dio_rw", "for what it reads or writes past the cache (O_DIRECT), as from or to disk", OF_DISK},
	{"__blkdev_direct_IO_simple", "for what it reads or writes past the cache (O_DIRECT), as from or to disk", OF_DISK},
	{"fsync_buffers_list", "for blocks of a file to be written, as to disk", OF_DISK},
	{"submit_bio_wait", "for a disk to answer a request", OF_DISK},
	{"blkdev_issue_flush", "for a disk to write what it has cached (flush)", OF_DISK},
	{"__wait_on_buffer", "for a block to be read from disk, or written to it", OF_DISK},
	{"filemap_update_page", "for a page of a file to be read", OF_ITSELF},
	{"filemap_fault", "for a page of a mapped file to be there, as from disk", OF_ITSELF},
	{"mutex_lock", "for a lock of the kernel (mutex) that somebody else had", OF_WAKER},
	{"__mutex_lock_slowpath", "for a lock of the kernel (mutex) that somebody else had", OF_WAKER},
	{"rwsem_down_write_slowpath", "for a lock of the kernel (rwsem) that somebody else had", OF_WAKER},
	{"rwsem_down_read_slowpath", "for a lock of the kernel (rwsem) that somebody else had", OF_WAKER},
	{"filemap_get_pages", "for a page of a file to be read", OF_ITSELF},
};

/*
 * Functions that may wait for something else on their way, a lock or memory: for what is told, where they sleep themselves, in
 * this state. The functions of the kernel's locks are not in stacks: who waits for a mutex in one of these is in D.
 */
static const struct {
	const char *frame;
	u32 state;
} sleepers[] = {
	{"do_semtimedop", FR_PREV_STATE_SLEEPING},
	{"sock_alloc_send_pskb", FR_PREV_STATE_SLEEPING},
	{"anon_pipe_write", FR_PREV_STATE_SLEEPING},
	{"pipe_write", FR_PREV_STATE_SLEEPING},
	{"n_tty_write", FR_PREV_STATE_SLEEPING},
	{"n_tty_read", FR_PREV_STATE_SLEEPING},
	{"lock_mm_and_find_vma", FR_PREV_STATE_BLOCKED},
	{"vm_mmap_pgoff", FR_PREV_STATE_BLOCKED},
	{"__vm_munmap", FR_PREV_STATE_BLOCKED},
	{"do_mprotect_pkey", FR_PREV_STATE_BLOCKED},
	{"__do_sys_brk", FR_PREV_STATE_BLOCKED},
	{"__x64_sys_brk", FR_PREV_STATE_BLOCKED},
	{"do_mlock", FR_PREV_STATE_BLOCKED},
};
/* Their helpers, which sleep in their name. */
static const char *const sleep_helpers[] = {"__do_semtimedop", "sock_wait_for_wmem", "pipe_wait", "wait_woken", NULL};

/* Is nothing but the scheduler between this frame and the sleep? */
static bool is_next_to_sleep(const struct fr_case *k, u64 kstack_id, s32 at)
{
	struct fr_waitstack s = fr_waitstack_find(k->c->symbols, k->c->view->stacks, kstack_id);
	char frame[20];

	for (; (s32)s.from < at; s.from++)
		if (!fr_is_one_of(fr_waitstack_name(k->c->symbols, s.ip[s.from], frame), sleep_helpers))
			return false;
	return true;
}

/* Does it wait there for what this place waits for? */
static bool place_sleeps(const struct fr_case *k, const char *frame, s32 at)
{
	const struct fr_waited *w = k->wait;
	size_t i;

	for (i = 0; i < sizeof(sleepers) / sizeof(sleepers[0]); i++)
		if (!strcmp(sleepers[i].frame, frame))
			return w->state == sleepers[i].state && is_next_to_sleep(k, w->kstack_id, at);
	return true;
}

/* "; x/1 ended that", or nothing */
static const char *place_ender(struct fr_case *k, const struct fr_waited *w)
{
	return w->waker == FR_WAKER_task && w->waker_pid
		       ? fr_word(k, "; %s ended that", fr_word_who(k, w->waker_pid, fr_waited_woken_ns(w)))
		       : "";
}

/* An object that no other one is called as; or, of a unix socket, its address, which names who is served there. */
static bool place_names_object(const struct fr_waited *w)
{
	static const char *const kinds[] = {"tcp:", "pipe:", "unix:"};
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (w->object_len > strlen(kinds[i]) && !memcmp(w->object, kinds[i], strlen(kinds[i])))
			return true;
	return false;
}

/* Did its process wait for the same before? A futex that processes share lies at one place of its process. */
static bool place_is_same(const struct fr_case *k, const struct fr_waited *w, const struct fr_waited *of)
{
	char call[FR_WAITED_CALL_SZ];

	if (of->pid != w->pid || of->in != w->in || of->id != w->id || of->ts > fr_waited_began_ns(w))
		return false;
	if (w->in == FR_WAITED_call && !w->abi && !strcmp(fr_waited_call(w, k->c->arch, call), "futex"))
		return !(w->arg[1] & FUTEX_PRIVATE_FLAG) && !(of->arg[1] & FUTEX_PRIVATE_FLAG) && of->arg[0] == w->arg[0];
	return place_names_object(w) && of->object_len == w->object_len && !memcmp(of->object, w->object, w->object_len);
}

u32 fr_case_only_ender(const struct fr_case *k, const struct fr_waited *w, u64 *ended_ns)
{
	const struct fr_waited *of, *last = NULL;
	s32 partner = 0, pid;
	size_t i;

	for (i = 0; (of = fr_clues_wait(k->c, i)); i++) {
		if (!place_is_same(k, w, of) || of->waker != FR_WAKER_task || !of->waker_pid || fr_case_ended_by_signal(k, of))
			continue;
		pid = fr_clues_pid(k->c, of->waker_pid, fr_waited_woken_ns(of));
		if (pid <= 0 || pid == w->pid || (partner && pid != partner))
			return 0;
		partner = pid;
		if (of->tid == w->tid)
			last = of;
	}
	if (!last)
		return 0;
	*ended_ns = fr_waited_woken_ns(last);
	return last->waker_pid;
}

const char *fr_word_still(struct fr_case *k, const struct fr_still *s)
{
	return fr_word(k, "%s%s for %s", fr_word_call(k, &s->wait), fr_word_object(k, &s->wait), fr_word_ns(k, s->wait.off_ns));
}

const char *fr_word_only_ender(struct fr_case *k, const struct fr_waited *w)
{
	u64 ns;
	u32 tid = fr_case_only_ender(k, w, &ns);
	/* all connections of a server have its address */
	bool is_unix = w->object_len > 5 && !memcmp(w->object, "unix:", 5);
	const char *that = is_unix ? "at that address, perhaps by another connection" : "for that", *before;
	struct fr_still s;

	if (!tid)
		return "";
	before = fr_word_ns(k, w->ts - ns);
	if (!fr_clues_still(k->c, tid, &s))
		return fr_word(k, "; %s ended a wait of it %s, %s before", fr_word_who(k, tid, ns), that, before);
	return fr_word(k, "; who ended a wait of it %s, %s before, %s, has been %s", that, before, fr_word_who(k, tid, ns),
		       fr_word_still(k, &s));
}

/* "; x/1 has that, and has been in read for 2 s": whoever holds the lock, as the kernel told of it; or nothing. */
static const char *place_holder(struct fr_case *k, const struct fr_waited *w)
{
	struct fr_still s;

	if (!w->owner_pid)
		return "";
	if (!fr_clues_still(k->c, w->owner_pid, &s))
		return fr_word(k, "; %s has that", fr_word_who(k, w->owner_pid, w->ts));
	return fr_word(k, "; %s has that, and has been %s", fr_word_who(k, w->owner_pid, w->ts), fr_word_still(k, &s));
}

/* "; zstd/1, which reads there, had a CPU for 7 s of these 14 s": who was seen to read that pipe, and what it did; or nothing.
 */
static const char *place_reader(struct fr_case *k, const struct fr_waited *w, const char **from)
{
	const struct fr_clue_reader *r = fr_clues_reader(k->c, w);
	u64 from_ns = fr_waited_began_ns(w), to_ns = fr_waited_woken_ns(w), ran_ns, all_ns;
	bool knows_waits = strstr(k->wait_from, "wait");
	const char *who;
	struct fr_still s;

	if (!r || r->pid <= 0 || r->pid == w->pid)
		return "";
	*from = knows_waits ? "" : ", wait";
	who = fr_word_who(k, r->tid, to_ns);
	if (w == &k->by_steps && k->is_going && fr_clues_still(k->c, r->tid, &s))
		return fr_word(k, "; %s, which read there before, has been %s", who, fr_word_still(k, &s));
	ran_ns = fr_clues_covers_most(k->c, FR_CLUES_ALL_CPUS, from_ns, to_ns)
			 ? fr_case_process_ran_ns(k, r->pid, from_ns, to_ns, &all_ns)
			 : 0;
	if (ran_ns < (to_ns - from_ns) / 20)
		return fr_word(k, "; %s read there before", who);
	*from = knows_waits ? ", sched_switch" : ", wait, sched_switch";
	return fr_word(k, "; %s, which read there before, had a CPU for %s meanwhile", who, fr_word_ns(k, ran_ns));
}

/* What else is known of it; *from: the events that tell of that. */
static const char *place_more(struct fr_case *k, enum place_of of, const char **from)
{
	const struct fr_waited *w = k->wait;
	const char *more = "";

	switch (of) {
	case OF_READER:
		more = place_more(k, OF_WAKER, from);
		if (!*more || w != &k->by_steps || !k->is_going)
			more = fr_word(k, "%s%s", more, place_reader(k, w, from));
		break;
	case OF_DISK:
		more = fr_word_writer(k, w->ts);
		*from = *more ? ", block_io_start" : "";
		break;
	case OF_WAKER:
		if (w != &k->by_steps || !k->is_going) {
			more = place_ender(k, w);
			break;
		}
		more = place_holder(k, w);
		if (*more)
			break;
		more = fr_word_stopped(k, w, from);
		if (!*more) {
			more = fr_word_only_ender(k, w);
			*from = *more ? ", wait" : "";
		}
		break;
	case OF_DAEMON:
		more = fr_word_stopped(k, w, from);
		more = *more ? more : place_ender(k, w);
		break;
	case OF_TRACER:
		more = fr_word_tracer(k, w, from);
		break;
	case OF_CGROUP:
		more = fr_word_cgroup_limit(k, w->tid, w->ts);
		*from = *more ? ", counters" : "";
		more = *more ? fr_word(k, "; %s", more) : "";
		break;
	case OF_ITSELF:
		break;
	}
	return more;
}

/* A place that only waits for one thing. */
bool fr_recognise_place(struct fr_case *k)
{
	const struct fr_waited *w = k->wait;
	const char *more, *more_from = "";
	s32 at;
	u32 i;

	if (!w || fr_waited_was_runnable(w) || w->queued_ns > w->off_ns / 2)
		return false;
	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		at = fr_clues_kernel_at(k->c, w->kstack_id, places[i].frame);
		if (at < 0 || !place_sleeps(k, places[i].frame, at))
			continue;
		more = place_more(k, places[i].of, &more_from);
		fr_case_cause(k, fr_word(k, "%s%s", k->wait_from, more_from), "%s waited %s %s%s %s: it was in %s%s",
			      fr_word_who(k, w->tid, w->ts), fr_word_ns(k, w->blocked_ns), fr_word_call(k, w),
			      fr_word_object(k, w), places[i].what, places[i].frame, more);
		return true;
	}
	return false;
}
