/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* join_meta: the facts of a merged snapshot. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "read/cut/join_int.h"
#include "read/replay/summary.h"

#define TOLD_MAX 100u /* files whose reasons are told one by one */

static int join_meta_by_text(const char *x, const char *y)
{
	return strcmp(x ?: "", y ?: "");
}

static int put_told(const struct fr_join_file *f, u32 i, struct fr_snap_writer *w)
{
	static const char *const what[] = {"trigger_reason", "trigger_ts", "trigger_pid", "trigger_comm", "trigger_sig"};
	const char *name = strrchr(f->path, '/'), *value;
	char key[64];
	int err;
	size_t k;

	snprintf(key, sizeof(key), "merge_%u", i);
	err = fr_snap_put_fact(w, key, "%s", name ? name + 1 : f->path);
	for (k = 0; k < sizeof(what) / sizeof(what[0]) && !err; k++) {
		value = fr_snap_fact(f->snap, what[k]);
		snprintf(key, sizeof(key), "merge_%u_%s", i, what[k]);
		err = value ? fr_snap_put_fact(w, key, "%s", value) : 0;
	}
	return err;
}

/* What was cut away is told apart: a file among whole ones that was cut takes nothing away from them. */
bool fr_join_leaves_out(const struct fr_part *p, const char *name)
{
	const struct fr_join_group *g = (const struct fr_join_group *)p;
	bool is_cut = !strncmp(name, "cut_", 4) && (!g->all_cut || strcmp(name, "cut_from"));

	return !strncmp(name, "merge_", 6) || (is_cut && (!g->all_cut || g->file_cnt > 1));
}

/* Do all files agree on it? */
static bool join_meta_is_same(const struct fr_join_group *g, const char *name)
{
	u32 i;

	for (i = 1; i < g->file_cnt; i++)
		if (join_meta_by_text(fr_snap_fact(g->file[i]->snap, name), fr_snap_fact(g->file[0]->snap, name)))
			return false;
	return true;
}

/* "(what was asked for of one) || (of another) || ..." */
static int join_meta_put_asked(const struct fr_join_group *g, struct fr_snap_writer *w, const char *name)
{
	struct fr_vec text = {.item_sz = 1};
	int err = 0;
	u32 i;

	if (join_meta_is_same(g, name)) {
		const char *value = fr_snap_fact(g->file[0]->snap, name);

		return value ? fr_snap_put_fact(w, name, "%s", value) : 0;
	}
	for (i = 0; i < g->file_cnt && !err; i++) {
		const char *value = fr_snap_fact(g->file[i]->snap, name) ?: FR_CUT_ALL;

		err = fr_vec_add(&text, i ? ") || (" : "(", i ? 6 : 1);
		err = err ? err : fr_vec_add(&text, value, strlen(value));
	}
	err = err ? err : fr_vec_add(&text, ")", 2);
	err = err ? err : fr_snap_put_fact(w, name, "%s", (char *)text.at);
	fr_vec_free(&text);
	return err;
}

/* The earliest begin of a window; none if one of the files has no such limit. */
static int join_meta_put_since(const struct fr_join_group *g, struct fr_snap_writer *w)
{
	s64 ns, since_ns = 0;
	u32 i;

	for (i = 0; i < g->file_cnt; i++) {
		if (!fr_snap_fact_num(g->file[i]->snap, "cut_since", &ns))
			return 0;
		since_ns = !i || ns < since_ns ? ns : since_ns;
	}
	return fr_snap_put_fact(w, "cut_since", "%lld", since_ns);
}

/* The latest end of one, and not behind that of what it was cut from: what came then none of them knows. */
static int join_meta_put_until(const struct fr_join_group *g, struct fr_snap_writer *w)
{
	u64 until_ns = 0;
	bool any = false;
	u32 i;

	for (i = 0; i < g->file_cnt; i++) {
		u64 end_ns = g->file[i]->taken_ns;
		s64 ns;

		if (fr_snap_fact_num(g->file[i]->snap, "cut_until", &ns)) {
			any = true;
			end_ns = (u64)ns < end_ns ? (u64)ns : end_ns;
		}
		until_ns = end_ns > until_ns ? end_ns : until_ns;
	}
	return any ? fr_snap_put_fact(w, "cut_until", "%llu", until_ns) : 0;
}

/* The greatest number that a file says, if one does. */
static int put_most(const struct fr_join_group *g, struct fr_snap_writer *w, const char *name)
{
	s64 v, most = 0;
	u32 i;

	for (i = 0; i < g->file_cnt; i++)
		if (fr_snap_fact_num(g->file[i]->snap, name, &v) && v > most)
			most = v;
	return most ? fr_snap_put_fact(w, name, "%lld", most) : 0;
}

/* The number of cuts, including those that were merged before. */
static int put_cut_cnt(const struct fr_join_group *g, struct fr_snap_writer *w)
{
	s64 all = 0, cnt;
	u32 i;

	for (i = 0; i < g->file_cnt; i++)
		all += fr_snap_fact_num(g->file[i]->snap, "merge_cuts", &cnt) ? cnt : 1;
	return fr_snap_put_fact(w, "merge_cuts", "%lld", all);
}

/* Of cuts alone. How many events are missing nobody knows: one may have what another has not. */
static int put_cuts(const struct fr_join_group *g, struct fr_snap_writer *w)
{
	static const char *const asked[] = {"cut_cpu", "cut_pid", "cut_cgroup", "cut_filter"};
	int err = put_cut_cnt(g, w);
	size_t i;

	if (g->file_cnt == 1)
		return err;
	for (i = 0; i < sizeof(asked) / sizeof(asked[0]) && !err; i++)
		err = join_meta_put_asked(g, w, asked[i]);
	err = err ? err : join_meta_put_since(g, w);
	err = err ? err : join_meta_put_until(g, w);
	err = err ? err : put_most(g, w, "cut_damage");
	return err ? err : put_most(g, w, "cut_governor");
}

/* The reasons of all files are kept beside the latest one's facts. */
int fr_join_put_facts(const struct fr_part *p, struct fr_snap_writer *w)
{
	const struct fr_join_group *g = (const struct fr_join_group *)p;
	int err = g->all_cut ? put_cuts(g, w) : 0;
	u32 i;

	err = err ? err : fr_snap_put_fact(w, "merge_cnt", "%u", g->file_cnt);
	for (i = 0; i < g->file_cnt && i < TOLD_MAX && !err; i++)
		err = put_told(g->file[i], i, w);
	return err;
}
