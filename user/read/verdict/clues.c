/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read/verdict/clues.h"

#include <string.h>

#include "base/set/hash.h"
#include "base/text/escape.h"
#include "base/text/units.h"
#include "read/replay/lacks.h"
#include "read/replay/thins.h"
#include "sys/memory.h"

#define LEAST_NS  FR_SEC_NS /* that is looked at before the trigger */
#define MOST_NS	  (60 * FR_SEC_NS)
#define OWN_NS	  (10 * FR_SEC_NS) /* of waits of the trigger's process */
#define WAIT_MOST (1u << 17)
#define LIST_MOST (1u << 20)

static const struct fr_sub_want wants[FR_CLUE_EVENT_CNT] = {
	[FR_CLUE_SWITCH] = {"sched_switch", {FR_SUB_NUM("next_pid"), FR_SUB_MAY_NUM("prev_prio"), FR_SUB_MAY_NUM("next_prio")}},
	[FR_CLUE_FORK] = {"sched_process_fork", {FR_SUB_NUM("child_pid"), FR_SUB_NUM("child_tgid")}},
	[FR_CLUE_EXEC] = {"sched_process_exec", {FR_SUB_NUM("old_pid")}},
	[FR_CLUE_END] = {"sched_process_exit", {FR_SUB_NUM("group_dead"), FR_SUB_MAY_NUM("exit_code")}},
	[FR_CLUE_SIGNAL] = {"signal_generate",
			    {FR_SUB_NUM("target_pid"), FR_SUB_NUM("code"), FR_SUB_NUM("sig"), FR_SUB_MAY_NUM("result"),
			     FR_SUB_MAY_NUM("group")}},
	[FR_CLUE_SAMPLE] = {"cpu_sample",
			    {FR_SUB_NUM("user"), FR_SUB_NUM("ip"), FR_SUB_MAY_NUM("kstack_id"), FR_SUB_MAY_NUM("ustack_id")}},
	[FR_CLUE_VICTIM] = {"mark_victim",
			    {FR_SUB_NUM("target_pid"), FR_SUB_MAY_NUM("anon_rss"), FR_SUB_MAY_NUM("file_rss"),
			     FR_SUB_MAY_NUM("shmem_rss")}},
	[FR_CLUE_FAULT] = {"failure", {FR_SUB_NUM("sig"), FR_SUB_NUM("addr"), FR_SUB_NUM("ustack_id")}},
	[FR_CLUE_IO] = {"block_io_start", {FR_SUB_NUM("dev"), FR_SUB_NUM("bytes"), FR_SUB_TEXT8("rwbs"), FR_SUB_NUM("sector")}},
	[FR_CLUE_IO_DONE] = {"block_io_done", {FR_SUB_NUM("dev"), FR_SUB_NUM("sector")}},
	[FR_CLUE_ARGV] = {"exec_argv", {FR_SUB_TEXT("argv")}},
	[FR_CLUE_DELIVERY] = {"signal_deliver", {FR_SUB_NUM("sig"), FR_SUB_NUM("sa_handler")}},
	[FR_CLUE_FAILED] = {"call_failed",
			    {FR_SUB_NUM("id"), FR_SUB_NUM("error"), FR_SUB_NUM("ago"), FR_SUB_NUM("lack"),
			     FR_SUB_MAY_NUM("abi")}},
	[FR_CLUE_SAID] = {"stderr_write", {FR_SUB_NUM("bytes"), FR_SUB_TEXT("text")}},
	[FR_CLUE_CALL] = {"sys_exit", {FR_SUB_NUM("id"), FR_SUB_NUM("ret"), FR_SUB_MAY_NUM("abi")}},
};

/* ---- what is looked at ---- */

static void find_time(struct fr_clues *c, const struct fr_replay *r)
{
	u64 window_ns, before_ns = LEAST_NS;
	s64 v;

	fr_replay_window(r, &window_ns, &c->end_ns);
	c->at_ns = fr_snap_fact_num(c->snap, "trigger_ts", &v) && v > 0 ? (u64)v : c->end_ns;
	if (fr_snap_fact_num(c->snap, "trigger_value_ns", &v) && v > 0 && !fr_snap_fact(c->snap, "trigger_rate"))
		c->value_ns = v; /* a rate's is what it was counted in: nothing took so long */
	if (c->value_ns > before_ns)
		before_ns = c->value_ns < MOST_NS ? c->value_ns : MOST_NS;
	c->begin_ns = c->at_ns > before_ns ? c->at_ns - before_ns : 0;
	if (c->begin_ns < window_ns)
		c->begin_ns = window_ns;
}

static void clues_bind(struct fr_clues *c, struct fr_replay *r)
{
	u32 i;

	for (i = 1; i < FR_CLUE_WAIT; i++) {
		if (i == FR_CLUE_CALL && (!c->tid || !c->reason || strcmp(c->reason, "exit")))
			continue;
		c->has[i] = !fr_replay_subscribe(r, 0, &wants[i], &c->sub[i]) && fr_snap_records(c->snap, wants[i].event);
		if (c->sub[i].ev)
			c->kind[c->sub[i].ev->nr] = i;
	}
	fr_waited_bind(&c->fields, fr_replay_schema(r, 0));
	if (c->fields.ev)
		c->kind[c->fields.ev->nr] = FR_CLUE_WAIT;
	c->has[FR_CLUE_WAIT] = c->fields.ev && fr_snap_records(c->snap, "wait");
}

/* ---- CPUs ---- */

static int clues_have_cpu(struct fr_clues *c, u32 nr)
{
	struct fr_clue_cpu *cpu;
	u32 i;

	if (nr < c->cpu_cnt)
		return 0;
	cpu = realloc(c->cpu, (nr + 1) * sizeof(*cpu));
	if (!cpu)
		return -ENOMEM;
	for (i = c->cpu_cnt; i <= nr; i++)
		cpu[i] = (struct fr_clue_cpu){.on = {.since_ns = c->begin_ns, .whole_ns = ~0ULL}};
	c->cpu = cpu;
	c->cpu_cnt = nr + 1;
	return 0;
}

/* A CPU with a hole in this time is not known at all: nothing is claimed of a part of it. */
static bool clues_is_whole(const struct fr_clues *c, const struct fr_sum_ring *r)
{
	size_t cnt, i;
	const struct fr_snap_hole *h = fr_snap_holes(c->snap, &cnt);

	for (i = 0; i < cnt; i++)
		if (h[i].cpu == r->cpu && h[i].tier == FR_TIER_MAIN && (!h[i].until_ns || h[i].until_ns > c->begin_ns) &&
		    h[i].since_ns < c->at_ns)
			return false;
	return fr_cut_has_cpu(c->snap, r->cpu) && (!r->end_ns || r->end_ns >= c->at_ns);
}

static int clues_add_cpus(struct fr_clues *c, const struct fr_summary *sum)
{
	u64 governor_ns = fr_cut_governor_ns(c->snap);
	u32 i;

	for (i = 0; i < sum->ring_cnt; i++) {
		const struct fr_sum_ring *r = &sum->ring[i];

		if (r->tier != FR_TIER_MAIN)
			continue;
		if (clues_have_cpu(c, r->cpu))
			return -ENOMEM;
		c->cpu[r->cpu].seen = true;
		if (clues_is_whole(c, r) && !c->is_picked)
			c->cpu[r->cpu].on.whole_ns = r->begin_ns > governor_ns ? r->begin_ns : governor_ns;
		if (c->cpu[r->cpu].on.since_ns < c->cpu[r->cpu].on.whole_ns)
			c->cpu[r->cpu].on.since_ns = c->cpu[r->cpu].on.whole_ns;
	}
	return 0;
}

/* ---- lists ---- */

/* Where the next item goes; NULL: there is no room. That is no error: the list is known to be incomplete. */
static void *clues_room_of(struct fr_vec *v, size_t most, bool *is_full)
{
	void *to = NULL;

	if (*is_full)
		return NULL;
	if (v->cnt < v->cap)
		return (char *)v->at + v->cnt++ * v->item_sz;
	if (v->cnt < most && fr_memory_has_row_room(2 * (v->cnt + 1) * v->item_sz))
		to = fr_vec_room(v, 1);
	*is_full = !to;
	v->cnt += to != NULL;
	return to;
}

static void *clues_room(struct fr_clues *c, struct fr_vec *v, size_t most)
{
	return clues_room_of(v, most, &c->is_full);
}

static void add_run(struct fr_clues *c, u16 cpu, const struct fr_oncpu_stretch *s, s16 prio)
{
	struct fr_clue_run *run = s->from_ns == s->to_ns ? NULL : clues_room(c, &c->run, LIST_MOST);

	if (run)
		*run = (struct fr_clue_run){.from_ns = s->from_ns, .to_ns = s->to_ns, .tid = s->tid, .cpu = cpu, .prio = prio};
}

/* ---- rows ---- */

static void take_switch(struct fr_clues *c, const struct fr_row *r)
{
	const struct fr_sub *s = &c->sub[FR_CLUE_SWITCH];
	struct fr_clue_cpu *cpu = &c->cpu[r->cpu];
	struct fr_oncpu_stretch ran = fr_oncpu_switch(&cpu->on, r->ts, r->tid, fr_sub_num(s, r, 0));

	c->switch_cnt++;
	cpu->prio = fr_sub_num(s, r, 2);
	add_run(c, r->cpu, &ran, fr_sub_num(s, r, 1));
}

static void take_fork(struct fr_clues *c, const struct fr_row *r)
{
	const struct fr_sub *s = &c->sub[FR_CLUE_FORK];
	struct fr_clue_fork *fork = clues_room(c, &c->fork, LIST_MOST);

	if (c->pid > 0 && fr_sub_num(s, r, 0) == (u32)c->pid && r->ts <= c->at_ns) /* what had its pid before was another one */
		c->argv[0] = 0, c->said = (struct fr_clue_said){};
	if (fork)
		*fork = (struct fr_clue_fork){
			.ts = r->ts, .parent = r->tid, .child = fr_sub_num(s, r, 0), .pid = fr_sub_num(s, r, 1)};
}

static void clues_take_end(struct fr_clues *c, const struct fr_row *r)
{
	struct fr_clue_end *end = fr_sub_num(&c->sub[FR_CLUE_END], r, 0) ? clues_room(c, &c->end, LIST_MOST) : NULL;

	u32 code = fr_sub_num(&c->sub[FR_CLUE_END], r, 1);

	if (end)
		*end = (struct fr_clue_end){.ts = r->ts, .tid = r->tid, .sig = code & 0x7f, .status = code >> 8};
}

static void clues_take_signal(struct fr_clues *c, const struct fr_row *r)
{
	const struct fr_sub *s = &c->sub[FR_CLUE_SIGNAL];
	struct fr_clue_signal *sig = clues_room(c, &c->signal, LIST_MOST);

	if (sig)
		*sig = (struct fr_clue_signal){.ts = r->ts,
					       .sender = r->tid,
					       .target = fr_sub_num(s, r, 0),
					       .code = fr_sub_num(s, r, 1),
					       .sig = fr_sub_num(s, r, 2),
					       .result = fr_sub_num(s, r, 3),
					       .group = fr_sub_num(s, r, 4)};
}

static void take_victim(struct fr_clues *c, const struct fr_row *r)
{
	const struct fr_sub *s = &c->sub[FR_CLUE_VICTIM];
	struct fr_clue_victim *v = clues_room(c, &c->victim, LIST_MOST);

	if (v)
		*v = (struct fr_clue_victim){.ts = r->ts,
					     .tid = fr_sub_num(s, r, 0),
					     .asker = r->tid,
					     .rss_kib = fr_sub_num(s, r, 1) + fr_sub_num(s, r, 2) + fr_sub_num(s, r, 3)};
}

static void take_fault(struct fr_clues *c, const struct fr_row *r)
{
	const struct fr_sub *s = &c->sub[FR_CLUE_FAULT];
	struct fr_clue_fault *f = fr_sub_num(s, r, 0) ? clues_room(c, &c->fault, LIST_MOST) : NULL;

	if (f)
		*f = (struct fr_clue_fault){.ts = r->ts,
					    .tid = r->tid,
					    .sig = fr_sub_num(s, r, 0),
					    .addr = fr_sub_num(s, r, 1),
					    .ustack_id = fr_sub_num(s, r, 2)};
}

static void clues_take_argv(struct fr_clues *c, const struct fr_row *r)
{
	size_t len;
	const char *argv = fr_sub_text(&c->sub[FR_CLUE_ARGV], r, 0, &len);

	if (c->pid > 0 && r->ts <= c->at_ns && (r->tid == (u32)c->pid || fr_view_who(c->view, r).pid == c->pid))
		c->argv[fr_escape_mem(c->argv, sizeof(c->argv) - 1, argv, len)] = 0;
}

static void clues_take_said(struct fr_clues *c, const struct fr_row *r)
{
	struct fr_clue_said *said = &c->said;
	size_t len, over;
	const char *text = fr_sub_text(&c->sub[FR_CLUE_SAID], r, 1, &len);

	if (c->pid <= 0 || r->ts > c->at_ns || fr_view_who(c->view, r).pid != c->pid)
		return;
	if (len > FR_CLUE_SAID_SZ) {
		text += len - FR_CLUE_SAID_SZ;
		len = FR_CLUE_SAID_SZ;
	}
	over = said->len + len > FR_CLUE_SAID_SZ ? said->len + len - FR_CLUE_SAID_SZ : 0;
	memmove(said->text, said->text + over, said->len - over);
	memcpy(said->text + said->len - over, text, len);
	said->len += len - over;
	said->bytes += fr_sub_num(&c->sub[FR_CLUE_SAID], r, 0);
	said->write_cnt++;
	said->last_ns = r->ts;
}

static void clues_take_call(struct fr_clues *c, const struct fr_row *r)
{
	const struct fr_sub *s = &c->sub[FR_CLUE_CALL];

	if (r->tid == c->tid && r->ts <= c->at_ns)
		c->call[c->call_cnt++ % FR_CLUE_CALLS] = (struct fr_clue_call){
			.ts = r->ts, .id = fr_sub_num(s, r, 0), .ret = fr_sub_num(s, r, 1), .abi = fr_sub_num(s, r, 2)};
}

/* Threads may end a process at once: the last error of all of them. */
static void clues_take_failed(struct fr_clues *c, const struct fr_row *r)
{
	const struct fr_sub *s = &c->sub[FR_CLUE_FAILED];
	struct fr_clue_failed *to = fr_sub_num(s, r, 3) ? &c->lack : &c->failed;
	u64 ago_ns = fr_sub_num(s, r, 2);

	if (c->pid <= 0 || r->ts > c->at_ns || ago_ns >= r->ts || r->ts - ago_ns < to->ts ||
	    fr_view_who(c->view, r).pid != c->pid)
		return;
	*to = (struct fr_clue_failed){.ts = r->ts - ago_ns,
				      .tid = r->tid,
				      .id = fr_sub_num(s, r, 0),
				      .error = fr_sub_num(s, r, 1),
				      .abi = fr_sub_num(s, r, 4)};
}

static void clues_take_delivery(struct fr_clues *c, const struct fr_row *r)
{
	const struct fr_sub *s = &c->sub[FR_CLUE_DELIVERY];

	if (c->tid && (u32)r->tid == c->tid && r->ts <= c->at_ns &&
	    (u64)fr_sub_num(s, r, 1) > 1) /* not by default, nor ignored */
		c->handled = (struct fr_clue_handled){.ts = r->ts, .sig = fr_sub_num(s, r, 0)};
}

static void clues_take_io(struct fr_clues *c, const struct fr_row *r)
{
	const struct fr_sub *s = &c->sub[FR_CLUE_IO];
	struct fr_clue_io *io = r->ts < c->begin_ns ? NULL : clues_room(c, &c->io, LIST_MOST);
	size_t len;
	const char *rwbs = fr_sub_text(s, r, 2, &len);

	if (io)
		*io = (struct fr_clue_io){.ts = r->ts,
					  .tid = r->tid,
					  .dev = fr_sub_num(s, r, 0),
					  .bytes = fr_sub_num(s, r, 1),
					  .sector = fr_sub_num(s, r, 3),
					  .is_write = memchr(rwbs, 'W', len)};
}

static void clues_take_io_done(struct fr_clues *c, const struct fr_row *r)
{
	const struct fr_sub *s = &c->sub[FR_CLUE_IO_DONE];
	struct fr_clue_io *io;

	if (r->ts < c->begin_ns || r->ts > c->at_ns)
		return;
	io = clues_room_of(&c->io_done, LIST_MOST, &c->is_done_full);
	if (io)
		*io = (struct fr_clue_io){.ts = r->ts, .dev = fr_sub_num(s, r, 0), .sector = fr_sub_num(s, r, 1)};
}

static void clues_take_sample(struct fr_clues *c, const struct fr_row *r)
{
	const struct fr_sub *s = &c->sub[FR_CLUE_SAMPLE];
	struct fr_clue_sample *sample = r->ts < c->begin_ns ? NULL : clues_room(c, &c->sample, LIST_MOST);

	if (sample)
		*sample = (struct fr_clue_sample){.ts = r->ts,
						  .tid = r->tid,
						  .cpu = r->cpu,
						  .user = fr_sub_num(s, r, 0),
						  .ip = fr_sub_num(s, r, 1),
						  .kstack_id = fr_sub_num(s, r, 2),
						  .ustack_id = fr_sub_num(s, r, 3)};
}

struct text {
	u64 key;
	char *text; /* len bytes; it stays where it is */
	u32 len;
};

/* An object lives as long as its batch: have the wait point to a copy. 0 or -ENOMEM. */
static int clues_keep_object(struct fr_clues *c, struct fr_waited *w)
{
	u64 key = fr_hash(FR_HASH_SEED, w->object, w->object_len);
	struct text *t;

	for (;; key++) { /* of another text with the same key */
		t = w->object_len ? fr_tally_get(&c->text, key) : NULL;
		if (!t || !t->text || (t->len == w->object_len && !memcmp(t->text, w->object, t->len)))
			break;
	}
	if (t && !t->text) {
		t->text = malloc(w->object_len);
		if (!t->text)
			return -ENOMEM;
		t->len = w->object_len;
		memcpy(t->text, w->object, t->len);
	}
	if (!t && w->object_len)
		return -ENOMEM;
	w->object = t ? t->text : "";
	return 0;
}

#define SERVED_NS (10 * FR_MSEC_NS) /* who is asked for something wakes before who asks begins to wait for it */

/* Of the trigger's process, waits count from longer before. */
static bool clues_is_asked_for(const struct fr_clues *c, const struct fr_row *r)
{
	return r->ts + SERVED_NS >= c->begin_ns ||
	       (c->pid > 0 && r->ts + OWN_NS >= c->at_ns && fr_view_who(c->view, r).pid == c->pid);
}

/* A wait in which a task reads a pipe says who does. */
static int clues_take_reader(struct fr_clues *c, const struct fr_waited *w)
{
	static const char pipe[] = "pipe:";
	struct fr_clue_reader *one;
	char call[FR_WAITED_CALL_SZ];
	u64 key;

	if (w->object_len <= sizeof(pipe) || memcmp(w->object, pipe, sizeof(pipe) - 1) || w->in != FR_WAITED_call ||
	    w->ts > c->at_ns || fr_waited_was_runnable(w) || strcmp(fr_waited_call(w, c->arch, call), "read"))
		return 0;
	key = fr_hash(FR_HASH_SEED, w->object, w->object_len);
	if (!fr_tally_find(&c->reader, key) && c->reader.cnt >= LIST_MOST)
		return 0;
	one = fr_tally_get(&c->reader, key);
	if (!one)
		return -ENOMEM;
	one->are_several |= one->tid && one->pid != w->pid;
	one->tid = w->tid;
	one->pid = w->pid;
	return 0;
}

/* Of all others, from longer before, only in which call the last one was. */
static int clues_take_slept(struct fr_clues *c, const struct fr_waited *w)
{
	struct fr_clue_slept *s;
	u64 more_sz;

	if (fr_waited_was_runnable(w))
		return 0;
	more_sz = fr_tally_growth_sz(&c->slept);
	if (more_sz && !fr_tally_find(&c->slept, w->tid) && !fr_memory_has_row_room(more_sz))
		return 0; /* nothing is known of it then */
	s = fr_tally_get(&c->slept, w->tid);
	if (!s)
		return -ENOMEM;
	*s = (struct fr_clue_slept){
		.key = s->key, .pid = w->pid, .id = w->id, .abi = w->abi, .in_call = w->in == FR_WAITED_call};
	return 0;
}

static int take_wait(struct fr_clues *c, const struct fr_row *r)
{
	struct fr_waited *w, one;
	int err;

	fr_waited_read(&c->fields, c->view, r, &one);
	err = clues_take_reader(c, &one);
	if (err)
		return err;
	if (!clues_is_asked_for(c, r))
		return r->ts + OWN_NS >= c->at_ns ? clues_take_slept(c, &one) : 0;
	w = clues_room(c, &c->wait, WAIT_MOST);
	if (!w)
		return 0;
	*w = one;
	return clues_keep_object(c, w);
}

static int clues_take(struct fr_clues *c, const struct fr_row *r)
{
	switch (c->kind[r->ev->nr]) {
	case FR_CLUE_SWITCH:
		take_switch(c, r);
		break;
	case FR_CLUE_FORK:
		take_fork(c, r);
		break;
	case FR_CLUE_EXEC:
		fr_oncpu_exec(&c->cpu[r->cpu].on, fr_sub_num(&c->sub[FR_CLUE_EXEC], r, 0), r->tid);
		break;
	case FR_CLUE_END:
		clues_take_end(c, r);
		break;
	case FR_CLUE_SIGNAL:
		clues_take_signal(c, r);
		break;
	case FR_CLUE_FAULT:
		take_fault(c, r);
		break;
	case FR_CLUE_SAMPLE:
		clues_take_sample(c, r);
		break;
	case FR_CLUE_IO:
		clues_take_io(c, r);
		break;
	case FR_CLUE_IO_DONE:
		clues_take_io_done(c, r);
		break;
	case FR_CLUE_DELIVERY:
		clues_take_delivery(c, r);
		break;
	case FR_CLUE_ARGV:
		clues_take_argv(c, r);
		break;
	case FR_CLUE_CALL:
		clues_take_call(c, r);
		break;
	case FR_CLUE_SAID:
		clues_take_said(c, r);
		break;
	case FR_CLUE_FAILED:
		clues_take_failed(c, r);
		break;
	case FR_CLUE_VICTIM:
		take_victim(c, r);
		break;
	case FR_CLUE_WAIT:
		return take_wait(c, r);
	}
	return 0;
}

static bool clues_batch_has(const struct fr_clues *c, const struct fr_batch *b, enum fr_clue_event kind)
{
	const struct fr_event *ev = c->sub[kind].ev;

	return ev && b->type[ev->nr].cnt;
}

/* Most rows are of a time that is not looked at: there, only signals and what was said count of the main tier. */
static bool clues_is_before(const struct fr_clues *c, const struct fr_replay_run *run)
{
	const struct fr_batch *b = run->b;

	return b->tier == FR_TIER_MAIN && b->ts[run->to - 1] < c->begin_ns && !clues_batch_has(c, b, FR_CLUE_SIGNAL) &&
	       !clues_batch_has(c, b, FR_CLUE_DELIVERY) && !clues_batch_has(c, b, FR_CLUE_SAID);
}

/* Rows of the main tier, while it is not known who has their CPU. */
static void clues_find_holder(struct fr_clues *c, struct fr_clue_cpu *cpu, const struct fr_batch *b, u32 i)
{
	if (b->tier == FR_TIER_MAIN && b->ts[i] >= c->begin_ns)
		fr_oncpu_row(&cpu->on, b->ts[i], b->tid[i]);
}

int fr_clues_run(struct fr_clues *c, const struct fr_replay_run *run)
{
	const struct fr_batch *b = run->b;
	struct fr_clue_cpu *cpu;
	int err = 0;
	u32 i;

	fr_rares_run(&c->rares, run);
	if (run->from == run->to || clues_is_before(c, run))
		return 0;
	if (clues_have_cpu(c, b->cpu))
		return -ENOMEM;
	cpu = &c->cpu[b->cpu];
	cpu->seen = true;
	c->view = run->view;
	for (i = run->from; i < run->to && !err; i++) {
		u8 kind = c->kind[b->ev[i]];
		struct fr_row r;

		if (!cpu->on.known)
			clues_find_holder(c, cpu, b, i);
		if (!kind || (kind == FR_CLUE_SWITCH && b->ts[i] < c->begin_ns))
			continue;
		r = fr_batch_row(b, i);
		err = clues_take(c, &r);
	}
	return err;
}

void fr_clues_want(const struct fr_clues *c, struct fr_wants *w)
{
	u32 i, k;

	for (i = 1; i < FR_CLUE_WAIT; i++)
		for (k = 0; c->sub[i].ev && k < FR_SUB_FIELD_MAX; k++)
			if (c->sub[i].field[k])
				w->cols[c->sub[i].ev->nr] |= 1u << c->sub[i].field[k]->col;
	fr_waited_want(&c->fields, w);
	fr_rares_want(&c->rares, w);
}

/* ---- life ---- */

static void clues_find_trigger(struct fr_clues *c, u32 tid)
{
	s64 v;

	c->reason = fr_snap_fact(c->snap, "trigger_reason");
	c->tid = tid;
	c->pid = fr_snap_fact_num(c->snap, "trigger_pid", &v) && v > 0 && v <= (s64)FR_TID_MASK ? v : -1;
}

/* In the time that is looked at, were calls left out? Then that there is none says nothing. 0 or -ENOMEM. */
static int clues_find_thinned(struct fr_clues *c, struct fr_replay *r)
{
	struct fr_thins thins;
	int err = fr_thins_read(fr_replay_file(r, 0), c->begin_ns, c->at_ns, &thins);

	c->is_thinned = thins.all.left[FR_THIN_calls];
	fr_thins_free(&thins);
	return err;
}

int fr_clues_new(struct fr_replay *r, const struct fr_summary *sum, u32 tid, struct fr_clues **out)
{
	struct fr_clues *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return -ENOMEM;
	c->snap = fr_replay_snap(r, 0);
	c->view = fr_replay_view(r, 0);
	c->arch = fr_snap_fact(c->snap, "arch");
	c->run.item_sz = sizeof(struct fr_clue_run);
	c->wait.item_sz = sizeof(struct fr_waited);
	c->fork.item_sz = sizeof(struct fr_clue_fork);
	c->end.item_sz = sizeof(struct fr_clue_end);
	c->signal.item_sz = sizeof(struct fr_clue_signal);
	c->victim.item_sz = sizeof(struct fr_clue_victim);
	c->fault.item_sz = sizeof(struct fr_clue_fault);
	c->sample.item_sz = sizeof(struct fr_clue_sample);
	c->io.item_sz = sizeof(struct fr_clue_io);
	c->io_done.item_sz = sizeof(struct fr_clue_io);
	c->text.rec_sz = sizeof(struct text);
	c->slept.rec_sz = sizeof(struct fr_clue_slept);
	c->reader.rec_sz = sizeof(struct fr_clue_reader);
	c->is_picked = fr_cut_is_picked(c->snap);
	c->life_ns = fr_summary_horizon(sum, FR_TIER_LIFE);
	c->wait_ns = fr_summary_horizon(sum, FR_TIER_WAIT);
	clues_find_trigger(c, tid);
	find_time(c, r);
	clues_bind(c, r);
	fr_rares_init(&c->rares, r, sum);
	err = clues_find_thinned(c, r) ?: clues_add_cpus(c, sum);
	if (err) {
		fr_clues_free(c);
		return err;
	}
	*out = c;
	return 0;
}

void fr_clues_free(struct fr_clues *c)
{
	u32 i;

	if (!c)
		return;
	for (i = 0; i < c->text.cnt; i++)
		free(((struct text *)fr_tally_at(&c->text, i))->text);
	fr_tally_free(&c->text);
	fr_tally_free(&c->slept);
	fr_tally_free(&c->reader);
	fr_vec_free(&c->run);
	fr_vec_free(&c->wait);
	fr_vec_free(&c->fork);
	fr_vec_free(&c->end);
	fr_vec_free(&c->signal);
	fr_vec_free(&c->victim);
	fr_vec_free(&c->fault);
	fr_vec_free(&c->sample);
	fr_vec_free(&c->io);
	fr_vec_free(&c->io_done);
	fr_rares_free(&c->rares);
	free(c->cpu);
	free(c);
}

/* Whoever has a CPU has had it until the window's end, or the copying of its ring. */
void fr_clues_end(struct fr_clues *c, const struct fr_an_result *res, bool is_focus, struct fr_symbols *symbols,
		  const struct fr_states *states)
{
	u32 i;

	c->focus = is_focus ? &res->focus : NULL;
	c->symbols = symbols;
	c->states = states;
	/* what was read of a damaged file has gaps that no list of holes tells */
	if (fr_snap_damage(c->snap))
		c->is_full = true;
	for (i = 0; i < c->cpu_cnt; i++) {
		struct fr_oncpu_stretch s = fr_oncpu_until(&c->cpu[i].on, c->at_ns);

		add_run(c, i, &s, c->cpu[i].prio);
	}
}
