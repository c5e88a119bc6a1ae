/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* clues_ask: questions to what was gathered. */
#include <stdio.h>

#include "base/set/hash.h"
#include "base/text/escape.h"
#include "read/verdict/clues.h"

/* ---- names ---- */

const char *fr_clues_comm(const struct fr_clues *c, u32 tid, u64 ts, char text[FR_CLUE_WHO_SZ])
{
	struct fr_who who = fr_names_who(c->view->names, tid, ts, 0);
	size_t len = who.comm ? fr_escape_mem(text, FR_CLUE_WHO_SZ - 16, who.comm, who.len) : 0;

	if (!len)
		text[len++] = '?';
	text[len] = 0;
	return text;
}

const char *fr_clues_who(const struct fr_clues *c, u32 tid, u64 ts, char text[FR_CLUE_WHO_SZ])
{
	size_t len = strlen(fr_clues_comm(c, tid, ts, text));

	snprintf(text + len, FR_CLUE_WHO_SZ - len, "/%u", tid);
	return text;
}

s32 fr_clues_pid(const struct fr_clues *c, u32 tid, u64 ts)
{
	return fr_names_who(c->view->names, tid, ts, 0).pid;
}

bool fr_clues_is_kworker(const struct fr_clues *c, u32 tid, u64 ts)
{
	static const char prefix[] = "kworker/";
	char comm[FR_CLUE_WHO_SZ];

	return !strncmp(fr_clues_comm(c, tid, ts, comm), prefix, sizeof(prefix) - 1);
}

const char *fr_clues_cgroup(const struct fr_clues *c, u32 tid, u64 ts)
{
	struct fr_who who = fr_names_who(c->view->names, tid, ts, 0);

	return c->view->cgroups ? fr_cgroups_path(c->view->cgroups, who.pid, ts, who.cgroup) : NULL;
}

const struct fr_belongs *fr_clues_belongs(const struct fr_clues *c, u32 tid, u64 ts)
{
	struct fr_who who = fr_names_who(c->view->names, tid, ts, 0);

	return c->view->cgroups ? fr_cgroups_belongs(c->view->cgroups, who.pid, ts, who.cgroup) : NULL;
}

/* ---- CPUs ---- */

static bool ask_is_of(const struct fr_clue_run *run, u32 cpu)
{
	return cpu == FR_CLUES_ALL_CPUS || run->cpu == cpu;
}

/* Is it known at all who had a CPU when? Not where items are missing. */
static bool can_know(const struct fr_clues *c, u64 from_ns, u64 to_ns)
{
	return !c->is_full && c->has[FR_CLUE_SWITCH] && to_ns > from_ns;
}

/* How long it is known who had this CPU, or all; *all_ns: of so long, 0: not at all. */
static u64 known_ns(const struct fr_clues *c, u32 cpu, u64 from_ns, u64 to_ns, u64 *all_ns)
{
	const struct fr_clue_run *run = c->run.at;
	u64 ns = 0, cpus = 0;
	size_t i;

	*all_ns = 0;
	if (!can_know(c, from_ns, to_ns))
		return 0;
	for (i = 0; i < c->run.cnt; i++)
		ns += ask_is_of(&run[i], cpu) ? fr_overlap_ns(run[i].from_ns, run[i].to_ns, from_ns, to_ns) : 0;
	for (i = 0; i < c->cpu_cnt; i++)
		cpus += c->cpu[i].seen;
	*all_ns = (to_ns - from_ns) * (cpu == FR_CLUES_ALL_CPUS ? cpus : 1);
	return ns;
}

bool fr_clues_covers(const struct fr_clues *c, u32 cpu, u64 from_ns, u64 to_ns)
{
	u64 all_ns, ns = known_ns(c, cpu, from_ns, to_ns, &all_ns);

	return all_ns && ns == all_ns;
}

static bool is_most(u64 ns, u64 all_ns)
{
	return all_ns && ns <= all_ns && all_ns - ns <= all_ns / FR_CLUES_UNKNOWN_PART;
}

bool fr_clues_covers_most(const struct fr_clues *c, u32 cpu, u64 from_ns, u64 to_ns)
{
	u64 all_ns, ns = known_ns(c, cpu, from_ns, to_ns, &all_ns);

	return is_most(ns, all_ns);
}

struct ask_cpu {
	u64 known_ns, idle_ns;
};

/* One pass: CPUs and runs are many. */
int fr_clues_idlest(const struct fr_clues *c, u32 beside, u64 from_ns, u64 to_ns, u32 *cpu, u64 *ns)
{
	const struct fr_clue_run *run = c->run.at;
	struct ask_cpu *of;
	size_t i;

	*cpu = 0;
	*ns = 0;
	if (!can_know(c, from_ns, to_ns) || !c->cpu_cnt)
		return 0;
	of = calloc(c->cpu_cnt, sizeof(*of));
	if (!of)
		return -ENOMEM;
	for (i = 0; i < c->run.cnt; i++) {
		u64 part_ns = run[i].cpu < c->cpu_cnt ? fr_overlap_ns(run[i].from_ns, run[i].to_ns, from_ns, to_ns) : 0;

		if (!part_ns)
			continue;
		of[run[i].cpu].known_ns += part_ns;
		of[run[i].cpu].idle_ns += run[i].tid ? 0 : part_ns;
	}
	for (i = 0; i < c->cpu_cnt; i++)
		if (i != beside && of[i].idle_ns > *ns && is_most(of[i].known_ns, to_ns - from_ns))
			*ns = of[i].idle_ns, *cpu = i;
	free(of);
	return 0;
}

static int by_ns(const void *a, const void *b)
{
	const struct fr_clue_use *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

int fr_clues_use(const struct fr_clues *c, u32 cpu, u64 from_ns, u64 to_ns, struct fr_tally *out)
{
	const struct fr_clue_run *run = c->run.at;
	size_t i;

	*out = (struct fr_tally){.rec_sz = sizeof(struct fr_clue_use)};
	for (i = 0; i < c->run.cnt; i++) {
		u64 ns = ask_is_of(&run[i], cpu) ? fr_overlap_ns(run[i].from_ns, run[i].to_ns, from_ns, to_ns) : 0;
		struct fr_clue_use *use = ns ? fr_tally_get(out, run[i].tid) : NULL;

		if (!ns)
			continue;
		if (!use) {
			fr_tally_free(out);
			return -ENOMEM;
		}
		use->ns += ns;
		use->prio = run[i].prio;
	}
	fr_tally_sort(out, by_ns);
	return 0;
}

u64 fr_clues_program(const struct fr_clues *c, u32 tid, u64 ts)
{
	char comm[FR_CLUE_WHO_SZ];

	if (!tid)
		return 0;
	fr_clues_comm(c, tid, ts, comm);
	return fr_hash(FR_HASH_SEED, comm, strlen(comm)) ?: 1;
}

static int by_program_ns(const void *a, const void *b)
{
	const struct fr_clue_program *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

int fr_clues_programs(const struct fr_clues *c, u32 cpu, u64 from_ns, u64 to_ns, struct fr_tally *out)
{
	struct fr_tally use;
	int err = fr_clues_use(c, cpu, from_ns, to_ns, &use);
	u32 i;

	*out = (struct fr_tally){.rec_sz = sizeof(struct fr_clue_program)};
	for (i = 0; !err && i < use.cnt; i++) {
		const struct fr_clue_use *one = fr_tally_at(&use, i);
		struct fr_clue_program *p = fr_tally_get(out, fr_clues_program(c, one->key, to_ns));

		if (!p) {
			err = -ENOMEM;
			break;
		}
		if (!p->task_cnt++) {
			p->tid = one->key;
			p->ts = to_ns;
		}
		p->ns += one->ns;
	}
	fr_tally_free(&use);
	if (err)
		fr_tally_free(out);
	else
		fr_tally_sort(out, by_program_ns);
	return err;
}

u64 fr_clues_ran(const struct fr_clues *c, u32 tid, u64 from_ns, u64 to_ns)
{
	const struct fr_clue_run *run = c->run.at;
	u64 ns = 0;
	size_t i;

	for (i = 0; i < c->run.cnt; i++)
		ns += run[i].tid == tid ? fr_overlap_ns(run[i].from_ns, run[i].to_ns, from_ns, to_ns) : 0;
	return ns;
}

/* ---- waits, births ---- */

const struct fr_waited *fr_clues_wait_in(const struct fr_clues *c, u32 tid, u64 from_ns, u64 to_ns, u64 least_ns)
{
	const struct fr_waited *best = NULL;
	u64 most = least_ns ? least_ns - 1 : 0;
	size_t i;

	for (i = 0; i < c->wait.cnt; i++) {
		const struct fr_waited *w = fr_clues_wait(c, i);
		u64 ns = w->tid == tid ? fr_overlap_ns(fr_waited_began_ns(w), w->ts, from_ns, to_ns) : 0;

		if (ns > most) {
			most = ns;
			best = w;
		}
	}
	return best;
}

/* It was looked at after the trigger, and has been as it is since before: so it was at the trigger. */
bool fr_clues_still(const struct fr_clues *c, u32 tid, struct fr_still *out)
{
	const struct fr_snap_state *t = fr_states_of(c->snap, tid);

	if (!t || !t->state || t->flags & (FR_STATE_RUNS | FR_STATE_MOVED) || t->at_ns < c->at_ns || t->in == FR_STATE_IN_NONE)
		return false;
	fr_states_read(c->states, c->view, t, out);
	if (!out->since_ns && tid == c->tid && c->reason && !strcmp(c->reason, "asleep") && c->value_ns < c->at_ns)
		out->since_ns = c->at_ns - c->value_ns; /* at least so long: since the recorder's first look */
	if (!out->since_ns || out->since_ns >= c->at_ns)
		return false;
	out->wait.ts = c->at_ns;
	out->wait.off_ns = out->wait.blocked_ns = c->at_ns - out->since_ns;
	out->wait.queued_ns = 0;
	/* the state has who woke it last, from a wait before: nobody has ended this one */
	out->wait.waker = FR_WAKER_unknown;
	out->wait.waker_pid = 0;
	out->wait.waker_comm.len = 0;
	return true;
}

u64 fr_clues_queued(const struct fr_clues *c, u32 tid, u64 from_ns, u64 to_ns, const struct fr_waited **longest)
{
	const struct fr_waited *w;
	u64 ns = 0, most_ns = 0, part_ns;
	size_t i;

	for (i = 0, *longest = NULL; (w = fr_clues_wait(c, i)); i++) {
		part_ns = w->tid == tid ? fr_overlap_ns(fr_waited_woken_ns(w), w->ts, from_ns, to_ns) : 0;
		ns += part_ns;
		if (part_ns > most_ns)
			most_ns = part_ns, *longest = w;
	}
	return ns;
}

u32 fr_clues_parent(const struct fr_clues *c, u32 tid, u64 ts, u64 *ns)
{
	const struct fr_clue_fork *fork = c->fork.at;
	size_t i = c->fork.cnt;

	while (i--) {
		if (fork[i].child != tid || fork[i].ts > ts)
			continue;
		if (ns)
			*ns = fork[i].ts;
		return fork[i].parent;
	}
	return 0;
}

/* ---- stacks ---- */

const struct fr_clue_slept *fr_clues_slept_before(const struct fr_clues *c, u32 tid, s32 pid)
{
	const struct fr_clue_slept *s = fr_tally_find(&c->slept, tid);

	return s && s->pid == pid && s->in_call ? s : NULL;
}

const struct fr_clue_reader *fr_clues_reader(const struct fr_clues *c, const struct fr_waited *w)
{
	const struct fr_clue_reader *one =
		w->object_len ? fr_tally_find(&c->reader, fr_hash(FR_HASH_SEED, w->object, w->object_len)) : NULL;

	return one && !one->are_several ? one : NULL;
}

bool fr_clues_frame_ip(const struct fr_clues *c, u64 stack_id, u32 i, u64 *ip)
{
	size_t cnt = 0;
	const u64 *ips = stack_id && c->symbols ? fr_stacks_find(c->view->stacks, stack_id, &cnt) : NULL;

	if (!ips || i >= cnt)
		return false;
	*ip = ips[i];
	return true;
}

bool fr_clues_kernel_frame(const struct fr_clues *c, u64 stack_id, u32 i, struct fr_symbol *out)
{
	u64 ip;

	*out = (struct fr_symbol){0};
	if (!fr_clues_frame_ip(c, stack_id, i, &ip))
		return false;
	fr_symbols_kernel(c->symbols, ip, out);
	return true;
}

bool fr_clues_user_frame(const struct fr_clues *c, u32 tid, u64 ts, u64 stack_id, u32 i, struct fr_symbol *out)
{
	u64 ip;

	*out = (struct fr_symbol){0};
	if (!fr_clues_frame_ip(c, stack_id, i, &ip))
		return false;
	fr_symbols_user(c->symbols, fr_clues_pid(c, tid, ts), stack_id, i, ip, out, 1);
	return true;
}

s32 fr_clues_kernel_at(const struct fr_clues *c, u64 stack_id, const char *name)
{
	struct fr_symbol s;
	u32 i;

	for (i = 0; fr_clues_kernel_frame(c, stack_id, i, &s); i++)
		if (s.name && !strcmp(s.name, name))
			return i;
	return -1;
}

/* ---- the host's counters ---- */

/* The first reading at or after the trigger; else the last one. NULL: there is none. */
static const struct fr_counter_point *point_at(const struct fr_clues *c, const struct fr_counter_series *s)
{
	const struct fr_counter_point *p = s->point.at;
	size_t i = 0;

	while (i + 1 < s->point.cnt && p[i].ts < c->at_ns)
		i++;
	return s->point.cnt ? &p[i] : NULL;
}

static const struct fr_counter_series *ask_series(const struct fr_clues *c, const char *name, const char *object)
{
	const struct fr_counters *all = fr_snap_counters(c->snap);

	return all ? fr_counters_find(all, name, object) : NULL;
}

static bool series_moved(const struct fr_clues *c, const struct fr_counter_series *s, struct fr_counter_move *out)
{
	const struct fr_counter_point *end = point_at(c, s);

	return end && fr_counter_moved(s, c->begin_ns, end->ts, out);
}

bool fr_clues_moved(const struct fr_clues *c, const char *name, const char *object, struct fr_counter_move *out)
{
	const struct fr_counter_series *s = ask_series(c, name, object);

	return s && series_moved(c, s, out);
}

bool fr_clues_gauge(const struct fr_clues *c, const char *name, const char *object, u64 *value)
{
	const struct fr_counter_series *s = ask_series(c, name, object);
	const struct fr_counter_point *end = s ? point_at(c, s) : NULL;

	if (end)
		*value = end->value;
	return end;
}

/* Is a cgroup strictly below another one? */
static bool ask_is_below(const char *path, const char *above)
{
	size_t len = strlen(above);

	return !strncmp(path, above, len) && path[len] == '/' && path[len + 1];
}

/* Does the file tell this count of a cgroup between the two? Then that one's has what is below it. */
static bool has_between(const struct fr_counters *all, const char *name, const char *above, const char *below)
{
	const struct fr_counter_series *s = all->series.at;
	size_t i;

	for (i = 0; i < all->series.cnt; i++)
		if (!strcmp(s[i].name, name) && ask_is_below(s[i].object, above) && ask_is_below(below, s[i].object))
			return true;
	return false;
}

/* What came at most of the cgroups below one: of a new one, all that it ever counted. */
static u64 moved_below(const struct fr_clues *c, const struct fr_counters *all, const char *name, const char *above)
{
	const struct fr_counter_series *s = all->series.at;
	const struct fr_counter_point *end;
	struct fr_counter_move m;
	u64 sum = 0;
	size_t i;

	for (i = 0; i < all->series.cnt; i++) {
		if (strcmp(s[i].name, name) || !ask_is_below(s[i].object, above) || has_between(all, name, above, s[i].object))
			continue;
		end = point_at(c, &s[i]);
		sum += series_moved(c, &s[i], &m) ? m.delta : end ? end->value : 0;
	}
	return sum;
}

/* In v1, a cgroup counts its own only; this gauge is of v1 alone. */
static bool counts_its_own(const struct fr_clues *c, const char *cgroup)
{
	return ask_series(c, "cgroup.under_oom", cgroup);
}

bool fr_clues_moved_own(const struct fr_clues *c, const char *name, const char *cgroup, struct fr_counter_move *out)
{
	const struct fr_counters *all = fr_snap_counters(c->snap);
	u64 below;

	if (!fr_clues_moved(c, name, cgroup, out))
		return false;
	below = counts_its_own(c, cgroup) ? 0 : moved_below(c, all, name, cgroup);
	out->delta -= below < out->delta ? below : out->delta;
	return out->delta;
}

bool fr_clues_count_own(const struct fr_clues *c, const char *name, const char *cgroup, u64 *value)
{
	struct fr_counter_move m;

	return !fr_clues_moved(c, name, cgroup, &m) && counts_its_own(c, cgroup) && fr_clues_gauge(c, name, cgroup, value) &&
	       *value;
}

const char *fr_clues_moved_most(const struct fr_clues *c, const char *name, const char *gauge, struct fr_counter_move *out)
{
	const struct fr_counters *all = fr_snap_counters(c->snap);
	const struct fr_counter_series *s = all ? all->series.at : NULL;
	const char *object = NULL;
	struct fr_counter_move m;
	u64 v;
	size_t i;

	*out = (struct fr_counter_move){0};
	for (i = 0; all && i < all->series.cnt; i++)
		if (!strcmp(s[i].name, name) && *s[i].object && fr_clues_gauge(c, gauge, s[i].object, &v) &&
		    fr_clues_moved_own(c, name, s[i].object, &m) && m.delta > out->delta) {
			*out = m;
			object = s[i].object;
		}
	return object;
}

/* ---- disks ---- */

bool fr_clues_writer(const struct fr_clues *c, u64 from_ns, u64 to_ns, struct fr_clue_writer *out, u64 *all)
{
	const struct fr_clue_io *io = c->io.at;
	struct fr_tally t = {.rec_sz = sizeof(*out)};
	size_t i;
	u32 k;

	*out = (struct fr_clue_writer){0};
	*all = 0;
	for (i = 0; i < c->io.cnt; i++) {
		struct fr_clue_writer *w;

		if (!io[i].is_write || !io[i].bytes || io[i].ts < from_ns || io[i].ts > to_ns)
			continue;
		w = fr_tally_get(&t, fr_hash(fr_clues_program(c, io[i].tid, io[i].ts), &io[i].dev, sizeof(io[i].dev)));
		if (!w) {
			fr_tally_free(&t);
			return false;
		}
		w->are_several |= w->bytes && w->tid != io[i].tid;
		w->bytes += io[i].bytes;
		w->tid = io[i].tid;
		w->ts = io[i].ts;
		w->dev = io[i].dev;
	}
	for (k = 0; k < t.cnt; k++) {
		const struct fr_clue_writer *w = fr_tally_at(&t, k);

		if (w->bytes > out->bytes)
			*out = *w;
	}
	for (k = 0; k < t.cnt; k++) {
		const struct fr_clue_writer *w = fr_tally_at(&t, k);

		*all += w->dev == out->dev ? w->bytes : 0;
	}
	fr_tally_free(&t);
	return out->bytes;
}
