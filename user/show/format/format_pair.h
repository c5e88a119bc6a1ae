/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* format_pair: what a row ends, as replay --pairs adds it: each known value with its name. Pure. */
#ifndef FR_FORMAT_PAIR_H
#define FR_FORMAT_PAIR_H

#include "base/rows/pair.h"
#include "base/text/out.h"

/* ,"latency_ns":1200,"waker":7 */
void fr_pair_json(struct fr_out *o, const struct fr_pair *p);

/*  latency=1.2us waker=7 */
void fr_pair_text(struct fr_out *o, const struct fr_pair *p);

#endif
