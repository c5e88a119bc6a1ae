/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "show/report/report.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/text/nearest.h"
#include "read/replay/focus.h"
#include "read/replay/summary.h"
#include "show/report/report_kinds.h"
#include "show/report/report_text.h"
#include "sys/fd.h"

/* Waits are looked at for the task in focus, its process, and all. */
static void want(struct fr_report *r)
{
	u64 at_ns;
	u32 tid = fr_analyze_focus(r->analyze, &at_ns);

	fr_waits_init(&r->waits, r->replay, tid, tid ? fr_names_who(r->view->names, tid, at_ns, 0).pid : -1);
	r->wants = *fr_analyze_wants(r->analyze);
	fr_clues_want(r->clues, &r->wants);
	fr_changes_want(&r->changes, &r->wants);
	fr_waited_want(&r->waits.fields, &r->wants);
	fr_states_want(&r->states, &r->wants);
	fr_replay_want(r->replay, &r->wants);
}

/* The verdict is on the trigger, also where the report is about another task. */
static int look_for_clues(struct fr_report *r)
{
	u64 at_ns;
	u32 tid = fr_analyze_focus(r->analyze, &at_ns);
	int err = r->ask->analyze.focus_tid ? fr_focus_find(r->replay, 0, &tid) : 0;

	err = err ?: fr_clues_new(r->replay, r->sum, tid, &r->clues);
	if (!err)
		fr_changes_begin(&r->changes, r->replay, r->sum, r->clues);
	return err;
}

static int analyze(struct fr_report *r)
{
	struct fr_replay_run run = {0};
	u64 since_ns = fr_replay_since(r->replay, 0);
	int err, got;

	err = fr_analyze_new(r->replay, r->sum, &r->ask->analyze, &r->analyze) ?: look_for_clues(r);
	err = err ?: fr_states_init(&r->states, r->replay, 0);
	if (!err)
		want(r);
	while (!err && (got = fr_replay_next(r->replay, &run)) != 0) {
		err = got < 0 ? got : fr_analyze_run(r->analyze, &run) ?: fr_waits_run(&r->waits, &run, since_ns)
						   ?: fr_clues_run(r->clues, &run);
		if (err)
			continue;
		fr_changes_run(&r->changes, &run);
		fr_states_run(&r->states, &run);
	}
	fr_waits_end(&r->waits);
	fr_changes_end(&r->changes);
	return err ?: fr_analyze_end(r->analyze, &r->res);
}

/* The programs to take names from may lie beside the snapshot. 0 or -ENOMEM. */
static int report_open_symbols(struct fr_report *r)
{
	struct fr_symbols_opts opts;

	if (!r->ask->symbols)
		return 0;
	opts = *r->ask->symbols;
	r->beside = strdup(r->ask->path);
	if (!r->beside)
		return -ENOMEM;
	opts.beside = dirname(r->beside);
	return fr_symbols_new(r->snap, &opts, &r->symbols);
}

static int report_judge(struct fr_report *r)
{
	bool is_focus = !r->ask->analyze.focus_tid;

	fr_clues_end(r->clues, r->res, is_focus, r->symbols, &r->states);
	return fr_verdict_make(r->clues, &r->verdict) ?: fr_verdict_tell_doing(r->clues, &r->changes);
}

static void report_take_file(struct fr_report *r)
{
	static const char *const events[] = {
#define X(event) #event,
		FR_REPORT_EVENTS(X)
#undef X
	};
	u32 i;

	r->snap = fr_replay_snap(r->replay, 0);
	r->view = fr_replay_view(r->replay, 0); /* needed even if there is no event to bring one */
	for (i = 0; i < FR_REPORT_OF_CNT; i++)
		r->recorded[i] = fr_snap_records(r->snap, events[i]);
}

/* What the window lacks since cgroups were thinned. */
static int report_thins(struct fr_report *r)
{
	u64 begin_ns, end_ns;

	fr_replay_file_window(r->replay, 0, &begin_ns, &end_ns);
	return fr_thins_read(fr_replay_file(r->replay, 0), begin_ns, end_ns, &r->thins);
}

static int report_gather(struct fr_report *r)
{
	int err;

	report_take_file(r);
	err = fr_summary_new(r->snap, &r->sum);
	err = err ?: analyze(r);
	if (!err)
		fr_report_scene_find(r);
	err = err ?: report_open_symbols(r);
	err = err ?: report_judge(r);
	err = err ?: report_thins(r);
	err = err ?: fr_report_rare_read(r);
	err = err ?: fr_report_last_read(r);
	err = err ?: fr_report_rank(r);
	err = err ?: fr_report_stacks(r);
	return err ?: fr_report_functions(r);
}

static void report_print_json(struct fr_report *r)
{
	if (r->ask->into)
		fr_json_object(r->ask->into->json, "report", &fr_report_kind, r, r);
	else
		fr_json_line(r->out, &fr_report_kind, r, r);
}

static void report_print(struct fr_report *r)
{
	if (r->ask->into)
		r->ask->into->done = true;
	else
		fr_out_init(r->out, STDOUT_FILENO);
	if (r->ask->json)
		report_print_json(r);
	else
		fr_report_text(r);
	if (r->symbols && fr_symbols_error(r->symbols))
		fr_out_fail(r->out, fr_symbols_error(r->symbols));
}

static int report(struct fr_report *r)
{
	int err = report_gather(r), status;

	if (err) {
		fr_err_errno(err, "cannot report on %s", r->ask->path);
		return FR_EXIT_FAIL;
	}
	report_print(r);
	if (fr_an_left_any(r->res))
		fr_warn("some tables are not complete, for lack of memory: left out says what: %s", fr_err_cure(-ENOMEM, NULL));
	status = fr_replay_say_damage(r->replay) ? FR_EXIT_CORRUPT : FR_EXIT_OK;
	return r->ask->into ? status : fr_err_finish(r->out, status); /* of several, the output ends once */
}

static void close_all(struct fr_report *r)
{
	u32 i;

	for (i = 0; i < FR_RANK_CNT; i++)
		free(r->rank[i].rec);
	free(r->fn);
	free(r->notable);
	free(r->stack[0].frame);
	free(r->stack[1].frame);
	fr_report_last_free(&r->last);
	fr_waits_free(&r->waits);
	fr_tally_free(&r->rare);
	fr_thins_free(&r->thins);
	fr_clues_free(r->clues);
	fr_changes_free(&r->changes);
	fr_states_free(&r->states);
	fr_symbols_free(r->symbols);
	free(r->beside);
	fr_analyze_free(r->analyze);
	fr_summary_free(r->sum);
	fr_replay_close(r->replay);
	if (!r->ask->into)
		free(r->out);
	free(r);
}

static struct fr_report *new_report(const struct fr_report_ask *ask)
{
	struct fr_report *r = calloc(1, sizeof(*r));

	if (r)
		r->out = ask->into ? ask->into->out : calloc(1, sizeof(*r->out));
	if (r && r->out) {
		r->ask = ask;
		return r;
	}
	free(r);
	return NULL;
}

/* Whatever it shows, it says whose that is. */
static int report_replay_open(const struct fr_report_ask *ask, struct fr_replay **r)
{
	struct fr_replay_opts opts = ask->opts;

	opts.cgroups = true;
	return fr_replay_open(&ask->path, 1, &opts, r);
}

/* ---- the verdict alone ---- */

struct alone_ask {
	const char *path;
	const struct fr_symbols_opts *symbols;
	bool json;
};

static int alone_put(struct fr_report *r)
{
	struct fr_jsonw w = {.o = r->out};
	struct fr_report_page page = {.r = r, .o = r->out};
	int err;

	report_take_file(r);
	err = fr_summary_new(r->snap, &r->sum) ?: analyze(r);
	err = err ?: report_open_symbols(r) ?: report_judge(r);
	if (!err && r->ask->json)
		fr_json_record(&w, &fr_report_kind_verdict, r, &r->verdict);
	else if (!err)
		fr_report_put_verdict(&page);
	return err ?: r->symbols ? fr_symbols_error(r->symbols) : 0;
}

static int alone_text(const struct alone_ask *v, char **text)
{
	const struct fr_report_ask ask = {
		.path = v->path,
		.opts = {.tiers = FR_REPLAY_TIERS, .jobs = FR_REPLAY_JOBS_FEW, .names = true, .history = true},
		.analyze = {.moment_ns = FR_REPORT_MOMENT_NS},
		.symbols = v->symbols,
		.json = v->json,
	};
	struct fr_report *r = new_report(&ask);
	int err;

	if (!r)
		return -ENOMEM;
	fr_out_init_mem(r->out);
	err = report_replay_open(&ask, &r->replay) ?: alone_put(r);
	*text = fr_out_take_mem(r->out, NULL);
	close_all(r);
	return err ?: *text ? 0 : -ENOMEM;
}

/* In a child: an error number, and the text. */
static int alone_work(void *arg, int file)
{
	char *text = NULL;
	int err = alone_text(arg, &text), failed = fr_write_all(file, &err, sizeof(err));

	if (!failed && !err)
		failed = fr_write_all(file, text, strlen(text) + 1);
	free(text);
	return failed;
}

int fr_report_verdict_begin(const char *path, const struct fr_symbols_opts *symbols, bool json, struct fr_aside **out)
{
	struct alone_ask v = {path, symbols, json};

	return fr_aside_begin(alone_work, &v, out);
}

static int alone_read(int fd, char **text)
{
	FILE *f = fdopen(fd, "r");
	size_t room = 0;
	ssize_t len;
	int err;

	if (!f) {
		close(fd);
		return -ENOMEM;
	}
	rewind(f);
	if (fread(&err, sizeof(err), 1, f) != 1)
		err = -EPROTO;
	len = err ? 0 : getdelim(text, &room, 0, f);
	if (!err && (len <= 0 || (*text)[len - 1]))
		err = errno == ENOMEM ? -ENOMEM : -EPROTO;
	fclose(f);
	return err;
}

int fr_report_verdict_take(struct fr_aside *a, char **text)
{
	char why[2];
	int fd, err = fr_aside_take(a, &fd, why, sizeof(why));

	*text = NULL;
	err = err ? -EPROTO : alone_read(fd, text);
	if (err) {
		free(*text);
		*text = NULL;
	}
	return err;
}

int fr_report_open(const struct fr_report_ask *ask, struct fr_replay **r)
{
	int err = report_replay_open(ask, r);

	if (err)
		return err == -EINVAL ? FR_EXIT_USAGE : err == -EBADMSG ? FR_EXIT_CORRUPT : FR_EXIT_FAIL;
	return fr_replay_say_sessions(*r, "a report") ? FR_EXIT_USAGE : FR_EXIT_OK;
}

static int report_on(const struct fr_report_ask *ask)
{
	struct fr_report *r = new_report(ask);
	int status;

	if (!r) {
		fr_err_memory();
		return FR_EXIT_FAIL;
	}
	status = fr_report_open(ask, &r->replay);
	if (status == FR_EXIT_OK)
		status = report(r);
	close_all(r);
	return status;
}

/* ---- a task by its name ---- */

struct named {
	const char *name;
	struct fr_nearest near; /* of the names there are */
	char near_name[FR_COMM_SZ + 1];
	u64 before_ns; /* the trigger; 0: there is none */
	u32 tid;       /* of the last one before it, or else the first one behind it; 0: none */
};

static int report_take_name(void *arg, const struct fr_replay_run *run, const struct fr_row *r)
{
	struct named *n = arg;
	struct fr_who who = fr_view_who(run->view, r);
	char name[FR_COMM_SZ + 1];

	if (!r->tid || !who.comm)
		return 0;
	if (fr_glob(n->name, strlen(n->name), who.comm, who.len)) {
		if (!n->tid || !n->before_ns || r->ts <= n->before_ns)
			n->tid = r->tid;
		return 0;
	}
	snprintf(name, sizeof(name), "%.*s", (int)who.len, who.comm);
	fr_nearest_consider(&n->near, name);
	if (n->near.name == name)
		n->near.name = strcpy(n->near_name, name);
	return 0;
}

static int say_no_task(const struct named *n)
{
	if (fr_nearest_likely(&n->near))
		fr_err("--task: no task is called '%s' in this window: did you mean %s?", n->name, n->near.name);
	else
		fr_err("--task: no task is called '%s' in this window: `flightrec stat --by comm FILE` lists names", n->name);
	return FR_EXIT_USAGE;
}

static int find_named(const struct fr_report_ask *ask, struct named *n)
{
	struct fr_replay_opts opts = ask->opts;
	struct fr_replay *r;
	int err;

	opts.filter = NULL;
	opts.history = false;
	err = fr_replay_open(&ask->path, 1, &opts, &r);
	if (err)
		return err == -EINVAL ? FR_EXIT_USAGE : err == -EBADMSG ? FR_EXIT_CORRUPT : FR_EXIT_FAIL;
	fr_snap_fact_num(fr_replay_snap(r, 0), "trigger_ts", (s64 *)&n->before_ns);
	err = fr_replay_each(r, report_take_name, n);
	fr_replay_close(r);
	if (err)
		fr_err_errno(err, "cannot read %s", ask->path);
	return err ? FR_EXIT_FAIL : n->tid ? FR_EXIT_OK : say_no_task(n);
}

int fr_report(const struct fr_report_ask *ask)
{
	struct named n = {.name = ask->task, .near.to = ask->task};
	struct fr_report_ask of_tid = *ask;
	int status = ask->task ? find_named(ask, &n) : FR_EXIT_OK;

	if (status != FR_EXIT_OK)
		return status;
	if (ask->task)
		of_tid.analyze.focus_tid = n.tid;
	return report_on(&of_tid);
}
