/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * counter: the host's counters that a snapshot has, and how the files that tell them are read: one table. Pure.
 *
 *	FILE		an entry of FR_COUNTER_FILES: path, form
 *	counter		an entry of the table: name, kind, unit, meaning, and its key in one file or, for what cgroups of v1
 *			call otherwise, in a second one
 *
 * A count only rises, while the machine (the cgroup, the disk) is the same; a gauge is how much there is. What a file does not
 * have, or has beyond 64 bits, is not recorded: never 0. Each file is untrusted text.
 */
#ifndef FR_COUNTER_H
#define FR_COUNTER_H

#include <stdbool.h>
#include <stddef.h>

#include "types.h"

/*
 * Files: name, form, path. Those of cgroups are below the cgroup's directory; `tree` says in which hierarchy.
 * The network's are those of process 1's namespace: a confined recorder has an empty one of its own.
 */
#define FR_COUNTER_FILES(X)                                          \
	X(psi_cpu, PSI, HOST, "/proc/pressure/cpu")                  \
	X(psi_memory, PSI, HOST, "/proc/pressure/memory")            \
	X(psi_io, PSI, HOST, "/proc/pressure/io")                    \
	X(loadavg, LOAD, HOST, "/proc/loadavg")                      \
	X(stat, STAT, HOST, "/proc/stat")                            \
	X(vmstat, KEYED, HOST, "/proc/vmstat")                       \
	X(meminfo, KEYED, HOST, "/proc/meminfo")                     \
	X(netstat, PAIRS, HOST, "/proc/1/net/netstat")               \
	X(snmp, PAIRS, HOST, "/proc/1/net/snmp")                     \
	X(sockstat, WORDS, HOST, "/proc/1/net/sockstat")             \
	X(diskstats, DISKS, HOST, "/proc/diskstats")                 \
	X(v2_cpu, KEYED, V2, "cpu.stat")                             \
	X(v2_cpu_max, QUOTA, V2, "cpu.max")                          \
	X(v2_memory, NUMBER, V2, "memory.current")                   \
	X(v2_memory_max, NUMBER, V2, "memory.max")                   \
	X(v2_memory_high, NUMBER, V2, "memory.high")                 \
	X(v2_memory_events, KEYED, V2, "memory.events")              \
	X(v2_pids_events, KEYED, V2, "pids.events")                  \
	X(v2_psi_cpu, PSI, V2, "cpu.pressure")                       \
	X(v2_psi_memory, PSI, V2, "memory.pressure")                 \
	X(v2_psi_io, PSI, V2, "io.pressure")                         \
	X(v1_usage, NUMBER, V1_CPUACCT, "cpuacct.usage")             \
	X(v1_cpu, KEYED, V1_CPU, "cpu.stat")                         \
	X(v1_quota, NUMBER, V1_CPU, "cpu.cfs_quota_us")              \
	X(v1_period, NUMBER, V1_CPU, "cpu.cfs_period_us")            \
	X(v1_memory, NUMBER, V1_MEMORY, "memory.usage_in_bytes")     \
	X(v1_memory_max, NUMBER, V1_MEMORY, "memory.limit_in_bytes") \
	X(v1_memory_failcnt, NUMBER, V1_MEMORY, "memory.failcnt")    \
	X(v1_memory_oom, KEYED, V1_MEMORY, "memory.oom_control")     \
	X(v1_pids_events, KEYED, V1_PIDS, "pids.events")

/* Where a file is: the host's, or of a cgroup in the hierarchy of v2, or in that of a controller of v1. */
enum fr_counter_tree {
	FR_COUNTER_HOST,
	FR_COUNTER_V2,
	FR_COUNTER_V1_CPU,
	FR_COUNTER_V1_CPUACCT,
	FR_COUNTER_V1_MEMORY,
	FR_COUNTER_V1_PIDS,
	FR_COUNTER_TREE_CNT
};

enum fr_counter_file {
	FR_COUNTER_none, /* whoever reads counts it */
#define X(name, form, tree, path) FR_COUNTER_##name,
	FR_COUNTER_FILES(X)
#undef X
		FR_COUNTER_FILE_CNT
};

enum fr_counter_kind { FR_COUNTER_COUNT, FR_COUNTER_GAUGE };
enum fr_counter_unit { FR_COUNTER_NUMBER, FR_COUNTER_US, FR_COUNTER_BYTES, FR_COUNTER_PAGES, FR_COUNTER_HUNDREDTHS };

/* Where a counter is found. */
struct fr_counter_source {
	enum fr_counter_file file;
	const char *key; /* NUMBER: unused */
	u32 mul, div;	 /* to the counter's unit; 0: 1. mul FR_COUNTER_TICKS: of USER_HZ */
};
#define FR_COUNTER_TICKS ~0u

struct fr_counter {
	const char *name; /* "FILE.KEY", as snapshots have it */
	enum fr_counter_kind kind;
	bool trouble; /* a count of what should not be, or of what programs wait for, rather than of work done */
	enum fr_counter_unit unit;
	const char *meaning;
	struct fr_counter_source from[2];
};

extern const struct fr_counter fr_counters_all[];
extern const u32 fr_counters_all_cnt;

/* The counter of that name, NULL: a later version's. */
const struct fr_counter *fr_counter_find(const char *name);

const char *fr_counter_path(enum fr_counter_file file);
enum fr_counter_tree fr_counter_tree(enum fr_counter_file file);
const char *fr_counter_kind_name(u32 kind);		     /* "count", "gauge" */
const char *fr_counter_unit_name(enum fr_counter_unit unit); /* "number", "us", "bytes", "pages", "hundredths" */

/*
 * Read a file's text: fn() gets each counter that it has, in the counter's unit. object: a disk's name, of len bytes; "" of
 * other files. ticks_hz: USER_HZ.
 */
typedef void (*fr_counter_fn)(void *arg, const struct fr_counter *c, const char *object, size_t len, u64 value);
void fr_counter_parse(enum fr_counter_file file, const char *text, size_t sz, u32 ticks_hz, fr_counter_fn fn, void *arg);

#endif
