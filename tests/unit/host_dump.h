/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * host_dump: memory of a kernel that recorded, page by page: rings of host_ring.h with their marks, and what else a session
 * keeps for crash dumps. A test changes pages as it likes; then they are written as a crash dump, in any order.
 */
#ifndef FR_HOST_DUMP_H
#define FR_HOST_DUMP_H

#include "base/text/pages.h"
#include "event_fields.h"
#include "host_core.h"
#include "host_ring.h"
#include "incident_layout.h"

struct host_page {
	u8 bytes[FR_PAGE_SZ];
};

struct host_dump {
	struct host_page *page;
	u32 cnt;
};

/* Zero at first, but for sz bytes of it. The page is where it is until the next one is added. */
__attribute__((unused)) static struct host_page *host_dump_page(struct host_dump *d, const void *bytes, size_t sz)
{
	struct host_page *p;

	if (!(d->cnt & (d->cnt - 1))) /* twice as many, for sanitizers move what grows each time */
		d->page = realloc(d->page, (d->cnt ? 2 * d->cnt : 1) * sizeof(*d->page));
	p = &d->page[d->cnt++];
	memset(p, 0, sizeof(*p));
	memcpy(p, bytes, sz);
	return p;
}

/* What user space writes into a new ring (live/ring/percpu.c). */
__attribute__((unused)) static void host_dump_mark_ring(struct host_ring *h)
{
	h->r.wr->mark = (struct fr_mark){FR_WRITER_MAGIC, h->r.epoch};
	h->r.wr->cpu = h->r.cpu;
	h->r.wr->tier = h->r.tier;
	h->r.sl->magic = FR_RING_MAGIC;
	h->r.sl->layout = FR_LAYOUT_VERSION;
	h->r.sl->epoch = h->r.epoch;
	h->r.sl->cpu = h->r.cpu;
	h->r.sl->tier = h->r.tier;
	h->r.sl->slot_cnt = h->r.slot_cnt;
	h->r.sl->subbuf_pages = h->r.subbuf_pages;
}

__attribute__((unused)) static void host_dump_ring(struct host_dump *d, struct host_ring *h)
{
	u32 nr, cnt = FR_DATA_PAGE + (h->r.slot_cnt + 1) * h->r.subbuf_pages;

	host_dump_mark_ring(h);
	for (nr = 0; nr < cnt; nr++)
		host_dump_page(d, fr_ring_page(&h->r, nr), FR_PAGE_SZ);
}

__attribute__((unused)) static struct fr_session *host_dump_session(struct host_dump *d, u32 epoch, bool records)
{
	struct fr_session sh = {.mark = {FR_SESSION_MAGIC, epoch}, .task_lost = 3};

	sh.enable[FR_EV_softirq_entry] = records;
	return (void *)host_dump_page(d, &sh, sizeof(sh));
}

/* Facts of a session of that name, and the schema of this version. */
__attribute__((unused)) static void host_dump_text(struct host_dump *d, u32 epoch, u64 made_ns, const char *name)
{
	size_t sz;
	char *schema = fr_schema_write(fr_schema_builtin(), &sz), *text = malloc(sz + 256);
	size_t facts = sprintf(text, "session=%s\nclock_mode=global\nhost=box\nbegin_clock=5 6 7 8 9 10\n", name) + 1;
	u32 cnt = fr_pages_cnt(facts + sz);
	struct fr_text_page *page = calloc(cnt, sizeof(*page));
	u32 i;

	memcpy(text + facts, schema, sz);
	fr_pages_put(page, epoch, made_ns, text, facts + sz);
	for (i = 0; i < cnt; i++)
		host_dump_page(d, &page[i], sizeof(page[i]));
	free(page);
	free(schema);
	free(text);
}

/* A page of the task table with tasks tid and tid + 1. */
__attribute__((unused)) static void host_dump_tasks(struct host_dump *d, u32 epoch, u32 tid)
{
	struct {
		u64 head[6];
		struct fr_task_key key;
		struct fr_task task;
	} e[2] = {
		{{~0ull}, {tid, epoch, 11}, {.tgid = tid, .ppid = 1, .cgroup = 1, .comm = "one", .first_comm = "one"}},
		{{~0ull}, {tid + 1, epoch, 12}, {.tgid = tid, .ppid = 1, .cgroup = 1, .comm = "two", .first_comm = "two"}},
	};

	host_dump_page(d, e, sizeof(e));
}

/* Record nr of the log: it has a text of its own. */
__attribute__((unused)) static struct fr_incident host_dump_incident(u32 epoch, u64 nr)
{
	struct fr_incident rec = {
		.done = nr + 1,
		.ts = 1000 + nr,
		.kind = FR_INCIDENT_kernel,
		.cpu = nr % 4,
		.count = 1,
		.uid = ~0u,
		.flags = fr_incident_mark(epoch) | nr % 2,
		.comm = "one",
	};

	snprintf(rec.text, sizeof(rec.text), "BUG: number %u", (u32)nr);
	return rec;
}

/* An incident log of cnt records, of which the first next numbers were claimed, and are there as far as there is room. */
__attribute__((unused)) static void host_dump_log(struct host_dump *d, u32 epoch, u32 cnt, u64 next)
{
	struct fr_incident *rec = calloc(cnt + 1 + FR_PAGE_SZ / FR_INCIDENT_SZ, sizeof(*rec));
	struct fr_incident_head *head = (void *)rec;
	u32 at;
	u64 nr;

	*head = (struct fr_incident_head){
		.magic = FR_INCIDENT_MAGIC, .cnt = cnt, .epoch = epoch, .next = next, .drop = {0, 2, 3}};
	for (nr = next > cnt ? next - cnt : 0; nr < next; nr++)
		rec[1 + nr % cnt] = host_dump_incident(epoch, nr);
	for (at = 0; at <= cnt; at += FR_PAGE_SZ / FR_INCIDENT_SZ)
		host_dump_page(d, &rec[at], FR_PAGE_SZ);
	free(rec);
}

/* All of a session but its rings. */
__attribute__((unused)) static void host_dump_rest(struct host_dump *d, u32 epoch, const char *name, bool records)
{
	host_dump_session(d, epoch, records);
	host_dump_text(d, epoch, 5, name);
	host_dump_tasks(d, epoch, 100);
	host_dump_log(d, epoch, FR_INCIDENT_CNT_MIN, 3);
}

/* Pages of nobody. */
__attribute__((unused)) static void host_dump_noise(struct host_dump *d, u32 cnt)
{
	u64 word[FR_PAGE_SZ / 8];
	u32 i;

	while (cnt--) {
		for (i = 0; i < FR_PAGE_SZ / 8; i++)
			word[i] = cnt % 3 ? host_random() : cnt % 2 ? host_random_number() : 0;
		host_dump_page(d, word, sizeof(word));
	}
}

__attribute__((unused)) static void host_dump_remove(struct host_dump *d, struct host_page *p)
{
	*p = d->page[--d->cnt];
}

__attribute__((unused)) static void host_dump_shuffle(struct host_dump *d)
{
	struct host_page was;
	u32 i, at;

	for (i = d->cnt; i > 1; i--) {
		at = host_random() % i;
		was = d->page[i - 1];
		d->page[i - 1] = d->page[at];
		d->page[at] = was;
	}
}

/* Write it, in a few segments that do not follow each other. 0, or -1. */
__attribute__((unused)) static int host_dump_save(const struct host_dump *d, const char *path)
{
	struct host_core c;
	u32 i, each = d->cnt / 5 + 1;
	int err;

	host_core_begin(&c);
	for (i = 0; i < d->cnt; i++) {
		if (i % each == 0)
			host_core_segment(&c, (u64)i * 3 * FR_PAGE_SZ);
		host_core_put(&c, &d->page[i], FR_PAGE_SZ);
	}
	err = host_core_save(&c, path);
	host_core_free(&c);
	return err;
}

#endif
