/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The names that LTTng's kernel tracer has for events and fields, known to Trace Compass (lttng-modules,
 * include/instrumentation/events). Its additional fields are derived from what is known; no event gets a field twice.
 */
#include <stdio.h>
#include <string.h>

#include "event_fields.h"
#include "show/export/export_ctf.h"

/* LTTng's flags for a request's operation. */
enum {
	RWBS_WRITE = 1 << 0,
	RWBS_DISCARD = 1 << 1,
	RWBS_READ = 1 << 2,
	RWBS_AHEAD = 1 << 3,
	RWBS_SYNC = 1 << 5,
	RWBS_META = 1 << 6,
	RWBS_SECURE = 1 << 7,
	RWBS_FLUSH = 1 << 8,
	RWBS_FUA = 1 << 9,
	RWBS_PREFLUSH = 1 << 10,
};

struct rename {
	const char *from, *to;
};

static const struct rename event_renames[] = {
	{"softirq_entry", "irq_softirq_entry"},
	{"softirq_exit", "irq_softirq_exit"},
	{"page_fault_user", "x86_exceptions_page_fault_user"},
	{"page_fault_kernel", "x86_exceptions_page_fault_kernel"},
};

/* LTTng says tid where the kernel's tracepoints say pid, and has flags where they have letters. */
static const struct rename field_renames[] = {
	{"prev_pid", "prev_tid"},    {"next_pid", "next_tid"},	 {"target_pid", "tid"},
	{"target_comm", "comm"},     {"child_pid", "child_tid"}, {"parent_pid", "parent_tid"},
	{"child_tgid", "child_pid"}, {"old_pid", "old_tid"},	 {"rwbs", "rwbs_text"},
};

static const struct {
	const char *event;
	struct fr_ctf_extra extra[4];
} extras[] = {
	{"sched_process_fork", {{"parent_pid", FR_CTF_PID}}},
	{"sched_process_exec", {{"tid", FR_CTF_TID}}},
	{"sched_process_exit", {{"comm", FR_CTF_COMM}, {"tid", FR_CTF_TID}}},
	{"softirq_entry", {{"name", FR_CTF_SOFTIRQ}}},
	{"softirq_exit", {{"name", FR_CTF_SOFTIRQ}}},
	{"block_rq_issue", {{"rwbs", FR_CTF_RWBS}, {"tid", FR_CTF_TID}, {"comm", FR_CTF_COMM}}},
	{"block_rq_complete", {{"rwbs", FR_CTF_RWBS}}},
	{"block_io_start", {{"rwbs", FR_CTF_RWBS}, {"tid", FR_CTF_TID}, {"comm", FR_CTF_COMM}}},
	{"block_io_done", {{"rwbs", FR_CTF_RWBS}}},
};

/* Names that mention x86 are only for x86. */
static bool lttng_fits(const char *name, const struct fr_sys *sys)
{
	return strncmp(name, "x86_", 4) || (sys->arch && !strcmp(sys->arch, "x86_64"));
}

static const char *renamed(const struct rename *r, size_t cnt, const char *name)
{
	size_t i;

	for (i = 0; i < cnt; i++) {
		if (!strcmp(r[i].from, name))
			return r[i].to;
	}
	return name;
}

const char *fr_ctf_field_name(const struct fr_event *ev, const char *field)
{
	if (ev->group == FR_GROUP_SIGNAL && !strcmp(field, "target_pid"))
		return "pid";
	return renamed(field_renames, sizeof(field_renames) / sizeof(field_renames[0]), field);
}

void fr_ctf_event_name(char *buf, size_t sz, const struct fr_event *ev, const struct fr_sys *sys, s64 call)
{
	const char *plain = renamed(event_renames, sizeof(event_renames) / sizeof(event_renames[0]), ev->name);
	const char *way = ev->nr == FR_EV_sys_enter ? "entry" : "exit", *compat = sys->abi ? "compat_" : "";
	const char *name = call < 0 ? NULL : fr_sysname(sys, FR_STYLE_SYSCALL, call);

	if (call < 0)
		snprintf(buf, sz, "%s", lttng_fits(plain, sys) ? plain : ev->name);
	else if (name)
		snprintf(buf, sz, "%ssyscall_%s_%s", compat, way, name);
	else
		snprintf(buf, sz, "%ssyscall_%s_unknown_%lld", compat, way, call);
}

/* Does the event, as described by its file, have a field that gets this name? */
static bool lttng_has(const struct fr_event *ev, const char *name)
{
	u32 i;

	for (i = 0; i < ev->field_cnt; i++) {
		if (!strcmp(fr_ctf_field_name(ev, ev->fields[i].name), name))
			return true;
	}
	return false;
}

const struct fr_ctf_extra *fr_ctf_extras(const struct fr_event *ev)
{
	const struct fr_ctf_extra *x;
	size_t i;

	for (i = 0; i < sizeof(extras) / sizeof(extras[0]); i++) {
		if (strcmp(extras[i].event, ev->name))
			continue;
		for (x = extras[i].extra; x->name; x++) {
			if (lttng_has(ev, x->name))
				return NULL;
		}
		return extras[i].extra;
	}
	return NULL;
}

static char lttng_at(const char *s, size_t len, size_t i)
{
	return i < len ? s[i] : 0;
}

static u32 flag_of(char c)
{
	return c == 'F' ? RWBS_FUA : c == 'A' ? RWBS_AHEAD : c == 'S' ? RWBS_SYNC : c == 'M' ? RWBS_META : 0;
}

u32 fr_ctf_rwbs(const char *s, size_t len)
{
	size_t i = 0;
	u32 v = 0;

	/* the letter for a flush comes first */
	if (lttng_at(s, len, 0) == 'F' && lttng_at(s, len, 1) && strchr("WDFRNZ", s[1]))
		v |= RWBS_PREFLUSH, i++;
	switch (lttng_at(s, len, i++)) {
	case 'W':
		v |= RWBS_WRITE;
		break;
	case 'D':
		v |= lttng_at(s, len, i) == 'E' ? RWBS_DISCARD | RWBS_SECURE : RWBS_DISCARD;
		break;
	case 'F':
		v |= RWBS_FLUSH;
		break;
	case 'R':
		v |= RWBS_READ;
		break;
	case 'Z': /* of a zone: has a second letter, but no flag in LTTng */
		i++;
		break;
	}
	for (; lttng_at(s, len, i); i++)
		v |= flag_of(s[i]);
	return v;
}
