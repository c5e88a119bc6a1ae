/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * html: a self-contained HTML page for a browser without network access (`flightrec view`).
 *
 *	head, style		user/show/view/page.html up to its mark, style.css
 *	<script type=x>	events in pieces (user/show/export/page_columns.h), as they come: zlib, base64
 *	<script type=x>	who had each CPU, what each task was doing (user/show/export/page_spans.h), by tiles: zlib, base64
 *	<script type=x>	how many pieces and tasks there are (user/show/export/page_index.h): zlib, base64
 *	<script type=x>	the rest as JSON: schema, texts, names, stacks, tasks, rings, holes, facts: zlib, base64
 *	<script>		the scripts of user/show/view
 *
 * Snapshot data enters the page only as base64, so no name can be markup.
 *
 * The timeline and the stacks are kept until the end. Where there is no room for more, the page ends early: it is what a window
 * that ends there would be, and says how many later events are left out.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/err.h"
#include "base/set/idmap.h"
#include "base/text/jsonw.h"
#include "read/replay/focus.h"
#include "read/replay/gaps.h"
#include "read/replay/summary.h"
#include "read/symbols/frames.h"
#include "read/timeline/timeline.h"
#include "show/export/export.h"
#include "show/export/page_columns.h"
#include "show/export/page_spans.h"

/* The page's own parts, as they are in user/show/view/. */
#define PART(name, file)                                                          \
	extern const char name[], name##_end[];                                   \
	__asm__(".pushsection .rodata\n.global " #name "\n" #name ":\n.incbin \"" \
		"user/show/view/" file "\"\n.global " #name "_end\n" #name "_end:\n.byte 0\n.popsection\n")

PART(fr_page_html, "page.html");
PART(fr_page_css, "style.css");
PART(fr_page_data, "data.js");
PART(fr_page_load, "load.js");
PART(fr_page_model, "model.js");
PART(fr_page_draw, "draw.js");
PART(fr_page_panel, "panel.js");
PART(fr_page_query, "query.js");
PART(fr_page_main, "main.js");

#define PUT_PART(o, name) fr_out_mem(o, name, name##_end - name)

struct page {
	struct fr_page_columns *columns;
	struct fr_timeline *timeline;
	struct fr_page_ended ended;
	const struct fr_schema *schema;
	struct fr_out stacks; /* in memory: the members of an object */
	struct fr_jsonw stack_list;
	struct fr_idmap seen;	    /* stacks that are already in the list */
	const struct fr_wall *wall; /* NULL until the first row */
	u64 origin_ns;
};

/* ---- base64 (RFC 4648) ---- */

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void put_base64(struct fr_out *o, const u8 *p, size_t sz)
{
	size_t i;
	u32 v;

	for (i = 0; i < sz; i += 3) {
		v = p[i] << 16 | (i + 1 < sz ? p[i + 1] << 8 : 0) | (i + 2 < sz ? p[i + 2] : 0);
		fr_out_char(o, digits[v >> 18]);
		fr_out_char(o, digits[v >> 12 & 63]);
		fr_out_char(o, i + 1 < sz ? digits[v >> 6 & 63] : '=');
		fr_out_char(o, i + 2 < sz ? digits[v & 63] : '=');
	}
}

static void html_put_piece(struct fr_out *o, const char *kind, const u8 *p, size_t sz)
{
	fr_out_printf(o, "<script type=\"text/x-%s\">", kind);
	put_base64(o, p, sz);
	fr_out_str(o, "</script>\n");
}

static int html_put_rows(struct fr_export *x)
{
	struct page *p = x->state;
	const u8 *piece;
	size_t sz;
	int err = fr_page_columns_take(p->columns, &piece, &sz);

	if (!err && sz)
		html_put_piece(x->out, "events", piece, sz);
	return err;
}

/* ---- stacks ---- */

#define STACKS_AGAIN 3 /* html_put_rest(): in a text that grows, and packed */

/* Is this stack new? 1, 0 or -ENOMEM. */
static int is_new_stack(struct fr_idmap *seen, u64 id)
{
	if (fr_idmap_find(seen, id))
		return 0;
	return fr_idmap_get(seen, id) ? 1 : -ENOMEM;
}

/* Its frames as text, or, without symbols, as numbers. */
static void html_put_frames(struct fr_export *x, struct fr_jsonw *w, const struct fr_view *v, const struct fr_row *r,
			    const struct fr_field *f)
{
	struct fr_val frames = fr_view_field(v, r, f);
	char number[24];
	u32 cnt = 0, i;

	if (x->frames) {
		struct fr_stacktexts texts = fr_frames_texts(x->frames);
		const char *const *text = texts.of(texts.arg, r, f, &cnt);

		for (i = 0; i < cnt; i++)
			fr_jsonw_text(w, NULL, text[i]);
	}
	for (i = 0; !cnt && frames.kind == FR_VAL_NUMS && i < frames.len; i++) {
		snprintf(number, sizeof(number), "0x%llx", frames.nums[i]);
		fr_jsonw_text(w, NULL, number);
	}
}

static int html_put_stack(struct fr_export *x, const struct fr_view *v, const struct fr_row *r, const struct fr_field *f)
{
	struct page *p = x->state;
	struct fr_val id = fr_view_field(v, r, &r->ev->fields[f->from_idx]);
	char key[24];
	int is_new;

	if (!id.num || fr_view_field(v, r, f).kind != FR_VAL_NUMS)
		return 0;
	is_new = is_new_stack(&p->seen, id.num);
	if (is_new <= 0)
		return is_new;
	snprintf(key, sizeof(key), "%llu", id.num);
	fr_jsonw_open(&p->stack_list, key, '[');
	html_put_frames(x, &p->stack_list, v, r, f);
	fr_jsonw_close(&p->stack_list, ']');
	fr_timeline_reserve(p->timeline, STACKS_AGAIN * p->stacks.mem_sz);
	return fr_out_error(&p->stacks);
}

static int html_put_stacks(struct fr_export *x, const struct fr_view *v, const struct fr_row *r)
{
	int err = 0;
	u32 i;

	for (i = 0; i < r->ev->field_cnt && !err; i++) {
		if (fr_is_stack(&r->ev->fields[i]) && r->ev->fields[i].from_idx >= 0)
			err = html_put_stack(x, v, r, &r->ev->fields[i]);
	}
	return err;
}

/* ---- the rest ---- */

static void html_put_facts(struct fr_jsonw *w, const struct fr_snap *s)
{
	static const char *const names[] = {"host",	    "kernel",	    "arch",
					    "version",	    "session",	    "profile",
					    "boot_id",	    "cpus",	    "trigger_reason",
					    "trigger_ts",   "trigger_rule", "trigger_pid",
					    "trigger_tid",  "trigger_comm", "trigger_exe",
					    "trigger_sig",  "trigger_code", "trigger_addr",
					    "trigger_ip",   "trigger_what", "trigger_value_ns",
					    "trigger_rate", "trigger_cnt"};
	u32 i;

	fr_jsonw_open(w, "facts", '{');
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (fr_snap_fact(s, names[i]))
			fr_jsonw_text(w, names[i], fr_snap_fact(s, names[i]));
	}
	fr_jsonw_close(w, '}');
}

/* A double holds times exactly only as differences: ns after the window's begin. */
static u64 html_behind(const struct page *p, u64 ts)
{
	return ts > p->origin_ns ? ts - p->origin_ns : 0;
}

/* Like `info`: complete since all programs were attached; without an account, since the first event. */
static int html_put_rings(struct fr_jsonw *w, const struct page *p, const struct fr_snap *s)
{
	struct fr_summary *m;
	u32 i, why;

	if (fr_summary_new(s, &m))
		return -ENOMEM;
	fr_jsonw_open(w, "rings", '[');
	for (i = 0; i < m->ring_cnt; i++) {
		const struct fr_sum_ring *r = &m->ring[i];
		u64 lost = 0;

		for (why = 0; why < FR_LOST_CNT; why++)
			lost += r->count.lost[why];
		fr_jsonw_open(w, NULL, '{');
		fr_jsonw_u64(w, "cpu", r->cpu);
		fr_jsonw_u64(w, "tier", r->tier);
		fr_jsonw_u64(w, "begin", html_behind(p, r->begin_ns));
		fr_jsonw_u64(w, "horizon", html_behind(p, r->horizon_ns));
		fr_jsonw_u64(w, "lost", lost);
		fr_jsonw_u64(w, "overwritten", r->count.overwritten);
		fr_jsonw_close(w, '}');
	}
	fr_jsonw_close(w, ']');
	fr_jsonw_u64(w, "damage", fr_snap_damage(s));
	fr_summary_free(m);
	return 0;
}

/* What is before a CPU's history is none: rings have horizons. What came after its ring was copied ends nowhere. */
static void put_holes(struct fr_jsonw *w, const struct fr_timeline *t)
{
	u32 i;

	fr_jsonw_open(w, "holes", '[');
	for (i = 0; i < t->hole_cnt; i++) {
		const struct fr_tl_hole *h = &t->hole[i];

		if (t->full && h->since >= t->span)
			continue;
		fr_jsonw_open(w, NULL, '{');
		fr_jsonw_u64(w, "cpu", t->cpu[h->cpu].nr);
		fr_jsonw_u64(w, "since", h->since);
		fr_jsonw_u64(w, "until", h->until < t->span ? h->until : t->span);
		fr_jsonw_text(w, "why", fr_gap_word(h->why));
		fr_jsonw_close(w, '}');
	}
	fr_jsonw_close(w, ']');
}

/* [tid, pid, name] of each task. */
static void html_put_tasks(struct fr_jsonw *w, const struct fr_snap *s)
{
	const struct fr_snap_task *t;
	size_t cnt, i;

	t = fr_snap_tasks(s, &cnt);
	fr_jsonw_open(w, "tasks", '[');
	for (i = 0; i < cnt; i++) {
		fr_jsonw_open(w, NULL, '[');
		fr_jsonw_u64(w, NULL, t[i].tid);
		fr_jsonw_u64(w, NULL, t[i].task.tgid);
		fr_jsonw_mem(w, NULL, t[i].task.comm, strnlen(t[i].task.comm, FR_COMM_SZ));
		fr_jsonw_close(w, ']');
	}
	fr_jsonw_close(w, ']');
}

static void html_put_texts(struct fr_jsonw *w, const struct page *p)
{
	const struct fr_page_text *t;
	size_t cnt, i;

	t = fr_page_columns_texts(p->columns, &cnt);
	fr_jsonw_open(w, "texts", '[');
	for (i = 0; i < cnt; i++)
		fr_jsonw_mem(w, NULL, t[i].s, t[i].len);
	fr_jsonw_close(w, ']');
}

static void html_put_name(void *arg, enum fr_style style, u32 abi, s64 v, const char *name)
{
	struct fr_jsonw *w = arg;

	fr_jsonw_open(w, NULL, '[');
	fr_jsonw_text(w, NULL, fr_style_name(style));
	fr_jsonw_u64(w, NULL, abi);
	fr_jsonw_s64(w, NULL, v);
	fr_jsonw_text(w, NULL, name);
	fr_jsonw_close(w, ']');
}

/* The begin on the recording clock and in wall time; the trigger's distance from it, inside the window or not. */
static void put_times(struct fr_jsonw *w, const struct page *p, const struct fr_snap *s)
{
	const char *trigger = fr_snap_fact(s, "trigger_ts");
	char origin[24];

	snprintf(origin, sizeof(origin), "%llu", p->origin_ns);
	fr_jsonw_text(w, "origin", origin);
	fr_jsonw_u64(w, "span", p->timeline->span);
	if (p->wall)
		fr_jsonw_u64(w, "wall_us", fr_wall_real(p->wall, p->origin_ns) / 1000);
	if (trigger)
		fr_jsonw_s64(w, "trigger", (s64)(strtoull(trigger, NULL, 10) - p->origin_ns));
}

static void put_verdict(const struct fr_export *x, struct fr_jsonw *w)
{
	if (!x->ask->verdict)
		return;
	fr_jsonw_open(w, "verdict", '{');
	fr_out_str(w->o, x->ask->verdict);
	fr_jsonw_close(w, '}');
}

static int put_rest_json(struct fr_export *x, struct fr_out *o)
{
	struct page *p = x->state;
	struct fr_jsonw w = {.o = o};
	char *text;
	size_t sz;
	u32 focus;

	if (fr_focus_find(x->replay, 0, &focus))
		return -ENOMEM;
	fr_jsonw_open(&w, NULL, '{');
	fr_jsonw_u64(&w, "events", x->event_cnt);
	fr_jsonw_u64(&w, "left_out", p->timeline->left_out_cnt);
	fr_jsonw_u64(&w, "focus", focus);
	put_times(&w, p, x->snap);
	text = fr_schema_write(p->schema, &sz);
	if (!text)
		return -ENOMEM;
	fr_jsonw_mem(&w, "schema", text, sz);
	free(text);
	html_put_facts(&w, x->snap);
	if (html_put_rings(&w, p, x->snap))
		return -ENOMEM;
	put_holes(&w, p->timeline);
	html_put_tasks(&w, x->snap);
	html_put_texts(&w, p);
	fr_jsonw_open(&w, "names", '[');
	fr_page_columns_names(p->columns, fr_snap_fact(x->snap, "arch"), html_put_name, &w);
	fr_jsonw_close(&w, ']');
	text = fr_out_take_mem(&p->stacks, &sz);
	if (!text)
		return -ENOMEM;
	fr_jsonw_open(&w, "stacks", '{');
	fr_out_mem(o, text, sz);
	fr_jsonw_close(&w, '}');
	free(text);
	put_verdict(x, &w);
	fr_jsonw_close(&w, '}');
	return 0;
}

static int put_packed(struct fr_out *o, const char *text, size_t sz)
{
	uLongf packed_sz = compressBound(sz);
	u8 *packed = malloc(packed_sz);
	int err = packed && compress2(packed, &packed_sz, (const u8 *)text, sz, Z_DEFAULT_COMPRESSION) == Z_OK ? 0 : -ENOMEM;

	if (!err)
		html_put_piece(o, "rest", packed, packed_sz);
	free(packed);
	return err;
}

static int html_put_rest(struct fr_export *x)
{
	struct fr_out *o = malloc(sizeof(*o));
	char *text;
	size_t sz;
	int err;

	if (!o)
		return -ENOMEM;
	fr_out_init_mem(o);
	err = put_rest_json(x, o);
	text = fr_out_take_mem(o, &sz);
	free(o);
	err = err ?: text ? 0 : -ENOMEM;
	err = err ?: put_packed(x->out, text, sz);
	free(text);
	return err;
}

/* ---- an export ---- */

static int html_begin(struct fr_export *x)
{
	struct page *p = calloc(1, sizeof(*p));
	u64 end_ns;

	x->state = p;
	if (!p || x->ask->verdict_err)
		return x->ask->verdict_err ?: -ENOMEM;
	fr_out_init_mem(&p->stacks);
	fr_idmap_init(&p->seen, 1);
	fr_page_ended_init(&p->ended);
	p->stack_list.o = &p->stacks;
	fr_replay_window(x->replay, &p->origin_ns, &end_ns);
	p->schema = fr_replay_schema(x->replay, 0);
	p->columns = fr_page_columns_new(p->schema, p->origin_ns);
	if (!p->columns || fr_timeline_new(x->replay, true, &p->timeline))
		return -ENOMEM;
	PUT_PART(x->out, fr_page_html);
	fr_out_str(x->out, "<style>\n");
	PUT_PART(x->out, fr_page_css);
	fr_out_str(x->out, "</style>\n");
	return 0;
}

static int html_row(struct fr_export *x, const struct fr_view *v, const struct fr_row *r)
{
	struct page *p = x->state;
	int err;

	if (x->event_cnt == p->timeline->event_cnt)
		return 0; /* the timeline ended before it */
	err = v->schema == p->schema ? fr_page_columns_add(p->columns, v, r) : -EPROTO;

	p->wall = v->wall;
	if (err == 1)
		err = html_put_rows(x);
	err = err ?: html_put_stacks(x, v, r);
	err = err ?: fr_page_ended_add(&p->ended, v, r, x->event_cnt);
	x->event_cnt += !err;
	return err;
}

static int html_run(struct fr_export *x, const struct fr_replay_run *run)
{
	struct page *p = x->state;

	return fr_timeline_take(p->timeline, run);
}

static int html_lost(struct fr_export *x, const struct fr_replay_lost *lost)
{
	struct page *p = x->state;

	return fr_timeline_lost(p->timeline, lost);
}

static void html_put_tile(void *out, const u8 *piece, size_t sz)
{
	html_put_piece(out, "spans", piece, sz);
}

static int html_put_spans(struct fr_export *x)
{
	struct page *p = x->state;
	struct fr_page_index *index = fr_page_columns_index(p->columns);
	u8 *piece = NULL;
	size_t sz;
	int err = fr_timeline_end(p->timeline);

	err = err ?: fr_page_spans(p->timeline, &p->ended, index, html_put_tile, x->out, NULL);
	err = err ?: fr_page_index_pack(index, p->timeline, p->ended.pid, &piece, &sz);
	if (!err)
		html_put_piece(x->out, "index", piece, sz);
	free(piece);
	return err;
}

static void say_left_out(const struct fr_export *x)
{
	const struct page *p = x->state;
	u64 left = p->timeline->left_out_cnt;

	if (left)
		fr_warn("the last %llu of %llu events are left out, for lack of memory: show a part with --window, %s", left,
			(left + x->event_cnt), fr_err_cure(-ENOMEM, NULL));
}

static int html_end(struct fr_export *x)
{
	int err = html_put_rows(x);

	err = err ?: html_put_spans(x);
	err = err ?: html_put_rest(x);
	if (err)
		return err;
	fr_out_str(x->out, "<script>\n\"use strict\";\n");
	PUT_PART(x->out, fr_page_data);
	PUT_PART(x->out, fr_page_load);
	PUT_PART(x->out, fr_page_model);
	PUT_PART(x->out, fr_page_draw);
	PUT_PART(x->out, fr_page_panel);
	PUT_PART(x->out, fr_page_query);
	PUT_PART(x->out, fr_page_main);
	fr_out_str(x->out, "</script>\n");
	say_left_out(x);
	return 0;
}

static void html_release(struct fr_export *x)
{
	struct page *p = x->state;

	if (!p)
		return;
	fr_page_columns_free(p->columns);
	fr_timeline_free(p->timeline);
	fr_page_ended_free(&p->ended);
	fr_idmap_free(&p->seen);
	free(fr_out_take_mem(&p->stacks, NULL));
}

const struct fr_exporter fr_export_html = {
	.name = "html",
	.doc = "a page for a browser: timeline, search, histograms, flame graph (`flightrec view`)",
	.one_session = true,
	.stacks = true,
	.binary = true,
	.history = true,
	.pairs = true,
	.begin = html_begin,
	.run = html_run,
	.lost = html_lost,
	.row = html_row,
	.end = html_end,
	.release = html_release,
};
