/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* live_kinds: shared by live_kinds.c, which describes what is shown of a session, and live_text.c, which has what is written by
 * hand. */
#ifndef FR_LIVE_KINDS_H
#define FR_LIVE_KINDS_H

#include "base/show/table.h"
#include "live/recorder/live.h"

/* One ring, or all of a tier. */
struct fr_live_row {
	s32 cpu; /* -1: all */
	u32 tier;
	u32 slot_cnt, subbuf_sz; /* of one ring */
	u64 sz, used_sz;
	u64 written, present, overwritten;
	u64 lost[FR_LOST_CNT];
	u64 lost_cnt; /* for any reason */
};
struct fr_live_row fr_live_row(const struct fr_live_ring *r);

extern const struct fr_table fr_live_kind_ring; /* struct fr_live_row */
extern const struct fr_table fr_live_kind_rule; /* struct fr_trigger_slot */
extern const struct fr_table fr_live_kind;	/* struct fr_live: all of it */

/* Lines and cells that are written by hand. */
void fr_live_put_problems(struct fr_out *o, const struct fr_at *at);
void fr_live_put_history(struct fr_out *o, const struct fr_at *at);
void fr_live_put_rates(struct fr_out *o, const struct fr_at *at);
void fr_live_put_cost(struct fr_out *o, const struct fr_at *at);
void fr_live_put_lost(struct fr_out *o, const struct fr_at *at);
void fr_live_put_waits(struct fr_out *o, const struct fr_at *at);
void fr_live_put_incidents(struct fr_out *o, const struct fr_at *at);
void fr_live_put_profile(struct fr_out *o, const struct fr_at *at);
void fr_live_put_governor(struct fr_out *o, const struct fr_at *at);
void fr_live_put_quota(struct fr_out *o, const struct fr_at *at);
void fr_live_put_waiting(struct fr_out *o, const struct fr_at *at);
void fr_live_put_bar(struct fr_out *o, const struct fr_at *at);
void fr_live_put_rule(struct fr_out *o, const struct fr_at *at);

#endif
