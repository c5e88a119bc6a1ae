/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* profile_json: everything, for programs: kinds of base/show/table.h, all of a struct fr_profile. */
#include "base/profile/sample_event.h"
#include "base/show/table.h"
#include "read/snapfile/snapfile.h"
#include "show/profile/profile.h"

static const struct fr_profile *profile_of(const struct fr_at *at)
{
	return at->of;
}

/* ---- windows ---- */

/* clang-format off */
#define SUM(member, name, unit, meaning) FR_COLUMN(struct fr_profile_sum, member, name, unit, meaning)
/* clang-format on */

static const struct fr_column sum_columns[] = {
	SUM(begin_ns, "begin_ns", CLOCK, "what it covers begins here; 0, as its end: nothing"),
	SUM(end_ns, "end_ns", CLOCK, "and ends here"),
	SUM(expected, "expected", COUNT, "samples due; with `cycles` at most so many"),
	SUM(taken, "taken", COUNT, "samples taken"),
	SUM(cnt, "counted", COUNT, "of these, counted"),
	SUM(lost, "lost", COUNT, "of these, without room"),
	SUM(idle, "idle", COUNT, "of those counted: the CPU was idle"),
	SUM(stackless, "stackless", COUNT, "of those counted: with their task, without stack, for lack of room"),
	SUM(other, "other", COUNT, "of those counted: without task and stack, for lack of room"),
	{},
};

static const struct fr_table sum_kind = {"window", "Samples of a range of time.", sum_columns};

static const void *profile_before(const struct fr_at *at, u32 i)
{
	return !i && profile_of(at)->ask->diff ? &profile_of(at)->sum[FR_PROFILE_BEFORE] : NULL;
}

/* A number of the window before: its member is an array of windows. */
static struct fr_value hits_before(const struct fr_at *at)
{
	const u64 *hits = (const void *)((const char *)at->rec + at->column->off);

	return profile_of(at)->ask->diff ? fr_value_nr(hits[FR_PROFILE_BEFORE]) : fr_value_absent();
}

/* ---- functions ---- */

/* clang-format off */
#define FUNC(member, name, unit, meaning, ...) FR_COLUMN(struct fr_profile_func, member, name, unit, meaning, __VA_ARGS__)
/* clang-format on */

static const struct fr_column func_columns[] = {
	FUNC(name, "name", TEXT, "function, or an address without a name"),
	FUNC(module, "module", TEXT, "its file, `[kernel]`, or kernel module; `null`: not known"),
	FUNC(self[FR_PROFILE_NOW], "self", COUNT, "samples in it"),
	FUNC(self, "self_before", COUNT, "the same before; with `--diff`", .get = hits_before),
	FUNC(total[FR_PROFILE_NOW], "total", COUNT, "samples in it or in what it called"),
	FUNC(total, "total_before", COUNT, "the same before; with `--diff`", .get = hits_before),
	{},
};

static const struct fr_table func_kind = {"function", "A function that was on a CPU.", func_columns};

static const void *profile_func(const struct fr_at *at, u32 i)
{
	return i < profile_of(at)->func_cnt ? &profile_of(at)->func[i] : NULL;
}

/* ---- stacks ---- */

static const struct fr_prof_key *stack_key(const struct fr_at *at)
{
	return ((const struct fr_profile_stack *)at->rec)->key;
}

static struct fr_value stack_comm(const struct fr_at *at)
{
	return fr_value_text(stack_key(at)->comm);
}

static struct fr_value stack_pid(const struct fr_at *at)
{
	return fr_value_nr(stack_key(at)->pid);
}

static struct fr_value stack_state(const struct fr_at *at)
{
	return fr_value_text(fr_profile_state(stack_key(at)->state));
}

static const void *profile_stack_frame(const struct fr_at *at, u32 i)
{
	const struct fr_profile_stack *s = at->rec;

	if (i >= s->cnt)
		return NULL;
	at->room->align = s->func[i];
	return at->room;
}

static const struct fr_column stack_columns[] = {
	FR_COLUMN_MADE(stack_comm, "comm", TEXT, "the task"),
	FR_COLUMN_MADE(stack_pid, "pid", NUMBER, "its process; 0: several processes of this name"),
	FR_COLUMN_MADE(stack_state, "state", TEXT, "`user` or `kernel`"),
	FR_COLUMN(struct fr_profile_stack, hits[FR_PROFILE_NOW], "hits", COUNT, "samples with this stack"),
	FR_COLUMN(struct fr_profile_stack, hits, "hits_before", COUNT, "the same before; with `--diff`", .get = hits_before),
	FR_LIST(profile_stack_frame, "frames", NULL, "places in `functions[]`, from 0; outermost first"),
	{},
};

static const struct fr_table stack_kind = {"stack", "A stack of a task that was on a CPU.", stack_columns};

static const void *profile_stack(const struct fr_at *at, u32 i)
{
	return i < profile_of(at)->stack_cnt ? &profile_of(at)->stack[i] : NULL;
}

/* ---- all of it ---- */

static struct fr_value profile_event(const struct fr_at *at)
{
	return fr_value_text(fr_sample_event_name(fr_sample_event_find(fr_snap_fact(profile_of(at)->snap, "sample_event"))));
}

static struct fr_value profile_since(const struct fr_at *at)
{
	return fr_value_nr(profile_of(at)->prof->bucket[0].begin_ns);
}

static const void *profile_kept(const struct fr_at *at, u32 i)
{
	return i ? NULL : profile_of(at)->prof;
}

/* clang-format off */
#define KEPT(member, name, unit, meaning) FR_COLUMN(struct fr_prof, member, name, unit, meaning)
/* clang-format on */

static const struct fr_column kept_columns[] = {
	KEPT(hz, "hz", RATE, "samples of a CPU"),
	FR_COLUMN_MADE(profile_event, "event", TEXT, "what takes them: `cpu-clock` or `cycles`"),
	KEPT(cpu_cnt, "cpus", COUNT, "CPUs"),
	FR_COLUMN_MADE(profile_since, "covers_since_ns", CLOCK, "samples are kept since then"),
	KEPT(stackless, "stackless", COUNT, "since the session began: samples whose stacks found no room"),
	KEPT(taken, "taken_ever", COUNT, "since the session began: samples taken"),
	KEPT(lost, "lost_ever", COUNT, "since the session began: of these, without room"),
	{},
};

static const struct fr_table kept_kind = {"kept", "Samples that a session keeps.", kept_columns};

static const struct fr_column profile_columns[] = {
	FR_PART_MADE(profile_kept, NULL, &kept_kind, NULL),
	FR_PART(struct fr_profile, sum[FR_PROFILE_NOW], "window", &sum_kind, "the time asked for"),
	FR_PART_MADE(profile_before, "before", &sum_kind, "the time before it; with `--diff`"),
	FR_LIST(profile_func, "functions", &func_kind, NULL),
	FR_LIST(profile_stack, "stacks", &stack_kind, NULL),
	{},
};

const struct fr_table fr_profile_kind = {"profile", "Who used the CPUs.", profile_columns};

void fr_profile_json(struct fr_profile *p)
{
	fr_json_line(p->out, &fr_profile_kind, p, p);
}
