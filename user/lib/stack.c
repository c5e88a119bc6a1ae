/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* stack: frames of an event's stack in words. */
#include <errno.h>

#include "base/rows/stacktexts.h"
#include "lib/handle.h"

struct fr_frames *fr_lib_frames(struct flightrec *fr)
{
	if (fr->frames)
		return fr->frames;
	fr->frames = fr_frames_new(fr->replay, &fr->symbols);
	if (fr->frames)
		fr_frames_at(fr->frames, &fr->run); /* start at the current run, whichever it is */
	return fr->frames;
}

int flightrec_value_stack(const struct flightrec_event *ev, int field, const struct flightrec_stack **stack)
{
	const struct fr_field *f = fr_lib_field(ev, field);
	struct flightrec *fr = ev->fr;
	const struct fr_err_sink *was;
	struct flightrec_stack *s = &fr->stack;

	if (!f || !fr_is_stack(f))
		return f ? -EINVAL : -ENOENT;
	if (fr_view_field(fr->run.view, &ev->row, f).kind != FR_VAL_NUMS)
		return -ENODATA;
	if (!fr_lib_frames(fr))
		return fr_lib_no_memory(fr);
	was = fr_lib_enter(fr);
	s->cnt = 0;
	s->frame = fr_frames_of(fr->frames, &ev->row, f, &s->cnt);
	fr_lib_leave(was);
	if (fr_frames_error(fr->frames))
		return fr_lib_no_memory(fr);
	if (!s->frame)
		s->cnt = 0;
	*stack = s;
	return 0;
}

unsigned flightrec_warn_symbols(struct flightrec *fr)
{
	const struct fr_err_sink *was;
	u32 cnt;

	if (!fr || !fr->frames)
		return 0;
	was = fr_lib_enter(fr);
	cnt = fr_frames_say_missing(fr->frames);
	fr_lib_leave(was);
	return cnt;
}

/* ---- frames ---- */

static const struct fr_frame *stack_frame_of(const struct flightrec_stack *s, unsigned nr)
{
	static const struct fr_frame none;

	return nr < s->cnt ? &s->frame[nr] : &none;
}

unsigned flightrec_stack_cnt(const struct flightrec_stack *s)
{
	return s->cnt;
}

uint64_t flightrec_frame_ip(const struct flightrec_stack *s, unsigned nr)
{
	return stack_frame_of(s, nr)->ip;
}

const char *flightrec_frame_text(const struct flightrec_stack *s, unsigned nr)
{
	struct flightrec_stack *to = (struct flightrec_stack *)s; /* the handle's, which is not const */
	const struct fr_frame *f = stack_frame_of(s, nr);

	fr_frame_text(&f->sym, f->ip, to->text);
	return to->text;
}

const char *flightrec_frame_function(const struct flightrec_stack *s, unsigned nr)
{
	return stack_frame_of(s, nr)->sym.name;
}

uint64_t flightrec_frame_offset(const struct flightrec_stack *s, unsigned nr)
{
	return stack_frame_of(s, nr)->sym.off;
}

const char *flightrec_frame_module(const struct flightrec_stack *s, unsigned nr)
{
	return stack_frame_of(s, nr)->sym.module;
}

uint64_t flightrec_frame_module_offset(const struct flightrec_stack *s, unsigned nr)
{
	return stack_frame_of(s, nr)->sym.module_off;
}

const char *flightrec_frame_source(const struct flightrec_stack *s, unsigned nr, unsigned *line)
{
	const struct fr_symbol *y = &stack_frame_of(s, nr)->sym;

	if (y->file && line)
		*line = y->line;
	return y->file;
}

bool flightrec_frame_is_inlined(const struct flightrec_stack *s, unsigned nr)
{
	return stack_frame_of(s, nr)->sym.inlined;
}

const char *flightrec_frame_missing(const struct flightrec_stack *s, unsigned nr)
{
	return stack_frame_of(s, nr)->sym.missing;
}
