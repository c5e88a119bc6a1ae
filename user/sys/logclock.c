/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sys/logclock.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sys/now.h"

#define PAGE_SZ 4096u
#define TRIES	5
#define MILLION 1000000u

/* The time of the last mapping in the buffer behind the page p, where its own may be, too; 0: there is none. */
static u64 logclock_read(const struct perf_event_mmap_page *p, const u8 *data, size_t sz)
{
	u64 head = __atomic_load_n(&p->data_head, __ATOMIC_ACQUIRE), at, time; /* with the kernel's store behind the record */
	struct perf_event_header h;
	u64 last = 0;

	for (at = 0; at + sizeof(h) <= head && at + sizeof(h) <= sz; at += h.size) {
		memcpy(&h, data + at, sizeof(h));
		if (h.size < sizeof(h) + sizeof(time) || at + h.size > head || at + h.size > sz)
			return 0;
		/* what all records have stands at their end: the time alone */
		memcpy(&time, data + at + h.size - sizeof(time), sizeof(time));
		if (h.type == PERF_RECORD_MMAP)
			last = time;
	}
	return last;
}

static int logclock_once(struct fr_logclock *out)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.mmap = 1,
		.mmap_data = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	size_t page_sz = sysconf(_SC_PAGESIZE);
	void *ring, *any;
	u64 a, b;
	int fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC), err = 0;

	if (fd < 0)
		return -errno;
	ring = mmap(NULL, 2 * page_sz, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ring == MAP_FAILED) {
		err = -errno;
		close(fd);
		return err;
	}
	a = fr_now_ns(CLOCK_MONOTONIC);
	any = mmap(NULL, PAGE_SZ, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	b = fr_now_ns(CLOCK_MONOTONIC);
	*out = (struct fr_logclock){
		.local_ns = logclock_read(ring, (u8 *)ring + page_sz, page_sz),
		.mono_ns = a + (b - a) / 2,
		.uncertainty_ns = (b - a + 1) / 2,
	};
	if (any != MAP_FAILED)
		munmap(any, PAGE_SZ);
	munmap(ring, 2 * page_sz);
	close(fd);
	return out->local_ns ? 0 : -ENODATA;
}

int fr_logclock_sample(struct fr_logclock *out)
{
	struct fr_logclock best = {.uncertainty_ns = ~0ULL}, c = {};
	int i, err;

	for (i = 0; i < TRIES; i++) {
		err = logclock_once(&c);
		if (err)
			return err;
		if (c.uncertainty_ns < best.uncertainty_ns)
			best = c;
	}
	*out = best;
	return 0;
}

u64 fr_logclock_mono(const struct fr_logclock *c, u64 local_ns, u64 *uncertainty_ns)
{
	u64 apart_ns = local_ns > c->local_ns ? local_ns - c->local_ns : c->local_ns - local_ns, off = c->mono_ns - c->local_ns;

	*uncertainty_ns = c->uncertainty_ns + apart_ns / MILLION * FR_LOGCLOCK_DRIFT_PPM;
	return (s64)off < 0 && local_ns < -off ? 0 : local_ns + off;
}
