/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read/elf/kbtf.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The prototype of a tracepoint as BPF sees it; NULL if the kernel lacks it. */
static const struct btf_type *proto(const struct btf *btf, const char *name)
{
	const struct btf_type *t;
	char typedef_name[128];
	s32 id;

	snprintf(typedef_name, sizeof(typedef_name), "btf_trace_%s", name);
	id = btf__find_by_name_kind(btf, typedef_name, BTF_KIND_TYPEDEF);
	if (id < 0)
		return NULL;
	t = btf__type_by_id(btf, id);
	t = t ? btf__type_by_id(btf, t->type) : NULL;
	t = t && btf_is_ptr(t) ? btf__type_by_id(btf, t->type) : NULL;
	return t && btf_is_func_proto(t) ? t : NULL;
}

bool fr_kbtf_has(const struct btf *btf, const char *tracepoint)
{
	return proto(btf, tracepoint) != NULL;
}

const char *fr_kbtf_tracepoint_of(const struct bpf_program *prog)
{
	const char *section = bpf_program__section_name(prog);

	return strncmp(section, "tp_btf/", 7) ? NULL : section + 7;
}

/* The type of a tracepoint's parameter nr as BPF sees it; 0 is the context. NULL: no such parameter or tracepoint. */
static const struct btf_type *param(const struct btf *btf, const char *tracepoint, u32 nr)
{
	const struct btf_type *p = proto(btf, tracepoint);

	return p && nr < btf_vlen(p) ? btf__type_by_id(btf, btf_params(p)[nr].type) : NULL;
}

bool fr_kbtf_victim_is_task(const struct btf *btf)
{
	const struct btf_type *victim = param(btf, "mark_victim", 1);

	return victim && btf_is_ptr(victim);
}

bool fr_kbtf_switch_tells_state(const struct btf *btf)
{
	return param(btf, "sched_switch", 4) != NULL;
}

bool fr_kbtf_block_error_is_status(const struct btf *btf)
{
	const struct btf_type *error = param(btf, "block_rq_complete", 2);

	return error && btf_is_typedef(error) && !strcmp(btf__name_by_offset(btf, error->name_off), "blk_status_t");
}

bool fr_kbtf_exit_has_mm(const struct btf *btf)
{
	return param(btf, "sched_process_exit", 2) != NULL;
}

void fr_kbtf_without_modules(struct bpf_object *obj)
{
	struct bpf_program *prog = bpf_object__next_program(obj, NULL);
	u32 id;

	if (prog && bpf_btf_get_next_id(0, &id) && errno == EPERM)
		bpf_program__set_attach_target(prog, 0, "fr_no_such_target"); /* fails, and changes nothing else */
}
