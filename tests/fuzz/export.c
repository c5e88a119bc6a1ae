/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fuzz target of every exporter, and of the report: a snapshot, its hashes put right after a mutation, goes into each format,
 * to nowhere. Messages and output are not looked at (-close_fd_mask=3); the formats must keep within their buffers, and return.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <ftw.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/made.h"
#include "show/export/export.h"
#include "show/report/report.h"

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

	if (e->by_library) /* that has a target of its own */
		return;
	fr_export(&ask);
	if (e->folder)
		remove_folder();
}

static void report_on(bool json)
{
	static const struct fr_symbols_opts symbols = {.symfs = "/nonexistent"};
	const struct fr_report_ask ask = {
		.path = input,
		.opts = {.tiers = FR_REPLAY_TIERS, .names = true},
		.analyze = {.moment_ns = 10000000, .focus_tid = 100},
		.symbols = &symbols,
		.json = json,
		.top = json ? 0 : 8,
	};

	fr_report(&ask);
}

/* One format an input, by its bytes, so that each is as quick as it can be. */
int LLVMFuzzerTestOneInput(const u8 *data, size_t sz)
{
	u64 hash = XXH64(data, sz, 0);
	u32 cnt = 0;

	if (!*input)
		name_files();
	unlink(input);
	if (made_write(input, data, sz))
		return 0;
	while (fr_exporter_nr(cnt))
		cnt++;
	/* two more: time off the CPU, a report */
	if (hash % (cnt + 2) < cnt)
		export_as(fr_exporter_nr(hash % (cnt + 2)), false);
	else if (hash % (cnt + 2) == cnt)
		export_as(&fr_export_folded, true);
	else
		report_on(hash >> 63);
	unlink(input);
	return 0;
}
