/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * late: holds a writer inside its record (late.bpf.c) while a timer's interrupts write many times what the tiny ring holds.
 * What they cannot write is lost, by wrap, and counted; nothing is torn; as soon as the writer commits, recording goes on.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "event_fields.h"
#include "live/ring/ring_read.h"
#include "session.h"

#include "late.skel.h" /* names the types above */

#define SLOT_CNT  2u
#define PAGE_CNT  1u /* of a sub-buffer */
#define PERIOD_NS 20000u
#define ROUNDS	  20
#define WANT	  1000u /* interrupts while the writer is held: 7 times what fits */
#define REC_SZ	  (sizeof(struct fr_rec_stack) + 6 * sizeof(u64))
#define FITS	  ((SLOT_CNT + 1) * PAGE_CNT * FR_PAGE_SZ / REC_SZ) /* at most, until they come to the held record's sub-buffer */

static const char test[] = "a writer held inside its record while others lap the ring";

struct env {
	struct late *skel;
	struct fr_ring_map map;
	int cpu, ring_fd, event;
};

static int make_ring(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);

	return bpf_map_create(BPF_MAP_TYPE_ARRAY, "late_ring", 4, FR_PAGE_SZ, FR_DATA_PAGE + (SLOT_CNT + 1) * PAGE_CNT, &opts);
}

static void init_slots(struct fr_slots *sl, int cpu)
{
	u32 i;

	*sl = (struct fr_slots){.magic = FR_RING_MAGIC, .layout = FR_LAYOUT_VERSION, .epoch = 7, .cpu = cpu};
	sl->slot_cnt = SLOT_CNT;
	sl->subbuf_pages = PAGE_CNT;
	for (i = 0; i < SLOT_CNT; i++)
		sl->slot[i] = fr_slot_fresh(i, SLOT_CNT, PAGE_CNT);
}

static int map_ring(struct env *e)
{
	size_t sz = (FR_DATA_PAGE + (SLOT_CNT + 1) * PAGE_CNT) * FR_PAGE_SZ;
	u8 *p = mmap(NULL, sz, PROT_READ | PROT_WRITE, MAP_SHARED, e->ring_fd, 0);

	if (p == MAP_FAILED)
		return -errno;
	init_slots((void *)(p + FR_PAGE_SZ), e->cpu);
	e->map = (struct fr_ring_map){.wr = (void *)p, .sl = (void *)(p + FR_PAGE_SZ), .data = p + 2 * FR_PAGE_SZ};
	e->map.slot_cnt = SLOT_CNT;
	e->map.subbuf_pages = PAGE_CNT;
	e->map.epoch = 7;
	e->map.cpu = e->cpu;
	return 0;
}

static int load(struct env *e)
{
	int tier, template = make_ring(), cpus = libbpf_num_possible_cpus();

	e->skel = late__open();
	if (!e->skel || template <0)
		return -ENOMEM;
	for (tier = 0; tier < FR_TIER_CNT; tier++) {
		e->skel->rodata->fr_geometry[tier].slot_cnt = SLOT_CNT;
		e->skel->rodata->fr_geometry[tier].subbuf_pages = PAGE_CNT;
	}
	e->skel->rodata->fr_epoch = 7;
	bpf_map__set_inner_map_fd(e->skel->maps.fr_main, template);
	bpf_map__set_inner_map_fd(e->skel->maps.fr_life, template);
	bpf_map__set_inner_map_fd(e->skel->maps.fr_stack, template);
	bpf_map__set_inner_map_fd(e->skel->maps.fr_wait, template);
	bpf_map__set_max_entries(e->skel->maps.fr_main, cpus);
	return late__load(e->skel);
}

/* Only the CPU we run on has a ring, and a timer. */
static int set_up(struct env *e)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK, .size = sizeof(attr)};
	cpu_set_t set;
	int err = load(e);

	if (err)
		return err;
	e->cpu = sched_getcpu();
	CPU_ZERO(&set);
	CPU_SET(e->cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	e->ring_fd = make_ring();
	if (e->ring_fd < 0 || bpf_map_update_elem(bpf_map__fd(e->skel->maps.fr_main), &e->cpu, &e->ring_fd, 0))
		return -errno;
	err = map_ring(e);
	attr.sample_period = PERIOD_NS;
	e->event = syscall(SYS_perf_event_open, &attr, -1, e->cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (err || e->event < 0)
		return err ?: -errno;
	return bpf_link_create(bpf_program__fd(e->skel->progs.nested), e->event, BPF_PERF_EVENT, NULL) < 0 ? -errno : 0;
}

static int run_late(struct env *e)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);

	e->skel->bss->late_want = WANT;
	e->skel->bss->quiet = 0;
	return bpf_prog_test_run_opts(bpf_program__fd(e->skel->progs.late), &opts);
}

/* ---- reading ---- */

struct seen {
	u64 records, late, torn, disorder;
};

/* Records of a page, whose frames must be what their id makes them. */
static void check_page(const u64 *page, u32 units, struct seen *seen)
{
	u32 i = FR_PAGE_HEAD_UNITS + FR_SUBBUF_HEAD_UNITS, k, len;
	const struct fr_rec_stack *rec;
	u64 last = 0;

	for (; i < units && (len = fr_head_units(page[i])); i += len) {
		rec = (const void *)&page[i];
		seen->torn += fr_head_event(rec->head) != FR_EV_stack || len != sizeof(*rec) / FR_UNIT_SZ + 6;
		for (k = 0; k < 6; k++)
			seen->torn += rec->frames[k] != rec->stack_id * (k + 3);
		seen->late += rec->stack_id & 1;
		seen->disorder += fr_head_time(rec->head) < last;
		last = fr_head_time(rec->head);
		seen->records++;
	}
}

static int read_ring(struct env *e, struct seen *seen)
{
	u64 page[FR_PAGE_UNITS], first, last, seq;
	struct fr_ring_reader r;
	struct fr_lap lap;
	int err;

	if (fr_ring_read_open(&r, &e->map, NULL, NULL) || fr_ring_read_range(&e->map, &first, &last))
		return -EBADMSG;
	for (seq = first; seq <= last; seq++) {
		u64 before = seen->records;

		err = fr_ring_read_lap(&r, seq, page, sizeof(page), &lap);
		if (err)
			return err;
		check_page(page, lap.com_units, seen);
		if (seen->records - before != lap.cnt)
			return -EBADMSG;
	}
	return 0;
}

static u64 written(const struct env *e)
{
	return e->map.wr->overwritten + fr_ring_read_present(&e->map);
}

static int judge(struct env *e, const struct seen *seen, u64 held)
{
	const u64 *lost = e->map.wr->lost;
	u64 runs = e->skel->bss->nested_runs + e->skel->bss->late_written;
	char why[160] = "";

	if (seen->torn || seen->disorder)
		snprintf(why, sizeof(why), "%llu torn, %llu out of order", seen->torn, seen->disorder);
	else if (written(e) + lost[FR_LOST_wrap] + lost[FR_LOST_retry] + lost[FR_LOST_broken] != runs)
		snprintf(why, sizeof(why), "%llu written, %llu lost, of %llu", written(e), lost[FR_LOST_wrap], runs);
	else if (lost[FR_LOST_broken] || lost[FR_LOST_retry])
		snprintf(why, sizeof(why), "lost broken %llu, retry %llu", lost[FR_LOST_broken], lost[FR_LOST_retry]);
	else if (lost[FR_LOST_wrap] + ROUNDS * FITS < held)
		snprintf(why, sizeof(why), "only %llu lost by wrap while %llu came, of which %zu fit", lost[FR_LOST_wrap], held,
			 ROUNDS * FITS);
	else if (seen->late != ROUNDS)
		snprintf(why, sizeof(why), "%llu late records read", seen->late);
	if (*why) {
		printf("FAIL %s: %s\n", test, why);
		return 1;
	}
	printf("ok %s: held %d times while %llu others came: %llu lost by wrap, %llu read, 0 torn\n", test, ROUNDS, held,
	       lost[FR_LOST_wrap], seen->records);
	return 0;
}

int main(void)
{
	struct env e = {};
	struct seen seen = {};
	u64 held = 0;
	int err = set_up(&e), i;

	if (err) {
		printf("FAIL %s: cannot load: %s\n", test, strerror(-err));
		return 1;
	}
	for (i = 0; i < ROUNDS && !err; i++) {
		err = run_late(&e);
		held += e.skel->bss->late_saw;
		if (!err && e.skel->bss->late_saw < WANT)
			err = -ETIMEDOUT; /* no interrupts */
		err = err ?: read_ring(&e, &seen);
	}
	syscall(SYS_ioctl, e.event, PERF_EVENT_IOC_DISABLE, 0);
	if (err)
		printf("FAIL %s: round %d: %s\n", test, i, strerror(-err));
	else
		return judge(&e, &seen, held);
	return 1;
}
