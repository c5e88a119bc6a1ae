/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * report_text_beside: other snapshots of the same boot and moment, in the same directory: one incident pulls several triggers,
 * and each file tells its own part. Names have times, so only those near this one are opened.
 */
#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text/escape.h"
#include "base/text/units.h"
#include "show/report/report_text.h"
#include "sys/dir.h"

#define SUFFIX	   ".flight"
#define NEAR_NS	   (10 * FR_SEC_NS)
#define OPENED_MAX 64u
#define SHOWN_MAX  5u

struct beside {
	char *name;
	char what[64], who[64];
	s64 after_ns; /* than this file's moment */
};

/* "-20260131T140211.500Z-" in a name, as recorders give them, in ns since 1970. */
static bool time_of_name(const char *name, s64 *real_ns)
{
	struct tm tm = {};
	unsigned int ms;
	const char *p;
	int end;

	for (p = strchr(name, '-'); p; p = strchr(p + 1, '-')) {
		end = 0;
		if (sscanf(p, "-%4d%2d%2dT%2d%2d%2d.%3uZ-%n", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &tm.tm_hour, &tm.tm_min,
			   &tm.tm_sec, &ms, &end) != 7 ||
		    !end)
			continue;
		tm.tm_year -= 1900;
		tm.tm_mon--;
		*real_ns = (s64)timegm(&tm) * (s64)FR_SEC_NS + ms * 1000000LL;
		return true;
	}
	return false;
}

static bool moment_of(const struct fr_snap *s, s64 *ts)
{
	return (fr_snap_fact_num(s, "trigger_ts", ts) && *ts) || (fr_snap_fact_num(s, "snapshot_ns", ts) && *ts);
}

static void beside_put_word(char *to, size_t sz, const char *text)
{
	snprintf(to, sz, "%s", text ?: "");
}

/* Is it of this boot, and near? Then *b has what it is of. */
static bool is_beside(const struct fr_report_page *p, const char *path, struct beside *b)
{
	const char *boot = fr_snap_fact(p->r->snap, "boot_id"), *other;
	struct fr_snap *s;
	s64 own, ts;
	int err = fr_snap_open(path, &s);
	bool is;

	if (err == -ENOMEM)
		fr_out_fail(p->o, err);
	if (err)
		return false;
	other = fr_snap_fact(s, "boot_id");
	is = boot && other && !strcmp(boot, other) && moment_of(p->r->snap, &own) && moment_of(s, &ts) &&
	     llabs(ts - own) <= (s64)NEAR_NS;
	if (is) {
		b->after_ns = ts - own;
		beside_put_word(b->what, sizeof(b->what), fr_snap_fact(s, "trigger_reason"));
		beside_put_word(b->who, sizeof(b->who), fr_snap_fact(s, "trigger_comm"));
	}
	fr_snap_close(s);
	return is;
}

static int beside_by_time(const void *a, const void *b)
{
	const struct beside *x = a, *y = b;

	return x->after_ns < y->after_ns ? -1 : x->after_ns > y->after_ns ? 1 : strcmp(x->name, y->name);
}

/* Those of the directory; the caller frees their names. */
static u32 beside_find_all(const struct fr_report_page *p, const char *dir_path, const char *own, struct beside *b)
{
	DIR *dir = opendir(dir_path);
	struct dirent *e;
	s64 own_ns, real_ns;
	u32 cnt = 0;
	int err = dir && time_of_name(own, &own_ns) ? 0 : -ENOENT;
	char *path;

	while (cnt < OPENED_MAX && (e = fr_dir_next(dir, &err))) {
		size_t len = strlen(e->d_name);

		if (len < sizeof(SUFFIX) || strcmp(e->d_name + len + 1 - sizeof(SUFFIX), SUFFIX) || !strcmp(e->d_name, own) ||
		    !time_of_name(e->d_name, &real_ns) || llabs(real_ns - own_ns) > 6 * (s64)NEAR_NS)
			continue;
		if (asprintf(&path, "%s/%s", dir_path, e->d_name) < 0) {
			fr_out_fail(p->o, -ENOMEM);
			break;
		}
		b[cnt].name = strdup(e->d_name);
		if (!b[cnt].name)
			fr_out_fail(p->o, -ENOMEM);
		else if (is_beside(p, path, &b[cnt]))
			cnt++;
		else
			free(b[cnt].name);
		free(path);
	}
	if (dir)
		closedir(dir);
	return cnt;
}

static void beside_put_one(struct fr_report_page *p, const struct beside *b, bool first)
{
	fr_report_label(p, first ? "beside" : "");
	fr_escape_text(p->o, b->name, strlen(b->name));
	fr_out_str(p->o, ": ");
	fr_escape_text(p->o, b->what[0] ? b->what : "no trigger", strlen(b->what[0] ? b->what : "no trigger"));
	if (b->who[0]) {
		fr_out_str(p->o, " of ");
		fr_escape_text(p->o, b->who, strlen(b->who));
	}
	fr_out_str(p->o, ", ");
	fr_report_duration(p->o, llabs(b->after_ns), 0);
	fr_out_str(p->o, b->after_ns < 0 ? " before\n" : " after\n");
}

void fr_report_put_beside(struct fr_report_page *p)
{
	struct beside *b = calloc(OPENED_MAX, sizeof(*b));
	char *dir = strdup(p->r->ask->path), *base = strdup(p->r->ask->path);
	u32 cnt = 0, i;

	if (b && dir && base)
		cnt = beside_find_all(p, dirname(dir), basename(base), b);
	else
		fr_out_fail(p->o, -ENOMEM);
	if (cnt)
		qsort(b, cnt, sizeof(*b), beside_by_time);
	for (i = 0; i < cnt && i < SHOWN_MAX; i++)
		beside_put_one(p, &b[i], !i);
	if (cnt > SHOWN_MAX) {
		fr_report_label(p, "");
		fr_out_printf(p->o, "and %u more within 10 s\n", cnt - SHOWN_MAX);
	}
	for (i = 0; i < cnt; i++)
		free(b[i].name);
	free(b);
	free(dir);
	free(base);
}
