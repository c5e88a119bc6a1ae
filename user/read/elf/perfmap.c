/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read/elf/perfmap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "read/elf/lines.h"

#define READ_MAX_SZ (32u << 20) /* of a longer map, read the end: the latest code */
#define NAME_MAX_SZ 1024u
#define TAKE_MAX    (1u << 20) /* names taken; bounds lines that all name the same addresses */

static size_t perfmap_first_from(const struct fr_jit_sym *s, size_t cnt, u64 addr)
{
	size_t lo = 0, hi = cnt;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s[mid].addr < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static int perfmap_take(struct fr_jit_sym *s, u64 begin, u64 sz, const char *name)
{
	char *copy = strndup(name, NAME_MAX_SZ);

	if (!copy)
		return -ENOMEM;
	free(s->name);
	*s = (struct fr_jit_sym){s->addr, begin, sz, copy};
	return 0;
}

static int perfmap_take_line(const char *at, struct fr_jit_sym *s, size_t cnt, u32 *taken)
{
	u64 begin, sz;
	size_t i;
	int err = 0;

	if (!fr_hex_u64(&at, &begin) || *at++ != ' ' || !fr_hex_u64(&at, &sz) || *at++ != ' ' || !*at)
		return 0;
	if (!sz || sz > ~begin)
		return 0;
	for (i = perfmap_first_from(s, cnt, begin); i < cnt && s[i].addr < begin + sz && !err; i++) {
		if (++*taken > TAKE_MAX)
			return -EFBIG;
		err = perfmap_take(&s[i], begin, sz, at);
	}
	return err;
}

int fr_perfmap_find(int fd, struct fr_jit_sym *s, size_t cnt)
{
	struct fr_lines *l = malloc(sizeof(*l));
	off_t sz = lseek(fd, 0, SEEK_END);
	u32 taken = 0;
	const char *text;
	int err = 0;

	if (!l)
		return -ENOMEM;
	lseek(fd, sz > READ_MAX_SZ ? sz - READ_MAX_SZ : 0, SEEK_SET);
	fr_lines_init(l, fd, READ_MAX_SZ);
	if (sz > READ_MAX_SZ)
		fr_lines_next(l); /* the rest of a line */
	while (!err && (text = fr_lines_next(l)))
		err = perfmap_take_line(text, s, cnt, &taken);
	err = err ?: l->err;
	free(l);
	return err;
}

void fr_perfmap_free(struct fr_jit_sym *s, size_t cnt)
{
	size_t i;

	for (i = 0; s && i < cnt; i++)
		free(s[i].name);
}
