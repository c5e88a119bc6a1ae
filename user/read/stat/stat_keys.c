/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stat_keys: what a row is grouped by, as bytes: rows whose bytes are equal are of one group.
 *
 *	kind (1)  size (2)  bytes		for each key; a number takes 16
 */
#include <stdio.h>
#include <string.h>

#include "base/rows/whose.h"
#include "read/replay/summary.h"
#include "read/stat/stat_int.h"

#define HEAD_SZ 3u

static u8 *stat_put(u8 *to, enum fr_stat_kind kind, const void *bytes, size_t sz)
{
	u16 len = sz < FR_STAT_TEXT_MAX ? sz : FR_STAT_TEXT_MAX;

	*to = kind;
	memcpy(to + 1, &len, sizeof(len));
	if (len)
		memcpy(to + HEAD_SZ, bytes, len);
	return to + HEAD_SZ + len;
}

static u8 *stat_put_text(u8 *to, const char *text)
{
	return stat_put(to, text && *text ? FR_STAT_TEXT : FR_STAT_NONE, text, text ? strlen(text) : 0);
}

/* ---- what a row has ---- */

/* A number that has a name is that name: openat of two ABIs is one group, as it is one word. */
static u8 *put_expr(u8 *to, const struct fr_filter *f, const struct fr_replay_run *run, const struct fr_row *r)
{
	struct fr_filter_value v;

	fr_filter_value(f, run->view, r, &v);
	if (v.kind == FR_VAL_NONE)
		return stat_put(to, FR_STAT_NONE, NULL, 0);
	if (v.text)
		return stat_put(to, FR_STAT_TEXT, v.text, v.len);
	return stat_put(to, v.is_hex ? FR_STAT_HEX : FR_STAT_INT, &v.num, sizeof(v.num));
}

static u8 *stat_put_time(u8 *to, u64 bucket_ns, u64 ts)
{
	fr_wide begin = ts / bucket_ns * bucket_ns;

	return stat_put(to, FR_STAT_TIME, &begin, sizeof(begin));
}

static u8 *put_program(u8 *to, const struct fr_view *v, const struct fr_row *r)
{
	size_t len;
	const char *program = fr_whose_text(v, r, FR_WHOSE_program, &len);

	return stat_put(to, program ? FR_STAT_TEXT : FR_STAT_NONE, program, program ? len : 0);
}

/* A call may end with another number than it began with, or none: what was begun counts. */
static u8 *stat_put_call(u8 *to, const struct fr_stat_file *f, const struct fr_view *v, const struct fr_row *r)
{
	const struct fr_pair *p = fr_view_pair(v, r);
	struct fr_sys sys = fr_view_sys(v, r);
	char text[FR_WAITED_CALL_SZ];
	struct fr_waited w;
	s64 nr;

	if (r->ev == f->wait.ev) {
		fr_waited_read(&f->wait, v, r, &w);
		return stat_put_text(to, fr_waited_call(&w, v->arch, text));
	}
	if (!f->id[r->ev->nr])
		return stat_put_text(to, NULL);
	nr = (s64)fr_row_num(r, f->id[r->ev->nr]);
	if (p && p->call_nr != -1) {
		nr = p->call_nr;
		sys.abi = p->call_abi;
	}
	if (nr < 0)
		return stat_put_text(to, NULL);
	w = (struct fr_waited){.in = FR_WAITED_call, .id = nr, .abi = sys.abi};
	return stat_put_text(to, fr_waited_call(&w, v->arch, text));
}

static u8 *put_object(u8 *to, const struct fr_stat_file *f, const struct fr_view *v, const struct fr_row *r)
{
	char text[FR_WAITED_OBJECT_SZ];
	struct fr_waited w;

	if (r->ev != f->wait.ev)
		return stat_put_text(to, NULL);
	fr_waited_read(&f->wait, v, r, &w);
	if (w.object_len)
		return stat_put(to, FR_STAT_TEXT, w.object, w.object_len);
	return stat_put_text(to, fr_waited_about(&w, v->arch, text));
}

u32 fr_stat_put_keys(struct fr_stat *s, const struct fr_replay_run *run, const struct fr_row *r)
{
	const struct fr_stat_file *f = &s->run->file[run->file];
	u8 *to = s->run->bytes;
	u32 i;

	for (i = 0; i < s->ask->key_cnt; i++) {
		const struct fr_stat_key *k = &s->ask->key[i];

		switch (k->by) {
		case FR_STAT_BY_expr:
			to = put_expr(to, s->run->key[run->file * FR_STAT_KEY_MAX + i], run, r);
			break;
		case FR_STAT_BY_time:
			to = stat_put_time(to, k->bucket_ns, r->ts + run->shift_ns);
			break;
		case FR_STAT_BY_call:
			to = stat_put_call(to, f, run->view, r);
			break;
		case FR_STAT_BY_object:
			to = put_object(to, f, run->view, r);
			break;
		case FR_STAT_BY_program:
			to = put_program(to, run->view, r);
			break;
		case FR_STAT_BY_host:
			to = stat_put_text(to, f->host);
			break;
		case FR_STAT_BY_boot:
			to = stat_put_text(to, f->boot);
			break;
		case FR_STAT_BY_file:
			to = stat_put_text(to, f->path);
			break;
		}
	}
	return to - s->run->bytes;
}

/* ---- what a group has ---- */

void fr_stat_key_of(const struct fr_stat_group *g, u32 i, struct fr_stat_value *out)
{
	const u8 *p = g->bytes;
	u16 len = 0;

	*out = (struct fr_stat_value){.kind = FR_STAT_NONE};
	if (!p)
		return;
	memcpy(&len, p + 1, sizeof(len));
	for (; i; i--) {
		p += HEAD_SZ + len;
		memcpy(&len, p + 1, sizeof(len));
	}
	out->kind = *p;
	if (out->kind == FR_STAT_TEXT) {
		out->text = (const char *)p + HEAD_SZ;
		out->len = len;
	} else if (out->kind != FR_STAT_NONE) {
		memcpy(&out->num, p + HEAD_SZ, sizeof(out->num));
	}
}

/* ---- files, and their time ---- */

static void bind_time(struct fr_stat_file *f, struct fr_replay *r, u32 file)
{
	const struct fr_snap *snap = fr_replay_snap(r, file);
	u64 begin_ns, end_ns;
	struct fr_summary *m;

	fr_replay_file_window(r, file, &begin_ns, &end_ns);
	if (fr_summary_new(snap, &m))
		return;
	begin_ns = m->start_ns > begin_ns ? m->start_ns : begin_ns;
	end_ns = m->end_ns < end_ns ? m->end_ns : end_ns;
	fr_summary_free(m);
	if (begin_ns >= end_ns)
		return;
	f->begin_ns = begin_ns + fr_replay_shift(r, file);
	f->end_ns = end_ns + fr_replay_shift(r, file);
}

void fr_stat_file_bind(struct fr_stat_file *f, struct fr_replay *r, u32 file)
{
	const struct fr_schema *s = fr_replay_schema(r, file);
	const struct fr_event *ev;
	u32 nr;

	*f = (struct fr_stat_file){
		.path = fr_replay_path(r, file),
		.host = fr_snap_fact(fr_replay_snap(r, file), "host"),
		.boot = fr_snap_fact(fr_replay_snap(r, file), "boot_id"),
		.boot_nr = fr_replay_boot(r, file),
		.switch_nr = FR_EVENT_MAX,
	};
	fr_waited_bind(&f->wait, s);
	for (nr = 0; nr < FR_EVENT_MAX; nr++) {
		const struct fr_field *id;

		ev = fr_schema_event(s, nr);
		id = ev ? fr_event_field(ev, "id") : NULL;
		f->id[nr] = id && fr_is_stored_num(id) && id->style == FR_STYLE_SYSCALL ? id : NULL;
	}
	ev = fr_schema_find(s, "sched_switch");
	f->switch_nr = ev ? ev->nr : FR_EVENT_MAX;
	bind_time(f, r, file);
}

/* May rows of this file be in the group? */
static bool stat_is_of(const struct fr_stat *s, const struct fr_stat_group *g, const struct fr_stat_file *f)
{
	struct fr_stat_value v;
	u32 i;

	for (i = 0; g->bytes && i < s->ask->key_cnt; i++) {
		enum fr_stat_by by = s->ask->key[i].by;
		const char *own = by == FR_STAT_BY_host ? f->host : by == FR_STAT_BY_boot ? f->boot : f->path;

		if (by != FR_STAT_BY_host && by != FR_STAT_BY_boot && by != FR_STAT_BY_file)
			continue;
		fr_stat_key_of(g, i, &v);
		if (v.kind == FR_STAT_NONE ? own && *own : !own || strlen(own) != v.len || memcmp(own, v.text, v.len))
			return false;
	}
	return true;
}

static void narrow_to_step(const struct fr_stat *s, const struct fr_stat_group *g, u64 *begin_ns, u64 *end_ns)
{
	struct fr_stat_value v;
	u32 i;

	for (i = 0; g->bytes && i < s->ask->key_cnt; i++) {
		if (s->ask->key[i].by != FR_STAT_BY_time)
			continue;
		fr_stat_key_of(g, i, &v);
		*begin_ns = (u64)v.num > *begin_ns ? (u64)v.num : *begin_ns;
		*end_ns = (u64)v.num + s->ask->key[i].bucket_ns < *end_ns ? (u64)v.num + s->ask->key[i].bucket_ns : *end_ns;
	}
}

/* Several files of one boot may overlap, and what is between them counts; time between boots does not. */
u64 fr_stat_time_of(const struct fr_stat *s, const struct fr_stat_group *g)
{
	u32 boot, i;
	u64 sum = 0;

	for (boot = 0; boot < fr_replay_boot_cnt(s->replay); boot++) {
		u64 begin_ns = ~0ULL, end_ns = 0;

		for (i = 0; i < s->file_cnt; i++) {
			const struct fr_stat_file *f = &s->run->file[i];

			if (f->boot_nr != boot || f->begin_ns >= f->end_ns || !stat_is_of(s, g, f))
				continue;
			begin_ns = f->begin_ns < begin_ns ? f->begin_ns : begin_ns;
			end_ns = f->end_ns > end_ns ? f->end_ns : end_ns;
		}
		narrow_to_step(s, g, &begin_ns, &end_ns);
		sum += end_ns > begin_ns ? end_ns - begin_ns : 0;
	}
	return sum;
}
