/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What else was tried on the hot path, in a loop, the ring found once, the same 24 bytes: docs/hotpath.md tells what it gave.
 * None of it but the locked way is in the product. Included by hot.bpf.c.
 *
 *	locked		two locked instructions, the way of machines on which programs do not nest strictly
 *	counted		the same, its records counted by a word of their own: the slot word has the count in it
 *	trylock		one exchange, the rest plain; who finds it taken would go to another ring, here he is counted
 *	any		what kind of event and how long is read from memory: one program for all events
 *	arena		bare stores into an arena, where no page is looked up; what they are to be beside is loop_stores
 */
#ifndef FR_BENCH_TRIED_H
#define FR_BENCH_TRIED_H

struct {
	u64 taken, records;
	u64 pad[14]; /* a line for itself */
} tried_words[CPU_MAX] FR_ALIGNED(FR_CACHE_SZ) = {};
u64 tried_lost = 0;

/* Of one event; a program for all would find them by its number. */
struct {
	u32 event, sz;
} tried_kind = {FR_EV_sys_exit, sizeof(struct fr_rec_sys_exit)};

FR_INLINE int tried_fill(const struct fr_writing *w, struct fr_rec_sys_exit *rec, u32 i)
{
	if (!rec)
		return -1;
	rec->id = i;
	rec->ret = i;
	return fr_commit(w);
}

static int one_tried_counted(u32 i, struct once *once)
{
	struct fr_writing w;
	struct fr_rec_sys_exit *rec = fr_begin_in(&w, &once->ring, FR_EV_sys_exit, sizeof(*rec), sizeof(*rec), once->tid, 0);

	if (!tried_fill(&w, rec, i))
		fr_add(&tried_words[once->ring.cpu % CPU_MAX].records, 1);
	return 0;
}

/* Takes a place in the page that is open, as the plain way does; when there is none, the plain way itself. */
FR_INLINE int tried_take(const struct fr_ring *r, u32 units, struct fr_res *res)
{
	u64 w = fr_load(&r->wr->w), *slot, word;
	struct fr_place p;

	res->wr = r->wr;
	res->sl = r->sl;
	res->tier = r->tier;
	res->time_ns = fr_clock_ns(r->clock_word, r->grain_ns, &r->wr->health);
	fr_ring_place(r, w, units, res->time_ns, &p);
	if (p.new_page)
		return -1;
	slot = fr_ring_slot(r->sl, p.slot);
	word = fr_load(slot);
	if (fr_slot_seq(word) != (p.seq & FR_SEQ_MASK))
		return -1;
	fr_store(&r->wr->w, w + units);
	fr_ring_found(r, w, slot, word, units, res);
	res->whole = word + res->add;
	return 0;
}

static int one_tried_trylock(u32 i, struct once *once)
{
	u64 *taken = &tried_words[once->ring.cpu % CPU_MAX].taken;
	struct fr_rec_sys_exit *rec;
	struct fr_res res;
	u64 *page;
	u32 off;

	if (fr_xchg(taken, 1)) {
		fr_count(&tried_lost, 1);
		return 0;
	}
	if (tried_take(&once->ring, sizeof(*rec) / FR_UNIT_SZ, &res)) {
		fr_store(taken, 0);
		put_ring(once->tid, i);
		return 0;
	}
	page = fr_ring_page(&once->ring, res.page_nr);
	off = res.unit * FR_UNIT_SZ;
	asm volatile("" : "+r"(off)); /* as in fr_begin_in() */
	if (page && off <= FR_PAGE_SZ - sizeof(*rec)) {
		rec = (void *)page + off;
		fill(rec, res.time_ns, once->tid, i);
		fr_publish(res.word, res.whole);
	}
	fr_store(taken, 0);
	return 0;
}

static int one_tried_any(u32 i, struct once *once)
{
	u32 event = *(volatile u32 *)&tried_kind.event, sz = *(volatile u32 *)&tried_kind.sz, nr;
	struct fr_writing w;

	if (!fr_begin_in(&w, &once->ring, event, sz, sizeof(struct fr_rec), once->tid, 0))
		return 0;
	for (nr = 2; nr < 8 && nr * FR_UNIT_SZ < sz; nr++)
		fr_put(&w, nr, i);
	return fr_commit(&w);
}

#define TRIED_LOOP(name, one, how)                                              \
	SEC("raw_tp")                                                           \
	int loop_tried_##name(struct bpf_raw_tracepoint_args *ctx)              \
	{                                                                       \
		struct once once = {.tid = bpf_get_current_pid_tgid()};         \
		u32 cpu = bpf_get_smp_processor_id();                           \
		u64 begin = bpf_ktime_get_ns();                                 \
                                                                                \
		if (fr_ring_get(&once.ring, &fr_main, FR_TIER_MAIN)) {          \
			fr_count(&fr_session.no_ring, 1);                       \
			return 0;                                               \
		}                                                               \
		once.ring.way = how;                                            \
		bpf_loop(ctx->args[0], one, &once, 0);                          \
		took_ns[cpu % CPU_MAX * CPU_STEP] = bpf_ktime_get_ns() - begin; \
		return 0;                                                       \
	}

TRIED_LOOP(locked, one_ring_once, FR_WAY_LOCKED)
TRIED_LOOP(counted, one_tried_counted, FR_WAY_LOCKED)
TRIED_LOOP(trylock, one_tried_trylock, once.ring.way)
TRIED_LOOP(any, one_tried_any, once.ring.way)

/* ---- arena: memory that programs address as it is (6.9) ---- */

#define MAP_TYPE_ARENA 33 /* BPF_MAP_TYPE_ARENA, younger than the headers */
#define ARENA_PAGES    100u
#define ARENA_UNITS    (ARENA_PAGES * FR_PAGE_UNITS / 2) /* of each CPU; the first word says where the next goes */

struct {
	__uint(type, MAP_TYPE_ARENA);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, ARENA_PAGES);
} arena SEC(".maps");

_Static_assert(FR_CACHE_SZ + STORES_CNT * sizeof(struct fr_rec_sys_exit) <= ARENA_UNITS * FR_UNIT_SZ, "each CPU its half");

const volatile u64 arena_addr SEC(".rodata") = 0; /* where the loader has mapped it */

/* addr as a program may follow it: the instruction that clang 14 does not know. */
FR_INLINE void *arena_ptr(u64 addr)
{
	void *ptr;

	asm volatile("r1 = %1; .byte 0xbf, 0x11; .short 1; .long 1; %0 = r1" : "=r"(ptr) : "r"(addr) : "r1");
	return ptr;
}

static int one_tried_arena(u32 i, u64 *tid)
{
	u64 mine = arena_addr + (bpf_get_smp_processor_id() & 1) * ARENA_UNITS * FR_UNIT_SZ;
	u64 *next = arena_ptr(mine);
	u32 nr = (*next)++ % STORES_CNT;

	fill(arena_ptr(mine + FR_CACHE_SZ + nr * sizeof(struct fr_rec_sys_exit)), bpf_ktime_get_ns(), *tid, i);
	return 0;
}

SEC("raw_tp")
int loop_tried_arena(struct bpf_raw_tracepoint_args *ctx)
{
	u64 tid = bpf_get_current_pid_tgid();
	u32 cpu = bpf_get_smp_processor_id();
	u64 begin = bpf_ktime_get_ns();

	asm volatile("" : : "r"(&arena)); /* that names it is how a program comes to use it */
	bpf_loop(ctx->args[0], one_tried_arena, &tid, 0);
	took_ns[cpu % CPU_MAX * CPU_STEP] = bpf_ktime_get_ns() - begin;
	return 0;
}

#endif
