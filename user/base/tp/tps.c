/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/tp/tps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PID_OFF 4u /* of common_pid in a record */

struct fr_tps {
	struct fr_tpformat *of[FR_EVENT_MAX]; /* by event number */
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

	while (t && fr_tps_next(text, sz, &pos, &item)) {
		snprintf(name, sizeof(name), FR_TP_PREFIX "%s:%s", item.system, item.name);
		ev = fr_schema_find(s, name);
		if (!ev || t->of[ev->nr])
			continue;
		if (fr_tpformat_new(item.system, item.name, item.text, item.sz, &t->of[ev->nr]) == -ENOMEM) {
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

size_t fr_tps_record(const struct fr_row *r, u8 *to)
{
	const struct fr_event *ev = r->ev;
	size_t end = FR_TP_HEAD_SZ, at, sz;
	u32 i, tid = r->tid;
	const void *from;
	u64 num;

	memset(to, 0, FR_TPS_RECORD_SZ);
	memcpy(to + PID_OFF, &tid, sizeof(tid));
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
		sz = at < FR_TPS_RECORD_SZ && sz > FR_TPS_RECORD_SZ - at ? FR_TPS_RECORD_SZ - at : sz;
		if (at >= FR_TPS_RECORD_SZ)
			continue;
		memcpy(to + at, from, sz);
		end = at + sz > end ? at + sz : end;
	}
	return end;
}

const char *fr_tps_text(struct fr_tps *t, const struct fr_row *r)
{
	struct fr_tpformat *format = fr_tps_format(t, r->ev->nr);
	u8 rec[FR_TPS_RECORD_SZ];

	return format ? fr_tpformat_text(format, rec, fr_tps_record(r, rec)) : NULL;
}

const char *fr_tps_symbol(struct fr_tps *t, const struct fr_row *r, const struct fr_field *f, u64 v)
{
	struct fr_tpformat *format = fr_tps_format(t, r->ev->nr);

	return format ? fr_tpformat_symbol(format, f->name, v) : NULL;
}

int fr_tps_value(const void *tps, u32 nr, const char *field, const char *word, s64 *v)
{
	const struct fr_tpformat *format = fr_tps_format(tps, nr);

	return format ? fr_tpformat_value(format, field, word, v) : -EINVAL;
}
