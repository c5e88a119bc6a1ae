/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "show/top/top.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "show/top/top_int.h"

#define LOAD_ROWS 65536u    /* at a time */
#define OPENS_NS  50000000u /* before and behind the trigger */

/* ---- tracks ---- */

struct order {
	const struct fr_timeline *tl;
	u32 focus;
};

static int top_by_cpu(const struct fr_timeline *tl, u32 a, u32 b)
{
	const struct fr_tl_cpu *x = &tl->cpu[a], *y = &tl->cpu[b];

	if (x->boot != y->boot)
		return x->boot < y->boot ? -1 : 1;
	return (int)x->nr - (int)y->nr;
}

/* The trigger's task, then those that ran longest, then those with most events. */
static int top_by_task(const struct order *o, u32 a, u32 b)
{
	const struct fr_tl_task *x = &o->tl->task[a], *y = &o->tl->task[b];

	if ((a == o->focus) != (b == o->focus))
		return a == o->focus ? -1 : 1;
	if (x->ran_ns != y->ran_ns)
		return x->ran_ns > y->ran_ns ? -1 : 1;
	if (x->rows.cnt != y->rows.cnt)
		return x->rows.cnt > y->rows.cnt ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return a < b ? -1 : a > b;
}

static int by_track(const void *a, const void *b, void *arg)
{
	const struct fr_top_track *x = a, *y = b;
	const struct order *o = arg;

	if (x->is_cpu != y->is_cpu)
		return x->is_cpu ? -1 : 1;
	return x->is_cpu ? top_by_cpu(o->tl, x->nr, y->nr) : top_by_task(o, x->nr, y->nr);
}

static int make_tracks(struct fr_top *t)
{
	struct order order = {t->tl, t->tl->focus};
	u32 i;

	t->track = calloc(t->tl->cpu_cnt + t->tl->task_cnt + 1, sizeof(*t->track));
	if (!t->track)
		return -ENOMEM;
	for (i = 0; i < t->tl->cpu_cnt; i++)
		t->track[t->track_cnt++] = (struct fr_top_track){true, i};
	for (i = 1; i < t->tl->task_cnt; i++)
		if (t->tl->task[i].states.cnt || t->tl->task[i].rows.cnt)
			t->track[t->track_cnt++] = (struct fr_top_track){false, i};
	qsort_r(t->track, t->track_cnt, sizeof(*t->track), by_track, &order);
	return 0;
}

/*
 * From where all CPUs' histories have begun to the last event of the main tier, and a little more. The whole span may be
 * longer: a slow snapshot has a last event late.
 */
void fr_top_first_window(const struct fr_top *t, u64 *from, u64 *to)
{
	const struct fr_timeline *tl = t->tl;
	u64 end;

	*from = tl->begin < tl->span - tl->span / 1000 ? tl->begin : 0;
	end = tl->end > *from ? tl->end + (tl->end - *from) / 50 : tl->span;
	*to = end < tl->span ? end : tl->span;
}

/* A part that was asked for is shown whole; of a file, what is around the trigger, as its page is (view/load.js). */
static bool top_opens_at_trigger(const struct fr_top *t)
{
	const struct fr_replay_opts *o = &t->ask->opts;
	bool all = o->since.kind == FR_WHEN_NEVER && o->until.kind == FR_WHEN_NEVER;

	return all && t->tl->has_trigger && t->tl->trigger <= t->tl->span;
}

static void top_open_at(struct fr_top *t, u64 at)
{
	u64 end = t->to > at ? t->to : at;

	fr_top_window(t, at > OPENS_NS ? at - OPENS_NS : 0, end - at > OPENS_NS ? at + OPENS_NS : end);
}

/* Begin at the trigger, on the track of its task, else at the end. */
static int top_begin(struct fr_top *t)
{
	const struct fr_timeline *tl = t->tl;
	int err = tl->full && !tl->event_cnt ? -ENOMEM : make_tracks(t);

	if (err)
		return err;
	fr_top_first_window(t, &t->from, &t->to);
	t->cursor = tl->has_trigger && tl->trigger <= tl->span ? tl->trigger : t->to;
	if (t->cursor < t->from)
		t->from = 0;
	if (top_opens_at_trigger(t))
		top_open_at(t, t->cursor);
	if (tl->focus != FR_TL_NO_TASK && fr_top_track_of(t, false, tl->focus) < t->track_cnt)
		t->selected = fr_top_track_of(t, false, tl->focus);
	fr_top_find_row(t);
	return 0;
}

/* ---- life ---- */

static int say_no_memory(const struct fr_top_ask *ask)
{
	fr_err("cannot show %s: out of memory: show a part of it with %s, or %s", ask->name ?: ask->path,
	       ask->live ? "--last" : "--window", fr_err_cure(-ENOMEM, NULL));
	return -ENOMEM;
}

static int top_set_up(struct fr_top *t)
{
	int err;

	t->out = calloc(1, sizeof(*t->out));
	if (!t->out)
		return -ENOMEM;
	fr_text_init(&t->text, false, false);
	fr_out_init_mem(t->out);
	err = fr_timeline_new(t->replay, false, &t->tl);
	if (err)
		return err;
	t->reader = fr_tl_reader_new(t->tl);
	if (!t->reader)
		return -ENOMEM;
	if (t->ask->symbols)
		t->frames = fr_frames_new(t->replay, t->ask->symbols);
	t->row = FR_TL_NO_ROW;
	t->panel = fr_top_cause_opens(t) ? FR_TOP_CAUSE : FR_TOP_DETAILS;
	t->panel_size = 1;
	fr_top_resize(t, 80, 24);
	return t->col && t->cover ? 0 : -ENOMEM;
}

int fr_top_new(const struct fr_top_ask *ask, struct fr_top **out)
{
	struct fr_top *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return say_no_memory(ask);
	t->ask = ask;
	err = fr_replay_open(&ask->path, 1, &ask->opts, &t->replay);
	if (!err && top_set_up(t))
		err = say_no_memory(ask);
	if (err) {
		fr_top_free(t);
		return err;
	}
	*out = t;
	return 0;
}

void fr_top_free(struct fr_top *t)
{
	if (!t)
		return;
	fr_top_search_free(t);
	fr_top_flame_free(t);
	fr_top_job_free(t);
	fr_top_cause_free(t);
	fr_frames_free(t->frames);
	fr_tl_reader_free(t->reader);
	fr_timeline_free(t->tl);
	fr_replay_close(t->replay);
	if (t->out)
		free(fr_out_take_mem(t->out, NULL));
	free(t->out);
	free(t->track);
	free(t->col);
	free(t->cover);
	free(t);
}

void fr_top_resize(struct fr_top *t, u32 width, u32 height)
{
	struct fr_tl_col *col = realloc(t->col, (width + 1) * sizeof(*col));
	struct fr_tl_cover *cover;

	t->col = col ?: t->col;
	cover = realloc(t->cover, (width + 1) * sizeof(*cover));
	t->cover = cover ?: t->cover;
	if (!col || !cover) /* no memory: keep the old size */
		return;
	if (!t->height || t->lanes == (t->height >= 40))
		t->lanes = height >= 40;
	t->width = width;
	t->height = height;
	if (t->tl->loaded)
		fr_top_window(t, t->from, t->to);
}

int fr_top_work(struct fr_top *t)
{
	int got;

	if (t->error)
		return t->error;
	fr_top_cause_begin(t);
	if (!t->tl->loaded) {
		got = fr_timeline_load(t->tl, LOAD_ROWS);
		if (got <= 0)
			t->error = got ?: top_begin(t);
		return t->error ?: 1;
	}
	got = fr_top_search_work(t);
	fr_top_cause_leave(t);
	got = got ?: fr_top_job_work(t);
	got = got ?: fr_top_flame_work(t);
	got = got ?: fr_top_cause_work(t);
	if (got < 0)
		t->error = got;
	return got;
}

bool fr_top_is_loaded(const struct fr_top *t)
{
	return t->tl->loaded;
}

bool fr_top_is_light(const struct fr_top *t)
{
	return t->light;
}

bool fr_top_say_damage(const struct fr_top *t)
{
	return fr_replay_say_damage(t->replay);
}

void fr_top_say_left_out(const struct fr_top *t)
{
	if (t->tl->left_out_cnt)
		fr_warn("the last %llu of %llu"
			" events are left out, for lack of memory: show a part with %s, %s",
			t->tl->left_out_cnt, t->tl->event_cnt + t->tl->left_out_cnt, t->ask->live ? "--last" : "--window",
			fr_err_cure(-ENOMEM, NULL));
	if (fr_top_result(t) && fr_an_left_any(fr_top_result(t)))
		fr_warn("the tables are not complete, for lack of memory: `flightrec report` says what is left out: %s",
			fr_err_cure(-ENOMEM, NULL));
}

/* ---- panels ---- */

const struct fr_top_panel_def fr_top_panels[FR_TOP_PANEL_CNT] = {
	[FR_TOP_CAUSE] = {"cause", "cause", 'c', fr_top_cause_draw, fr_top_scroll_key},
	[FR_TOP_DETAILS] = {"details", "detail", '1', fr_top_details, fr_top_scroll_key},
	[FR_TOP_EVENTS] = {"events", "event", '2', fr_top_events, fr_top_events_key},
	[FR_TOP_TASKS] = {"tasks", "task", '3', fr_top_table_draw, fr_top_table_key},
	[FR_TOP_CPUS] = {"cpus", "cpu", '4', fr_top_table_draw, fr_top_table_key},
	[FR_TOP_CALLS] = {"calls", "call", '5', fr_top_table_draw, fr_top_table_key},
	[FR_TOP_OFFCPU] = {"offcpu", "off", '6', fr_top_table_draw, fr_top_table_key},
	[FR_TOP_WAITS] = {"waits", "wait", '7', fr_top_table_draw, fr_top_table_key},
	[FR_TOP_IRQS] = {"irqs", "irq", '8', fr_top_table_draw, fr_top_table_key},
	[FR_TOP_BLOCK] = {"block", "block", '9', fr_top_table_draw, fr_top_table_key},
	[FR_TOP_FLAME] = {"flame", "flame", '0', fr_top_flame, fr_top_flame_key},
	[FR_TOP_HIST] = {"hist", "hist", 'h', fr_top_hist, fr_top_scroll_key},
	[FR_TOP_INFO] = {"info", "info", 'i', fr_top_info, fr_top_scroll_key},
};

const char *fr_top_panel_names(void)
{
	return "cause, details, events, tasks, cpus, calls, offcpu, waits, irqs, block, flame, hist, info";
}

int fr_top_open_panel(struct fr_top *t, const char *name)
{
	u32 i;

	for (i = 0; i < FR_TOP_PANEL_CNT; i++) {
		if (!strcmp(fr_top_panels[i].name, name)) {
			t->panel = i;
			return 0;
		}
	}
	return -ENOENT;
}
