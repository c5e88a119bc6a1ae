/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* replay_on: `replay --on TRIGGER...`: where rules would have triggered, and what the recorder would have decided. */
#ifndef FR_REPLAY_ON_H
#define FR_REPLAY_ON_H

#include "base/trigger/trigger.h"
#include "read/replay/replay.h"

struct fr_replay_on {
	const char *text[FR_TRIGGER_MAX]; /* as given */
	u32 cnt;
	bool json;
	bool totals; /* only these, without the moments */
	double speed;
};

/* Add a rule's text. 0, or -EINVAL, reported: too many. */
int fr_replay_on_add(struct fr_replay_on *on, const char *text);

/* An exit status: 1 also if a rule could not be evaluated from these files, or would be refused live. */
int fr_replay_on_run(const struct fr_replay_on *on, const struct fr_replay_opts *opts, const char *const *path, u32 cnt);

extern const struct fr_table fr_replay_on_kind; /* its JSON: a struct fr_one */

#endif
