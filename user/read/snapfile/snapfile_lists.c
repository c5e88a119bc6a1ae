/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read/snapfile/snapfile_lists.h"

#include <errno.h>
#include <string.h>

#define ENTRY_MAX_SZ 4096u

/* clang-format off */
#define TASK(NUMBER, ARRAY, NAME, TEXT, OTHER) \
	NUMBER(tid, tid) NUMBER(tgid, task.tgid) NUMBER(ppid, task.ppid) NUMBER(flags, task.flags) NUMBER(exit_code, task.exit_code) \
	NUMBER(start_ns, start_ns) NUMBER(cgroup, task.cgroup) NUMBER(exit_ns, task.exit_ns) NUMBER(renamed_ns, task.renamed_ns) \
	NAME(comm, task.comm) NAME(first_comm, task.first_comm)
FR_ENTRY(task, fr_task_entry, fr_snap_task, TASK)

#define RING(NUMBER, ARRAY, NAME, TEXT, OTHER) \
	NUMBER(cpu, cpu) NUMBER(tier, tier) NUMBER(slot_cnt, slot_cnt) NUMBER(subbuf_sz, subbuf_sz) NUMBER(holder, holder) \
	NUMBER(written, written) NUMBER(overwritten, overwritten) NUMBER(present, present) NUMBER(horizon_ns, horizon_ns) \
	NUMBER(end_ns, end_ns) NUMBER(first_seq, first_seq) NUMBER(last_seq, last_seq) NUMBER(ties, ties) NUMBER(ahead, ahead) \
	NUMBER(losers, losers) ARRAY(lost, lost) ARRAY(filtered, filtered)
FR_ENTRY(ring, fr_ring_entry, fr_snap_ring, RING)

#define HOLE(NUMBER, ARRAY, NAME, TEXT, OTHER) \
	NUMBER(cpu, cpu) NUMBER(tier, tier) \
	OTHER(e.why = i->why, i->why = e.why < FR_HOLE_CNT ? e.why : FR_HOLE_damaged) /* a later version's reason */ \
	NUMBER(first_seq, first_seq) NUMBER(last_seq, last_seq) NUMBER(since_ns, since_ns) NUMBER(until_ns, until_ns)
FR_ENTRY(hole, fr_hole_entry, fr_snap_hole, HOLE)

#define CLOCK(NUMBER, ARRAY, NAME, TEXT, OTHER) \
	NUMBER(ts, ts) NUMBER(mono_ns, mono_ns) NUMBER(boot_ns, boot_ns) NUMBER(tai_ns, tai_ns) NUMBER(real_ns, real_ns) \
	NUMBER(uncertainty_ns, uncertainty_ns)
FR_ENTRY(clock, fr_clock_entry, fr_snap_clock, CLOCK)

#define INCIDENT(NUMBER, ARRAY, NAME, TEXT, OTHER) \
	OTHER(e.seq = i->rec.done - 1, i->rec.done = e.seq + 1) \
	NUMBER(ts, rec.ts) NUMBER(addr, rec.addr) NUMBER(ip, rec.ip) NUMBER(value, rec.value) NUMBER(count, rec.count) \
	NUMBER(cgroup, rec.cgroup) NUMBER(start_ns, rec.start_ns) NUMBER(kind, rec.kind) NUMBER(cpu, rec.cpu) NUMBER(pid, rec.pid) \
	NUMBER(tid, rec.tid) NUMBER(uid, rec.uid) NUMBER(sig, rec.sig) NUMBER(code, rec.code) NUMBER(flags, rec.flags) \
	NAME(comm, rec.comm) NAME(text, rec.text) NUMBER(epoch, epoch)
FR_ENTRY(incident, fr_incident_entry, fr_snap_incident, INCIDENT)

#define KIND(chunk, noun) {FR_CHUNK_##chunk, sizeof(struct fr_##noun##_entry), sizeof(struct fr_snap_##noun), noun##_to_entry, noun##_to_item}
/* clang-format on */

static const struct fr_list_kind kinds[] = {
	KIND(TASKS, task), KIND(RINGS, ring), KIND(HOLES, hole), KIND(CLOCKS, clock), KIND(INCIDENTS, incident),
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
		k->to_item((char *)items + (size_t)i * k->struct_sz, entry, NULL);
	}
}
