/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/memopts.h"

#include <errno.h>
#include <stdio.h>

#include "base/err.h"
#include "base/text/units.h"
#include "sys/memory.h"

#define LEAST_SZ (16ULL << 20) /* below this, not even a small file can be read */
#define USUAL_SZ (64ULL << 20) /* what is taken without being asked for: a small cgroup is no reason not to read */
#define WHOLE	 100000u       /* fr_parse_percent() */

/* Messages of short memory name what it was bound to. */
static void bind_to(u64 sz)
{
	static char cure[160];
	char text[32];

	fr_memory_bind(sz);
	snprintf(cure, sizeof(cure),
		 "allow more with --memory (it is %s), read less at once (--since, --until), or free some memory",
		 fr_show_size(fr_memory_bound(), text, sizeof(text)));
	fr_err_set_memory_cure(cure);
}

void fr_memopts_begin(void)
{
	u64 sz = fr_memory_usual_bound();

	if (sz)
		bind_to(sz < USUAL_SZ ? USUAL_SZ : sz);
}

static int memopts_set(const struct fr_option *option, void *to, const char *value)
{
	u64 sz;
	u32 share;

	(void)option;
	(void)to;
	if (!fr_parse_percent(value, &share) && share <= WHOLE)
		sz = fr_memory_total() / WHOLE * share;
	else if (fr_parse_size(value, &sz))
		sz = 0;
	if (sz >= LEAST_SZ) {
		bind_to(sz);
		return 0;
	}
	fr_err("--memory: '%s' is not an amount of memory: give a size from 16M on, as 512M or 4G, or a share, as 50%%", value);
	return -EINVAL;
}

const struct fr_option fr_memopts[] = {
	FR_OPTION(0, "memory", "SIZE", "take at most so much (default: a quarter of the machine's)", memopts_set, 0,
		  .words = "256M 1G 4G 50%",
		  .more = "The section MEMORY of flightrec(1) says what counts, and what happens where it is not enough."),
	{},
};
