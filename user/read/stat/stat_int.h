/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* stat_int: what the parts of stat share: keys of rows (stat_keys.c), what is not known (stat_notes.c), the rest (stat.c). */
#ifndef FR_STAT_INT_H
#define FR_STAT_INT_H

#include "read/stat/stat.h"
#include "read/waits/waited.h"

typedef __int128 fr_wide;

#define FR_STAT_TEXT_MAX 4096u /* no text of an event or a path is longer */

struct fr_missing;

/* A file of the replay. */
struct fr_stat_file {
	struct fr_waited_fields wait;
	const struct fr_field *id[FR_EVENT_MAX]; /* the system call's number, by event */
	const char *host, *boot, *path;
	u16 switch_nr; /* sched_switch; FR_EVENT_MAX: it has none */
	u32 boot_nr;
	u64 begin_ns, end_ns; /* its events in the window, in the order of all files; the same: none */
};

/* What a function has met. */
struct fr_stat_met {
	u64 may_cnt, has_cnt; /* rows that may have a value, and those that have one */
	bool of_next;	      /* of the task that a switch goes to */
};

struct fr_stat_run {
	struct fr_stat_file *file;
	struct fr_filter **filter;	/* which rows, by file; NULL: all */
	struct fr_filter **key, **func; /* file by file, FR_STAT_KEY_MAX and FR_STAT_FUNC_MAX each; NULL: none */
	struct fr_missing *missing;
	struct fr_stat_met met[FR_STAT_FUNC_MAX];
	bool full; /* no room for more groups */
	u8 bytes[FR_STAT_KEY_MAX * (FR_STAT_TEXT_MAX + 3)];
};

void fr_stat_file_bind(struct fr_stat_file *f, struct fr_replay *r, u32 file);

/* Write the row's keys to run->bytes. Returns their size. */
u32 fr_stat_put_keys(struct fr_stat *s, const struct fr_replay_run *run, const struct fr_row *r);

/* The time in which a group's rows may be, in ns: of its step, of its file, host or boot, or of all. */
u64 fr_stat_time_of(const struct fr_stat *s, const struct fr_stat_group *g);

/* Is anything grouped by the row's own task? Had the values of function i no memory? */
bool fr_stat_by_task(const struct fr_stat_ask *ask);
bool fr_stat_no_room(const struct fr_stat_group *g, u32 i);

/* Say what is not known of the result. 0 or -ENOMEM. */
int fr_stat_note_all(struct fr_stat *s);

#endif
