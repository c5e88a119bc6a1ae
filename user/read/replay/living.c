/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read/replay/living.h"

#include <errno.h>

int fr_living_find(const struct fr_snap *s, struct fr_idmap *start_ns)
{
	size_t cnt, i;
	const struct fr_snap_task *t = fr_snap_tasks(s, &cnt);

	fr_idmap_init(start_ns, sizeof(u64));
	for (i = 0; i < cnt; i++) {
		u64 *ns;

		if (t[i].tid != t[i].task.tgid || t[i].task.exit_ns)
			continue;
		ns = fr_idmap_get(start_ns, t[i].tid);
		if (!ns)
			return -ENOMEM;
		*ns = t[i].start_ns > *ns ? t[i].start_ns : *ns;
	}
	return 0;
}
