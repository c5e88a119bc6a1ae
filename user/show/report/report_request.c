/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* report_request: the path of one request: what `report --request` shows instead of all else. */
#include "show/report/report_request.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/schema/sysnames.h"
#include "base/text/units.h"
#include "base/text/wall.h"
#include "read/request/request.h"
#include "show/format/format_text.h"

#define NOTE_MAX 12u
#define TASK_SZ	 40u

/* What all columns are of. */
struct request_page {
	struct fr_request q;
	const struct fr_report_ask *ask;
	const char *note[NOTE_MAX];
	u32 note_cnt;
	u64 least_ns;		 /* shorter waits are not shown */
	u32 wait_cnt, shown_cnt; /* waits; of these, shown */
	bool *shown;		 /* steps */
	u32 thread_cnt, process_cnt, followed_cnt;
};

static const struct request_page *request_page_of(const struct fr_at *at)
{
	return at->of;
}

static const char *request_arch(const struct request_page *p, const struct fr_request_leg *l)
{
	return fr_replay_view(p->q.replay, l->file)->arch;
}

static const char *request_task(const struct fr_waited_name *comm, u32 tid, char text[TASK_SZ])
{
	snprintf(text, TASK_SZ, "%.*s/%u", comm->len ? comm->len : 1, comm->len ? comm->text : "?", tid);
	return text;
}

/* ---- a leg ---- */

static struct fr_value request_name(const struct fr_waited_name *n)
{
	return fr_value_mem(n->len ? n->text : NULL, n->len);
}

static struct fr_value leg_nr(const struct fr_at *at)
{
	return fr_value_nr((const struct fr_request_leg *)at->rec - fr_request_leg(&request_page_of(at)->q, 0) + 1);
}

static struct fr_value leg_comm(const struct fr_at *at)
{
	return request_name(&((const struct fr_request_leg *)at->rec)->comm);
}

static struct fr_value leg_pid(const struct fr_at *at)
{
	const struct fr_request_leg *l = at->rec;

	return l->pid >= 0 ? fr_value_snr(l->pid) : fr_value_null();
}

static struct fr_value leg_how(const struct fr_at *at)
{
	return fr_value_text(fr_request_how_word(((const struct fr_request_leg *)at->rec)->how));
}

static struct fr_value leg_followed(const struct fr_at *at)
{
	return fr_value_bool(fr_request_is_followed(at->rec));
}

static struct fr_value leg_ended(const struct fr_at *at)
{
	return fr_value_text(fr_request_end_word(((const struct fr_request_leg *)at->rec)->end));
}

static struct fr_value leg_say_task(const struct fr_at *at)
{
	const struct fr_request_leg *l = at->rec;

	return fr_value_text(request_task(&l->comm, l->tid, at->room->text));
}

static struct fr_value leg_say_how(const struct fr_at *at)
{
	const struct fr_request_leg *l = at->rec;

	if (l->how == FR_REQUEST_before)
		return fr_value_text("ended");
	snprintf(at->room->text, sizeof(at->room->text), "%s%s", fr_request_is_followed(l) ? "followed, " : "",
		 fr_request_how_word(l->how));
	return fr_value_text(at->room->text);
}

static struct fr_value leg_say_end(const struct fr_at *at)
{
	const struct fr_request_leg *l = at->rec;

	snprintf(at->room->text, sizeof(at->room->text), "%s%s", fr_request_end_words(l->end),
		 l->gap ? "; events are missing meanwhile" : "");
	return fr_value_text(at->room->text);
}

static struct fr_value request_after(const struct fr_at *at, u64 ts)
{
	char text[32];

	snprintf(at->room->text, sizeof(at->room->text), "+%s",
		 fr_show_duration(ts - request_page_of(at)->q.begin_ns, text, sizeof(text)));
	return fr_value_text(at->room->text);
}

static struct fr_value leg_say_begin(const struct fr_at *at)
{
	return request_after(at, ((const struct fr_request_leg *)at->rec)->begin_ns);
}

/* clang-format off */
#define LEG(member, name, unit, meaning, ...) FR_COLUMN(struct fr_request_leg, member, name, unit, meaning, __VA_ARGS__)

static const struct fr_column leg_columns[] = {
	FR_COLUMN_MADE(leg_nr, "nr", NUMBER, "its number, from 1 on", FR_TEXT(1, "leg", 4)),
	LEG(tid, "tid", NUMBER, "the thread"),
	FR_COLUMN_MADE(leg_pid, "pid", NUMBER, "its process; `null`: not known"),
	FR_COLUMN_MADE(leg_comm, "comm", TEXT, "its name; `null`: not known"),
	LEG(how, NULL, TEXT, NULL, FR_TEXT(2, "thread", -22, .lead = "  ", .say = leg_say_task)),
	LEG(file, "file", NUMBER, "of the files given, from 0 on"),
	FR_COLUMN_MADE(leg_how, "how", TEXT,
		       "how it came to the request: `marked`; `woken`, `forked`: by leg `from`; `before`: all that is known of it is an end mark",
		       FR_TEXT(3, "how", -18, .say = leg_say_how)),
	FR_COLUMN_MADE(leg_followed, "followed", BOOL, "that it is in the request is a conclusion, no mark says so"),
	LEG(from, "from", NUMBER, "number of the leg that woke or began it, or of the thread's followed leg before its mark; `null`: none", .null = true),
	LEG(begin_ns, "begin_ns", CLOCK, "since when: the mark, the waking or the fork", FR_TEXT(4, "from", -11, .say = leg_say_begin)),
	LEG(end_ns, "end_ns", CLOCK, "until when"),
	LEG(oncpu_ns, "oncpu_ns", NS, "of this, on a CPU", FR_TEXT(5, "on CPU", 10)),
	LEG(queued_ns, "queued_ns", NS, "runnable, without one", FR_TEXT(6, "queued", 10)),
	LEG(wait_ns, "wait_ns", NS, "and waiting", FR_TEXT(7, "waited", 10)),
	LEG(wait_cnt, "waits", COUNT, "how often"),
	FR_COLUMN_MADE(leg_ended, "ended_by", TEXT,
		       "why it ends: `end`: its end mark; `mark`: the thread's own mark of the request, which begins another leg; `other`: a mark of another "
		       "id; `wait`: a wait for something else; `untold`, `still`: a wait of which it is not known whether it is for the request, `still`: that has not ended; "
		       "`exit`; `missing`: events are missing; `null`: the file ends",
		       FR_TEXT(8, "until", 0, .lead = "  ", .say = leg_say_end)),
	LEG(gap, "events_missing", BOOL, "events of some CPU are missing meanwhile"),
	{},
};
/* clang-format on */
static const struct fr_table kind_leg = {"leg", "A stretch of one thread's time in the request.", leg_columns};

/* ---- a wait ---- */

static const struct fr_request_step *step_of(const struct fr_at *at)
{
	return at->rec;
}

static const struct fr_request_leg *step_leg_of(const struct fr_at *at)
{
	return fr_request_leg(&request_page_of(at)->q, step_of(at)->leg);
}

static struct fr_value wait_state(const struct fr_at *at)
{
	return fr_value_text(fr_sysname(&(struct fr_sys){0}, FR_STYLE_STATE, step_of(at)->wait.state));
}

static struct fr_value wait_call(const struct fr_at *at)
{
	const struct fr_waited *w = &step_of(at)->wait;

	return fr_value_text(w->in == FR_WAITED_call
				     ? fr_waited_call(w, request_arch(request_page_of(at), step_leg_of(at)), at->room->text)
				     : NULL);
}

static struct fr_value wait_about(const struct fr_at *at)
{
	const char *about =
		fr_waited_about(&step_of(at)->wait, request_arch(request_page_of(at), step_leg_of(at)), at->room->text);

	return fr_value_text(*about ? about : NULL);
}

static bool request_was_woken(const struct fr_request_step *s)
{
	return s->ended && !fr_waited_was_runnable(&s->wait);
}

static struct fr_value wait_waker(const struct fr_at *at)
{
	const struct fr_request_step *s = step_of(at);

	return fr_value_text(request_was_woken(s) ? fr_sysname(&(struct fr_sys){0}, FR_STYLE_WAKER, s->wait.waker) : NULL);
}

static struct fr_value request_waker_comm(const struct fr_at *at)
{
	return request_name(&step_of(at)->wait.waker_comm);
}

static struct fr_value request_owner_comm(const struct fr_at *at)
{
	return request_name(&step_of(at)->wait.owner_comm);
}

/* clang-format off */
#define WAIT(member, name, unit, meaning, ...) FR_COLUMN(struct fr_request_step, member, name, unit, meaning, __VA_ARGS__)

static const struct fr_column wait_columns[] = {
	WAIT(wait.off_ns, "off_ns", NS, "how long it was away from the CPU; without one since: until the leg ends"),
	WAIT(wait.queued_ns, "queued_ns", NS, "of this, runnable"),
	WAIT(ended, "ended", BOOL, "it ends before the leg does"),
	WAIT(told, "told", BOOL, "it has a record, or the file says how the task was when it was taken; else call and object are not known"),
	FR_COLUMN_MADE(wait_state, "state_name", TEXT, "how it left, as `prev_state`"),
	FR_COLUMN_MADE(wait_call, "call", TEXT, "the system call; `null`: in none, or not known"),
	FR_COLUMN_MADE(wait_about, "about", TEXT, "its object, or what the call's registers tell; `null`: not known"),
	FR_COLUMN_MADE(wait_waker, "waker", TEXT, "`task`, `timer`, `softirq`, `irq`, `nmi`, `unknown`; `null`: it was runnable, or nobody yet"),
	WAIT(wait.waker_pid, "waker_tid", NUMBER, "the task that ended it; `null`: none, or not known", .null = true),
	FR_COLUMN_MADE(request_waker_comm, "waker_comm", TEXT, "its name"),
	WAIT(wait.owner_pid, "owner_tid", NUMBER, "the task that held the lock; `null`: not known", .null = true),
	FR_COLUMN_MADE(request_owner_comm, "owner_comm", TEXT, "its name"),
	{},
};
/* clang-format on */
static const struct fr_table kind_wait = {"request_wait", "A wait of the request.", wait_columns};

/* ---- a step ---- */

static struct fr_value step_leg(const struct fr_at *at)
{
	return fr_value_nr(step_of(at)->leg + 1);
}

static struct fr_value step_tid(const struct fr_at *at)
{
	return fr_value_nr(step_leg_of(at)->tid);
}

static struct fr_value step_comm(const struct fr_at *at)
{
	return request_name(&step_leg_of(at)->comm);
}

static struct fr_value request_step_did(const struct fr_at *at)
{
	return fr_value_text(fr_request_did_word(step_of(at)->did));
}

static struct fr_value step_text(const struct fr_at *at)
{
	return step_of(at)->text ? fr_value_text(step_of(at)->text) : fr_value_null();
}

static const void *step_wait(const struct fr_at *at, u32 i)
{
	return !i && step_of(at)->did == FR_REQUEST_DID_wait ? at->rec : NULL;
}

static struct fr_value step_say_when(const struct fr_at *at)
{
	return request_after(at, step_of(at)->ts);
}

static struct fr_value step_say_task(const struct fr_at *at)
{
	const struct fr_request_leg *l = step_leg_of(at);

	return fr_value_text(request_task(&l->comm, l->tid, at->room->text));
}

static void step_tell_wait(const struct fr_at *at, char *to, size_t sz)
{
	const struct fr_request_step *s = step_of(at);
	const char *arch = request_arch(request_page_of(at), step_leg_of(at));
	char call[FR_WAITED_CALL_SZ], about[FR_WAITED_OBJECT_SZ], by[FR_WAITED_WAKER_SZ], off[32], queued[32];
	const struct fr_waited *w = &s->wait;
	size_t len;

	fr_waited_about(w, arch, about);
	fr_show_duration(w->off_ns, off, sizeof(off));
	if (fr_waited_was_runnable(w)) {
		snprintf(to, sz, "waits %s for a CPU", off);
		return;
	}
	len = snprintf(to, sz, "waits %s", off);
	if (w->in == FR_WAITED_call)
		len += snprintf(to + len, sz - len, " in %s", fr_waited_call(w, arch, call));
	else if (!s->told)
		len += snprintf(to + len, sz - len, ", what for is not known");
	if (about[0] && len < sz)
		len += snprintf(to + len, sz - len, " on %.120s", about);
	if (w->owner_pid && len < sz)
		len += snprintf(to + len, sz - len, " held by %s", fr_waited_owner(w, by));
	if (!s->ended)
		snprintf(to + len, sz - len, ", and longer");
	else
		len += snprintf(to + len, sz - len, ": ended by %s", fr_waited_waker(w, by));
	if (s->ended && w->queued_ns && len < sz && (s->back || !step_leg_of(at)->gap))
		snprintf(to + len, sz - len, s->back ? ", runs %s later" : ", has not run since: %s",
			 fr_show_duration(w->queued_ns, queued, sizeof(queued)));
}

static const char *request_not_run(const struct fr_request_leg *l)
{
	return l->ran || l->gap ? "" : ", has not run since";
}

static struct fr_value step_say(const struct fr_at *at)
{
	const struct fr_request_step *s = step_of(at);
	const struct fr_request_leg *l = step_leg_of(at), *from;
	char *to = at->room->text, by[TASK_SZ];
	size_t sz = sizeof(at->room->text);

	from = l->from ? fr_request_leg(&request_page_of(at)->q, l->from - 1) : NULL;
	switch (s->did) {
	case FR_REQUEST_DID_begin:
	case FR_REQUEST_DID_end:
	case FR_REQUEST_DID_mark:
		snprintf(to, sz, "%s %s",
			 s->did == FR_REQUEST_DID_begin ? "begins"
			 : s->did == FR_REQUEST_DID_end ? "ends"
							: "marks:",
			 s->text ?: "what is not known");
		break;
	case FR_REQUEST_DID_woken:
		snprintf(to, sz, "followed: woken by %s%s", request_task(&from->comm, from->tid, by), request_not_run(l));
		break;
	case FR_REQUEST_DID_forked:
		snprintf(to, sz, "followed: begun by %s%s", request_task(&from->comm, from->tid, by), request_not_run(l));
		break;
	case FR_REQUEST_DID_leaves:
		snprintf(to, sz, "is %s no longer: %s", fr_request_is_followed(l) ? "followed" : "in it",
			 fr_request_end_words(l->end));
		break;
	default:
		step_tell_wait(at, to, sz);
	}
	return fr_value_text(to);
}

/* clang-format off */
static const struct fr_column step_columns[] = {
	FR_COLUMN(struct fr_request_step, ts, "ts", CLOCK, "when; of a wait: when it began", FR_TEXT(1, "time", -11, .lead = "  ", .say = step_say_when)),
	FR_COLUMN_MADE(step_leg, "leg", NUMBER, "number of the leg", FR_TEXT(2, "leg", 4)),
	FR_COLUMN_MADE(step_tid, "tid", NUMBER, "its thread", FR_TEXT(3, "thread", -22, .lead = "  ", .say = step_say_task)),
	FR_COLUMN_MADE(step_comm, "comm", TEXT, "the thread's name; `null`: not known"),
	FR_COLUMN_MADE(request_step_did, "did", TEXT,
		       "`begin`, `end`: a mark of the request; `mark`: one without an id; `woken`, `forked`: a followed leg begins; `wait`; `leaves`: a leg ends, but "
		       "by a mark of the request",
		       FR_TEXT(4, "what", 0, .say = step_say)),
	FR_COLUMN_MADE(step_text, "text", TEXT, "name of what begins or ends, text of a mark; `null`: none, or not known"),
	FR_PART_MADE(step_wait, "wait", &kind_wait, "`null`: it is none", .null = true),
	{},
};
/* clang-format on */
static const struct fr_table kind_step = {"step", "What happened in the request, in the order of time.", step_columns};

/* ---- all of it ---- */

static const void *request_leg_at(const struct fr_at *at, u32 i)
{
	const struct request_page *p = at->of;

	return i < p->q.legs.cnt ? fr_request_leg(&p->q, i) : NULL;
}

/* The i-th that is shown. */
static const void *request_step_at(const struct fr_at *at, u32 i)
{
	const struct request_page *p = at->of;
	static u32 next; /* of the one list that is being written */

	next = i ? next : 0;
	while (next < p->q.steps.cnt && !p->shown[next])
		next++;
	return next < p->q.steps.cnt ? fr_request_step(&p->q, next++) : NULL;
}

static const void *request_note_at(const struct fr_at *at, u32 i)
{
	const struct request_page *p = at->of;

	return i < p->note_cnt ? p->note[i] : NULL;
}

#define PAGE(member, name, unit, meaning, ...) FR_COLUMN(struct request_page, member, name, unit, meaning, __VA_ARGS__)

static const struct fr_column request_columns[] = {
	PAGE(q.id, "request", NUMBER, "the id that was asked for"),
	PAGE(q.begin_ns, "begin_ns", CLOCK, "when its first leg begins"),
	PAGE(q.end_ns, "end_ns", CLOCK, "when its last one ends"),
	PAGE(q.begin_cnt, "begins", COUNT, "marks of it that begin something"),
	PAGE(q.end_cnt, "ends", COUNT, "and that end something"),
	PAGE(thread_cnt, "threads", COUNT, "different threads"),
	PAGE(process_cnt, "processes", COUNT, "and processes, as far as known"),
	PAGE(wait_cnt, "waits", COUNT, "waits of it, of which `path` has the longest, as many as `--top` asks for"),
	PAGE(q.left_out, "left_out", COUNT, "steps that are not shown, for lack of memory"),
	FR_LIST(request_note_at, "notes", NULL, "what is not known, or a conclusion", .from = FR_FROM_TEXT),
	FR_LIST(request_leg_at, "legs", &kind_leg, NULL),
	FR_LIST(request_step_at, "path", &kind_step, NULL),
	{},
};
const struct fr_table fr_report_kind_request = {
	"request", "The path of one request (`--request`), which is printed instead of all else.", request_columns};

/* ---- what has to be said of it ---- */

static void request_note(struct request_page *p, bool is_so, const char *note)
{
	if (is_so && p->note_cnt < NOTE_MAX)
		p->note[p->note_cnt++] = note;
}

static void request_judge(struct request_page *p)
{
	const struct fr_request *q = &p->q;
	bool any_open = false, any_gap = false, any_untold = false;
	u32 i;

	for (i = 0; i < q->legs.cnt; i++) {
		const struct fr_request_leg *l = fr_request_leg(q, i);

		any_open |= l->how == FR_REQUEST_marked && l->end == FR_REQUEST_END_open;
		any_gap |= l->gap || l->end == FR_REQUEST_END_missing;
		any_untold |= l->end == FR_REQUEST_END_untold || l->end == FR_REQUEST_END_still;
	}
	request_note(p, p->followed_cnt,
		     "followed is a conclusion, from who woke or began whom: what such a thread did may have been for others");
	request_note(p, any_untold,
		     "where it is not known whether a followed thread waited for the request, it is followed no longer: it may "
		     "have gone on");
	request_note(p, q->unbegun_cnt && q->has_begins,
		     "an end of it has no begin of its name in the window: it began before, where events are missing, or by "
		     "another name");
	request_note(p, any_open && q->has_ends, "it has not ended in the window");
	request_note(p, !q->has_begins, "begins were not recorded: record all marks of the file");
	request_note(p, !q->has_ends, "ends were not recorded: record all marks of the file");
	request_note(p, any_gap, "events are missing in its time: it may have been in other threads, too");
	request_note(p, !q->has_switches, "switches were not recorded: no wait is known, and nobody is followed");
	request_note(p, q->has_switches && !q->has_wakings, "wakings were not recorded: who was woken is not followed");
	request_note(p, !q->has_waits, "waits were not recorded: what for is not known");
	request_note(p, q->left_out, "some steps are left out, for lack of memory");
}

/* ---- what is shown ---- */

static int request_by_number(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

static u32 request_count_different(u64 *v, u32 cnt)
{
	u32 i, different = 0;

	if (cnt)
		qsort(v, cnt, sizeof(*v), request_by_number);
	for (i = 0; i < cnt; i++)
		different += !i || v[i] != v[i - 1];
	return different;
}

static void request_count(struct request_page *p, u64 *room)
{
	const struct fr_request *q = &p->q;
	u32 i, cnt = 0;

	for (i = 0; i < q->legs.cnt; i++)
		room[i] = (u64)fr_replay_boot(q->replay, fr_request_leg(q, i)->file) << 32 | fr_request_leg(q, i)->tid;
	p->thread_cnt = request_count_different(room, q->legs.cnt);
	for (i = 0; i < q->legs.cnt; i++) {
		const struct fr_request_leg *l = fr_request_leg(q, i);

		p->followed_cnt += fr_request_is_followed(l);
		if (l->pid >= 0)
			room[cnt++] = (u64)fr_replay_boot(q->replay, l->file) << 32 | (u32)l->pid;
	}
	p->process_cnt = request_count_different(room, cnt);
}

/* All steps but the shorter waits. Of equally long ones the first are shown. */
static void request_choose(struct request_page *p, u64 *room)
{
	const struct fr_request *q = &p->q;
	u32 i, top = p->ask->top, equal = 0;

	for (i = 0; i < q->steps.cnt; i++)
		if (fr_request_step(q, i)->did == FR_REQUEST_DID_wait)
			room[p->wait_cnt++] = fr_request_step(q, i)->wait.off_ns;
	if (top && top < p->wait_cnt) {
		qsort(room, p->wait_cnt, sizeof(*room), request_by_number);
		p->least_ns = room[p->wait_cnt - top];
		for (i = p->wait_cnt - top; i < p->wait_cnt && room[i] == p->least_ns; i++)
			equal++;
	} else {
		equal = p->wait_cnt;
	}
	for (i = 0; i < q->steps.cnt; i++) {
		const struct fr_request_step *s = fr_request_step(q, i);
		bool is_wait = s->did == FR_REQUEST_DID_wait;

		p->shown[i] = !is_wait || s->wait.off_ns > p->least_ns || (s->wait.off_ns == p->least_ns && equal);
		equal -= is_wait && p->shown[i] && s->wait.off_ns == p->least_ns;
		p->shown_cnt += is_wait && p->shown[i];
	}
}

static int request_arrange(struct request_page *p)
{
	size_t most = p->q.legs.cnt > p->q.steps.cnt ? p->q.legs.cnt : p->q.steps.cnt;
	u64 *room = calloc(most + 1, sizeof(*room));

	p->shown = calloc(p->q.steps.cnt + 1, sizeof(*p->shown));
	if (room && p->shown) {
		request_count(p, room);
		request_choose(p, room);
		request_judge(p);
	}
	free(room);
	return room && p->shown ? 0 : -ENOMEM;
}

/* ---- text ---- */

static void request_put_list(struct fr_out *o, const struct request_page *p, const struct fr_table *kind,
			     const void *(*find)(const struct fr_at *at, u32 i), u32 width)
{
	const struct fr_at at = {.of = p};
	struct fr_layout l;
	const void *rec;
	u32 i;

	fr_layout_init(&l, kind, width);
	for (i = 0; (rec = find(&at, i)); i++)
		fr_layout_widen(&l, p, rec);
	fr_layout_head(&l, o);
	for (i = 0; (rec = find(&at, i)); i++)
		fr_layout_row(&l, o, p, rec);
}

static void request_put_title(struct fr_out *o, const char *title)
{
	fr_out_char(o, '\n');
	fr_out_paint(o, FR_PAINT_BOLD);
	fr_out_str(o, title);
	fr_out_paint(o, FR_PAINT_NONE);
	fr_out_char(o, '\n');
}

static void request_put_text(struct fr_out *o, const struct request_page *p)
{
	u32 columns = fr_out_columns(o), i;
	const struct fr_wall *wall = fr_replay_view(p->q.replay, 0)->wall;
	u64 real_ns = fr_wall_real(wall, p->q.begin_ns);
	char text[32];

	fr_out_paint(o, FR_PAINT_BOLD);
	fr_out_printf(o, "Request %llu", p->q.id);
	fr_out_paint(o, FR_PAINT_NONE);
	fr_out_printf(o, ", %s in %u thread%s", fr_show_duration(p->q.end_ns - p->q.begin_ns, text, sizeof(text)),
		      p->thread_cnt, fr_plural(p->thread_cnt));
	if (p->process_cnt) /* 0: of none it is known */
		fr_out_printf(o, " of %u process%s", p->process_cnt, p->process_cnt == 1 ? "" : "es");
	if (real_ns) {
		fr_out_str(o, ", from ");
		fr_text_wall(o, real_ns);
	}
	fr_out_char(o, '\n');
	for (i = 0; i < p->note_cnt; i++)
		fr_out_printf(o, "  %s\n", p->note[i]);
	request_put_title(o, "Its legs");
	request_put_list(o, p, &kind_leg, request_leg_at, columns);
	request_put_title(o, "Its path");
	if (p->shown_cnt < p->wait_cnt)
		fr_out_printf(o, "  the longest %u of %u waits: --top 0 shows all\n", p->shown_cnt, p->wait_cnt);
	request_put_list(o, p, &kind_step, request_step_at, columns);
}

/* ---- all ---- */

static int request_say_none(const struct request_page *p)
{
	const struct fr_request *q = &p->q;

	if (!q->has_marks)
		fr_err("--request: no marks with an id were recorded: record -e mark:PATH, of a program that has them "
		       "(docs/probes.md)");
	else if (!q->mark_cnt)
		fr_err("--request: no mark with an id is in this window");
	else
		fr_err("--request: no mark of id %llu is in this window; of others there are %llu, as of id %llu: "
		       "`flightrec stat -f 'event ~ \"mark:*\"' --by id FILE` lists them",
		       q->id, q->mark_cnt, q->near_id);
	return FR_EXIT_USAGE;
}

static int request_print(struct request_page *p)
{
	static struct fr_out out;
	int status;

	fr_out_init(&out, STDOUT_FILENO);
	if (p->ask->json)
		fr_json_line(&out, &fr_report_kind_request, p, p);
	else
		request_put_text(&out, p);
	status = fr_replay_say_damage(p->q.replay) ? FR_EXIT_CORRUPT : FR_EXIT_OK;
	return fr_err_finish(&out, status);
}

static int request_report(struct fr_replay *r, u64 id, const struct fr_report_ask *ask)
{
	struct request_page p = {.ask = ask};
	int err = fr_request_read(&p.q, r, id), status;

	err = err ?: request_arrange(&p);
	if (err)
		fr_err_errno(err, "cannot report on the request");
	if (err)
		status = FR_EXIT_FAIL;
	else
		status = p.q.legs.cnt ? request_print(&p) : request_say_none(&p);
	free(p.shown);
	fr_request_free(&p.q);
	return status;
}

int fr_report_request(const struct fr_report_ask *ask, u64 id, const char *const *path, u32 cnt)
{
	struct fr_replay_opts opts = ask->opts;
	struct fr_replay *r;
	int err, status;

	opts.spans = true;
	opts.history = false;
	err = fr_replay_open(path, cnt, &opts, &r);
	if (err)
		return err == -EINVAL ? FR_EXIT_USAGE : err == -EBADMSG ? FR_EXIT_CORRUPT : FR_EXIT_FAIL;
	status = request_report(r, id, ask);
	fr_replay_close(r);
	return status;
}
