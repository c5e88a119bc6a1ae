/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* top_goto: "go to:" takes a CPU, a task by its tid or name, or a moment as --since does. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "show/top/top_int.h"

#define TID_DIGITS 9u /* a longer number is a moment */

static bool select_track(struct fr_top *t, u32 i)
{
	if (i >= t->track_cnt)
		return false;
	fr_top_remember(t);
	t->selected = i;
	fr_top_find_row(t);
	return true;
}

static bool is_cpu(const struct fr_top *t, u32 i, u32 nr)
{
	return t->track[i].is_cpu && t->tl->cpu[t->track[i].nr].nr == nr;
}

static bool go_to_cpu(struct fr_top *t, const char *text)
{
	u32 nr, i;

	if (strncasecmp(text, "cpu", 3) || sscanf(text + 3, "%u", &nr) != 1)
		return false;
	for (i = 0; i < t->track_cnt && !is_cpu(t, i, nr); i++)
		;
	if (!select_track(t, i))
		fr_top_note(t, "there is no CPU %u", nr);
	return true;
}

static bool goto_has_name(const struct fr_tl_task *k, const char *name)
{
	return k->comm && memmem(k->comm, k->comm_len, name, strlen(name));
}

/* Selects the next task that has this tid, or, if the text is not a tid, has the text in its name. */
static bool go_to_task(struct fr_top *t, const char *text)
{
	bool by_tid = strspn(text, "0123456789") == strlen(text) && strlen(text) <= TID_DIGITS;
	u32 tid = by_tid ? strtoul(text, NULL, 10) : 0, i, k;

	for (k = 1; k <= t->track_cnt; k++) {
		const struct fr_tl_task *task;

		i = (t->selected + k) % t->track_cnt;
		task = &t->tl->task[t->track[i].nr];
		if (!t->track[i].is_cpu && (by_tid ? task->tid == tid : goto_has_name(task, text)))
			return select_track(t, i);
	}
	return false;
}

static bool go_to_time(struct fr_top *t, const char *text)
{
	s64 begin = t->tl->origin_key, ts;
	struct fr_when w;

	if (fr_when_parse(text, &w) || fr_replay_resolve(t->replay, fr_replay_boot(t->replay, 0), &w, &ts))
		return false;
	ts += (s64)fr_replay_shift(t->replay, 0);
	fr_top_remember(t);
	fr_top_move_to(t, ts > begin ? (u64)(ts - begin) : 0);
	fr_top_find_row(t);
	return true;
}

static bool goto_go_to(struct fr_top *t, const char *text)
{
	if (go_to_cpu(t, text) || go_to_task(t, text) || go_to_time(t, text))
		return true;
	fr_top_note(t, "no CPU, task or time '%.60s'", text);
	return false;
}

bool fr_top_run_prompt(struct fr_top *t)
{
	if (!t->typed[0])
		return true;
	if (t->prompt == FR_TOP_GOTO)
		return goto_go_to(t, t->typed);
	fr_top_search_new(t, t->typed);
	return !t->note[0];
}
