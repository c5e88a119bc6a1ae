/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "event_fields.h"
#include "live/session/current.h"
#include "session.h"

#include "hot.skel.h" /* names the types above */
#include "hot_set.h"
#include "perfbuf.h"

#define SLOT_CNT     120
#define SUBBUF_PAGES 16

#define RB_OVERWRITE   (1u << 19)   /* BPF_F_RB_OVERWRITE, which is younger than the headers */
#define MAP_TYPE_ARENA 33	    /* BPF_MAP_TYPE_ARENA, as young */
#define ARENA_ADDR     (1ull << 44) /* far from all that is mapped, 4 GiB from each other */
#define ARENA_STEP     (1ull << 32)

struct hot_set {
	struct hot *skel;
	u64 *consumer, *producer; /* of the ringbuf */
};

void hot_die(const char *what, int err)
{
	fprintf(stderr, "hot: %s: %s\n", what, strerror(err < 0 ? -err : err));
	exit(1);
}

/* Whether this kernel makes such a map: it is asked. */
static bool has_map(int type, u32 flags, u32 entries)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = flags);
	int fd = bpf_map_create(type, "hot_asks", 0, 0, entries, &opts);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

bool hot_has_overwriting(void)
{
	return has_map(BPF_MAP_TYPE_RINGBUF, RB_OVERWRITE, sysconf(_SC_PAGESIZE));
}

bool hot_has_arenas(void)
{
	return has_map(MAP_TYPE_ARENA, BPF_F_MMAPABLE, 1);
}

static int make_ring(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "hot_ring", 4, FR_PAGE_SZ, FR_DATA_PAGE + (SLOT_CNT + 1) * SUBBUF_PAGES,
				&opts);

	if (fd < 0)
		hot_die("cannot make a ring", errno);
	return fd;
}

static void add_ring(const struct hot *skel, u32 cpu)
{
	union {
		struct fr_slots slots;
		char page[FR_PAGE_SZ];
	} init = {.slots = {.magic = FR_RING_MAGIC, .layout = FR_LAYOUT_VERSION, .cpu = cpu}};
	u32 key = FR_SLOT_PAGE, i;
	int fd = make_ring();

	for (i = 0; i < SLOT_CNT; i++)
		init.slots.slot[i] = fr_slot_fresh(i, SLOT_CNT, SUBBUF_PAGES);
	if (bpf_map_update_elem(fd, &key, &init, 0) || bpf_map_update_elem(bpf_map__fd(skel->maps.fr_main), &cpu, &fd, 0))
		hot_die("cannot set up a ring", errno);
	close(fd);
}

static void map_ringbuf(struct hot_set *set)
{
	int fd = bpf_map__fd(set->skel->maps.ringbuf);
	long page = sysconf(_SC_PAGESIZE);

	set->consumer = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	set->producer = mmap(NULL, page, PROT_READ, MAP_SHARED, fd, page);
	if (set->consumer == MAP_FAILED || set->producer == MAP_FAILED)
		hot_die("cannot map the ringbuf", errno);
}

/* Everything is read, for all we care. */
void hot_set_drain(const struct hot_set *set)
{
	__atomic_store_n(set->consumer, __atomic_load_n(set->producer, __ATOMIC_ACQUIRE), __ATOMIC_RELEASE);
}

/* Its address has to be known before the programs are loaded, and be the same here: where nothing else is. */
static void place_arena(struct hot *skel, int nr)
{
	bool has = hot_has_arenas();

	skel->rodata->arena_addr = ARENA_ADDR + nr * ARENA_STEP;
	bpf_map__set_autocreate(skel->maps.arena, has);
	bpf_map__set_map_extra(skel->maps.arena, skel->rodata->arena_addr);
	bpf_program__set_autoload(skel->progs.loop_tried_arena, has);
}

/* Its pages come into being when they are touched here; a program that touches one that is not there writes nowhere. */
static void map_arena(const struct hot *skel)
{
	size_t sz = bpf_map__max_entries(skel->maps.arena) * sysconf(_SC_PAGESIZE);
	void *at = (void *)skel->rodata->arena_addr;

	if (!hot_has_arenas())
		return;
	if (mmap(at, sz, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, bpf_map__fd(skel->maps.arena), 0) != at)
		hot_die("cannot map the arena", errno);
	memset(at, 0, sz);
}

static s64 current_offset(void)
{
	struct btf *btf = btf__load_vmlinux_btf();
	s64 off = btf ? fr_current_offset(btf) : 0;

	btf__free(btf);
	return off;
}

struct hot_set *hot_set_load(u64 grain_ns, int nr)
{
	struct hot_set *set = calloc(1, sizeof(*set));
	int template = make_ring(), tier, err;
	struct hot *skel = hot__open();
	u32 cpu;

	if (!set || !skel)
		hot_die("cannot open", errno);
	for (tier = 0; tier < FR_TIER_CNT; tier++) {
		skel->rodata->fr_geometry[tier].slot_cnt = SLOT_CNT;
		skel->rodata->fr_geometry[tier].subbuf_pages = SUBBUF_PAGES;
	}
	skel->rodata->fr_current_off = current_offset();
	skel->rodata->fr_grain_ns = grain_ns;
	skel->rodata->fr_generation = 1;
	skel->data_session->fr_session.enable[FR_EV_sys_enter] = 1;
	bpf_map__set_inner_map_fd(skel->maps.fr_main, template);
	bpf_map__set_inner_map_fd(skel->maps.fr_life, template);
	bpf_map__set_inner_map_fd(skel->maps.fr_stack, template);
	bpf_map__set_inner_map_fd(skel->maps.fr_wait, template);
	bpf_map__set_max_entries(skel->maps.fr_main, libbpf_num_possible_cpus());
	bpf_map__set_map_flags(skel->maps.ringbuf_over, hot_has_overwriting() ? RB_OVERWRITE : 0);
	place_arena(skel, nr);
	err = hot__load(skel);
	if (err)
		hot_die("cannot load", err);
	set->skel = skel;
	map_arena(skel);
	for (cpu = 0; cpu < HOT_CPU_MAX; cpu++) {
		add_ring(skel, cpu);
		fr_current_find_on(bpf_program__fd(skel->progs.fr_find_current), cpu);
	}
	map_ringbuf(set);
	for (cpu = 0; cpu < HOT_CPU_MAX; cpu++)
		add_perfbuf(bpf_map__fd(skel->maps.perfbuf), cpu);
	close(template);
	return set;
}

struct bpf_program *hot_set_prog(const struct hot_set *set, const char *name)
{
	return bpf_object__find_program_by_name(set->skel->obj, name);
}

u64 hot_set_took_ns(const struct hot_set *set, int cpu)
{
	return set->skel->bss->took_ns[cpu * (FR_CACHE_SZ / sizeof(u64))];
}

/* Records that a CPU's main ring had no place for. */
static u64 ring_lost(const struct hot *skel, u32 cpu)
{
	union {
		struct fr_writer wr;
		char page[FR_PAGE_SZ];
	} writer;
	u32 id, key = 0, i;
	u64 sum = 0;
	int fd;

	if (bpf_map_lookup_elem(bpf_map__fd(skel->maps.fr_main), &cpu, &id))
		hot_die("cannot find a ring", errno);
	fd = bpf_map_get_fd_by_id(id);
	if (fd < 0 || bpf_map_lookup_elem(fd, &key, &writer))
		hot_die("cannot read a ring", errno);
	close(fd);
	for (i = 0; i < FR_LOST_CNT; i++)
		sum += writer.wr.lost[i];
	return sum;
}

static u64 our_lost(const struct hot *skel)
{
	u64 sum = skel->bss->tried_lost + skel->data_session->fr_session.no_ring;
	u32 cpu;

	for (cpu = 0; cpu < HOT_CPU_MAX; cpu++)
		sum += ring_lost(skel, cpu);
	return sum;
}

void hot_set_check_losses(const struct hot_set *set)
{
	u64 ringbuf = set->skel->bss->ringbuf_lost, perfbuf = set->skel->bss->perfbuf_lost, ours = our_lost(set->skel);

	if (!ringbuf && !perfbuf && !ours)
		return;
	fprintf(stderr, "hot: %llu records of the ringbuf were lost, %llu of the perf buffer, %llu of ours\n",
		(unsigned long long)ringbuf, (unsigned long long)perfbuf, (unsigned long long)ours);
	exit(1);
}
