/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What else was tried on the hot path, in a loop, the ring found once, the same 24 bytes: docs/notes/hotpath.md tells what it
 * gave. None of it is in the product. Included by hot.bpf.c.
 *
 *	counted		as built, its records counted by a word of their own: the slot word has the count in it
 *	trylock		one exchange, the rest plain; who finds it taken would go to another ring, here he is counted
 *	any		what kind of event and how long is read from memory: one program for all events
 *	arena		bare stores into an arena, where no page is looked up; what they are to be beside is loop_stores
 *	head		one compare-and-exchange reserves; the record's head is stored last and is its commit, nothing is added
 *	zeroed		the same, and each page is zeroed when it is begun: old bytes are not to be taken for a head
 *	packed		where the next record goes and how many are being written in one word: one compare-and-exchange
 *			reserves, another commits
 *	packed_add	the same, an add commits
 *
 * The last four show the best case: what their records are of a lap is added to its slot's word once a page, by who begins the
 * next, which he could do only if nobody were interrupted. So the rest of the ring goes as ever.
 */
#ifndef FR_BENCH_TRIED_H
#define FR_BENCH_TRIED_H

struct {
	u64 taken, records;
	u64 packed;  /* w, and below it how many records are being written */
	u64 pad[13]; /* a line for itself */
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

/* Take a place in the open page by a plain store. *whole: what its commit stores in the slot word. -1: there is none. */
FR_INLINE int tried_take(const struct fr_ring *r, u32 units, struct fr_res *res, u64 *whole)
{
	u64 w = fr_load(&r->wr->w), *slot, word;
	struct fr_place p;

	res->wr = r->wr;
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
	*whole = word + res->add;
	return 0;
}

static int one_tried_trylock(u32 i, struct once *once)
{
	u64 *taken = &tried_words[once->ring.cpu % CPU_MAX].taken;
	struct fr_rec_sys_exit *rec;
	struct fr_res res;
	u64 *page, whole;
	u32 off;

	if (fr_xchg(taken, 1)) {
		fr_count(&tried_lost, 1);
		return 0;
	}
	if (tried_take(&once->ring, sizeof(*rec) / FR_UNIT_SZ, &res, &whole)) {
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
		fr_publish(res.word, whole);
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

/* ---- commits that leave the slot's word alone ---- */

#define TRIED_PENDING_BITS 8 /* w's lap loses as many */

/* What of the lap at w is not in its slot's word yet, all of it written: units, and records of 24 bytes. */
FR_INLINE void tried_settle(const struct fr_ring *r)
{
	u64 w = fr_load(&r->wr->w), *slot = fr_ring_slot(r->sl, fr_w_slot(w)), word = fr_load(slot), units;

	units = fr_w_off(w) - fr_slot_com(word);
	if (fr_slot_seq(word) == (fr_w_seq(w) & FR_SEQ_MASK) && fr_w_off(w) > fr_slot_com(word))
		fr_add(slot, fr_slot_add(units / (sizeof(struct fr_rec_sys_exit) / FR_UNIT_SZ), units));
}

/* The record at w in a lap that is open, NULL if there is none. */
FR_INLINE struct fr_rec_sys_exit *tried_record(const struct fr_ring *r, u64 w)
{
	u64 word = fr_load(fr_ring_slot(r->sl, fr_w_slot(w)));
	u32 off = fr_w_off(w) % FR_PAGE_UNITS * FR_UNIT_SZ;
	u64 *page = fr_ring_page(r, fr_ring_page_nr(r, fr_slot_idx(word), fr_w_off(w)));

	asm volatile("" : "+r"(off)); /* as in fr_begin_in() */
	if (fr_slot_seq(word) != (fr_w_seq(w) & FR_SEQ_MASK) || !page || off > FR_PAGE_SZ - sizeof(struct fr_rec_sys_exit)) {
		fr_count(&tried_lost, 1);
		return NULL;
	}
	return (void *)page + off;
}

/* The head last: who sees it sees the rest. */
FR_INLINE void tried_fill_head(struct fr_rec_sys_exit *rec, u64 now, u64 tid, u32 i)
{
	rec->task = tid & FR_TID_MASK;
	rec->id = i;
	rec->ret = i;
	fr_publish(&rec->head, fr_rec_head(now, FR_EV_sys_exit, sizeof(*rec) / FR_UNIT_SZ));
}

/* The page that was just begun, but for an eighth that has its heads. A read of address 0 fails and leaves zeros: a memset().
 */
FR_INLINE void tried_zero(const struct fr_ring *r)
{
	u64 w = fr_load(&r->wr->w);
	u64 *page = fr_ring_page(r, fr_ring_page_nr(r, fr_slot_idx(fr_load(fr_ring_slot(r->sl, fr_w_slot(w)))), fr_w_off(w)));

	if (page)
		bpf_probe_read_kernel(&page[FR_PAGE_UNITS / 8], FR_PAGE_SZ - FR_PAGE_SZ / 8, NULL);
}

FR_INLINE int tried_head(u32 i, struct once *once, int zero)
{
	const struct fr_ring *r = &once->ring;
	u64 w = fr_load(&r->wr->w), now = fr_clock_ns(r->clock_word, r->grain_ns, &r->wr->health);
	struct fr_rec_sys_exit *rec;
	struct fr_place p;

	fr_ring_place(r, w, sizeof(*rec) / FR_UNIT_SZ, now, &p);
	if (p.new_page || fr_cas(&r->wr->w, w, w + sizeof(*rec) / FR_UNIT_SZ) != w) {
		tried_settle(r);
		put_ring(once->tid, i);
		if (zero)
			tried_zero(r);
		return 0;
	}
	rec = tried_record(r, w);
	if (rec)
		tried_fill_head(rec, now, once->tid, i);
	return 0;
}

static int one_tried_head(u32 i, struct once *once)
{
	return tried_head(i, once, 0);
}

static int one_tried_zeroed(u32 i, struct once *once)
{
	return tried_head(i, once, 1);
}

/* w of the ring and the packed word, by turns: the one that is in use is the other's. */
FR_INLINE void tried_pack(const struct fr_ring *r)
{
	fr_store(&tried_words[r->cpu % CPU_MAX].packed, fr_load(&r->wr->w) << TRIED_PENDING_BITS);
}

FR_INLINE void tried_unpack(const struct fr_ring *r)
{
	fr_store(&r->wr->w, fr_load(&tried_words[r->cpu % CPU_MAX].packed) >> TRIED_PENDING_BITS);
	tried_settle(r);
}

FR_INLINE int tried_packed(u32 i, struct once *once, int add)
{
	const struct fr_ring *r = &once->ring;
	u64 *packed = &tried_words[r->cpu % CPU_MAX].packed, seen = fr_load(packed), w = seen >> TRIED_PENDING_BITS, next;
	u64 now = fr_clock_ns(r->clock_word, r->grain_ns, &r->wr->health);
	struct fr_rec_sys_exit *rec;
	struct fr_place p;

	fr_ring_place(r, w, sizeof(*rec) / FR_UNIT_SZ, now, &p);
	next = seen + (sizeof(*rec) / FR_UNIT_SZ << TRIED_PENDING_BITS) + 1;
	if (p.new_page || fr_cas(packed, seen, next) != seen) {
		tried_unpack(r);
		put_ring(once->tid, i);
		tried_pack(r);
		return 0;
	}
	rec = tried_record(r, w);
	if (!rec)
		return 0;
	fill(rec, now, once->tid, i);
	if (add)
		fr_add(packed, -1ull);
	else if (fr_cas(packed, next, next - 1) != next)
		fr_count(&tried_lost, 1);
	return 0;
}

static int one_tried_packed(u32 i, struct once *once)
{
	return tried_packed(i, once, 0);
}

static int one_tried_packed_add(u32 i, struct once *once)
{
	return tried_packed(i, once, 1);
}

FR_INLINE void tried_nothing(const struct fr_ring *r)
{
}

/* before, behind: what is done once to the ring. */
#define TRIED_LOOP_WITH(name, one, before, behind)                              \
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
		before(&once.ring);                                             \
		bpf_loop(ctx->args[0], one, &once, 0);                          \
		behind(&once.ring);                                             \
		took_ns[cpu % CPU_MAX * CPU_STEP] = bpf_ktime_get_ns() - begin; \
		return 0;                                                       \
	}
#define TRIED_LOOP(name, one) TRIED_LOOP_WITH(name, one, tried_nothing, tried_nothing)

TRIED_LOOP(counted, one_tried_counted)
TRIED_LOOP(trylock, one_tried_trylock)
TRIED_LOOP(any, one_tried_any)
TRIED_LOOP_WITH(head, one_tried_head, tried_nothing, tried_settle)
TRIED_LOOP_WITH(zeroed, one_tried_zeroed, tried_nothing, tried_settle)
TRIED_LOOP_WITH(packed, one_tried_packed, tried_pack, tried_unpack)
TRIED_LOOP_WITH(packed_add, one_tried_packed_add, tried_pack, tried_unpack)

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
