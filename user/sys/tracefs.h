/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* tracefs: the tracepoints of the running kernel, and their formats. */
#ifndef FR_TRACEFS_H
#define FR_TRACEFS_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#define FR_TRACEFS "/sys/kernel/tracing"
#define FR_TRACEFS_MOUNT \
	"as root, `mount -t tracefs nodev " FR_TRACEFS "`; a container is given the host's (-v " FR_TRACEFS ":" FR_TRACEFS ")"

/* What helps against an error of the following. */
static inline const char *fr_tracefs_cure(int err)
{
	return err == -EACCES || err == -EPERM ? "run as root" : FR_TRACEFS_MOUNT;
}

/* Where it is mounted, or how it is reached without (CAP_SYS_ADMIN); -ENOENT: nowhere; -EACCES: this process may not look. */
int fr_tracefs_root(const char **root);

/* A tracepoint that can be recorded; other events of tracefs (function, print) are the tracer's own. */
struct fr_tracefs_event {
	char *system, *name;
};

/* All of them, by system and name. 0 and *out (free with fr_tracefs_free()), or -errno. */
int fr_tracefs_list(struct fr_tracefs_event **out, size_t *cnt);
void fr_tracefs_free(struct fr_tracefs_event *list, size_t cnt);

/* The format of one: malloc'ed, *sz bytes, and a NUL. 0 or -errno. */
int fr_tracefs_format(const struct fr_tracefs_event *ev, char **text, size_t *sz);

#endif
