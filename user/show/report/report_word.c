/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* report_word: the words for numbers, the same in text and in JSON; functions of samples and frames. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/set/vec.h"
#include "show/report/report.h"

const char *fr_report_in_word(u8 in)
{
	return in == FR_SPAN_IN_CALL ? "syscall" : in == FR_SPAN_IN_FAULT ? "fault" : "none";
}

const char *fr_report_state_word(u16 state)
{
	const struct fr_sys sys = {0};

	return fr_sysname(&sys, FR_STYLE_STATE, state);
}

const char *fr_report_call_name(const struct fr_report *r, u8 abi, s32 id)
{
	const struct fr_sys sys = {.arch = fr_snap_fact(r->snap, "arch"), .abi = abi};

	return fr_sysname(&sys, FR_STYLE_SYSCALL, id);
}

const char *fr_report_call_text(const struct fr_report *r, u8 abi, s32 id, char room[FR_SYSNAME_CALL_SZ])
{
	const struct fr_sys sys = {.arch = fr_snap_fact(r->snap, "arch"), .abi = abi};

	return fr_sysname_call(&sys, id, room);
}

const char *fr_report_errno_name(s64 ret)
{
	return fr_ret_error(ret);
}

/* The C library's text: errors have the same numbers on all machines that are recorded. */
const char *fr_report_errno_words(s64 nr)
{
	return strerrordesc_np(nr);
}

/* ---- functions ---- */

#define INLINE_MAX 32u /* functions of a frame */

/* The functions of a frame: how many. */
static u32 functions_of(struct fr_report *r, bool user, u32 nr, u64 ip, struct fr_symbol *to)
{
	const struct fr_an_focus *f = &r->res->focus;

	*to = (struct fr_symbol){0};
	if (!r->symbols)
		return 1;
	if (user)
		return fr_symbols_user(r->symbols, fr_names_who(r->view->names, f->tid, f->stack_ns, 0).pid, f->ustack_id, nr,
				       ip, to, INLINE_MAX);
	fr_symbols_kernel(r->symbols, ip, to);
	return 1;
}

static size_t own_frames(struct fr_report *r, bool user, const u64 *ip, size_t cnt)
{
	return user || !r->symbols || r->res->focus.stack_of != FR_AN_STACK_CRASH
		       ? 0
		       : fr_symbols_recorder_frames(r->symbols, ip, cnt);
}

static int word_add_frame(struct fr_report_stack *s, const struct fr_report_frame *frame)
{
	struct fr_report_frame *more = fr_vec_more(&s->frame, s->cnt);

	if (!more)
		return -ENOMEM;
	*more = *frame;
	s->cnt++;
	return 0;
}

static int word_add_stack(struct fr_report *r, bool user, u64 stack_id)
{
	size_t cnt = 0, i;
	const u64 *ip = stack_id ? fr_stacks_find(r->view->stacks, stack_id, &cnt) : NULL;
	size_t own = ip ? own_frames(r, user, ip, cnt) : 0;
	struct fr_symbol symbol[INLINE_MAX];
	int err = 0;
	u32 found, k;

	for (i = 0; ip && i < cnt && !err; i++) {
		found = functions_of(r, user, i, ip[i], symbol);
		for (k = 0; k < found && !err; k++)
			err = word_add_frame(&r->stack[user], &(struct fr_report_frame){ip[i], i, i < own, symbol[k]});
	}
	return err;
}

int fr_report_stacks(struct fr_report *r)
{
	const struct fr_an_focus *f = &r->res->focus;

	return word_add_stack(r, false, f->kstack_id) ?: word_add_stack(r, true, f->ustack_id);
}

static void word_find_function(struct fr_report *r, const struct fr_an_sample *sample, struct fr_report_fn *fn)
{
	struct fr_symbol s = {0};

	if (r->symbols && sample->user)
		fr_symbols_user(r->symbols, sample->pid, sample->stack_id, 0, sample->ip, &s, 1);
	else if (r->symbols)
		fr_symbols_kernel(r->symbols, sample->ip, &s);
	*fn = (struct fr_report_fn){.name = s.name,
				    .module = s.module,
				    .missing = s.missing,
				    .ip = sample->ip,
				    .cnt = sample->cnt,
				    .user = sample->user};
}

static int compare_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) : (a != NULL) - (b != NULL);
}

/* A function without a name is told apart by its module, or by its address alone. */
static int by_function(const void *a, const void *b)
{
	const struct fr_report_fn *x = a, *y = b;
	int diff = (int)x->user - (int)y->user;

	diff = diff ?: compare_text(x->module, y->module);
	diff = diff ?: compare_text(x->name, y->name);
	if (diff || x->name || x->module)
		return diff;
	return x->ip < y->ip ? -1 : x->ip > y->ip;
}

static int by_count(const void *a, const void *b)
{
	const struct fr_report_fn *x = a, *y = b;

	if (x->cnt != y->cnt)
		return x->cnt > y->cnt ? -1 : 1;
	return by_function(a, b);
}

int fr_report_functions(struct fr_report *r)
{
	const struct fr_tally *t = &r->res->samples;
	struct fr_report_fn *fn = calloc(t->cnt + 1, sizeof(*fn));
	u32 i, to = 0;

	if (!fn)
		return -ENOMEM;
	for (i = 0; i < t->cnt; i++)
		word_find_function(r, fr_tally_at(t, i), &fn[i]);
	qsort(fn, t->cnt, sizeof(*fn), by_function);
	for (i = 0; i < t->cnt; i++) {
		if (to && !by_function(&fn[to - 1], &fn[i]))
			fn[to - 1].cnt += fn[i].cnt;
		else
			fn[to++] = fn[i];
	}
	qsort(fn, to, sizeof(*fn), by_count);
	r->fn = fn;
	r->fn_cnt = r->ask->top && to > r->ask->top ? r->ask->top : to;
	return 0;
}
