/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/snapshot/dump_addrs.h"

#include <stdlib.h>
#include <string.h>

#include "base/rows/rows.h"

static void add_addr(struct fr_addrs *a, u64 addr)
{
	u32 i = (addr * 0x9e3779b97f4a7c15ULL) >> 40;

	for (;; i++) {
		u64 *slot = &a->addr[i % FR_ADDRS_CNT];

		if (*slot == addr)
			return;
		if (*slot)
			continue;
		if (a->addr_cnt >= FR_ADDRS_CNT / 4 * 3) {
			a->dropped++;
			return;
		}
		a->addr_cnt++;
		*slot = addr;
		return;
	}
}

static u32 tid_slot(const struct fr_addrs *a, u32 tid)
{
	u32 i = tid * 0x9e3779b1u >> 8;

	while (a->tid[i % FR_TIDS_CNT] && a->tid[i % FR_TIDS_CNT] != tid)
		i++;
	return i % FR_TIDS_CNT;
}

void fr_addrs_add_tid(struct fr_addrs *a, u32 tid)
{
	u32 slot = tid_slot(a, tid);

	if (!tid || a->tid[slot] == tid)
		return;
	if (a->tid_cnt >= FR_TIDS_CNT / 4 * 3) {
		a->dropped++;
		return;
	}
	a->tid_cnt++;
	a->tid[slot] = tid;
}

bool fr_addrs_has_tid(const struct fr_addrs *a, u32 tid)
{
	return tid && a->tid[tid_slot(a, tid)] == tid;
}

void fr_addrs_add(struct fr_addrs *a, u64 addr, u32 tid)
{
	if (!addr)
		return;
	add_addr(a, addr);
	if (!fr_addr_is_kernel(addr))
		fr_addrs_add_tid(a, tid);
}

/* An event's u64 field, or its array of u64; ev is NULL if the session's schema has none. */
struct source {
	const struct fr_event *ev;
	const struct fr_field *f;
};

static struct source addrs_source(const struct fr_schema *schema, const char *event, const char *field, enum fr_type type)
{
	struct source s = {.ev = fr_schema_find(schema, event)};

	s.f = s.ev ? fr_event_field(s.ev, field) : NULL;
	if (!s.f || s.f->kind != FR_KIND_FIELD || s.f->type != type)
		s.ev = NULL;
	return s;
}

static u64 addrs_num(const u8 *rec, const struct source *s)
{
	u64 v;

	memcpy(&v, rec + s->f->off, sizeof(v));
	return v;
}

static void add_frames(struct fr_addrs *a, const u8 *rec, const struct source *s, u32 tid)
{
	u32 sz = fr_head_units(fr_get64(rec)) * FR_UNIT_SZ, off;
	u64 v;

	for (off = s->f->off; off + sizeof(v) <= sz; off += sizeof(v)) {
		memcpy(&v, rec + off, sizeof(v));
		fr_addrs_add(a, v, tid);
	}
}

/* An event with an address and a user stack of its task. */
struct moment {
	struct source ip, ustack;
	u32 nr; /* 0: the schema has no such event */
};

static struct moment moment(const struct fr_schema *schema, const char *event)
{
	struct moment m = {
		.ip = addrs_source(schema, event, "ip", FR_TYPE_u64),
		.ustack = addrs_source(schema, event, "ustack_id", FR_TYPE_u64),
	};

	m.nr = m.ip.ev && m.ustack.ev ? m.ip.ev->nr : 0;
	return m;
}

static void add_moment(struct fr_addrs *a, const u8 *rec, const struct moment *m, u32 tid)
{
	fr_addrs_add(a, addrs_num(rec, &m->ip), tid);
	if (addrs_num(rec, &m->ustack))
		fr_addrs_add_tid(a, tid);
}

void fr_addrs_rows(struct fr_addrs *a, const struct fr_rows *r, u32 from, u32 to)
{
	const struct source stack = addrs_source(r->schema, "stack", "frames", FR_TYPE_u64s);
	const struct moment sample = moment(r->schema, "cpu_sample"), crash = moment(r->schema, "crash"),
			    failure = moment(r->schema, "failure");
	u32 stack_nr = stack.ev ? stack.ev->nr : 0, i;

	for (i = from; i < to; i++) {
		const u8 *rec = r->raw + r->rec[i];

		if (r->ev[i] == stack_nr)
			add_frames(a, rec, &stack, r->tid[i]);
		else if (r->ev[i] == sample.nr)
			add_moment(a, rec, &sample, r->tid[i]);
		else if (r->ev[i] == crash.nr)
			add_moment(a, rec, &crash, r->tid[i]);
		else if (r->ev[i] == failure.nr)
			add_moment(a, rec, &failure, r->tid[i]);
	}
}

static int ascending(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

void fr_addrs_sort(struct fr_addrs *a)
{
	u32 i, n = 0;

	for (i = 0; i < FR_ADDRS_CNT; i++)
		if (a->addr[i])
			a->addr[n++] = a->addr[i];
	qsort(a->addr, n, sizeof(*a->addr), ascending);
	a->kernel_at = fr_addrs_from(a, 1ULL << 63);
}

u32 fr_addrs_from(const struct fr_addrs *a, u64 addr)
{
	u32 lo = 0, hi = a->addr_cnt;

	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2;

		if (a->addr[mid] < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}
