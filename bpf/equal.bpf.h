/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* equal: incidents that equal earlier ones are told together (flood.h). Included by incident.bpf.c alone. */
#ifndef FR_EQUAL_BPF_H
#define FR_EQUAL_BPF_H

#include "flood.bpf.h"

#define FR_EQUAL_MAX  512u
#define FR_IP_IN_PAGE 0xfffu

/* Not an LRU: what is pending must not get lost. If it is full, what would be equal has records of its own, within its share.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, FR_EQUAL_MAX);
	__type(key, struct fr_flood_of);
	__type(value, struct fr_equal);
} fr_incident_equal SEC(".maps");

/* Too large for the stack. */
const volatile u64 fr_equal_none[sizeof(struct fr_equal) / sizeof(u64)] SEC(".rodata") = {};

/* One record for all that are pending; none while there is no room; beyond the share they are squeezed out. */
__noinline u32 fr_equal_tell(struct fr_equal *e, const struct fr_flood_of *of)
{
	const struct fr_inc_log log = {.cnt = fr_incident_cnt};
	struct fr_incident_head *head = fr_incident_at(&log, 0);
	u64 nr, cnt, first_ns, *from, *to;
	struct fr_incident *inc;
	u32 cpu, i;

	if (!e || !of || !head || !fr_flood_has_room(fr_load(&head->next), fr_load(&head->saved), log.cnt))
		return 0;
	cnt = fr_series_take(&e->series, &first_ns);
	if (!cnt)
		return 0;
	if (!fr_flood_has_share(of->program, of->uid, 1))
		return fr_flood_squeeze(of, cnt, first_ns, e->series.pid);
	nr = fr_incident_open(of->kind);
	inc = fr_incident_of(nr);
	if (!inc) { /* filled meanwhile: one of them is counted */
		fr_count(&head->drop[of->kind % FR_INCIDENT_KIND_MAX], cnt - 1);
		return 0;
	}
	cpu = inc->cpu;
	from = (u64 *)&e->rec;
	to = (u64 *)inc;
	for (i = 2; i < FR_INCIDENT_WORDS; i++)
		fr_store(&to[i], from[i]);
	inc->start_ns = 0;
	inc->cpu = cpu;
	fr_flood_sum(inc, &e->series, cnt, first_ns);
	return fr_incident_close(nr);
}

/* Is it one of many, and has it been counted with them? */
__noinline u32 fr_equal_counted(const struct fr_flood_of *of, u32 pid)
{
	struct fr_flood_of key; /* an argument is no key before 6.2 (9ef40974a82a) */
	u64 now_ns = fr_now();
	struct fr_equal *e;
	u32 is;

	if (!of)
		return 0;
	key = *of;
	e = bpf_map_lookup_elem(&fr_incident_equal, &key);
	if (!e)
		return 0;
	if (fr_series_is_quiet(&e->series, now_ns))
		fr_equal_tell(e, of);
	is = fr_equal_add(e, now_ns, pid);
	if (is == FR_EQUAL_DUE)
		fr_equal_tell(e, of);
	return is != FR_EQUAL_ALONE;
}

/* It has a record: if it is the first, later ones are compared with it. */
__noinline u32 fr_equal_begin(const struct fr_flood_of *of, u64 nr)
{
	struct fr_incident *inc = fr_incident_of(nr);
	struct fr_flood_of key;
	struct fr_equal *e;
	u64 *from, *to;
	u32 i;

	if (!of || !inc)
		return 0;
	key = *of;
	if (bpf_map_update_elem(&fr_incident_equal, &key, (const void *)fr_equal_none, BPF_NOEXIST))
		return 0; /* it has been counted with the first; or there is no room */
	e = bpf_map_lookup_elem(&fr_incident_equal, &key);
	if (!e)
		return 0;
	fr_count(&e->seen, 1);
	e->series.last_ns = inc->ts;
	from = (u64 *)inc;
	to = (u64 *)&e->rec;
	for (i = 2; i < FR_INCIDENT_WORDS; i++)
		fr_store(&to[i], from[i]);
	return 0;
}

static long fr_equal_flush(void *map, struct fr_flood_of *key, struct fr_equal *e, void *ctx)
{
	struct fr_flood_of of = *key;

	fr_equal_tell(e, &of);
	if (fr_equal_ends(e, fr_now()))
		bpf_map_delete_elem(&fr_incident_equal, &of);
	return 0;
}

static long fr_squeezed_flush(void *map, struct fr_squeezed_key *key, struct fr_squeezed *q, void *ctx)
{
	struct fr_squeezed_key by = *key;

	fr_squeezed_tell(q, &by);
	return 0;
}

#endif
