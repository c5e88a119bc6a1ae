/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* rehearse_row: the events that rules are decided by, found in a file's own schema. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/tp/upformat.h"
#include "read/rehearse/rehearse_int.h"
#include "read/snapfile/snapfile_rows.h"

static const struct fr_sub_want re_wants[FR_RE_WHAT_CNT] = {
	[FR_RE_SWITCH] = {"sched_switch", {FR_SUB_NUM("next_pid"), FR_SUB_NUM("prev_state")}},
	[FR_RE_WAKING] = {"sched_waking", {FR_SUB_NUM("target_pid")}},
	[FR_RE_WAKEUP_NEW] = {"sched_wakeup_new", {FR_SUB_NUM("target_pid")}},
	[FR_RE_FORK] = {"sched_process_fork",
			{FR_SUB_NUM("child_pid"), FR_SUB_NUM("child_tgid"), FR_SUB_MAY_NUM("child_start")}},
	[FR_RE_EXEC] = {"sched_process_exec", {FR_SUB_NUM("old_pid"), FR_SUB_TEXT("filename")}},
	[FR_RE_EXIT] = {"sched_process_exit", {FR_SUB_NUM("exit_code"), FR_SUB_NUM("group_dead")}},
	[FR_RE_VICTIM] = {"mark_victim", {FR_SUB_NUM("target_pid"), FR_SUB_NUM("uid"), FR_SUB_NUM("total_vm")}},
	[FR_RE_SIGNAL] = {"signal_generate", {FR_SUB_NUM("target_pid"), FR_SUB_NUM("sig")}},
	[FR_RE_DELIVER] = {"signal_deliver", {FR_SUB_NUM("sig"), FR_SUB_NUM("fatal"), FR_SUB_NUM("ip")}},
	[FR_RE_CRASH] = {"crash", {FR_SUB_NUM("sig"), FR_SUB_NUM("late"), FR_SUB_NUM("ip"), FR_SUB_NUM("uid")}},
	[FR_RE_FAILURE] = {"failure", {FR_SUB_NUM("sig")}},
	[FR_RE_SYS_ENTER] = {"sys_enter", {FR_SUB_NUM("id"), FR_SUB_NUM("abi")}},
	[FR_RE_SYS_EXIT] = {"sys_exit", {FR_SUB_NUM("id"), FR_SUB_NUM("abi"), FR_SUB_NUM("ret")}},
	[FR_RE_RQ_ISSUE] = {"block_rq_issue", {FR_SUB_NUM("dev"), FR_SUB_NUM("sector"), FR_SUB_NUM("bytes")}},
	[FR_RE_RQ_COMPLETE] = {"block_rq_complete", {FR_SUB_NUM("dev"), FR_SUB_NUM("sector"), FR_SUB_NUM("nr_sector")}},
	[FR_RE_IRQ_ENTRY] = {"irq_handler_entry", {FR_SUB_NUM("irq")}},
	[FR_RE_IRQ_EXIT] = {"irq_handler_exit", {FR_SUB_NUM("irq")}},
	[FR_RE_SOFTIRQ_ENTRY] = {"softirq_entry", {FR_SUB_NUM("vec")}},
	[FR_RE_SOFTIRQ_EXIT] = {"softirq_exit", {FR_SUB_NUM("vec")}},
	[FR_RE_REPORT] = {"kernel_report", {FR_SUB_TEXT("text")}},
	[FR_RE_GOVERNOR] = {"governor", {FR_SUB_NUM("step")}},
};

const char *fr_re_event_name(enum fr_re_what what)
{
	return re_wants[what].event;
}

/* Events of programs' marks, as each file names them. */
static void re_bind_mark(struct fr_re_schema *s, u32 nr)
{
	const struct fr_event *ev = fr_schema_event(s->schema, nr);
	u32 mark = ev ? fr_mark_of(ev) : FR_MARK_CNT;
	struct fr_re_mark m;

	if (mark != FR_MARK_begin && mark != FR_MARK_end)
		return;
	m = (struct fr_re_mark){fr_event_field(ev, "name"), fr_event_field(ev, "id"), fr_event_field(ev, "faulted")};
	if (!m.name || fr_field_kind(m.name) != FR_VAL_TEXT || !m.id || !fr_is_stored_num(m.id) ||
	    (m.faulted && !fr_is_stored_num(m.faulted)))
		return;
	s->mark[nr - FR_TP_FIRST] = m;
	s->what[nr] = mark == FR_MARK_begin ? FR_RE_SPAN_BEGIN : FR_RE_SPAN_END;
}

void fr_re_schema_init(struct fr_re_schema *s, const struct fr_schema *schema)
{
	u32 what, nr;

	memset(s, 0, sizeof(*s));
	s->schema = schema;
	for (what = FR_RE_NONE + 1; what < FR_RE_WHAT_CNT; what++)
		if (!fr_subscribe(schema, &re_wants[what], &s->sub[what]))
			s->what[s->sub[what].ev->nr] = what;
	for (nr = FR_TP_FIRST; nr <= FR_TP_LAST; nr++)
		re_bind_mark(s, nr);
}

const struct fr_re_mark *fr_re_mark(const struct fr_re_schema *s, const struct fr_row *r)
{
	return &s->mark[r->ev->nr - FR_TP_FIRST];
}

bool fr_re_lacks_fields(const struct fr_re_schema *s, enum fr_re_what what)
{
	return !s->sub[what].ev && fr_schema_find(s->schema, re_wants[what].event);
}

u64 fr_re_num(const struct fr_re_schema *s, const struct fr_row *r, enum fr_re_what what, u32 i)
{
	return fr_sub_num(&s->sub[what], r, i);
}

void fr_re_text(const struct fr_re_schema *s, const struct fr_row *r, enum fr_re_what what, u32 i, char *buf, size_t sz)
{
	size_t len;
	const char *text = fr_sub_text(&s->sub[what], r, i, &len);

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
