/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shares of the incident log (flood.h), for all programs that report incidents of tasks.
 *
 *	if (!fr_flood_admits_task(FR_INCIDENT_hung, FR_ADDRESS(task)))
 *		return;						it has been counted
 *	nr = fr_incident_open(FR_INCIDENT_hung);
 */
#ifndef FR_FLOOD_BPF_H
#define FR_FLOOD_BPF_H

#include "flood.h"
#include "owner.bpf.h"
#include "record.bpf.h"

#define FR_SHARE_MAX 1024u
#define FR_NAMES_MAX 8u /* of a user, under which its incidents are squeezed out; those of others are told together */

/* Whose incident it is, and what: all of it makes two incidents equal. */
struct fr_flood_of {
	u64 program; /* inode and device, 0: none, or not known any more */
	char comm[FR_COMM_SZ];
	u32 uid, kind;
	u32 sig;
	s32 code;
	u32 place; /* the instruction's offset in its page */
	u32 pad;
};

_Static_assert(sizeof(struct fr_flood_of) == FR_FLOOD_OF_SZ, "the key of a map that user space walks");

struct fr_share_key {
	u64 program; /* 0: all of the user */
	u64 uid;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, FR_SHARE_MAX);
	__type(key, struct fr_share_key);
	__type(value, struct fr_share);
} fr_incident_share SEC(".maps") __weak;

/* Not an LRU: what is counted must not get lost. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, FR_SQUEEZED_MAX);
	__type(key, struct fr_squeezed_key);
	__type(value, struct fr_squeezed);
} fr_incident_squeezed SEC(".maps") __weak;

FR_INLINE void fr_flood_whose(struct task_struct *task, struct fr_flood_of *of)
{
	struct inode *inode = BPF_CORE_READ(task, mm, exe_file, f_inode);

	of->uid = fr_owner_of(task);
	if (inode)
		of->program = BPF_CORE_READ(inode, i_ino) ^ (u64)BPF_CORE_READ(inode, i_sb, s_dev) << 44;
	bpf_probe_read_kernel_str(of->comm, sizeof(of->comm), task->comm);
}

FR_INLINE struct fr_share *fr_flood_share(u64 program, u32 uid)
{
	const struct fr_share_key key = {.program = program, .uid = uid};
	struct fr_share *s = bpf_map_lookup_elem(&fr_incident_share, &key);
	const struct fr_share first = {.from_ns = bpf_ktime_get_ns()};

	if (s)
		return s;
	bpf_map_update_elem(&fr_incident_share, &key, &first, BPF_NOEXIST);
	return bpf_map_lookup_elem(&fr_incident_share, &key);
}

FR_INLINE bool fr_flood_shares(u64 program, u32 uid, u32 is_sum, const struct fr_incident_head *head)
{
	u64 share = fr_share_of(fr_incident_cnt, program ? FR_SHARE_PROGRAM : FR_SHARE_USER);
	struct fr_share *s = fr_flood_share(program, uid);

	return !s ||
	       fr_share_take(s, fr_share_most(share, is_sum), bpf_ktime_get_ns(), fr_load(&head->next), fr_load(&head->saved));
}

__weak __noinline u32 fr_flood_has_share(u64 program, u32 uid, u32 is_sum)
{
	const struct fr_inc_log log = {.cnt = fr_incident_cnt};
	const struct fr_incident_head *head = fr_incident_at(&log, 0);

	if (!head || !log.cnt)
		return 0;
	return (!program || fr_flood_shares(program, uid, is_sum, head)) && (!uid || fr_flood_shares(0, uid, is_sum, head));
}

/* Its entry, made if there is room. */
FR_INLINE struct fr_squeezed *fr_flood_entry(const struct fr_squeezed_key *key)
{
	struct fr_squeezed *q = bpf_map_lookup_elem(&fr_incident_squeezed, key), none = {};

	if (q)
		return q;
	bpf_map_update_elem(&fr_incident_squeezed, key, &none, BPF_NOEXIST);
	return bpf_map_lookup_elem(&fr_incident_squeezed, key);
}

/* By user and name; a user with many names, by user; where there are too many of those, together. */
FR_INLINE struct fr_squeezed *fr_flood_by(struct fr_squeezed_key *key)
{
	struct fr_squeezed *q = bpf_map_lookup_elem(&fr_incident_squeezed, key);
	struct fr_share *user;

	if (q)
		return q;
	user = fr_flood_share(0, key->uid);
	if (user && fr_add(&user->names, 1) < FR_NAMES_MAX)
		q = fr_flood_entry(key);
	if (q)
		return q;
	__builtin_memset(key->comm, 0, sizeof(key->comm));
	q = fr_flood_entry(key);
	if (q)
		return q;
	key->uid = FR_SQUEEZED_ANY;
	return fr_flood_entry(key);
}

/* One record for all that are pending. */
__weak __noinline u32 fr_squeezed_tell(struct fr_squeezed *q, const struct fr_squeezed_key *key)
{
	const struct fr_inc_log log = {.cnt = fr_incident_cnt};
	struct fr_incident_head *head = fr_incident_at(&log, 0);
	struct fr_incident *inc;
	u64 nr, cnt, first_ns;

	if (!q || !key || !head || !fr_flood_has_room(fr_load(&head->next), fr_load(&head->saved), log.cnt))
		return 0;
	cnt = fr_series_take(&q->series, &first_ns);
	if (!cnt)
		return 0;
	nr = fr_incident_open(FR_INCIDENT_squeezed);
	inc = fr_incident_of(nr);
	if (!inc) { /* filled meanwhile: one of them is counted */
		fr_count(&head->drop[FR_INCIDENT_squeezed], cnt - 1);
		return 0;
	}
	fr_flood_sum(inc, &q->series, cnt, first_ns);
	inc->code = key->kind;
	inc->uid = key->uid;
	__builtin_memcpy(inc->comm, key->comm, sizeof(inc->comm));
	return fr_incident_close(nr);
}

/* cnt of them are beyond their share. */
__weak __noinline u32 fr_flood_squeeze(const struct fr_flood_of *of, u64 cnt, u64 first_ns, u32 pid)
{
	struct fr_squeezed_key key = {};
	struct fr_squeezed *q;
	u64 now_ns = fr_now();

	if (!of)
		return 0;
	key.uid = of->uid;
	key.kind = of->kind;
	__builtin_memcpy(key.comm, of->comm, sizeof(key.comm));
	q = fr_flood_by(&key);
	if (!q)
		return 0;
	fr_count(&q->cnt, cnt);
	fr_series_add(&q->series, cnt, first_ns ? first_ns : now_ns, now_ns, pid);
	return fr_series_is_due(&q->series, now_ns) ? fr_squeezed_tell(q, &key) : 0;
}

/* May it have a record? If not, it is counted. */
__weak __noinline u32 fr_flood_admits(const struct fr_flood_of *of, u32 pid)
{
	if (!of)
		return 0;
	if (fr_flood_has_share(of->program, of->uid, 0))
		return 1;
	fr_flood_squeeze(of, 1, 0, pid);
	return 0;
}

/* The same for a task, without looking for equal ones. address: of a task_struct. */
__weak __noinline u32 fr_flood_admits_task(u32 kind, u64 address)
{
	struct task_struct *task = (void *)address;
	struct fr_flood_of of = {.kind = kind};

	fr_flood_whose(task, &of);
	return fr_flood_admits(&of, BPF_CORE_READ(task, tgid));
}

#endif
