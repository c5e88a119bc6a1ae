/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Works ring by ring: memory holds one chunk of each input file and one of the output. It does not matter which of several
 * files an event comes from: its place in the ring identifies it.
 */
#include "read/cut/join.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/rows/unfold.h"
#include "base/set/vec.h"
#include "read/cut/join_int.h"
#include "read/replay/replay.h"
#include "read/replay/ringsrc.h"
#include "read/replay/summary.h"
#include "read/snapfile/snapfile_members.h"
#include "read/snapfile/snapfile_rows.h"

struct join {
	const char *out;
	struct fr_join_file *file;
	u32 file_cnt;
	struct fr_join_group *group;
	u32 group_cnt;
	bool unreadable; /* one of the files was no snapshot, and that has been said */
	bool split;	 /* files of a session are in several groups */
};

/* ---- files ---- */

static u64 taken_ns(const struct fr_snap *s)
{
	size_t cnt, i;
	const struct fr_chunk *c = fr_snap_chunks(s, &cnt);
	u64 last_ns = 0;
	s64 v;

	if (fr_snap_fact_num(s, "snapshot_ns", &v) && v > 0)
		last_ns = v;
	for (i = 0; i < cnt; i++)
		last_ns = c[i].last_ts > last_ns ? c[i].last_ts : last_ns;
	return last_ns;
}

static int join_add_file(struct join *j, const char *path, struct fr_snap *s)
{
	struct fr_join_file *f = fr_vec_more(&j->file, j->file_cnt);

	if (!f) {
		fr_snap_close(s);
		return -ENOMEM;
	}
	j->file_cnt++;
	*f = (struct fr_join_file){
		.path = path, .snap = s, .taken_ns = taken_ns(s), .is_cut = fr_snap_fact(s, "cut_from") != NULL};
	return 0;
}

/*
 * Files that are not snapshots are left out and count as damage; the snapshots behind them in the file, and the other files,
 * are merged.
 */
static int join_say_error(struct join *j, const char *path, int err)
{
	if (!err || err == -ENOMEM)
		return err;
	fr_snap_say_error(path, err);
	if (err != -EBADMSG)
		return err;
	j->unreadable = true;
	return 0;
}

/* One snapshot of a file of several. */
static int join_open_member(struct join *j, const char *path, const struct fr_members *m, size_t i)
{
	struct fr_snap *s;
	int err = fr_snap_open_member(path, m, i, &s);

	return err ? err : join_add_file(j, path, s);
}

static int join_open_file(struct join *j, const char *path)
{
	struct fr_members m;
	size_t i;
	int err = join_say_error(j, path, fr_members_find(path, &m));

	for (i = 0; !err && i < m.cnt; i++)
		err = join_say_error(j, path, join_open_member(j, path, &m, i));
	fr_members_free(&m);
	return err;
}

static int open_files(struct join *j, const char *const *path, u32 cnt)
{
	int err = 0;
	u32 i;

	for (i = 0; i < cnt && !err; i++)
		err = join_open_file(j, path[i]);
	return !err && !j->file_cnt ? -EBADMSG : err;
}

/* ---- schemas: of one session there may be several, with more events or other fields ---- */

static bool same_field(const struct fr_field *a, const struct fr_field *b)
{
	return a->kind == b->kind && a->type == b->type && a->rule == b->rule && a->from_idx == b->from_idx &&
	       a->col == b->col && a->off == b->off && a->bit == b->bit && a->bit_cnt == b->bit_cnt && a->code == b->code &&
	       a->elem == b->elem && a->elem_cnt == b->elem_cnt && !strcmp(a->name, b->name);
}

static bool same_event(const struct fr_event *a, const struct fr_event *b)
{
	u32 i;

	if (strcmp(a->name, b->name) || a->field_cnt != b->field_cnt || a->tier != b->tier || a->fixed_sz != b->fixed_sz)
		return false;
	for (i = 0; i < a->field_cnt; i++)
		if (!same_field(&a->fields[i], &b->fields[i]))
			return false;
	return true;
}

/* Does `all` have each event of s, with the same fields? */
static bool contains(const struct fr_schema *all, const struct fr_schema *s)
{
	u32 nr;

	for (nr = 0; nr < FR_EVENT_MAX; nr++) {
		const struct fr_event *ev = fr_schema_event(s, nr), *other = fr_schema_event(all, nr);

		if (ev && (!other || !same_event(ev, other)))
			return false;
	}
	return true;
}

/* How many files of the group can be read with the schema `all`. */
static u32 count_read_by(const struct fr_join_group *g, const struct fr_schema *all)
{
	u32 i, cnt = 0;

	for (i = 0; i < g->file_cnt; i++)
		cnt += contains(all, fr_snap_schema(g->file[i]->snap));
	return cnt;
}

/*
 * Find the schema by which most of the group's files can be read, field by field, and keep only these files in the group: at
 * least one.
 */
static void join_choose_schema(struct fr_join_group *g)
{
	u32 i, cnt, most = 0, kept = 0;

	for (i = g->file_cnt; i-- > 0;) { /* the latest first: it wins a tie */
		cnt = count_read_by(g, fr_snap_schema(g->file[i]->snap));
		if (cnt > most) {
			most = cnt;
			g->made.schema = fr_snap_schema(g->file[i]->snap);
		}
	}
	for (i = 0; i < g->file_cnt; i++)
		if (contains(g->made.schema, fr_snap_schema(g->file[i]->snap)))
			g->file[kept++] = g->file[i];
	g->file_cnt = kept;
}

/* ---- groups: one session of one boot each ---- */

static bool same_fact(const struct fr_snap *a, const struct fr_snap *b, const char *name)
{
	const char *x = fr_snap_fact(a, name), *y = fr_snap_fact(b, name);

	return x && y && *x && !strcmp(x, y);
}

/* A file that does not name its boot and session stays alone. */
static bool same_session(const struct fr_join_file *a, const struct fr_join_file *b)
{
	return a == b || (same_fact(a->snap, b->snap, "boot_id") && same_fact(a->snap, b->snap, "epoch"));
}

static int join_by_age(const void *a, const void *b)
{
	const struct fr_join_file *x = *(struct fr_join_file *const *)a, *y = *(struct fr_join_file *const *)b;

	if (x->taken_ns != y->taken_ns)
		return x->taken_ns < y->taken_ns ? -1 : 1;
	return x < y ? -1 : x > y;
}

static int make_group(struct join *j, struct fr_join_file *first)
{
	struct fr_join_group *g = fr_vec_more(&j->group, j->group_cnt);
	struct fr_join_file *f;
	u32 i, all;

	if (!g)
		return -ENOMEM;
	j->group_cnt++;
	*g = (struct fr_join_group){.made.src = calloc(j->file_cnt, sizeof(*g->made.src)),
				    .file = calloc(j->file_cnt, sizeof(*g->file)),
				    .all_cut = true};
	if (!g->file || !g->made.src)
		return -ENOMEM;
	for (f = first; f < j->file + j->file_cnt; f++)
		if (!f->joined && same_session(first, f))
			g->file[g->file_cnt++] = f;
	qsort(g->file, g->file_cnt, sizeof(*g->file), join_by_age);
	all = g->file_cnt;
	join_choose_schema(g);
	j->split |= g->file_cnt < all;
	g->made.src_cnt = g->file_cnt;
	for (i = 0; i < g->file_cnt; i++) {
		g->file[i]->joined = true;
		g->all_cut &= g->file[i]->is_cut;
		g->made.src[i] = g->file[i]->snap;
	}
	return 0;
}

/* Files that one schema cannot describe get a group of their own. */
static int make_groups(struct join *j)
{
	int err = 0;
	u32 i;

	for (i = 0; i < j->file_cnt; i++)
		while (!j->file[i].joined && !err)
			err = make_group(j, &j->file[i]);
	return err;
}

/* ---- rings ---- */

static int join_add_ring(struct fr_join_group *g, const struct fr_chunk *c)
{
	struct fr_join_ring *r = fr_vec_more(&g->ring, g->ring_cnt);

	if (!r)
		return -ENOMEM;
	g->ring_cnt++;
	*r = (struct fr_join_ring){.epoch = c->epoch, .cpu = c->cpu, .tier = c->tier};
	return 0;
}

/* That of each chunk which is its first. */
static int join_add_rings(struct fr_join_group *g, const struct fr_snap *s)
{
	size_t cnt, of_ring, i;
	const struct fr_chunk *c = fr_snap_chunks(s, &cnt);
	int err = 0;

	for (i = 0; i < cnt && !err; i++)
		if (*fr_snap_chunks_of(s, c[i].epoch, c[i].cpu, c[i].tier, &of_ring) == i)
			err = join_add_ring(g, &c[i]);
	return err;
}

static int join_by_place(const void *a, const void *b)
{
	const struct fr_join_ring *x = a, *y = b;

	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	if (x->tier != y->tier)
		return x->tier < y->tier ? -1 : 1;
	return x->epoch < y->epoch ? -1 : x->epoch > y->epoch;
}

/* Several files may have the same ones. */
static int join_find_rings(struct fr_join_group *g)
{
	int err = 0;
	u32 i, kept = 0;

	for (i = 0; i < g->file_cnt && !err; i++)
		err = join_add_rings(g, g->file[i]->snap);
	if (g->ring_cnt)
		qsort(g->ring, g->ring_cnt, sizeof(*g->ring), join_by_place);
	for (i = 0; i < g->ring_cnt; i++)
		if (!kept || join_by_place(&g->ring[kept - 1], &g->ring[i]))
			g->ring[kept++] = g->ring[i];
	g->ring_cnt = kept;
	return err;
}

/* ---- events ---- */

static int put_stretch(struct fr_join_ring *ring, const struct fr_stretch *s, struct fr_snap_writer *w)
{
	int err = 0;
	u32 i, off;
	u64 seq;

	for (i = s->from; i < s->to && !err; i++) {
		struct fr_row row = fr_batch_row(s->b, i);

		fr_row_pos(&row, &seq, &off);
		err = w ? fr_snap_put_row(w, &row, seq, off, false) : 0;
		if (!err)
			fr_join_note(ring, row.ts, seq);
		err = err == -EBADMSG ? 0 : err; /* longer than any recorder writes: left out */
	}
	return err;
}

/* w NULL: only to count. */
static int walk_ring(const struct fr_join_group *g, struct fr_join_ring *ring, struct fr_snap_writer *w)
{
	struct fr_ringsrc *src = fr_ringsrc_new(ring->epoch, ring->cpu, ring->tier);
	struct fr_stretch s;
	int err = src ? 0 : -ENOMEM, got;
	u32 i;

	for (i = 0; i < g->file_cnt && !err; i++)
		err = fr_ringsrc_add(src, g->file[i]->snap, 0, ~0ULL);
	while (!err && (got = fr_ringsrc_next(src, &s)) != 0)
		err = got < 0 ? got : put_stretch(ring, &s, w);
	fr_ringsrc_free(src);
	return err;
}

static size_t damage_of(const struct fr_join_group *g)
{
	size_t cnt = 0;
	u32 i;

	for (i = 0; i < g->file_cnt; i++)
		cnt += fr_snap_damage(g->file[i]->snap);
	return cnt;
}

/* A damaged chunk is noticed only when it is read: then determine again what is missing. */
static int join_put_ring(const struct fr_join_group *g, struct fr_join_ring *ring, struct fr_snap_writer *w)
{
	size_t damage = damage_of(g);
	int err = fr_join_find_gaps(g, ring);

	err = err ? err : walk_ring(g, ring, w);
	if (err || damage_of(g) == damage)
		return err;
	err = fr_join_find_gaps(g, ring);
	return err ? err : walk_ring(g, ring, NULL);
}

/* ---- a file of groups ---- */

static int join_put_events(struct fr_part *part, struct fr_snap_writer *w)
{
	struct fr_join_group *g = (struct fr_join_group *)part;
	int err = join_find_rings(g);
	u32 i;

	for (i = 0; i < g->ring_cnt && !err; i++)
		err = join_put_ring(g, &g->ring[i], w);
	return err;
}

static const struct fr_compose join_compose = {fr_join_leaves_out, fr_join_put_facts, join_put_events, NULL, fr_join_account};

static int join_write_out(struct join *j)
{
	struct fr_part **part = calloc(j->group_cnt, sizeof(*part));
	u32 i;
	int err;

	for (i = 0; i < j->group_cnt && part; i++)
		part[i] = &j->group[i].made;
	err = part ? fr_compose(j->out, part, j->group_cnt, &join_compose) : -ENOMEM;
	free(part);
	return err;
}

/* ---- life ---- */

static bool say_damage(const struct join *j)
{
	bool damaged = j->unreadable;
	u32 i;

	for (i = 0; i < j->file_cnt; i++)
		damaged |= fr_snap_say_damage(j->file[i].snap, j->file[i].path);
	return damaged;
}

/* Several hosts have no common clock but wall time. */
static void say_order(const struct join *j)
{
	u64 most_ns = 0;
	size_t cnt, k;
	u32 i;

	for (i = 0; i < j->file_cnt; i++) {
		const struct fr_snap_clock *c = fr_snap_clocks(j->file[i].snap, &cnt);

		for (k = 0; k < cnt; k++)
			most_ns = c[k].uncertainty_ns > most_ns ? c[k].uncertainty_ns : most_ns;
	}
	printf("%s holds %u snapshots of different boots or sessions%s. Events of different boots are in order by wall time, "
	       "which each host read to within %llu ns of its own clock\n",
	       j->out, j->group_cnt, j->split ? ", or versions of flightrec that say the same event in different ways" : "",
	       most_ns);
}

static void join_tear_down(struct join *j)
{
	u32 i, k;

	for (i = 0; i < j->group_cnt; i++) {
		for (k = 0; k < j->group[i].ring_cnt; k++) {
			fr_gaps_clear(&j->group[i].ring[k].missing);
			free(j->group[i].ring[k].gap);
		}
		free(j->group[i].made.src);
		free(j->group[i].file);
		free(j->group[i].ring);
	}
	for (i = 0; i < j->file_cnt; i++)
		fr_snap_close(j->file[i].snap);
	free(j->group);
	free(j->file);
}

int fr_join(const char *const *path, u32 cnt, const char *out)
{
	struct join j = {.out = out};
	int err = open_files(&j, path, cnt), status;

	err = err ? err : make_groups(&j);
	err = err ? err : join_write_out(&j);
	status = fr_compose_status(err, out, "a file", "merge fewer files at once");
	if (!err && j.group_cnt > 1)
		say_order(&j);
	if (say_damage(&j) && status == FR_EXIT_OK)
		status = FR_EXIT_CORRUPT;
	join_tear_down(&j);
	return status;
}
