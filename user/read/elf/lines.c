/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read/elf/lines.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/text/digits.h"

void fr_lines_init(struct fr_lines *l, int fd, u64 max_sz)
{
	l->fd = fd;
	l->left = max_sz;
	l->err = 0;
	l->at = l->end = 0;
}

/* Read more behind what is there. False: at the end, or no room. */
static bool lines_fill(struct fr_lines *l)
{
	size_t room;
	ssize_t n;

	memmove(l->buf, l->buf + l->at, l->end - l->at);
	l->end -= l->at;
	l->at = 0;
	room = FR_LINES_SZ - l->end;
	if (room > l->left)
		room = l->left;
	if (!room)
		return false;
	do
		n = read(l->fd, l->buf + l->end, room);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		l->err = -errno;
	if (n <= 0) {
		l->left = 0;
		return false;
	}
	l->left -= n;
	l->end += n;
	return true;
}

char *fr_lines_next(struct fr_lines *l)
{
	char *line, *nl;

	do
		nl = memchr(l->buf + l->at, '\n', l->end - l->at);
	while (!nl && lines_fill(l));
	if (l->at == l->end)
		return NULL;
	line = l->buf + l->at;
	if (!nl)
		nl = l->buf + l->end;
	*nl = 0;
	l->at = nl - l->buf + 1;
	if (l->at > l->end)
		l->at = l->end;
	return line;
}

bool fr_hex_u64(const char **at, u64 *v)
{
	const char *p = *at;
	u64 n = 0;
	int d;

	if (p[0] == '0' && (p[1] | 0x20) == 'x')
		p += 2;
	if (fr_hex_digit(*p) < 0)
		return false;
	for (; (d = fr_hex_digit(*p)) >= 0; p++) {
		if (n >> 60)
			return false;
		n = n << 4 | d;
	}
	*at = p;
	*v = n;
	return true;
}
