/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* schema: kinds of events and their fields. */
#include <errno.h>

#include "base/rows/stacktexts.h"
#include "lib/handle.h"

static const struct fr_schema *schema_of(const struct flightrec *fr, unsigned file)
{
	if (!fr)
		return fr_schema_builtin();
	return fr_lib_has_file(fr, file) ? fr_replay_schema(fr->replay, file) : NULL;
}

static const struct fr_event *schema_type_of(const struct flightrec_type *t)
{
	return (const struct fr_event *)t;
}

static const struct fr_field *schema_field_of(const struct flightrec_field *f)
{
	return (const struct fr_field *)f;
}

const struct flightrec_type *flightrec_type_next(const struct flightrec *fr, unsigned file, const struct flightrec_type *after)
{
	const struct fr_schema *s = schema_of(fr, file);
	u32 nr = after ? schema_type_of(after)->nr + 1u : 0;

	for (; s && nr < FR_EVENT_MAX; nr++) {
		if (fr_schema_event(s, nr))
			return (const struct flightrec_type *)fr_schema_event(s, nr);
	}
	return NULL;
}

const struct flightrec_type *flightrec_type_named(const struct flightrec *fr, unsigned file, const char *name)
{
	const struct fr_schema *s = schema_of(fr, file);

	return s && name ? (const struct flightrec_type *)fr_schema_find(s, name) : NULL;
}

unsigned flightrec_type_nr(const struct flightrec_type *t)
{
	return schema_type_of(t)->nr;
}

const char *flightrec_type_name(const struct flightrec_type *t)
{
	return schema_type_of(t)->name;
}

const char *flightrec_type_doc(const struct flightrec_type *t)
{
	return schema_type_of(t)->doc;
}

const char *flightrec_type_group(const struct flightrec_type *t)
{
	return fr_group_name(schema_type_of(t)->group);
}

const char *flightrec_type_tier(const struct flightrec_type *t)
{
	return fr_tier_name(schema_type_of(t)->tier);
}

unsigned flightrec_type_field_cnt(const struct flightrec_type *t)
{
	return schema_type_of(t)->field_cnt;
}

unsigned flightrec_type_bytes(const struct flightrec_type *t)
{
	return schema_type_of(t)->fixed_sz;
}

int flightrec_type_find(const struct flightrec_type *t, const char *name)
{
	const struct fr_field *f = name ? fr_event_field(schema_type_of(t), name) : NULL;

	return f ? (int)(f - schema_type_of(t)->fields) : -ENOENT;
}

const struct flightrec_field *flightrec_type_field(const struct flightrec_type *t, int field)
{
	bool is = field >= 0 && (u32)field < schema_type_of(t)->field_cnt;

	return is ? (const struct flightrec_field *)&schema_type_of(t)->fields[field] : NULL;
}

const char *flightrec_field_name(const struct flightrec_field *f)
{
	return schema_field_of(f)->name;
}

const char *flightrec_field_doc(const struct flightrec_field *f)
{
	return schema_field_of(f)->doc;
}

const char *flightrec_field_type(const struct flightrec_field *f)
{
	return fr_type_name(schema_field_of(f)->type);
}

const char *flightrec_field_style(const struct flightrec_field *f)
{
	return fr_style_name(schema_field_of(f)->style);
}

bool flightrec_field_is_derived(const struct flightrec_field *f)
{
	return schema_field_of(f)->kind == FR_KIND_DERIVED;
}

const char *flightrec_field_from(const struct flightrec_field *f)
{
	return flightrec_field_is_derived(f) ? schema_field_of(f)->from : NULL;
}

bool flightrec_field_is_stack(const struct flightrec_field *f)
{
	return fr_is_stack(schema_field_of(f));
}
