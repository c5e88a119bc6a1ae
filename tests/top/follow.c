/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * follow WxH PANEL KEYS FILE...: as `flightrec top NAME` shows snapshots of a session one after the other: the keys are pressed
 * in the first one, each further one follows the one before, twice: what stands behind a ; of the keys is pressed in the first
 * one between. Prints the screen of each, a line of = behind it. ^ and _ are up and down. A selected line of a table is printed
 * with > before it.
 */
#include <stdio.h>
#include <string.h>

#include "base/text/out.h"
#include "show/top/top.h"

static int work(struct fr_top *t)
{
	int got;

	while ((got = fr_top_work(t)) > 0)
		;
	return got;
}

static int press(struct fr_top *t, const char *keys)
{
	int err = work(t);

	for (; !err && *keys && *keys != ';'; keys++) {
		fr_top_key(t, *keys == '^' ? FR_KEY_UP : *keys == '_' ? FR_KEY_DOWN : *keys);
		err = work(t);
	}
	return err;
}

/* As top does: once t is loaded, and once its tables are made, of which those keys come in between. */
static int follow(struct fr_top *t, struct fr_top *was, const char *keys)
{
	int err;

	fr_top_follow(t, was);
	err = work(t) ?: press(was, *keys ? keys + 1 : keys);
	fr_top_follow(t, was);
	return err ?: work(t);
}

static int show(struct fr_top *t, struct fr_out *out)
{
	struct fr_grid g = {0};
	int err = fr_top_draw(t, &g);
	u32 y;

	for (y = 0; !err && y < g.height; y++)
		if (fr_grid_at(&g, 0, y)->flags & FR_CELL_REVERSE && y)
			fr_grid_char(&g, 0, y, '>', FR_INK_NONE);
	if (!err)
		fr_grid_print(&g, out, true);
	fr_out_str(out, "=\n");
	fr_grid_free(&g);
	return err;
}

int main(int argc, char **argv)
{
	struct fr_top_live live = {0};
	struct fr_top_ask ask[8] = {0};
	struct fr_top *t = NULL, *was = NULL;
	static struct fr_out out;
	u32 w, h;
	int i, err = argc < 5 || argc > 12 || sscanf(argv[1], "%ux%u", &w, &h) != 2;

	fr_out_init(&out, 1);
	for (i = 4; i < argc && !err; i++, was = t) {
		ask[i - 4] = (struct fr_top_ask){.path = argv[i],
						 .name = "session",
						 .live = &live,
						 .opts = {.tiers = FR_REPLAY_TIERS, .names = true, .history = true}};
		err = fr_top_new(&ask[i - 4], &t);
		if (err)
			break;
		fr_top_resize(t, w, h);
		if (!was)
			err = fr_top_open_panel(t, argv[2]);
		err = err ?: work(t);
		if (was)
			err = err ?: follow(t, was, i == 5 ? argv[3] + strcspn(argv[3], ";") : "");
		else
			err = err ?: press(t, argv[3]);
		err = err ?: show(t, &out);
		fr_top_free(was);
	}
	fr_top_free(t);
	return fr_out_flush(&out) || err;
}
