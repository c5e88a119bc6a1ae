/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * profile_off: where tasks were blocked: the long waits of a snapshot's last time, by program, call and stacks. These are
 * records (event wait), not counted samples: they go back as far as the tier of waits does.
 *
 *	sh;wait4;main;run;do_wait 18303120	folded: program, call, its functions, the kernel's; ns blocked
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/set/foldset.h"
#include "base/set/hash.h"
#include "base/set/tally.h"
#include "base/text/counts.h"
#include "base/text/escape.h"
#include "base/text/folded.h"
#include "base/text/units.h"
#include "read/replay/replay.h"
#include "read/replay/summary.h"
#include "read/waits/waited.h"
#include "read/waits/waitstack.h"
#include "show/export/export.h"
#include "show/profile/profile_page.h"
#include "sys/memory.h"

#define FRAMES_SHOWN 8u /* the program's, and as many of the kernel's */

/* Waits of one program, in one call, with the same stacks. */
struct off_place {
	u64 key;
	u64 cnt, blocked_ns, longest_ns;
	struct fr_waited one;
};

struct off {
	const struct fr_profile_ask *ask;
	struct fr_replay *replay;
	struct fr_symbols *symbols; /* NULL: none wanted */
	struct fr_waited_fields fields;
	struct fr_tally place;
	u64 cnt, blocked_ns, left_out;
	u64 begin_ns, end_ns; /* of the window, */
	u64 since_ns;	      /* and from when on all waits that were written are there */
	u64 overwritten;      /* of those that were written ever */
	struct fr_out *out;
};

/* ---- sums ---- */

static u64 off_key(const struct fr_waited *w)
{
	const u64 word[] = {w->ustack_id, w->kstack_id, (u32)w->id, w->abi, w->in};
	u64 key = fr_hash(FR_HASH_SEED, word, sizeof(word));

	return fr_hash(key, w->comm.text, w->comm.len);
}

static bool off_is_same(const struct fr_waited *a, const struct fr_waited *b)
{
	return a->ustack_id == b->ustack_id && a->kstack_id == b->kstack_id && a->id == b->id && a->abi == b->abi &&
	       a->in == b->in && a->comm.len == b->comm.len && !memcmp(a->comm.text, b->comm.text, a->comm.len);
}

/* NULL: no memory, or none to spare. */
static struct off_place *off_place_of(struct off *o, const struct fr_waited *w)
{
	u64 key = off_key(w), more;
	struct off_place *p;

	for (; (p = fr_tally_find(&o->place, key)); key++)
		if (off_is_same(&p->one, w))
			return p;
	more = fr_tally_growth_sz(&o->place);
	p = more && !fr_memory_has_row_room(more) ? NULL : fr_tally_get(&o->place, key);
	if (p)
		p->one = *w;
	return p;
}

static int off_take(void *arg, const struct fr_replay_run *run, const struct fr_row *row)
{
	struct off *o = arg;
	struct off_place *p;
	struct fr_waited w;

	if (row->ev != o->fields.ev)
		return 0;
	fr_waited_read(&o->fields, run->view, row, &w);
	if (!w.blocked_ns)
		return 0;
	o->cnt++;
	o->blocked_ns += w.blocked_ns;
	p = off_place_of(o, &w);
	if (!p) {
		o->left_out++;
		return 0;
	}
	p->cnt++;
	p->blocked_ns += w.blocked_ns;
	if (w.blocked_ns > p->longest_ns)
		p->longest_ns = w.blocked_ns;
	return 0;
}

static int off_by_time(const void *a, const void *b)
{
	const struct off_place *x = a, *y = b;

	if (x->blocked_ns != y->blocked_ns)
		return x->blocked_ns > y->blocked_ns ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

/* ---- frames ---- */

static u32 off_user(const struct off *o, const struct fr_waited *w, struct fr_waituser user[FR_STACK_DEPTH_MAX], u32 max)
{
	return fr_waituser_find(o->symbols, fr_replay_view(o->replay, 0)->stacks, w->pid < 0 ? w->tid : (u32)w->pid,
				w->ustack_id, user, max);
}

static struct fr_waitstack off_kernel(const struct off *o, const struct fr_waited *w)
{
	return fr_waitstack_find(o->symbols, fr_replay_view(o->replay, 0)->stacks, w->kstack_id);
}

static const char *off_arch(const struct off *o)
{
	return fr_snap_fact(fr_replay_snap(o->replay, 0), "arch");
}

/* ---- folded ---- */

static void off_add(struct fr_folded *l, const char *text)
{
	fr_folded_add(l, text, strlen(text));
}

static void off_fold(const struct off *o, const struct fr_waited *w, struct fr_folded *l)
{
	struct fr_waituser user[FR_STACK_DEPTH_MAX];
	struct fr_waitstack s = off_kernel(o, w);
	char call[FR_WAITED_CALL_SZ], text[FR_WAITUSER_SZ];
	u32 i = off_user(o, w, user, FR_STACK_DEPTH_MAX), k = s.to;

	l->len = 0;
	if (w->comm.len)
		fr_folded_add(l, w->comm.text, w->comm.len);
	else
		off_add(l, "[unknown]");
	off_add(l, fr_waited_call(w, off_arch(o), call));
	while (i--)
		off_add(l, fr_waituser_name(&user[i], text));
	while (k-- > s.from)
		off_add(l, fr_waitstack_name(o->symbols, s.ip[k], text));
}

static int off_folded(const struct off *o)
{
	struct fr_folded *l = malloc(sizeof(*l));
	struct fr_foldset *set = fr_foldset_new();
	int err = l && set ? 0 : -ENOMEM;
	u32 i;

	for (i = 0; i < o->place.cnt && !err; i++) {
		const struct off_place *p = fr_tally_at(&o->place, i);

		off_fold(o, &p->one, l);
		err = fr_foldset_add(set, l->text, l->len, p->blocked_ns);
	}
	if (!err)
		fr_foldset_take(set, fr_folded_put, o->out);
	fr_foldset_free(set);
	free(l);
	return err;
}

/* ---- text ---- */

static void off_put_ns(const struct off *o, u64 ns, u32 cols)
{
	char text[32];

	fr_out_printf(o->out, "%*s", (int)cols, fr_show_duration(ns, text, sizeof(text)));
}

static void off_put_name(const struct off *o, const char *before, const char *name)
{
	fr_out_str(o->out, before);
	fr_escape_text(o->out, name, strlen(name));
}

/* "by" the program's functions, "in" the kernel's, each innermost first. */
static void off_put_frames(const struct off *o, const struct fr_waited *w)
{
	struct fr_waituser user[FR_STACK_DEPTH_MAX];
	struct fr_waitstack s = off_kernel(o, w);
	char text[FR_WAITUSER_SZ];
	u32 cnt = off_user(o, w, user, FRAMES_SHOWN), i;

	if (!cnt && s.from == s.to)
		return;
	fr_out_str(o->out, "           ");
	for (i = 0; i < cnt; i++)
		off_put_name(o, i ? " < " : " by ", fr_waituser_name(&user[i], text));
	if (!cnt)
		fr_out_str(o->out, " by ? (not recorded)");
	for (i = s.from; i < s.to && i < s.from + FRAMES_SHOWN; i++)
		off_put_name(o, i > s.from ? " < " : ", in ", fr_waitstack_name(o->symbols, s.ip[i], text));
	fr_out_char(o->out, '\n');
}

static void off_put_place(const struct off *o, const struct off_place *p)
{
	char call[FR_WAITED_CALL_SZ], comm[FR_COMM_SZ + 1];

	snprintf(comm, sizeof(comm), "%.*s", p->one.comm.len ? (int)p->one.comm.len : 1,
		 p->one.comm.len ? p->one.comm.text : "?");
	off_put_ns(o, p->blocked_ns, 11);
	fr_out_printf(o->out, " %8llu", p->cnt);
	off_put_ns(o, p->longest_ns, 11);
	off_put_name(o, "  ", comm);
	off_put_name(o, " in ", fr_waited_call(&p->one, off_arch(o), call));
	fr_out_char(o->out, '\n');
	off_put_frames(o, &p->one);
}

u64 fr_profile_unrecorded(const struct fr_snap *snap)
{
	static const char *const counts[] = {"over", "lost", "held"};
	u64 all = 0, v;
	size_t i;

	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		if (fr_counts_get(fr_snap_fact(snap, "waits"), counts[i], strlen(counts[i]), &v))
			all += v;
	return all;
}

/* Are some of the window's waits no longer there? */
static bool off_is_cut_short(const struct off *o)
{
	return o->since_ns > o->begin_ns && o->overwritten;
}

static void off_put_head(const struct off *o)
{
	u64 missing = fr_profile_unrecorded(fr_replay_snap(o->replay, 0));
	s64 min_ns = -1;
	char text[32];

	fr_snap_fact_num(fr_replay_snap(o->replay, 0), "wait_min_ns", &min_ns);
	off_put_name(o, "Blocked: ", o->ask->name);
	fr_out_printf(o->out, ", the last %s\n", fr_show_duration(o->end_ns - o->begin_ns, text, sizeof(text)));
	fr_out_printf(o->out, "%llu wait%s", o->cnt, fr_plural(o->cnt));
	if (min_ns >= 0)
		fr_out_printf(o->out, " of at least %s", fr_show_duration(min_ns, text, sizeof(text)));
	fr_out_printf(o->out, " that ended then, blocked for %s", fr_show_duration(o->blocked_ns, text, sizeof(text)));
	fr_out_str(o->out, "; shorter ones, and what still waits, are not in it\n");
	if (off_is_cut_short(o))
		fr_out_printf(o->out, "complete only for the last %s: earlier ones were overwritten\n",
			      fr_show_duration(o->end_ns > o->since_ns ? o->end_ns - o->since_ns : 0, text, sizeof(text)));
	if (missing)
		fr_out_printf(o->out, "%llu longer ones since the session began have no record\n", missing);
	if (o->left_out)
		fr_out_printf(o->out, "%llu have no line, for lack of memory\n", o->left_out);
}

static void off_text(const struct off *o)
{
	u32 shown = o->place.cnt < o->ask->top ? o->place.cnt : o->ask->top, i;

	off_put_head(o);
	if (!shown)
		return;
	fr_out_paint(o->out, FR_PAINT_DIM);
	fr_out_str(o->out, "\n    blocked    times    longest  where\n");
	fr_out_paint(o->out, FR_PAINT_NONE);
	for (i = 0; i < shown; i++)
		off_put_place(o, fr_tally_at(&o->place, i));
	if (shown < o->place.cnt)
		fr_out_printf(o->out, "%u of %u places: --top shows more\n", shown, o->place.cnt);
}

/* ---- all ---- */

/* 0, or -errno, which has been reported. */
static int off_print(void *arg, int fd)
{
	struct off *o = arg;
	int err = 0;

	o->out = malloc(sizeof(*o->out));
	if (!o->out) {
		fr_err_memory();
		return -ENOMEM;
	}
	fr_out_init(o->out, fd);
	if (!strcmp(o->ask->format, "folded"))
		err = off_folded(o);
	else
		off_text(o);
	if (err)
		fr_err_errno(err, "cannot print the profile");
	if (fr_err_finish(o->out, FR_EXIT_OK) && !err)
		err = fr_out_error(o->out);
	free(o->out);
	return err;
}

static int off_read(struct off *o)
{
	const struct fr_snap *s = fr_replay_snap(o->replay, 0);
	struct fr_summary *sum;
	u32 i;
	int err = fr_summary_new(s, &sum);

	if (err)
		return err;
	o->since_ns = fr_summary_horizon(sum, FR_TIER_WAIT);
	for (i = 0; i < sum->ring_cnt; i++)
		o->overwritten += sum->ring[i].tier == FR_TIER_WAIT ? sum->ring[i].count.overwritten : 0;
	fr_summary_free(sum);
	fr_replay_window(o->replay, &o->begin_ns, &o->end_ns);
	fr_waited_bind(&o->fields, fr_replay_view(o->replay, 0)->schema);
	err = fr_replay_each(o->replay, off_take, o);
	if (!err && !o->ask->no_symbols)
		err = fr_symbols_new(s, &o->ask->symbols, &o->symbols);
	fr_tally_sort(&o->place, off_by_time);
	return err;
}

static int off_show(struct off *o, int err)
{
	s64 min_ns;

	if (err) {
		fr_err_errno(err, "cannot read %s", o->ask->name);
		return FR_EXIT_FAIL;
	}
	if (!o->cnt && !fr_snap_fact_num(fr_replay_snap(o->replay, 0), "wait_min_ns", &min_ns)) {
		fr_err("no waits in %s: it was recorded without them: record -e wait", o->ask->name);
		return FR_EXIT_FAIL;
	}
	if (fr_export_to_path(o->ask->output, off_print, o))
		return FR_EXIT_FAIL;
	return fr_replay_say_damage(o->replay) ? FR_EXIT_CORRUPT : FR_EXIT_OK;
}

/* Does the file have the hour's sums, where its waits do not go back so far? */
static bool off_needs_hour(const struct off *o)
{
	const struct fr_prof *hour = fr_snap_blocked(fr_replay_snap(o->replay, 0));

	return hour && hour->bucket_cnt && off_is_cut_short(o) && hour->bucket[0].begin_ns < o->since_ns;
}

int fr_profile_off(const struct fr_profile_ask *ask)
{
	struct fr_profile_ask hour = *ask;
	bool needs_hour = false;
	const struct fr_replay_opts opts = {
		.since = {.kind = FR_WHEN_END, .ns = ask->since_ns},
		.tiers = 1u << FR_TIER_WAIT,
		.names = true,
	};
	struct off o = {.ask = ask, .place.rec_sz = sizeof(struct off_place)};
	int err = fr_replay_open(&ask->path, 1, &opts, &o.replay), status;

	if (err)
		return err == -EBADMSG ? FR_EXIT_CORRUPT : FR_EXIT_FAIL;
	err = off_read(&o);
	needs_hour = !err && off_needs_hour(&o);
	status = needs_hour ? FR_EXIT_OK : off_show(&o, err);
	fr_symbols_free(o.symbols);
	fr_tally_free(&o.place);
	fr_replay_close(o.replay);
	hour.blocked = true;
	return needs_hour ? fr_profile(&hour) : status;
}
