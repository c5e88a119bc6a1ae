/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/events_up.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/schema/tpname.h"
#include "base/tp/upformat.h"
#include "read/elf/upfile.h"

struct functions {
	char **name;
	size_t cnt, room;
	const char *pattern;
};

static int add_function(void *arg, const char *symbol)
{
	struct functions *f = arg;
	char **more;

	if (fnmatch(f->pattern, symbol, 0))
		return 0;
	if (f->cnt == f->room) {
		more = realloc(f->name, (f->room * 2 + 64) * sizeof(*more));
		if (!more)
			return -ENOMEM;
		f->name = more;
		f->room = f->room * 2 + 64;
	}
	f->name[f->cnt] = strdup(symbol);
	return f->name[f->cnt++] ? 0 : -ENOMEM;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void up_put(struct fr_out *o, struct fr_jsonw *w, const char *kind, const char *path, const char *symbol)
{
	char *full;

	if (asprintf(&full, "%s:%s:%s", kind, path, symbol) < 0)
		return;
	if (w) {
		fr_jsonw_open(w, NULL, '{');
		fr_jsonw_text(w, "name", full);
		fr_jsonw_text(w, "group", fr_group_name(FR_GROUP_TP));
		fr_jsonw_text(w, "tier", fr_tier_name(FR_TIER_MAIN));
		fr_jsonw_close(w, '}');
	} else {
		fr_out_str(o, full);
		fr_out_char(o, '\n');
	}
	free(full);
}

static int up_list(struct fr_out *o, struct fr_jsonw *w, const char *kind, const char *path, const char *pattern)
{
	struct functions f = {.pattern = pattern};
	char why[FR_UPFILE_WHY_SZ];
	struct fr_upfile *file;
	int err = fr_upfile_open(path, &file, why);
	size_t i;

	if (err) {
		fr_err("%s", why);
		return err == -EIO || err == -ENOMEM ? FR_EXIT_FAIL : FR_EXIT_USAGE;
	}
	if (strcmp(kind, fr_up_kind_name(FR_UP_uretprobe)) != 0 || !fr_upfile_is_go(file))
		err = fr_upfile_each(file, add_function, &f);
	fr_upfile_close(file);
	if (f.cnt)
		qsort(f.name, f.cnt, sizeof(*f.name), by_name);
	for (i = 0; i < f.cnt && !err; i++)
		if (!i || strcmp(f.name[i], f.name[i - 1]) != 0)
			up_put(o, w, kind, path, f.name[i]);
	if (err)
		fr_err_errno(err, "cannot list the functions of %s", path);
	else if (!f.cnt)
		fr_err("%s has no function '%s' of which %s: can be: `flightrec events 'uprobe:%s:*'` lists all", path, pattern,
		       kind, path);
	for (i = 0; i < f.cnt; i++)
		free(f.name[i]);
	free(f.name);
	return err ? FR_EXIT_FAIL : f.cnt ? FR_EXIT_OK : FR_EXIT_USAGE;
}

/* ---- static marks ---- */

struct mark {
	char name[2 * 256]; /* PROVIDER:NAME */
	struct fr_up_args args;
};

struct all_marks {
	struct mark *mark;
	size_t cnt, room, seen;
	u32 kind;
	const char *pattern;
};

static int events_add_mark(void *arg, const struct fr_upmark *m)
{
	struct all_marks *all = arg;
	char name[sizeof(all->mark->name)];
	struct mark *more;
	size_t i;

	all->seen++;
	snprintf(name, sizeof(name), "%s:%s", m->provider, m->name);
	if (all->kind == FR_UP_mark && strcmp(m->provider, FR_MARK_PROVIDER) != 0)
		return 0;
	if (fnmatch(all->pattern, all->kind == FR_UP_mark ? m->name : name, 0))
		return 0;
	for (i = 0; i < all->cnt && strcmp(all->mark[i].name, name) != 0; i++)
		;
	if (i == all->room) {
		more = realloc(all->mark, (all->room * 2 + 16) * sizeof(*more));
		if (!more)
			return -ENOMEM;
		all->mark = more;
		all->room = all->room * 2 + 16;
	}
	if (i == all->cnt) {
		all->mark[i] = (struct mark){};
		memcpy(all->mark[i].name, name, sizeof(name));
		all->cnt++;
	}
	fr_up_args_add(&all->mark[i].args, FR_UP_ARCH_HERE, m->args);
	return 0;
}

static int events_by_mark(const void *a, const void *b)
{
	return strcmp(((const struct mark *)a)->name, ((const struct mark *)b)->name);
}

static void events_put_arg(struct fr_out *o, struct fr_jsonw *w, const char *name, const char *type, const char *why)
{
	if (!w) {
		fr_out_printf(o, "    %-18s %s\n", name, type ?: why);
		return;
	}
	fr_jsonw_open(w, NULL, '{');
	fr_jsonw_text(w, "name", name);
	fr_jsonw_text(w, type ? "type" : "error", type ?: why);
	fr_jsonw_close(w, '}');
}

/* As it would be recorded without {}. */
static void events_put_mark(struct fr_out *o, struct fr_jsonw *w, u32 kind, const char *path, const struct mark *m)
{
	const char *name = kind == FR_UP_mark ? strchr(m->name, ':') + 1 : m->name;
	struct fr_up_field field[FR_UP_ARG_MAX];
	char what[16], why[FR_UP_WHY_SZ], *full;
	u32 cnt, i;

	if (w) {
		if (asprintf(&full, "%s:%s:%s", fr_up_kind_name(kind), path, name) < 0)
			return;
		fr_jsonw_open(w, NULL, '{');
		fr_jsonw_text(w, "name", full);
		free(full);
		fr_jsonw_text(w, "group", fr_group_name(FR_GROUP_TP));
		fr_jsonw_text(w, "tier", fr_tier_name(FR_TIER_MAIN));
		fr_jsonw_u64(w, "places", m->args.site_cnt);
		fr_jsonw_open(w, "fields", '[');
	} else {
		fr_out_printf(o, "%s:%s:%s\n", fr_up_kind_name(kind), path, name);
	}
	if (kind == FR_UP_mark && !fr_mark_fields(fr_mark_find(name, strlen(name)), &m->args, field, &cnt, why)) {
		for (i = 1; i < cnt; i++) /* behind ip */
			events_put_arg(o, w, field[i].name, fr_up_type_name(field[i].type), NULL);
	} else {
		for (i = 1; i <= m->args.cnt; i++) {
			snprintf(what, sizeof(what), "arg%u", i);
			events_put_arg(o, w, what, fr_up_type_name(fr_up_mark_type(&m->args, i, why)), why);
		}
	}
	if (w) {
		fr_jsonw_close(w, ']');
		fr_jsonw_close(w, '}');
	}
}

static int mark_list(struct fr_out *o, struct fr_jsonw *w, u32 kind, const char *path, const char *pattern)
{
	struct all_marks all = {.pattern = pattern, .kind = kind};
	char why[FR_UPFILE_WHY_SZ];
	struct fr_upfile *file;
	int err = fr_upfile_open(path, &file, why);
	size_t i;

	if (err) {
		fr_err("%s", why);
		return FR_EXIT_USAGE;
	}
	*why = 0;
	err = fr_upfile_marks(file, events_add_mark, &all, why);
	if (all.cnt)
		qsort(all.mark, all.cnt, sizeof(*all.mark), events_by_mark);
	for (i = 0; i < all.cnt && !err; i++)
		events_put_mark(o, w, kind, path, &all.mark[i]);
	if (err)
		fr_err("cannot list the marks of %s: %s", path, *why ? why : strerror(-err));
	else if (!all.seen)
		fr_err("%s has no static marks (notes of .note.stapsdt)", path);
	else if (!all.cnt)
		fr_err("%s has no mark '%s': `flightrec events 'usdt:%s:*'` lists all", path, pattern, path);
	fr_upfile_close(file);
	free(all.mark);
	return err ? FR_EXIT_FAIL : all.cnt ? FR_EXIT_OK : FR_EXIT_USAGE;
}

int fr_events_up(struct fr_out *o, struct fr_jsonw *w, const char *what)
{
	u32 nr = fr_up_kind_of(what);
	const char *kind = fr_up_kind_name(nr), *path = what + strlen(kind) + 1, *colon = strchr(path, ':');
	char *copy = strndup(path, colon ? (size_t)(colon - path) : strlen(path));
	int status = FR_EXIT_FAIL;

	if (copy)
		status = nr == FR_UP_usdt || nr == FR_UP_mark ? mark_list(o, w, nr, copy, colon ? colon + 1 : "*")
							      : up_list(o, w, kind, copy, colon ? colon + 1 : "*");
	else
		fr_err_errno(-ENOMEM, "cannot list functions");
	free(copy);
	return status;
}
