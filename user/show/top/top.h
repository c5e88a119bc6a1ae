/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * top: a snapshot on a text screen: timeline of CPUs and tasks, events, tables of the visible part, search (`flightrec top`).
 * This module decides what is shown and draws it into a grid; sys/screen.h handles terminals.
 *
 * fr_top_work() does everything that takes long, a piece at a time, so that keys are answered meanwhile.
 */
#ifndef FR_TOP_H
#define FR_TOP_H

#include "base/grid.h"
#include "base/key.h"
#include "read/replay/replay.h"
#include "read/symbols/symbols.h"

struct fr_top; /* opaque */

/*
 * A session that is looked at again and again. Whoever does that makes a fr_top of each snapshot, and hands over from one to
 * the next (fr_top_follow()).
 */
struct fr_top_live {
	bool paused;	     /* by a key */
	const char *problem; /* why there is no newer snapshot, NULL: nothing is wrong */
};

struct fr_top_ask {
	const char *path;
	const char *name;	  /* for titles and messages; NULL: the path */
	struct fr_top_live *live; /* NULL: a file */
	struct fr_replay_opts opts;
	const struct fr_symbols_opts *symbols; /* NULL: show raw addresses */
	bool utf8;			       /* can the screen show more than ASCII? */
	bool color;
};

/* 0 and *out; or, with a message, as fr_replay_open(). */
int fr_top_new(const struct fr_top_ask *ask, struct fr_top **out);
void fr_top_free(struct fr_top *t); /* NULL is fine */

/*
 * Live: t is of a later snapshot than was, of the same session, and loaded: show in it what was showed, with the same panel,
 * order, selection, and window as long before the end. Once more, if was has changed: what it did the first time is undone. was
 * may have failed.
 */
void fr_top_follow(struct fr_top *t, const struct fr_top *was);

/* Live: is it loaded, so that it can follow? */
bool fr_top_is_loaded(const struct fr_top *t);

/* Live: would a later snapshot take away what the user is at: a pause, something typed, a search, a mark, the keys? */
bool fr_top_holds(const struct fr_top *t);

/* The terminal has this many columns and lines now. */
void fr_top_resize(struct fr_top *t, u32 width, u32 height);

/* A key was pressed: a character or an enum fr_key. False: the user quits. */
bool fr_top_key(struct fr_top *t, int key);

/* The mouse at a cell: FR_KEY_MOUSE, _WHEEL_UP, _WHEEL_DOWN. */
void fr_top_point(struct fr_top *t, u32 x, u32 y, int key);

/* Continue with long work. 1: there is more to do; 0; -errno: the events cannot be read. */
int fr_top_work(struct fr_top *t);

/* fr_top_work() has more to do when this descriptor is readable; -1: there is none. */
int fr_top_wait_fd(const struct fr_top *t);

/* g gets the size given to fr_top_resize(). 0 or -ENOMEM. */
int fr_top_draw(struct fr_top *t, struct fr_grid *g);

/* Are colors for a light background wanted? */
bool fr_top_is_light(const struct fr_top *t);

/* Open a panel by its name ("tasks"). -ENOENT: no such panel; names: "cause, details, ...". */
int fr_top_open_panel(struct fr_top *t, const char *name);
const char *fr_top_panel_names(void);

/* Was there any damage? It has been reported on standard error. */
bool fr_top_say_damage(const struct fr_top *t);

/* Say on standard error that the cause was not found, if it was looked for. Returns whether it says so. */
bool fr_top_say_no_cause(const struct fr_top *t);

/* Say on standard error what was left out for lack of memory, if anything was. */
void fr_top_say_left_out(const struct fr_top *t);

#endif
