/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pure/text/format_text.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "pure/text/escape.h"
#include "pure/text/format_pair.h"

#define SEC_NS	   1000000000ULL
#define COMM_COLS  15
#define EVENT_COLS 18
#define TID_COLS   8
#define COLS_MOST  18 /* of them */
#define FEW	   6u /* numbers */
#define ERRNO_MAX  4095
#define DEV_MINORS 20		 /* bits of a device's minor number */
#define POINTER	   0x100000000LL /* results from here on are addresses: in hex */

void fr_text_init(struct fr_text *t, bool with_date, bool with_pos)
{
	*t = (struct fr_text){.with_date = with_date, .with_pos = with_pos, .sec = ~0ULL};
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

static void painted(struct fr_out *o, enum fr_paint p, const char *s)
{
	if (p)
		fr_out_paint(o, p);
	fr_out_str(o, s);
	if (p)
		fr_out_paint(o, FR_PAINT_NONE);
}

/* As fr_out_paint(), where there is room. */
static inline char *put_paint(const struct fr_out *o, char *p, enum fr_paint paint)
{
	return o->color ? stpcpy(p, fr_paint_code(paint)) : p;
}

/* A name of the schema. */
static inline char *put_name(char *p, const char *name, u32 len)
{
	if (len <= FR_COPY_MOST_SZ)
		return fr_copy_short(p, name, len);
	return mempcpy(p, name, len);
}

_Static_assert(2 + FEW * (1 + FR_DIGITS_HEX_SZ) <= FR_OUT_ROOM, "few numbers have room");

/* ---- time ---- */

static void put_ns(struct fr_out *o, u32 ns)
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

	clock_of(real_ns / SEC_NS, "%Y-%m-%d %H:%M:%S", text, sizeof(text));
	fr_out_str(o, text);
	put_ns(o, real_ns % SEC_NS);
}

/* The second of a time, if it is another one than the last line's. */
static void have_clock(struct fr_text *t, u64 sec)
{
	if (sec == t->sec)
		return;
	t->sec = sec;
	clock_of(sec, t->with_date ? "%Y-%m-%d %H:%M:%S" : "%H:%M:%S", t->clock, sizeof(t->clock));
	t->clock_len = strlen(t->clock);
}

/* ---- values ---- */

static void put_quoted(struct fr_out *o, const char *s, size_t len)
{
	const char *quote;

	fr_out_char(o, '"');
	while ((quote = memchr(s, '"', len))) {
		fr_escape_text(o, s, quote - s);
		fr_out_str(o, "\\\"");
		len -= quote + 1 - s;
		s = quote + 1;
	}
	fr_escape_text(o, s, len);
	fr_out_char(o, '"');
}

/* A text that could be taken for something else stands in quotes. */
static void put_text(struct fr_out *o, const char *s, size_t len)
{
	if (fr_is_word(s, len))
		fr_out_mem(o, s, len);
	else if (!len || memchr(s, ' ', len) || memchr(s, '"', len) || memchr(s, '=', len))
		put_quoted(o, s, len);
	else
		fr_escape_text(o, s, len);
}

static void put_ret(struct fr_out *o, s64 v)
{
	const char *name = v < 0 && v >= -ERRNO_MAX ? fr_errno_name(-v) : NULL;

	if (name) {
		fr_out_paint(o, FR_PAINT_RED);
		fr_out_char(o, '-');
		painted(o, FR_PAINT_NONE, name);
		fr_out_paint(o, FR_PAINT_NONE);
	} else if (v >= POINTER || v <= -POINTER) {
		fr_out_hex(o, v);
	} else {
		fr_out_s64(o, v);
	}
}

/* As wait() gives it: exit(1), SIGSEGV, SIGSEGV+core. */
static void put_exit(struct fr_out *o, s64 v)
{
	const char *sig = fr_signal_name(v & 0x7f);

	if (v & 0x7f && sig)
		fr_out_printf(o, "%s%s", sig, v & 0x80 ? "+core" : "");
	else if (v & 0x7f)
		fr_out_s64(o, v);
	else
		fr_out_printf(o, "exit(%d)", (int)(v >> 8 & 0xff));
}

static void put_plain(struct fr_out *o, const struct fr_val *v)
{
	if (v->is_signed)
		fr_out_s64(o, v->num);
	else
		fr_out_u64(o, v->num);
}

static void put_num(struct fr_out *o, const struct fr_view *view, const struct fr_row *r, const struct fr_field *f,
		    const struct fr_val *v)
{
	struct fr_sys sys = {.arch = view->arch};
	const char *name;

	switch (f->style) {
	case FR_STYLE_DEC:
	case FR_STYLE_TID:
		put_plain(o, v);
		return;
	case FR_STYLE_HEX:
		fr_out_hex(o, v->num);
		return;
	case FR_STYLE_RET:
		put_ret(o, v->num);
		return;
	case FR_STYLE_EXIT:
		put_exit(o, v->num);
		return;
	case FR_STYLE_NS:
		fr_out_u64(o, v->num / SEC_NS);
		put_ns(o, v->num % SEC_NS);
		return;
	case FR_STYLE_DEV:
		fr_out_printf(o, "%u,%u", (u32)v->num >> DEV_MINORS, (u32)v->num & ((1u << DEV_MINORS) - 1));
		return;
	case FR_STYLE_SYSCALL:
		sys = fr_view_sys(view, r);
		break;
	default:
		break;
	}
	name = fr_sysname(&sys, f->style, v->num);
	if (name)
		fr_out_str(o, name);
	else if (f->style == FR_STYLE_HANDLER)
		fr_out_hex(o, v->num);
	else
		put_plain(o, v);
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

static void put_nums(struct fr_out *o, const struct fr_field *f, const struct fr_val *v)
{
	bool hex = f->style == FR_STYLE_HEX || f->kind == FR_KIND_DERIVED;
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
		else
			fr_out_u64(o, v->nums[i]);
	}
	fr_out_char(o, ']');
}

/* No name has a ; in it. */
static void put_stack(struct fr_out *o, const char *const *text, u32 cnt)
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

/* The native ABI and a stack that was not taken are what one expects: nothing to say. */
static bool is_worth_a_word(const struct fr_field *f, const struct fr_val *v)
{
	if (f->style == FR_STYLE_ABI)
		return v->num;
	return f->kind != FR_KIND_DERIVED || fr_field_kind(f) != FR_VAL_NUMS || v->len;
}

static void put_array(struct fr_text *t, struct fr_out *o, const struct fr_row *r, const struct fr_field *f,
		      const struct fr_val *v)
{
	const char *const *text = NULL;
	u32 cnt = 0;

	if (t->stacks.of && fr_is_stack(f))
		text = t->stacks.of(t->stacks.arg, r, f, &cnt);
	if (text && cnt)
		put_stack(o, text, cnt);
	else
		put_nums(o, f, v);
}

static void put_value(struct fr_text *t, struct fr_out *o, const struct fr_view *view, const struct fr_row *r,
		      const struct fr_field *f, const struct fr_val *v)
{
	if (v->kind == FR_VAL_NUM)
		put_num(o, view, r, f, v);
	else if (v->kind == FR_VAL_TEXT)
		put_text(o, v->text, v->len);
	else if (v->kind == FR_VAL_NUMS)
		put_array(t, o, r, f, v);
	else
		fr_out_str(o, "<...>");
}

void fr_text_value(struct fr_text *t, struct fr_out *o, const struct fr_view *v, const struct fr_row *r,
		   const struct fr_field *f)
{
	struct fr_val val = fr_view_field(v, r, f);

	put_value(t, o, v, r, f, &val);
}

static void put_label(struct fr_out *o, const struct fr_field *f)
{
	char *p = fr_out_room(o);

	*p++ = ' ';
	p = put_paint(o, p, FR_PAINT_DIM);
	p = put_name(p, f->name, f->name_len);
	*p++ = '=';
	p = put_paint(o, p, FR_PAINT_NONE);
	o->len = p - o->buf;
}

static void put_field(struct fr_text *t, struct fr_out *o, const struct fr_view *view, const struct fr_row *r,
		      const struct fr_field *f)
{
	struct fr_val v = fr_view_field(view, r, f);

	if (!is_worth_a_word(f, &v))
		return;
	put_label(o, f);
	put_value(t, o, view, r, f, &v);
}

/* ---- lines ---- */

static char *put_time(struct fr_text *t, char *p, const struct fr_view *v, u64 ts)
{
	u64 ns = fr_wall_real(v->wall, ts);

	if (ns) {
		have_clock(t, ns / SEC_NS);
		p = fr_copy_short(p, t->clock, t->clock_len);
	} else {
		ns = ts;
		p = fr_digits_dec(p, ns / SEC_NS);
	}
	*p++ = '.';
	return fr_digits_9(p, ns % SEC_NS);
}

static char *put_cpu(char *p, u16 cpu)
{
	u32 width = cpu < 1000 ? 3 : 5;

	memcpy(p, " [00000", 8);
	fr_digits_dec(p + 2 + width - fr_digits_cnt(cpu), cpu);
	memcpy(p + 2 + width, "] ", 2);
	return p + 2 + width + 2;
}

/* Where a line is to be `width` further than p; blanks up to there, when len are used. */
static char *put_blanks(char *p, size_t len, size_t width)
{
	memset(p + len, ' ', COLS_MOST);
	return p + (len > width ? len : width);
}

/* Up to the name of the task. */
static void put_when(struct fr_text *t, struct fr_out *o, const struct fr_view *v, const struct fr_row *r)
{
	char *p = fr_out_room(o);

	p = put_paint(o, p, FR_PAINT_DIM);
	p = put_time(t, p, v, r->ts);
	p = put_cpu(p, r->cpu);
	o->len = put_paint(o, p, FR_PAINT_NONE) - o->buf;
}

static void put_comm(struct fr_out *o, struct fr_who who)
{
	char *p = fr_out_room(o);
	size_t cols = 5;

	if (who.comm && fr_is_plain(who.comm, who.len)) {
		fr_copy_short(p, who.comm, who.len);
		o->len = put_blanks(p, who.len, COMM_COLS) - o->buf;
		return;
	}
	if (who.comm)
		cols = fr_escape_text(o, who.comm, who.len);
	else
		fr_out_str(o, "<...>");
	fr_out_pad(o, cols, COMM_COLS);
}

/* The task's number and the event. */
static void put_what(struct fr_out *o, const struct fr_row *r)
{
	enum fr_paint paint = fr_text_group_paint(r->ev->group);
	char *p = fr_out_room(o);
	u32 digits = fr_digits_cnt(r->tid);

	p = put_blanks(p, 0, digits < TID_COLS ? TID_COLS - digits : 0);
	p = fr_digits_dec(p, r->tid);
	*p++ = ' ';
	if (paint)
		p = put_paint(o, p, paint);
	put_name(p, r->ev->name, r->ev->name_len);
	p = put_blanks(p, r->ev->name_len, EVENT_COLS);
	if (paint)
		p = put_paint(o, p, FR_PAINT_NONE);
	o->len = p - o->buf;
}

static void put_pos(struct fr_out *o, const struct fr_row *r)
{
	const char *tier = fr_tier_name(r->tier);
	u64 seq;
	u32 off;

	fr_row_pos(r, &seq, &off);
	fr_out_printf(o, " pos=%08x/%s/%llu/%u", r->b->epoch, tier ? tier : "?", (unsigned long long)seq, off);
}

void fr_text_row(struct fr_text *t, struct fr_out *o, const struct fr_view *v, const struct fr_row *r)
{
	u32 i;

	put_when(t, o, v, r);
	put_comm(o, fr_view_who(v, r));
	put_what(o, r);
	for (i = 0; i < r->ev->field_cnt; i++)
		put_field(t, o, v, r, &r->ev->fields[i]);
	if (v->shows_pairs)
		fr_pair_text(o, fr_view_pair(v, r));
	if (t->with_pos)
		put_pos(o, r);
	fr_out_char(o, '\n');
}
