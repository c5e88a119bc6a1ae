/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* counter: the table. How its files are read: counter_parse.c. */
#include "base/counter/counter.h"

#include <string.h>

#include "base/counter/counter_int.h"

/* kind and trouble */
#define KIND_CNT   FR_COUNTER_COUNT, false
#define KIND_BAD   FR_COUNTER_COUNT, true
#define KIND_GAUGE FR_COUNTER_GAUGE, false
#define SECTOR_SZ  512

/* One in a file; one that v1 has elsewhere; both with a factor. */
#define ONE(name, kind, unit, file, key, meaning)              \
	{                                                      \
		name, KIND_##kind, FR_COUNTER_##unit, meaning, \
		{                                              \
			{                                      \
				FR_COUNTER_##file, key, 1, 1   \
			}                                      \
		}                                              \
	}
#define SCALED(name, kind, unit, file, key, mul, meaning)      \
	{                                                      \
		name, KIND_##kind, FR_COUNTER_##unit, meaning, \
		{                                              \
			{                                      \
				FR_COUNTER_##file, key, mul, 1 \
			}                                      \
		}                                              \
	}
#define TWO(name, kind, unit, file, key, file1, key1, div1, meaning) \
	{                                                            \
		name, KIND_##kind, FR_COUNTER_##unit, meaning,       \
		{                                                    \
			{FR_COUNTER_##file, key, 1, 1},              \
			{                                            \
				FR_COUNTER_##file1, key1, 1, div1    \
			}                                            \
		}                                                    \
	}

#define STALL(name, file, key, what) ONE(name, BAD, US, file, key, what)
#define VM(key, kind, unit, meaning) ONE("vmstat." key, kind, unit, vmstat, key, meaning)
#define CPU_TIME(key, meaning)	     SCALED("stat." key, CNT, US, stat, key, FR_COUNTER_TICKS, meaning)
#define NET(key, meaning)	     ONE("netstat." key, BAD, NUMBER, netstat, key, meaning)
#define SNMP(key, kind, meaning)     ONE("snmp." key, kind, NUMBER, snmp, key, meaning)

const struct fr_counter fr_counters_all[] = {
	/* pressure: what PSI adds up */
	STALL("pressure.cpu.some", psi_cpu, "some", "some task waited for a CPU"),
	STALL("pressure.memory.some", psi_memory, "some", "some task waited for memory"),
	STALL("pressure.memory.full", psi_memory, "full", "all tasks that were not idle waited for memory"),
	STALL("pressure.io.some", psi_io, "some", "some task waited for I/O"),
	STALL("pressure.io.full", psi_io, "full", "all tasks that were not idle waited for I/O"),
	/* load */
	ONE("load.1m", GAUGE, HUNDREDTHS, loadavg, "1m", "tasks that run, wait for a CPU or are in D, mean of a minute"),
	ONE("load.5m", GAUGE, HUNDREDTHS, loadavg, "5m", "the same of 5 minutes"),
	ONE("load.15m", GAUGE, HUNDREDTHS, loadavg, "15m", "the same of 15 minutes"),
	ONE("load.tasks", GAUGE, NUMBER, loadavg, "tasks", "tasks there are"),
	/* CPUs */
	CPU_TIME("user", "time of all CPUs in user code"),
	CPU_TIME("nice", "time in user code of nice tasks"),
	CPU_TIME("system", "time in the kernel"),
	CPU_TIME("idle", "time without a task"),
	CPU_TIME("iowait", "time without a task while one waited for I/O"),
	CPU_TIME("irq", "time in interrupts"),
	CPU_TIME("softirq", "time in softirqs"),
	CPU_TIME("steal", "time that the hypervisor gave to others"),
	ONE("stat.ctxt", CNT, NUMBER, stat, "ctxt", "context switches"),
	ONE("stat.processes", CNT, NUMBER, stat, "processes", "tasks made"),
	ONE("stat.procs_running", GAUGE, NUMBER, stat, "procs_running", "tasks that run or wait for a CPU"),
	ONE("stat.procs_blocked", GAUGE, NUMBER, stat, "procs_blocked", "tasks that wait for I/O"),
	/* memory */
	SCALED("meminfo.MemAvailable", GAUGE, BYTES, meminfo, "MemAvailable", 1024, "memory that can be had without swapping"),
	SCALED("meminfo.MemFree", GAUGE, BYTES, meminfo, "MemFree", 1024, "memory that nobody uses"),
	SCALED("meminfo.SwapFree", GAUGE, BYTES, meminfo, "SwapFree", 1024, "swap that nobody uses"),
	SCALED("meminfo.Dirty", GAUGE, BYTES, meminfo, "Dirty", 1024, "written to files, and not yet to disk"),
	SCALED("meminfo.Writeback", GAUGE, BYTES, meminfo, "Writeback", 1024, "being written to disk"),
	SCALED("meminfo.Slab", GAUGE, BYTES, meminfo, "Slab", 1024, "the kernel's own objects"),
	VM("pgfault", CNT, NUMBER, "page faults"),
	VM("pgmajfault", BAD, NUMBER, "page faults that waited for a disk"),
	SCALED("vmstat.pgpgin", CNT, BYTES, vmstat, "pgpgin", 1024, "read from block devices"),
	SCALED("vmstat.pgpgout", CNT, BYTES, vmstat, "pgpgout", 1024, "written to block devices"),
	VM("pswpin", BAD, PAGES, "read from swap"),
	VM("pswpout", BAD, PAGES, "written to swap"),
	VM("pgscan_kswapd", BAD, PAGES, "looked at by kswapd, to free some"),
	VM("pgscan_direct", BAD, PAGES, "looked at by tasks that needed memory"),
	VM("pgsteal_kswapd", BAD, PAGES, "freed by kswapd"),
	VM("pgsteal_direct", BAD, PAGES, "freed by tasks that needed memory"),
	VM("allocstall_dma32", BAD, NUMBER, "tasks had to free memory themselves: zone DMA32"),
	VM("allocstall_normal", BAD, NUMBER, "the same, zone Normal"),
	VM("allocstall_movable", BAD, NUMBER, "the same, zone Movable"),
	VM("workingset_refault_anon", BAD, PAGES, "swapped out and soon needed again"),
	VM("workingset_refault_file", BAD, PAGES, "of files, dropped and soon needed again: the cache is too small"),
	VM("compact_stall", BAD, NUMBER, "tasks had to move memory together themselves"),
	VM("compact_fail", BAD, NUMBER, "in vain"),
	VM("thp_fault_fallback", BAD, NUMBER, "no huge page for a fault"),
	VM("numa_pages_migrated", CNT, PAGES, "moved to another node of memory"),
	VM("oom_kill", BAD, NUMBER, "processes killed for lack of memory, of a cgroup or of the host"),
	VM("nr_throttled_written", BAD, PAGES, "written back by tasks that were throttled"),
	VM("drop_pagecache", BAD, NUMBER, "somebody dropped the cache of files"),
	/* network, of process 1's namespace; names as nstat prints them */
	NET("TcpExtListenOverflows", "connections dropped: the queue of accept() was full"),
	NET("TcpExtListenDrops", "connections dropped by listening sockets, those included"),
	NET("TcpExtTCPReqQFullDrop", "SYNs dropped: the queue of half-open connections was full"),
	NET("TcpExtTCPReqQFullDoCookies", "SYNs answered by cookies: that queue was full"),
	NET("TcpExtSyncookiesSent", "SYN cookies sent"),
	NET("TcpExtTCPTimeouts", "retransmission timeouts"),
	NET("TcpExtTCPLostRetransmit", "retransmitted segments that were lost again"),
	NET("TcpExtTCPFastRetrans", "segments retransmitted without a timeout"),
	NET("TcpExtTCPSynRetrans", "SYNs retransmitted: the other side did not answer"),
	NET("TcpExtTCPSpuriousRtos", "timeouts that had no need"),
	NET("TcpExtTCPAbortOnTimeout", "connections given up: no answer"),
	NET("TcpExtTCPAbortOnMemory", "connections given up: no memory for sockets"),
	NET("TcpExtTCPAbortOnData", "connections closed by a reset, data was unread"),
	NET("TcpExtTCPMemoryPressures", "times that memory of sockets got short"),
	NET("TcpExtPruneCalled", "receive queues tidied up for lack of room"),
	NET("TcpExtRcvPruned", "segments dropped from receive queues for lack of room"),
	NET("TcpExtTCPBacklogDrop", "segments dropped: the socket's owner was busy, its backlog full"),
	NET("TcpExtTCPRcvQDrop", "segments dropped: the receive queue was full"),
	NET("TcpExtTCPZeroWindowDrop", "segments dropped: the window was closed"),
	NET("TcpExtTCPToZeroWindowAdv", "windows closed: programs did not read"),
	NET("TcpExtTCPWantZeroWindowAdv", "windows that should have been closed"),
	SNMP("TcpActiveOpens", CNT, "connections begun"),
	SNMP("TcpPassiveOpens", CNT, "connections accepted"),
	SNMP("TcpAttemptFails", BAD, "connections that were not made"),
	SNMP("TcpEstabResets", BAD, "connections reset"),
	ONE("snmp.TcpCurrEstab", GAUGE, NUMBER, snmp, "TcpCurrEstab", "connections there are"),
	SNMP("TcpInSegs", CNT, "segments received"),
	SNMP("TcpOutSegs", CNT, "segments sent"),
	SNMP("TcpRetransSegs", BAD, "segments sent again"),
	SNMP("TcpInErrs", BAD, "segments received with errors"),
	SNMP("TcpOutRsts", BAD, "resets sent"),
	SNMP("UdpInDatagrams", CNT, "datagrams received"),
	SNMP("UdpNoPorts", BAD, "datagrams that nobody expected"),
	SNMP("UdpInErrors", BAD, "datagrams received and not delivered"),
	SNMP("UdpRcvbufErrors", BAD, "of these: the receive buffer was full"),
	SNMP("UdpSndbufErrors", BAD, "datagrams not sent: the send buffer was full"),
	SNMP("IpInDiscards", BAD, "packets received and dropped"),
	SNMP("IpOutDiscards", BAD, "packets to be sent and dropped"),
	SNMP("IpReasmFails", BAD, "packets that were not put together again"),
	ONE("sockstat.TCP.alloc", GAUGE, NUMBER, sockstat, "TCP alloc", "TCP sockets there are"),
	ONE("sockstat.TCP.tw", GAUGE, NUMBER, sockstat, "TCP tw", "connections in TIME_WAIT"),
	ONE("sockstat.TCP.mem", GAUGE, PAGES, sockstat, "TCP mem", "memory of TCP's buffers"),
	/* disks: object is a disk or partition that did anything */
	ONE("disk.reads", CNT, NUMBER, diskstats, "0", "reads completed"),
	SCALED("disk.read_bytes", CNT, BYTES, diskstats, "2", SECTOR_SZ, "read"),
	SCALED("disk.read_us", CNT, US, diskstats, "3", 1000, "time of all reads together"),
	ONE("disk.writes", CNT, NUMBER, diskstats, "4", "writes completed"),
	SCALED("disk.write_bytes", CNT, BYTES, diskstats, "6", SECTOR_SZ, "written"),
	SCALED("disk.write_us", CNT, US, diskstats, "7", 1000, "time of all writes together"),
	ONE("disk.in_flight", GAUGE, NUMBER, diskstats, "8", "requests that are not completed"),
	SCALED("disk.busy_us", CNT, US, diskstats, "9", 1000, "time with a request"),
	ONE("disk.flushes", CNT, NUMBER, diskstats, "15", "flushes completed"),
	SCALED("disk.flush_us", CNT, US, diskstats, "16", 1000, "time of all flushes together"),
	/* cgroups: object is the path */
	TWO("cgroup.cpu_us", CNT, US, v2_cpu, "usage_usec", v1_usage, "", 1000, "time on CPUs, with cgroups below"),
	TWO("cgroup.periods", CNT, NUMBER, v2_cpu, "nr_periods", v1_cpu, "nr_periods", 1,
	    "periods of its limit in which it ran"),
	TWO("cgroup.throttled", BAD, NUMBER, v2_cpu, "nr_throttled", v1_cpu, "nr_throttled", 1,
	    "of these, periods in which its limit stopped it"),
	TWO("cgroup.throttled_us", BAD, US, v2_cpu, "throttled_usec", v1_cpu, "throttled_time", 1000,
	    "time that its CPUs were stopped by its limit, added up"),
	TWO("cgroup.cpu_quota_us", GAUGE, US, v2_cpu_max, "0", v1_quota, "", 1,
	    "limit: time on CPUs in a period; absent: no limit"),
	TWO("cgroup.cpu_period_us", GAUGE, US, v2_cpu_max, "1", v1_period, "", 1, "length of a period"),
	TWO("cgroup.memory", GAUGE, BYTES, v2_memory, "", v1_memory, "", 1, "memory, with caches of files and cgroups below"),
	TWO("cgroup.memory_max", GAUGE, BYTES, v2_memory_max, "", v1_memory_max, "", 1, "its limit; absent: none"),
	ONE("cgroup.memory_high", GAUGE, BYTES, v2_memory_high, "", "from here on it is slowed down; absent: no such limit"),
	ONE("cgroup.memory_events_high", BAD, NUMBER, v2_memory_events, "high", "slowed down: more than memory.high"),
	TWO("cgroup.memory_events_max", BAD, NUMBER, v2_memory_events, "max", v1_memory_failcnt, "", 1,
	    "at its limit: memory had to be freed first"),
	ONE("cgroup.oom", BAD, NUMBER, v2_memory_events, "oom", "at its limit, and no memory could be freed"),
	TWO("cgroup.oom_kill", BAD, NUMBER, v2_memory_events, "oom_kill", v1_memory_oom, "oom_kill", 1,
	    "processes killed for lack of memory"),
	ONE("cgroup.under_oom", GAUGE, NUMBER, v1_memory_oom, "under_oom",
	    "1: its tasks wait for memory, since nobody is killed"),
	TWO("cgroup.pids_max", BAD, NUMBER, v2_pids_events, "max", v1_pids_events, "max", 1,
	    "forks refused: as many tasks as may be"),
	STALL("cgroup.pressure.cpu", v2_psi_cpu, "some", "some task of it waited for a CPU"),
	STALL("cgroup.pressure.memory", v2_psi_memory, "some", "some task of it waited for memory"),
	STALL("cgroup.pressure.memory_full", v2_psi_memory, "full", "all its tasks that were not idle waited for memory"),
	STALL("cgroup.pressure.io", v2_psi_io, "some", "some task of it waited for I/O"),
	/* the reading */
	ONE(FR_COUNTER_LEFT_OUT, GAUGE, NUMBER, none, "", "cgroups that were not looked at: there are too many"),
};

const u32 fr_counters_all_cnt = sizeof(fr_counters_all) / sizeof(fr_counters_all[0]);

const struct fr_counter *fr_counter_find(const char *name)
{
	u32 i;

	for (i = 0; i < fr_counters_all_cnt; i++)
		if (!strcmp(fr_counters_all[i].name, name))
			return &fr_counters_all[i];
	return NULL;
}

struct counter_file {
	const char *path;
	enum fr_counter_form form;
	enum fr_counter_tree tree;
};

static const struct counter_file files[FR_COUNTER_FILE_CNT] = {
#define X(name, form, tree, path) [FR_COUNTER_##name] = {path, FR_COUNTER_FORM_##form, FR_COUNTER_##tree},
	FR_COUNTER_FILES(X)
#undef X
};

const char *fr_counter_path(enum fr_counter_file file)
{
	return files[file].path;
}

enum fr_counter_tree fr_counter_tree(enum fr_counter_file file)
{
	return files[file].tree;
}

enum fr_counter_form fr_counter_form(enum fr_counter_file file)
{
	return files[file].form;
}

const char *fr_counter_kind_name(u32 kind)
{
	return kind == FR_COUNTER_GAUGE ? "gauge" : "count";
}

const char *fr_counter_unit_name(enum fr_counter_unit unit)
{
	static const char *const names[] = {"number", "us", "bytes", "pages", "hundredths"};

	return names[unit];
}
