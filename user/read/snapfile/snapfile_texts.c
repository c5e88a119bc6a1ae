/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "read/snapfile/snapfile_texts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "read/snapfile/entry.h"
#include "task_state.h"
#include "wait.h"

#define ENTRY_MIN_SZ 24u /* up to the members that a valid entry needs: a small file must not claim a long list */
#define ENTRY_MAX_SZ 4096u

struct fr_text_kind {
	enum fr_chunk_kind kind;
	u32 entry_sz;  /* as written by this version */
	u32 struct_sz; /* of the tools' struct */
	void (*to_entry)(void *entry, const void *item, struct fr_texts *t);
	bool (*is_good)(const void *entry, const char *texts, size_t texts_sz);
	void (*to_item)(void *item, const void *entry, const char *texts);
	int (*compare)(const void *a, const void *b);
};

static int compare_place(u32 pid_a, u64 addr_a, u32 pid_b, u64 addr_b)
{
	if (pid_a != pid_b)
		return pid_a < pid_b ? -1 : 1;
	return addr_a < addr_b ? -1 : addr_a > addr_b;
}

/* ---- mappings ---- */

/* clang-format off */
#define MAPPING(NUMBER, ARRAY, NAME, TEXT, OTHER) \
	NUMBER(pid, pid) TEXT(path, path) NUMBER(begin, begin) NUMBER(end, end) NUMBER(file_off, file_off) \
	OTHER(e.build_id_sz = i->build_id_sz < FR_BUILD_ID_MAX ? i->build_id_sz : FR_BUILD_ID_MAX, i->build_id_sz = e.build_id_sz) \
	NUMBER(deleted, deleted) \
	OTHER(memcpy(e.build_id, i->build_id, e.build_id_sz), memcpy(i->build_id, e.build_id, e.build_id_sz))
FR_ENTRY(mapping, fr_mapping_entry, fr_snap_mapping, MAPPING)
/* clang-format on */

static bool mapping_is_good(const void *entry, const char *texts, size_t texts_sz)
{
	struct fr_mapping_entry e;

	(void)texts;
	memcpy(&e, entry, sizeof(e));
	return e.path < texts_sz && e.begin < e.end && e.build_id_sz <= FR_BUILD_ID_MAX &&
	       e.file_off <= ~0ULL - (e.end - e.begin);
}

static int compare_mappings(const void *a, const void *b)
{
	const struct fr_snap_mapping *x = a, *y = b;

	return compare_place(x->pid, x->begin, y->pid, y->begin);
}

/* ---- symbols ---- */

/* clang-format off */
#define SYMBOL(NUMBER, ARRAY, NAME, TEXT, OTHER) \
	NUMBER(pid, pid) TEXT(name, name) NUMBER(addr, addr) NUMBER(sz, sz) \
	OTHER(e.module = fr_texts_put(texts, i->module), i->module = e.module ? texts + e.module : NULL)
FR_ENTRY(symbol, fr_symbol_entry, fr_snap_symbol, SYMBOL)
/* clang-format on */

/* A name is not empty, wherever among the texts it stands. */
static bool symbol_is_good(const void *entry, const char *texts, size_t texts_sz)
{
	struct fr_symbol_entry e;

	memcpy(&e, entry, sizeof(e));
	return e.name < texts_sz && texts[e.name] && e.module < texts_sz && e.sz <= ~0ULL - e.addr;
}

static int compare_symbols(const void *a, const void *b)
{
	const struct fr_snap_symbol *x = a, *y = b;

	return compare_place(x->pid, x->addr, y->pid, y->addr);
}

/* ---- states ---- */

static u32 state_owner(const struct fr_state_entry *e)
{
	return e->owner_tid[0] | e->owner_tid[1] << 8 | (u32)e->owner_tid[2] << 16;
}

static void state_put_owner(struct fr_state_entry *e, u32 tid)
{
	u32 i;

	for (i = 0; i < sizeof(e->owner_tid); i++)
		e->owner_tid[i] = tid >> 8 * i;
}

/* clang-format off */
#define STATE(NUMBER, ARRAY, NAME, TEXT, OTHER) \
	NUMBER(tid, tid) TEXT(object, object) NUMBER(start_ns, start_ns) NUMBER(at_ns, at_ns) NUMBER(since_ns, since_ns) \
	NUMBER(woken_ns, woken_ns) NUMBER(kstack_id, kstack_id) NUMBER(cgroup, cgroup) NUMBER(id, id) NUMBER(waker_tid, waker_tid) \
	NUMBER(prio, prio) NUMBER(state, state) NUMBER(cpu, cpu) NUMBER(abi, abi) NUMBER(in, in) NUMBER(waker, waker) \
	NUMBER(policy, policy) NUMBER(flags, flags) NUMBER(allowed_cnt, allowed_cnt) OTHER(state_put_owner(&e, i->owner_tid), i->owner_tid = state_owner(&e)) ARRAY(arg, arg)
FR_ENTRY(state, fr_state_entry, fr_snap_state, STATE)
/* clang-format on */

static bool is_state(u16 state)
{
	return !(state & (state - 1)) && state <= FR_PREV_STATE_IDLE;
}

/* A task that has a CPU is in state R; who is in no call has no number of one, and who is in one has. */
static bool state_is_good(const void *entry, const char *texts, size_t texts_sz)
{
	struct fr_state_entry e;
	bool in;

	(void)texts;
	memcpy(&e, entry, sizeof(e));
	in = e.in <= FR_WAITED_kernel || e.in == FR_STATE_IN_NONE;
	return e.object < texts_sz && e.tid && e.tid <= FR_TID_MASK && e.waker_tid <= FR_TID_MASK && is_state(e.state) && in &&
	       e.id >= -1 && (e.in == FR_WAITED_call) == (e.id >= 0) && e.since_ns <= e.at_ns && e.woken_ns <= e.at_ns &&
	       e.waker <= FR_WAKER_timer && e.abi <= 1 && state_owner(&e) <= FR_TID_MASK;
}

static int compare_states(const void *a, const void *b)
{
	const struct fr_snap_state *x = a, *y = b;

	return compare_place(x->tid, x->at_ns, y->tid, y->at_ns);
}

/* ---- the kernel's log ---- */

/* clang-format off */
#define KLOG(NUMBER, ARRAY, NAME, TEXT, OTHER) \
	NUMBER(seq, seq) NUMBER(ts, ts) NUMBER(uncertainty_ns, uncertainty_ns) NUMBER(stamp_ns, stamp_ns) TEXT(text, text) \
	NUMBER(facility, facility) NUMBER(level, level) NUMBER(flags, flags)
FR_ENTRY(klog, fr_klog_entry, fr_snap_klog, KLOG)
/* clang-format on */

static bool klog_is_good(const void *entry, const char *texts, size_t texts_sz)
{
	struct fr_klog_entry e;

	(void)texts;
	memcpy(&e, entry, sizeof(e));
	return e.text < texts_sz && e.level <= 7;
}

static int compare_klog(const void *a, const void *b)
{
	const struct fr_snap_klog *x = a, *y = b;

	if (x->ts != y->ts)
		return x->ts < y->ts ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

/* ---- scenes ---- */

/* clang-format off */
#define SCENE(NUMBER, ARRAY, NAME, TEXT, OTHER) \
	NUMBER(tid, tid) TEXT(text, text) NUMBER(start_ns, start_ns) NUMBER(at_ns, at_ns) NUMBER(what, what) \
	NUMBER(number, number) ARRAY(value, value)
FR_ENTRY(scene, fr_scene_entry, fr_snap_scene, SCENE)
/* clang-format on */

/* Descriptors are ints, limits few. */
static bool scene_is_possible(const struct fr_scene_entry *e)
{
	switch (e->what) {
	case FR_SCENE_limit:
		return e->number <= FR_SCENE_LIMIT_MOST;
	case FR_SCENE_mapping:
		return e->number < e->value[0];
	case FR_SCENE_thread:
		return e->number && e->number <= FR_TID_MASK && is_state((u16)e->value[0]);
	case FR_SCENE_frame:
		return e->number >> FR_SCENE_FRAME_BITS && e->number >> FR_SCENE_FRAME_BITS <= FR_TID_MASK;
	case FR_SCENE_threads:
	case FR_SCENE_descriptor:
	case FR_SCENE_descriptors:
	case FR_SCENE_mappings:
		return e->number <= 1u << 31;
	default:
		return e->what;
	}
}

/* What a later version adds is what this one knows nothing of. */
static bool scene_is_good(const void *entry, const char *texts, size_t texts_sz)
{
	struct fr_scene_entry e;

	(void)texts;
	memcpy(&e, entry, sizeof(e));
	return e.text < texts_sz && e.tid && e.tid <= FR_TID_MASK && scene_is_possible(&e);
}

static int compare_scenes(const void *a, const void *b)
{
	const struct fr_snap_scene *x = a, *y = b;

	if (x->tid != y->tid || x->at_ns != y->at_ns)
		return compare_place(x->tid, x->at_ns, y->tid, y->at_ns);
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return compare_place(x->what, x->number, y->what, y->number);
}

/* ---- all ---- */

/* clang-format off */
#define KIND(chunk, noun, compare) \
	{FR_CHUNK_##chunk, sizeof(struct fr_##noun##_entry), sizeof(struct fr_snap_##noun), noun##_to_entry, noun##_is_good, noun##_to_item, compare}
/* clang-format on */

static const struct fr_text_kind kinds[] = {
	KIND(MAPPINGS, mapping, compare_mappings), KIND(SYMBOLS, symbol, compare_symbols),
	KIND(STATES, state, compare_states),	   KIND(KLOG, klog, compare_klog),
	KIND(SCENES, scene, compare_scenes),
};

const struct fr_text_kind *fr_text_kind(u32 kind)
{
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (kinds[i].kind == kind)
			return &kinds[i];
	return NULL;
}

size_t fr_text_struct_sz(const struct fr_text_kind *k)
{
	return k->struct_sz;
}

static const void *item_at(const struct fr_text_kind *k, const void *items, size_t i)
{
	return (const char *)items + i * k->struct_sz;
}

/* How many of the items fit in cap bytes, with their texts. */
static size_t count_fitting(const struct fr_text_kind *k, const void *items, size_t cnt, size_t cap)
{
	struct fr_texts t = {.sz = 1};
	u8 entry[ENTRY_MAX_SZ];
	size_t i;

	for (i = 0; i < cnt; i++) {
		k->to_entry(entry, item_at(k, items, i), &t);
		if (sizeof(struct fr_list_head) + (i + 1) * k->entry_sz + t.sz > cap)
			break;
	}
	return i;
}

size_t fr_text_write(const struct fr_text_kind *k, const void *items, size_t cnt, u8 *buf, size_t cap, size_t *sz)
{
	struct fr_list_head head = {k->entry_sz, count_fitting(k, items, cnt, cap)};
	u8 *p = buf + sizeof(head);
	struct fr_texts t = {(char *)p + (size_t)head.cnt * k->entry_sz, 1};
	u32 i;

	memcpy(buf, &head, sizeof(head));
	*t.at = 0;
	for (i = 0; i < head.cnt; i++, p += k->entry_sz)
		k->to_entry(p, item_at(k, items, i), &t);
	*sz = p - buf + t.sz;
	return head.cnt;
}

/* Entry i of a content; the end of an older writer's shorter entry is zeros. */
static void load_entry(const struct fr_text_kind *k, const struct fr_list_head *head, const u8 *buf, u32 i, u8 *entry)
{
	u32 sz = head->entry_sz < k->entry_sz ? head->entry_sz : k->entry_sz;

	memset(entry + sz, 0, k->entry_sz - sz);
	memcpy(entry, buf + sizeof(*head) + (size_t)i * head->entry_sz, sz);
}

int fr_text_check(const struct fr_text_kind *k, const u8 *buf, size_t sz, size_t *cnt, size_t *texts_sz)
{
	struct fr_list_head head;
	u8 entry[ENTRY_MAX_SZ];
	u64 entries_sz;
	u32 i;

	if (sz < sizeof(head))
		return -EBADMSG;
	memcpy(&head, buf, sizeof(head));
	entries_sz = (u64)head.entry_sz * head.cnt;
	if (head.entry_sz < ENTRY_MIN_SZ || head.entry_sz > ENTRY_MAX_SZ || entries_sz >= sz - sizeof(head))
		return -EBADMSG;
	/* the first text is empty, and the last one is terminated */
	if (buf[sizeof(head) + entries_sz] || buf[sz - 1])
		return -EBADMSG;
	*texts_sz = sz - sizeof(head) - entries_sz;
	for (i = 0; i < head.cnt; i++) {
		load_entry(k, &head, buf, i, entry);
		if (!k->is_good(entry, (const char *)buf + sizeof(head) + entries_sz, *texts_sz))
			return -EBADMSG;
	}
	*cnt = head.cnt;
	return 0;
}

void fr_text_items(const struct fr_text_kind *k, const u8 *buf, const char *texts, void *items)
{
	struct fr_list_head head;
	u8 entry[ENTRY_MAX_SZ];
	u32 i;

	memcpy(&head, buf, sizeof(head));
	for (i = 0; i < head.cnt; i++) {
		load_entry(k, &head, buf, i, entry);
		k->to_item((char *)items + (size_t)i * k->struct_sz, entry, texts);
	}
}

void fr_text_sort(const struct fr_text_kind *k, void *items, size_t cnt)
{
	size_t i;

	/* our own are already sorted */
	for (i = 1; i < cnt; i++)
		if (k->compare(item_at(k, items, i - 1), item_at(k, items, i)) > 0)
			break;
	if (i < cnt)
		qsort(items, cnt, k->struct_sz, k->compare);
}
