/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* owner: who answers for a task, where users have shares. */
#ifndef FR_OWNER_BPF_H
#define FR_OWNER_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "types.h"

#define FR_USER_NS_DEEP 33u

/*
 * Its user, or, if another user than root made the user namespace that it lives in, that one: who may have many users there is
 * one all the same.
 */
FR_INLINE u32 fr_owner_of(const struct task_struct *task)
{
	struct user_namespace *ns = BPF_CORE_READ(task, cred, user_ns), *up;
	u32 uid = BPF_CORE_READ(task, cred, uid.val), owner = 0, i;

	for (i = 0; i < FR_USER_NS_DEEP; i++) {
		up = BPF_CORE_READ(ns, parent);
		if (!up)
			break;
		owner = BPF_CORE_READ(ns, owner.val);
		ns = up;
	}
	return owner ? owner : uid;
}

#endif
