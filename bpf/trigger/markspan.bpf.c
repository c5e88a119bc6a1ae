/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * markspan: from a program's flightrec_begin() to its flightrec_end(). markspan.h decides what begins, what ends, and whose it
 * is. Who passes a mark comes here from the program of that mark (tp.bpf.c); here are the table and the shares in it, and what
 * follows.
 */
#include "trigger/latency.bpf.h"

#include "markspan_room.h"

/* ---- the table ---- */

/* Sized by user/live/trig/trig.c. Preallocated, so programs that sleep may change it. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct fr_markspan_key);
	__type(value, struct fr_markspan);
} fr_spans SEC(".maps");

/* Sized likewise. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct fr_markspan_process);
	__type(value, struct fr_markspan_account);
} fr_markspan_processes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct fr_markspan_places);
} fr_markspan_places SEC(".maps");

FR_INLINE struct fr_markspan_places *fr_markspan_places_of(void *table)
{
	u32 first = 0;

	return bpf_map_lookup_elem(&fr_markspan_places, &first);
}

FR_INLINE struct fr_markspan_account *fr_markspan_account_find(void *table, const struct fr_markspan_process *process)
{
	return bpf_map_lookup_elem(&fr_markspan_processes, process);
}

FR_INLINE u32 fr_markspan_account_add(void *table, const struct fr_markspan_process *process,
				      const struct fr_markspan_account *a)
{
	return !bpf_map_update_elem(&fr_markspan_processes, process, a, BPF_NOEXIST);
}

FR_INLINE u32 fr_markspan_account_drop(void *table, const struct fr_markspan_process *process)
{
	return !bpf_map_delete_elem(&fr_markspan_processes, process);
}

FR_INLINE struct fr_markspan *fr_markspan_find(void *table, const struct fr_markspan_key *key)
{
	return bpf_map_lookup_elem(&fr_spans, key);
}

FR_INLINE u32 fr_markspan_again(void *table, const struct fr_markspan_key *key, const struct fr_markspan *span)
{
	return !bpf_map_update_elem(&fr_spans, key, span, BPF_EXIST);
}

FR_INLINE u32 fr_markspan_entry_add(void *table, const struct fr_markspan_key *key, const struct fr_markspan *span)
{
	return !bpf_map_update_elem(&fr_spans, key, span, BPF_NOEXIST);
}

FR_INLINE u32 fr_markspan_entry_drop(void *table, const struct fr_markspan_key *key)
{
	return !bpf_map_delete_elem(&fr_spans, key);
}

FR_INLINE void fr_markspan_untracked(void *table)
{
	fr_count(&fr_triggers.untracked, 1);
}

/* ---- marks ---- */

/* Is a rule about this name? */
FR_INLINE bool span_is_asked(u64 name)
{
	bool asked = false;
	u32 i;

	for (i = 0; i < FR_TRIGGER_MAX; i++)
		asked |= fr_rule_is_for_span(&fr_rules[i], name);
	return asked;
}

FR_INLINE void span_who(struct task_struct *task, struct fr_markspan_who *who)
{
	who->pid = BPF_CORE_READ(task, tgid);
	who->tid = BPF_CORE_READ(task, pid);
	who->start_ns = BPF_CORE_READ(task, group_leader, start_time);
	who->thread_start_ns = BPF_CORE_READ(task, start_time);
	who->owner = fr_owner_of(task);
}

__noinline int fr_markspan_begin(u64 name, u64 id)
{
	struct fr_markspan_who who = {};

	span_who(bpf_get_current_task_btf(), &who);
	fr_markspan_begins(NULL, &who, name, id, bpf_ktime_get_ns());
	return 0;
}

/* Returns how long it took, 0: nothing is known of it. */
__noinline u64 fr_markspan_end(u64 name, u64 id)
{
	struct fr_markspan_who who = {};

	span_who(bpf_get_current_task_btf(), &who);
	return fr_markspan_ends(NULL, &who, name, id, bpf_ktime_get_ns());
}

/* It took so long: the moment is the current task's. */
FR_INLINE int span_tell(u64 name, u64 id, u64 value_ns)
{
	u64 address = bpf_get_current_task();
	struct fr_lat_who who = {};
	struct fr_alert *a;
	u32 nr;

	if (!fr_lat_who(address, &who))
		return 0;
	nr = fr_lat_begin(FR_LATENCY_span, value_ns, name, &who, address);
	a = fr_alert(nr);
	if (!a)
		return 0;
	a->what = id;
	return fr_lat_end(nr, FR_LATENCY_span, 0);
}

__noinline int fr_markspan_pass(u32 mark, u64 name, u64 id)
{
	u64 value_ns;

	if (!span_is_asked(name))
		return 0;
	if (mark == FR_MARKSPAN_BEGINS)
		return fr_markspan_begin(name, id);
	value_ns = fr_markspan_end(name, id);
	return value_ns > fr_lat_min_ns[FR_LATENCY_span] ? span_tell(name, id, value_ns) : 0;
}

/* ---- who has begun something and ends ---- */

FR_INLINE void span_left(u64 cnt)
{
	fr_count(&fr_triggers.span_left, cnt);
}

/* No more than the process has: whoever is behind it in the table is not looked at. */
static long span_sweep(void *map, const struct fr_markspan_key *key, const struct fr_markspan *span,
		       const struct fr_markspan_process *of)
{
	bool own = key->kind == FR_MARKSPAN_OWN;
	const struct fr_markspan_account *mine;

	if (!fr_markspan_is_of(span, of->pid, of->start_ns) || !fr_markspan_drop(NULL, key, span))
		return 0;
	if (own)
		span_left(1);
	mine = fr_markspan_account_find(NULL, of);
	return mine && mine->cnt ? 0 : 1;
}

/* A walk may miss an entry whose neighbour is put elsewhere meanwhile: then another one finds it. */
#define SPAN_SWEEPS 4u

/* A process ends. */
__noinline int fr_markspan_process_ends(u64 start_ns, u32 pid)
{
	struct fr_markspan_process key = {.start_ns = start_ns, .pid = pid};
	const struct fr_markspan_account *mine = fr_markspan_account_find(NULL, &key);
	u32 i;

	for (i = 0; i < SPAN_SWEEPS && mine && mine->cnt; i++)
		bpf_for_each_map_elem(&fr_spans, span_sweep, &key, 0);
	fr_markspan_account_close(NULL, &key);
	return 0;
}

/* A thread ends: what it has begun without an id, under the name that this rule is about, is over. */
__noinline int fr_markspan_thread_end(u32 rule, u64 address)
{
	u64 name = fr_rules[rule % FR_TRIGGER_MAX].span;
	struct fr_markspan_who who = {};

	span_who((void *)address, &who);
	span_left(fr_markspan_thread_ends(NULL, &who, name));
	return 0;
}

FR_INLINE void span_thread_ends(u64 address)
{
	u32 i;

	for (i = 0; i < FR_TRIGGER_MAX; i++)
		if (fr_rules[i].kind == FR_TRIGGER_latency && fr_rules[i].latency == FR_LATENCY_span)
			fr_markspan_thread_end(i, address);
}

/* Loaded for rules about spans. Programs that do not act have nothing in their table. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(fr_span_exit, struct task_struct *task)
{
	struct fr_markspan_process key = {.start_ns = task->group_leader->start_time, .pid = task->tgid};

	if (!fr_markspan_account_find(NULL, &key))
		return 0;
	span_thread_ends(FR_ADDRESS(task));
	if (!task->signal->live.counter)
		fr_markspan_process_ends(key.start_ns, key.pid);
	return 0;
}

char _license[] SEC("license") = "Dual BSD/GPL";
