/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tracks of our own in a Perfetto trace: triggers and other marks, page faults on their tasks, and what is missing. */
#include <errno.h>
#include <stdio.h>

#include "base/text/escape.h"
#include "event_fields.h"
#include "read/replay/summary.h"
#include "read/symbols/frames.h"
#include "read/waits/waited.h"
#include "show/export/export_gaps.h"
#include "show/export/export_perfetto.h"

#define PACKET_TRACK_EVENT 11u
#define PACKET_TRACK	   60u

enum { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3 };

/* Track numbers. A task's is TRACK_TASK + its place in the list of tasks or, if it is not there, TRACK_TID + its tid. */
#define TRACK_OURS 1ull
#define TRACK_CPU  0x1000ull
#define TRACK_HELD 0x20000ull
#define TRACK_TASK 0x100000000ull
#define TRACK_TID  0x200000000ull
#define TRACK_PROC 0x300000000ull /* + the place of its first thread in the list of tasks */

/* TrackDescriptor { uuid 1, name 2, thread 4 { pid 1, tid 2 }, parent_uuid 5 } */
static int describe(struct fr_perfetto_out *to, u64 uuid, const char *name, u64 parent)
{
	struct fr_pbuf *b = &to->packet;
	size_t at = fr_pbuf_open(b, PACKET_TRACK);

	fr_pbuf_num(b, 1, uuid);
	fr_pbuf_str(b, 2, name);
	if (parent)
		fr_pbuf_num(b, 5, parent);
	fr_pbuf_close(b, at);
	return fr_perfetto_packet(to, FR_PERFETTO_SEQ_TRACK, 0);
}

/* At the time of the event: the reader would take a task that is described before its birth for another one. */
static int describe_task(struct fr_perfetto_out *to, u64 uuid, u64 ns, u32 tid, s32 pid)
{
	struct fr_pbuf *b = &to->packet;
	size_t at = fr_pbuf_open(b, PACKET_TRACK), in;

	fr_pbuf_num(b, 1, uuid);
	in = fr_pbuf_open(b, 4);
	fr_pbuf_num(b, 1, pid < 0 ? tid : (u32)pid);
	fr_pbuf_num(b, 2, tid);
	fr_pbuf_close(b, in);
	fr_pbuf_close(b, at);
	return fr_perfetto_packet(to, FR_PERFETTO_SEQ_TASK, ns);
}

static int get_task_track(struct fr_perfetto_out *to, u64 ns, const struct fr_view *v, const struct fr_row *r, u64 *uuid)
{
	struct fr_perfetto_task *t = fr_perfetto_task_at(to, r->tid, r->ts);
	bool is_new = t ? !t->has_track : !(to->task_track[r->tid / 8] & 1 << r->tid % 8);

	*uuid = t ? TRACK_TASK + (t - to->task) : TRACK_TID + r->tid;
	if (t)
		t->has_track = true;
	else
		to->task_track[r->tid / 8] |= 1 << r->tid % 8;
	return is_new ? describe_task(to, *uuid, ns, r->tid, fr_view_who(v, r).pid) : 0;
}

/* TrackEvent { type 9, track_uuid 11, category 22, name 23 }; what ends it. */
static size_t open_track_event(struct fr_pbuf *b, u32 type, u64 track, const char *category, const char *name)
{
	size_t at = fr_pbuf_open(b, PACKET_TRACK_EVENT);

	fr_pbuf_num(b, 9, type);
	fr_pbuf_num(b, 11, track);
	if (type != SLICE_END) {
		fr_pbuf_str(b, 22, category);
		fr_pbuf_str(b, 23, name);
	}
	return at;
}

/* DebugAnnotation { uint_value 3, int_value 4, string_value 6, name 10 } */
static void annotate(struct fr_pbuf *b, const char *name, const struct fr_val *v)
{
	size_t at;

	if (v->kind != FR_VAL_NUM && v->kind != FR_VAL_TEXT)
		return;
	at = fr_pbuf_open(b, 4);
	if (v->kind == FR_VAL_TEXT)
		fr_pbuf_text(b, 6, v->text, v->len);
	else
		fr_pbuf_num(b, v->is_signed ? 4 : 3, v->num);
	fr_pbuf_str(b, 10, name);
	fr_pbuf_close(b, at);
}

/* Show a trigger with its reason, since people look for that. */
static void track_name_of(const struct fr_view *v, const struct fr_row *r, char *name, size_t sz)
{
	const struct fr_field *f = r->ev->nr == FR_EV_trigger ? fr_event_field(r->ev, "reason") : NULL;
	struct fr_val val = {.kind = FR_VAL_NONE};

	if (f)
		val = fr_view_field(v, r, f);
	if (val.kind == FR_VAL_TEXT)
		snprintf(name, sz, "trigger: %.*s", (int)val.len, val.text);
	else
		snprintf(name, sz, "%s", r->ev->name);
}

int fr_perfetto_instant(struct fr_perfetto_out *to, u64 ns, const struct fr_view *v, const struct fr_row *r,
			enum fr_perfetto_way way)
{
	bool on_task = way == FR_PERFETTO_TASK || r->ev->nr == FR_EV_crash;
	u64 track = TRACK_OURS;
	struct fr_pbuf *b = &to->packet;
	char name[64];
	size_t at;
	u32 i;
	int err = fr_pbuf_room(b, FR_PERFETTO_EVENT_SZ);

	if (!err && on_task)
		err = get_task_track(to, ns, v, r, &track);
	if (err)
		return err;
	track_name_of(v, r, name, sizeof(name));
	at = open_track_event(b, INSTANT, track, on_task ? "task" : "flightrec", name);
	for (i = 0; i < r->ev->field_cnt; i++) {
		struct fr_val val = fr_view_field(v, r, &r->ev->fields[i]);

		annotate(b, r->ev->fields[i].name, &val);
	}
	fr_pbuf_close(b, at);
	return fr_perfetto_packet(to, FR_PERFETTO_SEQ_TRACK, ns);
}

/* ---- waits ---- */

static void annotate_text(struct fr_pbuf *b, const char *name, const char *text)
{
	struct fr_val v = {.kind = *text ? FR_VAL_TEXT : FR_VAL_NONE, .text = text, .len = strlen(text)};

	annotate(b, name, &v);
}

static void annotate_ns(struct fr_pbuf *b, const char *name, u64 ns)
{
	struct fr_val v = {.kind = FR_VAL_NUM, .num = ns};

	annotate(b, name, &v);
}

/* Functions of a stack, innermost first: "schedule < do_wait < ..."; as many as there is room for. */
static void annotate_stack(struct fr_perfetto_out *to, const struct fr_row *r, const char *field, const char *name)
{
	const struct fr_field *f = fr_event_field(r->ev, field);
	const struct fr_frame *frame = NULL;
	char text[1024] = "";
	u32 cnt = 0, i;
	int len = 0;

	if (f && to->frames)
		frame = fr_frames_of(to->frames, r, f, &cnt);
	for (i = 0; frame && i < cnt && frame[i].sym.name && len + strlen(frame[i].sym.name) + 4 < sizeof(text); i++)
		len += sprintf(text + len, "%s%s", i ? " < " : "", frame[i].sym.name);
	annotate_text(&to->packet, name, text);
}

static size_t open_wait(struct fr_perfetto_out *to, u64 track, const struct fr_waited *w, const char *arch)
{
	char call[FR_WAITED_CALL_SZ], about[FR_WAITED_OBJECT_SZ], waker[FR_WAITED_WAKER_SZ], name[FR_WAITED_CALL_SZ + 8];
	struct fr_pbuf *b = &to->packet;
	size_t at;

	snprintf(name, sizeof(name), "wait: %s", fr_waited_call(w, arch, call));
	at = open_track_event(b, SLICE_BEGIN, track, "wait", name);
	annotate_text(b, "object", fr_waited_about(w, arch, about));
	annotate_text(b, "woken by", fr_waited_waker(w, waker));
	annotate_ns(b, "blocked_ns", w->blocked_ns);
	annotate_ns(b, "queued_ns", w->queued_ns);
	return at;
}

int fr_perfetto_wait(struct fr_perfetto_out *to, u64 ns, const struct fr_view *v, const struct fr_row *r)
{
	struct fr_waited_fields f;
	struct fr_waited w;
	u64 track = 0, begin_ns;
	size_t at;
	int err = fr_pbuf_room(&to->packet, FR_PERFETTO_EVENT_SZ);

	fr_waited_bind(&f, v->schema);
	if (err || !f.ev)
		return err;
	fr_waited_read(&f, v, r, &w);
	begin_ns = w.off_ns < ns ? ns - w.off_ns : 1;
	err = get_task_track(to, begin_ns, v, r, &track);
	if (err)
		return err;
	at = open_wait(to, track, &w, v->arch);
	annotate_stack(to, r, "kstack", "stack");
	annotate_stack(to, r, "ustack", "user stack");
	fr_pbuf_close(&to->packet, at);
	err = fr_perfetto_packet(to, FR_PERFETTO_SEQ_TRACK, begin_ns);
	if (err)
		return err;
	at = open_track_event(&to->packet, SLICE_END, track, "", "");
	fr_pbuf_close(&to->packet, at);
	return fr_perfetto_packet(to, FR_PERFETTO_SEQ_TRACK, ns);
}

/* ---- whose processes are ---- */

/*
 * TrackDescriptor { uuid 1, process 3 { pid 1, process_labels 8* } }: at a moment at which the number is that process's to the
 * reader, which makes a new one of what it does not know, or of what has ended.
 */
static int track_put_whose(void *arg, const struct fr_export_whose *w)
{
	struct fr_perfetto_out *to = arg;
	struct fr_perfetto_task *t = fr_perfetto_task_at(to, w->task->tid, w->task->start_ns);
	struct fr_pbuf *b = &to->packet;
	size_t at, in;
	u32 nr;

	if (!t || !t->told_ns || t->has_whose)
		return 0;
	t->has_whose = true;
	if (fr_pbuf_room(b, FR_WHOSE_CNT * (FR_EXPORT_WHOSE_MAX + 64)))
		return -ENOMEM;
	at = fr_pbuf_open(b, PACKET_TRACK);
	fr_pbuf_num(b, 1, TRACK_PROC + (t - to->task));
	in = fr_pbuf_open(b, 3);
	fr_pbuf_num(b, 1, t->of.tid);
	for (nr = 0; nr < FR_WHOSE_CNT; nr++) {
		u32 i = (FR_WHOSE_container + nr) % FR_WHOSE_CNT; /* the path, which may be long, last */
		char text[FR_EXPORT_WHOSE_MAX + 64];

		if (!w->text[i])
			continue;
		snprintf(text, sizeof(text), "%s=%s", fr_whose_name(i), w->text[i]);
		fr_escape_mask(text, strlen(text));
		fr_pbuf_str(b, 8, text);
	}
	fr_pbuf_close(b, in);
	fr_pbuf_close(b, at);
	return fr_perfetto_packet(to, FR_PERFETTO_SEQ_TRACK, t->told_ns);
}

int fr_perfetto_whose(struct fr_perfetto_out *to, const struct fr_export *x)
{
	return fr_export_each_whose(x, track_put_whose, to);
}

/* ---- what is missing ---- */

static int put_slice(struct fr_perfetto_out *to, u64 track, const char *category, const char *name, u64 from_ns, u64 to_ns)
{
	size_t at = open_track_event(&to->packet, SLICE_BEGIN, track, category, name);
	int err;

	fr_pbuf_close(&to->packet, at);
	err = fr_perfetto_packet(to, FR_PERFETTO_SEQ_TRACK, from_ns + to->shift_ns);
	if (err)
		return err;
	at = open_track_event(&to->packet, SLICE_END, track, "", "");
	fr_pbuf_close(&to->packet, at);
	return fr_perfetto_packet(to, FR_PERFETTO_SEQ_TRACK, to_ns + to->shift_ns);
}

/* A slice on a CPU's track, clipped to the window. */
static int track_put_missing(struct fr_perfetto_out *to, const struct fr_export *x, u32 cpu, const char *why, u64 from_ns,
			     u64 to_ns)
{
	u64 begin_ns, end_ns;
	char name[64];
	int err;

	fr_replay_window(x->replay, &begin_ns, &end_ns);
	from_ns = from_ns > begin_ns ? from_ns : begin_ns;
	to_ns = to_ns < end_ns ? to_ns : end_ns;
	if (from_ns >= to_ns)
		return 0;
	snprintf(name, sizeof(name), "CPU %u: what is missing", cpu);
	err = describe(to, TRACK_CPU + cpu, name, TRACK_OURS);
	return err ?: put_slice(to, TRACK_CPU + cpu, "loss", why, from_ns, to_ns);
}

static int put_horizon(struct fr_perfetto_out *to, const struct fr_export *x, u32 cpu)
{
	const struct fr_snap *snap;
	const struct fr_snap_ring *r = fr_export_first_ring(x, cpu, &snap);

	if (!r)
		return 0;
	return track_put_missing(to, x, cpu, r->horizon_ns ? fr_gap_text(FR_GAP_before) : "not all programs were attached yet",
				 0, fr_gaps_begin(snap, r));
}

static int track_put_gaps(struct fr_perfetto_out *to, const struct fr_export *x, const struct fr_gap_list *l)
{
	size_t i;
	int err = 0;

	for (i = 0; i < l->cnt && !err; i++)
		if (l->g[i].why != FR_GAP_before) /* put_horizon() tells that */
			err = track_put_missing(to, x, l->g[i].cpu, fr_gap_text(l->g[i].why), l->g[i].since_ns,
						l->g[i].until_ns);
	return err;
}

int fr_perfetto_losses(struct fr_perfetto_out *to, const struct fr_export *x)
{
	int err = describe(to, TRACK_OURS, "flightrec", 0);
	u32 i;

	for (i = 0; i < fr_export_cpu_cnt(x) && !err; i++)
		err = put_horizon(to, x, i);
	return err ?: track_put_gaps(to, x, fr_export_gaps(x, 0));
}

int fr_perfetto_damage(struct fr_perfetto_out *to, const struct fr_export *x)
{
	return track_put_gaps(to, x, fr_export_damage(x, 0));
}

/* ---- who had a CPU before its first switch ---- */

/* The first moment behind from_ns from which events of the CPU are missing, or until_ns. */
static u64 whole_until(const struct fr_gap_list *l, u32 cpu, u64 from_ns, u64 until_ns)
{
	size_t i;

	for (i = 0; i < l->cnt; i++)
		if (l->g[i].cpu == cpu && l->g[i].until_ns > from_ns && l->g[i].since_ns < until_ns)
			until_ns = l->g[i].since_ns > from_ns ? l->g[i].since_ns : from_ns;
	return until_ns;
}

static void holder_name(const struct fr_export *x, u32 cpu, u32 tid, u64 ns, char *name, size_t sz)
{
	struct fr_who who = fr_names_who(fr_replay_view(x->replay, 0)->names, tid, ns, cpu);

	if (!tid)
		snprintf(name, sz, "idle");
	else
		snprintf(name, sz, "%.*s %u", who.comm ? (int)who.len : 5, who.comm ?: "<...>", tid);
	fr_escape_mask(name, strlen(name));
}

/* The first row is of who has had the CPU since then, unless something is missing before it. Reading nothing again is cheaper.
 */
static int track_find_holder(const struct fr_export *x, u32 cpu, u64 from_ns, u64 until_ns, struct fr_perfetto_first first,
			     u32 *tid)
{
	u32 i;

	if (from_ns >= until_ns)
		return 0;
	if (!first.ns)
		return fr_export_holder(x, cpu, from_ns, tid);
	for (i = 0; i < fr_replay_file_cnt(x->replay); i++)
		if (fr_cut_is_picked(fr_replay_snap(x->replay, i)))
			return 0;
	*tid = first.tid;
	return first.ns <= until_ns;
}

int fr_perfetto_held(struct fr_perfetto_out *to, const struct fr_export *x, u32 cpu, u64 from_ns, u64 until_ns,
		     struct fr_perfetto_first first)
{
	char track[64], name[FR_COMM_SZ + 16];
	u32 tid;
	int got;

	until_ns = whole_until(fr_export_gaps(x, 0), cpu, from_ns, until_ns);
	until_ns = whole_until(fr_export_damage(x, 0), cpu, from_ns, until_ns);
	got = track_find_holder(x, cpu, from_ns, until_ns, first, &tid);
	if (got <= 0)
		return got;
	snprintf(track, sizeof(track), "CPU %u: until its first switch", cpu);
	holder_name(x, cpu, tid, from_ns, name, sizeof(name));
	return describe(to, TRACK_HELD + cpu, track, TRACK_OURS)
		       ?: put_slice(to, TRACK_HELD + cpu, "cpu", name, from_ns, until_ns);
}
