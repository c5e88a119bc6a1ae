/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/jobs.h"

#include <errno.h>
#include <stdlib.h>

#include "pure/err.h"

int fr_jobs_parse(int opt, u32 def, u32 *jobs)
{
	unsigned long n;
	char *end;

	if (opt != FR_JOBS_OPT)
		return 1;
	errno = 0;
	n = strtoul(optarg, &end, 10);
	if (errno || *optarg < '0' || *optarg > '9' || *end || n > FR_JOBS_MOST) {
		fr_err("--jobs: '%s' is not a number of threads: give 1 to %u, or 0 for one per CPU", optarg, FR_JOBS_MOST);
		return -EINVAL;
	}
	*jobs = n ? n : def;
	return 0;
}
