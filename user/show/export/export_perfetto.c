/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * perfetto: a trace for ui.perfetto.dev and trace_processor, in their protocol buffers (perfetto.dev, protos/perfetto/trace).
 *
 *	ClockSnapshot, SystemInfo, ProcessTree	once, at the beginning
 *	FtraceEventBundle			kernel events of one CPU: the reader derives slices, states and wakers
 *	PerfSample with InternedData		CPU samples
 *	TrackEvent				what only flightrec knows: triggers, crashes, losses, faults, long waits
 *
 * Times are CLOCK_BOOTTIME, which the reader expects of ftrace events. Each CPU's first bundle says from when on its events are
 * complete. The table below maps events' fields to messages; fields not in it go into a generic event.
 */
#include <errno.h>
#include <stdio.h>

#include "base/tp/tps.h"
#include "event_fields.h"
#include "show/export/export_gaps.h"
#include "show/export/export_perfetto.h"
#include "task_state.h"

#define BUNDLE_SZ (48u * 1024) /* events of a CPU, collected before writing */
#define WORD_MAX  1024u	       /* of a number */
#define ARG_MAX	  8u

/* The source of a field: "" ends the list, "=N" is a constant, ".pid" the row's own tid, ".comm" its name. */
struct arg {
	u8 field;
	const char *name;
};

static const struct map {
	const char *event;
	u16 message; /* field of FtraceEvent */
	struct arg arg[ARG_MAX];
} maps[] = {
	{"sched_switch",
	 4,
	 {{1, "prev_comm"},
	  {2, "prev_pid"},
	  {3, "prev_prio"},
	  {4, "prev_state"},
	  {5, "next_comm"},
	  {6, "next_pid"},
	  {7, "next_prio"}}},
	{"sched_waking", 20, {{1, "target_comm"}, {2, "target_pid"}, {3, "prio"}, {4, "=1"}, {5, "target_cpu"}}},
	{"irq_handler_entry", 36, {{1, "irq"}, {2, "name"}}},
	{"irq_handler_exit", 37, {{1, "irq"}, {2, "ret"}}},
	{"softirq_entry", 24, {{1, "vec"}}},
	{"softirq_exit", 25, {{1, "vec"}}},
	{"sys_enter", 329, {{1, "id"}, {2, "args"}}},
	{"sys_exit", 330, {{1, "id"}, {2, "ret"}}},
	{"task_rename", 236, {{1, "target_pid"}, {2, "oldcomm"}, {3, "newcomm"}, {4, "oom_score_adj"}}},
	{"sched_process_exec", 237, {{1, "filename"}, {2, ".pid"}, {3, "old_pid"}}},
	{"sched_process_exit", 238, {{1, ".comm"}, {2, ".pid"}, {4, "prio"}}},
	{"sched_process_fork", 239, {{1, "parent_comm"}, {2, "parent_pid"}, {3, "child_comm"}, {4, "child_pid"}}},
	{"signal_deliver", 324, {{1, "code"}, {2, "sa_flags"}, {3, "sig"}}},
	{"signal_generate", 325, {{1, "code"}, {2, "target_comm"}, {3, "group"}, {4, "target_pid"}, {5, "result"}, {6, "sig"}}},
	{"block_io_start",
	 546,
	 {{1, "dev"}, {2, "sector"}, {3, "nr_sector"}, {4, "bytes"}, {5, "ioprio"}, {6, "rwbs"}, {7, ".comm"}}},
	{"block_io_done",
	 547,
	 {{1, "dev"}, {2, "sector"}, {3, "nr_sector"}, {4, "bytes"}, {5, "ioprio"}, {6, "rwbs"}, {7, ".comm"}}},
};

/*
 * Before Linux 6.3, or where block_io_start was not recorded, show the driver's part of a request. The reader makes slices from
 * only one pair of messages.
 */
static const struct map driver_maps[] = {
	{"block_rq_issue",
	 546,
	 {{1, "dev"}, {2, "sector"}, {3, "nr_sector"}, {4, "bytes"}, {5, "ioprio"}, {6, "rwbs"}, {7, ".comm"}}},
	{"block_rq_complete", 547, {{1, "dev"}, {2, "sector"}, {3, "nr_sector"}, {5, "ioprio"}, {6, "rwbs"}, {7, ".comm"}}},
};

#define FROM_PROCESSES	  "block_io_start" /* what these stand in for */
#define MAP_CNT		  (sizeof(maps) / sizeof(maps[0]))
#define DRIVER_MAP_CNT	  (sizeof(driver_maps) / sizeof(driver_maps[0]))
#define FTRACE_NEWTASK	  235u
#define FTRACE_FREE	  240u
#define FTRACE_GENERIC	  327u
#define CLONE_THREAD_FLAG 0x10000u

/* A message for an event of a schema. */
struct message {
	const struct map *map;		       /* NULL: none */
	const struct fr_field *field[ARG_MAX]; /* of each arg, NULL: not in this schema */
};

/* How an event of a schema is written. */
struct bound {
	struct message own;	    /* none: generic */
	struct message slice;	    /* an additional message that the reader makes a slice of */
	const struct fr_field *abi; /* of a system call */
	enum fr_perfetto_way way;
};

struct bundle {
	struct fr_pbuf b; /* FtraceEvent messages */
	u64 valid_ns;	  /* from which on it is complete, for the first bundle; 0: already written */
	bool lost;	  /* events are missing before those in b */
	u64 begin_ns;	  /* valid_ns, for good */
	u64 switched_ns;  /* its first switch, whatever the filter takes; 0: none yet */
	struct fr_perfetto_first first;
};

struct perfetto {
	struct fr_perfetto_out to;
	const struct fr_schema *schema; /* the schema that bound belongs to */
	struct bound bound[FR_EVENT_MAX];
	struct bundle *cpu;
	u32 cpu_cnt;
	bool by_driver; /* block slices show the driver's part */
	u32 still_cnt;	/* CPUs without a switch yet */
};

/* ---- names ---- */

static enum fr_perfetto_way way_of(const struct fr_event *ev)
{
	if (ev->nr == FR_EV_cpu_sample)
		return FR_PERFETTO_SAMPLE;
	if (ev->nr == FR_EV_stack)
		return FR_PERFETTO_NOTHING;
	if (ev->group == FR_GROUP_MARK || ev->nr == FR_EV_mark_victim)
		return FR_PERFETTO_MARK;
	if (ev->group == FR_GROUP_FAULT)
		return FR_PERFETTO_TASK;
	if (ev->nr == FR_EV_wait)
		return FR_PERFETTO_WAIT;
	return FR_PERFETTO_FTRACE;
}

static void bind_message(struct message *m, const struct map *map, u32 cnt, const struct fr_event *ev)
{
	u32 i, a;

	for (i = 0; i < cnt && !m->map; i++)
		m->map = strcmp(map[i].event, ev->name) ? NULL : &map[i];
	for (a = 0; m->map && a < ARG_MAX && m->map->arg[a].name; a++)
		m->field[a] = fr_event_field(ev, m->map->arg[a].name);
}

static void perfetto_bind_all(struct perfetto *p, const struct fr_schema *s)
{
	u32 nr;

	for (nr = 0; nr < FR_EVENT_MAX; nr++) {
		const struct fr_event *ev = fr_schema_event(s, nr);
		struct bound *b = &p->bound[nr];

		if (!ev)
			continue;
		*b = (struct bound){.way = way_of(ev)};
		bind_message(&b->own, maps, MAP_CNT, ev);
		b->abi = fr_event_field(ev, "abi");
		if (p->by_driver)
			bind_message(&b->slice, driver_maps, DRIVER_MAP_CNT, ev);
	}
	p->schema = s;
}

/* ---- one event ---- */

static void perfetto_put_val(struct fr_pbuf *b, u32 field, const struct fr_val *v)
{
	size_t i;

	if (v->kind == FR_VAL_NUM)
		fr_pbuf_num(b, field, v->num);
	else if (v->kind == FR_VAL_TEXT)
		fr_pbuf_text(b, field, v->text, v->len);
	for (i = 0; v->kind == FR_VAL_NUMS && i < v->len; i++)
		fr_pbuf_num(b, field, v->nums[i]);
}

static void put_arg(struct fr_pbuf *b, const struct arg *a, const struct fr_field *f, const struct fr_view *v,
		    const struct fr_row *r)
{
	struct fr_val val = {.kind = FR_VAL_NONE};

	if (f) {
		val = fr_view_field(v, r, f);
	} else if (a->name[0] == '=') {
		val = (struct fr_val){.kind = FR_VAL_NUM, .num = strtoull(a->name + 1, NULL, 10)};
	} else if (!strcmp(a->name, ".pid")) {
		val = (struct fr_val){.kind = FR_VAL_NUM, .num = r->tid};
	} else if (!strcmp(a->name, ".comm")) {
		struct fr_who who = fr_view_who(v, r);

		val = (struct fr_val){.kind = who.comm ? FR_VAL_TEXT : FR_VAL_NONE, .text = who.comm, .len = who.len};
	}
	perfetto_put_val(b, a->field, &val);
}

static void put_message(struct fr_pbuf *b, const struct message *m, const struct fr_view *v, const struct fr_row *r)
{
	size_t at = fr_pbuf_open(b, m->map->message);
	u32 a;

	for (a = 0; a < ARG_MAX && m->map->arg[a].name; a++)
		put_arg(b, &m->map->arg[a], m->field[a], v, r);
	fr_pbuf_close(b, at);
}

/* field 2 { name 1, str_value 3, int_value 4, uint_value 5 } of a generic event */
static void put_generic_field(struct fr_pbuf *b, const char *name, const struct fr_val *val)
{
	size_t in = fr_pbuf_open(b, 2);

	fr_pbuf_str(b, 1, name);
	perfetto_put_val(b, val->kind == FR_VAL_TEXT ? 3 : val->is_signed ? 4 : 5, val);
	fr_pbuf_close(b, in);
}

/* A tracepoint's field: by the kernel's name for it, arrays one by one, and of a number that has a word that, too, as
 * NAME_word. */
static void put_tp_field(struct fr_pbuf *b, const struct fr_view *v, const struct fr_row *r, const struct fr_field *f,
			 const struct fr_val *val)
{
	const struct fr_tpformat *format = fr_tps_format(v->tps, r->ev->nr);
	struct fr_tpfield kernels = {.name = f->name};
	char name[FR_NAME_MAX + 32];
	struct fr_val one = {.kind = FR_VAL_NUM};
	const char *word;
	size_t i;

	if (format && !fr_tpformat_find(format, f->name, &kernels))
		kernels.name = f->name;
	for (i = 0; val->kind == FR_VAL_NUMS && i < val->len; i++) {
		one.num = val->nums[i];
		one.is_signed = val->is_signed;
		snprintf(name, sizeof(name), "%.*s[%zu]", (int)FR_NAME_MAX, kernels.name, i);
		put_generic_field(b, name, &one);
	}
	if (val->kind == FR_VAL_NUMS)
		return;
	put_generic_field(b, kernels.name, val);
	word = val->kind == FR_VAL_NUM ? fr_tps_symbol(v->tps, r, f, val->num) : NULL;
	if (!word)
		return;
	one = (struct fr_val){.kind = FR_VAL_TEXT, .text = word, .len = strnlen(word, WORD_MAX)};
	snprintf(name, sizeof(name), "%.*s_word", (int)FR_NAME_MAX, kernels.name);
	put_generic_field(b, name, &one);
}

/* GenericFtraceEvent { event_name 1, field 2 } */
static void perfetto_put_generic(struct fr_pbuf *b, const struct fr_view *v, const struct fr_row *r)
{
	size_t at = fr_pbuf_open(b, FTRACE_GENERIC);
	u32 i;

	fr_pbuf_str(b, 1, r->ev->name);
	for (i = 0; i < r->ev->field_cnt; i++) {
		const struct fr_field *f = &r->ev->fields[i];
		struct fr_val val = fr_view_field(v, r, f);

		if (val.kind == FR_VAL_NONE || fr_field_is_inner(f))
			continue;
		if (r->ev->group == FR_GROUP_TP)
			put_tp_field(b, v, r, f, &val);
		else if (val.kind != FR_VAL_NUMS)
			put_generic_field(b, f->name, &val);
	}
	fr_pbuf_close(b, at);
}

/* FtraceEvent { timestamp 1, pid 2, ... }; returns the position that ends it. */
static size_t perfetto_open_event(struct fr_pbuf *b, u64 ns, u32 tid)
{
	size_t at = fr_pbuf_open(b, 2);

	fr_pbuf_num(b, 1, ns);
	fr_pbuf_num(b, 2, tid);
	return at;
}

static u64 perfetto_num_of(const struct fr_row *r, const char *name)
{
	const struct fr_field *f = fr_event_field(r->ev, name);

	return f && f->kind != FR_KIND_DERIVED && fr_field_kind(f) == FR_VAL_NUM ? fr_row_num(r, f) : 0;
}

/* task_newtask { pid 1, comm 2, clone_flags 3 }: tells the reader of a new process or thread. */
static void put_newtask(struct fr_pbuf *b, u64 ns, u32 parent, u32 tid, struct fr_who who)
{
	size_t at = perfetto_open_event(b, ns, parent), in = fr_pbuf_open(b, FTRACE_NEWTASK);

	fr_pbuf_num(b, 1, tid);
	fr_pbuf_text(b, 2, who.comm, who.len);
	fr_pbuf_num(b, 3, who.pid && who.pid != (s32)tid ? CLONE_THREAD_FLAG : 0);
	fr_pbuf_close(b, in);
	fr_pbuf_close(b, at);
}

/* One that the reader knows is not born again: the clock of births is a little off. */
static void put_birth(struct perfetto *p, struct fr_pbuf *b, u64 ns, const struct fr_row *r)
{
	const struct fr_field *comm = fr_event_field(r->ev, "child_comm");
	u32 tid = perfetto_num_of(r, "child_pid");
	struct fr_perfetto_task *t = fr_perfetto_task_at(&p->to, tid, perfetto_num_of(r, "child_start"));
	struct fr_who who = {.comm = "", .pid = perfetto_num_of(r, "child_tgid")};
	size_t len = 0;

	if (t && t->told_ns)
		return;
	if (t)
		t->told_ns = ns + 1;
	who.comm = comm ? fr_row_text(r, comm, &len) : "";
	who.len = len;
	put_newtask(b, ns, r->tid, tid, who);
}

/* sched_process_free { comm 1, pid 2 }, as of the task itself: the reader would make a thread of another one that is gone. */
static void perfetto_put_free(struct fr_pbuf *b, u64 ns, u32 tid)
{
	size_t at = perfetto_open_event(b, ns, tid), in = fr_pbuf_open(b, FTRACE_FREE);

	fr_pbuf_num(b, 2, tid);
	fr_pbuf_close(b, in);
	fr_pbuf_close(b, at);
}

static struct fr_perfetto_task *process_of(struct perfetto *p, struct fr_perfetto_task *t, u64 ts)
{
	return t && t->of.task.tgid != t->of.tid ? fr_perfetto_task_at(&p->to, t->of.task.tgid, ts) : t;
}

static void note_exit(struct perfetto *p, const struct fr_row *r)
{
	struct fr_perfetto_task *t = fr_perfetto_task_at(&p->to, r->tid, r->ts), *process = process_of(p, t, r->ts);

	if (!process || t->has_exited || !fr_event_field(r->ev, "group_dead"))
		return;
	t->has_exited = true;
	process->exited_cnt++;
	process->was_last |= perfetto_num_of(r, "group_dead") != 0;
}

/*
 * A task is gone after its last switch. With a process's first thread the reader forgets all others, so that one stays as long
 * as they do: its number may even be taken over, by a thread that executes a program.
 */
static void perfetto_put_end(struct perfetto *p, struct fr_pbuf *b, u64 ns, const struct fr_row *r)
{
	struct fr_perfetto_task *t = fr_perfetto_task_at(&p->to, r->tid, r->ts), *process = process_of(p, t, r->ts);

	if (!process || !t->has_exited) {
		perfetto_put_free(b, ns, r->tid);
		return;
	}
	t->has_exited = false;
	process->exited_cnt--;
	if (t != process)
		perfetto_put_free(b, ns, r->tid);
	if (process->was_last && !process->exited_cnt)
		perfetto_put_free(b, ns, process->of.tid);
}

/* Whose life an event begins or ends. */
static void put_lives(struct perfetto *p, struct fr_pbuf *b, u64 ns, const struct fr_row *r)
{
	if (r->ev->nr == FR_EV_sched_process_fork)
		put_birth(p, b, ns, r);
	else if (r->ev->nr == FR_EV_sched_process_exit)
		note_exit(p, r);
	else if (r->ev->nr == FR_EV_sched_switch && perfetto_num_of(r, "prev_state") & FR_PREV_STATE_ENDED)
		perfetto_put_end(p, b, ns, r);
	else if (r->ev->nr == FR_EV_sched_process_exec && perfetto_num_of(r, "old_pid") != r->tid)
		perfetto_put_free(b, ns, perfetto_num_of(r, "old_pid"));
}

/* The reader knows numbers of 64-bit calls only, and would give others their names. */
static bool is_misread(const struct bound *bound, const struct fr_row *r)
{
	return bound->abi && bound->abi->kind != FR_KIND_DERIVED && fr_row_num(r, bound->abi);
}

/* One that its driver had no room for, and that is issued again, has its slice. */
static bool is_slice(const struct bound *bound, const struct fr_view *v, const struct fr_row *r)
{
	const struct fr_pair *pair = fr_view_pair(v, r);

	return bound->slice.map && !(pair && pair->again);
}

/* FtraceEvent { common_flags 5 }: the reader then says of a waking that it came from a handler. */
static void put_flags(struct fr_export *x, struct fr_pbuf *b, const struct fr_row *r)
{
	u8 flags = fr_export_flags(x, r);

	if (flags)
		fr_pbuf_num(b, 5, flags);
}

static void perfetto_put_event(struct fr_export *x, struct fr_pbuf *b, u64 ns, const struct fr_view *v, const struct fr_row *r)
{
	struct perfetto *p = x->state;
	const struct bound *bound = &p->bound[r->ev->nr];
	size_t at = perfetto_open_event(b, ns, r->tid);

	put_flags(x, b, r);

	if (bound->own.map && !is_misread(bound, r))
		put_message(b, &bound->own, v, r);
	else
		perfetto_put_generic(b, v, r);
	fr_pbuf_close(b, at);
	if (is_slice(bound, v, r)) {
		at = perfetto_open_event(b, ns, r->tid);
		put_message(b, &bound->slice, v, r);
		fr_pbuf_close(b, at);
	}
	put_lives(p, b, ns, r);
}

/* ---- bundles ---- */

/* FtraceEventBundle { cpu 1, event 2*, lost_events 3, previous_bundle_end_timestamp 10 } */
static int flush_bundle(struct perfetto *p, u32 cpu)
{
	struct bundle *bundle = &p->cpu[cpu];
	struct fr_pbuf *b = &p->to.packet;
	size_t at;

	if (!bundle->b.len)
		return 0;
	if (fr_pbuf_room(b, bundle->b.len + 128))
		return -ENOMEM;
	at = fr_pbuf_open(b, 1);
	fr_pbuf_num(b, 1, cpu);
	if (bundle->valid_ns)
		fr_pbuf_num(b, 10, bundle->valid_ns + p->to.shift_ns);
	if (bundle->lost)
		fr_pbuf_num(b, 3, 1);
	bundle->valid_ns = 0;
	bundle->lost = false;
	memcpy(b->p + b->len, bundle->b.p, bundle->b.len);
	b->len += bundle->b.len;
	bundle->b.len = 0;
	fr_pbuf_close(b, at);
	return fr_perfetto_packet(&p->to, FR_PERFETTO_SEQ_FTRACE, 0);
}

/* What an event may take, encoded. */
static size_t perfetto_event_sz(const struct fr_view *v, const struct fr_row *r)
{
	size_t sz = FR_PERFETTO_EVENT_SZ, i;

	for (i = 0; r->ev->group == FR_GROUP_TP && i < r->ev->field_cnt; i++) {
		struct fr_val val = fr_view_field(v, r, &r->ev->fields[i]);

		sz += 2 * FR_NAME_MAX + WORD_MAX + 64;
		sz += val.kind == FR_VAL_NUMS ? val.len * (FR_NAME_MAX + 64) : 0;
	}
	return sz;
}

static int put_ftrace(struct fr_export *x, u64 ns, const struct fr_view *v, const struct fr_row *r)
{
	struct perfetto *p = x->state;
	struct bundle *bundle;
	int err = 0;

	if (r->cpu >= p->cpu_cnt)
		return -EBADMSG;
	bundle = &p->cpu[r->cpu];
	if (fr_export_passes_gap(x, r->cpu, r->ts)) {
		err = flush_bundle(p, r->cpu);
		bundle->lost = true;
	}
	if (err)
		return err;
	if (fr_pbuf_room(&bundle->b, perfetto_event_sz(v, r)))
		return -ENOMEM;
	perfetto_put_event(x, &bundle->b, ns, v, r);
	return bundle->b.len > BUNDLE_SZ ? flush_bundle(p, r->cpu) : 0;
}

/* ---- lifetime ---- */

static int perfetto_row(struct fr_export *x, const struct fr_view *v, const struct fr_row *r)
{
	struct perfetto *p = x->state;
	u64 ns = r->ts + p->to.shift_ns;
	int err = 0;

	if (r->b->schema != p->schema)
		perfetto_bind_all(p, r->b->schema);
	switch (p->bound[r->ev->nr].way) {
	case FR_PERFETTO_FTRACE:
		err = put_ftrace(x, ns, v, r);
		break;
	case FR_PERFETTO_SAMPLE:
		err = fr_perfetto_sample(&p->to, ns, v, r);
		break;
	case FR_PERFETTO_MARK:
	case FR_PERFETTO_TASK:
		err = fr_perfetto_instant(&p->to, ns, v, r, p->bound[r->ev->nr].way);
		break;
	case FR_PERFETTO_WAIT:
		err = fr_perfetto_wait(&p->to, ns, v, r);
		break;
	case FR_PERFETTO_NOTHING:
		x->left_out++;
		return 0;
	}
	x->event_cnt++;
	return err;
}

/*
 * The time from which each CPU's history is complete, but for holes: the reader drops earlier switches and births, of all CPUs.
 * In a session's first moments, while its programs are attached one by one, nothing is dropped: those switches are real, and a
 * track explains them. Returns the latest.
 */
static u64 set_valid(struct perfetto *p, const struct fr_export *x)
{
	const struct fr_snap_ring *ring;
	const struct fr_snap *snap;
	u64 begin_ns, end_ns, ns, latest_ns = 0;
	u32 i;

	fr_replay_window(x->replay, &begin_ns, &end_ns);
	for (i = 0; i < p->cpu_cnt; i++) {
		ring = fr_export_first_ring(x, i, &snap);
		ns = ring && ring->horizon_ns ? fr_gaps_begin(snap, ring) : 0;
		ns = ns > begin_ns ? ns : begin_ns;
		p->cpu[i].valid_ns = p->cpu[i].begin_ns = ns;
		latest_ns = ns > latest_ns ? ns : latest_ns;
	}
	return latest_ns;
}

static int perfetto_begin(struct fr_export *x)
{
	struct perfetto *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return -ENOMEM;
	x->state = p;
	p->cpu_cnt = fr_export_cpu_cnt(x);
	p->cpu = calloc(p->cpu_cnt, sizeof(*p->cpu));
	p->to.frames = x->frames;
	p->by_driver = !fr_snap_records(x->snap, FROM_PROCESSES);
	p->still_cnt = p->cpu_cnt;
	err = p->cpu ? fr_perfetto_open(&p->to, x, set_valid(p, x)) : -ENOMEM;
	return err ?: fr_perfetto_losses(&p->to, x);
}

/* Looks for the first switch of a CPU: until then it is told who has it. */
static int perfetto_run(struct fr_export *x, const struct fr_replay_run *run)
{
	struct perfetto *p = x->state;
	const struct fr_batch *b = run->b;
	const struct fr_event *sw;
	u32 i;

	if (!p->still_cnt || b->tier != FR_TIER_MAIN || b->cpu >= p->cpu_cnt || p->cpu[b->cpu].switched_ns)
		return 0;
	for (i = run->from; i < run->to && b->ts[i] < p->cpu[b->cpu].begin_ns; i++)
		;
	if (i < run->to && !p->cpu[b->cpu].first.ns)
		p->cpu[b->cpu].first = (struct fr_perfetto_first){b->ts[i], b->tid[i]};
	sw = fr_schema_find(b->schema, "sched_switch");
	for (; i < run->to && sw && b->ev[i] != sw->nr; i++)
		;
	if (sw && i < run->to) {
		p->cpu[b->cpu].switched_ns = b->ts[i];
		p->still_cnt--;
	}
	return 0;
}

/* The reader makes a slice of each switch, but none of who leaves at a CPU's first one, and nothing of a CPU without any. */
static int perfetto_put_held(struct perfetto *p, const struct fr_export *x)
{
	u64 begin_ns, end_ns;
	u32 i;
	int err = 0;

	if (!fr_snap_records(x->snap, "sched_switch"))
		return 0;
	fr_replay_window(x->replay, &begin_ns, &end_ns);
	for (i = 0; i < p->cpu_cnt && !err; i++)
		err = fr_perfetto_held(&p->to, x, i, p->cpu[i].begin_ns, p->cpu[i].switched_ns ?: end_ns, p->cpu[i].first);
	return err;
}

/* Those who were born in the window, but whose births no row told: the reader sorts by time. */
static int put_untold(struct perfetto *p, const struct fr_export *x)
{
	struct fr_pbuf *b = &p->cpu[0].b;
	u64 begin_ns, end_ns;
	size_t i;
	int err = 0;

	fr_replay_window(x->replay, &begin_ns, &end_ns);
	for (i = 0; i < p->to.task_cnt && !err; i++) {
		const struct fr_snap_task *t = &p->to.task[i].of;
		struct fr_who who;

		if (p->to.task[i].told_ns || t->start_ns < p->to.born_ns || t->start_ns > end_ns)
			continue;
		if (fr_pbuf_room(b, FR_PERFETTO_EVENT_SZ))
			return -ENOMEM;
		who = fr_export_who(x, t, begin_ns);
		who.pid = t->task.tgid;
		p->to.task[i].told_ns = t->start_ns + p->to.shift_ns + 1;
		put_newtask(b, t->start_ns + p->to.shift_ns, t->tid == t->task.tgid ? t->task.ppid : t->task.tgid, t->tid, who);
		err = b->len > BUNDLE_SZ ? flush_bundle(p, 0) : 0;
	}
	return err;
}

static int perfetto_end(struct fr_export *x)
{
	struct perfetto *p = x->state;
	int err = put_untold(p, x);
	u32 i;

	for (i = 0; i < p->cpu_cnt && !err; i++)
		err = flush_bundle(p, i);
	err = err ?: fr_perfetto_whose(&p->to, x);
	err = err ?: fr_perfetto_damage(&p->to, x);
	return err ?: perfetto_put_held(p, x);
}

static void perfetto_release(struct fr_export *x)
{
	struct perfetto *p = x->state;
	u32 i;

	for (i = 0; p && p->cpu && i < p->cpu_cnt; i++)
		free(p->cpu[i].b.p);
	if (p) {
		free(p->cpu);
		fr_perfetto_close(&p->to);
	}
}

const struct fr_exporter fr_export_perfetto = {
	.name = "perfetto",
	.doc = "ui.perfetto.dev and trace_processor",
	.binary = true,
	.one_boot = true,
	.stacks = true,
	.whose = true,
	.pairs_without = FROM_PROCESSES,
	.begin = perfetto_begin,
	.run = perfetto_run,
	.row = perfetto_row,
	.end = perfetto_end,
	.release = perfetto_release,
};
