/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/schema/reasons.h"

#include "layout.h"
#include "tp.h"

#define NAME(nr, name, doc) [nr] = #name,

const char *fr_lost_name(u32 reason)
{
	static const char *const names[FR_LOST_CNT] = {FR_LOSTS(NAME)};

	return reason < FR_LOST_CNT ? names[reason] : NULL;
}

const char *fr_filtered_name(u32 reason)
{
	static const char *const names[FR_FILTERED_CNT] = {FR_FILTEREDS(NAME)};

	return reason < FR_FILTERED_CNT ? names[reason] : NULL;
}

const char *fr_tp_why_name(u32 why)
{
	static const char *const names[FR_TP_WHY_CNT] = {
#define W(name, doc) [FR_TP_##name] = #name,
		FR_TP_WHYS(W)
#undef W
	};

	return why < FR_TP_WHY_CNT ? names[why] : NULL;
}
