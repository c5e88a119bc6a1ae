/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "show/format/format_text.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/rows/callargs.h"
#include "base/rows/whose.h"
#include "base/text/dev.h"
#include "base/text/escape.h"
#include "base/text/units.h"
#include "base/tp/tps.h"
#include "show/format/format_pair.h"

/* A line being printed. */
struct line {
	struct fr_text *t;
	struct fr_out *o;
	const struct fr_view *view;
	const struct fr_row *r;
};

#define COMM_COLS  15
#define EVENT_COLS 18
#define TID_COLS   8
#define FEW	   6u		 /* numbers */
#define POINTER	   0x100000000LL /* results above this are addresses: in hex */

void fr_text_init(struct fr_text *t, bool with_date, bool with_pos)
{
	memset(t, 0, sizeof(*t));
	t->with_date = with_date;
	t->with_pos = with_pos;
	t->sec = ~0ULL;
}

enum fr_paint fr_text_group_paint(u32 group)
{
	static const enum fr_paint paint[FR_GROUP_CNT] = {
		[FR_GROUP_SCHED] = FR_PAINT_GREEN,  [FR_GROUP_TASK] = FR_PAINT_BOLD,	 [FR_GROUP_SIGNAL] = FR_PAINT_RED,
		[FR_GROUP_IRQ] = FR_PAINT_BLUE,	    [FR_GROUP_SOFTIRQ] = FR_PAINT_BLUE,	 [FR_GROUP_SYSCALL] = FR_PAINT_CYAN,
		[FR_GROUP_FAULT] = FR_PAINT_YELLOW, [FR_GROUP_BLOCK] = FR_PAINT_MAGENTA, [FR_GROUP_SAMPLE] = FR_PAINT_YELLOW,
		[FR_GROUP_MARK] = FR_PAINT_BOLD,
	};

	return group < FR_GROUP_CNT ? paint[group] : FR_PAINT_NONE;
}

/* As fr_out_paint(), if there is room. */
static inline char *put_paint(const struct fr_out *o, char *p, enum fr_paint paint)
{
	return o->color ? stpcpy(p, fr_paint_code(paint)) : p;
}

/* A name of the schema. */
static inline char *format_put_name(char *p, const char *name, u32 len)
{
	if (len <= FR_COPY_MOST_SZ)
		return fr_copy_short(p, name, len);
	return mempcpy(p, name, len);
}

_Static_assert(2 + FEW * (1 + FR_DIGITS_HEX_SZ) <= FR_OUT_ROOM, "few numbers have room");

/* ---- time ---- */

static void format_put_ns(struct fr_out *o, u32 ns)
{
	char *p = fr_out_room(o);

	*p = '.';
	o->len = fr_digits_9(p + 1, ns) - o->buf;
}

static void clock_of(u64 sec, const char *format, char *to, size_t sz)
{
	time_t t = sec;
	struct tm tm;

	if (!localtime_r(&t, &tm) || !strftime(to, sz, format, &tm))
		snprintf(to, sz, "?");
}

void fr_text_wall(struct fr_out *o, u64 real_ns)
{
	char text[64];

	clock_of(real_ns / FR_SEC_NS, "%Y-%m-%d %H:%M:%S", text, sizeof(text));
	fr_out_str(o, text);
	format_put_ns(o, real_ns % FR_SEC_NS);
}

/* Update the second, if it differs from the last line's. */
static void have_clock(struct fr_text *t, u64 sec)
{
	if (sec == t->sec)
		return;
	t->sec = sec;
	clock_of(sec, t->with_date ? "%Y-%m-%d %H:%M:%S" : "%H:%M:%S", t->clock, sizeof(t->clock));
	t->clock_len = strlen(t->clock);
}

/* ---- values ---- */

/* A text that could be taken for something else is put in quotes. */
static void format_put_text(struct fr_out *o, const char *s, size_t len)
{
	if (fr_is_word(s, len))
		fr_out_mem(o, s, len);
	else if (!len || memchr(s, ' ', len) || memchr(s, '"', len) || memchr(s, '=', len))
		fr_escape_quoted(o, s, len, "\\\"");
	else
		fr_escape_text(o, s, len);
}

/* Numbers, and their names, are put at p, where there is room for them; returns where they end. */

static char *put_signed(char *p, s64 v)
{
	*p = '-';
	return fr_digits_dec(p + (v < 0), v < 0 ? 0 - (u64)v : (u64)v);
}

static char *format_put_ret(const struct fr_out *o, char *p, s64 v)
{
	const char *name = fr_ret_error(v);

	if (name) {
		p = put_paint(o, p, FR_PAINT_RED);
		*p++ = '-';
		p = format_put_name(p, name, strlen(name));
		return put_paint(o, p, FR_PAINT_NONE);
	}
	return v >= POINTER || v <= -POINTER ? fr_digits_hex(p, v) : put_signed(p, v);
}

static void format_put_exit(struct fr_out *o, s64 v)
{
	char room[FR_SYSNAME_SZ];
	const char *text = fr_sysname_text(NULL, FR_STYLE_EXIT, v, room);

	if (text)
		fr_out_str(o, text);
	else
		fr_out_s64(o, v);
}

static char *put_plain(char *p, const struct fr_field *f, u64 v)
{
	return fr_field_signed(f) ? put_signed(p, v) : fr_digits_dec(p, v);
}

/* The system call with this number on the events' machine. */
static const struct fr_syscall *format_call_of(const struct line *l, s64 nr)
{
	struct fr_text *t = l->t;
	u32 abi = fr_row_abi(l->r), i;

	if (t->arch != l->view->arch) {
		t->arch = l->view->arch;
		for (i = 0; i < FR_SYSCALL_ABIS; i++)
			t->calls[i] = t->arch ? fr_syscalls_find(t->arch, i) : NULL;
	}
	return abi < FR_SYSCALL_ABIS ? fr_syscalls_at(t->calls[abi], nr) : NULL;
}

static char *format_put_call(const struct line *l, char *p, const struct fr_field *f, u64 v)
{
	const struct fr_syscall *c = format_call_of(l, v);

	return c ? format_put_name(p, c->name, c->len) : put_plain(p, f, v);
}

static char *format_put_named(char *p, const struct fr_field *f, u64 v)
{
	const char *name = fr_sysname(&(struct fr_sys){0}, f->style, v);

	if (name)
		return format_put_name(p, name, strlen(name));
	return f->style == FR_STYLE_HANDLER ? fr_digits_hex(p, v) : put_plain(p, f, v);
}

/* Numbers that need more words. */
static char *put_long_num(struct fr_out *o, char *p, const struct fr_field *f, u64 v)
{
	o->len = p - o->buf;
	if (f->style == FR_STYLE_EXIT) {
		format_put_exit(o, v);
	} else if (f->style == FR_STYLE_NS) {
		fr_out_u64(o, v / FR_SEC_NS);
		format_put_ns(o, v % FR_SEC_NS);
	} else {
		fr_out_printf(o, "%u,%u", fr_dev_major(v), fr_dev_minor(v));
	}
	return o->buf + o->len;
}

static char *format_put_num(const struct line *l, char *p, const struct fr_field *f, u64 v)
{
	switch (f->style) {
	case FR_STYLE_DEC:
	case FR_STYLE_TID:
		return put_plain(p, f, v);
	case FR_STYLE_HEX:
	case FR_STYLE_ARG:
	case FR_STYLE_TAKEN:
		return fr_digits_hex(p, v);
	case FR_STYLE_RET:
		return format_put_ret(l->o, p, v);
	case FR_STYLE_SYSCALL:
		return format_put_call(l, p, f, v);
	case FR_STYLE_EXIT:
	case FR_STYLE_NS:
	case FR_STYLE_DEV:
		return put_long_num(l->o, p, f, v);
	default:
		return format_put_named(p, f, v);
	}
}

/* Arguments of a system call, mostly. */
static void put_few_hex(struct fr_out *o, const u64 *num, size_t cnt)
{
	char *p = fr_out_room(o);
	size_t i;

	*p++ = '[';
	for (i = 0; i < cnt; i++) {
		*p = ' ';
		p = fr_digits_hex(p + (i > 0), num[i]);
	}
	*p++ = ']';
	o->len = p - o->buf;
}

static void format_put_nums(struct fr_out *o, const struct fr_field *f, const struct fr_val *v)
{
	bool hex = fr_style_is_hex(f->style) || (f->kind == FR_KIND_DERIVED && !v->is_signed);
	size_t i;

	if (hex && v->len <= FEW) {
		put_few_hex(o, v->nums, v->len);
		return;
	}
	fr_out_char(o, '[');
	for (i = 0; i < v->len; i++) {
		if (i)
			fr_out_char(o, ' ');
		if (hex)
			fr_out_hex(o, v->nums[i]);
		else if (v->is_signed)
			fr_out_s64(o, v->nums[i]);
		else
			fr_out_u64(o, v->nums[i]);
	}
	fr_out_char(o, ']');
}

/* ---- arguments of a system call ---- */

static bool format_callargs(const struct line *l, struct fr_callargs *a)
{
	return fr_callargs_of(l->r, fr_callargs_call(l->view, l->r), a);
}

static void format_put_arg(struct fr_out *o, const struct fr_callargs *a, u32 i)
{
	char text[FR_CALLWORDS_SZ];

	fr_out_any(o, text, fr_callwords_put(a->signature, a->v, a->cnt, i, text) - text);
}

/* [dfd=AT_FDCWD filename=0x7ffd310cb070 flags=O_RDONLY|O_CLOEXEC mode=0] */
static void format_put_args(struct fr_out *o, const struct fr_callargs *a, u32 cnt)
{
	u32 i;

	fr_out_char(o, '[');
	for (i = 0; i < cnt; i++) {
		if (i)
			fr_out_char(o, ' ');
		if (i < a->known_cnt) {
			fr_out_any(o, a->signature->args[i].name, a->signature->args[i].name_len);
			fr_out_char(o, '=');
			format_put_arg(o, a, i);
		} else {
			fr_out_hex(o, a->v[i]);
		}
	}
	fr_out_char(o, ']');
}

/* The arguments of the call that it waited in, which are fields of their own. False: it has no names for them. */
static __attribute__((noinline)) bool format_put_wait_args(const struct line *l)
{
	struct fr_callargs a;

	if (!format_callargs(l, &a))
		return false;
	fr_out_str(l->o, " args=");
	format_put_args(l->o, &a, a.known_cnt);
	return true;
}

/* No name has a ; in it. */
static void format_put_stack(struct fr_out *o, const char *const *text, u32 cnt)
{
	u32 i;

	fr_out_char(o, '[');
	for (i = 0; i < cnt; i++) {
		if (i)
			fr_out_str(o, "; ");
		fr_escape_text(o, text[i], strlen(text[i]));
	}
	fr_out_char(o, ']');
}

static void format_put_array(const struct line *l, const struct fr_field *f, const struct fr_val *v)
{
	const struct fr_stacktexts *stacks = &l->t->stacks;
	const char *const *text = NULL;
	struct fr_callargs a;
	u32 cnt = 0;

	if (f->style == FR_STYLE_ARG && format_callargs(l, &a)) {
		format_put_args(l->o, &a, a.cnt);
		return;
	}
	if (stacks->of && fr_is_stack(f))
		text = stacks->of(stacks->arg, l->r, f, &cnt);
	if (text && cnt)
		format_put_stack(l->o, text, cnt);
	else
		format_put_nums(l->o, f, v);
}

static void format_put_value(const struct line *l, const struct fr_field *f, const struct fr_val *v)
{
	struct fr_out *o = l->o;

	if (v->kind == FR_VAL_NUM)
		o->len = format_put_num(l, fr_out_room(o), f, v->num) - o->buf;
	else if (v->kind == FR_VAL_TEXT)
		format_put_text(o, v->text, v->len);
	else if (v->kind == FR_VAL_NUMS)
		format_put_array(l, f, v);
	else
		fr_out_str(o, "<...>");
}

void fr_text_value(struct fr_text *t, struct fr_out *o, const struct fr_view *v, const struct fr_row *r,
		   const struct fr_field *f)
{
	struct line l = {.t = t, .o = o, .view = v, .r = r};
	struct fr_val val = fr_view_field(v, r, f);
	struct fr_callargs a;

	if (f->style == FR_STYLE_ARG && val.kind == FR_VAL_NUM && format_callargs(&l, &a) &&
	    fr_callargs_at(r, f) < a.known_cnt) {
		format_put_arg(o, &a, fr_callargs_at(r, f));
		return;
	}
	format_put_value(&l, f, &val);
}

static char *put_long_label(const struct fr_out *o, char *p, const struct fr_field *f)
{
	*p++ = ' ';
	p = put_paint(o, p, FR_PAINT_DIM);
	p = format_put_name(p, f->name, f->name_len);
	*p++ = '=';
	return put_paint(o, p, FR_PAINT_NONE);
}

static inline char *format_put_label(const struct fr_out *o, char *p, const struct fr_field *f)
{
	if (o->color || !f->label_len)
		return put_long_label(o, p, f);
	memcpy(p, f->label, FR_LABEL_SZ);
	return p + f->label_len;
}

/* A stored number, the usual case. The native ABI is expected and not printed, nor is no task. */
static void put_stored(const struct line *l, const struct fr_field *f)
{
	u64 v = fr_row_num(l->r, f);
	char *p;

	if (!v && (f->style == FR_STYLE_ABI || (f->style == FR_STYLE_TID && fr_view_is_none(l->r, f))))
		return;
	p = format_put_label(l->o, fr_out_room(l->o), f);
	l->o->len = format_put_num(l, p, f, v) - l->o->buf;
}

/* Nor is a stack that was not taken, or the name of no task. */
static bool is_worth_a_word(const struct line *l, const struct fr_field *f, const struct fr_val *v)
{
	if (f->kind != FR_KIND_DERIVED)
		return true;
	return fr_field_kind(f) == FR_VAL_NUMS ? v->len : v->kind != FR_VAL_NONE || !fr_view_is_none(l->r, f);
}

static void format_put_field(const struct line *l, const struct fr_field *f)
{
	struct fr_out *o = l->o;
	struct fr_val v;

	if (fr_is_stored_num(f)) {
		put_stored(l, f);
		return;
	}
	v = fr_view_other(l->view, l->r, f);
	if (!is_worth_a_word(l, f, &v))
		return;
	o->len = format_put_label(o, fr_out_room(o), f) - o->buf;
	format_put_value(l, f, &v);
}

/* ---- pieces of lines, copied if they are the same again ---- */

static void format_put_piece(struct fr_out *o, const struct fr_text_piece *k)
{
	memcpy(fr_out_room(o), k->text, FR_TEXT_PIECE_SZ);
	o->len += k->sz;
}

/* Keep what was put from begin on, unless the buffer was flushed meanwhile. */
static void keep_piece(struct fr_text_piece *k, const struct fr_out *o, size_t begin)
{
	size_t sz = o->len - begin;

	k->sz = sz <= FR_TEXT_PIECE_SZ ? sz : 0;
	k->color = o->color;
	memcpy(k->text, o->buf + begin, k->sz);
}

static bool format_is_kept(const struct fr_text_piece *k, const struct fr_out *o)
{
	return k->sz && k->color == o->color;
}

/* ---- lines ---- */

/* Each line has one: a call would cost 40 instructions of 1740. */
static inline __attribute__((always_inline)) char *format_put_time(struct fr_text *t, char *p, const struct fr_view *v, u64 ts)
{
	u64 ns = fr_wall_real_near(v->wall, ts, &t->wall_near);

	if (ns) {
		have_clock(t, ns / FR_SEC_NS);
		p = fr_copy_short(p, t->clock, t->clock_len);
	} else {
		ns = ts;
		p = fr_digits_dec(p, ns / FR_SEC_NS);
	}
	*p++ = '.';
	return fr_digits_9(p, ns % FR_SEC_NS);
}

static void format_put_when(const struct line *l)
{
	struct fr_out *o = l->o;
	char *p = put_paint(o, fr_out_room(o), FR_PAINT_DIM);

	o->len = format_put_time(l->t, p, l->view, l->r->ts) - o->buf;
}

static void format_put_cpu(struct fr_out *o, u16 cpu)
{
	u32 width = cpu < 1000 ? 3 : 5;
	char *p = fr_out_room(o);

	memcpy(p, " [00000", 8);
	fr_digits_dec(p + 2 + width - fr_digits_cnt(cpu), cpu);
	memcpy(p + 2 + width, "] ", 2);
	o->len = put_paint(o, p + 2 + width + 2, FR_PAINT_NONE) - o->buf;
}

void fr_text_place(struct fr_text *t, struct fr_out *o, const struct fr_view *v, u64 ts, u16 cpu)
{
	fr_out_paint(o, FR_PAINT_DIM);
	fr_text_time(t, o, v, ts);
	format_put_cpu(o, cpu);
}

void fr_text_time(struct fr_text *t, struct fr_out *o, const struct fr_view *v, u64 ts)
{
	char *p = fr_out_room(o);

	o->len = format_put_time(t, p, v, ts) - o->buf;
}

static void put_comm(struct fr_out *o, const struct fr_who *who)
{
	size_t cols = 5;

	if (who->comm)
		cols = fr_escape_text(o, who->comm, who->len);
	else
		fr_out_str(o, "<...>");
	fr_out_pad(o, cols, COMM_COLS);
}

static void put_tid(struct fr_out *o, u32 tid)
{
	fr_out_pad(o, fr_digits_cnt(tid), TID_COLS);
	fr_out_u64(o, tid);
	fr_out_char(o, ' ');
}

static bool is_same_who(const struct fr_text_who *k, const struct fr_who *who, const struct fr_row *r)
{
	return k->tid == r->tid && k->cpu == r->cpu && k->len == who->len && fr_same_short(k->comm, who->comm, k->len);
}

/* CPU, name and tid. */
static void format_put_who(const struct line *l)
{
	struct fr_who who = fr_view_who(l->view, l->r);
	const struct fr_row *r = l->r;
	struct fr_text_who *k = &l->t->who[r->cpu % FR_TEXT_WHO_CNT];
	struct fr_out *o = l->o;
	size_t begin;

	if (who.comm && format_is_kept(&k->piece, o) && is_same_who(k, &who, r)) {
		format_put_piece(o, &k->piece);
		return;
	}
	begin = fr_out_room(o) - o->buf;
	format_put_cpu(o, r->cpu);
	put_comm(o, &who);
	put_tid(o, r->tid);
	if (!who.comm || who.len > FR_COMM_SZ)
		return;
	k->tid = r->tid;
	k->cpu = r->cpu;
	k->len = who.len;
	memcpy(k->comm, who.comm, who.len);
	keep_piece(&k->piece, o, begin);
}

static void format_put_event(struct fr_out *o, const struct fr_event *ev)
{
	enum fr_paint paint = fr_text_group_paint(ev->group);

	if (paint)
		fr_out_paint(o, paint);
	fr_out_str(o, ev->name);
	fr_out_pad(o, ev->name_len, EVENT_COLS);
	if (paint)
		fr_out_paint(o, FR_PAINT_NONE);
}

static void put_what(const struct line *l)
{
	const struct fr_event *ev = l->r->ev;
	struct fr_text_what *k = &l->t->what[ev->nr % FR_TEXT_WHAT_CNT];
	struct fr_out *o = l->o;
	size_t begin;

	if (k->ev == ev && format_is_kept(&k->piece, o)) {
		format_put_piece(o, &k->piece);
		return;
	}
	begin = fr_out_room(o) - o->buf;
	format_put_event(o, ev);
	k->ev = ev;
	keep_piece(&k->piece, o, begin);
}

static void format_put_pos(struct fr_out *o, const struct fr_row *r)
{
	const char *tier = fr_tier_name(r->tier);
	u64 seq;
	u32 off;

	fr_row_pos(r, &seq, &off);
	fr_out_printf(o, " pos=%08x/%s/%llu/%u", r->b->epoch, tier ? tier : "?", seq, off);
}

/* A tracepoint, in the kernel's words. False: it has none here. */
static __attribute__((noinline)) bool format_put_words(const struct line *l)
{
	const char *words = fr_tps_text(l->view->tps, l->r);

	if (!words)
		return false;
	fr_out_char(l->o, ' ');
	fr_escape_text(l->o, words, strlen(words));
	return true;
}

/* The frames of a stack, or the id that they are found by. */
static bool format_is_of_stack(const struct fr_event *ev, const struct fr_field *f)
{
	u32 i;

	for (i = 0; i < ev->field_cnt; i++)
		if (fr_is_stack(&ev->fields[i]) && (f == &ev->fields[i] || ev->fields[i].from_idx == f - ev->fields))
			return true;
	return false;
}

void fr_text_row(struct fr_text *t, struct fr_out *o, const struct fr_view *v, const struct fr_row *r)
{
	const struct line l = {.t = t, .o = o, .view = v, .r = r};
	const struct fr_field *f = r->ev->fields, *end = f + r->ev->field_cnt;
	bool is_tp = r->ev->group == FR_GROUP_TP;
	enum { ARGS_UNSEEN, ARGS_IN_WORDS, ARGS_AS_NUMBERS } has_args = ARGS_UNSEEN; /* those that are fields of their own */

	format_put_when(&l);
	format_put_who(&l);
	put_what(&l);
	if (is_tp && format_put_words(&l))
		f = end;
	for (; f < end; f++) {
		if (f->style == FR_STYLE_ARG && fr_is_stored_num(f) && !has_args)
			has_args = format_put_wait_args(&l) ? ARGS_IN_WORDS : ARGS_AS_NUMBERS;
		if (has_args == ARGS_IN_WORDS && f->style == FR_STYLE_ARG)
			continue;
		if (t->without_stacks && format_is_of_stack(r->ev, f))
			continue;
		if (!is_tp || !fr_field_is_inner(f))
			format_put_field(&l, f);
	}
	if (v->shows_pairs)
		fr_pair_text(o, fr_view_pair(v, r));
	if (v->whose)
		fr_whose_put_text(o, v, r);
	if (t->with_pos)
		format_put_pos(o, r);
	fr_out_char(o, '\n');
}
