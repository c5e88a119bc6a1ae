/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/ring/ring_follow.h"

#include "live/ring/ring_check.h"
#include "sys/now.h"

#define PATIENCE_NS 1000000000u /* give up on a passed lap that stays unreadable this long */
#define MARGIN_PART 16		/* of the ring, and a lap: how far from being overwritten an overtaken follower continues */

/* ---- one lap, in place ---- */

/*
 * The loads acquire, so that the later check of the slot word stays behind them. Pairs with the opener's CAS (fr_ring_open()),
 * before which no byte of the lap is overwritten.
 */
static void follow_copy_units(u64 *to, const u64 *from, u32 units)
{
	u32 i;

	for (i = 0; i < units; i++)
		to[i] = fr_load(&from[i]);
}

/*
 * Copy, given a word of the slot and w, loaded in this order. A slot may name the reader's spare while a snapshot copies the
 * lap; the page head tells. The copy is valid if the slot still belongs to that lap afterwards, and w, whose seq is complete,
 * rules out a lap 2^19 laps later.
 */
static int try_look(const struct fr_ring_map *m, u64 seq, u64 word, u64 w, u64 *buf, u32 have, struct fr_lap *out)
{
	int state = fr_ring_lap_state(m, seq, word, w);
	const u64 *from = fr_ring_subbuf(m, fr_slot_idx(word) <= m->slot_cnt ? fr_slot_idx(word) : 0);
	u32 com = fr_slot_com(word);
	u64 after;

	if (state < 0)
		return state;
	if (word & FR_SLOT_HOLE || com < have)
		return -EBADMSG;
	if (!fr_ring_head_is(m, from, seq))
		return -EAGAIN;
	follow_copy_units(buf + have, from + have, com - have);
	after = fr_load(fr_ring_slot_of(m, seq));
	if (!fr_ring_word_is(m, after, seq) || fr_w_seq(fr_writer_w(m->wr)) >= seq + m->slot_cnt)
		return -ESTALE;
	if (fr_slot_idx(after) != fr_slot_idx(word))
		return -EAGAIN;
	*out = (struct fr_lap){seq, com, fr_slot_cnt(word), state == FR_RING_PARTIAL};
	return 0;
}

int fr_ring_look(const struct fr_ring_map *m, u64 seq, void *buf, u32 have_units, struct fr_lap *out)
{
	u64 until = 0, word;
	int i, err = -EAGAIN;

	do {
		for (i = 0; i < FR_RING_SPIN_CNT && err == -EAGAIN; i++) {
			word = fr_load(fr_ring_slot_of(m, seq));
			err = try_look(m, seq, word, fr_writer_w(m->wr), buf, have_units, out);
		}
		until = until ?: fr_now_ns(CLOCK_MONOTONIC) + FR_RING_READ_TRY_NS;
	} while (err == -EAGAIN && fr_now_ns(CLOCK_MONOTONIC) < until);
	return err;
}

/* ---- counting what came before ---- */

/* Is nothing in flight at this moment in the lap that w is in? *seq: its number, 0 if nothing was written. */
static bool follow_is_quiet(const struct fr_ring_map *m, u64 *seq)
{
	u64 w = fr_writer_w(m->wr), word;

	*seq = fr_w_seq(w);
	word = fr_load(fr_ring_slot_of(m, *seq));
	w = fr_writer_w(m->wr);
	return !*seq || (fr_w_seq(w) == *seq && fr_ring_word_is(m, word, *seq) && fr_slot_com(word) == fr_w_off(w));
}

/*
 * Sum up the laps before seq, by their words; last: the lap of a quiet moment. Their openers have counted what they overwrote:
 * an opener holds a record in its lap, and these laps are complete. The next opener takes the slot of the first of them; if
 * that lap is still seen complete after the counter was read, the opener had not come yet.
 */
static int sum_before(const struct fr_ring_map *m, u64 seq, u64 last, u64 *cnt)
{
	u64 lap = last >= m->slot_cnt ? last - m->slot_cnt + 1 : 1, sum = fr_load(&m->wr->overwritten), word;

	for (; lap < last; lap++) {
		word = fr_load(fr_ring_slot_of(m, lap));
		if (!fr_ring_word_full(m, word, lap))
			return -EAGAIN;
		sum += lap < seq ? fr_slot_cnt(word) : 0;
	}
	*cnt = sum;
	return 0;
}

static int try_before(const struct fr_ring_map *m, u64 seq, u64 *cnt)
{
	u64 last;

	if (!fr_ring_w_ok(m, fr_writer_w(m->wr)))
		return -EBADMSG;
	if (!follow_is_quiet(m, &last))
		return -EAGAIN;
	if (seq > last)
		return -ENOENT;
	if (seq + m->slot_cnt <= last)
		return -ESTALE;
	return sum_before(m, seq, last, cnt);
}

/*
 * Count the records ever written before lap seq, one of those present. 0 and *cnt; -ESTALE: the lap has been overwritten;
 * -ENOENT: it has not begun; -EAGAIN: no quiet moment was found; -EBADMSG: damaged.
 */
static int count_before(const struct fr_ring_map *m, u64 seq, u64 *cnt)
{
	u64 until = fr_now_ns(CLOCK_MONOTONIC) + FR_RING_READ_TRY_NS;
	int err;

	do {
		err = try_before(m, seq, cnt);
	} while (err == -EAGAIN && fr_now_ns(CLOCK_MONOTONIC) < until);
	return err;
}

/* ---- following ---- */

static void follow_go_to(struct fr_ring_follow *f, u64 seq, u64 before)
{
	f->seq = seq;
	f->before = before;
	f->units = f->cnt = 0;
	f->stuck_ns = 0;
}

/* Start behind what is committed now. The lap so far is copied too: reading the rest of it needs its page heads. */
static int begin_now(struct fr_ring_follow *f)
{
	u64 seq = fr_w_seq(fr_writer_w(f->map.wr)), before;
	struct fr_lap lap;
	int err;

	if (!seq)
		return 0;
	err = fr_ring_look(&f->map, seq, f->buf, 0, &lap);
	err = err ?: count_before(&f->map, seq, &before);
	if (err)
		return err == -EBADMSG ? err : -EAGAIN;
	follow_go_to(f, seq, before);
	f->units = lap.com_units;
	f->cnt = lap.cnt;
	f->begun = before + lap.cnt;
	return 0;
}

/*
 * Start at the lap that holds since_ns. Of a full ring the oldest laps are overwritten while their times are read: then the
 * search goes on behind them.
 */
static int begin_since(struct fr_ring_follow *f, u64 since_ns)
{
	u64 seq, last, before, before_ns;
	int err = fr_ring_read_range(&f->map, &seq, &last);

	if (err == -ENOENT)
		return 0;
	while (!err && seq < last && fr_ring_read_began(&f->map, seq) == UINT64_MAX)
		seq++;
	if (!err)
		seq = fr_ring_read_since(&f->map, seq, last, since_ns, &before_ns);
	err = err ?: count_before(&f->map, seq, &before);
	if (err)
		return err == -EBADMSG ? err : -EAGAIN;
	follow_go_to(f, seq, before);
	f->begun = before;
	return 0;
}

int fr_ring_follow_begin(struct fr_ring_follow *f, const struct fr_ring_map *m, void *buf, u64 since_ns)
{
	*f = (struct fr_ring_follow){.map = *m, .buf = buf};
	if (!fr_ring_geometry_ok(m) || !fr_ring_w_ok(m, fr_writer_w(m->wr)))
		return -EBADMSG;
	return since_ns == FR_RING_FOLLOW_NOW ? begin_now(f) : begin_since(f, since_ns);
}

/* Continue at lap seq, and count what lies between. */
static int skip_to(struct fr_ring_follow *f, u64 seq)
{
	u64 before;
	int err = count_before(&f->map, seq, &before);

	if (!err && before < f->before + f->cnt)
		err = -EBADMSG;
	if (err)
		return err == -EBADMSG ? err : -EAGAIN;
	f->skipped += before - f->before - f->cnt;
	f->skipped_laps += seq - f->seq;
	follow_go_to(f, seq, before);
	return 0;
}

/*
 * Overwritten: jump to the oldest laps that are present, but for a few, so that these are not overwritten, too, before they are
 * read. The rest is history that was asked for, and a follower that is faster than the writers gets it.
 */
static int catch_up(struct fr_ring_follow *f)
{
	u64 last = fr_w_seq(fr_writer_w(f->map.wr)), back = f->map.slot_cnt - 1 - f->map.slot_cnt / MARGIN_PART - 1;

	return skip_to(f, last > back ? last - back : 1);
}

/* The lap cannot be read right now, and never will be if a killed process left it so: give it up once w has passed it. */
static int follow_give_up(struct fr_ring_follow *f, u64 patience_ns)
{
	u64 now = fr_now_ns(CLOCK_MONOTONIC);

	f->stuck_ns = f->stuck_ns ?: now;
	if (now - f->stuck_ns < patience_ns || fr_w_seq(fr_writer_w(f->map.wr)) <= f->seq)
		return -EAGAIN;
	return skip_to(f, f->seq + 1);
}

/* Look at the current lap: 1 and *out; 0: up to date; -EAGAIN; 2: look again. */
static int step(struct fr_ring_follow *f, struct fr_ring_piece *out)
{
	struct fr_lap lap;
	int err = fr_ring_look(&f->map, f->seq, f->buf, f->units, &lap);

	switch (err) {
	case 0:
		f->stuck_ns = 0;
		break;
	case -ENOENT:
		return 0;
	case -ESTALE:
		return catch_up(f) ?: 2;
	default:
		return follow_give_up(f, err == -EAGAIN ? PATIENCE_NS : 0) ?: 2;
	}
	if (lap.com_units > f->units) {
		*out = (struct fr_ring_piece){f->seq, f->units, lap.com_units, lap.cnt - f->cnt};
		f->units = lap.com_units;
		f->cnt = lap.cnt;
		return 1;
	}
	if (lap.partial)
		return 0;
	follow_go_to(f, f->seq + 1, f->before + f->cnt);
	return 2;
}

int fr_ring_follow_next(struct fr_ring_follow *f, struct fr_ring_piece *out)
{
	int ret = 2;

	if (!f->seq && !fr_w_seq(fr_writer_w(f->map.wr)))
		return 0;
	f->seq = f->seq ?: 1;
	while (ret == 2)
		ret = step(f, out);
	return ret;
}
