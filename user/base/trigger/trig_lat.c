/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/trigger/trig_lat.h"

#include <string.h>

#include "rule.h"

static void lat_add_call(const struct fr_trigger *rule, struct fr_trig_lat *out)
{
	if (rule->call_nr < 0)
		out->call_all = true;
	else if (rule->call_nr < (s32)FR_SYSCALL_MAX)
		out->call_set[rule->call_nr / 64] |= 1ULL << rule->call_nr % 64;
}

static void lat_add_latency(const struct fr_trigger *rule, struct fr_trig_lat *out)
{
	u64 *min = &out->min_ns[rule->latency];

	if (rule->limit_ns < *min)
		*min = rule->limit_ns;
	if (rule->latency == FR_LATENCY_syscall)
		lat_add_call(rule, out);
	if (rule->latency == FR_LATENCY_block)
		out->request_cnt = FR_TRIG_REQUEST_CNT;
	else if (rule->latency == FR_LATENCY_span)
		out->span_cnt = FR_MARKSPAN_MAX;
	else if (rule->latency <= FR_LATENCY_syscall)
		out->task_cnt = FR_TRIG_TASK_CNT;
}

static void lat_add_look(const struct fr_trigger *rule, u64 *min_ns, struct fr_trig_lat *out)
{
	if (rule->limit_ns < *min_ns)
		*min_ns = rule->limit_ns;
	out->look_cnt = FR_TRIG_TASK_CNT;
}

void fr_trig_lat(const struct fr_trigger *rules, u32 cnt, struct fr_trig_lat *out)
{
	u32 i;

	memset(out, 0, sizeof(*out));
	memset(out->min_ns, 0xff, sizeof(out->min_ns));
	out->hung_min_ns = out->asleep_min_ns = out->busy_min_ns = ~0ULL;
	out->task_cnt = out->request_cnt = out->look_cnt = out->span_cnt = 1;
	for (i = 0; i < cnt; i++) {
		if (rules[i].kind == FR_TRIGGER_latency && rules[i].latency < FR_LATENCY_CNT)
			lat_add_latency(&rules[i], out);
		if (rules[i].kind == FR_TRIGGER_hung && rules[i].limit_ns < out->hung_min_ns)
			out->hung_min_ns = rules[i].limit_ns;
		if (rules[i].kind == FR_TRIGGER_hung)
			out->task_cnt = FR_TRIG_TASK_CNT;
		if (rules[i].kind == FR_TRIGGER_asleep)
			lat_add_look(&rules[i], &out->asleep_min_ns, out);
		if (rules[i].kind == FR_TRIGGER_busy)
			lat_add_look(&rules[i], &out->busy_min_ns, out);
	}
}
