/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* report_kinds_waits: long waits, and tasks that were still waiting when the snapshot was taken, as JSON has them. */
#include <string.h>

#include "base/schema/sysnames.h"
#include "read/replay/summary.h"
#include "read/waits/waitstack.h"
#include "show/report/report_kinds.h"

static struct fr_report *waits_report(const struct fr_at *at)
{
	return (struct fr_report *)at->of;
}

/* ---- what a wait and a state are of ---- */

static const struct fr_waited *waits_one(const struct fr_at *at)
{
	return at->rec;
}

static struct fr_value waits_name(const struct fr_waited_name *n)
{
	return fr_value_mem(n->len ? n->text : NULL, n->len);
}

static struct fr_value waits_comm(const struct fr_at *at)
{
	return waits_name(&waits_one(at)->comm);
}

static struct fr_value waits_pid(const struct fr_at *at)
{
	return waits_one(at)->pid >= 0 ? fr_value_snr(waits_one(at)->pid) : fr_value_null();
}

static struct fr_value waits_state_name(const struct fr_at *at)
{
	return fr_value_text(fr_report_state_word(waits_one(at)->state));
}

static struct fr_value waits_in(const struct fr_at *at)
{
	u8 in = waits_one(at)->in;

	return fr_value_text(in == FR_STATE_IN_NONE ? NULL : fr_sysname(&(struct fr_sys){0}, FR_STYLE_WAITEDIN, in));
}

static struct fr_value waits_call(const struct fr_at *at)
{
	const struct fr_waited *one = at->rec;

	return fr_value_text(one->in == FR_WAITED_call ? fr_waited_call(one, waits_report(at)->waits.arch, at->room->text)
						       : NULL);
}

static struct fr_value waits_about(const struct fr_at *at)
{
	const char *about = fr_waited_about(at->rec, waits_report(at)->waits.arch, at->room->text);

	return fr_value_text(*about ? about : NULL);
}

static struct fr_value waits_waker(const struct fr_at *at)
{
	const struct fr_waited *one = at->rec;
	bool woken = !fr_waited_was_runnable(one);

	return fr_value_text(woken ? fr_sysname(&(struct fr_sys){0}, FR_STYLE_WAKER, one->waker) : NULL);
}

static struct fr_value waits_waker_comm(const struct fr_at *at)
{
	return waits_name(&waits_one(at)->waker_comm);
}

static struct fr_value waits_owner_comm(const struct fr_at *at)
{
	return waits_name(&waits_one(at)->owner_comm);
}

/* ---- stacks ---- */

_Static_assert(FR_WAITED_CALL_SZ <= sizeof(union fr_room) && FR_WAITED_OBJECT_SZ <= sizeof(union fr_room), "");

/* The i-th function of the kernel's stack of this id. */
static const void *waits_kernel_of(const struct fr_at *at, u64 id, u32 i)
{
	struct fr_report *r = waits_report(at);
	struct {
		struct fr_waitstack s;
		char text[20];
	} *at_now = (void *)at->room;

	if (!i)
		at_now->s = fr_waitstack_find(r->symbols, r->view->stacks, id);
	i += at_now->s.from;
	return i < at_now->s.to ? fr_waitstack_name(r->symbols, at_now->s.ip[i], at_now->text) : NULL;
}

static const void *waits_kernel(const struct fr_at *at, u32 i)
{
	return waits_kernel_of(at, waits_one(at)->kstack_id, i);
}

/* The program's, which are too many for a room: of the one list that is being written. */
static const void *waits_user(const struct fr_at *at, u32 i)
{
	static struct fr_waituser user[FR_STACK_DEPTH_MAX];
	static u32 cnt;
	const struct fr_waited *one = at->rec;
	struct fr_report *r = waits_report(at);

	if (!i)
		cnt = fr_waituser_find(r->symbols, r->view->stacks, one->pid < 0 ? one->tid : (u32)one->pid, one->ustack_id,
				       user, FR_STACK_DEPTH_MAX);
	return i < cnt ? fr_waituser_name(&user[i], at->room->text) : NULL;
}

static const struct fr_column stacks_columns[] = {
	FR_LIST(waits_kernel, "kernel", NULL,
		"functions of the kernel, innermost first, without the scheduler's; `null`: not recorded", .from = FR_FROM_TEXT,
		.null = true),
	FR_LIST(waits_user, "user", NULL, "the program's; `null`: not recorded", .from = FR_FROM_TEXT, .null = true),
	{},
};
static const struct fr_table kind_stacks = {"wait_stacks", "In which functions a task waited.", stacks_columns};

/* ---- waits ---- */

/* Its own columns are of several kinds. */
static const void *waits_itself(const struct fr_at *at, u32 i)
{
	return i ? NULL : at->rec;
}

/* clang-format off */
#define WAITED(member, name, unit, meaning, ...) FR_COLUMN(struct fr_waited, member, name, unit, meaning, __VA_ARGS__)
#define TIME(member, name, unit, meaning) FR_COLUMN(struct fr_waits_time, member, name, unit, meaning)
/* clang-format on */

/* What makes a sum. */
static const struct fr_column what_columns[] = {
	FR_COLUMN_MADE(waits_comm, "comm", TEXT, "the task's name"),
	FR_COLUMN_MADE(waits_in, "in", TEXT, "`call`, `user`, `kernel`"),
	FR_COLUMN_MADE(waits_call, "call", TEXT, "the system call; `null`: in none"),
	FR_COLUMN_MADE(waits_about, "about", TEXT, "its object, or what the call's registers tell; `null`: not known"),
	FR_COLUMN_MADE(waits_waker, "waker", TEXT,
		       "`task`, `timer`, `softirq`, `irq`, `nmi`, `unknown`; `null`: it was runnable all the time"),
	FR_COLUMN_MADE(waits_waker_comm, "waker_comm", TEXT, "name of the task that woke it; `null`: no task, or not known"),
	{},
};
static const struct fr_table kind_what = {"wait_what", "What a wait was for, and who ended it.", what_columns};

static const struct fr_column time_columns[] = {
	TIME(cnt, "count", COUNT, "how many"),
	TIME(off_ns, "off_ns", NS, "away from the CPU"),
	TIME(blocked_ns, "blocked_ns", NS, "of this, blocked"),
	TIME(queued_ns, "queued_ns", NS, "and runnable"),
	{},
};
static const struct fr_table kind_time = {"wait_time", "How long waits were in all.", time_columns};

static const struct fr_column one_columns[] = {
	WAITED(ts, "ts", CLOCK, "when it ended"),
	WAITED(cpu, "cpu", NUMBER, "and where"),
	WAITED(tid, "tid", NUMBER, "the task"),
	FR_COLUMN_MADE(waits_pid, "pid", NUMBER, "its process"),
	WAITED(off_ns, "off_ns", NS, "away from the CPU"),
	WAITED(blocked_ns, "blocked_ns", NS, "of this, blocked"),
	WAITED(queued_ns, "queued_ns", NS, "and runnable"),
	WAITED(state, "state", NUMBER, "in which it left, as `prev_state`"),
	FR_COLUMN_MADE(waits_state_name, "state_name", TEXT, "the same as a letter"),
	FR_PART_MADE(waits_itself, NULL, &kind_what, NULL),
	WAITED(waker_pid, "waker_tid", NUMBER, "the task that woke it; `null`: none, or not known", .null = true),
	WAITED(owner_pid, "owner_tid", NUMBER,
	       "the task that held the lock when the wait began, as the lock's memory said; `null`: not known", .null = true),
	FR_COLUMN_MADE(waits_owner_comm, "owner_comm", TEXT, "its name"),
	FR_PART_MADE(waits_itself, NULL, &kind_stacks, NULL),
	{},
};
static const struct fr_table kind_one = {"long_wait", "A long wait.", one_columns};

static const struct fr_column sum_columns[] = {
	FR_PART(struct fr_waits_sum, longest, NULL, &kind_what, NULL),
	FR_PART(struct fr_waits_sum, time, NULL, &kind_time, NULL),
	FR_COLUMN(struct fr_waits_sum, longest.off_ns, "longest_ns", NS, "of the longest one"),
	FR_COLUMN(struct fr_waits_sum, longest.ts, "longest_ts", CLOCK, "when that ended"),
	FR_PART(struct fr_waits_sum, longest, NULL, &kind_stacks, "of the longest one"),
	{},
};
static const struct fr_table kind_sum = {
	"wait_sum", "Long waits of one program, in one call, on one object, ended by one waker.", sum_columns};

static bool waits_is_left_out(const struct fr_at *at, u32 i)
{
	u32 top = waits_report(at)->ask->top;

	return top && i >= top;
}

static const void *part_longest(const struct fr_at *at, u32 i)
{
	const struct fr_waits_part *p = at->rec;

	return i < p->longest_cnt && !waits_is_left_out(at, i) ? &p->longest[i] : NULL;
}

static const void *part_sum(const struct fr_at *at, u32 i)
{
	const struct fr_waits_part *p = at->rec;

	return i < p->sums.cnt && !waits_is_left_out(at, i) ? fr_tally_at(&p->sums, i) : NULL;
}

static const struct fr_column part_columns[] = {
	FR_PART(struct fr_waits_part, time, NULL, &kind_time, NULL),
	FR_COLUMN(struct fr_waits_part, left_out, "left_out", COUNT, "waits without a sum, for lack of memory"),
	FR_LIST(part_longest, "longest", &kind_one, "at most 32"),
	FR_LIST(part_sum, "sums", &kind_sum, NULL),
	{},
};
static const struct fr_table kind_part = {"long_waits_of", "Long waits of some tasks.", part_columns};

static struct fr_value waits_min(const struct fr_at *at)
{
	const struct fr_waits *w = at->rec;

	return w->min_ns >= 0 ? fr_value_snr(w->min_ns) : fr_value_null();
}

static struct fr_value waits_horizon(const struct fr_at *at)
{
	return fr_value_nr(fr_summary_horizon(waits_report(at)->sum, FR_TIER_WAIT));
}

static const void *waits_over(const struct fr_at *at, u32 i)
{
	const struct fr_waits *w = at->rec;

	return i < w->over.cnt ? &w->over.at[i] : NULL;
}

static const void *waits_over_rest(const struct fr_at *at, u32 i)
{
	const struct fr_waits *w = at->rec;

	return i || !w->has_over ? NULL : &w->over.rest;
}

static const struct fr_column waits_columns[] = {
	FR_COLUMN_MADE(waits_min, "min_ns", NS, "WaitMin: shorter ones have no record; `null`: not known"),
	FR_COLUMN_MADE(waits_horizon, "horizon_ns", CLOCK, "from then on each CPU has all that were written"),
	FR_PART(struct fr_waits, part[FR_WAITS_OF_TASK], "task", &kind_part, "of the task in focus"),
	FR_PART(struct fr_waits, part[FR_WAITS_OF_PROCESS], "process", &kind_part, "of its process"),
	FR_PART(struct fr_waits, part[FR_WAITS_OF_ALL], "all", &kind_part, "of all"),
	FR_LIST(waits_over, "over_by", &fr_waitsum_kind, "since the session began"),
	FR_PART_MADE(waits_over_rest, "over_rest", &fr_waitsum_rest_kind, NULL),
	{},
};
const struct fr_table fr_report_kind_waits = {"long_waits", "Waits that have a record.", waits_columns};

/* ---- states ---- */

static const struct fr_still *states_still(const struct fr_at *at)
{
	return at->rec;
}

/* As the file has it. */
static struct fr_value states_member(const struct fr_at *at)
{
	return fr_column_member(at, states_still(at)->state);
}

static struct fr_value states_flag(const struct fr_at *at)
{
	return fr_value_bool(states_still(at)->state->flags & at->column->off);
}

static struct fr_value states_since_from(const struct fr_at *at)
{
	static const char *const from[] = {
		[FR_SINCE_UNKNOWN] = NULL, [FR_SINCE_TABLE] = "table", [FR_SINCE_SWITCHES] = "switches"};

	return fr_value_text(from[states_still(at)->from]);
}

static struct fr_value states_id(const struct fr_at *at)
{
	const struct fr_waited *wait = &states_still(at)->wait;

	return wait->in == FR_WAITED_call ? fr_value_snr(wait->id) : fr_value_null();
}

static const void *states_in_call(const struct fr_at *at, u32 i)
{
	const struct fr_still *s = at->rec;

	return !i && s->wait.in == FR_WAITED_call ? &s->wait : NULL;
}

static const void *states_arg(const struct fr_at *at, u32 i)
{
	return i < FR_WAITED_ARGS ? &waits_one(at)->arg[i] : NULL;
}

static struct fr_value states_object(const struct fr_at *at)
{
	const char *object = states_still(at)->state->object;

	return fr_value_text(*object ? object : NULL);
}

static struct fr_value states_waker(const struct fr_at *at)
{
	const struct fr_still *s = at->rec;
	bool known = s->state->woken_ns;

	return fr_value_text(known ? fr_sysname(&(struct fr_sys){0}, FR_STYLE_WAKER, s->wait.waker) : NULL);
}

static const void *states_kernel(const struct fr_at *at, u32 i)
{
	return waits_kernel_of(at, states_still(at)->state->kstack_id, i);
}

/* Columns of a wait that a state has, too: those of its wait. */
static struct fr_value states_wait(const struct fr_at *at, struct fr_value (*get)(const struct fr_at *at))
{
	struct fr_at wait = *at;

	wait.rec = &states_still(at)->wait;
	return get(&wait);
}

/* clang-format off */
#define OF_WAIT(name) static struct fr_value states_##name(const struct fr_at *at) { return states_wait(at, waits_##name); }
OF_WAIT(pid)
OF_WAIT(comm)
OF_WAIT(in)
OF_WAIT(call)
OF_WAIT(about)
OF_WAIT(waker_comm)
OF_WAIT(owner_comm)
OF_WAIT(state_name)

#define STATE(member, name, unit, meaning, ...) \
	FR_COLUMN(struct fr_snap_state, member, name, unit, meaning, .get = states_member, __VA_ARGS__)
#define FLAG(flag, name, meaning) FR_COLUMN_MADE(states_flag, name, BOOL, meaning, .off = FR_STATE_##flag)
/* clang-format on */

static const struct fr_column call_columns[] = {
	WAITED(abi, "abi", NUMBER, "of the call; this and the next are absent if it is in none"),
	FR_LIST(states_arg, "args", NULL, "the call's"),
	{},
};
static const struct fr_table kind_call = {"still_call", "The call that a task is in.", call_columns};

static const struct fr_column still_columns[] = {
	STATE(tid, "tid", NUMBER, "the task"),
	FR_COLUMN_MADE(states_pid, "pid", NUMBER, "its process"),
	FR_COLUMN_MADE(states_comm, "comm", TEXT, "its name"),
	STATE(start_ns, "start_ns", CLOCK, "when it began"),
	STATE(at_ns, "at_ns", CLOCK, "when it was looked at"),
	STATE(state, "state", NUMBER, "as `prev_state`; 0: runnable, or it runs"),
	FR_COLUMN_MADE(states_state_name, "state_name", TEXT, "the same as a letter"),
	FLAG(RUNS, "runs", "it had a CPU"),
	FLAG(MOVED, "moved", "it ran just then"),
	FLAG(OWN, "own", "of the recorder's own processes"),
	FR_COLUMN(struct fr_still, since_ns, "since_ns", CLOCK, "since when it has been as it is; `null`: not known",
		  .null = true),
	FR_COLUMN_MADE(states_since_from, "since_from", TEXT,
		       "`table`: of waits; `switches`: by the last one in the file, so it may have run once more before it was "
		       "looked at; `null`: not known"),
	FR_COLUMN_MADE(states_in, "in", TEXT, "`call`, `user`, `kernel`; `null`: not known"),
	FR_COLUMN_MADE(states_call, "call", TEXT, "the system call; `null`: it is in none"),
	FR_COLUMN_MADE(states_id, "id", NUMBER, "its number; `null`: it is in none"),
	FR_PART_MADE(states_in_call, NULL, &kind_call, NULL),
	FR_COLUMN_MADE(states_object, "object", TEXT, "the object of the call"),
	FR_COLUMN_MADE(states_about, "about", TEXT, "the object, or what the call's registers tell"),
	STATE(woken_ns, "woken_ns", CLOCK, "the last waking that is known; `null`, as in the next three: none is",
	      .null = true),
	FR_COLUMN_MADE(states_waker, "waker", TEXT, "`task`, `timer`, ..."),
	FR_COLUMN(struct fr_still, wait.waker_pid, "waker_tid", NUMBER, "the task that woke it", .null = true),
	FR_COLUMN_MADE(states_waker_comm, "waker_comm", TEXT, "its name"),
	FR_COLUMN(struct fr_still, wait.owner_pid, "owner_tid", NUMBER,
		  "the task that holds the lock that it waits for, as the lock's memory says, or of a file's lock the kernel; "
		  "`null`: not known",
		  .null = true),
	FR_COLUMN_MADE(states_owner_comm, "owner_comm", TEXT, "its name"),
	STATE(cpu, "cpu", NUMBER, "where it runs, or ran last"),
	STATE(prio, "prio", NUMBER, "the kernel's: below 100 real time, 120 is nice 0"),
	STATE(policy, "policy", NUMBER, "the kernel's"),
	STATE(allowed_cnt, "cpus_allowed", COUNT,
	      "on how many CPUs it may run, by its affinity and its cpuset, also such as are not there; `null`: not known",
	      .null = true),
	STATE(cgroup, "cgroup_id", NUMBER, "id of its cgroup"),
	FR_LIST(states_kernel, "kernel", NULL,
		"functions, innermost first, without the scheduler's; `null`: none are known, as of a task that had a CPU",
		.from = FR_FROM_TEXT, .null = true),
	{},
};
static const struct fr_table kind_still = {"still", "How a task was.", still_columns};

static struct fr_value states_count(const struct fr_at *at)
{
	return fr_value_nr(fr_states_count(waits_report(at)->snap, at->column->name));
}

static const void *states_task(const struct fr_at *at, u32 i)
{
	struct fr_report *r = waits_report(at);
	struct fr_still *to = (struct fr_still *)at->room;

	if (i >= r->states.cnt)
		return NULL;
	fr_states_read(&r->states, r->view, &r->states.at[i], to);
	return to;
}

_Static_assert(sizeof(struct fr_still) <= sizeof(union fr_room), "");

static const struct fr_column states_columns[] = {
	FR_COLUMN_MADE(states_count, "seen", COUNT, "tasks that there were"),
	FR_COLUMN_MADE(states_count, "taken", COUNT, "of these, in the file"),
	FR_COLUMN_MADE(states_count, "brief", COUNT, "not: they had just begun to wait"),
	FR_COLUMN_MADE(states_count, "many", COUNT, "not: there were too many"),
	FR_COLUMN_MADE(states_count, "late", COUNT, "not: the processor time for them was up"),
	FR_COLUMN_MADE(states_count, "gone", COUNT, "not: they ended while they were looked at"),
	FR_LIST(states_task, "tasks", &kind_still, NULL),
	{},
};
const struct fr_table fr_report_kind_states = {"still_waiting",
					       "How all tasks were when the snapshot was taken "
					       "([format.md](format.md#states-of-tasks)), of one moment: a window does not "
					       "choose among them.",
					       states_columns};
