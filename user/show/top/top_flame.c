/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * top_flame: the stacks of the window's samples as a flame graph, outermost on top: of the selected task, or of all where a
 * CPU's line is selected (then of that CPU). Samples are read by their place in the file, so that each part of it is read once.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "read/timeline/timeline_int.h"
#include "show/top/top_int.h"

#define SAMPLES_A_TIME 2000u
#define DEPTH_MAX      256u
#define NONE	       0u /* the root is no child */

struct node {
	char *name;
	u32 cnt;
	u32 kid, next; /* first child; next of the same parent. By name, once all is counted */
	u32 parent;
};

struct fr_top_flame {
	u64 from, to;
	u32 selected_track;
	u32 *row; /* samples to be read */
	u32 row_cnt, row_at;
	struct node *node;
	u32 node_cnt, node_cap;
	u32 root, at; /* shown from; selected */
	bool ready;
};

/* ---- the tree ---- */

static int flame_new_node(struct fr_top_flame *f, u32 parent, const char *name, size_t len, u32 *nr)
{
	int err = fr_tl_grow((void **)&f->node, f->node_cnt, &f->node_cap, sizeof(*f->node));
	struct node *n = err ? NULL : &f->node[f->node_cnt];

	if (!n)
		return err;
	*n = (struct node){.name = strndup(name, len), .parent = parent};
	if (!n->name)
		return -ENOMEM;
	*nr = f->node_cnt++;
	if (*nr != NONE) {
		n->next = f->node[parent].kid;
		f->node[parent].kid = *nr;
	}
	return 0;
}

/* The child of that name, which is made if there is none; a sample more is in it. */
static int enter(struct fr_top_flame *f, u32 *at, const char *name, size_t len)
{
	u32 i;
	int err = 0;

	for (i = f->node[*at].kid; i != NONE; i = f->node[i].next)
		if (strlen(f->node[i].name) == len && !memcmp(f->node[i].name, name, len))
			break;
	if (i == NONE)
		err = flame_new_node(f, *at, name, len, &i);
	if (err)
		return err;
	f->node[i].cnt++;
	*at = i;
	return 0;
}

/* The function, wherever in it: of "write+0x1f (libc.so.6)" "write (libc.so.6)". Returns its length. */
static size_t flame_put_function(const char *text, char to[FR_FRAME_TEXT_SZ])
{
	const char *plus = strstr(text, "+0x"), *end;

	for (; plus; plus = strstr(end, "+0x")) {
		end = plus + 3 + strspn(plus + 3, "0123456789abcdef");
		if (!*end || *end == ' ')
			return (size_t)snprintf(to, FR_FRAME_TEXT_SZ, "%.*s%s", (int)(plus - text), text, end);
	}
	return (size_t)snprintf(to, FR_FRAME_TEXT_SZ, "%s", text);
}

static int flame_put_stack(struct fr_top *t, u32 *at, const struct fr_row *row, const char *name)
{
	const struct fr_field *field = fr_event_field(row->ev, name);
	struct fr_stacktexts texts = fr_frames_texts(t->frames);
	const char *const *text;
	char function[FR_FRAME_TEXT_SZ];
	u32 cnt = 0, i;
	int err = 0;

	if (!field || !fr_is_stack(field))
		return 0;
	text = texts.of(texts.arg, row, field, &cnt);
	for (i = cnt; i-- && !err && cnt - i < DEPTH_MAX;)
		err = enter(t->flame, at, function, flame_put_function(text[i], function));
	return err;
}

static int flame_put_sample(struct fr_top *t, u32 nr)
{
	struct fr_top_flame *f = t->flame;
	const struct fr_tl_event *e = &t->tl->event[nr];
	const struct fr_tl_task *k = &t->tl->task[e->task];
	struct fr_replay_run run = {.file = e->file};
	struct fr_row row;
	u32 at = 0;
	int err = fr_tl_reader_row(t->reader, nr, &row, &run.view);

	if (err)
		return err == -EBADMSG ? 0 : err;
	run.b = row.b;
	fr_frames_at(t->frames, &run);
	f->node[0].cnt++;
	err = enter(f, &at, k->comm ?: "?", k->comm ? k->comm_len : 1);
	err = err ?: flame_put_stack(t, &at, &row, "ustack");
	return err ?: flame_put_stack(t, &at, &row, "kstack");
}

/* ---- which samples ---- */

static bool flame_is_of(const struct fr_top *t, const struct fr_tl_event *e)
{
	const struct fr_top_track *k = t->selected < t->track_cnt ? &t->track[t->selected] : NULL;

	return !k || (k->is_cpu ? e->cpu == k->nr : e->task == k->nr);
}

static int flame_by_place(const void *a, const void *b, void *arg)
{
	const struct fr_timeline *tl = arg;
	const struct fr_tl_event *x = &tl->event[*(const u32 *)a], *y = &tl->event[*(const u32 *)b];

	if (x->file != y->file)
		return (int)x->file - (int)y->file;
	if (x->chunk != y->chunk)
		return x->chunk < y->chunk ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

static int flame_choose(struct fr_top *t, struct fr_top_flame *f)
{
	const struct fr_tl_rows *s = &t->tl->samples;
	u32 i = fr_tl_row_from(t->tl, s, t->from), end = fr_tl_row_from(t->tl, s, t->to + 1);

	f->row = calloc(end - i + 1, sizeof(*f->row));
	if (!f->row)
		return -ENOMEM;
	for (; i < end; i++)
		if (flame_is_of(t, &t->tl->event[s->v[i]]))
			f->row[f->row_cnt++] = s->v[i];
	qsort_r(f->row, f->row_cnt, sizeof(*f->row), flame_by_place, t->tl);
	return 0;
}

/* ---- work ---- */

void fr_top_flame_free(struct fr_top *t)
{
	struct fr_top_flame *f = t->flame;
	u32 i;

	for (i = 0; f && i < f->node_cnt; i++)
		free(f->node[i].name);
	if (f) {
		free(f->node);
		free(f->row);
	}
	free(f);
	t->flame = NULL;
}

static bool flame_is_current(const struct fr_top *t)
{
	const struct fr_top_flame *f = t->flame;

	return f && f->from == t->from && f->to == t->to && f->selected_track == t->selected;
}

static int flame_start(struct fr_top *t)
{
	u32 root;

	fr_top_flame_free(t);
	t->flame = calloc(1, sizeof(*t->flame));
	if (!t->flame)
		return -ENOMEM;
	t->flame->from = t->from;
	t->flame->to = t->to;
	t->flame->selected_track = t->selected;
	return flame_new_node(t->flame, 0, "all", 3, &root) ?: flame_choose(t, t->flame) ?: 1;
}

int fr_top_flame_work(struct fr_top *t)
{
	struct fr_top_flame *f = t->flame;
	u32 left = SAMPLES_A_TIME;
	int err = 0;

	if (t->panel != FR_TOP_FLAME || !t->panel_size || !t->frames)
		return 0;
	if (!flame_is_current(t))
		return flame_start(t);
	if (f->ready)
		return 0;
	while (f->row_at < f->row_cnt && left-- && !err)
		err = flame_put_sample(t, f->row[f->row_at++]);
	f->ready = f->row_at == f->row_cnt;
	return err ?: 1;
}

/* ---- drawing ---- */

static u32 depth_of(const struct fr_top_flame *f, u32 nr)
{
	u32 depth = 0;

	for (; nr != f->root && nr != NONE; nr = f->node[nr].parent)
		depth++;
	return depth;
}

/* The child with most samples that is not among those that were before `than`, in the order of counts. */
static u32 next_kid(const struct fr_top_flame *f, u32 parent, u32 than)
{
	u32 i, best = NONE;

	for (i = f->node[parent].kid; i != NONE; i = f->node[i].next) {
		if (than != NONE && (f->node[i].cnt > f->node[than].cnt || (f->node[i].cnt == f->node[than].cnt && i <= than)))
			continue;
		if (best == NONE || f->node[i].cnt > f->node[best].cnt || (f->node[i].cnt == f->node[best].cnt && i < best))
			best = i;
	}
	return best;
}

struct place {
	struct fr_top *t;
	struct fr_grid *g;
	u32 y, end, skip;
};

static void draw_node(const struct place *p, u32 nr, u32 x, u32 width, u32 depth)
{
	const struct fr_top_flame *f = p->t->flame;
	u32 y = p->y + depth - p->skip, kid, at = x, i;
	u64 used = 0;

	if (!width || (depth >= p->skip && y >= p->end))
		return;
	if (depth >= p->skip) {
		for (i = x; i + 1 < x + width || i == x; i++)
			fr_grid_char(p->g, i, y, p->t->ask->color ? ' ' : '=', FR_INK_DARK);
		fr_grid_text(p->g, x, y, x + width - (width > 1), f->node[nr].name,
			     p->t->ask->color ? FR_INK_DARK : FR_INK_NONE);
		for (i = x; (i + 1 < x + width || i == x) && fr_grid_at(p->g, i, y); i++)
			fr_grid_at(p->g, i, y)->ground = p->t->ask->color ? FR_INK_TASK + (depth + nr) % FR_INK_TASK_CNT : 0;
		if (nr == f->at)
			fr_grid_reverse(p->g, x, y, x + (width > 1 ? width - 1 : 1));
	}
	for (kid = next_kid(f, nr, NONE); kid != NONE; kid = next_kid(f, nr, kid)) {
		used += f->node[kid].cnt;
		i = x + (u32)((unsigned __int128)used * width / (f->node[nr].cnt ?: 1));
		if (i == at)
			break; /* too small to be seen, and so are those behind it */
		draw_node(p, kid, at, i - at, depth + 1);
		at = i;
	}
}

static void flame_draw_head(struct fr_top *t, struct fr_grid *g, u32 y)
{
	const struct fr_top_flame *f = t->flame;
	const struct node *n = &f->node[f->at];
	u32 thousandths = (u32)(n->cnt * 1000ULL / (f->node[0].cnt ?: 1)), x;

	x = fr_grid_printf(g, 1, y, g->width, FR_INK_BOLD, "%u of %u samples, %u.%u%%  ", n->cnt, f->node[0].cnt,
			   thousandths / 10, thousandths % 10);
	x = fr_grid_text(g, x, y, g->width, n->name, FR_INK_NAME);
	if (!f->ready)
		fr_grid_printf(g, x + 2, y, g->width, FR_INK_WAIT, "reading %u%%",
			       (u32)(f->row_at * 100ULL / (f->row_cnt ?: 1)));
	else if (t->in_panel)
		fr_grid_text(g, x + 2, y, g->width, "Enter: from here; u: from the top", FR_INK_DIM);
}

void fr_top_flame(struct fr_top *t, struct fr_grid *g, u32 y, u32 end)
{
	struct place p = {t, g, y + 1, end, 0};
	struct fr_top_flame *f = t->flame;

	if (!t->frames || !f || !flame_is_current(t)) {
		fr_grid_text(g, 1, y, g->width,
			     t->frames ? "reading samples" : "Stacks are not looked up: --no-symbols was given.", FR_INK_DIM);
		return;
	}
	if (f->ready && !f->node[0].cnt) {
		fr_grid_text(g, 1, y, g->width,
			     "No samples of this line in this window; cpu_sample is the event. A CPU's line shows all of it.",
			     FR_INK_DIM);
		return;
	}
	flame_draw_head(t, g, y);
	if (depth_of(f, f->at) + 2 > end - y)
		p.skip = depth_of(f, f->at) + 2 - (end - y);
	draw_node(&p, f->root, 1, g->width - 1, 0);
}

/* ---- keys ---- */

static void to_side(struct fr_top_flame *f, bool right)
{
	u32 parent = f->node[f->at].parent, kid, before = NONE;

	if (f->at == f->root)
		return;
	for (kid = next_kid(f, parent, NONE); kid != NONE && kid != f->at; kid = next_kid(f, parent, kid))
		before = kid;
	kid = right ? next_kid(f, parent, f->at) : before;
	if (kid != NONE)
		f->at = kid;
}

bool fr_top_flame_key(struct fr_top *t, int key)
{
	struct fr_top_flame *f = t->flame;
	u32 kid = f && f->node_cnt ? next_kid(f, f->at, NONE) : NONE;

	if (!f || !f->node_cnt)
		return false;
	switch (key) {
	case FR_KEY_UP:
		f->at = f->at == f->root ? f->root : f->node[f->at].parent;
		return true;
	case FR_KEY_DOWN:
		f->at = kid != NONE ? kid : f->at;
		return true;
	case FR_KEY_LEFT:
	case FR_KEY_RIGHT:
		to_side(f, key == FR_KEY_RIGHT);
		return true;
	case FR_KEY_ENTER:
		f->root = f->at;
		return true;
	case 'u':
		f->root = 0;
		return true;
	default:
		return false;
	}
}
