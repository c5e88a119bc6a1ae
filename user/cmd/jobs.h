/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * jobs: the number of threads that read a file, for all commands that read complete files. Such a command puts FR_JOBS_TABLE
 * into its option table and FR_JOBS_HELP into its help, and passes what getopt returned to fr_jobs_parse() first.
 */
#ifndef FR_JOBS_H
#define FR_JOBS_H

#include <getopt.h>

#include "types.h"

enum { FR_JOBS_OPT = 0x4a00 };

/* clang-format off */
#define FR_JOBS_TABLE {"jobs", required_argument, NULL, FR_JOBS_OPT}
/* clang-format on */

#define FR_JOBS_HELP "      --jobs N       threads that read the file; 1: one (default 0: by the CPUs)\n"

#define FR_JOBS_MOST 256u

/*
 * 0: it was this, and *jobs is what struct fr_replay_opts takes, def for 0; 1: it is another's; -EINVAL: wrong, and reported.
 * Uses optarg.
 */
int fr_jobs_parse(int opt, u32 def, u32 *jobs);

#endif
