/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* name: the file names of snapshots: HOST-YYYYMMDDTHHMMSS.mmmZ-REASON[-COMM-PID].flight */
#ifndef FR_NAME_H
#define FR_NAME_H

#include <stdbool.h>
#include <stddef.h>

#include "types.h"

#define FR_NAME_SZ 192 /* the most bytes a name takes after its directory, with the slash and the NUL */

/*
 * Write the name of a snapshot taken at real_ns (CLOCK_REALTIME), in dir, to buf. HOST and COMM are reduced to letters, digits,
 * '.', '_' and '-'; nr > 0 distinguishes snapshots that would have the same name. 0 or -ENAMETOOLONG.
 */
int fr_name_snapshot(char *buf, size_t sz, const char *dir, u64 real_ns, const char *reason, const char *comm, u32 pid, u32 nr);

/* The contents of a name; enough to sort and count files without opening them. */
struct fr_name_parts {
	u64 real_ns;
	char reason[16];
	char comm[64]; /* reduced; "" none */
	u32 pid;       /* 0 none */
};

/* Parse a file's name (without directory). Is it one of a snapshot? */
bool fr_name_parse(const char *name, struct fr_name_parts *out);

#endif
