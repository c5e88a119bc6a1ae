/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/text/out.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define COLUMNS_MOST 65535 /* of a terminal */

static enum fr_color color_rule;

void fr_out_set_color(enum fr_color color)
{
	color_rule = color;
}

bool fr_no_color(void)
{
	const char *no = getenv("NO_COLOR");

	return color_rule == FR_COLOR_AUTO ? no && *no : color_rule == FR_COLOR_NEVER;
}

static bool wants_color(int fd)
{
	const char *term = getenv("TERM");

	if (color_rule != FR_COLOR_AUTO)
		return color_rule == FR_COLOR_ALWAYS;
	return isatty(fd) && !fr_no_color() && term && strcmp(term, "dumb");
}

void fr_out_keep_color(void)
{
	color_rule = wants_color(STDOUT_FILENO) ? FR_COLOR_ALWAYS : FR_COLOR_NEVER;
}

void fr_out_init_fd(struct fr_out *o, int fd, bool may_color)
{
	o->fd = fd;
	o->error = 0;
	o->len = 0;
	o->color = may_color && wants_color(fd);
	o->is_mem = false;
}

void fr_out_init(struct fr_out *o, int fd)
{
	fr_out_init_fd(o, fd, true);
	signal(SIGPIPE, SIG_IGN);
}

void fr_out_init_mem(struct fr_out *o)
{
	o->fd = -1;
	o->error = 0;
	o->len = 0;
	o->color = false;
	o->is_mem = true;
	o->mem = NULL;
	o->mem_sz = 0;
}

u32 fr_out_columns(const struct fr_out *o)
{
	const char *text = getenv("COLUMNS");
	long v = text ? strtol(text, NULL, 10) : 0;
	struct winsize size = {0};

	if (v <= 0 && !ioctl(o->fd, TIOCGWINSZ, &size))
		v = size.ws_col;
	return v <= 0 ? 0 : v > COLUMNS_MOST ? COLUMNS_MOST : (u32)v;
}

static void out_keep(struct fr_out *o, const char *p, size_t sz)
{
	char *mem = o->error ? NULL : realloc(o->mem, o->mem_sz + sz + 1);

	if (!mem) {
		o->error = o->error ?: -ENOMEM;
		return;
	}
	memcpy(mem + o->mem_sz, p, sz);
	o->mem = mem;
	o->mem_sz += sz;
	mem[o->mem_sz] = 0;
}

char *fr_out_take_mem(struct fr_out *o, size_t *sz)
{
	char *mem;

	fr_out_flush(o);
	out_keep(o, "", 0);
	mem = o->mem;
	if (o->error) {
		free(mem);
		mem = NULL;
	}
	if (sz)
		*sz = o->mem_sz;
	o->mem = NULL;
	return mem;
}

static void write_all(struct fr_out *o, const char *p, size_t sz)
{
	if (o->is_mem) {
		out_keep(o, p, sz);
		return;
	}
	while (sz && !o->error) {
		ssize_t n = write(o->fd, p, sz);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			o->error = -errno;
			return;
		}
		p += n;
		sz -= n;
	}
}

int fr_out_flush(struct fr_out *o)
{
	write_all(o, o->buf, o->len);
	o->len = 0;
	return o->error;
}

static void put_big(struct fr_out *o, const void *p, size_t sz)
{
	fr_out_flush(o);
	if (sz > sizeof(o->buf)) {
		write_all(o, p, sz);
		return;
	}
	memcpy(o->buf, p, sz);
	o->len = sz;
}

void fr_out_any(struct fr_out *o, const void *p, size_t sz)
{
	if (sz > sizeof(o->buf) - o->len) {
		put_big(o, p, sz);
		return;
	}
	if (sz <= FR_COPY_MOST_SZ)
		fr_copy_short(o->buf + o->len, p, sz);
	else
		memcpy(o->buf + o->len, p, sz);
	o->len += sz;
}

void fr_out_u64(struct fr_out *o, u64 v)
{
	o->len = fr_digits_dec(fr_out_room(o), v) - o->buf;
}

void fr_out_s64(struct fr_out *o, s64 v)
{
	if (v < 0)
		fr_out_char(o, '-');
	fr_out_u64(o, v < 0 ? 0 - (u64)v : (u64)v);
}

void fr_out_hex(struct fr_out *o, u64 v)
{
	o->len = fr_digits_hex(fr_out_room(o), v) - o->buf;
}

void fr_out_printf(struct fr_out *o, const char *fmt, ...)
{
	char text[1024];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (n > 0)
		fr_out_mem(o, text, (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1);
}

const char *fr_paint_code(enum fr_paint p)
{
	static const char *const code[FR_PAINT_CNT] = {
		[FR_PAINT_NONE] = "\033[0m",  [FR_PAINT_DIM] = "\033[2m",      [FR_PAINT_BOLD] = "\033[1m",
		[FR_PAINT_RED] = "\033[31m",  [FR_PAINT_GREEN] = "\033[32m",   [FR_PAINT_YELLOW] = "\033[33m",
		[FR_PAINT_BLUE] = "\033[34m", [FR_PAINT_MAGENTA] = "\033[35m", [FR_PAINT_CYAN] = "\033[36m",
	};

	return code[p];
}
