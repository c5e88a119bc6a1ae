/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pure/format_text.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "pure/escape.h"
#include "pure/format_pair.h"

#define SEC_NS	   1000000000ULL
#define COMM_COLS  15
#define EVENT_COLS 18
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

/* ---- time ---- */

static void put_digits(struct fr_out *o, u64 v, u32 cnt)
{
	char *p = fr_out_room(o);
	u32 i;

	for (i = cnt; i--; v /= 10)
		p[i] = '0' + v % 10;
	o->len += cnt;
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
	fr_out_char(o, '.');
	put_digits(o, real_ns % SEC_NS, 9);
}

static void put_time(struct fr_text *t, struct fr_out *o, const struct fr_view *v, u64 ts)
{
	u64 ns = fr_wall_real(v->wall, ts);

	fr_out_paint(o, FR_PAINT_DIM);
	if (!ns) {
		ns = ts;
		fr_out_u64(o, ns / SEC_NS);
	} else if (ns / SEC_NS != t->sec) {
		t->sec = ns / SEC_NS;
		clock_of(t->sec, t->with_date ? "%Y-%m-%d %H:%M:%S" : "%H:%M:%S", t->clock, sizeof(t->clock));
		fr_out_str(o, t->clock);
	} else {
		fr_out_str(o, t->clock);
	}
	fr_out_char(o, '.');
	put_digits(o, ns % SEC_NS, 9);
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
	if (!len || memchr(s, ' ', len) || memchr(s, '"', len) || memchr(s, '=', len))
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
		fr_out_char(o, '.');
		put_digits(o, v->num % SEC_NS, 9);
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

static void put_nums(struct fr_out *o, const struct fr_field *f, const struct fr_val *v)
{
	bool hex = f->style == FR_STYLE_HEX || f->kind == FR_KIND_DERIVED;
	size_t i;

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

static void put_field(struct fr_text *t, struct fr_out *o, const struct fr_view *view, const struct fr_row *r,
		      const struct fr_field *f)
{
	struct fr_val v = fr_view_field(view, r, f);

	if (!is_worth_a_word(f, &v))
		return;
	fr_out_char(o, ' ');
	fr_out_paint(o, FR_PAINT_DIM);
	fr_escape_text(o, f->name, strlen(f->name));
	fr_out_char(o, '=');
	fr_out_paint(o, FR_PAINT_NONE);
	put_value(t, o, view, r, f, &v);
}

/* ---- lines ---- */

static void put_cpu(struct fr_out *o, u16 cpu)
{
	fr_out_str(o, " [");
	put_digits(o, cpu, cpu < 1000 ? 3 : 5);
	fr_out_str(o, "] ");
	fr_out_paint(o, FR_PAINT_NONE);
}

static void put_who(struct fr_out *o, struct fr_who who, u32 tid)
{
	size_t cols = 5, digits = 1;
	u32 rest = tid;

	if (who.comm)
		cols = fr_escape_text(o, who.comm, who.len);
	else
		fr_out_str(o, "<...>");
	while (rest /= 10)
		digits++;
	fr_out_pad(o, cols, COMM_COLS);
	fr_out_pad(o, digits, 8);
	fr_out_u64(o, tid);
	fr_out_char(o, ' ');
}

static void put_event(struct fr_out *o, const struct fr_event *ev)
{
	enum fr_paint p = fr_text_group_paint(ev->group);

	if (p)
		fr_out_paint(o, p);
	fr_out_pad(o, fr_escape_text(o, ev->name, strlen(ev->name)), EVENT_COLS);
	if (p)
		fr_out_paint(o, FR_PAINT_NONE);
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

	put_time(t, o, v, r->ts);
	put_cpu(o, r->cpu);
	put_who(o, fr_view_who(v, r), r->tid);
	put_event(o, r->ev);
	for (i = 0; i < r->ev->field_cnt; i++)
		put_field(t, o, v, r, &r->ev->fields[i]);
	if (v->shows_pairs)
		fr_pair_text(o, fr_view_pair(v, r));
	if (t->with_pos)
		put_pos(o, r);
	fr_out_char(o, '\n');
}
