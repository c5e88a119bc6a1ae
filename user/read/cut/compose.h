/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * compose: writes a file of snapshots out of snapshots. cut and merge say what each is made of, and what is kept:
 *
 *	cut	one source, some of its rows: a part for each snapshot of the file ----+
 *	merge	several sources, all rows, each once: a part for each session ---------+
 *										       v
 *		for each part: schema, facts, events, context, meta (meta.h) ---> the writer
 */
#ifndef FR_COMPOSE_H
#define FR_COMPOSE_H

#include "read/cut/clean.h"
#include "read/cut/meta.h"

/* A snapshot of the file that is written. */
struct fr_part {
	struct fr_snap **src; /* oldest first: facts and profile are the latest one's */
	u32 src_cnt;
	const struct fr_schema *schema;
	struct fr_keep *keep;	/* what is kept of its only source; NULL: everything, and what several have once */
	bool is_of_tasks;	/* of some only: what was normal before, of the whole machine, is left out */
	struct fr_clean *clean; /* names and secrets are replaced; NULL: they stay */
};

/* What cut and merge do in ways of their own. */
struct fr_compose {
	bool (*leaves_out)(const struct fr_part *p, const char *fact);
	/* more facts: first, so that a file that lost its end is not taken for one as a recorder writes it. 0 or -errno */
	int (*put_facts)(const struct fr_part *p, struct fr_snap_writer *w);
	int (*put_events)(struct fr_part *p, struct fr_snap_writer *w);
	void (*leave)(struct fr_part *p, const struct fr_row *r); /* a row of a rare event is not kept; NULL: never */
	/* add accounts and holes of the rings, and put facts that are known once all events are read. 0 or -errno */
	int (*account)(const struct fr_part *p, struct fr_meta *m, struct fr_snap_writer *w);
};

/* Write them to out, which must not exist. 0 or -errno: then there is no file. */
int fr_compose(const char *out, struct fr_part *const *part, u32 cnt, const struct fr_compose *how);

/* For put_events: a record longer than any recorder writes is damage that decoding did not see, and is left out. */
int fr_compose_row(struct fr_snap_writer *w, const struct fr_row *r, bool context);

/* The rows of a batch, cleaned if the part is, but for those that are left. */
int fr_compose_rows(const struct fr_part *p, struct fr_snap_writer *w, struct fr_batch *b, const bool *leaves, bool context);

/* A fact for put_facts: names in it are replaced as everywhere. 0 or -errno. */
int fr_compose_fact(const struct fr_part *p, struct fr_snap_writer *w, const char *name, const char *value);

/* The exit status of an error, with a message where there is none yet. whose: of which file a part was too large. */
int fr_compose_status(int err, const char *out, const char *whose, const char *less);

#endif
