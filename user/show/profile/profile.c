/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "show/profile/profile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/set/hash.h"
#include "base/set/vec.h"
#include "read/replay/replay.h"
#include "show/export/export.h"
#include "show/profile/profile_page.h"

#define INLINE_MAX 16u
#define FUNC_MAX   (4u * FR_STACK_DEPTH_MAX) /* of both stacks, including inlined functions */

const char *fr_profile_state(u32 state)
{
	static const char *const names[] = {[FR_HIT_user] = "user", [FR_HIT_kernel] = "kernel", [FR_HIT_idle] = "idle"};

	return names[state % FR_HIT_STATE_CNT];
}

/* ---- windows ---- */

static bool is_stackless(const struct fr_prof *p, u32 nr)
{
	const struct fr_prof_key *k = &p->key[nr];

	return nr != FR_PROF_OTHER && k->state != FR_HIT_idle && !k->kstack && !k->ustack;
}

static void add_bucket(struct fr_profile *p, const struct fr_prof_bucket *b, u32 w)
{
	struct fr_profile_sum *s = &p->sum[w];
	u32 i;

	if (!s->end_ns)
		s->begin_ns = b->begin_ns;
	s->end_ns = b->end_ns;
	s->taken += b->taken;
	s->lost += b->lost;
	s->expected += b->expected;
	for (i = b->first; i < b->first + b->hit_cnt; i++) {
		const struct fr_prof_hit *h = &p->prof->hit[i];

		p->hits[h->key][w] += h->hits;
		s->cnt += h->hits;
		s->idle += p->prof->key[h->key].state == FR_HIT_idle ? h->hits : 0;
		s->other += h->key == FR_PROF_OTHER ? h->hits : 0;
		s->stackless += is_stackless(p->prof, h->key) ? h->hits : 0;
	}
}

/* A bucket belongs to the window that contains most of it. */
static void profile_sum_up(struct fr_profile *p)
{
	u64 end_ns = p->prof->end_ns, from_ns = end_ns > p->ask->since_ns ? end_ns - p->ask->since_ns : 0;
	u32 i;

	for (i = 0; i < p->prof->bucket_cnt; i++) {
		const struct fr_prof_bucket *b = &p->prof->bucket[i];
		u64 middle_ns = b->begin_ns + (b->end_ns - b->begin_ns) / 2;

		if (middle_ns >= from_ns || i + 1 == p->prof->bucket_cnt)
			add_bucket(p, b, FR_PROFILE_NOW);
		else if (p->ask->diff)
			add_bucket(p, b, FR_PROFILE_BEFORE);
	}
}

/* ---- functions ---- */

struct func_key {
	const char *name, *module;
};

static bool profile_has_key(const void *of, u32 nr, const void *key)
{
	const struct fr_profile_func *f = &((const struct fr_profile *)of)->func[nr - 1];
	const struct func_key *k = key;

	return !strcmp(f->name, k->name) && !strcmp(f->module ?: "", k->module ?: "");
}

/* The index of a function, -1: no memory. */
static int func_of(struct fr_profile *p, const char *name, const char *module)
{
	const struct func_key key = {name, module};
	u64 hash = fr_hash(fr_hash(FR_HASH_SEED, name, strlen(name) + 1), module ?: "", module ? strlen(module) : 0);
	u32 *nr = fr_hashed_at(&p->slots, hash, profile_has_key, p, &key);
	struct fr_profile_func *func;
	char *copy;

	if (nr && *nr)
		return *nr - 1;
	func = nr ? fr_vec_more(&p->func, p->func_cnt) : NULL;
	copy = func ? strdup(name) : NULL;
	if (!copy)
		return -1;
	*func = (struct fr_profile_func){.name = copy, .module = module};
	*nr = ++p->func_cnt;
	return p->func_cnt - 1;
}

/* Without a name: its place in its file, or its address. */
static int func_of_symbol(struct fr_profile *p, const struct fr_symbol *s, u64 addr)
{
	const char *slash = s->module ? strrchr(s->module, '/') : NULL;
	char text[300];

	if (s->name)
		return func_of(p, s->name, s->module);
	if (s->module)
		snprintf(text, sizeof(text), "%.250s+0x%llx", slash && slash[1] ? slash + 1 : s->module, s->module_off);
	else
		snprintf(text, sizeof(text), "0x%llx", addr);
	return func_of(p, text, s->module);
}

/* ---- stacks ---- */

static u32 name_frame(struct fr_profile *p, const struct fr_prof_key *k, u64 frame, u32 nr, struct fr_symbol *out)
{
	const struct fr_prof_file *f;

	*out = (struct fr_symbol){};
	if (!p->symbols)
		return 1;
	if (fr_prof_is_kernel(frame)) {
		fr_symbols_kernel(p->symbols, frame, out);
		return 1;
	}
	if (fr_prof_is_file(frame)) {
		f = &p->prof->file[fr_prof_file(frame)];
		return fr_symbols_place(p->symbols, f->build_id, f->sz, fr_prof_off(frame), nr, out, INLINE_MAX);
	}
	return fr_symbols_user(p->symbols, k->pid, 0, nr, frame, out, INLINE_MAX);
}

/* Innermost first. Appends to *cnt functions, returns the new count; -ENOMEM. */
static int name_stack(struct fr_profile *p, const struct fr_prof_key *k, u32 stack, int *func, u32 *cnt)
{
	struct fr_symbol sym[INLINE_MAX];
	u32 i, n, j;

	for (i = 0; stack; stack = p->prof->node[stack - 1].parent, i++) {
		u64 frame = p->prof->node[stack - 1].frame, addr = fr_prof_is_file(frame) ? fr_prof_off(frame) : frame;

		n = name_frame(p, k, frame, i, sym);
		for (j = 0; j < n && *cnt < FUNC_MAX; j++) {
			func[*cnt] = func_of_symbol(p, &sym[j], addr);
			if (func[(*cnt)++] < 0)
				return -ENOMEM;
		}
	}
	return 0;
}

static void profile_weigh(struct fr_profile *p, const struct fr_profile_stack *s, u32 mark)
{
	struct fr_profile_func *f;
	u32 i, w;

	for (i = 0; i < s->cnt; i++) {
		f = &p->func[s->func[i]];
		for (w = 0; w < FR_PROFILE_WINDOWS; w++) {
			f->self[w] += i + 1 == s->cnt ? s->hits[w] : 0;
			f->total[w] += f->mark != mark ? s->hits[w] : 0;
		}
		f->mark = mark;
	}
}

static int add_key(struct fr_profile *p, u32 nr)
{
	const struct fr_prof_key *k = &p->prof->key[nr];
	struct fr_profile_stack *s = &p->stack[p->stack_cnt];
	int func[FUNC_MAX], err;
	u32 cnt = 0, i;

	err = name_stack(p, k, k->kstack, func, &cnt);
	err = err ?: name_stack(p, k, k->ustack, func, &cnt);
	if (err)
		return err;
	*s = (struct fr_profile_stack){.key = k, .func = calloc(cnt + 1, sizeof(*s->func)), .cnt = cnt};
	if (!s->func)
		return -ENOMEM;
	for (i = 0; i < cnt; i++)
		s->func[i] = func[cnt - 1 - i];
	for (i = 0; i < FR_PROFILE_WINDOWS; i++)
		s->hits[i] = p->hits[nr][i];
	profile_weigh(p, s, ++p->stack_cnt);
	return 0;
}

static int add_keys(struct fr_profile *p)
{
	int err = 0;
	u32 i;

	p->stack = calloc(p->prof->key_cnt, sizeof(*p->stack));
	if (!p->stack)
		return -ENOMEM;
	for (i = FR_PROF_OTHER + 1; i < p->prof->key_cnt && !err; i++)
		if ((p->hits[i][0] || p->hits[i][1]) && p->prof->key[i].state != FR_HIT_idle)
			err = add_key(p, i);
	return err ?: p->symbols ? fr_symbols_error(p->symbols) : 0;
}

/* ---- lifetime ---- */

static int profile_open_symbols(struct fr_profile *p)
{
	return p->ask->no_symbols ? 0 : fr_symbols_new(p->snap, &p->ask->symbols, &p->symbols);
}

static int profile_prepare(struct fr_profile *p)
{
	int err;

	p->hits = calloc(p->prof->key_cnt, sizeof(*p->hits));
	if (!p->hits)
		return -ENOMEM;
	profile_sum_up(p);
	err = profile_open_symbols(p);
	return err ?: add_keys(p);
}

static void profile_release(struct fr_profile *p)
{
	u32 i;

	for (i = 0; i < p->func_cnt; i++)
		free(p->func[i].name);
	for (i = 0; i < p->stack_cnt; i++)
		free(p->stack[i].func);
	free(p->func);
	free(p->slots.slot);
	free(p->stack);
	free(p->hits);
	fr_symbols_free(p->symbols);
	fr_snap_close(p->snap);
}

static int profile_print(struct fr_profile *p)
{
	const char *f = p->ask->format;

	if (!strcmp(f, "folded"))
		return fr_profile_folded(p);
	if (!strcmp(f, "perfetto"))
		return fr_profile_perfetto(p);
	if (!strcmp(f, "json"))
		fr_profile_json(p);
	else if (p->ask->blocked)
		fr_profile_blocked(p);
	else if (p->ask->diff)
		fr_profile_diff(p);
	else
		fr_profile_text(p);
	return 0;
}

/* 0, or -errno, which has been reported. */
static int print_to(void *arg, int fd)
{
	struct fr_profile *p = arg;
	int err;

	p->out = malloc(sizeof(*p->out));
	if (!p->out) {
		fr_err_memory();
		return -ENOMEM;
	}
	fr_out_init(p->out, fd);
	err = profile_print(p);
	if (err == fr_out_error(p->out)) /* that is reported below, once, and is no failure if the reader has gone */
		err = 0;
	if (err)
		fr_err_errno(err, "cannot print the profile");
	if (fr_err_finish(p->out, FR_EXIT_OK) && !err)
		err = fr_out_error(p->out);
	free(p->out);
	return err;
}

static int profile_print_all(struct fr_profile *p, int status)
{
	return fr_export_to_path(p->ask->output, print_to, p) ? FR_EXIT_FAIL : status;
}

/* cut leaves the profile out if it keeps some processes only: samples of the last hour are counted for all of them together. */
static bool was_cut_out(const struct fr_profile *p)
{
	return fr_snap_fact(p->snap, "cut_from") && (fr_snap_fact(p->snap, "cut_pid") || fr_snap_fact(p->snap, "cut_cgroup"));
}

static bool has_profile(const struct fr_profile *p)
{
	if (p->prof && p->prof->bucket_cnt)
		return true;
	if (fr_snap_damage(p->snap))
		fr_err("no profile in %s: %s", p->ask->name, fr_snap_damage_text(p->snap, 0));
	else if (was_cut_out(p))
		fr_err("no profile in %s: `flightrec cut` left it out with the other processes: look in %s, its source",
		       p->ask->name, fr_snap_fact(p->snap, "cut_from"));
	else
		fr_err("no profile in %s: it was recorded without samples, or with --cpu-profile no", p->ask->name);
	return false;
}

int fr_profile(const struct fr_profile_ask *ask)
{
	struct fr_profile p = {.ask = ask};
	int err = fr_snap_open(ask->path, &p.snap), status = FR_EXIT_FAIL;

	if (err) {
		fr_snap_say_error(ask->path, err);
		return err == -EBADMSG ? FR_EXIT_CORRUPT : FR_EXIT_FAIL;
	}
	p.prof = ask->blocked ? fr_snap_blocked(p.snap) : fr_snap_profile(p.snap);
	if (has_profile(&p)) {
		err = profile_prepare(&p);
		if (err)
			fr_err_errno(err, "cannot read the profile");
		else
			status = profile_print_all(&p, fr_snap_say_damage(p.snap, ask->name) ? FR_EXIT_CORRUPT : FR_EXIT_OK);
	} else if (fr_snap_damage(p.snap)) {
		status = FR_EXIT_CORRUPT;
	}
	profile_release(&p);
	return status;
}
