/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* top_columns: the tables and their columns. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/dev.h"
#include "read/waits/waited.h"
#include "show/top/top_int.h"

#define GET(name, type, expr)                                               \
	static void name(const struct fr_top_cell *c, struct fr_top_val *v) \
	{                                                                   \
		const struct type *r = c->rec;                              \
                                                                            \
		v->num = (expr);                                            \
	}

static void columns_put_text(struct fr_top_val *v, const char *text)
{
	int len = snprintf(v->buf, sizeof(v->buf), "%s", text);

	v->len = len < (int)sizeof(v->buf) ? (size_t)len : sizeof(v->buf) - 1;
}

static bool columns_is_recorded(const struct fr_top *t, const char *event)
{
	u32 i;

	for (i = 0; i < fr_replay_file_cnt(t->replay); i++)
		if (fr_snap_records(fr_replay_snap(t->replay, i), event))
			return true;
	return false;
}

/* Of what may not have been recorded, which is not 0. (A time of 0 is "-" in any case.) */
#define GET_KNOWN(name, type, known, expr)                                  \
	static void name(const struct fr_top_cell *c, struct fr_top_val *v) \
	{                                                                   \
		const struct type *r = c->rec;                              \
                                                                            \
		v->num = (expr);                                            \
		if (!(known))                                               \
			columns_put_text(v, "-");                           \
	}
#define GET_IF(name, type, event, expr) GET_KNOWN(name, type, columns_is_recorded(c->top, event), expr)
#define GET_FAULTS(name, type, expr) \
	GET_KNOWN(name, type,        \
		  columns_is_recorded(c->top, "page_fault_user") && columns_is_recorded(c->top, "page_fault_kernel"), expr)

/* ---- lists ---- */

static const void **columns_list_tally(const struct fr_tally *t, u32 *cnt)
{
	const void **rec = calloc(t->cnt + 1, sizeof(*rec));
	u32 i;

	for (i = 0; rec && i < t->cnt; i++)
		rec[i] = fr_tally_at(t, i);
	*cnt = rec ? t->cnt : 0;
	return rec;
}

#define LIST(name, tally)                                                  \
	static const void **name(const struct fr_an_result *res, u32 *cnt) \
	{                                                                  \
		return columns_list_tally(&res->tally, cnt);               \
	}

LIST(list_calls, calls)
LIST(list_reasons, reasons)
LIST(list_waits, waits)
LIST(list_blocks, blocks)

/* As in the report: only tasks that have events or ran. */
static const void **columns_list_tasks(const struct fr_an_result *res, u32 *cnt)
{
	const void **rec = calloc(res->task_cnt + 1, sizeof(*rec));
	u32 i;

	*cnt = 0;
	for (i = FR_AN_IDLE + 1; rec && i < res->task_cnt; i++) {
		const struct fr_an_sums *s = &res->task[i]->sum;

		if (s->event_cnt || s->oncpu_ns || s->run_cnt || s->migrate_cnt)
			rec[(*cnt)++] = res->task[i];
	}
	return rec;
}

static const void **list_cpus(const struct fr_an_result *res, u32 *cnt)
{
	const void **rec = calloc(res->cpu_cnt + 1, sizeof(*rec));
	u32 i;

	*cnt = 0;
	for (i = 0; rec && i < res->cpu_cnt; i++)
		if (res->cpu[i].seen)
			rec[(*cnt)++] = &res->cpu[i];
	return rec;
}

static const void **list_handlers(const struct fr_an_result *res, u32 *cnt)
{
	const void **rec = calloc((size_t)res->irqs.cnt + res->softirqs.cnt + 1, sizeof(*rec));
	u32 i;

	*cnt = 0;
	for (i = 0; rec && i < res->irqs.cnt; i++)
		rec[(*cnt)++] = fr_tally_at(&res->irqs, i);
	for (i = 0; rec && i < res->softirqs.cnt; i++)
		rec[(*cnt)++] = fr_tally_at(&res->softirqs, i);
	return rec;
}

/* ---- tasks ---- */

static void task_name(const struct fr_top_cell *c, struct fr_top_val *v)
{
	const struct fr_an_task *r = c->rec;

	v->text = r->comm;
	v->len = r->comm ? r->comm_len : 0;
}

static u64 part_of(u64 ns, const struct fr_an_result *res)
{
	u64 all = res->end_ns > res->begin_ns ? res->end_ns - res->begin_ns : 1;

	return (u64)((unsigned __int128)ns * 1000 / all);
}

static void task_pid(const struct fr_top_cell *c, struct fr_top_val *v)
{
	const struct fr_an_task *r = c->rec;
	char text[16];

	snprintf(text, sizeof(text), "%d", r->pid);
	if (r->pid >= 0)
		columns_put_text(v, text);
}

static void task_tid(const struct fr_top_cell *c, struct fr_top_val *v)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", ((const struct fr_an_task *)c->rec)->tid);
	columns_put_text(v, text);
}

GET_IF(task_share, fr_an_task, "sched_switch", part_of(r->sum.oncpu_ns, c->res))
GET(task_oncpu, fr_an_task, r->sum.oncpu_ns)
GET(task_queued, fr_an_task, r->sum.queued_ns)
/* "?": not kept. */
#define GET_WAKEUP(name, expr)                                              \
	static void name(const struct fr_top_cell *c, struct fr_top_val *v) \
	{                                                                   \
		const struct fr_an_task *r = c->rec;                        \
                                                                            \
		v->num = (expr);                                            \
		if (r->sum.wakeup_left_out)                                 \
			columns_put_text(v, "?");                           \
	}

GET_WAKEUP(task_wake99, fr_hist_quantile(&r->sum.wakeup, 990000))
GET_WAKEUP(task_wakemax, r->sum.wakeup.max)
GET(task_blocked, fr_an_task, r->sum.blocked_ns)
GET(task_offcpu, fr_an_task, r->sum.offcpu_ns)
GET_IF(task_calls, fr_an_task, "sys_enter", r->sum.call_cnt)
GET_IF(task_errors, fr_an_task, "sys_exit", r->sum.error_cnt)
GET_FAULTS(task_faults, fr_an_task, r->sum.fault_user + r->sum.fault_kernel)
GET(task_events, fr_an_task, r->sum.event_cnt)

static const struct fr_an_task *task_of_task(const struct fr_an_result *res, const void *rec)
{
	(void)res;
	return rec;
}

static const struct fr_top_column task_columns[] = {
	{"task", 15, FR_TOP_TEXT, false, task_name},	{"tid", 8, FR_TOP_TEXT, false, task_tid},
	{"cpu", 7, FR_TOP_SHARE, false, task_share},	{"on-CPU", 10, FR_TOP_NS, false, task_oncpu},
	{"queued", 10, FR_TOP_NS, false, task_queued},	{"wake p99", 10, FR_TOP_NS, true, task_wake99},
	{"off-CPU", 10, FR_TOP_NS, true, task_offcpu},	{"blocked", 10, FR_TOP_NS, true, task_blocked},
	{"calls", 9, FR_TOP_COUNT, true, task_calls},	{"errors", 8, FR_TOP_COUNT, true, task_errors},
	{"faults", 8, FR_TOP_COUNT, true, task_faults}, {"events", 10, FR_TOP_COUNT, true, task_events},
	{"pid", 8, FR_TOP_TEXT, true, task_pid},	{"wake max", 10, FR_TOP_NS, true, task_wakemax},
};

/* ---- CPUs ---- */

GET(cpu_nr, fr_an_cpu, (u64)(r - c->res->cpu))
GET_IF(cpu_busy, fr_an_cpu, "sched_switch",
       r->busy_ns + r->idle_ns ? (u64)((unsigned __int128)r->busy_ns * 1000 / (r->busy_ns + r->idle_ns)) : 0)
GET(cpu_oncpu, fr_an_cpu, r->busy_ns)
GET(cpu_irq, fr_an_cpu, r->irq_ns)
GET(cpu_soft, fr_an_cpu, r->softirq_ns)
GET_IF(cpu_switches, fr_an_cpu, "sched_switch", r->switch_cnt)
GET(cpu_wake99, fr_an_cpu, fr_hist_quantile(&r->wakeup, 990000))
GET_IF(cpu_calls, fr_an_cpu, "sys_enter", r->call_cnt)
GET_FAULTS(cpu_faults, fr_an_cpu, r->fault_cnt)
GET(cpu_events, fr_an_cpu, r->event_cnt)

static const struct fr_top_column cpu_columns[] = {
	{"CPU", 5, FR_TOP_COUNT, false, cpu_nr},       {"busy", 7, FR_TOP_SHARE, false, cpu_busy},
	{"on-CPU", 10, FR_TOP_NS, false, cpu_oncpu},   {"irq", 10, FR_TOP_NS, false, cpu_irq},
	{"softirq", 10, FR_TOP_NS, false, cpu_soft},   {"switches", 10, FR_TOP_COUNT, false, cpu_switches},
	{"wake p99", 10, FR_TOP_NS, true, cpu_wake99}, {"events", 10, FR_TOP_COUNT, true, cpu_events},
	{"calls", 10, FR_TOP_COUNT, true, cpu_calls},  {"faults", 10, FR_TOP_COUNT, true, cpu_faults},
};

/* ---- times of a histogram ---- */

#define HIST_COLUMNS(prefix, type, hist)                            \
	GET(prefix##_cnt, type, r->hist.cnt)                        \
	GET(prefix##_sum, type, fr_hist_sum(&r->hist))              \
	GET(prefix##_p50, type, fr_hist_quantile(&r->hist, 500000)) \
	GET(prefix##_p99, type, fr_hist_quantile(&r->hist, 990000)) \
	GET(prefix##_max, type, r->hist.max)

#define HIST_TIMES(prefix)                                                                       \
	{"p50", 10, FR_TOP_NS, true, prefix##_p50}, {"p99", 10, FR_TOP_NS, false, prefix##_p99}, \
	{                                                                                        \
		"max", 10, FR_TOP_NS, false, prefix##_max                                        \
	}

/* ---- system calls ---- */

static void columns_put_call(const struct fr_top_cell *c, struct fr_top_val *v, u8 abi, s32 id)
{
	char buf[FR_SYSNAME_CALL_SZ];

	columns_put_text(v, fr_top_call_name(c->top, 0, (u32)abi << 24 | ((u32)id & 0xffffff), buf));
}

static void columns_call_name(const struct fr_top_cell *c, struct fr_top_val *v)
{
	const struct fr_an_call *r = c->rec;

	columns_put_call(c, v, r->abi, r->id);
}

GET(call_enters, fr_an_call, r->enter_cnt)
GET(call_errors, fr_an_call, r->error_cnt)
HIST_COLUMNS(call, fr_an_call, latency)

static const struct fr_top_column call_columns[] = {
	{"call", 20, FR_TOP_TEXT, false, columns_call_name}, {"begun", 10, FR_TOP_COUNT, false, call_enters},
	{"errors", 8, FR_TOP_COUNT, false, call_errors},     {"time", 10, FR_TOP_NS, false, call_sum},
	{"timed", 10, FR_TOP_COUNT, true, call_cnt},	     HIST_TIMES(call),
};

/* ---- off the CPU ---- */

static void reason_state(const struct fr_top_cell *c, struct fr_top_val *v)
{
	const struct fr_an_reason *r = c->rec;
	const char *name = fr_report_state_word(r->state);
	char text[16];

	snprintf(text, sizeof(text), "%u", r->state);
	columns_put_text(v, name ?: text);
}

static void reason_in(const struct fr_top_cell *c, struct fr_top_val *v)
{
	const struct fr_an_reason *r = c->rec;

	if (r->in == FR_SPAN_IN_CALL)
		columns_put_call(c, v, r->abi, r->id);
	else if (r->in == FR_SPAN_IN_FAULT)
		columns_put_text(v, "(page fault)");
}

HIST_COLUMNS(reason, fr_an_reason, offcpu)

static const struct fr_top_column reason_columns[] = {
	{"state", 8, FR_TOP_TEXT, false, reason_state},
	{"in", 20, FR_TOP_TEXT, false, reason_in},
	{"time", 10, FR_TOP_NS, false, reason_sum},
	{"times", 10, FR_TOP_COUNT, false, reason_cnt},
	HIST_TIMES(reason),
};

/* ---- who waited for whom ---- */

static void columns_put_who(struct fr_top_val *v, const struct fr_an_task *k)
{
	u32 len = k->comm ? k->comm_len : 1;

	if (len > FR_COMM_SZ)
		len = FR_COMM_SZ;
	memcpy(v->buf, k->comm ?: "?", len);
	v->len = len + (u32)snprintf(v->buf + len, sizeof(v->buf) - len, " %u", k->tid);
}

static void wait_who(const struct fr_top_cell *c, struct fr_top_val *v)
{
	columns_put_who(v, c->res->task[((const struct fr_an_wait *)c->rec)->task]);
}

static void wait_by(const struct fr_top_cell *c, struct fr_top_val *v)
{
	const struct fr_an_wait *r = c->rec;
	const struct fr_an_task *k = r->by == FR_SPAN_BY_TASK ? c->res->task[r->by_nr] : NULL;
	const char *irq = r->by == FR_SPAN_BY_IRQ ? fr_an_irq_name(c->res, r->by_nr) : NULL;
	char buf[48];

	if (r->by == FR_SPAN_BY_OTHER) {
		columns_put_text(v, fr_waker_words(r->by_nr));
	} else if (irq) {
		snprintf(buf, sizeof(buf), "irq %s", irq);
		columns_put_text(v, buf);
	} else if (k && k->tid) {
		columns_put_who(v, k);
	} else if (k) {
		columns_put_text(v, "the idle task");
	} else {
		columns_put_text(v, fr_top_irq_name(c->top, r->by_nr | (r->by == FR_SPAN_BY_SOFTIRQ ? FR_TL_SOFT : 0), 0, buf));
	}
}

GET(wait_cnt, fr_an_wait, r->cnt)
GET(wait_offcpu, fr_an_wait, r->offcpu_ns)
GET(wait_wakeup, fr_an_wait, r->wakeup_ns)

static const struct fr_an_task *task_of_wait(const struct fr_an_result *res, const void *rec)
{
	return res->task[((const struct fr_an_wait *)rec)->task];
}

static const struct fr_top_column wait_columns[] = {
	{"who", 22, FR_TOP_TEXT, false, wait_who},	{"woken by", 22, FR_TOP_TEXT, false, wait_by},
	{"times", 8, FR_TOP_COUNT, false, wait_cnt},	{"off-CPU", 10, FR_TOP_NS, false, wait_offcpu},
	{"to a CPU", 10, FR_TOP_NS, true, wait_wakeup},
};

/* ---- interrupts, block requests ---- */

static bool is_softirq(const struct fr_top_cell *c)
{
	const struct fr_tally *s = &c->res->softirqs;
	const char *p = c->rec;

	return s->cnt && p >= s->rec && p < s->rec + s->cnt * s->rec_sz;
}

static void irq_name(const struct fr_top_cell *c, struct fr_top_val *v)
{
	const struct fr_an_irq *r = c->rec;
	char buf[48];

	columns_put_text(v, fr_top_irq_name(c->top, ((u32)r->key & 0xffffff) | (is_softirq(c) ? FR_TL_SOFT : 0), 0, buf));
}

static void irq_handler(const struct fr_top_cell *c, struct fr_top_val *v)
{
	const struct fr_an_irq *r = c->rec;

	columns_put_text(v, r->name);
}

GET(irq_begins, fr_an_irq, r->begin_cnt)
HIST_COLUMNS(irq, fr_an_irq, latency)

static const struct fr_top_column irq_columns[] = {
	{"interrupt", 18, FR_TOP_TEXT, false, irq_name}, {"handler", 16, FR_TOP_TEXT, true, irq_handler},
	{"begun", 10, FR_TOP_COUNT, false, irq_begins},	 {"time", 10, FR_TOP_NS, false, irq_sum},
	{"timed", 10, FR_TOP_COUNT, true, irq_cnt},	 HIST_TIMES(irq),
};

static void block_dev(const struct fr_top_cell *c, struct fr_top_val *v)
{
	const struct fr_an_block *r = c->rec;
	char text[FR_DEV_NAME_SZ + 2], name[FR_DEV_NAME_SZ];

	snprintf(text, sizeof(text), "%s %c", fr_dev_name(fr_replay_view(c->top->replay, 0)->disks, r->dev, name), r->rw);
	columns_put_text(v, text);
}

static void columns_block_layer(const struct fr_top_cell *c, struct fr_top_val *v)
{
	columns_put_text(v, ((const struct fr_an_block *)c->rec)->io ? "process" : "device");
}

GET(block_begins, fr_an_block, r->begin_cnt)
GET(block_bytes, fr_an_block, r->bytes)
GET(block_errors, fr_an_block, r->error_cnt)
HIST_COLUMNS(block, fr_an_block, latency)

static const struct fr_top_column block_columns[] = {
	{"device", 12, FR_TOP_TEXT, false, block_dev},	 {"for", 8, FR_TOP_TEXT, false, columns_block_layer},
	{"begun", 9, FR_TOP_COUNT, false, block_begins}, {"bytes", 10, FR_TOP_SIZE, false, block_bytes},
	{"errors", 7, FR_TOP_COUNT, true, block_errors}, {"time", 10, FR_TOP_NS, true, block_sum},
	{"timed", 9, FR_TOP_COUNT, true, block_cnt},	 HIST_TIMES(block),
};

#define TABLE(cols) cols, sizeof(cols) / sizeof((cols)[0])

const struct fr_top_table fr_top_tables[] = {
	{"tasks", TABLE(task_columns), 3, columns_list_tasks, task_of_task},
	{"CPUs", TABLE(cpu_columns), 1, list_cpus, NULL},
	{"system calls", TABLE(call_columns), 3, list_calls, NULL},
	{"time off the CPU", TABLE(reason_columns), 2, list_reasons, NULL},
	{"wakings", TABLE(wait_columns), 3, list_waits, task_of_wait},
	{"interrupts", TABLE(irq_columns), 3, list_handlers, NULL},
	{"block requests", TABLE(block_columns), 5, list_blocks, NULL},
};
