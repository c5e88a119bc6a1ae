/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read/stat/stat.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/filter/filter_node.h"
#include "base/set/hash.h"
#include "base/set/hist.h"
#include "base/set/idmap.h"
#include "base/text/nearest.h"
#include "read/replay/missing.h"
#include "read/replay/summary.h"
#include "read/stat/stat_int.h"
#include "sys/memory.h"

#define WHY_SZ 200u

/* ---- cells ---- */

/* Values of both signs; of negative ones their size. */
struct spread {
	struct fr_hist pos, neg;
};

struct fr_stat_cell {
	u64 cnt;     /* values taken */
	fr_wide num; /* sum, least, greatest, first or last */
	char *text;  /* the same, of texts */
	size_t len;
	u64 nr; /* of the row that was the first or last */
	struct spread *spread;
	struct fr_idmap *set; /* values, or hashes of texts */
	bool no_room;	      /* its values are not known for lack of memory */
};

static void spread_free(struct spread *s)
{
	if (s) {
		fr_hist_free(&s->pos);
		fr_hist_free(&s->neg);
	}
	free(s);
}

static void cell_free(struct fr_stat_cell *c)
{
	spread_free(c->spread);
	c->spread = NULL;
	if (c->set)
		fr_idmap_free(c->set);
	free(c->set);
	c->set = NULL;
	free(c->text);
	c->text = NULL;
}

/* A percentile or a number of different values of some would be false: there is none. */
static int cell_give_up(struct fr_stat_cell *c)
{
	cell_free(c);
	c->no_room = true;
	return 0;
}

static bool stat_has_room(u64 sz)
{
	return !sz || fr_memory_has_room(sz, FR_MEMORY_SUMS);
}

static int add_spread(struct fr_stat_cell *c, fr_wide v)
{
	fr_wide size = v < 0 ? -v : v;
	u64 ns = size > (fr_wide)~0ULL ? ~0ULL : (u64)size;
	struct fr_hist *h;

	if (!c->spread && stat_has_room(sizeof(*c->spread)))
		c->spread = calloc(1, sizeof(*c->spread));
	if (!c->spread)
		return cell_give_up(c);
	h = v < 0 ? &c->spread->neg : &c->spread->pos;
	if (!fr_hist_has(h, ns) && !stat_has_room(fr_hist_growth_sz(h, ns)))
		return cell_give_up(c);
	return fr_hist_add(h, ns) ? cell_give_up(c) : 0;
}

static int add_different(struct fr_stat_cell *c, u64 key)
{
	if (!c->set && stat_has_room(sizeof(*c->set))) {
		c->set = calloc(1, sizeof(*c->set));
		if (c->set)
			fr_idmap_init(c->set, 1);
	}
	if (!c->set || (fr_idmap_is_full(c->set) && !fr_idmap_find(c->set, key) && !stat_has_room(fr_idmap_growth_sz(c->set))))
		return cell_give_up(c);
	return fr_idmap_get(c->set, key) ? 0 : cell_give_up(c);
}

/* Numbers that fit are themselves; all else is a hash, different for a text and a number. */
static u64 key_of_value(const struct fr_filter_value *v)
{
	if (v->kind == FR_VAL_TEXT)
		return fr_hash(fr_hash(FR_HASH_SEED, "t", 1), v->text, v->len);
	if (v->num == (s64)v->num || v->num == (fr_wide)(u64)v->num)
		return (u64)v->num;
	return fr_hash(FR_HASH_SEED, &v->num, sizeof(v->num));
}

static int stat_keep_text(struct fr_stat_cell *c, const char *text, size_t len)
{
	char *p = realloc(c->text, len + 1);

	if (!p)
		return -ENOMEM;
	memcpy(p, text, len);
	c->text = p;
	c->len = len;
	return 0;
}

/* What text output shows: a number's name, too. */
static int keep_value(struct fr_stat_cell *c, const struct fr_filter_value *v, u64 nr)
{
	c->nr = nr;
	c->num = v->num;
	if (v->text)
		return stat_keep_text(c, v->text, v->len);
	free(c->text);
	c->text = NULL;
	return 0;
}

/* Functions of a number alone; num: of one value, or of another cell. False: it is none of these. */
static bool cell_take_number(struct fr_stat_cell *c, enum fr_stat_fn fn, fr_wide num, bool is_first)
{
	switch (fn) {
	case FR_STAT_count:
		return true;
	case FR_STAT_sum:
	case FR_STAT_avg:
	case FR_STAT_rate:
		c->num += num;
		return true;
	case FR_STAT_min:
		c->num = is_first || num < c->num ? num : c->num;
		return true;
	case FR_STAT_max:
		c->num = is_first || num > c->num ? num : c->num;
		return true;
	default:
		return false;
	}
}

static int cell_add(struct fr_stat_cell *c, enum fr_stat_fn fn, const struct fr_filter_value *v, u64 nr)
{
	bool is_first = !c->cnt++;

	if (c->no_room || cell_take_number(c, fn, v ? v->num : 1, is_first))
		return 0;
	switch (fn) {
	case FR_STAT_percentile:
		return add_spread(c, v->num);
	case FR_STAT_distinct:
		return add_different(c, key_of_value(v));
	case FR_STAT_first:
		return is_first ? keep_value(c, v, nr) : 0;
	default: /* FR_STAT_last */
		return keep_value(c, v, nr);
	}
}

static int merge_spread(struct fr_stat_cell *to, const struct fr_stat_cell *from)
{
	if (!to->spread)
		to->spread = calloc(1, sizeof(*to->spread));
	if (!to->spread || !stat_has_room(fr_hist_merge_sz(&to->spread->pos, &from->spread->pos)) ||
	    !stat_has_room(fr_hist_merge_sz(&to->spread->neg, &from->spread->neg)) ||
	    fr_hist_merge(&to->spread->pos, &from->spread->pos) || fr_hist_merge(&to->spread->neg, &from->spread->neg))
		return cell_give_up(to);
	return 0;
}

static int merge_set(struct fr_stat_cell *to, const struct fr_stat_cell *from)
{
	u32 i;

	for (i = 0; i < from->set->cap && !to->no_room; i++)
		if (from->set->used[i])
			add_different(to, from->set->key[i]);
	return 0;
}

static int merge_kept(struct fr_stat_cell *to, const struct fr_stat_cell *from, bool is_first, bool wants_first)
{
	if (!is_first && (wants_first ? from->nr > to->nr : from->nr < to->nr))
		return 0;
	return keep_value(to, &(struct fr_filter_value){.num = from->num, .text = from->text, .len = from->len}, from->nr);
}

static int cell_merge(struct fr_stat_cell *to, const struct fr_stat_cell *from, enum fr_stat_fn fn)
{
	bool is_first = !to->cnt;

	if (!from->cnt)
		return 0;
	to->cnt += from->cnt;
	if (to->no_room || from->no_room)
		return cell_give_up(to);
	if (cell_take_number(to, fn, from->num, is_first))
		return 0;
	switch (fn) {
	case FR_STAT_percentile:
		return merge_spread(to, from);
	case FR_STAT_distinct:
		return merge_set(to, from);
	default: /* FR_STAT_first, FR_STAT_last */
		return merge_kept(to, from, is_first, fn == FR_STAT_first);
	}
}

bool fr_stat_no_room(const struct fr_stat_group *g, u32 i)
{
	return g->cell[i].no_room;
}

/* ---- groups ---- */

static int group_begin(const struct fr_stat *s, struct fr_stat_group *g)
{
	g->cell = calloc(s->ask->func_cnt, sizeof(*g->cell));
	return g->cell ? 0 : -ENOMEM;
}

void fr_stat_clear(const struct fr_stat *s, struct fr_stat_group *g)
{
	u32 i;

	for (i = 0; g->cell && i < s->ask->func_cnt; i++)
		cell_free(&g->cell[i]);
	free(g->cell);
	free(g->bytes);
	*g = (struct fr_stat_group){};
}

int fr_stat_add_up(const struct fr_stat *s, struct fr_stat_group *to, const struct fr_stat_group *from)
{
	int err = to->cell || !from->cell ? 0 : group_begin(s, to);
	u32 i;

	to->row_cnt += from->row_cnt;
	for (i = 0; from->cell && i < s->ask->func_cnt && !err; i++)
		err = cell_merge(&to->cell[i], &from->cell[i], s->ask->func[i].fn);
	return err;
}

/* A group that has not been seen yet, or the rest, if there is no room for it. NULL: no memory. */
static struct fr_stat_group *new_group(struct fr_stat *s, u64 hash, const u8 *bytes, u32 sz)
{
	u64 more = fr_tally_growth_sz(&s->groups) + sz + s->ask->func_cnt * sizeof(struct fr_stat_cell);
	struct fr_stat_group *g = &s->rest;

	s->run->full = s->run->full || !fr_memory_has_row_room(more);
	if (!s->run->full)
		g = fr_tally_get(&s->groups, hash);
	if (!g || (!g->cell && group_begin(s, g)))
		return NULL;
	if (s->run->full)
		return g;
	g->bytes = malloc(sz ?: 1);
	if (!g->bytes)
		return NULL;
	memcpy(g->bytes, bytes, sz);
	g->sz = sz;
	return g;
}

static struct fr_stat_group *group_of(struct fr_stat *s, const u8 *bytes, u32 sz)
{
	struct fr_stat_group *g;
	u64 hash = fr_hash(FR_HASH_SEED, bytes, sz);

	/* if other keys have the same hash, these take the next one */
	for (hash ^= hash >> 32; (g = fr_tally_find(&s->groups, hash)); hash++)
		if (g->sz == sz && !memcmp(g->bytes, bytes, sz))
			return g;
	return new_group(s, hash, bytes, sz);
}

/* ---- files ---- */

/* What is wrong; a word that is near one of the keys that are no fields was meant as that. */
static const char *meant_key(const char *option, const char *expr, const struct fr_filter_error *error, char why[WHY_SZ])
{
	struct fr_nearest near = {.to = expr};
	const char *name, *what;
	u32 i;

	for (i = 0; (name = fr_stat_key_name(i, &what)); i++)
		fr_nearest_consider(&near, name);
	if (strcmp(option, "--by") || !fr_nearest_close(&near))
		return error->text;
	snprintf(why, WHY_SZ, "there is no key %s: did you mean %s?", expr, near.name);
	return why;
}

/* Compile an expression for all files. place: what it stands in, and where. */
static int stat_compile(struct fr_stat *s, const char *expr, size_t at, const char *option, const char *whole,
			struct fr_filter **to, size_t step)
{
	struct fr_filter_error error;
	char why[WHY_SZ];
	u32 i;
	int err = 0;

	for (i = 0; i < s->file_cnt && !err; i++) {
		err = fr_replay_filter_new(s->replay, i, expr, &to[i * step], &error);
		if (err == -EINVAL)
			fr_filter_say_at(option, meant_key(option, expr, &error, why), whole, at + error.at);
		else if (err)
			fr_err_memory();
	}
	return err;
}

/* What a function can be made of. */
static int check_function(const struct fr_stat *s, u32 i)
{
	const struct fr_stat_func *fn = &s->ask->func[i];
	const struct fr_filter *f = s->run->func[i];
	bool is_any =
		fn->fn == FR_STAT_count || fn->fn == FR_STAT_first || fn->fn == FR_STAT_last || fn->fn == FR_STAT_distinct;
	char why[200];

	if (fn->fn != FR_STAT_count && fr_filter_is_truth(f))
		snprintf(why, sizeof(why), "this is a condition, not a value: count(%s) counts where it holds", fn->expr);
	else if (!is_any && !fr_filter_may_be(f, FR_VAL_NUM))
		snprintf(why, sizeof(why), "this needs numbers, and %s is a text: distinct(%s) tells how many there are",
			 fn->expr, fn->expr);
	else
		return 0;
	fr_filter_say_at("the functions", why, s->ask->funcs, fn->at);
	return -EINVAL;
}

static int compile_all(struct fr_stat *s, const char *filter)
{
	const struct fr_stat_ask *ask = s->ask;
	struct fr_stat_run *run = s->run;
	int err = filter ? stat_compile(s, filter, 0, "the filter is wrong", filter, run->filter, 1) : 0;
	u32 i;

	for (i = 0; i < ask->key_cnt && !err; i++)
		if (ask->key[i].by == FR_STAT_BY_expr)
			err = stat_compile(s, ask->key[i].label, ask->key[i].at, "--by", ask->keys, &run->key[i],
					   FR_STAT_KEY_MAX);
	for (i = 0; i < ask->func_cnt && !err; i++) {
		if (!ask->func[i].expr)
			continue;
		err = stat_compile(s, ask->func[i].expr, ask->func[i].at, "the functions", ask->funcs, &run->func[i],
				   FR_STAT_FUNC_MAX);
		err = err ?: check_function(s, i);
		s->ns[i] = !err && ask->func[i].fn != FR_STAT_count && ask->func[i].fn != FR_STAT_distinct &&
			   fr_filter_is_ns(run->func[i]);
	}
	return err;
}

static int run_new(struct fr_stat *s)
{
	struct fr_stat_run *run = calloc(1, sizeof(*run));
	u32 i;

	if (!run)
		return -ENOMEM;
	s->run = run;
	run->file = calloc(s->file_cnt, sizeof(*run->file));
	run->filter = calloc(s->file_cnt, sizeof(*run->filter));
	run->key = calloc((size_t)s->file_cnt * FR_STAT_KEY_MAX, sizeof(*run->key));
	run->func = calloc((size_t)s->file_cnt * FR_STAT_FUNC_MAX, sizeof(*run->func));
	if (!run->file || !run->filter || !run->key || !run->func)
		return -ENOMEM;
	for (i = 0; i < s->file_cnt; i++)
		fr_stat_file_bind(&run->file[i], s->replay, i);
	return 0;
}

static void run_free(struct fr_stat *s)
{
	u32 i;

	if (!s->run)
		return;
	for (i = 0; s->run->key && i < s->file_cnt * FR_STAT_KEY_MAX; i++)
		fr_filter_free(s->run->key[i]);
	for (i = 0; s->run->func && i < s->file_cnt * FR_STAT_FUNC_MAX; i++)
		fr_filter_free(s->run->func[i]);
	for (i = 0; s->run->filter && i < s->file_cnt; i++)
		fr_filter_free(s->run->filter[i]);
	free(s->run->filter);
	free(s->run->file);
	free(s->run->key);
	free(s->run->func);
	fr_missing_free(s->run->missing);
	free(s->run);
	s->run = NULL;
}

/* ---- rows ---- */

static int add_value(struct fr_stat *s, struct fr_stat_group *g, u32 i, const struct fr_replay_run *run, const struct fr_row *r)
{
	const struct fr_stat_func *fn = &s->ask->func[i];
	const struct fr_filter *f = s->run->func[run->file * FR_STAT_FUNC_MAX + i];
	struct fr_stat_met *met = &s->run->met[i];
	struct fr_filter_value v;

	if (!f)
		return cell_add(&g->cell[i], fn->fn, NULL, s->row_cnt);
	if (!fr_filter_may_have(f, r->ev->nr))
		return 0;
	met->may_cnt++;
	fr_filter_value(f, run->view, r, &v);
	if (v.kind == FR_VAL_NONE || (fr_filter_is_truth(f) && !v.num))
		return 0;
	if (v.kind == FR_VAL_TEXT && !fr_filter_may_be(f, FR_VAL_TEXT))
		return 0;
	if (v.kind == FR_VAL_TEXT && fn->fn != FR_STAT_count && fn->fn != FR_STAT_first && fn->fn != FR_STAT_last &&
	    fn->fn != FR_STAT_distinct)
		return 0;
	met->has_cnt++;
	met->of_next |= r->ev->nr == s->run->file[run->file].switch_nr && fr_filter_is_of_next(f);
	return cell_add(&g->cell[i], fn->fn, &v, s->row_cnt);
}

static int stat_take_row(struct fr_stat *s, const struct fr_replay_run *run, const struct fr_row *r)
{
	struct fr_stat_group *g;
	u32 sz = fr_stat_put_keys(s, run, r), i;
	int err = 0;

	g = group_of(s, s->run->bytes, sz);
	if (!g)
		return -ENOMEM;
	s->row_cnt++;
	g->row_cnt++;
	for (i = 0; i < s->ask->func_cnt && !err; i++)
		err = add_value(s, g, i, run, r);
	return err;
}

static int take_run(struct fr_stat *s, const struct fr_replay_run *run)
{
	struct fr_row row;
	int err = 0;
	u32 i;

	s->seen_cnt += run->to - run->from;
	for (i = run->from; i < run->to && !err; i++)
		if (fr_replay_match(run, i, &row))
			err = stat_take_row(s, run, &row);
	return err;
}

/* A fr_replay_lost_fn. */
static int stat_take_lost(void *arg, const struct fr_replay_lost *lost)
{
	return fr_missing_add(arg, lost);
}

static int read_rows(struct fr_stat *s)
{
	struct fr_replay_run run;
	int got = 0, err = fr_missing_new(s->replay, &s->run->missing);
	u32 i;

	if (!err)
		fr_replay_tell_lost(s->replay, stat_take_lost, s->run->missing);
	while (!err && (got = fr_replay_next(s->replay, &run)) > 0)
		err = take_run(s, &run);
	err = err ?: got < 0 ? got : 0;
	for (i = 0; i < s->groups.cnt && !err; i++)
		err = fr_stat_add_up(s, &s->total, fr_tally_at(&s->groups, i));
	return err ?: fr_stat_add_up(s, &s->total, &s->rest);
}

/* ---- all ---- */

bool fr_stat_by_task(const struct fr_stat_ask *ask)
{
	static const char *const own[] = {"comm", "pid", "tid", "cgroup", "program"};
	u32 i, k;

	for (i = 0; i < ask->key_cnt; i++)
		for (k = 0; k < sizeof(own) / sizeof(own[0]); k++)
			if (!strcmp(ask->key[i].label, own[k]))
				return true;
	for (i = 0; i < ask->key_cnt; i++)
		if (fr_belongs_find(ask->key[i].label) < FR_BELONGS_CNT)
			return true;
	return false;
}

/* Does the text have this name as a word? */
static bool stat_has_word(const char *text, const char *name)
{
	size_t len = strlen(name);
	const char *p;

	for (p = text; p && (p = strstr(p, name)); p += len)
		if ((p == text || !(isalnum((unsigned char)p[-1]) || p[-1] == '_')) &&
		    !(isalnum((unsigned char)p[len]) || p[len] == '_'))
			return true;
	return false;
}

static bool stat_asks(const struct fr_stat_ask *ask, const char *name)
{
	return (ask->keys && stat_has_word(ask->keys, name)) || (ask->funcs && stat_has_word(ask->funcs, name));
}

/* What the files have to be asked for before expressions can be compiled. */
static void stat_need(const struct fr_stat_ask *ask, struct fr_replay_opts *opts)
{
	u8 i;

	opts->pairs |= stat_asks(ask, "call") || stat_asks(ask, "syscall");
	for (i = 0; i < FR_BI_CNT; i++)
		opts->pairs |= fr_builtin_is_pair(i) && stat_asks(ask, fr_builtin_names[i]);
	for (i = 0; i < FR_BI_CNT; i++)
		opts->cgroups |= fr_builtin_is_cgroup(i) && stat_asks(ask, fr_builtin_names[i]);
	opts->names = true;
}

int fr_stat_run(const struct fr_stat_ask *ask, const char *const *path, u32 cnt, const struct fr_replay_opts *opts,
		struct fr_stat *out)
{
	struct fr_replay_opts o = *opts;
	int err;

	*out = (struct fr_stat){.ask = ask, .groups = {.rec_sz = sizeof(struct fr_stat_group)}};
	stat_need(ask, &o);
	err = fr_replay_open(path, cnt, &o, &out->replay);
	if (err)
		return err;
	out->file_cnt = fr_replay_file_cnt(out->replay);
	err = run_new(out);
	err = err ?: compile_all(out, o.filter);
	if (err == -EINVAL)
		return err;
	if (!err)
		err = group_begin(out, &out->total);
	err = err ?: read_rows(out);
	fr_replay_window(out->replay, &out->begin_ns, &out->end_ns);
	out->time_ns = fr_stat_time_of(out, &out->total);
	err = err ?: fr_stat_note_all(out);
	if (err)
		fr_err_errno(err, "cannot add the events up");
	out->damaged = fr_replay_say_damage(out->replay);
	return err;
}

void fr_stat_free(struct fr_stat *s)
{
	u32 i;

	for (i = 0; i < s->groups.cnt; i++)
		fr_stat_clear(s, fr_tally_at(&s->groups, i));
	fr_tally_free(&s->groups);
	if (s->ask) {
		fr_stat_clear(s, &s->rest);
		fr_stat_clear(s, &s->total);
	}
	run_free(s);
	fr_replay_close(s->replay);
}

/* ---- what there is ---- */

static fr_wide quantile(const struct spread *s, u32 ppm)
{
	u64 cnt = s->pos.cnt + s->neg.cnt, rank = (u64)(((unsigned __int128)cnt * ppm + 999999) / 1000000), seen = 0, at;
	struct fr_hist_bucket b;
	fr_wide v = 0;
	u32 i;

	rank = rank ?: 1;
	if (rank > s->neg.cnt) { /* the greatest of the bucket that has it, as fr_hist_quantile() */
		for (i = 0, seen = s->neg.cnt; fr_hist_next(&s->pos, &i, &b); seen += b.cnt)
			if (seen + b.cnt >= rank)
				return b.high < s->pos.max ? b.high : s->pos.max;
		return s->pos.max;
	}
	at = s->neg.cnt - rank + 1; /* from 0 downwards */
	for (i = 0; fr_hist_next(&s->neg, &i, &b); seen += b.cnt) {
		v = -(fr_wide)(b.low > s->neg.min ? b.low : s->neg.min);
		if (seen + b.cnt >= at)
			break;
	}
	return v;
}

static void set_int(struct fr_stat_value *v, fr_wide num)
{
	v->kind = FR_STAT_INT;
	v->num = num;
}

static void set_real(struct fr_stat_value *v, double real)
{
	v->kind = FR_STAT_REAL;
	v->real = real;
}

void fr_stat_func_of(const struct fr_stat *s, const struct fr_stat_group *g, u32 i, struct fr_stat_value *out)
{
	const struct fr_stat_cell *c = &g->cell[i];
	const struct fr_stat_func *f = &s->ask->func[i];
	u64 ns;

	*out = (struct fr_stat_value){.kind = FR_STAT_NONE};
	if (f->fn == FR_STAT_count)
		return set_int(out, c->cnt);
	if (!c->cnt || c->no_room)
		return;
	switch (f->fn) {
	case FR_STAT_avg:
		return set_real(out, (double)c->num / c->cnt);
	case FR_STAT_rate:
		ns = fr_stat_time_of(s, g);
		return ns ? set_real(out, (double)c->num * 1e9 / ns) : (void)0;
	case FR_STAT_percentile:
		return set_int(out, quantile(c->spread, f->ppm));
	case FR_STAT_distinct:
		return set_int(out, c->set->cnt);
	case FR_STAT_first:
	case FR_STAT_last:
		set_int(out, c->num);
		out->text = c->text;
		out->len = c->len;
		out->kind = c->text ? FR_STAT_TEXT : FR_STAT_INT;
		return;
	default:
		return set_int(out, c->num);
	}
}

/* ---- order ---- */

struct order {
	const struct fr_stat *s;
	u32 column;
	bool descending;
};

static void stat_value_of(const struct order *o, const struct fr_stat_group *g, struct fr_stat_value *v)
{
	if (o->column < o->s->ask->key_cnt)
		fr_stat_key_of(g, o->column, v);
	else
		fr_stat_func_of(o->s, g, o->column - o->s->ask->key_cnt, v);
}

static int stat_compare_texts(const struct fr_stat_value *a, const struct fr_stat_value *b)
{
	size_t len = a->len < b->len ? a->len : b->len;
	int c = memcmp(a->text, b->text, len);

	return c ? c : a->len < b->len ? -1 : a->len > b->len;
}

/* Numbers before texts. */
static int compare_values(const struct fr_stat_value *a, const struct fr_stat_value *b)
{
	if ((a->kind == FR_STAT_TEXT) != (b->kind == FR_STAT_TEXT))
		return a->kind == FR_STAT_TEXT ? 1 : -1;
	if (a->kind == FR_STAT_TEXT)
		return stat_compare_texts(a, b);
	if (a->kind == FR_STAT_REAL)
		return a->real < b->real ? -1 : a->real > b->real;
	return a->num < b->num ? -1 : a->num > b->num;
}

/* Equal ones are in the order of their keys, so that it is the same each time. */
static int compare_keys(const struct order *o, const struct fr_stat_group *x, const struct fr_stat_group *y)
{
	struct fr_stat_value a, b;
	int c = 0;
	u32 i;

	for (i = 0; i < o->s->ask->key_cnt && !c; i++) {
		fr_stat_key_of(x, i, &a);
		fr_stat_key_of(y, i, &b);
		c = compare_values(&a, &b);
	}
	return c;
}

static int compare_groups(const void *a, const void *b, void *arg)
{
	const struct fr_stat_group *x = *(struct fr_stat_group *const *)a, *y = *(struct fr_stat_group *const *)b;
	const struct order *o = arg;
	struct fr_stat_value v, w;
	int c;

	stat_value_of(o, x, &v);
	stat_value_of(o, y, &w);
	if ((v.kind == FR_STAT_NONE) != (w.kind == FR_STAT_NONE))
		return v.kind == FR_STAT_NONE ? 1 : -1;
	c = v.kind == FR_STAT_NONE ? 0 : compare_values(&v, &w);
	return c ? (o->descending ? -c : c) : compare_keys(o, x, y);
}

struct fr_stat_group **fr_stat_order(const struct fr_stat *s, int column, bool descending)
{
	struct fr_stat_group **g = malloc((s->groups.cnt ?: 1) * sizeof(*g));
	struct order o = {.s = s, .column = column, .descending = descending};
	u32 i;

	for (i = 0; g && i < s->groups.cnt; i++)
		g[i] = fr_tally_at(&s->groups, i);
	if (g)
		qsort_r(g, s->groups.cnt, sizeof(*g), compare_groups, &o);
	return g;
}

void fr_stat_note(struct fr_stat *s, const char *kind, const char *fmt, ...)
{
	struct fr_stat_note *n;
	va_list ap;

	if (s->note_cnt == FR_STAT_NOTE_MAX)
		return;
	n = &s->note[s->note_cnt++];
	n->kind = kind;
	va_start(ap, fmt);
	vsnprintf(n->text, sizeof(n->text), fmt, ap);
	va_end(ap);
}
