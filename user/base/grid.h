/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * grid: a screen as cells, for code that draws without knowing a terminal. What is put outside is cut off. Pure.
 *
 * Texts may come from anybody: control characters, and bytes that are not UTF-8, become \xNN as in base/text/escape.h. A
 * character of no width is left out, one of width two gets two cells, or none.
 */
#ifndef FR_GRID_H
#define FR_GRID_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text/out.h"

/* What a cell means; a terminal gives it a colour. */
enum fr_ink {
	FR_INK_NONE,
	FR_INK_DIM,
	FR_INK_BOLD,
	FR_INK_TITLE,
	FR_INK_RUN,
	FR_INK_WAIT,
	FR_INK_SLEEP,
	FR_INK_BLOCK,
	FR_INK_STOP,
	FR_INK_CALL,
	FR_INK_IRQ,
	FR_INK_SOFTIRQ,
	FR_INK_TRIGGER,
	FR_INK_LOST,
	FR_INK_HIT,
	FR_INK_KEY,
	FR_INK_NAME,
	FR_INK_DARK, /* on a coloured ground */
	FR_INK_TASK, /* the first of FR_INK_TASK_CNT tasks */
	FR_INK_TASK_CNT = 8,
	FR_INK_CNT = FR_INK_TASK + FR_INK_TASK_CNT,
};

#define FR_CELL_REVERSE 1u
#define FR_CELL_RIGHT	2u /* right half of the previous character: nothing of its own */

struct fr_cell {
	u32 ch;	   /* code point */
	u8 ink;	   /* enum fr_ink */
	u8 ground; /* enum fr_ink of the background */
	u8 flags;
};

struct fr_grid {
	u32 width, height;
	struct fr_cell *cell; /* width * height, row by row */
};

/* Make all cells blank. Returns 0, or -ENOMEM with *g as it was; begin with {0}. The contents are lost. */
int fr_grid_resize(struct fr_grid *g, u32 width, u32 height);
void fr_grid_free(struct fr_grid *g);
void fr_grid_clear(struct fr_grid *g);

/* The cell, NULL if outside. */
static inline struct fr_cell *fr_grid_at(const struct fr_grid *g, u32 x, u32 y)
{
	return x < g->width && y < g->height ? &g->cell[(size_t)y * g->width + x] : NULL;
}

/* Put a Unicode character of one column. Nothing outside of the grid. */
void fr_grid_char(struct fr_grid *g, u32 x, u32 y, u32 ch, enum fr_ink ink);

/* Put text from x on, up to column `end`. Returns the column after it. */
u32 fr_grid_mem(struct fr_grid *g, u32 x, u32 y, u32 end, const char *s, size_t sz, enum fr_ink ink);
u32 fr_grid_text(struct fr_grid *g, u32 x, u32 y, u32 end, const char *s, enum fr_ink ink);
u32 fr_grid_printf(struct fr_grid *g, u32 x, u32 y, u32 end, enum fr_ink ink, const char *fmt, ...)
	__attribute__((format(printf, 6, 7)));

/* Swap foreground and background of [x, end); show the same text in another ink. */
void fr_grid_reverse(struct fr_grid *g, u32 x, u32 y, u32 end);
void fr_grid_ink(struct fr_grid *g, u32 x, u32 y, u32 end, enum fr_ink ink);

/* Print as lines of text, without blanks at their ends. ascii: anything else becomes a question mark. */
void fr_grid_print(const struct fr_grid *g, struct fr_out *o, bool ascii);

#endif
