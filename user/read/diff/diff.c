/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read/diff/diff.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/rows/oncpu.h"
#include "base/rows/subscribe.h"
#include "base/schema/sysnames.h"
#include "base/set/hash.h"
#include "base/text/dev.h"
#include "base/text/list.h"
#include "read/replay/gaps.h"
#include "read/replay/holder.h"
#include "read/replay/summary.h"
#include "read/waits/waited.h"
#include "sys/memory.h"

/* The meaning of an event for us. */
enum role { NOTHING, SWITCH, EXEC, SYSCALL, BLOCK, IRQ, SOFTIRQ, WAIT };

static const struct {
	struct fr_sub_want want;
	enum role role;
} diff_roles[] = {
	{{"sched_switch", {FR_SUB_NUM("next_pid")}}, SWITCH},
	{{"sched_process_exec", {FR_SUB_NUM("old_pid")}}, EXEC},
	{{"sys_exit", {FR_SUB_NUM("id"), FR_SUB_NUM("ret")}}, SYSCALL},
	{{"block_rq_complete", {FR_SUB_NUM("dev"), FR_SUB_TEXT8("rwbs")}}, BLOCK},
	{{"block_io_done", {FR_SUB_NUM("dev"), FR_SUB_TEXT8("rwbs")}}, BLOCK},
	{{"irq_handler_exit", {FR_SUB_NUM("irq")}}, IRQ},
	{{"softirq_exit", {FR_SUB_NUM("vec")}}, SOFTIRQ},
	{{"wait", {FR_SUB_NUM("off")}}, WAIT},
};

/* An event of a file's schema, by its number. */
struct bound {
	enum role role;
	struct fr_sub sub;
};

/* Who has a CPU. Times here and of gaps are those of all boots: shifted. */
struct diff_cpu {
	bool begun;
	struct fr_oncpu on;
};

/* A boot: when events of its CPUs are missing, and the gaps before this one have come. */
struct diff_boot {
	struct fr_gaps gaps;
	size_t gap_at;
	u64 shift_ns;
	const struct fr_view *view;
};

#define CPU_CNT 65536u /* per boot */

/* A side being analyzed. */
struct look {
	struct fr_diff *d;
	u32 side;
	struct fr_replay *replay;
	const struct fr_schema *schema; /* the schema that bound belongs to */
	struct bound bound[FR_EVENT_MAX];
	struct fr_waited_fields waits;
	u32 cpu_cnt;
	struct diff_cpu *cpu; /* [cpu_cnt], boot after boot; NULL: next tasks may be left out */
	struct diff_boot *boot;
};

/* ---- items ---- */

static u64 diff_key_of(u8 kind, const char *name, size_t len)
{
	u64 h = fr_hash(fr_hash(FR_HASH_SEED, &kind, 1), name, len);

	return h ^ h >> 32;
}

static bool diff_is_named(const struct fr_diff_item *it, u8 kind, const char *name, size_t len)
{
	return it->kind == kind && it->len == len && !memcmp(it->name, name, len);
}

/* A thing that has not been seen yet; the rest of its kind, if there is no room for it. NULL: no memory. */
static struct fr_diff_item *new_item(struct fr_diff *d, u64 key, u8 kind, const char *name, size_t len)
{
	u64 more = fr_tally_growth_sz(&d->items);
	struct fr_diff_item *it;

	if (more && !d->full)
		d->full = !fr_memory_has_row_room(more);
	if (d->full)
		return &d->rest[kind];
	it = fr_tally_get(&d->items, key);
	if (!it)
		return NULL;
	it->kind = kind;
	it->len = len;
	memcpy(it->name, name, len);
	return it;
}

static struct fr_diff_item *item_of(struct fr_diff *d, u8 kind, const char *name, size_t len)
{
	struct fr_diff_item *it;
	u64 key;

	len = len < FR_DIFF_NAME_SZ ? len : FR_DIFF_NAME_SZ;
	/* if two names have the same key, the later one takes the next key */
	for (key = diff_key_of(kind, name, len); (it = fr_tally_find(&d->items, key)); key++)
		if (diff_is_named(it, kind, name, len))
			return it;
	return new_item(d, key, kind, name, len);
}

/* Where there is no room for its values, a thing has none of them: percentiles of some would be false. */
static int diff_add_latency(struct fr_diff_count *c, u64 ns)
{
	if (c->lat_left_out)
		return 0;
	if (fr_hist_has(&c->lat, ns) || fr_memory_has_room(fr_hist_growth_sz(&c->lat, ns), FR_MEMORY_SUMS))
		return fr_hist_add(&c->lat, ns);
	fr_hist_free(&c->lat);
	c->lat_left_out = true;
	return 0;
}

/* Count one more, which took ns; 0: unknown. */
static int diff_add(struct look *l, u8 kind, const char *name, size_t len, u64 ns, bool failed)
{
	struct fr_diff_item *it = item_of(l->d, kind, name, len);
	struct fr_diff_count *c;

	if (!it)
		return -ENOMEM;
	c = &it->side[l->side];
	c->cnt++;
	c->error_cnt += failed;
	c->ns += ns;
	return ns ? diff_add_latency(c, ns) : 0;
}

static int add_task(struct look *l, u8 kind, const struct fr_view *v, u64 ts, u16 cpu, u32 tid, u64 ns)
{
	struct fr_who who = fr_names_who(v->names, tid, ts, cpu);

	if (!tid)
		return diff_add(l, kind, "(idle)", 6, ns, false);
	return diff_add(l, kind, who.comm ? who.comm : "(unknown)", who.comm ? who.len : 9, ns, false);
}

/* ---- events ---- */

static struct diff_cpu *diff_cpu(struct look *l, u32 boot, u16 cpu)
{
	struct diff_cpu *c = &l->cpu[boot * CPU_CNT + cpu];

	if (!c->begun)
		c->on.since_ns = l->d->side[l->side].begin_ns;
	c->begun = true;
	return c;
}

/* A task has had a CPU. */
static int diff_add_ran(struct look *l, u32 boot, u16 cpu, const struct fr_oncpu_stretch *s)
{
	const struct diff_boot *b = &l->boot[boot];

	if (s->from_ns == s->to_ns)
		return 0;
	return add_task(l, FR_DIFF_CPU, b->view, s->to_ns - b->shift_ns, cpu, s->tid, s->to_ns - s->from_ns);
}

/* The files of the boot may tell who has a CPU of which the window has no row. */
static int diff_ask_holder(struct look *l, u32 boot, u16 cpu, struct fr_oncpu *on)
{
	u32 i, tid;
	int got = 0;

	for (i = 0; i < fr_replay_file_cnt(l->replay) && !got; i++)
		if (fr_replay_boot(l->replay, i) == boot)
			got = fr_holder_at(fr_replay_file(l->replay, i), cpu, on->since_ns - l->boot[boot].shift_ns, &tid);
	if (got > 0)
		fr_oncpu_row(on, on->since_ns, tid);
	return got < 0 ? got : 0;
}

/* Whoever has the CPU has had it until then. */
static int add_until(struct look *l, u32 boot, u16 cpu, u64 until_ns)
{
	struct fr_oncpu *on = &diff_cpu(l, boot, cpu)->on;
	struct fr_oncpu_stretch s;
	int err = 0;

	if (until_ns > on->since_ns && !on->known)
		err = diff_ask_holder(l, boot, cpu, on);
	s = fr_oncpu_until(on, until_ns);
	return err ?: diff_add_ran(l, boot, cpu, &s);
}

/* Gaps that begin before then. */
static int diff_pass_gaps(struct look *l, u64 now_ns)
{
	u32 i;
	int err = 0;

	for (i = 0; i < fr_replay_boot_cnt(l->replay); i++) {
		struct diff_boot *b = &l->boot[i];

		while (!err && b->gap_at < b->gaps.gap.cnt && b->gaps.gap.g[b->gap_at].since_ns + b->shift_ns < now_ns) {
			const struct fr_gap *gap = &b->gaps.gap.g[b->gap_at++];
			u64 until_ns = gap->until_ns == FR_GAP_OPEN ? FR_GAP_OPEN : gap->until_ns + b->shift_ns;

			err = gap->since_ns ? add_until(l, i, gap->cpu, gap->since_ns + b->shift_ns) : 0;
			fr_oncpu_gap(&diff_cpu(l, i, gap->cpu)->on, until_ns);
		}
	}
	return err;
}

/* What a row, which may precede the window, says of who has its CPU. */
static int track(struct look *l, const struct fr_replay_run *run, const struct fr_row *r, const struct bound *b)
{
	u32 boot = fr_replay_boot(l->replay, run->file);
	u64 key = r->ts + run->shift_ns;
	struct fr_oncpu_stretch s;
	struct fr_oncpu *on;
	int err;

	err = diff_pass_gaps(l, key);
	on = &diff_cpu(l, boot, r->cpu)->on;
	if (r->tier == FR_TIER_MAIN)
		fr_oncpu_row(on, key, r->tid);
	if (b->role == EXEC)
		fr_oncpu_exec(on, fr_sub_num(&b->sub, r, 0), r->tid);
	if (b->role != SWITCH)
		return err;
	s = fr_oncpu_switch(on, key, r->tid, fr_sub_num(&b->sub, r, 0));
	return err ?: diff_add_ran(l, boot, r->cpu, &s);
}

static int add_switch(struct look *l, const struct fr_replay_run *run, const struct fr_row *r, const struct bound *b,
		      const struct fr_pair *p)
{
	u32 next = fr_sub_num(&b->sub, r, 0);
	int err = 0;

	if (next && p->queued_ns)
		err = err ? err : add_task(l, FR_DIFF_RUNQ, run->view, r->ts, r->cpu, next, p->queued_ns);
	if (next && p->offcpu_ns)
		err = err ? err : add_task(l, FR_DIFF_OFFCPU, run->view, r->ts, r->cpu, next, p->offcpu_ns);
	return err;
}

/* A task that has a CPU when the window ends has had it until then. A CPU without a row has only its ring. */
static int add_running(struct look *l)
{
	u64 end_ns = l->d->side[l->side].end_ns;
	int err = l->cpu ? diff_pass_gaps(l, end_ns) : 0;
	size_t cnt, k;
	u32 i;

	for (i = 0; i < fr_replay_file_cnt(l->replay) && l->cpu; i++) {
		const struct fr_snap_ring *r = fr_snap_rings(fr_replay_snap(l->replay, i), &cnt);

		for (k = 0; k < cnt; k++)
			if (r[k].tier == FR_TIER_MAIN)
				diff_cpu(l, fr_replay_boot(l->replay, i), r[k].cpu);
	}
	for (i = 0; i < l->cpu_cnt && l->cpu && !err; i++)
		if (l->cpu[i].begun)
			err = add_until(l, i / CPU_CNT, i % CPU_CNT, end_ns);
	return err;
}

static int add_nr(struct look *l, u8 kind, const struct fr_sys *sys, const struct bound *b, s64 nr, u64 ns, bool failed)
{
	const char *name = fr_sysname(sys, b->sub.field[0]->style, nr);
	char text[32];

	if (name)
		return diff_add(l, kind, name, strlen(name), ns, failed);
	snprintf(text, sizeof(text), "%lld", nr);
	return diff_add(l, kind, text, strlen(text), ns, failed);
}

static int add_handler(struct look *l, u8 kind, const struct fr_replay_run *run, const struct fr_row *r, const struct bound *b,
		       u64 ns)
{
	struct fr_sys sys = fr_view_sys(run->view, r);

	return add_nr(l, kind, &sys, b, fr_sub_num(&b->sub, r, 0), ns, false);
}

/* A call may end with another number than it began with, or none: use the call that was begun. */
static int diff_add_call(struct look *l, const struct fr_replay_run *run, const struct fr_row *r, const struct bound *b,
			 const struct fr_pair *p)
{
	s64 nr = fr_sub_num(&b->sub, r, 0), ret = fr_sub_num(&b->sub, r, 1);
	struct fr_sys sys = fr_view_sys(run->view, r);

	if (p->call_nr != -1) {
		nr = p->call_nr;
		sys.abi = p->call_abi;
	}
	return add_nr(l, FR_DIFF_CALL, &sys, b, nr, p->latency_ns, fr_ret_is_error(ret));
}

static int diff_add_block(struct look *l, const char *disks, const struct fr_row *r, const struct bound *b, u64 ns)
{
	char name[FR_DEV_NAME_SZ];
	u32 dev = fr_sub_num(&b->sub, r, 0);
	const char *rwbs;
	char text[FR_DIFF_NAME_SZ];
	size_t len;

	rwbs = fr_sub_text(&b->sub, r, 1, &len);
	snprintf(text, sizeof(text), "%s %c %s", fr_dev_name(disks, dev, name), fr_rwbs_direction(rwbs, len),
		 !strcmp(r->ev->name, "block_io_done") ? "io" : "rq");
	return diff_add(l, FR_DIFF_BLOCK, text, strlen(text), ns, false);
}

/* Who waited in which call, on what: as much as a name takes. What one side has no record of is no difference. */
static int diff_add_wait(struct look *l, const struct fr_replay_run *run, const struct fr_row *r)
{
	char call[FR_WAITED_CALL_SZ], about[FR_WAITED_OBJECT_SZ], name[FR_DIFF_NAME_SZ + 1];
	struct fr_waited w;
	int len;

	if (r->ev != l->waits.ev)
		return 0;
	fr_waited_read(&l->waits, run->view, r, &w);
	if ((s64)w.off_ns < l->d->wait_min_ns || r->ts + run->shift_ns < l->d->side[l->side].wait_begin_ns)
		return 0;
	len = snprintf(name, sizeof(name), "%.*s: %s %s", w.comm.len ? w.comm.len : 1, w.comm.len ? w.comm.text : "?",
		       fr_waited_call(&w, run->view->arch, call), fr_waited_about(&w, run->view->arch, about));
	len = len < FR_DIFF_NAME_SZ ? len : FR_DIFF_NAME_SZ;
	return diff_add(l, FR_DIFF_WAIT, name, len - (name[len - 1] == ' '), w.off_ns, false);
}

static int add_paired(struct look *l, const struct fr_replay_run *run, const struct fr_row *r, const struct bound *b)
{
	static const struct fr_pair none = {.call_nr = -1};
	const struct fr_pair *p = fr_view_pair(run->view, r);

	p = p ? p : &none;
	switch (b->role) {
	case SWITCH:
		return add_switch(l, run, r, b, p);
	case SYSCALL:
		return diff_add_call(l, run, r, b, p);
	case BLOCK:
		return diff_add_block(l, run->view->disks, r, b, p->latency_ns);
	case IRQ:
		return add_handler(l, FR_DIFF_IRQ, run, r, b, p->latency_ns);
	case SOFTIRQ:
		return add_handler(l, FR_DIFF_SOFTIRQ, run, r, b, p->latency_ns);
	case WAIT:
		return diff_add_wait(l, run, r);
	default:
		return 0;
	}
}

/* Find the events we need in the schema of a file. Several files may have different ones. */
static void diff_bind(struct look *l, u32 file)
{
	const struct fr_schema *schema = fr_replay_schema(l->replay, file);
	size_t i;

	memset(l->bound, 0, sizeof(l->bound));
	l->schema = schema;
	fr_waited_bind(&l->waits, schema);
	for (i = 0; i < sizeof(diff_roles) / sizeof(diff_roles[0]); i++) {
		struct bound b = {.role = diff_roles[i].role};

		if (!fr_replay_subscribe(l->replay, file, &diff_roles[i].want, &b.sub))
			l->bound[b.sub.ev->nr] = b;
	}
}

static int diff_look_at(void *arg, const struct fr_replay_run *run, const struct fr_row *r)
{
	struct look *l = arg;
	struct fr_diff_side *s = &l->d->side[l->side];
	int err = 0;

	if (run->view->schema != l->schema)
		diff_bind(l, run->file);
	if (l->cpu)
		err = track(l, run, r, &l->bound[r->ev->nr]);
	if (err || r->ts + run->shift_ns < s->begin_ns || r->ts < fr_replay_since(l->replay, run->file))
		return err;
	s->cnt++;
	err = diff_add(l, FR_DIFF_EVENT, r->ev->name, strlen(r->ev->name), 0, false);
	return err || !l->bound[r->ev->nr].role ? err : add_paired(l, run, r, &l->bound[r->ev->nr]);
}

/* ---- a side ---- */

/* The time from which all CPUs' history of a tier is complete. For several files or boots: the begin. 0 or -ENOMEM. */
static int common_horizons(const struct fr_replay *r, u64 *main_ns, u64 *wait_ns)
{
	struct fr_summary *m;
	int err;

	*main_ns = *wait_ns = 0;
	if (fr_replay_file_cnt(r) != 1)
		return 0;
	err = fr_summary_new(fr_replay_snap(r, 0), &m);
	if (err)
		return err;
	*main_ns = fr_summary_horizon(m, FR_TIER_MAIN);
	*wait_ns = fr_summary_horizon(m, FR_TIER_WAIT);
	fr_summary_free(m);
	return 0;
}

static int find_window(struct look *l)
{
	struct fr_diff_side *s = &l->d->side[l->side];
	u64 horizon_ns, wait_ns, from, to;
	int err = common_horizons(l->replay, &horizon_ns, &wait_ns);

	if (err)
		return err;
	fr_replay_window(l->replay, &from, &to);
	if (fr_replay_boot_cnt(l->replay) > 1)
		fr_replay_span(l->replay, &from, &to);
	s->begin_ns = from;
	s->end_ns = to;
	s->late = horizon_ns >= to && horizon_ns > from;
	if (horizon_ns > from && !s->late)
		s->begin_ns = horizon_ns;
	s->empty = s->end_ns <= s->begin_ns;
	s->waits_late = s->late || (wait_ns >= to && wait_ns > s->begin_ns);
	s->wait_begin_ns = wait_ns > s->begin_ns && !s->waits_late ? wait_ns : s->begin_ns;
	return 0;
}

/* Does a filter, or a cut, leave out the next tasks of switches? */
static bool is_picked(const struct look *l, const struct fr_replay_opts *opts)
{
	bool picked = opts->filter;
	u32 i;

	for (i = 0; i < fr_replay_file_cnt(l->replay); i++)
		picked |= fr_cut_is_picked(fr_replay_snap(l->replay, i));
	return picked;
}

static bool is_recorded(const struct look *l, const char *event)
{
	u32 i;

	for (i = 0; i < fr_replay_file_cnt(l->replay); i++)
		if (fr_snap_records(fr_replay_snap(l->replay, i), event))
			return true;
	return false;
}

/* The other side may have them. */
static int find_unrecorded(struct look *l)
{
	const struct fr_schema *builtin = fr_schema_builtin();
	const struct fr_event *ev;
	size_t sz;
	char **names = &l->d->side[l->side].unrecorded;
	FILE *f = open_memstream(names, &sz);
	bool any = false, failed;
	u32 nr;

	if (!f)
		return -ENOMEM;
	for (nr = 0; nr < FR_EVENT_MAX; nr++) {
		ev = fr_schema_event(builtin, nr);
		if (!ev || is_recorded(l, ev->name))
			continue;
		fprintf(f, "%s%s", any ? "," : "", ev->name);
		any = true;
	}
	failed = ferror(f);
	failed |= fclose(f) || !*names; /* there may be no memory for the last, too */
	return failed ? -ENOMEM : 0;
}

/* What is missing of each boot. */
static int find_boots(struct look *l)
{
	u32 i;
	int err = 0;

	l->boot = calloc(fr_replay_boot_cnt(l->replay) + 1, sizeof(*l->boot));
	if (!l->boot)
		return -ENOMEM;
	for (i = 0; i < fr_replay_file_cnt(l->replay) && !err; i++) {
		struct diff_boot *b = &l->boot[fr_replay_boot(l->replay, i)];

		b->view = fr_replay_view(l->replay, i);
		b->shift_ns = fr_replay_shift(l->replay, i);
		b->gaps.ends = true;
		err = fr_gaps_add(&b->gaps, fr_replay_snap(l->replay, i));
	}
	for (i = 0; i < fr_replay_boot_cnt(l->replay) && !err; i++)
		err = fr_gaps_ready(&l->boot[i].gaps);
	return err;
}

static void free_boots(struct look *l)
{
	u32 i;

	for (i = 0; i < fr_replay_boot_cnt(l->replay) && l->boot; i++)
		fr_gaps_clear(&l->boot[i].gaps);
	free(l->boot);
	l->boot = NULL; /* the other side may fail before it has its own */
}

/* What the part that counts lacks, by one file's clock: a side is one. */
static int find_thinned(struct look *l)
{
	struct fr_diff_side *s = &l->d->side[l->side];
	struct fr_thins thins;
	u64 begin_ns, end_ns;
	u32 file;
	int err = 0;

	for (file = 0; file < fr_replay_file_cnt(l->replay) && !err; file++) {
		fr_replay_file_window(l->replay, file, &begin_ns, &end_ns);
		err = fr_thins_read(fr_replay_file(l->replay, file), begin_ns, end_ns, &thins);
		if (fr_thins_any(&thins))
			fr_thins_add(&s->thinned, &thins.all);
		fr_thins_free(&thins);
	}
	return err;
}

static int diff_look(struct look *l, const struct fr_diff_ask *ask, bool *damaged)
{
	struct fr_replay_opts opts = ask->opts[l->side];
	bool picked;
	int err;

	opts.tiers = FR_REPLAY_TIERS;
	opts.names = opts.pairs = opts.history = true;
	l->schema = NULL; /* the other side's has been freed, and this one's may be where that was */
	err = fr_replay_open(&ask->path[l->side], 1, &opts, &l->replay);
	if (err)
		return err;
	l->d->side[l->side].path = ask->path[l->side];
	l->cpu_cnt = CPU_CNT * fr_replay_boot_cnt(l->replay);
	picked = is_picked(l, &opts);
	l->cpu = picked ? NULL : calloc(l->cpu_cnt, sizeof(*l->cpu));
	err = picked || l->cpu ? find_window(l) : -ENOMEM;
	err = err ? err : find_unrecorded(l);
	err = err ? err : find_thinned(l);
	err = err ? err : find_boots(l);
	err = err ? err : fr_replay_each(l->replay, diff_look_at, l);
	err = err ? err : add_running(l);
	free(l->cpu);
	free_boots(l);
	*damaged |= fr_replay_say_damage(l->replay);
	fr_replay_close(l->replay);
	if (err)
		fr_err_errno(err, "cannot compare");
	return err;
}

/* ---- the result ---- */

bool fr_diff_left_any(const struct fr_diff *d)
{
	bool any = d->full;
	u32 i;

	for (i = 0; i < d->items.cnt && !any; i++) {
		const struct fr_diff_item *it = fr_tally_at(&d->items, i);

		any = it->side[0].lat_left_out || it->side[1].lat_left_out;
	}
	return any;
}

bool fr_diff_is_timed(u8 kind)
{
	return kind != FR_DIFF_EVENT;
}

/* What tells of an item, which is no rest. A request's name ends in how it was seen. */
static const char *event_of(const struct fr_diff_item *it, char name[FR_DIFF_NAME_SZ + 1])
{
	switch (it->kind) {
	case FR_DIFF_EVENT:
		memcpy(name, it->name, it->len);
		name[it->len] = 0;
		return name;
	case FR_DIFF_CALL:
		return "sys_exit";
	case FR_DIFF_BLOCK:
		return it->len >= 2 && !memcmp(it->name + it->len - 2, "io", 2) ? "block_io_done" : "block_rq_complete";
	case FR_DIFF_IRQ:
		return "irq_handler_exit";
	case FR_DIFF_SOFTIRQ:
		return "softirq_exit";
	case FR_DIFF_WAIT:
		return "wait";
	default:
		return "sched_switch";
	}
}

bool fr_diff_is_unrecorded(const struct fr_diff *d, const struct fr_diff_item *it, u32 side)
{
	char name[FR_DIFF_NAME_SZ + 1];

	return !it->side[side].cnt && fr_list_has(d->side[side].unrecorded, event_of(it, name));
}

double fr_diff_per_s(const struct fr_diff *d, u8 kind, u64 cnt, u32 side)
{
	const struct fr_diff_side *s = &d->side[side];
	u64 begin_ns = kind == FR_DIFF_WAIT ? s->wait_begin_ns : s->begin_ns;

	return s->end_ns > begin_ns ? (double)cnt * 1e9 / (double)(s->end_ns - begin_ns) : 0;
}

/* The rate of an item on one side: ns per second if its kind is timed, otherwise count per second. */
static double rate_of(const struct fr_diff *d, const struct fr_diff_item *it, u32 side)
{
	const struct fr_diff_count *c = &it->side[side];

	return fr_diff_per_s(d, it->kind, fr_diff_is_timed(it->kind) ? c->ns : c->cnt, side);
}

static double diff_change(const struct fr_diff *d, const struct fr_diff_item *it)
{
	double by = rate_of(d, it, 1) - rate_of(d, it, 0);

	return by < 0 ? -by : by;
}

/* By kind, then by change, largest first; equal ones by name, so that the order is stable. */
static int by_change(const void *a, const void *b, void *arg)
{
	const struct fr_diff_item *x = a, *y = b;
	double dx = diff_change(arg, x), dy = diff_change(arg, y);
	int n;

	if (x->kind != y->kind)
		return (int)x->kind - (int)y->kind;
	if (dx != dy)
		return dx > dy ? -1 : 1;
	n = memcmp(x->name, y->name, x->len < y->len ? x->len : y->len);
	return n ? n : (int)x->len - (int)y->len;
}

/* Items are sorted. */
static void find_kinds(struct fr_diff *d)
{
	u32 kind, i = 0;

	for (kind = 0; kind <= FR_DIFF_KIND_CNT; kind++) {
		while (i < d->items.cnt && ((const struct fr_diff_item *)fr_tally_at(&d->items, i))->kind < kind)
			i++;
		d->first[kind] = i;
	}
}

const struct fr_diff_item *fr_diff_item(const struct fr_diff *d, u8 kind, u32 i)
{
	return i < d->first[kind + 1] - d->first[kind] ? fr_tally_at(&d->items, d->first[kind] + i) : NULL;
}

/* The shortest wait that has a record on both sides. What cannot be opened is told by whoever needs it. */
static void find_wait_min(struct fr_diff *d, const struct fr_diff_ask *ask)
{
	struct fr_snap *s;
	u32 i;

	d->wait_min_ns = -1;
	for (i = 0; i < 2; i++) {
		d->side[i].wait_min_ns = -1;
		if (fr_snap_open(ask->path[i], &s))
			continue;
		fr_snap_fact_num(s, "wait_min_ns", &d->side[i].wait_min_ns);
		fr_snap_close(s);
		if (d->side[i].wait_min_ns > d->wait_min_ns)
			d->wait_min_ns = d->side[i].wait_min_ns;
	}
}

int fr_diff_new(const struct fr_diff_ask *ask, struct fr_diff *d, bool *damaged)
{
	struct look *l = calloc(1, sizeof(*l));
	int err = 0;
	u8 kind;

	*damaged = false;
	*d = (struct fr_diff){.items.rec_sz = sizeof(struct fr_diff_item)};
	for (kind = 0; kind < FR_DIFF_KIND_CNT; kind++)
		d->rest[kind] = (struct fr_diff_item){.kind = kind, .side = {{.lat_left_out = true}, {.lat_left_out = true}}};
	if (!l) {
		fr_err_memory();
		return -ENOMEM;
	}
	find_wait_min(d, ask);
	for (l->d = d; l->side < 2 && !err; l->side++)
		err = diff_look(l, ask, damaged);
	free(l);
	if (!err && d->items.cnt)
		qsort_r(d->items.rec, d->items.cnt, d->items.rec_sz, by_change, d);
	find_kinds(d);
	if (!err && fr_diff_left_any(d))
		fr_warn("not all could be compared one by one, for lack of memory: left out says what: %s",
			fr_err_cure(-ENOMEM, NULL));
	return err;
}

void fr_diff_free(struct fr_diff *d)
{
	u32 i;

	for (i = 0; i < d->items.cnt; i++) {
		struct fr_diff_item *it = fr_tally_at(&d->items, i);

		fr_hist_free(&it->side[0].lat);
		fr_hist_free(&it->side[1].lat);
	}
	fr_tally_free(&d->items);
	free(d->side[0].unrecorded);
	free(d->side[1].unrecorded);
}
