/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* replay_names: names, stacks and cgroups around the events. */
#include "read/replay/replay_int.h"

#include <errno.h>

#include "read/snapfile/snapfile_rows.h"

/*
 * Reads all chunks of a tier, whichever part of the file is shown: names and stacks may be older than the events that they
 * explain. Context chunks, which follow the others, exist only for this.
 */
static int read_tier(struct fr_replay *r, struct fr_replay_file *f, u8 tier)
{
	struct fr_batch b = {0};
	size_t cnt, context_cnt, i;
	const struct fr_chunk *c = fr_snap_chunks(f->snap, &cnt);
	int err = 0;

	fr_snap_context(f->snap, &cnt, &context_cnt);
	for (i = 0; i < cnt + context_cnt && !err; i++) {
		if (c[i].tier != tier)
			continue;
		err = fr_snap_read_chunk(f->snap, i, &b);
		if (!err)
			err = tier == FR_TIER_STACK ? fr_stacks_add_batch(r->stacks, &b)
						    : fr_names_add_batch(r->boot[f->boot].names, &b);
		else if (err == -EBADMSG)
			err = 0;
	}
	fr_batch_free(&b);
	return err;
}

static int read_tasks(struct fr_replay *r, const struct fr_replay_file *f)
{
	size_t cnt, i;
	const struct fr_snap_task *t = fr_snap_tasks(f->snap, &cnt);
	int err = 0;

	for (i = 0; i < cnt && !err; i++)
		err = fr_names_add_task(r->boot[f->boot].names, t[i].tid, t[i].start_ns, &t[i].task);
	return err;
}

int fr_replay_read_names(struct fr_replay *r)
{
	u32 i;
	int err = 0;

	for (i = 0; i < r->file_cnt && !err && r->opts.names; i++) {
		err = read_tasks(r, &r->file[i]);
		err = err ? err : read_tier(r, &r->file[i], FR_TIER_LIFE);
		err = err ? err : read_tier(r, &r->file[i], FR_TIER_STACK);
	}
	for (i = 0; i < r->boot_cnt && !err; i++)
		err = fr_names_ready(r->boot[i].names);
	return err;
}

static bool is_of_names(const struct fr_chunk *c)
{
	return c->tier == FR_TIER_LIFE || c->tier == FR_TIER_STACK;
}

static int names_check_file(struct fr_replay_file *f, bool all)
{
	size_t cnt, context_cnt, i;
	const struct fr_chunk *c = fr_snap_chunks(f->snap, &cnt);
	int err = 0;

	fr_snap_context(f->snap, &cnt, &context_cnt);
	for (i = 0; i < cnt + context_cnt && !err; i++) {
		if (all || is_of_names(&c[i]))
			err = fr_snap_check_chunk(f->snap, i);
		err = err == -EBADMSG ? 0 : err;
	}
	return err;
}

int fr_replay_check_unread(struct fr_replay *r)
{
	u32 i;
	int err = 0;

	for (i = 0; i < r->file_cnt && !err && !r->opts.names; i++)
		err = names_check_file(&r->file[i], false);
	return err;
}

int fr_replay_check_stored(struct fr_replay *r)
{
	u32 i;
	int err = 0;

	for (i = 0; i < r->file_cnt && !err; i++)
		err = names_check_file(&r->file[i], true);
	return err;
}

static int add_cgroups(struct fr_replay_boot *b, const struct fr_snap *snap)
{
	size_t cnt, i, sz;
	const struct fr_snap_task *t = fr_snap_tasks(snap, &cnt);
	const char *text = fr_snap_procs(snap, &sz);
	int err = 0;

	for (i = 0; i < cnt && !err; i++)
		err = fr_cgroups_add_task(b->cgroups, t[i].tid, t[i].start_ns, &t[i].task);
	return err || !text ? err : fr_cgroups_add_procs(b->cgroups, text, sz);
}

int fr_replay_read_cgroups(struct fr_replay *r)
{
	u32 i;
	int err = 0;

	for (i = 0; i < r->file_cnt && !err; i++) {
		struct fr_replay_file *f = &r->file[i];
		struct fr_replay_boot *b = &r->boot[f->boot];

		if (!r->opts.cgroups && (!f->filter || !fr_filter_uses_cgroups(f->filter)))
			continue;
		b->cgroups = b->cgroups ?: fr_cgroups_new();
		err = b->cgroups ? add_cgroups(b, f->snap) : -ENOMEM;
		f->view.cgroups = b->cgroups;
	}
	return err;
}
