/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * make_names FILE BOOT: a snapshot of this boot in which each text that a file may have is a name with "qzxqz" in it, or a
 * secret: every text field of every event, a tracepoint's among them, and all metadata. Kernel thread 101 is kthread/7.
 */
#include "base/counter/counters.h"
#include "base/text/memfile.h"
#include "base/tp/tps.h"
#include "event_fields.h"
#include "files/hour.h"
#include "session.h"
#include "unit/host_ring.h"

#define NAME "qzxqz"

static const char format[] = "name: it\nID: 77\nformat:\n"
			     "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
			     "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
			     "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
			     "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
			     "\tfield:__data_loc char[] name;\toffset:8;\tsize:4;\tsigned:0;\n"
			     "\tfield:char comm[16];\toffset:12;\tsize:16;\tsigned:0;\n"
			     "\tfield:__u8 saddr[4];\toffset:28;\tsize:4;\tsigned:0;\n"
			     "\tfield:__u8 dst[4];\toffset:32;\tsize:4;\tsigned:0;\n"
			     "\tfield:__u8 gw6[16];\toffset:36;\tsize:16;\tsigned:0;\n"
			     "\tfield:__u8 peer[28];\toffset:52;\tsize:28;\tsigned:0;\n"
			     "\tfield:__u8 bssid[6];\toffset:80;\tsize:6;\tsigned:0;\n"
			     "\tfield:__data_loc u32[] more;\toffset:88;\tsize:4;\tsigned:0;\n\n"
			     "print fmt: \"%s\", __get_str(name)\n";

/* As the kernel has it, but for its first eight bytes. What no field finds is there, too; and numbers over a text, if damaged.
 */
struct tp_rec {
	u64 head, task;
	u32 name;
	char comm[16];
	u8 saddr[4], dst[4], gw6[16], peer[28];
	u8 bssid[6];
	u32 more;
	char text[24], behind[16];
};

static void put_tp(struct host_ring *h)
{
	struct tp_rec rec = {.task = 100,
			     .comm = NAME "70tp",
			     .saddr = {10, 9, 8, 7},
			     .dst = {10, 9, 8, 6},
			     .gw6 = {0xfd, 7, [15] = 0x17},
			     .peer = {[0] = 10, [2] = 1, [3] = 0xbb, [8] = 0xfd, 7, [23] = 0x17},
			     .bssid = "qzxqz",
			     .text = "eth " NAME "71dev",
			     .behind = NAME "72hid"};

	rec.name = (offsetof(struct tp_rec, text) - 8) | 20u << 16;
	rec.more = rec.name;
	host_clock_ns += 1000;
	host_ring_put(h, FR_TP_FIRST, &rec, sizeof(rec));
}

/* The schema of all that is built in, of a tracepoint, and of a program's probe, whose sentence has a path. */
static struct fr_schema *schema_with_more(void)
{
	static const char probe[] =
		"event 102 uprobe:prog__go main mark uprobe:/srv/" NAME "80dir/prog:go\nfield u64 ip HEX \n";
	struct fr_tpformat *t = NULL;
	struct fr_schema *s = NULL;
	struct fr_memfile m;
	char *builtin, *text;
	size_t sz;
	FILE *f;

	if (fr_tpformat_new("sys", "it", format, sizeof(format) - 1, &t))
		abort();
	builtin = fr_schema_write(fr_schema_builtin(), &sz);
	f = fr_memfile_open(&m);
	fwrite(builtin, 1, sz, f);
	if (fr_tpformat_put_schema(t, FR_TP_FIRST, FR_TIER_RARE, f))
		abort();
	fwrite(probe, 1, strlen(probe), f);
	text = fr_memfile_end(&m, &sz);
	if (fr_schema_parse(text, sz, &s))
		abort();
	free(text);
	free(builtin);
	fr_tpformat_free(t);
	return s;
}

static int put_formats(struct fr_snap_writer *w)
{
	const struct fr_tps_item item = {.system = "sys", .name = "it", .text = format, .sz = sizeof(format) - 1};
	struct fr_memfile m;
	FILE *f = fr_memfile_open(&m);
	int err = fr_tps_put(f, &item);
	size_t sz;
	char *text = fr_memfile_end(&m, &sz);

	err = err ?: fr_snap_put_formats(w, text, sz);
	free(text);
	return err;
}

/* An event with each of its texts, if it has any. The name of an interrupt handler is the kernel's, but for known names in it.
 */
static void put_event(struct host_ring *h, const struct fr_event *ev)
{
	u8 rec[FR_REC_MAX_SZ] = "";
	u32 task = 100, sz = ev->fixed_sz, i;
	bool has = false;

	memcpy(rec + 8, &task, sizeof(task));
	for (i = 0; i < ev->field_cnt; i++) {
		const struct fr_field *f = &ev->fields[i];
		char *at = (char *)rec + f->off;

		if (f->kind != FR_KIND_FIELD || (f->type != FR_TYPE_comm && f->type != FR_TYPE_str))
			continue;
		has = true;
		if (f->type == FR_TYPE_str)
			sz += 1 + snprintf(at, 200, "/srv/" NAME "%ux/" NAME "p --x --password=" NAME "%us " NAME "0one",
					   ev->nr, ev->nr);
		else if (strstr(f->name, "comm"))
			snprintf(at, FR_COMM_SZ, NAME "%u%c", ev->nr, 'a' + i);
		else
			strcpy(at, NAME "0one");
	}
	host_clock_ns += 1000;
	if (has)
		host_ring_put(h, ev->nr, rec, (sz + 7) / 8 * 8);
}

/* Addresses that calls are given, as a ring has them. */
static void put_given(struct host_ring *h)
{
	static const struct {
		const char *bytes;
		u8 sz;
	} given[] = {{"\2\0\x15\x38\x0a\x09\x08\x07", 8},
		     {"\x0a\0\0\x50\0\0\0\0\xfd\x07\0\0\0\0\0\0\0\0\0\0\0\0\0\x17", 24},
		     {"\2\0\0\x50\x7f\0\0\1", 8},
		     {"\x10\0", 2},
		     {"\2\0\0\x50", 4},
		     {"\1\0\0" NAME "81sock", 14},
		     {"\1\0/srv/" NAME "82sock", 18}};
	struct fr_rec_sys_path path = {.task = 100, .id = 42, .arg = 1 | FR_CALL_RAW_ARG};
	u8 rec[sizeof(path) + FR_CALL_ADDR_SZ];
	size_t i;

	for (i = 0; i < sizeof(given) / sizeof(given[0]); i++) {
		path.cut = given[i].sz;
		memset(rec, 0, sizeof(rec));
		memcpy(rec, &path, sizeof(path));
		memcpy(rec + sizeof(path), given[i].bytes, given[i].sz);
		host_clock_ns += 1000;
		host_ring_put(h, FR_EV_sys_path, rec, sizeof(rec));
	}
}

static u64 put_ring(struct fr_snap_writer *w, u8 tier)
{
	struct host_ring *h = host_ring_new(0, tier, 4, 4);
	const struct fr_schema *s = fr_schema_builtin();
	u64 all = 0;
	u32 nr, i;

	for (i = 0; i < 3; i++)
		for (nr = 0; nr < FR_EVENT_MAX; nr++)
			if (fr_schema_event(s, nr) && fr_schema_event(s, nr)->tier == tier)
				put_event(h, fr_schema_event(s, nr));
	if (tier == FR_TIER_RARE)
		put_tp(h);
	if (tier == FR_TIER_MAIN)
		put_given(h);
	fr_snap_watch_laps(w, host_ring_count, &all);
	if (host_ring_put_laps(h, w))
		abort();
	host_ring_free(h);
	return all;
}

static int put_facts(struct fr_snap_writer *w, const char *boot)
{
	const char *const fact[][2] = {
		{"version", "1"},
		{"host", NAME "1host"},
		{"boot_id", boot},
		{"clock_mode", "global"},
		{"begin_ns", "1"},
		{"session", NAME "2session"},
		{"command", NAME "3cmd --token " NAME "3s /srv/" NAME "3f"},
		{"settings", "--comm " NAME "4comm -o /srv/" NAME "4dir"},
		{"dir", "/var/lib/" NAME "5dir"},
		{"trigger_reason", "crash"},
		{"trigger_ts", "1000000"},
		{"trigger_pid", "100"},
		{"trigger_comm", NAME "0one"},
		{"trigger_exe", "srv/" NAME "0one"},
		{"trigger_cgroup", "/system.slice/" NAME "6unit.service"},
		{"trigger_text", "oops in " NAME "0one, secret=" NAME "6s"},
		{"arch", "x86_64"},
		{"rule_cnt", "4"},
		{"rule_0", "crash,comm=" NAME "7rule"},
		{"rule_1", "crash:all,exe=/" NAME "13/*,cooldown=1m"},
		{"rule_2", "latency:syscall:read>1ms"},
		{"rule_3", "event:event == mark_victim && comm == \"" NAME "14\""},
		{"unmade", "uprobe:prog__go=3"},
		{"redact", strcmp(boot, "one") ? "zap" : "zip,NO,-token,-secret," NAME "15word"},
		{"rule_0_since", "matched=5;taken=1"},
		{"merge_0", NAME "8.flight"},
		{"merge_0_trigger_comm", NAME "9comm"},
		{"cut_from", NAME "10.flight"},
		{"cut_filter", "comm == \"" NAME "11x\""},
		{"of_a_later_version", NAME "12later"},
		{"redacted", "3"},
	};
	size_t i;
	int err = 0;

	for (i = 0; i < sizeof(fact) / sizeof(fact[0]) && !err; i++)
		err = fr_snap_put_fact(w, fact[i][0], "%s", fact[i][1]);
	return err;
}

static int put_incidents(struct fr_snap_writer *w)
{
	struct fr_snap_incident inc[] = {
		{.epoch = 1,
		 .rec = {.done = 1,
			 .ts = 1000001000,
			 .count = 1,
			 .value = 9,
			 .kind = FR_INCIDENT_signal,
			 .pid = 100,
			 .sig = 11}},
		{.epoch = 1, .rec = {.done = 2, .ts = 1000001001, .count = 1, .kind = FR_INCIDENT_kernel, .uid = ~0u}},
		{.epoch = 1, .rec = {.done = 3, .ts = 1000001002, .count = 1, .kind = FR_INCIDENT_trigger, .uid = ~0u}},
	};
	u32 i;

	for (i = 0; i < 3; i++)
		snprintf(inc[i].rec.comm, sizeof(inc[i].rec.comm), NAME "%ui", 20 + i);
	strcpy(inc[0].rec.text, "srv/" NAME "23 dir/" NAME "23exe");
	strcpy(inc[0].rec.text + FR_INCIDENT_SENDER_AT, NAME "24send");
	strcpy(inc[1].rec.text, "BUG: of " NAME "0one with password=" NAME "25s at /srv/" NAME "25f");
	strcpy(inc[2].rec.text, "crash of " NAME "26x");
	return fr_snap_put_incidents(w, inc, 3);
}

static int put_lines(struct fr_snap_writer *w)
{
	static const char text[] =
		"{\"pid\":100,\"cmdline\":\"" NAME "30 --user " NAME "31 --token " NAME "31s \\u00e4\",\"exe\":\"/usr/bin/" NAME
		"32\",\"cwd\":\"/home/" NAME "33\",\"cgroup\":\"/system.slice/" NAME "34.service\",\"later\":\"" NAME
		"40\",\"n\":-5,\"is\":true}\n"
		"{\"cgroup_id\":7,\"cgroup\":\"/" NAME
		"35/docker-00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff.scope\"}\n"
		"{\"container_id\":\"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\",\"container\":\"" NAME
		"36\",\"pod\":\"" NAME "37\",\"namespace\":\"" NAME "38\",\"image\":\"reg/" NAME "39:1\"}\n"
		"no JSON " NAME "41\n";

	return fr_snap_put_procs(w, text, sizeof(text) - 1);
}

static int put_profile(struct fr_snap_writer *w)
{
	struct fr_prof *p = hour_new();
	u32 i;
	int err;

	for (i = 0; i < p->key_cnt; i++)
		if (!strcmp(p->key[i].comm, "one"))
			strcpy(p->key[i].comm, NAME "50prof");
	err = fr_snap_put_profile(w, p);
	free(p);
	return err;
}

static int put_counters(struct fr_snap_writer *w)
{
	struct fr_counters c;
	int err;

	fr_counters_init(&c);
	err = fr_counters_add(&c, "cgroup.cpu_us", "/" NAME "51/x", 0, 1000000, 5);
	err = err ?: fr_counters_add(&c, "disk.busy_us", "sda", 0, 1000000, 5);
	err = err ?: fr_snap_put_counters(w, &c);
	fr_counters_free(&c);
	return err;
}

static int put_meta(struct fr_snap_writer *w, const char *boot)
{
	struct fr_snap_task task[] = {
		{.tid = 100,
		 .start_ns = 5,
		 .task = {.tgid = 100, .ppid = 1, .comm = NAME "0one", .first_comm = NAME " 52", .cgroup = 7}},
		{.tid = 101, .start_ns = 6, .task = {.tgid = 101, .comm = "kthread/7", .first_comm = "kthread/7", .flags = 1}},
		{.tid = 102,
		 .start_ns = 6,
		 .task = {.tgid = 102, .comm = "10.9.8.5-manage", .first_comm = "kthread", .flags = 1}}};
	struct fr_snap_clock clock = {1000000000, 1000000000, 1500000000, 1000000000, 1767225600000000000ull, 50};
	struct fr_snap_symbol symbol[] = {{.addr = 0xffffffff81000000, .sz = 4096, .name = "do_syscall_64"},
					  {.pid = 100, .addr = 0x7f0000001000, .sz = 4096, .name = "Lcom/" NAME "53;::run"}};
	struct fr_snap_mapping map = {.pid = 100, .begin = 0x401000, .end = 0x402000, .path = "/srv/" NAME "54/a b"};
	struct fr_snap_state state[] = {
		{.tid = 100, .start_ns = 5, .at_ns = 1900000, .object = "ext4:/srv/" NAME "55 x/wal"},
		{.tid = 101, .start_ns = 6, .at_ns = 1900000, .object = "tcp:10.9.8.7:80-10.9.8.6:4711"},
		{.tid = 102, .start_ns = 6, .at_ns = 1900000, .object = "[eventpoll]"}};
	struct fr_snap_klog klog[] = {
		{.seq = 7,
		 .ts = 1002000000,
		 .text = "Killed process 100 (" NAME "0one), not kthread/7; file /srv/" NAME "56, from 10.9.8.7"},
		{.seq = 8, .ts = 1003000000, .facility = 3, .text = "Started unit of " NAME "57 apikey=" NAME "57s"},
		{.seq = 9,
		 .ts = 1003000001,
		 .text = "10.9.8.5-manage: " NAME "50prof in " NAME "51, " NAME "6unit.service; zip=77 zap=78"}};

	struct fr_snap_scene scene[] = {
		{.tid = 100,
		 .start_ns = 5,
		 .at_ns = 1900000,
		 .what = FR_SCENE_descriptor,
		 .number = 4,
		 .text = "ext4:/srv/" NAME "58 y/db"},
		{.tid = 100,
		 .start_ns = 5,
		 .at_ns = 1900000,
		 .what = FR_SCENE_descriptor,
		 .number = 5,
		 .text = "tcp:10.9.8.7:80-10.9.8.6:4711"},
		{.tid = 100, .start_ns = 5, .at_ns = 1900000, .what = FR_SCENE_descriptors, .number = 7},
		{.tid = 100,
		 .start_ns = 5,
		 .at_ns = 1900000,
		 .what = FR_SCENE_mapping,
		 .number = 4096,
		 .value = {8192, 0, 21},
		 .text = "/srv/" NAME "58/lib z.so"},
		{.tid = 100,
		 .start_ns = 5,
		 .at_ns = 1900000,
		 .what = FR_SCENE_mapping,
		 .number = 8192,
		 .value = {16384, 0, 3},
		 .text = "[stack]"},
		{.tid = 100,
		 .start_ns = 5,
		 .at_ns = 1900000,
		 .what = FR_SCENE_mapping,
		 .number = 16384,
		 .value = {20480, 0, 3},
		 .text = "[anon:" NAME "60 heap]"},
		{.tid = 100, .start_ns = 5, .at_ns = 1900000, .what = FR_SCENE_thread, .number = 101, .text = NAME "58t"},
		{.tid = 100, .start_ns = 5, .at_ns = 1900000, .what = FR_SCENE_build_id, .number = 4096, .text = "00c0ffee"},
		{.tid = 100, .start_ns = 5, .at_ns = 1900000, .what = 200, .text = "of a later " NAME "59 version"}};

	return put_facts(w, boot) || put_incidents(w) || put_profile(w) || fr_snap_put_clocks(w, &clock, 1) ||
	       fr_snap_put_tasks(w, task, 3) || put_lines(w) || fr_snap_put_symbols(w, symbol, 2) ||
	       fr_snap_put_mappings(w, &map, 1) || fr_snap_put_states(w, state, 3) || fr_snap_put_klog(w, klog, 3) ||
	       fr_snap_put_scenes(w, scene, sizeof(scene) / sizeof(scene[0])) || put_formats(w) || put_counters(w);
}

int main(int argc, char **argv)
{
	struct fr_snap_ring ring[FR_TIER_CNT] = {};
	struct fr_snap_writer *w;
	struct fr_schema *s;
	u32 i;
	int err;

	if (argc != 3 || fr_snap_create(argv[1], 64u << 20, 1, &w))
		return 1;
	s = schema_with_more();
	err = fr_snap_put_schema(w, s) || put_meta(w, argv[2]);
	for (i = 0; i < FR_TIER_CNT && !err; i++) {
		ring[i] = (struct fr_snap_ring){.tier = i, .slot_cnt = 4, .subbuf_sz = 4 * FR_PAGE_SZ};
		ring[i].present = ring[i].written = put_ring(w, i);
	}
	err = err || fr_snap_put_rings(w, ring, FR_TIER_CNT);
	if (err)
		fr_snap_abort(w);
	else
		err = fr_snap_finish(w) != 0;
	fr_schema_free(s);
	return err;
}
