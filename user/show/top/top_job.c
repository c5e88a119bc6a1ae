/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * top_job: computes the tables of the window. The window's part of the snapshot is read again for read/analyze/analyze.h, in
 * pieces between keys. The old tables stay on the screen until the new ones are complete.
 */
#include "show/top/top_table.h"

#include <errno.h>
#include <stdlib.h>

#include "show/top/top_int.h"

#define RUNS_A_TIME 2000u

/* An analysis of a window. */
struct made {
	u64 from, to;
	struct fr_replay *replay;
	struct fr_summary *sum;
	struct fr_analyze *analyze;
	const struct fr_an_result *res; /* NULL: not complete */
	u64 at;				/* the time reached so far */
};

struct fr_top_job {
	struct made done, next; /* the one that is shown, the one in progress */
	int error;
	u64 bad_from, bad_to; /* the window of the error */
};

/* ---- an analysis ---- */

static void job_release(struct made *m)
{
	fr_analyze_free(m->analyze);
	fr_summary_free(m->sum);
	fr_replay_close(m->replay);
	*m = (struct made){0};
}

void fr_top_job_free(struct fr_top *t)
{
	if (!t->job)
		return;
	job_release(&t->job->done);
	job_release(&t->job->next);
	free(t->job);
	t->job = NULL;
}

static bool job_is_whole(const struct fr_top *t)
{
	return !t->from && t->to >= t->tl->span && !t->tl->full;
}

/* Reads the same events as `report --since A --until B`. */
static int job_start(struct fr_top *t, struct made *m)
{
	struct fr_replay_opts opts = t->ask->opts;
	const struct fr_analyze_opts analyze = {0};
	u64 begin = t->tl->origin_key;
	int err;

	if (!job_is_whole(t)) {
		opts.since = (struct fr_when){.kind = FR_WHEN_CLOCK, .ns = begin + t->from};
		opts.until = (struct fr_when){.kind = FR_WHEN_CLOCK, .ns = begin + t->to};
	}
	job_release(m);
	m->from = t->from;
	m->to = t->to;
	err = fr_replay_open(&t->ask->path, 1, &opts, &m->replay);
	err = err ?: fr_summary_new(fr_replay_snap(m->replay, 0), &m->sum);
	err = err ?: fr_analyze_new(m->replay, m->sum, &analyze, &m->analyze);
	if (!err)
		fr_replay_want(m->replay, fr_analyze_wants(m->analyze));
	return err;
}

static int go_on(struct fr_top *t, struct made *m)
{
	struct fr_replay_run run;
	u32 left = RUNS_A_TIME;
	int got = 1, err = 0;

	while (!err && left-- && (got = fr_replay_next(m->replay, &run)) > 0) {
		m->at = run.b->ts[run.from] - t->tl->origin_key;
		err = fr_analyze_run(m->analyze, &run);
	}
	if (got < 0 || err)
		return err ?: got;
	return got ?: fr_analyze_end(m->analyze, &m->res);
}

static bool job_is_wanted(const struct fr_top *t)
{
	return t->panel_size && ((t->panel >= FR_TOP_TASKS && t->panel < FR_TOP_FLAME) || t->panel == FR_TOP_HIST) &&
	       fr_replay_file_cnt(t->replay) == 1;
}

static bool job_is_of(const struct made *m, const struct fr_top *t)
{
	return m->analyze && m->from == t->from && m->to == t->to;
}

static int job_fail(struct fr_top *t, int err)
{
	struct fr_top_job *j = t->job;

	job_release(&j->next);
	j->error = err;
	j->bad_from = t->from;
	j->bad_to = t->to;
	return 0;
}

int fr_top_job_work(struct fr_top *t)
{
	struct fr_top_job *j = t->job;
	int got;

	if (!job_is_wanted(t))
		return 0;
	if (!j)
		j = t->job = calloc(1, sizeof(*j));
	if (!j)
		return -ENOMEM;
	if (job_is_of(&j->done, t) || (j->error && j->bad_from == t->from && j->bad_to == t->to))
		return 0;
	j->error = 0;
	if (!job_is_of(&j->next, t)) {
		got = job_start(t, &j->next);
		return got ? job_fail(t, got) : 1;
	}
	got = go_on(t, &j->next);
	if (got < 0)
		return job_fail(t, got);
	if (j->next.res) {
		job_release(&j->done);
		j->done = j->next;
		j->next = (struct made){0};
	}
	return 1;
}

const struct fr_an_result *fr_top_result(const struct fr_top *t)
{
	return t->job ? t->job->done.res : NULL;
}

bool fr_top_job_is_current(const struct fr_top *t, int *error, u32 *percent)
{
	const struct fr_top_job *j = t->job;
	const struct made *m = j ? &j->next : NULL;

	*percent = m && m->to > m->from && m->at > m->from ? (u32)((m->at - m->from) * 100 / (m->to - m->from)) : 0;
	if (*percent > 99)
		*percent = 99;
	*error = j && j->bad_from == t->from && j->bad_to == t->to ? j->error : 0;
	return j && job_is_of(&j->done, t);
}
