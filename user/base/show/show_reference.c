/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdio.h>

#include "base/show/table.h"

#define KINDS_MAX 128u

/* Kinds that have to be described, in the order in which they are named. */
struct kinds {
	const struct fr_table *kind[KINDS_MAX];
	u32 cnt;
};

static void reference_add(struct kinds *k, const struct fr_table *kind)
{
	u32 i;

	for (i = 0; i < k->cnt; i++)
		if (k->kind[i] == kind)
			return;
	if (k->cnt < KINDS_MAX)
		k->kind[k->cnt++] = kind;
}

static void reference_form(struct fr_out *o, const struct fr_column *c)
{
	static const char *const words[] = {
#define U(name, words) [FR_UNIT_##name] = words,
		FR_UNITS(U)
#undef U
	};

	fr_out_str(o, c->unit == FR_UNIT_MAP && c->from == FR_FROM_REAL ? "number" : words[c->unit]);
	if (c->unit == FR_UNIT_LIST && !c->kind)
		fr_out_str(o, c->from == FR_FROM_TEXT ? " texts" : " numbers");
	if (!c->kind)
		return;
	if (c->unit == FR_UNIT_LIST)
		fr_out_char(o, ' ');
	fr_out_printf(o, "[%s](#%s)", c->kind->name, c->kind->name);
}

static void reference_row(struct fr_out *o, const struct fr_column *c)
{
	if (c->unit == FR_UNIT_MAP)
		fr_out_printf(o, "| `%s%sNAME` | ", c->name ?: "", c->name ? "." : "");
	else if (c->name)
		fr_out_printf(o, "| `%s` | ", c->name);
	else
		fr_out_str(o, "| | ");
	reference_form(o, c);
	fr_out_printf(o, " | %s |\n", c->meaning ?: "");
}

static void reference_kind(struct fr_out *o, const struct fr_table *kind, struct kinds *k)
{
	const struct fr_column *c;

	fr_out_printf(o, "### %s\n\n%s\n\n| key | form | meaning |\n|---|---|---|\n", kind->name, kind->meaning);
	for (c = kind->column; c->unit; c++) {
		if (!c->name && !c->kind && !c->key)
			continue; /* in text alone */
		reference_row(o, c);
		if (c->kind)
			reference_add(k, c->kind);
	}
}

static void paths_put(struct fr_out *o, const struct fr_table *kind, const char *prefix);

/* A part or a list itself, if it has a name, and what is in it. */
static void paths_inner(struct fr_out *o, const struct fr_column *c, const char *prefix)
{
	const char *meaning = c->meaning ?: c->kind ? c->kind->meaning : "", *brackets = c->unit == FR_UNIT_LIST ? "[]" : "";
	char path[128];

	if (!c->name) {
		paths_put(o, c->kind, prefix);
		return;
	}
	if (!c->kind) {
		fr_out_printf(o, "| `%s%s[]` | %s | %s |\n", prefix, c->name, c->from == FR_FROM_TEXT ? "texts" : "numbers",
			      meaning);
		return;
	}
	fr_out_printf(o, "| `%s%s%s` | | %s |\n", prefix, c->name, brackets, meaning);
	snprintf(path, sizeof(path), "%s%s%s.", prefix, c->name, brackets);
	paths_put(o, c->kind, path);
}

static void paths_put(struct fr_out *o, const struct fr_table *kind, const char *prefix)
{
	const struct fr_column *c;

	for (c = kind->column; c->unit; c++) {
		if (c->unit == FR_UNIT_PART || c->unit == FR_UNIT_LIST) {
			paths_inner(o, c, prefix);
		} else if (c->unit == FR_UNIT_MAP) {
			fr_out_printf(o, "| `%s%s%sNAME` | ", prefix, c->name ?: "", c->name ? "." : "");
			reference_form(o, c);
			fr_out_printf(o, " | %s |\n", c->meaning);
		} else if (c->name) {
			fr_out_printf(o, "| `%s%s` | ", prefix, c->name);
			reference_form(o, c);
			fr_out_printf(o, " | %s |\n", c->meaning);
		}
	}
}

void fr_table_paths(struct fr_out *o, const struct fr_table *kind)
{
	fr_out_str(o, "| key | form | meaning |\n|---|---|---|\n");
	paths_put(o, kind, "");
}

void fr_table_reference(struct fr_out *o, const struct fr_table *kind)
{
	struct kinds k = {};
	u32 i;

	reference_add(&k, kind);
	for (i = 0; i < k.cnt; i++) {
		fr_out_str(o, i ? "\n" : "");
		reference_kind(o, k.kind[i], &k);
	}
}
