/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* dump_events: the events of a snapshot: copied and encoded in waves, and what became of each lap accounted for. */
#include <errno.h>
#include <signal.h>

#include "base/faulted.h"
#include "base/rows/rows.h"
#include "live/snapshot/dump_int.h"
#include "sys/now.h"

/*
 * Is the lap part of a hole? The ring was copied to its end already, holes that were found then may lie behind this one. As
 * there, history is complete from the lap behind it on.
 */
static void note_damage(struct fr_dump *d, const struct fr_dump_lap *c, bool damaged)
{
	u64 base_ns = ((struct fr_page_head *)c->at)->base_ns;
	struct fr_snap_hole *h = c->src->damaged;

	if (h && damaged && h->last_seq + 1 == c->lap.seq) {
		h->last_seq = c->lap.seq;
		return;
	}
	if (h) {
		h->until_ns = base_ns;
		if (c->src->acct.horizon_ns < base_ns)
			c->src->acct.horizon_ns = base_ns;
	}
	c->src->damaged = damaged ? fr_dump_add_hole(d, c->src, c->lap.seq, FR_HOLE_damaged, base_ns) : NULL;
}

/* Holes behind a lap begin after its last event. They were found when it was copied; later waves find more. */
static void events_note_end(struct fr_dump *d, struct fr_dump_ring *src, u64 seq, u64 last_ns)
{
	struct fr_snap_hole *h;

	for (h = d->hole; h < d->hole + d->hole_cnt; h++)
		if (h->cpu == src->map->cpu && h->tier == src->map->tier && h->first_seq > seq && h->since_ns < last_ns)
			h->since_ns = last_ns;
	if (src->last_ns < last_ns)
		src->last_ns = last_ns;
}

/* Without those that ended before the window, which miss nothing of it. */
static void count_holes(struct fr_dump *d)
{
	size_t i, kept = 0;

	for (i = 0; i < d->hole_cnt; i++) {
		const struct fr_snap_hole *h = &d->hole[i];

		if (h->until_ns && h->until_ns <= fr_dump_since_ns(d, h->tier))
			continue;
		d->done->missed += h->last_seq + 1 - h->first_seq;
		d->hole[kept++] = *h;
	}
	d->hole_cnt = kept;
}

/* For fr_snap_watch_laps(): a lap of the wave was encoded. */
static void events_note_lap(void *arg, const struct fr_snap_lap_rows *got)
{
	const struct fr_dump_lap *c = got->tag;
	struct fr_dump *d = arg;

	c->src->acct.present += got->to - got->from;
	/* frames of stacks belong to the samples that name them */
	if (c->src->map->tier != FR_TIER_STACK)
		d->done->events += got->to - got->from;
	if (d->addrs)
		fr_addrs_rows(d->addrs, got->rows, got->from, got->to);
	note_damage(d, c, got->damaged_pages != 0);
	if (got->to > got->from)
		events_note_end(d, c->src, c->lap.seq, got->rows->ts[got->to - 1]);
	d->done_sz += (u64)c->lap.com_units * FR_UNIT_SZ;
	fr_progress_show(&d->bar, d->done_sz, d->total_sz);
}

static int encode_lap(struct fr_dump *d, struct fr_dump_lap *c)
{
	const struct fr_snap_lap lap = {
		.buf = c->at,
		.sz = (size_t)c->lap.com_units * FR_UNIT_SZ,
		.epoch = c->src->map->epoch,
		.cpu = c->src->map->cpu,
		.tier = c->src->map->tier,
		.seq = c->lap.seq,
		.secrets = &d->secrets,
		.tag = c,
	};

	return fr_snap_put_lap(d->w, &lap, fr_dump_since_ns(d, lap.tier));
}

int fr_dump_look_for_stop(const struct fr_dump *d)
{
	sigset_t come;

	if (!d->ask->stop || sigpending(&come) || sigandset(&come, &come, d->ask->stop))
		return 0;
	return sigisemptyset(&come) ? 0 : -EINTR;
}

static int encode_wave(struct fr_dump *d)
{
	size_t i;
	int err = 0;

	for (i = 0; i < d->copied_cnt && !err; i++)
		err = fr_dump_look_for_stop(d) ?: encode_lap(d, &d->copied[i]);
	return err ?: fr_snap_settle(d->w);
}

/* What takes memory for what comes behind copies. Without addrs no address gets a name, but the snapshot is still good. */
static int begin_encoding(struct fr_dump *d)
{
	d->addrs = fr_faulted(sizeof(*d->addrs));
	return fr_snap_put_schema(d->w, d->schema);
}

int fr_dump_put_events(struct fr_dump *d)
{
	bool all, is_first = true;
	size_t first = 0;
	int err;

	fr_snap_watch_laps(d->w, events_note_lap, d);
	fr_dump_find_ranges(d);
	do {
		all = fr_dump_copy_wave(d, &first);
		if (all) {
			d->done->copied_ns = fr_now_ns(CLOCK_MONOTONIC) - d->begun_ns;
			fr_dump_find_states(d);
		}
		err = is_first ? begin_encoding(d) : 0;
		is_first = false;
		err = err ?: encode_wave(d);
	} while (!all && !err);
	if (!err) /* else threads may still read it: until the writer has ended */
		fr_dump_room_return(&d->room);
	count_holes(d);
	fr_progress_show(&d->bar, d->total_sz, d->total_sz);
	return err;
}
