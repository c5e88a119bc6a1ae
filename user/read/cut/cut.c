/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the file twice: first in time order, like replay, to decide what to keep, because filters may look at earlier events;
 * then chunk by chunk to write it, so that memory holds one chunk and a bit per event.
 */
#include "read/cut/cut_int.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "read/snapfile/snapfile_members.h"
#include "read/snapfile/snapfile_rows.h"

/* ---- what is kept ---- */

static bool cut_is_kept(const struct fr_cut *c, const struct fr_replay_run *run, const struct fr_row *r)
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
	struct fr_cut *c = arg;

	return cut_is_kept(c, run, r) ? fr_keep_row(c->part[run->file].keep, r) : 0;
}

/* The facts name the task that the snapshot was taken for. */
static void keep_trigger(struct fr_cut_part *p)
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
static bool state_is_kept(const struct fr_cut *c, const struct fr_cut_part *p, const struct fr_snap_state *t, s32 pid)
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
static int keep_states(struct fr_cut *c, u32 part)
{
	struct fr_cut_part *p = &c->part[part];
	struct fr_names *names = fr_replay_view(c->replay, part)->names;
	size_t cnt, i;
	const struct fr_snap_state *t = fr_snap_states(p->snap, &cnt);
	int err = 0;

	for (i = 0; i < cnt && !err && fr_keep_all(p->keep); i++)
		if (state_is_kept(c, p, &t[i], fr_names_who(names, t[i].tid, t[i].at_ns, t[i].cpu).pid))
			err = fr_keep_state(p->keep, i);
	return err;
}

/* *cnt: events kept, of all parts. */
static int find_kept(struct fr_cut *c, u64 *cnt)
{
	int err = fr_replay_each(c->replay, cut_look, c);
	u32 i;

	*cnt = 0;
	for (i = 0; i < c->part_cnt && !err; i++) {
		keep_trigger(&c->part[i]);
		err = keep_states(c, i);
		err = err ?: fr_keep_ready(c->part[i].keep);
		*cnt += fr_keep_all(c->part[i].keep);
	}
	return err;
}

/* ---- writing ---- */

/* A record longer than any recorder writes is damage that decoding did not see: it is left out. */
static int cut_put_row(struct fr_snap_writer *w, const struct fr_row *r, bool context)
{
	u64 seq;
	u32 off;
	int err;

	fr_row_pos(r, &seq, &off);
	err = fr_snap_put_row(w, r, seq, off, context);
	return err == -EBADMSG ? 0 : err;
}

static int cut_put_chunk(const struct fr_cut_part *p, const struct fr_batch *b, struct fr_snap_writer *w)
{
	int err = 0;
	u32 i;

	for (i = 0; i < b->row_cnt && !err; i++) {
		struct fr_row r;

		if (!fr_keep_has(p->keep, b->chunk, i))
			continue;
		r = fr_batch_row(b, i);
		fr_keep_told(p->keep, &r);
		err = cut_put_row(w, &r, false);
	}
	return err;
}

static int cut_put_events(const struct fr_cut_part *p, struct fr_snap_writer *w)
{
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
static void note_governor(struct fr_cut_part *p, const struct fr_row *r)
{
	bool here = r->ts >= p->since_ns && r->ts <= p->until_ns;

	if (here && r->ts > p->governor_ns && !strcmp(r->ev->name, "governor"))
		p->governor_ns = r->ts;
}

/* Rows of a chunk that are not kept, but needed for names and stacks. */
static int cut_put_context_of(struct fr_cut_part *p, const struct fr_batch *b, bool context, struct fr_snap_writer *w)
{
	int err = 0;
	u32 i;

	for (i = 0; i < b->row_cnt && !err; i++) {
		struct fr_row r = fr_batch_row(b, i);

		if (fr_keep_has(p->keep, b->chunk, i))
			continue;
		note_governor(p, &r);
		if (fr_keep_explains(p->keep, &r, context))
			err = cut_put_row(w, &r, true);
	}
	return err;
}

/* What was context already, of a file that was cut before, comes behind its other chunks. */
static int cut_put_context(struct fr_cut_part *p, struct fr_snap_writer *w)
{
	struct fr_batch b = {0};
	size_t cnt, context_cnt, i;
	const struct fr_chunk *c = fr_snap_chunks(p->snap, &cnt);
	int err = 0;

	fr_snap_context(p->snap, &cnt, &context_cnt);
	for (i = 0; i < cnt + context_cnt && !err; i++) {
		if (c[i].tier != FR_TIER_LIFE && c[i].tier != FR_TIER_STACK)
			continue;
		err = fr_snap_read_chunk(p->snap, i, &b);
		err = err ? err : cut_put_context_of(p, &b, c[i].context, w);
		err = err == -EBADMSG ? 0 : err;
	}
	fr_batch_free(&b);
	return err;
}

static int cut_put_part(const struct fr_cut *c, struct fr_cut_part *p, struct fr_snap_writer *w)
{
	int err = fr_snap_put_schema(w, fr_snap_schema(p->snap));

	err = err ? err : fr_cut_put_facts(c, p, w);
	err = err ? err : cut_put_events(p, w);
	err = err ? err : cut_put_context(p, w);
	return err ? err : fr_cut_put_meta(c, p, w);
}

static int cut_write_out(const struct fr_cut *c)
{
	struct fr_snap_writer *w;
	int err = fr_snap_create_for_rows(c->ask->out, &w);
	bool begun = false;
	u32 i;

	if (err)
		return err;
	for (i = 0; i < c->part_cnt && !err; i++)
		if (fr_keep_all(c->part[i].keep)) {
			err = begun ? fr_snap_next_member(w) : 0;
			err = err ? err : cut_put_part(c, &c->part[i], w);
			begun = true;
		}
	if (!err)
		return fr_snap_finish(w);
	fr_snap_abort(w);
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

static int make_part(struct fr_cut *c, u32 i)
{
	const struct fr_replay_opts *opts = &c->ask->opts;
	struct fr_cut_part *p = &c->part[i];

	fr_replay_file_window(c->replay, i, &p->since_ns, &p->until_ns);
	if (opts->since.kind == FR_WHEN_NEVER)
		p->since_ns = 0;
	if (opts->until.kind == FR_WHEN_NEVER)
		p->until_ns = ~0ULL;
	p->snap = fr_replay_file(c->replay, i);
	p->left_out = c->ask->host && !is_of_host(p->snap, c->ask->host);
	p->keep = fr_keep_new(p->snap);
	return p->keep ? 0 : -ENOMEM;
}

static int cut_set_up(struct fr_cut *c)
{
	struct fr_replay_opts opts = c->ask->opts;
	int err;
	u32 i;

	opts.tiers = ~0u;
	opts.names = true;
	c->filter = cut_make_filter(c->ask, &err);
	opts.filter = c->filter;
	err = err ? err : fr_replay_open(&c->ask->path, 1, &opts, &c->replay);
	if (err)
		return err;
	c->part_cnt = fr_replay_file_cnt(c->replay);
	c->part = calloc(c->part_cnt, sizeof(*c->part));
	err = c->part ? 0 : -ENOMEM;
	for (i = 0; i < c->part_cnt && !err; i++)
		err = make_part(c, i);
	return err;
}

static void cut_tear_down(struct fr_cut *c)
{
	u32 i;

	for (i = 0; c->part && i < c->part_cnt; i++)
		fr_keep_free(c->part[i].keep);
	free(c->part);
	free(c->filter);
	fr_replay_close(c->replay);
}

/* A message for what has none yet. */
static int cut_status_of(const struct fr_cut_ask *ask, int err)
{
	switch (err) {
	case 0:
		return FR_EXIT_OK;
	case -EINVAL:
		return FR_EXIT_USAGE;
	case -EBADMSG:
		return FR_EXIT_CORRUPT;
	case -EEXIST:
		fr_err("%s exists, and is not replaced: give another name, or remove it", ask->out);
		break;
	case -ENOMEM:
		fr_err("out of memory: cut a shorter window, or fewer CPUs, or %s", fr_err_cure(-ENOMEM, NULL));
		break;
	case -EIO:
	case -ENXIO:
		fr_err_errno(err, "cannot cut %s", ask->path);
		break;
	case -ENOBUFS:
		fr_err("cannot write %s: a part of %s is larger than any recorder writes", ask->out, ask->path);
		break;
	}
	return FR_EXIT_FAIL;
}

static int cut(struct fr_cut *c)
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
	struct fr_cut c = {.ask = ask};
	int status = cut(&c);

	cut_tear_down(&c);
	return status;
}
