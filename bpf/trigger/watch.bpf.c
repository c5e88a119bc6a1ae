/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * watch: event rules. Each program of an event (bpf/watch.h) runs on the record that the event's own program, compiled a second
 * time, has put into a buffer.
 */
#define FR_WATCH
#include "record.bpf.h"

#include "watch_run.bpf.h"

const volatile struct fr_watch_of fr_watch_of[FR_EVENT_MAX] SEC(".rodata") __weak = {};

__noinline u32 fr_watch_take(u32 sz, u32 tid)
{
	struct fr_watch_work *w;
	u32 nr;

	for (nr = 0; nr < FR_WATCH_WORK_CNT; nr++) {
		w = fr_watch_work(nr);
		if (!w || fr_cas(&w->busy, 0, 1))
			continue;
		w->rec_sz = (sz + FR_UNIT_SZ - 1) / FR_UNIT_SZ * FR_UNIT_SZ;
		w->tid = tid;
		w->pid = bpf_get_current_pid_tgid() >> 32;
		w->cpu = bpf_get_smp_processor_id();
		return nr;
	}
	fr_count(&fr_triggers.unwatched, 1);
	return FR_WATCH_WORK_NONE;
}

/* Run one program of an event. Returns its rule's bit if an alert is due. */
__noinline u32 fr_watch_due(u32 work, u32 prog)
{
	const struct fr_watch_prog *p = bpf_map_lookup_elem(&fr_watch_progs, &prog);
	struct fr_watch_work *w = fr_watch_work(work);

	if (!p || !w || !fr_watch_may_hold(w, &p->guard))
		return 0;
	return fr_watch_holds(work, prog) ? fr_rule_due(p->rule, 1, fr_owner_of(bpf_get_current_task_btf())) : 0;
}

FR_INLINE u32 rules_due(u32 work, u32 event)
{
	const volatile struct fr_watch_of *of = &fr_watch_of[event % FR_EVENT_MAX];
	u32 due = 0, i;

	for (i = 0; i < FR_TRIGGER_MAX; i++) {
		if (i >= of->cnt)
			break;
		due |= fr_watch_due(work, of->first + i);
	}
	return due;
}

__noinline int fr_watch_tell(u32 event, u32 due)
{
	u32 nr = fr_moment_begin(FR_TRIGGER_event, due);
	struct fr_alert *a = fr_alert(nr);

	if (!a)
		return 0;
	a->what = event;
	fr_moment_of(nr, bpf_get_current_task());
	return fr_moment_end(nr);
}

__noinline int fr_watch_done(u32 work, u32 event)
{
	struct fr_watch_work *w = fr_watch_work(work);
	u32 due;

	if (!w)
		return 0;
	due = rules_due(work, event);
	if (due)
		fr_watch_tell(event, due);
	fr_store(&w->busy, 0);
	return 0;
}

char _license[] SEC("license") = "Dual BSD/GPL";
