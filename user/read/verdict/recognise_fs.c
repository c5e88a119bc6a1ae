/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* recognise_fs: a task waited in a place of the kernel that tells what for: a file system, memory. */
#include "read/verdict/verdict_int.h"

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

/* The lock that each write to a file system takes is held by nobody but fsfreeze and its like. */
bool fr_recognise_frozen(struct fr_case *k)
{
	const struct fr_waited *w = k->wait;
	s32 at = w ? fr_clues_kernel_at(k->c, w->kstack_id, "percpu_rwsem_wait") : -1, i;
	bool goes_on = w == &k->by_steps && k->is_going;
	struct fr_symbol s;

	if (at < 0 || w->state != FR_PREV_STATE_BLOCKED || w->queued_ns > w->off_ns / 2)
		return false;
	for (i = at + 1; i <= at + NEAR && fr_clues_kernel_frame(k->c, w->kstack_id, i, &s) && s.name; i++) {
		if (!begins_write(s.name))
			continue;
		fr_case_cause(k, k->wait_from,
			      "the file system is frozen: %s writes to it%s in %s, and waits until somebody thaws it (%s%s%s)",
			      fr_word_who(k, w->tid, w->ts), fr_word_object(k, w), fr_word_text(k, s.name, strlen(s.name)),
			      fr_word_ns(k, w->blocked_ns), goes_on ? " so far" : ", then ",
			      goes_on ? "" : fr_word_ender(k, w));
		return true;
	}
	return false;
}

/* ---- places that tell ---- */

static const struct {
	const char *frame, *what;
} places[] = {
	{"request_wait_answer", "for the daemon of a FUSE file system, which does not answer"},
	{"jbd2_log_wait_commit", "for a commit of its file system's journal (jbd2)"},
	{"wait_transaction_locked", "for a transaction of its file system's journal (jbd2)"},
	{"add_transaction_credits", "for room in its file system's journal (jbd2)"},
	{"mem_cgroup_handle_over_high", "because its memory cgroup is over its high limit"},
	{"try_to_free_mem_cgroup_pages", "for memory that its cgroup, at its limit, has to give back"},
	{"mem_cgroup_oom_synchronize", "because its memory cgroup is out of memory"},
	{"reclaim_throttle", "for memory: reclaim was held back, since too little could be freed"},
	{"try_to_free_pages", "for memory that the host, short of it, has to give back"},
	{"balance_dirty_pages", "until enough of what was written is on disk (dirty pages)"},
	{"rpc_wait_bit_killable", "for an answer of an NFS server"},
	{"rq_qos_wait", "for its turn at a disk whose queue is full"},
	{"blk_mq_get_tag", "for a free place in a disk's queue"},
	{"do_coredump", "for its core dump to be written"},
	{"locks_lock_inode_wait", "for a file lock (flock) that somebody else has"},
	{"fcntl_setlk", "for a file lock (fcntl) that somebody else has"},
	{"unix_wait_for_peer", "for room in the queue of a unix socket, whose process does not take what is there"},
	{"sk_stream_wait_memory", "for room in its socket's send buffer: the peer does not take what was sent"},
	{"folio_wait_writeback", "for a page that is being written to disk"},
	{"do_swap_page", "for a page that is read back from swap"},
	{"__refrigerator", "to be thawed: its cgroup, or the host, was frozen"},
	{"handle_userfault", "for the handler of a page fault in another program (userfaultfd)"},
	{"wait_for_vfork_done", "for its child of vfork() to execute a program"},
};

/* A place that only waits for one thing. */
bool fr_recognise_place(struct fr_case *k)
{
	const struct fr_waited *w = k->wait;
	u32 i;

	if (!w || fr_waited_was_runnable(w) || w->queued_ns > w->off_ns / 2)
		return false;
	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (fr_clues_kernel_at(k->c, w->kstack_id, places[i].frame) < 0)
			continue;
		fr_case_cause(k, k->wait_from, "%s waited %s %s%s %s: it was in %s", fr_word_who(k, w->tid, w->ts),
			      fr_word_ns(k, w->blocked_ns), fr_word_call(k, w), fr_word_object(k, w), places[i].what,
			      places[i].frame);
		return true;
	}
	return false;
}
