/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/tp/tps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/rows/rows.h"
#include "base/schema/tpname.h"

#define PID_OFF 4u /* of common_pid in a record */

struct fr_tps {
	struct fr_tpformat *of[FR_EVENT_MAX];  /* by event number */
	struct fr_tps_item item[FR_EVENT_MAX]; /* the same, as text */
};

/* ---- the text ---- */

/* A word of at most FR_NAME_MAX bytes up to end, cut out of *p; NULL: there is none. */
static bool tps_take_word(const char **p, const char *end, char behind, char to[FR_NAME_MAX + 1])
{
	const char *stop = memchr(*p, behind, end - *p);
	size_t len = stop ? (size_t)(stop - *p) : 0;

	if (!len || len > FR_NAME_MAX || memchr(*p, '\n', len) || memchr(*p, ' ', len))
		return false;
	memcpy(to, *p, len);
	to[len] = 0;
	*p = stop + 1;
	return true;
}

bool fr_tps_next(const char *text, size_t sz, size_t *pos, struct fr_tps_item *out)
{
	const char *p = text + *pos, *end = text + sz;
	char word[FR_NAME_MAX + 1], *stop;
	u64 len;

	if (*pos >= sz || !tps_take_word(&p, end, ' ', word) || strcmp(word, "tp") ||
	    !tps_take_word(&p, end, ' ', out->system) || !tps_take_word(&p, end, ' ', out->name) ||
	    !tps_take_word(&p, end, '\n', word) || *word < '0' || *word > '9')
		return false;
	len = strtoull(word, &stop, 10);
	if (*stop || !len || len > FR_TPFORMAT_MAX_SZ || len > (u64)(end - p))
		return false;
	out->text = p;
	out->sz = len;
	*pos = p + len - text;
	return true;
}

bool fr_tps_is_good(const char *text, size_t sz)
{
	struct fr_tps_item item;
	size_t pos = 0;

	while (fr_tps_next(text, sz, &pos, &item))
		;
	return pos == sz && sz <= FR_TPS_MAX_SZ;
}

int fr_tps_put(FILE *f, const struct fr_tps_item *item)
{
	fprintf(f, "tp %s %s %zu\n", item->system, item->name, item->sz);
	return fwrite(item->text, 1, item->sz, f) == item->sz ? 0 : -EIO;
}

/* ---- formats by events ---- */

struct fr_tps *fr_tps_new(const struct fr_schema *s, const char *text, size_t sz)
{
	struct fr_tps *t = calloc(1, sizeof(*t));
	char name[3 * FR_NAME_MAX];
	struct fr_tps_item item;
	const struct fr_event *ev;
	size_t pos = 0;
	int err;

	while (t && fr_tps_next(text, sz, &pos, &item)) {
		fr_tp_name(name, sizeof(name), item.system, item.name);
		ev = fr_schema_find(s, name);
		if (!ev || t->of[ev->nr])
			continue;
		err = fr_tpformat_new(item.system, item.name, item.text, item.sz, &t->of[ev->nr]);
		if (!err)
			err = fr_tpformat_read_as(t->of[ev->nr], ev);
		t->item[ev->nr] = item;
		if (err == -ENOMEM) {
			fr_tps_free(t);
			return NULL;
		}
	}
	return t;
}

void fr_tps_free(struct fr_tps *t)
{
	u32 nr;

	for (nr = 0; t && nr < FR_EVENT_MAX; nr++)
		fr_tpformat_free(t->of[nr]);
	free(t);
}

struct fr_tpformat *fr_tps_format(const struct fr_tps *t, u32 nr)
{
	return t && nr < FR_EVENT_MAX ? t->of[nr] : NULL;
}

/* ---- rows ---- */

/* Put sz bytes at a place, as far as there is room. Returns where they end. */
static size_t tps_put_bytes(u8 *to, size_t at, const void *from, size_t sz)
{
	if (at >= FR_TPS_RECORD_SZ)
		return 0;
	sz = sz > FR_TPS_RECORD_SZ - at ? FR_TPS_RECORD_SZ - at : sz;
	memcpy(to + at, from, sz);
	return at + sz;
}

/* The text or array that the word f of a row says is somewhere among its data. */
static const void *tps_named(const struct fr_row *r, const struct fr_field *f, size_t *sz)
{
	const struct fr_field *data = fr_event_tail(r->ev);
	size_t all, at = (fr_row_num(r, f) & 0xffff) + FR_TP_AHEAD_SZ, len = fr_row_num(r, f) >> 16 & 0xffff;
	const u8 *bytes = data && data->type == FR_TYPE_data ? fr_row_bytes(r, data, &all) : NULL;

	*sz = 0;
	if (!bytes || at < data->off || at - data->off > all)
		return "";
	at -= data->off;
	*sz = len < all - at ? len : all - at;
	return bytes + at;
}

/* Of a part of the fields: each where the format has it, texts behind them. */
static size_t tps_record_of_part(const struct fr_tpformat *t, const struct fr_row *r, u8 *to)
{
	size_t end = fr_tpformat_fixed_sz(t), sz;
	char name[FR_NAME_MAX + 1];
	struct fr_tpfield its;
	const void *from;
	u64 num;
	u32 i;

	for (i = 0; i < r->ev->field_cnt; i++) {
		const struct fr_field *f = &r->ev->fields[i];
		bool is_loc = f->style == FR_STYLE_LOC;

		snprintf(name, sizeof(name), "%.*s", (int)(f->name_len - (is_loc ? strlen("_loc") : 0)), f->name);
		if (f->kind != FR_KIND_FIELD || f->off < FR_TP_REC_SZ || !fr_tpformat_find(t, name, &its) ||
		    is_loc != its.is_loc)
			continue;
		if (is_loc) {
			from = tps_named(r, f, &sz);
			num = (end - (its.is_rel ? its.off + its.sz : 0)) | sz << 16;
			end = tps_put_bytes(to, end, from, sz) ?: end;
			tps_put_bytes(to, its.off, &num, its.sz);
		} else if (f->type <= FR_TYPE_s64) {
			num = fr_row_num(r, f);
			tps_put_bytes(to, its.off, &num, fr_field_sz(f));
		} else if (f->type == FR_TYPE_array) {
			from = fr_row_bytes(r, f, &sz);
			tps_put_bytes(to, its.off, from, sz < its.sz ? sz : its.sz);
		}
	}
	return end;
}

size_t fr_tps_record(const struct fr_tps *t, const struct fr_row *r, u8 *to)
{
	const struct fr_event *ev = r->ev;
	const struct fr_tpformat *format = fr_tps_format(t, ev->nr);
	size_t end = FR_TP_HEAD_SZ, at, sz;
	u32 i, tid = r->tid;
	const void *from;
	u64 num;

	memset(to, 0, FR_TPS_RECORD_SZ);
	memcpy(to + PID_OFF, &tid, sizeof(tid));
	if (format && fr_tpformat_is_part(format))
		return tps_record_of_part(format, r, to);
	for (i = 0; i < ev->field_cnt; i++) {
		const struct fr_field *f = &ev->fields[i];

		if (f->kind != FR_KIND_FIELD || f->off < FR_TP_REC_SZ)
			continue;
		at = f->off - FR_TP_AHEAD_SZ;
		if (f->type <= FR_TYPE_s64) {
			num = fr_row_num(r, f);
			sz = fr_field_sz(f);
			from = &num;
		} else if (f->type == FR_TYPE_array || f->type == FR_TYPE_data) {
			from = fr_row_bytes(r, f, &sz);
		} else {
			continue;
		}
		at = tps_put_bytes(to, at, from, sz);
		end = at > end ? at : end;
	}
	return end;
}

const char *fr_tps_whole_text(const struct fr_tps *t, u32 nr, size_t *sz)
{
	const struct fr_tpformat *format = fr_tps_format(t, nr);

	if (!format || !fr_tpformat_has_words(format) || fr_tpformat_is_part(format))
		return NULL;
	*sz = t->item[nr].sz;
	return t->item[nr].text;
}

const void *fr_tps_whole_record(struct fr_tps *t, const struct fr_row *r, size_t *sz)
{
	struct fr_tpformat *format = fr_tps_format(t, r->ev->nr);
	u8 rec[FR_TPS_RECORD_SZ];

	*sz = format ? fr_tps_record(t, r, rec) : 0;
	return format ? fr_tpformat_hold(format, rec, *sz) : NULL;
}

const char *fr_tps_text(struct fr_tps *t, const struct fr_row *r)
{
	struct fr_tpformat *format = fr_tps_format(t, r->ev->nr);
	u8 rec[FR_TPS_RECORD_SZ];

	return format ? fr_tpformat_text(format, rec, fr_tps_record(t, r, rec)) : NULL;
}

const char *fr_tps_symbol(struct fr_tps *t, const struct fr_row *r, const struct fr_field *f, u64 v)
{
	struct fr_tpformat *format = fr_tps_format(t, r->ev->nr);

	return format ? fr_tpformat_symbol(format, f->name, v) : NULL;
}

bool fr_tps_lacks(const void *tps, u32 nr, const char *field)
{
	const struct fr_tpformat *format = fr_tps_format(tps, nr);

	return format && fr_tpformat_lacks(format, field);
}

int fr_tps_value(const void *tps, u32 nr, const char *field, const char *word, s64 *v)
{
	const struct fr_tpformat *format = fr_tps_format(tps, nr);

	return format ? fr_tpformat_value(format, nr, field, word, v) : -EINVAL;
}

void fr_tps_values(const void *tps, u32 nr, const char *field, void (*tell)(void *arg, const char *word), void *arg)
{
	const struct fr_tpformat *format = fr_tps_format(tps, nr);

	if (format)
		fr_tpformat_values(format, nr, field, tell, arg);
}
