/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reading a snapshot: opening and closing it, and findings of damage. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/set/vec.h"
#include "read/snapfile/snapfile_int.h"
#include "read/snapfile/snapfile_members.h"

#define DAMAGE_MAX 1000u /* findings reported */

/* ---- findings ---- */

void fr_snap_note(struct fr_snap *s, const char *fmt, ...)
{
	char *text = NULL, **grown;
	va_list ap;
	int len;

	if (s->damage_cnt == DAMAGE_MAX)
		return;
	va_start(ap, fmt);
	len = vasprintf(&text, fmt, ap);
	va_end(ap);
	grown = fr_vec_more(&s->damage, s->damage_cnt);
	if (grown && len >= 0) {
		*grown = text;
		s->damage_cnt++;
	} else if (len >= 0) {
		free(text);
	}
}

size_t fr_snap_damage(const struct fr_snap *s)
{
	return s->damage_cnt;
}

const char *fr_snap_damage_text(const struct fr_snap *s, size_t i)
{
	return i < s->damage_cnt ? s->damage[i] : "";
}

/* ---- opening ---- */

/*
 * Choose the schema to read events by: the file's own, or, if that is lost, this build's if its hash is the same. Events must
 * not be read by any other.
 */
static int snapfile_choose_schema(struct fr_snap *s)
{
	static const char none[] = "flightrec-schema 1\n";
	size_t sz;
	char *text;

	s->use = s->schema;
	if (s->schema)
		return 0;
	text = fr_schema_write(fr_schema_builtin(), &sz);
	if (!text)
		return -ENOMEM;
	if (s->schema_hash && s->schema_hash == fr_snap_hash(text, sz))
		s->use = fr_schema_builtin();
	free(text);
	if (s->use) {
		fr_snap_note(s, "schema: lost, but it was that of this version");
		return 0;
	}
	fr_snap_note(s, "schema: lost, so no event can be read");
	if (fr_schema_parse(none, sizeof(none) - 1, &s->schema))
		return -ENOMEM;
	s->use = s->schema;
	return 0;
}

static int snapfile_open_file(struct fr_snap *s, const char *path, u64 begin, u64 end)
{
	struct stat st;

	s->fd = fr_snap_open_fd(path);
	if (s->fd < 0)
		return s->fd;
	if (fstat(s->fd, &st))
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode))
		return -EBADMSG;
	s->base = begin < (u64)st.st_size ? begin : (u64)st.st_size;
	s->size = (end < (u64)st.st_size ? end : (u64)st.st_size) - s->base;
	return fr_unpack_new(&s->own.unpack);
}

static bool found_nothing(const struct fr_snap *s)
{
	return !s->off_cnt && !s->has_trailer;
}

int fr_snap_open_member(const char *path, const struct fr_members *m, size_t i, struct fr_snap **out)
{
	struct fr_snap *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->fd = -1;
	err = snapfile_open_file(s, path, m->begin[i], m->begin[i + 1]);
	if (!err)
		err = fr_snap_read_parts(s);
	if (!err && found_nothing(s))
		err = -EBADMSG;
	if (!err)
		err = fr_snap_sort_context(s) ?: fr_snap_sort_rings(s);
	if (!err)
		err = snapfile_choose_schema(s);
	fr_snap_sort_texts(s);
	if (!err)
		err = fr_snap_split_facts(s);
	if (!err)
		fr_snap_end_holes(s);
	if (!err)
		err = fr_snap_guess_rings(s);
	if (err)
		fr_snap_close(s);
	else
		*out = s;
	return err;
}

int fr_snap_open(const char *path, struct fr_snap **out)
{
	struct fr_members m;
	int err = fr_members_find(path, &m);

	err = err ? err : fr_snap_open_member(path, &m, 0, out);
	fr_members_free(&m);
	return err;
}

void fr_snap_close(struct fr_snap *s)
{
	size_t i;

	if (!s)
		return;
	if (s->fd >= 0)
		close(s->fd);
	fr_snap_free_meta(s);
	for (i = 0; i < s->damage_cnt; i++)
		free(s->damage[i]);
	free(s->damage);
	fr_snap_decoder_clear(&s->own);
	free(s->chunk);
	free(s->by_ring);
	free(s->place);
	free(s->off);
	free(s->lost);
	free(s);
}

u64 fr_snap_size(const struct fr_snap *s)
{
	return s->size;
}
