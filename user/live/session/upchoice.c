/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/session/upchoice.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static int upchoice_place(const struct fr_tpask *ask, struct fr_upfound *out, char why[FR_UPCHOICE_WHY_SZ])
{
	struct fr_upfile *file = NULL;
	char symbol[SYMBOL_MAX];
	u64 off;
	int err = upchoice_take_symbol(ask, symbol, &off, why) ?: fr_upfile_open(out->path, &file, why);

	if (!err && fr_upfile_is_go(file) && ask->kind == FR_UP_uretprobe)
		err = upchoice_fail(why, "a probe of a return crashes a Go program, whose stacks move: use uprobe:");
	if (!err && fr_upfile_is_go(file) && ask->fields)
		err = upchoice_fail(why, "a Go function's arguments are not where those of C are: leave {} out");
	if (!err && off && ask->fields)
		err = upchoice_fail(why, "arguments are known where a function begins: leave {} or the offset out");
	err = err ?: fr_upfile_func(file, symbol, off, &out->site->off, why);
	fr_upfile_close(file);
	return err;
}

void fr_upchoice_name(const struct fr_tpask *ask, char to[FR_NAME_MAX + 1])
{
	char path[4096], place[SYMBOL_MAX];

	snprintf(path, sizeof(path), "%.*s", (int)ask->path_sz, ask->path);
	snprintf(place, sizeof(place), "%.*s", (int)ask->place_sz, ask->place);
	fr_up_name(ask->kind, path, place, to);
}

/* What it records. */
static int upchoice_describe(const struct fr_tpask *ask, u32 id, struct fr_upfound *out, char why[FR_UPCHOICE_WHY_SZ])
{
	struct fr_up_field field[FR_UP_ARG_MAX];
	u32 cnt;
	int err = fr_up_fields(ask->kind, ask->fields, ask->fields_sz, field, &cnt, why);

	if (err)
		return err;
	if (fr_up_layout(field, cnt, &out->site->conf))
		return upchoice_fail(why, "these are more fields than a record has room for");
	out->format = fr_up_format(out->name, id, field, cnt, &out->site->conf, &out->format_sz);
	return out->format ? 0 : -ENOMEM;
}

int fr_upchoice_find(const struct fr_tpask *ask, u32 id, struct fr_upfound *out, char why[FR_UPCHOICE_WHY_SZ])
{
	char *tab;
	int err;

	*why = 0;
	*out = (struct fr_upfound){
		.path = strndup(ask->path, ask->path_sz), .site = calloc(1, sizeof(*out->site)), .site_cnt = 1};
	if (asprintf(&out->doc, "%s:%.*s:%.*s%s%.*s%s", fr_up_kind_name(ask->kind), (int)ask->path_sz, ask->path,
		     (int)ask->place_sz, ask->place, ask->fields ? "{" : "", (int)ask->fields_sz, ask->fields ?: "",
		     ask->fields ? "}" : "") < 0)
		out->doc = NULL;
	for (tab = out->doc; tab && (tab = strchr(tab, '\t'));)
		*tab = ' ';
	fr_upchoice_name(ask, out->name);
	err = out->path && out->doc && out->site ? 0 : -ENOMEM;
	err = err ?: upchoice_place(ask, out, why) ?: upchoice_describe(ask, id, out, why);
	if (err && !*why)
		snprintf(why, FR_UPCHOICE_WHY_SZ, "%s", strerror(-err));
	if (err)
		fr_upfound_free(out);
	return err;
}

void fr_upfound_free(struct fr_upfound *u)
{
	free(u->path);
	free(u->doc);
	free(u->format);
	free(u->site);
	*u = (struct fr_upfound){};
}

int fr_upchoice_again(const char *doc, struct fr_upfound *out, char why[FR_UPCHOICE_WHY_SZ])
{
	struct fr_tpask ask;

	if (fr_up_kind_of(doc) == FR_UP_KIND_CNT || fr_tpask_parse(doc, &ask, why))
		return upchoice_fail(why, "its place is not known");
	return fr_upchoice_find(&ask, FR_TP_FIRST, out, why);
}
