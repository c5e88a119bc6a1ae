/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * watch: the event programs, compiled with FR_WATCH, as triggers' programs: what record.bpf.h gives them to write a record to.
 *
 * The record goes to one of a few buffers per CPU, taken by compare-and-exchange, since these programs interrupt each other. An
 * event that finds all taken is counted and not evaluated. fr_commit() evaluates the rules of its event. Of the checks before
 * it, --pid, --comm, --cgroup and -f are not set here: they choose what is recorded. flightrec's own system calls and faults
 * are still left out.
 */
#ifndef FR_TRIGGER_WATCH_BPF_H
#define FR_TRIGGER_WATCH_BPF_H

#include "trigger/trigger.bpf.h"
#include "watch.h"

#define FR_WATCH_WORK_CNT  4u /* buffers per CPU */
#define FR_WATCH_WORK_NONE FR_WATCH_WORK_CNT

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, FR_WATCH_WORK_CNT);
	__type(key, u32);
	__type(value, struct fr_watch_work);
} fr_watch_works SEC(".maps") __weak;

/* Global functions, in watch.bpf.c: each is verified once. */

/* Take a buffer for a record of sz bytes of this task. Returns FR_WATCH_WORK_NONE, counted, if all are taken. */
u32 fr_watch_take(u32 sz, u32 tid);

/* Evaluate the rules of the event, alert, release the buffer. Returns 0. */
int fr_watch_done(u32 work, u32 event);

/* The current task passes a mark that begins or ends something (enum fr_markspan_mark) of this name, hashed, and id. In
 * markspan.bpf.c. Returns 0. */
int fr_markspan_pass(u32 mark, u64 name, u64 id);

FR_INLINE struct fr_watch_work *fr_watch_work(u32 nr)
{
	return bpf_map_lookup_elem(&fr_watch_works, &nr);
}

/* ---- what the event programs use ---- */

FR_INLINE int fr_filtered(enum fr_filtered why)
{
	return 0;
}

FR_INLINE int fr_enabled(u32 event)
{
	return !fr_trigger_idle();
}

struct fr_writing {
	u64 *rec;
	u32 work;
	u32 event;
};

FR_INLINE void *fr_begin(struct fr_writing *w, void *rings, u16 tier, u32 event, u32 sz, u32 fixed_sz, u32 tid, u32 flags)
{
	struct fr_watch_work *work;
	struct fr_rec *rec;

	w->work = fr_watch_take(sz, tid & FR_TID_MASK);
	w->event = event;
	work = fr_watch_work(w->work);
	if (!work)
		return NULL;
	rec = (void *)work->rec;
	rec->task = (tid & FR_TID_MASK) | flags << 24;
	w->rec = (void *)rec;
	return rec;
}

FR_INLINE bool fr_begin_word(struct fr_writing *w, void *rings, u16 tier, u32 event, u32 units, u64 word)
{
	u64 *rec = fr_begin(w, rings, tier, event, units * FR_UNIT_SZ, 2 * FR_UNIT_SZ, word, 0);

	if (rec)
		rec[1] = word;
	return rec;
}

FR_INLINE void fr_put(const struct fr_writing *w, u32 nr, u64 value)
{
	w->rec[nr % (FR_WATCH_REC_SZ / FR_UNIT_SZ)] = value;
}

FR_INLINE int fr_commit(const struct fr_writing *w)
{
	return fr_watch_done(w->work, w->event);
}

#endif
