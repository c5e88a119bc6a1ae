/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/counter/counters.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/rows/columns.h"
#include "base/rows/numbers.h"
#include "base/rows/varint.h"

void fr_counters_init(struct fr_counters *c)
{
	*c = (struct fr_counters){.series.item_sz = sizeof(struct fr_counter_series)};
}

static void series_free(struct fr_counter_series *s)
{
	free(s->name);
	free(s->object);
	fr_vec_free(&s->point);
}

void fr_counters_free(struct fr_counters *c)
{
	struct fr_counter_series *s = c->series.at;
	size_t i;

	for (i = 0; i < c->series.cnt; i++)
		series_free(&s[i]);
	fr_vec_free(&c->series);
	c->hint = c->point_cnt = 0;
}

/* ---- adding ---- */

static bool series_is(const struct fr_counter_series *s, const char *name, const char *object)
{
	return !strcmp(s->name, name) && !strcmp(s->object, object);
}

/* Series mostly come in the order in which they are; the number of series: there is none. */
static size_t counters_index(const struct fr_counters *c, const char *name, const char *object)
{
	const struct fr_counter_series *s = c->series.at;
	size_t i, at;

	for (i = 0; i < c->series.cnt; i++) {
		at = (c->hint + i) % c->series.cnt;
		if (series_is(&s[at], name, object))
			return at;
	}
	return c->series.cnt;
}

static int counters_new_series(struct fr_counters *c, const char *name, const char *object, u8 kind)
{
	struct fr_counter_series s = {
		.name = strdup(name),
		.object = strdup(object),
		.kind = kind,
		.point.item_sz = sizeof(struct fr_counter_point),
	};
	int err = s.name && s.object ? 0 : -ENOMEM;

	if (!err && c->series.cnt >= FR_COUNTERS_SERIES_MAX)
		err = -E2BIG;
	err = err ?: fr_vec_add(&c->series, &s, 1);
	if (err)
		series_free(&s);
	return err;
}

/* Where a point of that time is, or belongs. */
static size_t point_index(const struct fr_counter_series *s, u64 ts)
{
	const struct fr_counter_point *p = s->point.at;
	size_t at = s->point.cnt;

	while (at && p[at - 1].ts >= ts)
		at--;
	return at;
}

static int series_add(struct fr_counters *c, struct fr_counter_series *s, u64 ts, u64 value)
{
	const struct fr_counter_point point = {ts, value};
	size_t at = point_index(s, ts);
	struct fr_counter_point *p = s->point.at;
	int err;

	if (at < s->point.cnt && p[at].ts == ts)
		return 0;
	if (c->point_cnt >= FR_COUNTERS_POINT_MAX)
		return -E2BIG;
	err = fr_vec_add(&s->point, &point, 1);
	if (err)
		return err;
	c->point_cnt++;
	p = s->point.at;
	memmove(&p[at + 1], &p[at], (s->point.cnt - 1 - at) * sizeof(*p));
	p[at] = point;
	return 0;
}

int fr_counters_add(struct fr_counters *c, const char *name, const char *object, u8 kind, u64 ts, u64 value)
{
	size_t at = counters_index(c, name, object);
	int err = at < c->series.cnt ? 0 : counters_new_series(c, name, object, kind);

	if (err)
		return err;
	c->hint = at + 1;
	return series_add(c, &((struct fr_counter_series *)c->series.at)[at], ts, value);
}

int fr_counters_join(struct fr_counters *c, const struct fr_counters *from)
{
	const struct fr_counter_series *s = from->series.at;
	const struct fr_counter_point *p;
	size_t i, k;
	int err = 0;

	for (i = 0; i < from->series.cnt && !err; i++) {
		p = s[i].point.at;
		for (k = 0; k < s[i].point.cnt && !err; k++)
			err = fr_counters_add(c, s[i].name, s[i].object, s[i].kind, p[k].ts, p[k].value);
	}
	return err;
}

static void series_drop_before(struct fr_counters *c, struct fr_counter_series *s, u64 ts)
{
	struct fr_counter_point *p = s->point.at;
	size_t from = point_index(s, ts);

	memmove(p, p + from, (s->point.cnt - from) * sizeof(*p));
	s->point.cnt -= from;
	c->point_cnt -= from;
}

void fr_counters_drop_before(struct fr_counters *c, u64 ts)
{
	struct fr_counter_series *s = c->series.at;
	size_t i, kept = 0;

	for (i = 0; i < c->series.cnt; i++) {
		if (s[i].point.cnt)
			series_drop_before(c, &s[i], ts);
		if (s[i].point.cnt)
			s[kept++] = s[i];
		else
			series_free(&s[i]);
	}
	c->series.cnt = kept;
	c->hint = 0;
}

static int counters_by_number(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

u64 *fr_counters_moments(const struct fr_counters *c, size_t *cnt)
{
	const struct fr_counter_series *s = c->series.at;
	const struct fr_counter_point *p;
	u64 *ts = malloc((c->point_cnt + 1) * sizeof(*ts));
	size_t i, k, all = 0, kept = 0;

	if (!ts)
		return NULL;
	for (i = 0; i < c->series.cnt; i++)
		for (p = s[i].point.at, k = 0; k < s[i].point.cnt; k++)
			/* most series have all moments: what the first one has need not be sorted again */
			if (!all || !bsearch(&p[k].ts, ts, i ? kept : 0, sizeof(*ts), counters_by_number))
				ts[all++] = p[k].ts, kept = i ? kept : all;
	qsort(ts, all, sizeof(*ts), counters_by_number);
	for (i = 0, kept = 0; i < all; i++)
		if (!kept || ts[kept - 1] != ts[i])
			ts[kept++] = ts[i];
	*cnt = kept;
	return ts;
}

const struct fr_counter_series *fr_counters_find(const struct fr_counters *c, const char *name, const char *object)
{
	size_t at = counters_index(c, name, object);

	return at < c->series.cnt ? (const struct fr_counter_series *)c->series.at + at : NULL;
}

/* ---- bytes ---- */

/* Points of a series at moments that follow each other. */
struct run {
	const struct fr_counter_series *series;
	size_t from;	/* its first point */
	u32 first, cnt; /* moments */
};

struct encoding {
	u64 from_ns, to_ns; /* moments that are written */
	u64 *moment;
	size_t moment_cnt;
	struct fr_vec run, texts, out;
	struct fr_vec number, made; /* of a column */
};

static u32 moment_index(const struct encoding *e, u64 ts)
{
	const u64 *at = bsearch(&ts, e->moment, e->moment_cnt, sizeof(ts), counters_by_number);

	return at - e->moment;
}

static int encoding_find_runs(struct encoding *e, const struct fr_counter_series *s)
{
	const struct fr_counter_point *p = s->point.at;
	struct run r = {.series = s};
	size_t i;
	u32 at;
	int err = 0;

	for (i = 0; i < s->point.cnt && !err; i++) {
		if (p[i].ts < e->from_ns || p[i].ts > e->to_ns)
			continue;
		at = r.cnt && r.first + r.cnt < e->moment_cnt && e->moment[r.first + r.cnt] == p[i].ts
			     ? r.first + r.cnt
			     : moment_index(e, p[i].ts);
		if (r.cnt && at == r.first + r.cnt) {
			r.cnt++;
			continue;
		}
		err = r.cnt ? fr_vec_add(&e->run, &r, 1) : 0;
		r = (struct run){.series = s, .from = i, .first = at, .cnt = 1};
	}
	return err ?: r.cnt ? fr_vec_add(&e->run, &r, 1) : 0;
}

/* The shortest form. */
static int encoding_put_column(struct encoding *e, const u64 *val, u32 cnt)
{
	u64 *made = e->made.at;
	bool rises = true, same = true;
	u8 *to, *end;
	u32 i;

	if (!cnt)
		return 0;
	to = fr_vec_room(&e->out, 1 + fr_varint_max_sz(cnt));
	e->made.cnt = 0;
	made = fr_vec_room(&e->made, cnt);
	if (!to || !made)
		return -ENOMEM;
	for (i = 1; i < cnt; i++) {
		rises &= val[i] >= val[i - 1];
		same &= val[i] == val[i - 1];
	}
	to[0] = same ? FR_FORM_CONST : rises ? FR_FORM_RISING : FR_FORM_DELTA;
	if (same) {
		fr_put64(to + 1, val[0]);
		e->out.cnt += 1 + sizeof(u64);
		return 0;
	}
	for (i = 0; i < cnt; i++)
		made[i] = rises ? val[i] - (i ? val[i - 1] : 0) : fr_zigzag(val[i] - (i ? val[i - 1] : 0));
	end = fr_varint_put_all(to + 1, made, cnt);
	e->out.cnt += end - to;
	return 0;
}

/* Where a text is among the texts, which its neighbours mostly share. */
static int encoding_put_text(struct encoding *e, const char *text, const char *last, u64 last_at, u64 *at)
{
	if (!*text) {
		*at = 0;
		return 0;
	}
	*at = last && !strcmp(text, last) ? last_at : e->texts.cnt;
	return *at == e->texts.cnt ? fr_vec_add(&e->texts, text, strlen(text) + 1) : 0;
}

enum { RUN_NAME, RUN_OBJECT, RUN_KIND, RUN_FIRST, RUN_CNT, RUN_COLUMNS };

static int encoding_put_runs(struct encoding *e, const u64 *number)
{
	const struct run *r = e->run.at;
	const struct fr_counter_point *p;
	u64 *val = e->number.at;
	size_t cnt = e->run.cnt, i, k;
	int err = 0;

	for (i = 0; i < RUN_COLUMNS && !err; i++)
		err = encoding_put_column(e, number + i * cnt, cnt);
	for (i = 0; i < cnt && !err; i++) {
		p = (const struct fr_counter_point *)r[i].series->point.at + r[i].from;
		for (k = 0; k < r[i].cnt; k++)
			val[k] = p[k].value;
		err = encoding_put_column(e, val, r[i].cnt);
	}
	return err;
}

/* Names and objects as places of texts, then what a run is. */
static int encoding_find_texts(struct encoding *e, u64 *number)
{
	const struct run *r = e->run.at;
	size_t cnt = e->run.cnt, i;
	const struct fr_counter_series *last = NULL;
	int err = fr_vec_add(&e->texts, "", 1);

	for (i = 0; i < cnt && !err; i++) {
		err = encoding_put_text(e, r[i].series->name, last ? last->name : NULL, i ? number[i - 1] : 0, &number[i]);
		err = err
			      ?: encoding_put_text(e, r[i].series->object, last ? last->object : NULL,
						   i ? number[cnt + i - 1] : 0, &number[cnt + i]);
		number[RUN_KIND * cnt + i] = r[i].series->kind;
		number[RUN_FIRST * cnt + i] = r[i].first;
		number[RUN_CNT * cnt + i] = r[i].cnt;
		last = r[i].series;
	}
	return err;
}

struct head {
	u32 sz; /* of what follows this word */
	u32 moment_cnt, run_cnt, texts_sz;
};

static int encoding_put_all(struct encoding *e)
{
	u64 *number = calloc(RUN_COLUMNS * (e->run.cnt + 1), sizeof(*number));
	struct head h = {.moment_cnt = e->moment_cnt, .run_cnt = e->run.cnt};
	int err = number && fr_vec_room(&e->number, e->moment_cnt) ? 0 : -ENOMEM;

	err = err ?: encoding_find_texts(e, number);
	h.texts_sz = e->texts.cnt;
	err = err ?: fr_vec_add(&e->out, &h, sizeof(h));
	err = err ?: fr_vec_add(&e->out, e->texts.at, e->texts.cnt);
	err = err ?: encoding_put_column(e, e->moment, e->moment_cnt);
	err = err ?: encoding_put_runs(e, number);
	free(number);
	if (err)
		return err;
	h.sz = e->out.cnt - sizeof(h.sz);
	memcpy(e->out.at, &h, sizeof(h));
	return 0;
}

/* Those that are written. */
static void encoding_choose_moments(struct encoding *e)
{
	size_t i, kept = 0;

	for (i = 0; i < e->moment_cnt; i++)
		if (e->moment[i] >= e->from_ns && e->moment[i] <= e->to_ns)
			e->moment[kept++] = e->moment[i];
	e->moment_cnt = kept;
}

static int counters_encode_all(const struct fr_counters *c, u64 from_ns, u64 to_ns, struct encoding *e)
{
	const struct fr_counter_series *s = c->series.at;
	size_t i;
	int err = 0;

	*e = (struct encoding){
		.from_ns = from_ns,
		.to_ns = to_ns,
		.run.item_sz = sizeof(struct run),
		.texts.item_sz = 1,
		.out.item_sz = 1,
		.number.item_sz = sizeof(u64),
		.made.item_sz = sizeof(u64),
	};
	e->moment = fr_counters_moments(c, &e->moment_cnt);
	err = e->moment ? 0 : -ENOMEM;
	if (!err)
		encoding_choose_moments(e);
	for (i = 0; i < c->series.cnt && !err; i++)
		err = encoding_find_runs(e, &s[i]);
	return err ?: encoding_put_all(e);
}

static void encoding_free(struct encoding *e)
{
	free(e->moment);
	fr_vec_free(&e->run);
	fr_vec_free(&e->texts);
	fr_vec_free(&e->out);
	fr_vec_free(&e->number);
	fr_vec_free(&e->made);
}

static void encoding_give(struct encoding *e, u8 **out, size_t *sz)
{
	*out = e->out.at;
	*sz = e->out.cnt;
	e->out.at = NULL;
}

int fr_counters_encode_part(const struct fr_counters *c, u64 from_ns, u64 to_ns, size_t cap, u8 **out, size_t *sz)
{
	struct encoding e;
	int err = counters_encode_all(c, from_ns, to_ns, &e);

	*sz = 0;
	if (!err && e.moment_cnt && e.out.cnt <= cap)
		encoding_give(&e, out, sz);
	encoding_free(&e);
	return err;
}

int fr_counters_encode(struct fr_counters *c, size_t cap, u8 **out, size_t *sz)
{
	struct encoding e;
	int err;

	*sz = 0;
	for (;;) {
		if (!c->point_cnt)
			return 0;
		err = counters_encode_all(c, 0, ~0ULL, &e);
		if (err || e.out.cnt <= cap)
			break;
		/* an eighth of the moments, at least one */
		fr_counters_drop_before(c, e.moment[e.moment_cnt / 8] + (e.moment_cnt < 8));
		encoding_free(&e);
	}
	if (!err)
		encoding_give(&e, out, sz);
	encoding_free(&e);
	return err;
}

/* ---- what anybody may have written ---- */

struct decoding {
	const u8 *at, *end;
	const char *texts;
	struct head h;
	u64 *moment, *number, *val;
};

static const struct fr_fit any_fits = {};

static bool decoding_column(struct decoding *d, u64 *out, u32 cnt)
{
	if (cnt)
		d->at = fr_numbers_get(d->at, d->end, NULL, any_fits, out, cnt);
	return d->at;
}

static bool counters_name_is_good(const char *name)
{
	size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-");

	return len && len <= FR_COUNTERS_NAME_MAX && !name[len];
}

/* Is a run what it may be? Its name and object are texts then, and its moments are there. */
static bool decoding_run_is_good(const struct decoding *d, u32 i)
{
	const u64 *n = d->number + i;
	u32 cnt = d->h.run_cnt;

	return n[RUN_NAME * cnt] < d->h.texts_sz && n[RUN_OBJECT * cnt] < d->h.texts_sz &&
	       counters_name_is_good(d->texts + n[RUN_NAME * cnt]) &&
	       strlen(d->texts + n[RUN_OBJECT * cnt]) <= FR_COUNTERS_OBJECT_MAX && n[RUN_KIND * cnt] <= 1 && n[RUN_CNT * cnt] &&
	       n[RUN_FIRST * cnt] < d->h.moment_cnt && n[RUN_CNT * cnt] <= d->h.moment_cnt - n[RUN_FIRST * cnt];
}

static int decoding_take_run(struct decoding *d, struct fr_counters *c, u32 i)
{
	u32 cnt = d->h.run_cnt, k;
	u64 first = d->number[RUN_FIRST * cnt + i], n = d->number[RUN_CNT * cnt + i];
	const char *name = d->texts + d->number[RUN_NAME * cnt + i], *object = d->texts + d->number[RUN_OBJECT * cnt + i];
	int err = decoding_column(d, d->val, n) ? 0 : -EBADMSG;

	for (k = 0; k < n && !err; k++) {
		err = fr_counters_add(c, name, object, d->number[RUN_KIND * cnt + i], d->moment[first + k], d->val[k]);
		c->hint -= !err; /* the same series again */
	}
	c->hint += !err;
	return err == -E2BIG ? -EBADMSG : err;
}

/* Of a sum, so that a file of some bytes does not say millions of points. */
static bool decoding_runs_are_good(const struct decoding *d)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < d->h.run_cnt; i++) {
		if (!decoding_run_is_good(d, i))
			return false;
		sum += d->number[RUN_CNT * d->h.run_cnt + i];
	}
	return sum <= FR_COUNTERS_POINT_MAX;
}

static bool moments_rise(const struct decoding *d)
{
	u32 i;

	for (i = 1; i < d->h.moment_cnt; i++)
		if (d->moment[i] <= d->moment[i - 1])
			return false;
	return true;
}

static int decoding_take(struct decoding *d, struct fr_counters *c)
{
	bool good = decoding_column(d, d->moment, d->h.moment_cnt) && moments_rise(d);
	u32 i;
	int err = 0;

	for (i = 0; i < RUN_COLUMNS && good; i++)
		good = decoding_column(d, d->number + (size_t)i * d->h.run_cnt, d->h.run_cnt);
	if (!good || !decoding_runs_are_good(d))
		return -EBADMSG;
	for (i = 0; i < d->h.run_cnt && !err; i++)
		err = decoding_take_run(d, c, i);
	return err ?: d->at == d->end ? 0 : -EBADMSG;
}

/* A block: its head is there. */
static int counters_decode_block(struct fr_counters *c, const struct head *h, const u8 *at, const u8 *end)
{
	struct decoding d = {.at = at, .end = end, .h = *h};
	int err = -ENOMEM;

	if (h->moment_cnt > FR_COUNTERS_POINT_MAX || !h->moment_cnt || h->run_cnt > FR_COUNTERS_POINT_MAX || !h->run_cnt ||
	    h->texts_sz < 1 || h->texts_sz > (size_t)(end - at) || at[0] || at[h->texts_sz - 1])
		return -EBADMSG;
	d.texts = (const char *)at;
	d.at += h->texts_sz;
	d.moment = malloc(h->moment_cnt * sizeof(u64));
	d.val = malloc(h->moment_cnt * sizeof(u64));
	d.number = malloc((size_t)h->run_cnt * RUN_COLUMNS * sizeof(u64));
	if (d.moment && d.val && d.number)
		err = decoding_take(&d, c);
	free(d.moment);
	free(d.val);
	free(d.number);
	return err;
}

int fr_counters_decode(struct fr_counters *c, const u8 *bytes, size_t sz)
{
	u8 *own = malloc(sz + FR_VARINT_SLACK_SZ);
	size_t at = 0, block;
	struct head h;
	int err = own ? 0 : -ENOMEM;

	if (own) {
		memcpy(own, bytes, sz);
		memset(own + sz, 0, FR_VARINT_SLACK_SZ);
	}
	while (!err && at < sz) {
		if (sz - at < sizeof(h)) {
			err = -EBADMSG;
			break;
		}
		memcpy(&h, own + at, sizeof(h));
		block = sizeof(h.sz) + (size_t)h.sz;
		if (block < sizeof(h) || block > sz - at)
			err = -EBADMSG;
		else
			err = counters_decode_block(c, &h, own + at + sizeof(h), own + at + block);
		at += block;
	}
	free(own);
	return err;
}
