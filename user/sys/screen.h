/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * screen: a terminal that shows a grid and delivers keys. The only user of ncurses.
 *
 * SIGINT, SIGTERM, SIGHUP and SIGQUIT arrive as keys, so that the terminal is always restored; fr_screen_close() restores the
 * previous signal handling.
 */
#ifndef FR_SCREEN_H
#define FR_SCREEN_H

#include "base/grid.h"
#include "base/key.h"

struct fr_screen; /* opaque; one at a time */

/*
 * Take over the terminal on standard input and output. 0 and *out; or, with nothing changed: -ENOTTY: they are not a terminal;
 * -ENOENT: TERM is unset or unknown; -ENODEV: it cannot move its cursor; -ENOMEM.
 */
int fr_screen_open(bool mouse, struct fr_screen **out);

/* Restore it. Returns the signal that asked us to end, 0: none; NULL is fine. */
int fr_screen_close(struct fr_screen *s);

void fr_screen_size(const struct fr_screen *s, u32 *width, u32 *height);
bool fr_screen_has_color(const struct fr_screen *s);
bool fr_screen_is_light(const struct fr_screen *s); /* as far as the terminal says */

/* Show it; light: colors for a light background. */
void fr_screen_show(struct fr_screen *s, const struct fr_grid *g, bool light);

/*
 * The next key: a character or an enum fr_key; FR_KEY_NONE: none within timeout_ms (-1: wait), or until the descriptor also is
 * readable (-1: none). fr_screen_point() has the mouse position.
 */
int fr_screen_key(struct fr_screen *s, int timeout_ms, int also);
void fr_screen_point(const struct fr_screen *s, u32 *x, u32 *y);

#endif
