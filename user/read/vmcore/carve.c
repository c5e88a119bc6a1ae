/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read/vmcore/carve_int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/set/vec.h"
#include "base/text/pages.h"

#define PID_MOST 4194304u /* the kernel's PID_MAX_LIMIT */

/* Kept at most: any process can fill memory with such, and kdump's kernel has little. */
#define TEXT_PAGE_MAX 16384u	 /* of 36 sessions with the largest texts and profiles: 64 MiB */
#define TASK_MAX      (1u << 19) /* of 16 sessions' full tables: 52 MiB */

int fr_carve_add(void *list, size_t *cnt, const void *item, size_t sz)
{
	void *more = fr_vec_more_of(list, *cnt, sz);

	if (!more)
		return -ENOMEM;
	memcpy(more, item, sz);
	++*cnt;
	return 0;
}

int fr_carve_add_of(struct fr_carved *c, size_t most, void *list, size_t *cnt, const void *item, size_t sz)
{
	if (*cnt < most)
		return fr_carve_add(list, cnt, item, sz);
	c->left_out_cnt++;
	return 0;
}

/* ---- pages ---- */

static int add_page(struct fr_carved *c, u64 place, const struct fr_page_head *h)
{
	const struct fr_carved_page page = {h->epoch, h->cpu, h->tier, h->page, h->seq, place};

	if (h->page >= FR_SUBBUF_PAGE_MAX || h->tier >= FR_TIER_CNT)
		return 0;
	return fr_carve_add(&c->page, &c->page_cnt, &page, sizeof(page));
}

static int add_slots(struct fr_carved *c, u64 place, const struct fr_slots *sl)
{
	const struct fr_carved_one one = {sl->epoch, sl->cpu, sl->tier, place};

	return fr_carve_add(&c->slots, &c->slots_cnt, &one, sizeof(one));
}

static int add_writer(struct fr_carved *c, u64 place, const struct fr_writer *wr)
{
	const struct fr_carved_one one = {wr->mark.epoch, wr->cpu, wr->tier, place};

	return fr_carve_add(&c->writer, &c->writer_cnt, &one, sizeof(one));
}

static int add_session(struct fr_carved *c, u64 place, const struct fr_session *sh)
{
	const struct fr_carved_one one = {.epoch = sh->mark.epoch, .place = place};

	return fr_carve_add(&c->session, &c->session_cnt, &one, sizeof(one));
}

static int carve_add_text(struct fr_carved *c, const struct fr_text_page *page)
{
	if (!fr_pages_is(page))
		return 0;
	return fr_carve_add_of(c, TEXT_PAGE_MAX, &c->text, &c->text_cnt, page, sizeof(*page));
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
	       !(t->flags & ~(FR_TASK_KTHREAD | FR_TASK_SEEDED)) && carve_is_name(t->comm) && is_first_name(t->first_comm);
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
		err = fr_carve_add_of(c, TASK_MAX, &c->task, &c->task_cnt, &got, sizeof(got));
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
	if (begin->magic == FR_TEXT_MAGIC || begin->magic == FR_PROFILE_MAGIC)
		return carve_add_text(c, page);
	if (writer->magic == FR_WRITER_MAGIC)
		return add_writer(c, place, page);
	if (session->magic == FR_SESSION_MAGIC)
		return add_session(c, place, page);
	if (!c->vmcoreinfo && is_vmcoreinfo(page))
		return (c->vmcoreinfo = strdup(page)) ? 0 : -ENOMEM;
	return fr_carve_incidents(c, page) ?: carve_add_tasks(c, page);
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
