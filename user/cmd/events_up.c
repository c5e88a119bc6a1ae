/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/events_up.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/schema/tpname.h"
#include "base/set/vec.h"
#include "base/tp/upformat.h"
#include "live/session/upchoice.h"
#include "read/elf/upfile.h"

struct listing {
	struct fr_out *o;
	struct fr_jsonw *w; /* NULL: text */
	u32 kind;
	const char *path, *pattern;
};

static int events_status(int err)
{
	return !err ? FR_EXIT_OK : fr_upchoice_is_final(err) ? FR_EXIT_USAGE : FR_EXIT_FAIL;
}

/* 0 and *file; -errno, with a message. */
static int events_open(const struct listing *l, struct fr_upfile **file)
{
	char why[FR_UPFILE_WHY_SZ];
	int err = fr_upfile_open(l->path, file, why);

	if (err)
		fr_err("%s", why);
	return err;
}

/* KIND:PATH:PLACE, and what all of them have in JSON, where it stays open. why: it cannot be recorded; NULL: it can. 0;
 * -ENOMEM. */
static int events_put_head(const struct listing *l, const char *place, const char *why)
{
	char *full;

	if (asprintf(&full, "%s:%s:%s", fr_up_kind_name(l->kind), l->path, place) < 0)
		return -ENOMEM;
	if (l->w) {
		fr_jsonw_open(l->w, NULL, '{');
		fr_jsonw_text(l->w, "name", full);
		fr_jsonw_text(l->w, "group", fr_group_name(FR_GROUP_TP));
		fr_jsonw_text(l->w, "tier", fr_tier_name(FR_TIER_MAIN));
		if (why)
			fr_jsonw_text(l->w, "error", why);
	} else if (why) {
		fr_out_printf(l->o, "%s  cannot be recorded: %s\n", full, why);
	} else {
		fr_out_printf(l->o, "%s\n", full);
	}
	free(full);
	return 0;
}

/* ---- functions ---- */

struct functions {
	struct fr_vec names; /* char *, of its own */
	const char *pattern;
};

static int add_function(void *arg, const char *symbol)
{
	struct functions *f = arg;
	char *copy;
	int err;

	if (fnmatch(f->pattern, symbol, 0))
		return 0;
	copy = strdup(symbol);
	err = copy ? fr_vec_add(&f->names, &copy, 1) : -ENOMEM;
	if (err)
		free(copy);
	return err;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int up_put(const struct listing *l, const char *symbol)
{
	int err = events_put_head(l, symbol, NULL);

	if (!err && l->w)
		fr_jsonw_close(l->w, '}');
	return err;
}

static int up_list(const struct listing *l)
{
	struct functions f = {.names = {.item_sz = sizeof(char *)}, .pattern = l->pattern};
	struct fr_upfile *file;
	int err = events_open(l, &file);
	size_t cnt, i;
	char **name;

	if (err)
		return events_status(err);
	if (l->kind != FR_UP_uretprobe || !fr_upfile_is_go(file))
		err = fr_upfile_each(file, add_function, &f);
	fr_upfile_close(file);
	name = f.names.at;
	cnt = f.names.cnt;
	if (cnt)
		qsort(name, cnt, sizeof(*name), by_name);
	for (i = 0; i < cnt && !err; i++)
		if (!i || strcmp(name[i], name[i - 1]) != 0)
			err = up_put(l, name[i]);
	if (err)
		fr_err_errno(err, "cannot list the functions of %s", l->path);
	else if (!cnt)
		fr_err("%s has no function '%s' of which %s: can be: `flightrec events 'uprobe:%s:*'` lists all", l->path,
		       l->pattern, fr_up_kind_name(l->kind), l->path);
	for (i = 0; i < cnt; i++)
		free(name[i]);
	fr_vec_free(&f.names);
	return err || cnt ? events_status(err) : FR_EXIT_USAGE;
}

/* ---- static marks ---- */

struct mark {
	char name[2 * 256]; /* PROVIDER:NAME */
	struct fr_up_args args;
	char *bad; /* why one of its places is none; NULL: none is so */
};

struct all_marks {
	struct fr_vec marks; /* struct mark */
	size_t seen;
	u32 kind;
	const char *pattern;
};

static struct mark *events_find_mark(const struct all_marks *all, const char *name)
{
	struct mark *mark = all->marks.at;
	size_t i;

	for (i = 0; i < all->marks.cnt; i++)
		if (!strcmp(mark[i].name, name))
			return &mark[i];
	return NULL;
}

static int events_add_mark(void *arg, const struct fr_upmark *m)
{
	struct all_marks *all = arg;
	struct mark *mark;
	struct mark add = {};

	all->seen++;
	snprintf(add.name, sizeof(add.name), "%s:%s", m->provider, m->name);
	if (all->kind == FR_UP_mark && strcmp(m->provider, FR_MARK_PROVIDER) != 0)
		return 0;
	if (fnmatch(all->pattern, all->kind == FR_UP_mark ? m->name : add.name, 0))
		return 0;
	mark = events_find_mark(all, add.name);
	if (!mark) {
		if (fr_vec_add(&all->marks, &add, 1))
			return -ENOMEM;
		mark = (struct mark *)all->marks.at + all->marks.cnt - 1;
	}
	fr_up_args_add(&mark->args, FR_UP_ARCH_HERE, m->args);
	if (!m->bad || mark->bad)
		return 0;
	mark->bad = strdup(m->bad);
	return mark->bad ? 0 : -ENOMEM;
}

static int events_by_mark(const void *a, const void *b)
{
	return strcmp(((const struct mark *)a)->name, ((const struct mark *)b)->name);
}

static void events_put_arg(const struct listing *l, const char *name, const char *type, const char *why)
{
	if (!l->w) {
		fr_out_printf(l->o, "    %-18s %s\n", name, type ?: why);
		return;
	}
	fr_jsonw_open(l->w, NULL, '{');
	fr_jsonw_text(l->w, "name", name);
	fr_jsonw_text(l->w, type ? "type" : "error", type ?: why);
	fr_jsonw_close(l->w, '}');
}

/* As it would be recorded without {}. */
static int events_put_mark(const struct listing *l, const struct mark *m)
{
	bool ours = l->kind == FR_UP_mark;
	const char *name = ours ? strchr(m->name, ':') + 1 : m->name, *bad = m->bad;
	char what[16], fields_why[FR_UP_WHY_SZ], why[FR_UP_ARGS_WHY_SZ];
	struct fr_up_field field[FR_UP_ARG_MAX];
	u32 cnt = 0, i;
	int err;

	if (ours && !bad && fr_mark_fields(fr_mark_find(name, strlen(name)), &m->args, field, &cnt, fields_why))
		bad = fields_why;
	err = events_put_head(l, name, bad);
	if (err)
		return err;
	if (l->w) {
		fr_jsonw_u64(l->w, "places", m->args.site_cnt);
		fr_jsonw_open(l->w, "fields", '[');
	}
	for (i = 1; i < cnt && !bad; i++) /* behind ip */
		events_put_arg(l, field[i].name, fr_up_type_name(field[i].type), NULL);
	for (i = 1; i <= m->args.cnt && !ours && !bad; i++) {
		snprintf(what, sizeof(what), "arg%u", i);
		events_put_arg(l, what, fr_up_type_name(fr_up_mark_type(&m->args, i, why)), why);
	}
	if (l->w) {
		fr_jsonw_close(l->w, ']');
		fr_jsonw_close(l->w, '}');
	}
	return 0;
}

static void events_free_marks(struct all_marks *all)
{
	struct mark *mark = all->marks.at;
	size_t i;

	for (i = 0; i < all->marks.cnt; i++)
		free(mark[i].bad);
	fr_vec_free(&all->marks);
}

static int mark_list(const struct listing *l)
{
	struct all_marks all = {.marks = {.item_sz = sizeof(struct mark)}, .pattern = l->pattern, .kind = l->kind};
	char why[FR_UPFILE_WHY_SZ] = "";
	const struct mark *mark;
	struct fr_upfile *file;
	int err = events_open(l, &file);
	size_t cnt, i;

	if (err)
		return events_status(err);
	err = fr_upfile_marks(file, events_add_mark, &all, why);
	mark = all.marks.at;
	cnt = all.marks.cnt;
	if (cnt)
		qsort(all.marks.at, cnt, sizeof(*mark), events_by_mark);
	for (i = 0; i < cnt && !err; i++)
		err = events_put_mark(l, &mark[i]);
	if (err)
		fr_err("cannot list the marks of %s: %s", l->path, *why ? why : strerror(-err));
	else if (!all.seen)
		fr_err("%s has no static marks (notes of .note.stapsdt)", l->path);
	else if (!cnt)
		fr_err("%s has no mark '%s': `flightrec events 'usdt:%s:*'` lists all", l->path, l->pattern, l->path);
	events_free_marks(&all);
	fr_upfile_close(file);
	return err || cnt ? events_status(err) : FR_EXIT_USAGE;
}

int fr_events_up(struct fr_out *o, struct fr_jsonw *w, const char *what)
{
	struct listing l = {.o = o, .w = w, .kind = fr_up_kind_of(what)};
	const char *path = what + strlen(fr_up_kind_name(l.kind)) + 1, *colon = strchr(path, ':');
	char *copy = strndup(path, colon ? (size_t)(colon - path) : strlen(path));
	int status = FR_EXIT_FAIL;

	l.path = copy;
	l.pattern = colon ? colon + 1 : "*";
	if (copy)
		status = l.kind == FR_UP_usdt || l.kind == FR_UP_mark ? mark_list(&l) : up_list(&l);
	else
		fr_err_errno(-ENOMEM, "cannot list functions or marks");
	free(copy);
	return status;
}
