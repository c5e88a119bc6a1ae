/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <string.h>

#include "base/set/vec.h"
#include "read/replay/focus.h"
#include "read/replay/gaps.h"
#include "read/replay/holder.h"
#include "read/replay/lacks.h"
#include "read/replay/summary.h"
#include "read/timeline/timeline_int.h"
#include "sys/memory.h"

/* ---- tasks and CPUs ---- */

int fr_tl_new_task(struct fr_timeline *t, u32 boot, u32 tid, u32 *nr)
{
	int err = fr_tl_grow((void **)&t->task, t->task_cnt, &t->task_cap, sizeof(*t->task));
	u64 *known = fr_tidmap_at(&t->work->boot[boot].by_tid, tid);

	if (err || !known)
		return -ENOMEM;
	t->task[t->task_cnt] = (struct fr_tl_task){.tid = tid, .boot = boot, .pid = -1};
	*nr = t->task_cnt++;
	*known = *nr + 1;
	return 0;
}

int fr_tl_task_nr(struct fr_timeline *t, u32 boot, u32 tid, u32 *nr)
{
	u32 known = tid ? fr_tidmap_get(&t->work->boot[boot].by_tid, tid) : 1;

	if (!known)
		return fr_tl_new_task(t, boot, tid & FR_TID_MASK, nr);
	*nr = known - 1;
	return 0;
}

/* The index of the CPU of this number. 0 or -ENOMEM. */
static int timeline_cpu_nr(struct fr_timeline *t, u32 boot, u16 cpu, u32 *nr)
{
	u32 *known = &t->work->boot[boot].by_cpu[cpu];
	struct fr_tl_cpu *more;

	if (!*known) {
		if (t->cpu_cnt > 0xffff)
			return -ENOMEM;
		more = fr_vec_more(&t->cpu, t->cpu_cnt);
		if (!more)
			return -ENOMEM;
		*more = (struct fr_tl_cpu){.nr = cpu, .boot = boot};
		more->pair = fr_pairs_cpu(t->work->boot[boot].pairs, cpu);
		if (!more->pair)
			return -ENOMEM;
		*known = ++t->cpu_cnt;
	}
	*nr = *known - 1;
	return 0;
}

/* ---- CPUs and holes of the files ---- */

static u64 timeline_key_of(const struct fr_timeline *t, u32 boot, u64 ts)
{
	return ts + t->work->boot[boot].shift_ns;
}

static u64 at_of(const struct fr_timeline *t, u32 boot, u64 ts)
{
	return fr_tl_at(t, timeline_key_of(t, boot, ts));
}

/* Among several hosts, nothing is known of one before its first event. */
static u64 known_key(const struct fr_timeline *t, u32 boot, const struct fr_summary *sum, u64 ts)
{
	return timeline_key_of(t, boot, t->boot_cnt > 1 && ts < sum->start_ns ? sum->start_ns : ts);
}

/* The earliest among the snapshots of one boot counts. */
static int timeline_add_cpus(struct fr_timeline *t, u32 file)
{
	u32 boot = fr_replay_boot(t->replay, file), i, nr, was;
	struct fr_summary *sum;
	int err = fr_summary_new(fr_replay_snap(t->replay, file), &sum);

	if (err)
		return err;
	for (i = 0; i < sum->ring_cnt && !err; i++) {
		const struct fr_sum_ring *r = &sum->ring[i];
		u64 begin_key = known_key(t, boot, sum, r->begin_ns), begin = fr_tl_at(t, begin_key),
		    horizon = fr_tl_at(t, known_key(t, boot, sum, r->horizon_ns));

		if (r->tier != FR_TIER_MAIN)
			continue;
		was = t->cpu_cnt;
		err = timeline_cpu_nr(t, boot, r->cpu, &nr);
		if (!err && r->end_ns && at_of(t, boot, r->end_ns) > t->end)
			t->end = at_of(t, boot, r->end_ns);
		if (!err && (nr == was || begin_key < t->cpu[nr].on.whole_ns))
			t->cpu[nr].on.whole_ns = begin_key;
		if (!err && (nr == was || begin < t->cpu[nr].begin))
			t->cpu[nr].begin = begin;
		if (!err && (nr == was || horizon < t->cpu[nr].horizon))
			t->cpu[nr].horizon = horizon;
	}
	fr_summary_free(sum);
	return err;
}

/* Inserts a hole at index `to` of the list. */
static int timeline_add_hole(struct fr_timeline *t, u32 to, u32 boot, const struct fr_gap *gap)
{
	struct fr_tl_hole *hole;
	u32 nr;
	int err = timeline_cpu_nr(t, boot, gap->cpu, &nr);

	if (err || !fr_vec_more(&t->hole, t->hole_cnt))
		return -ENOMEM;
	hole = t->hole;
	memmove(hole + to + 1, hole + to, (t->hole_cnt++ - to) * sizeof(*hole));
	hole[to] = (struct fr_tl_hole){
		.since = at_of(t, boot, gap->since_ns),
		.until = gap->until_ns == FR_GAP_OPEN ? UINT64_MAX / 2 : at_of(t, boot, gap->until_ns),
		.since_key = timeline_key_of(t, boot, gap->since_ns),
		.until_key = gap->until_ns == FR_GAP_OPEN ? FR_GAP_OPEN : timeline_key_of(t, boot, gap->until_ns),
		.cpu = nr,
		.why = gap->why,
	};
	return 0;
}

static int find_gaps(const struct fr_timeline *t, u32 boot, struct fr_gaps *gaps)
{
	u32 i;
	int err = 0;

	for (i = 0; i < fr_replay_file_cnt(t->replay) && !err; i++)
		if (fr_replay_boot(t->replay, i) == boot)
			err = fr_gaps_add(gaps, fr_replay_snap(t->replay, i));
	return err ?: fr_gaps_ready(gaps);
}

/* The time before a CPU's history begins is not a hole: the CPU's horizon shows it. */
static int timeline_add_holes(struct fr_timeline *t, u32 boot)
{
	struct fr_gaps gaps = {.ends = true};
	int err = find_gaps(t, boot, &gaps);
	size_t i;

	for (i = 0; i < gaps.gap.cnt && !err; i++)
		if (gaps.gap.g[i].why != FR_GAP_before)
			err = timeline_add_hole(t, t->hole_cnt, boot, &gaps.gap.g[i]);
	fr_gaps_clear(&gaps);
	return err;
}

static int timeline_add_lost(struct fr_timeline *t, u32 to, const struct fr_replay_lost *lost)
{
	const struct fr_gap gap = {lost->cpu, FR_HOLE_damaged, lost->since_ns, lost->until_ns};

	return timeline_add_hole(t, to, lost->boot, &gap);
}

static int note_early(struct fr_timeline_work *w, const struct fr_replay_lost *lost)
{
	int err = fr_tl_grow((void **)&w->early, w->early_cnt, &w->early_cap, sizeof(*w->early));

	if (!err)
		w->early[w->early_cnt++] = *lost;
	return err;
}

/* Data found damaged while reading is a hole too. Until the first rows come, the origin is not known. */
int fr_timeline_lost(void *timeline, const struct fr_replay_lost *lost)
{
	struct fr_timeline *t = timeline;
	u32 at = t->work->hole_at;
	int err;

	if (lost->tier != FR_TIER_MAIN)
		return 0;
	if (!t->work->has_run)
		return note_early(t->work, lost);
	err = timeline_add_lost(t, at, lost);
	if (err)
		return err;
	t->work->hole_at++;
	return fr_tl_rows_gap(t, &t->hole[at]);
}

static int timeline_by_since(const void *a, const void *b)
{
	const struct fr_tl_hole *x = a, *y = b;

	return x->since_key < y->since_key ? -1 : x->since_key > y->since_key;
}

static int timeline_find_trigger(struct fr_timeline *t, u32 file)
{
	const struct fr_snap *s = fr_replay_snap(t->replay, file);
	u32 boot = fr_replay_boot(t->replay, file), tid;
	s64 ts;
	int err;

	if (t->has_trigger || !fr_snap_fact_num(s, "trigger_ts", &ts) || ts <= 0)
		return 0;
	t->has_trigger = true;
	t->trigger = at_of(t, boot, ts);
	err = fr_focus_find(t->replay, file, &tid);
	if (!err && tid && fr_tidmap_get(&t->work->boot[boot].by_tid, tid))
		t->focus = fr_tidmap_get(&t->work->boot[boot].by_tid, tid) - 1;
	return err;
}

/* ---- meaning ---- */

/* Only what a task's CPU and its waker depend on: calls, faults and requests would cost most, and nothing here asks for them.
 */
static int timeline_bind_pairs(struct fr_timeline *t, u32 file)
{
	const struct fr_schema *s = fr_replay_schema(t->replay, file);
	struct fr_pairs *pairs = t->work->boot[fr_replay_boot(t->replay, file)].pairs;
	u32 nr;

	for (nr = 0; nr < FR_EVENT_MAX; nr++) {
		const struct fr_event *ev = fr_schema_event(s, nr);
		bool is_other =
			ev && (ev->group == FR_GROUP_SYSCALL || ev->group == FR_GROUP_FAULT || ev->group == FR_GROUP_BLOCK);

		if (ev && !is_other && fr_pairs_rule(pairs, s, nr, &t->work->bind[file].pair[nr]))
			return -ENOMEM;
	}
	return 0;
}

/* What else tells who woke: the file's waits, and that events of handlers were cut away, which then tell nothing. */
static int timeline_add_wakers(struct fr_timeline *t, u32 file)
{
	struct fr_tl_boot *b = &t->work->boot[fr_replay_boot(t->replay, file)];
	const u32 handlers = 1u << FR_PAIR_IRQ | 1u << FR_PAIR_SOFTIRQ;
	u32 lacks;
	int err = fr_cut_lacks(fr_replay_snap(t->replay, file), &lacks)
			  ?: fr_wakers_add(&b->wakers, fr_replay_file(t->replay, file));

	if (err)
		return err;
	fr_pairs_lack(b->pairs, lacks & handlers, ~0ULL);
	fr_pairs_set_wakers(b->pairs, b->wakers ? fr_wakers_find : NULL, b->wakers);
	return 0;
}

static void timeline_bind(struct fr_timeline *t, u32 file)
{
	struct fr_tl_bind *b = &t->work->bind[file];
	const struct fr_tl_rule *rule;

	for (rule = fr_tl_rules; rule->fn; rule++) {
		struct fr_sub sub;

		if (fr_replay_subscribe(t->replay, file, &rule->want, &sub))
			continue;
		b->sub[sub.ev->nr] = sub;
		b->fn[sub.ev->nr] = rule->fn;
	}
}

/* ---- life ---- */

static int make_boots(struct fr_timeline *t, struct fr_timeline_work *w)
{
	u32 i;

	for (i = 0; i < t->boot_cnt; i++) {
		w->boot[i].by_cpu = calloc(1 << 16, sizeof(u32));
		w->boot[i].pairs = fr_pairs_new();
		if (!w->boot[i].by_cpu || !w->boot[i].pairs)
			return -ENOMEM;
		fr_pairs_tell_why(w->boot[i].pairs);
		fr_pairs_set_room(w->boot[i].pairs, fr_memory_has_row_room);
	}
	return 0;
}

static int timeline_set_up(struct fr_timeline *t)
{
	struct fr_timeline_work *w = calloc(1, sizeof(*w));
	u32 files = fr_replay_file_cnt(t->replay), i, nr;

	t->work = w;
	if (!w)
		return -ENOMEM;
	t->boot_cnt = fr_replay_boot_cnt(t->replay);
	w->bind = calloc(files + 1, sizeof(*w->bind));
	w->boot = calloc(t->boot_cnt + 1, sizeof(*w->boot));
	if (!w->bind || !w->boot || make_boots(t, w))
		return -ENOMEM;
	for (i = 0; i < files; i++) {
		timeline_bind(t, i);
		if (timeline_bind_pairs(t, i) || timeline_add_wakers(t, i))
			return -ENOMEM;
		w->boot[fr_replay_boot(t->replay, i)].view = fr_replay_view(t->replay, i);
		fr_pairs_set_arch(w->boot[fr_replay_boot(t->replay, i)].pairs, fr_replay_view(t->replay, i)->arch);
		fr_syscall_odd(fr_replay_view(t->replay, i)->arch, &w->boot[fr_replay_boot(t->replay, i)].odd);
		if (t->boot_cnt > 1) /* replay shifts them likewise */
			w->boot[fr_replay_boot(t->replay, i)].shift_ns = fr_wall_shift(fr_replay_view(t->replay, i)->wall);
	}
	return fr_tl_new_task(t, 0, 0, &nr);
}

#define TIMELINE_PARTS 8u /* of FR_MEMORY_PARTS: the rest is for reading, and for tables */

int fr_timeline_new(struct fr_replay *r, bool fed, struct fr_timeline **out)
{
	struct fr_timeline *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->replay = r;
	t->fed = fed;
	t->span = 1;
	t->parts = TIMELINE_PARTS;
	t->focus = FR_TL_NO_TASK;
	if (timeline_set_up(t)) {
		fr_timeline_free(t);
		return -ENOMEM;
	}
	if (!fed)
		fr_replay_tell_lost(r, fr_timeline_lost, t);
	*out = t;
	return 0;
}

static void free_work(struct fr_timeline *t)
{
	u32 i;

	for (i = 0; t->work->boot && i < t->boot_cnt; i++) {
		fr_tidmap_free(&t->work->boot[i].by_tid);
		fr_pairs_free(t->work->boot[i].pairs);
		fr_wakers_free(t->work->boot[i].wakers);
		free(t->work->boot[i].by_cpu);
	}
	free(t->work->early);
	free(t->work->boot);
	free(t->work->bind);
	free(t->work);
}

void fr_timeline_free(struct fr_timeline *t)
{
	u32 i;

	if (!t)
		return;
	for (i = 0; i < t->task_cnt; i++) {
		free(t->task[i].states.v);
		free(t->task[i].calls.v);
		free(t->task[i].rows.v);
	}
	for (i = 0; i < t->cpu_cnt; i++) {
		free(t->cpu[i].runs.v);
		free(t->cpu[i].irqs.v);
		free(t->cpu[i].rows.v);
	}
	if (t->work)
		free_work(t);
	free(t->event);
	free(t->task);
	free(t->cpu);
	free(t->hole);
	free(t->samples.v);
	free(t);
}

/* ---- loading ---- */

/* Before a CPU's history begins, tasks may have run there unseen. */
static void find_blind(struct fr_timeline *t)
{
	u32 i;

	for (i = 0; i < t->cpu_cnt; i++) {
		struct fr_oncpu *on = &t->cpu[i].on;

		fr_tl_blind(&t->work->boot[t->cpu[i].boot], t->cpu[i].nr, on->whole_ns);
		on->since_ns = on->whole_ns > t->origin_key ? on->whole_ns : t->origin_key;
	}
}

/* The window on the one axis of all hosts: each has a clock of its own. */
static void find_axis(struct fr_timeline *t)
{
	u32 i;

	for (i = 0; i < fr_replay_file_cnt(t->replay); i++) {
		u64 first, last;

		fr_replay_file_window(t->replay, i, &first, &last);
		first = timeline_key_of(t, fr_replay_boot(t->replay, i), first);
		last = timeline_key_of(t, fr_replay_boot(t->replay, i), last);
		if (!i || first < t->origin_key)
			t->origin_key = first;
		if (!i || last > t->end_key)
			t->end_key = last;
	}
	t->span = t->end_key > t->origin_key ? t->end_key - t->origin_key : 1;
}

static int timeline_begin(struct fr_timeline *t)
{
	u32 i;
	int err = 0;

	find_axis(t);
	for (i = 0; i < fr_replay_file_cnt(t->replay) && !err; i++)
		err = timeline_add_cpus(t, i);
	find_blind(t);
	for (i = 0; i < t->boot_cnt && !err; i++)
		err = timeline_add_holes(t, i);
	for (i = 0; i < t->work->early_cnt && !err; i++)
		err = timeline_add_lost(t, t->hole_cnt, &t->work->early[i]);
	if (t->hole_cnt)
		qsort(t->hole, t->hole_cnt, sizeof(*t->hole), timeline_by_since);
	return err;
}

static int tell_holes(struct fr_timeline *t, u64 key)
{
	struct fr_timeline_work *w = t->work;
	int err = 0;

	while (!err && w->hole_at < t->hole_cnt && t->hole[w->hole_at].since_key < key) {
		err = fr_tl_rows_gap(t, &t->hole[w->hole_at]);
		w->hole_at++;
	}
	return err;
}

static int timeline_put_event(struct fr_timeline *t, struct fr_tl_fed *f, const struct fr_replay_run *run)
{
	int err;

	if (t->fed) {
		f->nr = t->event_cnt++;
		return 0;
	}
	err = fr_tl_grow((void **)&t->event, t->event_cnt, &t->event_cap, sizeof(*t->event));

	if (err)
		return err;
	f->nr = t->event_cnt++;
	t->event[f->nr] = (struct fr_tl_event){
		.at = f->at,
		.chunk = run->b->chunk,
		.row = f->row->i,
		.task = f->task,
		.cpu = f->cpu,
		.ev = f->row->ev->nr,
		.file = run->file,
	};
	if (f->task)
		err = fr_tl_put_row(&t->task[f->task].rows, f->nr);
	return err ?: fr_tl_put_row(&t->cpu[f->cpu].rows, f->nr);
}

#define ROW_SZ	  512u /* what a row takes, if the list of events has room; mostly far less */
#define ROOM_ROWS 32u  /* room is asked for so many at a time */

/* A list that grows has its old memory beside the new one at worst. */
static bool timeline_has_room(const struct fr_timeline *t)
{
	u64 grows_sz = t->event_cnt + ROOM_ROWS < t->event_cap ? 0 : t->event_cap / 2 * sizeof(*t->event);

	return fr_memory_has_room(ROOM_ROWS * ROW_SZ + grows_sz, t->parts);
}

void fr_timeline_reserve(struct fr_timeline *t, u64 sz)
{
	u64 later = sz / (fr_memory_bound() / FR_MEMORY_PARTS + 1);

	t->parts = later < TIMELINE_PARTS ? TIMELINE_PARTS - later : 0;
}

/* It is as if the window ended here. */
static void end_early(struct fr_timeline *t)
{
	t->full = true;
	t->span = t->loaded_at ?: 1;
	t->end_key = t->origin_key + t->span;
}

static void timeline_leave_out(struct fr_timeline *t, const struct fr_replay_run *run, u32 i)
{
	struct fr_row row = fr_batch_row(run->b, i), chosen;

	t->left_out_cnt += row.ts >= fr_replay_since(t->replay, run->file) && fr_replay_match(run, i, &chosen);
}

/* What the row means for its tasks: f->span has it. */
static int timeline_pair_up(struct fr_timeline *t, const struct fr_tl_fed *f, const struct fr_pair_rule *rule)
{
	const struct fr_col *col = f->row->b->type[f->row->ev->nr].col;
	u64 num[FR_PAIR_FIELD_MAX];
	struct fr_pair_row row = {.ts = f->row->ts, .v = num, .tid = f->row->tid, .cpu = t->cpu[f->cpu].pair};
	struct fr_pair pair;
	u32 i;

	for (i = 0; i < rule->col_cnt; i++)
		num[i] = *fr_col_num(&col[rule->col[i]], f->row->k);
	return fr_pairs_take(t->work->boot[f->boot].pairs, rule, &row, &pair);
}

static int timeline_take_row(struct fr_timeline *t, const struct fr_replay_run *run, u32 i)
{
	const struct fr_tl_bind *b = &t->work->bind[run->file];
	struct fr_tl_fed f = {.nr = FR_TL_NO_ROW, .boot = fr_replay_boot(t->replay, run->file)};
	struct fr_row row = fr_batch_row(run->b, i), chosen;
	u64 key = row.ts + run->shift_ns;
	u32 k, nr = row.ev->nr;
	int err;

	f.row = &row;
	f.key = key;
	f.at = fr_tl_at(t, key);
	t->loaded_at = f.at;
	if (row.tier == FR_TIER_MAIN && f.at > t->end)
		t->end = f.at;
	if (f.at > t->span)
		t->span = f.at;
	err = tell_holes(t, key);
	err = err ?: timeline_cpu_nr(t, f.boot, row.cpu, &f.cpu);
	err = err ?: fr_tl_task_nr(t, f.boot, row.tid, &f.task);
	if (err)
		return err;
	t->task[f.task].seen_ts = row.ts;
	if (row.tier == FR_TIER_MAIN && fr_oncpu_row(&t->cpu[f.cpu].on, key, row.tid))
		err = fr_tl_rows_held(t, f.cpu, f.task);
	if (!err && row.ts >= fr_replay_since(t->replay, run->file) && fr_replay_match(run, i, &chosen))
		err = timeline_put_event(t, &f, run);
	f.span = fr_pairs_row(t->work->boot[f.boot].pairs);
	if (!err && b->pair[nr].fn)
		err = timeline_pair_up(t, &f, &b->pair[nr]);
	if (err || !b->fn[nr])
		return err;
	for (k = 0; k < b->sub[nr].cnt; k++)
		f.v[k] = *fr_col_num(&row.b->type[nr].col[b->sub[nr].col[k]], row.k);
	return b->fn[nr](t, &f);
}

int fr_tl_ask_holder(struct fr_timeline *t, u32 cpu)
{
	struct fr_tl_cpu *c = &t->cpu[cpu];
	u32 boot = c->boot, i, tid, nr;
	u64 ts = c->on.since_ns - t->work->boot[boot].shift_ns;
	int got = 0;

	for (i = 0; i < fr_replay_file_cnt(t->replay) && !got; i++)
		if (fr_replay_boot(t->replay, i) == boot)
			got = fr_holder_at(fr_replay_file(t->replay, i), c->nr, ts, &tid);
	if (got <= 0 || !fr_oncpu_row(&c->on, c->on.since_ns, tid))
		return got < 0 ? got : 0;
	return fr_tl_task_nr(t, boot, tid, &nr) ?: fr_tl_rows_held(t, cpu, nr);
}

/* The next row, or none any more. */
static int take_or_leave(struct fr_timeline *t, const struct fr_replay_run *run, u32 i)
{
	if (!t->full && !(t->room_asked++ % ROOM_ROWS) && !timeline_has_room(t))
		end_early(t);
	if (!t->full)
		return timeline_take_row(t, run, i);
	timeline_leave_out(t, run, i);
	return 0;
}

static void timeline_find_names(struct fr_timeline *t)
{
	u32 i;

	for (i = 0; i < t->task_cnt; i++) {
		struct fr_tl_task *k = &t->task[i];
		struct fr_who who = fr_names_who(t->work->boot[k->boot].view->names, k->tid, k->seen_ts, 0);

		k->comm = i ? who.comm : "idle";
		k->comm_len = i ? who.len : 4;
		k->pid = who.pid;
	}
}

int fr_timeline_end(struct fr_timeline *t)
{
	int err = t->work->has_run ? 0 : timeline_begin(t);
	u32 i;

	err = err ?: tell_holes(t, ~0ULL);
	err = err ?: fr_tl_rows_end(t);
	if (t->work->boot[0].view)
		timeline_find_names(t);
	for (i = 0; i < fr_replay_file_cnt(t->replay) && !err; i++)
		err = timeline_find_trigger(t, i);
	for (i = 0; i < t->cpu_cnt; i++) {
		t->begin = t->cpu[i].begin > t->begin ? t->cpu[i].begin : t->begin;
		t->horizon = t->cpu[i].horizon > t->horizon ? t->cpu[i].horizon : t->horizon;
	}
	t->loaded = true;
	if (!t->fed)
		fr_replay_end_rows(t->replay);
	return err;
}

/* Takes the next run of rows. Returns what fr_replay_next() does. */
static int timeline_next_run(struct fr_timeline *t)
{
	struct fr_timeline_work *w = t->work;
	int got = fr_replay_next(t->replay, &w->run), err;

	if (got <= 0)
		return got;
	w->run_at = w->run.from;
	if (!w->has_run) {
		w->has_run = true;
		err = timeline_begin(t);
		if (err)
			return err;
	}
	return 1;
}

int fr_timeline_take(struct fr_timeline *t, const struct fr_replay_run *run)
{
	int err = t->work->has_run ? 0 : timeline_begin(t);
	u32 i;

	t->work->has_run = true;
	for (i = run->from; i < run->to && !err; i++)
		err = take_or_leave(t, run, i);
	return err;
}

int fr_timeline_load(struct fr_timeline *t, u32 row_cnt)
{
	struct fr_timeline_work *w = t->work;
	int err = 0, got;

	while (!t->loaded && !err && row_cnt) {
		if (w->run_at == w->run.to) {
			got = timeline_next_run(t);
			if (got <= 0)
				return got ?: fr_timeline_end(t);
		}
		for (; w->run_at < w->run.to && row_cnt && !err; row_cnt--, w->run_at++)
			err = take_or_leave(t, &w->run, w->run_at);
	}
	return err ?: !t->loaded;
}
