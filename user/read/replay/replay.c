/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* replay: sets up a replay and returns its rows. */
#include "read/replay/replay_int.h"

#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/text/units.h"
#include "base/tp/tps.h"
#include "sys/memory.h"

static int replay_set_up(struct fr_replay *r, const char *const *path, u32 cnt)
{
	int err = fr_replay_open_files(r, path, cnt);

	err = err ? err : fr_replay_make_views(r);
	err = err ? err : fr_replay_find_window(r);
	err = err ? err : fr_replay_read_names(r);
	err = err ? err : fr_replay_read_cgroups(r);
	err = err ? err : fr_replay_make_pairs(r);
	err = err ? err : fr_replay_make_rings(r);
	return err ? err : fr_replay_start_jobs(r);
}

int fr_replay_open(const char *const *path, u32 cnt, const struct fr_replay_opts *opts, struct fr_replay **out)
{
	struct fr_replay *r = calloc(1, sizeof(*r));
	int err = -ENOMEM;

	if (r) {
		r->opts = *opts;
		r->stacks = fr_stacks_new();
		if (r->stacks)
			err = replay_set_up(r, path, cnt);
	}
	if (err == -ENOMEM)
		fr_err("out of memory: replay fewer files at once, or %s", fr_err_cure(-ENOMEM, NULL));
	if (err) {
		fr_replay_close(r);
		return err;
	}
	*out = r;
	return 0;
}

void fr_replay_end_rows(struct fr_replay *r)
{
	u32 i;

	fr_ahead_free(r->ahead);
	fr_merge_free(r->merge);
	for (i = 0; i < r->ring_cnt; i++)
		fr_ringsrc_free(r->ring[i].src);
	free(r->ring);
	r->ahead = NULL;
	r->merge = NULL;
	r->ring = NULL;
	r->ring_cnt = 0;
}

void fr_replay_close(struct fr_replay *r)
{
	u32 i;

	if (!r)
		return;
	fr_replay_end_rows(r);
	fr_replay_pairs_free(r->pairs);
	for (i = 0; i < r->file_cnt; i++) {
		fr_filter_free(r->file[i].filter);
		fr_tps_free(r->file[i].view.tps);
		fr_snap_close(r->file[i].snap);
	}
	for (i = 0; i < r->boot_cnt; i++) {
		fr_cgroups_free(r->boot[i].cgroups);
		fr_names_free(r->boot[i].names);
	}
	fr_stacks_free(r->stacks);
	free(r->boot);
	free(r->file);
	free(r);
}

/* The file a batch comes from: its columns must be read by that file's schema and no other. */
static struct fr_replay_file *replay_file_of(const struct fr_replay *r, const struct fr_stretch *s)
{
	struct fr_replay_file *f = &r->file[r->ring[s->stream].file];
	u32 i;

	for (i = 0; f->view.schema != s->b->schema && i < r->file_cnt; i++)
		f = &r->file[i];
	return f;
}

/* Find what the rows end, and leave out those that are not shown: s->from becomes s->to if none is. 0 or -ENOMEM. */
static int replay_pair_up(struct fr_replay *r, struct fr_replay_file *f, struct fr_stretch *s)
{
	const struct fr_replay_ring *ring = &r->ring[s->stream];
	u64 since_ns = r->boot[ring->boot].since_ns;

	f->view.pair_from = s->from;
	f->view.pair = fr_replay_pairs_feed(r->pairs, ring->boot, s->b, s->from, s->to);
	f->view.span = fr_replay_pairs_spans(r->pairs);
	f->view.shows_pairs = r->opts.pairs;
	if (!f->view.pair)
		return -ENOMEM;
	if (!fr_replay_is_shown(r, ring->tier))
		s->from = s->to;
	while (!r->opts.history && s->from < s->to && s->b->ts[s->from] < since_ns)
		s->from++;
	return 0;
}

/* The next rows to show, and the file they come from. Like fr_replay_next(). */
static int replay_next_rows(struct fr_replay *r, struct fr_stretch *s, struct fr_replay_file **f)
{
	int got, err;

	do {
		got = fr_merge_next(r->merge, s);
		if (got <= 0)
			return got;
		*f = replay_file_of(r, s);
		err = r->pairs ? replay_pair_up(r, *f, s) : 0;
	} while (!err && s->from == s->to);
	return err ? err : 1;
}

/* A merge needs a chunk of each ring at once. Does what the files say of them fit the memory that may be taken? */
static int check_room(const struct fr_replay *r)
{
	u64 sz = fr_replay_rings_sz(r);
	char need[32];

	if (fr_memory_has_room(sz, FR_MEMORY_PARTS))
		return 0;
	fr_err("the events of %u ring%s are needed at the same time, %s at least: more than is left of the memory that may be "
	       "taken",
	       r->ring_cnt, fr_plural(r->ring_cnt), fr_show_size(sz, need, sizeof(need)));
	return -ENOMEM;
}

/* This decodes the first chunk of each ring, so do it only if events are requested. 0 or -ENOMEM. */
static int replay_begin(struct fr_replay *r)
{
	int err = r->merge ? 0 : check_room(r);

	if (err)
		return err;
	return r->merge ? 0 : fr_merge_new(r->ring_cnt, fr_replay_next_stretch, r, &r->merge);
}

int fr_replay_next(struct fr_replay *r, struct fr_replay_run *run)
{
	struct fr_stretch s;
	struct fr_replay_file *f = NULL;
	int got = replay_begin(r);

	if (!got)
		got = replay_next_rows(r, &s, &f);
	if (got <= 0)
		return got;
	*run = (struct fr_replay_run){
		.b = s.b,
		.from = s.from,
		.to = s.to,
		.shift_ns = s.shift_ns,
		.view = &f->view,
		.filter = f->filter,
		.file = f - r->file,
	};
	return 1;
}

u32 fr_replay_file_cnt(const struct fr_replay *r)
{
	return r->file_cnt;
}

const struct fr_schema *fr_replay_schema(const struct fr_replay *r, u32 file)
{
	return r->file[file].view.schema;
}

u32 fr_replay_boot_cnt(const struct fr_replay *r)
{
	return r->boot_cnt;
}

u32 fr_replay_boot(const struct fr_replay *r, u32 file)
{
	return r->file[file].boot;
}

const struct fr_view *fr_replay_view(const struct fr_replay *r, u32 file)
{
	return &r->file[file].view;
}

const struct fr_snap *fr_replay_snap(const struct fr_replay *r, u32 file)
{
	return r->file[file].snap;
}

struct fr_snap *fr_replay_file(struct fr_replay *r, u32 file)
{
	return r->file[file].snap;
}

const char *fr_replay_path(const struct fr_replay *r, u32 file)
{
	return r->file[file].path;
}

int fr_replay_subscribe(struct fr_replay *r, u32 file, const struct fr_sub_want *want, struct fr_sub *out)
{
	struct fr_replay_file *f = &r->file[file];
	int err = fr_subscribe(f->view.schema, want, out);
	u32 nr;

	if (err != -EINVAL)
		return err;
	nr = fr_schema_find(f->view.schema, want->event)->nr;
	if (!(f->said[nr / 64] >> nr % 64 & 1) && fr_snap_records(f->snap, want->event))
		fr_sub_say(f->path, f->view.schema, want);
	f->said[nr / 64] |= 1ULL << nr % 64;
	return err;
}
