/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/snapshot/recover.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/schema/facts.h"
#include "base/text/units.h"
#include "live/snapshot/recover_int.h"
#include "sys/now.h"

/* ---- the dump's pages ---- */

static int search(struct fr_recover *r)
{
	struct fr_progress bar;
	int err = fr_vmcore_open(r->ask->vmcore, &r->core);

	if (err)
		return err == -ENOEXEC || err == -EBADMSG ? FR_EXIT_CORRUPT : FR_EXIT_FAIL;
	fr_progress_begin(&bar, "searching");
	err = fr_vmcore_walk(r->core, fr_carve_page, &r->found, &r->unreadable_cnt, &bar);
	fr_progress_end(&bar);
	fr_carved_sort(&r->found);
	if (r->found.left_out_cnt)
		fr_warn("%llu tasks, incidents or parts of descriptions in the crash dump are left out: they are more than "
			"sessions have, so a process has filled its memory with such",
			r->found.left_out_cnt);
	if (err)
		fr_err_errno(err, "cannot search %s", r->ask->vmcore);
	return err ? FR_EXIT_FAIL : FR_EXIT_OK;
}

/* ---- writing ---- */

/* One whose slot words make no sense is left out. */
static int recover_open_rings(struct fr_recover *r, struct fr_dump *d)
{
	size_t i;

	d->src = calloc(r->ring_cnt + 1, sizeof(*d->src));
	d->turn = calloc(r->ring_cnt + 1, sizeof(*d->turn));
	if (!d->src || !d->turn)
		return -ENOMEM;
	for (i = 0; i < r->ring_cnt; i++) {
		if (fr_ring_read_open(&d->src[d->src_cnt].reader, &r->ring[i], NULL, NULL)) {
			r->headless_cnt++;
			continue;
		}
		d->src[d->src_cnt].map = &r->ring[i];
		d->src[d->src_cnt++].acct.horizon_ns = r->ring[i].sl->since_ns;
	}
	return 0;
}

static int recover_prepare(struct fr_recover *r, struct fr_dump *d)
{
	const char *schema = r->chosen->text + strlen(r->chosen->text) + 1;
	int err = fr_recover_rings(r);

	err = err ?: fr_schema_parse(schema, strlen(schema), &d->schema);
	err = err ?: recover_open_rings(r, d);
	err = err ?: d->src_cnt ? fr_dump_take_memory(d) : -ENODATA;
	if (err == -ENODATA)
		fr_err("none of the rings of session '%s' is whole in %s", r->chosen->name, r->ask->vmcore);
	else if (err)
		fr_err_errno(err, "cannot recover session '%s'", r->chosen->name);
	return err;
}

static int recover_create(struct fr_dump *d)
{
	int err = fr_snap_create(d->ask->path, fr_snap_writer_sz(d->jobs), d->jobs, &d->w);

	if (err == -EEXIST)
		fr_err("cannot write snapshot %s: it exists, and is never replaced: give another name with -o", d->ask->path);
	return err;
}

static int recover_write_file(struct fr_recover *r, struct fr_dump *d)
{
	int err = fr_snap_put_schema(d->w, d->schema);

	fr_progress_begin(&d->bar, "snapshot");
	err = err ?: fr_dump_put_events(d);
	err = err ?: fr_recover_put_meta(r, d);
	err = err ?: fr_dump_finish(d);
	fr_progress_end(&d->bar);
	if (err)
		fr_err_errno(err, "cannot write snapshot %s", d->ask->path);
	return err;
}

/* ---- what is said ---- */

static bool recover_warn(u64 cnt, const char *noun, const char *rest)
{
	if (cnt)
		fr_warn("%llu %s%s %s", cnt, noun, fr_plural(cnt), rest);
	return cnt;
}

/* Is something missing? */
static bool recover_say_missing(const struct fr_recover *r)
{
	bool missing = r->found.left_out_cnt;

	missing |= recover_warn(r->unreadable_cnt, "page", "of the crash dump cannot be read: is it whole?");
	missing |= recover_warn(fr_vmcore_unread_cnt(r->core), "page",
				"of the crash dump could not be read again: Input/output error: copy the dump");
	missing |= recover_warn(r->headless_cnt, "ring", "missing in the crash dump");
	missing |= recover_warn(r->missing_cnt, "page", "of rings missing in the crash dump: `flightrec info` shows the holes");
	missing |= recover_warn(r->differ_cnt, "page", "left out: in the crash dump twice, and different");
	missing |= recover_warn(r->incident_missing_cnt, "incident",
				"missing in the crash dump, or being written when the kernel stopped");
	if (r->log_missing)
		fr_warn("the head of the incident log is not in the crash dump: how many incidents are missing is not known");
	if (r->profile_missing)
		fr_warn("the profile is not whole in the crash dump: it is left out");
	if (r->counters_missing)
		fr_warn("the host's counters are not whole in the crash dump: they are left out");
	missing |= r->log_missing || r->profile_missing || r->counters_missing;
	return missing;
}

static int recover(struct fr_recover *r)
{
	const struct fr_dump_ask ask = {.path = r->ask->path, .reason = "panic"};
	struct fr_dump_done done = {};
	struct fr_dump d = {.ask = &ask, .done = &done, .peeking = PTHREAD_MUTEX_INITIALIZER};
	int err;

	d.begun_ns = fr_now_ns(CLOCK_MONOTONIC);
	d.secrets.words = fr_facts_get(r->chosen->text, "redact");
	snprintf(done.path, sizeof(done.path), "%s", ask.path);
	err = recover_prepare(r, &d) ?: recover_create(&d) ?: recover_write_file(r, &d);
	fr_dump_free(&d);
	if (err)
		return FR_EXIT_FAIL;
	fr_dump_say(&done);
	return recover_say_missing(r) ? FR_EXIT_CORRUPT : FR_EXIT_OK;
}

int fr_recover(const struct fr_recover_ask *ask)
{
	struct fr_recover r = {.ask = ask};
	int status = search(&r);

	if (status == FR_EXIT_OK)
		status = fr_recover_choose(&r);
	if (status == FR_EXIT_OK)
		status = recover(&r);
	fr_recover_free_rings(&r);
	fr_recover_free_sess(&r);
	fr_carved_free(&r.found);
	fr_vmcore_close(r.core);
	return status;
}
