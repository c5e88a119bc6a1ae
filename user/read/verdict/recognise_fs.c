/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* recognise_fs: a task waited for a file system. */
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
	struct fr_symbol s;

	if (at < 0 || w->state != FR_PREV_STATE_BLOCKED || w->queued_ns > w->off_ns / 2)
		return false;
	for (i = at + 1; i <= at + NEAR && fr_clues_kernel_frame(k->c, w->kstack_id, i, &s) && s.name; i++) {
		if (!begins_write(s.name))
			continue;
		fr_case_cause(
			k, k->wait_from,
			"the file system is frozen: %s writes to it%s in %s, and waits until somebody thaws it (%s so far)",
			fr_word_who(k, w->tid, w->ts), fr_word_object(k, w), fr_word_text(k, s.name, strlen(s.name)),
			fr_word_ns(k, w->blocked_ns));
		return true;
	}
	return false;
}
