/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/say.h"

#include "base/err.h"
#include "base/text/units.h"
#include "lib/flightrec.h"
#include "types.h"

void fr_cmd_say(void *arg, int level, const char *text)
{
	(void)arg;
	if (level == FLIGHTREC_LOG_ERROR)
		fr_err_lines("%s", text); /* the library has escaped it */
	else
		fr_warn_lines("%s", text);
}

/* Damage is reported as such. */
int fr_cmd_warn_gaps(struct flightrec *fr)
{
	uint64_t cnt;
	int err = flightrec_gap_cnt(fr, &cnt);

	if (!err && cnt)
		fr_warn("events of CPUs are missing in %llu place%s: --gaps shows where and why", (unsigned long long)cnt,
			fr_plural(cnt));
	return err;
}
