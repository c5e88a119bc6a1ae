/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ns: is this process in the machine's first namespaces, or in those of a container? */
#ifndef FR_NS_H
#define FR_NS_H

enum fr_ns { FR_NS_CGROUP, FR_NS_PID, FR_NS_USER };

/* 1 yes, 0 no, or -errno: it cannot be told. */
int fr_ns_is_first(enum fr_ns which);

/*
 * Open the root of another mount namespace than ours, by a process that lives in it. Returns a descriptor; or -errno:
 * -ESRCH: no such process is seen here; -ENOENT: it is ours.
 */
int fr_ns_root(unsigned mnt_ns);

#endif
