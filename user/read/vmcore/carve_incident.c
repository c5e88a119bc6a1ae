/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * carve_incident: the incident log in a crash dump. Its head says whose it is, and so does each record (FR_INCIDENT_FLAGS); the
 * record's number tells its place in the page. A page that lies elsewhere in memory, or is missing, so makes no difference to
 * the others.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bits.h"
#include "read/vmcore/carve_int.h"

#define PAGE_RECORDS (FR_PAGE_SZ / FR_INCIDENT_SZ)
#define RECORD_MAX   (4 * FR_INCIDENT_CNT_MAX) /* of the largest logs of four sessions: any process may fill memory with such */
#define HEAD_MAX     1024u

_Static_assert(PAGE_RECORDS % FR_INCIDENT_CNT_MIN == 0, "element 1 + seq % N of the log: so seq tells where in the page it is");

static bool is_record(const struct fr_incident *rec, u32 place)
{
	return rec->done && rec->done % FR_INCIDENT_CNT_MIN == place % FR_INCIDENT_CNT_MIN && rec->kind &&
	       rec->kind < FR_INCIDENT_KIND_MAX && rec->cpu < FR_CPU_MAX && rec->flags & ~FR_INCIDENT_FLAGS &&
	       memchr(rec->comm, 0, sizeof(rec->comm)) && memchr(rec->text, 0, sizeof(rec->text));
}

static bool is_head(const struct fr_incident_head *h)
{
	return h->magic == FR_INCIDENT_MAGIC && h->cnt >= FR_INCIDENT_CNT_MIN && h->cnt <= FR_INCIDENT_CNT_MAX &&
	       !(h->cnt & (h->cnt - 1)) && h->saved <= h->next;
}

int fr_carve_incidents(struct fr_carved *c, const void *page)
{
	const struct fr_incident *rec = page;
	u32 i;
	int err = 0;

	if (is_head(page))
		err = fr_carve_add_of(c, HEAD_MAX, &c->log, &c->log_cnt, page, sizeof(*c->log));
	for (i = 0; i < PAGE_RECORDS && !err; i++)
		if (is_record(&rec[i], i))
			err = fr_carve_add_of(c, RECORD_MAX, &c->incident, &c->incident_cnt, &rec[i], sizeof(*rec));
	return err;
}

/* ---- one session's ---- */

static int incident_by_number(const void *a, const void *b)
{
	const struct fr_incident *x = a, *y = b;

	if (x->done != y->done)
		return x->done < y->done ? -1 : 1;
	return memcmp(x, y, sizeof(*x));
}

/* Leave one of those with a number; none if they differ. Returns how many are left. */
static size_t unique(struct fr_incident *rec, size_t cnt)
{
	size_t i, end, kept = 0;

	for (i = 0; i < cnt; i = end) {
		for (end = i + 1; end < cnt && rec[end].done == rec[i].done; end++)
			;
		if (!memcmp(&rec[i], &rec[end - 1], sizeof(*rec)))
			rec[kept++] = rec[i];
	}
	return kept;
}

/* The log's first record, if it has none that is missing. */
static u64 first_of(const struct fr_incident_head *h)
{
	return h->next > h->cnt ? h->next - h->cnt : 0;
}

/* Where records of this number or a later one begin. */
static size_t incident_find(const struct fr_incident *rec, size_t cnt, u64 seq)
{
	size_t from = 0, mid;

	while (from < cnt) {
		mid = from + (cnt - from) / 2;
		if (rec[mid].done - 1 < seq)
			from = mid + 1;
		else
			cnt = mid;
	}
	return from;
}

/* How many are in the log by what this head says, and the first: what has an older number there is being written over. */
static size_t inside(const struct fr_incident_head *h, const struct fr_incident *rec, size_t cnt, size_t *first)
{
	*first = incident_find(rec, cnt, first_of(h));
	return incident_find(rec, cnt, h->next) - *first;
}

/* The head that most records fit: the kernel's buffer for the one that user space put into the new log may be there, too. */
static const struct fr_incident_head *incident_find_head(const struct fr_carved *c, u32 epoch, const struct fr_incident *rec,
							 size_t cnt)
{
	const struct fr_incident_head *h, *best = NULL;
	size_t fit, best_fit = 0, i, first;

	for (i = 0; i < c->log_cnt; i++) {
		h = &c->log[i];
		fit = h->epoch == epoch ? inside(h, rec, cnt, &first) : 0;
		if (h->epoch == epoch && (!best || fit > best_fit)) {
			best = h;
			best_fit = fit;
		}
	}
	return best;
}

int fr_carved_incidents(const struct fr_carved *c, u32 epoch, struct fr_carved_log *out)
{
	size_t i, n = 0, first;

	*out = (struct fr_carved_log){.rec = malloc((c->incident_cnt + 1) * sizeof(*out->rec))};
	if (!out->rec)
		return -ENOMEM;
	for (i = 0; i < c->incident_cnt; i++)
		if ((c->incident[i].flags & ~FR_INCIDENT_FLAGS) == fr_incident_mark(epoch))
			out->rec[n++] = c->incident[i];
	qsort(out->rec, n, sizeof(*out->rec), incident_by_number);
	out->cnt = unique(out->rec, n);
	out->head = incident_find_head(c, epoch, out->rec, out->cnt);
	if (!out->head)
		return 0;
	out->cnt = inside(out->head, out->rec, out->cnt, &first);
	memmove(out->rec, out->rec + first, out->cnt * sizeof(*out->rec));
	out->missing_cnt = out->head->next - first_of(out->head) - out->cnt;
	return 0;
}
