/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How a BPF program records an event: the maps, the checks before, reserve and commit. Included by each *.bpf.c; what is
 * weak here exists once after linking.
 *
 *	SEC("tp_btf/softirq_entry") int BPF_PROG(softirq_entry, unsigned int vec)
 *	{
 *		struct fr_rec_softirq_entry *rec;
 *		struct fr_writing w;
 *
 *		rec = FR_BEGIN(&w, softirq_entry, MAIN);
 *		if (!rec)
 *			return 0;
 *		rec->vec = vec;
 *		return fr_commit(&w);
 *	}
 *
 * Rules: only tp_btf, raw_tp and perf_event programs, but in tp.bpf.c (while a tp program runs, all nested perf_event programs
 * are silently suppressed). Each run of an event's program ends as exactly one of written, lost or filtered. Read what can be
 * read before FR_BEGIN: the record is in flight from there to fr_commit.
 *
 * With FR_WATCH the same programs are compiled a second time, into the triggers' object: they fill a buffer instead of a ring,
 * and fr_commit() evaluates event rules on it (trigger/watch.bpf.h). So the fields are known in one place, and recording is not
 * affected.
 */
#ifndef FR_RECORD_BPF_H
#define FR_RECORD_BPF_H

#include "event_fields.h"
#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#if !defined(FR_WATCH) && !defined(FR_RING_LOST)
/* Reports losses to the incident log (incident.bpf.h). */
u32 fr_incident_loss(u32 what, u64 cnt);
#define FR_RING_LOST(r, why, cnt) fr_incident_loss((r)->tier << 8 | (why), cnt)
#endif

#ifndef FR_WATCH
/* The parts of each tier's slow path: global functions, which the verifier checks once per program, whatever the ring. */
struct fr_place;
struct fr_grant;
#define FR_TIER_PARTS(name)                               \
	s32 fr_open_##name(u32 nr, u64 seq);              \
	int fr_try_##name(u32 units, struct fr_place *p); \
	int fr_ready_##name(u32 lost, u32 units, const struct fr_place *p, struct fr_grant *g);

FR_TIER_PARTS(main)
FR_TIER_PARTS(life)
FR_TIER_PARTS(stack)
FR_TIER_PARTS(wait)
FR_TIER_PARTS(rare)

/* The part of the ring's tier, a constant where this is inlined. */
#define FR_OF_TIER(tier, part, ...)                               \
	((tier) == FR_TIER_MAIN	  ? fr_##part##_main(__VA_ARGS__) \
	 : (tier) == FR_TIER_LIFE ? fr_##part##_life(__VA_ARGS__) \
	 : (tier) == FR_TIER_WAIT ? fr_##part##_wait(__VA_ARGS__) \
	 : (tier) == FR_TIER_RARE ? fr_##part##_rare(__VA_ARGS__) \
				  : fr_##part##_stack(__VA_ARGS__))
#define FR_RING_OPEN(r, nr, seq)	    FR_OF_TIER((r)->tier, open, nr, seq)
#define FR_RING_TRY(r, units, p)	    FR_OF_TIER((r)->tier, try, units, p)
#define FR_RING_READY(r, lost, units, p, g) FR_OF_TIER((r)->tier, ready, lost, units, p, g)
#endif

#include "bits.h"
#include "ring.h"
#include "session.h"

/* Set by the loader before load, constant from then on: the verifier knows them. */
const volatile struct fr_geometry fr_geometry[FR_TIER_CNT] SEC(".rodata") __weak = {};
const volatile u32 fr_epoch SEC(".rodata") __weak = 0;
const volatile u32 fr_generation SEC(".rodata") __weak = 0;
const volatile u64 fr_grain_ns SEC(".rodata") __weak = 0;
const volatile u32 fr_pid_filter_cnt SEC(".rodata") __weak = 0;
const volatile u32 fr_page_shift SEC(".rodata") __weak = 12;	 /* of the kernel's pages */
const volatile bool fr_filter_all SEC(".rodata") __weak = false; /* the filters apply to all groups */
const volatile u32 fr_comm_filter_cnt SEC(".rodata") __weak = 0;
const volatile u32 fr_cgroup_filter_cnt SEC(".rodata") __weak = 0;
const volatile struct fr_comm_filter fr_comm_filter[FR_COMM_FILTER_MAX] SEC(".rodata") __weak = {};
const volatile struct fr_cgroup_filter fr_cgroup_filter[FR_CGROUP_FILTER_MAX] SEC(".rodata") __weak = {};

struct fr_session fr_session SEC(".data.session") __weak = {};
u64 fr_clock_word SEC(".data.clock") FR_ALIGNED(FR_CACHE_SZ) __weak = 0;

/* The rings: for each CPU an inner array of pages (bpf/ring.h), made and sized by the loader. */
#define FR_RINGS(map, ring_map)                           \
	struct ring_map {                                 \
		__uint(type, BPF_MAP_TYPE_ARRAY);         \
		__uint(map_flags, BPF_F_MMAPABLE);        \
		__uint(max_entries, 1);                   \
		__uint(key_size, sizeof(u32));            \
		__uint(value_size, FR_PAGE_SZ);           \
	};                                                \
	struct {                                          \
		__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS); \
		__uint(max_entries, 1);                   \
		__uint(key_size, sizeof(u32));            \
		__array(values, struct ring_map);         \
	} map SEC(".maps") __weak

FR_RINGS(fr_main, fr_main_ring);
FR_RINGS(fr_life, fr_life_ring);
FR_RINGS(fr_stack, fr_stack_ring);
FR_RINGS(fr_wait, fr_wait_ring);
FR_RINGS(fr_rare, fr_rare_ring);

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, FR_PID_FILTER_MAX);
	__type(key, u32);
	__type(value, u8);
} fr_pid_filter SEC(".maps") __weak;

FR_INLINE u64 fr_clock_cpu_ns(void)
{
	return bpf_ktime_get_ns();
}

FR_INLINE void *fr_ring_page(const struct fr_ring *r, u32 nr)
{
	return bpf_map_lookup_elem(r->map, &nr);
}

/*
 * Make the verifier forget what it knows of var, so that all paths that lead here become one. Otherwise it follows each of them
 * through reserve and commit: before 6.2 (be2ef8161572), more than a million instructions after ten branches. Costs a helper
 * call: for infrequent events.
 */
#define FR_FORGET(var) bpf_probe_read_kernel(&(var), sizeof(var), &(var))

/* A pointer as a number, for global functions, which take no pointers. */
#define FR_ADDRESS(p)                    \
	({                               \
		u64 address_ = (u64)(p); \
		FR_FORGET(address_);     \
		address_;                \
	})

/* The time now by the session's clock, for what is kept besides the rings. */
FR_INLINE u64 fr_now(void)
{
	struct fr_clock_health ignored = {};

	return fr_clock_ns(&fr_clock_word, fr_grain_ns, &ignored);
}

#include "cgroup.bpf.h"
#ifndef FR_WATCH
#include "incident.bpf.h"
#endif

/*
 * Find this CPU's ring of a tier, as far as the fast path needs it: the slow path finds the rest itself. Returns 0, or -1 if
 * the CPU has none (it came online after the recorder looked).
 */
FR_INLINE int fr_ring_find(struct fr_ring *r, void *rings, u16 tier)
{
	u32 cpu = bpf_get_smp_processor_id(), writer = FR_WRITER_PAGE, slots = FR_SLOT_PAGE;

	r->map = bpf_map_lookup_elem(rings, &cpu);
	if (!r->map)
		return -1;
	r->wr = bpf_map_lookup_elem(r->map, &writer);
	r->sl = bpf_map_lookup_elem(r->map, &slots);
	if (!r->wr || !r->sl)
		return -1;
	r->clock_word = &fr_clock_word;
	r->grain_ns = fr_grain_ns;
	r->subbuf_pages = fr_geometry[tier].subbuf_pages;
	r->cpu = cpu;
	r->tier = tier;
	return 0;
}

/* The same, with the rest. */
FR_INLINE int fr_ring_get(struct fr_ring *r, void *rings, u16 tier)
{
	if (fr_ring_find(r, rings, tier))
		return -1;
	r->slot_cnt = fr_geometry[tier].slot_cnt;
	r->epoch = fr_epoch;
	return 0;
}

/* As fr_ring_find(), for a record: counts it if the CPU has no ring. */
FR_INLINE bool fr_has_ring(struct fr_ring *r, void *rings, u16 tier)
{
	if (!fr_ring_find(r, rings, tier))
		return true;
	fr_count(&fr_session.no_ring, 1);
	return false;
}

#ifndef FR_WATCH
#define FR_TIER_SLOW(name, TIER)                                                                                 \
	__weak __noinline s32 fr_open_##name(u32 nr, u64 seq)                                                    \
	{                                                                                                        \
		struct fr_ring ring;                                                                             \
                                                                                                                 \
		if (fr_ring_get(&ring, &fr_##name, FR_TIER_##TIER))                                              \
			return -1;                                                                               \
		return fr_ring_open(&ring, nr, seq);                                                             \
	}                                                                                                        \
                                                                                                                 \
	__weak __noinline int fr_try_##name(u32 units, struct fr_place *p)                                       \
	{                                                                                                        \
		struct fr_ring ring;                                                                             \
                                                                                                                 \
		if (!p || fr_ring_get(&ring, &fr_##name, FR_TIER_##TIER))                                        \
			return FR_LOST_broken + 1;                                                               \
		return fr_ring_try(&ring, units, p);                                                             \
	}                                                                                                        \
                                                                                                                 \
	__weak __noinline int fr_ready_##name(u32 lost, u32 units, const struct fr_place *p, struct fr_grant *g) \
	{                                                                                                        \
		struct fr_ring ring;                                                                             \
                                                                                                                 \
		if (!p || !g || fr_ring_get(&ring, &fr_##name, FR_TIER_##TIER))                                  \
			return -1;                                                                               \
		return fr_ring_ready(&ring, lost, units, p, g);                                                  \
	}

FR_TIER_SLOW(main, MAIN)
FR_TIER_SLOW(life, LIFE)
FR_TIER_SLOW(stack, STACK)
FR_TIER_SLOW(wait, WAIT)
FR_TIER_SLOW(rare, RARE)

FR_INLINE int fr_filtered(enum fr_filtered why)
{
	u32 cpu = bpf_get_smp_processor_id(), nr = FR_WRITER_PAGE;
	struct fr_writer *wr;
	void *map;

	map = bpf_map_lookup_elem(&fr_main, &cpu);
	wr = map ? bpf_map_lookup_elem(map, &nr) : NULL;
	if (wr)
		fr_count(&wr->filtered[why], 1);
	else
		fr_count(&fr_session.no_ring, 1);
	return 0;
}

FR_INLINE int fr_enabled(u32 event)
{
	return *(volatile u32 *)&fr_session.enable[event] == fr_generation;
}
#else
#include "trigger/watch.bpf.h"
#endif

/* One after the other, which takes two instructions each: clang would compare with all of them at once, which takes five. */
FR_INLINE int fr_is_self(u32 tgid)
{
	volatile u32 *home = &fr_session.self_tgid[tgid % FR_SELF_HOMES];
	u32 i;

	for (i = 0; i < FR_SELF_WAYS; i++)
		if (home[i] == tgid)
			return tgid != 0;
	return 0;
}

FR_INLINE int fr_comm_chosen(void)
{
	u64 comm[2] = {};
	u32 i;

	bpf_get_current_comm(comm, sizeof(comm));
	for (i = 0; i < FR_COMM_FILTER_MAX && i < fr_comm_filter_cnt; i++)
		if ((comm[0] & fr_comm_filter[i].mask[0]) == fr_comm_filter[i].text[0] &&
		    (comm[1] & fr_comm_filter[i].mask[1]) == fr_comm_filter[i].text[1])
			return 1;
	return 0;
}

FR_INLINE int fr_cgroup_chosen(void)
{
	u32 i;

	for (i = 0; i < FR_CGROUP_FILTER_MAX && i < fr_cgroup_filter_cnt; i++)
		if (bpf_get_current_ancestor_cgroup_id(fr_cgroup_filter[i].level) == fr_cgroup_filter[i].id)
			return 1;
	return 0;
}

/* Did --pid, --comm or --cgroup choose the current task? One of them is enough; if none is given, all tasks are chosen. */
FR_INLINE int fr_task_chosen(u32 tgid)
{
	if (!fr_pid_filter_cnt && !fr_comm_filter_cnt && !fr_cgroup_filter_cnt)
		return 1;
	if (fr_pid_filter_cnt && bpf_map_lookup_elem(&fr_pid_filter, &tgid))
		return 1;
	if (fr_comm_filter_cnt && fr_comm_chosen())
		return 1;
	return fr_cgroup_filter_cnt && fr_cgroup_chosen();
}

#ifndef FR_WATCH
/* A record being written. */
struct fr_writing {
	struct fr_res res;
	u64 *page;
};

/* How far ahead the page should be in the cache, in units: two lines, or one of arm64's largest. */
#define FR_AHEAD_UNITS (FR_CACHE_SZ / FR_UNIT_SZ)

/*
 * Load the line that the next records will need: otherwise their commits wait for it (1 ns per event). This is done between the
 * clock and the record's stores, as soon as the page is known. The next reading of the clock waits for all earlier loads, so in
 * a tight loop it would wait for one behind the commit (2 ns, docs/notes/hotpath.md).
 */
FR_INLINE void fr_load_ahead(const struct fr_writing *w, u32 units)
{
	(void)*(volatile u64 *)&w->page[(w->res.unit + units + FR_AHEAD_UNITS) % FR_PAGE_UNITS];
}

/*
 * Reserve units in a ring of this CPU. Returns a pointer to the record, through which fixed_sz bytes may be written (a
 * constant, for the verifier); the rest is written by fr_put(). Returns NULL if it is lost, which is counted. A program that
 * writes many records finds the ring once: 2 ns less for each.
 */
FR_INLINE void *fr_reserve_in(struct fr_writing *w, const struct fr_ring *ring, u32 units, u32 fixed_sz)
{
	u32 off;

	if (fr_ring_reserve(ring, units, &w->res))
		return NULL;
	w->page = fr_ring_page(ring, w->res.page_nr);
	off = w->res.unit * FR_UNIT_SZ;
	/* The protocol guarantees this, but the verifier cannot know; the barrier keeps clang from knowing it. */
	asm volatile("" : "+r"(off));
	if (!w->page || off > FR_PAGE_SZ - fixed_sz) {
		fr_ring_lose(ring, FR_LOST_broken);
		return NULL;
	}
	fr_load_ahead(w, units);
	return (void *)w->page + off;
}

/* Reserve sz bytes for event and write the record's head. Returns as fr_reserve_in(). */
FR_INLINE void *fr_begin_in(struct fr_writing *w, const struct fr_ring *ring, u32 event, u32 sz, u32 fixed_sz, u32 tid,
			    u32 flags)
{
	u32 units = (sz + FR_UNIT_SZ - 1) / FR_UNIT_SZ;
	struct fr_rec *rec = fr_reserve_in(w, ring, units, fixed_sz);

	if (!rec)
		return NULL;
	rec->head = fr_rec_head(w->res.time_ns, event, units);
	rec->task = (tid & FR_TID_MASK) | flags << 24;
	return rec;
}

/* The same in this CPU's ring of a tier, looked up for this record. */
FR_INLINE void *fr_begin(struct fr_writing *w, void *rings, u16 tier, u32 event, u32 sz, u32 fixed_sz, u32 tid, u32 flags)
{
	struct fr_ring ring;

	if (!fr_has_ring(&ring, rings, tier))
		return NULL;
	return fr_begin_in(w, &ring, event, sz, fixed_sz, tid, flags);
}

/*
 * Reserve units, or one less if near allows it, which sets w->res.is_near. The record is written by fr_put(). False: it is
 * lost.
 */
FR_INLINE bool fr_reserve_near(struct fr_writing *w, const struct fr_ring *ring, u32 units, const struct fr_near *near)
{
	if (fr_ring_reserve_near(ring, units, near, &w->res))
		return false;
	w->page = fr_ring_page(ring, w->res.page_nr);
	if (w->page) {
		fr_load_ahead(w, units);
		return true;
	}
	fr_ring_lose(ring, FR_LOST_broken);
	return false;
}

/* Begin a record of units: its head, and beside it word, whose lowest bits are the tid. False: it is lost, which is counted. */
FR_INLINE bool fr_begin_word(struct fr_writing *w, void *rings, u16 tier, u32 event, u32 units, u64 word)
{
	struct fr_ring ring;
	u64 *rec;

	if (!fr_has_ring(&ring, rings, tier))
		return false;
	rec = fr_reserve_in(w, &ring, units, 2 * FR_UNIT_SZ);
	if (!rec)
		return false;
	rec[0] = fr_rec_head(w->res.time_ns, event, units);
	rec[1] = word;
	return true;
}

/*
 * Write unit nr of the record, counted from its head: for what is behind the fixed part. Records do not cross pages; the
 * remainder tells the verifier so, at the cost of an AND.
 */
FR_INLINE void fr_put(const struct fr_writing *w, u32 nr, u64 value)
{
	w->page[(w->res.unit + nr) % FR_PAGE_UNITS] = value;
}

FR_INLINE int fr_commit(const struct fr_writing *w)
{
	fr_ring_commit(&w->res);
	return 0;
}
#endif

#define FR_MAP_MAIN  fr_main
#define FR_MAP_LIFE  fr_life
#define FR_MAP_STACK fr_stack
#define FR_MAP_WAIT  fr_wait

/* Begin a record of a fixed size, for this tid or for the current task. The caller must have found the event enabled. */
#define FR_BEGIN_TID(w, name, TIER, tid, flags)                                                                          \
	((struct fr_rec_##name *)fr_begin(w, &FR_MAP_##TIER, FR_TIER_##TIER, FR_EV_##name, sizeof(struct fr_rec_##name), \
					  sizeof(struct fr_rec_##name), tid, flags))

#define FR_BEGIN(w, name, TIER) FR_BEGIN_TID(w, name, TIER, (u32)bpf_get_current_pid_tgid(), 0)

/*
 * Record an event of bits, in the layout of name, with number event, for this tid. v: its fields, in a struct fr_rec_NAME. The
 * value is the record's time, 0: it was not written.
 */
#ifndef FR_WATCH
FR_INLINE u64 fr_record_bits(void *rings, u16 tier, u32 event, u64 bits)
{
	struct fr_writing w;

	if (!fr_begin_word(&w, rings, tier, event, FR_BITS_REC_SZ / FR_UNIT_SZ, bits))
		return 0;
	fr_commit(&w);
	return w.res.time_ns;
}

#define FR_RECORD_BITS(name, TIER, event, tid, v) fr_record_bits(&FR_MAP_##TIER, FR_TIER_##TIER, event, fr_bits_##name(v, tid))
#else
#define FR_RECORD_BITS(name, TIER, event, tid, v)                                                                \
	({                                                                                                       \
		struct fr_writing w;                                                                             \
		struct fr_rec_##name *rec =                                                                      \
			fr_begin(&w, &FR_MAP_##TIER, FR_TIER_##TIER, event, sizeof(*rec), sizeof(*rec), tid, 0); \
                                                                                                                 \
		if (rec) {                                                                                       \
			(v)->task = rec->task;                                                                   \
			*rec = *(v);                                                                             \
			fr_commit(&w);                                                                           \
		}                                                                                                \
		0;                                                                                               \
	})
#endif

/* Return from a program if the filters apply to all groups, and its task is not chosen. */
#define FR_CHECK_ALL()                                                                  \
	do {                                                                            \
		if (fr_filter_all && !fr_task_chosen(bpf_get_current_pid_tgid() >> 32)) \
			return fr_filtered(FR_FILTERED_task);                           \
	} while (0)

/* The same, or if its event is off. */
#define FR_CHECK_ENABLED(name)                               \
	do {                                                 \
		if (!fr_enabled(FR_EV_##name))               \
			return fr_filtered(FR_FILTERED_off); \
		FR_CHECK_ALL();                              \
	} while (0)

/* Return from a program of a group that --pid, --comm and --cgroup filter, unless the current task is chosen. */
#define FR_CHECK_TASK(tgid)                                   \
	do {                                                  \
		if (fr_is_self(tgid))                         \
			return fr_filtered(FR_FILTERED_self); \
		if (!fr_task_chosen(tgid))                    \
			return fr_filtered(FR_FILTERED_task); \
	} while (0)

#endif
