/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* check: is a snapshot consistent? Decodes everything, and compares what the file says twice. */
#ifndef FR_CHECK_H
#define FR_CHECK_H

#include "read/snapfile/snapfile.h"

struct fr_check {
	u64 event_cnt; /* decoded, without stacks */
	u64 stack_cnt;
	size_t chunk_cnt;
	char **finding;
	size_t finding_cnt;
};

/* 0 and *c (fr_check_free()), or -ENOMEM, -errno; *c must be zero before. */
int fr_check_snap(struct fr_snap *s, struct fr_check *c);
void fr_check_free(struct fr_check *c);

#endif
