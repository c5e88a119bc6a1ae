/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "show/export/export.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/text/nearest.h"
#include "base/text/units.h"
#include "read/replay/holder.h"
#include "read/snapfile/newdir.h"
#include "read/snapfile/newfile.h"
#include "read/symbols/frames.h"
#include "show/export/export_gaps.h"

const struct fr_exporter fr_export_json = {
	.name = "json",
	.doc = "NDJSON, an object an event, as `replay --json`",
	.stacks = true,
	.by_library = true,
};

const struct fr_exporter fr_export_csv = {
	.name = "csv",
	.doc = "comma-separated values, a column for each field there is",
	.by_library = true,
};

static const struct fr_exporter *const exporters[] = {
#define E(name) &fr_export_##name,
	FR_EXPORTERS(E)
#undef E
};

#define EXPORTER_CNT (sizeof(exporters) / sizeof(exporters[0]))
#define ENDING_NS    1000000000ULL /* from a task's exit to its last switch, if it does not take unusually long */

const struct fr_exporter *fr_exporter_nr(u32 i)
{
	return i < EXPORTER_CNT ? exporters[i] : NULL;
}

const struct fr_exporter *fr_exporter_find(const char *name)
{
	struct fr_nearest near = {.to = name};
	u32 i;

	for (i = 0; i < EXPORTER_CNT; i++) {
		if (!strcmp(exporters[i]->name, name))
			return exporters[i];
		fr_nearest_consider(&near, exporters[i]->name);
	}
	if (fr_nearest_likely(&near))
		fr_err("there is no format '%s': did you mean %s? `flightrec export --help` lists them", name, near.name);
	else
		fr_err("there is no format '%s': `flightrec export --help` lists them", name);
	return NULL;
}

u8 fr_export_flags(const struct fr_export *x, const struct fr_row *r)
{
	const struct fr_sub *waking = &x->waking[x->file];
	u64 how;

	if (!waking->ev || waking->ev->nr != r->ev->nr)
		return 0;
	how = fr_wakers_find(x->wakers[fr_replay_boot(x->replay, x->file)], fr_sub_num(waking, r, 0), r->ts);
	how = how == FR_WAKER_unknown ? fr_sub_num(waking, r, 1) : how;
	if (how == FR_WAKER_softirq)
		return FR_EXPORT_SOFTIRQ;
	return how == FR_WAKER_irq || how == FR_WAKER_nmi || how == FR_WAKER_timer ? FR_EXPORT_HARDIRQ : 0;
}

static int make_wakers(struct fr_export *x)
{
	static const struct fr_sub_want want = {"sched_waking", {FR_SUB_NUM("target_pid"), FR_SUB_MAY_NUM("waker")}};
	u32 cnt = fr_replay_file_cnt(x->replay), i;
	int err = 0;

	x->waking = calloc(cnt + 1, sizeof(*x->waking));
	x->wakers = calloc(fr_replay_boot_cnt(x->replay) + 1, sizeof(struct fr_wakers *));
	if (!x->waking || !x->wakers)
		return -ENOMEM;
	for (i = 0; i < cnt && !err; i++) {
		fr_subscribe(fr_replay_schema(x->replay, i), &want, &x->waking[i]);
		err = fr_wakers_add(&x->wakers[fr_replay_boot(x->replay, i)], fr_replay_file(x->replay, i));
	}
	return err;
}

static void free_wakers(struct fr_export *x)
{
	u32 i;

	for (i = 0; x->wakers && i < fr_replay_boot_cnt(x->replay); i++)
		fr_wakers_free(x->wakers[i]);
	free(x->wakers);
	free(x->waking);
}

u32 fr_export_cpu_cnt(const struct fr_export *x)
{
	u32 file, max = 0;
	size_t cnt, i;

	for (file = 0; file < fr_replay_file_cnt(x->replay); file++) {
		const struct fr_chunk *c = fr_snap_chunks(fr_replay_snap(x->replay, file), &cnt);

		for (i = 0; i < cnt; i++)
			max = c[i].cpu > max ? c[i].cpu : max;
	}
	return max + 1;
}

static int export_by_life(const void *a, const void *b)
{
	const struct fr_snap_task *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

struct fr_snap_task *fr_export_tasks(const struct fr_export *x, size_t *cnt)
{
	struct fr_snap_task *all;
	size_t sum = 0, kept = 0, one, i;
	u32 file;

	for (file = 0; file < fr_replay_file_cnt(x->replay); file++) {
		fr_snap_tasks(fr_replay_snap(x->replay, file), &one);
		sum += one;
	}
	all = malloc((sum + 1) * sizeof(*all));
	if (!all)
		return NULL;
	for (file = 0, sum = 0; file < fr_replay_file_cnt(x->replay); file++, sum += one) {
		const struct fr_snap_task *t = fr_snap_tasks(fr_replay_snap(x->replay, file), &one);

		if (one)
			memcpy(all + sum, t, one * sizeof(*t));
	}
	qsort(all, sum, sizeof(*all), export_by_life);
	for (i = 0; i < sum; i++)
		if (!kept || export_by_life(&all[kept - 1], &all[i]))
			all[kept++] = all[i];
		else if (all[i].task.exit_ns)
			all[kept - 1] = all[i]; /* it has more information */
	*cnt = kept;
	return all;
}

bool fr_export_is_there(const struct fr_snap_task *t, u64 begin_ns)
{
	return !t->task.exit_ns || t->task.exit_ns + ENDING_NS >= begin_ns;
}

struct fr_who fr_export_who(const struct fr_export *x, const struct fr_snap_task *t, u64 begin_ns)
{
	struct fr_names *names = fr_replay_view(x->replay, 0)->names;
	struct fr_who who = fr_names_who(names, t->tid, t->start_ns > begin_ns ? t->start_ns : begin_ns, 0);

	if (!who.comm) { /* no tid has that number */
		who.comm = t->task.comm;
		who.len = strnlen(t->task.comm, FR_COMM_SZ);
	}
	return who;
}

static bool export_find_whose(const struct fr_export *x, const struct fr_snap_task *t, struct fr_export_whose *w)
{
	const struct fr_cgroups *c = fr_replay_view(x->replay, 0)->cgroups;
	bool is_known = false;
	u32 i;

	*w = (struct fr_export_whose){.task = t};
	for (i = FR_WHOSE_program + 1; c && i < FR_WHOSE_CNT; i++) {
		w->text[i] = fr_whose_process(c, t->tid, t->start_ns, t->task.cgroup, i);
		if (w->text[i] && strlen(w->text[i]) > FR_EXPORT_WHOSE_MAX) /* no path of a kernel, no name of an engine */
			w->text[i] = NULL;
		is_known |= w->text[i] != NULL;
	}
	return is_known;
}

int fr_export_each_whose(const struct fr_export *x, fr_export_whose_fn fn, void *arg)
{
	u64 begin_ns, end_ns;
	size_t cnt = 0, i;
	struct fr_snap_task *t = fr_export_tasks(x, &cnt);
	struct fr_export_whose w;
	int err = t ? 0 : -ENOMEM;

	fr_replay_window(x->replay, &begin_ns, &end_ns);
	for (i = 0; i < cnt && !err; i++)
		if (t[i].tid == t[i].task.tgid && t[i].start_ns <= end_ns && fr_export_is_there(&t[i], begin_ns) &&
		    export_find_whose(x, &t[i], &w)) {
			w.who = fr_export_who(x, &t[i], begin_ns);
			err = fn(arg, &w);
		}
	free(t);
	return err;
}

int fr_export_holder(const struct fr_export *x, u16 cpu, u64 at_ns, u32 *tid)
{
	u32 file;
	int got = 0;

	for (file = 0; file < fr_replay_file_cnt(x->replay) && !got; file++)
		got = fr_holder_at(fr_replay_file(x->replay, file), cpu, at_ns, tid);
	return got;
}

/* Pass on row i of a run; exporters with see() also get rows that do not match. */
static int export_put_row(struct fr_export *x, const struct fr_exporter *e, const struct fr_replay_run *run, u32 i)
{
	struct fr_row r;
	int err = 0;

	if (fr_replay_match(run, i, &r))
		err = e->row(x, run->view, &r) ?: fr_out_error(x->out);
	if (!e->see || err)
		return err;
	r = fr_batch_row(run->b, i);
	return e->see(x, run->view, &r);
}

/* ---- told to end ---- */

static const int end_signals[] = {SIGINT, SIGTERM, SIGHUP};
#define END_SIGNALS (sizeof(end_signals) / sizeof(end_signals[0]))

static volatile sig_atomic_t told; /* this signal came; 0: none */

static void export_on_end(int sig)
{
	told = sig;
}

/* Until export_obey() what ends us is only noted, so that no directory or temporary file is left. A second time it does end us.
 */
static void note_signals(struct sigaction was[END_SIGNALS])
{
	const struct sigaction act = {.sa_handler = export_on_end, .sa_flags = SA_RESTART | SA_RESETHAND};
	size_t i;

	for (i = 0; i < END_SIGNALS; i++)
		if (!sigaction(end_signals[i], NULL, &was[i]) && was[i].sa_handler != SIG_IGN)
			sigaction(end_signals[i], &act, NULL);
}

static void export_obey(const struct sigaction was[END_SIGNALS])
{
	size_t i;

	for (i = 0; i < END_SIGNALS; i++)
		sigaction(end_signals[i], &was[i], NULL);
	if (told)
		raise(told);
}

/* ---- rows ---- */

static int export_put_rows(struct fr_export *x, const struct fr_exporter *e)
{
	struct fr_replay_run run;
	int got, err = 0;
	u32 i;

	while (!err && !told && (got = fr_replay_next(x->replay, &run)) != 0) {
		if (got < 0)
			return got;
		x->file = run.file;
		if (x->frames)
			fr_frames_at(x->frames, &run);
		if (e->run)
			err = e->run(x, &run);
		while (e->history && run.from < run.to && run.b->ts[run.from] < fr_replay_since(x->replay, run.file))
			run.from++;
		for (i = run.from; i < run.to && !err; i++)
			err = export_put_row(x, e, &run, i);
	}
	return err ?: told ? -EINTR : 0;
}

static int export_put_all(struct fr_export *x, const struct fr_exporter *e)
{
	int err = e->begin ? e->begin(x) : 0;

	err = err ?: export_put_rows(x, e);
	return err ?: e->end ? e->end(x) : 0;
}

void fr_export_say(const char *path, const char *format, u64 event_cnt)
{
	fr_say("%s: %llu event%s as %s", path, event_cnt, fr_plural(event_cnt), format);
}

/* Formats represent damage as well as they can, but a reader of the rows does not see it. */
static void export_say_missing(const struct fr_export *x)
{
	size_t cnt = fr_export_gap_cnt(x);

	if (cnt)
		fr_warn("events of CPUs are missing in %zu place%s: `flightrec info` tells where and why", cnt, fr_plural(cnt));
}

static void export_say(const struct fr_export *x, const struct fr_export_ask *ask)
{
	fr_export_say(ask->path, ask->format, x->event_cnt);
	if (x->left_out)
		fprintf(stderr, "left out: %llu event%s without a place in this format\n", x->left_out, fr_plural(x->left_out));
}

int fr_export_status(int err, bool damaged)
{
	if (err == -EPIPE)
		return FR_EXIT_OK;
	return err ? FR_EXIT_FAIL : damaged ? FR_EXIT_CORRUPT : FR_EXIT_OK;
}

static int export_to(struct fr_export *x, const struct fr_exporter *e, int fd)
{
	int err;

	fr_out_init(x->out, fd);
	x->out->color = false;
	err = export_put_all(x, e);
	err = err ?: x->frames ? fr_frames_error(x->frames) : 0;
	err = err ?: fr_out_flush(x->out);
	if (e->release)
		e->release(x);
	free(x->state);
	if (!err && x->frames)
		fr_frames_say_missing(x->frames);
	if (!err)
		export_say_missing(x);
	if (err && err != -EPIPE && !told)
		fr_err_errno(err, "export stopped");
	return err;
}

static int export_write_file(const char *path, fr_export_fn fn, void *arg)
{
	struct fr_newfile *f;
	int err = fr_newfile_create(path, NULL, 0, &f);

	if (err)
		return err;
	err = fn(arg, fr_newfile_fd(f));
	if (!err)
		return fr_newfile_finish(f);
	fr_newfile_abort(f);
	return err;
}

static void say_exists(const char *path, const char * or)
{
	fr_err("%s exists and is not replaced: give another name with -o%s", path, or);
}

int fr_export_to_path(const char *path, fr_export_fn fn, void *arg)
{
	int err = path ? export_write_file(path, fn, arg) : fn(arg, STDOUT_FILENO);

	if (err == -EEXIST)
		say_exists(path, ", or - for standard output");
	return err;
}

/* The writing function for the above. */
struct job {
	struct fr_export *x;
	const struct fr_exporter *e;
};

static int export_run_job(void *arg, int fd)
{
	const struct job *j = arg;

	return export_to(j->x, j->e, fd);
}

static int export_to_folder(struct fr_export *x, const struct fr_exporter *e, const char *path)
{
	struct fr_newdir *d;
	int err = fr_newdir_create(path, &d);

	if (err == -EEXIST)
		say_exists(path, "");
	if (err)
		return err;
	x->dir_fd = fr_newdir_fd(d);
	err = export_to(x, e, -1);
	if (!err)
		return fr_newdir_finish(d);
	fr_newdir_abort(d);
	return err;
}

static int export_write_out(struct fr_export *x, const struct fr_exporter *e, const struct fr_export_ask *ask)
{
	struct job job = {.x = x, .e = e};
	struct sigaction was[END_SIGNALS];
	int err;

	if (ask->path)
		note_signals(was);
	err = e->folder ? export_to_folder(x, e, ask->path) : fr_export_to_path(ask->path, export_run_job, &job);
	if (ask->path)
		export_obey(was);
	if (!err && ask->path)
		export_say(x, ask);
	return err;
}

static int export_check(const struct fr_export *x, const struct fr_exporter *e, const struct fr_export_ask *ask)
{
	if (e->one_session ? fr_replay_say_sessions(x->replay, e->name)
			   : e->one_boot && fr_replay_say_boots(x->replay, e->name))
		return -EINVAL;
	if (e->folder && !ask->path) {
		fr_err("%s makes a directory: name it with -o", e->name);
		return -EINVAL;
	}
	if (e->binary && !ask->path && isatty(STDOUT_FILENO)) {
		fr_err("%s is not for a terminal: give a file with -o", e->name);
		return -EINVAL;
	}
	return 0;
}

static bool wants_symbols(const struct fr_exporter *e, const struct fr_export_ask *ask)
{
	return !ask->no_symbols && e->stacks;
}

int fr_export(const struct fr_export_ask *ask)
{
	const struct fr_exporter *e = fr_exporter_find(ask->format);
	struct fr_replay_opts opts = ask->opts;
	struct fr_export x = {0};
	int err, status;

	if (!e || e->by_library)
		return FR_EXIT_USAGE;
	x.to = e;
	x.ask = ask;
	opts.pairs_without = e->pairs_without;
	opts.history = e->history;
	opts.pairs = e->pairs;
	opts.cgroups = e->whose || fr_whose_needs_cgroups(ask->whose);
	err = fr_replay_open(ask->file, ask->file_cnt, &opts, &x.replay);
	if (err)
		return err == -EINVAL ? FR_EXIT_USAGE : err == -EBADMSG ? FR_EXIT_CORRUPT : FR_EXIT_FAIL;
	x.snap = fr_replay_snap(x.replay, 0);
	x.path = ask->path;
	x.off_cpu = ask->off_cpu;
	x.out = malloc(sizeof(*x.out));
	if (wants_symbols(e, ask))
		x.frames = fr_frames_new(x.replay, &ask->symbols);
	err = !x.out || (wants_symbols(e, ask) && !x.frames) ? -ENOMEM : export_check(&x, e, ask);
	status = err == -EINVAL ? FR_EXIT_USAGE : FR_EXIT_FAIL;
	err = err ?: fr_export_gaps_new(&x);
	err = err ?: make_wakers(&x);
	if (err == -ENOMEM)
		fr_err_memory();
	if (!err) {
		err = export_write_out(&x, e, ask);
		status = fr_export_status(err, fr_replay_say_damage(x.replay));
	}
	free(x.out);
	fr_frames_free(x.frames);
	fr_export_gaps_free(&x);
	free_wakers(&x);
	fr_replay_close(x.replay);
	return status;
}
