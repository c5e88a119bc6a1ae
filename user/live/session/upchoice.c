/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/session/upchoice.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text/nearest.h"
#include "live/session/load.h"
#include "read/elf/upfile.h"

#define SYMBOL_MAX 512u

static int upchoice_fail(char why[FR_UPCHOICE_WHY_SZ], const char *text)
{
	snprintf(why, FR_UPCHOICE_WHY_SZ, "%s", text);
	return -EINVAL;
}

/* "main+0x10" */
static int upchoice_take_symbol(const struct fr_tpask *ask, char symbol[SYMBOL_MAX], u64 *off, char why[FR_UPCHOICE_WHY_SZ])
{
	char *plus, *end;

	*off = 0;
	if (ask->place_sz >= SYMBOL_MAX)
		return upchoice_fail(why, "this symbol is longer than any that is taken");
	memcpy(symbol, ask->place, ask->place_sz);
	symbol[ask->place_sz] = 0;
	plus = strchr(symbol, '+');
	if (!plus)
		return 0;
	*plus = 0;
	errno = 0;
	*off = strtoull(plus + 1, &end, 0);
	if (plus[1] < '0' || plus[1] > '9' || *end || errno)
		return upchoice_fail(why, "an offset is a number of bytes, +0x10");
	if (ask->kind == FR_UP_uretprobe)
		return upchoice_fail(why, "a function returns as a whole: leave the offset out");
	return 0;
}

/* ---- a function ---- */

static int upchoice_place(const struct fr_tpask *ask, struct fr_upfile *file, struct fr_upfound *out,
			  char why[FR_UPCHOICE_WHY_SZ])
{
	char symbol[SYMBOL_MAX];
	u64 off;
	int err = upchoice_take_symbol(ask, symbol, &off, why);

	if (!err && fr_upfile_is_go(file) && ask->kind == FR_UP_uretprobe)
		err = upchoice_fail(why, "a probe of a return crashes a Go program, whose stacks move: use uprobe:");
	if (!err && fr_upfile_is_go(file) && ask->fields)
		err = upchoice_fail(why, "a Go function's arguments are not where those of C are: leave {} out");
	if (!err && off && ask->fields)
		err = upchoice_fail(why, "arguments are known where a function begins: leave {} or the offset out");
	out->site = calloc(1, sizeof(*out->site));
	out->site_cnt = 1;
	err = err ?: out->site ? 0 : -ENOMEM;
	return err ?: fr_upfile_func(file, symbol, off, &out->site->off, why);
}

void fr_upchoice_name(const struct fr_tpask *ask, char to[FR_NAME_MAX + 1])
{
	char path[4096], place[SYMBOL_MAX];

	snprintf(path, sizeof(path), "%.*s", (int)ask->path_sz, ask->path);
	snprintf(place, sizeof(place), "%.*s", (int)ask->place_sz, ask->place);
	fr_up_name(ask->kind, path, place, to);
}

/* What it records. */
static int upchoice_function(const struct fr_tpask *ask, struct fr_upfile *file, struct fr_upfound *out,
			     struct fr_up_field *field, u32 *cnt, char why[FR_UPCHOICE_WHY_SZ])
{
	int err = upchoice_place(ask, file, out, why);

	return err ?: fr_up_fields(ask->kind, ask->fields, ask->fields_sz, field, cnt, why);
}

/* ---- a static mark, which may be at many places ---- */

struct mark_sites {
	const struct fr_tpask *ask;
	struct fr_upfound *out;
	struct fr_up_args args;
	const char *args_of[FR_UP_MAX];
	u32 all;      /* sites of the file */
	bool is_ours; /* of flightrec_mark.h, which are called by their name alone */
	char full[SYMBOL_MAX];
	struct fr_nearest near;
	char nearest[SYMBOL_MAX];
};

static bool mark_has_site(const struct mark_sites *m, u64 off)
{
	u32 i;

	for (i = 0; i < m->out->site_cnt; i++)
		if (m->out->site[i].off == off)
			return true;
	return false;
}

static void mark_consider(struct mark_sites *m, const char *name)
{
	fr_nearest_consider(&m->near, name);
	if (m->near.name == name) {
		snprintf(m->nearest, sizeof(m->nearest), "%s", name);
		m->near.name = m->nearest;
	}
}

static int mark_add(void *arg, const struct fr_upmark *mark)
{
	struct mark_sites *m = arg;
	struct fr_upsite *more;
	char name[SYMBOL_MAX];

	m->all++;
	snprintf(name, sizeof(name), "%s:%s", mark->provider, mark->name);
	if (strcmp(name, m->full) != 0) {
		if (!m->is_ours)
			mark_consider(m, name);
		else if (!strcmp(mark->provider, FR_MARK_PROVIDER))
			mark_consider(m, mark->name);
		return 0;
	}
	if (mark->bad)
		return -EINVAL;
	if (mark_has_site(m, mark->off))
		return 0;
	if (m->out->site_cnt == FR_UP_MAX)
		return -E2BIG;
	more = realloc(m->out->site, (m->out->site_cnt + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	m->out->site = more;
	fr_up_args_add(&m->args, FR_UP_ARCH_HERE, mark->args);
	m->args_of[m->out->site_cnt] = mark->args;
	more[m->out->site_cnt++] = (struct fr_upsite){.off = mark->off, .counter = mark->counter};
	return 0;
}

/* "arg3: why; arg4: why" */
static void mark_lacks(void *arg, u32 nr, const char *why)
{
	struct fr_upfound *out = arg;
	char *more;

	if (asprintf(&more, "%s%sarg%u: %s", out->lacks ?: "", out->lacks ? "; " : "", nr, why) < 0)
		return;
	free(out->lacks);
	out->lacks = more;
}

static int mark_say_none(const struct mark_sites *m, char why[FR_UPCHOICE_WHY_SZ])
{
	const char *like = fr_nearest_close(&m->near);

	if (!m->all)
		return upchoice_fail(why, "the file has no static marks (notes of .note.stapsdt)");
	snprintf(why, FR_UPCHOICE_WHY_SZ, "it has no mark %.80s: %s%.80s%s`flightrec events '%s:%.200s%s'` lists all",
		 m->near.to, like ? "did you mean " : "", like ?: "", like ? "? " : "",
		 fr_up_kind_name(m->is_ours ? FR_UP_mark : FR_UP_usdt), m->out->path, m->is_ours ? "" : ":*");
	return -EINVAL;
}

static int upchoice_mark_fields(const struct fr_tpask *ask, const struct mark_sites *m, struct fr_up_field *field, u32 *cnt,
				char why[FR_UPCHOICE_WHY_SZ])
{
	if (ask->kind == FR_UP_usdt)
		return fr_up_mark_fields(&m->args, ask->fields, ask->fields_sz, field, cnt, mark_lacks, m->out, why);
	if (ask->fields)
		return upchoice_fail(why, "the fields of these marks are fixed: leave {} out");
	return fr_mark_fields(fr_mark_find(ask->place, ask->place_sz), &m->args, field, cnt, why);
}

static int upchoice_mark(const struct fr_tpask *ask, struct fr_upfile *file, struct fr_upfound *out, struct fr_up_field *field,
			 u32 *cnt, char why[FR_UPCHOICE_WHY_SZ])
{
	struct mark_sites *m;
	u32 i;
	int err = 0;

	if (sizeof(FR_MARK_PROVIDER) + ask->place_sz >= SYMBOL_MAX)
		return upchoice_fail(why, "this name is longer than any that is taken");
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	m->out = out;
	m->is_ours = ask->kind == FR_UP_mark;
	snprintf(m->full, sizeof(m->full), "%s%.*s", m->is_ours ? FR_MARK_PROVIDER ":" : "", (int)ask->place_sz, ask->place);
	m->near.to = m->is_ours ? strchr(m->full, ':') + 1 : m->full;
	err = fr_upfile_marks(file, mark_add, m, why);
	if (err == -E2BIG) {
		snprintf(why, FR_UPCHOICE_WHY_SZ, "it is at more than %u places, the most that a session records", FR_UP_MAX);
		err = -EINVAL;
	}
	err = err ?: out->site_cnt ? 0 : mark_say_none(m, why);
	err = err ?: upchoice_mark_fields(ask, m, field, cnt, why);
	for (i = 0; i < out->site_cnt && !err; i++) {
		fr_up_mark_place(field, *cnt, m->args_of[i]);
		err = fr_up_layout(field, *cnt, &out->site[i].conf);
	}
	free(m);
	return err;
}

struct mark_names {
	u32 set;
};

static int mark_note_name(void *arg, const struct fr_upmark *mark)
{
	struct mark_names *n = arg;
	u32 i;

	for (i = 0; fr_mark_name(i) && !strcmp(mark->provider, FR_MARK_PROVIDER); i++)
		n->set |= !strcmp(mark->name, fr_mark_name(i)) ? 1u << i : 0;
	return 0;
}

int fr_upchoice_marks(const struct fr_tpask *ask, u32 *set, char why[FR_UPCHOICE_WHY_SZ])
{
	char *path = strndup(ask->path, ask->path_sz);
	struct fr_upfile *file = NULL;
	struct mark_names names = {};
	int err = path ? fr_upfile_open(path, &file, why) : -ENOMEM;

	err = err ?: fr_upfile_marks(file, mark_note_name, &names, why);
	if (!err && !names.set)
		err = upchoice_fail(why, "the file has no marks of flightrec_mark.h");
	fr_upfile_close(file);
	free(path);
	*set = names.set;
	return err;
}

/* ---- any ---- */

static int upchoice_describe(const struct fr_tpask *ask, u32 id, struct fr_upfound *out, char why[FR_UPCHOICE_WHY_SZ])
{
	struct fr_up_field field[FR_UP_ARG_MAX];
	struct fr_upfile *file = NULL;
	u32 cnt = 0;
	int err = fr_upfile_open(out->path, &file, why);

	if (!err && (ask->kind == FR_UP_usdt || ask->kind == FR_UP_mark))
		err = upchoice_mark(ask, file, out, field, &cnt, why);
	else if (!err)
		err = upchoice_function(ask, file, out, field, &cnt, why) ?: fr_up_layout(field, cnt, &out->site->conf);
	if (!err) {
		out->fd = fr_upfile_fd(file);
		err = out->fd < 0 ? out->fd : 0;
	}
	fr_upfile_close(file);
	if (err == -E2BIG)
		return upchoice_fail(why, "these are more fields than a record has room for");
	if (err)
		return err;
	out->format = fr_up_format(out->name, id, field, cnt, &out->site->conf, &out->format_sz);
	return out->format ? 0 : -ENOMEM;
}

int fr_upchoice_find(const struct fr_tpask *ask, u32 id, struct fr_upfound *out, char why[FR_UPCHOICE_WHY_SZ])
{
	char *tab;
	int err;

	*why = 0;
	*out = (struct fr_upfound){.path = strndup(ask->path, ask->path_sz), .fd = -1};
	if (asprintf(&out->doc, "%s:%.*s:%.*s%s%.*s%s", fr_up_kind_name(ask->kind), (int)ask->path_sz, ask->path,
		     (int)ask->place_sz, ask->place, ask->fields ? "{" : "", (int)ask->fields_sz, ask->fields ?: "",
		     ask->fields ? "}" : "") < 0)
		out->doc = NULL;
	for (tab = out->doc; tab && (tab = strchr(tab, '\t'));)
		*tab = ' ';
	fr_upchoice_name(ask, out->name);
	err = out->path && out->doc ? 0 : -ENOMEM;
	err = err ?: upchoice_describe(ask, id, out, why);
	if (err && !*why)
		snprintf(why, FR_UPCHOICE_WHY_SZ, "%s", strerror(-err));
	if (err)
		fr_upfound_free(out);
	return err;
}

void fr_upfound_free(struct fr_upfound *u)
{
	if (u->path && u->fd >= 0)
		close(u->fd);
	free(u->path);
	free(u->doc);
	free(u->format);
	free(u->site);
	free(u->lacks);
	*u = (struct fr_upfound){};
}

bool fr_upchoice_is_final(int err)
{
	return !fr_load_is_passing(err) && err != -EIO;
}

int fr_upchoice_again(const char *doc, struct fr_upfound *out, char why[FR_UPCHOICE_WHY_SZ])
{
	struct fr_tpask ask;

	if (fr_up_kind_of(doc) == FR_UP_KIND_CNT || fr_tpask_parse(doc, &ask, why))
		return upchoice_fail(why, "its place is not known");
	return fr_upchoice_find(&ask, FR_TP_FIRST, out, why);
}
