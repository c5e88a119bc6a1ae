/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/ring/ring_read.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "live/ring/ring_check.h"
#include "sys/now.h"

#define PEEK_TRIES 16

struct fr_ring_map fr_ring_map_at(void *base)
{
	u8 *page = base;
	struct fr_slots *sl = (void *)(page + FR_SLOT_PAGE * FR_PAGE_SZ);
	const volatile struct fr_slots *said = sl;

	return (struct fr_ring_map){
		.wr = (void *)(page + FR_WRITER_PAGE * FR_PAGE_SZ),
		.sl = sl,
		.data = page + FR_DATA_PAGE * FR_PAGE_SZ,
		.slot_cnt = said->slot_cnt,
		.subbuf_pages = said->subbuf_pages,
		.epoch = said->epoch,
		.cpu = said->cpu,
		.tier = said->tier,
	};
}

static u64 word_with_idx(u64 word, u32 idx)
{
	u64 mask = fr_slot(0, (1u << FR_IDX_BITS) - 1, 0, 0);

	return (word & ~mask) | fr_slot(0, idx, 0, 0);
}

/* How many slots name each idx. */
static void count_names(const struct fr_ring_map *m, u16 *names)
{
	u32 i;

	memset(names, 0, (m->slot_cnt + 1) * sizeof(*names));
	for (i = 0; i < m->slot_cnt; i++) {
		u32 idx = fr_slot_idx(fr_load(&m->sl->slot[i]));

		if (idx <= m->slot_cnt)
			names[idx]++;
	}
}

static s32 ring_unnamed(const struct fr_ring_map *m, const u16 *names)
{
	u32 i;

	for (i = 0; i <= m->slot_cnt; i++)
		if (!names[i])
			return i;
	return -1;
}

/* ---- healing ---- */

int fr_ring_read_grace(void *arg)
{
	(void)arg;
	return syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) ? -errno : 0;
}

/* The lap that slot i holds, or held last before w's: N laps end with the one w is in. Zero or less: a fresh slot's. */
static s64 ring_lap_of(const struct fr_ring_map *m, u64 w, u32 i)
{
	u32 back = (fr_w_slot(w) + m->slot_cnt - i) % m->slot_cnt;

	return (s64)(fr_w_seq(w) - back);
}

/*
 * Is slot i's word as a lap that w has passed must leave it? If two slots name the same idx, its page decides which of them
 * owns it.
 */
static bool passed_ok(const struct fr_ring_map *m, u64 word, s64 seq, const u16 *names)
{
	u32 idx = fr_slot_idx(word);

	return fr_ring_word_full(m, word, seq) && (names[idx] == 1 || fr_ring_head_is(m, fr_ring_subbuf(m, idx), seq));
}

/*
 * The replacement for an abandoned word: complete, with a hole. It keeps its count, so that written = present + overwritten.
 * The word itself: none, since whoever may write to the map has changed words after they were counted.
 */
static u64 healed(const struct fr_ring_map *m, u64 word, s64 seq, u16 *names)
{
	bool ours = fr_ring_word_is(m, word, seq) || fr_ring_word_is(m, word, seq - m->slot_cnt);
	u32 idx = fr_slot_idx(word);

	if (idx > m->slot_cnt || names[idx] > 1) {
		s32 spare = ring_unnamed(m, names);

		if (spare < 0)
			return word;
		if (idx <= m->slot_cnt)
			names[idx]--;
		idx = spare;
		names[idx]++;
	}
	return fr_slot(seq, idx, ours ? fr_slot_cnt(word) : 0, fr_ring_full_units(m)) | FR_SLOT_HOLE;
}

/* A slot that w has passed and whose word is not as it must be. */
struct suspect {
	u64 word;
	s64 seq; /* lap it should hold */
	u32 slot;
};

/* Load the word before w, as always: then the word cannot belong to a later lap than w says. */
static u32 find_suspects(const struct fr_ring_map *m, const u16 *names, struct suspect *s)
{
	u32 i, cnt = 0;

	for (i = 0; i < m->slot_cnt; i++) {
		u64 word = fr_load(&m->sl->slot[i]), w = fr_writer_w(m->wr);

		if (!fr_ring_w_ok(m, w))
			return 0;
		if (i != fr_w_slot(w) && !passed_ok(m, word, ring_lap_of(m, w, i), names))
			s[cnt++] = (struct suspect){word, ring_lap_of(m, w, i), i};
	}
	return cnt;
}

/*
 * The CAS fails if a writer was there after all; like copy_full()'s, it pairs with fr_ring_open()'s. Most suspects are active
 * writers: look for a moment without them. Suspects that remain after a grace period have no writer.
 */
static int heal_abandoned(const struct fr_ring_map *m, fr_ring_grace_fn grace, void *arg)
{
	u64 until = fr_now_ns(CLOCK_MONOTONIC) + FR_RING_READ_TRY_NS;
	struct suspect s[FR_SLOT_MAX];
	u16 names[FR_SLOT_MAX + 1];
	u32 i, cnt;
	int err, healed_cnt = 0;

	count_names(m, names);
	do {
		cnt = find_suspects(m, names, s);
	} while (cnt && fr_now_ns(CLOCK_MONOTONIC) < until);
	if (!cnt)
		return 0;
	err = grace(arg);
	if (err)
		return err;
	for (i = 0; i < cnt; i++) {
		u64 word = healed(m, s[i].word, s[i].seq, names);

		healed_cnt += word != s[i].word && fr_cas(&m->sl->slot[s[i].slot], s[i].word, word) == s[i].word;
	}
	return healed_cnt;
}

/*
 * Swap back the lap that a killed reader held: the spare's page says it is that lap, and its slot names another lap's
 * sub-buffer. The CAS pairs as copy_full()'s.
 */
static int heal_swapped(const struct fr_ring_map *m)
{
	u64 w = fr_writer_w(m->wr), word, seq;
	u16 names[FR_SLOT_MAX + 1];
	s32 spare;
	u64 *slot;

	count_names(m, names);
	spare = ring_unnamed(m, names);
	if (spare < 0 || !fr_ring_w_ok(m, w))
		return 0;
	seq = fr_load(&fr_ring_subbuf(m, spare)[offsetof(struct fr_page_head, seq) / FR_UNIT_SZ]);
	if (!seq || seq > fr_w_seq(w) || seq + m->slot_cnt <= fr_w_seq(w) || !fr_ring_head_is(m, fr_ring_subbuf(m, spare), seq))
		return 0;
	slot = fr_ring_slot_of(m, seq);
	word = fr_load(slot);
	if (!fr_ring_word_full(m, word, seq) || fr_ring_head_is(m, fr_ring_subbuf(m, fr_slot_idx(word)), seq))
		return 0;
	return fr_cas(slot, word, word_with_idx(word, spare)) == word;
}

int fr_ring_read_heal(const struct fr_ring_map *m, fr_ring_grace_fn grace, void *arg)
{
	int swapped, cnt;

	if (!fr_ring_geometry_ok(m))
		return -EBADMSG;
	swapped = heal_swapped(m);
	cnt = heal_abandoned(m, grace, arg);
	return cnt < 0 ? cnt : cnt + swapped;
}

/* ---- reading ---- */

int fr_ring_read_open(struct fr_ring_reader *r, const struct fr_ring_map *m, fr_ring_peek_fn peek, void *peek_arg)
{
	u16 names[FR_SLOT_MAX + 1];
	u32 i, spare_cnt = 0;

	if (!fr_ring_geometry_ok(m))
		return -EBADMSG;
	count_names(m, names);
	for (i = 0; i <= m->slot_cnt; i++)
		spare_cnt += !names[i];
	if (spare_cnt != 1)
		return -EBADMSG;
	*r = (struct fr_ring_reader){m, peek, peek_arg, ring_unnamed(m, names), false};
	return 0;
}

int fr_ring_read_beside(struct fr_ring_reader *r, const struct fr_ring_map *m, fr_ring_peek_fn peek, void *peek_arg)
{
	if (!fr_ring_geometry_ok(m))
		return -EBADMSG;
	*r = (struct fr_ring_reader){.map = m, .peek = peek, .peek_arg = peek_arg, .beside = true};
	return 0;
}

int fr_ring_read_range(const struct fr_ring_map *m, u64 *first_seq, u64 *last_seq)
{
	u64 w = fr_writer_w(m->wr), seq = fr_w_seq(w);

	if (!fr_ring_geometry_ok(m) || !fr_ring_w_ok(m, w))
		return -EBADMSG;
	if (!seq)
		return -ENOENT;
	*first_seq = seq > m->slot_cnt ? seq - m->slot_cnt + 1 : 1;
	*last_seq = seq;
	return 0;
}

u64 fr_ring_read_began(const struct fr_ring_map *m, u64 seq)
{
	u64 word = fr_load(fr_ring_slot_of(m, seq));
	struct fr_page_head head;

	if (!fr_ring_word_is(m, word, seq) || !fr_ring_head_of(m, fr_ring_subbuf(m, fr_slot_idx(word)), seq, &head))
		return UINT64_MAX;
	return head.base_ns;
}

/*
 * A lap ends when the next one begins: one that ends before since_ns need not be read. A writer that opens a lap writes the
 * head of its first page word by word, so for a moment the time there is that of an older lap: times that go backwards are not
 * believed.
 */
u64 fr_ring_read_since(const struct fr_ring_map *m, u64 first, u64 last, u64 since_ns, u64 *before_ns)
{
	u64 seq = first, began_ns = fr_ring_read_began(m, seq), next_ns;

	for (; seq < last; seq++) {
		next_ns = fr_ring_read_began(m, seq + 1);
		if (next_ns < began_ns || next_ns >= since_ns)
			break;
		*before_ns = began_ns;
		began_ns = next_ns;
	}
	return seq;
}

u32 fr_ring_read_cnt(const struct fr_ring_map *m, u64 seq)
{
	u64 word = fr_load(fr_ring_slot_of(m, seq));

	return fr_ring_word_is(m, word, seq) ? fr_slot_cnt(word) : 0;
}

u64 fr_ring_read_present(const struct fr_ring_map *m)
{
	u64 cnt = 0;
	u32 i;

	for (i = 0; i < m->slot_cnt; i++)
		cnt += fr_slot_cnt(fr_load(&m->sl->slot[i]));
	return cnt;
}

/*
 * Copy a complete lap. Swap the spare in, and the sub-buffer is ours for as long as we need. Then swap it back, or, if a writer
 * took the slot meanwhile, keep it as the new spare. The CAS pairs with fr_ring_open()'s. -EAGAIN: the word changed.
 */
static int copy_full(struct fr_ring_reader *r, u64 seq, u64 word, void *buf, struct fr_lap *out)
{
	const struct fr_ring_map *m = r->map;
	u64 *slot = fr_ring_slot_of(m, seq), mine = word_with_idx(word, r->spare);
	u32 idx = fr_slot_idx(word);

	if (word & FR_SLOT_HOLE)
		return -EBADMSG;
	if (fr_cas(slot, word, mine) != word)
		return -EAGAIN;
	memcpy(buf, fr_ring_subbuf(m, idx), (size_t)fr_ring_full_units(m) * FR_UNIT_SZ);
	if (fr_cas(slot, mine, word) != mine)
		r->spare = idx;
	*out = (struct fr_lap){seq, fr_ring_full_units(m), fr_slot_cnt(word), false};
	return 0;
}

static void ring_copy_units(u64 *to, const u64 *from, u32 units)
{
	u32 i;

	for (i = 0; i < units; i++)
		to[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
}

/*
 * Copy a complete lap beside a reader that may have swapped it out, and be stopped: then the slot names that reader's spare,
 * and the lap is where no slot points. The page head tells. The reader gives a sub-buffer that it holds to nobody but the slot
 * it is from, as long as that slot's word is of this lap: so the copy is valid if it still is afterwards, whatever idx it names
 * (as copy_partial()'s). -EAGAIN: it is being swapped just now.
 */
static int copy_beside(const struct fr_ring_map *m, u64 seq, u64 word, void *buf, struct fr_lap *out)
{
	const u64 *from = fr_ring_subbuf(m, fr_slot_idx(word));
	u16 names[FR_SLOT_MAX + 1];
	s32 spare;

	if (word & FR_SLOT_HOLE)
		return -EBADMSG;
	if (!fr_ring_head_is(m, from, seq)) {
		count_names(m, names);
		spare = ring_unnamed(m, names);
		if (spare < 0 || !fr_ring_head_is(m, fr_ring_subbuf(m, spare), seq))
			return -EAGAIN;
		from = fr_ring_subbuf(m, spare);
	}
	ring_copy_units(buf, from, fr_ring_full_units(m));
	if (!fr_ring_word_is(m, fr_add(fr_ring_slot_of(m, seq), 0), seq) || fr_w_seq(fr_writer_w(m->wr)) >= seq + m->slot_cnt)
		return -ESTALE;
	*out = (struct fr_lap){seq, fr_ring_full_units(m), fr_slot_cnt(word), false};
	return 0;
}

/*
 * Copy the lap that w is in: word and w, loaded in this order, agreed that nothing was in flight. The copy is valid if the slot
 * still belongs to that lap afterwards, because a writer may overwrite it only after that word has changed. Adding zero is a
 * load that the copy's loads cannot be moved behind, and pairs with the CAS of fr_ring_open(); w, whose seq is complete,
 * distinguishes laps 2^19 apart.
 */
static int copy_partial(struct fr_ring_reader *r, u64 seq, u64 word, void *buf, struct fr_lap *out)
{
	const struct fr_ring_map *m = r->map;
	u64 *slot = fr_ring_slot_of(m, seq), after;
	u32 idx = fr_slot_idx(word);

	ring_copy_units(buf, fr_ring_subbuf(m, idx), fr_slot_com(word));
	after = fr_add(slot, 0);
	if (!fr_ring_word_is(m, after, seq) || fr_slot_idx(after) != idx || fr_w_seq(fr_writer_w(m->wr)) >= seq + m->slot_cnt)
		return -ESTALE;
	*out = (struct fr_lap){seq, fr_slot_com(word), fr_slot_cnt(word), true};
	return 0;
}

/* Try to copy lap seq, given its slot's word and w, loaded in this order. -EAGAIN: in flight right now. */
static int try_copy(struct fr_ring_reader *r, u64 seq, u64 word, u64 w, void *buf, struct fr_lap *out)
{
	int state = fr_ring_lap_state(r->map, seq, word, w);

	if (state == FR_RING_WHOLE)
		return r->beside ? copy_beside(r->map, seq, word, buf, out) : copy_full(r, seq, word, buf, out);
	if (state == FR_RING_PARTIAL)
		return copy_partial(r, seq, word, buf, out);
	return state;
}

static int try_here(struct fr_ring_reader *r, u64 seq, void *buf, struct fr_lap *out)
{
	u64 until = fr_now_ns(CLOCK_MONOTONIC) + FR_RING_READ_TRY_NS;
	int i, err = -EAGAIN;

	do {
		for (i = 0; i < FR_RING_SPIN_CNT && err == -EAGAIN; i++) {
			u64 word = fr_load(fr_ring_slot_of(r->map, seq));

			err = try_copy(r, seq, word, fr_writer_w(r->map->wr), buf, out);
		}
	} while (err == -EAGAIN && fr_now_ns(CLOCK_MONOTONIC) < until);
	return err;
}

/* Ask the ring's own CPU, where records in flight stand still. Only for the lap that w is in. */
static int try_there(struct fr_ring_reader *r, u64 seq, void *buf, struct fr_lap *out)
{
	const struct fr_ring_map *m = r->map;
	int i, err = -EAGAIN;
	u64 word, w;

	for (i = 0; i < PEEK_TRIES && err == -EAGAIN; i++) {
		if (r->peek(r->peek_arg, m->cpu, m->tier, &word, &w))
			return -EAGAIN;
		if (fr_w_seq(w) != seq)
			return try_here(r, seq, buf, out);
		if (fr_ring_word_is(m, word, seq))
			err = try_copy(r, seq, word, w, buf, out);
	}
	return err;
}

int fr_ring_read_lap(struct fr_ring_reader *r, u64 seq, void *buf, size_t buf_sz, struct fr_lap *out)
{
	struct fr_lap lap = {};
	int err;

	if (buf_sz < (size_t)fr_ring_full_units(r->map) * FR_UNIT_SZ)
		return -EINVAL;
	err = seq ? try_here(r, seq, buf, &lap) : -ENOENT;
	if (err == -EAGAIN && r->peek && fr_w_seq(fr_writer_w(r->map->wr)) == seq)
		err = try_there(r, seq, buf, &lap);
	if (!err && !fr_ring_head_is(r->map, buf, seq))
		err = -EBADMSG;
	if (!err)
		*out = lap;
	return err;
}
