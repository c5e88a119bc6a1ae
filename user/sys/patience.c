/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sys/patience.h"

#include <stdlib.h>

#include "base/text/units.h"

#define PERCENT_MOST 1000

static u32 patience_percent(void)
{
	const char *text = secure_getenv("FLIGHTREC_PATIENCE");
	int percent = text ? atoi(text) : 100;

	return percent > 0 && percent <= PERCENT_MOST ? percent : 100;
}

u64 fr_patience_ns(u64 ns)
{
	return ns / 100 * patience_percent();
}

u32 fr_patience_ms(u32 ms)
{
	return fr_patience_ns(ms * FR_MSEC_NS) / FR_MSEC_NS;
}
