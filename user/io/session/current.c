/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "io/session/current.h"

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

/* fr_current_offset() by the kernel's types alone. */
static s64 offset_by_types(const struct btf *btf)
{
	s64 rq = percpu_offset(btf, "runqueues"), task = percpu_offset(btf, "current_task");

	if (task < 0) /* 6.2 to 6.14: the first member of struct pcpu_hot */
		task = percpu_offset(btf, "pcpu_hot");
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
