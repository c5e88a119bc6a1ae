/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* libFuzzer target: any text as a filter and as a time. What compiles is evaluated; what does not points into the text. */
#include <stdlib.h>
#include <string.h>

#include "pure/filter.h"
#include "pure/when.h"
#include "unit/make_batch.h"

static const char *const events[] = {"sched_switch", "sys_enter", "signal_deliver", "sched_process_exec", "cpu_sample"};
#define EVENT_CNT (sizeof(events) / sizeof(events[0]))

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz);

static const struct fr_view *make_world(struct make_batch *m)
{
	static struct fr_view view;
	u32 i;

	if (view.names)
		return &view;
	mb_init(m, fr_schema_builtin(), 2, FR_TIER_MAIN);
	for (i = 0; i < EVENT_CNT; i++)
		mb_row(m, 1000 * i, i, events[i]);
	view = (struct fr_view){
		.schema = fr_schema_builtin(), .names = fr_names_new(), .stacks = fr_stacks_new(), .arch = "x86_64"};
	fr_names_ready(view.names);
	return &view;
}

static void try_filter(const char *expr, size_t sz)
{
	static struct make_batch m;
	const struct fr_view *view = make_world(&m);
	struct fr_filter_error error;
	struct fr_filter *f;
	u32 i;

	if (fr_filter_new(expr, view->schema, view->arch, &f, &error)) {
		if (error.at > sz || !error.text[0])
			abort();
		return;
	}
	for (i = 0; i < EVENT_CNT; i++) {
		struct fr_row r = mb_at(&m, i);

		fr_filter_match(f, view, &r);
	}
	fr_filter_free(f);
}

static void try_when(const char *text)
{
	struct fr_wall wall = {.cnt = 1, .sample = {{.ts = 5, .real_ns = 5000000000}}};
	struct fr_when w;
	s64 ts;

	if (!fr_when_parse(text, &w))
		fr_when_resolve(&w, 5, 500, &wall, &ts);
}

/* A copy of exactly its size, so that a byte read behind it is seen. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz)
{
	char *text = malloc(sz + 1);

	memcpy(text, data, sz);
	text[sz] = 0;
	try_filter(text, strlen(text));
	try_when(text);
	free(text);
	return 0;
}
