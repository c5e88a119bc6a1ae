/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* sess_tp: the tracepoints that a session records, and what became of their events that have no record. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live/session/load.h"
#include "live/session/sess_int.h"

static int tp_list(const struct fr_sess *s, struct fr_sess_tp **out, u32 *cnt)
{
	struct fr_sess_tp *list = calloc(FR_TP_MAX, sizeof(*list));
	struct fr_schema *schema = NULL;
	int err = list ? fr_schema_parse(s->schema, s->schema_sz, &schema) : -ENOMEM;
	const struct fr_event *ev;
	u32 n = 0;

	while (!err && n < FR_TP_MAX && (ev = fr_schema_event(schema, FR_TP_FIRST + n)))
		strcpy(list[n++].name, ev->name);
	fr_schema_free(schema);
	if (!n) {
		free(list);
		list = NULL;
	}
	*out = list;
	*cnt = n;
	return err;
}

/* The counters of all CPUs, in one array. */
static int tp_sum(int fd, struct fr_sess_tp *list, u32 cnt)
{
	u32 len = sizeof(struct bpf_map_info), cpu_cnt = fr_load_possible_cnt(), nr, cpu, why;
	struct bpf_map_info info = {};
	struct fr_tp_counts *each;
	int err = 0;

	if (bpf_obj_get_info_by_fd(fd, &info, &len))
		return -errno;
	if (info.type != BPF_MAP_TYPE_PERCPU_ARRAY || info.value_size != sizeof(*each) || info.max_entries < cnt)
		return -EPROTO;
	each = calloc(cpu_cnt, sizeof(*each));
	if (!each)
		return -ENOMEM;
	for (nr = 0; nr < cnt && !err; nr++) {
		err = bpf_map_lookup_elem(fd, &nr, each) ? -errno : 0;
		for (cpu = 0; cpu < cpu_cnt && !err; cpu++)
			for (why = 0; why < FR_TP_WHY_CNT; why++)
				list[nr].counts.cnt[why] += each[cpu].cnt[why];
	}
	free(each);
	return err;
}

int fr_sess_tps(const struct fr_sess *s, struct fr_sess_tp **out, u32 *cnt)
{
	int err = tp_list(s, out, cnt), fd;

	if (err || !*cnt)
		return err;
	fd = fr_sess_get_pin(s, "tp-counts");
	err = fd < 0 ? fd : tp_sum(fd, *out, *cnt);
	if (fd >= 0)
		close(fd);
	if (err) {
		free(*out);
		*out = NULL;
		*cnt = 0;
	}
	return err;
}
