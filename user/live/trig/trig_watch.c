/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/trig/trig_watch.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/tp/tps.h"
#include "live/session/sess_int.h"
#include "read/elf/kbtf.h"
#include "rule.h"

#define PROGS  "fr_watch_progs"
#define TABLES "fr_watch_tables"

/* If the kernel has the event's tracepoint, load its program, which has the event's name. */
static bool want_event(struct bpf_object *obj, const struct btf *btf, u32 nr)
{
	const struct fr_event *ev = fr_schema_event(fr_schema_builtin(), nr);
	struct bpf_program *prog = ev ? bpf_object__find_program_by_name(obj, ev->name) : NULL;

	if (!prog || !fr_kbtf_has(btf, fr_kbtf_tracepoint_of(prog)))
		return false;
	bpf_program__set_autoload(prog, true);
	return true;
}

int fr_trig_watch_want(struct bpf_object *obj, const struct btf *btf, struct fr_watch_set *set, const struct fr_trigger *rule,
		       u32 nr, char *why, size_t why_sz)
{
	u32 before = set->prog_cnt, i;
	struct fr_filter_error error;
	struct utsname un;
	int err, cnt = 0;

	uname(&un);
	err = fr_watch_add(set, nr, rule->expr, un.machine, &error);
	if (err) {
		snprintf(why, why_sz, "%s", err == -ENOMEM ? "no memory" : error.text);
		return err == -ENOMEM ? err : -ENOTSUP;
	}
	for (i = before; i < set->prog_cnt; i++)
		cnt += want_event(obj, btf, set->prog[i].event);
	if (cnt)
		return cnt;
	snprintf(why, why_sz, "this kernel has no tracepoint for it");
	return -ENOTSUP;
}

/* The format of a tracepoint in the session's text, and *item, which that is from. NULL: it has none that is sound. */
static struct fr_tpformat *format_of(const char *text, size_t sz, const char *tp, struct fr_tps_item *item)
{
	struct fr_tpformat *format = NULL;
	char name[3 * FR_NAME_MAX];
	size_t pos = 0;

	while (fr_tps_next(text, sz, &pos, item)) {
		fr_tp_name(name, sizeof(name), item->system, item->name);
		if (!strcmp(name, tp))
			return fr_tpformat_new(item->system, item->name, item->text, item->sz, &format) ? NULL : format;
	}
	return NULL;
}

/* Behind its name and number, which are a session's own; without the words in which records are printed. */
static size_t watch_fields(const char *text, size_t sz, const char **at)
{
	static const char head[] = "\nformat:\n", words[] = "\nprint fmt:";
	const char *end = memmem(text, sz, words, strlen(words)) ?: text + sz;

	*at = memmem(text, end - text, head, strlen(head));
	return *at ? end - *at : 0;
}

/* Find a probe's place again by what the session says of it. A rule reads records as the session's format has them, so the file
 * that has the path now must make such. */
static int watch_find_place(const struct fr_event *ev, const struct fr_tps_item *item, struct fr_upfound *up, char *why,
			    size_t why_sz)
{
	char place_why[FR_UPCHOICE_WHY_SZ];
	const char *now, *then;
	size_t now_sz, then_sz;
	int err = fr_upchoice_again(ev->doc, up, place_why);

	if (err) {
		snprintf(why, why_sz, "%s: %s", ev->doc, place_why);
		return err;
	}
	now_sz = watch_fields(up->format, up->format_sz, &now);
	then_sz = watch_fields(item->text, item->sz, &then);
	if (now && then && now_sz == then_sz && !memcmp(now, then, now_sz))
		return 0;
	fr_upfound_free(up);
	snprintf(why, why_sz, "%s: the file has other arguments there now than the session records: record anew", ev->doc);
	return -EINVAL;
}

/* What its program is told, once for all rules about it. span: of a mark that rules of spans are about. */
static int note_tp(struct fr_trig_tps *tps, const struct fr_event *ev, const struct fr_tpformat *format,
		   const struct fr_tps_item *item, u32 span, char *why, size_t why_sz)
{
	const char *name;
	u32 i = 0;
	int err;

	while (i < tps->cnt && tps->tp[i].nr != ev->nr)
		i++;
	if (i < tps->cnt) {
		tps->tp[i].span |= span;
		return 0;
	}
	if (i == FR_TP_MAX)
		return -E2BIG;
	err = fr_tpformat_conf(format, &tps->tp[i].conf);
	if (!err && !fr_tp_split(ev->name, tps->tp[i].system, &name))
		err = -EINVAL;
	if (!err && fr_up_kind_of(ev->name) < FR_UP_KIND_CNT)
		err = watch_find_place(ev, item, &tps->tp[i].up, why, why_sz);
	if (err)
		return err;
	tps->tp[i].nr = ev->nr;
	tps->tp[i].span = span;
	snprintf(tps->tp[i].name, sizeof(tps->tp[i].name), "%s", name);
	tps->cnt++;
	return 0;
}

void fr_trig_tps_free(struct fr_trig_tps *tps)
{
	u32 i;

	for (i = 0; i < tps->cnt; i++)
		fr_upfound_free(&tps->tp[i].up);
}

int fr_trig_watch_want_tp(const struct fr_sess *s, struct fr_trig_tps *tps, struct fr_watch_set *set,
			  const struct fr_trigger *rule, u32 nr, char *why, size_t why_sz)
{
	struct fr_schema *schema = NULL, *whole = NULL;
	struct fr_filter_file file = {.value = fr_tpformat_value, .values = fr_tpformat_values};
	const char *kind = fr_up_kind_name(fr_up_kind_of(rule->tp));
	struct fr_tpformat *format = NULL;
	const struct fr_event *ev = NULL;
	struct fr_filter_error error;
	struct fr_tps_item item;
	struct utsname un;
	char *text = NULL;
	size_t sz;
	int err;

	uname(&un);
	err = fr_schema_parse(s->schema, s->schema_sz, &schema) ?: fr_sess_formats(s, &text, &sz);
	ev = err ? NULL : fr_schema_find(schema, rule->tp);
	if (!err && !ev) {
		snprintf(why, why_sz, "%s is not recorded, which this trigger needs: add -e %s%s", rule->tp, kind ?: rule->tp,
			 kind ? ":PATH:PLACE, which makes an event of that name" : "");
		err = -ENOTSUP;
	}
	format = err ? NULL : format_of(text, sz, rule->tp, &item);
	/* where fields are chosen for the ring, a rule may be about others */
	whole = format ? fr_tpformat_schema(format, ev->nr) : NULL;
	if (!err && !whole) {
		snprintf(why, why_sz, "the format of %s cannot be used", rule->tp);
		err = -ENOTSUP;
	}
	if (!err) {
		file.schema = whole;
		file.arch = un.machine;
		file.of = format;
		err = fr_watch_add_one(set, nr, rule->expr, &file, &error);
		if (err == -EINVAL)
			snprintf(why, why_sz, "%s", error.text);
		err = err == -EINVAL ? -ENOTSUP : err;
	}
	err = err ?: note_tp(tps, ev, format, &item, FR_MARKSPAN_WATCHED, why, why_sz);
	err = err == -EINVAL ? -ENOTSUP : err;
	fr_tpformat_free(format);
	fr_schema_free(whole);
	fr_schema_free(schema);
	free(text);
	return err ?: 1;
}

/* A mark that begins or ends spans: FR_MARKSPAN_NONE: it is none. */
static u32 watch_span_of(const struct fr_event *ev)
{
	u32 mark = fr_mark_of(ev);

	return mark == FR_MARK_begin ? FR_MARKSPAN_BEGINS : mark == FR_MARK_end ? FR_MARKSPAN_ENDS : FR_MARKSPAN_NONE;
}

/* Are its arguments where the program looks for them? */
static bool watch_span_fits(const struct fr_upfound *up)
{
	u32 i;

	for (i = 0; i < up->site_cnt; i++) {
		const struct fr_up *conf = &up->site[i].conf;

		if (conf->arg_cnt <= FR_UP_MARK_ID || conf->arg[FR_UP_MARK_NAME].to_sz ||
		    conf->arg[FR_UP_MARK_ID].to_sz != sizeof(u64))
			return false;
	}
	return up->path;
}

static int watch_note_span(struct fr_trig_tps *tps, const struct fr_event *ev, const char *text, size_t sz, char *why,
			   size_t why_sz)
{
	struct fr_tps_item item;
	struct fr_tpformat *format = format_of(text, sz, ev->name, &item);
	int err = format ? note_tp(tps, ev, format, &item, watch_span_of(ev), why, why_sz) : -ENOTSUP;
	u32 i;

	for (i = 0; i < tps->cnt && !err; i++)
		if (tps->tp[i].nr == ev->nr && !watch_span_fits(&tps->tp[i].up))
			err = -ENOTSUP;
	if (err && !*why)
		snprintf(why, why_sz, "the marks of %s cannot be used", ev->name);
	fr_tpformat_free(format);
	return err;
}

int fr_trig_watch_want_spans(const struct fr_sess *s, struct fr_trig_tps *tps, char *why, size_t why_sz)
{
	struct fr_schema *schema = NULL;
	const struct fr_event *ev;
	u32 seen = 0, span, nr;
	char *text = NULL;
	size_t sz;
	int err;

	err = fr_schema_parse(s->schema, s->schema_sz, &schema) ?: fr_sess_formats(s, &text, &sz);
	for (nr = FR_TP_FIRST; nr <= FR_TP_LAST && !err; nr++) {
		ev = fr_schema_event(schema, nr);
		span = ev ? watch_span_of(ev) : FR_MARKSPAN_NONE;
		seen |= span;
		err = span ? watch_note_span(tps, ev, text, sz, why, why_sz) : 0;
	}
	if (!err && seen != (FR_MARKSPAN_BEGINS | FR_MARKSPAN_ENDS)) {
		snprintf(why, why_sz,
			 "no marks that %s spans are recorded, which this trigger needs: add -e mark:PATH of each file with "
			 "them",
			 !seen			    ? "begin and end"
			 : seen == FR_MARKSPAN_ENDS ? "begin"
						    : "end");
		err = -ENOTSUP;
	}
	fr_schema_free(schema);
	free(text);
	return err == -EINVAL ? -ENOTSUP : err;
}

int fr_trig_watch_size(struct bpf_object *obj, struct fr_watch_set *set)
{
	struct bpf_map *progs = bpf_object__find_map_by_name(obj, PROGS), *tables = bpf_object__find_map_by_name(obj, TABLES);
	int err;

	fr_watch_ready(set);
	if (!progs || !tables)
		return -ENOENT;
	err = bpf_map__set_max_entries(progs, set->prog_cnt ?: 1);
	return err ?: bpf_map__set_max_entries(tables, set->table_cnt ?: 1);
}

int fr_trig_watch_fill(struct bpf_object *obj, const struct fr_watch_set *set)
{
	int progs = bpf_object__find_map_fd_by_name(obj, PROGS), tables = bpf_object__find_map_fd_by_name(obj, TABLES);
	u32 i;

	for (i = 0; i < set->prog_cnt; i++)
		if (bpf_map_update_elem(progs, &i, &set->prog[i], BPF_ANY))
			return -errno;
	for (i = 0; i < set->table_cnt; i++)
		if (bpf_map_update_elem(tables, &i, &set->table[i], BPF_ANY))
			return -errno;
	return 0;
}
