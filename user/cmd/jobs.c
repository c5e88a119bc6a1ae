/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/jobs.h"

#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "read/replay/replay.h"

#define JOBS_MOST 256u

/* at: what 0 means. */
static int jobs_set(const struct fr_option *option, void *to, const char *value)
{
	unsigned long n;
	char *end;

	errno = 0;
	n = strtoul(value, &end, 10);
	if (errno || *value < '0' || *value > '9' || *end || n > JOBS_MOST) {
		fr_err("--jobs: '%s' is not a number of threads: give 1 to %u, or 0 for one per CPU", value, JOBS_MOST);
		return -EINVAL;
	}
	*(u32 *)to = n ? n : option->at;
	return 0;
}

/* clang-format off */
#define JOBS(zero, more_) \
	FR_OPTION(0, "jobs", "N", "threads that read the file; 1: one (default 0: by the CPUs)", jobs_set, zero, \
		  .words = "1 2 4", .more = "At most 256. The output is the same. " more_)
/* clang-format on */

const struct fr_option fr_jobs_auto[] = {
	JOBS(FR_REPLAY_JOBS_AUTO,
	     "By default, or with 0, there are as many as the CPUs that the process may run on, 4 at most, and one "
	     "for a file of less than 100,000 events."),
	{},
};

const struct fr_option fr_jobs_few[] = {
	JOBS(FR_REPLAY_JOBS_FEW, "By default, or with 0, there are 2, or 1 with one CPU."),
	{},
};
