/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* recognise_disk: a task waited for a disk that did not have its request. */
#include <string.h>

#include "base/text/dev.h"
#include "base/text/units.h"
#include "read/verdict/verdict_int.h"

#define HELD_LEAST_NS (50 * FR_MSEC_NS)
#define HELD_PART     10u	      /* of the wait, the last part: in that its request came to the disk */
#define WOKE_NS	      (300 * 1000ull) /* from a request's end to the waking of who waits for it, or from that to the event */

/* Where a request began that is done; NULL: it is not known. */
static const struct fr_clue_io *disk_start_of(const struct fr_clues *c, const struct fr_clue_io *done)
{
	const struct fr_clue_io *io = c->io.at;
	size_t i = c->io.cnt;

	while (i--)
		if (io[i].ts <= done->ts && io[i].dev == done->dev && io[i].sector == done->sector)
			return &io[i];
	return NULL;
}

/* Did a kernel worker begin it, for others, in the last part of the wait? */
static bool disk_came_late(const struct fr_clues *c, const struct fr_waited *w, const struct fr_clue_io *start)
{
	return start && start->ts >= fr_waited_woken_ns(w) - w->blocked_ns / HELD_PART && start->tid != w->tid &&
	       fr_clues_is_kworker(c, start->tid, start->ts);
}

/*
 * The request whose end ended the wait, if it came late. Of any other one that was done right then nothing may be said: the
 * task may have waited for that. Of devices on top of each other, as a loop device on its file's disk, it is that of the upper
 * one.
 */
static const struct fr_clue_io *disk_late_request(const struct fr_clues *c, const struct fr_waited *w)
{
	const struct fr_clue_io *done = c->io_done.at, *start, *late = NULL;
	u64 woken_ns = fr_waited_woken_ns(w);
	size_t i;

	for (i = 0; i < c->io_done.cnt; i++) {
		if (done[i].ts + WOKE_NS < woken_ns || done[i].ts > woken_ns + WOKE_NS)
			continue;
		start = disk_start_of(c, &done[i]);
		if (!disk_came_late(c, w, start))
			return NULL;
		if (!late || start->ts < late->ts)
			late = start;
	}
	return late;
}

/*
 * Was the worker itself kept for half of the wait until it began the request: asleep in D, as for a place in the disk's queue,
 * or without a CPU? Who has no work sleeps in another state.
 */
static bool disk_worker_was_kept(const struct fr_clues *c, const struct fr_waited *w, const struct fr_clue_io *late)
{
	const struct fr_waited *of;
	u64 ns = 0;
	size_t i;

	for (i = 0; (of = fr_clues_wait(c, i)); i++)
		if (of->tid == late->tid)
			ns += fr_overlap_ns(of->state == FR_PREV_STATE_BLOCKED ? fr_waited_began_ns(of)
									       : fr_waited_woken_ns(of),
					    of->ts, fr_waited_began_ns(w), late->ts);
	return ns >= w->blocked_ns / 2;
}

/* Requests to a disk that began before its own came, and how many of these are of kernel workers. */
static u32 disk_before(const struct fr_clues *c, const struct fr_waited *w, u32 dev, u32 *workers)
{
	const struct fr_clue_io *io = c->io.at;
	u64 to_ns = fr_waited_woken_ns(w) - w->blocked_ns / HELD_PART;
	u32 cnt = 0;
	size_t i;

	for (i = *workers = 0; i < c->io.cnt; i++)
		if (io[i].dev == dev && io[i].ts > fr_waited_began_ns(w) && io[i].ts < to_ns) {
			cnt++;
			*workers += fr_clues_is_kworker(c, io[i].tid, io[i].ts);
		}
	return cnt;
}

/*
 * A task's request comes to the disk in its own name, at once, and it waits then. Where a kernel worker brings it long after,
 * somebody between has held it back. Where workers brought others before, it may have been one of those that write them in
 * turn.
 */
bool fr_recognise_held_back(struct fr_case *k)
{
	const struct fr_waited *w = k->wait;
	const struct fr_clue_io *late;
	char disk[FR_DEV_NAME_SZ];
	u32 others, workers;
	u64 woken_ns;

	if (!w || w == &k->by_steps || w->state != FR_PREV_STATE_BLOCKED || w->queued_ns > w->off_ns / 2 ||
	    w->blocked_ns < HELD_LEAST_NS || (w->waker != FR_WAKER_softirq && w->waker != FR_WAKER_irq) || k->c->is_picked ||
	    k->c->is_done_full || !fr_clues_covers_most(k->c, FR_CLUES_ALL_CPUS, fr_waited_began_ns(w), w->ts))
		return false;
	late = disk_late_request(k->c, w);
	if (!late || disk_worker_was_kept(k->c, w, late))
		return false;
	others = disk_before(k->c, w, late->dev, &workers);
	if (workers)
		return false;
	woken_ns = fr_waited_woken_ns(w);
	fr_case_cause(
		k, "wait, block_io_start, block_io_done",
		"%s waited %s %s%s for a disk that did not have its request: that came to %s only %s before the end, from a "
		"kernel worker, %s, so that something held it back before the disk, as a limit of its cgroup's I/O does "
		"(io.max, blkio.throttle)%s",
		fr_word_who(k, w->tid, w->ts), fr_word_ns(k, w->blocked_ns), fr_word_call(k, w), fr_word_object(k, w),
		fr_dev_name(k->c->view->disks, late->dev, disk), fr_word_ns(k, woken_ns > late->ts ? woken_ns - late->ts : 0),
		fr_word_who(k, late->tid, late->ts),
		others ? fr_word(k, "; %u other request%s began there meanwhile", others, fr_plural(others)) : "");
	return true;
}
