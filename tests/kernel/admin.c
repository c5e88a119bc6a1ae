/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* admin: asks the helper of live/session/admin.h for all that it is for, and for what it must refuse; exit status 0 if that is
 * so. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "live/session/admin.h"

static int is_fd(const char *what, int got)
{
	if (got < 0)
		printf("%s: %s\n", what, strerror(-got));
	return got >= 0;
}

int main(void)
{
	struct fr_admin *a;
	int ok;

	if (fr_admin_start(&a))
		return 1;
	ok = is_fd("a CPU's event", fr_admin_open_event(a, FR_SAMPLE_CLOCK, 0, 100));
	ok &= is_fd("statistics", fr_admin_stats_on(a));
	ok &= fr_admin_open_event(a, FR_SAMPLE_CLOCK, ~0u, 100) < 0; /* no CPU */
	ok &= is_fd("a CPU's event, after a refusal", fr_admin_open_event(a, FR_SAMPLE_CLOCK, 0, 100));
	fr_admin_stop(a);
	return !ok;
}
