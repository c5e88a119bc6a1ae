/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * recognise_oom: what the kernel logged of its choice: of whose memory, and who had most of it.
 *
 *	memory: usage 204800kB, limit 204800kB, failcnt 19		of a cgroup only
 *	Tasks state (memory values in pages):
 *	[  pid  ]   uid  tgid total_vm      rss rss_anon ... name
 *	[  24566]     0 24566    62082    52406    51072 ... session-store
 *	oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),...,oom_memcg=/shop,task_memcg=/shop/a,task=srv,pid=24566,uid=0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/kmsg.h"
#include "base/text/units.h"
#include "read/verdict/verdict_int.h"

#define NEAR_NS	  (10 * FR_SEC_NS) /* from the choice's event to its line, whose time may be off */
#define TABLE	  "Tasks state (memory values in pages)"
#define CHOICE	  "oom-kill:constraint="
#define OF_CGROUP "CONSTRAINT_MEMCG,"
#define OF_HOST	  "CONSTRAINT_NONE,"
#define MEMCG	  ",oom_memcg="
#define MEMCG_END ",task_memcg="
#define LIMIT	  "memory: usage "
#define BACK_MOST 20000u /* lines: the table has one for each process */

/* Others than the kernel write to its log, too. */
static bool is_kernels(const struct fr_snap_klog *l)
{
	return !l->facility && !(l->flags & FR_KMSG_PART);
}

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* The line of this choice; *cnt: lines before it. NULL: there is none, or several, or the process has another number there. */
static const struct fr_snap_klog *choice_of(const struct fr_case *k, const struct fr_clue_victim *v, size_t *before)
{
	const struct fr_snap_klog *found = NULL, *l;
	size_t cnt, i;
	char pid[32];

	snprintf(pid, sizeof(pid), ",pid=%d,", fr_clues_pid(k->c, v->tid, v->ts));
	l = fr_snap_klog(k->c->snap, &cnt);
	for (i = 0; i < cnt; i++) {
		if (!is_kernels(&l[i]) || !begins(l[i].text, CHOICE) || !strstr(l[i].text, pid) ||
		    (l[i].ts > v->ts ? l[i].ts - v->ts : v->ts - l[i].ts) > NEAR_NS)
			continue;
		if (found)
			return NULL;
		found = &l[i];
		*before = i;
	}
	return found;
}

/* "cgroup /x", whose limit the lines before tell, "the host"; "": another constraint. */
static const char *choice_whose(struct fr_case *k, const struct fr_snap_klog *choice, size_t before)
{
	const char *of = choice->text + strlen(CHOICE), *from = strstr(of, MEMCG), *to = from ? strstr(from, MEMCG_END) : NULL;
	unsigned long long used_kib, limit_kib;
	size_t back;
	char limit[32];

	if (begins(of, OF_HOST))
		return "the host";
	if (!begins(of, OF_CGROUP) || !to)
		return "";
	from += strlen(MEMCG);
	for (back = 1; back <= before && back < BACK_MOST; back++) {
		const struct fr_snap_klog *l = choice - back;

		if (!is_kernels(l))
			continue;
		if (sscanf(l->text, LIMIT "%llukB, limit %llukB,", &used_kib, &limit_kib) == 2 && limit_kib < 1ull << 52)
			return fr_word(k, "cgroup %s, whose limit is %s", fr_word_text(k, from, to - from),
				       fr_show_size(limit_kib << 10, limit, sizeof(limit)));
		if (begins(l->text, CHOICE)) /* of another choice */
			break;
	}
	return fr_word(k, "cgroup %s", fr_word_text(k, from, to - from));
}

/* A process of the table. */
struct oom_task {
	s32 pid;
	u64 rss_pages;
	const char *name;
};

static bool table_line(const struct fr_snap_klog *l, struct oom_task *out)
{
	unsigned long long rss;
	int at = 0, pid;

	if (sscanf(l->text, "[%*d] %*u %d %*u %llu %n", &pid, &rss, &at) != 2 || !at || pid <= 0)
		return false;
	at = strlen(l->text);
	while (at && l->text[at - 1] != ' ') /* its name may have spaces: then it is cut */
		at--;
	*out = (struct oom_task){.pid = pid, .rss_pages = rss, .name = l->text + at};
	return true;
}

/* Of those in the table, the one with most memory, if that is known of all; *cnt: so many. */
static bool table_top(const struct fr_snap_klog *choice, size_t before, struct oom_task *top, u32 *cnt)
{
	struct oom_task t;
	size_t back;

	*top = (struct oom_task){0};
	*cnt = 0;
	for (back = 1; back <= before && back < BACK_MOST; back++) {
		const struct fr_snap_klog *l = choice - back;

		if (!is_kernels(l) || (choice->seq - l->seq) != back) /* a line is missing */
			return false;
		if (begins(l->text, TABLE))
			return *cnt;
		if (!table_line(l, &t)) {
			if (strstr(l->text, "total_vm"))
				continue;
			return false;
		}
		++*cnt;
		if (t.rss_pages > top->rss_pages)
			*top = t;
	}
	return false;
}

/* "; ..., 150 MiB": the table has pages, whose size the file tells of some machines only */
static const char *table_size(struct fr_case *k, u64 pages)
{
	char size[32];

	if (!k->c->arch || strcmp(k->c->arch, "x86_64"))
		return fr_word(k, "%s pages", fr_word_cnt(k, pages));
	return fr_word(k, "%s", fr_show_size(pages << 12, size, sizeof(size)));
}

const char *fr_word_oom_logged(struct fr_case *k, const struct fr_clue_victim *v, const char **whose)
{
	size_t before = 0;
	const struct fr_snap_klog *choice = choice_of(k, v, &before);
	struct oom_task top;
	u32 cnt;

	*whose = choice ? choice_whose(k, choice, before) : "";
	if (!choice || !table_top(choice, before, &top, &cnt) || cnt < 2)
		return "";
	if (top.pid == fr_clues_pid(k->c, v->tid, v->ts))
		return fr_word(k, "; of the %u processes that the kernel listed, none had more", cnt);
	return fr_word(k, "; of the %u processes that the kernel listed, %s/%d had most: %s", cnt,
		       fr_word_text(k, top.name, strlen(top.name)), top.pid, table_size(k, top.rss_pages));
}
