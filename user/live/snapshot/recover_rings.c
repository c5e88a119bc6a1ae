/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * recover_rings: puts the rings of a session together again.
 *
 *	in the dump, anywhere:	writer  slots  page page page ...	each says: epoch, cpu, tier, seq, page
 *				  |       |      |
 *				  v       v      v
 *	in memory, per ring:	| w | slot words | sub-buffer 0 | ... | sub-buffer N |
 *
 * The word of slot seq % N says which sub-buffer lap seq is in. A lap that a reader had swapped out comes to the place that its
 * word names, too, which is where the reader would have put it back. What is not found stays zero: the reader takes no page
 * without its head.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "live/ring/ring_check.h"
#include "live/snapshot/recover_int.h"

/*
 * Memory has a few copies of a ring's control page. If there are more, a process has filled memory with them: none is believed,
 * since each writer's page is tried with each page of slots.
 */
#define COPY_MAX 64u

static size_t rings_ring_sz(const struct fr_ring_map *m)
{
	return (size_t)(FR_DATA_PAGE + (m->slot_cnt + 1) * m->subbuf_pages) * FR_PAGE_SZ;
}

/* A ring's control pages, and how many laps agree on both. */
struct control {
	union {
		struct fr_writer wr;
		u8 writer_page[FR_PAGE_SZ];
	};
	union {
		struct fr_slots slots;
		u8 slots_page[FR_PAGE_SZ];
	};
	u32 lap_cnt; /* 0: there are none */
};

/* How many of the laps that are there by w these slot words have, and one more; 0: no ring is like that. */
static u32 rings_count_laps(const struct fr_slots *sl, const struct fr_writer *wr)
{
	const struct fr_ring_map m = {.wr = wr, .slot_cnt = sl->slot_cnt, .subbuf_pages = sl->subbuf_pages};
	u64 seq, last;
	u32 cnt = 1;

	if (!fr_ring_geometry_ok(&m) || sl->layout != FR_LAYOUT_VERSION)
		return 0;
	if (fr_ring_read_range(&m, &seq, &last))
		return cnt;
	for (; seq <= last; seq++)
		cnt += fr_ring_word_is(&m, sl->slot[seq % m.slot_cnt], seq);
	return cnt;
}

/* What of a list is of this ring; *cnt 0: nothing, or too many. */
static const struct fr_carved_one *copies(const struct fr_carved_one *list, size_t list_cnt, const struct fr_carved_one *of,
					  size_t *cnt)
{
	const struct fr_carved_one *one = fr_carved_ones(list, list_cnt, of, cnt);

	if (*cnt > COPY_MAX)
		*cnt = 0;
	return one;
}

static void try_slots(const struct fr_recover *r, const struct fr_carved_one *of, struct control *now, struct control *best)
{
	size_t cnt;
	const struct fr_carved_one *sl = copies(r->found.slots, r->found.slots_cnt, of, &cnt);

	for (; cnt--; sl++) {
		if (fr_vmcore_read(r->core, sl->place, now->slots_page))
			continue;
		now->lap_cnt = rings_count_laps(&now->slots, &now->wr);
		if (now->lap_cnt > best->lap_cnt)
			*best = *now;
	}
}

/*
 * Of the writer's and the slots' pages of this ring, the two that fit each other best: memory that is free may still have those
 * that user space put into the new ring, or parts of them. False: there are none.
 */
static bool read_control(const struct fr_recover *r, const struct fr_carved_one *of, struct control *best)
{
	size_t cnt;
	const struct fr_carved_one *w = copies(r->found.writer, r->found.writer_cnt, of, &cnt);
	struct control now;

	best->lap_cnt = 0;
	for (; cnt--; w++)
		if (!fr_vmcore_read(r->core, w->place, now.writer_page))
			try_slots(r, of, &now, best);
	return best->lap_cnt;
}

/* Memory for a ring, zero, and its control pages. 0; -ENOENT: it lacks one, or they make no sense; -errno. */
static int rings_begin_ring(struct fr_recover *r, const struct fr_carved_one *of, struct fr_ring_map *out)
{
	struct fr_ring_map m = {};
	struct control got;
	u8 *base;

	if (of->tier >= FR_TIER_CNT || !read_control(r, of, &got))
		return -ENOENT;
	m.slot_cnt = got.slots.slot_cnt;
	m.subbuf_pages = got.slots.subbuf_pages;
	base = mmap(NULL, rings_ring_sz(&m), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (base == MAP_FAILED)
		return -errno;
	memcpy(base + FR_WRITER_PAGE * FR_PAGE_SZ, got.writer_page, FR_PAGE_SZ);
	memcpy(base + FR_SLOT_PAGE * FR_PAGE_SZ, got.slots_page, FR_PAGE_SZ);
	*out = fr_ring_map_at(base);
	return 0;
}

/* Copies of a page that can be read must agree, or none is believed. Returns whether the dump has one. */
static bool place_page(struct fr_recover *r, const struct fr_carved_page *like, u8 *to)
{
	bool is_there = false, differs = false;
	u8 other[FR_PAGE_SZ];
	size_t cnt, i;
	const struct fr_carved_page *p = fr_carved_find(&r->found, like, &cnt);

	for (i = 0; p && i < cnt && !differs; i++) {
		if (fr_vmcore_read(r->core, p[i].place, is_there ? other : to))
			continue;
		differs = is_there && memcmp(to, other, FR_PAGE_SZ);
		is_there = true;
	}
	r->differ_cnt += differs;
	if (differs || !is_there)
		memset(to, 0, FR_PAGE_SZ);
	return is_there;
}

/*
 * The pages of lap seq, as far as it was written. In a lap in flight, the last may just have been begun, and have no head yet:
 * it is not the dump that lacks it, and the lap is told as a hole.
 */
static void place_lap(struct fr_recover *r, const struct fr_ring_map *m, u64 seq)
{
	u64 word = *fr_ring_slot_of(m, seq), w = fr_writer_w(m->wr);
	bool in_flight = fr_ring_lap_state(m, seq, word, w) == -EAGAIN;
	u32 end = seq == fr_w_seq(w) ? fr_w_off(w) : fr_ring_full_units(m), page;
	struct fr_carved_page like = {.epoch = m->epoch, .cpu = m->cpu, .tier = m->tier, .seq = seq};
	u8 *to;

	if (!fr_ring_word_is(m, word, seq))
		return;
	to = (u8 *)fr_ring_subbuf(m, fr_slot_idx(word));
	for (page = 0; page * FR_PAGE_UNITS < end; page++) {
		like.page = page;
		if (!place_page(r, &like, to + page * FR_PAGE_SZ))
			r->missing_cnt += !in_flight || (page + 1) * FR_PAGE_UNITS < end;
	}
}

static void place_laps(struct fr_recover *r, const struct fr_ring_map *m)
{
	u64 seq, last;

	if (fr_ring_read_range(m, &seq, &last))
		return;
	for (; seq <= last; seq++)
		place_lap(r, m, seq);
}

/* Rings that have a writer's page, but no slots. */
static u32 count_slotless(const struct fr_recover *r)
{
	const struct fr_carved *f = &r->found;
	u32 cnt = 0;
	size_t i, same, slots;

	for (i = 0; i < f->writer_cnt; i += same) {
		fr_carved_ones(f->writer, f->writer_cnt, &f->writer[i], &same);
		fr_carved_ones(f->slots, f->slots_cnt, &f->writer[i], &slots);
		cnt += f->writer[i].epoch == r->chosen->epoch && !slots;
	}
	return cnt;
}

static int rings_by_cpu_tier(const void *a, const void *b)
{
	const struct fr_ring_map *x = a, *y = b;

	return x->cpu != y->cpu ? (int)x->cpu - y->cpu : (int)x->tier - y->tier;
}

int fr_recover_rings(struct fr_recover *r)
{
	const struct fr_carved_one *slots = r->found.slots;
	size_t i, same;
	int err = 0;

	r->ring = calloc(r->found.slots_cnt + 1, sizeof(*r->ring));
	if (!r->ring)
		return -ENOMEM;
	r->headless_cnt = count_slotless(r);
	for (i = 0; i < r->found.slots_cnt && !err; i += same) {
		fr_carved_ones(slots, r->found.slots_cnt, &slots[i], &same);
		if (slots[i].epoch != r->chosen->epoch)
			continue;
		err = rings_begin_ring(r, &slots[i], &r->ring[r->ring_cnt]);
		if (!err)
			place_laps(r, &r->ring[r->ring_cnt++]);
		r->headless_cnt += err == -ENOENT;
		err = err == -ENOENT ? 0 : err;
	}
	qsort(r->ring, r->ring_cnt, sizeof(*r->ring), rings_by_cpu_tier);
	return err;
}

void fr_recover_free_rings(struct fr_recover *r)
{
	size_t i;

	for (i = 0; i < r->ring_cnt; i++)
		munmap((void *)r->ring[i].wr, rings_ring_sz(&r->ring[i]));
	free(r->ring);
}
