/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * made: a snapshot made of a fuzzer's bytes: the bytes themselves, if they begin as one does; else of records, each of them
 * said by three bytes (its event, its CPU and time, its length) and its content.
 */
#ifndef FR_FUZZ_MADE_H
#define FR_FUZZ_MADE_H

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "fuzz/seal.h"
#include "unit/host_ring.h"

#define MADE_RING_CNT 6u /* three tiers of two CPUs */

/* Bytes of a record; of a short form those of any length. */
static size_t made_rec_sz(u8 event, const struct fr_event *ev, u8 more)
{
	size_t sz = fr_is_short(event) ? 16 + more % 8 * 8u : (ev->fixed_sz + (ev->tail ? more % 250 * 8u : 0) + 7) / 8 * 8;

	return sz < FR_REC_MAX_SZ ? sz : FR_REC_MAX_SZ;
}

/* A call that begins, or ends, near another one so many units before, whatever lies there. */
static void made_put_near(struct host_ring *h, const u8 *data)
{
	u32 units = data[0] == FR_SHORT_EXIT_NEAR ? 1 : 2 + data[2] / 64, back = data[2] % 64;
	struct fr_res res;
	u64 *rec;

	if (fr_ring_reserve(&h->r, units, &res))
		return;
	rec = (u64 *)fr_ring_page(&h->r, res.page_nr) + res.unit;
	memset(rec, data[1], units * FR_UNIT_SZ);
	rec[0] = units == 1 ? fr_near_rec((s8)data[1], data[1], back)
			    : fr_near_enter((u64)data[1] << (FR_SHORT_HALF - 4) | data[1], data[1], back, data[0], units);
	fr_ring_commit(&res);
}

/* The next record of the input to its ring; what it took of the input. */
static size_t made_put_record(struct host_ring **ring, const u8 *data, size_t sz)
{
	const struct fr_event *ev = fr_schema_event(fr_schema_builtin(), fr_unfolded_event(data[0]));
	u8 rec[FR_REC_MAX_SZ] = {0};
	size_t rec_sz, body;

	if (!ev || ev->tier > FR_TIER_STACK)
		return 1;
	if (fr_short_is_told(data[0])) {
		made_put_near(ring[(data[1] & 1) * 3 + ev->tier], data);
		return 3;
	}
	rec_sz = made_rec_sz(data[0], ev, data[2]);
	body = rec_sz - 8 < sz - 3 ? rec_sz - 8 : sz - 3;
	memcpy(rec + 8, data + 3, body);
	host_clock_ns += (u64)(data[1] >> 1) << (data[1] & 31);
	host_ring_put(ring[(data[1] & 1) * 3 + ev->tier], data[0], rec, rec_sz);
	return 3 + body;
}

static int made_of_records(const char *path, const u8 *data, size_t sz)
{
	struct host_ring *ring[MADE_RING_CNT];
	struct fr_snap_clock clock = {1000, 1000, 2000, 1000, 1767225600000000000ull, 50};
	struct fr_snap_task task = {.tid = 100, .start_ns = 5, .task = {.tgid = 100, .comm = "one;"}};
	struct fr_snap_writer *w;
	u32 i;
	int err;

	if (fr_snap_create(path, 16u << 20, 1, &w))
		abort();
	host_clock_ns = 1000000;
	for (i = 0; i < MADE_RING_CNT; i++)
		ring[i] = host_ring_new(i / 3, i % 3, 16, 2);
	while (sz > 3) {
		size_t used = made_put_record(ring, data, sz);

		data += used;
		sz -= used;
	}
	err = fr_snap_put_schema(w, fr_schema_builtin()) || fr_snap_put_clocks(w, &clock, 1) || fr_snap_put_tasks(w, &task, 1);
	for (i = 0; i < MADE_RING_CNT; i++) {
		err = err || host_ring_put_laps(ring[i], w);
		host_ring_free(ring[i]);
	}
	if (!err)
		return fr_snap_finish(w);
	fr_snap_abort(w);
	return -1;
}

static int made_save(const char *path, const u8 *data, size_t sz)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600), err = fd < 0 || write(fd, data, sz) != (ssize_t)sz;

	close(fd);
	return err;
}

/* Write it to path, where nothing is. 0: it is there. */
static int made_write(const char *path, const u8 *data, size_t sz)
{
	if (!sz)
		return -1;
	return data[0] == (FR_FILE_MAGIC & 0xff) ? made_save(path, data, sz) : made_of_records(path, data + 1, sz - 1);
}

#endif
