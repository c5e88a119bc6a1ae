/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* recover_meta: everything in a recovered snapshot but its events. What only a living system tells is not in it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text/pages.h"
#include "live/snapshot/recover_int.h"

/* The last event that the dump has. */
static u64 recover_meta_end_of(const struct fr_dump *d)
{
	u64 end_ns = 0;
	size_t i;

	for (i = 0; i < d->src_cnt; i++)
		if (d->src[i].last_ns > end_ns)
			end_ns = d->src[i].last_ns;
	return end_ns;
}

static int recover_meta_find_tasks(const struct fr_recover *r, struct fr_meta *m)
{
	struct fr_snap_task *task;
	size_t cnt;
	int err = fr_carved_tasks(&r->found, r->chosen->epoch, &task, &cnt);

	if (!err)
		fr_vec_own(&m->task, task, cnt);
	return err;
}

static int recover_meta_find_clocks(const struct fr_recover *r, struct fr_meta *m, u64 end_ns)
{
	struct fr_snap_clock c[FR_DUMP_CLOCKS_MOST];

	return fr_vec_add(&m->clock, c, fr_dump_clocks(r->chosen->text, &r->chosen->shared, end_ns, c));
}

static bool recover_meta_has_page(const struct fr_recover *r, struct fr_mark mark)
{
	size_t i;

	for (i = 0; i < r->found.text_cnt; i++)
		if (r->found.text[i].mark.magic == mark.magic && r->found.text[i].mark.epoch == mark.epoch)
			return true;
	return false;
}

/*
 * The merged profile, malloc'ed, as its last reader had stored it; what CPUs have counted since then is not in it. Without a
 * page of it, there was none, or nobody had read it yet: *prof stays NULL. 0 or -errno.
 */
static int recover_meta_find_profile(struct fr_recover *r, struct fr_dump *d, struct fr_prof **prof)
{
	const struct fr_mark mark = {FR_PROFILE_MAGIC, r->chosen->epoch};
	size_t sz;
	u8 *bytes = fr_pages_get_as(r->found.text, r->found.text_cnt, mark, &sz);
	int err = bytes ? fr_prof_read(bytes, sz, prof) : 0;

	free(bytes);
	r->profile_missing = err == -EBADMSG || (!bytes && recover_meta_has_page(r, mark));
	if (*prof && d->addrs)
		fr_dump_add_profile_addrs(d->addrs, *prof);
	return err == -EBADMSG ? 0 : err;
}

/* The host's counters, as they were stored last; without a page of them, there were none. 0 or -ENOMEM. */
static int recover_meta_find_counters(struct fr_recover *r, struct fr_meta *m)
{
	const struct fr_mark mark = {FR_COUNTERS_MAGIC, r->chosen->epoch};
	size_t sz;
	u8 *bytes = fr_pages_get_as(r->found.text, r->found.text_cnt, mark, &sz);
	int err = bytes ? fr_counters_decode(&m->counters, bytes, sz) : 0;

	free(bytes);
	m->has_counters = !err && m->counters.point_cnt;
	r->counters_missing = err == -EBADMSG || (!bytes && recover_meta_has_page(r, mark));
	return err == -EBADMSG ? 0 : err;
}

/* "a,b": events that the governor had turned off */
static int recover_meta_put_held(const struct fr_recover *r, struct fr_dump *d)
{
	const struct fr_event *ev;
	char text[4096] = "";
	size_t len = 0;
	u32 nr;

	for (nr = 0; nr < FR_EVENT_MAX; nr++) {
		ev = fr_schema_event(d->schema, nr);
		if (ev && r->chosen->shared.enable[nr] & FR_ENABLE_HELD && len < sizeof(text))
			len += snprintf(text + len, sizeof(text) - len, "%s%s", len ? "," : "", ev->name);
	}
	return len ? fr_snap_put_fact(d->w, "events_held", "%s", text) : 0;
}

/* What was missing; of the log, the profile and the counters only if anything was. */
static int recover_meta_put_missing(const struct fr_recover *r, struct fr_dump *d)
{
	char log[64] = "";

	if (r->log_missing)
		snprintf(log, sizeof(log), ";logs=1");
	else if (r->incident_missing_cnt)
		snprintf(log, sizeof(log), ";incidents=%llu", r->incident_missing_cnt);
	return fr_snap_put_fact(d->w, "recovered", "pages=%llu;rings=%u%s%s%s", (r->missing_cnt + r->differ_cnt),
				r->headless_cnt, log, r->profile_missing ? ";profiles=1" : "",
				r->counters_missing ? ";counters=1" : "");
}

static int recover_meta_put_facts(const struct fr_recover *r, struct fr_dump *d, u64 end_ns)
{
	int err = fr_dump_put_facts(d, r->chosen->text);

	err = err ?: fr_snap_put_fact(d->w, "trigger_reason", "%s", d->ask->reason);
	err = err ?: fr_snap_put_fact(d->w, "trigger_ts", "%llu", end_ns);
	err = err ?: fr_snap_put_fact(d->w, "snapshot_ns", "%llu", end_ns);
	err = err ?: recover_meta_put_missing(r, d);
	err = err ?: recover_meta_put_held(r, d);
	if (err || !r->chosen->shared.mark.magic)
		return err;
	d->sample_taken = r->chosen->shared.sample_taken;
	err = fr_dump_put_thinned(d, r->chosen->text);
	return err ?: fr_dump_put_counts(d, &r->chosen->shared);
}

int fr_recover_put_meta(struct fr_recover *r, struct fr_dump *d)
{
	u64 end_ns = recover_meta_end_of(d);
	struct fr_prof *prof = NULL;
	struct fr_meta m;
	int err;

	fr_meta_init(&m);
	err = fr_dump_find_accounts(d, &m);
	err = err ?: recover_meta_find_tasks(r, &m);
	err = err ?: recover_meta_find_clocks(r, &m, end_ns);
	err = err ?: fr_recover_find_incidents(r, d, &m);
	err = err ?: recover_meta_find_profile(r, d, &prof);
	m.prof = prof;
	err = err ?: recover_meta_find_counters(r, &m);
	err = err ?: fr_meta_put(&m, d->w);
	err = err ?: fr_recover_put_kernel(r, d);
	err = err ?: recover_meta_put_facts(r, d, end_ns);
	err = err ?: fr_dump_put_redacted(d);
	fr_meta_free(&m);
	free(prof);
	return err;
}
