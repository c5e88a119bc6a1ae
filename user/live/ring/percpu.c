/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/ring/percpu.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"

static u32 page_cnt(const struct fr_geometry *geo)
{
	return FR_DATA_PAGE + (geo->slot_cnt + 1) * geo->subbuf_pages;
}

static u64 percpu_ring_sz(const struct fr_geometry *geo)
{
	return (u64)page_cnt(geo) * FR_PAGE_SZ;
}

int fr_percpu_make_ring(const struct fr_geometry *geo, int node)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE | BPF_F_NUMA_NODE, .numa_node = node);
	int err, fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "fr_ring", sizeof(u32), FR_PAGE_SZ, page_cnt(geo), &opts);

	if (fd >= 0)
		return fd;
	err = -errno;
	fr_err("cannot make a ring of %llu KiB: %s: %s", percpu_ring_sz(geo) / 1024, strerror(-err),
	       fr_err_bpf_cure(err, "use less memory (-m)"));
	return err;
}

static int init_writer(int fd, const struct fr_percpu_ring *r)
{
	const u32 key = FR_WRITER_PAGE;
	const union {
		struct fr_writer wr;
		char page[FR_PAGE_SZ];
	} init = {.wr = {.mark = {FR_WRITER_MAGIC, r->epoch}, .cpu = r->cpu, .tier = r->tier}};

	return bpf_map_update_elem(fd, &key, &init, BPF_ANY) ? -errno : 0;
}

static int init_slots(int fd, const struct fr_percpu_ring *r)
{
	const u32 key = FR_SLOT_PAGE;
	u32 i;
	union {
		struct fr_slots slots;
		char page[FR_PAGE_SZ];
	} init = {.slots = {
			  .magic = FR_RING_MAGIC,
			  .layout = FR_LAYOUT_VERSION,
			  .epoch = r->epoch,
			  .cpu = r->cpu,
			  .tier = r->tier,
			  .slot_cnt = r->geo->slot_cnt,
			  .subbuf_pages = r->geo->subbuf_pages,
		  }};

	for (i = 0; i < r->geo->slot_cnt; i++)
		init.slots.slot[i] = fr_slot_fresh(i, r->geo->slot_cnt, r->geo->subbuf_pages);
	return bpf_map_update_elem(fd, &key, &init, BPF_ANY) ? -errno : 0;
}

int fr_percpu_init_ring(int fd, const struct fr_percpu_ring *r)
{
	return init_writer(fd, r) ?: init_slots(fd, r);
}

static int percpu_open_event(const struct perf_event_attr *attr, u32 cpu)
{
	int fd = syscall(SYS_perf_event_open, attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* Does the counter count this process's cycles? */
static bool cycles_count(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.size = sizeof(attr),
	};
	int fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC), i;
	u64 cnt = 0;

	if (fd < 0)
		return false;
	for (i = 0; i < 100000; i++)
		asm volatile("");
	if (read(fd, &cnt, sizeof(cnt)) != sizeof(cnt))
		cnt = 0;
	close(fd);
	return cnt;
}

static const struct fr_sample_ops ops = {percpu_open_event, cycles_count};

enum fr_sample_event fr_percpu_choose_event(u32 cpu, u32 hz)
{
	return fr_sample_event_choose(&ops, cpu, hz);
}

int fr_percpu_open_tp(u32 id, u32 cpu)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT, .config = id, .size = sizeof(attr)};

	return percpu_open_event(&attr, cpu);
}

#define UP_DIR "/sys/bus/event_source/devices/uprobe"

/* A number behind a prefix, -errno. */
static int percpu_read_number(const char *path, const char *prefix)
{
	char line[64];
	FILE *f = fopen(path, "re");
	int nr = f ? -EINVAL : -errno;

	if (f && fgets(line, sizeof(line), f) && !strncmp(line, prefix, strlen(prefix)))
		nr = atoi(line + strlen(prefix));
	if (f)
		fclose(f);
	return nr;
}

int fr_percpu_up_type(void)
{
	return percpu_read_number(UP_DIR "/type", "");
}

int fr_percpu_open_up(const char *path, u64 off, u32 counter, bool is_return, u32 cpu)
{
	int type = fr_percpu_up_type(), bit = percpu_read_number(UP_DIR "/format/retprobe", "config:");
	int shift = counter ? percpu_read_number(UP_DIR "/format/ref_ctr_offset", "config:") : 0;
	struct perf_event_attr attr = {.size = sizeof(attr)};

	if (type < 0 || bit < 0 || shift < 0)
		return type < 0 ? type : bit < 0 ? bit : shift;
	attr.type = type;
	attr.config = (u64)is_return << bit | (u64)counter << shift;
	attr.uprobe_path = (u64)(unsigned long)path;
	attr.probe_offset = off;
	return percpu_open_event(&attr, cpu);
}

int fr_percpu_open_event(enum fr_sample_event ev, u32 cpu, u32 hz)
{
	return fr_sample_event_open(&ops, ev, cpu, hz);
}

/* Atomic, so that a killed process leaves one pin or the other: pin beside it, then rename over it. */
static int percpu_pin_over(int fd, const char *path)
{
	char beside[512];

	if (snprintf(beside, sizeof(beside), "%s-new", path) >= (int)sizeof(beside))
		return -ENAMETOOLONG;
	unlink(beside);
	if (bpf_obj_pin(fd, beside))
		return -errno;
	return rename(beside, path) ? -errno : 0;
}

/* libbpf's link of a perf event disables the event when the link is destroyed, pinned or not, so make a bare link. */
int fr_percpu_sample(int prog_fd, int event_fd, const char *path)
{
	int link = bpf_link_create(prog_fd, event_fd, BPF_PERF_EVENT, NULL), err;

	if (link < 0)
		return -errno;
	err = percpu_pin_over(link, path);
	close(link);
	return err;
}
