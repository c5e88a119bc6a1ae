/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * jobs: the number of threads that read a file, for all commands that read complete files: tables over the u32 that struct
 * fr_replay_opts takes. With --jobs 0 it is FR_REPLAY_JOBS_AUTO, or _FEW, to which the command also initialises it.
 */
#ifndef FR_JOBS_H
#define FR_JOBS_H

#include "cmd/options.h"

extern const struct fr_option fr_jobs_auto[], fr_jobs_few[];

#endif
