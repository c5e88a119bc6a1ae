/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/trig/trig_watch.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "read/elf/kbtf.h"

#define PROGS  "fr_watch_progs"
#define TABLES "fr_watch_tables"

/* If the kernel has the event's tracepoint, load its program, which has the event's name. */
static bool want_event(struct bpf_object *obj, const struct btf *btf, u32 nr)
{
	const struct fr_event *ev = fr_schema_event(fr_schema_builtin(), nr);
	struct bpf_program *prog = ev ? bpf_object__find_program_by_name(obj, ev->name) : NULL;

	if (!prog || !fr_kbtf_has(btf, fr_kbtf_tracepoint_of(prog)))
		return false;
	bpf_program__set_autoload(prog, true);
	return true;
}

int fr_trig_watch_want(struct bpf_object *obj, const struct btf *btf, struct fr_watch_set *set, const struct fr_trigger *rule,
		       u32 nr, char *why, size_t why_sz)
{
	u32 before = set->prog_cnt, i;
	struct fr_filter_error error;
	struct utsname un;
	int err, cnt = 0;

	uname(&un);
	err = fr_watch_add(set, nr, rule->expr, un.machine, &error);
	if (err) {
		snprintf(why, why_sz, "%s", err == -ENOMEM ? "no memory" : error.text);
		return err == -ENOMEM ? err : -ENOTSUP;
	}
	for (i = before; i < set->prog_cnt; i++)
		cnt += want_event(obj, btf, set->prog[i].event);
	if (cnt)
		return cnt;
	snprintf(why, why_sz, "this kernel has no tracepoint for it");
	return -ENOTSUP;
}

int fr_trig_watch_size(struct bpf_object *obj, struct fr_watch_set *set)
{
	struct bpf_map *progs = bpf_object__find_map_by_name(obj, PROGS), *tables = bpf_object__find_map_by_name(obj, TABLES);
	int err;

	fr_watch_ready(set);
	if (!progs || !tables)
		return -ENOENT;
	err = bpf_map__set_max_entries(progs, set->prog_cnt ?: 1);
	return err ?: bpf_map__set_max_entries(tables, set->table_cnt ?: 1);
}

int fr_trig_watch_fill(struct bpf_object *obj, const struct fr_watch_set *set)
{
	int progs = bpf_object__find_map_fd_by_name(obj, PROGS), tables = bpf_object__find_map_fd_by_name(obj, TABLES);
	u32 i;

	for (i = 0; i < set->prog_cnt; i++)
		if (bpf_map_update_elem(progs, &i, &set->prog[i], BPF_ANY))
			return -errno;
	for (i = 0; i < set->table_cnt; i++)
		if (bpf_map_update_elem(tables, &i, &set->table[i], BPF_ANY))
			return -errno;
	return 0;
}
