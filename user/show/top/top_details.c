/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* top_details: what is at the cursor: the state or span of the selected line, and the event with its fields and stacks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/units.h"
#include "base/text/wall.h"
#include "event_fields.h"
#include "read/waits/waited.h"
#include "show/top/top_int.h"

/* The lines of a panel. It is scrolled, so that the first `skip` are not shown. */
struct page {
	struct fr_top *t;
	struct fr_grid *g;
	u32 y, end, skip;
	u32 x; /* the column that the line being written has reached */
};

static bool details_is_in(const struct page *p)
{
	return !p->skip && p->y < p->end;
}

static void details_put(struct page *p, enum fr_ink ink, const char *text, size_t sz)
{
	p->x = details_is_in(p) ? fr_grid_mem(p->g, p->x, p->y, p->g->width, text, sz, ink) : p->x;
}

static void put_str(struct page *p, enum fr_ink ink, const char *text)
{
	details_put(p, ink, text, strlen(text));
}

static void details_put_label(struct page *p, const char *label)
{
	if (details_is_in(p))
		fr_grid_text(p->g, 1, p->y, p->g->width, label, FR_INK_DIM);
	p->x = 17;
}

static void details_next_line(struct page *p)
{
	if (p->skip)
		p->skip--;
	else
		p->y++;
	p->x = 1;
}

static void details_put_who(struct page *p, u32 task, enum fr_ink ink)
{
	if (details_is_in(p))
		p->x = fr_top_put_task(p->t, p->g, p->x, p->y, p->g->width, task, ink);
}

static void details_put_when(struct page *p, u64 at)
{
	char buf[48];

	put_str(p, FR_INK_NONE, fr_top_when(p->t, at, buf));
}

static void put_span(struct page *p, const char *before, u64 ns)
{
	char buf[32];

	put_str(p, FR_INK_DIM, before);
	put_str(p, FR_INK_BOLD, fr_top_span(ns, buf));
}

/* ---- where the cursor is ---- */

static void put_cursor(struct page *p)
{
	struct fr_top *t = p->t;
	char buf[64];

	details_put_label(p, "time");
	details_put_when(p, t->cursor);
	if (t->tl->has_trigger && t->tl->trigger <= t->tl->span)
		put_str(p, FR_INK_DIM, t->cursor < t->tl->trigger ? " before the trigger" : " from the trigger");
	else
		put_str(p, FR_INK_DIM, " after the start");
	if (t->tl->boot_cnt == 1) {
		snprintf(buf, sizeof(buf), "   clock %llu", t->tl->origin_key + t->cursor);
		put_str(p, FR_INK_DIM, buf);
	}
	if (t->marked)
		put_span(p, "   from the mark ", t->cursor > t->mark ? t->cursor - t->mark : t->mark - t->cursor);
	details_next_line(p);
}

/* ---- a CPU ---- */

static void put_handler(struct page *p, const struct fr_tl_spans *s)
{
	u32 i = fr_tl_span_from(s, p->t->cursor);
	char buf[48];

	if (i >= s->cnt || s->v[i].at > p->t->cursor)
		return;
	details_put_label(p, "handler");
	put_str(p, FR_INK_IRQ, fr_top_irq_name(p->t, s->v[i].what, s->v[i].row, buf));
	put_span(p, "  for ", s->v[i].until - s->v[i].at);
	details_next_line(p);
}

static void details_put_cpu(struct page *p, u32 nr)
{
	const struct fr_tl_cpu *c = &p->t->tl->cpu[nr];
	const struct fr_tl_change *v = fr_tl_change_at(&c->runs, p->t->cursor);

	details_put_label(p, "CPU");
	if (details_is_in(p))
		p->x = fr_top_put_cpu(p->t, p->g, p->x, p->y, p->g->width, nr, FR_INK_BOLD);
	put_str(p, FR_INK_NONE, "  ");
	if (p->t->cursor < c->begin) {
		put_str(p, FR_INK_LOST, "not complete here: its history begins at ");
		details_put_when(p, c->begin);
	} else if (!v || v->what == FR_TL_RUN_UNKNOWN) {
		put_str(p, FR_INK_LOST, "what runs is not known here");
	} else {
		if (v->what == FR_TL_RUN_IDLE)
			put_str(p, FR_INK_NONE, "idle");
		else
			details_put_who(p, v->what - FR_TL_RUN_TASK, FR_INK_RUN);
		put_span(p, " for ", fr_tl_change_end(p->t->tl, &c->runs, v) - v->at);
		put_str(p, FR_INK_DIM, " from ");
		details_put_when(p, v->at);
	}
	details_next_line(p);
	put_handler(p, &c->irqs);
}

/* ---- a task ---- */

static void details_put_waker(struct page *p, u32 what)
{
	char buf[48];

	if (fr_tl_by(what) == FR_TL_BY_NOBODY) {
		put_str(p, FR_INK_NONE, "preempted");
		return;
	}
	put_str(p, FR_INK_NONE, "woken by ");
	if (fr_tl_by(what) == FR_TL_BY_OTHER)
		put_str(p, FR_INK_NAME, fr_waker_words(fr_tl_nr(what)));
	else if (fr_tl_by(what) == FR_TL_BY_TASK && !fr_tl_nr(what))
		put_str(p, FR_INK_NAME, "the idle task");
	else if (fr_tl_by(what) == FR_TL_BY_TASK)
		details_put_who(p, fr_tl_nr(what), FR_INK_NAME);
	else
		put_str(p, FR_INK_NAME,
			fr_top_irq_name(p->t, fr_tl_nr(what) | (fr_tl_by(what) == FR_TL_BY_SOFTIRQ ? FR_TL_SOFT : 0), 0, buf));
	if (fr_tl_by(what) == FR_TL_BY_TASK && fr_tl_nr(what))
		put_str(p, FR_INK_DIM, " (o goes there)");
}

static void details_put_state(struct page *p, const struct fr_tl_changes *c, const struct fr_tl_change *v)
{
	enum fr_tl_state s = fr_tl_state(v->what);
	bool ended = s == FR_TL_UNKNOWN && v->what;

	details_put_label(p, "state");
	put_str(p, fr_top_states[s].ink, ended ? "ended" : fr_top_states[s].name);
	if (s == FR_TL_RUNS && details_is_in(p)) {
		put_str(p, FR_INK_NONE, " on ");
		p->x = fr_top_put_cpu(p->t, p->g, p->x, p->y, p->g->width, fr_tl_nr(v->what), FR_INK_NONE);
	}
	if (!ended)
		put_span(p, " for ", fr_tl_change_end(p->t->tl, c, v) - v->at);
	put_str(p, FR_INK_DIM, " from ");
	details_put_when(p, v->at);
	details_next_line(p);
	if (s == FR_TL_WAITS) {
		details_put_label(p, "why");
		details_put_waker(p, v->what);
		details_next_line(p);
	}
}

/* If the task runs: how it was woken before. */
static void put_wake(struct page *p, const struct fr_tl_changes *c, const struct fr_tl_change *v)
{
	if (fr_tl_state(v->what) != FR_TL_RUNS || v == c->v || fr_tl_state(v[-1].what) != FR_TL_WAITS)
		return;
	details_put_label(p, "before");
	details_put_waker(p, v[-1].what);
	put_span(p, ", waited for a CPU ", v->at - v[-1].at);
	details_next_line(p);
}

static void details_put_call(struct page *p, const struct fr_tl_task *k)
{
	u32 i = fr_tl_span_from(&k->calls, p->t->cursor);
	const struct fr_tl_span *s = i < k->calls.cnt ? &k->calls.v[i] : NULL;
	char buf[FR_SYSNAME_CALL_SZ];

	if (!s || s->at > p->t->cursor)
		return;
	details_put_label(p, "system call");
	put_str(p, FR_INK_CALL, fr_top_call_name(p->t, k->boot, s->what & ~FR_TL_OPEN, buf));
	put_span(p, " for ", s->until - s->at);
	put_str(p, FR_INK_DIM, " from ");
	details_put_when(p, s->at);
	if (s->what & FR_TL_OPEN)
		put_str(p, FR_INK_DIM, ", and had not ended");
	details_next_line(p);
}

/* ---- the record of its wait ---- */

#define ROWS_SEEN 4u /* its first events when it runs again, among which the record is */

/* The wait that the cursor is in: its record comes when it has ended. */
static bool details_find_wait(const struct page *p, const struct fr_tl_task *k, struct fr_waited *w,
			      const struct fr_view **view)
{
	const struct fr_timeline *tl = p->t->tl;
	u32 from = fr_tl_row_from(tl, &k->rows, p->t->cursor), i;
	struct fr_waited_fields f;
	struct fr_row row;

	for (i = from; i < k->rows.cnt && i < from + ROWS_SEEN; i++) {
		u64 at = tl->event[k->rows.v[i]].at;

		if (tl->event[k->rows.v[i]].ev != FR_EV_wait || fr_tl_reader_row(p->t->reader, k->rows.v[i], &row, view))
			continue;
		fr_waited_bind(&f, (*view)->schema);
		if (row.ev != f.ev)
			continue;
		fr_waited_read(&f, *view, &row, w);
		return at <= p->t->cursor + w->off_ns;
	}
	return false;
}

static void put_wait(struct page *p, const struct fr_tl_task *k)
{
	char call[FR_WAITED_CALL_SZ], about[FR_WAITED_OBJECT_SZ], waker[FR_WAITED_WAKER_SZ];
	const struct fr_view *view;
	struct fr_waited w;

	if (!details_find_wait(p, k, &w, &view))
		return;
	details_put_label(p, "waited in");
	put_str(p, FR_INK_CALL, fr_waited_call(&w, view->arch, call));
	if (*fr_waited_about(&w, view->arch, about)) {
		put_str(p, FR_INK_NONE, " on ");
		put_str(p, FR_INK_BOLD, about);
	}
	put_span(p, " for ", w.off_ns);
	put_span(p, ", queued ", w.queued_ns);
	details_next_line(p);
	details_put_label(p, "ended by");
	put_str(p, FR_INK_NAME, fr_waited_waker(&w, waker));
	details_next_line(p);
}

static void details_put_task(struct page *p, u32 nr)
{
	const struct fr_tl_task *k = &p->t->tl->task[nr];
	const struct fr_tl_change *v = fr_tl_change_at(&k->states, p->t->cursor);
	char buf[64];

	details_put_label(p, "task");
	details_put_who(p, nr, FR_INK_BOLD);
	snprintf(buf, sizeof(buf), "  process %d", k->pid);
	if (k->pid >= 0)
		put_str(p, FR_INK_DIM, buf);
	put_span(p, "  ran ", k->ran_ns);
	snprintf(buf, sizeof(buf), "  %u event%s", k->rows.cnt, fr_plural(k->rows.cnt));
	put_str(p, FR_INK_DIM, buf);
	details_next_line(p);
	if (v) {
		details_put_state(p, &k->states, v);
		put_wake(p, &k->states, v);
		if (fr_tl_state(v->what) != FR_TL_RUNS)
			put_wait(p, k);
	}
	details_put_call(p, k);
}

/* ---- the event ---- */

char *fr_top_line(struct fr_top *t, u32 nr, size_t *sz)
{
	struct fr_replay_run run = {.file = t->tl->event[nr].file};
	struct fr_row row;
	char *text;

	if (fr_tl_reader_row(t->reader, nr, &row, &run.view))
		return NULL;
	run.b = row.b;
	if (t->frames) {
		fr_frames_at(t->frames, &run);
		t->text.stacks = fr_frames_texts(t->frames);
	}
	fr_text_row(&t->text, t->out, run.view, &row);
	text = fr_out_take_mem(t->out, sz);
	fr_out_init_mem(t->out);
	*sz -= text && *sz; /* its newline */
	return text;
}

static void details_put_line(struct page *p)
{
	size_t sz;
	char *text = fr_top_line(p->t, p->t->row, &sz);

	if (text)
		details_put(p, FR_INK_NONE, text, sz);
	free(text);
	details_next_line(p);
}

static void details_put_stack(struct page *p, const struct fr_row *row, const struct fr_view *view, const struct fr_field *f,
			      u32 file)
{
	struct fr_replay_run run = {.b = row->b, .view = view, .file = file};
	struct fr_stacktexts texts;
	const char *const *text;
	u32 cnt = 0, i;

	if (!p->t->frames)
		return;
	fr_frames_at(p->t->frames, &run);
	texts = fr_frames_texts(p->t->frames);
	text = texts.of(texts.arg, row, f, &cnt);
	for (i = 0; i < cnt; i++) {
		details_put_label(p, i ? "" : f->name);
		put_str(p, FR_INK_NAME, text[i]);
		details_next_line(p);
	}
}

static void details_num(char buf[64], u64 num, bool is_hex, bool is_signed)
{
	if (is_hex)
		snprintf(buf, 64, "0x%llx", num);
	else if (is_signed)
		snprintf(buf, 64, "%lld", (s64)num);
	else
		snprintf(buf, 64, "%llu", num);
}

static void details_put_field(struct page *p, const struct fr_view *view, const struct fr_row *row, const struct fr_field *f)
{
	struct fr_val v = fr_view_field(view, row, f);
	struct fr_sys sys = fr_view_sys(view, row);
	const char *name = v.kind == FR_VAL_NUM ? fr_sysname(&sys, f->style, (s64)v.num) : NULL;
	char buf[64] = "";
	size_t i;

	details_put_label(p, f->name);
	if (v.kind == FR_VAL_TEXT)
		details_put(p, FR_INK_BOLD, v.text, v.len);
	if (v.kind == FR_VAL_NUM)
		details_num(buf, v.num, fr_style_is_hex(f->style), v.is_signed);
	put_str(p, FR_INK_BOLD, buf);
	if (name) {
		put_str(p, FR_INK_NONE, " ");
		put_str(p, FR_INK_BOLD, name);
	}
	for (i = 0; v.kind == FR_VAL_NUMS && i < v.len; i++) {
		details_num(buf, v.nums[i], !v.is_signed, v.is_signed);
		put_str(p, FR_INK_NONE, i ? " " : "");
		put_str(p, FR_INK_BOLD, buf);
	}
	if (p->x < 44)
		p->x = 44;
	put_str(p, FR_INK_DIM, "  ");
	put_str(p, FR_INK_DIM, f->doc);
	details_next_line(p);
}

static void details_put_event(struct page *p)
{
	struct fr_top *t = p->t;
	const struct fr_view *view;
	struct fr_row row;
	u32 i;

	if (t->row == FR_TL_NO_ROW)
		return;
	details_put_label(p, "event");
	if (fr_tl_reader_row(t->reader, t->row, &row, &view)) {
		put_str(p, FR_INK_LOST, "cannot be read: its part of the file is damaged");
		details_next_line(p);
		return;
	}
	put_str(p, FR_INK_BOLD, row.ev->name);
	put_str(p, FR_INK_DIM, "  ");
	put_str(p, FR_INK_DIM, row.ev->doc);
	details_next_line(p);
	details_put_line(p);
	for (i = 0; i < row.ev->field_cnt; i++)
		if (!fr_is_stack(&row.ev->fields[i]))
			details_put_field(p, view, &row, &row.ev->fields[i]);
	for (i = 0; i < row.ev->field_cnt; i++)
		if (fr_is_stack(&row.ev->fields[i]))
			details_put_stack(p, &row, view, &row.ev->fields[i], t->tl->event[t->row].file);
}

void fr_top_details(struct fr_top *t, struct fr_grid *g, u32 y, u32 end)
{
	struct page p = {.t = t, .g = g, .y = y, .end = end, .skip = t->scroll, .x = 1};
	const struct fr_top_track *k = t->selected < t->track_cnt ? &t->track[t->selected] : NULL;

	put_cursor(&p);
	if (k && k->is_cpu)
		details_put_cpu(&p, k->nr);
	else if (k)
		details_put_task(&p, k->nr);
	details_put_event(&p);
	if (p.skip) /* scrolled beyond the end */
		t->scroll -= p.skip < t->scroll ? p.skip : t->scroll;
}

bool fr_top_scroll_key(struct fr_top *t, int key)
{
	switch (key) {
	case FR_KEY_UP:
		t->scroll -= t->scroll > 0;
		return true;
	case FR_KEY_DOWN:
		t->scroll++;
		return true;
	case FR_KEY_PAGE_UP:
		t->scroll -= t->scroll > 8 ? 8 : t->scroll;
		return true;
	case FR_KEY_PAGE_DOWN:
		t->scroll += 8;
		return true;
	default:
		return false;
	}
}
