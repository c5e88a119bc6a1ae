/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/events_tp.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/schema/tpname.h"
#include "base/text/memfile.h"
#include "base/text/nearest.h"
#include "base/tp/rare.h"
#include "base/tp/tpformat.h"
#include "cmd/events_up.h"
#include "sys/tracefs.h"

struct listing {
	struct fr_out *o;
	struct fr_jsonw *w; /* NULL: text */
	struct fr_tracefs_event *all;
	size_t cnt;
};

bool fr_events_is_tp(const char *name)
{
	return strchr(name, ':');
}

static bool is_of_kernel(const char *pattern)
{
	return fr_events_is_tp(pattern) && fr_up_kind_of(pattern) == FR_UP_KIND_CNT;
}

static const char *tp_bare(const char *pattern)
{
	size_t len = strlen(FR_TP_PREFIX);

	return strncmp(pattern, FR_TP_PREFIX, len) || !strchr(pattern + len, ':') ? pattern : pattern + len;
}

static void tp_name_of(const struct fr_tracefs_event *ev, char full[3 * FR_NAME_MAX])
{
	snprintf(full, 3 * FR_NAME_MAX, "%s:%s", ev->system, ev->name);
}

/* ---- one tracepoint ---- */

/* As it would be recorded: a schema with this event alone. 0; -EINVAL, -E2BIG: it cannot be; -errno. */
static int tp_schema_of(const struct fr_tracefs_event *ev, struct fr_schema **out)
{
	struct fr_tpformat *format = NULL;
	struct fr_tp conf;
	struct fr_memfile m;
	char *format_text, *text = NULL;
	size_t sz;
	FILE *f;
	int err = fr_tracefs_format(ev, &format_text, &sz);

	if (err)
		return err;
	err = fr_tpformat_new(ev->system, ev->name, format_text, sz, &format);
	f = err ? NULL : fr_memfile_open(&m);
	if (f) {
		fputs(FR_SCHEMA_TITLE "\n", f);
		err = fr_tpformat_conf(format, &conf) ?: fr_tpformat_put_schema(format, FR_TP_FIRST, FR_TIER_MAIN, f);
		text = fr_memfile_end(&m, &sz);
	}
	if (!err)
		err = text ? fr_schema_parse(text, sz, out) : -ENOMEM;
	fr_tpformat_free(format);
	free(format_text);
	free(text);
	return err;
}

/* "u32", "char[16]", "u8[]", "text" */
static const char *tp_type_of(const struct fr_field *f, char buf[32])
{
	const char *elem = f->elem == FR_TYPE_str ? "char" : fr_type_name(f->elem);

	if (f->kind == FR_KIND_DERIVED && f->elem == FR_TYPE_str)
		return "text";
	if (f->kind == FR_KIND_DERIVED)
		snprintf(buf, 32, "%s[]", elem);
	else if (f->type == FR_TYPE_array)
		snprintf(buf, 32, "%s[%u]", elem, f->elem_cnt);
	else
		return fr_type_name(f->type);
	return buf;
}

static const char *tp_why(int err)
{
	return err == -E2BIG ? "its records have more fields, or are longer, than one of a ring" : "its format is not known";
}

static void tp_text_event(struct fr_out *o, const char *full, const struct fr_event *ev, int err)
{
	char buf[32];
	u32 i;

	fr_out_printf(o, FR_TP_PREFIX "%s", full);
	if (fr_rare_find(full) >= 0)
		fr_out_str(o, "  is recorded by default");
	if (err)
		fr_out_printf(o, "  cannot be recorded: %s", tp_why(err));
	fr_out_char(o, '\n');
	for (i = 0; ev && i < ev->field_cnt; i++) {
		const struct fr_field *f = &ev->fields[i];

		if (!fr_field_is_inner(f) && f->kind != FR_KIND_FLAGS)
			fr_out_printf(o, "    %-18s %-9s %s\n", f->name, tp_type_of(f, buf), f->doc);
	}
}

static void tp_json_event(struct fr_jsonw *w, const char *full, const struct fr_event *ev, int err)
{
	char buf[3 * FR_NAME_MAX + 8];
	u32 i;

	snprintf(buf, sizeof(buf), FR_TP_PREFIX "%s", full);
	fr_jsonw_open(w, NULL, '{');
	fr_jsonw_text(w, "name", buf);
	fr_jsonw_text(w, "group", fr_group_name(FR_GROUP_TP));
	fr_jsonw_text(w, "tier", fr_tier_name(FR_TIER_MAIN));
	if (ev)
		fr_jsonw_u64(w, "bytes", ev->fixed_sz);
	else
		fr_jsonw_text(w, "error", tp_why(err));
	fr_jsonw_open(w, "fields", '[');
	for (i = 0; ev && i < ev->field_cnt; i++) {
		const struct fr_field *f = &ev->fields[i];

		if (fr_field_is_inner(f) || f->kind == FR_KIND_FLAGS)
			continue;
		fr_jsonw_open(w, NULL, '{');
		fr_jsonw_text(w, "name", f->name);
		fr_jsonw_text(w, "type", tp_type_of(f, buf));
		fr_jsonw_text(w, "doc", f->doc);
		fr_jsonw_close(w, '}');
	}
	fr_jsonw_close(w, ']');
	fr_jsonw_close(w, '}');
}

/* A tracepoint whose module has gone meanwhile is passed over. */
static int tp_put_event(const struct listing *l, const struct fr_tracefs_event *ev)
{
	struct fr_schema *schema = NULL;
	int err = tp_schema_of(ev, &schema);
	char full[3 * FR_NAME_MAX];

	tp_name_of(ev, full);
	if (err && err != -EINVAL && err != -E2BIG)
		return err == -ENOENT ? 0 : err;
	if (l->w)
		tp_json_event(l->w, full, schema ? fr_schema_event(schema, FR_TP_FIRST) : NULL, err);
	else
		tp_text_event(l->o, full, schema ? fr_schema_event(schema, FR_TP_FIRST) : NULL, err);
	fr_schema_free(schema);
	return 0;
}

/* ---- all ---- */

static bool tp_matches(const struct fr_tracefs_event *ev, const char *pattern)
{
	char full[3 * FR_NAME_MAX];

	tp_name_of(ev, full);
	return !fnmatch(tp_bare(pattern), full, 0);
}

/* A name that was perhaps meant; buf is where it is. */
static const char *nearest(const struct listing *l, const char *pattern, char buf[3 * FR_NAME_MAX])
{
	struct fr_nearest near = {.to = tp_bare(pattern)};
	char full[3 * FR_NAME_MAX];
	const char *was;
	size_t i;

	for (i = 0; i < l->cnt; i++) {
		tp_name_of(&l->all[i], full);
		was = near.name;
		fr_nearest_consider(&near, full);
		if (near.name == was)
			continue;
		memcpy(buf, full, sizeof(full));
		near.name = buf;
	}
	return fr_nearest_close(&near);
}

static int tp_check(const struct listing *l, char *const *pattern, int cnt)
{
	char buf[3 * FR_NAME_MAX];
	const char *near;
	size_t i;
	int k;

	for (k = 0; k < cnt; k++) {
		if (!is_of_kernel(pattern[k]))
			continue;
		for (i = 0; i < l->cnt && !tp_matches(&l->all[i], pattern[k]); i++)
			;
		if (i < l->cnt)
			continue;
		near = nearest(l, pattern[k], buf);
		fr_err("this kernel has no tracepoint '%s'%s%s: `flightrec events '*:*'` lists all", pattern[k],
		       near ? ": did you mean " : "", near ?: "");
		return FR_EXIT_USAGE;
	}
	return FR_EXIT_OK;
}

static int tp_put_all(const struct listing *l, char *const *pattern, int cnt)
{
	size_t i;
	int k, err = 0;

	for (i = 0; i < l->cnt && !err; i++) {
		for (k = 0; k < cnt && !(is_of_kernel(pattern[k]) && tp_matches(&l->all[i], pattern[k])); k++)
			;
		err = k < cnt ? tp_put_event(l, &l->all[i]) : 0;
	}
	return err;
}

/* Of programs, then of the kernel, which is not asked if none of its tracepoints is meant. */
int fr_events_tp(struct fr_out *o, struct fr_jsonw *w, char *const *pattern, int cnt)
{
	struct listing l = {.o = o, .w = w};
	int status = FR_EXIT_OK, of_kernel = 0, err, k;

	for (k = 0; k < cnt && status == FR_EXIT_OK; k++) {
		of_kernel += is_of_kernel(pattern[k]);
		if (fr_up_kind_of(pattern[k]) < FR_UP_KIND_CNT)
			status = fr_events_up(o, w, pattern[k]);
	}
	if (status != FR_EXIT_OK || !of_kernel)
		return status;
	err = fr_tracefs_list(&l.all, &l.cnt);

	if (err) {
		fr_err("the kernel's tracepoints cannot be read: %s: %s", strerror(-err), fr_tracefs_cure(err));
		return FR_EXIT_FAIL;
	}
	status = tp_check(&l, pattern, cnt);
	if (status == FR_EXIT_OK) {
		err = tp_put_all(&l, pattern, cnt);
		if (err)
			fr_err_errno(err, "cannot list the kernel's tracepoints");
		status = err ? FR_EXIT_FAIL : FR_EXIT_OK;
	}
	fr_tracefs_free(l.all, l.cnt);
	return status;
}
