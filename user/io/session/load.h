/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* load: BPF programs and maps into the kernel, pinned as a session. The one user of the skeleton. */
#ifndef FR_LOAD_H
#define FR_LOAD_H

#include <stdbool.h>
#include <sys/types.h>

#include "pure/profile/sample_event.h"
#include "session.h"

/* What to load. Everything but names is copied. */
struct fr_load_conf {
	const char *dir; /* bpffs directory to pin in: exists, and is empty */
	struct fr_geometry geo[FR_TIER_CNT];
	u64 grain_ns; /* FR_CLOCK_LOCAL: no shared word */
	u32 epoch;
	u32 sample_hz;
	u32 task_cnt;	  /* entries of the task table */
	u32 incident_cnt; /* records of the incident log, a power of two */
	bool enable[FR_EVENT_MAX];
	const u32 *pid; /* record-time filters of system calls and faults; none: all tasks */
	u32 pid_cnt;
	struct fr_comm_filter comm[FR_COMM_FILTER_MAX];
	u32 comm_cnt;
	struct fr_cgroup_filter cgroup[FR_CGROUP_FILTER_MAX];
	u32 cgroup_cnt;
	bool profile;	 /* count samples too: io/ring/hits.h */
	bool filter_all; /* apply them to all events */
	bool verbose;	 /* libbpf's words to standard error */
};

struct fr_load_result {
	bool missing[FR_EVENT_MAX]; /* asked for, and not to be had in this kernel */
	enum fr_sample_event sample_event;
	u32 cpu_cnt;		     /* rings made */
	bool plain;		     /* programs write without locked instructions */
	u64 fixed_sz;		     /* bytes of maps beside the rings */
	char incidents_missing[128]; /* tracepoints of the incident log that this kernel does not have */
};

/*
 * Load, make a ring for each online CPU and tier, attach, pin everything in conf->dir, list who lives, then enable all
 * events at one moment. Returns 0 and *res; or -errno, with a message that names the cure; what it had pinned is the
 * caller's to remove then.
 */
int fr_load_session(const struct fr_load_conf *conf, struct fr_load_result *res);

/* CPUs there may be: what has a place for each is made for so many. */
u32 fr_load_possible_cnt(void);

/* Bytes of maps beside the rings, for so many CPUs. */
u64 fr_load_fixed_sz(const struct fr_load_conf *conf, u32 cpu_cnt);

/* libbpf's words go to standard error, or nowhere. */
void fr_load_words(bool verbose);

/* How many arguments each system call takes, native and 32-bit: six where it is not known. */
void fr_load_arg_counts(u8 cnt[2][FR_SYSCALL_MAX]);

#endif
