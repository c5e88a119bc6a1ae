/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the file twice: first in time order, like replay, to decide what to keep, because filters may look at earlier events;
 * then chunk by chunk to write it, so that memory holds one chunk and a bit per event.
 */
#include "read/cut/cut.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "read/cut/compose.h"
#include "read/replay/gaps.h"
#include "read/replay/lacks.h"
#include "read/replay/summary.h"
#include "read/states/states.h"

struct cut;

/* One snapshot of the file, and what to keep of it. */
struct cut_part {
	struct fr_part made; /* first: its place is this one's */
	const struct cut *cut;
	struct fr_snap *snap;
	struct fr_keep *keep;
	bool left_out;		/* it is of another host */
	u64 since_ns, until_ns; /* on its recording clock; 0, ~0: no limit */
	u64 governor_ns;	/* the governor's last step that is cut away, 0: none */
};

struct cut {
	const struct fr_cut_ask *ask;
	struct fr_replay *replay;
	char *filter;		/* including what --cgroup asks for */
	struct fr_clean *clean; /* NULL: nothing is redacted */
	struct cut_part *part;
	u32 part_cnt;
};

/* ---- what is kept ---- */

static bool cut_is_kept(const struct cut *c, const struct fr_replay_run *run, const struct fr_row *r)
{
	const struct fr_cut_ask *ask = c->ask;
	struct fr_who who;

	if (c->part[run->file].left_out)
		return false;
	if (ask->cpus.cnt && !fr_ranges_have(&ask->cpus, r->cpu))
		return false;
	if (!ask->pids.cnt)
		return true;
	who = fr_view_who(run->view, r);
	return who.pid >= 0 && fr_ranges_have(&ask->pids, who.pid);
}

static int cut_look(void *arg, const struct fr_replay_run *run, const struct fr_row *r)
{
	struct cut *c = arg;

	return cut_is_kept(c, run, r) ? fr_keep_row(c->part[run->file].keep, r) : 0;
}

/* The facts name the task that the snapshot was taken for. */
static void keep_trigger(struct cut_part *p)
{
	static const char *const facts[] = {"trigger_pid", "trigger_tid"};
	size_t i;

	for (i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		const char *text = fr_snap_fact(p->snap, facts[i]);

		if (text)
			fr_keep_task(p->keep, strtoul(text, NULL, 10));
	}
}

/* Is the state of a task one of what was asked for? A filter is about events: it chooses the tasks of those that match. */
static bool state_is_kept(const struct cut *c, const struct cut_part *p, const struct fr_snap_state *t, s32 pid)
{
	const struct fr_cut_ask *ask = c->ask;

	if (t->at_ns < p->since_ns || t->at_ns > p->until_ns)
		return false;
	if (ask->cpus.cnt && !fr_ranges_have(&ask->cpus, t->cpu))
		return false;
	if (ask->pids.cnt && (pid < 0 || !fr_ranges_have(&ask->pids, pid)))
		return false;
	return !c->filter || fr_keep_has_task(p->keep, t->tid);
}

/* Where an event is kept, so are the states of tasks: one that waited all the time has none. */
static int keep_states(struct cut *c, u32 part)
{
	struct cut_part *p = &c->part[part];
	struct fr_names *names = fr_replay_view(c->replay, part)->names;
	size_t cnt, i;
	const struct fr_snap_state *t = fr_snap_states(p->snap, &cnt);
	int err = 0;

	for (i = 0; i < cnt && !err && fr_keep_all(p->keep); i++)
		if (state_is_kept(c, p, &t[i], fr_names_who(names, t[i].tid, t[i].at_ns, t[i].cpu).pid))
			err = fr_keep_state(p->keep, i);
	return err;
}

/* Where a state does not tell since when, the switches do, and may be cut away: what they tell is kept with the state. */
static int keep_since(struct cut *c, u32 part)
{
	struct cut_part *p = &c->part[part];
	struct fr_states st;
	bool asks = false;
	size_t cnt, i;
	const struct fr_snap_state *t = fr_snap_states(p->snap, &cnt);
	int err;

	for (i = 0; i < cnt && !asks; i++)
		asks = fr_keep_has_state(p->keep, i) && !t[i].since_ns;
	if (!asks)
		return 0;
	err = fr_states_init(&st, c->replay, part) ?: fr_states_run_all(&st);
	for (i = 0; i < cnt && !err; i++)
		if (fr_keep_has_state(p->keep, i) && !t[i].since_ns && fr_states_since(&st, &t[i]))
			err = fr_keep_since(p->keep, i, fr_states_since(&st, &t[i]));
	fr_states_free(&st);
	return err;
}

/* *cnt: events kept, of all parts. */
static int find_kept(struct cut *c, u64 *cnt)
{
	int err = fr_replay_each(c->replay, cut_look, c);
	u32 i;

	*cnt = 0;
	for (i = 0; i < c->part_cnt && !err; i++) {
		keep_trigger(&c->part[i]);
		err = keep_states(c, i) ?: keep_since(c, i);
		err = err ?: fr_keep_ready(c->part[i].keep);
		*cnt += fr_keep_all(c->part[i].keep);
	}
	return err;
}

/* ---- writing ---- */

static int cut_put_chunk(const struct cut_part *p, struct fr_batch *b, struct fr_snap_writer *w)
{
	bool *leaves = malloc(b->row_cnt);
	int err = leaves ? 0 : -ENOMEM;
	u32 i;

	for (i = 0; i < b->row_cnt && !err; i++) {
		struct fr_row r;

		leaves[i] = !fr_keep_has(p->keep, b->chunk, i);
		if (leaves[i])
			continue;
		r = fr_batch_row(b, i);
		fr_keep_told(p->keep, &r);
	}
	err = err ?: fr_compose_rows(&p->made, w, b, leaves, false);
	free(leaves);
	return err;
}

static int cut_put_events(struct fr_part *part, struct fr_snap_writer *w)
{
	const struct cut_part *p = (struct cut_part *)part;
	struct fr_batch b = {0};
	size_t cnt, i;
	int err = 0;

	fr_snap_chunks(p->snap, &cnt);
	for (i = 0; i < cnt && !err; i++) {
		if (!fr_keep_cnt(p->keep, i))
			continue;
		err = fr_snap_read_chunk(p->snap, i, &b);
		err = err ? err : cut_put_chunk(p, &b, w);
	}
	fr_batch_free(&b);
	return err;
}

/* Events may be missing before a step of the governor: the step itself must not be cut away. */
static void cut_leave(struct fr_part *part, const struct fr_row *r)
{
	struct cut_part *p = (struct cut_part *)part;
	bool here = r->ts >= p->since_ns && r->ts <= p->until_ns;

	if (here && r->ts > p->governor_ns && !strcmp(r->ev->name, "governor"))
		p->governor_ns = r->ts;
}

/* ---- facts ---- */

static bool cut_leaves_out(const struct fr_part *p, const char *name)
{
	(void)p;
	return !strncmp(name, "cut_", 4);
}

static u64 cut_number(const struct fr_snap *s, const char *name, u64 none)
{
	s64 v;

	return fr_snap_fact_num(s, name, &v) && v > 0 ? (u64)v : none;
}

/* What was asked for, after what was asked for when the file itself was cut. */
static int cut_put_asked(const struct fr_part *p, struct fr_snap_writer *w, const char *name, const char *text)
{
	const char *before = fr_snap_fact(p->src[0], name);
	char *both = NULL;
	int err;

	if (!text || !before)
		return text || before ? fr_compose_fact(p, w, name, text ? text : before) : 0;
	err = asprintf(&both, "(%s) && (%s)", before, text) < 0 ? -ENOMEM : fr_compose_fact(p, w, name, both);
	free(both);
	return err;
}

static u64 chunk_events(const struct fr_snap *s)
{
	size_t cnt, i;
	const struct fr_chunk *c = fr_snap_chunks(s, &cnt);
	u64 sum = 0;

	for (i = 0; i < cnt; i++)
		sum += c[i].row_cnt;
	return sum;
}

/* Does something that is missing, between two times, concern what was asked for? Of a time that is not known, 0, nobody can
 * tell. */
static bool cut_is_asked(const struct cut_part *p, u16 cpu, u64 since_ns, u64 until_ns)
{
	bool before = until_ns && until_ns < p->since_ns;
	bool behind = since_ns && since_ns > p->until_ns;
	bool here = !p->cut->ask->cpus.cnt || fr_ranges_have(&p->cut->ask->cpus, cpu);

	return !before && !behind && here;
}

/* Was a chunk damaged, and would something of it have been kept? */
static bool cut_is_lost(const struct cut_part *p, const struct fr_chunk *chunk)
{
	return chunk->damaged && cut_is_asked(p, chunk->cpu, chunk->first_ts, chunk->last_ts);
}

/* Unreadable events were not cut away. */
static u64 lost_events(const struct cut_part *p)
{
	size_t cnt, i;
	const struct fr_chunk *chunk = fr_snap_chunks(p->snap, &cnt);
	u64 sum = 0;

	for (i = 0; i < cnt; i++)
		sum += cut_is_lost(p, &chunk[i]) ? chunk[i].row_cnt : 0;
	return sum;
}

static int cut_put_window(const struct cut_part *p, struct fr_snap_writer *w)
{
	const struct fr_snap *s = p->snap;
	u64 since_ns = cut_number(s, "cut_since", 0), until_ns = cut_number(s, "cut_until", ~0ULL);
	int err = 0;

	since_ns = p->since_ns > since_ns ? p->since_ns : since_ns;
	until_ns = p->until_ns < until_ns ? p->until_ns : until_ns;
	if (since_ns)
		err = fr_snap_put_fact(w, "cut_since", "%llu", since_ns);
	if (until_ns != ~0ULL)
		err = err ? err : fr_snap_put_fact(w, "cut_until", "%llu", until_ns);
	return err;
}

static int cut_put_facts(const struct fr_part *part, struct fr_snap_writer *w)
{
	const struct cut_part *p = (const struct cut_part *)part;
	const struct fr_cut_ask *ask = p->cut->ask;
	const char *name = strrchr(ask->path, '/');
	int err = fr_compose_fact(part, w, "cut_from", name ? name + 1 : ask->path);

	err = err ? err : cut_put_window(p, w);
	err = err ? err : cut_put_asked(part, w, "cut_cpu", ask->cpu_text);
	err = err ? err : cut_put_asked(part, w, "cut_pid", ask->pid_text);
	err = err ? err : cut_put_asked(part, w, "cut_cgroup", ask->cgroup);
	return err ? err : cut_put_asked(part, w, "cut_filter", ask->opts.filter);
}

/* Facts that are known once all events have been read. */
static int cut_put_counts(const struct cut_part *p, struct fr_snap_writer *w)
{
	const struct fr_snap *s = p->snap;
	u64 away = cut_number(s, "cut_away", 0) + chunk_events(s) - lost_events(p) - fr_keep_all(p->keep);
	u64 damage = cut_number(s, "cut_damage", 0) + fr_snap_damage(s);
	u64 governor_ns = fr_cut_governor_ns(s) > p->governor_ns ? fr_cut_governor_ns(s) : p->governor_ns;
	int err = fr_snap_put_fact(w, "cut_away", "%llu", away);

	if (governor_ns)
		err = err ? err : fr_snap_put_fact(w, "cut_governor", "%llu", governor_ns);
	if (damage)
		err = err ? err : fr_snap_put_fact(w, "cut_damage", "%llu", damage);
	return err;
}

/* ---- rings and holes ---- */

/* What the file holds of a ring now. */
static void cut_count_ring(const struct cut_part *p, struct fr_snap_ring *r)
{
	size_t cnt, i;
	const struct fr_chunk *c = fr_snap_chunks(p->snap, &cnt);

	r->present = r->first_seq = r->last_seq = 0;
	for (i = 0; i < cnt; i++) {
		u32 kept = fr_keep_cnt(p->keep, i);

		if (!kept || c[i].cpu != r->cpu || c[i].tier != r->tier)
			continue;
		if (!r->present || c[i].first_seq < r->first_seq)
			r->first_seq = c[i].first_seq;
		if (c[i].last_seq > r->last_seq)
			r->last_seq = c[i].last_seq;
		r->present += kept;
	}
}

/* Chunks without a header, if something of them may have been kept. Returns how many holes, at most max. */
static size_t find_headless(const struct cut_part *p, struct fr_snap_hole *out, size_t max)
{
	size_t cnt, found, i, k, kept = 0;
	const struct fr_snap_ring *r = fr_snap_rings(p->snap, &cnt);

	for (i = 0; i < cnt; i++) {
		struct fr_snap_hole *h = out + kept;

		found = fr_gaps_find_lost(p->snap, &r[i], h, max - kept);
		for (k = 0; k < found; k++)
			if (cut_is_asked(p, h[k].cpu, h[k].since_ns, h[k].until_ns))
				out[kept++] = h[k];
	}
	return kept;
}

/* What was damaged of what would have been kept, as holes; malloc'ed. NULL: no memory. */
static struct fr_snap_hole *cut_find_damage(const struct cut_part *p, size_t *found)
{
	size_t cnt, i, headless_max = fr_gaps_lost_max(p->snap);
	const struct fr_chunk *chunk = fr_snap_chunks(p->snap, &cnt);
	struct fr_snap_hole *h = malloc((cnt + headless_max + 1) * sizeof(*h));

	*found = 0;
	for (i = 0; i < cnt && h; i++)
		if (cut_is_lost(p, &chunk[i]))
			h[(*found)++] = fr_gaps_hole_of(&chunk[i]);
	if (h)
		*found += find_headless(p, h + *found, headless_max);
	return h;
}

/* As a recorder has it: complete behind what could not be read. 0: nothing of the ring was damaged. */
static u64 behind_damage(const struct fr_snap_hole *damage, size_t cnt, const struct fr_snap_ring *r)
{
	u64 ns = 0;
	size_t i;

	for (i = 0; i < cnt; i++)
		if (damage[i].cpu == r->cpu && damage[i].tier == r->tier && damage[i].until_ns > ns)
			ns = damage[i].until_ns;
	return ns;
}

/*
 * From when on the ring is complete to the window's end. A recorder has it behind all holes: of those that lie behind the
 * window nothing is kept, and what precedes them is complete.
 */
static u64 horizon_of(const struct cut_part *p, const struct fr_snap_ring *r)
{
	u64 was_ns = fr_ring_horizon(p->snap, r), ns;
	size_t cnt, i;
	const struct fr_snap_hole *h = fr_snap_holes(p->snap, &cnt);

	if (was_ns <= p->until_ns)
		return was_ns;
	ns = fr_gaps_begin(p->snap, r);
	for (i = 0; i < cnt; i++)
		if (h[i].cpu == r->cpu && h[i].tier == r->tier && h[i].until_ns > ns &&
		    cut_is_asked(p, h[i].cpu, h[i].since_ns, h[i].until_ns))
			ns = h[i].until_ns;
	return ns < was_ns ? ns : was_ns;
}

/* Counters stay: they are the session's. From the window's begin on the history is as complete as it was, but for damage. */
static struct fr_snap_ring cut_ring_of(const struct cut_part *p, const struct fr_snap_hole *damage, size_t damage_cnt,
				       const struct fr_snap_ring *from)
{
	struct fr_snap_ring r = *from;
	u64 damage_ns = behind_damage(damage, damage_cnt, &r), horizon_ns = horizon_of(p, &r);
	u64 since_ns = p->since_ns > damage_ns ? p->since_ns : damage_ns;

	if (horizon_ns < since_ns)
		horizon_ns = since_ns;
	if (horizon_ns != fr_ring_horizon(p->snap, &r))
		r.horizon_ns = horizon_ns;
	if (r.end_ns > p->until_ns)
		r.end_ns = p->until_ns;
	cut_count_ring(p, &r);
	return r;
}

/* Accounts of the rings, and what is missing in them: holes within what is left, and what was damaged there. */
static int cut_account(const struct fr_part *part, struct fr_meta *m, struct fr_snap_writer *w)
{
	const struct cut_part *p = (const struct cut_part *)part;
	size_t ring_cnt, hole_cnt, damage_cnt, i;
	const struct fr_snap_ring *ring = fr_snap_rings(p->snap, &ring_cnt);
	const struct fr_snap_hole *hole = fr_snap_holes(p->snap, &hole_cnt);
	struct fr_snap_hole *damage = cut_find_damage(p, &damage_cnt);
	struct fr_snap_ring r;
	int err = damage ? cut_put_counts(p, w) : -ENOMEM;

	for (i = 0; i < ring_cnt && !err; i++) {
		r = cut_ring_of(p, damage, damage_cnt, &ring[i]);
		err = fr_vec_add(&m->ring, &r, 1);
	}
	for (i = 0; i < hole_cnt && !err; i++)
		if (cut_is_asked(p, hole[i].cpu, hole[i].since_ns, hole[i].until_ns))
			err = fr_vec_add(&m->hole, &hole[i], 1);
	err = err ?: fr_vec_add(&m->hole, damage, damage_cnt);
	free(damage);
	return err;
}

static const struct fr_compose cut_compose = {cut_leaves_out, cut_put_facts, cut_put_events, cut_leave, cut_account};

static int cut_write_out(struct cut *c)
{
	struct fr_part **part = calloc(c->part_cnt, sizeof(*part));
	u32 cnt = 0, i;
	int err;

	for (i = 0; i < c->part_cnt && part; i++)
		if (fr_keep_all(c->part[i].keep))
			part[cnt++] = &c->part[i].made;
	err = part ? fr_compose(c->ask->out, part, cnt, &cut_compose) : -ENOMEM;
	free(part);
	return err;
}

/* ---- set-up ---- */

/* A cgroup is asked for by the filter: EXPR, `cgroup ~ "GLOB"`, or both; malloc'ed. NULL and *err 0: there is none. */
static char *cut_make_filter(const struct fr_cut_ask *ask, int *err)
{
	const char *expr = ask->opts.filter;
	char *all = NULL;
	int len;

	*err = 0;
	if (ask->cgroup && strpbrk(ask->cgroup, "\"\\")) {
		fr_err("--cgroup: '%s' is no pattern: it may not hold \" or \\", ask->cgroup);
		*err = -EINVAL;
		return NULL;
	}
	if (!ask->cgroup && !expr)
		return NULL;
	if (!ask->cgroup)
		len = asprintf(&all, "%s", expr);
	else
		len = asprintf(&all, "%s%s%scgroup ~ \"%s\"", expr ? "(" : "", expr ? expr : "", expr ? ") && " : "",
			       ask->cgroup);
	*err = len < 0 ? -ENOMEM : 0;
	return len < 0 ? NULL : all;
}

static bool is_of_host(const struct fr_snap *s, const char *glob)
{
	const char *host = fr_snap_fact(s, "host");

	return host && fr_glob(glob, strlen(glob), host, strlen(host));
}

static int make_part(struct cut *c, u32 i)
{
	const struct fr_replay_opts *opts = &c->ask->opts;
	struct cut_part *p = &c->part[i];

	fr_replay_file_window(c->replay, i, &p->since_ns, &p->until_ns);
	if (opts->since.kind == FR_WHEN_NEVER)
		p->since_ns = 0;
	if (opts->until.kind == FR_WHEN_NEVER)
		p->until_ns = ~0ULL;
	p->snap = fr_replay_file(c->replay, i);
	p->left_out = c->ask->host && !is_of_host(p->snap, c->ask->host);
	p->cut = c;
	p->keep = fr_keep_new(p->snap);
	p->made = (struct fr_part){.src = &p->snap,
				   .src_cnt = 1,
				   .schema = fr_snap_schema(p->snap),
				   .keep = p->keep,
				   .is_of_tasks = c->ask->pid_text || c->ask->cgroup,
				   .clean = c->clean};
	return p->keep ? 0 : -ENOMEM;
}

/* What is replaced, before anything is. */
static int cut_learn(struct cut *c)
{
	int err = 0;
	u32 i;

	for (i = 0; i < c->part_cnt && !err; i++)
		if (!c->part[i].left_out)
			err = fr_clean_secrets(c->clean, c->part[i].snap);
	for (i = 0; i < c->part_cnt && !err; i++)
		if (!c->part[i].left_out)
			err = fr_clean_learn(c->clean, c->part[i].snap);
	return err;
}

static int cut_set_up(struct cut *c)
{
	struct fr_replay_opts opts = c->ask->opts;
	int err;
	u32 i;

	opts.tiers = ~0u;
	opts.names = true;
	c->filter = cut_make_filter(c->ask, &err);
	opts.filter = c->filter;
	if (!err && c->ask->redacts)
		err = fr_clean_new(c->ask->key, &c->clean);
	err = err ? err : fr_replay_open(&c->ask->path, 1, &opts, &c->replay);
	if (err)
		return err;
	c->part_cnt = fr_replay_file_cnt(c->replay);
	c->part = calloc(c->part_cnt, sizeof(*c->part));
	err = c->part ? 0 : -ENOMEM;
	for (i = 0; i < c->part_cnt && !err; i++)
		err = make_part(c, i);
	return err ?: c->clean ? cut_learn(c) : 0;
}

static void cut_tear_down(struct cut *c)
{
	u32 i;

	for (i = 0; c->part && i < c->part_cnt; i++)
		fr_keep_free(c->part[i].keep);
	free(c->part);
	free(c->filter);
	fr_clean_free(c->clean);
	fr_replay_close(c->replay);
}

static int cut_status_of(const struct fr_cut_ask *ask, int err)
{
	if (err == -EINVAL)
		return FR_EXIT_USAGE;
	if (err == -EIO || err == -ENXIO)
		fr_err_errno(err, "cannot cut %s", ask->path);
	return fr_compose_status(err, ask->out, ask->path, "cut a shorter window, or fewer CPUs");
}

static int cut_file(struct cut *c)
{
	u64 cnt;
	int err = cut_set_up(c), status;

	if (err)
		return cut_status_of(c->ask, err);
	err = find_kept(c, &cnt);
	if (!err && !cnt)
		fr_err("no event matches, so nothing was written: see `flightrec info %s` for what it holds", c->ask->path);
	else if (!err)
		err = cut_write_out(c);
	if (err == -EBADMSG) {
		fr_err("cannot write %s: a part of %s that could be read before cannot be read any more: try again, or copy it",
		       c->ask->out, c->ask->path);
		fr_replay_say_damage(c->replay);
		return FR_EXIT_FAIL;
	}
	status = cut_status_of(c->ask, err);
	if (fr_replay_say_damage(c->replay) && status == FR_EXIT_OK)
		status = FR_EXIT_CORRUPT;
	return !err && !cnt && status == FR_EXIT_OK ? FR_EXIT_FAIL : status;
}

int fr_cut(const struct fr_cut_ask *ask)
{
	struct cut c = {.ask = ask};
	int status = cut_file(&c);

	cut_tear_down(&c);
	return status;
}
