/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dump_unwind: the stacks of the last deaths, as far as more is found of them than the kernel found by frame pointers. They are
 * written as other stacks are, under the same id, as rows that are no events of the ring (context): readers take the longer
 * one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "flow/snapshot/dump_int.h"
#include "flow/snapshot/unwind.h"
#include "io/ns.h"
#include "io/session/ustacks.h"
#include "io/snapfile/snapfile_rows.h"
#include "pure/text/units.h"

#define FILE_BITS 56 /* a word is { number of its file | offset }: see event stack_build_ids */
#define ID_WORDS  3u
#define WORD_MAX  (FR_STACK_DEPTH_MAX + FR_UNWIND_FILE_MAX * ID_WORDS)
#define COL_MAX	  3u
#define ROW_OFF	  (FR_PAGE_SZ / 2) /* between the two rows of a stack, as if they were in a ring */

/* An event with numbers of a stack, as one row of a batch. */
struct one_row {
	struct fr_batch b;
	struct fr_col col[COL_MAX];
	u64 ts, id, flags;
	u32 tid, in_type, off[2];
	u8 ev;
};

static void set_col(struct one_row *r, const struct fr_field *f, u64 *num)
{
	if (f && f->col >= 0 && f->col < (int)COL_MAX)
		r->col[f->col] = (struct fr_col){.num = num, .off = f->type == FR_TYPE_u64s ? r->off : NULL};
}

static int put_row(struct fr_dump *d, const struct fr_ustack *u, const char *event, const char *field, u64 flags, u64 *num,
		   u32 cnt)
{
	const struct fr_event *ev = fr_schema_find(d->schema, event);
	struct one_row r = {.ts = u->mono_ns, .id = u->stack_id, .flags = flags, .tid = u->tid, .off = {0, cnt}};
	struct fr_row row;

	if (!ev || ev->col_cnt > COL_MAX)
		return 0;
	r.ev = ev->nr;
	r.b = (struct fr_batch){
		.schema = d->schema,
		.epoch = d->src->map->epoch,
		.cpu = d->src->map->cpu,
		.tier = FR_TIER_STACK,
		.row_cnt = 1,
		.ts = &r.ts,
		.ev = &r.ev,
		.tid = &r.tid,
		.in_type = &r.in_type,
	};
	r.b.type[ev->nr] = (struct fr_type_cols){.cnt = 1, .col = r.col};
	set_col(&r, fr_event_field(ev, "frame_cnt"), &r.flags);
	set_col(&r, fr_event_field(ev, "stack_id"), &r.id);
	set_col(&r, fr_event_field(ev, field), num);
	row = fr_batch_row(&r.b, 0);
	/* a place that no other stack has, also where snapshots are merged: no ring has so many laps */
	return fr_snap_put_row(d->w, &row, u->stack_id >> 16 | 1ULL << 48, flags ? ROW_OFF : 0, true);
}

/* A word for each frame, then the build-ids. Returns how many words. */
static u32 fill_words(const struct fr_ustack *u, const struct fr_unwound *found, u64 word[WORD_MAX])
{
	const struct fr_unwound_file *file;
	u64 off;
	u32 i;

	for (i = 0; i < found->cnt; i++) {
		if (!found->map[i])
			continue;
		file = &found->file[found->map[i] - 1];
		off = found->ip[i] - u->map[found->map[i] - 1].start + u->map[found->map[i] - 1].off;
		if (!file->nr || off >> FILE_BITS)
			continue;
		word[i] = (u64)file->nr << FILE_BITS | off;
		memcpy(&word[found->cnt + (file->nr - 1) * ID_WORDS], file->build_id, FR_BUILD_ID_MAX);
	}
	return found->cnt + found->file_cnt * ID_WORDS;
}

static int put_stack(struct fr_dump *d, const struct fr_ustack *u, struct fr_unwound *found)
{
	u64 word[WORD_MAX] = {};
	u32 cnt = fill_words(u, found, word);
	int err = put_row(d, u, "stack", "frames", 0, found->ip, found->cnt);

	return err ?: put_row(d, u, "stack_build_ids", "words", found->cnt, word, cnt);
}

/* Keep a mapping: whose file is still where it was, this is known of no other process that has ended; or is not. */
static void keep_mapping(struct fr_dump *d, const struct fr_ustack *u, const struct fr_unwound *found, u32 i)
{
	struct fr_snap_mapping *more = realloc(d->dead, (d->dead_cnt + 1) * sizeof(*more));

	if (!more)
		return;
	d->dead = more;
	more += d->dead_cnt;
	*more = (struct fr_snap_mapping){
		.pid = u->pid,
		.begin = u->map[i].start,
		.end = u->map[i].end,
		.file_off = u->map[i].off,
		.path = strdup(u->map[i].path),
		.build_id_sz = found->file[i].build_id_sz,
		/* as of live processes: without a build-id nothing else tells it from a file of that path here */
		.deleted = !found->file[i].is_there || (found->file[i].is_elsewhere && !found->file[i].build_id_sz),
	};
	memcpy(more->build_id, found->file[i].build_id, FR_BUILD_ID_MAX);
	d->dead_cnt += more->path != NULL;
}

static bool has_frame(const struct fr_unwound *found, u32 map)
{
	u32 i;

	for (i = 0; i < found->cnt; i++)
		if (found->map[i] == map + 1)
			return true;
	return false;
}

static int put_unwound(struct fr_dump *d, const struct fr_ustack *u, struct fr_unwound *found)
{
	u32 i;

	for (i = 0; i < u->map_cnt; i++)
		if (found->file[i].is_there || (u->map[i].path[0] == '/' && has_frame(found, i)))
			keep_mapping(d, u, found, i);
	return found->cnt > u->frame_cnt ? put_stack(d, u, found) : 0;
}

/* Of a death before that the snapshot has no event: with a second more, as the time is not of the recording's clock. */
static u64 since_ns(const struct fr_dump *d)
{
	u64 least_ns = ~0ULL, ns;
	size_t i;

	for (i = 0; i < d->src_cnt; i++) {
		ns = d->src[i].acct.horizon_ns > d->since_ns ? d->src[i].acct.horizon_ns : d->since_ns;
		if (d->src[i].map->tier == FR_TIER_LIFE && ns < least_ns)
			least_ns = ns;
	}
	return least_ns > FR_SEC_NS ? least_ns - FR_SEC_NS : 0;
}

/* The root of a mount namespace, if it is another one than the last, whose is *root. */
static int root_of(u32 mnt_ns, u32 *last, int root)
{
	if (mnt_ns == *last)
		return root;
	if (root >= 0)
		close(root);
	*last = mnt_ns;
	return fr_ns_root(mnt_ns);
}

int fr_dump_put_unwound(struct fr_dump *d)
{
	struct fr_unwound *found = malloc(sizeof(*found));
	struct fr_ustack *u = NULL;
	int cnt = d->src_cnt && found ? fr_ustacks_read(d->s, &u) : 0, root = -1, i, err = 0;
	u64 from_ns = since_ns(d);
	u32 mnt_ns = 0;

	for (i = 0; i < cnt && !err; i++) {
		if (u[i].mono_ns < from_ns)
			continue;
		root = root_of(u[i].mnt_ns, &mnt_ns, root);
		if (!fr_unwind(&u[i], root, found))
			err = put_unwound(d, &u[i], found);
	}
	if (root >= 0)
		close(root);
	free(u);
	free(found);
	return err;
}
