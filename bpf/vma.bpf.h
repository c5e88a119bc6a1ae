/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * vma: what the running process has mapped at an address, from the mm's maple tree, without a lock.
 *
 * The tree's nodes and mappings are freed only after a grace period, or (mappings before 6.4) reused as mappings only. What is
 * read is believed if the node is alive, and the mapping belongs to this mm and contains the address, checked last.
 */
#ifndef FR_VMA_BPF_H
#define FR_VMA_BPF_H

#include "record.bpf.h"

#define FR_MM_PAGE_SZ 4096u
#define FR_VM_READ    1u
#define FR_VM_WRITE   2u
#define FR_VM_EXEC    4u
#define FR_VM_SHARED  0x80u /* VM_MAYSHARE, which /proc/PID/maps shows as s */

/* lib/maple_tree.c, as of 54a611b60590 (6.1) */
#define FR_MAPLE_LEVELS	 8u
#define FR_MAPLE_MASK	 255ULL /* not part of a node's address: type and flags */
#define FR_MAPLE_LEAF	 1u
#define FR_MAPLE_RANGE	 2u
#define FR_MAPLE_ARANGE	 3u
#define FR_MAPLE_PIVOTS	 15u
#define FR_MAPLE_ARANGES 9u
#define FR_MAPLE_DEAD	 1ULL /* never an entry */

/* Is it a node, and not the only mapping? Nodes below do not have these bits. */
FR_INLINE bool fr_maple_is_root(u64 entry)
{
	return (entry & 3) == 2 && entry > FR_MM_PAGE_SZ;
}

FR_INLINE u32 fr_maple_type(u64 entry)
{
	return entry >> 3 & 15;
}

/* The entry of a node for an index; FR_MAPLE_DEAD: it is not a node, or no longer. */
__noinline u64 fr_maple_next(u64 entry, u64 index)
{
	u32 type = fr_maple_type(entry), cnt = type == FR_MAPLE_ARANGE ? FR_MAPLE_ARANGES : FR_MAPLE_PIVOTS, i;
	u64 node = entry & ~FR_MAPLE_MASK, pivot[FR_MAPLE_PIVOTS], *parent = pivot, next = 0, slots; /* 128 bytes of stack */

	if (!bpf_core_type_exists(struct maple_range_64) || type < FR_MAPLE_LEAF || type > FR_MAPLE_ARANGE)
		return FR_MAPLE_DEAD;
	/* both kinds have pivots at the same place; what follows those of the shorter one is not used */
	if (bpf_probe_read_kernel(pivot, sizeof(pivot), (void *)(node + bpf_core_field_offset(struct maple_range_64, pivot))))
		return FR_MAPLE_DEAD;
	for (i = 0; i < FR_MAPLE_PIVOTS; i++)
		if (i >= cnt || pivot[i] >= index || (i && !pivot[i]))
			break;
	slots = type == FR_MAPLE_ARANGE ? bpf_core_field_offset(struct maple_arange_64, slot)
					: bpf_core_field_offset(struct maple_range_64, slot);
	bpf_probe_read_kernel(&next, sizeof(next), (void *)(node + slots + i * sizeof(next)));
	*parent = node;
	bpf_probe_read_kernel(parent, sizeof(*parent), (void *)node); /* a dead node is its own parent */
	return (*parent & ~FR_MAPLE_MASK) == node ? FR_MAPLE_DEAD : next;
}

/* The address of the vm_area_struct there, 0 if nothing is mapped; FR_MAPLE_DEAD: it cannot be found. */
FR_INLINE u64 fr_vma_find(u64 addr)
{
	const struct task_struct *task = bpf_get_current_task_btf();
	const struct mm_struct *mm = task->mm;
	u32 level, is_leaf;
	u64 entry;

	if (!mm || !bpf_core_field_exists(mm->mm_mt))
		return FR_MAPLE_DEAD;
	entry = (u64)BPF_CORE_READ(mm, mm_mt.ma_root); /* as a number: newer verifiers know it as an address */
	if (!fr_maple_is_root(entry))
		return FR_MAPLE_DEAD;
	for (level = 0; level < FR_MAPLE_LEVELS && entry > FR_MAPLE_DEAD; level++) {
		is_leaf = fr_maple_type(entry) == FR_MAPLE_LEAF;
		entry = fr_maple_next(entry, addr);
		if (is_leaf)
			return entry & 3 ? FR_MAPLE_DEAD : entry;
	}
	return FR_MAPLE_DEAD;
}

/* The last index that has the same entry of a node; ~0: as far as the node goes. */
__noinline u64 fr_maple_last(u64 entry, u64 index)
{
	u32 type = fr_maple_type(entry), cnt = type == FR_MAPLE_ARANGE ? FR_MAPLE_ARANGES : FR_MAPLE_PIVOTS, i;
	u64 node = entry & ~FR_MAPLE_MASK, pivot[FR_MAPLE_PIVOTS];

	if (!bpf_core_type_exists(struct maple_range_64) ||
	    bpf_probe_read_kernel(pivot, sizeof(pivot), (void *)(node + bpf_core_field_offset(struct maple_range_64, pivot))))
		return ~0ULL;
	for (i = 0; i < FR_MAPLE_PIVOTS; i++) {
		if (i >= cnt || (i && !pivot[i]))
			break;
		if (pivot[i] >= index)
			return pivot[i];
	}
	return ~0ULL;
}

/* How far it goes on as at addr, where nothing is mapped; ~0: to the end, or it cannot be found. */
__noinline u64 fr_vma_gap_last(u64 addr)
{
	const struct task_struct *task = bpf_get_current_task_btf();
	const struct mm_struct *mm = task->mm;
	u64 entry, last = ~0ULL, here;
	u32 level, is_leaf;

	if (!mm || !bpf_core_field_exists(mm->mm_mt))
		return last;
	entry = (u64)BPF_CORE_READ(mm, mm_mt.ma_root);
	for (level = 0; level < FR_MAPLE_LEVELS && entry > FR_MAPLE_DEAD; level++) {
		is_leaf = fr_maple_type(entry) == FR_MAPLE_LEAF;
		here = fr_maple_last(entry, addr);
		last = here < last ? here : last;
		if (is_leaf)
			return last;
		entry = fr_maple_next(entry, addr);
	}
	return ~0ULL;
}

#endif
