/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * top: a snapshot on a screen of text: timeline of CPUs and tasks, events, tables of what is shown, search (`flightrec top`).
 * What is on the screen is decided here, and drawn into a grid; terminals are io/screen.h's.
 *
 * All that takes long is done a piece at a time by fr_top_work(), so that keys are answered meanwhile.
 */
#ifndef FR_TOP_H
#define FR_TOP_H

#include "flow/replay/replay.h"
#include "flow/symbols/symbols.h"
#include "pure/grid.h"
#include "pure/key.h"

struct fr_top; /* opaque */

struct fr_top_ask {
	const char *path;
	struct fr_replay_opts opts;
	const struct fr_symbols_opts *symbols; /* NULL: addresses stay addresses */
	bool utf8;			       /* can the screen show more than ASCII? */
	bool color;
};

/* 0 and *out; or, said with its cause, as fr_replay_open(). */
int fr_top_new(const struct fr_top_ask *ask, struct fr_top **out);
void fr_top_free(struct fr_top *t); /* NULL is fine */

void fr_top_resize(struct fr_top *t, u32 width, u32 height);

/* A key was pressed: a character or enum fr_key. False: that was the end. */
bool fr_top_key(struct fr_top *t, int key);

/* The mouse at a cell: FR_KEY_MOUSE, _WHEEL_UP, _WHEEL_DOWN. */
void fr_top_point(struct fr_top *t, u32 x, u32 y, int key);

/* Go on with what takes long. 1: there is more to do; 0; -errno: the events cannot be read. */
int fr_top_work(struct fr_top *t);

/* g gets the size that fr_top_resize() told. 0 or -ENOMEM. */
int fr_top_draw(struct fr_top *t, struct fr_grid *g);

/* Are colours for a light ground wanted? */
bool fr_top_is_light(const struct fr_top *t);

/* Open a panel by its name ("tasks"). -ENOENT: there is none; names: "details, events, ...". */
int fr_top_open_panel(struct fr_top *t, const char *name);
const char *fr_top_panel_names(void);

/* Was anything damaged? Said on standard error. */
bool fr_top_say_damage(const struct fr_top *t);

#endif
