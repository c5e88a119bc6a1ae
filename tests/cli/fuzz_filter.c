/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* libFuzzer target: any text as a filter and as a time. What compiles is evaluated; errors have to point into the text. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/filter/filter.h"
#include "base/text/when.h"
#include "base/trigger/watch_set.h"
#include "unit/make_batch.h"

static const char *const events[] = {"sched_switch",	   "sys_enter",	 "sys_exit",	"signal_deliver",
				     "sched_process_exec", "cpu_sample", "softirq_exit"};
#define EVENT_CNT (sizeof(events) / sizeof(events[0]))

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz);

static const struct fr_view *make_world(struct make_batch *m)
{
	static const char procs[] = "{\"pid\":3,\"cgroup\":\"/a.slice/b\"}\n";
	static struct fr_pair pair[EVENT_CNT];
	static struct fr_view view;
	struct fr_cgroups *cgroups;
	struct fr_task task = {.tgid = 3, .cgroup = 7, .comm = "nginx"};
	u32 i;

	if (view.names)
		return &view;
	mb_init(m, fr_schema_builtin(), 2, FR_TIER_MAIN);
	for (i = 0; i < EVENT_CNT; i++)
		mb_row(m, 1000 * i, i, events[i]);
	for (i = 0; i < EVENT_CNT; i++)
		pair[i] = (struct fr_pair){.latency_ns = 1000 * i, .offcpu_ns = 2000, .waker = i};
	cgroups = fr_cgroups_new();
	fr_cgroups_add_task(cgroups, 3, 0, &task);
	fr_cgroups_add_procs(cgroups, procs, sizeof(procs) - 1);
	view = (struct fr_view){
		.schema = fr_schema_builtin(),
		.names = fr_names_new(),
		.stacks = fr_stacks_new(),
		.cgroups = cgroups,
		.arch = "x86_64",
		.pair = pair,
	};
	fr_names_add_task(view.names, 3, 0, &task);
	fr_names_ready(view.names);
	return &view;
}

static bool try_filter(const char *expr, size_t sz)
{
	static struct make_batch m;
	const struct fr_view *view = make_world(&m);
	struct fr_filter_error error;
	struct fr_filter *f;
	char place[256];
	u32 i;

	if (fr_filter_new(expr, view->schema, view->arch, &f, &error)) {
		if (error.at > sz || !error.text[0])
			abort();
		if (strlen(fr_filter_point(expr, error.at, "  ", place, sizeof(place))) >= sizeof(place))
			abort();
		return false;
	}
	for (i = 0; i < EVENT_CNT; i++) {
		struct fr_row r = mb_at(&m, i);

		fr_filter_match(f, view, &r);
	}
	fr_filter_free(f);
	return true;
}

/* The program that BPF would run: it is refused, or compiled. */
static void try_watch(const char *expr)
{
	struct fr_filter_error error = {0};

	if (fr_watch_check(expr, "x86_64", &error) == -EINVAL && (error.at > strlen(expr) || !error.text[0]))
		abort();
}

static void try_when(const char *text)
{
	struct fr_wall wall = {.cnt = 1, .sample = {{.ts = 5, .real_ns = 5000000000}}};
	struct fr_when w, until;
	s64 ts;

	if (!fr_when_parse(text, &w)) {
		fr_when_know_trigger(&w, 50);
		fr_when_resolve(&w, 5, 500, &wall, &ts);
	}
	if (!fr_when_parse_window(text, &w, &until))
		fr_when_resolve(&until, 5, 500, &wall, &ts);
}

/* A copy of exactly its size, so that a read beyond its end is found. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz)
{
	char *text = malloc(sz + 1);

	memcpy(text, data, sz);
	text[sz] = 0;
	if (try_filter(text, strlen(text)))
		try_watch(text);
	try_when(text);
	free(text);
	return 0;
}
