/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read/waits/waited.h"

#include <stdio.h>
#include <string.h>

#include "base/schema/sysnames.h"

/* ---- reading ---- */

static const struct fr_field *waited_number(const struct fr_event *ev, const char *name)
{
	const struct fr_field *f = fr_event_field(ev, name);

	return f && fr_is_stored_num(f) ? f : NULL;
}

static bool bind_numbers(struct fr_waited_fields *f, const struct fr_event *ev)
{
	static const char *const args[FR_WAITED_ARGS] = {"arg0", "arg1", "arg2", "arg3", "arg4", "arg5"};
	u32 i;

	f->off = waited_number(ev, "off");
	f->blocked = waited_number(ev, "blocked");
	f->queued = waited_number(ev, "queued");
	f->kstack = waited_number(ev, "kstack_id");
	f->ustack = waited_number(ev, "ustack_id");
	f->waker_pid = waited_number(ev, "waker_pid");
	f->owner_pid = waited_number(ev, "owner_pid");
	f->id = waited_number(ev, "id");
	f->abi = waited_number(ev, "abi");
	f->state = waited_number(ev, "state");
	f->in = waited_number(ev, "waited_in");
	f->waker = waited_number(ev, "waker");
	for (i = 0; i < FR_WAITED_ARGS; i++) {
		f->arg[i] = waited_number(ev, args[i]);
		if (!f->arg[i])
			return false;
	}
	return f->off && f->blocked && f->queued && f->kstack && f->waker_pid && f->id && f->abi && f->state && f->in &&
	       f->waker;
}

void fr_waited_bind(struct fr_waited_fields *f, const struct fr_schema *s)
{
	const struct fr_event *ev = fr_schema_find(s, "wait");
	const struct fr_field *object = ev ? fr_event_field(ev, "object") : NULL;

	*f = (struct fr_waited_fields){.schema = s};
	if (!ev || !bind_numbers(f, ev))
		return;
	f->ev = ev;
	f->object = object && object->type == FR_TYPE_str ? object : NULL;
}

void fr_waited_want(const struct fr_waited_fields *f, struct fr_wants *w)
{
	if (f->ev)
		w->cols[f->ev->nr] = ~0u;
}

void fr_waited_name_of(struct fr_waited_name *n, const struct fr_who *who)
{
	n->len = !who->comm ? 0 : who->len < FR_COMM_SZ ? who->len : FR_COMM_SZ;
	if (n->len)
		memcpy(n->text, who->comm, n->len);
}

void fr_waited_read(const struct fr_waited_fields *f, const struct fr_view *v, const struct fr_row *r, struct fr_waited *out)
{
	struct fr_who who = fr_view_who(v, r), waker;
	size_t len = 0;
	u32 i;

	*out = (struct fr_waited){
		.ts = r->ts,
		.tid = r->tid,
		.pid = who.pid,
		.cpu = r->cpu,
		.off_ns = fr_row_num(r, f->off),
		.blocked_ns = fr_row_num(r, f->blocked),
		.queued_ns = fr_row_num(r, f->queued),
		.kstack_id = fr_row_num(r, f->kstack),
		.ustack_id = f->ustack ? fr_row_num(r, f->ustack) : 0,
		.waker_pid = fr_row_num(r, f->waker_pid),
		.owner_pid = f->owner_pid ? fr_row_num(r, f->owner_pid) : 0,
		.id = fr_row_num(r, f->id),
		.abi = fr_row_num(r, f->abi),
		.state = fr_row_num(r, f->state),
		.in = fr_row_num(r, f->in),
		.waker = fr_row_num(r, f->waker),
	};
	for (i = 0; i < FR_WAITED_ARGS; i++)
		out->arg[i] = fr_row_num(r, f->arg[i]);
	fr_waited_name_of(&out->comm, &who);
	if (out->waker_pid) {
		waker = fr_names_who(v->names, out->waker_pid, r->ts, r->cpu);
		fr_waited_name_of(&out->waker_comm, &waker);
	}
	if (out->owner_pid) {
		waker = fr_names_who(v->names, out->owner_pid, r->ts - out->off_ns, r->cpu);
		fr_waited_name_of(&out->owner_comm, &waker);
	}
	if (f->object) {
		out->object = fr_row_text(r, f->object, &len);
		out->object_len = len;
	}
}

/* ---- words ---- */

const char *fr_waited_call(const struct fr_waited *w, const char *arch, char text[FR_WAITED_CALL_SZ])
{
	return fr_waitsum_call(arch, w->in, w->abi, w->id, text);
}

/* What a call's registers tell of its object where that was not recorded. */
enum about { FUTEX, FUTEXES, CHILD, CHILD_BY_TYPE, POLL, SELECT, TIMER, SIGNAL };

static const struct {
	const char *call;
	enum about about;
} abouts[] = {
	{"futex", FUTEX},	   {"futex_wait", FUTEX},	{"futex_waitv", FUTEXES},
	{"wait4", CHILD},	   {"waitid", CHILD_BY_TYPE},	{"poll", POLL},
	{"ppoll", POLL},	   {"select", SELECT},		{"pselect6", SELECT},
	{"nanosleep", TIMER},	   {"clock_nanosleep", TIMER},	{"pause", SIGNAL},
	{"rt_sigsuspend", SIGNAL}, {"rt_sigtimedwait", SIGNAL},
};

#define P_PID 1u /* of waitid() */

static void tell_child(s32 pid, char text[FR_WAITED_OBJECT_SZ])
{
	if (pid > 0)
		snprintf(text, FR_WAITED_OBJECT_SZ, "child %d", pid);
	else
		strcpy(text, "children");
}

static void tell_descriptors(u32 cnt, char text[FR_WAITED_OBJECT_SZ])
{
	if (cnt)
		snprintf(text, FR_WAITED_OBJECT_SZ, "%u descriptor%s", cnt, cnt == 1 ? "" : "s");
	else
		strcpy(text, "a timer");
}

static void waited_tell(const struct fr_waited *w, enum about about, char text[FR_WAITED_OBJECT_SZ])
{
	switch (about) {
	case FUTEX:
		snprintf(text, FR_WAITED_OBJECT_SZ, "futex 0x%llx", w->arg[0]);
		break;
	case FUTEXES:
		snprintf(text, FR_WAITED_OBJECT_SZ, "%u futex%s", (u32)w->arg[1], w->arg[1] == 1 ? "" : "es");
		break;
	case CHILD:
		tell_child(w->arg[0], text);
		break;
	case CHILD_BY_TYPE:
		tell_child(w->arg[0] == P_PID ? (s32)w->arg[1] : 0, text);
		break;
	case POLL:
		tell_descriptors(w->arg[1], text);
		break;
	case SELECT:
		if (w->arg[0])
			snprintf(text, FR_WAITED_OBJECT_SZ, "descriptors below %u", (u32)w->arg[0]);
		else
			strcpy(text, "a timer");
		break;
	case TIMER:
		strcpy(text, "a timer");
		break;
	case SIGNAL:
		strcpy(text, "a signal");
	}
}

const char *fr_waited_about(const struct fr_waited *w, const char *arch, char text[FR_WAITED_OBJECT_SZ])
{
	char call[FR_WAITED_CALL_SZ];
	const char *name;
	u32 i;

	text[0] = 0;
	if (w->object_len) {
		snprintf(text, FR_WAITED_OBJECT_SZ, "%.*s", (int)w->object_len, w->object);
		return text;
	}
	if (w->in != FR_WAITED_call || w->abi || fr_waited_was_runnable(w))
		return text;
	name = fr_waited_call(w, arch, call);
	for (i = 0; i < sizeof(abouts) / sizeof(abouts[0]); i++)
		if (!strcmp(abouts[i].call, name))
			waited_tell(w, abouts[i].about, text);
	return text;
}

/* Of 32 bits some calls have other names: "futex_time64", "_newselect". */
enum fr_waited_at fr_waited_at(const struct fr_waited *w, const char *arch)
{
	const struct fr_sys sys = {.arch = arch, .abi = w->abi};
	const char *name = w->in == FR_WAITED_call ? fr_sysname(&sys, FR_STYLE_SYSCALL, w->id) : NULL;
	const char *time64 = name ? strstr(name, "_time64") : NULL;
	size_t len = time64 ? (size_t)(time64 - name) : name ? strlen(name) : 0;
	u32 i;

	if (name && !strcmp(name, "_newselect"))
		return FR_WAITED_AT_NOTHING;
	for (i = 0; i < sizeof(abouts) / sizeof(abouts[0]); i++) {
		if (strlen(abouts[i].call) != len || memcmp(abouts[i].call, name, len) != 0)
			continue;
		if (abouts[i].about == FUTEX)
			return FR_WAITED_AT_NEAR;
		return abouts[i].about == CHILD || abouts[i].about == CHILD_BY_TYPE ? FR_WAITED_AT_EXACT : FR_WAITED_AT_NOTHING;
	}
	return FR_WAITED_AT_EXACT;
}

const char *fr_waker_words(u32 waker)
{
	static const char *const words[] = {
		[FR_WAKER_unknown] = "an unknown cause",  [FR_WAKER_task] = "a task", [FR_WAKER_softirq] = "a softirq",
		[FR_WAKER_irq] = "an interrupt or timer", [FR_WAKER_nmi] = "an NMI",  [FR_WAKER_timer] = "a timer"};

	return waker < sizeof(words) / sizeof(words[0]) ? words[waker] : words[FR_WAKER_unknown];
}

static const char *waited_who(const struct fr_waited_name *comm, u32 tid, char text[FR_WAITED_WAKER_SZ])
{
	snprintf(text, FR_WAITED_WAKER_SZ, "%.*s/%u", comm->len ? comm->len : 1, comm->len ? comm->text : "?", tid);
	return text;
}

const char *fr_waited_owner(const struct fr_waited *w, char text[FR_WAITED_WAKER_SZ])
{
	return w->owner_pid ? waited_who(&w->owner_comm, w->owner_pid, text) : "";
}

const char *fr_waited_waker(const struct fr_waited *w, char text[FR_WAITED_WAKER_SZ])
{
	if (fr_waited_was_runnable(w))
		return "nobody: runnable";
	if (w->waker != FR_WAKER_task || !w->waker_pid)
		return fr_waker_words(w->waker);
	return waited_who(&w->waker_comm, w->waker_pid, text);
}
