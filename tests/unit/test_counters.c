/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The host's counters: what files say, whatever they hold; series as bytes and back; what stands out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/counter/counter.h"
#include "base/counter/counters.h"

#define SEC 1000000000ULL

/* What was told, as text: "NAME OBJECT VALUE;". */
struct told {
	char text[8192];
	size_t len;
};

static void tell(void *arg, const struct fr_counter *c, const char *object, size_t len, u64 value)
{
	struct told *t = arg;

	t->len += snprintf(t->text + t->len, sizeof(t->text) - t->len, "%s %.*s %llu;", c->name, (int)len, object, value);
	assert_true(t->len < sizeof(t->text));
}

/* Parse a copy of exactly its size, so that a byte read behind it is seen. */
static void parse_sz(enum fr_counter_file file, const char *text, size_t sz, struct told *t)
{
	char *copy = malloc(sz ?: 1);

	memcpy(copy, text, sz);
	*t = (struct told){};
	fr_counter_parse(file, copy, sz, 100, tell, t);
	free(copy);
}

static void says(enum fr_counter_file file, const char *text, const char *expected)
{
	struct told t;

	parse_sz(file, text, strlen(text), &t);
	assert_string_equal(t.text, expected);
}

static void files_are_read(void **state)
{
	(void)state;
	says(FR_COUNTER_psi_memory,
	     "some avg10=0.00 avg60=0.10 avg300=0.00 total=1234\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n",
	     "pressure.memory.some  1234;pressure.memory.full  7;");
	says(FR_COUNTER_loadavg, "0.52 10.48 0.30 2/345 6789\n", "load.1m  52;load.5m  1048;load.15m  30;load.tasks  345;");
	says(FR_COUNTER_stat, "cpu  10 0 3 4 5 6 7 8 0 0\ncpu0 9 9 9\nintr 5 1 2\nctxt 77\nprocs_blocked 2\n",
	     "stat.user  100000;stat.nice  0;stat.system  30000;stat.idle  40000;stat.iowait  50000;stat.irq  60000;"
	     "stat.softirq  70000;stat.steal  80000;stat.ctxt  77;stat.procs_blocked  2;");
	says(FR_COUNTER_vmstat, "nr_free_pages 5\noom_kill 3\npgpgin 2\n", "vmstat.oom_kill  3;vmstat.pgpgin  2048;");
	says(FR_COUNTER_meminfo, "MemTotal:  9 kB\nMemAvailable:    2 kB\n", "meminfo.MemAvailable  2048;");
	says(FR_COUNTER_netstat,
	     "TcpExt: SyncookiesSent Unknown ListenOverflows\nTcpExt: 1 2 3\nIpExt: ListenOverflows\nIpExt: 9\n",
	     "netstat.TcpExtSyncookiesSent  1;netstat.TcpExtListenOverflows  3;");
	says(FR_COUNTER_snmp, "Tcp: MaxConn RetransSegs\nTcp: -1 12\nUdp: RcvbufErrors\nUdp: 4\n",
	     "snmp.TcpRetransSegs  12;snmp.UdpRcvbufErrors  4;");
	says(FR_COUNTER_sockstat, "sockets: used 9\nTCP: inuse 5 orphan 0 tw 2 alloc 7 mem 3\n",
	     "sockstat.TCP.tw  2;sockstat.TCP.alloc  7;sockstat.TCP.mem  3;");
	says(FR_COUNTER_diskstats,
	     "   8       0 sda 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n   1 0 ram0 0 0 0 0 0 0 0 0 0 0 0\n   7 0 old 1 0 0 "
	     "0 0 0 0 0 0 0 0\n",
	     "disk.reads sda 1;disk.read_bytes sda 1536;disk.read_us sda 4000;disk.writes sda 5;disk.write_bytes sda 3584;"
	     "disk.write_us sda 8000;disk.in_flight sda 9;disk.busy_us sda 10000;disk.flushes sda 16;disk.flush_us sda 17000;"
	     "disk.reads old 1;disk.read_bytes old 0;disk.read_us old 0;disk.writes old 0;disk.write_bytes old 0;"
	     "disk.write_us old 0;disk.in_flight old 0;disk.busy_us old 0;");
}

/* The same counter, whichever version the hierarchy is of; no limit is no number. */
static void both_versions_of_cgroups_are_read(void **state)
{
	(void)state;
	says(FR_COUNTER_v2_cpu, "usage_usec 5000\nuser_usec 1\nnr_periods 9\nnr_throttled 3\nthrottled_usec 70\n",
	     "cgroup.cpu_us  5000;cgroup.periods  9;cgroup.throttled  3;cgroup.throttled_us  70;");
	says(FR_COUNTER_v1_cpu, "nr_periods 9\nnr_throttled 3\nthrottled_time 70999\n",
	     "cgroup.periods  9;cgroup.throttled  3;cgroup.throttled_us  70;");
	says(FR_COUNTER_v1_usage, "5000999\n", "cgroup.cpu_us  5000;");
	says(FR_COUNTER_v2_cpu_max, "50000 100000\n", "cgroup.cpu_quota_us  50000;cgroup.cpu_period_us  100000;");
	says(FR_COUNTER_v2_cpu_max, "max 100000\n", "cgroup.cpu_period_us  100000;");
	says(FR_COUNTER_v1_quota, "-1\n", "");
	says(FR_COUNTER_v2_memory_max, "max\n", "");
	says(FR_COUNTER_v1_memory_max, "9223372036854771712\n", "");
	says(FR_COUNTER_v1_memory_max, "67108864\n", "cgroup.memory_max  67108864;");
	says(FR_COUNTER_v2_memory_events, "low 0\nhigh 1\nmax 2\noom 3\noom_kill 4\noom_group_kill 5\n",
	     "cgroup.memory_events_high  1;cgroup.memory_events_max  2;cgroup.oom  3;cgroup.oom_kill  4;");
	says(FR_COUNTER_v1_memory_oom, "oom_kill_disable 0\nunder_oom 0\noom_kill 4\n",
	     "cgroup.under_oom  0;cgroup.oom_kill  4;");
}

/* Nothing of what is not there, or is no number, is told as 0. */
static void hostile_texts_tell_nothing(void **state)
{
	(void)state;
	says(FR_COUNTER_vmstat, "", "");
	says(FR_COUNTER_vmstat, "oom_kill", "");
	says(FR_COUNTER_vmstat, "oom_kill ", "");
	says(FR_COUNTER_vmstat, "oom_kill x\n", "");
	says(FR_COUNTER_vmstat, "oom_kill -1\n", "");
	says(FR_COUNTER_vmstat, "oom_kill 7", "vmstat.oom_kill  7;");
	says(FR_COUNTER_vmstat, "oom_kill 18446744073709551615\n", "vmstat.oom_kill  18446744073709551615;");
	says(FR_COUNTER_vmstat, "oom_kill 18446744073709551616\n", "");
	says(FR_COUNTER_vmstat, "pgpgin 18446744073709551615\n", ""); /* beyond 64 bits in its unit */
	says(FR_COUNTER_vmstat, "oom_killer 7\n\n\n oom_kill 8\n", "vmstat.oom_kill  8;");
	says(FR_COUNTER_psi_cpu, "some total=\nsome avg10=1 total=x\nsome\n", "");
	says(FR_COUNTER_netstat, "TcpExt: ListenOverflows\n", "");
	says(FR_COUNTER_netstat, "TcpExt: ListenOverflows\nIpExt: 4\n", "");
	says(FR_COUNTER_netstat, "TcpExt: A ListenOverflows\nTcpExt: 4\n", "");
	says(FR_COUNTER_diskstats, "8 0\n8 0 sda\n8 0 sda x\n", "");
	says(FR_COUNTER_loadavg, "1 .5 1.5 7\n1.555 184467440737095516.15 1.00 /", "load.15m  100;");
	says(FR_COUNTER_v2_cpu_max, "50000", "cgroup.cpu_quota_us  50000;");
}

static void hostile_bytes_are_survived(void **state)
{
	struct told t;
	char text[300];
	u32 file, i, k;

	(void)state;
	srand(1);
	for (i = 0; i < 3000; i++) {
		for (k = 0; k < sizeof(text); k++)
			text[k] = "0123456789 \n:=/.some total cpu TcpExt\0\xff"[rand() % 40];
		for (file = 1; file < FR_COUNTER_FILE_CNT; file++)
			parse_sz(file, text, rand() % sizeof(text), &t);
	}
}

/* Each name once, each key of a file once, as the file format demands. */
static void table_is_in_order(void **state)
{
	const struct fr_counter *a, *b;
	u32 i, k, m, n;

	(void)state;
	for (i = 0; i < fr_counters_all_cnt; i++) {
		a = &fr_counters_all[i];
		assert_true(strlen(a->name) <= FR_COUNTERS_NAME_MAX && *a->meaning);
		assert_ptr_equal(fr_counter_find(a->name), a);
		for (k = i + 1; k < fr_counters_all_cnt; k++) {
			b = &fr_counters_all[k];
			for (m = 0; m < 2; m++)
				for (n = 0; n < 2; n++)
					assert_false(a->from[m].file && a->from[m].file == b->from[n].file &&
						     !strcmp(a->from[m].key, b->from[n].key));
		}
	}
	assert_null(fr_counter_find("nothing"));
}

/* ---- series ---- */

static void add(struct fr_counters *c, const char *name, const char *object, u64 sec, u64 value)
{
	const struct fr_counter *known = fr_counter_find(name);

	assert_int_equal(fr_counters_add(c, name, object, known ? known->kind : FR_COUNTER_COUNT, sec * SEC, value), 0);
}

static void same(const struct fr_counters *a, const struct fr_counters *b)
{
	const struct fr_counter_series *s = a->series.at, *t;
	size_t i;

	assert_int_equal(a->series.cnt, b->series.cnt);
	assert_int_equal(a->point_cnt, b->point_cnt);
	for (i = 0; i < a->series.cnt; i++) {
		t = fr_counters_find(b, s[i].name, s[i].object);
		assert_non_null(t);
		assert_int_equal(t->kind, s[i].kind);
		assert_int_equal(t->point.cnt, s[i].point.cnt);
		assert_memory_equal(t->point.at, s[i].point.at, s[i].point.cnt * sizeof(struct fr_counter_point));
	}
}

static void fill(struct fr_counters *c, u32 moments)
{
	u32 i;

	fr_counters_init(c);
	for (i = 0; i < moments; i++) {
		add(c, "stat.ctxt", "", 100 + 10 * i, 1000 * i * i);
		if (i % 3)
			add(c, "cgroup.memory", "/a/b", 100 + 10 * i, i & 1 ? ~0ULL : 0);
		add(c, "stat.processes", "", 100 + 10 * i, 5);
		if (i > 3)
			add(c, "later.version", "/a/b", 100 + 10 * i, i);
	}
}

static void bytes_are_the_same_again(void **state)
{
	struct fr_counters c, d;
	u8 *bytes;
	size_t sz;

	(void)state;
	fill(&c, 61);
	fr_counters_init(&d);
	assert_int_equal(fr_counters_encode(&c, 1 << 20, &bytes, &sz), 0);
	assert_int_equal(fr_counters_decode(&d, bytes, sz), 0);
	same(&c, &d);
	assert_int_equal(fr_counters_decode(&d, bytes, sz), 0); /* what is there already changes nothing */
	same(&c, &d);
	free(bytes);
	fr_counters_free(&c);
	fr_counters_free(&d);
}

/* In parts, in any order: as merged files have them. */
static void parts_are_the_whole(void **state)
{
	struct fr_counters c, d;
	u8 *bytes;
	size_t sz;
	u64 from;

	(void)state;
	fill(&c, 30);
	fr_counters_init(&d);
	for (from = 301; from + 100 > 100; from -= 100) {
		assert_int_equal(fr_counters_encode_part(&c, from * SEC, (from + 99) * SEC + SEC - 1, 1 << 20, &bytes, &sz), 0);
		assert_int_equal(fr_counters_decode(&d, bytes, sz), 0);
		free(bytes);
		if (from == 1)
			break;
	}
	same(&c, &d);
	fr_counters_free(&c);
	fr_counters_free(&d);
}

/* Beyond the room, the oldest go. */
static void oldest_go_first(void **state)
{
	struct fr_counters c;
	u64 *moment;
	u8 *bytes;
	size_t sz, cnt;

	(void)state;
	fill(&c, 61);
	assert_int_equal(fr_counters_encode(&c, 300, &bytes, &sz), 0);
	assert_true(sz && sz <= 300);
	free(bytes);
	moment = fr_counters_moments(&c, &cnt);
	assert_true(cnt && cnt < 61);
	assert_true(moment[cnt - 1] == 700 * SEC);
	assert_true(moment[0] == (710 - 10 * cnt) * SEC);
	free(moment);
	fr_counters_drop_before(&c, 700 * SEC);
	assert_int_equal(c.series.cnt, 3); /* 61 is no moment of the cgroup's */
	fr_counters_free(&c);
}

/* Each byte of it may be anything. */
static void damage_is_survived(void **state)
{
	struct fr_counters c, d;
	u8 *bytes, *copy;
	size_t sz, i, bit;

	(void)state;
	fill(&c, 9);
	assert_int_equal(fr_counters_encode(&c, 1 << 20, &bytes, &sz), 0);
	for (i = 0; i < sz; i++) {
		fr_counters_init(&d);
		copy = malloc(i ?: 1);
		memcpy(copy, bytes, i);
		assert_int_equal(fr_counters_decode(&d, copy, i), i ? -EBADMSG : 0);
		free(copy);
		fr_counters_free(&d);
		for (bit = 0; bit < 8; bit++) {
			bytes[i] ^= 1 << bit;
			fr_counters_init(&d);
			fr_counters_decode(&d, bytes, sz);
			fr_counters_free(&d);
			bytes[i] ^= 1 << bit;
		}
	}
	free(bytes);
	fr_counters_free(&c);
}

/* ---- what stands out ---- */

static void moves_are_known_or_not(void **state)
{
	struct fr_counter_move m;
	struct fr_counters c;
	const struct fr_counter_series *s;

	(void)state;
	fr_counters_init(&c);
	add(&c, "stat.ctxt", "", 10, 5);
	add(&c, "stat.ctxt", "", 20, 9);
	add(&c, "stat.ctxt", "", 30, 3); /* begun anew */
	add(&c, "stat.ctxt", "", 40, 4);
	add(&c, "load.1m", "", 10, 1);
	add(&c, "load.1m", "", 20, 2);
	s = fr_counters_find(&c, "stat.ctxt", "");
	assert_true(fr_counter_moved(s, 10 * SEC, 20 * SEC, &m));
	assert_true(m.delta == 4 && m.from_ns == 10 * SEC && m.to_ns == 20 * SEC);
	assert_true(fr_counter_moved(s, 0, 29 * SEC, &m));
	assert_true(m.delta == 4);
	assert_false(fr_counter_moved(s, 15 * SEC, 35 * SEC, &m));
	assert_true(fr_counter_moved(s, 30 * SEC, ~0ULL, &m));
	assert_true(m.delta == 1);
	assert_false(fr_counter_moved(s, 40 * SEC, ~0ULL, &m)); /* a point alone says nothing */
	assert_false(fr_counter_moved(s, 0, 5 * SEC, &m));
	assert_false(fr_counter_moved(fr_counters_find(&c, "load.1m", ""), 0, ~0ULL, &m));
	fr_counters_free(&c);
}

static void what_stands_out(void **state)
{
	struct fr_counter_notable n[4];
	struct fr_counters c;
	u32 i;

	(void)state;
	fr_counters_init(&c);
	for (i = 1; i <= 10; i++) {
		add(&c, "netstat.TcpExtListenOverflows", "", 10 * i, i == 10 ? 120 : 0);
		add(&c, "snmp.TcpRetransSegs", "", 10 * i, 7 * i + (i == 10 ? 50 : 0));
		add(&c, "netstat.TcpExtTCPTimeouts", "", 10 * i, 7 * i); /* as ever */
		add(&c, "snmp.TcpEstabResets", "", 10 * i, 3);		 /* nothing */
		add(&c, "stat.ctxt", "", 10 * i, 1000 * i);
		add(&c, "stat.processes", "", 10 * i, 10 * i + (i == 10 ? 900 : 0)); /* work, and much more of it */
	}
	/* of the moment's reading, a little later */
	assert_int_equal(fr_counters_notable(&c, 99 * SEC, n, 4), 3);
	assert_string_equal(n[0].series->name, "netstat.TcpExtListenOverflows");
	assert_true(n[0].last.delta == 120 && n[0].times == 0 && n[0].before.delta == 0);
	assert_string_equal(n[1].series->name, "snmp.TcpRetransSegs");
	assert_true(n[1].last.delta == 57 && n[1].before.delta == 56);
	assert_string_equal(n[2].series->name, "stat.processes");
	assert_int_equal(fr_counters_notable(&c, 99 * SEC, n, 1), 1);
	assert_int_equal(fr_counters_notable(&c, 80 * SEC, n, 4), 0);
	assert_int_equal(fr_counters_notable(&c, 1 * SEC, n, 4), 0);
	fr_counters_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_are_read),
		cmocka_unit_test(both_versions_of_cgroups_are_read),
		cmocka_unit_test(hostile_texts_tell_nothing),
		cmocka_unit_test(hostile_bytes_are_survived),
		cmocka_unit_test(table_is_in_order),
		cmocka_unit_test(bytes_are_the_same_again),
		cmocka_unit_test(parts_are_the_whole),
		cmocka_unit_test(oldest_go_first),
		cmocka_unit_test(damage_is_survived),
		cmocka_unit_test(moves_are_known_or_not),
		cmocka_unit_test(what_stands_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
