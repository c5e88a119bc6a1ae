/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "flow/replay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "flow/replay_pairs.h"
#include "flow/ringsrc.h"
#include "flow/summary.h"
#include "io/snapfile_members.h"
#include "io/snapfile_rows.h"
#include "pure/err.h"

#define FINDINGS_MOST 10

/* One boot of one machine: tids, clock and rings are its own. */
struct boot {
	const char *id; /* NULL: the file does not say, and is alone */
	struct fr_names *names;
	struct fr_cgroups *cgroups; /* NULL: no filter asks */
	struct fr_wall wall;
	u64 shift_ns;
	s64 since_ns, until_ns; /* on its clock */
};

struct file {
	const char *path;
	struct fr_snap *snap;
	u32 boot;
	struct fr_view view;
	struct fr_filter *filter;
};

/* A ring, and one of the files it comes from: they agree about everything that is asked of them. */
struct ring {
	u32 boot, file, epoch;
	u16 cpu;
	u8 tier;
	struct fr_ringsrc *src;
};

struct fr_replay {
	struct fr_replay_opts opts;
	struct file *file;
	u32 file_cnt;
	struct boot *boot;
	u32 boot_cnt;
	struct fr_stacks *stacks;
	struct ring *ring;
	u32 ring_cnt;
	struct fr_merge *merge;
	struct fr_replay_pairs *pairs; /* NULL: nobody asks what rows end */
	u64 begin_key, end_key;	       /* first and last event's time and shift */
	u64 trigger_key;
	bool has_trigger;
	bool unreadable; /* one of the files was no snapshot at all, and has been said */
};

/* ---- messages ---- */

void fr_snap_say_error(const char *path, int err)
{
	if (err == -EBADMSG)
		fr_err("%s: not a snapshot of flightrec, or nothing in it can be read", path);
	else
		fr_err("cannot open %s: %s", path, strerror(-err));
}

bool fr_snap_say_damage(const struct fr_snap *s, const char *path, size_t most)
{
	size_t cnt = fr_snap_damage(s), i;

	for (i = 0; i < cnt && i < most; i++)
		fr_warn("%s: %s", path, fr_snap_damage_text(s, i));
	if (cnt > most)
		fr_warn("%s: and %zu more findings: `flightrec verify` lists all", path, cnt - most);
	return cnt;
}

bool fr_replay_say_damage(const struct fr_replay *r)
{
	bool damaged = r->unreadable;
	u32 i;

	for (i = 0; i < r->file_cnt; i++)
		damaged |= fr_snap_say_damage(r->file[i].snap, r->file[i].path, FINDINGS_MOST);
	return damaged;
}

static void say_filter_error(const char *expr, const struct fr_filter_error *e)
{
	char place[256];

	fr_err("the filter is wrong: %s\n%s", e->text, fr_filter_point(expr, e->at, "    ", place, sizeof(place)));
}

/* ---- files and boots ---- */

static int new_boot(struct fr_replay *r, const char *id, u32 *idx)
{
	struct boot *b = &r->boot[r->boot_cnt];

	b->id = id;
	b->names = fr_names_new();
	fr_wall_init(&b->wall);
	if (!b->names)
		return -ENOMEM;
	*idx = r->boot_cnt++;
	return 0;
}

static int find_boot(struct fr_replay *r, struct file *f)
{
	const char *id = fr_snap_fact(f->snap, "boot_id");
	u32 i;

	for (i = 0; id && i < r->boot_cnt; i++) {
		if (r->boot[i].id && !strcmp(r->boot[i].id, id)) {
			f->boot = i;
			return 0;
		}
	}
	return new_boot(r, id, &f->boot);
}

static void add_clocks(struct boot *b, const struct fr_snap *s)
{
	size_t cnt, i;
	const struct fr_snap_clock *c = fr_snap_clocks(s, &cnt);

	for (i = 0; i < cnt; i++)
		fr_wall_add(&b->wall, c[i].ts, c[i].real_ns);
}

/* One snapshot of a file of several. */
static int open_member(struct fr_replay *r, const char *path, const struct fr_members *m, size_t i)
{
	struct file *f = realloc(r->file, (r->file_cnt + 1) * sizeof(*f));
	struct boot *b = realloc(r->boot, (r->boot_cnt + 1) * sizeof(*b));
	int err;

	r->file = f ? f : r->file;
	r->boot = b ? b : r->boot;
	if (!f || !b)
		return -ENOMEM;
	f += r->file_cnt;
	*f = (struct file){.path = path};
	r->boot[r->boot_cnt] = (struct boot){};
	err = fr_snap_open_member(path, m, i, &f->snap);
	if (err)
		return err;
	r->file_cnt++;
	err = find_boot(r, f);
	if (!err)
		add_clocks(&r->boot[f->boot], f->snap);
	return err;
}

static int open_file(struct fr_replay *r, const char *path)
{
	struct fr_members m;
	size_t i;
	int err = fr_members_find(path, &m);

	for (i = 0; !err && i < m.cnt; i++)
		err = open_member(r, path, &m, i);
	fr_members_free(&m);
	if (!err || err == -ENOMEM)
		return err;
	fr_snap_say_error(path, err);
	if (err != -EBADMSG)
		return err;
	r->unreadable = true;
	return 0;
}

static int open_files(struct fr_replay *r, const char *const *path, u32 cnt)
{
	u32 i;
	int err = 0;

	r->file = calloc(cnt + 1, sizeof(*r->file));
	r->boot = calloc(cnt + 1, sizeof(*r->boot));
	if (!r->file || !r->boot)
		return -ENOMEM;
	for (i = 0; i < cnt && !err; i++)
		err = open_file(r, path[i]);
	if (!err && !r->file_cnt)
		return -EBADMSG;
	/* one clock needs no other: its own times are compared */
	for (i = 0; i < r->boot_cnt && r->boot_cnt > 1; i++)
		r->boot[i].shift_ns = fr_wall_shift(&r->boot[i].wall);
	return err;
}

static int make_view(struct fr_replay *r, struct file *f)
{
	struct fr_filter_error error;
	int err = 0;

	f->view = (struct fr_view){
		.schema = fr_snap_schema(f->snap),
		.names = r->boot[f->boot].names,
		.stacks = r->stacks,
		.wall = &r->boot[f->boot].wall,
		.arch = fr_snap_fact(f->snap, "arch"),
	};
	if (r->opts.filter)
		err = fr_filter_new(r->opts.filter, f->view.schema, f->view.arch, &f->filter, &error);
	if (err == -EINVAL)
		say_filter_error(r->opts.filter, &error);
	return err;
}

static int make_views(struct fr_replay *r)
{
	u32 i;
	int err = 0;

	for (i = 0; i < r->file_cnt && !err; i++)
		err = make_view(r, &r->file[i]);
	return err;
}

/* ---- names and stacks ---- */

/*
 * The chunks of a tier, whole, whatever part of the file is shown: names and stacks may be older than what they explain. Those
 * of context, which follow the others, are there for nothing else.
 */
static int read_tier(struct fr_replay *r, struct file *f, u8 tier)
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

static int read_tasks(struct fr_replay *r, const struct file *f)
{
	size_t cnt, i;
	const struct fr_snap_task *t = fr_snap_tasks(f->snap, &cnt);
	int err = 0;

	for (i = 0; i < cnt && !err; i++)
		err = fr_names_add_task(r->boot[f->boot].names, t[i].tid, t[i].start_ns, &t[i].task);
	return err;
}

static int read_names(struct fr_replay *r)
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

static int add_cgroups(struct boot *b, const struct fr_snap *snap)
{
	size_t cnt, i, sz;
	const struct fr_snap_task *t = fr_snap_tasks(snap, &cnt);
	const char *text = fr_snap_procs(snap, &sz);
	int err = 0;

	for (i = 0; i < cnt && !err; i++)
		err = fr_cgroups_add_task(b->cgroups, t[i].tid, t[i].start_ns, &t[i].task);
	return err || !text ? err : fr_cgroups_add_procs(b->cgroups, text, sz);
}

static int read_cgroups(struct fr_replay *r)
{
	u32 i;
	int err = 0;

	for (i = 0; i < r->file_cnt && !err; i++) {
		struct file *f = &r->file[i];
		struct boot *b = &r->boot[f->boot];

		if (!r->opts.cgroups && (!f->filter || !fr_filter_uses_cgroups(f->filter)))
			continue;
		b->cgroups = b->cgroups ?: fr_cgroups_new();
		err = b->cgroups ? add_cgroups(b, f->snap) : -ENOMEM;
		f->view.cgroups = b->cgroups;
	}
	return err;
}

/* ---- the window ---- */

static bool is_shown(const struct fr_replay *r, u8 tier)
{
	return tier < 32 && r->opts.tiers >> tier & 1;
}

/* From the first to the last event, of what is shown. */
static void find_span(struct fr_replay *r)
{
	u32 i;

	r->begin_key = ~0ULL;
	for (i = 0; i < r->file_cnt; i++) {
		u64 shift = r->boot[r->file[i].boot].shift_ns;
		size_t cnt, j;
		const struct fr_chunk *c = fr_snap_chunks(r->file[i].snap, &cnt);

		for (j = 0; j < cnt; j++) {
			if (!is_shown(r, c[j].tier))
				continue;
			if (c[j].first_ts + shift < r->begin_key)
				r->begin_key = c[j].first_ts + shift;
			if (c[j].last_ts + shift > r->end_key)
				r->end_key = c[j].last_ts + shift;
		}
	}
	if (r->begin_key > r->end_key)
		r->begin_key = r->end_key;
}

/* One limit on a boot's clock, or `none` if it is not set. */
static int resolve(const struct fr_replay *r, const struct boot *b, const struct fr_when *w, s64 none, s64 *ts)
{
	struct fr_when at = *w;
	int err;

	*ts = none;
	if (w->kind == FR_WHEN_NEVER)
		return 0;
	if (r->has_trigger)
		fr_when_know_trigger(&at, r->trigger_key - b->shift_ns);
	err = fr_when_resolve(&at, r->begin_key - b->shift_ns, r->end_key - b->shift_ns, &b->wall, ts);
	if (err == -ENOMSG)
		fr_err("the snapshot does not say when its trigger was: give a time relative to its begin (2s) or end (-2s)");
	if (err == -ENODATA)
		fr_err("the snapshot holds no wall time to compare with: give a time relative to its begin (2s) or end (-2s)");
	return err ? -EINVAL : 0;
}

/* The moment of the first file that has one: snapshots that are looked at together were taken for one incident. */
static void find_trigger(struct fr_replay *r)
{
	u32 i;
	s64 ts;

	for (i = 0; i < r->file_cnt && !r->has_trigger; i++) {
		r->has_trigger = fr_snap_fact_num(r->file[i].snap, "trigger_ts", &ts) && ts > 0;
		if (r->has_trigger)
			r->trigger_key = ts + r->boot[r->file[i].boot].shift_ns;
	}
}

static int find_window(struct fr_replay *r)
{
	u32 i;
	int err = 0;

	find_span(r);
	find_trigger(r);
	for (i = 0; i < r->boot_cnt && !err; i++) {
		struct boot *b = &r->boot[i];

		err = resolve(r, b, &r->opts.since, 0, &b->since_ns);
		err = err ? err : resolve(r, b, &r->opts.until, INT64_MAX, &b->until_ns);
		if (b->since_ns < 0)
			b->since_ns = 0;
		if (!err && b->since_ns > b->until_ns)
			fr_warn("the window ends before it begins: no event is in it");
	}
	return err;
}

/* ---- pairs: what rows end is known from those before, so all are read, also what is not shown ---- */

static bool wants_pairs(const struct fr_replay *r)
{
	bool wants = r->opts.pairs;
	u32 i;

	for (i = 0; i < r->file_cnt; i++)
		wants |= r->file[i].filter && fr_filter_uses_pairs(r->file[i].filter);
	return wants;
}

static int make_pairs(struct fr_replay *r)
{
	u32 i;
	int err = 0;

	if (!wants_pairs(r))
		return 0;
	r->pairs = fr_replay_pairs_new();
	if (!r->pairs)
		return -ENOMEM;
	for (i = 0; i < r->file_cnt && !err; i++)
		err = fr_replay_pairs_add(r->pairs, r->file[i].boot, r->file[i].snap);
	return err ? err : fr_replay_pairs_ready(r->pairs);
}

static bool is_read(const struct fr_replay *r, u8 tier)
{
	return is_shown(r, tier) || (r->pairs && tier <= FR_TIER_LIFE);
}

/* ---- rings ---- */

static struct ring *find_ring(struct fr_replay *r, u32 boot, const struct fr_chunk *c)
{
	u32 i;

	for (i = 0; i < r->ring_cnt; i++) {
		struct ring *ring = &r->ring[i];

		if (ring->boot == boot && ring->epoch == c->epoch && ring->cpu == c->cpu && ring->tier == c->tier)
			return ring;
	}
	return NULL;
}

static int new_ring(struct fr_replay *r, u32 file, const struct fr_chunk *c)
{
	struct ring *ring = realloc(r->ring, (r->ring_cnt + 1) * sizeof(*ring));

	if (!ring)
		return -ENOMEM;
	r->ring = ring;
	ring += r->ring_cnt;
	*ring = (struct ring){
		.boot = r->file[file].boot,
		.file = file,
		.epoch = c->epoch,
		.cpu = c->cpu,
		.tier = c->tier,
		.src = fr_ringsrc_new(c->epoch, c->cpu, c->tier),
	};
	if (!ring->src)
		return -ENOMEM;
	r->ring_cnt++;
	return 0;
}

static int find_rings(struct fr_replay *r, u32 file)
{
	size_t cnt, i;
	const struct fr_chunk *c = fr_snap_chunks(r->file[file].snap, &cnt);
	int err = 0;

	for (i = 0; i < cnt && !err; i++) {
		if (is_read(r, c[i].tier) && !find_ring(r, r->file[file].boot, &c[i]))
			err = new_ring(r, file, &c[i]);
	}
	return err;
}

/* At equal times the lower CPU comes first, then the lower tier. */
static int by_cpu_and_tier(const void *a, const void *b)
{
	const struct ring *x = a, *y = b;

	if (x->cpu != y->cpu)
		return (int)x->cpu - (int)y->cpu;
	if (x->tier != y->tier)
		return (int)x->tier - (int)y->tier;
	if (x->boot != y->boot)
		return x->boot < y->boot ? -1 : 1;
	return x->epoch < y->epoch ? -1 : x->epoch > y->epoch;
}

static int fill_ring(struct fr_replay *r, struct ring *ring)
{
	const struct boot *b = &r->boot[ring->boot];
	u32 i;
	int err = 0;

	for (i = 0; i < r->file_cnt && !err && b->until_ns >= 0; i++) {
		if (r->file[i].boot == ring->boot)
			err = fr_ringsrc_add(ring->src, r->file[i].snap, r->pairs ? 0 : b->since_ns, b->until_ns);
	}
	return err;
}

static int make_rings(struct fr_replay *r)
{
	u32 i;
	int err = 0;

	for (i = 0; i < r->file_cnt && !err; i++)
		err = find_rings(r, i);
	if (!err && r->ring_cnt)
		qsort(r->ring, r->ring_cnt, sizeof(*r->ring), by_cpu_and_tier);
	for (i = 0; i < r->ring_cnt && !err; i++)
		err = fill_ring(r, &r->ring[i]);
	return err;
}

static int next_stretch(void *arg, u32 stream, struct fr_stretch *s)
{
	struct fr_replay *r = arg;
	struct ring *ring = &r->ring[stream];
	int got = fr_ringsrc_next(ring->src, s);
	u64 lost_ns = r->pairs ? fr_ringsrc_lost(ring->src) : 0;

	s->shift_ns = r->boot[ring->boot].shift_ns;
	if (lost_ns)
		fr_replay_pairs_lost(r->pairs, ring->boot, ring->epoch, ring->cpu, lost_ns);
	return got;
}

/* ---- life ---- */

static int set_up(struct fr_replay *r, const char *const *path, u32 cnt)
{
	int err = open_files(r, path, cnt);

	err = err ? err : make_views(r);
	err = err ? err : find_window(r);
	err = err ? err : read_names(r);
	err = err ? err : read_cgroups(r);
	err = err ? err : make_pairs(r);
	err = err ? err : make_rings(r);
	return err ? err : fr_merge_new(r->ring_cnt, next_stretch, r, &r->merge);
}

int fr_replay_open(const char *const *path, u32 cnt, const struct fr_replay_opts *opts, struct fr_replay **out)
{
	struct fr_replay *r = calloc(1, sizeof(*r));
	int err = -ENOMEM;

	if (r) {
		r->opts = *opts;
		r->stacks = fr_stacks_new();
		if (r->stacks)
			err = set_up(r, path, cnt);
	}
	if (err == -ENOMEM)
		fr_err("out of memory: replay fewer files at once");
	if (err) {
		fr_replay_close(r);
		return err;
	}
	*out = r;
	return 0;
}

void fr_replay_close(struct fr_replay *r)
{
	u32 i;

	if (!r)
		return;
	fr_merge_free(r->merge);
	fr_replay_pairs_free(r->pairs);
	for (i = 0; i < r->ring_cnt; i++)
		fr_ringsrc_free(r->ring[i].src);
	for (i = 0; i < r->file_cnt; i++) {
		fr_filter_free(r->file[i].filter);
		fr_snap_close(r->file[i].snap);
	}
	for (i = 0; i < r->boot_cnt; i++) {
		fr_cgroups_free(r->boot[i].cgroups);
		fr_names_free(r->boot[i].names);
	}
	fr_stacks_free(r->stacks);
	free(r->ring);
	free(r->boot);
	free(r->file);
	free(r);
}

/* The file a batch came out of: its columns are to be read by that file's schema and no other. */
static struct file *file_of(const struct fr_replay *r, const struct fr_stretch *s)
{
	struct file *f = &r->file[r->ring[s->stream].file];
	u32 i;

	for (i = 0; f->view.schema != s->b->schema && i < r->file_cnt; i++)
		f = &r->file[i];
	return f;
}

/* Find what the rows end, and leave out those that are not shown: s->from becomes s->to if none is. 0 or -ENOMEM. */
static int pair_up(struct fr_replay *r, struct file *f, struct fr_stretch *s)
{
	const struct ring *ring = &r->ring[s->stream];
	u64 since_ns = r->boot[ring->boot].since_ns;

	f->view.pair_from = s->from;
	f->view.pair = fr_replay_pairs_feed(r->pairs, ring->boot, s->b, s->from, s->to);
	f->view.shows_pairs = r->opts.pairs;
	if (!f->view.pair)
		return -ENOMEM;
	if (!is_shown(r, ring->tier))
		s->from = s->to;
	while (s->from < s->to && s->b->ts[s->from] < since_ns)
		s->from++;
	return 0;
}

/* The next rows that are shown, and the file they are from. As fr_replay_next(). */
static int next_rows(struct fr_replay *r, struct fr_stretch *s, struct file **f)
{
	int got, err;

	do {
		got = fr_merge_next(r->merge, s);
		if (got <= 0)
			return got;
		*f = file_of(r, s);
		err = r->pairs ? pair_up(r, *f, s) : 0;
	} while (!err && s->from == s->to);
	return err ? err : 1;
}

int fr_replay_next(struct fr_replay *r, struct fr_replay_run *run)
{
	struct fr_stretch s;
	struct file *f;
	int got = next_rows(r, &s, &f);

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

void fr_replay_span(const struct fr_replay *r, u64 *begin_ns, u64 *end_ns)
{
	const struct boot *b = r->boot;

	*begin_ns = r->boot_cnt > 1 ? r->begin_key : r->boot_cnt ? fr_wall_real(&b->wall, r->begin_key) : 0;
	*end_ns = r->boot_cnt > 1 ? r->end_key : r->boot_cnt ? fr_wall_real(&b->wall, r->end_key) : 0;
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

void fr_replay_window(const struct fr_replay *r, u64 *begin_ns, u64 *end_ns)
{
	const struct boot *b = &r->boot[r->file[0].boot];
	u64 first = r->begin_key - b->shift_ns, last = r->end_key - b->shift_ns;

	*begin_ns = b->since_ns > 0 && (u64)b->since_ns > first ? (u64)b->since_ns : first;
	*end_ns = b->until_ns >= 0 && (u64)b->until_ns < last ? (u64)b->until_ns : last;
}
