/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* sess_map: a session's maps in memory. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/set/vec.h"
#include "live/session/sess_int.h"
#include "sys/dir.h"

#define RING_MAX 65536u /* rings per session; more means it is not ours */

bool fr_sess_is_array(int fd, u32 value_sz, u32 *entries)
{
	struct bpf_map_info info = {};
	u32 len = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &len))
		return false;
	*entries = info.max_entries;
	return info.type == BPF_MAP_TYPE_ARRAY && info.value_size == value_sz;
}

/* Map a global variable's map (one element); NULL with errno. */
static void *map_global(const struct fr_sess *s, const char *name, size_t sz)
{
	int fd = fr_sess_get_pin(s, name);
	void *p;

	if (fd < 0) {
		errno = -fd;
		return NULL;
	}
	p = mmap(NULL, sz, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return p == MAP_FAILED ? NULL : p;
}

static size_t map_ring_sz(const struct fr_ring_map *m)
{
	return (size_t)(FR_DATA_PAGE + (m->slot_cnt + 1) * m->subbuf_pages) * FR_PAGE_SZ;
}

/* It must agree with the map's size and the pin's name. */
static bool map_is_sound(const struct fr_ring_map *m, u32 entries, const struct fr_ring_map *want)
{
	return m->sl->magic == FR_RING_MAGIC && m->sl->layout == FR_LAYOUT_VERSION && m->cpu == want->cpu &&
	       m->tier == want->tier && m->slot_cnt >= FR_SLOT_MIN && m->slot_cnt <= FR_SLOT_MAX && m->subbuf_pages >= 1 &&
	       m->subbuf_pages <= FR_SUBBUF_PAGE_MAX && entries == FR_DATA_PAGE + (m->slot_cnt + 1) * m->subbuf_pages;
}

/*
 * User space may write only the slot words, never the write position; make that impossible here. Where the machine's pages are
 * larger than the ring's (arm64 with 64 KiB) they cannot be protected separately.
 */
static int protect(char *base, size_t sz)
{
	const size_t data = FR_DATA_PAGE * FR_PAGE_SZ;

	if (sysconf(_SC_PAGESIZE) != FR_PAGE_SZ)
		return 0;
	if (mprotect(base, FR_PAGE_SZ, PROT_READ) || mprotect(base + data, sz - data, PROT_READ))
		return -errno;
	return 0;
}

int fr_sess_only_read(struct fr_sess *s)
{
	size_t i;

	for (i = 0; i < s->ring_cnt && sysconf(_SC_PAGESIZE) == FR_PAGE_SZ; i++)
		if (mprotect(s->ring[i].sl, FR_PAGE_SZ, PROT_READ))
			return -errno;
	return 0;
}

static int map_ring(int fd, const struct fr_ring_map *want, struct fr_ring_map *m)
{
	struct fr_ring_map got;
	u32 entries;
	size_t sz;
	char *base;
	int err;

	if (!fr_sess_is_array(fd, FR_PAGE_SZ, &entries) || entries < FR_DATA_PAGE + 1)
		return -EPROTO;
	sz = (size_t)entries * FR_PAGE_SZ;
	base = mmap(NULL, sz, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (base == MAP_FAILED)
		return -errno;
	got = fr_ring_map_at(base);
	err = map_is_sound(&got, entries, want) ? protect(base, sz) : -EPROTO;
	if (err)
		munmap(base, sz);
	else
		*m = got;
	return err;
}

static int tier_nr(const char *name)
{
	u32 tier;

	for (tier = 0; tier < FR_TIER_CNT; tier++)
		if (!strcmp(name, fr_tier_name(tier)))
			return tier;
	return -1;
}

static bool is_mapped(const struct fr_sess *s, u32 cpu, u32 tier)
{
	size_t i;

	for (i = 0; i < s->ring_cnt; i++)
		if (s->ring[i].cpu == cpu && s->ring[i].tier == tier)
			return true;
	return false;
}

static int map_add_ring(struct fr_sess *s, const char *pin)
{
	struct fr_ring_map *more, want = {};
	char tier_name[32];
	u32 cpu;
	int fd, err, tier;

	if (sscanf(pin, "ring-%u-%31s", &cpu, tier_name) != 2 || cpu > 0xffff)
		return 0;
	tier = tier_nr(tier_name);
	if (tier < 0 || s->ring_cnt >= RING_MAX)
		return -EPROTO;
	if (is_mapped(s, cpu, tier))
		return 0;
	more = fr_vec_more(&s->ring, s->ring_cnt);
	if (!more)
		return -ENOMEM;
	fd = fr_sess_get_pin(s, pin);
	if (fd < 0)
		return fd;
	want = (struct fr_ring_map){.cpu = cpu, .tier = tier};
	err = map_ring(fd, &want, more);
	close(fd);
	if (!err)
		s->ring_cnt++;
	return err;
}

static int map_by_cpu_tier(const void *a, const void *b)
{
	const struct fr_ring_map *x = a, *y = b;

	return x->cpu != y->cpu ? (int)x->cpu - y->cpu : (int)x->tier - y->tier;
}

int fr_sess_map_rings(struct fr_sess *s)
{
	DIR *d = opendir(s->dir);
	struct dirent *e;
	int err = 0;

	if (!d)
		return -errno;
	while ((e = fr_dir_next(d, &err)))
		err = map_add_ring(s, e->d_name);
	closedir(d);
	if (!err && !s->ring_cnt)
		err = -EPROTO;
	qsort(s->ring, s->ring_cnt, sizeof(*s->ring), map_by_cpu_tier);
	return err;
}

/* The log states its own size, which must agree with the map's. Without a log, whose pin somebody removed, none is shown. */
static void map_incidents(struct fr_sess *s)
{
	int fd = fr_sess_get_pin(s, "incidents");
	struct fr_incident_head *head;
	u32 entries = 0, cnt;

	if (fd >= 0 && fr_sess_is_array(fd, FR_INCIDENT_SZ, &entries) && entries > FR_INCIDENT_CNT_MIN) {
		head = mmap(NULL, (size_t)entries * FR_INCIDENT_SZ, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		cnt = entries - 1; /* not the head's own word, which may change */
		if (head != MAP_FAILED && head->magic == FR_INCIDENT_MAGIC && head->cnt == cnt && !(cnt & (cnt - 1))) {
			s->inc = head;
			s->inc_cnt = cnt;
		} else if (head != MAP_FAILED) {
			munmap(head, (size_t)entries * FR_INCIDENT_SZ);
		}
	}
	if (fd >= 0)
		close(fd);
}

int fr_sess_map(struct fr_sess *s)
{
	int err = fr_sess_map_rings(s);

	if (err)
		return err;
	s->shared = map_global(s, "session", sizeof(*s->shared));
	s->call = s->shared ? map_global(s, "call", sizeof(*s->call)) : NULL;
	if (!s->call)
		return -errno;
	s->triggers = map_global(s, "triggers", sizeof(*s->triggers)); /* without these two it still records */
	map_incidents(s);
	return 0;
}

void fr_sess_give_up_rings(void *sess)
{
	const struct fr_sess *s = sess;
	size_t i;

	for (i = 0; s && i < s->ring_cnt; i++)
		munmap((void *)s->ring[i].wr, map_ring_sz(&s->ring[i]));
}

void fr_sess_unmap(struct fr_sess *s)
{
	size_t i;

	for (i = 0; i < s->ring_cnt; i++)
		munmap((void *)s->ring[i].wr, map_ring_sz(&s->ring[i]));
	if (s->shared)
		munmap(s->shared, sizeof(*s->shared));
	if (s->call)
		munmap(s->call, sizeof(*s->call));
	if (s->triggers)
		munmap(s->triggers, sizeof(*s->triggers));
	if (s->inc)
		munmap(s->inc, (size_t)(1 + s->inc_cnt) * FR_INCIDENT_SZ);
	free(s->ring);
}
