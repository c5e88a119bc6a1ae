/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/text/memfile.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Room for len bytes more, and a NUL. */
static bool memfile_has_room(struct fr_memfile *m, size_t len)
{
	size_t cap = m->cap;
	char *text;

	if (m->cap - m->len > len)
		return true;
	while (cap - m->len <= len)
		cap = cap ? 2 * cap : 1024;
	text = realloc(m->text, cap);
	if (!text)
		return false;
	m->text = text;
	m->cap = cap;
	return true;
}

/* 0: an error, which the stream keeps. */
static ssize_t memfile_add(void *cookie, const char *buf, size_t len)
{
	struct fr_memfile *m = cookie;

	if (!memfile_has_room(m, len)) {
		errno = ENOMEM;
		return 0;
	}
	memcpy(m->text + m->len, buf, len);
	m->len += len;
	return len;
}

FILE *fr_memfile_open(struct fr_memfile *m)
{
	*m = (struct fr_memfile){};
	m->f = fopencookie(m, "w", (cookie_io_functions_t){.write = memfile_add});
	return m->f;
}

char *fr_memfile_end(struct fr_memfile *m, size_t *sz)
{
	bool is_whole = !fflush(m->f) && !ferror(m->f);

	fclose(m->f);
	m->f = NULL;
	if (!is_whole || !memfile_has_room(m, 0)) {
		free(m->text);
		return NULL;
	}
	m->text[m->len] = 0;
	if (sz)
		*sz = m->len;
	return m->text;
}
