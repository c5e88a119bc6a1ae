/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * detect: that a process dies, that the OOM killer chose a victim, that the kernel reports an error of its own. Two objects
 * look for it, the session's for the incident log (incident.bpf.c) and the triggers' for rules (trigger/). What the tracepoints
 * say is decoded here once; what follows from it is each object's own.
 *
 *	tracepoint		here				incident log		rules
 *	signal_deliver		fr_detect_delivery(), _source()	tell_death()		fr_crash_tell()
 *	sched_process_exit	fr_detect_exit()		tell_death()		fr_crash_tell(), tell_status()
 *	mark_victim		fr_detect_victim()		a record		fr_oom_tell()
 *	console			fr_detect_console()		tell_report()		report_tell()
 *	error_report_end	fr_detect_error()		tell_report()		report_tell()
 */
#ifndef FR_DETECT_BPF_H
#define FR_DETECT_BPF_H

#include "dying.bpf.h"
#include "oom.bpf.h"
#include "report.bpf.h"
#include "siginfo.bpf.h"

/* ---- deaths ---- */

/* How a process dies. */
struct fr_death {
	u64 addr; /* of a fault */
	u32 sig;  /* 0: of none */
	s32 code; /* SI_* */
	s32 exit_code;
};

/* At the delivery of sig: the signal of which the process dies by it, 0: it does not. */
FR_INLINE u32 fr_detect_delivery(struct task_struct *task, u32 sig, const struct k_sigaction *ka)
{
	return ka->sa.sa_handler ? 0 : fr_dying_signal(task->signal, sig);
}

/*
 * How it dies of fatal at the delivery of sig. If they differ, sig is the 9 that wakes threads, whose siginfo does not tell the
 * source.
 */
FR_INLINE void fr_detect_source(struct fr_death *d, u32 fatal, u32 sig, void *ctx)
{
	struct sig_info si;

	d->sig = d->exit_code = fatal;
	if (fatal != sig)
		return;
	sig_info(&si, sig, ctx);
	d->code = si.code;
	d->addr = si.addr;
}

/* At the exit of a task: does its process end? Then d->exit_code and, of a death by a signal, d->sig. */
FR_INLINE bool fr_detect_exit(struct fr_death *d, struct task_struct *task)
{
	if (!fr_dying_is_last(task))
		return false;
	d->exit_code = fr_dying_code(task);
	d->sig = fr_wait_signal(d->exit_code);
	return true;
}

/* ---- out of memory ---- */

/* The victim's task, as a number, by mark_victim's arguments; 0: only *pid is known. */
FR_INLINE u64 fr_detect_victim(u64 *ctx, u32 *pid)
{
	u64 task = ctx[0];

	FR_FORGET(task);
	*pid = 0;
	if (fr_victim_is_task)
		return task;
	*pid = ctx[0];
	return fr_oom_victim_of(ctx[0]);
}

/* ---- the kernel's own reports ---- */

/* A report begins: its first line, len bytes of text; what: its kind (report.h); addr: what a detector names, 0. */
typedef int fr_detect_report_fn(const void *text, u32 len, u32 what, u64 addr);

/* Console text: a line of it may begin a report. */
FR_INLINE int fr_detect_console(const char *text, u64 len, fr_detect_report_fn *tell)
{
	u32 nr = fr_report_take(), line = 0, sz;
	struct fr_report_text *r = fr_report_buf(nr);

	if (!r)
		return 0;
	sz = fr_report_look(nr, text, len, &line);
	if (sz && line < FR_REPORT_SZ)
		tell(r->text + line, sz < FR_REPORT_SZ ? sz : FR_REPORT_SZ, fr_report_begins_in(nr, line), 0);
	fr_store(&r->busy, 0);
	return 0;
}

/* At error_report_end, since 5.12 (9c0dee54eb91); the detector WARN since 5.17. */
FR_INLINE int fr_detect_error(u32 detector, u64 id, fr_detect_report_fn *tell)
{
	detector = detector < 3 ? detector : 3;
	return tell(fr_detectors[detector], sizeof(fr_detectors[0]) - 1, FR_REPORT_DETECTOR + detector, id);
}

#endif
