/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * store: the directory of snapshots: its contents, quotas, and snapshots to keep for good.
 *
 * Order and age follow the time in a file's name (copies keep it, and setting the clock does not change it). Every file with a
 * snapshot's name counts, whoever took it: another session, or another host on the same NFS. Symbolic links are not followed. A
 * snapshot without write permission for its owner (0400) is marked: no quota removes it. Only files that are snapshots by name
 * and by their first bytes are ever removed. Core files, including systemd-coredump's, are matched by pid, boot id, time and
 * comm.
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
	u64 real_ns; /* wall time of its trigger, from its facts, or else from its name */
	bool marked;
	char *reason, *comm, *exe; /* "" none */
	u32 pid, tid, ns_pid;	   /* 0: unknown; ns_pid: the process in its own pid namespace */
	s64 uid;		   /* -1: unknown */
	s32 sig;
	bool exited; /* taken because it exited, with this status */
	u8 status;
	char *boot_id;
	char *core;   /* path of the core file of the same crash, NULL none */
	char *damage; /* why it could not be read completely, NULL */
	int err;      /* -errno: the system did not let us read it, so only its name is known; 0 */
};

/* What a configuration says of it; its texts must live as long. */
struct fr_config;
struct fr_store_conf fr_store_conf_of(const struct fr_config *c);

int fr_store_open(const struct fr_store_conf *conf, struct fr_store **out); /* 0 or -errno */
void fr_store_close(struct fr_store *st);				    /* NULL is fine */
int fr_store_change(struct fr_store *st, const struct fr_store_conf *conf);
int fr_store_follow(struct fr_store *st, const struct fr_store_conf *conf); /* the same, if it is another one */

/*
 * How much room to make for a snapshot: as much as the last one took, of last_sz bytes, or the newest that is there (0), which
 * a former recorder may have taken; where there is none, some, but not most of a small quota. And after the disk was full: this
 * one is larger than that, and than all that was free.
 */
u64 fr_store_want_sz(struct fr_store *st, u64 last_sz);
u64 fr_store_want_more(struct fr_store *st, u64 want_sz);

/*
 * Make room for a snapshot of about want_sz bytes, of this failure (0: none): remove the oldest unmarked ones, of each failure
 * but the newest (quota.h), until the limits on count, bytes, age, free space and inodes are met, or at least one if the disk
 * would not have so much at all; one that cannot be removed stays, with a warning. 0; -ENOSPC: even that does not make room
 * (and nothing is removed in vain), with a message; -errno. Without any limit nothing is removed. *removed: how many.
 */
int fr_store_make_room(struct fr_store *st, u64 want_sz, u64 signature, u32 *removed);

/* The fact of a snapshot that says of which failure it is, a number in hexadecimal: fr_trigger_key(). */
#define FR_FACT_SIGNATURE "trigger_signature"

/* Failures of which the last snapshot has been removed since this was asked, the first of them: how many. */
#define FR_STORE_GONE_MAX 32u
u32 fr_store_take_gone(struct fr_store *st, u64 gone[FR_STORE_GONE_MAX]);

/*
 * The same when no snapshot is about to be written: by age alone, or also by count and bytes. Free space matters only to a
 * writer: other users of the disk cost no history before. 0 or -errno, reported.
 */
int fr_store_tidy(struct fr_store *st, bool age_only);

u64 fr_store_removed(const struct fr_store *st); /* since it was opened */
const char *fr_store_dir(const struct fr_store *st);

struct fr_store_usage {
	u32 files, marked;
	u64 sz;
	u64 newest_sz; /* of the last one taken; 0 without any */
	u64 free_sz, fs_sz;
	u64 removed; /* since it was opened */
	int err;     /* of the last scan of the directory, 0 fine */
};
int fr_store_usage(struct fr_store *st, struct fr_store_usage *out);

/* The same by a process that may be left behind (sys/errand.h), for whoever must not wait. -ETIMEDOUT: its disk does not
 * answer.
 */
struct fr_sess;
int fr_store_usage_soon(struct fr_sess *s, struct fr_store *st, struct fr_store_usage *out);

/* All snapshots of a directory, oldest first, with their core files: *cnt entries, freed with fr_stored_free(). 0 or -errno. */
int fr_store_list(const char *dir, struct fr_stored **out, size_t *cnt);
void fr_stored_free(struct fr_stored *list, size_t cnt);

int fr_store_mark(const char *path, bool keep); /* 0; -EBADMSG: not a snapshot; -errno */

#endif
