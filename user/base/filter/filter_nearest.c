/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* filter_nearest: what was perhaps meant, and where it is in the expression. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "base/filter/filter_node.h"
#include "base/schema/flagnames.h"
#include "base/text/nearest.h"

/* Numbers that have names are between these: SI_* and results of calls are below zero. */
#define VALUE_FIRST (-1024)
#define VALUE_LAST  2047

const char *fr_filter_nearest_event(const struct fr_schema *s, const char *to)
{
	struct fr_nearest near = {.to = to};
	u32 nr;

	for (nr = 0; nr < FR_EVENT_MAX; nr++)
		if (fr_schema_event(s, nr))
			fr_nearest_consider(&near, fr_schema_event(s, nr)->name);
	return fr_nearest_likely(&near);
}

const char *fr_filter_nearest_tier(const char *to)
{
	struct fr_nearest near = {.to = to};
	u32 tier;

	for (tier = 0; fr_tier_name(tier); tier++)
		fr_nearest_consider(&near, fr_tier_name(tier));
	return fr_nearest_likely(&near);
}

/* Errors, signals and flags have names in capitals; lower-case letters never mean these. */
static bool is_constant(const char *name)
{
	return isupper((unsigned char)name[0]);
}

static void consider_constants(struct fr_nearest *near)
{
	u32 nr;
	int i;

	for (i = 1; i <= VALUE_LAST; i++) {
		if (fr_errno_name(i))
			fr_nearest_consider(near, fr_errno_name(i));
		if (fr_signal_name(i))
			fr_nearest_consider(near, fr_signal_name(i));
	}
	for (nr = 0; fr_flag_name(nr); nr++)
		fr_nearest_consider(near, fr_flag_name(nr));
}

#define TARGET "target_" /* before a tracepoint's field of a name that each event has */

/* pos is target_pos. */
static bool is_target(const char *name, const char *to)
{
	return !strncmp(name, TARGET, strlen(TARGET)) && !strcmp(name + strlen(TARGET), to);
}

static const char *near_name(const struct fr_schema *s, const char *to)
{
	struct fr_nearest near = {.to = to};
	u32 nr, i;

	for (i = 0; i < FR_BI_CNT; i++)
		fr_nearest_consider(&near, fr_builtin_names[i]);
	for (nr = 0; nr < FR_EVENT_MAX; nr++) {
		const struct fr_event *ev = fr_schema_event(s, nr);

		for (i = 0; ev && i < ev->field_cnt; i++) {
			if (is_target(ev->fields[i].name, to))
				return ev->fields[i].name;
			fr_nearest_consider(&near, ev->fields[i].name);
		}
	}
	if (!is_constant(to))
		return fr_nearest_likely(&near);
	consider_constants(&near);
	return fr_nearest_close(&near);
}

/* Other tools' names of our fields, whose letters are not near each other. */
static const struct {
	const char *theirs, *ours;
} synonyms[] = {
	{"syscall", "id"},  {"nr", "id"},	 {"process", "pid"}, {"tgid", "pid"},
	{"thread", "tid"},  {"task", "comm"},	 {"name", "comm"},   {"command", "comm"},
	{"time", "ts"},	    {"timestamp", "ts"}, {"signal", "sig"},  {"duration", "latency"},
	{"dur", "latency"}, {"result", "ret"},	 {"error", "ret"},
};

static const char *synonym_of(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(synonyms) / sizeof(synonyms[0]); i++)
		if (!strcasecmp(name, synonyms[i].theirs))
			return synonyms[i].ours;
	return NULL;
}

static bool is_syscall(const struct fr_filter *f, const char *name)
{
	struct fr_sys sys = {.arch = f->arch};
	s64 v;

	return !fr_sysname_find(&sys, FR_STYLE_SYSCALL, name, &v);
}

#define CALL "SYS_"

bool fr_filter_is_call(const char *name)
{
	return !strncmp(name, CALL, strlen(CALL));
}

int fr_filter_unknown_call(struct fr_filter *f, const struct fr_node *n)
{
	struct fr_nearest near = {.to = n->text + strlen(CALL)};
	struct fr_sys sys = {.arch = f->arch};
	s64 nr;

	for (nr = 0; nr <= VALUE_LAST; nr++)
		if (fr_sysname(&sys, FR_STYLE_SYSCALL, nr))
			fr_nearest_consider(&near, fr_sysname(&sys, FR_STYLE_SYSCALL, nr));
	if (!fr_nearest_close(&near))
		return fr_filter_fail(f, n->at, "no system call is called %.63s", near.to);
	return fr_filter_fail(f, n->at, "no system call is called %.63s: did you mean " CALL "%s?", near.to, near.name);
}

bool fr_filter_is_lacking(struct fr_filter *f, const struct fr_node *n, const bool *events)
{
	u32 nr;

	for (nr = 0; f->file && f->file->lacks && nr < FR_EVENT_MAX; nr++) {
		const struct fr_event *ev = !events || events[nr] ? fr_schema_event(f->schema, nr) : NULL;

		if (!ev || !f->file->lacks(f->file->of, nr, n->text))
			continue;
		fr_filter_fail(f, n->at, "%s was not recorded: other fields of %s were chosen, by {}", n->text, ev->name);
		return true;
	}
	return false;
}

int fr_filter_unknown_name(struct fr_filter *f, const struct fr_node *n)
{
	const char *ours = synonym_of(n->text);

	if (fr_filter_is_lacking(f, n, NULL))
		return -EINVAL;
	if (fr_filter_is_call(n->text))
		return fr_filter_unknown_call(f, n);
	if (fr_schema_find(f->schema, n->text))
		return fr_filter_fail(f, n->at, "%s is an event: event == %s", n->text, n->text);
	if (!ours && is_syscall(f, n->text))
		return fr_filter_fail(f, n->at, "%s is a system call: id == %s", n->text, n->text);
	return fr_filter_unknown(f, n->at, is_constant(n->text) ? "field or constant" : "field", n->text,
				 ours ? ours : near_name(f->schema, n->text));
}

static void consider_values(struct fr_nearest *near, const char *arch, const struct fr_field *f)
{
	struct fr_sys sys = {.arch = arch};
	s64 v;

	if (fr_field_kind(f) != FR_VAL_NUM || !fr_sysname_style(f->style))
		return;
	for (sys.abi = 0; sys.abi < 2; sys.abi++) {
		for (v = VALUE_FIRST; v <= VALUE_LAST; v++) {
			const char *name = f->style == FR_STYLE_RET ? fr_ret_error(v) : fr_sysname(&sys, f->style, v);

			if (name)
				fr_nearest_consider(near, name);
		}
	}
}

static void consider_told(void *near, const char *name)
{
	fr_nearest_consider(near, name);
}

/* Those that the file has by itself. */
static void each_own_value(const struct fr_filter *f, const struct fr_node *field, u32 nr,
			   void (*tell)(void *arg, const char *name), void *arg)
{
	if (field->field[nr] && f->file && f->file->values)
		f->file->values(f->file->of, nr, field->text, tell, arg);
}

const char *fr_filter_nearest_value(const struct fr_filter *f, const struct fr_node *field, const char *to)
{
	struct fr_nearest near = {.to = to}, constant = {.to = to};
	u32 nr;

	for (nr = 0; nr < FR_EVENT_MAX; nr++) {
		if (field->field[nr])
			consider_values(&near, f->arch, field->field[nr]);
		each_own_value(f, field, nr, consider_told, &near);
	}
	if (is_constant(to))
		consider_constants(&constant);
	if (fr_nearest_close(&constant) && (!near.name || constant.distance < near.distance))
		return constant.name;
	return fr_nearest_likely(&near);
}

/* Has the list this name? */
static bool is_listed(const char *list, const char *name)
{
	size_t len = strlen(name);
	const char *at;

	for (at = list; (at = strstr(at, name)); at += len)
		if ((at == list || at[-1] == ' ') && (!at[len] || at[len] == ','))
			return true;
	return false;
}

struct nearest_list {
	char *list;
	bool fits; /* false: there are too many */
};

static void nearest_list_name(void *arg, const char *name)
{
	struct nearest_list *l = arg;
	size_t len = strlen(l->list);

	if (!l->fits || is_listed(l->list, name))
		return;
	l->fits = len + strlen(name) + strlen(", ") < FR_FILTER_VALUES_SZ;
	if (l->fits)
		sprintf(l->list + len, "%s%s", len ? ", " : "", name);
}

/* Add the names of a field's values. */
static void list_names(const char *arch, const struct fr_field *f, struct nearest_list *l)
{
	struct fr_sys sys = {.arch = arch};
	s64 v;

	for (v = VALUE_FIRST; v <= VALUE_LAST && l->fits; v++)
		if (fr_sysname(&sys, f->style, v))
			nearest_list_name(l, fr_sysname(&sys, f->style, v));
}

bool fr_filter_list_values(const struct fr_filter *f, const struct fr_node *field, char list[FR_FILTER_VALUES_SZ])
{
	struct nearest_list l = {list, true};
	u32 nr;

	*list = 0;
	for (nr = 0; nr < FR_EVENT_MAX && l.fits; nr++) {
		if (field->field[nr] && fr_field_kind(field->field[nr]) == FR_VAL_NUM &&
		    fr_sysname_style(field->field[nr]->style))
			list_names(f->arch, field->field[nr], &l);
		each_own_value(f, field, nr, nearest_list_name, &l);
	}
	return l.fits && *list;
}

int fr_filter_unknown(struct fr_filter *f, size_t at, const char *what, const char *name, const char *nearest)
{
	if (nearest)
		return fr_filter_fail(f, at, "no %s is called %.63s: did you mean %s?", what, name, nearest);
	return fr_filter_fail(f, at, "no %s is called %.63s: `flightrec events` lists all", what, name);
}

/* ---- the place, with a caret below it ---- */

#define BEFORE_MAX 60 /* columns of the expression before the place, and after it */
#define BEHIND_MAX 40

static bool nearest_goes_on(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

const char *fr_filter_point(const char *expr, size_t at, const char *indent, char *buf, size_t sz)
{
	size_t len = strlen(expr), from, to, i, col, n;

	at = at < len ? at : len;
	from = at > BEFORE_MAX ? at - BEFORE_MAX : 0;
	to = len - at > BEHIND_MAX ? at + BEHIND_MAX : len;
	while (from && nearest_goes_on(expr[from]))
		from--;
	while (to < len && nearest_goes_on(expr[to]))
		to++;
	n = snprintf(buf, sz, "%s%s%.*s%s\n%s", indent, from ? "..." : "", (int)(to - from), expr + from, to < len ? "..." : "",
		     indent);
	/* a tab or newline would shift what follows */
	for (i = strlen(indent); i + strlen(indent) + 1 < n && i + 1 < sz; i++)
		if ((unsigned char)buf[i] < ' ' || buf[i] == 0x7f)
			buf[i] = ' ';
	for (col = from ? 3 : 0, i = from; i < at; i++)
		col += !nearest_goes_on(expr[i]);
	if (n < sz)
		snprintf(buf + n, sz - n, "%*s^", (int)col, "");
	return buf;
}

static void say_at(const char *what, const char *why, const char *expr, size_t at, const char *indent)
{
	char place[256];
	size_t line = strcspn(fr_filter_point(expr, at, indent, place, sizeof(place)), "\n");

	fr_err("%s: %s\n%.*s\n%s", what, why, (int)line, place, place + line + !!place[line]);
}

void fr_filter_say(const char *expr, const struct fr_filter_error *error)
{
	say_at("the filter is wrong", error->text, expr, error->at, "    ");
}

void fr_filter_say_at(const char *option, const char *why, const char *expr, size_t at)
{
	say_at(option, why, expr, at, "  ");
}
