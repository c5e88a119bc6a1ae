/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read/cut/keep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/rows/names.h"
#include "base/set/idmap.h"

#define TID_CNT (FR_TID_MASK + 1u)

/* Indexes of an event's fields that name tasks and stacks. */
struct refs {
	u8 tid[FR_FIELD_MAX], stack[FR_FIELD_MAX];
	u8 tid_cnt, stack_cnt;
};

/* A stack that is needed, and the events that have described it so far. */
struct told {
	u64 event[FR_EVENT_MAX / 64];
};

struct fr_keep {
	const struct fr_snap *snap;
	u64 **bits; /* by chunk, a bit for each row to keep; NULL: none */
	u32 *cnt;
	size_t chunk_cnt;
	u64 all;
	u64 *task;  /* a bit for each tid */
	u64 *state; /* a bit for each state */
	size_t state_cnt;
	struct fr_idmap since; /* by the number of a state, what switches tell: u64 */
	struct fr_idmap stacks;
	struct refs refs[FR_EVENT_MAX];
};

/* ---- tasks and stacks that a row names ---- */

static void add_ref(u8 *list, u8 *cnt, u8 field)
{
	if (!memchr(list, field, *cnt))
		list[(*cnt)++] = field;
}

static bool keep_is_number(const struct fr_field *f)
{
	return f->kind == FR_KIND_FIELD && f->type <= FR_TYPE_s64;
}

static void find_refs(const struct fr_event *ev, struct refs *r)
{
	u32 i;

	for (i = 0; i < ev->field_cnt; i++) {
		const struct fr_field *f = &ev->fields[i];

		if (keep_is_number(f) && f->style == FR_STYLE_TID)
			add_ref(r->tid, &r->tid_cnt, i);
		if (f->kind != FR_KIND_DERIVED || f->from_idx < 0 || !keep_is_number(&ev->fields[f->from_idx]))
			continue;
		if (f->rule == FR_RULE_STACK)
			add_ref(r->stack, &r->stack_cnt, f->from_idx);
		else if (f->rule != FR_RULE_LOC)
			add_ref(r->tid, &r->tid_cnt, f->from_idx);
	}
}

static void find_all_refs(struct fr_keep *k)
{
	const struct fr_schema *schema = fr_snap_schema(k->snap);
	u32 nr;

	for (nr = 0; nr < FR_EVENT_MAX; nr++)
		if (fr_schema_event(schema, nr))
			find_refs(fr_schema_event(schema, nr), &k->refs[nr]);
}

static bool test(const u64 *bits, u32 i)
{
	return bits[i / 64] >> i % 64 & 1;
}

static void set(u64 *bits, u32 i)
{
	bits[i / 64] |= 1ULL << i % 64;
}

void fr_keep_task(struct fr_keep *k, u32 tid)
{
	if (tid < TID_CNT)
		set(k->task, tid);
}

static int keep_refs(struct fr_keep *k, const struct fr_row *r)
{
	const struct refs *refs = &k->refs[r->ev->nr];
	u32 i;

	fr_keep_task(k, r->tid);
	for (i = 0; i < refs->tid_cnt; i++)
		fr_keep_task(k, fr_row_num(r, &r->ev->fields[refs->tid[i]]));
	for (i = 0; i < refs->stack_cnt; i++)
		if (!fr_idmap_get(&k->stacks, fr_row_num(r, &r->ev->fields[refs->stack[i]])))
			return -ENOMEM;
	return 0;
}

int fr_keep_row(struct fr_keep *k, const struct fr_row *r)
{
	size_t cnt, i = r->b->chunk;
	const struct fr_chunk *c = fr_snap_chunks(k->snap, &cnt);

	if (i >= k->chunk_cnt || r->i >= c[i].row_cnt)
		return -EINVAL;
	if (!k->bits[i])
		k->bits[i] = calloc((c[i].row_cnt + 63) / 64, sizeof(u64));
	if (!k->bits[i])
		return -ENOMEM;
	set(k->bits[i], r->i);
	k->cnt[i]++;
	k->all++;
	return keep_refs(k, r);
}

u32 fr_keep_cnt(const struct fr_keep *k, size_t chunk)
{
	return k->cnt[chunk];
}

u64 fr_keep_all(const struct fr_keep *k)
{
	return k->all;
}

bool fr_keep_has(const struct fr_keep *k, size_t chunk, u32 row)
{
	return chunk < k->chunk_cnt && k->bits[chunk] && test(k->bits[chunk], row);
}

bool fr_keep_has_task(const struct fr_keep *k, u32 tid)
{
	return tid < TID_CNT && test(k->task, tid);
}

int fr_keep_state(struct fr_keep *k, size_t i)
{
	size_t cnt;
	const struct fr_snap_state *t = fr_snap_states(k->snap, &cnt);

	if (i >= k->state_cnt)
		return -EINVAL;
	set(k->state, i);
	fr_keep_task(k, t[i].tid);
	if (t[i].waker_tid)
		fr_keep_task(k, t[i].waker_tid);
	return !t[i].kstack_id || fr_idmap_get(&k->stacks, t[i].kstack_id) ? 0 : -ENOMEM;
}

bool fr_keep_has_state(const struct fr_keep *k, size_t i)
{
	return i < k->state_cnt && test(k->state, i);
}

int fr_keep_since(struct fr_keep *k, size_t i, u64 since_ns)
{
	u64 *since = fr_idmap_get(&k->since, i);

	if (!since)
		return -ENOMEM;
	*since = since_ns;
	return 0;
}

u64 fr_keep_since_of(const struct fr_keep *k, size_t i)
{
	const u64 *since = fr_idmap_find(&k->since, i);

	return since ? *since : 0;
}

/* ---- what else must stay ---- */

/* From tasks to their processes and on to parents, until none is new. */
static void keep_parents(struct fr_keep *k)
{
	size_t cnt, i;
	const struct fr_snap_task *t = fr_snap_tasks(k->snap, &cnt);
	bool more = true;

	while (more) {
		more = false;
		for (i = 0; i < cnt; i++) {
			if (!fr_keep_has_task(k, t[i].tid))
				continue;
			more |= (t[i].task.tgid && t[i].task.tgid < TID_CNT && !fr_keep_has_task(k, t[i].task.tgid)) ||
				(t[i].task.ppid && t[i].task.ppid < TID_CNT && !fr_keep_has_task(k, t[i].task.ppid));
			fr_keep_task(k, t[i].task.tgid);
			fr_keep_task(k, t[i].task.ppid);
		}
	}
}

/* Events have only a cgroup's number. A living process in it may be the only one that shows its path. */
static int keep_cgroups(struct fr_keep *k)
{
	size_t cnt, i;
	const struct fr_snap_task *t = fr_snap_tasks(k->snap, &cnt);
	struct fr_idmap cgroups;
	int err = 0;

	fr_idmap_init(&cgroups, 1);
	for (i = 0; i < cnt && !err; i++)
		if (t[i].task.cgroup && fr_keep_has_task(k, t[i].tid) && !fr_idmap_get(&cgroups, t[i].task.cgroup))
			err = -ENOMEM;
	for (i = 0; i < cnt && !err; i++)
		if (t[i].tid == t[i].task.tgid && !t[i].task.exit_ns && fr_idmap_find(&cgroups, t[i].task.cgroup))
			fr_keep_task(k, t[i].tid);
	fr_idmap_free(&cgroups);
	return err;
}

int fr_keep_ready(struct fr_keep *k)
{
	keep_parents(k);
	return keep_cgroups(k);
}

/* ---- rows that explain names and stacks ---- */

/* The needed stack that a row describes, NULL: it describes none. */
static struct told *keep_told_of(struct fr_keep *k, const struct fr_row *r)
{
	const struct fr_field *id = r->tier == FR_TIER_STACK ? fr_event_field(r->ev, "stack_id") : NULL;

	if (!id || id->kind != FR_KIND_FIELD || id->type != FR_TYPE_u64)
		return NULL;
	return fr_idmap_find(&k->stacks, fr_row_num(r, id));
}

void fr_keep_told(struct fr_keep *k, const struct fr_row *r)
{
	struct told *t = keep_told_of(k, r);

	if (t)
		set(t->event, r->ev->nr);
}

bool fr_keep_explains(struct fr_keep *k, const struct fr_row *r, bool context)
{
	struct told *t;
	u32 tid;

	if (!strcmp(r->ev->name, "thinned")) /* what other rows lack */
		return true;
	if (fr_names_tells(r, &tid))
		return fr_keep_has_task(k, tid);
	t = keep_told_of(k, r);
	if (!t || (!context && test(t->event, r->ev->nr)))
		return false;
	set(t->event, r->ev->nr);
	return true;
}

/* ---- life ---- */

struct fr_keep *fr_keep_new(const struct fr_snap *s)
{
	struct fr_keep *k = calloc(1, sizeof(*k));

	if (!k)
		return NULL;
	k->snap = s;
	fr_snap_chunks(s, &k->chunk_cnt);
	fr_snap_states(s, &k->state_cnt);
	fr_idmap_init(&k->stacks, sizeof(struct told));
	fr_idmap_init(&k->since, sizeof(u64));
	k->bits = calloc(k->chunk_cnt + 1, sizeof(*k->bits));
	k->cnt = calloc(k->chunk_cnt + 1, sizeof(*k->cnt));
	k->task = calloc(TID_CNT / 64, sizeof(*k->task));
	k->state = calloc(k->state_cnt / 64 + 1, sizeof(*k->state));
	if (!k->bits || !k->cnt || !k->task || !k->state) {
		fr_keep_free(k);
		return NULL;
	}
	find_all_refs(k);
	return k;
}

void fr_keep_free(struct fr_keep *k)
{
	size_t i;

	if (!k)
		return;
	for (i = 0; k->bits && i < k->chunk_cnt; i++)
		free(k->bits[i]);
	fr_idmap_free(&k->stacks);
	fr_idmap_free(&k->since);
	free(k->bits);
	free(k->cnt);
	free(k->task);
	free(k->state);
	free(k);
}
