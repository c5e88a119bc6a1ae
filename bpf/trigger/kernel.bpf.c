/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kernel: the kernel reports an error of its own: a line of its log that begins a report (report.h), or a detector's
 * tracepoint.
 *
 * The console's tracepoint sees each line as printk() stores it, whatever the console's log level. It also sees what is written
 * to /dev/kmsg, which takes root (or what root allows): who may do that can make the kernel seem to report.
 *
 * A report is many lines, and WARN(), KASAN and KFENCE also pull the detector's tracepoint when it is complete: the rule's gap
 * makes one moment of them, that of the first line.
 */
#include "trigger/trigger.bpf.h"

#include "report.h"

#define REPORT_CNT  2u /* texts at once on a CPU: a line, and that of an NMI in it */
#define REPORT_NONE REPORT_CNT

struct report {
	u64 busy;
	u8 text[FR_REPORT_BUF_SZ];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, REPORT_CNT);
	__type(key, u32);
	__type(value, struct report);
} fr_reports SEC(".maps");

/* Global functions below: the verifier looks at each once. Buffers are numbers to them. */

FR_INLINE struct report *report(u32 nr)
{
	return bpf_map_lookup_elem(&fr_reports, &nr);
}

FR_INLINE u32 report_take(void)
{
	struct report *r;
	u32 nr;

	for (nr = 0; nr < REPORT_CNT; nr++) {
		r = report(nr);
		if (r && !fr_cas(&r->busy, 0, 1))
			return nr;
	}
	return REPORT_NONE;
}

__noinline u32 fr_report_line_at(u32 nr, u32 at)
{
	struct report *r = report(nr);

	return r ? fr_report_skip(r->text, at % FR_REPORT_SZ) : FR_REPORT_NONE;
}

__noinline u32 fr_report_begins_at(u32 nr, u32 at)
{
	struct report *r = report(nr);

	return r && at < FR_REPORT_SZ ? fr_report_begins(r->text + at) : 0;
}

__noinline u32 fr_report_next_at(u32 nr, u32 at)
{
	struct report *r = report(nr);

	return r && at < FR_REPORT_SZ ? fr_report_next(r->text, at) : FR_REPORT_NONE;
}

/* As fr_report_find(). */
__noinline u32 fr_report_find_in(u32 nr)
{
	u32 at = 0, line, i;

	for (i = 0; i < FR_REPORT_LINE_MAX && at < FR_REPORT_SZ; i++) {
		line = fr_report_line_at(nr, at);
		if (fr_report_begins_at(nr, line))
			return line;
		at = fr_report_next_at(nr, at);
	}
	return FR_REPORT_NONE;
}

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

/* A moment with len bytes of text as its line. addr: what the detector names. */
FR_INLINE int tell(const void *text, u32 len, u64 addr)
{
	u32 due = fr_rules_due(kernel_rules()), nr = due ? fr_moment_begin(FR_TRIGGER_kernel, due) : FR_MOMENT_NONE;
	struct fr_alert *a = fr_alert(nr);

	if (!a)
		return 0;
	len = len < FR_ALERT_PATH_MAX - 1 ? len : FR_ALERT_PATH_MAX - 1;
	bpf_probe_read_kernel(a->text, len & (FR_ALERT_PATH_MAX - 1), text);
	a->addr = addr;
	fr_moment_of(nr, bpf_get_current_task());
	a->ts = fr_report_write(nr, len);
	return fr_moment_end(nr, due);
}

FR_INLINE void console_line(u32 nr, const void *text, u64 len)
{
	struct report *r = report(nr);
	u32 line, next, sz;

	if (!r)
		return;
	__builtin_memset(r->text, 0, sizeof(r->text));
	bpf_probe_read_kernel(r->text, len < FR_REPORT_SZ ? len : FR_REPORT_SZ, text);
	line = fr_report_find_in(nr);
	if (line >= FR_REPORT_SZ)
		return;
	next = fr_report_next_at(nr, line);
	sz = next - line;
	tell(r->text + line, sz < FR_REPORT_SZ ? sz : FR_REPORT_SZ, 0);
}

SEC("tp_btf/console")
int BPF_PROG(fr_console, const char *text, size_t len)
{
	u32 nr = fr_trigger_idle() ? REPORT_NONE : report_take();
	struct report *r = report(nr);

	if (!r)
		return 0;
	console_line(nr, text, len);
	fr_store(&r->busy, 0);
	return 0;
}

static const char detectors[4][8] = {"KFENCE", "KASAN", "WARN", "error"};

/* Since 5.12 (9c0dee54eb91); its detector WARN since 5.17. */
SEC("tp_btf/error_report_end")
int BPF_PROG(fr_error_report_end, u32 detector, unsigned long id)
{
	if (fr_trigger_idle())
		return 0;
	return tell(detectors[detector < 3 ? detector : 3], sizeof(detectors[0]) - 1, id);
}

char _license[] SEC("license") = "Dual BSD/GPL";
