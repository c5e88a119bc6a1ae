/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/waitsum.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/escape.h"
#include "base/text/units.h"

#define FIELD_CNT 8u /* of one in the text */
#define LINE_SZ	  192u

void fr_waitsums_free(struct fr_waitsums *s)
{
	free(s->at);
	*s = (struct fr_waitsums){};
}

const char *fr_waitsum_call(const char *arch, u32 in, u32 abi, s32 id, char text[FR_SYSNAME_CALL_SZ])
{
	const struct fr_sys sys = {.arch = arch, .abi = abi};

	if (in == FR_WAITED_user)
		return "user code";
	return in == FR_WAITED_call ? fr_sysname_call(&sys, id, text) : "kernel";
}

/* ---- from the CPUs ---- */

static int waitsum_more(struct fr_waitsums *s, u32 more)
{
	struct fr_waitsum *at = realloc(s->at, (s->cnt + (size_t)more) * sizeof(*at) + 1);

	if (!at)
		return -ENOMEM;
	s->at = at;
	return 0;
}

int fr_waitsums_add(struct fr_waitsums *s, const struct fr_wait_over *o)
{
	const struct fr_wait_place *p;

	if (waitsum_more(s, FR_WAIT_OVER_CNT))
		return -ENOMEM;
	for (p = o->place; p < o->place + FR_WAIT_OVER_CNT; p++)
		if (p->who.tid)
			s->at[s->cnt++] = (struct fr_waitsum){
				.tid = p->who.tid,
				.id = p->who.id,
				.abi = fr_wait_who_abi(&p->who),
				.in = fr_wait_who_in(&p->who),
				.start_ns = fr_wait_who_start_ns(&p->who),
				.last_ns = p->last_ns,
				.sum = p->sum,
			};
	fr_wait_sum_add(&s->rest, &o->rest);
	return 0;
}

static int waitsum_by_who(const void *a, const void *b)
{
	const struct fr_waitsum *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return (x->abi << 8 | x->in) - (y->abi << 8 | y->in);
}

static int waitsum_by_time(const void *a, const void *b)
{
	const struct fr_waitsum *x = a, *y = b;

	if (x->sum.off_ns != y->sum.off_ns)
		return x->sum.off_ns > y->sum.off_ns ? -1 : 1;
	return waitsum_by_who(a, b);
}

static void waitsum_join(struct fr_waitsums *s)
{
	u32 to = 0, i;

	if (s->cnt)
		qsort(s->at, s->cnt, sizeof(*s->at), waitsum_by_who);
	for (i = 1; i < s->cnt; i++) {
		if (waitsum_by_who(&s->at[to], &s->at[i])) {
			s->at[++to] = s->at[i];
			continue;
		}
		fr_wait_sum_add(&s->at[to].sum, &s->at[i].sum);
		if (s->at[to].last_ns < s->at[i].last_ns)
			s->at[to].last_ns = s->at[i].last_ns;
	}
	s->cnt = s->cnt ? to + 1 : 0;
}

static void waitsum_finish(struct fr_waitsums *s, const char *arch)
{
	char room[FR_SYSNAME_CALL_SZ];
	u32 i;

	if (s->cnt)
		qsort(s->at, s->cnt, sizeof(*s->at), waitsum_by_time);
	while (s->cnt > FR_WAITSUM_MAX)
		fr_wait_sum_add(&s->rest, &s->at[--s->cnt].sum);
	s->all = s->rest;
	for (i = 0; i < s->cnt; i++) {
		struct fr_waitsum *w = &s->at[i];

		fr_wait_sum_add(&s->all, &w->sum);
		snprintf(w->call, sizeof(w->call), "%s", fr_waitsum_call(arch, w->in, w->abi, w->id, room));
	}
}

void fr_waitsums_end(struct fr_waitsums *s, const char *arch)
{
	waitsum_join(s);
	waitsum_finish(s, arch);
}

/* ---- as text: "rest=CNT:OFF:BLOCKED;TID:IN:ABI:ID:LAST:CNT:OFF:BLOCKED;..." ---- */

char *fr_waitsums_text(const struct fr_waitsums *s)
{
	size_t cap = (s->cnt + 1) * (size_t)LINE_SZ, sz;
	char *text = malloc(cap);
	u32 i;

	if (!text)
		return NULL;
	sz = snprintf(text, cap, "rest=%llu:%llu:%llu", s->rest.cnt, s->rest.off_ns, s->rest.blocked_ns);
	for (i = 0; i < s->cnt; i++) {
		const struct fr_waitsum *w = &s->at[i];

		sz += snprintf(text + sz, cap - sz, ";%u:%u:%u:%d:%llu:%llu:%llu:%llu", w->tid, w->in, w->abi, w->id,
			       w->last_ns, w->sum.cnt, w->sum.off_ns, w->sum.blocked_ns);
	}
	return text;
}

/* cnt numbers with colons between, up to a semicolon or the end. Only a number that may be negative has a sign. */
static bool waitsum_numbers(const char **at, u64 *v, u32 cnt, u32 negative)
{
	const char *p = *at;
	char *end;
	u32 i;

	for (i = 0; i < cnt; i++) {
		if (*p < '0' || *p > '9')
			if (i != negative || *p != '-' || p[1] < '0' || p[1] > '9')
				return false;
		errno = 0;
		v[i] = *p == '-' ? (u64)strtoll(p, &end, 10) : strtoull(p, &end, 10);
		if (errno || *end != (i + 1 < cnt ? ':' : *end))
			return false;
		p = end + (i + 1 < cnt);
	}
	if (*p && *p != ';')
		return false;
	*at = p;
	return true;
}

static bool waitsum_read_one(const char **at, struct fr_waitsum *w)
{
	u64 v[FIELD_CNT];

	if (!waitsum_numbers(at, v, FIELD_CNT, 3) || !v[0] || v[0] > FR_TID_MASK || v[1] > FR_WAITED_kernel || v[2] > 3 ||
	    (s64)v[3] != (s32)v[3])
		return false;
	*w = (struct fr_waitsum){
		.tid = v[0],
		.in = v[1],
		.abi = v[2],
		.id = v[3],
		.last_ns = v[4],
		.sum = {v[5], v[6], v[7]},
	};
	return true;
}

int fr_waitsums_read(struct fr_waitsums *s, const char *text, const char *arch)
{
	u64 v[3];

	if (strncmp(text, "rest=", 5))
		return -EBADMSG;
	text += 5;
	if (!waitsum_numbers(&text, v, 3, 3))
		return -EBADMSG;
	s->rest = (struct fr_wait_sum){v[0], v[1], v[2]};
	if (waitsum_more(s, FR_WAITSUM_MAX))
		return -ENOMEM;
	while (*text) {
		text++;
		if (s->cnt == FR_WAITSUM_MAX || !waitsum_read_one(&text, &s->at[s->cnt]))
			return -EBADMSG;
		s->cnt++;
	}
	waitsum_finish(s, arch); /* whoever wrote it has joined them: equal ones are different tasks of one number */
	return 0;
}

/* ---- shown ---- */

static void waitsum_put_sum(struct fr_out *o, const struct fr_wait_sum *sum)
{
	char count[32], time[32];

	fr_out_printf(o, " %s (%s)", fr_show_count(sum->cnt, count, sizeof(count)),
		      fr_show_duration(sum->off_ns, time, sizeof(time)));
}

void fr_waitsums_put(struct fr_out *o, const struct fr_waitsums *s, u32 most)
{
	struct fr_wait_sum others = s->rest;
	u32 i;

	for (i = 0; i < s->cnt; i++) {
		const struct fr_waitsum *w = &s->at[i];

		if (i >= most) {
			fr_wait_sum_add(&others, &w->sum);
			continue;
		}
		fr_out_str(o, i ? ", " : "");
		if (*w->comm)
			fr_escape_text(o, w->comm, strlen(w->comm));
		fr_out_printf(o, "%s%u in %s", *w->comm ? "/" : "", w->tid, w->call);
		waitsum_put_sum(o, &w->sum);
	}
	if (!others.cnt)
		return;
	fr_out_str(o, s->cnt && most ? ", others" : "not known by whom:");
	waitsum_put_sum(o, &others);
}

#define SUM(member, ...)  FR_COLUMN(struct fr_waitsum, sum.member, __VA_ARGS__)
#define REST(member, ...) FR_COLUMN(struct fr_wait_sum, member, __VA_ARGS__)

static struct fr_value waitsum_comm(const struct fr_at *at)
{
	const struct fr_waitsum *w = at->rec;

	return *w->comm ? fr_value_text(w->comm) : fr_value_null();
}

/* clang-format off */
static const struct fr_column waitsum_columns[] = {
	FR_COLUMN(struct fr_waitsum, tid, "tid", NUMBER, "the task"),
	FR_COLUMN_MADE(waitsum_comm, "comm", TEXT, "its name: in a report when it last waited, else its last one; `null`: not known"),
	FR_COLUMN(struct fr_waitsum, call, "call", TEXT, "the system call it was in; \"user code\", \"kernel\": it was in none"),
	SUM(cnt, "count", COUNT, "waits of it in this call that have no record"),
	SUM(off_ns, "off_ns", NS, "time off the CPU"),
	SUM(blocked_ns, "blocked_ns", NS, "of this, until it was woken"),
	{},
};
const struct fr_table fr_waitsum_kind = {"over_by", "Waits beyond the budget, by task and call.", waitsum_columns};

static const struct fr_column rest_columns[] = {
	REST(cnt, "count", COUNT, "waits"),
	REST(off_ns, "off_ns", NS, "time off the CPU"),
	REST(blocked_ns, "blocked_ns", NS, "of this, until they were woken"),
	{},
};
const struct fr_table fr_waitsum_rest_kind = {"over_rest", "Those that found no place in the sums by task and call.", rest_columns};
/* clang-format on */
