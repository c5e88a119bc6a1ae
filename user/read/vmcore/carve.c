/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read/vmcore/carve.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/set/vec.h"
#include "base/text/pages.h"
#include "bits.h"

#define PID_MOST 4194304u /* the kernel's PID_MAX_LIMIT */

/* Kept at most: any process can fill memory with such, and kdump's kernel has little. */
#define TEXT_PAGE_MAX 16384u	 /* of 36 sessions with the largest texts and profiles: 64 MiB */
#define TASK_MAX      (1u << 19) /* of 16 sessions' full tables: 52 MiB */

/* Add an element to a list of fr_vec_more(). 0 or -ENOMEM. */
static int carve_add(void *list, size_t *cnt, const void *item, size_t sz)
{
	void *more = fr_vec_more_of(list, *cnt, sz);

	if (!more)
		return -ENOMEM;
	memcpy(more, item, sz);
	++*cnt;
	return 0;
}

/* The same for a list of so many at most: what is more is counted. */
static int carve_add_of(struct fr_carved *c, size_t most, void *list, size_t *cnt, const void *item, size_t sz)
{
	if (*cnt < most)
		return carve_add(list, cnt, item, sz);
	c->left_out_cnt++;
	return 0;
}

/* ---- pages ---- */

static int add_page(struct fr_carved *c, u64 place, const struct fr_page_head *h)
{
	const struct fr_carved_page page = {h->epoch, h->cpu, h->tier, h->page, h->seq, place};

	if (h->page >= FR_SUBBUF_PAGE_MAX || h->tier >= FR_TIER_CNT)
		return 0;
	return carve_add(&c->page, &c->page_cnt, &page, sizeof(page));
}

static int add_slots(struct fr_carved *c, u64 place, const struct fr_slots *sl)
{
	const struct fr_carved_one one = {sl->epoch, sl->cpu, sl->tier, place};

	return carve_add(&c->slots, &c->slots_cnt, &one, sizeof(one));
}

static int add_writer(struct fr_carved *c, u64 place, const struct fr_writer *wr)
{
	const struct fr_carved_one one = {wr->mark.epoch, wr->cpu, wr->tier, place};

	return carve_add(&c->writer, &c->writer_cnt, &one, sizeof(one));
}

static int add_session(struct fr_carved *c, u64 place, const struct fr_session *sh)
{
	const struct fr_carved_one one = {.epoch = sh->mark.epoch, .place = place};

	return carve_add(&c->session, &c->session_cnt, &one, sizeof(one));
}

static int carve_add_text(struct fr_carved *c, const struct fr_text_page *page)
{
	if (!fr_pages_is(page))
		return 0;
	return carve_add_of(c, TEXT_PAGE_MAX, &c->text, &c->text_cnt, page, sizeof(*page));
}

/* ---- incidents ---- */

/*
 * The log's head says whose it is, and so does each record (FR_INCIDENT_FLAGS); the record's number tells its place in the
 * page. A page that lies elsewhere in memory, or is missing, so makes no difference to the others.
 */

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

/* A page that may be the log's: keep what looks like its head, or a record. 0 or -ENOMEM. */
static int carve_incidents(struct fr_carved *c, const void *page)
{
	const struct fr_incident *rec = page;
	u32 i;
	int err = 0;

	if (is_head(page))
		err = carve_add_of(c, HEAD_MAX, &c->log, &c->log_cnt, page, sizeof(*c->log));
	for (i = 0; i < PAGE_RECORDS && !err; i++)
		if (is_record(&rec[i], i))
			err = carve_add_of(c, RECORD_MAX, &c->incident, &c->incident_cnt, &rec[i], sizeof(*rec));
	return err;
}

/* ---- tasks ---- */

/* An element of the table: the kernel puts a hash map's value right behind its key. */
struct element {
	struct fr_task_key key;
	struct fr_task task;
};

static bool carve_is_name(const char *comm)
{
	return memchr(comm, 0, FR_COMM_SZ);
}

/* It was written into zeros; a later one has behind its end what the kernel's buffer had. */
static bool is_first_name(const char *comm)
{
	static const char zero[FR_COMM_SZ];
	size_t len = strnlen(comm, FR_COMM_SZ);

	return len < FR_COMM_SZ && !memcmp(comm + len, zero, FR_COMM_SZ - len);
}

/* Any memory has small numbers: what passes is kept until all was looked at. Each task has a cgroup. */
static bool is_task(const struct element *e)
{
	const struct fr_task *t = &e->task;

	return e->key.epoch && t->tgid && t->tgid <= PID_MOST && t->ppid <= PID_MOST && t->cgroup &&
	       !(t->flags & ~FR_TASK_FLAGS) && carve_is_name(t->comm) && is_first_name(t->first_comm);
}

static int carve_add_tasks(struct fr_carved *c, const u8 *page)
{
	struct fr_carved_task got = {};
	struct element e;
	u32 tid;
	size_t at;
	int err = 0;

	for (at = 0; at + sizeof(e) <= FR_PAGE_SZ && !err; at += sizeof(u64)) {
		memcpy(&tid, page + at, sizeof(tid));
		if (tid - 1 >= PID_MOST)
			continue;
		memcpy(&e, page + at, sizeof(e));
		if (!is_task(&e))
			continue;
		got.epoch = e.key.epoch;
		got.task = (struct fr_snap_task){.tid = tid, .task = e.task, .start_ns = e.key.start_ns};
		err = carve_add_of(c, TASK_MAX, &c->task, &c->task_cnt, &got, sizeof(got));
	}
	return err;
}

static int carve_by_task(const void *a, const void *b)
{
	const struct fr_snap_task *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->task.exit_ns != y->task.exit_ns)
		return x->task.exit_ns < y->task.exit_ns ? -1 : 1;
	return x->task.renamed_ns < y->task.renamed_ns ? -1 : x->task.renamed_ns > y->task.renamed_ns;
}

int fr_carved_tasks(const struct fr_carved *c, u32 epoch, struct fr_snap_task **out, size_t *cnt)
{
	struct fr_snap_task *t = malloc((c->task_cnt + 1) * sizeof(*t));
	size_t i, n = 0, kept = 0;

	if (!t)
		return -ENOMEM;
	for (i = 0; i < c->task_cnt; i++)
		if (c->task[i].epoch == epoch)
			t[n++] = c->task[i].task;
	qsort(t, n, sizeof(*t), carve_by_task);
	for (i = 0; i < n; i++)
		if (i + 1 == n || t[i].tid != t[i + 1].tid || t[i].start_ns != t[i + 1].start_ns)
			t[kept++] = t[i];
	*out = t;
	*cnt = kept;
	return 0;
}

/* ---- all ---- */

/* A page that the kernel fills with lines, from its beginning (kernel/vmcore_info.c). */
static bool is_vmcoreinfo(const char *page)
{
	return !memcmp(page, "OSRELEASE=", 10) && memchr(page, 0, FR_PAGE_SZ) && strstr(page, "\nSYMBOL(_stext)=");
}

int fr_carve_page(void *arg, u64 place, const void *page)
{
	const struct fr_mark *begin = page, *writer = &((const struct fr_writer *)page)->mark,
			     *session = &((const struct fr_session *)page)->mark;
	struct fr_carved *c = arg;

	if (begin->magic == FR_PAGE_MAGIC)
		return add_page(c, place, page);
	if (begin->magic == FR_RING_MAGIC)
		return add_slots(c, place, page);
	if (begin->magic == FR_TEXT_MAGIC || begin->magic == FR_PROFILE_MAGIC || begin->magic == FR_COUNTERS_MAGIC)
		return carve_add_text(c, page);
	if (writer->magic == FR_WRITER_MAGIC)
		return add_writer(c, place, page);
	if (session->magic == FR_SESSION_MAGIC)
		return add_session(c, place, page);
	if (!c->vmcoreinfo && is_vmcoreinfo(page))
		return (c->vmcoreinfo = strdup(page)) ? 0 : -ENOMEM;
	return carve_incidents(c, page) ?: carve_add_tasks(c, page);
}

/* Without the place. */
static int carve_by_identity(const void *a, const void *b)
{
	const struct fr_carved_page *x = a, *y = b;

	if (x->epoch != y->epoch)
		return x->epoch < y->epoch ? -1 : 1;
	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	if (x->tier != y->tier)
		return x->tier < y->tier ? -1 : 1;
	if (x->seq != y->seq)
		return x->seq < y->seq ? -1 : 1;
	return (int)x->page - y->page;
}

static int carve_by_ring(const void *a, const void *b)
{
	const struct fr_carved_one *x = a, *y = b;

	if (x->epoch != y->epoch)
		return x->epoch < y->epoch ? -1 : 1;
	return x->cpu != y->cpu ? (int)x->cpu - y->cpu : (int)x->tier - y->tier;
}

static int by_ring_place(const void *a, const void *b)
{
	const struct fr_carved_one *x = a, *y = b;

	return carve_by_ring(a, b) ?: x->place < y->place ? -1 : x->place > y->place;
}

static void sort_ones(struct fr_carved_one *one, size_t cnt)
{
	if (cnt)
		qsort(one, cnt, sizeof(*one), by_ring_place);
}

void fr_carved_sort(struct fr_carved *c)
{
	sort_ones(c->writer, c->writer_cnt);
	sort_ones(c->slots, c->slots_cnt);
	sort_ones(c->session, c->session_cnt);
	if (c->page_cnt)
		qsort(c->page, c->page_cnt, sizeof(*c->page), carve_by_identity);
	fr_pages_sort(c->text, c->text_cnt);
}

const struct fr_carved_page *fr_carved_find(const struct fr_carved *c, const struct fr_carved_page *like, size_t *cnt)
{
	const struct fr_carved_page *end, *at, *first;

	at = c->page_cnt ? bsearch(like, c->page, c->page_cnt, sizeof(*at), carve_by_identity) : NULL;
	*cnt = 0;
	if (!at)
		return NULL;
	end = c->page + c->page_cnt;
	for (first = at; first > c->page && !carve_by_identity(first - 1, like); first--)
		;
	while (first + *cnt < end && !carve_by_identity(first + *cnt, like))
		++*cnt;
	return first;
}

const struct fr_carved_one *fr_carved_ones(const struct fr_carved_one *list, size_t list_cnt, const struct fr_carved_one *like,
					   size_t *cnt)
{
	size_t from = 0, end = list_cnt, mid;

	while (from < end) {
		mid = from + (end - from) / 2;
		if (carve_by_ring(&list[mid], like) < 0)
			from = mid + 1;
		else
			end = mid;
	}
	for (end = from; end < list_cnt && !carve_by_ring(&list[end], like); end++)
		;
	*cnt = end - from;
	return *cnt ? &list[from] : NULL;
}

void fr_carved_free(struct fr_carved *c)
{
	free(c->page);
	free(c->writer);
	free(c->slots);
	free(c->session);
	free(c->text);
	free(c->task);
	free(c->log);
	free(c->incident);
	free(c->vmcoreinfo);
}

/* ---- the incidents of one session ---- */

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
