/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "read/snapfile/snapfile_texts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "task_state.h"
#include "wait.h"

#define ENTRY_MIN_SZ 24u /* up to the members that a valid entry needs: a small file must not claim a long list */
#define ENTRY_MAX_SZ 4096u
#define TEXT_MAX     4095u

/* Texts while they are written: offset 0 is the empty text. */
struct texts {
	char *at; /* NULL: only count */
	u32 sz;
};

struct fr_text_kind {
	enum fr_chunk_kind kind;
	u32 entry_sz;  /* as written by this version */
	u32 struct_sz; /* of the tools' struct */
	void (*to_entry)(void *entry, const void *item, struct texts *t);
	bool (*is_good)(const void *entry, const char *texts, size_t texts_sz);
	void (*to_item)(void *item, const void *entry, const char *texts);
	int (*compare)(const void *a, const void *b);
};

static u32 texts_put_text(struct texts *t, const char *text)
{
	size_t len = text ? strnlen(text, TEXT_MAX) : 0;
	u32 off = t->sz;

	if (!len)
		return 0;
	if (t->at) {
		memcpy(t->at + off, text, len);
		t->at[off + len] = 0;
	}
	t->sz += len + 1;
	return off;
}

static int compare_place(u32 pid_a, u64 addr_a, u32 pid_b, u64 addr_b)
{
	if (pid_a != pid_b)
		return pid_a < pid_b ? -1 : 1;
	return addr_a < addr_b ? -1 : addr_a > addr_b;
}

/* ---- mappings ---- */

static void mapping_to_entry(void *entry, const void *item, struct texts *t)
{
	const struct fr_snap_mapping *m = item;
	struct fr_mapping_entry e = {
		.pid = m->pid,
		.path = texts_put_text(t, m->path),
		.begin = m->begin,
		.end = m->end,
		.file_off = m->file_off,
		.build_id_sz = m->build_id_sz < FR_BUILD_ID_MAX ? m->build_id_sz : FR_BUILD_ID_MAX,
		.deleted = m->deleted,
	};

	memcpy(e.build_id, m->build_id, e.build_id_sz);
	memcpy(entry, &e, sizeof(e));
}

static bool mapping_is_good(const void *entry, const char *texts, size_t texts_sz)
{
	struct fr_mapping_entry e;

	(void)texts;
	memcpy(&e, entry, sizeof(e));
	return e.path < texts_sz && e.begin < e.end && e.build_id_sz <= FR_BUILD_ID_MAX &&
	       e.file_off <= ~0ULL - (e.end - e.begin);
}

static void entry_to_mapping(void *item, const void *entry, const char *texts)
{
	struct fr_snap_mapping *m = item;
	struct fr_mapping_entry e;

	memcpy(&e, entry, sizeof(e));
	*m = (struct fr_snap_mapping){
		.pid = e.pid,
		.begin = e.begin,
		.end = e.end,
		.file_off = e.file_off,
		.path = texts + e.path,
		.build_id_sz = e.build_id_sz,
		.deleted = e.deleted,
	};
	memcpy(m->build_id, e.build_id, e.build_id_sz);
}

static int compare_mappings(const void *a, const void *b)
{
	const struct fr_snap_mapping *x = a, *y = b;

	return compare_place(x->pid, x->begin, y->pid, y->begin);
}

/* ---- symbols ---- */

static void symbol_to_entry(void *entry, const void *item, struct texts *t)
{
	const struct fr_snap_symbol *y = item;
	struct fr_symbol_entry e = {
		.pid = y->pid,
		.name = texts_put_text(t, y->name),
		.addr = y->addr,
		.sz = y->sz,
		.module = texts_put_text(t, y->module),
	};

	memcpy(entry, &e, sizeof(e));
}

/* A name is not empty, wherever among the texts it stands. */
static bool symbol_is_good(const void *entry, const char *texts, size_t texts_sz)
{
	struct fr_symbol_entry e;

	memcpy(&e, entry, sizeof(e));
	return e.name < texts_sz && texts[e.name] && e.module < texts_sz && e.sz <= ~0ULL - e.addr;
}

static void entry_to_symbol(void *item, const void *entry, const char *texts)
{
	struct fr_symbol_entry e;

	memcpy(&e, entry, sizeof(e));
	*(struct fr_snap_symbol *)item = (struct fr_snap_symbol){
		.pid = e.pid,
		.addr = e.addr,
		.sz = e.sz,
		.name = texts + e.name,
		.module = e.module ? texts + e.module : NULL,
	};
}

static int compare_symbols(const void *a, const void *b)
{
	const struct fr_snap_symbol *x = a, *y = b;

	return compare_place(x->pid, x->addr, y->pid, y->addr);
}

/* ---- states ---- */

static void state_to_entry(void *entry, const void *item, struct texts *t)
{
	const struct fr_snap_state *s = item;
	struct fr_state_entry e = {
		.tid = s->tid,
		.object = texts_put_text(t, s->object),
		.start_ns = s->start_ns,
		.at_ns = s->at_ns,
		.since_ns = s->since_ns,
		.woken_ns = s->woken_ns,
		.kstack_id = s->kstack_id,
		.cgroup = s->cgroup,
		.id = s->id,
		.waker_tid = s->waker_tid,
		.prio = s->prio,
		.state = s->state,
		.cpu = s->cpu,
		.abi = s->abi,
		.in = s->in,
		.waker = s->waker,
		.policy = s->policy,
		.flags = s->flags,
		.owner_tid = {s->owner_tid, s->owner_tid >> 8, s->owner_tid >> 16},
	};

	memcpy(e.arg, s->arg, sizeof(e.arg));
	memcpy(entry, &e, sizeof(e));
}

static u32 state_owner(const struct fr_state_entry *e)
{
	return e->owner_tid[0] | e->owner_tid[1] << 8 | (u32)e->owner_tid[2] << 16;
}

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

static void entry_to_state(void *item, const void *entry, const char *texts)
{
	struct fr_snap_state *s = item;
	struct fr_state_entry e;

	memcpy(&e, entry, sizeof(e));
	*s = (struct fr_snap_state){
		.tid = e.tid,
		.start_ns = e.start_ns,
		.at_ns = e.at_ns,
		.since_ns = e.since_ns,
		.woken_ns = e.woken_ns,
		.kstack_id = e.kstack_id,
		.cgroup = e.cgroup,
		.id = e.id,
		.waker_tid = e.waker_tid,
		.prio = e.prio,
		.state = e.state,
		.cpu = e.cpu,
		.abi = e.abi,
		.in = e.in,
		.waker = e.waker,
		.policy = e.policy,
		.flags = e.flags,
		.owner_tid = state_owner(&e),
		.object = texts + e.object,
	};
	memcpy(s->arg, e.arg, sizeof(s->arg));
}

static int compare_states(const void *a, const void *b)
{
	const struct fr_snap_state *x = a, *y = b;

	return compare_place(x->tid, x->at_ns, y->tid, y->at_ns);
}

/* ---- the kernel's log ---- */

static void klog_to_entry(void *entry, const void *item, struct texts *t)
{
	const struct fr_snap_klog *l = item;
	struct fr_klog_entry e = {
		.seq = l->seq,
		.ts = l->ts,
		.uncertainty_ns = l->uncertainty_ns,
		.stamp_ns = l->stamp_ns,
		.text = texts_put_text(t, l->text),
		.facility = l->facility,
		.level = l->level,
		.flags = l->flags,
	};

	memcpy(entry, &e, sizeof(e));
}

static bool klog_is_good(const void *entry, const char *texts, size_t texts_sz)
{
	struct fr_klog_entry e;

	(void)texts;
	memcpy(&e, entry, sizeof(e));
	return e.text < texts_sz && e.level <= 7;
}

static void entry_to_klog(void *item, const void *entry, const char *texts)
{
	struct fr_klog_entry e;

	memcpy(&e, entry, sizeof(e));
	*(struct fr_snap_klog *)item = (struct fr_snap_klog){
		.seq = e.seq,
		.ts = e.ts,
		.uncertainty_ns = e.uncertainty_ns,
		.stamp_ns = e.stamp_ns,
		.facility = e.facility,
		.level = e.level,
		.flags = e.flags,
		.text = texts + e.text,
	};
}

static int compare_klog(const void *a, const void *b)
{
	const struct fr_snap_klog *x = a, *y = b;

	if (x->ts != y->ts)
		return x->ts < y->ts ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

/* ---- all ---- */

static const struct fr_text_kind kinds[] = {
	{FR_CHUNK_MAPPINGS, sizeof(struct fr_mapping_entry), sizeof(struct fr_snap_mapping), mapping_to_entry, mapping_is_good,
	 entry_to_mapping, compare_mappings},
	{FR_CHUNK_SYMBOLS, sizeof(struct fr_symbol_entry), sizeof(struct fr_snap_symbol), symbol_to_entry, symbol_is_good,
	 entry_to_symbol, compare_symbols},
	{FR_CHUNK_STATES, sizeof(struct fr_state_entry), sizeof(struct fr_snap_state), state_to_entry, state_is_good,
	 entry_to_state, compare_states},
	{FR_CHUNK_KLOG, sizeof(struct fr_klog_entry), sizeof(struct fr_snap_klog), klog_to_entry, klog_is_good, entry_to_klog,
	 compare_klog},
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
	struct texts t = {.sz = 1};
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
	struct texts t = {(char *)p + (size_t)head.cnt * k->entry_sz, 1};
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
