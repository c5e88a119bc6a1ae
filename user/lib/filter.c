/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* filter: expressions besides the handle's own. */
#include <errno.h>
#include <stdlib.h>

#include "lib/handle.h"

struct flightrec_filter {
	const struct flightrec *fr; /* whose schemas it was compiled for */
	u32 cnt;
	struct fr_filter *of[]; /* by file: each has its own schema */
};

/* What the filter asks for must be available. */
static int check_uses(struct flightrec *fr, const struct fr_filter *f, const struct fr_view *view)
{
	if (fr_filter_uses_pairs(f) && !(fr->flags & FLIGHTREC_PAIRS))
		return fr_lib_fail(fr, -EINVAL, "the filter asks what events end: set FLIGHTREC_PAIRS before opening");
	if (fr_filter_uses_cgroups(f) && !view->cgroups)
		return fr_lib_fail(fr, -EINVAL, "the filter asks for cgroups: set FLIGHTREC_CGROUPS before opening");
	return 0;
}

static int filter_compile(struct flightrec *fr, u32 file, const char *expr, struct fr_filter **out)
{
	const struct fr_view *view = fr_replay_view(fr->replay, file);
	struct fr_filter_error error;
	int err = fr_replay_filter_new(fr->replay, file, expr, out, &error);

	if (err == -EINVAL) {
		const struct fr_err_sink *was = fr_lib_enter(fr);

		fr_filter_say(expr, &error);
		fr_lib_leave(was);
		return err;
	}
	return err ? fr_lib_no_memory(fr) : check_uses(fr, *out, view);
}

int flightrec_filter_new(struct flightrec *fr, const char *expr, struct flightrec_filter **filter)
{
	struct flightrec_filter *f;
	int err = fr_lib_check_open(fr);
	u32 cnt, i;

	if (err)
		return err;
	if (!expr)
		return fr_lib_fail(fr, -EINVAL, "an expression is needed, and NULL was given");
	cnt = fr_replay_file_cnt(fr->replay);
	f = calloc(1, sizeof(*f) + cnt * sizeof(f->of[0]));
	if (!f)
		return fr_lib_no_memory(fr);
	f->fr = fr;
	f->cnt = cnt;
	for (i = 0; i < cnt && !err; i++)
		err = filter_compile(fr, i, expr, &f->of[i]);
	if (err)
		flightrec_filter_free(f);
	else
		*filter = f;
	return err;
}

void flightrec_filter_free(struct flightrec_filter *f)
{
	u32 i;

	for (i = 0; f && i < f->cnt; i++)
		fr_filter_free(f->of[i]);
	free(f);
}

bool flightrec_filter_match(const struct flightrec_filter *f, const struct flightrec_event *ev)
{
	const struct fr_replay_run *run = &ev->fr->run;

	return ev->fr == f->fr && fr_filter_match(f->of[run->file], run->view, &ev->row);
}
