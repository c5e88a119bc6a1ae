/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * store: the directory of snapshots: what is there, quotas, what is kept for good.
 *
 * Order and age go by the time in a file's name (copies keep it, clocks that are set do not change it). Counted is what has a
 * snapshot's name, whoever took it: another session, another host on the same NFS. Symbolic links are not followed.
 * A snapshot without write permission for its owner (0400) is marked: no quota removes it. Only files that are snapshots by
 * name and content's first bytes are ever removed. Core files and systemd-coredump's are joined by pid, boot id, time and comm.
 */
#ifndef FR_STORE_H
#define FR_STORE_H

#include <stdbool.h>
#include <stddef.h>

#include "types.h"

struct fr_store; /* opaque */

struct fr_store_conf {
	const char *dir;
	u32 max_files;
	u64 max_sz;
	u64 max_age_ns;
	u32 keep_free; /* 1/1000 % of the file system */
};

struct fr_stored {
	char *path;
	u64 sz;
	u64 real_ns; /* wall time of its trigger (from its facts), else of its name */
	bool marked;
	char *reason, *comm; /* "" none */
	u32 pid;
	s32 sig;
	char *boot_id;
	char *core;   /* path of the core file of the same death, NULL none */
	char *damage; /* why it could not be read whole, NULL */
};

int fr_store_open(const struct fr_store_conf *conf, struct fr_store **out); /* 0 or -errno */
void fr_store_close(struct fr_store *st);				    /* NULL is fine */
int fr_store_change(struct fr_store *st, const struct fr_store_conf *conf);

/*
 * Make room for a snapshot of about want_sz bytes: removes the oldest unmarked ones until count, bytes, age and free space are
 * kept. 0; -ENOSPC: there is no room even so (nothing more was removed than helps), with a message; -errno. *removed: how many.
 */
int fr_store_make_room(struct fr_store *st, u64 want_sz, u32 *removed);

/*
 * The same while no snapshot is to come: age alone, or count and bytes, too. Free space is for who writes: what others fill
 * costs no history before. 0 or -errno, said.
 */
int fr_store_tidy(struct fr_store *st, bool age_only);

struct fr_store_usage {
	u32 files, marked;
	u64 sz;
	u64 free_sz, fs_sz;
	u64 removed; /* since opened */
	int err;     /* of the last look at the directory, 0 fine */
};
int fr_store_usage(struct fr_store *st, struct fr_store_usage *out);

/* All snapshots of a directory, oldest first, with core files joined: *cnt entries, free with fr_stored_free(). 0 or -errno. */
int fr_store_list(const char *dir, struct fr_stored **out, size_t *cnt);
void fr_stored_free(struct fr_stored *list, size_t cnt);

int fr_store_mark(const char *path, bool keep); /* 0; -EBADMSG: not a snapshot; -errno */

#endif
