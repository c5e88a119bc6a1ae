/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "show/format/format_json.h"

#include <stdlib.h>
#include <string.h>

#include "base/rows/callargs.h"
#include "base/rows/whose.h"
#include "base/text/escape.h"
#include "base/tp/tps.h"
#include "show/format/format_pair.h"

struct text {
	char *s;
	size_t sz;
};

/* What is the same in all rows of an event. */
struct keys {
	struct text event;  /* ,"event":"sched_switch","pid": */
	struct text *field; /* ,"next_pid": */
	u32 field_cnt;
};

struct fr_json {
	bool with_pos, with_words, with_wall;
	struct fr_stacktexts stacks;
	struct keys keys[FR_EVENT_MAX];
};

/* before, escaped name, after; o is a scratch buffer that never gets full. */
static bool format_json_make(struct fr_out *o, struct text *t, const char *before, const char *name, const char *after)
{
	o->len = 0;
	fr_out_str(o, before);
	fr_escape_json(o, name, strnlen(name, 256));
	fr_out_str(o, after);
	t->s = malloc(o->len);
	t->sz = o->len;
	if (t->s)
		memcpy(t->s, o->buf, o->len);
	return t->s;
}

static bool make_keys(struct fr_out *scratch, struct keys *k, const struct fr_event *ev)
{
	u32 i;

	k->field = calloc(ev->field_cnt + 1, sizeof(*k->field));
	if (!k->field)
		return false;
	k->field_cnt = ev->field_cnt;
	for (i = 0; i < ev->field_cnt; i++) {
		if (!format_json_make(scratch, &k->field[i], ",\"", ev->fields[i].name, "\":"))
			return false;
	}
	return format_json_make(scratch, &k->event, ",\"event\":\"", ev->name, "\",\"pid\":");
}

struct fr_json *fr_json_new(const struct fr_schema *s, bool with_pos)
{
	struct fr_json *j = calloc(1, sizeof(*j));
	struct fr_out *scratch = calloc(1, sizeof(*scratch));
	bool ok = j && scratch;
	u32 nr;

	for (nr = 0; ok && nr < FR_EVENT_MAX; nr++) {
		if (fr_schema_event(s, nr))
			ok = make_keys(scratch, &j->keys[nr], fr_schema_event(s, nr));
	}
	free(scratch);
	if (!ok) {
		fr_json_free(j);
		return NULL;
	}
	j->with_pos = with_pos;
	return j;
}

void fr_json_stacks(struct fr_json *j, struct fr_stacktexts stacks)
{
	j->stacks = stacks;
}

void fr_json_words(struct fr_json *j, bool words, bool wall)
{
	j->with_words = words;
	j->with_wall = wall;
}

void fr_json_free(struct fr_json *j)
{
	u32 nr, i;

	for (nr = 0; j && nr < FR_EVENT_MAX; nr++) {
		struct keys *k = &j->keys[nr];

		for (i = 0; k->field && i < k->field_cnt; i++)
			free(k->field[i].s);
		free(k->field);
		free(k->event.s);
	}
	free(j);
}

/* Each row of millions goes through it. */
#define INLINE inline __attribute__((always_inline))

#define LITERAL(o, s) fr_out_mem(o, s, sizeof(s) - 1)

static void format_json_put_text(struct fr_out *o, const char *s, size_t len)
{
	fr_out_char(o, '"');
	fr_escape_json(o, s, len);
	fr_out_char(o, '"');
}

static INLINE void format_json_put_num(struct fr_out *o, u64 num, bool is_signed)
{
	if (is_signed)
		fr_out_s64(o, num);
	else
		fr_out_u64(o, num);
}

static void format_json_put_nums(struct fr_out *o, const struct fr_val *v)
{
	size_t i;

	fr_out_char(o, '[');
	for (i = 0; i < v->len; i++) {
		if (i)
			fr_out_char(o, ',');
		format_json_put_num(o, v->nums[i], v->is_signed);
	}
	fr_out_char(o, ']');
}

/* ,"kstack_sym":["..."] */
static void format_json_put_stack(const struct fr_json *j, struct fr_out *o, const struct fr_row *r, const struct fr_field *f,
				  const struct fr_val *v)
{
	const char *const *text;
	u32 cnt = 0, i;

	LITERAL(o, ",\"");
	fr_escape_json(o, f->name, strlen(f->name));
	LITERAL(o, "_sym\":");
	if (v->kind != FR_VAL_NUMS) {
		LITERAL(o, "null");
		return;
	}
	text = j->stacks.of(j->stacks.arg, r, f, &cnt);
	fr_out_char(o, '[');
	for (i = 0; i < cnt; i++) {
		if (i)
			fr_out_char(o, ',');
		format_json_put_text(o, text[i], strlen(text[i]));
	}
	fr_out_char(o, ']');
}

static INLINE void put_value(struct fr_out *o, const struct fr_val *v)
{
	switch (v->kind) {
	case FR_VAL_NUM:
		format_json_put_num(o, v->num, v->is_signed);
		return;
	case FR_VAL_TEXT:
		format_json_put_text(o, v->text, v->len);
		return;
	case FR_VAL_NUMS:
		format_json_put_nums(o, v);
		return;
	default:
		LITERAL(o, "null");
	}
}

static void format_json_put_who(struct fr_out *o, struct fr_who who, u32 tid)
{
	if (who.pid < 0)
		LITERAL(o, "null");
	else
		fr_out_u64(o, who.pid);
	LITERAL(o, ",\"tid\":");
	fr_out_u64(o, tid);
	LITERAL(o, ",\"comm\":");
	if (who.comm)
		format_json_put_text(o, who.comm, who.len);
	else
		LITERAL(o, "null");
}

static void format_json_put_pos(struct fr_out *o, const struct fr_row *r)
{
	const char *tier = fr_tier_name(r->tier);
	u64 seq;
	u32 off;

	fr_row_pos(r, &seq, &off);
	LITERAL(o, ",\"pos\":{\"epoch\":");
	fr_out_u64(o, r->b->epoch);
	LITERAL(o, ",\"tier\":");
	if (tier)
		format_json_put_text(o, tier, strlen(tier));
	else
		fr_out_u64(o, r->tier);
	LITERAL(o, ",\"seq\":");
	fr_out_u64(o, seq);
	LITERAL(o, ",\"offset\":");
	fr_out_u64(o, off);
	fr_out_char(o, '}');
}

/* An argument that has words, or its number. */
static void format_json_put_arg(struct fr_out *o, const struct fr_callargs *a, u32 i)
{
	char text[FR_CALLWORDS_SZ];
	size_t sz = i < a->known_cnt ? fr_callwords_put_named(a->signature, a->v, a->cnt, i, text) - text : 0;

	if (sz)
		format_json_put_text(o, text, sz);
	else
		fr_out_u64(o, a->v[i]);
}

/* Arguments of a system call, ["AT_FDCWD",140726425350256,"O_RDONLY|O_CLOEXEC",0], or one of them. False: the call has no
 * names. */
static bool format_json_put_args(struct fr_out *o, const struct fr_view *v, const struct fr_row *r, const struct fr_field *f,
				 const struct fr_val *val)
{
	struct fr_callargs a;
	u32 i;

	if (!fr_callargs_of(r, fr_callargs_call(v, r), &a))
		return false;
	if (val->kind == FR_VAL_NUM) {
		i = fr_callargs_at(r, f);
		if (i < a.cnt)
			format_json_put_arg(o, &a, i);
		return i < a.cnt;
	}
	fr_out_char(o, '[');
	for (i = 0; i < a.cnt; i++) {
		if (i)
			fr_out_char(o, ',');
		format_json_put_arg(o, &a, i);
	}
	fr_out_char(o, ']');
	return true;
}

/* A number's name, as text shows it. False: it has none. */
static bool format_json_put_word(struct fr_out *o, const struct fr_view *v, const struct fr_row *r, const struct fr_field *f,
				 const struct fr_val *val)
{
	struct fr_sys sys = fr_view_sys(v, r);
	char room[FR_SYSNAME_SZ];
	const char *name;

	if (f->style == FR_STYLE_ARG)
		return format_json_put_args(o, v, r, f, val);
	name = val->kind == FR_VAL_NUM ? fr_sysname_text(&sys, f->style, val->num, room) : NULL;
	if (!name && val->kind == FR_VAL_NUM && r->ev->group == FR_GROUP_TP)
		name = fr_tps_symbol(v->tps, r, f, val->num);

	if (name)
		format_json_put_text(o, name, strlen(name));
	return name;
}

/* ,"wall":"2026-01-31T14:02:11.500000000Z" */
static void format_json_put_wall(struct fr_out *o, const struct fr_view *v, const struct fr_row *r)
{
	u64 real_ns = fr_wall_real(v->wall, r->ts);
	char text[FR_WALL_TEXT_SZ];

	LITERAL(o, ",\"wall\":");
	if (!fr_wall_text(real_ns, text)) {
		LITERAL(o, "null");
		return;
	}
	format_json_put_text(o, text, strlen(text));
}

static INLINE void put_field(const struct fr_json *j, struct fr_out *o, const struct fr_view *v, const struct fr_row *r, u32 i)
{
	const struct fr_field *f = &r->ev->fields[i];
	struct fr_val val = fr_view_field(v, r, f);

	fr_out_mem(o, j->keys[r->ev->nr].field[i].s, j->keys[r->ev->nr].field[i].sz);
	if (!j->with_words || !format_json_put_word(o, v, r, f, &val))
		put_value(o, &val);
	if (j->stacks.of && fr_is_stack(f))
		format_json_put_stack(j, o, r, f, &val);
}

/* Its places of texts are not shown. */
static __attribute__((noinline)) void put_tracepoint(const struct fr_json *j, struct fr_out *o, const struct fr_view *v,
						     const struct fr_row *r)
{
	u32 i;

	for (i = 0; i < r->ev->field_cnt; i++)
		if (!fr_field_is_inner(&r->ev->fields[i]))
			put_field(j, o, v, r, i);
}

void fr_json_row(const struct fr_json *j, struct fr_out *o, const struct fr_view *v, const struct fr_row *r)
{
	const struct keys *k = &j->keys[r->ev->nr];
	u32 i;

	LITERAL(o, "{\"ts\":");
	fr_out_u64(o, r->ts);
	LITERAL(o, ",\"cpu\":");
	fr_out_u64(o, r->cpu);
	fr_out_mem(o, k->event.s, k->event.sz);
	format_json_put_who(o, fr_view_who(v, r), r->tid);
	if (r->ev->group == FR_GROUP_TP)
		put_tracepoint(j, o, v, r);
	else
		for (i = 0; i < k->field_cnt; i++)
			put_field(j, o, v, r, i);
	if (v->shows_pairs)
		fr_pair_json(o, fr_view_pair(v, r));
	if (v->whose)
		fr_whose_put_json(o, v, r);
	if (j->with_wall)
		format_json_put_wall(o, v, r);
	if (j->with_pos)
		format_json_put_pos(o, r);
	LITERAL(o, "}\n");
}
