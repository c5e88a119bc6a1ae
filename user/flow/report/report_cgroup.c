/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * report_cgroup: paths of cgroups. Events and the table of tasks know their ids; the list of living processes knows the path of
 * each process, and so that of the cgroup its first thread is in.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "flow/report/report.h"
#include "pure/text/jsonr.h"

struct leader {
	u64 pid;
	u64 cgroup;
};

struct path {
	u64 cgroup;
	char *text;
};

static int list_leaders(const struct fr_snap *s, struct fr_tally *leaders)
{
	size_t cnt, i;
	const struct fr_snap_task *t = fr_snap_tasks(s, &cnt);

	for (i = 0; i < cnt; i++) {
		struct leader *l;

		if (t[i].tid != t[i].task.tgid || t[i].task.exit_ns || !t[i].task.cgroup)
			continue;
		l = fr_tally_get(leaders, t[i].tid);
		if (!l)
			return -ENOMEM;
		l->cgroup = t[i].task.cgroup;
	}
	return 0;
}

static int keep(struct fr_report *r, u64 cgroup, const char *text)
{
	struct path *p = fr_tally_get(&r->cgroups, cgroup);

	if (p && !p->text)
		p->text = strdup(text);
	return p && p->text ? 0 : -ENOMEM;
}

/* A line that is not as it should be tells nothing. */
static int take_line(struct fr_report *r, const struct fr_tally *leaders, const char *line, size_t sz)
{
	struct fr_jsonr j;
	const struct leader *l;
	const char *path, *why;
	int err = fr_jsonr_parse(line, sz, &j, &why);

	if (err)
		return err == -ENOMEM ? err : 0;
	l = fr_tally_find(leaders, fr_jsonr_u64(&j, "pid", 0));
	path = fr_jsonr_text(&j, "cgroup", NULL);
	if (l && path)
		err = keep(r, l->cgroup, path);
	fr_jsonr_free(&j);
	return err;
}

static int take_lines(struct fr_report *r, const struct fr_tally *leaders)
{
	size_t sz, len;
	const char *at = fr_snap_procs(r->snap, &sz), *end = at ? at + sz : NULL;
	int err = 0;

	for (; at && at < end && !err; at += len + 1) {
		const char *newline = memchr(at, '\n', end - at);

		len = (newline ?: end) - at;
		err = take_line(r, leaders, at, len);
	}
	return err;
}

int fr_report_cgroups_read(struct fr_report *r)
{
	struct fr_tally leaders = {.rec_sz = sizeof(struct leader)};
	int err = list_leaders(r->snap, &leaders);

	r->cgroups.rec_sz = sizeof(struct path);
	err = err ?: take_lines(r, &leaders);
	fr_tally_free(&leaders);
	return err;
}

void fr_report_cgroups_free(struct fr_report *r)
{
	u32 i;

	for (i = 0; i < r->cgroups.cnt; i++)
		free(((struct path *)fr_tally_at(&r->cgroups, i))->text);
	fr_tally_free(&r->cgroups);
}

const char *fr_report_cgroup_path(const struct fr_report *r, u64 id)
{
	const struct path *p = id ? fr_tally_find(&r->cgroups, id) : NULL;

	return p ? p->text : NULL;
}
