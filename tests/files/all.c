/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * all FILE: a snapshot with every event and every kind of chunk that this build writes, some of each: what golden/all.flight
 * was made by, and the exporters' fuzzer begins with. A stack that a sample names is there, and where its frames lay.
 */
#include "base/counter/counters.h"
#include "base/text/memfile.h"
#include "base/tp/tps.h"
#include "event_fields.h"
#include "files/hour.h"
#include "files/small.h"

#define PER_EVENT 3u
#define STACK_ID  HOUR_STACK_ID

static const u64 frames[] = {0x401020, 0x401100, 0x7f0000001234};

static void put_rec(struct host_ring *h, u32 nr, const void *fixed, u32 fixed_sz, const u64 *nums, u32 cnt)
{
	host_clock_ns += 1000;
	host_ring_put_nums(h, nr, fixed, fixed_sz, nums, cnt);
}

/* ---- a tracepoint, in the tier of those that are recorded by default ---- */

static const char format[] = "name: it\nID: 77\nformat:\n"
			     "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
			     "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
			     "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
			     "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
			     "\tfield:__data_loc char[] name;\toffset:8;\tsize:4;\tsigned:0;\n"
			     "\tfield:int state;\toffset:12;\tsize:4;\tsigned:1;\n"
			     "\tfield:__u8 addr[4];\toffset:16;\tsize:4;\tsigned:0;\n\n"
			     "print fmt: \"%s %s %pI4\", __get_str(name), "
			     "__print_symbolic(REC->state, { 1, \"OPEN\" }, { 2, \"SHUT\" }), REC->addr\n";

/* As the kernel has it, but for its first eight bytes. */
struct tp_rec {
	u64 head, task;
	u32 name; /* where it is, and its size */
	s32 state;
	u8 addr[4];
	char text[12];
};

static void put_tp(struct host_ring *h)
{
	struct tp_rec rec = {.task = 100, .addr = {127, 0, 0, 1}, .text = "left\x1b"};
	u32 i;

	rec.name = (offsetof(struct tp_rec, text) - 8) | 6u << 16;
	for (i = 0; i < PER_EVENT; i++) {
		host_clock_ns += 1000;
		rec.state = i;
		host_ring_put(h, FR_TP_FIRST, &rec, sizeof(rec));
	}
}

/* The schema of all that is built in, and of this. */
static struct fr_schema *schema_with_tp(void)
{
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

static int put_counters(struct fr_snap_writer *w)
{
	struct fr_counters c;
	int err = 0;
	u32 i;

	fr_counters_init(&c);
	for (i = 0; i < 4 && !err; i++) {
		err = fr_counters_add(&c, "netstat.TcpExtListenOverflows", "", 0, 1000000 + i * 10000000000ull,
				      i > 2 ? 900 : i);
		err = err ?: fr_counters_add(&c, "disk.busy_us", "sda", 0, 1000000 + i * 10000000000ull, i * 1000);
		if (i % 2)
			err = err ?: fr_counters_add(&c, "cgroup.cpu_us", "/a\nb", 0, 1000000 + i * 10000000000ull, 1ull << 63);
	}
	err = err ?: fr_snap_put_counters(w, &c);
	fr_counters_free(&c);
	return err;
}

/* Of a struct fr_rec_NAME, as it is. */
#define PUT(h, name, rec)                          \
	do {                                       \
		host_clock_ns += 1000;             \
		host_ring_put_rec(h, name, (rec)); \
	} while (0)

static void put_stack(struct host_ring *h)
{
	struct fr_rec_stack stack = {.task = 100, .stack_id = STACK_ID};
	struct fr_rec_stack_build_ids ids = {.task = 100 | 3u << 24, .stack_id = STACK_ID};
	static const u64 words[] = {1ull << 56 | 0x1020, 1ull << 56 | 0x1100, 0,
				    0x0807060504030201,	 0x100f0e0d0c0b0a09,  0x14131211};

	put_rec(h, FR_EV_stack, &stack, offsetof(struct fr_rec_stack, frames), frames, 3);
	put_rec(h, FR_EV_stack_build_ids, &ids, offsetof(struct fr_rec_stack_build_ids, words), words, 6);
}

/* What calls were given, as a ring has it: a path that shall not be shown as it is, one that is cut off, and addresses. */
static void put_given(struct host_ring *h)
{
	static const char *const given[] = {"/srv/\x1b[31m\n\xff",
					    "relative/\xc3\xbc?token=hunter2hunter2",
					    "",
					    "\x2\0\x15\x38\x0a\0\0\7",
					    "\1\0\0frt abstract",
					    "\x2\0\x15\x38",
					    "\x10\0"};
	static const u32 sz[] = {13, 33, 1, 8, 15, 4, 2};
	struct fr_rec_sys_path path = {.task = 100, .id = 257, .arg = 1};
	u64 words[FR_CALL_TEXT_MAX / 8] = {0};
	u32 i;

	for (i = 0; i < sizeof(sz) / sizeof(sz[0]); i++) {
		memset(words, 0, sizeof(words));
		memcpy(words, given[i], sz[i]);
		path.arg = i < 3 ? 1 : 1 | FR_CALL_RAW_ARG;
		path.cut = i < 3 ? 0 : sz[i];
		put_rec(h, FR_EV_sys_path, &path, sizeof(path), words, i < 3 ? (sz[i] + 7) / 8 : FR_CALL_ADDR_SZ / 8);
	}
	memset(words, 'l', sizeof(words));
	path.arg = 1;
	path.cut = 1;
	put_rec(h, FR_EV_sys_path, &path, sizeof(path), words, FR_CALL_TEXT_MAX / 8);
}

/* A task that runs, calls, waits and is woken again, so that what pairs events finds some. */
static void put_story(struct host_ring *h)
{
	static const u64 args[] = {3, 0x7ffd00000000, 4096};
	struct fr_rec_sys_enter enter = {.task = 100, .id = 0};
	struct fr_rec_sys_exit leave = {.task = 100, .id = 0, .ret = 4096};
	struct fr_rec_sched_switch out = {.task = 100, .prev_state = 2, .prev_prio = 120, .next_prio = 120};
	struct fr_rec_sched_switch in = {.task = 0, .next_pid = 100, .prev_prio = 120, .next_prio = 120};
	struct fr_rec_sched_waking waking = {.task = 0, .target_pid = 100, .prio = 120};
	struct fr_rec_cpu_sample sample = {.task = 100 | 1u << 24, .ip = frames[0], .ustack_id = STACK_ID};

	PUT(h, sched_switch, &in);
	PUT(h, cpu_sample, &sample);
	put_rec(h, FR_EV_sys_enter, &enter, offsetof(struct fr_rec_sys_enter, args), args, 3);
	put_given(h);
	PUT(h, sched_switch, &out);
	PUT(h, sched_waking, &waking);
	PUT(h, sched_switch, &in);
	PUT(h, sys_exit, &leave);
}

static u64 put_laps(struct fr_snap_writer *w, struct host_ring *h)
{
	u64 all = 0;

	fr_snap_watch_laps(w, host_ring_count, &all);
	return host_ring_put_laps(h, w) ? 0 : all;
}

static u64 put_ring(struct fr_snap_writer *w, u16 cpu, u8 tier)
{
	struct host_ring *h = host_ring_new(cpu, tier, 4, 4);
	const struct fr_schema *s = fr_schema_builtin();
	u8 rec[FR_REC_MAX_SZ];
	u32 nr, i;
	u64 cnt;

	for (nr = 0; nr < FR_EVENT_MAX; nr++) {
		const struct fr_event *ev = fr_schema_event(s, nr);

		for (i = 0; ev && ev->tier == tier && tier != FR_TIER_STACK && i < PER_EVENT; i++) {
			host_clock_ns += host_random() % 100000;
			host_ring_put(h, nr, rec, host_random_record(ev, rec));
		}
	}
	if (tier == FR_TIER_STACK)
		put_stack(h);
	if (tier == FR_TIER_MAIN)
		put_story(h);
	if (tier == FR_TIER_RARE)
		put_tp(h);
	cnt = put_laps(w, h);
	host_ring_free(h);
	return cnt;
}

static int put_facts(struct fr_snap_writer *w)
{
	static const char *const fact[][2] = {
		{"version", "golden"},
		{"host", "box"},
		{"kernel", "6.18.0"},
		{"arch", "x86_64"},
		{"boot_id", "b"},
		{"clock_mode", "global"},
		{"begin_ns", "1"},
		{"trigger_reason", "crash"},
		{"trigger_ts", "1000000"},
		{"epoch", "2882343476"},
		{"states", "seen=7;taken=2;brief=1;many=1;late=1;gone=2"},
		{"states_ns", "1899000"},
		{"kmsg", "older=5;lost=0"},
		{"redacted", "2"},
	};
	size_t i;
	int err = 0;

	for (i = 0; i < sizeof(fact) / sizeof(fact[0]) && !err; i++)
		err = fr_snap_put_fact(w, fact[i][0], "%s", fact[i][1]);
	return err;
}

static int put_profile(struct fr_snap_writer *w)
{
	struct fr_prof *p = hour_new();
	int err = p ? fr_snap_put_profile(w, p) : -1;

	free(p);
	return err;
}

/*
 * What processes had as they died: one with descriptors, more than a page shows and fewer than it had, of numbers below 64, and
 * with mappings, likewise, and threads; one that had the tid before, though it is nearer to the end; and one of which a later
 * version knows more.
 */
static int put_scenes(struct fr_snap_writer *w)
{
	static const struct fr_snap_scene some[] = {
		{.number = 3, .value = {8 << 20, ~0ULL, 4096}}, /* limits */
		{.number = 6, .value = {100, 100, 1}},
		{.number = 7, .value = {64, 4096, ~0ULL}},
		{.number = 8, .value = {65536, 65536, ~0ULL}},
		{.number = 9, .value = {~0ULL, ~0ULL, 4096}},
		{.what = FR_SCENE_descriptor, .value = {0100002, 9}, .text = "ext4:/srv/wal"},
		{.what = FR_SCENE_descriptor, .number = 63, .value = {02000001}},
		{.what = FR_SCENE_descriptors, .number = 40, .value = {64}},
		{.what = FR_SCENE_mappings, .number = 70, .value = {0x401234, 0x7ffe00001000, 0x7ffe00000ff8}},
		{.what = FR_SCENE_threads, .number = 20},
		{.what = FR_SCENE_thread, .number = 99, .value = {203ull << 32 | 1, 0x401ff8, 0x7f0000000008}, .text = "waits"},
		{.what = FR_SCENE_thread, .number = 100, .value = {4 << 16, 0x401234, 0x7ffe00001000}, .text = "db"},
		{.what = FR_SCENE_frame, .number = 98 << 8, .value = {0x404008, 1}},
		{.what = FR_SCENE_frame, .number = 98 << 8 | 1, .value = {0x401400}},
		{.what = FR_SCENE_frame, .number = 98 << 8 | 2, .value = {0x500000, 2}},
		{.what = FR_SCENE_frame, .number = 99 << 8, .value = {0x401ff8, 1}},
		{.what = FR_SCENE_frame, .number = 99 << 8 | 255, .value = {~0ULL, ~0ULL, ~0ULL}},
		{.what = FR_SCENE_frame, .number = 103 << 8, .value = {0x401ff8, 1}},
		{.what = FR_SCENE_frame, .number = 103 << 8 | 255, .value = {~0ULL, ~0ULL, ~0ULL}},
		{.what = FR_SCENE_frame, .number = 104 << 8, .value = {0x401ff8}},
		{.what = FR_SCENE_thread, .number = 103, .value = {8 << 16 | 1, 0x401ff8, 0x7f0000000008}, .text = "waits"},
		{.what = FR_SCENE_thread, .number = 98, .value = {2, 0x404008, 8}, .text = "of lib"},
		{.what = FR_SCENE_thread, .number = 101, .value = {1 << 16}, .text = "runs"},
		{.what = FR_SCENE_thread,
		 .number = 102,
		 .value = {0xffffffff00ff0002, ~0ULL, ~0ULL},
		 .text = "a later\nkernel's"},
		{.what = FR_SCENE_mapping, .number = 0x400000, .value = {0x401000, 0, 17}, .text = "/srv/db/bin/db"},
		{.what = FR_SCENE_mapping, .number = 0x401000, .value = {0x403000, 0x1000, 21}, .text = "/srv/db/bin/db"},
		{.what = FR_SCENE_build_id, .number = 0x401000, .text = "00c0ffee"},
		{.what = FR_SCENE_build_id, .number = 0x404000, .text = "abc"},
		{.what = FR_SCENE_mapping, .number = 0x403000, .value = {0x404000, 0, 27}},
		{.what = FR_SCENE_mapping, .number = 0x404000, .value = {0x405000, 0, 21 + 32}, .text = "/srv/db/lib.so"},
		{.what = FR_SCENE_mapping, .number = 0x7ffe00000000, .value = {0x7ffe00001000}},
		{.what = FR_SCENE_mapping, .number = 0x7ffe00001000, .value = {0x7ffe00009000, 0, 3}, .text = "[stack]"},
		{.what = FR_SCENE_mapping, .number = ~0ULL - 4096, .value = {~0ULL, 0, ~0ULL}, .text = "a later\nkernel's"},
		{.tid = 100, .start_ns = 4, .at_ns = 2000000, .what = FR_SCENE_descriptors, .number = 71},
		{.tid = 101, .start_ns = 6, .at_ns = 1000000, .number = 63, .value = {1, 2, 3}},
		{.tid = 101, .start_ns = 6, .at_ns = 1000000, .what = 200, .number = ~0ULL, .text = "of a later version"},
	};
	struct fr_snap_scene all[sizeof(some) / sizeof(some[0]) + 2 * 20];
	u32 cnt = sizeof(some) / sizeof(some[0]), i;

	memcpy(all, some, sizeof(some));
	for (i = 0; i < 20; i++)
		all[cnt++] =
			(struct fr_snap_scene){.what = FR_SCENE_descriptor, .number = 10 + i, .value = {1}, .text = "pipe:[7]"};
	for (i = 0; i < 20; i++)
		all[cnt++] = (struct fr_snap_scene){
			.what = FR_SCENE_mapping, .number = (16 + i) << 20, .value = {(16 + i) << 20 | 4096, 0, 3}};
	for (i = 0; i < cnt; i++) {
		all[i].what = all[i].what ?: FR_SCENE_limit;
		all[i].text = all[i].text ?: "";
		if (all[i].tid)
			continue;
		all[i].tid = 100;
		all[i].start_ns = 5;
		all[i].at_ns = 1000000;
	}
	return fr_snap_put_scenes(w, all, cnt);
}

static int put_meta(struct fr_snap_writer *w)
{
	struct fr_snap_task task[] = {{.tid = 100, .start_ns = 5, .task = {.tgid = 100, .ppid = 1, .comm = "one"}},
				      {.tid = 101, .start_ns = 6, .task = {.tgid = 100, .comm = "two; 2", .flags = 1}}};
	struct fr_snap_hole hole = {.cpu = 1, .first_seq = 3, .last_seq = 3, .since_ns = 5, .until_ns = 400000};
	struct fr_snap_clock clock = {1000000000, 1000000000, 1500000000, 1000000000, 1767225600000000000ull, 50};
	struct fr_snap_symbol symbol[] = {{.addr = 0xffffffff81000000, .sz = 4096, .name = "do_syscall_64"},
					  {.pid = 100, .addr = 0x7f0000001000, .sz = 4096, .name = "jitted"}};
	struct fr_snap_mapping map = {.pid = 100,
				      .begin = 0x401000,
				      .end = 0x402000,
				      .file_off = 0x1000,
				      .path = "/nowhere/server",
				      .build_id = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20},
				      .build_id_sz = 20};
	struct fr_snap_state state[] = {
		{.tid = 100,
		 .start_ns = 5,
		 .at_ns = 1900000,
		 .since_ns = 1000000,
		 .woken_ns = 900000,
		 .kstack_id = STACK_ID,
		 .cgroup = 1,
		 .arg = {7, 0x7ffd00000000, 4096, 4, 5, 6},
		 .waker_tid = 101,
		 .prio = 120,
		 .state = 2,
		 .cpu = 1,
		 .waker = 1,
		 .object = "ext4:/srv/wal"},
		{.tid = 101, .start_ns = 6, .at_ns = 1900100, .id = -1, .in = 255, .prio = 98, .policy = 1, .flags = 1}};
	struct fr_snap_klog klog[] = {{.seq = 7,
				       .ts = 1002000000,
				       .uncertainty_ns = 1042,
				       .stamp_ns = 1001990000,
				       .level = 3,
				       .text = "Out of \x1b[31mmemory"},
				      {.seq = 8,
				       .ts = 1003000000,
				       .uncertainty_ns = FR_KLOG_UNJOINED,
				       .stamp_ns = 1003000000,
				       .facility = 1,
				       .level = 6,
				       .flags = 1,
				       .text = ""}};

	return put_facts(w) || small_put_incidents(w) || put_profile(w) || fr_snap_put_clocks(w, &clock, 1) ||
	       fr_snap_put_tasks(w, task, 2) || fr_snap_put_holes(w, &hole, 1) || fr_snap_put_procs(w, "{\"pid\":100}\n", 12) ||
	       fr_snap_put_symbols(w, symbol, 2) || fr_snap_put_mappings(w, &map, 1) || fr_snap_put_states(w, state, 2) ||
	       fr_snap_put_klog(w, klog, 2) || put_scenes(w) || put_formats(w) || put_counters(w);
}

int main(int argc, char **argv)
{
	struct fr_snap_ring ring[2 * FR_TIER_CNT] = {0};
	struct fr_snap_writer *w;
	struct fr_schema *s;
	u32 i;
	int err;

	(void)small_write;
	if (argc != 2 || fr_snap_create(argv[1], 64u << 20, 1, &w))
		return 1;
	s = schema_with_tp();
	err = fr_snap_put_schema(w, s) || put_meta(w);
	for (i = 0; i < 2 * FR_TIER_CNT && !err; i++) {
		ring[i] = (struct fr_snap_ring){
			.cpu = i / FR_TIER_CNT, .tier = i % FR_TIER_CNT, .slot_cnt = 4, .subbuf_sz = 4 * FR_PAGE_SZ};
		ring[i].horizon_ns = i == FR_TIER_CNT ? 300000 : 0;
		ring[i].present = ring[i].written = put_ring(w, ring[i].cpu, ring[i].tier);
		err = !ring[i].present;
	}
	err = err || fr_snap_put_rings(w, ring, 2 * FR_TIER_CNT);
	if (err)
		fr_snap_abort(w);
	else
		err = fr_snap_finish(w) != 0;
	fr_schema_free(s);
	return err;
}
