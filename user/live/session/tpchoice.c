/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/session/tpchoice.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/err.h"
#include "base/text/memfile.h"
#include "base/text/nearest.h"
#include "base/tp/rare.h"
#include "base/tp/tpask.h"
#include "base/tp/tps.h"
#include "live/session/sess.h"
#include "sys/tracefs.h"

/* How one is recorded: as the last -e that named it says. */
struct chosen {
	bool on;
	struct fr_tpask ask;
	const char *what;	    /* that -e */
	const struct fr_rare *rare; /* it is chosen as rare.def says; NULL: by its name */
	u8 tier, span;
	u16 span_nr;
};

/* What this kernel has, and which of it is chosen. */
struct choosing {
	struct fr_tracefs_event *all;
	size_t cnt;
	struct chosen *to;	     /* [cnt] */
	struct chosen up[FR_TP_MAX]; /* places in programs */
	u32 up_cnt;
	char *rare[FR_TPCHOICE_RARE_MAX]; /* entries of rare.def as a -e would say them */
	bool lacks[FR_TPCHOICE_RARE_MAX]; /* chosen, and this kernel has it not, or cannot record it so */
};

static int list_all(struct choosing *c)
{
	int err = fr_tracefs_list(&c->all, &c->cnt);

	if (err)
		return err;
	c->to = calloc(c->cnt + 1, sizeof(*c->to));
	return c->to ? 0 : -ENOMEM;
}

static struct chosen *tpchoice_find(const struct choosing *c, const char *name)
{
	const char *colon = strchr(name, ':');
	size_t i;

	for (i = 0; i < c->cnt; i++)
		if (!strncmp(c->all[i].system, name, colon - name) && !c->all[i].system[colon - name] &&
		    !strcmp(c->all[i].name, colon + 1))
			return &c->to[i];
	return NULL;
}

/* ---- rare.def ---- */

static int tpchoice_add_rare(struct choosing *c)
{
	char why[FR_TPASK_WHY_SZ];
	const struct fr_rare *r;
	u32 i;

	for (i = 0; (r = fr_rare_get(i)); i++) {
		struct chosen *to = tpchoice_find(c, r->name);
		struct fr_tpask ask;

		c->lacks[i] = !to;
		if (!c->rare[i] && asprintf(&c->rare[i], FR_TP_PREFIX "%s %s", r->name, r->how) < 0) {
			c->rare[i] = NULL;
			return -ENOMEM;
		}
		if (!to)
			continue;
		if (fr_tpask_parse(c->rare[i], &ask, why)) {
			fr_err("%s: %s", c->rare[i], why);
			return -EINVAL;
		}
		*to = (struct chosen){.on = true, .ask = ask, .what = c->rare[i], .rare = r, .tier = FR_TIER_RARE};
	}
	return 0;
}

/* Of those that this kernel has not. True: the pattern is the name of one, so it may be removed. */
static bool tpchoice_forget_rare(struct choosing *c, const char *pattern)
{
	bool found = false;
	u32 i;

	for (i = 0; fr_rare_get(i); i++)
		if (!fnmatch(pattern, fr_rare_get(i)->name, 0)) {
			c->lacks[i] = false;
			found = true;
		}
	return found;
}

/* What ends something is recorded where and when its beginning is. */
static void tpchoice_pair(struct choosing *c)
{
	struct chosen *begin;
	u16 nr = 0;
	size_t i;

	for (i = 0; i < c->cnt; i++) {
		if (!c->to[i].on || !c->to[i].rare || !*c->to[i].rare->begin)
			continue;
		begin = tpchoice_find(c, c->to[i].rare->begin);
		c->to[i].on = begin && begin->on;
		if (!c->to[i].on)
			continue;
		begin->span = FR_TP_BEGINS;
		c->to[i].span = FR_TP_ENDS;
		c->to[i].tier = begin->tier;
		c->to[i].span_nr = begin->span_nr = nr++;
	}
}

static void tpchoice_put_lacks(const struct choosing *c, struct fr_tpchoice *out)
{
	size_t len = 0;
	u32 i;

	for (i = 0; fr_rare_get(i); i++)
		if (c->lacks[i] && len < sizeof(out->rare_missing))
			len += snprintf(out->rare_missing + len, sizeof(out->rare_missing) - len, "%s" FR_TP_PREFIX "%s",
					len ? "," : "", fr_rare_get(i)->name);
}

/* ---- by name ---- */

static void tpchoice_say_none(const struct choosing *c, const char *what, const char *pattern)
{
	struct fr_nearest near = {.to = pattern};
	char(*full)[2 * FR_NAME_MAX + 2] = calloc(c->cnt + 1, sizeof(*full));
	const char *name;
	size_t i;

	for (i = 0; full && i < c->cnt; i++) {
		snprintf(full[i], sizeof(full[i]), "%s:%s", c->all[i].system, c->all[i].name);
		fr_nearest_consider(&near, full[i]);
	}
	name = fr_nearest_close(&near);
	if (name)
		fr_err("-e %s: this kernel has no such tracepoint: did you mean tp:%s? `flightrec events '*:*'` lists all",
		       what, name);
	else
		fr_err("-e %s: this kernel has no such tracepoint: `flightrec events '*:*'` lists all", what);
	free(full);
}

static bool tpchoice_is_same_place(const struct fr_tpask *a, const struct fr_tpask *b)
{
	return a->kind == b->kind && a->path_sz == b->path_sz && a->place_sz == b->place_sz &&
	       !memcmp(a->path, b->path, a->path_sz) && !memcmp(a->place, b->place, a->place_sz);
}

static int tpchoice_removes_nothing(const char *what)
{
	fr_err("-e %s: nothing before it records this place", what);
	return -EINVAL;
}

/* A place in a program: the last -e that names it counts, and keeps its turn. */
static int tpchoice_apply_place(struct choosing *c, const char *what, const struct fr_tpask *ask)
{
	u32 i;

	for (i = 0; i < c->up_cnt && !tpchoice_is_same_place(&c->up[i].ask, ask); i++)
		;
	if (i == c->up_cnt && ask->removes)
		return tpchoice_removes_nothing(what);
	if (i == FR_TP_MAX) {
		fr_err("-e %s: these are more than %u places, the most that a session records", what, FR_TP_MAX);
		return -EINVAL;
	}
	c->up[i] = (struct chosen){.on = !ask->removes, .ask = *ask, .what = what};
	c->up_cnt += i == c->up_cnt;
	return 0;
}

/* All marks of a file, which may have gone: those that are chosen. */
static int tpchoice_remove_marks(struct choosing *c, const char *what, const struct fr_tpask *ask)
{
	u32 found = 0, i;

	for (i = 0; i < c->up_cnt; i++) {
		if (c->up[i].ask.kind != ask->kind || c->up[i].ask.path_sz != ask->path_sz ||
		    memcmp(c->up[i].ask.path, ask->path, ask->path_sz) != 0)
			continue;
		c->up[i].on = false;
		found++;
	}
	return found ? 0 : tpchoice_removes_nothing(what);
}

/* All that the file has. */
static int tpchoice_apply_marks(struct choosing *c, const char *what, const struct fr_tpask *ask)
{
	char why[FR_UPCHOICE_WHY_SZ] = "";
	struct fr_tpask one = *ask;
	u32 set = 0, i;
	int err = fr_upchoice_marks(ask, &set, why);

	if (err) {
		fr_err("-e %s: %s", what, *why ? why : strerror(-err));
		return fr_upchoice_is_final(err) ? -EINVAL : err;
	}
	for (i = 0; fr_mark_name(i) && !err; i++) {
		one.place = fr_mark_name(i);
		one.place_sz = strlen(one.place);
		if (set >> i & 1)
			err = tpchoice_apply_place(c, what, &one);
	}
	return err;
}

static int tpchoice_apply(struct choosing *c, const char *what)
{
	char full[2 * FR_NAME_MAX + 2], why[FR_TPASK_WHY_SZ];
	struct fr_tpask ask;
	bool found = false;
	size_t i;

	if (fr_tpask_parse(what, &ask, why)) {
		fr_err("-e %s: %s", what, why);
		return -EINVAL;
	}
	if (ask.kind == FR_UP_mark && !ask.place_sz)
		return ask.removes ? tpchoice_remove_marks(c, what, &ask) : tpchoice_apply_marks(c, what, &ask);
	if (ask.kind < FR_UP_KIND_CNT)
		return tpchoice_apply_place(c, what, &ask);
	if (ask.table && !ask.removes)
		return tpchoice_add_rare(c);
	if (ask.table)
		strcpy(ask.pattern, "*");
	if (ask.removes)
		found = tpchoice_forget_rare(c, ask.pattern) || ask.table;
	for (i = 0; i < c->cnt; i++) {
		snprintf(full, sizeof(full), "%s:%s", c->all[i].system, c->all[i].name);
		if (fnmatch(ask.pattern, full, 0))
			continue;
		c->to[i] = (struct chosen){.on = !ask.removes, .ask = ask, .what = what};
		found = true;
	}
	if (!found)
		tpchoice_say_none(c, what, ask.pattern);
	return found ? 0 : -EINVAL;
}

/* Where a format comes from: the kernel, or a probe of a program. */
struct source {
	const char *system, *name;
	const char *text;
	size_t sz;
	const struct fr_upfound *up; /* NULL: the kernel's */
};

static int tpchoice_refuse(const struct source *ev, int err)
{
	const char *why = err == -E2BIG	   ? "its records have more fields, or are longer, than one of a ring"
			  : err == -EINVAL ? "its format is none that flightrec knows"
					   : strerror(-err);

	if (ev->up)
		fr_err("-e %s cannot be recorded: %s", ev->up->doc, why);
	else
		fr_err("tracepoint tp:%s:%s cannot be recorded: %s: leave it out with -e -tp:%s:%s", ev->system, ev->name, why,
		       ev->system, ev->name);
	return err == -E2BIG ? -EINVAL : err;
}

/* With a message, but of what is recorded by default: where a kernel has other words, it lacks that. */
static int add_condition(struct fr_tpchoice *out, struct fr_tpchosen *to, const struct chosen *how, struct fr_tpformat *format)
{
	char *expr = strndup(how->ask.cond, how->ask.cond_sz), option[3 * FR_NAME_MAX];
	struct fr_schema *schema = expr ? fr_tpformat_schema(format, to->nr) : NULL;
	struct fr_filter_file file = {.schema = schema, .value = fr_tpformat_value, .values = fr_tpformat_values, .of = format};
	struct fr_filter_error error;
	struct utsname un;
	u32 prog = 0;
	int err;

	uname(&un);
	file.arch = un.machine;
	err = schema ? fr_watch_add_for(&out->cond, to->nr, expr, &file, &prog, &error) : -ENOMEM;
	if (err == -EINVAL && how->rare) {
		/* it is among those that are missing */
	} else if (err == -EINVAL) {
		snprintf(option, sizeof(option), "condition of %s", fr_schema_event(schema, to->nr)->name);
		fr_filter_say_at(option, error.text, expr, error.at);
	} else if (err) {
		fr_err_errno(err, "-e %s", how->what);
	} else if (prog != FR_WATCH_ALWAYS) {
		to->conf.cond = prog;
		to->conf.cond_cnt = 1;
	}
	fr_schema_free(schema);
	free(expr);
	return err;
}

/* With a message. */
static int choose_fields(const struct source *ev, const struct chosen *how, struct fr_tpformat *format)
{
	char why[3 * FR_TPASK_WHY_SZ];
	int err = fr_tpformat_choose(format, how->ask.fields, how->ask.fields_sz, why, sizeof(why));

	if (err == -EINVAL)
		fr_err("-e %s: fields of %s:%s: %s", how->what, ev->system, ev->name, why);
	else if (err)
		fr_err_errno(err, "-e %s", how->what);
	return err;
}

static u32 tpchoice_id(const char *text)
{
	const char *at = strstr(text, "\nID: ");

	return at ? strtoul(at + strlen("\nID: "), NULL, 10) : 0;
}

/* As text, so that nothing of one that cannot be recorded is in the schema. */
static int tpchoice_put_schema(const struct fr_tpformat *format, u32 nr, u32 tier, FILE *schema)
{
	struct fr_memfile m;
	FILE *f = fr_memfile_open(&m);
	int err = f ? fr_tpformat_put_schema(format, nr, tier, f) : -ENOMEM;
	char *text = f ? fr_memfile_end(&m, NULL) : NULL;

	if (!err && text)
		fputs(text, schema);
	free(text);
	return err ?: text ? 0 : -ENOMEM;
}

/* The format, the event of the schema that it becomes, and what the program is told. A condition may be about fields that are
 * not chosen. Of a program's probe the fields have been chosen before. */
static int tpchoice_add(struct fr_tpchoice *out, const struct source *ev, const struct chosen *how, FILE *schema, FILE *formats)
{
	struct fr_tpchosen *to = &out->chosen[out->cnt];
	struct fr_tpformat *format = NULL;
	struct fr_tps_item item = {.text = ev->text, .sz = ev->sz};
	bool told = false;
	u32 cond, cond_cnt;
	int err = strlen(ev->system) > FR_NAME_MAX || strlen(ev->name) > FR_NAME_MAX ? -EINVAL : 0;

	err = err ?: fr_tpformat_new(ev->system, ev->name, ev->text, ev->sz, &format);
	err = err ?: ev->up ? fr_tpformat_say(format, ev->up->doc) : 0;
	*to = (struct fr_tpchosen){.nr = FR_TP_FIRST + out->cnt};
	if (!err) {
		err = how->ask.cond ? add_condition(out, to, how, format) : 0;
		err = err ?: how->ask.fields && !ev->up ? choose_fields(ev, how, format) : 0;
		told = err;
	}
	cond = to->conf.cond;
	cond_cnt = to->conf.cond_cnt;
	err = err ?: fr_tpformat_conf(format, &to->conf);
	err = err ?: tpchoice_put_schema(format, to->nr, how->tier, schema);
	if (!err) {
		to->conf.cond = cond;
		to->conf.cond_cnt = cond_cnt;
		to->id = tpchoice_id(ev->text);
		to->conf.tier = how->tier;
		to->conf.span = how->span;
		to->conf.span_nr = how->span_nr;
		to->rare = how->rare;
		to->conf.rate = how->ask.rate;
		snprintf(to->system, sizeof(to->system), "%s", ev->system);
		snprintf(to->name, sizeof(to->name), "%s", ev->name);
		memcpy(item.system, to->system, sizeof(item.system));
		memcpy(item.name, to->name, sizeof(item.name));
		err = fr_tps_put(formats, &item);
		out->cnt++;
	}
	fr_tpformat_free(format);
	return err && err != -ENOMEM && !told && !how->rare ? tpchoice_refuse(ev, err) : err;
}

static int tpchoice_add_point(struct fr_tpchoice *out, const struct fr_tracefs_event *at, const struct chosen *how,
			      FILE *schema, FILE *formats)
{
	struct source ev = {.system = at->system, .name = at->name};
	char *text = NULL;
	int err = fr_tracefs_format(at, &text, &ev.sz);

	ev.text = text;
	if (err)
		err = err != -ENOMEM && !how->rare ? tpchoice_refuse(&ev, err) : err;
	else
		err = tpchoice_add(out, &ev, how, schema, formats);
	free(text);
	return err;
}

/* ---- places in programs ---- */

#define UP_ID 60000u /* of the first one's format: the kernel counts its own upwards, in 16 bits */

/* Is there an event of this name? Two files may be called the same, and have a function of the same name. */
static const struct fr_tpchosen *tpchoice_named(const struct fr_tpchoice *out, const char *system, const char *name)
{
	u32 i;

	for (i = 0; i < out->cnt; i++)
		if (out->chosen[i].up.path && !strcmp(out->chosen[i].system, system) && !strcmp(out->chosen[i].name, name))
			return &out->chosen[i];
	return NULL;
}

static int tpchoice_add_place(struct fr_tpchoice *out, const struct chosen *how, FILE *schema, FILE *formats)
{
	char why[FR_UPCHOICE_WHY_SZ];
	struct fr_upfound up;
	struct source ev = {.system = fr_up_kind_name(how->ask.kind), .up = &up};
	const struct fr_tpchosen *other;
	u32 nr = out->cnt;
	int err = fr_upchoice_find(&how->ask, UP_ID + nr, &up, why);

	if (err) {
		fr_err("-e %s: %s", how->what, why);
		return fr_upchoice_is_final(err) ? -EINVAL : err;
	}
	ev.name = up.name;
	ev.text = up.format;
	ev.sz = up.format_sz;
	other = tpchoice_named(out, ev.system, ev.name);
	if (other) {
		fr_err("-e %s: its event would be called %s:%s, as that of %s is: use a link with another name", how->what,
		       ev.system, ev.name, other->up.doc);
		err = -EINVAL;
	} else if (out->site_cnt + up.site_cnt > FR_UP_MAX) {
		fr_err("-e %s: these are more than %u places in programs, the most that a session records", how->what,
		       FR_UP_MAX);
		err = -EINVAL;
	}
	err = err ?: tpchoice_add(out, &ev, how, schema, formats);
	if (err) {
		fr_upfound_free(&up);
		return err;
	}
	if (up.lacks)
		fr_warn("-e %s: not recorded of it: %s", how->what, up.lacks);
	out->chosen[nr].up = up;
	out->site_cnt += up.site_cnt;
	return 0;
}

/* A schema that its own reader refuses would make a session that nobody can read. */
static int check_schema(const struct fr_tpchoice *out)
{
	struct fr_schema *schema = NULL;
	int err = fr_schema_parse(out->schema, strlen(out->schema), &schema);

	fr_schema_free(schema);
	if (!err && strlen(out->schema) >= FR_META_SZ) {
		fr_err("these are more tracepoints than a session has room for, %u: give narrower patterns", out->cnt);
		return -EINVAL;
	}
	if (err)
		fr_err("the tracepoints' formats make no schema: %s: record fewer of them", strerror(-err));
	return err;
}

static int tpchoice_check_room(const struct fr_tpchoice *out)
{
	if (out->cnt < FR_TP_MAX)
		return 0;
	fr_err("these are more than %u tracepoints, the most that a session records: give narrower patterns", FR_TP_MAX);
	return -EINVAL;
}

static int add_all(struct choosing *c, struct fr_tpchoice *out)
{
	char *builtin = fr_schema_write(fr_schema_builtin(), NULL);
	struct fr_memfile s, m;
	FILE *schema = fr_memfile_open(&s), *formats = fr_memfile_open(&m);
	int err = builtin && schema && formats ? 0 : -ENOMEM;
	size_t i;

	if (!err)
		fputs(builtin, schema);
	for (i = 0; i < c->cnt && !err; i++) {
		if (!c->to[i].on)
			continue;
		err = tpchoice_check_room(out) ?: tpchoice_add_point(out, &c->all[i], &c->to[i], schema, formats);
		if (err && err != -ENOMEM && c->to[i].rare) { /* others are recorded without it */
			c->lacks[fr_rare_find(c->to[i].rare->name)] = true;
			err = 0;
		}
	}
	for (i = 0; i < c->up_cnt && !err; i++)
		if (c->up[i].on)
			err = tpchoice_check_room(out) ?: tpchoice_add_place(out, &c->up[i], schema, formats);
	out->schema = schema ? fr_memfile_end(&s, NULL) : NULL;
	out->formats = formats ? fr_memfile_end(&m, &out->formats_sz) : NULL;
	free(builtin);
	err = err ?: out->schema && out->formats ? 0 : -ENOMEM;
	return err ?: check_schema(out);
}

/* The first -e that adds tracepoints, or places in programs; NULL: none does. */
static const char *tpchoice_adds(char *const *event, u32 cnt, bool places)
{
	u32 i;

	for (i = 0; i < cnt; i++)
		if (*event[i] != '-' && fr_tpask_is(event[i]) && (fr_up_kind_of(event[i]) < FR_UP_KIND_CNT) == places)
			return event[i];
	return NULL;
}

/* Who asked for none is not told that there are none. */
static int tpchoice_unread(int err, const char *adds, struct fr_tpchoice *out)
{
	if (adds) {
		fr_err("-e %s: the kernel's tracepoints cannot be read: %s: %s", adds, strerror(-err), fr_tracefs_cure(err));
		return err;
	}
	snprintf(out->rare_missing, sizeof(out->rare_missing), "all");
	return 0;
}

/* What is there to choose from. Places in programs need nothing of tracefs. */
static int tpchoice_list(struct choosing *c, bool *rare, const char *adds, struct fr_tpchoice *out)
{
	int err = *rare || adds ? list_all(c) : 0;

	if (!err || err == -ENOMEM)
		return err;
	*rare = false;
	return tpchoice_unread(err, adds, out);
}

int fr_tpchoice_make(bool rare, char *const *event, u32 cnt, struct fr_tpchoice *out)
{
	const char *adds = tpchoice_adds(event, cnt, false);
	struct choosing *c;
	int err;
	u32 i;

	*out = (struct fr_tpchoice){};
	if (!rare && !adds && !tpchoice_adds(event, cnt, true))
		return 0;
	c = calloc(1, sizeof(*c));
	err = c ? tpchoice_list(c, &rare, adds, out) : -ENOMEM;
	err = err ?: rare ? tpchoice_add_rare(c) : 0;
	for (i = 0; i < cnt && !err; i++)
		if (fr_tpask_is(event[i]) && (c->all || fr_up_kind_of(event[i] + (*event[i] == '-')) < FR_UP_KIND_CNT))
			err = tpchoice_apply(c, event[i]);
	if (!err) {
		tpchoice_pair(c);
		err = add_all(c, out);
		tpchoice_put_lacks(c, out);
	}
	if (c) {
		fr_tracefs_free(c->all, c->cnt);
		free(c->to);
		for (i = 0; i < FR_TPCHOICE_RARE_MAX; i++)
			free(c->rare[i]);
	}
	free(c);
	if (err == -ENOMEM)
		fr_err_errno(err, "cannot choose tracepoints");
	if (err || !out->cnt)
		fr_tpchoice_free(out);
	return err;
}

void fr_tpchoice_free(struct fr_tpchoice *c)
{
	u32 i;

	for (i = 0; i < c->cnt; i++)
		fr_upfound_free(&c->chosen[i].up);
	free(c->schema);
	free(c->formats);
	c->schema = c->formats = NULL;
	c->cnt = c->site_cnt = 0;
	fr_watch_free(&c->cond);
}
