/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fuzz target of what crash dumps are read with: the bytes as one, if they begin as ELF does; else as changes to the pages of a
 * small session (cores.h). A snapshot that was recovered is sound; where none was, no file is left. The pages alone, too: each
 * that was found is found again.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <unistd.h>

#include "base/err.h"
#include "fuzz/cores.h"
#include "live/snapshot/recover.h"
#include "read/vmcore/carve.h"
#include "unit/host_sessions.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t sz);

static char input[64], output[64];

static void remove_files(void)
{
	remove(input);
	remove(output);
}

static void name_files(void)
{
	snprintf(input, sizeof(input), "/dev/shm/fr-fuzz-vmcore-%d", getpid());
	snprintf(output, sizeof(output), "/dev/shm/fr-fuzz-vmcore-%d.flight", getpid());
	atexit(remove_files);
}

static void save(const u8 *data, size_t sz)
{
	int fd = open(input, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, data, sz) != (ssize_t)sz || close(fd))
		abort();
}

static void save_changed(const u8 *data, size_t sz)
{
	struct host_dump d = {};

	host_seed = 88172645463325252ull;
	cores_begin(&d);
	cores_change_all(&d, data + 1, sz - 1);
	if (data[0] & 1)
		cores_seal(&d);
	if (host_dump_save(&d, input))
		abort();
	cores_free(&d);
}

static void check_snapshot(void)
{
	struct fr_batch b = {};
	struct fr_snap *s;
	size_t cnt, i;

	if (fr_snap_open(output, &s) || fr_snap_damage(s))
		abort();
	fr_snap_chunks(s, &cnt);
	for (i = 0; i < cnt; i++)
		if (fr_snap_read_chunk(s, i, &b))
			abort();
	fr_batch_free(&b);
	fr_snap_close(s);
	remove(output);
}

static int recover(const char *session)
{
	const struct fr_recover_ask ask = {.vmcore = input, .session = session, .path = output};
	int status = fr_recover(&ask);

	if (status == FR_EXIT_OK || (status == FR_EXIT_CORRUPT && !access(output, F_OK)))
		check_snapshot();
	else if (!access(output, F_OK) || status < 0 || status == FR_EXIT_USAGE || status > FR_EXIT_NO_SESSION)
		abort();
	return status;
}

/* Each number once, in order, and of those that the head names. */
static void check_log(const struct fr_carved *c, u32 epoch)
{
	struct fr_carved_log log;
	size_t i;

	if (fr_carved_incidents(c, epoch, &log) || log.cnt > c->incident_cnt)
		abort();
	for (i = 1; i < log.cnt; i++)
		if (log.rec[i].done <= log.rec[i - 1].done)
			abort();
	if (log.head && (log.cnt + log.missing_cnt > log.head->cnt || (log.cnt && log.rec[log.cnt - 1].done > log.head->next)))
		abort();
	free(log.rec);
}

static void check_found(const struct fr_carved *c)
{
	struct fr_snap_task *task;
	size_t i, cnt;

	for (i = 0; i < c->page_cnt; i++)
		if (!fr_carved_find(c, &c->page[i], &cnt) || !cnt || cnt > c->page_cnt)
			abort();
	for (i = 0; i < c->task_cnt && i < 20; i++) {
		if (fr_carved_tasks(c, c->task[i].epoch, &task, &cnt) || !cnt || cnt > c->task_cnt)
			abort();
		free(task);
	}
	for (i = 0; i < c->log_cnt && i < 20; i++)
		check_log(c, c->log[i].epoch);
}

/* Each in memory of just its size. */
static void carve(const u8 *data, size_t sz)
{
	struct fr_carved c = {};
	u8 *page = malloc(FR_PAGE_SZ);
	size_t at;

	for (at = 0; at < sz; at += FR_PAGE_SZ) {
		memset(page, 0, FR_PAGE_SZ);
		memcpy(page, data + at, sz - at < FR_PAGE_SZ ? sz - at : FR_PAGE_SZ);
		if (fr_carve_page(&c, at, page))
			abort();
	}
	fr_carved_sort(&c);
	check_found(&c);
	fr_carved_free(&c);
	free(page);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t sz)
{
	if (!sz)
		return 0;
	if (!input[0])
		name_files();
	if (data[0] == ELFMAG0)
		save(data, sz);
	else
		save_changed(data, sz);
	if (recover(NULL) == FR_EXIT_NO_SESSION)
		recover("small");
	carve(data, sz);
	return 0;
}
