/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * screen: a terminal that a grid is shown on, and keys come from. ncurses is behind it, and nowhere else.
 *
 * SIGINT, SIGTERM, SIGHUP and SIGQUIT come as keys, so that the terminal is always put back; fr_screen_close() gives the
 * signals back to whoever had them.
 */
#ifndef FR_SCREEN_H
#define FR_SCREEN_H

#include "pure/grid.h"
#include "pure/key.h"

struct fr_screen; /* opaque; one at a time */

/*
 * Take over the terminal on standard input and output. 0 and *out; or, nothing being changed: -ENOTTY they are none, -ENOENT
 * TERM is not set or no terminal that is known, -ENODEV it cannot move its cursor, -ENOMEM.
 */
int fr_screen_open(bool mouse, struct fr_screen **out);

/* Put it back as it was. Returns the signal that asked for the end, 0 none; NULL is fine. */
int fr_screen_close(struct fr_screen *s);

void fr_screen_size(const struct fr_screen *s, u32 *width, u32 *height);
bool fr_screen_has_color(const struct fr_screen *s);
bool fr_screen_is_light(const struct fr_screen *s); /* as far as it says */

/* Show it; light: colours for a light ground. */
void fr_screen_show(struct fr_screen *s, const struct fr_grid *g, bool light);

/* The next key: a character or enum fr_key's; FR_KEY_NONE: none came for timeout_ms (-1: wait). Where the mouse was:
 * fr_screen_point(). */
int fr_screen_key(struct fr_screen *s, int timeout_ms);
void fr_screen_point(const struct fr_screen *s, u32 *x, u32 *y);

#endif
