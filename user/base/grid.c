/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/grid.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text/utf8.h"

#define PRINTF_SZ 1024

static const struct fr_cell blank = {.ch = ' '};

int fr_grid_resize(struct fr_grid *g, u32 width, u32 height)
{
	struct fr_cell *cell = calloc((size_t)width * height + 1, sizeof(*cell));

	if (!cell)
		return -ENOMEM;
	free(g->cell);
	*g = (struct fr_grid){.width = width, .height = height, .cell = cell};
	fr_grid_clear(g);
	return 0;
}

void fr_grid_free(struct fr_grid *g)
{
	free(g->cell);
	*g = (struct fr_grid){0};
}

void fr_grid_clear(struct fr_grid *g)
{
	size_t i, cnt = (size_t)g->width * g->height;

	for (i = 0; i < cnt; i++)
		g->cell[i] = blank;
}

void fr_grid_char(struct fr_grid *g, u32 x, u32 y, u32 ch, enum fr_ink ink)
{
	struct fr_cell *c = fr_grid_at(g, x, y);

	if (c)
		*c = (struct fr_cell){.ch = ch, .ink = ink};
}

/* ---- text ---- */

static u32 put_escaped(struct fr_grid *g, u32 x, u32 y, u32 end, const char *s, size_t len, enum fr_ink ink)
{
	const char *hex = "0123456789abcdef";
	size_t i;
	u32 k;

	for (i = 0; i < len; i++) {
		const char text[4] = {'\\', 'x', hex[(u8)s[i] >> 4], hex[(u8)s[i] & 15]};

		for (k = 0; k < 4 && x < end; k++)
			fr_grid_char(g, x++, y, text[k], ink);
	}
	return x;
}

static u32 put_char(struct fr_grid *g, u32 x, u32 y, u32 end, u32 ch, enum fr_ink ink)
{
	u32 width = fr_utf8_cols(ch);

	if (!width || x + width > end)
		return width ? end : x;
	fr_grid_char(g, x, y, ch, ink);
	if (width == 2) {
		fr_grid_char(g, x + 1, y, ' ', ink);
		if (fr_grid_at(g, x + 1, y))
			fr_grid_at(g, x + 1, y)->flags = FR_CELL_RIGHT;
		else
			fr_grid_char(g, x, y, ' ', ink);
	}
	return x + width;
}

u32 fr_grid_mem(struct fr_grid *g, u32 x, u32 y, u32 end, const char *s, size_t sz, enum fr_ink ink)
{
	size_t i = 0;

	while (i < sz && x < end) {
		size_t len = fr_utf8_len(s + i, sz - i), take = len ? len : 1;
		u32 ch = len ? fr_utf8_char(s + i, len) : 0;

		if (!len || fr_utf8_is_sly(ch))
			x = put_escaped(g, x, y, end, s + i, take, ink);
		else
			x = put_char(g, x, y, end, ch, ink);
		i += take;
	}
	return x;
}

u32 fr_grid_text(struct fr_grid *g, u32 x, u32 y, u32 end, const char *s, enum fr_ink ink)
{
	return fr_grid_mem(g, x, y, end, s, strlen(s), ink);
}

u32 fr_grid_printf(struct fr_grid *g, u32 x, u32 y, u32 end, enum fr_ink ink, const char *fmt, ...)
{
	char text[PRINTF_SZ];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return fr_grid_text(g, x, y, end, text, ink);
}

void fr_grid_reverse(struct fr_grid *g, u32 x, u32 y, u32 end)
{
	for (; x < end && fr_grid_at(g, x, y); x++)
		fr_grid_at(g, x, y)->flags ^= FR_CELL_REVERSE;
}

void fr_grid_ink(struct fr_grid *g, u32 x, u32 y, u32 end, enum fr_ink ink)
{
	for (; x < end && fr_grid_at(g, x, y); x++)
		fr_grid_at(g, x, y)->ink = ink;
}

/* ---- as text ---- */

static void grid_put_utf8(struct fr_out *o, u32 ch)
{
	if (ch < 0x80) {
		fr_out_char(o, ch);
	} else if (ch < 0x800) {
		fr_out_char(o, 0xc0 | ch >> 6);
		fr_out_char(o, 0x80 | (ch & 0x3f));
	} else {
		if (ch >= 0x10000)
			fr_out_char(o, 0xf0 | ch >> 18);
		fr_out_char(o, ch >= 0x10000 ? 0x80 | (ch >> 12 & 0x3f) : 0xe0 | ch >> 12);
		fr_out_char(o, 0x80 | (ch >> 6 & 0x3f));
		fr_out_char(o, 0x80 | (ch & 0x3f));
	}
}

static u32 line_end(const struct fr_grid *g, u32 y)
{
	u32 end = g->width;

	while (end && fr_grid_at(g, end - 1, y)->ch == ' ' && !(fr_grid_at(g, end - 1, y)->flags & FR_CELL_RIGHT))
		end--;
	return end;
}

void fr_grid_print(const struct fr_grid *g, struct fr_out *o, bool ascii)
{
	u32 x, y, end;

	for (y = 0; y < g->height; y++) {
		end = line_end(g, y);
		for (x = 0; x < end; x++) {
			const struct fr_cell *c = fr_grid_at(g, x, y);

			if (ascii || !(c->flags & FR_CELL_RIGHT))
				grid_put_utf8(o, ascii && c->ch >= 0x80 ? '?' : c->ch);
		}
		fr_out_char(o, '\n');
	}
}
