/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* load: loads BPF programs and maps and pins them as a session. The only user of the skeleton. */
#ifndef FR_LOAD_H
#define FR_LOAD_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/profile/sample_event.h"
#include "live/session/tpchoice.h"
#include "session.h"
#include "wait.h"

struct bpf_object;

#define FR_LOAD_TASK_CNT 32768u /* entries of the task table, unless there is a reason for others */

/* What to load. Everything but names is copied. */
struct fr_load_conf {
	const char *dir; /* bpffs directory to pin in: exists and is empty */
	struct fr_geometry geo[FR_TIER_CNT];
	u64 grain_ns; /* FR_CLOCK_LOCAL: no shared word */
	u32 epoch;
	u32 sample_hz;
	u64 wait_min_ns; /* waits at least this long are recorded; 0: none */
	u64 thin_ns;  /* the main tier is to hold so much, and cgroups that write more than their share are thinned; 0: never */
	u32 task_cnt; /* entries of the task table */
	u32 incident_cnt; /* records of the incident log, a power of two */
	bool enable[FR_EVENT_MAX];
	const struct fr_tpchoice *tp; /* tracepoints, whose events are enabled too; NULL: none */
	const u32 *pid;		      /* record-time filters of system calls and faults; none: all tasks */
	u32 pid_cnt;
	struct fr_comm_filter comm[FR_COMM_FILTER_MAX];
	u32 comm_cnt;
	struct fr_cgroup_filter cgroup[FR_CGROUP_FILTER_MAX];
	u32 cgroup_cnt;
	bool profile;	 /* also count samples: live/session/hits.h */
	bool filter_all; /* apply these filters to all events */
};

struct fr_load_result {
	bool missing[FR_EVENT_MAX]; /* requested, but not available in this kernel */
	enum fr_sample_event sample_event;
	u32 cpu_cnt;		     /* rings made */
	u64 fixed_sz;		     /* bytes of maps beside the rings */
	char incidents_missing[128]; /* tracepoints of the incident log that this kernel lacks */
	char rare_missing[2048];     /* tracepoints of rare.def that this kernel lacks, or may not be attached; "all" */
	char states_missing[128];    /* why snapshots will not have the states of tasks; empty: they will */
};

/*
 * Load, make a ring for each online CPU and tier, attach, pin everything in conf->dir, list the living tasks, then enable all
 * events at one moment. 0 and *res; -ENOTSUP: this kernel cannot do it, or may not for us, which will be no different the next
 * time; or -errno. With a message that names the cure. The caller then removes what had been pinned.
 */
int fr_load_session(const struct fr_load_conf *conf, struct fr_load_result *res);

/* Number of possible CPUs: per-CPU tables have this many entries. */
u32 fr_load_possible_cnt(void);

/* Bytes of maps beside the rings, for this many CPUs. */
u64 fr_load_fixed_sz(const struct fr_load_conf *conf, u32 cpu_cnt);

/* Are there descriptors for the programs and maps to be loaded? 0; -EMFILE, with a message. whose: "triggers' ", or "". */
int fr_load_check_fds(const struct bpf_object *obj, const char *whose);

/*
 * Programs could not be loaded: say so. less: how to load fewer of them. Returns err, or -ENOTSUP if it will be no different
 * the next time.
 */
int fr_load_refused(int err, const char *whose, const char *less);

/* May it be otherwise the next time? Anything else is what this kernel, and who may use it, is like. */
bool fr_load_is_passing(int err);

/* Send libbpf's messages to standard error, or nowhere. */
void fr_load_words(bool verbose);

/* Number of arguments of each system call, native and 32-bit; six where unknown. */
void fr_load_arg_counts(u8 cnt[2][FR_SYSCALL_MAX]);

/* Calls that may wait and whose first argument is a descriptor: adds their bits to a set by ABI and number. */
void fr_load_fd_calls(u64 set[2][FR_FD_CALL_WORDS]);

#endif
