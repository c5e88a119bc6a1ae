/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* sess_wait: what became of long waits, summed over the CPUs. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live/session/load.h"
#include "live/session/sess_int.h"

/* Each CPU's value of pin "waits" begins with its counts (bpf/wait.bpf.h). */
static int wait_sum(int fd, struct fr_wait_counts *out)
{
	struct bpf_map_info info = {};
	u32 len = sizeof(info), cpu_cnt = fr_load_possible_cnt(), zero = 0, cpu, i;
	struct fr_wait_counts one;
	char *all;

	if (bpf_obj_get_info_by_fd(fd, &info, &len))
		return -errno;
	if (info.type != BPF_MAP_TYPE_PERCPU_ARRAY || info.value_size < sizeof(one) || info.value_size % sizeof(u64))
		return -EPROTO;
	all = calloc(cpu_cnt, info.value_size);
	if (!all)
		return -ENOMEM;
	if (bpf_map_lookup_elem(fd, &zero, all)) {
		free(all);
		return -errno;
	}
	for (cpu = 0; cpu < cpu_cnt; cpu++) {
		memcpy(&one, all + (size_t)cpu * info.value_size, sizeof(one));
		for (i = 0; i < sizeof(one) / sizeof(u64); i++)
			((u64 *)out)[i] += ((u64 *)&one)[i];
	}
	free(all);
	return 0;
}

int fr_sess_waits(const struct fr_sess *s, struct fr_wait_counts *out)
{
	int fd = fr_sess_get_pin(s, "waits"), err;

	memset(out, 0, sizeof(*out));
	if (fd < 0)
		return fd;
	err = wait_sum(fd, out);
	close(fd);
	return err;
}
