/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * confine: a recorder gives up what it does not need any more, once its session is loaded. Two processes, two amounts:
 *
 *	main	CAP_BPF CAP_PERFMON	load the programs of triggers anew on reload, rings of CPUs that come
 *		CAP_SYS_RESOURCE	/proc/pressure of a reload, on kernels before 6.4
 *		+ the writer's		so that a writer that died can be made again
 *		CAP_SETUID CAP_SETGID	only with a hook (conf.hook): to become its user, and
 *		CAP_KILL		to end it when its time is over
 *		seccomp			everything but what no recorder needs: mounts, modules, ptrace, clocks, swap, reboot,
 *... writer	CAP_SYS_PTRACE		read /proc/PID of processes of other users: exe, maps, root
 *		CAP_DAC_READ_SEARCH	likewise, and the directories of their programs
 *		CAP_SYSLOG		addresses of kernel symbols where kptr_restrict=1
 *		CAP_BPF			look-ups by pinned maps, TEST_RUN of pinned programs
 *		CAP_DAC_OVERRIDE	only if the directory of snapshots cannot be written without: it belongs to another user
 *		seccomp			a list of what copying and writing need; bpf() without PROG_LOAD, MAP_CREATE,
 *LINK_CREATE...; no execve, socket, ptrace, fork
 *
 * What is not permitted fails with EPERM and kills nobody. Both: no new privileges, empty bounding, inheritable and ambient
 * sets as far as the process may. Where a kernel or container refuses a part, a warning says so, and the rest is done.
 *
 * The order: session loaded or adopted, links opened; the command of `record -- CMD` forked (it is not to be confined), the
 * helper (io/session/admin.h) forked; control socket bound; writer forked (it calls fr_confine_writer() when its own memory is
 *taken and pins are open); then fr_confine_main(). fr_sess_hold_progs() before both: programs' counts are read by their ids,
 *which needs CAP_SYS_ADMIN. Only the calling thread is confined: call it while there is one.
 */
#ifndef FR_CONFINE_H
#define FR_CONFINE_H

#include <stdbool.h>
#include <stddef.h>

#include "types.h"

struct fr_confine_conf {
	bool hook;	 /* main: commands are run as another user */
	const char *dir; /* of snapshots, NULL: not asked */
};

/* What was achieved, for `status`. */
struct fr_confined {
	u64 caps;     /* bits of capabilities that are left, effective */
	bool bound;   /* the bounding set is what is left, too */
	bool no_new;  /* PR_SET_NO_NEW_PRIVS */
	bool seccomp; /* the filter is in force */
};

/* 0, also where only a part could be done (a warning says which); -errno with a message. out may be NULL. */
int fr_confine_main(const struct fr_confine_conf *conf, struct fr_confined *out);
int fr_confine_writer(const struct fr_confine_conf *conf, struct fr_confined *out);

/* "cap_bpf cap_perfmon", in buf, which is returned. */
const char *fr_confine_caps_text(u64 caps, char *buf, size_t sz);

#endif
