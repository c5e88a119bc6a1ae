/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fuzz target of every exporter: a snapshot, its hashes put right after a mutation, goes into each format, to nowhere. Messages
 * and output are not looked at (-close_fd_mask=3); the formats must keep within their buffers, and return.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "flow/export/export.h"
#include "fuzz/seal.h"
#include "unit/host_ring.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t sz);

static char input[64];
static char folder[64];

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static void remove_folder(void)
{
	nftw(folder, remove_one, 4, FTW_DEPTH | FTW_PHYS);
}

static void name_files(void)
{
	snprintf(input, sizeof(input), "/dev/shm/fr-fuzz-%d.flight", getpid());
	snprintf(folder, sizeof(folder), "/dev/shm/fr-fuzz-%d", getpid());
}

static void export_as(const struct fr_exporter *e, bool off_cpu)
{
	const char *const file = input;
	struct fr_export_ask ask = {
		.format = e->name,
		.path = e->folder ? folder : NULL,
		.opts = {.tiers = ~0u, .names = true},
		.file = &file,
		.file_cnt = 1,
		.off_cpu = off_cpu,
		.symbols = {.symfs = "/nonexistent"},
	};

	fr_export(&ask);
	if (e->folder)
		remove_folder();
}

/* ---- snapshots made of records ---- */

#define RING_CNT 6u /* three tiers of two CPUs */

/* The next record of the input to its ring; what it took of the input. */
static size_t put_record(struct host_ring **ring, const u8 *data, size_t sz)
{
	const struct fr_event *ev = fr_schema_event(fr_schema_builtin(), data[0] % FR_EVENT_MAX);
	u8 rec[FR_REC_MAX_SZ] = {0};
	size_t rec_sz, body;

	if (!ev || ev->tier > FR_TIER_STACK)
		return 1;
	rec_sz = (ev->fixed_sz + (ev->tail ? data[2] % 250 * 8u : 0) + 7) / 8 * 8;
	rec_sz = rec_sz < FR_REC_MAX_SZ ? rec_sz : FR_REC_MAX_SZ;
	body = rec_sz - 8 < sz - 3 ? rec_sz - 8 : sz - 3;
	memcpy(rec + 8, data + 3, body);
	host_clock_ns += (u64)(data[1] >> 1) << (data[1] & 31);
	host_ring_put(ring[(data[1] & 1) * 3 + ev->tier], ev->nr, rec, rec_sz);
	return 3 + body;
}

static int make_snapshot(const u8 *data, size_t sz)
{
	struct host_ring *ring[RING_CNT];
	struct fr_snap_clock clock = {1000, 1000, 2000, 1000, 1767225600000000000ull, 50};
	struct fr_snap_task task = {.tid = 100, .start_ns = 5, .task = {.tgid = 100, .comm = "one;"}};
	struct fr_snap_writer *w;
	u32 i;
	int err;

	if (fr_snap_create(input, 16u << 20, &w))
		abort();
	host_clock_ns = 1000000;
	for (i = 0; i < RING_CNT; i++)
		ring[i] = host_ring_new(i / 3, i % 3, 16, 2);
	while (sz > 3) {
		size_t used = put_record(ring, data, sz);

		data += used;
		sz -= used;
	}
	err = fr_snap_put_schema(w, fr_schema_builtin()) || fr_snap_put_clocks(w, &clock, 1) || fr_snap_put_tasks(w, &task, 1);
	for (i = 0; i < RING_CNT; i++) {
		err = err || host_ring_put_laps(ring[i], w);
		host_ring_free(ring[i]);
	}
	if (!err)
		return fr_snap_finish(w);
	fr_snap_abort(w);
	return -1;
}

static int save(const u8 *data, size_t sz)
{
	int fd = open(input, O_WRONLY | O_CREAT | O_TRUNC, 0600), err = fd < 0 || write(fd, data, sz) != (ssize_t)sz;

	close(fd);
	return err;
}

/* One format an input, by its bytes, so that each is as quick as it can be. */
int LLVMFuzzerTestOneInput(const u8 *data, size_t sz)
{
	u64 hash = XXH64(data, sz, 0);
	u32 cnt = 0;

	if (!*input)
		name_files();
	unlink(input);
	if (!sz || (data[0] == 'P' ? save(data, sz) : make_snapshot(data + 1, sz - 1)))
		return 0;
	while (fr_exporter_nr(cnt))
		cnt++;
	/* one more: time off the CPU */
	if (hash % (cnt + 1) < cnt)
		export_as(fr_exporter_nr(hash % (cnt + 1)), false);
	else
		export_as(&fr_export_folded, true);
	unlink(input);
	return 0;
}
