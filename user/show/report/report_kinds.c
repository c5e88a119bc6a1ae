/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * report_kinds: the kinds of records of a report. To add a figure, give its column here: text, JSON and the reference have it
 * then. A place in text that is taken moves nothing: of two columns with one place, the first comes first.
 */
#include "show/report/report_kinds.h"

#include <stdio.h>

#include "base/schema/reasons.h"
#include "base/text/dev.h"
#include "read/replay/klogs.h"
#include "sys/memory.h"

#define NAME_COLS 15 /* of a comm */

/* ---- pieces ---- */

static u64 kinds_rated_ns(const struct fr_report *r)
{
	return r->res->end_ns > r->res->rated_ns ? r->res->end_ns - r->res->rated_ns : 0;
}

static struct fr_value kinds_share(u64 part, u64 whole)
{
	return whole ? fr_value_real(100.0 * (double)part / (double)whole) : fr_value_null();
}

/* The counter of the record per second, over the part behind the common horizon. */
static struct fr_value kinds_rate(const struct fr_at *at)
{
	u64 ns = kinds_rated_ns(at->of), cnt = *(const u64 *)((const char *)at->rec + at->column->off);

	return ns ? fr_value_real((double)cnt * 1e9 / (double)ns) : fr_value_null();
}

#define RATE(type, member, ...) FR_COLUMN(type, member, NULL, RATE, "begun a second", .get = kinds_rate, __VA_ARGS__)

/* Count, mean and percentiles of a histogram, behind all else. */
#define QUANTILES(type, member)                                                                          \
	FR_COLUMN_OF(CNT, type, member, NULL, COUNT, NULL, FR_TEXT(30, "count", 10, .least = 90)),       \
		FR_COLUMN_OF(MEAN, type, member, NULL, NS, NULL, FR_TEXT(31, "mean", 10, .least = 100)), \
		FR_COLUMN_OF(P50, type, member, NULL, NS, NULL, FR_TEXT(32, "p50", 10)),                 \
		FR_COLUMN_OF(P99, type, member, NULL, NS, NULL, FR_TEXT(33, "p99", 10)),                 \
		FR_COLUMN_OF(MAX, type, member, NULL, NS, NULL, FR_TEXT(34, "max", 10))

static struct fr_value kinds_task_comm(const struct fr_at *at)
{
	const struct fr_an_task *t = at->rec;

	return fr_value_mem(t->comm, t->comm_len);
}

static struct fr_value kinds_task_pid(const struct fr_at *at)
{
	const struct fr_an_task *t = at->rec;

	return t->pid >= 0 ? fr_value_snr(t->pid) : fr_value_null();
}

struct fr_value fr_report_comm(const struct fr_report *r, u32 tid, u64 ts, u16 cpu)
{
	struct fr_who who = fr_names_who(r->view->names, tid, ts, cpu);

	return fr_value_mem(who.comm, who.len);
}

struct fr_value fr_report_fact(const struct fr_at *at)
{
	const struct fr_report *r = at->of;

	return fr_value_text(fr_snap_fact(r->snap, at->column->arg));
}

struct fr_value fr_report_fact_nr(const struct fr_at *at)
{
	const struct fr_report *r = at->of;
	s64 v;

	return fr_snap_fact_num(r->snap, at->column->arg, &v) ? fr_value_snr(v) : fr_value_null();
}

/* ---- tasks, processes, cgroups ---- */

/* What was not recorded is not 0. */
#define NOT_RECORDED "; `null`: not recorded"

static bool kinds_has(const struct fr_at *at, enum fr_report_of event)
{
	return ((const struct fr_report *)at->of)->recorded[event];
}

static struct fr_value kinds_count_if(const struct fr_at *at, enum fr_report_of event, u64 v)
{
	return kinds_has(at, event) ? fr_value_nr(v) : fr_value_null();
}

static struct fr_value kinds_wakeup(const struct fr_at *at, const struct fr_hist *h)
{
	return kinds_has(at, FR_REPORT_OF_sched_waking) ? (struct fr_value){.kind = FR_VALUE_HIST, .hist = h} : fr_value_null();
}

/* Of both rooms. */
static struct fr_value kinds_faults(const struct fr_at *at, u64 v)
{
	return kinds_has(at, FR_REPORT_OF_page_fault_user) ? kinds_count_if(at, FR_REPORT_OF_page_fault_kernel, v)
							   : fr_value_null();
}

static struct fr_value sums_wakeup(const struct fr_at *at)
{
	const struct fr_an_sums *s = at->rec;

	return s->wakeup_left_out ? fr_value_null() : kinds_wakeup(at, &s->wakeup);
}

static struct fr_value sums_wakeup_p50(const struct fr_at *at)
{
	const struct fr_an_sums *s = at->rec;

	return s->wakeup_left_out ? fr_value_null() : fr_value_nr(fr_hist_quantile(&s->wakeup, 500000));
}

static struct fr_value sums_wakeup_p99(const struct fr_at *at)
{
	const struct fr_an_sums *s = at->rec;

	return s->wakeup_left_out ? fr_value_null() : fr_value_nr(fr_hist_quantile(&s->wakeup, 990000));
}

static struct fr_value sums_share(const struct fr_at *at)
{
	const struct fr_an_sums *s = at->rec;

	return kinds_has(at, FR_REPORT_OF_sched_switch) ? kinds_share(s->rated_oncpu_ns, kinds_rated_ns(at->of))
							: fr_value_null();
}

/* The member, where this event was recorded. */
#define X(event)                                                                                                          \
	static struct fr_value recorded_##event(const struct fr_at *at)                                                   \
	{                                                                                                                 \
		return kinds_count_if(at, FR_REPORT_OF_##event, *(const u64 *)((const char *)at->rec + at->column->off)); \
	}
FR_REPORT_EVENTS(X)
#undef X

static struct fr_value sums_faults(const struct fr_at *at)
{
	const struct fr_an_sums *s = at->rec;

	return kinds_faults(at, s->fault_user + s->fault_kernel);
}

/* clang-format off */
#define SUM(member, ...) FR_COLUMN(struct fr_an_sums, member, __VA_ARGS__)
#define SUM_IF(event, member, name, unit, meaning, ...) \
	SUM(member, name, unit, meaning NOT_RECORDED, .get = recorded_##event, __VA_ARGS__)
/* Text has them by importance: a narrow page has the first ones. */
static const struct fr_column sums_columns[] = {
	SUM(event_cnt, "events", COUNT, "its events"),
	FR_COLUMN_MADE(sums_share, NULL, SHARE, "time on a CPU, of the rated time", FR_TEXT(11, "cpu", 7)),
	SUM_IF(sched_switch, oncpu_ns, "oncpu_ns", NS, "time on a CPU", FR_TEXT(12, "on-CPU", 10, .least = 42)),
	SUM_IF(sched_switch, rated_oncpu_ns, "rated_oncpu_ns", NS, "of this, in the rated part of the window"),
	SUM_IF(sched_switch, run_cnt, "runs", COUNT, "times it got a CPU"),
	SUM_IF(sched_switch, preempt_cnt, "preempted", COUNT, "times it left one while still runnable"),
	SUM_IF(sched_switch, offcpu_ns, "offcpu_ns", NS, "time off its CPU, until it ran again"),
	SUM_IF(sched_switch, queued_ns, "queued_ns", NS, "of this, runnable", FR_TEXT(13, "queued", 10, .least = 52)),
	SUM_IF(sched_switch, blocked_ns, "blocked_ns", NS, "of this, in D", FR_TEXT(15, "blocked", 10, .least = 72)),
	FR_COLUMN_MADE(sums_wakeup, "wakeup", HIST, "run-queue latency: from being woken to running; `null`: not recorded, or no room for it"),
	FR_COLUMN_MADE(sums_wakeup_p99, NULL, NS, NULL, FR_TEXT(14, "wake p99", 10, .least = 62, .none = "?")),
	FR_COLUMN_MADE(sums_wakeup_p50, NULL, NS, NULL, FR_TEXT(19, "wake p50", 10, .least = 115, .none = "?")),
	SUM_IF(sched_waking, wake_cnt, "wakes", COUNT, "times it woke another task"),
	SUM_IF(sched_migrate_task, migrate_cnt, "migrations", COUNT, "times it moved to another CPU"),
	SUM_IF(sys_enter, call_cnt, "syscalls", COUNT, "system calls begun", FR_TEXT(16, "syscalls", 12, .least = 84)),
	SUM_IF(sys_exit, call_ns, "syscall_ns", NS, "time in those that ended"),
	SUM_IF(sys_exit, error_cnt, "errors", COUNT, "system calls that failed", FR_TEXT(17, "errors", 11, .least = 95)),
	SUM_IF(page_fault_user, fault_user, "faults_user", COUNT, "page faults in user space"),
	SUM_IF(page_fault_kernel, fault_kernel, "faults_kernel", COUNT, "page faults in the kernel"),
	FR_COLUMN_MADE(sums_faults, NULL, COUNT, NULL, FR_TEXT(18, "faults", 10, .least = 105)),
	SUM_IF(block_io_start, io_cnt, "ios", COUNT, "block I/O begun, as its process sees it"),
	SUM_IF(block_io_start, io_bytes, "io_bytes", SIZE, "of these"),
	SUM_IF(cpu_sample, sample_cnt, "samples", COUNT, "CPU samples taken in it"),
	{},
};
static const struct fr_table kind_sums = {"sums", "What is added up of tasks, and of groups of them.", sums_columns};

/* ---- whose they are ---- */

#define BELONGS(name, meaning) \
	FR_COLUMN(struct fr_belongs, text[FR_BELONGS_##name], #name, TEXT, meaning "; `null`: none, or not known"),
static const struct fr_column belongs_columns[] = {FR_BELONGS(BELONGS){}};
#undef BELONGS
static const struct fr_table kind_belongs = {"belongs", "Whose a task, process or cgroup is.", belongs_columns};
/* clang-format on */

/* pid -1: of whoever is in that cgroup. Never NULL: JSON has all keys. */
static const void *kinds_belongs(const struct fr_report *r, s32 pid, u64 ts, u64 cgroup)
{
	static const struct fr_belongs nobody;

	return fr_cgroups_belongs(r->view->cgroups, pid, ts, cgroup) ?: &nobody;
}

static const void *task_belongs(const struct fr_at *at, u32 i)
{
	const struct fr_an_task *t = at->rec;

	return i ? NULL : kinds_belongs(at->of, t->pid, t->seen_ns, t->cgroup);
}

static const void *process_belongs(const struct fr_at *at, u32 i)
{
	const struct fr_report *r = at->of;
	const struct fr_an_group *g = at->rec;
	const struct fr_an_task *t = r->res->task[g->task];

	return i ? NULL : kinds_belongs(r, t->pid, t->seen_ns, t->cgroup);
}

static const void *cgroup_belongs(const struct fr_at *at, u32 i)
{
	const struct fr_an_group *g = at->rec;

	return i ? NULL : kinds_belongs(at->of, -1, 0, g->key);
}

/* clang-format off */
static const struct fr_column task_columns[] = {
	FR_COLUMN(struct fr_an_task, nr, "nr", NUMBER, "of the task, for `waits`"),
	FR_COLUMN(struct fr_an_task, tid, "tid", NUMBER, "its number", FR_TEXT(2, "tid", 8)),
	FR_COLUMN_MADE(kinds_task_pid, "pid", NUMBER, "its process; `null`: not known"),
	FR_COLUMN_MADE(kinds_task_comm, "comm", TEXT, "its last name; `null`: not known", FR_TEXT(1, "task", -NAME_COLS, .none = "<...>")),
	FR_COLUMN(struct fr_an_task, cgroup, "cgroup", NUMBER, "id of its cgroup; 0: not known"),
	FR_PART_MADE(task_belongs, NULL, &kind_belongs, NULL),
	FR_PART(struct fr_an_task, sum, NULL, &kind_sums, NULL),
	{},
};
const struct fr_table fr_report_kind_task = {"tasks", "A task: a tid, until a fork gives it to another.", task_columns};
/* clang-format on */

static struct fr_value process_get(const struct fr_at *at, struct fr_value (*get)(const struct fr_at *at))
{
	const struct fr_report *r = at->of;
	const struct fr_an_group *g = at->rec;
	struct fr_at of_task = *at;

	of_task.rec = r->res->task[g->task];
	return get(&of_task);
}

static struct fr_value process_pid(const struct fr_at *at)
{
	return process_get(at, kinds_task_pid);
}

static struct fr_value process_comm(const struct fr_at *at)
{
	const struct fr_an_group *g = at->rec;

	return g->comm ? fr_value_mem(g->comm, g->comm_len) : process_get(at, kinds_task_comm);
}

static struct fr_value process_comm_text(const struct fr_at *at)
{
	const struct fr_an_group *g = at->rec;

	return g->key == FR_AN_NO_PROCESS ? fr_value_text("(not known)") : process_comm(at);
}

static const char *kinds_cgroup_path(const struct fr_report *r, u64 id)
{
	return fr_cgroups_path(r->view->cgroups, -1, 0, id);
}

/* What people call it; else the path, whose end tells more. A character is shown whole or not at all. */
static struct fr_value cgroup_text(const struct fr_at *at)
{
	const struct fr_an_group *g = at->rec;
	const char *path = kinds_cgroup_path(at->of, g->key);
	size_t len = path ? strlen(path) : 0, cut = len > NAME_COLS + 7 ? len - NAME_COLS - 7 : 0;

	if (path && fr_belongs_words(kinds_belongs(at->of, -1, 0, g->key), at->room->text, sizeof(at->room->text)))
		return fr_value_text(at->room->text);
	for (; cut < len && ((u8)path[cut] & 0xc0) == 0x80; cut++)
		;
	if (path)
		return fr_value_mem(path + cut, len - cut);
	if (!g->key) /* of tasks that the table of tasks lacks */
		return fr_value_text("not known");
	snprintf(at->room->text, sizeof(at->room->text), "%llu", g->key);
	return fr_value_text(at->room->text);
}

static struct fr_value cgroup_path(const struct fr_at *at)
{
	const struct fr_an_group *g = at->rec;

	return fr_value_text(kinds_cgroup_path(at->of, g->key));
}

/* Of a program or container that is not known, nothing is. */
static bool group_is_known(const struct fr_at *at)
{
	return ((const struct fr_an_group *)at->rec)->key;
}

static struct fr_value program_name(const struct fr_at *at)
{
	return group_is_known(at) ? process_comm(at) : fr_value_null();
}

static struct fr_value group_processes(const struct fr_at *at)
{
	const struct fr_an_group *g = at->rec;

	return group_is_known(at) || g->process_cnt ? fr_value_nr(g->process_cnt) : fr_value_null();
}

static const void *container_belongs(const struct fr_at *at, u32 i)
{
	static const struct fr_belongs nobody;

	return i ? NULL : group_is_known(at) ? process_belongs(at, 0) : &nobody;
}

/* NAMESPACE/POD/CONTAINER, of which containers have what they have. */
static struct fr_value container_text(const struct fr_at *at)
{
	const struct fr_belongs *b = container_belongs(at, 0);
	const char *name = b->text[FR_BELONGS_container] ?: b->text[FR_BELONGS_container_id], *pod = b->text[FR_BELONGS_pod];
	const char *namespace = pod ? b->text[FR_BELONGS_namespace] : NULL;

	if (!group_is_known(at) || !name)
		return fr_value_text(group_is_known(at) ? "(none)" : "(not known)");
	snprintf(at->room->text, sizeof(at->room->text), "%s%s%s%s%s", namespace ?: "", namespace ? "/" : "", pod ?: "",
		 pod ? "/" : "", name);
	return fr_value_text(at->room->text);
}

static struct fr_value container_is_known(const struct fr_at *at)
{
	return fr_value_bool(group_is_known(at));
}

/* clang-format off */
static const struct fr_column process_columns[] = {
	FR_COLUMN_MADE(process_pid, "pid", NUMBER, "its number; `null`: of tasks whose process is not known", FR_TEXT(2, "pid", 8, .none = "")),
	FR_COLUMN_MADE(process_comm, "comm", TEXT, "name of its first thread, or of another if that is not known; `null`: not known",
		       FR_TEXT(1, "process", -NAME_COLS, .none = "<...>", .say = process_comm_text)),
	FR_COLUMN(struct fr_an_group, task_cnt, "tasks", COUNT, "its tasks"),
	FR_PART_MADE(process_belongs, NULL, &kind_belongs, NULL),
	FR_PART(struct fr_an_group, sum, NULL, &kind_sums, NULL),
	{},
};
const struct fr_table fr_report_kind_process = {"processes", "A process, of the tasks in `tasks`.", process_columns};

static const struct fr_column cgroup_columns[] = {
	FR_COLUMN(struct fr_an_group, key, "cgroup", NUMBER, "its id (+ 2^52: of the memory controller's v1 hierarchy); 0: not known"),
	FR_COLUMN_MADE(cgroup_path, "path", TEXT, "its path; `null`: not known", FR_TEXT(1, "cgroup", -NAME_COLS - 8, .say = cgroup_text)),
	FR_COLUMN(struct fr_an_group, task_cnt, "tasks", COUNT, "its tasks"),
	FR_PART_MADE(cgroup_belongs, NULL, &kind_belongs, NULL),
	FR_PART(struct fr_an_group, sum, NULL, &kind_sums, NULL),
	{},
};
const struct fr_table fr_report_kind_cgroup = {"cgroups", "A cgroup, of the tasks in `tasks`.", cgroup_columns};

static const struct fr_column program_columns[] = {
	FR_COLUMN_MADE(program_name, "program", TEXT, "name of its processes' first threads; `null`: not known",
		       FR_TEXT(1, "program", -NAME_COLS, .none = "(not known)")),
	FR_COLUMN_MADE(group_processes, "processes", COUNT, "its processes; `null`: not known", FR_TEXT(2, "procs", 8, .none = "")),
	FR_COLUMN(struct fr_an_group, task_cnt, "tasks", COUNT, "their tasks"),
	FR_PART(struct fr_an_group, sum, NULL, &kind_sums, NULL),
	{},
};
const struct fr_table fr_report_kind_program = {"programs", "The `processes` of one name.", program_columns};

static const struct fr_column container_columns[] = {
	FR_COLUMN_MADE(container_is_known, "known", BOOL, "is it known whether these processes are in a container?"),
	FR_COLUMN_MADE(container_text, NULL, TEXT, NULL, FR_TEXT(1, "container", -2 * NAME_COLS)),
	FR_COLUMN_MADE(group_processes, "processes", COUNT, "its processes; `null`: not known"),
	FR_COLUMN(struct fr_an_group, task_cnt, "tasks", COUNT, "their tasks"),
	FR_PART_MADE(container_belongs, NULL, &kind_belongs, NULL),
	FR_PART(struct fr_an_group, sum, NULL, &kind_sums, NULL),
	{},
};
const struct fr_table fr_report_kind_container = {"containers", "The `processes` of one container, or of none.", container_columns};
/* clang-format on */

/* ---- system calls ---- */

struct call {
	u8 abi;
	s32 id;
};

static struct fr_value kinds_call_name(const struct fr_at *at)
{
	const struct call *c = at->rec;

	return fr_value_text(fr_report_call_name(at->of, c->abi, c->id));
}

/* In a cell of a table. */
static struct fr_value call_text(const struct fr_at *at, u8 abi, s32 id)
{
	return fr_value_text(fr_report_call_text(at->of, abi, id, at->room->text));
}

static const void *call_put(const struct fr_at *at, u8 abi, s32 id)
{
	struct call *c = (void *)at->room;

	*c = (struct call){.abi = abi, .id = id};
	return c;
}

static const void *call_of_call(const struct fr_at *at, u32 i)
{
	const struct fr_an_call *c = at->rec;

	return i ? NULL : call_put(at, c->abi, c->id);
}

static const void *call_of_error(const struct fr_at *at, u32 i)
{
	const struct fr_an_error *e = at->rec;

	return i ? NULL : call_put(at, e->abi, e->id);
}

static const void *call_of_in(const struct fr_at *at, u32 i)
{
	const struct fr_report_in *in = at->rec;

	return i || in->in != FR_SPAN_IN_CALL ? NULL : call_put(at, in->abi, in->id);
}

static struct fr_value call_text_of_call(const struct fr_at *at)
{
	const struct fr_an_call *c = at->rec;

	return call_text(at, c->abi, c->id);
}

static struct fr_value call_text_of_error(const struct fr_at *at)
{
	const struct fr_an_error *e = at->rec;

	return call_text(at, e->abi, e->id);
}

static struct fr_value error_name(const struct fr_at *at)
{
	const struct fr_an_error *e = at->rec;

	return fr_value_text(fr_errno_name(e->errno_nr));
}

/* "ENOENT         No such file or directory" */
static struct fr_value error_text(const struct fr_at *at)
{
	const struct fr_an_error *e = at->rec;
	const char *name = fr_errno_name(e->errno_nr);

	if (name)
		snprintf(at->room->text, sizeof(at->room->text), "%-14s %s", name, fr_report_errno_words(e->errno_nr) ?: "");
	else
		snprintf(at->room->text, sizeof(at->room->text), "%u", e->errno_nr);
	return fr_value_text(at->room->text);
}

/* clang-format off */
static const struct fr_column call_id_columns[] = {
	FR_COLUMN(struct call, id, "id", NUMBER, "of the system call"),
	FR_COLUMN(struct call, abi, "abi", NUMBER, "0: the machine's; 1: the 32-bit one"),
	FR_COLUMN_MADE(kinds_call_name, "name", TEXT, "`null`: not known"),
	{},
};
static const struct fr_table kind_call_id = {"call", "A system call.", call_id_columns};

static const struct fr_column call_columns[] = {
	FR_PART_MADE(call_of_call, NULL, &kind_call_id, NULL),
	FR_COLUMN_MADE(call_text_of_call, NULL, TEXT, NULL, FR_TEXT(1, "call", -18)),
	FR_COLUMN(struct fr_an_call, enter_cnt, "enters", COUNT, "begun"),
	FR_COLUMN(struct fr_an_call, rated_cnt, "rated_enters", COUNT, "of these, in the rated part of the window"),
	RATE(struct fr_an_call, rated_cnt, FR_TEXT(2, "/s", 10)),
	FR_COLUMN(struct fr_an_call, exit_cnt, "exits", COUNT, "ended"),
	FR_COLUMN(struct fr_an_call, error_cnt, "errors", COUNT, "of these, failed", FR_TEXT(3, "errors", 8)),
	FR_COLUMN_OF(SUM, struct fr_an_call, latency, NULL, NS, NULL, FR_TEXT(4, "time", 10)),
	FR_COLUMN(struct fr_an_call, latency, "latency", HIST, "from begin to end, of those whose begin is known"),
	QUANTILES(struct fr_an_call, latency),
	{},
};
const struct fr_table fr_report_kind_call = {"syscalls",
	"A system call. An end belongs to the call that its task began, also if the kernel changed the number: to -1 (`rt_sigreturn`), or, "
	"once a program was executed (`execveat`, or a program of another ABI), to that ABI's `execve`.", call_columns};

static const struct fr_column error_columns[] = {
	FR_PART_MADE(call_of_error, NULL, &kind_call_id, NULL),
	FR_COLUMN_MADE(call_text_of_error, NULL, TEXT, NULL, FR_TEXT(1, "call", -18)),
	FR_COLUMN(struct fr_an_error, errno_nr, "errno", NUMBER, "the error", FR_TEXT(3, "error", 0, .lead = "  ", .say = error_text)),
	FR_COLUMN_MADE(error_name, "errno_name", TEXT, "its name; `null`: it has none"),
	FR_COLUMN(struct fr_an_error, cnt, "count", COUNT, "how often", FR_TEXT(2, "times", 10)),
	{},
};
const struct fr_table fr_report_kind_error = {"errors", "An error of a system call.", error_columns};
/* clang-format on */

/* ---- off the CPU ---- */

static struct fr_value in_state_name(const struct fr_at *at)
{
	const struct fr_report_in *in = at->rec;

	return fr_value_text(fr_report_state_word(in->state));
}

static struct fr_value in_word(const struct fr_at *at)
{
	const struct fr_report_in *in = at->rec;

	return fr_value_text(fr_report_in_word(in->in));
}

static const void *in_of_reason(const struct fr_at *at, u32 i)
{
	const struct fr_an_reason *o = at->rec;
	struct fr_report_in *in = (void *)at->room;

	*in = (struct fr_report_in){.state = o->state, .in = o->in, .abi = o->abi, .id = o->id};
	return i ? NULL : in;
}

static struct fr_value reason_state_text(const struct fr_at *at)
{
	const struct fr_an_reason *o = at->rec;
	const char *state = fr_report_state_word(o->state);

	snprintf(at->room->text, sizeof(at->room->text), "%u", o->state);
	return fr_value_text(state ?: at->room->text);
}

static struct fr_value reason_in_text(const struct fr_at *at)
{
	const struct fr_an_reason *o = at->rec;

	if (o->in == FR_SPAN_IN_CALL)
		return call_text(at, o->abi, o->id);
	return fr_value_text(o->in == FR_SPAN_IN_FAULT ? "(page fault)" : "-");
}

static struct fr_value by_word(const struct fr_at *at)
{
	const struct fr_report_by *b = at->rec;

	if (b->by == FR_SPAN_BY_OTHER)
		return fr_value_text(fr_sysname(&(struct fr_sys){0}, FR_STYLE_WAKER, b->nr));
	return fr_value_text(b->by == FR_SPAN_BY_IRQ ? "irq" : b->by == FR_SPAN_BY_SOFTIRQ ? "softirq" : "task");
}

static struct fr_value by_nr(const struct fr_report_by *b, u8 by)
{
	return b->by == by ? fr_value_nr(b->nr) : fr_value_absent();
}

static struct fr_value kinds_by_task(const struct fr_at *at)
{
	return by_nr(at->rec, FR_SPAN_BY_TASK);
}

static struct fr_value by_irq(const struct fr_at *at)
{
	return by_nr(at->rec, FR_SPAN_BY_IRQ);
}

static struct fr_value by_softirq(const struct fr_at *at)
{
	return by_nr(at->rec, FR_SPAN_BY_SOFTIRQ);
}

static const char *softirq_name(u64 vec)
{
	static const struct fr_sys none;

	return fr_sysname(&none, FR_STYLE_SOFTIRQ, vec);
}

static struct fr_value by_softirq_name(const struct fr_at *at)
{
	const struct fr_report_by *b = at->rec;

	return b->by == FR_SPAN_BY_SOFTIRQ ? fr_value_text(softirq_name(b->nr)) : fr_value_absent();
}

static const struct fr_an_task *kinds_waker_of(const struct fr_at *at)
{
	const struct fr_report *r = at->of;
	const struct fr_an_wait *w = at->rec;

	return w->by == FR_SPAN_BY_TASK ? r->res->task[w->by_nr] : NULL;
}

static const void *by_of_wait(const struct fr_at *at, u32 i)
{
	const struct fr_an_task *waker = kinds_waker_of(at);
	const struct fr_an_wait *w = at->rec;
	struct fr_report_by *b = (void *)at->room;

	*b = (struct fr_report_by){.by = w->by, .nr = waker ? waker->tid : w->by_nr};
	return i ? NULL : b;
}

static struct fr_value wait_waker_task(const struct fr_at *at)
{
	const struct fr_an_task *waker = kinds_waker_of(at);

	return waker ? fr_value_nr(waker->nr) : fr_value_absent();
}

static struct fr_value wait_waker_comm(const struct fr_at *at)
{
	const struct fr_an_task *waker = kinds_waker_of(at);

	return waker ? fr_value_mem(waker->comm, waker->comm_len) : fr_value_absent();
}

static const struct fr_an_task *waiter_of(const struct fr_at *at)
{
	const struct fr_report *r = at->of;
	const struct fr_an_wait *w = at->rec;

	return r->res->task[w->task];
}

static struct fr_value wait_task(const struct fr_at *at)
{
	return fr_value_nr(waiter_of(at)->nr);
}

static struct fr_value wait_tid(const struct fr_at *at)
{
	return fr_value_nr(waiter_of(at)->tid);
}

static struct fr_value wait_comm(const struct fr_at *at)
{
	return fr_value_mem(waiter_of(at)->comm, waiter_of(at)->comm_len);
}

/* A task other than the idle one woke it. */
static bool wait_is_by_task(const struct fr_at *at)
{
	const struct fr_an_task *t = kinds_waker_of(at);

	return t && t->tid;
}

static struct fr_value wait_waker_comm_text(const struct fr_at *at)
{
	return wait_is_by_task(at) ? wait_waker_comm(at) : fr_value_absent();
}

static struct fr_value wait_waker_tid_text(const struct fr_at *at)
{
	return wait_is_by_task(at) ? fr_value_nr(kinds_waker_of(at)->tid) : fr_value_absent();
}

const char *fr_report_by_words(const struct fr_report *r, const struct fr_report_by *b, char text[FR_REPORT_BY_SZ])
{
	const char *name;

	if (b->by == FR_SPAN_BY_TASK)
		return "the idle task";
	if (b->by == FR_SPAN_BY_OTHER)
		return fr_waker_words(b->nr);
	name = b->by == FR_SPAN_BY_IRQ ? fr_an_irq_name(r->res, b->nr) : softirq_name(b->nr);
	if (name)
		snprintf(text, FR_REPORT_BY_SZ, "%s %s", b->by == FR_SPAN_BY_IRQ ? "irq" : "softirq", name);
	else
		snprintf(text, FR_REPORT_BY_SZ, "%s %u", b->by == FR_SPAN_BY_IRQ ? "irq" : "softirq", b->nr);
	return text;
}

static struct fr_value wait_other_text(const struct fr_at *at)
{
	const struct fr_an_wait *w = at->rec;
	const struct fr_report_by by = {.by = w->by, .nr = w->by_nr};

	_Static_assert(sizeof(at->room->text) >= FR_REPORT_BY_SZ, "the words have room");
	return wait_is_by_task(at) ? fr_value_absent() : fr_value_text(fr_report_by_words(at->of, &by, at->room->text));
}

/* clang-format off */
static const struct fr_column in_columns[] = {
	FR_COLUMN(struct fr_report_in, state, "state", NUMBER, "in which it left its CPU, as `prev_state`"),
	FR_COLUMN_MADE(in_state_name, "state_name", TEXT, "its name, as `prev_state`"),
	FR_COLUMN_MADE(in_word, "in", TEXT, "what it was in: `syscall`, `fault` or `none`"),
	FR_PART_MADE(call_of_in, NULL, &kind_call_id, "of `syscall`"),
	{},
};
const struct fr_table fr_report_kind_in = {"left", "How a task left its CPU.", in_columns};

static const struct fr_column by_columns[] = {
	FR_COLUMN_MADE(by_word, "by", TEXT, "`task`, `irq`, `softirq`, `nmi`, `unknown`; by the record of the wait also `timer`"),
	FR_COLUMN_MADE(kinds_by_task, "waker_tid", NUMBER, "of `task`; 0: the idle task"),
	FR_COLUMN_MADE(by_irq, "irq", NUMBER, "of `irq`, if its handler has an event"),
	FR_COLUMN_MADE(by_softirq, "softirq", NUMBER, "of `softirq`, if it has an event"),
	FR_COLUMN_MADE(by_softirq_name, "softirq_name", TEXT, "of `softirq`"),
	{},
};
const struct fr_table fr_report_kind_by = {"waker", "What woke a task.", by_columns};

static const struct fr_column wait_columns[] = {
	FR_COLUMN_MADE(wait_task, "task", NUMBER, "who waited: its `nr` in `tasks`"),
	FR_COLUMN_MADE(wait_tid, "tid", NUMBER, NULL, FR_TEXT(2, "tid", 8)),
	FR_COLUMN_MADE(wait_comm, "comm", TEXT, "`null`: not known", FR_TEXT(1, "who", -NAME_COLS, .none = "<...>")),
	FR_PART_MADE(by_of_wait, NULL, &fr_report_kind_by, NULL),
	FR_COLUMN_MADE(wait_waker_task, "waker_task", NUMBER, "of `task`: its `nr`; `tasks` lacks it if all it did was to wake before the window"),
	FR_COLUMN_MADE(wait_waker_comm, "waker_comm", TEXT, "of `task`; `null`: not known"),
	FR_COLUMN_MADE(wait_waker_comm_text, NULL, TEXT, NULL, FR_TEXT(3, "woken by", -NAME_COLS, .lead = " <- ", .none = "<...>")),
	FR_COLUMN_MADE(wait_waker_tid_text, NULL, NUMBER, NULL, FR_TEXT(4, "tid", 8)),
	FR_COLUMN_MADE(wait_other_text, NULL, TEXT, NULL, FR_TEXT(5, NULL, -NAME_COLS - 8, .lead = " <- ")),
	FR_COLUMN(struct fr_an_wait, cnt, "count", COUNT, "how often", FR_TEXT(6, "times", 8)),
	FR_COLUMN(struct fr_an_wait, offcpu_ns, "offcpu_ns", NS, "off the CPU until it was woken", FR_TEXT(7, "off-CPU", 10)),
	FR_COLUMN(struct fr_an_wait, wakeup_ns, "wakeup_ns", NS, "from being woken to running", FR_TEXT(8, "to a CPU", 10)),
	{},
};
const struct fr_table fr_report_kind_wait = {"waits", "Which task waited for which, or for an interrupt.", wait_columns};

static const struct fr_column reason_columns[] = {
	FR_PART_MADE(in_of_reason, NULL, &fr_report_kind_in, NULL),
	FR_COLUMN_MADE(reason_state_text, NULL, TEXT, NULL, FR_TEXT(1, "state", -10, .whole = true)),
	FR_COLUMN_MADE(reason_in_text, NULL, TEXT, NULL, FR_TEXT(2, "in", -18, .lead = " ")),
	FR_COLUMN_OF(SUM, struct fr_an_reason, offcpu, NULL, NS, NULL, FR_TEXT(3, "time", 10)),
	FR_COLUMN(struct fr_an_reason, offcpu, "offcpu", HIST, "until it ran again"),
	QUANTILES(struct fr_an_reason, offcpu),
	{},
};
const struct fr_table fr_report_kind_reason = {"offcpu", "Time off the CPU, by how tasks left it.", reason_columns};
/* clang-format on */

/* ---- block, interrupts ---- */

static struct fr_value kinds_block_layer(const struct fr_at *at)
{
	const struct fr_an_block *b = at->rec;

	return fr_value_text(b->io ? "io" : "rq");
}

static struct fr_value block_rw(const struct fr_at *at)
{
	const struct fr_an_block *b = at->rec;

	return fr_value_mem(&b->rw, 1);
}

static struct fr_value block_dev_text(const struct fr_at *at)
{
	const struct fr_report *r = at->of;
	const struct fr_an_block *b = at->rec;

	return fr_value_text(fr_dev_name(r->view->disks, b->dev, at->room->text));
}

static struct fr_value block_for_text(const struct fr_at *at)
{
	const struct fr_an_block *b = at->rec;

	snprintf(at->room->text, sizeof(at->room->text), "%c %s", b->rw, b->io ? "process" : "device");
	return fr_value_text(at->room->text);
}

static struct fr_value softirq_name_of(const struct fr_at *at)
{
	const struct fr_an_irq *i = at->rec;

	return fr_value_text(softirq_name(i->key));
}

/* clang-format off */
static const struct fr_column block_columns[] = {
	FR_COLUMN_MADE(kinds_block_layer, "layer", TEXT, "`rq`: the driver's part, issue to completion; `io`: as its process sees it"),
	FR_COLUMN(struct fr_an_block, dev, "dev", NUMBER, "the device: major * 2^20 + minor", FR_TEXT(1, "device", -10, .say = block_dev_text)),
	FR_COLUMN_MADE(block_rw, "rw", TEXT, "R W D F, or N"),
	FR_COLUMN_MADE(block_for_text, NULL, TEXT, NULL, FR_TEXT(2, "for", -11, .lead = " ")),
	FR_COLUMN(struct fr_an_block, begin_cnt, "begins", COUNT, "begun"),
	FR_COLUMN(struct fr_an_block, rated_cnt, "rated_begins", COUNT, "of these, in the rated part of the window"),
	RATE(struct fr_an_block, rated_cnt, FR_TEXT(3, "/s", 10)),
	FR_COLUMN(struct fr_an_block, end_cnt, "ends", COUNT, "ended"),
	FR_COLUMN(struct fr_an_block, error_cnt, "errors", COUNT, "of these, failed", FR_TEXT(5, "errors", 8)),
	FR_COLUMN(struct fr_an_block, bytes, "bytes", SIZE, "of those begun", FR_TEXT(4, "bytes", 10)),
	FR_COLUMN(struct fr_an_block, latency, "latency", HIST, "from begin to end, of those whose begin is known"),
	QUANTILES(struct fr_an_block, latency),
	{},
};
const struct fr_table fr_report_kind_block = {"block",
	"Block requests of a device and direction. A write of 0 bytes with a flush before it (`FWS`) begins as F, since it ends so (`FF`); "
	"the kernel then also ends that empty write: an end of W that nothing began. A request that its driver sends back, and that is "
	"issued again, begins once; it begins each time in a file that was cut by process, cgroup or a filter, or whose end is lost, and "
	"text says so.", block_columns};

static const struct fr_column handler_columns[] = {
	FR_COLUMN(struct fr_an_irq, begin_cnt, "begins", COUNT, "begun"),
	FR_COLUMN(struct fr_an_irq, rated_cnt, "rated_begins", COUNT, "of these, in the rated part of the window"),
	RATE(struct fr_an_irq, rated_cnt, FR_TEXT(3, "/s", 10)),
	FR_COLUMN(struct fr_an_irq, end_cnt, "ends", COUNT, "ended"),
	FR_COLUMN_OF(SUM, struct fr_an_irq, latency, NULL, NS, NULL, FR_TEXT(4, "time", 10)),
	FR_COLUMN(struct fr_an_irq, latency, "time", HIST, "from begin to end"),
	QUANTILES(struct fr_an_irq, latency),
	{},
};
static const struct fr_table kind_handler = {"handler", "How often, and how long, the handler of an interrupt or a softirq ran.", handler_columns};

/* A part that is the record itself. */
#define SAME(kind_) {.unit = FR_UNIT_PART, .kind = (kind_)}

static const struct fr_column irq_columns[] = {
	FR_COLUMN(struct fr_an_irq, key, "irq", NUMBER, "of the interrupt", FR_TEXT(1, "irq", -5)),
	FR_COLUMN(struct fr_an_irq, name, "name", TEXT, "of its handler", FR_TEXT(2, "handler", -NAME_COLS, .lead = " ")),
	SAME(&kind_handler),
	{},
};
const struct fr_table fr_report_kind_irq = {"irqs", "An interrupt.", irq_columns};

static const struct fr_column softirq_columns[] = {
	FR_COLUMN(struct fr_an_irq, key, "vec", NUMBER, "of the softirq", FR_TEXT(1, "vec", -5)),
	FR_COLUMN_MADE(softirq_name_of, "name", TEXT, "its name; `null`: not known", FR_TEXT(2, "name", -NAME_COLS, .lead = " ", .none = "?", .whole = true)),
	SAME(&kind_handler),
	{},
};
const struct fr_table fr_report_kind_softirq = {"softirqs", "A softirq.", softirq_columns};
/* clang-format on */

/* ---- CPUs ---- */

static struct fr_value kinds_cpu_nr(const struct fr_at *at)
{
	const struct fr_report *r = at->of;

	return fr_value_nr((const struct fr_an_cpu *)at->rec - r->res->cpu);
}

/* With a filter, of all the time: what it does not select is no idleness, but had its time. */
static struct fr_value cpu_busy(const struct fr_at *at)
{
	const struct fr_an_cpu *c = at->rec;

	if (!kinds_has(at, FR_REPORT_OF_sched_switch))
		return fr_value_null();
	return kinds_share(c->rated_busy_ns, c->rated_busy_ns + c->rated_idle_ns ? c->rated_known_ns : 0);
}

static struct fr_value cpu_faults(const struct fr_at *at)
{
	return kinds_faults(at, ((const struct fr_an_cpu *)at->rec)->fault_cnt);
}

static struct fr_value cpu_wakeup(const struct fr_at *at)
{
	return kinds_wakeup(at, &((const struct fr_an_cpu *)at->rec)->wakeup);
}

static struct fr_value cpu_complete(const struct fr_at *at)
{
	const struct fr_report *r = at->of;
	const struct fr_an_cpu *c = at->rec;

	return fr_value_nr(r->res->end_ns > c->horizon_ns ? r->res->end_ns - c->horizon_ns : 0);
}

/* Who ran from when on. */
struct ran {
	u64 ts;
	u32 tid;
	u16 cpu;
};

static const void *cpu_ran(const struct fr_at *at, u32 i)
{
	const struct fr_report *r = at->of;
	const struct fr_an_cpu *c = at->rec;
	struct ran *ran = (void *)at->room;

	ran->cpu = c - r->res->cpu;
	if (c->first_known && !i) {
		ran->ts = r->res->moment_begin_ns;
		ran->tid = c->first_tid;
		return ran;
	}
	i -= c->first_known;
	if (i >= c->seg_cnt)
		return NULL;
	ran->ts = c->seg[i].ts;
	ran->tid = c->seg[i].tid;
	return ran;
}

static struct fr_value ran_tid(const struct fr_at *at)
{
	const struct ran *ran = at->rec;

	return ran->tid == FR_AN_NOT_KNOWN ? fr_value_null() : fr_value_nr(ran->tid);
}

static struct fr_value ran_comm(const struct fr_at *at)
{
	const struct ran *ran = at->rec;

	return ran->tid == FR_AN_NOT_KNOWN ? fr_value_null() : fr_report_comm(at->of, ran->tid, ran->ts, ran->cpu);
}

/* clang-format off */
static const struct fr_column ran_columns[] = {
	FR_COLUMN(struct ran, ts, "ts", CLOCK, "from then on"),
	FR_COLUMN_MADE(ran_tid, "tid", NUMBER, "the task; 0: idle; `null`: not known, events are missing"),
	FR_COLUMN_MADE(ran_comm, "comm", TEXT, "its name; `null`: not known"),
	{},
};
static const struct fr_table kind_ran = {"ran", "Who had a CPU in the moment.", ran_columns};

#define CPU(member, ...) FR_COLUMN(struct fr_an_cpu, member, __VA_ARGS__)
#define CPU_IF(event, member, name, unit, meaning, ...) \
	CPU(member, name, unit, meaning NOT_RECORDED, .get = recorded_##event, __VA_ARGS__)
#define WIDE 98 /* a narrower page has less columns */
static const struct fr_column cpu_columns[] = {
	FR_COLUMN_MADE(kinds_cpu_nr, "cpu", NUMBER, "the CPU", FR_TEXT(1, "CPU", 4)),
	CPU(horizon_ns, "horizon_ns", CLOCK, "its history is complete from here on"),
	CPU(event_cnt, "events", COUNT, "its events"),
	CPU_IF(sched_switch, switch_cnt, "switches", COUNT, "from one task to another", FR_TEXT(6, "switches", 10)),
	FR_COLUMN_MADE(cpu_busy, NULL, SHARE, NULL, FR_TEXT(2, "busy", 7)),
	CPU_IF(sched_switch, busy_ns, "busy_ns", NS, "a task had it", FR_TEXT(3, "on-CPU", 10)),
	CPU_IF(sched_switch, idle_ns, "idle_ns", NS, "it was idle"),
	CPU_IF(sched_switch, rated_busy_ns, "rated_busy_ns", NS, "of `busy_ns`, in the rated part of the window"),
	CPU_IF(sched_switch, rated_idle_ns, "rated_idle_ns", NS, "of `idle_ns`, likewise"),
	CPU_IF(irq_handler_exit, irq_ns, "irq_ns", NS, "in handlers of interrupts", FR_TEXT(4, "in irq", 10)),
	CPU_IF(softirq_exit, softirq_ns, "softirq_ns", NS, "in softirqs", FR_TEXT(5, "softirq", 10)),
	CPU_IF(sys_enter, call_cnt, "syscalls", COUNT, "system calls begun", FR_TEXT(9, "syscalls", 12, .least = WIDE)),
	FR_COLUMN_MADE(cpu_faults, "faults", COUNT, "page faults" NOT_RECORDED, FR_TEXT(10, "faults", 10, .least = WIDE)),
	FR_COLUMN_OF(P99, struct fr_an_cpu, wakeup, NULL, NS, NULL, FR_TEXT(7, "wake p99", 10)),
	FR_COLUMN_MADE(cpu_wakeup, "wakeup", HIST, "run-queue latency of the tasks that ran here" NOT_RECORDED),
	FR_COLUMN_MADE(cpu_complete, NULL, NS, NULL, FR_TEXT(8, "complete", 10)),
	FR_LIST(cpu_ran, "ran", &kind_ran, "in the moment"),
	{},
};
const struct fr_table fr_report_kind_cpu = {"cpus", "A CPU.", cpu_columns};
/* clang-format on */

/* ---- all of it ---- */

static struct fr_value report_version(const struct fr_at *at)
{
	(void)at;
	return fr_value_nr(1);
}

static struct fr_value window_rated(const struct fr_at *at)
{
	return fr_value_nr(kinds_rated_ns(at->of));
}

static const void *report_result(const struct fr_at *at, u32 i)
{
	const struct fr_report *r = at->of;

	return i ? NULL : r->res;
}

/* clang-format off */
#define RES(member, ...) FR_COLUMN(struct fr_an_result, member, __VA_ARGS__)
static const struct fr_column window_columns[] = {
	RES(begin_ns, "begin_ns", CLOCK, "the first event"),
	RES(end_ns, "end_ns", CLOCK, "the last one"),
	RES(horizon_ns, "horizon_ns", CLOCK, "common: the history of all CPUs is complete from here on"),
	RES(rated_ns, "rated_begin_ns", CLOCK, "begin of the rated part"),
	FR_COLUMN_MADE(window_rated, "rated_ns", NS, "its length"),
	RES(moment_begin_ns, "moment_begin_ns", CLOCK, "begin of the moment"),
	RES(moment_end_ns, "moment_end_ns", CLOCK, "its end"),
	RES(event_cnt, "events", COUNT, "all of them"),
	RES(rated_cnt, "rated_events", COUNT, "of these, in the rated part"),
	{},
};
static const struct fr_table kind_window = {"window", "What the figures cover.", window_columns};
/* clang-format on */

static const void *report_left_out(const struct fr_at *at, u32 i)
{
	const struct fr_report *r = at->of;

	return i || !fr_an_left_any(r->res) ? NULL : r->res;
}

static struct fr_value kinds_left_memory(const struct fr_at *at)
{
	(void)at;
	return fr_value_nr(fr_memory_bound());
}

static const char *left_key(u32 i)
{
	return i < FR_AN_LEFT_CNT ? fr_an_left_names[i] : NULL;
}

/* clang-format off */
static const struct fr_column left_columns[] = {
	FR_COLUMN_MADE(kinds_left_memory, "memory", SIZE, "the limit"),
	FR_MAP(struct fr_an_result, left_out, NULL, left_key,
	       "how many have no place: `tasks`; `wakeups`: tasks without a histogram `wakeup`; `calls`, `blocks`, `irqs`, `softirqs`: begins "
	       "and ends; `errors`, `samples`; `offcpu`, `waits`: times; `lanes`: switches of the moment; `processes`, `cgroups`: tasks; `programs`, `containers`: processes; "
	       "`forgotten`: times that all calls and waits in progress were forgotten"),
	RES(left_event_cnt, "events_of_tasks", COUNT, "of the tasks that have none"),
	{},
};
static const struct fr_table kind_left = {"left_out", "What has no place in the tables, [for lack of memory](#memory).", left_columns};
/* clang-format on */

/* An event, and how many. */
struct event {
	const struct fr_event *ev;
	u64 cnt, rated_cnt;
};

static const void *report_event(const struct fr_at *at, u32 i)
{
	const struct fr_report *r = at->of;
	struct event *e = (void *)at->room;
	u32 nr;

	for (nr = 0; nr < FR_EVENT_MAX; nr++) {
		e->ev = r->res->cnt_of[nr] ? fr_schema_event(fr_replay_schema(r->replay, 0), nr) : NULL;
		if (e->ev && !i--)
			break;
	}
	if (nr == FR_EVENT_MAX)
		return NULL;
	e->cnt = r->res->cnt_of[nr];
	e->rated_cnt = r->res->rated_of[nr];
	return e;
}

static struct fr_value kinds_event_name(const struct fr_at *at)
{
	return fr_value_text(((const struct event *)at->rec)->ev->name);
}

/* clang-format off */
static const struct fr_column event_columns[] = {
	FR_COLUMN_MADE(kinds_event_name, "event", TEXT, "[its name](events.md)"),
	FR_COLUMN(struct event, cnt, "count", COUNT, "how often it came"),
	FR_COLUMN(struct event, rated_cnt, "rated_count", COUNT, "of these, in the rated part of the window"),
	{},
};
static const struct fr_table kind_event = {"events", "An event.", event_columns};

static const struct fr_column total_columns[] = {
	FR_PART(struct fr_an_result, all, NULL, &kind_sums, NULL),
	RES(offcpu, "offcpu", HIST, "times off a CPU"),
	RES(queued, "queued", HIST, "of these, runnable"),
	RES(blocked, "blocked", HIST, "of these, in D"),
	RES(oncpu, "oncpu", HIST, "on a CPU, a run at a time"),
	{},
};
static const struct fr_table kind_total = {"total", "All tasks but the idle ones.", total_columns};
/* clang-format on */

static const void *report_cpu(const struct fr_at *at, u32 i)
{
	const struct fr_an_result *res = ((const struct fr_report *)at->of)->res;
	u32 nr;

	for (nr = 0; nr < res->cpu_cnt; nr++)
		if (res->cpu[nr].seen && !i--)
			return &res->cpu[nr];
	return NULL;
}

static const void *report_ranked(const struct fr_at *at, u32 i)
{
	const struct fr_report *r = at->of;
	u32 what = at->column->off;

	return i < r->rank[what].cnt ? r->rank[what].rec[i] : NULL;
}

static const void *report_function(const struct fr_at *at, u32 i)
{
	const struct fr_report *r = at->of;

	return i < r->fn_cnt ? &r->fn[i] : NULL;
}

/* clang-format off */
#define FN(member, ...) FR_COLUMN(struct fr_report_fn, member, __VA_ARGS__)
static const struct fr_column function_columns[] = {
	FN(name, "name", TEXT, "`null`: not known"),
	FN(module, "module", TEXT, "program, library, `[kernel]` or kernel module; `null`: not known"),
	FN(ip, "ip", NUMBER, "an address in it"),
	FN(user, "user", BOOL, "in user space"),
	FN(cnt, "samples", COUNT, "CPU samples in it"),
	{},
};
static const struct fr_table kind_function = {"functions", "A function with samples.", function_columns};
/* clang-format on */

static const void *lost_map(const struct fr_at *at, u32 i)
{
	const struct fr_summary *m = ((const struct fr_report *)at->of)->sum;
	u64 *lost = (void *)at->room;
	u32 k;

	for (k = 0; k < FR_LOST_CNT; k++)
		lost[k] = fr_summary_lost(m, k);
	return i ? NULL : lost;
}

static struct fr_value lost_holes(const struct fr_at *at)
{
	return fr_value_nr(((const struct fr_report *)at->of)->sum->hole_cnt);
}

static struct fr_value lost_damage(const struct fr_at *at)
{
	return fr_value_nr(fr_snap_damage(((const struct fr_report *)at->of)->snap));
}

static const void *report_cut(const struct fr_at *at, u32 i)
{
	const struct fr_report *r = at->of;

	return !i && fr_snap_fact(r->snap, "cut_from") ? r : NULL;
}

static const void *report_sum(const struct fr_at *at, u32 i)
{
	const struct fr_report *r = at->of;

	return i ? NULL : r->sum;
}

static const void *report_thinned(const struct fr_at *at, u32 i)
{
	const struct fr_thins *t = &((const struct fr_report *)at->of)->thins;

	return i < t->of.cnt ? (const struct fr_thinned *)t->of.at + i : NULL;
}

static struct fr_value thinned_path(const struct fr_at *at)
{
	const struct fr_report *r = at->of;
	const struct fr_thinned *t = at->rec;

	return fr_value_text(r->view->cgroups ? fr_cgroups_path(r->view->cgroups, -1, t->until_ns, t->cgroup) : NULL);
}

/* clang-format off */
#define THINNED(member, ...) FR_COLUMN(struct fr_thinned, member, __VA_ARGS__)
static const struct fr_column thinned_columns[] = {
	THINNED(cgroup, "cgroup", NUMBER, "its id"),
	FR_COLUMN_MADE(thinned_path, "path", TEXT, "`null`: not known"),
	THINNED(since_ns, "since_ns", CLOCK, "the first that was left out, by the events `thinned` that concern the window"),
	THINNED(until_ns, "until_ns", CLOCK, "the last"),
#define K(nr, name, doc) THINNED(left[FR_THIN_##name], #name, COUNT, doc),
	FR_THIN_KINDS(K)
#undef K
	{},
};
static const struct fr_table kind_thinned = {"thinned", "A cgroup that [wrote more than its share](thinning.md): figures of it are of at least so many.", thinned_columns};

static const struct fr_column lost_columns[] = {
	FR_MAP_MADE(lost_map, NULL, fr_lost_name, "records that could not be written: `wrap`, `retry`, `broken`"),
	FR_COLUMN_MADE(lost_holes, "holes", COUNT, "laps of rings that should be in the file and are not"),
	FR_COLUMN_MADE(lost_damage, "damage", COUNT, "damaged parts of the file"),
	{},
};
static const struct fr_table kind_lost = {"lost", "What is missing.", lost_columns};

#define FACT(fact, key, meaning)	FR_COLUMN_MADE(fr_report_fact, key, TEXT, meaning, .arg = (fact))
#define NR(fact, key, unit, meaning)	FR_COLUMN_MADE(fr_report_fact_nr, key, unit, meaning, .arg = (fact))
static const struct fr_column cut_columns[] = {
	FACT("cut_from", "from", "name of the file it was cut from"),
	NR("cut_since", "since_ns", CLOCK, "begin of the window"),
	NR("cut_until", "until_ns", CLOCK, "its end"),
	FACT("cut_cpu", "cpu", "the option, as given; `null`: not given, as in the next three"),
	FACT("cut_pid", "pid", NULL),
	FACT("cut_cgroup", "cgroup", NULL),
	FACT("cut_filter", "filter", NULL),
	NR("cut_away", "away", COUNT, "events that were left out; `null` in a file that was merged of cuts"),
	{},
};
static const struct fr_table kind_cut = {"cut", "What `flightrec cut` left out.", cut_columns};

static const struct fr_column clock_columns[] = {
	FACT("clock_mode", "mode", "`global` or `local`"),
	NR("clock_grain_ns", "grain_ns", NS, "times of different CPUs run backwards by no more than this"),
	FR_COLUMN(struct fr_summary, ties, "ties", COUNT, "events that may have the same time as another CPU's"),
	FR_COLUMN(struct fr_summary, ahead, "ahead", COUNT, "times the clock that CPUs share was not believed"),
	FR_COLUMN(struct fr_summary, losers, "losers", COUNT, "times an event's time was not made later than another CPU's"),
	{},
};
static const struct fr_table kind_clock = {"clock", "The recording clock.", clock_columns};
/* clang-format on */

static struct fr_value trigger_real(const struct fr_at *at)
{
	const struct fr_report *r = at->of;
	u64 ts = r->res->focus.trigger_ns;

	return fr_value_nr(ts ? fr_wall_real(r->view->wall, ts) : 0);
}

static struct fr_value trigger_before_end(const struct fr_at *at)
{
	const struct fr_report *r = at->of;
	u64 ts = r->res->focus.trigger_ns;

	return ts ? fr_value_snr((s64)(r->res->end_ns - ts)) : fr_value_null();
}

static struct fr_value trigger_sig_name(const struct fr_at *at)
{
	const struct fr_report *r = at->of;
	s64 sig = 0;

	fr_snap_fact_num(r->snap, "trigger_sig", &sig);
	return fr_value_text(sig ? fr_signal_name(sig) : NULL);
}

static const void *report_focus(const struct fr_at *at, u32 i)
{
	const struct fr_report *r = at->of;

	return !i && r->res->focus.tid ? &r->res->focus : NULL;
}

static const void *report_long_waits(const struct fr_at *at, u32 i)
{
	const struct fr_report *r = at->of;

	return !i && r->waits.recorded ? &r->waits : NULL;
}

static const void *report_still(const struct fr_at *at, u32 i)
{
	const struct fr_report *r = at->of;

	return !i && (fr_snap_fact(r->snap, "states") || r->states.cnt) ? r : NULL;
}

static const void *report_scene(const struct fr_at *at, u32 i)
{
	const struct fr_report *r = at->of;

	return !i && r->scene.at ? r : NULL;
}

static const void *report_klog(const struct fr_at *at, u32 i)
{
	const struct fr_report *r = at->of;

	return !i && fr_klogs_has(r->snap) ? r : NULL;
}

static const void *report_said(const struct fr_at *at, u32 i)
{
	const struct fr_report *r = at->of;

	return !i && r->clues->pid > 0 && r->clues->has[FR_CLUE_SAID] ? &r->clues->said : NULL;
}

static const void *report_rare(const struct fr_at *at, u32 i)
{
	const struct fr_report *r = at->of;

	return !i && r->clues->rares.any ? r : NULL;
}

static const void *report_counters(const struct fr_at *at, u32 i)
{
	const struct fr_report *r = at->of;

	return !i && fr_snap_counters(r->snap) ? r : NULL;
}

/* clang-format off */
static const struct fr_column trigger_columns[] = {
	FACT("trigger_reason", "reason", "why the snapshot was taken: `crash`, `latency`, `command`, ..."),
	FACT("trigger_rule", "rule", "the rule"),
	NR("trigger_ts", "ts", CLOCK, "the moment"),
	RES(focus.at_ns, "at_ns", CLOCK, "the same, or the window's end if it is not in the window"),
	FR_COLUMN_MADE(trigger_real, "real_ns", WALL, "the moment"),
	FR_COLUMN_MADE(trigger_before_end, "before_end_ns", NS, "from the moment to the window's end; less than 0: it comes after that"),
	NR("trigger_pid", "pid", NUMBER, "the process it is about"),
	NR("trigger_tid", "tid", NUMBER, "the task"),
	FACT("trigger_comm", "comm", "its name"),
	FACT("trigger_exe", "exe", "path of its program"),
	FACT("trigger_cgroup", "cgroup", "path of its cgroup"),
	NR("trigger_sig", "sig", NUMBER, "the signal"),
	FR_COLUMN_MADE(trigger_sig_name, "sig_name", TEXT, "its name"),
	NR("trigger_code", "code", NUMBER, "its code"),
	NR("trigger_status", "status", NUMBER, "the exit status"),
	FACT("trigger_addr", "addr", "address of the signal, in hexadecimal"),
	FACT("trigger_ip", "ip", "instruction, in hexadecimal"),
	FACT("trigger_latency", "latency", "`wakeup`, `syscall`, ..."),
	FACT("trigger_span", "span", "of a program's span: its name"),
	NR("trigger_what", "what", NUMBER, "`latency`: the call, interrupt, softirq or device, or a span's id"),
	FACT("trigger_rate", "rate", "`fork`, `exit`, `signal`, `error`"),
	NR("trigger_cnt", "cnt", COUNT, "`rate`: so many within `value_ns`"),
	NR("trigger_limit_cnt", "limit_cnt", COUNT, "`rate`: so many are allowed"),
	NR("trigger_value_ns", "value_ns", NS, "how long it took; `rate`: within this time"),
	NR("trigger_limit_ns", "limit_ns", NS, "the rule's limit"),
	FACT("trigger_text", "text", "what happened"),
	{},
};
static const struct fr_table kind_trigger = {"trigger", "What the snapshot was taken for; `null` is what the file does not tell.", trigger_columns};

#define TABLE(rank, name, kind, ...) \
	FR_LIST(report_ranked, name, &fr_report_kind_##kind, NULL, .off = FR_RANK_##rank, __VA_ARGS__)
static const struct fr_column report_columns[] = {
	FR_COLUMN_MADE(report_version, "report", NUMBER, "1: version of this layout. Keys may be added"),
	FR_PART(struct fr_report, verdict, "verdict", &fr_report_kind_verdict, NULL),
	FR_PART(struct fr_report, changes, "changes", &fr_report_kind_changes, NULL),
	FR_PART_MADE(report_result, "window", &kind_window, NULL),
	FR_PART_MADE(report_left_out, "left_out", &kind_left, "only if something was"),
	FR_PART_MADE(report_result, "trigger", &kind_trigger, NULL),
	FR_PART_MADE(report_focus, "focus", &fr_report_kind_focus, "`null`: there is none", .null = true),
	FR_LIST(report_cpu, "cpus", &fr_report_kind_cpu, NULL),
	FR_LIST(report_event, "events", &kind_event, NULL),
	FR_PART_MADE(report_result, "total", &kind_total, NULL),
	TABLE(TASKS, "tasks", task, .brief = true),
	TABLE(PROCESSES, "processes", process, .brief = true),
	TABLE(CGROUPS, "cgroups", cgroup, .brief = true),
	TABLE(PROGRAMS, "programs", program, .brief = true),
	TABLE(CONTAINERS, "containers", container, .brief = true),
	TABLE(WAITS, "waits", wait),
	TABLE(REASONS, "offcpu", reason),
	TABLE(CALLS, "syscalls", call),
	TABLE(ERRORS, "errors", error),
	TABLE(BLOCKS, "block", block),
	TABLE(IRQS, "irqs", irq),
	TABLE(SOFTIRQS, "softirqs", softirq),
	FR_LIST(report_function, "functions", &kind_function, NULL),
	FR_PART_MADE(report_result, "lost", &kind_lost, NULL),
	FR_LIST(report_thinned, "thinned", &kind_thinned, NULL),
	FR_PART_MADE(report_cut, "cut", &kind_cut, "`null`: nothing", .null = true),
	FR_PART_MADE(report_sum, "clock", &kind_clock, NULL),
	FR_PART_MADE(report_long_waits, "long_waits", &fr_report_kind_waits, "`null`: they were not recorded", .null = true),
	FR_PART_MADE(report_still, "still_waiting", &fr_report_kind_states, "`null`: the file does not say", .null = true),
	FR_PART_MADE(report_scene, "scene", &fr_report_kind_scene, "`null`: it is not the thread that died, or that was not recorded", .null = true),
	FR_PART_MADE(report_said, "stderr", &fr_report_kind_said, "`null`: it was not recorded, or the file is about no process", .null = true),
	FR_PART_MADE(report_klog, "kernel_log", &fr_report_kind_klog, "`null`: the log was not recorded", .null = true),
	FR_PART_MADE(report_rare, "rare", &fr_report_kind_rare, "`null`: not recorded", .null = true),
	FR_PART_MADE(report_counters, "counters", &fr_report_kind_counters, "`null`: they were not recorded", .null = true),
	{},
};
const struct fr_table fr_report_kind = {"report", "All of a report.", report_columns};
/* clang-format on */
