/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * top_follow: from one snapshot of a session to a later one. Times are handed over by how long before the end they are, lines
 * by who they are: numbers of lines mean nothing in the next snapshot.
 */
#include <string.h>

#include "show/top/top_int.h"

void fr_top_pause(struct fr_top *t)
{
	if (!t->ask->live) {
		fr_top_note(t, "this is a file, which does not change: a pause is for a session");
		return;
	}
	t->ask->live->paused = !t->ask->live->paused;
}

bool fr_top_holds(const struct fr_top *t)
{
	/* what failed answers no keys that would end what is typed, say: a later snapshot heals it */
	return t->ask->live->paused || (!t->error && (t->prompt || t->marked || t->help || fr_top_matches(t)));
}

/* A time in was, so long before its end, in t. */
static u64 follow_time(const struct fr_top *t, const struct fr_top *was, u64 at)
{
	u64 before = was->tl->span > at ? was->tl->span - at : 0;

	return t->tl->span > before ? t->tl->span - before : 0;
}

static void follow_window(struct fr_top *t, const struct fr_top *was)
{
	u64 from, to, at = was->cursor == was->to ? 0 : follow_time(t, was, was->cursor);

	fr_top_first_window(was, &from, &to);
	if (was->from == from && was->to == to) {
		fr_top_first_window(t, &from, &to);
	} else {
		from = follow_time(t, was, was->from);
		to = from + (was->to - was->from);
	}
	fr_top_window(t, from, to);
	t->cursor = was->cursor == was->to ? t->to : at < t->from ? t->from : at > t->to ? t->to : at;
}

/* ---- who is selected ---- */

/* When the last task of this tid began; 0: that is not known. */
static u64 follow_start_of(const struct fr_top *t, u32 tid)
{
	const struct fr_snap_task *task;
	u64 start_ns = 0;
	size_t cnt, i;

	task = fr_snap_tasks(fr_replay_snap(t->replay, 0), &cnt);
	for (i = 0; i < cnt; i++)
		if (task[i].tid == tid && task[i].start_ns > start_ns)
			start_ns = task[i].start_ns;
	return start_ns;
}

static struct fr_top_wanted follow_wanted_of(const struct fr_top *was)
{
	const struct fr_top_track *k = &was->track[was->selected];
	u32 tid;

	if (was->wanted.is_one && was->selected == was->wanted.instead)
		return was->wanted;
	if (was->selected >= was->track_cnt)
		return (struct fr_top_wanted){};
	if (k->is_cpu)
		return (struct fr_top_wanted){.is_one = true, .is_cpu = true, .nr = was->tl->cpu[k->nr].nr};
	tid = was->tl->task[k->nr].tid;
	return (struct fr_top_wanted){.is_one = true, .nr = tid, .start_ns = follow_start_of(was, tid)};
}

static bool follow_is_wanted(const struct fr_top *t, const struct fr_top_track *k, const struct fr_top_wanted *w)
{
	if (k->is_cpu != w->is_cpu)
		return false;
	if (k->is_cpu)
		return t->tl->cpu[k->nr].nr == w->nr;
	return t->tl->task[k->nr].tid == w->nr && follow_start_of(t, w->nr) == w->start_ns;
}

static void follow_selected(struct fr_top *t, const struct fr_top *was)
{
	struct fr_top_wanted w = follow_wanted_of(was);
	u32 i;

	t->wanted = (struct fr_top_wanted){};
	for (i = 0; i < t->track_cnt && w.is_one && !follow_is_wanted(t, &t->track[i], &w); i++)
		;
	if (w.is_one && i < t->track_cnt) {
		t->selected = i;
		return;
	}
	t->selected = was->selected < t->track_cnt ? was->selected : t->track_cnt ? t->track_cnt - 1 : 0;
	w.instead = t->selected;
	t->wanted = w;
}

/* ---- all of it ---- */

void fr_top_follow(struct fr_top *t, const struct fr_top *was)
{
	fr_top_resize(t, was->width, was->height);
	t->panel = was->panel;
	t->panel_size = was->panel_size;
	t->in_panel = was->in_panel;
	t->lanes = was->lanes;
	t->light = was->light;
	t->scroll = was->scroll;
	t->events_mode = was->events_mode;
	memcpy(t->note, was->note, sizeof(t->note));
	if (!was->to) /* it was never begun: what had failed was to load it */
		return;
	follow_window(t, was);
	follow_selected(t, was);
	t->first = was->first;
	fr_top_table_follow(t, was);
	fr_top_find_row(t);
}
