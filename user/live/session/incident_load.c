/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/session/incident_load.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "read/elf/kbtf.h"

bool fr_incident_is_prog(const struct bpf_program *prog)
{
	return !strncmp(bpf_program__name(prog), "fr_incident_", 12) && fr_kbtf_tracepoint_of(prog);
}

void fr_incident_choose(struct bpf_object *obj, const struct btf *btf, char *missing, size_t sz)
{
	struct bpf_program *prog;
	size_t len = 0;
	bool there;

	*missing = 0;
	bpf_object__for_each_program(prog, obj)
	{
		if (!fr_incident_is_prog(prog))
			continue;
		there = fr_kbtf_has(btf, fr_kbtf_tracepoint_of(prog));
		if (!there && len < sz)
			len += snprintf(missing + len, sz - len, "%s%s", len ? "," : "", fr_kbtf_tracepoint_of(prog));
		/* only where mark_victim provides no more than a pid */
		if (!strcmp(bpf_program__name(prog), "fr_incident_oom_signal") && fr_kbtf_victim_is_task(btf))
			there = false;
		bpf_program__set_autoload(prog, there);
	}
}

int fr_incident_init(int map_fd, u32 cnt, u32 epoch)
{
	const struct fr_incident_head head = {.magic = FR_INCIDENT_MAGIC, .cnt = cnt, .epoch = epoch};
	u32 zero = 0;

	return bpf_map_update_elem(map_fd, &zero, &head, BPF_ANY) ? -errno : 0;
}
