/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * report_cgroup: paths of cgroups. Events and the table of tasks have only the ids of cgroups. The list of living processes has
 * each process's path, which is the path of its first thread's cgroup.
 */
#include <errno.h>

#include "show/report/report.h"

int fr_report_cgroups_read(struct fr_report *r)
{
	size_t cnt, i, sz;
	const struct fr_snap_task *t = fr_snap_tasks(r->snap, &cnt);
	const char *text = fr_snap_procs(r->snap, &sz);
	int err = 0;

	r->paths = fr_cgroups_new();
	if (!r->paths)
		return -ENOMEM;
	for (i = 0; i < cnt && !err; i++)
		err = fr_cgroups_add_task(r->paths, t[i].tid, t[i].start_ns, &t[i].task);
	return err || !text ? err : fr_cgroups_add_procs(r->paths, text, sz);
}

void fr_report_cgroups_free(struct fr_report *r)
{
	fr_cgroups_free(r->paths);
}

const char *fr_report_cgroup_path(const struct fr_report *r, u64 id)
{
	return r->paths ? fr_cgroups_path(r->paths, -1, 0, id) : NULL;
}
