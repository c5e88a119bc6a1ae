/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * laps: checks successive snapshots of one session, oldest first, taken under tests/kernel/flood.c.
 *
 *	laps FILE...
 *
 * Torn: each record's content is checked by what flood and the kernel guarantee: self-checking arguments, stacks of the kernel
 * whose id is their hash, stacks of users that are the same whenever their id is, switches that follow each other. Out of
 * order: times along a ring. Duplicated: a lap twice in a file, a count twice in a thread. Over files: a lap read again must
 * hold the same records, or go on from where it was. Prints the findings, then a line of JSON; exit status 1 if there were any.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flood.h"
#include "read/snapfile/snapfile.h"

#define RING_MAX   1024u
#define TID_MAX	   (1u << 22)
#define BROKEN_MAX 4096u
#define STACK_MAX  (1u << 20)

/* A lap as an earlier snapshot showed it. */
struct lap {
	u64 seq;
	u64 hash; /* of its first rows records */
	u32 rows;
	bool full;
};

/* One ring over all files. */
struct ring {
	u16 cpu;
	u8 tier;
	struct lap *lap; /* by seq */
	size_t lap_cnt;
	u64 prev_last; /* last lap of the file before */
	/* of the file being read */
	u64 seq, hash, last_ts;
	u32 rows;
	u32 next_off;
	bool any;
	/* of what was checked so far */
	u64 top_seq;
	u32 era;      /* grows where history has a gap */
	s64 next_pid; /* who got the CPU last, -1 unknown */
};

struct counts {
	u64 files, events, laps, again, grown, missed_between, holes, breaks, untraced, torn, order, dup, gap, content, damage;
};

static struct ring rings[RING_MAX];
static size_t ring_cnt;
static struct {
	u64 next; /* flood's count + 1 */
	u32 era;
} * last_count; /* by tid */
static struct counts n;
static u32 broken[BROKEN_MAX]; /* tasks that got a CPU and did not leave it */
static size_t broken_cnt;
static bool *tid_seen; /* a record was made in that task */
static struct {
	u64 id;
	u64 frames; /* their hash */
} * stack_seen;	    /* users', by id */

static void __attribute__((format(printf, 2, 3))) finding(u64 *counter, const char *fmt, ...)
{
	va_list ap;

	if (++*counter > 5)
		return;
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

static struct ring *ring_of(u16 cpu, u8 tier)
{
	struct ring *r;

	for (r = rings; r < rings + ring_cnt; r++)
		if (r->cpu == cpu && r->tier == tier)
			return r;
	if (ring_cnt == RING_MAX)
		exit(1);
	r = &rings[ring_cnt++];
	r->cpu = cpu;
	r->tier = tier;
	r->next_pid = -1;
	return r;
}

/* ---- what is in a record ---- */

static u64 num(const struct fr_row *r, const char *field)
{
	const struct fr_field *f = fr_event_field(r->ev, field);

	if (!f)
		exit(1);
	return fr_row_num(r, f);
}

/* Something is missing before r: to be compared with what was lost. */
static void gap(const struct ring *ring, const struct fr_row *r, u64 want, u64 got)
{
	finding(&n.breaks, "gap: cpu %u, lap %llu, %s of tid %u: %llu expected, %llu seen", ring->cpu,
		(unsigned long long)ring->seq, r->ev->name, r->tid, (unsigned long long)want, (unsigned long long)got);
}

/* Each count of a thread once, in order, without gaps but where the history has them. */
static void check_count(const struct ring *ring, const struct fr_row *r, u64 count)
{
	u64 next = last_count[r->tid % TID_MAX].next;

	if (next > count)
		finding(&n.dup, "count %llu of tid %u after %llu", (unsigned long long)count, r->tid,
			(unsigned long long)next - 1);
	if (next && last_count[r->tid % TID_MAX].era == ring->era)
		if (next != count)
			gap(ring, r, next, count);
	last_count[r->tid % TID_MAX].next = count + 1;
	last_count[r->tid % TID_MAX].era = ring->era;
}

static void check_call(const struct ring *ring, const struct fr_row *r)
{
	const u64 *a, k = FLOOD_KEY;
	size_t cnt;

	if ((s32)num(r, "id") != FLOOD_NR)
		return;
	a = fr_row_nums(r, fr_event_field(r->ev, "args"), &cnt);
	if (cnt != 6 || a[1] != ~a[0] || a[2] != a[0] * k || a[3] != (a[0] ^ k) || a[4] != a[0] + k || a[5] != ring->cpu) {
		finding(&n.torn, "torn: call of tid %u at %llu, lap %llu", r->tid, (unsigned long long)r->ts,
			(unsigned long long)ring->seq);
		return;
	}
	check_count(ring, r, a[0]);
}

/* The sum that bpf/stack.bpf.h makes, without a seed. */
static u64 stack_hash(const u64 *pc, size_t depth)
{
	u64 h = 0xcbf29ce484222325ULL ^ depth;
	size_t i;

	for (i = 0; i < depth; i++) {
		h = (h ^ pc[i]) * 0x9e3779b97f4a7c15ULL;
		h ^= h >> 29;
	}
	return h ? h : 1;
}

/* Is it what this id had before? A user's id is made of what its frames lie in, too, which the record does not say. */
static bool is_as_before(u64 id, u64 frames)
{
	size_t i = id % STACK_MAX, tries;

	for (tries = 0; tries < STACK_MAX; tries++, i = (i + 1) % STACK_MAX) {
		if (stack_seen[i].id == id)
			return stack_seen[i].frames == frames;
		if (!stack_seen[i].id) {
			stack_seen[i].id = id;
			stack_seen[i].frames = frames;
			return true;
		}
	}
	return false; /* more than there is room for */
}

static void check_stack(const struct fr_row *r)
{
	size_t cnt;
	const u64 *pc = fr_row_nums(r, fr_event_field(r->ev, "frames"), &cnt);
	u64 id = num(r, "stack_id"), hash = stack_hash(pc, cnt);
	bool kernel = cnt && pc[0] >> 63;

	if (kernel ? hash != id : !is_as_before(id, hash))
		finding(&n.torn, "torn: stack at %llu, cpu %u", (unsigned long long)r->ts, r->cpu);
}

/*
 * Who got the CPU is not who leaves it: a record is missing, or the kernel does not trace that task at all, as some do not
 * their init. Which of both is known when all was read.
 */
static void keep_broken(const struct ring *ring, const struct fr_row *r)
{
	if (broken_cnt == BROKEN_MAX) {
		gap(ring, r, ring->next_pid, r->tid);
		return;
	}
	broken[broken_cnt++] = ring->next_pid;
}

static void judge_broken(void)
{
	size_t i;

	for (i = 0; i < broken_cnt; i++)
		if (tid_seen[broken[i] % TID_MAX])
			finding(&n.breaks, "gap: tid %u got the CPU, and another left it", broken[i]);
		else
			n.untraced++;
}

static void check_switch(struct ring *ring, const struct fr_row *r)
{
	if (ring->next_pid >= 0 && ring->next_pid != r->tid)
		keep_broken(ring, r);
	ring->next_pid = (s32)num(r, "next_pid");
}

static void check_row(struct ring *ring, const struct fr_row *r)
{
	tid_seen[r->tid % TID_MAX] = true;
	if (!strcmp(r->ev->name, "sys_enter"))
		check_call(ring, r);
	else if (!strcmp(r->ev->name, "sched_switch"))
		check_switch(ring, r);
	else if (!strcmp(r->ev->name, "stack"))
		check_stack(r);
	else if (!strncmp(r->ev->name, "softirq", 7) && num(r, "vec") > 9)
		finding(&n.torn, "torn: softirq %llu", (unsigned long long)num(r, "vec"));
}

static u64 mix(u64 h, u64 v)
{
	h = (h ^ v) * 0xff51afd7ed558ccdULL;
	return h ^ h >> 32;
}

static u64 mix_field(u64 h, const struct fr_row *r, const struct fr_field *f)
{
	const u64 *v;
	const char *text;
	size_t cnt, i;

	if (f->type == FR_TYPE_u64s) {
		v = fr_row_nums(r, f, &cnt);
		for (i = 0; i < cnt; i++)
			h = mix(h, v[i]);
	} else if (f->type == FR_TYPE_str || f->type == FR_TYPE_comm || f->type == FR_TYPE_array || f->type == FR_TYPE_data) {
		text = f->type == FR_TYPE_str || f->type == FR_TYPE_comm ? fr_row_text(r, f, &cnt) : fr_row_bytes(r, f, &cnt);
		for (i = 0; i < cnt; i++)
			h = mix(h, (u8)text[i]);
	} else {
		h = mix(h, fr_row_num(r, f));
	}
	return h;
}

static u64 mix_row(u64 h, const struct fr_row *r, u32 off)
{
	u32 i;

	h = mix(mix(mix(mix(h, r->ts), r->ev->nr), r->tid), off);
	for (i = 0; i < r->ev->field_cnt; i++)
		if (r->ev->fields[i].kind != FR_KIND_DERIVED)
			h = mix_field(h, r, &r->ev->fields[i]);
	return h;
}

/* ---- laps ---- */

static struct lap *find_lap(struct ring *ring, u64 seq)
{
	size_t lo = 0, hi = ring->lap_cnt;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (ring->lap[mid].seq < seq)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < ring->lap_cnt && ring->lap[lo].seq == seq ? &ring->lap[lo] : NULL;
}

static void add_lap(struct ring *ring, struct lap lap)
{
	if (!(ring->lap_cnt & (ring->lap_cnt - 1)))
		ring->lap = realloc(ring->lap, (ring->lap_cnt ? ring->lap_cnt * 2 : 1) * sizeof(lap));
	if (!ring->lap)
		exit(1);
	ring->lap[ring->lap_cnt++] = lap;
}

/* The lap read just now is at its end. Full: another follows it in the file. */
static void end_lap(struct ring *ring, bool full)
{
	struct lap *was = find_lap(ring, ring->seq);

	n.laps++;
	if (!was) {
		add_lap(ring, (struct lap){ring->seq, ring->hash, ring->rows, full});
		return;
	}
	n.again++;
	if (ring->rows < was->rows || (ring->rows == was->rows && ring->hash != was->hash) ||
	    (was->full && ring->rows != was->rows))
		finding(&n.content, "lap %llu of cpu %u, tier %u is not what it was: %u records, %u before",
			(unsigned long long)ring->seq, ring->cpu, ring->tier, ring->rows, was->rows);
	n.grown += ring->rows > was->rows;
	*was = (struct lap){ring->seq, ring->hash, ring->rows, full};
}

/* Seen before and not yet as far as it was then: its records were checked in an earlier file. */
static bool seen_before(const struct ring *ring, const struct lap *was)
{
	return was && ring->rows < was->rows;
}

/* The first lap of a file goes on with what was checked only if it was seen before: the last lap of a file is partial. */
static void note_gap(struct ring *ring, u64 seq)
{
	bool follows = ring->any && seq == ring->seq + 1;

	if (!follows && seq > ring->top_seq) {
		ring->era++;
		ring->next_pid = -1;
	}
	if (seq > ring->top_seq)
		ring->top_seq = seq;
}

static void begin_lap(struct ring *ring, u64 seq)
{
	if (ring->any && seq <= ring->seq)
		finding(&n.dup, "lap %llu of cpu %u, tier %u after %llu", (unsigned long long)seq, ring->cpu, ring->tier,
			(unsigned long long)ring->seq);
	else if (ring->any)
		end_lap(ring, true);
	note_gap(ring, seq);
	ring->any = true;
	ring->seq = seq;
	ring->hash = ring->rows = ring->next_off = 0;
}

static void take_row(struct ring *ring, const struct fr_row *r)
{
	const struct lap *was;
	u64 seq;
	u32 off;

	fr_row_pos(r, &seq, &off);
	if (!ring->any || seq != ring->seq)
		begin_lap(ring, seq);
	else if (off < ring->next_off)
		finding(&n.dup, "offset %u of lap %llu twice", off, (unsigned long long)seq);
	ring->next_off = off + 16;
	if (r->ts < ring->last_ts)
		finding(&n.order, "cpu %u, tier %u: %llu after %llu", r->cpu, r->tier, (unsigned long long)r->ts,
			(unsigned long long)ring->last_ts);
	ring->last_ts = r->ts;
	was = find_lap(ring, seq);
	if (!seen_before(ring, was))
		check_row(ring, r);
	ring->hash = mix_row(ring->hash, r, off);
	ring->rows++;
	if (was && ring->rows == was->rows && ring->hash != was->hash)
		finding(&n.content, "lap %llu of cpu %u, tier %u: its first %u records are not what they were",
			(unsigned long long)seq, ring->cpu, ring->tier, was->rows);
	n.events++;
}

/* ---- files ---- */

static void read_chunks(struct fr_snap *s)
{
	struct fr_batch b = {};
	size_t cnt, i;
	u32 row;

	fr_snap_chunks(s, &cnt);
	for (i = 0; i < cnt; i++) {
		if (fr_snap_read_chunk(s, i, &b))
			continue; /* counted as damage */
		for (row = 0; row < b.row_cnt; row++) {
			struct fr_row r = fr_batch_row(&b, row);

			take_row(ring_of(b.cpu, b.tier), &r);
		}
	}
	fr_batch_free(&b);
}

static u64 laps_in_holes(const struct fr_snap *s, const struct ring *ring)
{
	const struct fr_snap_hole *h;
	size_t cnt, i;
	u64 laps = 0;

	h = fr_snap_holes(s, &cnt);
	for (i = 0; i < cnt; i++)
		if (h[i].cpu == ring->cpu && h[i].tier == ring->tier)
			laps += h[i].last_seq - h[i].first_seq + 1;
	return laps;
}

/* Each lap from the first to the last is in the file or in a hole of it; the file goes on where the one before ended. */
static void check_ring(const struct fr_snap *s, const struct fr_snap_ring *info, u64 laps)
{
	struct ring *ring = ring_of(info->cpu, info->tier);
	u64 holes = laps_in_holes(s, ring);

	if (!info->last_seq)
		return;
	n.holes += holes;
	if (laps + holes < info->last_seq - info->first_seq + 1)
		finding(&n.gap, "cpu %u, tier %u: laps %llu to %llu, but %llu read and %llu missed", info->cpu, info->tier,
			(unsigned long long)info->first_seq, (unsigned long long)info->last_seq, (unsigned long long)laps,
			(unsigned long long)holes);
	if (info->last_seq < ring->prev_last)
		finding(&n.gap, "cpu %u, tier %u ends with lap %llu, the file before with %llu", info->cpu, info->tier,
			(unsigned long long)info->last_seq, (unsigned long long)ring->prev_last);
	if (info->first_seq > ring->prev_last + 1)
		n.missed_between += info->first_seq - ring->prev_last - 1;
	ring->prev_last = info->last_seq;
}

static u64 laps_of(const struct fr_snap *s, u16 cpu, u8 tier)
{
	const struct fr_chunk *c;
	u64 laps = 0, last = 0;
	size_t cnt, i;

	c = fr_snap_chunks(s, &cnt);
	for (i = 0; i < cnt; i++)
		if (c[i].cpu == cpu && c[i].tier == tier) {
			laps += c[i].last_seq - c[i].first_seq + (c[i].first_seq != last);
			last = c[i].last_seq;
		}
	return laps;
}

static void end_file(struct fr_snap *s)
{
	const struct fr_snap_ring *info;
	struct ring *ring;
	size_t cnt, i;

	for (ring = rings; ring < rings + ring_cnt; ring++)
		if (ring->any)
			end_lap(ring, false);
	info = fr_snap_rings(s, &cnt);
	for (i = 0; i < cnt; i++)
		check_ring(s, &info[i], laps_of(s, info[i].cpu, info[i].tier));
	for (i = 0; i < fr_snap_damage(s); i++)
		finding(&n.damage, "damage: %s", fr_snap_damage_text(s, i));
}

static int check_file(const char *path)
{
	struct fr_snap *s;
	struct ring *ring;

	if (fr_snap_open(path, &s)) {
		printf("cannot open %s\n", path);
		return 1;
	}
	for (ring = rings; ring < rings + ring_cnt; ring++) {
		ring->any = false;
		ring->last_ts = 0;
	}
	n.files++;
	read_chunks(s);
	end_file(s);
	fr_snap_close(s);
	return 0;
}

int main(int argc, char **argv)
{
	int i, bad = 0;

	last_count = calloc(TID_MAX, sizeof(*last_count));
	tid_seen = calloc(TID_MAX, sizeof(*tid_seen));
	stack_seen = calloc(STACK_MAX, sizeof(*stack_seen));
	if (!last_count || !tid_seen || !stack_seen)
		return 1;
	for (i = 1; i < argc; i++)
		bad |= check_file(argv[i]);
	judge_broken();
#define SHOW(field) printf("\"" #field "\":%llu,", (unsigned long long)n.field)
	putchar('{');
	SHOW(events), SHOW(laps), SHOW(again), SHOW(grown), SHOW(missed_between), SHOW(holes), SHOW(breaks), SHOW(untraced),
		SHOW(torn);
	SHOW(order), SHOW(dup), SHOW(gap), SHOW(content), SHOW(damage);
	printf("\"files\":%llu}\n", (unsigned long long)n.files);
	return bad || n.torn || n.order || n.dup || n.gap || n.content || n.damage;
}
