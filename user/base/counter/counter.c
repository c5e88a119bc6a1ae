/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * counter: the table, and how its files' text becomes counters. Nothing of a text is taken for granted: no end of line, no
 * number, no order.
 */
#include "base/counter/counter.h"

#include <ctype.h>
#include <string.h>

#include "base/counter/counters.h"

/* How a file's text is made up. */
enum fr_counter_form {
	FR_COUNTER_FORM_NONE,
	FR_COUNTER_FORM_KEYED,	/* "key 12", "key: 12 kB", a line each */
	FR_COUNTER_FORM_NUMBER, /* "12", "max", "-1" */
	FR_COUNTER_FORM_PSI,	/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=12", "full ..." */
	FR_COUNTER_FORM_LOAD,	/* "0.52 0.48 0.30 2/345 6789" */
	FR_COUNTER_FORM_STAT,	/* "cpu  1 2 3 ...", then as KEYED */
	FR_COUNTER_FORM_PAIRS,	/* "TcpExt: A B", "TcpExt: 1 2" */
	FR_COUNTER_FORM_WORDS,	/* "TCP: inuse 5 orphan 0" */
	FR_COUNTER_FORM_DISKS,	/* "   8       0 sda 1 2 3 ..." */
	FR_COUNTER_FORM_QUOTA,	/* "max 100000", "50000 100000" */
};

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

const char *fr_counter_kind_name(u32 kind)
{
	return kind == FR_COUNTER_GAUGE ? "gauge" : "count";
}

const char *fr_counter_unit_name(enum fr_counter_unit unit)
{
	static const char *const names[] = {"number", "us", "bytes", "pages", "hundredths"};

	return names[unit];
}

/* ---- a file's text ---- */

#define US_PER_SEC 1000000u
#define NO_LIMIT   (1ULL << 60) /* v1 says so of no limit: more than any memory */

struct parse {
	enum fr_counter_file file;
	u32 ticks_hz;
	fr_counter_fn fn;
	void *arg;
	const char *object;
	size_t object_len;
};

/* Text from at to end, without what ends it. */
struct span {
	const char *at, *end;
};

static struct span span_line(struct span *rest)
{
	const char *nl = memchr(rest->at, '\n', rest->end - rest->at);
	struct span line = {rest->at, nl ? nl : rest->end};

	rest->at = nl ? nl + 1 : rest->end;
	return line;
}

/* The next word; empty: there is none. */
static struct span span_word(struct span *line)
{
	struct span w;

	while (line->at < line->end && (*line->at == ' ' || *line->at == '\t'))
		line->at++;
	w.at = line->at;
	while (line->at < line->end && *line->at != ' ' && *line->at != '\t')
		line->at++;
	w.end = line->at;
	return w;
}

static size_t span_len(struct span s)
{
	return s.end - s.at;
}

static bool span_is(struct span s, const char *text)
{
	return span_len(s) == strlen(text) && !memcmp(s.at, text, span_len(s));
}

/* A whole number that fits 64 bits. */
static bool span_number(struct span s, u64 *out)
{
	u64 v = 0;

	if (s.at == s.end)
		return false;
	for (; s.at < s.end; s.at++) {
		if (!isdigit((unsigned char)*s.at) || v > (~0ULL - (*s.at - '0')) / 10)
			return false;
		v = v * 10 + (*s.at - '0');
	}
	*out = v;
	return true;
}

static bool counter_scale(const struct fr_counter_source *s, u32 ticks_hz, u64 *v)
{
	u64 mul = s->mul == FR_COUNTER_TICKS ? US_PER_SEC : s->mul ? s->mul : 1;
	u64 div = s->mul == FR_COUNTER_TICKS ? ticks_hz : s->div ? s->div : 1;

	return div && !__builtin_mul_overflow(*v, mul, v) && (*v /= div, true);
}

/* Tell the counter with this key, if there is one: the key is that of two pieces joined. */
static void parse_tell(const struct parse *p, struct span key, struct span more, u64 value)
{
	const struct fr_counter_source *s;
	size_t len = span_len(key), more_len = span_len(more);
	u64 v;
	u32 i, k;

	for (i = 0; i < fr_counters_all_cnt; i++) {
		for (k = 0; k < 2; k++) {
			s = &fr_counters_all[i].from[k];
			if (s->file != p->file || strlen(s->key) != len + more_len || memcmp(s->key, key.at, len) ||
			    (more_len && memcmp(s->key + len, more.at, more_len)))
				continue;
			v = value;
			if (counter_scale(s, p->ticks_hz, &v))
				p->fn(p->arg, &fr_counters_all[i], p->object, p->object_len, v);
		}
	}
}

static const struct span nothing = {"", ""};

static void parse_tell_word(const struct parse *p, const char *key, struct span word)
{
	u64 v;

	if (span_number(word, &v))
		parse_tell(p, (struct span){key, key + strlen(key)}, nothing, v);
}

static void parse_keyed(const struct parse *p, struct span line)
{
	struct span key = span_word(&line), value = span_word(&line);
	u64 v;

	if (key.end > key.at && key.end[-1] == ':')
		key.end--;
	if (span_len(key) && span_number(value, &v))
		parse_tell(p, key, nothing, v);
}

static void parse_one(const struct parse *p, struct span line)
{
	struct span value = span_word(&line);
	u64 v;

	if (span_number(value, &v) && v < NO_LIMIT)
		parse_tell(p, nothing, nothing, v);
}

static void parse_psi(const struct parse *p, struct span line)
{
	static const char total[] = "total=";
	struct span key = span_word(&line), w;
	u64 v;

	for (w = span_word(&line); span_len(w); w = span_word(&line)) {
		if (span_len(w) < strlen(total) || memcmp(w.at, total, strlen(total)))
			continue;
		w.at += strlen(total);
		if (span_len(key) && span_number(w, &v))
			parse_tell(p, key, nothing, v);
		return;
	}
}

/* "0.52": hundredths. */
static bool span_hundredths(struct span s, u64 *out)
{
	const char *dot = memchr(s.at, '.', span_len(s));
	u64 whole, part;

	if (!dot || s.end - dot != 3 || !span_number((struct span){s.at, dot}, &whole) ||
	    !span_number((struct span){dot + 1, s.end}, &part) || whole > ~0ULL / 100 - 1)
		return false;
	*out = whole * 100 + part;
	return true;
}

static void parse_load(const struct parse *p, struct span line)
{
	static const char *const keys[] = {"1m", "5m", "15m"};
	struct span w;
	const char *slash;
	u64 v;
	u32 i;

	for (i = 0; i < 3; i++)
		if (span_hundredths(span_word(&line), &v))
			parse_tell(p, (struct span){keys[i], keys[i] + strlen(keys[i])}, nothing, v);
	w = span_word(&line);
	slash = memchr(w.at, '/', span_len(w));
	if (slash)
		parse_tell_word(p, "tasks", (struct span){slash + 1, w.end});
}

/* The line of all CPUs has no name of its numbers. */
static void parse_stat(const struct parse *p, struct span line)
{
	static const char *const keys[] = {"user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"};
	struct span rest = line;
	u32 i;

	if (!span_is(span_word(&rest), "cpu")) {
		parse_keyed(p, line);
		return;
	}
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		parse_tell_word(p, keys[i], span_word(&rest));
}

/* Names in one line, numbers in the next, both behind "TcpExt:". */
static void parse_pairs(const struct parse *p, struct span names, struct span values)
{
	struct span head = span_word(&names), again = span_word(&values), name, value;
	u64 v;

	if (span_len(head) < 2 || head.end[-1] != ':' || span_len(head) != span_len(again) ||
	    memcmp(head.at, again.at, span_len(head)))
		return;
	head.end--;
	for (;;) {
		name = span_word(&names);
		value = span_word(&values);
		if (!span_len(name) || !span_len(value))
			return;
		if (span_number(value, &v))
			parse_tell(p, head, name, v);
	}
}

static void parse_words(const struct parse *p, struct span line)
{
	struct span head = span_word(&line), name, value;
	char key[64];
	u64 v;

	if (span_len(head) < 2 || head.end[-1] != ':' || span_len(head) > 16)
		return;
	memcpy(key, head.at, span_len(head) - 1);
	key[span_len(head) - 1] = ' ';
	for (;;) {
		name = span_word(&line);
		value = span_word(&line);
		if (!span_len(name) || !span_len(value))
			return;
		if (span_number(value, &v))
			parse_tell(p, (struct span){key, key + span_len(head)}, name, v);
	}
}

/* A disk that never did anything is not told. */
static void parse_disk(const struct parse *p, struct span line)
{
	char key[3];
	struct parse of = *p;
	struct span name, w, look;
	u64 v, any = 0;
	u32 i;

	span_word(&line);
	span_word(&line);
	name = span_word(&line);
	if (!span_len(name))
		return;
	of.object = name.at;
	of.object_len = span_len(name);
	for (look = line, i = 0; i < 11; i++)
		if (span_number(span_word(&look), &v))
			any |= v;
	for (i = 0; any && i < 17; i++) {
		key[0] = i < 10 ? '0' + i : '1';
		key[1] = i < 10 ? 0 : '0' + i % 10;
		key[2] = 0;
		w = span_word(&line);
		if (span_number(w, &v))
			parse_tell(&of, (struct span){key, key + strlen(key)}, nothing, v);
	}
}

static void parse_quota(const struct parse *p, struct span line)
{
	parse_tell_word(p, "0", span_word(&line));
	parse_tell_word(p, "1", span_word(&line));
}

static void counter_parse_line(const struct parse *p, struct span line)
{
	switch (files[p->file].form) {
	case FR_COUNTER_FORM_KEYED:
		parse_keyed(p, line);
		return;
	case FR_COUNTER_FORM_NUMBER:
		parse_one(p, line);
		return;
	case FR_COUNTER_FORM_PSI:
		parse_psi(p, line);
		return;
	case FR_COUNTER_FORM_LOAD:
		parse_load(p, line);
		return;
	case FR_COUNTER_FORM_STAT:
		parse_stat(p, line);
		return;
	case FR_COUNTER_FORM_WORDS:
		parse_words(p, line);
		return;
	case FR_COUNTER_FORM_DISKS:
		parse_disk(p, line);
		return;
	case FR_COUNTER_FORM_QUOTA:
		parse_quota(p, line);
		return;
	default:
		return;
	}
}

void fr_counter_parse(enum fr_counter_file file, const char *text, size_t sz, u32 ticks_hz, fr_counter_fn fn, void *arg)
{
	const struct parse p = {.file = file, .ticks_hz = ticks_hz, .fn = fn, .arg = arg, .object = ""};
	bool is_pairs = files[file].form == FR_COUNTER_FORM_PAIRS;
	struct span rest = {text, text + sz}, line;

	while (rest.at < rest.end) {
		line = span_line(&rest);
		if (is_pairs)
			parse_pairs(&p, line, span_line(&rest));
		else
			counter_parse_line(&p, line);
	}
}
