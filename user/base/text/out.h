/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * out: buffered output to a file descriptor, quick enough for a million lines a second.
 *
 * The first failed write is remembered and everything after it is discarded, so that printers need no checks of their
 * own; a caller that loops checks fr_out_error() now and then. A closed pipe is such an error, -EPIPE, and not worth a message.
 */
#ifndef FR_OUT_H
#define FR_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/text/digits.h"
#include "types.h"

#define FR_OUT_SZ   (64u * 1024)
#define FR_OUT_ROOM 160u /* what fr_out_room() promises: the longest name with a number and its colours */

struct fr_out {
	int fd;
	int error; /* 0, or -errno of the first write that failed */
	bool color;
	bool is_mem; /* to mem, not to fd */
	char *mem;
	size_t mem_sz;
	size_t len;
	char buf[FR_OUT_SZ];
};

/* Why a text is shown in a colour. */
enum fr_paint {
	FR_PAINT_NONE,
	FR_PAINT_DIM,
	FR_PAINT_BOLD,
	FR_PAINT_RED,
	FR_PAINT_GREEN,
	FR_PAINT_YELLOW,
	FR_PAINT_BLUE,
	FR_PAINT_MAGENTA,
	FR_PAINT_CYAN,
	FR_PAINT_CNT
};

/* The rule for all output of this process. AUTO: on a terminal that is not "dumb", and if NO_COLOR is not set, or empty. */
enum fr_color { FR_COLOR_AUTO, FR_COLOR_ALWAYS, FR_COLOR_NEVER };
void fr_out_set_color(enum fr_color color);

/* Standard output will be a pipe to a terminal: from now on the rule is what it says of standard output now. */
void fr_out_keep_color(void);

/* Does the rule or the environment forbid colours? */
bool fr_no_color(void);

/*
 * Write to fd from now on; ignores SIGPIPE for the process. Colour by the rule above.
 */
void fr_out_init(struct fr_out *o, int fd);

/* The same, but leaves SIGPIPE to the process, and colour only if may_color. */
void fr_out_init_fd(struct fr_out *o, int fd, bool may_color);

/* Keep everything in memory, without colour. */
void fr_out_init_mem(struct fr_out *o);

/* What was kept: malloc'ed and NUL-terminated, *sz bytes (or NULL) without the NUL; NULL: no memory. Ends the output. */
char *fr_out_take_mem(struct fr_out *o, size_t *sz);

/* Columns of the page: COLUMNS, or the terminal's; 0: not a terminal, so there is no limit. */
u32 fr_out_columns(const struct fr_out *o);

/* Write out the buffer. Returns 0 or -errno, as fr_out_error(). */
int fr_out_flush(struct fr_out *o);

void fr_out_any(struct fr_out *o, const void *p, size_t sz); /* fr_out_mem() for what is long, or of unknown length */
void fr_out_u64(struct fr_out *o, u64 v);
void fr_out_s64(struct fr_out *o, s64 v);
void fr_out_hex(struct fr_out *o, u64 v); /* 0x1f */
void fr_out_printf(struct fr_out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

const char *fr_paint_code(enum fr_paint p); /* the terminal's code: at most 5 bytes */

static inline int fr_out_error(const struct fr_out *o)
{
	return o->error;
}

/* Something to be printed is missing, mostly -ENOMEM: from now on as if a write had failed with that. */
static inline void fr_out_fail(struct fr_out *o, int err)
{
	o->error = o->error ? o->error : err;
}

/* At least FR_OUT_ROOM bytes of buffer, for the caller to write to and then add to len. */
static inline char *fr_out_room(struct fr_out *o)
{
	if (sizeof(o->buf) - o->len < FR_OUT_ROOM)
		fr_out_flush(o);
	return o->buf + o->len;
}

static inline void fr_out_mem(struct fr_out *o, const void *p, size_t sz)
{
	if (!__builtin_constant_p(sz) || sz > FR_COPY_MOST_SZ || o->len > sizeof(o->buf) - sz) {
		fr_out_any(o, p, sz);
		return;
	}
	memcpy(o->buf + o->len, p, sz);
	o->len += sz;
}

static inline void fr_out_char(struct fr_out *o, char c)
{
	*fr_out_room(o) = c;
	o->len++;
}

static inline void fr_out_str(struct fr_out *o, const char *s)
{
	fr_out_mem(o, s, strlen(s));
}

/* Colour on, and off by FR_PAINT_NONE; nothing if there is no colour. */
static inline void fr_out_paint(struct fr_out *o, enum fr_paint p)
{
	if (o->color)
		fr_out_str(o, fr_paint_code(p));
}

/* Spaces up to width columns, of which cnt are used. */
static inline void fr_out_pad(struct fr_out *o, size_t cnt, size_t width)
{
	const size_t most = 32;

	while (cnt < width) {
		size_t n = width - cnt < most ? width - cnt : most;

		memset(fr_out_room(o), ' ', most);
		o->len += n;
		cnt += n;
	}
}

#endif
