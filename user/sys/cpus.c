/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sys/cpus.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/set/vec.h"

#define CPU_DIR "/sys/devices/system/cpu"

struct fr_cpus {
	u32 cnt;
	u32 *nr;
};

static int add_range(struct fr_cpus *c, u32 first, u32 last)
{
	if (last < first || last > 0xffff)
		return -EINVAL;
	for (; first <= last; first++) {
		if (!fr_vec_more(&c->nr, c->cnt))
			return -ENOMEM;
		c->nr[c->cnt++] = first;
	}
	return 0;
}

/* "0-3,5" */
static int cpus_parse_list(struct fr_cpus *c, const char *text)
{
	u32 first, last;
	int used, err = 0;

	while (!err && sscanf(text, "%u%n", &first, &used) == 1) {
		text += used;
		last = first;
		if (*text == '-' && sscanf(text + 1, "%u%n", &last, &used) == 1)
			text += 1 + used;
		err = add_range(c, first, last);
		if (*text == ',')
			text++;
	}
	return err ?: (c->cnt ? 0 : -EINVAL);
}

int fr_cpus_online(struct fr_cpus **out)
{
	struct fr_cpus *c = calloc(1, sizeof(*c));
	FILE *f = fopen(CPU_DIR "/online", "re");
	char line[4096];
	int err = !c ? -ENOMEM : f ? 0 : -errno;

	if (!err)
		err = fgets(line, sizeof(line), f) ? cpus_parse_list(c, line) : -ENODATA;
	if (f)
		fclose(f);
	if (err) {
		fr_err("cannot read which CPUs are online from %s: %s: %s", CPU_DIR "/online", strerror(-err),
		       fr_err_cure(err, "mount /sys"));
		fr_cpus_free(c);
		return err;
	}
	*out = c;
	return 0;
}

void fr_cpus_free(struct fr_cpus *c)
{
	if (!c)
		return;
	free(c->nr);
	free(c);
}

u32 fr_cpus_cnt(const struct fr_cpus *c)
{
	return c->cnt;
}

u32 fr_cpus_nr(const struct fr_cpus *c, u32 i)
{
	return c->nr[i];
}

int fr_cpus_node(u32 cpu)
{
	char path[64];
	struct dirent *e;
	int node = 0;
	DIR *d;

	snprintf(path, sizeof(path), CPU_DIR "/cpu%u", cpu);
	d = opendir(path);
	while (d && (e = readdir(d)))
		if (sscanf(e->d_name, "node%d", &node) == 1)
			break;
	if (d)
		closedir(d);
	return node;
}
