/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * top_search: finds events that match an expression of the filter language. The snapshot is read a second time, in pieces
 * between keys. Events come in the same order as before, so an event's number is found by counting.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "read/timeline/timeline_int.h"
#include "show/top/top_int.h"

#define ROWS_A_TIME 65536u
#define EXPR_SZ	    (3 * FR_TOP_PROMPT_SZ + 64)

struct fr_top_search {
	struct fr_replay *replay;  /* NULL: everything has been read */
	struct fr_filter **filter; /* one for each file */
	u32 file_cnt;
	struct fr_replay_run run;
	u32 run_at;
	u32 next; /* number of the event to be read next */
	struct fr_tl_rows found;
	int want; /* as soon as it is known, go to the next match after the cursor (1), or before it (-1) */
};

/* ---- what is searched for ---- */

static bool search_is_word(const char *s)
{
	for (; *s; s++)
		if (!isalnum((unsigned char)*s) && !strchr("_-.:/", *s))
			return false;
	return true;
}

/* A word means a part of a task's name, or an event. A number means a task or process. The rest is an expression. */
static void make_expr(const char *text, char *expr)
{
	size_t len = strlen(text);

	if (len && strspn(text, "0123456789") == len)
		snprintf(expr, EXPR_SZ, "tid == %s || pid == %s", text, text);
	else if (search_is_word(text))
		snprintf(expr, EXPR_SZ, "comm ~ \"*%s*\" || event ~ \"*%s*\"", text, text);
	else
		snprintf(expr, EXPR_SZ, "%s", text);
}

static int search_compile(struct fr_top *t, const char *expr, struct fr_top_search *s, bool *pairs, bool *cgroups)
{
	struct fr_filter_error error;
	u32 i;
	int err = 0;

	for (i = 0; i < s->file_cnt && !err; i++) {
		err = fr_replay_filter_new(s->replay, i, expr, &s->filter[i], &error);
		if (err == -EINVAL)
			fr_top_note(t, "%.200s, at %zu", error.text, error.at + 1);
		*pairs |= !err && fr_filter_uses_pairs(s->filter[i]);
		*cgroups |= !err && fr_filter_uses_cgroups(s->filter[i]);
	}
	return err;
}

static void drop_filters(struct fr_top_search *s)
{
	u32 i;

	for (i = 0; s->filter && i < s->file_cnt; i++) {
		fr_filter_free(s->filter[i]);
		s->filter[i] = NULL;
	}
}

static int search_open_again(struct fr_top *t, const struct fr_replay_opts *opts, struct fr_top_search *s)
{
	drop_filters(s);
	fr_replay_close(s->replay);
	s->replay = NULL;
	return fr_replay_open(&t->ask->path, 1, opts, &s->replay);
}

/* Filters depend on a replay's own schemas, so they are compiled for the replay that is read here. */
static int search_start(struct fr_top *t, const char *expr, struct fr_top_search *s)
{
	struct fr_replay_opts opts = t->ask->opts;
	bool pairs = false, cgroups = false, again;
	int err = search_open_again(t, &opts, s);

	if (err)
		return err;
	s->file_cnt = fr_replay_file_cnt(s->replay);
	s->filter = calloc(s->file_cnt + 1, sizeof(*s->filter));
	err = s->filter ? search_compile(t, expr, s, &pairs, &cgroups) : -ENOMEM;
	again = !err && (pairs || cgroups);
	opts.history = false;
	opts.pairs = pairs;
	opts.cgroups = cgroups;
	if (again)
		err = search_open_again(t, &opts, s) ?: search_compile(t, expr, s, &pairs, &cgroups);
	return err;
}

static void free_search(struct fr_top_search *s)
{
	if (!s)
		return;
	drop_filters(s);
	free(s->filter);
	fr_replay_close(s->replay);
	free(s->found.v);
	free(s);
}

void fr_top_search_free(struct fr_top *t)
{
	free_search(t->search);
	t->search = NULL;
}

void fr_top_search_new(struct fr_top *t, const char *text)
{
	struct fr_top_search *s = calloc(1, sizeof(*s));
	char expr[EXPR_SZ];
	int err;

	make_expr(text, expr);
	err = s ? search_start(t, expr, s) : -ENOMEM;
	if (err) {
		if (!t->note[0])
			fr_top_note(t, "cannot search: %s", strerror(-err));
		free_search(s);
		return;
	}
	fr_top_search_free(t);
	t->search = s;
	s->want = 1;
}

/* ---- reading ---- */

static bool search_is_match(const struct fr_filter *f, const struct fr_replay_run *run, const struct fr_row *r)
{
	enum fr_verdict verdict = fr_filter_verdict(f, r->ev->nr);

	return verdict == FR_VERDICT_YES || (verdict == FR_VERDICT_LOOK && fr_filter_match(f, run->view, r));
}

static int search_take(struct fr_top_search *s, u32 i)
{
	struct fr_row row;
	u32 nr;

	if (!fr_replay_match(&s->run, i, &row))
		return 0;
	nr = s->next++;
	return search_is_match(s->filter[s->run.file], &s->run, &row) ? fr_tl_put_row(&s->found, nr) : 0;
}

static int read_on(struct fr_top_search *s)
{
	u32 left = ROWS_A_TIME;
	int got, err = 0;

	while (left && !err) {
		if (s->run_at == s->run.to) {
			got = fr_replay_next(s->replay, &s->run);
			if (got <= 0)
				return got;
			s->run_at = s->run.from;
		}
		for (; s->run_at < s->run.to && left && !err; left--)
			err = search_take(s, s->run_at++);
	}
	return err ?: 1;
}

/* ---- going there ---- */

/* Index in `found` of the next match from the cursor; found.cnt: none, or not known yet. */
static u32 find_next(const struct fr_top *t, const struct fr_top_search *s, int dir)
{
	u32 i = fr_tl_row_from(t->tl, &s->found, t->cursor);

	if (dir > 0) {
		while (i < s->found.cnt && t->row != FR_TL_NO_ROW && t->tl->event[s->found.v[i]].at == t->cursor &&
		       t->tl->event[t->row].at == t->cursor && s->found.v[i] <= t->row)
			i++;
		return i;
	}
	while (i < s->found.cnt && t->row != FR_TL_NO_ROW && t->tl->event[s->found.v[i]].at == t->cursor &&
	       s->found.v[i] < t->row)
		i++;
	return i ? i - 1 : s->found.cnt;
}

static void show_found(struct fr_top *t, u32 row)
{
	const struct fr_tl_event *e = &t->tl->event[row];
	u32 track = e->task ? fr_top_track_of(t, false, e->task) : fr_top_track_of(t, true, e->cpu);

	fr_top_select_row(t, row);
	if (track < t->track_cnt)
		t->selected = track;
}

/* Goes to the wanted match if it is known. Matches before the event that is read next are known. */
static void try_to_go(struct fr_top *t)
{
	struct fr_top_search *s = t->search;
	bool passed = !s->replay || (s->next < t->tl->event_cnt && t->tl->event[s->next].at > t->cursor);
	u32 i;

	if (!s->want || (s->want < 0 && !passed))
		return;
	i = find_next(t, s, s->want);
	if (i < s->found.cnt) {
		fr_top_remember(t);
		show_found(t, s->found.v[i]);
		s->want = 0;
	} else if (!s->replay) {
		fr_top_note(t, !s->found.cnt ? "nothing found"
			       : s->want > 0 ? "none after this (N: before it)"
					     : "none before this (n: after it)");
		s->want = 0;
	}
}

void fr_top_search_go(struct fr_top *t, int dir)
{
	if (!t->search) {
		fr_top_note(t, "search for something first: /");
		return;
	}
	t->search->want = dir;
	try_to_go(t);
}

int fr_top_search_work(struct fr_top *t)
{
	struct fr_top_search *s = t->search;
	int got;

	if (!s || !s->replay)
		return 0;
	got = read_on(s);
	if (got <= 0) {
		drop_filters(s);
		fr_replay_close(s->replay);
		s->replay = NULL;
	}
	if (got < 0)
		fr_top_note(t, "the search ended: %s", strerror(-got));
	try_to_go(t);
	return 1;
}

const struct fr_tl_rows *fr_top_matches(const struct fr_top *t)
{
	return t->search ? &t->search->found : NULL;
}

const char *fr_top_search_state(const struct fr_top *t, char *buf, size_t sz)
{
	const struct fr_top_search *s = t->search;
	u64 all = t->tl->event_cnt ?: 1;

	if (s->replay)
		snprintf(buf, sz, "%u found, %u%% read", s->found.cnt, (u32)(s->next * 100ULL / all));
	else
		snprintf(buf, sz, "%u found", s->found.cnt);
	return buf;
}
