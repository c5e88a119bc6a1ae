/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Console lines that begin a kernel report (report.h), as the console's tracepoint gives them.
 *
 * The tracepoint sees each line as printk() stores it, whatever the console's log level. It also sees what is written to
 * /dev/kmsg, which takes root (or root's permission): whoever may do that can make the kernel seem to report.
 */
#ifndef FR_REPORT_BPF_H
#define FR_REPORT_BPF_H

#include "record.bpf.h"
#include "report.h"

#define FR_REPORT_CNT 2u /* texts at once on a CPU: a line, and one of an NMI that interrupts it */

struct fr_report_text {
	u64 busy; /* 0: free. The CAS and the store of 0 pair with those of what interrupts it here: program order is enough */
	u8 text[FR_REPORT_BUF_SZ];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, FR_REPORT_CNT);
	__type(key, u32);
	__type(value, struct fr_report_text);
} fr_reports SEC(".maps") __weak;

/* Global functions follow, which are verified once. They know buffers by number. */

FR_INLINE struct fr_report_text *fr_report_buf(u32 nr)
{
	return bpf_map_lookup_elem(&fr_reports, &nr);
}

/* Take a free buffer, to be released by the caller; FR_REPORT_CNT: there is none. */
FR_INLINE u32 fr_report_take(void)
{
	struct fr_report_text *r;
	u32 nr;

	for (nr = 0; nr < FR_REPORT_CNT; nr++) {
		r = fr_report_buf(nr);
		if (r && !fr_cas(&r->busy, 0, 1))
			return nr;
	}
	return FR_REPORT_CNT;
}

__weak __noinline u32 fr_report_skip_in(u32 nr, u32 at)
{
	struct fr_report_text *r = fr_report_buf(nr);

	return r ? fr_report_skip(r->text, at % FR_REPORT_SZ) : FR_REPORT_NONE;
}

__weak __noinline u32 fr_report_begins_in(u32 nr, u32 at)
{
	struct fr_report_text *r = fr_report_buf(nr);

	return r ? fr_report_begins_at(r->text, at) : 0;
}

__weak __noinline u32 fr_report_next_in(u32 nr, u32 at)
{
	struct fr_report_text *r = fr_report_buf(nr);

	return r ? fr_report_next(r->text, at) : FR_REPORT_NONE;
}

__weak __noinline u32 fr_report_find_in(u32 nr)
{
	FR_REPORT_FIND(nr, fr_report_skip_in, fr_report_begins_in, fr_report_next_in);
}

/*
 * Copy len bytes of console text into buffer nr and find the line in it that begins a report. Returns that line's length,
 * newline included, and *line, or 0: there is none.
 */
FR_INLINE u32 fr_report_look(u32 nr, const void *text, u64 len, u32 *line)
{
	struct fr_report_text *r = fr_report_buf(nr);

	if (!r)
		return 0;
	__builtin_memset(r->text, 0, sizeof(r->text));
	bpf_probe_read_kernel(r->text, len < FR_REPORT_SZ ? len : FR_REPORT_SZ, text);
	*line = fr_report_find_in(nr);
	if (*line >= FR_REPORT_SZ)
		return 0;
	return fr_report_next_in(nr, *line) - *line;
}

#endif
