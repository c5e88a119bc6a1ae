/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * top_cause: the verdict of `report`, found aside as soon as the panel is open, since it reads the whole file once more. It is
 * of the file, whatever part of it is shown, and whatever filter was given. It has no words for where the cursor is: when that
 * moves, the details take its place.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "show/report/report.h"
#include "show/top/top_int.h"

#define HANG 13u /* columns of the labels */

/* Why there can be none; NULL: there can. */
static const char *cause_why_none(const struct fr_top *t)
{
	if (t->ask->live)
		return "A cause is of a snapshot: `flightrec list` names those that triggers have pulled.";
	if (fr_replay_file_cnt(t->replay) > 1)
		return "A cause is of one host: this file is of several.";
	return NULL;
}

bool fr_top_cause_opens(const struct fr_top *t)
{
	return fr_snap_fact(fr_replay_snap(t->replay, 0), "trigger_ts") && !cause_why_none(t);
}

void fr_top_cause_free(struct fr_top *t)
{
	fr_aside_drop(t->cause.aside);
	free(t->cause.text);
	t->cause = (struct fr_top_cause){};
}

void fr_top_cause_begin(struct fr_top *t)
{
	struct fr_top_cause *c = &t->cause;

	if (c->asked || t->panel != FR_TOP_CAUSE || !t->panel_size || cause_why_none(t))
		return;
	c->asked = true;
	c->error = fr_report_verdict_begin(t->ask->path, t->ask->symbols, false, &c->aside);
}

void fr_top_cause_leave(struct fr_top *t)
{
	const struct fr_top_seat seat = {t->cursor, t->selected, t->row}, *was = &t->cause.seat;

	if (t->panel == FR_TOP_CAUSE && t->cause.sits &&
	    (seat.cursor != was->cursor || seat.selected != was->selected || seat.row != was->row))
		t->panel = FR_TOP_DETAILS;
	t->cause.sits = t->panel == FR_TOP_CAUSE;
	t->cause.seat = seat;
}

int fr_top_cause_work(struct fr_top *t)
{
	struct pollfd p = {.fd = fr_top_wait_fd(t), .events = POLLIN};

	if (p.fd < 0 || poll(&p, 1, 0) <= 0)
		return 0;
	t->cause.error = fr_report_verdict_take(t->cause.aside, &t->cause.text);
	t->cause.aside = NULL;
	return 1;
}

int fr_top_wait_fd(const struct fr_top *t)
{
	/* what failed does nothing any more, and waits for nothing */
	return t->cause.aside && !t->error ? fr_aside_fd(t->cause.aside) : -1;
}

static const char *cause_why_not_found(const struct fr_top *t)
{
	return t->cause.error == -EPROTO ? "its process ended too early" : strerror(-t->cause.error);
}

bool fr_top_say_no_cause(const struct fr_top *t)
{
	if (t->cause.error)
		fr_err("the cause was not found: %s: `flightrec report` says more", cause_why_not_found(t));
	return t->cause.error;
}

/* ---- drawing ---- */

/*
 * A line: its label, what it says, and in brackets, behind a blank, what that is from. Names have brackets, too, without one
 * (pipe:[1234]). *from: it has begun on the line before.
 */
static void cause_put_line(struct fr_grid *g, u32 y, const char *line, size_t len, bool *from)
{
	u32 x = fr_grid_mem(g, 0, y, g->width, line, len, FR_INK_NONE), i;
	bool blank = true;

	fr_grid_ink(g, 0, y, HANG, FR_INK_DIM);
	for (i = HANG; i < x; i++) {
		u32 ch = fr_grid_at(g, i, y)->ch;

		*from |= blank && ch == '[';
		if (*from)
			fr_grid_ink(g, i, y, i + 1, FR_INK_DIM);
		*from &= ch != ']';
		blank = ch == ' ';
	}
}

static void cause_put_text(struct fr_top *t, struct fr_grid *g, u32 y, u32 end)
{
	const char *line, *next;
	bool from = false;
	char *text;
	u32 skip;

	fr_report_break(t->out, t->cause.text, strlen(t->cause.text), g->width, HANG, true);
	text = fr_out_take_mem(t->out, NULL);
	fr_out_init_mem(t->out);
	for (line = text, skip = t->scroll; line && *line && y < end; line = next) {
		next = strchrnul(line, '\n');
		if (skip)
			skip--;
		else
			cause_put_line(g, y++, line, next - line, &from);
		next += *next == '\n';
	}
	t->scroll -= skip < t->scroll ? skip : t->scroll;
	free(text);
}

void fr_top_cause_draw(struct fr_top *t, struct fr_grid *g, u32 y, u32 end)
{
	const char *none = cause_why_none(t);

	if (none)
		fr_grid_text(g, 1, y, g->width, none, FR_INK_DIM);
	else if (t->cause.text)
		cause_put_text(t, g, y, end);
	else if (t->cause.error)
		fr_grid_printf(g, 1, y, g->width, FR_INK_LOST, "The cause was not found: %s: `flightrec report` says more",
			       cause_why_not_found(t));
	else
		fr_grid_text(g, 1, y, g->width, "reading the file for its cause", FR_INK_DIM);
}
