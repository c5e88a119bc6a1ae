/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read/snapfile/snapfile_lists.h"

#include <errno.h>
#include <string.h>

#define ENTRY_MAX_SZ 4096u

static void task_to_entry(void *entry, const void *item)
{
	const struct fr_snap_task *t = item;
	struct fr_task_entry e = {
		.tid = t->tid,
		.tgid = t->task.tgid,
		.ppid = t->task.ppid,
		.flags = t->task.flags,
		.exit_code = t->task.exit_code,
		.start_ns = t->start_ns,
		.cgroup = t->task.cgroup,
		.exit_ns = t->task.exit_ns,
		.renamed_ns = t->task.renamed_ns,
	};

	memcpy(e.comm, t->task.comm, FR_COMM_SZ);
	memcpy(e.first_comm, t->task.first_comm, FR_COMM_SZ);
	memcpy(entry, &e, sizeof(e));
}

static void entry_to_task(void *item, const void *entry)
{
	struct fr_snap_task *t = item;
	struct fr_task_entry e;

	memcpy(&e, entry, sizeof(e));
	*t = (struct fr_snap_task){
		.tid = e.tid,
		.task = {.tgid = e.tgid,
			 .ppid = e.ppid,
			 .flags = e.flags,
			 .exit_code = e.exit_code,
			 .cgroup = e.cgroup,
			 .exit_ns = e.exit_ns,
			 .renamed_ns = e.renamed_ns},
		.start_ns = e.start_ns,
	};
	memcpy(t->task.comm, e.comm, FR_COMM_SZ);
	memcpy(t->task.first_comm, e.first_comm, FR_COMM_SZ);
	/* Users treat names as strings. */
	t->task.comm[FR_COMM_SZ - 1] = 0;
	t->task.first_comm[FR_COMM_SZ - 1] = 0;
}

static void ring_to_entry(void *entry, const void *item)
{
	const struct fr_snap_ring *r = item;
	struct fr_ring_entry e = {
		.cpu = r->cpu,
		.tier = r->tier,
		.slot_cnt = r->slot_cnt,
		.subbuf_sz = r->subbuf_sz,
		.holder = r->holder,
		.written = r->written,
		.overwritten = r->overwritten,
		.present = r->present,
		.horizon_ns = r->horizon_ns,
		.end_ns = r->end_ns,
		.first_seq = r->first_seq,
		.last_seq = r->last_seq,
		.ties = r->ties,
		.ahead = r->ahead,
		.losers = r->losers,
	};

	memcpy(e.lost, r->lost, sizeof(r->lost));
	memcpy(e.filtered, r->filtered, sizeof(r->filtered));
	memcpy(entry, &e, sizeof(e));
}

static void entry_to_ring(void *item, const void *entry)
{
	struct fr_snap_ring *r = item;
	struct fr_ring_entry e;

	memcpy(&e, entry, sizeof(e));
	*r = (struct fr_snap_ring){
		.cpu = e.cpu,
		.tier = e.tier,
		.slot_cnt = e.slot_cnt,
		.subbuf_sz = e.subbuf_sz,
		.holder = e.holder,
		.written = e.written,
		.overwritten = e.overwritten,
		.present = e.present,
		.horizon_ns = e.horizon_ns,
		.end_ns = e.end_ns,
		.first_seq = e.first_seq,
		.last_seq = e.last_seq,
		.ties = e.ties,
		.ahead = e.ahead,
		.losers = e.losers,
	};
	memcpy(r->lost, e.lost, sizeof(r->lost));
	memcpy(r->filtered, e.filtered, sizeof(r->filtered));
}

static void hole_to_entry(void *entry, const void *item)
{
	const struct fr_snap_hole *h = item;
	struct fr_hole_entry e = {
		.cpu = h->cpu,
		.tier = h->tier,
		.why = h->why,
		.first_seq = h->first_seq,
		.last_seq = h->last_seq,
		.since_ns = h->since_ns,
		.until_ns = h->until_ns,
	};

	memcpy(entry, &e, sizeof(e));
}

static void entry_to_hole(void *item, const void *entry)
{
	struct fr_snap_hole *h = item;
	struct fr_hole_entry e;

	memcpy(&e, entry, sizeof(e));
	*h = (struct fr_snap_hole){
		.cpu = e.cpu,
		.tier = e.tier,
		.why = e.why < FR_HOLE_CNT ? e.why : FR_HOLE_damaged, /* a later version's reason */
		.first_seq = e.first_seq,
		.last_seq = e.last_seq,
		.since_ns = e.since_ns,
		.until_ns = e.until_ns,
	};
}

static void clock_to_entry(void *entry, const void *item)
{
	const struct fr_snap_clock *c = item;
	struct fr_clock_entry e = {
		.ts = c->ts,
		.mono_ns = c->mono_ns,
		.boot_ns = c->boot_ns,
		.tai_ns = c->tai_ns,
		.real_ns = c->real_ns,
		.uncertainty_ns = c->uncertainty_ns,
	};

	memcpy(entry, &e, sizeof(e));
}

static void entry_to_clock(void *item, const void *entry)
{
	struct fr_snap_clock *c = item;
	struct fr_clock_entry e;

	memcpy(&e, entry, sizeof(e));
	*c = (struct fr_snap_clock){
		.ts = e.ts,
		.mono_ns = e.mono_ns,
		.boot_ns = e.boot_ns,
		.tai_ns = e.tai_ns,
		.real_ns = e.real_ns,
		.uncertainty_ns = e.uncertainty_ns,
	};
}

static void incident_to_entry(void *entry, const void *item)
{
	const struct fr_snap_incident *i = item;
	const struct fr_incident *r = &i->rec;
	struct fr_incident_entry e = {
		.seq = r->done - 1,
		.ts = r->ts,
		.addr = r->addr,
		.ip = r->ip,
		.value = r->value,
		.count = r->count,
		.cgroup = r->cgroup,
		.start_ns = r->start_ns,
		.kind = r->kind,
		.cpu = r->cpu,
		.pid = r->pid,
		.tid = r->tid,
		.uid = r->uid,
		.sig = r->sig,
		.code = r->code,
		.flags = r->flags,
		.epoch = i->epoch,
	};

	memcpy(e.comm, r->comm, sizeof(e.comm));
	memcpy(e.text, r->text, sizeof(e.text));
	memcpy(entry, &e, sizeof(e));
}

static void entry_to_incident(void *item, const void *entry)
{
	struct fr_snap_incident *i = item;
	struct fr_incident_entry e;

	memcpy(&e, entry, sizeof(e));
	*i = (struct fr_snap_incident){
		.epoch = e.epoch,
		.rec = {.done = e.seq + 1,
			.ts = e.ts,
			.addr = e.addr,
			.ip = e.ip,
			.value = e.value,
			.count = e.count,
			.cgroup = e.cgroup,
			.start_ns = e.start_ns,
			.kind = e.kind,
			.cpu = e.cpu,
			.pid = e.pid,
			.tid = e.tid,
			.uid = e.uid,
			.sig = e.sig,
			.code = e.code,
			.flags = e.flags},
	};
	memcpy(i->rec.comm, e.comm, sizeof(e.comm) - 1);
	memcpy(i->rec.text, e.text, sizeof(e.text) - 1);
}

static const struct fr_list_kind kinds[] = {
	{FR_CHUNK_TASKS, sizeof(struct fr_task_entry), sizeof(struct fr_snap_task), task_to_entry, entry_to_task},
	{FR_CHUNK_RINGS, sizeof(struct fr_ring_entry), sizeof(struct fr_snap_ring), ring_to_entry, entry_to_ring},
	{FR_CHUNK_HOLES, sizeof(struct fr_hole_entry), sizeof(struct fr_snap_hole), hole_to_entry, entry_to_hole},
	{FR_CHUNK_CLOCKS, sizeof(struct fr_clock_entry), sizeof(struct fr_snap_clock), clock_to_entry, entry_to_clock},
	{FR_CHUNK_INCIDENTS, sizeof(struct fr_incident_entry), sizeof(struct fr_snap_incident), incident_to_entry,
	 entry_to_incident},
};

const struct fr_list_kind *fr_list_kind(u32 kind)
{
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (kinds[i].kind == kind)
			return &kinds[i];
	return NULL;
}

int fr_list_check(const u8 *buf, size_t sz, size_t *cnt)
{
	struct fr_list_head head;

	if (sz < sizeof(head))
		return -EBADMSG;
	memcpy(&head, buf, sizeof(head));
	/* An entry holds at least its first word; a list of empty entries would have no defined meaning. */
	if (head.entry_sz < 8 || head.entry_sz > ENTRY_MAX_SZ || (u64)head.entry_sz * head.cnt != sz - sizeof(head))
		return -EBADMSG;
	*cnt = head.cnt;
	return 0;
}

void fr_list_items(const struct fr_list_kind *k, const u8 *buf, void *items)
{
	u8 entry[ENTRY_MAX_SZ] = {};
	struct fr_list_head head;
	u32 i, sz;

	memcpy(&head, buf, sizeof(head));
	sz = head.entry_sz < k->entry_sz ? head.entry_sz : k->entry_sz;
	for (i = 0; i < head.cnt; i++) {
		memcpy(entry, buf + sizeof(head) + (size_t)i * head.entry_sz, sz);
		k->to_item((char *)items + (size_t)i * k->struct_sz, entry);
	}
}
