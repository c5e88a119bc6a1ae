/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/text/memfile.h"

#include <errno.h>
#include <stdbool.h>

/* 0: an error, which the stream keeps. */
static ssize_t memfile_add(void *cookie, const char *buf, size_t len)
{
	struct fr_memfile *m = cookie;

	if (!fr_vec_add(&m->text, buf, len))
		return len;
	errno = ENOMEM;
	return 0;
}

FILE *fr_memfile_open(struct fr_memfile *m)
{
	*m = (struct fr_memfile){.text = {.item_sz = 1}};
	m->f = fopencookie(m, "w", (cookie_io_functions_t){.write = memfile_add});
	return m->f;
}

char *fr_memfile_end(struct fr_memfile *m, size_t *sz)
{
	bool is_whole = !fflush(m->f) && !ferror(m->f) && !fr_vec_add(&m->text, "", 1);

	fclose(m->f);
	m->f = NULL;
	if (!is_whole)
		fr_vec_free(&m->text);
	else if (sz)
		*sz = m->text.cnt - 1;
	return m->text.at;
}
