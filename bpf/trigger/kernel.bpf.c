/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kernel: the kernel reports an error of its own: by a line of its log that begins a report (report.h), or by a detector's
 * tracepoint.
 *
 * A report has many lines, and WARN(), KASAN and KFENCE also fire the detector's tracepoint at its end. The rule's gap makes
 * one moment of them, that of the first line.
 */
#include "trigger/trigger.bpf.h"

#include "detect.bpf.h"
#include "event_fields.h"

/* Write the event: the line in moment nr's alert, len bytes of it. Returns its time, 0: it was lost. */
__noinline u64 fr_report_write(u32 nr, u32 len)
{
	u32 fixed_sz = sizeof(struct fr_rec_kernel_report), at = offsetof(struct fr_rec_kernel_report, text), i;
	struct fr_alert *a = fr_alert(nr);
	struct fr_rec_kernel_report *rec;
	struct fr_writing w;

	if (!a || len >= FR_ALERT_PATH_MAX)
		return 0;
	rec = fr_begin(&w, &fr_life, FR_TIER_LIFE, FR_EV_kernel_report, at + len + 1, sizeof(*rec), bpf_get_current_pid_tgid(),
		       0);
	fr_mark(rec);
	if (!rec)
		return 0;
	/* the text begins in the middle of a word */
	__builtin_memcpy(rec->text, a->text, sizeof(u32));
	for (i = fixed_sz - at; i < FR_ALERT_PATH_MAX - sizeof(u64) && i <= len; i += sizeof(u64))
		fr_put(&w, (at + i) / FR_UNIT_SZ, fr_report_word((const u8 *)a->text + i));
	fr_commit(&w);
	return w.res.time_ns;
}

/* Rules of this kind have no filters. */
FR_INLINE u32 kernel_rules(void)
{
	u32 set = 0, i;

	for (i = 0; i < FR_TRIGGER_MAX; i++)
		if (fr_rules[i].kind == FR_TRIGGER_kernel)
			set |= 1u << i;
	return set;
}

FR_INLINE int report_tell(const void *text, u32 len, u32 what, u64 addr)
{
	u32 due = fr_rules_due(kernel_rules(), ~0u), nr = due ? fr_moment_begin(FR_TRIGGER_kernel, due) : FR_MOMENT_NONE;
	struct fr_alert *a = fr_alert(nr);

	if (!a)
		return 0;
	len = len < FR_ALERT_PATH_MAX - 1 ? len : FR_ALERT_PATH_MAX - 1;
	bpf_probe_read_kernel(a->text, len & (FR_ALERT_PATH_MAX - 1), text);
	a->what = what;
	a->addr = addr;
	fr_moment_of(nr, bpf_get_current_task());
	a->ts = fr_report_write(nr, len);
	return fr_moment_end(nr);
}

SEC("tp_btf/console")
int BPF_PROG(fr_console, const char *text, size_t len)
{
	return fr_trigger_idle() ? 0 : fr_detect_console(text, len, report_tell);
}

SEC("tp_btf/error_report_end")
int BPF_PROG(fr_error_report_end, u32 detector, unsigned long id)
{
	return fr_trigger_idle() ? 0 : fr_detect_error(detector, id, report_tell);
}

char _license[] SEC("license") = "Dual BSD/GPL";
