/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * carve: finds the pages of sessions in a crash dump of the kernel, which does not say what its pages are of. Each page of a
 * ring, of struct fr_session and of a session's text says so itself (bpf/layout.h). The task table's elements do not, but have
 * the session's epoch in their key: what looks like one is kept, until it is known which epochs there are. An element that lies
 * across the bound of two pages is not found, since the pages that follow each other in the kernel's map need not do so in
 * memory.
 */
#ifndef FR_CARVE_H
#define FR_CARVE_H

#include "incident_layout.h"
#include "read/snapfile/snapfile.h"
#include "read/vmcore/vmcore.h"

/* A page of a sub-buffer. */
struct fr_carved_page {
	u32 epoch;
	u16 cpu;
	u8 tier;
	u16 page; /* within its sub-buffer */
	u64 seq;
	u64 place; /* in the dump */
};

/* A page that a ring, or a session, has one of. */
struct fr_carved_one {
	u32 epoch;
	u16 cpu;
	u16 tier;
	u64 place;
};

struct fr_carved_task {
	u32 epoch;
	struct fr_snap_task task;
};

struct fr_carved {
	struct fr_carved_page *page;
	struct fr_carved_one *writer, *slots, *session;
	struct fr_text_page *text; /* and those of profiles */
	struct fr_carved_task *task;
	struct fr_incident_head *log; /* heads of incident logs, and records */
	struct fr_incident *incident;
	char *vmcoreinfo; /* the kernel's description of itself for crash dumps: NAME=VALUE lines; NULL: it was not found */
	size_t page_cnt, writer_cnt, slots_cnt, session_cnt, text_cnt, task_cnt, log_cnt, incident_cnt;
	u64 left_out_cnt; /* texts' pages, tasks, and parts of incident logs that are more than sessions can have */
};

/* Look at one page; for fr_vmcore_walk(), arg is a struct fr_carved that was zero at first. 0 or -ENOMEM. */
int fr_carve_page(void *arg, u64 place, const void *page);

/* Once all were looked at: sort what was found, for the calls below. */
void fr_carved_sort(struct fr_carved *c);

/* The pages like this one, whose place is not looked at: the first, and how many; NULL: there is none. */
const struct fr_carved_page *fr_carved_find(const struct fr_carved *c, const struct fr_carved_page *like, size_t *cnt);

/* Those of a list, as slots, that are of this one's ring: the first, by place, and how many; NULL: there is none. */
const struct fr_carved_one *fr_carved_ones(const struct fr_carved_one *list, size_t list_cnt, const struct fr_carved_one *like,
					   size_t *cnt);

/*
 * The tasks of an epoch's table, each once, as it was known last: *out malloc'ed, *cnt. 0 or -ENOMEM.
 */
int fr_carved_tasks(const struct fr_carved *c, u32 epoch, struct fr_snap_task **out, size_t *cnt);

/* A session's incident log, as far as it was found. */
struct fr_carved_log {
	const struct fr_incident_head *head; /* NULL: not found, and so nothing tells how many records there are */
	struct fr_incident *rec;	     /* by number, each once */
	size_t cnt;
	u64 missing_cnt; /* not there, being written when the kernel stopped, or there twice and different */
};

/* *out->rec malloc'ed. 0 or -ENOMEM. */
int fr_carved_incidents(const struct fr_carved *c, u32 epoch, struct fr_carved_log *out);

/* Free what it holds, but not c itself. */
void fr_carved_free(struct fr_carved *c);

#endif
