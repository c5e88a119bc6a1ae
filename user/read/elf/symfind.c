/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read/elf/symfind.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "read/elf/debuginfod.h"

#define CACHE_MAX 5u

struct fr_symfind {
	struct fr_symfind_opts opts;
	char *cache[CACHE_MAX]; /* directories with BUILDID/debuginfo */
	u32 cache_cnt;
	struct fr_debuginfod *debuginfod;
	bool debuginfod_tried;
};

/* One search. */
struct search {
	struct fr_symfind *s;
	const struct fr_symwant *want;
	struct fr_symgot *got;
	const char *root;  /* for the files being looked at */
	const char *where; /* likewise, in words */
	char id[2 * FR_BUILD_ID_MAX_SZ + 1];
	const char *base; /* last part of the path, NULL: no path */
};

void fr_build_id_text(const u8 *id, size_t sz, char to[2 * FR_BUILD_ID_MAX_SZ + 1])
{
	static const char digit[] = "0123456789abcdef";
	size_t i;

	for (i = 0; i < sz && i < FR_BUILD_ID_MAX_SZ; i++) {
		to[2 * i] = digit[id[i] >> 4];
		to[2 * i + 1] = digit[id[i] & 15];
	}
	to[2 * i] = 0;
}

/* ---- one file ---- */

static void symfind_put_place(struct fr_symplace *p, struct fr_symfile *f, const char *root, const char *path,
			      const char *where)
{
	fr_symfile_close(p->file);
	free(p->path);
	*p = (struct fr_symplace){.file = f, .root = root, .where = where};
	if (asprintf(&p->path, "%s%s", root ? root : "", path) < 0)
		p->path = NULL;
}

static u32 worth(const struct fr_symplace *p)
{
	return p->file ? 1 + fr_symfile_is_full(p->file) + 2 * fr_symfile_has_lines(p->file) : 0;
}

static bool is_enough(const struct search *x)
{
	const struct fr_symplace *p = fr_symgot_funcs(x->got);

	return p && fr_symfile_is_full(p->file) && (!x->s->opts.lines || fr_symfile_has_lines(p->file));
}

/* A debug file is enough for names, but the program itself, if present, describes its addresses better. */
static bool symfind_is_done(const struct search *x)
{
	return is_enough(x) && x->got->code.file;
}

/* Keep f if it is better than what we have; takes ownership in any case. */
static void symfind_keep(struct search *x, struct fr_symfile *f, const char *path)
{
	struct fr_symplace p = {.file = f};

	if (!fr_symfile_is_debug_only(f) && !x->got->code.file)
		symfind_put_place(&x->got->code, f, x->root, path, x->where);
	else if (fr_symfile_is_full(f) && worth(&p) > worth(&x->got->debug) && worth(&p) > worth(&x->got->code))
		symfind_put_place(&x->got->debug, f, x->root, path, x->where);
	else
		fr_symfile_close(f);
}

static bool symfind_is_wanted(const struct search *x, const struct fr_symfile *f)
{
	size_t sz;
	const u8 *id = fr_symfile_build_id(f, &sz);

	return sz == x->want->build_id_sz && (!sz || !memcmp(id, x->want->build_id, sz));
}

static void note_other(struct search *x, const char *path)
{
	if (!x->got->differs && asprintf(&x->got->differs, "%s%s", x->root ? x->root : "", path) < 0)
		x->got->differs = NULL;
}

/*
 * Not that it is not there, or none. That a directory may not be searched tells something only of where the program is known to
 * have been: elsewhere nothing need be in it.
 */
static void note_error(struct search *x, const char *path, int err)
{
	bool known = x->want->path && !strcmp(path, x->want->path);

	if (err == -ENOMEM)
		x->got->no_memory = true;
	else if (err != -ENOENT && err != -ENOTDIR && err != -EBADMSG && err != -ENAMETOOLONG && (err != -EACCES || known))
		x->got->err = x->got->err ?: err;
}

__attribute__((format(printf, 2, 3))) static void look_at(struct search *x, const char *fmt, ...)
{
	char path[PATH_MAX];
	struct fr_symfile *f;
	va_list args;
	int len, err;

	if (symfind_is_done(x))
		return;
	va_start(args, fmt);
	len = vsnprintf(path, sizeof(path), fmt, args);
	va_end(args);
	if (len < 0 || len >= (int)sizeof(path))
		return;
	err = fr_symfile_open(x->root, path, &f);
	if (err) {
		note_error(x, path, err);
		return;
	}
	if (symfind_is_wanted(x, f)) {
		symfind_keep(x, f, path);
		return;
	}
	fr_symfile_close(f);
	note_other(x, path);
}

/* ---- places ---- */

static void look_by_id(struct search *x, const char *dir)
{
	if (x->want->build_id_sz < 2)
		return;
	look_at(x, "%s/.build-id/%.2s/%s.debug", dir, x->id, x->id + 2);
	look_at(x, "%s/.build-id/%.2s/%s", dir, x->id, x->id + 2);
}

static void look_beside(struct search *x, const char *dir)
{
	x->where = "beside the snapshot";
	look_by_id(x, dir);
	if (!x->base)
		return;
	look_at(x, "%s/%s.debug", dir, x->base);
	look_at(x, "%s/%s", dir, x->base);
}

static void look_in_symfs(struct search *x, const char *symfs)
{
	x->where = "--symfs";
	x->root = symfs;
	if (x->want->path)
		look_at(x, "%s", x->want->path);
	look_by_id(x, "/usr/lib/debug");
	look_by_id(x, "");
	if (x->want->path) {
		look_at(x, "/usr/lib/debug%s.debug", x->want->path);
		look_at(x, "%s.debug", x->want->path);
		look_at(x, "/%s.debug", x->base);
		look_at(x, "/%s", x->base);
	}
	x->root = NULL;
}

static void look_in_caches(struct search *x)
{
	u32 i;

	x->where = "cache";
	for (i = 0; i < x->s->cache_cnt && x->want->build_id_sz; i++) {
		look_at(x, "%s/%s/debuginfo", x->s->cache[i], x->id);
		look_at(x, "%s/%s/executable", x->s->cache[i], x->id);
	}
}

static void look_at_link(struct search *x)
{
	const struct fr_symplace *code = &x->got->code;
	const char *link = code->file ? fr_symfile_link(code->file) : NULL;
	const char *end = link && code->path ? strrchr(code->path, '/') : NULL;
	int len = end ? (int)(end - code->path) : 0;

	if (!end)
		return;
	x->where = code->where;
	look_at(x, "%.*s/%s", len, code->path, link);
	look_at(x, "%.*s/.debug/%s", len, code->path, link);
	look_at(x, "/usr/lib/debug%.*s/%s", len, code->path, link);
}

static void look_at_original(struct search *x)
{
	x->where = "/usr/lib/debug";
	look_by_id(x, "/usr/lib/debug");
	if (!x->want->path || x->want->gone)
		return;
	look_at(x, "/usr/lib/debug%s.debug", x->want->path);
	x->where = "original path";
	look_at(x, "%s", x->want->path);
	look_at_link(x);
}

static void ask_debuginfod(struct search *x)
{
	struct fr_symfind *s = x->s;
	u32 kind;

	if (!s->opts.debuginfod || !x->want->build_id_sz || is_enough(x))
		return;
	if (!s->debuginfod_tried)
		s->debuginfod = fr_debuginfod_new();
	s->debuginfod_tried = true;
	x->where = "debuginfod";
	for (kind = 0; s->debuginfod && kind < 2 && !is_enough(x); kind++) {
		char *path = NULL;

		if (!fr_debuginfod_find(s->debuginfod, kind, x->want->build_id, x->want->build_id_sz, &path))
			look_at(x, "%s", path);
		free(path);
	}
}

static enum fr_symwhy symfind_why_not(const struct fr_symgot *got)
{
	const struct fr_symplace *p = fr_symgot_funcs(got);

	if (p && fr_symfile_is_full(p->file))
		return FR_SYM_FOUND;
	if (got->err)
		return FR_SYM_UNREAD;
	if (p)
		return FR_SYM_STRIPPED;
	return got->differs ? FR_SYM_DIFFERS : FR_SYM_NO_FILE;
}

void fr_symfind(struct fr_symfind *s, const struct fr_symwant *want, struct fr_symgot *got)
{
	struct search x = {.s = s, .want = want, .got = got};

	*got = (struct fr_symgot){0};
	fr_build_id_text(want->build_id, want->build_id_sz, x.id);
	if (want->path && want->path[0] == '/')
		x.base = strrchr(want->path, '/') + 1;
	if (!want->path)
		x.base = want->name;
	if (s->opts.beside)
		look_beside(&x, s->opts.beside);
	if (s->opts.symfs)
		look_in_symfs(&x, s->opts.symfs);
	look_in_caches(&x);
	look_at_original(&x);
	ask_debuginfod(&x);
	got->why = symfind_why_not(got);
}

const struct fr_symplace *fr_symgot_funcs(const struct fr_symgot *got)
{
	return worth(&got->debug) > worth(&got->code) ? &got->debug : got->code.file ? &got->code : NULL;
}

void fr_symgot_drop(struct fr_symgot *got)
{
	fr_symfile_close(got->code.file);
	fr_symfile_close(got->debug.file);
	free(got->code.path);
	free(got->debug.path);
	free(got->differs);
	*got = (struct fr_symgot){0};
}

/* ---- life ---- */

__attribute__((format(printf, 2, 3))) static bool add_cache(struct fr_symfind *s, const char *fmt, ...)
{
	va_list args;
	bool ok;

	va_start(args, fmt);
	ok = vasprintf(&s->cache[s->cache_cnt], fmt, args) >= 0;
	va_end(args);
	s->cache_cnt += ok;
	return ok;
}

static const char *env(const char *name)
{
	const char *value = getenv(name);

	return value && value[0] == '/' ? value : NULL;
}

/* Our own cache, for people who keep symbols of what they shipped, and debuginfod's. */
static bool add_caches(struct fr_symfind *s)
{
	const char *home = env("HOME"), *xdg = env("XDG_CACHE_HOME"), *debuginfod = env("DEBUGINFOD_CACHE_PATH");
	bool ok = true;

	if (xdg)
		ok = add_cache(s, "%s/flightrec", xdg);
	else if (home)
		ok = add_cache(s, "%s/.cache/flightrec", home);
	if (debuginfod)
		return ok && add_cache(s, "%s", debuginfod);
	if (xdg)
		ok = ok && add_cache(s, "%s/debuginfod_client", xdg);
	if (home)
		ok = ok && add_cache(s, "%s/.cache/debuginfod_client", home) &&
		     add_cache(s, "%s/.debuginfod_client_cache", home);
	return ok;
}

int fr_symfind_new(const struct fr_symfind_opts *opts, struct fr_symfind **out)
{
	struct fr_symfind *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->opts = *opts;
	if (!add_caches(s)) {
		fr_symfind_free(s);
		return -ENOMEM;
	}
	*out = s;
	return 0;
}

void fr_symfind_free(struct fr_symfind *s)
{
	u32 i;

	if (!s)
		return;
	for (i = 0; i < s->cache_cnt; i++)
		free(s->cache[i]);
	fr_debuginfod_free(s->debuginfod);
	free(s);
}
