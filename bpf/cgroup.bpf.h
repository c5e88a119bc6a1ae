/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cgroup: which cgroup a task is in, as one number.
 *
 * There may be two answers: where the controllers are those of cgroup v1, each has a hierarchy of its own beside that of v2, in
 * which then nobody may be. So a task's cgroup is the one of v2; if that is the root, the one of the memory controller's v1
 * hierarchy, with FR_CGROUP_MEMORY added; if that is a root, too, the root of v2. For a victim of the OOM killer it is the
 * other way round.
 */
#ifndef FR_CGROUP_BPF_H
#define FR_CGROUP_BPF_H

#include "session.h"

/* Is the memory controller in a hierarchy of v1? The loader sets it, so that other machines pay nothing. */
const volatile bool fr_cgroup_memory_is_v1 SEC(".rodata") __weak = false;

/* The cgroup of the task at this address in the memory controller's v1 hierarchy; its root, or none there: other. */
__weak __noinline u64 fr_cgroup_of_memory(u64 task, u64 other)
{
	const struct css_set *set = BPF_CORE_READ((struct task_struct *)task, cgroups);
	u64 at = (u64)set + bpf_core_field_offset(struct css_set, subsys), id;
	struct cgroup_subsys_state *css = NULL;
	const struct cgroup *cgroup;

	at += bpf_core_enum_value(enum cgroup_subsys_id, memory_cgrp_id) * sizeof(css);
	bpf_probe_read_kernel(&css, sizeof(css), (void *)at);
	cgroup = css ? BPF_CORE_READ(css, cgroup) : NULL;
	if (!cgroup || BPF_CORE_READ(cgroup, root) == BPF_CORE_READ(set, dfl_cgrp, root))
		return other;
	id = BPF_CORE_READ(cgroup, kn, id);
	return id == FR_CGROUP_ROOT_ID ? other : id | FR_CGROUP_MEMORY;
}

/* The cgroup of the task at this address, whose cgroup of v2 is v2_id. */
FR_INLINE u64 fr_cgroup_of(u64 task, u64 v2_id)
{
	return fr_cgroup_memory_is_v1 && v2_id == FR_CGROUP_ROOT_ID ? fr_cgroup_of_memory(task, v2_id) : v2_id;
}

FR_INLINE u64 fr_cgroup_of_task(struct task_struct *task)
{
	u64 v2_id = task->cgroups->dfl_cgrp->kn->id, address = (u64)task;

	if (fr_cgroup_memory_is_v1)
		FR_FORGET(address);
	return fr_cgroup_of(address, v2_id);
}

/* The cgroup of the task at this address, for want of whose memory it was killed; id: what fr_cgroup_of() gave. */
FR_INLINE u64 fr_cgroup_of_victim(u64 task, u64 id)
{
	return fr_cgroup_memory_is_v1 ? fr_cgroup_of_memory(task, id) : id;
}

#endif
