/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* dump_task: the task that a snapshot is about, as its alert tells it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/schema/facts.h"
#include "live/snapshot/dump_int.h"

/* A number among the facts about the trigger; 0: there is none. */
static u64 trigger_num(const struct fr_dump_ask *ask, const char *name)
{
	char *text = ask->facts ? fr_facts_get(ask->facts, name) : NULL;
	u64 num = text ? strtoull(text, NULL, 10) : 0;

	free(text);
	return num;
}

bool fr_dump_lacks_task(const struct fr_dump_ask *ask, u64 trigger_ts, const struct fr_snap_task *task, size_t cnt,
			struct fr_snap_task *out)
{
	const u64 tid = trigger_num(ask, "trigger_tid");
	bool is_death = ask->sig || trigger_num(ask, "trigger_status");
	size_t i;

	*out = (struct fr_snap_task){.tid = tid, .start_ns = trigger_num(ask, "trigger_start_ns")};
	if (!ask->comm || !tid || !out->start_ns)
		return false;
	for (i = 0; i < cnt; i++)
		if (task[i].tid == out->tid && task[i].start_ns == out->start_ns)
			return false;
	out->task.tgid = ask->pid;
	out->task.cgroup = trigger_num(ask, "trigger_cgroup_id");
	out->task.exit_ns = is_death ? trigger_ts : 0;
	snprintf(out->task.comm, sizeof(out->task.comm), "%s", ask->comm);
	memcpy(out->task.first_comm, out->task.comm, sizeof(out->task.first_comm));
	return true;
}
