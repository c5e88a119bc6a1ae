/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * confine: once its session is loaded, a recorder drops the privileges that it no longer needs. There are two processes:
 *
 *	main	CAP_BPF CAP_PERFMON	reload the triggers' programs, make rings of CPUs that come later
 *		CAP_SYS_RESOURCE	/proc/pressure of a reload, on kernels before 6.4
 *		+ the writer's		so that a writer that died can be restarted
 *		CAP_SETUID CAP_SETGID	only with a hook (conf.hook): to become its user, and
 *		CAP_KILL		to end it when its time is over
 *		seccomp			denies what no recorder needs: mounts, modules, ptrace, clocks, swap, reboot, ...
 *	writer	CAP_SYS_PTRACE		read /proc/PID of processes of other users: exe, maps, root
 *		CAP_DAC_READ_SEARCH	likewise, and the directories of their programs
 *		CAP_SYSLOG		addresses of kernel symbols (kptr_restrict=1), the kernel log (dmesg_restrict=1)
 *		CAP_BPF			look-ups by pinned maps, TEST_RUN of pinned programs
 *		CAP_DAC_OVERRIDE	only if the directory of snapshots belongs to another user and needs it
 *		seccomp			allows what copying and writing need; bpf() without PROG_LOAD, MAP_CREATE,
 *					LINK_CREATE...; threads and forks of itself, but no execve, socket, ptrace
 *
 * A forbidden call fails with EPERM and kills nothing. Both get no new privileges, and empty bounding, inheritable and ambient
 * sets as far as the process is allowed to. If a kernel or container refuses a part, a warning says so, and the rest is done.
 *
 * The order: load or adopt the session, open links; fork the command of `record -- CMD` (which is not confined) and the helper
 * (live/session/admin.h); bind the control socket; fork the writer (it calls fr_confine_writer() once its memory is allocated
 * and its pins are open); then fr_confine_main(). fr_sess_hold_progs() comes before both: programs' counters are read by id,
 * which needs CAP_SYS_ADMIN. Only the calling thread is confined: call this while there is only one.
 */
#ifndef FR_CONFINE_H
#define FR_CONFINE_H

#include <stdbool.h>
#include <stddef.h>

#include "types.h"

struct fr_confine_conf {
	bool hook;	 /* main: commands run as another user */
	const char *dir; /* of snapshots, NULL: not checked */
};

/* What was achieved, for `status`. */
struct fr_confined {
	u64 caps;     /* remaining effective capabilities, as bits */
	bool bound;   /* the bounding set is limited to these, too */
	bool no_new;  /* PR_SET_NO_NEW_PRIVS */
	bool seccomp; /* the filter is in force */
};

/* 0, even if only a part could be done (a warning says which); -errno with a message. out may be NULL. */
int fr_confine_main(const struct fr_confine_conf *conf, struct fr_confined *out);
int fr_confine_writer(const struct fr_confine_conf *conf, struct fr_confined *out);

/* Whether the calling process has this capability, CAP_.... */
bool fr_may(unsigned int cap);

#endif
