/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* trig_rule: a rule as the programs of bpf/trigger/ need it. */
#ifndef FR_TRIG_RULE_H
#define FR_TRIG_RULE_H

#include "alert.h"
#include "base/trigger/trigger.h"

/* Fill in *out. Filters that BPF cannot evaluate are left out: it reports those moments too, and user space decides. */
void fr_trig_rule(const struct fr_trigger *t, struct fr_trigger_rule *out);

#endif
