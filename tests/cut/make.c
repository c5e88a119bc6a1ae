/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * make DIR: snapshots to be cut, merged and compared, the same each time.
 *
 *	a, b, c			of one session, one after another; a and b overlap, and b and c; b lacks a lap that a has
 *	random			has events of every type
 *	more, other, apart	are b as other versions of the program would have written it
 *	old			is c as if it had been merged behind a hole without times
 *	end			is b without the lap that was being written, and with the one that b lacks
 *	parts			is c with a chunk for each lap, accounts and facts at the end, as a recorder writes
 *	torn			is parts without a lap
 *	attaching		is the beginning of a, all programs attached in the midst of it
 *	last, mid		have what came just before c, and just before a moment between a and b: parts of laps
 */
#include "unit/host_map.h"

#include <stdio.h>

#include "base/schema/schema.h"
#include "event_fields.h"

#define BUDGET_SZ (16u << 20)
#define REAL_NS	  1767225600000000000ULL
#define SEC	  1000000000ULL
#define US	  1000ULL
#define MS	  1000000ULL
#define TASK_CNT  8u

enum { MAIN0, MAIN1, LIFE0, STACK0, RING_CNT };

static struct host_ring *ring[RING_CNT];
static struct fr_schema *schema; /* of another version; NULL: ours */
static u64 since_ns;		 /* only events from this time on; 0: all */
static u64 attached_ns = SEC;	 /* when all programs were */
static bool in_parts;		 /* laps of different rings alternate */

#define PUT(where, type, who, ...)                                         \
	do {                                                               \
		struct fr_rec_##type rec = {.task = (who), ##__VA_ARGS__}; \
                                                                           \
		host_ring_put_rec(ring[where], type, &rec);                \
	} while (0)

/* New tasks, as in the task table. Its time of a renaming is a little before that of the event. */
static struct fr_snap_task born[32];
static u32 born_cnt;

static void note_birth(u32 tid, u64 start_ns, const char *comm)
{
	struct fr_snap_task *t = &born[born_cnt++];

	*t = (struct fr_snap_task){.tid = tid, .start_ns = start_ns, .task = {.tgid = tid, .ppid = 100, .first_comm = "shell"}};
	t->task.renamed_ns = host_clock_ns - 50;
	memcpy(t->task.comm, comm, FR_COMM_SZ);
}

/* A task begins, and takes a name. */
static void put_birth(u32 tid)
{
	struct fr_rec_task_rename rec = {.task = tid, .target_pid = tid, .oldcomm = "shell"};
	u64 start_ns = host_clock_ns - 300;

	PUT(LIFE0, sched_process_fork, 100, .child_pid = tid, .child_tgid = tid, .child_start = start_ns,
	    .child_comm = "shell");
	host_clock_ns += 5 * US;
	snprintf(rec.newcomm, sizeof(rec.newcomm), "work-%u", tid);
	note_birth(tid, start_ns, rec.newcomm);
	host_ring_put(ring[LIFE0], FR_EV_task_rename, &rec, sizeof(rec));
}

static void put_sample(u32 cpu, u32 tid, u64 id)
{
	static u64 seen;
	const u64 frames[] = {0x400000 + id, 0x401000, 0x402000};
	struct fr_rec_stack stack = {.task = tid, .stack_id = id};

	if (!(seen >> id & 1)) {
		host_ring_put_nums(ring[STACK0], FR_EV_stack, &stack, offsetof(struct fr_rec_stack, frames), frames,
				   1 + id % 3);
		seen |= 1ULL << id;
	}
	PUT(cpu, cpu_sample, tid | 1u << 24, .ip = 0x400000 + id, .ustack_id = id);
}

/* A task runs, calls, and leaves the CPU to the next. */
static void put_turn(u32 n)
{
	static u32 now[2];
	u32 cpu = n % 2, tid = 101 + host_random() % (TASK_CNT + n / 200);
	const u64 args[] = {n, 0x7ffd00000000ULL + n, 64};
	struct fr_rec_sys_enter enter = {.task = tid, .id = n % 3 ? 0 : 257};

	PUT(cpu, sched_waking, FR_BY(now[cpu], task), .target_pid = tid, .target_cpu = cpu);
	host_clock_ns += 1 * US + host_random() % 2000;
	PUT(cpu, sched_switch, now[cpu], .next_pid = tid, .prev_state = n % 3);
	now[cpu] = tid;
	host_clock_ns += 700;
	host_ring_put_nums(ring[cpu], FR_EV_sys_enter, &enter, sizeof(enter), args, 3);
	host_clock_ns += 2 * US + host_random() % 9000;
	PUT(cpu, sys_exit, tid, .id = enter.id, .ret = n % 7 ? 64 : -2);
	if (n % 5 == 0)
		put_sample(cpu, tid, 1 + n / 5 % 20);
	host_clock_ns += 500;
}

static void put_turns(u32 from, u32 to)
{
	u32 n;

	for (n = from; n < to; n++) {
		if (n % 200 == 0)
			put_birth(101 + TASK_CNT + n / 200);
		put_turn(n);
	}
}

static int put_facts(struct fr_snap_writer *w, const char *boot)
{
	int err = fr_snap_put_fact(w, "boot_id", "%s", boot);

	err = err ? err : fr_snap_put_fact(w, "host", "%s", boot);
	err = err ? err : fr_snap_put_fact(w, "arch", "x86_64");
	err = err ? err : fr_snap_put_fact(w, "epoch", "%u", ring[MAIN0]->r.epoch);
	err = err ? err : fr_snap_put_fact(w, "begin_ns", "%llu", (unsigned long long)attached_ns);
	err = err ? err : fr_snap_put_fact(w, "snapshot_ns", "%llu", (unsigned long long)host_clock_ns);
	err = err ? err : fr_snap_put_fact(w, "trigger_reason", "command");
	return err ? err : fr_snap_put_fact(w, "trigger_ts", "%llu", (unsigned long long)host_clock_ns - 100 * US);
}

/* The first tasks are older than the recording: only the table knows them. */
static int put_tasks(struct fr_snap_writer *w)
{
	struct fr_snap_task t[TASK_CNT + 1] = {{.tid = 100, .start_ns = 5, .task = {.tgid = 100, .cgroup = 7, .comm = "init"}}};
	char procs[1024];
	size_t sz = 0;
	u32 i;
	int err;

	for (i = 1; i <= TASK_CNT; i++) {
		t[i] = (struct fr_snap_task){
			.tid = 100 + i, .start_ns = 10 + i, .task = {.tgid = 100 + i, .ppid = 100, .cgroup = 7 + i % 2}};
		snprintf(t[i].task.comm, FR_COMM_SZ, "old-%u", i);
		sz += snprintf(procs + sz, sizeof(procs) - sz, "{\"pid\":%u,\"cmdline\":\"x\",\"cgroup\":\"/%s\"}\n", 100 + i,
			       i % 2 ? "web/one" : "db");
	}
	err = fr_snap_put_tasks(w, t, TASK_CNT + 1);
	err = err ? err : fr_snap_put_tasks(w, born, born_cnt);
	return err ? err : fr_snap_put_procs(w, procs, sz);
}

/* skip: a lap of CPU 0 that is left out, as if it had been overwritten while it was read; 0: none. */
static int put_ring(struct fr_snap_writer *w, struct host_ring *h, u64 skip)
{
	struct fr_snap_ring r = {.cpu = h->r.cpu, .tier = h->r.tier, .slot_cnt = h->r.slot_cnt, .subbuf_sz = 2 * FR_PAGE_SZ};
	struct fr_snap_hole hole = {
		.cpu = h->r.cpu, .tier = h->r.tier, .why = FR_HOLE_overwritten, .first_seq = skip, .last_seq = skip};
	struct fr_ring_map map = host_ring_map(h);
	struct fr_snap_lap lap;
	int err = 0;
	u32 k;

	fr_snap_watch_laps(w, host_ring_count, &r.present);
	for (k = 0; host_ring_lap(h, k, &lap) && !err; k++) {
		u64 base_ns = ((const struct fr_page_head *)lap.buf)->base_ns;

		if (!lap.sz || lap.seq == skip || (since_ns && lap.seq < fr_w_seq(h->r.wr->w)))
			continue;
		err = in_parts ? 0 : fr_snap_put_lap(w, &lap, since_ns);
		if (skip && lap.seq == skip + 1)
			hole.until_ns = base_ns;
		hole.since_ns = lap.seq < skip ? base_ns : hole.since_ns;
		if (lap.seq > 1 && (!r.first_seq || lap.seq == skip + 1))
			r.horizon_ns = base_ns;
		r.first_seq = r.first_seq ?: lap.seq;
		r.last_seq = lap.seq;
	}
	err = err ? err : fr_snap_settle(w);
	if (r.horizon_ns < since_ns)
		r.horizon_ns = since_ns;
	r.overwritten = h->r.wr->overwritten;
	r.written = r.overwritten + fr_ring_read_present(&map);
	if (in_parts)
		r.present = r.written - r.overwritten;
	err = err ? err : fr_snap_put_rings(w, &r, 1);
	return err || !skip ? err : fr_snap_put_holes(w, &hole, 1);
}

static int put_parts(struct fr_snap_writer *w, u64 skip)
{
	struct fr_snap_lap lap;
	bool more = true;
	int err = 0;
	u32 i, k;

	for (k = 0; more; k++) {
		more = false;
		for (i = 0; i < RING_CNT && !err; i++) {
			if (!host_ring_lap(ring[i], k, &lap))
				continue;
			more = true;
			err = lap.sz && (i != MAIN0 || lap.seq != skip) ? fr_snap_put_lap(w, &lap, 0) : 0;
		}
	}
	return err ? err : fr_snap_settle(w);
}

/* Holes for the laps before those of a ring, as merge once wrote them. */
static int put_old_holes(struct fr_snap_writer *w)
{
	const struct fr_snap_hole hole[] = {{.cpu = 0, .first_seq = 8, .last_seq = 9},
					    {.cpu = 1, .first_seq = 8, .last_seq = 9}};
	int err = fr_snap_put_fact(w, "merge_cnt", "2");

	return err ? err : fr_snap_put_holes(w, hole, 2);
}

static u64 b_end_ns; /* when b was taken */

static int dump(const char *dir, const char *name, const char *boot, u64 skip)
{
	/* the second host's clock is another one, by which its last event is a little behind those of b, whatever is random */
	u64 boot_ns = strcmp(boot, "boot-1") ? host_clock_ns - b_end_ns - 5 * MS : 0;
	const struct fr_snap_clock clock = {.ts = host_clock_ns,
					    .mono_ns = host_clock_ns,
					    .real_ns = REAL_NS - boot_ns + host_clock_ns,
					    .uncertainty_ns = 1234};
	struct fr_snap_writer *w;
	char path[4096];
	int err;
	u32 i;

	snprintf(path, sizeof(path), "%s/%s.flight", dir, name);
	if (fr_snap_create(path, BUDGET_SZ, 1, &w))
		return 1;
	err = fr_snap_put_schema(w, schema ?: fr_schema_builtin());
	err = err || in_parts ? err : put_facts(w, boot);
	if (in_parts)
		err = err ? err : put_parts(w, skip);
	for (i = 0; i < RING_CNT && !err; i++)
		err = put_ring(w, ring[i], i == MAIN0 ? skip : 0);
	if (!strcmp(name, "old"))
		err = err ? err : put_old_holes(w);
	err = err || !in_parts ? err : put_facts(w, boot);
	err = err ? err : put_tasks(w);
	err = err ? err : fr_snap_put_clocks(w, &clock, 1);
	return err ? err : fr_snap_finish(w);
}

static void new_rings(u32 epoch)
{
	u32 i;

	for (i = 0; i < RING_CNT; i++) {
		ring[i] = host_ring_new(i == MAIN1,
					i == STACK0  ? FR_TIER_STACK
					: i == LIFE0 ? FR_TIER_LIFE
						     : FR_TIER_MAIN,
					10, 2);
		ring[i]->r.epoch = epoch;
	}
}

static void free_rings(void)
{
	u32 i;

	for (i = 0; i < RING_CNT; i++)
		host_ring_free(ring[i]);
}

/* The lap of CPU 0 before the one that is being written. */
static u64 last_whole_lap(void)
{
	return fr_w_seq(ring[MAIN0]->r.wr->w) - 1;
}

/* Our schema, with a text in it replaced, and lines added at the end. */
static struct fr_schema *other_schema(const char *from, const char *to, const char *more)
{
	struct fr_schema *s = NULL;
	size_t sz;
	char *ours = fr_schema_write(fr_schema_builtin(), &sz), *text = NULL, *at;
	int len;

	at = memmem(ours, sz, from, strlen(from));
	len = asprintf(&text, "%.*s%s%.*s%s", (int)(at - ours), ours, to, (int)(ours + sz - at - strlen(from)),
		       at + strlen(from), more);
	if (len > 0 && fr_schema_parse(text, len, &s))
		s = NULL;
	free(text);
	free(ours);
	return s;
}

/* An additional event; a field of another name; both, so that neither this schema nor ours contains the other. */
static int dump_versions(const char *dir)
{
	static const struct {
		const char *name, *to, *more;
	} version[] = {
		{"more", "s64 ret ", "event 250 novel main mark something new\n"},
		{"other", "s64 outcome ", ""},
		{"apart", "s64 outcome ", "event 250 novel main mark something new\n"},
	};
	size_t i;
	int err = 0;

	for (i = 0; i < sizeof(version) / sizeof(version[0]) && !err; i++) {
		schema = other_schema("s64 ret ", version[i].to, version[i].more);
		err = schema ? dump(dir, version[i].name, "boot-1", 0) : 1;
		fr_schema_free(schema);
		schema = NULL;
	}
	return err;
}

static int dump_last(const char *dir, const char *name)
{
	int err;

	since_ns = host_clock_ns - 200 * US;
	err = dump(dir, name, "boot-1", 0);
	since_ns = 0;
	return err;
}

static int put_session(const char *dir)
{
	u64 lap;
	int err;

	put_turns(0, 50);
	attached_ns = host_clock_ns;
	put_turns(50, 100);
	err = dump(dir, "attaching", "boot-1", 0);
	attached_ns = SEC;
	put_turns(100, 1200);
	err = err ? err : dump(dir, "a", "boot-1", 0);
	lap = last_whole_lap();
	put_turns(1200, 1350);
	err = err ? err : dump_last(dir, "mid");
	put_turns(1350, 1600);
	err = err ? err : dump(dir, "b", "boot-1", lap);
	b_end_ns = host_clock_ns;
	err = err ? err : dump(dir, "end", "boot-1", last_whole_lap() + 1);
	err = err ? err : dump_versions(dir);
	put_turns(1600, 2900);
	err = err ? err : dump(dir, "c", "boot-1", 0);
	err = err ? err : dump_last(dir, "last");
	in_parts = true;
	err = err ? err : dump(dir, "parts", "boot-1", 0);
	err = err ? err : dump(dir, "torn", "boot-1", last_whole_lap() - 3);
	in_parts = false;
	return err ? err : dump(dir, "old", "boot-1", 0);
}

static int put_random(const char *dir)
{
	u32 i;

	for (i = 0; i < 20; i++) {
		host_ring_fill(ring[MAIN0], 20);
		host_ring_fill(ring[MAIN1], 20);
		host_ring_fill(ring[LIFE0], 4);
	}
	return dump(dir, "random", "boot-2", 0);
}

int main(int argc, char **argv)
{
	int err;

	if (argc != 2)
		return 2;
	new_rings(0xabcd1234);
	err = put_session(argv[1]);
	free_rings();
	new_rings(0x1234abcd);
	err = err ? err : put_random(argv[1]);
	free_rings();
	return err != 0;
}
