/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "show/export/page_columns.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/set/hash.h"
#include "base/set/hashed.h"
#include "base/set/vec.h"
#include "show/export/page_column.h"

#define NAMED_MIN (-4096) /* numbers that may have a name begin here */
#define NAMED_MAX 65536
#define NAMED_CNT (NAMED_MAX - NAMED_MIN)
#define ALL_CNT	  (128 - NAMED_MIN) /* errors are above -4096, signals below 128 */
#define ABI_CNT	  2u

struct field_cols {
	struct fr_page_nums num; /* of an array: counts */
	struct fr_page_nums flat;
};

struct event_cols {
	u32 cnt;
	struct field_cols field[FR_FIELD_MAX];
};

struct fr_page_columns {
	const struct fr_schema *schema;
	u64 origin_ns;
	u32 cnt;
	struct fr_page_nums ev, ts, cpu, tid, comm;
	struct event_cols *of[FR_EVENT_MAX];
	struct fr_page_index index;
	struct fr_pbuf plain, packed;
	struct fr_page_text *text;
	size_t text_cnt;
	struct fr_hashed slots;		  /* indices of texts */
	u8 *named[FR_STYLE_CNT][ABI_CNT]; /* bits of numbers seen */
};

/* ---- texts ---- */

static bool columns_has_text(const void *of, u32 nr, const void *key)
{
	const struct fr_page_text *t = &((const struct fr_page_columns *)of)->text[nr], *k = key;

	return t->len == k->len && !memcmp(t->s, k->s, k->len);
}

/* The index of a text; < 0: no memory. */
static s64 columns_text_nr(struct fr_page_columns *p, const char *s, size_t len)
{
	const struct fr_page_text key = {s, len};
	struct fr_page_text *text;
	char *copy;
	u32 *nr;

	if (!s)
		return 0;
	nr = fr_hashed_at(&p->slots, fr_hash(FR_HASH_SEED, s, len), columns_has_text, p, &key);
	if (nr && *nr)
		return *nr;
	text = nr ? fr_vec_more(&p->text, p->text_cnt) : NULL;
	copy = text ? malloc(len + 1) : NULL;
	if (!copy)
		return -ENOMEM;
	memcpy(copy, s, len);
	copy[len] = 0;
	*text = (struct fr_page_text){copy, len};
	*nr = p->text_cnt;
	return p->text_cnt++;
}

const struct fr_page_text *fr_page_columns_texts(const struct fr_page_columns *p, size_t *cnt)
{
	*cnt = p->text_cnt;
	return p->text;
}

/* ---- numbers with names ---- */

static int note_named(struct fr_page_columns *p, enum fr_style style, u32 abi, s64 v)
{
	u8 **bits = &p->named[style][abi % ABI_CNT];
	u32 i = (u64)v - (u64)NAMED_MIN;

	if (v < NAMED_MIN || v >= NAMED_MAX || !fr_sysname_style(style))
		return 0;
	if (!*bits)
		*bits = calloc(1, NAMED_CNT / 8);
	if (!*bits)
		return -ENOMEM;
	(*bits)[i / 8] |= 1u << i % 8;
	return 0;
}

/* The name of a number; of a result its error name, "-ENOENT". NULL: none. */
static const char *columns_name_of(const struct fr_sys *sys, enum fr_style style, s64 v, char buf[32])
{
	const char *error = style == FR_STYLE_RET ? fr_ret_error(v) : NULL;

	if (!error)
		return fr_sysname(sys, style, v);
	snprintf(buf, 32, "-%s", error);
	return buf;
}

/* Whose numbers all have their names there: a search is to tell an error that did not occur from one that there is not. */
static bool columns_has_all(enum fr_style style, u32 abi)
{
	return !abi && (style == FR_STYLE_RET || style == FR_STYLE_SIG);
}

void fr_page_columns_names(const struct fr_page_columns *p, const char *arch,
			   void (*fn)(void *arg, enum fr_style style, u32 abi, s64 v, const char *name), void *arg)
{
	u32 style, abi, i;
	char buf[32];

	for (style = 0; style < FR_STYLE_CNT; style++) {
		for (abi = 0; abi < ABI_CNT; abi++) {
			const u8 *bits = p->named[style][abi];
			bool has_all = columns_has_all(style, abi);
			u32 cnt = bits ? NAMED_CNT : has_all ? ALL_CNT : 0;
			struct fr_sys sys = {arch, abi};

			for (i = 0; i < cnt; i++) {
				s64 v = (s64)i + NAMED_MIN;
				bool is_named = (has_all && i < ALL_CNT) || (bits && bits[i / 8] >> i % 8 & 1);
				const char *name = is_named ? columns_name_of(&sys, style, v, buf) : NULL;

				if (name)
					fn(arg, style, abi, v, name);
			}
		}
	}
}

/* ---- rows ---- */

static int columns_put_array(struct field_cols *c, const struct fr_val *val)
{
	size_t i;
	int err = fr_page_num(&c->num, val->kind == FR_VAL_NUMS ? val->len : 0);

	for (i = 0; val->kind == FR_VAL_NUMS && i < val->len && !err; i++)
		err = fr_page_num(&c->flat, val->nums[i]);
	return err;
}

static int columns_put_field(struct fr_page_columns *p, struct field_cols *c, const struct fr_view *v, const struct fr_row *r,
			     const struct fr_field *f)
{
	struct fr_val val = {0};
	s64 nr;

	if (f->kind != FR_KIND_DERIVED || f->rule != FR_RULE_STACK) /* stacks are looked up by id */
		val = fr_view_field(v, r, f);
	if (fr_field_kind(f) == FR_VAL_NUMS)
		return columns_put_array(c, &val);
	if (fr_field_kind(f) == FR_VAL_TEXT) {
		nr = val.kind == FR_VAL_TEXT ? columns_text_nr(p, val.text, val.len) : 0;
		return nr < 0 ? -ENOMEM : fr_page_num(&c->num, nr);
	}
	return fr_page_num(&c->num, val.num) ?: note_named(p, f->style, fr_view_sys(v, r).abi, val.num);
}

static int columns_put_fields(struct fr_page_columns *p, const struct fr_view *v, const struct fr_row *r)
{
	struct event_cols **of = &p->of[r->ev->nr];
	int err = 0;
	u32 i;

	if (!*of)
		*of = calloc(1, sizeof(**of));
	if (!*of)
		return -ENOMEM;
	(*of)->cnt++;
	for (i = 0; i < r->ev->field_cnt && !err; i++)
		err = columns_put_field(p, &(*of)->field[i], v, r, &r->ev->fields[i]);
	return err;
}

int fr_page_columns_add(struct fr_page_columns *p, const struct fr_view *v, const struct fr_row *r)
{
	struct fr_who who = fr_view_who(v, r);
	s64 comm = columns_text_nr(p, who.comm, who.len);
	int err = comm < 0 ? comm : 0;

	err = err ?: fr_page_num(&p->ev, r->ev->nr);
	err = err ?: fr_page_num(&p->ts, r->ts - p->origin_ns);
	err = err ?: fr_page_num(&p->cpu, r->cpu);
	err = err ?: fr_page_num(&p->tid, r->tid);
	err = err ?: fr_page_num(&p->comm, comm);
	err = err ?: columns_put_fields(p, v, r);
	err = err ?: fr_page_index_row(&p->index, r->tid, r->ts - p->origin_ns, comm);
	return err ?: ++p->cnt == FR_PAGE_ROWS;
}

/* ---- pieces ---- */

static int columns_put_event(struct fr_page_columns *p, u32 nr)
{
	const struct fr_event *ev = fr_schema_event(p->schema, nr);
	struct event_cols *of = p->of[nr];
	int err = fr_pbuf_room(&p->plain, 5);
	u32 i;

	if (err)
		return err;
	p->plain.p[p->plain.len++] = nr;
	fr_page_u32(&p->plain, of->cnt);
	of->cnt = 0;
	for (i = 0; i < ev->field_cnt && !err; i++) {
		err = fr_page_column(&p->plain, &of->field[i].num);
		if (!err && fr_field_kind(&ev->fields[i]) == FR_VAL_NUMS)
			err = fr_page_column(&p->plain, &of->field[i].flat);
	}
	return err;
}

static int columns_put_piece(struct fr_page_columns *p)
{
	int err = fr_pbuf_room(&p->plain, sizeof(u32));
	u32 nr;

	if (err)
		return err;
	fr_page_u32(&p->plain, p->cnt);
	err = fr_page_column(&p->plain, &p->ev);
	err = err ?: fr_page_column(&p->plain, &p->ts);
	err = err ?: fr_page_column(&p->plain, &p->cpu);
	err = err ?: fr_page_column(&p->plain, &p->tid);
	err = err ?: fr_page_column(&p->plain, &p->comm);
	for (nr = 0; nr < FR_EVENT_MAX && !err; nr++) {
		if (p->of[nr] && p->of[nr]->cnt)
			err = columns_put_event(p, nr);
	}
	return err;
}

int fr_page_columns_take(struct fr_page_columns *p, const u8 **out, size_t *sz)
{
	int err;

	*sz = 0;
	if (!p->cnt)
		return 0;
	p->plain.len = 0;
	err = fr_page_index_piece(&p->index, p->cnt, p->ts.v[0]);
	err = err ?: columns_put_piece(p) ?: fr_page_pack(&p->plain, &p->packed);
	p->cnt = 0;
	*out = p->packed.p;
	*sz = p->packed.len;
	return err;
}

struct fr_page_index *fr_page_columns_index(struct fr_page_columns *p)
{
	return &p->index;
}

/* ---- life ---- */

struct fr_page_columns *fr_page_columns_new(const struct fr_schema *s, u64 origin_ns)
{
	struct fr_page_columns *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->schema = s;
	p->origin_ns = origin_ns;
	fr_page_index_init(&p->index);
	if (!fr_vec_more(&p->text, p->text_cnt)) {
		fr_page_columns_free(p);
		return NULL;
	}
	p->text[p->text_cnt++] = (struct fr_page_text){"", 0};
	return p;
}

static void free_event(struct event_cols *of)
{
	u32 i;

	for (i = 0; of && i < FR_FIELD_MAX; i++) {
		free(of->field[i].num.v);
		free(of->field[i].flat.v);
	}
	free(of);
}

void fr_page_columns_free(struct fr_page_columns *p)
{
	size_t i;
	u32 style;

	if (!p)
		return;
	for (i = 0; i < FR_EVENT_MAX; i++)
		free_event(p->of[i]);
	for (i = 1; i < p->text_cnt; i++)
		free((char *)p->text[i].s);
	for (style = 0; style < FR_STYLE_CNT; style++) {
		free(p->named[style][0]);
		free(p->named[style][1]);
	}
	fr_page_index_free(&p->index);
	free(p->ev.v);
	free(p->ts.v);
	free(p->cpu.v);
	free(p->tid.v);
	free(p->comm.v);
	free(p->plain.p);
	free(p->packed.p);
	free(p->text);
	free(p->slots.slot);
	free(p);
}
