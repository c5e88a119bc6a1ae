/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/session/current.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

/* The offset of a per-CPU variable in its section; -1: there is none of this name. */
static s64 percpu_offset(const struct btf *btf, const char *name)
{
	s32 id = btf__find_by_name_kind(btf, ".data..percpu", BTF_KIND_DATASEC);
	const struct btf_type *section = id > 0 ? btf__type_by_id(btf, id) : NULL, *var;
	const struct btf_var_secinfo *in;
	u32 i;

	for (i = 0; section && i < btf_vlen(section); i++) {
		in = &btf_var_secinfos(section)[i];
		var = btf__type_by_id(btf, in->type);
		if (var && !strcmp(btf__name_by_offset(btf, var->name_off), name))
			return in->offset;
	}
	return -1;
}

#define HOT "pcpu_hot" /* 6.2 to 6.14: a struct with the current task, its first member, the preempt count, and more */

/* The offset of a member in struct pcpu_hot, all of whose members are in unnamed ones; -1: there is none. */
static s64 hot_offset(const struct btf *btf, s32 id, const char *name)
{
	const struct btf_type *t = id > 0 ? btf__type_by_id(btf, id) : NULL;
	u32 i;

	for (i = 0; t && btf_is_composite(t) && i < btf_vlen(t); i++) {
		const struct btf_member *m = &btf_members(t)[i];
		const char *called = btf__name_by_offset(btf, m->name_off);
		s64 in;

		if (called && !strcmp(called, name))
			return btf_member_bit_offset(t, i) / 8;
		in = called && *called ? -1 : hot_offset(btf, m->type, name);
		if (in >= 0)
			return btf_member_bit_offset(t, i) / 8 + in;
	}
	return -1;
}

static s64 task_offset(const struct btf *btf)
{
	s64 task = percpu_offset(btf, "current_task");

	return task < 0 ? percpu_offset(btf, HOT) : task;
}

static s64 preempt_offset(const struct btf *btf)
{
	s64 cnt = percpu_offset(btf, "__preempt_count"), hot = percpu_offset(btf, HOT), in;

	if (cnt >= 0 || hot < 0)
		return cnt;
	in = hot_offset(btf, btf__find_by_name_kind(btf, HOT, BTF_KIND_STRUCT), "preempt_count");
	return in < 0 ? -1 : hot + in;
}

void fr_preempt_offsets(const struct btf *btf, s64 *task_off, s64 *preempt_off)
{
	s64 rq = percpu_offset(btf, "runqueues"), task = task_offset(btf), cnt = preempt_offset(btf);
	bool known = rq >= 0 && task >= 0 && cnt >= 0;

	*task_off = known ? task - rq : 0;
	*preempt_off = known ? cnt - rq : 0;
}

s64 fr_percpu_from_rq(const struct btf *btf, const char *name)
{
	s64 rq = percpu_offset(btf, "runqueues"), var = percpu_offset(btf, name);

	return rq >= 0 && var >= 0 ? var - rq : 0;
}

/* fr_current_offset() by the kernel's types alone. */
static s64 offset_by_types(const struct btf *btf)
{
	s64 rq = percpu_offset(btf, "runqueues"), task = task_offset(btf);

	if (rq < 0 || task < 0 || btf__find_by_name_kind(btf, "bpf_rdonly_cast", BTF_KIND_FUNC) < 0)
		return 0;
	return task - rq;
}

/* Does the verifier inline this helper? Then the program grows. */
static bool is_inlined(u32 helper)
{
	const struct bpf_insn insns[] = {
		{.code = BPF_JMP | BPF_CALL, .imm = helper},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	int fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "fr_inlined", "GPL", insns, 3, NULL);
	struct bpf_prog_info info = {};
	u32 len = sizeof(info);
	bool inlined;

	if (fd < 0)
		return false;
	inlined = !bpf_obj_get_info_by_fd(fd, &info, &len) && info.xlated_prog_len > sizeof(insns);
	close(fd);
	return inlined;
}

/* The CPU number is inlined since 6.10 (1ae6921009e5), if programs are JIT-compiled. */
s64 fr_current_offset(const struct btf *btf)
{
	if (!is_inlined(BPF_FUNC_get_smp_processor_id) || is_inlined(BPF_FUNC_get_current_task_btf))
		return 0;
	return offset_by_types(btf);
}

void fr_current_find_on(int prog_fd, u32 cpu)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .flags = BPF_F_TEST_RUN_ON_CPU, .cpu = cpu);

	bpf_prog_test_run_opts(prog_fd, &opts);
}
