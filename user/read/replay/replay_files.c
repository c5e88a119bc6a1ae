/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* replay_files: the files, and which of them are of one boot. */
#include "read/replay/replay_int.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/set/vec.h"
#include "base/text/list.h"
#include "base/tp/tps.h"
#include "read/snapfile/snapfile_members.h"

static int files_new_boot(struct fr_replay *r, const char *id, u32 *idx)
{
	struct fr_replay_boot *b = &r->boot[r->boot_cnt];

	b->id = id;
	b->names = fr_names_new();
	fr_wall_init(&b->wall);
	if (!b->names)
		return -ENOMEM;
	*idx = r->boot_cnt++;
	return 0;
}

static bool files_is_same_session(const struct fr_snap *a, const struct fr_snap *b)
{
	size_t a_cnt, b_cnt;
	const struct fr_chunk *ca = fr_snap_chunks(a, &a_cnt), *cb = fr_snap_chunks(b, &b_cnt);

	return a_cnt && b_cnt && ca->epoch == cb->epoch;
}

/* Or was it lost in a file that this one was made of? */
static bool has_lost_boot(const struct fr_snap *s)
{
	bool is_made = fr_snap_fact(s, "merge_cnt") || fr_snap_fact(s, "cut_from");

	return !fr_snap_fact(s, "boot_id") && (is_made || fr_snap_damage(s));
}

/* Of a file that lost the name of its boot, its events tell which session it is of. False: there is none of that session. */
static bool find_boot_by_session(struct fr_replay *r, const char *id, struct fr_replay_file *f)
{
	const struct fr_replay_file *other;

	for (other = r->file; other < f; other++) {
		struct fr_replay_boot *b = &r->boot[other->boot];

		if ((!has_lost_boot(f->snap) && !has_lost_boot(other->snap)) || !files_is_same_session(other->snap, f->snap))
			continue;
		if (id && b->id && strcmp(id, b->id))
			continue;
		b->id = b->id ?: id;
		f->boot = other->boot;
		return true;
	}
	return false;
}

static int files_find_boot(struct fr_replay *r, struct fr_replay_file *f)
{
	const char *id = fr_snap_fact(f->snap, "boot_id");
	u32 i;

	for (i = 0; id && i < r->boot_cnt; i++) {
		if (r->boot[i].id && !strcmp(r->boot[i].id, id)) {
			f->boot = i;
			return 0;
		}
	}
	return find_boot_by_session(r, id, f) ? 0 : files_new_boot(r, id, &f->boot);
}

static void add_clocks(struct fr_replay_boot *b, const struct fr_snap *s)
{
	size_t cnt, i;
	const struct fr_snap_clock *c = fr_snap_clocks(s, &cnt);

	for (i = 0; i < cnt; i++)
		fr_wall_add(&b->wall, c[i].ts, c[i].real_ns);
}

/* One snapshot of a file of several. */
static int files_open_member(struct fr_replay *r, const char *path, const struct fr_members *m, size_t i)
{
	struct fr_replay_file *f = fr_vec_more(&r->file, r->file_cnt);
	struct fr_replay_boot *b = fr_vec_more(&r->boot, r->boot_cnt);
	int err;

	if (!f || !b)
		return -ENOMEM;
	*f = (struct fr_replay_file){.path = path};
	*b = (struct fr_replay_boot){};
	err = fr_snap_open_member(path, m, i, &f->snap);
	if (err)
		return err;
	r->file_cnt++;
	err = files_find_boot(r, f);
	if (!err)
		add_clocks(&r->boot[f->boot], f->snap);
	return err;
}

/* It could not be opened: it is left out and counts as damage; the others are read. */
static int files_say_error(struct fr_replay *r, const char *path, int err)
{
	if (!err || err == -ENOMEM)
		return err;
	fr_snap_say_error(path, err);
	if (err != -EBADMSG)
		return err;
	r->unreadable = true;
	return 0;
}

static int files_open_file(struct fr_replay *r, const char *path)
{
	struct fr_members m;
	size_t i;
	int err = files_say_error(r, path, fr_members_find(path, &m));

	for (i = 0; !err && i < m.cnt; i++)
		err = files_say_error(r, path, files_open_member(r, path, &m, i));
	fr_members_free(&m);
	return err;
}

int fr_replay_open_files(struct fr_replay *r, const char *const *path, u32 cnt)
{
	u32 i;
	int err = 0;

	r->file = calloc(cnt + 1, sizeof(*r->file));
	r->boot = calloc(cnt + 1, sizeof(*r->boot));
	if (!r->file || !r->boot)
		return -ENOMEM;
	for (i = 0; i < cnt && !err; i++)
		err = files_open_file(r, path[i]);
	if (!err && !r->file_cnt)
		return -EBADMSG;
	/* one clock needs no other: its own times are compared */
	for (i = 0; i < r->boot_cnt && r->boot_cnt > 1; i++)
		r->boot[i].shift_ns = fr_wall_shift(&r->boot[i].wall);
	return err;
}

static int make_view(struct fr_replay *r, struct fr_replay_file *f)
{
	size_t sz;
	const char *formats = fr_snap_formats(f->snap, &sz);

	f->view = (struct fr_view){
		.schema = fr_snap_schema(f->snap),
		.names = r->boot[f->boot].names,
		.stacks = r->stacks,
		.wall = &r->boot[f->boot].wall,
		.arch = fr_snap_fact(f->snap, "arch"),
		.disks = fr_snap_fact(f->snap, "disks"),
		.whose = r->opts.whose,
	};
	if (!formats)
		return 0;
	f->view.tps = fr_tps_new(f->view.schema, formats, sz);
	return f->view.tps ? 0 : -ENOMEM;
}

int fr_replay_filter_new(const struct fr_replay *r, u32 file, const char *expr, struct fr_filter **out,
			 struct fr_filter_error *error)
{
	struct fr_filter_file *all = calloc(r->file_cnt, sizeof(*all));
	u32 i;
	int err;

	if (!all)
		return -ENOMEM;
	for (i = 0; i < r->file_cnt; i++)
		all[i] = (struct fr_filter_file){.schema = r->file[i].view.schema,
						 .arch = r->file[i].view.arch,
						 .value = fr_tps_value,
						 .values = fr_tps_values,
						 .lacks = fr_tps_lacks,
						 .of = r->file[i].view.tps};
	err = fr_filter_new_beside(expr, all, r->file_cnt, file, out, error);
	free(all);
	return err;
}

static int files_make_filter(struct fr_replay *r, u32 i)
{
	struct fr_filter_error error;
	int err = fr_replay_filter_new(r, i, r->opts.filter, &r->file[i].filter, &error);

	if (err == -EINVAL)
		fr_filter_say(r->opts.filter, &error);
	return err;
}

/* May this file have an event that the filter takes? If not, the names of those that it would take are added. */
static bool files_may_match(const struct fr_replay_file *f, char *names, size_t names_sz)
{
	const struct fr_event *ev;
	size_t len;
	u32 nr;

	for (nr = 0; nr < FR_EVENT_MAX; nr++) {
		ev = fr_schema_event(f->view.schema, nr);
		if (!ev || fr_filter_verdict(f->filter, nr) == FR_VERDICT_NO)
			continue;
		if (fr_snap_records(f->snap, ev->name))
			return true;
		len = strlen(names);
		if (!fr_list_has(names, ev->name))
			snprintf(names + len, names_sz - len, "%s%s", len ? "," : "", ev->name);
	}
	return false;
}

/* Nothing that matches, as it was not recorded, must not look like nothing that happened. */
static void files_say_unrecorded(const struct fr_replay *r)
{
	char names[200] = "";
	u32 i;

	for (i = 0; i < r->file_cnt; i++)
		if (files_may_match(&r->file[i], names, sizeof(names)))
			return;
	if (names[0])
		fr_warn("what the filter takes was not recorded, so it is not known: %s; `record -e` chooses what is", names);
}

int fr_replay_make_views(struct fr_replay *r)
{
	u32 i;
	int err = 0;

	for (i = 0; i < r->file_cnt && !err; i++)
		err = make_view(r, &r->file[i]);
	for (i = 0; i < r->file_cnt && r->opts.filter && !err; i++)
		err = files_make_filter(r, i);
	if (r->opts.filter && !err)
		files_say_unrecorded(r);
	return err;
}
