/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* print: events as text or JSON; `flightrec replay` prints through this. */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/text/units.h"
#include "lib/handle.h"
#include "show/format/format_gap.h"
#include "show/format/format_json.h"
#include "show/format/format_kmsg.h"
#include "show/format/format_text.h"

#define PRINT_FLAGS                                                                                           \
	(FLIGHTREC_PRINT_POS | FLIGHTREC_PRINT_SYMBOLS | FLIGHTREC_PRINT_NO_SYMBOLS | FLIGHTREC_PRINT_COLOR | \
	 FLIGHTREC_PRINT_WORDS | FLIGHTREC_PRINT_WALL)

struct flightrec_printer {
	struct flightrec *fr;
	enum flightrec_format format;
	bool has_stacks; /* in words */
	bool taken;	 /* what is in memory was taken */
	struct fr_text text;
	struct fr_json **json; /* by file */
	struct fr_out out;
};

/* ---- text in memory ---- */

void fr_lib_text_begin(struct fr_out *o)
{
	if (o->mem || o->error)
		free(fr_out_take_mem(o, NULL));
	fr_out_init_mem(o);
}

const char *fr_lib_text(struct fr_out *o, size_t *sz)
{
	if (o->mem_sz) {
		fr_out_flush(o);
		if (o->error)
			return NULL;
		if (sz)
			*sz = o->mem_sz;
		return o->mem;
	}
	*fr_out_room(o) = 0;
	if (o->mem_sz) /* there was no room before; now there is */
		return fr_lib_text(o, sz);
	if (sz)
		*sz = o->len;
	return o->buf;
}

/* ---- making ---- */

static bool on_different_days(const struct fr_replay *r)
{
	u64 begin_ns, end_ns;
	struct tm a, b;
	time_t t;

	fr_replay_span(r, &begin_ns, &end_ns);
	t = (time_t)(begin_ns / FR_SEC_NS);
	localtime_r(&t, &a);
	t = (time_t)(end_ns / FR_SEC_NS);
	localtime_r(&t, &b);
	return a.tm_yday != b.tm_yday || a.tm_year != b.tm_year;
}

/* The stack in words, for printers. Messages go to the handle. */
static const char *const *stack_texts(void *arg, const struct fr_row *r, const struct fr_field *f, u32 *cnt)
{
	struct flightrec *fr = arg;
	const struct fr_err_sink *was = fr_lib_enter(fr);
	struct fr_frames *frames = fr_lib_frames(fr);
	const char *const *text = NULL;

	*cnt = 0;
	if (frames) {
		struct fr_stacktexts t = fr_frames_texts(frames);

		text = t.of(t.arg, r, f, cnt);
	}
	if (!frames || fr_frames_error(frames))
		fr->stacks_err = -ENOMEM;
	fr_lib_leave(was);
	return text;
}

static bool make_json(struct flightrec_printer *p, unsigned flags, const struct fr_stacktexts *stacks)
{
	u32 cnt = fr_replay_file_cnt(p->fr->replay), i;

	p->json = calloc(cnt, sizeof(*p->json));
	for (i = 0; p->json && i < cnt; i++) {
		p->json[i] = fr_json_new(fr_replay_schema(p->fr->replay, i), flags & FLIGHTREC_PRINT_POS);
		if (!p->json[i])
			return false;
		fr_json_words(p->json[i], flags & FLIGHTREC_PRINT_WORDS, flags & FLIGHTREC_PRINT_WALL);
		if (p->has_stacks)
			fr_json_stacks(p->json[i], *stacks);
	}
	return p->json;
}

static int print_make(struct flightrec_printer *p, unsigned flags, int fd)
{
	const struct fr_stacktexts stacks = {.of = stack_texts, .arg = p->fr};
	bool pos = flags & FLIGHTREC_PRINT_POS;

	if (fd < 0)
		fr_out_init_mem(&p->out);
	else
		fr_out_init_fd(&p->out, fd, flags & FLIGHTREC_PRINT_COLOR);
	if (p->format == FLIGHTREC_FORMAT_JSON) {
		p->has_stacks = flags & FLIGHTREC_PRINT_SYMBOLS;
		return make_json(p, flags, &stacks) ? 0 : -ENOMEM;
	}
	p->has_stacks = !(flags & FLIGHTREC_PRINT_NO_SYMBOLS);
	fr_text_init(&p->text, on_different_days(p->fr->replay), pos);
	if (p->has_stacks)
		p->text.stacks = stacks;
	return 0;
}

int flightrec_printer_new(struct flightrec *fr, enum flightrec_format format, unsigned flags, int fd,
			  struct flightrec_printer **printer)
{
	int err = fr_lib_check_open(fr);
	struct flightrec_printer *p;

	if (err)
		return err;
	if (format > FLIGHTREC_FORMAT_JSON || flags & ~PRINT_FLAGS)
		return fr_lib_fail(fr, -EINVAL, "this version of the library knows no such format or flags");
	p = calloc(1, sizeof(*p));
	if (!p)
		return fr_lib_no_memory(fr);
	p->fr = fr;
	p->format = format;
	if (print_make(p, flags, fd)) {
		flightrec_printer_free(p);
		return fr_lib_no_memory(fr);
	}
	*printer = p;
	return 0;
}

void flightrec_printer_free(struct flightrec_printer *p)
{
	u32 i;

	if (!p)
		return;
	for (i = 0; p->json && i < fr_replay_file_cnt(p->fr->replay); i++)
		fr_json_free(p->json[i]);
	free(p->json);
	if (p->out.is_mem)
		free(fr_out_take_mem(&p->out, NULL));
	free(p);
}

/* ---- printing ---- */

static void print_begin(struct flightrec_printer *p)
{
	fr_lib_text_begin(&p->out);
	p->taken = false;
}

int flightrec_print(struct flightrec_printer *p, const struct flightrec_event *ev)
{
	const struct fr_replay_run *run = &ev->fr->run;

	if (ev->fr != p->fr) /* its schemas are not those of the printer */
		return -EINVAL;
	if (p->taken)
		print_begin(p);
	if (p->format == FLIGHTREC_FORMAT_JSON)
		fr_json_row(p->json[run->file], &p->out, run->view, &ev->row);
	else
		fr_text_row(&p->text, &p->out, run->view, &ev->row);
	return fr_out_error(&p->out) ?: p->has_stacks ? p->fr->stacks_err : 0;
}

/* A gap without a beginning is shown at its end; one without either is the whole window. */
static u64 print_place_of(const struct flightrec_gap *gap)
{
	u64 begin_ns, end_ns;

	fr_replay_file_window(gap->fr->replay, gap->file, &begin_ns, &end_ns);
	return flightrec_gap_since_ns(gap) ?: flightrec_gap_until_ns(gap) ?: begin_ns;
}

static void print_put_gap(struct flightrec_printer *p, const struct flightrec_gap *gap)
{
	struct fr_gap_line line = {
		.cpu = gap->gap.cpu,
		.since_ns = flightrec_gap_since_ns(gap),
		.until_ns = flightrec_gap_until_ns(gap),
		.why = fr_gap_word(gap->gap.why),
	};

	if (p->format == FLIGHTREC_FORMAT_JSON) {
		fr_gap_line_json(&p->out, &line);
		return;
	}
	line.at_ns = print_place_of(gap);
	line.why = fr_gap_text(gap->gap.why);
	fr_gap_line_text(&p->text, &p->out, fr_replay_view(p->fr->replay, gap->file), &line);
}

int flightrec_print_gap(struct flightrec_printer *p, const struct flightrec_gap *gap)
{
	if (gap->fr != p->fr)
		return -EINVAL;
	if (p->taken)
		print_begin(p);
	print_put_gap(p, gap);
	return fr_out_error(&p->out);
}

int flightrec_print_kmsg(struct flightrec_printer *p, const struct flightrec_kmsg *kmsg)
{
	const struct fr_klogs_item *i = kmsg->item;

	if (kmsg->fr != p->fr)
		return -EINVAL;
	if (p->taken)
		print_begin(p);
	if (p->format == FLIGHTREC_FORMAT_JSON)
		fr_kmsg_line_json(&p->out, i->line);
	else
		fr_kmsg_line_text(&p->text, &p->out, fr_replay_view(p->fr->replay, i->file), i->line);
	return fr_out_error(&p->out);
}

int flightrec_printer_flush(struct flightrec_printer *p)
{
	return p->out.is_mem ? fr_out_error(&p->out) : fr_out_flush(&p->out);
}

const char *flightrec_printer_take(struct flightrec_printer *p, size_t *sz)
{
	if (!p->out.is_mem)
		return NULL;
	if (p->taken)
		print_begin(p);
	p->taken = true;
	return fr_lib_text(&p->out, sz);
}

/* Print one event by a printer of the handle's own, created when needed. */
static const char *render(const struct flightrec_event *ev, enum flightrec_format format, struct flightrec_printer **p,
			  size_t *sz)
{
	char *end;
	const char *text;
	size_t len;

	if (!*p && flightrec_printer_new(ev->fr, format, 0, -1, p))
		return NULL;
	print_begin(*p);
	if (flightrec_print(*p, ev))
		return NULL;
	text = fr_lib_text(&(*p)->out, &len);
	if (!text || !len)
		return text;
	end = (char *)text + len - 1; /* the newline; the printer owns the memory */
	*end = 0;
	if (sz)
		*sz = len - 1;
	return text;
}

const char *flightrec_event_text(const struct flightrec_event *ev, size_t *sz)
{
	return render(ev, FLIGHTREC_FORMAT_TEXT, &ev->fr->text, sz);
}

const char *flightrec_event_json(const struct flightrec_event *ev, size_t *sz)
{
	return render(ev, FLIGHTREC_FORMAT_JSON, &ev->fr->json, sz);
}
