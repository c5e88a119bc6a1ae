/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* recover_incidents: what the incident log of a session had when the kernel stopped, saved to the journal or not. */
#include <errno.h>
#include <stdlib.h>

#include "base/incident.h"
#include "base/schema/facts.h"
#include "live/snapshot/recover_int.h"

static int add_records(const struct fr_recover *r, struct fr_dump *d, const struct fr_carved_log *log, struct fr_meta *m)
{
	struct fr_snap_incident item;
	int err = 0;
	size_t i;

	for (i = 0; i < log->cnt && !err; i++) {
		item = (struct fr_snap_incident){.epoch = r->chosen->epoch, .rec = log->rec[i]};
		fr_incident_tidy(&item.rec);
		fr_incident_redact(&item.rec, d->secrets.words, &d->secrets.cnt);
		err = fr_vec_add(&m->incident, &item, 1);
	}
	return err;
}

static int incidents_put_counts(struct fr_dump *d, const struct fr_incident_head *head)
{
	u64 dropped = 0;
	u32 i;
	int err;

	for (i = 0; i < FR_INCIDENT_KIND_MAX; i++)
		dropped += head->drop[i];
	err = fr_snap_put_fact(d->w, "incidents_recorded", "%llu", head->next);
	return err ?: fr_snap_put_fact(d->w, "incidents_dropped", "%llu", dropped);
}

int fr_recover_find_incidents(struct fr_recover *r, struct fr_dump *d, struct fr_meta *m)
{
	struct fr_carved_log log;
	int err = fr_carved_incidents(&r->found, r->chosen->epoch, &log);

	if (err)
		return err;
	r->incident_missing_cnt = log.missing_cnt;
	r->log_missing = !log.head;
	err = add_records(r, d, &log, m);
	if (log.head)
		err = err ?: incidents_put_counts(d, log.head);
	free(log.rec);
	return err;
}
