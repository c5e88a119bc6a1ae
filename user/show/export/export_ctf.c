/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ctf: a trace in the Common Trace Format 1.8, for babeltrace2 and Trace Compass: a directory with the file `metadata` and one
 * stream for each CPU.
 *
 *	export_ctf_stream.c	packets of events
 *	export_ctf_lttng.c	LTTng's names
 *	export_ctf_meta.c	the metadata
 *
 * An event is { id, time }, { tid, pid, procname }, its fields, and LTTng's additional ones. Event classes are collected while
 * the events are written; the metadata that describes them is written last.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "event_fields.h"
#include "show/export/export_ctf.h"
#include "show/export/export_gaps.h"
#include "task_state.h"

#define CALL_MAX 1024 /* system calls with classes of their own; higher numbers share one */

/* A row may lack arguments that its call takes. */
enum ctf_way { WAY_ENTER, WAY_EXIT, WAY_ENTER_BARE, WAY_CNT };

/* Classes of a schema's events: plain events by number, system calls by direction, ABI and number; 0: none yet. */
struct ids {
	const struct fr_schema *schema;
	u32 plain[FR_EVENT_MAX];
	u32 call[WAY_CNT][2][CALL_MAX + 1];
	struct ids *next;
};

struct ctf {
	int dir_fd;
	struct fr_ctf_trace trace;
	struct fr_ctf_class *class;
	u32 class_cnt;
	struct ids *ids;
	struct fr_ctf_stream *cpu;
	u32 cpu_cnt;
	u64 begin_ns; /* of the window */
	u32 *cpu_tid; /* who has it when the trace begins; 0: nobody, or not known */
};

/* ---- classes ---- */

/* Of which fields of a tracepoint have numbers words? */
static u64 ctf_worded(const struct fr_ctf_class *k)
{
	u64 bits = 0;
	u32 i;

	for (i = 0; k->format && i < k->ev->field_cnt; i++)
		if (fr_field_kind(&k->ev->fields[i]) == FR_VAL_NUM && fr_tpformat_has_symbols(k->format, k->ev->fields[i].name))
			bits |= 1ull << i;
	return bits;
}

/* What an argument is may depend on another one: then a value has no word of its own. */
static bool ctf_depends(const struct fr_signature *s, u32 arg)
{
	const struct fr_callby *by;

	for (by = s->by; by && by->mask; by++)
		if (by->target == arg)
			return true;
	return false;
}

static bool ctf_has_words(const struct fr_callarg *a)
{
	return a->words || a->kind == FR_ARG_SIGNAL || a->kind == FR_ARG_IOCTL;
}

static void ctf_take_args(struct fr_ctf_class *k, const struct fr_callargs *a)
{
	u32 i;

	k->arg = a->signature->args;
	k->arg_cnt = a->known_cnt;
	for (i = 0; i < k->arg_cnt; i++)
		if (ctf_has_words(&k->arg[i]) && !ctf_depends(a->signature, i))
			k->worded |= 1ull << (FR_FIELD_MAX + i);
}

/* args: of a call's beginning, NULL: not all are there, or nobody knows what they are called. */
static int new_class(struct ctf *c, const struct fr_view *v, const struct fr_event *ev, const struct fr_sys *sys, s64 call,
		     const struct fr_callargs *args, u32 *id)
{
	struct fr_ctf_class *k = &c->class[c->class_cnt];

	if (c->class_cnt == FR_CTF_CLASS_MAX)
		return -E2BIG;
	*k = (struct fr_ctf_class){.ev = ev, .extra = fr_ctf_extras(ev), .call = call, .abi = sys->abi};
	k->format = ev->group == FR_GROUP_TP ? fr_tps_format(v->tps, ev->nr) : NULL;
	k->worded = ctf_worded(k);
	if (args)
		ctf_take_args(k, args);
	fr_ctf_event_name(k->name, sizeof(k->name), ev, sys, call);
	*id = c->class_cnt++;
	return 0;
}

/* LTTng's classes that match none of our events. */
static void begin_classes(struct ctf *c)
{
	c->class[FR_CTF_STATEDUMP_ID] = (struct fr_ctf_class){
		.name = "lttng_statedump_process_state",
		.fields = "\t\tint64_t _tid;\n\t\tint64_t _pid;\n\t\tint64_t _ppid;\n\t\tstring _name;\n\t\tuint64_t _type;\n"
			  "\t\tuint64_t _mode;\n\t\tuint64_t _submode;\n\t\tuint64_t _status;\n\t\tuint64_t _cpu;\n"};
	c->class[FR_CTF_FREE_ID] = (struct fr_ctf_class){
		.name = "sched_process_free", .fields = "\t\tstring _comm;\n\t\tint64_t _tid;\n\t\tint64_t _prio;\n"};
	c->class_cnt = 2;
}

static struct ids *ids_of(struct ctf *c, const struct fr_schema *schema)
{
	struct ids *i;

	for (i = c->ids; i; i = i->next) {
		if (i->schema == schema)
			return i;
	}
	i = calloc(1, sizeof(*i));
	if (i) {
		i->schema = schema;
		i->next = c->ids;
		c->ids = i;
	}
	return i;
}

static s64 ctf_call_of(const struct fr_row *r)
{
	const bool is_call = r->ev->nr == FR_EV_sys_enter || r->ev->nr == FR_EV_sys_exit; /* not what it was given */
	const struct fr_field *f = is_call ? fr_event_field(r->ev, "id") : NULL;

	return f && f->kind == FR_KIND_FIELD && fr_field_kind(f) == FR_VAL_NUM ? (s64)fr_row_num(r, f) : -1;
}

/* The arguments of a call that begins: false if the row lacks any, or their names are not known. */
static bool ctf_args_of(const struct fr_view *v, const struct fr_row *r, struct fr_callargs *a)
{
	const struct fr_syscall *call = fr_callargs_call(v, r);

	return fr_callargs_of(r, call, a) && call->args >= 0 && a->cnt >= (u32)call->args;
}

/* *args: those of a call, cnt 0: none that have names. */
static int class_of(struct ctf *c, const struct fr_view *v, const struct fr_row *r, struct fr_callargs *args, u32 *id)
{
	struct ids *ids = c->ids && c->ids->schema == v->schema ? c->ids : ids_of(c, v->schema);
	s64 call = ctf_call_of(r);
	struct fr_sys sys = {.arch = v->arch};
	bool has_args = false;
	u32 *known;
	int err = 0;

	if (!ids)
		return -ENOMEM;
	known = &ids->plain[r->ev->nr];
	if (call >= 0) {
		sys = fr_view_sys(v, r);
		has_args = r->ev->nr == FR_EV_sys_enter && call < CALL_MAX && ctf_args_of(v, r, args);
		known = &ids->call[r->ev->nr == FR_EV_sys_exit ? WAY_EXIT
				   : has_args		       ? WAY_ENTER
					      : WAY_ENTER_BARE][sys.abi & 1][call < CALL_MAX ? call : CALL_MAX];
	}
	if (!has_args)
		args->cnt = 0;
	if (!*known)
		err = new_class(c, v, r->ev, &sys, call, has_args ? args : NULL, known);
	*id = *known;
	return err;
}

/* ---- events ---- */

static int flush_packet(struct ctf *c, u32 cpu, bool last)
{
	return fr_ctf_stream_flush(&c->cpu[cpu], c->dir_fd, c->trace.uuid, last);
}

/* babeltrace2 2.0 shows an empty text as that of an earlier event: a name that is not known has a text of its own. */
static void ctf_put_text(struct fr_pbuf *b, const char *text, size_t len)
{
	fr_ctf_put_text(b, text ?: "<...>", text ? len : 5);
}

static void ctf_put_val(struct fr_pbuf *b, const struct fr_event *ev, const struct fr_field *f, const struct fr_val *v)
{
	enum fr_val_kind kind = fr_field_kind(f);
	bool known = v->kind == kind;
	u64 num = known ? v->num : 0;
	u32 sz = fr_ctf_num_sz(ev, kind == FR_VAL_NUMS ? f->elem : f->type);
	size_t i;

	if (kind == FR_VAL_NUM && sz == sizeof(num)) {
		fr_ctf_put_u64(b, num);
	} else if (kind == FR_VAL_NUM) {
		fr_ctf_put(b, &num, sz); /* little-endian, as the metadata says */
	} else if (kind == FR_VAL_TEXT) {
		ctf_put_text(b, known ? v->text : NULL, v->len);
	} else {
		fr_ctf_put_u32(b, known ? v->len : 0);
		if (known && v->len && sz == sizeof(num))
			fr_ctf_put(b, v->nums, v->len * sizeof(num));
		for (i = 0; known && i < v->len && sz < sizeof(num); i++)
			fr_ctf_put(b, &v->nums[i], sz);
	}
}

/* Ask for the word of a tracepoint's number, once. */
static int ctf_learn(struct ctf *c, u32 id, u32 field, const struct fr_view *v, const struct fr_row *r, u64 value)
{
	const char *word;

	if (!fr_ctf_words_want(c->trace.words, id, field, value))
		return 0;
	word = fr_tps_symbol(v->tps, r, &r->ev->fields[field], value);
	return fr_ctf_words_add(c->trace.words, id, field, value, word, word ? strlen(word) : 0);
}

/* A call's arguments, by their names. */
static int ctf_put_args(struct ctf *c, u32 id, struct fr_pbuf *b, const struct fr_callargs *a)
{
	const struct fr_ctf_class *k = &c->class[id];
	char word[FR_CALLWORDS_SZ];
	int err = 0;
	u32 i;

	for (i = 0; i < k->arg_cnt && !err; i++) {
		bool is_half = fr_ctf_arg_signed(&k->arg[i]);
		u64 value = is_half							      ? (u64)(s64)(s32)a->v[i]
			    : k->arg[i].kind == FR_ARG_UINT || k->arg[i].kind == FR_ARG_HEX32 ? (u32)a->v[i]
											      : a->v[i];
		u32 field = FR_FIELD_MAX + i;

		fr_ctf_put_u64(b, value);
		if (k->worded >> field & 1 && fr_ctf_words_want(c->trace.words, id, field, value))
			err = fr_ctf_words_add(c->trace.words, id, field, value, word,
					       fr_callwords_put_named(a->signature, a->v, a->cnt, i, word) - word);
	}
	return err;
}

static void ctf_put_who(struct fr_pbuf *b, struct fr_who who, u32 tid)
{
	fr_ctf_put_u32(b, tid);
	fr_ctf_put_u32(b, who.pid);
	ctf_put_text(b, who.comm, who.len);
}

static struct fr_val ctf_val_of(const struct fr_view *v, const struct fr_row *r, const char *name)
{
	const struct fr_field *f = fr_event_field(r->ev, name);

	return f ? fr_view_field(v, r, f) : (struct fr_val){.kind = FR_VAL_NONE};
}

static void ctf_put_extra(struct fr_pbuf *b, const struct fr_ctf_extra *x, const struct fr_view *v, const struct fr_row *r)
{
	struct fr_who who = fr_view_who(v, r);
	struct fr_val val;

	switch (x->what) {
	case FR_CTF_TID:
		fr_ctf_put_u64(b, r->tid);
		break;
	case FR_CTF_PID:
		fr_ctf_put_u64(b, (s64)who.pid);
		break;
	case FR_CTF_COMM:
		ctf_put_text(b, who.comm, who.len);
		break;
	case FR_CTF_SOFTIRQ:
		val = ctf_val_of(v, r, "vec");
		b->p[b->len++] = val.kind == FR_VAL_NUM && val.num < 255 ? val.num : 255;
		break;
	case FR_CTF_RWBS:
		val = ctf_val_of(v, r, "rwbs");
		fr_ctf_put_u64(b, val.kind == FR_VAL_TEXT ? fr_ctf_rwbs(val.text, val.len) : 0);
		break;
	}
}

/* sched_process_free: the task is gone after its last switch. */
static int ctf_put_free(struct ctf *c, const struct fr_view *v, const struct fr_row *r)
{
	struct fr_val prio = ctf_val_of(v, r, "prev_prio");
	struct fr_who who = fr_view_who(v, r);
	struct fr_pbuf *b = &c->cpu[r->cpu].packet;
	int err = fr_ctf_stream_event(&c->cpu[r->cpu], FR_CTF_FREE_ID, r->ts);

	if (err)
		return err;
	ctf_put_who(b, who, r->tid);
	ctf_put_text(b, who.comm, who.len);
	fr_ctf_put_u64(b, r->tid);
	fr_ctf_put_u64(b, prio.kind == FR_VAL_NUM ? prio.num : 0);
	return 0;
}

static bool is_last_switch(const struct fr_view *v, const struct fr_row *r)
{
	struct fr_val state;

	if (r->ev->nr != FR_EV_sched_switch)
		return false;
	state = ctf_val_of(v, r, "prev_state");
	return state.kind == FR_VAL_NUM && state.num & FR_PREV_STATE_ENDED;
}

static int ctf_put_fields(struct ctf *c, u32 id, const struct fr_view *v, const struct fr_row *r,
			  const struct fr_callargs *args)
{
	struct fr_pbuf *b = &c->cpu[r->cpu].packet;
	const struct fr_ctf_class *k = &c->class[id];
	const struct fr_ctf_extra *extra;
	int err = 0;
	u32 i;

	for (i = 0; i < r->ev->field_cnt && !err; i++) {
		const struct fr_field *f = &r->ev->fields[i];
		struct fr_val val = fr_view_field(v, r, f);

		if (fr_field_is_inner(f))
			continue;
		ctf_put_val(b, r->ev, f, &val);
		if (k->worded >> i & 1 && val.kind == FR_VAL_NUM)
			err = ctf_learn(c, id, i, v, r, val.num);
	}
	if (args->cnt && !err)
		err = ctf_put_args(c, id, b, args);
	for (extra = k->extra; extra && extra->name; extra++)
		ctf_put_extra(b, extra, v, r);
	return err;
}

/* An event follows a gap: tell the reader by a missing packet. */
static int pass_gap(struct ctf *c, u32 cpu)
{
	int err = c->cpu[cpu].packet.len ? flush_packet(c, cpu, false) : 0;

	c->cpu[cpu].seq++;
	return err;
}

static int ctf_row(struct fr_export *x, const struct fr_view *v, const struct fr_row *r)
{
	struct ctf *c = x->state;
	struct fr_callargs args;
	u32 id;
	int err;

	if (r->cpu >= c->cpu_cnt)
		return -EBADMSG;
	err = fr_export_passes_gap(x, r->cpu, r->ts) ? pass_gap(c, r->cpu) : 0;
	err = err ?: class_of(c, v, r, &args, &id);
	err = err ?: fr_ctf_stream_event(&c->cpu[r->cpu], id, r->ts);
	if (err)
		return err;
	ctf_put_who(&c->cpu[r->cpu].packet, fr_view_who(v, r), r->tid);
	err = ctf_put_fields(c, id, v, r, &args);
	x->event_cnt++;
	if (!err && is_last_switch(v, r))
		err = ctf_put_free(c, v, r);
	return err ?: c->cpu[r->cpu].packet.len > FR_CTF_PACKET_SZ ? flush_packet(c, r->cpu, false) : 0;
}

/* ---- tasks that live when the trace begins ---- */

enum { THREAD_USER = 0, THREAD_KERNEL = 1 };   /* LTTng's numbers */
enum { STATUS_WAIT_CPU = 2, STATUS_WAIT = 5 }; /* LTTng says the first of each task that has a CPU, or wants one */

/* The CPU that a task has; cpu_cnt: none, as far as is known. */
static u32 ctf_cpu_of(const struct ctf *c, u32 tid)
{
	u32 i = 0;

	while (i < c->cpu_cnt && (!tid || c->cpu_tid[i] != tid))
		i++;
	return i;
}

/* Whose the events are that nobody did. */
static void ctf_put_swapper(struct fr_pbuf *b)
{
	ctf_put_who(b, (struct fr_who){.pid = 0, .comm = "swapper/0", .len = 9}, 0);
}

static int ctf_put_task(struct ctf *c, const struct fr_snap_task *t, struct fr_who who, u64 ts)
{
	u32 cpu = ctf_cpu_of(c, t->tid);
	struct fr_pbuf *b = &c->cpu[0].packet;
	int err = fr_ctf_stream_event(&c->cpu[0], FR_CTF_STATEDUMP_ID, ts);

	if (err)
		return err;
	ctf_put_swapper(b);
	fr_ctf_put_u64(b, t->tid);
	fr_ctf_put_u64(b, t->task.tgid);
	fr_ctf_put_u64(b, t->task.ppid);
	fr_ctf_put_text(b, who.comm, who.len);
	fr_ctf_put_u64(b, t->task.flags & FR_TASK_KTHREAD ? THREAD_KERNEL : THREAD_USER);
	fr_ctf_put_u64(b, 0);
	fr_ctf_put_u64(b, 0);
	fr_ctf_put_u64(b, cpu < c->cpu_cnt ? STATUS_WAIT_CPU : STATUS_WAIT);
	fr_ctf_put_u64(b, cpu < c->cpu_cnt ? cpu : 0);
	return b->len > FR_CTF_PACKET_SZ ? flush_packet(c, 0, false) : 0;
}

static int find_holders(struct ctf *c, const struct fr_export *x, u64 begin_ns)
{
	u32 i;
	int got = 0;

	c->cpu_tid = calloc(c->cpu_cnt, sizeof(*c->cpu_tid));
	if (!c->cpu_tid)
		return -ENOMEM;
	for (i = 0; i < c->cpu_cnt && got >= 0; i++)
		got = fr_export_holder(x, i, begin_ns, &c->cpu_tid[i]);
	return got < 0 ? got : 0;
}

static int put_statedump(struct ctf *c, const struct fr_export *x)
{
	u64 begin_ns, end_ns;
	size_t cnt = 0, i;
	struct fr_snap_task *t = fr_export_tasks(x, &cnt);
	int err = t ? 0 : -ENOMEM;

	fr_replay_window(x->replay, &begin_ns, &end_ns);
	c->begin_ns = begin_ns;
	err = err ?: find_holders(c, x, begin_ns);
	for (i = 0; i < cnt && !err; i++) {
		if (t[i].start_ns <= begin_ns && fr_export_is_there(&t[i], begin_ns))
			err = ctf_put_task(c, &t[i], fr_export_who(x, &t[i], begin_ns), begin_ns);
	}
	free(t);
	return err;
}

/* ---- whose processes are ---- */

/* A class for each set of texts that are known: what is not known has no field. */
static int ctf_whose_class(struct ctf *c, u32 whose, u32 *id)
{
	for (*id = 0; *id < c->class_cnt; ++*id)
		if (c->class[*id].whose == whose)
			return 0;
	if (c->class_cnt == FR_CTF_CLASS_MAX)
		return -E2BIG;
	c->class[c->class_cnt++] =
		(struct fr_ctf_class){.name = "flightrec_statedump_process_whose",
				      .fields = "\t\tint64_t _tid;\n\t\tstring _name;\n\t\tint64_t _start_ns;\n",
				      .whose = whose};
	return 0;
}

/* At the beginning, of those that are born later, too: _start_ns is on the clock of the trace's times. */
static int ctf_put_whose(void *arg, const struct fr_export_whose *w)
{
	struct ctf *c = arg;
	struct fr_pbuf *b = &c->cpu[0].packet;
	u32 whose = 0, id, i;
	int err;

	for (i = 0; i < FR_WHOSE_CNT; i++)
		whose |= (w->text[i] != NULL) << i;
	err = ctf_whose_class(c, whose, &id);
	err = err ?: fr_ctf_stream_event(&c->cpu[0], id, c->begin_ns);
	if (err || fr_pbuf_room(b, FR_WHOSE_CNT * (FR_EXPORT_WHOSE_MAX + 1) + 256))
		return err ?: -ENOMEM;
	ctf_put_swapper(b);
	fr_ctf_put_u64(b, w->task->tid);
	ctf_put_text(b, w->who.comm, w->who.len);
	fr_ctf_put_u64(b, w->task->start_ns + c->trace.offset_ns);
	for (i = 0; i < FR_WHOSE_CNT; i++)
		if (w->text[i])
			ctf_put_text(b, w->text[i], strlen(w->text[i]));
	return b->len > FR_CTF_PACKET_SZ ? flush_packet(c, 0, false) : 0;
}

/* ---- lifetime ---- */

/* Do two snapshots of a boot have rings of one session? */
static bool ctf_is_same_session(const struct fr_export *x, u32 a, u32 b)
{
	size_t a_cnt, b_cnt;
	const struct fr_chunk *ca = fr_snap_chunks(fr_replay_snap(x->replay, a), &a_cnt);
	const struct fr_chunk *cb = fr_snap_chunks(fr_replay_snap(x->replay, b), &b_cnt);

	return a_cnt && b_cnt && ca->epoch == cb->epoch;
}

/* Does this ring's account have the latest time of all snapshots of the session? */
static bool is_latest(const struct fr_export *x, u32 file, const struct fr_snap_ring *r)
{
	u32 other;
	size_t cnt, i;

	for (other = 0; other < fr_replay_file_cnt(x->replay); other++) {
		const struct fr_snap_ring *o = fr_snap_rings(fr_replay_snap(x->replay, other), &cnt);

		if (other == file || !ctf_is_same_session(x, file, other))
			continue;
		for (i = 0; i < cnt; i++)
			if (o[i].cpu == r->cpu && o[i].tier == r->tier &&
			    (o[i].written > r->written || (o[i].written == r->written && other < file)))
				return false;
	}
	return true;
}

static void count_discarded(struct ctf *c, const struct fr_export *x, u32 file)
{
	size_t cnt, i, why;
	const struct fr_snap_ring *ring = fr_snap_rings(fr_replay_snap(x->replay, file), &cnt);

	for (i = 0; i < cnt; i++) {
		if (ring[i].cpu >= c->cpu_cnt || !is_latest(x, file, &ring[i]))
			continue;
		for (why = 0; why < FR_LOST_CNT; why++)
			c->cpu[ring[i].cpu].discarded_total += ring[i].lost[why];
	}
}

static int make_streams(struct ctf *c, const struct fr_export *x)
{
	u32 i;

	c->cpu_cnt = fr_export_cpu_cnt(x);
	c->cpu = fr_ctf_streams_new(c->cpu_cnt);
	if (!c->cpu)
		return -ENOMEM;
	for (i = 0; i < fr_replay_file_cnt(x->replay); i++)
		count_discarded(c, x, i);
	return 0;
}

static int ctf_begin(struct fr_export *x)
{
	struct ctf *c = calloc(1, sizeof(*c));
	size_t cnt;
	int err;

	x->state = c;
	if (!c)
		return -ENOMEM;
	c->dir_fd = x->dir_fd;
	c->trace.snap = x->snap;
	c->class = calloc(FR_CTF_CLASS_MAX, sizeof(*c->class));
	c->trace.words = fr_ctf_words_new();
	if (!c->class || !c->trace.words || getrandom(c->trace.uuid, sizeof(c->trace.uuid), 0) != sizeof(c->trace.uuid))
		return -ENOMEM;
	if (fr_snap_clocks(x->snap, &cnt) && cnt) {
		const struct fr_snap_clock *last = fr_snap_clocks(x->snap, &cnt) + cnt - 1;

		c->trace.offset_ns = last->real_ns - last->ts;
	}
	begin_classes(c);
	err = make_streams(c, x);
	err = err ?: put_statedump(c, x);
	return err ?: fr_export_each_whose(x, ctf_put_whose, c);
}

static int write_metadata(struct ctf *c)
{
	int fd = openat(c->dir_fd, "metadata", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), err;
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

	if (!f) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	c->trace.class = c->class;
	c->trace.class_cnt = c->class_cnt;
	err = fr_ctf_metadata(f, &c->trace);
	return fclose(f) && !err ? -errno : err;
}

static int ctf_end(struct fr_export *x)
{
	struct ctf *c = x->state;
	int err = 0;
	u32 i;

	for (i = 0; i < c->cpu_cnt && !err; i++) {
		if (c->cpu[i].packet.len || c->cpu[i].discarded_total)
			err = flush_packet(c, i, true);
	}
	return err ?: write_metadata(c);
}

static void ctf_release(struct fr_export *x)
{
	struct ctf *c = x->state;
	struct ids *next;

	if (!c)
		return;
	for (; c->ids; c->ids = next) {
		next = c->ids->next;
		free(c->ids);
	}
	fr_ctf_streams_free(c->cpu, c->cpu_cnt);
	fr_ctf_words_free(c->trace.words);
	free(c->class);
	free(c->cpu_tid);
}

const struct fr_exporter fr_export_ctf = {
	.name = "ctf",
	.doc = "Common Trace Format 1.8, a directory: babeltrace2, Trace Compass",
	.folder = true,
	.one_boot = true,
	.whose = true,
	.begin = ctf_begin,
	.row = ctf_row,
	.end = ctf_end,
	.release = ctf_release,
};
