/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* rehearse_row: the events that rules are decided by, found in a file's own schema. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "flow/rehearse/rehearse_int.h"
#include "io/snapfile/snapfile_rows.h"

static const struct {
	const char *name;
	const char *field[FR_RE_FIELD_MAX];
} events[FR_RE_WHAT_CNT] = {
	[FR_RE_SWITCH] = {"sched_switch", {"next_pid", "prev_state"}},
	[FR_RE_WAKING] = {"sched_waking", {"target_pid"}},
	[FR_RE_WAKEUP_NEW] = {"sched_wakeup_new", {"target_pid"}},
	[FR_RE_FORK] = {"sched_process_fork", {"child_pid", "child_tgid"}},
	[FR_RE_EXEC] = {"sched_process_exec", {"old_pid", "filename"}},
	[FR_RE_EXIT] = {"sched_process_exit", {"exit_code", "group_dead"}},
	[FR_RE_VICTIM] = {"mark_victim", {"target_pid", "uid", "total_vm"}},
	[FR_RE_DELIVER] = {"signal_deliver", {"sig", "fatal", "ip"}},
	[FR_RE_CRASH] = {"crash", {"sig", "late", "ip", "uid"}},
	[FR_RE_SYS_ENTER] = {"sys_enter", {"id", "abi"}},
	[FR_RE_SYS_EXIT] = {"sys_exit", {"id", "abi", "ret"}},
	[FR_RE_RQ_ISSUE] = {"block_rq_issue", {"dev", "sector", "bytes"}},
	[FR_RE_RQ_COMPLETE] = {"block_rq_complete", {"dev", "sector", "nr_sector"}},
	[FR_RE_IRQ_ENTRY] = {"irq_handler_entry", {"irq"}},
	[FR_RE_IRQ_EXIT] = {"irq_handler_exit", {"irq"}},
	[FR_RE_SOFTIRQ_ENTRY] = {"softirq_entry", {"vec"}},
	[FR_RE_SOFTIRQ_EXIT] = {"softirq_exit", {"vec"}},
	[FR_RE_REPORT] = {"kernel_report", {"text"}},
	[FR_RE_GOVERNOR] = {"governor", {"step"}},
};

const char *fr_re_event_name(enum fr_re_what what)
{
	return events[what].name;
}

/* An event that lacks one of the fields is a different one with the same name: it is not used. */
static void find_event(struct fr_re_schema *s, enum fr_re_what what)
{
	const struct fr_event *ev = fr_schema_find(s->schema, events[what].name);
	u32 i;

	for (i = 0; ev && i < FR_RE_FIELD_MAX && events[what].field[i]; i++) {
		const struct fr_field *f = fr_event_field(ev, events[what].field[i]);

		if (!f || f->kind == FR_KIND_DERIVED)
			return;
		s->field[what][i] = f;
	}
	if (ev)
		s->what[ev->nr] = what;
}

void fr_re_schema_init(struct fr_re_schema *s, const struct fr_schema *schema)
{
	u32 what;

	memset(s, 0, sizeof(*s));
	s->schema = schema;
	for (what = FR_RE_NONE + 1; what < FR_RE_WHAT_CNT; what++)
		find_event(s, what);
}

u64 fr_re_num(const struct fr_re_schema *s, const struct fr_row *r, enum fr_re_what what, u32 i)
{
	const struct fr_field *f = s->field[what][i];

	return fr_field_kind(f) == FR_VAL_NUM ? fr_row_num(r, f) : 0;
}

void fr_re_text(const struct fr_re_schema *s, const struct fr_row *r, enum fr_re_what what, u32 i, char *buf, size_t sz)
{
	const struct fr_field *f = s->field[what][i];
	const char *text = "";
	size_t len = 0;

	if (fr_field_kind(f) == FR_VAL_TEXT)
		text = fr_row_text(r, f, &len);
	snprintf(buf, sz, "%.*s", (int)len, text);
}

int fr_re_each_life(struct fr_snap *snap, int (*fn)(void *arg, const struct fr_row *r), void *arg)
{
	struct fr_batch b = {0};
	size_t cnt, i;
	const struct fr_chunk *c = fr_snap_chunks(snap, &cnt);
	u32 row;
	int err = 0;

	for (i = 0; i < cnt && !err; i++) {
		if (c[i].tier != FR_TIER_LIFE || c[i].damaged)
			continue;
		err = fr_snap_read_chunk(snap, i, &b);
		for (row = 0; !err && row < b.row_cnt; row++) {
			struct fr_row r = fr_batch_row(&b, row);

			err = fn(arg, &r);
		}
		err = err == -EBADMSG ? 0 : err;
	}
	fr_batch_free(&b);
	return err;
}
