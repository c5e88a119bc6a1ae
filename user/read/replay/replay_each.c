/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* replay_each: calls a function for all events of a replay, one by one. */
#include "read/replay/replay.h"

bool fr_replay_match(const struct fr_replay_run *run, u32 i, struct fr_row *r)
{
	enum fr_verdict verdict = run->filter ? fr_filter_verdict(run->filter, run->b->ev[i]) : FR_VERDICT_YES;

	if (verdict == FR_VERDICT_NO)
		return false;
	*r = fr_batch_row(run->b, i);
	return verdict == FR_VERDICT_YES || fr_filter_match(run->filter, run->view, r);
}

int fr_replay_each(struct fr_replay *r, fr_replay_row_fn fn, void *arg)
{
	struct fr_replay_run run;
	struct fr_row row;
	int got, err = 0;
	u32 i;

	while (!err && (got = fr_replay_next(r, &run)) != 0) {
		err = got < 0 ? got : 0;
		for (i = run.from; !err && i < run.to; i++) {
			if (fr_replay_match(&run, i, &row))
				err = fn(arg, &run, &row);
		}
	}
	return err;
}
