/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* sess_wait: what became of long waits, summed over the CPUs. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "live/session/load.h"
#include "live/session/sess_int.h"

#define WHOLE_TRIES 100 /* to copy a CPU's sums while none is being added to */

/* A pin that has a value of each CPU, and room for all of them. */
struct per_cpu {
	int fd;
	u32 sz; /* of a value */
	u32 cpu_cnt;
	char *all;
};

static void wait_free(struct per_cpu *p)
{
	free(p->all);
	if (p->fd >= 0)
		close(p->fd);
}

/* 0 or -errno; wait_free() in either case. */
static int wait_open(struct per_cpu *p, const struct fr_sess *s, const char *name, u32 least_sz)
{
	struct bpf_map_info info = {};
	u32 len = sizeof(info);

	*p = (struct per_cpu){.fd = fr_sess_get_pin(s, name), .cpu_cnt = fr_load_possible_cnt()};
	if (p->fd < 0)
		return p->fd;
	if (bpf_obj_get_info_by_fd(p->fd, &info, &len))
		return -errno;
	if (info.type != BPF_MAP_TYPE_PERCPU_ARRAY || info.value_size < least_sz || info.value_size % sizeof(u64))
		return -EPROTO;
	p->sz = info.value_size;
	p->all = calloc(p->cpu_cnt, p->sz);
	return p->all ? 0 : -ENOMEM;
}

static int wait_read(const struct per_cpu *p)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(p->fd, &zero, p->all) ? -errno : 0;
}

static void *wait_of(const struct per_cpu *p, u32 cpu)
{
	return p->all + (size_t)cpu * p->sz;
}

/* Each CPU's value of pin "waits" begins with its counts (bpf/wait.bpf.h). */
static int wait_read_counts(const struct fr_sess *s, struct fr_wait_counts *out)
{
	struct fr_wait_counts one;
	struct per_cpu p;
	u32 cpu, i;
	int err = wait_open(&p, s, "waits", sizeof(one));

	err = err ?: wait_read(&p);
	for (cpu = 0; cpu < p.cpu_cnt && !err; cpu++) {
		memcpy(&one, wait_of(&p, cpu), sizeof(one));
		for (i = 0; i < sizeof(one) / sizeof(u64); i++)
			((u64 *)out)[i] += ((u64 *)&one)[i];
	}
	wait_free(&p);
	return err;
}

/* ---- waits beyond the budget ---- */

/* Add those CPUs whose sums were copied whole; taken: which were before. Returns how many are left. */
static int wait_take_sums(const struct per_cpu *p, bool *taken, bool last, struct fr_waitsums *sums)
{
	const struct fr_wait_over *o;
	int left = 0;
	u32 cpu;

	for (cpu = 0; cpu < p->cpu_cnt; cpu++) {
		o = wait_of(p, cpu);
		if (taken[cpu])
			continue;
		if (o->done != o->begun && !last) {
			left++;
			continue;
		}
		taken[cpu] = true;
		if (fr_waitsums_add(sums, o))
			return -ENOMEM;
	}
	return left;
}

static int wait_read_sums(const struct fr_sess *s, struct fr_waitsums *sums)
{
	struct per_cpu p;
	bool *taken = NULL;
	int err = wait_open(&p, s, "waits-over", sizeof(struct fr_wait_over)), left = 1;
	u32 tries;

	if (!err) {
		taken = calloc(p.cpu_cnt, sizeof(*taken));
		err = taken ? 0 : -ENOMEM;
	}
	for (tries = 1; !err && left > 0; tries++) {
		err = wait_read(&p);
		left = err ? 0 : wait_take_sums(&p, taken, tries == WHOLE_TRIES, sums);
		err = left < 0 ? left : err;
	}
	free(taken);
	wait_free(&p);
	return err;
}

/* Of a task that the table does not know, or no longer, there is no name. */
static void wait_name(const struct fr_sess *s, struct fr_waitsums *sums)
{
	int fd = sums->cnt ? fr_sess_get_pin(s, "tasks") : -1;
	struct fr_task task;
	u32 i;

	for (i = 0; fd >= 0 && i < sums->cnt; i++) {
		const struct fr_task_key key = {
			.tid = sums->at[i].tid, .epoch = s->ring_cnt ? s->ring[0].epoch : 0, .start_ns = sums->at[i].start_ns};

		if (!bpf_map_lookup_elem(fd, &key, &task))
			memcpy(sums->at[i].comm, task.comm, sizeof(task.comm));
	}
	if (fd >= 0)
		close(fd);
}

int fr_sess_waits(const struct fr_sess *s, struct fr_wait_counts *out, struct fr_waitsums *sums)
{
	struct utsname host;
	int err;

	memset(out, 0, sizeof(*out));
	memset(sums, 0, sizeof(*sums));
	err = wait_read_counts(s, out) ?: wait_read_sums(s, sums);
	if (err) {
		fr_waitsums_free(sums);
		return err;
	}
	fr_waitsums_end(sums, uname(&host) ? NULL : host.machine);
	wait_name(s, sums);
	out->over = sums->all.cnt;
	out->over_ns = sums->all.off_ns;
	return 0;
}
