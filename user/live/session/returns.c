/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/session/returns.h"

#include <stdio.h>
#include <string.h>

#define SRSO "/sys/devices/system/cpu/vulnerabilities/spec_rstack_overflow"

bool fr_returns_are_slow_with(const char *srso)
{
	return strstr(srso, "Safe RET") != NULL; /* there is also "Vulnerable: Microcode, no safe RET" */
}

bool fr_returns_are_slow(void)
{
	FILE *f = fopen(SRSO, "re");
	char srso[128] = "";
	bool slow;

	slow = f && fgets(srso, sizeof(srso), f) && fr_returns_are_slow_with(srso);
	if (f)
		fclose(f);
#ifdef FR_RETURNS_OTHERWISE
	slow = !slow; /* for tests: as on another machine */
#endif
	return slow;
}
