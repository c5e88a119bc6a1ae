/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* value: the fields of an event. */
#include <errno.h>

#include "lib/handle.h"
#include "show/format/format_text.h"

/* The value of a field that must be of this kind. Returns 0, or an error as in the header. */
static int value_of(const struct flightrec_event *ev, int field, enum fr_val_kind kind, struct fr_val *v)
{
	const struct fr_field *f = fr_lib_field(ev, field);

	if (!f)
		return -ENOENT;
	if (fr_field_kind(f) != kind)
		return -EINVAL;
	*v = fr_view_field(ev->fr->run.view, &ev->row, f);
	return v->kind == kind ? 0 : -ENODATA;
}

static enum flightrec_kind value_kind_of(const struct fr_field *f, enum fr_val_kind kind)
{
	switch (kind) {
	case FR_VAL_NUM:
		return fr_field_signed(f) ? FLIGHTREC_S64 : FLIGHTREC_U64;
	case FR_VAL_TEXT:
		return FLIGHTREC_TEXT;
	case FR_VAL_NUMS:
		return FLIGHTREC_ARRAY;
	default:
		return FLIGHTREC_NONE;
	}
}

enum flightrec_kind flightrec_field_kind(const struct flightrec_field *field)
{
	const struct fr_field *f = (const struct fr_field *)field;

	return value_kind_of(f, fr_field_kind(f));
}

enum flightrec_kind flightrec_value_kind(const struct flightrec_event *ev, int field)
{
	const struct fr_field *f = fr_lib_field(ev, field);

	return f ? value_kind_of(f, fr_view_field(ev->fr->run.view, &ev->row, f).kind) : FLIGHTREC_NONE;
}

int flightrec_value_u64(const struct flightrec_event *ev, int field, uint64_t *v)
{
	struct fr_val val;
	int err = value_of(ev, field, FR_VAL_NUM, &val);

	if (err)
		return err;
	if (val.is_signed && (s64)val.num < 0)
		return -ERANGE;
	*v = val.num;
	return 0;
}

int flightrec_value_s64(const struct flightrec_event *ev, int field, int64_t *v)
{
	struct fr_val val;
	int err = value_of(ev, field, FR_VAL_NUM, &val);

	if (err)
		return err;
	if (!val.is_signed && (s64)val.num < 0)
		return -ERANGE;
	*v = (s64)val.num;
	return 0;
}

int flightrec_value_text(const struct flightrec_event *ev, int field, const char **text, size_t *sz)
{
	struct fr_val val;
	int err = value_of(ev, field, FR_VAL_TEXT, &val);

	if (err)
		return err;
	*text = val.text;
	*sz = val.len;
	return 0;
}

int flightrec_value_array(const struct flightrec_event *ev, int field, const uint64_t **v, size_t *cnt)
{
	struct fr_val val;
	int err = value_of(ev, field, FR_VAL_NUMS, &val);

	if (err)
		return err;
	*v = (const uint64_t *)val.nums;
	*cnt = val.len;
	return 0;
}

const char *flightrec_value_words(const struct flightrec_event *ev, int field)
{
	const struct fr_field *f = fr_lib_field(ev, field);
	struct fr_out *o = &ev->fr->words;

	if (!f)
		return NULL;
	fr_lib_text_begin(o);
	fr_text_value(&ev->fr->words_text, o, ev->fr->run.view, &ev->row, f);
	return fr_lib_text(o, NULL);
}

/* ---- by name ---- */

static int value_find(const struct flightrec_event *ev, const char *name)
{
	return flightrec_type_find(flightrec_event_type(ev), name);
}

int flightrec_get_u64(const struct flightrec_event *ev, const char *name, uint64_t *v)
{
	return flightrec_value_u64(ev, value_find(ev, name), v);
}

int flightrec_get_s64(const struct flightrec_event *ev, const char *name, int64_t *v)
{
	return flightrec_value_s64(ev, value_find(ev, name), v);
}

int flightrec_get_text(const struct flightrec_event *ev, const char *name, const char **text, size_t *sz)
{
	return flightrec_value_text(ev, value_find(ev, name), text, sz);
}

int flightrec_get_array(const struct flightrec_event *ev, const char *name, const uint64_t **v, size_t *cnt)
{
	return flightrec_value_array(ev, value_find(ev, name), v, cnt);
}

const char *flightrec_get_words(const struct flightrec_event *ev, const char *name)
{
	return flightrec_value_words(ev, value_find(ev, name));
}
